"""torch/library.py: operators and kernels of the user's own, added and removed at run time.

    lib = Library("my", "DEF")
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: x + x, "CPU")
    torch.ops.my.twice(torch.ones(2))

Differs: ``custom_op``, ``register_fake``, ``register_autograd`` and the like are not modelled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dis import opmap
from typing import Any

from engine.aten.core.dispatcher import singleton
from engine.aten.core.library import Library as _CppLibrary
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey, isAliasDispatchKey, parseDispatchKey, toString
from engine.c10.dispatch_key_set import getRuntimeDispatchKeySet
from engine.c10.tensor_options import computeDispatchKey
from engine.torch.csrc.utils.unmodelled import HINT
from engine.torchgen.register import register_all

__all__ = ["Library", "define", "fallthrough_kernel", "impl"]

_impls: set[str] = set()  # "ns/name.overload/key" of every kernel registered from Python
_defs: dict[str, str] = {}  # namespace -> where its DEF library was made
_RESERVED = ("prim",)


def fallthrough_kernel(*_: Any) -> Any:
    """Pass to ``Library.impl`` or ``Library.fallback`` to register a fallthrough; never called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Library:
    """Registrations for namespace ``ns``.

    kind: "DEF" (one per namespace), "IMPL" or "FRAGMENT". dispatch_key: default key of ``impl`` and ``fallback``.
    Raises ValueError for another kind or a reserved namespace.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        register_all()
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self.m: _CppLibrary | None = None
        made = _translated(_CppLibrary, ns, kind, dispatch_key)
        if kind == "DEF":
            previous = "registered at build/aten/src/ATen/RegisterSchema.cpp" if ns == "aten" else _defs.get(ns)
            if previous is not None:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your "
                    f"definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, "
                    f"consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define "
                    f"operators for a single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to "
                    f"explicitly indicate this.  Previous registration of TORCH_LIBRARY was {previous}; latest "
                    f"registration was {made.debug}"
                )
            _defs[ns] = made.debug
        self.m = made
        self._slots: set[str] = set()

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operator from its schema; returns its name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        handle = _translated(self._library().def_, schema)
        from engine.torch._ops import forget

        forget(self.ns, handle.schema.name.name.partition("::")[2])
        return schema.partition("(")[0]

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Register ``fn`` for an operator ("name.overload", "ns::name" or an OpOverload) and a dispatch key.

        With ``with_keyset`` ``fn`` gets the DispatchKeySet first. The newest kernel of a key wins; overriding one warns
        once. Raises TypeError when ``fn`` cannot be called, RuntimeError for a wrong key or namespace, for a Meta
        kernel beside a CompositeImplicitAutograd one, and without ``allow_override`` for a kernel that is there.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        dispatch_key = dispatch_key or self.dispatch_key
        name = self._name_of(op_name)
        short = name.partition("::")[2]
        slot = f"{self.ns}/{short}/{dispatch_key}"
        if not allow_override and slot in _impls:
            raise RuntimeError(
                f"This is not allowed since there's already a kernel registered from python overriding {short}'s "
                f"behavior for {dispatch_key} dispatch key and {self.ns} namespace."
            )
        entry = singleton.entry(name)
        if dispatch_key == "Meta" and entry.registered(DispatchKey.CompositeImplicitAutograd) is not None:
            raise RuntimeError(
                f"We should not register a meta kernel directly to the operator '{op_name}', because it has a "
                "CompositeImplicitAutograd kernel in core. Instead we should let the operator decompose, and ensure "
                "that we have meta kernels for the base ops that it decomposes into."
            )
        dispatch_key = dispatch_key or "CompositeImplicitAutograd"
        key = _translated(parseDispatchKey, dispatch_key)
        kernel = None if fn is fallthrough_kernel else fn
        _translated(self._library().impl, name, key, kernel, with_keyset)
        _impls.add(slot)
        self._slots.add(slot)

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register ``fn(op, *args, **kwargs)`` for every operator without a kernel at ``dispatch_key``.

        Raises RuntimeError unless the library's namespace is "_".
        """
        dispatch_key = dispatch_key or self.dispatch_key
        if self.ns != "_":
            raise RuntimeError(
                'Fallback can only be registered using library fragment on the global namespace "_" but it is '
                f"{self.ns}"
            )
        if not dispatch_key:
            raise AssertionError("dispatch_key must be provided for fallback")
        key = _translated(parseDispatchKey, dispatch_key)
        keys = list(getRuntimeDispatchKeySet(key)) if isAliasDispatchKey(key) else [key]
        for each in keys:
            _translated(self._library().fallback, each, None if fn is fallthrough_kernel else fn, with_keyset)

    def _destroy(self) -> None:
        """Take every registration of this library away again."""
        if self.m is not None:
            names = [name.partition("::")[2].partition(".")[0] for name in self.m._defined]
            self.m.reset()
            from engine.torch._ops import forget

            for name in names:
                forget(self.ns, name)
        self.m = None
        _impls.difference_update(self._slots)
        self._slots.clear()
        if self.kind == "DEF":
            _defs.pop(self.ns, None)

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: Any) -> None:
        self._destroy()

    def _library(self) -> _CppLibrary:
        if self.m is None:
            raise RuntimeError(f"{self!r} was destroyed")
        return self.m

    def _name_of(self, op_name: Any) -> str:
        if isinstance(op_name, str):
            name = op_name
        elif hasattr(op_name, "_schema"):
            name = str(op_name._schema.name)
        else:
            raise RuntimeError("impl should be passed either a name or an OpOverload object as the first argument")
        if "::" not in name:
            return f"{self.ns}::{name}"
        namespace = name.partition("::")[0]
        if namespace != self.ns:
            raise RuntimeError(
                f'impl("{name}", ...): Explicitly provided namespace ({namespace}) in operator name does not match '
                f"namespace of enclosing TORCH_LIBRARY block ({self.ns}).  Move this definition to the TORCH_LIBRARY "
                f"block corresponding to this namespace (and consider deleting the namespace from your schema string.)"
                f"  (Error occurred while processing TORCH_LIBRARY block at "
                f"{self._library().debug.removeprefix('registered at ')})"
            )
        return name


