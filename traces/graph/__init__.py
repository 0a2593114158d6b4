"""The call graph and the autograd graph of a trace, and their files."""

from traces.graph.build import autograd_graph, call_graph
from traces.graph.files import formats, load, save

__all__ = ["autograd_graph", "call_graph", "formats", "load", "save"]
