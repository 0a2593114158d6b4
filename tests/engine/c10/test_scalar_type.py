"""Element types: names, attributes, promotion."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.c10 import exception
from engine.c10 import scalar_type as s

FREE = st.sampled_from(s._FREE)


def test_names_and_values_are_c10s():
    assert " ".join(t.name for t in s.all_scalar_types()[:13]) == (
        "Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool QInt8"
    )
    assert (s.Float.value, s.BFloat16.value, s.Float4_e2m1fn_x2.value) == (6, 15, 45)
    assert s.NumScalarTypes == 47
    assert s.toString(s.Float) == "Float"
    assert s.toString(s.Undefined) == "UNKNOWN_SCALAR"


def test_a_scalar_type_is_pythons_dtype():
    assert repr(s.Float) == str(s.Float) == "torch.float32"
    assert str(type(s.Float)) == "<class 'torch.dtype'>"
    assert not hasattr(s.Float, "__dict__")


@pytest.mark.parametrize("t", s.all_scalar_types(), ids=str)
def test_copies_are_the_same_object(t):
    assert copy.deepcopy(t) is t
    assert copy.copy(t) is t
    assert pickle.loads(pickle.dumps(t)) is t


@pytest.mark.parametrize("t", [t for t in s.all_scalar_types() if t.np is not None], ids=str)
def test_numpy_types_have_the_same_size(t):
    assert t.np.itemsize == t.itemsize == s.elementSize(t)
    assert s.from_numpy_dtype(t.np) is t


def test_no_instances_no_subclasses():
    with pytest.raises(TypeError, match=r"cannot create 'torch.dtype' instances"):
        s.ScalarType()
    with pytest.raises(TypeError, match=r"type 'torch.dtype' is not an acceptable base type"):
        type("Mine", (s.ScalarType,), {})


@given(FREE, FREE, FREE)
def test_promotion_is_a_join(a, b, c):
    assert s.promoteTypes(a, a) is a
    assert s.promoteTypes(a, b) is s.promoteTypes(b, a)
    assert s.promoteTypes(a, s.promoteTypes(b, c)) is s.promoteTypes(s.promoteTypes(a, b), c)


@given(FREE, FREE)
def test_numpy_agrees_where_it_has_the_types(a, b):
    if None in (a.np, b.np) or s.BFloat16 in (a, b):
        return
    ours = s.promoteTypes(a, b)
    if s.isIntegralType(a, True) is s.isIntegralType(b, True):  # otherwise numpy widens the float
        assert np.promote_types(a.np, b.np) == ours.np


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (s.QInt8, s.Float, "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules"),
        (s.Bits8, s.Float, "Promotion from Bits8 and Float is unsupported."),
        (s.Float8_e5m2, s.Float, "Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 and"),
        (s.UInt16, s.Int, "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16"),
        (s.Int4, s.Int, "ix_a != -1 INTERNAL ASSERT FAILED at"),
    ],
)
def test_promotions_that_do_not_exist(a, b, message):
    with pytest.raises(exception.Error) as caught:
        s.promoteTypes(a, b)
    assert str(caught.value).startswith(message)


def test_default_dtype():
    assert s.get_default_dtype() is s.dtype_or_default(None) is s.Float
    s.set_default_dtype(s.Half)
    try:
        assert s.get_default_complex_dtype() is s.ComplexHalf
    finally:
        s.set_default_dtype(s.Float)
    with pytest.raises(TypeError, match=r"^only floating-point types are supported as the default type$"):
        s.set_default_dtype(s.Int)
    with pytest.raises(TypeError, match=r"^invalid dtype object: only floating-point types"):
        s.set_default_dtype("float32")


@pytest.mark.parametrize(
    ("number", "expected"),
    [(True, s.Bool), (1, s.Long), (2**63, s.UInt64), (1.0, s.Double), (1j, s.ComplexDouble), (np.float32(1), s.Double)],
)
def test_types_of_numbers(number, expected):
    assert s.scalar_dtype_of(number) is expected
