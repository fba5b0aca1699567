"""SPIR-V as data: binaries, texts as people write them, and one line for what is wrong in either."""

from __future__ import annotations

import struct

import pytest
from spirv_samples import CODES, TEXT, binary, meaning, words

from corpus.code.ir import SourceLine
from corpus.code.spirv.files import read_spirv
from corpus.code.spirv.grammar import spirv_grammar
from corpus.code.spirv.literals import NumberType, of_text
from corpus.code.spirv.module import (
    Enumerant,
    Id,
    Mask,
    SpirvFloat,
    SpirvHeader,
    SpirvInstruction,
    SpirvInteger,
    SpirvModule,
    SpirvString,
)
from corpus.errors import InputError


def text(code: str) -> SpirvModule:
    return read_spirv(code.encode(), "t")


def main(body: str, before: str = "") -> tuple[SpirvInstruction, ...]:
    """The instructions of the first block of a function that starts on line 1."""
    module = text(f"%f = OpFunction %v None %t %l = OpLabel {body}\nOpReturn OpFunctionEnd\n{before}")
    return module.functions["f"].blocks[0].instructions[:-1]


# What is read


@pytest.mark.parametrize("order", "<>")
def test_a_binary_says_what_the_text_says(order):
    read = read_spirv(binary(*CODES, order=order), "b")
    assert meaning(read) == meaning(text(TEXT))
    assert read.header.version == text(TEXT).header.version == (1, 3)


def test_sections():
    module = text(TEXT)
    assert module.declared[0].operands == (Enumerant("Shader"),)
    assert module.imports == {"1": "GLSL.std.450"}
    assert module.models == ("Logical", "Vulkan")
    (point,) = module.entry_points
    assert (point.model, point.function, point.name, point.interface) == ("GLCompute", "2", "main", ("3",))
    size = Enumerant("LocalSize", (SpirvInteger(4), SpirvInteger(1), SpirvInteger(1)))
    assert module.execution_modes == {"2": (size,)}
    assert module.names == {"2": "main", ("5", 0): "f"}
    assert module.decoration("3", "BuiltIn") == Enumerant("BuiltIn", (Enumerant("LocalInvocationIndex"),))
    assert module.decoration(("5", 0), "Offset") == Enumerant("Offset", (SpirvInteger(0),))
    assert module.decoration("3", "Offset") is None
    assert list(module.debug) == ["4"]
    assert module.debug["4"].operands == (SpirvString('a "b" \\ c.comp'),)
    assert list(module.globals) == ["7", "8", "9", "17", "18", "10", "5", "6", "11", "19", "20", "21", "22", "3"]


def test_decorations_of_groups_are_those_of_their_targets():
    module = text(TEXT)
    group = (Enumerant("Restrict"), Enumerant("Alignment", (SpirvInteger(8),)))
    assert module.decorations["6"] == group
    assert module.decorations["3"][1:] == group
    assert module.decorations["5", 0][1:] == group


def test_functions():
    function = text(TEXT).functions["2"]
    assert function.result_type == "7"
    assert function.labels == {"12": 0, "15": 1, "14": 2}
    load, extended, merge, switch = function.blocks[0].instructions
    assert load == SpirvInstruction(
        "OpLoad",
        "9",
        "13",
        (Id("3"), Mask((Enumerant("Volatile"), Enumerant("Aligned", (SpirvInteger(4),))))),
        38,
        SourceLine('a "b" \\ c.comp', 3, 9),
    )
    assert extended.operands == (Id("1"), Enumerant("SAbs"), Id("13")) and extended.source is not None
    assert merge.source is None
    assert switch.operands == (Id("13"), Id("14"), SpirvInteger(-1), Id("14"), SpirvInteger(7), Id("15"))
    assert load.operands[1].get("Aligned").parameters == (SpirvInteger(4),)
    assert load.operands[1].get("NonPrivatePointer") is None


def test_numbers_have_the_width_and_sign_of_their_type():
    module = text(TEXT)
    values = [module.globals[name].operands[0] for name in ("11", "19", "20")]
    assert values == [SpirvInteger(-5), SpirvInteger(4294967297, 64), SpirvFloat(0xBFC00000, 32)]
    assert module.globals["21"].operands == (Enumerant("ISub"), Id("11"), Id("11"))


