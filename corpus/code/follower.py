"""Follows one thread of a launch: what depends on no shared memory is computed, the rest stays as residual code.

The thread is followed from its first instruction on with what is known of each register: bits, an address, or that a
register of the residual program holds the value. An instruction whose operands are known is computed and leaves
nothing; an access to memory that others may see, a fence, a barrier, and what is computed of values that were read,
become instructions of a litmus test. Where a branch depends on a value that was read, both ways are followed.

A place of the code is followed once for each state of what is known there and still needed (polyvariant
specialisation, ``corpus.code.variants``). Example::

    mov.u32 %r1, %ctaid.x;  setp.ne.s32 %p1, %r1, 0;  @%p1 bra $L;   leaves nothing
    $L: ld.acquire.gpu.u32 %r2, [flag];                              L0:
    setp.eq.s32 %p2, %r2, 0;                                         ld.acquire.gpu r2, flag
    @%p2 bra $L;                                                     beq r2, 0, L0

What an instruction does is for the language to say, in its table (``FollowedThread.language``).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from corpus.code import ir
from corpus.code.calls import CHECKS, blamed, branch_target, go_back, keep_together
from corpus.code.evaluation import define, describe, evaluate, lift
from corpus.code.functions import result_registers
from corpus.code.places import RegisterHome
from corpus.code.refusals import NotUnderstoodError
from corpus.code.residual import END, Residual
from corpus.code.table import Row
from corpus.code.thread import FollowAgainError, FollowedThread, Meaning, State, ThreadStart
from corpus.code.values import Symbol, Unknown
from corpus.code.variants import follow_later, is_same, label_of, next_state, part_ways
from corpus.litmus.instructions import Branch, Comparison, Label
from corpus.litmus.locations import Reg


def follow(thread: FollowedThread, start: ThreadStart | None = None, before: Sequence[Residual] = ()) -> list[Residual]:
    """Return the residual program, ``before`` and what is left of the kernel, or of the function of a ``start``.

    Raises ``NotUnderstoodError`` where the thread meets what is not understood, and ``ShownError`` where it shows
    memory of its own to others.
    """
    out = thread.out
    out.code += before
    state = State(thread.kernel if start is None else start.function, machine=thread.language.control.machine)
    if start is not None:
        for parameter, value in zip(start.function.parameters, start.arguments, strict=False):
            define(thread, state, RegisterHome(0, parameter.name), value)
        for cells in (*start.given.values(), start.before):
            state.known.update(cells.items())
    follow_from(thread, "", state)
    return out.code


def follow_from(thread: FollowedThread, label: str, state: State) -> None:
    """Follow all ways from a state on, behind its label if it has one, to the end of the residual program."""
    following: tuple[str, State] | None = (label, state)
    while following is not None:
        label, state = following
        if label:
            thread.out.put(Label(label))
        with suppress(FollowAgainError):
            _follow(thread, state)
        following = next_state(thread)
    thread.out.put(Label(END))


def _follow(thread: FollowedThread, state: State) -> None:
    """Follow one way to its end, or to a place with a state that has been met."""
    out, explored = thread.out, thread.exploration
    inside = going = False
    while going or not inside:
        if inside and state.place in thread.shape(state.function).leaders:
            label, new = label_of(thread, state)
            if not new:
                out.put(Branch(label))
                return
            out.put(Label(label))
        inside = True
        explored.steps += 1
        if explored.steps > explored.most:
            smaller = "" if thread.language.control.machine else ": a smaller launch has fewer"
            raise out.wrong(f"more than {explored.most:,} instructions to follow{smaller}")
        body = state.function.body or ()
        ins = body[state.place] if state.place < len(body) else None
        out.begin(blamed(state, ins))
        if ins is None:
            if thread.language.control.ends:  # as behind __builtin_unreachable()
                out.begin(blamed(state, body[-1] if body else None))
                raise out.wrong("the end of the body without ret or exit is not understood")
            going = go_back(thread, state)
        elif ins.guard is None:
            going = _step(thread, state, ins)
        else:
            going = _guarded(thread, state, ins, ins.guard)


def _guarded(thread: FollowedThread, state: State, ins: ir.KernelInstruction, guard: ir.KernelGuard) -> bool:
    """Follow an instruction with a predicate: both ways where the running program decides it."""
    if ins.name == "bra":
        _row_of(thread, state, ins)
    value = evaluate(thread, state, ir.Register(guard.register))
    keep_together(thread, ins, value)
    match value:
        case int():
            if bool(value & 1) is not guard.unless:
                return _step(thread, state, ins)
            state.place += 1
            return True
        case Symbol(register) if thread.language.control.machine:
            return part_ways(thread, state, guard.register, register)
        case Symbol(register):
            jumps, stays = ("eq", "ne") if guard.unless else ("ne", "eq")
            if ins.name == "bra":
                target = state.moved_to(branch_target(thread, state, ins))
                condition = Comparison(jumps, Reg(register), 0)
                thread.out.put(Branch(follow_later(thread, target), condition, checks=CHECKS in ins.words))
                state.place += 1
                return True
            for name in result_registers(ins):
                home = state.home(name)
                if home in state.known:
                    state.known[home] = lift(thread, state, home, state.known[home])
            skipped = state.moved_to(state.place + 1)
            thread.out.put(Branch(follow_later(thread, skipped), Comparison(stays, Reg(register), 0)))
            return _step(thread, state, ins)
        case Unknown(reason) if ins.name == "bra":
            met = _meeting(thread, state, ins)
            if met is not None:
                state.function, state.place, state.frames, state.known = met.function, met.place, met.frames, met.known
                thread.notes.assumed[f"nothing depends on {reason}"] = None
                return True
            raise thread.out.wrong(f"the branch depends on {reason}")
    raise thread.out.wrong(f"the predicate is {describe(thread, value)}")


def _step(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Do one instruction, whose predicate holds; return whether the thread goes on."""
    row = _row_of(thread, state, ins)
    state.place += 1
    return row.meaning(thread, state, ins)


