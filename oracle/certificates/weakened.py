"""Every single relaxation of an unknown program, for certificates (the table of docs/suites.md).

``corpus.executions.relaxations`` makes the relaxations of a known execution. Here each relaxation is of all programs at
once, and does not ``apply`` to programs that it would leave unchanged. The search's relaxations, of
``constraints.programs``, are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from corpus.executions.execution import OpKind as Instruction
from corpus.litmus.orders import Mode, Scope
from oracle.certificates.programs import CertifiedEventMode, CertifiedProgram, Pairs
from oracle.certificates.writing import WrittenLiteral
from oracle.executions.events import EventKind


@dataclass(frozen=True)
class Weakened:
    """A relaxation: what it leaves, and to which programs it applies. ``name`` is one word, unique among
    relaxations."""

    name: str
    applies: WrittenLiteral
    program: CertifiedProgram


def weakened(program: CertifiedProgram) -> Iterator[Weakened]:
    """Every relaxation of a program, except those that apply to no program."""
    kinds = (_removed, _barriers, _modes, _split, _independent, _unshared, _readdressed, _apart, _unsynchronised)
    for kind in kinds:
        yield from (relaxation for relaxation in kind(program) if relaxation.applies)


def _removed(program: CertifiedProgram) -> Iterator[Weakened]:
    """An instruction that is no barrier, an update with both its halves."""
    for e in program.events:
        gone = {e: program.writer.true}
        if (e, e + 1) in program.updates:
            gone[e + 1] = program.updates[e, e + 1]
        applies = ~program.half[e] & ~program.of(e, EventKind.BARRIER)
        yield Weakened(f"remove.{e}", applies, _without(program, gone))


def _barriers(program: CertifiedProgram) -> Iterator[Weakened]:
    """The barrier of a rank, in all threads of a CTA, which its first thread stands for."""
    for t in sorted(set(program.thread)):
        first = ~program.writer.any_of(program.in_group(u, t, Scope.CTA) for u in range(t))
        for rank in range(program.thread.count(t)):
            meeting = [
                program.of(e, EventKind.BARRIER) & program.rank[e].get(rank, program.writer.false)
                for e in program.events
            ]
            here = program.writer.any_of(meeting[e] for e in program.events if program.thread[e] == t)
            gone = {e: meeting[e] & program.in_group(t, program.thread[e], Scope.CTA) for e in program.events}
            yield Weakened(f"barrier.{t}.{rank}", here & first, _without(program, gone))


def _without(program: CertifiedProgram, gone: Mapping[int, WrittenLiteral]) -> CertifiedProgram:
    happens = [there & ~gone.get(e, program.writer.false) for e, there in enumerate(program.happens)]
    return replace(program, happens=happens)


def _modes(program: CertifiedProgram) -> Iterator[Weakened]:
    """An instruction with the next weaker order, of which there may be several, a narrower scope, or for one memory."""
    words = program.words

    def narrower(kind: Instruction, mode: Mode) -> Sequence[Mode]:
        found = words.narrower(kind, mode)
        return () if found is None else (found,)

    steps: Mapping[str, Callable[[Instruction, Mode], Sequence[Mode]]] = {
        "order": words.lower_orders,
        "scope": narrower,
        "memory": words.less_memory,
    }
    for name, step in steps.items():
        below = {(kind, mode): step(kind, mode) for kind, modes in words.modes.items() for mode in modes}
        for number in range(max(map(len, below.values()), default=0)):
            lower = {way: modes[number] for way, modes in below.items() if number < len(modes)}
            for e in program.events:
                yield Weakened(f"{name}.{number}.{e}", *_done_otherwise(program, e, lower))


def _done_otherwise(
    program: CertifiedProgram, event: int, modes: Mapping[tuple[Instruction, Mode], Mode]
) -> tuple[WrittenLiteral, CertifiedProgram]:
    """Whether the instruction that an event begins has another mode, and the program where it has."""

    def otherwise(way: CertifiedEventMode) -> CertifiedEventMode:
        kind = Instruction.UPDATE if way.rmw else Instruction(way.kind.value)
        return way._replace(mode=modes.get((kind, way.mode), way.mode))

    def second(way: CertifiedEventMode) -> bool:
        return way.rmw and way.kind is EventKind.WRITE

    begun = {way: literal for way, literal in program.ways[event].literals.items() if not second(way)}
    applies = program.writer.any_of(literal for way, literal in begun.items() if otherwise(way) != way)
    ways = list(program.ways)
    ways[event] = ways[event].done(lambda way: way if second(way) else otherwise(way))
    if (event, event + 1) in program.updates:
        ways[event + 1] = ways[event + 1].done(lambda way: otherwise(way) if second(way) else way)
    return applies, replace(program, ways=ways)


def _split(program: CertifiedProgram) -> Iterator[Weakened]:
    """An update as a read and a write."""

    def alone(way: CertifiedEventMode, kind: EventKind) -> CertifiedEventMode:
        if not way.rmw or way.kind is not kind:
            return way
        return CertifiedEventMode(kind, program.words.half(Instruction(kind.value), way.mode))

    for (e, f), update in program.updates.items():
        ways = list(program.ways)
        ways[e] = ways[e].done(lambda way: alone(way, EventKind.READ))
        ways[f] = ways[f].done(lambda way: alone(way, EventKind.WRITE))
        others = {pair: other for pair, other in program.updates.items() if pair != (e, f)}
        yield Weakened(f"split.{e}", update, replace(program, ways=ways, updates=others))


def _independent(program: CertifiedProgram) -> Iterator[Weakened]:
    """A dependency less; of a read that decides a branch, that."""

    def without(pairs: Pairs, gone: tuple[int, int]) -> Pairs:
        return {pair: literal for pair, literal in pairs.items() if pair != gone}

    for pair, there in program.addr.items():
        yield Weakened(f"addr.{pair[0]}.{pair[1]}", there, replace(program, addr=without(program.addr, pair)))
    for pair, there in program.data.items():
        yield Weakened(f"data.{pair[0]}.{pair[1]}", there, replace(program, data=without(program.data, pair)))
    for pair, there in program.branch.items():
        yield Weakened(f"branch.{pair[0]}.{pair[1]}", there, replace(program, branch=without(program.branch, pair)))


def _unshared(program: CertifiedProgram) -> Iterator[Weakened]:
    """A location in shared memory, by its first access, in global memory."""
    if len(program.words.regions) < 2:
        return
    for e in program.events:
        first = ~program.writer.any_of(program.loc[f, e] for f in range(e))
        shared = [there & ~program.related(program.loc, e, f) for f, there in enumerate(program.shared)]
        yield Weakened(f"unshared.{e}", program.shared[e] & first, replace(program, shared=shared))


def _parts(members: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Each way to have some go and others stay."""
    for size in range(1, len(members)):
        for leaving in combinations(members, size):
            yield leaving, tuple(member for member in members if member not in leaving)


