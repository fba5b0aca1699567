"""Programs in C as compilers give them to processors: the orders of C as fences and instructions of the processor.

    store release x       Power: lwsync; store x          RISC-V: fence rw,w; store x          Armv8: stlr x
    load acquire x        Power: load x; branch; isync    RISC-V: load x; fence r,rw           Armv8: ldar x

Sources: Sewell, *C/C++11 mappings to processors* (Power with a leading sync, x86 with a fence behind stores, Armv8);
the RISC-V unprivileged ISA, Code Porting and Mapping Guidelines. ``examples/mappings`` has the same as files of ``synth
map``, which proves them. Gaps: compilers that know extensions, such as ``ldapr`` and Zalasr.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from corpus.code.program import KernelProgram
from corpus.code.residual import Residual
from corpus.litmus.instructions import Branch, Comparison, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Reg
from corpus.litmus.orders import DEFAULT_RMW, PLAIN, Mode, Order
from corpus.litmus.processors import mode_of

Access = Load | Store | Rmw


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
    threads, codes = [], []
    for thread, code in zip(program.test.threads, program.code, strict=True):
        pairs = [
            pair
            for number, (ins, residual) in enumerate(zip(thread.instructions, code, strict=True))
            for pair in _mapped(rules, number, ins, residual)
        ]
        threads.append(replace(thread, instructions=tuple(ins for ins, _ in pairs)))
        codes.append(tuple(residual for _, residual in pairs))
    return replace(program, test=replace(program.test, threads=tuple(threads)), code=tuple(codes))


def _mapped(
    rules: Mapping[tuple[type, Order], Mapped], number: int, ins: Instruction, residual: Residual
) -> Iterator[tuple[Instruction, Residual]]:
    """Yield what an instruction becomes, each with where it comes from."""
    if not isinstance(ins, Access | Fence):
        yield ins, residual
        return
    rule = rules.get((type(ins), ins.mode.order), PLAINLY)

    def beside(new: Instruction) -> tuple[Instruction, Residual]:
        return new, Residual(new, residual.origin)

    yield from (beside(Fence(_mode(Fence, word))) for word in rule.before)
    if isinstance(ins, Fence):
        return
    plain = DEFAULT_RMW if isinstance(ins, Rmw) else PLAIN
    own = replace(ins, mode=_mode(type(ins), rule.word) if rule.word else plain)
    yield (replace(own, failure=None) if isinstance(own, Rmw) else own), residual
    if rule.branches:
        assert isinstance(ins, Load | Rmw)
        if ins.target is not None:
            label = f"MAPPED{number}"
            yield beside(Branch(label, Comparison("eq", Reg(ins.target), Reg(ins.target))))
            yield beside(Label(label))
    yield from (beside(Fence(_mode(Fence, word))) for word in rule.after)


def _mode(kind: type, word: str) -> Mode:
    found = mode_of(kind, word)
    assert found is not None, word
    return found
