"""torch/utils/_device.py: the default device of factory functions, as a mode at the bottom of the stack."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from engine.c10.device import Device
from engine.torch.overrides import TorchFunctionMode, _get_current_function_mode_stack, _pop_mode, _push_mode

__all__ = ["DeviceContext", "get_default_device", "set_default_device"]

_CONSTRUCTORS = (
    "empty", "empty_permuted", "empty_strided", "empty_quantized", "ones", "arange", "bartlett_window",
    "blackman_window", "eye", "full", "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace", "rand",
    "randn", "randint", "randperm", "range", "tril_indices", "triu_indices", "zeros", "asarray", "tensor", "as_tensor",
    "scalar_tensor",
)  # fmt: skip


def _device_constructors() -> set[Any]:
    import engine.torch

    return {vars(engine.torch)[name] for name in _CONSTRUCTORS if name in vars(engine.torch)}


class DeviceContext(TorchFunctionMode):
    """Gives every factory call without a device this one."""

    def __init__(self, device: Any) -> None:
        self.device = Device(device)
        self.prev_mode: DeviceContext | None = None

    def __enter__(self) -> DeviceContext:
        above = [_pop_mode() for _ in _get_current_function_mode_stack()]
        _push_mode(self)
        for mode in reversed(above):
            if isinstance(mode, DeviceContext):
                self.prev_mode = mode
            else:
                _push_mode(mode)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        above = [_pop_mode() for _ in _get_current_function_mode_stack()]
        above.pop()
        if self.prev_mode is not None:
            _push_mode(self.prev_mode)
        for mode in reversed(above):
            _push_mode(mode)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if kwargs.get("device") is None and func in _device_constructors():
            kwargs["device"] = self.device
        return func(*args, **kwargs)


_global = threading.local()


def set_default_device(device: Any) -> None:
    """The device of factory calls that name none; None puts the CPU back."""
    context = getattr(_global, "device_context", None)
    if context is not None:
        context.__exit__(None, None, None)
        _global.device_context = None
    if device is not None:
        context = DeviceContext(device)
        context.__enter__()
        _global.device_context = context


def get_default_device() -> Device:
    """The device of factory calls that name none."""
    for mode in reversed(_get_current_function_mode_stack()):
        if isinstance(mode, DeviceContext):
            return _with_index(mode.device)
    context = getattr(_global, "device_context", None)
    return Device("cpu") if context is None else _with_index(context.device)


def _with_index(device: Device) -> Device:
    if device.index is not None:
        return device
    import engine.torch

    return engine.torch.tensor([]).device  # type: ignore[no-any-return]


_stack: list[DeviceContext] = []


def enter_device(self: Device) -> Device:
    """``with torch.device("meta"):``."""
    context = DeviceContext(self)
    context.__enter__()
    _stack.append(context)
    return self


def exit_device(self: Device, *exc: Any) -> None:
    _stack.pop().__exit__(*exc)
