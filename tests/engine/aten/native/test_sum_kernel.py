from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine.aten import at
from engine.aten.core.tensor import Tensor, make_tensor
from engine.aten.native import parallel
from engine.aten.native.sum_kernel import Dim, coalesce, multi_row_sum, row_sum
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.scalar_type import Float, Int
from engine.c10.storage import StorageImpl

CPU = Device("cpu")


def tensor(array: np.ndarray) -> Tensor:
    array = np.ascontiguousarray(array)
    buffer = np.frombuffer(bytearray(array.tobytes()), np.uint8)
    strides = tuple(s // array.itemsize for s in array.strides)
    dtype = Float if array.dtype == np.float32 else Int
    return make_tensor(
        StorageImpl(array.nbytes, CPU, buffer), array.shape, strides, 0, dtype, CPU, key_bits(DispatchKey.CPU)
    )


def test_rows_are_added_in_order_and_by_levels() -> None:
    rows = np.random.default_rng(0).standard_normal((100, 4)).astype(np.float32)
    acc = [np.zeros(4, np.float32) for _ in range(2)]
    for i in range(96):
        acc[0] = acc[0] + rows[i]
        if i % 16 == 15:
            acc[1], acc[0] = acc[1] + acc[0], np.zeros(4, np.float32)
    for i in range(96, 100):
        acc[0] = acc[0] + rows[i]
    np.testing.assert_array_equal(multi_row_sum(rows), acc[0] + acc[1])


@settings(max_examples=50, deadline=None)
@given(arrays(np.float32, st.tuples(st.integers(0, 40), st.integers(1, 5)), elements=st.floats(-8, 8, width=32)))
def test_a_sum_is_close_to_the_exact_one(rows: np.ndarray) -> None:
    exact = rows.astype(np.float64).sum(0)
    np.testing.assert_allclose(row_sum(rows), exact, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(100_000,), (300, 200), (7, 9000), (50, 40, 30)])
def test_integers_are_exact_however_they_are_split(
    monkeypatch: pytest.MonkeyPatch, threads: int, shape: tuple[int, ...]
) -> None:
    monkeypatch.setattr(parallel, "_num_threads", threads)
    values = np.random.default_rng(1).integers(-9, 9, shape).astype(np.int32)
    for dim in ((), (0,), (-1,), *([(0, -1)] if len(shape) > 1 else [])):
        axes = dim or tuple(range(len(shape)))
        result = at.sum_dim_IntList.call(tensor(values), dim, False, None).array
        np.testing.assert_array_equal(result, values.sum(tuple(sorted({a % len(shape) for a in axes}))))


def test_neighbouring_dimensions_become_one() -> None:
    assert [d.size for d in coalesce([Dim(4, 4, 0), Dim(3, 16, 0)])] == [12]
    assert [d.size for d in coalesce([Dim(4, 4, 0), Dim(1, 0, 4), Dim(3, 16, 4)])] == [4, 3]
    merged = coalesce([Dim(1, 0, 0), Dim(5, 8, 4)])
    assert merged == [Dim(5, 8, 4)]
