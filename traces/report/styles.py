"""Plain text out of styled lines, and the colours of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

__all__ = ["STYLES", "Lines", "Part", "cut", "duration", "plain"]

Part = tuple[str, str]  # text, name of a style ("" for none)

STYLES = {
    "args": "none",
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
    "reason": "green",
    "title": "bold",
}


def plain(line: list[Part]) -> str:
    """The text of a line."""
    return "".join(text for text, _ in line).rstrip()


class Lines:
    """A rich renderable of many lines, made while they are printed. One too wide has its arguments cut first, then its
    result, then its end; with ``wrap`` it goes on below, indented.
    """

    def __init__(self, make: Callable[[], Iterator[list[Part]]], wrap: bool = False) -> None:
        self.make = make
        self.wrap = wrap

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        styles = {name: Style.parse(style) for name, style in STYLES.items()}
        newline = Segment.line()
        width = options.max_width
        for line in self.make():
            text = Text(end="")
            for part, style in line if self.wrap else _shrunk(line, width):
                text.append(part, styles.get(style))
            if not self.wrap:
                text.truncate(width, overflow="ellipsis")
            text.expand_tabs(8)
            for piece in _wrapped(text, console, width) if self.wrap else [text]:
                yield from piece.render(console)
                yield newline


def _shrunk(line: list[Part], width: int) -> list[Part]:
    """The line with its arguments, then its result, cut so far that it fits; a stump of them stays."""
    over = cell_len(plain(line)) - width
    for kind in ("args", "error", "result"):
        for place, (text, style) in enumerate(line):
            if over > 0 and style == kind:
                end = ")" if kind == "args" else ""
                kept = cut(text.removesuffix(end), max(4, len(text) - over - len(end))) + end
                line = [*line[:place], (kept, style), *line[place + 1 :]]
                over -= len(text) - len(kept)
    return line


def _wrapped(text: Text, console: Console, width: int) -> Iterator[Text]:
    """The text broken between words; what goes on below the first line is indented."""
    indent = len(text.plain) - len(text.plain.lstrip()) + 2
    indent = min(max(indent, 6), width // 2)
    first = text.wrap(console, width, overflow="fold")[0]
    yield first
    rest = text[len(first.plain.rstrip()) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    if rest.plain:
        for piece in rest.wrap(console, width - indent, overflow="fold"):
            piece.pad_left(indent)
            yield piece


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
