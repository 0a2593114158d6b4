"""aten/src/ATen/core/dispatch/Dispatcher.h: finds operators, calls and redispatches them.

Differs: a call's masked key set and kernel are remembered per unmasked key set until a registration changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine import doors
from engine.aten.core.dispatch_key_extractor import argument_keysets, make_extractor
from engine.aten.core.function_schema import FunctionSchema
from engine.aten.core.kernel_function import AnnotatedKernel, KernelFunction
from engine.aten.core.operator_entry import Cell, OperatorEntry
from engine.c10.dispatch_key import DispatchKey, full_backend_mask
from engine.c10.dispatch_key_set import DispatchKeySet, highest_priority_type_id
from engine.c10.exception import TORCH_CHECK, Error
from engine.c10.local_dispatch_key_set import tls
from engine.doors import Site

__all__ = ["Decision", "Dispatcher", "OperatorHandle", "singleton"]


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a dispatcher step went where it went. Key sets are raw.

    merged: what the step saw: the arguments' keys and the thread-local state, or the argument of a redispatch.
    keyset: ``merged`` without the keys that fall through; what the kernel receives.

    kind: call, redispatch, callBoxed or redispatchBoxed. ``fallthrough``: keys of higher priority that were passed
    over. ``reason``: why this kernel is in that cell, in brackets as PyTorch's table prints it.
    """

    kind: str
    op: str
    merged: int
    keyset: int
    args_keysets: tuple[tuple[str, int], ...]
    tls_included: int
    tls_excluded: int
    fallthrough: tuple[DispatchKey, ...]
    key: DispatchKey
    kernel: KernelFunction
    debug: str
    reason: str


_Hit = tuple[int, KernelFunction, DispatchKey]  # masked key set, kernel, the key that won


class OperatorHandle:
    """An operator: ``call(*args)`` dispatches, ``redispatch(ks, *args)`` goes on with the raw key set ``ks``.

    Arguments are positional, complete and in the order of the schema. ``callBoxed(stack)`` and
    ``redispatchBoxed(ks, stack)`` pop them from a list and push the results.
    """

    __slots__ = (
        "_call_cache",
        "_extract",
        "_redispatch_cache",
        "call",
        "callBoxed",
        "dispatcher",
        "entry",
        "name",
        "redispatch",
        "redispatchBoxed",
        "schema",
    )

    call: Callable[..., Any]
    redispatch: Callable[..., Any]
    callBoxed: Callable[[list[Any]], None]
    redispatchBoxed: Callable[[int, list[Any]], None]

    def __init__(self, dispatcher: Dispatcher, schema: FunctionSchema, debug: str, entry: OperatorEntry) -> None:
        self.dispatcher = dispatcher
        self.entry = entry
        self.schema = schema
        self.name = str(schema.name)
        self._call_cache: dict[int, _Hit] = {}
        self._redispatch_cache: dict[int, _Hit] = {}
        self._extract = make_extractor(schema)
        entry.schema = schema
        entry.debug = debug
        entry.on_change.append(self._forget)
        _make_callers(self)

    def __repr__(self) -> str:
        return f"<OperatorHandle {self.name}>"

    def _forget(self) -> None:
        self._call_cache.clear()
        self._redispatch_cache.clear()

    def find_for_call(self, full: int) -> _Hit:
        """The masked key set, the kernel and the key that won for a call that saw ``full``."""
        ks = self.entry.mask(full)
        kernel, key = self.entry.lookup(ks)
        hit = self._call_cache[full] = (ks, kernel, key)
        return hit

    def find_for_redispatch(self, ks: int) -> _Hit:
        kernel, key = self.entry.lookup(ks)
        hit = self._redispatch_cache[ks] = (ks, kernel, key)
        return hit

    def decide(self, kind: str, args: tuple[Any, ...], full: int, hit: _Hit) -> Decision:
        """The Decision of a step, for a listener."""
        ks, kernel, key = hit
        cell: Cell = self.entry.cell(key)
        passed = _higher(full, key) if full != ks else ()
        return Decision(
            kind,
            self.name,
            full,
            ks,
            tuple(argument_keysets(self.schema, args)),
            tls.included,
            tls.excluded,
            passed,
            key,
            kernel,
            cell.debug,
            f"[{cell.reason}]",
        )


