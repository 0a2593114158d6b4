"""The saved trace: its records, its file, its graphs and reports. Knows neither the engine nor torch."""

from traces.errors import PredicateError, TraceError
from traces.io import Sink, TraceBuilder, Writer, dumps, load, loads, save
from traces.model import Edge, Frame, Hop, KeySet, Node, PyFrame, Site, WarningRecord
from traces.trace import Trace

__all__ = [
    "Edge",
    "Frame",
    "Hop",
    "KeySet",
    "Node",
    "PredicateError",
    "PyFrame",
    "Sink",
    "Site",
    "Trace",
    "TraceBuilder",
    "TraceError",
    "WarningRecord",
    "Writer",
    "dumps",
    "load",
    "loads",
    "save",
]
