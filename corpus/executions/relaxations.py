"""Lists the relaxations of an execution. These are the single steps after which its program asks for less
(``docs/suites.md``).

A test is minimal where each of them is allowed (Lustig et al., ASPLOS 2017). What is left of the execution's choices is
restricted to what is left of the program: a read whose write went reads from nothing (``None``), and of a location
whose final write went nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, combinations, pairwise

from corpus.executions.execution import INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.executions.operations import is_asynchronous, of_object, operations, settled, waits_for
from corpus.executions.vocabulary import Vocabulary, scope_word, spelled_mode
from corpus.litmus.locations import Region
from corpus.litmus.made import address_name, location_name
from corpus.litmus.orders import Mode, Place, Scope
from corpus.litmus.propositions import And


class RelaxationTarget(StrEnum):
    """The part of a program that a relaxation changes, such as an instruction, a dependency or the scope tree."""

    INSTRUCTION = "instruction"
    ORDER = "order"
    SCOPE = "scope"
    MEMORY = "memory"
    DEPENDENCY = "dependency"
    UPDATE = "update"
    REGION = "region"
    ADDRESS = "address"
    TREE = "tree"
    SYSTEM = "system"
    PROGRAM_ORDER = "program order"


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One relaxation step. ``text`` describes it to people; the other fields say what it changes, by ``kind``.

    ``instructions``: those that are removed, that get an address of their own, or the one that is done otherwise;
    ``mode``: its mode then; ``dependency``
    or ``location``: what it is about; ``places``: where the threads are then; ``threads``: two that are synchronised.
    """

    kind: RelaxationTarget
    instructions: tuple[int, ...] = ()
    mode: Mode | None = None
    dependency: Dependency | None = None
    location: int | None = None
    places: tuple[Place, ...] = ()
    threads: tuple[int, int] = (0, 0)
    text: str = field(default="", compare=False)


def relaxations(execution: Execution, vocabulary: Vocabulary) -> list[Relaxation]:
    """Return every relaxation that changes something, in a fixed order."""
    return [
        *_removals(execution),
        *_weaker(execution, vocabulary),
        *_dependencies(execution),
        *_splits(execution),
        *_regions(execution),
        *(_addresses(execution) if vocabulary.aliases else ()),
        *_trees(execution, vocabulary),
        *_synchronised(execution),
    ]


def _removals(execution: Execution) -> Iterator[Relaxation]:
    barriers: dict[tuple[Place, int], list[int]] = {}  # by CTA and rank
    for number in range(len(execution.threads)):
        own = [i for i in _numbers(execution, number) if execution.steps[i].kind is OpKind.BARRIER]
        cta = Place(*execution.places[number][: Scope.CTA.value])
        for rank, i in enumerate(own):
            barriers.setdefault((cta, rank), []).append(i)
    whole = {parts[0]: parts for parts in operations(execution)}
    for i, step in enumerate(execution.steps):
        if step.kind is not OpKind.BARRIER and (i in whole or not is_asynchronous(step.mode)):
            text = f"{_called(execution, i)}: removed"
            yield Relaxation(RelaxationTarget.INSTRUCTION, whole.get(i, (i,)), text=text)
    for (_, rank), members in barriers.items():
        threads = ", ".join(f"P{execution.thread_of[i]}" for i in members)
        yield Relaxation(RelaxationTarget.INSTRUCTION, tuple(members), text=f"barrier {rank} of {threads}: removed")


def _weaker(execution: Execution, vocabulary: Vocabulary) -> Iterator[Relaxation]:
    for i, (kind, mode) in enumerate((step.kind, step.mode) for step in execution.steps):
        for lower in vocabulary.lower_orders(kind, mode):
            same = lower.order is mode.order  # what changes are words of the dialect
            before, after = (spelled_mode(kind, way) if same else way.order.value for way in (mode, lower))
            text = f"{_called(execution, i)}: {before} -> {after}"
            yield Relaxation(RelaxationTarget.ORDER, (i,), lower, text=text)
        narrower = vocabulary.narrower(kind, mode)
        if narrower is not None and mode.scope is not None and narrower.scope is not None:
            text = f"{_called(execution, i)}: scope {scope_word(mode)} -> {scope_word(narrower)}"
            yield Relaxation(RelaxationTarget.SCOPE, (i,), narrower, text=text)
        for less in vocabulary.less_memory(kind, mode):
            text = f"{_called(execution, i)}: {', '.join(less.tags)}"
            yield Relaxation(RelaxationTarget.MEMORY, (i,), less, text=text)


