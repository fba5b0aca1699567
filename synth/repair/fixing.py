"""The repair of a litmus test by the cheapest changes, or its weakening, with reasons.

A repair excludes executions: those with the outcome of the condition (of a ``forall``, those that violate it), or those
that raise a flag of the model's, as of a race. A test is weakened where it is right already; then each instruction has
its cost as it is written, and the cheapest program is found among all that do no more than the test does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from constraints.executions import judge_by_sat
from constraints.repairs import Cut, Repair, RepairableProgram, Requirement, cut_of, lowered, repairs
from corpus.errors import InputError
from corpus.executions.execution import OpKind
from corpus.litmus.instructions import Barrier, Fence, Instruction
from corpus.litmus.orders import Mode
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect
from oracle.cat.interpreter import Model
from oracle.consistency import OperationalModel, resolve_consistency_models
from synth.repair.costs import Costs
from synth.repair.sites import Direction, ModelVocabulary, SiteModes, Sites, done, in_common, sites_of, without_failure


@dataclass(frozen=True, slots=True)
class RepairQuestion:
    """The question of a repair: the executions to exclude under a model, by the outcome, by a flag, or neither."""

    model: Model
    unroll: int
    outcome: bool
    flags: bool


@dataclass(frozen=True, slots=True)
class RepairChange:
    """One change, or one instruction that stays as strong as it is, in words; ``cut`` says why it is needed.

    ``site`` is where it is, and ``mode`` what there is then; None: nothing.
    """

    text: str
    site: SiteModes
    mode: Mode | None
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Fixed:
    """Tests repaired, or weakened: the changes, and the instructions that are kept, in the order of the text.

    ``cost`` is what all that changed costs then, less what it cost before; for a weakened test it is below 0.
    ``caveats`` say what the answer rests on (``synth.repair.caveats``).
    """

    tests: tuple[LitmusTest, ...]
    cost: int
    changes: tuple[RepairChange, ...]
    kept: tuple[RepairChange, ...] = ()
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fixes:
    """The answer for some tests at once: the ``repairs``, cheapest first, of which there are none where nothing repairs
    the tests.

    ``complete``: a repair holds beyond the rounds of loops that were unrolled, too.
    """

    tests: tuple[LitmusTest, ...]
    repairs: tuple[Fixed, ...]
    complete: bool


def model_named(name: str, bell: str | None = None) -> Model:
    """Return the model of a .cat file, by its name, after a bell file if one is named.

    Raises ``InputError`` where there is no model of that name, or it is no .cat file.
    """
    (model,) = resolve_consistency_models([name], bell=bell)
    if isinstance(model, OperationalModel):
        raise InputError(f"{name} is a transition system, and repairs are made of the checks of a .cat file")
    return model.model


def flags_raised(test: LitmusTest, model: Model, unroll: int) -> tuple[str, ...]:
    """Return the flags that some allowed execution raises, as of a race."""
    return judge_by_sat(test, model, unroll).flags


class Fixing:
    """The search for repairs of a test, or of several tests of one program at once; it yields them, the cheapest first.

    ``allowed``: which of fences, orders, scopes and barriers may be changed. ``tied``: which sites change as one, where
    instructions of several threads stand in one line of a source; new barriers may then stand at the ends of threads as
    well. ``places`` are the sites of each test.
    """

    def __init__(
        self,
        tests: Sequence[LitmusTest],
        dialect: Dialect,
        question: RepairQuestion,
        costs: Costs,
        direction: Direction,
        allowed: Sequence[str],
        tied: Callable[[Sites], Sites] | None = None,
    ) -> None:
        """Find the sites of the tests, and prepare the search.

        Raises ``InputError`` where a model mentions what no program can show, or several tests have no place in common,
        and ``TooManyError`` where a test is too large; the search raises these, too.
        """
        self._dialect, self._direction = dialect, direction
        words = ModelVocabulary(question.model)
        every = [sites_of(test, dialect, words, costs.of, direction, ends=tied is not None) for test in tests]
        found = [_allowed(tied(sites) if tied else sites, allowed) for sites in every]
        self.places = found if len(tests) == 1 else in_common(found)
        self._ladders = self.places[0].ladders
        options = (question.unroll, question.outcome, question.flags)
        with ExitStack() as stack:
            self._programs = []
            for sites in self.places:
                program = RepairableProgram(sites.padded, question.model, sites.sites, self._ladders, *options)
                self._programs.append(program)
                stack.callback(program.close)
            self._stack = stack.pop_all()
        self.complete = all(program.complete for program in self._programs)

    def __enter__(self) -> Fixing:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __iter__(self) -> Iterator[Fixed]:
        required = [requirement for sites in self.places for requirement in sites.requirements]
        for repair in repairs(self._programs, self._ladders, required):
            yield _fixed(self.places, self._dialect, repair, self._direction, self._programs, required)


def _allowed(sites: Sites, allowed: Sequence[str]) -> Sites:
    """Return the sites with the levels that may be chosen, and the level that is there."""

    def may_be(written: Mode | None, mode: Mode | None, kind: OpKind) -> bool:
        if written is None or mode is None:
            return ("barriers" if kind is OpKind.BARRIER else "fences") in allowed
        scopes = written.scope is mode.scope or "scopes" in allowed
        return scopes and (replace(written, scope=None) == replace(mode, scope=None) or "orders" in allowed)

    kept = []
    for choice in sites.choices:
        written = sites.written(choice)
        levels = [k for k, mode in enumerate(choice.modes) if mode == written or may_be(written, mode, choice.kind)]
        if len(levels) > 1:
            kept.append(choice.only(levels))
    return replace(sites, choices=tuple(kept))


def _fixed(
    places: Sequence[Sites],
    dialect: Dialect,
    repair: Repair,
    direction: Direction,
    programs: Sequence[RepairableProgram],
    required: Sequence[Requirement],
) -> Fixed:
    """Return a repair with its changes, and why each change, or each instruction that is kept, is needed."""

    def cut(number: int, lower: Sequence[int]) -> Cut | None:
        """Return the execution that there would be with a site, and those tied to it, at the first possible of these
        levels.
        """
        ways = (lowered(repair.levels, number, level, required) for level in lower)
        weaker = next(filter(None, ways), None)
        if weaker is None:
            return None
        return next(filter(None, (cut_of(program, repair.levels, weaker) for program in programs)), None)

    changes, kept, cost = [], [], 0
    for number, level in enumerate(repair.levels):
        sites = next(place for place in places if place.choices[number].places)
        choice = sites.choices[number]
        old, new = _described(sites.test, dialect, choice, level)
        cost += choice.ladder.costs[level] - choice.ladder.costs[choice.modes.index(sites.written(choice))]
        step = f"{new} before {old}" if choice.in_gaps else f"{old} -> {new.partition(': ')[2] or new}"
        if direction is Direction.STRONGER:
            if level:
                changes.append(RepairChange(step, choice, choice.modes[level], cut(number, [0])))
            continue
        if new != old:
            changes.append(RepairChange(step, choice, choice.modes[level]))
        if level:
            kept.append(RepairChange(new, choice, choice.modes[level], cut(number, _below(choice, level))))
    return Fixed(tuple(sites.with_levels(repair.levels) for sites in places), cost, tuple(changes), tuple(kept))


def _described(test: LitmusTest, dialect: Dialect, choice: SiteModes, level: int) -> tuple[str, str]:
    """Return what stands at a site, or follows on a gap, and what stands there at a level."""
    mode = choice.modes[level]
    placed = [(place.thread, test.threads[place.thread].instructions[place.position]) for place in choice.places]

    def stated(instructions: Iterable[tuple[int, Instruction]]) -> str:
        return ", ".join(f"P{thread}: {dialect.statement(test, thread, ins)}" for thread, ins in instructions)

    old = stated(placed)
    if mode is None:
        return old, "removed"
    if choice.in_gaps:
        added = Fence(mode) if choice.kind is OpKind.FENCE else Barrier(0, mode=mode)
        return old, dialect.statement(test, placed[0][0], added)
    return old, stated((thread, without_failure(done(ins, mode))) for thread, ins in placed)


def _below(choice: SiteModes, level: int) -> list[int]:
    """Return the levels below a level, the strongest first."""
    above = choice.ladder.above
    below = [lower for lower in range(level) if level in above[lower]]
    return sorted(below, key=lambda lower: (-sum(lower in group for group in above), lower))
