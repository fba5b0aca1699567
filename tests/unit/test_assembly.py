"""Assembly of four processors that is read as litmus tests: what each instruction is, and what is refused."""

import re
from textwrap import dedent

import pytest

from corpus.code.assembly.harness import names_of
from corpus.code.assembly.reading import read_assembly
from corpus.code.registry import processor_named
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.describe import describe
from corpus.litmus.instructions import Rmw
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer

# Location x is at byte 0 of memory and y at byte 256; register r0 is at byte 0 of results and r1 at byte 256.
ASKED = """\
C asked
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  int r1 = atomic_load_explicit(y, memory_order_relaxed);
}
exists (0:r0 = 1 /\\ 0:r1 = 1)
"""
ONE = ASKED.replace(" /\\ 0:r1 = 1", "")
NONE = ASKED.replace("0:r0 = 1 /\\ 0:r1 = 1", "x = 1")


def read(processor, code, question=NONE):
    test = parse_litmus(question)
    text = f"P0:\n{dedent(code)}"
    return read_assembly(processor_named(processor), text, test, names_of(test), "test.s")


def said(processor, code, question=NONE):
    (thread,) = read(processor, code, question).threads
    return [describe(ins) for ins in thread.instructions]


# Code without results, and what it is.
ACCESSES = {
    "x86": {
        "movl $1, (%rdi)": ["st x, 1"],
        "movl 256(%rdi), %eax": ["ld v0, y"],
        "movl $2, %eax; xchgl %eax, 256(%rdi)": ["atom.relaxed.gpu.exch v0, y, 2"],
        "movl $1, %eax; lock xaddl %eax, (%rdi); movl %eax, 256(%rdi)": ["atom.relaxed.gpu.add v0, x, 1", "st y, v0"],
        "mfence": ["mfence"],
        "lock orq $0, (%rsp)": ["mfence"],
        "lock orl $1, (%rdi)": ["atom.relaxed.gpu.or v0, x, 1"],
        "lock incl (%rdi)": ["atom.relaxed.gpu.add v0, x, 1"],
        "movl $3, %edx; movl $1, %eax; lock cmpxchgl %edx, (%rdi)": ["atom.relaxed.gpu.cas v0, x, 1, 3"],
        "addl $1, (%rdi)": ["ld v0, x", "add v1, 1, v0", "st x, v1"],
        "movl (%rdi), %eax; andl $1073741824, %eax; movl 256(%rdi,%rax,4), %eax": [
            "ld v0, x",
            "and v1, v0, 1073741824",
            "add v3, &y, v1",
            "ld v2, [v3]",
        ],
        "pushq %rbp; movq %rsp, %rbp; movq %rdi, -8(%rbp); movq -8(%rbp), %rax; movl $1, (%rax); popq %rbp": [
            "st x, 1"
        ],
    },
    "armv8": {
        "mov w8, #1; stlr w8, [x0]": ["st.stlr x, 1"],
        "add x8, x0, #256; ldar w9, [x8]": ["ld.ldar v0, y"],
        "ldapr w9, [x0]": ["ld.ldapr v0, x"],
        "str wzr, [x0, #256]": ["st y, 0"],
        "dmb ish": ["dmb.sy"],
        "dmb ishld": ["dmb.ld"],
        "dmb ishst": ["dmb.st"],
        "isb": ["isb"],
        "mov w8, #2; swpal w8, w8, [x0]": ["atom.al.exch v0, x, 2"],
        "mov w8, #2; ldadda w8, w9, [x0]": ["atom.a.add v0, x, 2"],
        # The zero register as a target: no acquire, and no read for a dmb ld.
        "mov w8, #2; ldaddal w8, wzr, [x0]": ["red.l.add x, 2"],
        "mov w8, #2; stadd w8, [x0]": ["red.relaxed.gpu.add x, 2"],
        "mov w8, #1; mov w9, #3; casal w8, w9, [x0]": ["atom.al.cas v0, x, 1, 3"],
        "mov w8, #-2; ldclr w8, w8, [x0]": ["atom.relaxed.gpu.and v0, x, 1"],
        "ldr w8, [x0]; and w8, w8, #0x40000000; add w8, w8, #64; ldr w9, [x0, w8, uxtw #2]": [
            "ld v0, x",
            "and v1, v0, 1073741824",
            "add v3, &y, v1",
            "ld v2, [v3]",
        ],
        "ldr w8, [x0]; eor w8, w8, w8; str w8, [x0, #256]": ["ld v0, x", "xor v1, v0, v0", "st y, v1"],
        "str x0, [sp, #-16]!; ldr x8, [sp], #16; str wzr, [x8]": ["st x, 0"],
        "ldr w8, [x0]; cmp w8, #1; cset w9, eq; str w9, [x0, #256]": ["ld v0, x", "setp.eq v1, v0, 1", "st y, v1"],
        "ldr w8, [x0]; cbz w8, .L1; str wzr, [x0, #256]; .L1:": ["ld v0, x", "beq v0, 0, L2", "st y, 0", "L2:"],
        "ldr w8, [x0]; tbnz w8, #30, .L1; str wzr, [x0, #256]; .L1:": [
            "ld v0, x",
            "and v1, v0, 1073741824",
            "bne v1, 0, L2",
            "st y, 0",
            "L2:",
        ],
        "mov w9, #2; .L1:; ldaxr w8, [x0]; stlxr w10, w9, [x0]; cbnz w10, .L1": [
            "atom.acq_rel.gpu.exclusive.exch v0, x, 2"
        ],
        "mov w9, #2; .L1:; ldxr w8, [x0]; cmp w8, #1; b.ne .L2; stlxr w10, w9, [x0]; cbnz w10, .L1; .L2:; isb": [
            "atom.release.gpu.exclusive.cas v0, x, 1, 2",
            "bne v0, 1, L3",
            "L3:",
            "isb",
        ],
    },
    "riscv": {
        "fence rw, w; li a5, 1; sw a5, 0(a0)": ["fence.rw.w", "st x, 1"],
        "lw a2, 256(a0); fence r, rw": ["ld v0, y", "fence.r.rw"],
        "fence": ["fence.rw.rw"],
        "fence iorw, ow": ["fence.rw.w"],
        "fence.tso": ["fence.tso"],
        "li a1, 2; amoswap.w.aqrl a0, a1, (a0)": ["atom.aqrl.exch v0, x, 2"],
        "li a3, 1; amoor.w zero, a3, (a0)": ["red.relaxed.gpu.or x, 1"],
        "lw a2, 0(a0); lui a4, 262144; and a4, a4, a2; slli a3, a4, 2; add a3, a3, a0; lw a3, 256(a3)": [
            "ld v0, x",
            "and v1, 1073741824, v0",
            "add v3, &y, v1",
            "ld v2, [v3]",
        ],
        # A bit of what was read is moved to the sign of 64 bits.
        "lw a2, 0(a0); slli a2, a2, 33; bltz a2, .L1; sw zero, 256(a0); .L1:": [
            "ld v0, x",
            "and v1, v0, 1073741824",
            "bne v1, 0, L2",
            "st y, 0",
            "L2:",
        ],
        ".L1:; lr.w.aq a4, (a0); bne a4, zero, .L2; li a5, 3; sc.w.rl a3, a5, (a0); bnez a3, .L1; .L2:": [
            "atom.acq_rel.gpu.exclusive.cas v0, x, 0, 3",
            "bne v0, 0, L2",
            "L2:",
        ],
        ".L1:; lr.w.aqrl a4, (a0); addi a5, a4, 3; sc.w.rl a3, a5, (a0); bnez a3, .L1": [
            "atom.acq_rel.gpu.exclusive.lr.rl.add v0, x, 3"
        ],
    },
    "power": {
        "li 5, 1; lwsync; stw 5, 0(3)": ["lwsync", "st x, 1"],
        "lwz 5, 256(3); cmpd 7, 5, 5; bne- 7, .+4; isync": ["ld v0, y", "bne v0, v0, L1", "L1:", "isync"],
        "sync": ["sync"],
        "sync 1": ["lwsync"],
        "eieio": ["eieio"],
        "li 5, 256; .L1:; lwarx 6, 3, 5; addi 7, 6, 1; stwcx. 7, 3, 5; bne 0, .L1": [
            "atom.relaxed.gpu.add v0, y, 1",
            "beq v0, v0, Cv1",
            "Cv1:",
        ],
        "lwz 5, 0(3); rlwinm 6, 5, 0, 1, 1; sldi 6, 6, 2; add 6, 3, 6; lwz 7, 256(6)": [
            "ld v0, x",
            "and v1, v0, 1073741824",
            "add v3, &y, v1",
            "ld v2, [v3]",
        ],
        # The same in two rotations of 64 bits.
        "lwz 5, 0(3); rotldi 6, 5, 34; rldic 6, 6, 32, 31; lwzx 6, 3, 6": [
            "ld v0, x",
            "and v1, v0, 1073741824",
            "add v3, &x, v1",
            "ld v2, [v3]",
        ],
        # The place of y, 64 words, comes by an or of bits that nothing else has.
        "lwz 5, 0(3); li 7, 64; rlwinm 6, 5, 0, 1, 1; rlwimi 7, 6, 0, 26, 24; rldic 6, 7, 2, 30; lwzx 7, 3, 6": [
            "ld v0, x",
            "and v1, v0, 1073741824",
            "and v2, v1, -65",
            "add v4, &y, v2",
            "ld v3, [v4]",
        ],
        "lwz 5, 0(3); cmplwi 5, 1; bne 0, .L1; stw 5, 256(3); .L1:": ["ld v0, x", "bne v0, 1, L2", "st y, v0", "L2:"],
    },
}
CASES = [(processor, code, expected) for processor, cases in ACCESSES.items() for code, expected in cases.items()]
RETURNS = {"x86": "ret", "armv8": "ret", "riscv": "ret", "power": "blr"}


