"""tools/autograd/gen_inplace_or_view_type.py: the ADInplaceOrView kernels: version counters and view relations.

One template each for operators that write their arguments and for operators that return views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import doors
from engine.aten.core.dispatcher import OperatorHandle
from engine.c10.dispatch_key_set import after_ADInplaceOrView_keyset, autograd_dispatch_keyset_with_ADInplaceOrView
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd.autograd_meta import CreationMeta
from engine.torch.csrc.autograd.variable import bump_version
from engine.torch.csrc.autograd.variable_type_utils import as_view
from engine.torchgen.model import NativeFunction

__all__ = ["is_view_row", "make_inplace_or_view_kernel", "needs_inplace_or_view", "type_wrapper_name", "uses_derived"]


def type_wrapper_name(row: NativeFunction) -> str:
    """The name of a generated kernel: ``add__Tensor``, ``add_out_out``, ``view``."""
    schema = row.schema
    base = schema.name.base + ("_out" if schema.kind() == "out" else "")
    overload = schema.name.overload_name
    return f"{base}_{overload}" if overload else base


def uses_derived(row: NativeFunction) -> bool:
    """dispatch_strategy: whether the operator gets kernels of its own above the backends, or is a composition."""
    return row.derivatives is not None or not any(
        key in ("CompositeImplicitAutograd", "CompositeImplicitAutogradNestedTensor") for key in row.kernels
    )


def is_view_row(row: NativeFunction) -> bool:
    """Whether a result shares the memory of an argument without being that argument."""
    if row.adinplaceorview == "none":
        return False
    return any(r.alias_info is not None and not r.is_write for r in row.schema.returns)


def needs_inplace_or_view(row: NativeFunction) -> bool:
    if row.adinplaceorview == "generated":
        return True
    if not uses_derived(row):
        return False
    return row.schema.is_mutable() or is_view_row(row)


def make_inplace_or_view_kernel(row: NativeFunction, op: OperatorHandle) -> Callable[..., Any]:
    kernel = _view_kernel(row, op) if is_view_row(row) else _inplace_kernel(row, op)
    name = f"torch::ADInplaceOrView::{type_wrapper_name(row)}"
    params = ("ks", *(a.name for a in row.schema.all_arguments))
    site = doors.site_of(kernel, name, "adinplaceorview", params, "at::AutoDispatchBelowADInplaceOrView")
    doors.rename(kernel, name)
    kernel.__site__ = site  # type: ignore[attr-defined]
    return kernel


def _inplace_kernel(row: NativeFunction, op: OperatorHandle) -> Callable[..., Any]:
    redispatch = op.redispatch
    written = tuple(i for i, a in enumerate(row.schema.all_arguments) if a.is_write)
    # the arguments themselves are the results
    single = written[0] if len(written) == 1 and len(row.schema.returns) == 1 else None

    def kernel(ks: int, *args: Any) -> Any:
        excluded = tls.excluded
        tls.excluded = excluded | autograd_dispatch_keyset_with_ADInplaceOrView
        try:
            result = redispatch(ks & after_ADInplaceOrView_keyset, *args)
        finally:
            tls.excluded = excluded
        if single is not None:
            t = args[single]
            bump_version(t)
            return t
        for index in written:
            t = args[index]
            for item in t if isinstance(t, (list, tuple)) else (t,):
                bump_version(item)
        return result

    return kernel


def _view_kernel(row: NativeFunction, op: OperatorHandle) -> Callable[..., Any]:
    redispatch = op.redispatch
    base_index = next(i for i, a in enumerate(row.schema.all_arguments) if a.alias_info is not None and not a.is_write)
    text = str(row.schema.returns[0].type)
    is_list = text.startswith("Tensor") and "[" in text
    default = CreationMeta.MULTI_OUTPUT_NODE if is_list or len(row.schema.returns) > 1 else CreationMeta.DEFAULT

    def kernel(ks: int, *args: Any) -> Any:
        excluded = tls.excluded
        tls.excluded = excluded | autograd_dispatch_keyset_with_ADInplaceOrView
        try:
            tmp = redispatch(ks & after_ADInplaceOrView_keyset, *args)
        finally:
            tls.excluded = excluded
        base = args[base_index]
        if tls.inference_mode:
            meta = CreationMeta.INFERENCE_MODE
        elif tls.grad_mode:
            meta = default
        else:
            meta = CreationMeta.NO_GRAD_MODE
        # strides say what such a view is, except of another dtype or behind a view that had to be replayed
        view_func = None
        if tls.view_replay_enabled or (not is_list and tmp._dtype is not base._dtype):
            view_func = _replay(op, base_index, args)
        if is_list:
            return tuple(as_view(base, t, True, None, meta) for t in tmp)
        return as_view(base, tmp, True, view_func, meta)

    return kernel


def _replay(op: OperatorHandle, base_index: int, args: tuple[Any, ...]) -> Callable[[Any], Any]:
    """The ViewFunc: the same call on another base."""

    def view_func(base: Any) -> Any:
        return op.call(*args[:base_index], base, *args[base_index + 1 :])

    return view_func
