"""What ``wgmma`` asks for when a thread is specialised (PTX ISA 9.1, 9.7.15): which shared memory an operation reads.

Each thread that executes an operation is taken to do all of it, so that a launch with one thread for a warpgroup will
do. An operation reads the elements of its matrices that something else in the launch accesses: others make no
difference. What it computes is not followed.

    desc-a: address >> 4, 128 >> 4 << 16, 256 >> 4 << 32     m64n8k16, f16: 8 x 2 blocks of 8 rows of 16 bytes, those of
                                                             one column 256 bytes apart, the columns 128 bytes apart

Gaps: matrices that are not K-major, with a base offset, or sparse; accumulators that are used before they are waited
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus.code import ir
from corpus.code.evaluation import evaluate, residual_name, set_result
from corpus.code.memory import accesses_of
from corpus.code.places import Array, array_place
from corpus.code.ptx.meeting import known_number
from corpus.code.residual import Access
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Descriptor, Unknown
from corpus.laws import ptx as laws
from corpus.litmus.instructions import AsyncGroup, AsyncOperation
from corpus.litmus.locations import Operand
from corpus.litmus.orders import WGMMA

CHUNK, ROW = 16, 2
"""The bytes that are next to each other in any layout, and how many chunks a row of a K-major matrix has."""
_PITCHES = (None, 128, 64, 32)
"""The bytes from one row to the next, by the swizzling mode; without swizzling rows are in blocks of 8 chunks."""
_ROWS = 64
"""The rows of matrix A."""


def multiply(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``wgmma``: an asynchronous product, its groups, and the waits for these."""
    kind = ins.words[0]
    if kind == "commit_group":
        thread.out.put(AsyncGroup(WGMMA))
    elif kind == "wait_group":
        thread.out.put(AsyncGroup(WGMMA, known_number(thread, state, ins.operands[0])))
    elif kind == "mma_async" and "sp" not in ins.words:
        return _product(thread, state, ins)
    elif kind != "fence":  # which is for registers of the thread alone
        raise thread.out.wrong("is not understood")
    return True


def _product(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    result, *factors = ins.operands[:3]
    shape = next((found for word in ins.words if (found := re.fullmatch(r"m64n(\d+)k\d+", word))), None)
    if shape is None or not isinstance(result, ir.Vector):
        raise thread.out.wrong("is not understood")
    transposed = [known_number(thread, state, operand) for operand in ins.operands[6:]]
    if any(transposed):
        raise thread.out.wrong("with a matrix that is not K-major is not understood")
    first = result.parts[0]
    assert isinstance(first, ir.Register)
    array = Array("register", thread.block, f"{residual_name(state.home(first.name))}_of_{thread.number}")
    written = Access(array, 0, 4)
    pairs: list[tuple[Operand, Operand]] = []
    accesses: list[Access] = []
    for operand, rows in zip(factors, (_ROWS, int(shape[1])), strict=True):
        if isinstance(operand, ir.Vector):  # a fragment in registers
            continue
        matrix = evaluate(thread, state, operand)
        if not isinstance(matrix, Descriptor):
            raise thread.out.wrong(
                "with a matrix descriptor that is not of a known address in shared memory is not understood"
            )
        chunks = set(_chunks(thread, matrix, rows))
        for offset, size in accesses_of(thread, matrix.array):
            if any(part - part % CHUNK in chunks for part in range(offset, offset + size)):
                pairs.append((array_place(array, 0), array_place(matrix.array, offset)))
                accesses += [written, Access(matrix.array, offset, size)]
    for part in result.parts:
        set_result(thread, state, part, Unknown("the result of wgmma"))
    if len(pairs) > MOST_READ:
        raise thread.out.wrong(f"of matrices of which more than {MOST_READ} elements are accessed is not understood")
    if pairs:
        (target, source), *more = pairs
        product = AsyncOperation(target, source, mode=laws.WARPGROUP_PRODUCT, group=WGMMA, more=tuple(more))
        thread.out.put(product, accesses[0], tuple(accesses[1:]))
    return True


MOST_READ = 32
"""The elements of one operation's matrices that are followed."""


def _chunks(thread: FollowedThread, matrix: Descriptor, rows: int) -> Iterator[int]:
    """Yield the offsets in the array of the chunks of a matrix of so many rows (9.7.15.5.1.2)."""
    leading, stride = ((matrix.bits >> shift & 0x3FFF) << 4 for shift in (16, 32))
    if matrix.bits >> 49 & 7:
        raise thread.out.wrong("with a base offset of a matrix is not understood")
    pitch = _PITCHES[matrix.bits >> 62 & 3]
    if pitch is not None:
        thread.notes.assumed["arrays with swizzled matrices begin at multiples of 1024 bytes"] = None
    for row in range(rows):
        for column in range(ROW):
            if pitch is None:
                yield matrix.start + row // 8 * stride + column * leading + row % 8 * CHUNK
            else:
                offset = matrix.start + row // 8 * stride + row % 8 * pitch + column * CHUNK
                yield offset ^ (offset >> 7 & pitch // CHUNK - 1) << 4
