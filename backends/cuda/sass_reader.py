"""Reads the machine code of a CUDA memory test as a litmus test: its accesses, orders, scopes and dependencies.

The kernel ``run`` of a file of ``backends.cuda.memory`` is followed for each thread of the test, from its first
instruction on, with the ids that the layout gives that thread in one instance. So what does not depend on shared memory
is known: where the thread goes, and the addresses of its accesses, which are those of the layout. What happens in the
functions ``thread_N_K`` is the thread: accesses, fences, what is computed from what was read, and branches on it. What
the kernel stores to ``results`` are the final values of registers, and its barriers are those of the test. Nothing is
taken from the code of the test: an access that is swapped, dropped, merged or weaker makes another program.

Example, of sm_90, where R2 is known to be the address of x, and R6 that of the first final value::

    LDG.E.STRONG.GPU R7, desc[UR4][R2.64]     ld.relaxed.gpu R7, x
    CCTL.IVALL                                fence.acquire.sys
    LOP3.LUT R7, R7, 0x1, RZ, 0xc0, !PT       and R7, R7, 1
    RET.REL.NODEC R8 `(run)
    STG.E desc[UR4][R6.64], R7                mov r1, R7

What the instructions mean is said in ``backends.cuda.sass_words`` (by ptxas' own translation) and
``backends.cuda.sass_values``. The marks of accesses, which ``backends.cuda.optcheck`` needs, are zeros here.

Where an instruction depends on what was read, as a store with a guard, both ways are followed, and a place of the code
once for each state of what is known there (``corpus.kernels.specialiser`` does so with kernels).

Assumed: of an address in global memory, the upper half is right. Gaps, which are errors in one line: asynchronous
operations and mbarriers, shared memory of another CTA (generic accesses), accesses of other sizes than a word, final
values of shared memory that the code has not read itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from backends.cuda.sass import (
    BRANCHES,
    MARKS,
    RMWS,
    SassInstruction,
    compute_capability,
    sass_functions,
)
from backends.cuda.sass_values import ALL, Arithmetic, MachineValue, Relative, half
from backends.cuda.sass_words import (
    IMPLIED,
    INVALIDATION,
    MACHINE_SCOPES,
    SILENT,
    access_mode,
    acquiring,
    fence_mode,
    releasing,
)
from backends.shared.layout import Layout
from corpus.errors import InputError
from corpus.kernels.specialiser import END, Residual
from corpus.kernels.tidying import tidied
from corpus.litmus.normal import map_operands
from corpus.litmus.ptx_arithmetic import compute, signed
from corpus.litmus.test import (
    Assign,
    Barrier,
    Branch,
    Comparison,
    Fence,
    FinalRegister,
    Instruction,
    Label,
    LitmusTest,
    Load,
    Loc,
    Mode,
    Operand,
    Order,
    Reg,
    Rmw,
    Scope,
    Store,
    Thread,
    written,
)

MOST_STEPS = 100_000
"""The most machine instructions that are followed for a thread."""

_MEMORY, _RESULTS, _STACK = 0x7_1000_0000, 0x7_8000_0000, 0x00FF_0000
"""Where memory, results and the stack of the thread are taken to be."""
_PARAMETERS = ((100, 0x380), (90, 0x210), (0, 0x160))
"""Where parameters begin in bank 0, from a compute capability on."""
_SHARED = ((90, 0x400), (0, 0))
"""Where shared memory of a kernel begins, from a compute capability on."""
_STACKS = (0x28, 0x37C)
"""Where bank 0 keeps the first address of the stack, before sm_100 and from it on."""

_KERNEL = re.compile(r"_Z3run\w*|run")
_FUNCTION = re.compile(r"thread_(\d+)_(\d+)")
_NOTHING = (
    *SILENT,
    *("NOP", "BSSY", "BSYNC", "BMOV", "YIELD", "WARPSYNC", "BREAK", "NANOSLEEP", "DEPBAR", "ENDCOLLECTIVE", "BRANCH"),
)
"""Opcodes that say nothing of memory: of the convergence of warps, and of errors."""
_OF_MEMORY = re.compile(r"LD(?!C)|ST|AT|RED|SU|TEX|TLD|MEMBAR|FENCE|CCTL|SYNCS|UBLK|UTMA|ARRIVES|BAR|UCGABAR|QSPC")
"""The beginnings of opcodes that have to be understood in a thread."""
_PREDICATE = re.compile(r"!?U?P(\d+|T)")
_NOWHERE = ("RZ", "URZ", "PT", "UPT")
"""Registers that keep nothing."""
_OTHER_SIZES = frozenset(("64", "128", "U8", "S8", "U16", "S16"))
"""The parts of opcodes of accesses to more or less than a word."""
WORD = 4
"""Bytes of a word."""
_PAIR = re.compile(r"(U?R)(\d+)")
_CONSTANT = re.compile(r"c\[0x(\w+)\]\[(?:(U?R(?:\d+|Z))\+?)?(?:0x(\w+))?\]")


@dataclass
class _State:
    """A place in the code with what is known there: of registers, of predicates, and of the thread's own memory."""

    function: str
    at: int = 0
    calls: tuple[tuple[str, int], ...] = ()
    known: dict[str, MachineValue] = field(default_factory=dict)
    own: dict[int, MachineValue] = field(default_factory=dict)

    def copy(self) -> _State:
        return replace(self, known=dict(self.known), own=dict(self.own))

    @property
    def key(self) -> object:
        return (self.function, self.at, self.calls, frozenset(self.known.items()), frozenset(self.own.items()))


