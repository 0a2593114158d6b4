"""torch/__init__.py: what a script sees as ``torch``.

The names are put together when the first one is asked for (``engine.torch._api``), so that the layers below, which live
in ``engine.torch.csrc``, can be imported without them.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from types import ModuleType
from typing import Any

_lock = threading.RLock()
_state = ""  # "loading", then "ready"
_OWN = {"Any", "annotations", "importlib", "ModuleType", "sys", "threading"}


def _load() -> None:
    global _state
    with _lock:
        if not _state:
            _state = "loading"
            try:
                globals().update(importlib.import_module("engine.torch._api").names())
                _state = "ready"
            finally:
                _state = "ready" if _state == "ready" else ""


def __getattr__(name: str) -> Any:
    if name == "__all__":
        names = __dir__()
        return [public for public in names if public[0] != "_" and not isinstance(globals()[public], ModuleType)]
    if name.startswith("__") and name != "__version__":
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    if importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f"{__name__}.{name}")
    _load()
    if name in globals():
        return globals()[name]
    from engine.torch.csrc.utils.pytorch_names import TORCH
    from engine.torch.csrc.utils.unmodelled import HINT, missing

    if name not in TORCH:
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    if sys._getframe(1).f_code.co_name == "_handle_fromlist":
        # `from torch import name`: importlib would hide the reason
        raise ImportError(f"cannot import name '{name}' from 'torch': the engine does not model it; {HINT}", name=name)
    raise AttributeError(missing("torch", name))


def __dir__() -> list[str]:
    _load()
    return sorted(globals().keys() - _OWN)
