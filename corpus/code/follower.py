"""Specialises a kernel of PTX to one thread of a launch: what depends on no shared memory is computed, the rest stays.

The thread is followed from its first instruction on with what is known of each register: bits, a pointer, or that a
register of the residual program holds the value. An instruction whose operands are known is computed and leaves
nothing; an access to memory that others may see, a fence, a barrier, and what is computed of values that were read,
become instructions of a litmus test. Where a branch depends on a value that was read, both ways are followed.

A place of the code is followed once for each state of what is known there and still needed (polyvariant
specialisation). So loops whose bounds are known unroll, and a loop that waits for others becomes a loop. Example::

    mov.u32 %r1, %ctaid.x;  setp.ne.s32 %p1, %r1, 0;  @%p1 bra $L;   leaves nothing
    $L: ld.acquire.gpu.u32 %r2, [flag];                              L0:
    setp.eq.s32 %p2, %r2, 0;                                         ld.acquire.gpu r2, flag
    @%p2 bra $L;                                                     beq r2, 0, L0

A value that is followed has one home, the register of the residual program that has the name of the PTX register. So
no two names stand for one register, and a move of such a value is a move.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from corpus.code import ir
from corpus.code.launch.fields import is_structure
from corpus.code.launch.launch import Argument, KernelLaunch, SharedArgument, ThreadIds
from corpus.code.places import CODE, NEAR, NOBODY, OWN, Array, Cell, Home, RegisterHome, argument_array, counter
from corpus.code.values import Affine, ArrayAddress, Half, Missing, Partial, Symbol, Unknown, Value
from corpus.errors import InputError
from corpus.litmus.flow import RegisterUse, live_registers
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.orders import EXIT, PLAIN, RELAXED, Mode, Scope
from corpus.litmus.ptx_arithmetic import WIDTHS, signed

MOST_VARIANTS = 4_096
"""The most places with a state of their own that a thread may have."""

MOST_STEPS = 200_000
"""The most instructions that are followed."""

KNOWN_AT_ONCE = 64
"""What is known that takes as long to look through as an instruction to follow."""

MOST_CALLS = 32
"""Calls within calls."""

DOUBT = "doubt_about_"
"""The beginning of the names of registers that say whether a result is not determined, behind ``MARK``."""

END = "END"
"""The label behind the last instruction of a residual program."""

MARK = "stopped_by_"
"""The beginning of the names of registers that say why a thread has stopped: a trap, an assertion."""

LIBRARY = "library"
"""The directive of a function of the library: what it does is said to be at the line that calls it."""

FAILING = ("__assertfail", "__trap")
"""Functions of the system by which a thread fails."""

ENDED_REDUCTION = "a thread ends after bar.red, and others come to that barrier again, which is not understood"

MASK_BITS = 32
"""The bits of the name of a barrier of a warp that are the mask of its lanes; what these do is above them."""

WORKSPACE = "grid_workspace"
"""The array that ``%envreg1`` and ``%envreg2`` point to, where cooperative groups keep a grid's barrier."""


class NotUnderstoodError(InputError):
    """The error for an instruction that is not understood; its line is one of the PTX text, or of the source."""


def refusal(module: ir.Module, ins: ir.KernelInstruction | None, what: str, grows: bool = False) -> NotUnderstoodError:
    """Return the error for an instruction of a module; ``grows``: places are those of the source alone."""
    if ins is None:
        return NotUnderstoodError(what, module.path)
    if grows and ins.source:
        return NotUnderstoodError(what, ins.source.file, ins.source.line, ins.source.column)
    at = f" ({ins.source})" if ins.source else ""
    own = ins.source.chain[-1] if ins.source else None
    if own and Path(own.file).name == Path(module.path).name:  # the file is the source of what was compiled
        inner = at if ins.source != own else ""
        return NotUnderstoodError(f"{ins.called}: {what}{inner}", module.path, own.line, max(own.column, 1))
    if module.unit != "line":
        return NotUnderstoodError(f"{ins.called}: {what}{at}, at {module.unit} {ins.line}", module.path)
    return NotUnderstoodError(f"{ins.called}: {what}{at}", module.path, ins.line, 1)


SOME_NUMBER = 0x7F00_0000
"""What stands for values that nothing tells begins here."""

_APART, _APART_AT_MOST = 0x9E37_79B1, 1 << 24
"""How far apart the numbers are that stand for such values: no program has them, nor their sums and differences."""


class Access(NamedTuple):
    """An access of the residual program: the array, the offset in bytes (None: it is computed), and the size.

    ``limit``: a computed index is at most this, the number of elements, which stands for all that are outside.
    """

    array: Array
    offset: int | None
    size: int
    limit: int | None = None


