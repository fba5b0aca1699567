"""Programs in C as compilers give them to processors: the orders of C as fences and instructions of the processor.

    store release x       Power: lwsync; store x          RISC-V: fence rw,w; store x          Armv8: stlr x
    load acquire x        Power: load x; branch; isync    RISC-V: load x; fence r,rw           Armv8: ldar x

A compare-exchange is an access of the stronger of its two orders. Its branch is the one that asks whether it is done:
``isync`` stands only on the ways that have to acquire. An atomic operation that may be a loop of two exclusive accesses
is judged as one, as that orders less: all of Armv8, which has others since 8.1, and those of RISC-V without an ``amo``.

Sources: Sewell, *C/C++11 mappings to processors* (Power with a leading sync, x86 with a fence behind stores, Armv8);
the RISC-V unprivileged ISA, Code Porting and Mapping Guidelines. ``examples/mappings`` has the same as files of ``synth
map``, which proves them. Gaps: compilers that know extensions, such as ``ldapr`` and Zalasr.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeGuard

from corpus.code.program import KernelProgram
from corpus.code.residual import Access, Residual
from corpus.laws.c11 import HALVES, failure_order
from corpus.litmus.instructions import Branch, Comparison, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Reg
from corpus.litmus.orders import DEFAULT_RMW, PLAIN, Mode, Order
from corpus.litmus.processors import RELEASING_LOAD, exclusive_mode, mode_of

MemoryAccess = Load | Store | Rmw
ACQUIRING, RELEASING = (Order.ACQUIRE, Order.SC), (Order.RELEASE, Order.SC)
"""The orders of a read that acquires, and of a write that releases."""


class Mapped(NamedTuple):
    """What an instruction of C becomes: fences before it, its own word (none: a plain one), whether a branch depends on
    what it has read, and fences behind it.
    """

    before: tuple[str, ...] = ()
    word: str = ""
    branches: bool = False
    after: tuple[str, ...] = ()


PLAINLY = Mapped()

_LWSYNC, _ISYNC = Mapped(("lwsync",)), Mapped(branches=True, after=("isync",))

MAPPINGS: Mapping[str, Mapping[tuple[type, Order], Mapped]] = {
    "x86": {
        (Store, Order.SC): Mapped(after=("mfence",)),
        (Fence, Order.SC): Mapped(("mfence",)),
    },
    "armv8": {
        (Load, Order.ACQUIRE): Mapped(word="ldar"),
        (Load, Order.SC): Mapped(word="ldar"),
        (Store, Order.RELEASE): Mapped(word="stlr"),
        (Store, Order.SC): Mapped(word="stlr"),
        (Rmw, Order.ACQUIRE): Mapped(word="a"),
        (Rmw, Order.RELEASE): Mapped(word="l"),
        (Rmw, Order.ACQ_REL): Mapped(word="al"),
        (Rmw, Order.SC): Mapped(word="al"),
        (Fence, Order.ACQUIRE): Mapped(("dmb.ld",)),
        (Fence, Order.RELEASE): Mapped(("dmb.sy",)),
        (Fence, Order.ACQ_REL): Mapped(("dmb.sy",)),
        (Fence, Order.SC): Mapped(("dmb.sy",)),
    },
    "power": {
        (Load, Order.ACQUIRE): _ISYNC,
        (Load, Order.SC): _ISYNC._replace(before=("sync",)),
        (Store, Order.RELEASE): _LWSYNC,
        (Store, Order.SC): Mapped(("sync",)),
        (Rmw, Order.ACQUIRE): _ISYNC,
        (Rmw, Order.RELEASE): _LWSYNC,
        (Rmw, Order.ACQ_REL): _ISYNC._replace(before=("lwsync",)),
        (Rmw, Order.SC): _ISYNC._replace(before=("sync",)),
        (Fence, Order.ACQUIRE): _LWSYNC,
        (Fence, Order.RELEASE): _LWSYNC,
        (Fence, Order.ACQ_REL): _LWSYNC,
        (Fence, Order.SC): Mapped(("sync",)),
    },
    "riscv": {
        (Load, Order.ACQUIRE): Mapped(after=("fence.r.rw",)),
        (Load, Order.SC): Mapped(("fence.rw.rw",), after=("fence.r.rw",)),
        (Store, Order.RELEASE): Mapped(("fence.rw.w",)),
        (Store, Order.SC): Mapped(("fence.rw.w",)),
        (Rmw, Order.ACQUIRE): Mapped(word="aq"),
        (Rmw, Order.RELEASE): Mapped(word="rl"),
        (Rmw, Order.ACQ_REL): Mapped(word="aqrl"),
        (Rmw, Order.SC): Mapped(word="aqrl"),
        (Fence, Order.ACQUIRE): Mapped(("fence.r.rw",)),
        (Fence, Order.RELEASE): Mapped(("fence.rw.w",)),
        (Fence, Order.ACQ_REL): Mapped(("fence.tso",)),
        (Fence, Order.SC): Mapped(("fence.rw.rw",)),
    },
}
"""The mappings by the names of models. What has no row is plain: relaxed accesses, and what the processor orders
anyway.
"""


def mapped(program: KernelProgram, model: str) -> KernelProgram:
    """Return a program in C as compilers give it to the processor that a model is of; others as they are."""
    rules = MAPPINGS.get(model)
    if rules is None or not program.grows:
        return program
    threads, codes, assumed = [], [], dict.fromkeys(program.assumed)
    for thread, code in zip(program.test.threads, program.code, strict=True):
        pairs = [
            pair
            for number, (ins, residual) in enumerate(zip(thread.instructions, code, strict=True))
            if residual.access is None or not residual.access.created  # a processor writes nothing there
            for pair in _mapped(model, number, ins, residual)
        ]
        threads.append(replace(thread, instructions=tuple(ins for ins, _ in pairs)))
        codes.append(tuple(residual for _, residual in pairs))
        if any(_is_fenced_exchange(rules, ins) for ins in thread.instructions):
            assumed["a compare-exchange that fails has the fence before it, too, which clang leaves out there"] = None
    test = replace(program.test, threads=tuple(threads))
    return replace(program, test=test, code=tuple(codes), assumed=tuple(assumed))


def _is_fenced_exchange(rules: Mapping[tuple[type, Order], Mapped], ins: Instruction) -> bool:
    """Decide whether an instruction is a compare-exchange with a fence before it."""
    return _is_exchange(ins) and bool(rules.get((Rmw, _order(ins)), PLAINLY).before)


def _is_exchange(ins: Instruction) -> TypeGuard[Rmw]:
    return isinstance(ins, Rmw) and ins.operation == "cas"


def _order(ins: MemoryAccess | Fence) -> Order:
    """Return the order of an instruction; of a compare-exchange, the least with those of its success and failure."""
    if not _is_exchange(ins):
        return ins.mode.order
    read, write = HALVES[ins.mode.order]
    fails = failure_order(ins)
    if Order.SC in (read, fails):
        return Order.SC
    reads = Order.ACQUIRE if Order.ACQUIRE in (read, fails) else read
    return next(order for order, halves in HALVES.items() if halves == (reads, write))


def _mapped(model: str, number: int, ins: Instruction, residual: Residual) -> Iterator[tuple[Instruction, Residual]]:
    """Yield what an instruction becomes, each with where it comes from."""
    if not isinstance(ins, MemoryAccess | Fence):
        yield ins, residual
        return
    rule = MAPPINGS[model].get((type(ins), _order(ins)), PLAINLY)

    def beside(new: Instruction) -> tuple[Instruction, Residual]:
        return new, Residual(new, residual.origin)

    yield from (beside(Fence(_mode(Fence, word))) for word in rule.before)
    if isinstance(ins, Fence):
        return
    own = replace(ins, mode=_access_mode(model, ins, residual.access, rule.word))
    yield (replace(own, failure=None) if isinstance(own, Rmw) else own), residual
    branches = rule.branches and isinstance(ins, Load | Rmw) and ins.target is not None
    label = f"MAPPED{number}"
    if branches:
        yield beside(Branch(label, _need_not_acquire(ins)))
    yield from (beside(Fence(_mode(Fence, word))) for word in rule.after)
    if branches:
        yield beside(Label(label))


def _need_not_acquire(ins: MemoryAccess) -> Comparison:
    """Return when an access that may acquire does not: a compare-exchange on one of its ways, others never."""
    assert isinstance(ins, Load | Rmw) and ins.target is not None
    read = Reg(ins.target)
    if not _is_exchange(ins):
        return Comparison("ne", read, read)
    done, fails = HALVES[ins.mode.order][0] in ACQUIRING, failure_order(ins) in ACQUIRING
    if done and fails:
        return Comparison("ne", read, read)
    relation = "ne" if done else "eq"
    return Comparison(relation, *((read, ins.operands[0]) if ins.success is None else (Reg(ins.success), 1)))


def _access_mode(model: str, ins: MemoryAccess, access: Access | None, word: str) -> Mode:
    """Return how a processor does an access for which the mapping has a word, or none."""
    if isinstance(ins, Rmw) and _may_be_pair(model, ins, access):
        order = _order(ins)
        read, write = HALVES[order]
        mode = exclusive_mode(read in ACQUIRING, write in RELEASING)
        releases = model == "riscv" and order is Order.SC  # lr.aqrl
        return replace(mode, tags=(*mode.tags, RELEASING_LOAD)) if releases else mode
    if word:
        return _mode(type(ins), word)
    return DEFAULT_RMW if isinstance(ins, Rmw) else PLAIN


def _may_be_pair(model: str, ins: Rmw, access: Access | None) -> bool:
    """Decide whether an atomic operation may be a loop of two exclusive accesses: on RISC-V what has no ``amo``."""
    is_amo = ins.operation != "cas" and ".f" not in ins.operation and access is not None and access.size >= 4
    return model == "armv8" or (model == "riscv" and not is_amo)


def _mode(kind: type, word: str) -> Mode:
    found = mode_of(kind, word)
    assert found is not None, word
    return found
