"""The command line: ``tracer COMMAND …``. Results go to stdout, talk to stderr.

Exit status: 0 fine, 1 the answer is "no", 2 wrong usage or an unreadable file. ``tracer run`` ends as its program does.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from tracer.errors import TracerError, complain, did_you_mean, is_users, say
from tracer.output import drop, emit_lines, stdout

__all__ = ["COMMANDS", "Parser", "main", "positive"]

COMMANDS = ("run", "show", "bt", "why", "graph", "table")
"""One module of ``tracer.commands`` each, with ``add_parser(sub)`` and ``run(args) -> int``."""

INTERRUPTED = 130
BROKEN_PIPE = 141

_USAGE = """\
Record how a PyTorch script travels from Python down to the kernels, and read the recording like a gdb session.

Examples:
  tracer run script.py                          record script.py into script.trace
  tracer show script.trace                      every dispatcher step, as a tree
  tracer bt script.trace --at aten::rand        the backtrace at aten::rand
  tracer why script.trace --at aten::add.Tensor why that kernel was chosen
  tracer table aten::add.Tensor                 the operator's dispatch table
"""


class Parser(argparse.ArgumentParser):
    """argparse with one-line errors that suggest what may have been meant.

    With ``program=True`` parsing ends at the first word that is no option of ours, or after ``-m NAME`` and
    ``-c CODE``: the rest is the program's and lands, untouched, in ``args.rest``.
    """

    def __init__(self, *args: Any, program: bool = False, **kwargs: Any) -> None:
        kwargs.setdefault("allow_abbrev", False)
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **kwargs)
        self._program = program

    def print_help(self, file: Any = None) -> None:
        out = stdout() if file is None else file
        out.write(self.format_help())
        out.flush()

    def error(self, message: str) -> NoReturn:
        raise _Usage(self, _suggest(message))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        rest: list[str] = []
        if self._program:
            args, rest = self._split(list(args or ()))
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = [option for action in self._actions for option in action.option_strings]
            self.error(f"unknown option {unknown[0]}{did_you_mean(unknown[0].partition('=')[0], known)}")
        if self._program:
            parsed.rest = rest
        return parsed, []

    def _split(self, words: list[str]) -> tuple[list[str], list[str]]:
        takes_value = {o: a.nargs is None for a in self._actions for o in a.option_strings}
        at = 0
        while at < len(words):
            word = words[at]
            if word == "--":
                return words[:at], words[at + 1 :]
            if word == "-" or not word.startswith("-"):
                return words[:at], words[at:]
            at += 2 if takes_value.get(word, False) else 1
            short = word[:2]
            if short in ("-m", "-c"):  # what follows the module or the code is the program's
                return words[:at], words[at:]
        return words, []


class _Usage(Exception):
    def __init__(self, parser: argparse.ArgumentParser, message: str) -> None:
        super().__init__(message)
        self.parser = parser


def _suggest(message: str) -> str:
    """argparse's "invalid choice" with what may have been meant."""
    found = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
    if found is None:
        return message
    known = re.findall(r"[^\s',]+", found[2])
    return f"{message[: found.start()]}{found[1]!r} is not one of {', '.join(known)}{did_you_mean(found[1], known)}"


def positive(text: str) -> int:
    """The type of an option that counts from 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return value


def build() -> tuple[Parser, dict[str, Any]]:
    """The parser, and the module of each command."""
    parser = Parser(prog="tracer", description=_USAGE)
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    sub = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    modules = {}
    for name in COMMANDS:
        modules[name] = module = importlib.import_module(f"tracer.commands.{name}")
        module.add_parser(sub)
    return parser, modules


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("dispatch-tracer")
    except metadata.PackageNotFoundError:
        return "of a source tree that is not installed"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status. ``tracer run`` raises what its program raises."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _main(words)
    except BrokenPipeError:  # the reader has gone (| head): the output that is left has nowhere to go
        drop()
        return BROKEN_PIPE
    except _OutputError as error:
        drop()
        return complain(f"cannot write the output: {error}")


class _OutputError(Exception):
    """stdout takes no more."""


def _main(words: list[str]) -> int:
    parser, modules = build()
    try:
        if words and not words[0].startswith("-") and words[0] not in modules:
            hint = did_you_mean(words[0], modules)
            return complain(f"{words[0]!r} is not a command{hint}; commands are {', '.join(modules)}")
        args = parser.parse_args(words)
        if args.version:
            emit_lines([f"tracer {_version()}"])
            stdout().flush()
            return 0
    except _Usage as error:
        return complain(f"{error}\ntry: {error.parser.prog} --help", error.parser.prog)
    except TracerError as error:
        return complain(str(error))
    except OSError as error:
        raise _unwritable(error) from None
    if args.command is None:
        say(parser.format_help().rstrip("\n"))
        return 2
    run = modules[args.command].run
    if args.command == "run":  # from here on the process is the program's: its exceptions are not ours to explain
        return int(run(args))
    try:
        status = int(run(args))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except OSError as error:  # files are opened by traces, whose errors are its own: this one is stdout's
        raise _unwritable(error) from None
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if is_users(error):
            return complain(str(error)) and getattr(error, "status", 2)
        raise


def _unwritable(error: OSError) -> Exception:
    return error if isinstance(error, BrokenPipeError) else _OutputError(error.strerror)
