"""Translates tests of languages without storage classes to tests of Vulkan, and back.

PTX, OpenCL C and C make what comes before a release visible to what follows the acquire, whatever it was done by. In
Vulkan, that is what non-private accesses are, with orders that speak for their storage class, make available
(``semav``) and make visible (``semvis``); or accesses that are themselves made available and visible to all threads of
the test. A test that says just this has the same meaning in all of these languages, scope by scope and order by order,
and anything else is refused by name: private accesses, an order that leaves out a storage class or does not make
available, an availability or visibility operation that does not reach all threads, sequential consistency, proxies,
another address of a location.

Global memory is the first storage class, shared memory the second. The system's scope is the device's where all threads
are on one.

Source: the Vulkan specification, appendix Memory Model, sections Availability and Visibility Semantics and
Per-Instruction Availability and Visibility Semantics. What the languages say of races, of release sequences and of
values out of thin air is not compared: that is what models are for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from corpus.dialects.c_like.reader import c_places
from corpus.errors import InputError
from corpus.laws.opencl import FENCED
from corpus.laws.vulkan import DEVICE_OPERATIONS, SEMANTICS, STORAGE
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.normal import without_constants, without_predicates
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.test import LitmusTest

_REGIONS = (Region.GLOBAL, Region.SHARED)
_ACQUIRES = (Order.ACQUIRE, Order.ACQ_REL)
_RELEASES = (Order.RELEASE, Order.ACQ_REL)
_Said = Load | Store | Rmw | Fence | Barrier


def has_classes(test: LitmusTest) -> bool:
    """Decide whether any instruction of the test names a storage class."""
    tags = {tag for _, ins in _instructions(test) for tag in ins.mode.tags}
    return not tags.isdisjoint({*STORAGE, *SEMANTICS, *DEVICE_OPERATIONS})


def with_classes(test: LitmusTest, classes: Sequence[str]) -> LitmusTest:
    """Return a test of a language without storage classes as a test of Vulkan.

    ``classes`` are those of global and, if there is a second, of shared memory. Raises ``InputError`` that names what
    Vulkan has not, or shared memory where there is no second class.
    """
    test = without_constants(without_predicates(test))
    _check_references(test)
    home = {location.name: _class(location, classes) for location in test.locations}
    one_device = len({thread.place.gpu for thread in test.threads}) == 1
    all_speaks = {_speaking(name) for name in home.values()}

    def mode(index: int, ins: _Said) -> Mode:
        old = ins.mode
        order, tags = old.order, set[str]()
        if order is Order.SC:
            raise cannot_say(index, ins, "Vulkan has no sequential consistency")
        fenced = [tag for tag in old.tags if tag in FENCED]
        if others := sorted(set(old.tags) - set(fenced)):
            raise cannot_say(index, ins, f"Vulkan has no word for {', '.join(others)}")
        scope = Scope.GPU if old.scope is Scope.SYS and one_device else old.scope
        if isinstance(ins, Load | Store | Rmw):
            tags.add(_of(index, ins, home))
            if order is Order.WEAK and not old.volatile:
                return replace(old, scope=None, tags=tuple(sorted({*tags, "nonpriv"})))
        elif isinstance(ins, Barrier) and order is Order.WEAK:
            order, scope = Order.ACQ_REL, ins.scope
        if order is not Order.RELAXED:
            named = {_speaking(name) for tag in fenced for name in classes[_REGIONS.index(FENCED[tag]) :][:1]}
            tags |= named & all_speaks if fenced else all_speaks
            tags |= {"semvis"} if order in _ACQUIRES else set()
            tags |= {"semav"} if order in _RELEASES else set()
        return replace(old, order=order, scope=scope, tags=tuple(sorted(tags)))

    locations = tuple(replace(location, region=Region.GLOBAL) for location in test.locations)
    return replace(with_modes(test, mode), locations=locations)


def without_classes(test: LitmusTest, classes: Sequence[str]) -> LitmusTest:
    """Return a test of Vulkan in the words of languages without storage classes; ``classes`` as in ``with_classes``.

    Raises ``InputError`` that names what such languages have not: what would be another test there.
    """
    _check_references(test)
    home: dict[str, str] = {}
    for index, ins in _instructions(test):
        if isinstance(ins, Load | Store | Rmw):
            storage = next((tag for tag in ins.mode.tags if tag in STORAGE), "")
            if not isinstance(ins.address, Loc) or home.setdefault(ins.address.name, storage) != storage:
                raise cannot_say(index, ins, "other languages have one memory for each location")
            if storage not in classes:
                raise cannot_say(index, ins, f"no memory is known for {storage or 'it'}; --storage names {classes[0]}")
    shared = [name for name, storage in home.items() if storage in classes[1:]]
    bulk = any("nonpriv" in ins.mode.tags for _, ins in _instructions(test))
    all_speaks = {_speaking(storage) for storage in home.values()}

    def mode(index: int, ins: _Said) -> Mode:
        old = ins.mode
        order, scope, tags = old.order, old.scope, set(old.tags)
        if tags & set(DEVICE_OPERATIONS):
            raise cannot_say(index, ins, "other languages have no operations of the device")
        if order is Order.WEAK and isinstance(ins, Barrier):
            raise cannot_say(index, ins, "barriers of other languages order memory")
        if order is Order.WEAK:
            if not tags & {"nonpriv", "av", "vis"}:
                raise cannot_say(index, ins, "other languages have no private accesses")
            if scope is not None and not _reaches_all(test, scope):
                raise cannot_say(index, ins, "it is made available or visible to a part of the threads alone")
            return replace(old, scope=None, tags=())
        if order is not Order.RELAXED:
            if not all_speaks <= tags:
                raise cannot_say(index, ins, f"an order of another language speaks for {', '.join(sorted(all_speaks))}")
            lacks = [word for word, orders in (("semav", _RELEASES), ("semvis", _ACQUIRES)) if order in orders]
            lacks = [word for word in lacks if word not in tags]
            if bulk and lacks:
                raise cannot_say(index, ins, f"without {' and '.join(lacks)} it is weaker than in other languages")
        if isinstance(ins, Barrier):
            if order is not Order.ACQ_REL or scope is None or scope.value > ins.scope.value:
                raise cannot_say(index, ins, "barriers of other languages acquire and release for all who meet")
            return Mode()
        return replace(old, tags=())

    locations = tuple(
        replace(location, region=Region.SHARED) if location.name in shared else location for location in test.locations
    )
    return replace(with_modes(test, mode), locations=locations)


def of_the_system(test: LitmusTest) -> LitmusTest:
    """Return the test with the system's scope in place of every scope that includes all its threads, in a CTA each.

    The meaning of the test stays where nothing else is said of places: without barriers, shared memory and narrower
    scopes.
    """
    code = [ins for _, ins in _instructions(test)]
    scopes = [ins.mode.scope for ins in code if ins.mode.scope is not None]
    shared = any(location.region is Region.SHARED for location in test.locations)
    if shared or any(isinstance(ins, Barrier) for ins in code) or not all(_reaches_all(test, one) for one in scopes):
        return test
    widened = with_modes(test, lambda _, ins: replace(ins.mode, scope=ins.mode.scope and Scope.SYS))
    places = c_places(len(test.threads))
    threads = (replace(thread, place=place) for thread, place in zip(widened.threads, places, strict=True))
    return replace(widened, threads=tuple(threads))


def _instructions(test: LitmusTest) -> list[tuple[int, _Said]]:
    """What accesses or orders memory, with the number of its thread."""
    return [(index, ins) for index, ins in test.code if isinstance(ins, _Said)]


def with_modes(test: LitmusTest, mode: Callable[[int, _Said], Mode]) -> LitmusTest:
    """Return the test with ``mode(thread, instruction)`` as the mode of every access, fence and barrier."""
    threads = (
        replace(
            thread,
            instructions=tuple(
                replace(ins, mode=mode(index, ins)) if isinstance(ins, _Said) else ins for ins in thread.instructions
            ),
        )
        for index, thread in enumerate(test.threads)
    )
    return replace(test, threads=tuple(threads))


def _check_references(test: LitmusTest) -> None:
    for location in test.locations:
        if location.alias:
            raise InputError(
                f"{location.name} is another reference to {location.alias.location}: no two languages agree"
            )


def _class(location: Location, classes: Sequence[str]) -> str:
    """The storage class of a location, by its memory."""
    number = _REGIONS.index(location.region)
    if number >= len(classes):
        raise InputError(f"{location.name} is in shared memory, which needs a second storage class: --storage sc0,sc1")
    return classes[number]


def _of(index: int, ins: Load | Store | Rmw, home: Mapping[str, str]) -> str:
    """The storage class that an access is to: that of its location, or the only one that there is."""
    if isinstance(ins.address, Loc):
        return home[ins.address.name]
    if len(set(home.values())) > 1:
        raise cannot_say(index, ins, "it may be to either memory, and an access of Vulkan has one storage class")
    return next(iter(home.values()))


def _speaking(storage: str) -> str:
    """The word for an order that speaks for a storage class."""
    return SEMANTICS[STORAGE.index(storage)]


def _reaches_all(test: LitmusTest, scope: Scope) -> bool:
    """Whether every thread's group at a scope has all threads of the test."""
    return all(thread.place.shares(test.threads[0].place, scope) for thread in test.threads)
