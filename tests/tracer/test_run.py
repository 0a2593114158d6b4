"""``tracer run`` runs a program as python does, and leaves a trace that loads however the program ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.tracer.running import Run, environment
from traces import load

FACTS = """
import sys
print(__name__, __file__, __package__, __spec__ and __spec__.name, __doc__, type(__loader__).__name__)
print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
print(sorted(name for name in globals()))
import os; print(os.getcwd())
"""

HINT = re.compile(r"^trace: .*\n", re.MULTILINE)


def same(tracer: Run, python: Run, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Both run the program; what can be seen of it is the same, but for our own line on stderr."""
    expected = python(*args, stdin=stdin)
    got = tracer("run", *args, stdin=stdin)
    assert got.stdout == expected.stdout
    said = re.sub(r'  File "<frozen runpy>", .*\n', "", expected.stderr)
    assert HINT.sub("", got.stderr) == said
    assert got.returncode == expected.returncode
    return got


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text('"""Doc."""\n' + FACTS)
    return path


def test_a_script(tracer: Run, python: Run, script: Path, tmp_path: Path) -> None:
    got = same(tracer, python, "script.py", "--help", "-o", "x", "--", "-m")
    assert got.stderr == "trace: script.trace  (0 hops)  look: tracer show script.trace\n"
    trace = load(tmp_path / "script.trace")
    assert (trace.exit_status, trace.truncated, trace.error) == (0, False, None)
    assert trace.header["target"] == "engine"
    assert trace.header["script"] == "script.py"
    assert trace.header["argv"] == ["script.py", "--help", "-o", "x", "--", "-m"]


def test_a_script_elsewhere(tracer: Run, python: Run, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "other.py").write_text(FACTS + "\nimport neighbour\n")
    (folder / "neighbour.py").write_text("print('neighbour', __name__)\n")
    same(tracer, python, "folder/other.py")
    assert (tmp_path / "other.trace").exists()


def test_a_module(tracer: Run, python: Run, script: Path) -> None:
    same(tracer, python, "-m", "script", "-o", "value")


