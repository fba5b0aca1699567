"""The reader of PTX: every construct of the syntax of PTX ISA 9.1, and where a text is refused."""

from __future__ import annotations

import struct

import pytest

from corpus.code.ir import (
    Both,
    Element,
    Float,
    KernelFunction,
    KernelGuard,
    KernelInstruction,
    MemoryOperand,
    Module,
    Negated,
    Number,
    Operand,
    Register,
    SourceLine,
    SymbolRef,
    Variable,
    Vector,
)
from corpus.code.ptx.declarations import MOST_REGISTERS
from corpus.code.ptx.reader import read_ptx
from corpus.code.ptx.syntax import MOST_NESTED
from corpus.errors import InputError

HEAD = ".version 9.1\n.target sm_90\n.address_size 64\n"


def read(text: str) -> Module:
    return read_ptx(HEAD + text, "t.ptx")


def function(body: str, head: str = ".entry k()") -> KernelFunction:
    return next(each for each in read(f"{head}\n{{\n{body}\n}}").functions.values() if each.body is not None)


def instructions(body: str) -> tuple[KernelInstruction, ...]:
    code = function(body).body
    assert code is not None
    return code


def operands(line: str) -> tuple[Operand, ...]:
    (found,) = instructions(line)
    return found.operands


def variable(text: str) -> Variable:
    (found,) = read(text).variables.values()
    return found


def constant(text: str) -> Operand:
    return operands(f"mov.b64 %rd1, {text};")[1]


def double(value: float) -> Float:
    return Float(int.from_bytes(struct.pack("<d", value), "little"), 64)


# Modules (11.1, 11.5, 11.6)


def test_version_target_and_address_size():
    module = read_ptx(".version 8.7 .target sm_100a, texmode_independent, debug .address_size 64", "t.ptx")
    assert (module.version, module.target) == ("8.7", "sm_100a, texmode_independent, debug")
    with pytest.raises(InputError, match="sizes of addresses"):  # a pointer of 4 bytes would be read as a number
        read_ptx(".version 8.7 .target sm_100a .address_size 32", "t.ptx")


def test_the_target_may_change_and_the_address_size_may_be_left_out():
    assert read_ptx(".version 3.1\n.target sm_20\n.target sm_30\n", "t.ptx").target == "sm_30"


def test_a_module_may_be_empty():
    module = read("")
    assert not module.variables and not module.functions and not module.kernels


@pytest.mark.parametrize("linkage", ["", ".visible", ".weak", ".extern", ".common", ".visible .weak"])
def test_linkage_of_variables(linkage):
    assert variable(f"{linkage} .global .u32 x;").extern is (linkage == ".extern")


@pytest.mark.parametrize("linkage", ["", ".visible", ".weak"])
def test_linkage_of_functions(linkage):
    module = read(f"{linkage} .func f() {{ ret; }}\n{linkage} .entry k() {{ ret; }}")
    assert [each.name for each in module.kernels] == ["k"] and list(module.functions) == ["f", "k"]


def test_a_declaration_gives_way_to_the_definition_on_either_side():
    for text in (".func f();\n.func f() { ret; }", ".func f() { ret; }\n.func f();"):
        assert read(text).functions["f"].body is not None
    for text in (".extern .global .u32 x;\n.global .u32 x = 7;", ".global .u32 x = 7;\n.extern .global .u32 x;"):
        assert variable(text).initial == bytes((7, 0, 0, 0))


def test_an_alias_is_a_second_name_of_a_function():
    """11.2.3. The function may stand behind the directive."""
    module = read(".func a(.param .b32 p);\n.alias a, f;\n.func f(.param .b32 p) { ret; }")
    assert module.functions["a"].name == "a" and module.functions["a"].body == module.functions["f"].body


def test_sections_and_pragmas_are_read_over():
    text = """
    .pragma "nounroll";
    .section .debug_info
    {
        .b32 11430
        .b8 2, 0
        .b32 .debug_abbrev, info+12
      info: .b64 -1
        .b32 end-begin
        { .b8 0 }
    }
    .section .debug_str { }
    .entry k() { .pragma "enable_smem_spilling", "frequency 4"; ret; }
    """
    assert [ins.name for ins in read(text).functions["k"].body] == ["ret"]


def test_old_debugging_lines_are_comments():
    """11.5.1."""
    text = '@@DWARF .section .debug_pubnames, "", @progbits\n.entry k() {\n@@dwarf .byte 0x2b, 0x00\nret; }'
    assert [ins.line for ins in read(text).functions["k"].body] == [7]


def test_comments_of_both_kinds_stand_anywhere():
    plain = instructions("@!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+4];\nL: bra L;")
    spread = "@ ! %p1 ld.global.v2.u32 { %r1 , %r2 } , [ %rd1 + 4 ] ; L : bra L ;"
    for blank in ('/* ; " { // */', '// ; /* "\n', "/**/ /***/ //\n\t\r\n", "/* a\nb */"):
        found = instructions(f" {blank} ".join(["", *spread.split(" "), ""]))
        assert [ins[:4] for ins in found] == [ins[:4] for ins in plain]


