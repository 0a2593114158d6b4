"""torch/autograd/gradcheck.py: compare gradients with finite differences.

Differs: real inputs and outputs only; the slow mode's comparison of every entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.aten.core.tensor import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """The gradients disagree."""


def _outputs(fn: Callable[..., Any], inputs: Sequence[Any]) -> list[Tensor]:
    result = fn(*inputs)
    both = result if isinstance(result, (tuple, list)) else (result,)
    return [t for t in both if isinstance(t, Tensor) and t.requires_grad]  # type: ignore[attr-defined]


def _numerical(fn: Callable[..., Any], inputs: Sequence[Any], index: int, eps: float) -> list[Any]:
    """One Jacobian per output: rows are the entries of the input, which is moved in place."""
    rows: list[list[Any]] = []
    array = inputs[index].array
    for k in range(array.size):
        where = np.unravel_index(k, array.shape) if array.shape else ()
        original = array[where].copy()
        values = []
        for step in (-eps, eps):
            array[where] = original + step
            values.append([t.array.copy() for t in _outputs(fn, inputs)])
        array[where] = original
        rows.append([((b - a) / (2 * eps)).reshape(-1) for a, b in zip(*values, strict=True)])
    return [np.array([row[i] for row in rows]) for i in range(len(rows[0]))] if rows else []


def _analytical(fn: Callable[..., Any], inputs: Sequence[Any], index: int) -> list[Any]:
    from engine import torch

    jacobians = []
    for i in range(len(_outputs(fn, inputs))):
        output = _outputs(fn, inputs)[i]
        columns = []
        for k in range(output.numel_()):
            seed = torch.zeros_like(output)
            where = np.unravel_index(k, seed.array.shape) if seed.array.shape else ()
            seed.array[where] = 1
            (g,) = torch.autograd.grad(output, [inputs[index]], seed, retain_graph=True, allow_unused=True)
            columns.append(np.zeros(inputs[index].numel_()) if g is None else g.array.reshape(-1).copy())
        jacobians.append(np.array(columns).T)
    return jacobians


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Whether the gradients of ``func`` at double precision ``inputs`` are those of finite differences."""
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    for index, t in enumerate(inputs):
        if not (isinstance(t, Tensor) and t.requires_grad):  # type: ignore[attr-defined]
            continue
        numerical = _numerical(func, inputs, index, eps)
        analytical = _analytical(func, inputs, index)
        for j, (n, a) in enumerate(zip(numerical, analytical, strict=True)):
            if not np.allclose(a, n, rtol, atol):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input {index},\nnumerical:{n}\nanalytical:{a}\n"
                )
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """gradcheck of the gradients of ``func``."""
    from engine import torch

    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = _outputs(func, inputs)
    if grad_outputs is None:
        grad_outputs = [torch.ones_like(t).mul_(0.5 + 0.25 * i).requires_grad_() for i, t in enumerate(outputs)]
    elif isinstance(grad_outputs, Tensor):
        grad_outputs = [grad_outputs]
    count = len(inputs)

    def gradient(*args: Any) -> Any:
        wanted = [t for t in args[:count] if isinstance(t, Tensor) and t.requires_grad]  # type: ignore[attr-defined]
        return torch.autograd.grad(
            _outputs(func, args[:count]), wanted, list(args[count:]), create_graph=True, materialize_grads=True
        )

    return gradcheck(gradient, (*inputs, *grad_outputs), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
