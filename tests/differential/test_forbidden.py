"""Tests that a model forbids, found in clauses: the oracle agrees, and each is there once."""

from dataclasses import replace

import pytest
from litmus_models import LARGE, odd, shipped

from constraints.loop import solutions
from constraints.programs import forbidden
from constraints.programs.criterion import Criterion
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from constraints.programs.skeleton import ProgramSkeleton
from corpus.executions.litmus import litmus_test
from corpus.executions.relaxations import relaxations, relaxed
from corpus.executions.text import execution_text
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import judged
from oracle.executions.threads import unroll_threads
from oracle.executions.vocabulary import vocabulary_of

MODELS = shipped()


def model(text):
    return checked_model("m", parse_cat(text, "m.cat"), VOCABULARY)


def found(question, words, events, solver="minisat22", encoding=Forbidden):
    """All tests of so many events."""
    for sizes in splits(events):
        yield from solutions(encoding(question, words, sizes), solver)


def canonical(execution):
    """The same text for all that differ in the order of threads."""
    return min(map(execution_text, execution.images()))


def happens(execution, model, flags=None):
    """Whether the outcome of an execution is allowed; ``flags``: whether one that raises a flag is, or is not."""
    test = litmus_test(execution, "test", observed=False)
    for batch, allowed, results in judged(test, unroll_threads(test, 0), model):
        for result in results:
            if result.check.flag and flags is not None:
                allowed = allowed | result.truth if flags else allowed & ~result.truth
        if allowed & batch.satisfying(test.condition.proposition):
            return True
    return False


def the_oracle_agrees(name, events, less):
    """Of all tests of 2 events and more; ``less``: words to leave out, or with a ``+`` to add."""
    judge = MODELS[name]
    more = tuple(word[1:] for word in less if word[0] == "+")
    words = vocabulary_of([judge], more).without(word for word in less if word[0] != "+")
    seen = set()
    for execution in (each for size in range(2, events + 1) for each in found(SeparationQuestion(judge), words, size)):
        text = canonical(execution)
        assert text not in seen
        seen.add(text)
        assert not happens(execution, judge, flags=True), text
        for step in relaxations(execution, words):
            left = relaxed(execution, step, words)
            assert not left.steps or happens(left, judge, flags=True), (text, step.text)
    return len(seen)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "events", "less", "count"),
    [
        ("sc", 4, (), 18),
        ("tso", 4, (), 16),
        ("rmo", 4, (), 15),
        ("ptx-rmo", 4, (), 15),
        ("ptx-6.0", 3, (), 16),
        ("ptx-6.0", 4, ("gpu", "sys", "rmw", "dep", "F", "relaxed", "acquire", "release", "+arrive"), 7),
        ("rc11", 3, (), 10),
        ("c11", 4, ("sc", "acq_rel", "F"), 21),
        ("rc11-scoped", 3, ("sys",), 16),
        ("vulkan", 3, ("rmw",), 14),
        ("vulkan", 2, ("+alias", "+ssw"), 9),
        ("webgpu", 3, (), 12),
        ("ptx-async", 3, (), 17),
    ],
)
def test_the_oracle_agrees_with_every_test(name, events, less, count):
    assert the_oracle_agrees(name, events, less) == count


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "events", "less"),
    [
        ("tso", 5, ()),
        ("sc", 5, ()),
        ("rmo", 4, ()),
        ("ptx-6.0", 3, ()),
        ("rc11", 3, ()),
        ("c11", 4, ("sc", "acq_rel", "F")),
        ("opencl", 2, ()),
        ("vulkan", 3, ("rmw",)),
        ("webgpu", 3, ()),
    ],
)
def test_putting_removed_events_back_loses_no_test(monkeypatch, name, events, less):
    """Whether that is said of the first candidate that is no test, or of none, the tests are the same."""
    judge = MODELS[name]
    words = vocabulary_of([judge]).without(less)

    def tests(after):
        monkeypatch.setattr(forbidden, "PUT_BACK_AFTER", after)
        return {
            canonical(each) for size in range(2, events + 1) for each in found(SeparationQuestion(judge), words, size)
        }

    assert tests(1) == tests(10**9) != set()


def test_putting_removed_events_back_leaves_few_candidates(monkeypatch):
    """Most candidates have a write that does nothing. Example: `W x; W x | W y; W x | W x | R y`."""
    judge = MODELS["tso"]

    def refinements(after):
        monkeypatch.setattr(forbidden, "PUT_BACK_AFTER", after)
        encoding = Forbidden(SeparationQuestion(judge), vocabulary_of([judge]), (2, 2, 1, 1))
        assert len(list(solutions(encoding, "minisat22"))) == 6
        return encoding._refined

    assert 10 * refinements(1) <= refinements(10**9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "events", "less"),
    [
        ("tso", 6, ()),
        ("rmo", 5, ()),
        ("ptx-rmo", 5, ("sys",)),
        ("ptx-6.0", 4, ("sys", "gpu", "acq_rel")),
        ("rc11", 4, ()),
        ("rc11-scoped", 4, ("sys", "sc")),
        ("vulkan", 4, ()),
        ("vulkan", 3, ("+alias", "+ssw")),
        ("ptx", 3, ("+alias", "+cluster", "+constant", "sys")),
        ("webgpu", 4, ()),
        ("ptx-async", 4, ()),
    ],
)
def test_the_oracle_agrees_with_every_larger_test(name, events, less):
    the_oracle_agrees(name, events, less)


