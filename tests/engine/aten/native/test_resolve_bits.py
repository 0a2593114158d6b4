"""Lazy conjugates: a view with a bit, carried out where a kernel does not know of it."""

from __future__ import annotations

from engine import torch


def test_a_conjugate_is_a_view_with_a_bit() -> None:
    a = torch.tensor([1 + 2j, 3 - 1j])
    b = a.conj()
    assert b.is_conj()
    assert b.data_ptr() == a.data_ptr()
    assert b.tolist() == [1 - 2j, 3 + 1j]
    assert not b.conj().is_conj()
    resolved = b.resolve_conj()
    assert not resolved.is_conj()
    assert resolved.data_ptr() != a.data_ptr()
    assert resolved.tolist() == b.tolist()
    x = torch.ones(2)
    assert x.conj() is x


def test_kernels_that_do_not_know_the_bit_get_the_values() -> None:
    a = torch.tensor([1 + 2j])
    assert (a.conj() + 1).tolist() == [2 - 2j]
    assert (a.conj() * a).tolist() == [5 + 0j]
    b = a.conj()
    b.mul_(2)
    assert a.tolist() == [2 + 4j]
    assert torch.conj_physical(a).tolist() == [2 - 4j]


def test_gradients_of_complex_products_are_conjugated() -> None:
    a = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (a * a).sum().backward(torch.tensor(1 + 0j))
    assert a.grad.tolist() == [2 - 4j, 6 + 2j]
    a.grad = None
    a.conj().sum().backward(torch.tensor(1j))
    assert a.grad.tolist() == [-1j, -1j]
