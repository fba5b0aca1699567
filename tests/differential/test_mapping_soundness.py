"""Mappings, sound or not by the formula, and by running the oracle over all small programs and what they become.

The other side here enumerates programs, not executions: it lists the final values that each model allows, and shares
with what it checks the data types and the oracle alone. A program that the source flags is left out.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from random import Random

import pytest

from constraints.programs.forbidden import splits
from corpus.executions.execution import Dependency, Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.executions.translation import MappedOp, Translation, read_mapping, translation
from corpus.executions.vocabulary import Vocabulary, spelled_mode, vocabulary
from corpus.litmus import processors
from corpus.litmus.instructions import Fence
from corpus.litmus.locations import Loc, Region
from corpus.litmus.made import location_name
from corpus.litmus.orders import PLAIN, Order, Place, Scope
from corpus.litmus.propositions import And, Condition, FinalRegister, Quantifier
from oracle.cat.interpreter import Model
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import judge
from synth.memory.refuting import bugs_of
from synth.memory.suites import axiomatic
from synth.memory.translating import Checked, features
from tests.mapping_mutants import mutant


@cache
def outcomes(threads, places, model, silent=frozenset(), dependencies=()):
    """The final values of allowed executions, without what tells registers of different programs apart; and flags.

    ``silent``: instructions, in a row, whose reads nobody looks at. Writes to a location have different values, the
    same in a program and in what it becomes, as are registers.
    """
    steps = [step for thread in threads for step in thread]
    flat = [(thread, step) for thread, body in enumerate(threads) for step in body]
    numbers = [(thread, step.kind.reads and i not in silent) for i, (thread, step) in enumerate(flat)]
    nothing = tuple(None for _ in steps)
    regions = tuple(Region.GLOBAL for _ in {step.location for step in steps if step.location is not None})
    execution = Execution(threads, places, regions, dependencies, nothing, frozenset(), tuple(None for _ in regions))
    registers = [FinalRegister(thread, f"r{i}") for i, (thread, reads) in enumerate(numbers) if reads]
    observed = (*registers, *(Loc(location_name(location)) for location in range(len(regions))))
    condition = Condition(Quantifier.EXISTS, And(()), observed=observed)
    test = replace(litmus_test(execution, "test", observed=False), condition=condition)
    judged = judge(test, model if isinstance(model, Model) else axiomatic(model_named(model)))

    def named(term):
        """A register as which read of its thread it holds."""
        if not isinstance(term, FinalRegister):
            return str(term)
        before = numbers[: int(term.register.removeprefix("r"))]
        return f"{term.thread}:{before.count((term.thread, True))}"

    return frozenset(
        tuple(sorted((named(term), value) for term, value in each)) for each in judged.outcomes
    ), judged.flags


@cache
def model_named(name):
    return resolve_consistency_models([name])[0]


def become(threads, targets):
    """What a program becomes, instruction by instruction, which of them are updates that were writes, and branches."""
    image, silent, branches, count = [], set(), [], 0
    for thread in threads:
        steps = []
        for step in thread:
            target = targets[step.kind, step.mode]
            steps += [Step(OpKind.FENCE, None, mode) for mode in target.before]
            if target.updates:
                silent.add(count + len(steps))
            own = OpKind.UPDATE if target.updates else step.kind
            steps += [replace(step, kind=own, mode=target.itself)] if target.itself else []
            if target.branches and (target.after or step is not thread[-1]):
                branches.append(Dependency("ctrl", count + len(steps) - 1, count + len(steps)))
            steps += [Step(OpKind.FENCE, None, mode) for mode in target.after]
        image.append(tuple(steps))
        count += len(steps)
    return tuple(image), frozenset(silent), tuple(branches)


def translated_outcomes(threads, places, target, targets):
    """The final values that the target model allows of a translated program."""
    image, silent, branches = become(threads, targets)
    return outcomes(image, places, target, silent, branches)[0]


def programs(sizes, words):
    """All programs whose threads have so many events, of up to two locations, the first accessed being the first."""
    ways = [(kind, mode) for kind, modes in words.modes.items() for mode in modes]

    def bodies(size):
        if size == 0:
            yield ()
        for kind, mode in ways:
            if kind.events <= size:
                for location in (0, 1) if kind is not OpKind.FENCE else (None,):
                    for rest in bodies(size - kind.events):
                        yield (Step(kind, location, mode), *rest)

    trees = [tuple(Place(cta=t) for t, _ in enumerate(sizes))]
    if Scope.CTA in words.levels and len(sizes) == 2:
        trees.append((Place(), Place()))
    for threads in product(*(tuple(bodies(size)) for size in sizes)):
        used = [step.location for thread in threads for step in thread if step.location is not None]
        if used and used[0] == 0:
            yield from ((threads, places) for places in trees)


def is_wrong(sizes, words, source, target, targets):
    """Whether some program of these sizes may end, translated, as it may not."""
    for threads, places in programs(sizes, words):
        allowed, flags = outcomes(threads, places, source)
        if not flags and not translated_outcomes(threads, places, target, targets) <= allowed:
            return True
    return False


def is_found(sizes, words, source, target, targets):
    """Whether the formula has such a program."""
    check = checked_of(words, words, source, target, targets)
    return any(True for _ in bugs_of(sizes, check, "minisat22"))


def checked_of(words, target_words, source, target, targets):
    models = model_named(source), model_named(target)
    return Checked(*models, Translation(targets), words, target_words, (2, 4))


def only(whole: Vocabulary, *words, **changes):
    kept = {
        kind: tuple(mode for mode in modes if spelled_mode(kind, mode) in words) for kind, modes in whole.modes.items()
    }
    modes = {kind: ways for kind, ways in kept.items() if ways}
    assert sum(map(len, modes.values())) == len(words)
    return replace(whole, modes=modes, dependencies=(), **changes)


def random_targets(rng, words, target):
    """What each instruction becomes: one of its kind or, of a write, an update, done anyhow, with fences about it."""
    fences = [mode for mode in target.modes[OpKind.FENCE] if mode.order is Order.SC]
    found = {}
    for kind, mode in ((kind, mode) for kind, modes in words.modes.items() for mode in modes):
        before, after = ((rng.choice(fences),) if rng.random() < 0.25 else () for _ in range(2))
        updates = kind is OpKind.WRITE and rng.random() < 0.3
        itself = rng.choice(
            [None, *fences] if kind is OpKind.FENCE else target.modes[OpKind.UPDATE if updates else kind]
        )
        found[kind, mode] = (
            MappedOp(before, itself, after, updates) if kind is not OpKind.FENCE else MappedOp((), itself, ())
        )
    return found


CPU = only(vocabulary("c"), "R.relaxed", "R.sc", "W.relaxed", "W.sc")
CPU_TARGET = vocabulary("cpu")
SCOPED = only(
    vocabulary("opencl"),
    *("R", "R.acquire.gpu", "R.relaxed.cta", "W", "W.release.gpu", "rmw.acq_rel.cta", "F.sc.cta"),
    levels=(Scope.CTA,),
    regions=(Region.GLOBAL,),
)
PTX = only(
    vocabulary("ptx"),
    *("R", "R.acquire.gpu", "R.relaxed.cta", "W", "W.release.gpu", "W.relaxed.cta", "rmw.acq_rel.cta"),
    *("rmw.relaxed.gpu", "F.sc.cta", "F.sc.gpu"),
)


def agree(sizes, words, source, target, targets):
    """Whether a mapping is wrong, by what both sides say."""
    wrong = is_wrong(sizes, words, source, target, targets)
    assert wrong == is_found(sizes, words, source, target, targets)
    return wrong


@pytest.mark.slow
def test_mappings_to_a_cpu_are_wrong_where_a_program_of_four_events_shows_it():
    verdicts = [
        agree((2, 2), CPU, "rc11", "tso", random_targets(Random(seed), CPU, CPU_TARGET)) for seed in range(5, 8)
    ]
    assert {*verdicts} == {True, False}


BRANCHING = only(vocabulary("c"), "R.acquire", "W.relaxed", "W.release")


def branching_targets(rng):
    """Reads with a branch or without, and with an isync or without; writes after an lwsync or not."""
    isync, lwsync = ((processors.mode_of(Fence, word),) for word in ("isync", "lwsync"))
    found = {}
    for kind, mode in ((kind, mode) for kind, modes in BRANCHING.modes.items() for mode in modes):
        reads = kind is OpKind.READ
        before = lwsync if not reads and mode.order is Order.RELEASE and rng.random() < 0.8 else ()
        after = isync if reads and rng.random() < 0.7 else ()
        found[kind, mode] = MappedOp(before, PLAIN, after, branches=reads and rng.random() < 0.7)
    return found


def test_mappings_with_branches_are_wrong_where_a_program_of_four_events_shows_it():
    every = [branching_targets(Random(seed)) for seed in range(40)]
    branch = [(target.branches, bool(target.after)) for each in every for target in each.values() if not target.before]
    assert {*branch} == {(True, True), (True, False), (False, True), (False, False)}
    verdicts = [agree((2, 2), BRANCHING, "rc11", "power", targets) for targets in every[:6]]
    assert {*verdicts} == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 40), marks=pytest.mark.slow)])
def test_mappings_to_a_gpu_are_wrong_where_a_program_of_three_events_shows_it(seeds):
    verdicts = []
    for seed in seeds:
        targets = random_targets(Random(seed), SCOPED, PTX)
        for sizes in (each for events in (2, 3) for each in splits(events, (1, 2))):
            verdicts.append(agree(sizes, SCOPED, "rc11-scoped", "ptx-6.0", targets))
    assert {*verdicts} == {True, False}


def kept(words, target_words, source, target, **rules):
    """A table of those instructions alone."""
    text = "\n".join(f"{word} -> {becomes}" for word, becomes in rules.items())
    few = only(words, *rules, levels=(), regions=(Region.GLOBAL,))
    return checked_of(
        few, target_words, source, target, translation(read_mapping(text, "m"), few, few, target_words).targets
    )


C = kept(
    vocabulary("c"),
    CPU_TARGET,
    "rc11",
    "tso",
    **{"R.relaxed": "R", "R.sc": "R", "W.relaxed": "W", "W.sc": "rmw", "F.sc": "F"},
)
"""The table of C for x86, of a few instructions."""

OPENCL = kept(
    vocabulary("opencl"),
    vocabulary("ptx"),
    "rc11-scoped",
    "ptx-6.0",
    **{each: each for each in ("R.relaxed.gpu", "R.acquire.gpu", "W.relaxed.gpu", "W.release.gpu")},
)
"""Fig. 11 of Lustig et al., likewise."""


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 60), marks=pytest.mark.slow)])
@pytest.mark.parametrize("whole", [pytest.param(C, id="c"), pytest.param(OPENCL, id="opencl", marks=pytest.mark.slow)])
def test_mutants_of_tables_are_refuted_by_programs_that_do_so_or_none_does(whole, seeds):
    """Of programs of two threads of two events each; every bug is one by the final values that each model allows."""
    verdicts = set()
    for seed in seeds:
        changed = mutant(whole, Random(seed))
        check, models = changed.check, (whole.source.name, whole.target.name)
        bugs = list(bugs_of((2, 2), check, "minisat22"))
        for bug in bugs:
            allowed, flags = outcomes(bug.threads, bug.places, models[0])
            image = translated_outcomes(bug.threads, bug.places, models[1], check.translation.targets)
            assert not flags and not image <= allowed, changed.slips
        assert bool(bugs) == is_wrong((2, 2), check.words, *models, check.translation.targets), changed.slips
        assert not (bugs and changed.stronger), changed.slips
        verdicts.add(bool(bugs))
    assert verdicts == {True, False}


FEATURES = (
    *("axiom coherence", "axiom atomicity", "axiom sc", "axiom no-thin-air", "definition rs", "definition sb-loc"),
    *("definition psc", "definition psc-fences", "definition eco", "rule R.sc: relaxed", "rule W.sc: relaxed"),
)


@pytest.mark.slow
def test_what_outcomes_depend_on_is_what_makes_a_difference_to_some_program():
    """Of two threads of two accesses each, all programs of which are tried."""
    words = only(vocabulary("c"), "R.relaxed", "R.sc", "W.relaxed", "W.sc")
    few = only(words, "R.relaxed", "R.sc", "W.sc")
    itself = {(kind, mode): MappedOp((), mode, ()) for kind, modes in words.modes.items() for mode in modes}
    check = replace(checked_of(words, words, "rc11", "rc11", itself), events=(4, 4), threads=(2, 2))
    asked = [feature for feature in features(check) if feature.name in FEATURES]
    assert len(asked) == len(FEATURES)
    exercised = set()
    for threads, places in programs((2, 2), few):
        allowed, flags = outcomes(threads, places, "rc11")
        for feature in asked if not flags else ():
            variant, targets = feature.check.models[1], feature.check.translation.targets
            if feature.name not in exercised and not translated_outcomes(threads, places, variant, targets) <= allowed:
                exercised.add(feature.name)
    found = {
        feature.name
        for feature in asked
        if any(True for _ in bugs_of((2, 2), replace(feature.check, words=few), "minisat22"))
    }
    assert found == exercised
    assert {"axiom sc", "definition psc", "rule R.sc: relaxed"} <= found < {*FEATURES}
