"""The operational models against a transcription of their rules, against each other, and against interleaving."""

from dataclasses import replace
from itertools import count
from random import Random

import pytest
from litmus_code import CTA, GL, litmus_test, program, where
from litmus_random import PTX_2015, random_test
from litmus_small import operational_outcomes, small_tests
from reference_thesis import finals

from corpus.litmus.instructions import Assign, Branch, Fence, Label, Load, Store
from corpus.litmus.locations import Loc, Reg
from corpus.litmus.threads import unguarded
from oracle.executions.values import Address, calculate
from oracle.operational.explore import explore, witness

THESIS = replace(PTX_2015, name="thesis", rmws=(), rmw_scopes=())
"""What the models speak of, with all that registers may do: branches, loops, predicates, addresses."""

SHAPES = [(2, 2), (3, 2), (3, 3), (2, 2, 2), (1, 1, 2), (1, 2, 2), (1, 1, 1, 2), (4, 2), (3, 1, 1)]


def random_program(rng, lengths):
    """Loads, stores of distinct values and fences over three locations, in any placement; sometimes shared, sometimes
    with final memory. Of a fifth of the loads nobody uses the value."""
    values = count(1)
    threads = []
    for length in lengths:
        body = []
        for number in range(length):
            at = Loc(rng.choice("xyz"))
            choices = [Load(f"r{number}", at), Store(at, next(values)), rng.choice([CTA, GL])]
            body += rng.choices(choices, [3, 3, 2])
        threads.append(body)
    blocks = [rng.randrange(len(lengths)) for _ in lengths]
    shared = [at for at in "xyz" if rng.random() < 0.3] if len(set(blocks)) == 1 else []
    test = litmus_test(threads, blocks, shared, [at for at in "xyz" if rng.random() < 0.3])
    observed = tuple(term for term in test.condition.observed if isinstance(term, Loc) or rng.random() < 0.8)
    return replace(test, condition=replace(test.condition, observed=observed))


def test_all_tests_of_2x2_against_the_listed_rules():
    for test in small_tests(2, 2, memory=True):
        for strong in (False, True):
            assert explore(test, strong).finals == finals(test, strong), test.name


def test_random_programs_against_the_listed_rules():
    rng = Random(1)
    for _ in range(100):
        test = random_program(rng, rng.choice(SHAPES))
        for strong in (False, True):
            assert explore(test, strong).finals == finals(test, strong), test


@pytest.mark.slow
def test_the_strong_model_is_stronger_on_random_programs():
    rng = Random(2)
    weaker = 0
    for number in range(2000):
        test = random_program(rng, rng.choice([(2, 3, 3), (1, 1, 2, 2)] if number % 50 == 0 else SHAPES))
        strong, weak = operational_outcomes(test, True), operational_outcomes(test, False)
        assert strong <= weak, test
        weaker += strong != weak
    assert weaker > 100


def interleavings(test, terms, unroll):
    """The final values of ``terms`` under sequential consistency, by the same rules for registers and loops."""
    code = [unguarded(thread).instructions for thread in test.threads]
    labels = [{ins.name: at for at, ins in enumerate(body) if isinstance(ins, Label)} for body in code]
    start = (
        (0,) * len(code),
        tuple(
            tuple(sorted((name, value_of(given, {})) for name, given in thread.registers)) for thread in test.threads
        ),
        tuple((location.name, value_of(location.initial, {})) for location in test.locations),
        ((),) * len(code),
    )
    seen, todo, found = {start}, [start], set()
    while todo:
        counters, registers, memory, jumps = todo.pop()
        if all(at == len(body) for at, body in zip(counters, code, strict=True)):
            cells = dict(memory)
            found.add(
                tuple(
                    cells[term.name] if isinstance(term, Loc) else dict(registers[term.thread]).get(term.register, 0)
                    for term in terms
                )
            )
        for number, body in enumerate(code):
            if counters[number] == len(body):
                continue
            own, cells, taken = dict(registers[number]), dict(memory), jumps[number]
            at = step(body[counters[number]], counters[number], own, cells, labels[number])
            if at is not None and at <= counters[number]:
                taken = tuple(sorted((*taken, counters[number])))
            if at is None or taken.count(counters[number]) > unroll:
                continue
            after = (
                (*counters[:number], at, *counters[number + 1 :]),
                (*registers[:number], tuple(sorted(own.items())), *registers[number + 1 :]),
                tuple(cells.items()),
                (*jumps[:number], taken, *jumps[number + 1 :]),
            )
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return found


def value_of(operand, own):
    match operand:
        case Reg(name):
            return own.get(name, 0)
        case Loc(name):
            return Address(name)
    return operand


def step(ins, counter, own, cells, labels):
    """Where the thread goes after an instruction, which changes ``own`` registers and ``cells``; None where stuck."""
    match ins:
        case Load(target, address) | Store(address, target):
            at = value_of(address, own)
            if not isinstance(at, Address) or at.offset or at.location not in cells:
                return None
            if isinstance(ins, Load):
                own[target] = cells[at.location]
            else:
                cells[at.location] = value_of(target, own)
        case Assign(target, operation, values):
            known = [value_of(value, own) for value in values]
            result = known[0] if operation == "mov" else calculate(operation, *known)
            if result is None:
                return None
            own[target] = result
        case Branch(label, condition):
            jumps = condition is None or calculate(
                condition.operation, value_of(condition.left, own), value_of(condition.right, own)
            )
            if jumps is None:
                return None
            return labels[label] if jumps else counter + 1
        case Fence() | Label():
            pass
    return counter + 1


@pytest.mark.parametrize("unroll", [0, 1, 2])
def test_interleavings_strong_and_weak_with_all_that_registers_do(unroll):
    rng = Random(6 + unroll)
    branching = bounded = 0
    for _ in range(200):
        test = random_test(rng, THESIS)
        strong, weak = explore(test, True, unroll), explore(test, False, unroll)
        assert interleavings(test, strong.terms, unroll) <= strong.finals <= weak.finals, test
        branching += any(isinstance(ins, Branch) for thread in test.threads for ins in thread.instructions)
        bounded += strong.bounded
        assert weak.bounded or not strong.bounded
    assert branching > 30 and bounded > 0


def test_one_thread_alone_runs_in_order():
    rng = Random(5)
    for _ in range(300):
        test = random_test(rng, replace(THESIS, threads=1, instructions=8))
        strong, weak = explore(test, True), explore(test, False)
        assert strong.finals == weak.finals == interleavings(test, strong.terms, unroll=2), test


def test_where_the_strong_model_is_not_stronger():
    """P1 sees two values that its block has not shared with the device: in the weak model it can borrow only one."""
    test = program("st x 1; st x 2 | ld r1 x; ld r2 x; cta; st y 1 | ld r1 y; gl; ld r2 x", (0, 0, 1))
    outcome = where(P1_r1=1, P1_r2=2, P2_r1=1, P2_r2=0)
    assert witness(test, True, outcome) is not None
    assert witness(test, False, outcome) is None
    assert finals(test, True) - finals(test, False) == {(1, 2, 1, 0)}
