"""Defines litmus tests of every dialect. They have threads in a scope tree, locations, instructions, and a final
condition.

The orders, scopes and operations are those that GPU languages share. A dialect reads its own spelling into these and
refuses to print what it cannot say; what only one dialect knows (proxies, storage classes) is a *tag*, which models
read as a set of that name.

Conventions, so that one program is one value whatever it was read from:

- ``membar.S`` is ``fence.sc.S`` (Lustig et al. 2019, Fig. 3c); an access without order is ``WEAK`` and has no scope;
- a volatile access is ``WEAK`` with ``volatile`` set, and models see it as relaxed at system scope (ibid., 3.6);
- an rmw without order or scope is relaxed at GPU scope, the default of PTX's ``atom``;
- threads whose dialect says nothing of warps are in a warp each, and in a CTA each where it says nothing of CTAs, as C.

Memory starts at 0 where nothing else is said, and so do registers. Values are 32-bit, two's complement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum, StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

Value = TypeVar("Value")


def hashed_once(kind: type[Value]) -> type[Value]:
    """Decorate a frozen dataclass whose values are looked up again and again: each computes its hash once, in every
    process.
    """
    of_parts = kind.__hash__

    def hash_of(value: Value) -> int:
        try:
            return value._hash  # type: ignore[attr-defined,no-any-return]
        except AttributeError:
            found = value.__dict__["_hash"] = of_parts(value)
            return found

    def reduced(value: Value) -> tuple[type[Value], tuple[object, ...]]:
        # In another process, the hash is another one.
        return kind, tuple(getattr(value, each.name) for each in fields(kind))  # type: ignore[arg-type]

    kind.__hash__ = hash_of  # type: ignore[method-assign,assignment]
    if "__reduce__" not in vars(kind):
        kind.__reduce__ = reduced  # type: ignore[method-assign,assignment]
    return kind


class Order(StrEnum):
    """How strongly an access or a fence is ordered. ``WEAK`` is also called plain or non-atomic."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SC = "sc"


class Scope(Enum):
    """The levels of the execution hierarchy, narrowest first; the value is the level's depth in ``Place``.

    ``QUEUE`` is a queue family of Vulkan, or a cluster of PTX (``CLUSTER``).
    """

    WARP = 4
    CTA = 3
    QUEUE = 2
    GPU = 1
    SYS = 0

    @property
    def label(self) -> str:
        """The scope as PTX spells it, ``cta``; ``warp`` and ``queue`` where PTX has no word."""
        return self.name.lower()


SCOPES = {scope.label: scope for scope in (Scope.CTA, Scope.GPU, Scope.SYS)}
"""The scopes that accesses and fences name in PTX, by its words, narrowest first."""


class Place(NamedTuple):
    """Where a thread is in the scope tree: the group at each level, numbered within the group around it."""

    gpu: int = 0
    queue: int = 0
    cta: int = 0
    warp: int = 0

    def shares(self, other: Place, scope: Scope) -> bool:
        """Decide whether both places are in one group at the level of ``scope``."""
        return self[: scope.value] == other[: scope.value]


class Region(StrEnum):
    """Where a location is. ``SHARED`` memory belongs to one CTA (OpenCL: local).

    Asynchronous operations of PTX access two more: registers of a thread, of which an operation has some
    (``REGISTER``), and the tensor memory of a CTA (``TENSOR``).
    """

    GLOBAL = "global"
    SHARED = "shared"
    REGISTER = "register"
    TENSOR = "tensor"


MEMORY_REGIONS = (Region.GLOBAL, Region.SHARED)
"""The regions of memory that any access may be to."""


@dataclass(frozen=True, slots=True, order=True)
class Reg:
    """A register of the thread that mentions it."""

    name: str


@dataclass(frozen=True, slots=True, order=True)
class Loc:
    """A location. As an operand its address, as a term of a condition its final value."""

    name: str


Operand = int | Reg | Loc


@dataclass(frozen=True, slots=True)
class Mode:
    """How an access, fence or barrier is done. ``cache`` is a PTX cache operator, as ``cg``; ``tags`` are sorted."""

    order: Order = Order.WEAK
    scope: Scope | None = None
    volatile: bool = False
    cache: str | None = None
    tags: tuple[str, ...] = ()


