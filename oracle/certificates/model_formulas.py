"""The certified formula of minimal tests: every minimal test of a model whose threads have given sizes satisfies it.

A test is a program with an outcome (docs/suites.md): the model forbids each execution that has the outcome, and allows
one, or raises a flag, of what each single relaxation leaves. The formula consists of

- what holds of every program (``oracle.certificates.programs``);
- that the model forbids, and does not flag, two executions with the outcome: one choice, and that choice reversed;
- that after each relaxation that applies (``oracle.certificates.weakened``) the model allows or flags an execution of
  what is left, by a choice of its own; a read whose write is gone may read anything.

So every test satisfies it. Coherence and fence order may be chosen as they are in any execution, and the rest are gates
and variables of cycles (``oracle.certificates.writing``). A program that satisfies the formula and is no test has
another execution with its outcome that the model allows. Such programs are shown to be no tests one by one (*allowed*
in ``oracle.certificates.executions``).

Gap: outcomes, not executions, are what is forbidden (``--criterion outcome``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from corpus.executions.vocabulary import Vocabulary
from oracle.cat.interpreter import Model
from oracle.certificates.clauses import CertifiedFormula
from oracle.certificates.programs import CertifiedProgram, Programs
from oracle.certificates.seen import ModelView, choose, reversed_coherence
from oracle.certificates.weakened import weakened
from oracle.certificates.writing import Writer, WrittenLiteral
from oracle.executions.events import EventKind


def splits(events: int, threads: tuple[int, int] | None) -> Iterator[tuple[int, ...]]:
    """The ways to split a number of events into threads, threads of more events first; ``threads``: how many at
    least and at most."""

    def parts(left: int, most: int) -> Iterator[tuple[int, ...]]:
        for first in range(min(left, most), 0, -1):
            yield from ((first, *rest) for rest in parts(left - first, first))
        if left == 0:
            yield ()

    least, most = threads or (1, events)
    return (sizes for sizes in parts(events, events) if least <= len(sizes) <= most)


def write_formula(model: Model, words: Vocabulary, sizes: Sequence[int]) -> CertifiedFormula:
    """The formula of the tests whose threads have these numbers of events.

    Raises ``TooManyError`` where it is too large.
    """
    writer = Writer()
    program = Programs(writer, words, sizes).program
    choice = choose(program, "whole", partial=False)
    for order in (choice, reversed_coherence(program, choice)):
        _forbidden(ModelView(program, order, model, fails=True))
    for left in weakened(program):
        _allowed(left.program, left.name, left.applies, model)
    return writer.formula


def _forbidden(seen: ModelView) -> None:
    """Requires that a check fails, and no flag is raised."""
    require, results = seen.program.writer.require, seen.model.judge(seen)
    require(*(~result.truth for result in results if not result.check.flag))
    for result in results:
        if result.check.flag:
            require(~result.truth)


def _allowed(program: CertifiedProgram, name: str, applies: WrittenLiteral, model: Model) -> None:
    """Requires that some execution passes every check, or is flagged, where a relaxation applies."""
    results = model.judge(
        ModelView(_with_orphans(program, name), choose(program, name, model.partial_co), model, False)
    )
    flags = [result.truth for result in results if result.check.flag]
    for result in results:
        if not result.check.flag:
            program.writer.require(~applies, result.truth, *flags)


def _with_orphans(program: CertifiedProgram, name: str) -> CertifiedProgram:
    """The program where a read whose write is gone reads any write to its location, or the initial value.

    Variables: ``orphan NAME w r``, ``orphan NAME r``.
    """
    writer = program.writer
    rf, init = dict(program.rf), list(program.init)
    for r in program.events:
        lost = (source & ~program.happens[w] for w in program.events if w != r for source in [program.rf[w, r]])
        orphan = writer.any_of(lost) & program.happens[r]
        if not orphan:
            continue
        anew = {}
        for w in program.events:
            there = program.of(w, EventKind.WRITE) & program.happens[w] & program.related(program.loc, w, r)
            if w != r and there:
                anew[w] = writer.variable("orphan", name, w, r)
                writer.require(~anew[w], there)
        first = writer.variable("orphan", name, r)
        writer.one_of([first, *anew.values()], orphan)
        for w, literal in anew.items():
            rf[w, r] = rf[w, r] | (literal & orphan)
        init[r] = init[r] | (first & orphan)
    return replace(program, rf=rf, init=init)
