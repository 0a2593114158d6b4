"""What somebody may have meant: the known word that takes the fewest changes of a letter."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["closest", "closest_op", "distance"]


def distance(one: str, other: str) -> int:
    """How many letters must be added, taken away, replaced or swapped to make one word of the other."""
    rows = [list(range(len(other) + 1))]
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, another in enumerate(other, 1):
            row.append(min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != another)))
            if i > 1 and j > 1 and letter == other[j - 2] and another == one[i - 2]:
                row[-1] = min(row[-1], rows[-2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


def closest(word: str, known: Iterable[str]) -> str | None:
    """The nearest of the known words, if it is near."""
    near = min(((distance(word.lower(), one.lower()), one) for one in known), default=None, key=lambda pair: pair[0])
    return near[1] if near is not None and near[0] <= max(1, len(word) // 3) else None


def closest_op(word: str, known: Iterable[str]) -> str | None:
    """The nearest operator, of the word's namespace if it has any; without an overload where the word has none."""
    space, _, name = word.rpartition("::")
    ops = [op if "." in word else op.partition(".")[0] for op in known]
    spaces = dict.fromkeys(op.partition("::")[0] for op in ops)
    if space and space not in spaces:
        meant = closest(space, spaces)
        return closest_op(f"{meant}::{name}", ops) if meant is not None else None
    names = {op.partition("::")[2]: op for op in reversed(ops) if not space or op.startswith(space + "::")}
    found = closest(name, reversed(names))
    return names[found] if found is not None else None
