"""What accesses to memory do when a thread is specialised: loads, stores and atomics (PTX ISA 9.1, 9.7.9 and 9.7.13).

Memory of the thread's own is known, and so are its parameters; an access to memory that others may see stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.kernels.launch import ArrayArgument, SharedArgument
from corpus.kernels.ptx import module as ptx
from corpus.kernels.ptx.computing import ONE_BIT, extended, filled, moved, number_or_held, residual_operand, set_result
from corpus.kernels.ptx.specialiser import Access, State, ThreadSpecialiser
from corpus.kernels.values import Held, Missing, Pointer, Scaled, Unknown, Value, plain_name
from corpus.litmus import test as litmus
from corpus.litmus.ptx_arithmetic import WIDTHS, signed, type_of

SCOPES = {"cta": litmus.Scope.CTA, "gpu": litmus.Scope.GPU, "sys": litmus.Scope.SYS}
ORDERS = {
    "relaxed": litmus.Order.RELAXED,
    "acquire": litmus.Order.ACQUIRE,
    "release": litmus.Order.RELEASE,
    "acq_rel": litmus.Order.ACQ_REL,
    "sc": litmus.Order.SC,
}
MEMBARS = {"cta": litmus.Scope.CTA, "gl": litmus.Scope.GPU, "sys": litmus.Scope.SYS}


def access_mode(at: ThreadSpecialiser, words: Sequence[str], default: litmus.Mode) -> litmus.Mode:
    """Return how an access is done: its order and scope, or volatile."""
    if "volatile" in words:
        return litmus.Mode(volatile=True)
    if "mmio" in words:
        return litmus.Mode(litmus.Order.RELAXED, litmus.Scope.SYS)
    order = next((ORDERS[word] for word in words if word in ORDERS), None)
    tags: tuple[str, ...] = ()
    scope = next((SCOPES[word] for word in words if word in SCOPES), None)
    if "cluster" in words:
        scope, tags = litmus.Scope.QUEUE, (litmus.CLUSTER,)
    if order is None and scope is None:
        return default
    return litmus.Mode(order or default.order, scope or default.scope, tags=tags)


def _elements(words: Sequence[str]) -> tuple[int, int, str]:
    """Return the number of elements of an access, the bytes of each, and their type."""
    kind = type_of(words)
    count = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
    return count, WIDTHS[kind] // 8, kind


_PLAIN_WORDS = frozenset(
    (*ORDERS, *SCOPES, "cluster", "weak", "volatile", "mmio", "nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "noftz",
     "v2", "v4", "v8", "global", "shared", "local", "const", "param", "unified", *WIDTHS)
)  # fmt: skip
"""The words of accesses besides their operations; those with ``::`` are spaces and hints for caches."""


def _check_words(at: ThreadSpecialiser, ins: ptx.PtxInstruction) -> None:
    """Refuse an access that is more than an access, such as ``st.async`` and ``st.bulk``."""
    for word in ins.words:
        stem = word.partition("::")[0]
        if word not in (*_PLAIN_WORDS, *_ATOMICS) and ("::" not in word or stem == "mbarrier"):
            raise at.wrong("is not understood")


def load(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``ld``, also of vectors, of which each element is an access."""
    target, source = ins.operands[:2]
    _check_words(at, ins)
    count, size, kind = _elements(ins.words)
    _check_vector(at, state, source, count)
    targets = target.parts if isinstance(target, ptx.Vector) else (target,)
    if "nc" in ins.words:
        at.assumed["ld.nc is read as a weak load, though it may go past the caches that the model is of"] = None
    mode = access_mode(at, ins.words, litmus.PLAIN)
    address = address_of(at, state, source)
    if count > 1 and isinstance(address, Scaled):  # an element may go where the address is
        address = replace(address, register=at.temporary("mov", litmus.Reg(address.register)))
    for number, part in enumerate(targets[:count]):
        value = _loaded(at, state, moved(address, number * size), size, kind, mode)
        if value is None:
            return False
        set_result(at, state, part, filled(at, state, part, value, f"u{8 * size}" if kind[0] == "b" else kind))
    return True


def address_of(at: ThreadSpecialiser, state: State, operand: ptx.Operand) -> Value:
    """Return the address that an operand in brackets is."""
    if isinstance(operand, ptx.PtxMemory):
        base = at.value(state, operand.base)
        if isinstance(base, Held) and operand.offset:
            raise at.wrong("with an address that was read from memory, and an offset, it is not understood")
        return moved(base, operand.offset)
    if isinstance(operand, ptx.Symbol):
        return at.value(state, operand)
    raise at.wrong("the form of its address is not understood")


def _check_vector(at: ThreadSpecialiser, state: State, operand: ptx.Operand, count: int) -> None:
    if count > 1 and isinstance(address_of(at, state, operand), Held):
        raise at.wrong("with an address that was read from memory it is not understood")


