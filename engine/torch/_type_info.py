"""torch/csrc/TypeInfo.cpp: torch.finfo and torch.iinfo, the limits of element types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from engine.c10.exception import Error, translate
from engine.c10.scalar_type import ScalarType, get_default_dtype
from engine.torch.csrc.utils.python_arg_parser import PythonArgParser
from engine.torch.csrc.utils.python_numbers import register_tp_name

__all__ = ["finfo", "iinfo"]

_FINFO = PythonArgParser(("finfo(ScalarType type)", "finfo()"))
_IINFO = PythonArgParser(("iinfo(ScalarType type)",))


def _dtype(parser: PythonArgParser, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ScalarType:
    try:
        r = parser.parse(None, args, kwargs)
    except Error as error:
        raise translate(error) from None
    return r.scalartype(0) if r.args else get_default_dtype()


class finfo:
    """Limits of a floating point type; of a complex one, those of its parts."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        dtype = _dtype(_FINFO, args, kwargs)
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        real = dtype.to_real() if dtype.is_complex else dtype
        info = ml_dtypes.finfo(real.np)
        self.dtype = real.torch_name
        self.bits = info.bits
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.smallest_normal = self.tiny = float(info.smallest_normal)
        self.resolution = 10.0 ** -_digits10(real)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


def _digits10(dtype: ScalarType) -> int:
    """std::numeric_limits<T>::digits10."""
    assert dtype.np is not None
    mantissa = ml_dtypes.finfo(dtype.np).nmant + 1
    return int((mantissa - 1) * 0.30102999566398120)


class iinfo:
    """Limits of an integer type."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        dtype = _dtype(_IINFO, args, kwargs)
        if dtype.is_floating_point or dtype.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if dtype.torch_name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        info = np.iinfo(dtype.np)  # type: ignore[arg-type]
        self.dtype = dtype.torch_name
        self.bits = info.bits
        self.min = int(info.min)
        self.max = int(info.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


for _kind in (finfo, iinfo):
    _kind.__module__ = "torch"
    register_tp_name(_kind, f"torch.{_kind.__name__}")
