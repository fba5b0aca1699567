"""The judgement of a translation: the outcomes of the program after it are among those of the program before.

Each side is judged by the model of its own language. This is how Téléchat tests compilers of C11 for CPUs (Geeson and
Smith, "Compiler Testing with Relaxed Memory Models", CGO 2024, section 3); a mapping that is right for all programs is
another question (``synth.memory.translating``).

An outcome is the final values of the registers and locations that both sides observe. Before: message passing with
release and acquire has three outcomes. After: a compiler that loads with ``ld.relaxed`` adds ``r1 == 1, r2 == 0``.
The answer is WEAKER, with that outcome. A program that may do anything, as one with a data race in C11, permits any
translation: UNDEFINED. A translation that may do anything where the program may not is WEAKER as well.

Gaps: what never ends has no outcome, so a translation that hangs is STRONGER. Loops are followed so many jumps back.
Where this cuts the program before, an outcome that it lacks may come about beyond, and the answer is UNKNOWN. A value
out of thin air is any number that either side mentions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from corpus.errors import InputError
from corpus.litmus.condition import spell
from corpus.litmus.instructions import operands_of
from corpus.litmus.propositions import (
    And,
    Atom,
    Condition,
    Quantifier,
    Term,
    atoms_of,
    conjunction,
    disjunction,
    propositions,
)
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel, OperationalModel
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import Outcome, check_speaks
from oracle.executions.flow import asked_terms
from oracle.executions.judge import is_complete, is_quick_to_list, outcomes_and_flags
from oracle.executions.steps import TooManyError
from oracle.executions.threads import unroll_threads
from oracle.executions.values import value_text
from synth.requests import AUTO, ENUMERATE, SAT


class TranslationVerdict(StrEnum):
    """The verdict on a translation.

    SAME and STRONGER translations are right: they have the outcomes of the program, or some of them. WEAKER: an outcome
    that the program has not. UNDEFINED: the program may do anything. NOT_READ: a side could not be read, or its model
    does not speak of it. UNKNOWN: time or memory were not enough, or loops were cut.
    """

    SAME = "SAME"
    STRONGER = "STRONGER"
    WEAKER = "WEAKER"
    UNDEFINED = "UNDEFINED"
    NOT_READ = "NOT_READ"
    UNKNOWN = "UNKNOWN"


_ANYTHING = ("race", "divergence")
"""Parts of the names of flags that say that a program may do anything. Other flags say that a program is not one of the
model's language."""


@dataclass(frozen=True, slots=True)
class AllowedOutcomes:
    """What a model allows a program to do, as far as some terms tell it.

    ``flags`` are those that some allowed execution raises. ``cut``: loops were cut, and there may be other outcomes.
    """

    outcomes: frozenset[Outcome]
    flags: tuple[str, ...] = ()
    cut: bool = False

    @property
    def undefined(self) -> tuple[str, ...]:
        """The flags for which the program may do anything."""
        return tuple(flag for flag in self.flags if any(part in flag for part in _ANYTHING))

    @property
    def foreign(self) -> tuple[str, ...]:
        """The flags for which the model does not speak of the program."""
        return tuple(flag for flag in self.flags if flag not in self.undefined)


@dataclass(frozen=True, slots=True)
class JudgedTranslation:
    """The verdict on a translation, and what it is based on.

    ``terms`` are the registers and locations that both sides observe; ``before`` and ``after`` how many outcomes each
    side has. ``added`` are the outcomes of the translation that the program has not, ``lost`` those that only the
    program has, each sorted. ``provisional``: loops were cut, so that a right translation may be wrong beyond.
    ``reason`` says in one line why there is no verdict, or for what flags a side may do anything.
    """

    verdict: TranslationVerdict
    terms: tuple[Term, ...] = ()
    before: int | None = None
    after: int | None = None
    added: tuple[Outcome, ...] = ()
    lost: tuple[Outcome, ...] = ()
    provisional: bool = False
    reason: str = ""


def common_terms(
    before: LitmusTest, after: LitmusTest, names: Mapping[Term, Term] = MappingProxyType({})
) -> dict[Term, Term]:
    """Return the registers and locations that both sides observe, in the order of the program before, each with its
    name in the program after.

    ``names``: what terms of the program after are called in the program before, where that is something else. Raises
    ``InputError`` where there are none.
    """
    there = {names.get(term, term): term for term in asked_terms(after)}
    found = {term: there[term] for term in asked_terms(before) if term in there}
    if not found:
        seen = (", ".join(map(spell, asked_terms(test))) or "nothing" for test in (before, after))
        raise InputError(
            "both programs observe no register or location of one name: {} before, {} after".format(*seen), after.name
        )
    return found


def observing(test: LitmusTest, terms: Sequence[Term], numbers: Collection[int] = ()) -> LitmusTest:
    """Return a test that asks for the final values of some terms. It mentions some ``numbers``, too, for a value out of
    thin air is one that a program or its condition mentions.
    """
    mentioned = disjunction(Atom("eq", terms[0], number) for number in numbers) if numbers and terms else And(())
    return replace(test, condition=Condition(Quantifier.EXISTS, mentioned, observed=tuple(terms)))


def numbers_of(test: LitmusTest) -> frozenset[int]:
    """Return the numbers that a test mentions, in its code, its condition or its initial values."""
    code = (operand for ins in test.instructions for operand in operands_of(ins))
    began = (location.initial for location in test.locations)
    compared = (
        term
        for proposition in propositions(test.condition)
        for atom in atoms_of(proposition)
        for term in (atom.left, atom.right)
    )
    return frozenset(value for value in (*code, *began, *compared) if isinstance(value, int))


