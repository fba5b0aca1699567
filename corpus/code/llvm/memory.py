"""What accesses to memory do when a thread is followed: loads, stores, atomic operations, addresses, objects.

Memory is bytes. What no other thread can access is known (``corpus.code.llvm.cells``): memory of the thread's own, and
all memory as long as the thread is alone. Other accesses stay, at an address in bytes: ``x + 8`` is the location
``x[8]``. An address that is read from memory may be null, which is a finding where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import gcd

from corpus.code import ir
from corpus.code.arithmetic import computed, packed, unpacked
from corpus.code.evaluation import describe, evaluate, residual_name, set_result
from corpus.code.launch.created import BESIDE, MADE, NOTIFIED, OBJECTS
from corpus.code.launch.sharing import GIVEN_AWAY, ShownError, moment_of, shown_error
from corpus.code.llvm.arguments import LAID_OUT
from corpus.code.llvm.cells import NO_RESULT, POISONED, forget, held, is_unwritten, keep
from corpus.code.llvm.lifetimes import UNTOLD_LIFETIME
from corpus.code.memory import is_hidden, is_inside, length_of, owns, part_size
from corpus.code.numbered import is_numbered, number_of, part_by_number, tables_at
from corpus.code.places import ANYWHERE, CODE, NOBODY, Array, Cell, array_place, cell_of, counter
from corpus.code.residual import END, Access
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Affine, ArrayAddress, Partial, Symbol, Unknown, Value, array_of, cut, whole
from corpus.code.variants import follow_later
from corpus.laws.c11 import explicit_failure
from corpus.litmus.instructions import Branch, Comparison, Label, Load, Rmw, Store
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.orders import PLAIN, Mode, Order
from corpus.litmus.ptx_arithmetic import signed

POINTER = 8
"""The bytes of an address."""

_SYSTEM = "thread."

MOST_BYTES = 1 << 22
"""The bytes that an object may have."""

MOST_OBJECTS = 64
"""The objects that one call may give to one thread."""

MOST_MOVED = 4_096
"""The pieces that a copy of memory may be of."""

DEAD = "dead"
"""Where it is kept that the lifetime of memory has ended."""

_HANDLES = -2
"""The owner of the cells that have the numbers of threads."""


# addresses


ALIGNED = "align"
"""How the word of an access begins that says what its address has to be a multiple of."""


def address_of(
    thread: FollowedThread, state: State, ins: ir.KernelInstruction, operand: ir.Operand, size: int
) -> Value | None:
    """Return the address of an access of so many bytes; None where the thread ends there, as nothing is there, or as
    the address is no multiple of what it has to be.
    """
    assert isinstance(operand, ir.MemoryOperand)
    address = checked_address(thread, state, evaluate(thread, state, operand.base), size)
    align = next((int(word[len(ALIGNED) :]) for word in ins.words if word.startswith(ALIGNED)), 1)
    match address:
        case ArrayAddress(_, offset) if offset % align:
            thread.out.stops("misaligned")
            return None
        case Affine(Array(), terms, offset) if any(number % align for number in (offset, *(by for _, by in terms))):
            going, place = thread.out.new_label(), Reg(thread.out.temporary("add.s64", _sum(thread, terms), offset))
            odd = thread.out.temporary("and.b64", place, align - 1)
            thread.out.put(Branch(going, Comparison("eq", Reg(odd), 0), checks=True))
            thread.out.stops("misaligned")
            thread.out.put(Label(going))
        case Affine(Array(), terms, offset) if size in (2, 4, 8):
            if any(number % size for number in (offset, *(by for _, by in terms))):
                thread.notes.assumed[_BYTE_BY_BYTE] = None
    return address


_BYTE_BY_BYTE = "an access at an address that is not aligned is one at each of its bytes"


def checked_address(thread: FollowedThread, state: State, address: Value, size: int) -> Value | None:
    """Return an address at which so many bytes may be accessed; None where the thread ends there."""
    match address:
        case int():
            thread.out.stops("null")
            return None
        case Symbol():
            return check_null(thread, state, address)
        case Affine(None):
            return address  # it was checked before it was moved
        case Unknown(reason) | Partial(_, _, Unknown(reason)):
            if is_unwritten(address):
                thread.out.stops("uninitialised")
                return None
            raise thread.out.wrong(f"its address is {reason}")
        case ArrayAddress(array, offset):
            if array.space == CODE:
                raise thread.out.wrong("an access to a function is not understood")
            if Cell(NOBODY, array.name, GIVEN_AWAY, 0) in state.known:
                raise ShownError(array)
            if state.known.get(Cell(array.owner, array.name, -1, 0)) == Unknown(UNTOLD_LIFETIME):
                raise thread.out.wrong(UNTOLD_LIFETIME)
            if is_dead(thread, state, array):
                thread.out.stops(DEAD)
                return None
            if not is_inside(thread, address, size):
                thread.out.stops("bounds")
                return None
            align = min(
                thread.module.variables[array.name].align if array.name in thread.module.variables else 16, size
            )
            if size in (2, 4, 8) and offset % align:
                thread.notes.assumed[_BYTE_BY_BYTE] = None
    return address


def check_null(thread: FollowedThread, state: State, address: Symbol) -> Symbol:
    """Return an address that was read from memory, behind a branch to a finding where it is null."""
    found = replace(address, checked=True)
    if not address.checked:
        going = thread.out.new_label()
        thread.out.put(Branch(going, Comparison("ne", Reg(address.register), 0), checks=True))
        thread.out.stops("null")
        thread.out.put(Label(going))
        state.known |= {home: found for home, value in state.known.items() if value == address}
    return found


def is_dead(thread: FollowedThread, state: State, array: Array) -> bool:
    """Decide whether the lifetime of memory of the thread's own is over: of its variable, or of the whole call."""
    if not array.is_own or array.name in thread.module.variables:
        ended = Cell(array.owner, array.name, -1, 0)
        return ended in state.known or ended in thread.creation.image
    return array.owner > state.depth or Cell(array.owner, array.name, -1, 0) in state.known