def _dependencies(execution: Execution) -> Iterator[Relaxation]:
    for dependency in execution.dependencies:
        kind, source, target = dependency.kind, dependency.source, dependency.target
        earlier = any(
            (dep.kind, dep.source) == ("ctrl", source) and dep.target < target for dep in execution.dependencies
        )
        if kind == "ctrl" and earlier:
            continue  # everything depends on that read already
        name = {"addr": "address", "data": "data", "ctrl": "control"}[kind]
        text = f"{_called(execution, source)}: no {name} dependency to {_called(execution, target, False)}"
        yield Relaxation(RelaxationTarget.DEPENDENCY, dependency=dependency, text=text)


def _splits(execution: Execution) -> Iterator[Relaxation]:
    for i, step in enumerate(execution.steps):
        if step.kind is OpKind.UPDATE:
            yield Relaxation(RelaxationTarget.UPDATE, (i,), text=f"{_called(execution, i)}: a load and a store")


def _regions(execution: Execution) -> Iterator[Relaxation]:
    """Each location in global memory, unless it is an mbarrier or a place that an asynchronous operation accesses."""
    bound = {step.location for step in execution.steps if is_asynchronous(step.mode) or of_object(step.mode)}
    for location, region in enumerate(execution.regions):
        if region is Region.SHARED and location not in bound:
            text = f"{location_name(location)}: shared -> global"
            yield Relaxation(RelaxationTarget.REGION, location=location, text=text)


def _addresses(execution: Execution) -> Iterator[Relaxation]:
    """Each address of a location as two."""
    users: dict[tuple[int, int], list[list[int]]] = {}
    for i, step in enumerate(execution.steps):
        if step.location is not None:
            users.setdefault((step.location, step.address), []).append([i])
    for accesses in users.values():
        for staying, leaving in _halves(accesses):
            halves = " | ".join(", ".join(_called(execution, i) for i in half) for half in (staying, leaving))
            yield Relaxation(RelaxationTarget.ADDRESS, tuple(leaving), text=f"{halves}: by one address no longer")


def _trees(execution: Execution, vocabulary: Vocabulary) -> Iterator[Relaxation]:
    """Each group of threads in two, what is inside of either part as it was."""
    places = execution.places
    for level in vocabulary.levels:
        inner = [finer.value for finer in vocabulary.levels if finer.value > level.value]
        groups: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}
        for number, place in enumerate(places):
            part = place[: min(inner)] if inner else (number,)
            groups.setdefault(place[: level.value], {}).setdefault(part, []).append(number)
        for group, parts in groups.items():
            new = 1 + max(place[level.value - 1] for place in places if place[: level.value - 1] == group[:-1])
            for staying, leaving in _halves(list(parts.values())):
                if level is Scope.CTA and _share_memory(execution, staying, leaving):
                    continue
                moved = tuple(
                    place._replace(**{level.label: new}) if number in leaving else place
                    for number, place in enumerate(places)
                )
                halves = " | ".join(" ".join(f"P{number}" for number in half) for half in (staying, leaving))
                text = f"{halves}: in one {vocabulary.level_word(level)} no longer"
                yield Relaxation(RelaxationTarget.TREE, places=moved, text=text)


def _synchronised(execution: Execution) -> Iterator[Relaxation]:
    """Threads that synchronise by the system, with none between."""
    pairs = execution.synchronised
    for one, other in pairs:
        if not any((one, middle) in pairs and (middle, other) in pairs for middle in range(len(execution.threads))):
            text = f"P{one} and P{other}: synchronised no longer"
            yield Relaxation(RelaxationTarget.SYSTEM, threads=(one, other), text=text)


def _halves(parts: list[list[int]]) -> Iterator[tuple[list[int], list[int]]]:
    """Each way to have some parts go and others stay, the first among these."""
    for size in range(1, len(parts)):
        for leaving in combinations(parts[1:], size):
            staying = [part for part in parts if part not in leaving]
            yield sorted(chain.from_iterable(staying)), sorted(chain.from_iterable(leaving))


