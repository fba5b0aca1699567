"""Exceptions of C++ as the Itanium ABI has them: a handler is looked for outwards, then what is between is cleaned up.

    invoke void @__cxa_throw(ptr %1, ptr @_ZTI1D, ptr @_ZN1DD2Ev) to label %20 unwind label %10
    10: %11 = landingpad { ptr, i32 } cleanup catch ptr @_ZTI1B

An exception that nobody catches ends its thread: a finding (C++ Standard, except.terminate), and nothing is cleaned up.
What is thrown and what has been caught is kept as cells of the system's. Types are matched by their descriptions:
equal, or a base class at the beginning of the object; where that is not known, the exception is not understood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from corpus.code import ir
from corpus.code.calls import WRITTEN_BY_US
from corpus.code.evaluation import define, evaluate, set_result
from corpus.code.functions import UNWIND
from corpus.code.llvm.control import PAD
from corpus.code.llvm.library import end_frame
from corpus.code.llvm.memory import POINTER, loaded, new_object, operand_of
from corpus.code.places import CODE, Array, Cell, RegisterHome, counter
from corpus.code.table import BOTH, CONTROL, NOTHING, Row
from corpus.code.thread import FollowedThread, Frame, Meaning, State
from corpus.code.values import ArrayAddress, Symbol, Value
from corpus.code.variants import follow_later
from corpus.litmus.instructions import Branch, Comparison
from corpus.litmus.locations import Reg
from corpus.litmus.orders import PLAIN

EVERYTHING = "null"
"""What ``catch (...)`` asks for."""

_STANDARD: Mapping[str, str] = {
    "St9exception": "",
    **dict.fromkeys(("St9bad_alloc", "St8bad_cast", "St10bad_typeid", "St13bad_exception"), "St9exception"),
    **dict.fromkeys(("St11logic_error", "St13runtime_error", "St19bad_optional_access"), "St9exception"),
    **dict.fromkeys(("St18bad_variant_access", "NSt3__112bad_weak_ptrE"), "St9exception"),
    **dict.fromkeys(("NSt3__117bad_function_callE", "St12bad_any_cast"), "St9exception"),
    **dict.fromkeys(("St12domain_error", "St16invalid_argument", "St12length_error"), "St11logic_error"),
    **dict.fromkeys(("St12out_of_range", "NSt3__112future_errorE"), "St11logic_error"),
    **dict.fromkeys(("St11range_error", "St14overflow_error", "St15underflow_error"), "St13runtime_error"),
    "NSt3__112system_errorE": "St13runtime_error",
    "St20bad_array_new_length": "St9bad_alloc",
}
"""The base classes of exceptions of the library, of which programs have no descriptions (C++ Standard, diagnostics)."""

_TYPE = "_ZTI"


def allocate_exception(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__cxa_allocate_exception(size)``."""
    size = evaluate(thread, state, ins.operands[1])
    assert isinstance(size, int)
    set_result(thread, state, ins.operands[0], new_object(thread, state, ins, size, False))
    return True


