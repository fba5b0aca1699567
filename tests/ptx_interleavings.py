"""An interpreter of PTX under sequential consistency: the memories that a launch ends with, by all interleavings.

A reference for the specialiser that shares with it only the reader. Memory is bytes in a row, addresses are numbers,
registers have bits without signs. Threads run, an access to memory at a time (of a vector, an element at a time), until
all have ended; those that wait at a barrier, or for the other threads of a warp, go on together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.code.ir import KernelInstruction, MemoryOperand, Module, Negated, Number, Register, SymbolRef, Vector

MOST_STATES = 60_000
ROW = 256
"""The bytes between the beginnings of arrays."""

TYPES = {f"{kind}{bits}": bits for kind in "bus" for bits in (8, 16, 32, 64)} | {"pred": 1}


class TooManyStatesError(Exception):
    """A launch with more states than are looked at."""


@dataclass(frozen=True)
class _Frame:
    """A call: the function, the next instruction, what registers and parameters hold, and who takes its results."""

    function: str
    at: int
    held: tuple[tuple[object, int], ...]
    results: tuple[str, ...] = ()


@dataclass(frozen=True)
class _ThreadState:
    """A thread: its calls, the innermost last; how many elements of a vector are done; and what it waits with."""

    frames: tuple[_Frame, ...]
    element: int = 0
    brought: tuple[int, ...] | None = None


def final_memories(
    module: Module, grid: int, block: int, warp: int, arrays: Mapping[str, tuple[int, Sequence[int]]]
) -> set[tuple[int, ...]]:
    """The values of ``arrays`` (by parameter: the bytes of an element, and the initial values) at all ends."""
    return _Machine(module, grid, block, warp, arrays).run()


def _unsigned(value: int, bits: int) -> int:
    return value % (1 << bits)


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >= 1 << (bits - 1) else value


def _number(value: int, kind: str) -> int:
    """The number that a register holds as a type has it."""
    return (_signed if kind[0] == "s" else _unsigned)(value, TYPES[kind])


_SIMPLE = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": min,
    "max": max,
}
_TESTS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_TESTS |= {"lo": _TESTS["lt"], "ls": _TESTS["le"], "hi": _TESTS["gt"], "hs": _TESTS["ge"]}


def _result(ins: KernelInstruction, values: Sequence[int]) -> int:
    """What an instruction computes of the bits of its operands."""
    name, words = ins.name, ins.words
    kinds = [word for word in words if word in TYPES]
    kind, bits = kinds[-1], TYPES[kinds[-1]]
    numbers = [_number(value, kind) for value in values]
    match name:
        case "mov" | "cvta":
            return values[0]
        case "cvt":
            return _unsigned(numbers[0], TYPES[kinds[0]])
        case "not":
            return ~values[0]
        case "neg":
            return -numbers[0]
        case "abs":
            return abs(numbers[0])
        case "mul" | "mad":
            product_ = numbers[0] * numbers[1]
            product_ = product_ >> bits if "hi" in words else product_
            return product_ + (values[2] if name == "mad" else 0)
        case "shl":
            return 0 if values[1] % (1 << 32) >= bits else values[0] << values[1] % (1 << 32)
        case "shr":
            return numbers[0] >> min(values[1] % (1 << 32), bits)
        case "selp":
            return values[0] if values[2] & 1 else values[1]
        case "setp":
            test = next(word for word in words if word in _TESTS)
            found = int(_TESTS[test](numbers[0], numbers[1]))
            joined = next((word for word in words if word in ("and", "or", "xor")), None)
            return _SIMPLE[joined](found, values[2] & 1) if joined else found
        case "bfe":
            start, length = values[1] & 255, values[2] & 255
            every = [values[0] >> at & 1 for at in range(bits)]
            sign = 0 if kind[0] == "u" or not length else every[min(start + length - 1, bits - 1)]
            chosen = [every[start + at] if at < length and start + at < bits else sign for at in range(bits)]
            return sum(bit << at for at, bit in enumerate(chosen))
        case "popc":
            return _unsigned(values[0], bits).bit_count()
        case "clz":
            return bits - _unsigned(values[0], bits).bit_length()
    return int(_SIMPLE[name](numbers[0], numbers[1]))


def _changed(operation: str, kind: str, old: int, given: Sequence[int]) -> int:
    """What an atomic writes."""
    bits = TYPES[kind]
    old, *given = (_number(value, kind) for value in (old, *given))
    match operation:
        case "exch":
            return given[0]
        case "cas":
            return given[1] if old == given[0] else old
        case "inc":
            return 0 if old >= given[0] else old + 1
        case "dec":
            return given[0] if old == 0 or old > given[0] else old - 1
    return _unsigned(_SIMPLE[operation](old, given[0]), bits)


class _Machine:
    """A launch of the only kernel of a module."""

    def __init__(self, module, grid, block, warp, arrays) -> None:
        self._module, self._grid, self._block, self._warp = module, grid, block, warp
        self._arrays = arrays
        self._kernel = module.kernels[0]
        self._bases: dict[tuple[int | None, str], int] = {}
        self._memory = bytearray(ROW)
        for name, (size, values) in arrays.items():
            self._place((None, name), b"".join(_unsigned(each, 8 * size).to_bytes(size, "little") for each in values))
        for thread in range(grid * block):
            for function in module.functions.values():
                for variable in function.variables:
                    if variable.space == "local":
                        self._place((thread, variable.name), bytes(variable.size))
            for variable in (*module.variables.values(), *self._kernel.variables):
                owner = {"shared": -1 - thread // block, "local": thread}.get(variable.space)
                if (
                    variable.space in ("shared", "global", "const", "local")
                    and (owner, variable.name) not in self._bases
                ):
                    self._place((owner, variable.name), variable.initial.ljust(variable.size, b"\0"))

    def _place(self, key: tuple[int | None, str], data: bytes) -> None:
        self._bases[key] = len(self._memory)
        self._memory += data.ljust(-(-len(data) // ROW) * ROW, b"\0")

    def run(self) -> set[tuple[int, ...]]:
        """Look at all states, from the first one on."""
        first = _ThreadState((_Frame(self._kernel.name, 0, ()),))
        start = tuple(self._silent(n, first) for n in range(self._grid * self._block)), bytes(self._memory)
        seen, waiting, ends = {start}, [start], set()
        while waiting:
            threads, memory = waiting.pop()
            if not any(thread.frames for thread in threads):
                ends.add(tuple(self._final(memory)))
            for after in self._steps(threads, memory):
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
            if len(seen) > MOST_STATES:
                raise TooManyStatesError
        return ends

    def _final(self, memory: bytes) -> Iterator[int]:
        for name, (size, values) in self._arrays.items():
            base = self._bases[None, name]
            for at in range(len(values)):
                yield int.from_bytes(memory[base + at * size :][:size], "little", signed=True)

    def _steps(self, threads: tuple[_ThreadState, ...], memory: bytes):
        """Yield the states after the next access of each thread, after its coming to a meeting, and after a meeting of
        those that have not ended."""
        for number, thread in enumerate(threads):
            ins = self._next(thread)
            if ins is None:
                continue
            members = self._members(number, ins)
            if members is None:
                after, written = self._access(number, thread, ins, memory)
                yield (*threads[:number], self._silent(number, after), *threads[number + 1 :]), written
            elif thread.brought is None:
                come = replace(thread, brought=tuple(self._values(number, thread, ins)))
                yield (*threads[:number], come, *threads[number + 1 :]), memory
            else:
                brought = {n: threads[n].brought for n in members if threads[n].frames}
                names = {self._next(threads[n]).name for n in brought}
                if number == min(brought) and None not in brought.values() and len(names) == 1:
                    met = list(threads)
                    for n in brought:
                        met[n] = self._silent(n, self._gone_on(n, met[n], self._next(met[n]), brought))
                    yield tuple(met), memory

    def _next(self, thread: _ThreadState) -> KernelInstruction | None:
        if not thread.frames:
            return None
        frame = thread.frames[-1]
        return self._module.functions[frame.function].body[frame.at]

    def _members(self, number: int, ins: KernelInstruction) -> list[int] | None:
        """The threads that meet at an instruction, all of the block or of the warp; None where it is an access."""
        inside, block = number % self._block, number - number % self._block
        if ins.name in ("bar", "barrier") and "warp" not in ins.words:
            return list(range(block, block + self._block))
        if ins.name in ("vote", "shfl", "redux", "bar"):
            warp = inside - inside % self._warp
            return [block + n for n in range(warp, min(warp + self._warp, self._block))]
        return None

    def _gone_on(
        self, number: int, thread: _ThreadState, ins: KernelInstruction, brought: Mapping[int, tuple[int, ...]]
    ):
        """A thread after a meeting, with what it gets of what the others brought."""
        first = min(brought)
        own, rows = brought[number], [brought[n] for n in sorted(brought)]
        result: int | None = None
        match ins.name, ins.words:
            case "vote", ("sync", "ballot", "b32"):
                result = sum((row[0] & 1) << place for place, row in enumerate(rows))
            case "vote", ("sync", word, "pred"):
                said = {row[0] & 1 for row in rows}
                result = int({"all": 0 not in said, "any": 1 in said, "uni": len(said) == 1}[word])
            case "shfl", ("sync", mode, "b32"):
                lane, by = number - first, own[1] & 31
                other = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": by}[mode]
                result = rows[other][0] if 0 <= other < len(rows) else own[0]
            case "redux", ("sync", word, kind):
                result = rows[0][0]
                for row in rows[1:]:
                    result = _SIMPLE[word](_number(result, kind), _number(row[0], kind))
            case "bar" | "barrier", ("red", "popc", "u32"):
                result = sum(row[1] & 1 for row in rows)
            case "bar" | "barrier", ("red", word, "pred"):
                result = (min if word == "and" else max)(row[1] & 1 for row in rows)
        return self._after(replace(thread, brought=None), ins, result)

    # one thread

    def _value(self, number: int, frame: _Frame, operand: object) -> int:
        held = dict(frame.held)
        match operand:
            case Register(name):
                return held[name] if name in held else self._special(number, name)
            case Number(value):
                return _unsigned(value, 64)
            case Negated(inner):
                return self._value(number, frame, inner) ^ 1
            case SymbolRef(name, offset):
                return self._base(number, name) + offset
        raise AssertionError(operand)

    def _base(self, number: int, name: str) -> int:
        for owner in (None, number, -1 - number // self._block):
            if (owner, name) in self._bases:
                return self._bases[owner, name]
        raise AssertionError(name)

    def _special(self, number: int, name: str) -> int:
        inside = number % self._block
        return {
            "%tid.x": inside, "%ctaid.x": number // self._block, "%ntid.x": self._block, "%nctaid.x": self._grid,
            "%laneid": inside % self._warp,
        }[name]  # fmt: skip

    def _values(self, number: int, thread: _ThreadState, ins: KernelInstruction) -> Iterator[int]:
        start = 0 if ins.name in ("bar", "barrier") and "red" not in ins.words else 1
        for operand in ins.operands[start:]:
            yield self._value(number, thread.frames[-1], operand)

    def _after(self, thread: _ThreadState, ins: KernelInstruction, result: int | None = None) -> _ThreadState:
        """A thread behind an instruction, whose result goes to its first operand."""
        frame = thread.frames[-1]
        held = dict(frame.held)
        if result is not None and isinstance(ins.operands[0], Register):
            name = ins.operands[0].name
            kind = self._module.functions[frame.function].registers
            bits = next(TYPES[each] for stem, each in kind.items() if _is_of(name, stem))
            held[name] = _unsigned(result, bits)
        frame = replace(frame, at=frame.at + 1, held=tuple(sorted(held.items(), key=str)))
        return replace(thread, frames=(*thread.frames[:-1], frame), element=0)

    def _silent(self, number: int, thread: _ThreadState) -> _ThreadState:
        """A thread before its next access or meeting, or at its end."""
        while thread.frames:
            frame = thread.frames[-1]
            function = self._module.functions[frame.function]
            ins = (
                function.body[frame.at] if frame.at < len(function.body) else KernelInstruction("ret", (), (), None, 0)
            )
            if ins.guard is not None:
                holds = bool(self._value(number, frame, Register(ins.guard.register)) & 1) != ins.guard.unless
                if not holds:
                    thread = self._after(thread, ins)
                    continue
            match ins.name:
                case "ld" | "st" if "param" in ins.words:
                    thread = self._parameter(number, thread, ins)
                case "ld" | "st" | "atom" | "red" | "bar" | "barrier" | "vote" | "shfl" | "redux":
                    return thread
                case "fence" | "membar" | "nanosleep":
                    thread = self._after(thread, ins)
                case "bra":
                    there = function.labels[ins.operands[0].name]
                    thread = replace(thread, frames=(*thread.frames[:-1], replace(frame, at=there)))
                case "exit":
                    thread = _ThreadState(())
                case "ret":
                    thread = self._returned(thread, frame)
                case "call":
                    thread = self._called(thread, frame, ins)
                case _:
                    values = [self._value(number, frame, operand) for operand in ins.operands[1:]]
                    thread = self._after(thread, ins, _result(ins, values))
        return thread

    def _parameter(self, number: int, thread: _ThreadState, ins: KernelInstruction) -> _ThreadState:
        frame = thread.frames[-1]
        bits = TYPES[ins.words[-1]]
        if ins.name == "st":
            symbol = ins.operands[0].base
            held = dict(frame.held) | {(symbol.name,): _unsigned(self._value(number, frame, ins.operands[1]), bits)}
            frame = replace(frame, held=tuple(sorted(held.items(), key=str)))
            return self._after(replace(thread, frames=(*thread.frames[:-1], frame)), ins)
        name = ins.operands[1].base.name
        value = self._bases[None, name] if len(thread.frames) == 1 and (None, name) in self._bases else None
        return self._after(thread, ins, dict(frame.held)[(name,)] if value is None else value)

    def _called(self, thread: _ThreadState, frame: _Frame, ins: KernelInstruction) -> _ThreadState:
        results, target, arguments = ins.operands
        callee, held = self._module.functions[target.name], dict(frame.held)
        given = zip(callee.parameters, arguments.parts, strict=True)
        inner = tuple(((variable.name,), held[(argument.name,)]) for variable, argument in given)
        outer = replace(frame, at=frame.at + 1)
        takes = tuple(each.name for each in results.parts)
        return replace(thread, frames=(*thread.frames[:-1], outer, _Frame(callee.name, 0, inner, takes)))

    def _returned(self, thread: _ThreadState, frame: _Frame) -> _ThreadState:
        if len(thread.frames) == 1:
            return _ThreadState(())
        outer, held = thread.frames[-2], dict(frame.held)
        callee = self._module.functions[frame.function]
        taken = {(to,): held[(of.name,)] for to, of in zip(frame.results, callee.results, strict=True)}
        outer = replace(outer, held=tuple(sorted((dict(outer.held) | taken).items(), key=str)))
        return replace(thread, frames=(*thread.frames[:-2], outer))

    def _access(
        self, number: int, thread: _ThreadState, ins: KernelInstruction, memory: bytes
    ) -> tuple[_ThreadState, bytes]:
        """A thread and the memory after an access, or after an element of one."""
        frame = thread.frames[-1]
        kind = next(word for word in reversed(ins.words) if word in TYPES)
        size = TYPES[kind] // 8
        place = ins.operands[0 if ins.name in ("st", "red") else 1]
        assert isinstance(place, MemoryOperand)
        at = self._value(number, frame, place.base) + place.offset + size * thread.element
        old = int.from_bytes(memory[at : at + size], "little")

        def written(value: int) -> bytes:
            return memory[:at] + _unsigned(value, 8 * size).to_bytes(size, "little") + memory[at + size :]

        if ins.name in ("atom", "red"):
            operation = next(word for word in ins.words if word in (*_SIMPLE, "exch", "cas", "inc", "dec"))
            given = [self._value(number, frame, each) for each in ins.operands[1 if ins.name == "red" else 2 :]]
            after = self._after(thread, ins, old if ins.name == "atom" else None)
            return after, written(_changed(operation, kind, old, given))
        part = ins.operands[1 if ins.name == "st" else 0]
        parts = part.parts if isinstance(part, Vector) else (part,)
        own = ins._replace(operands=(parts[thread.element],))
        if ins.name == "st":
            memory, after = written(self._value(number, frame, own.operands[0])), self._after(thread, ins)
        else:
            after = self._after(thread, own, _signed(old, 8 * size) if kind[0] == "s" else old)
        if thread.element + 1 < len(parts):
            frame = replace(after.frames[-1], at=frame.at)
            after = replace(after, frames=(*after.frames[:-1], frame), element=thread.element + 1)
        return after, memory


def _is_of(register: str, declared: str) -> bool:
    """Whether a register is one of those that a declaration declares: ``%r3`` of ``%r<8>``."""
    stem, row, _ = declared.partition("<")
    return register == declared or (bool(row) and register.removeprefix(stem).isdecimal() and register.startswith(stem))