PROXIES = ("texture", "surface", "constant", "async", "tensormap")
"""The proxies that are not the generic one: tags of accesses through them and, of ``fence.proxy``."""
FENCED = ("generic", *PROXIES, "alias")
"""The proxies that a ``fence.proxy`` may be for, and ``alias``."""
CLUSTER = "cluster"
"""The tag of what has the scope of a cluster: the scope is ``QUEUE`` then, for no language has clusters and queues."""
BULK, COPIES, WGMMA = "cp.async.bulk", "cp.async", "wgmma"
"""The kinds of asynchronous operations that PTX has groups of."""
TENSOR_LOADS, TENSOR_STORES, TENSOR_OPERATIONS = "tcgen05.ld", "tcgen05.st", "tcgen05"
"""The kinds of asynchronous operations on tensor memory: a thread waits for all of the first, or of the second, and
the third complete at mbarriers."""
MBARRIER = "mbarrier"
"""The tag of what is done to an mbarrier, as the first word of the operation is."""
INIT = "init"
"""The tag of what initialises an mbarrier, and of the fence that releases nothing else."""
ONE_WAY = "one-way"
"""The tag of a fence from the generic to another proxy alone."""
EXIT = "exit"
"""The tag of an arrival at a barrier that is the end of a thread: nobody need wait for it, and it orders nothing."""
RELAXED = "relaxed"
"""The tag of an arrival at the barrier of a cluster that orders nothing by itself, and of what lanes of a warp do
together that orders no memory."""
EXCHANGED = "exchanged"
"""The tag of accesses to what lanes of a warp exchange."""
PLAIN = Mode()

ANNOTATED = "'"
"""The first character of a tag that is a word of the user's own bell file, ``'once``, and of its set of events."""

DEFAULT_RMW = Mode(Order.RELAXED, Scope.GPU)
"""An rmw that says neither order nor scope, as PTX's ``atom``."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A predicate: the instruction executes only where the register is not zero (or is, with ``unless``)."""

    register: str
    unless: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """``target := [address]``; ``sides`` as for ``unsequenced``.

    With a ``phase`` it is ``mbarrier.test_wait``: the target is whether the mbarrier at the address has completed that
    phase, which is given as an arrival told it, or by its ``parity``. Only where it has is the read an acquire.
    """

    target: str
    address: Operand
    mode: Mode = PLAIN
    guard: Guard | None = None
    sides: tuple[int, ...] = field(default=(), repr=False)
    phase: Operand | None = field(default=None, repr=False)
    parity: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class Store:
    """``[address] := value``; ``sides`` as for ``unsequenced``."""

    address: Operand
    value: Operand
    mode: Mode = PLAIN
    guard: Guard | None = None
    sides: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Rmw:
    """Atomically ``target := old; [address] := f(old)``; without a target, a reduction.

    ``operation`` is ``exch`` (operands: the new value), ``cas`` (expected, new; nothing is written where the old value
    is not the expected one) or one of ``ARITHMETIC`` (one operand: ``f(old) = old op operand``). ``failure`` is the
    order of the read of a ``cas`` that fails, None where it is that of one that succeeds. ``success``: of a *weak*
    ``cas``, which may fail for no reason, the register that tells whether it has written (1) or not (0).
    """

    operation: str
    target: str | None
    address: Operand
    operands: tuple[Operand, ...]
    mode: Mode = PLAIN
    guard: Guard | None = None
    failure: Order | None = field(default=None, repr=False)
    success: str | None = field(default=None, repr=False)
    sides: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class AsyncOperation:
    """An asynchronous operation of PTX: the thread asks for it, and the system does it some time later.

    It reads ``source`` where there is one, or else takes ``value``, and writes that to ``target``; with an
    ``operation`` of ``ARITHMETIC`` it updates the target atomically. Then it completes: by ``mbarrier``, an update of
    the mbarrier at ``barrier`` whose operand is ``count`` (``complete_tx`` with bytes, ``arrive`` with arrivals), or in
    the next ``AsyncGroup`` of its kind. An operation without a target is an arrival that waits for all earlier ones of
    ``group``. ``more``: the targets and sources of further elements that it copies. ``tensor``: it copies from what a
    tensor map points to, or, in a group, to that, and the operand is the location of the tensor map.
    """

    target: Operand | None
    source: Operand | None = None
    value: Operand = 0
    operation: str | None = None
    mode: Mode = PLAIN
    barrier: Operand | None = None
    mbarrier: str = "complete_tx"
    count: Operand = 0
    group: str = BULK
    guard: Guard | None = None
    more: tuple[tuple[Operand, Operand], ...] = ()
    tensor: bool = False

    @property
    def in_group(self) -> str | None:
        """The kind of groups that can have this operation: none where an mbarrier alone tells of its completion."""
        return self.group if self.barrier is None else None


