"""aten/src/ATen/native/MathBitsFallback.h, MathBitFallThroughLists.h: operators that do not know of lazy conj and neg.

A tensor whose conjugation or negation is only a bit of its key set is made real before the operator sees it. Operators
that do know of the bit (views, and what makes or copies tensors) let the key fall through.

Differs: of ZeroTensor there are only the operators that fall through.
"""

from __future__ import annotations

from typing import Any

from engine.aten.core.kernel_function import KernelFunction
from engine.aten.core.ops import at
from engine.c10.dispatch_key import DispatchKey, full_backend_mask
from engine.c10.dispatch_key_set import DispatchKeySet, key_bits
from engine.c10.exception import TORCH_CHECK
from engine.c10.tensor_impl import TensorImpl

__all__ = ["FALLTHROUGHS", "MathOpFallback", "conjugateFallback", "install_fallthroughs", "negationFallback"]

# Known to all three bits.
_VIEWS_AND_UTILITIES = """
    _conj _unsafe_view alias as_strided_ chunk clone conj copy_ detach detach_ diagonal dsplit.array dsplit.int
    empty.memory_format empty.out empty_like empty_strided expand expand_as full_like hsplit.array hsplit.int imag
    is_complex is_floating_point movedim.int movedim.intlist narrow permute real requires_grad_ reshape resize_
    select.int size.int split.Tensor split_with_sizes squeeze squeeze_ stride.int swapaxes swapdims t t_ transpose.int
    transpose_ unbind.int unflatten.int unfold unsqueeze unsqueeze_ view_as view_as_real vsplit.array vsplit.int
"""
_CONJ_AND_NEG = """
    _has_same_storage_numel _new_zeros_with_same_feature_meta as_strided linalg_solve_triangular
    linalg_solve_triangular.out linalg_svd linalg_svd.U repeat_interleave.Tensor repeat_interleave.self_Tensor
    repeat_interleave.self_int resolve_conj resolve_neg set_ set_.source_Storage_storage_offset set_.source_Tensor view
"""
_CONJ = """
    _conj_physical conj_physical conj_physical_ dot vdot dot.out vdot.out mm mm.out addmm addmm_ addmm.out bmm bmm.out
    baddbmm baddbmm_ baddbmm.out
"""
_NEG = "neg_"
_ZERO = "add.Scalar mul.Scalar zeros_like dot vdot"

# By key: where PyTorch registers the fallthroughs, and for which operators.
FALLTHROUGHS: dict[DispatchKey, tuple[str, tuple[str, ...]]] = {
    DispatchKey.Conjugate: (
        "registered at aten/src/ATen/ConjugateFallback.cpp:21",
        tuple((_VIEWS_AND_UTILITIES + _CONJ_AND_NEG + _CONJ).split()),
    ),
    DispatchKey.Negative: (
        "registered at aten/src/ATen/native/NegateFallback.cpp:22",
        (*_VIEWS_AND_UTILITIES.split(), *_CONJ_AND_NEG.split(), _NEG),
    ),
    DispatchKey.ZeroTensor: (
        "registered at aten/src/ATen/ZeroTensorFallback.cpp:119",
        (*_VIEWS_AND_UTILITIES.split(), *_ZERO.split()),
    ),
}


def install_fallthroughs(dispatcher: Any) -> None:
    """Register every fallthrough with ``dispatcher``."""
    for key, (debug, names) in FALLTHROUGHS.items():
        for name in names:
            dispatcher.register_impl(f"aten::{name}", key, KernelFunction.make_fallthrough(), debug)


class MathOpFallback:
    """The backend fallback of one such bit; ``fallback_impl`` is its boxed kernel."""

    def __init__(self, key: DispatchKey, op_name: str) -> None:
        self.bit = key_bits(key) & ~full_backend_mask
        self.after = DispatchKeySet.FULL_AFTER(key).raw_repr()
        self.op_name = op_name

    def fallback_impl(self, op: Any, ks: int, stack: list[Any]) -> None:
        """Clone arguments that carry the bit, call the operator, and write a changed clone back."""
        arguments = op.schema.all_arguments
        start = len(stack) - len(arguments)
        writes = {a.is_write for a in arguments if a.alias_info is not None}
        TORCH_CHECK(
            len(writes) < 2,
            f"Unsupported operator for {self.op_name} fallback: {op.schema.name.name}{self.op_name} fallback doesn't "
            "work for operators with a mix mutable and non-mutable inputs that alias outputs, this must be implemented "
            "manually.  If you got this error on a core op, please report a bug to PyTorch.",
        )
        if writes == {False}:  # views keep the bit on their result
            op.redispatchBoxed(ks & self.after, stack)
            return
        mutable: tuple[Any, Any] | None = None  # the argument that carries the bit, and its clone
        for index, argument in enumerate(arguments, start):
            value = stack[index]
            if isinstance(value, TensorImpl):
                if not value._ks & self.bit:
                    continue
                stack[index] = at.clone.call(value, None)
                if argument.is_write:
                    TORCH_CHECK(
                        mutable is None,
                        f"{self.op_name} fallback does not support operators with more than one mutable tensors with "
                        f"{self.op_name}bit set to true.",
                    )
                    mutable = value, stack[index]
            elif isinstance(value, (list, tuple)):
                stack[index] = self._resolved_list(op, argument, value)
        op.redispatchBoxed(ks & self.after, stack)
        if mutable is not None:
            original, clone = mutable
            returned = stack[start]
            assert returned is clone, f"{op.name}: the kernel did not return the argument that it wrote"
            if original._sizes != returned._sizes:
                at.resize_.call(original, returned._sizes, None)
            at.copy_.call(original, returned, False)
            stack[start] = original

    def _resolved_list(self, op: Any, argument: Any, values: Any) -> Any:
        carrying = [isinstance(t, TensorImpl) and bool(t._ks & self.bit) for t in values]
        if not any(carrying):
            return values
        TORCH_CHECK(
            not argument.is_write,
            f" fallback doesn't currently support mutable TensorLists with {self.op_name} inputs. Please materialize "
            f"all the {self.op_name} input tensor(s) in the mutable TensorList inputs before calling "
            f"{op.schema.name.name}",
        )
        return [at.clone.call(t, None) if lazy else t for t, lazy in zip(values, carrying, strict=True)]


_conjugate = MathOpFallback(DispatchKey.Conjugate, "conjugate")
_negation = MathOpFallback(DispatchKey.Negative, "negation")


def conjugateFallback(op: Any, ks: int, stack: list[Any]) -> None:
    _conjugate.fallback_impl(op, ks, stack)


def negationFallback(op: Any, ks: int, stack: list[Any]) -> None:
    _negation.fallback_impl(op, ks, stack)
