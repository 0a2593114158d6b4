"""aten/src/ATen/native/UnaryOps.cpp: lazy conjugates, and tensors without the bits of a lazy conjugate or negation."""

from __future__ import annotations

import numpy as np

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits

__all__ = [
    "_conj", "_conj_physical", "conj", "conj_physical", "conj_physical_", "conj_physical_out", "resolve_conj",
    "resolve_neg",
]  # fmt: skip

_CONJUGATE = key_bits(DispatchKey.Conjugate)
_NEGATIVE = key_bits(DispatchKey.Negative)


@doors.frame("at::native::resolve_conj")
def resolve_conj(self: Tensor) -> Tensor:
    """``self``, or a copy with the conjugate carried out."""
    return at.clone.call(self, None) if self._ks & _CONJUGATE else self


@doors.frame("at::native::resolve_neg")
def resolve_neg(self: Tensor) -> Tensor:
    """``self``, or a copy with the negation carried out."""
    return at.clone.call(self, None) if self._ks & _NEGATIVE else self


@doors.frame("at::native::conj")
def conj(self: Tensor) -> Tensor:
    return at._conj.call(self) if self._dtype.is_complex else self


@doors.frame("at::native::_conj")
def _conj(self: Tensor) -> Tensor:
    """A view of the same memory with the bit turned."""
    result = at.alias.call(self)
    result._ks ^= _CONJUGATE
    return result  # type: ignore[no-any-return]


@doors.frame("at::native::conj_physical")
def conj_physical(self: Tensor) -> Tensor:
    return at._conj_physical.call(self) if self._dtype.is_complex else self


@doors.frame("at::native::_conj_physical")
def _conj_physical(self: Tensor) -> Tensor:
    if self._ks & _CONJUGATE:
        return at.clone.call(at.conj.call(self), None)
    result = at.empty_like.call(self, None, None, None, None, None)
    return at.conj_physical_out.call(self, result)  # type: ignore[no-any-return]


@doors.frame("at::native::conj_physical_out")
def conj_physical_out(self: Tensor, out: Tensor) -> Tensor:
    if out._sizes != self._sizes:
        at.resize_.call(out, self._sizes, None)
    if out._device.type != "meta":
        np.copyto(out.array, np.conj(self.array), casting="unsafe")
    return out


@doors.frame("at::native::conj_physical_")
def conj_physical_(self: Tensor) -> Tensor:
    return at.conj_physical_out.call(self, self) if self._dtype.is_complex else self
