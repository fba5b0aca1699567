"""Reads the machine code of a CUDA memory test as a litmus test: its accesses, orders, scopes and dependencies.

The kernel ``run`` of a file of ``backends.cuda.memory`` is followed for each thread of the test, from its first
instruction on, with the ids that the launch gives that thread in one instance. So what does not depend on shared memory
is known: where the thread goes, and the addresses of its accesses, which are those of the launch. What happens in the
functions ``thread_N_K`` is the thread: accesses, fences, what is computed from what was read, and branches on it. What
the kernel stores to ``results`` are the final values of registers, and its barriers are those of the test. Nothing is
taken from the code of the test: an access that is swapped, dropped, merged or weaker makes another program.

Example, of sm_90, where R2 is known to be the address of x, and R6 that of the first final value::

    LDG.E.STRONG.GPU R7, desc[UR4][R2.64]     ld.relaxed.gpu R7, x
    CCTL.IVALL                                fence.acquire.sys
    LOP3.LUT R7, R7, 0x1, RZ, 0xc0, !PT       and R7, R7, 1
    RET.REL.NODEC R8 `(run)
    STG.E desc[UR4][R6.64], R7                mov r1, R7

What the instructions mean is said in ``corpus.code.sass.words`` (by ptxas' own translation) and
``corpus.code.sass.values``. The marks of accesses, which ``backends.cuda.optcheck`` needs, are zeros here.

Where an instruction depends on what was read, as a store with a guard, both ways are followed, and a labelled place of
the code once for each state of what is known there (``corpus.code.follower`` does so with kernels).

Assumed: of an address in global memory, the upper half is right; a lane votes alone. Gaps, which are errors in one
line: asynchronous operations and mbarriers, shared memory of another CTA (generic accesses), accesses of other sizes
than a word, final values of shared memory that the code has not read itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from corpus.code.follower import END, Residual
from corpus.code.passes.tidying import tidied
from corpus.code.sass.computing import sass_row, targets, wrong_operands
from corpus.code.sass.launch import CompiledLaunch
from corpus.code.sass.operands import (
    MEMORY,
    NOWHERE,
    PREDICATE,
    RESULTS,
    WORD,
    SassOperands,
    SassState,
    UndecidedError,
    by_capability,
)
from corpus.code.sass.text import BRANCHES, RMWS, SassInstruction, compute_capability, sass_functions
from corpus.code.sass.values import ALL, Arithmetic, MachineValue, Relative
from corpus.code.sass.words import (
    IMPLIED,
    INVALIDATION,
    MACHINE_SCOPES,
    SILENT,
    access_mode,
    acquiring,
    fence_mode,
    releasing,
)
from corpus.errors import InputError
from corpus.litmus.instructions import (
    Assign,
    Barrier,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

MOST_STEPS = 100_000
"""The most machine instructions that are followed for a thread."""

_SHARED = ((90, 0x400), (0, 0))
"""Where shared memory of a kernel begins, from a compute capability on."""
_FINAL = "="
"""The beginning of registers of the test while the code is followed: it sets them apart from those of the machine."""
_KERNEL = re.compile(r"_Z3run\w*|run")
_FUNCTION = re.compile(r"thread_(\d+)_(\d+)")
_NOTHING = (
    *SILENT,
    *("NOP", "BSSY", "BSYNC", "YIELD", "WARPSYNC", "BREAK", "NANOSLEEP", "DEPBAR", "ENDCOLLECTIVE"),
)
"""Opcodes that say nothing of memory: of the convergence of warps, and of errors."""
_WORDS = {
    **dict.fromkeys(_NOTHING, frozenset(("RECONVERGENT", "RELIABLE", "ALL", "COLLECTIVE", "EXCLUSIVE", "LE"))),
    "EXIT": frozenset[str](),
    "RET": frozenset(("REL", "ABS", "NODEC")),
    "CALL": frozenset(("REL", "ABS", "NOINC")),
}
"""The modifiers of these, and of what ends code and calls it, as ptxas writes them."""
_OF_MEMORY = re.compile(r"LD(?!C)|ST|AT|RED|SU|TEX|TLD|MEMBAR|FENCE|CCTL|SYNCS|UBLK|UTMA|ARRIVES|BAR|UCGABAR|QSPC")
"""The beginnings of opcodes that have to be understood in a thread."""
_OTHER_SIZES = frozenset(("64", "128", "U8", "S8", "U16", "S16"))
"""The parts of opcodes of accesses to more or less than a word."""
_ACCESS_PARTS = frozenset(("E", "EF", "LU", "STRONG", "32", *MACHINE_SCOPES, *_OTHER_SIZES))
_UPDATE_PARTS = frozenset(("E", "STRONG", "32", "S32", "INC", *RMWS, *MACHINE_SCOPES))
"""The parts that opcodes of accesses, and of updates, may have."""
_ACCESS_FORMS = {"load": "R a", "store": "a R", "rmw": "PT? R a R? R? / a R"}


def read_sass(text: str, launch: CompiledLaunch, path: str | None = None) -> LitmusTest:
    """Return what machine code does, as a test with the locations, registers and condition of the test of the launch.

    ``text`` is what ``nvdisasm -c`` prints of the file that ``backends.cuda.memory`` wrote for the launch. Raises
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
    for number, thread in enumerate(launch.test.threads):
        follower = _Follower(functions, launch, number, capability, path)
        follower.follow(kernels[0])
        threads.append(Thread(follower.code(), thread.place))
    test = launch.test
    return replace(test, threads=tuple(threads))


