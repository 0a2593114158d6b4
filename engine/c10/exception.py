"""c10/util/Exception.h, c10/util/Backtrace.h and torch/csrc/Exceptions.h: errors, checks and warnings.

An ``Error`` is what C++ code throws: ``msg()`` and the place and the frames it was raised from. Where a call came from
Python, the binding turns it with ``translate`` into the builtin exception that a PyTorch user sees.

Differs: the frames are the engine's own Python frames (functions under their C++ names) and the user's; addresses
and libraries are left out.
"""

from __future__ import annotations

import builtins
import os
import sys
import warnings
from types import FrameType
from typing import Any, Final, NamedTuple

from engine import doors

__all__ = [
    "TORCH_CHECK",
    "TORCH_CHECK_INDEX",
    "TORCH_CHECK_LINALG",
    "TORCH_CHECK_NOT_IMPLEMENTED",
    "TORCH_CHECK_TYPE",
    "TORCH_CHECK_VALUE",
    "TORCH_INTERNAL_ASSERT",
    "TORCH_WARN",
    "TORCH_WARN_DEPRECATION",
    "TORCH_WARN_ONCE",
    "AcceleratorError",
    "BufferError",
    "DistError",
    "EnforceFiniteError",
    "Error",
    "ErrorAlwaysShowCppStacktrace",
    "IndexError",
    "LinAlgError",
    "NotImplementedError",
    "OutOfMemoryError",
    "StackFrame",
    "SyntaxError",
    "TypeError",
    "ValueError",
    "capture",
    "get_backtrace",
    "get_warnAlways",
    "set_warnAlways",
    "str_",
    "translate",
]  # fmt: skip

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ROOT: Final = os.path.dirname(_PACKAGE)
_SELF: Final = os.path.abspath(__file__)
_THROWN_BY: Final = (
    "c10::Error::Error(c10::SourceLocation, std::string)",
    "c10::detail::torchCheckFail(char const*, char const*, unsigned int, std::string const&)",
)


class StackFrame(NamedTuple):
    """A frame of a backtrace: a C++ name inside the engine, a Python function of the user outside."""

    name: str
    file: str
    line: int

    @property
    def function(self) -> str:
        """What C++'s ``__func__`` says: the name without its scope."""
        return self.name.rpartition("::")[2]

    def __str__(self) -> str:
        return f"{self.name} at {self.file}:{self.line}"


def _in_engine(filename: str) -> bool:
    return filename.startswith(_PACKAGE + os.sep)


def capture(start: FrameType | None = None) -> tuple[StackFrame, ...]:
    """The frames from here outwards: the engine's functions that bear a C++ name, and all of the user's.

    Plumbing of the engine is passed over, and so is whatever runs the user's main module.
    """
    frame = start if start is not None else sys._getframe(1)
    found: list[StackFrame] = []
    here: FrameType | None = frame
    while here is not None:
        code = here.f_code
        if not _in_engine(code.co_filename):
            found.append(StackFrame(code.co_name, code.co_filename, here.f_lineno))
            if code.co_name == "<module>" and here.f_globals.get("__name__") == "__main__":
                break
        elif "::" in code.co_name:
            found.append(StackFrame(code.co_name, os.path.relpath(code.co_filename, _ROOT), here.f_lineno))
        here = here.f_back
    return tuple(found)


def _raised_from() -> tuple[StackFrame, tuple[StackFrame, ...]]:
    """The function that checked (the innermost one outside this file), and the backtrace from it outwards."""
    here: FrameType | None = sys._getframe(1)
    while here is not None and here.f_code.co_filename == _SELF and here.f_back is not None:
        here = here.f_back
    assert here is not None
    code = here.f_code
    file = os.path.relpath(code.co_filename, _ROOT) if _in_engine(code.co_filename) else code.co_filename
    return StackFrame(code.co_name, file, here.f_lineno), capture(here)


def get_backtrace(frames: tuple[StackFrame, ...]) -> str:
    """The frames as c10 prints them, innermost first."""
    lines = [*_THROWN_BY, *map(str, frames)]
    return "".join(f"frame #{i}: {line}\n" for i, line in enumerate(lines))


class Error(Exception):
    """c10::Error: a message, and where it was raised."""

    python_type: type[Exception] = RuntimeError

    def __init__(self, *msg: object) -> None:
        self.msg = str_(*msg)
        self.context: list[str] = []
        self.source_location, self.backtrace = _raised_from()
        super().__init__(self.msg)

    def add_context(self, msg: str) -> None:
        """Add a line about what was going on; printed after the message."""
        self.context.append(msg)

    def what_without_backtrace(self) -> str:
        """The message, with its context."""
        if len(self.context) == 1:
            return f"{self.msg} ({self.context[0]})"
        return "".join((self.msg, *(f"\n  {line}" for line in self.context)))

    def what(self) -> str:
        """The message, with its context, where it was raised, and the backtrace."""
        at = self.source_location
        return (
            f"{self.what_without_backtrace()}\nException raised from {at.function} at {at.file}:{at.line} "
            f"(most recent call first):\n{get_backtrace(self.backtrace)}"
        )

    def __str__(self) -> str:
        return self.what_without_backtrace()


class ErrorAlwaysShowCppStacktrace(Error):
    """Like Error; in Python, too, the message comes with the backtrace."""


class IndexError(Error):
    python_type = builtins.IndexError


class ValueError(Error):
    python_type = builtins.ValueError


class TypeError(Error):
    python_type = builtins.TypeError


