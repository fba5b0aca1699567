"""The family of promises: to whom a scheduler promises steps, at one level or at several, and how that is read.

Worked example: thread 0 spins until thread 1 has stored. A promise may be any union of four elementary ones: to the
thread with the *lowest* id, to those that have *started*, to those *below*, which have a lower id than one that has
started, and to *everybody*. That makes eight promises, each read weakly or strongly, and so 16 members.

>>> from corpus.progress.text import parse_axb
>>> program = parse_axb('''
... THREAD 0
... 0: if (Mem[0] == 0) goto 0;
... THREAD 1
... 0: Mem[0] = 1;
... ''')
>>> family = promise_family("progress")
>>> family.valid.size
16

All members but fair scheduling let the program hang. Where a hang was seen, these are left; the fairest of the models
that ship among them is strong LOBE:

>>> hanging = family.may_hang_program(program)
>>> [model.name for model in family.models(family.valid - hanging)]
['fair-weak', 'fair-strong']
>>> [model.name for model in family.models(hanging)][-3:]
['lowest+below-strong', 'lobe-weak', 'lobe-strong']

A family is named as a composed model is (``oracle.progress.plugins``), with ``progress`` for a promise that is not
known: ``progress@workgroup & progress@subgroup``, or ``hsa@workgroup & progress@subgroup-weak``. ``progress`` alone is
about threads by themselves, as the models of Sorensen et al. 2021 are, which are all members.

*Holes.* A member is an assignment of truths to switches (``oracle.inference.model_sets``): one for each elementary
promise at each level, ``lowest@workgroup``, and ``strong``. Everybody is promised execution without the others beside.
Where a thread that runs has started, the lowest that runs has started or is below one that has; so ``lowest`` does not
stand beside both of these.

*One pass.* A program's history graph is made once. Members whose promises are equal wherever the program may go round
are judged once, and promises to threads by themselves are judged together, as a panel.

*Members that no scheduler tells apart.* A promise to nobody is one in both readings. ``lowest+below`` has the
verdicts of ``below``: the lowest thread that runs is below one that has started, or else, on a cycle, it steps alone
there, and no promise leads away. So 13 classes are left of 16 members. Programs of two and of three threads with three
instructions tell these apart.

Gaps: a promise that depends on more than ids and who has started, such as on a lock that a thread holds, is in no
family. Systems are explored state by state, without arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product

from corpus.errors import InputError
from corpus.hierarchy import LEVEL_WORDS, Places, apart
from corpus.progress.axb import Program, places_of
from oracle.inference.model_sets import ModelSet, ModelSpace
from oracle.progress.lts import explore
from oracle.progress.models import (
    GUARANTEES,
    MODELS,
    Guarantee,
    History,
    Panel,
    ProgressModel,
    both_readings,
    delegates_of_hang,
    fair,
    hangs,
    hsa,
    nobody_alone,
    obe,
    unfold,
)
from oracle.progress.plugins import AND, resolve_models
from oracle.progress.system import Rows
from oracle.promises import LevelPromise, PlacedPromise, Promise, ThreadSets, promised_sets

UNKNOWN_PROMISE = "progress"
"""The name of a promise that is not known, and of the family of promises to threads by themselves."""

STRONG = "strong"
"""The switch of the reading."""

_FEW = 4
"""The most threads whose situations are gone through before any program is."""


def below(running: int, stepped: int) -> int:
    """Every thread with a lower id than one that has taken a step."""
    return running & ((1 << max(stepped.bit_length() - 1, 0)) - 1)


ELEMENTARY: Mapping[str, Guarantee] = {"lowest": hsa, "started": obe, "below": below, "everybody": fair}
"""The elementary promises, by the names of their switches."""

ELEMENTARY_TEXTS: Mapping[str, str] = {
    "lowest": "(running & -running)",
    "started": "(running & stepped)",
    "below": "(running & ((1 << max(stepped.bit_length() - 1, 0)) - 1))",
    "everybody": "running",
}
"""The elementary promises as expressions of Python."""

EVERYBODY = "everybody"

_SHIPPED = {
    (): "unfair",
    ("lowest",): "hsa",
    ("started",): "obe",
    ("lowest", "started"): "hsa+obe",
    ("started", "below"): "lobe",
    (EVERYBODY,): "fair",
}
"""The names of unions that models which ship promise."""


@dataclass(frozen=True, slots=True)
class PromiseUnion:
    """A union of elementary promises, its ``parts`` by their names; ``name`` is a shipped model's where it can be."""

    name: str
    parts: tuple[str, ...]
    guarantee: Guarantee


def _union(parts: tuple[str, ...]) -> PromiseUnion:
    name = _SHIPPED.get(parts)
    if name is not None:
        return PromiseUnion(name, parts, GUARANTEES[name])
    functions = [ELEMENTARY[part] for part in parts]

    def union(running: int, stepped: int) -> int:
        return reduce(lambda promised, more: promised | more(running, stepped), functions, 0)

    return PromiseUnion("+".join(parts), parts, union)


