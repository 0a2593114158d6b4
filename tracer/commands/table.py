"""``tracer table``: the computed dispatch table of an operator."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracer.errors import TracerError, did_you_mean
from tracer.output import add_color, emit, emit_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["add_parser", "run"]

_EXAMPLES = """\
Examples:
  tracer table aten::add.Tensor
  tracer table rand                           the namespace aten:: may be left out
  tracer table aten::rand --format dump | grep AutogradCPU
"""


def add_parser(sub: Any) -> None:
    """Register the command."""
    parser = sub.add_parser(
        "table",
        help="the dispatch table of an operator",
        description="Print the computed dispatch table of an operator: for each key its kernel, why it is there and\n"
        "where it was registered. Keys that share a cell share a row, in the order of PyTorch's table.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("op", metavar="OP", help="an operator, with its overload: aten::add.Tensor")
    parser.add_argument("--on", default="engine", metavar="TARGET", help="whose table: engine (default)")
    parser.add_argument(
        "--format", choices=("table", "dump"), default="table", help="dump is torch._C._dispatch_dump_table's text"
    )
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from tracer.targets import base

    base.find(args.on)
    handle = _find(args.op)
    if args.format == "dump":
        emit_lines(handle.entry.dump_computed_table().splitlines())
    else:
        emit(args.color, lambda: _render(handle), lambda: _lines(handle))
    return 0


def _find(name: str) -> Any:
    """The operator of that name, or TracerError with the overloads there are."""
    from engine.aten.core.dispatcher import singleton
    from engine.torchgen.register import register_all

    register_all()
    full = name if "::" in name else f"aten::{name}"
    handle = singleton.find(full)
    if handle is not None:
        return handle
    known = [one.name for one in singleton.operators()]
    overloads = [one for one in known if one.partition(".")[0] == full.partition(".")[0]]
    if overloads:
        raise TracerError(f"no operator {full} in the engine; there is {', '.join(sorted(overloads))}")
    raise TracerError(f"no operator {full} in the engine{did_you_mean(full, known)}")


def _cells(handle: Any) -> Iterator[tuple[list[str], str, str, str]]:
    """(keys, kernel, reason, where registered), a row for each different cell."""
    from engine.aten.core.operator_entry import runtime_keys
    from engine.c10.dispatch_key import toString

    rows: dict[tuple[str, str, str], list[str]] = {}
    for key in runtime_keys:
        cell = handle.entry.cell(key)
        if cell.kernel is not None:
            name = "fallthrough" if cell.kernel.is_fallthrough else cell.kernel.name
            rows.setdefault((name, cell.reason, cell.debug), []).append(toString(key))
    for (name, reason, debug), keys in rows.items():
        yield keys, name, f"[{reason}]", debug


def _lines(handle: Any) -> Iterator[str]:
    yield str(handle.schema)
    for keys, name, reason, debug in _cells(handle):
        yield ""
        yield f"{name}  {reason}"
        yield f"  {debug}"
        yield f"  {', '.join(keys)}"


def _render(handle: Any) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from traces.report.styles import Lines, Part

    def line(*parts: Part) -> Lines:
        return Lines(lambda: iter([list(parts)]), wrap=True)

    rows: list[RenderableType] = [line((str(handle.schema), "title"))]
    for keys, name, reason, debug in _cells(handle):
        rows += [Text(), line((name, "dim" if name == "fallthrough" else "name"), (f"  {reason}", "reason"))]
        rows.append(Padding(Text(debug, style="dim"), (0, 0, 0, 2)))
        rows.append(Padding(Text(", ".join(keys)), (0, 0, 0, 2)))
    return Group(*rows)
