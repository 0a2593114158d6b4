"""torch/overrides.py: __torch_function__ as seen from Python: modes, and helpers for functions written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engine.aten.core.tensor import Tensor
from engine.torch.csrc.utils import python_torch_function as _csrc
from engine.torch.csrc.utils.python_torch_function import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    append_overloaded_arg,
    check_has_torch_function,
)

__all__ = [
    "BaseTorchFunctionMode",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments, or a mode, overrides calls."""
    return _csrc.mode_enabled() or any(check_has_torch_function(arg, ignore_mode=True) for arg in relevant_args)


def has_torch_function_unary(tensor: Any) -> bool:
    return check_has_torch_function(tensor)


def has_torch_function_variadic(*args: Any) -> bool:
    return has_torch_function(args)


def is_tensor_like(inp: Any) -> bool:
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Offer a call of a Python function to modes and overrides; TypeError when none takes it."""
    overloaded: list[Any] = []
    for arg in relevant_args:
        if type(arg) is Tensor or check_has_torch_function(arg, ignore_mode=True):
            append_overloaded_arg(overloaded, arg)
    types = tuple(map(type, overloaded))
    if _csrc.mode_enabled():
        with _csrc.StashTorchFunctionMode() as mode:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for arg in overloaded:
        result = arg.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(
        f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}"
        + (f" nor in mode {mode}" if _csrc.mode_enabled() else "")
    )


class TorchFunctionMode:
    """A context in which every call of the torch API goes to ``__torch_function__`` of the mode first."""

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        _csrc.push_mode(self)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        _csrc.pop_mode()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _push_mode(mode: TorchFunctionMode) -> None:
    _csrc.push_mode(mode)


def _pop_mode() -> Any:
    return _csrc.pop_mode()


def _get_current_function_mode() -> Any:
    modes = _csrc.current_modes()
    return modes[-1] if modes else None


def _get_current_function_mode_stack() -> list[Any]:
    return _csrc.current_modes()