def lines(processor, code):
    return "\n".join([*(each.strip() for each in code.split(";")), RETURNS[processor]])


@pytest.mark.parametrize(("processor", "code", "expected"), CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES])
def test_what_instructions_are(processor, code, expected):
    assert said(processor, lines(processor, code)) == expected


def test_results_become_registers_of_the_test():
    code = "ldr w8, [x0]\nldr w9, [x0, #256]\nstr w8, [x1]\nstr w9, [x1, #256]\nret"
    assert said("armv8", code, ASKED) == ["ld r0, x", "ld r1, y"]


def test_two_registers_may_hold_what_was_read_once():
    code = "ldr w8, [x0]\nstr w8, [x1]\nstr w8, [x1, #256]\nret"
    assert said("armv8", code, ASKED) == ["ld r0, x", "mov r1, r0"]


def test_a_result_before_another_access_stays_a_store():
    """It may order what is before it and what is after it, as a fence after it does here."""
    code = "ldr w8, [x0]\nstr w8, [x1]\ndmb ishst\nstr wzr, [x0, #256]\nret"
    test = read("armv8", code, ONE)
    assert [describe(ins) for ins in test.threads[0].instructions] == [
        "ld r0, x",
        "st kept_0_0, r0",
        "dmb.st",
        "st y, 0",
    ]
    assert [location.name for location in test.locations] == ["x", "y", "kept_0_0"]