def in_register(thread: FollowedThread, value: Value) -> Value:
    """Return a value as one that memory can hold: an address or number by parts is computed."""
    match value:
        case ArrayAddress(array) if is_numbered(array):
            return number_of(thread.module, value)
        case Affine(base, terms, offset, span=span):
            if base is not None and is_hidden(thread, base):
                raise shown_error(thread, base)
            found: Operand = _sum(thread, terms)
            if base is not None:
                step = gcd(*(factor for _, factor in terms))
                thread.creation.whole.setdefault(base, set()).add(
                    (offset % step, step, 0) if span is None else (offset, step, offset + span + 1)
                )
                return Symbol(thread.out.temporary("add", array_place(base, offset), found), 64)
            assert isinstance(found, Reg)
            if len(terms) == 1 and terms[0][1] == 1:
                thread.creation.moves.add(offset)
            return Symbol(thread.out.temporary("add.s64", found, offset) if offset else found.name, 64)
    return value


def _sum(thread: FollowedThread, terms: tuple[tuple[str, int], ...]) -> Reg:
    """Return the register with a sum of registers, each times its factor."""
    found: Reg | None = None
    for register, factor in terms:
        part = Reg(register if factor == 1 else thread.out.temporary("mul.lo.s64", Reg(register), factor))
        found = part if found is None else Reg(thread.out.temporary("add.s64", found, part))
    assert found is not None
    return found


def operand_of(thread: FollowedThread, value: Value, size: int) -> Operand:
    """Return a value of so many bytes as an operand of the residual program."""
    match whole(in_register(thread, value)):
        case int(number):
            return signed(number, 8 * size)
        case Symbol(register):
            return Reg(register)
        case ArrayAddress(array, offset):
            if is_hidden(thread, array):
                raise shown_error(thread, array)
            return array_place(array, offset)
        case Unknown(reason):
            thread.notes.assumed[f"some number is stored in place of {reason}"] = None
            return thread.out.some_number(reason, 8 * size)
        case other:
            raise thread.out.wrong(describe(thread, other))


def stop_where(thread: FollowedThread, flag: str, why: str) -> None:
    """Write a branch to a finding where a register is not 0. The thread ends there if it comes outside of an array.

    Else it goes on with some result, so that what others wait for comes.
    """
    going = thread.out.new_label()
    thread.out.put(Branch(going, Comparison("eq", Reg(flag), 0), checks=True))
    thread.out.marks(why)
    if why == "bounds":
        thread.out.put(Branch(END))
    thread.out.put(Label(going))


def distance(thread: FollowedThread, one: Value, other: Value) -> Value | None:
    """Return how many bytes one address is behind another one of the same object; None where they are not known to be
    of one.
    """
    match one, other:
        case (ArrayAddress() | Affine(), ArrayAddress() | Affine()) if array_of(one) == array_of(other):
            factors: dict[str, int] = {}
            for address, sign in ((one, 1), (other, -1)):
                for register, factor in address.terms if isinstance(address, Affine) else ():
                    factors[register] = factors.get(register, 0) + sign * factor
            terms = tuple(sorted((name, factor) for name, factor in factors.items() if factor))
            apart = one.offset - other.offset
            if array_of(one) is None and terms:
                return None
            return in_register(thread, Affine(None, terms, apart)) if terms else apart
    return None


