"""aten/src/ATen/native/TensorShape.cpp: parts of a tensor: select, slice, narrow, split, chunk, unbind.

Differs: strided tensors only; no symbolic sizes.
"""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.inline import as_strided, as_strided_symint, slice_method, slice_symint
from engine.aten.native.wrap_dim_utils import maybe_wrap_dim
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_INDEX

__all__ = [
    "chunk",
    "narrow_symint",
    "select_backward_symint",
    "select_symint",
    "slice",
    "slice_backward",
    "split",
    "split_with_sizes",
    "unbind",
]

Sizes = tuple[int, ...]


@doors.frame("at::native::select_symint")
def select_symint(self: Tensor, dim: int, index: int) -> Tensor:
    ndim = self.dim_()
    if ndim == 0:
        TORCH_CHECK_INDEX(False, "select() cannot be applied to a 0-dim tensor.")
    dim = maybe_wrap_dim(dim, ndim)
    size = self._sizes[dim]
    if not -size <= index < size:
        TORCH_CHECK_INDEX(
            False,
            f"select(): index {index} out of range for tensor of size {list(self._sizes)} at dimension {dim}",
        )
    if index < 0:
        index += size
    sizes, strides = self._sizes, self._strides
    return as_strided_symint(
        self,
        sizes[:dim] + sizes[dim + 1 :],
        strides[:dim] + strides[dim + 1 :],
        self._offset + index * strides[dim],
    )


@doors.frame("at::native::slice")
def slice(self: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    ndim = self.dim_()
    if ndim == 0:
        TORCH_CHECK_INDEX(False, "slice() cannot be applied to a 0-dim tensor.")
    dim = maybe_wrap_dim(dim, ndim)
    TORCH_CHECK(step > 0, "slice step must be positive")
    size = self._sizes[dim]
    begin = 0 if start is None else start
    stop = size if end is None else end
    if begin < 0:
        begin = max(begin + size, 0)
    elif begin >= size:
        begin = size
    if stop < 0:
        stop += size
    stop = min(max(stop, begin), size)
    length = (stop - begin + step - 1) // step
    sizes, strides = self._sizes, self._strides
    return as_strided(
        self,
        (*sizes[:dim], length, *sizes[dim + 1 :]),
        (*strides[:dim], strides[dim] * step, *strides[dim + 1 :]),
        self._offset + begin * strides[dim],
    )


@doors.frame("at::native::narrow_symint")
def narrow_symint(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    TORCH_CHECK(self.dim_() > 0, "narrow() cannot be applied to a 0-dim tensor.")
    TORCH_CHECK(length >= 0, "narrow(): length must be non-negative.")
    size = self._sizes[maybe_wrap_dim(dim, self.dim_())]
    TORCH_CHECK_INDEX(
        -size <= start <= size, f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
    )
    if start < 0:
        start += size
    TORCH_CHECK(start <= size - length, f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice_symint(self, dim, start, start + length, 1)


@doors.frame("at::native::select_backward_symint")
def select_backward_symint(grad: Tensor, input_sizes: Sizes, dim: int, index: int) -> Tensor:
    grad_input = at.zeros.call(input_sizes, grad._dtype, grad._layout, grad._device, None)
    at.copy_.call(at.select_int.call(grad_input, dim, index), grad, False)
    return grad_input


@doors.frame("at::native::slice_backward")
def slice_backward(grad: Tensor, input_sizes: Sizes, dim: int, start: int, end: int, step: int) -> Tensor:
    grad_input = at.zeros.call(input_sizes, grad._dtype, grad._layout, grad._device, None)
    at.copy_.call(slice_method(grad_input, dim, start, end, step), grad, False)
    return grad_input


# ---- several parts at once


@doors.frame("at::native::split")
def split(self: Tensor, split_size: int, dim: int) -> list[Tensor]:
    TORCH_CHECK(self.dim_() != 0, "split expects at least a 1-dimensional tensor")
    TORCH_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size)
    dim = maybe_wrap_dim(dim, self.dim_())
    size = self._sizes[dim]
    TORCH_CHECK(
        split_size > 0 or size == 0,
        "split_size can only be 0 if dimension size is 0, but got dimension size of ",
        size,
    )
    num_splits = max((size + split_size - 1) // split_size, 1) if split_size else 1
    last = split_size - (split_size * num_splits - size)
    return [
        at.narrow.call(self, dim, i * split_size, split_size if i < num_splits - 1 else last) for i in range(num_splits)
    ]


@doors.frame("at::native::chunk")
def chunk(self: Tensor, chunks: int, dim: int) -> list[Tensor]:
    TORCH_CHECK(self.dim_() > 0, "chunk expects at least a 1-dimensional tensor")
    TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks)
    size = self._sizes[maybe_wrap_dim(dim, self.dim_())]
    split_size = (size + chunks - 1) // chunks
    # an empty dimension still gives as many parts as were asked for
    if split_size == 0 and size == 0:
        return at.split_with_sizes.call(self, (split_size,) * chunks, dim)
    return at.split_Tensor.call(self, split_size, dim)


@doors.frame("at::native::split_with_sizes")
def split_with_sizes(self: Tensor, split_sizes: Sizes, dim: int) -> list[Tensor]:
    TORCH_CHECK(self.dim_() != 0, "split expects at least a 1-dimensional tensor")
    dim = maybe_wrap_dim(dim, self.dim_())
    size = self._sizes[dim]
    parts = []
    start = 0
    for length in split_sizes:
        TORCH_CHECK(
            length >= 0,
            "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=",
            split_sizes,
        )
        parts.append(slice(self, dim, start, start + length, 1))
        start += length
    TORCH_CHECK(
        start == size,
        f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}), "
        f"but got split_sizes={list(split_sizes)}",
    )
    return parts


@doors.frame("at::native::unbind")
def unbind(self: Tensor, dim: int) -> list[Tensor]:
    dim = maybe_wrap_dim(dim, self.dim_(), wrap_scalar=False)
    return [at.select_int.call(self, dim, i) for i in range(self._sizes[dim])]
