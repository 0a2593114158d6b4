"""torch/csrc/autograd/python_variable.cpp: the properties of torch.Tensor and how Python makes one.

Differs: no sparse and quantised tensors, no devices but CPU and Meta, no forward-mode gradients.
"""

from __future__ import annotations

import warnings
from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.c10 import exception
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.scalar_type import ScalarType
from engine.c10.tensor_impl import TensorImpl
from engine.torch.csrc.autograd import variable
from engine.torch.csrc.autograd.autograd_meta import is_differentiable_type
from engine.torch.csrc.autograd.python_hook import PyFunctionTensorPreHook
from engine.torch.csrc.autograd.python_variable_methods import requires_grad_leaf_error
from engine.torch.csrc.size import Size
from engine.torch.csrc.utils.python_arg_parser import PythonArgs
from engine.torch.csrc.utils.python_binding import tensor_method, tensor_property
from engine.torch.csrc.utils.python_numbers import tp_name
from engine.torch.csrc.utils.tensor_new_legacy import base_tensor_ctor
from engine.torch.csrc.utils.unmodelled import operator

__all__ = [
    "PROPERTIES",
    "THPVariable_as_subclass",
    "THPVariable_pynew",
    "as_subclass",
    "make_subclass",
    "tensor_init",
    "tensor_init_subclass",
]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

_AUTOGRAD = key_bits(DispatchKey.AutogradFunctionality)


def _get_grad(self: Tensor) -> Any:
    meta = self._autograd_meta
    grad = None if meta is None else meta.grad_
    if grad is None and not variable.is_leaf(self) and not variable.retains_grad(self):
        exception.TORCH_WARN(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
            "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
            "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
            "sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
        )
    return grad


def _grad_dtype(self: Tensor) -> ScalarType | None:
    """The dtype that a gradient must have; None where any will do."""
    meta = self._autograd_meta
    if meta is not None and meta.allow_any_grad_dtype:
        return None
    return self._dtype if meta is None or meta.grad_dtype_ is None else meta.grad_dtype_


def _set_grad_dtype(self: Tensor, value: Any) -> None:
    exception.TORCH_CHECK_TYPE(
        value is None or isinstance(value, ScalarType),
        "grad_dtype must be a torch.dtype or None, but got ",
        tp_name(value),
    )
    exception.TORCH_CHECK(variable.is_leaf(self), "grad_dtype can only be set on leaf tensors.")
    meta = variable.materialize_autograd_meta(self)
    exception.TORCH_CHECK(
        value is None or meta.grad_ is None or meta.grad_._dtype is value,
        "Cannot set grad_dtype to '",
        value,
        "' because there is already a gradient with dtype '",
        meta.grad_._dtype.name if meta.grad_ is not None else "",
        "'. Please clear the gradient (.grad = None) before changing grad_dtype.",
    )
    meta.grad_dtype_ = value
    meta.allow_any_grad_dtype = value is None


def _set_grad(self: Tensor, grad: Any) -> None:
    meta = variable.materialize_autograd_meta(self)
    if grad is None:
        meta.grad_ = None
        return
    exception.TORCH_CHECK_TYPE(
        isinstance(grad, Tensor), "assigned grad expected to be a Tensor or None but got grad of type ", tp_name(grad)
    )
    exception.TORCH_CHECK(grad is not self, "can't assign Variable as its own grad")
    expected = _grad_dtype(self)
    if expected is not None and grad._dtype is not expected:
        exception.TORCH_CHECK(
            False,
            f"attempting to assign a gradient with dtype '{grad._dtype.cpp_name}' to a tensor with grad_dtype "
            f"'{expected.name}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You "
            "can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set "
            "grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems "
            "that assume they match.",
        )
    exception.TORCH_CHECK(
        grad._device.type == self._device.type,
        f"attempting to assign a gradient with device type '{grad._device.type}' to a tensor with device type "
        f"'{self._device.type}'. Please ensure that the gradient and the tensor are on the same device",
    )
    exception.TORCH_CHECK(
        grad._sizes == self._sizes,
        f"attempting to assign a gradient of size '{list(grad._sizes)}' to a tensor of size '{list(self._sizes)}'. "
        "Please ensure that the gradient and the tensor are the same size",
    )
    meta.grad_ = grad


