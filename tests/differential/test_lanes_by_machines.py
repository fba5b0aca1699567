"""Steppings of lanes against machines that run one instruction at a time, on random programs of two or three lanes."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from simt_machine import (
    Stacks,
    Threads,
    as_test,
    compiled,
    crossing_programs,
    guarantees,
    locking_programs,
    machine_verdicts,
    random_program,
)

from corpus.dialects.registry import read_litmus
from corpus.litmus.instructions import GroupOperation
from oracle.exploration import NoVerdictError
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import STEPPINGS, Verdict, system_verdicts
from oracle.progress.plugins import resolve_models
from oracle.progress.stepping import explain_stepping, stepping_verdicts

MACHINES = {
    "independent": lambda code, subgroups: Threads(code, subgroups, False),
    "maximal": lambda code, subgroups: Threads(code, subgroups, True),
    "lockstep": Stacks,
    "lockstep.taken": lambda code, subgroups: Stacks(code, subgroups, 0),
    "lockstep.fallthrough": lambda code, subgroups: Stacks(code, subgroups, 1),
}
EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = tuple(guarantees(min))
MODELS = {stepping: resolve_models([f"{name} & {stepping}" for name in NAMES], lanes=True) for stepping in STEPPINGS}


def programs(seeds):
    """Random programs of 2 to 12 instructions, with the subgroup of each thread."""
    for seed in seeds:
        rng = Random(seed)
        code = compiled(random_program(rng))
        subgroups = rng.choice([[0, 0], [0, 0], [0, 0, 1], [0, 1]])
        if 2 <= len(code.instructions) <= 12:
            yield code, subgroups


def by_machine(code, subgroups, stepping):
    whole = min if stepping.startswith("lockstep") else lambda tid: tid
    found = machine_verdicts(MACHINES[stepping](code, subgroups), whole, most=3000)
    return found and {
        f"{name} & {stepping}": Verdict.MAY_HANG if hangs else Verdict.TERMINATES for name, hangs in found.items()
    }


def agree(chosen):
    """Hold both against each other, and count programs on which steppings differ."""
    differing, judged = Counter(), 0
    for code, subgroups in chosen:
        test = as_test(code, subgroups)
        said = {}
        for stepping in STEPPINGS:
            try:
                expected = by_machine(code, subgroups, stepping)
            except OverflowError:  # a lane is ahead without end
                continue
            if expected is None:
                continue
            found = stepping_verdicts(test, MODELS[stepping])
            assert found == expected, (stepping, subgroups, code.instructions)
            said[stepping] = tuple(found.values())
            judged += 1
        for one, other in (
            ("lockstep", "independent"),
            ("maximal", "independent"),
            ("lockstep.taken", "lockstep.fallthrough"),
        ):
            differing[one, other] += one in said and other in said and said[one] != said[other]
    return differing, judged


def test_machines_say_the_same_of_random_programs():
    _, judged = agree(programs(range(90)))
    assert judged > 200


def test_machines_say_the_same_of_lanes_that_part():
    shapes = [*crossing_programs(), *locking_programs()]
    differing, judged = agree((compiled(shape), [0, 0]) for shape in shapes[::3])
    assert judged > 350
    assert all(count > 3 for count in differing.values()), differing


@pytest.mark.slow
def test_machines_say_the_same_of_more():
    _, judged = agree(programs(range(1000, 2600)))
    assert judged > 3500
    agree((compiled(shape), subgroups) for shape in crossing_programs() for subgroups in ([0, 0], [0, 0, 1]))


def test_with_one_lane_a_subgroup_every_stepping_says_what_threads_say():
    hanging = 0
    for code, subgroups in programs(range(5000, 5120)):
        test = as_test(code, list(range(len(subgroups))))
        if any(isinstance(ins, GroupOperation) for ins in code.instructions):
            (plain, *others) = (list(stepping_verdicts(test, MODELS[stepping]).values()) for stepping in STEPPINGS)
        else:
            plain = list(system_verdicts(explore_litmus(test).successors, MODELS["independent"]).values())
            others = [list(stepping_verdicts(test, MODELS[stepping]).values()) for stepping in STEPPINGS]
        assert all(other == plain for other in others), code.instructions
        hanging += Verdict.MAY_HANG in plain
    assert hanging > 10


def test_so_they_do_under_composed_models():
    names = ("hsa@workgroup & obe@subgroup", "fair@workgroup & unfair@subgroup", "obe@workgroup & hsa@thread")
    composed = {stepping: resolve_models([f"{n} & {stepping}" for n in names], lanes=True) for stepping in STEPPINGS}
    hanging = 0
    for code, subgroups in programs(range(7000, 7060)):
        test = as_test(code, list(range(len(subgroups))))
        found = [list(stepping_verdicts(test, models).values()) for models in composed.values()]
        assert all(other == found[0] for other in found), code.instructions
        hanging += Verdict.MAY_HANG in found[0]
    assert hanging > 5


@pytest.mark.parametrize("name", ["spinlock-exch", "queue", "grid-barrier", "rw-lock", "lookback-dynamic"])
def test_so_do_locks_of_threads_in_subgroups_of_their_own(name):
    test = read_litmus(EXAMPLES / "locks" / f"vk-{name}.litmus")
    models = [model for stepping in ("lockstep", "maximal") for model in MODELS[stepping]]
    plain = list(system_verdicts(explore_litmus(test).successors, MODELS["independent"]).values())
    assert list(stepping_verdicts(test, models).values()) == plain * 2


def test_reasons_and_verdicts_agree():
    for code, subgroups in programs(range(6000, 6012)):
        test = as_test(code, subgroups)
        for stepping in STEPPINGS:
            for name, verdict in stepping_verdicts(test, MODELS[stepping]).items():
                (model,) = (each for each in MODELS[stepping] if each.name == name)
                if isinstance(verdict, Verdict):
                    assert explain_stepping(test, model).verdict is verdict
                else:
                    with pytest.raises(NoVerdictError, match="rounds ahead"):
                        explain_stepping(test, model)
