"""Result types: numbers and 0-dim tensors matter only by category."""

from __future__ import annotations

import pytest

from engine import torch
from engine.aten.native.type_properties import result_type
from engine.c10 import scalar_type as s


class Operand:
    def __init__(self, dtype, sizes, wrapped=False):
        self._dtype, self._sizes, self._wrapped = dtype, sizes, wrapped


def test_numbers_and_0_dim_tensors_matter_only_by_category():
    ints = Operand(s.Int, (2,))
    assert result_type(ints, Operand(s.Long, ())) is s.Int
    assert result_type(ints, 2) is s.Int
    assert result_type(ints, 2.5) is s.Float
    assert result_type(ints, Operand(s.Double, ())) is s.Double
    assert result_type(ints, Operand(s.Double, (), wrapped=True)) is s.Float
    assert result_type(ints, None, 2j) is s.ComplexFloat
    assert result_type(Operand(s.Half, (2,)), 2j) is s.ComplexHalf
    assert result_type(Operand(s.Bool, (2,)), 2) is s.Long
    assert result_type(Operand(s.Half, ()), Operand(s.Float, ())) is s.Float
    assert result_type() is s.Undefined


def test_a_float_has_the_default_dtype():
    s.set_default_dtype(s.Half)
    try:
        assert result_type(1.5) is s.Half
        assert result_type(Operand(s.Int, (2,)), 1j) is s.ComplexHalf
    finally:
        s.set_default_dtype(s.Float)


def test_a_number_beyond_int64_is_uint64() -> None:
    t = torch.ones(2)
    assert (t * 2**63).tolist() == [2.0**63] * 2
    assert (2**64 - 1 + t).tolist() == [2.0**64] * 2
    assert t.add_(2**63).tolist() == [2.0**63] * 2
    assert (torch.ones(2, dtype=torch.int64) + 2**63).tolist() == [1 - 2**63] * 2
    with pytest.raises(OverflowError, match="int too big to convert"):
        t + 2**64