class Residual(NamedTuple):
    """An instruction of the residual program with the PTX instruction that it comes from."""

    instruction: Instruction
    origin: ir.KernelInstruction | None
    access: Access | None = None
    more: tuple[Access, ...] = ()
    """The other accesses of an asynchronous operation: what it reads, and the mbarrier where it completes."""
    untold: str = ""
    """What the value is that an assignment gives, where nothing tells it and it is some number."""
    doubtful: str = ""
    """The register of which an assignment notes whether its value is not determined."""

    @property
    def accesses(self) -> tuple[Access, ...]:
        """All accesses of the instruction, the one that it is named for before the others."""
        return self.more if self.access is None else (self.access, *self.more)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What is known of a function before it is followed: where jumps lead to, and what registers are live there.

    ``widths`` has the bits of registers by their names, ``%x``; of those declared in a row by what they share, ``%r<``.
    """

    leaders: frozenset[int]
    live: tuple[frozenset[str], ...]
    widths: Mapping[str, int]

    def width(self, register: str) -> int:
        """Return the bits of a register."""
        return self.declared(register) or 64

    def declared(self, register: str) -> int | None:
        """Return the bits of a register that is declared; None where there is none of its name."""
        name = _ELEMENT.sub("", register)
        return self.widths.get(name) or self.widths.get(f"{_stem(name)}<")


@dataclass(frozen=True, slots=True)
class _Frame:
    """A call that is not over: its caller and that one's name, where it goes on, and the variables for the results."""

    function: ir.KernelFunction = field(compare=False)
    name: str
    after: int
    results: tuple[str, ...]


@dataclass
class State:
    """A place in the code with what is known there, by names that begin with the depth of the call."""

    function: ir.KernelFunction
    at: int = 0
    frames: tuple[_Frame, ...] = ()
    known: dict[Home, Value] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The number of calls that are not over."""
        return len(self.frames)

    def goes(self, at: int) -> State:
        """Return the state at another place of the function."""
        return replace(self, at=at, known=dict(self.known))


Meaning = Callable[["ThreadSpecialiser", "State", ir.KernelInstruction], bool]
"""What an instruction does: it changes what is known and appends what stays; false where the thread ends."""


SystemFunction = Callable[["ThreadSpecialiser", "State", Sequence[ir.Operand]], Value]
"""What a function of the system does with its arguments, and what it gives."""


class GroupExchange(NamedTuple):
    """How threads exchange values when they do one operation together: the mode of their accesses to the array by
    which they do, that of the barriers around these, and what that takes for granted.
    """

    access: Mode
    barrier: Mode
    assumed: str = ""


PLAIN_EXCHANGE = GroupExchange(PLAIN, PLAIN)
"""An exchange by plain accesses and barriers."""


@dataclass(frozen=True)
class KernelLanguage:
    """A language of kernels: what its instructions do, by name, and what its special registers hold (None where there
    is none of a name). ``model`` is the consistency model that it has unless another is asked for. ``exits``: a thread
    that has ended is not waited for at barriers. ``clusters``: blocks are in clusters; otherwise all are in one queue.
    ``exchange``: how threads of a group exchange values. ``parted``: weak accesses of several sizes mean what
    their parts do, where they do not race. ``grows``: a kernel begins as one thread, which creates the
    others. ``unfit`` says what is wrong with
    the words or operands of an instruction, given the bits of registers by their names; None where nothing is.
    ``ends``: a body ends by instructions that say so. ``functions`` are those of the system that threads go on behind.
    """

    meanings: Mapping[str, Meaning]
    special: Callable[[ThreadSpecialiser, str], Value | None]
    model: str
    exits: bool = False
    clusters: bool = False
    exchange: GroupExchange = PLAIN_EXCHANGE
    parted: bool = False
    grows: bool = False
    unfit: Callable[[ir.KernelInstruction, Callable[[str], int | None]], str | None] | None = None
    ends: bool = False
    functions: Mapping[str, SystemFunction] = field(default_factory=dict)


GroupSite = tuple[int, int, int]
"""A place of the code, by a number, where threads of a group do something together, with their block and group."""


class ThreadStart(NamedTuple):
    """A thread of a launch: its place, its function, and its arguments.

    ``waits``: it begins when the thread that creates it, which has done something before, says so.
    """

    ids: ThreadIds
    function: ir.KernelFunction
    arguments: tuple[Value, ...] = ()
    waits: bool = False


class ShownError(Exception):
    """The error for memory of a thread's own whose address the thread shows to others: it has to be followed again."""

    def __init__(self, array: Array) -> None:
        super().__init__(array)
        self.array = array


Option = TypeVar("Option")
"""One of the things that the system may do."""

BarrierKey = tuple[Operand, Scope]
"""The name of a barrier that waits for all threads of a group, and the level of the group."""


Parts = Mapping[Array, Sequence[tuple[int, int, int]]]
"""Where accesses of an array overlap that are of several sizes: begin, end, and the bytes of the parts of all there."""


