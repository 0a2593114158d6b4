"""The engine against the released PyTorch: dispatch text, key sets and C++ frames of the snippets in tests/truth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import traces
from tracer import cli
from traces.model import Hop

TRUTH = Path(__file__).parent / "truth"
SNIPPETS = sorted(path.stem for path in TRUTH.glob("*.py"))


@pytest.fixture(scope="module", params=SNIPPETS)
def traced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, traces.Trace, Path]:
    out = tmp_path_factory.mktemp("truth") / f"{request.param}.trace"
    subprocess.run(
        [sys.executable, "-m", "tracer", "run", "-o", str(out), str(TRUTH / f"{request.param}.py")],
        check=True,
        capture_output=True,
        text=True,
    )
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