def throw(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__cxa_throw(object, type, destructor)``."""
    thrown, type, destroy = (evaluate(thread, state, operand) for operand in ins.operands[1:4])
    _throw(thread, state, (thrown, type, destroy))
    return unwind(thread, state)


def throw_again(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__cxa_rethrow()``: what was caught last is thrown again; without that, the program ends."""
    number = _count(state, _CAUGHT)
    if number == 0:
        return thread.out.stops("abort")
    _throw(thread, state, _kept(thread, state, f"{_CAUGHT} {number}"))
    state.known[counter(f"thrown again {number}")] = 1
    return unwind(thread, state)


def catch(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__cxa_begin_catch(exception)``: what is thrown is caught; gives its address, of a pointer the pointer."""
    thrown = _thrown(thread, state)
    _forget(state, _THROWN)
    state.known.pop(counter(_SELECTOR), None)
    _remember(thread, state, _CAUGHT, thrown)
    set_result(thread, state, ins.operands[0], _as_seen(thread, state, thrown))
    return True


def look_at(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__cxa_get_exception_ptr(exception)``: the address of what is thrown, before it is caught."""
    set_result(thread, state, ins.operands[0], _as_seen(thread, state, _thrown(thread, state)))
    return True


def _as_seen(thread: FollowedThread, state: State, thrown: tuple[Value, Value, Value]) -> Value:
    address, type, _ = thrown
    if _name_of(thread, type).startswith("P") and isinstance(address, ArrayAddress):
        return loaded(thread, state, address, POINTER, PLAIN)
    return address


def end_catch(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__cxa_end_catch()``: what was caught last is destroyed, unless it is thrown again."""
    number = _count(state, _CAUGHT)
    if number == 0:
        raise thread.out.wrong("the end of a handler outside of one is not understood")
    address, _, destroy = _kept(thread, state, f"{_CAUGHT} {number}")
    _forget(state, _CAUGHT)
    again = state.known.pop(counter(f"thrown again {number}"), 0)
    if again or not isinstance(destroy, ArrayAddress) or _is_kept(thread, address):
        return True
    function = thread.module.functions.get(destroy.array.name) if destroy.array.space == CODE else None
    if function is None or function.body is None:
        raise thread.out.wrong(f"{destroy.array.name}, which destroys an exception, is not understood")
    frame = Frame(state.function, state.function.name, state.place, ())
    state.frames = (*state.frames, frame)
    for parameter in function.parameters[:1]:
        define(thread, state, RegisterHome(state.depth, parameter.name), address)
    state.function, state.place = function, 0
    return True


def current(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_current_exception()``: the address of what was caught last, which is kept; null where nothing was."""
    number = _count(state, _CAUGHT)
    found: Value = 0
    if number:
        found, type, destroy = _kept(thread, state, f"{_CAUGHT} {number}")
        _keep_for_ever(thread, found, type, destroy)
    set_result(thread, state, ins.operands[0], found)
    return True


def begin_kept(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__cxa_init_primary_exception(object, type, destructor)``: an exception that is kept, and not thrown."""
    made, type, destroy = (evaluate(thread, state, operand) for operand in ins.operands[1:4])
    _keep_for_ever(thread, made, type, destroy)
    set_result(thread, state, ins.operands[0], made)
    return True


def _keep_for_ever(thread: FollowedThread, address: Value, type: Value, destroy: Value) -> None:
    """Note that an exception is kept, which may be thrown again."""
    if not isinstance(address, ArrayAddress) or not isinstance(type, ArrayAddress):
        raise thread.out.wrong("an exception that is kept where memory decides which is not understood")
    if isinstance(destroy, ArrayAddress):
        thread.notes.assumed["an exception that a std::exception_ptr has is never destroyed"] = None
    thread.creation.exceptions[address.array] = type


def _is_kept(thread: FollowedThread, address: Value) -> bool:
    return isinstance(address, ArrayAddress) and address.array in _all_kept(thread)


def _all_kept(thread: FollowedThread) -> Mapping[Array, ArrayAddress]:
    """Return the types of all exceptions that are kept, also by other threads."""
    return {**dict(thread.facts.exceptions), **thread.creation.exceptions}


def throw_kept(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``__synth_throw_kept(exception)``: an exception that is kept is thrown; a way for each where memory decides."""
    operand = ins.operands[1]
    value, every = evaluate(thread, state, operand), _all_kept(thread)
    match value:
        case ArrayAddress(array) if array in every:
            _throw(thread, state, (value, every[array], 0))
            return unwind(thread, state)
        case Symbol(register):
            assert isinstance(operand, ir.Register)
            for array in sorted(every):
                way = state.moved_to(state.place - 1)
                way.known[state.home(operand.name)] = ArrayAddress(array)
                is_it = thread.out.temporary("eq", Reg(register), operand_of(thread, ArrayAddress(array), POINTER))
                thread.out.put(Branch(follow_later(thread, way), Comparison("ne", Reg(is_it), 0)))
            return thread.out.stops("null")
        case 0:
            return thread.out.stops("abort")
    raise thread.out.wrong("an exception that is kept by an address which is not known is not understood")


def resume(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``resume``: what is thrown goes on outwards, as all is cleaned up here."""
    return unwind(thread, state)


def land(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``landingpad``: where an exception comes to: gives its address, and which type it was found to have."""
    address, _, _ = _thrown(thread, state)
    results = ins.operands[0]
    assert isinstance(results, ir.Vector)
    for target, value in zip(results.parts, (address, state.known[counter(_SELECTOR)]), strict=True):
        set_result(thread, state, target, value)
    return True


def number_of_type(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``llvm.eh.typeid.for(type)``: the number that a type has here."""
    type = ins.operands[1]
    name = type.name if isinstance(type, ir.SymbolRef) else EVERYTHING
    set_result(thread, state, ins.operands[0], _number(thread, name))
    return True


def unwind(thread: FollowedThread, state: State) -> bool:
    """Go to where what is thrown goes first: the innermost place that catches it, or cleans up before that; return
    whether there is one.
    """
    if not any(_selector(thread, state, function, label) for function, label in _pads(state)):
        return thread.out.stops("uncaught")
    for function, label in list(_pads(state)):
        if label:
            state.known[counter(_SELECTOR)] = _selector(thread, state, function, label) or 0
            state.place = function.labels[label]
            return True
        if WRITTEN_BY_US in function.directives and _calls_back(function, state.place - 1):
            raise thread.out.wrong(
                f"an exception that goes through {function.called or function.name} is not understood"
            )
        end_frame(thread, state)
        depth, frame = state.depth, state.frames[-1]
        state.known = {home: value for home, value in state.known.items() if home.depth != depth}
        state.function, state.place, state.frames = frame.function, frame.after, state.frames[:-1]
    raise AssertionError


def _calls_back(function: ir.KernelFunction, place: int) -> bool:
    """Decide whether a function of the library has called one that it was given, behind which it has more to do."""
    ins = (function.body or ())[place]
    return ins.name == "call" and isinstance(ins.operands[1], ir.Register) and function.name not in _LAST


_LAST = ("library.synth_wait",)
"""Functions of the library that call one that they are given as the last of what they do, and hold nothing then."""


def _pads(state: State) -> Iterator[tuple[ir.KernelFunction, str]]:
    """Yield each function that is called, from the innermost outwards, with the label to which an exception goes there;
    nothing where it goes through.
    """
    function, place, frames = state.function, state.place, state.frames
    while True:
        (label,) = function.tables.get(f"{UNWIND} {place - 1}", ("",))
        yield function, label
        if not frames:
            return
        function, place, frames = frames[-1].function, frames[-1].after, frames[:-1]


def _selector(thread: FollowedThread, state: State, function: ir.KernelFunction, label: str) -> int:
    """Return the number of the first type that a block asks for and the exception has; 0 where it only cleans up."""
    if not label:
        return 0
    _, type, _ = _thrown(thread, state)
    thrown = _name_of(thread, type)
    for clause in function.tables[f"{PAD} {label}"]:
        if clause == "cleanup":
            continue
        if clause == "filter":
            raise thread.out.wrong("a list of the exceptions that a function may throw is not understood")
        if clause == EVERYTHING or _is_a(thread, thrown, clause.removeprefix(_TYPE)):
            return _number(thread, clause)
    return 0


def _is_a(thread: FollowedThread, thrown: str, asked: str) -> bool:
    """Decide whether an exception of a type is caught as another one (C++ Standard, except.handle)."""
    if thrown == asked:
        return True
    if thrown.startswith("P") or asked.startswith("P") or "Dn" in (thrown, asked):
        if not (thrown.startswith("P") and asked.startswith("P")):
            return thrown == "Dn" and asked.startswith(("P", "M"))
        pointed, wanted = thrown[1:], asked[1:]
        if wanted.lstrip("VK") in ("v", pointed.lstrip("VK")):
            return set(_qualifiers(pointed)) <= set(_qualifiers(wanted))
        if len(pointed.lstrip("VK")) == 1 or len(wanted.lstrip("VK")) == 1:
            return False
        raise thread.out.wrong("an exception that is a pointer to a class is not understood")
    every = [thrown]
    for name in every:  # which become more
        every += _bases(thread, name)
        if asked in every:
            return True
    return False


def _qualifiers(type: str) -> str:
    return type[: len(type) - len(type.lstrip("VK"))]


def _bases(thread: FollowedThread, name: str) -> list[str]:
    """Return the base class of a type. Raises ``NotUnderstoodError`` where it has several, or is not known."""
    if name in _STANDARD:
        return [_STANDARD[name]] if _STANDARD[name] else []
    variable = thread.module.variables.get(_TYPE + name)
    symbols = [symbol.name for _, symbol in variable.addresses] if variable is not None else []
    if not symbols:
        if len(name) == 1 and name.islower():
            return []
        raise thread.out.wrong("an exception of a type that the program does not describe is not understood")
    if any("vmi_class" in symbol for symbol in symbols):
        raise thread.out.wrong("an exception of a class with several or virtual base classes is not understood")
    return [symbol.removeprefix(_TYPE) for symbol in symbols if symbol.startswith(_TYPE)]


def _name_of(thread: FollowedThread, type: Value) -> str:
    if not isinstance(type, ArrayAddress) or not type.array.name.startswith(_TYPE):
        raise thread.out.wrong("an exception of a type that is not known is not understood")
    return type.array.name.removeprefix(_TYPE)


def _number(thread: FollowedThread, name: str) -> int:
    if name == EVERYTHING:
        return 1
    return 2 + sorted(other for other in thread.module.variables if other.startswith(_TYPE)).index(name)


_THROWN, _CAUGHT, _SELECTOR = "thrown", "caught", "which handler"


def _count(state: State, what: str) -> int:
    """Return how many exceptions are thrown and not caught yet, or caught and their handlers have not ended. Several
    are thrown where one that goes outwards is cleaned up behind by what throws and catches others.
    """
    count = state.known.get(counter(what), 0)
    assert isinstance(count, int)
    return count


def _remember(thread: FollowedThread, state: State, what: str, exception: tuple[Value, Value, Value]) -> None:
    number = _count(state, what) + 1
    state.known[counter(what)] = number
    _keep(thread, state, f"{what} {number}", exception)


def _forget(state: State, what: str) -> None:
    """Forget the last exception of those."""
    number = _count(state, what)
    for offset in (0, 8, 16):
        state.known.pop(Cell(0, f"{what} {number}", offset, POINTER))
    if number == 1:
        state.known.pop(counter(what))
    else:
        state.known[counter(what)] = number - 1


def _throw(thread: FollowedThread, state: State, exception: tuple[Value, Value, Value]) -> None:
    _remember(thread, state, _THROWN, exception)


def _thrown(thread: FollowedThread, state: State) -> tuple[Value, Value, Value]:
    """Return the exception that was thrown last and is not caught: its address, type and destructor."""
    return _kept(thread, state, f"{_THROWN} {_count(state, _THROWN)}")


def _keep(thread: FollowedThread, state: State, where: str, values: tuple[Value, Value, Value]) -> None:
    for offset, value in zip((0, 8, 16), values, strict=True):
        define(thread, state, Cell(0, where, offset, POINTER), value)


def _kept(thread: FollowedThread, state: State, where: str) -> tuple[Value, Value, Value]:
    one, two, three = (state.known.get(Cell(0, where, offset, POINTER)) for offset in (0, 8, 16))
    if one is None or two is None or three is None:
        raise thread.out.wrong("an exception outside of what is thrown and caught here is not understood")
    return one, two, three


ROWS: tuple[Row[Meaning], ...] = (
    Row("landingpad", NOTHING, "any*", land, "*"),
    Row("resume", CONTROL, "any*", resume, "*"),
    Row("@__cxa_allocate_exception", BOTH, "any*", allocate_exception),
    Row("@__cxa_throw", CONTROL, "any*", throw),
    Row("@__cxa_rethrow", CONTROL, "any*", throw_again),
    Row("@__cxa_begin_catch", BOTH, "any*", catch),
    Row("@__cxa_get_exception_ptr", BOTH, "any*", look_at),
    Row("@__cxa_end_catch", CONTROL, "any*", end_catch),
    Row("@__cxa_init_primary_exception", BOTH, "any*", begin_kept),
    Row("@__synth_current_exception", NOTHING, "any*", current),
    Row("@__synth_throw_kept", CONTROL, "any*", throw_kept),
    Row("@__cxa_free_exception", NOTHING, "any*", lambda thread, state, ins: True),
    Row("@llvm.eh.typeid.for", NOTHING, "any*", number_of_type),
)
"""What exceptions are made of, by name."""
