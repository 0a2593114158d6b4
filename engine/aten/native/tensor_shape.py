"""aten/src/ATen/native/TensorShape.cpp: views of a tensor, made by new sizes and strides over its storage.

Differs: strided tensors only; no symbolic sizes.
"""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor, view_of
from engine.aten.native.expand_utils import infer_expand_geometry
from engine.aten.native.inline import as_strided, as_strided_symint, slice_method, slice_symint
from engine.aten.native.resize import setStrided
from engine.aten.native.tensor_utils import computeStride, infer_size
from engine.aten.native.wrap_dim_utils import dim_list_to_bitset, maybe_wrap_dim
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_INDEX
from engine.c10.memory_format import Contiguous

Sizes = tuple[int, ...]


def alias_with_sizes_and_strides(self: Tensor, sizes: Sizes, strides: Sizes) -> Tensor:
    return view_of(self, sizes, strides, self._offset)


# ---- as_strided, alias, detach


@doors.frame("at::native::as_strided_tensorimpl")
def as_strided_tensorimpl(self: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None) -> Tensor:
    result = view_of(self, self._sizes, self._strides, self._offset)
    setStrided(result, size, stride, self._offset if storage_offset is None else storage_offset)
    return result


@doors.frame("at::native::as_strided__symint")
def as_strided__symint(self: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None) -> Tensor:
    setStrided(self, size, stride, self._offset if storage_offset is None else storage_offset)
    return self


@doors.frame("at::native::alias")
def alias(self: Tensor) -> Tensor:
    return alias_with_sizes_and_strides(self, self._sizes, self._strides)


@doors.frame("at::native::detach")
def detach(self: Tensor) -> Tensor:
    return alias_with_sizes_and_strides(self, self._sizes, self._strides)


@doors.frame("at::native::detach_")
def detach_(self: Tensor) -> Tensor:
    return self


# ---- expand


@doors.frame("at::native::expand")
def expand(self: Tensor, size: Sizes, implicit: bool) -> Tensor:
    if len(size) < self.dim_():
        TORCH_CHECK(
            False,
            f"expand({tensor_type(self)}{{{list(self._sizes)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor ({self.dim_()})",
        )
    TORCH_CHECK(len(size) <= 64, "expand: the number of sizes provided must be at most 64")
    sizes, strides = infer_expand_geometry(self._sizes, self._strides, size)
    return as_strided(self, sizes, strides)


def tensor_type(self: Tensor) -> str:
    """The legacy name of a tensor's type: torch.FloatTensor."""
    backend = "" if self._device.type == "cpu" else self._device.type + "."
    return f"torch.{backend}{self._dtype.name}Tensor"


@doors.frame("at::native::expand_as")
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    return at.expand.call(self, other._sizes, False)


# ---- view, reshape, flatten


@doors.frame("at::native::view")
def view(self: Tensor, size: Sizes) -> Tensor:
    inferred = infer_size(size, self.numel_())
    strides = computeStride(self._sizes, self._strides, inferred)
    if strides is None:
        TORCH_CHECK(
            False,
            "view size is not compatible with input tensor's size and stride (at least one dimension "
            "spans across two contiguous subspaces). Use .reshape(...) instead.",
        )
    assert strides is not None
    return alias_with_sizes_and_strides(self, inferred, strides)


@doors.frame("at::native::view_as")
def view_as(self: Tensor, other: Tensor) -> Tensor:
    return at.view.call(self, other._sizes)


@doors.frame("at::native::reshape_symint")
def reshape_symint(self: Tensor, proposed_shape: Sizes) -> Tensor:
    if self.is_contiguous_():
        return at.view.call(self, proposed_shape)
    shape = infer_size(proposed_shape, self.numel_())
    strides = computeStride(self._sizes, self._strides, shape)
    if strides is not None:
        return at._reshape_alias.call(self, shape, strides)
    return at._unsafe_view.call(at.clone.call(self, Contiguous), shape)


@doors.frame("at::native::reshape_as")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    return at.reshape.call(self, other._sizes)


@doors.frame("at::native::_reshape_alias")
def _reshape_alias(self: Tensor, size: Sizes, stride: Sizes) -> Tensor:
    return alias_with_sizes_and_strides(self, size, stride)


@doors.frame("at::native::_unsafe_view")
def _unsafe_view(self: Tensor, size: Sizes) -> Tensor:
    # the argument is fresh, so the result is not registered as its view
    inferred = infer_size(size, self.numel_())
    strides = computeStride(self._sizes, self._strides, inferred)
    TORCH_CHECK(
        strides is not None,
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead.",
    )
    assert strides is not None
    return alias_with_sizes_and_strides(self, inferred, strides)


