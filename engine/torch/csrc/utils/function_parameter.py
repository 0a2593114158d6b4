"""torch/csrc/utils/python_arg_parser.cpp, FunctionParameter: one formal parameter of a Python signature.

Differs: no SymInt, Storage, Stream, QScheme and DispatchKeySet parameters; names of dimensions (Dimname), which PyTorch
2.13 no longer has, are there for the article's signatures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.aten.core.generator import Generator
from engine.aten.core.tensor import Tensor
from engine.c10 import exception
from engine.c10.device import Device
from engine.c10.layout import Layout, sparse_coo, strided
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import Long, ScalarType, isIntegralType
from engine.torch.csrc.autograd.variable import requires_grad
from engine.torch.csrc.utils.python_numbers import (
    THPUtils_checkDouble,
    THPUtils_checkIndex,
    THPUtils_checkLong,
    THPUtils_checkScalar,
    tp_name,
)
from engine.torch.csrc.utils.python_torch_function import append_overloaded_arg, check_has_torch_function

__all__ = ["FunctionParameter", "is_int_or_symint_list", "is_tensor_and_append_overloaded"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

# C++ type of the signature string -> (parameter type, what error texts call it)
type_map = {
    "Tensor": ("TENSOR", "Tensor"),
    "Scalar": ("SCALAR", "Number"),
    "int64_t": ("INT64", "int"),
    "SymInt": ("SYM_INT", "int"),
    "double": ("DOUBLE", "float"),
    "complex": ("COMPLEX", "complex"),
    "TensorList": ("TENSOR_LIST", "tuple of Tensors"),
    "c10::List<::std::optional<Tensor>>": ("TENSOR_LIST", "tuple of Tensors"),
    "IntArrayRef": ("INT_LIST", "tuple of ints"),
    "SymIntArrayRef": ("SYM_INT_LIST", "tuple of ints"),
    "ArrayRef<double>": ("FLOAT_LIST", "tuple of floats"),
    "Generator": ("GENERATOR", "torch.Generator"),
    "bool": ("BOOL", "bool"),
    "PyObject*": ("PYOBJECT", "object"),
    "ScalarType": ("SCALARTYPE", "torch.dtype"),
    "Layout": ("LAYOUT", "torch.layout"),
    "MemoryFormat": ("MEMORY_FORMAT", "torch.memory_format"),
    "Device": ("DEVICE", "torch.device"),
    "std::string": ("STRING", "str"),
    "c10::string_view": ("STRING", "str"),
    "Dimname": ("DIMNAME", "name"),
    "DimnameList": ("DIMNAME_LIST", "tuple of names"),
    "ScalarList": ("SCALAR_LIST", "tuple of Scalars"),
}

# NumPy's spellings of argument names, tried when PyTorch's own is not given
numpy_compatibility_arg_names = {
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "input": ("x", "a", "x1"),
    "other": ("x2",),
}

_ALLOWED = ("add", "div", "divide", "mul", "multiply", "sub", "subtract", "true_divide", "floor_divide")
_NUMBERS_AS_TENSORS = {name + suffix for name in _ALLOWED for suffix in ("", "_", "_out")} | {"to", "_to_copy", "copy_"}


def should_allow_numbers_as_tensors(name: str) -> bool:
    """Binary operators that have no Scalar overload in Python: a number binds to their Tensor parameters."""
    return name in _NUMBERS_AS_TENSORS


def is_tensor_and_append_overloaded(obj: Any, overloaded: list[Any]) -> bool:
    if type(obj) is Tensor:
        return True
    if check_has_torch_function(obj, ignore_mode=True):
        append_overloaded_arg(overloaded, obj)
        return True
    return isinstance(obj, Tensor)


def is_int_or_symint(obj: Any) -> bool:
    if THPUtils_checkLong(obj):
        return True
    if isinstance(obj, Tensor):
        return obj.numel_() == 1 and isIntegralType(obj._dtype, True)
    return THPUtils_checkIndex(obj)


def is_int_or_symint_list(
    obj: Any, broadcast_size: int, overloaded: list[Any], failed: list[Any] | None = None
) -> bool:
    """A tuple or list whose first element is an integer (the others are looked at when they are unpacked).

    The first element goes into ``failed`` when it is not one.
    """
    if isinstance(obj, (tuple, list)):
        overrides = False
        for i, item in enumerate(obj):
            if check_has_torch_function(item, ignore_mode=True):
                append_overloaded_arg(overloaded, item)
                overrides = True
            if i == 0 and not is_int_or_symint(item):
                if failed is not None:
                    failed.append(item)
                if not overrides:
                    return False
        return True
    return broadcast_size > 0 and is_int_or_symint(obj)


def _list_check(test: Callable[[Any], bool], every: bool) -> Callable[..., bool]:
    """A tuple or list of which the first element, or every one, passes ``test`` or has overrides."""

    def check(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
        if not isinstance(obj, (tuple, list)):
            return False
        overrides = False
        for i, item in enumerate(obj):
            if check_has_torch_function(item, ignore_mode=True):
                append_overloaded_arg(overloaded, item)
                overrides = True
            if (every or i == 0) and not overrides and not test(item):
                return False
        return True

    return check


def _tensor(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    if is_tensor_and_append_overloaded(obj, overloaded):
        return True
    return param.allow_numbers_as_tensors and THPUtils_checkScalar(obj)


def _double(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    if THPUtils_checkDouble(obj):
        return True
    # a 0-dim tensor counts as a number, unless its gradient would get lost
    return isinstance(obj, Tensor) and not obj._sizes and not requires_grad(obj)


def _complex(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    return isinstance(obj, complex) or _double(param, obj, overloaded, argnum, failed)


def _scalar(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    return THPUtils_checkScalar(obj) or _double(param, obj, overloaded, argnum, failed)


def _int64(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    if THPUtils_checkLong(obj):
        return True
    return isinstance(obj, Tensor) and not obj._sizes and isIntegralType(obj._dtype, False) and not requires_grad(obj)


def _tensor_list(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    if not isinstance(obj, (tuple, list)):
        return False
    for i, item in enumerate(obj):
        if not is_tensor_and_append_overloaded(item, overloaded):
            exception.TORCH_CHECK_TYPE(
                False, "expected Tensor as element ", i, " in argument ", argnum, ", but got ", tp_name(item)
            )
    return True


def _int_list(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    return is_int_or_symint_list(obj, param.size, overloaded, failed)


def _dimname_list(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    if isinstance(obj, (tuple, list)):
        return not obj or obj[0] is None or isinstance(obj[0], str)
    return param.size == 1 and (obj is None or isinstance(obj, str))


def _instance(*kinds: type) -> Callable[..., bool]:
    def check(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
        return isinstance(obj, kinds)

    return check


def _scalartype(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    return isinstance(obj, ScalarType) or obj is float or obj is bool or obj is int or obj is complex


def _device(param: FunctionParameter, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
    return isinstance(obj, (Device, str, bytes)) or THPUtils_checkLong(obj)


_CHECKS: dict[str, Callable[..., bool]] = {
    "TENSOR": _tensor,
    "SCALAR": _scalar,
    "COMPLEX": _complex,
    "DOUBLE": _double,
    "INT64": _int64,
    "SYM_INT": lambda param, obj, overloaded, argnum, failed: is_int_or_symint(obj),
    "TENSOR_LIST": _tensor_list,
    "INT_LIST": _int_list,
    "SYM_INT_LIST": _int_list,
    "FLOAT_LIST": _list_check(lambda item: THPUtils_checkDouble(item) or isinstance(item, complex), every=False),
    "SCALAR_LIST": _list_check(THPUtils_checkScalar, every=True),
    "GENERATOR": _instance(Generator),
    "BOOL": _instance(bool),
    "PYOBJECT": lambda param, obj, overloaded, argnum, failed: True,
    "SCALARTYPE": _scalartype,
    "LAYOUT": _instance(Layout),
    "MEMORY_FORMAT": _instance(MemoryFormat),
    "DEVICE": _device,
    "STRING": _instance(str, bytes),
    "DIMNAME": _instance(str, type(None)),
    "DIMNAME_LIST": _dimname_list,
}

# kinds for which whether a Tensor fits depends on its value, not on its being one
VALUE_KINDS = frozenset({"SCALAR", "COMPLEX", "DOUBLE", "INT64", "SYM_INT", "INT_LIST", "SYM_INT_LIST"})


def _number(text: str) -> Any:
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


class FunctionParameter:
    """Parsed from "SymIntArrayRef[1]? dim=None": type, size, whether None is allowed, name and default."""

    __slots__ = (
        "_check",
        "allow_none",
        "allow_numbers_as_tensors",
        "default",
        "default_value",
        "keyword_only",
        "kind",
        "name",
        "numpy_names",
        "optional",
        "size",
        "type_name",
    )

    def __init__(self, fmt: str, keyword_only: bool, allow_numbers_as_tensors: bool = False) -> None:
        type_str, space, name = fmt.partition(" ")
        exception.TORCH_CHECK(space, "FunctionParameter(): missing type: ", fmt)
        self.keyword_only = keyword_only
        self.allow_numbers_as_tensors = allow_numbers_as_tensors
        self.allow_none = "?" in type_str
        type_str = type_str.partition("?")[0]
        self.size = 0
        if "[" in type_str:
            type_str, _, size = type_str.partition("[")
            self.size = int(size.rstrip("]"))
        exception.TORCH_CHECK(type_str in type_map, "FunctionParameter(): invalid type string: ", type_str)
        self.kind, self.type_name = type_map[type_str]
        self._check = _CHECKS[self.kind]
        self.name, equals, default = name.partition("=")
        self.optional = bool(equals)
        self.numpy_names = numpy_compatibility_arg_names.get(self.name, ())
        self.default_value = default
        self.default = self._parse_default(default) if equals else None
        if self.kind == "BOOL" and not equals:
            self.default = False

    def _parse_default(self, text: str) -> Any:
        if text == "None":
            self.allow_none = True
            return None
        kind = self.kind
        if kind in ("INT64", "SYM_INT"):
            # atol: what is no number, as at::Reduction::Mean, is 0
            return int(text) if text.lstrip("-").isdigit() else 0
        if kind == "BOOL":
            return text in ("True", "true")
        if kind in ("DOUBLE", "COMPLEX"):
            return float(text)
        if kind == "SCALAR":
            return _number(text)
        if kind in ("INT_LIST", "SYM_INT_LIST"):
            if text.startswith("{"):
                return tuple(int(item) for item in text[1:-1].split(",") if item)
            return (int(text),) * self.size
        if kind == "STRING":
            return text[1:-1]
        known = {"torch.int64": Long, "torch.strided": strided, "torch.sparse_coo": sparse_coo}
        exception.TORCH_CHECK(
            kind not in ("SCALARTYPE", "LAYOUT") or text in known, "invalid default value for ", kind, ": ", text
        )
        return known.get(text)

    def check(self, obj: Any, overloaded: list[Any], argnum: int, failed: list[Any]) -> bool:
        """Whether ``obj`` can be bound here; objects with overrides are noted in ``overloaded`` and always can."""
        if self._check(self, obj, overloaded, argnum, failed):
            return True
        if check_has_torch_function(obj, ignore_mode=True) and not isinstance(obj, Tensor):
            append_overloaded_arg(overloaded, obj)
            return True
        return False
