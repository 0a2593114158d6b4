"""THPVariable_X made from rows: what is announced, what is called, and the switch of the reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine import doors, torch
from engine.torchgen.gen_python_bindings import function_bindings, method_bindings
from engine.torchgen.register import rows


class Frames(doors.Listener):
    """The frames entered, with nesting, and what was said about them."""

    def __init__(self) -> None:
        self.entered: list[tuple[int, str]] = []
        self.details: list[tuple[str, Any]] = []
        self.failed: list[str] = []
        self.depth = 0

    def enter(self, site: doors.Site, args: tuple[Any, ...]) -> None:
        self.entered.append((self.depth, site.name))
        self.depth += 1

    def leave(self, site: doors.Site, result: Any) -> None:
        self.depth -= 1

    def fail(self, site: doors.Site, error: BaseException) -> None:
        self.failed.append(site.name)
        self.depth -= 1

    def detail(self, name: str, value: Any) -> None:
        self.details.append((name, value))

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.entered]


@pytest.fixture
def frames() -> Iterator[Frames]:
    torch.ones(1)
    listener = Frames()
    undo = doors.attach(listener)
    yield listener
    undo()


@pytest.fixture
def reference() -> Iterator[None]:
    before = engine.reference()
    yield
    engine.reference(before)


def test_the_road_of_rand(frames: Frames) -> None:
    torch.rand(3, 4)
    assert frames.names[:4] == ["torch::autograd::THPVariable_rand", "torch::rand", "at::rand", "at::_ops::rand::call"]
    assert frames.depth == 0


def test_the_signature_chosen_is_told(frames: Frames, reference: None) -> None:
    engine.reference("article")
    torch.rand(3, 4)
    details = dict(frames.details)
    assert details["idx"] == 2
    assert details["signature"].startswith("rand(SymIntArrayRef size, *, Tensor out=None, ")
    frames.details.clear()
    torch.rand(3, 4, generator=torch.Generator())
    assert dict(frames.details)["idx"] == 1


def test_out_goes_to_at(frames: Frames) -> None:
    out = torch.empty(2)
    frames.entered.clear()
    result = torch.ones(2, out=out, requires_grad=True)
    assert result is out
    assert out.requires_grad
    assert frames.names[:3] == ["torch::autograd::THPVariable_ones", "at::ones_out", "at::_ops::ones_out::call"]


def test_methods_and_functions_with_a_method_call_the_operator(frames: Frames) -> None:
    x = torch.ones(2)
    for call in (x.neg, lambda: torch.neg(x), lambda: -x):
        frames.entered.clear()
        call()
        assert frames.names[:2] == ["torch::autograd::THPVariable_neg", "at::_ops::neg::call"]


def test_operators_of_python(frames: Frames) -> None:
    x = torch.ones(2)
    frames.entered.clear()
    x + 1
    assert frames.entered[:2] == [
        (0, "torch::autograd::TypeError_to_NotImplemented_"),
        (1, "torch::autograd::THPVariable_add"),
    ]
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "x"
    assert frames.failed == ["torch::autograd::THPVariable_add"]
    assert frames.depth == 0


def test_errors_reach_python_as_its_own(frames: Frames) -> None:
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch.neg(1)
    with pytest.raises(RuntimeError, match="negative dimension"):
        torch.ones(-1)
    assert frames.failed[0] == "torch::autograd::THPVariable_neg"
    assert frames.failed[-1] == "torch::autograd::THPVariable_ones"
    assert frames.depth == 0


def test_names_of_functions() -> None:
    assert torch.ones.__name__ == "ones"
    assert torch.ones.__code__.co_name == "torch::autograd::THPVariable_ones"
    assert torch.Tensor.add.__qualname__ == "TensorBase.add"


def test_the_references_differ_in_signatures_only(reference: None) -> None:
    engine.reference("article")
    assert torch.rand(2, names=("a",)).names == ("a",)
    assert torch.tensor([1], names=("a",)).names == ("a",)
    assert len(function_bindings()["rand"].groups) == 4
    engine.reference("2.13")
    with pytest.raises(TypeError, match="names=tuple"):
        torch.rand(2, names=("a",))
    with pytest.raises(TypeError, match="unexpected keyword argument 'names'"):
        torch.tensor([1], names=("a",))
    assert len(function_bindings()["rand"].groups) == 2
    assert not hasattr(torch.ones(1), "names")


@pytest.mark.parametrize("name", ["to", "contiguous", "item", "copy_", "alias", "slice"])
def test_what_is_written_by_hand_is_not_generated(name: str) -> None:
    assert name not in function_bindings()
    assert name not in method_bindings()


def test_every_row_that_python_sees_has_a_parser() -> None:
    names = {row.schema.name.base for row in rows()}
    for bindings in (function_bindings(), method_bindings()):
        assert bindings.keys() <= names
        for name, binding in bindings.items():
            assert binding.build().function_name == name
            assert len(binding.cases) == len(binding.groups) > 0


def test_devices_that_are_not_there() -> None:
    for make in (torch.ones, torch.empty, torch.zeros):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            make(2, device="cuda")
    with pytest.raises(ModuleNotFoundError, match=r"torch\.hpu"):
        torch.ones(2, device="hpu")
