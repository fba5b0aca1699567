"""The values of operands and registers while a thread is followed.

A value that the running program has is held by one register of the residual program, that which has the name of the
register of the code. So no two names stand for one register, and a move of such a value is a move.
"""

from __future__ import annotations

import re
from dataclasses import replace

from corpus.code import ir
from corpus.code.launch.arguments import is_bare, memory_of, name_of
from corpus.code.places import CODE, NEAR, NOBODY, OWN, Array, Cell, Home, argument_array
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Affine, ArrayAddress, Half, Missing, Partial, Symbol, Unknown, Value
from corpus.litmus.instructions import Assign
from corpus.litmus.locations import Reg
from corpus.litmus.ptx_arithmetic import signed


def evaluate(thread: FollowedThread, state: State, operand: ir.Operand, width: int = 64) -> Value:
    """Return what is known of an operand of so many bits."""
    match operand:
        case ir.Register(name):
            home = state.home(name)
            if home in state.known:
                return state.known[home]
            special = thread.language.special(thread, name)
            return Unknown(f"{name}, which nothing has written") if special is None else special
        case ir.Number(number):
            return number & (1 << width) - 1
        case ir.Float(bits, _):
            return bits
        case ir.SymbolRef(name, offset):
            return _address_of(thread, state, name, offset)
        case ir.Negated(inner):
            value = evaluate(thread, state, inner, width)
            if isinstance(value, int):
                return value & 1 ^ 1
            if isinstance(value, Symbol):
                return Symbol(thread.out.temporary("xor", Reg(value.register), 1), 1)
            return value
    raise thread.out.wrong("the form of an operand is not understood")


def _address_of(thread: FollowedThread, state: State, name: str, offset: int) -> ArrayAddress:
    for variable in (*state.function.variables, *state.function.parameters, *state.function.results):
        if variable.name == name:
            _check_type(thread, variable)
            return ArrayAddress(_array_of(thread, variable, state.depth), offset, variable.space in NEAR)
    if name in thread.module.variables:
        variable = thread.module.variables[name]
        _check_type(thread, variable)
        if variable.extern and variable.space != "shared":
            raise thread.out.wrong(f"what {name} holds is not in the module")
        return ArrayAddress(_array_of(thread, variable, 0), offset, variable.space in NEAR)
    if name in thread.module.functions:
        return ArrayAddress(Array(CODE, NOBODY, name), offset)
    raise thread.out.wrong(f"{name} is not declared")


def _check_type(thread: FollowedThread, variable: ir.Variable) -> None:
    if variable.type in ir.OPAQUE:
        raise thread.out.wrong(f"{variable.name} is a .{variable.type}, of which nothing is understood")


def _array_of(thread: FollowedThread, variable: ir.Variable, depth: int) -> Array:
    """Return the array that a variable is, of a function at a depth of calls."""
    if variable.space == "shared":
        return Array("shared", thread.block, _dynamic(thread) if is_dynamic(variable) else variable.name)
    if variable.space == "argument":
        return argument_array(memory_of(thread, variable.name))
    array = Array(variable.space, depth if variable.space in OWN else NOBODY, variable.name)
    return thread.creation.shown.get(array, array)


def is_dynamic(variable: ir.Variable) -> bool:
    """Return whether a variable is shared memory whose size the launch gives: ``extern __shared__ int data[];``."""
    return variable.space == "shared" and variable.extern and variable.size is None


def _dynamic(thread: FollowedThread) -> str:
    """The one name of the shared memory that a launch gives: all arrays of it begin at one place (CUDA C++ Programming
    Guide, ``__shared__``).
    """
    return next(variable.name for variable in thread.module.variables.values() if is_dynamic(variable))


def define(thread: FollowedThread, state: State, home: Home, value: Value) -> None:
    """Give a register or cell a value; one that a register of the residual program holds moves to its home."""
    match value:
        case Symbol(register) if register != (own := residual_name(home)):
            thread.out.put(Assign(own, "mov", (Reg(register),)))
            value = replace(value, register=own)
        case Affine(_, ((register, scale),)) if register != (own := residual_name(home)):
            thread.out.put(Assign(own, "mov", (Reg(register),)))
            value = replace(value, terms=((own, scale),))
    state.known[home] = value


def lift(thread: FollowedThread, state: State, home: Home, value: Value) -> Value:
    """Return a value as one that its home holds, so that ways with different values meet."""
    if isinstance(value, int):
        own, width = residual_name(home), width_of(thread, state, home)
        thread.out.put(Assign(own, "mov", (signed(value, width) if width > 1 else value & 1,)))
        return Symbol(own, width)
    return value


def lift_moved(thread: FollowedThread, home: Home, value: Value) -> Value:
    """Return an address from memory, moved by so many bytes, as one that its home holds; other values as they are."""
    own = residual_name(home)
    match value:
        case Affine(None, ((register, 1),), offset, low=False) if offset and register == own:
            thread.out.put(Assign(own, "add.s64", (Reg(own), offset)))
            thread.creation.moves.add(offset)
            return Symbol(own, 64, checked=True)
    return value


def width_of(thread: FollowedThread, state: State, home: Home) -> int:
    """Return the bits of a register or cell."""
    if isinstance(home, Cell):
        return 8 * home.size
    functions = (*(frame.function for frame in state.frames), state.function)
    return thread.shape(functions[home.depth]).width(home.name)


NO_SECOND = Unknown("a second result")
"""What a second result is where an instruction has none."""


def set_result(
    thread: FollowedThread, state: State, target: ir.Operand, value: Value, second: Value = NO_SECOND
) -> None:
    """Give a register the result of an instruction, and another one the ``second``, where the target is both."""
    if isinstance(target, ir.Both):
        set_result(thread, state, target.second, second)
        target = target.first
    if isinstance(target, ir.Register) and target.name != "_":
        define(thread, state, state.home(target.name), value)


def describe(thread: FollowedThread, value: Value) -> str:
    """Return what a value is, for a message about a place where a number is wanted."""
    match value:
        case Missing(parameter, offset):
            called = name_of(thread, parameter)
            if is_bare(thread, parameter):
                return f"byte {offset} of the argument {called}, a structure, of which no part can be given"
            return f"the argument {called}, which decides something: give it with --arg {called}=.."
        case Partial(_, _, rest):
            return describe(thread, rest)
        case Unknown(reason):
            return reason
        case ArrayAddress() | Affine() | Half():
            return "an address, of which only places in arrays are known; a number is given with --arg NAME=.."
        case _:
            return "a value of the running program"


def residual_name(home: Home) -> str:
    """Return the register of the residual program for a home: ``r12`` for ``%r12`` of the kernel."""
    name = f"{home.name}+{home.offset}:{home.size}" if isinstance(home, Cell) else home.name
    plain = re.sub(r"\W", "_", name.removeprefix("%").strip("[]").replace("_", "__").replace("'", "_s"))
    depth = "" if home.depth == NOBODY else abs(home.depth)
    return plain if depth == 0 else f"c{depth}_{plain}"