def test_aliases_have_the_first_name():
    assert text("OpMemoryModel Physical64 VulkanKHR").models.memory == "Vulkan"
    names = spirv_grammar().instructions.by_name
    assert names["OpDecorateStringGOOGLE"].name == "OpDecorateString"


# Texts as people write them


def test_nothing_need_stand_in_its_order():
    module = text(
        """
        OpName %f "f"   ; before all
        %f = OpFunction %void None %t
        %l = OpLabel
        %c = OpConstant %half 0x1p-1
        %r = OpExtInst %half %set sqrt %c
        OpDecorate %r NoContraction
        OpReturn
        OpFunctionEnd
        %half = OpTypeFloat 16
        %set = OpExtInstImport "OpenCL.std"
        """
    )
    (sqrt,) = module.functions["f"].blocks[0].instructions[:-1]
    assert sqrt.operands == (Id("set"), Enumerant("sqrt"), Id("c"))
    assert module.globals["c"].operands == (SpirvFloat(0x3800, 16),)
    assert module.decorations == {"r": (Enumerant("NoContraction"),)}
    assert [(each.text, each.line, each.column) for each in module.header.comments] == [(" before all", 2, 25)]


@pytest.mark.parametrize(
    "code",
    [
        "%x = OpLoad %u %p Aligned 4",
        "%x=OpLoad %u %p Aligned 4",
        "OpLoad %u %x %p Aligned 4",
        "%x =\n OpLoad\n %u ; why\n %p Aligned\r\n 4",
        "%x = OpLoad %u %p !2 !4",
        "%x = OpLoad %u %p 0x2 04",
        "\n!0x6003d %u %x %p !2 4",
    ],
)
def test_forms_of_one_instruction(code):
    (load,) = main(code)
    assert load[:4] == ("OpLoad", "u", "x", (Id("p"), Mask((Enumerant("Aligned", (SpirvInteger(4),)),))))


def test_masks():
    forms = "Volatile|Aligned 4", "Aligned | Volatile 4", "3 4"
    assert len({main(f"OpStore %p %q {form}")[0].operands for form in forms}) == 1
    assert main("OpStore %p %q None")[0].operands[2] == Mask(())
    assert main("OpStore %p %q")[0].operands == (Id("p"), Id("q"))


def test_strings():
    module = text('%s = OpString "a;b\n\\"c\\" \\n %x = OpNop" OpSource OpenCL_C 200 %s "é"')
    assert module.debug["s"].operands == (SpirvString('a;b\n"c" n %x = OpNop'),)
    assert module.others[0].operands == (Enumerant("OpenCL_C"), SpirvInteger(200), Id("s"), SpirvString("é"))


def test_opcodes_as_operands():
    for code in ("%x = OpSpecConstantOp %u IAdd %a %b", "%x = OpSpecConstantOp %u OpIAdd %a %b"):
        assert text(code).globals["x"].operands == (Enumerant("IAdd"), Id("a"), Id("b"))
    extract = text("OpSpecConstantOp %u %x CompositeExtract %a 1 2").globals["x"]
    assert extract.operands == (Enumerant("CompositeExtract"), Id("a"), SpirvInteger(1), SpirvInteger(2))


def test_a_declaration_without_a_body():
    module = text("%f = OpFunction %v Inline|Pure %t %p = OpFunctionParameter %u OpFunctionEnd")
    function = module.functions["f"]
    assert [each.result for each in function.parameters] == ["p"] and function.blocks == ()


def test_nothing_is_a_module():
    assert text("") == text("\ufeff") == SpirvModule(SpirvHeader("t"))


