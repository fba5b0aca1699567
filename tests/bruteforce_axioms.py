"""Axioms of memory models by hand, over all executions of a program at once: for plain enumeration in tests.

They are those of SC, TSO, PTX by RMO per scope, RC11, PTX 6.0 and PTX from 7.5 on, written down from the papers and
specifications that ``oracle/models`` names, and share nothing with the evaluator of ``.cat`` files.

A *case* is an execution of a program together with a mode for each of its instructions. A relation maps a pair of
events to an integer whose bits say in which cases the pair is related, so the axioms are worked out once for all cases.

Initial writes are no events. Nothing leads to one, so that none is on a cycle, and in RC11 they happen before all else,
so that none races; what matters is that each write comes after them, which ``fr`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from math import prod

from corpus.executions.execution import INITIAL, Dependency, OpKind
from corpus.executions.vocabulary import Vocabulary
from corpus.laws.c11 import HALVES
from corpus.litmus.orders import CLUSTER, PROXIES, Mode, Order, Place, Scope

Where = tuple[int, int] | None
"""A location, and which of its addresses."""

Body = tuple[tuple[OpKind, Where], ...]
"""The kinds and places of a thread."""

Set = list[int]
"""For each event the bits of the cases in which it is a member."""

EVERY = -1
"""The bits of a pair that is related in every case."""


class Relation:
    """``rows[i][j]``: the bits of the cases in which event ``i`` is related to ``j``; none is left out or 0."""

    def __init__(self, rows: Sequence[dict[int, int]]) -> None:
        self.rows = rows

    @staticmethod
    def of(size: int, related: Callable[[int, int], int]) -> Relation:
        return Relation([{j: bits for j in range(size) if (bits := related(i, j))} for i in range(size)])

    def __or__(self, other: Relation) -> Relation:
        rows = [dict(row) for row in self.rows]
        for row, more in zip(rows, other.rows, strict=True):
            for j, bits in more.items():
                row[j] = row.get(j, 0) | bits
        return Relation(rows)

    def __and__(self, other: Relation) -> Relation:
        pairs = zip(self.rows, other.rows, strict=True)
        return Relation([{j: bits for j in row if (bits := row[j] & also.get(j, 0))} for row, also in pairs])

    def __sub__(self, other: Relation) -> Relation:
        pairs = zip(self.rows, other.rows, strict=True)
        return Relation([{j: bits for j in row if (bits := row[j] & ~less.get(j, 0))} for row, less in pairs])

    def __matmul__(self, other: Relation) -> Relation:
        """Composition."""
        rows = []
        for row in self.rows:
            made: dict[int, int] = {}
            for k, first in row.items():
                for j, second in other.rows[k].items():
                    if bits := first & second:
                        made[j] = made.get(j, 0) | bits
            rows.append(made)
        return Relation(rows)

    @property
    def inverse(self) -> Relation:
        return Relation.of(len(self.rows), lambda i, j: self.rows[j].get(i, 0))

    @property
    def maybe(self) -> Relation:
        return self | Relation([{i: EVERY} for i in range(len(self.rows))])

    @property
    def plus(self) -> Relation:
        """Transitive closure."""
        rows = [dict(row) for row in self.rows]
        for k, through in enumerate(rows):
            for row in rows:
                if first := row.get(k):
                    for j, second in list(through.items()):
                        if bits := first & second:
                            row[j] = row.get(j, 0) | bits
        return Relation(rows)

    @property
    def some(self) -> int:
        """The cases in which anything is related."""
        return self.any_of(bits for row in self.rows for bits in row.values())

    @property
    def reflexive(self) -> int:
        """The cases in which an event is related to itself."""
        return self.any_of(row.get(i, 0) for i, row in enumerate(self.rows))

    @property
    def cyclic(self) -> int:
        return self.plus.reflexive

    @staticmethod
    def any_of(found: Iterable[int]) -> int:
        bits = 0
        for more in found:
            bits |= more
        return bits


@dataclass(frozen=True)
class Program:
    """Instructions without modes: ``threads[t]`` are kinds and places, ``dependencies`` as in an execution."""

    threads: tuple[Body, ...]
    places: tuple[Place, ...]
    dependencies: frozenset[Dependency] = frozenset()

    @cached_property
    def steps(self) -> tuple[tuple[OpKind, Where], ...]:
        return tuple(chain(*self.threads))

    def location(self, instruction: int) -> int | None:
        where = self.steps[instruction][1]
        return None if where is None else where[0]

    @cached_property
    def thread_of(self) -> tuple[int, ...]:
        return tuple(number for number, thread in enumerate(self.threads) for _ in thread)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.threads, self.places, self.dependencies))


@dataclass(frozen=True)
class Choice:
    """``rf`` and ``co`` as in an execution; ``fences`` is an order of all fences, whatever their modes."""

    rf: tuple[int | None, ...]
    co: frozenset[tuple[int, int]]
    fences: tuple[int, ...]


class Cases:
    """The sets and relations of all cases of a program. Sets are lists of bits, one for each event."""

    def __init__(self, program: Program, words: Vocabulary, choices: Sequence[Choice]) -> None:
        self.program = program
        self.modes = [words.modes[kind] for kind, _ in program.steps]
        self.shape = tuple(map(len, self.modes))
        self.block = prod(self.shape)
        self.choices = choices
        self.events = [
            (i, half)
            for i, (kind, _) in enumerate(program.steps)
            for half in ((OpKind.READ, OpKind.WRITE) if kind is OpKind.UPDATE else (kind,))
        ]
        self.size = len(self.events)
        self.number = {event: number for number, event in enumerate(self.events)}
        self.all = (1 << self.block * len(choices)) - 1

        def of_kind(*kinds: OpKind) -> Set:
            return [EVERY if half in kinds else 0 for _, half in self.events]

        self.R, self.W, self.F, self.B = map(of_kind, (OpKind.READ, OpKind.WRITE, OpKind.FENCE, OpKind.BARRIER))
        self.M = of_kind(OpKind.READ, OpKind.WRITE)
        self.RMW = [EVERY if program.steps[i][0] is OpKind.UPDATE else 0 for i, _ in self.events]

    def of(self, related: Callable[[int, int], int]) -> Relation:
        return Relation.of(self.size, related)

    def only(self, *sets: Set) -> Relation:
        """The events of any of these sets, each related to itself."""
        return Relation([{i: bits} if bits else {} for i, bits in enumerate(self.any(*sets))])

    def any(self, *sets: Set) -> Set:
        return [Relation.any_of(bits) for bits in zip(*sets, strict=True)]

    def times(self, left: Set, right: Set) -> Relation:
        return self.of(lambda i, j: left[i] & right[j])

    # What the program says.

    def thread(self, event: int) -> int:
        return self.program.thread_of[self.events[event][0]]

    def together(self, one: int, other: int, level: Scope) -> bool:
        """Whether two events are of one group of the scope tree."""
        places = self.program.places
        return places[self.thread(one)].shares(places[self.thread(other)], level)

    def _static(self, related: Callable[[int, int], bool]) -> Relation:
        return self.of(lambda i, j: EVERY if related(i, j) else 0)

    @cached_property
    def po(self) -> Relation:
        return self._static(lambda i, j: i < j and self.thread(i) == self.thread(j))

    @cached_property
    def ext(self) -> Relation:
        return self._static(lambda i, j: self.thread(i) != self.thread(j))

    @cached_property
    def loc(self) -> Relation:
        where = [self.program.location(i) for i, _ in self.events]
        return self._static(lambda i, j: where[i] is not None and where[i] == where[j])

    @cached_property
    def vloc(self) -> Relation:
        where = [self.program.steps[i][1] for i, _ in self.events]
        return self._static(lambda i, j: where[i] is not None and where[i] == where[j])

    @cached_property
    def rmw(self) -> Relation:
        return self._static(lambda i, j: i != j and self.events[i][0] == self.events[j][0] and i < j)

    @cached_property
    def cta(self) -> Relation:
        return self._static(lambda i, j: self.together(i, j, Scope.CTA))

    @cached_property
    def gpu(self) -> Relation:
        return self._static(lambda i, j: self.together(i, j, Scope.GPU))

    @cached_property
    def dep(self) -> Relation:
        """Dependencies of any kind."""

        def related(i: int, j: int) -> bool:
            (source, half), (target, last) = self.events[i], self.events[j]
            return half is OpKind.READ and any(
                dep.source == source
                and (
                    target >= dep.target and self.thread(i) == self.thread(j)
                    if dep.kind == "ctrl"
                    else target == dep.target and (dep.kind == "addr" or last is OpKind.WRITE)
                )
                for dep in self.program.dependencies
            )

        return self._static(related)

    @cached_property
    def syncbar(self) -> Relation:
        """Barriers of one CTA that meet: the first of each thread, the second, ..; and the other one waits."""
        arriving = self.tagged("arrive")
        rank = {}
        for thread in range(len(self.program.threads)):
            found = [i for i in range(self.size) if self.thread(i) == thread and self.B[i]]
            rank.update({i: number for number, i in enumerate(found)})

        def related(i: int, j: int) -> int:
            meet = i in rank and j in rank and rank[i] == rank[j]
            meet = meet and self.thread(i) != self.thread(j) and self.together(i, j, Scope.CTA)
            return ~arriving[j] if meet else 0

        return self.of(related)

    # What modes say.

    def _mode(self, instruction: int, fits: Callable[[Mode], bool]) -> int:
        """The cases in which an instruction has a mode that fits."""
        size = self.shape[instruction]
        stride = prod(self.shape[instruction + 1 :])
        fitting = tuple(number for number, mode in enumerate(self.modes[instruction]) if fits(mode))
        return EVERY if len(fitting) == size else _pattern(stride, size, fitting, self.block * len(self.choices))

    def order(self, *orders: Order) -> Set:
        """The events of any of these orders."""

        def fits(event: int) -> Callable[[Mode], bool]:
            half = self.events[event][1] if self.RMW[event] else None
            return lambda mode: order_of(mode, half) in orders

        return [self._mode(i, fits(event)) for event, (i, _) in enumerate(self.events)]

    @cached_property
    def volatile(self) -> Set:
        """Volatile accesses."""
        return [self._mode(i, lambda mode: mode.volatile) for i, _ in self.events]

    @cached_property
    def strong(self) -> Set:
        """Events of any order: all but weak ones."""
        return self.order(*(order for order in Order if order is not Order.WEAK))

    @cached_property
    def sc(self) -> Set:
        return self.order(Order.SC)

    @property
    def acquire(self) -> Relation:
        return self.only(self.order(Order.ACQUIRE, Order.ACQ_REL, Order.SC))

    @property
    def release(self) -> Relation:
        return self.only(self.order(Order.RELEASE, Order.ACQ_REL, Order.SC))

    def tagged(self, *tags: str) -> Set:
        """The events of instructions with any of these words of the dialect."""
        return [self._mode(i, lambda mode: not set(tags).isdisjoint(mode.tags)) for i, _ in self.events]

    def scoped(self, event: int, *scopes: Scope) -> int:
        """The cases in which an event has one of these scopes."""
        return self._mode(self.events[event][0], lambda mode: scope_of(mode) in scopes)

    @cached_property
    def sr(self) -> Relation:
        """Mutual inclusion: the scope of each event includes the thread of the other."""

        def includes(i: int, j: int) -> int:
            return self.scoped(i, *(scope for scope in Scope if self.together(i, j, scope)))

        return self.of(lambda i, j: includes(i, j) & includes(j, i))

    # What executions say.

    def _chosen(self, chosen: Callable[[Choice], bool]) -> int:
        bits, one = 0, (1 << self.block) - 1
        for number, choice in enumerate(self.choices):
            if chosen(choice):
                bits |= one << number * self.block
        return bits

    def _writes(self, instruction: int) -> int:
        return self.number[instruction, OpKind.WRITE]

    @cached_property
    def rf(self) -> Relation:
        rows: list[dict[int, int]] = [{} for _ in self.events]
        one = (1 << self.block) - 1
        for number, choice in enumerate(self.choices):
            for i, source in enumerate(choice.rf):
                if source is not None and source != INITIAL:
                    row, read = rows[self._writes(source)], self.number[i, OpKind.READ]
                    row[read] = row.get(read, 0) | one << number * self.block
        return Relation(rows)

    @cached_property
    def co(self) -> Relation:
        rows: list[dict[int, int]] = [{} for _ in self.events]
        one = (1 << self.block) - 1
        for number, choice in enumerate(self.choices):
            for first, second in choice.co:
                row, last = rows[self._writes(first)], self._writes(second)
                row[last] = row.get(last, 0) | one << number * self.block
        return Relation(rows)

    @cached_property
    def fr(self) -> Relation:
        def initial(i: int) -> int:
            return self._chosen(lambda choice: choice.rf[self.events[i][0]] == INITIAL) if self.R[i] else 0

        first = [initial(i) for i in range(self.size)]
        return (self.rf.inverse @ self.co) | (self.times(first, self.W) & self.loc)

    @cached_property
    def sync_fence(self) -> Relation:
        """The order of ``fence.sc`` that must agree: of one thread, or mutually in scope; closed under transitivity."""

        def before(i: int, j: int) -> int:
            if not self.F[i] or not self.F[j] or i == j:
                return 0
            first, last = self.events[i][0], self.events[j][0]
            return self._chosen(lambda choice: choice.fences.index(first) < choice.fences.index(last))

        must = self.times(self.sc, self.sc) & (self.po | self.po.inverse | self.sr)
        return (must & self.of(before)).plus

    # What all models make of it.

    @cached_property
    def po_loc(self) -> Relation:
        return self.po & self.loc

    def fenced(self, fences: Set) -> Relation:
        """Pairs of one thread with one of these events between them."""
        return self.po @ self.only(fences) @ self.po

    @cached_property
    def torn(self) -> int:
        """The cases in which a write of another thread comes between the halves of an update."""
        return (self.rmw & ((self.fr & self.ext) @ (self.co & self.ext))).some


@cache
def _pattern(stride: int, size: int, chosen: tuple[int, ...], total: int) -> int:
    """Bits ``b < total`` with ``b // stride % size`` among the chosen."""
    one = sum(((1 << stride) - 1) << number * stride for number in chosen)
    return sum(one << start for start in range(0, total, stride * size))