class _UndecidedError(Exception):
    """A predicate that the running program decides, and the register of the test that holds it."""

    def __init__(self, predicate: str, holder: str) -> None:
        super().__init__(predicate)
        self.predicate, self.holder = predicate, holder


def read_sass(text: str, layout: Layout, path: str | None = None) -> LitmusTest:
    """Return what machine code does, as a test with the locations, registers and condition of the test of the layout.

    ``text`` is what ``nvdisasm -c`` prints of the file that ``backends.cuda.memory`` wrote for the layout. Raises
    ``InputError`` where something is not understood.
    """
    functions = sass_functions(text)
    kernels = [name for name in functions if _KERNEL.fullmatch(name)]
    if len(kernels) != 1:
        raise InputError(f"expected the machine code of one kernel called run, found {len(kernels)}", path)
    capability = compute_capability(text)
    if capability is None:
        raise InputError("expected the architecture of the machine code, such as .target sm_90", path)
    threads = []
    for number, thread in enumerate(layout.test.threads):
        follower = _Follower(functions, layout, number, capability, path)
        follower.follow(kernels[0])
        threads.append(Thread(follower.code(), thread.place))
    test = layout.test
    return replace(test, threads=tuple(threads))


def _from(rows: Sequence[tuple[int, int]], capability: int) -> int:
    return next(value for least, value in rows if capability >= least)


_NONE: Mapping[str, int] = {}