# Variables (5.1 to 5.4)


@pytest.mark.parametrize("space", ["const", "global", "shared"])
def test_state_spaces_of_modules(space):
    found = variable(f".{space} .b32 x;")
    assert (found.name, found.space, found.type, found.size, found.align) == ("x", space, "b32", 4, 4)


SIZES = {"b8": 1, "s8": 1, "u16": 2, "f16": 2, "bf16": 2, "b32": 4, "f16x2": 4, "f32": 4, "u64": 8, "f64": 8}
SIZES |= {"b128": 16, "texref": 8, "samplerref": 8, "surfref": 8}


@pytest.mark.parametrize(("kind", "size"), SIZES.items())
def test_sizes_of_types(kind, size):
    assert (variable(f".global .{kind} x;").size, variable(f".global .{kind} x;").type) == (size, kind)


@pytest.mark.parametrize(
    ("declared", "size", "align"),
    [
        (".global .v4 .f32 x", 16, 16),
        (".shared .v2 .u16 x", 4, 4),
        (".global .v8 .b32 x", 32, 32),
        (".global .u16 x[19][19]", 722, 2),
        (".shared .align 16 .b8 x[128]", 128, 16),
        (".shared .align 2*8 .b8 x[1 << 7]", 128, 16),
        (".global .v2 .f32 x[3][2]", 48, 8),
        (".global .attribute(.managed) .s32 x", 4, 4),
        (".global .attribute(.unified(19,95)) .f32 x", 4, 4),
        (".global .attribute(.managed, .unified(0xAB, 0xCD)) .align 8 .f32 x[2]", 8, 8),
    ],
)
def test_sizes_of_vectors_and_arrays(declared, size, align):
    found = variable(declared + ";")
    assert (found.size, found.align) == (size, align)


def test_an_array_of_no_size_is_elsewhere():
    found = variable(".extern .shared .align 16 .b8 x[];")
    assert found.size is None and found.extern


def test_several_variables_of_one_declaration():
    module = read(".global .u32 a, b[2], c = 3;\n.const .u8 d;")
    assert {each.name: each.size for each in module.variables.values()} == {"a": 4, "b": 8, "c": 4, "d": 1}


INITIAL = [
    (".const .u32 x = 42", "<I", [42]),
    (".global .s32 x = -1", "<i", [-1]),
    (".global .u32 x = 010", "<I", [8]),
    (".global .u16 x = 0xFFFF", "<H", [0xFFFF]),
    (".global .u64 x = 0xfabc123400000000", "<Q", [0xFABC123400000000]),
    (".global .u8 x[4] = {0b101, 1+2, 7U, !0}", "<4B", [5, 3, 7, 1]),
    (".global .u32 x[] = {2, 3, 5}", "<3I", [2, 3, 5]),
    (".global .s32 x[][2] = { {-1, 0}, {0, -1}, {1, 0}, {0, 1} }", "<8i", [-1, 0, 0, -1, 1, 0, 0, 1]),
    (".global .s32 x[3][2] = { {1,2}, {3} }", "<4i", [1, 2, 3, 0]),
    (".global .s32 x[][2] = { {1}, {2, 3} }", "<4i", [1, 0, 2, 3]),
    (".global .s32 x[2][2] = { 1, 2, 3 }", "<3i", [1, 2, 3]),
    (".global .s32 x[2][2][2] = { {{1}, {2}}, {{3, 4}} }", "<8i", [1, 0, 2, 0, 3, 4, 0, 0]),
    (".global .v2 .s32 x[2] = { {1}, {2, 3} }", "<4i", [1, 0, 2, 3]),
    (".global .v4 .f32 x = {1.0, 2., .5, 1e-1}", "<4f", [1.0, 2.0, 0.5, 0.1]),
    (".const .f32 x[8] = { 0.33, 0.25, 0.125 }", "<3f", [0.33, 0.25, 0.125]),
    (".global .f32 x[][3] = {{.05,.1,.05},{.1,.4,.1}}", "<6f", [0.05, 0.1, 0.05, 0.1, 0.4, 0.1]),
    (".global .f32 x[2] = {0f3F800000, -0f3F800000}", "<2f", [1.0, -1.0]),
    (".global .f64 x[2] = {0d3FF0000000000000, -1.5}", "<2d", [1.0, -1.5]),
    (".global .u32 x = {5}", "<I", [5]),
    (".global .u8 x[] = {}", "<", []),
    (".global .u8 x[2] = {0xFF(1000 + 546), 0xFF00(131187)}", "<2B", [10, 0]),
]


@pytest.mark.parametrize(("declared", "form", "values"), INITIAL)
def test_initial_values(declared, form, values):
    """5.4.4."""
    assert variable(declared + ";").initial == struct.pack(form, *values)


def test_a_size_that_is_left_out_is_that_of_the_initial_value():
    assert variable(".global .s32 x[][2] = { {-1, 0}, {0} };").size == 16


