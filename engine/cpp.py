"""torch/csrc/api, ATen/Functions.h: the C++ namespaces ``torch`` and ``at``, for programs written as in LibTorch.

    from engine.cpp import at, cout, endl, torch

    x = torch.ones([2, 2], torch.requires_grad())
    cout << x.mean() << endl

Errors are c10::Error (``error.what()`` has the backtrace). ``main`` runs a function as C++ runs ``main``: an error that
nobody catches ends the process as std::terminate does.

Differs: overloads are chosen by the values of arguments; braces are lists.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from engine import doors
from engine.aten.core.formatting import to_string
from engine.aten.core.ops import at as ops
from engine.aten.core.tensor import Tensor as _Impl
from engine.c10 import scalar_type as _scalar_type
from engine.c10 import tensor_options as _tensor_options
from engine.c10.device import Device
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.exception import Error
from engine.c10.layout import Layout
from engine.c10.scalar_type import ScalarType
from engine.c10.tensor_options import TensorOptions
from engine.torch._ops import _bind
from engine.torch.csrc.autograd import variable
from engine.torch.csrc.autograd.autograd import _backward
from engine.torchgen import register
from engine.torchgen.gen_functions import make_at_function
from engine.torchgen.naming import OPTIONS, options_position

__all__ = ["Tensor", "at", "cerr", "cout", "endl", "main", "torch"]


def _unwrap(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._impl
    if isinstance(value, (list, tuple)):
        return [_unwrap(item) for item in value]
    return value


def _wrap(value: Any) -> Any:
    if isinstance(value, _Impl):
        return Tensor(value)
    if isinstance(value, tuple):
        return tuple(map(_wrap, value))
    return value


def _as_options(args: tuple[Any, ...]) -> tuple[TensorOptions | None, list[Any]]:
    """The TensorOptions among C++ arguments; a dtype, device or layout alone converts to them."""
    options, rest = None, []
    for arg in args:
        if isinstance(arg, TensorOptions):
            options = arg
        elif isinstance(arg, ScalarType):
            options = _tensor_options.dtype(arg)
        elif isinstance(arg, Device):
            options = _tensor_options.device(arg)
        elif isinstance(arg, Layout):
            options = _tensor_options.layout(arg)
        else:
            rest.append(arg)
    return options, rest


def _call(namespace: str, base: str, functions: dict[str, Callable[..., Any]], args: Any, kwargs: Any) -> Any:
    """Call the first overload of ``base`` that takes the arguments, as C++ overload resolution would find it."""
    register.register_all()
    args = tuple(_unwrap(a) for a in args)
    kwargs = {name: _unwrap(value) for name, value in kwargs.items()}
    failures = []
    for struct, row in register.registered_rows.items():
        if row.schema.name.name != f"aten::{base}" or struct not in functions:
            continue
        position = options_position(row)
        options, rest = _as_options(args) if position is not None else (None, list(args))
        try:
            stack = _bind(row.schema, tuple(rest), kwargs)
        except RuntimeError as error:
            failures.append(str(error).partition("\n")[0])
            continue
        if position is not None:
            given = options if options is not None else TensorOptions()
            assert tuple(a.name for a in row.schema.all_arguments[position : position + 4]) == OPTIONS
            stack[position : position + 4] = [given]
        return _wrap(functions[struct](*stack))
    if not failures:
        raise AttributeError(f"namespace '{namespace}' has no function '{base}' in the engine's table")
    raise TypeError(f"no overload of {namespace}::{base} takes these arguments:\n  " + "\n  ".join(failures))


class _Namespace:
    """Functions of a C++ namespace by name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _functions(self) -> dict[str, Callable[..., Any]]:
        if self._name == "at":
            return register.at_functions
        return {**register.at_functions, **register.variable_factories}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("k") and hasattr(_scalar_type, name[1:]):
            return getattr(_scalar_type, name[1:])
        register.register_all()
        if not any(row.schema.name.name == f"aten::{name}" for row in register.registered_rows.values()):
            raise AttributeError(f"namespace '{self._name}' has no function '{name}' in the engine's table")

        def function(*args: Any, **kwargs: Any) -> Any:
            return _call(self._name, name, self._functions(), args, kwargs)

        function.__name__ = name
        function.__qualname__ = f"{self._name}::{name}"
        self.__dict__[name] = function
        return function