def test_ways_that_meet_bring_their_values():
    code = "ldr w8, [x0]\nmov w9, #1\ncbz w8, .L1\nmov w9, #2\n.L1:\nstr w9, [x0, #256]\nret"
    assert said("armv8", code) == ["ld v0, x", "mov v1, 1", "beq v0, 0, L2", "mov v1, 2", "L2:", "st y, v1"]


def test_a_loop_around_cmpxchg_is_one_operation_of_x86():
    """The load before it stays. Its value is one that the operation may find again."""
    code = "movl (%rdi), %eax\n.L1:\nmovl %eax, %edx\norl $1, %edx\nlock cmpxchgl %edx, (%rdi)\njne .L1\nret"
    assert said("x86", code) == ["ld v0, x", "atom.relaxed.gpu.or v2, x, 1"]


def test_the_result_of_a_loop_around_cmpxchg_is_what_the_operation_has_read():
    """The register that was expected is another one after an attempt that has failed."""
    code = (
        "movl (%rdi), %eax\n.L1:\nmovl %eax, %ecx\nmovl %eax, %edx\norl $1, %edx\nlock cmpxchgl %edx, (%rdi)\njne .L1"
    )
    assert said("x86", f"{code}\nmovl %ecx, (%rsi)\nret", ONE) == ["ld v0, x", "atom.relaxed.gpu.or r0, x, 1"]


