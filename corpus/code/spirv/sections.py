"""A module of its instructions: each goes to the section that it belongs to, wherever it stands (SPIR-V 1.6, 2.4).

A function's body has an order: parameters, then blocks, each from its label to the instruction that ends it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from corpus.code.spirv.lines import SourceLines
from corpus.code.spirv.module import (
    Enumerant,
    Id,
    SpirvBlock,
    SpirvEntryPoint,
    SpirvFunction,
    SpirvHeader,
    SpirvInstruction,
    SpirvInteger,
    SpirvModels,
    SpirvModule,
    SpirvString,
    SpirvTarget,
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


def module_of(instructions: Iterable[SpirvInstruction], header: SpirvHeader) -> SpirvModule:
    """Return the module that has a header, and what instructions declare.

    Raises ``InputError`` with the line of an instruction.
    """
    every = list(instructions)
    defined = _defined(every, header.path)
    imports = {id: _string(ins) for id, ins in defined.items() if ins.name == "OpExtInstImport"}
    lines = SourceLines(defined, imports, header.files)
    declarations, content = _Declarations(), _Content(header.path)
    for instruction in every:
        placed = None if _declare(declarations, instruction) else lines.placed(instruction)
        if placed is not None and _add(content, placed):
            lines.end_block()
    if content.function is not None:
        raise _expected("OpFunctionEnd, found the end", every[-1], header.path)
    _expand_groups(declarations, header.path)
    return SpirvModule(
        header,
        imports,
        declarations.models,
        tuple(declarations.entry_points),
        {name: tuple(modes) for name, modes in declarations.modes.items()},
        declarations.names,
        {target: tuple(every) for target, every in declarations.decorations.items()},
        content.globals,
        content.debug,
        content.functions,
        tuple(content.others),
        tuple(declarations.kept),
    )


def _expected(what: str, at: SpirvInstruction, path: str) -> InputError:
    """Return the error that something else was expected at an instruction."""
    return InputError(f"expected {what}", path, at.line)


def _defined(every: Iterable[SpirvInstruction], path: str) -> dict[str, SpirvInstruction]:
    """Return the instructions by their results. Raises ``InputError`` where an id has two."""
    found: dict[str, SpirvInstruction] = {}
    for instruction in every:
        if instruction.result is not None:
            before = found.setdefault(instruction.result, instruction)
            if before is not instruction:
                what = f"a new id, found %{before.result}, which {before.line} has defined"
                raise _expected(what, instruction, path)
    return found


def _string(instruction: SpirvInstruction) -> str:
    """Return the string that is the first operand of an instruction."""
    operand = instruction.operands[0]
    return operand.value if isinstance(operand, SpirvString) else ""


# what a module declares


@dataclass
class _Declarations:
    """What declarations have said so far; ``decorations`` are without those of ``groups``, and ``kept`` the
    declarations that say what else means.
    """

    models: SpirvModels = field(default_factory=SpirvModels)
    entry_points: list[SpirvEntryPoint] = field(default_factory=list)
    modes: dict[str, list[Enumerant]] = field(default_factory=dict)
    names: dict[SpirvTarget, str] = field(default_factory=dict)
    decorations: dict[SpirvTarget, list[Enumerant]] = field(default_factory=dict)
    groups: list[SpirvInstruction] = field(default_factory=list)
    kept: list[SpirvInstruction] = field(default_factory=list)


def _declare(found: _Declarations, instruction: SpirvInstruction) -> bool:
    """Put down an instruction that is a declaration of its own kind; otherwise return False."""
    match instruction.name, instruction.operands:
        case ("OpCapability", (Enumerant(), *_)) | ("OpExtension", (SpirvString(),)):
            pass
        case "OpExtInstImport" | "OpDecorationGroup", _:
            pass  # its uses are what counts
        case "OpMemoryModel", (Enumerant(addressing), Enumerant(memory), *_):
            found.models = SpirvModels(addressing, memory)
        case "OpEntryPoint", (Enumerant(model), Id(function), SpirvString(called), *rest):
            interface = tuple(operand.name for operand in rest if isinstance(operand, Id))
            found.entry_points.append(SpirvEntryPoint(model, function, called, interface))
        case "OpExecutionMode" | "OpExecutionModeId", (Id(function), Enumerant() as mode, *_):
            found.modes.setdefault(function, []).append(mode)
        case "OpName", (Id(target), SpirvString(called)):
            found.names[target] = called
        case "OpMemberName", (Id(target), SpirvInteger(member), SpirvString(called)):
            found.names[target, member] = called
        case "OpDecorate" | "OpDecorateId" | "OpDecorateString", (Id(target), Enumerant() as decoration, *_):
            found.decorations.setdefault(target, []).append(decoration)
        case (
            "OpMemberDecorate" | "OpMemberDecorateString",
            (Id(target), SpirvInteger(member), Enumerant() as decoration, *_),
        ):
            found.decorations.setdefault((target, member), []).append(decoration)
        case "OpGroupDecorate" | "OpGroupMemberDecorate", _:
            found.groups.append(instruction)
        case _:
            return False
    if instruction.name.startswith(_DECLARED):
        found.kept.append(instruction)
    return True


def _expand_groups(found: _Declarations, path: str) -> None:
    """Give the decorations of each group to its targets (3.52.3)."""
    groups = {group: tuple(each) for group, each in found.decorations.items()}
    left = MOST_DECORATIONS
    for instruction in found.groups:
        group, *ids = instruction.ids
        decorations = groups.get(group, ())
        left -= len(decorations) * (len(instruction.operands) - 1)
        if left < 0:
            what = f"groups with at most {MOST_DECORATIONS} decorations of their targets"
            raise _expected(what, instruction, path)
        of_members = instruction.name == "OpGroupMemberDecorate"
        targets: Iterable[SpirvTarget] = zip(ids, instruction.numbers, strict=True) if of_members else ids
        for target in targets:
            found.decorations.setdefault(target, []).extend(decorations)


# functions, and what is declared outside of them


@dataclass
class _OpenFunction:
    """A function as far as it is read, with the label and the instructions of the block that is open, if one is."""

    start: SpirvInstruction
    parameters: list[SpirvInstruction] = field(default_factory=list)
    blocks: list[SpirvBlock] = field(default_factory=list)
    label: SpirvInstruction | None = None
    block: list[SpirvInstruction] = field(default_factory=list)


@dataclass
class _Content:
    """What has an id so far, what has none, and the functions, of which one may be open."""

    path: str
    globals: dict[str, SpirvInstruction] = field(default_factory=dict)
    debug: dict[str, SpirvInstruction] = field(default_factory=dict)
    others: list[SpirvInstruction] = field(default_factory=list)
    functions: dict[str, SpirvFunction] = field(default_factory=dict)
    function: _OpenFunction | None = None


def _add(found: _Content, instruction: SpirvInstruction) -> bool:
    """Put down an instruction that is no declaration of its own kind; return whether it ends a block."""
    function = found.function
    if instruction.name.startswith(_OF_MODULE):
        _add_outside(found, instruction)
    elif function is not None and function.label is not None:
        return _add_to_block(function, function.label, instruction, found.path)
    else:
        _add_between(found, instruction)
    return False


def _add_outside(found: _Content, instruction: SpirvInstruction) -> None:
    if instruction.result is None:
        found.others.append(instruction)
    else:
        section = found.debug if instruction.name in _DEBUG else found.globals
        section[instruction.result] = instruction


def _add_between(found: _Content, instruction: SpirvInstruction) -> None:
    """Put down an instruction where no block is open."""
    function, name = found.function, instruction.name
    if name == "OpFunction" and function is None:
        found.function = _OpenFunction(instruction)
    elif name == "OpFunctionParameter" and function is not None and not function.blocks:
        function.parameters.append(instruction)
    elif name == "OpLabel" and function is not None:
        function.label, function.block = instruction, []
    elif name == "OpFunctionEnd" and function is not None:
        ended = _ended(function)
        found.functions[ended.name], found.function = ended, None
    elif name.startswith(_OUTSIDE if function is None else "OpExtInst") or name[2:].isdigit():
        _add_outside(found, instruction)
    elif function is None:
        raise _expected(f"OpFunction before an instruction of functions, found {name}", instruction, found.path)
    else:
        wanted = "OpLabel" if not function.blocks else "OpLabel or OpFunctionEnd"
        raise _expected(f"{wanted}, found {name}", instruction, found.path)


def _add_to_block(function: _OpenFunction, label: SpirvInstruction, instruction: SpirvInstruction, path: str) -> bool:
    """Put down an instruction of the block that is open; return whether it ends the block."""
    if instruction.name in ("OpFunction", "OpFunctionParameter", "OpLabel", "OpFunctionEnd"):
        what = f"an instruction that ends the block %{label.result}, found {instruction.name}"
        raise _expected(what, instruction, path)
    function.block.append(instruction)
    if instruction.name not in TERMINATORS:
        return False
    function.blocks.append(SpirvBlock(label.result or "", tuple(function.block)))
    function.label = None
    return True


def _ended(function: _OpenFunction) -> SpirvFunction:
    """Return a function that is read to its end."""
    start = function.start
    assert start.result and start.type
    return SpirvFunction(
        start.result,
        start.type,
        tuple(function.parameters),
        tuple(function.blocks),
        {block.label: number for number, block in enumerate(function.blocks)},
        start.line,
    )
