"""aten/src/ATen/native/TensorShape.cpp: views of a tensor, made by new sizes and strides over its storage.

Differs: strided tensors only; no symbolic sizes.
"""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor, view_of
from engine.aten.native.expand_utils import _sum_to, infer_expand_geometry, is_expandable_to
from engine.aten.native.inline import as_strided, as_strided_symint, contiguous
from engine.aten.native.resize import setStrided
from engine.aten.native.tensor_utils import computeStride, infer_size
from engine.aten.native.wrap_dim_utils import dim_list_to_bitset, maybe_wrap_dim, maybe_wrap_dims
from engine.c10.exception import TORCH_CHECK, TORCH_WARN_ONCE
from engine.c10.local_dispatch_key_set import tls
from engine.c10.memory_format import Contiguous
from engine.c10.tensor_impl import VersionCounter

__all__ = [
    "_reshape_alias",
    "_unsafe_view",
    "alias",
    "alias_with_sizes_and_strides",
    "as_strided__symint",
    "as_strided_tensorimpl",
    "as_strided_tensorimpl_meta_symint",
    "check_t",
    "detach",
    "detach_",
    "expand",
    "expand_as",
    "flatten_using_ints",
    "mT",
    "movedim_int",
    "movedim_intlist",
    "numpy_T",
    "permute",
    "ravel",
    "reshape_as",
    "reshape_symint",
    "squeeze",
    "squeeze_",
    "squeeze_dim",
    "squeeze_dims",
    "sum_to_size_symint",
    "t",
    "t_",
    "tensor_type",
    "transpose",
    "transpose_",
    "unsqueeze",
    "unsqueeze_",
    "view",
    "view_as",
]

Sizes = tuple[int, ...]


def alias_with_sizes_and_strides(self: Tensor, sizes: Sizes, strides: Sizes) -> Tensor:
    return view_of(self, sizes, strides, self._offset)


# ---- as_strided, alias, detach


@doors.frame("at::native::as_strided_tensorimpl")
def as_strided_tensorimpl(self: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None) -> Tensor:
    result = view_of(self, self._sizes, self._strides, self._offset)
    setStrided(result, size, stride, self._offset if storage_offset is None else storage_offset)
    return result


@doors.frame("at::native::as_strided_tensorimpl_meta_symint")
def as_strided_tensorimpl_meta_symint(self: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None) -> Tensor:
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
    result = alias_with_sizes_and_strides(self, self._sizes, self._strides)
    if result._version_counter is None and not tls.inference_mode:
        # shallow_copy_and_detach: made as a normal tensor, and only then an inference tensor by its keys
        result._version_counter = VersionCounter()
    return result


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


@doors.frame("at::native::broadcast_to_symint")
def broadcast_to_symint(self: Tensor, size: Sizes) -> Tensor:
    return at.expand.call(self, size, False)


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
        if self._device.type == "meta":
            return at.view.call(self, shape)
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


@doors.frame("at::native::ravel")
def ravel(self: Tensor) -> Tensor:
    return at.view.call(contiguous(self), (-1,))


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


@doors.frame("at::native::swapaxes")
def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
    return at.transpose_int.call(self, axis0, axis1)


@doors.frame("at::native::swapdims")
def swapdims(self: Tensor, dim0: int, dim1: int) -> Tensor:
    return at.transpose_int.call(self, dim0, dim1)


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


@doors.frame("at::native::numpy_T")
def numpy_T(self: Tensor) -> Tensor:
    n = self.dim_()
    if n not in (0, 2):
        TORCH_WARN_ONCE(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated ",
            "and it will throw an error in a future release. Consider `x.mT` to transpose batches of matrices ",
            "or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
        )
    return at.permute.call(self, tuple(range(n - 1, -1, -1)))


@doors.frame("at::native::mT")
def mT(self: Tensor) -> Tensor:
    return _adjoint(self, "mT")


@doors.frame("at::native::_adjoint")
def _adjoint(self: Tensor, name: str) -> Tensor:
    n = self.dim_()
    TORCH_CHECK(
        n == 0 or n >= 2,
        f"tensor.{name} is only supported on matrices or batches of matrices. Got {n}-D tensor.",
    )
    return at.transpose_int.call(self, -2, -1) if n else self


@doors.frame("at::native::movedim")
def movedim_intlist(self: Tensor, src: Sizes, dst: Sizes) -> Tensor:
    TORCH_CHECK(
        len(src) == len(dst),
        f"movedim: Invalid source or destination dims: source ({list(src)} dims) should contain the same number of "
        f"dims as destination ({list(dst)} dims)",
    )
    ndim = self.dim_()
    source, destination = maybe_wrap_dims(src, ndim), maybe_wrap_dims(dst, ndim)
    for what, given, wrapped in (("source", src, source), ("destination", dst, destination)):
        TORCH_CHECK(len(set(wrapped)) == len(wrapped), f"movedim: repeated dim in `{what}` ({list(given)})")
    if ndim == 0:
        return at.alias.call(self)
    order = [-1] * ndim
    for s, d in zip(source, destination, strict=True):
        order[d] = s
    rest = iter([d for d in range(ndim) if d not in source])
    return at.permute.call(self, tuple(next(rest) if d < 0 else d for d in order))


@doors.frame("at::native::movedim")
def movedim_int(self: Tensor, src: int, dst: int) -> Tensor:
    return at.movedim_intlist.call(self, (src,), (dst,))


# ---- squeeze, unsqueeze


@doors.frame("at::native::unsqueeze")
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    sizes, strides = _unsqueezed(self, dim)
    return at.as_strided.call(self, sizes, strides, None)


def _unsqueezed(self: Tensor, dim: int) -> tuple[Sizes, Sizes]:
    dim = maybe_wrap_dim(dim, self.dim_() + 1)
    sizes, strides = self._sizes, self._strides
    stride = 1 if dim >= self.dim_() else sizes[dim] * strides[dim]
    return (*sizes[:dim], 1, *sizes[dim:]), (*strides[:dim], stride, *strides[dim:])


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


@doors.frame("at::native::squeeze_")
def squeeze_(self: Tensor) -> Tensor:
    sizes, strides = _squeezed(self, frozenset(range(self.dim_())))
    return at.as_strided_.call(self, sizes, strides, None)


@doors.frame("at::native::unsqueeze_")
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    sizes, strides = _unsqueezed(self, dim)
    return at.as_strided_.call(self, sizes, strides, None)


# ---- sum_to_size


@doors.frame("at::native::sum_to_size_symint")
def sum_to_size_symint(self: Tensor, size: Sizes) -> Tensor:
    if not is_expandable_to(size, self._sizes):
        TORCH_CHECK(False, f"size {{{list(size)}}} is not expandable to size {{{list(self._sizes)}}}.")
    return _sum_to(self, size)