def _share_memory(execution: Execution, one: list[int], other: list[int]) -> bool:
    """Whether some location in shared memory is accessed from both of two sets of threads."""
    users: dict[int, set[int]] = {}
    for i, step in enumerate(execution.steps):
        if step.location is not None and execution.regions[step.location] is Region.SHARED:
            users.setdefault(step.location, set()).add(execution.thread_of[i])
    return any(found.intersection(one) and found.intersection(other) for found in users.values())


def relaxed(execution: Execution, relaxation: Relaxation, vocabulary: Vocabulary) -> Execution:
    """Return the execution after a relaxation, under names in normal form; it may have nothing left.

    Nothing is said any longer of what a copy has read where nobody can learn of it.
    """
    return settled(_changed(execution, relaxation, vocabulary))


def _changed(execution: Execution, relaxation: Relaxation, vocabulary: Vocabulary) -> Execution:
    steps = execution.steps
    match relaxation:
        case Relaxation(RelaxationTarget.INSTRUCTION, gone):
            return _with_steps(execution, dict.fromkeys(gone, ()))
        case Relaxation(
            RelaxationTarget.ORDER | RelaxationTarget.SCOPE | RelaxationTarget.MEMORY, (i,), Mode() as mode
        ):
            return _with_steps(execution, {i: (replace(steps[i], mode=mode),)})
        case Relaxation(RelaxationTarget.UPDATE, (i,)):
            halves = [
                replace(steps[i], kind=k, mode=vocabulary.half(k, steps[i].mode)) for k in (OpKind.READ, OpKind.WRITE)
            ]
            return _with_steps(execution, {i: tuple(halves)})
        case Relaxation(RelaxationTarget.DEPENDENCY, dependency=dependency):
            left = tuple(dep for dep in execution.dependencies if dep != dependency)
            return replace(execution, dependencies=left)
        case Relaxation(RelaxationTarget.REGION, location=place):
            regions = enumerate(execution.regions)
            return replace(
                execution, regions=tuple(Region.GLOBAL if number == place else region for number, region in regions)
            )
        case Relaxation(RelaxationTarget.ADDRESS, leaving):
            new = 1 + max(step.address for step in steps)
            return _with_steps(execution, {i: (replace(steps[i], address=new),) for i in leaving})
        case Relaxation(RelaxationTarget.PROGRAM_ORDER, (i, _)):
            return _reversed(execution, i).reordered(list(range(len(execution.threads))))
        case Relaxation(RelaxationTarget.SYSTEM, threads=threads):
            return replace(execution, synchronised=tuple(pair for pair in execution.synchronised if pair != threads))
        case _:
            return replace(execution, places=relaxation.places).reordered(list(range(len(execution.threads))))


def reversals(execution: Execution) -> Iterator[Relaxation]:
    """Return each swap of two consecutive accesses of a thread, where nothing depends on which is first. A swap is no
    relaxation, for other behaviours go, but a bug (Levine et al., ASPLOS 2023, their first mutator).
    """
    bound = {(dep.source, dep.target) for dep in execution.dependencies}
    branches = {dep.target for dep in execution.dependencies if dep.kind == "ctrl"}
    for number in range(len(execution.threads)):
        own = _numbers(execution, number)
        for i, j in pairwise(own):
            one, other = execution.steps[i], execution.steps[j]
            if one.location is None or other.location is None or (i, j) in bound or branches & {i, j}:
                continue
            if is_asynchronous(one.mode) or is_asynchronous(other.mode):
                continue
            if one != other or one.kind.writes or execution.rf[i] != execution.rf[j]:
                text = f"{_called(execution, i)} and {_called(execution, j, False)}: the other way round"
                yield Relaxation(RelaxationTarget.PROGRAM_ORDER, (i, j), text=text)


def _reversed(execution: Execution, i: int) -> Execution:
    """The execution with an instruction and the next one of its thread swapped."""
    count = len(execution.steps)
    order = [*range(i), i + 1, i, *range(i + 2, count)]  # what comes at each place; it is its own inverse
    moved: dict[int | None, int | None] = {None: None, INITIAL: INITIAL, **{step: order[step] for step in range(count)}}
    threads = tuple(
        tuple(execution.steps[order[step]] for step in _numbers(execution, number))
        for number in range(len(execution.threads))
    )
    return replace(
        execution,
        threads=threads,
        dependencies=tuple(
            sorted(Dependency(dep.kind, order[dep.source], order[dep.target]) for dep in execution.dependencies)
        ),
        rf=tuple(moved[execution.rf[order[step]]] for step in range(count)),
        co=frozenset((order[one], order[other]) for one, other in execution.co),
        final=tuple(moved[write] for write in execution.final),
    )