@dataclass(frozen=True, slots=True)
class AsyncGroup:
    """The asynchronous ``operations``, as ``cp.async``, that a thread has asked for since the last group are a group.

    With ``pending``, the thread waits instead, until so many groups at most are not complete; with ``read``, until what
    the others read is read.
    """

    operations: str
    pending: int | None = None
    read: bool = False
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """A memory fence; with order ``WEAK``, an operation that its tags alone describe (``avdevice``)."""

    mode: Mode
    guard: Guard | None = None
    sides: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Barrier:
    """A control barrier: threads of one group at the level of ``scope`` meet; ``arrive`` does not wait for the others,
    and ``wait`` is no arrival but waits until the last one of its thread is of a complete meeting (``barrier.cluster``
    of PTX).

    Barriers meet whose ``resource`` is the same; where there is none, those of the same number. ``quorum`` is how many
    threads complete it, all of the group whose code has it where none is given. The mode says how it orders memory
    besides: with an order it is a fence, too, whose scope is the mode's, and need not be that of the group.
    """

    number: Operand
    arrive: bool = False
    resource: Operand | None = None
    quorum: Operand | None = None
    mode: Mode = PLAIN
    guard: Guard | None = None
    scope: Scope = Scope.CTA
    wait: bool = field(default=False, repr=False)

    @property
    def name(self) -> Operand:
        """The resource or number that barriers have in common where they meet."""
        return self.number if self.resource is None else self.resource


@dataclass(frozen=True, slots=True)
class GroupOperation:
    """An operation that lanes of one subgroup do together, one of ``SUBGROUP_OPERATIONS``.

    Its result is whether ``any`` of them brings a value that is not zero, or ``all`` of them do; a bit for each that
    does (``ballot``); 1 for one of them and 0 for the others (``elect``); or the value that another lane brings
    (``shuffle``). A ``barrier`` has none. Operands are the value that the lane brings and, of ``shuffle``, the number
    of the other lane. ``mask`` has a bit for each lane that must come, in the order of the subgroup's threads; None:
    those do it together that the stepping of the lanes says (``oracle.progress.stepping``).
    """

    operation: str
    target: str | None = None
    operands: tuple[Operand, ...] = ()
    mask: Operand | None = None
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """``target := operation(operands)``: ``mov`` (one operand), of ``ARITHMETIC``, or of ``COMPARISONS`` (0 or 1)."""

    target: str
    operation: str
    operands: tuple[Operand, ...]
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operation right``, the operation one of ``COMPARISONS``."""

    operation: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Branch:
    """A jump to a label of the same thread, always or where the condition holds."""

    label: str
    condition: Comparison | None = None
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A place that branches name."""

    name: str


Instruction = (
    Load | Store | Rmw | AsyncOperation | AsyncGroup | Fence | Barrier | GroupOperation | Assign | Branch | Label
)

ARITHMETIC = ("add", "sub", "mul", "div", "and", "or", "xor", "min", "max")
"""Binary operations of ``Assign`` and ``Rmw``. ``div`` rounds towards zero; a division by zero gives 0."""

SUBGROUP_OPERATIONS = {"any": 1, "all": 1, "ballot": 1, "elect": 0, "shuffle": 2, "barrier": 0}
"""The operations of ``GroupOperation``, and how many operands each has."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
"""Signed comparisons, as PTX's ``setp`` spells them."""


