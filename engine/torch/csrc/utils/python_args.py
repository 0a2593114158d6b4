"""torch/csrc/utils/python_arg_parser.h, PythonArgs: the arguments of one call, bound to one signature.

Differs: no tracing; an argument that was not given, or None where None is allowed, is Python's None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from engine.aten.core.tensor import Tensor, wrapped_scalar_tensor
from engine.c10 import exception
from engine.c10.device import Device
from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat, contiguous_format
from engine.c10.scalar_type import Bool, ComplexDouble, Double, Long, ScalarType, get_default_dtype, isIntegralType
from engine.torch.csrc.utils.python_numbers import (
    THPUtils_checkDouble,
    THPUtils_checkLong,
    THPUtils_unpackComplexDouble,
    THPUtils_unpackDouble,
    THPUtils_unpackIndex,
    THPUtils_unpackInteger,
    THPUtils_unpackLong,
    tp_name,
)
from engine.torch.csrc.utils.python_torch_function import mode_enabled

if TYPE_CHECKING:
    from engine.torch.csrc.utils.function_signature import FunctionSignature

__all__ = ["PythonArgs", "get_default_device", "parse_dimname", "set_default_device", "toDevice", "toScalarType"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

_default_device = Device("cpu")
_PYTHON_SCALAR_TYPES: dict[Any, ScalarType] = {float: Double, bool: Bool, int: Long, complex: ComplexDouble}


def get_default_device() -> Device:
    """torch::tensors::get_default_device: the device of a factory call that names none."""
    return _default_device


def set_default_device(device: Device) -> None:
    global _default_device
    _default_device = device


def toScalarType(obj: Any) -> ScalarType:
    """A torch.dtype, or float, bool, int, complex standing for one."""
    return obj if type(obj) is ScalarType else _PYTHON_SCALAR_TYPES[obj]


def toDevice(obj: Any) -> Device:
    """A torch.device, its text, or the index of an accelerator, of which the engine has none."""
    if type(obj) is Device:
        return obj
    if THPUtils_checkLong(obj):
        exception.TORCH_CHECK(THPUtils_unpackLong(obj) >= 0, "Device index must not be negative")
        exception.TORCH_CHECK(False, "Cannot access accelerator device when none is available.")
    return Device.from_string(obj if isinstance(obj, str) else obj.decode())


def parse_dimname(obj: Any) -> str | None:
    """THPDimname_parse: None, or a valid identifier."""
    if obj is None:
        return None
    exception.TORCH_CHECK_TYPE(isinstance(obj, str), "expected None or string for Dimname but got ", tp_name(obj))
    valid = obj and not obj[0].isdigit() and all(c == "_" or (c.isalnum() and c.isascii()) for c in obj)
    exception.TORCH_CHECK(
        valid,
        "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore and starts "
        "with a non-digit. got: '",
        obj,
        "'.",
    )
    return str(obj)


def scalar_of(obj: Any) -> Any:
    """The c10::Scalar of a number or of a 0-dim tensor."""
    kind = type(obj)
    if kind is float or kind is bool or kind is complex:
        return obj
    if isinstance(obj, Tensor):
        from engine.aten import at

        return at.item.call(obj)
    if THPUtils_checkLong(obj):
        return THPUtils_unpackInteger(obj)
    if isinstance(obj, complex):
        return THPUtils_unpackComplexDouble(obj)
    return THPUtils_unpackDouble(obj)


class PythonArgs:
    """``args`` in the order of the signature's parameters; the methods convert the i-th one."""

    __slots__ = ("args", "idx", "overloaded_args", "signature", "traceable")

    def __init__(
        self, traceable: bool, signature: FunctionSignature, args: list[Any], overloaded_args: list[Any]
    ) -> None:
        self.traceable = traceable
        self.signature = signature
        self.idx = signature.index
        self.args = args
        self.overloaded_args = overloaded_args

    def has_torch_function(self) -> bool:
        return bool(self.overloaded_args) or mode_enabled()

    def get_func_name(self) -> str:
        return self.signature.name

    def isNone(self, i: int) -> bool:
        return self.args[i] is None

    # tensors

    def tensor(self, i: int) -> Any:
        """A tensor; a number, where the signature lets numbers in, becomes a wrapped one without dispatch."""
        obj = self.args[i]
        if obj is None or type(obj) is Tensor or isinstance(obj, Tensor):
            return obj
        if isinstance(obj, bool):
            value: Any = obj
        elif THPUtils_checkLong(obj):
            value = THPUtils_unpackInteger(obj)
        elif isinstance(obj, complex):
            value = THPUtils_unpackComplexDouble(obj)
        else:
            exception.TORCH_CHECK_TYPE(
                THPUtils_checkDouble(obj), "expected Tensor as argument ", i, ", but got ", tp_name(obj)
            )
            value = THPUtils_unpackDouble(obj)
        return wrapped_scalar_tensor(value)

    optionalTensor = tensor

    def tensorlist(self, i: int) -> list[Any]:
        return list(self.args[i] or ())

    def list_of_optional_tensors(self, i: int) -> list[Any]:
        return list(self.args[i] or ())

    def tensorlist_n(self, i: int) -> Any:
        """As many tensors as the parameter's size says (an ``out`` tuple); None when not given."""
        obj = self.args[i]
        if obj is None:
            return None
        n = self.signature.params[i].size
        exception.TORCH_CHECK_TYPE(len(obj) == n, "expected tuple of ", n, " elements but got ", len(obj))
        return tuple(obj)

    # numbers

    def scalar(self, i: int) -> Any:
        obj = self.args[i]
        return self.signature.params[i].default if obj is None else scalar_of(obj)

    def scalarWithDefault(self, i: int, default: Any) -> Any:
        obj = self.args[i]
        return default if obj is None else scalar_of(obj)

    def scalarOptional(self, i: int) -> Any:
        obj = self.args[i]
        return None if obj is None else scalar_of(obj)

    def scalarlist(self, i: int) -> list[Any]:
        return [scalar_of(item) for item in self.args[i] or ()]

    def toInt64(self, i: int) -> Any:
        obj = self.args[i]
        if type(obj) is int and -0x8000000000000000 <= obj <= 0x7FFFFFFFFFFFFFFF:
            return obj
        return self.signature.params[i].default if obj is None else THPUtils_unpackLong(obj)

    toSymInt = toInt64

    def toInt64Optional(self, i: int) -> int | None:
        obj = self.args[i]
        return None if obj is None else THPUtils_unpackLong(obj)

    toSymIntOptional = toInt64Optional

    def toDouble(self, i: int) -> Any:
        obj = self.args[i]
        return self.signature.params[i].default if obj is None else THPUtils_unpackDouble(obj)

    def toDoubleOptional(self, i: int) -> float | None:
        obj = self.args[i]
        return None if obj is None else THPUtils_unpackDouble(obj)

    def toComplex(self, i: int) -> complex:
        obj = self.args[i]
        return complex(self.signature.params[i].default) if obj is None else THPUtils_unpackComplexDouble(obj)

    def toBool(self, i: int) -> bool:
        obj = self.args[i]
        return bool(self.signature.params[i].default) if obj is None else obj is True

    def toBoolWithDefault(self, i: int, default: bool) -> bool:
        obj = self.args[i]
        return default if obj is None else obj is True

    def toBoolOptional(self, i: int) -> bool | None:
        obj = self.args[i]
        return None if obj is None else obj is True

    # lists of numbers

    def _intlist_exception(self, i: int, obj: Any, pos: int, error: Exception | None) -> NoReturn:
        param = self.signature.params[i]
        text = f"type must be {param.type_name},but got {tp_name(obj)}"
        if isinstance(error, exception.Error):
            text = error.what()
        raise exception.TypeError(
            f"{self.signature.name}(): argument '{param.name}' failed to unpack the object at pos {pos + 1} with error "
            f'"{text}"'
        )

    def intlist(self, i: int) -> Any:
        """A tuple of ints; a single one is repeated as often as the parameter's size says."""
        obj = self.args[i]
        if obj is None:
            return self.signature.params[i].default if self.signature.params[i].default is not None else ()
        if not isinstance(obj, (tuple, list)):
            size = self.signature.params[i].size
            if isinstance(obj, Tensor):
                return (int(scalar_of(obj)),) * size
            return (THPUtils_unpackIndex(obj),) * size
        for item in obj:
            if type(item) is not int or not -0x8000000000000000 <= item <= 0x7FFFFFFFFFFFFFFF:
                break
        else:
            return tuple(obj)
        items = []
        for pos, item in enumerate(obj):
            if isinstance(item, Tensor):
                if item.numel_() != 1 or not isIntegralType(item._dtype, True):
                    self._intlist_exception(i, item, pos, None)
                items.append(int(scalar_of(item)))
                continue
            try:
                items.append(THPUtils_unpackIndex(item))
            except Exception as error:
                self._intlist_exception(i, item, pos, error)
        return tuple(items)

    symintlist = intlist

    def intlistOptional(self, i: int) -> Any:
        return None if self.args[i] is None else self.intlist(i)

    symintlistOptional = intlistOptional

    def doublelist(self, i: int) -> list[float]:
        items = []
        for pos, item in enumerate(self.args[i] or ()):
            try:
                items.append(THPUtils_unpackDouble(item))
            except Exception:
                param = self.signature.params[i]
                exception.TORCH_CHECK_TYPE(
                    False,
                    f"{self.signature.name}(): argument '{param.name}' must be {param.type_name}, but found element of "
                    f"type {tp_name(item)} at pos {pos + 1}",
                )
        return items

    def doublelistOptional(self, i: int) -> list[float] | None:
        return None if self.args[i] is None else self.doublelist(i)

    # the rest

    def scalartype(self, i: int) -> ScalarType:
        obj = self.args[i]
        if obj is None:
            return self.signature.params[i].default or get_default_dtype()
        return toScalarType(obj)

    def scalartypeWithDefault(self, i: int, default: ScalarType) -> ScalarType:
        obj = self.args[i]
        return default if obj is None else toScalarType(obj)

    def scalartypeOptional(self, i: int) -> ScalarType | None:
        obj = self.args[i]
        return None if obj is None else toScalarType(obj)

    def layout(self, i: int) -> Layout:
        return self.args[i] or self.signature.params[i].default

    def layoutWithDefault(self, i: int, default: Layout) -> Layout:
        return self.args[i] or default

    def layoutOptional(self, i: int) -> Layout | None:
        return self.args[i]

    def device(self, i: int) -> Device:
        obj = self.args[i]
        return get_default_device() if obj is None else toDevice(obj)

    def deviceWithDefault(self, i: int, default: Device) -> Device:
        obj = self.args[i]
        return default if obj is None else toDevice(obj)

    def deviceOptional(self, i: int) -> Device | None:
        obj = self.args[i]
        return None if obj is None else toDevice(obj)

    def generator(self, i: int) -> Any:
        return self.args[i]

    def memoryformat(self, i: int) -> MemoryFormat:
        return self.args[i] or contiguous_format

    def memoryformatOptional(self, i: int) -> MemoryFormat | None:
        return self.args[i]

    def toDimnameListOptional(self, i: int) -> tuple[str | None, ...] | None:
        obj = self.args[i]
        if obj is None:
            return None
        return tuple(parse_dimname(item) for item in (obj if isinstance(obj, (tuple, list)) else (obj,)))

    def dimnamelist(self, i: int) -> tuple[str | None, ...]:
        return self.toDimnameListOptional(i) or ()

    def dimname(self, i: int) -> str | None:
        return parse_dimname(self.args[i])

    def stringView(self, i: int) -> Any:
        obj = self.args[i]
        if obj is None:
            return self.signature.params[i].default
        return obj if isinstance(obj, str) else obj.decode()

    def stringViewOptional(self, i: int) -> str | None:
        return None if self.args[i] is None else self.stringView(i)

    toStringOptional = stringViewOptional

    def pyobject(self, i: int) -> Any:
        return self.args[i]
