"""The debugger: targets, recording, commands, the command line, the pytest plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracer.record import Recording, record

if TYPE_CHECKING:
    from traces import Trace

__all__ = ["Recording", "Trace", "record"]


def __getattr__(name: str) -> Any:
    if name == "Trace":
        from traces import Trace

        return Trace
    raise AttributeError(f"module 'tracer' has no attribute {name!r}")