def _left(program: CertifiedProgram, pairs: Pairs, leaving: Sequence[int]) -> WrittenLiteral:
    """The literal that some members leave together a group whose first member stays."""
    together = (pairs[pair] for pair in combinations(leaving, 2))
    return program.writer.all_of(together) & program.writer.any_of(pairs[u, leaving[0]] for u in range(leaving[0]))


def _cut(pairs: Pairs, leaving: Sequence[int]) -> Pairs:
    """A relation without the pairs of a member that leaves and one that stays."""
    return {pair: there for pair, there in pairs.items() if (pair[0] in leaving) == (pair[1] in leaving)}


def _readdressed(program: CertifiedProgram) -> Iterator[Weakened]:
    """An address as two: some of the accesses by it have another, the halves of an update the same."""
    for leaving, _ in _parts(program.events) if program.words.aliases else ():
        parted = (update for pair, update in program.updates.items() if (pair[0] in leaving) != (pair[1] in leaving))
        applies = _left(program, program.vloc, leaving) & ~program.writer.any_of(parted)
        name = f"address.{'.'.join(map(str, leaving))}"
        yield Weakened(name, applies, replace(program, vloc=_cut(program.vloc, leaving)))


def _apart(program: CertifiedProgram) -> Iterator[Weakened]:
    """A group of the scope tree as two, what is inside of either part as it was: smaller groups are not parted, nor
    threads of a CTA that share memory."""
    levels = sorted(program.same, key=lambda level: level.value)
    for number, level in enumerate(levels):
        same = program.same[level]
        for leaving, staying in _parts(sorted(set(program.thread))):
            applies = _left(program, same, leaving)
            for t in leaving:
                for u in staying:
                    for narrow in levels[number + 1 : number + 2]:
                        applies = applies & ~program.in_group(t, u, narrow)
                    if level is Scope.CTA:
                        applies = applies & ~program.share_memory(t, u)
            apart = {**program.same, level: _cut(same, leaving)}
            name = f"apart.{level.label}.{'.'.join(map(str, leaving))}"
            yield Weakened(name, applies, replace(program, same=apart))


def _unsynchronised(program: CertifiedProgram) -> Iterator[Weakened]:
    """Two threads that synchronise by the system no longer, where none is between."""
    for (t, u), there in program.ssw.items():
        between = (program.ssw[t, v] & program.ssw[v, u] for v in set(program.thread) - {t, u})
        others = {pair: other for pair, other in program.ssw.items() if pair != (t, u)}
        yield Weakened(f"ssw.{t}.{u}", there & ~program.writer.any_of(between), replace(program, ssw=others))
