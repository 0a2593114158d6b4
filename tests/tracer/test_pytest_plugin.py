"""The pytest plugin, in pytest runs of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.tracer.running import environment

pytest_plugins = ["pytester"]

ARGS = ("-p", "no:dispatch_tracer", "-p", "tracer.pytest_plugin", "-p", "no:cacheprovider")


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(source: str, *args: str) -> pytest.RunResult:
        pytester.makepyfile(test_it="from engine import torch\nimport pytest\n\n" + source)
        return pytester.runpytest_subprocess(*ARGS, "--strict-markers", "-W", "error", *args)

    return run


def test_assertions_that_hold(run: object) -> None:
    run(  # type: ignore[operator]
        """
def test_it(dispatch_trace):
    torch.ones(2)
    assert dispatch_trace.path("aten::ones") == ["BackendSelect", "CPU"]
    dispatch_trace.assert_path("aten::ones: BackendSelect > CPU", "aten::fill_.Scalar: CPU")
    dispatch_trace.assert_kernel("aten::ones", "at::native::ones")
    dispatch_trace.assert_kernel("aten::ones", "ones")
    dispatch_trace.assert_dispatched("aten::empty*")
    dispatch_trace.assert_not_dispatched("aten::zeros")
    assert dispatch_trace.ops[0] == "aten::ones"
    assert len(dispatch_trace.hops) >= 4
    torch.zeros(2)
    dispatch_trace.assert_dispatched("aten::zeros")
    assert "at::native::zeros" in str(dispatch_trace.bt("aten::zeros"))

def test_each_test_has_a_trace_of_its_own(dispatch_trace):
    assert len(dispatch_trace.hops) == 0

@pytest.mark.dispatch_path("aten::ones: BackendSelect > CPU")
def test_marker():
    torch.ones(2)
"""
    ).assert_outcomes(passed=3)


def test_assertions_that_fail_show_both_paths(run: object) -> None:
    result = run(  # type: ignore[operator]
        """
def test_path(dispatch_trace):
    torch.ones(2)
    dispatch_trace.assert_path("aten::ones: BackendSelect > AutogradCPU > Meta")

def test_absent(dispatch_trace):
    torch.ones(2)
    dispatch_trace.assert_path("aten::one: CPU")

def test_nth(dispatch_trace):
    torch.ones(2)
    dispatch_trace.assert_path("aten::ones: BackendSelect > CPU", nth=2)

def test_present(dispatch_trace):
    torch.ones(2)
    dispatch_trace.assert_not_dispatched("aten::fill_*")

def test_kernel(dispatch_trace):
    torch.ones(2)
    dispatch_trace.assert_kernel("aten::ones", "at::native::zeros")

def test_spelling(dispatch_trace):
    dispatch_trace.assert_path("aten::ones BackendSelect")

@pytest.mark.dispatch_path("aten::ones: BackendSelect > CPU")
def test_marker():
    torch.zeros(2)
"""
    )
    result.assert_outcomes(failed=7)
    result.stdout.fnmatch_lines(
        [
            "*aten::ones took another path (call 1 of 1)",
            "*    expected        got",
            "*    BackendSelect   BackendSelect",
            "*  ≠ AutogradCPU     CPU",
            "*  ≠ Meta            –",
            "*aten::one was not dispatched (did you mean 'aten::ones'?); dispatched: aten::ones, *",
            "*aten::ones was dispatched 1 times; there is no call 2",
            "*aten::fill_.Scalar was dispatched (1 times); the first time:",
            "*#0  at::native::fill_*",
            "*aten::ones ended in another kernel (call 1 of 1)",
            "*≠ at::native::zeros * at::native::ones*",
            "*'aten::ones BackendSelect' is not a path; write 'aten::ones: BackendSelect > CPU'",
            "*aten::ones was not dispatched*; dispatched: aten::zeros*",
        ]
    )
    # the failure is shown at the test's line, not inside the plugin
    assert "pytest_assertions.py" not in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()


FAILING = """
def test_fails():
    torch.ones(2)
    torch.rand("a")

@pytest.fixture
def broken():
    torch.zeros(2)
    raise ValueError

