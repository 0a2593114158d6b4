from __future__ import annotations

import numpy as np
import pytest

from engine.aten.native.type_cast import checked_convert, convert
from engine.c10 import exception
from engine.c10.scalar_type import BFloat16, Bool, Byte, Char, ComplexFloat, Double, Float, Half, Int, Long, Short


def test_floats_become_integers_as_on_x86() -> None:
    values = np.array([1.5, -1.5, 300.0, -300.0, np.nan, np.inf], np.float32)
    assert convert(values, Float, Byte).tolist() == [1, 255, 44, 212, 0, 0]
    assert convert(values, Float, Char).tolist() == [1, -1, 44, -44, 0, 0]
    assert convert(values, Float, Long)[-2:].tolist() == [-(2**63)] * 2
    assert convert(values, Float, Bool).all()


def test_small_floats_round_through_float() -> None:
    value = np.array([1.00048828125 + 2**-40])  # a tie for Half once it is a float
    assert convert(value, Double, Half)[0] == np.float32(value[0]).astype(np.float16)
    assert convert(np.array([1e6]), Double, Half)[0] == np.inf


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [(-1, Byte, 255), (-255, Byte, 1), (3, Bool, True), (1.9, Int, 1), (True, Float, 1.0), (1 + 0j, Float, 1.0)],
)
def test_numbers_that_fit(value: complex, dtype: object, result: object) -> None:
    assert checked_convert(value, dtype) == result


@pytest.mark.parametrize(
    ("value", "dtype", "name"),
    [
        (300, Byte, "uint8_t"),
        (-256, Byte, "uint8_t"),
        (-1.0, Byte, "uint8_t"),
        (1e6, Short, "int16_t"),
        (2**40, Int, "int"),
        (2**63, Long, "int64_t"),
        (float("nan"), Long, "int64_t"),
        (1e40, Float, "float"),
        (70000, Half, "c10::Half"),
        (1e39, BFloat16, "c10::BFloat16"),
        (1j, Double, "double"),
        (1e39 + 1j, ComplexFloat, "c10::complex<float>"),
    ],
)
def test_numbers_that_do_not(value: complex, dtype: object, name: str) -> None:
    with pytest.raises(exception.Error, match="without overflow") as error:
        checked_convert(value, dtype)
    assert error.value.msg == f"value cannot be converted to type {name} without overflow"
