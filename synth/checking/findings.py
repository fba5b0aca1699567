"""What a finding of ``synth check`` says: who does what, at which lines of the source, and why it is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from corpus.code.ir import KernelInstruction, SourceLine
from corpus.code.launch.barriers import is_aligned_barrier
from corpus.code.locations import MixedSize
from corpus.code.program import KernelProgram
from corpus.litmus.instructions import Assign
from corpus.litmus.locations import Loc, element_of
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import Condition, FinalRegister, Proposition, Term, atoms_of, propositions
from oracle.cat.interpreter import Model
from oracle.executions.events import INITIAL, Event, EventKind
from oracle.executions.stuck import Hang, ThreadEnding
from oracle.executions.values import value_text
from oracle.executions.witness import CandidateExecution
from oracle.liveness import Liveness
from synth.checking.lines import own_place
from synth.memory.liveness import stuck_events

RACES = {"ptx": "ptx-races.cat", "ptx-async": "ptx-async-races.cat"}
"""The part of a model that is PTX with its data races flagged."""


@dataclass(frozen=True, slots=True)
class KernelFinding:
    """Something that is wrong: of what kind, in a line, at which instructions, and an execution that shows it, with
    the events there that are wrong. ``program``: that of the execution, where a kernel has several.
    """

    kind: str
    text: str
    places: tuple[KernelInstruction, ...] = ()
    execution: CandidateExecution | None = None
    events: tuple[int, ...] = ()
    program: KernelProgram | None = None

    @property
    def lines(self) -> tuple[SourceLine, ...]:
        """The source lines of the instructions, each once."""
        return tuple(dict.fromkeys(place.source for place in self.places if place.source))


def source_location(program: KernelProgram, location: str | None) -> str:
    """Return the name that the source has for a location: ``ring.items[0]`` for ``ring[16]``, which is in bytes."""
    return program.locations.called.get(location or "", location or "")


def mixed_finding(mixed: MixedSize) -> KernelFinding:
    """Return the finding that accesses to one place are of several sizes."""
    (start, size), (other, length) = mixed.first, mixed.second
    text = (
        f"accesses of {mixed.array} at bytes {start} to {start + size - 1} and {other} to {other + length - 1} "
        "overlap and are not of one size; the memory model does not define what they do to each other"
    )
    return KernelFinding("mixed-size", text, mixed.origins)


def terms_of(proposition: Proposition) -> Iterator[Term]:
    """Yield the registers and locations that a proposition compares."""
    for atom in atoms_of(proposition):
        yield from (term for term in (atom.left, atom.right) if not isinstance(term, int))


Origins = Sequence[Sequence[KernelInstruction | None]]
"""The instruction of PTX that each instruction of each thread comes from."""


def origin_of(origins: Origins, event: Event) -> KernelInstruction | None:
    """Return the instruction of PTX that an event comes from; None where it is an initial write."""
    return None if event.thread == INITIAL else origins[event.thread][event.position]


def places_of(
    program: KernelProgram, execution: CandidateExecution, numbers: Iterable[int]
) -> tuple[KernelInstruction, ...]:
    """Return the instructions that events of an execution come from."""
    found = (origin_of(program.origins, execution.events[number]) for number in numbers)
    return tuple(dict.fromkeys(note for note in found if note is not None))


def released_finding(
    program: KernelProgram, execution: CandidateExecution, is_release: Callable[[Event], bool]
) -> KernelFinding:
    """Return the finding that memory is used after it was given back, in an execution."""
    base = execution.base
    pairs = [
        (one, other)
        for name in ("rf", "co")
        for one, row in enumerate(base.relation(name))
        for other in row
        if execution.events[one].thread != INITIAL and is_release(execution.events[one])
    ]
    new = {number for number, event in enumerate(execution.events) if is_creation(program, event)}
    order = {*execution.pairs("co")}
    one, other = min(
        (one, other)
        for one, other in pairs
        if other not in new and not any((one, n) in order and (n, other) in order for n in new)
    )
    use = _access(program, execution.events[other], source_location(program, execution.events[other].location))
    release = execution.events[one]
    text = f"the {use} is of memory that {thread_name(program, release.thread)} has given back"
    text += _place_text(program, release)
    return KernelFinding("bounds", text, places_of(program, execution, (other, one)), execution, (one, other))


def race_finding(program: KernelProgram, model: Model, execution: CandidateExecution) -> KernelFinding:
    """Return the finding that two accesses of an execution race, by the relation ``race`` of a model."""
    relation = model.relations(execution.base).get("race")
    if not isinstance(relation, tuple):  # the flag is of a term without that name
        return KernelFinding("race", f"accesses race, as {model.name} says", (), execution)
    pairs = [(one, other) for one, row in enumerate(relation) for other in row]
    one, other = min(pairs)
    location = source_location(program, execution.events[one].location)
    strong = [not _STRONG.isdisjoint(execution.events[number].tags) for number in (one, other)]
    why = "their scopes do not have both threads" if all(strong) else f"{'one is' if any(strong) else 'both are'} weak"
    if len({"ASYNC" in execution.events[number].tags for number in (one, other)}) > 1:
        why = "they go through two proxies"
    first, second = (
        _access(program, execution.events[number], what) for number, what in ((one, location), (other, "it"))
    )
    text = f"the {first} and the {second} race"
    text += f": {why}, and nothing orders them" if f"{model.name}.cat" in RACES.values() else ": nothing orders them"
    return KernelFinding("race", text, places_of(program, execution, (one, other)), execution, (one, other))


def _access(program: KernelProgram, event: Event, what: str | None) -> str:
    """Return what an access does, by whom and at which line: ``write to x by thread 0 of block 0 at kernel.cu:3``."""
    kind = "write to" if event.kind is EventKind.WRITE else "read of"
    kind = "creation of" if is_creation(program, event) else kind
    return f"{kind} {what} by {thread_name(program, event.thread)}{_place_text(program, event)}"


def _place_text(program: KernelProgram, event: Event) -> str:
    """Return at which line an event is, with a space before it; nothing where that is not known."""
    origin = origin_of(program.origins, event)
    return f" at {own_place(origin)}" if origin else ""


def is_creation(program: KernelProgram, event: Event) -> bool:
    """Decide whether an event is that an object is there from then on."""
    access = None if event.thread == INITIAL else program.code[event.thread][event.position].access
    return access is not None and access.created


_STRONG = frozenset(("RLX", "ACQ", "REL"))
"""The tags of strong accesses (PTX ISA, Operation Types)."""


def thread_names(program: KernelProgram) -> dict[int, str]:
    """Return the names of the threads of a program by their numbers: ``thread 0 of block 1``."""
    return {number: thread_name(program, number) for number in range(len(program.ids))}


def thread_name(program: KernelProgram, number: int) -> str:
    """Return how sentences call a thread: ``thread 0 of block 1``."""
    ids = program.ids[number]
    if program.names:
        return f"thread {program.launch.block_number(ids)} ({program.names[number]})"
    return f"thread {program.launch.thread_number(ids)} of block {program.launch.block_number(ids)}"


def marked_places(program: KernelProgram, stop: FinalRegister) -> tuple[KernelInstruction, ...]:
    """Return the instructions that set a mark of a program."""
    pairs = zip(program.test.threads[stop.thread].instructions, program.origins[stop.thread], strict=True)
    found = (note for ins, note in pairs if isinstance(ins, Assign) and ins.target == stop.register)
    return tuple(dict.fromkeys(note for note in found if note is not None))


def violation_finding(
    program: KernelProgram, condition: Condition, expectation: str, execution: CandidateExecution
) -> KernelFinding:
    """Say what the locations of an expectation hold in the end, and who wrote that at which line."""
    overwritten = {before for before, _ in execution.pairs("co")}
    last = {
        event.location: event
        for number, event in enumerate(execution.events)
        if event.kind is EventKind.WRITE and number not in overwritten
    }
    terms = dict.fromkeys(term for part in propositions(condition) for term in terms_of(part))
    reasons = []
    for term in terms:
        if isinstance(term, Loc) and term in execution.finals:
            event = last.get(term.name)
            whole = f"{term.name} is {value_text(execution.finals[term])} at the end"
            if event is not None and event.thread != INITIAL:
                whole += f", which {thread_name(program, event.thread)} writes{_place_text(program, event)}"
            reasons.append(whole)
    text = f"the expectation {expectation} may fail" + (f": {'; '.join(reasons)}" if reasons else "")
    return KernelFinding("expectation", text, (), execution)


def bounds_finding(program: KernelProgram, execution: CandidateExecution) -> KernelFinding:
    """Return the finding that an access is outside of what is allocated."""
    places = [n for n, event in enumerate(execution.events) if event.thread != INITIAL]
    events = tuple(n for n in places if execution.events[n].location in program.locations.outside)
    array, count = element_of(execution.events[events[0]].location or "")
    first = execution.events[events[0]]
    text = f"an access of {array} by {thread_name(program, first.thread)}{_place_text(program, first)} is outside of "
    text += f"its {count} bytes" if program.grows else f"its {count} elements, told here as {array}[{count}]"
    return KernelFinding("bounds", text, places_of(program, execution, events), execution, events)


def uninitialised_finding(
    program: KernelProgram, shared: Collection[str], execution: CandidateExecution
) -> KernelFinding:
    """Return the finding that a read sees shared memory that nobody has written."""
    pairs = execution.pairs("rf")
    reads = [
        other for one, other in pairs
        if (execution.events[one].thread == INITIAL or is_creation(program, execution.events[one]))
        and execution.events[one].location in shared
    ]  # fmt: skip
    first = execution.events[reads[0]]
    return KernelFinding(
        "uninitialised",
        f"{thread_name(program, first.thread)} reads {source_location(program, first.location)}"
        f"{_place_text(program, first)} "
        "before anybody writes it",
        places_of(program, execution, reads),
        execution,
        tuple(reads),
    )


def hang_finding(program: KernelProgram, found: Liveness, progress: str) -> KernelFinding:
    """Return the finding that a thread may wait for ever under a progress model."""
    hang = found.hanging.hang
    assert hang is not None
    events = tuple(sorted(stuck_events(hang)))
    places = places_of(program, hang.execution, events)
    waits = [n for n, ending in enumerate(hang.endings) if ending is ThreadEnding.WAITS]
    stuck = [n for n, end in enumerate(hang.endings) if end not in (ThreadEnding.ENDED, ThreadEnding.LEFT)]
    if program.names:  # whose barriers are only those of threads that wait for others to end
        others = [n for n in stuck if n not in waits]
        what = "may go round for ever" if others else "waits for another thread for ever"
        text = f"{thread_name(program, (others or stuck)[0])} {what} under {progress}"
        return KernelFinding("hang", text, places, hang.execution, events)
    if waits:
        here = [e for e in map(hang.execution.events.__getitem__, events) if e.barrier and e.thread == waits[0]]
        aligned = any(map(partial(_is_aligned_in_warp, program), here))
        where = "for others of its warp at an aligned barrier" if aligned else "at a barrier"
        text = f"{thread_name(program, waits[0])} waits {where} for ever{_place_text(program, here[0]) if here else ''}"
        text += _absent(program, hang, waits)
        return KernelFinding("barrier", text, places, hang.execution, events)
    own = [n for n in events if hang.execution.events[n].thread == stuck[0] and hang.execution.events[n].location]
    text = f"{thread_name(program, stuck[0])} may go round for ever under {progress}"
    if own:
        first, value = hang.execution.events[own[0]], hang.execution.values[own[0]]
        text += _place_text(program, first)
        text += "" if value is None else f", where {source_location(program, first.location)} stays {value_text(value)}"
    return KernelFinding("hang", text, places, hang.execution, events)


def _absent(program: KernelProgram, hang: Hang, waiting: Sequence[int]) -> str:
    """Return who ends without coming to the barrier that others of its block wait at."""
    block = program.test.threads[waiting[0]].place.queue
    ended = [
        thread_name(program, n)
        for n, end in enumerate(hang.endings)
        if end is ThreadEnding.ENDED and program.test.threads[n].place.queue == block
    ]
    more = f" and {len(ended) - 1} more" if len(ended) > 1 else ""
    return f", and {ended[0]}{more} ended without it" if ended else ""


def _is_aligned_in_warp(program: KernelProgram, event: Event) -> bool:
    """Return whether an event is the wait for the others of a warp at an aligned barrier."""
    origin = origin_of(program.origins, event)
    of_warp = event.barrier is not None and event.barrier.group is Scope.WARP
    return of_warp and origin is not None and "warp" not in origin.words and is_aligned_barrier(origin)
