"""aten/src/ATen/ExpandUtils.h: which shape operands have together, and geometry of expanded tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.c10.exception import TORCH_CHECK

__all__ = [
    "_sum_to",
    "infer_dense_strides",
    "infer_expand_geometry",
    "infer_size",
    "insertion_sort",
    "is_expandable_to",
]

Sizes = tuple[int, ...]


def infer_size(a: Sizes, b: Sizes) -> Sizes:
    """The shape to which ``a`` and ``b`` broadcast."""
    ndim = max(len(a), len(b))
    result = [1] * ndim
    for i in range(ndim - 1, -1, -1):
        offset = ndim - 1 - i
        dim_a = len(a) - 1 - offset
        dim_b = len(b) - 1 - offset
        size_a = a[dim_a] if dim_a >= 0 else 1
        size_b = b[dim_b] if dim_b >= 0 else 1
        if size_a not in (size_b, 1) and size_b != 1:
            TORCH_CHECK(
                False,
                f"The size of tensor a ({size_a}) must match the size of tensor b ({size_b})"
                f" at non-singleton dimension {i}",
            )
        result[i] = size_b if size_a == 1 else size_a
    return tuple(result)


def infer_expand_geometry(tensor_sizes: Sizes, tensor_strides: Sizes, sizes: Sizes) -> tuple[Sizes, Sizes]:
    """Sizes and strides of a tensor expanded to ``sizes``; -1 keeps a dimension."""
    ndim = len(sizes)
    if not ndim:
        return (), ()
    if not tensor_sizes:
        return tuple(sizes), (0,) * ndim
    expanded_sizes = [0] * ndim
    expanded_strides = [0] * ndim
    for i in range(ndim - 1, -1, -1):
        offset = ndim - 1 - i
        dim = len(tensor_sizes) - 1 - offset
        size = tensor_sizes[dim] if dim >= 0 else 1
        if dim >= 0:
            stride = tensor_strides[dim]
        else:
            stride = expanded_sizes[i + 1] * expanded_strides[i + 1]
        target = sizes[i]
        if target == -1:
            TORCH_CHECK(
                dim >= 0,
                f"The expanded size of the tensor ({target}) isn't allowed in a leading, non-existing dimension {i}",
            )
            target = size
        if size != target:
            if size != 1:
                TORCH_CHECK(
                    False,
                    f"The expanded size of the tensor ({target}) must match the existing size ({size})"
                    f" at non-singleton dimension {i}.  Target sizes: {list(sizes)}.  "
                    f"Tensor sizes: {list(tensor_sizes)}",
                )
            size, stride = target, 0
        expanded_sizes[i] = size
        expanded_strides[i] = stride
    return tuple(expanded_sizes), tuple(expanded_strides)


def infer_dense_strides(tensor_sizes: Sizes, tensor_strides: Sizes) -> Sizes:
    """Strides of a dense tensor whose dimensions lie in memory in the same order as these."""
    TORCH_CHECK(
        len(tensor_sizes) == len(tensor_strides),
        "Input sizes and strides should have same size but got ",
        len(tensor_sizes),
        " and ",
        len(tensor_strides),
    )
    ndim = len(tensor_sizes)
    if ndim == 0:
        return ()
    if ndim == 1:
        return (1,)
    perm = list(range(ndim - 1, -1, -1))

    def should_swap(dim0: int, dim1: int) -> int:
        stride0, stride1 = tensor_strides[dim0], tensor_strides[dim1]
        if stride0 == 0 or stride1 == 0:
            return 0
        if stride0 != stride1:
            return -1 if stride0 < stride1 else 1
        return 1 if tensor_sizes[dim0] > tensor_sizes[dim1] else 0

    insertion_sort(perm, should_swap)
    strides = [0] * ndim
    step = 1
    for dim in perm:
        strides[dim] = step
        step *= max(tensor_sizes[dim], 1)
    return tuple(strides)


def insertion_sort(perm: list[int], should_swap: Callable[[int, int], int]) -> None:
    """Sort in place by an ambiguous order: ``should_swap(a, b)`` is 1, -1, or 0 where it cannot tell."""
    for i in range(1, len(perm)):
        dim1 = i
        for dim0 in range(i - 1, -1, -1):
            comparison = should_swap(perm[dim0], perm[dim1])
            if comparison > 0:
                perm[dim0], perm[dim1] = perm[dim1], perm[dim0]
                dim1 = dim0
            elif comparison < 0:
                break


def is_expandable_to(shape: Sequence[int], desired: Sequence[int]) -> bool:
    if len(shape) > len(desired):
        return False
    return all(
        size in (target, 1) for size, target in zip(reversed(tuple(shape)), reversed(tuple(desired)), strict=False)
    )


@doors.frame("at::_sum_to", layer="at")
def _sum_to(tensor: Tensor, shape: Sizes) -> Tensor:
    """Sums ``tensor`` down to ``shape``, undoing a broadcast."""
    if not shape:
        return at.sum.call(tensor, None)
    sizes = tensor._sizes
    leading = len(sizes) - len(shape)
    reduced = tuple(d for d in range(len(sizes)) if d < leading or (shape[d - leading] == 1 and sizes[d] != 1))
    if reduced:
        tensor = at.sum_dim_IntList.call(tensor, reduced, True, None)
    return at.view.call(tensor, shape) if leading > 0 else tensor
