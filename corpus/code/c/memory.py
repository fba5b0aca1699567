"""What accesses to memory do when a thread of C is specialised: loads, stores, updates, addresses, and malloc.

Each scalar has a slot (``corpus.code.c.types``). What no other thread can access is known: memory of the thread's
own, and all memory as long as the thread is alone. An address that is read from memory may be null, which is a finding
where it is used.
"""

from __future__ import annotations

from dataclasses import replace

from corpus.code import ir
from corpus.code.arithmetic import computed, set_predicate
from corpus.code.c.types import MOST_SLOTS
from corpus.code.evaluation import define, describe, evaluate, set_result
from corpus.code.launch.creation import OBJECTS, SLOT
from corpus.code.launch.sharing import shown_error
from corpus.code.memory import is_inside, length_of, loaded, owns, placed, stored, stored_operand
from corpus.code.places import CODE, NOBODY, Array, Cell, array_place, cell_of, counter
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Affine, ArrayAddress, Symbol, Unknown, Value
from corpus.laws.c11 import LEGAL_ORDERS, WORDS, explicit_failure
from corpus.litmus.instructions import Branch, Comparison, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.orders import PLAIN, Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import signed

MOST_FREED = 16
"""The elements of an object to which ``free`` writes."""

MOST_OBJECTS = 16
"""The objects that one call of malloc may give to one thread."""

ORDERS = (
    Order.RELAXED,
    Order.ACQUIRE,
    Order.ACQUIRE,
    Order.RELEASE,
    Order.ACQ_REL,
    Order.SC,
)
"""The orders by their numbers in ``stdatomic.h``; consume is acquire."""

_HANDLES = -2
"""The owner of the cells that have the names of threads."""

_ALL = (1 << 8 * SLOT) - 1


def order_of(thread: FollowedThread, state: State, operand: ir.Operand, kind: type[Instruction]) -> Order | None:
    """Return the order that an operand says, which an access of a kind can have; None: it is no atomic."""
    value = evaluate(thread, state, operand, 32)
    if not isinstance(value, int):
        raise thread.out.wrong("an order that memory decides is not understood")
    value = signed(value, 32)
    if value == -1:
        return None
    if not 0 <= value < len(ORDERS):
        raise thread.out.wrong(f"expected a memory order, found {value}")
    order = ORDERS[value]
    if order not in LEGAL_ORDERS[kind]:
        raise thread.out.wrong(f"{WORDS[order]} is no order of this access")
    return order


def mode_of(order: Order | None) -> Mode:
    """Return how an access of an order is done."""
    return PLAIN if order is None else Mode(order, Scope.SYS)


def address_of(thread: FollowedThread, state: State, operand: ir.Operand) -> Value | None:
    """Return the address of an access; None where the thread ends, as it is null."""
    assert isinstance(operand, ir.MemoryOperand)
    address = evaluate(thread, state, operand.base)
    match address:
        case int():
            thread.out.stops("null")
            return None
        case Symbol():
            address = checked(thread, state, address)
        case Unknown(reason):
            raise thread.out.wrong(f"its address is {reason}")
        case ArrayAddress(array) if array.space == CODE:
            raise thread.out.wrong("an access to a function is not understood")
    return address


def checked(thread: FollowedThread, state: State, address: Symbol) -> Symbol:
    """Return an address that was read from memory, after a branch to a finding where it is null."""
    found = replace(address, checked=True)
    if not address.checked:
        going = thread.out.new_label()
        thread.out.put(Branch(going, Comparison("ne", Reg(address.register), 0)))
        thread.out.stops("null")
        thread.out.put(Label(going))
        state.known |= {home: found for home, value in state.known.items() if value == address}
    return found


