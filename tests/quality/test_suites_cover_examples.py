"""What people wrote is in the suites that come from models: every example that a model forbids contains a test of them.

An example that a model forbids is weakened step by step for as long as the oracle forbids what is left. Where it ends
is a minimal test, so the suite of its size has it; where the suite has not, one of the two is wrong about what a step
leaves or about what the model forbids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, reduce
from itertools import product
from operator import or_
from pathlib import Path

import pytest
from litmus_models import LARGE

from constraints.loop import solutions
from constraints.programs.forbidden import Forbidden, SeparationQuestion
from corpus.dialects.registry import read_litmus
from corpus.executions.execution import INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.executions.relaxations import relaxations, relaxed
from corpus.executions.text import execution_text, normal_form, parse_execution
from corpus.executions.vocabulary import Vocabulary
from corpus.litmus.instructions import Assign, Barrier, Branch, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Place, Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import unguarded
from oracle.cat.interpreter import Model
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions import events
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import CandidateBatch
from oracle.executions.judge import Answer, judge, judged
from oracle.executions.threads import unroll_threads
from oracle.executions.vocabulary import mode_tags, vocabulary_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
KINDS = {Load: OpKind.READ, Store: OpKind.WRITE, Rmw: OpKind.UPDATE, Fence: OpKind.FENCE, Barrier: OpKind.BARRIER}


SKIPPED = "an instruction that is not executed"
ARRIVE = "a barrier that does not wait, or is not number 0"
ACCESS = "an access that the vocabulary has not"
LEFT = "forbidden by a fence or a barrier that the vocabulary has not"
FLAGGED = "a flag is raised, so that the model says nothing"
"""Why an example has no test of a suite in it."""

LISTED = 4
"""Up to which size all tests are listed."""

FATES = {
    "c11": {"forbidden": 38, "allowed": 28, FLAGGED: 58, SKIPPED: 2},
    "ptx-6.0": {"forbidden": 46, "allowed": 72, ACCESS: 2, LEFT: 3, FLAGGED: 1, SKIPPED: 1, ARRIVE: 1},
    "ptx-rmo": {"forbidden": 31, "allowed": 90, FLAGGED: 5, SKIPPED: 1},
    "rc11": {"forbidden": 43, "allowed": 38, FLAGGED: 43, SKIPPED: 2},
    "rc11-scoped": {"forbidden": 36, "allowed": 56, FLAGGED: 33, SKIPPED: 1},
    "rmo": {"forbidden": 46, "allowed": 79, FLAGGED: 1, SKIPPED: 1},
    "sc": {"forbidden": 114, "allowed": 4, LEFT: 4, FLAGGED: 1, SKIPPED: 2, ARRIVE: 1},
    "sra": {"forbidden": 98, "allowed": 25, FLAGGED: 1, SKIPPED: 2},
    "thesis-strong-axiomatic": {"forbidden": 39, "allowed": 82, ACCESS: 4, FLAGGED: 1},
    "tso": {"forbidden": 107, "allowed": 11, LEFT: 4, FLAGGED: 1, SKIPPED: 2, ARRIVE: 1},
}
"""What becomes of the examples under each model: the forbidden ones are looked for, why the others are not."""

SIZES = {
    "c11": {2: 2, 3: 4, 4: 3, 5: 2, 6: 7},
    "ptx-6.0": {2: 2, 3: 6, 4: 4, 5: 2, 6: 8, 7: 2},
    "ptx-rmo": {2: 2, 3: 3, 4: 3, 5: 4, 6: 3, 7: 1, 8: 2},
    "rc11": {2: 2, 3: 5, 4: 4, 5: 3, 6: 7, 7: 2},
    "rc11-scoped": {2: 2, 3: 5, 4: 5, 5: 3, 6: 9, 7: 2},
    "rmo": {2: 2, 3: 5, 4: 2, 5: 4, 6: 3, 7: 1, 8: 1, 9: 1},
    "sc": {2: 2, 3: 6, 4: 8, 5: 4, 6: 3},
    "sra": {2: 2, 3: 6, 4: 5, 5: 1, 6: 3, 7: 1, 8: 1},
    "thesis-strong-axiomatic": {2: 1, 3: 3, 4: 1, 6: 4, 7: 1, 8: 1},
    "tso": {2: 2, 3: 6, 4: 5, 5: 2, 6: 5},
}
"""How many minimal tests of each size they contain."""


class OutsideError(Exception):
    """An example that is no execution of a vocabulary, and why."""


@cache
def model(name: str) -> Model:
    """A model that ships; words may be added to its name, as ``ptx +alias``."""
    shipped, *_ = name.split()
    return load_model(shipped_models()[shipped], shipped)


@cache
def words(name: str) -> Vocabulary:
    """What a model can tell apart."""
    return vocabulary_of([model(name)], tuple(word[1:] for word in name.split()[1:]))


# An example as executions


def in_words(name: str, kind: OpKind, mode: Mode) -> Mode | None:
    """The mode of the vocabulary that a model cannot tell from this one, None where there is none."""

    def told(mode: Mode) -> object:
        parts = []
        for tags, half in zip(mode_tags(kind, mode), _halves(kind), strict=True):
            parts.append(frozenset(tag for tag in tags if model(name).checks_mention(tag, half)))
        scoped = model(name).checks_mention("sr", "") or model(name).checks_mention("sync_fence", "")
        return tuple(parts), events.access_scope(mode) if scoped else None

    for way in words(name).modes.get(kind, ()):
        if told(way) == told(mode):
            return way
    return None


def _halves(kind: OpKind) -> tuple[events.EventKind, ...]:
    return (events.EventKind.READ, events.EventKind.WRITE) if kind is OpKind.UPDATE else (events.EventKind(kind.value),)


def executions(test: LitmusTest, name: str) -> Iterator[Execution]:
    """The outcomes that a test asks about, each once. Raises ``OutsideError`` where one is none of the vocabulary."""
    if any(location.alias for location in test.locations):
        raise OutsideError("an alias")
    threads = [_instructions(thread.instructions) for thread in map(unguarded, test.threads)]
    steps = [[_step(ins, name) for ins in thread] for thread in threads]
    seen = set()
    for batch, _, _ in judged(test, unroll_threads(test, UNROLL), model(name)):
        asked = batch.satisfying(test.condition.proposition)
        if test.condition.filter is not None:
            asked &= batch.satisfying(test.condition.filter)
        for chosen in (place for place in range(asked.bit_length()) if asked >> place & 1):
            for found in map(normal_form, _execution(test, batch, chosen, steps, name)):
                if found not in seen:
                    seen.add(found)
                    yield found


def _step(instruction: Instruction, name: str) -> tuple[OpKind, Mode | None]:
    """How an instruction is done in words of the model; without a mode, it is to be left out."""
    kind = KINDS[type(instruction)]
    mode = in_words(name, kind, instruction.mode)
    if mode is None and (kind.reads or kind.writes):
        raise OutsideError(ACCESS)
    return kind, mode


def _instructions(body: tuple[Instruction, ...]) -> list[Instruction]:
    """What has events. Raises ``OutsideError`` where a jump leads back, or an instruction is none of a vocabulary."""
    labels = {ins.name: place for place, ins in enumerate(body) if isinstance(ins, Label)}
    for place, ins in enumerate(body):
        if isinstance(ins, Branch) and labels[ins.label] <= place:
            raise OutsideError("a loop")
        if isinstance(ins, Barrier) and (ins.arrive or ins.quorum is not None or ins.number != 0):
            raise OutsideError(ARRIVE)
    return [ins for ins in body if not isinstance(ins, Assign | Branch | Label)]


def _execution(
    test: LitmusTest, batch: CandidateBatch, chosen: int, steps: list[list[tuple[OpKind, Mode | None]]], name: str
) -> Iterator[Execution]:
    """One candidate as executions: its program in words of the model, an outcome for each choice of last writes."""
    base = batch.base
    real = [e for e, event in enumerate(base.events) if event.thread != events.INITIAL]
    number: dict[int, int] = {}
    threads: list[tuple[Step, ...]] = []
    names: dict[str, int] = {}
    count = 0
    for thread, own in enumerate(steps):
        happening = [e for e in real if base.events[e].thread == thread]
        body = []
        for kind, mode in own:
            taken, happening = happening[: kind.events], happening[kind.events :]
            there = "".join(base.events[e].kind for e in taken)
            if there != ("RW" if kind is OpKind.UPDATE else kind.value):
                raise OutsideError(SKIPPED)
            if mode is None:
                continue
            location = base.events[taken[0]].location
            place = None if location is None else names.setdefault(location, len(names))
            body.append(Step(kind, place, mode))
            number |= dict.fromkeys(taken, count)
            count += 1
        assert not happening
        threads.append(tuple(body))

    def pairs(relation: str) -> set[tuple[int, int]]:
        rows = enumerate(base.relation(relation))
        return {(e, f) for e, row in rows for f, truth in row.items() if truth >> chosen & 1}

    initial = {e for e, event in enumerate(base.events) if event.thread == events.INITIAL}
    rf: list[int | None] = [None] * count
    for w, r in pairs("rf"):
        rf[number[r]] = INITIAL if w in initial else number[w]
    after = {w for w, _ in pairs("co")}
    last: list[list[int | None]] = [[] for _ in names]
    for e in real:
        event = base.events[e]
        if event.kind is events.EventKind.WRITE and e not in after and event.location is not None:
            last[names[event.location]].append(number[e])
    kinds = words(name).dependencies
    depends = {(kind, number[r], number[e]) for kind in kinds for r, e in pairs(kind) if e in number}
    regions = {location.name: location.region for location in test.locations}
    order = [number for number, thread in enumerate(threads) if thread]
    execution = Execution(
        tuple(threads),
        _places(test, words(name)),
        tuple(regions[location] if len(words(name).regions) > 1 else Region.GLOBAL for location in names),
        _dependencies(depends, [step for thread in threads for step in thread], words(name)),
        tuple(rf),
        frozenset(),
        (None,) * len(names),
    )
    for final in product(*(writes or [None] for writes in last)):
        yield with_last_writes_last(replace(execution, final=final).reordered(order))


def _places(test: LitmusTest, vocabulary: Vocabulary) -> tuple[Place, ...]:
    """The places of threads at the levels of the vocabulary; each is in a warp of its own."""
    gpus, ctas = Scope.GPU in vocabulary.levels, Scope.CTA in vocabulary.levels
    groups: dict[Place, int] = {}
    places = []
    for number, thread in enumerate(test.threads):
        cta = Place(*thread.place[: Scope.CTA.value])
        group = groups.setdefault(cta, len(groups)) if ctas else number
        places.append(Place(thread.place.gpu if gpus else 0, 0, group, number))
    return tuple(places)


def _dependencies(
    depends: set[tuple[str, int, int]], steps: list[Step], vocabulary: Vocabulary
) -> tuple[Dependency, ...]:
    """Dependencies between instructions: control ones begin with a branch; where kinds are one, none is control."""
    found = set()
    for kind, source, target in sorted(depends):
        if source == target:
            continue  # from an update to itself
        if vocabulary.interchangeable:
            if steps[target].kind.reads or steps[target].kind.writes:
                found.add(Dependency("data" if steps[target].kind.writes else "addr", source, target))
        elif kind != "ctrl" or (kind, source, target - 1) not in depends:
            found.add(Dependency(kind, source, target))
    return tuple(sorted(found))


def with_last_writes_last(execution: Execution) -> Execution:
    """The execution as suites of outcomes have it: a read reads something, coherence says which write is last."""
    writes = [execution.writes(place) for place in range(len(execution.regions))]
    rf = [
        INITIAL if source is None and step.kind.reads else source
        for source, step in zip(execution.rf, execution.steps, strict=True)
    ]
    final = [own[-1] if own and last is None else last for own, last in zip(writes, execution.final, strict=True)]
    co = {(one, last) for own, last in zip(writes, final, strict=True) if last is not None for one in own}
    return replace(
        execution,
        rf=tuple(rf),
        final=tuple(final),
        co=frozenset((one, last) for one, last in co if one != last),
    )


# Minimal tests of it


@cache
def is_forbidden(execution: Execution, name: str) -> bool:
    """Whether the oracle says that every execution with this outcome is forbidden, and none raises a flag."""
    test = litmus_test(execution, "test", observed=False)
    for batch, allowed, results in judged(test, unroll_threads(test, UNROLL), model(name)):
        flagged = reduce(or_, (result.truth for result in results if result.check.flag), 0)
        if batch.satisfying(test.condition.proposition) & (allowed | flagged):
            return False
    return True


def minimal(execution: Execution, name: str) -> Execution:
    """A minimal test that an execution contains: weakened for as long as it is forbidden.

    A read that may read anything may read the initial value as well, and be forbidden.
    """
    while True:
        for step in relaxations(execution, words(name)):
            left = relaxed(execution, step, words(name))
            if left.threads and is_forbidden(left, name):
                execution = normal_form(with_last_writes_last(left))
                break
        else:
            return execution


# Suites


@cache
def suite(name: str, sizes: tuple[int, ...]) -> frozenset[Execution]:
    """The minimal tests of a model whose threads have so many events."""
    encoding = Forbidden(SeparationQuestion(model(name)), words(name), sizes)
    return frozenset(map(normal_form, solutions(encoding, "minisat22")))


def is_in_formula(execution: Execution, name: str) -> bool:
    """Whether the formula of a suite has a test: for sizes of which to list all tests would take long."""
    encoding = Forbidden(SeparationQuestion(model(name)), words(name), sizes_of(execution))
    for image in dict.fromkeys(execution.images()):
        cube = [literal.number for literal in encoding.outcome(image) if literal is not encoding.circuit.true]
        if any(normal_form(found) == execution for found in solutions(encoding, "minisat22", cube)):
            return True
    return False


def sizes_of(execution: Execution) -> tuple[int, ...]:
    """The events of each thread."""
    return tuple(sum(step.kind.events for step in thread) for thread in execution.threads)


# Examples


@cache
def examples(name: str) -> tuple[Counter[str], dict[Execution, list[str]]]:
    """What becomes of the examples under a model, and the minimal tests of them with the names of those examples."""
    fates: Counter[str] = Counter()
    found: dict[Execution, list[str]] = {}
    for path in sorted(EXAMPLES.glob("*.litmus")):
        test = read_litmus(path)
        if judge(test, model(name)).answer is not Answer.FORBIDDEN:
            fates["allowed"] += 1
            continue
        try:
            asked = list(executions(test, name))
        except OutsideError as reason:
            fates[str(reason)] += 1
            continue
        forbidden = [execution for execution in asked if is_forbidden(execution, name)]
        if forbidden:
            fates["forbidden"] += 1
        elif any(judge(litmus_test(each, "test", observed=False), model(name)).matching for each in asked):
            fates[LEFT] += 1
        else:
            fates[FLAGGED] += 1
        for execution in forbidden:
            found.setdefault(minimal(execution, name), []).append(path.stem)
    return fates, found


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=LARGE.get(name, ())) for name in FATES])
def test_suites_have_the_small_tests_that_examples_contain(name):
    small = [execution for execution in examples(name)[1] if execution.size <= LISTED]
    assert small
    for execution in small:
        assert execution in suite(name, sizes_of(execution)), execution_text(execution)


@pytest.mark.slow
@pytest.mark.parametrize("name", FATES)
def test_suites_have_the_tests_that_examples_contain(name):
    fates, found = examples(name)
    assert fates == FATES[name]
    assert Counter(execution.size for execution in found) == SIZES[name]
    for execution in found:
        assert execution.size <= LISTED or is_in_formula(execution, name), execution_text(execution)


@pytest.mark.parametrize(
    "text",
    [
        # Lustig, Cooksey and Giroux 2022, artifact NVlabs/mixedproxy: CoWR.test, MP_cta.test, MP_gpu.test and
        # MP_gpu_synonym.test with the fences without which they are allowed
        "0.0.0.0: W x; F.surface; R.surface x<-init | final x=0",
        "0.0.0.0: W.surface x; F.surface; F.texture; R.texture x<-init | final x=0",
        "0.0.0.0: W x; F.alias; R x_1<-init | final x=0",
        "0.0.0.0: W.surface x; F.surface; F.alias; R x_1<-init | final x=0",
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in (
                "0.0.0.0: W x; W.release.gpu y | 0.0.1.0: R.acquire.gpu y<-1; F.alias; R x_1<-init | final x=0 y=1",
                "0.0.0.0: W x; F.alias; W.release.gpu y | 0.0.1.0: R.acquire.gpu y<-2; R x_1<-init | final x=0 y=2",
                "0.0.0.0: W.surface x; F.surface; W.release.gpu y | 0.0.1.0: R.acquire.gpu y<-2; R x<-init"
                " | final x=0 y=2",
                "0.0.0.0: W x; W.release.cta y | 0.0.0.1: R.acquire.cta y<-1; F.surface; R.surface x<-init"
                " | final x=0 y=1",
            )
        ),
    ],
)
@pytest.mark.parametrize("name", ["ptx-7.5 +alias", pytest.param("ptx +alias", marks=pytest.mark.slow)])
def test_suites_have_what_was_written_of_mixed_proxies(name, text):
    execution = normal_form(parse_execution(text))
    assert is_forbidden(execution, name)
    assert minimal(execution, name) == execution
    assert is_in_formula(execution, name)
