"""What a compiler has removed: accesses to memory that the code has as it is written, and the compiled code has not.

Both codes are specialised to the same launch, so that accesses are compared as a thread does them: of which bytes of
which array, whether they read or write, and from which line. A line is not taken for removed where its access may have
become a part of another one: compilers that make one access of several give it no line, or one of its own. Nor is a
read that gives what an earlier read has given: where no more than weak accesses stand between the two, what races with
the one that is gone races with the one that is left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import NamedTuple

from corpus.code.ir import KernelFunction, Module, SourceLine
from corpus.code.places import SLOTS
from corpus.code.program import KernelProgram
from corpus.code.residual import MARK
from corpus.litmus.flow import ThreadFlow
from corpus.litmus.instructions import Assign, AsyncOperation, Branch, Instruction, Label, Load, Rmw, Store
from corpus.litmus.orders import Order

_KINDS: dict[type[Instruction], str] = {
    Load: "read",
    Store: "write",
    Rmw: "update",
    AsyncOperation: "copy",
}
"""What accesses are called, by what is left of them."""

_OUTSIDE = {"ld": "read", "ldu": "read", "st": "write", "atom": "update", "red": "update"}
"""What accesses outside of their arrays are called, by their instructions: no more than a finding is left of them."""

_OF_A_COMPILATION = re.compile(r"(_GLOBAL__N_|_INTERNAL)_[0-9a-f]{8}")
"""The part of a name of a file's own that has another number in each compilation of it."""


_Bytes = tuple[str, int, int]
"""Bytes of an array: its name, where they begin, and how many."""


class RemovedAccess(NamedTuple):
    """An access that the compiled code has not: its source line, and whether it is a read, a write or an update."""

    source: SourceLine
    kind: str


class _Done(NamedTuple):
    """An access of a thread: of some bytes from an offset on, None where it is computed; no array where it is read. One
    outside of its array is of no bytes.
    """

    kind: str
    array: str
    offset: int | None
    size: int
    source: SourceLine | None

    def meets(self, other: _Done) -> bool:
        """Decide whether two accesses of one kind may be of the same bytes."""
        if self.kind != other.kind or (self.array != other.array and self.array and other.array):
            return False
        if self.offset is None or other.offset is None or not self.array or not other.array:
            return True
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size

    def may_hold(self, other: _Done) -> bool:
        """Decide whether a compiler may have made this access of another one: of one outside of its array, by its line
        or where it is outside as well.
        """
        return self.meets(other) and (other.size > 0 or self.size == 0 or self.line == other.line)

    @property
    def bytes(self) -> _Bytes | None:
        """The bytes, None where they are computed."""
        return None if self.offset is None or not self.array else (self.array, self.offset, self.size)

    @property
    def line(self) -> tuple[str, int]:
        """The source line, ``("", 0)`` where there is none."""
        return ("", 0) if self.source is None or not self.source.line else (self.source.file, self.source.line)


def counterpart(kernel: KernelFunction, module: Module) -> KernelFunction | None:
    """Return the kernel that another compilation of its file has of it; None where there is none."""
    return next((other for other in module.kernels if _plain(other.name) == _plain(kernel.name)), None)


def removed(compiled: KernelProgram, written: KernelProgram) -> list[RemovedAccess]:
    """Return the accesses that the program of the compiled code has not and that of the code as written has, in the
    order of lines.
    """
    threads = dict(zip(compiled.ids, range(len(compiled.ids)), strict=True))
    found = set[RemovedAccess]()
    for number, ids in enumerate(written.ids):
        done = _done(written, number)
        left = set(chain(*_done(compiled, threads[ids]))) if ids in threads else set()
        own = set(chain(*done))
        gone = set[_Done]()
        for access in own:
            lines = {other.line for other in own if other.meets(access)}
            if not any(
                other.line == access.line or other.line not in lines for other in left if other.may_hold(access)
            ):
                gone.add(access)
        again = _read_before(written.test.threads[number].instructions, done, gone) if gone else {}
        for place, every in enumerate(done):
            for access in every:
                if (
                    access in gone
                    and access.source is not None
                    and access.line[1]
                    and access.bytes not in again.get(place, ())
                ):
                    found.add(RemovedAccess(access.source, access.kind))
    return sorted(found, key=lambda access: (access.source.file, access.source.line, access.source.column, access.kind))


def _done(program: KernelProgram, thread: int) -> list[tuple[_Done, ...]]:
    """Return the accesses of each instruction of a thread to memory, without those by which lanes of a warp exchange
    values.
    """
    found: list[tuple[_Done, ...]] = []
    for instruction, residual in zip(program.test.threads[thread].instructions, program.code[thread], strict=True):
        accesses, origin = residual.accesses, residual.origin
        kind = _KINDS.get(type(instruction))
        if isinstance(instruction, Assign) and instruction.target == f"{MARK}bounds" and origin is not None:
            outside = _OUTSIDE.get(origin.name)
            found.append((_Done(outside, "", None, 0, origin.source),) if outside else ())
            continue
        every = accesses if kind is not None and origin is not None else ()
        found.append(
            tuple(
                _Done(kind or "", _plain(str(access.array)), access.offset, access.size, origin and origin.source)
                for access in every
                if access.array.space != SLOTS
            )
        )
    return found


def _read_before(
    code: Sequence[Instruction], done: Sequence[tuple[_Done, ...]], gone: Set[_Done]
) -> Mapping[int, Set[_Bytes]]:
    """Return the bytes that are surely read before each instruction, by a read that is not ``gone``, with no more than
    weak accesses in between. Instructions that are never reached are left out.
    """
    flow = ThreadFlow(tuple(code))
    before: dict[int, Set[_Bytes]] = {0: frozenset()}
    waiting = [0]
    while waiting:
        place = waiting.pop()
        instruction = code[place]
        reads = {
            access.bytes for access in done[place] if access.bytes and access.kind == "read" and access not in gone
        }
        after = before[place] | reads if _is_weak(instruction) else frozenset()
        for target in flow.successors[place]:
            known = before.get(target)
            if target < flow.end and (known is None or known - after):
                before[target] = after if known is None else known & after
                waiting.append(target)
    return before


def _is_weak(instruction: Instruction) -> bool:
    """Decide whether an instruction orders nothing: a weak access, a computation, a jump or its target."""
    if isinstance(instruction, Load | Store):
        return instruction.mode.order is Order.WEAK and not instruction.mode.volatile
    return isinstance(instruction, Assign | Branch | Label)


def _plain(name: str) -> str:
    return _OF_A_COMPILATION.sub(r"\1", name)