class ThreadSpecialiser:
    """The specialiser of one thread. ``assumed`` collects what was taken for granted, once each.

    ``owed``: how often the thread has to have come to barriers at its end, which are then counted on each way.
    ``grains``: the bytes of an element of arrays that are copied asynchronously, where they are not those of a word.
    ``accessed``: the places and sizes of accesses of arrays, for operations on whole matrices. ``comers``: the threads
    of a group that come to a place where they do something together, where these are not all. ``came`` collects those
    places, with the threads that were taken to come there. ``shown``: the arrays of the thread's own whose addresses
    others may have. ``following``: the number of the next thread that is created. ``choices`` collects what the system
    may do in several ways, with how many there are. ``aligns``: who comes to an aligned barrier waits for the others
    of its warp at that very instruction. ``most``: the instructions that are followed.

    ``alone``: no other thread is there yet, so that all memory is known; ``image`` is what it holds when others come,
    by array and offset. ``sizes`` has the bytes of arrays that the thread has made, ``steps`` how far addresses
    from memory are moved, in elements, and ``whole`` the arrays with elements at computed places.
    """

    def __init__(
        self,
        module: ir.Module,
        kernel: ir.KernelFunction,
        launch: KernelLaunch,
        ids: ThreadIds,
        language: KernelLanguage,
        owed: Mapping[BarrierKey, int] | None = None,
        grains: Mapping[Array, int] = MappingProxyType({}),
        accessed: Mapping[Array, Sequence[tuple[int, int]]] = MappingProxyType({}),
        comers: Mapping[GroupSite, frozenset[int]] = MappingProxyType({}),
        shown: Mapping[Array, Array] = MappingProxyType({}),
        following: int = 0,
        aligns: bool = False,
        parts: Parts = MappingProxyType({}),
        most: int = MOST_STEPS,
    ) -> None:
        self._most = most
        self._language, self.exchange = language, language.exchange
        self._comers = comers
        self.came: dict[GroupSite, frozenset[int]] = {}
        self._shown, self._following = shown, following
        self._aligns = aligns
        self._parts = parts
        self.alone = False
        self.started: list[ThreadStart] = []
        self.image: dict[tuple[str, int], Value] = {}
        self.sizes: dict[Array, int] = {}
        self.steps: set[int] = set()
        self.whole: dict[Array, None] = {}
        self.grains = grains
        self._accessed = accessed
        self.asks_for_accesses = False
        self._owed = owed or {}
        self.module, self.kernel, self.launch, self.ids = module, kernel, launch, ids
        self.code: list[Residual] = []
        self.assumed: dict[str, None] = {}
        self._untold = 0
        self.reduced: set[BarrierKey] = set()
        self.choices: dict[str, int] = {}
        self.uniform: dict[ir.KernelInstruction, list[int]] = {}
        self._labels: dict[tuple[object, ...], str] = {}
        self._variants: dict[tuple[str, int], int] = {}
        self._waiting: list[tuple[str, State]] = []
        self._shapes: dict[str, _Shape] = {}
        self._steps = 0
        self._temporaries = 0
        self._made_labels = 0
        self._origin: ir.KernelInstruction | None = None

    def run(self, start: ThreadStart | None = None, before: Sequence[Residual] = ()) -> list[Residual]:
        """Return the residual program, ``before`` and what is left of the kernel, or of the function of a ``start``.

        Raises ``NotUnderstoodError`` where the thread meets what is not understood, and ``ShownError`` where it shows
        memory of its own to others.
        """
        self.code += before
        state = State(self.kernel if start is None else start.function)
        if start is not None:
            for parameter, value in zip(start.function.parameters, start.arguments, strict=False):
                self.define(state, RegisterHome(0, parameter.name), value)
        self._follow(state)
        while self._waiting:
            label, state = self._waiting.pop()
            self.put(Label(label))
            self._follow(state)
        self.put(Label(END))
        return self.code

    def put(self, instruction: Instruction, access: Access | None = None, more: tuple[Access, ...] = ()) -> None:
        """Append an instruction to the residual program."""
        self.code.append(Residual(instruction, self._origin, access, more))

    def some_number(self, reason: str, width: int) -> Reg:
        """Return a register with some number of so many bits, in place of a value that nothing tells, and why."""
        self._untold += 1
        which = ((self.block << 10) + self.number << 8) + self._untold
        number = signed(SOME_NUMBER + which * _APART % _APART_AT_MOST, width)
        register = self.new_register()
        self.code.append(Residual(Assign(register, "mov", (number,)), self._origin, untold=reason))
        return Reg(register)

    def wrong(self, what: str) -> NotUnderstoodError:
        """Return the error for the instruction at hand."""
        return refusal(self.module, self._origin, what, self.grows)

    def looks_through(self, state: State) -> None:
        """Count that all that is known is looked through as instructions to follow, where it is much."""
        self._steps += len(state.known) // KNOWN_AT_ONCE

    def part(self, address: Value, size: int) -> int:
        """Return the bytes of the parts that an access of so many bytes is made of; as many where it is whole."""
        match address:
            case ArrayAddress(array, offset):
                found = self._parts.get(array, ())
                return next((part for start, end, part in found if start <= offset < end), size)
            case Affine(Array() as array):
                return next((part for _, _, part in self._parts.get(array, ())), size)
        return size

    def accessed_in(self, array: Array) -> Sequence[tuple[int, int]]:
        """Return the places and sizes of accesses of an array by anything else in the launch."""
        self.asks_for_accesses = True
        return self._accessed.get(array, ())

    def owns(self, array: Array) -> bool:
        """Decide whether no other thread can access an array: the thread alone has it, or no other is there."""
        return self.alone or array.is_own

    @property
    def grows(self) -> bool:
        """Whether threads create others, to which they show memory."""
        return self._language.grows

    def shows(self, array: Array) -> Exception:
        """Return the error for an address of the thread's own memory where others may get it."""
        if self._language.grows:
            return ShownError(array)
        return self.wrong("of an address in the thread's own memory is not understood")

    def starts(self, state: State, function: ir.KernelFunction, arguments: tuple[Value, ...]) -> int:
        """Create a thread and return its number."""
        if any(isinstance(each.instruction, Branch) and each.instruction.condition for each in self.code):
            raise self.wrong("a thread that is created where memory decides whether it is, is not understood")
        for value in arguments:
            if not isinstance(value, int | ArrayAddress):
                raise self.wrong("an argument that memory gives is not understood")
            if isinstance(value, ArrayAddress) and value.array.is_own:
                raise ShownError(value.array)
        self.meets_others(state)
        number = self._following + len(self.started)
        ids = ThreadIds((number, 0, 0), (0, 0, 0))
        waits = any(isinstance(each.instruction, _EFFECTS) for each in self.code)
        self.started.append(ThreadStart(ids, function, arguments, waits))
        return number

    def meets_others(self, state: State) -> None:
        """Share all memory with others: what it holds is where they begin."""
        if not self.alone:
            return
        self.alone = False
        for variable in self.module.variables.values():
            for offset, symbol in variable.addresses:
                self.image[variable.name, offset] = self.value(state, symbol)
        for cell in [home for home in state.known if isinstance(home, Cell) and home.depth == NOBODY]:
            value = state.known.pop(cell)
            if isinstance(value, ArrayAddress) and value.array.is_own:
                raise ShownError(value.array)
            self.image[cell.name, cell.offset] = value

    def come_together(self, site: GroupSite, every: Sequence[int]) -> list[int]:
        """Return the threads of a group that do something together at a place, of all that might."""
        found = self._comers.get(site, frozenset(every))
        self.came[site] = found
        return sorted(found)

    def chosen(self, what: str, options: Sequence[Option]) -> Option:
        """Return what the system does where it may do one of several things, as the launch has it."""
        if len(options) > 1:
            self.choices[what] = len(options)
        return options[min(self.launch.choices.get(what, 0), len(options) - 1)]

    @property
    def block(self) -> int:
        """The number of the thread's block."""
        return self.launch.block_number(self.ids)

    @property
    def number(self) -> int:
        """The number of the thread in its block."""
        return self.launch.thread_number(self.ids)

    @property
    def lane(self) -> int:
        """The number of the thread in its warp."""
        return self.number % self.launch.warp

    # control flow

    def _follow(self, state: State) -> None:
        """Follow one way to its end, or to a place with a state that has been met."""
        inside = False
        while True:
            if inside and state.at in self._shape(state.function).leaders:
                label, new = self._label(state)
                if not new:
                    self.put(Branch(label))
                    return
                self.put(Label(label))
            inside = True
            self._steps += 1
            if self._steps > self._most:
                raise self.wrong(f"more than {self._most:,} instructions to follow: a smaller launch has fewer")
            body = state.function.body or ()
            ins = body[state.at] if state.at < len(body) else None
            self._origin = _blamed(state, ins)
            self._temporaries = 0
            if ins is None:
                if self._language.ends:  # as behind __builtin_unreachable()
                    self._origin = _blamed(state, body[-1] if body else None)
                    raise self.wrong("the end of the body without ret or exit is not understood")
                going = self.returns(state)
            elif ins.guard is None:
                going = self.step(state, ins)
            else:
                going = self._guarded(state, ins, ins.guard)
            if not going:
                return

    def _label(self, state: State) -> tuple[str, bool]:
        """Return the label of a place with what is known there, and whether it is new."""
        shape = self._shape(state.function)
        where = (state.function.name, state.at)
        live = shape.live[state.at] if state.at < len(shape.live) else frozenset()
        state.known = {
            home: value
            for home, value in state.known.items()
            if isinstance(home, Cell) or home.depth < state.depth or home.name in live
        }
        if self._variants.get(where, 0) >= MOST_VARIANTS:
            for home, value in state.known.items():
                state.known[home] = self.lifted(state, home, value)
        key = (*where, state.frames, frozenset(state.known.items()))
        if key in self._labels:
            return self._labels[key], False
        self._variants[where] = self._variants.get(where, 0) + 1
        label = self._labels[key] = f"L{len(self._labels)}"
        return label, True

    def _shape(self, function: ir.KernelFunction) -> _Shape:
        if function.name not in self._shapes:
            self._shapes[function.name] = _shape(function)
        return self._shapes[function.name]

    def jump(self, state: State) -> str:
        """Return the label of a state, which is followed later where it has not been met."""
        label, new = self._label(state)
        if new:
            self._waiting.append((label, state))
        return label

    def _guarded(self, state: State, ins: ir.KernelInstruction, guard: ir.KernelGuard) -> bool:
        if ins.name == "bra":
            self._check(state, ins)
        value = self.value(state, ir.Register(guard.register))
        self.keeps_together(ins, value)
        match value:
            case int():
                if bool(value & 1) is not guard.unless:
                    return self.step(state, ins)
                state.at += 1
                return True
            case Symbol(register):
                jumps, stays = ("eq", "ne") if guard.unless else ("ne", "eq")
                if ins.name == "bra":
                    target = state.goes(self.target(state, ins))
                    self.put(Branch(self.jump(target), Comparison(jumps, Reg(register), 0)))
                    state.at += 1
                    return True
                for name in _written(ins):
                    home = self.home(state, name)
                    if home in state.known:
                        state.known[home] = self.lifted(state, home, state.known[home])
                skipped = state.goes(state.at + 1)
                self.put(Branch(self.jump(skipped), Comparison(stays, Reg(register), 0)))
                return self.step(state, ins)
            case Unknown(reason) if ins.name == "bra":
                met = self._meeting(state, ins)
                if met is not None:
                    state.function, state.at, state.frames, state.known = met.function, met.at, met.frames, met.known
                    self.assumed[f"nothing depends on {reason}"] = None
                    return True
                raise self.wrong(f"the branch depends on {reason}")
        raise self.wrong(f"the predicate is {self.said(value)}")

    def keeps_together(self, ins: ir.KernelInstruction, way: Value) -> None:
        """Note which way a thread goes where ``.uni`` promises that its warp goes that way together (ISA, 9.7.12.3)."""
        if "uni" not in ins.words or ins.name not in _WAYS or self.launch.warp == 1:
            return
        if isinstance(way, int):
            self.uniform.setdefault(ins, []).append(way)
        else:
            self.assumed[f"all threads of a warp go one way at {ins.opcode} in line {ins.line}"] = None

    def _meeting(self, state: State, ins: ir.KernelInstruction, depth: int = 0) -> State | None:
        """Return the first state in which both ways of a branch come together, having left nothing behind; or None."""
        places = (self.target(state, ins), state.at + 1)
        one, other = (self._silent(state.goes(at), depth + 1) for at in places)
        return next((each for each in one if any(self._same(each, met) for met in other)), None)

    def _silent(self, state: State, depth: int) -> list[State]:
        """Return the states at the places that a way leads through until an instruction stays, or the way ends."""
        mark, origin = len(self.code), self._origin
        found: list[State] = []
        try:
            while depth < MOST_CALLS and len(found) < MOST_CALLS:
                body = state.function.body or ()
                if state.at >= len(body):
                    return [*found, state.goes(state.at)]
                if state.at in self._shape(state.function).leaders:
                    found.append(state.goes(state.at))
                ins = body[state.at]
                self._origin = _blamed(state, ins)
                self._temporaries = 0
                value = 1 if ins.guard is None else self.value(state, ir.Register(ins.guard.register))
                if isinstance(value, Unknown) and ins.name == "bra":
                    met = self._meeting(state, ins, depth)
                    if met is None:
                        return found
                    state = met
                elif not isinstance(value, int):
                    return found
                elif ins.guard is not None and bool(value & 1) is ins.guard.unless:
                    state.at += 1
                elif not self.step(state, ins) or len(self.code) > mark:
                    return found
            return found
        except NotUnderstoodError:  # the way is followed, and the error found again, where it is taken
            return found
        finally:
            del self.code[mark:]
            self._origin = origin

    def _same(self, one: State, other: State) -> bool:
        """Return whether two states are one place with equal knowledge of what is needed."""
        if one.function is not other.function or (one.at, one.frames) != (other.at, other.frames):
            return False
        live = self._shape(one.function).live[one.at]
        homes: set[Home] = {RegisterHome(one.depth, name) for name in live}
        homes |= {home for home in one.known if isinstance(home, Cell)}
        return all(one.known.get(home) == other.known.get(home) for home in homes)

    def target(self, state: State, ins: ir.KernelInstruction) -> int:
        """Return the place that a branch leads to."""
        match ins.operands:
            case (ir.SymbolRef(name),) if name in state.function.labels:
                return state.function.labels[name]
        raise self.wrong("no such label")

    def returns(self, state: State) -> bool:
        """Go back to the caller; return whether there is one."""
        if not state.frames:
            self._origin = None if self._owed else self._origin
            for key, most in self._owed.items():
                came = self._came(state, key)
                if 0 < came < most and key in self.reduced:
                    raise self.wrong(ENDED_REDUCTION)
                for _ in range(most - came):
                    self.put(exit_arrival(key))
            self.put(Branch(END))
            return False
        if ir.NORETURN in state.function.directives:
            raise self.wrong(f"{state.function.name} is {ir.NORETURN}, and returns, which is undefined")
        callee, depth, frame = state.function, state.depth, state.frames[-1]
        for variable, result in zip(callee.results, frame.results, strict=False):
            if variable.space == "reg":
                home = RegisterHome(depth, variable.name)
                value = state.known.get(home, Unknown(f"{variable.name}, which nothing has written"))
                self.define(state, RegisterHome(depth - 1, result), value)
            else:
                self._copy(state, (depth, variable.name), (depth - 1, result))
        state.known = {home: value for home, value in state.known.items() if home.depth != depth}
        state.function, state.at, state.frames = frame.function, frame.after, state.frames[:-1]
        return True

    def meets(self, state: State, barrier: Barrier) -> None:
        """Append a barrier of a group, and count it where that is asked for."""
        of_block = barrier.scope is not Scope.WARP
        if self._aligns and of_block and self._origin is not None and is_aligned(self._origin):
            place = f"{state.function.name} {state.at}"
            name = int.from_bytes(place.encode()) << MASK_BITS | (1 << self.launch.warp) - 1
            together = Barrier(name, mode=Mode(tags=(RELAXED,)), scope=Scope.WARP)
            self.meets(state, together)
        key = (barrier.name, barrier.scope)
        if key in self._owed and not barrier.wait:
            state.known[_met(key)] = self._came(state, key) + 1
        self.put(barrier)

    def visit(self, state: State, place: str) -> int:
        """Count a visit of the thread to a place, and return how many there were."""
        cell = counter(f"visits of {place}")
        before = state.known.get(cell, 0)
        if not isinstance(before, int):
            raise self.wrong("how often a thread comes here takes too many ways")
        state.known[cell] = before + 1
        return before + 1

    def _came(self, state: State, key: BarrierKey) -> int:
        """Return how often the thread has come to a barrier."""
        value = state.known.get(_met(key), 0)
        if not isinstance(value, int):
            raise self.wrong("how often a thread comes to a barrier takes too many ways")
        return value

    def _copy(self, state: State, old: tuple[int, str], new: tuple[int, str]) -> None:
        """Copy what is known of the cells of a variable, by its depth and name, to those of another one."""
        for home, value in list(state.known.items()):
            if isinstance(home, Cell) and home[:2] == old:
                self.define(state, Cell(*new, *home[2:]), value)

    def call(self, state: State, ins: ir.KernelInstruction) -> bool:
        """Go into a function of the module, whose parameters are given; those of the system are known by name."""
        parts = [*ins.operands]
        results = parts.pop(0) if isinstance(parts[0], ir.Vector) else None
        name = parts[0].name if parts and isinstance(parts[0], ir.SymbolRef) else ""
        arguments = parts[1] if len(parts) > 1 and isinstance(parts[1], ir.Vector) else ir.Vector(())
        given = results.parts if isinstance(results, ir.Vector) else ()
        targets = tuple(each.name for each in given if isinstance(each, ir.SymbolRef | ir.Register))
        if parts and isinstance(parts[0], ir.Register):
            called = self.value(state, parts[0])
            name = called.array.name if isinstance(called, ArrayAddress) and called.array.space == CODE else ""
            if not name:
                raise self.wrong("a function whose address memory gives is not understood")
        function = self.module.functions.get(name)
        if name in FAILING:
            return self.stops("assert")
        if name in self._language.functions:
            value = self._language.functions[name](self, state, arguments.parts)
            for target in targets:
                self.define(state, Cell(state.depth, target, 0, 4), value)
            return True
        if function is None or function.body is None:
            raise self.wrong(f"{name or 'a function by its address'} is not in the module")
        if state.depth >= MOST_CALLS:
            raise self.wrong(f"more than {MOST_CALLS} calls within each other")
        if len(function.parameters) != len(arguments.parts) and not self.grows:
            raise self.wrong(f"{name} has {len(function.parameters)} parameters, and {len(arguments.parts)} are given")
        depth = state.depth + 1
        for variable, argument in zip(function.parameters, arguments.parts, strict=False):
            if variable.space == "reg":
                self.define(state, RegisterHome(depth, variable.name), self.value(state, argument))
            elif isinstance(argument, ir.SymbolRef):
                self._copy(state, (state.depth, argument.name), (depth, variable.name))
            else:
                self.define(state, Cell(depth, variable.name, 0, variable.size or 0), self.value(state, argument))
        state.frames = (*state.frames, _Frame(state.function, state.function.name, state.at, targets))
        state.function, state.at = function, 0
        return True

    def stops(self, why: str) -> bool:
        """Mark that the thread comes to a trap, a failed assertion or the like, where it ends; return False."""
        self.put(Assign(f"{MARK}{why}", "mov", (1,)))
        self.put(Branch(END))
        return False

    def step(self, state: State, ins: ir.KernelInstruction) -> bool:
        """Do one instruction, whose predicate holds; return whether the thread goes on."""
        self._check(state, ins)
        meaning = self._language.meanings.get(ins.name)
        if meaning is None:
            raise self.wrong("is not understood")
        state.at += 1
        return meaning(self, state, ins)

    def _check(self, state: State, ins: ir.KernelInstruction) -> None:
        """Raise ``NotUnderstoodError`` where an instruction has words or operands that the language does not know."""
        wrong = self._language.unfit and self._language.unfit(ins, lambda name: self._declared(state, name))
        if wrong:
            raise self.wrong(wrong)

    def _declared(self, state: State, register: str) -> int | None:
        """Return the bits of a register that is declared, 0 of a special one; None where there is none of its name."""
        width = self._shape(state.function).declared(register)
        return 0 if width is None and self._language.special(self, register) is not None else width

    # what is known

    def home(self, state: State, register: str) -> RegisterHome:
        """Return where a register of the function that is followed is known."""
        return RegisterHome(state.depth, register)

    def define(self, state: State, home: Home, value: Value) -> None:
        """Give a register or cell a value; one that a register of the residual program holds moves to its home."""
        match value:
            case Symbol(register) if register != (own := residual_name(home)):
                self.put(Assign(own, "mov", (Reg(register),)))
                value = replace(value, register=own)
            case Affine(_, ((register, scale),)) if register != (own := residual_name(home)):
                self.put(Assign(own, "mov", (Reg(register),)))
                value = replace(value, terms=((own, scale),))
        state.known[home] = value

    def lifted(self, state: State, home: Home, value: Value) -> Value:
        """Return a value as one that its home holds, so that ways with different values meet."""
        if isinstance(value, int):
            own, width = residual_name(home), self.width(state, home)
            self.put(Assign(own, "mov", (signed(value, width) if width > 1 else value & 1,)))
            return Symbol(own, width)
        return value

    def width(self, state: State, home: Home) -> int:
        """Return the bits of a register or cell."""
        if isinstance(home, Cell):
            return 8 * home.size
        functions = (*(frame.function for frame in state.frames), state.function)
        return self._shape(functions[home.depth]).width(home.name)

    def value(self, state: State, operand: ir.Operand, width: int = 64) -> Value:
        """Return what is known of an operand of so many bits."""
        match operand:
            case ir.Register(name):
                home = self.home(state, name)
                if home in state.known:
                    return state.known[home]
                special = self._language.special(self, name)
                return Unknown(f"{name}, which nothing has written") if special is None else special
            case ir.Number(number):
                return number & (1 << width) - 1
            case ir.Float(bits, _):
                return bits
            case ir.SymbolRef(name, offset):
                return self._pointer(state, name, offset)
            case ir.Negated(inner):
                value = self.value(state, inner, width)
                if isinstance(value, int):
                    return value & 1 ^ 1
                if isinstance(value, Symbol):
                    return Symbol(self.temporary("xor", Reg(value.register), 1), 1)
                return value
        raise self.wrong("the form of an operand is not understood")

    def _pointer(self, state: State, name: str, offset: int) -> ArrayAddress:
        for variable in (*state.function.variables, *state.function.parameters, *state.function.results):
            if variable.name == name:
                self._check_type(variable)
                return ArrayAddress(self._array(variable, state.depth), offset, variable.space in NEAR)
        if name in self.module.variables:
            variable = self.module.variables[name]
            self._check_type(variable)
            if variable.extern and variable.space != "shared":
                raise self.wrong(f"what {name} holds is not in the module")
            return ArrayAddress(self._array(variable, 0), offset, variable.space in NEAR)
        if name in self.module.functions:
            return ArrayAddress(Array(CODE, NOBODY, name), offset)
        raise self.wrong(f"{name} is not declared")

    def _check_type(self, variable: ir.Variable) -> None:
        if variable.type in ir.OPAQUE:
            raise self.wrong(f"{variable.name} is a .{variable.type}, of which nothing is understood")

    def _array(self, variable: ir.Variable, depth: int) -> Array:
        """Return the array that a variable is, of a function at a depth of calls."""
        if variable.space == "shared":
            return Array("shared", self.block, self._dynamic if is_dynamic(variable) else variable.name)
        if variable.space == "argument":
            return argument_array(self.argument_array(variable.name))
        array = Array(variable.space, depth if variable.space in OWN else NOBODY, variable.name)
        return self._shown.get(array, array)

    @cached_property
    def _dynamic(self) -> str:
        """The one name of the shared memory that a launch gives: all arrays of it begin at one place (CUDA
        C++ Programming Guide, ``__shared__``).
        """
        return next(each.name for each in self.module.variables.values() if is_dynamic(each))

    def argument_array(self, parameter: str) -> str:
        """Return the parameter whose memory a parameter points to: itself, or another one that the launch names."""
        given = self.argument(parameter)
        if not isinstance(given, SharedArgument):
            return parameter
        every = enumerate(self.kernel.parameters)
        called = (each.name for n, each in every if given.name in (each.name, self.launch.source_name(each.name, n)))
        return next(called, given.name)

    def said(self, value: Value) -> str:
        """Return what a value is, for a message about a place where a number is wanted."""
        match value:
            case Missing(parameter, offset):
                called = self.called(parameter)
                if self._is_bare(parameter):
                    return f"byte {offset} of the argument {called}, a structure, of which no part can be given"
                return f"the argument {called}, which decides something: give it with --arg {called}=.."
            case Partial(_, _, rest):
                return self.said(rest)
            case Unknown(reason):
                return reason
            case ArrayAddress() | Affine() | Half():
                return "an address, of which only places in arrays are known; a number is given with --arg NAME=.."
            case _:
                return "a value of the running program"

    def _is_bare(self, parameter: str) -> bool:
        """Return whether a parameter of the kernel is bytes rather than a number or an address.

        PTX alone says so by the type; in SPIR-V numbers and vectors are declared as bytes, and are given as numbers.
        """
        number = self.kernel.number_of(parameter)
        ptx = self.module.language == "ptx"
        return ptx and number is not None and is_structure(self.kernel.parameters[number])

    def argument(self, parameter: str) -> Argument | None:
        """Return what the launch gives for a parameter of the kernel."""
        number = self.kernel.number_of(parameter)
        return None if number is None else self.launch.argument(parameter, number)

    def called(self, parameter: str) -> str:
        """Return the name that the source has for a parameter of the kernel."""
        number = self.kernel.number_of(parameter)
        return parameter if number is None else self.launch.source_name(parameter, number)

    def temporary(self, operation: str, *operands: Operand) -> str:
        """Append a computation into a register of its own, and return the register."""
        name = self.new_register()
        self.put(Assign(name, operation, operands))
        return name

    def new_label(self) -> str:
        """Return a label of the residual program that nothing else has."""
        self._made_labels += 1
        return f"M{self._made_labels}"

    def inside(self, address: ArrayAddress, size: int) -> bool:
        """Decide whether so many bytes at an address are in their array, as far as its length is known."""
        length = self.length(address.array)
        return address.offset >= 0 and (length is None or address.offset + size <= length)

    def length(self, array: Array) -> int | None:
        """Return the bytes of an array that the thread has made, or that is a variable; None where nothing tells."""
        if array not in self.sizes:
            declared = (
                *self.module.variables.values(),
                *(v for f in self.module.functions.values() for v in f.variables),
            )
            own = {self._shown.get(array, array), array}
            name = next((own_name for own_name, shown in self._shown.items() if shown in own), array).name
            found = next((each.size for each in declared if each.name == name), None)
            if found is None:
                return None
            self.sizes[array] = found
        return self.sizes[array]

    def new_register(self) -> str:
        """Return a register of the residual program that the instruction at hand has for itself."""
        self._temporaries += 1
        line = 0 if self._origin is None else self._origin.line
        return f"t{line}_{self._temporaries}"