@doors.frame("at::native::flatten")
def flatten_using_ints(self: Tensor, start_dim: int, end_dim: int) -> Tensor:
    start = maybe_wrap_dim(start_dim, self.dim_())
    end = maybe_wrap_dim(end_dim, self.dim_())
    TORCH_CHECK(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim")
    if self.dim_() == 0:
        return at.reshape.call(self, (1,))
    if start == end:
        return self
    size = 1
    for i in range(start, end + 1):
        size *= self._sizes[i]
    return reshape_symint(self, (*self._sizes[:start], size, *self._sizes[end + 1 :]))


# ---- transpose, permute


@doors.frame("at::native::t")
def t(self: Tensor) -> Tensor:
    check_t(self, "t()")
    return at.transpose_int.call(self, 0, 0 if self.dim_() < 2 else 1)


@doors.frame("at::native::t_")
def t_(self: Tensor) -> Tensor:
    check_t(self, "t_()")
    return at.transpose_.call(self, 0, 0 if self.dim_() < 2 else 1)


def check_t(self: Tensor, fn: str) -> None:
    TORCH_CHECK(self.dim_() <= 2, f"{fn} expects a tensor with <= 2 dimensions, but self is {self.dim_()}D")


def _swapped(geometry: Sizes, dim0: int, dim1: int) -> Sizes:
    swapped = list(geometry)
    swapped[dim0], swapped[dim1] = swapped[dim1], swapped[dim0]
    return tuple(swapped)


@doors.frame("at::native::transpose")
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    ndims = self.dim_()
    dim0, dim1 = maybe_wrap_dim(dim0, ndims), maybe_wrap_dim(dim1, ndims)
    if dim0 == dim1:
        return at.alias.call(self)
    return as_strided_symint(self, _swapped(self._sizes, dim0, dim1), _swapped(self._strides, dim0, dim1))


@doors.frame("at::native::transpose_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    ndims = self.dim_()
    dim0, dim1 = maybe_wrap_dim(dim0, ndims), maybe_wrap_dim(dim1, ndims)
    if dim0 == dim1:
        return self
    return at.as_strided_.call(self, _swapped(self._sizes, dim0, dim1), _swapped(self._strides, dim0, dim1), None)


@doors.frame("at::native::permute")
def permute(self: Tensor, dims: Sizes) -> Tensor:
    TORCH_CHECK(
        self.dim_() == len(dims),
        "permute(sparse_coo): number of dimensions in the tensor input ",
        "does not match the length of the desired ordering of dimensions ",
        "i.e. input.dim() = ",
        self.dim_(),
        " is not equal to len(dims) = ",
        len(dims),
    )
    wrapped: list[int] = []
    for given in dims:
        dim = maybe_wrap_dim(given, self.dim_())
        TORCH_CHECK(dim not in wrapped, "permute(): duplicate dims are not allowed.")
        wrapped.append(dim)
    return at.as_strided.call(
        self, tuple(self._sizes[d] for d in wrapped), tuple(self._strides[d] for d in wrapped), None
    )


# ---- select, slice, narrow


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
        -size <= start <= size, f"start out of range (expected to be in range of [-{size}, {size}], but got {start})"
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


# ---- squeeze, unsqueeze


@doors.frame("at::native::unsqueeze")
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    dim = maybe_wrap_dim(dim, self.dim_() + 1)
    sizes, strides = self._sizes, self._strides
    stride = 1 if dim >= self.dim_() else sizes[dim] * strides[dim]
    return at.as_strided.call(self, (*sizes[:dim], 1, *sizes[dim:]), (*strides[:dim], stride, *strides[dim:]), None)


def _squeezed(self: Tensor, dims: frozenset[int]) -> tuple[Sizes, Sizes]:
    kept = [d for d, size in enumerate(self._sizes) if size != 1 or d not in dims]
    return tuple(self._sizes[d] for d in kept), tuple(self._strides[d] for d in kept)


@doors.frame("at::native::squeeze")
def squeeze(self: Tensor) -> Tensor:
    sizes, strides = _squeezed(self, frozenset(range(self.dim_())))
    return at.as_strided.call(self, sizes, strides, None)


@doors.frame("at::native::squeeze")
def squeeze_dim(self: Tensor, dim: int) -> Tensor:
    wrapped = maybe_wrap_dim(dim, self.dim_())
    if self.dim_() == 0 or self._sizes[wrapped] != 1:
        return as_strided_symint(self, self._sizes, self._strides)
    sizes, strides = _squeezed(self, frozenset((wrapped,)))
    return as_strided_symint(self, sizes, strides)


@doors.frame("at::native::squeeze")
def squeeze_dims(self: Tensor, dims: Sizes) -> Tensor:
    sizes, strides = _squeezed(self, dim_list_to_bitset(dims, self.dim_()))
    return at.as_strided.call(self, sizes, strides, None)
