"""``tracer graph``: the call graph or the autograd graph of a trace, printed or saved."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from tracer.output import emit_lines, stdout
from tracer.reading import read

__all__ = ["add_parser", "run", "save_beside"]

KINDS = ("calls", "autograd")

_EXAMPLES = """\
Examples:
  tracer graph train.trace autograd                  node-link json on stdout
  tracer graph train.trace autograd -o autograd.svg  a picture
  tracer graph train.trace calls -o calls.graphml    for other programs
"""


def add_parser(sub: Any) -> None:
    """Register the command."""
    parser = sub.add_parser(
        "graph",
        help="the call graph or the autograd graph",
        description="Make the call graph or the autograd graph of a trace, a networkx graph; json is node-link data.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="a trace")
    parser.add_argument("kind", choices=KINDS, metavar="calls|autograd", type=_kind, help="which graph")
    parser.add_argument("-o", "--output", metavar="FILE", help="FILE.{json,graphml,dot,mmd,svg,png,html}; else stdout")
    parser.add_argument("--instances", action="store_true", help="calls: a node for every call, not one per function")


def _kind(word: str) -> str:
    if word not in KINDS and os.path.exists(word):
        raise argparse.ArgumentTypeError(f"{word!r} is a file; the order is: tracer graph FILE calls|autograd")
    return word


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    import networkx as nx

    from traces import graph

    trace = read(args.file)
    if args.output is None:
        stdout()
    made = graph.call_graph(trace, args.instances) if args.kind == "calls" else graph.autograd_graph(trace)
    if args.output is None:
        emit_lines([json.dumps(nx.node_link_data(made, edges="edges"), indent=1)])
    else:
        graph.save(made, args.output)
    return 0


def save_beside(path: str) -> tuple[str, str]:
    """Save both graphs of the trace at ``path`` beside it; returns their paths."""
    from traces import graph, load

    trace = load(path)
    stem = path
    for suffix in (".gz", ".trace"):
        stem = stem.removesuffix(suffix)
    if os.path.basename(stem) == "":
        stem = path
    calls, autograd = f"{stem}.calls.json", f"{stem}.autograd.json"
    graph.save(graph.call_graph(trace), calls)
    graph.save(graph.autograd_graph(trace), autograd)
    return calls, autograd