_EFFECTS = Load | Store | Rmw | Fence
"""What a thread may have done before it creates another one, for which that one has to wait."""


def is_dynamic(variable: ir.Variable) -> bool:
    """Return whether a variable is shared memory whose size the launch gives: ``extern __shared__ int data[];``."""
    return variable.space == "shared" and variable.extern and variable.size is None


def _blamed(state: State, ins: ir.KernelInstruction | None) -> ir.KernelInstruction | None:
    """Return the instruction that is named for what one does: outside of the library, that which calls it."""
    function = state.function
    for frame in reversed(state.frames):
        if LIBRARY not in function.directives:
            break
        function, ins = frame.function, (frame.function.body or ())[frame.after - 1]
    return ins


_WAYS = ("bra", "brx", "call", "ret")
"""The instructions of control with ``.uni``."""


def is_aligned(origin: ir.KernelInstruction) -> bool:
    """Return whether an instruction is a barrier at which the threads of a warp have to come together."""
    return origin.name == "bar" or (origin.name == "barrier" and "aligned" in origin.words)


def exit_arrival(key: BarrierKey) -> Barrier:
    """Return what the end of a thread is to a barrier: an arrival that orders nothing (PTX ISA, ``exit``)."""
    name, scope = key
    return Barrier(name, arrive=True, mode=Mode(tags=(EXIT,)), scope=scope)


