"""torch/csrc/utils/python_arg_parser.cpp, FunctionSignature: one Python signature and how a call is bound to it."""

from __future__ import annotations

from typing import Any, NoReturn

from engine.aten.core.tensor import Tensor
from engine.c10 import exception
from engine.torch.csrc.utils.function_parameter import (
    VALUE_KINDS,
    FunctionParameter,
    is_int_or_symint_list,
    should_allow_numbers_as_tensors,
)
from engine.torch.csrc.utils.python_numbers import tp_name
from engine.torch.csrc.utils.python_torch_function import append_overloaded_arg, check_has_torch_function

__all__ = ["FunctionSignature"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++


class FunctionSignature:
    """Parsed from PyTorch's syntax: "add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None)".

    "|deprecated" or "|hidden" behind it keep it out of error texts.
    """

    __slots__ = (
        "deprecated",
        "fmt",
        "hidden",
        "index",
        "max_args",
        "max_pos_args",
        "min_args",
        "name",
        "params",
        "varargs",
    )

    def __init__(self, fmt: str, index: int) -> None:
        self.fmt = fmt
        self.index = index
        name, paren, rest = fmt.partition("(")
        exception.TORCH_CHECK(paren, "missing opening parenthesis: ", fmt)
        inner, paren, flag = rest.rpartition(")")
        exception.TORCH_CHECK(paren, "missing closing parenthesis: ", fmt)
        self.name = name
        self.deprecated = flag == "|deprecated"
        self.hidden = self.deprecated or flag == "|hidden"
        numbers = should_allow_numbers_as_tensors(name)
        params: list[FunctionParameter] = []
        keyword_only = False
        for text in inner.split(", ") if inner else ():
            exception.TORCH_CHECK(text, "malformed signature: ", fmt)
            if text == "*":
                keyword_only = True
            else:
                params.append(FunctionParameter(text, keyword_only, numbers))
        self.params = tuple(params)
        self.max_args = len(params)
        self.min_args = sum(not param.optional for param in params)
        self.max_pos_args = sum(not param.keyword_only for param in params)
        # view(3, 2) as view((3, 2)): the only positional parameter is a list of ints
        self.varargs = self.max_pos_args == 1 and params[0].kind in ("INT_LIST", "SYM_INT_LIST")

    def __str__(self) -> str:
        """As error texts print it: "(Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)"."""
        parts = []
        for i, param in enumerate(self.params):
            if param.keyword_only and (i == 0 or not self.params[i - 1].keyword_only):
                parts.append("*")
            default = f" = {param.default_value}" if param.optional else ""
            parts.append(f"{param.type_name} {param.name}{default}")
        return "(" + ", ".join(parts) + ")"

    def _extra_args(self, nargs: int) -> NoReturn:
        least, most = self.min_args, self.max_pos_args
        if least != most:
            raise exception.TypeError(
                f"{self.name}() takes from {least} to {most} positional arguments but {nargs} were given"
            )
        raise exception.TypeError(
            f"{self.name}() takes {most} positional argument{'' if most == 1 else 's'} but {nargs} "
            f"{'was' if nargs == 1 else 'were'} given"
        )

    def _missing_args(self, idx: int) -> NoReturn:
        missing = [f'"{param.name}"' for param in self.params[idx:] if not param.optional]
        # PyTorch has the plural the wrong way round
        plural = "s" if len(missing) == 1 else ""
        raise exception.TypeError(
            f"{self.name}() missing {len(missing)} required positional argument{plural}: {', '.join(missing)}"
        )

    def _extra_kwargs(self, kwargs: dict[str, Any], nargs: int) -> NoReturn:
        names = [param.name for param in self.params]
        for key in kwargs:
            exception.TORCH_CHECK_TYPE(isinstance(key, str), "keywords must be strings")
            exception.TORCH_CHECK_TYPE(key in names, f"{self.name}() got an unexpected keyword argument '{key}'")
            exception.TORCH_CHECK_TYPE(
                names.index(key) >= nargs, f"{self.name}() got multiple values for argument '{key}'"
            )
        raise exception.TypeError("invalid keyword arguments")

    def _wrong_type(self, param: FunctionParameter, obj: Any, position: int | None, failed: list[Any]) -> NoReturn:
        where = "" if position is None else f" (position {position})"
        got = f"not {tp_name(obj)}"
        if position is not None and failed:
            got = f"but found element of type {tp_name(failed[-1])} at pos 0"
        raise exception.TypeError(f"{self.name}(): argument '{param.name}'{where} must be {param.type_name}, {got}")

    def parse(
        self,
        self_: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None,
        overloaded: list[Any],
        raise_exception: bool,
        unsure: list[bool],
    ) -> list[Any] | None:
        """The arguments in the order of the parameters, or None when the call does not fit (or the TypeError why).

        ``unsure`` gets an entry when an answer hung on the value of a tensor argument, not on its type.
        """
        nargs = len(args)
        remaining = len(kwargs) if kwargs else 0
        varargs = self.varargs and is_int_or_symint_list(args, self.params[0].size, overloaded)
        if nargs > self.max_pos_args and not varargs:
            if raise_exception:
                self._extra_args(nargs)
            return None
        if self_ is not None and check_has_torch_function(self_, ignore_mode=True):
            append_overloaded_arg(overloaded, self_)
        bound: list[Any] = []
        pos = 0
        failed: list[Any] = []
        for i, param in enumerate(self.params):
            keyword = pos >= nargs
            if not keyword:
                if param.keyword_only:
                    if raise_exception:
                        self._extra_args(nargs)
                    return None
                obj, given = args[pos], True
            elif kwargs:
                obj = kwargs.get(param.name, kwargs)
                for name in param.numpy_names:
                    if obj is not kwargs:
                        break
                    obj = kwargs.get(name, kwargs)
                given = obj is not kwargs
            else:
                obj, given = None, False
            if given and param.kind in VALUE_KINDS and isinstance(obj, Tensor):
                unsure.append(True)
            if (not given and param.optional) or (given and obj is None and param.allow_none):
                bound.append(None)
            elif not given:
                if raise_exception:
                    self._missing_args(i)
                return None
            elif param.check(obj, overloaded, i, failed):
                bound.append(obj)
            elif varargs and pos == 0 and not keyword and is_int_or_symint_list(args, param.size, overloaded, failed):
                bound.append(args)
                pos = nargs
                continue
            else:
                if raise_exception:
                    self._wrong_type(param, obj, None if keyword else pos + 1, failed)
                return None
            if not keyword:
                pos += 1
            elif given:
                remaining -= 1
        if remaining > 0:
            if raise_exception:
                self._extra_kwargs(kwargs or {}, nargs)
            return None
        return bound
