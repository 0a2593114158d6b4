"""c10/core/ScalarType.h and c10/core/DefaultDtype.h: element types, their promotion, and the default one.

One object per element type. It is at once C++'s ``c10::ScalarType`` (``Float``, ``toString``) and what Python knows as
``torch.dtype`` (``torch.float32``).

Differs: ``caffe2::TypeMeta`` is not a type of its own; a ScalarType stands for it.
"""

from __future__ import annotations

from typing import Any, Final, Self

import ml_dtypes
import numpy as np
import numpy.typing as npt

from engine.c10 import exception

Scalar = bool | int | float | complex


class ScalarType:
    """An element type; the singletons of this module are the only instances."""

    __slots__ = (
        "abbr",
        "cpp_name",
        "is_complex",
        "is_floating_point",
        "itemsize",
        "name",
        "np",
        "torch_name",
        "value",
    )

    name: str  # C++'s name: "Float"
    torch_name: str  # Python's: "float32"
    value: int
    itemsize: int
    np: np.dtype[Any] | None  # None: numpy has no such type
    abbr: str
    cpp_name: str  # what caffe2::TypeMeta::name() says: "float"
    is_floating_point: bool
    is_complex: bool

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        raise TypeError("cannot create 'torch.dtype' instances")

    def __init_subclass__(cls) -> None:
        raise TypeError("type 'torch.dtype' is not an acceptable base type")

    def __repr__(self) -> str:
        return f"torch.{self.torch_name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return scalar_type_by_name, (self.torch_name,)

    @property
    def is_signed(self) -> bool:
        try:
            return isSignedType(self)
        except exception.Error as error:
            raise exception.translate(error) from None

    def to_real(self) -> ScalarType:
        """The type of the real part; the type itself when it is not complex."""
        return toRealValueType(self)

    def to_complex(self) -> ScalarType:
        """The complex type of the same precision."""
        try:
            return toComplexType(self)
        except exception.Error as error:
            raise exception.translate(error) from None


ScalarType.__name__ = ScalarType.__qualname__ = "dtype"
ScalarType.__module__ = "torch"

_TYPES: Final[list[ScalarType]] = []
_BY_NAME: Final[dict[str, ScalarType]] = {}
_FLOATING: Final = ("Half", "Float", "Double", "BFloat16")  # and all of Float8, Float4


def _make(name: str, torch_name: str, itemsize: int, abbr: str, cpp_name: str, np_type: Any = None) -> ScalarType:
    self: ScalarType = object.__new__(ScalarType)
    self.name = name
    self.torch_name = torch_name
    self.value = len(_TYPES)
    self.itemsize = itemsize
    self.np = None if np_type is None else np.dtype(np_type)
    self.abbr = abbr
    self.cpp_name = cpp_name
    self.is_floating_point = name in _FLOATING or name.startswith(("Float8", "Float4"))
    self.is_complex = name.startswith("Complex")
    _TYPES.append(self)
    _BY_NAME[torch_name] = self
    return self