@pytest.mark.parametrize(
    ("declared", "addresses"),
    [
        (".u64 p = x", [(0, SymbolRef("x"))]),
        (".u64 p = generic(x)", [(0, SymbolRef("x"))]),
        (".u64 p = generic(x)+8", [(0, SymbolRef("x", 8))]),
        (".u64 p = generic(x+4)-8", [(0, SymbolRef("x", -4))]),
        (".u64 p[3] = {generic(x), 0, x+4*2}", [(0, SymbolRef("x")), (16, SymbolRef("x", 8))]),
        (".v2 .u64 p[2] = {{0, x}, {y}}", [(8, SymbolRef("x")), (16, SymbolRef("y"))]),
        (".u32 p[] = {x, x+4}", [(0, SymbolRef("x")), (4, SymbolRef("x", 4))]),
        (".u8 p[5] = {9, 0xFF(x), 0xFF00(x), 0xFF0000(x), 0xFF000000(x)}", [(1, SymbolRef("x"))]),
        (
            f".u8 p[] = {{{', '.join(f'{0xFF << 8 * n:#X}(generic(x)+4)'.replace('X', 'x') for n in range(8))}}}",
            [(0, SymbolRef("x", 4))],
        ),
    ],
)
def test_addresses_in_initial_values(declared, addresses):
    found = read(f".global .u32 x, y;\n.global {declared};").variables["p"]
    assert list(found.addresses) == addresses
    assert all(not any(found.initial[at : at + 4]) for at, _ in addresses)


def test_functions_in_initial_values():
    found = variable(".global .u64 table[2] = {f, g};")
    assert found.addresses == ((0, SymbolRef("f")), (8, SymbolRef("g")))


# Functions (11.2, 11.4, 11.7)


def test_parameters_of_a_kernel():
    found = read(
        """.visible .entry k(
        .param .u64 k_param_0,
        .param .u64 .ptr .global .align 16 k_param_1,
        .param .u64 .ptr k_param_2,
        .param .align 8 .b8 k_param_3[24],
        .param .texref t
        ) { ret; }"""
    ).functions["k"]
    assert found.entry and [(each.size, each.align, each.space) for each in found.parameters] == [
        (8, 8, "param"), (8, 16, "param"), (8, 8, "param"), (24, 8, "param"), (8, 8, "param"),
    ]  # fmt: skip


@pytest.mark.parametrize("head", [".entry k()", ".entry k"])
def test_a_kernel_may_have_no_parameters(head):
    assert function("ret;", head).parameters == ()


DIRECTIVES = ".maxntid 16, 16, 4 .reqntid 256 .minnctapersm 2 .maxnctapersm 3 .maxnreg 32 .explicitcluster "
DIRECTIVES += ".reqnctapercluster 2, 2 .maxclusterrank 8 .blocksareclusters"


def test_performance_and_cluster_directives():
    assert [each.partition(" ")[0] for each in function("ret;", f".entry k() {DIRECTIVES}").directives] == [
        word for word in DIRECTIVES.split() if word.startswith(".")
    ]


def test_a_pragma_of_a_kernel_ends_with_a_semicolon():
    assert function("ret;", '.entry k() .maxnreg 32 .pragma "nounroll"; .minnctapersm 2').directives[1] == (
        '.pragma "nounroll"'
    )


@pytest.mark.parametrize(
    ("head", "results", "parameters"),
    [
        (".func f", 0, 0),
        (".func f()", 0, 0),
        (".func (.param .b32 r) f()", 1, 0),
        (".func (.param .align 4 .b8 r[12]) f(.param .b64 a, .param .b32 b)", 1, 2),
        (".func .attribute(.unified(0xAB, 0xCD)) f(.param .b64 a)", 0, 1),
        (".func f(.param .b64 a) .noreturn", 0, 1),
        (".func f() .abi_preserve 8 .abi_preserve_control 16", 0, 0),
    ],
)
def test_functions(head, results, parameters):
    for found in (function("ret;", head), read(head + ";").functions["f"]):
        assert not found.entry and (len(found.results), len(found.parameters)) == (results, parameters)


def test_a_last_parameter_of_any_size():
    found = read(".func (.param .u32 r) f(.param .u32 N, .param .align 4 .b8 numbers[]);").functions["f"]
    assert found.body is None and found.parameters[1].size is None


def test_parameters_and_results_in_registers():
    """11.2.2. They need no ``%`` and are registers all the same."""
    found = function("add.s32 r, N, 1;\nret;", ".func (.reg .b32 r) f(.reg .b32 N, .reg .f64 d)")
    assert found.body is not None and found.body[0].operands == (Register("r"), Register("N"), Number(1))
    assert found.registers == {"r": "b32", "N": "b32", "d": "f64"}


