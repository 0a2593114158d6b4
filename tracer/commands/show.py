"""``tracer show``: what a trace holds, as a tree, as dispatch text or as json."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tracer.cli import positive
from tracer.errors import NoSuchPoint
from tracer.output import add_color, emit, emit_lines, is_utf8
from tracer.reading import read

if TYPE_CHECKING:
    from traces import Trace

__all__ = ["add_parser", "run"]

_EXAMPLES = """\
Examples:
  tracer show rand.trace                       the frames and hops, as a tree
  tracer show rand.trace --depth 2             only two levels of it
  tracer show rand.trace --only 'key=CPU'      only what a predicate selects
  tracer show rand.trace --format dispatch     the text of TORCH_SHOW_DISPATCH_TRACE
  tracer show rand.trace --format json | jq .op
  tracer show rand.trace --format summary      how many of what
"""


def add_parser(sub: Any) -> None:
    """Register the command."""
    parser = sub.add_parser(
        "show", help="print a trace", description="Print a trace.", epilog=_EXAMPLES
    )
    parser.add_argument("file", metavar="FILE", help="a trace (NAME.trace or NAME.trace.gz)")
    parser.add_argument(
        "--format", choices=("tree", "dispatch", "json", "summary"), default="tree", help="tree is the default"
    )
    parser.add_argument("--only", metavar="PRED", help="only what matches, such as 'op=aten::add* and key=CPU'")
    parser.add_argument("--depth", type=positive, metavar="N", help="show N levels of nesting")
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from traces import predicates
    from traces.passes import filter as filters
    from traces.passes import select
    from traces.report import dispatch, summary, tree
    from traces.report import json as as_json

    trace = read(args.file)
    only = None if args.only is None else predicates.parse(args.only)
    if only is not None and next(predicates.select(trace, only), None) is None:
        raise NoSuchPoint(f"{args.file}: {select.nothing(trace, only)}")
    if args.format == "tree":
        emit(
            args.color,
            lambda: tree.render(trace, depth=args.depth, only=only),
            lambda: tree.lines(trace, depth=args.depth, only=only),
        )
        return 0
    if only is not None:
        trace = filters.only(trace, only)
    if args.depth is not None:
        trace = filters.depth(trace, args.depth)
    if args.format == "summary":
        emit(args.color, lambda: summary.render(trace), lambda: summary.lines(trace))
        return 0
    emit_lines(_lines(args.format, trace, dispatch, as_json))
    return 0


def _lines(form: str, trace: Trace, dispatch: Any, as_json: Any) -> Iterable[str]:
    lines: Iterable[str] = dispatch.lines(trace) if form == "dispatch" else as_json.lines(trace, not is_utf8())
    return lines