Byte = _make("Byte", "uint8", 1, "u8", "unsigned char", np.uint8)
Char = _make("Char", "int8", 1, "i8", "signed char", np.int8)
Short = _make("Short", "int16", 2, "i16", "short int", np.int16)
Int = _make("Int", "int32", 4, "i32", "int", np.int32)
Long = _make("Long", "int64", 8, "i64", "long int", np.int64)
Half = _make("Half", "float16", 2, "f16", "c10::Half", np.float16)
Float = _make("Float", "float32", 4, "f32", "float", np.float32)
Double = _make("Double", "float64", 8, "f64", "double", np.float64)
ComplexHalf = _make("ComplexHalf", "complex32", 4, "c32", "c10::complex<c10::Half>")
ComplexFloat = _make("ComplexFloat", "complex64", 8, "c64", "c10::complex<float>", np.complex64)
ComplexDouble = _make("ComplexDouble", "complex128", 16, "c128", "c10::complex<double>", np.complex128)
Bool = _make("Bool", "bool", 1, "b8", "bool", np.bool_)
QInt8 = _make("QInt8", "qint8", 1, "qint8", "c10::qint8")
QUInt8 = _make("QUInt8", "quint8", 1, "quint8", "c10::quint8")
QInt32 = _make("QInt32", "qint32", 4, "qint32", "c10::qint32")
BFloat16 = _make("BFloat16", "bfloat16", 2, "bf16", "c10::BFloat16", ml_dtypes.bfloat16)
QUInt4x2 = _make("QUInt4x2", "quint4x2", 1, "quint4x2", "c10::quint4x2")
QUInt2x4 = _make("QUInt2x4", "quint2x4", 1, "quint2x4", "c10::quint2x4")
Bits1x8 = _make("Bits1x8", "bits1x8", 1, "b1x8", "c10::bits1x8")
Bits2x4 = _make("Bits2x4", "bits2x4", 1, "b2x4", "c10::bits2x4")
Bits4x2 = _make("Bits4x2", "bits4x2", 1, "b4x2", "c10::bits4x2")
Bits8 = _make("Bits8", "bits8", 1, "b8x1", "c10::bits8")
Bits16 = _make("Bits16", "bits16", 2, "b16x1", "c10::bits16")
Float8_e5m2 = _make("Float8_e5m2", "float8_e5m2", 1, "f8e5m2", "c10::Float8_e5m2", ml_dtypes.float8_e5m2)
Float8_e4m3fn = _make("Float8_e4m3fn", "float8_e4m3fn", 1, "f8e4m3fn", "c10::Float8_e4m3fn", ml_dtypes.float8_e4m3fn)
Float8_e5m2fnuz = _make(
    "Float8_e5m2fnuz", "float8_e5m2fnuz", 1, "f8e5m2fnuz", "c10::Float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz
)
Float8_e4m3fnuz = _make(
    "Float8_e4m3fnuz", "float8_e4m3fnuz", 1, "f8e4m3fnuz", "c10::Float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz
)
UInt16 = _make("UInt16", "uint16", 2, "u16", "short unsigned int", np.uint16)
UInt32 = _make("UInt32", "uint32", 4, "u32", "unsigned int", np.uint32)
UInt64 = _make("UInt64", "uint64", 8, "u64", "long unsigned int", np.uint64)
UInt1, UInt2, UInt3, UInt4, UInt5, UInt6, UInt7 = (
    _make(f"UInt{i}", f"uint{i}", 1, f"uint{i}", f"c10::dummy_uint1_7_t<{i}>") for i in range(1, 8)
)
Int1, Int2, Int3, Int4, Int5, Int6, Int7 = (
    _make(f"Int{i}", f"int{i}", 1, f"int{i}", f"c10::dummy_int1_7_t<{i}>") for i in range(1, 8)
)
Float8_e8m0fnu = _make(
    "Float8_e8m0fnu",
    "float8_e8m0fnu",
    1,
    "f8e8m0fnu",
    "c10::Float8_e8m0fnu",
    getattr(ml_dtypes, "float8_e8m0fnu", None),
)
Float4_e2m1fn_x2 = _make("Float4_e2m1fn_x2", "float4_e2m1fn_x2", 1, "f4e2m1fnx2", "c10::Float4_e2m1fn_x2")
Undefined = _make("Undefined", "undefined", 0, "", "nullptr (uninitialized)")

NumScalarTypes: Final = len(_TYPES)

