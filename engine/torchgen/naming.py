"""torchgen/api/cpp.py, torchgen/dest/register_dispatch_key.py: how generated functions and files are called."""

from __future__ import annotations

from engine.torchgen.model import NativeFunction

__all__ = ["cpp_name", "options_position", "register_file", "wrapper_name"]

OPTIONS = ("dtype", "layout", "device", "pin_memory")


def cpp_name(row: NativeFunction) -> str:
    """torchgen.api.cpp.name: the base name, with ``_out`` where the schema has out arguments."""
    schema = row.schema
    base = schema.name.name.partition("::")[2]
    return base + "_out" if schema.kind() == "out" else base


def wrapper_name(row: NativeFunction, key: str) -> str:
    """The kernel's wrapper in RegisterX.cpp: structured ones put the overload last, others first."""
    overload = schema_overload(row)
    name = cpp_name(row)
    if row.structured:
        return f"at::wrapper_{key}_{name}_{overload}" if overload else f"at::wrapper_{key}_{name}"
    return f"at::wrapper_{key}_{overload}_{name}"


def schema_overload(row: NativeFunction) -> str:
    return row.schema.name.overload_name


def register_file(key: str) -> str:
    """Where PyTorch's build registers kernels of a key."""
    return f"registered at build/aten/src/ATen/Register{key}.cpp"


def options_position(row: NativeFunction) -> int | None:
    """Index of ``dtype`` where the schema carries dtype, layout, device and pin_memory in a row, else None."""
    names = [argument.name for argument in row.schema.all_arguments]
    for index in range(len(names) - 3):
        if tuple(names[index : index + 4]) == OPTIONS:
            return index
    return None
