"""``tracer why``: why a dispatcher step went where it went."""

from __future__ import annotations

import argparse
from typing import Any

from tracer.commands.bt import add_at
from tracer.errors import NoSuchPoint
from tracer.output import add_color, emit
from tracer.reading import read

__all__ = ["add_parser", "run"]

_EXAMPLES = """\
Examples:
  tracer why rand.trace --at aten::rand
  tracer why train.trace --at 'op=aten::mul.Tensor and key=AutogradCPU' --nth 3
"""


def add_parser(sub: Any) -> None:
    """Register the command."""
    parser = sub.add_parser(
        "why",
        help="explain the decision at a hop",
        description="Explain a dispatcher step: the keys of each argument, the thread-local include and exclude sets,\n"
        "the keys passed over, the key that won, its kernel and where that was registered.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="a trace")
    add_at(parser)
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from traces import Frame, TraceError
    from traces.passes import select, why
    from traces.report import why as report

    trace = read(args.file)
    try:
        found = select.point(trace, args.at, args.nth)
    except TraceError as error:
        raise NoSuchPoint(f"{args.file}: {error}") from None
    hop = trace.enclosing_hop(found.id) if isinstance(found, Frame) else found
    if hop is None:
        raise NoSuchPoint(f"{args.file}: no dispatcher step there; --at aten::OP names one")
    explanation = why.why(trace, hop)
    emit(args.color, lambda: report.render(explanation), lambda: report.lines(explanation))
    return 0
