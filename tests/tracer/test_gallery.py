"""The gallery: its scripts, run again, print what they printed and leave the traces that lie beside them.

``pytest tests/tracer/test_gallery.py --accept`` writes the traces and outputs anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tracer.running import ROOT, environment
from traces import Trace, load

GALLERY = ROOT / "traces" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))


def essence(trace: Trace) -> list[Any]:
    """What must stay: all but times, versions, and the lines of the engine's own files, which move with every edit."""
    frames = [
        (
            frame.id,
            frame.parent,
            frame.thread,
            (frame.site.name, frame.site.layer, frame.site.params, frame.site.guard),
            frame.args,
            frame.result,
            frame.error,
            frame.python,
            dict(frame.details),
            frame.end_ns is None,
        )
        for frame in trace.frames
    ]
    header = {key: trace.header.get(key) for key in ("target", "reference", "script", "argv")}
    end = (trace.truncated, trace.exit_status, trace.error)
    return [header, *frames, *trace.hops, *trace.nodes, *trace.warnings, end]


def test_there_are_scripts() -> None:
    assert {"rand", "autograd"} <= {path.stem for path in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_gallery(script: Path, tmp_path: Path, accept: bool) -> None:
    saved, printed = script.with_suffix(".trace"), script.with_suffix(".out")
    made = saved if accept else tmp_path / saved.name
    name = script.relative_to(ROOT).as_posix()
    got = subprocess.run(
        [sys.executable, "-m", "tracer", "run", "-o", str(made), name],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    said = re.sub(r"^(trace: .*|Exception raised from .*|frame #.*)\n", "", got.stderr, flags=re.MULTILINE)
    output = f"{(got.stdout + said).rstrip()}\n[exit status {got.returncode}]\n"
    assert "was detached" not in output  # the recorder failed
    if accept:
        printed.write_text(output, encoding="utf-8")
    assert output == printed.read_text(encoding="utf-8")
    for new, old in zip(essence(load(made)), essence(load(saved)), strict=True):
        assert new == old


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_saved_traces_name_no_folder_of_the_machine_they_were_made_on(script: Path) -> None:
    text = script.with_suffix(".trace").read_text(encoding="utf-8")
    assert not re.search(r'"(/|[A-Za-z]:\\)', text)
