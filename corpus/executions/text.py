"""Prints executions on one line each, and parses such lines. An example is ``0.0.0.0: W x; W.release.gpu y | 0.0.1.0:
R.acquire.gpu y<-1; R x<-init addr:2 | y=1``.

Parts are separated by ``|``. Threads come first, each with its place in the scope tree (``gpu.queue.cta.warp``) and its
instructions, which are numbered from 0 through all threads. After a read stands the write that it reads from, ``init``
for the initial one, nothing where that is not said; then what the instruction depends on. ``x_1`` is another address of
location ``x``. The other parts are coherence (``co 1<4 1<6 4<6``), locations in shared memory (``shared x``), final
writes (``final x=4``) and the threads that synchronise by the system (``ssw 0<1``).
"""

from __future__ import annotations

import re
from itertools import chain

from corpus.errors import InputError
from corpus.executions.execution import INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.operations import WORDS
from corpus.executions.vocabulary import KIND_WORDS, spelled_mode
from corpus.laws.ptx import LOAD, STORE
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Region
from corpus.litmus.made import address_name, location_name
from corpus.litmus.orders import CLUSTER, Mode, Order, Place, Scope
from corpus.litmus.processors import mode_of

_KINDS = {word: kind for kind, word in KIND_WORDS.items()}
_INSTRUCTIONS = {
    OpKind.READ: Load,
    OpKind.WRITE: Store,
    OpKind.UPDATE: Rmw,
    OpKind.FENCE: Fence,
    OpKind.BARRIER: Barrier,
}
_CACHES = {*LOAD.caches, *STORE.caches}
_SCOPES = {scope.label: scope for scope in Scope}
_ORDERS = {order.value: order for order in Order}


def execution_text(execution: Execution) -> str:
    """Return the execution on one line; ``parse_execution`` reads it back."""
    parts: list[str] = []
    number = 0
    for thread, place in zip(execution.threads, execution.places, strict=True):
        words = [_instruction(execution, i) for i in range(number, number + len(thread))]
        parts.append(f"{'.'.join(map(str, place))}: {'; '.join(words)}")
        number += len(thread)
    if execution.co:
        parts.append("co " + " ".join(f"{one}<{other}" for one, other in sorted(execution.co)))
    names = list(map(location_name, range(len(execution.regions))))
    shared = [name for name, region in zip(names, execution.regions, strict=True) if region is Region.SHARED]
    if shared:
        parts.append("shared " + " ".join(shared))
    final = [
        f"{name}={_source(write)}" for name, write in zip(names, execution.final, strict=True) if write is not None
    ]
    if final:
        parts.append("final " + " ".join(final))
    if execution.synchronised:
        parts.append("ssw " + " ".join(f"{one}<{other}" for one, other in execution.synchronised))
    return " | ".join(parts)


def _instruction(execution: Execution, i: int) -> str:
    step, source = execution.steps[i], execution.rf[i]
    words = [spelled_mode(step.kind, step.mode)]
    if step.location is not None:
        words.append(address_name(step.location, step.address) + ("" if source is None else f"<-{_source(source)}"))
    words += [f"{dep.kind}:{dep.source}" for dep in execution.dependencies if dep.target == i]
    return " ".join(words)


def _source(write: int) -> str:
    return "init" if write == INITIAL else str(write)


def normal_form(execution: Execution) -> Execution:
    """Return the least image of an execution, by its text."""
    return min(dict.fromkeys(execution.images()), key=execution_text)


_THREAD = re.compile(r"(\d+)\.(\d+)\.(\d+)\.(\d+): (.+)")
_ACCESS = re.compile(r"(?P<location>[a-z]\d*)(?:_(?P<address>\d+))?(?:<-(?P<source>init|\d+))?")


def parse_execution(text: str) -> Execution:
    """Return the execution that ``execution_text`` printed. Raises ``InputError`` where the line denotes none."""
    try:
        execution = _read(text)
    except (ValueError, KeyError):
        execution = None
    if execution is None or execution_text(execution) != text:
        raise InputError(f"expected an execution in one line, found '{text}'")
    return execution


def _read(text: str) -> Execution:
    parts = text.split(" | ") if text else []
    threads: list[tuple[Step, ...]] = []
    places: list[Place] = []
    dependencies: list[Dependency] = []
    rf: list[int | None] = []
    locations: dict[str, int] = {}
    while parts and (found := _THREAD.fullmatch(parts[0])):
        del parts[0]
        *levels, body = found.groups()
        places.append(Place(*map(int, levels)))
        steps = []
        for instruction in body.split("; "):
            mode, *words = instruction.split(" ")
            access = _ACCESS.fullmatch(words[0]) if words else None
            location = source = None
            address = 0
            if access:
                del words[0]
                location = locations.setdefault(access["location"], _location(access["location"]))
                source, address = access["source"], int(access["address"] or 0)
            for word in words:
                kind, _, read = word.partition(":")
                dependencies.append(Dependency(kind, int(read), len(rf)))
            steps.append(_step(mode, location, address))
            rf.append(None if source is None else _write(source))
        threads.append(tuple(steps))
    names = sorted(locations, key=lambda name: locations[name])
    if [locations[name] for name in names] != list(range(len(names))):
        raise ValueError
    rest = {name: words.split(" ") for name, _, words in (part.partition(" ") for part in parts)}
    shared = rest.get("shared", [])
    final = dict(word.split("=") for word in rest.get("final", []))
    co, synchronised = (
        [(int(one), int(other)) for one, other in (pair.split("<") for pair in rest.get(name, []))]
        for name in ("co", "ssw")
    )
    if any(not 0 <= number < len(threads) for number in chain.from_iterable(synchronised)):
        raise ValueError
    ends = tuple(_write(final[name]) if name in final else None for name in names)
    instructions = {*(dependency.source for dependency in dependencies), *chain.from_iterable(co)}
    instructions |= {write for write in (*rf, *ends) if write not in (None, INITIAL)}
    if not instructions <= set(range(len(rf))):
        raise ValueError
    return Execution(
        tuple(threads),
        tuple(places),
        tuple(Region.SHARED if name in shared else Region.GLOBAL for name in names),
        tuple(sorted(dependencies)),
        tuple(rf),
        frozenset(co),
        ends,
        tuple(synchronised),
    )


def _location(name: str) -> int:
    return int(name[1:]) if name[1:] else [location_name(number) for number in range(26)].index(name)


def _write(source: str) -> int:
    return INITIAL if source == "init" else int(source)


def _step(spelled: str, location: int | None, address: int) -> Step:
    """The instruction whose kind and mode are spelled so (``corpus.executions.vocabulary.spelled_mode``)."""
    kind, *words = spelled.split(".")
    word = ".".join(words)
    own = WORDS.get(word) or mode_of(_INSTRUCTIONS[_KINDS[kind]], word)
    if own is not None:
        return Step(_KINDS[kind], location, own, address)
    scopes = _SCOPES | ({CLUSTER: Scope.QUEUE} if CLUSTER in words else {})
    mode = Mode(
        next((_ORDERS[word] for word in words if word in _ORDERS), Order.WEAK),
        next((scopes[word] for word in words if word in scopes), None),
        "volatile" in words,
        next((word for word in words if word in _CACHES), None),
        tuple(sorted(word for word in words if word not in {*_ORDERS, *_SCOPES, *_CACHES, "volatile"})),
    )
    return Step(_KINDS[kind], location, mode, address)
