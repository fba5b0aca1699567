"""A module of its instructions: each goes to the section that it belongs to, wherever it stands (SPIR-V 1.6, 2.4).

A function's body has an order: parameters, then blocks, each from its label to the instruction that ends it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NoReturn

from corpus.code.spirv.lines import SourceLines
from corpus.code.spirv.module import (
    Enumerant,
    Id,
    Mask,
    SpirvBlock,
    SpirvEntryPoint,
    SpirvFunction,
    SpirvInstruction,
    SpirvInteger,
    SpirvModule,
    SpirvOperand,
    SpirvString,
)
from corpus.errors import InputError

TERMINATORS = frozenset(
    (
        *("OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue", "OpUnreachable", "OpKill"),
        *("OpTerminateInvocation", "OpIgnoreIntersectionKHR", "OpTerminateRayKHR", "OpEmitMeshTasksEXT", "OpAbortKHR"),
    )
)
"""The instructions that end a block (2.2.5)."""

_OF_MODULE = ("OpType", "OpConstant", "OpSpecConstant", "OpSource", "OpString", "OpModuleProcessed")
"""How the names of instructions begin that are of the module even where a function is open."""

_OUTSIDE = ("OpVariable", "OpUntypedVariable", "OpUndef", "OpExtInst", "OpNop", "OpGraph", "OpAsm", "OpAlias")
"""How the names of the other instructions begin that may stand where no function is open."""

_DECLARED = (
    *("OpCapability", "OpExtension", "OpExtInstImport", "OpMemoryModel"),
    *("OpExecutionMode", "OpDecorate", "OpMemberDecorate"),
)
"""How the names of the declarations begin that say what else means."""

MOST_DECORATIONS = 1 << 22
"""The decorations that the targets of groups may have together."""

_DEBUG = ("OpString", "OpExtInst", "OpExtInstWithForwardRefsKHR")


def module_of(instructions: Iterable[SpirvInstruction], header: SpirvModule) -> SpirvModule:
    """Return the module that has a header, and what instructions declare.

    Raises ``InputError`` with the line of an instruction.
    """
    every = list(instructions)
    sections = _Sections(header, every)
    for instruction in every:
        sections.add(instruction)
    return sections.whole()


class _Sections:
    """The sections, as far as they are read. ``_function`` is the one that is open, ``_block`` its open block."""

    def __init__(self, header: SpirvModule, every: list[SpirvInstruction]) -> None:
        self._header = header
        self._at = SpirvInstruction("OpNop", None, None, (), 0)
        self._defined: dict[str, SpirvInstruction] = {}
        self._imports: dict[str, str] = {}
        for instruction in every:
            self._at = instruction
            if self._at.result is not None:
                before = self._defined.setdefault(self._at.result, self._at)
                if before is not self._at:
                    self._fail(f"a new id, found %{before.result}, which {before.line} has defined")
                if self._at.name == "OpExtInstImport":
                    self._imports[before.result or ""] = _string(self._at.operands[0])
        self._lines = SourceLines(self._defined, self._imports, header.files)
        self._capabilities: list[str] = []
        self._extensions: list[str] = []
        self._memory = ("", "")
        self._entry_points: list[SpirvEntryPoint] = []
        self._modes: dict[str, list[Enumerant]] = {}
        self._names: dict[str, str] = {}
        self._member_names: dict[tuple[str, int], str] = {}
        self._decorations: dict[str, list[Enumerant]] = {}
        self._member_decorations: dict[tuple[str, int], list[Enumerant]] = {}
        self._groups: list[SpirvInstruction] = []
        self._globals: dict[str, SpirvInstruction] = {}
        self._debug: dict[str, SpirvInstruction] = {}
        self._others: list[SpirvInstruction] = []
        self._declared: list[SpirvInstruction] = []
        self._functions: dict[str, SpirvFunction] = {}
        self._function: SpirvInstruction | None = None
        self._parameters: list[SpirvInstruction] = []
        self._blocks: list[SpirvBlock] = []
        self._label = self._at
        self._block: list[SpirvInstruction] | None = None

    def add(self, instruction: SpirvInstruction) -> None:
        """Put the next instruction into its section."""
        self._at = instruction
        if not self._declaration(instruction.name, instruction.operands):
            placed = self._lines.placed(instruction)
            if placed is None:
                return
            if placed.name.startswith(_OF_MODULE):
                self._outside(placed)
            elif self._block is not None:
                self._inside(placed, self._block)
            else:
                self._between(placed)

    def whole(self) -> SpirvModule:
        """Return the module. Raises ``InputError`` where a function is open."""
        if self._function is not None:
            self._fail("OpFunctionEnd, found the end")
        self._expand_groups()
        return replace(
            self._header,
            capabilities=tuple(self._capabilities),
            extensions=tuple(self._extensions),
            imports=self._imports,
            addressing=self._memory[0],
            memory_model=self._memory[1],
            entry_points=tuple(self._entry_points),
            execution_modes={name: tuple(modes) for name, modes in self._modes.items()},
            names=self._names,
            member_names=self._member_names,
            decorations={target: tuple(each) for target, each in self._decorations.items()},
            member_decorations={member: tuple(each) for member, each in self._member_decorations.items()},
            globals=self._globals,
            debug=self._debug,
            functions=self._functions,
            others=tuple(self._others),
            declared=tuple(self._declared),
        )

    def _fail(self, expected: str) -> NoReturn:
        raise InputError(f"expected {expected}", self._header.path, self._at.line)

    # what a module declares

    def _declaration(self, name: str, operands: tuple[SpirvOperand, ...]) -> bool:
        """Put down an instruction that is a declaration of its own kind; otherwise return False."""
        match name, operands:
            case "OpCapability", (Enumerant(capability), *_):
                self._capabilities.append(capability)
            case "OpExtension", (SpirvString(extension),):
                self._extensions.append(extension)
            case "OpExtInstImport" | "OpDecorationGroup", _:
                pass  # its uses are what counts
            case "OpMemoryModel", (Enumerant(addressing), Enumerant(memory), *_):
                self._memory = addressing, memory
            case "OpEntryPoint", (Enumerant(model), Id(function), SpirvString(called), *rest):
                point = SpirvEntryPoint(model, function, called, _names(rest), self._at.line)
                self._entry_points.append(point)
            case "OpExecutionMode" | "OpExecutionModeId", (Id(function), Enumerant() as mode, *_):
                self._modes.setdefault(function, []).append(mode)
            case "OpName", (Id(target), SpirvString(called)):
                self._names[target] = called
            case "OpMemberName", (Id(target), SpirvInteger(member), SpirvString(called)):
                self._member_names[target, member] = called
            case "OpDecorate" | "OpDecorateId" | "OpDecorateString", (Id(target), Enumerant() as decoration, *_):
                self._decorations.setdefault(target, []).append(decoration)
            case (
                "OpMemberDecorate" | "OpMemberDecorateString",
                (Id(target), SpirvInteger(member), Enumerant() as decoration, *_),
            ):
                self._member_decorations.setdefault((target, member), []).append(decoration)
            case "OpGroupDecorate" | "OpGroupMemberDecorate", _:
                self._groups.append(self._at)
            case _:
                return False
        if name.startswith(_DECLARED):
            self._declared.append(self._at)
        return True

    def _expand_groups(self) -> None:
        """Give the decorations of each group to its targets (3.52.3)."""
        groups = {group: tuple(each) for group, each in self._decorations.items()}
        left = MOST_DECORATIONS
        for instruction in self._groups:
            self._at = instruction
            group, *targets = self._at.operands
            assert isinstance(group, Id)
            decorations = groups.get(group.name, ())
            left -= len(decorations) * len(targets)
            if left < 0:
                self._fail(f"groups with at most {MOST_DECORATIONS} decorations of their targets")
            members = (operand.value for operand in targets if isinstance(operand, SpirvInteger))
            for target in _names(targets):
                if self._at.name == "OpGroupDecorate":
                    self._decorations.setdefault(target, []).extend(decorations)
                else:
                    self._member_decorations.setdefault((target, next(members)), []).extend(decorations)

    def _outside(self, instruction: SpirvInstruction) -> None:
        if instruction.result is None:
            self._others.append(instruction)
        else:
            section = self._debug if instruction.name in _DEBUG else self._globals
            section[instruction.result] = instruction

    # functions

    def _between(self, instruction: SpirvInstruction) -> None:
        """Put down an instruction where no block is open."""
        function, name = self._function, instruction.name
        if name == "OpFunction" and function is None:
            self._function, self._parameters, self._blocks = instruction, [], []
        elif name == "OpFunctionParameter" and function is not None and not self._blocks:
            self._parameters.append(instruction)
        elif name == "OpLabel" and function is not None:
            self._label, self._block = instruction, []
        elif name == "OpFunctionEnd" and function is not None:
            self._end_function(function)
        elif name.startswith(_OUTSIDE if function is None else "OpExtInst") or name[2:].isdigit():
            self._outside(instruction)
        elif function is None:
            self._fail(f"OpFunction before an instruction of functions, found {name}")
        else:
            self._fail(f"{'OpLabel' if not self._blocks else 'OpLabel or OpFunctionEnd'}, found {name}")

    def _inside(self, instruction: SpirvInstruction, block: list[SpirvInstruction]) -> None:
        """Put down an instruction where a block is open."""
        if instruction.name in ("OpFunction", "OpFunctionParameter", "OpLabel", "OpFunctionEnd"):
            self._fail(f"an instruction that ends the block %{self._label.result}, found {instruction.name}")
        block.append(instruction)
        if instruction.name in TERMINATORS:
            self._blocks.append(SpirvBlock(self._label.result or "", tuple(block), self._label.line))
            self._block = None
            self._lines.end_block()

    def _end_function(self, function: SpirvInstruction) -> None:
        control, type, *_ = function.operands
        assert isinstance(control, Mask) and isinstance(type, Id) and function.result and function.type
        self._functions[function.result] = SpirvFunction(
            function.result,
            type.name,
            function.type,
            control,
            tuple(self._parameters),
            tuple(self._blocks),
            {block.label: number for number, block in enumerate(self._blocks)},
            function.line,
        )
        self._function = None


def _string(operand: SpirvOperand) -> str:
    return operand.value if isinstance(operand, SpirvString) else ""


def _names(operands: Iterable[SpirvOperand]) -> tuple[str, ...]:
    """Return the names of the operands that are ids."""
    return tuple(operand.name for operand in operands if isinstance(operand, Id))