def test_calls():
    code = instructions(
        """
        call.uni (retval0), f, (param0, 5, %r1);
        call f, (param0);
        call f;
        call (%r2, %r3), f, (%r1);
        call (retval0), %rd1, (param0), prototype_0;
        call %rd1, (), targets;
        """
    )
    assert [ins.operands for ins in code] == [
        (Vector((SymbolRef("retval0"),)), SymbolRef("f"), Vector((SymbolRef("param0"), Number(5), Register("%r1")))),
        (SymbolRef("f"), Vector((SymbolRef("param0"),))),
        (SymbolRef("f"),),
        (Vector((Register("%r2"), Register("%r3"))), SymbolRef("f"), Vector((Register("%r1"),))),
        (Vector((SymbolRef("retval0"),)), Register("%rd1"), Vector((SymbolRef("param0"),)), SymbolRef("prototype_0")),
        (Register("%rd1"), Vector(()), SymbolRef("targets")),
    ]


def test_lists_of_labels_and_functions():
    found = function(
        """
        N0: N1: L:
        ts: .branchtargets L, N<2>, N0;
        fs: .calltargets f, g;
        p0: .callprototype _ ;
        p1: .callprototype (.param .u32 _) _ (.param .f32 _, .param .align 8 .b8 _[12]) .noreturn;
        brx.idx %r1, ts;
        """
    )
    assert found.tables == {"ts": ("L", "N0", "N1", "N0"), "fs": ("f", "g")}
    assert set(found.labels) == {"N0", "N1", "L", "ts", "fs", "p0", "p1"}


# Scopes (the names of inner ones are made unique)


def test_an_inner_scope_hides_names():
    found = function(
        """
        .reg .pred %p<3>;
        .reg .b32 t;
        .shared .b32 x;
        mov.u32 t, 1;
        {
            .reg .pred %p<2>;
            .reg .b32 t, %only;
            .shared .b32 x;
            @%p1 mov.u32 t, %only;
            setp.eq.u32 %p1|%p2, t, 0;
            st.shared.u32 [x+4], {t, t};
            {
                .reg .b32 t;
                mov.u32 t, x;
            }
        }
        { .reg .b32 t; mov.u32 t, 2; }
        @%p1 mov.u32 t, x;
        """
    )
    first, second, third, fourth, fifth, sixth, last = found.body or ()
    assert first.operands == (Register("t"), Number(1))
    assert (second.guard, second.operands) == (KernelGuard("%p1'2"), (Register("t'2"), Register("%only'2")))
    assert third.operands[0] == Both(Register("%p1'2"), Register("%p2"))  # the outer scope has %p2
    assert fourth.operands == (MemoryOperand(SymbolRef("x'2"), 4), Vector((Register("t'2"), Register("t'2"))))
    assert fifth.operands == (Register("t'3"), SymbolRef("x'2"))
    assert sixth.operands == (Register("t'4"), Number(2))
    assert (last.guard, last.operands) == (KernelGuard("%p1"), (Register("t"), SymbolRef("x")))
    assert [each.name for each in found.variables] == ["x", "x'2"]
    assert found.registers["%p'2<2>"] == "pred" and found.registers["%p<3>"] == "pred"


def test_labels_of_inner_scopes():
    found = function(
        "L: bra L;\n{ L: bra L; bra M; ts: .branchtargets L, M; brx.idx %r1, ts; }\n{ L: bra L; }\nM: ret;"
    )
    assert found.labels == {"L": 0, "L'2": 1, "ts'2": 3, "L'3": 4, "M": 5}
    assert [ins.operands[-1] for ins in (found.body or ())[:-1]] == [
        SymbolRef("L"), SymbolRef("L'2"), SymbolRef("M"), SymbolRef("ts'2"), SymbolRef("L'3"),
    ]  # fmt: skip
    assert found.tables == {"ts'2": ("L'2", "M")}


def test_names_with_dollars_and_underscores():
    found = function("$L__BB0_1:\n_a: %L$1: bra $L__BB0_1;")
    assert list(found.labels) == ["$L__BB0_1", "_a", "%L$1"]


def test_a_register_that_is_a_vector():
    """6.4.3. It is its elements, which have the names of axes and of colours."""
    code = instructions(".reg .v4 .f32 V;\n.reg .v2 .b32 %v<2>;\nld.global.v4.f32 V, [x];\nmov.f32 %f1, V.b;\n"
                        "mov.b32 %v1.y, %v0.r;\n{ .reg .v2 .b32 V; mov.b32 V.x, V.y; }")  # fmt: skip
    assert code[0].operands[0] == Vector(tuple(Register(f"V.{axis}") for axis in "xyzw"))
    assert code[1].operands[1] == Register("V.z")
    assert code[2].operands == (Register("%v1.y"), Register("%v0.x"))
    assert code[3].operands == (Register("V'2.x"), Register("V'2.y"))


# Lines of source code (11.5.3, 11.5.4)


