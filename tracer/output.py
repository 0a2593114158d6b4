"""How results reach stdout: laid out and coloured on a terminal, plain lines into pipes and under NO_COLOR."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TextIO

from tracer.errors import REPLACEMENTS, TracerError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["add_color", "drop", "emit", "emit_lines", "is_utf8", "stdout"]


def add_color(parser: argparse.ArgumentParser) -> None:
    """The option ``--color`` of commands whose output can be coloured."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours: auto is on a terminal unless NO_COLOR is set; always suits `| less -R`",
    )


def emit(color: str, render: Callable[[], RenderableType], lines: Callable[[], Iterable[str]]) -> None:
    """Print a result: ``render()`` on a terminal and where colours are wanted, else ``lines()``."""
    coloured = _coloured(color)
    if not coloured and not stdout().isatty():
        emit_lines(lines())
        return
    from rich.console import Console

    stdout()
    console = Console(
        force_terminal=True if color == "always" else None,
        color_system="auto" if coloured else None,
        no_color=False,
        highlight=False,
    )
    console.print(render(), soft_wrap=False)


def emit_lines(lines: Iterable[str]) -> None:
    """Print plain lines, many at a time."""
    write = stdout().write
    for line in lines:
        write(line + "\n")


def stdout() -> TextIO:
    """stdout, able to take any text; TracerError when it is closed."""
    if sys.stdout is None:
        raise TracerError("cannot write the output: stdout is closed")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors != REPLACEMENTS:
        sys.stdout.reconfigure(errors=REPLACEMENTS)
    return sys.stdout


def is_utf8() -> bool:
    """Whether stdout takes every character as it is."""
    return (getattr(stdout(), "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"


def drop() -> None:
    """What is still buffered for stdout goes nowhere, so that the interpreter's last flush has nothing to say."""
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)


def _coloured(color: str) -> bool:
    if color != "auto":
        return color == "always"
    return stdout().isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
