"""ATen/templates/TensorBody.h, ATen/TensorOperators.h: how derivative formulas call operators, as at::Tensor in C++.

``grad.sum(dims, True)`` in a formula finds its overload by the types of its arguments, once per combination of types,
and then dispatches. What at::Tensor answers without dispatch (``sizes()``, ``scalar_type()``, …) is answered here.

Differs: an argument type has to match exactly; C++ would also convert.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from engine.aten.core.ops import at
from engine.aten.core.tensor import Tensor
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.exception import TORCH_CHECK
from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import ScalarType
from engine.c10.tensor_options import TensorOptions

__all__ = ["ACCESSORS", "OPERATORS", "AtFunction", "TensorMethod", "options_of"]

_CONJ = key_bits(DispatchKey.Conjugate)


def options_of(t: Tensor) -> TensorOptions:
    """Tensor::options."""
    return TensorOptions(dtype=t._dtype, layout=t._layout, device=t._device)


def _conj(x: Any) -> Any:
    """Real tensors and numbers are their own conjugate, without dispatch."""
    if isinstance(x, Tensor):
        return at._conj.call(x) if x._dtype.is_complex else x
    return x.conjugate() if isinstance(x, complex) else x


def _is_complex(x: Any) -> bool:
    return x._dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex)


# what needs no dispatch; the sym_ forms are the same, for there are no symbolic sizes
ACCESSORS: dict[str, Callable[..., Any]] = {
    "sizes": lambda t: t._sizes,
    "sym_sizes": lambda t: t._sizes,
    "size": lambda t, dim: t._sizes[dim],
    "sym_size": lambda t, dim: t._sizes[dim],
    "strides": lambda t: t._strides,
    "sym_strides": lambda t: t._strides,
    "storage_offset": lambda t: t._offset,
    "sym_storage_offset": lambda t: t._offset,
    "dim": lambda t: len(t._sizes),
    "numel": lambda t: t.numel_(),
    "sym_numel": lambda t: t.numel_(),
    "scalar_type": lambda t: t._dtype,
    "dtype": lambda t: t._dtype,
    "layout": lambda t: t._layout,
    "device": lambda t: t._device,
    "options": options_of,
    "defined": lambda t: t is not None,
    "is_complex": _is_complex,
    "is_floating_point": lambda t: t._dtype.is_floating_point,
    "is_contiguous": lambda t: t.is_contiguous_(),
    "is_sparse": lambda t: False,
    "is_conj": lambda t: bool(t._ks & _CONJ & ~0xFFFF),
    "conj": _conj,
}


def _fits(value: Any, text: str) -> bool:
    """Whether C++ would take ``value`` where the schema says ``text``."""
    if text.endswith("?"):
        return value is None or _fits(value, text[:-1])
    if text.endswith("]"):
        if not isinstance(value, (list, tuple)):
            return False
        inner = text[: text.rindex("[")]
        return all(_fits(item, inner) for item in value)
    base = text.partition("(")[0]
    if base == "Tensor":
        return value is None or isinstance(value, Tensor)
    if base == "Scalar":
        return isinstance(value, (bool, int, float, complex))
    if base in ("int", "SymInt"):
        return isinstance(value, int) and not isinstance(value, bool)
    if base == "float":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    expected = {
        "bool": bool,
        "str": str,
        "ScalarType": ScalarType,
        "Layout": Layout,
        "Device": Device,
        "MemoryFormat": MemoryFormat,
    }.get(base)
    return expected is None or isinstance(value, expected)


Bind = Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...] | None]


def _bind(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """The complete arguments of a call, or None where it does not fit the schema."""
    arguments = schema.all_arguments
    given: list[Any] = []
    for value in args:
        if isinstance(value, TensorOptions):
            given += [value.dtype_opt(), value.layout_opt(), value.device_opt(), value.pinned_memory_opt()]
        else:
            given.append(value)
    if len(given) > len(arguments):
        return None
    full = []
    used = 0
    for index, argument in enumerate(arguments):
        if index < len(given):
            value = given[index]
        elif argument.name in kwargs:
            value = kwargs[argument.name]
            used += 1
        elif argument.has_default:
            value = argument.default
        elif str(argument.type).endswith("?"):
            value = None
        else:
            return None
        if not _fits(value, str(argument.type)):
            return None
        full.append(value)
    return tuple(full) if used == len(kwargs) else None


class AtFunction:
    """``at::NAME(…)``: the overload that takes the arguments, called through the dispatcher.

    What was found for a combination of argument types is remembered as the operator and the values of the arguments
    that were left out.
    """

    __slots__ = ("_found", "name", "variant")

    def __init__(self, name: str, variant: str = "function") -> None:
        self.name = name.removesuffix("_symint")
        self.variant = variant
        self._found: dict[tuple[Any, ...], tuple[Callable[..., Any], tuple[Any, ...]]] = {}

    def __repr__(self) -> str:
        return f"at::{'Tensor::' if self.variant == 'method' else ''}{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = tuple(map(type, args))
        if not kwargs:
            found = self._found.get(key)
            if found is not None:
                return found[0](*args, *found[1])
        return self._resolve(key, args, kwargs)

    def _resolve(self, key: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from engine.torchgen.register import register_all, registered_rows

        register_all()
        tried = []
        for struct, row in registered_rows.items():
            if row.schema.name.base != self.name or self.variant not in row.variant_set:
                continue
            full = _bind(row.schema, args, kwargs)
            if full is None:
                tried.append(str(row.schema))
                continue
            call = getattr(at, struct).call
            plain = not kwargs and not any(isinstance(a, (TensorOptions, list, tuple)) and not a for a in args)
            if plain and not any(isinstance(a, TensorOptions) for a in args):
                self._found[key] = (call, full[len(args) :])
            return call(*full)
        shown = ", ".join(type(a).__name__ for a in args)
        TORCH_CHECK(
            False,
            f"{self!r}({shown}): no operator of the table takes these arguments"
            + "".join(f"\n  {schema}" for schema in tried),
        )
        return None


class TensorMethod(AtFunction):
    """``x.NAME(…)`` of an at::Tensor."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(name, "method")


