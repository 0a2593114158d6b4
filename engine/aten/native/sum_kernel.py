"""aten/src/ATen/native/cpu/SumKernel.cpp: sums in the order in which PyTorch's CPU kernel adds.

Floating-point addition is not associative, so the last bits of a sum depend on the order. The kernel adds in four
levels of partial sums ("cascade"), four rows at a time, with eight floats to a vector register (AVX2).

Differs: many independent sums run side by side as numpy columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.aten.native.inline import fill_
from engine.aten.native.parallel import GRAIN_SIZE, get_num_threads, parallel_ranges
from engine.aten.native.tensor_iterator import TensorIterator
from engine.aten.native.type_cast import np_dtype
from engine.c10.exception import TORCH_CHECK_NOT_IMPLEMENTED
from engine.c10.scalar_type import Float, ScalarType, isBarebonesUnsignedType, isFloat8Type

__all__ = ["sum_kernel_impl"]

Array = npt.NDArray[Any]

NUM_LEVELS = 4
ILP_FACTOR = 4
VECTOR_BYTES = 32


# ---- sums of a column: rows come first, whatever follows is summed side by side


def multi_row_sum(rows: Array) -> Array:
    """The sum over the first axis, by levels of blocks of rows."""
    size = rows.shape[0]
    level_power = max(4, max(size - 1, 0).bit_length() // NUM_LEVELS)
    level_step = 1 << level_power
    if size < level_step:
        return _block_sum(rows)
    level_mask = level_step - 1
    acc = [np.zeros(rows.shape[1:], rows.dtype) for _ in range(NUM_LEVELS)]
    i = 0
    while i + level_step <= size:
        acc[0] = _block_sum(rows[i : i + level_step])
        i += level_step
        for j in range(1, NUM_LEVELS):
            acc[j] = acc[j] + acc[j - 1]
            acc[j - 1] = np.zeros_like(acc[j - 1])
            if i & (level_mask << (j * level_power)):
                break
    total = _block_sum(rows[i:])  # acc[0] is zero here
    for j in range(1, NUM_LEVELS):
        total = total + acc[j]
    return total


def _block_sum(rows: Array) -> Array:
    """The rows added in order. numpy does so by itself as long as the rows are longer than one number."""
    if rows.shape[0] and rows[0].size > 1:
        return np.add.reduce(np.ascontiguousarray(rows), axis=0)
    return _add_rows(np.zeros(rows.shape[1:], rows.dtype), rows)


def _add_rows(start: Array, rows: Array) -> Array:
    """``start`` plus the rows, one after the other."""
    for row in rows:
        start = start + row
    return start


def row_sum(rows: Array) -> Array:
    """The sum over the first axis, four rows abreast."""
    size = rows.shape[0]
    blocks = size // ILP_FACTOR
    partial = multi_row_sum(rows[: blocks * ILP_FACTOR].reshape(blocks, ILP_FACTOR, *rows.shape[1:]))
    total = _add_rows(partial[0], rows[blocks * ILP_FACTOR :])
    for k in range(1, ILP_FACTOR):
        total = total + partial[k]
    return total


def inner_sum(data: Array, load: ScalarType, acc: np.dtype[Any]) -> Array:
    """vectorized_inner_sum: the summed axis, the first of ``data``, is contiguous; a register runs along it."""
    vec = VECTOR_BYTES // load.itemsize
    lanes = VECTOR_BYTES // acc.itemsize
    size = data.shape[0]
    whole = size // vec * vec
    vectors = data[:whole].reshape(whole // vec, vec, *data.shape[1:]).astype(acc)
    if vec != lanes:  # sixteen halves become two registers of floats, which are added
        vectors = vectors[:, :lanes] + vectors[:, lanes:]
    partial = row_sum(vectors)
    total = _add_rows(np.zeros(data.shape[1:], acc), data[whole:].astype(acc))
    return _add_rows(total, partial)


def outer_sum(data: Array, acc: np.dtype[Any], lanes: int) -> Array:
    """Sums of adjacent columns: groups of four registers (or four numbers) together, what is left one by one.

    ``data`` has the summed axis first and the columns second; ``lanes`` is 1 for the scalar form.
    """
    data = data.astype(acc)
    columns = data.shape[1]
    group = 4 * lanes
    whole = columns // group * group
    parts = []
    if whole:
        parts.append(multi_row_sum(data[:, :whole]))
    if whole < columns:
        parts.append(row_sum(data[:, whole:]))
    return np.concatenate(parts) if parts else np.zeros(data.shape[1:], acc)


# ---- the iteration: dimensions from the fastest moving on


@dataclass(slots=True)
class Dim:
    size: int
    in_stride: int
    out_stride: int


def coalesce(dims: list[Dim]) -> list[Dim]:
    """coalesce_dimensions: neighbours that can be walked as one become one."""
    merged: list[Dim] = []
    for dim in dims:
        last = merged[-1] if merged else None
        if last is not None and (
            last.size == 1
            or dim.size == 1
            or (last.size * last.in_stride == dim.in_stride and last.size * last.out_stride == dim.out_stride)
        ):
            if last.size == 1:
                last.in_stride, last.out_stride = dim.in_stride, dim.out_stride
            last.size *= dim.size
        else:
            merged.append(Dim(dim.size, dim.in_stride, dim.out_stride))
    return merged


def _view(tensor: Tensor, offset: int, shape: list[int], strides: list[int]) -> Array:
    """Elements of ``tensor`` from byte ``offset`` of its own beginning."""
    base = tensor._offset * tensor._dtype.itemsize + offset
    return np.ndarray(shape, np_dtype(tensor._dtype), tensor._storage.buffer, base, strides)


@dataclass(slots=True)
class Reduction:
    """Output and input of a reduction over a list of dimensions; offsets in bytes."""

    out: Tensor
    inp: Tensor
    acc: np.dtype[Any]
    out_offset: int = 0

    def loop2d(self, dims: list[Dim], in_offset: int = 0, out_offset: int = 0) -> None:
        """The kernel's inner loop on the first two dimensions, for all positions of the others."""
        d0 = dims[0]
        d1 = dims[1] if len(dims) > 1 else Dim(1, 0, 0)
        rest = dims[2:]
        out_offset += self.out_offset
        if d0.out_stride != 0 and d1.out_stride == 0:
            d0, d1 = d1, d0
        order = [d0, d1, *rest]
        data = _view(self.inp, in_offset, [d.size for d in order], [d.in_stride for d in order])
        if d0.out_stride != 0:
            sums = data.astype(self.acc)  # no dimension of these two is summed
            self._accumulate(sums, order, out_offset)
            return
        load = self.inp._dtype
        vec = VECTOR_BYTES // load.itemsize
        if d0.in_stride == load.itemsize and d0.size >= vec:
            sums = inner_sum(data, load, self.acc)
        elif d1.in_stride == load.itemsize and d1.size >= vec:
            sums = outer_sum(data, self.acc, VECTOR_BYTES // self.acc.itemsize)
        elif d0.in_stride < d1.in_stride:
            sums = row_sum(data.astype(self.acc))
        else:
            sums = outer_sum(data, self.acc, 1)
        self._accumulate(sums, order[1:], out_offset)

    def _accumulate(self, sums: Array, dims: list[Dim], out_offset: int) -> None:
        """Add the loops' results to the output, in the order in which the loops run."""
        reduced = [i for i, d in enumerate(dims) if d.out_stride == 0]
        kept = [i for i, d in enumerate(dims) if d.out_stride != 0]
        shape = [dims[i].size for i in kept]
        out = _view(self.out, out_offset, shape, [dims[i].out_stride for i in kept])
        # outer dimensions move last: the last axis is the slowest
        stack = sums.transpose([*reversed(reduced), *kept]).reshape(-1, *shape)
        total = out[...]
        for part in stack:
            total = (total + part).astype(out.dtype)
        out[...] = total

    def serial_for_each(self, dims: list[Dim], begin: int, end: int) -> None:
        """A range of the flattened iteration; the whole of it at once where it is the whole."""
        numel = 1
        for d in dims:
            numel *= d.size
        if (begin, end) == (0, numel):
            self.loop2d(dims)
            return
        if len(dims) == 1:
            d = dims[0]
            self.loop2d([Dim(end - begin, d.in_stride, d.out_stride)], begin * d.in_stride, begin * d.out_stride)
            return
        offset = begin
        while offset < end:
            values, left = [], offset
            for d in dims:
                left, value = divmod(left, d.size)
                values.append(value)
            step0 = min(dims[0].size - values[0], end - offset)
            step1 = 1
            if step0 == dims[0].size:
                step1 = min(dims[1].size - values[1], (end - offset) // dims[0].size)
            self.loop2d(
                [
                    Dim(step0, dims[0].in_stride, dims[0].out_stride),
                    Dim(step1, dims[1].in_stride, dims[1].out_stride),
                ],
                sum(v * d.in_stride for v, d in zip(values, dims, strict=True)),
                sum(v * d.out_stride for v, d in zip(values, dims, strict=True)),
            )
            offset += step0 * step1


def dims_of(iter: TensorIterator) -> list[Dim]:
    """The dimensions of a built reduction, fastest first."""
    out, inp = iter.operands[0].stride_bytes, iter.operands[1].stride_bytes
    assert out is not None and inp is not None
    if not iter.shape:
        return [Dim(1, 0, 0)]
    return coalesce([Dim(iter.shape[d], inp[d], out[d]) for d in iter.perm])


def parallel_reduce(iter: TensorIterator, acc: np.dtype[Any]) -> None:
    """TensorIteratorBase::parallel_reduce: large reductions are split as PyTorch's threads split them."""
    out, inp = iter.output(), iter.input()
    dims = dims_of(iter)
    numel = inp.numel_()
    if numel < GRAIN_SIZE or get_num_threads() == 1:
        Reduction(out, inp, acc).serial_for_each(dims, 0, numel)
    elif out.numel_() == 1:
        two_pass_reduction(out, inp, acc, numel)
    else:
        parallel_dim_reduction(out, inp, acc, dims)


def two_pass_reduction(out: Tensor, inp: Tensor, acc: np.dtype[Any], numel: int) -> None:
    """Each thread sums into a slot of a buffer, then the slots are summed."""
    from engine.aten import at
    from engine.aten.native.reduce_ops import reduce_op

    threads = get_num_threads()
    unsqueezed = at.unsqueeze.call(out, 0)
    buffer = at.empty_memory_format.call((threads, *out._sizes), out._dtype, out._layout, out._device, False, None)
    at.copy_.call(buffer, unsqueezed, False)
    buffer_0 = at.select_int.call(buffer, 0, 0)
    first = reduce_op(buffer_0, inp)
    dims = dims_of(first)
    step = buffer._strides[0] * buffer._dtype.itemsize
    for thread, begin, end in parallel_ranges(0, numel, GRAIN_SIZE):
        Reduction(buffer_0, inp, acc, thread * step).serial_for_each(dims, begin, end)
    final = reduce_op(unsqueezed, buffer)
    Reduction(unsqueezed, buffer, acc).serial_for_each(dims_of(final), 0, buffer.numel_())


def parallel_dim_reduction(out: Tensor, inp: Tensor, acc: np.dtype[Any], dims: list[Dim]) -> None:
    """Each thread takes a part of one dimension that is kept."""
    split = best = len(dims) - 1
    while split >= 0 and dims[split].out_stride != 0:
        if dims[split].size >= get_num_threads():
            best = split
            break
        if dims[split].size > dims[best].size:
            best = split
        split -= 1
    chosen = dims[best]
    item = inp._dtype.itemsize
    for _, first, last in parallel_ranges(0, chosen.size, 1):
        begin, end = first, last
        if chosen.in_stride == item:  # whole cache lines of 128 bytes
            per_line = 128 // item
            begin = begin - begin % per_line
            end = end - end % per_line if end != chosen.size else end
        if begin == end:
            continue
        part = [Dim(d.size, d.in_stride, d.out_stride) for d in dims]
        part[best].size = end - begin
        Reduction(out, inp, acc).loop2d(part, begin * chosen.in_stride, begin * chosen.out_stride)


@doors.frame("at::native::sum_kernel_impl", params=("iter",))
def sum_kernel_impl(iter: TensorIterator) -> None:
    dtype = iter.output()._dtype
    if isBarebonesUnsignedType(dtype) or isFloat8Type(dtype):
        TORCH_CHECK_NOT_IMPLEMENTED(False, f"\"sum_cpu\" not implemented for '{dtype.name}'")
    fill_(iter.output(), 0)
    acc = np_dtype(Float) if dtype.is_floating_point and dtype.itemsize < 4 else np_dtype(dtype)
    with np.errstate(all="ignore"):
        parallel_reduce(iter, acc)