def _met(key: BarrierKey) -> Cell:
    """Return the cell of the state that counts the arrivals at a barrier."""
    return counter(f"barrier {key[0]} {key[1].label}")


def residual_name(home: Home) -> str:
    """Return the register of the residual program for one of PTX, or a cell: ``r12`` for ``%r12`` of the kernel."""
    name = f"{home.name}+{home.offset}:{home.size}" if isinstance(home, Cell) else home.name
    plain = re.sub(r"\W", "_", name.removeprefix("%").strip("[]").replace("_", "__").replace("'", "_s"))
    depth = {NOBODY: "", -2: "h"}.get(home.depth, home.depth)
    return plain if depth == 0 else f"c{depth}_{plain}"


def registers_in(operands: Iterable[ir.Operand]) -> Iterable[str]:
    """Yield the registers that operands mention."""
    for operand in operands:
        match operand:
            case ir.Register(name):
                yield name
            case ir.MemoryOperand(base):
                yield from registers_in((base,))
            case ir.Vector(parts):
                yield from registers_in(parts)
            case ir.Negated(inner) | ir.Element(inner):
                yield from registers_in((inner,))
            case ir.Both(first, second):
                yield from registers_in((first, second))


NO_RESULT = frozenset(
    (
        "st",
        "red",
        "cp",
        "bra",
        "brx",
        "ret",
        "exit",
        "trap",
        "bar",
        "barrier",
        "membar",
        "fence",
        "nanosleep",
        "prefetch",
    )
)
"""Instructions whose first operand is no result."""


