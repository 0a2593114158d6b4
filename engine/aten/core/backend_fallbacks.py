"""aten/src/ATen/core/VariableFallbackKernel.cpp, MetaFallbackKernel.cpp, …: a key's kernel for all operators.

One row a backend fallback of PyTorch 2.13. The engine runs those of Autograd, Meta, Conjugate and Negative;
fallbacks of what it does not model (modes, functorch, functionalization, zero tensors, …) are in the table as well and
say so when they win.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from engine import doors
from engine.aten.core.kernel_function import KernelFunction
from engine.c10.dispatch_key import DispatchKey
from engine.c10.exception import Error, NotImplementedError

__all__ = ["BACKEND_FALLBACKS", "BackendFallback", "install", "kernel_for"]

Boxed = Callable[[Any, int, list[Any]], None]  # (op, key set, stack)


@dataclass(frozen=True, slots=True)
class BackendFallback:
    """The fallback of one runtime key.

    function: the C++ kernel; "" for a fallthrough.
    source: where PyTorch registers it.
    """

    key: str
    kind: Literal["fallthrough", "kernel"]
    function: str
    source: str

    @property
    def debug(self) -> str:
        return f"registered at {self.source}"


_AUTOGRAD = "torch::autograd::basicAutogradNotImplementedFallbackImpl"
_META = "at::impl::metaFallback"
_CONJUGATE = "at::conjugateFallback"
_NEGATION = "at::native::negationFallback"


def _kernel(key: str, function: str, source: str) -> BackendFallback:
    return BackendFallback(key, "kernel", function, source)


def _fallthrough(key: str, source: str) -> BackendFallback:
    return BackendFallback(key, "fallthrough", "", source)


def _autograd(key: str, line: int) -> BackendFallback:
    return _kernel(key, _AUTOGRAD, f"aten/src/ATen/core/VariableFallbackKernel.cpp:{line}")


def _autocast(key: str, line: int) -> BackendFallback:
    return _fallthrough(key, f"aten/src/ATen/autocast_mode.cpp:{line}")


# By priority of the key, as _dispatch_dump_table lists them.
BACKEND_FALLBACKS: tuple[BackendFallback, ...] = (
    _kernel("Meta", _META, "aten/src/ATen/core/MetaFallbackKernel.cpp:23"),
    _fallthrough("BackendSelect", "aten/src/ATen/core/BackendSelectFallbackKernel.cpp:3"),
    _kernel("Python", "pythonFallback", "aten/src/ATen/core/PythonFallbackKernel.cpp:192"),
    _kernel(
        "FuncTorchDynamicLayerBackMode",
        "at::functorch::dynamicLayerBackFallback",
        "aten/src/ATen/functorch/DynamicLayer.cpp:479",
    ),
    _kernel("Functionalize", "functionalizeFallback", "aten/src/ATen/FunctionalizeFallbackKernel.cpp:411"),
    _kernel("Conjugate", _CONJUGATE, "aten/src/ATen/ConjugateFallback.cpp:17"),
    _kernel("Negative", _NEGATION, "aten/src/ATen/native/NegateFallback.cpp:18"),
    _kernel("ZeroTensor", "at::zeroTensorFallback", "aten/src/ATen/ZeroTensorFallback.cpp:115"),
    _fallthrough("ADInplaceOrView", "aten/src/ATen/core/VariableFallbackKernel.cpp:103"),
    _autograd("AutogradOther", 62),
    _autograd("AutogradCPU", 66),
    _autograd("AutogradCUDA", 74),
    _autograd("AutogradXLA", 86),
    _autograd("AutogradMPS", 94),
    _autograd("AutogradXPU", 70),
    _autograd("AutogradHPU", 107),
    _autograd("AutogradLazy", 90),
    _autograd("AutogradMTIA", 78),
    _autograd("AutogradMAIA", 82),
    _autograd("AutogradPrivateUse1", 111),
    _autograd("AutogradMeta", 98),
    _kernel("Tracer", "torch::jit::general_trace_function", "torch/csrc/autograd/TraceTypeManual.cpp:296"),
    _autocast("AutocastCPU", 330),
    _autocast("AutocastMTIA", 472),
    _autocast("AutocastMAIA", 510),
    _autocast("AutocastXPU", 548),
    _autocast("AutocastMPS", 221),
    _autocast("AutocastCUDA", 177),
    _kernel(
        "FuncTorchBatched",
        "at::functorch::batchedTensorForLoopFallback",
        "aten/src/ATen/functorch/LegacyBatchingRegistrations.cpp:730",
    ),
    _kernel(
        "BatchedNestedTensor",
        "at::functorch::batchedNestedTensorForLoopFallback",
        "aten/src/ATen/functorch/LegacyBatchingRegistrations.cpp:757",
    ),
    _fallthrough("FuncTorchVmapMode", "aten/src/ATen/functorch/VmapModeRegistrations.cpp:22"),
    _kernel("Batched", "at::batchedTensorForLoopFallback", "aten/src/ATen/LegacyBatchingRegistrations.cpp:1072"),
    _fallthrough("VmapMode", "aten/src/ATen/VmapModeRegistrations.cpp:32"),
    _kernel(
        "FuncTorchGradWrapper",
        "at::functorch::dead_tensor_wrapper_fallback",
        "aten/src/ATen/functorch/TensorWrapper.cpp:210",
    ),
    _kernel("PythonTLSSnapshot", "pythonTLSSnapshotFallback", "aten/src/ATen/core/PythonFallbackKernel.cpp:200"),
    _kernel(
        "FuncTorchDynamicLayerFrontMode",
        "at::functorch::dynamicLayerFrontFallback",
        "aten/src/ATen/functorch/DynamicLayer.cpp:475",
    ),
    _kernel("PreDispatch", "preDispatchFallback", "aten/src/ATen/core/PythonFallbackKernel.cpp:204"),
    _kernel("PythonDispatcher", "pythonDispatcherFallback", "aten/src/ATen/core/PythonFallbackKernel.cpp:196"),
)


def _meta_fallback(op: Any, ks: int, stack: list[Any]) -> None:
    raise NotImplementedError(
        op.name,
        ": attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered. "
        "You may have run into this message while using an operator with PT2 compilation APIs "
        "(torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. "
        "Please see the following for next steps:  "
        "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html",
    )


def _autograd_fallback(op: Any, ks: int, stack: list[Any]) -> None:
    """VariableHooksInterface::basic_autograd_not_implemented_fallback: ATen calls autograd through a hook."""
    from engine.torch.csrc.autograd.autograd_not_implemented_fallback import basicAutogradNotImplementedFallbackImpl

    basicAutogradNotImplementedFallbackImpl(op, ks, stack)


def _not_modelled(row: BackendFallback) -> Boxed:
    def fallback(op: Any, ks: int, stack: list[Any]) -> None:
        raise Error(
            f"{op.name}: the key {row.key} won, and its backend fallback {row.function} ({row.debug}) is not modelled "
            "by the engine; use --on torch"
        )

    return fallback


def _conjugate_fallback(op: Any, ks: int, stack: list[Any]) -> None:
    from engine.aten.native.math_bits_fallback import conjugateFallback

    conjugateFallback(op, ks, stack)


def _negation_fallback(op: Any, ks: int, stack: list[Any]) -> None:
    from engine.aten.native.math_bits_fallback import negationFallback

    negationFallback(op, ks, stack)


_MODELLED: dict[str, tuple[Boxed, str]] = {
    _AUTOGRAD: (_autograd_fallback, "autograd"),
    _META: (_meta_fallback, "native"),
    _CONJUGATE: (_conjugate_fallback, "native"),
    _NEGATION: (_negation_fallback, "native"),
}


def kernel_for(row: BackendFallback) -> KernelFunction:
    """The engine's kernel for a row: boxed, under its C++ name."""
    if row.kind == "fallthrough":
        return KernelFunction.make_fallthrough()
    fn, layer = _MODELLED.get(row.function) or (_not_modelled(row), "native")
    site = doors.site_of(fn, row.function, layer, ("op", "dispatch_keys", "stack"))
    return KernelFunction(fn, row.function, boxed=True, site=site)


def install(dispatcher: Any) -> None:
    """Register every row with ``dispatcher``, and the operators for which math bits fall through."""
    from engine.aten.native.math_bits_fallback import install_fallthroughs

    for row in BACKEND_FALLBACKS:
        dispatcher.register_fallback(DispatchKey[row.key], kernel_for(row), row.debug)
    install_fallthroughs(dispatcher)