@doors.frame("at::Tensor::_backward", layer="at")
def _tensor_backward(
    self: _Impl,
    inputs: list[_Impl] | None,
    gradient: _Impl | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> None:
    _backward(self, inputs, gradient, retain_graph, create_graph)


class _Methods(dict[str, Callable[..., Any]]):
    """``at::Tensor::X`` by the operator's struct name, made when first called."""

    def __contains__(self, struct: object) -> bool:
        row = register.registered_rows.get(str(struct))
        return row is not None and "method" in row.variant_set

    def __missing__(self, struct: str) -> Callable[..., Any]:
        row = register.registered_rows[struct]
        made = self[struct] = make_at_function(row, getattr(ops, struct), "at::Tensor::")
        return made


_methods = _Methods()


class Tensor:
    """at::Tensor as C++ holds it: a handle, undefined when it has no impl."""

    __slots__ = ("_impl",)

    def __init__(self, impl: _Impl | None = None) -> None:
        self._impl = impl

    # TensorBase

    def defined(self) -> bool:
        return self._impl is not None

    def sizes(self) -> list[int]:
        return list(self._get()._sizes)

    def strides(self) -> list[int]:
        return list(self._get()._strides)

    def dim(self) -> int:
        return len(self._get()._sizes)

    def numel(self) -> int:
        return self._get().numel_()

    def scalar_type(self) -> ScalarType:
        return self._get()._dtype

    def device(self) -> Device:
        return self._get()._device

    def key_set(self) -> DispatchKeySet:
        return DispatchKeySet.from_raw_repr(self._get()._ks)

    def requires_grad(self) -> bool:
        return variable.requires_grad(self._get())

    def set_requires_grad(self, requires_grad: bool) -> Tensor:
        """TensorBase::set_requires_grad: materialises autograd_meta_; returns the tensor itself."""
        variable.set_requires_grad(self._get(), requires_grad)
        return self

    def is_leaf(self) -> bool:
        return variable.is_leaf(self._get())

    def grad_fn(self) -> Any:
        return variable.grad_fn(self._get())

    def _version(self) -> int:
        return variable.version(self._get())

    def grad(self) -> Tensor:
        """Tensor::grad: the gradient, or an undefined tensor; warns on a non-leaf that does not retain its own."""
        t = self._get()
        if not variable.is_leaf(t) and not variable.retains_grad(t):
            message = NON_LEAF_GRAD
            door = doors.listener
            if door is not None:
                door.warn("Warning", message)
            print(f"[W TensorBody.h:494] Warning: {message} (function grad)", file=sys.stderr)
        meta = t._autograd_meta
        return Tensor(None if meta is None else meta.grad_)

    def retain_grad(self) -> None:
        variable.retain_grad(self._get())

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: list[Tensor] | None = None,
    ) -> None:
        """Tensor::backward: gradients of the leaves, or of ``inputs``, accumulate in their grad."""
        _tensor_backward(
            self._get(),
            None if inputs is None else [i._get() for i in inputs],
            None if gradient is None else gradient._impl,
            retain_graph,
            create_graph,
        )

    def _get(self) -> _Impl:
        if self._impl is None:
            raise Error("tensor does not have a device")
        return self._impl

    # operators of the table

    def __getattr__(self, name: str) -> Any:
        register.register_all()
        if name.startswith("__") or not any(
            row.schema.name.name == f"aten::{name}" and "method" in row.variant_set
            for row in register.registered_rows.values()
        ):
            raise AttributeError(f"at::Tensor has no member '{name}' in the engine's table")

        def method(*args: Any, **kwargs: Any) -> Any:
            return _call("at::Tensor", name, _methods, (self, *args), kwargs)

        return method

    def __add__(self, other: Any) -> Any:
        return self.add(other)

    def __sub__(self, other: Any) -> Any:
        return self.sub(other)

    def __mul__(self, other: Any) -> Any:
        return self.mul(other)

    def __truediv__(self, other: Any) -> Any:
        return self.div(other)

    def __neg__(self) -> Any:
        return self.neg()

    def __getitem__(self, index: int) -> Any:
        return self.select(0, index)

    def __str__(self) -> str:
        return to_string(self._impl)

    __repr__ = __str__


NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the "
    "leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)


class _Endl:
    """std::endl."""


endl = _Endl()


class _OStream:
    """std::ostream: ``cout << x << endl`` prints as C++ does (bools as 0 and 1)."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __lshift__(self, value: Any) -> _OStream:
        out = getattr(sys, self._name)
        if value is endl:
            out.write("\n")
            out.flush()
        elif isinstance(value, bool):
            out.write("1" if value else "0")
        elif isinstance(value, float):
            out.write(f"{value:g}")
        elif isinstance(value, (list, tuple)):
            out.write("[" + ", ".join(map(str, value)) + "]")
        else:
            out.write(str(value))
        return self


cout = _OStream("stdout")
cerr = _OStream("stderr")

torch = _Namespace("torch")
at = _Namespace("at")
for _name in ("dtype", "device", "layout", "requires_grad"):
    setattr(torch, _name, getattr(_tensor_options, _name))
    setattr(at, _name, getattr(_tensor_options, _name))
for _space in (torch, at):
    _space.Tensor = Tensor  # type: ignore[attr-defined]
    _space.TensorOptions = TensorOptions  # type: ignore[attr-defined]


def main(function: Callable[[], int | None]) -> None:
    """Run ``function`` as C++ runs main: its return is the exit status, an uncaught c10::Error aborts (134)."""
    try:
        status = function()
    except Error as error:
        sys.stdout.flush()
        print("terminate called after throwing an instance of 'c10::Error'", file=sys.stderr)
        print(f"  what():  {error.what()}", file=sys.stderr)
        sys.stderr.flush()
        raise SystemExit(134) from None
    raise SystemExit(status or 0)