REGIONS = """
    let near = scta & (SHARED * SHARED)
    let across = sr | near
    acyclic (po & (SHARED * SHARED | GLOBAL * GLOBAL)) | (po; syncbar; po) | (across & (rf | co | fr)) as across
    acyclic po-loc | rf | co | fr as coherence"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("judge", "events", "less", "count"),
    [
        (MODELS["sc"], 4, ("rmw",), 16),
        (MODELS["rmo"], 3, (), 8),
        (odd()["barriers"], 3, ("rmw", "sc", "acquire", "acq_rel"), 4),
        (model(REGIONS), 3, ("sys", "gpu"), 7),
        pytest.param(MODELS["rmo"], 4, (), 15, marks=pytest.mark.slow),
        pytest.param(odd()["barriers"], 4, ("rmw", "sc", "acquire", "acq_rel"), 7, marks=pytest.mark.slow),
    ],
)
def test_minimal_is_what_the_oracle_says_is_minimal(judge, events, less, count):
    """Of all that a model forbids, those of which the oracle allows every relaxation."""
    words = vocabulary_of([judge]).without(less)
    every = [execution for size in range(2, events + 1) for execution in found(SeparationQuestion(judge), words, size)]
    least = [
        execution
        for size in range(2, events + 1)
        for execution in found(SeparationQuestion(judge, minimal=False), words, size)
        if all(
            not left.steps or happens(left, judge, flags=True)
            for left in (relaxed(execution, step, words) for step in relaxations(execution, words))
        )
    ]
    assert sorted(map(canonical, every)) == sorted(map(canonical, least))
    assert len(every) == count


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("weaker", "stronger", "events", "less"),
    [
        ("tso", "sc", 4, ("F",)),
        ("rmo", "tso", 4, ("dep", "F")),
        ("ptx-rmo", "rmo", 4, ("sys", "acq_rel", "rmw", "dep")),
        ("ptx-6.0", "ptx-rmo", 3, ("sys", "gpu", "acq_rel", "acquire", "release", "rmw", "bar", "dep")),
    ],
)
def test_what_one_model_forbids_and_another_allows(weaker, stronger, events, less):
    """Of all that one forbids, those that the oracle allows under the other, without a flag."""
    one, other = MODELS[weaker], MODELS[stronger]
    words = vocabulary_of([one, other]).without(less)
    question = SeparationQuestion(other, (one,), minimal=False)
    between = sorted(canonical(each) for each in found(question, words, events))
    every = [each for each in found(replace(question, allowed_by=()), words, events) if happens(each, one, flags=False)]
    assert between == sorted(map(canonical, every))
    assert len(between) > 1


@pytest.mark.parametrize("solver", ["cadical153", "glucose4", "z3"])
@pytest.mark.parametrize("criterion", Criterion)
def test_every_solver_finds_the_same_tests(solver, criterion):
    judge, question = MODELS["rmo"], SeparationQuestion(MODELS["rmo"], criterion=criterion)
    words = vocabulary_of([judge])
    expected, same = (sorted(map(canonical, found(question, words, 3, each))) for each in ("minisat22", solver))
    assert same == expected and len(same) > 3


class EachByItself(Forbidden):
    """Every image of a test is a solution of its own."""

    def block(self, solution):
        literals = [*(self.outcome(solution) if self._by_outcome else self._whole(solution))]
        yield [-literal.number for literal in literals if literal is not self.circuit.true]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("criterion", Criterion)
@pytest.mark.parametrize(
    ("name", "events", "less", "minimal"),
    [
        ("tso", 4, (), True),
        ("sc", 4, ("rmw",), False),
        ("rmo", 4, ("rmw",), True),
        ("ptx-6.0", 4, ("gpu", "sys", "rmw", "F", "acquire"), True),
    ],
)
def test_one_solution_stands_for_all_images(name, events, less, minimal, criterion, monkeypatch):
    words = vocabulary_of([MODELS[name]]).without(less)
    question = SeparationQuestion(MODELS[name], criterion=criterion, minimal=minimal)
    once = [canonical(each) for each in found(question, words, events)]
    assert len(once) == len(set(once)) > 3
    monkeypatch.setattr(ProgramSkeleton, "_order_threads", lambda self: None)
    every = list(found(question, words, events, encoding=EachByItself))
    assert {canonical(each) for each in every} == set(once)
    texts = list(map(execution_text, every))
    assert len(texts) == len(set(texts)) > len(once)
    assert set(texts) == {execution_text(image) for each in every for image in each.images()}


def small(judge, words):
    """The tests of up to three events, by execution."""
    question = SeparationQuestion(judge, criterion=Criterion.EXECUTION)
    return sorted(canonical(each) for size in (2, 3) for each in found(question, words, size))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", [pytest.param(name, marks=LARGE.get(name, ())) for name in MODELS])
def test_initial_writes_change_nothing_where_they_are_not_seen(name, monkeypatch):
    words = vocabulary_of([MODELS[name]]).without(["sys"] if name in ("rc11-scoped", "ptx-6.0") else [])
    without = small(MODELS[name], words)
    monkeypatch.setattr(forbidden, "sees_initial_writes", lambda model: True)
    assert small(MODELS[name], words) == without


@pytest.mark.parametrize("way", ["rf^-1; co", "(fr \\ (rf^-1; [IW]; co)) | (rf^-1; [IW]; co)"])
def test_models_that_see_initial_writes_are_given_them(way, monkeypatch):
    """SC in words that hang on initial writes: the tests are those of SC, but where the model does not get them."""
    judge = model(f"let from-read = {way}\nacyclic po | rf | co | from-read as sc\nempty rmw & (fre; coe) as atomicity")
    words, expected = vocabulary_of([MODELS["sc"]]), small(MODELS["sc"], vocabulary_of([MODELS["sc"]]))
    assert small(judge, words) == expected
    monkeypatch.setattr(forbidden, "sees_initial_writes", lambda model: False)
    assert (small(judge, words) == expected) is ("fr" in way)
