"""aten/src/ATen/TensorUtils.cpp and InferSize.h: the geometry of a view with other sizes."""

from __future__ import annotations

from engine.c10.exception import TORCH_CHECK
from engine.c10.memory_format import contiguous_strides

__all__ = ["computeStride", "infer_size"]

Sizes = tuple[int, ...]


def infer_size(shape: Sizes, numel: int) -> Sizes:
    """``shape`` with its -1, if there is one, replaced so that it holds ``numel`` elements."""
    newsize = 1
    infer_dim: int | None = None
    for dim, size in enumerate(shape):
        if size == -1:
            TORCH_CHECK(infer_dim is None, "only one dimension can be inferred")
            infer_dim = dim
        elif size >= 0:
            newsize *= size
        else:
            TORCH_CHECK(False, f"invalid shape dimension {size} at index {dim} of shape {list(shape)}")
    if infer_dim is None:
        if numel != newsize:
            TORCH_CHECK(False, f"shape '{list(shape)}' is invalid for input of size {numel}")
        return shape
    if numel % newsize if newsize else numel:
        TORCH_CHECK(False, f"shape '{list(shape)}' is invalid for input of size {numel}")
    # with a size of 0 beside it the open dimension could be anything
    TORCH_CHECK(
        newsize != 0,
        f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 "
        "can be any value and is ambiguous",
    )
    return (*shape[:infer_dim], numel // newsize, *shape[infer_dim + 1 :])


def computeStride(oldshape: Sizes, oldstride: Sizes, newshape: Sizes) -> Sizes | None:
    """Strides with which the same memory has ``newshape``; None where it would have to be copied.

    Old dimensions are taken together as long as they lie in memory as one block; each block must be a product of new
    dimensions.
    """
    if not oldshape:
        return (1,) * len(newshape)
    numel = 1
    for size in oldshape:
        numel *= size
    if numel == 0:
        if oldshape == newshape:
            return oldstride
        return contiguous_strides(newshape)
    newstride = [0] * len(newshape)
    view_d = len(newshape) - 1
    chunk_base_stride = oldstride[-1]
    tensor_numel = view_numel = 1
    for d in range(len(oldshape) - 1, -1, -1):
        tensor_numel *= oldshape[d]
        # does a block end here?
        if d and (oldshape[d - 1] == 1 or oldstride[d - 1] == tensor_numel * chunk_base_stride):
            continue
        while view_d >= 0 and (view_numel < tensor_numel or newshape[view_d] == 1):
            newstride[view_d] = view_numel * chunk_base_stride
            view_numel *= newshape[view_d]
            view_d -= 1
        if view_numel != tensor_numel:
            return None
        if d:
            chunk_base_stride = oldstride[d - 1]
            tensor_numel = view_numel = 1
    return tuple(newstride) if view_d == -1 else None
