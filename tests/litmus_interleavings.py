"""Sequential consistency by the book: all interleavings of a litmus test, an instruction at a time.

A reference for what tests mean that shares with the oracle only the arithmetic of values.
"""

from __future__ import annotations

from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Fence, Guard, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.propositions import FinalRegister, Term
from corpus.litmus.test import LitmusTest
from oracle.executions.values import Address, Value, calculate, holds


class TooManyStatesError(Exception):
    """A test that is too large, or that counts for ever."""


def verdicts(test: LitmusTest, most_states: int = 20_000, whole_threads: bool = False) -> frozenset[bool]:
    """The truth values that the proposition has in the final states that pass the filter. Fences and barriers do not
    matter. With ``whole_threads`` a thread begins where no other is half-way. Raises ``TooManyStatesError``."""
    memory = {place.name: _value(place.initial) for place in test.locations}
    registers = {
        (number, name): _value(initial)
        for number, thread in enumerate(test.threads)
        for name, initial in thread.registers
    }
    start = ((0,) * len(test.threads), tuple(sorted(registers.items())), tuple(sorted(memory.items())))
    seen, open_states = {start}, [start]
    found: set[bool] = set()
    while open_states:
        counters, registers_then, memory_then = open_states.pop()
        ended = True
        for number, thread in enumerate(test.threads):
            if counters[number] == len(thread.instructions):
                continue
            ended = False
            if whole_threads and any(
                0 < counter < len(other.instructions)
                for other, counter in zip(test.threads, counters, strict=True)
                if other is not thread
            ):
                continue
            registers, memory = dict(registers_then), dict(memory_then)
            following = _step(test, number, counters[number], registers, memory)
            if following is None:
                continue
            after = (*counters[:number], following, *counters[number + 1 :])
            state = (after, tuple(sorted(registers.items())), tuple(sorted(memory.items())))
            if state not in seen:
                seen.add(state)
                open_states.append(state)
        if len(seen) > most_states:
            raise TooManyStatesError
        if ended:
            final = _final(dict(registers_then), dict(memory_then))
            condition = test.condition
            if condition.filter is None or holds(condition.filter, final):
                found.add(holds(condition.proposition, final))
    return frozenset(found)


def _final(registers: dict[tuple[int, str], Value], memory: dict[str, Value]):
    def value(term: Term) -> Value:
        match term:
            case FinalRegister(thread, name):
                return registers.get((thread, name), 0)
            case Loc(name):
                return memory[name]
        return term

    return value


def _value(initial: int | Operand) -> Value:
    return Address(initial.name) if isinstance(initial, Loc) else initial


def _step(test, number, counter, registers, memory) -> int | None:
    """The next instruction's number; None where there is no next state, for a value has no meaning."""
    ins = test.threads[number].instructions[counter]

    def get(operand: Operand) -> Value:
        return registers.get((number, operand.name), 0) if isinstance(operand, Reg) else _value(operand)

    def put(target: str | None, value: Value) -> None:
        if target is not None:
            registers[(number, target)] = value

    def compare(comparison: Comparison) -> Value | None:
        return calculate(comparison.operation, get(comparison.left), get(comparison.right))

    if not isinstance(ins, Label) and ins.guard is not None:
        match ins.guard:
            case Guard(register, unless):
                if (get(Reg(register)) != 0) == unless:
                    return counter + 1
    if isinstance(ins, Load | Store | Rmw):
        address = get(ins.address)
        if not isinstance(address, Address) or address.location not in memory or address.offset:
            return None
        old = memory[address.location]
    match ins:
        case Label() | Fence() | Barrier():
            pass
        case Load(target):
            put(target, old)
        case Store(value=value):
            memory[address.location] = get(value)
        case Rmw("exch", target, _, (value,)):
            memory[address.location] = get(value)
            put(target, old)
        case Rmw("cas", target, _, (expected, value)):
            if get(expected) == old:
                memory[address.location] = get(value)
            put(target, old)
        case Rmw(operation, target, _, (value,)):
            new = calculate(operation, old, get(value))
            if new is None:
                return None
            memory[address.location] = new
            put(target, old)
        case Assign(target, "mov", (value,)):
            put(target, get(value))
        case Assign(target, operation, (left, right)):
            result = calculate(operation, get(left), get(right))
            if result is None:
                return None
            put(target, result)
        case Branch(label, condition):
            truth = 1 if condition is None else compare(condition)
            if truth is None:
                return None
            if truth:
                return test.threads[number].instructions.index(Label(label))
    return counter + 1
