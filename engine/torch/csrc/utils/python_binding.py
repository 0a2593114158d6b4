"""torch/csrc/Exceptions.h (HANDLE_TH_ERRORS), torch/csrc/utils/pycfunction_helpers.h: a C++ function as Python sees it.

``run(self, args, kwargs)`` becomes a function or a method under its C++ name: its calls are frames of the trace, c10
errors turn into Python's, and a wrong ``self`` fails as a method descriptor does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.c10.exception import Error, translate
from engine.torch.csrc.utils.python_arg_parser import PythonArgParser, PythonArgs
from engine.torch.csrc.utils.python_numbers import tp_name
from engine.torch.csrc.utils.python_torch_function import (
    check_has_torch_function,
    handle_torch_function,
    mode_enabled,
)

__all__ = ["as_function", "as_method", "note", "parsed", "tensor_class", "tensor_method", "tensor_property"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

Run = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

_PARAMS = ("self_", "args", "kwargs")
_MISSING: Any = object()


def _named(fn: Any, cpp: str, name: str, owner: str, module: str) -> Any:
    """The C++ name for tracebacks, Python's name for everybody else."""
    doors.rename(fn, cpp)
    fn.__name__ = name
    fn.__qualname__ = f"{owner}.{name}"
    fn.__module__ = module
    return fn


def as_function(run: Run, name: str, module: str = "torch", cpp: str | None = None) -> Callable[..., Any]:
    """A function of ``module`` under the C++ name ``cpp`` (THPVariable_NAME if not given)."""

    def function(*args: Any, **kwargs: Any) -> Any:
        door = doors.listener
        if door is None:
            try:
                return run(None, args, kwargs)
            except Error as error:
                raise translate(error) from None
        door.enter(site, (None, args, kwargs))
        try:
            result = run(None, args, kwargs)
        except Error as error:
            door.fail(site, error)
            raise translate(error) from None
        except BaseException as error:
            door.fail(site, error)
            raise
        door.leave(site, result)
        return result

    cpp = cpp or f"torch::autograd::THPVariable_{name}"
    site = doors.site_of(function, cpp, "python", _PARAMS)
    return _named(function, cpp, name, "_VariableFunctionsClass", module)  # type: ignore[no-any-return]


def as_method(run: Run, name: str, cpp: str | None = None, noarg: bool = False) -> Callable[..., Any]:
    """A method of torch.Tensor; ``noarg``: one that takes nothing (METH_NOARGS)."""

    def method(self_: Any = _MISSING, /, *args: Any, **kwargs: Any) -> Any:
        if type(self_) is not Tensor:
            _check_self(self_, name)
        if noarg and (args or kwargs):
            _no_arguments(name, args, kwargs)
        door = doors.listener
        if door is None:
            try:
                return run(self_, args, kwargs)
            except Error as error:
                raise translate(error) from None
        door.enter(site, (self_, args, kwargs))
        try:
            result = run(self_, args, kwargs)
        except Error as error:
            door.fail(site, error)
            raise translate(error) from None
        except BaseException as error:
            door.fail(site, error)
            raise
        door.leave(site, result)
        return result

    cpp = cpp or f"torch::autograd::THPVariable_{name}"
    site = doors.site_of(method, cpp, "python", _PARAMS)
    return _named(method, cpp, name, "TensorBase", "torch")  # type: ignore[no-any-return]


def _check_self(self_: Any, name: str) -> None:
    if self_ is _MISSING:
        raise TypeError(f"unbound method TensorBase.{name}() needs an argument")
    if not isinstance(self_, Tensor):
        raise TypeError(
            f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{tp_name(self_)}' object"
        )


def _no_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise TypeError(f"TensorBase.{name}() takes no keyword arguments")
    raise TypeError(f"TensorBase.{name}() takes no arguments ({len(args)} given)")


def note(r: PythonArgs) -> None:
    """Tell the listener which signature a call was bound to."""
    door = doors.listener
    if door is not None:
        door.detail("signature", r.signature.fmt)
        door.detail("idx", r.idx)


def tensor_class() -> type[Tensor]:
    """Where overrides are told a method lies."""
    return Tensor


def parsed(
    body: Callable[[Any, PythonArgs], Any], parser: PythonArgParser, name: str, method: bool, api: Callable[[], Any]
) -> Run:
    """A hand-written binding with an argument parser: ``body(self, r)`` unless an override takes the call."""
    module = "torch.Tensor" if method else "torch"

    def run(self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        r = parser.parse(self_, args, kwargs)
        note(r)
        if r.overloaded_args or mode_enabled():
            return handle_torch_function(r.overloaded_args, self_, args, kwargs, api(), name, module)
        return body(self_, r)

    return run


def tensor_method(*signatures: str, name: str | None = None, cpp: str | None = None) -> Callable[[Any], Any]:
    """Decorator of a hand-written method: ``f(self, r)`` with signatures, ``f(self)`` for one that takes nothing."""

    def decorate(body: Any) -> Any:
        known = name or body.__name__.removeprefix("THPVariable_")
        if signatures:
            return as_method(parsed(body, PythonArgParser(signatures), known, True, tensor_class), known, cpp)

        def run(self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if check_has_torch_function(self_):
                return handle_torch_function((self_,), self_, (), None, Tensor, known, "torch.Tensor")
            return body(self_)

        return as_method(run, known, cpp, noarg=True)

    return decorate


class tensor_property:
    """A getset descriptor of torch.Tensor. Reading it is no frame of the trace; overrides see ``__get__``."""

    def __init__(
        self, name: str, getter: Callable[[Any], Any], setter: Callable[[Any, Any], None] | None = None
    ) -> None:
        self.__name__ = name
        self._getter = getter
        self._setter = setter

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        if obj is None:
            return self
        if check_has_torch_function(obj):
            return handle_torch_function((obj,), obj, (), None, self, "__get__", f"torch.Tensor.{self.__name__}")
        try:
            return self._getter(obj)
        except Error as error:
            raise translate(error) from None

    def __set__(self, obj: Any, value: Any) -> None:
        if check_has_torch_function(obj):
            handle_torch_function((obj,), obj, (value,), None, self, "__set__", f"torch.Tensor.{self.__name__}")
            return
        if self._setter is None:
            raise AttributeError(f"attribute '{self.__name__}' of 'torch._C.TensorBase' objects is not writable")
        try:
            self._setter(obj, value)
        except Error as error:
            raise translate(error) from None

    def __delete__(self, obj: Any) -> None:
        if self.__name__ in ("grad", "_grad"):
            self.__set__(obj, None)
            return
        raise AttributeError(f"attribute '{self.__name__}' of 'torch._C.TensorBase' objects is not writable")

    def __repr__(self) -> str:
        return f"<attribute '{self.__name__}' of 'torch._C.TensorBase' objects>"
