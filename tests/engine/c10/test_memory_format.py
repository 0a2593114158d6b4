"""Memory formats and layouts: names and strides."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.c10 import exception, layout
from engine.c10 import memory_format as m


@pytest.mark.parametrize("x", [*m.all_memory_formats(), *layout.all_layouts()], ids=str)
def test_singletons(x):
    assert repr(x) == f"torch.{x.torch_name}"
    assert copy.deepcopy(x) is pickle.loads(pickle.dumps(x)) is x
    with pytest.raises(TypeError, match=r"cannot create 'torch.(layout|memory_format)' instances"):
        type(x)()
    with pytest.raises(TypeError, match="is not an acceptable base type"):
        type("Mine", (type(x),), {})


def test_values_are_c10s():
    assert [(f.name, f.value) for f in m.all_memory_formats()] == [
        ("Contiguous", 0),
        ("Preserve", 1),
        ("ChannelsLast", 2),
        ("ChannelsLast3d", 3),
    ]
    assert (layout.Strided.value, layout.Mkldnn.value, layout.Jagged.value) == (0, 3, 7)


SIZES = st.integers(0, 4)


@given(st.lists(SIZES, max_size=5))
def test_contiguous_strides(sizes):
    strides = m.contiguous_strides(sizes)
    assert strides == m.strides_for(sizes, m.Preserve)
    for d in range(len(sizes) - 1):
        assert strides[d] == strides[d + 1] * max(sizes[d + 1], 1)
    assert not sizes or strides[-1] == 1


@given(st.lists(st.integers(2, 4), min_size=4, max_size=5))
def test_channels_last_strides_are_recognised(sizes):
    last = m.strides_for(sizes, m.ChannelsLast if len(sizes) == 4 else m.ChannelsLast3d)
    assert last[1] == 1
    assert sorted(last, reverse=True) == [last[0], *last[2:], 1]
    assert m.is_channels_last_strides_2d(sizes, last) is (len(sizes) == 4)
    assert m.is_channels_last_strides_3d(sizes, last) is (len(sizes) == 5)
    plain = m.contiguous_strides(sizes)
    assert not m.is_channels_last_strides_2d(sizes, plain)
    assert not m.is_channels_last_strides_3d(sizes, plain)


def test_without_batch_dimension():
    assert m.get_channels_last_strides_2d((2, 3, 4)) == (1, 8, 2)
    assert m.get_channels_last_strides_3d((2, 3, 4, 5)) == (1, 40, 10, 2)


def test_other_numbers_of_dimensions():
    with pytest.raises(exception.Error, match="ChannelsLast2d doesn't support size 2"):
        m.get_channels_last_strides_2d((2, 3))
    with pytest.raises(exception.Error, match="ChannelsLast3d doesn't support size 3"):
        m.get_channels_last_strides_3d((2, 3, 4))


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((2, 1, 1, 1), (1, 1, 1, 1)),  # N111, could be either
        ((2, 1, 1, 3), (3, 3, 3, 3)),  # a slice of N11W
        ((2, 3, 0, 4), (12, 1, 12, 3)),  # empty
        ((2, 3, 4, 4), (48, 0, 12, 3)),  # no channel stride
    ],
)
def test_ambiguous_strides_are_row_major(sizes, strides):
    assert not m.is_channels_last_strides_2d(sizes, strides)
