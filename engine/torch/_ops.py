"""torch/_ops.py, torch/csrc/jit/python/pybind_utils.h: ``torch.ops.NS.NAME[.OVERLOAD](…)``, boxed calls by schema.

Differs: no higher-order operators and no Python dispatch cache.
"""

from __future__ import annotations

import numbers
from types import ModuleType
from typing import Any

from engine import doors
from engine.aten.core.dispatcher import OperatorHandle, singleton
from engine.aten.core.function_schema import FunctionSchema
from engine.aten.core.tensor import Tensor, wrapped_scalar_tensor
from engine.c10.device import Device
from engine.c10.exception import Error, translate
from engine.c10.scalar_type import ScalarType
from engine.torch.csrc.utils.function_parameter import should_allow_numbers_as_tensors
from engine.torchgen.register import register_all

__all__ = ["OpOverload", "OpOverloadPacket", "forget", "ops", "overload_of", "to_ivalue"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++


class _CastError(Exception):
    """An argument does not fit its schema type; the text says why."""


def to_ivalue(value: Any, text: str) -> Any:
    """toIValue for a kernel's result. Raises RuntimeError."""
    try:
        return _cast_to(value, text)
    except _CastError as error:
        raise RuntimeError(str(error)) from None


def _cast_to(value: Any, text: str, numbers_as_tensors: bool = False) -> Any:
    """toIValue: ``value`` as the schema's type. Raises _CastError."""
    if text.endswith("?"):
        return None if value is None else _cast_to(value, text[:-1], numbers_as_tensors)
    if text.endswith("]"):
        inner = text[: text.rindex("[")]
        if not isinstance(value, (list, tuple)):
            raise _CastError(_unable(value))
        made = [_cast_to(item, inner, numbers_as_tensors) for item in value]
        return made if inner.startswith("Tensor") else tuple(made)
    base = text.partition("(")[0]
    if base == "Tensor":
        if isinstance(value, Tensor):
            return value
        if numbers_as_tensors and isinstance(value, (bool, int, float, complex)):
            return wrapped_scalar_tensor(value)
        raise _CastError(f"Unable to cast {value} to Tensor")
    if base == "Scalar":
        if isinstance(value, (bool, int, float, complex)):
            return value
        if isinstance(value, Tensor) and not value._sizes:
            return value.array.item()
        raise _CastError(f"Cannot cast {value} to number")
    if base in ("int", "SymInt"):
        if isinstance(value, numbers.Integral) and not isinstance(value, bool):
            return int(value)
    elif base == "float":
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            return float(value)
    elif base == "bool":
        if isinstance(value, bool):
            return value
    elif base == "str":
        if isinstance(value, str):
            return value
    elif base == "ScalarType":
        if isinstance(value, ScalarType):
            return value
    elif base == "Device":
        if isinstance(value, Device):
            return value
        if isinstance(value, str):
            return Device(value)
    else:
        return value
    raise _CastError(_unable(value))


def _unable(value: Any) -> str:
    return (
        f"Unable to cast Python instance of type {type(value)} to C++ type '?' (#define "
        f"PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


_FRIENDLY = {"Scalar": "number", "SymInt": "int"}


def _friendly(text: str) -> str:
    """The type as TorchScript's error texts write it."""
    if text.endswith("?"):
        return f"Optional[{_friendly(text[:-1])}]"
    if text.endswith("]"):
        return f"List[{_friendly(text[: text.rindex('[')])}]"
    base = text.partition("(")[0]
    return _FRIENDLY.get(base, base)


def _bind(schema: FunctionSchema, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """createStackForSchema. Raises RuntimeError with PyTorch's text."""
    arguments = schema.all_arguments
    name = schema.name.name
    positional = [a for a in arguments if not a.kwarg_only]
    if len(args) + len(kwargs) > len(arguments):
        raise RuntimeError(
            f"{name}() expected at most {len(arguments)} argument(s) but received {len(args) + len(kwargs)} "
            f"argument(s). Declaration: {schema}"
        )
    if len(args) > len(positional):
        raise RuntimeError(
            f"{name}() takes {len(positional)} positional argument(s) but {len(args)} was/were given.  "
            f"Declaration: {schema}"
        )
    # opAllowsNumbersAsTensors
    namespace, _, base = name.partition("::")
    numbers_as_tensors = namespace == "prims" or (namespace == "aten" and should_allow_numbers_as_tensors(base))
    stack = []
    used = 0
    for position, argument in enumerate(arguments):
        if position < len(args):
            value = args[position]
        elif argument.name in kwargs:
            value = kwargs[argument.name]
            used += 1
        elif argument.has_default:
            stack.append(argument.default)
            continue
        else:
            raise RuntimeError(f"{name}() is missing value for argument '{argument.name}'. Declaration: {schema}")
        given = value
        if argument.N and isinstance(value, (int, float)) and not isinstance(value, bool):  # int[2]
            given = (value,) * argument.N
        try:
            stack.append(_cast_to(given, str(argument.type), numbers_as_tensors))
        except _CastError as error:
            raise RuntimeError(
                f"{name}() Expected a value of type '{_friendly(str(argument.type))}' for argument '{argument.name}' "
                f"but instead found type '{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\n"
                f"Declaration: {schema}\nCast error details: {error}"
            ) from None
    if used != len(kwargs):
        known = {a.name for a in arguments}
        for key in kwargs:
            if key not in known:
                raise RuntimeError(f"Unknown keyword argument '{key}' for operator '{name}'. Schema: {schema}")
        again = next(a.name for a in arguments[: len(args)] if a.name in kwargs)
        raise RuntimeError(f"{name}() got multiple values for argument '{again}'. Declaration: {schema}")
    return stack


@doors.frame("torch::jit::invokeOperatorFromPython", layer="python", params=("op", "stack"))
def _invoke(op: OperatorHandle, stack: list[Any]) -> Any:
    try:
        op.callBoxed(stack)
    except Error as error:
        raise translate(error) from None
    return None if not stack else stack[0] if len(stack) == 1 else tuple(stack)


class OpOverload:
    """One operator; calling it makes a boxed dispatcher call."""

    def __init__(self, packet: OpOverloadPacket, handle: OperatorHandle) -> None:
        self._packet = packet
        self._handle = handle
        self._schema = handle.schema
        self._overloadname = handle.schema.name.overload_name or "default"
        self.__name__ = f"{packet.__name__}.{self._overloadname}"
        self.__qualname__ = self.__name__
        self.__module__ = packet.__module__
        self.namespace = packet._qualified_op_name.partition("::")[0]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _invoke(self._handle, _bind(self._schema, args, kwargs))

    def redispatch(self, keyset: Any, *args: Any, **kwargs: Any) -> Any:
        """Go on with ``keyset`` (a DispatchKeySet)."""
        stack = _bind(self._schema, args, kwargs)
        try:
            self._handle.redispatchBoxed(keyset.raw_repr(), stack)
        except Error as error:
            raise translate(error) from None
        return None if not stack else stack[0] if len(stack) == 1 else tuple(stack)

    def name(self) -> str:
        return self._handle.name

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        return self._packet

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._packet!s}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self._packet}.{self._overloadname}"


class OpOverloadPacket:
    """All overloads of a name; calling it takes the first whose schema fits."""

    def __init__(self, qualified: str, handles: list[OperatorHandle]) -> None:
        self._qualified_op_name = qualified
        namespace, _, name = qualified.partition("::")
        self.__name__ = name
        self.__module__ = f"torch.ops.{namespace}"
        self._handles = {handle.schema.name.overload_name or "default": handle for handle in handles}
        self._overloads: dict[str, OpOverload] = {}

    def overloads(self) -> list[str]:
        return list(self._handles)

    def __getattr__(self, key: str) -> OpOverload:
        if key.startswith("__") or key not in self._handles:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{key}'")
        overload = self._overloads.get(key)
        if overload is None:
            overload = self._overloads[key] = OpOverload(self, self._handles[key])
        return overload

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        handles = list(self._handles.values())
        if len(handles) == 1:
            return _invoke(handles[0], _bind(handles[0].schema, args, kwargs))
        failures = []
        for handle in handles:
            try:
                stack = _bind(handle.schema, args, kwargs)
            except RuntimeError as error:
                failures.append(str(error))
            else:
                return _invoke(handle, stack)
        raise RuntimeError(
            "Overloaded torch operator invoked from Python failed to match any schema:\n"
            + "\n\n".join(failures)
            + "\n\n"
        )

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")


class _OpNamespace(ModuleType):
    """``torch.ops.NS``."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self._ns = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if not name.startswith("__"):
            register_all()
            qualified = f"{self._ns}::{name}"
            handles = [h for h in singleton.operators() if h.schema.name.name == qualified]
            if handles:
                packet = OpOverloadPacket(qualified, handles)
                self.__dict__[name] = packet
                return packet
        raise AttributeError(f"'_OpNamespace' '{self._ns}' object has no attribute '{name}'")


class _Ops(ModuleType):
    """``torch.ops``."""

    def __init__(self) -> None:
        super().__init__("torch.ops")

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _OpNamespace(name)
        self.__dict__[name] = namespace
        return namespace


ops = _Ops()


def forget(namespace: str, name: str) -> None:
    """Look ``torch.ops.NS.NAME`` up again at its next use: an overload came or went."""
    found = ops.__dict__.get(namespace)
    if found is not None:
        found.__dict__.pop(name, None)


def overload_of(handle: OperatorHandle) -> OpOverload:
    """The OpOverload of an operator."""
    namespace, _, name = handle.schema.name.name.partition("::")
    packet: OpOverloadPacket = getattr(getattr(ops, namespace), name)
    return getattr(packet, handle.schema.name.overload_name or "default")  # type: ignore[no-any-return]