def test_a_package(tracer: Run, python: Run, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("print('init')\n")
    (package / "__main__.py").write_text(FACTS + "\nfrom . import part\n")
    (package / "part.py").write_text("print(__name__)\n")
    same(tracer, python, "-m", "package")
    same(tracer, python, "-m", "package.part", "x")


def test_a_folder_and_a_zip(tracer: Run, python: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__main__.py").write_text(FACTS)
    same(tracer, python, "folder", "x")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", FACTS)
    same(tracer, python, "app.zip", "x")


def test_code(tracer: Run, python: Run, tmp_path: Path) -> None:
    same(tracer, python, "-c", "import sys; print(sys.argv, repr(sys.path[0]), sorted(globals()))", "-x", "y")
    assert (tmp_path / "command.trace").exists()


def test_standard_input(tracer: Run, python: Run, tmp_path: Path) -> None:
    same(tracer, python, "-c", "print(input(), input())", stdin="1\n2\n")
    same(tracer, python, "-", "x", stdin="import sys; print(sys.argv, sorted(globals()))")
    assert (tmp_path / "stdin.trace").exists()


def test_a_program_that_never_began_leaves_nothing(tracer: Run, python: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import torch\ndef f(:\n")
    (tmp_path / "bad.trace").write_text('{"format":"an earlier one"}')
    for words in (["bad.py"], ["-c", "def f(:"], ["-m", "nosuch"], ["-m", "json.nosuch"]):
        got = tracer("run", *words)
        assert "trace:" not in got.stderr
        if words[0] != "-m":
            assert (got.returncode, got.stderr) == (1, python(*words).stderr)
        else:
            assert (got.returncode, got.stderr) == (2, f"tracer run: no module named {words[1]}\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.py", "bad.trace"]
    assert (tmp_path / "bad.trace").read_text() == '{"format":"an earlier one"}'


def test_the_hint_says_what_helps(tracer: Run, tmp_path: Path) -> None:
    got = tracer("run", "-c", "import torch; torch.ones(2)[5]")
    assert "tracer bt command.trace (where it stopped)" in got.stderr
    assert "tracer bt command.trace --at aten::ones" in tracer("run", "-c", "import torch; torch.ones(2)").stderr
    tracer("run", "-c", "import sys; sys.exit('that was all')")
    assert load(tmp_path / "command.trace").error == ("SystemExit", "that was all")


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    1 / 0\nf()",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('x') from error",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('x')",
        "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('text')",
        "import sys; sys.exit(None)",
        "import sys; sys.exit(256 + 7)",
        "raise SystemExit((1, 2))",
        "import os; os._exit(4)",
        "raise KeyboardInterrupt",
        "import sys\nsys.excepthook = lambda *a: print(a[0], a[2].tb_frame.f_code.co_name, a[2].tb_next)\n1 / 0",
        "import atexit; atexit.register(print, 'bye'); print('hello')",
        "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('b'))).start()\nprint('a')",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T'); t.start(); t.join()",
        "import sys; sys.stdout.write('no newline'); sys.stderr.write('told\\n')",
        "import warnings; warnings.warn('careful')",
    ],
)
def test_every_end(tracer: Run, python: Run, tmp_path: Path, code: str) -> None:
    (tmp_path / "end.py").write_text(code + "\n")
    got = same(tracer, python, "end.py")
    trace = load(tmp_path / "end.trace")
    if "_exit" in code:
        assert trace.truncated
        assert "trace:" not in got.stderr
    else:
        assert not trace.truncated
        assert trace.exit_status == (130 if got.returncode < 0 else got.returncode)
        assert "trace: end.trace  (0 hops)" in got.stderr


def test_the_uncaught_exception_is_in_the_trace(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("raise ValueError('so it ends')")
    assert tracer("run", "dies.py").returncode == 1
    assert load(tmp_path / "dies.trace").error == ("ValueError", "so it ends")


TRAIN = "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n"
TENSORS = "import torch\nfor _ in range(2):\n    torch.rand(2, 3)\n"


def test_hops_are_recorded(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "rand.py").write_text(TENSORS)
    got = tracer("run", "-o", "named.trace.gz", "rand.py")
    assert got.returncode == 0, got.stderr
    trace = load(tmp_path / "named.trace.gz")
    assert trace.path("aten::rand") == ["BackendSelect", "CPU"]
    assert f"trace: named.trace.gz  ({len(trace.hops)} hops)" in got.stderr
    assert "tracer bt named.trace.gz --at aten::rand" in got.stderr
    first = trace.frames[0]
    assert first.parent is None
    assert [(entry.file, entry.line, entry.function) for entry in first.python] == [("rand.py", 3, "<module>")]


@pytest.mark.parametrize(
    "end",
    [
        "raise ValueError(1)",
        "import sys; sys.exit(3)",
        "import os; os._exit(4)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import os; os.abort()",
    ],
)
def test_whatever_kills_the_program_the_trace_says_how_far_it_came(tracer: Run, tmp_path: Path, end: str) -> None:
    (tmp_path / "dies.py").write_text(TENSORS + end)
    got = tracer("run", "dies.py")
    assert got.returncode != 0
    trace = load(tmp_path / "dies.trace")
    assert trace.truncated == ("os." in end)
    assert len([hop for hop in trace.hops if hop.op == "aten::rand" and hop.kind == "call"]) == 2
    shown = tracer("show", "--format", "dispatch", "dies.trace")
    assert shown.returncode == 0
    assert shown.stdout.count("[call] op=[aten::rand], key=[BackendSelect]") == 2


def test_killed_in_the_middle_of_a_call(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text(
        "import torch, os\nx = torch.ones(2, requires_grad=True)\n"
        "x.register_hook(lambda grad: os._exit(5))\n(x * 2).sum().backward()\n"
    )
    assert tracer("run", "dies.py").returncode == 5
    trace = load(tmp_path / "dies.trace")
    assert trace.truncated
    assert f"dies.trace breaks off, {len([f for f in trace.frames if f.end_ns is None])} frames deep in a call" in (
        tracer("bt", "dies.trace").stderr
    )
    still_open = [frame.site.name for frame in trace.frames if frame.end_ns is None]
    assert "torch::autograd::Engine::thread_main" in still_open


def test_tracebacks_are_the_users_own(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("import torch\n\ndef make():\n    return torch.rand('a')\n\nmake()\n")
    got = tracer("run", "wrong.py")
    assert got.returncode == 1
    files = re.findall(r'File "([^"]*)", line (\d+), in (\S+)', got.stderr)
    assert files == [(str(tmp_path / "wrong.py"), "6", "<module>"), (str(tmp_path / "wrong.py"), "4", "make")]
    assert "TypeError: rand(): argument 'size'" in got.stderr
    whole = tracer("run", "--full-traceback", "wrong.py")
    assert "engine" in whole.stderr and "runner.py" in whole.stderr


def test_a_hook_between_engine_frames_stays_in_the_traceback(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import torch\nx = torch.ones(2, requires_grad=True)\ndef hook(grad):\n    1 / 0\n"
        "x.register_hook(hook)\nx.sum().backward()\n"
    )
    got = tracer("run", "hook.py")
    assert re.findall(r'File "[^"]*?([^"/]*)", line (\d+), in (\S+)', got.stderr) == [
        ("hook.py", "6", "<module>"),
        ("hook.py", "4", "hook"),
    ]


def test_threads_and_atexit_are_part_of_the_program(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(
        "import atexit, threading, time, torch\natexit.register(lambda: torch.zeros(1))\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), torch.ones(1))).start()\n"
    )
    assert tracer("run", "late.py").returncode == 0
    trace = load(tmp_path / "late.trace")
    calls = [(hop.op, trace.frame(hop.frame).thread) for hop in trace.hops if trace.depth(hop.id) == 0]
    assert calls == [("aten::ones", 1), ("aten::zeros", 2)]


def test_a_script_that_records_itself(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import torch, tracer\ntorch.ones(1)\nwith tracer.record() as trace:\n    torch.zeros(1)\n"
        "print([hop.op for hop in trace.hops if hop.kind == 'call'])\n"
    )
    got = tracer("run", "own.py")
    assert got.stdout.startswith("['aten::zeros'")
    ops = {hop.op for hop in load(tmp_path / "own.trace").hops}
    assert {"aten::ones", "aten::zeros"} <= ops


def test_only(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text("import torch\ntorch.zeros(2)\ntorch.ones(2)\n")
    assert tracer("run", "--only", "op=aten::fill_*", "two.py").returncode == 0
    trace = load(tmp_path / "two.trace")
    assert {hop.op for hop in trace.hops} == {"aten::fill_.Scalar"}
    names = {frame.site.name for frame in trace.frames}
    assert "at::_ops::ones::call" in names and "at::_ops::zeros::call" not in names
    assert {frame.id for frame in trace.frames} >= {frame.parent for frame in trace.frames} - {None}


def test_graphs(tracer: Run, tmp_path: Path) -> None:
    import json

    (tmp_path / "train.py").write_text(TRAIN)
    got = tracer("run", "--graphs", "train.py")
    assert "graphs: train.calls.json  train.autograd.json" in got.stderr
    for name in ("calls", "autograd"):
        data = json.loads((tmp_path / f"train.{name}.json").read_text())
        assert data["nodes"] and data["directed"]


def test_the_reference_decides_the_signatures(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "rand.py").write_text("import torch\ntorch.rand(2)\n")
    for word, case in (("article", 2), ("2.13", 1)):
        assert tracer("run", "--reference", word, "rand.py").returncode == 0
        frame = load(tmp_path / "rand.trace").frames[0]
        assert frame.site.name == "torch::autograd::THPVariable_rand"
        assert frame.details["case"] == case


def test_a_forked_child_leaves_the_trace_alone(tracer: Run, tmp_path: Path) -> None:
    (tmp_path / "fork.py").write_text(
        "import os, sys, torch\nif os.fork() == 0:\n    torch.zeros(2)\n    sys.exit(0)\nos.wait()\ntorch.ones(2)\n"
    )
    got = tracer("run", "fork.py")
    assert got.stderr.count("trace:") == 1
    ops = [hop.op for hop in load(tmp_path / "fork.trace").hops]
    assert "aten::ones" in ops and "aten::zeros" not in ops


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((), "what shall be run?"),
        (("nothere.py",), "can't open file 'nothere.py': no such file"),
        (("-m", "nothere"), "no module named nothere"),
        (("-m", "nothere.part"), "no module named nothere.part"),
        (("-m", "script.py"), "did you mean the script script.py?"),
        (("-m", "a", "-c", "b"), "no module named a"),
        (("empty",), "it has no __main__.py"),
        (("--on", "torch", "script.py"), "the target 'torch' is not built in yet"),
        (("--on", "gdb", "script.py"), "the target 'gdb' is not built in yet"),
        (("--on", "engin", "script.py"), "did you mean 'engine'?"),
        (("--reference", "2.14", "script.py"), "'2.14' is not one of article, 2.13"),
        (("--only", "opp=aten::rand", "script.py"), "opp"),
        (("--onyl", "x", "script.py"), "did you mean '--only'?"),
        (("-o", "script.py", "script.py"), "would overwrite the script"),
        (("-o", "no/such/folder/x.trace", "script.py"), "no/such/folder/x.trace"),
    ],
)
def test_wrong_usage(tracer: Run, script: Path, tmp_path: Path, args: tuple[str, ...], text: str) -> None:
    (tmp_path / "empty").mkdir()
    before = script.read_text()
    got = tracer("run", *args)
    assert got.returncode == 2
    assert text in got.stderr
    assert "Traceback" not in got.stderr
    assert got.stdout == ""
    assert script.read_text() == before


def test_the_default_name_overwrites_traces_only(tracer: Run, script: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert tracer("run", "script.py").returncode == 0
    (tmp_path / "script.trace").write_text("somebody's notes")
    got = tracer("run", "script.py")
    assert got.returncode == 2 and "script.trace exists and is no trace" in got.stderr
    assert (tmp_path / "script.trace").read_text() == "somebody's notes"


def test_a_module_that_ours_hides_is_named(tracer: Run, script: Path, tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text("")
    got = tracer("run", "script.py")
    assert f"note: `import engine` gives the tracer's own package, not {tmp_path / 'engine'}\n" in got.stderr
    assert got.returncode == 0


def test_interrupted_by_the_keyboard(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    with subprocess.Popen(
        [sys.executable, "-m", "tracer", "run", "waits.py"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(30) == -signal.SIGINT
    assert said.count("File ") == 1 and "KeyboardInterrupt" in said
    assert load(tmp_path / "waits.trace").exit_status == 130


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_no_room_for_the_first_line(tracer: Run, script: Path) -> None:
    got = tracer("run", "-o", "/dev/full", "script.py")
    assert (got.returncode, got.stdout) == (2, "")
    assert got.stderr == "tracer run: /dev/full: cannot write: No space left on device\n"


def test_a_full_disk_does_not_stop_the_program(tracer: Run, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    (tmp_path / "rand.py").write_text(
        "import resource, torch\nresource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))\n"
        "for _ in range(9):\n    torch.rand(2, 3)\nprint('done')\n"
    )
    got = tracer("run", "rand.py")
    assert (got.returncode, got.stdout) == (0, "done\n")
    assert "Traceback" not in got.stderr and "File too large" in got.stderr
    assert "recording stopped early: the rest of the run is missing" in got.stderr
    trace = load(tmp_path / "rand.trace")
    assert trace.truncated and trace.hops


@pytest.mark.parametrize("trace", ["fd.trace", "fd.trace.gz"])
@pytest.mark.parametrize(("most", "files"), [(256, 3), (2000, 700)])
def test_a_program_that_closes_descriptors_it_does_not_know(
    tracer: Run, tmp_path: Path, trace: str, most: int, files: int
) -> None:
    (tmp_path / "fd.py").write_text(
        f"import os, torch\ntorch.ones(1)\nos.closerange(3, {most})\n"
        f"mine = [open(f'mine{{i}}', 'w') for i in range({files})]\ntorch.zeros(2)\nfor f in mine: f.write('x')\n"
    )
    got = tracer("run", "-o", trace, "fd.py")
    assert got.returncode == 0
    assert got.stderr.startswith("trace: ")
    assert got.stderr.count("\n") == 1
    assert {path.read_text() for path in tmp_path.glob("mine*")} == {"x"}
    loaded = load(tmp_path / trace)
    assert (loaded.truncated, loaded.path("aten::zeros")) == (False, ["BackendSelect", "CPU"])


def test_a_trace_closed_and_removed_by_the_program(tracer: Run) -> None:
    code = "import os, torch; os.closerange(3, 2000); os.remove('command.trace'); torch.ones(1); print(1)"
    got = tracer("run", "-c", code)
    assert (got.returncode, got.stdout) == (0, "1\n")
    assert "Traceback" not in got.stderr
    assert "Exception ignored" not in got.stderr
