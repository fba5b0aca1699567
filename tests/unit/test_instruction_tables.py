"""Each row of the tables of instructions is fed once, mutants end in one line, and random code does what is read."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from shutil import which

import pytest
from assembly_machine import ASKED, MACHINES, differences, evaluated
from assembly_mutants import code_mutants
from instruction_rows import operands_of
from test_assembly import CASES, RETURNS, lines, said

from backends.cpp.reading import TARGETS
from corpus.code.assembly.harness import names_of
from corpus.code.assembly.reading import read_assembly
from corpus.code.registry import PROCESSORS, processor_named
from corpus.code.table import Effect, rows_of
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Branch, Fence, Label, Load, Rmw, Store
from oracle.consistency import resolve_consistency_models
from synth.translation.judging import TranslationVerdict, judge_translation

TEST = parse_litmus(ASKED.replace("0:r0 = 1 /\\ 0:r1 = 1", "x = 1"))
LANGUAGES = list(PROCESSORS)
ALLOWED = {
    Effect.NOTHING: (),
    Effect.READS: ({Load},),
    Effect.WRITES: ({Store},),
    Effect.BOTH: ({Load}, {Load, Store}, {Rmw}, {Fence}),
    Effect.ORDERS: ({Fence},),
    Effect.CONTROL: (),
}
"""The instructions of a litmus test that an effect on memory becomes where an operand is memory, all of them; in memory
of the thread's own it becomes none. One whose target is a register reads; a locked one on the stack is a fence."""
OTHER_SIZES = re.compile(r"set\w+|cmov\w+q|movz\w+|\w+[bq]")
"""Instructions of x86 whose accesses are of a byte, or of eight: these are refused, as locations are words."""


def read(processor, text):
    return read_assembly(processor_named(processor), text, TEST, names_of(TEST), "test.s")


def fed(processor, name, row):
    """Yield an instruction or a jump with examples of each kind of its operands, form by form."""
    kinds = processor_named(processor).kinds
    for operands in operands_of(row, lambda kind: kinds[kind].examples[:2]):
        yield f"{name} {', '.join(operands)}".strip()


@pytest.mark.parametrize("processor", LANGUAGES)
def test_each_row_is_fed_once(processor):
    """It is read or refused in one line, and does to memory what its row says; so does one with an operand more."""
    language, counts, unseen = processor_named(processor), Counter(), []
    begin = "; ".join(MACHINES[processor].begin)
    for name, row in (*rows_of(language.table), *rows_of(language.jumps)):
        understood, seen = False, set()
        for text in fed(processor, name, row):
            code = f"P0:\n{lines(processor, f'{begin}; {text}; .L1:')}\n"
            try:
                (thread,) = read(processor, code).threads
            except InputError:
                continue
            understood = True
            found = {type(ins) for ins in thread.instructions[2:]} - {Assign, Branch, Label}
            assert not found or found in ALLOWED[row.effect], text
            seen |= found
        text = next(fed(processor, name, row))
        more = f"{text}{', ' if ' ' in text.removeprefix('lock ').removeprefix('rep ') else ' '}{', '.join(['5'] * 6)}"
        with pytest.raises(InputError, match="its operands are none of those that are known"):
            read(processor, f"P0:\n{lines(processor, f'{begin}; {more}; .L1:')}\n")
        counts["alone" if understood else "in company"] += 1
        if understood and not seen and row.effect not in (Effect.NOTHING, Effect.CONTROL):
            unseen.append(name)
    assert all(processor == "x86" and OTHER_SIZES.fullmatch(name) for name in unseen), unseen
    print(f"{processor}: {len(language.table)} instructions and {len(language.jumps)} jumps have a row: {counts}")
    assert counts["alone"] > counts["in company"]


