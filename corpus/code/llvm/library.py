"""What functions of the C library do that no code says: threads, objects, the end of the program, output.

Each is an instruction by its name, ``@malloc``, whose operands are its result and its arguments. Locks, and what else
can be said in C, are C, which is compiled with the program (``backends/llvm/library``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from corpus.code import ir
from corpus.code.calls import LIBRARY, go_back
from corpus.code.evaluation import describe, evaluate, set_result
from corpus.code.launch.created import (
    BEGUN,
    BESIDE,
    CLAIMED,
    ENDED,
    GIVEN,
    MADE,
    NOTIFIED,
    OBJECTS,
    RESULT,
    SLOT,
    signal,
    system_array,
    wait,
)
from corpus.code.launch.sharing import created_before, joined_counter, share_memory, start_thread
from corpus.code.llvm.cells import is_unwritten
from corpus.code.llvm.endings import (
    at_end_of_thread,
    at_exit,
    at_thread_exit,
    call_at_end,
    ends_all,
    exits_alone,
    go_to_end,
    is_anything_left,
)
from corpus.code.llvm.leaks import note_calls, note_object, note_own
from corpus.code.llvm.memory import (
    POINTER,
    beside,
    checked_address,
    distance,
    further,
    in_register,
    is_dead,
    keep_handle,
    loaded,
    moved_bytes,
    new_object,
    note_write,
    operand_of,
    same,
    stop_where,
    stored,
)
from corpus.code.memory import length_of, owns
from corpus.code.places import ANYWHERE, CODE, GONE, Array, Cell, RegisterHome, array_place, counter
from corpus.code.residual import ASSUME, GIVEN_BACK, OBJECT_MADE, UNTOLD, Access
from corpus.code.table import BOTH, CONTROL, NOTHING, READS, WRITES, Row
from corpus.code.thread import FollowedThread, Meaning, State
from corpus.code.values import Affine, ArrayAddress, Symbol, Unknown, Value, array_of
from corpus.litmus.instructions import Branch, Comparison, Label, Rmw, Store
from corpus.litmus.locations import Reg
from corpus.litmus.orders import PLAIN, Mode, Order, Scope


def _arguments(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> list[Value]:
    return [evaluate(thread, state, operand) for operand in ins.operands[1:]]


# threads


def create(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``pthread_create`` and ``thrd_create``: where the name of the thread goes, its function and argument."""
    name, *_, function, argument = _arguments(thread, state, ins)
    if not _create(thread, state, name, function, argument):
        return False
    set_result(thread, state, ins.operands[0], 0)
    return True


def _create(thread: FollowedThread, state: State, name: Value, function: Value, argument: Value) -> bool:
    number = _started(thread, state, function, argument)
    where = checked_address(thread, state, name, POINTER)
    if where is None or not stored(thread, state, where, POINTER, number, PLAIN):
        return False
    keep_handle(state, where, POINTER, number)
    return True


def _started(thread: FollowedThread, state: State, function: Value, argument: Value) -> int:
    """Create a thread; return its name."""
    code = function.array.name if isinstance(function, ArrayAddress) and function.array.space == CODE else ""
    found = thread.module.functions.get(code)
    if found is None or found.body is None:
        raise thread.out.wrong("the function of a new thread is not known")
    if is_unwritten(argument):
        argument = 0  # nothing may be done with it
    number = start_thread(thread, state, found, (argument,))
    if thread.creation.started[number - thread.creation.following].waits:
        for residual in signal(number, BEGUN):
            thread.out.put(*residual)
    return number + FIRST


FIRST = 1
"""What the name of a thread is more than its number, so that none is called 0."""


