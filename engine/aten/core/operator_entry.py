"""aten/src/ATen/core/dispatch/OperatorEntry.cpp: an operator's registrations and its computed dispatch table.

Differs: cells are computed when first asked for and forgotten at every registration; c10 keeps the array up to date.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.aten.core.function_schema import FunctionSchema
from engine.aten.core.kernel_function import AnnotatedKernel, KernelFunction
from engine.c10.dispatch_key import (
    DispatchKey,
    full_backend_mask,
    isAliasDispatchKey,
    isPerBackendFunctionalityKey,
    num_backends,
    toFunctionalityKey,
    toString,
)
from engine.c10.dispatch_key_set import (
    DispatchKeySet,
    autogradother_backends,
    getBackendKeySetFromAutograd,
    highest_priority_type_id,
    isIncludedInAlias,
    key_bits,
)
from engine.c10.exception import Error, NotImplementedError

if TYPE_CHECKING:
    from engine.aten.core.dispatcher import Dispatcher

__all__ = ["Cell", "OperatorEntry", "runtime_keys"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a computed table: the kernel, where it was registered, and the rule that put it there.

    ``reason`` is c10's word: kernel, default backend kernel, math kernel, nested kernel, autograd kernel, batched
    kernel, ambiguous autogradother, backend fallback, missing.
    """

    kernel: KernelFunction | None
    debug: str
    reason: str


def _runtime_keys() -> tuple[DispatchKey, ...]:
    """Every key with a cell of its own, Undefined first, in c10's order of the table."""
    keys = [DispatchKey.Undefined]
    keys.extend(DispatchKeySet.FULL())
    return tuple(keys)


runtime_keys = _runtime_keys()

_FULL = DispatchKeySet.FULL().raw_repr()


def _functionality_bits(key: DispatchKey) -> int:
    return key_bits(key) & ~full_backend_mask