class _Follower:
    """Follows one thread of the launch."""

    def __init__(
        self,
        functions: dict[str, list[SassInstruction]],
        launch: CompiledLaunch,
        thread: int,
        capability: int,
        path: str | None,
    ) -> None:
        self._functions, self._launch, self._thread, self._path = functions, launch, thread, path
        self._places = {
            label: (name, at) for name, code in functions.items() for at, ins in enumerate(code) for label in ins.labels
        }
        self._shared = by_capability(_SHARED, capability)
        self._code: list[Instruction] = []
        self._membar: tuple[int, str, Scope] | None = None
        self._temporaries = 0
        self._ins: SassInstruction | None = None
        test, place = launch.test, launch.test.threads[thread].place
        self._finals = frozenset(
            _FINAL + term.register for term in launch.terms if isinstance(term, FinalRegister) and term.thread == thread
        )
        others = (each.place for n, each in enumerate(test.threads) if n != thread)
        self._accompanied = any(place.shares(each, Scope.CTA) for each in others)
        special = {
            **dict(zip(("SR_TID.X", "SR_CTAID.X"), launch.ids[thread], strict=True)),
            **dict.fromkeys(("SR_TID.Y", "SR_TID.Z", "SR_CTAID.Y", "SR_CTAID.Z", "SR_CgaCtaId", "SRZ"), 0),
        }
        self._operands = SassOperands(Arithmetic(self._temporary), capability, special)

    def code(self) -> tuple[Instruction, ...]:
        """Return what is left of the thread."""
        tidy = tidied([Residual(ins, None) for ins in self._code], self._finals, rounds=True)
        return _named(_renamed([each.instruction for each in tidy], self._finals))

    # the way through the code

    def follow(self, kernel: str) -> None:
        """Follow the thread through a kernel, to its end."""
        start = SassState(kernel)
        labels: dict[object, str] = {}
        waiting = [(start, "L0")]
        made = steps = 0
        while waiting:
            state, name = waiting.pop()
            self._put(Label(name))
            goes_on = True
            while goes_on:
                steps += 1
                if steps > MOST_STEPS:
                    raise self._wrong(f"more than {MOST_STEPS} instructions are followed")
                before, trial = len(self._code), state.copy()
                try:
                    goes_on = self._step(trial)
                except UndecidedError as undecided:  # both ways are followed, and the predicate is known on each
                    del self._code[before:]
                    made += 1
                    self._put(Branch(f"F{made}", Comparison("ne", Reg(undecided.holder), 0)))
                    other = state.copy()
                    other.known[undecided.predicate], state.known[undecided.predicate] = 1, 0
                    waiting.append((other, f"F{made}"))
                    continue
                state = trial
                if goes_on and (ins := self._at(state)) is not None and ins.labels:
                    known = state.key in labels
                    name = labels.setdefault(state.key, f"L{len(labels) + 1}")
                    self._put(Branch(name) if known else Label(name))
                    goes_on = not known
                elif not goes_on:
                    self._put(Branch(END))
        self._put(Label(END))
        missing = self._finals - {name for ins in self._code for name in registers_written(ins)}
        if missing:
            raise InputError(f"P{self._thread}:{min(missing)[1:]} is no final value of the machine code", self._path)

    def _at(self, state: SassState) -> SassInstruction | None:
        code = self._functions[state.function]
        return code[state.at] if state.at < len(code) else None

    def _step(self, state: SassState) -> bool:
        """Do one instruction; return whether the thread goes on. Raises ``UndecidedError`` where the running program
        decides what it does.
        """
        ins = self._ins = self._at(state)
        if ins is None:
            raise self._wrong("the code ends without an EXIT")
        state.at += 1
        opcode = ins.parts[0]
        if ins.guard is not None and self._decided(state, ins.guard) == ins.unless:
            return True
        if unknown := {*ins.parts[1:]} - _WORDS.get(opcode, {*ins.parts}):
            raise self._wrong(f"its modifier {min(unknown)} is not known")
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

    def _call(self, state: SassState, ins: SassInstruction) -> None:
        found = _FUNCTION.search(" ".join(ins.operands))
        if found is None or found[0] not in self._functions:
            raise self._wrong("expected a call of the code of a thread")
        if int(found[1]) != self._thread:
            raise self._wrong(f"P{self._thread} of the test is thread {found[1]} in the machine code")
        state.calls = (*state.calls, (state.function, state.at))
        state.function, state.at = found[0], 0

    def _branch(self, state: SassState, ins: SassInstruction) -> None:
        target = re.search(r"\.\w+", ins.operands[-1]) if ins.operands else None
        if ins.parts[0] != "BRA" or target is None or target[0] not in self._places:
            raise self._wrong("this jump is not understood")
        # The lanes of a warp are together: BRA.CONV jumps, BRA.DIV does not.
        if not {*ins.parts[1:]} <= {"U", "DIV", "CONV"} or len(ins.operands) > 2:
            raise self._wrong("this jump is not understood")
        asked = all(self._decided(state, each) for each in ins.operands[:-1] if PREDICATE.fullmatch(each))
        if asked and "DIV" not in ins.parts:
            state.function, state.at = self._places[target[0]]

    def _does(self, state: SassState, ins: SassInstruction) -> None:
        opcode = ins.parts[0]
        if opcode in ("STL", "LDL") and (wrong := wrong_operands(ins, "a R" if opcode == "STL" else "R a")):
            raise self._wrong(wrong)
        if opcode == "STL":
            address = self._own(state, ins)
            state.own[address] = self._kept(f"own{address}", self._operands.value(state, ins.operands[-1]))
        elif opcode == "LDL":
            state.known[ins.operands[0]] = self._kept(ins.operands[0], state.own.get(self._own(state, ins)))
        elif not state.calls and opcode == "BAR":
            self._meet(state, ins)
        elif not state.calls and _OF_MEMORY.match(opcode):
            self._outside(state, ins)
        elif opcode == "MEMBAR":
            self._fence(ins)
        elif ins.parts == ("CCTL", "IVALL") and not ins.operands:
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

    def _access(self, state: SassState, ins: SassInstruction, kind: str, space: str) -> None:
        known = _UPDATE_PARTS if kind == "rmw" else _ACCESS_PARTS | {"U"} if space == "shared" else _ACCESS_PARTS
        if strange := sorted(set(ins.parts[1:]) - known):
            raise self._wrong(f"its modifier {strange[0]} is not known")
        if wrong := wrong_operands(ins, _ACCESS_FORMS[kind]):
            raise self._wrong(wrong)
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
        given = [self._needed(self._operands.value(state, each)) for each in ins.operands[place + 1 :] if each != "PT"]
        target = ins.operands[place - 1] if place and not PREDICATE.fullmatch(ins.operands[place - 1]) else "RZ"
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

    def _meet(self, state: SassState, ins: SassInstruction) -> None:
        """A barrier of the kernel: 0 is none of the test."""
        if not {*ins.parts[1:]} <= {"SYNC", "ARV", "DEFER_BLOCKING"} or len(ins.operands) not in (1, 2):
            raise self._wrong("this barrier is not understood")
        number, count = ([self._operands.value(state, each) for each in ins.operands] + [None, None])[:2]
        if number == 0:
            return
        if not isinstance(number, int) or not isinstance(count, int):
            raise self._wrong("a barrier of whom is not understood")
        if ins.operands[0] == ins.operands[1]:
            number, count = number & 0xF, count >> 16
        self._put(Barrier(number, arrive="ARV" in ins.parts, quorum=count // self._launch.slots))

    def _outside(self, state: SassState, ins: SassInstruction) -> None:
        """What the kernel does to memory besides the test: it stores results, and initial values of shared memory."""
        where = next((each for each in ins.operands if "[" in each and not each.startswith("c[")), None)
        address = None if ins.access is None or where is None else self._operands.address(state, where)
        if ins.access is not None and (wrong := wrong_operands(ins, "any? any? any? a R? R? any?")):
            raise self._wrong(wrong)
        if ins.access is not None and ins.access[1] != "shared":
            if not isinstance(address, int):
                raise self._wrong("what the kernel accesses here is not understood")
            if (address - MEMORY) & ALL < WORD * self._launch.memory.words:
                raise self._wrong("an access of the test is outside of the code of its thread")
            number, rest = divmod((address - RESULTS) & ALL, WORD * self._launch.instances)
            term = self._launch.terms[number] if number < len(self._launch.terms) else None
            if ins.access[0] == "store" and rest % WORD == 0 and isinstance(term, FinalRegister):
                if term.thread != self._thread or not _OTHER_SIZES.isdisjoint(ins.parts):
                    raise self._wrong("final values of registers are not understood")
                value = self._needed(self._operands.value(state, ins.operands[-1]))
                self._put(Assign(_FINAL + term.register, "mov", (value,)))
        for target in targets(ins) if ins.access is None or ins.access[0] != "store" else ():
            state.known.pop(target, None)

    # addresses

    def _location(self, state: SassState, text: str, space: str) -> Operand:
        """Return the location at an address, or a register that holds its address."""
        address = self._operands.address(state, text)
        if address is None:
            raise self._wrong("its address is not understood")
        number = address if isinstance(address, int) else address.offset
        base, row = (MEMORY, self._launch.memory) if space == "global" else (self._shared, self._launch.shared)
        word, rest = divmod((number - base) & ALL, WORD)
        if rest or not row.names or word >= row.words or word % row.stride:
            raise self._wrong(f"its address is that of no location in {space} memory")
        location = Loc(row.names[word // row.stride % len(row.names)])
        if isinstance(address, int):
            return location
        return Reg(self._temporary("add", location, Reg(address.register)).register)

    def _own(self, state: SassState, ins: SassInstruction) -> int:
        """Return the address of an access to memory of the thread alone."""
        where = next(each for each in ins.operands if each.startswith("["))
        address = self._operands.address(state, where)
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
        return self._operands.arithmetic.operand(value)

    def _kept(self, home: str, value: MachineValue) -> MachineValue:
        """Return a value as its home has it."""
        if isinstance(value, Relative) and value.register != home:
            self._put(Assign(home, "mov", (Reg(value.register),)))
            return Relative(home, value.offset)
        return value

    def _decided(self, state: SassState, text: str) -> bool:
        """Return a predicate that has to be known. Raises ``UndecidedError``."""
        decided = self._operands.decided(state, text)
        if decided is None:
            raise self._wrong(f"{text} is not understood")
        return decided

    def _compute(self, state: SassState, ins: SassInstruction) -> None:
        """What computes: nothing is known any more of what it writes, but for its results."""
        row = sass_row(ins)
        if isinstance(row, str):
            raise self._wrong(row)
        results = row.meaning(self._operands, state, ins) or []
        for target in targets(ins):
            state.known.pop(target, None)
        for target, value in results:
            if target not in NOWHERE:
                state.known[target] = self._kept(target, value)

    def _wrong(self, why: str) -> InputError:
        ins = self._ins
        if ins is None:
            return InputError(why, self._path)
        return InputError(f"P{self._thread}: {ins}: {why}", self._path, ins.line)


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
        for target in registers_written(new):
            if target not in final:
                names[target] = f"s{count}"
                count += 1
                new = _with_target(new, names[target])
        made.append(new)
    return _given_back(made)


def _named(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return code in which final registers have their own names, and others none of these."""
    used = {name for ins in code for name in (*registers_read(ins), *registers_written(ins))}
    finals = {name.removeprefix(_FINAL) for name in used if name.startswith(_FINAL)}
    names = {name: name.removeprefix(_FINAL) if name.startswith(_FINAL) else name for name in used}
    for name in sorted(used & finals):
        while names[name] in used | finals:
            names[name] += "_"

    def named(ins: Instruction) -> Instruction:
        new = map_operands(ins, lambda each: Reg(names[each.name]) if isinstance(each, Reg) else each)
        return _with_target(new, names[registers_written(new)[0]]) if registers_written(new) else new

    return tuple(map(named, code))


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
        for target in registers_written(new):
            if target in moved:
                new = _with_target(new, moved[target])
        found.append(new)
    return tuple(found)
