"""Whatever is done to a text of PTX: it is read, or refused at a line; and a long text is read in seconds."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.code.ir import Module
from corpus.code.ptx.reader import read_ptx
from corpus.errors import InputError

TEXT = """.version 9.1
.target sm_90a, debug
.address_size 64
.file 1 "kernel.cu", 1339013327, 64118
.file 2 "inner.h"
.extern .shared .align 16 .b8 buffer[];
.visible .global .align 4 .u32 flag = 1 << 2 | 3;
.const .f32 table[2][3] = {{.05, 1.5e-1}, {0f3F800000, -2.}};
.global .v2 .u64 pointers[2] = {{generic(flag)+4, flag}, {0}};
.global .u8 bytes[4] = {0xFF(flag), 0xFF00(flag), 0xFF0000(flag), 0xFF000000(flag)};
.weak .func (.param .b32 result) twice(.param .b32 given, .reg .b64 other) .noreturn;
.alias again, twice;
.func (.param .b32 result) twice(.param .b32 given, .reg .b64 other)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [given];
    shl.b32 %r2, %r1, 1;
    st.param.b32 [result+0], %r2;
    ret;
}
.visible .entry kernel(
    .param .u64 .ptr .global .align 8 kernel_param_0,
    .param .align 8 .b8 kernel_param_1[24]
)
.maxntid 16, 16, 4
.pragma "nounroll";
{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>, total;
    .reg .v4 .f32 color;
    .loc 1 21 3
    ld.param::entry.u64 %rd1, [kernel_param_0]; // the array
    cvta.to.global.u64 %rd2, %rd1; /* an
    address */
$L__BB0_1:
    .loc 2 9 3, function_name $L__info_string0+7, inlined_at 1 21 3
    ld.acquire.gpu.global.L1::no_allocate.v2.u32 {%r1, _}, [%rd2+-4];
    setp.ne.and.s32 %p1|%p2, %r1, 0, !%p3;
    @!%p1 bra.uni $L__BB0_1;
    {
        .param .b32 param0;
        .reg .b32 %r<2>;
        st.param.b32 [param0], (3 + 4) * 2;
        call.uni (%r1), twice, (param0, 5), prototype;
    }
    tex.2d.v4.f32.f32 color, [texture, {%f1, color.x}];
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    targets: .branchtargets $L__BB0_1, N<2>;
N0: N1:
    @%p2 brx.idx %r3, targets;
    mov.b64 {%r4, %r5}, total;
    ret;
}
.section .debug_str
{
$L__info_string0:
    .b8 95, -1
    .b32 $L__info_string0+4
}
"""

WORDS = re.findall(r"[\w$%.]+|\"[^\"]*\"|//[^\n]*|/\*.*?\*/|\s+|.", TEXT, re.DOTALL)
ODD = [*"(){}[]<>;,:@!~-|?=._%", "/*", "*/", "", '"', "\0", "\x85", "\u00e9", "99999999999999999999", "08", "-1", "1.5"]
ODD += ["0f3F800000", ".reg", ".loc", ".entry", "0xFF("]


def read(text: str) -> Module | None:
    """The module; or None, where the text is refused as it has to be: at a line and a column of it."""
    try:
        return read_ptx(text, "t.ptx")
    except InputError as refused:
        error = refused
    lines = text.split("\n")
    assert error.path == "t.ptx" and error.line is not None and 1 <= error.line <= len(lines), error
    assert error.column is not None and 1 <= error.column <= len(lines[error.line - 1]) + 1, error
    assert error.message.startswith("expected ") and str(error).isprintable()
    return None


def test_the_text_that_is_changed_is_read():
    module = read(TEXT)
    assert module is not None and [each.name for each in module.kernels] == ["kernel"]
    assert list(module.functions) == ["twice", "kernel", "again"] and len(module.variables) == 5


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(st.data())
def test_words_are_dropped_doubled_and_replaced(data):
    words = list(WORDS)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(words) - 1))
        what = data.draw(st.sampled_from(["drop", "double", "replace", "swap", "put"]))
        if what == "drop":
            words[at] = ""
        elif what == "double":
            words[at] *= 2
        elif what == "swap":
            other = data.draw(st.integers(0, len(words) - 1))
            words[at], words[other] = words[other], words[at]
        else:
            new = data.draw(st.sampled_from(ODD) | st.sampled_from(WORDS))
            words[at] = new if what == "replace" else f"{words[at]} {new}"
    read("".join(words))


def test_the_text_is_cut_anywhere():
    for at in range(len(TEXT)):
        read(TEXT[:at])
        read(TEXT[at:])


def test_every_word_is_left_out():
    for at in range(len(WORDS)):
        read("".join(WORDS[:at] + WORDS[at + 1 :]))


@settings(max_examples=300, deadline=None)
@given(st.text() | st.lists(st.sampled_from(WORDS + ODD)).map(" ".join))
def test_any_text(text):
    read(text)


def long_module(lines: int) -> str:
    """A module of so many lines, such as a compiler writes."""
    head = TEXT[: TEXT.index("$L__BB0_1:")]
    body = [
        "\t.loc\t1 {n} 5, function_name $L__info_string0, inlined_at 1 21 3",
        "$L__BB0_{n}:",
        "\tld.global.acquire.gpu.u32 \t%r1, [%rd1+4];",
        "\tmul.wide.u32 \t%rd3, %r2, 4; // a comment",
        "\tst.global.v2.u32 \t[%rd3], {%r1, %r2};",
        "\tfma.rn.f32 \t%f1, %f2, 0f3F800000, %f3;",
        "\tsetp.ne.s32 \t%p1, %r1, 0;",
        "\t@%p1 bra \t$L__BB0_{n};",
        "\t{ .reg .b32 t; mov.u32 t, 1 + 2;",
        "\tadd.s32 \t%r1, t, -1; }",
    ]
    start = head.count("\n") + 2
    rows = [body[n % len(body)].replace("{n}", str(n // len(body))) for n in range((lines - start) // 10 * 10)]
    return "\n".join([head.rstrip(), *rows, *[""] * ((lines - start) % 10), "ret;", "}"])


def test_a_module_of_100_000_lines_is_read_in_seconds():
    text = long_module(100_000)
    assert text.count("\n") + 1 == 100_000
    start = time.process_time()
    module = read(text)
    seconds = time.process_time() - start
    assert module is not None and len(module.functions["kernel"].body or ()) > 70_000
    assert seconds < 20, seconds


def test_blanks_and_comments_take_no_longer_than_their_length():
    """A text whose blanks could be cut in many ways, before something that is no word."""
    for blank in (
        " " * 50_000,
        "/**/" * 20_000,
        "// \n" * 20_000,
        "\n" * 50_000,
        "/*" * 20_000,
        "(" * 5_000,
        '"' * 5_001,
    ):
        start = time.process_time()
        assert read(f".version 9.1{blank}`") is None
        assert time.process_time() - start < 5


def test_a_number_that_f32_has_not_is_infinity():
    module = read_ptx(".version 9.1\n.target sm_90\n.address_size 64\n.const .f32 far[2] = {1e94, -1e94};\n", "far.ptx")
    assert module.variables["far"].initial == bytes.fromhex("0000807f000080ff")
