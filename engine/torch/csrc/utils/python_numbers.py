"""torch/csrc/utils/python_numbers.h: which Python objects count as C++ numbers, and their values.

Differs: no SymInt, SymFloat or SymBool.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from engine.aten.core.generator import Generator
from engine.c10 import exception
from engine.c10.device import Device
from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import ScalarType

__all__ = [
    "THPUtils_checkDouble",
    "THPUtils_checkIndex",
    "THPUtils_checkLong",
    "THPUtils_checkScalar",
    "THPUtils_unpackComplexDouble",
    "THPUtils_unpackDouble",
    "THPUtils_unpackIndex",
    "THPUtils_unpackInteger",
    "THPUtils_unpackLong",
    "register_tp_name",
    "tp_name",
]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

_HEAPTYPE = 1 << 9
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
# classes that are Python's here and C's in PyTorch
_TP_NAMES: dict[type, str] = {
    ScalarType: "torch.dtype",
    Device: "torch.device",
    Layout: "torch.layout",
    MemoryFormat: "torch.memory_format",
    Generator: "torch._C.Generator",
}


def tp_name(obj: object) -> str:
    """Py_TYPE(obj)->tp_name: dotted for types made in C outside builtins, bare for Python classes."""
    kind = type(obj)
    name = _TP_NAMES.get(kind)
    if name is None:
        module = kind.__module__
        dotted = not kind.__flags__ & _HEAPTYPE and module != "builtins"
        name = f"{module}.{kind.__name__}" if dotted else kind.__name__
        _TP_NAMES[kind] = name
    return name


def register_tp_name(kind: type, name: str) -> None:
    """``kind`` is a C type in PyTorch, with this name."""
    _TP_NAMES[kind] = name


def THPUtils_checkLong(obj: object) -> bool:
    """A Python or numpy integer, not a bool."""
    kind = type(obj)
    if kind is int:
        return True
    if kind is bool:
        return False
    return isinstance(obj, (int, np.integer))


def THPUtils_checkIndex(obj: Any) -> bool:
    """Something with __index__, not a bool."""
    if isinstance(obj, (bool, np.bool_)):
        return False
    if THPUtils_checkLong(obj):
        return True
    try:
        operator.index(obj)
    except Exception:
        return False
    return True


def THPUtils_checkDouble(obj: object) -> bool:
    """A float or an integer (bools count), or any numpy scalar."""
    return isinstance(obj, (float, int, np.number, np.bool_))


def THPUtils_checkScalar(obj: object) -> bool:
    """Any Python or numpy number."""
    return isinstance(obj, (float, int, complex, np.number, np.bool_))


def THPUtils_unpackLong(obj: Any) -> int:
    """The value as int64_t; c10::ValueError when it does not fit."""
    value = obj if type(obj) is int else operator.index(obj)
    exception.TORCH_CHECK_VALUE(_INT64_MIN <= value <= _INT64_MAX, "Overflow when unpacking long long")
    return int(value)


def THPUtils_unpackIndex(obj: Any) -> int:
    return THPUtils_unpackLong(obj if THPUtils_checkLong(obj) else operator.index(obj))


def THPUtils_unpackInteger(obj: Any) -> int:
    """int64_t, or uint64_t where that is too small; Python's own OverflowError beyond."""
    value = operator.index(obj)
    if value > _INT64_MAX:
        if value >= 1 << 64:
            raise OverflowError("int too big to convert")
    elif value < _INT64_MIN:
        raise OverflowError("can't convert negative int to unsigned")
    return int(value)


def THPUtils_unpackDouble(obj: Any) -> float:
    return obj if type(obj) is float else float(obj)


def THPUtils_unpackComplexDouble(obj: Any) -> complex:
    return obj if type(obj) is complex else complex(obj)