def join(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``pthread_join``: the name of a thread, and where its result goes, if anywhere."""
    return _joined(thread, state, ins, POINTER)


def join_number(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``thrd_join``: the name of a thread, and where its result goes, a number of 32 bits."""
    return _joined(thread, state, ins, 4)


def _joined(thread: FollowedThread, state: State, ins: ir.KernelInstruction, size: int) -> bool:
    """Wait for the end of a thread, and store what it gives, of so many bytes, where that is asked for."""
    name, place = _arguments(thread, state, ins)
    number = _ended_before(thread, state, name)
    if number is None:
        return False
    set_result(thread, state, ins.operands[0], 0)
    if place == 0:
        return True
    value = loaded(thread, state, ArrayAddress(system_array(number, GIVEN)), SLOT, PLAIN)
    where = checked_address(thread, state, place, size)
    return where is not None and stored(thread, state, where, size, value, PLAIN)


def _ended_before(thread: FollowedThread, state: State, name: Value) -> int | None:
    """Wait for the end of a thread; return its number, None where the thread ends, as nobody may wait for that one."""
    if not isinstance(name, int):
        raise thread.out.wrong("which thread is joined is not known")
    name -= FIRST
    if not _claimed(thread, state, name):
        return None
    for residual in wait(name, ENDED, thread.out.new_label()):
        thread.out.put(*residual)
    state.known[joined_counter(name)] = 1
    return name


def _claimed(thread: FollowedThread, state: State, number: int) -> bool:
    """Note that a thread is joined or detached; return whether the thread at hand goes on, as nobody did it before."""
    cell = counter(f"joined {number}")
    if cell in state.known:
        return thread.out.stops("joined")
    state.known[cell] = 1
    thread.creation.claims.add(number)
    if number in thread.facts.claimed:
        array, going = system_array(number, CLAIMED), thread.out.new_label()
        old = thread.out.new_register()
        thread.out.put(Rmw("exch", old, array_place(array, 0), (1,), RELAXED), Access(array, 0, SLOT))
        thread.out.put(Branch(going, Comparison("eq", Reg(old), 0)))
        thread.out.stops("joined")
        thread.out.put(Label(going))
    return True


RELAXED = Mode(Order.RELAXED, Scope.SYS)


def detach(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``pthread_detach``: nobody will join a thread."""
    (name,) = _arguments(thread, state, ins)
    if not isinstance(name, int):
        raise thread.out.wrong("which thread is detached is not known")
    set_result(thread, state, ins.operands[0], 0)
    return _claimed(thread, state, name - FIRST)


def name_of_thread(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``pthread_self``: the name of the thread."""
    set_result(thread, state, ins.operands[0], thread.block + FIRST)
    return True


def leave(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``ret``: back to the caller; at the end of a thread those go on who join it."""
    if state.frames:
        end_frame(thread, state)
        return go_back(thread, state)
    if call_at_end(thread, state):
        return True
    if thread.block != 0:
        _give_back(thread, state, 0, state.function)
    else:
        note_own(thread, state)
    return _ended(thread, state, state.known.get(RegisterHome(0, RESULT), 0))


def end_frame(thread: FollowedThread, state: State) -> None:
    """Have no variable hold an address of one whose lifetime ends with the call at hand; what others see of it is given
    back.
    """
    depth = state.depth
    _give_back(thread, state, depth, state.function)
    for home, value in list(state.known.items()):
        outlives = home.depth != depth or (isinstance(home, RegisterHome) and home.name.startswith(RESULT))
        if not isinstance(value, ArrayAddress) or value.array.space != "local" or value.array.owner != depth:
            continue
        if outlives:
            state.known[home] = ArrayAddress(value.array._replace(owner=GONE), value.offset)


def _give_back(thread: FollowedThread, state: State, depth: int, function: ir.KernelFunction) -> None:
    """Give back the variables of a call that others see."""
    for own, shown in thread.creation.shown.items():
        if own.owner == depth and own.name.startswith(f"{function.name}.") and not thread.creation.alone:
            thread.out.put(Store(array_place(shown, 0), FREED), Access(shown, 0, 0))
            note_write(thread, state, Access(shown, 0, 0))
            thread.creation.returned.add(shown)


def _give_back_of_thread(thread: FollowedThread, state: State) -> None:
    """Give back the variables of a thread that others see, for it ends."""
    for own, shown in thread.creation.shown.items():
        if own.is_own and own.name in thread.module.variables and not thread.creation.alone:
            thread.out.put(Store(array_place(shown, 0), FREED), Access(shown, 0, 0))
            note_write(thread, state, Access(shown, 0, 0))


def end_thread(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``pthread_exit`` and ``thrd_exit``: the thread ends with a result, whatever called it."""
    (result,) = _arguments(thread, state, ins)
    exits_alone(thread, state)
    thread.creation.outlived |= thread.block == 0
    if is_anything_left(thread, state):
        go_to_end(thread, state)
        state.known[RegisterHome(0, RESULT)] = result
        return True
    functions = [*(frame.function for frame in state.frames), state.function]
    for depth, function in enumerate(functions if thread.block != 0 else ()):
        _give_back(thread, state, depth, function)
    if thread.block == 0:
        note_own(thread, state)
    state.frames = ()
    return _ended(thread, state, result)


def end_program(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``exit``: taken to end the thread alone."""
    ends_all(state)
    if is_anything_left(thread, state) and ins.name in ("@exit",):
        note_calls(thread, state, UNTOLD)
        go_to_end(thread, state)
        return True
    if thread.block != 0:
        thread.notes.assumed["exit ends the thread that calls it, and others go on"] = None
    note_calls(thread, state)
    state.frames = ()
    return _ended(thread, state, 0)


def _ended(thread: FollowedThread, state: State, result: Value) -> bool:
    share_memory(thread, state)
    thread.creation.ends[created_before(thread, state)] = thread.out.origin
    if thread.block != 0:
        _give_back_of_thread(thread, state)
        if not isinstance(result, Unknown):
            array = system_array(thread.block, GIVEN)
            operand = operand_of(thread, result, SLOT)
            thread.out.put(Store(array_place(array, 0), operand), Access(array, 0, SLOT))
        for residual in signal(thread.block, ENDED):
            thread.out.put(*residual)
    state.frames = ()
    return go_back(thread, state)


# objects


def allocate(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``malloc(size)`` and ``operator new``."""
    return _allocated(thread, state, ins, _arguments(thread, state, ins)[0], False)


def allocate_zeros(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``calloc(count, size)``."""
    count, size = _arguments(thread, state, ins)
    product = count * size if isinstance(count, int) and isinstance(size, int) else Unknown("")
    return _allocated(thread, state, ins, product, True)


def allocate_aligned(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``aligned_alloc(align, size)``."""
    align, size = _arguments(thread, state, ins)
    if isinstance(align, int) and align.bit_count() != 1:
        return thread.out.stops("align")
    if isinstance(align, int) and isinstance(size, int) and size % align and ins.name == "@aligned_alloc":
        return thread.out.stops("multiple")
    return _allocated(thread, state, ins, size, False)


def allocate_over_aligned(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``operator new(size, align)``."""
    size, align = _arguments(thread, state, ins)[:2]
    if not _allocated(thread, state, ins, size, False):
        return False
    assert isinstance(ins.operands[0], ir.Register)
    found = state.known.get(state.home(ins.operands[0].name))
    if isinstance(found, ArrayAddress) and isinstance(align, int):
        thread.creation.aligned[found.array] = align
    return True


def place_aligned(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``posix_memalign(where, align, size)``."""
    where, align, size = _arguments(thread, state, ins)
    if not isinstance(size, int) or not isinstance(align, int):
        raise thread.out.wrong("memory whose size memory decides is not understood")
    if align.bit_count() != 1 or align % POINTER:
        set_result(thread, state, ins.operands[0], EINVAL)
        return True
    place = checked_address(thread, state, where, POINTER)
    if place is None:
        return False
    set_result(thread, state, ins.operands[0], 0)
    made = new_object(thread, state, ins, size, False)
    note_object(thread, OBJECT_MADE, made.array)
    return stored(thread, state, place, POINTER, made, PLAIN)


EINVAL = 22
"""What says that an argument is none that a function has, under Linux."""


def allocate_hazard(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__VERIFIER_hp_alloc()``: a new hazard pointer."""
    set_result(thread, state, ins.operands[0], new_object(thread, state, ins, POINTER, True))
    return True


def _allocated(thread: FollowedThread, state: State, ins: ir.KernelInstruction, size: Value, zero: bool) -> bool:
    if is_unwritten(size):
        return thread.out.stops("uninitialised")
    if not isinstance(size, int):
        raise thread.out.wrong("memory whose size memory decides is not understood")
    if size >= 1 << 63:
        return thread.out.stops("size")
    thread.notes.assumed["there is memory for all that asks for it"] = None
    made = new_object(thread, state, ins, size, zero)
    note_object(thread, OBJECT_MADE, made.array)
    thread.creation.made_by[made.array] = _way(ins.name)
    set_result(thread, state, ins.operands[0], made)
    return True


def given_back_at_end(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_given_back_at_end(object)``: the library gives the object back at the end of a thread."""
    (address,) = _arguments(thread, state, ins)
    if isinstance(address, ArrayAddress):
        note_object(thread, GIVEN_BACK, address.array)
    return True


_WAYS = {"_Znw": "new", "_Zna": "new[]", "_Zdl": "new", "_Zda": "new[]"}


def _way(name: str) -> str:
    """Return how memory is made, or is to have been made, by the name of a function: by ``new``, ``new[]``, ``malloc``
    and the like.
    """
    return _WAYS.get(name.removeprefix("@")[:4], "malloc")


def reallocate(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``realloc(object, size)``: a new object with what the old one holds, which is given back."""
    old, size = _arguments(thread, state, ins)
    if old == 0:
        return _allocated(thread, state, ins, size, False)
    if not isinstance(old, ArrayAddress) or not isinstance(size, int):
        raise thread.out.wrong("of an object that memory gives, or to a size that it gives, is not understood")
    known = length_of(thread, old.array)
    new = new_object(thread, state, ins, size, False)
    note_object(thread, OBJECT_MADE, new.array)
    if not moved_bytes(thread, state, new, old, min(size, known or 0)) or not _released(thread, state, old):
        return False
    set_result(thread, state, ins.operands[0], new)
    return True


def release(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``free(object)`` and ``operator delete``: a plain write to all of an object, behind which nothing may use it."""
    return _released(thread, state, _arguments(thread, state, ins)[0], _way(ins.name))


def _released(thread: FollowedThread, state: State, address: Value, way: str = "malloc") -> bool:
    ways = thread.creation.made_by
    match address:
        case ArrayAddress(array) if ways.get(array, way) != way:
            return thread.out.stops("freed otherwise")
        case int():
            return True if address == 0 else thread.out.stops("free")
        case ArrayAddress(array, offset):
            if array.space != OBJECTS or not array.name.startswith(MADE) or offset:
                return thread.out.stops("free")
            ended = Cell(array.owner, array.name, -1, 0)
            if is_dead(thread, state, array):
                return thread.out.stops("freed twice")
            if not owns(thread, array):
                thread.out.put(Store(array_place(array, 0), FREED), Access(array, 0, 0))
                note_write(thread, state, Access(array, 0, 0))
            state.known[ended] = 1
            note_object(thread, GIVEN_BACK, array)
            return True
        case Affine(Array() as array):
            place = ArrayAddress(array)
            if array.space != OBJECTS or not array.name.startswith(MADE):
                return thread.out.stops("free")
            apart = distance(thread, address, place)
            assert isinstance(apart, Symbol)
            stop_where(thread, thread.out.temporary("ne", Reg(apart.register), 0), "free")
            return _released(thread, state, place)
        case Affine(None):
            moved = in_register(thread, address)
            assert isinstance(moved, Symbol)
            return _released(thread, state, replace(moved, checked=True))
        case Symbol(register):
            if {*ways.values()} - {way}:
                thread.notes.assumed[_GIVEN_BACK] = None
            going = thread.out.new_label()
            if not address.checked:
                thread.out.put(Branch(going, Comparison("eq", Reg(register), 0)))
            thread.out.put(Store(Reg(register), FREED), Access(ANYWHERE, 0, 0))
            thread.out.put(Label(going))
            return True
        case Unknown() if is_unwritten(address):
            return thread.out.stops("uninitialised")
    raise thread.out.wrong(f"of {describe(thread, address)} is not understood")


_GIVEN_BACK = "memory that is given back by an address from memory is given back as it was made"

FREED = 0
"""What is written to memory that is given back."""


# what fails, and what only reads


def failed(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__assert_fail``: a finding; the thread goes on, so that what others wait for comes."""
    thread.out.marks("assert")
    return True


def give_up(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``abort``: a finding, at which the thread ends."""
    return thread.out.stops("abort")


def asserts(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__VERIFIER_assert(condition)``: as ``assert``."""
    return _unless(thread, state, ins, lambda: failed(thread, state, ins))


def takes_for_granted(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__VERIFIER_assume(condition)``: where it does not hold, the thread stops, and who joins it; others go on."""
    return _unless(thread, state, ins, lambda: thread.out.stops(ASSUME))


def _unless(thread: FollowedThread, state: State, ins: ir.KernelInstruction, fails: Callable[[], bool]) -> bool:
    """Do something where the condition of a call does not hold; return whether the thread goes on."""
    (value,) = _arguments(thread, state, ins)
    if is_unwritten(value):
        return thread.out.stops("uninitialised")
    set_result(thread, state, ins.operands[0], 0)
    if isinstance(value, int):
        return True if value else fails()
    if not isinstance(value, Symbol):
        raise thread.out.wrong(f"a condition that is {describe(thread, value)} is not understood")
    going = thread.out.new_label()
    thread.out.put(Branch(going, Comparison("ne", Reg(value.register), 0)))
    fails()
    thread.out.put(Label(going))
    return True


def spawn(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__VERIFIER_spawn(function, argument)``: gives the number of the new thread."""
    function, argument = _arguments(thread, state, ins)
    set_result(thread, state, ins.operands[0], _started(thread, state, function, argument))
    return True


def join_value(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__VERIFIER_join(thread)``: gives the result of the thread."""
    (name,) = _arguments(thread, state, ins)
    number = _ended_before(thread, state, name)
    if number is None:
        return False
    array = system_array(number, GIVEN)
    set_result(thread, state, ins.operands[0], loaded(thread, state, ArrayAddress(array), SLOT, PLAIN))
    return True


def keep_retired(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__VERIFIER_hp_retire(object)``: memory that is given back when no hazard pointer protects it: never, here."""
    (address,) = _arguments(thread, state, ins)
    if isinstance(address, ArrayAddress):
        note_object(thread, GIVEN_BACK, address.array)
    elif thread.launch.leaks:
        raise thread.out.wrong("of an address from memory, where leaks are asked for, is not understood")
    thread.notes.assumed["memory that is retired stays as it is"] = None
    return True


def _text(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> str:
    """Return the string that a function of the library names something by."""
    text = _string(thread, state, _arguments(thread, state, ins)[0], decided=False)
    assert text is not None
    return text.decode()


def stops(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_stops(why)``: a finding of the library, at which the thread ends."""
    return thread.out.stops(_text(thread, state, ins))


def assumes(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_assumes(what)``: a note of what the library takes for granted."""
    thread.notes.assumed[_text(thread, state, ins)] = None
    return True


def refuses(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_refuses(what)``: what the library does not do."""
    raise thread.out.wrong(f"{_text(thread, state, ins)} is not understood")


def nothing(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """A function without effect on memory, which gives 0."""
    set_result(thread, state, ins.operands[0], 0)
    return True


def printed(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``printf`` and the like: a string is read as far as its end, and what ``%s`` is of; numbers are to be written."""
    values = _arguments(thread, state, ins)
    first = _STRINGS.get(ins.name.removeprefix("@"))
    if any(is_unwritten(value) for value in values[first or 0 :]):
        return thread.out.stops("uninitialised")
    if first is not None and not (ins.name == "@perror" and values[0] == 0):
        formatted = "printf" in ins.name
        text = _string(thread, state, values[first], decided=not formatted)
        if text is None or (formatted and not _converted(thread, state, text, values[first + 1 :])):
            return False
    set_result(thread, state, ins.operands[0], Unknown(f"what {ins.name[1:]} gives"))
    return True


_STRINGS = {"printf": 0, "fprintf": 1, "dprintf": 1, "puts": 0, "fputs": 0, "perror": 0}
"""The functions that write a string, each with the number of the argument that is it."""


def _converted(thread: FollowedThread, state: State, text: bytes, given: Sequence[Value]) -> bool:
    """Read what a format says of its arguments; return whether the thread goes on: each has to be there."""
    before: Value = 0
    for number, (letter, most) in enumerate(_formats(text)):
        if number == len(given):
            return thread.out.stops("argument")
        if letter == "n":
            raise thread.out.wrong("a number of letters is not understood")
        if letter == "s":
            if most is None and not isinstance(before, int):
                raise thread.out.wrong("a precision that memory decides is not understood")
            letters = before if most is None and isinstance(before, int) else most or 0
            letters = letters if 0 <= letters < MOST_LETTERS else MOST_LETTERS  # a negative one is none
            if _string(thread, state, given[number], letters) is None:
                return False
        before = given[number]
    return True


def chance(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_chance()``: 1 or 0, either of which may be, as a weak exchange may fail."""
    share_memory(thread, state)  # for threads that are created later begin where one of both was
    array = system_array(thread.block, CHANCE)
    register, found = thread.out.new_register(), thread.out.new_register()
    thread.creation.zeroed.add(array)
    relaxed = Mode(Order.RELAXED, Scope.SYS)
    thread.out.put(Rmw("cas", register, array_place(array, 0), (0, 0), relaxed, success=found), Access(array, 0, SLOT))
    set_result(thread, state, ins.operands[0], Symbol(found, 1))
    return True


CHANCE = "chance"
"""The location of the system's that has what may fail."""


def is_known(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_is_known(value)``: whether a number or an address is known, 1 or 0."""
    (value,) = _arguments(thread, state, ins)
    set_result(thread, state, ins.operands[0], int(isinstance(value, int | ArrayAddress)))
    return True


def is_before(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_is_before(one, other)``: whether one object is before another one in some order of all objects."""
    one, other = _arguments(thread, state, ins)
    if not isinstance(one, ArrayAddress) or not isinstance(other, ArrayAddress):
        raise thread.out.wrong("two locks that are taken at once by an address from memory are not understood")
    set_result(thread, state, ins.operands[0], int((one.array, one.offset) < (other.array, other.offset)))
    return True


def apart(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_apart(one, other)``: how many bytes one address is behind another in one object, else ``INT_MAX``."""
    one, other = _arguments(thread, state, ins)
    known = array_of(one) is not None and array_of(other) is not None
    found = distance(thread, one, other)
    if found is None:
        found = INT_MAX if known else Unknown("whether a string is apart from where it is written")
    set_result(thread, state, ins.operands[0], found)
    return True


INT_MAX = (1 << 31) - 1


def untold(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_untold(what)``: a number that nothing tells, by the name of what it is."""
    set_result(thread, state, ins.operands[0], Unknown(_text(thread, state, ins)))
    return True


def streamed(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``operator<<`` of a stream, which gives the stream: a value is to be written; bytes of strings are not read."""
    stream, *values = _arguments(thread, state, ins)
    if any(map(is_unwritten, values)):
        return thread.out.stops("uninitialised")
    set_result(thread, state, ins.operands[0], stream)
    return True


_CONVERSION = re.compile(r"%[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?[hljztL]*(.)", re.DOTALL)


def _formats(text: bytes) -> Iterator[tuple[str, int | None]]:
    """Yield the letters of the conversions of a format, one for each argument, with the most letters that are read.

    None: the argument before says how many.
    """
    for width, precision, letter in _CONVERSION.findall(text.decode("latin-1")):
        for word in (width, precision):
            if word == "*":
                yield word, 0
        if letter != "%":
            yield letter, None if precision == "*" else int(precision) if precision.isdigit() else MOST_LETTERS


MOST_LETTERS = 4_096
"""The letters that a string may have."""


def _string(
    thread: FollowedThread, state: State, value: Value, most: int = MOST_LETTERS, decided: bool = True
) -> bytes | None:
    """Read a string up to its end, or so many letters; return what is known of it, None where the thread ends, as it is
    outside. ``decided``: memory may decide letters; what is behind one is read where that one is not the end.
    """
    found, ended = bytearray(), ""
    if most and isinstance(value, Symbol | Affine) and array_of(value) is None:
        thread.notes.assumed["of a string by an address from memory only the first letter is read"] = None
        most = 1
    for place in range(most):
        where = checked_address(thread, state, further(value, place), 1)
        byte = None if where is None else loaded(thread, state, where, 1, PLAIN)
        if byte is not None and is_unwritten(byte):
            thread.out.stops("uninitialised")
            byte = None
        if byte is None:
            if ended:
                break
            return None
        if isinstance(byte, int):
            if byte & 255 == 0:
                break
            found.append(byte & 255)
            continue
        if not decided or not isinstance(byte, Symbol):
            raise thread.out.wrong("a string of which memory decides letters is not understood")
        ended = ended or thread.out.new_label()
        thread.out.put(Branch(ended, Comparison("eq", Reg(byte.register), 0)))
    else:
        if most == MOST_LETTERS:
            raise thread.out.wrong(f"a string of more than {MOST_LETTERS:,} letters is not understood")
    if ended:
        thread.out.put(Label(ended))
    return bytes(found)


def is_asked_by_program(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_is_asked_by_program()``: whether the program calls the function of the library at hand itself."""
    caller = state.frames[-1].function if state.frames else state.function
    set_result(thread, state, ins.operands[0], int(LIBRARY not in caller.directives))
    return True


def notified(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_notified(object)``: the address of how often those were notified who wait for an atomic object; null
    where its address is from memory, and who waits for it is woken when it changes.
    """
    (address,) = _arguments(thread, state, ins)
    found: Value = 0
    if isinstance(address, ArrayAddress):
        array = beside(thread, address.array, NOTIFIED)
        found = ArrayAddress(array, address.offset // 4 * 4)
        thread.creation.zeroed.add(array)
    else:
        thread.notes.assumed["who waits for an atomic object by its address from memory sees when it changes"] = None
    set_result(thread, state, ins.operands[0], found)
    return True


def number_beside(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_beside(object)``: the address of a number of the library's beside an object, 0 at first; null where its
    address is from memory.
    """
    (address,) = _arguments(thread, state, ins)
    found: Value = 0
    if isinstance(address, ArrayAddress):
        array = beside(thread, address.array, BESIDE)
        found = ArrayAddress(array, address.offset)
        thread.creation.zeroed.add(array)
        thread.creation.besides.setdefault(array, set()).add(address.offset)
    else:
        what = "a lock, condition variable, barrier or semaphore by its address from memory is initialised, and once"
        thread.notes.assumed[what] = None
    set_result(thread, state, ins.operands[0], found)
    return True


def compared(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``memcmp`` and ``bcmp``: which of two objects is less by its bytes; where memory decides, whether they are equal,
    of a scalar and of what nothing but that is asked.
    """
    one, other, count = _arguments(thread, state, ins)
    if not isinstance(count, int):
        raise thread.out.wrong("with as many bytes as memory decides it is not understood")
    places = [checked_address(thread, state, value, count) if count else value for value in (one, other)]
    if None in places:
        return False
    if (count in (1, 2, 4, 8) and ins.name == "@bcmp") or _asks_for_equality(state, ins):
        values = [loaded(thread, state, place, count, PLAIN) for place in places if place is not None]
        if any(map(is_unwritten, values)):
            return thread.out.stops("uninitialised")
        equal = same(thread, *values)
        if isinstance(equal, Symbol):
            equal = Symbol(thread.out.temporary("xor", Reg(equal.register), 1), 32)
        elif isinstance(equal, int):
            equal = equal ^ 1
        set_result(thread, state, ins.operands[0], equal)
        return True
    found = 0
    for place in range(count):
        bytes_ = [loaded(thread, state, further(value, place), 1, PLAIN) for value in (one, other)]
        if any(map(is_unwritten, bytes_)):
            return thread.out.stops("uninitialised")
        if not all(isinstance(byte, int) for byte in bytes_):
            raise thread.out.wrong("of objects of which memory decides what is in them it is not understood")
        if bytes_[0] != bytes_[1]:
            found = 1 if (bytes_[0], 0) > (bytes_[1], 0) else (1 << 32) - 1
            break
    set_result(thread, state, ins.operands[0], found)
    return True


def _asks_for_equality(state: State, ins: ir.KernelInstruction) -> bool:
    """Decide whether the next instruction compares a result with 0, and is for equality, of a scalar."""
    body = state.function.body or ()
    following = body[state.place] if state.place < len(body) else None
    scalar = ins.operands[3] in (ir.Number(1), ir.Number(2), ir.Number(4), ir.Number(8))
    return (
        scalar
        and following is not None
        and following.name == "compare"
        and following.words[0] in ("eq", "ne")
        and following.operands[1:] == (ins.operands[0], ir.Number(0))
    )


_DELETE = tuple(
    f"_Z{kind}Pv{size}{align}{failing}"
    for kind in ("dl", "da")
    for size in ("", "m")
    for align in ("", "St11align_val_t")
    for failing in ("", "RKSt9nothrow_t")
)
"""The forms of ``operator delete`` (C++ Standard, new.delete)."""

_OUTPUT = "printf,fprintf,dprintf,puts,fputs,putchar,fputc,putc,fflush,perror"

_HINTS = "loop_begin,loop_bound,spin_start,spin_end,method_begin,method_end,hazptr_protect,hp_clear,hp_free"
"""The words of verifiers that only save them work, or that are of memory which is given back."""

ROWS: tuple[Row[Meaning], ...] = (
    Row("@pthread_create,@thrd_create", CONTROL, "any*", create),
    Row("@pthread_join", CONTROL, "any*", join),
    Row("@thrd_join", CONTROL, "any*", join_number),
    Row("@pthread_detach,@thrd_detach", CONTROL, "any*", detach),
    Row("@pthread_self,@thrd_current", NOTHING, "any*", name_of_thread),
    Row("@pthread_exit,@thrd_exit", CONTROL, "any*", end_thread),
    Row("@exit,@_Exit,@_exit,@quick_exit", CONTROL, "any*", end_program),
    Row("@malloc,@_Znwm,@_Znam,@_ZnwmRKSt9nothrow_t,@_ZnamRKSt9nothrow_t", BOTH, "any*", allocate),
    Row("@_ZnwmSt11align_val_t,@_ZnamSt11align_val_t", BOTH, "any*", allocate_over_aligned),
    Row("@_ZnwmSt11align_val_tRKSt9nothrow_t", BOTH, "any*", allocate_over_aligned),
    Row("@_ZnamSt11align_val_tRKSt9nothrow_t", BOTH, "any*", allocate_over_aligned),
    Row("@calloc", BOTH, "any*", allocate_zeros),
    Row("@aligned_alloc,@memalign", BOTH, "any*", allocate_aligned),
    Row("@posix_memalign", BOTH, "any*", place_aligned),
    Row("@realloc", BOTH, "any*", reallocate),
    Row(",".join(f"@{name}" for name in ("free", *_DELETE)), WRITES, "any*", release),
    Row("@__assert_fail,@__assert", CONTROL, "any*", failed),
    Row("@__synth_stops", CONTROL, "any*", stops),
    Row("@__synth_assumes", CONTROL, "any*", assumes),
    Row("@__synth_refuses", CONTROL, "any*", refuses),
    Row("@__synth_is_known", NOTHING, "any*", is_known),
    Row("@__synth_chance", BOTH, "any*", chance),
    Row("@__synth_apart", NOTHING, "any*", apart),
    Row("@__synth_untold", NOTHING, "any*", untold),
    Row("@__synth_printed", READS, "any*", streamed),
    Row("@memcmp,@bcmp", READS, "any*", compared),
    Row("@__synth_notified", NOTHING, "any*", notified),
    Row("@__synth_is_before", NOTHING, "any*", is_before),
    Row("@__synth_is_asked_by_program", NOTHING, "any*", is_asked_by_program),
    Row("@__synth_beside", NOTHING, "any*", number_beside),
    Row("@__synth_given_back_at_end", NOTHING, "any*", given_back_at_end),
    Row("@__synth_at_exit", NOTHING, "any*", at_exit),
    Row("@__synth_at_end_of_thread", NOTHING, "any*", at_end_of_thread),
    Row("@__synth_at_thread_exit", NOTHING, "any*", at_thread_exit),
    Row("@abort,@__builtin_trap,@_ZSt9terminatev,@__cxa_pure_virtual", CONTROL, "any*", give_up),
    Row(",".join(f"@{name}" for name in _OUTPUT.split(",")), READS, "any*", printed),
    Row("@sched_yield,@thrd_yield,@pthread_yield,@usleep,@sleep,@srand,@srandom", NOTHING, "any*", nothing),
    Row("@__VERIFIER_assume", CONTROL, "any*", takes_for_granted),
    Row("@__VERIFIER_assert", CONTROL, "any*", asserts),
    Row("@__VERIFIER_error,@reach_error", CONTROL, "any*", give_up),
    Row("@__VERIFIER_spawn", CONTROL, "any*", spawn),
    Row("@__VERIFIER_join", CONTROL, "any*", join_value),
    Row("@__VERIFIER_hp_alloc", BOTH, "any*", allocate_hazard),
    Row("@__VERIFIER_hp_retire", NOTHING, "any*", keep_retired),
    Row(",".join(f"@__VERIFIER_{name}" for name in _HINTS.split(",")), NOTHING, "any*", nothing),
    Row("@pthread_attr_init,@pthread_attr_destroy,@pthread_setconcurrency,@setbuf,@setvbuf", NOTHING, "any*", nothing),
)
"""The functions by name. No row, no answer."""