def order_of(mode: Mode, half: OpKind | None) -> Order:
    """The order of an instruction, or of a half of an update; a volatile access is relaxed."""
    order = Order.RELAXED if mode.volatile and mode.order is Order.WEAK else mode.order
    return order if half is None else HALVES[order][half is OpKind.WRITE]


def scope_of(mode: Mode) -> Scope | None:
    """The scope of an instruction; a volatile access has the widest."""
    return Scope.SYS if mode.volatile and mode.scope is None else mode.scope


Verdict = tuple[dict[str, int], int]
"""By axiom the cases that violate it, and the cases in which a flag is raised."""


def sc(g: Cases) -> Verdict:
    """Alglave et al. 2015, 5.2.2; barriers as in TSO."""
    com = g.rf | g.co | g.fr
    return {"sc": (g.po | com | g.po @ g.syncbar @ g.po).cyclic, "atomicity": g.torn}, 0


def tso(g: Cases) -> Verdict:
    """Lustig et al. 2019, Fig. 2 and 2.2."""
    com = g.rf | g.co | g.fr
    ppo = g.po & (g.times(g.R, g.M) | g.times(g.W, g.W))
    fence = g.fenced(g.F) | (g.po & (g.times(g.RMW, g.M) | g.times(g.M, g.RMW)))
    rfe = g.rf & g.ext
    return {
        "sc-per-location": (com | g.po_loc).cyclic,
        "causality": (rfe | g.co | g.fr | ppo | fence | g.po @ g.syncbar @ g.po).cyclic,
        "atomicity": g.torn,
    }, 0


