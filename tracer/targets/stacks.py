"""The Python stack, told apart: frames of the user's program, and the engine's own."""

from __future__ import annotations

import os
from types import FrameType

from tracer import tracebacks

__all__ = ["Stack", "below", "reaches", "relative", "shown", "user_stack"]

Stack = tuple[tuple[str, int, str], ...]

USER, OURS, END = range(3)
LIMIT = 200  # a program in deep recursion still gets a readable trace

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
try:
    _HERE = os.path.join(os.getcwd(), "")
except OSError:  # the folder has been removed
    _HERE = os.sep * 2
_ENDS = (os.path.join("tracer", "runner.py"), os.path.join("tracer", "__main__.py"))
_HARNESS = (f"{os.sep}_pytest{os.sep}", f"{os.sep}pluggy{os.sep}")

_kinds: dict[str, int] = {}
_relative: dict[str, str] = {}
_shown: dict[str, str] = {}


def _kind(file: str) -> int:
    kind = _kinds.get(file)
    if kind is None:
        if (file.startswith(_ROOT) and file[len(_ROOT) :] in _ENDS) or any(part in file for part in _HARNESS):
            kind = END
        elif file.startswith("<frozen") or tracebacks.is_internal_file(file):
            kind = OURS
        else:
            kind = USER
        _kinds[file] = kind
    return kind


def relative(file: str) -> str:
    """A file of the engine as a Site names it: relative to the folder that holds the packages."""
    name = _relative.get(file)
    if name is None:
        name = _relative[file] = file[len(_ROOT) :] if file.startswith(_ROOT) else file
    return name


def shown(file: str) -> str:
    """A file of the user as a trace names it: relative to the working directory of the start when it lies below."""
    name = _shown.get(file)
    if name is None:
        name = _shown[file] = file[len(_HERE) :] if file.startswith(_HERE) else file
    return name


def user_stack(frame: FrameType | None) -> Stack:
    """(file, line, function) of the user's frames from ``frame`` outwards, up to what started the program."""
    found: list[tuple[str, int, str]] = []
    while frame is not None and len(found) < LIMIT:
        code = frame.f_code
        kind = _kinds.get(code.co_filename)
        if kind is None:
            kind = _kind(code.co_filename)
        if kind == USER:
            found.append(_entry(frame))
        elif kind == END:
            break
        frame = frame.f_back
    return tuple(found)


def reaches(frame: FrameType | None, outer: FrameType) -> bool:
    """Whether ``outer`` is still running, below ``frame``."""
    while frame is not None and frame is not outer:
        frame = frame.f_back
    return frame is not None


def below(frame: FrameType, parent: FrameType, name: str, file: str) -> tuple[int | None, Stack, bool]:
    """Where the function ``name`` of ``file`` stands, whose frame was announced by ``parent``, now that ``frame``
    announces one below it; and the user's frames between the two, innermost first.

    The function is the Python frame that bears its name (the generated layers are renamed); else the outermost one of
    its file. The third value is false when ``parent`` was not met.
    """
    body: FrameType | None = None
    named = False
    users: list[FrameType] = []
    at: FrameType | None = frame
    for _ in range(LIMIT):
        if at is None or at is parent:
            break
        code = at.f_code
        source = code.co_filename
        kind = _kinds.get(source)
        if kind is None:
            kind = _kind(source)
        if kind == USER:
            users.append(at)
        if code.co_name == name:
            body, named = at, True
        elif not named and (_relative.get(source) or relative(source)) == file:
            body = at
        at = at.f_back
    if not named:
        outer = parent.f_back
        if parent.f_code.co_name == name:
            body = parent
        elif outer is not None and outer.f_code.co_name == name:
            body = outer
    between = tuple([_entry(one) for one in users if one is not body]) if users else ()
    return (body.f_lineno if body is not None else None), between, at is parent


def _entry(frame: FrameType) -> tuple[str, int, str]:
    code = frame.f_code
    file = code.co_filename
    return (_shown.get(file) or shown(file), frame.f_lineno, code.co_qualname)
