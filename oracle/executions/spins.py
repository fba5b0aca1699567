"""Loops that wait: rounds that change nothing, and models that do not miss them.

A backward jump *spins* where every round that it ends, from its target to itself, can be left out of any execution:

- the target is passed before the jump on every way from the thread's beginning, so that each taking of the jump ends a
  round; what is inside that jumps back itself spins, too, and is left out first;
- a round has reads and fences alone, no write and no barrier. A compare-and-swap that goes round by failing has
  only read; a lock that is taken by ``exch`` writes, and does not spin in this sense;
- each register that a round changes is written again before it is read, by the code or by the condition.

Take an execution X, and X' without the events of such a round. The rest of the thread sees the same registers, with the
same sources, so it does the same. No read loses its source, for no write is gone; ``co``, final values and all values
read are as before; and so each base relation of X' is that of X, restricted to the events that are left: ``po``,
``loc``, ``rf``, ``co``, ``fr``, scopes, and ``addr``, ``data`` and ``ctrl``, for a dependency is on the read itself.
A total order that a model asks for stays one. Of ``sync_fence`` what went through an event that is gone may be lost
besides. So X' has the outcome of X,
and is allowed if X is, by every model that *forgets reads*:

- each check that is required is positive (``acyclic``, ``irreflexive``, ``empty``), of a relation that in X' is within
  what it is in X. Unions, intersections, products, compositions, closures and least fixpoints of such relations are
  such relations; so is ``a \\ b``, and ``~b``, where ``b`` in X' is *at least* its restriction, which base relations
  are, and what is made of such by union, intersection, inverse, product and identity, and by composition through a
  write, as ``rf^-1; co`` (but no other composition or closure, where the event in the middle may be what is gone);
- flags are of no concern, for nothing that is required hangs on them.

Leaving out rounds one by one makes every execution shorter, until no jump that spins is taken at all. So where the
jumps at which runs were cut all spin, and the model forgets reads, what was cut off has no outcome of its own; and
solvers, which do not count executions, take such jumps once at most (``oracle.executions.unrolled``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model, prelude
from oracle.cat.terms import Binding, Call, Check, Constant, Linearisation, Name, Operation, Term
from oracle.executions.events import Expression, Kind, Read
from oracle.executions.steps import Sources, State, Walker

_MOST_STEPS = 4096
"""Steps of all rounds of a jump together; one with more is not looked at further."""

_EXACT = frozenset({"union", "intersection", "inverse", "product", "identity", "optional"})
_FROM_WRITES = frozenset({"W", "IW", "rf", "co"})
_TO_WRITES = frozenset({"W", "IW", "co", "fr"})
"""Base sets of writes, and base relations from and to writes; of sets both say the same."""


@lru_cache(maxsize=64)
def spinning_jumps(test: LitmusTest, number: int) -> frozenset[int]:
    """The places of the backward jumps of a thread that spin."""
    found: set[int] = set()
    flow = Walker(test, number, 0).flow
    # Inner jumps come after the targets of outer ones, so that they are known when the outer ones are looked at.
    for jump in sorted(filter(flow.is_backward, range(flow.end)), key=lambda pc: (-flow.successors(pc)[-1], pc)):
        if _Round(test, number, jump).changes_nothing(found):
            found.add(jump)
    return frozenset(found)


class _Round(Walker):
    """Runs that start at the target of a jump with unknown registers, and stay where the jump can be reached."""

    def __init__(self, test: LitmusTest, number: int, jump: int) -> None:
        super().__init__(test, number, 0)
        self._jump_at = jump
        self._target = self.flow.successors(jump)[-1]
        self._ends: list[State] = []

    def stop(self, state: State) -> None:
        """A round is over, or one of an inner loop."""
        super().stop(state)
        if state.pc == self._jump_at:
            self._ends.append(state)

    def changes_nothing(self, spinning: set[int]) -> bool:
        """Whether every round can be left out, given inner jumps that are known to spin."""
        flow, target, jump = self.flow, self._target, self._jump_at
        if target != 0 and jump in flow.reached([0], avoiding=target):
            return False
        inside = {pc for pc in range(flow.end) if pc == jump or jump in flow.reached([pc], avoiding=target)}
        names = sorted(frozenset[str]().union(*flow.live))
        unknown = {name: _unknown(number) for number, name in enumerate(names)}
        waiting = [State(target, unknown)]
        steps = 0
        try:
            while waiting:
                steps += 1
                if steps > _MOST_STEPS:
                    return False
                waiting += [after for after in self.step(waiting.pop()) if after.pc in inside and after.pc != target]
        except InputError:  # what cannot be said of unknown registers
            return False
        inner = {pc for pc in self.cut - {jump} if flow.successors(pc)[-1] > target}
        return inner <= spinning and all(self._is_idle(end, unknown) for end in self._ends)

    def _is_idle(self, end: State, before: Mapping[str, tuple[Expression, Sources]]) -> bool:
        changed = {name for name, value in end.registers.items() if before.get(name) != value}
        only_reads = all(event.kind in (Kind.READ, Kind.FENCE) for event in end.events)
        return only_reads and not changed & self.flow.live[self._target]


def _unknown(number: int) -> tuple[Expression, Sources]:
    key = (-2, number)
    return Read(key), frozenset({key})


@dataclass(frozen=True, slots=True)
class _Change:
    """What becomes of a relation when a round is left out.

    ``within``: it is within what it was; ``kept``: of the events that are left it is at least what it was. ``starts``,
    ``ends``: it leads from writes alone, or to writes alone; of a set, both say that it has writes alone.
    """

    within: bool
    kept: bool
    starts: bool = False
    ends: bool = False


@lru_cache(maxsize=64)
def forgets_reads(model: Model) -> bool:
    """Whether the model allows an execution without the rounds that spin if it allows the one with them."""
    names: dict[str, _Change | _Function] = {}
    for statement in model.syntax.statements:
        if isinstance(statement, Check):
            if not statement.flag and (statement.negated or not _change(statement.body, names).within):
                return False
        elif isinstance(statement, Linearisation):
            names[statement.name] = _change(statement.events, names)
        elif statement.recursive:
            recursive = dict.fromkeys((binding.name for binding in statement.bindings), _Change(True, False))
            within = all(_change(binding.body, {**names, **recursive}).within for binding in statement.bindings)
            names |= dict.fromkeys(recursive, _Change(within, False))
        else:
            names |= {
                binding.name: _Function(binding, dict(names)) if binding.parameters else _change(binding.body, names)
                for binding in statement.bindings
            }
    return True


@dataclass(frozen=True, slots=True)
class _Function:
    binding: Binding
    names: Mapping[str, _Change | _Function]


def _change(term: Term, names: Mapping[str, _Change | _Function]) -> _Change:
    match term:
        case Name(name):
            known = names.get(name)
            if isinstance(known, _Change):
                return known
            line = prelude().get(name)
            if line is None or name == "fr":  # which leads through a write, and none is gone
                return _Change(True, name != "sync_fence", name in _FROM_WRITES, name in _TO_WRITES)
            return _change(line.body, {})
        case Constant():
            return _Change(True, True)
        case Call(name, arguments):
            given = [_change(argument, names) for argument in arguments]
            function = names.get(name)
            if function is None and name in prelude():
                function = _Function(prelude()[name], {})
            if isinstance(function, _Function):
                parameters = function.binding.parameters
                return _change(function.binding.body, {**function.names, **dict(zip(parameters, given, strict=True))})
            return _Change(all(one.within for one in given), False)
        case Operation(kind, operands):
            parts = [_change(operand, names) for operand in operands]
            if kind == "complement":
                return _Change(parts[0].kept, parts[0].within)
            if kind == "difference":
                left, right = parts
                return _Change(left.within and right.kept, left.kept and right.within, left.starts, left.ends)
            kept = all(one.kept for one in parts)
            if kind == "compose":
                kept = kept and all(one.ends or other.starts for one, other in pairwise(parts))
            elif kind not in _EXACT:
                kept = False
            return _Change(all(one.within for one in parts), kept, *_writes(kind, parts))


def _writes(kind: str, parts: Sequence[_Change]) -> tuple[bool, bool]:
    """Whether what is made of some parts leads from writes alone, and whether to writes alone."""
    first, last = parts[0], parts[-1]
    match kind:
        case "union":
            return all(one.starts for one in parts), all(one.ends for one in parts)
        case "intersection":
            return any(one.starts for one in parts), any(one.ends for one in parts)
        case "inverse":
            return first.ends, first.starts
        case "compose" | "product" | "identity":
            return first.starts, last.ends
    return False, False
