"""Reads and prints what Dartagnan's PTX dialect is extended by for the operations of tensor cores (PTX ISA 9.1, 9.7.15
and 9.7.16).

    { shared s=0; register d=0; }
     P0@cta 0,gpu 0                      ;
     st.weak s, 1                        ;
     fence.proxy.async                   ;
     wgmma.mma_async.sync.aligned d, s, 0 ;
     wgmma.commit_group.sync.aligned     ;
     wgmma.wait_group.sync.aligned 0     ;
     ld.weak r0, d                       ;

A thread stands for the warps that do an operation together. Registers that an operation reads or writes are a location,
``register d=0``, which one thread accesses, by ``ld.weak`` and ``st.weak`` where it reads and writes these registers
itself. Tensor memory is ``tensor t=0``. What an operation computes is what it has read last: of ``d, s, 0`` the product
is what ``s`` holds, and with 1 that is added to ``d``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from corpus.dialects.asynchronous import expect_operands
from corpus.dialects.dartagnan.columns import CodeCell, Refuse, ThreadNames
from corpus.errors import InputError
from corpus.laws import ptx
from corpus.litmus import orders
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import AsyncGroup, AsyncOperation, Instruction, Load, Store, operands_of
from corpus.litmus.locations import MEMORY_REGIONS, Loc, Operand, Region
from corpus.litmus.orders import PLAIN, TENSOR_LOADS, TENSOR_OPERATIONS, TENSOR_STORES, WGMMA, Mode
from corpus.litmus.test import LitmusTest


@dataclass(frozen=True, slots=True)
class _MatrixForm:
    """How an operation is written: its words, where its target and its source are (none: it has a value), and whether
    it says if the target is added to.
    """

    words: str
    group: str
    mode: Mode
    target: Region
    sources: tuple[Region, ...]
    adds: bool = False

    def says(self, ins: AsyncOperation) -> bool:
        """Decide whether an operation is written in this form."""
        return (ins.group, ins.mode, ins.barrier) == (self.group, self.mode, None) and bool(self.sources) is (
            ins.source is not None
        )


_FORMS = (
    _MatrixForm(
        "wgmma.mma_async.sync.aligned",
        WGMMA,
        ptx.WARPGROUP_PRODUCT,
        Region.REGISTER,
        (Region.SHARED, Region.REGISTER),
        adds=True,
    ),
    _MatrixForm("tcgen05.ld", TENSOR_LOADS, ptx.TENSOR_ACCESS, Region.REGISTER, (Region.TENSOR,)),
    _MatrixForm("tcgen05.st", TENSOR_STORES, ptx.TENSOR_ACCESS, Region.TENSOR, ()),
    _MatrixForm("tcgen05.cp", TENSOR_OPERATIONS, ptx.TENSOR_COPY, Region.TENSOR, (Region.SHARED,)),
    _MatrixForm("tcgen05.mma", TENSOR_OPERATIONS, ptx.MATRIX_PRODUCT, Region.TENSOR, (Region.SHARED,), adds=True),
)
_BY_WORDS = {form.words: form for form in _FORMS}
_COMMIT = "tcgen05.commit.mbarrier::arrive::one"
_WAITS: Mapping[str, AsyncGroup] = {
    "wgmma.commit_group.sync.aligned": AsyncGroup(WGMMA),
    "tcgen05.wait::ld.sync.aligned": AsyncGroup(TENSOR_LOADS, 0),
    "tcgen05.wait::st.sync.aligned": AsyncGroup(TENSOR_STORES, 0),
}
_WAIT_GROUP = "wgmma.wait_group.sync.aligned"
_WORDS = {group: words for words, group in _WAITS.items()}


def read_matrices(cell: CodeCell) -> Instruction | None:
    """Return what an instruction of tensor cores means; None where it is none. Fences are among those of proxies
    (``corpus.laws.ptx``).

    Raises ``InputError`` where its words or operands are not such an instruction's.
    """
    opcode = str(cell.opcode)
    if opcode in _WAITS:
        expect_operands(cell, 0)
        return _WAITS[opcode]
    if opcode == _WAIT_GROUP:
        expect_operands(cell, 1)
        pending = cell.count(0)
        if not isinstance(pending, int):
            raise cell.error(f"expected a number of groups after {opcode}")
        return AsyncGroup(WGMMA, pending)
    if opcode == _COMMIT:
        expect_operands(cell, 1)
        return _completed_at(cell.location(0))
    form = _BY_WORDS.get(opcode)
    if form is None:
        if opcode.startswith(("wgmma.", "tcgen05.")) and opcode not in ptx.PROXY_FENCES:
            known = (*_BY_WORDS, *_WAITS, _WAIT_GROUP, _COMMIT)
            raise cell.error(f"expected {', '.join(known)} or a fence of these, found {opcode}")
        return None
    expect_operands(cell, 2 + form.adds)
    added = cell.count(2) if form.adds else 0
    if added not in (0, 1):
        raise cell.error(f"expected 0 or 1 at the end of {opcode}, which says whether the target is added to")
    return AsyncOperation(
        cell.location(0),
        cell.location(1) if form.sources else None,
        0 if form.sources else cell.value(1),
        "add" if added else None,
        form.mode,
        group=form.group,
    )


def _completed_at(mbarrier: Operand) -> AsyncOperation:
    return AsyncOperation(
        None,
        mode=ptx.TENSOR_COMPLETION,
        barrier=mbarrier,
        mbarrier="arrive.noinc",
        count=1,
        group=TENSOR_OPERATIONS,
    )


def is_of_matrices(ins: Instruction) -> bool:
    """Decide whether this module has the words for an instruction."""
    kind = ins.group if isinstance(ins, AsyncOperation) else None
    kind = ins.operations if isinstance(ins, AsyncGroup) else kind
    return kind in (WGMMA, TENSOR_LOADS, TENSOR_STORES, TENSOR_OPERATIONS)


def write_matrices(ins: Instruction, names: ThreadNames, address: Callable[[Operand], str], refuse: Refuse) -> str:
    """Return the text of such an instruction, the inverse of ``read_matrices``."""
    match ins:
        case AsyncGroup(orders.WGMMA, int(pending)):
            return f"{_WAIT_GROUP} {pending}"
        case AsyncGroup() if ins in _WORDS:
            return _WORDS[ins]
        case AsyncOperation(None, barrier=Loc() as where) if ins == _completed_at(where):
            return f"{_COMMIT} {address(where)}"
        case AsyncOperation(Loc() as where, operation=None | "add" as operation, more=()):
            form = next((form for form in _FORMS if form.says(ins)), None)
            if form is not None and (form.adds or operation is None):
                given = names.value(ins.value) if ins.source is None else address(ins.source)
                added = [str(int(operation is not None))] if form.adds else []
                return f"{form.words} {', '.join([address(where), given, *added])}"
    raise refuse("the PTX dialect has no such operation of a tensor core")


def check_matrices(test: LitmusTest) -> None:
    """Raise ``InputError`` where what cannot accesses registers or tensor memory, or two threads the same registers."""
    regions = {location.name: location.region for location in test.locations}
    plain = set(regions.values()) <= {*MEMORY_REGIONS}
    if plain and not any(thread.has_operations for thread in test.threads):
        return
    users: dict[str, int] = {}
    for number, ins in test.code:
        for name, allowed in _accessed(ins):
            region = regions[name]
            if region not in allowed:
                wanted = " or ".join(allowed)
                raise cannot_say(number, ins, f"{name} is in {region} memory, and it accesses {wanted}")
            if region is Region.REGISTER and users.setdefault(name, number) != number:
                raise InputError(f"{name} is in registers, which P{users[name]} and P{number} cannot share", test.name)


_PLAIN = (*MEMORY_REGIONS, Region.REGISTER)


def _accessed(ins: Instruction) -> list[tuple[str, tuple[Region, ...]]]:
    """The locations that an instruction names, each with the regions that it may be in."""
    form = next((form for form in _FORMS if isinstance(ins, AsyncOperation) and form.says(ins)), None)
    if form is not None and isinstance(ins, AsyncOperation):
        places = ((ins.target, (form.target,)), (ins.source, form.sources))
        return [(place.name, allowed) for place, allowed in places if isinstance(place, Loc)]
    plain = isinstance(ins, Load | Store) and ins.mode == PLAIN
    allowed = _PLAIN if plain else MEMORY_REGIONS
    return [(operand.name, allowed) for operand in operands_of(ins) if isinstance(operand, Loc)]
