"""What can be traced: a target turns what it sees into the calls of a sink (``traces.Sink``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tracer.errors import TracerError, did_you_mean
from traces import Sink

__all__ = ["NAMES", "Recorder", "Target", "find"]

NAMES = ("engine", "torch", "gdb")


class Recorder(Protocol):
    """One recording under way."""

    @property
    def hops(self) -> int:
        """How many hops it has told its sink of."""

    @property
    def first_op(self) -> str | None:
        """The operator of the first of them."""

    def stop(self) -> bool:
        """See no more. False when the recording had ended before, by a failure of its own."""


class Target(Protocol):
    """A way to watch a program."""

    name: str

    def prepare(self, reference: str | None) -> Callable[[], None]:
        """Make ready to run a program in this process, before anything of it is loaded; returns what undoes it."""

    def facts(self) -> Mapping[str, Any]:
        """What the header of a trace says about the target: its reference or version."""

    def record(self, sink: Sink) -> Recorder:
        """Watch from here on."""


def find(name: str) -> Target:
    """The target of that name, or TracerError."""
    if name == "engine":
        from tracer.targets.engine import EngineTarget

        return EngineTarget()
    if name in NAMES:
        raise TracerError(f"the target {name!r} is not built in yet; leave --on out to use the engine")
    raise TracerError(f"unknown target {name!r}{did_you_mean(name, NAMES)}; targets are {', '.join(NAMES)}")
