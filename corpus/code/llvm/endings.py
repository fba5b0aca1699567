"""What runs when a thread or a program ends: destructors of static variables and of those of a thread, and ``atexit``.

The functions are kept with their arguments, as cells of the system's, and are called from the last to the first where
the first function of a thread returns (C++ Standard, basic.start.term).
"""

from __future__ import annotations

from corpus.code import ir
from corpus.code.evaluation import define, evaluate
from corpus.code.places import CODE, Cell, RegisterHome, counter
from corpus.code.thread import FollowedThread, Frame, State
from corpus.code.values import ArrayAddress, Value

OF_PROGRAM, OF_THREAD, OF_KEYS = "at exit", "at the end of the thread", "for the values of the thread"
"""The lists of what is called: at the end of the program, at that of a thread, and there unless the program ends."""

_EXITS = counter("exits alone")
"""Whether the first thread ends, and the program goes on."""


def at_exit(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_at_exit(function, argument)``: what is called when the program ends."""
    if thread.block != 0:
        thread.notes.assumed["what a thread other than main leaves to be done at exit is not done"] = None
        return True
    return _kept(thread, state, ins, OF_PROGRAM)


def at_thread_exit(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_at_thread_exit(function, argument)``: what is called when the thread ends."""
    return _kept(thread, state, ins, OF_THREAD)


def at_end_of_thread(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_at_end_of_thread(function, argument)``: what is called when the thread ends, but not the program."""
    return _kept(thread, state, ins, OF_KEYS)


def exits_alone(thread: FollowedThread, state: State) -> None:
    """Note that the thread at hand ends by ``pthread_exit`` or the like, and the program where its last thread does."""
    if thread.block == 0 and _count(thread, state, OF_PROGRAM):
        raise thread.out.wrong("the end of main alone, with something to be done at exit, is not understood")
    state.known[_EXITS] = 1


def ends_all(state: State) -> None:
    """Note that the thread at hand ends the program: the values of keys are not destroyed (POSIX, exit)."""
    state.known[counter(OF_KEYS)] = 0


def _lists(thread: FollowedThread, state: State) -> tuple[str, ...]:
    """Return the lists of what is called where the thread at hand ends."""
    of_keys = thread.block != 0 or _EXITS in state.known
    return (OF_THREAD, *((OF_KEYS,) if of_keys else ()), OF_PROGRAM)


def _kept(thread: FollowedThread, state: State, ins: ir.KernelInstruction, which: str) -> bool:
    function, argument = (evaluate(thread, state, operand) for operand in ins.operands[1:3])
    count = _count(thread, state, which)
    define(thread, state, _place(which, count, 0), function)
    define(thread, state, _place(which, count, 8), argument)
    state.known[counter(which)] = count + 1
    return True


def _count(thread: FollowedThread, state: State, which: str) -> int:
    count = state.known.get(counter(which), 0)
    if not isinstance(count, int):
        raise thread.out.wrong(f"as much as memory decides to be done {which} is not understood")
    return count


def _place(which: str, number: int, offset: int) -> Cell:
    return Cell(0, f"{which} {number}", offset, 8)


def call_at_end(thread: FollowedThread, state: State) -> bool:
    """Call the last function of those that are to be called when the thread at hand ends, and then the same
    instruction once more; return whether there is one.
    """
    for which in _lists(thread, state):
        count = _count(thread, state, which)
        if count == 0:
            continue
        found, argument = (state.known.pop(_place(which, count - 1, offset)) for offset in (0, 8))
        state.known[counter(which)] = count - 1
        _call(thread, state, found, argument)
        return True
    return False


def _call(thread: FollowedThread, state: State, found: Value, argument: Value) -> None:
    name = found.array.name if isinstance(found, ArrayAddress) and found.array.space == CODE else ""
    function = thread.module.functions.get(name)
    if function is None or function.body is None:
        raise thread.out.wrong(f"{name or 'a function by its address'}, which is called at the end, is not understood")
    for parameter in function.parameters[:1]:
        define(thread, state, RegisterHome(1, parameter.name), argument)
    state.frames = (Frame(state.function, state.function.name, state.place - 1, ()),)
    state.function, state.place = function, 0


def go_to_end(thread: FollowedThread, state: State) -> None:
    """Have the thread be where its first function returns, whatever called it."""
    function = state.frames[0].function if state.frames else state.function
    place = next((n for n, ins in enumerate(function.body or ()) if ins.name == "ret" and ins.guard is None), None)
    if place is None:
        raise thread.out.wrong("the end of a thread whose function does not return is not understood")
    state.known = {home: value for home, value in state.known.items() if home.depth <= 0 or isinstance(home, Cell)}
    state.function, state.place, state.frames = function, place, ()


def is_anything_left(thread: FollowedThread, state: State) -> bool:
    """Decide whether something is to be called when the thread at hand ends."""
    return any(_count(thread, state, which) for which in _lists(thread, state))
