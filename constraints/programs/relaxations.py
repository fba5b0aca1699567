"""Every single relaxation of an unknown program, as clauses: the views of what each relaxation leaves.

``corpus.executions.relaxations`` gives the relaxations of a known execution, one at a time. Here one view serves all
programs: the view of event 2 with its order one step down is the execution itself where event 2 has no lower order, and
``applies`` says where it has one. The parts that a relaxation leaves alone are identical literals in both views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from constraints.circuit import Literal
from constraints.programs.skeleton import ProgramSkeleton
from constraints.programs.view import EventMode, ExecutionView
from corpus.executions.execution import OpKind as Instruction
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Scope
from oracle.executions.events import EventKind


@dataclass(frozen=True)
class RelaxedView:
    """The ``view`` that the relaxation called ``name`` leaves, wherever it ``applies``. ``removes``: it removes
    events."""

    name: str
    applies: Literal
    view: ExecutionView
    removes: bool = False

    @property
    def kind(self) -> str:
        """The first part of the name: ``remove``, ``barrier``, ``order``, ``scope``, ``memory``, ``split``, .."""
        return self.name.partition("(")[0]


def relaxations(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    """All relaxations of an unknown program, except those that apply to no program."""
    every = [
        *_removals(unknown, view),
        *_weaker_modes(unknown, view),
        *_splits(unknown, view),
        *_independent(unknown, view),
        *_unshared(unknown, view),
        *_renamed(unknown, view),
        *_apart(unknown, view),
        *_unsynchronised(unknown, view),
    ]
    for relaxed in every:
        if relaxed.applies:
            yield relaxed


def _removals(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    circuit = unknown.circuit
    for e in unknown.events:
        executed = list(view.executed)
        executed[e] = circuit.false
        if e in unknown.rmw:
            executed[e + 1] = ~unknown.rmw[e]
        rest = circuit.true
        for part in range(e + 1, unknown.size):
            rest = rest & unknown.operations.continues[part]
            executed[part] = executed[part] & ~rest
        applies = ~unknown.half(e) & ~unknown.ways[e].of(EventKind.BARRIER) & ~unknown.operations.continues[e]
        yield RelaxedView(f"remove({e})", applies, replace(view, executed=executed), True)
    if Instruction.BARRIER in unknown.words.modes:
        for thread in range(len(unknown.sizes)):
            for rank in range(unknown.sizes[thread]):
                yield _without_barrier(unknown, view, thread, rank)


def _without_barrier(unknown: ProgramSkeleton, view: ExecutionView, thread: int, rank: int) -> RelaxedView:
    """The view without a barrier, in all threads of the CTA whose first thread is given."""
    circuit = unknown.circuit
    executed = list(view.executed)
    first = ~circuit.any_of(view.in_group(earlier, thread, Scope.CTA) for earlier in range(thread))
    here = circuit.false
    for e in unknown.events:
        place = view.place[e].get(rank)
        if place is not None:
            barrier = unknown.ways[e].of(EventKind.BARRIER) & place
            if unknown.thread[e] == thread:
                here = here | barrier
            executed[e] = executed[e] & ~(barrier & view.in_group(thread, unknown.thread[e], Scope.CTA))
    return RelaxedView(f"barrier({thread}, {rank})", here & first, replace(view, executed=executed), True)


def _weaker_modes(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    words = unknown.words

    def ranked(
        weaker: Callable[[Instruction, Mode], Sequence[Mode]], rank: int
    ) -> Callable[[Instruction, Mode], Mode | None]:
        def step(kind: Instruction, mode: Mode) -> Mode | None:
            below = weaker(kind, mode)
            return below[rank] if rank < len(below) else None

        return step

    steps: dict[str, Callable[[Instruction, Mode], Mode | None]] = {
        "order": ranked(words.lower_orders, 0),
        "other order": ranked(words.lower_orders, 1),
        "third order": ranked(words.lower_orders, 2),
        "scope": words.narrower,
        "memory": ranked(words.less_memory, 0),
        "other memory": ranked(words.less_memory, 1),
    }
    for name, step in steps.items():
        weaker = {
            (kind, mode): found
            for kind, modes in words.modes.items()
            for mode in modes
            if (found := step(kind, mode)) is not None
        }
        for e in unknown.events:
            applies = unknown.circuit.any_of(
                literal for choice, literal in unknown.starts[e].items() if choice in weaker
            )
            if applies:
                ways = list(view.ways)
                ways[e] = ways[e].mapped(_step(weaker, half=False))
                if e in unknown.rmw:
                    ways[e + 1] = ways[e + 1].mapped(_step(weaker, half=True))
                yield RelaxedView(f"{name}({e})", applies, replace(view, ways=ways))


def _step(weaker: Mapping[tuple[Instruction, Mode], Mode], half: bool) -> Callable[[EventMode], EventMode]:
    """The weaker way of an instruction's first event, or of its second."""

    def step(way: EventMode) -> EventMode:
        if (half and not (way.rmw and way.kind is EventKind.WRITE)) or (
            not half and way.rmw and way.kind is EventKind.WRITE
        ):
            return way
        kind = Instruction.UPDATE if way.rmw else Instruction(way.kind.value)
        return way._replace(mode=weaker.get((kind, way.mode), way.mode))

    return step


