"""aten/src/ATen/core/Formatting.cpp: what ``std::cout << tensor`` prints.

Differs: strided tensors on CPU. It reads memory directly; PyTorch dispatches ``to``, ``contiguous`` and ``select``.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine.c10 import exception

if TYPE_CHECKING:
    from engine.aten.core.tensor import Tensor

__all__ = ["print_", "to_string"]

Doubles = npt.NDArray[np.float64]


def to_string(tensor: Tensor | None) -> str:
    """``at::print(tensor)`` with the usual 80 columns."""
    return print_(tensor, 80)


def print_(tensor: Tensor | None, linesize: int) -> str:
    """The elements as doubles, then the type and the sizes: ``[ CPUFloatType{2,2} ]``."""
    if tensor is None:
        return "[ Tensor (undefined) ]"
    values = _doubles(tensor)
    if values.ndim == 0:
        text = f"{_shortest(float(values))}\n"
    elif values.size == 0:
        text = ""
    elif values.ndim == 1:
        text = _vector(values)
    elif values.ndim == 2:
        text = _matrix(values, linesize, 0)
    else:
        text = _slices(values, linesize)
    sizes = ",".join(map(str, values.shape))
    return f"{text}[ {_type_string(tensor)}{{{sizes}}} ]"


def _doubles(tensor: Tensor) -> Doubles:
    if tensor._device.type == "meta":
        raise exception.NotImplementedError("Cannot copy out of meta tensor; no data!")
    array: npt.NDArray[Any] = tensor.array
    return np.asarray(array.real if np.iscomplexobj(array) else array).astype(np.float64)


def _type_string(tensor: Tensor) -> str:
    """``at::Tensor::toString()``: backend and element type."""
    return f"{tensor._device.type.upper()}{tensor._dtype.name}Type"


# ---- numbers


def _shortest(x: float) -> str:
    """fmt's ``{}``: the fewest digits that give the number back."""
    return repr(x).removesuffix(".0") if not math.isnan(x) else _nan(x)


def _nan(x: float) -> str:
    """Unlike Python, C++ shows a nan's sign."""
    return "-nan" if math.copysign(1, x) < 0 else "nan"


class _Format:
    """How the numbers of a block are printed (``__printFormat``): a common scale, a width, and the stream's flags."""

    __slots__ = ("scale", "spec", "width")

    def __init__(self, values: Doubles) -> None:
        finite = values[np.isfinite(values)]
        magnitudes = np.abs(finite)
        smallest = float(magnitudes.min()) if finite.size else 1.0
        largest = float(magnitudes.max()) if finite.size else 1.0
        exp_min, exp_max = _exponent(smallest), _exponent(largest)
        self.scale = 1.0
        self.spec = ".4f"
        if bool(np.all(finite == np.ceil(finite))):
            self.width, self.spec = (11, ".4e") if exp_max > 9 else (exp_max + 1, "g")
        elif exp_max - exp_min > 4:
            self.width = 12 if abs(exp_max) > 99 or abs(exp_min) > 99 else 11
            self.spec = ".4e"
        elif exp_max > 5 or exp_max < 0:
            self.width = 7
            self.scale = 10.0 ** (exp_max - 1)
        else:
            self.width = 7 if exp_max == 0 else exp_max + 6

    def __call__(self, x: float) -> str:
        if math.isnan(x):
            return _nan(x).rjust(self.width)
        if self.scale != 1:
            with np.errstate(over="ignore", divide="ignore"):
                x = float(np.float64(x) / self.scale)
        return f"{x:{self.spec}}".rjust(self.width)

    def scale_line(self) -> str:
        return "" if self.scale == 1 else f"{_shortest(self.scale)} *\n"


def _exponent(x: float) -> int:
    return math.floor(math.log10(x)) + 1 if x else 1


# ---- blocks


def _vector(values: Doubles) -> str:
    form = _Format(values)
    return form.scale_line() + "".join(f"{form(x)}\n" for x in values.tolist())


def _matrix(values: Doubles, linesize: int, indent: int) -> str:
    """Rows, cut into groups of as many columns as a line holds."""
    form = _Format(values)
    pad = " " * indent
    columns = values.shape[1]
    per_line = max((linesize - indent) // (form.width + 1), 1)
    text = ""
    for first in range(0, columns, per_line):
        last = min(first + per_line, columns)
        if per_line < columns:
            text += "\n" if first else ""
            text += f"Columns {first + 1} to {last}{pad}"
        if form.scale != 1:
            text += form.scale_line() + pad
        rows = [" ".join(map(form, row)) + "\n" for row in values[:, first:last].tolist()]
        text += (pad if form.scale == 1 else f"{pad} ").join(rows)
    return text


def _slices(values: Doubles, linesize: int) -> str:
    """The matrices of the last two dimensions, the first index changing fastest."""
    blocks = []
    for index in product(*map(range, reversed(values.shape[:-2]))):
        place = tuple(reversed(index))
        name = ",".join(str(i + 1) for i in place)
        blocks.append(f"({name},.,.) = \n{_matrix(values[place], linesize, 1)}")
    return "\n".join(blocks)