def _loaded(
    at: ThreadSpecialiser, state: State, address: Value, size: int, kind: str, mode: litmus.Mode
) -> Value | None:
    """Return what a load gives; None where the thread ends, as its address is in no array."""
    if isinstance(address, Pointer):
        space = address.array.partition(":")[0]
        if space == "param" and state.depth == 0 and address.array.startswith("param:0:"):
            found = _parameter(at, address, size)
            if found is not None:
                return found
        if space in OWN:
            return _cell(at, state, address, size)
        if space == "const":
            return _constant(at, state, address, size)
    where = placed(at, address, size)
    if where is None:
        at.stops("bounds")
        return None
    operand, access = where
    register = at.new_register()
    at.put(litmus.Load(register, operand, mode), access)
    return extended(at, Held(register, 8 * size), kind)


def _constant(at: ThreadSpecialiser, state: State, address: Pointer, size: int) -> Value | None:
    """Return what the module says that constant memory holds; None where the thread ends, as it is not there."""
    name = address.array.rpartition(":")[2]
    variable = at.module.variables.get(name)
    if variable is None or variable.size is None:
        raise at.wrong(f"what {name} holds is not in the module")
    if not 0 <= address.offset <= variable.size - size:
        at.stops("bounds")
        return None
    at.assumed[f"{name} holds what the module gives it"] = None
    for place, symbol in variable.addresses:
        if (place, 8) == (address.offset, size):
            return at.value(state, symbol)
        if place < address.offset + size and address.offset < place + 8:
            raise at.wrong(f"a part of an address that {name} holds is not understood")
    data = variable.initial.ljust(variable.size, b"\0")
    return int.from_bytes(data[address.offset : address.offset + size], "little")


def _parameter(at: ThreadSpecialiser, address: Pointer, size: int) -> Value | None:
    """Return what the launch gives for a parameter of the kernel."""
    name = address.array.rpartition(":")[2]
    number = at.kernel.number_of(name)
    if number is None:
        return None
    given = at.launch.argument(name, number)
    if isinstance(given, int):
        return given >> 8 * address.offset & (1 << 8 * size) - 1
    if isinstance(given, SharedArgument):
        parameters = enumerate(at.kernel.parameters)
        called = (each.name for n, each in parameters if given.name in (each.name, at.launch.source_name(each.name, n)))
        return Pointer(f"argument::{next(called, given.name)}")
    if size == 8 or isinstance(given, ArrayArgument):
        return Pointer(f"argument::{name}" + (f"_{address.offset}" if address.offset else ""))
    return Missing(name, address.offset)


def _cell(at: ThreadSpecialiser, state: State, address: Pointer, size: int) -> Value:
    """Return what a thread's own memory holds."""
    home = _cell_home(address, size)
    if home in state.known:
        return state.known[home]
    _, depth, name = address.array.split(":", 2)
    prefix = f"{depth}:[{name}+"
    others = [each for each in state.known if each.startswith(prefix)]
    for other in others:
        start, _, length = other[len(prefix) : -1].partition(":")
        whole = state.known[other]
        inside = int(start) <= address.offset and address.offset + size <= int(start) + int(length)
        if inside and isinstance(whole, int):
            return whole >> 8 * (address.offset - int(start)) & (1 << 8 * size) - 1
    parts = [state.known.get(_cell_home(Pointer(address.array, address.offset + n), 1)) for n in range(size)]
    if all(isinstance(part, int) for part in parts):
        return sum(part << 8 * n for n, part in enumerate(parts) if isinstance(part, int))
    return Unknown(f"{name} at byte {address.offset}, which the thread has not written so")


def _cell_home(address: Pointer, size: int) -> str:
    _, depth, name = address.array.split(":", 2)
    return f"{depth}:[{name}+{address.offset}:{size}]"