def test_lines_of_source_code():
    text = """.file 1 "kernel.cu", 1339013327, 64118
    .entry k()
    {
        mov.u32 %r0, 0;
        .loc 1 21 3
        mov.u32 %r1, 1;
        L: .loc 2 9 7, function_name info_string0, inlined_at 1 21 3
        mov.u32 %r2, 2;
        .loc 2 4 1, function_name .debug_str+16, inlined_at 2 9 7
        mov.u32 %r3, 3;
        .loc 3 1 1
        ret;
    }
    .file 2 "inner.h"
    """
    body = read(text).functions["k"].body or ()
    outer = SourceLine("kernel.cu", 21, 3)
    inner = SourceLine("inner.h", 9, 7, outer)
    assert [ins.source for ins in body] == [
        None, outer, inner, SourceLine("inner.h", 4, 1, inner), SourceLine("?", 1, 1),
    ]  # fmt: skip
    assert [str(each) for each in body[3].source.chain] == ["inner.h:4", "inner.h:9", "kernel.cu:21"]
    assert [ins.line for ins in body] == [7, 9, 11, 13, 15]


def test_a_line_is_inlined_into_the_last_one_of_its_place():
    loc = ".loc 1 21 3\n.loc 1 9 3, function_name a, inlined_at 1 21 3\nmov.u32 %r1, 1;\n"
    loc += ".loc 1 27 3\n.loc 1 9 3, function_name a, inlined_at 1 27 3\n"
    loc += ".loc 1 15 3, function_name b, inlined_at 1 9 3\nret;"
    assert [each.line for each in instructions(loc)[1].source.chain] == [15, 9, 27]


def test_a_line_that_is_inlined_into_itself_ends():
    loops = ".loc 1 5 3, function_name f, inlined_at 1 7 3\n.loc 1 7 3, function_name f, inlined_at 1 5 3\n" * 500
    (found,) = instructions(loops + ".loc 1 5 3, function_name f, inlined_at 1 5 3\n" * 500 + "ret;")
    assert [each.line for each in found.source.chain] in ([5], [5, 7], [5, 7, 5])


def test_source_lines_do_not_go_from_one_function_to_the_next():
    module = read('.file 1 "a.cu"\n.entry a() { .loc 1 3 1 ret; }\n.entry b() { ret; }')
    assert module.functions["b"].body[0].source is None


# Instructions and operands (chapters 4, 6 and 9)


def test_predicates():
    assert [ins.guard for ins in instructions("@%p1 ret;\n@!%p1 ret;\n@p ret;\n@ ! q ret;\nret;")] == [
        KernelGuard("%p1"), KernelGuard("%p1", True), KernelGuard("p"), KernelGuard("q", True), None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "opcode",
    [
        "ld.acquire.gpu.global.L1::evict_last.L2::cache_hint.L2::128B.v4.u32",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64",
        "ld.param::func.b32",
        "fence.proxy.tensormap::generic.acquire.gpu",
        "tcgen05.mma.cta_group::1.kind::f16",
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16",
        "no_such_instruction.of.any.kind",
    ],
)
def test_opcodes(opcode):
    (found,) = instructions(f"{opcode} %r1;")
    assert found.opcode == opcode and found.name == opcode.partition(".")[0]


R1, R2, RD1 = Register("%r1"), Register("%r2"), Register("%rd1")


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("%r1", R1),
        ("%tid.x", Register("%tid.x")),
        ("_", Register("_")),
        ("x", SymbolRef("x")),
        ("x+4", SymbolRef("x", 4)),
        ("x-4", SymbolRef("x", -4)),
        ("x+2*4-1", SymbolRef("x", 7)),
        ("!%p1", Negated(Register("%p1"))),
        ("-%r1", Negated(R1)),
        ("%p1|%p2", Both(Register("%p1"), Register("%p2"))),
        ("_|%p2", Both(Register("_"), Register("%p2"))),
        ("{%r1, _, 4}", Vector((R1, Register("_"), Number(4)))),
        ("{}", Vector(())),
        ("{%r1, %r2}|%p1", Both(Vector((R1, R2)), Register("%p1"))),
        ("{{%r1}, {%r2}}", Vector((Vector((R1,)), Vector((R2,))))),
        ("[%rd1]", MemoryOperand(RD1)),
        ("[%rd1+4]", MemoryOperand(RD1, 4)),
        ("[%rd1+-4]", MemoryOperand(RD1, -4)),
        ("[%rd1-4]", MemoryOperand(RD1, -4)),
        ("[ %rd1 + 4 + 8 ]", MemoryOperand(RD1, 12)),
        ("[%rd1+(1<<4)|1]", None),
        ("[%rd1+(1<<4)*2]", MemoryOperand(RD1, 32)),
        ("[x]", MemoryOperand(SymbolRef("x"))),
        ("[x+-4]", MemoryOperand(SymbolRef("x"), -4)),
        ("[16]", MemoryOperand(Number(16))),
        ("[16+4]", MemoryOperand(Number(20))),
        ("[tex, {%r1, %r2}]", Vector((MemoryOperand(SymbolRef("tex")), Vector((R1, R2))))),
        (
            "[tex, smp, {%r1}]",
            Vector((MemoryOperand(SymbolRef("tex")), MemoryOperand(SymbolRef("smp")), Vector((R1,)))),
        ),
        ("[%rd1, {%r1, 0}]", Vector((MemoryOperand(RD1), Vector((R1, Number(0)))))),
        ("[tex[2], {%r1}]", Vector((Element(SymbolRef("tex"), "2"), Vector((R1,))))),
        ("a[3]", Element(SymbolRef("a"), "3")),
        ("a[N-1]", Element(SymbolRef("a"), "N-1")),
        ("a[%r1]", Element(SymbolRef("a"), "%r1")),
        ("a[%r1+1]", Element(SymbolRef("a"), "%r1+1")),
    ],
)
def test_operands(text, operand):
    if operand is None:
        with pytest.raises(InputError, match="expected ']'"):
            operands(f"op {text};")
    else:
        wanted = operand
        if text.startswith("[tex, smp"):
            wanted = Vector((MemoryOperand(SymbolRef("tex")), SymbolRef("smp"), Vector((R1,))))
        assert operands(f"op {text};") == (wanted,)
        assert operands(f"op %r9, {text}, %r8;") == (Register("%r9"), wanted, Register("%r8"))


