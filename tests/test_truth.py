"""The engine against the released PyTorch: dispatch text, key sets and C++ frames of the snippets in tests/truth."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import traces
from tracer import cli
from traces.model import Hop

TRUTH = Path(__file__).parent / "truth"
SNIPPETS = sorted(path.stem for path in TRUTH.glob("*.py"))


# one process loads the engine and forks for every snippet
RUN_ALL = """
import os, sys
from engine import torch
from tracer import cli
torch.ones  # loads all names
folder, *scripts = sys.argv[1:]
for script in scripts:
    name = os.path.splitext(os.path.basename(script))[0]
    child = os.fork()
    if not child:
        status = 1
        try:
            status = cli.main(["run", "-o", os.path.join(folder, name + ".trace"), script])
        except SystemExit as end:
            status = end.code or 0
        finally:
            sys.stdout.flush()
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        print(name, "failed", file=sys.stderr)
"""


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where the traces are, and what the runs said on stderr."""
    made = tmp_path_factory.mktemp("truth")
    scripts = [str(TRUTH / f"{name}.py") for name in SNIPPETS]
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, str(made), *scripts],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(TRUTH.parents[1])},
    )
    return made, done.stderr


@pytest.fixture(scope="module", params=SNIPPETS)
def traced(request: pytest.FixtureRequest, ran: tuple[Path, str]) -> tuple[str, traces.Trace, Path]:
    folder, said = ran
    assert f"{request.param} failed" not in said.splitlines(), said
    out = folder / f"{request.param}.trace"
    return request.param, traces.load(out), out


def read_frames(name: str) -> list[tuple[list[str], str, str, str, int | None]]:
    """(frames outermost first, kind, op, key, raw key set) per call of the truth."""
    calls = []
    previous: list[str] = []
    for line in (TRUTH / f"{name}.frames").read_text().splitlines():
        shared, new, fact = line.split("|")
        chain = previous[: int(shared)] + new.split(" > ")
        kind, op, key, *raw = fact.split()
        calls.append((chain, kind, op, key, int(raw[0], 16) if raw else None))
        previous = chain
    return calls


def shown(trace: traces.Trace) -> list[Hop]:
    return [hop for hop in trace.hops if hop.kind in ("call", "redispatch")]


def test_dispatch_text(traced: tuple[str, traces.Trace, Path], capsys: pytest.CaptureFixture[str]) -> None:
    name, _, out = traced
    assert cli.main(["show", "--format", "dispatch", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == (TRUTH / f"{name}.dispatch").read_text().splitlines()


def test_key_sets_of_redispatches(traced: tuple[str, traces.Trace, Path]) -> None:
    name, trace, _ = traced
    theirs = [(kind, op, key, raw) for _, kind, op, key, raw in read_frames(name)]
    ours = [(hop.kind, hop.op, hop.key, hop.keyset.raw if hop.kind == "redispatch" else None) for hop in shown(trace)]
    assert ours == theirs


def test_frames(traced: tuple[str, traces.Trace, Path]) -> None:
    """gdb's frames of every call occur in ours, in order; ours has the inlined ones besides."""
    name, trace, _ = traced
    missing = []
    for hop, (chain, kind, op, *_) in zip(shown(trace), read_frames(name), strict=True):
        ours = [frame.site.name for frame in reversed(trace.ancestors(hop.frame))]
        rest = iter(ours)
        lost = [frame for frame in chain if frame not in rest]
        if lost:
            missing.append(f"{kind} {op}: {lost[0]} not in order in {' > '.join(ours)}")
    assert not missing, "\n".join(missing)