DIFFER = {
    "x86": (
        ("movl $2, %eax; lock xaddl %eax, (%rdi)", "movl $2, %eax; xaddl %eax, (%rdi)"),
        ("movl $1, (%rdi)", "movl $1, %fs:(%rdi)"),
        ("movl $1, (%rdi)", "movb $1, (%rdi)"),
        ("lock orq $0, (%rsp)", "orq $0, (%rsp)"),
        ("movl $1, (%rdi)", "movl $1, %r99d"),
        ("movl $1, (%rdi)", ".byte 0xf0; movl $1, (%rdi)"),
    ),
    "armv8": (
        ("dmb ish", "dmb ishst"),
        ("mov w8, #1; stlr w8, [x0]", "mov w8, #1; str w8, [x0]"),
        ("mov w8, #1; str w8, [x0]", "mov w8, #1; str w8, [x0, #256]!"),
        ("mov w8, #1; str w8, [x0]; str w8, [x0]", "mov w8, #1; str w8, [x0], #256; str w8, [x0]"),
        ("mov w8, #2; swpal w8, w8, [x0]", "mov w8, #2; swpa w8, w8, [x0]"),
        ("mov w8, #1; str w8, [x0]", "mov w8, #1; .inst 0; str w8, [x0]"),
        ("mov w9, #1; ldxr w8, [x0]; .L1:; stxr w10, w9, [x0]", "ldxr w8, [x0]; clrex; stxr w10, w9, [x0]"),
    ),
    "riscv": (
        ("li a5, 2; amoswap.w.aqrl a4, a5, (a0)", "li a5, 2; amoswap.w.aq a4, a5, (a0)"),
        ("fence rw, w; sw zero, 0(a0)", "fence w, w; sw zero, 0(a0)"),
        ("sw zero, 0(a0)", "addi x10, x10, 256; sw zero, 0(a0)"),
        ("lui a4, 524288; sw a4, 0(a0)", "lui a4, 524287; sw a4, 0(a0)"),
    ),
    "power": (
        ("li 5, 1; sync; stw 5, 0(3)", "li 5, 1; lwsync; stw 5, 0(3)"),
        ("li 5, 1; stw 5, 0(3)", "li 5, 1; addi r3, r3, 256; stw 5, 0(3)"),
        ("lwz 5, 0(3); stw 5, 256(3)", "lwz 5, 0(3); stwu 5, 256(3)"),
        # What a rotation left behind is no more once the register is written.
        (
            "lwz 5, 0(3); rotldi 6, 5, 34; rldic 6, 6, 32, 31; lwzx 6, 3, 6",
            "lwz 5, 0(3); rotldi 6, 5, 34; lwz 6, 256(3); rldic 6, 6, 32, 31; lwzx 6, 3, 6",
        ),
    ),
}
"""Code, and code that differs in a word and in what it does."""
PAIRS = [(processor, *pair) for processor, pairs in DIFFER.items() for pair in pairs]


@pytest.mark.parametrize(("processor", "one", "other"), PAIRS, ids=[pair[2] for pair in PAIRS])
def test_what_differs_in_a_word_is_not_read_as_the_same(processor, one, other):
    found = []
    for code in (one, other):
        try:
            found.append(said(processor, lines(processor, code)))
        except InputError as error:
            found.append(str(error))
    assert found[0] != found[1]


# Code, and the value that it leaves in the second result: x is 2 at first, and y is 3.
VALUES = {
    "x86": {
        "movl $-1, %eax; shrq $4, %rax": 0x0FFFFFFF,
        "movb $-1, %al; movzbl %al, %eax": 255,
        "xorl %eax, %eax; addb $200, %al; addb $100, %al; movzbl %al, %eax": 44,
        "movl $-1, %eax; cltq; shrq $60, %rax": 15,
        "xorl %eax, %eax; cmpb $-128, %al; sete %al": 0,
        # The accumulator is compared with memory, and not the other way round.
        "movl $9, %edx; movl $1, %eax; lock cmpxchgl %edx, (%rdi); setb %al; movzbl %al, %eax": 1,
        "movl (%rdi), %eax; leal -3(%rax), %eax; cmpl $5, %eax; setb %al; movzbl %al, %eax": 0,
        "movl $1, %edx; movl $2, %eax; cmpl %eax, %eax; lock xaddl %edx, (%rdi); sete %al; movzbl %al, %eax": 0,
    },
    "armv8": {
        "mov w8, #-1; lsr x8, x8, #4": 0x0FFFFFFF,
        "ldr w8, [x0]; sub w8, w8, #3; cmp w8, #5; cset w8, lo": 0,
        "ldr w8, [x0]; mov w9, #-1; add x8, x8, w9, uxtw; cmp x8, #1; cset w8, eq": None,
        "mov x8, #0x700000000; ubfx x8, x8, #32, #40": None,
    },
    "riscv": {
        "li a4, -1; srliw a4, a4, 0; srli a4, a4, 60": 15,
        "lui a4, 524288; srli a4, a4, 32": -1,
        "lw a4, 0(a0); addiw a4, a4, -3; sltiu a4, a4, 5": 0,
    },
    "power": {
        "lis 5, 32768; srdi 5, 5, 32": -1,
        "lwz 5, 0(3); addi 5, 5, -3; xori 5, 5, 3; srdi 5, 5, 30": None,
        "lwz 5, 0(3); addi 5, 5, -3; cmplwi 5, 5; li 6, 1; isellt 5, 6, 5": -1,
        "li 5, 7; rlwinm 5, 5, 0, 5, 4": 7,
        "lwz 5, 0(3); andis. 6, 5, 32768; li 5, 1; bge 0, .L1; li 5, 0; .L1:": None,
    },
}
"""None: nothing is known of it, and it is refused."""
LAST = {"x86": "%eax", "armv8": "w8", "riscv": "a4", "power": "5"}
STORE = {
    "x86": "movl {}, 256(%rsi)",
    "armv8": "str {}, [x1, #256]",
    "riscv": "sw {}, 256(a1)",
    "power": "stw {}, 256(4)",
}
FIRST = {
    "x86": "movl 256(%rdi), %r9d; movl %r9d, (%rsi)",
    "armv8": "ldr w11, [x0, #256]; str w11, [x1]",
    "riscv": "lw t2, 256(a0); sw t2, 0(a1)",
    "power": "lwz 9, 256(3); stw 9, 0(4)",
}
KNOWN = [(processor, code, value) for processor, codes in VALUES.items() for code, value in codes.items()]


