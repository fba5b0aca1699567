"""Makes the litmus test of an execution, whose condition asks for its outcome.

**Values.** The writes to a location write 1, 2, .. in coherence order; where a model leaves some unordered, in an order
that extends what there is.

**Condition.** Every read has the value of the write that it reads from, and every location with two writes or more its
final value. Of what an execution does not say (``None``), the condition says nothing. Many executions may have one
outcome; where the test shall ask for the execution itself, observers pin the order of three writes or more, as far as
it is total (``corpus.litmus.made``).

Where a barrier does not wait, all of its CTA say for how many threads they are, as PTX asks of such a one.
An update is an exchange. An address or data that depends on several reads adds up what is left of them.

**Asynchronous operations.** What a copy has read is known by what it wrote. So where there are copies, no two writes
have one value, nor has an initial value that is copied, and the condition asks for the final value of what copies
write. An mbarrier begins in the state in which it expects its one arrival, or the bytes of its one operation. Who waits
for it asks once, and the condition says that the phase was complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from corpus.executions.execution import INITIAL, Execution, OpKind, Step
from corpus.executions.operations import (
    BULK,
    COMPLETE,
    COPY,
    copies,
    is_asynchronous,
    of_object,
    operations,
    waits_for,
)
from corpus.laws import ptx, vulkan
from corpus.laws.ptx import ARRIVE
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.locations import Alias, Loc, Location, Operand, Reg
from corpus.litmus.made import STRONG, WIDEST, address_name, location_name, masked, observer
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import BULK as BULK_GROUP
from corpus.litmus.orders import COPIES, FENCED, PLAIN, Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, FinalRegister, Quantifier, conjunction
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread


def litmus_test(execution: Execution, name: str, observed: bool) -> LitmusTest:
    """The test of an execution; with ``observed``, of the execution rather than of its outcome.

    Thread ``t`` of the execution is ``Pt``, instruction ``i`` reads into ``ri``. Where the execution says nothing of
    its outcome, the condition is true.
    """
    orders = [coherence_order(execution, location) for location in range(len(execution.regions))]
    values, initial = _values(execution, orders)
    copied = copies(execution)
    writer = _Writer(replace(execution, places=_places(execution)), values)
    threads = [writer.thread(number) for number in range(len(execution.threads))]
    atoms = []
    for i, (step, source) in enumerate(zip(execution.steps, execution.rf, strict=True)):
        if source is None or step.location is None or is_asynchronous(step.mode):
            continue
        value = initial[step.location] if source == INITIAL else values.get(source)
        if of_object(step.mode):
            value = int(source != INITIAL)
        if value is None:
            raise ValueError(f"nothing is said of what instruction {source} has read, and so of what it writes")
        atoms.append(Atom("eq", FinalRegister(execution.thread_of[i], f"r{i}"), value))
    for location, order in enumerate(orders):
        pinned = observed and is_total(execution, order)
        final = order[-1] if pinned and order else execution.final[location]
        if final is not None and (len(order) > 1 or copied.keys() & set(order)):
            atoms.append(Atom("eq", Loc(location_name(location)), values[final]))
        if pinned and len(order) > 2:
            places = [thread.place for thread in threads]
            homes = [places[thread] for thread in sorted({execution.thread_of[write] for write in order})]
            atoms += [Atom("eq", FinalRegister(len(threads), f"r{rank}"), rank) for rank in range(1, len(order))]
            read, fence = _observing([execution.steps[write].mode for write in order])
            threads.append(observer(location_name(location), len(order), read, homes, places, fence))
    locations = [Location(location_name(n), initial[n], region) for n, region in enumerate(execution.regions)]
    aliases = dict.fromkeys((step.location, step.address) for step in execution.steps if step.address)
    for n, address in aliases:
        assert n is not None
        locations.append(Location(address_name(n, address), region=execution.regions[n], alias=Alias(location_name(n))))
    condition = Condition(Quantifier.EXISTS, conjunction(atoms))
    return LitmusTest(name, tuple(threads), tuple(locations), condition, synchronised=execution.synchronised)


def _values(execution: Execution, orders: list[list[int]]) -> tuple[dict[int, int], list[int]]:
    """The value of each write, and the initial value of each location."""
    copied = copies(execution)
    objects = {step.location for step in execution.steps if of_object(step.mode)}
    initial = [_expecting(execution, location) if location in objects else 0 for location in range(len(orders))]
    if not copied:
        return {write: rank for order in orders for rank, write in enumerate(order, 1)}, initial
    values: dict[int, int] = {}
    moved = {execution.steps[read].location for read in copied.values()}
    number = 0
    for location, order in enumerate(orders):
        if location in moved:
            number += 1
            initial[location] = number
        for write in order:
            if write not in copied and location not in objects:
                number += 1
                values[write] = number
    left = dict(copied)
    while left:  # what is copied may be copied on
        write = next((write for write, read in left.items() if execution.rf[read] not in left), next(iter(left)))
        read = left.pop(write)
        source, moved_from = execution.rf[read], execution.steps[read].location
        if source == INITIAL and moved_from is not None:
            values[write] = initial[moved_from]
        elif source in values:
            values[write] = values[source]
    return values, initial


def _expecting(execution: Execution, location: int) -> int:
    """The state of an mbarrier that expects one arrival, or the bytes of one operation."""
    if not any(execution.steps[i].mode == COMPLETE for i in execution.writes(location)):
        return Mbarrier.expecting(1).bits()
    operation = next(parts for parts in operations(execution) if execution.steps[parts[-1]].location == location)
    return Mbarrier.expecting(0, _bytes(operation)).bits()


def _bytes(operation: tuple[int, ...]) -> int:
    """The bytes of an operation that completes at an mbarrier: those of a bulk copy, or of ``st.async``."""
    return 16 if len(operation) == 3 else 4


def _places(execution: Execution) -> tuple[Place, ...]:
    """The threads' places; in one cluster of PTX, where nothing has the scope of one."""
    if not any(place.queue for place in execution.places) or not all(map(_without_clusters, execution.steps)):
        return execution.places
    ctas = list(dict.fromkeys(place[: Scope.CTA.value] for place in execution.places))
    flat = (place._replace(queue=0, cta=ctas.index(place[: Scope.CTA.value])) for place in execution.places)
    return renumbered(flat)


