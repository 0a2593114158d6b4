"""Runs a program in this process as ``python PROGRAM ARGS…`` would: ``__main__``, argv, sys.path, cwd, exit status."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import types
import zipfile
from dataclasses import dataclass
from types import CodeType
from typing import Literal

from tracer import tracebacks
from tracer.errors import TracerError, say

__all__ = ["NotStarted", "Program", "check", "load", "run"]


class NotStarted(Exception):
    """The program was not found, so nothing of it ran."""


_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGES = ("engine", "tracer", "traces")  # imported already, so a program cannot have its own of these names


@dataclass(frozen=True, slots=True)
class Program:
    """What to run: a script (a file, a directory or zip with ``__main__.py``, ``-``), a module, or code."""

    kind: Literal["script", "module", "code"]
    target: str
    args: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """The name its trace gets by default."""
        if self.kind == "code":
            return "command"
        if self.kind == "module":
            return self.target
        if self.target == "-":
            return "stdin"
        return os.path.splitext(os.path.basename(os.path.abspath(self.target)))[0] or "script"

    @property
    def argv(self) -> tuple[str, ...]:
        """``sys.argv`` (of a module: before it has been found, then its file takes the first place)."""
        first = {"script": self.target, "module": "-m", "code": "-c"}[self.kind]
        return (first, *self.args)


def check(program: Program) -> None:
    """Raise TracerError for what can be seen to be wrong before anything is started."""
    if program.kind == "script" and program.target != "-":
        path = program.target
        if not os.path.exists(path):
            raise TracerError(f"can't open file {path!r}: no such file")
        if os.path.isdir(path):
            if not os.path.exists(os.path.join(path, "__main__.py")):
                raise TracerError(f"can't run directory {path!r}: it has no __main__.py")
        elif not os.access(path, os.R_OK):
            raise TracerError(f"can't open file {path!r}: permission denied")
    elif program.kind == "module":
        if program.target.startswith("."):
            raise TracerError(f"-m {program.target}: relative module names are not supported")
        if not program.target or program.target.endswith(".py"):
            hint = f"; did you mean the script {program.target}?" if program.target else ""
            raise TracerError(f"-m takes a module name, not {program.target!r}{hint}")


def load(program: Program, full_traceback: bool = False) -> CodeType | None:
    """The program's code, as far as it can be had without running anything of it; SyntaxError is raised as by `run`."""
    try:
        if program.kind == "code":
            return compile(program.target, "<string>", "exec", dont_inherit=True)
        if program.kind == "module":
            return None
        if program.target == "-":
            return compile(sys.stdin.buffer.read(), "<stdin>", "exec", dont_inherit=True)
        path = os.path.abspath(program.target)
        if os.path.isdir(path) or zipfile.is_zipfile(path):
            return None
        if path.endswith(".pyc"):
            return importlib.machinery.SourcelessFileLoader("__main__", path).get_code("__main__")
        with open(path, "rb") as file:
            return compile(file.read(), path, "exec", dont_inherit=True)
    except BaseException:
        if not full_traceback:
            tracebacks.clean_at_exit(load.__code__)
        raise


def run(program: Program, full_traceback: bool = False, code: CodeType | None = None) -> None:
    """Run the program (its code is what `load` gave) to its end; what it raises (SystemExit too) comes out, with the
    excepthook set to show it as python would have. The process is the program's from here on: argv, path and
    ``__main__`` stay as it leaves them.
    """
    try:
        code, module = _enter(program, code if code is not None else load(program, full_traceback))
        sys.modules["__main__"] = module
        if not full_traceback:
            tracebacks.clean_in_threads()
        _execute(code, module.__dict__)
    except (SystemExit, NotStarted):
        raise
    except BaseException:
        if not full_traceback:
            tracebacks.clean_at_exit(run.__code__)
        raise


def _execute(code: CodeType, namespace: dict[str, object]) -> None:
    exec(code, namespace)


def _enter(program: Program, code: CodeType | None) -> tuple[CodeType, types.ModuleType]:
    sys.argv[:] = program.argv
    if program.kind == "module":
        _set_path(os.getcwd())
        return _load_module(program.target)
    path = os.path.abspath(program.target)
    if code is None:  # a directory or zip
        sys.path.insert(0, path) if sys.flags.safe_path else _set_path(path)
        return _load_module("__main__", [path])
    module = _fresh_main()
    if program.kind == "code" or program.target == "-":
        _set_path("")
        if program.kind == "script":
            _describe(module, "<stdin>", None)
        return code, module
    _set_path(os.path.dirname(os.path.realpath(path)))
    sourceless = path.endswith(".pyc")
    loader = importlib.machinery.SourcelessFileLoader if sourceless else importlib.machinery.SourceFileLoader
    module.__loader__ = loader("__main__", path)
    _describe(module, path, None)
    return code, module


def _set_path(first: str) -> None:
    if sys.flags.safe_path:
        return
    sys.path[:1] = [first]
    for name in _PACKAGES:
        path = os.path.join(first, name)
        if os.path.abspath(path) != os.path.join(_ROOT, name) and (os.path.isdir(path) or os.path.isfile(path + ".py")):
            say(f"tracer: note: `import {name}` gives the tracer's own package, not {path}")


def _fresh_main() -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    module.__annotations__ = {}
    module.__loader__ = importlib.machinery.BuiltinImporter
    _keep.append(sys.modules["__main__"])
    return module


def _describe(module: types.ModuleType, file: str | None, cached: str | None) -> None:
    module.__dict__["__file__"] = file
    module.__dict__["__cached__"] = cached


_keep: list[types.ModuleType] = []  # the __main__ that started us must outlive its place in sys.modules


def _load_module(name: str, where: list[str] | None = None) -> tuple[CodeType, types.ModuleType]:
    """As ``python -m NAME`` finds it; with ``where``, only there (the ``__main__`` of a directory or zip)."""
    spec = importlib.machinery.PathFinder.find_spec(name, where) if where else _find(name)
    if spec is not None and spec.submodule_search_locations is not None:
        main = f"{name}.__main__"
        spec = _find(main)
        if spec is None:
            raise NotStarted(f"no module named {main}; {name!r} is a package and cannot be directly executed")
    if spec is None:
        raise NotStarted(f"no module named {name}")
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(spec.name) if get_code else None
    if code is None:
        raise NotStarted(f"no code object available for {name}")
    module = _fresh_main()
    module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
    _describe(module, spec.origin, spec.cached)
    if where is None:
        sys.argv[0] = spec.origin or sys.argv[0]
    return code, module


def _find(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        # The parent of a dotted name is missing; a parent that fails on an import of its own is the program's error.
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            return None
        raise
    except ValueError:  # __main__'s own spec is None
        return None
