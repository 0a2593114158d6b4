from __future__ import annotations

import numpy as np
import pytest

from engine.aten import at
from engine.aten.core.generator import createCPUGenerator
from engine.c10.device import Device
from engine.c10.exception import Error
from engine.c10.scalar_type import Bool, Double, Float, Half, Long

NONE = (None, None, None, None)
META = (None, None, Device("meta"), None)


def test_the_fill_value_says_the_type() -> None:
    assert at.full.call((2,), 7, *NONE)._dtype is Long
    assert at.full.call((2,), 7.0, *NONE)._dtype is Float
    assert at.full.call((2,), True, *NONE)._dtype is Bool


def test_arange() -> None:
    assert at.arange.call(5, *NONE).array.tolist() == [0, 1, 2, 3, 4]
    assert at.arange_start_step.call(1.0, 2.0, 0.25, *NONE).array.tolist() == [1.0, 1.25, 1.5, 1.75]
    with pytest.raises(Error, match="upper bound and lower bound inconsistent with step sign"):
        at.arange_start_step.call(5, 0, 1, *NONE)


def test_eye_clears_what_was_there() -> None:
    out = at.ones.call((3, 3), *NONE)
    assert at.eye_m_out.call(2, 3, out) is out
    assert out.array.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_random_numbers_of_a_seed() -> None:
    drawn = at.rand_generator.call((3,), createCPUGenerator(0), *NONE)
    np.testing.assert_allclose(drawn.array, [0.49625659, 0.76822180, 0.08847743], rtol=1e-6)


def test_normal_numbers_of_a_seed() -> None:
    drawn = at.randn_generator.call((3,), createCPUGenerator(0), *NONE)
    np.testing.assert_allclose(drawn.array, [1.54099607, -0.29342890, -2.17878938], rtol=1e-6)
    with pytest.raises(Error, match=r"normal expects std >= 0\.0, but found std -1"):
        at.normal_.call(drawn, 0.0, -1.0, None)


def test_random_numbers_fill_memory_in_order() -> None:
    plain = at.rand_generator.call((3, 2), createCPUGenerator(0), *NONE)
    turned = at.t.call(at.empty_memory_format.call((2, 3), *NONE, None))
    at.uniform_.call(turned, 0, 1, createCPUGenerator(0))
    np.testing.assert_array_equal(at.t.call(turned).array.ravel(), plain.array.ravel())


def test_names_stay_with_rand_and_empty() -> None:
    named = at.rand_names.call((2, 3), ("N", None), *NONE)
    assert named._names == ("N", None)
    with pytest.raises(Error, match=r"Number of names \(1\) and number of dimensions in tensor \(2\) do not match"):
        at.empty_names.call((2, 3), ("N",), *NONE, None)
    with pytest.raises(Error, match=r"Cannot construct a tensor with duplicate names. Got names: \['a', 'a'\]\."):
        at.rand_names.call((2, 2), ("a", "a"), *NONE)


def test_meta_tensors_have_geometry_and_no_memory() -> None:
    x = at.ones.call((2, 3), *META)
    assert (x._device.type, x._sizes, x._storage.buffer) == ("meta", (2, 3), None)
    half = at.to_dtype.call(x, Half, False, False, None)
    result = at.mean_dim.call(at.add_Tensor.call(half, x, 1), (0,), True, None)
    assert (result._device.type, result._sizes, result._dtype) == ("meta", (1, 3), Float)
    with pytest.raises(Error, match="Cannot copy out of meta tensor; no data!"):
        at.to_device.call(x, Device("cpu"), Double, False, False, None)


def test_resizing_keeps_what_was_there() -> None:
    x = at.arange.call(4, *NONE)
    at.resize_.call(x, (2, 3), None)
    assert x.array.ravel()[:4].tolist() == [0, 1, 2, 3]
    at.resize_.call(x, (2,), None)
    assert x.array.tolist() == [0, 1] and x._storage.nbytes == 48


def test_an_out_argument_with_elements_is_resized_with_a_warning() -> None:
    x = at.ones.call((2,), *NONE)
    with pytest.warns(UserWarning, match="An output with one or more elements was resized since it had shape"):
        at.add_out.call(x, x, 1, at.ones.call((5,), *NONE))
