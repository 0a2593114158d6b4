"""aten/src/ATen/WrapDimUtils.h and WrapDimUtilsMulti.h: negative dimensions, and sets of dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from engine.c10.exception import TORCH_CHECK, TORCH_CHECK_INDEX

__all__ = ["dim_list_to_bitset", "maybe_wrap_dim", "maybe_wrap_dims"]


def maybe_wrap_dim(dim: int, dim_post_expr: int, wrap_scalar: bool = True) -> int:
    """``dim`` counted from the front; raises IndexError outside ``[-dim_post_expr, dim_post_expr - 1]``."""
    if 0 <= dim < dim_post_expr:
        return dim
    if -dim_post_expr <= dim < 0:
        return dim + dim_post_expr
    if dim_post_expr == 0:
        TORCH_CHECK_INDEX(wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions")
        dim_post_expr = 1
        if dim in (0, -1):
            return 0
    TORCH_CHECK_INDEX(
        False,
        "Dimension out of range (expected to be in range of [",
        -dim_post_expr,
        ", ",
        dim_post_expr - 1,
        "], but got ",
        dim,
        ")",
    )
    raise AssertionError


def maybe_wrap_dims(dims: Sequence[int], dim_post_expr: int) -> tuple[int, ...]:
    return tuple(maybe_wrap_dim(dim, dim_post_expr) for dim in dims)


def dim_list_to_bitset(opt_dims: Sequence[int] | None, ndims: int) -> frozenset[int]:
    """The dimensions as a set, all of them for None; a dimension named twice is an error."""
    if opt_dims is None:
        return frozenset(range(ndims))
    TORCH_CHECK(ndims <= 64, "only tensors with up to 64 dims are supported")
    seen: set[int] = set()
    for given in opt_dims:
        dim = maybe_wrap_dim(given, ndims)
        if dim in seen:
            TORCH_CHECK(False, "dim ", dim, " appears multiple times in the list of dims")
        seen.add(dim)
    return frozenset(seen)
