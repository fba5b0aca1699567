"""A thread of a test whose machine code is followed: what is left of it, and what its addresses and values are."""

from __future__ import annotations

from corpus.code.sass.launch import CompiledLaunch
from corpus.code.sass.operands import MEMORY, WORD, SassOperands, SassState, by_capability
from corpus.code.sass.text import SassInstruction
from corpus.code.sass.values import ALL, Arithmetic, MachineValue, Relative
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Branch, Instruction, Label
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.orders import Scope

OTHER_SIZES = frozenset(("64", "128", "U8", "S8", "U16", "S16"))
"""The parts of opcodes of accesses to more or less than a word."""

_SHARED = ((90, 0x400), (0, 0))
"""Where shared memory of a kernel begins, from a compute capability on."""


class SassThread:
    """A thread of a launch, and what is left of it: ``code``, and in it the last ``MEMBAR``, by its place there, its
    strength and its scope. ``here`` is the instruction that is followed.
    """

    def __init__(
        self,
        functions: dict[str, list[SassInstruction]],
        launch: CompiledLaunch,
        number: int,
        capability: int,
        path: str | None,
    ) -> None:
        self.functions, self.launch, self.number, self._path = functions, launch, number, path
        self.labels = {
            label: (name, place)
            for name, code in functions.items()
            for place, ins in enumerate(code)
            for label in ins.labels
        }
        self.code: list[Instruction] = []
        self.membar: tuple[int, str, Scope] | None = None
        self.here: SassInstruction | None = None
        self._made = 0
        self._shared = by_capability(_SHARED, capability)
        special = {
            **dict(zip(("SR_TID.X", "SR_CTAID.X"), launch.ids[number], strict=True)),
            **dict.fromkeys(("SR_TID.Y", "SR_TID.Z", "SR_CTAID.Y", "SR_CTAID.Z", "SR_CgaCtaId", "SRZ"), 0),
        }
        self.operands = SassOperands(Arithmetic(self.temporary), capability, special)

    def put(self, ins: Instruction) -> None:
        """Append an instruction of the test."""
        self.code.append(ins)

    @property
    def last(self) -> int:
        """The place of the last thing that the thread does to memory, with no branch since; -1 if there is none."""
        for place in range(len(self.code) - 1, -1, -1):
            if not isinstance(self.code[place], Assign):
                return -1 if isinstance(self.code[place], Branch | Label) else place
        return -1

    @property
    def is_accompanied(self) -> bool:
        """Whether another thread is in its CTA."""
        threads = self.launch.test.threads
        place = threads[self.number].place
        return any(place.shares(other.place, Scope.CTA) for n, other in enumerate(threads) if n != self.number)

    def next_in(self, state: SassState) -> SassInstruction | None:
        """Return the next instruction; None where the code ends."""
        code = self.functions[state.function]
        return code[state.place] if state.place < len(code) else None

    def wrong(self, why: str) -> InputError:
        """Return the error for the instruction that is followed."""
        if self.here is None:
            return InputError(why, self._path)
        return InputError(f"P{self.number}: {self.here}: {why}", self._path, self.here.line)

    # addresses

    def location(self, state: SassState, text: str, space: str) -> Operand:
        """Return the location at an address, or a register that holds its address."""
        address = self.operands.address(state, text)
        if address is None:
            raise self.wrong("its address is not understood")
        number = address if isinstance(address, int) else address.offset
        base, row = (MEMORY, self.launch.memory) if space == "global" else (self._shared, self.launch.shared)
        word, rest = divmod((number - base) & ALL, WORD)
        if rest or not row.names or word >= row.words or word % row.stride:
            raise self.wrong(f"its address is that of no location in {space} memory")
        location = Loc(row.names[word // row.stride % len(row.names)])
        if isinstance(address, int):
            return location
        return Reg(self.temporary("add", location, Reg(address.register)).register)

    def own_address(self, state: SassState, ins: SassInstruction) -> int:
        """Return the address of an access to memory of the thread alone."""
        text = next(text for text in ins.operands if text.startswith("["))
        address = self.operands.address(state, text)
        if not isinstance(address, int) or not OTHER_SIZES.isdisjoint(ins.parts):
            raise self.wrong("is not understood")
        return address

    # values

    def new_register(self) -> str:
        """Return a register of the test that nothing else uses."""
        self._made += 1
        return f"t{self._made}"

    def temporary(self, operation: str, *operands: Operand) -> Relative:
        """Append a computation into a register of its own, and return the register."""
        name = self.new_register()
        self.put(Assign(name, operation, operands))
        return Relative(name)

    def needed(self, value: MachineValue) -> Operand:
        """Return a value as an operand. Raises ``InputError`` where nothing is known of it."""
        if value is None:
            raise self.wrong("its value is not understood")
        return self.operands.arithmetic.operand(value)

    def kept(self, home: str, value: MachineValue) -> MachineValue:
        """Return a value as its home has it."""
        if isinstance(value, Relative) and value.register != home:
            self.put(Assign(home, "mov", (Reg(value.register),)))
            return Relative(home, value.offset)
        return value

    def decided(self, state: SassState, text: str) -> bool:
        """Return a predicate that has to be known. Raises ``UndecidedError``."""
        decided = self.operands.decided(state, text)
        if decided is None:
            raise self.wrong(f"{text} is not understood")
        return decided