def _higher(full: int, winner: DispatchKey) -> tuple[DispatchKey, ...]:
    """The keys of ``full`` that have priority over ``winner``, highest first."""
    found = []
    rest = full
    while rest:
        key = highest_priority_type_id(rest)
        if key in (winner, DispatchKey.Undefined):
            break
        found.append(key)
        rest &= ~(DispatchKeySet(key).raw_repr() & ~full_backend_mask)
    return tuple(found)


_FUNCTIONALITY = ~full_backend_mask


def _run(door: Any, op: OperatorHandle, kernel: KernelFunction, ks: int, args: tuple[Any, ...]) -> Any:
    """Call a kernel while somebody listens, with the frames that it enters."""
    outer, inner = kernel.site, kernel.inner_site
    if outer is None:
        return kernel.call(op, ks, args)
    shown = (ks, *args) if kernel.takes_ks else args
    door.enter(outer, shown)
    try:
        if inner is None:
            result = kernel.call(op, ks, args)
        else:
            door.enter(inner, shown)
            try:
                result = kernel.call(op, ks, args)
            except BaseException as error:
                door.fail(inner, error)
                raise
            door.leave(inner, result)
    except BaseException as error:
        door.fail(outer, error)
        raise
    door.leave(outer, result)
    return result


def _make_callers(op: OperatorHandle) -> None:
    """at::_ops::X::call and redispatch of one operator, and their boxed forms."""
    cache, again = op._call_cache, op._redispatch_cache
    extract, find, find_again = op._extract, op.find_for_call, op.find_for_redispatch
    namespace, _, rest = op.name.partition("::")
    struct = rest.replace(".", "_")
    prefix = f"at::_ops::{struct}" if namespace == "aten" else f"{namespace}::_ops::{struct}"
    params = tuple(a.name for a in op.schema.all_arguments)

    def call(*args: Any) -> Any:
        full = (extract(args) | tls.included) & ~(tls.excluded & _FUNCTIONALITY)
        door = doors.listener
        if door is not None:
            return traced("call", call_site, full, cache.get(full), args)
        ks, kernel, _ = cache.get(full) or find(full)
        if kernel.boxed:
            return kernel.call(op, ks, args)
        return kernel.fn(ks, *args) if kernel.takes_ks else kernel.fn(*args)  # type: ignore[misc]

    def redispatch(ks: int, *args: Any) -> Any:
        door = doors.listener
        if door is not None:
            return traced("redispatch", redispatch_site, ks, again.get(ks), args)
        _, kernel, _ = again.get(ks) or find_again(ks)
        if kernel.boxed:
            return kernel.call(op, ks, args)
        return kernel.fn(ks, *args) if kernel.takes_ks else kernel.fn(*args)  # type: ignore[misc]

    def traced(kind: str, site: Site, full: int, hit: Any, args: tuple[Any, ...]) -> Any:
        door = doors.listener
        assert door is not None
        door.enter(site, args if kind == "call" else (full, *args))
        try:
            if hit is None:
                hit = find(full) if kind == "call" else find_again(full)
            door.hop(op.decide(kind, args, full, hit))
            result = _run(door, op, hit[1], hit[0], args)
        except BaseException as error:
            door.fail(site, error)
            raise
        door.leave(site, result)
        return result

    def call_boxed(stack: list[Any]) -> None:
        args = tuple(stack[len(stack) - len(params) :])
        full = (extract(args) | tls.included) & ~(tls.excluded & _FUNCTIONALITY)
        hit = cache.get(full) or find(full)
        boxed("callBoxed", call_boxed_site, full, hit, args, stack)

    def redispatch_boxed(ks: int, stack: list[Any]) -> None:
        args = tuple(stack[len(stack) - len(params) :])
        hit = again.get(ks) or find_again(ks)
        boxed("redispatchBoxed", redispatch_boxed_site, ks, hit, args, stack)

    def boxed(kind: str, site: Site, full: int, hit: Any, args: tuple[Any, ...], stack: list[Any]) -> None:
        ks, kernel, _ = hit
        door = doors.listener
        if door is None:
            kernel.call_boxed(op, ks, stack)
            return
        door.enter(site, args)
        try:
            door.hop(op.decide(kind, args, full, hit))
            result = _run(door, op, kernel, ks, args)
        except BaseException as error:
            door.fail(site, error)
            raise
        door.leave(site, result)
        del stack[len(stack) - len(params) :]
        returns = len(op.schema.returns)
        if returns == 1:
            stack.append(result)
        elif returns:
            stack.extend(result)

    call_site = doors.site_of(call, prefix + "::call", "ops", params)
    redispatch_site = doors.site_of(redispatch, prefix + "::redispatch", "ops", ("dispatchKeySet", *params))
    call_boxed_site = doors.site_of(call_boxed, "c10::Dispatcher::callBoxed", "ops", params)
    redispatch_boxed_site = doors.site_of(redispatch_boxed, "c10::Dispatcher::redispatchBoxed", "ops", params)
    op.call = doors.rename(call, prefix + "::call")
    op.redispatch = doors.rename(redispatch, prefix + "::redispatch")
    op.callBoxed = doors.rename(call_boxed, "c10::Dispatcher::callBoxed")
    op.redispatchBoxed = doors.rename(redispatch_boxed, "c10::Dispatcher::redispatchBoxed")


