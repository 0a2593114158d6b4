"""Makes ``import torch`` give the engine: what a script imports while it is traced, without an installed PyTorch."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

__all__ = ["install_torch"]

# parts of engine.torch that have no counterpart under this name in PyTorch
_HIDDEN = ("csrc", "_api", "_device", "_namedtensor", "_type_info")
# on the path for processes that the script starts afresh
_SPAWNED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spawned")
# where the name of a module differs
_ELSEWHERE = {"torch.library": "engine.library", "torch.utils._device": "engine.torch._device"}


class _TorchFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for ``torch`` and everything below it; nobody else is asked."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "torch" and not fullname.startswith("torch."):
            return None
        name = _engine_name(fullname)
        if name is None:
            raise ModuleNotFoundError(
                f"No module named '{fullname}' in the engine, which does not model it; run the script with --on torch",
                name=fullname,
            )
        module = importlib.import_module(name)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=hasattr(module, "__path__"))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        name = _engine_name(spec.name)
        assert name is not None
        module = importlib.import_module(name)
        # importlib gives the module the spec under which it is imported; keep its own
        self._kept = {key: getattr(module, key, None) for key in ("__spec__", "__loader__", "__package__", "__name__")}
        return module

    def exec_module(self, module: ModuleType) -> None:
        for key, value in self._kept.items():
            setattr(module, key, value)


def _engine_name(fullname: str) -> str | None:
    """The engine's module for ``torch.X``; None when there is none."""
    if fullname in _ELSEWHERE:
        return _ELSEWHERE[fullname]
    parts = fullname.split(".")[1:]
    if parts and parts[0] in _HIDDEN:
        return None
    name = ".".join(["engine", "torch", *parts])
    try:
        return name if importlib.util.find_spec(name) is not None else None
    except ModuleNotFoundError:
        return None


def _is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


def install_torch() -> Callable[[], None]:
    """From now on ``import torch`` gives ``engine.torch``; the result puts things back as they were."""
    before: dict[str, Any] = {name: module for name, module in sys.modules.items() if _is_torch(name)}
    for name in before:
        del sys.modules[name]
    finder = _TorchFinder()
    sys.meta_path.insert(0, finder)
    if _SPAWNED not in sys.path:
        sys.path.insert(1, _SPAWNED)

    def undo() -> None:
        if finder not in sys.meta_path:
            return
        sys.meta_path.remove(finder)
        if _SPAWNED in sys.path and not any(isinstance(other, _TorchFinder) for other in sys.meta_path):
            sys.path.remove(_SPAWNED)
        for name in [name for name in sys.modules if _is_torch(name)]:
            del sys.modules[name]
        sys.modules.update(before)

    return undo
