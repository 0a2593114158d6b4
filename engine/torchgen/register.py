"""torchgen/dest/register_dispatch_key.py: fills the dispatcher from THE TABLE.

Every row gives its schema, the wrapper around each native kernel, the BackendSelect kernel of factories, and the
Autograd and ADInplaceOrView kernels. Registered once per process, on first use of an operator.
"""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable, Iterator
from typing import Any

from engine import doors
from engine.aten.core.backend_fallbacks import install as install_fallbacks
from engine.aten.core.dispatcher import OperatorHandle, singleton
from engine.aten.core.kernel_function import KernelFunction
from engine.aten.core.ops import at
from engine.c10.dispatch_key import DispatchKey
from engine.torchgen.gen_backend_select import make_backend_select, needs_backend_select
from engine.torchgen.gen_functions import is_variable_factory, make_at_function, make_variable_factory
from engine.torchgen.gen_inplace_or_view_type import make_inplace_or_view_kernel, needs_inplace_or_view
from engine.torchgen.gen_variable_type import make_variable_type_kernel, needs_variable_type
from engine.torchgen.model import NativeFunction
from engine.torchgen.naming import register_file, wrapper_name

__all__ = ["at_functions", "register_all", "register_row", "registered_rows", "rows", "variable_factories"]

# at::X and torch::X by the operator's struct name
at_functions: dict[str, Callable[..., Any]] = {}
variable_factories: dict[str, Callable[..., Any]] = {}
registered_rows: dict[str, NativeFunction] = {}

_MANUAL = "registered at torch/csrc/autograd/VariableTypeManual.cpp"


def rows() -> Iterator[NativeFunction]:
    """THE TABLE, family by family."""
    package = importlib.import_module("engine.torchgen.rows")
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        yield from importlib.import_module(f"engine.torchgen.rows.{info.name}").ROWS


def _wrapper(row: NativeFunction, key: str, fn: Callable[..., Any]) -> KernelFunction:
    """The function RegisterX.cpp generates around a native kernel."""
    native = getattr(fn, "__wrapped__", fn)
    inner: doors.Site | None = getattr(fn, "__site__", None)
    name = wrapper_name(row, key)

    def wrapper(*args: Any) -> Any:
        return native(*args)

    params = tuple(argument.name for argument in row.schema.all_arguments)
    site = doors.site_of(wrapper, name, "wrapper", params)
    return KernelFunction(doors.rename(wrapper, name), name, site=site, inner_site=inner)


def _with_keyset(fn: Callable[..., Any], row: NativeFunction) -> KernelFunction:
    """A kernel that takes the key set first, as generated and hand-written autograd kernels do."""
    site: doors.Site | None = getattr(fn, "__site__", None)
    boxed = bool(getattr(fn, "__boxed__", False))
    plain = getattr(fn, "__wrapped__", fn)
    name = site.name if site is not None else getattr(fn, "__name__", "kernel")
    return KernelFunction(plain, name, takes_ks=not boxed, boxed=boxed, site=site)


def _register_autograd(row: NativeFunction, op: OperatorHandle) -> None:
    if row.autograd == "fallthrough":
        kernel, debug = KernelFunction.make_fallthrough(), _MANUAL
    elif row.autograd is not None:
        assert callable(row.autograd)
        kernel, debug = _with_keyset(row.autograd, row), _MANUAL
    elif needs_variable_type(row):
        kernel = _with_keyset(make_variable_type_kernel(row, op), row)
        debug = "registered at torch/csrc/autograd/generated/VariableType.cpp"
    else:
        return
    singleton.register_impl(op.name, DispatchKey.Autograd, kernel, debug)


def _register_inplace_or_view(row: NativeFunction, op: OperatorHandle) -> None:
    if row.adinplaceorview == "none":
        return
    if row.adinplaceorview == "fallthrough":
        kernel, debug = KernelFunction.make_fallthrough(), _MANUAL
    elif row.adinplaceorview not in (None, "generated"):
        assert callable(row.adinplaceorview)
        kernel, debug = _with_keyset(row.adinplaceorview, row), _MANUAL
    elif needs_inplace_or_view(row):
        kernel = _with_keyset(make_inplace_or_view_kernel(row, op), row)
        debug = "registered at torch/csrc/autograd/generated/ADInplaceOrViewType.cpp"
    else:
        return
    singleton.register_impl(op.name, DispatchKey.ADInplaceOrView, kernel, debug)


def register_row(row: NativeFunction) -> OperatorHandle:
    """Register one operator with all its generated layers."""
    op, _ = singleton.register_def(row.schema, "registered at build/aten/src/ATen/RegisterSchema.cpp")
    struct = row.schema.name.unambiguous_name()
    for key, fn in row.kernels.items():
        singleton.register_impl(op.name, DispatchKey[key], _wrapper(row, key, fn), register_file(key))
    if row.structured and row.schema.kind() != "out" and "CPU" in row.kernels:
        key = "CompositeExplicitAutogradNonFunctional"
        singleton.register_impl(op.name, DispatchKey[key], _wrapper(row, key, row.kernels["CPU"]), register_file(key))
    if needs_backend_select(row):
        fn = make_backend_select(row, op)
        kernel = KernelFunction(fn, fn.__site__.name, site=fn.__site__)  # type: ignore[attr-defined]
        singleton.register_impl(op.name, DispatchKey.BackendSelect, kernel, register_file("BackendSelect"))
    _register_autograd(row, op)
    _register_inplace_or_view(row, op)
    at._add(op)
    registered_rows[struct] = row
    at_functions[struct] = make_at_function(row, op)
    if is_variable_factory(row):
        variable_factories[struct] = make_variable_factory(row, at_functions[struct])
    return op


_lock = threading.RLock()
_done = False


def register_all() -> None:
    """Register every row and the backend fallbacks, once."""
    global _done
    with _lock:
        if _done:
            return
        _done = True
        install_fallbacks(singleton)
        for row in rows():
            register_row(row)
