"""Minimum hitting sets, exact and canonical: the least set of elements that hits each given set a number of times.

Variables: ``x_e``, element ``e`` is chosen.
Constraints: of each set ``S``, at least ``min(times, |S|)`` elements are chosen; that is, at most ``|S| - min(times,
|S|)`` of the ``-x_e``, which is one native constraint of the solver, whatever ``times``.
Objective: each ``-x_e`` is a soft clause. The optimum is RC2's (Ignatiev, Morgado and Marques-Silva, JSAT 2019), as in
PySAT's own ``Hitman``, which this module extends to ``times > 1``.

Several sets may be optimal, and which of them a solver finds is not specified. So only the size is taken from RC2. The
elements are then decided one by one, from the least preferred on: an element is left out if an optimal set remains. The
answer depends on the given sets alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pysat.examples.rc2 import RC2
from pysat.formula import WCNFPlus
from pysat.solvers import Solver

_SOLVER = "minicard"  # takes cardinality constraints as they are


def least_hitting_set(sets: Iterable[Collection[int]], times: int = 1) -> list[int]:
    """The smallest set of elements, sorted, that holds ``times`` elements of each set, or all of a set that has fewer.

    Elements are positive, and smaller ones are preferred: of several smallest sets it is the one whose greatest element
    is least, then whose second greatest is least, and so on.
    """
    at_most = sorted({(tuple(-e for e in sorted(set(s))), max(0, len(set(s)) - times)) for s in sets if s})
    elements = sorted({-literal for literals, _ in at_most for literal in literals})
    formula = WCNFPlus()
    for literals, bound in at_most:
        formula.append([list(literals), bound], is_atmost=True)
    for element in elements:
        formula.append([-element], weight=1)
    with RC2(formula, solver=_SOLVER) as optimiser:
        chosen = _chosen(optimiser.compute())
    with Solver(_SOLVER) as solver:
        for literals, bound in [*at_most, (tuple(elements), len(chosen))]:
            solver.add_atmost(list(literals), bound)
        for element in reversed(elements):
            if element in chosen and solver.solve(assumptions=[-element]):
                chosen = _chosen(solver.get_model())
            solver.add_clause([element if element in chosen else -element])
    return sorted(chosen)


def _chosen(model: Iterable[int]) -> set[int]:
    return {literal for literal in model if literal > 0}