_PARTS = ((), ("lowest",), ("started",), ("lowest", "started"), ("below",), ("lowest", "below"), ("started", "below"))

UNIONS: tuple[PromiseUnion, ...] = tuple(map(_union, (*_PARTS, (EVERYBODY,))))
"""The unions of elementary promises, from nobody to everybody."""


@dataclass(frozen=True, slots=True)
class FamilyLevel:
    """A level of a family: its place in the execution hierarchy, and the unions that its promise may be.

    ``promise`` is None where the threads count by themselves. A level with one union is known and has no switches.
    """

    promise: LevelPromise | None
    unions: tuple[PromiseUnion, ...]

    @property
    def suffix(self) -> str:
        """What names of promises at this level end in: ``@workgroup``."""
        return "" if self.promise is None else f"@{self.promise.level.word}"

    @property
    def switches(self) -> tuple[str, ...]:
        """The names of the switches of the level."""
        return tuple(f"{name}{self.suffix}" for name in ELEMENTARY) if len(self.unions) > 1 else ()


@dataclass(frozen=True)
class PromiseFamily:
    """A family of promises: levels, outermost first, and the reading where it is known."""

    name: str
    levels: tuple[FamilyLevel, ...]
    strong: bool | None = None
    _known: dict[Places, tuple[tuple[Promise, ModelSet], ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def space(self) -> ModelSpace:
        """The space of all assignments to the switches."""
        return ModelSpace([*(switch for level in self.levels for switch in level.switches), STRONG])

    @cached_property
    def valid(self) -> ModelSet:
        """The set of the members."""
        return reduce(lambda found, more: found | more, (members for _, members in self._choices), self.space.none)

    @property
    def is_placed(self) -> bool:
        """Whether promises are made at levels of the execution hierarchy, so that the places of threads matter."""
        return any(level.promise is not None for level in self.levels)

    @cached_property
    def _choices(self) -> tuple[tuple[tuple[PromiseUnion, ...], ModelSet], ...]:
        """A union for each level, and the members that have it, in either reading."""
        readings = self.space.every
        if self.strong is not None:
            readings = self.space.variable(STRONG) if self.strong else ~self.space.variable(STRONG)
        return tuple(
            (chosen, reduce(lambda found, more: found & more, map(self.having, self.levels, chosen), readings))
            for chosen in product(*(level.unions for level in self.levels))
        )

    def having(self, level: FamilyLevel, union: PromiseUnion) -> ModelSet:
        """The assignments in which a level of the family has a union."""
        found = self.space.every
        for name in ELEMENTARY if level.switches else ():
            switch = self.space.variable(f"{name}{level.suffix}")
            found = found & switch if name in union.parts else found - switch
        return found

    def models(self, members: ModelSet) -> list[ProgressModel]:
        """The models of some members, in the order of their unions, outermost level first, weak before strong."""
        found = []
        for chosen, having in self._choices:
            for model in self._readings(chosen):
                switch = self.space.variable(STRONG)
                if having & members & (switch if model.strong else ~switch):
                    found.append(model)
        return found

    def _readings(self, chosen: Sequence[PromiseUnion]) -> tuple[ProgressModel, ProgressModel]:
        name = f" {AND} ".join(f"{union.name}{level.suffix}" for union, level in zip(chosen, self.levels, strict=True))
        if f"{name}-weak" in MODELS:
            return MODELS[f"{name}-weak"], MODELS[f"{name}-strong"]
        if not self.is_placed:
            return both_readings(name, chosen[0].guarantee)
        levels = tuple(self._promises(chosen))
        guarantee = levels[0].guarantee if len(levels) == 1 else nobody_alone
        weak, strong = both_readings(name, guarantee)
        return replace(weak, levels=levels), replace(strong, levels=levels)

    def _promises(self, chosen: Sequence[PromiseUnion]) -> Iterator[LevelPromise]:
        for union, level in zip(chosen, self.levels, strict=True):
            assert level.promise is not None
            yield LevelPromise(level.promise.level, union.guarantee)

    def member(self, name: str) -> ModelSet:
        """The member that a model is, by the model's name; empty where there is none."""
        for chosen, having in self._choices:
            for model in self._readings(chosen):
                if model.name == name:
                    switch = self.space.variable(STRONG)
                    return having & (switch if model.strong else ~switch)
        return self.space.none

    def may_hang_program(self, program: Program, places: Places = ()) -> ModelSet:
        """The members under which a program may hang, with its threads at these places, or else where it has them."""
        return self.may_hang(explore(program).successors, places or places_of(program))

    def may_hang(self, system: Rows, places: Places, chances: Rows = ()) -> ModelSet:
        """The members under which a transition system may hang, whose threads are at these places."""
        history = unfold(system, chances)
        views = sorted(
            {
                (history.running[node], history.stepped[node])
                for number in history.cyclic()
                for node in history.components[number]
            }
        )
        if not views:
            return self.space.none
        equal: dict[tuple[ThreadSets, ...], tuple[Promise, ModelSet]] = {}
        for promise, members in self._placed(places if self.is_placed else apart(len(places))):
            key = tuple(promised_sets(promise, *view) for view in views)
            first, others = equal.get(key, (promise, self.space.none))
            equal[key] = first, others | members
        weak, strong = self._hanging(history, views, equal)
        switch = self.space.variable(STRONG)
        return ((weak - switch) | (strong & switch)) & self.valid

    def _hanging(
        self,
        history: History,
        views: Sequence[tuple[int, int]],
        equal: Mapping[tuple[ThreadSets, ...], tuple[Promise, ModelSet]],
    ) -> tuple[ModelSet, ModelSet]:
        """Those of some members that let a run go round for ever, in the weak reading and in the strong one."""
        weak = strong = self.space.none
        alone = [(key, members) for key, (_, members) in equal.items() if _are_single(key)]
        masks = hangs(history, Panel([_of_table(dict(zip(views, map(sum, key), strict=True))) for key, _ in alone]))
        for number, (_, members) in enumerate(alone):
            weak = weak | members if masks[0] >> number & 1 else weak
            strong = strong | members if masks[1] >> number & 1 else strong
        for key, (promise, members) in equal.items():
            if not _are_single(key):
                assert isinstance(promise, PlacedPromise)
                model = ProgressModel("", nobody_alone, False, placed=promise)
                weak = weak | members if delegates_of_hang(history, model) else weak
                strong = strong | members if delegates_of_hang(history, replace(model, strong=True)) else strong
        return weak, strong

    def _placed(self, places: Places) -> Sequence[tuple[Promise, ModelSet]]:
        """The promises of all choices of unions to threads at these places, each with its members.

        Of few threads, promises that are equal wherever a thread that runs has started are one.
        """
        known = self._known.get(places)
        if known is None:
            every = range(1 << len(places)) if len(places) <= _FEW else ()
            situations = [(running, stepped) for running, stepped in product(every, every) if running & stepped]
            equal: dict[object, tuple[Promise, ModelSet]] = {}
            for chosen, members in self._choices:
                promise = (
                    PlacedPromise(tuple(self._promises(chosen)), places) if self.is_placed else chosen[0].guarantee
                )
                key = tuple(promised_sets(promise, *situation) for situation in situations) or chosen
                first, others = equal.get(key, (promise, self.space.none))
                equal[key] = first, others | members
            known = self._known[places] = tuple(equal.values())
        return known


def _are_single(views: Iterable[ThreadSets]) -> bool:
    """Whether every promise is to a thread by itself."""
    return all(mask & (mask - 1) == 0 for sets in views for mask in sets)


def _of_table(promised: Mapping[tuple[int, int], int]) -> Guarantee:
    return lambda running, stepped: promised.get((running, stepped), 0)


_PART = re.compile(rf"{UNKNOWN_PROMISE}(?:@([a-z-]+?))?(-weak|-strong)?")


def is_promise_family(name: str) -> bool:
    """Whether a name is meant for ``promise_family``."""
    return any(map(_PART.fullmatch, _parts(name)))


def promise_family(name: str) -> PromiseFamily:
    """The family of a name: ``progress``, ``progress-weak``, ``progress@workgroup & progress@subgroup``.

    Raises ``InputError`` where the name is of no family, or what is known of it names no promise or a file that cannot
    be loaded.
    """
    found = [_PART.fullmatch(part) for part in _parts(name)]
    if not any(found):
        raise InputError(f"expected {UNKNOWN_PROMISE} where a promise is not known, found {name!r}")
    # What is not known is read as fair, so that levels and readings are checked as those of models are.
    parts = [
        part if match is None else f"fair{part.removeprefix(UNKNOWN_PROMISE)}"
        for part, match in zip(_parts(name), found, strict=True)
    ]
    models = resolve_models([f" {AND} ".join(parts)])
    strong = models[0].strong if len(models) == 1 else None
    if not models[0].levels:
        return PromiseFamily(name, (FamilyLevel(None, UNIONS),), strong)
    unknown = {LEVEL_WORDS[match[1]] for match in found if match is not None}
    called = _parts(models[0].name.rpartition("-")[0])
    levels = (
        FamilyLevel(promise, UNIONS)
        if promise.level in unknown
        else FamilyLevel(promise, (PromiseUnion(match.rpartition("@")[0], (), promise.guarantee),))
        for promise, match in zip(models[0].levels, called, strict=True)
    )
    return PromiseFamily(name, tuple(levels), strong)


def _parts(name: str) -> list[str]:
    return [part.strip() for part in name.split(AND)]
