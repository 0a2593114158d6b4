"""The commands that read a trace, and the command line around them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracer.running import Run, environment

SCRIPT = """\
import torch

x = torch.ones(2, 3, requires_grad=True)
y = (x * 2).sum()
y.backward()
torch.rand(3, 4)
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of SCRIPT, made once."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "tracer", "run", "train.py"]
    made = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return folder / "train.trace"


@pytest.fixture
def trace(recorded: Path, tmp_path: Path) -> str:
    """Its name in the working directory of the commands."""
    for path in (recorded, recorded.with_suffix(".py")):
        shutil.copy2(path, tmp_path)
    return recorded.name


RAND = """\
 [call] op=[aten::rand], key=[BackendSelect]
  [redispatch] op=[aten::rand], key=[CPU]
   [call] op=[aten::empty.memory_format], key=[BackendSelect]
    [redispatch] op=[aten::empty.memory_format], key=[CPU]
   [call] op=[aten::uniform_], key=[CPU]
"""


def test_show_dispatch(tracer: Run, trace: str) -> None:
    got = tracer("show", trace, "--format", "dispatch")
    assert (got.returncode, got.stderr) == (0, "")
    assert got.stdout.startswith(" [call] op=[aten::ones], key=[BackendSelect]\n")
    assert got.stdout.endswith(RAND)


def test_show_json_is_one_hop_a_line(tracer: Run, trace: str) -> None:
    dispatch = tracer("show", trace, "--format", "dispatch").stdout.splitlines()
    hops = [json.loads(line) for line in tracer("show", trace, "--format", "json").stdout.splitlines()]
    again = [f"{' ' * (hop['depth'] + 1)}[{hop['kind']}] op=[{hop['op']}], key=[{hop['key']}]" for hop in hops]
    assert again == dispatch


def test_show_tree(tracer: Run, trace: str) -> None:
    got = tracer("show", trace)
    assert (got.returncode, got.stderr) == (0, "")
    for name in ("torch::autograd::THPVariable_rand", "torch::rand", "at::rand", "at::native::rand"):
        assert name in got.stdout
    assert "torch.rand(3, 4)" in got.stdout
    assert "\x1b" not in got.stdout


def test_show_only_and_depth(tracer: Run, trace: str) -> None:
    got = tracer("show", trace, "--format", "dispatch", "--only", "op=aten::uniform_")
    assert "aten::uniform_" in got.stdout and "aten::mul" not in got.stdout
    shallow = tracer("show", trace, "--depth", "1")
    assert len(shallow.stdout.splitlines()) < len(tracer("show", trace).stdout.splitlines()) / 3


def test_show_summary(tracer: Run, trace: str) -> None:
    got = tracer("show", trace, "--format", "summary")
    assert (got.returncode, got.stderr) == (0, "")
    assert "ended with exit status 0" in got.stdout and "aten::mul.Tensor → AutogradCPU" in got.stdout


def test_bt(tracer: Run, trace: str) -> None:
    got = tracer("bt", trace, "--at", "aten::rand")
    assert (got.returncode, got.stderr) == (0, "")
    frames = [line for line in got.stdout.splitlines() if line.startswith("#")]
    names = [line.split()[1] for line in frames]
    assert names[0] == "at::native::rand"
    wanted = [
        "at::_ops::rand::redispatch",
        "at::_ops::rand::call",
        "at::rand",
        "torch::rand",
        "torch::autograd::THPVariable_rand",
        "<module>",
    ]
    rest = iter(names)
    assert all(name in rest for name in wanted)  # in this order
    assert names[-1] == "<module>" and frames[-1].endswith("train.py:6")
    assert "size=[3, 4]" in frames[0]
    assert "at::AutoDispatchBelowADInplaceOrView" in got.stdout
    assert "case 2" in got.stdout


