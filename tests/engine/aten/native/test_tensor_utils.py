from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.aten.native.expand_utils import infer_dense_strides, infer_expand_geometry
from engine.aten.native.expand_utils import infer_size as broadcast
from engine.aten.native.tensor_utils import computeStride, infer_size
from engine.c10.exception import Error

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@given(shapes, shapes)
def test_broadcast_is_numpys(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(Error, match="must match the size of tensor b"):
            broadcast(a, b)
    else:
        assert broadcast(a, b) == expected


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.randoms())
def test_a_view_has_the_strides_that_numpy_finds(shape: list[int], rng: object) -> None:
    axes = list(range(len(shape)))
    rng.shuffle(axes)  # type: ignore[attr-defined]
    array = np.arange(int(np.prod(shape))).reshape(shape).transpose(axes)
    old = tuple(s // array.itemsize for s in array.strides)
    new = (array.size,)
    strides = computeStride(array.shape, old, new)
    try:
        flat = np.reshape(array, new, copy=False)
    except ValueError:
        assert strides is None
    else:
        assert strides is not None
        assert array.size == 1 or strides[0] * array.itemsize == flat.strides[0]


def test_one_dimension_is_inferred() -> None:
    assert infer_size((3, -1), 6) == (3, 2)
    with pytest.raises(Error, match=r"shape '\[4\]' is invalid for input of size 6"):
        infer_size((4,), 6)
    with pytest.raises(Error, match="only one dimension can be inferred"):
        infer_size((-1, -1), 6)
    with pytest.raises(Error, match="is ambiguous"):
        infer_size((0, -1), 0)


def test_expanded_dimensions_have_stride_0() -> None:
    assert infer_expand_geometry((3, 1), (1, 1), (2, -1, 4)) == ((2, 3, 4), (0, 1, 0))
    assert infer_expand_geometry((), (), (2,)) == ((2,), (0,))


def test_dense_strides_keep_the_order_of_dimensions() -> None:
    assert infer_dense_strides((2, 3), (1, 4)) == (1, 2)
    assert infer_dense_strides((2, 3), (6, 2)) == (3, 1)
    assert infer_dense_strides((4, 3), (0, 1)) == (3, 1)