@pytest.mark.parametrize(("processor", "code", "value"), KNOWN, ids=[each[1] for each in KNOWN])
def test_numbers_have_the_width_of_their_registers(processor, code, value):
    test = parse_litmus(ASKED)
    end = STORE[processor].format(LAST[processor])
    text = f"P0:\n{lines(processor, f'{FIRST[processor]}; {code}; {end}')}\n"
    try:
        found = evaluated(read_assembly(processor_named(processor), text, test, names_of(test)), 2, 3)[3]
    except InputError:
        found = None
    assert found == value


def mutants_of(processor, count, texts, seed=0):
    """Count what reading of mutants ends in; anything but an ``InputError`` is raised."""
    rng, counts = random.Random(seed), Counter()
    for number, text in enumerate(texts):
        share = count // len(texts) + (number < count % len(texts))
        for mutant in code_mutants(text, share, rng):
            try:
                read(processor, mutant)
                counts["read"] += 1
            except InputError:
                counts["refused"] += 1
    return counts


@pytest.mark.parametrize("processor", LANGUAGES)
def test_mutants_end_in_one_line(processor):
    codes = [code for each, code, _ in CASES if each == processor]
    counts = mutants_of(processor, 300, [f"P0:\n{lines(processor, code)}\n" for code in codes])
    assert sum(counts.values()) == 300 and counts["refused"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_mutants_of_what_compilers_write_end_in_one_line(target, tmp_path):
    each = TARGETS[target]
    if each.missing():
        pytest.skip(each.missing()[0])
    examples = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("c-*.litmus"))[:12]
    total = Counter()
    for path in examples:
        test = parse_litmus(path.read_text(encoding="utf-8"))
        for level in ("-O0", "-O2"):
            try:
                compiled = each.compile(test, level, tmp_path)
            except InputError:
                continue
            rng = random.Random(f"{path.name} {level}")
            for mutant in code_mutants(compiled.text, 30, rng):
                try:
                    read_assembly(processor_named(each.processor), mutant, test, compiled.names, "test.s")
                    total["read"] += 1
                except InputError:
                    total["refused"] += 1
    print(f"{target}: {dict(total)}")
    assert sum(total.values()) > 300


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("processor", LANGUAGES)
def test_random_functions_do_what_is_read(processor, negative, tmp_path):
    """Natively, and where there is a cross compiler and QEMU, for the other processors."""
    machine = MACHINES[processor]
    needed = [machine.compiler[0], *machine.emulator[:1]]
    if lacking := [each for each in needed if which(each) is None]:
        pytest.skip(f"no {lacking[0]}")
    count, _, wrong = differences(processor, 1, 150, tmp_path, negative)
    assert (count > 10, wrong) == (True, [])


def test_data_in_the_code_is_no_instruction():
    """Behind the end it is never executed; where it is reached, it may be any instruction."""
    assert said("power", "li 5, 1\nstw 5, 0(3)\nblr\n.long 0\n.quad 0") == ["st x, 1"]
    for code in (".byte 0xf0; movl $1, (%rdi)", "jmp .L1; .L1:; .long 0", '.section .text.other,"ax"; movl $1, (%rdi)'):
        with pytest.raises(InputError, match="this instruction is not known"):
            said("x86", lines("x86", code))
    assert set(RETURNS) == set(LANGUAGES)


