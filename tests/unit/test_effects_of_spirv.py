"""What each row of SPIR-V's tables says that an instruction does is what a thread does that follows it.

Each understood instruction, and each one of an extended set, stands in a small kernel; what is left of it in the litmus
test is held against its row: reads, writes, both, orders, control, or nothing. Its result is a value that memory
decides, or one that nothing tells; it is never a number out of nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

import pytest
from instruction_rows import understood

from corpus.code import ir
from corpus.code.launch.launch import ArrayArgument, KernelLaunch
from corpus.code.places import SLOTS
from corpus.code.program import KernelProgram, program_of
from corpus.code.spirv.extended import EXTENDED
from corpus.code.spirv.files import read_spirv
from corpus.code.spirv.grammar import spirv_grammar
from corpus.code.spirv.groups import OPERATIONS
from corpus.code.spirv.table import TABLE
from corpus.code.spirv.translation import translated
from corpus.code.table import Effect, forms_in
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Branch, Fence, Load, Rmw, Store
from corpus.litmus.locations import Reg

TYPES = {
    "uint": "OpTypeInt 32 0",
    "float": "OpTypeFloat 32",
    "ulong": "OpTypeInt 64 0",
    "half": "OpTypeFloat 16",
    "v2uint": "OpTypeVector %uint 2",
    "v2float": "OpTypeVector %float 2",
    "v3float": "OpTypeVector %float 3",
    "v4uint": "OpTypeVector %uint 4",
}
"""The types of values that a buffer has a member of, in their order."""

BOOLS = {"bool": "uint", "v2bool": "v2uint"}
"""Truth values, by what is compared with 0 for one."""

HEAD = """\
OpCapability Shader
OpCapability VulkanMemoryModel
%set = OpExtInstImport "SET"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %in %out
OpExecutionMode %main LocalSize 2 1 1
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1
OpDecorate %box Block
OpDecorate %words ArrayStride 4
"""
BODY = """\
%void = OpTypeVoid
%bool = OpTypeBool
%v2bool = OpTypeVector %bool 2
%pair = OpTypeStruct %uint %uint
%kernel = OpTypeFunction %void
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%no_uint = OpConstant %uint 0
%no_v2uint = OpConstantComposite %v2uint %zero %zero
%eight = OpConstant %uint 8
%four = OpConstant %uint 4
%subgroup = OpConstant %uint 3
%group = OpConstant %uint 2
%release = OpConstant %uint 0x44
%own = OpTypePointer Function %uint
%in = OpVariable %box_ptr StorageBuffer
%out = OpVariable %box_ptr StorageBuffer
%unary = OpTypeFunction %uint %uint
%main = OpFunction %void None %kernel
%start = OpLabel
"""
END = """\
OpReturn
OpFunctionEnd
%f = OpFunction %uint None %unary
%given = OpFunctionParameter %uint
%begin = OpLabel
OpReturnValue %given
OpFunctionEnd
"""


def _module(body: str, set: str) -> str:
    """A kernel that has loaded a value of each type, ``%a_uint``, and has pointers to each in two buffers."""
    head, types, chains = HEAD.replace("SET", set), "", ""
    for number, (name, type) in enumerate(TYPES.items()):
        head += f"OpMemberDecorate %box {number} Offset {16 * number}\n"
        types += f"%{name} = {type}\n%ptr_{name} = OpTypePointer StorageBuffer %{name}\n"
        chains += f"%c{number} = OpConstant %uint {number}\n"
    members = " ".join(f"%{name}" for name in TYPES)
    last = len(TYPES)
    head += f"OpMemberDecorate %box {last} Offset {16 * last}\n"
    types += f"%words = OpTypeRuntimeArray %uint\n%box = OpTypeStruct {members} %words\n"
    types += f"%box_ptr = OpTypePointer StorageBuffer %box\n%c{last} = OpConstant %uint {last}\n{chains}"
    loads = ""
    for number, name in enumerate(TYPES):
        for buffer in ("in", "out"):
            loads += f"%{buffer}_{name} = OpAccessChain %ptr_{name} %{buffer} %c{number}\n"
        if f"%a_{name}" in body or any(f"%a_{each}" in body and name == of for each, of in BOOLS.items()):
            loads += f"%a_{name} = OpLoad %{name} %in_{name}\n"
    for name, of in BOOLS.items():
        loads += f"%a_{name} = OpINotEqual %{name} %a_{of} %no_{of}\n" * (f"%a_{name}" in body)
    loads += "%local = OpVariable %own Function\n"
    return f"{head}{types}{BODY}{loads}{body}{END}"


LAUNCH = KernelLaunch((1, 1, 1), (2, 1, 1), arguments={"b0_0": ArrayArgument((), 40, 4)})


class Followed(NamedTuple):
    """A kernel as code, and what is left of it."""

    module: ir.Module
    program: KernelProgram

    def written(self, name: str) -> set[str]:
        """The instructions of the representation that an instruction becomes."""
        bodies = (each.body or () for each in self.module.functions.values())
        return {ins.name for body in bodies for ins in body if ins.called == name}


def followed(codes: Iterable[str], set: str = "GLSL.std.450") -> Followed:
    """What is left of the first kernel with one of these codes that is not refused."""
    for body in codes:
        try:
            module = translated(read_spirv(_module(body, set).encode(), "k.spvasm")).module
            return Followed(module, program_of(module, module.kernels[0], LAUNCH))
        except InputError:
            continue
    raise AssertionError("it is refused whatever its operands are")


def done(program: KernelProgram, name: str) -> set[str]:
    """What an instruction does in the first thread of what is left; of one that does nothing, nothing is left."""
    found = set[str]()
    if not program.test.threads:
        return found
    for ins, residual in zip(program.test.threads[0].instructions, program.code[0], strict=True):
        origin, places = residual.origin, residual.accesses
        if origin is None or origin.called != name or any(access.array.space == SLOTS for access in places):
            continue
        if isinstance(ins, Load | Rmw):
            found.add("reads")
        if isinstance(ins, Store | Rmw):
            found.add("writes")
        if isinstance(ins, Fence | Barrier):
            found.add("orders")
        if isinstance(ins, Branch):
            found.add("control")
    return found


DOES: dict[Effect, set[str]] = {
    Effect.NOTHING: set(),
    Effect.READS: {"reads"},
    Effect.WRITES: {"writes"},
    Effect.BOTH: {"reads", "writes"},
    Effect.ORDERS: {"orders"},
    Effect.CONTROL: {"control"},
}


def _used(type: str) -> str:
    """Code that stores a result of a type."""
    if type == "bool":
        return "%kept = OpSelect %uint %new %a_uint %one\nOpStore %out_uint %kept\n"
    if type == "v2bool":
        return "%part = OpCompositeExtract %bool %new 0\n" + _used("bool").replace("%new", "%part")
    if type == "pair":
        return "%part = OpCompositeExtract %uint %new 1\nOpStore %out_uint %part\n"
    return f"OpStore %out_{type} %new\n"


YES = "%yes = OpLabel\nOpStore %out_uint %one\nOpBranch %join\n%join = OpLabel\n"
OPERANDS = "%uint %in_uint %one %zero"
CODE: dict[str, str] = {
    **{name: f"{name}\n" for name in ("OpNop", "OpNoLine")},
    "OpLine": "OpLine %set 1 1\n",
    "OpBranch": "OpBranch %next\n%next = OpLabel\n",
    "OpBranchConditional": f"OpBranchConditional %a_bool %yes %join\n{YES}",
    "OpSwitch": f"OpSwitch %a_uint %join 3 %yes\n{YES}",
    "OpPhi": "OpBranchConditional %a_bool %yes %join\n%yes = OpLabel\nOpBranch %join\n%join = OpLabel\n"
    "%new = OpPhi %uint %a_uint %start %one %yes\nOpStore %out_uint %new\n",
    "OpFunctionCall": "%new = OpFunctionCall %uint %f %a_uint\nOpStore %out_uint %new\n",
    "OpReturnValue": "%new = OpFunctionCall %uint %f %a_uint\nOpStore %out_uint %new\n",
    **{f"Op{name}": f"Op{name}\n%dead = OpLabel\n" for name in ("Return", "Kill", "TerminateInvocation")},
    "OpUnreachable": "OpBranchConditional %a_bool %yes %join\n%yes = OpLabel\nOpUnreachable\n%join = OpLabel\n",
    "OpAssumeTrueKHR": "OpAssumeTrueKHR %a_bool\n",
    "OpLoopMerge": "OpBranch %join\n%join = OpLabel\nOpLoopMerge %end %join None\nOpBranch %end\n%end = OpLabel\n",
    "OpSelectionMerge": "OpSelectionMerge %join None\nOpBranch %join\n%join = OpLabel\n",
    "OpVariable": "%other = OpVariable %own Function %eight\n%new = OpLoad %uint %other\nOpStore %out_uint %new\n",
    "OpUntypedVariableKHR": "%other = OpUntypedVariableKHR %own Function %uint %eight\n%new = OpLoad %uint %other\n"
    "OpStore %out_uint %new\n",
    **{f"OpLifetime{name}": f"OpLifetime{name} %local 4\n" for name in ("Start", "Stop")},
    "OpLoad": "%new = OpLoad %uint %in_uint\nOpStore %out_uint %new\n",
    "OpAtomicLoad": "%new = OpAtomicLoad %uint %in_uint %one %zero\nOpStore %out_uint %new\n",
    "OpStore": "OpStore %out_uint %a_uint\n",
    "OpAtomicStore": "OpAtomicStore %out_uint %one %zero %a_uint\n",
    "OpAtomicFlagClear": "OpAtomicFlagClear %out_uint %one %zero\n",
    "OpAtomicFlagTestAndSet": "%new = OpAtomicFlagTestAndSet %bool %in_uint %one %zero\n" + _used("bool"),
    "OpCopyMemory": "OpCopyMemory %out_uint %in_uint\n",
    "OpCopyMemorySized": "OpCopyMemorySized %out_uint %in_uint %four\n",
    "OpMemoryBarrier": "OpMemoryBarrier %one %release\nOpStore %out_uint %one\n",
    "OpControlBarrier": "OpControlBarrier %group %group %release\n",
    **{
        f"OpAtomicCompareExchange{weak}": f"%new = OpAtomicCompareExchange{weak} {OPERANDS} %zero %a_uint %one\n"
        "OpStore %out_uint %new\n"
        for weak in ("", "Weak")
    },
    **{
        f"OpAtomicI{name}crement": f"%new = OpAtomicI{name}crement %uint %in_uint %one %zero\nOpStore %out_uint %new\n"
        for name in ("In", "De")
    },
    **{
        f"Op{name}": f"%new = Op{name} %ptr_uint %in {'%zero ' * ('Ptr' in name)}%zero\n%part = OpLoad %uint %new\n"
        "OpStore %out_uint %part\n"
        for name in ("AccessChain", "InBoundsAccessChain", "PtrAccessChain", "InBoundsPtrAccessChain")
    },
    **{
        f"OpUntyped{name}AccessChainKHR": f"%new = OpUntyped{name}AccessChainKHR %ptr_uint %box %in %zero\n"
        "%part = OpLoad %uint %new\nOpStore %out_uint %part\n"
        for name in ("", "InBounds")
    },
    "OpArrayLength": "%new = OpArrayLength %uint %in 8\n" + _used("uint"),
    "OpUntypedArrayLengthKHR": "%new = OpUntypedArrayLengthKHR %uint %box %in 8\n" + _used("uint"),
    "OpUndef": "%new = OpUndef %uint\nOpStore %out_uint %new\n",
    "OpReadClockKHR": "%new = OpReadClockKHR %ulong %one\nOpStore %out_ulong %new\n",
    "OpCompositeInsert": "%new = OpCompositeInsert %v2uint %a_uint %a_v2uint 1\n" + _used("v2uint"),
    "OpCompositeExtract": "%new = OpCompositeExtract %uint %a_v2uint 1\n" + _used("uint"),
    "OpVectorShuffle": "%new = OpVectorShuffle %v2uint %a_v2uint %a_v4uint 1 3\n" + _used("v2uint"),
    "OpVectorInsertDynamic": "%new = OpVectorInsertDynamic %v2uint %a_v2uint %a_uint %a_uint\n" + _used("v2uint"),
    "OpVectorExtractDynamic": "%new = OpVectorExtractDynamic %uint %a_v2uint %a_uint\n" + _used("uint"),
    "OpVectorTimesScalar": "%new = OpVectorTimesScalar %v2float %a_v2float %a_float\n" + _used("v2float"),
    "OpSelect": "%new = OpSelect %uint %a_bool %a_uint %one\n" + _used("uint"),
}
"""Code with instructions whose operands are not all of one type."""


def _instances(name: str) -> Iterator[str]:
    """Code with an instruction: that of the table, or its operands are values of one type, and its result is used."""
    if name in CODE:
        yield CODE[name]
        return
    row = spirv_grammar().instructions.by_name[name]
    types = (*TYPES, "bool", "v2bool")
    if name in OPERATIONS:
        for type, own in product(("uint", "float", "bool", "v4uint"), ("uint", "float", "bool", "v4uint")):
            how = "Reduce " if any(each.parts == ("GroupOperation",) for each in row.kinds) else ""
            for more in (f"%a_{own}", f"%a_{own} %zero", ""):
                yield f"%new = {name} %{type} %subgroup {how}{more}\n{_used(type)}"
        return
    if name.startswith("OpAtomic"):
        for type in ("uint", "float"):
            yield f"%new = {name} %{type} %in_{type} %one %zero %a_{type}\nOpStore %out_{type} %new\n"
        return
    count = sum(not each.quantifier for each in row.kinds)
    for own, type in product(types, (*types, "pair")):
        for given in (f"%a_{own} " * count, f"%a_{own} %a_{own}"):
            yield f"%new = {name} %{type} {given}\n{_used(type)}"


CORE = [row.name for row in spirv_grammar().instructions.by_number.values() if row.name in TABLE]
OWN = ("OpVariable", "OpUntypedVariableKHR", "OpLifetimeStart", "OpLifetimeStop")
"""What writes memory of the thread's own, which is not left in a litmus test."""
GOING = {"bra", "ret", "exit", "trap", "call"}
WRITING = {"store", "update", "forget"}


