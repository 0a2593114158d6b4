"""Element types, layouts, memory formats and devices, against the installed PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.aten.native import type_properties
from engine.c10 import device, exception, layout, memory_format, scalar_type
from engine.c10.scalar_type import ScalarType

torch = pytest.importorskip("torch")

ALL = scalar_type.all_scalar_types()
PLAIN = [t for t in ALL if t.np is not None and t.np.kind in "buifc"] + [scalar_type.BFloat16]


def real(t: ScalarType):
    return getattr(torch, t.torch_name)


def outcome(fn):
    """What a call gives: text of the result, or the exception's type and message."""
    try:
        return repr(fn())
    except exception.Error as error:
        error = exception.translate(error)
        return type(error), str(error)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("t", ALL, ids=str)
def test_attributes(t):
    r = real(t)
    for name in ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr"):
        assert outcome(lambda name=name: getattr(t, name)) == outcome(lambda name=name: getattr(r, name)), name
    assert outcome(t.to_real) == outcome(r.to_real)
    assert outcome(t.to_complex) == outcome(r.to_complex)
    assert repr(t) == repr(r)
    assert str(type(t)) == str(type(r))


def test_no_type_is_missing():
    theirs = {str(t) for t in vars(torch).values() if isinstance(t, torch.dtype)}
    assert {str(t) for t in ALL} == theirs


def without_place(result):
    """Assertions name the file they stand in."""
    if isinstance(result, tuple) and "INTERNAL ASSERT" in result[1]:
        return result[0], result[1].partition(" at ")[0]
    return result


@pytest.mark.parametrize("a", ALL, ids=str)
def test_promotion_of_every_pair(a):
    for b in ALL:
        ours = without_place(outcome(lambda b=b: scalar_type.promoteTypes(a, b)))
        theirs = without_place(outcome(lambda b=b: torch.promote_types(real(a), real(b))))
        assert ours == theirs, (a, b)
        assert scalar_type.canCast(a, b) == torch.can_cast(real(a), real(b)), (a, b)


class Operand:
    def __init__(self, dtype, sizes, wrapped=False):
        self._dtype, self._sizes, self._wrapped = dtype, sizes, wrapped


@pytest.mark.parametrize("default", [torch.float32, torch.float64, torch.float16], ids=str)
def test_result_type_of_every_pair_of_operands(default):
    tensors = [(t, sizes) for t in PLAIN if t not in scalar_type._BAREBONES_UNSIGNED for sizes in ((), (2,))]
    operands = [
        *((Operand(t, sizes), torch.ones(sizes, dtype=real(t))) for t, sizes in tensors),
        *((number, number) for number in (True, 2, 2.5, 2j)),
    ]
    torch.set_default_dtype(default)
    scalar_type.set_default_dtype(scalar_type.scalar_type_by_name(str(default)[6:]))
    try:
        for (a, ra), (b, rb) in itertools.product(operands, operands):
            ours = outcome(lambda a=a, b=b: type_properties.result_type(a, b))
            assert ours == outcome(lambda ra=ra, rb=rb: torch.result_type(ra, rb)), (ra, rb)
    finally:
        torch.set_default_dtype(torch.float32)
        scalar_type.set_default_dtype(scalar_type.Float)


@pytest.mark.parametrize("d", ["float32", 3, float, *ALL], ids=str)
def test_set_default_dtype(d):
    try:
        ours = outcome(lambda: scalar_type.set_default_dtype(d)), repr(scalar_type.get_default_dtype())
        r = real(d) if isinstance(d, ScalarType) else d
        theirs = outcome(lambda: torch.set_default_dtype(r)), repr(torch.get_default_dtype())
    finally:
        torch.set_default_dtype(torch.float32)
        scalar_type.set_default_dtype(scalar_type.Float)
    assert ours == theirs


NUMPY_TYPES = [*"?bBhHiIlLqefdFDgO", ">f4", "<i8", "U4", "M8[s]"]


@pytest.mark.parametrize("np_type", NUMPY_TYPES)
def test_from_numpy(np_type):
    ours = scalar_type.from_numpy_dtype(np_type)
    try:
        theirs = torch.from_numpy(np.zeros(1, np.dtype(np_type).newbyteorder("="))).dtype
    except TypeError:
        assert ours is None
    else:
        assert repr(ours) == repr(theirs)


def test_layouts_and_formats():
    for ours in layout.all_layouts():
        assert repr(ours) == repr(getattr(torch, ours.torch_name))
    for ours in memory_format.all_memory_formats():
        assert repr(ours) == repr(getattr(torch, ours.torch_name))
    assert outcome(layout.Layout) == outcome(torch.layout)
    assert outcome(memory_format.MemoryFormat) == outcome(torch.memory_format)
    assert outcome(ScalarType) == outcome(torch.dtype)


