"""tools/autograd/templates/python_variable_methods.cpp: the methods of torch.Tensor that are written by hand.

Differs: no tracing, no named dimensions, no devices but CPU and Meta; storages are not handed out.
"""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.wrap_dim_utils import maybe_wrap_dim
from engine.c10 import exception, scalar_type
from engine.c10.device import kCPU
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import ScalarType, isIntegralType
from engine.torch.csrc.autograd import variable
from engine.torch.csrc.autograd.autograd_meta import is_differentiable_type
from engine.torch.csrc.size import Size
from engine.torch.csrc.utils.device_lazy_init import maybe_initialize_device
from engine.torch.csrc.utils.python_arg_parser import PythonArgs
from engine.torch.csrc.utils.python_args import toScalarType
from engine.torch.csrc.utils.python_binding import as_method, tensor_method
from engine.torch.csrc.utils.tensor_list import tensor_to_list
from engine.torch.csrc.utils.tensor_new import new_tensor
from engine.torch.csrc.utils.tensor_new_legacy import legacy_tensor_new
from engine.torch.csrc.utils.tensor_numpy import tensor_to_numpy
from engine.torch.csrc.utils.tensor_types import options_from_string, options_to_string
from engine.torch.csrc.utils.unmodelled import operator

__all__ = ["METHODS"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

_CONJUGATE = key_bits(DispatchKey.Conjugate)
_NEGATIVE = key_bits(DispatchKey.Negative)


# -- geometry: no operators, no frames


@tensor_method("size(int64_t? dim=None)")
def THPVariable_size(self: Tensor, r: PythonArgs) -> Any:
    if r.isNone(0):
        return Size.of(self._sizes)
    return self._sizes[maybe_wrap_dim(r.toInt64(0), len(self._sizes), wrap_scalar=False)]


@tensor_method("stride(int64_t? dim=None)")
def THPVariable_stride(self: Tensor, r: PythonArgs) -> Any:
    if r.isNone(0):
        return self._strides
    return self._strides[maybe_wrap_dim(r.toInt64(0), len(self._strides), wrap_scalar=False)]


@tensor_method()
def THPVariable_storage_offset(self: Tensor) -> int:
    return self._offset


@tensor_method()
def THPVariable_dim(self: Tensor) -> int:
    return len(self._sizes)


@tensor_method()
def THPVariable_numel(self: Tensor) -> int:
    return self.numel_()


@tensor_method()
def THPVariable_element_size(self: Tensor) -> int:
    return self._dtype.itemsize


@tensor_method()
def THPVariable_data_ptr(self: Tensor) -> int:
    if self._storage.buffer is None or not self.numel_():
        return 0
    return self._storage.data_ptr() + self._offset * self._dtype.itemsize


@tensor_method()
def THPVariable_get_device(self: Tensor) -> int:
    return self._device.index if self._device.index is not None else -1


def is_contiguous(self: Tensor, memory_format: MemoryFormat) -> bool:
    rank = {"channels_last": 4, "channels_last_3d": 5}.get(memory_format.torch_name)
    if rank is None:
        return self.is_contiguous_()
    sizes = self._sizes
    if rank != len(sizes):
        return False
    expected = 1
    for dim in (1, *range(rank - 1, 1, -1), 0):
        if sizes[dim] != 1:
            if self._strides[dim] != expected:
                return False
            expected *= sizes[dim]
    return True


@tensor_method("is_contiguous(*, MemoryFormat memory_format=contiguous_format)")
def THPVariable_is_contiguous(self: Tensor, r: PythonArgs) -> bool:
    return is_contiguous(self, r.memoryformat(0))


@tensor_method()
def THPVariable_is_complex(self: Tensor) -> bool:
    return self._dtype.is_complex


@tensor_method()
def THPVariable_is_floating_point(self: Tensor) -> bool:
    return self._dtype.is_floating_point


@tensor_method()
def THPVariable_is_signed(self: Tensor) -> bool:
    return self._dtype.is_signed


@tensor_method()
def THPVariable_is_inference(self: Tensor) -> bool:
    return self.is_inference_()


@tensor_method()
def THPVariable_is_conj(self: Tensor) -> bool:
    return bool(self._ks & _CONJUGATE)


@tensor_method()
def THPVariable_is_neg(self: Tensor) -> bool:
    return bool(self._ks & _NEGATIVE)


@tensor_method("is_pinned(Device? device=None)")
def THPVariable_is_pinned(self: Tensor, r: PythonArgs) -> bool:
    return False


@tensor_method()
def THPVariable__is_view(self: Tensor) -> bool:
    return variable.is_view(self)


# -- values


@tensor_method()
def THPVariable_item(self: Tensor) -> Any:
    return at.item.call(self)


def _scalar_method(name: str, cpp: str) -> Any:
    return tensor_method(name=name, cpp=f"torch::autograd::THPVariable_{cpp}")


@doors.frame("torch::autograd::dispatch_to", layer="python", params=("self",))
def dispatch_to(self: Tensor) -> Any:
    """The value of a tensor with one element."""
    exception.TORCH_CHECK_VALUE(self.numel_() == 1, "only one element tensors can be converted to Python scalars")
    return _item(self)


@doors.frame("at::Tensor::item", layer="at", params=("self",))
def _item(self: Tensor) -> Any:
    return at.item.call(self)


def _warn_converts(self: Tensor) -> None:
    if variable.requires_grad(self):
        exception.TORCH_WARN_ONCE(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
            "Consider using tensor.detach() first."
        )


@_scalar_method("__bool__", "is_nonzero")
def THPVariable_bool_scalar(self: Tensor) -> Any:
    return operator("is_nonzero", "bool(tensor)").call(self)


@_scalar_method("__float__", "float_scalar")
def THPVariable_float_scalar(self: Tensor) -> float:
    _warn_converts(self)
    value = dispatch_to(self)
    if isinstance(value, complex):
        _check_real(value, "double")
        value = value.real
    return float(value)


@_scalar_method("__complex__", "complex_scalar")
def THPVariable_complex_scalar(self: Tensor) -> complex:
    _warn_converts(self)
    return complex(dispatch_to(self))


@_scalar_method("__int__", "integral_scalar")
def THPVariable_integral_scalar(self: Tensor) -> int:
    _warn_converts(self)
    value = dispatch_to(self)
    if isinstance(value, complex):
        _check_real(value, "int64_t")
        value = value.real
    return int(value)


def _check_real(value: complex, kind: str) -> None:
    exception.TORCH_CHECK(value.imag == 0, f"value cannot be converted to type {kind} without overflow")


@_scalar_method("__index__", "index_scalar")
def THPVariable_index_scalar(self: Tensor) -> int:
    exception.TORCH_CHECK_TYPE(
        isIntegralType(self._dtype, True) and self.numel_() == 1,
        "only integer tensors of a single element can be converted to an index",
    )
    return int(dispatch_to(self))


@tensor_method()
def THPVariable_tolist(self: Tensor) -> Any:
    return tensor_to_list(self)


@tensor_method("numpy(*, bool force=False)")
def THPVariable_numpy(self: Tensor, r: PythonArgs) -> Any:
    return tensor_to_numpy(self, r.toBool(0))


# -- conversions


@tensor_method("contiguous(*, MemoryFormat memory_format=contiguous_format)")
def THPVariable_contiguous(self: Tensor, r: PythonArgs) -> Any:
    memory_format = r.memoryformat(0)
    if is_contiguous(self, memory_format):
        return self
    return dispatch_contiguous(self, memory_format)


@doors.frame("at::TensorBase::__dispatch_contiguous", layer="at", params=("self", "memory_format"))
def dispatch_contiguous(self: Tensor, memory_format: MemoryFormat) -> Any:
    return at.contiguous.call(self, memory_format)


@tensor_method("copy_(Tensor other, bool non_blocking=False)", "copy_(Tensor other, bool async=False)|deprecated")
def THPVariable_copy_(self: Tensor, r: PythonArgs) -> Any:
    return at.copy_.call(self, r.tensor(0), r.toBool(1))


@doors.frame(
    "torch::autograd::dispatch_to",
    layer="python",
    params=("self", "device", "non_blocking", "copy", "optional_memory_format"),
)
def _to_options(self: Tensor, device: Any, non_blocking: bool, copy: bool, memory_format: Any) -> Any:
    """``self.to(options)``: dtype and layout stay."""
    return at.to_dtype_layout.call(self, self._dtype, self._layout, device, None, non_blocking, copy, memory_format)


@tensor_method(
    "to(Device device=None, ScalarType dtype=None, bool non_blocking=False, bool copy=False, *, "
    "MemoryFormat? memory_format=None)",
    "to(ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
    "to(Tensor tensor, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
)
def THPVariable_to(self: Tensor, r: PythonArgs) -> Any:
    first = int(r.idx == 0)
    if r.idx == 2:
        other = r.tensor(0)
        device, dtype = other._device, other._dtype
    else:
        device = r.deviceOptional(0) if r.idx == 0 else None
        dtype = r.scalartypeOptional(first)
    non_blocking, copy, memory_format = r.toBool(first + 1), r.toBool(first + 2), r.memoryformatOptional(first + 3)
    maybe_initialize_device(device)
    if device is None and dtype is None:
        if not copy and memory_format is None:
            return self
        return _to_options(self, self._device, non_blocking, copy, memory_format)
    if device is None:
        return at.to_dtype.call(self, dtype, non_blocking, copy, memory_format)
    if dtype is None:
        return _to_options(self, device, non_blocking, copy, memory_format)
    return at.to_device.call(self, device, dtype, non_blocking, copy, memory_format)


@doors.frame("torch::autograd::THPVariable_to_type", layer="python", params=("self", "scalarType", "memory_format"))
def THPVariable_to_type(self: Tensor, dtype: ScalarType, memory_format: Any) -> Any:
    return at.to_dtype.call(self, dtype, False, False, memory_format)


def _to_type(name: str, dtype: ScalarType) -> Any:
    """``x.float()`` and its kind."""

    def body(self: Tensor, r: PythonArgs) -> Any:
        return THPVariable_to_type(self, dtype, r.memoryformatOptional(0))

    return tensor_method(f"{name}(*, MemoryFormat? memory_format=None)", name=name)(body)


_TYPES = {
    "bfloat16": scalar_type.BFloat16,
    "bool": scalar_type.Bool,
    "byte": scalar_type.Byte,
    "cdouble": scalar_type.ComplexDouble,
    "cfloat": scalar_type.ComplexFloat,
    "char": scalar_type.Char,
    "double": scalar_type.Double,
    "float": scalar_type.Float,
    "half": scalar_type.Half,
    "int": scalar_type.Int,
    "long": scalar_type.Long,
    "short": scalar_type.Short,
}


@tensor_method("cpu(*, MemoryFormat? memory_format=None)")
def THPVariable_cpu(self: Tensor, r: PythonArgs) -> Any:
    return _to_options(self, kCPU, False, False, r.memoryformatOptional(0))


@tensor_method(
    "type(PyObject* dtype=None, bool non_blocking=False, *, MemoryFormat? memory_format=None)",
    "type(PyObject* dtype=None, *, bool async=False, MemoryFormat? memory_format=None)|deprecated",
)
def THPVariable_type(self: Tensor, r: PythonArgs) -> Any:
    if r.isNone(0):
        return options_to_string(self)
    obj = r.pyobject(0)
    dtype = options_from_string(obj) if isinstance(obj, str) else None
    if isinstance(obj, str):
        exception.TORCH_CHECK_VALUE(dtype is not None, "invalid type: '", obj, "'")
    elif isinstance(obj, ScalarType) or obj in (float, int, bool, complex):
        dtype = toScalarType(obj)
    else:
        exception.TORCH_CHECK_TYPE(False, "dtype must be a type, str, or dtype object")
    return at.to_dtype.call(self, dtype, r.toBool(1), False, r.memoryformatOptional(2))


@tensor_method("new_tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None, bool requires_grad=False)")
def THPVariable_new_tensor(self: Tensor, r: PythonArgs) -> Any:
    return new_tensor(self, r)


THPVariable_new = as_method(legacy_tensor_new, "new")


# -- autograd


def requires_grad_leaf_error(value: bool) -> str:
    text = "you can only change requires_grad flags of leaf variables."
    if not value:
        text += (
            " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
            "var_no_grad = var.detach()."
        )
    return text


@tensor_method("requires_grad_(bool requires_grad=True)")
def THPVariable_requires_grad_(self: Tensor, r: PythonArgs) -> Any:
    value = r.toBool(0)
    exception.TORCH_CHECK(value or variable.is_leaf(self), requires_grad_leaf_error(value))
    exception.TORCH_CHECK(
        not value or is_differentiable_type(self._dtype),
        "only Tensors of floating point dtype can require gradients",
    )
    variable.set_requires_grad(self, value)
    return self


@tensor_method()
def THPVariable_retain_grad(self: Tensor) -> None:
    variable.retain_grad(self)


METHODS: dict[str, Any] = {
    value.__name__: value
    for key, value in globals().copy().items()
    if key.startswith("THPVariable_") and key != "THPVariable_to_type"
}
METHODS |= {name: _to_type(name, dtype) for name, dtype in _TYPES.items()}
METHODS |= {"nelement": METHODS["numel"], "ndimension": METHODS["dim"], "__nonzero__": METHODS["__bool__"]}
