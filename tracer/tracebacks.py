"""Tracebacks as the user's program would have had them without us: the frames of engine and tracer are taken out."""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType, TracebackType

__all__ = ["clean", "clean_at_exit", "clean_in_threads", "is_internal_file"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_OURS = tuple(os.path.join(os.path.dirname(_HERE), package) + os.sep for package in ("engine", "tracer", "traces"))
_GALLERY = os.path.join(os.path.dirname(_HERE), "traces", "gallery") + os.sep
_LIBRARY = os.path.dirname(os.__file__)
_TOOLS = (
    "<frozen ",
    *(os.path.join(_LIBRARY, name) for name in ("importlib", "contextlib.py", "functools.py", "warnings.py")),
)
_NUMPY = f"-packages{os.sep}numpy{os.sep}"
_GENERATED = ("<torch/", "<aten/", "<output_differentiability")  # files that the engine's code generator names
_RUNPY = ("<frozen runpy>", os.path.join(_LIBRARY, "runpy.py"))

def is_internal_file(name: str) -> bool:
    """Whether code of that file belongs to the engine, to the tracer or to what starts programs."""
    return (name.startswith(_OURS) and not name.startswith(_GALLERY)) or name.startswith(_GENERATED) or name in _RUNPY


def clean(error: BaseException, top: CodeType | None = None) -> None:
    """Take our frames out of ``error``'s traceback and out of those chained to it.

    ``top`` is the function that ran the program: whatever lies above it goes too (an entry-point script, for one).
    """
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _without_ours(one.__traceback__, top)
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def _without_ours(tb: TracebackType | None, top: CodeType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    below_ours = False  # what our code calls of the standard library and of numpy is not the program's either
    while tb is not None:
        code = tb.tb_frame.f_code
        if code is top:
            kept.clear()
        elif is_internal_file(code.co_filename):
            below_ours = True
        elif not (below_ours and _is_tool(code.co_filename)):
            kept.append(tb)
            below_ours = False
        tb = tb.tb_next
    chain: TracebackType | None = None
    for link in reversed(kept):
        frame: FrameType = link.tb_frame
        chain = TracebackType(chain, frame, link.tb_lasti, link.tb_lineno)
    return chain


def _is_tool(name: str) -> bool:
    return name.startswith(_TOOLS) or _NUMPY in name


def clean_at_exit(top: CodeType) -> None:
    """From here on the program's excepthook (its own one too) sees cleaned exceptions."""
    hook = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        clean(error, top)
        hook(kind, error, error.__traceback__)

    sys.excepthook = excepthook


def clean_in_threads() -> None:
    """The same for threads that die of an exception."""
    hook = threading.excepthook

    def excepthook(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            clean(args.exc_value)
            args = threading.ExceptHookArgs(
                (args.exc_type, args.exc_value, args.exc_value.__traceback__, args.thread)
            )
        hook(args)

    threading.excepthook = excepthook
