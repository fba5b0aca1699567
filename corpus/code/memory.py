"""What accesses to memory do when a thread is specialised, whatever the language says of their orders.

Memory of the thread's own is known, and so are its parameters; an access to memory that others may see stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpus.code import ir
from corpus.code.arithmetic import (
    ONE_BIT,
    compared,
    computed,
    extended,
    filled,
    moved,
    number_or_held,
    packed,
    residual_operand,
    unpacked,
)
from corpus.code.evaluation import define, describe, evaluate, is_dynamic, set_result
from corpus.code.launch.arguments import argument_of, memory_of, name_of
from corpus.code.launch.fields import ADDRESSES, STRUCTURE
from corpus.code.launch.launch import ArrayArgument, SharedArgument
from corpus.code.launch.sharing import shown_error
from corpus.code.places import ANYWHERE, Array, argument_array, array_place, cell_of
from corpus.code.residual import Access
from corpus.code.thread import FollowedThread, State
from corpus.code.values import (
    Affine,
    ArrayAddress,
    Half,
    Missing,
    Partial,
    Symbol,
    Unknown,
    Value,
    array_of,
    cut,
    plain_name,
    whole,
)
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.orders import Mode, Order
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of


def address_of(thread: FollowedThread, state: State, operand: ir.Operand) -> Value:
    """Return the address that an operand in brackets is."""
    if isinstance(operand, ir.MemoryOperand):
        base = evaluate(thread, state, operand.base)
        if isinstance(base, Symbol) and operand.offset:
            raise thread.out.wrong("with an address that was read from memory, and an offset, it is not understood")
        return moved(base, operand.offset)
    if isinstance(operand, ir.SymbolRef):
        return evaluate(thread, state, operand)
    raise thread.out.wrong("the form of its address is not understood")


def loaded(thread: FollowedThread, state: State, address: Value, size: int, kind: str, mode: Mode) -> Value | None:
    """Return what a load of so many bytes gives; None where the thread ends, as its address is in no array."""
    if isinstance(address, ArrayAddress):
        array, space = address.array, address.array.space
        reached = thread.language.memory.structures or state.depth == 0
        if space == "param" and reached and array.owner == 0:
            found = _parameter(thread, address, size)
            if found is not None:
                return found
        if _is_outside(thread, state, address, size):
            thread.out.stops("bounds")
            return None
        if owns(thread, address.array):
            return _cell(thread, state, address, size)
        if space == "const" or _is_made(thread, address.array):
            return _constant(thread, state, address, size)
    part = part_size(thread, address, size)
    if part < size:
        parts = [loaded(thread, state, moved(address, n), part, f"u{8 * part}", mode) for n in range(0, size, part)]
        found = packed(thread, [value for value in parts if value is not None], 8 * size)
        if None in parts or not isinstance(found, Symbol):
            return None
        return extended(thread, found, kind)
    where = placed(thread, address, size)
    if where is None:
        thread.out.stops("bounds")
        return None
    operand, access = where
    register = thread.out.new_register()
    thread.out.put(Load(register, operand, mode), access)
    return extended(thread, Symbol(register, 8 * size), kind)


def _constant(thread: FollowedThread, state: State, address: ArrayAddress, size: int) -> Value | None:
    """Return what the module says that constant memory holds; None where the thread ends, as it is not there."""
    name = address.array.name
    variable = thread.module.variables.get(name)
    if variable is None or variable.size is None:
        raise thread.out.wrong(f"what {name} holds is not in the module")
    if not 0 <= address.offset <= variable.size - size:
        thread.out.stops("bounds")
        return None
    if not _is_made(thread, address.array):  # the host may write constants of the source before the launch
        thread.notes.assumed[f"{name} holds what the module gives it"] = None
    for place, symbol in variable.addresses:
        if (place, 8) == (address.offset, size):
            return evaluate(thread, state, symbol)
        if place < address.offset + size and address.offset < place + 8:
            raise thread.out.wrong(f"a part of an address that {name} holds is not understood")
    data = variable.initial.ljust(variable.size, b"\0")
    return int.from_bytes(data[address.offset : address.offset + size], "little")


def _is_made(thread: FollowedThread, array: Array) -> bool:
    """Decide whether an array is one that nvcc makes of a constant of a function: ``NAME$0`` in global memory, which no
    source can name (functions and variables of a file's own have mangled names, without a number at their end).
    """
    function, _, number = array.name.rpartition("$")
    made = array.space == "global" and number.isdigit()
    return made and function in thread.module.functions and array.name in thread.module.variables


def _parameter(thread: FollowedThread, address: ArrayAddress, size: int) -> Value | None:
    """Return what the launch gives for a parameter of the kernel."""
    name = address.array.name
    number = thread.kernel.number_of(name)
    if number is None:
        return None
    given = thread.launch.argument(name, number)
    parameter = thread.kernel.parameters[number]
    if given is None and parameter.fields:
        return _part_of_fields(thread, parameter, address.offset, size)
    if isinstance(given, int):
        return given >> 8 * address.offset & (1 << 8 * size) - 1
    if isinstance(given, SharedArgument):
        return ArrayAddress(argument_array(memory_of(thread, name)))
    pointer = parameter.type in ADDRESSES or (parameter.type == STRUCTURE and thread.language.memory.structures)
    if (size == 8 and pointer) or isinstance(given, ArrayArgument):
        return ArrayAddress(argument_array(name + (f"+{address.offset}" if address.offset else "")))
    return Missing(name, address.offset)


def _part_of_fields(thread: FollowedThread, parameter: ir.Variable, offset: int, size: int) -> Value:
    """Return what so many bytes of a structure are, as the launch gives its fields. What no field has is padding, whose
    value nothing tells. Of fields that have the same bits, as those of a union, the one that is given counts.
    """
    called = name_of(thread, parameter.name)
    if not 0 <= offset <= (parameter.size or 0) - size:
        raise thread.out.wrong(f"of bytes that are not all in the argument {called} is not understood")
    start, end = 8 * offset, 8 * (offset + size)
    met = [field for field in parameter.fields if field.meets(start, end)]
    given = {field: argument_of(thread, parameter.name + field.name) for field in met}
    given_fields = [field for field in met if given[field] is not None]
    open_ = [field for field in met if given[field] is None and not any(map(field.overlaps, given_fields))]
    if not met and size == 8 and all(field.name.startswith("+") for field in parameter.fields):
        return ArrayAddress(argument_array(f"{parameter.name}+{offset}"))  # nothing tells what is there
    for field in (*given_fields, *open_):
        others = (other for other in open_ if other is not field and not other.pointer)
        if field.pointer and not isinstance(given[field], int) and not any(map(field.overlaps, others)):
            return _part_of_pointer(thread, parameter.name + field.name, field.start, start, end)
    low = known = 0
    for field in given_fields:
        mask, number = (1 << field.bits) - 1, given[field]
        if isinstance(number, int):
            low |= (number & mask) << field.start >> start
            known |= mask << field.start >> start
    every = (1 << end - start) - 1
    low, unknown = low & every, every & ~known
    missing = Missing(parameter.name + open_[0].name) if open_ else None
    rest = missing or Unknown(f"{called} at byte {offset}, some of which is of no field")
    return low if not unknown else rest if unknown == every else Partial(low, low | unknown, rest)


def _part_of_pointer(thread: FollowedThread, name: str, place: int, start: int, end: int) -> Value:
    """Return the address that a field of a structure is, or the half of it that is between two bits."""
    pointer = ArrayAddress(argument_array(memory_of(thread, name)))
    if (start, end) == (place, place + 64):
        return pointer
    if end - start == 32 and start - place in (0, 32):
        return Half(pointer, start > place)
    raise thread.out.wrong(f"a part of the address that {name_of(thread, name)} is, is not understood")


def _is_outside(thread: FollowedThread, state: State, address: ArrayAddress, size: int) -> bool:
    """Decide whether an access of the thread's own memory is outside of its variable, as far as that is known."""
    space, depth, name = address.array
    if thread.grows or space != "local":
        return False
    functions = (*(frame.function for frame in state.frames), state.function)
    declared = (variable for variable in functions[depth].variables if variable.name == name)
    variable = next(declared, thread.module.variables.get(name))
    whole = None if variable is None else variable.size
    return whole is not None and not 0 <= address.offset <= whole - size


def _cell(thread: FollowedThread, state: State, address: ArrayAddress, size: int) -> Value:
    """Return what so many bytes of a thread's own memory hold; ``Unknown`` where it has not written them so."""
    home = cell_of(address.array, address.offset, size)
    if home in state.known:
        return state.known[home]
    thread.exploration.look_through(state)
    start = address.offset
    for other in state.cells_of(address.array):
        held = state.known[other]
        inside = other.offset <= start and start + size <= other.offset + other.size
        if inside and isinstance(held, int | Partial):
            return cut(held, 8 * (start - other.offset), 8 * size)
    parts = [state.known.get(cell_of(address.array, start + n, 1)) for n in range(size)]
    if all(isinstance(part, int) for part in parts):
        return sum(part << 8 * n for n, part in enumerate(parts) if isinstance(part, int))
    return Unknown(f"{address.array.name} at byte {start}, which the thread has not written so")


def load(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``load`` of a type, in the instruction's own mode: a register of an address."""
    target, source = ins.operands
    kind = type_of(ins.words)
    value = loaded(thread, state, address_of(thread, state, source), WIDTHS[kind] // 8, kind, ins.mode)
    if value is None:
        return False
    set_result(thread, state, target, filled(thread, state, target, value, kind.replace("b", "u")))
    return True


def store(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``store`` of a type, in the instruction's own mode: to an address, of an operand."""
    target, source = ins.operands
    width = WIDTHS[type_of(ins.words)]
    address, value = address_of(thread, state, target), evaluate(thread, state, source, width)
    return stored(thread, state, address, width // 8, value, ins.mode)


def stored(thread: FollowedThread, state: State, address: Value, size: int, value: Value, mode: Mode) -> bool:
    """Write a value of so many bytes, and return whether the thread goes on: its address is in an array."""
    if isinstance(address, ArrayAddress) and owns(thread, address.array):
        if _is_outside(thread, state, address, size):
            return thread.out.stops("bounds")
        space, depth, name = address.array
        if space == "param" and depth == 0 and thread.kernel.number_of(name) is not None:
            raise thread.out.wrong("of a parameter of the kernel, which is not to be written, is not understood")
        _keep(thread, state, address, size, value)
        return True
    _check_writable(thread, address)
    part = part_size(thread, address, size)
    if part < size:
        if isinstance(value, Symbol) and value.width < 8 * size:  # with its sign, as registers have it
            value = Symbol(thread.out.temporary(f"cvt.u{8 * size}.u{value.width}", Reg(value.register), 0), 8 * size)
        pieces = unpacked(thread, value, 8 * size, size // part)
        places = [moved(address, n) for n in range(0, size, part)]
        return all(stored(thread, state, place, part, piece, mode) for place, piece in zip(places, pieces, strict=True))
    where = placed(thread, address, size)
    if where is None:
        return thread.out.stops("bounds")
    operand, access = where
    thread.out.put(Store(operand, stored_operand(thread, value, size), mode), access)
    return True


def update(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``update.add.u32`` and the like, in the instruction's own mode: the old value, of an address and operands."""
    target, source, *given = ins.operands
    operation, kind = ins.words
    return updated(thread, state, target, source, operation, kind, given, ins.mode, ins.failure)


def updated(
    thread: FollowedThread,
    state: State,
    target: ir.Operand | None,
    source: ir.Operand,
    operation: str,
    kind: str,
    given: Sequence[ir.Operand],
    mode: Mode,
    failure: Order | None = None,
) -> bool:
    """Keep an atomic operation of a type, and return whether the thread goes on: its address is in an array. On memory
    of the thread's own it is an operation as any other.
    """
    size = WIDTHS[kind] // 8
    address = address_of(thread, state, source)
    _check_writable(thread, address)
    if isinstance(address, ArrayAddress) and address.array.is_own:
        if _is_outside(thread, state, address, size):
            return thread.out.stops("bounds")
        old = _cell(thread, state, address, size)
        operands = [evaluate(thread, state, operand, 8 * size) for operand in given]
        _keep(thread, state, address, size, _updated(thread, operation, kind, old, operands))
        if target is not None:
            set_result(thread, state, target, old)
        return True
    where = placed(thread, address, size)
    if where is None:
        return thread.out.stops("bounds")
    values = tuple(stored_operand(thread, evaluate(thread, state, operand, 8 * size), size) for operand in given)
    operand, access = where
    register = None if target is None else thread.out.new_register()
    plain = operation in ("exch", "cas") or (size == 4 and (operation in (*ONE_BIT, "add", "sub") or kind == "s32"))
    name = operation if plain and kind[0] != "f" else f"{operation}.{kind}"
    thread.out.put(Rmw(name, register, operand, values, mode, failure=failure), access)
    if target is not None and register is not None:
        set_result(thread, state, target, Symbol(register, 8 * size))
    return True


def _check_writable(thread: FollowedThread, address: Value) -> None:
    """Raise ``NotUnderstoodError`` where an address is in constant memory, which no kernel writes (PTX ISA, 5.1)."""
    array = array_of(address)
    if array and (array.space == "const" or _is_made(thread, array)):
        raise thread.out.wrong("of constant memory, which is not to be written, is not understood")


def _updated(thread: FollowedThread, operation: str, kind: str, old: Value, operands: Sequence[Value]) -> Value:
    """Return what an atomic operation of the thread's own memory writes."""
    if operation == "exch":
        return operands[0]
    if operation == "cas":
        same = compared(thread, ("eq", kind.replace("b", "s")), old, operands[0])
        return computed(thread, f"selp.{kind}", [operands[1], old, same])
    return computed(thread, f"{operation}.{kind}", [old, operands[0]])


def fence(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Keep a ``fence`` in the residual program, in the instruction's own mode."""
    thread.out.put(Fence(ins.mode))
    return True


def _keep(thread: FollowedThread, state: State, address: ArrayAddress, size: int, value: Value) -> None:
    """Write to a thread's own memory; cells that overlap are known no more."""
    thread.exploration.look_through(state)
    for cell in state.cells_of(address.array):
        if cell.meets(address.offset, size):
            del state.known[cell]
    if isinstance(value, int):
        value &= (1 << 8 * size) - 1
    define(thread, state, cell_of(address.array, address.offset, size), value)


def forgotten(state: State, array: Array, why: str = "") -> None:
    """Forget what an array of the thread's own holds; ``why`` is what its values come from then."""
    for cell in state.cells_of(array):
        if why:
            state.known[cell] = Unknown(why)
        else:
            del state.known[cell]


def stored_operand(thread: FollowedThread, value: Value, size: int) -> Operand:
    """Return a value as an operand of an access of so many bytes."""
    match whole(value):
        case ArrayAddress(array, offset):
            if array.is_own:
                raise shown_error(thread, array)
            return array_place(array, offset)
        case Unknown(reason):
            thread.notes.assumed[f"some number is stored in place of {reason}"] = None
            return thread.out.some_number(reason, 8 * size)
        case Symbol(register, width) if width > 8 * size:
            return Reg(thread.out.temporary(f"cvt.s{8 * size}.u{width}", Reg(register), 0))
        case _:
            return residual_operand(number_or_held(thread, value), 8 * size)


MOST_SHARED = 227 << 10
"""The most bytes of shared memory that a block has on any GPU (CUDA C++ Programming Guide, Compute Capabilities)."""


def placed(thread: FollowedThread, address: Value, size: int) -> tuple[Operand, Access] | None:
    """Return the operand that is an address, and the access; None where it is in no array."""
    base = array_of(address)
    variable = thread.module.variables.get(base.name) if base and base.space != "argument" else None
    if variable is not None and variable.addresses and not thread.grows:
        raise thread.out.wrong(f"{variable.name} holds addresses, which are not understood in memory that may change")
    if base and base.is_own:
        raise thread.out.wrong("on the thread's own memory with a computed index, or atomically, is not understood")
    match address:
        case ArrayAddress(array, offset):
            length = _length(thread, array, size)
            if length is None and variable is not None and is_dynamic(variable):
                length = MOST_SHARED
                thread.notes.assumed["dynamic shared memory is as large as is accessed"] = None
            if offset < 0 or (length is not None and offset + size > length):
                return None
            return array_place(array, offset), Access(array, offset, size)
        case Affine(Array() as array, ((register, scale),), offset):
            index: Operand = Reg(register)
            if scale % size == 0:
                if scale != size:
                    index = Reg(thread.out.temporary("mul.lo.s64", index, scale // size))
            elif scale == 1:
                if offset % size:
                    index, offset = Reg(thread.out.temporary("add.s64", index, offset)), 0
                index = Reg(thread.out.temporary("div.s64", index, size))
            else:
                raise thread.out.wrong(f"accesses of {size} bytes that are {scale} apart are not understood")
            steps, inside = divmod(offset, size)
            if steps:
                index = Reg(thread.out.temporary("add.s64", index, steps))
            start = array_place(array, inside)
            length = _length(thread, array, size)
            limit = None if inside or length is None else length // size
            if limit is None:
                called = _source_name(thread, array)
                thread.notes.assumed[f"computed indices of {called} are those of its elements"] = None
            else:
                index = Reg(thread.out.temporary("min.u64", index, limit))
            return Reg(thread.out.temporary("add", start, index)), Access(array, None, size, limit)
        case Symbol(register):
            thread.notes.assumed["addresses that are read from memory are those of arrays"] = None
            return Reg(register), Access(ANYWHERE, None, size)
        case int():
            return None
        case _:
            raise thread.out.wrong(describe(thread, address))


def _source_name(thread: FollowedThread, array: Array) -> str:
    """Return the name that the source has for an array."""
    name = array.name
    number = thread.kernel.number_of(name) if array.space == "argument" else None
    return plain_name(name) if number is None else thread.launch.source_name(name, number)


def _length(thread: FollowedThread, array: Array, size: int) -> int | None:
    """Return the bytes of an array, where they are known, for accesses of so many bytes."""
    if thread.grows:
        return length_of(thread, array)
    name = array.name
    number = thread.kernel.number_of(name)
    given = None if number is None else thread.launch.array(name, number)
    if given is not None:
        return given.length(size)
    variable = thread.module.variable(thread.kernel, name)
    argument = array.space == "argument"
    return None if variable is None or argument is not (variable.space == "argument") else variable.size


def owns(thread: FollowedThread, array: Array) -> bool:
    """Decide whether no other thread can access an array: the thread alone has it, or no other is there."""
    return thread.creation.alone or is_hidden(thread, array)


def is_hidden(thread: FollowedThread, array: Array) -> bool:
    """Decide whether no other thread has the address of an array."""
    return array.is_own or array in thread.creation.private


def accesses_of(thread: FollowedThread, array: Array) -> Sequence[tuple[int, int]]:
    """Return the places and sizes of accesses of an array by anything else in the launch."""
    thread.notes.asks_for_accesses = True
    return thread.asks_about(array).accessed.get(array, ())


def part_size(thread: FollowedThread, address: Value, size: int) -> int:
    """Return the bytes of the parts that an access of so many bytes is made of; as many where it is whole."""
    array = array_of(address)
    parts = () if array is None else thread.asks_about(array).parts.get(array, ())
    if isinstance(address, ArrayAddress):
        return next((part for start, end, part in parts if start <= address.offset < end), size)
    return next((part for _, _, part in parts), size)


def is_inside(thread: FollowedThread, address: ArrayAddress, size: int) -> bool:
    """Decide whether so many bytes at an address are in their array, as far as its length is known."""
    length = length_of(thread, address.array)
    return address.offset >= 0 and (length is None or address.offset + size <= length)


def length_of(thread: FollowedThread, array: Array) -> int | None:
    """Return the bytes of an array that the thread has made, or that is a variable; None where nothing tells."""
    sizes = thread.creation.sizes
    if array not in sizes:
        functions = thread.module.functions.values()
        declared = (*thread.module.variables.values(), *(v for function in functions for v in function.variables))
        shown = thread.creation.shown
        own = {shown.get(array, array), array}
        name = next((hidden for hidden, seen in shown.items() if seen in own), array).name
        size = next((variable.size for variable in declared if variable.name == name), None)
        if size is None:
            return None
        sizes[array] = size
    return sizes[array]