def ptx_rmo(g: Cases) -> Verdict:
    """Alglave et al. 2015, Figs 15 and 16; atomicity between atomic operations, by 3.2.3."""
    com = g.rf | g.co | g.fr
    rfe = g.rf & g.ext

    def rmo(*scopes: Scope) -> Relation:
        fences = [g.F[i] & g.sc[i] & g.scoped(i, *scopes) for i in range(g.size)]
        return g.dep | g.fenced(fences) | rfe | g.co | g.fr

    between = (g.fr & g.ext) @ g.only(g.RMW) @ (g.co & g.ext)
    return {
        "sc-per-loc-llh": ((g.po_loc - g.times(g.R, g.R)) | com).cyclic,
        "no-thin-air": (g.dep | g.rf).cyclic,
        "cta-constraint": (rmo(Scope.CTA, Scope.GPU, Scope.SYS) & g.cta).cyclic,
        "gl-constraint": (rmo(Scope.GPU, Scope.SYS) & g.gpu).cyclic,
        "sys-constraint": rmo(Scope.SYS).cyclic,
        "atomicity": (g.rmw & between).some,
    }, g.only(g.order(Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL), g.B, g.RMW, g.volatile).some


def rc11(g: Cases) -> Verdict:
    """Lustig et al. 2019, Fig. 10, with No-Thin-Air and without ``incl``."""
    atomic = g.strong
    write, fence, sb = g.only(g.W), g.only(g.F), g.po
    read_atomic = g.only([one & other for one, other in zip(g.R, atomic, strict=True)])
    write_atomic = g.only([one & other for one, other in zip(g.W, atomic, strict=True)])
    eco = (g.rf | g.co | g.fr).plus
    rs = write @ g.po_loc.maybe @ write_atomic @ (g.rf @ g.rmw).plus.maybe
    sw = g.release @ (fence @ sb).maybe @ rs @ g.rf @ read_atomic @ (sb @ fence).maybe @ g.acquire
    hb = (sb | sw).plus
    elsewhere = sb - g.loc
    scb = sb | elsewhere @ hb @ elsewhere | (hb & g.loc) | g.co | g.fr
    agreed = g.only(g.sc)
    fence_sc = fence @ agreed
    base = (agreed | fence_sc @ hb.maybe) @ scb @ (agreed | hb.maybe @ fence_sc)
    fences = fence_sc @ (hb | hb @ eco @ hb) @ fence_sc
    conflict = g.loc & g.ext & (g.times(g.W, g.M) | g.times(g.M, g.W))
    race = (conflict - g.times(atomic, atomic)) - (hb | hb.inverse)
    return {
        "coherence": (hb @ eco.maybe).reflexive,
        "atomicity": (g.rmw & (g.fr @ g.co)).some,
        "sc": (base | fences).cyclic,
        "no-thin-air": (sb | g.rf).cyclic,
    }, race.some


