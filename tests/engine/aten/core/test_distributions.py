"""The distributions: ranges, how much of the stream they take, and single rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.aten.core import avx_mathfun
from engine.aten.core import distributions as d
from engine.aten.core.generator import CPUGeneratorImpl
from engine.c10 import exception
from engine.c10 import scalar_type as s

FLOATS = (s.Half, s.BFloat16, s.Float, s.Double)
REALS = st.floats(min_value=-(2.0**40), max_value=2.0**40).map(lambda x: x if abs(x) > 1e-40 else 0.0)


def draws(kernel, *args):
    """How many 32-bit draws a kernel takes."""
    generator, counter = CPUGeneratorImpl(1), CPUGeneratorImpl(1)
    kernel(generator, *args)
    for n in range(2000):
        if counter.get_state()[:5016].tobytes() == generator.get_state()[:5016].tobytes():
            return n
        counter.random()
    raise AssertionError


@given(REALS, REALS, REALS)
def test_fma64_rounds_once(a, b, c):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assert avx_mathfun.fma64(np.array([a]), b, c)[0] == float(exact)


@given(*[st.floats(min_value=-(2.0**30), max_value=2.0**30, width=32)] * 3)
def test_fma32_rounds_once(a, b, c):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    ours = avx_mathfun.fma32(np.array([a], np.float32), np.float32(b), np.float32(c))[0]
    neighbours = (np.nextafter(ours, np.float32(-np.inf)), np.nextafter(ours, np.float32(np.inf)))
    assert all(abs(Fraction(float(ours)) - exact) <= abs(Fraction(float(n)) - exact) for n in neighbours)


def test_logarithm_sine_and_cosine():
    x = np.linspace(1e-7, 6.28, 10_001, dtype=np.float32)
    assert np.allclose(avx_mathfun.log256_ps(x), np.log(x.astype(np.float64)), rtol=1e-6, atol=1e-7)
    sin, cos = avx_mathfun.sincos256_ps(x)
    assert np.allclose(sin, np.sin(x.astype(np.float64)), atol=2e-7)
    assert np.allclose(cos, np.cos(x.astype(np.float64)), atol=2e-7)


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_uniform_stays_below_its_upper_bound(t):
    values = d.uniform(CPUGeneratorImpl(2), t, 20_000, -1, 2)
    assert values.dtype == t.np
    assert (values >= -1).all()
    assert (values < 2).all()
    assert abs(float(values.astype(np.float64).mean()) - 0.5) < 0.05


@pytest.mark.parametrize(
    ("kernel", "args", "expected"),
    [
        (d.uniform, (s.Float, 5, 0, 1), 5),
        (d.uniform, (s.Double, 5, 0, 1), 10),
        (d.normal, (s.Float, 5, 0, 1), 12),
        (d.normal, (s.Float, 16, 0, 1), 16),
        (d.normal, (s.Float, 17, 0, 1), 33),
        (d.normal, (s.Half, 17, 0, 1), 32),
        (d.normal, (s.Double, 16, 0, 1), 32),
        (d.normal, (s.Float, 16, 0, 1, False), 32),
        (d.random_from_to, (s.Long, 5, 10, 0), 5),
        (d.random_from_to, (s.Long, 5, 2**28, 0), 10),
        (d.random, (s.Int, 5), 5),
        (d.random, (s.Long, 5), 10),
        (d.bernoulli, (s.Float, 5, 0.5), 10),
        (d.bernoulli_tensor, (s.Float, np.full(5, 0.5, np.float32)), 5),
        (d.randperm, (s.Long, 5), 4),
        (d.randperm, (s.Long, 0), 0),
    ],
)
def test_how_much_of_the_stream_is_taken(kernel, args, expected):
    assert draws(kernel, *args) == expected


def test_an_odd_number_of_normals_leaves_one_waiting():
    whole = d.normal(CPUGeneratorImpl(4), s.Double, 6, 0, 1)
    generator = CPUGeneratorImpl(4)
    parts = [d.normal(generator, s.Double, n, 0, 1) for n in (1, 0, 3, 2)]
    assert (np.concatenate(parts) == whole).all()
    assert generator.next_double_normal_sample() is None


def test_integers():
    values = d.random_from_to(CPUGeneratorImpl(1), s.Char, 5000, 7, -3)
    assert set(values.tolist()) == set(range(-3, 4))
    assert sorted(d.randperm(CPUGeneratorImpl(1), s.Long, 100).tolist()) == list(range(100))
    assert d.random(CPUGeneratorImpl(1), s.Half, 5000).max() <= 2048
    with pytest.raises(exception.Error, match="handles only int64, double, float and bfloat16"):
        d.random_full_64_bits_range(CPUGeneratorImpl(1), s.Int, 1)


def test_bounds_move_to_numbers_of_the_type():
    assert d.update_to(65504, s.Half) == 65472
    assert d.update_to(100, s.Half) == d.update_from(100, s.Half) == 100
    with pytest.raises(exception.Error, match=r"^to - 1 is out of bounds for signed char$"):
        d.check_from_to_in_range(0, 128, s.Char)
    with pytest.raises(exception.Error, match=r"^from is out of bounds for bool$"):
        d.check_from_to_in_range(-1, 1, s.Bool)
    with pytest.raises(exception.Error, match="handles only integral, floating-point and boolean types"):
        d.check_from_to_in_range(0, 1, s.ComplexFloat)
    with pytest.warns(UserWarning, match=r"^to - 1 is out of bounds \[-\(2\^8\), 2\^8\]"):
        d.check_from_to_in_range(0, 300, s.BFloat16)


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (d.exponential, (2.0,)),
        (d.cauchy, (0.0, 1.0)),
        (d.geometric, (0.5,)),
        (d.log_normal, (0.0, 0.5)),
    ],
)
def test_medians(kernel, args):
    median = {"exponential": np.log(2) / 2, "cauchy": 0.0, "geometric": 1.0, "log_normal": 1.0}[kernel.__name__]
    values = kernel(CPUGeneratorImpl(8), s.Double, 20_001, *args)
    assert abs(float(np.median(values)) - median) < 0.03
