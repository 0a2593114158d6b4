"""What a tensor carries for autograd, and views of written bases."""

from __future__ import annotations

import gc
import weakref

import pytest

from engine import torch
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.autograd_meta import CreationMeta, propagate_creation_meta


def test_a_plain_tensor_carries_nothing() -> None:
    t = torch.ones(2)
    assert t._autograd_meta is None
    assert (impl.requires_grad(t), impl.is_leaf(t), impl.grad_fn(t), impl.output_nr(t)) == (False, True, None, 0)
    impl.set_requires_grad(t, False)
    assert t._autograd_meta is None


def test_the_accumulator_of_a_leaf_is_one_and_held_weakly() -> None:
    t = torch.ones(2, requires_grad=True)
    node = impl.grad_accumulator(t)
    assert impl.grad_accumulator(t) is node
    reference = weakref.ref(node)
    del node
    assert reference() is None
    assert impl.try_get_grad_accumulator(t) is None


def test_views_share_the_version_of_their_root() -> None:
    base = torch.zeros(4)
    row = base.view(2, 2)[0]
    assert impl.base(row) is base
    row.add_(1)
    assert (base._version, row._version) == (1, 1)
    assert base.detach()._version_counter is base._version_counter
    assert base.data._version == 0


def test_a_written_base_gives_its_views_a_new_grad_fn() -> None:
    base = torch.ones(4, requires_grad=True).clone()
    view = base[1:]
    before = view.grad_fn
    base.mul_(2)
    after = view.grad_fn
    assert before.name() == "SliceBackward0"
    assert after.name() == "AsStridedBackward0"
    assert view.grad_fn is after
    assert after.next_functions[0][0] is base.grad_fn


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (CreationMeta.DEFAULT, CreationMeta.NO_GRAD_MODE, CreationMeta.NO_GRAD_MODE),
        (CreationMeta.NO_GRAD_MODE, CreationMeta.DEFAULT, CreationMeta.NO_GRAD_MODE),
        (CreationMeta.INFERENCE_MODE, CreationMeta.NO_GRAD_MODE, CreationMeta.INFERENCE_MODE),
        (CreationMeta.MULTI_OUTPUT_NODE, CreationMeta.NO_GRAD_MODE, CreationMeta.NO_GRAD_MODE),
    ],
)
def test_creation_meta_of_a_view_of_a_view(old: CreationMeta, new: CreationMeta, expected: CreationMeta) -> None:
    assert propagate_creation_meta(old, new) is expected


def test_graphs_go_with_the_last_reference() -> None:
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        y = x * x
        view = y[1:]
        view.mul_(2)
        view.retain_grad()
        root = (view * y[:2]).sum()
        root.backward()
        alive = [weakref.ref(o) for o in (y, view, root, root.grad_fn, y.grad_fn)]
        del y, view, root
        assert [r() for r in alive] == [None] * 5
    finally:
        gc.enable()


def test_a_view_of_an_inference_tensor_is_one() -> None:
    with torch.inference_mode():
        x = torch.ones(2, 2)
    for view in (x[:1], x.t(), x.detach(), x.expand(3, 2, 2), x.unsqueeze(0), x.view(4), x.view_as(x)):
        assert view.is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = x[:1]._version
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        x[:1].add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        torch.ones(2, requires_grad=True) * x[:1]
