"""The certified formula of unknown programs with outcomes: its variables, and the clauses that hold of all programs.

The program has a given number of events in each thread, numbered thread by thread. All else of it is open. The formula
is written here from the definition of programs in docs/suites.md; the search's, of ``constraints.programs``, is not
used.

**Meaning** of the variables; ``oracle.certificates.executions`` gives their values for a known execution:

    way e W.release.gpu   event e begins an instruction that is done so
    loc e f, vloc e f     events e < f access one location; by one address, where there are aliases
    shared e              event e accesses shared memory, where there are both kinds
    same v t u            threads t < u are in one group of level v, where that level varies
    ssw t u               thread t synchronises with thread u by the system, where threads may
    addr, data, branch r e
                          what is read at r goes into the address or value of e; decides a branch right before e
    rf w r, init r        read r reads what write w wrote, or the initial value
    final w               the value of write w is its location's last

**What holds of every program**, ``Programs``:

    an event begins an instruction, or is the write of the update that the event before it begins
    to access one location is an equivalence of accesses, by one address one within it; the halves of an update do both
    groups are equivalences of threads, narrower ones within wider ones
    what accesses a location in shared memory is in one CTA; threads of one CTA have equally many barriers
    threads that synchronise by the system are in a strict order
    what depends comes after a read in its thread, and has an address, or a value to write; a read decides one branch
    a read reads one write to its location, or the initial value; of the writes to a location one is the last
    of threads of equally many events, the later is not less: of what is said within a thread, in one order, the first
        that differs is false of the former
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, permutations
from typing import NamedTuple

from corpus.executions.execution import OpKind as Instruction
from corpus.executions.vocabulary import Vocabulary, spelled_mode
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Scope
from oracle.certificates.writing import Writer, WrittenLiteral
from oracle.executions.events import EventKind, scope_of_mode, tags_of_mode

Pairs = Mapping[tuple[int, int], WrittenLiteral]
"""The literals that pairs of events, or of threads, are related; a pair that is missing is not related."""


class CertifiedEventMode(NamedTuple):
    """The way in which an event is done; ``rmw``: as a half of an update of that mode."""

    kind: EventKind
    mode: Mode
    rmw: bool = False

    @property
    def tags(self) -> frozenset[str]:
        """The names of the sets that the event is in, except those of the memory that it accesses."""
        return tags_of_mode(self.kind, self.mode, self.rmw)

    @property
    def scope(self) -> Scope | None:
        """The scope that the event names, None where it names none."""
        return scope_of_mode(self.kind, self.mode)


@dataclass(frozen=True)
class CertifiedEventModes:
    """The ways in which an event may be done, each with its literal, of which exactly one holds."""

    writer: Writer
    literals: Mapping[CertifiedEventMode, WrittenLiteral]

    @cached_property
    def tags(self) -> Mapping[str, WrittenLiteral]:
        """The sets that the event may be in, each with its literal; those of memory are not among them."""
        found: dict[str, list[WrittenLiteral]] = {}
        for way, literal in self.literals.items():
            for tag in sorted(way.tags):
                found.setdefault(tag, []).append(literal)
        return {tag: self.writer.any_of(literals) for tag, literals in found.items()}

    def done(self, step: Callable[[CertifiedEventMode], CertifiedEventMode]) -> CertifiedEventModes:
        """The ways of the event after each of them is changed by a step."""
        found: dict[CertifiedEventMode, WrittenLiteral] = {}
        for way, literal in self.literals.items():
            after = step(way)
            found[after] = found[after] | literal if after in found else literal
        return CertifiedEventModes(self.writer, found)


@dataclass(frozen=True)
class CertifiedProgram:
    """A program with what its reads read, or what a relaxation leaves of it: each fact about it is a literal.

    ``happens[e]``: event e is there. ``ways[e]``: how it is done. ``updates``: e and e + 1 are one instruction.
    ``rank[e][k]``: before event e its thread has k barriers. ``addr``, ``data`` and ``branch`` are facts about an
    instruction's first event, and ``data`` about the write of an update; ``half[e]``: it was written as the write of an
    update.
    """

    writer: Writer
    words: Vocabulary
    thread: tuple[int, ...]
    happens: Sequence[WrittenLiteral]
    ways: Sequence[CertifiedEventModes] = ()
    half: Sequence[WrittenLiteral] = ()
    updates: Pairs = field(default_factory=dict)
    loc: Pairs = field(default_factory=dict)
    vloc: Pairs = field(default_factory=dict)
    shared: Sequence[WrittenLiteral] = ()
    same: Mapping[Scope, Pairs] = field(default_factory=dict)
    ssw: Pairs = field(default_factory=dict)
    rank: Sequence[Mapping[int, WrittenLiteral]] = ()
    addr: Pairs = field(default_factory=dict)
    data: Pairs = field(default_factory=dict)
    branch: Pairs = field(default_factory=dict)
    rf: Pairs = field(default_factory=dict)
    init: Sequence[WrittenLiteral] = ()
    final: Sequence[WrittenLiteral] = ()

    @property
    def events(self) -> range:
        """The numbers of the events, thread by thread in program order."""
        return range(len(self.thread))

    def tagged(self, event: int, tag: str) -> WrittenLiteral:
        """The literal that an event is in a set that is not one of memory."""
        return self.ways[event].tags.get(tag, self.writer.false)

    def of(self, event: int, kind: EventKind) -> WrittenLiteral:
        """The literal that an event is of a kind."""
        return self.tagged(event, kind.value)

    def in_group(self, one: int, other: int, scope: Scope) -> WrittenLiteral:
        """The literal that two threads are in one group of a level; the vocabulary decides it for a level that does
        not vary."""
        if one == other or scope is Scope.SYS:
            return self.writer.true
        if scope in self.same:
            return self.related(self.same[scope], one, other)
        if scope is Scope.QUEUE:
            return self.in_group(one, other, Scope.GPU)
        return self.writer.true if scope is Scope.GPU else self.writer.false

    def share_memory(self, one: int, other: int) -> WrittenLiteral:
        """The literal that two threads access one location in shared memory."""
        pairs = ((e, f) for e in self.events for f in self.events if (self.thread[e], self.thread[f]) == (one, other))
        return self.writer.any_of(self.shared[e] & self.related(self.loc, e, f) for e, f in pairs)

    def related(self, pairs: Pairs, one: int, other: int) -> WrittenLiteral:
        """The literal of two events or threads in a symmetric relation, such as ``loc``, whichever of them is given
        first."""
        return pairs.get((min(one, other), max(one, other)), self.writer.false)


class Programs:
    """The formula of all programs whose threads have ``sizes`` events, and ``program``, the unknown one that it is
    about."""

    def __init__(self, writer: Writer, words: Vocabulary, sizes: Sequence[int]) -> None:
        self.writer, self.words, self.sizes = writer, words, sizes
        self.thread = tuple(number for number, size in enumerate(sizes) for _ in range(size))
        self.events = range(len(self.thread))
        self.threads = range(len(sizes))
        self.program = CertifiedProgram(writer, words, self.thread, [writer.true for _ in self.events])
        self._instructions()
        self._locations()
        self._groups()
        self._barriers()
        self._dependencies()
        self._outcome()
        self._in_order()

    def _named(self, *words: object) -> WrittenLiteral:
        return self.writer.variable(*words)

    def _within(self) -> Iterator[tuple[int, int]]:
        """The pairs of events of one thread, in program order."""
        return ((e, f) for e, f in combinations(self.events, 2) if self.thread[e] == self.thread[f])

    # Instructions

    def _instructions(self) -> None:
        writer = self.writer
        ways: list[CertifiedEventModes] = []
        half: list[WrittenLiteral] = []
        updates: dict[tuple[int, int], WrittenLiteral] = {}
        before: dict[Mode, WrittenLiteral] = {}  # the updates that the last event may begin
        for e in self.events:
            first = e == 0 or self.thread[e - 1] != self.thread[e]
            last = e + 1 == len(self.thread) or self.thread[e + 1] != self.thread[e]
            second = {} if first else before
            own: dict[CertifiedEventMode, WrittenLiteral] = {}
            before = {}
            for kind, modes in self.words.modes.items():
                for mode in modes if not (last and kind is Instruction.UPDATE) else ():
                    literal = self._named("way", e, spelled_mode(kind, mode))
                    if kind is Instruction.UPDATE:
                        before[mode] = literal
                        own[CertifiedEventMode(EventKind.READ, mode, True)] = literal
                    else:
                        own[CertifiedEventMode(EventKind(kind.value), mode)] = literal
            own |= {CertifiedEventMode(EventKind.WRITE, mode, True): literal for mode, literal in second.items()}
            writer.one_of(own.values())
            ways.append(CertifiedEventModes(writer, own))
            half.append(writer.any_of(second.values()))
            if before:
                updates[e, e + 1] = writer.any_of(before.values())
        self.program = replace(self.program, ways=ways, half=half, updates=updates)

    # Locations and places

    def _locations(self) -> None:
        program, require = self.program, self.writer.require
        accesses = [program.of(e, EventKind.READ) | program.of(e, EventKind.WRITE) for e in self.events]
        loc = self._equivalence("loc", accesses)
        vloc = self._equivalence("vloc", accesses) if self.words.aliases else loc
        for pair in loc:
            require(~vloc[pair], loc[pair])
        if Region.SHARED not in self.words.regions:
            shared = [self.writer.false for _ in self.events]
        elif Region.GLOBAL not in self.words.regions:
            shared = accesses
        else:
            shared = [self._named("shared", e) for e in self.events]
            for e, f in permutations(self.events, 2):
                require(~shared[e], accesses[e])
                require(~shared[e], ~program.related(loc, e, f), shared[f])
        self.program = replace(program, loc=loc, vloc=vloc, shared=shared)

    def _equivalence(self, name: str, accesses: Sequence[WrittenLiteral]) -> Pairs:
        program, require = self.program, self.writer.require
        pairs = {(e, f): self._named(name, e, f) for e, f in combinations(self.events, 2)}
        for (e, f), literal in pairs.items():
            require(~literal, accesses[e])
            require(~literal, accesses[f])
        for pair, update in program.updates.items():
            require(~update, pairs[pair])
        for e, f, g in permutations(self.events, 3):
            if e < g:
                require(~program.related(pairs, e, f), ~program.related(pairs, f, g), pairs[e, g])
        return {**pairs, **{(e, e): access for e, access in enumerate(accesses)}}

    def _groups(self) -> None:
        program, require = self.program, self.writer.require
        same: dict[Scope, Pairs] = {}
        for level in self.words.levels:
            group = {(t, u): self._named("same", level.label, t, u) for t, u in combinations(self.threads, 2)}
            for t, u, v in permutations(self.threads, 3):
                if t < v:
                    require(~program.related(group, t, u), ~program.related(group, u, v), group[t, v])
            same[level] = group
        for wide, narrow in permutations(same, 2):
            for pair in same[wide] if wide.value < narrow.value else ():
                require(~same[narrow][pair], same[wide][pair])
        ssw: dict[tuple[int, int], WrittenLiteral] = {}
        if self.words.synchronises:
            ssw = {(t, u): self._named("ssw", t, u) for t, u in permutations(self.threads, 2)}
            for t, u in combinations(self.threads, 2):
                require(~ssw[t, u], ~ssw[u, t])
            for t, u, v in permutations(self.threads, 3):
                require(~ssw[t, u], ~ssw[u, v], ssw[t, v])
        self.program = program = replace(program, same=same, ssw=ssw)
        for e, f in combinations(self.events, 2):
            together = program.in_group(self.thread[e], self.thread[f], Scope.CTA)
            require(~program.shared[e], ~program.loc[e, f], together)

    def _barriers(self) -> None:
        """Requires that threads of one CTA have equally many barriers."""
        program, require, false = self.program, self.writer.require, self.writer.false
        barriers = [program.of(e, EventKind.BARRIER) for e in self.events]
        own = [[e for e in self.events if self.thread[e] == t] for t in self.threads]
        rank = [self._counted([barriers[f] for f in own[self.thread[e]] if f < e]) for e in self.events]
        self.program = replace(program, rank=rank)
        counts = [self._counted([barriers[e] for e in events]) for events in own]
        for t, u in combinations(self.threads, 2):
            apart = ~program.in_group(t, u, Scope.CTA)
            for count in sorted(counts[t].keys() | counts[u].keys()):
                one, other = counts[t].get(count, false), counts[u].get(count, false)
                require(apart, ~one, other)
                require(apart, one, ~other)

    def _counted(self, literals: Sequence[WrittenLiteral]) -> dict[int, WrittenLiteral]:
        """The literals that given numbers of some literals hold."""
        counts = [self.writer.true]
        for literal in literals:
            more = [self.writer.false, *(so_far & literal for so_far in counts)]
            counts = [one | (two & ~literal) for one, two in zip(more, [*counts, self.writer.false], strict=True)]
        return {count: literal for count, literal in enumerate(counts) if literal}

    # Dependencies

    def _dependencies(self) -> None:
        program, writer, kinds = self.program, self.writer, self.words.dependencies
        require = writer.require
        begins = [~half for half in program.half]
        all_addr: dict[tuple[int, int], WrittenLiteral] = {}
        all_data: dict[tuple[int, int], WrittenLiteral] = {}
        branches: dict[tuple[int, int], WrittenLiteral] = {}
        for r, e in self._within():
            reads, writes = program.of(r, EventKind.READ), program.of(e, EventKind.WRITE)
            if "addr" in kinds:
                addr = all_addr[r, e] = self._named("addr", r, e)
                require(~addr, reads)
                require(~addr, begins[e])
                updates = program.updates.get((e, e + 1), writer.false)
                alone = program.of(e, EventKind.READ) & ~updates
                require(~addr, alone if self.words.interchangeable else program.of(e, EventKind.READ) | writes)
            if "data" in kinds:
                data = all_data[r, e] = self._named("data", r, e)
                require(~data, reads)
                require(~data, writes)
                require(~data, ~program.updates.get((r, e), writer.false))
            if "ctrl" in kinds and not self.words.interchangeable:
                branch = branches[r, e] = self._named("branch", r, e)
                require(~branch, reads)
                require(~branch, begins[e])
        for one, other in combinations(branches, 2):
            if one[0] == other[0]:
                require(~branches[one], ~branches[other])
        self.program = replace(program, addr=all_addr, data=all_data, branch=branches)

    # Reads-from and last writes

    def _outcome(self) -> None:
        program, require = self.program, self.writer.require
        reads = [program.of(e, EventKind.READ) for e in self.events]
        writes = [program.of(e, EventKind.WRITE) for e in self.events]
        rf = {(w, r): self._named("rf", w, r) for w, r in permutations(self.events, 2)}
        init = [self._named("init", r) for r in self.events]
        final = [self._named("final", w) for w in self.events]
        for (w, r), literal in rf.items():
            for needed in (writes[w], reads[r], program.related(program.loc, w, r)):
                require(~literal, needed)
        for r in self.events:
            require(~init[r], reads[r])
            self.writer.one_of([init[r], *(rf[w, r] for w in self.events if w != r)], reads[r])
        for w in self.events:
            others = (program.related(program.loc, w, v) & final[v] for v in self.events if v != w)
            require(~final[w], writes[w])
            require(~writes[w], final[w], *others)
        for w, v in combinations(self.events, 2):
            require(~final[w], ~final[v], ~program.loc[w, v])
        self.program = replace(program, rf=rf, init=init, final=final)

    # Symmetry: one of the images under exchange of threads

    def _in_order(self) -> None:
        require = self.writer.require
        for t in range(len(self.sizes) - 1):
            size = self.sizes[t]
            if self.sizes[t + 1] != size:
                continue
            own = [e for e in self.events if self.thread[e] == t]
            equal = self.writer.true
            for one, other in self._said_within(own, size):
                require(~equal, ~one, other)
                further = self.writer.unnamed(f"equal {t}")
                require(~equal, ~one, ~other, further)
                require(~equal, one, other, further)
                equal = further

    def _said_within(self, own: Sequence[int], further: int) -> Iterator[tuple[WrittenLiteral, WrittenLiteral]]:
        """The literals about a thread, each with its counterpart about the thread whose events are ``further`` on."""
        program = self.program
        for e in own:
            both = (program.ways[event].literals.values() for event in (e, e + further))
            yield from zip(*both, strict=True)
            yield program.init[e], program.init[e + further]
        for e, f in permutations(own, 2):
            for pairs in (program.rf, program.loc, program.vloc, program.addr, program.data, program.branch):
                if (e, f) in pairs:
                    yield pairs[e, f], pairs[e + further, f + further]
