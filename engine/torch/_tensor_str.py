"""torch/_tensor_str.py: what ``print(tensor)`` prints in Python.

Differs: strided tensors only, and no forward-mode tangents. It reads memory directly, where PyTorch slices and
reduces the tensor through the dispatcher.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.aten.core.tensor import Tensor
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.scalar_type import Bool, ComplexDouble, ComplexFloat, Double, Long, get_default_dtype
from engine.torch.csrc.autograd import variable
from engine.torch.csrc.utils import python_torch_function

__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]

Array = npt.NDArray[Any]

_CONJUGATE = key_bits(DispatchKey.Conjugate)
_NEGATIVE = key_bits(DispatchKey.Negative)


@dataclasses.dataclass
class _PrinterOptions:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = _PrinterOptions()

_PROFILES: dict[str, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """``torch.set_printoptions``: digits, from how many elements on to summarise, how many to show then, and so on.

    ``profile`` is "default", "short" or "full"; ``sci_mode`` None leaves the notation to the values.
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen = _PROFILES.get(profile, {}) if profile is not None else {}
    for name, value in {**chosen, **{name: value for name, value in given.items() if value is not None}}.items():
        setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The current options, as keyword arguments of ``set_printoptions``."""
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """``set_printoptions`` for a while."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


# ---- what is read of a tensor


def _values(t: Tensor) -> Array:
    """The elements, with lazy conjugation and negation carried out; floating types as float64."""
    array = t.array
    if t._ks & _NEGATIVE:
        array = -array
    if t._ks & _CONJUGATE:
        array = array.conj()
    if t._dtype.is_complex:
        return array.astype(np.complex128)
    return array.astype(np.float64) if t._dtype.is_floating_point else array


# ---- numbers


class _Formatter:
    """How the numbers of a tensor are printed: as integers, fixed or scientific, all of one width."""

    __slots__ = ("floating", "int_mode", "max_width", "sci_mode")

    def __init__(self, values: Array) -> None:
        self.floating = values.dtype == np.float64
        self.int_mode = True
        self.sci_mode = False
        self.max_width = 1
        if not self.floating:
            self.max_width = max([1, *(len(str(value)) for value in values.ravel().tolist())])
            return
        shown = values[np.isfinite(values) & (values != 0)]
        if shown.size == 0:
            return
        self.int_mode = bool((shown == np.ceil(shown)).all())
        smallest, largest = np.abs(shown).min(), np.abs(shown).max()
        if PRINT_OPTS.sci_mode is None:
            with np.errstate(over="ignore"):
                self.sci_mode = bool(largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4)
        else:
            self.sci_mode = PRINT_OPTS.sci_mode
        # a whole number gets a point behind it, which shows that the type is a floating one
        point = 1 if self.int_mode and not self.sci_mode else 0
        spec = self._spec()
        self.max_width = max(len(f"{value:{spec}}") for value in shown.tolist()) + point

    def _spec(self) -> str:
        if self.sci_mode:
            return f".{PRINT_OPTS.precision}e"
        return ".0f" if self.int_mode else f".{PRINT_OPTS.precision}f"

    def format(self, value: Any) -> str:
        """The number, to the right of a column."""
        if not self.floating:
            text = str(value)
        else:
            text = f"{value:{self._spec()}}"
            if self.int_mode and not self.sci_mode and math.isfinite(value):
                text += "."
        return text.rjust(self.max_width)


class _ComplexFormatter:
    """A formatter for the real parts and one for the imaginary ones."""

    __slots__ = ("imag", "real")

    def __init__(self, values: Array) -> None:
        self.real = _Formatter(values.real)
        self.imag = _Formatter(values.imag)

    @property
    def max_width(self) -> int:
        return self.real.max_width + self.imag.max_width + 1

    def format(self, value: complex) -> str:
        imag = (self.imag.format(value.imag) + "j").lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return self.real.format(value.real) + sign + imag


# ---- arrays


def _summarized(size: int) -> bool:
    return size > 2 * PRINT_OPTS.edgeitems


