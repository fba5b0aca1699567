"""Kernels of SPIR-V as what is left of them: modes, computations, groups, names of members, and what stops a thread."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from corpus.code.arithmetic import compute_, move, select
from corpus.code.computations import COMPUTATIONS, folded
from corpus.code.ir import KernelInstruction
from corpus.code.meaning import COMMON, by_name
from corpus.code.program import KernelProgram, program_of
from corpus.code.thread import Meaning
from corpus.litmus.instructions import Barrier, Instruction, Store
from corpus.litmus.locations import Loc
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import COMPUTED, WIDTHS
from synth.checking.sources import kernels_of
from synth.checking.tasks import tasks_of
from synth.requests import read_launch

HEAD = """\
OpCapability Shader
OpMemoryModel Logical MODEL
OpEntryPoint GLCompute %main "k" %lane
OpDecorate %lane BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
OpMemberName %block 0 "flag"
OpMemberName %block 1 "data"
OpDecorate %buf DescriptorSet 0
OpDecorate %buf Binding 0
%void = OpTypeVoid
%kernel = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %uint %words
%block_ptr = OpTypePointer StorageBuffer %block
%ptr = OpTypePointer StorageBuffer %uint
%in_uint = OpTypePointer Input %uint
%c2 = OpConstant %uint 2
%tile_t = OpTypeArray %uint %c2
%tile_ptr = OpTypePointer Workgroup %tile_t
%shared = OpTypePointer Workgroup %uint
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%c3 = OpConstant %uint 3
%made = OpConstant %uint 0x6108
%lane = OpVariable %in_uint Input
%buf = OpVariable %block_ptr StorageBuffer
%tile = OpVariable %tile_ptr Workgroup
%main = OpFunction %void None %kernel
%start = OpLabel
%id = OpLoad %uint %lane
"""


def left(body: str, *words: str, model: str = "Vulkan") -> KernelProgram:
    text = HEAD.replace("MODEL", model) + body + "\nOpReturn\nOpFunctionEnd\n"
    (task,) = tasks_of(kernels_of(text.encode(), Path("k.spvasm")), read_launch(["--grid=1", *words]))
    return program_of(task.file.module, task.kernel, task.launch)


def instructions(program: KernelProgram, thread: int = 0) -> list[Instruction]:
    return list(program.test.threads[thread].instructions)


FLAG = "%flag = OpAccessChain %ptr %buf %c0\n"


@pytest.mark.parametrize(
    ("line", "mode"),
    [
        ("OpStore %flag %c1", Mode(tags=("sc0",))),
        ("OpStore %flag %c1 NonPrivatePointer", Mode(tags=("nonpriv", "sc0"))),
        (
            "OpStore %flag %c1 MakePointerAvailable|NonPrivatePointer %c2",
            Mode(Order.WEAK, Scope.CTA, tags=("av", "sc0")),
        ),
        ("OpAtomicStore %flag %c1 %c0 %c1", Mode(Order.RELAXED, Scope.GPU, tags=("sc0",))),
        ("OpAtomicStore %flag %c3 %c0 %c1", Mode(Order.RELAXED, Scope.WARP, tags=("sc0",))),
    ],
)
def test_modes_of_vulkan(line: str, mode: Mode) -> None:
    (store,) = instructions(left(FLAG + line))
    assert store == Store(Loc("flag"), 1, mode)


def test_modes_of_glsl_say_what_is_assumed() -> None:
    program = left(FLAG + "OpStore %flag %c1", model="GLSL450")
    (store,) = instructions(program)
    assert isinstance(store, Store) and store.mode == Mode(tags=("sc0",))
    assert any("GLSL450" in each for each in program.assumed)


def test_members_have_their_names_unless_an_index_is_computed() -> None:
    place = "%p = OpAccessChain %ptr %buf %c1 INDEX\nOpAtomicStore %p %c1 %c0 %c1\nOpAtomicStore %flag %c1 %c0 %c1\n"
    known = left(FLAG + place.replace("INDEX", "%c2"))
    assert [each.name for each in known.test.locations] == ["flag", "data[2]"]
    computed = left(FLAG + "%n = OpAtomicLoad %uint %flag %c1 %c0\n" + place.replace("INDEX", "%n"))
    assert [each.name for each in computed.test.locations] == ["buf", "buf[1]", "buf[2]", "buf[3]"]


SOME = """\
%few = OpULessThan %bool %id %c2
OpSelectionMerge %end None
OpBranchConditional %few %meet %end
%meet = OpLabel
OpControlBarrier %c3 %c2 %made
OpBranch %end
%end = OpLabel
"""


def test_those_of_a_subgroup_meet_that_come_to_its_barrier() -> None:
    program = left(SOME, "--block=3")
    assert [each.place.warp for each in program.test.threads] == [0, 0]
    assert all(isinstance(ins, Barrier) and ins.quorum is None for ins in instructions(program))
    assert not program.barriers.uncounted


def test_where_memory_decides_who_comes_to_a_subgroup_it_is_said() -> None:
    read = "%seen = OpAtomicLoad %uint %flag %c1 %c0\n"
    program = left(FLAG + read + SOME.replace("%id %c2", "%seen %c2"), "--block=2")
    assert program.barriers.uncounted
    assert "where memory decides what a thread does with its subgroup, the others do it too" in program.assumed


def test_a_barrier_has_a_number_for_each_way_to_it() -> None:
    barrier = "OpControlBarrier %c2 %c2 %made\n"
    one, other = instructions(left(barrier * 2, "--block=2"))
    assert isinstance(one, Barrier) and isinstance(other, Barrier)
    assert (one.number, other.number) == (0, 1)


def test_a_thread_that_is_certain_to_leave_an_array_is_found_where_others_wait() -> None:
    from oracle.consistency import AxiomaticModel, resolve_consistency_models
    from synth.checking.questions import check

    body = "%p = OpAccessChain %shared %tile %id\nOpStore %p %c1\nOpControlBarrier %c2 %c2 %made\n"
    (model,) = resolve_consistency_models(["vulkan"])
    assert isinstance(model, AxiomaticModel)
    found = check(left(body, "--block=3"), model, "", 2, "fair")
    assert {each.kind for each in found.findings} == {"bounds", "barrier"}


STRUCTS = """\
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "k"
%void = OpTypeVoid
%uchar = OpTypeInt 8 0
%ushort = OpTypeInt 16 0
%uint = OpTypeInt 32 0
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%c4 = OpConstant %uint 4
%byte = OpConstant %uchar 7
%half = OpConstant %ushort 8
%pair = OpTypeStruct %uchar %ushort
%pair_ptr = OpTypePointer Function %pair
%uchar_ptr = OpTypePointer Function %uchar
%ushort_ptr = OpTypePointer Function %ushort
%out_ptr = OpTypePointer CrossWorkgroup %ushort
%kernel = OpTypeFunction %void %out_ptr
%main = OpFunction %void None %kernel
%out = OpFunctionParameter %out_ptr
%start = OpLabel
%s = OpVariable %pair_ptr Function
%t = OpVariable %pair_ptr Function
%s0 = OpInBoundsAccessChain %uchar_ptr %s %c0
%s1 = OpInBoundsAccessChain %ushort_ptr %s %c1
OpStore %s0 %byte
OpStore %s1 %half
%from = OpBitcast %uchar_ptr %s
%to = OpBitcast %uchar_ptr %t
OpCopyMemorySized %to %from %c4
%t1 = OpInBoundsAccessChain %ushort_ptr %t %c1
%read = OpLoad %ushort %t1
OpStore %out %read
OpReturn
OpFunctionEnd
"""


def test_bytes_of_a_struct_are_copied_as_its_members_with_padding_between_them() -> None:
    (task,) = tasks_of(kernels_of(STRUCTS.encode(), Path("k.spvasm")), read_launch(["--grid=1"]))
    program = program_of(task.file.module, task.kernel, task.launch)
    assert not program.locations.untold
    assert [ins.value for ins in instructions(program) if isinstance(ins, Store)] == [8]


@pytest.mark.parametrize(
    ("name", "kinds", "values", "result"),
    [
        ("OpSMod", ("b32", "b32"), (-7, 3), 2),
        ("OpSMod", ("b32", "b32"), (7, -3), -2),
        ("OpSRem", ("b32", "b32"), (-7, 3), -1),
        ("OpUMod", ("b8", "b8"), (250, 7), 5),
        ("OpUDiv", ("b32", "b32"), (-1, 2), 0x7FFFFFFF),
        ("OpShiftRightArithmetic", ("b16", "b32"), (0x8000, 15), -1),
        ("OpBitFieldSExtract", ("b32", "b32", "b32"), (0xF0, 4, 4), -1),
        ("OpBitFieldInsert", ("b32", "b32", "b32", "b32"), (0, 7, 4, 2), 0x30),
        ("FindILsb", ("b32",), (0,), -1),
        ("FindILsb", ("b32",), (12,), 2),
        ("FindSMsb", ("b32",), (-1,), -1),
        ("UClamp", ("b32", "b32", "b32"), (9, 2, 5), 5),
        ("OpSConvert", ("b8",), (0x80,), -128),
        ("s_hadd", ("b8", "b8"), (-128, 127), -1),
        ("u_hadd", ("b32", "b32"), (0xFFFFFFFF, 1), 0x80000000),
        ("s_rhadd", ("b16", "b16"), (-3, -2), -2),
        ("u_rhadd", ("b8", "b8"), (255, 254), 255),
        ("rotate", ("b8", "b8"), (0x81, 1), 3),
        ("rotate", ("b32", "b32"), (5, 32), 5),
        ("rotate", ("b64", "b64"), (1, -1), -(1 << 63)),
        ("ctz", ("b16",), (0,), 16),
        ("OpBitFieldInsert", ("b32", "b32", "b32", "b32"), (5, -1, 0, 32), -1),
        ("OpBitFieldInsert", ("b32", "b32", "b32", "b32"), (5, -1, 3, 0), 5),
        ("ctz", ("b32",), (40,), 3),
        ("SSign", ("b32",), (-9,), -1),
        ("SSign", ("b32",), (0,), 0),
    ],
)
def test_computations(name: str, kinds: tuple[str, ...], values: tuple[int, ...], result: int) -> None:
    rule = COMPUTATIONS.get(name)
    own = "b32" if name == "OpSConvert" else kinds[0]
    assert rule is not None
    bits = [value % (1 << WIDTHS[kind]) for value, kind in zip(values, kinds, strict=True)]
    assert folded(rule, own, kinds, bits) == result % (1 << WIDTHS[own])


@pytest.mark.parametrize("sign", ["s", "u"])
def test_sums_of_products_are_saturated(sign: str) -> None:
    rule = COMPUTATIONS.get(f"{sign}_mad_sat")
    assert rule is not None
    least, most = (-128, 127) if sign == "s" else (0, 255)
    values = [n for n in (-128, -127, -64, -2, -1, 0, 1, 2, 11, 12, 63, 127, 128, 254, 255) if least <= n <= most]
    for one, other, more in product(values, repeat=3):
        found = folded(rule, "b8", ("b8",) * 3, (one & 255, other & 255, more & 255))
        assert found == max(least, min(most, one * other + more)) & 255, (one, other, more)


def test_halves_are_put_together() -> None:
    rule = COMPUTATIONS.get("s_upsample")
    assert rule is not None and folded(rule, "b32", ("b16", "b16"), (0x8001, 0xFFFE)) == 0x8001FFFE


@pytest.mark.parametrize(
    ("name", "value", "result"),
    [
        ("OpIsNan", 0x7FC00000, 1),
        ("OpIsNan", 0x7F800000, 0),
        ("OpIsInf", 0xFF800000, 1),
        ("OpIsInf", 0x7FC00000, 0),
        ("OpIsInf", 0, 0),
        ("OpIsInf", 0x7F7FFFFF, 0),
    ],
)
def test_tests_of_floats(name: str, value: int, result: int) -> None:
    rule = COMPUTATIONS.get(name)
    assert rule is not None and folded(rule, "pred", ("f32",), (value,)) == result


def test_every_step_is_an_instruction_that_computes() -> None:
    every = [step for rule in COMPUTATIONS.values() for step in rule]
    names = {step.words("b32", "f32" if "{f}" in step.opcode else "b32")[0] for step in every}
    assert names <= {*COMPUTED, "setp"}


@pytest.mark.parametrize(("name", "meaning"), [("mov", move), ("selp", select), ("add", compute_)])
def test_a_name_is_found_at_its_own_row_before_that_of_all_computations(name: str, meaning: Meaning) -> None:
    """``mov`` packs vectors as well, which a computation on values does not."""
    row = by_name(COMMON)(KernelInstruction(name, ("b32",), (), None, 1), lambda _: None)
    assert not isinstance(row, str) and row.meaning is meaning
