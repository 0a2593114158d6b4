"""__torch_function__: overrides by objects, subclasses and modes."""

from __future__ import annotations

from typing import Any

import pytest

from engine import torch
from engine.torch.overrides import (
    BaseTorchFunctionMode,
    DisableTorchFunctionSubclass,
    TorchFunctionMode,
    handle_torch_function,
    has_torch_function,
)


class Answers:
    """Takes every call it is passed to."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func.__name__, types, len(args), kwargs


class Declines:
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class Log(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append(func.__name__)
        return func(*args, **(kwargs or {}))


class Tagged(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "call",
    [
        lambda a: torch.add(1, a),
        lambda a: torch.add(torch.ones(2), other=a),
        lambda a: torch.neg(torch.ones(2), out=a),
        lambda a: torch.ones((2, a)),
        lambda a: torch.ones(2).add(a),
        lambda a: torch.ones(2).to(a),
        lambda a: torch.ones(2)[a],
        lambda a: torch.ones(2) + a,
    ],
)
def test_any_argument_may_override(call: Any) -> None:
    name, types, *_ = call(Answers())
    assert name in ("add", "neg", "ones", "to", "__getitem__")
    assert types == (Answers,)


def test_all_decline() -> None:
    with pytest.raises(TypeError) as caught:
        torch.add(Declines(), 1)
    assert str(caught.value) == (
        "Multiple dispatch failed for 'torch.add'; all __torch_function__ handlers returned NotImplemented:\n\n"
        f"  - tensor subclass {Declines!r}\n\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented"
    )
    with pytest.raises(TypeError, match="unsupported operand type"):
        torch.ones(2) + Declines()


def test_a_mode_sees_every_call_and_not_its_own() -> None:
    with Log() as log:
        x = torch.ones(2)
        x + 1
        _ = x.shape
        x.view(2)[0]
        len(x)
        torch.tensor([1])
    assert log.calls == ["ones", "add", "__get__", "view", "__getitem__", "__len__", "tensor"]
    x.neg()
    assert len(log.calls) == 7


def test_modes_nest() -> None:
    with Log() as outer, Log() as inner:
        torch.ones(2)
    assert outer.calls == inner.calls == ["ones"]
    with BaseTorchFunctionMode():
        assert torch.ones(2).tolist() == [1.0, 1.0]


def test_a_mode_must_not_be_a_classmethod() -> None:
    class Wrong(TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return None

    with Wrong(), pytest.raises(RuntimeError, match="as a classmethod is not supported"):
        torch.ones(2)


def test_subclasses_keep_their_class() -> None:
    x = torch.ones(2).as_subclass(Tagged)
    assert type(x + 1) is Tagged
    assert type(x.view(1, 2)[0]) is Tagged
    assert type(torch.add(torch.ones(2), x)) is Tagged
    assert type(x.shape) is torch.Size
    assert type(Tagged([1, 2])) is Tagged
    with DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor


def test_subclasses_are_made_by_new_whatever_init_does() -> None:
    class Own(torch.Tensor):
        def __init__(self, data: Any) -> None:
            self.tag = "own"

    made = Own([1.0, 2.0])
    assert (made.tag, made.tolist()) == ("own", [1.0, 2.0])


def test_a_subclass_with_the_implementation_switched_off_is_a_plain_tensor() -> None:
    class Plain(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    assert type(torch.ones(2).as_subclass(Plain) + 1) is torch.Tensor


def test_functions_written_in_python() -> None:
    def public(x: Any) -> Any:
        return handle_torch_function(public, (x,), x) if has_torch_function((x,)) else "plain"

    assert public(torch.ones(2)) == "plain"
    assert public(Answers())[0] == "public"
    with pytest.raises(TypeError, match=r"no implementation found for .*public.* on types that implement"):
        public(Declines())


def test_a_look_up_that_raises_finds_no_override() -> None:
    class Hostile:
        def __getattr__(self, name: str) -> object:
            raise ValueError(name)

    with pytest.raises(TypeError, match=r"argument 'size' \(position 1\) must be tuple of ints, not Hostile"):
        torch.ones(Hostile())
    with pytest.raises(TypeError, match="unsupported operand type"):
        torch.ones(2) + Hostile()
    with pytest.raises(TypeError, match=r"argument 'dtype' must be torch\.dtype, not Hostile"):
        torch.ones(2, dtype=Hostile())
