"""Minimal tests with asynchronous operations, found in clauses and by listing every program of a few words.

The listing shares with what it checks the data types and the relaxations of known executions; what programs are is
written here once more, from ``docs/ptx-async.md``, and the oracle judges litmus tests.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, product

import pytest
from litmus_models import shipped

from constraints.loop import solutions
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from corpus.executions.execution import INITIAL, Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.executions.relaxations import relaxations, relaxed
from corpus.executions.text import execution_text
from corpus.executions.vocabulary import Vocabulary, spelled_mode, vocabulary
from corpus.litmus.locations import MEMORY_REGIONS, Region
from corpus.litmus.orders import Place
from oracle.executions.judge import Answer, judge

MODEL = shipped()["ptx-async"]


def sort(step: Step) -> str:
    """What a step does, by the tags of its mode."""
    tags, reads = set(step.mode.tags), step.kind is OpKind.READ
    if "asynchronous" in tags:
        name = "completes" if "mbarrier" in tags else ""
        name = name or ("group" if "bulk_group" in tags else "copy" if "cp_async" in tags else "bulk")
        return name if name == "completes" else f"{name} {'read' if reads else 'write'}"
    if "mbarrier" in tags:
        return "wait" if reads else "arrival"
    return "" if step.kind in (OpKind.READ, OpKind.WRITE) else "fence"


def bodies(words, size: int) -> Iterator[tuple[Step, ...]]:
    """Threads of so many events, whose operations are whole."""
    steps = [
        Step(kind, 0 if kind in (OpKind.READ, OpKind.WRITE) else None, mode)
        for kind, modes in words.modes.items()
        for mode in modes
    ]
    for body in product(steps, repeat=size):
        row = ["", *map(sort, body), ""]
        follows = {
            "bulk read": "bulk write",
            "group read": "group write",
            "copy read": "copy write",
            "bulk write": "completes",
        }
        leads = {"group write": "group read", "copy write": "copy read", "completes": "bulk write"}
        if all(follows.get(one, other) == other and leads.get(other, one) == one for one, other in pairwise(row)):
            yield body


def groups(count: int) -> Iterator[tuple[int, ...]]:
    """The ways to put things into groups, which are numbered by their first members."""
    if not count:
        yield ()
        return
    for rest in groups(count - 1):
        yield from ((*rest, group) for group in range(max(rest, default=-1) + 2))


def programs(words, events: int) -> Iterator[Execution]:
    """Programs without an outcome; images under the exchange of threads are among them."""
    for sizes in splits(events):
        for threads in product(*(list(bodies(words, size)) for size in sizes)):
            steps = [step for thread in threads for step in thread]
            accesses = [i for i, step in enumerate(steps) if step.location is not None]
            for names in groups(len(accesses)):
                of = dict(zip(accesses, names, strict=True))
                for regions in product(MEMORY_REGIONS, repeat=max(names, default=-1) + 1):
                    for ctas in groups(len(sizes)):
                        if is_program([*threads], of, regions, ctas):
                            yield whole(threads, of, regions, ctas)


def is_program(threads: Sequence[Sequence[Step]], of: dict[int, int], regions, ctas) -> bool:
    """Whether locations are in the state spaces that their accesses need, in some CTA's memory, one signal each."""
    numbered = [(number, step) for number, thread in enumerate(threads) for step in thread]
    homes = {}
    for location, region in enumerate(regions):
        users = [(i, *numbered[i]) for i in of if of[i] == location]
        sorts = [sort(step) for _, _, step in users]
        objects = [name in ("wait", "arrival", "completes") for name in sorts]
        if any(objects) and not (all(objects) and region is Region.SHARED):
            return False
        if any(objects) and sorts.count("arrival") + sorts.count("completes") != 1:
            return False
        shared = {"bulk write", "copy write", "group read"}
        if any(
            (name in shared and region is Region.GLOBAL)
            or (name in ("copy read", "group write") and region is Region.SHARED)
            for name in sorts
        ):
            return False
        if region is Region.SHARED:
            own = {
                ctas[thread]
                for (_, thread, _), name in zip(users, sorts, strict=True)
                if name not in ("bulk write", "arrival", "completes")
            }
            homes[location] = own
            if len(own) > 1:
                return False
    for i, (_, step) in enumerate(numbered):
        if sort(step) in ("bulk read", "group read", "copy read") and of[i] == of[i + 1]:
            return False
        if sort(step) == "completes" and len(homes[of[i]] | homes[of[i - 1]]) > 1:
            return False
    return has_known_values([step for _, step in numbered], of)