def ptx(g: Cases) -> Verdict:
    """Lustig et al. 2019, 3.3, 3.5.1, Figs 4 and 7."""
    read, write, fence = g.only(g.R), g.only(g.W), g.only(g.F)
    identity = Relation([{i: EVERY} for i in range(g.size)])
    elsewhere = g.times(g.M, g.M) - g.loc
    ms = ((g.po | g.po.inverse | (g.sr & g.times(g.strong, g.strong))) - elsewhere) - identity
    pattern_rel = write @ g.release @ g.po_loc.maybe @ write | fence @ g.release @ g.po @ write
    pattern_acq = read @ g.po_loc.maybe @ read @ g.acquire | read @ g.po @ fence @ g.acquire
    observed = ms & g.rf
    obs = observed @ (g.rmw @ observed).plus.maybe
    order = g.sync_fence
    sw = (ms & (pattern_rel @ obs @ pattern_acq)) | g.syncbar | order
    base = (g.po.maybe @ sw @ g.po.maybe).plus
    cause = base | obs @ (base | g.po_loc)
    return {
        "co-relates-morally-strong": ((ms & g.times(g.W, g.W)) - (g.co | g.co.inverse)).some,
        "coherence": ((write @ cause @ write & g.loc) - g.co).some,
        "fence-sc": (order @ cause).reflexive,
        "atomicity": (((ms & g.fr) @ (ms & g.co)) & g.rmw).some,
        "no-thin-air": (g.rf | g.dep).cyclic,
        "sc-per-location": ((ms & (g.rf | g.co | g.fr)) | g.po_loc).cyclic,
        "causality": ((g.rf | g.fr) @ cause).reflexive,
    }, (g.only(g.sc) & g.only(g.M)).some


