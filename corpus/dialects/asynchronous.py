"""Reads and prints what the dialects for PTX are extended by for asynchronous operations (PTX ISA 9.1, 9.7.9.25 and
9.7.13.15).

    mbarrier.init m, 1                                  | LC0: mbarrier.test_wait.parity.acquire.cta r0, m, 0 ;
    mbarrier.arrive.expect_tx.release.cta r0, m, 16     | beq r0, 0, LC0                                      ;
    cp.async.bulk.mbarrier::complete_tx::bytes d,s,16,m | ld.weak r1, d                                       ;

The words are PTX's, without types and state spaces: locations in shared memory are declared so, ``shared m=0``. A
location stands for what one copy moves, of as many bytes as the copy says. A copy with ``.multicast::cluster`` is read
as a copy to each of its destinations: nothing says that its source is read once, or how its completions are ordered. A
tensor map is a location that holds the address of a box, and a fence acquires all tensor maps. ``mbarrier.try_wait`` is
read as ``test_wait``, which it differs from in how long it takes.

The words stand here once, as those of Dartagnan's PTX dialect. A dialect says what its operands look like
(``AsynchronousCell``, ``write_asynchronous``), and GPU_PTX adds types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from corpus.errors import InputError
from corpus.laws.ptx import (
    BULK_COPY,
    BULK_REDUCTION,
    COMPLETE_TX,
    INITIALISING,
    MBARRIER_ARRIVALS,
    MBARRIER_COUNTS,
    MBARRIER_ORDERS,
    MBARRIER_SCOPES,
    PROXY_FENCE_WORDS,
    PROXY_FENCES,
    REDUCTIONS,
    REMOTE_REDUCTION,
    of_mbarrier,
)
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Fence,
    Instruction,
    Load,
    Rmw,
    Store,
    is_asynchronous,
)
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.orders import BULK, COPIES, PLAIN, Mode, Order


@dataclass(frozen=True, slots=True)
class _Form:
    """How an asynchronous operation is written: its words, and which operands it takes."""

    words: str
    source: bool
    size: int | None
    barrier: bool
    mode: Mode
    group: str = BULK
    reduces: bool = False
    tensor: bool = False

    def says(self, ins: AsyncOperation) -> bool:
        """Decide whether an operation is written in this form."""
        shape = (ins.source is not None, ins.barrier is not None, ins.mode, ins.group, ins.operation is not None)
        sized = self.size is None or not self.barrier or ins.count == self.size
        own = (self.source, self.barrier, self.mode, self.group, self.reduces)
        return sized and (*shape, ins.tensor) == (*own, self.tensor)


_FORMS = (
    _Form("cp.async", True, 0, False, PLAIN, COPIES),
    _Form(f"cp.async.bulk.{COMPLETE_TX}", True, None, True, BULK_COPY),
    _Form("cp.async.bulk.bulk_group", True, None, False, BULK_COPY),
    _Form(f"cp.reduce.async.bulk.{COMPLETE_TX}", True, None, True, BULK_REDUCTION, reduces=True),
    _Form("cp.reduce.async.bulk.bulk_group", True, None, False, BULK_REDUCTION, reduces=True),
    _Form(f"cp.async.bulk.tensor.{COMPLETE_TX}", True, None, True, BULK_COPY, tensor=True),
    _Form("cp.async.bulk.tensor.bulk_group", True, None, False, BULK_COPY, tensor=True),
    _Form("cp.reduce.async.bulk.tensor.bulk_group", True, None, False, BULK_REDUCTION, reduces=True, tensor=True),
    _Form(f"st.async.{COMPLETE_TX}", False, 4, True, BULK_COPY),
    _Form(f"red.async.relaxed.cluster.{COMPLETE_TX}", False, 4, True, REMOTE_REDUCTION, reduces=True),
)
"""The asynchronous operations that write memory. ``size``: the bytes that one is of, None where an operand says it."""
_MULTICAST = f"cp.async.bulk.{COMPLETE_TX}.multicast::cluster"
"""The copy to several CTAs, which stands for as many copies."""
_BY_WORDS = {form.words: form for form in _FORMS}
_TRACKS = {"cp.async.mbarrier.arrive": "arrive", "cp.async.mbarrier.arrive.noinc": "arrive.noinc"}


class AsynchronousCell(Protocol):
    """An instruction as it stands in a test: its opcode, in the words of this module, and its operands by number.

    What asks for an operand raises ``InputError`` where that is of another kind.
    """

    @property
    def opcode(self) -> str:
        """The words of the instruction, joined by dots as they were read."""

    @property
    def operands(self) -> Sequence[object]:
        """The operands as they were read, in the order of the text."""

    def error(self, message: str) -> InputError:
        """Return an error with a message, placed at the opcode."""

    def register(self, index: int) -> str:
        """Return the name of the register that is written."""

    def addresses(self, index: int) -> tuple[Operand, ...]:
        """Return the addresses that an operand names, one for each element."""

    def value(self, index: int) -> Operand:
        """Return a number or a register that a word of the text is."""

    def count(self, index: int) -> Operand | None:
        """Return a natural number or a register."""


def expect_operands(cell: AsynchronousCell, least: int, most: int | None = None) -> None:
    """Raise ``InputError`` where the number of operands is out of range."""
    if not least <= len(cell.operands) <= (most or least):
        wanted = f"{least}" if most is None else f"{least} to {most}"
        raise cell.error(f"expected {wanted} operands of {cell.opcode}, found {len(cell.operands)}")


class AsynchronousNames(Protocol):
    """The names that a printed thread gives to registers, and how it says values."""

    def register(self, name: str) -> str:
        """Return the name under which a register is printed."""

    def value(self, operand: Operand) -> str:
        """Return a value as an operand has it in the text."""


def read_asynchronous(cell: AsynchronousCell) -> tuple[Instruction, ...] | None:
    """Return what an instruction means that the dialect is extended by; None where it is none of these.

    Raises ``InputError`` where its words or operands are not such an instruction's.
    """
    opcode = str(cell.opcode)
    if opcode in PROXY_FENCES:
        expect_operands(cell, 0)
        return (Fence(PROXY_FENCES[opcode]),)
    if opcode.startswith("mbarrier."):
        return (_mbarrier(cell, opcode),)
    if opcode in _TRACKS:
        expect_operands(cell, 1)
        (target,) = _addresses(cell, 0, 1)
        return (AsyncOperation(None, barrier=target, mbarrier=_TRACKS[opcode], count=1, group=COPIES),)
    if opcode == _MULTICAST:
        return _copies_to_each(cell)
    for kind in (BULK, COPIES):
        if opcode.startswith(kind) and (group := _group(cell, kind, opcode.removeprefix(kind))) is not None:
            return group
    words, _, operation = opcode.rpartition(".")
    form = _BY_WORDS.get(opcode) or (_BY_WORDS.get(words) if operation in REDUCTIONS else None)
    if form is None or form.reduces is (form.words == opcode):
        if opcode.split(".")[0] == "cp" or ".async" in opcode:
            raise cell.error(f"expected {' or '.join(form.words for form in _FORMS)}, found {opcode}")
        return None
    expect_operands(cell, 2 + form.barrier + (form.size is None))
    places = iter(range(len(cell.operands)))
    targets, given = cell.addresses(next(places)), next(places)
    if len(targets) > 1 and not form.source:
        raise cell.error(f"expected one address of {opcode}, found {len(targets)}")
    sources = _addresses(cell, given, len(targets)) if form.source else ()
    size = form.size if form.size is not None else cell.count(next(places))
    return (
        AsyncOperation(
            targets[0],
            sources[0] if sources else None,
            0 if form.source else cell.value(given),
            operation if form.reduces else None,
            form.mode,
            _addresses(cell, next(places), 1)[0] if form.barrier else None,
            count=size if size is not None and form.barrier else 0,
            group=form.group,
            tensor=form.tensor,
            more=tuple(zip(targets[1:], sources[1:], strict=True)) if sources else (),
        ),
    )


def _copies_to_each(cell: AsynchronousCell) -> tuple[Instruction, ...]:
    """The copies that a copy to several CTAs is (PTX ISA 9.1, 9.7.9.25.4.1): one to each destination, which completes
    at that destination's mbarrier. ``d0, d1, s, 16, m0, m1``: the destinations, what is copied, bytes, mbarriers.
    """
    count, odd = divmod(len(cell.operands) - 2, 2)
    if odd or count < 1:
        raise cell.error(f"expected as many mbarriers as destinations of {cell.opcode}, its source and a size")
    source, size = _addresses(cell, count, 1)[0], cell.count(count + 1)
    assert size is not None
    return tuple(
        AsyncOperation(
            _addresses(cell, number, 1)[0],
            source,
            mode=BULK_COPY,
            barrier=_addresses(cell, count + 2 + number, 1)[0],
            count=size,
        )
        for number in range(count)
    )


def _addresses(cell: AsynchronousCell, index: int, length: int) -> tuple[Operand, ...]:
    """The addresses that an operand names, as many as are expected."""
    found = cell.addresses(index)
    if len(found) != length:
        raise cell.error(f"expected {length} addresses in operand {index + 1} of {cell.opcode}, found {len(found)}")
    return found


def _group(cell: AsynchronousCell, kind: str, words: str) -> tuple[Instruction, ...] | None:
    """The instructions that make a group of asynchronous operations, or wait for groups."""
    if words == ".commit_group":
        expect_operands(cell, 0)
        return (AsyncGroup(kind),)
    if words == ".wait_all" and kind == COPIES:
        expect_operands(cell, 0)
        return AsyncGroup(kind), AsyncGroup(kind, 0)
    if words not in (".wait_group", *([".wait_group.read"] if kind == BULK else [])):
        return None
    expect_operands(cell, 1)
    pending = cell.count(0)
    if not isinstance(pending, int):
        raise cell.error(f"expected a number of groups after {cell.opcode}")
    return (AsyncGroup(kind, pending, words.endswith("read")),)


def _mbarrier(cell: AsynchronousCell, opcode: str) -> Instruction:
    if opcode == "mbarrier.init":
        expect_operands(cell, 2)
        expected = cell.count(1)
        if not isinstance(expected, int):
            raise cell.error("expected the number of arrivals after mbarrier.init")
        return Store(_addresses(cell, 0, 1)[0], Mbarrier(expected, expected).bits(), INITIALISING)
    if opcode == "mbarrier.pending_count":
        expect_operands(cell, 2)
        return Assign(cell.register(0), opcode, (cell.value(1), 0))
    stem, order, scope = [*opcode.rsplit(".", 2), "", ""][:3]
    tested = stem.replace("try_wait", "test_wait")
    if tested not in MBARRIER_ORDERS or order not in MBARRIER_ORDERS[tested] or scope not in MBARRIER_SCOPES:
        known = ", ".join(f"{words}.{{{','.join(given)}}}.{{cta,cluster}}" for words, given in MBARRIER_ORDERS.items())
        raise cell.error(f"expected {known}, mbarrier.init or mbarrier.pending_count, found {opcode}")
    mode = of_mbarrier(replace(MBARRIER_SCOPES[scope], order=Order(order)))
    if tested.startswith("mbarrier.test_wait"):
        expect_operands(cell, 3)
        parity = tested.endswith("parity")
        return Load(cell.register(0), _addresses(cell, 1, 1)[0], mode, phase=cell.value(2), parity=parity)
    if stem in MBARRIER_COUNTS:
        expect_operands(cell, 2)
        return Rmw(stem, None, _addresses(cell, 0, 1)[0], (cell.value(1),), mode)
    operation = next(name for name, words in MBARRIER_ARRIVALS.items() if words == stem)
    expect_operands(cell, *((3,) if "expect" in operation else (2, 3)))
    counted = cell.value(2) if len(cell.operands) > 2 else 1
    return Rmw(operation, cell.register(0), _addresses(cell, 1, 1)[0], (counted,), mode)


def is_extended(ins: Instruction) -> bool:
    """Decide whether this module has the words for an instruction."""
    return ins.mode in PROXY_FENCE_WORDS if isinstance(ins, Fence) else is_asynchronous(ins)


def write_asynchronous(
    ins: Instruction,
    names: AsynchronousNames,
    address: Callable[..., str],
    refuse: Callable[[str], InputError],
) -> str:
    """Return the text of such an instruction, the inverse of ``read_asynchronous``.

    ``address`` returns the operand for one address, or for those of several elements.
    """
    match ins:
        case Fence(mode):
            return PROXY_FENCE_WORDS[mode]
        case AsyncGroup(kind, pending, read):
            return f"{kind}.commit_group" if pending is None else f"{kind}.wait_group{'.read' * read} {pending}"
        case Store(target, int(value)):
            return f"mbarrier.init {address(target)}, {Mbarrier.of(value).expected}"
        case Assign(target, operation, (token, _)):
            return f"{operation} {names.register(target)}, {names.value(token)}"
        case Load(target, where, mode, phase=Reg() | int() as phase, parity=parity):
            words = f"mbarrier.test_wait{'.parity' * parity}{_ordered(mode, refuse)}"
            return f"{words} {names.register(target)}, {address(where)}, {names.value(phase)}"
        case Rmw(operation, target, where, (counted,), mode) if (target is None) is (operation in MBARRIER_COUNTS):
            words = MBARRIER_ARRIVALS.get(operation, operation) + _ordered(mode, refuse)
            result = [] if target is None else [names.register(target)]
            more = [] if operation in _ONE_BY_ONE and counted == 1 else [names.value(counted)]
            return f"{words} {', '.join([*result, address(where), *more])}"
        case AsyncOperation(None, barrier=Loc() | Reg() as where, mbarrier=word):
            return f"{next(words for words, track in _TRACKS.items() if track == word)} {address(where)}"
        case AsyncOperation(Loc() | Reg() as where, source, more=more):
            form = next((form for form in _FORMS if form.says(ins)), None)
            if form is not None:
                given = names.value(ins.value) if source is None else address(source, *(source for _, source in more))
                size = [names.value(_UNSAID if ins.barrier is None else ins.count)] if form.size is None else []
                done = [] if ins.barrier is None else [address(ins.barrier)]
                words = form.words if ins.operation is None else f"{form.words}.{ins.operation}"
                target = address(where, *(target for target, _ in more))
                return f"{words} {', '.join([target, given, *size, *done])}"
    raise refuse("the PTX dialect has no such asynchronous instruction")


_UNSAID = 16
"""The bytes of an operation of which nobody counts any."""
_ONE_BY_ONE = ("mbarrier.arrive", "mbarrier.arrive_drop")
"""The arrivals that are one unless they say how many."""


def _ordered(mode: Mode, refuse: Callable[[str], InputError]) -> str:
    for word, plain in MBARRIER_SCOPES.items():
        if mode == of_mbarrier(replace(plain, order=mode.order)):
            return f".{mode.order}.{word}"
    raise refuse("an mbarrier is used with an order and the scope of a CTA or a cluster")