def test_bt_nth(tracer: Run, trace: str) -> None:
    first = tracer("bt", trace, "--at", "aten::mul.Tensor")
    second = tracer("bt", trace, "--at", "aten::mul.Tensor", "--nth", "2")
    assert "train.py:4" in first.stdout and "train.py:5" not in first.stdout
    assert "train.py:5" in second.stdout
    assert "MulBackward0::apply" in second.stdout


def test_why(tracer: Run, trace: str) -> None:
    got = tracer("why", trace, "--at", "op=aten::mul.Tensor and key=AutogradCPU")
    assert (got.returncode, got.stderr) == (0, "")
    for word in ("AutogradCPU", "self", "other", "ADInplaceOrView", "registered at"):
        assert word in got.stdout
    assert tracer("why", trace).returncode == 0


def test_graph(tracer: Run, trace: str, tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    got = tracer("graph", trace, "autograd")
    graph = networkx.node_link_graph(json.loads(got.stdout), edges="edges")
    names = {data.get("name") for _, data in graph.nodes(data=True)}
    assert {"SumBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"} <= names
    for suffix in ("json", "graphml", "dot", "mmd"):
        assert tracer("graph", trace, "calls", "-o", f"calls.{suffix}").returncode == 0
        assert (tmp_path / f"calls.{suffix}").stat().st_size > 100
    wrong = tracer("graph", trace, "calls", "-o", "calls.xyz")
    assert wrong.returncode == 2 and "xyz" in wrong.stderr and "graphml" in wrong.stderr


def test_table(tracer: Run) -> None:
    got = tracer("table", "aten::rand")
    assert (got.returncode, got.stderr) == (0, "")
    assert got.stdout.startswith("aten::rand(SymInt[] size")
    assert "[default backend kernel]" in got.stdout and "BackendSelect" in got.stdout
    dump = tracer("table", "rand", "--format", "dump")
    assert any(line.startswith("CPU: registered at ") for line in dump.stdout.splitlines())


def test_table_of_no_operator(tracer: Run) -> None:
    got = tracer("table", "aten::unifrom_")
    assert got.returncode == 2 and "did you mean 'aten::uniform_'?" in got.stderr
    got = tracer("table", "add")
    assert got.returncode == 2 and "aten::add.Tensor" in got.stderr


COMMANDS = (("show",), ("show", "--format", "json"), ("bt",), ("why",), ("graph", "calls"))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "no such file"),
        (b"", "not a trace"),
        (b"import torch\n", "not a trace"),
        (b"\x7fELF\x00\xff", "not a trace"),
    ],
    ids=["missing", "empty", "script", "binary"],
)
def test_what_is_not_a_trace(
    tracer: Run, tmp_path: Path, command: tuple[str, ...], content: bytes | None, text: str
) -> None:
    if content is not None:
        (tmp_path / "x.trace").write_bytes(content)
    name, *more = command
    got = tracer(name, "x.trace", *more) if more[:1] != ["calls"] else tracer(name, "x.trace", "calls")
    assert got.returncode == 2
    assert got.stdout == ""
    assert got.stderr.count("\n") == 1 and got.stderr.startswith("tracer: x.trace")
    assert text in got.stderr.lower()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("bt", "TRACE", "--at", "aten::nothing"), "aten::nothing"),
        (("bt", "TRACE", "--at", "aten::rand", "--nth", "9"), "9"),
        (("bt", "TRACE", "--nth", "0"), "not a number from 1 on"),
        (("why", "TRACE", "--at", "opp=x"), "opp"),
        (("show", "TRACE", "--only", "key=NoSuchKey and"), ""),
        (("show", "TRACE", "--depth", "-1"), "not a number from 1 on"),
        (("show", "TRACE", "--format", "tre"), "did you mean 'tree'?"),
        (("show", "TRACE", "--fromat", "tree"), "did you mean '--format'?"),
        (("show", "TRACE", "TRACE"), "TRACE"),
        (("show",), "FILE"),
        (("graph", "TRACE", "autogard"), "did you mean 'autograd'?"),
        (("shwo", "TRACE"), "did you mean 'show'?"),
        (("--hepl",), "did you mean '--help'?"),
        (("table", "rand", "--on", "torch"), "not built in yet"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage(tracer: Run, trace: str, args: tuple[str, ...], text: str) -> None:
    got = tracer(*(trace if arg == "TRACE" else arg for arg in args))
    assert got.returncode in (1, 2) if "aten::nothing" in args or "9" in args else got.returncode == 2
    assert text.replace("TRACE", trace) in got.stderr
    assert got.stdout == "" and "Traceback" not in got.stderr


def test_no_command_prints_the_help(tracer: Run) -> None:
    got = tracer()
    assert got.returncode == 2 and "tracer run script.py" in got.stderr


@pytest.mark.parametrize("command", ["run", "show", "bt", "why", "graph", "table"])
def test_every_help_has_an_example(tracer: Run, command: str) -> None:
    got = tracer(command, "--help")
    assert (got.returncode, got.stderr) == (0, "")
    assert f"  tracer {command} " in got.stdout.partition("Examples:\n")[2]


def test_version(tracer: Run) -> None:
    got = tracer("--version")
    assert got.returncode == 0 and got.stdout.startswith("tracer ")


def test_colours_are_for_terminals(tracer: Run, trace: str) -> None:
    for command in (("show", trace), ("bt", trace), ("why", trace), ("table", "rand")):
        assert "\x1b[" not in tracer(*command).stdout
        assert "\x1b[" not in tracer(*command, "--color", "never").stdout
        assert "\x1b[" in tracer(*command, "--color", "always", TERM="xterm-256color").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pty")
@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_on_a_terminal(trace: str, tmp_path: Path, env: dict[str, str], coloured: bool) -> None:
    import pty

    mine, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tracer", "bt", trace],
        cwd=tmp_path,
        env=environment(**{"TERM": "xterm-256color", **env}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(mine, 65536):
                said += chunk
        except OSError:  # the other side is closed
            pass
        os.close(mine)
        assert process.wait(60) == 0
    assert (b"\x1b[" in said) == coloured


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=cwd, env=environment(), capture_output=True, text=True, check=False
    )


def test_a_reader_that_goes_away(trace: str, tmp_path: Path) -> None:
    command = f"for i in 1 2; do {sys.executable} -m tracer show --format json {trace}; done 2>err | head -n 1"
    got = shell(command, tmp_path)
    assert got.stdout.count("\n") == 1
    assert (tmp_path / "err").read_text() == ""


def test_a_closed_stdout(trace: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m tracer show {trace} >/dev/full"
    got = shell(command, tmp_path)
    assert got.returncode == 2
    assert got.stderr.count("\n") == 1 and "No space left" in got.stderr


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("show", "TRACE", "--only", "aten::oens"), 1, "'aten::oens'; did you mean 'aten::"),
        (("bt", "TRACE", "--at", "key=CPUU"), 1, "did you mean key=CPU?"),
        (("bt", "TRACE", "--at", "key=XPU and op=aten::*"), 1, "'key=XPU and op=aten::*'; did you mean key=CPU?"),
        (("table", "aten::ad"), 2, "did you mean 'aten::add'?"),
        (("graph", "calls", "TRACE"), 2, "the order is: tracer graph FILE calls|autograd"),
        (("graph", "TRACE"), 2, "the following arguments are required: calls|autograd"),
    ],
)
def test_what_was_meant(tracer: Run, trace: str, words: tuple[str, ...], status: int, said: str) -> None:
    got = tracer(*[trace if word == "TRACE" else word for word in words])
    assert (got.returncode, got.stdout) == (status, "")
    assert said in got.stderr


def test_the_source_line_of_code_given_with_c(tracer: Run) -> None:
    tracer("run", "-c", "import torch\nx = torch.ones(2)")
    assert tracer("bt", "command.trace").stdout.endswith("<module> () at <string>:2\n      2\tx = torch.ones(2)\n")
