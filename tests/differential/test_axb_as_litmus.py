"""Litmus tests as transition systems: against AXB programs, single instructions, and the definitions of fairness."""

from dataclasses import replace
from random import Random

import pytest
from bruteforce import all_tests
from litmus_steps import rows
from reference_systems import by_name, may_hang

from corpus.dialects.registry import DIALECTS, parse_litmus, translate
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Fence, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Reg
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from corpus.progress.as_litmus import RELAXED, VULKAN_RELAXED, axb_test
from oracle.progress.explain import explain_system
from oracle.progress.litmus import explore_litmus
from oracle.progress.lts import explore
from oracle.progress.models import GUARANTEES, MODELS, ProgressModel, Verdict, system_verdicts, verdicts
from oracle.progress.system import Action

MODES = {"ptx": RELAXED, "gpu-ptx": RELAXED, "lisa": RELAXED, "vulkan": VULKAN_RELAXED, "opencl": RELAXED}
"""How accesses are done in the dialects that have words for jumps, in one of them for some."""


def litmus_verdicts(test):
    return system_verdicts(explore_litmus(test).successors)


# AXB programs


@pytest.mark.parametrize("bound", [(2, 3), (3, 3)], ids=str)
def test_a_program_and_its_litmus_form_have_the_same_transition_system(bound):
    for program in all_tests(*bound):
        assert explore_litmus(axb_test(program, "test")).successors == explore(program).successors


@pytest.mark.parametrize("name", MODES)
def test_so_it_has_in_every_dialect_that_says_it(name):
    said = 0
    for program in (*all_tests(2, 3)[::2], *all_tests(3, 3)):
        try:
            text = translate(axb_test(program, "test", MODES[name]), DIALECTS[name])
        except InputError:
            assert name == "opencl"  # it has if and while, and no goto
            continue
        said += 1
        assert explore_litmus(parse_litmus(text)).successors == explore(program).successors
    assert said > 50


def as_others_write_it(test):
    """The litmus form of a program with its threads in one work-group, and each ``goto`` to one that jumps back."""
    threads = []
    for thread in test.threads:
        jumps = [ins.label for ins in thread.instructions if isinstance(ins, Branch) and ins.condition is None]
        code = [
            Branch(f"LC9{ins.label[2:]}") if isinstance(ins, Branch) and ins.condition is None else ins
            for ins in thread.instructions
        ]
        code.append(Branch("LC8"))
        for label in dict.fromkeys(jumps):
            code += [Label(f"LC9{label[2:]}"), Branch(label)]
        threads.append(Thread((*code, Label("LC8")), Place()))
    return replace(test, threads=tuple(threads))


def test_jumps_to_jumps_and_threads_of_one_work_group_are_the_same_program():
    for program in (*all_tests(2, 3), *all_tests(3, 3)):
        test = as_others_write_it(axb_test(program, "test", VULKAN_RELAXED))
        read = parse_litmus(translate(test, DIALECTS["vulkan"]))
        assert explore_litmus(read).successors == explore(program).successors


@pytest.mark.slow
def test_all_of_2x4_and_a_sample_of_3x4():
    for program in (*all_tests(2, 4), *all_tests(3, 4)[::7]):
        assert litmus_verdicts(axb_test(program, "test")) == verdicts(program)


# Single instructions


def random_test(rng):
    """A test with loops, arithmetic and, one time in three, barriers; numbers stay small."""
    count = rng.choice([2, 2, 2, 3])
    barriers = rng.random() < 0.35
    places = [Place(cta=rng.choice([0, 0, tid])) for tid in range(count)]
    threads = tuple(Thread(random_code(rng, 4 if count == 2 else 3, barriers), place) for place in places)
    return LitmusTest(
        "test",
        threads,
        (Location("x"), Location("y")),
        Condition(Quantifier.EXISTS, And(())),
    )


def random_code(rng, length, barriers):
    """At most so many accesses, many of which a branch follows, with a label in front of each and one at the end."""
    count = rng.randint(1, length)
    labels = [f"LC{number}" for number in range(count + 1)]
    code = []
    for label in labels[:-1]:
        code += [Label(label), *random_instructions(rng, labels, barriers)]
    return (*code, Label(labels[-1]))


