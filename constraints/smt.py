"""Verdicts by SMT: the clauses of ``constraints.executions``, with bit vectors of z3 for values.

A value is a number of 32 bits, or of 64 where the test has an mbarrier, and its kind: kind 0 is a plain number, kind k
an offset from the address of the k-th location. A third part says whether the value has a meaning at all
(``oracle.executions.values``). So the domains of reads need not be known, and z3 does the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from constraints.circuit import Literal
from constraints.executions import Executions
from constraints.formula import Clause
from constraints.solvers import Z3, Solver
from corpus.litmus.instructions import is_asynchronous
from corpus.litmus.locations import Loc
from corpus.litmus.orders import MBARRIER
from corpus.litmus.propositions import And, Atom, FinalRegister, Not, Or, Proposition, Term
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.executions.bounds import UNROLL
from oracle.executions.events import Apply, EventKind, Expression, Read
from oracle.executions.judge import Judgement, answered
from oracle.executions.steps import Key
from oracle.executions.values import Address, Value

WIDTH = 32
"""The bits of a number in a test without mbarriers."""


@dataclass(frozen=True, slots=True)
class _Value:
    """Three z3 terms: a number, its kind, and whether both mean anything."""

    number: Any
    kind: Any
    meaningful: Any


class _Values:
    def __init__(self, executions: Executions) -> None:
        import z3

        self._z3: Any = z3
        self._executions = executions
        threads = executions.test.threads
        has_mbarriers = any(is_asynchronous(ins) for thread in threads for ins in thread.instructions)
        self._bits = 64 if has_mbarriers else WIDTH
        self._kinds = {location.name: kind for kind, location in enumerate(executions.test.locations, start=1)}
        self._reads: dict[Key, _Value] = {
            event.key: _Value(z3.BitVec(f"n{index}", self._bits), z3.BitVec(f"k{index}", 16), z3.BoolVal(True))
            for index, event in enumerate(executions.events)
            if event.kind is EventKind.READ
        }
        runs = executions.runs
        for thread, taken in zip(runs.threads, runs.taken, strict=True):
            for merge in thread.merges:
                self._reads[merge.key] = self._one_of([(value, taken[step]) for step, value, _ in merge.options])

    def literal(self, literal: Literal) -> Any:
        """The z3 term of a literal, whose meaning is in the clauses from now on."""
        self._executions.circuit.assumptions([literal, ~literal])
        atom = self._z3.Bool(f"v{abs(literal.number)}")
        return atom if literal.number > 0 else self._z3.Not(atom)

    def found(self, key: Key, model: Any) -> Value:
        """The value of a read in a model of z3's."""
        read = self._reads[key]
        kind = model.eval(read.kind, model_completion=True).as_long()
        number = model.eval(read.number, model_completion=True).as_signed_long()
        return Address(self._executions.test.locations[kind - 1].name, number) if kind else int(number)

    def constraints(self) -> list[Any]:
        """The z3 terms that must hold of values: what reads read, and what comparisons mean."""
        z3, executions = self._z3, self._executions
        terms = []
        for write, row in enumerate(executions.rf):
            for read, truth in row.items():
                written = self._value(executions.events[write].value)
                reads = self._reads[executions.events[read].key]
                terms.append(z3.Implies(self.literal(truth), self._compared("eq", written, reads)))
        for thread, taken in zip(executions.runs.threads, executions.runs.taken, strict=True):
            for step, truth in zip(thread.steps, taken, strict=True):
                for held in step.constraints:
                    comparison = self._compared(held.operation, self._value(held.left), self._value(held.right))
                    terms.append(z3.Implies(self.literal(truth), comparison))
        for held, truth in executions.comparisons.items():
            terms.append(
                self.literal(truth) == self._compared(held.operation, self._value(held.left), self._value(held.right))
            )
        return terms

    def satisfied(self, proposition: Proposition) -> Any:
        """The z3 term that the final state satisfies a proposition."""
        match proposition:
            case Atom(operation, left, right):
                return self._compared(operation, self._final(left), self._final(right))
            case Not(body):
                return self._z3.Not(self.satisfied(body))
            case And(parts):
                return self._z3.And([self.satisfied(part) for part in parts])
            case Or(parts):
                return self._z3.Or([self.satisfied(part) for part in parts])

    def _final(self, term: Term) -> _Value:
        executions = self._executions
        match term:
            case FinalRegister(number, register):
                return self._value(executions.runs.threads[number].registers.get(register, 0))
            case Loc():
                ways = [(executions.events[write].value, last) for write, last in executions.last_writes(term)]
                return self._one_of(ways)
            case _:
                return self._value(term)

    def _one_of(self, ways: Sequence[tuple[Expression, Literal]]) -> _Value:
        """The values of expressions, each where its literal holds; nothing that means anything where none does."""
        nothing = self._value(0)
        result = _Value(nothing.number, nothing.kind, self._z3.BoolVal(False))
        for expression, truth in ways:
            result = self._either(self.literal(truth), self._value(expression), result)
        return result

    def _either(self, condition: Any, then: _Value, otherwise: _Value) -> _Value:
        choose = self._z3.If
        return _Value(
            choose(condition, then.number, otherwise.number),
            choose(condition, then.kind, otherwise.kind),
            choose(condition, then.meaningful, otherwise.meaningful),
        )

    def _value(self, expression: Expression) -> _Value:
        z3 = self._z3
        match expression:
            case Read(key):
                return self._reads[key]
            case Apply(operation, left, right):
                return self._applied(operation, self._value(left), self._value(right))
            case Address(location, offset):
                kind = z3.BitVecVal(self._kinds[location], 16)
                return _Value(z3.BitVecVal(offset, self._bits), kind, z3.BoolVal(True))
            case _:
                return _Value(z3.BitVecVal(expression, self._bits), z3.BitVecVal(0, 16), z3.BoolVal(True))

    def _applied(self, operation: str, left: _Value, right: _Value) -> _Value:
        z3 = self._z3
        both = z3.And(left.meaningful, right.meaningful)
        plain = z3.And(left.kind == 0, right.kind == 0)
        zero, one = z3.BitVecVal(0, self._bits), z3.BitVecVal(1, self._bits)
        if operation in _COMPARISONS:
            truth = self._compared(operation, left, right)
            meaningful = both if operation in ("eq", "ne") else z3.And(both, plain)
            return _Value(z3.If(truth, one, zero), z3.BitVecVal(0, 16), meaningful)
        number = self._number(operation, left.number, right.number)
        if operation == "add":
            return _Value(number, left.kind + right.kind, z3.And(both, z3.Or(left.kind == 0, right.kind == 0)))
        if operation == "sub":
            return _Value(number, left.kind, z3.And(both, right.kind == 0))
        return _Value(number, z3.BitVecVal(0, 16), z3.And(both, plain))

    def _number(self, operation: str, left: Any, right: Any) -> Any:
        """The number that an operation gives: of 32 bits with their sign, but for those of an mbarrier."""
        if operation.startswith(f"{MBARRIER}."):
            return self._of_mbarrier(operation.partition(".")[2], left, right)
        z3 = self._z3
        if self._bits == WIDTH:
            return self._narrow(operation, left, right)
        low = [z3.Extract(WIDTH - 1, 0, number) for number in (left, right)]
        return z3.SignExt(self._bits - WIDTH, self._narrow(operation, *low))

    def _of_mbarrier(self, operation: str, bits: Any, number: Any) -> Any:
        """What an operation makes of an mbarrier, or tells of it (``corpus.litmus.mbarrier``)."""
        z3 = self._z3
        phase, tx, expected, pending = (z3.Extract(*field, bits) for field in ((63, 61), (60, 40), (39, 20), (19, 0)))
        if operation in ("pending_count", "phase", "parity"):
            computed = {
                "pending_count": lambda: z3.ZeroExt(44, pending),
                "phase": lambda: z3.If(phase != z3.Extract(63, 61, number), z3.BitVecVal(1, 64), z3.BitVecVal(0, 64)),
                "parity": lambda: z3.If(
                    z3.ZeroExt(63, z3.Extract(0, 0, phase)) != number, z3.BitVecVal(1, 64), z3.BitVecVal(0, 64)
                ),
            }
            return computed[operation]()

        def less(count: Any, by: Any) -> Any:
            return z3.If(z3.ULT(count, by), z3.BitVecVal(0, 20), count - by)

        count, bytes_ = z3.Extract(19, 0, number), z3.Extract(20, 0, number)
        counts = z3.BitVecVal(1, 20) if operation in ("arrive_expect", "drop_expect") else count
        if operation in ("arrive_drop", "drop_expect"):
            expected = less(expected, counts)
        if operation in ("arrive", "arrive_drop", "arrive_expect", "drop_expect"):
            pending = less(pending, counts)
        if operation == "increment":
            pending = pending + count
        if operation in ("expect_tx", "arrive_expect", "drop_expect"):
            tx = tx + bytes_
        if operation == "complete_tx":
            tx = tx - bytes_
        return z3.If(
            z3.And(pending == 0, tx == 0),
            z3.Concat(phase + 1, z3.BitVecVal(0, 21), expected, expected),
            z3.Concat(phase, tx, expected, pending),
        )

    def _narrow(self, operation: str, left: Any, right: Any) -> Any:
        choose = self._z3.If
        operations: dict[str, Callable[[], Any]] = {
            "add": lambda: left + right,
            "sub": lambda: left - right,
            "mul": lambda: left * right,
            "div": lambda: choose(right == 0, self._z3.BitVecVal(0, WIDTH), left / right),
            "and": lambda: left & right,
            "or": lambda: left | right,
            "xor": lambda: left ^ right,
            "min": lambda: choose(left <= right, left, right),
            "max": lambda: choose(left >= right, left, right),
        }
        return operations[operation]()

    def _compared(self, operation: str, left: _Value, right: _Value) -> Any:
        z3 = self._z3
        meaningful = z3.And(left.meaningful, right.meaningful)
        same = z3.And(left.kind == right.kind, left.number == right.number)
        if operation in ("eq", "ne"):
            return z3.And(meaningful, same if operation == "eq" else z3.Not(same))
        truth = _COMPARISONS[operation](left.number, right.number)
        return z3.And(meaningful, left.kind == 0, right.kind == 0, truth)


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda left, right: left == right,
    "ne": lambda left, right: left != right,
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "gt": lambda left, right: left > right,
    "ge": lambda left, right: left >= right,
}


