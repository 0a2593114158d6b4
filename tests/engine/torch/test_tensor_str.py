"""What Python prints of tensors."""

from __future__ import annotations

import pytest

from engine import torch
from engine.torch import _tensor_str


@pytest.fixture(autouse=True)
def default_options():
    yield
    torch.set_printoptions(profile="default")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.tensor([0.5, 0.25]), "tensor([0.5000, 0.2500])"),
        (lambda: torch.tensor([1.0, 20.0]), "tensor([ 1., 20.])"),
        (lambda: torch.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
        (lambda: torch.tensor([1.0, float("nan"), float("-inf")]), "tensor([1., nan, -inf])"),
        (lambda: torch.tensor(3), "tensor(3)"),
        (lambda: torch.tensor(2.5), "tensor(2.5000)"),
        (lambda: torch.tensor([True, False]), "tensor([ True, False])"),
        (lambda: torch.tensor([1 + 2j, -0.5j]), "tensor([1.+2.0000j, -0.-0.5000j])"),
        (lambda: torch.ones(2, 2, dtype=torch.int32), "tensor([[1, 1],\n        [1, 1]], dtype=torch.int32)"),
        (lambda: torch.empty(0, 3), "tensor([], size=(0, 3))"),
        (lambda: torch.empty(0, dtype=torch.int64), "tensor([], dtype=torch.int64)"),
        (lambda: torch.empty(3, device="meta"), "tensor(..., device='meta', size=(3,))"),
        (lambda: torch.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
        (lambda: torch.ones(2, requires_grad=True) * 2, "tensor([2., 2.], grad_fn=<MulBackward0>)"),
        (lambda: torch.ones(2, 1, 2), "tensor([[[1., 1.]],\n\n        [[1., 1.]]])"),
        (lambda: torch.zeros(2000), "tensor([0., 0., 0.,  ..., 0., 0., 0.])"),
    ],
)
def test_text(make, text):
    assert repr(make()) == text


def test_options():
    torch.set_printoptions(precision=2, threshold=4, edgeitems=1)
    assert repr(torch.tensor([0.5, 0.25, 1, 2, 3])) == "tensor([0.50,  ..., 3.00])"
    with _tensor_str.printoptions(sci_mode=True, profile="default"):
        assert repr(torch.tensor([0.5])) == "tensor([5.0000e-01])"
    assert _tensor_str.get_printoptions() == {
        "precision": 2,
        "threshold": 4,
        "edgeitems": 1,
        "linewidth": 80,
        "sci_mode": None,
    }


def test_names_are_printed_as_pytorch_2_1_printed_them():
    t = torch.ones(2, 1)
    t._names = ("N", None)
    assert repr(t) == "tensor([[1.],\n        [1.]], names=('N', None))"


def test_a_long_suffix_goes_to_the_next_line():
    t = torch.full((8,), 0.5, dtype=torch.float64, requires_grad=True)
    assert repr(t).splitlines()[-1] == "       dtype=torch.float64, requires_grad=True)"


def test_contents_can_be_given():
    assert _tensor_str._str(torch.ones(2), tensor_contents="…") == "tensor(…)"
