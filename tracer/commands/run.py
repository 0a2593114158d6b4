"""``tracer run``: run a program as python would and save the trace of it."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import shlex
import sys
from typing import Any

from tracer import runner
from tracer.errors import TracerError, complain, is_users, say
from tracer.targets import base

__all__ = ["add_parser", "run"]

_EXAMPLES = """\
Examples:
  tracer run script.py --lr 0.1              options after SCRIPT are the script's own
  tracer run -o first.trace script.py        another name for the trace (.trace.gz compresses)
  tracer run --only 'op=aten::rand*' script.py
  tracer run --graphs script.py              script.calls.json and script.autograd.json beside it
  tracer run -m package.module ARGS
  tracer run -c 'import torch; torch.rand(3, 4)'

The script sees what python would show it: __main__, argv, stdin, working directory; tracer run ends with its exit
status. `import torch` gives the engine's torch.
"""

REFERENCES = ("article", "2.13")


def add_parser(sub: Any) -> None:
    """Register the command."""
    parser = sub.add_parser(
        "run",
        program=True,
        help="run a script and save its trace",
        usage="tracer run [options] (SCRIPT | -m MODULE | -c CODE) [ARGS...]",
        description="Run a Python program and save the trace of it as NAME.trace in the working directory.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--on", default="engine", metavar="TARGET", help="engine (default): the model of PyTorch")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to save the trace (default: NAME.trace)")
    parser.add_argument("--only", metavar="PRED", help="record only what matches, and the frames that led to it")
    parser.add_argument("--graphs", action="store_true", help="save the call graph and the autograd graph beside it")
    parser.add_argument(
        "--reference", choices=REFERENCES, help="whose Python signatures: the article's (default) or 2.13's"
    )
    parser.add_argument(
        "--full-traceback", action="store_true", help="keep the engine's own frames in the script's tracebacks"
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m")
    parser.add_argument("-c", dest="code", metavar="CODE", help="run code, as python -c")


def run(args: argparse.Namespace) -> int:
    """Run the command: 0 when the program came to its end; what it raises is raised."""
    try:
        target = base.find(args.on)
        program = _program(args)
        runner.check(program)
        code = runner.load(program, args.full_traceback)
        finish = _start(args, target, program)
    except Exception as error:
        if is_users(error):
            return complain(str(error), "tracer run")
        raise
    status, error_text = 1, None
    try:
        runner.run(program, args.full_traceback, code)
        status = 0
    except runner.NotStarted as error:
        status = complain(str(error), "tracer run")
        error_text = _NOTHING
    except SystemExit as error:
        status = _exit_status(error.code)
        if status and error.__context__ is not None:  # sys.exit(1) in an except block: that is what it ended of
            error_text = _described(error.__context__)
        elif error.code is not None and not isinstance(error.code, int):  # sys.exit("message")
            error_text = _described(error)
        raise
    except KeyboardInterrupt:
        status, error_text = 130, ("KeyboardInterrupt", "")
        raise
    except BaseException as error:
        error_text = _described(error)
        raise
    finally:
        finish(status, error_text)
    return status


def _program(args: argparse.Namespace) -> runner.Program:
    if args.module is not None and args.code is not None:
        raise TracerError("-m and -c exclude each other")
    if args.module is not None:
        return runner.Program("module", args.module, tuple(args.rest))
    if args.code is not None:
        return runner.Program("code", args.code, tuple(args.rest))
    if not args.rest:
        raise TracerError("what shall be run? Give a SCRIPT, -m MODULE or -c CODE (tracer run --help has examples)")
    return runner.Program("script", args.rest[0], tuple(args.rest[1:]))


def _start(args: argparse.Namespace, target: base.Target, program: runner.Program) -> Any:
    """Begin to record; returns what tells how the program ended.

    The trace is completed when the process ends: threads that outlive the script and functions registered with atexit
    are part of the program. (atexit runs ours last, because it is registered first.)
    """
    from tracer.session import Session, header
    from traces import predicates

    only = None if args.only is None else predicates.parse(args.only)
    output = args.output if args.output is not None else f"{program.stem}.trace"
    if args.output is None and _is_something_else(output):
        raise TracerError(f"{output} exists and is no trace, so it is left alone; -o FILE names another")
    if program.kind == "script" and _same_file(output, program.target):
        raise TracerError(f"-o {output} would overwrite the script")
    target.prepare(args.reference)
    script = program.target if program.kind == "script" else None
    head = header(target, script, program.argv)
    if program.kind == "code":
        head["code"] = program.target
    session = Session(target, head, output, only)
    end: list[Any] = [0, None]
    pid = os.getpid()

    def at_exit() -> None:
        if os.getpid() != pid:  # a forked child
            return
        if end[1] is _NOTHING and not session.hops:
            session.discard()
            return
        session.finish(*end)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        with contextlib.suppress(Exception):
            _tell(session, output, args.graphs, end[1] is not None)

    atexit.register(at_exit)
    session.start()

    def finish(status: int, error: tuple[str, str] | None) -> None:
        end[:] = status, error

    return finish


_NOTHING = ("NotStarted", "the program was not found")


def _described(error: BaseException) -> tuple[str, str]:
    """Type and text of an exception, for the trace."""
    kind = type(error)
    try:
        text = str(error)
    except Exception:
        text = ""
    name = f"c10::{kind.__name__}" if kind.__module__ == "engine.c10.exception" else kind.__name__
    return name, text


def _is_something_else(path: str) -> bool:
    """Whether a file is there that we did not write: the default name shall not cost anybody their data."""
    try:
        with open(path, "rb") as file:
            start = file.read(16)
    except OSError:
        return False
    return bool(start) and not start.startswith(b'{"format":')


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _exit_status(code: Any) -> int:
    """The status that ``sys.exit(code)`` gives the process."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


def _tell(session: Any, path: str, graphs: bool, died: bool) -> None:
    """Say where the trace lies and how to look at it."""
    name = shlex.quote(path)
    hint = f"tracer show {name}"
    if session.first_op is not None:
        hint += f" · tracer bt {name}{' (where it stopped)' if died else f' --at {session.first_op}'}"
    count = f"{session.hops} hop" + ("" if session.hops == 1 else "s")
    lost = "  recording stopped early: the rest of the run is missing" if session.lost else ""
    say(f"trace: {path}  ({count})  look: {hint}{lost}")
    if graphs:
        from tracer.commands.graph import save_beside

        say("graphs: " + "  ".join(save_beside(path)))