def test_what_a_loop_around_cmpxchg_has_stored_is_computed_of_what_the_operation_has_read():
    code = "movl (%rdi), %eax; .L1:; movl %eax, %edx; orl $1, %edx; lock cmpxchgl %edx, (%rdi); jne .L1"
    expected = ["ld v0, x", "atom.relaxed.gpu.or v2, x, 1", "or r0, v2, 1"]
    assert said("x86", lines("x86", f"{code}; movl %edx, (%rsi)"), ONE) == expected


def test_a_loop_around_cmpxchg_that_stores_what_was_read_at_first_is_no_operation():
    code = "movl (%rdi), %eax; movl %eax, %ecx; .L1:; movl %ecx, %edx; orl $1, %edx; lock cmpxchgl %edx, (%rdi)"
    assert said("x86", lines("x86", f"{code}; jne .L1")) == [
        "ld v0, x",
        "or v1, v0, 1",
        "atom.relaxed.gpu.exch v2, x, v1",
    ]


def test_what_is_computed_of_a_success_is_known():
    code = (
        "mov w9, #2\n.L1:\nldxr w8, [x0]\nstxr w10, w9, [x0]\ncbnz w10, .L1\nadd w10, w10, #1\nstr w10, [x0, #256]\nret"
    )
    assert said("armv8", code) == ["atom.relaxed.gpu.exclusive.exch v0, x, 2", "st y, 1"]


@pytest.mark.parametrize("status", ["wzr", "w10"])
def test_an_exchange_that_may_fail_once(status):
    code = f"mov w9, #2\nldaxr w8, [x0]\ncmp w8, #1\nb.ne .L1\nstxr {status}, w9, [x0]\n.L1:\nret"
    (thread,) = read("armv8", code).threads
    exchange = thread.instructions[0]
    assert isinstance(exchange, Rmw) and exchange.operation == "cas" and exchange.success is not None


