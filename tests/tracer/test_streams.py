"""Output that cannot go where it should: closed or full streams, encodings that lack characters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracer.running import Run, environment
from traces import TraceBuilder, graph, load

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")

COMMANDS = ("show s.trace", "--version", "--help", "bt --help", "graph s.trace calls", "why s.trace --color always")


@pytest.fixture
def surrogates(tmp_path: Path) -> Path:
    """A trace with lone surrogates wherever a name or a text may stand."""
    sink = TraceBuilder({"script": "s\udcff.py", "time": "2026-01-01T00:00:00Z"})
    site = sink.site("na\ud800me", "native", ("\ud801",), "fi\ud802le", 3, "gu\ud803ard")
    sink.begin(0, None, 1, site, ["\ud804", {"repr": "\ud805"}], 10, python=[("\ud806.py", 1, "\ud807")])
    facts = {"kind": "call", "op": "my::\ud808", "key": "CPU", "kernel": "\ud809", "kernel_debug": "\ud80a"}
    sink.hop(0, 0, keyset=(1, ("CPU",)), **facts)  # type: ignore[arg-type]
    sink.detail(0, "\ud80b", "\ud80c")
    sink.fail(0, 20, "E\ud80d", "\ud80e")
    sink.node(0, "\ud80f", 1, (), {"\ud810": 1}, 0)
    sink.warning("W", "\ud811", 0)
    sink.close(1, ("E", "\ud812"))
    path = tmp_path / "s.trace"
    sink.trace.save(path)
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_lone_surrogates_are_escaped(tracer: Run, surrogates: Path, encoding: str) -> None:
    for command in ("show", "bt", "why", "show --format dispatch", "show --format json", "show --format summary"):
        for color in ([], ["--color", "always"]):
            if color and "format" in command:
                continue
            words = command.split()
            got = tracer(words[0], "s.trace", *words[1:], *color, PYTHONIOENCODING=encoding)
            assert (got.returncode, got.stderr) == (0, ""), command
            assert "\\u" in got.stdout
            if "json" in command:
                assert json.loads(got.stdout)["kernel"] == "\ud809"


@pytest.mark.parametrize("ending", ["json", "graphml", "dot", "mmd", "svg", "html"])
def test_graphs_with_lone_surrogates(surrogates: Path, ending: str) -> None:
    trace = load(surrogates)
    for made in (graph.call_graph(trace), graph.autograd_graph(trace)):
        graph.save(made, surrogates.with_name(f"g.{ending}"))


def test_an_encoding_without_the_guides(tracer: Run) -> None:
    run = tracer("run", "-c", "import torch; torch.ones(2)", PYTHONIOENCODING="ascii")
    assert "look: tracer show command.trace | tracer bt" in run.stderr
    shown = tracer("show", "command.trace", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert shown.stdout.isascii()
    assert "   `- [call] aten::fill_.Scalar -> " in shown.stdout
    assert "\\u" not in shown.stdout


def shell(folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m tracer {words}"],
        cwd=folder, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_stdout_closed_or_full(surrogates: Path, command: str) -> None:
    for redirection, why in ((">&-", "stdout is closed"), (">/dev/full", "No space left on device")):
        got = shell(surrogates.parent, f"{command} {redirection}")
        assert (got.returncode, got.stderr) == (2, f"tracer: cannot write the output: {why}\n")


def test_talk_never_goes_to_stdout(surrogates: Path) -> None:
    for redirection in ("2>&-", "2>/dev/full"):
        assert shell(surrogates.parent, f"show nosuch {redirection}").stdout == ""
        assert shell(surrogates.parent, redirection).stdout == ""
        got = shell(surrogates.parent, f"run -c 'print(1)' {redirection}")
        assert (got.returncode, got.stdout) == (0, "1\n")
        assert shell(surrogates.parent, f"show s.trace {redirection}").stdout.startswith("\\ud806.py:1")
