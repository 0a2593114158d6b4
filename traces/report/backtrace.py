"""A backtrace, as gdb prints one."""

from __future__ import annotations

from collections.abc import Iterator

from traces.passes.backtrace import Backtrace, Entry
from traces.report.styles import Lines, Part, cut, plain
from traces.values import text

__all__ = ["lines", "render"]

NOTES = {"hop": "note", "guard": "key", "signature": "op", "error": "error", "open": "error"}


def _styled(bt: Backtrace) -> Iterator[list[Part]]:
    for entry in bt.entries:
        yield _head(entry)
        for note in entry.notes:
            yield [("      ", ""), (note.text.replace("\n", "\\n"), NOTES.get(note.kind, "dim"))]
        if entry.source is not None:
            yield [(f"      {entry.line}\t", "dim"), (entry.source, "source")]


def _head(entry: Entry) -> list[Part]:
    args = ", ".join(f"{name}={cut(text(value), 80)}" if name else cut(text(value), 80) for name, value in entry.args)
    where = entry.file + (f":{entry.line}" if entry.file and entry.line is not None else "")
    line: list[Part] = [(f"#{entry.number:<3}", "dim"), (entry.name, "python" if entry.python else "name")]
    line.append((f" ({args})", ""))
    if where:
        line += [(" at ", "dim"), (where, "python" if entry.python else "")]
    return line


def lines(bt: Backtrace) -> Iterator[str]:
    """The text, line by line."""
    return map(plain, _styled(bt))


def render(bt: Backtrace) -> Lines:
    """For a rich console; long lines wrap as on a plain terminal."""
    return Lines(lambda: _styled(bt), wrap=True)
