"""Turns branches and labels into nested ``if`` and loops, for languages that have no goto.

The shapes that are known are those that compilers make of structured code: a branch to the end of an ``if`` (with an
``else`` where the code before that end leaves by a jump), a loop closed by a conditional branch, and a loop closed by a
jump, left at its top or never. Labels at one place are one label. What crosses the end of a block (``break`` and
``continue`` in the middle of a loop, branches that overlap) is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import NEGATED, Barrier, Branch, Comparison, Instruction, Label
from corpus.litmus.threads import Thread


def negated(comparison: Comparison) -> Comparison:
    """Return the comparison that holds where this one does not."""
    return Comparison(NEGATED[comparison.operation], comparison.left, comparison.right)


@dataclass(frozen=True, slots=True)
class If:
    """The statement ``if (condition) then else otherwise``; without a condition, ``then`` is never executed."""

    condition: Comparison | None
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] | None


@dataclass(frozen=True, slots=True)
class While:
    """The loop ``while (evaluated, condition) body``; without a condition, it never ends."""

    evaluated: tuple[Instruction, ...]
    condition: Comparison | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class DoWhile:
    """The loop ``do body while (condition)``, whose body is executed at least once."""

    body: tuple[Statement, ...]
    condition: Comparison


Statement = Instruction | If | While | DoWhile
"""An instruction that is a statement is no ``Label`` and no ``Branch``."""


def structured(number: int, thread: Thread) -> tuple[Statement, ...]:
    """Return the statements of thread ``number``, which has no predicates (``corpus.litmus.threads.branching``).

    Raises ``InputError`` that names a branch of another shape.
    """
    targets = {ins.label for ins in thread.instructions if isinstance(ins, Branch)}
    code: list[Instruction] = []
    places: dict[str, int] = {}
    for ins in thread.instructions:
        if isinstance(ins, Label):
            if ins.name not in targets:
                continue
            if code and isinstance(code[-1], Label):
                places[ins.name] = len(code) - 1
                continue
            places[ins.name] = len(code)
        code.append(ins)
    return _Structure(number, code, places).block(0, len(code))


class _Structure:
    def __init__(self, number: int, code: Sequence[Instruction], places: Mapping[str, int]) -> None:
        self._number = number
        self._code = code
        self._places = places  # of labels

    def block(self, start: int, end: int) -> tuple[Statement, ...]:
        """What stands from ``start`` to before ``end``; its branches may go to a label at ``end``."""
        statements: list[Statement] = []
        place = start
        while place < end:
            ins = self._code[place]
            back = [jump for jump in range(place + 1, end) if self._target(jump) == place]
            if isinstance(ins, Branch):
                statement, place = self._if(place, ins, end)
                statements.append(statement)
            elif back:
                loop, place = self._loop(place, back[-1], end)
                statements.append(loop)
            else:
                if not isinstance(ins, Label):
                    statements.append(ins)
                place += 1
        return tuple(statements)

    def _target(self, place: int) -> int | None:
        """Where the branch at a place goes, if one is there."""
        ins = self._code[place]
        return self._places[ins.label] if isinstance(ins, Branch) else None

    def _if(self, place: int, branch: Branch, end: int) -> tuple[If, int]:
        target = self._places[branch.label]
        if not place < target <= end:
            reason = "without goto, a branch can only go to the end of an if or of a loop"
            raise cannot_say(self._number, branch, reason)
        condition = None if branch.condition is None else negated(branch.condition)
        last, after = self._code[target - 1], self._target(target - 1)
        if target - 1 > place and isinstance(last, Branch) and last.condition is None:
            assert after is not None
            if target <= after <= end:
                return If(condition, self.block(place + 1, target - 1), self.block(target, after)), after
        return If(condition, self.block(place + 1, target), None), target

    def _loop(self, head: int, back: int, end: int) -> tuple[While | DoWhile, int]:
        closing = self._code[back]
        assert isinstance(closing, Branch)
        if closing.condition is not None:
            return DoWhile(self.block(head, back), closing.condition), back + 1
        first = next(
            place for place in range(head + 1, back + 1) if isinstance(self._code[place], Label | Branch | Barrier)
        )
        leaving = self._code[first]
        if isinstance(leaving, Branch) and leaving.condition is not None and self._target(first) == back + 1 <= end:
            evaluated = tuple(self._code[head + 1 : first])
            return While(evaluated, negated(leaving.condition), self.block(first + 1, back)), back + 1
        return While((), None, self.block(head, back)), back + 1
