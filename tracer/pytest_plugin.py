"""The pytest plugin: the fixture ``dispatch_trace``, the marker ``dispatch_path`` and ``--trace-on-failure``.

It is loaded with every pytest run of an environment that has the package, so it imports nothing of weight until used.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tracer.pytest_assertions import DispatchTrace

__all__ = ["dispatch_trace"]

MARKER = 'dispatch_path(path, ...): the test must dispatch so: dispatch_path("aten::ones: BackendSelect > CPU")'
DEFAULT_DIRECTORY = "failed-traces"

_key = pytest.StashKey[Any]()


class _Directory(argparse.Action):
    """``--trace-on-failure[=DIR]``, which must not swallow the path of tests that follows it."""

    def __call__(self, parser: Any, namespace: Any, value: Any, option_string: Any = None) -> None:
        if "::" in value or value.endswith(".py") or (os.path.isdir(value) and _holds_python(value)):
            raise argparse.ArgumentError(
                self, f"{value} looks like tests; write {option_string}=DIR, or give the tests first"
            )
        setattr(namespace, self.dest, value)


def _holds_python(directory: str) -> bool:
    return any(name.endswith(".py") for _, _, files in os.walk(directory) for name in files)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dispatch-tracer")
    group.addoption(
        "--trace-on-failure",
        action=_Directory,
        nargs="?",
        const=DEFAULT_DIRECTORY,
        default=None,
        metavar="DIR",
        help=f"save the trace of a failing test in DIR (default: {DEFAULT_DIRECTORY}) and report its backtrace",
    )


    group.addoption(
        "--accept-dispatch",
        action="store_true",
        help="write the dispatch snapshots of assert_snapshot() anew instead of comparing with them",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def dispatch_trace(request: pytest.FixtureRequest) -> Generator[DispatchTrace, None, None]:
    """The engine's dispatches during the test: ``hops``, ``path(op)``, and assertions on them:
    ``assert_path("aten::ones: BackendSelect > CPU")``, ``assert_kernel``, ``assert_dispatched``,
    ``assert_not_dispatched``, ``assert_snapshot``.
    """
    from tracer.pytest_assertions import DispatchTrace
    from tracer.record import record

    with record(on="engine") as recording:
        node = request.node
        snapshot = node.path.parent / "snapshots" / node.path.stem / f"{_file_name(node.name)}.dispatch"
        yield DispatchTrace(recording, snapshot, request.config.getoption("--accept-dispatch"))


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.\[\]-]+", "_", text)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, None]:
    """Under ``--trace-on-failure`` a test is recorded from its fixtures on."""
    if item.config.getoption("--trace-on-failure") is not None:
        from tracer.record import record

        block = record(on="engine")
        item.stash[_key] = (block, block.__enter__())
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """A test with the marker is recorded, and its paths are checked when it has passed."""
    wanted = [path for mark in item.iter_markers("dispatch_path") for path in mark.args]
    if not wanted:
        yield
        return
    from tracer.pytest_assertions import DispatchTrace
    from tracer.record import record

    with record(on="engine") as recording:
        outcome = yield
    if outcome.excinfo is None:
        try:
            DispatchTrace(recording).assert_path(*wanted)
        except (AssertionError, ValueError) as error:
            outcome.force_exception(pytest.fail.Exception(str(error), pytrace=False))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Save the trace of a test that failed in its fixtures or its call; the report shows where it was last."""
    outcome = yield
    if _key not in item.stash:
        return
    report = outcome.get_result()
    _, recording = item.stash[_key]
    if report.failed and report.when in ("setup", "call") and recording.hops:
        report.sections.append(("dispatch trace", _save(item, recording)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, None]:
    yield
    if _key in item.stash:
        block, _ = item.stash[_key]
        del item.stash[_key]
        block.__exit__(None, None, None)


def _save(item: pytest.Item, recording: Any) -> str:
    directory = item.config.getoption("--trace-on-failure")
    path = os.path.join(directory, _file_name(item.nodeid) + ".trace")
    try:
        os.makedirs(directory, exist_ok=True)
        recording.save(path)
        where = f"saved as {path}; the last step before the end:"
    except Exception as error:
        where = f"not saved: {error}; the last step before the end:"
    return f"{where}\n{recording.bt()}"
