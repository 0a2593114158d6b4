"""The target ``engine``: listens at the engine's doors and tells a sink what it hears."""

from __future__ import annotations

import functools
import itertools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from time import perf_counter_ns
from types import FrameType
from typing import Any

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.c10.exception import Error
from tracer.targets.base import Recorder
from tracer.targets.saved import saved_values
from tracer.targets.stacks import Stack, below, reaches, relative, shown, user_stack
from tracer.targets.values import Values, key_names, key_set_text
from traces import Sink
from traces.values import Encoded

__all__ = ["EngineRecorder", "EngineTarget"]

_FIXED = 2  # Python frames between a door and our method: the method itself and doors' safety net
_tickets = itertools.count(1)  # what Node._debug_id is given
_DETAILS = {"idx": "case"}  # the engine's word -> the one that reports know
_KEY_SETS = ("dispatchKeySet", "ks")


_Stack = list[tuple[int, doors.Site, FrameType, str, Stack]]
_UNSEEN = "left unseen", "how this function was left could not be recorded"


class _Thread(threading.local):
    """What is open on a thread: (frame id, Site, the Python frame that announced it, file, the user's stack)."""

    def __init__(self) -> None:
        self.number = 0
        self.node: int | None = None  # the node whose apply comes next
        self.missed: FrameType | None = None  # announced a frame that could not be recorded
        self.stack: _Stack = []


class _SiteFacts:
    """What is worked out once per Site: its key in the sink, the file to look for, whether a key set comes first."""

    __slots__ = ("applies", "file", "key", "key_set", "operator")

    def __init__(self, site: doors.Site, key: int, file: str) -> None:
        self.key = key
        self.file = file
        self.key_set = bool(site.params) and site.params[0] in _KEY_SETS
        self.operator = site.name.endswith("Node::operator()")
        self.applies = site.layer == "node"


