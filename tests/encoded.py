"""The encoder and a solver without the pipeline around them: all programs of a bound, or one program at a time."""

from __future__ import annotations

from functools import cache

from pysat.solvers import Solver

from constraints.loop import solutions
from constraints.progress import ProgramShape, ProgressEncoding, Solution
from corpus.progress.axb import Program
from synth.progress.synthesis import partitions


def shapes(threads: int, instrs: int, locs: int = 2, values: int = 2) -> list[ProgramShape]:
    """The shapes of a bound: ascending lengths of threads."""
    return [ProgramShape(lengths, min(locs, instrs), values) for lengths in partitions(threads, instrs)]


@cache
def solved(shape: ProgramShape, solver: str = "minisat22") -> list[Program]:
    """All programs of a shape and their images under permutation of threads, in the order they are found."""
    found = solutions(ProgressEncoding(shape), solver)
    return [image for solution in found for image, _ in solution.images]


class Asked:
    """A formula that can be asked about single programs: no enumeration, no blocking, only assumptions."""

    def __init__(self, shape: ProgramShape, encoding: type[ProgressEncoding] = ProgressEncoding) -> None:
        self.encoding = encoding(shape)
        self._solver = Solver("minisat22", bootstrap_with=self.encoding.formula.clauses)

    def has(self, program: Program) -> bool:
        """Whether some model, refined until it does not cheat, is this program."""
        while self._solver.solve(assumptions=self.encoding.literals(program)):
            model = self._solver.get_model()
            assert self.encoding.decode(model).program == program
            learned = self.encoding.refine(model, Solution(program))
            if not learned:
                return True
            assert all(model_falsifies(model, clause) for clause in learned)
            self._solver.append_formula(learned)
        return False


def model_falsifies(model: list[int], clause: list[int]) -> bool:
    return all(model[abs(literal) - 1] == -literal for literal in clause)