class Dispatcher:
    """All operators and backend fallbacks of the process."""

    def __init__(self) -> None:
        self._entries: dict[str, OperatorEntry] = {}
        self._handles: dict[str, OperatorHandle] = {}
        self._fallbacks: dict[DispatchKey, list[AnnotatedKernel]] = {}

    # operators

    def entry(self, name: str) -> OperatorEntry:
        """The entry of ``ns::name.overload``, made when kernels come before the schema."""
        found = self._entries.get(name)
        if found is None:
            found = self._entries[name] = OperatorEntry(self, name)
        return found

    def find(self, name: str) -> OperatorHandle | None:
        return self._handles.get(name)

    def find_schema_or_throw(self, name: str) -> OperatorHandle:
        """Dispatcher::findSchemaOrThrow."""
        handle = self._handles.get(name)
        if handle is None:
            raise Error(f"Could not find schema for {name}")
        return handle

    def operators(self) -> list[OperatorHandle]:
        return list(self._handles.values())

    def register_def(self, schema: FunctionSchema, debug: str) -> tuple[OperatorHandle, Callable[[], None]]:
        """Dispatcher::registerDef: returns the operator and the function that takes it away again."""
        name = str(schema.name)
        entry = self.entry(name)
        if entry.schema is not None:
            raise Error(
                f"Tried to register an operator ({schema}) with the same name and overload name multiple times. Each "
                f"overload's schema should only be registered with a single call to def(). Duplicate registration: "
                f"{debug}. Original registration: {entry.debug}"
            )
        handle = OperatorHandle(self, schema, debug, entry)
        self._handles[name] = handle

        def undo() -> None:
            if self._handles.get(name) is handle:
                del self._handles[name]
                entry.schema = None
                entry.on_change.remove(handle._forget)
                if not entry.kernels:
                    self._entries.pop(name, None)

        return handle, undo

    def register_impl(self, name: str, key: DispatchKey, kernel: KernelFunction, debug: str) -> Callable[[], None]:
        """Dispatcher::registerImpl."""
        return self.entry(name).register_kernel(key, kernel, debug)

    # fallbacks

    def fallback(self, key: DispatchKey) -> AnnotatedKernel | None:
        rows = self._fallbacks.get(key)
        return rows[0] if rows else None

    def register_fallback(self, key: DispatchKey, kernel: KernelFunction, debug: str) -> Callable[[], None]:
        """Dispatcher::registerFallback: one per key, as c10 insists."""
        rows = self._fallbacks.setdefault(key, [])
        TORCH_CHECK(
            not rows,
            "Tried to register multiple backend fallbacks for the same dispatch key ",
            key.name,
            "; previous registration ",
            rows[0].debug if rows else "",
            ", new registration ",
            debug,
        )
        row = AnnotatedKernel(kernel, debug)
        rows.append(row)
        self._changed()

        def undo() -> None:
            if row in rows:
                rows.remove(row)
                self._changed()

        return undo

    def _changed(self) -> None:
        for entry in self._entries.values():
            entry.changed()


singleton = Dispatcher()