def test_setup(broken):
    pass

@pytest.mark.parametrize("value", ["a/b"])
def test_parametrized(value):
    torch.ones(2)
    assert False

def test_passes():
    torch.ones(2)

def test_without_torch():
    assert False
"""


def test_trace_on_failure(run: object, pytester: pytest.Pytester) -> None:
    from traces import load

    result = run(FAILING, "--trace-on-failure=kept")  # type: ignore[operator]
    result.assert_outcomes(failed=3, errors=1, passed=1)
    names = sorted(path.name for path in (pytester.path / "kept").iterdir())
    assert names == [
        "test_it.py_test_fails.trace",
        "test_it.py_test_parametrized[a_b].trace",
        "test_it.py_test_setup.trace",
    ]
    trace = load(pytester.path / "kept" / names[0])
    assert trace.hops[0].op == "aten::ones"
    result.stdout.fnmatch_lines(["*- dispatch trace -*", "saved as kept*test_it.py_test_fails.trace*", "#0 *"])
    assert result.stdout.str().count("saved as kept") == 3


SNAPSHOT = """
import os

def test_it(dispatch_trace):
    (torch.zeros if "ZEROS" in os.environ else torch.ones)(2)
    dispatch_trace.assert_snapshot()
    torch.ones(2)
    dispatch_trace.assert_snapshot("more")
"""


def test_snapshots(run: object, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(SNAPSHOT)  # type: ignore[operator]
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*there is no snapshot *test_it.dispatch; pytest --accept-dispatch writes it"])
    run(SNAPSHOT, "--accept-dispatch").assert_outcomes(passed=1)  # type: ignore[operator]
    folder = pytester.path / "snapshots" / "test_it"
    assert sorted(path.name for path in folder.iterdir()) == ["test_it.dispatch", "test_it.more.dispatch"]
    assert (folder / "test_it.dispatch").read_text().startswith(" [call] op=[aten::ones], key=[BackendSelect]\n")
    run(SNAPSHOT).assert_outcomes(passed=1)  # type: ignore[operator]
    monkeypatch.setenv("ZEROS", "1")
    result = run(SNAPSHOT)  # type: ignore[operator]
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*the dispatches are not those of *test_it.dispatch (pytest --accept-dispatch accepts them)",
            "*≠ *op=[[]aten::ones[]]*op=[[]aten::zeros[]]*",
        ]
    )


def test_trace_on_failure_has_a_default_folder(run: object, pytester: pytest.Pytester) -> None:
    run(FAILING, "--trace-on-failure").assert_outcomes(failed=3, errors=1, passed=1)  # type: ignore[operator]
    assert (pytester.path / "failed-traces" / "test_it.py_test_fails.trace").exists()


def test_trace_on_failure_does_not_take_tests_for_a_folder(run: object) -> None:
    for tests in ("test_it.py", "test_it.py::test_passes", "."):
        result = run(FAILING, "--trace-on-failure", tests)  # type: ignore[operator]
        assert result.ret == 4
        result.stderr.fnmatch_lines(["*looks like tests; write --trace-on-failure=DIR, or give the tests first*"])


def test_fixture_and_option_together(run: object) -> None:
    run(  # type: ignore[operator]
        """
def test_it(dispatch_trace):
    torch.ones(2)
    dispatch_trace.assert_path("aten::ones: BackendSelect > CPU")
""",
        "--trace-on-failure",
    ).assert_outcomes(passed=1)


def test_the_marker_is_registered(run: object) -> None:
    result = run("", "--markers")  # type: ignore[operator]
    result.stdout.fnmatch_lines(["@pytest.mark.dispatch_path(path, ...): *"])


def test_loading_the_plugin_loads_nothing_of_weight() -> None:
    code = (
        "import pytest, sys; before = set(sys.modules); import tracer.pytest_plugin\n"
        "print(sorted({name.partition('.')[0] for name in set(sys.modules) - before} & "
        "{'numpy', 'engine', 'traces', 'networkx', 'rich', 'ml_dtypes'}))"
    )
    got = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    assert got.stdout == "[]\n", got.stderr