def _written(ins: ir.KernelInstruction) -> list[str]:
    """Return the registers that an instruction writes."""
    if not ins.operands or (ins.name == "call" and not isinstance(ins.operands[0], ir.Vector)):
        return []
    if ins.name in NO_RESULT and "red" not in ins.words:
        return []
    return [name for name in registers_in(ins.operands[:1]) if not isinstance(ins.operands[0], ir.MemoryOperand)]


def _stem(register: str) -> str:
    """Return a register's name without its number: ``%p'2`` for ``%p1'2``, the ``%p1`` of a nested scope."""
    name, mark, scope = register.partition("'")
    return name.rstrip("0123456789") + mark + scope


_ELEMENT = re.compile(r"\.[xyzw]$")
"""The end of the name of an element of a register that is a vector."""


def _shape(function: ir.KernelFunction) -> _Shape:
    """Return the leaders and the live registers of a function: those that are read before they are written."""
    body = function.body or ()
    leaders = set(function.labels.values())
    after: list[list[int]] = []
    uses: list[RegisterUse] = []
    for at, ins in enumerate(body):
        written = frozenset(_written(ins))
        read = set(registers_in(ins.operands[1:] if written else ins.operands))
        if ins.guard is not None:
            read.add(ins.guard.register)
            if ins.name != "bra":
                leaders.add(at + 1)
        uses.append(RegisterUse(frozenset(read), written if ins.guard is None else frozenset()))
        following = [] if ins.name in ("ret", "exit", "trap") and ins.guard is None else [at + 1]
        if ins.name == "bra":
            following = following if ins.guard is not None else []
            following += [function.labels[each.name] for each in ins.operands if isinstance(each, ir.SymbolRef)
                          and each.name in function.labels]  # fmt: skip
        elif ins.name == "brx":
            tables = (function.tables.get(each.name, ()) for each in ins.operands if isinstance(each, ir.SymbolRef))
            following = [function.labels[name] for table in tables for name in table if name in function.labels]
        after.append([place for place in following if place <= len(body)])
    rows = [(place, after[place], uses[place]) for place in reversed(range(len(body)))]
    live = live_registers(rows, {len(body): frozenset()})
    widths = {"".join(name.partition("<")[:2]): WIDTHS.get(kind, 64) for name, kind in function.registers.items()}
    return _Shape(frozenset(leaders), tuple(live[place] for place in range(len(body) + 1)), widths)
