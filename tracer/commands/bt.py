"""``tracer bt``: the backtrace at a hop, as gdb prints one."""

from __future__ import annotations

import argparse
from typing import Any

from tracer.cli import positive
from tracer.errors import NoSuchPoint
from tracer.output import add_color, emit
from tracer.reading import read

__all__ = ["add_at", "add_parser", "run"]

_EXAMPLES = """\
Examples:
  tracer bt rand.trace                                  where the run died, else at the first operator
  tracer bt rand.trace --at aten::rand                  at the first call of an operator
  tracer bt rand.trace --at 'op=aten::add* and key=CPU' at the first hop that a predicate selects
  tracer bt rand.trace --at aten::rand --nth 2          at the second
"""


def add_at(parser: argparse.ArgumentParser) -> None:
    """The options that name a point of a trace."""
    parser.add_argument(
        "--at", metavar="PRED", help="the point: an operator (aten::rand) or a predicate ('op=aten::add* and key=CPU')"
    )
    parser.add_argument("--nth", type=positive, default=1, metavar="N", help="the N-th such point (default 1)")


def add_parser(sub: Any) -> None:
    """Register the command."""
    parser = sub.add_parser(
        "bt",
        help="print the backtrace at a hop",
        description="Print the backtrace at a hop: innermost frame first, the script's line last. Without --at: of a\n"
        "run that died, where it stopped; else at the first operator that was called.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="a trace")
    add_at(parser)
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from traces import TraceError
    from traces.report import backtrace

    trace = read(args.file)
    try:
        bt = trace.bt(args.at, args.nth)
    except TraceError as error:
        raise NoSuchPoint(f"{args.file}: {error}") from None
    emit(args.color, lambda: backtrace.render(bt), lambda: backtrace.lines(bt))
    return 0