def allowed_outcomes(
    test: LitmusTest,
    terms: Sequence[Term],
    model: ConsistencyModel,
    method: str = AUTO,
    unroll: int = UNROLL,
    numbers: Collection[int] = (),
) -> AllowedOutcomes:
    """Return what a model allows a program to do, as far as these terms tell it.

    ``numbers``: values that the outcomes may have besides those that the program mentions, for values out of thin air.
    Raises ``InputError`` where the model does not speak of it, and ``TooManyError`` where it is too large.
    """
    observing_test = observing(test, terms, numbers)
    if isinstance(model, OperationalModel):
        explored = model.explore(observing_test, unroll)
        places = [explored.terms.index(term) for term in terms if not isinstance(term, int)]
        outcomes = frozenset(tuple((explored.terms[n], final[n]) for n in places) for final in explored.finals)
        return AllowedOutcomes(outcomes, (), explored.bounded)
    check_speaks(observing_test, model.model)
    if method == SAT or (method == AUTO and not is_quick_to_list(observing_test, model.model, unroll)):
        from constraints.outcomes import outcomes_by_sat

        found, flags = outcomes_by_sat(observing_test, model.model, unroll)
    else:
        found, flags = outcomes_and_flags(observing_test, model.model, unroll)
    return AllowedOutcomes(
        found, flags, not is_complete(observing_test, unroll_threads(observing_test, unroll), model.model)
    )


def compared_outcomes(
    before: AllowedOutcomes, after: AllowedOutcomes, terms: tuple[Term, ...] = ()
) -> JudgedTranslation:
    """Return the verdict on a translation, given what each side may do."""

    def judged(verdict: TranslationVerdict, reason: str = "", provisional: bool = False) -> JudgedTranslation:
        counts = (len(before.outcomes), len(after.outcomes))
        return JudgedTranslation(verdict, terms, *counts, added, lost, provisional, reason)

    added = tuple(sorted(after.outcomes - before.outcomes, key=outcome_text))
    lost = tuple(sorted(before.outcomes - after.outcomes, key=outcome_text))
    for side, found in (("before", before), ("after", after)):
        if found.foreign:
            return judged(TranslationVerdict.NOT_READ, f"{side}: {', '.join(found.foreign)}")
    if before.undefined:
        return judged(TranslationVerdict.UNDEFINED, ", ".join(before.undefined))
    if after.undefined:
        return judged(TranslationVerdict.WEAKER, ", ".join(after.undefined))
    if added and before.cut:
        return judged(TranslationVerdict.UNKNOWN, "loops of the program before were cut")
    if added:
        return judged(TranslationVerdict.WEAKER)
    verdict = TranslationVerdict.STRONGER if lost else TranslationVerdict.SAME
    return judged(verdict, provisional=before.cut or after.cut)


def judge_translation(
    before: LitmusTest,
    after: LitmusTest,
    models: tuple[ConsistencyModel, ConsistencyModel],
    method: str = AUTO,
    unroll: int = UNROLL,
    names: Mapping[Term, Term] = MappingProxyType({}),
) -> JudgedTranslation:
    """Return the verdict on a translation of one program, under the model of each side.

    ``names``: what terms of the program after are called in the program before, where that is something else. What a
    model cannot say anything of is NOT_READ, what is too large UNKNOWN. Raises ``InputError`` where the programs
    observe nothing in common.
    """
    common = common_terms(before, after, names)
    terms = tuple(common)
    numbers = sorted(numbers_of(before) | numbers_of(after))
    sides: list[AllowedOutcomes] = []
    terms_of_sides = (terms, tuple(common.values()))
    for side, test, own, model in zip(("before", "after"), (before, after), terms_of_sides, models, strict=True):
        try:
            sides.append(_called(allowed_outcomes(test, own, model, method, unroll, numbers), own, terms))
        except TooManyError as error:
            return JudgedTranslation(TranslationVerdict.UNKNOWN, terms, reason=f"{side}: {error.message}")
        except InputError as error:
            return JudgedTranslation(TranslationVerdict.NOT_READ, terms, reason=f"{side}: {error.message}")
    return compared_outcomes(sides[0], sides[1], terms)


def _called(found: AllowedOutcomes, own: Sequence[Term], terms: Sequence[Term]) -> AllowedOutcomes:
    """Return outcomes of terms of its own by the names of the program before."""
    called = dict(zip(own, terms, strict=True))
    outcomes = ({called[term]: value for term, value in outcome} for outcome in found.outcomes)
    return replace(found, outcomes=frozenset(tuple((term, outcome[term]) for term in terms) for outcome in outcomes))


def outcome_text(outcome: Outcome) -> str:
    """Return an outcome in one line: ``P1:r1=1 P1:r2=0``."""
    return " ".join(f"{spell(term)}={value_text(value)}" for term, value in outcome)


def asking_for(test: LitmusTest, outcome: Outcome) -> LitmusTest:
    """Return a test that asks whether an outcome of numbers comes about."""
    atoms = (Atom("eq", term, value) for term, value in outcome if isinstance(value, int))
    return replace(test, condition=Condition(Quantifier.EXISTS, conjunction(atoms)))


METHODS: Collection[str] = (AUTO, ENUMERATE, SAT)
"""The methods that find the outcomes of both sides."""