class _Follower:
    """Follows one thread of the launch."""

    def __init__(
        self,
        functions: dict[str, list[SassInstruction]],
        layout: Layout,
        thread: int,
        capability: int,
        path: str | None,
    ) -> None:
        self._functions, self._layout, self._thread, self._path = functions, layout, thread, path
        self._places = {
            label: (name, at) for name, code in functions.items() for at, ins in enumerate(code) for label in ins.labels
        }
        self._parameters = _from(_PARAMETERS, capability)
        self._shared = _from(_SHARED, capability)
        self._arithmetic = Arithmetic(self._temporary)
        self._code: list[Instruction] = []
        self._membar: tuple[int, str, Scope] | None = None
        self._temporaries = 0
        self._ins: SassInstruction | None = None
        self._assumed = _NONE
        test, place = layout.test, layout.test.threads[thread].place
        self._names = frozenset(
            term.register for term in layout.terms if isinstance(term, FinalRegister) and term.thread == thread
        )
        others = (each.place for n, each in enumerate(test.threads) if n != thread)
        self._accompanied = any(place.shares(each, Scope.CTA) for each in others)
        warp, lane = divmod(layout.positions[thread], layout.lanes)
        within = warp - layout.ctas[thread] * layout.warps
        slots = layout.parameters.slots
        self._special = {
            "SR_TID.X": within * slots * layout.lanes + lane,
            "SR_CTAID.X": layout.ctas[thread] * (1 if layout.parameters.interleaved else layout.turns),
            **dict.fromkeys(("SR_TID.Y", "SR_TID.Z", "SR_CTAID.Y", "SR_CTAID.Z", "SR_CgaCtaId", "SRZ"), 0),
        }

    def code(self) -> tuple[Instruction, ...]:
        """Return what is left of the thread."""
        tidy = tidied([Residual(ins, None) for ins in self._code], self._names, rounds=True)
        return _renamed([each.instruction for each in tidy], self._names)

    # the way through the code

    def follow(self, kernel: str) -> None:
        """Follow the thread through a kernel, to its end."""
        start = _State(kernel)
        labels: dict[object, str] = {}
        waiting: list[tuple[_State, str, Mapping[str, int]]] = [(start, "L0", _NONE)]
        made = steps = 0
        while waiting:
            state, name, assumed = waiting.pop()
            self._put(Label(name))
            goes_on = True
            while goes_on:
                steps += 1
                if steps > MOST_STEPS:
                    raise self._wrong(f"more than {MOST_STEPS} instructions are followed")
                before, trial = len(self._code), state.copy()
                try:
                    goes_on = self._step(trial, assumed)
                except _UndecidedError as undecided:
                    del self._code[before:]
                    made += 1
                    self._put(Branch(f"F{made}", Comparison("ne", Reg(undecided.holder), 0)))
                    waiting.append((state.copy(), f"F{made}", {**assumed, undecided.predicate: 1}))
                    assumed = {**assumed, undecided.predicate: 0}
                    continue
                state, assumed = trial, _NONE
                if goes_on and (ins := self._at(state)) is not None and ins.labels:
                    known = state.key in labels
                    name = labels.setdefault(state.key, f"L{len(labels) + 1}")
                    self._put(Branch(name) if known else Label(name))
                    goes_on = not known
                elif not goes_on:
                    self._put(Branch(END))
        self._put(Label(END))
        missing = self._names - {name for ins in self._code for name in written(ins)}
        if missing:
            raise InputError(f"P{self._thread}:{min(missing)} is no final value of the machine code", self._path)

    def _at(self, state: _State) -> SassInstruction | None:
        code = self._functions[state.function]
        return code[state.at] if state.at < len(code) else None

    def _step(self, state: _State, assumed: Mapping[str, int]) -> bool:
        """Do one instruction; return whether the thread goes on. Raises ``_UndecidedError`` where that depends on a
        predicate of the running program that nothing is assumed of.
        """
        ins = self._ins = self._at(state)
        if ins is None:
            raise self._wrong("the code ends without an EXIT")
        self._assumed = assumed
        state.at += 1
        opcode = ins.parts[0]
        if ins.guard is not None and self._decided(state, ins.guard) == ins.unless:
            return True
        if opcode == "EXIT" or (opcode == "RET" and not state.calls):
            return False
        if opcode == "RET":
            state.function, state.at = state.calls[-1]
            state.calls = state.calls[:-1]
        elif opcode == "CALL":
            self._call(state, ins)
        elif opcode in BRANCHES:
            self._branch(state, ins)
        elif opcode not in _NOTHING:
            self._does(state, ins)
        return True

    def _call(self, state: _State, ins: SassInstruction) -> None:
        found = _FUNCTION.search(" ".join(ins.operands))
        if found is None or found[0] not in self._functions:
            raise self._wrong("expected a call of the code of a thread")
        if int(found[1]) != self._thread:
            raise self._wrong(f"P{self._thread} of the test is thread {found[1]} in the machine code")
        state.calls = (*state.calls, (state.function, state.at))
        state.function, state.at = found[0], 0

    def _branch(self, state: _State, ins: SassInstruction) -> None:
        target = re.search(r"\.\w+", ins.operands[-1]) if ins.operands else None
        if ins.parts[0] != "BRA" or target is None or target[0] not in self._places:
            raise self._wrong("this jump is not understood")
        asked = all(self._decided(state, each) for each in ins.operands[:-1] if _PREDICATE.fullmatch(each))
        if asked and "DIV" not in ins.parts:
            state.function, state.at = self._places[target[0]]

    def _does(self, state: _State, ins: SassInstruction) -> None:
        opcode = ins.parts[0]
        if opcode == "STL":
            state.own[self._own(state, ins)] = self._kept(
                f"own{self._own(state, ins)}", self._value(state, ins.operands[-1])
            )
        elif opcode == "LDL":
            self._define(state, ins.operands[0], state.own.get(self._own(state, ins)))
        elif not state.calls and opcode == "BAR":
            self._meet(state, ins)
        elif not state.calls and _OF_MEMORY.match(opcode):
            self._outside(state, ins)
        elif opcode == "MEMBAR":
            self._fence(ins)
        elif ins.parts[:2] == ("CCTL", "IVALL"):
            self._invalidate()
        elif ins.access is not None:
            self._access(state, ins, *ins.access)
        elif _OF_MEMORY.match(opcode):
            raise self._wrong("is not understood")
        else:
            self._compute(state, ins)

    # what the test does

    def _put(self, ins: Instruction) -> None:
        self._code.append(ins)

    def _last(self) -> int:
        """Return the place of the last thing that the thread does to memory, with no branch since; -1 if none."""
        for place in range(len(self._code) - 1, -1, -1):
            if not isinstance(self._code[place], Assign):
                return -1 if isinstance(self._code[place], Branch | Label) else place
        return -1

    def _fence(self, ins: SassInstruction) -> None:
        strength, scope = ins.parts[1] if len(ins.parts) == 3 else "", MACHINE_SCOPES.get(ins.parts[-1])
        if strength not in ("SC", "ALL") or scope is None:
            raise self._wrong("is not understood")
        self._put(Fence(fence_mode(strength, scope, False)))
        self._membar = (len(self._code) - 1, strength, scope)

    def _invalidate(self) -> None:
        """A ``CCTL.IVALL``: it belongs to the ``MEMBAR`` or the update before it, if nothing is in between."""
        if (last := self._last()) >= 0 and self._code[last] == Fence(IMPLIED):
            del self._code[last]
        last = self._last()
        if self._membar is not None and self._membar[0] == last:
            self._code[last] = Fence(fence_mode(*self._membar[1:], True))
            self._membar = None
            return
        if last >= 0 and isinstance(update := self._code[last], Rmw):
            self._code[last] = replace(update, mode=acquiring(update.mode))
        self._put(Fence(INVALIDATION))

    def _access(self, state: _State, ins: SassInstruction, kind: str, space: str) -> None:
        mode = access_mode(space, ins.parts)
        if space == "generic" and kind == "rmw" and ins.parts[0] == "RED":
            space = "global"
        if space == "generic":
            raise self._wrong("generic accesses, to shared memory of another CTA, are not understood")
        if mode is None or not _OTHER_SIZES.isdisjoint(ins.parts):
            raise self._wrong("is not understood")
        where = next((each for each in ins.operands if "[" in each and not each.startswith("c[")), None)
        if where is None:
            raise self._wrong("expected an address")
        place = ins.operands.index(where)
        address = self._location(state, where, space)
        given = [self._needed(self._value(state, each)) for each in ins.operands[place + 1 :] if each != "PT"]
        target = ins.operands[place - 1] if place and not _PREDICATE.fullmatch(ins.operands[place - 1]) else "RZ"
        name = target.removesuffix(".reuse")
        register: str | None
        match kind:
            case "load":
                register = self._new() if name == "RZ" else name
                self._put(Load(register, address, mode))
            case "store":
                (value,) = given
                self._put(Store(address, value, mode))
                return
            case _:
                register = None if ins.parts[0].startswith("RED") or name == "RZ" else name
                if self._membar is not None and self._membar[0] == self._last():
                    mode = releasing(mode, space, self._membar[2])
                self._put(self._update(ins, register, address, given, mode))
        if register is not None and name != "RZ":
            state.known[name] = Relative(name)
        if mode.order is not Order.WEAK and self._accompanied:
            self._put(Fence(IMPLIED))

    def _update(
        self, ins: SassInstruction, register: str | None, address: Operand, given: Sequence[Operand], mode: Mode
    ) -> Rmw:
        operation = next((RMWS[part] for part in ins.parts if part in RMWS), None)
        counts = ins.parts[1:3] == ("POPC", "INC")
        unsigned = operation in ("min", "max") and "S32" not in ins.parts
        if operation is None or unsigned or (not counts and {"INC", "DEC"}.intersection(ins.parts)):
            raise self._wrong("is not understood")
        if len(given) != (0 if counts else 2 if operation == "cas" else 1):
            raise self._wrong("expected other operands")
        return Rmw(operation, register, address, (1,) if counts else tuple(given), mode)

    def _meet(self, state: _State, ins: SassInstruction) -> None:
        """A barrier of the kernel: 0 is none of the test."""
        number, count = ([self._value(state, each) for each in ins.operands] + [None, None])[:2]
        if number == 0:
            return
        if not isinstance(number, int) or not isinstance(count, int):
            raise self._wrong("a barrier of whom is not understood")
        if ins.operands[0] == ins.operands[1]:
            number, count = number & 0xF, count >> 16
        self._put(Barrier(number, arrive="ARV" in ins.parts, quorum=count // self._layout.parameters.slots))

    def _outside(self, state: _State, ins: SassInstruction) -> None:
        """What the kernel does to memory besides the test: of that, results matter."""
        if ins.access is None:
            return
        kind, _ = ins.access
        if kind != "store":
            self._unknown(state, ins)
            return
        address = self._address(state, ins.operands[0], "global")
        if not isinstance(address, int):
            raise self._wrong("what the kernel stores where is not understood")
        number, rest = divmod((address - _RESULTS) & ALL, WORD * self._layout.instances)
        term = self._layout.terms[number] if number < len(self._layout.terms) else None
        if rest % WORD == 0 and isinstance(term, FinalRegister) and ins.parts[0] != "STS":
            if term.thread != self._thread or not _OTHER_SIZES.isdisjoint(ins.parts):
                raise self._wrong("final values of registers are not understood")
            self._put(Assign(term.register, "mov", (self._needed(self._value(state, ins.operands[-1])),)))

    # addresses

    def _address(self, state: _State, text: str, space: str) -> MachineValue:
        """Return the low half of an address."""
        parts = re.findall(r"(-?)(U?R(?:\d+|Z)|0x[0-9a-f]+)((?:\.\w+)*)", text[text.rindex("[") :])
        values: list[MachineValue] = []
        for sign, name, suffix in parts:
            value = self._value(state, sign + name)
            scale = re.search(r"\.X(\d+)", suffix)
            values.append(self._arithmetic.product(value, int(scale[1])) if scale else value)
        return self._arithmetic.total(values)

    def _location(self, state: _State, text: str, space: str) -> Operand:
        """Return the location at an address, or a register that holds its address."""
        address = self._address(state, text, space)
        if address is None:
            raise self._wrong("its address is not understood")
        number = address if isinstance(address, int) else address.offset
        layout = self._layout
        if space == "global":
            base, names, stride, words = _MEMORY, layout.globals, layout.stride, layout.counters
        else:
            base, names, stride, words = self._shared, layout.shareds, layout.shared_stride, layout.shared_words
        word, rest = divmod((number - base) & ALL, WORD)
        if rest or not names or word >= words or word % stride:
            raise self._wrong(f"its address is that of no location in {space} memory")
        location = Loc(names[word // stride % len(names)].name)
        if isinstance(address, int):
            return location
        return Reg(self._temporary("add", location, Reg(address.register)).register)

    def _own(self, state: _State, ins: SassInstruction) -> int:
        """Return the address of an access to memory of the thread alone."""
        where = next(each for each in ins.operands if "[" in each)
        address = self._address(state, where, "local")
        if not isinstance(address, int) or not _OTHER_SIZES.isdisjoint(ins.parts):
            raise self._wrong("is not understood")
        return address

    # values

    def _new(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def _temporary(self, operation: str, *operands: Operand) -> Relative:
        name = self._new()
        self._put(Assign(name, operation, operands))
        return Relative(name)

    def _needed(self, value: MachineValue) -> Operand:
        """Return a value as an operand. Raises ``InputError`` where nothing is known of it."""
        if value is None:
            raise self._wrong("its value is not understood")
        return self._arithmetic.operand(value)

    def _kept(self, home: str, value: MachineValue) -> MachineValue:
        """Return a value as its home has it."""
        if isinstance(value, Relative) and value.register != home:
            self._put(Assign(home, "mov", (Reg(value.register),)))
            return Relative(home, value.offset)
        return value

    def _define(self, state: _State, target: str, value: MachineValue) -> None:
        if target not in _NOWHERE:
            state.known[target] = self._kept(target, value)

    def _decided(self, state: _State, text: str) -> bool:
        """Return a predicate that has to be known. Raises ``_UndecidedError``."""
        name = text.lstrip("!")
        value = self._predicate(state, name)
        if isinstance(value, Relative):
            if name not in self._assumed:
                raise _UndecidedError(name, value.register)
            value = self._assumed[name]
        if value is None:
            raise self._wrong(f"{name} is not understood")
        return bool(value) != text.startswith("!")

    def _predicate(self, state: _State, text: str) -> MachineValue:
        name = text.lstrip("!")
        value: MachineValue = 1 if name in ("PT", "UPT") else state.known.get(name)
        return self._arithmetic.opposite(value) if text.startswith("!") else value

    def _value(self, state: _State, text: str) -> MachineValue:
        """Return the value of an operand, of 32 bits."""
        text = text.removesuffix(".reuse")
        if text.startswith("-") and not text.startswith("-0x"):
            return self._arithmetic.negative(self._value(state, text[1:]))
        if text.startswith("~"):
            return self._arithmetic.binary("xor", self._value(state, text[1:]), ALL)
        if text in ("RZ", "URZ"):
            return 0
        if re.fullmatch(r"-?0x[0-9a-f]+", text):
            return int(text, 16) & ALL
        if (constant := _CONSTANT.fullmatch(text)) is not None:
            bank, register, offset = constant.groups()
            index = 0 if register is None else self._value(state, register)
            return self._constant(int(bank, 16), index + int(offset or "0", 16)) if isinstance(index, int) else None
        return state.known.get(text)

    def _constant(self, bank: int, offset: int) -> MachineValue:
        """Return a word of constant memory."""
        if bank == MARKS:
            return 0
        if bank != 0:
            return None
        if offset in _STACKS:
            return _STACK
        given = (_MEMORY & ALL, _MEMORY >> 32, _RESULTS & ALL, _RESULTS >> 32, 0)
        number, rest = divmod(offset - self._parameters, WORD)
        return given[number] if rest == 0 and 0 <= number < len(given) else None

    def _pair(self, state: _State, text: str) -> tuple[MachineValue, MachineValue]:
        """Return both halves of an operand of 64 bits."""
        low = self._value(state, text)
        if (found := _PAIR.fullmatch(text.removesuffix(".reuse"))) is not None:
            return low, state.known.get(f"{found[1]}{int(found[2]) + 1}")
        if text.startswith("c["):
            constant = _CONSTANT.fullmatch(text)
            if constant is None or constant[2] is not None:
                return low, None
            return low, self._constant(int(constant[1], 16), int(constant[3] or "0", 16) + WORD)
        return low, 0

    def _unknown(self, state: _State, ins: SassInstruction) -> None:
        """Nothing is known any more of what an instruction writes."""
        count = 4 if "128" in ins.parts else 2 if {"64", "WIDE"}.intersection(ins.parts) else 1
        for place, target in enumerate(ins.operands[:2]):
            if _PREDICATE.fullmatch(target):
                state.known.pop(target, None)
            elif (found := _PAIR.fullmatch(target)) is not None and not place:
                for step in range(count):
                    state.known.pop(f"{found[1]}{int(found[2]) + step}", None)
            elif found is not None and _PREDICATE.fullmatch(ins.operands[0]):
                state.known.pop(target, None)

    def _compute(self, state: _State, ins: SassInstruction) -> None:
        """What computes: the results of the table ``_COMPUTED`` go to the registers that the instruction names."""
        name = ins.parts[0].removeprefix("U") if ins.parts[0] not in ("U2F",) else ins.parts[0]
        meaning = _COMPUTED.get(name)
        if meaning is None:
            self._unknown(state, ins)
            return
        try:
            results = meaning(self, state, ins)
        except (ValueError, IndexError):  # operands are too few, too many or of another kind
            results = None
        if results is None:
            self._unknown(state, ins)
            return
        for target, value in results:
            self._define(state, target, value)

    def _split(self, ins: SassInstruction) -> tuple[str, list[str], list[str], list[str]]:
        """Return the register that is written, predicates written besides, sources, and predicates at the end."""
        given = list(ins.operands)
        told: list[str] = []
        if _PREDICATE.fullmatch(given[0]):
            told.append(given.pop(0))
        target = given.pop(0)
        while given and _PREDICATE.fullmatch(given[0]):
            told.append(given.pop(0))
        asked: list[str] = []
        while given and _PREDICATE.fullmatch(given[-1]):
            asked.insert(0, given.pop())
        return target, told, given, asked

    def move(self, state: _State, ins: SassInstruction) -> _Results:
        """``MOV``, ``R2UR``."""
        return [(ins.operands[0], self._value(state, ins.operands[1]))]

    def special(self, state: _State, ins: SassInstruction) -> _Results:
        """``S2R``, ``CS2R``: special registers."""
        target, name = ins.operands
        value = self._special.get(name)
        pair = ins.parts[0] == "CS2R" and "32" not in ins.parts
        return [(target, value), *([(_next(target), 0 if value == 0 else None)] if pair else [])]

    def constant(self, state: _State, ins: SassInstruction) -> _Results:
        """``LDC``: words of constant memory."""
        target, where = ins.operands
        words = 4 if "128" in ins.parts else 2 if "64" in ins.parts else 1
        found = _CONSTANT.fullmatch(where)
        if found is None or {"U8", "S8", "U16", "S16"}.intersection(ins.parts):
            return [(_next(target, step), None) for step in range(words)]
        index = 0 if found[2] is None else self._value(state, found[2])
        if not isinstance(index, int):
            return [(_next(target, step), None) for step in range(words)]
        first = (index + int(found[3] or "0", 16)) & ALL
        return [(_next(target, step), self._constant(int(found[1], 16), first + WORD * step)) for step in range(words)]

    def add(self, state: _State, ins: SassInstruction) -> _Results:
        """``IADD3``, ``VIADD``, with carries of sums that are known."""
        target, told, sources, asked = self._split(ins)
        if "64" in ins.parts:
            return None
        values = [self._value(state, each) for each in sources]
        if "X" in ins.parts:
            values += [self._predicate(state, each) for each in asked]
        numbers = [value & ALL for value in values if isinstance(value, int)]
        carry = sum(numbers) >> 32 if len(numbers) == len(values) else None
        carries = [carry if carry is None else int(carry > place) for place in range(len(told))]
        return [(target, self._arithmetic.total(values)), *zip(told, carries, strict=True)]

    def multiply(self, state: _State, ins: SassInstruction) -> _Results:
        """``IMAD``: a product and a sum, of 32 or 64 bits."""
        target, told, (one, other, more), asked = self._split_of_three(ins)
        left, right = self._value(state, one), self._value(state, other)
        carries: list[tuple[str, MachineValue]] = [(each, None) for each in told]
        if "HI" in ins.parts:
            return None
        if "WIDE" in ins.parts:
            low, high = self._pair(state, more)
            if all(isinstance(each, int) for each in (left, right, low, high)):
                assert isinstance(left, int) and isinstance(right, int)
                assert isinstance(low, int) and isinstance(high, int)
                pair = (left & ALL, right & ALL)
                factors = pair if "U32" in ins.parts else (signed(pair[0], 32), signed(pair[1], 32))
                total = factors[0] * factors[1] + (high << 32) + low
                return [(target, total & ALL), (_next(target), total >> 32 & ALL), *carries]
            product = self._arithmetic.product(left, right)
            return [(target, self._arithmetic.total([product, low])), (_next(target), None), *carries]
        values = [self._arithmetic.product(left, right), self._value(state, more)]
        if "X" in ins.parts:
            values += [self._predicate(state, each) for each in asked]
        return [(target, self._arithmetic.total(values)), *carries]

    def _split_of_three(self, ins: SassInstruction) -> tuple[str, list[str], tuple[str, str, str], list[str]]:
        target, told, sources, asked = self._split(ins)
        one, other, more = sources
        return target, told, (one, other, more), asked

    def logic(self, state: _State, ins: SassInstruction) -> _Results:
        """``LOP3.LUT``, and whether the result is not 0."""
        target, told, sources, _ = self._split(ins)
        values = [self._value(state, each) for each in sources[:3]]
        result = self._arithmetic.logic(int(sources[3], 16), values)
        return [(target, result), *((each, self._arithmetic.compared(("NE",), result, 0)) for each in told)]

    def predicates(self, state: _State, ins: SassInstruction) -> _Results:
        """``PLOP3.LUT``: of three predicates."""
        first, second, *sources = ins.operands
        values = [self._predicate(state, each) for each in sources[:3]]
        results = []
        for target, table in ((first, sources[3]), (second, sources[4])):
            found = self._arithmetic.logic(int(table, 16), values) if target not in _NOWHERE else None
            results.append((target, self._arithmetic.binary("and", found, 1)))
        return results

    def shift(self, state: _State, ins: SassInstruction) -> _Results:
        """``SHF``: a shift of 64 bits, of which it gives one half."""
        target, low, count, high = ins.operands
        values = [self._value(state, each) for each in (low, count, high)]
        kind = "s32" if "S32" in ins.parts else "u32"
        if "L" in ins.parts and "HI" not in ins.parts:
            return [(target, self._arithmetic.binary("shl.b32", values[0], values[1]))]
        if "R" in ins.parts and "HI" in ins.parts:
            return [(target, self._arithmetic.binary(f"shr.{kind}", values[2], values[1]))]
        if not all(isinstance(value, int) for value in values):
            return None
        lower, by, upper = (value & ALL for value in values if isinstance(value, int))
        whole = (upper << 32) | lower
        return [(target, ((whole << by) >> 32 if "L" in ins.parts else whole >> by) & ALL)]

    def scaled(self, state: _State, ins: SassInstruction) -> _Results:
        """``LEA``: a sum with a number that is shifted."""
        target, told, sources, _ = self._split(ins)
        if "HI" in ins.parts or "X" in ins.parts:
            return None
        value, more, count = (self._value(state, each) for each in sources)
        moved = value if count == 0 else self._arithmetic.binary("shl.b32", value, count)
        return [(target, self._arithmetic.total([moved, more])), *((each, None) for each in told)]

    def bytes_of(self, state: _State, ins: SassInstruction) -> _Results:
        """``PRMT``: bytes of two numbers."""
        target, one, chosen, other = ins.operands
        values = [self._value(state, each) for each in (one, other, chosen)]
        if not all(isinstance(value, int) for value in values):
            return None
        return [(target, compute("prmt", ("b32",), [value & ALL for value in values if isinstance(value, int)]))]

    def mask(self, state: _State, ins: SassInstruction) -> _Results:
        """``BMSK``: so many ones from a place on."""
        target, start, count = ins.operands
        first, number = self._value(state, start), self._value(state, count)
        if not isinstance(first, int) or not isinstance(number, int):
            return None
        return [(target, ((1 << min(number, 32)) - 1 << first) & ALL if first < 32 else 0)]

    def compare(self, state: _State, ins: SassInstruction) -> _Results:
        """``ISETP``: a comparison, and with a predicate one more."""
        first, second, one, other, *asked = ins.operands
        if "EX" in ins.parts:
            return None
        operation = next(part for part in ins.parts if part in ("AND", "OR", "XOR"))
        result = self._arithmetic.compared(ins.parts[1:], self._value(state, one), self._value(state, other))
        more = self._predicate(state, asked[0])
        found = [(first, self._arithmetic.both(operation, result, more))]
        if second not in _NOWHERE:
            found.append((second, self._arithmetic.both(operation, self._arithmetic.opposite(result), more)))
        return found

    def select(self, state: _State, ins: SassInstruction) -> _Results:
        """``SEL``: one of two values. Of addresses both ways are followed; of numbers it is computed."""
        target, one, other, predicate = ins.operands
        values = self._value(state, one), self._value(state, other)
        asked = self._predicate(state, predicate)
        if isinstance(asked, int):
            return [(target, values[0] if asked else values[1])]
        if not isinstance(asked, Relative) or None in values:
            return None
        if values in ((1, 0), (0, 1)):
            return [(target, asked if values[0] else self._arithmetic.opposite(asked))]
        return [(target, values[0] if self._decided(state, predicate) else values[1])]

    def extreme(self, state: _State, ins: SassInstruction) -> _Results:
        """``IMNMX``: the smaller of two numbers, or with a false predicate the larger."""
        target, one, other, predicate = ins.operands
        least = self._predicate(state, predicate)
        if not isinstance(least, int):
            return None
        name = ("min" if least else "max") + (".u32" if "U32" in ins.parts else "")
        return [(target, self._arithmetic.binary(name, self._value(state, one), self._value(state, other)))]

    def halves(self, state: _State, ins: SassInstruction) -> _Results:
        """``HFMA2`` of zeros, by which ptxas loads a constant: two numbers of 16 bits."""
        target, one, other, *more = ins.operands
        bits = [half(each) for each in more]
        if one.lstrip("-") != "RZ" or other != "RZ" or len(bits) != 2:
            return None
        high, low = bits
        return None if high is None or low is None else [(target, (high << 16) | low)]

    def _wrong(self, why: str) -> InputError:
        ins = self._ins
        if ins is None:
            return InputError(why, self._path)
        return InputError(f"P{self._thread}: {ins}: {why}", self._path, ins.line)


_Results = list[tuple[str, MachineValue]] | None
"""What goes to which register; None where nothing is known of the result."""

_COMPUTED: Mapping[str, Callable[[_Follower, _State, SassInstruction], _Results]] = {
    **dict.fromkeys(("MOV", "R2UR"), _Follower.move),
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _Follower.special),
    **dict.fromkeys(("LDC", "LDCU"), _Follower.constant),
    **dict.fromkeys(("IADD3", "VIADD", "IADD"), _Follower.add),
    "IMAD": _Follower.multiply,
    "LOP3": _Follower.logic,
    "PLOP3": _Follower.predicates,
    "SHF": _Follower.shift,
    "LEA": _Follower.scaled,
    "PRMT": _Follower.bytes_of,
    "BMSK": _Follower.mask,
    "ISETP": _Follower.compare,
    "SEL": _Follower.select,
    **dict.fromkeys(("IMNMX", "VIMNMX"), _Follower.extreme),
    "HFMA2": _Follower.halves,
}
"""The opcodes that are understood, without the ``U`` of those of uniform registers."""


def _next(register: str, step: int = 1) -> str:
    """Return the register so many after one; the rest of RZ is RZ."""
    found = _PAIR.fullmatch(register)
    return register if found is None else f"{found[1]}{int(found[2]) + step}"


def _renamed(code: Sequence[Instruction], final: Collection[str]) -> tuple[Instruction, ...]:
    """Return code in which a register that is read once and only moved, as at the end, has the name it is moved to.

    Only code without branches is changed, where every value has one place.
    """
    if any(isinstance(each, Branch | Label) for each in code):
        return tuple(code)
    names: dict[str, str] = {}
    made: list[Instruction] = []
    count = 0
    for ins in code:
        new = map_operands(ins, lambda each: Reg(names.get(each.name, each.name)) if isinstance(each, Reg) else each)
        match new:
            case Assign(target, "mov", (Reg(source),)) if target not in final:
                names[target] = source
                continue
        for target in written(new):
            if target not in final:
                names[target] = f"s{count}"
                count += 1
                new = _with_target(new, names[target])
        made.append(new)
    return _given_back(made)


def _with_target(ins: Instruction, target: str) -> Instruction:
    assert isinstance(ins, Load | Assign | Rmw)
    return replace(ins, target=target)


def _given_back(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return code of single assignments where the first final register that a value is moved to has it at once."""
    moved: dict[str, str] = {}
    for ins in code:
        match ins:
            case Assign(target, "mov", (Reg(source),)):
                moved.setdefault(source, target)
    found: list[Instruction] = []
    for ins in code:
        match ins:
            case Assign(target, "mov", (Reg(source),)) if moved[source] == target:
                continue
        new = map_operands(ins, lambda each: Reg(moved.get(each.name, each.name)) if isinstance(each, Reg) else each)
        for target in written(new):
            if target in moved:
                new = _with_target(new, moved[target])
        found.append(new)
    return tuple(found)