def has_known_values(steps: Sequence[Step], of: dict[int, int]) -> bool:
    """Whether no two copies, or rows of copies, lead from one location to another, nor one back to itself."""
    moves = [
        (of[i], of[i + 1]) for i, step in enumerate(steps) if sort(step) in ("bulk read", "group read", "copy read")
    ]

    def rows(at: int, used: tuple[int, ...]) -> Iterator[int]:
        for number, (source, target) in enumerate(moves):
            if target == at and number not in used:
                yield source
                yield from rows(source, (*used, number))

    for place in {target for _, target in moves}:
        reached = list(rows(place, ()))
        if place in reached or len(reached) != len(set(reached)):
            return False
    return True


def whole(threads, of, regions, ctas) -> Execution:
    """A program as an execution that says nothing of its outcome."""
    numbers = iter(range(len([step for thread in threads for step in thread])))
    named = tuple(tuple(replace(step, location=of.get(next(numbers))) for step in thread) for thread in threads)
    places = tuple(Place(0, 0, cta, ctas[:number].count(cta)) for number, cta in enumerate(ctas))
    count = sum(map(len, threads))
    return Execution(named, places, tuple(regions), (), (None,) * count, frozenset(), (None,) * len(regions))


def outcomes(program: Execution) -> Iterator[Execution]:
    """A program with each of its outcomes."""
    sources = []
    for i, step in enumerate(program.steps):
        writes = [] if step.location is None else [w for w in program.writes(step.location) if w != i]
        start = [] if sort(step) == "wait" else [INITIAL]
        sources.append([*writes, *start] if step.kind is OpKind.READ else [None])
    ends = [program.writes(location) or [None] for location in range(len(program.regions))]
    moved = {i - 1: i for i, step in enumerate(program.steps) if sort(step).endswith(" write")}
    moved = {read: write for read, write in moved.items() if sort(program.steps[read]).endswith(" read")}
    for rf, final in product(product(*sources), product(*ends)):
        known = list(rf)
        for _ in moved:  # what nobody can learn is not said
            for read, write in moved.items():
                if write not in known and write not in final:
                    known[read] = None
        co = frozenset(
            (w, last)
            for last in final
            if last is not None
            for w in program.writes(program.steps[last].location)
            if w != last
        )
        yield replace(program, rf=tuple(known), co=co, final=final)


@cache
def happens(text: str, execution: Execution) -> bool:
    """Whether the model allows the outcome of an execution."""
    return judge(litmus_test(execution, "test", observed=False), MODEL).answer is Answer.ALLOWED


def canonical(execution: Execution) -> str:
    """The same text for all that differ in the order of threads."""
    return min(map(execution_text, execution.images()))


def listed(words, events: int) -> set[str]:
    """The minimal tests, by listing."""
    found, looked = set(), set()
    for program in programs(words, events):
        for execution in outcomes(program.reordered(list(range(len(program.threads))))):
            text = canonical(execution)
            if text in looked:
                continue
            looked.add(text)
            if happens(text, execution):
                continue
            left = (relaxed(execution, step, words) for step in relaxations(execution, words))
            if all(not each.steps or happens(canonical(each), each) for each in left):
                found.add(text)
    return found


def some(kept: str) -> Vocabulary:
    """The vocabulary with these ways to do instructions alone."""
    every = vocabulary("ptx-async")
    modes = {
        kind: tuple(mode for mode in ways if spelled_mode(kind, mode) in kept.split())
        for kind, ways in every.modes.items()
    }
    return replace(every, modes={kind: ways for kind, ways in modes.items() if ways})


SLOW = pytest.mark.slow
CASES = [
    ("R W F.async R.bulk_group W.bulk_group F.wait_group F.wait_group_read", 3),
    ("R W F.async R.cp_async W.cp_async F.wait_cp_async", 3),
    ("R W W.bulk W.complete R.acquire.cta.mbarrier R.relaxed.cta.mbarrier W.release.cta.mbarrier", 3),
    pytest.param("W R.bulk_group W.bulk_group F.wait_group", 4, marks=SLOW),
    pytest.param("R R.acquire.cta.mbarrier W.bulk W.complete W.release.cta.mbarrier", 4, marks=SLOW),
    pytest.param("W R.bulk W.bulk W.complete R.acquire.cta.mbarrier", 4, marks=SLOW),
    pytest.param("R W R.bulk W.bulk W.complete R.acquire.cta.mbarrier R.bulk_group W.bulk_group", 4, marks=SLOW),
    pytest.param("W R.bulk_group W.bulk_group R.cp_async W.cp_async", 4, marks=SLOW),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "events"), CASES)
def test_clauses_find_what_a_listing_finds(kept, events):
    words = some(kept)
    for size in range(2, events + 1):
        by_clauses = {
            canonical(execution)
            for sizes in splits(size)
            for execution in solutions(Forbidden(SeparationQuestion(MODEL), words, sizes), "minisat22")
        }
        by_listing = listed(words, size)
        assert by_clauses == by_listing