@hashed_once
@dataclass(frozen=True)
class Thread:
    """A column of a test. ``registers`` are initial values other than 0, sorted by name."""

    instructions: tuple[Instruction, ...]
    place: Place
    registers: tuple[tuple[str, Operand], ...] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        """Every register that the thread mentions, in its code or its initial values."""
        mentioned = {name for name, _ in self.registers}
        for instruction in self.instructions:
            mentioned |= set(reads(instruction))
            mentioned.update(written(instruction))
        return frozenset(mentioned)

    @cached_property
    def has_operations(self) -> bool:
        """Whether the thread asks for asynchronous operations, or waits for some."""
        return any(isinstance(ins, AsyncOperation | AsyncGroup) for ins in self.instructions)

    @cached_property
    def has_group_operations(self) -> bool:
        """Whether the thread does operations together with the lanes of its subgroup."""
        return any(isinstance(ins, GroupOperation) for ins in self.instructions)

    @cached_property
    def locations(self) -> frozenset[str]:
        """Every location whose address the thread mentions."""
        values = [operand for instruction in self.instructions for operand in operands(instruction)]
        values += [initial for _, initial in self.registers]
        return frozenset(value.name for value in values if isinstance(value, Loc))


@dataclass(frozen=True, slots=True)
class Alias:
    """Another address of a location's memory, for accesses through a proxy of PTX (``texture``); None: any access."""

    location: str
    proxy: str | None = None


@hashed_once
@dataclass(frozen=True)
class Location:
    """A location with its initial value (a number, or another location's address) and region.

    The elements of an array ``x`` are the locations ``x``, ``x[1]``, .. in a row, whose addresses are one apart.

    With an ``alias`` it has no memory of its own, nor an initial value, but is one more address of another location's.
    ``atomic``: that it is declared to be, or not to be, what only atomics may access; None: what its accesses say.
    """

    name: str
    initial: int | Loc = 0
    region: Region = Region.GLOBAL
    alias: Alias | None = None
    atomic: bool | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, order=True)
class FinalRegister:
    """The final value of a register, ``P1:r1``; threads are numbered from 0."""

    thread: int
    register: str


Term = int | FinalRegister | Loc


@dataclass(frozen=True, slots=True)
class Atom:
    """``left operation right`` over final values, the operation one of ``COMPARISONS``."""

    operation: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    body: Proposition


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; of nothing, true."""

    parts: tuple[Proposition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction; of nothing, false."""

    parts: tuple[Proposition, ...]


Proposition = Atom | Not | And | Or


class Quantifier(StrEnum):
    """What a condition claims of the allowed executions (those that pass its filter)."""

    EXISTS = "exists"
    NOT_EXISTS = "~exists"
    FORALL = "forall"


@hashed_once
@dataclass(frozen=True)
class Condition:
    """The question: a claim about final states. ``observed``: terms that runners print besides, ``locations [..]``."""

    quantifier: Quantifier
    proposition: Proposition
    filter: Proposition | None = None
    observed: tuple[Term, ...] = ()


@hashed_once
@dataclass(frozen=True)
class LitmusTest:
    """A litmus test. ``locations`` are in the order of declaration; every location the code mentions is there.

    ``synchronised`` are pairs of threads of which all of the first happens before all of the second by means of the
    system, as when one kernel ends before another is launched (Vulkan: system-synchronizes-with).
    """

    name: str
    threads: tuple[Thread, ...]
    locations: tuple[Location, ...]
    condition: Condition
    description: str = ""
    synchronised: tuple[tuple[int, int], ...] = field(default=(), repr=False)


def atoms(proposition: Proposition) -> Iterator[Atom]:
    """Return the comparisons of a proposition, from left to right."""
    match proposition:
        case Atom():
            yield proposition
        case Not(body):
            yield from atoms(body)
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms(part)


def map_atoms(proposition: Proposition, change: Callable[[Atom], Proposition]) -> Proposition:
    """Return a proposition with each comparison changed."""
    match proposition:
        case Atom():
            return change(proposition)
        case Not(body):
            return Not(map_atoms(body, change))
        case And(parts) | Or(parts):
            return replace(proposition, parts=tuple(map_atoms(part, change) for part in parts))


def conjunction(parts: Iterable[Proposition]) -> Proposition:
    """Return the conjunction of ``parts``, without an ``And`` in an ``And`` or around a single part."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,)))
    return flat[0] if len(flat) == 1 else And(flat)


def disjunction(parts: Iterable[Proposition]) -> Proposition:
    """Return the disjunction of ``parts``, without an ``Or`` in an ``Or`` or around a single part."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,)))
    return flat[0] if len(flat) == 1 else Or(flat)


def propositions(condition: Condition) -> tuple[Proposition, ...]:
    """Return the propositions of a condition: its filter, if it has one, and its own."""
    return (condition.proposition,) if condition.filter is None else (condition.filter, condition.proposition)