def _row_of(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Row[Meaning]:
    """Return the row of an instruction. Raises ``NotUnderstoodError`` where its language has none."""

    def declared(register: str) -> int | None:
        """The bits of a register that is declared, 0 of a special one; None where there is none of its name."""
        width = thread.shape(state.function).declared(register)
        return 0 if width is None and thread.language.special(thread, register) is not None else width

    row = thread.language.row_of(ins, declared)
    if isinstance(row, str):
        raise thread.out.wrong(row)
    return row


_MOST_MEETING = 32
"""How many places, and branches within each other, ways are followed for until they come together."""


def _meeting(thread: FollowedThread, state: State, ins: ir.KernelInstruction, depth: int = 0) -> State | None:
    """Return the first state in which both ways of a branch come together, having left nothing behind; or None."""
    places = (branch_target(thread, state, ins), state.place + 1)
    one, other = (_silent(thread, state.moved_to(place), depth + 1) for place in places)
    return next((met for met in one if any(is_same(thread, met, also) for also in other)), None)


def _silent(thread: FollowedThread, state: State, depth: int) -> list[State]:
    """Return the states at the places that a way leads through until an instruction stays, or the way ends."""
    out = thread.out
    mark, origin = len(out.code), out.origin
    found: list[State] = []
    try:
        while depth < _MOST_MEETING and len(found) < _MOST_MEETING:
            body = state.function.body or ()
            if state.place >= len(body):
                return [*found, state.moved_to(state.place)]
            if state.place in thread.shape(state.function).leaders:
                found.append(state.moved_to(state.place))
            ins = body[state.place]
            out.begin(blamed(state, ins))
            value = 1 if ins.guard is None else evaluate(thread, state, ir.Register(ins.guard.register))
            if isinstance(value, Unknown) and ins.name == "bra":
                met = _meeting(thread, state, ins, depth)
                if met is None:
                    return found
                state = met
            elif not isinstance(value, int):
                return found
            elif ins.guard is not None and bool(value & 1) is ins.guard.unless:
                state.place += 1
            elif not _step(thread, state, ins) or len(out.code) > mark:
                return found
        return found
    except NotUnderstoodError:  # the way is followed, and the error found again, where it is taken
        return found
    finally:
        del out.code[mark:]
        out.origin = origin