def placed(thread: FollowedThread, address: Value, size: int) -> tuple[Operand, Access]:
    """Return the operand that is an address of memory which others may see, and the access."""
    match address:
        case ArrayAddress(array, offset):
            return array_place(array, offset), Access(array, offset, size)
        case Affine(Array() as array, terms, offset, span=span):
            if is_hidden(thread, array):
                raise shown_error(thread, array)
            index: Operand = _sum(thread, terms)
            step = gcd(*(factor for _, factor in terms))
            if span is not None:
                where = thread.out.temporary("add", array_place(array, offset), index)
                return Reg(where), Access(array, None, size, None, offset, step, offset + span + 1)
            length = length_of(thread, array)
            if offset:
                index = Reg(thread.out.temporary("add.s64", index, offset))
            if length is None:
                raise thread.out.wrong(f"a computed place in {array.name}, whose size nothing tells, is not understood")
            start = offset % step
            last = start + ((length - size - start) // step + 1) * step
            index = Reg(thread.out.temporary("min.u64", index, last))
            where = thread.out.temporary("add", array_place(array, 0), index)
            return Reg(where), Access(array, None, size, last, start, step, last)
        case Symbol(register):
            return Reg(register), Access(ANYWHERE, 0, size)
        case Affine(None, ((register, 1),), offset):
            return Reg(thread.out.temporary("add", Reg(register), offset)), Access(ANYWHERE, offset, size)
        case Affine(None, terms, offset):
            moved = thread.out.temporary("add", _sum(thread, terms), offset)
            return Reg(moved), Access(ANYWHERE, None, size)
    raise thread.out.wrong(describe(thread, address))


# loads and stores


def load(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``load``: a scalar of so many bits at an address, in the mode of the instruction."""
    target, source, width = ins.operands
    assert isinstance(width, ir.Number)
    size = -(-width.value // 8)
    address = address_of(thread, state, ins, source, size)
    if address is None or not is_argument(thread, state, address, size, ins.words[0]):
        return False
    if isinstance(address, Affine) and address.base is not None and address.base.space == "const":
        assert isinstance(source, ir.MemoryOperand)
        return _part_by_place(thread, state, source, address.base, address, size)
    value = loaded(thread, state, address, size, ins.mode)
    of_field = isinstance(target, ir.Register) and target.name.startswith(_OF_FIELD)
    if value == Unknown(UNTOLD_LIFETIME):
        raise thread.out.wrong(UNTOLD_LIFETIME)
    if is_unwritten(value) and width.value > 8 and not of_field:
        return thread.out.stops("uninitialised")
    if width.value % 8:
        value = as_bits(thread, value, width.value)
    set_result(thread, state, target, _of_width(value, width.value))
    if isinstance(value, Symbol) and isinstance(target, ir.Register) and target.name.startswith(TABLE_OF):
        every = tables_at(thread, address)
        return part_by_number(
            thread,
            state,
            state.place,
            target.name,
            replace(value, register=residual_name(state.home(target.name))),
            every,
        )
    return True


def _part_by_place(
    thread: FollowedThread, state: State, source: ir.MemoryOperand, array: Array, address: Affine, size: int
) -> bool:
    """Load of a constant array once more, on a way for each place that memory may lead to; others are outside of it."""
    step, length = gcd(*(factor for _, factor in address.terms)), length_of(thread, array) or 0
    places = range(address.offset % step, length - size + 1, step)
    if len(places) > MOST_PLACES or not isinstance(source.base, ir.Register):
        raise thread.out.wrong(f"one of more than {MOST_PLACES} places that memory decides is not understood")
    index = _sum(thread, address.terms)
    for place in places:
        way = state.moved_to(state.place - 1)
        way.known[state.home(source.base.name)] = ArrayAddress(array, place)
        decided = Comparison("eq", index, place - address.offset)
        thread.out.put(Branch(follow_later(thread, way), decided, checks=True))
    return thread.out.stops("bounds")


MOST_PLACES = 64
"""The places of a constant array among which memory may decide."""


def is_argument(thread: FollowedThread, state: State, address: Value, size: int, form: str) -> bool:
    """Decide whether so many bytes at an address are an argument behind dots as it was given, or none of such; else the
    thread ends there (C11 7.16.1.1p2). ``form``: the type of a scalar by its word, nothing where several are copied.
    """
    array = array_of(address)
    if array is None or LAID_OUT not in array.name:
        return True
    if not owns(thread, array) or not isinstance(address, ArrayAddress):
        raise thread.out.wrong("a list of arguments that another thread has, or that memory decides, is not understood")
    begin, end = address.offset, address.offset + size
    given = [cell for cell in state.cells_of(Array(array.space, array.owner, f"{FORM}{array.name}"))
             if cell.meets(begin, size)]  # fmt: skip
    inside = all(begin <= cell.offset and cell.offset + cell.size <= end for cell in given)
    starts = begin in [cell.offset for cell in given]
    if form:
        alike = inside and starts and len(given) == 1 and state.known[given[0]] == int(form[0] == "f")
        return (alike and given[0].size == size) or thread.out.stops("argument")
    words = {cell.offset // POINTER for cell in given if cell.size <= POINTER}
    whole = len(given) == 1 or words == {*range(begin // POINTER, -(-end // POINTER))}
    return (inside and starts and whole) or thread.out.stops("argument")


FORM = "form of "
"""How the names of what is known of arguments behind dots begin: whether each is a floating-point number."""

_OF_FIELD = "%bf."
"""How the names of registers begin that have a bit field with its neighbours."""

TABLE_OF = "%vtable"
"""How the names of registers begin that have the table of virtual functions of an object."""


def as_bits(thread: FollowedThread, value: Value, width: int) -> Value:
    """Return the lowest bits of a value."""
    match value:
        case int(number):
            return number & (1 << width) - 1
        case Symbol(register, held) if width == 1 and held != 1:
            return Symbol(thread.out.temporary("and", Reg(register), 1), 1)
    return value


def _of_width(value: Value, width: int) -> Value:
    return replace(value, width=width) if isinstance(value, Symbol) and value.width != width else value


def loaded(thread: FollowedThread, state: State, address: Value, size: int, mode: Mode) -> Value:
    """Return what so many bytes at an address hold; a load stays where others may write there."""
    array = array_of(address)
    if isinstance(address, ArrayAddress) and (handle := state.known.get(_handle(address, size))) is not None:
        return handle
    if array is not None and (owns(thread, array) or array.space == "const"):
        return _from_known(thread, state, address, size)
    if mode.order in (PLAIN.order, Order.RELAXED) and isinstance(address, ArrayAddress):
        steady = _steady(thread, state, address, size)
        if steady is not None:
            return steady
    part = part_size(thread, address, size)
    if part < size:
        parts = [loaded(thread, state, further(address, n), part, mode) for n in range(0, size, part)]
        return packed(thread, parts, 8 * size)
    operand, access = placed(thread, address, size)
    register = thread.out.new_register()
    thread.out.put(Load(register, operand, mode), access)
    return Symbol(register, 8 * size)


def _is_contested(thread: FollowedThread, address: ArrayAddress, size: int) -> bool:
    """Decide whether others may write where one thread accesses memory, or read what it writes there."""
    contested, (space, _, name) = thread.facts.contested, address.array
    if contested is None or space != OBJECTS or name.startswith((_SYSTEM, NOTIFIED)):
        return True
    return any((address.array, address.offset + n) in contested for n in range(size))


def _steady(thread: FollowedThread, state: State, address: ArrayAddress, size: int) -> Value | None:
    """Return what memory holds that others could write and nobody does; None where that is not known."""
    if _is_contested(thread, address, size):
        return None
    array, offset = address.array, address.offset
    home = cell_of(array, offset, size)
    found = state.known.get(home)
    if found is None:
        image = thread.creation.image
        if any(cell.meets(offset, size) for cell in state.cells_of(array)):
            return None
        found = image.get(home)
        if found is None and array.name.startswith(BESIDE):
            found = 0
        elif found is None:
            if array.name not in thread.module.variables or _has_part(image, array, offset, size):
                return None
            found = held(thread, state, array, offset, size)
    if not isinstance(found, int | ArrayAddress):
        return None
    thread.creation.reads.add(Access(array, offset, size))
    if array.name in thread.module.variables:
        thread.creation.kept.add((array, offset, size))
    return found


def _has_part(image: Iterable[Cell], array: Array, offset: int, size: int) -> bool:
    return any(cell.name == array.name and cell.meets(offset, size) for cell in image)


def note_write(thread: FollowedThread, state: State, access: Access) -> None:
    """Note when memory is written that others could access."""
    thread.creation.writes.setdefault(access, set()).add(moment_of(thread, state))


def _keep_steady(thread: FollowedThread, state: State, address: Value, size: int, value: Value) -> None:
    """Keep what is written to memory that others could write, which is known as long as nobody does."""
    if isinstance(address, ArrayAddress):
        note_write(thread, state, Access(address.array, address.offset, size))
    if not isinstance(address, ArrayAddress) or _is_contested(thread, address, size):
        return
    array, offset = address.array, address.offset
    for cell in state.cells_of(array):
        if cell.size and cell.meets(offset, size):
            del state.known[cell]
    known = value if isinstance(value, int | ArrayAddress) else Unknown("what others could see")
    state.known[cell_of(array, offset, size)] = known


def _from_known(thread: FollowedThread, state: State, address: Value, size: int) -> Value:
    """Return what known memory holds; at a place that memory decides it has to be seen by others first."""
    if isinstance(address, ArrayAddress):
        return held(thread, state, address.array, address.offset, size)
    array = array_of(address)
    assert array is not None
    if is_hidden(thread, array):
        raise shown_error(thread, array)
    raise thread.out.wrong("at a place that memory decides, before there are other threads, is not understood")


def _handle(address: ArrayAddress, size: int) -> Cell:
    """Return the cell that has the number of the thread that an object is the name of, as its creator knows it."""
    return Cell(_HANDLES, str(address.array), address.offset, size)


def keep_handle(state: State, address: Value, size: int, number: int) -> None:
    """Keep the number of a thread whose name is stored at an address."""
    if isinstance(address, ArrayAddress):
        state.known[_handle(address, size)] = number


def further(address: Value, offset: int) -> Value:
    """Return an address so many bytes further on."""
    match address:
        case ArrayAddress() | Affine():
            return replace(address, offset=address.offset + offset)
        case Symbol(register) if offset:
            return Affine(None, ((register, 1),), offset)
    return address


def store(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``store``: of a scalar of so many bits to an address, in the mode of the instruction."""
    target, source, width = ins.operands
    assert isinstance(width, ir.Number)
    size = -(-width.value // 8)
    address = address_of(thread, state, ins, target, size)
    if address is None:
        return False
    value = evaluate(thread, state, source, width.value)
    if value == POISONED:
        return thread.out.stops("undefined")
    if value == NO_RESULT:
        return thread.out.stops("uninitialised")
    if size in (3, 5, 6, 7) and ins.mode == PLAIN:
        pieces = [
            (further(address, place), length, _piece(thread, value, place, length))
            for place, length in _words(0, size, 0)
        ]
        return all(stored(thread, state, place, length, piece, PLAIN) for place, length, piece in pieces)
    return stored(thread, state, address, size, value, ins.mode)


def _piece(thread: FollowedThread, value: Value, place: int, size: int) -> Value:
    """Return so many bytes of a number, from one on."""
    match value:
        case int() | Partial():
            return cut(value, 8 * place, 8 * size)
        case Symbol(register):
            shifted = thread.out.temporary("shr.u64", Reg(register), 8 * place) if place else register
            return Symbol(thread.out.temporary(f"cvt.s{8 * size}.u64", Reg(shifted), 0), 8 * size)
        case Unknown():
            return value
    raise thread.out.wrong(describe(thread, value))


def stored(thread: FollowedThread, state: State, address: Value, size: int, value: Value, mode: Mode) -> bool:
    """Write so many bytes at an address; return whether the thread goes on."""
    array = array_of(address)
    if array is not None and array.space == "const":
        return thread.out.stops("constant")
    if isinstance(address, ArrayAddress):
        state.known.pop(_handle(address, size), None)
    if array is not None and owns(thread, array):
        if not isinstance(address, ArrayAddress):
            _from_known(thread, state, address, size)
            return False
        if isinstance(value, Affine):
            value = in_register(thread, value) if value.base is not None else value
        keep(thread, state, address.array, address.offset, size, value)
        return True
    part = part_size(thread, address, size)
    if part < size:
        pieces = unpacked(thread, value, 8 * size, size // part)
        places = [further(address, n) for n in range(0, size, part)]
        return all(stored(thread, state, place, part, piece, mode) for place, piece in zip(places, pieces, strict=True))
    given = operand_of(thread, value, size)
    operand, access = placed(thread, address, size)
    thread.out.put(Store(operand, given, mode), access)
    _keep_steady(thread, state, address, size, value)
    return True


# atomic operations


def exchange(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``cmpxchg``: the old value and whether the new one is written, of an address, the expected value and the new."""
    target, source, *given, width = ins.operands
    assert isinstance(width, ir.Number)
    size = width.value // 8
    address = address_of(thread, state, ins, source, size)
    if address is None:
        return False
    expected, new = (evaluate(thread, state, operand, width.value) for operand in given)
    if any(map(is_unwritten, (expected, new))):
        return thread.out.stops("uninitialised")
    array = array_of(address)
    if array is not None and owns(thread, array):
        old = loaded(thread, state, address, size, PLAIN)
        done = same(thread, old, expected)
        if not isinstance(done, int):
            raise thread.out.wrong("an exchange of the thread's own memory with what memory decides is not understood")
        if done and "weak" in ins.words:
            thread.notes.assumed["a weak exchange of what no other thread has does not fail for no reason"] = None
        set_result(thread, state, target, old, done)
        return not done or stored(thread, state, address, size, new, PLAIN)
    if part_size(thread, address, size) < size:
        raise thread.out.wrong("an atomic access to what is accessed in parts as well is not understood")
    operands = tuple(operand_of(thread, value, size) for value in (expected, new))
    operand, access = placed(thread, address, size)
    register = thread.out.new_register()
    success = thread.out.new_register() if "weak" in ins.words else None
    failure = explicit_failure(ins.mode.order, ins.failure) if ins.failure is not None else None
    thread.out.put(Rmw("cas", register, operand, operands, ins.mode, failure=failure, success=success), access)
    _keep_steady(thread, state, address, size, Unknown("an exchange"))
    done_ = Symbol(success or thread.out.temporary("eq", Reg(register), operands[0]), 1)
    set_result(thread, state, target, Symbol(register, width.value), done_)
    return True


_UPDATES = {"xchg": "exch", "umax": "max", "umin": "min", "fadd": "add", "fmax": "max", "fmin": "min"}
_UNSIGNED = ("umax", "umin")
_KNOWN_UPDATES = ("xchg", "add", "sub", "and", "or", "xor", "max", "min", "umax", "umin", "fadd", "nand")


def update(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``atomicrmw`` of an operation and a type: the old value, of an address and an operand."""
    target, source, given, width = ins.operands
    operation, kind, *_ = ins.words
    assert isinstance(width, ir.Number)
    size = width.value // 8
    if operation not in _KNOWN_UPDATES:
        raise thread.out.wrong(f"the atomic operation {operation} is not understood")
    address = address_of(thread, state, ins, source, size)
    if address is None:
        return False
    value = evaluate(thread, state, given, width.value)
    if is_unwritten(value):
        return thread.out.stops("uninitialised")
    name = _UPDATES.get(operation, operation)
    sign = "f" if kind[0] == "f" else "u" if operation in _UNSIGNED else "s"
    array = array_of(address)
    if array is not None and owns(thread, array):
        old = loaded(thread, state, address, size, PLAIN)
        if is_unwritten(old):
            return thread.out.stops("uninitialised")
        bitwise = "b" if name in ("and", "or", "xor", "nand") else sign
        kept = "and" if name == "nand" else name
        new = value if name == "exch" else computed(thread, f"{kept}.{bitwise}{width.value}", [old, value])
        if name == "nand":
            new = computed(thread, f"not.b{width.value}", [new])
        set_result(thread, state, target, old)
        return stored(thread, state, address, size, new, PLAIN)
    if name == "nand":
        raise thread.out.wrong("nand of what other threads access is not understood")
    if part_size(thread, address, size) < size:
        raise thread.out.wrong("an atomic access to what is accessed in parts as well is not understood")
    if size == POINTER and operation in ("add", "sub") and isinstance(value, int):  # the address may be moved
        thread.creation.moves.add(signed(value, 64) if operation == "add" else -signed(value, 64))
    given_ = operand_of(thread, value, size)
    operand, access = placed(thread, address, size)
    plain = name == "exch" or (sign == "s" and width.value == 32)
    form = "b" if name in ("and", "or", "xor") else sign
    register = thread.out.new_register()
    full = name if plain else f"{name}.{form}{width.value}"
    thread.out.put(Rmw(full, register, operand, (given_,), ins.mode), access)
    _keep_steady(thread, state, address, size, Unknown("an exchange"))
    set_result(thread, state, target, Symbol(register, width.value))
    return True


def same(thread: FollowedThread, one: Value, other: Value) -> Value:
    """Return whether two values, of which one may be an address, are equal."""
    match one, other:
        case (int(), int()) | (ArrayAddress(), ArrayAddress()):
            return int(one == other)
        case (ArrayAddress() | Affine(Array()), 0) | (0, ArrayAddress() | Affine(Array())):
            return 0
        case (ArrayAddress(), int()) | (int(), ArrayAddress()):
            raise thread.out.wrong("to compare an address with a number that is not 0 is not understood")
    for value in (one, other):
        if isinstance(value, Unknown | Partial):
            return whole(value)
        if isinstance(value, ArrayAddress) and is_hidden(thread, value.array):
            return 0  # nobody else has the address
    operands = [operand_of(thread, value, POINTER) for value in (one, other)]
    return Symbol(thread.out.temporary("eq", *operands), 1)


# objects


def place_variable(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``alloca``: the address of a variable of the stack, of its name, a number of elements, their bytes, and how they
    are aligned.
    """
    target, name, number, size, _ = ins.operands
    assert isinstance(name, ir.SymbolRef) and isinstance(size, ir.Number)
    count = evaluate(thread, state, number)
    if not isinstance(count, int):
        raise thread.out.wrong("a variable whose size memory decides is not understood")
    own = Array("local", state.depth, name.name)
    array = thread.creation.shown.get(own, own)
    thread.creation.sizes[array] = _limited(thread, count * size.value)
    if owns(thread, array):
        forget(state, array)
    elif array in thread.creation.returned:
        thread.out.put(Store(array_place(array, 0), 0), Access(array, 0, 0, created=True))
    _forget_beside(thread, state, array)
    set_result(thread, state, target, ArrayAddress(array))
    return True


def _limited(thread: FollowedThread, size: int) -> int:
    if size > MOST_BYTES:
        raise thread.out.wrong(f"an object of more than {MOST_BYTES:,} bytes is not understood")
    return size


def _variable(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Value:
    """Return the address of the variable whose lifetime begins or ends."""
    (operand,) = ins.operands
    assert isinstance(operand, ir.MemoryOperand)
    return evaluate(thread, state, operand.base)


def begin_lifetime(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``lifetime.start``: a variable holds nothing."""
    address = _variable(thread, state, ins)
    if isinstance(address, ArrayAddress) and owns(thread, address.array):
        forget(state, address.array)
    if isinstance(address, ArrayAddress):
        _forget_beside(thread, state, address.array)
    return True


def beside(thread: FollowedThread, array: Array, prefix: str) -> Array:
    """Return the array that has numbers of the library's beside what another one has."""
    if array.is_own:
        own = array._replace(name=f"{prefix}{array.name}")
        return thread.creation.shown.get(own, own)
    return Array(OBJECTS, NOBODY, f"{prefix}{array.name}")


def _forget_beside(thread: FollowedThread, state: State, array: Array) -> None:
    """Have the library know nothing of what an array had before its lifetime began anew."""
    found = beside(thread, array, BESIDE)
    if owns(thread, found):
        forget(state, found)
    elif found in thread.creation.zeroed:
        for offset in sorted(thread.creation.besides.get(found, ())):
            stored(thread, state, ArrayAddress(found, offset), 4, 0, PLAIN)


def end_lifetime(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``lifetime.end``: a variable is no more."""
    address = _variable(thread, state, ins)
    if isinstance(address, ArrayAddress) and is_hidden(thread, address.array):
        forget(state, address.array)
        state.known[Cell(address.array.owner, address.array.name, -1, 0)] = 1
    return True


def doubt_lifetime(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``lifetime.doubt``: a variable holds nothing, or what it held."""
    address = _variable(thread, state, ins)
    if isinstance(address, ArrayAddress):
        if not owns(thread, address.array):
            raise thread.out.wrong(f"{UNTOLD_LIFETIME}, which others may see, is not understood")
        if state.cells_of(address.array):
            forget(state, address.array)
            keep(thread, state, address.array, 0, thread.creation.sizes[address.array], Unknown(UNTOLD_LIFETIME))
    return True


def doubt_end(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``lifetime.left``: a variable is no more, or holds what it held."""
    address = _variable(thread, state, ins)
    if isinstance(address, ArrayAddress):
        if not owns(thread, address.array):
            raise thread.out.wrong(f"{UNTOLD_LIFETIME}, which others may see, is not understood")
        forget(state, address.array)
        state.known[Cell(address.array.owner, address.array.name, -1, 0)] = Unknown(UNTOLD_LIFETIME)
    return True


def new_object(thread: FollowedThread, state: State, ins: ir.KernelInstruction, size: int, zero: bool) -> ArrayAddress:
    """Return the address of a new object of so many bytes."""
    where = f"{ins.line} {ins.source and ins.source.column}"
    cell = counter(f"objects {where}")
    made = state.known.get(cell, 0)
    assert isinstance(made, int)
    if made >= MOST_OBJECTS:
        raise thread.out.wrong(f"more than {MOST_OBJECTS} objects of one call in one thread are not understood")
    state.known[cell] = made + 1
    line = ins.source.line if ins.source else ins.line
    array = Array(OBJECTS, NOBODY, f"{MADE}{line}.{thread.block}" + (f".{made + 1}" if made else ""))
    while thread.creation.origins.get(array, where) != where:
        array = array._replace(name=f"{array.name}.{ins.line}")
    thread.creation.origins[array] = where
    thread.creation.sizes[array] = _limited(thread, size)
    if array not in thread.creation.shown:
        thread.creation.private.add(array)
    if zero:
        thread.creation.zeroed.add(array)
    if not thread.creation.alone and not owns(thread, array):
        thread.out.put(Store(array_place(array, 0), 0), Access(array, 0, 0, created=True))
    return ArrayAddress(array)


def pieces_of(thread: FollowedThread, state: State, address: Value, count: int) -> Iterator[tuple[int, int]]:
    """Yield the parts in which so many bytes at an address are copied: those that are written, or words."""
    known: list[Cell] = []
    if isinstance(address, ArrayAddress) and (owns(thread, address.array) or address.array.space == "const"):
        start = address.offset
        every = state.cells_of(address.array)
        known = sorted((c for c in every if start <= c.offset and c.offset + c.size <= start + count),
                       key=lambda cell: cell.offset)  # fmt: skip
    begin = address.offset if isinstance(address, ArrayAddress | Affine) else 0
    place = 0
    for cell in known:
        yield from _words(place, cell.offset - begin, begin)
        yield cell.offset - begin, cell.size
        place = cell.offset - begin + cell.size
    yield from _words(place, count, begin)


def _words(place: int, end: int, begin: int) -> Iterator[tuple[int, int]]:
    """Yield the parts from a place to an end: the largest that are aligned."""
    while place < end:
        size = next(size for size in (8, 4, 2, 1) if place + size <= end and (begin + place) % size == 0)
        yield place, size
        place += size


def copy(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``memcpy`` and ``memmove``: as many loads, then as many stores, as there are parts."""
    target, to, source, number = ins.operands
    count = evaluate(thread, state, number)
    if not isinstance(count, int):
        raise thread.out.wrong("a copy of as many bytes as memory decides is not understood")
    one, other = (evaluate(thread, state, operand) for operand in (to, source))
    set_result(thread, state, target, one)
    if count == 0:
        return True
    to_, from_ = (checked_address(thread, state, address, count) for address in (one, other))
    if to_ is None or from_ is None:
        return False
    if not is_argument(thread, state, from_, count, ""):
        return False
    if ins.name == "memcpy" and not _checked_apart(thread, to_, from_, count):
        return False
    return moved_bytes(thread, state, to_, from_, count)


def _checked_apart(thread: FollowedThread, to_: Value, from_: Value, count: int) -> bool:
    """Ask whether so many bytes at two addresses overlap, but are not the same; return whether the thread goes on."""
    match distance(thread, to_, from_):
        case int(apart):
            return thread.out.stops("overlap") if 0 < abs(apart) < count else True
        case Symbol(register):
            near = thread.out.temporary("add.s64", Reg(register), count - 1)
            near = thread.out.temporary("setp.lt.u64", Reg(near), 2 * count - 1)
            other = thread.out.temporary("ne", Reg(register), 0)
            stop_where(thread, thread.out.temporary("and", Reg(near), Reg(other)), "overlap")
        case None if array_of(to_) is None and array_of(from_) is None:
            thread.notes.assumed["what memcpy copies between two addresses from memory does not overlap"] = None
    return True


def moved_bytes(thread: FollowedThread, state: State, to_: Value, from_: Value, count: int) -> bool:
    """Copy so many bytes from one address to another; return whether the thread goes on."""
    places = list(pieces_of(thread, state, from_, count))
    if len(places) > MOST_MOVED:
        raise thread.out.wrong(f"a copy of more than {MOST_MOVED:,} parts is not understood")
    values = [loaded(thread, state, further(from_, place), size, PLAIN) for place, size in places]
    for (place, size), value in zip(places, values, strict=True):
        if is_unwritten(value) and not _is_own(thread, to_):
            continue  # it is as undefined there
        if not stored(thread, state, further(to_, place), size, value, PLAIN):
            return False
    return True


def _is_own(thread: FollowedThread, address: Value) -> bool:
    array = array_of(address)
    return array is not None and owns(thread, array)


def fill(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``memset``: stores of words of one byte each."""
    target, to, byte, number = ins.operands
    count, value = evaluate(thread, state, number), evaluate(thread, state, byte, 32)
    if not isinstance(count, int) or not isinstance(value, int):
        raise thread.out.wrong("a fill by what memory decides is not understood")
    address = evaluate(thread, state, to)
    set_result(thread, state, target, address)
    if count == 0:
        return True
    to_ = checked_address(thread, state, address, count)
    if to_ is None:
        return False
    begin = to_.offset if isinstance(to_, ArrayAddress | Affine) else 0
    places = list(_words(0, count, begin))
    if len(places) > MOST_MOVED:
        raise thread.out.wrong(f"a fill of more than {MOST_MOVED:,} parts is not understood")
    return all(
        stored(thread, state, further(to_, place), size, int.from_bytes(bytes([value & 255]) * size, "little"), PLAIN)
        for place, size in places
    )