def _splits(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    words = unknown.words

    def split(way: EventMode) -> EventMode:
        if not way.rmw:
            return way
        return EventMode(way.kind, words.half(Instruction(way.kind.value), way.mode))

    def first(way: EventMode) -> EventMode:
        return split(way) if way.kind is EventKind.READ else way

    def second(way: EventMode) -> EventMode:
        return split(way) if way.kind is EventKind.WRITE else way

    for e, update in unknown.rmw.items():
        ways = list(view.ways)
        ways[e], ways[e + 1] = ways[e].mapped(first), ways[e + 1].mapped(second)
        rmw = {other: literal for other, literal in view.rmw.items() if other != e}
        yield RelaxedView(f"split({e})", update, replace(view, ways=ways, rmw=rmw))


def _independent(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    for kind, matrix in (("addr", unknown.addr), ("data", unknown.data)):
        for r, row in enumerate(matrix):
            for e, literal in row.items():
                rows = [dict(row) for row in view.depends[kind]]
                del rows[r][e]
                if kind == "addr" and unknown.half(e + 1 if e + 1 < unknown.size else 0):
                    rows[r][e + 1] = matrix[r].get(e + 1, unknown.circuit.false)
                yield RelaxedView(f"{kind}({r}, {e})", literal, _depending(view, kind, rows))
    for r, row in enumerate(unknown.branch):
        if row:
            rows = [dict(row) for row in view.depends["ctrl"]]
            rows[r] = {}
            branches = unknown.circuit.any_of(row.values())
            yield RelaxedView(f"branch({r})", branches, _depending(view, "ctrl", rows))


def _depending(view: ExecutionView, kind: str, rows: Sequence[Mapping[int, Literal]]) -> ExecutionView:
    return replace(view, depends={**view.depends, kind: rows})


def _unshared(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    """Each location, by its first event, in global memory."""
    if len(unknown.words.regions) > 1:
        for e in unknown.events:
            first = ~unknown.circuit.any_of(unknown.loc[f][e] for f in range(e))
            shared = [literal & ~unknown.loc[e].get(f, unknown.circuit.false) for f, literal in enumerate(view.shared)]
            bound = unknown.circuit.any_of(
                (unknown.operations.part(f) | unknown.operations.object(f)) & unknown.loc[e][f] for f in unknown.events
            )
            yield RelaxedView(f"{Region.SHARED}({e})", view.shared[e] & first & ~bound, replace(view, shared=shared))


def _renamed(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    """An address as two: the accesses of a part have one of their own, and others stay, the first among them."""
    circuit = unknown.circuit
    for size in range(1, unknown.size) if unknown.words.aliases else ():
        for part in combinations(unknown.events, size):
            others = [e for e in unknown.events if e not in part]
            applies = circuit.any_of(unknown.vloc[part[0]][e] for e in range(part[0]))
            for e, f in combinations(part, 2):
                applies = applies & unknown.vloc[e][f]
            for e, update in unknown.rmw.items():
                if (e in part) != (e + 1 in part):
                    applies = applies & ~update
            rows = [
                {f: circuit.false if (e in part) != (f in part) else literal for f, literal in row.items()}
                for e, row in enumerate(view.vloc)
            ]
            if others:
                yield RelaxedView(f"address({part})", applies, replace(view, vloc=rows))


def _apart(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    """A group of the scope tree in two parts: the threads of a part leave, and others stay, the first among them."""
    threads = range(len(unknown.sizes))
    levels = sorted(unknown.same, key=lambda level: level.value)
    for number, level in enumerate(levels):
        narrow = levels[number + 1] if number + 1 < len(levels) else None
        for size in range(1, len(threads)):
            for part in combinations(threads, size):
                others = [t for t in threads if t not in part]
                same = unknown.same[level]
                applies = unknown.circuit.any_of(same[part[0]][u] for u in range(part[0]))
                for t, u in combinations(part, 2):
                    applies = applies & same[t][u]
                for t in part:
                    for u in others:
                        if narrow is not None:
                            applies = applies & ~unknown.same[narrow][t][u]
                        if level is Scope.CTA:
                            applies = applies & ~_share_memory(unknown, t, u)
                rows = [
                    [unknown.circuit.false if (t in part) != (u in part) else literal for u, literal in enumerate(row)]
                    for t, row in enumerate(same)
                ]
                yield RelaxedView(
                    f"apart({level.label}, {part})", applies, replace(view, same={**view.same, level: rows})
                )


def _unsynchronised(unknown: ProgramSkeleton, view: ExecutionView) -> Iterator[RelaxedView]:
    """A thread that synchronises with another by the system no longer, where none is between."""
    for t, row in enumerate(unknown.ssw):
        for u, literal in row.items():
            between = unknown.circuit.any_of(row[v] & unknown.ssw[v][u] for v in row if v != u)
            rows = [{v: other for v, other in row.items() if (s, v) != (t, u)} for s, row in enumerate(unknown.ssw)]
            yield RelaxedView(f"ssw({t}, {u})", literal & ~between, replace(view, synchronised=rows))


def _share_memory(unknown: ProgramSkeleton, one: int, other: int) -> Literal:
    """The literal that two threads access one location in shared memory."""
    return unknown.circuit.any_of(
        unknown.shared[e] & unknown.loc[e][f]
        for e in unknown.events
        for f in unknown.events
        if unknown.thread[e] == one and unknown.thread[f] == other
    )
