"""aten/src/ATen/native/UnaryOps.cpp: tensors without the bits of a lazy conjugate or negation."""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits

__all__ = ["resolve_conj", "resolve_neg"]

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
