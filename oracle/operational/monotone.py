"""Whether a table of code sequences orders no less for a stronger instruction than for each next weaker one.

    F.acq_rel.gpu  s_waitcnt vmcnt(0) lgkmcnt(0); buffer_inv sc1=1
    F.acquire.gpu  s_waitcnt vmcnt(0) lgkmcnt(0); buffer_inv sc1=1        kept: nothing is lost
    F.release.gpu  s_waitcnt vmcnt(0) lgkmcnt(0)                          kept: it is part of the first

A sequence is within another if it is left of it after some instructions that are no accesses are gone, waits wait for
fewer counters, cache operations are of fewer caches, and the access may find its value in a nearer one. The machine
then does all with the first that it does with the second: an instruction less stands in the way of nothing, lines may
come to a cache and go from it at any time, and may be written back at any time (``oracle.operational.amdgpu``). So a
table of which all steps are kept reaches the outcome of a program only if it reaches it with a weaker instruction.

Steps are those of ``Vocabulary``: the next lower orders, the next narrower scope, a fence of one address space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from corpus.executions.execution import OpKind
from corpus.executions.sequences import ANY, SequenceTable, row_for
from corpus.executions.vocabulary import KIND_WORDS, Vocabulary, spelled_mode
from corpus.graphs import reachable
from corpus.laws.amdgpu import ACCESSES, GLOBAL, LOCAL, WRITE_BACKS, MachineInstruction
from corpus.litmus.instructions import Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Region
from corpus.litmus.orders import Mode
from corpus.litmus.test import LitmusTest
from oracle.operational.amdgpu import FAMILIES, MachineFamily, first_level, invalidated, written_back

_KINDS: Mapping[type[Instruction], OpKind] = {
    Load: OpKind.READ,
    Store: OpKind.WRITE,
    Rmw: OpKind.UPDATE,
    Fence: OpKind.FENCE,
}


@dataclass(frozen=True, slots=True)
class WordStep:
    """A step from a way to do an instruction to a weaker one, where the instruction accesses ``space``, ``ANY`` of
    fences."""

    kind: OpKind
    strong: Mode
    weak: Mode
    space: str

    @property
    def text(self) -> str:
        """The step in words, ``rmw.acq_rel.gpu -> rmw.release.gpu @global``."""
        words = " -> ".join(spelled_mode(self.kind, mode) for mode in (self.strong, self.weak))
        return f"{words} @{self.space}" if self.kind is not OpKind.FENCE else words


@dataclass(frozen=True)
class WordOrder:
    """The ways to do an instruction by strength: ``weaker``, those that are one step weaker than each; ``below``, by
    any number of steps."""

    weaker: Mapping[tuple[OpKind, Mode], tuple[Mode, ...]]
    below: Mapping[tuple[OpKind, Mode], frozenset[Mode]]


def word_order(words: Vocabulary) -> WordOrder:
    """The order of the words of a vocabulary, except barriers."""
    weaker: dict[tuple[OpKind, Mode], tuple[Mode, ...]] = {
        (kind, mode): tuple(dict.fromkeys(_next_below(words, kind, mode)))
        for kind, modes in words.modes.items()
        for mode in modes
        if kind is not OpKind.BARRIER
    }

    def below(kind: OpKind, mode: Mode) -> frozenset[Mode]:
        return frozenset(reachable(weaker[kind, mode], lambda way: weaker[kind, way]))

    return WordOrder(weaker, {choice: below(*choice) for choice in weaker})


def _next_below(words: Vocabulary, kind: OpKind, mode: Mode) -> Iterator[Mode]:
    yield from words.lower_orders(kind, mode)
    narrower = words.narrower(kind, mode)
    if narrower is not None:
        yield narrower
    yield from words.less_memory(kind, mode)


def lost_steps(table: SequenceTable, order: WordOrder) -> list[WordStep]:
    """The steps to a weaker instruction that has no row, or whose sequence is not within that of the stronger one."""
    family = FAMILIES[table.machine]
    found = []
    for (kind, mode), weaker in order.weaker.items():
        for space in (ANY,) if kind is OpKind.FENCE else (GLOBAL, LOCAL):
            strong = row_for(KIND_WORDS[kind], mode, space, table)
            for weak in weaker if strong else ():
                row = row_for(KIND_WORDS[kind], weak, space, table)
                sequences = [table.rows[key].sequence for key in (row, strong) if key]
                if row is None or not is_within(sequences[0], sequences[1], family):
                    found.append(WordStep(kind, mode, weak, space))
    return found


def is_within(weak: Sequence[MachineInstruction], strong: Sequence[MachineInstruction], family: MachineFamily) -> bool:
    """Whether a sequence is left of another after some of it is gone or does less."""
    rest = iter(strong)
    return all(any(_does_no_more(one, other, family) for other in rest) for one in weak)


def _does_no_more(weak: MachineInstruction, strong: MachineInstruction, family: MachineFamily) -> bool:
    if weak == strong:
        return True
    if weak.opcode in ACCESSES or strong.opcode in ACCESSES:
        nearer = first_level(weak, family) <= first_level(strong, family)
        return weak.opcode == strong.opcode and (ACCESSES[weak.opcode] == LOCAL or nearer)
    if weak.is_wait or strong.is_wait:
        return weak.is_wait and strong.is_wait and weak.counters <= strong.counters
    if weak.opcode in WRITE_BACKS or strong.opcode in WRITE_BACKS:
        both = weak.opcode in WRITE_BACKS and strong.opcode in WRITE_BACKS
        return both and written_back(weak, family) <= written_back(strong, family)
    return invalidated(weak, family) <= invalidated(strong, family)


def raised(test: LitmusTest, lost: Iterable[WordStep], order: WordOrder) -> Iterator[LitmusTest]:
    """The tests that ask the same of stronger instructions from which some step is lost, in place of weaker ones.

    Every other test whose instructions are stronger is reached only if one of these is, or the test itself.
    """
    above: dict[OpKind, dict[tuple[Mode, str], None]] = {}
    for step in lost:
        above.setdefault(step.kind, {})[step.strong, step.space] = None
    if not above:
        return
    shared = {location.name for location in test.locations if location.region is Region.SHARED}
    ways: list[list[Instruction]] = []
    for ins in test.instructions:
        found: dict[Instruction, None] = {ins: None}
        kind = _KINDS.get(type(ins))
        if kind is not None and isinstance(ins, Load | Store | Rmw | Fence):
            own = _space(ins, shared)
            for mode, space in above.get(kind, ()):
                if space == own and ins.mode in order.below[kind, mode]:
                    found[replace(ins, mode=mode)] = None
        ways.append(list(found))
    for number, chosen in enumerate(product(*ways)):
        if number:  # the first is the test itself
            rest = iter(chosen)
            threads = tuple(
                replace(thread, instructions=tuple(next(rest) for _ in thread.instructions)) for thread in test.threads
            )
            yield replace(test, name=f"{test.name}.{number}", threads=threads)


def _space(ins: Load | Store | Rmw | Fence, shared: set[str]) -> str:
    if isinstance(ins, Fence):
        return ANY
    return LOCAL if isinstance(ins.address, Loc) and ins.address.name in shared else GLOBAL