def test_an_instruction_may_have_no_operands():
    assert operands("ret;") == () and operands("bar.warp.sync 0xffffffff;") == (Number(0xFFFFFFFF),)


# Constants (4.5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42), ("0x1F", 31), ("0X1f", 31), ("017", 15), ("0b101", 5), ("0B101U", 5), ("0", 0), ("00", 0),
        ("42U", 42), ("0xFFFFFFFFFFFFFFFF", 2**64 - 1), ("-1", -1), ("- 1", -1), ("-(-42)", 42), ("+5", 5),
        ("-1U", 2**64 - 1), ("-0xfabc123400000000", 2**64 - 0xFABC123400000000),
        ("!0", 1), ("!7", 0), ("!!7", 1), ("~0", 2**64 - 1), ("~0x0F & 0xFF", 0xF0), ("-~0", 1),
        ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 - 2 - 1", 4), ("100 / 7 / 2", 7), ("2 * 7 % 4", 2),
        ("-7 / 2", -3), ("7 / -2", -3), ("-7U / 2", (2**64 - 7) // 2), ("-7 % 4", 1), ("7 % -4", 7),
        ("1 << 4 + 1", 32), ("1 << 63", -(2**63)), ("1U << 63", 2**63), ("1 << 64", 0), ("-1 >> 60", -1),
        ("-1U >> 60", 15), ("-8 >> 100", -1), ("8 >> -1", 0), ("0x8000000000000000 >> 63", 1),
        ("1 < 2", 1), ("2 < 1", 0), ("2 <= 2", 1), ("3 > 2 > 1", 0), ("3 >= 4", 0), ("-1 < 0U", 0), ("-1 < 0", 1),
        ("1 == 1", 1), ("1 != 1", 0), ("-1 == 0xFFFFFFFFFFFFFFFF", 1), ("1 < 2 == 1", 1),
        ("6 & 3", 2), ("6 | 3", 7), ("6 ^ 3", 5), ("1 | 2 ^ 3 & 5", 3), ("1 & 1 == 1", 1), ("4 & 4 == 4", 0),
        ("2 && 4", 1), ("0 && 4", 0), ("0 || 4", 1), ("0 || 0", 0), ("1 || 0 && 0", 1), ("2 & 4 || 1", 1),
        ("1 ? 2 : 3", 2), ("0 ? 2 : 3", 3), ("0 ? 2 : 0 ? 3 : 4", 4), ("1 ? 0 ? 5 : 6 : 7", 6),
        ("1 ? -1 : 0U", 2**64 - 1),
        ("1 + 1 == 2 ? 8 : 9", 8), ("(.s64)0xFFFFFFFFFFFFFFFF", -1), ("(.u64)-1", 2**64 - 1), ("(.u64)-1 >> 60", 15),
        ("(.s64) 2 * 3", 6), ("0x7FFFFFFFFFFFFFFF + 1", -(2**63)), ("1.5 < 2.0", 1), ("1.5 == 1.0", 0),
    ],
)  # fmt: skip
def test_integer_constants(text, value):
    """4.5.5, 4.5.6."""
    assert constant(text) == Number(value)