@pytest.mark.parametrize(
    ("word", "type", "bits"),
    [
        ("-1", NumberType(32, signed=True), -1),
        ("0xffffffff", NumberType(32, signed=True), -1),
        ("-1", NumberType(32), 0xFFFFFFFF),
        ("010", NumberType(32), 8),
        ("-0x80", NumberType(8, signed=True), -128),
        ("18446744073709551615", NumberType(64), 2**64 - 1),
        ("256", NumberType(8), None),
        ("09", NumberType(32), None),
        ("1.0", NumberType(32), None),
        ("9" * 5000, NumberType(4096), None),
        ("1", NumberType(32, True), 0x3F800000),
        ("-0.0", NumberType(32, True), 0x80000000),
        ("0.1", NumberType(32, True), 0x3DCCCCCD),
        ("0.1", NumberType(64, True), 0x3FB999999999999A),
        ("16777217", NumberType(32, True), 0x4B800000),
        ("16777219", NumberType(32, True), 0x4B800002),
        ("1e-45", NumberType(32, True), 1),
        ("1e-999999999", NumberType(32, True), 0),
        ("3.4028236e38", NumberType(32, True), None),
        ("1e999999999", NumberType(64, True), None),
        ("0x1p+128", NumberType(32, True), 0x7F800000),
        ("-0x1.8p+128", NumberType(32, True), 0xFFC00000),
        ("0x1p-149", NumberType(32, True), 1),
        ("0x1.fffffep+127", NumberType(32, True), 0x7F7FFFFF),
        ("0x1p+129", NumberType(32, True), None),
        ("0x1p-999999", NumberType(32, True), 0),
        ("65504", NumberType(16, True), 0x7BFF),
        ("1.5", NumberType(16, True, encoding="BFloat16KHR"), 0x3FC0),
        ("448", NumberType(8, True, encoding="Float8E4M3EXT"), 0x7E),
        ("0x.8p0", NumberType(32, True), 0x3F000000),
        ("0xp0", NumberType(32, True), None),
        ("1", NumberType(80, True), None),
    ],
)
def test_literals(word, type, bits):
    found = of_text(word, type)
    assert (found and (found.bits if isinstance(found, SpirvFloat) else found.value)) == bits


def test_floats_of_text_are_those_of_python():
    for word in ("0.3", "-2.5e-7", "1e300", "5e-324", "2.2250738585072014e-308", "123456789.123", "0.1e1"):
        found = of_text(word, NumberType(64, True))
        assert isinstance(found, SpirvFloat)
        assert struct.pack("<Q", found.bits) == struct.pack("<d", float(word))
        if abs(float(word)) < 1e38:
            (bits,) = struct.unpack("<I", struct.pack("<f", float(word)))
            assert of_text(word, NumberType(32, True)) == SpirvFloat(bits, 32)


# Lines of source code


def lines(body: str, before: str) -> list[object]:
    return [each.source for each in main(body, before)]


def test_a_line_holds_until_the_block_ends():
    module = text(
        """
        %s = OpString "k.cl"
        OpLine %s 1 0
        %g = OpVariable %p Workgroup
        OpNoLine
        %f = OpFunction %v None %t
        %a = OpLabel
        OpNop
        OpLine %s 2 7
        OpNop
        OpBranch %b
        %b = OpLabel
        OpNop
        OpReturn
        OpFunctionEnd
        """
    )
    first, second = module.functions["f"].blocks
    assert module.globals["g"].source == SourceLine("k.cl", 1, 0)
    assert [each.source for each in first.instructions] == [None, *[SourceLine("k.cl", 2, 7)] * 2]
    assert [each.source for each in second.instructions] == [None, None]


OPENCL = """
%d = OpExtInstImport "OpenCL.DebugInfo.100"
%s = OpString "k.cl"
%src = OpExtInst %v %d DebugSource %s
%cu = OpExtInst %v %d DebugCompilationUnit 65536 5 %src OpenCL_C
%k = OpExtInst %v %d DebugFunction %s %ft %src 7 0 %cu %s FlagIsDefinition|FlagPrototyped 7 %f %none
%o = OpExtInst %v %d DebugFunction %s %ft %src 5 0 %cu %s None 5 %f %none
%b = OpExtInst %v %d DebugLexicalBlock %src 14 19 %k
%at1 = OpExtInst %v %d DebugInlinedAt 12 %b
%at2 = OpExtInst %v %d DebugInlinedAt 5 %o %at1
%loop = OpExtInst %v %d DebugInlinedAt 1 %o %loop
"""