def mutants(execution: Execution, vocabulary: Vocabulary, observed: bool) -> list[tuple[Relaxation, Execution]]:
    """Return what each relaxation leaves of a test (``litmus_test``), where the rest still asks for an outcome.

    Of a minimal test each is allowed. Several relaxations may leave one test. Last come those with two accesses
    swapped, as a device has it that does not keep their order: of these the model may forbid some.
    """
    steps = [*relaxations(execution, vocabulary), *reversals(execution)]
    made = [(step, relaxed(execution, step, vocabulary)) for step in steps]
    return [(step, left) for step, left in made if litmus_test(left, "", observed).condition.proposition != And(())]


def _with_steps(execution: Execution, changed: Mapping[int, tuple[Step, ...]]) -> Execution:
    """The execution with other instructions for some: the first of them reads what was read, the last writes."""
    reads: dict[int | None, int] = {}
    writes: dict[int | None, int] = {}
    rf: list[int | None] = []
    threads: list[tuple[Step, ...]] = []
    for thread in range(len(execution.threads)):
        body: list[Step] = []
        for i in _numbers(execution, thread):
            new = changed.get(i, (execution.steps[i],))
            if new:
                reads[i], writes[i] = len(rf), len(rf) + len(new) - 1
            rf += [execution.rf[i] if step.kind.reads else None for step in new]
            body += new
        threads.append(tuple(body))
    kept: dict[int | None, int] = {INITIAL: INITIAL, **writes}
    left = Execution(
        tuple(threads),
        execution.places,
        execution.regions,
        tuple(sorted(_moved_dependencies(execution, changed, reads, writes))),
        tuple(kept.get(source) for source in rf),
        frozenset((writes[one], writes[other]) for one, other in execution.co if {one, other} <= writes.keys()),
        tuple(kept.get(write) for write in execution.final),
        execution.synchronised,
    )
    return left.reordered([number for number, thread in enumerate(threads) if thread])


def _moved_dependencies(
    execution: Execution,
    changed: Mapping[int, tuple[Step, ...]],
    reads: Mapping[int | None, int],
    writes: Mapping[int | None, int],
) -> set[Dependency]:
    """What is left of the dependencies; a branch whose target went stands before what came next."""
    found = set()
    for kind, source, target in ((dep.kind, dep.source, dep.target) for dep in execution.dependencies):
        if source not in reads:
            continue
        if kind == "ctrl":
            rest = [i for i in _numbers(execution, execution.thread_of[source]) if i >= target and i in reads]
            found |= {Dependency(kind, reads[source], reads[rest[0]])} if rest else set()
        elif target in reads:
            ends = {writes[target]} if kind == "data" else {reads[target], writes[target]}
            found |= {Dependency(kind, reads[source], end) for end in ends}
    return found


def _numbers(execution: Execution, thread: int) -> list[int]:
    """Return the numbers of the instructions of a thread."""
    return [i for i, owner in enumerate(execution.thread_of) if owner == thread]


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "last")


def _called(execution: Execution, i: int, owner: bool = True) -> str:
    """How people call an instruction: ``P1's load of y``, ``P1's second load of y``."""
    step, thread = execution.steps[i], execution.thread_of[i]
    word = _word(step)
    like = [n for n in _numbers(execution, thread) if _same_words(execution.steps[n], step)]
    name = word + ("" if step.location is None else address_name(step.location, step.address))
    if len(like) > 1:
        name = f"{_ORDINALS[min(like.index(i), len(_ORDINALS) - 1)]} {name}"
    return f"P{thread}'s {name}" if owner else f"its {name}"


def _word(step: Step) -> str:
    reads = step.kind is OpKind.READ
    if waits_for(step.mode) is not None:
        return "wait for groups"
    if is_asynchronous(step.mode):
        return "copy of " if reads else "asynchronous store to "
    if of_object(step.mode):
        return "wait at " if reads else "arrival at "
    words = {OpKind.READ: "load of ", OpKind.WRITE: "store to ", OpKind.UPDATE: "rmw of ", OpKind.FENCE: "fence"}
    return words.get(step.kind, "barrier")


def _same_words(one: Step, other: Step) -> bool:
    return (one.kind, one.location, one.address) == (other.kind, other.location, other.address)
