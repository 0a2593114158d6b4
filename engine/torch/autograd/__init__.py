"""torch/autograd/__init__.py: ``torch.autograd``: backward, grad, and the modes.

Differs: batched gradients, functional and forward-mode AD, and the profiler are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from engine.aten.core.tensor import Tensor
from engine.torch.autograd import anomaly_mode, function, grad_mode, graph
from engine.torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from engine.torch.autograd.function import Function
from engine.torch.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from engine.torch.autograd.gradcheck import gradcheck, gradgradcheck
from engine.torch.autograd.graph import GradientEdge, _engine_run_backward

__all__ = [
    "Function",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class _VariableMeta(type):
    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, Tensor)


class _ExecutionEngine:
    """``torch._C._EngineBase``, as Python code reaches it."""

    @staticmethod
    def queue_callback(callback: Any) -> None:
        from engine.c10.exception import Error, translate
        from engine.torch.csrc.autograd.engine import Engine

        try:
            Engine.get_default_engine().queue_callback(callback)
        except Error as error:
            raise translate(error) from None

    @staticmethod
    def run_backward(*args: Any, **kwargs: Any) -> Any:
        from engine.torch.csrc.autograd.python_engine import THPEngine_run_backward

        return THPEngine_run_backward(*args, **kwargs)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        return True


class Variable(metaclass=_VariableMeta):
    """The old name of Tensor."""

    _execution_engine = _ExecutionEngine()

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
        return data.detach().requires_grad_(requires_grad)


def _sizes(value: Any) -> str:
    return f"torch.Size({list(value)})"


def _make_grads(outputs: Sequence[Any], grads: Sequence[Any]) -> tuple[Any, ...]:
    """A gradient for each output: the given one, or ones for a scalar."""
    from engine import torch

    new_grads: list[Any] = []
    for i, (out, grad) in enumerate(zip(outputs, grads, strict=False)):
        if isinstance(out, GradientEdge):
            metadata = out.node._input_metadata[out.output_nr]
            sizes, dtype, device, wanted = metadata.shape, metadata.dtype, metadata.device, True
        else:
            if not isinstance(out, Tensor):
                raise AssertionError("Expected output to be a torch.Tensor")
            sizes, dtype, device, wanted = out._sizes, out._dtype, out._device, out.requires_grad
        if isinstance(grad, Tensor):
            if sizes != grad._sizes:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {_sizes(grad._sizes)} and output[{i}] has a "
                    f"shape of {_sizes(sizes)}."
                )
            if dtype.is_complex != grad._dtype.is_complex:
                raise RuntimeError(
                    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                    f"dtype: grad_output[{i}] has a dtype of {grad._dtype} and output[{i}] has a dtype of {dtype}."
                )
            new_grads.append(grad)
        elif grad is not None:
            raise TypeError("gradients can be either Tensors or None, but got " + type(grad).__name__)
        elif not wanted:
            new_grads.append(None)
        else:
            if any(size != 1 for size in sizes):
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not dtype.is_floating_point:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
            if isinstance(out, GradientEdge):
                new_grads.append(torch.ones(sizes, dtype=dtype, device=device))
            else:
                new_grads.append(torch.ones_like(out, memory_format=torch.preserve_format))
    return tuple(new_grads)


def _tuple_of_inputs(inputs: Any, caller: str) -> tuple[Any, ...]:
    if isinstance(inputs, (Tensor, GradientEdge)):
        return (inputs,)
    if type(inputs) is dict:
        return tuple(inputs.values())
    if isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{caller}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    return tuple(inputs)


def _tensor_or_tensors_to_tuple(tensors: Any, length: int) -> tuple[Any, ...]:
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the gradients of ``tensors`` with respect to the leaves (or ``inputs``), and add them to ``grad``."""
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    inputs_tuple = () if inputs is None else _tuple_of_inputs(inputs, "backward")
    if inputs is not None and not inputs_tuple:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)
    grad_tensors_ = _make_grads(tensors, _tensor_or_tensors_to_tuple(grad_tensors, len(tensors)))
    _engine_run_backward(
        tensors,
        grad_tensors_,
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        inputs_tuple,
        allow_unreachable=True,
        accumulate_grad=True,
    )


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of ``outputs`` with respect to ``inputs``; a dict of inputs gives a dict."""
    from engine import torch

    if is_grads_batched:
        raise NotImplementedError("torch.autograd.grad(is_grads_batched=True) is not modelled by the engine")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    outputs = (outputs,) if isinstance(outputs, (Tensor, GradientEdge)) else tuple(outputs)
    inputs_tuple = _tuple_of_inputs(inputs, "grad")
    if not inputs_tuple:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    grad_outputs_ = _make_grads(outputs, _tensor_or_tensors_to_tuple(grad_outputs, len(outputs)))
    result = _engine_run_backward(
        outputs,
        grad_outputs_,
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        inputs_tuple,
        allow_unused,
        accumulate_grad=False,
    )
    if materialize_grads:
        if any(r is None and not isinstance(t, Tensor) for r, t in zip(result, inputs_tuple, strict=True)):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        result = tuple(
            torch.zeros_like(t, requires_grad=create_graph) if r is None else r
            for r, t in zip(result, inputs_tuple, strict=True)
        )
    return dict(zip(inputs, result, strict=True)) if type(inputs) is dict else result