def _set_requires_grad(self: Tensor, value: Any) -> None:
    exception.TORCH_CHECK(isinstance(value, bool), "requires_grad must be a bool")
    exception.TORCH_CHECK(variable.is_leaf(self), requires_grad_leaf_error(value))
    exception.TORCH_CHECK(
        not value or is_differentiable_type(self._dtype),
        "only Tensors of floating point and complex dtype can require gradients",
    )
    variable.set_requires_grad(self, value)


@doors.frame("THPVariable_set_data", layer="python", params=("self", "data"))
def _set_data(self: Tensor, data: Any) -> None:
    """``x.data = y``: x takes over y's memory, geometry and type and keeps its place in the graph and its version."""
    exception.TORCH_CHECK_TYPE(isinstance(data, Tensor), "Variable data has to be a tensor, but got ", tp_name(data))
    set_data(self, data)


@doors.frame("torch::autograd::VariableHooks::set_data", layer="autograd", params=("self_base", "new_data_base"))
def set_data(self: Tensor, data: Tensor) -> None:
    exception.TORCH_CHECK(
        at._has_compatible_shallow_copy_type.call(self, data),
        "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.",
    )
    exception.TORCH_CHECK(
        not variable.requires_grad(self) or is_differentiable_type(data._dtype),
        "data set to a tensor that requires gradients must be floating point or complex dtype",
    )
    meta = self._autograd_meta
    if meta is not None and (self._dtype is not data._dtype or self._device != data._device):
        meta.grad_accumulator_ = None
    self.set_storage(data._storage)
    self._dtype, self._device, self._layout = data._dtype, data._device, data._layout
    self._ks = data._ks
    self.set_sizes_and_strides(data._sizes, data._strides, data._offset)


def _get_backward_hooks(self: Tensor) -> Any:
    meta = self._autograd_meta
    return None if meta is None else meta.backward_hooks


def _set_backward_hooks(self: Tensor, hooks: Any) -> None:
    meta = variable.materialize_autograd_meta(self)
    meta.backward_hooks = hooks
    meta.hooks_ = None if hooks is None else [PyFunctionTensorPreHook(hooks, 0)]


def _volatile(self: Tensor) -> bool:
    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=3)
    return False


def _set_volatile(self: Tensor, value: Any) -> None:
    warnings.warn("volatile was removed. Use `with torch.no_grad():` instead.", stacklevel=3)


def _op(struct: str, name: str) -> Any:
    """A property that an operator answers; GetterBase is the class template of such properties."""

    @doors.frame("GetterBase::getter", layer="python", params=("self",))
    def getter(self: Tensor) -> Any:
        return operator(struct, f"Tensor.{name}").call(self)

    return getter


def _on(*devices: str) -> Any:
    return lambda self: self._device.type in devices


def _property(name: str, getter: Any, setter: Any = None) -> tuple[str, tensor_property]:
    return name, tensor_property(name, getter, setter)


