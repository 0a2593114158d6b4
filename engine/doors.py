"""The doors: where the engine announces what happens, through one slot that is None when nobody listens.

Hot code reads the slot once (``l = doors.listener``) and tests it; nothing else is paid when no listener is attached.
A listener is told plain facts and live arguments; it may look at tensors but must not keep them. A listener that
raises is detached with a warning and never changes what the program does.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeVar

__all__ = ["Listener", "Site", "attach", "detach", "frame", "listener", "named", "rename", "site_of"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A function that can be entered, named as PyTorch names it; one object per function.

    ``layer`` is one of python, torch, at, ops, backend_select, autograd, adinplaceorview, wrapper, native, engine,
    node; a user's own kernel is "python kernel".
    """

    name: str
    layer: str
    params: tuple[str, ...] = ()
    file: str = ""
    line: int = 0
    guard: str | None = None


class Listener:
    """What a listener may override. Methods run inside the program that is watched: be quick, keep nothing alive."""

    def enter(self, site: Site, args: tuple[Any, ...]) -> None:
        """A function is entered with ``args``, in the order of ``site.params``."""

    def leave(self, site: Site, result: Any) -> None:
        """The function entered last on this thread returns."""

    def fail(self, site: Site, error: BaseException) -> None:
        """The function entered last on this thread raises ``error``."""

    def detail(self, name: str, value: Any) -> None:
        """A fact about the innermost open function of this thread (the signature chosen, …)."""

    def hop(self, decision: Any) -> None:
        """The dispatcher has chosen a kernel (``engine.aten.core.dispatcher.Decision``)."""

    def node(self, node: Any, outputs: tuple[Any, ...]) -> None:
        """A grad_fn has been made and connected to ``outputs``."""

    def warn(self, category: str, message: str) -> None:
        """The engine warns."""


listener: Listener | None = None


class _Safe(Listener):
    """Forwards to one listener; at its first failure detaches it with a warning.

    A RecursionError is the program's: it unwinds, and the listener has only missed an event.
    """

    __slots__ = ("failed", "target")

    def __init__(self, target: Listener) -> None:
        self.target = target
        self.failed = False


def _forward(name: str) -> Callable[..., None]:
    def method(self: _Safe, *args: Any) -> None:
        if self.failed:  # functions in flight still hold it
            return
        try:
            getattr(self.target, name)(*args)
        except RecursionError:
            return
        except Exception as error:
            self.failed = True
            if listener is self:
                detach()
            who = f"{type(self.target).__name__}.{name}"
            what = f"listener {who} failed and was detached: {type(error).__name__}: {error}"
            try:
                warnings.warn(what, RuntimeWarning, stacklevel=3)
            except RuntimeWarning:  # warnings are errors in this program; this one must not be
                print(f"RuntimeWarning: {what}", file=sys.stderr)

    method.__name__ = name
    return method


for _name in ("enter", "leave", "fail", "detail", "hop", "node", "warn"):
    setattr(_Safe, _name, _forward(_name))


def attach(target: Listener) -> Callable[[], None]:
    """Attach ``target``; returns the function that detaches it. Raises RuntimeError when another one is attached."""
    global listener
    if listener is not None:
        raise RuntimeError("a listener is already attached; detach it first")
    mine = _Safe(target)
    listener = mine

    def undo() -> None:
        if listener is mine:
            detach()

    return undo


def detach() -> None:
    """Detach whatever listens."""
    global listener
    listener = None


_ROOT = os.path.dirname(os.path.abspath(__file__))


def rename(fn: F, name: str) -> F:
    """Give ``fn``'s code object a PyTorch name, so that tracebacks, pdb and py-spy show it."""
    assert isinstance(fn, FunctionType)
    code: CodeType = fn.__code__
    fn.__code__ = code.replace(co_name=name, co_qualname=name)
    fn.__name__ = name.rpartition("::")[2] or name
    fn.__qualname__ = name
    return fn


def named(name: str) -> Callable[[F], F]:
    """Decorator: a PyTorch name for tracebacks and c10::Error, without a frame of the trace."""
    return lambda fn: rename(fn, name)


def site_of(fn: Any, name: str, layer: str, params: tuple[str, ...] | None = None, guard: str | None = None) -> Site:
    """The Site of a Python function: parameter names, file and line are read from it."""
    code = fn.__code__
    if params is None:
        params = tuple(inspect.signature(fn).parameters)
    path = os.path.relpath(code.co_filename, os.path.dirname(_ROOT))
    return Site(name, layer, params, path, code.co_firstlineno, guard)


def frame(
    name: str, layer: str = "native", params: tuple[str, ...] | None = None, guard: str | None = None
) -> Callable[[F], F]:
    """Decorator: calls of the function become frames of the trace under the C++ ``name``.

    The plain function stays reachable as ``__wrapped__`` (the generated layer above calls that one and announces the
    frame itself), its Site as ``__site__``.
    """

    def decorate(fn: F) -> F:
        site = site_of(fn, name, layer, params, guard)
        rename(fn, name)

        @functools.wraps(fn)
        def entered(*args: Any, **kwargs: Any) -> Any:
            door = listener
            if door is None:
                return fn(*args, **kwargs)
            door.enter(site, (*args, *kwargs.values()))
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                door.fail(site, error)
                raise
            door.leave(site, result)
            return result

        entered.__site__ = site  # type: ignore[attr-defined]
        return entered  # type: ignore[return-value]

    return decorate
