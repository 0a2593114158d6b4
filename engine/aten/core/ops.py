"""aten/src/ATen/Operators.h: ``at::_ops``, operators by their C++ struct name (add__Tensor is aten::add_.Tensor)."""

from __future__ import annotations

from typing import Any

from engine.aten.core.dispatcher import OperatorHandle
from engine.c10.exception import NotImplementedError

__all__ = ["NotModelled", "at"]


class NotModelled(NotImplementedError, AttributeError):
    """THE TABLE has no row for an operator that a kernel or a derivative calls; NotImplementedError in Python."""


class _Ops:
    """``at.add_Tensor.call(self, other, alpha)`` dispatches; names resolve on first use and are kept."""

    def _add(self, handle: OperatorHandle) -> None:
        self.__dict__[handle.schema.name.unambiguous_name()] = handle

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            from engine.torchgen.register import register_all

            register_all()
            if name in self.__dict__:
                return self.__dict__[name]
            raise NotModelled(f"at::_ops::{name} is not modelled by the engine; run the script with --on torch")
        raise AttributeError(name)


at = _Ops()
