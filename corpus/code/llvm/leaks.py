"""Notes of objects for who asks what is never given back: which are made, given back, or still pointed to at the end.

Each is an assignment to a register that says so (``corpus.code.residual.object_mark``). What global variables point to
is known of memory at the end (``corpus.code.objects``); here is what variables of a thread lead to.
"""

from __future__ import annotations

from collections.abc import Callable

from corpus.code.launch.created import MADE
from corpus.code.launch.sharing import GIVEN_AWAY
from corpus.code.llvm.memory import POINTER, is_dead
from corpus.code.memory import owns
from corpus.code.places import NOBODY, Array, Cell, RegisterHome
from corpus.code.residual import GIVEN_BACK, UNTOLD, object_mark
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Affine, ArrayAddress, Symbol
from corpus.litmus.instructions import Assign

LOCAL = "local"
"""The space of variables of calls."""


def note_object(thread: FollowedThread, word: str, array: Array) -> None:
    """Note that an object is made or given back, where that is asked."""
    if thread.launch.leaks:
        thread.out.put(Assign(object_mark(word, array), "mov", (1,)))


def note_own(thread: FollowedThread, state: State) -> None:
    """Note as given back what the ``_Thread_local`` variables of a thread lead to where the program ends with it."""
    if thread.launch.leaks:
        _note_led_to(thread, state, lambda own: own.name in thread.module.variables, GIVEN_BACK)


def note_calls(thread: FollowedThread, state: State, word: str = GIVEN_BACK) -> None:
    """Note as given back, or by another word, what all variables of a thread lead to where it calls ``exit``."""
    if not thread.launch.leaks:
        return
    functions = [*(frame.function for frame in state.frames), state.function]
    for depth, function in enumerate(functions):
        for name, bits in thread.shape(function).widths.items():
            if _is_variable(name) and bits == 8 * POINTER and RegisterHome(depth, name) not in state.known:
                note_object(thread, UNTOLD, Array(LOCAL, depth, name))  # it is not kept, as nothing needs it
    _note_led_to(thread, state, lambda own: _is_variable(own.name), word)


def _is_variable(name: str) -> bool:
    """Decide whether a register is a variable of the source, and not what the compiler keeps."""
    return not name.startswith("%")


def _note_led_to(thread: FollowedThread, state: State, is_meant: Callable[[Array], bool], word: str) -> None:
    """Note by a word to which objects some variables of the thread's own lead, and what nothing tells of them."""
    for own, shown in thread.creation.shown.items():
        if own.is_own and is_meant(own):
            _note_untold(thread, shown)
    every = [(Array(LOCAL, home.depth, home.name), home.size if isinstance(home, Cell) else POINTER, value)
             for home, value in state.known.items() if home.depth >= 0]  # fmt: skip
    waiting = [(own, size, value) for own, size, value in every if is_meant(own)]
    met = set[Array]()
    for holder, size, value in waiting:  # which become more
        if isinstance(value, Symbol | Affine) and size == POINTER:
            _note_untold(thread, holder)
        array = value.array if isinstance(value, ArrayAddress) else holder
        if array in met or not array.name.startswith(MADE) or is_dead(thread, state, array):
            continue
        met.add(array)
        note_object(thread, word, array)
        waiting += [(array, cell.size, state.known[cell]) for cell in state.cells_of(array)]
        if not owns(thread, array) or Cell(NOBODY, array.name, GIVEN_AWAY, 0) in state.known:
            _note_untold(thread, array)


def _note_untold(thread: FollowedThread, holder: Array) -> None:
    """Note that nothing tells what an object or variable leads to where the program ends, if it may hold one."""
    if thread.creation.sizes.get(holder, POINTER) >= POINTER:
        note_object(thread, UNTOLD, holder)
