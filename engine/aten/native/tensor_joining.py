"""aten/src/ATen/native/TensorShape.cpp: cat and stack.

Differs: sparse and quantised tensors, named dimensions and the channels-last result of cat are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.meta_factories import give_out
from engine.aten.native.prims import check_same_device
from engine.aten.native.structured import Functional, Out, StructuredKernel
from engine.aten.native.type_properties import result_type
from engine.aten.native.wrap_dim_utils import maybe_wrap_dim
from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_VALUE
from engine.c10.memory_format import contiguous_format

__all__ = ["cat", "cat_out", "stack"]


def _skipped(t: Tensor) -> bool:
    """cat_should_skip_tensor: a 1-D tensor without elements joins anything, as it always did."""
    return t._sizes == (0,)


@doors.frame("at::meta::structured_cat::meta")
def cat_meta(op: StructuredKernel, tensors: Sequence[Tensor], dim: int) -> int:
    """Sets the output; returns the wrapped dimension."""
    TORCH_CHECK_VALUE(len(tensors) > 0, "torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        TORCH_CHECK(t.dim_() > 0, f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    first = next((i for i, t in enumerate(tensors) if not _skipped(t)), 0)
    like = tensors[first]
    dim = maybe_wrap_dim(dim, like.dim_())
    total = 0
    for i, t in enumerate(tensors):
        if _skipped(t):
            continue
        TORCH_CHECK(
            t.dim_() == like.dim_(),
            f"Tensors must have same number of dimensions: got {like.dim_()} and {t.dim_()}",
        )
        for d, (expected, size) in enumerate(zip(like._sizes, t._sizes, strict=True)):
            TORCH_CHECK(
                d == dim or expected == size,
                f"Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size {size} "
                f"for tensor number {i} in the list.",
            )
        total += t._sizes[dim]
    sizes = like._sizes if _skipped(like) else (*like._sizes[:dim], total, *like._sizes[dim + 1 :])
    out = op.maybe_get_output()
    dtype = out._dtype if out is not None else result_type(*tensors)
    op.set_output_raw_strided(0, sizes, (), dtype, like._device)
    return dim


@doors.frame("at::native::structured_cat_out_cpu::impl")
def cat_impl(tensors: Sequence[Tensor], dim: int, result: Tensor) -> None:
    if result.numel_() == 0:
        return
    joined = [t for t in tensors if not _skipped(t)]
    plain = len(joined) == len(tensors)
    if plain and all(t.is_contiguous_() and t._dtype is result._dtype for t in joined) and result.is_contiguous_():
        np.concatenate([t.array for t in joined], axis=dim, out=result.array)
        return
    # each through an iterator over its part of the result; of equal ones the first iterator serves all
    same = plain and len({(t._sizes, t._strides, t._dtype) for t in joined}) == 1 and joined[0]._dtype is result._dtype
    offset = 0
    for i, t in enumerate(joined):
        end = offset + t._sizes[dim]
        part = None
        if not same or i == 0:
            part = at.narrow.call(result, dim, offset, t._sizes[dim])
        if part is not None and t._dtype is not result._dtype:
            # the iterator computes in the input's dtype, and its output is then cast
            temporary = at.empty_like.call(part, t._dtype, None, None, None, contiguous_format)
            temporary.array[...] = t.array
            at.copy_.call(part, temporary, False)
        else:
            where = [slice(None)] * result.dim_()
            where[dim] = slice(offset, end)
            result.array[tuple(where)] = t.array
        offset = end


def _run(op: StructuredKernel, tensors: Sequence[Tensor], dim: int) -> Tensor:
    check_same_device(*tensors, allow_cpu_scalar_tensors=False)
    dim = cat_meta(op, tensors, dim)
    assert op.out is not None
    if op.out._device.type != "meta":
        cat_impl(tensors, dim, op.out)
    return op.out


def cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    return _run(Functional(), tensors, dim)


def cat_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Tensor:
    if tensors and tensors[0]._device != out._device:  # one of the two is Meta, whose reference copies its result
        return give_out(cat(tensors, dim), out)
    return _run(Out(out), tensors, dim)


@doors.frame("at::native::stack")
def stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Where it can, one cat whose result is then split by a view."""
    TORCH_CHECK(len(tensors) > 0, "stack expects a non-empty TensorList")
    first = tensors[0]._sizes
    wrapped = maybe_wrap_dim(dim, len(first) + 1)
    if wrapped < len(first):
        for i, t in enumerate(tensors):
            _check_stack_input(first, t, i)
        joined = at.cat.call(tensors, wrapped)
        return at.view.call(joined, (*first[:wrapped], len(tensors), *first[wrapped:]))  # type: ignore[no-any-return]
    return at.cat.call(get_stack_inputs(tensors, wrapped), dim)  # type: ignore[no-any-return]


@doors.frame("at::native::get_stack_inputs")
def get_stack_inputs(tensors: Sequence[Tensor], dim: int) -> list[Tensor]:
    inputs = []
    for i, t in enumerate(tensors):
        _check_stack_input(tensors[0]._sizes, t, i)
        inputs.append(at.unsqueeze.call(t, dim))
    return inputs


def _check_stack_input(first: tuple[int, ...], t: Tensor, i: int) -> None:
    TORCH_CHECK(
        t._sizes == first,
        f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(t._sizes)} at "
        f"entry {i}",
    )
