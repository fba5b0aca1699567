"""Reads and prints what Dartagnan's PTX dialect is extended by for asynchronous operations (PTX ISA 9.1, 9.7.9.25 and
9.7.13.15).

    mbarrier.init m, 1                                  | LC0: mbarrier.test_wait.parity.acquire.cta r0, m, 0 ;
    mbarrier.arrive.expect_tx.release.cta r0, m, 16     | beq r0, 0, LC0                                      ;
    cp.async.bulk.mbarrier::complete_tx::bytes d,s,16,m | ld.weak r1, d                                       ;

The words are PTX's, without types and state spaces: locations in shared memory are declared so, ``shared m=0``. A
location stands for what one copy moves, of as many bytes as the copy says. ``mbarrier.try_wait`` is read as
``test_wait``, which it differs from in how long it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from corpus.dialects.dartagnan.columns import CodeCell, Refuse, ThreadNames
from corpus.laws.ptx import (
    BULK_COPY,
    BULK_REDUCTION,
    COMPLETE_TX,
    INITIALISING,
    PROXY_FENCES,
    REDUCTIONS,
    REMOTE_REDUCTION,
    of_mbarrier,
)
from corpus.litmus import test as litmus
from corpus.litmus.mbarrier import Mbarrier

_SCOPES: Mapping[str, litmus.Mode] = {
    "cta": litmus.Mode(scope=litmus.Scope.CTA),
    litmus.CLUSTER: litmus.Mode(scope=litmus.Scope.QUEUE, tags=(litmus.CLUSTER,)),
}
"""The modes of the scopes that mbarriers are used with, without an order."""

_ARRIVALS = {
    "mbarrier.arrive": "mbarrier.arrive",
    "mbarrier.arrive_drop": "mbarrier.arrive_drop",
    "mbarrier.arrive_expect": "mbarrier.arrive.expect_tx",
    "mbarrier.drop_expect": "mbarrier.arrive_drop.expect_tx",
}
"""The operations on an mbarrier that give its phase, by their words."""
_COUNTS = ("mbarrier.expect_tx", "mbarrier.complete_tx")
"""The operations on an mbarrier that give nothing."""

_FENCE_WORDS = {mode: words for words, mode in PROXY_FENCES.items()}


@dataclass(frozen=True, slots=True)
class _Form:
    """How an asynchronous operation is written: its words, and which operands it takes."""

    words: str
    source: bool
    size: int | None
    barrier: bool
    mode: litmus.Mode
    group: str = litmus.BULK
    reduces: bool = False

    def says(self, ins: litmus.AsyncOperation) -> bool:
        """Decide whether an operation is written in this form."""
        shape = (ins.source is not None, ins.barrier is not None, ins.mode, ins.group, ins.operation is not None)
        sized = self.size is None or not self.barrier or ins.count == self.size
        return sized and shape == (self.source, self.barrier, self.mode, self.group, self.reduces)


_FORMS = (
    _Form("cp.async", True, 0, False, litmus.PLAIN, litmus.COPIES),
    _Form(f"cp.async.bulk.{COMPLETE_TX}", True, None, True, BULK_COPY),
    _Form("cp.async.bulk.bulk_group", True, None, False, BULK_COPY),
    _Form(f"cp.reduce.async.bulk.{COMPLETE_TX}", True, None, True, BULK_REDUCTION, reduces=True),
    _Form("cp.reduce.async.bulk.bulk_group", True, None, False, BULK_REDUCTION, reduces=True),
    _Form(f"st.async.{COMPLETE_TX}", False, 4, True, BULK_COPY),
    _Form(f"red.async.relaxed.cluster.{COMPLETE_TX}", False, 4, True, REMOTE_REDUCTION, reduces=True),
)
"""The asynchronous operations that write memory. ``size``: the bytes that one is of, None where an operand says it."""
_BY_WORDS = {form.words: form for form in _FORMS}
_TRACKS = {"cp.async.mbarrier.arrive": "arrive", "cp.async.mbarrier.arrive.noinc": "arrive.noinc"}


def read_asynchronous(cell: CodeCell) -> tuple[litmus.Instruction, ...] | None:
    """Return what an instruction means that the dialect is extended by; None where it is none of these.

    Raises ``InputError`` where its words or operands are not such an instruction's.
    """
    opcode = str(cell.opcode)
    if opcode in PROXY_FENCES:
        cell.expects(0)
        return (litmus.Fence(PROXY_FENCES[opcode]),)
    if opcode.startswith("mbarrier."):
        return (_mbarrier(cell, opcode),)
    if opcode in _TRACKS:
        cell.expects(1)
        target = cell.location(0)
        return (litmus.AsyncOperation(None, barrier=target, mbarrier=_TRACKS[opcode], count=1, group=litmus.COPIES),)
    for kind in (litmus.BULK, litmus.COPIES):
        if opcode.startswith(kind) and (group := _group(cell, kind, opcode.removeprefix(kind))) is not None:
            return group
    words, _, operation = opcode.rpartition(".")
    form = _BY_WORDS.get(opcode) or (_BY_WORDS.get(words) if operation in REDUCTIONS else None)
    if form is None or form.reduces is (form.words == opcode):
        if opcode.split(".")[0] == "cp" or ".async" in opcode:
            raise cell.error(f"expected {' or '.join(form.words for form in _FORMS)}, found {opcode}")
        return None
    cell.expects(2 + form.barrier + (form.size is None))
    places = iter(range(len(cell.operands)))
    target, given = cell.location(next(places)), next(places)
    size = form.size if form.size is not None else cell.count(next(places))
    return (
        litmus.AsyncOperation(
            target,
            cell.location(given) if form.source else None,
            0 if form.source else cell.value(given),
            operation if form.reduces else None,
            form.mode,
            cell.location(next(places)) if form.barrier else None,
            count=size if size is not None and form.barrier else 0,
            group=form.group,
        ),
    )


def _group(cell: CodeCell, kind: str, words: str) -> tuple[litmus.Instruction, ...] | None:
    """The instructions that make a group of asynchronous operations, or wait for groups."""
    if words == ".commit_group":
        cell.expects(0)
        return (litmus.AsyncGroup(kind),)
    if words == ".wait_all" and kind == litmus.COPIES:
        cell.expects(0)
        return litmus.AsyncGroup(kind), litmus.AsyncGroup(kind, 0)
    if words not in (".wait_group", *([".wait_group.read"] if kind == litmus.BULK else [])):
        return None
    cell.expects(1)
    pending = cell.count(0)
    if not isinstance(pending, int):
        raise cell.error(f"expected a number of groups after {cell.opcode}")
    return (litmus.AsyncGroup(kind, pending, words.endswith("read")),)


def _mbarrier(cell: CodeCell, opcode: str) -> litmus.Instruction:
    if opcode == "mbarrier.init":
        cell.expects(2)
        expected = cell.count(1)
        if not isinstance(expected, int):
            raise cell.error("expected the number of arrivals after mbarrier.init")
        return litmus.Store(cell.location(0), Mbarrier(expected, expected).bits(), INITIALISING)
    if opcode == "mbarrier.pending_count":
        cell.expects(2)
        return litmus.Assign(cell.register(0), opcode, (cell.value(1), 0))
    stem, order, scope = [*opcode.rsplit(".", 2), "", ""][:3]
    tested = stem.replace("try_wait", "test_wait")
    orders = {
        **dict.fromkeys(_ARRIVALS.values(), (litmus.Order.RELEASE, litmus.Order.RELAXED)),
        **dict.fromkeys(_COUNTS, (litmus.Order.RELAXED,)),
        **dict.fromkeys(("mbarrier.test_wait", "mbarrier.test_wait.parity"), _WAITS),
    }
    if tested not in orders or order not in orders[tested] or scope not in _SCOPES:
        known = ", ".join(f"{words}.{{{','.join(given)}}}.{{cta,cluster}}" for words, given in orders.items())
        raise cell.error(f"expected {known}, mbarrier.init or mbarrier.pending_count, found {opcode}")
    mode = of_mbarrier(replace(_SCOPES[scope], order=litmus.Order(order)))
    if tested.startswith("mbarrier.test_wait"):
        cell.expects(3)
        parity = tested.endswith("parity")
        return litmus.Load(cell.register(0), cell.location(1), mode, phase=cell.value(2), parity=parity)
    if stem in _COUNTS:
        cell.expects(2)
        return litmus.Rmw(stem, None, cell.location(0), (cell.value(1),), mode)
    operation = next(name for name, words in _ARRIVALS.items() if words == stem)
    cell.expects(*((3,) if "expect" in operation else (2, 3)))
    counted = cell.value(2) if len(cell.operands) > 2 else 1
    return litmus.Rmw(operation, cell.register(0), cell.location(1), (counted,), mode)


_WAITS = (litmus.Order.ACQUIRE, litmus.Order.RELAXED)
"""The orders of waits."""


def is_extended(ins: litmus.Instruction) -> bool:
    """Decide whether this module has the words for an instruction."""
    return ins.mode in _FENCE_WORDS if isinstance(ins, litmus.Fence) else litmus.is_asynchronous(ins)


def write_asynchronous(
    ins: litmus.Instruction, names: ThreadNames, address: Callable[[litmus.Operand], str], refuse: Refuse
) -> str:
    """Return the text of such an instruction, the inverse of ``read_asynchronous``."""
    match ins:
        case litmus.Fence(mode):
            return _FENCE_WORDS[mode]
        case litmus.AsyncGroup(kind, pending, read):
            return f"{kind}.commit_group" if pending is None else f"{kind}.wait_group{'.read' * read} {pending}"
        case litmus.Store(target, int(value)):
            return f"mbarrier.init {address(target)}, {Mbarrier.of(value).expected}"
        case litmus.Assign(target, operation, (token, _)):
            return f"{operation} {names.register(target)}, {names.value(token)}"
        case litmus.Load(target, where, mode, phase=litmus.Reg() | int() as phase, parity=parity):
            words = f"mbarrier.test_wait{'.parity' * parity}{_ordered(mode, refuse)}"
            return f"{words} {names.register(target)}, {address(where)}, {names.value(phase)}"
        case litmus.Rmw(operation, target, where, (counted,), mode) if (target is None) is (operation in _COUNTS):
            words = _ARRIVALS.get(operation, operation) + _ordered(mode, refuse)
            result = [] if target is None else [names.register(target)]
            more = [] if operation in _ONE_BY_ONE and counted == 1 else [names.value(counted)]
            return f"{words} {', '.join([*result, address(where), *more])}"
        case litmus.AsyncOperation(None, barrier=litmus.Loc() as where, mbarrier=word):
            return f"{next(words for words, each in _TRACKS.items() if each == word)} {address(where)}"
        case litmus.AsyncOperation(litmus.Loc() as where, more=()):
            form = next((form for form in _FORMS if form.says(ins)), None)
            if form is not None:
                given = names.value(ins.value) if ins.source is None else address(ins.source)
                size = [names.value(_UNSAID if ins.barrier is None else ins.count)] if form.size is None else []
                done = [] if ins.barrier is None else [address(ins.barrier)]
                words = form.words if ins.operation is None else f"{form.words}.{ins.operation}"
                return f"{words} {', '.join([address(where), given, *size, *done])}"
    raise refuse("the PTX dialect has no such asynchronous instruction")


_UNSAID = 16
"""The bytes of an operation of which nobody counts any."""
_ONE_BY_ONE = ("mbarrier.arrive", "mbarrier.arrive_drop")
"""The arrivals that are one unless they say how many."""


def _ordered(mode: litmus.Mode, refuse: Refuse) -> str:
    for word, plain in _SCOPES.items():
        if mode == of_mbarrier(replace(plain, order=mode.order)):
            return f".{mode.order}.{word}"
    raise refuse("an mbarrier is used with an order and the scope of a CTA or a cluster")
