"""The Mersenne twister and the generator around it."""

from __future__ import annotations

import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.aten.core import generator as g
from engine.aten.core.generator import CPUGeneratorImpl, Generator
from engine.c10 import exception


def test_the_stream_is_mt19937s():
    # the 10000th draw that the C++ standard demands of a default-constructed std::mt19937
    assert int(g.mt19937().draw(10_000)[-1]) == 4123659995


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 700), max_size=6))
def test_draws_do_not_depend_on_how_they_are_asked_for(seed, counts):
    one, other = CPUGeneratorImpl(seed), CPUGeneratorImpl(seed)
    for n in counts:
        drawn = one.randoms(n)
        assert [other.random() for _ in range(n)] == drawn.tolist()
        assert one.get_state().tobytes() == other.get_state().tobytes()


def test_64_bits_are_two_draws_upper_half_first():
    one, other, third = (CPUGeneratorImpl(7) for _ in range(3))
    high, low = one.random(), one.random()
    assert other.random64() == third.randoms64(1)[0] == high << 32 | low


@given(st.integers(0, 2**64 - 1), st.integers(0, 1300), st.none() | st.floats(allow_nan=False))
def test_state_round_trip(seed, n, waiting):
    one, other = CPUGeneratorImpl(seed), CPUGeneratorImpl()
    one.randoms(n)
    one.set_next_double_normal_sample(waiting)
    one.set_next_float_normal_sample(0.5)
    state = one.get_state()
    assert state.shape == (5056,)
    other.set_state(state)
    assert other.current_seed() == seed
    assert other.next_double_normal_sample() == waiting
    assert other.next_float_normal_sample() == 0.5
    assert (other.randoms(700) == one.randoms(700)).all()


def test_a_state_that_contradicts_itself_is_refused():
    state = CPUGeneratorImpl(1).get_state()
    for left, next_ in ((0, 0), (625, 0), (3, 3), (1, 625)):
        state[8:24] = np.frombuffer(struct.pack("<iiQ", left, 1, next_), np.uint8)
        with pytest.raises(exception.Error, match="Invalid mt19937 state"):
            CPUGeneratorImpl().set_state(state)


def test_seeding_forgets_the_waiting_sample():
    impl = CPUGeneratorImpl()
    assert impl.current_seed() == g.default_rng_seed_val
    impl.set_next_double_normal_sample(1.0)
    impl.set_current_seed(3)
    assert impl.next_double_normal_sample() is None
    assert impl.seed() == impl.current_seed() < 2**53


def test_handles():
    gen = Generator().manual_seed(-1)
    assert gen.initial_seed() == 2**64 - 1
    assert gen.device.type == "cpu"
    assert g.get_generator_or_default(gen) is g.check_generator(gen) is gen.unsafeGetGeneratorImpl()
    assert g.get_generator_or_default(None) is g.default_cpu_generator.unsafeGetGeneratorImpl()
    assert repr(gen).startswith("<torch._C.Generator object at 0x")
    with pytest.raises(exception.Error, match="Expected Generator but received nullopt"):
        g.check_generator(None)
    assert g.createCPUGenerator(5).initial_seed() == 5


def test_the_state_is_a_byte_tensor():
    gen = Generator().manual_seed(3)
    state = gen.get_state()
    assert (state._dtype.name, state._sizes) == ("Byte", (5056,))
    first = gen._impl.random()
    assert gen.set_state(state) is gen
    assert gen._impl.random() == first


def test_threads_share_a_generator():
    impl = CPUGeneratorImpl(1)
    drawn: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: drawn.append(impl.randoms(1000))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(np.concatenate(drawn).tolist()) == sorted(CPUGeneratorImpl(1).randoms(4000).tolist())
