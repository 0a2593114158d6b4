"""Tensors made from Python's numbers, sequences, arrays and tensors."""

from __future__ import annotations

import numpy as np
import pytest

from engine import torch
from engine.c10 import exception, scalar_type
from engine.torch.csrc.utils.tensor_new import infer_scalar_type, is_sequence


@pytest.mark.parametrize(
    ("obj", "name"),
    [
        (1, "Long"), (1.0, "Float"), (True, "Bool"), (1j, "ComplexFloat"), ([], "Float"), ([1, 2.5], "Float"),
        ([True, 2], "Long"), ([1, 2j], "ComplexFloat"), (np.int8(1), "Char"), ([np.float64(1), 2], "Double"),
        (range(3), "Long"), (np.ones(2, np.float16), "Half"),
    ],
)  # fmt: skip
def test_infer_scalar_type(obj: object, name: str) -> None:
    assert infer_scalar_type(obj).name == name


def test_complex_numbers_follow_the_default_dtype() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert infer_scalar_type(1j) is scalar_type.ComplexDouble
        assert torch.tensor(1.5).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_is_sequence() -> None:
    assert all(map(is_sequence, ([], (), range(2), bytearray(b"a"), np.ones(2), "x")))
    assert not any(map(is_sequence, ({}, 1, set(), torch.ones(2), np.float32(1), list)))


def test_torch_tensor_copies_and_as_tensor_shares() -> None:
    a = np.zeros(2)
    copied, shared = torch.tensor(a), torch.as_tensor(a)
    a[0] = 1
    assert (copied.tolist(), shared.tolist()) == ([0.0, 0.0], [1.0, 0.0])
    x = torch.ones(2)
    assert torch.as_tensor(x) is x
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        assert torch.tensor(x).data_ptr() != x.data_ptr()


def test_the_result_is_a_leaf() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct"):
        y = torch.tensor(x * 2, requires_grad=True)
    assert y.is_leaf
    assert y.requires_grad


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        ("x", TypeError, r"new\(\): invalid data type 'str'"),
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        (object(), RuntimeError, "Could not infer dtype of object"),
        ([[1], 2], TypeError, "not a sequence"),
        (2**64, ValueError, "Overflow when unpacking long long"),
        (np.array(["a"]), TypeError, r"can't convert np.ndarray of type numpy.str_"),
        (np.ones(2)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
    ],
)
def test_errors(data: object, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        torch.tensor(data)


def test_a_list_that_holds_itself() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        torch.tensor(endless)
    with pytest.raises(exception.TypeError, match="self-referential lists are incompatible"):
        infer_scalar_type(endless)


def test_strided_arrays_share_memory() -> None:
    a = np.arange(12).reshape(3, 4)[:, ::2]
    t = torch.from_numpy(a)
    assert (t.stride(), t.tolist()) == ((4, 2), a.tolist())
    t[0, 1] = 99
    assert a[0, 1] == 99
    back = t.numpy()
    back[2, 0] = -1
    assert a[2, 0] == -1


def test_readonly_arrays_warn() -> None:
    exception.set_warnAlways(True)
    try:
        with pytest.warns(UserWarning, match="is not writable"):
            torch.from_numpy(np.frombuffer(b"abcd", dtype=np.uint8))
    finally:
        exception.set_warnAlways(False)


def test_legacy_constructor() -> None:
    assert torch.Tensor().shape == (0,)
    assert torch.Tensor(2, 3).shape == torch.Tensor(torch.Size([2, 3])).shape == (2, 3)
    assert torch.Tensor([2, 3]).tolist() == [2.0, 3.0]
    x = torch.ones(2)
    assert torch.Tensor(x).data_ptr() == x.data_ptr()
    assert x.new([1]).dtype is torch.float32
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu but device type: meta"):
        torch.Tensor(2, device="meta")