class BitVectors:
    """Values as bit vectors for a search that goes on: comparisons are literals, and a solver is opened that knows
    what they mean."""

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        self._values = _Values(executions)
        self._solver: _Solver | None = None

    def compared(self, operation: str, left: Expression, right: Expression) -> Literal:
        """The literal that a comparison of two expressions holds."""
        return self._executions.compared(operation, left, right)

    def open(self) -> Solver:
        """A z3 solver that knows what all comparisons so far say of values, but none of the clauses."""
        self._solver = _Solver(self._values)
        return self._solver

    def read(self, key: Key) -> Mapping[Value, Literal]:
        """The value of a read in the model that the solver opened last has found."""
        assert self._solver is not None
        return {self._values.found(key, self._solver.found): self._executions.circuit.true}


class _Solver(Z3):
    """z3 with bit vectors, which knows what comparisons say of values."""

    def __init__(self, values: _Values) -> None:
        super().__init__(0, "QF_BV")
        self._solver.add(values.constraints())

    @property
    def found(self) -> Any:
        """The model of the formula that z3 found in its last call."""
        return self._solver.model()

    def add(self, clauses: Iterable[Sequence[int]]) -> None:
        """Adds clauses, as text where none have been added yet: a text declares its constants, which can be done
        once."""
        if self._names:
            super().add(clauses)
            return
        given = [list(clause) for clause in clauses]
        most = max((abs(literal) for clause in given for literal in clause), default=0)
        self._solver.from_string(_smtlib(most, given))
        if most:
            self._literal(most)