REFUSED = {
    ("armv8", "str d0, [x0]; ret"): "its operands are none of those that are known",
    ("armv8", "dsb sy; ret"): "this instruction is not known",
    ("armv8", "bl f; ret"): "this instruction is not known",
    ("armv8", "ldr x8, [x0]; ret"): "an access of 8 bytes, and locations have 4",
    ("armv8", "ldr w8, [x0, #4]; ret"): "byte 4 of the memory is no location of the test",
    ("armv8", "ldr w8, [x0]; orr w8, w8, #64; ldr w8, [x0, w8, uxtw #2]; ret"): "another one for each value",
    ("armv8", "ldr w8, [x0]; ldr w8, [x0, w8, uxtw #2]; ret"): "another one for each value",
    ("armv8", "ldr w8, [x8]; ret"): "x8 holds nothing that is known",
    ("armv8", "ldp w8, w9, [x0]; ret"): "two accesses of shared memory that are one instruction",
    ("armv8", ".L1:; ldr w8, [x0]; cbz w8, .L1; ret"): "a loop",
    ("armv8", "str w8, [x0]; ret"): "x8 holds nothing that is known",
    ("armv8", "b f; ret"): "a jump out of the function",
    ("armv8", "ldxr w8, [x0]; ret"): "an exclusive load without its store",
    (
        "armv8",
        "mov w9, #2; .L1:; ldxr w8, [x0]; dmb ish; stxr w10, w9, [x0]; cbnz w10, .L1; ret",
    ): "within an",
    (
        "armv8",
        "mov w9, #2; .L1:; ldxr w8, [x0]; clrex; stxr w10, w9, [x0]; cbnz w10, .L1; ret",
    ): "whose store is to come",
    (
        "armv8",
        "mov w9, #2; ldxr w8, [x0]; cmp w8, #1; b.ne .L1; stxr w10, w9, [x0]; str w10, [x0, #256]; .L1:; ret",
    ): "the success of an exchange that may fail is not understood",
    # The status of the store is not asked, or what fails does not begin again.
    ("armv8", "mov w9, #2; ldxr w8, [x0]; stxr w10, w9, [x0]; ret"): "does not just begin again",
    (
        "armv8",
        "mov w9, #2; ldxr w8, [x0]; stxr w10, w9, [x0]; cbnz w10, .L1; str w9, [x0, #256]; .L1:; ret",
    ): "may fail",
    # A second attempt would do more than the first one.
    (
        "armv8",
        "mov w9, #2; .L1:; ldr w7, [x0, #256]; ldxr w8, [x0]; stxr w10, w9, [x0]; cbnz w10, .L1; ret",
    ): "does not just begin again",
    ("armv8", ".L1:; ldxr w8, [x0]; add w9, w9, #1; stxr w10, w9, [x0]; cbnz w10, .L1; ret"): "x9 holds nothing",
    (
        "armv8",
        "mov w9, #2; .L1:; add w9, w9, #1; ldxr w8, [x0]; stxr w10, w9, [x0]; cbnz w10, .L1; ret",
    ): "a loop that changes what it begins with, x9",
    ("x86", "lock orl $1, (%rsp); ret"): "a locked instruction that changes the stack",
    ("x86", "movups (%rdi), %xmm0; ret"): "this instruction is not known",
    ("x86", "movl x(%rip), %eax; ret"): "%rip",
    ("x86", "movb $1, (%rdi); ret"): "an access of 1 bytes",
    ("riscv", "lr.w.rl a4, (a0); ret"): "a load that releases and does not acquire",
    ("riscv", "lw a2, 0(a0); slli a2, a2, 34; beqz a2, .L1; sw zero, 256(a0); .L1:; ret"): "64 bits",
    ("power", "sync 2; blr"): "this barrier is not known",
    ("power", "lwsync"): "a function that does not return",
}


@pytest.mark.parametrize(("processor", "code"), REFUSED, ids=[f"{case[0]}: {case[1]}" for case in REFUSED])
def test_what_is_not_understood_is_named(processor, code):
    with pytest.raises(InputError, match=r"^test.s(:\d+)?: ") as error:
        said(processor, "\n".join(each.strip() for each in code.split(";")))
    assert REFUSED[processor, code] in str(error.value)


def test_a_register_that_is_not_always_stored_is_named():
    code = "ldr w8, [x0]\ncbz w8, .L1\nstr w8, [x1]\n.L1:\nret"
    with pytest.raises(InputError, match="the function does not always store the register r0"):
        said("armv8", code, ONE)


def test_numbers_below_zero_are_compared_as_32_bits():
    negative = ONE.replace("int r1", "atomic_store_explicit(y, -1, memory_order_relaxed);\n  int r1")
    code = "movslq (%rdi), %rax\ncmpq $1, %rax\nje .L1\nmovl $1, 256(%rdi)\n.L1:\nmovl %eax, (%rsi)\nret"
    assert "beq" in " ".join(said("x86", code, ONE))
    with pytest.raises(InputError, match="negative numbers"):
        said("x86", code, negative)


def test_a_function_that_is_not_there():
    test = parse_litmus(ONE)
    with pytest.raises(InputError, match="no function P0"):
        read_assembly(processor_named("x86"), "main:\n ret\n", test, names_of(test))