MESSAGE = """\
C message
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0 = 1 /\\ 1:r1 = 0)
"""
ARM_SENDS = "mov w8, #1; str w8, [x0]; add x3, x0, #256; stlr w8, [x3]"
ARM_READS = "add x3, x0, #256; {}; str w8, [x1]; str w9, [x1, #256]"
X86_SENDS, X86_READS = "movl $1, (%rdi); movl $1, 256(%rdi)", "movl 256(%rdi), %eax; movl (%rdi), %ecx"
X86_ENDS = "movl %eax, (%rsi); movl %ecx, 256(%rsi)"
RISC_SENDS = "li a5, 1; sw a5, 0(a0); {}; sw a5, 256(a0)"
RISC_READS = "lw a4, 256(a0); {}; sw a4, 0(a1); sw a3, 256(a1)"
POWER_SENDS, POWER_READS = "li 5, 1; stw 5, 0(3); {}; stw 5, 256(3)", "lwz 5, 256(3); {}; stw 5, 0(4); stw 6, 256(4)"
TRAPS = {
    # The base moves after the first store, so that the second one is to y (Arm ARM, STR, post-index).
    (
        "armv8",
        "mov w8, #1; str w8, [x0], #256; stlr w8, [x0]",
        ARM_READS.format("ldapr w8, [x3]; ldr w9, [x0]"),
    ): "SAME",
    # A barrier of stores orders no loads (B2.3, DMB ST).
    ("armv8", ARM_SENDS, ARM_READS.format("ldr w8, [x3]; dmb ishst; ldr w9, [x0]")): "WEAKER",
    # An and with 0 gives 0, and is a dependency all the same.
    (
        "armv8",
        ARM_SENDS,
        ARM_READS.format("ldr w8, [x3]; and w10, w8, #0x40000000; ldr w9, [x0, w10, uxtw #2]"),
    ): "SAME",
    # A segment is added to the address, and bytes in the code may be any instruction.
    ("x86", X86_SENDS.replace("256(%rdi)", "%fs:256(%rdi)"), f"{X86_READS}; {X86_ENDS}"): "NOT_READ",
    ("x86", X86_SENDS, f"movl 256(%rdi), %eax; .byte 0x0f, 0xae, 0xe8; movl (%rdi), %ecx; {X86_ENDS}"): "NOT_READ",
    # a0 has a second name, and the message goes past x.
    (
        "riscv",
        "li a5, 1; addi x10, x10, 256; fence w, w; sw a5, 0(a0)",
        RISC_READS.format("fence r, r; lw a3, 0(a0)"),
    ): "WEAKER",
    ("riscv", RISC_SENDS.format("fence r, w"), RISC_READS.format("fence r, r; lw a3, 0(a0)")): "WEAKER",
    ("riscv", RISC_SENDS.format("fence w, w"), RISC_READS.format("fence r, r; lw a3, 0(a0)")): "SAME",
    # isync orders a later load only behind a branch that depends on the first one (Power ISA, book II, 4.6).
    ("power", POWER_SENDS.format("lwsync"), POWER_READS.format("isync; lwz 6, 0(3)")): "WEAKER",
    (
        "power",
        POWER_SENDS.format("lwsync"),
        POWER_READS.format("cmpd 7, 5, 5; bne- 7, .+4; isync; lwz 6, 0(3)"),
    ): "SAME",
}
"""Translations of a message with one trap each, and the verdicts by the manuals."""


@pytest.mark.parametrize("trap", TRAPS, ids=[" | ".join(trap) for trap in TRAPS])
def test_a_trap_in_a_message_is_judged_by_the_manual(trap):
    processor, *threads = trap
    test = parse_litmus(MESSAGE)
    text = "".join(f"P{number}:\n{lines(processor, code)}\n" for number, code in enumerate(threads))
    models = resolve_consistency_models(["rc11", processor])
    try:
        read = read_assembly(processor_named(processor), text, test, names_of(test), "test.s")
    except InputError:
        verdict = TranslationVerdict.NOT_READ
    else:
        verdict = judge_translation(test, read, (models[0], models[1])).verdict
    assert str(verdict) == TRAPS[trap]