def judge_by_smt(test: LitmusTest, model: Model, unroll: int = UNROLL) -> Judgement:
    """The judgement of a model on a litmus test, by z3, without counts of executions.

    Raises ``InputError`` where an address is no location of the test, or the model says nothing of the test, and
    ``TooManyError`` where there are too many clauses.
    """
    import z3

    executions = Executions(test, model, unroll)
    values = _Values(executions)
    condition = test.condition
    passes = z3.BoolVal(True) if condition.filter is None else values.satisfied(condition.filter)
    holds = values.satisfied(condition.proposition)
    flags = [z3.And(passes, values.literal(literal)) for literal in executions.flags.values()]
    solver: Any = z3.SolverFor("QF_BV")
    solver.set("ctrl_c", False)  # Python answers Ctrl-C
    meaning = values.constraints()
    solver.from_string(
        _smtlib(executions.circuit.formula.variables, executions.circuit.formula.clauses)
    )  # adding one term at a time would take ten times as long
    solver.add(meaning)
    answers = []
    for question in (z3.And(passes, holds), z3.And(passes, z3.Not(holds)), *flags):
        solver.push()
        solver.add(question)
        answer = solver.check()
        if answer == z3.unknown:
            raise RuntimeError(f"z3 gave up: {solver.reason_unknown()}")
        answers.append(answer == z3.sat)
        solver.pop()
    satisfied, violated, *raised = answers
    names = [name for name, flagged in zip(executions.flags, raised, strict=True) if flagged]
    bounded, complete = executions.bounded, executions.complete
    return answered(condition, satisfied, violated, flags=names, bounded=bounded, complete=complete)


def _smtlib(variables: int, clauses: Sequence[Clause]) -> str:
    """Clauses as SMT-LIB text over the constants ``v1``, ``v2``, .."""
    names = [f"v{number}" for number in range(variables + 1)]
    lines = [f"(declare-const {name} Bool)" for name in names[1:]]
    for clause in clauses:
        literals = " ".join(names[literal] if literal > 0 else f"(not {names[-literal]})" for literal in clause)
        lines.append(f"(assert (or false {literals}))")
    return "\n".join(lines)
