"""What machine instructions of memory are that depend on the one before them: a pass over what is left of a thread.

    MEMBAR.SC.GPU; CCTL.IVALL             fence.sc.gpu, as ``MEMBAR.SC.GPU`` alone is fence.release.gpu
    MEMBAR.ALL.GPU; ATOMG.STRONG.GPU      fence.release.gpu; atom.release.gpu
    ATOMG.STRONG.GPU; CCTL.IVALL          atom.acquire.gpu; fence.acquire.sys
    LDG.STRONG.GPU; CCTL.IVALL            ld.relaxed.gpu; fence.acquire.sys in place of the implied fence

Why is said in ``corpus.code.sass.words``. Computations may stand in between, and no branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from corpus.code.residual import Residual
from corpus.code.sass.text import access_of
from corpus.code.sass.words import IMPLIED, MACHINE_SCOPES, acquiring, fence_mode, releasing
from corpus.litmus.instructions import Assign, Branch, Fence, Label, Rmw

FENCE, INVALIDATE = "MEMBAR", "CCTL"
"""The opcodes of fences, and of what makes one before it stronger."""


def joined_fences(code: Iterable[Residual]) -> list[Residual]:
    """Return what is left of a thread with fences and updates as strong as they are together."""
    found: list[Residual] = []
    fence = -1
    for left in code:
        ins, opcode = left.instruction, left.origin.name if left.origin else ""
        last = _last(found)
        if isinstance(ins, Fence) and opcode == INVALIDATE:
            if last >= 0 and found[last].instruction == Fence(IMPLIED):
                del found[last]
                last = _last(found)
            if fence == last >= 0:
                found[last] = found[last]._replace(instruction=_strengthened(found[last]))
                fence = -1
                continue
            if last >= 0 and isinstance(update := found[last].instruction, Rmw):
                found[last] = found[last]._replace(instruction=replace(update, mode=acquiring(update.mode)))
        elif isinstance(ins, Fence) and opcode == FENCE:
            fence = len(found)
        elif isinstance(ins, Rmw) and fence == last >= 0:
            _, space = access_of(opcode) or ("", "")
            before = found[last].instruction
            assert isinstance(before, Fence)
            assert before.mode.scope is not None
            left = left._replace(instruction=replace(ins, mode=releasing(ins.mode, space, before.mode.scope)))
        found.append(left)
    return found


def _strengthened(fence: Residual) -> Fence:
    """Return a fence with an invalidation behind it."""
    assert fence.origin is not None
    strength, scope = fence.origin.words
    return Fence(fence_mode(strength, MACHINE_SCOPES[scope], True))


def _last(code: Sequence[Residual]) -> int:
    """Return the place of the last thing that is done to memory, with no branch since; -1 if there is none."""
    for place in range(len(code) - 1, -1, -1):
        ins = code[place].instruction
        if not isinstance(ins, Assign):
            return -1 if isinstance(ins, Branch | Label) else place
    return -1