def _edges(size: int) -> list[range]:
    """The indices shown of a dimension, before and after the dots."""
    if not _summarized(size):
        return [range(size)]
    return [range(PRINT_OPTS.edgeitems), range(size - PRINT_OPTS.edgeitems, size)]


def _summarized_data(values: Array) -> Array:
    """The elements that a summary shows: they alone decide how numbers are printed."""
    shown = [[i for part in _edges(size) for i in part] for size in values.shape]
    return values[np.ix_(*shown)] if shown else values


def _vector_str(values: Array, indent: int, summarize: bool, formatter: Any) -> str:
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // (formatter.max_width + 2))
    size = len(values)
    if summarize and _summarized(size):
        before, after = ([formatter.format(value) for value in values[list(part)].tolist()] for part in _edges(size))
        data = [*before, " ...", *after] if PRINT_OPTS.edgeitems else ["..."]
    else:
        data = [formatter.format(value) for value in values.tolist()]
    lines = [", ".join(data[i : i + per_line]) for i in range(0, len(data), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _array_str(values: Array, indent: int, summarize: bool, formatter: Any) -> str:
    if values.ndim == 0:
        return formatter.format(values.item())  # type: ignore[no-any-return]
    if values.ndim == 1:
        return _vector_str(values, indent, summarize, formatter)
    parts = _edges(len(values)) if summarize else [range(len(values))]
    slices = [[_array_str(values[i], indent + 1, summarize, formatter) for i in part] for part in parts]
    texts = slices[0] if len(slices) == 1 else [*slices[0], "...", *slices[1]]
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(texts) + "]"


def _tensor_str(values: Array, indent: int) -> str:
    if values.size == 0:
        return "[]"
    summarize = values.size > PRINT_OPTS.threshold
    shown = _summarized_data(values) if summarize else values
    formatter = _ComplexFormatter(shown) if values.dtype == np.complex128 else _Formatter(shown)
    return _array_str(values, indent, summarize, formatter)


# ---- the whole


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int) -> str:
    """The suffixes behind the elements, each on the line where it still fits."""
    text = tensor_str
    last_line_len = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if last_line_len + len(suffix) + 2 > PRINT_OPTS.linewidth:
            text += ",\n" + " " * indent + suffix
            last_line_len = indent + len(suffix)
        else:
            text += ", " + suffix
            last_line_len += len(suffix) + 2
    return text + ")"


def _autograd_suffix(t: Tensor) -> str | None:
    try:
        grad_fn = variable.grad_fn(t)
    except Exception:  # a view whose base was written where it must not be has no valid history
        return "grad_fn=<Invalid>"
    if grad_fn is not None:
        return f"grad_fn=<{grad_fn.name().rpartition('::')[2]}>"
    return "requires_grad=True" if variable.requires_grad(t) else None


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """``repr(tensor)``; ``tensor_contents`` stands in for the elements."""
    plain = type(self) in python_torch_function._EXACT  # torch.Tensor and nn.Parameter
    prefix = "tensor(" if plain else f"{type(self).__name__}("
    indent = len(prefix)
    sizes, dtype, default = self._sizes, self._dtype, get_default_dtype()
    size, named_dtype = f"size={sizes}", f"dtype={dtype}"
    meta = self._device.type == "meta"
    contents = tensor_contents
    suffixes = [f"device='{self._device}'"] if self._device.type != "cpu" else []
    if meta or self.numel_() == 0:
        contents = contents or ("..." if meta else "[]")
        if meta or len(sizes) != 1:
            suffixes.append(size)
        if dtype is not default:
            suffixes.append(named_dtype)
    else:
        if not PRINT_OPTS.edgeitems:
            suffixes.append(size)
        default_complex = ComplexDouble if default is Double else ComplexFloat
        if dtype not in (default, default_complex, Long, Bool):
            suffixes.append(named_dtype)
        contents = contents or _tensor_str(_values(self), indent)
    history = _autograd_suffix(self)
    if history is not None:
        suffixes.append(history)
    if self._names is not None and any(self._names):
        suffixes.append(f"names={self._names}")
    text = _add_suffixes(prefix + contents, suffixes, indent)
    is_parameter = not plain and getattr(self, "_is_param", False)
    return f"Parameter({text})" if is_parameter else text
