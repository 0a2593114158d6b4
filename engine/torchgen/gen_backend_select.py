"""torchgen/gen.py, RegisterBackendSelect.cpp: kernels that choose the backend of a factory from its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import doors
from engine.aten.core.dispatch_key_extractor import make_extractor
from engine.aten.core.dispatcher import OperatorHandle
from engine.c10.dispatch_key import DispatchKey, full_backend_mask
from engine.c10.dispatch_key_set import DispatchKeySet, key_bits
from engine.c10.local_dispatch_key_set import tls
from engine.c10.tensor_options import computeDispatchKey
from engine.torchgen.model import NativeFunction
from engine.torchgen.naming import options_position

__all__ = ["make_backend_select", "needs_backend_select"]

_FULL_AFTER_BACKEND_SELECT = DispatchKeySet.FULL_AFTER(DispatchKey.BackendSelect).raw_repr()
_FUNCTIONALITY = ~full_backend_mask


def needs_backend_select(row: NativeFunction) -> bool:
    """torchgen's needs_backend_select: TensorOptions in the schema, and neither a ``_like`` nor a ``new_`` function."""
    base = row.schema.name.name.partition("::")[2]
    return not base.endswith("_like") and not base.startswith("new_") and options_position(row) is not None


def make_backend_select(row: NativeFunction, op: OperatorHandle) -> Callable[..., Any]:
    """The kernel: redispatches with the key set that dtype, layout and device (and tensor arguments) stand for."""
    position = options_position(row)
    assert position is not None
    redispatch = op.redispatch
    extract = make_extractor(row.schema)
    has_tensors = any(str(argument.type).startswith("Tensor") for argument in row.schema.all_arguments)
    name = "at::" + row.schema.name.unambiguous_name()

    def plain(*args: Any) -> Any:
        return redispatch(key_bits(computeDispatchKey(*args[position : position + 3])), *args)

    def with_tensors(*args: Any) -> Any:
        seen = key_bits(computeDispatchKey(*args[position : position + 3])) | extract(args)
        ks = (seen | tls.included) & ~(tls.excluded & _FUNCTIONALITY) & _FULL_AFTER_BACKEND_SELECT
        return redispatch(ks, *args)

    fn = with_tensors if has_tensors else plain
    params = tuple(argument.name for argument in row.schema.all_arguments)
    fn.__site__ = doors.site_of(fn, name, "backend_select", params)  # type: ignore[attr-defined]
    return doors.rename(fn, name)
