"""tools/autograd/deprecated.yaml: signatures that Python still accepts, with a warning, and does not suggest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["DEPRECATED", "DeprecatedSignature"]


@dataclass(frozen=True, slots=True)
class DeprecatedSignature:
    """``arguments`` by name and type in the old order; ``call`` the arguments of today's schema, without ``out``."""

    arguments: Mapping[str, str]
    call: tuple[str, ...]


def _old(call: str, **arguments: str) -> DeprecatedSignature:
    return DeprecatedSignature(arguments, tuple(call.split(", ")))


_SCALED = _old("self, other, alpha", self="Tensor", alpha="Scalar", other="Tensor")


def _with_beta(one: str, two: str) -> tuple[DeprecatedSignature, ...]:
    """beta * self + alpha * (one @ two), with and without alpha."""
    full = {"beta": "Scalar", "self": "Tensor", "alpha": "Scalar", one: "Tensor", two: "Tensor"}
    short = {name: kind for name, kind in full.items() if name != "alpha"}
    return (
        DeprecatedSignature(full, ("self", one, two, "beta", "alpha")),
        DeprecatedSignature(short, ("self", one, two, "beta", "1")),
    )


_VALUE = _old("self, tensor1, tensor2, value", self="Tensor", value="Scalar", tensor1="Tensor", tensor2="Tensor")

_TABLE: dict[str, tuple[DeprecatedSignature, ...]] = {
    "add": (_SCALED,),
    "sub": (_SCALED,),
    "addbmm": _with_beta("batch1", "batch2"),
    "baddbmm": _with_beta("batch1", "batch2"),
    "addmm": _with_beta("mat1", "mat2"),
    "addmv": _with_beta("mat", "vec"),
    "addr": _with_beta("vec1", "vec2"),
    "addcdiv": (_VALUE,),
    "addcmul": (_VALUE,),
}

# the in-place forms have the same ones
DEPRECATED: dict[str, tuple[DeprecatedSignature, ...]] = _TABLE | {name + "_": old for name, old in _TABLE.items()}
