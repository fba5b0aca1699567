"""The litmus test of an execution is its program, and asks for its outcome; its text is read back as it was."""

from collections import Counter
from itertools import permutations
from random import Random

import pytest
from litmus_models import choosing
from random_executions import OPENCL, PTX, WHOLE, C, random_execution

from corpus.dialects.registry import DIALECTS, translate
from corpus.errors import InputError
from corpus.executions.execution import INITIAL, OpKind
from corpus.executions.litmus import litmus_test
from corpus.executions.relaxations import RelaxationTarget, relaxations, relaxed
from corpus.executions.text import execution_text, parse_execution
from corpus.laws import vulkan
from corpus.litmus.made import HIGH_BIT, address_name
from corpus.litmus.orders import CLUSTER, Order, Place, Scope
from corpus.litmus.propositions import And
from oracle.executions.candidates import candidates
from oracle.executions.threads import unroll_threads
from oracle.executions.vocabulary import halves as event_kinds
from oracle.executions.vocabulary import mode_tags

WORDS = list(WHOLE.values())


def numbered(execution):
    """The events of each instruction, in program order: a read's and a write's of an update."""
    for i, step in enumerate(execution.steps):
        kinds = (OpKind.READ, OpKind.WRITE) if step.kind is OpKind.UPDATE else (step.kind,)
        yield from ((i, kind) for kind in kinds)


def expected_relations(execution):
    """``po rmw addr data ctrl`` over (instruction, kind) of events, by their definitions."""
    events = list(numbered(execution))
    thread = execution.thread_of
    found = {name: set() for name in ("po", "rmw", "addr", "data", "ctrl")}
    for n, one in enumerate(events):
        for other in events[n + 1 :]:
            if thread[one[0]] == thread[other[0]]:
                found["po"].add((one, other))
                found["rmw"] |= {(one, other)} if one[0] == other[0] else set()
    for dep in execution.dependencies:
        source = (dep.source, OpKind.READ)
        for event in events:
            depends = {
                "addr": event[0] == dep.target,
                "data": event == (dep.target, OpKind.WRITE),
                "ctrl": event[0] >= dep.target and thread[event[0]] == thread[dep.target],
            }
            if depends[dep.kind]:
                found[dep.kind].add((source, event))
    return found


def unrolled(execution, test, partial):
    """The batches of candidates of a test, with the event of the execution that each of theirs is."""
    for batch in candidates(test, unroll_threads(test, 0), choosing(partial)):
        if batch.valid:
            events = batch.base.events
            program = [index for index, event in enumerate(events) if event.thread != -1]
            names = list(numbered(execution))
            if len(program) == len(names):
                yield batch, dict(zip(program, names, strict=True))
            else:  # a branch is taken
                valid = [which for which in range(batch.valid.bit_length()) if batch.valid >> which & 1]
                assert all(from_nowhere(batch, which) for which in valid)


def pairs(relation, which, names):
    """The pairs of a relation in one candidate, by what its events are named."""
    return {
        (names.get(one), names.get(other))
        for one, row in enumerate(relation)
        for other, truth in row.items()
        if truth >> which & 1
    }


def from_nowhere(batch, which):
    """Whether a read reads the high bit: where values depend on themselves, they may be as one guesses."""
    values = [value for known in batch.values.values() for value, truth in known.items() if truth >> which & 1]
    return any(value < 0 or value & HIGH_BIT for value in values)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("words", WORDS, ids=WHOLE)
@pytest.mark.parametrize("seed", range(40))
def test_the_oracle_sees_the_execution_that_a_test_was_made_of(words, seed):
    rng = Random(f"{words.name} {seed}")
    partial = seed % 3 == 0
    execution = random_execution(rng, words, partial=partial, silent=seed % 2 == 0)
    seen_as_it_is(execution, partial)
    step = rng.choice(relaxations(execution, words))
    seen_as_it_is(relaxed(execution, step, words), partial)


def groups(places, execution):
    """Which threads share which level; clusters of PTX count where something has their scope."""
    tags = {tag for step in execution.steps for tag in step.mode.tags}
    queues = tags & {CLUSTER, *vulkan.STORAGE, *vulkan.SEMANTICS}
    levels = [level for level in Scope if level is not Scope.QUEUE or queues]
    return {
        (level, one, other)
        for level in levels
        for one, other in permutations(range(len(places)), 2)
        if places[one].shares(places[other], level)
    }


def seen_as_it_is(execution, partial):
    """Hold a test's candidates against the execution that the test was made of."""
    test = litmus_test(execution, "test", observed=False)
    expected = expected_relations(execution)
    seen = Counter()
    for batch, names in unrolled(execution, test, partial):
        base = batch.base
        for index, (i, kind) in names.items():
            step, event = execution.steps[i], base.events[index]
            halves = dict(zip(event_kinds(step.kind), mode_tags(step.kind, step.mode), strict=True))
            tags = set(halves[event.kind])
            if step.mode.scope is None and step.mode.order is not Order.WEAK:
                tags.add("SYS")  # C names no scopes
            if step.location is not None:
                assert event.location == "xyzab"[step.location]
                assert event.virtual == address_name(step.location, step.address)
                tags = tags - {"GLOBAL"} | {execution.regions[step.location].name}
                others = (each for each in execution.steps if each.location == step.location)
                if all("ATOM" not in half for each in others for half in mode_tags(each.kind, each.mode)):
                    tags.add("NAL")
            assert event.tags == tags
            assert (event.thread, event.kind.value) == (execution.thread_of[i], kind.value)
        assert groups(base.places, execution) == groups(execution.places, execution)
        satisfying = batch.satisfying(test.condition.proposition)
        for which in range(batch.valid.bit_length()):
            if not batch.valid >> which & 1 or from_nowhere(batch, which):
                continue
            for name, relation in expected.items():
                found = {(one, other) for one, other in pairs(base.relation(name), which, names)}
                assert found == relation, name
            rf = {other[0]: one for one, other in pairs(base.relation("rf"), which, names)}
            rf = {i: INITIAL if one is None else one[0] for i, one in rf.items()}
            co = {(one[0], other[0]) for one, other in pairs(base.relation("co"), which, names) if one is not None}
            same = all(source is None or rf[i] == source for i, source in enumerate(execution.rf))
            satisfied = bool(satisfying >> which & 1)
            assert not satisfied or same
            last = all(
                write is None or not any((write, other) in co for other in execution.writes(location))
                for location, write in enumerate(execution.final)
            )
            assert not satisfied or last  # where coherence is partial, any of the last writes may be final
            if same and last and not partial:
                assert satisfied
            seen["same"] += satisfied and co == execution.co
    assert seen["same"]