def _without_clusters(step: Step) -> bool:
    """Whether an instruction may be one of PTX that has not the scope of a cluster."""
    return set(step.mode.tags) <= {ARRIVE, *FENCED} and not (step.kind is OpKind.BARRIER and step.mode.scope)


def coherence_order(execution: Execution, location: int) -> list[int]:
    """Return the writes to a location in an order that extends coherence: of the writes that may come next, the first
    one.
    """
    left = execution.writes(location)
    order: list[int] = []
    while left:
        order.append(next(one for one in left if not any((other, one) in execution.co for other in left)))
        left.remove(order[-1])
    return order


def is_total(execution: Execution, order: list[int]) -> bool:
    """Decide whether coherence orders all of some writes, given in an order that extends it."""
    return all(pair in execution.co for pair in pairwise(order))


def _observing(modes: list[Mode]) -> tuple[Mode, Mode]:
    """How an observer of writes of these modes reads, and its fence."""
    read = STRONG if all(mode.order is not Order.WEAK or mode.volatile for mode in modes) else PLAIN
    storage = tuple(tag for tag in modes[0].tags if tag in vulkan.STORAGE)
    if not storage:
        return read, WIDEST
    tags = (vulkan.SEMANTICS[vulkan.STORAGE.index(storage[0])], *vulkan.FENCE.semantics)
    scope = Scope.GPU if read == STRONG else None
    return replace(read, scope=scope, tags=storage), Mode(Order.ACQ_REL, Scope.GPU, tags=tuple(sorted(tags)))