def random_instructions(rng, labels, barriers):
    register, location, value = rng.choice(["r0", "r1"]), Loc(rng.choice("xxy")), rng.randint(0, 1)
    operand = rng.choice([value, Reg(rng.choice(["r0", "r1"]))])
    branch = Branch(rng.choice(labels), Comparison(rng.choice(["eq", "ne", "lt"]), Reg(register), value))
    if barriers and rng.random() < 0.3:
        return [Barrier(rng.choice([1, 1, 2]), rng.random() < 0.2, quorum=rng.choice([None, None, 2]))]
    if rng.random() < 0.2:
        return [
            rng.choice(
                [
                    Assign(register, "xor", (Reg(register), value)),
                    Fence(Mode(Order.SC, Scope.GPU)),
                    branch,
                    Branch(rng.choice(labels)),
                ]
            )
        ]
    if rng.random() < 0.3:
        return [Store(location, operand)]
    read = rng.choice(
        [
            Load(register, location),
            Rmw("exch", register, location, (value,)),
            Rmw("cas", register, location, (value, operand)),
            Rmw("xor", rng.choice([None, register]), location, (1,)),
        ]
    )
    return [read, branch] if rng.random() < 0.8 else [read]


def test_random_tests_mean_what_their_single_instructions_mean():
    rng = Random(10)
    seen = set()
    for _ in range(1200):
        test = random_test(rng)
        single = rows(test)
        if single is None:
            continue
        system = explore_litmus(test)
        found = system_verdicts(system.successors)
        assert found == system_verdicts(single), test
        seen.add(tuple(found.values()))
    assert len(seen) >= 8


# The definitions of fairness, where threads wait


def random_rows(rng):
    """Rows in which any thread may have a step or none; the states that nobody can leave are ends."""
    threads, states = rng.randint(1, 3), rng.randint(1, 7)
    return [
        tuple(rng.choice([-1, rng.randrange(states), rng.randrange(states)]) for _ in range(threads))
        for _ in range(states)
    ]


def first_alone(running, stepped):
    """Thread 0, as long as it has a step."""
    return running & 1


PROMISES = {name: by_name(name) for name in GUARANTEES} | {"first": lambda running, stepped: running & {0}}
ALL_MODELS = {
    **MODELS,
    "first-weak": ProgressModel("first-weak", first_alone, False),
    "first-strong": ProgressModel("first-strong", first_alone, True),
}


class Bare:
    """A system of which nothing is known but its rows."""

    locations, ends, chances = (), (9, 9, 9), ()

    def __init__(self, found):
        self.successors = found
        self.memories = self.counters = [()] * len(found)

    def waiting(self, state):
        return 0

    def action(self, state, thread):
        return Action(0, "")


def test_random_systems_in_which_threads_wait():
    rng = Random(11)
    hangs = 0
    for _ in range(1500):
        found = random_rows(rng)
        said = system_verdicts(found, ALL_MODELS.values())
        for name, verdict in said.items():
            base, _, reading = name.rpartition("-")
            expected = may_hang(found, PROMISES[base], reading == "strong")
            assert (verdict is Verdict.MAY_HANG) == expected, (name, found)
            explanation = explain_system(Bare(found), ALL_MODELS[name])
            assert explanation.verdict is verdict, (name, found)
            if explanation.lasso:
                hangs += 1
                assert_kept(explanation)
    assert hangs > 1000


def assert_kept(explanation):
    """The cycle of a lasso closes, and keeps every promise."""
    graph, cycle = explanation.graph, explanation.lasso.cycle
    sources = [step.source for step in cycle]
    assert [step.target for step in cycle] == [*sources[1:], sources[0]]
    assert all(graph.successors[step.source][step.thread] == step.target for step in cycle)
    stepping = {step.thread for step in cycle}
    for tid in range(len(graph.successors[0])):
        owed = [node for node in sources if graph.promised[node] >> tid & 1]
        if explanation.model.strong:
            assert all((node, tid) in {(step.source, step.thread) for step in cycle} for node in owed)
        else:
            assert tid in stepping or len(owed) < len(sources)
