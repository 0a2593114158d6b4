"""Plain text out of styled lines, and the colours of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

__all__ = ["STYLES", "Lines", "Part", "cut", "duration", "plain"]

Part = tuple[str, str]  # text, name of a style ("" for none)

STYLES = {
    "guide": "dim",
    "name": "bold cyan",
    "op": "bold green",
    "key": "bold yellow",
    "dim": "dim",
    "python": "magenta",
    "source": "italic",
    "result": "blue",
    "error": "bold red",
    "note": "dim cyan",
}


def plain(line: list[Part]) -> str:
    """The text of a line."""
    return "".join(text for text, _ in line).rstrip()


class Lines:
    """A rich renderable of many lines, made while they are printed. One too wide is cut, or with ``wrap`` folded."""

    def __init__(self, make: Callable[[], Iterator[list[Part]]], wrap: bool = False) -> None:
        self.make = make
        self.wrap = wrap

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        styles = {name: Style.parse(style) for name, style in STYLES.items()}
        newline = Segment.line()
        width = options.max_width
        for line in self.make():
            text = Text(end="")
            for part, style in line:
                text.append(part, styles.get(style))
            if not self.wrap:
                text.truncate(width, overflow="ellipsis")
            text.expand_tabs(8)
            for piece in text.wrap(console, width, overflow="fold", tab_size=8) if self.wrap else [text]:
                yield from piece.render(console)
                yield newline


def cut(text: str, width: int = 60) -> str:
    """A text of at most ``width`` characters, on one line."""
    text = text.replace("\n", "\\n").replace("\r", "\\r")
    return text if len(text) <= width else text[: width - 1] + "…"


def duration(nanoseconds: int | None) -> str:
    """``12.3 µs``."""
    if nanoseconds is None:
        return ""
    value = float(nanoseconds)
    for unit in ("ns", "µs", "ms"):
        if abs(value) < 999.5:
            return f"{value:.0f} {unit}" if unit == "ns" or abs(value) >= 99.5 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.2f} s"