def store(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``st``, also of vectors, of which each element is an access."""
    target, source = ins.operands[:2]
    _check_words(at, ins)
    count, size, _ = _elements(ins.words)
    _check_vector(at, state, target, count)
    sources = source.parts if isinstance(source, ptx.Vector) else (source,)
    address, mode = address_of(at, state, target), access_mode(at, ins.words, litmus.PLAIN)
    for number, part in enumerate(sources[:count]):
        here, value = moved(address, number * size), at.value(state, part, 8 * size)
        if isinstance(here, Pointer) and here.array.partition(":")[0] in OWN:
            _keep(at, state, here, size, value)
            continue
        where = placed(at, here, size)
        if where is None:
            return at.stops("bounds")
        operand, access = where
        at.put(litmus.Store(operand, stored_operand(at, value, size), mode), access)
    return True


def _keep(at: ThreadSpecialiser, state: State, address: Pointer, size: int, value: Value) -> None:
    """Write to a thread's own memory; cells that overlap are known no more."""
    _, depth, name = address.array.split(":", 2)
    prefix = f"{depth}:[{name}+"
    for home in [each for each in state.known if each.startswith(prefix)]:
        start, _, length = home[len(prefix) : -1].partition(":")
        if int(start) < address.offset + size and address.offset < int(start) + int(length):
            del state.known[home]
    if isinstance(value, int):
        value &= (1 << 8 * size) - 1
    at.define(state, _cell_home(address, size), value)


def stored_operand(at: ThreadSpecialiser, value: Value, size: int) -> litmus.Operand:
    """Return a value as an operand of an access of so many bytes."""
    match value:
        case Pointer(array, offset):
            if array.startswith(OWN):
                raise at.wrong("of an address in the thread's own memory is not understood")
            return litmus.Loc(placeholder(array, offset))
        case Unknown(reason):
            at.assumed[f"{reason} is stored as some number"] = None
            return signed(0x7F00_0000 + len(at.assumed), 8 * size)
        case Held(register, width) if width > 8 * size:
            return litmus.Reg(at.temporary(f"cvt.s{8 * size}.u{width}", litmus.Reg(register), 0))
        case _:
            return residual_operand(number_or_held(at, value), 8 * size)


OWN = ("local", "param")
"""The spaces that belong to a thread alone."""


def placeholder(array: str, offset: int) -> str:
    """Return the name that a place in an array has until the sizes of all accesses are known."""
    return f"{array}#{offset}"


def placed(at: ThreadSpecialiser, address: Value, size: int) -> tuple[litmus.Operand, Access] | None:
    """Return the operand that is an address, and the access; None where it is in no array."""
    base = address.array if isinstance(address, Pointer) else address.base if isinstance(address, Scaled) else None
    variable = at.module.variables.get(base.rpartition(":")[2]) if base and not base.startswith("argument:") else None
    if variable is not None and variable.addresses:
        raise at.wrong(f"{variable.name} holds addresses, which are not understood in memory that may change")
    if base and base.startswith(OWN):
        raise at.wrong("on the thread's own memory with a computed index, or atomically, is not understood")
    match address:
        case Pointer(array, offset):
            length = _length(at, array, size)
            if offset < 0 or (length is not None and offset + size > length):
                return None
            return litmus.Loc(placeholder(array, offset)), Access(array, offset, size)
        case Scaled(str(array), register, scale, offset):
            index: litmus.Operand = litmus.Reg(register)
            if scale % size == 0:
                if scale != size:
                    index = litmus.Reg(at.temporary("mul.lo.s64", index, scale // size))
            elif scale == 1:
                index = litmus.Reg(at.temporary("div.s64", index, size))
            else:
                raise at.wrong(f"accesses of {size} bytes that are {scale} apart are not understood")
            steps, inside = divmod(offset, size)
            if steps:
                index = litmus.Reg(at.temporary("add.s64", index, steps))
            start = litmus.Loc(placeholder(array, inside))
            length = _length(at, array, size)
            limit = None if inside or length is None else length // size
            if limit is None:
                name = plain_name(array.rpartition(":")[2])
                at.assumed[f"computed indices of {name} are those of its elements"] = None
            else:
                index = litmus.Reg(at.temporary("min.u64", index, limit))
            return litmus.Reg(at.temporary("add", start, index)), Access(array, None, size, limit)
        case Held(register):
            at.assumed["addresses that are read from memory are those of arrays"] = None
            return litmus.Reg(register), Access("", None, size)
        case int():
            return None
        case _:
            raise at.wrong(at.said(address))


def _length(at: ThreadSpecialiser, array: str, size: int) -> int | None:
    """Return the bytes of an array, where they are known, for accesses of so many bytes."""
    name = array.rpartition(":")[2]
    if array.startswith("argument:"):
        number = at.kernel.number_of(name)
        given = None if number is None else at.launch.array(name, number)
        return given.length(size) if given else None
    variable = at.module.variable(at.kernel, name)
    return None if variable is None else variable.size


def atomic(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """Keep ``atom`` or ``red`` as an update of the residual program."""
    operands = [*ins.operands]
    target = None if ins.name == "red" else operands.pop(0)
    source, *given = operands
    _check_words(at, ins)
    count, size, kind = _elements(ins.words)
    operation = next((word for word in ins.words if word in _ATOMICS), None)
    if operation is None or count > 1:
        raise at.wrong("is not understood")
    given = given[: 2 if operation == "cas" else 1]  # a policy for caches may follow
    mode = access_mode(at, ins.words, litmus.DEFAULT_RMW)
    where = placed(at, address_of(at, state, source), size)
    if where is None:
        return at.stops("bounds")
    values = tuple(stored_operand(at, at.value(state, each, 8 * size), size) for each in given)
    operand, access = where
    register = None if target is None else at.new_register()
    plain = operation in ("exch", "cas") or (size == 4 and (operation in (*ONE_BIT, "add") or kind == "s32"))
    name = operation if plain and kind[0] != "f" else f"{operation}.{kind}"
    at.put(litmus.Rmw(name, register, operand, values, mode), access)
    if target is not None and register is not None:
        set_result(at, state, target, Held(register, 8 * size))
    return True


_ATOMICS = ("add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec")