def test_the_operators_of_integers_are_those_of_c():
    """Every two operators between numbers that no rule of PTX's own touches, against Python, which binds them alike."""
    alike = ("*", "+", "-", "<<", ">>", "&", "^", "|")
    for one in alike:
        for other in alike:
            for left, middle, right in ((9, 3, 2), (5, 6, 1), (12, 10, 3)):
                text = f"{left} {one} {middle} {other} {right}"
                assert constant(text) == Number(eval(text)), text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0f3F800000", Float(0x3F800000, 32)), ("0F3f800000", Float(0x3F800000, 32)),
        ("-0f3F800000", Float(0xBF800000, 32)), ("0f7FFFFFFF", Float(0x7FFFFFFF, 32)), ("+0f00000000", Float(0, 32)),
        ("0d3FF0000000000000", double(1.0)), ("-0d3FF0000000000000", double(-1.0)), ("1.0", double(1.0)),
        ("1.", double(1.0)), (".5", double(0.5)), ("1e3", double(1000.0)), ("1.5E-3", double(0.0015)),
        ("-1.5", double(-1.5)), ("-0.0", double(-0.0)), ("1.0 + 2.0 * 3.0", double(7.0)), ("1.0 / 4.0", double(0.25)),
        ("1 ? 1.5 : 2.5", double(1.5)), ("(1.5 - 0.5)", double(1.0)), ("1.0 / 0.0", double(float("inf"))),
        ("-1.0 / 0.0", double(float("-inf"))),
    ],
)  # fmt: skip
def test_floating_constants(text, value):
    """4.5.2."""
    assert constant(text) == value


# What is refused: file, line, column, and what was expected


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("`", 1, 1, "expected a word of PTX, found '`'"),
        (".version 9.1\n  .target sm_90 #", 2, 17, "expected a word of PTX, found '#'"),
        ("  \n\t/* a\n", 2, 2, "expected a word of PTX, found '/'"),
        ('.file 1 "a.cu', 1, 9, "expected a word of PTX"),
        (".version", 1, 9, "expected a version, found the end"),
        (".version x", 1, 10, "expected a version, found 'x'"),
        (".target 90", 1, 9, "expected an architecture or one of texmode_unified, "),
        (".address_size x", 1, 15, "expected a number, found 'x'"),
        (".file x", 1, 7, "expected a number, found 'x'"),
        (".file 1 2", 1, 9, "expected a file name, found '2'"),
        ('.file 1 "a", x', 1, 14, "expected a number, found 'x'"),
        (".section", 1, 9, "expected the name of a section of debugging, found the end"),
        (".section .debug_str {", 1, 22, "expected '}', found the end"),
        (".pragma", 1, 8, "expected one of the strings nounroll, "),
        (".alias f, g;", 1, 8, "expected two names, the second of a function, found 'f'"),
        (".alias f;", 1, 8, "expected two names, the second of a function, found 'f'"),
        (".loc 1 2", 1, 9, "expected a number, found the end"),
        (".loc 1 2 3, function_name 5", 1, 27, "expected a label, found '5'"),
        (".loc 1 2 3, inlined 5", 1, 13, "expected 'inlined_at', found 'inlined'"),
        ("mov.u32 %r1, 1;", 1, 1, "expected a directive of a module, found 'mov.u32'"),
        ("}", 1, 1, "expected a directive of a module, found '}'"),
        (".global .u32 ;", 1, 14, "expected the name of a variable, found ';'"),
        (".global x;", 1, 9, "expected a type, found 'x'"),
        (".global .u32 x", 1, 15, "expected ';', found the end"),
        (".global .align x .u32 x;", 1, 16, "expected a constant, found 'x'"),
        (".global .u32 x[-1];", 1, 16, "expected a size, found '-'"),
        (".global .u32 x[y];", 1, 16, "expected a constant, found 'y'"),
        (".global .u32 x[1.0];", 1, 16, "expected a size, found '1.0'"),
        (".global .u32 x[2][];", 1, 19, "expected a constant, found ']'"),
        (".global .u32 x[2;", 1, 17, "expected ']', found ';'"),
        (".global .u32 x = ;", 1, 18, "expected an operand, found ';'"),
        (".global .u32 x = {1 2};", 1, 21, "expected ',', found '2'"),
        (".global .u32 x[2] = {1, 2, 3};", 1, 28, "expected at most 2 values, found '3'"),
        (".global .u32 x[2][1] = {{1, 2}};", 1, 29, "expected at most 1 values, found '2'"),
        (".global .u32 x = %r1;", 1, 18, "expected a value, found '%r1'"),
        (".global .u8 x[2] = {0xFE(y), 0};", 1, 21, "expected a mask of one byte, found '0xFE'"),
        (".global .u8 x[2] = {0xFF(y), 0};", 1, 21, "expected every byte of an address, found '0xFF'"),
        (".global .attribute(.managed .u32 x;", 1, 29, "expected ')', found '.u32'"),
        (".global .u64 x = 1 / 0;", 1, 20, "expected an operator that its operands have, found '/'"),
        (".global .f64 x = 1.0 % 2.0;", 1, 22, "expected an operator that its operands have, found '%'"),
        (".global .f64 x = 1.0 + 2;", 1, 22, "expected an operator that its operands have, found '+'"),
        (".global .f64 x = ~1.0;", 1, 18, "expected an operator that its operand has, found '~'"),
        (".global .f64 x = (.s64)1.0;", 1, 18, "expected an operator that its operand has, found '('"),
        (".global .f64 x = 1 ? 1.0 : 2;", 1, 20, "expected an operator that its operands have, found '?'"),
        (".global .u64 x = (1 + 2;", 1, 24, "expected ')', found ';'"),
        (".global .u64 x = 1 +;", 1, 21, "expected a constant, found ';'"),
        (".global .u64 x = 08;", 1, 18, "expected an integer of at most 64 bits, found '08'"),
        (".global .u64 x = 0x10000000000000000;", 1, 18, "expected an integer of at most 64 bits"),
        (".global .u64 x = 1" + "0" * 5000 + ";", 1, 18, "expected an integer of at most 64 bits"),
        (".entry", 1, 7, "expected the name of a function, found the end"),
        (".entry k(.global .u32 x) { }", 1, 10, "expected '.param', found '.global'"),
        (".entry k(.param .u32 x .param .u32 y) { }", 1, 24, "expected ',', found '.param'"),
        (".entry k() mov", 1, 12, "expected '{', found 'mov'"),
        (".entry k() .entry j() { }", 1, 12, "expected '{', ';' or a directive of a function"),
        (".entry k() { ret; }\n.entry k() { ret; }", 2, 1, "expected one definition of k, found '.entry'"),
        (".entry k() {", 1, 13, "expected an instruction, found the end"),
        (".entry k() { .entry j() { } }", 1, 14, "expected an instruction, found '.entry'"),
        (".entry k() {\n  mov.u32 %r1 1;\n}", 2, 15, "expected ';', found '1'"),
        (".entry k() {\n  mov.u32 %r1, ;\n}", 2, 16, "expected an operand, found ';'"),
        (".entry k() {\n  mov.u32 %r1, {%r2 %r3};\n}", 2, 21, "expected ',', found '%r3'"),
        (".entry k() {\n  ld.u32 %r1, [%r2;\n}", 2, 19, "expected ']', found ';'"),
        (".entry k() {\n  ld.u32 %r1, [%r2 + %r3];\n}", 2, 22, "expected a constant, found '%r3'"),
        (".entry k() {\n  ld.u32 %r1, [%r2 + 1.5];\n}", 2, 22, "expected a number of bytes, found '1.5'"),
        (".entry k() {\n  ld.u32 %r1, [{%r2}];\n}", 2, 21, "expected an address, found ']'"),
        (".entry k() {\n  @1 ret;\n}", 2, 4, "expected a predicate, found '1'"),
        (".entry k() {\n  @%p1 ;\n}", 2, 8, "expected an instruction, found ';'"),
        (".entry k() { ret }", 1, 18, "expected an operand, found '}'"),
        (".entry k() { t: .branchtargets ; }", 1, 32, "expected a word, found ';'"),
        (".entry k() { t: .branchtargets L<99999999>; }", 1, 34, f"expected a number up to {MOST_REGISTERS}"),
        (".entry k() { .reg .b32 %r<; }", 1, 27, "expected a number, found ';'"),
        (".entry k() { .reg .b32 %r<99999999>; }", 1, 27, f"expected a number up to {MOST_REGISTERS}"),
    ],
)  # fmt: skip
def test_what_is_refused(text, line, column, message):
    with pytest.raises(InputError) as caught:
        read_ptx(text, "t.ptx")
    assert str(caught.value).startswith(f"t.ptx:{line}:{column}: {message}"[:600])