def sides_of(instruction: Instruction) -> tuple[int, ...]:
    """Return the operands of C's expressions that an access or fence is in: ``n`` for the left one of expression n,
    ``-n`` for the right one. Expressions are numbered through the thread, and the outermost comes first.
    """
    return instruction.sides if isinstance(instruction, Load | Store | Rmw | Fence) else ()


def unsequenced(one: Collection[int], other: Collection[int]) -> bool:
    """Decide whether two evaluations of operands, given by their sides, are in two operands of one expression."""
    return any(-side in other for side in one)


def sequenced(instructions: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return the instructions with expressions numbered by first mention, without those of which one operand does
    nothing.
    """
    used = {side for ins in instructions for side in sides_of(ins)}
    numbers: dict[int, int] = {}

    def renumbered(ins: Instruction) -> Instruction:
        if not isinstance(ins, Load | Store | Rmw | Fence) or not ins.sides:
            return ins
        kept = [side for side in ins.sides if -side in used]
        new = (numbers.setdefault(abs(side), len(numbers) + 1) * (1 if side > 0 else -1) for side in kept)
        return replace(ins, sides=tuple(new))

    return tuple(map(renumbered, instructions))


def operands(instruction: Instruction) -> tuple[Operand, ...]:
    """Return every operand that an instruction evaluates, its address first."""
    match instruction:
        case Load(address=address, phase=phase):
            return (address,) if phase is None else (address, phase)
        case Store(address=address, value=value):
            return (address, value)
        case AsyncOperation(target, source, value, barrier=barrier, count=counted):
            given = (target, source, value if source is None and target is not None else None, barrier)
            further = (each for pair in instruction.more for each in pair)
            return (*(each for each in given if each is not None), *further, *(() if barrier is None else (counted,)))
        case Rmw(address=address, operands=values):
            return (address, *values)
        case Barrier():
            return (
                instruction.number,
                *(extra for extra in (instruction.resource, instruction.quorum) if extra is not None),
            )
        case GroupOperation(operands=values, mask=mask):
            return values if mask is None else (*values, mask)
        case Assign(operands=values):
            return values
        case Branch(condition=Comparison(left=left, right=right)):
            return (left, right)
        case _:
            return ()


def addresses(instruction: Instruction) -> tuple[Operand, ...]:
    """Return the addresses at which an instruction accesses memory; an asynchronous operation has several."""
    match instruction:
        case Load(address=address) | Store(address=address) | Rmw(address=address):
            return (address,)
        case AsyncOperation(target, source, barrier=barrier, more=more):
            every = (target, source, barrier, *(each for pair in more for each in pair))
            return tuple(each for each in every if each is not None)
        case _:
            return ()


def reads(instruction: Instruction) -> tuple[str, ...]:
    """Return the registers that an instruction reads, its guard's among them."""
    guard = () if isinstance(instruction, Label) or instruction.guard is None else (instruction.guard.register,)
    return guard + tuple(operand.name for operand in operands(instruction) if isinstance(operand, Reg))


def has_clusters(threads: Iterable[Thread]) -> bool:
    """Decide whether anything in some threads has the scope of a cluster, as the completion of a bulk copy has, or
    threads of several CTAs use one mbarrier.
    """
    users: dict[str, tuple[int, ...]] = {}
    for thread in threads:
        for ins in thread.instructions:
            if isinstance(ins, AsyncOperation) and ins.barrier is not None and ins.group != COPIES:
                return True
            if isinstance(ins, Load | Store | Rmw | Fence | Barrier) and CLUSTER in ins.mode.tags:
                return True
        cta = thread.place[: Scope.CTA.value]
        if any(users.setdefault(name, cta) != cta for name in objects((thread,))):
            return True
    return False


def is_asynchronous(instruction: Instruction) -> bool:
    """Decide whether an instruction asks for an asynchronous operation, waits for some, or is done to an mbarrier."""
    match instruction:
        case AsyncOperation() | AsyncGroup():
            return True
        case Load(mode=mode) | Store(mode=mode):
            return MBARRIER in mode.tags
        case Rmw(operation=operation) | Assign(operation=operation):
            return operation.startswith(f"{MBARRIER}.")
    return False


def objects(threads: Iterable[Thread]) -> frozenset[str]:
    """Return the locations that some threads use as mbarriers, by name."""
    found: set[str] = set()
    for thread in threads:
        for ins in thread.instructions:
            where = ins.barrier if isinstance(ins, AsyncOperation) else None
            if isinstance(ins, Load | Store | Rmw) and is_asynchronous(ins):
                where = ins.address
            found |= {where.name} if isinstance(where, Loc) else set()
    return frozenset(found)


def written(instruction: Instruction) -> tuple[str, ...]:
    """Return the registers that an instruction writes, in the order in which it writes them."""
    match instruction:
        case Load(target=target) | Assign(target=target):
            return (target,)
        case Rmw(target=old, success=success):
            return tuple(name for name in (old, success) if name is not None)
        case GroupOperation(target=str(target)):
            return (target,)
        case _:
            return ()


def element(array: str, index: int) -> str:
    """Return the location that is an element of an array."""
    return f"{array}[{index}]" if index else array


def element_of(location: str) -> tuple[str, int]:
    """Return the array that a location is an element of, and the element's index. A location outside arrays gives
    itself and 0.
    """
    array, _, index = location.partition("[")
    return array, int(index[:-1]) if index else 0


def accessed_atomically(threads: Iterable[Thread]) -> frozenset[str]:
    """Return the locations, or arrays, that an atomic accesses: by name, or by a register that is computed of it."""
    return frozenset[str]().union(*map(_accessed_atomically, threads))


@lru_cache(maxsize=1 << 10)  # the tests of a suite have threads in common
def _accessed_atomically(thread: Thread) -> frozenset[str]:
    found: set[str] = set()
    held = _held(thread)
    for ins in thread.instructions:
        if isinstance(ins, Load | Store | Rmw) and is_atomic(ins.mode):
            found |= _meant(ins.address, held)
        if isinstance(ins, AsyncOperation) and ins.barrier is not None:
            found |= _meant(ins.barrier, held)
    return frozenset(element_of(name)[0] for name in found)


def accessed(thread: Thread) -> list[tuple[int, frozenset[str] | None]]:
    """Return the accesses of a thread, each with the locations, or arrays, that it accesses by name or by a register
    that is computed of one; None where its address may come from memory.
    """
    accesses = [(at, ins) for at, ins in enumerate(thread.instructions) if isinstance(ins, Load | Store | Rmw)]
    read = {name for _, ins in accesses for name in written(ins)}
    held = _held(thread, read)
    named = [(at, frozenset(element_of(name)[0] for name in _meant(ins.address, held))) for at, ins in accesses]
    return [(at, names if names and _ANYWHERE not in names else None) for at, names in named]


def is_atomic(mode: Mode) -> bool:
    """Decide whether an access done in this way is atomic, as volatile accesses are."""
    return mode.order is not Order.WEAK or mode.volatile


_ANYWHERE = ""
"""The location of an address that is read from memory."""


def _held(thread: Thread, read: Iterable[str] = ()) -> dict[str, set[str]]:
    """The locations whose addresses registers are computed of; ``read``: the registers that may hold any."""
    held = {name: {value.name} for name, value in thread.registers if isinstance(value, Loc)}
    for name in read:
        held.setdefault(name, set()).add(_ANYWHERE)
    computed = [ins for ins in thread.instructions if isinstance(ins, Assign) and ins.operation in ("mov", "add")]
    for _ in computed:  # at most so far can an address go
        for assign in computed:
            held.setdefault(assign.target, set()).update(*(_meant(operand, held) for operand in assign.operands))
    return held


def _meant(operand: Operand, held: Mapping[str, set[str]]) -> set[str]:
    if isinstance(operand, Loc):
        return {operand.name}
    return held.get(operand.name, set()) if isinstance(operand, Reg) else set()


@lru_cache(maxsize=4)
def plain_locations(test: LitmusTest) -> frozenset[str]:
    """Return the locations that are not atomic: declared so, or not declared as anything and accessed by no atomic.

    What is accessed by an alias is the memory of another location.
    """
    known = {location.name: location for location in test.locations}
    memory = {name: physical(known, name) for name in known}
    atomic = {memory.get(name, name) for name in accessed_atomically(test.threads)}
    said = {name: known[memory[name]].atomic for name in known}
    return frozenset(
        name
        for name, declared in said.items()
        if not (element_of(memory[name])[0] in atomic if declared is None else declared)
    )


def as_accessed(test: LitmusTest) -> LitmusTest:
    """Return the test without the declarations that accesses make needless: that a location is atomic, or not."""
    if all(location.atomic is None for location in test.locations):
        return test
    atomic = accessed_atomically(test.threads)
    locations = (
        replace(each, atomic=None if each.atomic is (element_of(each.name)[0] in atomic) else each.atomic)
        for each in test.locations
    )
    return replace(test, locations=tuple(locations))


def physical(locations: Mapping[str, Location], name: str) -> str:
    """Return the location that has the memory of a location: itself, or what it is an alias of."""
    while (alias := locations[name].alias) is not None:
        name = alias.location
    return name


def located(locations: tuple[Location, ...], threads: tuple[Thread, ...]) -> tuple[Location, ...]:
    """Return ``locations`` and, after them by name, those that only the code mentions: global, initially 0."""
    known = {location.name for location in locations}
    used = {name for thread in threads for name in thread.locations}
    used |= {location.initial.name for location in locations if isinstance(location.initial, Loc)}
    used |= {location.alias.location for location in locations if location.alias}
    return locations + tuple(Location(name) for name in sorted(used - known))


def unguarded(thread: Thread) -> Thread:
    """Return the thread with each predicate written as a branch around its instruction, or as the condition of its
    jump.
    """
    if not any(not isinstance(ins, Label) and ins.guard for ins in thread.instructions):
        return thread
    labels = {ins.name for ins in thread.instructions if isinstance(ins, Label)}
    fresh = (name for number in range(2 * len(thread.instructions)) if (name := f"LC{number}") not in labels)
    lowered: list[Instruction] = []
    for ins in thread.instructions:
        if isinstance(ins, Label) or ins.guard is None:
            lowered.append(ins)
            continue
        holds, fails = ("eq", "ne") if ins.guard.unless else ("ne", "eq")
        predicate = Reg(ins.guard.register)
        if isinstance(ins, Branch) and ins.condition is None:
            lowered.append(Branch(ins.label, Comparison(holds, predicate, 0)))
        else:
            label = next(fresh)
            lowered += [Branch(label, Comparison(fails, predicate, 0)), replace(ins, guard=None), Label(label)]
    return replace(thread, instructions=tuple(lowered))


NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
"""The comparison that holds of two numbers where another does not."""


SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "ge": "le", "gt": "lt", "le": "ge"}
"""The comparison of two numbers that holds where another holds of them the other way round."""


