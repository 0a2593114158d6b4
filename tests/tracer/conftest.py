"""Running the command line, and python itself to compare it with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracer.running import Run, environment


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """``python ARGS`` in a folder of its own."""

    def run(*args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *args],
            cwd=tmp_path,
            env=environment(**env),
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def tracer(python: Run) -> Run:
    """``python -m tracer ARGS`` there."""
    return lambda *args, **more: python("-m", "tracer", *args, **more)
