"""What the declarations of a module may say: the decorations, execution modes, capabilities and other words of which it
is known what they change (SPIR-V 1.6, 3.2 to 3.31). A word that is in none of these tables is not understood.

A row that is ``None`` is of a word with any operands; others name the operands that are understood, such as the one
mode of rounding that is computed with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from corpus.kernels.spirv.grammar import spirv_grammar
from corpus.kernels.spirv.module import Enumerant, Id, SpirvInstruction, SpirvModule


class DeclarationRefusal(NamedTuple):
    """A declaration that is not understood: the instruction, why, and the function that it is of, if of one alone."""

    at: SpirvInstruction
    why: str
    function: str | None = None


DECORATIONS: Mapping[str, tuple[str, ...] | None] = dict.fromkeys(
    (
        # of where memory is, and how it lies there
        *("SpecId", "Block", "BufferBlock", "ColMajor", "ArrayStride", "MatrixStride", "CPacked", "Offset"),
        *("BuiltIn", "Binding", "DescriptorSet", "Alignment", "AlignmentId", "LinkageAttributes"),
        # of how it is accessed
        *("Volatile", "Coherent"),
        # promises, hints and names, which change nothing
        *("Restrict", "Aliased", "RestrictPointer", "AliasedPointer", "NonWritable", "NonReadable", "Constant"),
        *("Uniform", "UniformId", "NonUniform", "Invariant", "NoContraction", "NoSignedWrap", "NoUnsignedWrap"),
        *("FuncParamAttr", "MaxByteOffset", "MaxByteOffsetId", "UserSemantic", "UserTypeGOOGLE", "CounterBuffer"),
        *("AliasScopeINTEL", "NoAliasINTEL"),
    )
) | {"FPRoundingMode": ("RTE",)}
"""The decorations (3.20)."""

EXECUTION_MODES: Mapping[str, tuple[str, ...] | None] = dict.fromkeys(
    (
        *("LocalSize", "LocalSizeId", "LocalSizeHint", "LocalSizeHintId", "VecTypeHint", "ContractionOff"),
        *("SubgroupUniformControlFlowKHR", "MaximallyReconvergesKHR", "SignedZeroInfNanPreserve", "DenormPreserve"),
        "RoundingModeRTE",
    )
)
"""The execution modes (3.6)."""

STORAGE_CLASSES = frozenset(
    (
        *("StorageBuffer", "PhysicalStorageBuffer", "CrossWorkgroup", "Workgroup", "Private", "Function", "Input"),
        *("Output", "PushConstant", "Uniform", "UniformConstant", "Generic"),
    )
)
"""The storage classes whose memory is understood (3.7)."""

MEMORY_OPERANDS = frozenset(
    (
        *("Volatile", "Aligned", "Nontemporal", "MakePointerAvailable", "MakePointerVisible", "NonPrivatePointer"),
        *("AliasScopeINTELMask", "NoAliasINTELMask"),
    )
)
"""The memory operands (3.26)."""

ADDRESSING = frozenset(("Logical", "Physical64", "PhysicalStorageBuffer64"))
"""The addressing models, whose addresses have 64 bits (3.4)."""

ALIASING = ("WorkgroupMemoryExplicitLayoutKHR",)
"""The capabilities by which variables share memory; others only allow words, which have rows of their own (3.31)."""

_OTHERS = frozenset(
    (
        *("OpSource", "OpSourceContinued", "OpSourceExtension", "OpModuleProcessed", "OpNop", "OpTypeForwardPointer"),
        *("OpLine", "OpNoLine"),
    )
)
"""The instructions without a result, outside of functions, that change nothing."""


def refusals(module: SpirvModule) -> Iterator[DeclarationRefusal]:
    """Yield what a module declares that is not understood."""
    for ins in module.declared:
        function = next((each.name for each in ins.operands if isinstance(each, Id)), None)
        for each in ins.operands:
            match ins.name, each:
                case "OpCapability", Enumerant(name):
                    if name not in spirv_grammar().values["Capability"].by_name:
                        yield DeclarationRefusal(ins, f"the capability {name} is not understood")
                    elif name in ALIASING and _shares(module):
                        yield DeclarationRefusal(
                            ins, "variables that share the memory of a work-group are not understood"
                        )
                case (("OpExecutionMode" | "OpExecutionModeId"), Enumerant() as mode):
                    if (why := _unknown(EXECUTION_MODES, mode)) is not None:
                        yield DeclarationRefusal(ins, f"the execution mode {why}", function)
                case _, Enumerant() as decoration:
                    if (why := _unknown(DECORATIONS, decoration)) is not None:
                        yield DeclarationRefusal(ins, f"the decoration {why}")
    for ins in module.others:
        if ins.name not in _OTHERS:
            yield DeclarationRefusal(ins, "is not understood")
    if module.addressing not in ADDRESSING:
        nothing = SpirvInstruction("OpMemoryModel", None, None, (), 0)
        yield DeclarationRefusal(nothing, f"the addressing model {module.addressing or '(none)'} is not understood")


def _unknown(rows: Mapping[str, tuple[str, ...] | None], word: Enumerant) -> str | None:
    """Return that a word is not understood, or its operands are not; None where it is."""
    if word.name not in rows:
        return f"{word.name} is not understood"
    allowed = rows[word.name]
    said = [each.name for each in word.parameters if isinstance(each, Enumerant)]
    if allowed is not None and not set(said) <= set(allowed):
        return f"{word.name} {' '.join(said)} is not understood"
    return None


def _shares(module: SpirvModule) -> bool:
    """Return whether several variables may lie in the memory of a work-group at one place: blocks do."""
    found = 0
    for ins in module.globals.values():
        if ins.name == "OpVariable" and Enumerant("Workgroup") in ins.operands:
            found += 1
    return found > 1
