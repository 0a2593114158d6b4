"""torch/csrc/utils/python_arg_parser.cpp: binds the arguments of a Python call to one of several signatures.

Differs: what a call's argument types decide is remembered, so that the next call of the same shape is bound without
trying the signatures again; PyTorch tries them each time. No tracing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from engine.aten.core.generator import Generator
from engine.aten.core.tensor import Tensor
from engine.c10 import exception
from engine.c10.device import Device
from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import ScalarType
from engine.torch.csrc.size import Size
from engine.torch.csrc.utils.function_signature import FunctionSignature
from engine.torch.csrc.utils.invalid_arguments import format_invalid_args
from engine.torch.csrc.utils.python_args import PythonArgs

__all__ = ["PythonArgParser", "PythonArgs"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

# objects of exactly these types fit a parameter by their type alone (tensors mostly, see FunctionSignature.parse)
_DECIDED = {Tensor, int, float, bool, complex, str, type(None)}
_INTS = "a sequence of ints"
_DECIDED |= {Generator, ScalarType, Device, Layout, MemoryFormat, _INTS}
_SEQUENCES = frozenset({tuple, list, Size})


def _inner_type(value: Any, kind: Any) -> Any:
    """The type of an argument; of ints in a row, that they are: such a sequence fits by its type, too."""
    if kind in _SEQUENCES and value:
        for item in value:
            if type(item) is not int:
                return kind
        return _INTS
    return kind


class _Plan:
    """How a call whose arguments have certain types is bound: signature, padding, places of the keywords."""

    __slots__ = ("keywords", "pad", "signature", "varargs")

    def __init__(self, signature: FunctionSignature, nargs: int, varargs: bool, keywords: tuple[str, ...]) -> None:
        self.signature = signature
        self.varargs = varargs
        places = []
        for key in keywords:
            for i, param in enumerate(signature.params):
                if key == param.name or key in param.numpy_names:
                    places.append((i, key))
        self.keywords = tuple(places)
        self.pad = (None,) * (len(signature.params) - (1 if varargs else nargs))


class PythonArgParser:
    """``parse`` binds a call to the first of the signatures it fits; deprecated ones are tried last."""

    def __init__(self, fmts: Sequence[str], traceable: bool = False) -> None:
        signatures = [FunctionSignature(fmt, index) for index, fmt in enumerate(fmts)]
        self.function_name = signatures[0].name if signatures else ""
        self.max_args = max((signature.max_args for signature in signatures), default=0)
        self.traceable = traceable
        self.signatures = sorted(signatures, key=lambda signature: signature.deprecated)
        self._plans: dict[tuple[Any, ...], _Plan] = {}

    def parse(self, self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> PythonArgs:
        """Bind ``args`` and ``kwargs``; ``self_`` is a method's tensor, which is no parameter, or None.

        Raises c10::TypeError with PyTorch's text when no signature fits.
        """
        if kwargs:
            shape = (*map(type, args), *kwargs, *map(type, kwargs.values()))
        else:
            shape = tuple(map(type, args))
        plan = self._plans.get(shape)
        if plan is None:
            if not _SEQUENCES.isdisjoint(shape):
                values = (*args, *kwargs, *kwargs.values()) if kwargs else args
                shape = tuple(map(_inner_type, values, shape))
                plan = self._plans.get(shape)
            if plan is None:
                return self._raw_parse(self_, args, kwargs, shape)
        if self_ is not None and type(self_) is not Tensor:
            return self._raw_parse(self_, args, kwargs, shape)
        bound = [args, *plan.pad] if plan.varargs else [*args, *plan.pad]
        if kwargs:
            for i, key in plan.keywords:
                bound[i] = kwargs[key]
        return PythonArgs(self.traceable, plan.signature, bound, [])

    def _raw_parse(
        self, self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, shape: tuple[Any, ...]
    ) -> PythonArgs:
        single = len(self.signatures) == 1
        unsure: list[bool] = []
        for signature in self.signatures:
            overloaded: list[Any] = []
            bound = signature.parse(self_, args, kwargs, overloaded, single, unsure)
            if bound is None:
                continue
            if signature.deprecated:
                self._warn_deprecated(signature)
            elif not unsure and not overloaded and all(isinstance(t, str) or t in _DECIDED for t in shape):
                varargs = bool(args) and bound[0] is args
                self._plans[shape] = _Plan(signature, len(args), varargs, tuple(kwargs or ()))
            return PythonArgs(self.traceable, signature, bound, overloaded)
        self._print_error(self_, args, kwargs)

    def _warn_deprecated(self, signature: FunctionSignature) -> None:
        text = f"This overload of {signature.name} is deprecated:\n\t{signature.name}{signature}"
        others = self.get_signatures()
        if others:
            text += "\nConsider using one of the following signatures instead:"
            text += "".join(f"\n\t{signature.name}{other}" for other in others)
        exception.TORCH_WARN_ONCE(text)

    def _print_error(self, self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> NoReturn:
        given = len(args) + len(kwargs or ())
        plausible = [s for s in self.signatures if s.min_args <= given <= s.max_args and not s.hidden]
        if len(plausible) == 1:
            plausible[0].parse(self_, args, kwargs, [], True, [])
        raise exception.TypeError(format_invalid_args(args, kwargs, self.function_name + "()", self.get_signatures()))

    def get_signatures(self) -> list[str]:
        """The signatures that error texts show."""
        return [str(signature) for signature in self.signatures if not signature.hidden]
