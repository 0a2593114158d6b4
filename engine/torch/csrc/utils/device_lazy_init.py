"""torch/csrc/utils/device_lazy_init.h: the first use of an accelerator initialises its runtime.

Differs: the engine is a CPU build, so that every one of them fails as it does there.
"""

from __future__ import annotations

from typing import Any, NoReturn

from engine.c10.device import Device
from engine.c10.tensor_options import TensorOptions

__all__ = ["device_lazy_init", "maybe_initialize_device"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

_ABSENT = {
    "cuda": "Torch not compiled with CUDA enabled",
    "xpu": "Torch not compiled with XPU enabled",
    "mtia": "Torch not compiled with MTIA enabled. Ensure you have `import "
    "mtia.host_runtime.torch_mtia.dynamic_library` in your python src file and include "
    "`//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!",
}
_MODULES = ("hpu", "privateuseone")


def device_lazy_init(device_type: str) -> NoReturn:
    """Raises what importing and initialising ``torch.<device>`` raises in a build without it."""
    if device_type in _MODULES:
        raise ModuleNotFoundError(f"No module named 'torch.{device_type}'", name=f"torch.{device_type}")
    raise AssertionError(_ABSENT[device_type])


def maybe_initialize_device(device: Device | TensorOptions | None) -> None:
    """For the device types that are initialised lazily."""
    if device is None:
        return
    where: Any = device.device() if isinstance(device, TensorOptions) else device
    if where.type != "cpu" and (where.type in _ABSENT or where.type in _MODULES):
        device_lazy_init(where.type)
