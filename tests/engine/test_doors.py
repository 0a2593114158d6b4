"""The listener seam: attach, detach, failing listeners, frames."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from engine import doors, torch


class Heard(doors.Listener):
    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []

    def enter(self, site: doors.Site, args: tuple[Any, ...]) -> None:
        self.events.append(("enter", site.name))

    def leave(self, site: doors.Site, result: Any) -> None:
        self.events.append(("leave", site.name))

    def fail(self, site: doors.Site, error: BaseException) -> None:
        self.events.append(("fail", site.name))


@pytest.fixture(autouse=True)
def nobody_listens_afterwards() -> Iterator[None]:
    yield
    doors.detach()


def test_attach_and_undo() -> None:
    heard = Heard()
    undo = doors.attach(heard)
    with pytest.raises(RuntimeError, match="a listener is already attached"):
        doors.attach(Heard())
    torch.ones(1)
    undo()
    count = len(heard.events)
    assert count > 0
    torch.ones(1)
    assert len(heard.events) == count
    undo()


def test_every_enter_has_its_end() -> None:
    heard = Heard()
    undo = doors.attach(heard)
    with pytest.raises(RuntimeError, match="shape"):
        torch.ones(3).view(4)
    undo()
    open_: list[str] = []
    for kind, name in heard.events:
        if kind == "enter":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert open_ == []
    assert ("fail", "at::native::view") in heard.events


def test_a_failing_listener_is_detached_and_changes_nothing() -> None:
    class Failing(doors.Listener):
        def leave(self, site: doors.Site, result: Any) -> None:
            raise ZeroDivisionError("mine")

    doors.attach(Failing())
    with pytest.warns(
        RuntimeWarning, match=r"listener Failing.leave failed and was detached: ZeroDivisionError"
    ) as said:
        assert torch.ones(2).tolist() == [1.0, 1.0]
    assert len(said) == 1
    assert doors.listener is None


def test_the_warning_never_becomes_an_error_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    class Failing(doors.Listener):
        def enter(self, site: doors.Site, args: tuple[Any, ...]) -> None:
            raise ZeroDivisionError("mine")

    doors.attach(Failing())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.ones(2).tolist() == [1.0, 1.0]
    assert "Failing.enter failed and was detached" in capsys.readouterr().err


def test_a_recursion_error_is_the_programs() -> None:
    class Deep(doors.Listener):
        def enter(self, site: doors.Site, args: tuple[Any, ...]) -> None:
            raise RecursionError

    undo = doors.attach(Deep())
    torch.ones(1)
    assert doors.listener is not None
    undo()


def test_names() -> None:
    @doors.named("at::native::f")
    def f() -> None: ...

    assert f.__code__.co_name == "at::native::f"
    assert f.__name__ == "f"

    @doors.frame("at::native::g")
    def g(a: int, b: int) -> int:
        return a + b

    assert g.__site__.params == ("a", "b")  # type: ignore[attr-defined]
    assert g.__site__.file.endswith("test_doors.py")  # type: ignore[attr-defined]
    assert g(1, b=2) == 3