# What pairs of exclusive accesses and operations without a result order, by the models of Armv8 and RISC-V. In P0, X is
# x and Y is y, in P1 the other way round, and R is where the register r0 of the thread is stored.
QUESTIONS = {"SB": "0:r0 = 0 /\\ 1:r0 = 0", "LB": "0:r0 = 1 /\\ 1:r0 = 1", "MP": "0:r0 = 1 /\\ 1:r0 = 0 /\\ y = 2"}
PLACES = {"armv8": ("[x0]", "[x3]", "[x1]", "[x4]"), "riscv": ("(a0)", "(t0)", "(a1)", "(t1)")}
BEGIN = {"armv8": "add x3, x0, #256; add x4, x1, #256; mov w9, #1; mov w7, #2", "riscv": "addi t0, a0, 256; li a3, 1"}
BEGIN["riscv"] += "; addi t1, a1, 256"
ARM_PAIR = ".L1:; ldaxr w8, X; stlxr w10, w9, X; cbnz w10, .L1; ldr w11, Y; str w11, R"
RISCV_PAIR = ".L1:; lr.w.aqrl a4, X; sc.w.rl a5, a3, X; bnez a5, .L1; lw a6, 0Y; sw a6, 0R"
UPDATES = ".L1:; lr.w a4, X; sc.w a5, a3, X; bnez a5, .L1; sw a3, 0Y; sw a4, 0R"
RELEASES = "str w9, X; stlr w9, Y; str w9, R"
ORDERED = {
    # The store of a pair that acquires and releases may come after a later load; that of one instruction may not.
    ("armv8", "SB", ARM_PAIR, ARM_PAIR): True,
    ("armv8", "SB", *["swpal w9, w8, X; ldr w11, Y; str w11, R"] * 2): False,
    ("riscv", "SB", RISCV_PAIR, RISCV_PAIR): True,
    ("riscv", "SB", *["amoswap.w.aqrl a4, a3, X; lw a6, 0Y; sw a6, 0R"] * 2): False,
    # What is stored after the branch on the result of an sc comes after the store of the sc, and that after its load.
    ("riscv", "LB", UPDATES, "lw a4, 0X; fence rw, rw; sw a3, 0Y; sw a4, 0R"): False,
    ("riscv", "LB", "lw a4, 0X; sw a3, 0Y; sw a4, 0R", "lw a4, 0X; fence rw, rw; sw a3, 0Y; sw a4, 0R"): True,
    # With the zero register as a target, the read is none that a dmb ld orders.
    ("armv8", "MP", RELEASES, "swp w7, wzr, X; dmb ishld; ldr w8, Y; str w8, R"): True,
    ("armv8", "MP", RELEASES, "swp w7, w6, X; dmb ishld; ldr w8, Y; str w8, R"): False,
}


@pytest.mark.parametrize("case", ORDERED, ids=[" | ".join(case) for case in ORDERED])
def test_what_pairs_and_operations_without_a_result_order(case):
    processor, name, *threads = case
    asked = "int r0 = atomic_load_explicit(x, memory_order_relaxed);"
    heads = [f"P{number} (atomic_int* x, atomic_int* y) {{ {asked} }}\n" for number in (0, 1)]
    test = parse_litmus(f"C {name}\n{{ x = 0; y = 0; }}\n{''.join(heads)}exists ({QUESTIONS[name]})\n")
    x, y, *results = PLACES[processor]
    text = ""
    for number, code in enumerate(threads):
        places = {"X": (x, y)[number], "Y": (y, x)[number], "R": results[number]}
        lines = [each.strip() for each in f"{BEGIN[processor]}; {code}; ret".split(";")]
        for letter, place in places.items():
            lines = [re.sub(rf"{letter}$", place, line) for line in lines]
        text += "\n".join([f"P{number}:", *lines, ""])
    read = read_assembly(processor_named(processor), text, test, names_of(test), "test.s")
    (model,) = resolve_consistency_models([processor])
    assert (model.judge(read).answer is Answer.ALLOWED) == ORDERED[case]
