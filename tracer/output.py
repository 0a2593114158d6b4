"""How results reach stdout: laid out and coloured on a terminal, plain lines into pipes and under NO_COLOR."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["add_color", "emit", "emit_lines"]


def add_color(parser: argparse.ArgumentParser) -> None:
    """The option ``--color`` of commands whose output can be coloured."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours: auto is on a terminal unless NO_COLOR is set; always suits `| less -R`",
    )


def emit(color: str, render: Callable[[], RenderableType], lines: Callable[[], Iterable[str]]) -> None:
    """Print a result: ``render()`` where colours are wanted, else ``lines()``."""
    if not _coloured(color):
        emit_lines(lines())
        return
    from rich.console import Console

    console = Console(force_terminal=True if color == "always" else None, no_color=False, highlight=False)
    console.print(render(), soft_wrap=False)


def emit_lines(lines: Iterable[str]) -> None:
    """Print plain lines, many at a time."""
    write = sys.stdout.write
    for line in lines:
        write(line + "\n")


def _coloured(color: str) -> bool:
    if color != "auto":
        return color == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