def does_what_its_row_says(found: Followed, name: str, effect: Effect) -> None:
    does, written = done(found.program, name), found.written(name)
    assert (effect is Effect.CONTROL) is bool(written & GOING), written
    assert (effect in (Effect.WRITES, Effect.BOTH)) is bool(written & WRITING), written
    if name in OWN or effect is Effect.CONTROL or "Elect" in name:
        assert does <= DOES[effect]
    else:
        assert does == DOES[effect]


def has_a_result_that_is_told(program: KernelProgram) -> None:
    """What is stored last is what memory decides, or what nothing tells."""
    code = zip(program.test.threads[0].instructions, program.origins[0], strict=True)
    *_, last = (ins for ins, origin in code if isinstance(ins, Store) and origin and origin.called == "OpStore")
    assert not isinstance(last.value, int)
    moved = [ins for ins in program.test.threads[0].instructions if isinstance(ins, Assign)]
    given = [ins.operands for ins in moved if Reg(ins.target) == last.value and ins.operation == "mov"]
    assert program.locations.untold or not any(isinstance(each, int) for operands in given for each in operands)


CONSTANT = ("Elect", "ArrayLength", "Variable", "OpPhi")
"""Parts of the names of what gives a constant in these kernels, on some way."""


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", CORE)
def test_an_instruction_does_what_its_row_says(name: str) -> None:
    (row,) = TABLE[name]
    found = followed(_instances(name))
    does_what_its_row_says(found, name, row.effect)
    if "%new" in next(_instances(name)) and not any(each in name for each in CONSTANT):
        has_a_result_that_is_told(found.program)