class EngineRecorder(doors.Listener):
    """Turns what the doors announce into the calls of one sink.

    Near the end of Python's stack any event may be missed, by a RecursionError here that the program, too, is about to
    get. So a frame is left by the Python frame that announced it, and those whose end was missed are closed when the
    stack shows it.
    """

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.hops = 0
        self.first_op: str | None = None
        self.depth = _FIXED
        self.values = Values()
        self._thread = _Thread()
        self._threads = itertools.count(1)
        self._frame_ids = itertools.count()
        self._hop_ids = itertools.count()
        self._node_ids = itertools.count()
        self._sites: dict[doors.Site, _SiteFacts] = {}
        self._decisions: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._nodes: dict[int, int] = {}

    # doors.Listener

    def enter(self, site: doors.Site, args: tuple[Any, ...]) -> None:
        thread = self._thread
        try:
            self._enter(thread, site, args, sys._getframe(self.depth))
        except RecursionError:
            thread.missed, thread.node = sys._getframe(self.depth), None
            raise

    def _enter(self, thread: _Thread, site: doors.Site, args: tuple[Any, ...], announcer: FrameType) -> None:
        if not thread.number:
            thread.number = next(self._threads)
        facts = self._sites.get(site) or self._meet(site)
        parent: int | None = None
        line: int | None = None
        while thread.stack:
            parent, above, frame, file, outer = thread.stack[-1]
            line, python, met = below(announcer, frame, above.name, file)
            if met or reaches(announcer, frame):
                if python:
                    python = outer = python + outer
                break
            self._drop(thread.stack, len(thread.stack) - 1, perf_counter_ns(), _UNSEEN)
        else:
            parent, line = None, None
            python = outer = user_stack(announcer)
        encoders = self.values.by_type
        numbers: list[int] = []
        if facts.key_set and args and type(args[0]) is int:
            shown_args = [encoders[type(arg)](arg, numbers) for arg in args[1:]]
            shown_args.insert(0, key_set_text(args[0]))
        else:
            shown_args = [encoders[type(arg)](arg, numbers) for arg in args]
        frame_id = next(self._frame_ids)
        self.sink.begin(
            frame_id,
            parent,
            thread.number,
            facts.key,
            Encoded(f"[{','.join(shown_args)}]", numbers),
            perf_counter_ns(),
            line,
            python,
        )
        thread.stack.append((frame_id, site, announcer, facts.file, outer))
        if facts.operator and args:
            thread.node = self._announce(args[0], None)
        elif facts.applies and thread.node is not None:
            self.sink.node_ran(thread.node, frame_id)
            thread.node = None

    def leave(self, site: doors.Site, result: Any) -> None:
        now = perf_counter_ns()
        stack = self._thread.stack
        if self._find(stack, site, sys._getframe(self.depth), now, _UNSEEN):
            self.sink.end(stack[-1][0], now, self.values(result))
            stack.pop()

    def fail(self, site: doors.Site, error: BaseException) -> None:
        now = perf_counter_ns()
        stack = self._thread.stack
        end = error_name(error), error_text(error)
        if self._find(stack, site, sys._getframe(self.depth), now, end):
            self.sink.fail(stack[-1][0], now, *end)
            stack.pop()

    def detail(self, name: str, value: Any) -> None:
        stack = self._thread.stack
        if stack and not (self._thread.missed and self._is_missed(sys._getframe(self.depth))):
            self.sink.detail(stack[-1][0], _DETAILS.get(name, name), self.values(value))

    def hop(self, decision: Any) -> None:
        stack = self._thread.stack
        if not stack:  # a recording that began inside this call
            return
        if self._thread.missed and self._is_missed(sys._getframe(self.depth)):
            return
        key = (
            decision.kind,
            decision.op,
            decision.merged,
            decision.args_keysets,
            decision.tls_included,
            decision.tls_excluded,
            decision.key,
            decision.kernel.name,
            decision.debug,
        )
        facts = self._decisions.get(key)
        if facts is None:
            facts = self._decisions[key] = _decision(decision)
        if self.first_op is None:
            self.first_op = decision.op
        self.sink.hop(next(self._hop_ids), stack[-1][0], **facts)
        self.hops += 1

    def node(self, node: Any, outputs: tuple[Any, ...]) -> None:
        self._announce(node, self._innermost(sys._getframe(self.depth)), outputs)

    def warn(self, category: str, message: str) -> None:
        self.sink.warning(category, message, self._innermost(sys._getframe(self.depth)))

    # frames

    def _meet(self, site: doors.Site) -> _SiteFacts:
        if not self._sites:
            _load()
        file = site.file
        if file and not os.path.isabs(file):
            file = relative(os.path.normpath(os.path.join(_ROOT, file)))
        name = shown(file) if os.path.isabs(file) else file
        key = self.sink.site(site.name, site.layer, site.params, name, site.line, site.guard)
        facts = self._sites[site] = _SiteFacts(site, key, file)
        return facts

    def _find(self, stack: _Stack, site: doors.Site, announcer: FrameType, now: int, end: tuple[str, str]) -> bool:
        """Whether the frame that ``announcer`` leaves is open; if so it is the last one afterwards: those above it,
        whose end was missed, are closed with ``end``.
        """
        for index in range(len(stack) - 1, -1, -1):
            open_frame = stack[index]
            if open_frame[2] is announcer and open_frame[1] is site:
                if index + 1 < len(stack):
                    self._drop(stack, index + 1, now, end)
                return True
        return False  # its beginning was missed, or came before the recording

    def _drop(self, stack: _Stack, first: int, now: int, end: tuple[str, str]) -> None:
        """Close what is open from number ``first`` on: it has been left, and nobody was told."""
        while len(stack) > first:
            self.sink.fail(stack[-1][0], now, *end)
            stack.pop()

    def _innermost(self, frame: FrameType) -> int | None:
        """The open frame in which something happens; None also when the beginning of that frame was missed."""
        stack = self._thread.stack
        return stack[-1][0] if stack and not (self._thread.missed and self._is_missed(frame)) else None

    def _is_missed(self, frame: FrameType | None) -> bool:
        """Whether ``frame`` runs in one whose beginning was missed, rather than in the last open one."""
        thread = self._thread
        last = thread.stack[-1][2] if thread.stack else None
        while frame is not None and frame is not last:
            if frame is thread.missed:
                return True
            frame = frame.f_back
        if not reaches(frame, thread.missed):  # type: ignore[arg-type]
            thread.missed = None
        return False

    # autograd

    def _number(self, node: Any) -> tuple[int, bool]:
        """The node's number in this trace, and whether it is new."""
        ticket = node._debug_id
        if not ticket:
            ticket = node._debug_id = next(_tickets)
        number = self._nodes.get(ticket)
        if number is not None:
            return number, False
        number = self._nodes[ticket] = next(self._node_ids)
        return number, True

    def _announce(self, node: Any, created_by: int | None, outputs: tuple[Any, ...] = ()) -> int:
        """The node's number; the sink is told of it, and of those it leads to, when they are new."""
        first, new = self._number(node)
        waiting = [(first, node, created_by)] if new else []
        try:
            self._tell(waiting, node, outputs)
        except RecursionError:
            for _, one, _ in waiting:  # the sink has not heard of them: they are told of when they are met again
                self._nodes.pop(one._debug_id, None)
            raise
        return first

    def _tell(self, waiting: list[tuple[int, Any, int | None]], node: Any, outputs: tuple[Any, ...]) -> None:
        while waiting:
            number, one, by = waiting[-1]
            others: list[tuple[int, Any, int | None]] = []
            edges: list[tuple[int | None, int]] = []
            for after, input_nr in one._next_edges:
                if after is None:
                    edges.append((None, input_nr))
                    continue
                target, new = self._number(after)
                if new:
                    others.append((target, after, None))
                edges.append((target, input_nr))
            variable = getattr(one, "variable", None)
            self.sink.node(
                number,
                one.name(),
                one._sequence_nr_,
                tuple(edges),
                saved_values(one, self.values, outputs if one is node else ()),
                by,
                self.values.number(variable) if isinstance(variable, Tensor) else None,
            )
            waiting[-1:] = others