def ptx_proxies(g: Cases, one_sided: bool) -> Verdict:
    """PTX ISA 9.1, Memory Consistency Model, and Lustig et al. 2022; ``one_sided``: with fences of 8.6 and clusters."""

    def both(one: Set, other: Set) -> Set:
        return [left & right for left, right in zip(one, other, strict=True)]

    def without(one: Set, other: Set) -> Set:
        return [left & ~right for left, right in zip(one, other, strict=True)]

    vloc, order = g.vloc, g.sync_fence
    proxies = {name: g.tagged(name) for name in PROXIES}
    alias = g.tagged("alias")
    memory, special = g.any(g.M, g.F), g.any(alias, *proxies.values())
    generic = without(memory, special)
    same = g.times(generic, generic)
    for members in proxies.values():
        same = same | g.times(members, members)
    identity = Relation([{i: EVERY} for i in range(g.size)])
    near = g.po | g.po.inverse | (g.sr & g.times(g.strong, g.strong))
    ms = (near & same) - (g.times(g.M, g.M) - vloc) - identity
    strong_write, strong_read = g.only(both(g.W, g.strong)), g.only(both(g.R, g.strong))
    releases, acquires = g.order(Order.ACQ_REL, Order.SC), g.order(Order.ACQ_REL, Order.SC)
    if one_sided:
        releases, acquires = g.any(releases, g.order(Order.RELEASE)), g.any(acquires, g.order(Order.ACQUIRE))
    po_vloc = (g.po & vloc).maybe
    pattern_rel = g.only(both(g.W, g.order(Order.RELEASE))) @ po_vloc @ strong_write
    pattern_rel = pattern_rel | g.only(both(g.F, releases)) @ g.po @ strong_write
    pattern_acq = strong_read @ po_vloc @ g.only(both(g.R, g.order(Order.ACQUIRE)))
    pattern_acq = pattern_acq | strong_read @ g.po @ g.only(both(g.F, acquires))
    observed = ms & g.rf
    obs = observed @ (g.rmw @ observed).plus.maybe
    base = (g.po | (ms & (pattern_rel @ obs @ pattern_acq)) | order | g.syncbar).plus
    near_base = base & same & g.cta
    generic_access, other_access = g.only(both(generic, g.M)), g.only(without(g.M, generic))
    proxy_fence = g.only(without(g.F, generic))
    left = generic_access | other_access @ near_base @ proxy_fence
    right = generic_access | proxy_fence @ near_base @ other_access
    linked = (near_base & g.times(g.M, g.M)) | left @ base @ right
    aliased = left @ base @ g.only(both(g.F, alias)) @ base @ right
    preserved = (vloc & linked) | (g.loc & aliased)
    cause = preserved | obs @ preserved
    write = g.only(g.W)
    flags = (g.only(g.sc) & g.only(g.M)).some
    if not one_sided:
        flags |= g.only(both(g.F, g.order(Order.ACQUIRE, Order.RELEASE)), g.tagged(CLUSTER)).some
    return {
        "co-relates-morally-strong": ((ms & g.times(g.W, g.W)) - (g.co | g.co.inverse)).some,
        "coherence": ((write @ cause @ write & g.loc) - g.co).some,
        "fence-sc": (order @ base).reflexive,
        "atomicity": (((ms & g.fr) @ (ms & g.co)) & g.rmw).some,
        "no-thin-air": (g.rf | g.dep).cyclic,
        "sc-per-location": (ms & (g.rf | g.co | g.fr | (g.po & vloc))).cyclic,
        "causality": ((g.rf | g.fr) @ cause).reflexive,
    }, flags


@dataclass(frozen=True)
class Model:
    """Axioms, whether coherence may leave writes unordered, and whether fences have an order of their own."""

    axioms: Callable[[Cases], Verdict]
    partial: bool = False
    fences: bool = False


MODELS = {
    "sc": Model(sc),
    "tso": Model(tso),
    "ptx-rmo": Model(ptx_rmo),
    "rc11": Model(rc11),
    "ptx-6.0": Model(ptx, partial=True, fences=True),
    "ptx-7.5": Model(partial(ptx_proxies, one_sided=False), partial=True, fences=True),
    "ptx": Model(partial(ptx_proxies, one_sided=True), partial=True, fences=True),
}
