"""Errors and warnings: their text, where they say they come from, what Python sees."""

from __future__ import annotations

import warnings
from types import CodeType

import pytest

from engine import doors
from engine.c10 import exception


def as_engine(source: str, file: str, name: str):
    """A function that looks as if it stood in the engine under a C++ name."""
    scope = {"exception": exception}
    exec(compile(source, f"{exception._PACKAGE}/{file}", "exec"), scope)
    fn = scope["f"]
    code: CodeType = fn.__code__
    fn.__code__ = code.replace(co_name=name, co_qualname=name)
    return fn


def test_what():
    kernel = as_engine("\n\ndef f(n): exception.TORCH_CHECK(n > 2, 'n is ', n)", "aten/native/x.py", "at::native::foo")
    outer = as_engine("def f(g, n): g(n)", "plumbing.py", "f")
    call = as_engine("def f(g, n):\n  return g(kernel, n)", "ops.py", "at::_ops::foo::call")
    call.__globals__["kernel"] = kernel
    call(outer, 3)
    with pytest.raises(exception.Error) as caught:
        call(outer, 2)
    error = caught.value
    assert str(error) == error.msg == "n is 2"
    lines = error.what().splitlines()
    assert lines[:5] == [
        "n is 2",
        "Exception raised from foo at engine/aten/native/x.py:3 (most recent call first):",
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string)",
        "frame #1: c10::detail::torchCheckFail(char const*, char const*, unsigned int, std::string const&)",
        "frame #2: at::native::foo at engine/aten/native/x.py:3",
    ]
    assert lines[5] == "frame #3: at::_ops::foo::call at engine/ops.py:2"
    assert lines[6].startswith(f"frame #4: test_what at {__file__}:")


def test_context_follows_the_message():
    error = exception.Error("bad")
    error.add_context("while adding")
    assert error.what_without_backtrace() == "bad (while adding)"
    error.add_context("in foo")
    assert error.what_without_backtrace() == "bad\n  while adding\n  in foo"


@pytest.mark.parametrize(
    ("check", "name"),
    [
        (exception.TORCH_CHECK, "RuntimeError"),
        (exception.TORCH_CHECK_INDEX, "IndexError"),
        (exception.TORCH_CHECK_VALUE, "ValueError"),
        (exception.TORCH_CHECK_TYPE, "TypeError"),
        (exception.TORCH_CHECK_NOT_IMPLEMENTED, "NotImplementedError"),
        (exception.TORCH_CHECK_LINALG, "_LinAlgError"),
    ],
)
def test_translate(check, name, monkeypatch):
    check(True, "never")
    with pytest.raises(exception.Error) as caught:
        check(False, "sizes ", [2, 3], " differ from ", (4, True), ", ", 2.5, " and ", False)
    translated = exception.translate(caught.value)
    assert type(translated).__name__ == name
    assert str(translated) == "sizes [2, 3] differ from [4, 1], 2.5 and 0"
    monkeypatch.setenv("TORCH_SHOW_CPP_STACKTRACES", "1")
    assert str(exception.translate(caught.value)) == caught.value.what()


def test_messages_use_the_names_of_cpp():
    from engine.c10 import layout, memory_format, scalar_type
    from engine.c10.device import Device

    parts = (scalar_type.Float, layout.Strided, memory_format.ChannelsLast, Device("cuda:1"), (scalar_type.Int,))
    assert exception.str_(*parts) == "FloatStridedChannelsLastcuda:1[Int]"


def test_a_check_without_message():
    with pytest.raises(exception.Error, match=r"^Expected cond to be true, but got false"):
        exception.TORCH_CHECK(False)


def test_internal_assert_names_its_place():
    kernel = as_engine("def f(): exception.TORCH_INTERNAL_ASSERT(0, 'a == b', 'oh')", "aten/x.py", "at::x")
    with pytest.raises(exception.Error) as caught:
        kernel()
    assert str(caught.value) == (
        'a == b INTERNAL ASSERT FAILED at "engine/aten/x.py":1, please report a bug to PyTorch. oh'
    )


class Ear(doors.Listener):
    def __init__(self):
        self.heard = []

    def warn(self, category, message):
        self.heard.append((category, message))


@pytest.mark.filterwarnings("always")
def test_warnings_point_at_the_user(recwarn):
    kernel = as_engine("def f(): exception.TORCH_WARN('old ', 1)", "aten/native/x.py", "at::native::foo")
    ear = Ear()
    undo = doors.attach(ear)
    try:
        kernel()
    finally:
        undo()
    (warning,) = recwarn
    assert str(warning.message) == "old 1 (Triggered internally at engine/aten/native/x.py:1.)"
    assert (warning.category, warning.filename) == (UserWarning, __file__)
    assert ear.heard == [("UserWarning", "old 1")]


def test_warn_once(recwarn):
    kernel = as_engine("def f(): exception.TORCH_WARN_ONCE('once')", "aten/native/once.py", "at::native::foo")
    warnings.simplefilter("always")
    kernel()
    kernel()
    assert len(recwarn) == 1
    exception.set_warnAlways(True)
    try:
        kernel()
        assert exception.get_warnAlways()
    finally:
        exception.set_warnAlways(False)
    assert len(recwarn) == 2


def test_a_warning_can_be_an_error():
    kernel = as_engine("def f(): exception.TORCH_WARN_DEPRECATION('gone')", "aten/x.py", "at::x")
    with pytest.raises(DeprecationWarning, match="gone"):
        kernel()
