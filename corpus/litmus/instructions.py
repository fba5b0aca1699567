"""Defines the instructions of litmus tests, and what each of them reads and writes.

They are the operations that GPU languages share, each with a ``Mode`` that says how it is done.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from corpus.litmus.locations import Operand, Reg
from corpus.litmus.orders import BULK, MBARRIER, PLAIN, Mode, Order, Scope


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
    """A jump to a label of the same thread, always or where the condition holds.

    ``checks``: it only asks whether what the program does is defined. No compiler has it, and nothing depends on it.
    """

    label: str
    condition: Comparison | None = None
    guard: Guard | None = None
    checks: bool = field(default=False, repr=False)


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


def operands_of(instruction: Instruction) -> tuple[Operand, ...]:
    """Return every operand that an instruction evaluates, its address first."""
    match instruction:
        case Load(address=address, phase=phase):
            return (address,) if phase is None else (address, phase)
        case Store(address=address, value=value):
            return (address, value)
        case AsyncOperation(target, source, value, barrier=barrier, count=counted):
            given = (target, source, value if source is None and target is not None else None, barrier)
            further = (operand for pair in instruction.more for operand in pair)
            return (
                *(operand for operand in given if operand is not None),
                *further,
                *(() if barrier is None else (counted,)),
            )
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


def addresses_of(instruction: Instruction) -> tuple[Operand, ...]:
    """Return the addresses at which an instruction accesses memory; an asynchronous operation has several."""
    match instruction:
        case Load(address=address) | Store(address=address) | Rmw(address=address):
            return (address,)
        case AsyncOperation(target, source, barrier=barrier, more=more):
            every = (target, source, barrier, *(operand for pair in more for operand in pair))
            return tuple(operand for operand in every if operand is not None)
        case _:
            return ()


def registers_read(instruction: Instruction) -> tuple[str, ...]:
    """Return the registers that an instruction reads, its guard's among them."""
    guard = () if isinstance(instruction, Label) or instruction.guard is None else (instruction.guard.register,)
    return guard + tuple(operand.name for operand in operands_of(instruction) if isinstance(operand, Reg))


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


def registers_written(instruction: Instruction) -> tuple[str, ...]:
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


NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
"""The comparison that holds of two numbers where another does not."""

SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "ge": "le", "gt": "lt", "le": "ge"}
"""The comparison of two numbers that holds where another holds of them the other way round."""