class NotImplementedError(Error):
    python_type = builtins.NotImplementedError


class BufferError(Error):
    python_type = builtins.BufferError


class SyntaxError(Error):
    python_type = builtins.SyntaxError


class EnforceFiniteError(Error):
    """Raised for a value that should have been finite."""


def _python_error(name: str, module: str = "torch") -> type[Exception]:
    return type(name, (RuntimeError,), {"__module__": module})


class LinAlgError(Error):
    python_type = _python_error("_LinAlgError", "torch._C")


class OutOfMemoryError(Error):
    python_type = _python_error("OutOfMemoryError")


class AcceleratorError(Error):
    python_type = _python_error("AcceleratorError")


class DistError(Error):
    python_type = _python_error("DistError", "torch.distributed")


def get_cpp_stacktraces_enabled() -> bool:
    """Whether the user asked, with TORCH_SHOW_CPP_STACKTRACES=1, for backtraces in Python's messages."""
    return os.environ.get("TORCH_SHOW_CPP_STACKTRACES") == "1"


def translate(error: Error) -> Exception:
    """The builtin exception that Python sees: ``except Error as e: raise translate(e) from None``."""
    if get_cpp_stacktraces_enabled() or isinstance(error, ErrorAlwaysShowCppStacktrace):
        return error.python_type(error.what())
    return error.python_type(error.what_without_backtrace())


# ---- messages


def str_(*parts: object) -> str:
    """``c10::str``: the parts one after another, each as a C++ stream prints it."""
    return "".join(map(_streamed, parts))


def _streamed(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, bool):
        return "1" if part else "0"
    if isinstance(part, float):
        return f"{part:g}"
    if isinstance(part, list | tuple):
        return f"[{', '.join(map(_streamed, part))}]"
    if hasattr(part, "torch_name"):  # an element type, layout or memory format, by its name in C++
        return str(part.name)
    return str(part)


# ---- checks


_NO_MESSAGE: Final = (
    "Expected cond to be true, but got false.  (Could this error message be improved?  If so, please report an "
    "enhancement request to PyTorch.)"
)


def TORCH_CHECK(cond: object, *msg: object) -> None:
    """Raise c10::Error with the parts of ``msg`` unless ``cond``. Hot code tests first and calls only to raise."""
    if not cond:
        raise Error(*(msg or (_NO_MESSAGE,)))


def TORCH_CHECK_INDEX(cond: object, *msg: object) -> None:
    """Becomes IndexError in Python."""
    if not cond:
        raise IndexError(*(msg or (_NO_MESSAGE,)))


def TORCH_CHECK_VALUE(cond: object, *msg: object) -> None:
    """Becomes ValueError in Python."""
    if not cond:
        raise ValueError(*(msg or (_NO_MESSAGE,)))


def TORCH_CHECK_TYPE(cond: object, *msg: object) -> None:
    """Becomes TypeError in Python."""
    if not cond:
        raise TypeError(*(msg or (_NO_MESSAGE,)))


def TORCH_CHECK_NOT_IMPLEMENTED(cond: object, *msg: object) -> None:
    """Becomes NotImplementedError in Python."""
    if not cond:
        raise NotImplementedError(*(msg or (_NO_MESSAGE,)))


def TORCH_CHECK_LINALG(cond: object, *msg: object) -> None:
    """Becomes torch.linalg.LinAlgError in Python."""
    if not cond:
        raise LinAlgError(*(msg or (_NO_MESSAGE,)))


def TORCH_INTERNAL_ASSERT(cond: object, text: str, *msg: object) -> None:
    """A condition that only a bug can break; ``text`` is the condition as it is written in C++."""
    if not cond:
        at, _ = _raised_from()
        raise Error(
            f'{text} INTERNAL ASSERT FAILED at "{at.file}":{at.line}, please report a bug to PyTorch. {str_(*msg)}'
        )


# ---- warnings

_warn_always = False
_warned: set[tuple[str, int]] = set()


def set_warnAlways(setting: bool) -> None:
    """Whether TORCH_WARN_ONCE warns each time."""
    global _warn_always
    _warn_always = setting


def get_warnAlways() -> bool:
    return _warn_always


def _user_frame() -> FrameType:
    here = sys._getframe(1)
    while _in_engine(here.f_code.co_filename) and here.f_back is not None:
        here = here.f_back
    return here


def _warn(category: type[Warning], msg: tuple[object, ...], once: bool) -> None:
    at, _ = _raised_from()
    if once and not _warn_always:
        site = (at.file, at.line)
        if site in _warned:
            return
        _warned.add(site)
    text = str_(*msg)
    listener = doors.listener
    if listener is not None:
        listener.warn(category.__name__, text)
    user = _user_frame()
    registry: dict[Any, Any] = user.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        f"{text} (Triggered internally at {at.file}:{at.line}.)",
        category,
        user.f_code.co_filename,
        user.f_lineno,
        user.f_globals.get("__name__", "<unknown>"),
        registry,
    )


def TORCH_WARN(*msg: object) -> None:
    """Warn the user: a Python UserWarning at the line that called into the engine."""
    _warn(UserWarning, msg, once=False)


def TORCH_WARN_ONCE(*msg: object) -> None:
    """Warn the first time that this line of the engine warns."""
    _warn(UserWarning, msg, once=True)


def TORCH_WARN_DEPRECATION(*msg: object) -> None:
    """Warn with a DeprecationWarning."""
    _warn(DeprecationWarning, msg, once=False)