@functools.cache
def _load() -> None:
    """Have the engine load what it loads once, so that the first call of a program is not charged for it."""
    from engine import torch
    from engine.torchgen import gen_autograd_functions, register, tensor_methods  # noqa: F401

    dir(torch)
    register.register_all()


def _decision(decision: Any) -> dict[str, Any]:
    """The facts of a hop as a sink takes them."""
    return {
        "kind": decision.kind,
        "op": decision.op,
        "keyset": (decision.merged, key_names(decision.merged)),
        "key": decision.key.name,
        "kernel": decision.kernel.name,
        "kernel_debug": decision.debug,
        "reason": decision.reason,
        "arg_keysets": tuple((name, key_names(raw)) for name, raw in decision.args_keysets),
        "tls_include": key_names(decision.tls_included),
        "tls_exclude": key_names(decision.tls_excluded),
        "fallthrough": tuple(key.name for key in decision.fallthrough),
    }


def error_name(error: BaseException) -> str:
    """The exception's class, C++'s under their C++ name."""
    kind = type(error)
    return f"c10::{kind.__name__}" if issubclass(kind, Error) else kind.__name__


def error_text(error: BaseException) -> str:
    """An exception's text, without running code of the program's own exception classes."""
    text = getattr(error, "msg", None)
    if isinstance(text, str):
        return text
    return ", ".join(arg if isinstance(arg, str) else repr(arg) for arg in error.args if _plain(arg))


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | None)


_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class _Several(doors.Listener):
    """Several recordings at once: a script that records itself under ``tracer run``, a fixture and an option."""

    def __init__(self, recorders: tuple[EngineRecorder, ...]) -> None:
        self.recorders = recorders


def _to_all(name: str) -> Callable[..., None]:
    def method(self: _Several, *args: Any) -> None:
        for recorder in self.recorders:
            try:
                getattr(recorder, name)(*args)
            except RecursionError:
                continue
            except Exception as error:
                _lose(recorder)
                warnings.warn(
                    f"a recording ended early: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=4
                )

    method.__name__ = name
    return method


for _name in ("enter", "leave", "fail", "detail", "hop", "node", "warn"):
    setattr(_Several, _name, _to_all(_name))


_active: list[EngineRecorder] = []
_detach: Callable[[], None] | None = None


def _listen(recorders: list[EngineRecorder]) -> None:
    """Have exactly these recorders attached."""
    global _detach
    if _detach is not None:
        _detach()
        _detach = None
    _active[:] = recorders
    if len(recorders) == 1:
        recorders[0].depth = _FIXED
        _detach = doors.attach(recorders[0])
    elif recorders:
        for recorder in recorders:
            recorder.depth = _FIXED + 1
        _detach = doors.attach(_Several(tuple(recorders)))


def _lose(recorder: EngineRecorder) -> bool:
    """Stop one recorder; False when it had been lost before."""
    if recorder not in _active or doors.listener is None:
        if recorder in _active:
            _listen([])
        return False
    _listen([other for other in _active if other is not recorder])
    return True


def _in_child() -> None:
    """A forked child is another process: what it does is not part of the parent's trace."""
    _listen([])


os.register_at_fork(after_in_child=_in_child)


class EngineRecording:
    """A recording of the engine under way."""

    def __init__(self, recorder: EngineRecorder) -> None:
        self._recorder = recorder

    @property
    def hops(self) -> int:
        return self._recorder.hops

    @property
    def first_op(self) -> str | None:
        return self._recorder.first_op

    def stop(self) -> bool:
        return _lose(self._recorder)


class EngineTarget:
    """The numpy model of PyTorch that comes with the tracer."""

    name = "engine"

    def prepare(self, reference: str | None) -> Callable[[], None]:
        import engine
        from engine.importer import install_torch

        if reference is not None:
            engine.reference(reference)
        undo: Callable[[], None] = install_torch()
        return undo

    def facts(self) -> Mapping[str, Any]:
        import engine

        return {"reference": engine.reference()}

    def record(self, sink: Sink) -> Recorder:
        recorder = EngineRecorder(sink)
        _listen([*_active, recorder])
        return EngineRecording(recorder)
