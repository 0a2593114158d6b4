"""How many hold a tensor; the same whether or not somebody listens."""

from __future__ import annotations

import pytest

from engine import doors, torch
from engine.torch.csrc.autograd.use_count import storage_use_count, use_count


def test_counts() -> None:
    holder = [torch.ones(2)]
    assert use_count(holder, 0) == 1
    other = holder[0]
    assert use_count(holder, 0) == 2
    del other
    assert storage_use_count(holder[0]) == 1
    view = holder[0].view(2)
    assert storage_use_count(holder[0]) == 2
    del view


@pytest.mark.parametrize("listen", [False, True])
def test_a_gradient_nobody_holds_is_taken_over(listen: bool) -> None:
    undo = doors.attach(doors.Listener()) if listen else lambda: None
    try:
        x = torch.ones(2, requires_grad=True)
        seen = []
        y = x * 2
        y.grad_fn.register_hook(lambda gi, go: seen.append(gi[0].data_ptr()))
        y.sum().backward()
        assert x.grad.data_ptr() == seen[0]
        given = torch.ones(2)
        z = torch.ones(2, requires_grad=True)
        z.backward(given)
        assert z.grad.data_ptr() != given.data_ptr()
    finally:
        undo()
