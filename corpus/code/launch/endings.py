"""Barriers of a launch whose threads have been followed: whom they wait for when threads have ended or have parted.

A barrier of a block waits for all of its threads that have not ended (PTX ISA 9.1, ``exit``); in a litmus test it waits
for those whose code has it. So a thread that comes to a barrier less often than others arrives there once more for each
time when it ends. All threads of a warp have to come to the same aligned barrier, and a barrier of some threads counts
warps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from corpus.code import ir
from corpus.code.launch.barriers import ENDED_REDUCTION, exit_arrival, is_aligned_barrier
from corpus.code.launch.facts import FollowedLaunch, ThreadCode
from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.launch.meeting import done_at, exchanges
from corpus.code.passes.tidying import tidied
from corpus.code.places import SLOTS
from corpus.code.refusals import NotUnderstoodError
from corpus.code.residual import Residual
from corpus.code.thread import BarrierKey
from corpus.graphs import reachable
from corpus.litmus.flow import ThreadFlow
from corpus.litmus.instructions import Barrier, Branch, Instruction
from corpus.litmus.locations import Operand
from corpus.litmus.orders import EXIT, Scope


def may_part(followed: ThreadCode) -> bool:
    """Return whether memory decides whether, or how often, a thread comes to what its subgroup does together."""
    return any(
        scope is Scope.WARP and len(_comings(code, (name, scope)) or ()) != 1
        for _, code in followed
        for name, scope in _barriers(code)
    )


def with_plain_barriers(launch: KernelLaunch, followed: ThreadCode) -> ThreadCode:
    """Return the threads with barriers that are numbered from 0, and without the quorum of those that the code of every
    thread of their group has, for whom a barrier waits as well.
    """
    every = [residual.instruction for _, code in followed for residual in code]
    names = dict.fromkeys(ins.number for ins in every if isinstance(ins, Barrier))
    numbers = {name: number for number, name in enumerate(names)}
    met: dict[tuple[Operand, int, int | None], set[int]] = {}

    def key(ids: ThreadIds, ins: Barrier) -> tuple[Operand, int, int | None]:
        number = launch.thread_number(ids)
        return ins.number, launch.block_number(ids), number // launch.warp if ins.scope is Scope.WARP else None

    for ids, code in followed:
        for ins in (residual.instruction for residual in code):
            if isinstance(ins, Barrier):
                met.setdefault(key(ids, ins), set()).add(launch.thread_number(ids))

    def plain(ids: ThreadIds, residual: Residual) -> Residual:
        ins = residual.instruction
        if not isinstance(ins, Barrier):
            return residual
        quorum = None if ins.quorum == len(met[key(ids, ins)]) else ins.quorum
        return residual._replace(instruction=replace(ins, number=numbers[ins.number], quorum=quorum))

    return [(ids, [plain(ids, residual) for residual in code]) for ids, code in followed]


def with_ends(launched: FollowedLaunch, assumed: dict[str, None]) -> tuple[ThreadCode, bool]:
    """Return the threads with arrivals at their ends for the barriers that do not wait for threads that have ended, and
    whether memory decides how often threads come to a barrier, so that who ends is not counted: without a bound, or to
    exchange something. What is taken for granted goes to ``assumed``.
    """
    launch, path, followed = launched.launch, launched.module.path, launched.code
    _check_whole_warps(launched, followed)
    comings = _comings_of(followed)
    counted = [(key, counts) for found in comings.values() for key, counts in found.items()]
    uncounted = any(counts is None or (len(counts) > 1 and exchanges(key)) for key, counts in counted)
    for number, ((ids, _), owed) in enumerate(zip(followed, _owed(launch, comings), strict=True)):
        if owed:
            followed[number] = (ids, launched.followed(ids, owed).out.code)
    tidy = [(ids, tidied(code)) for ids, code in followed]
    return _renamed(list(_with_exits(launch, tidy, assumed, path))), uncounted


def _renamed(followed: ThreadCode) -> ThreadCode:
    """Return the threads with the barriers of warps numbered from 0."""
    every = [residual.instruction for _, code in followed for residual in code]
    warps = (ins.name for ins in every if isinstance(ins, Barrier) and ins.scope is Scope.WARP)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(warps))}

    def renamed(residual: Residual) -> Residual:
        ins = residual.instruction
        if not isinstance(ins, Barrier) or ins.scope is not Scope.WARP:
            return residual
        return residual._replace(instruction=replace(ins, number=numbers[ins.name]))

    return [(ids, [renamed(residual) for residual in code]) for ids, code in followed]


def _owed(launch: KernelLaunch, comings: _Comings) -> Iterator[Mapping[BarrierKey, int]]:
    """Yield for each thread how often it has to have come to barriers at its end, where memory decides how often it
    comes there: as often as any thread of the group may.
    """
    for ids, found in comings.items():
        several = [
            key for key, counts in found.items() if counts is not None and len(counts) > 1 and not exchanges(key)
        ]
        most = {key: [other.get(key, frozenset({0})) for other in _group(launch, comings, ids, key)] for key in several}
        yield {
            key: max(count for thread_counts in counts for count in thread_counts or ())
            for key, counts in most.items()
            if None not in counts
        }


_ThreadComings = Mapping[BarrierKey, frozenset[int] | None]
_Comings = Mapping[ThreadIds, _ThreadComings]
"""How often each thread may come to each of its barriers; None where no number is the most."""


def _comings_of(followed: ThreadCode) -> _Comings:
    return {ids: {key: _comings(code, key) for key in _barriers(code)} for ids, code in followed}


def _group(launch: KernelLaunch, comings: _Comings, ids: ThreadIds, key: BarrierKey) -> list[_ThreadComings]:
    """Return the comings of the threads that a barrier waits for, where a thread is one of them: those of the block, of
    the cluster, or the lanes of a mask.
    """
    name, scope = key
    if scope is Scope.WARP:
        assert isinstance(name, int)
        warp = launch.warp_of(ids)
        mates = {launch.thread_number(other) % launch.warp: found for other, found in comings.items()
                 if launch.warp_of(other) == warp}  # fmt: skip
        lanes = [lane for lane in mates if name >> lane & 1]
        return [mates[lane] for lane in lanes] if launch.thread_number(ids) % launch.warp in lanes else []
    number = launch.cluster_number if scope is Scope.QUEUE else launch.block_number
    return [found for other, found in comings.items() if number(other) == number(ids)]


def _with_exits(
    launch: KernelLaunch,
    followed: ThreadCode,
    assumed: dict[str, None],
    path: str | None,
) -> Iterator[tuple[ThreadIds, list[Residual]]]:
    """Yield the threads, each with an arrival at its end for every barrier that it comes to less often than others do.

    A barrier waits for all threads of the block that have not ended (PTX ISA, ``exit``). In a litmus test it waits for
    those whose code has it.
    """
    every = _comings_of(followed)
    for ids, code in followed:
        exits = []
        for barrier in dict.fromkeys(key for found in every.values() for key in found):
            counts = [found[barrier] for found in _group(launch, every, ids, barrier) if barrier in found]
            own = every[ids].get(barrier, {0})
            if None not in counts and own is not None and len(own) == 1:
                most = max(
                    (count for thread_counts in counts if thread_counts is not None for count in thread_counts),
                    default=0,
                )
                if 0 < min(own) < most and (exchanges(barrier) or f"barrier{barrier[0]}" in _reductions(code)):
                    raise NotUnderstoodError(ENDED_REDUCTION, path)
                exits += [Residual(exit_arrival(barrier), None)] * (most - min(own))
            elif counts and barrier not in every[ids] and any(map(_may_stay, code)):
                what = f"{_called(barrier)} is in a loop of some threads, and others do not come to it"
                raise NotUnderstoodError(what, path)
        if exits or any(_is_exit(residual.instruction) for residual in code):
            assumed["a thread that has ended is not waited for at barriers"] = None
        yield ids, code + exits


def _called(key: BarrierKey) -> str:
    name, scope = key
    return f"barrier {name}" if scope is not Scope.WARP else f"{done_at(key)} with one mask"


def _reductions(code: Sequence[Residual]) -> set[str]:
    """Return the barriers by which a thread exchanges values: ``barrier0``."""
    arrays = (residual.access.array for residual in code if residual.access and residual.access.array.space == SLOTS)
    return {array.name.partition("_")[0] for array in arrays}


def _is_exit(ins: Instruction) -> bool:
    return isinstance(ins, Barrier) and EXIT in ins.mode.tags


def _barriers(code: Sequence[Residual]) -> list[BarrierKey]:
    """Return the barriers of a thread that wait for all threads of its block, or of its cluster."""
    every = (residual.instruction for residual in code)
    found = (ins for ins in every if isinstance(ins, Barrier) and ins.quorum is None)
    return list(dict.fromkeys((ins.name, ins.scope) for ins in found))


def _may_stay(residual: Residual) -> bool:
    return isinstance(residual.instruction, Branch | Barrier)


def _comings(code: Sequence[Residual], key: BarrierKey) -> frozenset[int] | None:
    """Return how often a thread may come to a barrier that waits for all; None where no number is the most."""

    def is_meant(ins: Barrier) -> bool:
        return ins.quorum is None and not ins.wait and (ins.name, ins.scope) == key

    return _counted(code, is_meant)


def _counted(code: Sequence[Residual], is_meant: Callable[[Barrier], bool]) -> frozenset[int] | None:
    """Return how often a thread may come to barriers of a kind; None where no number is the most."""
    flow = _flow(code)
    most = sum(isinstance(ins, Barrier) for ins in flow.code)

    def following(state: tuple[int, int]) -> list[tuple[int, int]]:
        place, count = state
        if place == flow.end or count > most:
            return []
        ins = flow.code[place]
        count += isinstance(ins, Barrier) and is_meant(ins)
        return [(after, count) for after in flow.successors[place]]

    found = reachable([(0, 0)], following)
    if any(count > most for _, count in found):
        return None
    return frozenset(count for place, count in found if place == flow.end)


def _check_whole_warps(launched: FollowedLaunch, followed: ThreadCode) -> None:
    """Check that the threads of a warp come equally often to a barrier that waits for some of the block, for it counts
    warps, not threads (PTX ISA, ``barrier``). Raises ``NotUnderstoodError`` where they may not.
    """
    launch = launched.launch
    every = [residual.instruction for _, code in followed for residual in code]
    some = (ins for ins in every if isinstance(ins, Barrier) and ins.scope is Scope.CTA)
    for one in dict.fromkeys((ins.name, ins.quorum) for ins in some if ins.quorum is not None):
        warps: dict[tuple[int, int], list[frozenset[int] | None]] = {}
        for ids, code in followed:
            warps.setdefault(launch.warp_of(ids), []).append(_counted(code, partial(_is_one, one)))
        for counts in warps.values():
            decided = counts[0] is not None and len(counts[0]) == 1
            if len(counts) > 1 and (len({*counts}) > 1 or not (decided or launched.facts.aligns)):
                what = f"barrier {one[0]} of {one[1]} threads: not all threads of a warp come to it equally often"
                raise NotUnderstoodError(f"{what}, which is not understood", launched.module.path)


def _is_one(one: tuple[Operand, Operand | None], ins: Barrier) -> bool:
    return (ins.name, ins.quorum) == one


def divergent_barriers(launch: KernelLaunch, followed: ThreadCode) -> tuple[tuple[ir.KernelInstruction, ...], bool]:
    """Return two barriers that threads of one warp come to in place of each other, one of them aligned, or none, and
    whether that is known of all warps.

    All threads of a warp have to execute the same ``bar`` (PTX ISA, ``barrier``, ``.aligned``); those that have ended
    come to none.
    """
    warps: dict[tuple[int, int], list[Sequence[ir.KernelInstruction] | None]] = {}
    for ids, code in followed:
        warps.setdefault(launch.warp_of(ids), []).append(_met_in_turn(code))
    for every in warps.values():
        for one, other in combinations([row for row in every if row is not None], 2):
            for first, second in zip(one, other, strict=False):
                if first is not second and (is_aligned_barrier(first) or is_aligned_barrier(second)):
                    return (first, second), True
    return (), not any(len(every) > 1 and None in every for every in warps.values())


def _met_in_turn(code: Sequence[Residual]) -> list[ir.KernelInstruction] | None:
    """Return the barriers that a thread comes to, one after the other; None where memory decides which."""
    flow = _flow(code)
    meeting = frozenset(place for place, residual in enumerate(code) if _is_of_block(residual)) | {flow.end}
    found: list[ir.KernelInstruction] = []
    start, passed = 0, set[int]()

    def following(place: int) -> Sequence[int]:
        return () if place in meeting else flow.successors[place]

    while True:
        ahead = [place for place in reachable([start], following) if place in meeting]
        if len(ahead) > 1:
            return None
        place = next(iter(ahead), flow.end)
        if place == flow.end or place in passed:
            return found
        met = code[place].origin
        assert met is not None
        found.append(met)
        passed.add(place)
        start = place + 1


def _is_of_block(residual: Residual) -> bool:
    ins = residual.instruction
    return residual.origin is not None and isinstance(ins, Barrier) and ins.scope is not Scope.WARP


def _flow(code: Sequence[Residual]) -> ThreadFlow:
    """Return the control flow of a thread's code."""
    return ThreadFlow(tuple(residual.instruction for residual in code))