def load(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``load`` of a kind: a register, of an address, in an order."""
    target, source, order = ins.operands
    (kind,) = ins.words
    mode = mode_of(order_of(thread, state, order, Load))
    address = address_of(thread, state, source)
    if address is None:
        return False
    if kind == "handle":
        set_result(
            thread, state, target, state.known.get(_handle(thread, address), Unknown("a thread that is not created"))
        )
        return True
    value = known(thread, state, address)
    if value is None:
        value = loaded(thread, state, address, SLOT, "s64", mode)
    if value is None:
        return False
    set_result(thread, state, target, _narrowed(value, kind))
    return True


def _narrowed(value: Value, kind: str) -> Value:
    """Return what a slot holds as a value of a kind."""
    if kind[1:] != "32":
        return value
    return (
        value & 0xFFFFFFFF
        if isinstance(value, int)
        else Symbol(value.register, 32)
        if isinstance(value, Symbol)
        else value
    )


def _handle(thread: FollowedThread, address: Value) -> Cell:
    """Return the cell that has the name of a thread, which each thread has for itself."""
    if not isinstance(address, ArrayAddress):
        raise thread.out.wrong("the name of a thread at a computed place is not understood")
    return Cell(_HANDLES, str(address.array), address.offset, SLOT)


def known(thread: FollowedThread, state: State, address: Value) -> Value | None:
    """Return what the module says that memory holds which is constant, or the thread's own and not written; or None."""
    if not isinstance(address, ArrayAddress) or not (owns(thread, address.array) or address.array.space == "const"):
        return None
    variable = thread.module.variables.get(address.array.name)
    if variable is None or cell_of(address.array, address.offset, SLOT) in state.known:
        return None
    for place, symbol in variable.addresses:
        if place == address.offset:
            return evaluate(thread, state, symbol)
    if not 0 <= address.offset < (variable.size or 0):
        return None
    return int.from_bytes(variable.initial[address.offset : address.offset + SLOT], "little")


def store(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``store`` of a kind: to an address, of an operand, in an order."""
    target, source, order = ins.operands
    (kind,) = ins.words
    mode = mode_of(order_of(thread, state, order, Store))
    address = address_of(thread, state, target)
    if address is None:
        return False
    value = _widened(evaluate(thread, state, source, 32 if kind[1:] == "32" else 64), kind)
    if kind == "handle":
        define(thread, state, _handle(thread, address), value)
        return True
    if isinstance(address, ArrayAddress) and owns(thread, address.array):
        return _stored_own(thread, state, address, value)
    if isinstance(address, ArrayAddress) and not is_inside(thread, address, SLOT):
        return thread.out.stops("bounds")
    return stored(thread, state, address, SLOT, as_operand(thread, value), mode)


def _stored_own(thread: FollowedThread, state: State, address: ArrayAddress, value: Value) -> bool:
    if not is_inside(thread, address, SLOT):
        return thread.out.stops("bounds")
    if isinstance(value, Affine) and value.base is not None:
        value = address_in_register(thread, value)
    return stored(thread, state, address, SLOT, value, PLAIN)


def _widened(value: Value, kind: str) -> Value:
    """Return a value of a kind as a slot holds it: with its sign in 64 bits."""
    return signed(value, 32) & _ALL if isinstance(value, int) and kind[1:] == "32" else value


def as_operand(thread: FollowedThread, value: Value) -> Value:
    """Return a value as one that memory can hold: an address by parts is computed."""
    if isinstance(value, ArrayAddress) and value.array.space == CODE:
        raise thread.out.wrong("a pointer to a function in memory that others see is not understood")
    return address_in_register(thread, value) if isinstance(value, Affine) and value.base is not None else value


def address_in_register(thread: FollowedThread, value: Affine) -> Symbol:
    """Return an address with a computed part as one that a register holds."""
    assert value.base is not None
    if value.base.is_own:
        raise shown_error(thread, value.base)
    thread.creation.whole[value.base] = None
    ((register, scale),) = value.terms
    index: Operand = Reg(register)
    if scale != SLOT:
        index = Reg(thread.out.temporary("mul.lo.s64", index, scale // SLOT))
    return Symbol(thread.out.temporary("add", array_place(value.base, value.offset), index), 64, checked=True)


def update(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``update`` of an operation and a kind: what was there, of an address, operands and an order."""
    target, source, *rest = ins.operands
    operation, kind = ins.words
    exchanges = operation.endswith("cas")
    given, orders = (rest[:2], rest[2:]) if exchanges else (rest[:1], rest[1:])
    order = order_of(thread, state, orders[0], Rmw)
    failure = order_of(thread, state, orders[1], Load) if exchanges else None
    address = address_of(thread, state, source)
    if address is None:
        return False
    width = 32 if kind[1:] == "32" else 64
    values = [_widened(evaluate(thread, state, each, width), kind) for each in given]
    if isinstance(address, ArrayAddress) and owns(thread, address.array):
        return _updated_own(thread, state, target, address, operation, kind, values)
    operands = tuple(stored_operand(thread, as_operand(thread, each), SLOT) for each in values)
    where = placed(thread, address, SLOT)
    if where is None:
        return thread.out.stops("bounds")
    operand, access = where
    atomically = operation in ("exch", "cas", "wcas", "and", "or", "xor") or width == 32 or kind == "ptr"
    name = "cas" if exchanges else operation if atomically else f"{operation}.{kind}"
    wanted = isinstance(target, ir.Both) or target != ir.Register("_")
    register = thread.out.new_register() if wanted else None
    success = thread.out.new_register() if operation == "wcas" else None
    told = explicit_failure(order, failure) if exchanges and order is not None else None
    thread.out.put(Rmw(name, register, operand, operands, mode_of(order), failure=told, success=success), access)
    if register is None:
        return True
    if success is not None:
        done = Symbol(success, 1)
    else:
        done = Symbol(thread.out.temporary("eq", Reg(register), operands[0]), 1) if exchanges else Symbol(register, 1)
    set_result(thread, state, target, Symbol(register, width), done)
    return True


def _updated_own(
    thread: FollowedThread,
    state: State,
    target: ir.Operand,
    address: ArrayAddress,
    operation: str,
    kind: str,
    values: list[Value],
) -> bool:
    """Do an update of memory that no other thread can access."""
    old = known(thread, state, address)
    if old is None:
        old = loaded(thread, state, address, SLOT, "s64", PLAIN)
    assert old is not None
    done: Value = 1
    if operation.endswith("cas"):
        done = compared(thread, "eq", _narrowed(old, kind), _narrowed(values[0], kind))
        if not isinstance(done, int):
            raise thread.out.wrong(
                "an exchange of memory of the thread's own with a value that memory gives is not understood"
            )
        new = values[1] if done else old
    elif operation == "exch":
        new = values[0]
    elif kind == "ptr":
        if not isinstance(values[0], int):
            raise thread.out.wrong("on the thread's own memory it is not understood")
        new = moved_by(thread, old, values[0] if operation == "add" else -values[0])
    else:
        word = {"and": "b", "or": "b", "xor": "b"}.get(operation, kind[0]) + kind[1:]
        new = _widened(
            computed(thread, f"{operation}.{word}", [_narrowed(old, kind), _narrowed(values[0], kind)]), kind
        )
    if not _stored_own(thread, state, address, new):
        return False
    set_result(thread, state, target, _narrowed(old, kind), done)
    return True


def compared(thread: FollowedThread, name: str, one: Value, other: Value) -> Value:
    """Return whether two values, of which one may be an address, are equal (``eq``), or are not (``ne``)."""
    addresses = [
        each for each in (one, other) if isinstance(each, ArrayAddress) or (isinstance(each, Affine) and each.base)
    ]
    numbers = isinstance(one, int) and isinstance(other, int)
    if numbers or (isinstance(one, ArrayAddress) and isinstance(other, ArrayAddress)):
        return int((one == other) is (name == "eq"))
    if addresses and 0 in (one, other):
        return int(name == "ne")
    operands: list[Operand] = []
    for each in (one, other):
        if isinstance(each, ArrayAddress) and (each.array.is_own or each.array.space == CODE):
            return int(name == "ne")  # nobody else has the address
        operands.append(stored_operand(thread, as_operand(thread, each), SLOT))
    return Symbol(thread.out.temporary(name, *operands), 1)


def compare(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``setp``, of addresses as well, which may be read from memory."""
    target, *given = ins.operands
    name, kind = ins.words
    if kind != "u64" or name not in ("eq", "ne"):
        return set_predicate(thread, state, ins)
    one, other = (evaluate(thread, state, each) for each in given)
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return set_predicate(thread, state, ins)
    set_result(thread, state, target, compared(thread, name, one, other))
    return True


def step(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``step``: an address so many times so many slots further on."""
    target, base, index, scale = ins.operands
    assert isinstance(scale, ir.Number)
    value, number = evaluate(thread, state, base), evaluate(thread, state, index)
    if isinstance(value, Symbol) and number != 0:
        value = checked(thread, state, value)
    match value, number:
        case _, int():
            set_result(thread, state, target, moved_by(thread, value, signed(number, 64) * scale.value))
        case ArrayAddress(array, offset), Symbol(register):
            set_result(thread, state, target, Affine(array, ((register, scale.value * SLOT),), offset))
        case ((Symbol() | Affine(Array())), Symbol(register)):
            held = value if isinstance(value, Symbol) else address_in_register(thread, value)
            index_ = Reg(register)
            if scale.value != 1:
                index_ = Reg(thread.out.temporary("mul.lo.s64", index_, scale.value))
            thread.creation.moves.add(0)
            thread.notes.assumed["addresses that are read from memory and moved are those of elements"] = None
            set_result(
                thread, state, target, Symbol(thread.out.temporary("add", Reg(held.register), index_), 64, checked=True)
            )
        case Unknown() as unknown, _:
            set_result(thread, state, target, unknown)
        case _:
            raise thread.out.wrong(
                describe(thread, number if isinstance(value, int | Symbol | ArrayAddress) else value)
            )
    return True


def moved_by(thread: FollowedThread, value: Value, slots: int) -> Value:
    """Return an address so many slots further on."""
    match value:
        case ArrayAddress(array, offset):
            return ArrayAddress(array, offset + slots * SLOT)
        case Affine(Array(), _, offset):
            return replace(value, offset=offset + slots * SLOT)
        case Symbol(register) if slots:
            thread.creation.moves.add(slots)
            return Symbol(thread.out.temporary("add", Reg(register), slots), 64, checked=True)
    return value


def allocate(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``malloc``: a new object of so many bytes, where an element has so many bytes and slots."""
    target, count, size, slots = ins.operands
    assert isinstance(size, ir.Number) and isinstance(slots, ir.Number)
    value = evaluate(thread, state, count)
    if not isinstance(value, int):
        raise thread.out.wrong("memory whose size is no constant is not understood")
    length = -(-value // size.value) * slots.value * SLOT
    if length > MOST_SLOTS * SLOT:
        raise thread.out.wrong(f"an object of more than {MOST_SLOTS} elements is not understood")
    cell = counter(f"objects {ins.line} {ins.source and ins.source.column}")
    made = state.known.get(cell, 0)
    assert isinstance(made, int)
    if made >= MOST_OBJECTS:
        raise thread.out.wrong(f"more than {MOST_OBJECTS} objects of one malloc in one thread are not understood")
    state.known[cell] = made + 1
    array = Array(OBJECTS, NOBODY, f"object.{ins.line}.{thread.block}" + (f".{made + 1}" if made else ""))
    if ins.source and array in thread.creation.sizes and not made:
        array = array._replace(name=f"{array.name}.{ins.source.column}")
    thread.creation.sizes[array] = length
    if ins.words == ("zero",):
        for offset in range(0, length, SLOT):
            if not stored(thread, state, ArrayAddress(array, offset), SLOT, 0, PLAIN):
                return False
    set_result(thread, state, target, ArrayAddress(array))
    return True


def release(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``free``: a plain write to each element of an object, which races with every use that is not over before it."""
    source, slots = ins.operands
    assert isinstance(slots, ir.Number)
    address, count = evaluate(thread, state, source), slots.value
    if isinstance(address, ArrayAddress):
        count = (length_of(thread, address.array) or 0) // SLOT
    if isinstance(address, int) or thread.creation.alone:
        return True
    if not 0 < count <= MOST_FREED or not isinstance(address, ArrayAddress | Symbol):
        thread.notes.assumed["memory that is given back in ways that are not followed stays as it is"] = None
        return True
    going = thread.out.new_label()
    if isinstance(address, Symbol) and not address.checked:
        thread.out.put(Branch(going, Comparison("eq", Reg(address.register), 0)))
        address = replace(address, checked=True)
    for slot in range(count):
        if not stored(thread, state, moved_by(thread, address, slot), SLOT, 0, PLAIN):
            return False
    thread.out.put(Label(going))
    return True