_QINTS: Final = frozenset((QInt8, QUInt8, QInt32, QUInt4x2, QUInt2x4))
_BITS: Final = frozenset((Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16))
_FLOAT8: Final = frozenset((Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz, Float8_e8m0fnu))
_SMALL_UNSIGNED: Final = (UInt1, UInt2, UInt3, UInt4, UInt5, UInt6, UInt7)
_BAREBONES_UNSIGNED: Final = frozenset((*_SMALL_UNSIGNED, UInt16, UInt32, UInt64))
_INTEGRAL: Final = frozenset((Byte, Char, Short, Int, Long, UInt16, UInt32, UInt64))
_UNSIGNED: Final = _BAREBONES_UNSIGNED | {Byte, Bool, Float8_e8m0fnu}
_TO_QINT: Final = {Byte: QUInt8, Char: QInt8, Int: QInt32}
_TO_UNDERLYING: Final = {QUInt8: Byte, QUInt4x2: Byte, QUInt2x4: Byte, QInt8: Char, QInt32: Int}
_TO_REAL: Final = {ComplexHalf: Half, ComplexFloat: Float, ComplexDouble: Double}
_TO_COMPLEX: Final = {
    BFloat16: ComplexFloat,
    Half: ComplexHalf,
    Float: ComplexFloat,
    Double: ComplexDouble,
    ComplexHalf: ComplexHalf,
    ComplexFloat: ComplexFloat,
    ComplexDouble: ComplexDouble,
}
_FROM_NUMPY: Final[dict[np.dtype[Any], ScalarType]] = {t.np: t for t in _TYPES if t.np is not None}


def all_scalar_types() -> tuple[ScalarType, ...]:
    """Every element type but Undefined, in c10's order."""
    return tuple(_TYPES[:-1])


def scalar_type_by_name(name: str) -> ScalarType:
    """From Python's name: ``"float32"``; KeyError when there is no such type."""
    return _BY_NAME[name]


def toString(t: ScalarType) -> str:
    """C++'s name of the type: ``"Float"``."""
    return "UNKNOWN_SCALAR" if t is Undefined else t.name


def elementSize(t: ScalarType) -> int:
    """The size of an element in bytes."""
    if t is Undefined:
        exception.TORCH_CHECK(False, "Unknown ScalarType")
    return t.itemsize


def isIntegralType(t: ScalarType, includeBool: bool) -> bool:
    return t in _INTEGRAL or (includeBool and t is Bool)


def isFloatingType(t: ScalarType) -> bool:
    return t.is_floating_point


def isComplexType(t: ScalarType) -> bool:
    return t.is_complex


def isReducedFloatingType(t: ScalarType) -> bool:
    return t.is_floating_point and t is not Float and t is not Double


def isFloat8Type(t: ScalarType) -> bool:
    return t in _FLOAT8


def isQIntType(t: ScalarType) -> bool:
    return t in _QINTS


def isBitsType(t: ScalarType) -> bool:
    return t in _BITS


def isBarebonesUnsignedType(t: ScalarType) -> bool:
    return t in _BAREBONES_UNSIGNED


def isSignedType(t: ScalarType) -> bool:
    if t in _QINTS:
        exception.TORCH_CHECK(False, "isSignedType not supported for quantized types")
    if t in _BITS:
        exception.TORCH_CHECK(False, "Bits types are undefined")
    if t is Undefined:
        exception.TORCH_CHECK(False, "Unknown ScalarType ", toString(t))
    return t not in _UNSIGNED


def toQIntType(t: ScalarType) -> ScalarType:
    return _TO_QINT.get(t, t)


def toUnderlying(t: ScalarType) -> ScalarType:
    return _TO_UNDERLYING.get(t, t)


def toRealValueType(t: ScalarType) -> ScalarType:
    return _TO_REAL.get(t, t)


def toComplexType(t: ScalarType) -> ScalarType:
    found = _TO_COMPLEX.get(t)
    if found is None:
        exception.TORCH_CHECK(False, "Unknown Complex ScalarType for ", toString(t))
    assert found is not None
    return found


def canCast(from_: ScalarType, to: ScalarType) -> bool:
    """Whether a result of type ``from_`` may be written into a tensor of type ``to``: never to a lower category."""
    if from_.is_complex and not to.is_complex:
        return False
    if from_.is_floating_point and to in _INTEGRAL:
        return False
    return from_ is Bool or to is not Bool


