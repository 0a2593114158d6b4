"""The trace file, written and read. FORMAT.md (beside this package) describes it."""

from traces.io.format import FORMAT, VERSION
from traces.io.reader import load, loads
from traces.io.save import dumps, save
from traces.io.sink import Sink, TraceBuilder
from traces.io.writer import Writer

__all__ = ["FORMAT", "VERSION", "Sink", "TraceBuilder", "Writer", "dumps", "load", "loads", "save"]
