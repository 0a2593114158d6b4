"""How reports are laid out on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from traces.report.styles import Lines, Part


def shown(line: list[Part], width: int, wrap: bool = False) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(Lines(lambda: iter([line]), wrap=wrap))
    return out.getvalue().splitlines()


def test_arguments_are_cut_first() -> None:
    args = f" ({'x=1, ' * 20})"
    line = [("at::ones", "name"), (args, "args"), (" guard G", "key"), (" = $1", "result"), ("  2 ms", "")]
    assert shown(line, 40) == ["at::ones (x=1, x=1,…) guard G = $1  2 ms"]
    assert shown(line, 200)[0].count("x=1") == 20
    assert all(len(text) <= 12 for text in shown(line, 12))


@pytest.mark.parametrize("width", [30, 50, 80])
def test_long_lines_go_on_below_between_words(width: int) -> None:
    words = ["#0", *(f"at::name{i}," for i in range(30))]
    lines = shown([(" ".join(words), "")], width, wrap=True)
    assert all(len(text) <= width for text in lines)
    assert all(text.startswith("      at::") for text in lines[1:])
    assert " ".join(lines).split() == words
