"""Every word of SPIR-V's grammar is fed once, in a kernel that a thread follows: it is understood, or refused by name.

What is accepted without an operand that fits has to be in a list, so that no word is passed over in silence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from corpus.code.launch.built_in import VECTORS, is_built_in
from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.spirv.declared import (
    CAPABILITIES,
    DECORATIONS,
    EXECUTION_MODES,
    EXTENSIONS,
    STORAGE_CLASSES,
)
from corpus.code.spirv.extended import EXTENDED
from corpus.code.spirv.files import read_spirv
from corpus.code.spirv.grammar import GrammarRow, OperandKind, spirv_grammar
from corpus.code.spirv.table import TABLE
from corpus.code.spirv.translation import translated
from corpus.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels" / "spirv"

KERNEL = """\
OpCapability Shader
{declared}%set = OpExtInstImport "{set}"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %x
OpExecutionMode %main LocalSize 1 1 1
{mode}OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
OpDecorate %box Block
OpMemberDecorate %box 0 Offset 0
{decorated}%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%box = OpTypeStruct %uint
%box_ptr = OpTypePointer StorageBuffer %box
%ptr = OpTypePointer StorageBuffer %uint
%one = OpConstant %uint 1
%zero = OpConstant %uint 0
%x = OpVariable %box_ptr StorageBuffer
%kernel = OpTypeFunction %void
%main = OpFunction %void None %kernel
%start = OpLabel
%at = OpAccessChain %ptr %x %zero
{body}OpStore %at %one
OpReturn
OpFunctionEnd
"""

NOTHING = frozenset(("OpNop", "OpNoLine", "OpLine"))
"""The instructions that change nothing that is asked."""


def fed(body: str = "", set: str = "GLSL.std.450", declared: str = "", mode: str = "", decorated: str = "") -> str:
    """What is said of a kernel with a word: empty where it is followed to its end."""
    text = KERNEL.format(body=body, set=set, declared=declared, mode=mode, decorated=decorated)
    try:
        module = translated(read_spirv(text.encode(), "k.spvasm")).module
        (kernel,) = module.kernels
        program_of(module, kernel, KernelLaunch())
    except InputError as error:
        return re.sub(r"\AOp\w+: | \(k.spvasm:\d+\)\Z", "", error.message)
    return ""


def operands(kinds: tuple[OperandKind, ...]) -> Iterator[str]:
    """An operand for each kind that may not be left out, as text."""
    grammar = spirv_grammar()
    for parts, quantifier in kinds:
        for kind in () if quantifier else parts:
            if kind in grammar.masks:
                yield "None"
            elif kind in grammar.values:
                yield next(iter(grammar.values[kind].by_name))
            else:
                known = {"string": '"s"', "integer": "0", "float": "0", "number": "0", "opcode": "IAdd"}
                yield known.get(kind, "%one")


def written(row: GrammarRow) -> str:
    result = "%new = " if row.has_result else ""
    type = "%uint " if row.has_type else ""
    return f"{result}{row.name} {type}{' '.join(operands(row.kinds))}\n"


def is_understood(name: str) -> bool:
    return name in TABLE or name == "OpExtInst"


def test_every_instruction_is_understood_or_refused() -> None:
    rows = spirv_grammar().instructions.by_number.values()
    said = {row.name: fed(written(row)) for row in rows}
    silent = {name for name, each in said.items() if not each and not is_understood(name)}
    # What a module declares stands outside of functions, or is of the module wherever it stands.
    assert {name for name in silent if not name.startswith(DECLARING)} == set()
    unknown = [name for name, each in said.items() if each and is_understood(name) and each == "is not understood"]
    assert unknown == []
    count = Counter(is_understood(row.name) for row in rows)
    print(f"SPIR-V: {count[True]} instructions of functions understood, {count[False]} declarations or refused")
    assert {name for name in NOTHING if said[name]} <= {"OpLine"}


DECLARING = ("OpType", "OpConstant", "OpSpecConstant", "OpSource", "OpString", "OpModuleProcessed", "OpName")
DECLARING += ("OpMember", "OpDecorat", "OpGroupDecorate", "OpCapability", "OpExtension", "OpExtInstImport", "OpLabel")
DECLARING += ("OpExecutionMode", "OpEntryPoint", "OpMemoryModel", "OpFunction", "OpGroupMemberDecorate")


@pytest.mark.parametrize("set", sorted(EXTENDED))
def test_every_extended_instruction_is_understood_or_refused(set: str) -> None:
    table = spirv_grammar().sets[set]
    for name in table.by_name:
        said = fed(f"%new = OpExtInst %uint %set {name}\n", set)
        assert name in EXTENDED[set] or said == f"{name} of {set} is not understood"
        assert said or name == "printf", "without its operands it is not followed"
    known = len(EXTENDED[set])
    print(f"{set}: {known} understood, {len(table.by_number) - known} refused")


def test_sets_for_debuggers_have_no_effect() -> None:
    for name in spirv_grammar().sets:
        debugging = name.startswith(("NonSemantic.", "OpenCL.DebugInfo"))
        which = "DebugInfoNone" if name == "OpenCL.DebugInfo.100" else "1"
        said = fed(f"%new = OpExtInst %void %set {which}\n", name)
        assert (said == "") is debugging, name


def test_every_decoration_is_understood_or_refused() -> None:
    rows = spirv_grammar().values["Decoration"].by_number.values()
    said = {row.name: fed(decorated=f"OpDecorate %x {row.name} {' '.join(operands(row.kinds))}\n") for row in rows}
    refused = {name for name, each in said.items() if each == f"the decoration {name} is not understood"}
    assert refused == said.keys() - DECORATIONS.keys() - {"RelaxedPrecision"}  # which counts at some instructions
    print(f"decorations: {len(DECORATIONS)} understood, {len(said) - len(DECORATIONS)} refused")


def test_every_execution_mode_is_understood_or_refused() -> None:
    rows = spirv_grammar().values["ExecutionMode"].by_number.values()
    said = {row.name: fed(mode=f"OpExecutionMode %main {row.name} {' '.join(operands(row.kinds))}\n") for row in rows}
    refused = {name for name, each in said.items() if each == f"the execution mode {name} is not understood"}
    assert refused == said.keys() - EXECUTION_MODES.keys()
    print(f"execution modes: {len(EXECUTION_MODES)} understood, {len(refused)} refused")


def test_every_capability_is_understood_or_refused() -> None:
    rows = {row.name for row in spirv_grammar().values["Capability"].by_number.values()}
    said = {name: fed(declared=f"OpCapability {name}\n") for name in rows}
    refused = {name for name, each in said.items() if each == f"the capability {name} is not understood"}
    assert refused == rows - CAPABILITIES and rows >= CAPABILITIES
    assert not any(said[name] for name in CAPABILITIES)
    print(f"capabilities: {len(CAPABILITIES)} understood, {len(refused)} refused")


def test_every_extension_and_set_is_understood_or_refused() -> None:
    for name in (*EXTENSIONS, "SPV_KHR_float_controls2", "SPV_INTEL_split_barrier", "", "?"):
        said = fed(declared=f'OpExtension "{name}"\n')
        assert said == ("" if name in EXTENSIONS else f"the extension {name} is not understood")
    for name in (*spirv_grammar().sets, "OpenCL.std.9", "Open.std"):
        said = fed(set=name)
        understood = name in EXTENDED or name.startswith(("NonSemantic.", "OpenCL.DebugInfo"))
        assert said == ("" if understood else f"the set of instructions {name} is not understood")
    print(f"extensions: {len(EXTENSIONS)} understood, all others refused; sets: {len(EXTENDED)} understood")


def test_every_storage_class_is_understood_or_refused() -> None:
    refused = set()
    rows = {row.name for row in spirv_grammar().values["StorageClass"].by_number.values()}
    for name in rows:
        pointer = f"%of = OpTypePointer {name} %uint\n"
        # A pointer of the class is used where no variable of it can be.
        said = fed("%other = OpBitcast %of %at\n%new = OpLoad %uint %other\n", decorated=pointer)
        if said == f"the storage class {name} is not understood":
            refused.add(name)
        else:
            assert said == "" or name not in ("StorageBuffer", "Workgroup", "Function"), (name, said)
    assert refused == rows - STORAGE_CLASSES
    print(f"storage classes: {len(STORAGE_CLASSES)} understood, {len(refused)} refused")


def test_every_built_in_variable_is_understood_or_refused() -> None:
    rows = {row.name for row in spirv_grammar().values["BuiltIn"].by_number.values()}
    said = {}
    for name in rows:
        masked = "Mask" in name and "Subgroup" in name
        type = "%four" if masked else "%three" if name in VECTORS else "%uint"
        declared = f"""OpDecorate %of BuiltIn {name}