@pytest.mark.parametrize(
    "text",
    [
        ".entry k() " + "{" * (MOST_NESTED + 2),
        ".entry k() { op " + "{" * (MOST_NESTED + 2),
        ".entry k() { op " + "[" * (MOST_NESTED + 2),
        ".entry k() { op " + "(" * (MOST_NESTED + 2),
        ".entry k() { op " + "~" * (MOST_NESTED + 2),
        ".entry k() { op 1" + "+ (1" * (MOST_NESTED + 2),
        ".entry k() { op 1" + "? 1 : 1" * (MOST_NESTED + 2),
        ".entry k() { op %p" + "|%p" * (MOST_NESTED + 2),
        ".entry k() { op " + "!" * (MOST_NESTED + 2) + "%p",
        ".global .u32 x = " + "{" * (MOST_NESTED + 2),
        ".global .u32 x = " + "generic(" * (MOST_NESTED + 2),
        ".global .u32 x = " + "0xFF(" * 5000,
    ],
)
def test_what_is_nested_too_deep(text):
    with pytest.raises(InputError, match=r"t\.ptx:1:\d+: expected"):
        read_ptx(text, "t.ptx")


def test_what_takes_too_much_memory():
    for text in (".global .u8 x[2][1000000000] = {{1}};", ".global .u8 x[0][2] = {{1}};"):
        with pytest.raises(InputError, match=r"t\.ptx:1:\d+: expected"):
            read_ptx(text, "t.ptx")
    assert variable(".global .u8 x[1000000000000];").size == 10**12


def test_a_byte_is_no_number_with_a_point():
    text = ".version 9.1\n.target sm_90\n.address_size 64\n.global .b8 x[2] = {0, 0d3FA999999999999A};\n"
    with pytest.raises(InputError, match=r"expected integers before this, as values of \.b8"):
        read_ptx(text, "t.ptx")
