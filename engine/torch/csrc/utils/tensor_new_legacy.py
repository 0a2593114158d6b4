"""torch/csrc/utils/tensor_new.cpp, legacy_tensor_generic_ctor_new: ``torch.Tensor(...)`` and ``tensor.new(...)``."""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.c10 import exception
from engine.c10.device import Device
from engine.c10.scalar_type import ScalarType, get_default_dtype
from engine.torch.csrc.size import Size
from engine.torch.csrc.utils.device_lazy_init import maybe_initialize_device
from engine.torch.csrc.utils.python_arg_parser import PythonArgParser
from engine.torch.csrc.utils.python_args import get_default_device
from engine.torch.csrc.utils.python_torch_function import check_has_torch_function, handle_torch_function
from engine.torch.csrc.utils.tensor_new import legacy_new_from_sequence
from engine.torch.csrc.utils.unmodelled import operator

__all__ = ["base_tensor_ctor", "legacy_tensor_new"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

# PyTorch's list has storages and the address of a C object besides
_PARSER = PythonArgParser((
    "new(*, Device? device=None)",
    "new(Tensor other)",
    "new(Tensor other, *, Device? device=None)|hidden",
    "new(SymIntArrayRef size, *, Device? device=None)",
    "new(PyObject* data, *, Device? device=None)",
))  # fmt: skip


@doors.frame("torch::utils::new_with_sizes", layer="python", params=("scalar_type", "device", "sizes"))
def new_with_sizes(scalar_type: ScalarType, device: Device, sizes: tuple[int, ...]) -> Tensor:
    maybe_initialize_device(device)
    return at.empty_memory_format.call(sizes, scalar_type, None, device, None, None)


@doors.frame("torch::utils::legacy_tensor_generic_ctor_new", layer="python")
def legacy_tensor_generic_ctor_new(
    base: Tensor | None, scalar_type: ScalarType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What the arguments mean: nothing, a tensor to alias, sizes, or the values themselves.

    ``base`` is the tensor whose ``new`` was called, None for the constructor.
    """
    here = get_default_device() if base is None else base._device
    r = _PARSER.parse(None, args, kwargs)
    if r.idx in (0, 3, 4):
        device = r.deviceOptional(0 if r.idx == 0 else 1)
        exception.TORCH_CHECK(
            device is None or device.type == here.type,
            "legacy constructor expects device type: ",
            here.type,
            " but device type: ",
            device.type if device is not None else "",
            " was passed",
        )
        if r.idx == 0:
            return at.empty_memory_format.call((0,), scalar_type, None, here, None, None)
        obj = r.pyobject(0)
        # a list of sizes and a list of values look the same: only torch.Size and sizes one by one are sizes
        if r.idx == 3 and (isinstance(obj, Size) or obj is args or not args):
            return new_with_sizes(scalar_type, device or here, r.symintlist(0))
        return legacy_new_from_sequence(scalar_type, device or here, obj)
    other = r.tensor(0)
    if r.idx == 1:
        exception.TORCH_CHECK_TYPE(
            base is None or (other._dtype is scalar_type and other._device == here),
            "expected ",
            f"Tensor of {scalar_type.torch_name} on {here}",
            " (got ",
            f"Tensor of {other._dtype.torch_name} on {other._device}",
            ")",
        )
        return operator("alias", "Tensor(tensor)").call(other)
    raise exception.Error(
        "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use "
        "torch.tensor(...) or torch.as_tensor(...) instead."
        if base is None
        else "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported.  Use "
        "torch.as_tensor(...) instead."
    )


@doors.frame("torch::utils::base_tensor_ctor", layer="python", params=("args", "kwargs"))
def base_tensor_ctor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """torch.Tensor(...)."""
    return legacy_tensor_generic_ctor_new(None, get_default_dtype(), args, kwargs)


@doors.frame("torch::utils::legacy_tensor_new", layer="python", params=("self", "args", "kwargs"))
def legacy_tensor_new(self: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """tensor.new(...): of the same type and on the same device."""
    if check_has_torch_function(self):
        return handle_torch_function((self,), self, args, kwargs, Tensor, "new", "torch.Tensor")
    return legacy_tensor_generic_ctor_new(self, self._dtype, args, kwargs)
