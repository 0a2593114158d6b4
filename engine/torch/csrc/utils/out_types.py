"""torch/csrc/utils/out_types.cpp: a factory's options must agree with the tensor it is told to write to."""

from __future__ import annotations

from engine.aten.core.tensor import Tensor
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK
from engine.c10.layout import Layout
from engine.c10.scalar_type import ScalarType

__all__ = ["check_out_type_matches"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++


def check_out_type_matches(
    result: Tensor,
    scalarType: ScalarType | None,
    scalarType_is_none: bool,
    layout: Layout | None,
    device: Device,
    device_is_none: bool,
) -> None:
    if scalarType_is_none and layout is None and device_is_none:
        return
    if not scalarType_is_none and result._dtype is not scalarType:
        assert scalarType is not None
        TORCH_CHECK(
            False, "dtype ", scalarType.name, " does not match dtype of out parameter (", result._dtype.name, ")"
        )
    if layout is not None and result._layout is not layout:
        TORCH_CHECK(
            False, "layout ", layout.name, " does not match layout of out parameter (", result._layout.name, ")"
        )
    if not device_is_none and result._device.type != device.type:
        TORCH_CHECK(
            False,
            "device type ",
            device.type,
            " does not match device type of out parameter (",
            result._device.type,
            ")",
        )