def _binary(name: str, plain: Callable[[Any, Any], Any], swapped: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The right operand comes first, as compiled C++ evaluates it first."""
    method = TensorMethod(name)

    def apply(b: Any, a: Any) -> Any:
        if isinstance(a, Tensor):
            return method(a, b)
        if isinstance(b, Tensor):
            return swapped(a, b)
        return plain(a, b)

    return apply


def _filled(a: Any, b: Tensor) -> Tensor:
    """``empty_like(b).fill_(a)``: what ``scalar - tensor`` and ``scalar / tensor`` start with."""
    from engine.c10.memory_format import preserve_format

    return at.fill__Scalar.call(at.empty_like.call(b, None, None, None, None, preserve_format), a)


def _neg(a: Any) -> Any:
    return at.neg.call(a) if isinstance(a, Tensor) else -a


_add, _mul, _sub_, _div_ = TensorMethod("add"), TensorMethod("mul"), TensorMethod("sub_"), TensorMethod("div_")
_mirror = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge", "eq": "eq", "ne": "ne"}

# by the name of the ast node
OPERATORS: dict[str, Callable[..., Any]] = {
    "Add": _binary("add", operator.add, lambda a, b: _add(b, a)),
    "Mult": _binary("mul", operator.mul, lambda a, b: _mul(b, a)),
    "Sub": _binary("sub", operator.sub, lambda a, b: _sub_(_filled(a, b), b)),
    "Div": _binary("div", operator.truediv, lambda a, b: _div_(_filled(a, b), b)),
    "USub": _neg,
}


def _comparison(name: str, mirrored: str) -> Callable[..., Any]:
    other_way = TensorMethod(mirrored)
    return _binary(name, getattr(operator, name), lambda a, b: other_way(b, a))


for _node, _name in (("Gt", "gt"), ("Lt", "lt"), ("GtE", "ge"), ("LtE", "le"), ("Eq", "eq"), ("NotEq", "ne")):
    OPERATORS[_node] = _comparison(_name, _mirror[_name])