class OperatorEntry:
    """Registrations of one operator by key, newest first, and the table computed from them."""

    def __init__(self, dispatcher: Dispatcher, name: str) -> None:
        self.dispatcher = dispatcher
        self.name = name
        self.schema: FunctionSchema | None = None
        self.debug = ""
        self.kernels: dict[DispatchKey, list[AnnotatedKernel]] = {}
        self._cells: dict[DispatchKey, Cell] = {}
        self._masks: tuple[int, tuple[int, ...] | None] | None = None
        self.on_change: list[Callable[[], None]] = []

    # registrations -------------------------------------------------------------------------------------------------

    def register_kernel(self, key: DispatchKey, kernel: KernelFunction, debug: str) -> Callable[[], None]:
        """Put ``kernel`` before those already there for ``key``; returns the function that takes it away again."""
        entry = AnnotatedKernel(kernel, debug)
        self.kernels.setdefault(key, []).insert(0, entry)
        self.changed()

        def undo() -> None:
            rows = self.kernels.get(key, [])
            if entry in rows:
                rows.remove(entry)
                if not rows:
                    del self.kernels[key]
                self.changed()

        return undo

    def changed(self) -> None:
        """Forget every computed cell."""
        self._cells.clear()
        self._masks = None
        for notify in self.on_change:
            notify()

    def registered(self, key: DispatchKey) -> AnnotatedKernel | None:
        rows = self.kernels.get(key)
        return rows[0] if rows else None

    def _any(self, keys: DispatchKeySet) -> bool:
        return any(keys.has(key) for key in self.kernels if not isAliasDispatchKey(key))

    # the table -----------------------------------------------------------------------------------------------------

    def cell(self, key: DispatchKey) -> Cell:
        """The computed cell of a runtime key."""
        found = self._cells.get(key)
        if found is None:
            found = self._cells[key] = self._compute(key)
        return found

    def _compute(self, key: DispatchKey) -> Cell:
        undefined = key == DispatchKey.Undefined
        if direct := self.registered(key):
            return Cell(direct.kernel, direct.debug, "kernel")
        for alias in (DispatchKey.CompositeExplicitAutogradNonFunctional, DispatchKey.CompositeExplicitAutograd):
            if (undefined or isIncludedInAlias(key, alias)) and (row := self.registered(alias)):
                return Cell(row.kernel, row.debug, "default backend kernel")
        has_backend_kernel = (
            self._any(getBackendKeySetFromAutograd(key))
            or self.registered(DispatchKey.CompositeExplicitAutograd) is not None
        )
        nested = DispatchKey.CompositeImplicitAutogradNestedTensor
        if (
            not undefined
            and isIncludedInAlias(key, nested)
            and (row := self.registered(nested))
            and not has_backend_kernel
        ):
            return Cell(row.kernel, row.debug, "nested kernel")
        math = DispatchKey.CompositeImplicitAutograd
        if (undefined or isIncludedInAlias(key, math)) and (row := self.registered(math)):
            if key == DispatchKey.AutogradOther and self._any(DispatchKeySet.from_raw_repr(autogradother_backends)):
                kernel = KernelFunction(_ambiguous_autogradother, "ambiguous_autogradother_kernel", boxed=True)
                return Cell(kernel, "ambiguous_autogradother", "ambiguous autogradother")
            if not has_backend_kernel:
                return Cell(row.kernel, row.debug, "math kernel")
        for alias, reason in (
            (DispatchKey.Autograd, "autograd kernel"),
            (DispatchKey.FuncTorchBatchedDecomposition, "batched kernel"),
        ):
            if isIncludedInAlias(key, alias) and (row := self.registered(alias)):
                return Cell(row.kernel, row.debug, reason)
        if fallback := self.dispatcher.fallback(key):
            return Cell(fallback.kernel, fallback.debug, "backend fallback")
        return Cell(None, "", "missing")

    def _non_fallthrough(self) -> tuple[int, tuple[int, ...] | None]:
        """DispatchKeyExtractor's masks: one for all backends, or one a backend where they differ."""
        shared = _FULL
        per_backend = [_FULL] * num_backends
        for key in runtime_keys[1:]:
            kernel = self.cell(key).kernel
            bits = _functionality_bits(key)
            skip = kernel is not None and kernel.is_fallthrough
            if isPerBackendFunctionalityKey(toFunctionalityKey(key)):
                index = DispatchKeySet(key).getBackendIndex()
                per_backend[index] = per_backend[index] & ~bits if skip else per_backend[index] | bits
            elif skip:
                per_backend = [mask & ~bits for mask in per_backend]
            shared = shared & ~bits if skip else shared | bits
        if len(set(per_backend)) == 1:
            return shared, None
        return shared, tuple(per_backend)

    def mask(self, ks: int) -> int:
        """``ks`` without the keys that fall through in this operator's table."""
        masks = self._masks
        if masks is None:
            masks = self._masks = self._non_fallthrough()
        shared, per_backend = masks
        if per_backend is None:
            return ks & shared
        return ks & per_backend[DispatchKeySet.from_raw_repr(ks).getBackendIndex()]

    def lookup(self, ks: int) -> tuple[KernelFunction, DispatchKey]:
        """The kernel for a raw key set, and the key that won.

        Raises c10::NotImplementedError when the cell is empty.
        """
        key = highest_priority_type_id(ks)
        kernel = self.cell(key).kernel
        if kernel is None:
            raise self.report_error(key)
        return kernel, key

    # texts ---------------------------------------------------------------------------------------------------------

    def list_all_dispatch_keys(self) -> str:
        """``[CPU, Meta, …]``: the keys with a kernel, as c10's error texts list them."""
        names = [toString(key) for key in runtime_keys[1:] if self.cell(key).kernel is not None]
        return "[" + ", ".join(names) + "]"

    def dump_computed_table(self) -> str:
        """One line a key with a kernel: ``CPU: registered at FILE:LINE [kernel]``."""
        lines = []
        for key in runtime_keys:
            cell = self.cell(key)
            if cell.kernel is not None:
                skip = "fallthrough " if cell.kernel.is_fallthrough else ""
                lines.append(f"{toString(key)}: {skip}{cell.debug} [{cell.reason}]")
        return "\n".join(lines) + "\n"

    def dump_state(self) -> str:
        """The registrations as made, aliases marked."""
        lines = [f"name: {self.name}"]
        if self.schema is not None:
            lines += [f"schema: {self.schema}", f"debug: {self.debug}", "alias analysis kind: FROM_SCHEMA"]
        for key in sorted(self.kernels):
            for position, row in enumerate(self.kernels[key]):
                alias = "[alias]" if isAliasDispatchKey(key) else ""
                stale = " (inactive)" if position else ""
                form = "fallthrough " if row.kernel.is_fallthrough else ""
                lines.append(f"{toString(key)}{alias}{stale}: {form}{row.debug}")
        return "\n".join(lines) + "\n"

    def report_error(self, key: DispatchKey) -> Error:
        """OperatorEntry::reportError: no kernel in the cell that won."""
        keys = self.list_all_dispatch_keys()
        if key == DispatchKey.Undefined:
            return NotImplementedError(
                f"There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no "
                f"fallback function is registered for schema {self.name}.  This usually means that this function "
                f"requires a non-empty list of Tensors, or that you (the operator writer) forgot to register a "
                f"fallback function.  Available functions are {keys}.\n\n{self.dump_computed_table()}"
            )
        name = toString(key)
        return NotImplementedError(
            f"Could not run '{self.name}' with arguments from the '{name}' backend. This could be because the operator "
            f"doesn't exist for this backend, or was omitted during the selective/custom build process (if using "
            f"custom build). If you are a Facebook employee using PyTorch on mobile, please visit "
            f"https://fburl.com/ptmfixes for possible resolutions. '{self.name}' is only available for these "
            f"backends: {keys}.\n\n{self.dump_computed_table()}"
        )


def _ambiguous_autogradother(op: Any, ks: int, stack: list[Any]) -> None:
    raise Error(
        f"{op.name} has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther. "
        "This makes the backend kernel unreachable; the dispatcher will always prefer the CompositeImplicitAutograd "
        "lowering (see Note [Ambiguity in AutogradOther kernel]). If you want to override CompositeImplicitAutograd, "
        "please open an issue to request a dedicated Autograd dispatch key for the backend.\n"
    )
