"""What registers and constant memory hold when a thread is specialised: widths, addresses, parameters."""

from __future__ import annotations

import pytest

from corpus.code.evaluation import residual_name
from corpus.code.follower import follow
from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.places import ArrayPlace, Cell, RegisterHome
from corpus.code.ptx.reader import read_ptx
from corpus.code.ptx.table import PTX
from corpus.code.thread import new_thread
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Instruction, Store
from corpus.litmus.locations import Reg

HEAD = """.version 9.1
.target sm_90
.address_size 64
.global .u64 out;
.global .u32 in;
.const .b8 bytes[4] = {0x80, 0x7F, 0xFF, 1};
.const .u64 pointers[2] = {in, 5};
.global .u64 table[1] = {in};
.const .u32 later;
.extern .const .u32 elsewhere[];
.func (.reg .b32 sum) added(.reg .b32 one, .reg .b32 other) { add.s32 sum, one, other; ret; }
"""


def code(body: str) -> list[Instruction]:
    declared = ".reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>;"
    module = read_ptx(f"{HEAD}.entry k() {{ {declared}\n{body}\nret;\n}}", "t.ptx")
    one = (1, 1, 1)
    launch = KernelLaunch(one, one)
    ids = ThreadIds((0, 0, 0), (0, 0, 0))
    found = follow(new_thread(module, module.functions["k"], launch, ids, PTX))
    return [each.instruction for each in found]


def stored(body: str, register: str = "%r9") -> object:
    """What a body stores at last."""
    width = "b64" if register.startswith("%rd") else "b32"
    (found,) = (each for each in code(f"{body}\nst.global.{width} [out], {register};") if isinstance(each, Store))
    return found.value


@pytest.mark.parametrize(
    ("body", "register", "value"),
    [
        ("cvt.s8.s32 %r1, 255;", "%r1", -1),
        ("cvt.u8.s32 %r1, -1;", "%r1", 255),
        ("cvt.s16.s32 %r1, 0x8000;", "%r1", -(2**15)),
        ("cvt.s16.s32 %rd1, 0x8000;", "%rd1", -(2**15)),
        ("ld.const.s8 %r1, [bytes];", "%r1", -128),
        ("ld.const.u8 %r1, [bytes];", "%r1", 128),
        ("ld.const.b8 %r1, [bytes];", "%r1", 128),
        ("ld.const.s16 %rd1, [bytes+2];", "%rd1", 0x1FF),
        ("ld.const.s16 %rd1, [bytes];", "%rd1", 0x7F80),
        ("ld.const.b32 %r1, [bytes];", "%r1", 0x01FF7F80),
        ("ld.const.u64 %rd1, [pointers+8];", "%rd1", 5),
        ("ld.const.u32 %r1, [later];", "%r1", 0),
        ("call (%r1), added, (3, 4);", "%r1", 7),
        ("mov.u32 %r2, 5; call (%r1), added, (%r2, -6);", "%r1", -1),
        ("set.lt.s32.s32 %r1, -1, 0;", "%r1", -1),
        ("set.lt.u32.u32 %r1, 0xFFFFFFFF, 0;", "%r1", 0),
        ("set.gt.f32.f32 %r1, 0f3F800000, 0f80000001;", "%r1", 0x3F800000),
        ("{ .reg .b32 %r<9>; mov.u32 %r1, 4; } mov.u32 %r2, 6;", "%r2", 6),
        ("add.sat.s32 %r1, 0x7FFFFFFF, 1;", "%r1", 2**31 - 1),
    ],
)
def test_values_that_are_known(body, register, value):
    assert stored(body, register) == value


@pytest.mark.parametrize("opcode", ["div.approx.f32", "add.f16x2", "div.u32"])
def test_results_that_nothing_says_are_some_number(opcode):
    found = code(f"{opcode} %r1, 0, 0; st.global.b32 [out], %r1;")
    (store,) = (each for each in found if isinstance(each, Store))
    (number,) = (each for each in found if isinstance(each, Assign) and Reg(each.target) == store.value)
    assert isinstance(number.operands[0], int) and number.operands[0] > 0x7F000000


def test_an_address_in_constant_memory_is_one():
    found = code("ld.const.u64 %rd1, [pointers]; st.global.u32 [%rd1], 7;")
    (store,) = (each for each in found if isinstance(each, Store))
    assert isinstance(store.address, ArrayPlace) and (str(store.address.array), store.address.offset) == (
        "global::in",
        0,
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("ld.const.u32 %r1, [pointers];", "a part of an address that pointers holds is not understood"),
        ("ld.const.u32 %r1, [pointers+4];", "a part of an address that pointers holds is not understood"),
        ("ld.global.u64 %rd1, [table];", "table holds addresses"),
        ("st.global.u64 [table], 0;", "table holds addresses"),
        ("ld.const.u32 %r1, [elsewhere];", "what elsewhere holds is not in the module"),
    ],
)
def test_addresses_that_are_not_understood(body, message):
    with pytest.raises(InputError, match=message):
        code(body)


@pytest.mark.parametrize("place", ["bytes+8", "bytes+-4", "bytes+4", "pointers+16"])
def test_constant_memory_has_bounds(place):
    stops = [each.target for each in code(f"ld.const.u32 %r1, [{place}];") if isinstance(each, Assign)]
    assert stops == ["stopped_by_bounds"]


def test_what_was_read_fills_a_wider_register():
    def operations(body: str) -> list[str]:
        return [each.operation for each in code(body) if isinstance(each, Assign)]

    assert "cvt.u64.u32" in operations("ld.global.u32 %rd1, [in]; st.global.u64 [out], %rd1;")
    assert "cvt.u64.u32" in operations("ld.global.b32 %rd1, [in]; st.global.u64 [out], %rd1;")
    assert "cvt.u64.u32" not in operations("ld.global.s32 %rd1, [in]; st.global.u64 [out], %rd1;")
    assert "cvt.u32.u8" in operations("ld.global.u32 %r1, [in]; cvt.u8.u32 %r2, %r1; st.global.u32 [out], %r2;")


def test_registers_of_the_residual_program_have_one_name_each():
    names = [RegisterHome(0, name) for name in ("%r1'2", "%r1_2", "%r1__2", "%r1_s2", "%r12", "%a_0_4")]
    names += [RegisterHome(1, "%r12"), Cell(0, "a_b", 0, 4), Cell(0, "a", 0, 4)]
    assert len({residual_name(name) for name in names}) == len(names)
