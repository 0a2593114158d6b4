"""torch/_namedtensor_internals.py: names of dimensions, which the article's PyTorch has and 2.13 has not.

Differs: only reading names and renaming; operators do not carry names on.
"""

from __future__ import annotations

from typing import Any

from engine import reference
from engine.aten.core.tensor import Tensor
from engine.c10.exception import Error, translate
from engine.torch.csrc.utils.python_args import parse_dimname
from engine.torch.csrc.utils.python_binding import tensor_property
from engine.torch.csrc.utils.tensor_new import propagate_names
from engine.torch.csrc.utils.unmodelled import operator

__all__ = ["PROPERTIES", "names_of"]


def names_of(self: Tensor) -> tuple[str | None, ...]:
    """A name, or None, per dimension."""
    return self._names if self._names is not None else (None,) * len(self._sizes)


def _new_names(self: Tensor, names: tuple[Any, ...], rename_map: dict[str, str]) -> tuple[str | None, ...] | None:
    if names and rename_map:
        raise RuntimeError("rename: This function takes either positional args or keyword args, but not both.")
    if names == (None,):
        return None
    if names:
        given = names[0] if len(names) == 1 and isinstance(names[0], (tuple, list)) else names
        return tuple(map(parse_dimname, given))
    unknown = [name for name in rename_map if name not in names_of(self)]
    if unknown:
        raise RuntimeError(
            f"rename: Tried to rename dim '{unknown[0]}' to dim {rename_map[unknown[0]]} in Tensor[{names_of(self)}] "
            f"but dim '{unknown[0]}' does not exist"
        )
    return tuple(rename_map.get(name, name) if name is not None else None for name in names_of(self))


def _rename(self: Tensor, inplace: bool) -> Any:
    def rename(*names: Any, **rename_map: str) -> Tensor:
        try:
            new = _new_names(self, names, rename_map)
            result = self if inplace else operator("alias", "Tensor.rename").call(self)
            if new is None:
                result._names = None
            else:
                propagate_names(result, new)
        except Error as error:
            raise translate(error) from None
        return result  # type: ignore[no-any-return]

    return rename


def _in_the_article(name: str, getter: Any) -> tensor_property:
    def get(self: Tensor) -> Any:
        if reference() != "article":
            raise AttributeError(f"'Tensor' object has no attribute '{name}'")
        return getter(self)

    return tensor_property(name, get)


PROPERTIES = {
    "names": _in_the_article("names", names_of),
    "has_names": _in_the_article("has_names", lambda self: lambda: self._names is not None),
    "rename": _in_the_article("rename", lambda self: _rename(self, inplace=False)),
    "rename_": _in_the_article("rename_", lambda self: _rename(self, inplace=True)),
}