_keep_alive: list[Library] = []


def define(qualname: str | Library, schema: str, *rest: Any, lib: Library | None = None, tags: Any = ()) -> Any:
    """Define ``ns::name`` with a schema like "(Tensor x) -> Tensor"; or, given a Library, as its method does.

    Raises ValueError for a name without a namespace or a schema with a name in it.
    """
    if isinstance(qualname, Library):
        older = qualname
        name = older.define(schema, *rest)

        def wrap(fn: Callable[..., Any]) -> Callable[..., Any]:
            older.impl(name, fn)
            return fn

        return wrap
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, name = _parse_namespace(qualname)
    if not schema.startswith("(") or "->" not in schema:
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got '
            f'"{schema}"'
        )
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _keep_alive.append(lib)
    lib.define(name + schema, alias_analysis="", tags=tags)
    return None


def impl(
    qualname: str | Library, types: Any = "", func: Callable[..., Any] | None = None, *, lib: Library | None = None
) -> Any:
    """Register ``func`` for ``ns::name`` and device types or dispatch keys; without ``func`` a decorator.

    ``impl(library, name, dispatch_key)`` is the older form of the decorator.
    """
    if isinstance(qualname, Library):
        older, key = qualname, func if isinstance(func, str) else ""

        def wrap(fn: Callable[..., Any]) -> Callable[..., Any]:
            older.impl(types, fn, key)
            return fn

        return wrap
    keys = sorted({_key_of(kind) for kind in ((types,) if isinstance(types, str) else types)})

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        namespace, _ = _parse_namespace(qualname)
        use = lib
        if use is None:
            use = Library(namespace, "FRAGMENT")
            _keep_alive.append(use)
        for key in keys:
            use.impl(qualname, fn, key)
        return fn

    if func is None:
        return register
    register(func)
    return None


def _key_of(kind: str) -> str:
    """The dispatch key that a device type, "default" or a key's own name stands for."""
    if kind == "default":
        return "CompositeExplicitAutograd"
    if kind in DispatchKey.__members__:
        return kind
    return toString(computeDispatchKey(None, None, Device(kind)))


def _parse_namespace(qualname: str) -> tuple[str, str]:
    namespace, _, name = qualname.partition("::")
    if not name or "::" in name:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    return namespace, name


_UNMODELLED = frozenset(
    {
        *("custom_op", "get_ctx", "get_kernel", "impl_abstract", "infer_schema", "opcheck", "register_autocast"),
        *("register_autograd", "register_fake", "register_kernel", "register_torch_dispatch", "register_vmap"),
        *("triton_op", "wrap_triton"),
    }
)


def __getattr__(name: str) -> Any:
    if name not in _UNMODELLED:
        raise AttributeError(f"module 'torch.library' has no attribute '{name}'")
    text = f"torch.library.{name} is not modelled by the engine; {HINT}"
    caller = sys._getframe(1)
    if caller.f_code.co_code[caller.f_lasti] == opmap["IMPORT_FROM"]:  # it would hide the reason
        raise ImportError(text, name=name)
    raise AttributeError(text)


def _translated(fn: Callable[..., Any], *args: Any) -> Any:
    from engine.c10.exception import Error, translate

    try:
        return fn(*args)
    except Error as error:
        raise translate(error) from None
