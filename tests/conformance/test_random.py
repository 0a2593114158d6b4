"""The generator and the distributions, bit for bit against the installed PyTorch."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from engine.aten.core import distributions
from engine.aten.core.generator import CPUGeneratorImpl, Generator
from engine.c10 import exception, scalar_type

torch = pytest.importorskip("torch")

FLOATS = [scalar_type.Float, scalar_type.Double, scalar_type.Half, scalar_type.BFloat16]
INTS = [scalar_type.Byte, scalar_type.Char, scalar_type.Short, scalar_type.Int, scalar_type.Long]
SIZES = [0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 100, 623, 624, 625, 1000]


def real(t):
    return getattr(torch, t.torch_name)


def bits(array):
    """Memory as text, so that nan and -0.0 compare."""
    return np.ascontiguousarray(array).tobytes()


def real_bits(t):
    return bits(t.contiguous().view(torch.uint8).numpy() if t.numel() else np.empty(0))


class Pair:
    """The same stream twice."""

    def __init__(self, seed=11):
        self.ours = CPUGeneratorImpl(seed)
        self.theirs = torch.Generator().manual_seed(seed)

    def in_step(self):
        return bits(self.ours.get_state()) == bits(self.theirs.get_state().numpy())


def outcome(fn):
    try:
        return fn()
    except exception.Error as error:
        error = exception.translate(error)
        return type(error), str(error)
    except Exception as error:
        return type(error), str(error)


# ---- the generator


@pytest.mark.parametrize("seed", [0, 1, 5, -1, -(2**63), 2**63, 2**64 - 1, 2**40 + 3])
def test_state_after_any_number_of_draws(seed):
    ours, theirs = Generator().manual_seed(seed), torch.Generator().manual_seed(seed)
    assert ours.initial_seed() == theirs.initial_seed()
    for n in (0, 1, 3, 619, 1, 1, 624, 5, 1300):
        drawn = ours._impl.randoms(n) & np.uint64(0xFFFFFF)
        assert bits(drawn.astype(np.float32) * np.float32(2**-24)) == real_bits(torch.rand(n, generator=theirs))
        assert bits(ours._impl.get_state()) == bits(theirs.get_state().numpy())


@pytest.mark.parametrize(
    "seed", [0, -1, 2**63, 2**64, -(2**63) - 1, 2**70, 1.5, "x", None, True, np.int64(3), [1]], ids=repr
)
def test_manual_seed(seed):
    ours = outcome(lambda: Generator().manual_seed(seed).initial_seed())
    assert ours == outcome(lambda: torch.Generator().manual_seed(seed).initial_seed())


@pytest.mark.parametrize("device", [None, "cpu", "cpu:1", "meta", "cuda", "xla", "hip", "mps", "foo", 3, "lazy", "xpu"])
def test_device(device):
    assert outcome(lambda: str(Generator(device).device)) == outcome(lambda: str(torch.Generator(device).device))


def test_states_are_exchanged():
    theirs = torch.Generator().manual_seed(3)
    torch.rand(100, generator=theirs)
    torch.empty(3, dtype=torch.float64).normal_(generator=theirs)
    ours = CPUGeneratorImpl()
    ours.set_state(theirs.get_state().numpy())
    back = torch.Generator()
    back.set_state(torch.from_numpy(ours.get_state()))
    expected = torch.empty(5, dtype=torch.float64).normal_(generator=theirs)
    assert bits(distributions.normal(ours, scalar_type.Double, 5, 0, 1)) == real_bits(expected)
    assert real_bits(torch.empty(5, dtype=torch.float64).normal_(generator=back)) == real_bits(expected)


@pytest.mark.parametrize("state", [np.zeros(10, np.uint8), np.zeros(5048, np.uint8), np.zeros(5056, np.uint8)], ids=len)
def test_damaged_states(state):
    ours = outcome(lambda: CPUGeneratorImpl().set_state(state))
    assert ours == outcome(lambda: torch.Generator().set_state(torch.from_numpy(state)))
    assert ours[0] is RuntimeError


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), Generator.clone_state]
)
def test_copies_go_on_alone(copied):
    first = Generator().manual_seed(9)
    first._impl.randoms(77)
    second = copied(first)
    assert bits(second._impl.randoms(10)) == bits(first._impl.randoms(10))
    first._impl.random()
    assert bits(second._impl.get_state()) != bits(first._impl.get_state())


@pytest.mark.parametrize(
    "fn",
    [
        lambda g: g.get_offset(),
        lambda g: g.set_offset(1),
        lambda g: g.graphsafe_get_state(),
        lambda g: g.graphsafe_set_state(g),
        lambda g: g.set_state([1]),
        lambda g: g.set_state(None),
    ],
)
def test_what_a_cpu_generator_refuses(fn):
    assert outcome(lambda: fn(Generator())) == outcome(lambda: fn(torch.Generator()))


# ---- distributions


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 2), (0.1, 0.7), (3, 60000), (-0.001, 3.3), (2, 2)], ids=repr)
@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_uniform(t, bounds, n):
    pair = Pair()
    expected = torch.empty(n, dtype=real(t)).uniform_(*bounds, generator=pair.theirs)
    assert bits(distributions.uniform(pair.ours, t, n, *bounds)) == real_bits(expected)
    assert pair.in_step()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("moments", [(0, 1), (0.3, 1.7), (-5, 0), (1e3, 1e-3)], ids=repr)
@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_normal(t, moments, n):
    pair = Pair()
    for _ in range(3):  # a sample may wait from one call to the next
        expected = torch.empty(n, dtype=real(t)).normal_(*moments, generator=pair.theirs)
        assert bits(distributions.normal(pair.ours, t, n, *moments)) == real_bits(expected)
    assert pair.in_step()


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_many_normals(t):
    pair = Pair(5)
    expected = torch.empty(100_003, dtype=real(t)).normal_(0.25, 3.3, generator=pair.theirs)
    assert bits(distributions.normal(pair.ours, t, 100_003, 0.25, 3.3)) == real_bits(expected)


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_normal_of_a_transposed_tensor(t):
    pair = Pair()
    # the iterator visits memory in order
    expected = torch.empty(4, 8, dtype=real(t)).t().normal_(generator=pair.theirs).t()
    assert bits(distributions.normal(pair.ours, t, 32, 0, 1, contiguous=False)) == real_bits(expected)


@pytest.mark.parametrize("t", FLOATS, ids=str)
@pytest.mark.parametrize("moments", [(0, 1), (0.3, 1.7)], ids=repr)
def test_log_normal(t, moments):
    pair = Pair()
    expected = torch.empty(333, dtype=real(t)).log_normal_(*moments, generator=pair.theirs)
    assert bits(distributions.log_normal(pair.ours, t, 333, *moments)) == real_bits(expected)


RANGES = [(0, 10), (-5, 5), (0, 1), (3, 100), (0, 2**28), (-(2**40), 2**40), (-(2**62), 2**62), (0, 2**63 - 1)]


@pytest.mark.parametrize("bounds", RANGES, ids=repr)
@pytest.mark.parametrize("t", [*FLOATS, *INTS, scalar_type.Bool], ids=str)
@pytest.mark.filterwarnings("ignore:(from|to - 1) is out of bounds")
def test_random_from_to(t, bounds):
    pair = Pair()

    def ours():
        from_, to = bounds
        if t.is_floating_point:
            from_, to = distributions.update_from(from_, t), distributions.update_to(to, t)
        distributions.check_from_to_in_range(from_, to - 1, t)
        return bits(distributions.random_from_to(pair.ours, t, 99, to - from_, from_))

    expected = outcome(lambda: real_bits(torch.empty(99, dtype=real(t)).random_(*bounds, generator=pair.theirs)))
    assert outcome(ours) == expected
    assert pair.in_step()


@pytest.mark.parametrize("t", [*FLOATS, *INTS, scalar_type.Bool], ids=str)
def test_random(t):
    pair = Pair()
    expected = torch.empty(99, dtype=real(t)).random_(generator=pair.theirs)
    assert bits(distributions.random(pair.ours, t, 99)) == real_bits(expected)
    assert pair.in_step()


@pytest.mark.parametrize("t", [*FLOATS, *INTS], ids=str)
def test_random_of_64_bits(t):
    pair = Pair()
    expected = outcome(lambda: real_bits(torch.empty(99, dtype=real(t)).random_(-(2**63), None, generator=pair.theirs)))
    ours = outcome(lambda: bits(distributions.random_full_64_bits_range(pair.ours, t, 99)))
    if isinstance(ours, tuple) and t is scalar_type.Half:  # PyTorch's macro has no Half at all
        assert expected[0] is NotImplementedError
    else:
        assert ours == expected


@pytest.mark.parametrize("t", [scalar_type.Half, scalar_type.BFloat16, scalar_type.Float], ids=str)
def test_bounds_that_the_type_cannot_hold_warn(t):
    with pytest.warns(UserWarning) as theirs:
        torch.empty(1, dtype=real(t)).random_(0, 40000 if t is scalar_type.Half else 2**30)
    from_, to = 0, distributions.update_to(40000 if t is scalar_type.Half else 2**30, t)
    with pytest.warns(UserWarning) as ours:
        distributions.check_from_to_in_range(from_, to - 1, t)
    cut = " (Triggered"
    assert [str(w.message).partition(cut)[0] for w in ours] == [str(w.message).partition(cut)[0] for w in theirs]


@pytest.mark.parametrize("n", [0, 1, 2, 5, 100, 1000, 30_001])
@pytest.mark.parametrize("t", [scalar_type.Long, scalar_type.Int, scalar_type.Float], ids=str)
def test_randperm(t, n):
    pair = Pair()
    expected = torch.randperm(n, dtype=real(t), generator=pair.theirs)
    assert bits(distributions.randperm(pair.ours, t, n)) == real_bits(expected)
    assert pair.in_step()


def on_intel():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
            return "GenuineIntel" in info.read()
    except OSError:
        return True


without_mkl = pytest.mark.skipif(on_intel(), reason="PyTorch draws these from MKL on Intel's processors")


@without_mkl
@pytest.mark.parametrize("p", [0, 0.25, 0.7, 1])
@pytest.mark.parametrize("t", [*FLOATS, *INTS, scalar_type.Bool], ids=str)
def test_bernoulli(t, p):
    pair = Pair()
    expected = torch.empty(99, dtype=real(t)).bernoulli_(p, generator=pair.theirs)
    assert bits(distributions.bernoulli(pair.ours, t, 99, p)) == real_bits(expected)


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_bernoulli_of_a_tensor(t):
    pair = Pair()
    p = torch.rand(333, generator=torch.Generator().manual_seed(1)).to(real(t))
    expected = torch.bernoulli(p, generator=pair.theirs)
    ours = distributions.bernoulli_tensor(pair.ours, t, np.frombuffer(real_bits(p), t.np))
    assert bits(ours) == real_bits(expected)


@without_mkl
@pytest.mark.parametrize("rate", [0.3, 1, 2.5])
@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_exponential(t, rate):
    pair = Pair()
    expected = torch.empty(333, dtype=real(t)).exponential_(rate, generator=pair.theirs)
    assert bits(distributions.exponential(pair.ours, t, 333, rate)) == real_bits(expected)


@pytest.mark.parametrize("parameters", [(0, 1), (0.3, 1.7)], ids=repr)
@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_cauchy(t, parameters):
    pair = Pair()
    expected = torch.empty(333, dtype=real(t)).cauchy_(*parameters, generator=pair.theirs)
    assert bits(distributions.cauchy(pair.ours, t, 333, *parameters)) == real_bits(expected)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("t", [*FLOATS, *INTS], ids=str)
def test_geometric(t, p):
    pair = Pair()
    expected = torch.empty(333, dtype=real(t)).geometric_(p, generator=pair.theirs)
    assert bits(distributions.geometric(pair.ours, t, 333, p)) == real_bits(expected)