def test_lines_that_were_inlined():
    body = """
    %1 = OpExtInst %v %d DebugScope %o %at2
    OpLine %s 2 12
    OpNop
    OpLine %s 0 0
    OpNop
    %2 = OpExtInst %v %d DebugScope %k
    OpNop
    OpLine %s 9 1
    %3 = OpExtInst %v %d DebugValue %x %y %z
    %4 = OpExtInst %v %d DebugScope %o %loop
    OpNop
    %5 = OpExtInst %v %d DebugNoScope
    OpNop
    """
    call = SourceLine("k.cl", 5, 0, SourceLine("k.cl", 12, 0))
    inlined, made, scoped, value, endless, last = lines(body, OPENCL)
    assert inlined == SourceLine("k.cl", 2, 12, call)
    assert made == call  # the compiler's own line 0
    assert scoped is None
    assert value == last == SourceLine("k.cl", 9, 1)
    assert isinstance(endless, SourceLine) and len(endless.chain) == 101


def test_lines_of_shaders():
    before = """
    %d = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"
    %u = OpTypeInt 32 0
    %n3 = OpConstant %u 3
    %n8 = OpConstant %u 8
    %s = OpString "a.comp"
    %src = OpExtInst %v %d DebugSource %s
    %fn = OpExtInst %v %d DebugFunction %s %ft %src %n3 %n8 %cu %s %n3 %n3
    %at = OpExtInst %v %d DebugInlinedAt %n8 %fn
    """
    body = """
    OpLine %s 1 1
    OpNop
    %1 = OpExtInst %v %d DebugLine %src %n3 %n3 %n8 %n8
    %2 = OpExtInst %v %d DebugScope %fn %at
    OpNop
    %3 = OpExtInst %v %d DebugNoLine
    OpNop
    """
    at = SourceLine("a.comp", 8, 0)
    assert lines(body, before) == [
        SourceLine("a.comp", 1, 1),
        SourceLine("a.comp", 3, 8, at),
        SourceLine("a.comp", 1, 1, at),
    ]


# What is wrong


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("hello", "t:1:1: expected an instruction, found 'hello'"),
        ("OpCapability Shadr", "t:1:14: expected Capability, found 'Shadr'; did you mean Shader "),
        ("OpLod %x", "t:1:1: expected an instruction, found 'OpLod'; did you mean OpLoad"),
        ("%x = OpStore %p %q", "t:1:6: expected an instruction that has a result, found 'OpStore'"),
        ("%x = OpTypeInt 32", "t:1:18: expected an integer of 32 bits, found the end of the instruction"),
        ("%x = OpTypeInt 32 x", "t:1:19: expected an integer of 32 bits, found 'x'"),
        ("OpTypeVoid", "t:1:11: expected an id, found the end of the instruction"),
        ("%x = OpTypeVoid\n%x = OpTypeBool", "t:2: expected a new id, found %x, which 1 has defined"),
        ("%c = OpConstant %u 1", "t:1:20: expected no literal, as %u is no type of numbers, found '1'"),
        (
            "%u = OpTypeInt 0 0 %c = OpConstant %u 1",
            "t:1:39: expected no literal, as %u is no type of numbers, found '1'",
        ),
        ("%u = OpTypeInt 8 0\n%c = OpConstant %u 256", "t:2:20: expected an integer of 8 bits, found '256'"),
        ("OpName %x name", "t:1:11: expected a string, found 'name'"),
        ('OpName %x "name', "t:1:11: expected a string with an end, found '\"'"),
        ("OpName %é", "t:1:8: expected a word of SPIR-V, found '%'"),
        ("OpStore %p %q None %r", "t:1:20: expected the end of OpStore, found '%r'"),
        ("OpStore %p %q", "t:1: expected OpFunction before an instruction of functions, found OpStore"),
        ("%f = OpFunction %v None %t", "t:1: expected OpFunctionEnd, found the end"),
        ("%f = OpFunction %v None %t\nOpReturn", "t:2: expected OpLabel, found OpReturn"),
        ("%f = OpFunction %v None %t %l = OpLabel\nOpFunctionEnd", "that ends the block %l, found OpFunctionEnd"),
        ("%f = OpFunction %v None %t %l = OpLabel OpReturn\nOpNop", "t:2: expected OpLabel or OpFunctionEnd, found"),
        ("%x = OpExtInst %v %s 1.5", "t:1:22: expected an instruction of a set, found '1.5'"),
    ],
)
def test_what_is_wrong_in_a_text(code, message):
    with pytest.raises(InputError) as error:
        text(code)
    assert message in str(error.value)


