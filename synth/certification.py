"""Certificates of a suite: for each unit, its clauses and a proof that no test is left. They serve both families of
tests.

A certificate is made when a search is over. So a suite that is not certified costs no more, and a search that was
stopped and resumed is certified as any other. ``synth.progress.certification`` and ``synth.memory.certification`` say
what a unit adds to the formula of its shape; this module makes files of it (``corpus.certificates``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TypeVar

from constraints.proofs import prove_unsatisfiable
from corpus.certificates import FOLDER, formula_file, packed, remove_certificate, unit_files
from corpus.files import inner_folder, write_atomically
from oracle.certificates.clauses import CertifiedFormula, clause_line
from synth.pool import Jobs, run_tasks

Unit = TypeVar("Unit")

Made = tuple[str, bytes]
"""The name of a file of a certificate, and its content."""

Group = tuple[str, Sequence[Sequence[int]]]
"""Clauses, and the comment that says where they come from."""


def write_certificate(
    corpus: Path,
    planned: Sequence[Unit],
    work: Callable[[Unit], Iterator[list[Made]]],
    formulas: Iterable[tuple[str, Iterable[str]]],
    jobs: Jobs,
    watch: Callable[[int, int], None],
) -> None:
    """Write the files of all units, and the formulas of all shapes, into the folder of a corpus.

    ``work`` gives the files of a unit, ``formulas`` the lines of each shape's; ``watch`` is told how many units are
    certified, of how many. Raises ``InputError`` where a file cannot be written; then no part of it is left.
    """
    folder = inner_folder(corpus, FOLDER)
    done = 0
    try:
        with closing(run_tasks(planned, work, jobs)) as results:
            for result in results:
                if result is not None:
                    for name, data in result[1]:
                        write_atomically(folder / name, [data])
                    done += 1
                watch(done, len(planned))
        for shape, lines in formulas:
            write_atomically(folder / formula_file(shape), packed(lines))
    except BaseException:
        remove_certificate(corpus)
        raise


def unit_made(shape: str, number: int, formula: CertifiedFormula, own: Sequence[Group]) -> list[Made]:
    """Return the files of a unit that adds these groups of clauses to the formula of its shape: its clauses and its
    proof.

    Raises ``ValueError`` where all clauses together have a model.
    """
    clauses: list[Sequence[int]] = [*chain.from_iterable(group for _, group in own), *formula.clauses]
    proof = prove_unsatisfiable(clauses)
    names = unit_files(shape, number)
    return [
        (names[0], b"".join(packed(_own_lines(len(formula.variables), len(clauses), own)))),
        (names[1], b"".join(packed(proof))),
    ]


def _own_lines(variables: int, clauses: int, own: Iterable[Group]) -> Iterator[str]:
    yield f"p cnf {variables} {clauses}"
    for comment, group in own:
        yield f"c {comment}".rstrip()
        yield from map(clause_line, group)
