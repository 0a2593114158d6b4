"""torch/__init__.py: the names of the module ``torch``, put together on first use.

Differs: what the engine does not model is not there; asking for it says so.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from engine.aten.core.generator import Generator
from engine.aten.core.tensor import Tensor
from engine.c10 import exception, layout, memory_format, scalar_type
from engine.c10.device import Device
from engine.c10.exception import Error, translate
from engine.torch.csrc.autograd.python_operators import operators
from engine.torch.csrc.autograd.python_torch_functions_manual import manual_functions
from engine.torch.csrc.autograd.python_variable import (
    PROPERTIES,
    THPVariable_as_subclass,
    make_subclass,
    tensor_init,
    tensor_init_subclass,
)
from engine.torch.csrc.autograd.python_variable_indexing import THPVariable_getitem, THPVariable_setitem
from engine.torch.csrc.autograd.python_variable_methods import METHODS
from engine.torch.csrc.size import Size
from engine.torch.csrc.utils.python_binding import as_method
from engine.torch.csrc.utils.python_torch_function import disabled_torch_function_impl
from engine.torchgen.gen_python_bindings import function_bindings, make_function, make_method, method_bindings

__all__ = ["names", "prepare_tensor"]

# the namespace in which __torch_function__ overrides are told a function lies
_VariableFunctions = SimpleNamespace()

_DTYPE_ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "chalf": "complex32", "cfloat": "complex64",
    "cdouble": "complex128", "short": "int16", "int": "int32", "long": "int64",
}  # fmt: skip


def _getitem(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return THPVariable_getitem(self, *args)


def _setitem(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    THPVariable_setitem(self, *args)


def _delitem(self: Any, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


def prepare_tensor() -> None:
    """Turn at::Tensor into Python's torch.Tensor: methods, properties, operators and constructor."""
    from engine.torch import _namedtensor, _tensor

    generated = {name: make_method(binding) for name, binding in method_bindings().items()}
    methods = {**generated, **METHODS}
    methods["__getitem__"] = as_method(_getitem, "__getitem__", "torch::autograd::THPVariable_getitem")
    methods["__setitem__"] = as_method(_setitem, "__setitem__", "torch::autograd::THPVariable_setitem")
    for name, method in (*methods.items(), *operators(methods).items()):
        setattr(Tensor, name, method)
    for name, descriptor in (*PROPERTIES.items(), *_namedtensor.PROPERTIES.items()):
        setattr(Tensor, name, descriptor)
    invert = methods.get("bitwise_not")
    if invert is not None:
        Tensor.__invert__ = invert  # type: ignore[attr-defined]
    Tensor.__delitem__ = _delitem  # type: ignore[attr-defined]
    Tensor.as_subclass = THPVariable_as_subclass  # type: ignore[attr-defined]
    Tensor._make_subclass = staticmethod(make_subclass)  # type: ignore[attr-defined]
    Tensor.__module__ = "torch"
    _tensor.attach()
    Tensor.__init__ = tensor_init  # type: ignore[method-assign]
    Tensor.__init_subclass__ = classmethod(tensor_init_subclass)  # type: ignore[assignment]


def _functions() -> dict[str, Any]:
    def api() -> SimpleNamespace:
        return _VariableFunctions

    functions = {name: make_function(binding, api) for name, binding in function_bindings().items()}
    functions |= manual_functions(api)
    vars(_VariableFunctions).update(functions)
    return {name: fn for name, fn in functions.items() if not name.startswith("__")}


def _dtypes() -> dict[str, Any]:
    found: dict[str, Any] = {dtype.torch_name: dtype for dtype in scalar_type.all_scalar_types()}
    return found | {alias: found[name] for alias, name in _DTYPE_ALIASES.items()}


def is_tensor(obj: Any, /) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


def typename(obj: Any, /) -> str:
    """The type of ``obj`` with its module, for messages."""
    if isinstance(obj, Tensor):
        return obj.type()  # type: ignore[attr-defined, no-any-return]
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", "") or ""
    return kind.__qualname__ if module in ("", "builtins") else f"{module}.{kind.__qualname__}"


