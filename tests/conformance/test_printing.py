"""What tensors look like, in C++ and in Python, against the installed PyTorch."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

from engine.aten.core import formatting
from engine.aten.core.tensor import empty_tensor
from engine.c10 import memory_format, scalar_type
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.torch import _tensor_str
from engine.torch.csrc.autograd import variable

torch = pytest.importorskip("torch")

TYPES = [
    *(scalar_type.Float, scalar_type.Double, scalar_type.Half, scalar_type.BFloat16),
    *(scalar_type.Byte, scalar_type.Char, scalar_type.Short, scalar_type.Int, scalar_type.Long, scalar_type.Bool),
    *(scalar_type.ComplexFloat, scalar_type.ComplexDouble, scalar_type.UInt16, scalar_type.UInt64),
]


def ours_of(theirs):
    """An engine tensor with the elements of one of PyTorch's."""
    dtype = scalar_type.scalar_type_by_name(str(theirs.dtype)[6:])
    sizes = tuple(theirs.shape)
    device = Device(theirs.device.type)
    key = key_bits(DispatchKey.Meta if theirs.is_meta else DispatchKey.CPU)
    made = empty_tensor(sizes, memory_format.contiguous_strides(sizes), dtype, device, key)
    if theirs.numel() and not theirs.is_meta:
        data = theirs.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        made.array[...] = np.frombuffer(data, dtype.np).reshape(sizes)
    return made


SHAPES = [
    (),
    (0,),
    (1,),
    (3,),
    (17,),
    (40,),
    (1, 1),
    (2, 3),
    (5, 1),
    (1, 30),
    (4, 25),
    (0, 3),
    (3, 0),
    (2, 2, 2),
    (2, 3, 9),
]
SHAPES += [(3, 0, 2), (2, 1, 3, 2), (1, 1, 1, 1), (2, 3, 17), (1, 2, 1, 2, 1)]


def values_of(kind, n, rng):
    """Kinds of content that print differently."""
    match kind:
        case "integers":
            return [float(rng.randint(-9, 99)) for _ in range(n)]
        case "huge integers":
            return [float(rng.randint(-(10**12), 10**12)) for _ in range(n)]
        case "small":
            return [rng.random() * 1e-3 for _ in range(n)]
        case "large":
            return [rng.uniform(-1, 1) * 10 ** rng.randint(4, 7) for _ in range(n)]
        case "mixed":
            return [rng.uniform(-1, 1) * 10.0 ** rng.randint(-8, 8) for _ in range(n)]
        case "not finite":
            special = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 2.0, 0.5)
            return [rng.choice(special) for _ in range(n)]
        case "whole, not finite":
            return [rng.choice((float("nan"), float("inf"), 3.0, -12.0)) for _ in range(n)]
        case "zeros":
            return [rng.choice((0.0, -0.0)) for _ in range(n)]
        case "extremes":
            return [rng.choice((1e-300, 1e300, 1.5, 5e-324, -1e120)) for _ in range(n)]
        case _:
            return [rng.uniform(-2, 2) for _ in range(n)]


KINDS = ["units", "integers", "huge integers", "small", "large", "mixed", "not finite", "whole, not finite", "zeros"]
KINDS += ["extremes"]


def generated(t, shape, kind, seed):
    rng = random.Random(f"{t}{shape}{kind}{seed}")
    n = int(np.prod(shape))
    real = getattr(torch, t.torch_name)
    if t.is_floating_point:
        return torch.tensor(values_of(kind, n, rng), dtype=torch.float64).to(real).reshape(shape)
    if t.is_complex:
        parts = [torch.tensor(values_of(kind, n, rng), dtype=torch.float64) for _ in range(2)]
        return torch.complex(*parts).to(real).reshape(shape)
    bits = 1 if t is scalar_type.Bool else rng.choice((2, 7, 8 * t.itemsize - 1))
    low = -(2**bits) if t.is_signed else 0
    return torch.tensor([rng.randrange(low, 2**bits) for _ in range(n)], dtype=real).reshape(shape)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")

    @torch.jit.script
    def cpp_string(x: torch.Tensor):
        """TorchScript's format goes through C++'s operator<<."""
        return "{}".format(x)  # noqa: UP032


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("t", TYPES, ids=str)
def test_cpp(t, shape):
    for kind in KINDS if t.is_floating_point or t.is_complex else ["integers"]:
        for seed in range(4):
            theirs = generated(t, shape, kind, seed)
            assert formatting.to_string(ours_of(theirs)) == cpp_string(theirs), (kind, theirs)