def branching(thread: Thread, kept: Collection[str] = ()) -> Thread:
    """Return the thread with branches instead of predicates. Where only branches ask for a comparison, they make it.

    ``kept`` are registers that must keep their value, as the condition asks for them. What is left are comparisons
    whose result is data, or whose operands change before the branch.
    """
    body = list(unguarded(thread).instructions)
    initial = {name for name, _ in thread.registers}
    for ins in [ins for ins in body if isinstance(ins, Assign) and ins.operation in COMPARISONS]:
        predicate, start = ins.target, next(place for place, other in enumerate(body) if other is ins)
        uses = [place for place, other in enumerate(body) if predicate in reads(other)]
        span = body[start + 1 : max(uses, default=start) + 1]
        inside = {other.name for other in span if isinstance(other, Label)}
        entered = [other for other in body[: start + 1] + body[start + 1 + len(span) :] if isinstance(other, Branch)]
        if (
            predicate not in initial.union(kept)
            and [name for other in body for name in written(other)].count(predicate) == 1
            and all(place > start and _asks(body[place], predicate) for place in uses)
            and not {name for other in span for name in written(other)} & set(reads(ins))
            and not inside & {other.label for other in entered}
        ):
            body = [_with_condition(other, ins) for other in body if other is not ins]
    return replace(thread, instructions=tuple(body))


def _asks(ins: Instruction, predicate: str) -> bool:
    match ins:
        case Branch(condition=Comparison("eq" | "ne", Reg(name), 0)):
            return name == predicate
    return False


def _with_condition(ins: Instruction, comparison: Assign) -> Instruction:
    if not (isinstance(ins, Branch) and ins.condition and _asks(ins, comparison.target)):
        return ins
    operation = comparison.operation if ins.condition.operation == "ne" else NEGATED[comparison.operation]
    return replace(ins, condition=Comparison(operation, *comparison.operands))