PROPERTIES = dict((
    _property("shape", lambda self: Size.of(self._sizes)),
    _property("dtype", lambda self: self._dtype),
    _property("device", lambda self: self._device),
    _property("layout", lambda self: self._layout),
    _property("ndim", lambda self: len(self._sizes)),
    _property("itemsize", lambda self: self._dtype.itemsize),
    _property("nbytes", lambda self: self.numel_() * self._dtype.itemsize),
    _property("requires_grad", variable.requires_grad, _set_requires_grad),
    _property("grad", _get_grad, _set_grad),
    _property("_grad", _get_grad, _set_grad),
    _property("grad_dtype", _grad_dtype, _set_grad_dtype),
    _property("grad_fn", variable.grad_fn),
    _property("_grad_fn", variable.grad_fn),
    _property("is_leaf", variable.is_leaf),
    _property("retains_grad", variable.retains_grad),
    _property("output_nr", variable.output_nr),
    _property("data", variable.variable_data, _set_data),
    _property("_version", variable.version),
    _property("_base", lambda self: variable.base(self) if variable.is_view(self) else None),
    _property("_backward_hooks", _get_backward_hooks, _set_backward_hooks),
    _property("name", lambda self: None),
    _property("volatile", _volatile, _set_volatile),
    _property("T", _op("numpy_T", "T")),
    _property("mT", _op("mT", "mT")),
    _property("H", _op("matrix_H", "H")),
    _property("mH", _op("mH", "mH")),
    _property("real", _op("real", "real")),
    _property("imag", _op("imag", "imag")),
    _property("is_cpu", _on("cpu")),
    _property("is_meta", _on("meta")),
    *(_property(f"is_{kind}", _on(kind)) for kind in ("cuda", "ipu", "maia", "mps", "mtia", "vulkan", "xla", "xpu")),
    *(_property(f"is_{kind}", _on()) for kind in ("mkldnn", "nested", "quantized", "sparse", "sparse_csr")),
))  # fmt: skip


@doors.frame("THPVariable_pynew", layer="python", params=("type", "args", "kwargs"))
def THPVariable_pynew(cls: type[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """``torch.Tensor(...)``, or the instance of a subclass with the same data."""
    try:
        tensor = base_tensor_ctor(args, kwargs)
    except exception.Error as error:
        raise exception.translate(error) from None
    return tensor if cls is Tensor else as_subclass(tensor, cls)


_SLOTS = tuple(slot for slot in TensorImpl.__slots__ if slot != "__weakref__")


def tensor_init(self: Tensor, *args: Any, **kwargs: Any) -> None:
    """torch.Tensor(...): what THPVariable_pynew makes moves into ``self``. Subclasses are made by their ``__new__``."""
    if type(self) is Tensor:
        made = THPVariable_pynew(Tensor, args, kwargs)
        for slot in _SLOTS:
            setattr(self, slot, getattr(made, slot))


def tensor_init_subclass(cls: type[Tensor], **kwargs: Any) -> None:
    """A Python subclass of torch.Tensor: its ``__new__`` takes what torch.Tensor's takes."""
    object.__init_subclass__(**kwargs)
    if "__new__" not in cls.__dict__:
        if Tensor in cls.__bases__:
            cls.__new__ = _subclass_new  # type: ignore[assignment]
    elif Tensor.__new__ is object.__new__:
        # it will call super().__new__(cls, …), which up to now was object's
        Tensor.__new__ = _tensor_new  # type: ignore[assignment]


def _subclass_new(cls: type[Tensor], *args: Any, **kwargs: Any) -> Tensor:
    return THPVariable_pynew(cls, args, kwargs)


def _tensor_new(cls: type[Tensor], *args: Any, **kwargs: Any) -> Tensor:
    return object.__new__(cls) if cls is Tensor else THPVariable_pynew(cls, args, kwargs)


@tensor_method("as_subclass(PyObject* cls)")
def THPVariable_as_subclass(self: Tensor, r: PythonArgs) -> Tensor:
    """An alias that is an instance of a subclass."""
    cls = r.pyobject(0)
    exception.TORCH_CHECK_TYPE(isinstance(cls, type), "cls must be a type (got ", tp_name(cls), ")")
    exception.TORCH_CHECK_TYPE(
        issubclass(cls, Tensor),
        "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
        "class inherits from Tensor.",
    )
    return as_subclass(self, cls)


def as_subclass(tensor: Tensor, cls: type[Tensor]) -> Tensor:
    """An alias of ``tensor`` that is an instance of ``cls``."""
    alias = operator("alias", "Tensor.as_subclass").call(tensor)
    # a Python subclass has the same layout as torch.Tensor
    alias.__class__ = cls
    return alias  # type: ignore[no-any-return]


def make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Tensor:
    """torch.Tensor._make_subclass: ``data`` detached, as an instance of ``cls``."""
    plain = variable.variable_data(data)
    plain.__class__ = cls
    variable.set_requires_grad(plain, require_grad)
    return plain
