"""Reads and prints litmus tests in Dartagnan's Vulkan dialect. The memory model is that of the Vulkan specification's
appendix.

    VULKAN MP
    "message passing"
    { x=0; y=0; }
     P0@sg 0,wg 0,qf 0              | P1@sg 0,wg 1,qf 0                 ;
     st.av.dv.sc0 x, 1              | ld.atom.acq.dv.sc0.semsc0 r1, y   ;
     st.atom.rel.dv.sc0.semsc0 y, 1 | ld.vis.dv.sc0 r2, x               ;
    exists (P1:r1 == 1 /\\ P1:r2 == 0)

The scopes sg (subgroup), wg (workgroup), qf (queue family) and dv (device) are ``WARP``, ``CTA``, ``QUEUE`` and
``GPU``. An access with ``.atom`` is relaxed where it has no order; one without is weak, and only with ``av`` or ``vis``
has it a scope. The rest of the words are tags: the storage class ``sc0`` .. ``sc3`` that every access has, the classes
``semsc0`` .. ``semsc3`` that it orders, ``semav`` and ``semvis``, ``av``, ``vis`` and ``nonpriv``; what they imply of
each other (an atomic access is not private) is for a model to say. ``avdevice`` and ``visdevice`` are fences with that
tag. ``ld.scN r, v`` is a move.

After the initial state, ``{ ssw 0 1; }`` says that all of P0 system-synchronizes with all of P1. The scope of ``cbar``
is that of its memory semantics; the threads that wait for each other are those of the workgroup.

A compare-and-swap, ``rmw.atom.dv.sc0.cas r, x, expected, new``, is an addition of ours: Dartagnan has none here. So are
what lanes of a subgroup do together, OpGroupNonUniformAny and its like: ``sg.any r, v``, ``sg.all r, v``, ``sg.ballot
r, v``, ``sg.elect r``, ``sg.shuffle r, v, lane`` and ``sg.barrier``.

Gaps: there are no reductions, and a compare-and-swap has one order; an initial value that is copied, ``z=x``, is not
read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from corpus.dialects.asynchronous import expect_operands
from corpus.dialects.dartagnan.columns import CodeCell, Columns, Refuse, ThreadNames
from corpus.errors import InputError
from corpus.laws.vulkan import (
    BARRIER,
    DEVICE_OPERATIONS,
    FENCE,
    LOAD,
    OPERATIONS,
    RMW,
    SCOPES,
    SEMANTICS,
    STORAGE,
    STORE,
    VulkanRule,
)
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import (
    SUBGROUP_OPERATIONS,
    Assign,
    Barrier,
    Fence,
    GroupOperation,
    Instruction,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.orders import Mode, Order, Place
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, ForeignRunner

_ORDERS = {"acq": Order.ACQUIRE, "rel": Order.RELEASE, "acq_rel": Order.ACQ_REL}
_WORDS = {order: word for word, order in _ORDERS.items()}


class _Vulkan(Columns):
    title = "the Vulkan dialect"
    language = "VULKAN"
    levels = ("sg", "wg", "qf")
    scopes: ClassVar = dict(zip(SCOPES, ("sg", "wg", "qf", "dv"), strict=True))
    move = "ld.sc0"
    synchronises = True
    keywords = (
        "avdevice visdevice ssw ld st rmw membar cbar sg wg qf dv nonpriv atom acq rel acq_rel vis av semvis semav "
        "sc0 sc1 sc2 sc3 semsc0 semsc1 semsc2 semsc3"
    )

    def places(self, groups: Sequence[tuple[int, ...]]) -> list[Place]:
        return [Place(0, queue, workgroup, subgroup) for subgroup, workgroup, queue in groups]

    def groups(self, places: Sequence[Place]) -> list[tuple[int, ...]]:
        for index, place in enumerate(places):
            if place.gpu != places[0].gpu:
                raise InputError(f"P0 and P{index} are on two GPUs: {self.title} has one device")
        return [(place.warp, place.cta, place.queue) for place in places]

    def read(self, cell: CodeCell) -> Instruction:
        name, *words = cell.opcode.split(".")
        match name:
            case "ld" if len(cell.operands) == 2 and cell.operands[1].type != "NAME":
                if len(words) > 1 or not set(words) <= set(STORAGE):
                    raise cell.error(f"expected a location as the address of {cell.opcode}, or the move ld.sc0")
                return Assign(cell.register(0), "mov", (cell.value(1),))
            case "ld":
                expect_operands(cell, 2)
                return Load(cell.register(0), cell.location(1), self._mode(cell, words, LOAD))
            case "st":
                expect_operands(cell, 2)
                return Store(cell.location(0), cell.value(1), self._mode(cell, words, STORE))
            case "rmw":
                operation = words.pop() if words and words[-1] in OPERATIONS else "exch"
                expect_operands(cell, 4 if operation == "cas" else 3)
                mode = self._mode(cell, ["atom", *(word for word in words if word != "atom")], RMW)
                values = tuple(cell.value(index) for index in range(2, len(cell.operands)))
                return Rmw(operation, cell.register(0), cell.location(1), values, mode)
            case "membar":
                expect_operands(cell, 0)
                return Fence(self._mode(cell, words, FENCE))
            case "cbar":
                expect_operands(cell, 1, 3)
                mode = self._mode(cell, words, BARRIER)
                return Barrier(cell.value(0), False, cell.count(1), cell.count(2), mode)
            case "sg" if len(words) == 1 and words[0] in SUBGROUP_OPERATIONS:
                return self._group_operation(cell, words[0])
            case "avdevice" | "visdevice" if not words:
                expect_operands(cell, 0)
                return Fence(Mode(tags=(name,)))
        raise cell.error(f"expected an instruction of {self.title}, found {cell.opcode}")

    def _group_operation(self, cell: CodeCell, operation: str) -> GroupOperation:
        first = 0 if operation == "barrier" else 1
        expect_operands(cell, first + SUBGROUP_OPERATIONS[operation])
        values = tuple(cell.value(index) for index in range(first, len(cell.operands)))
        return GroupOperation(operation, cell.register(0) if first else None, values)

    def _mode(self, cell: CodeCell, words: list[str], kind: VulkanRule) -> Mode:
        """The mode that the words after the name say: the one whose spelling they are, up to the order of tags."""
        scopes = {word: scope for scope, word in self.scopes.items()}
        order = Order.RELAXED if "atom" in words else Order.WEAK
        scope = None
        tags = []
        for word in words:
            if word in _ORDERS:
                order = _ORDERS[word]
            elif word in scopes:
                scope = scopes[word]
            elif word != "atom":
                tags.append(word)
        mode = Mode(order, scope, tags=tuple(sorted(tags)))
        spelled = self._spell(mode, kind, cell.error)
        if sorted(spelled.split(".")) != sorted([kind.name, *words]):
            raise cell.error(f"expected {spelled}, found {cell.opcode}")
        return mode

    def _spell(self, mode: Mode, kind: VulkanRule, refuse: Refuse) -> str:
        access = kind in (LOAD, STORE, RMW)
        self.check(mode, kind.orders, (*kind.flow, *(STORAGE if access else ()), *SEMANTICS, *kind.semantics), refuse)
        storage = [tag for tag in mode.tags if tag in STORAGE]
        flow = [tag for tag in mode.tags if tag in kind.flow]
        semantics = [tag for tag in mode.tags if tag in (*SEMANTICS, *kind.semantics)]
        if access and len(storage) != 1:
            raise refuse(f"expected one storage class of {', '.join(STORAGE)} in {self.title}")
        if len(flow) > 1 or (flow and mode.order is not Order.WEAK):
            raise refuse(f"{self.title} has {' or '.join(kind.flow)} for weak accesses, one at a time")
        if access and semantics and mode.order is Order.WEAK:
            raise refuse(f"a weak access orders no storage class in {self.title}")
        words = [kind.name]
        words += ["atom"] if access and mode.order is not Order.WEAK else []
        words += [_WORDS[mode.order]] if mode.order in _WORDS else []
        words += flow
        if mode.order is not Order.WEAK or flow in (["av"], ["vis"]) or (kind is BARRIER and mode.scope is not None):
            words.append(self.scope(mode, refuse))
        elif mode.scope is not None:
            raise refuse(f"a weak access without av or vis has no scope in {self.title}")
        return ".".join([*words, *storage, *sorted(semantics, key=(*SEMANTICS, *kind.semantics).index)])

    def write(self, instruction: Instruction, names: ThreadNames, refuse: Refuse) -> str:
        match instruction:
            case Load(target, address, mode):
                return f"{self._spell(mode, LOAD, refuse)} {names.register(target)}, {self.address(address, refuse)}"
            case Store(address, value, mode):
                return f"{self._spell(mode, STORE, refuse)} {self.address(address, refuse)}, {names.value(value)}"
            case Rmw(operation, target, address, values, mode) if target is not None and operation in OPERATIONS:
                opcode = self._spell(mode, RMW, refuse) + (f".{operation}" if operation != "exch" else "")
                operands = [names.register(target), self.address(address, refuse), *map(names.value, values)]
                return f"{opcode} {', '.join(operands)}"
            case Rmw(operation, target):
                what = "reductions" if target is None else f"rmw {operation}"
                raise refuse(f"{self.title} has no {what}")
            case Fence(mode) if mode in [Mode(tags=(tag,)) for tag in DEVICE_OPERATIONS]:
                return mode.tags[0]
            case Fence(mode):
                return self._spell(mode, FENCE, refuse)
            case Barrier(arrive=arrive, mode=mode):
                if arrive:
                    raise refuse(f"every barrier waits in {self.title}")
                return f"{self._spell(mode, BARRIER, refuse)} {self.barrier(instruction, names, refuse)}"
            case GroupOperation(operation, target, values, None):
                words = [] if target is None else [names.register(target)]
                return f"sg.{operation} {', '.join([*words, *map(names.value, values)])}".rstrip()
            case GroupOperation():
                raise refuse(f"operations of a subgroup name no lanes in {self.title}")
            case _:
                raise refuse(f"{self.title} has no such instruction")


def _check_dartagnan(test: LitmusTest) -> None:
    for index, ins in test.code:
        if isinstance(ins, Rmw) and ins.operation == "cas":
            raise cannot_say(index, ins, "Dartagnan's Vulkan dialect has no compare-and-swap")
        if isinstance(ins, GroupOperation):
            raise cannot_say(index, ins, "Dartagnan's Vulkan dialect has no operations of a subgroup")


_VULKAN = _Vulkan()
VULKAN = Dialect(
    "vulkan",
    _VULKAN.language,
    _VULKAN.parse,
    _VULKAN.print,
    runners=(ForeignRunner("dartagnan-vulkan", check=_check_dartagnan),),
    synchronises=True,
)
"""Dartagnan's dialect of litmus tests for Vulkan."""
