"""torchgen/model.py: what a row of THE TABLE says about one operator.

Differs: rows are Python objects that hold their kernels, not YAML that names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from engine.aten.core.function_schema import FunctionSchema, parse_schema

__all__ = ["NativeFunction"]

Kernel = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class NativeFunction:
    """One operator: its schema, its kernels by dispatch key and its derivatives.

    func: schema as in native_functions.yaml, without a namespace.
    variants: "function", "method" or both, comma separated: which Python and C++ forms exist.
    dispatch: kernels by dispatch key; several keys may share one kernel ("CPU, Meta").
    structured: generated from a structured kernel; names its wrappers and adds CompositeExplicitAutogradNonFunctional.
    derivatives: derivative formula by the names of the arguments it is for; empty means not differentiable.
    output_differentiability: per output, False where the output never requires grad.
    backward_name: the Node's name where it is not derived from the operator's own.
    autograd, adinplaceorview: hand-written kernels (VariableTypeManual.cpp), called with the key set first;
        "fallthrough" registers a fallthrough. ``adinplaceorview="none"``: there is no kernel, whatever the alias marks;
        "generated": there is one, though the operator is a composition (PyTorch has it for nested tensors' sake).
    autograd_file: the file a hand-written kernel is registered in.
    inplace_view: changes sizes or strides of its argument.
    article: the Python signature exists only in the article's reference (named tensors).
    python: False where no Python binding is generated (hand-written, or internal).
    """

    func: str
    variants: str = "function"
    dispatch: Mapping[str, Kernel] = field(default_factory=dict)
    structured: bool = False
    derivatives: Mapping[str, str] | None = None
    output_differentiability: tuple[bool, ...] | None = None
    backward_name: str | None = None
    autograd: Kernel | str | None = None
    adinplaceorview: Kernel | str | None = None
    inplace_view: bool = False
    article: bool = False
    python: bool = True

    @cached_property
    def schema(self) -> FunctionSchema:
        return parse_schema(self.func if "::" in self.func else "aten::" + self.func)

    @cached_property
    def kernels(self) -> dict[str, Kernel]:
        """Kernels by single dispatch key name."""
        return {key.strip(): fn for keys, fn in self.dispatch.items() for key in keys.split(",")}

    @cached_property
    def variant_set(self) -> frozenset[str]:
        return frozenset(v.strip() for v in self.variants.split(","))