WHOLE = binary(*CODES)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (WHOLE[:18], "b: expected words of 4 bytes, 5 or more, found 18 bytes"),
        (WHOLE[:-2], f"b: expected words of 4 bytes, 5 or more, found {len(WHOLE) - 2} bytes"),
        (WHOLE[:24], "b: expected an instruction of 1 to 1 words, found one of 2, at word 5"),
        (binary((17, 1)) + bytes(4), "b: expected an instruction of 1 to 1 words, found one of 0, at word 7"),
        (binary((5, 24, "x")), "b: expected an id from 1 to below the bound 24, found 0x18, at word 6"),
        (binary((5, 0, "x")), "b: expected an id from 1 to below the bound 24, found 0x0, at word 6"),
        (binary((19,)), "b: expected an id, found the end of the instruction, at word 6"),
        (binary((5, 1, 0x41414141)), "b: expected a string that ends with a zero, found 0x41414141, at word 7"),
        (binary((5, 1, 0xFF)), "b: expected a string in UTF-8, found 0xff, at word 7"),
        (binary((19, 1, 1)), "b: expected the end of OpTypeVoid, found 0x1, at word 7"),
        (binary((21, 1, 64, 0), (43, 1, 2, 5)), "b: expected an integer of 64 bits, found 0x5, at word 12"),
        (binary((19, 1), (19, 1)), "b: expected a new id, found %1, which 5 has defined, at word 7"),
        (b"\xff\xfe", "b:1:1: expected the magic number of SPIR-V, or UTF-8 text"),
    ],
)
def test_what_is_wrong_in_a_binary(data, message):
    with pytest.raises(InputError) as error:
        read_spirv(data, "b")
    assert str(error.value) == message


def test_a_large_bound_costs_nothing():
    assert read_spirv(binary((19, 0xFFFFFFFE), bound=0xFFFFFFFF), "b").globals["4294967294"].name == "OpTypeVoid"


def test_what_the_grammar_does_not_know_is_kept():
    module = read_spirv(binary((60000, 1, 2), (71, 3, 59999, 7, 8)), "b")
    (unknown,) = module.others
    assert unknown == SpirvInstruction("Op60000", None, None, (SpirvInteger(1), SpirvInteger(2)), 5)
    assert module.decorations == {"3": (Enumerant("59999"),)}
    assert text("Op60000 1 2").others[0].operands == unknown.operands


def test_instructions_of_sets_that_nobody_knows():
    for name in ("Vendor.Set", "NonSemantic.Vendor.3"):
        module = read_spirv(binary((11, 1, name), (12, 2, 3, 1, 77, 4, 5)), "b")
        assert module.debug["3"].operands == (Id("1"), Enumerant("77"), Id("4"), Id("5"))
        code = f'%1 = OpExtInstImport "{name}" %3 = OpExtInst %2 %1 77 %4 %5'
        assert meaning(text(code)) == meaning(module)
    named = text(code.replace("77", "Kernel")).debug["3"]
    assert named.operands == (Id("1"), Enumerant("Kernel"), Id("4"), Id("5"))
    newer = text('%1 = OpExtInstImport "NonSemantic.ClspvReflection.7" %3 = OpExtInst %2 %1 ArgumentInfo %4')
    assert newer.debug["3"].operands == (Id("1"), Enumerant("ArgumentInfo"), Id("4"))


def test_groups_that_would_fill_the_memory():
    many = [(71, 1, 19)] * 3000
    groups = [(74, 1, *[2] * 3000)] * 3
    with pytest.raises(InputError, match="expected groups with at most"):
        read_spirv(binary(*many, *groups), "b")


def test_a_file_that_is_too_large(monkeypatch):
    monkeypatch.setattr("corpus.code.spirv.files.LARGEST_TEXT", 10)
    with pytest.raises(InputError, match="larger than 10 bytes"):
        text("; a comment")


def test_words_of_the_samples():
    assert words((5, 1, "abcd")) == [4 << 16 | 5, 1, 0x64636261, 0]
