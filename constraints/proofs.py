"""Proofs in LRAT that clauses have no model: each line names the clauses from which its step follows.

CaDiCaL 1.9.5 writes them. PySAT hands out its older format alone, so the solver gets its format from its environment,
which it reads when it is made, and its file is read as it is. Steps on which the empty clause does not depend, which
are most of them, are left out, and clauses are numbered anew. Equal clauses give equal proofs.

Assumption: PySAT 1.8 and 1.9 keep the solver's file as ``prfile``; ``tests/unit/test_certificates.py`` fails where not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from typing import Any

_SETTINGS = {"CADICAL_LRAT": "1", "CADICAL_BINARY": "0"}


def prove_unsatisfiable(clauses: Sequence[Sequence[int]]) -> list[str]:
    """The lines of an LRAT proof that clauses have no model.

    Clauses are numbered from 1 in the order given; the numbers of clauses that the proof adds follow. Raises
    ``ValueError`` where the clauses have a model.
    """
    from pysat import solvers

    solvers.MainThread.check = staticmethod(lambda: False)  # as in ``constraints.solvers``
    with _environment(_SETTINGS):
        solver: Any = solvers.Cadical195(with_proof=True)
    try:
        solver.append_formula(clauses)
        if solver.solve():
            raise ValueError("the clauses have a model")
        solvers.pysolvers.flushpr(solver.prfp)
        solver.prfile.seek(0)
        return _needed(solver.prfile.read().decode("ascii").splitlines(), len(clauses))
    finally:
        solver.delete()


def _needed(lines: Sequence[str], clauses: int) -> list[str]:
    """The steps on which the empty clause depends, numbered from ``clauses`` + 1.

    The solver counts given clauses and steps together, in the order in which it comes to them.
    """
    steps: dict[int, tuple[str, list[int]]] = {}  # the clause that a step adds, as text, and the clauses that it names
    for line in lines:
        name, _, rest = line.partition(" ")
        if not rest.startswith("d"):
            added, _, hints = f" {rest}".partition(" 0 ")
            steps[int(name)] = added, list(map(int, hints.split()[:-1]))
            if not added:
                break
    needed = {int(name)}
    for step in reversed(steps):
        if step in needed:
            needed.update(steps[step][1])
    given = (number for number in count(1) if number not in steps)
    numbers = {number: rank for rank, number in enumerate(islice(given, clauses), 1)}
    proof = []
    for rank, step in enumerate((step for step in steps if step in needed), clauses + 1):
        literals, named = steps[step]
        numbers[step] = rank
        proof.append(" ".join([f"{rank}{literals} 0", *(str(numbers[hint]) for hint in named), "0"]))
    return proof


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
