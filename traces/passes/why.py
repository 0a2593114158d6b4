"""Why a dispatcher step went where it went, in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traces.model import Hop
from traces.passes.path import CALLS
from traces.trace import Trace

__all__ = ["Explanation", "why"]

FEW = 3  # autocast keys that are listed
BOXED = "; arguments and results pass through a stack (boxed)"

# Why a kernel is in the cell of the table, by the word that PyTorch prints beside it; {key} is the key of the cell.
REASONS = {
    "kernel": "it was registered for {key} itself",
    "default backend kernel": (
        "nothing is registered for {key} itself, and the operator's CompositeExplicitAutograd kernel serves all"
    ),
    "math kernel": (
        "nothing is registered for {key} itself, and a CompositeImplicitAutograd kernel, which is made of other "
        "operators, serves every key that has none"
    ),
    "nested kernel": "a CompositeImplicitAutogradNestedTensor kernel, made of other operators, serves nested tensors",
    "autograd kernel": "nothing is registered for {key} itself, and its Autograd kernel serves every backend",
    "batched kernel": "the operator's FuncTorchBatchedDecomposition kernel serves {key}",
    "backend fallback": "the operator has no kernel for {key}; the fallback of {key} stands in for every such operator",
    "fallthrough": "the kernel of {key} only passes on to the next key",
    "missing": "the operator has nothing for {key}",
    "ambiguous autogradother kernel": "more than one registration claims {key}",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """``words`` are sentences; ``table`` has rows of a name and a text."""

    hop: Hop
    title: str
    words: tuple[str, ...]
    table: tuple[tuple[str, str], ...]


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _few(names: Sequence[str]) -> list[str]:
    """The names, those of many autocast keys told as their number."""
    others = [name for name in names if not name.startswith("Autocast")]
    more = len(names) - len(others)
    return [*others, f"{more} autocast keys"] if more > FEW else list(names)


def why(trace: Trace, hop: Hop) -> Explanation:
    """The explanation of a hop."""
    title = f"{hop.op} [{hop.kind}] went to {hop.key}"
    call = hop.kind in CALLS
    words = [_won(hop)]
    words.extend(_call(hop) if call else _redispatch(hop))
    if hop.fallthrough:
        one = len(hop.fallthrough) == 1
        words.append(
            f"{_and(hop.fallthrough)} {'has' if one else 'have'} a higher priority but {'falls' if one else 'fall'} "
            f"through for this operator, so {'it was' if one else 'they were'} passed over."
        )
    words.append(_kernel(hop))
    if hop.derived:
        words.append("This step was not observed; it is derived from the keys.")
    return Explanation(hop, title, tuple(words), tuple(_table(hop)))


def _won(hop: Hop) -> str:
    names = hop.keyset.names
    if not names:
        return f"Key {hop.key} won because the key set was empty: neither an argument nor the thread brought a key."
    if hop.key not in names:
        return f"Key {hop.key} won: no key of the set ({', '.join(names)}) has a place in the table."
    lower = names[names.index(hop.key) + 1 :]
    left = " left" if hop.fallthrough else ""
    if lower:
        return (
            f"Key {hop.key} won because it has the highest priority of the keys{left} in the set, before {_and(lower)}."
        )
    return f"Key {hop.key} won because it is the only key{left} in the set."


def _call(hop: Hop) -> list[str]:
    words = []
    bringing = [(name, keys) for name, keys in hop.arg_keysets if keys]
    for name, keys in bringing:
        mark = " (among them the winner)" if hop.key in keys and len(keys) > 1 else ""
        words.append(f"Argument {name} brought {_and(keys)}{mark}.")
    if not bringing:
        words.append("No tensor argument brought a key.")
    if hop.tls_include:
        mark = " (among them the winner)" if hop.key in hop.tls_include and len(hop.tls_include) > 1 else ""
        words.append(f"The thread-local state included {_and(hop.tls_include)}{mark}.")
    if hop.tls_exclude:
        brought = {name for _, keys in hop.arg_keysets for name in keys} | set(hop.tls_include)
        masked = [name for name in hop.tls_exclude if name in brought]
        excluded = _and(_few(hop.tls_exclude))
        effect = f"which took {_and(_few(masked))} out of the set" if masked else "none of which an argument brought"
        words.append(f"The thread-local state excluded {excluded}, {effect}.")
    return words


def _redispatch(hop: Hop) -> list[str]:
    return [
        "A redispatch takes the key set that the kernel above handed on "
        f"({', '.join(hop.keyset.names) or 'empty'}); arguments and thread-local state do not count."
    ]


def _kernel(hop: Hop) -> str:
    reason = hop.reason.strip("[]")
    named = hop.kernel or "The kernel"
    where = f", {hop.kernel_debug}," if hop.kernel_debug else ""
    because = REASONS.get(reason, f"[{reason}]" if reason else "").format(key=hop.key)
    boxed = BOXED if hop.boxed else ""
    cell = f"in the operator's table under {hop.key}"
    return f"{named}{where} is {cell}{': ' + because if because else ''}{boxed}."


def _table(hop: Hop) -> list[tuple[str, str]]:
    def keys(names: Sequence[str]) -> str:
        return ", ".join(names) or "–"

    rows = [("operator", hop.op), ("kind", hop.kind)]
    rows.extend((f"argument {name}", keys(names)) for name, names in hop.arg_keysets)
    rows.append(("TLS include", keys(hop.tls_include)))
    rows.append(("TLS exclude", keys(_few(hop.tls_exclude))))
    rows.append(("merged" if hop.kind in CALLS else "handed on", f"{keys(hop.keyset.names)}  (0x{hop.keyset.raw:x})"))
    rows.append(("fell through", keys(hop.fallthrough)))
    rows.append(("dispatched to", hop.key))
    rows.append(("kernel", f"{hop.kernel} {hop.reason}".strip() or "–"))
    rows.append(("registered", hop.kernel_debug.removeprefix("registered ") or "–"))
    return rows