@pytest.mark.parametrize("sizes", list(itertools.product((0, 1, 2, 3), repeat=4)), ids=str)
def test_channels_last_strides(sizes):
    theirs = torch.empty(sizes, memory_format=torch.channels_last)
    assert memory_format.get_channels_last_strides_2d(sizes) == theirs.stride() or 0 in sizes
    for strides in {theirs.stride(), torch.empty(sizes).stride(), torch.empty(sizes).transpose(1, 3).stride()}:
        # an empty_strided tensor computes its flags from sizes and strides; suggest_memory_format shows in clone
        suggested = torch.empty_strided(sizes, strides, device="meta")
        assert memory_format.is_channels_last_strides_2d(sizes, strides) == (
            torch._prims_common.suggest_memory_format(suggested) is torch.channels_last
        )


DEVICES = [
    *((s,) for s in ("foo", "cpu", "CPU", "cpu:0", "cpu:1", "cpu:-1", "cpu:0:1", "cuda:", "cuda:-2", "cuda:01")),
    *((s,) for s in ("cuda:00", "cuda:0x", "cuda::1", "cuda:+1", "cuda:1a", "cuda-1")),
    *((f"cuda:{i}",) for i in (0, 1, 127, 128, 255, 300, 2**31 - 1, 2**31, 99999999999)),
    *((s,) for s in ("", " ", "_", ":", ":0", "a b", "cuda: 1", "cuda:1 ", "cuda1", "cpu2", "cuda.1", "é", "foo:1")),
    ("foo:x",),
    *((s,) for s in ("ort", "fake", "nested", "metal", "privateuseone:3", "meta:0", "mps", "pri_vate")),
    *((s,) for s in device.DEVICE_TYPES if s != "mkldnn"),
    *(("cuda", i) for i in (0, 1, -1, -2, 127, 128, 255, 300, 2**40, 2**70, None, True, 1.0, "1", [1])),
    (3,), (0,), (-1,), (True,), (None,), (1.5,), (b"cpu",), (b"cpu", 0),
    ([1],), ((1, 2.5),), ((),), ({},), (), (3, 4), ("cpu", 0, 1), ("cuda:1", 0),
    ("cuda:1", None), ("foo", 1), (None, 1), (1.5, "x"), (np.int64(2),), ("cuda", np.int64(2)),
]  # fmt: skip


@pytest.mark.parametrize("args", DEVICES, ids=repr)
def test_device(args):
    assert outcome(lambda: device.Device(*args)) == outcome(lambda: torch.device(*args))


KEYWORDS = [
    {"type": "cuda", "index": 1}, {"index": 1}, {"type": "cuda"}, {"device": "cuda"}, {"device": "cuda:1"},
    {"type": "cuda:1"}, {"foo": 1}, {"type": "cuda", "index": -1}, {"device": 1}, {"type": "cuda:1", "index": 1},
    {"type": 3, "index": 4}, {"type": 3}, {"device": 1.5}, {"device": None}, {"type": "cpu", "foo": 1},
    {"type": "cpu", "index": None}, {"type": "cpu", "index": "x"}, {"foo": 1, "bar": 2}, {"device": "cpu", "index": 1},
]  # fmt: skip


@pytest.mark.parametrize("kwargs", KEYWORDS, ids=repr)
@pytest.mark.parametrize("args", [(), ("cpu",), (3,)], ids=repr)
def test_device_keywords(args, kwargs):
    assert outcome(lambda: device.Device(*args, **kwargs)) == outcome(lambda: torch.device(*args, **kwargs))


@pytest.mark.parametrize("args", [("cpu",), ("cuda", 1), ("cuda", 128), ("meta", 0)], ids=repr)
def test_device_object(args):
    ours, theirs = device.Device(*args), torch.device(*args)
    assert (str(ours), repr(ours), hash(ours), ours.type, ours.index) == (
        str(theirs),
        repr(theirs),
        hash(theirs),
        theirs.type,
        theirs.index,
    )
    assert ours.__reduce__()[1] == theirs.__reduce__()[1]
    for fn in (
        lambda d: d < type(d)("cpu"),
        lambda d: d == 1,
        lambda d: setattr(d, "type", "cpu"),
        lambda d: setattr(d, "index", 2),
        lambda d: d.foo,
        lambda d: type("Mine", (type(d),), {}),
    ):
        assert outcome(lambda fn=fn: fn(ours)) == outcome(lambda fn=fn: fn(theirs))
