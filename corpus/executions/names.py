"""Names executions: by their critical cycle where they are one, else by their shape.

``MP+membar.gl+addr``, ``CoRR``, ``SB@01``: where all accesses of an execution are one critical cycle, it has the name
that ``corpus.cycles.cycle`` gives it. An update may be in a cycle as its read and its write (``rmw``), or as one of
them, and then it is an annotation: ``SB+rmw-plain+rmw-plain``. The coherence of one thread has names as well: ``CoWW``,
``CoRW1``, ``CoWR0`` and ``CoWR``.

Any other is named by what its threads do, ``RFR.U.W``, where asynchronous copies are ``C``, asynchronous stores ``S``,
arrivals at mbarriers ``A``, waits there ``T`` and waits for groups ``G``. Then it says how, where that is not plain,
its dependencies (``+addr-0-2``: from instruction 0 to 2), its scope tree and its locations in shared memory. Where
there are aliases, the name ends with the addresses of all accesses in a row: ``.at-x-x_1``, and where threads
synchronise by the system, with these: ``.ssw-0-1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations, product

from corpus.cycles.cycle import Cycle, cycle_name, oriented, region_name, tree_name
from corpus.cycles.edges import COMMUNICATION, PLAIN, Annotation, Edge, all_annotations, atomic_mode
from corpus.executions.execution import INITIAL, Execution, OpKind, Step
from corpus.executions.litmus import with_scope
from corpus.executions.operations import WORDS, is_asynchronous, of_object, operations, waits_for
from corpus.executions.vocabulary import scope_word
from corpus.laws.ptx import ARRIVE
from corpus.litmus.made import address_name
from corpus.litmus.orders import CLUSTER, DEFAULT_RMW, PROXIES, SCOPES, Mode, Order
from corpus.litmus.processors import word_of

_MOST_ORDERS = 120 * 3**3
"""Orders of threads and parts of updates that are looked through for a cycle."""

Event = tuple[int, str]
"""An instruction and what it does in a cycle: ``R`` or ``W``."""


def name_of(execution: Execution) -> tuple[str, Execution]:
    """Return the name of an execution, and the execution with its threads in the order that the name has. Other
    executions may have an equal name.
    """
    as_cycle = critical_cycle(execution)
    if as_cycle is None:
        return (_coherence_name(execution) or _letters(execution)) + _decorations(execution), execution
    cycle, turned = as_cycle
    return cycle_name(cycle) + _rest(turned), turned


# Cycles


def critical_cycle(execution: Execution) -> tuple[Cycle, Execution] | None:
    """Return the critical cycle that an execution is, oriented, and the execution with its threads in the order of the
    cycle.

    Return None where the execution is no cycle: an access, a fence or a dependency is outside of it, or there are
    barriers.
    """
    for image, threads in _orders(execution):
        edges = _edges(image, threads)
        if edges is not None:
            cycle = _cycle(image, threads, edges)
            number = list(cycle.rotations()).index(oriented(cycle))
            order = range(len(threads))
            return oriented(cycle), image.reordered([*order[number:], *order[:number]])
    return None


def _orders(execution: Execution) -> Iterator[tuple[Execution, list[list[Event]]]]:
    """The execution under each order of its threads after the first, and the events that each may have in a cycle."""
    number = len(execution.threads)
    accesses = [step.kind.reads or step.kind.writes for step in execution.steps]
    alone = {i for i, thread in enumerate(execution.thread_of) if accesses[i]}
    if number < 2 or any(step.kind is OpKind.BARRIER for step in execution.steps) or _has_operations(execution):
        return
    if {execution.thread_of[i] for i in alone} != set(range(number)):
        return
    updates = [step.mode.scope for step in execution.steps if step.kind is OpKind.UPDATE]
    if any(scope is not None and scope.label not in SCOPES for scope in updates):  # their halves have no annotations
        return
    looked = 0
    for rest in permutations(range(1, number)):
        image = execution.reordered([0, *rest])
        parts = [_PARTS[step.kind] for step in image.steps]
        for chosen in product(*parts):
            looked += 1
            if looked > _MOST_ORDERS:
                return
            threads: list[list[Event]] = [[] for _ in range(number)]
            for i, done in enumerate(chosen):
                threads[image.thread_of[i]] += [(i, what) for what in done]
            yield image, threads


_PARTS = {
    OpKind.READ: ("R",),
    OpKind.WRITE: ("W",),
    OpKind.UPDATE: ("RW", "W", "R"),
    OpKind.FENCE: ("",),
    OpKind.BARRIER: ("",),
}


def _edges(execution: Execution, threads: list[list[Event]]) -> list[Edge] | None:
    """The edges from each event to the next, around; None where they are no cycle of all that there is."""
    edges: list[Edge] = []
    used: set[int] = set()  # fences
    depended = 0
    for events, following in zip(threads, [*threads[1:], threads[0]], strict=True):
        for (one, source), (other, target) in pairwise(events):
            fences = list(range(one + 1, other))
            kinds = [dep.kind for dep in execution.dependencies if (dep.source, dep.target) == (one, other)]
            same = execution.steps[one].location == execution.steps[other].location
            if len(fences) + len(kinds) > 1:
                return None
            used.update(fences)
            depended += len(kinds)
            if one == other:
                edges.append(Edge("Rmw", "R", "W", True, True))
            elif fences:
                mode = with_scope(execution.steps[fences[0]].mode)
                scope = mode.scope.label if mode.scope else ""
                edges.append(Edge("Fence", source, target, True, same, order=mode.order, scope=scope))
            elif kinds:
                edges.append(Edge(kinds[0].capitalize(), source, target, True, same))
            else:
                reads_own = execution.rf[other] == one and (source, target) == ("W", "R")
                edges.append(Edge("Rf" if reads_own else "Po", source, target, True, same))
        edge = _communication(execution, events[-1], following[0])
        if edge is None:
            return None
        edges.append(edge)
    fences = [i for i, step in enumerate(execution.steps) if step.kind is OpKind.FENCE]
    if used != set(fences) or depended != len(execution.dependencies):
        return None
    leaving = sum(not edge.same for edge in edges)
    locations = len(execution.regions)
    return edges if leaving == (locations if locations > 1 else 0) else None  # at each location once


def _communication(execution: Execution, one: Event, other: Event) -> Edge | None:
    (i, source), (j, target) = one, other
    if execution.steps[i].location != execution.steps[j].location:
        return None
    read = execution.rf[i]
    leads = {
        "Rf": execution.rf[j] == i,
        "Co": (i, j) in execution.co,
        "Fr": read is not None and j != read and (read == INITIAL or (read, j) in execution.co),
    }
    for kind, ends in COMMUNICATION.items():
        if ends == (source, target) and leads[kind]:
            return Edge(kind, source, target, False, True)
    return None


def _cycle(execution: Execution, threads: list[list[Event]], edges: list[Edge]) -> Cycle:
    events = [event for thread in threads for event in thread]
    steps = [execution.steps[i] for i, _ in events]
    annotations: list[Annotation] = []
    for (i, what), step in zip(events, steps, strict=True):
        whole = step.kind is OpKind.UPDATE and len([event for event in events if event[0] == i]) == 2
        annotations.append(_half(step.mode, what) if whole else _annotation(step))
    regions = [execution.regions[step.location or 0] for step in steps]
    return Cycle(tuple(edges), tuple(annotations), tuple(regions), execution.places)


def _half(mode: Mode, what: str) -> Annotation:
    """The annotation of one half of an update that is in a cycle with both; plain where the other says it all."""
    pairs = product((PLAIN, *all_annotations().values()), repeat=2)
    whole = replace(with_scope(mode), tags=())
    halves = next(pair for pair in pairs if atomic_mode(*pair) == whole)
    return halves["RW".index(what)]


# Annotations and decorations


_ORDER_WORDS = {
    Order.RELAXED: "rlx",
    Order.ACQUIRE: "acq",
    Order.RELEASE: "rel",
    Order.ACQ_REL: "acq_rel",
    Order.SC: "sc",
}
_NAMED_TAGS = ("av", "vis", "nonpriv", "alias", ARRIVE, *PROXIES)
"""The tags that a name says: others are the same for all accesses of an order."""


def _annotation(step: Step) -> Annotation:
    """How an access is done, as an annotation of a cycle: that of the same name where there is one."""
    mode = with_scope(step.mode)
    scope = mode.scope.label if mode.scope else ""
    return Annotation(_mode_name(step) or "Plain", "RW", mode.order, scope, mode.cache or "", mode.volatile)


def _mode_name(step: Step) -> str:
    """How an instruction is done, as names say it; empty where it is plain."""
    mode = step.mode
    own = next((word for word, way in WORDS.items() if way == mode), word_of(mode))
    if own is not None:
        return f"rmw.{own}" if step.kind is OpKind.UPDATE else own
    words = ["rmw"] * (step.kind is OpKind.UPDATE)
    if step.kind is not OpKind.UPDATE or mode != DEFAULT_RMW:
        tags = {*_NAMED_TAGS, *(mode.tags if "async" in mode.tags else ())} - {CLUSTER}
        words += [_ORDER_WORDS.get(mode.order, ""), *(tag for tag in mode.tags if tag in tags)]
        words += [scope_word(mode), "vol" if mode.volatile else "", mode.cache or ""]
    return ".".join(word for word in words if word)


def _has_operations(execution: Execution) -> bool:
    """Whether there are asynchronous operations, or what is done to an mbarrier."""
    return any(is_asynchronous(step.mode) or of_object(step.mode) for step in execution.steps)


def _letters(execution: Execution) -> str:
    return ".".join("".join(map(_letter, words)) for words in _instructions(execution))


def _instructions(execution: Execution) -> list[list[Step]]:
    """The first step of each instruction of the program, by threads."""
    later = {i for parts in operations(execution) for i in parts[1:]}
    threads: list[list[Step]] = [[] for _ in execution.threads]
    for i, step in enumerate(execution.steps):
        if i not in later:
            threads[execution.thread_of[i]].append(step)
    return threads


def _letter(step: Step) -> str:
    reads = step.kind is OpKind.READ
    if is_asynchronous(step.mode):
        return "C" if reads else "S"
    if of_object(step.mode):
        return "T" if reads else "A"
    return "G" if waits_for(step.mode) else step.kind.value


def _coherence_name(execution: Execution) -> str:
    """The classic name of a thread that is not coherent by itself, or with one write; empty where it is another."""
    if len(execution.regions) != 1 or _has_operations(execution):
        return ""
    match _letters(execution), execution.rf, execution.final:
        case ("WW", _, (0,)):
            return "CoWW"
        case ("RW", (1, _), _):
            return "CoRW1"
        case ("WR", (_, -1), _):
            return "CoWR0"
        case ("WR.W", (_, 2, _), (0,)):
            return "CoWR"
    return ""


def _decorations(execution: Execution) -> str:
    notes = [[_mode_name(step) or "plain" for step in thread] for thread in _instructions(execution)]
    plain = all(note in ("plain", "rmw") for names in notes for note in names)
    text = "" if plain else "+" + "+".join("-".join(names) for names in notes)
    text += "".join(f"+{dep.kind}-{dep.source}-{dep.target}" for dep in execution.dependencies)
    return text + tree_name(execution.places) + region_name(execution.regions) + _rest(execution)


def _rest(execution: Execution) -> str:
    """Addresses, and what is synchronised by the system."""
    accessed = [address_name(step.location, step.address) for step in execution.steps if step.location is not None]
    aliases = ".at-" + "-".join(accessed) if any(step.address for step in execution.steps) else ""
    return aliases + "".join(f".ssw-{one}-{other}" for one, other in execution.synchronised)