# ---- Python


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("t", TYPES, ids=str)
def test_python(t, shape):
    for kind in KINDS if t.is_floating_point or t.is_complex else ["integers"]:
        for seed in range(4):
            theirs = generated(t, shape, kind, seed)
            assert _tensor_str._str(ours_of(theirs)) == repr(theirs), kind


OPTIONS = [
    {"precision": 2},
    {"precision": 8, "linewidth": 60},
    {"threshold": 5},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 5, "edgeitems": 0},
    {"edgeitems": 0},
    {"threshold": 0, "edgeitems": 2, "linewidth": 30},
    {"sci_mode": True},
    {"sci_mode": False, "precision": 1},
    {"profile": "short"},
    {"profile": "full", "linewidth": 120},
    {"linewidth": 10},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (17,), (2, 3), (9, 8), (8, 1, 8), (2, 3, 9), (2, 7, 3, 2)], ids=str)
def test_python_with_options(shape, options):
    try:
        torch.set_printoptions(**options)
        _tensor_str.set_printoptions(**options)
        for t in (scalar_type.Float, scalar_type.Long, scalar_type.ComplexFloat, scalar_type.Bool):
            for kind in ["units", "mixed", "not finite", "integers"]:
                theirs = generated(t, shape, kind, 0)
                assert _tensor_str._str(ours_of(theirs)) == repr(theirs), (t, kind)
    finally:
        torch.set_printoptions(profile="default")
        _tensor_str.set_printoptions(profile="default")


@pytest.mark.parametrize("shape", [(1001,), (40, 30), (7, 8, 30), (2, 600), (1, 1, 1500), (20, 60, 1)], ids=str)
@pytest.mark.parametrize("t", [scalar_type.Float, scalar_type.Int, scalar_type.ComplexDouble], ids=str)
def test_python_summary(t, shape):
    for kind in ("units", "mixed", "integers"):
        theirs = generated(t, shape, kind, 0)
        assert _tensor_str._str(ours_of(theirs)) == repr(theirs), kind


@pytest.mark.parametrize("t", [*TYPES, scalar_type.Float8_e5m2, scalar_type.Float8_e4m3fn], ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0)], ids=str)
def test_python_meta_and_other_defaults(t, shape):
    real = getattr(torch, t.torch_name)
    theirs = torch.empty(shape, dtype=real, device="meta")
    zeros = torch.zeros(shape, dtype=real)
    try:
        for default in (torch.float32, torch.float64, torch.float16):
            torch.set_default_dtype(default)
            scalar_type.set_default_dtype(scalar_type.scalar_type_by_name(str(default)[6:]))
            assert _tensor_str._str(ours_of(theirs)) == repr(theirs)
            assert _tensor_str._str(ours_of(zeros)) == repr(zeros)
    finally:
        torch.set_default_dtype(torch.float32)
        scalar_type.set_default_dtype(scalar_type.Float)


@pytest.mark.parametrize("n", range(1, 14))
def test_python_suffixes_break_lines(n):
    for t in (scalar_type.Half, scalar_type.Float):
        theirs = generated(t, (n,), "units", 0).requires_grad_()
        made = ours_of(theirs)
        variable.set_requires_grad(made, True)
        assert _tensor_str._str(made) == repr(theirs)


def test_options_are_kept_as_pytorch_keeps_them():
    try:
        for options in OPTIONS:
            torch.set_printoptions(**options)
            _tensor_str.set_printoptions(**options)
            assert _tensor_str.get_printoptions() == torch._tensor_str.get_printoptions()
        with _tensor_str.printoptions(precision=7):
            assert _tensor_str.PRINT_OPTS.precision == 7
        assert _tensor_str.get_printoptions() == torch._tensor_str.get_printoptions()
    finally:
        torch.set_printoptions(profile="default")
        _tensor_str.set_printoptions(profile="default")
