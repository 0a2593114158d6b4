from __future__ import annotations

import pytest

from engine.aten import at
from engine.aten.core.tensor import Tensor, wrapped_scalar_tensor
from engine.aten.native.structured import Functional
from engine.aten.native.tensor_iterator import TensorIterator, TensorIteratorConfig
from engine.c10.device import Device
from engine.c10.exception import Error
from engine.c10.scalar_type import Double, Float, Long, ScalarType

Sizes = tuple[int, ...]


def ones(size: Sizes, dtype: ScalarType = Float, device: str = "cpu") -> Tensor:
    return at.ones.call(size, dtype, None, Device(device), None)


def built(a: Tensor, b: Tensor) -> Functional:
    op = Functional()
    op.build_borrowing_binary_op(None, a, b)
    return op


def test_output_follows_the_order_of_the_inputs() -> None:
    a = at.t.call(ones((2, 3)))
    op = built(a, at.t.call(ones((2, 3))))
    assert op.out is not None and op.out._strides == (1, 3)
    op = built(a, ones((3, 2)))  # the first operand decides
    assert op.out is not None and op.out._strides == (1, 3)
    op = built(ones((3, 2)), a)
    assert op.out is not None and op.out._strides == (2, 1)


def test_a_number_takes_the_type_of_the_tensor() -> None:
    assert built(ones((2,)), wrapped_scalar_tensor(2)).common_dtype is Float
    assert built(ones((2,), Long), wrapped_scalar_tensor(2.5)).common_dtype is Float
    assert built(ones((2,), Long), ones((), Double)).common_dtype is Double
    assert built(ones((2,)), ones((), Double)).common_dtype is Float


def test_converted_inputs_are_temporaries() -> None:
    number = wrapped_scalar_tensor(2)
    op = built(ones((2,)), number)
    assert op.input(1) is not number and op.input(1)._dtype is Float
    assert op.operands[2].original_tensor is number


def test_types_that_must_agree() -> None:
    config = TensorIteratorConfig(tensors=[ones((2,), Double), ones((2,))], num_outputs=1)
    with pytest.raises(Error, match="Found dtype Double but expected Float"):
        TensorIterator(config)


def test_devices_that_must_agree() -> None:
    with pytest.raises(Error, match="found at least two devices, meta and cpu!"):
        built(ones((2,), device="meta"), ones((3, 2)))


def test_output_may_not_overlap_itself_or_an_input() -> None:
    base = ones((6,))
    written = at.expand.call(ones((1,)), (3,), False)
    with pytest.raises(Error, match="more than one element of the written-to tensor"):
        at.add__Tensor.call(written, ones((3,)), 1)
    front, back = at.slice_Tensor.call(base, 0, 0, 5, 1), at.slice_Tensor.call(base, 0, 1, 6, 1)
    with pytest.raises(Error, match="some elements of the input tensor and the written-to tensor"):
        at.add__Tensor.call(back, front, 1)


def test_outputs_that_cannot_hold_the_result() -> None:
    with pytest.raises(Error, match="result type Float can't be cast to the desired output type Long"):
        at.add__Tensor.call(ones((2,), Long), ones((2,)), 1)
    with pytest.raises(Error, match=r"output with shape \[2\] doesn't match the broadcast shape \[3, 2\]"):
        at.add__Tensor.call(ones((2,)), ones((3, 2)), 1)