@pytest.mark.parametrize("seed", range(60))
def test_relaxations_change_something_and_leave_executions(seed):
    words = WORDS[seed % len(WORDS)]
    execution = random_execution(Random(seed), words, size=6, partial=seed % 2 == 0)
    steps = relaxations(execution, words)
    assert len(set(steps)) == len(steps) == len({step.text for step in steps})
    for step in steps:
        left = relaxed(execution, step, words)
        assert left != execution
        assert left == left.reordered(list(range(len(left.threads))))
        assert left.size <= execution.size
        assert all(left.threads) and len(left.places) == len(left.threads)
        assert len(left.rf) == len(left.steps)
        assert {step.location for step in left.steps} - {None} == set(range(len(left.regions)))
        assert all((one, three) in left.co for one, two in left.co for other, three in left.co if other == two)
        assert parse_execution(execution_text(left)) == left
        kept = sum(source is not None for source in left.rf)
        assert kept <= sum(source is not None for source in execution.rf)
        for i, source in enumerate(left.rf):
            if source is not None and source != INITIAL:
                assert left.steps[source].location == left.steps[i].location
        if step.kind in (
            RelaxationTarget.ORDER,
            RelaxationTarget.SCOPE,
            RelaxationTarget.MEMORY,
            RelaxationTarget.DEPENDENCY,
            RelaxationTarget.REGION,
            RelaxationTarget.TREE,
        ):
            assert (left.rf, left.co, left.final) == (execution.rf, execution.co, execution.final)


DIALECT = {"c": "c", "cpu": "lisa", "opencl": "opencl", "ptx": "gpu-ptx", "vulkan": "vulkan", "webgpu": "opencl"}
DIALECT |= {"vulkan-scopes": "vulkan"}
SAID = [words for words in WORDS if words.name in DIALECT]


@pytest.mark.parametrize("words", SAID, ids=lambda words: words.name)
def test_a_dialect_can_say_what_its_vocabulary_makes(words):
    for seed in range(60):
        execution = random_execution(Random(seed), words)
        for observed in (False, words.name != "c"):  # C has no scope tree for an observer beside its writers
            test = litmus_test(execution, "test", observed)
            if test.condition.proposition != And(()) or not words.name.startswith("vulkan"):
                translate(test, DIALECTS[DIALECT[words.name]])


@pytest.mark.parametrize("seed", range(60))
def test_an_observed_test_asks_for_the_order_of_all_writes(seed):
    rng = Random(seed)
    execution = random_execution(rng, (C, OPENCL, PTX)[seed % 3], size=5)
    test = litmus_test(execution, "test", observed=True)
    many = [n for n in range(len(execution.regions)) if len(execution.writes(n)) > 2]
    observers = test.threads[len(execution.threads) :]
    assert len(observers) == len(many)
    assert len({thread.place for thread in test.threads}) == len(test.threads) or not many
    for location, observer in zip(many, observers, strict=True):
        writers = [execution.places[execution.thread_of[write]] for write in execution.writes(location)]
        assert all(observer.place[:3] == place[:3] for place in writers) == (len({place[:3] for place in writers}) == 1)


@pytest.mark.parametrize("words", WORDS, ids=WHOLE)
def test_texts_are_read_back(words):
    rng = Random(words.name)
    for turn in range(300):
        execution = random_execution(rng, words, size=7, partial=turn % 2 == 0, silent=turn % 3 == 0)
        text = execution_text(execution)
        assert "\n" not in text
        assert parse_execution(text) == execution


def test_a_text_says_what_there_is():
    text = (
        "0.0.0.0: W x; F.sc.gpu; W.release.cta y | 0.0.1.0: R.acquire.gpu y<-2; rmw.acq_rel.sys x<-init data:3"
        " | co 0<4 | shared y | final x=4"
    )
    execution = parse_execution(text)
    assert execution_text(execution) == text
    assert execution.places == (Place(0, 0, 0, 0), Place(0, 0, 1, 0))
    assert execution.rf == (None, None, None, 2, INITIAL)
    assert execution.final == (4, None)


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0: W x<-",
        "0.0.0: W x",
        "0.0.0.0: Q x",
        "0.0.0.0: W y",
        "0.0.0.0: W x | co 1",
        "0.0.0.0: W x | final x",
        "0.0.0.0: W x | final x=two",
        "0.0.0.0: W x | also y",
        "0.0.0.0: W x data",
        "0.0.0.0: W x12345678901234567890",
        "0.0.0.0: R x<-7",
        "0.0.0.0: R x data:7",
        "0.0.0.0: W x ",
        " ",
    ],
)
def test_what_is_no_execution_is_an_error(text):
    with pytest.raises(InputError, match="expected an execution in one line"):
        parse_execution(text)
