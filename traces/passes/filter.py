"""Less of a trace: only what a predicate selects, or only the outer levels."""

from __future__ import annotations

from collections.abc import Callable

from traces.predicates import Predicate
from traces.store import NodeDraft, Store
from traces.trace import Trace

__all__ = ["depth", "keep", "only"]


def only(trace: Trace, predicate: Predicate) -> Trace:
    """The hops and frames that match, the frames that led to them, and the frames that a kept hop runs in."""
    store = trace._store
    hops = [predicate(trace, hop) for hop in trace.hops]
    kept_hop_frames = {store.h_frame[i] for i, wanted in enumerate(hops) if wanted}
    dropped_hop_frames = set(store.h_frame) - kept_hop_frames
    kept: list[bool] = []
    inside: list[bool] = []  # in the kernel of a kept hop, up to the next hop
    for position, parent in enumerate(store.f_parent):
        within = position in kept_hop_frames or (position not in dropped_hop_frames and parent >= 0 and inside[parent])
        inside.append(within)
        kept.append(within or (position not in dropped_hop_frames and predicate(trace, trace.frames[position])))
    for position in range(len(kept) - 1, -1, -1):
        parent = store.f_parent[position]
        if kept[position] and parent >= 0:
            kept[parent] = True
    return keep(trace, kept.__getitem__, hops.__getitem__)


def depth(trace: Trace, levels: int) -> Trace:
    """The outer ``levels`` levels of frames, with their hops."""
    store = trace._store
    deep: list[int] = []
    for parent in store.f_parent:
        deep.append(0 if parent < 0 else deep[parent] + 1)
    return keep(trace, lambda frame: deep[frame] < levels, lambda hop: deep[store.h_frame[hop]] < levels)


def keep(trace: Trace, frame: Callable[[int], bool], hop: Callable[[int], bool]) -> Trace:
    """A trace of the frames and hops (given by position) for which the answers are true; parents must be kept too."""
    old = trace._store
    new = Store(old.header)
    new.sites, new.values, new.wheres, new.calls = old.sites, old.values, old.wheres, old.calls
    new.decisions, new.holes = old.decisions, old.holes
    places: dict[int, int] = {-1: -1}
    for position in range(old.frame_ids.count):
        if not frame(position):
            continue
        call, result = old.f_call[position], old.f_result[position]
        place = places[position] = new.begin(
            old.frame_ids.at(position),
            places[old.f_parent[position]],
            old.f_thread[position],
            call,
            old.numbers_at(old.calls[call][1], old.f_args_at[position]),
            old.f_start[position],
            position in old.f_derived,
        )
        numbers = () if result < 0 else old.numbers_at(result, old.f_result_at[position])
        new.end(place, old.f_end[position], result, numbers)
        if position in old.f_error:
            new.f_error[place] = old.f_error[position]
        if position in old.f_details:
            new.f_details[place] = old.f_details[position]
    for position in range(old.hop_ids.count):
        if hop(position) and old.h_frame[position] in places:
            new.add_hop(old.hop_ids.at(position), places[old.h_frame[position]], old.h_decision[position])
    for draft in old.node_order:
        if draft.created_by is not None and new.frame_ids.find(draft.created_by) is None:
            continue
        copy = NodeDraft(
            draft.id, draft.name, draft.sequence_nr, draft.edges, draft.saved, draft.created_by, draft.variable
        )
        copy.ran_in = [frame_id for frame_id in draft.ran_in if new.frame_ids.find(frame_id) is not None]
        new.add_node(copy)
    new.warnings = [
        warning for warning in old.warnings if warning.frame is None or new.frame_ids.find(warning.frame) is not None
    ]
    new.truncated, new.exit_status, new.error = old.truncated, old.exit_status, old.error
    new.complete = True
    return Trace(new)