# The thirteen types that promote freely: a lattice, here as "the types that b can be promoted to", smallest first.
_FREE: Final = (
    Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, BFloat16,
)  # fmt: skip
_STEPS: Final = {
    Bool: (Byte, Char),
    Byte: (Short,),
    Char: (Short,),
    Short: (Int,),
    Int: (Long,),
    Long: (Half, BFloat16),
    Half: (Float, ComplexHalf),
    BFloat16: (Float,),
    Float: (Double, ComplexFloat),
    Double: (ComplexDouble,),
    ComplexHalf: (ComplexFloat,),
    ComplexFloat: (ComplexDouble,),
    ComplexDouble: (),
}


def _above(t: ScalarType) -> frozenset[ScalarType]:
    return frozenset((t,)).union(*(_above(step) for step in _STEPS[t]))


def _join_all() -> dict[tuple[ScalarType, ScalarType], ScalarType]:
    above = {t: _above(t) for t in _FREE}
    # the least common type is the one from which all other common types can be reached
    return {(a, b): max(above[a] & above[b], key=lambda t: len(above[t])) for a in _FREE for b in _FREE}


_PROMOTIONS: Final = _join_all()


def promoteTypes(a: ScalarType, b: ScalarType) -> ScalarType:
    """The smallest type that both can be promoted to."""
    found = _PROMOTIONS.get((a, b))
    return found if found is not None else _promote_rare(a, b)


def _promote_rare(a: ScalarType, b: ScalarType) -> ScalarType:
    if a is Undefined or b is Undefined:
        return Undefined
    if a is b:
        return a
    if a in _QINTS or b in _QINTS:
        exception.TORCH_CHECK(
            False,
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, "
            f"offending types: {toString(a)} {toString(b)}",
        )
    if a in _BITS or b in _BITS:
        exception.TORCH_CHECK(False, f"Promotion from {toString(a)} and {toString(b)} is unsupported.")
    if a in _FLOAT8 or b in _FLOAT8:
        exception.TORCH_CHECK(
            False, f"Promotion for Float8 Types is not supported, attempted to promote {toString(a)} and {toString(b)}"
        )
    if a in _BAREBONES_UNSIGNED or b in _BAREBONES_UNSIGNED:
        if a.is_floating_point:
            return a
        if b.is_floating_point:
            return b
        exception.TORCH_CHECK(
            False,
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{toString(a)} and {toString(b)}",
        )
    exception.TORCH_INTERNAL_ASSERT(a in _STEPS, "ix_a != -1")
    exception.TORCH_INTERNAL_ASSERT(b in _STEPS, "ix_b != -1")
    raise AssertionError


# ---- the default dtype (c10/core/DefaultDtype.h; torch/csrc/tensor/python_tensor.cpp)

_default_dtype = Float


def get_default_dtype() -> ScalarType:
    return _default_dtype


def get_default_complex_dtype() -> ScalarType:
    return toComplexType(_default_dtype)


def set_default_dtype(d: object) -> None:
    """``torch.set_default_dtype``: what ``torch.rand(2)`` and a Python float make from now on."""
    global _default_dtype
    if not isinstance(d, ScalarType):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if d not in (Half, Float, Double, BFloat16):
        raise TypeError(f"couldn't find storage object {d.name}Storage")
    _default_dtype = d


def dtype_or_default(dtype: ScalarType | None) -> ScalarType:
    return _default_dtype if dtype is None else dtype


# ---- numpy and Python numbers


def from_numpy_dtype(dtype: npt.DTypeLike) -> ScalarType | None:
    """The element type that a numpy dtype becomes, or None."""
    found = np.dtype(dtype)
    return _FROM_NUMPY.get(found.newbyteorder("=") if found.kind in "iufc" else found)


def scalar_dtype_of(x: Scalar) -> ScalarType:
    """``c10::Scalar::type()`` of a Python number: bool, Long, Double or ComplexDouble."""
    if isinstance(x, bool | np.bool_):
        return Bool
    if isinstance(x, int | np.integer):
        return Long if x < 2**63 else UInt64
    if isinstance(x, float | np.floating):
        return Double
    return ComplexDouble
