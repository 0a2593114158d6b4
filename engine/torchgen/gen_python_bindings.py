"""tools/autograd/gen_python_functions.py: the THPVariable_X functions and methods that Python calls.

One template per kind of binding. Each parses its arguments, hands the call to __torch_function__ overrides if there are
any, and else calls what PyTorch's dispatch lambda calls: ``at::Tensor::X`` for operators that are methods, ``torch::X``
for factories, ``at::X`` for the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from engine import _on_switch, reference
from engine.aten.core.ops import at
from engine.aten.core.tensor import Tensor
from engine.torch.csrc.utils.device_lazy_init import maybe_initialize_device
from engine.torch.csrc.utils.out_types import check_out_type_matches
from engine.torch.csrc.utils.python_arg_parser import PythonArgParser, PythonArgs
from engine.torch.csrc.utils.python_args import get_default_device
from engine.torch.csrc.utils.python_binding import as_function, as_method, note, tensor_class
from engine.torch.csrc.utils.python_torch_function import (
    check_has_torch_function,
    handle_torch_function,
    mode_enabled,
)
from engine.torchgen.model import NativeFunction
from engine.torchgen.naming import options_position
from engine.torchgen.python_signatures import PythonSignature, PythonSignatureGroup, signatures

__all__ = ["Binding", "function_bindings", "make_function", "make_method", "method_bindings"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

Case = Callable[[Any, Any], Any]

_NO_OPTIONS = [None] * 5

_UNPACK = {
    "Tensor": "tensor",
    "Scalar": "scalar",
    "ScalarType": "scalartype",
    "Generator": "generator",
    "Device": "device",
    "int": "toInt64",
    "SymInt": "toSymInt",
    "bool": "toBool",
    "float": "toDouble",
    "str": "stringView",
    "Layout": "layout",
    "MemoryFormat": "memoryformat",
    "Dimname": "dimname",
    "Tensor[]": "tensorlist",
    "Tensor?[]": "list_of_optional_tensors",
    "int[]": "intlist",
    "SymInt[]": "symintlist",
    "float[]": "doublelist",
    "Scalar[]": "scalarlist",
    "Dimname[]": "dimnamelist",
}
_UNPACK_OPTIONAL = {"Tensor": "tensor", "Generator": "generator", "Dimname[]": "toDimnameListOptional"}


def arg_parser_unpack_method(kind: str, default: str | None) -> Callable[[PythonArgs, int], Any]:
    """The PythonArgs method that converts an argument of schema type ``kind``."""
    optional = kind.endswith("?")
    base = kind.removesuffix("?")
    if base.endswith("]"):
        element, _, size = base[:-1].rpartition("[")
        if element == "Tensor" and size:
            return PythonArgs.tensorlist_n
        base = element + "[]"
    if optional and base in _UNPACK_OPTIONAL:
        return getattr(PythonArgs, _UNPACK_OPTIONAL[base])  # type: ignore[no-any-return]
    suffix = "Optional" if optional and default in (None, "None") else ""
    return getattr(PythonArgs, _UNPACK[base] + suffix)  # type: ignore[no-any-return]


def _callee(row: NativeFunction) -> Callable[..., Any]:
    """What the dispatch lambda calls, with the arguments in the order of the schema (TensorOptions as one)."""
    from engine.torchgen.register import at_functions, variable_factories

    struct = row.schema.name.unambiguous_name()
    op = getattr(at, struct)
    if any(str(r.type).endswith("[]") for r in row.schema.returns):
        return lambda *args: tuple(op.call(*args))  # wrap(std::vector<at::Tensor>)
    if "method" in row.variant_set:
        # at::Tensor::X is inlined into the binding
        position = options_position(row)
        if position is None:
            return op.call  # type: ignore[no-any-return]

        def method(*args: Any) -> Any:
            options = args[position]
            return op.call(
                *args[:position],
                options.dtype_opt(),
                options.layout_opt(),
                options.device_opt(),
                options.pinned_memory_opt(),
                *args[position + 1 :],
            )

        return method
    return variable_factories.get(struct) or at_functions[struct]


def _is_factory(signature: PythonSignature) -> bool:
    """Whether an open ``device`` means the default device, rather than that of another tensor."""
    return not signature.name.startswith("new_") and not signature.name.endswith("_like")


def emit_single_dispatch(signature: PythonSignature, row: NativeFunction) -> Case:
    """Convert the parsed arguments into those of the operator and call it."""
    from engine.c10.tensor_options import TensorOptions
    from engine.torch.csrc.autograd.variable import set_requires_grad

    arguments = signature.arguments()
    places = {argument.name: i for i, argument in enumerate(arguments)}
    options_at = options_position(row)
    names = [argument.name for argument in row.schema.all_arguments]
    if options_at is not None:
        names[options_at : options_at + 4] = ["options"]
    outputs = signature.outputs if row.schema.kind() == "out" else ()
    options_place = places.get("dtype", -1) if signature.tensor_options_args else -1
    factory = _is_factory(signature)
    call = _callee(row)
    getters: list[tuple[Any, Any]] = []
    for i, name in enumerate(names):
        if name == "options":
            getters.append((None, "options"))
        elif signature.method and name == "self":
            getters.append((None, "self"))
        elif name in outputs and len(outputs) > 1:
            nth = outputs.index(name)
            getters.append((lambda r, i, nth=nth: r.tensorlist_n(i)[nth], places["out"]))
        elif signature.call is not None and name not in outputs:
            getters.append(_deprecated_getter(signature, i, places))
        else:
            argument = arguments[places[name]]
            getters.append((arg_parser_unpack_method(argument.type, argument.default), places[name]))

    plain: dict[Any, TensorOptions] = {}

    def parse_options(r: PythonArgs) -> TensorOptions:
        i = options_place
        if r.args[i : i + 5] == _NO_OPTIONS:
            # the common case: the same options each time
            default = get_default_device() if factory else None
            known = plain.get(default)
            if known is None:
                known = plain[default] = TensorOptions(device=default, requires_grad=False, pinned_memory=False)
            return known
        device = r.deviceOptional(i + 2)
        if device is None and factory:
            device = get_default_device()
        options = TensorOptions(
            dtype=r.scalartypeOptional(i),
            layout=r.layoutOptional(i + 1),
            device=device,
            requires_grad=r.toBool(i + 4),
            pinned_memory=r.toBool(i + 3),
        )
        maybe_initialize_device(device)
        return options

    method = signature.method

    if options_at is not None:

        def with_options(self_: Any, r: PythonArgs) -> Any:
            options = parse_options(r)
            values = [(options if i == "options" else self_) if get is None else get(r, i) for get, i in getters]
            result = call(*values)
            if method:
                set_requires_grad(result, r.toBool(options_place + 4))
            return result

        return with_options

    if options_place >= 0:
        out_place = signature.output_idx()

        def with_out(self_: Any, r: PythonArgs) -> Any:
            i = options_place
            device = r.deviceOptional(i + 2)
            check_out_type_matches(
                r.args[out_place],
                r.scalartypeOptional(i),
                r.isNone(i),
                r.layoutOptional(i + 1),
                device if device is not None else get_default_device(),
                device is None,
            )
            result = call(*[self_ if get is None else get(r, i) for get, i in getters])
            set_requires_grad(result, r.toBool(options_place + 4))
            return result

        return with_out

    if method and getters and getters[0] == (None, "self"):
        rest = getters[1:]
        if not rest:
            return lambda self_, r: call(self_)
        if len(rest) == 1:
            ((first, first_at),) = rest
            return lambda self_, r: call(self_, first(r, first_at))
        return lambda self_, r: call(self_, *[get(r, i) for get, i in rest])
    return lambda self_, r: call(*[self_ if get is None else get(r, i) for get, i in getters])


def _deprecated_getter(signature: PythonSignature, i: int, places: dict[str, int]) -> tuple[Any, Any]:
    """An argument of a deprecated signature: another place, or a constant."""
    assert signature.call is not None
    name = signature.call[i]
    if name not in places:
        constant = int(name)
        return (lambda r, i: constant), 0
    argument = signature.arguments()[places[name]]
    return arg_parser_unpack_method(argument.type, argument.default), places[name]


def emit_dispatch_case(group: PythonSignatureGroup) -> Case:
    """One case of the switch over signatures: with ``out`` the out variant, else the functional one."""
    base = emit_single_dispatch(group.signature, group.base)
    if group.outplace is None:
        return base
    out = emit_single_dispatch(group.signature, group.outplace)
    out_idx = group.signature.output_idx()

    def case(self_: Any, r: PythonArgs) -> Any:
        return (base if r.args[out_idx] is None else out)(self_, r)

    return case


class Binding:
    """The parser and the cases of one THPVariable_X; made on first use and when the reference changes."""

    __slots__ = ("cases", "groups", "method", "name", "noarg", "parser", "rows")

    def __init__(self, name: str, rows: Iterable[NativeFunction], method: bool) -> None:
        self.name = name
        self.rows = tuple(rows)
        self.method = method
        self.parser: PythonArgParser | None = None
        self.refresh()

    def refresh(self) -> None:
        """Choose the signatures of the reference in force."""
        article = reference() == "article"
        rows = [row for row in self.rows if article or not row.article]
        self.groups = signatures(rows, self.method)
        self.noarg = len(self.groups) == 1 and not self.groups[0].signature.arguments()
        self.parser = None
        self.cases: list[Case] = []

    def build(self) -> PythonArgParser:
        cases = [emit_dispatch_case(group) for group in self.groups]
        parser = PythonArgParser([group.signature.signature_str() for group in self.groups], traceable=True)
        self.cases, self.parser = cases, parser
        return parser

    def __call__(self, self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any], api: Any, module: str) -> Any:
        parser = self.parser
        if parser is None:
            parser = self.build()
        r = parser.parse(self_, args, kwargs)
        note(r)
        if r.overloaded_args or mode_enabled():
            return handle_torch_function(r.overloaded_args, self_, args, kwargs, api(), self.name, module)
        return self.cases[r.idx](self_, r)


def make_function(binding: Binding, api: Callable[[], Any], module: str = "torch") -> Callable[..., Any]:
    """A function of a module; ``api`` gives the namespace in which __torch_function__ overrides are told it lies."""

    def run(self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return binding(None, args, kwargs, api, module)

    return as_function(run, binding.name, module)


def make_method(binding: Binding) -> Callable[..., Any]:
    """A method of torch.Tensor."""
    cpp = f"torch::autograd::THPVariable_{binding.name}"
    if not binding.noarg:
        return as_method(lambda *call: binding(*call, tensor_class, "torch.Tensor"), binding.name, cpp)

    def run(self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if check_has_torch_function(self_):
            return handle_torch_function((self_,), self_, (), None, Tensor, binding.name, "torch.Tensor")
        if binding.parser is None:
            binding.build()
        return binding.cases[0](self_, None)

    return as_method(run, binding.name, cpp, noarg=True)


_functions: dict[str, Binding] = {}
_methods: dict[str, Binding] = {}


def _collect() -> None:
    """Group THE TABLE's rows by operator name, once."""
    if _functions:
        return
    from engine.torchgen.register import rows

    by_name: dict[tuple[str, bool], list[NativeFunction]] = defaultdict(list)
    for row in rows():
        if not row.python:
            continue
        for variant, method in (("function", False), ("method", True)):
            if variant in row.variant_set:
                by_name[row.schema.name.base, method].append(row)
    for (name, method), found in by_name.items():
        (_methods if method else _functions)[name] = Binding(name, found, method)


def function_bindings() -> dict[str, Binding]:
    """THPVariable_X by operator name, for the functions of ``torch``."""
    _collect()
    return _functions


def method_bindings() -> dict[str, Binding]:
    """THPVariable_X by operator name, for the methods of ``torch.Tensor``."""
    _collect()
    return _methods


def _refresh() -> None:
    for binding in (*_functions.values(), *_methods.values()):
        if any(row.article for row in binding.rows):
            binding.refresh()


_on_switch.append(_refresh)