class _Writer:
    """Writes threads: ``d5`` depends on what ``r5`` holds, ``a5`` is an address and ``v5`` a value of instruction 5."""

    def __init__(self, execution: Execution, values: dict[int, int]) -> None:
        self._execution = execution
        self._values = values
        ctas = [place[: Scope.CTA.value] for place in execution.places]
        arrived = [i for i, step in enumerate(execution.steps) if ARRIVE in step.mode.tags]
        self._quorums = {cta: ctas.count(cta) for cta in (ctas[execution.thread_of[i]] for i in arrived)}
        self._sources: dict[tuple[str, int], list[int]] = {}
        for dependency in execution.dependencies:
            self._sources.setdefault((dependency.kind, dependency.target), []).append(dependency.source)
        self._operations = {parts[0]: parts for parts in operations(execution)}

    def thread(self, number: int) -> Thread:
        numbers = [i for i, thread in enumerate(self._execution.thread_of) if thread == number]
        body: list[Instruction] = []
        for i in numbers:
            for ins in self._instruction(i):
                if not (isinstance(ins, Assign) and ins in body):  # a register that several instructions depend on
                    body.append(ins)
        if any(isinstance(ins, Branch) for ins in body):
            body.append(Label("LC0"))
        return Thread(tuple(body), self._execution.places[number])

    def _instruction(self, i: int) -> Iterator[Instruction]:
        for source in self._sources.get(("ctrl", i), ()):
            yield masked(f"d{source}", f"r{source}")
            yield Branch("LC0", Comparison("ne", Reg(f"d{source}"), 0))
        step = self._execution.steps[i]
        mode = with_scope(step.mode)
        if is_asynchronous(mode):
            if i in self._operations:
                yield from self._operation(self._operations[i])
        elif (waited := waits_for(mode)) is not None:
            yield AsyncGroup(_group(waited), 0, read="read" in mode.tags)
        elif of_object(mode):
            assert step.location is not None
            where = Loc(location_name(step.location))
            if step.kind is OpKind.READ:
                yield Load(f"r{i}", where, mode, phase=0, parity=True)
            else:
                yield Rmw("mbarrier.arrive", f"r{i}", where, (1,), mode)
        elif step.kind is OpKind.FENCE:
            yield Fence(mode)
        elif step.kind is OpKind.BARRIER:
            tags = tuple(tag for tag in mode.tags if tag != ARRIVE)
            quorum = self._quorums.get(self._execution.places[self._execution.thread_of[i]][: Scope.CTA.value])
            yield Barrier(0, arrive=ARRIVE in mode.tags, quorum=quorum, mode=replace(mode, tags=tags))
        else:
            assert step.location is not None
            address: Operand = Loc(address_name(step.location, step.address))
            value: Operand = self._values.get(i, 0)
            depends = self._sources.get(("addr", i))
            if depends:
                yield from self._sum(f"m{i}", depends)
                yield Assign(f"a{i}", "add", (address, self._left(f"m{i}", depends)))
                address = Reg(f"a{i}")
            depends = self._sources.get(("data", i))
            if depends:
                yield from self._sum(f"n{i}", depends)
                yield Assign(f"v{i}", "add", (self._left(f"n{i}", depends), value))
                value = Reg(f"v{i}")
            if step.kind is OpKind.UPDATE:
                yield Rmw("exch", f"r{i}", address, (value,), mode)
            elif step.kind is OpKind.READ:
                yield Load(f"r{i}", address, mode)
            else:
                yield Store(address, value, mode)

    def _operation(self, parts: tuple[int, ...]) -> Iterator[Instruction]:
        """An asynchronous operation; what no mbarrier tells the completion of is a group by itself."""
        where = [Loc(location_name(self._execution.steps[i].location or 0)) for i in parts]
        first = self._execution.steps[parts[0]]
        mode = ptx.BULK_COPY if "async" in first.mode.tags else PLAIN
        copied = first.kind is OpKind.READ
        operation = AsyncOperation(
            where[copied],
            where[0] if copied else None,
            0 if copied else self._values[parts[0]],
            mode=mode,
            barrier=where[-1] if first.mode == BULK else None,
            count=_bytes(parts) if first.mode == BULK else 0,
            group=_group(first.mode),
        )
        yield operation
        if operation.barrier is None:
            yield AsyncGroup(operation.group)

    def _sum(self, target: str, sources: list[int]) -> Iterator[Instruction]:
        """What is left of all sources, added up in ``target`` where they are more than one."""
        yield from (masked(f"d{source}", f"r{source}") for source in sources)
        total = Reg(f"d{sources[0]}")
        for source in sources[1:]:
            yield Assign(target, "add", (total, Reg(f"d{source}")))
            total = Reg(target)

    def _left(self, total: str, sources: list[int]) -> Reg:
        return Reg(total if len(sources) > 1 else f"d{sources[0]}")


def _group(mode: Mode) -> str:
    """The kind of groups that operations of a mode are in."""
    return COPIES if mode == COPY else BULK_GROUP


def with_scope(mode: Mode) -> Mode:
    """The mode with the scope that an order has where the language names none, as C does: that of the system."""
    return replace(mode, scope=Scope.SYS) if mode.order is not Order.WEAK and mode.scope is None else mode
