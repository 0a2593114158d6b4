"""Tensors kept for backward."""

from __future__ import annotations

import pytest

from engine import torch
from engine.c10.exception import Error
from engine.torch.csrc.autograd.saved_variable import UNDEFINED, SavedVariable


def test_an_input_is_kept_itself() -> None:
    t = torch.ones(2, requires_grad=True) * 2
    assert SavedVariable(t).unpack() is t


def test_an_output_is_kept_without_its_history() -> None:
    t = torch.ones(2, requires_grad=True) * 2
    saved = SavedVariable(t, is_output=True)
    found = saved.unpack(t.grad_fn)
    assert found is not t
    assert found.grad_fn is t.grad_fn
    assert found.data_ptr() == t.data_ptr()
    with pytest.raises(Error, match="has been detached in-place"):
        saved.unpack()


def test_a_write_is_noticed() -> None:
    t = torch.ones(2, 3)
    saved = SavedVariable(t)
    t.add_(1)
    with pytest.raises(Error, match=r"\[torch.FloatTensor \[2, 3\]\] is at version 1; expected version 0 instead"):
        saved.unpack()


def test_release() -> None:
    saved = SavedVariable(torch.ones(2))
    saved.reset_data()
    with pytest.raises(Error, match="Trying to backward through the graph a second time"):
        saved.unpack()
    assert UNDEFINED.unpack() is None
    UNDEFINED.reset_data()
    assert UNDEFINED.unpack() is None


def test_wrapped_numbers_never_reach_hooks() -> None:
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = torch.ones(2, requires_grad=True) * 2
    assert packed == []
    y.sum().backward()
