"""aten/src/ATen/MemoryOverlap.cpp: whether a tensor overlaps itself or another one in memory."""

from __future__ import annotations

from enum import Enum

from engine.aten.core.tensor import Tensor
from engine.aten.native.geometry import is_non_overlapping_and_dense
from engine.c10.exception import TORCH_CHECK

__all__ = [
    "MemOverlap",
    "MemOverlapStatus",
    "assert_no_internal_overlap",
    "assert_no_overlap",
    "assert_no_partial_overlap",
    "get_overlap_status",
    "has_internal_overlap",
]


class MemOverlap(Enum):
    No = "No"
    Yes = "Yes"
    TooHard = "TooHard"


class MemOverlapStatus(Enum):
    Full = "Full"
    Partial = "Partial"
    No = "No"
    TooHard = "TooHard"


def has_internal_overlap(t: Tensor) -> MemOverlap:
    if is_non_overlapping_and_dense(t):
        return MemOverlap.No
    for size, stride in zip(t._sizes, t._strides, strict=True):
        if stride == 0 and size > 1:
            return MemOverlap.Yes
    return MemOverlap.TooHard


def assert_no_internal_overlap(t: Tensor) -> None:
    if has_internal_overlap(t) is MemOverlap.Yes:
        TORCH_CHECK(
            False,
            "unsupported operation: more than one element of the written-to tensor "
            "refers to a single memory location. Please clone() the tensor before "
            "performing the operation.",
        )


def get_overlap_status(a: Tensor, b: Tensor) -> MemOverlapStatus:
    if a is b:
        return MemOverlapStatus.Full
    if a.numel_() == 0 or b.numel_() == 0:
        return MemOverlapStatus.No
    if a._storage is not b._storage or a._storage.buffer is None:
        return MemOverlapStatus.No
    if not is_non_overlapping_and_dense(a) or not is_non_overlapping_and_dense(b):
        return MemOverlapStatus.TooHard
    # both are dense blocks of one storage: compare where they begin and end
    a_begin = a._offset * a._dtype.itemsize
    a_end = a_begin + a.numel_() * a._dtype.itemsize
    b_begin = b._offset * b._dtype.itemsize
    b_end = b_begin + b.numel_() * b._dtype.itemsize
    if a_begin == b_begin and a_end == b_end:
        return MemOverlapStatus.Full if a._strides == b._strides else MemOverlapStatus.Partial
    if a_begin < b_end and b_begin < a_end:
        return MemOverlapStatus.Partial
    return MemOverlapStatus.No


def assert_no_partial_overlap(a: Tensor, b: Tensor) -> None:
    if get_overlap_status(a, b) is MemOverlapStatus.Partial:
        _overlap_error()


def assert_no_overlap(a: Tensor, b: Tensor) -> None:
    if get_overlap_status(a, b) in (MemOverlapStatus.Partial, MemOverlapStatus.Full):
        _overlap_error()


def _overlap_error() -> None:
    TORCH_CHECK(
        False,
        "unsupported operation: some elements of the input tensor and "
        "the written-to tensor refer to a single memory location. "
        "Please clone() the tensor before performing the operation.",
    )
