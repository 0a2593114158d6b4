"""Imports go one way: tracer -> {engine, traces}; neither of the two knows the others; c10 knows nothing but itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "tracer", "traces", "tests")

FORBIDDEN = {
    "engine": ("tracer", "traces", "tests"),
    "traces": ("tracer", "engine", "tests"),
    "tracer": ("tests",),
    "engine/c10": ("engine.aten", "engine.torch", "engine.torchgen"),
}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, at its top or anywhere in it, with the line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            assert node.module is not None
            yield node.lineno, node.module
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def sources(room: str) -> list[Path]:
    return [path for path in sorted((ROOT / room).rglob("*.py")) if "gallery" not in path.relative_to(ROOT).parts]


@pytest.mark.parametrize("room", FORBIDDEN)
def test_imports_go_one_way(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: imports {name}"
        for path in sources(room)
        for line, name in imports(path)
        for other in FORBIDDEN[room]
        if name == other or name.startswith(other + ".")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", ["engine", "traces", "tracer"])
def test_nothing_imports_the_real_pytorch(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: imports {name}"
        for path in sources(room)
        for line, name in imports(path)
        if name.partition(".")[0] in ("torch", "torchgen") and "spawned" not in path.parts  # there `torch` is ours
    ]
    assert not wrong, "\n".join(wrong)


def test_the_walk_sees_the_files() -> None:
    for room in ("engine", "tracer", "traces"):
        assert len(sources(room)) > 3