def set_default_dtype(d: Any, /) -> None:
    """The type of tensors made from Python floats."""
    try:
        scalar_type.set_default_dtype(d)
    except Error as error:
        raise translate(error) from None


def set_warn_always(b: bool, /) -> None:
    exception.set_warnAlways(b)


def is_warn_always_enabled() -> bool:
    return exception.get_warnAlways()


def is_storage(obj: Any, /) -> bool:
    """Never: storages are not handed out."""
    return False


_num_threads = 1


def set_num_threads(n: int, /) -> None:
    """Remembered, and without effect: kernels run on one thread."""
    global _num_threads
    if not isinstance(n, int) or isinstance(n, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if n <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _num_threads = n


def get_num_threads() -> int:
    return _num_threads


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to."""
    result: list[int] = []
    for shape in shapes:
        sizes = [shape] if isinstance(shape, int) else list(shape)
        result = [1] * (len(sizes) - len(result)) + result
        for i in range(-1, -1 - len(sizes), -1):
            if sizes[i] < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({sizes[i]}): ({sizes[i]})")
            if sizes[i] in (1, result[i]):
                continue
            if result[i] != 1:
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            result[i] = sizes[i]
    return Size(result)


def names() -> dict[str, Any]:
    """Everything a script finds in ``torch``."""
    from engine import library
    from engine.torch import _C, _device, _tensor_str, autograd, cuda, overrides, random, version
    from engine.torch._ops import ops
    from engine.torch._type_info import finfo, iinfo

    prepare_tensor()
    Device.__enter__ = _device.enter_device  # type: ignore[attr-defined]
    Device.__exit__ = _device.exit_device  # type: ignore[attr-defined]
    _C._VariableFunctions = _VariableFunctions  # type: ignore[attr-defined]
    found: dict[str, Any] = _functions()
    found |= _dtypes()
    found |= {one.torch_name: one for one in (*layout.all_layouts(), *memory_format.all_memory_formats())}
    found |= {name: getattr(random, name) for name in random.__all__ if name != "fork_rng"}
    found |= {
        "Tensor": Tensor,
        "Size": Size,
        "Generator": Generator,
        "DispatchKey": _C.DispatchKey,
        "DispatchKeySet": _C.DispatchKeySet,
        "device": Device,
        "dtype": scalar_type.ScalarType,
        "layout": layout.Layout,
        "memory_format": memory_format.MemoryFormat,
        "finfo": finfo,
        "iinfo": iinfo,
        "is_tensor": is_tensor,
        "is_storage": is_storage,
        "set_num_threads": set_num_threads,
        "get_num_threads": get_num_threads,
        "typename": typename,
        "broadcast_shapes": broadcast_shapes,
        "get_default_dtype": scalar_type.get_default_dtype,
        "set_default_dtype": set_default_dtype,
        "get_default_device": _device.get_default_device,
        "set_default_device": _device.set_default_device,
        "set_warn_always": set_warn_always,
        "is_warn_always_enabled": is_warn_always_enabled,
        "set_printoptions": _tensor_str.set_printoptions,
        "no_grad": autograd.no_grad,
        "enable_grad": autograd.enable_grad,
        "set_grad_enabled": autograd.set_grad_enabled,
        "inference_mode": autograd.inference_mode,
        "is_grad_enabled": autograd.is_grad_enabled,
        "is_inference_mode_enabled": autograd.is_inference_mode_enabled,
        "_C": _C,
        "_VariableFunctions": _VariableFunctions,
        "_disabled_torch_function_impl": disabled_torch_function_impl,
        "autograd": autograd,
        "cuda": cuda,
        "library": library,
        "ops": ops,
        "overrides": overrides,
        "random": random,
        "newaxis": None,
        "inf": math.inf,
        "nan": math.nan,
        "pi": math.pi,
        "e": math.e,
        "version": version,
        "__version__": version.__version__,
    }
    return found