def _extended(name: str, ids: int) -> Iterator[str]:
    """Code with an instruction of an extended set: its operands are of one type, or its last one is a pointer."""
    types = [each for each in TYPES if each != "v4uint"]
    if name.startswith("v"):
        how = " RTE" if name.endswith("_r") else ""
        kind, scalar = ("half", "float") if "half" in name else ("float", "float")
        vector, count = ("v2float", " 2") if name.endswith(("n", "n_r")) else (scalar, "")
        own = f"%in_{kind}"
        if name.startswith("vload"):
            yield f"%new = OpExtInst %{vector} %set {name} %zero {own}{count}\nOpStore %out_{vector} %new\n"
        else:
            yield f"%new = OpExtInst %void %set {name} %a_{vector} %zero {own}{how}\n"
    for own, type in product(types, (*types, "uint")):
        values = f"%a_{own} " * max(ids, 1)
        for last in ("", f"%in_{own}", "%in_uint", f"%in_{type}"):
            given = values if not last else f"%a_{own} " * (ids - 1) + last
            yield f"%new = OpExtInst %{type} %set {name} {given}\nOpStore %out_{type} %new\n"


ROWS = [(set, name) for set, table in EXTENDED.items() for name in table]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("set", "name"), ROWS)
def test_an_extended_instruction_does_what_its_row_says(set: str, name: str) -> None:
    (row,) = EXTENDED[set][name]
    (form,) = forms_in(row.operands)
    codes = _extended(name, len(form))
    if name == "printf":
        codes = iter(("%new = OpExtInst %uint %set printf %said %a_uint\nOpStore %out_uint %new\n",))
    found = followed(codes, set)
    does_what_its_row_says(found, "OpExtInst", row.effect)
    if not name.startswith("vstore") and name != "prefetch":
        has_a_result_that_is_told(found.program)


def test_the_counts_of_effects_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    tables = {"core": TABLE, **EXTENDED}
    with capsys.disabled():
        for set, table in tables.items():
            effects = [row.effect for _, row in understood(table)]
            counts = ", ".join(f"{count} {effect}" for effect, count in Counter(effects).most_common())
            print(f"\nSPIR-V, {set}: {counts}", end="")
    assert len(CORE) > 200