%three = OpTypeVector %uint 3
%four = OpTypeVector %uint 4
%in = OpTypePointer Input {type}
%of = OpVariable %in Input
"""
        said[name] = fed(f"%new = OpLoad {type} %of\n", decorated=declared)
    refused = {name for name, each in said.items() if each == f"the built-in variable {name} is not understood"}
    assert refused == {name for name in rows if not is_built_in(name)}
    assert not any(each for name, each in said.items() if name not in refused), said
    print(f"built-in variables: {len(rows) - len(refused)} understood, {len(refused)} refused")


@pytest.mark.parametrize(
    ("kind", "body", "understood"),
    [
        ("Scope", "%new = OpAtomicLoad %uint %at %said %zero\n", "0123546"),  # the last are of the invocation alone
        (
            "GroupOperation",
            "%new = OpGroupNonUniformIAdd %uint %sub {} %one\n",
            ("Reduce", "InclusiveScan", "ExclusiveScan"),
        ),
        (
            "GroupOperation",
            "%new = OpGroupNonUniformIAdd %uint %sub {} %one %one\n",
            ("Reduce", "InclusiveScan", "ExclusiveScan", "ClusteredReduce"),
        ),
    ],
)
def test_other_words(kind: str, body: str, understood: tuple[str, ...]) -> None:
    for name, row in spirv_grammar().values[kind].by_name.items():
        said = fed(body.format(name), decorated=f"%said = OpConstant %uint {row.number}\n%sub = OpConstant %uint 3\n")
        assert (said == "") is (str(row.number) in understood or row.name in understood), (name, said)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("%new = OpLoad %uint %at 0x80\n", "the memory operand 128 is not understood"),
        ("OpMemoryBarrier %one %semantics\n", "the memory semantics 0xa are not understood"),
        ("%two = OpExtInst %uint %set Sin %one %one\n", "Sin: expected 1 ids, found 2"),
    ],
)
def test_bits_and_operands_without_a_row(body: str, said: str) -> None:
    assert fed(body, decorated="").replace("None", "") == said or said in fed(
        body.replace("%semantics", "%ten"), decorated="%ten = OpConstant %uint 10\n"
    )


UNDEFINED_TWICE = """\
%u = OpUndef %uint
%same = OpIEqual %bool %u %u
OpSelectionMerge %end None
OpBranchConditional %same %yes %end
%yes = OpLabel
OpStore %at %zero
OpBranch %end
%end = OpLabel
"""


DECIDES = UNDEFINED_TWICE.partition("\n")[2].replace("%u %u", "%u %zero")
"""A branch that ``%u`` decides."""


def of_constants(made: str) -> dict[str, str]:
    """A constant of specialisation that decides: 32, a vector of ones and what is made of them, ``%u``."""
    declared = (
        "%pair = OpTypeVector %uint 2\n%ones = OpConstantComposite %pair %one %one\n%many = OpConstant %uint 32\n"
    )
    return {"body": DECIDES, "decorated": f"{declared}{made}\n"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (of_constants("%u = OpSpecConstantOp %uint IAdd %one %many"), ""),
        (
            of_constants("%u = OpSpecConstantOp %uint ShiftLeftLogical %one %many"),
            "%u is OpShiftLeftLogical of constants, whose value is not known",
        ),
        (
            of_constants(
                "%both = OpSpecConstantOp %pair VectorShuffle %ones %ones 0 4294967295\n"
                "%u = OpSpecConstantOp %uint CompositeExtract %both 1"
            ),
            "the branch depends on %undefined.both, which nothing has written",
        ),
        ({"body": UNDEFINED_TWICE}, "the branch depends on the result of OpUndef"),
        ({"decorated": "OpDecorate %one RelaxedPrecision\n"}, "the decoration RelaxedPrecision is not understood here"),
        ({"decorated": "OpDecorate %one FPRoundingMode RTZ\n"}, "the decoration FPRoundingMode RTZ is not understood"),
        (
            {"mode": "OpExecutionMode %main RoundingModeRTZ 32\n"},
            "the execution mode RoundingModeRTZ is not understood",
        ),
        ({"declared": "OpCapability 4242\n"}, "the capability 4242 is not understood"),
        ({"body": "OpStore %at %one Aligned 3\n"}, "Aligned: expected a power of 2"),
        ({"body": "OpStore %at %one Aligned|Nontemporal 4\n"}, ""),
        ({"body": "%f = OpExtInst %uint %set FindILsb %one\n"}, ""),
    ],
)
def test_words_that_decide(words: dict[str, str], said: str) -> None:
    assert fed(**words) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("%p = OpAccessChain %ptr %p\nOpStore %p %one\n", "%p is made of itself"),
        ("%p = OpBitcast %ptr %p\nOpCopyMemorySized %p %p %one\n", "%p is made of itself"),
        ("%p = OpBitcast %ptr %p\nOpLifetimeStart %p 4\n", "%p is made of itself"),
        # a choice of scalars where a vector is the result, and one of another length
        ("%new = OpSelect %two %yes %one %one\n", "has operands that it may not have"),
        ("%new = OpDot %uint %pair %one\n", "has operands that it may not have"),
        ("%new = OpVectorExtractDynamic %two %pair %zero\n", "has operands that it may not have"),
        ("%new = OpGroupNonUniformIAdd %two %sub Reduce %one\n", "has operands that it may not have"),
        ("OpSwitch %pair %next\n%next = OpLabel\n", "has operands that it may not have"),
        ("OpReturnValue %one\n%next = OpLabel\n", "has operands that it may not have"),
    ],
)
def test_operands_that_do_not_fit_each_other(body: str, said: str) -> None:
    """They are refused by the row, or by the meaning; no instruction is written of them."""
    declared = "%two = OpTypeVector %uint 2\n%pair = OpConstantComposite %two %one %one\n"
    declared += "%yes = OpConstantTrue %bool\n%sub = OpConstant %uint 3\n"
    assert said in fed(body, decorated=declared)


def test_mutants_end_in_one_line() -> None:
    """Words of the examples are left out, doubled and exchanged; none ends in an error of our own."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.spvasm"))]
    for seed in range(150):
        random = Random(seed)
        lines = random.choice(texts).split("\n")
        every = [word for line in lines for word in line.split()]
        at = random.randrange(len(lines))
        words = lines[at].split() or ["OpNop"]
        place = random.randrange(len(words))
        words[place : place + random.randrange(2)] = random.choice(([], ["9" * 4301], [random.choice(every)]))
        lines[at] = " ".join(words)
        with suppress(InputError):
            module = translated(read_spirv("\n".join(lines).encode(), "k.spvasm")).module
            for kernel in module.kernels:
                program_of(module, kernel, KernelLaunch())
