"""The explanation of a hop: words first, then the table."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from traces.passes.why import Explanation

__all__ = ["lines", "render"]


def lines(explanation: Explanation) -> Iterator[str]:
    """Plain text."""
    yield explanation.title
    yield ""
    for words in explanation.words:
        yield f"  {words}"
    yield ""
    width = max(len(name) for name, _ in explanation.table)
    for name, value in explanation.table:
        yield f"  {name:<{width}}  {value}"


def render(explanation: Explanation) -> RenderableType:
    """For a rich console."""
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in explanation.table:
        table.add_row(name, Text(value, style="bold yellow" if name == "dispatched to" else ""))
    words = [Padding(Text(words), (0, 0, 0, 2)) for words in explanation.words]
    return Group(Text(explanation.title, style="bold"), Text(), *words, Text(), table)
