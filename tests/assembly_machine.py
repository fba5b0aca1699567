"""Random straight-line functions in the assembly of a processor, what the reader makes of them, and what they do.

The reader's litmus test is evaluated by one thread, and the function itself runs: natively, or in QEMU's user mode.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.code.assembly.harness import names_of
from corpus.code.assembly.language import MachineLanguage
from corpus.code.assembly.reading import read_assembly
from corpus.code.registry import processor_named
from corpus.code.table import forms_in, rows_of
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.arithmetic import compute, wrap
from corpus.litmus.instructions import Assign, Branch, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.test import LitmusTest

ASKED = """\
C asked
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  int r1 = atomic_load_explicit(y, memory_order_relaxed);
}
exists (0:r0 = 1 /\\ 0:r1 = 1)
"""
"""Location x is at byte 0 of memory and y at byte 256, the register r0 at byte 0 of results and r1 at byte 256."""
NEGATIVE = ASKED.replace("  int r1", "  atomic_store_explicit(y, -1, memory_order_relaxed);\n  int r1")
"""The same of a test that has a number below 0."""

STATES = ((0, 1), (2, 0), (1, 3), (3, 2), (7, 1))
"""What x and y are at first, in a test of such numbers, and in one with numbers below 0."""
NEGATIVE_STATES = ((-1, 1), (1, -2), (-(1 << 31), -1), (0x7FFFFFFF, -(1 << 31)))


@dataclass(frozen=True)
class Machine:
    """How random functions of a processor are written, and run.

    ``registers`` are those used, by kind; ``begin`` loads values into them, ``ends`` store two of them as results.
    ``left`` are instructions that no random function has: they move the stack or are half of a pair.
    """

    compiler: tuple[str, ...]
    emulator: tuple[str, ...]
    operands: Mapping[str, tuple[str, ...]]
    begin: tuple[str, ...]
    ends: tuple[str, ...]
    returns: str
    left: tuple[str, ...] = ()


_NUMBERS = ("0", "1", "2", "3", "7", "31", "32", "64", "127", "128", "255", "256", "-1", "-2", "-64", "-128")
_LARGE = (*_NUMBERS, "0x40000000", "0x7fffffff", "-0x80000000")
_COUNTS = ("0", "1", "2", "5", "29", "30", "31")
_WIDE = (*_COUNTS, "32", "33", "40", "63")
_X86_MEMORY = ("(%rdi)", "256(%rdi)", "-8(%rsp)", "-16(%rsp)", "-12(%rsp)")
_X86 = ("a", "c", "d")
_ARM = ("8", "9", "10")
_ARM_MEMORY = ("[x0]", "[x0, #256]", "[sp, #-16]", "[sp, #-12]")
_RISC_MEMORY = ("0(a0)", "256(a0)", "-16(sp)", "-12(sp)")
_POWER_MEMORY = ("0(3)", "256(3)", "-16(1)", "-12(1)")
MACHINES: Mapping[str, Machine] = {
    "x86": Machine(
        ("gcc",),
        (),
        {
            "r1": (*(f"%{each}l" for each in _X86), "%r8b"),
            "r4": (*(f"%e{each}x" for each in _X86), "%r8d"),
            "r8": (*(f"%r{each}x" for each in _X86), "%r8"),
            "cl": ("%cl",),
            "n": tuple(f"${each}" for each in _LARGE),
            "m": _X86_MEMORY,
            "nowhere": ("0(%rax)",),
        },
        (
            "movl (%rdi), %eax",
            "movl 256(%rdi), %ecx",
            "movl $1, %edx",
            "movq $-1, %r8",
            "movq %rcx, -8(%rsp)",
            "movq $3, -16(%rsp)",
        ),
        ("movl {}, (%rsi)", "movl {}, 256(%rsi)"),
        "ret",
        ("pushq", "popq", "leave", "leaveq"),
    ),
    "armv8": Machine(
        ("aarch64-linux-gnu-gcc", "-march=armv8.4-a"),
        ("qemu-aarch64", "-cpu", "max"),
        {
            "w": (*(f"w{each}" for each in _ARM), "wzr"),
            "x": (*(f"x{each}" for each in _ARM), "xzr"),
            "W": tuple(f"w{each}" for each in _ARM),
            "X": tuple(f"x{each}" for each in _ARM),
            "n": tuple(f"#{each}" for each in (*_NUMBERS, "4080", "0x40000000", "0x80000000")),
            "c4": tuple(f"#{each}" for each in _COUNTS),
            "c8": tuple(f"#{each}" for each in _WIDE),
            "shift": ("lsl #1", "lsl #2", "lsr #3", "lsl #31"),
            "left": ("lsl #16", "lsl #0"),
            "ext": ("uxtw", "sxtw", "uxtw #2", "sxtw #3"),
            "m": _ARM_MEMORY,
            **dict.fromkeys(("mi", "mp"), _ARM_MEMORY[:-1]),
            "m0": ("[x0]", "[x3]"),
            "cond": ("eq", "ne", "lt", "ge", "le", "gt", "lo", "hs", "ls", "hi", "mi", "pl"),
            "hint": ("#34",),
            "domain": ("ish", "ishld", "ishst"),
        },
        ("ldr w8, [x0]", "ldr w9, [x0, #256]", "mov w10, #1", "add x3, x0, #256"),
        ("str {}, [x1]", "str {}, [x1, #256]"),
        "ret",
        ("ldxr", "ldaxr", "stxr", "stlxr", "paciasp", "autiasp"),
    ),
    "riscv": Machine(
        ("riscv64-linux-gnu-gcc", "-march=rv64gc"),
        ("qemu-riscv64",),
        {
            "r": ("a2", "a3", "a4", "x15", "zero"),
            "n": _NUMBERS,
            "u20": ("1", "262144", "524288", "1048575"),
            "c5": _COUNTS,
            "c6": _WIDE,
            "m": _RISC_MEMORY,
            "m0": ("(a0)", "(t0)"),
            "set": ("rw", "r", "w"),
        },
        ("lw a2, 0(a0)", "lw a3, 256(a0)", "li a4, 1", "li a5, -1", "addi t0, a0, 256"),
        ("sw {}, 0(a1)", "sw {}, 256(a1)"),
        "ret",
        (
            *tuple(f"{name}.w{order}" for name in ("lr", "sc", "amocas") for order in ("", ".aq", ".rl", ".aqrl")),
            "lw.aq",
            "sw.rl",
        ),
    ),
    "power": Machine(
        ("powerpc64le-linux-gnu-gcc",),
        ("qemu-ppc64le",),
        {
            "r": ("5", "6", "7", "8"),
            "n": _NUMBERS,
            "c5": _COUNTS,
            "c6": _WIDE,
            "m": _POWER_MEMORY,
            "field": ("0", "7"),
            "bit": ("0", "1", "2", "28", "29", "30"),
            "mask": ("128", "1", "64"),
            "u": ("0", "1", "3", "64", "255", "32768", "65535"),
            "one": ("0",),
        },
        ("lwz 5, 0(3)", "lwz 6, 256(3)", "li 7, 1", "li 8, -1"),
        ("stw {}, 0(4)", "stw {}, 256(4)"),
        "blr",
        (
            "lwarx",
            "stwcx.",
            "stdu",
            "setbc",
            "setbcr",
            "mfcr",
            "mfocrf",
            "mtcrf",
            "mtocrf",
            "lwzx",
            "lwax",
            "ldx",
            "stdx",
            "stwx",
        ),
    ),
}


def random_function(machine: Machine, language: MachineLanguage, names: Sequence[str], rng: random.Random) -> list[str]:
    """Return the lines of a function that ends by storing two registers."""
    lines = list(machine.begin)
    registers = next(machine.operands[kind] for kind in ("r4", "W", "r") if kind in machine.operands)
    for number in range(rng.randint(2, 7)):
        if rng.random() < 0.15:
            jumps = dict(rows_of(language.jumps))
            branches = [name for name, row in jumps.items() if row.operands not in ("", "label", "ra", "field?")]
            branches += [name for name, row in jumps.items() if row.operands == "label" and len(name) > 2]
            name = rng.choice([each for each in branches if not each.endswith(("lr", "lr+", "lr-"))])
            found = _operands(jumps[name].operands, machine, rng)
            if found is not None:
                lines += [_text(name, found), *_instruction(machine, language, names, rng), ".LN:".replace("N", "@")]
                lines = [each.replace("@", f"{len(lines)}_{number}") for each in lines]
        else:
            lines += _instruction(machine, language, names, rng)
    return [*lines, *(end.format(rng.choice(registers)) for end in machine.ends), machine.returns]


def _text(name: str, operands: Sequence[str]) -> str:
    return f"{name} {', '.join(operands)}".strip()


def _instruction(machine: Machine, language: MachineLanguage, names: Sequence[str], rng: random.Random) -> list[str]:
    while True:
        name = rng.choice(names)
        forms = " / ".join(row.operands for row in language.table[name])
        found = _operands(forms, machine, rng)
        if found is not None:
            if machine.compiler == ("gcc",) and not name.endswith("l"):  # locations have 32 bits
                found = [rng.choice(("-8(%rsp)", "-16(%rsp)")) if "(%rdi)" in each else each for each in found]
            return [_text(name, found)]


def _operands(forms: str, machine: Machine, rng: random.Random) -> list[str] | None:
    form = rng.choice(forms_in(forms))
    operands = []
    for slot in form:
        if slot.is_optional and rng.random() < 0.6:
            continue
        kind = rng.choice(slot.kinds)
        if kind in ("label", "next"):
            operands.append(".L@")
        elif kind in machine.operands:
            operands.append(rng.choice(machine.operands[kind]))
        else:
            return None
    return operands


def evaluated(test: LitmusTest, x: int, y: int) -> tuple[int, ...]:
    """Return x, y, r0 and r1 after the one thread of a test."""
    memory = {"x": wrap(x), "y": wrap(y)}
    names: dict[str, int | str] = {}
    code = test.threads[0].instructions
    labels = {ins.name: place for place, ins in enumerate(code) if isinstance(ins, Label)}

    def value(operand: Operand) -> int | str:
        if isinstance(operand, Reg):
            return names[operand.name]
        return operand.name if isinstance(operand, Loc) else operand

    def number(operand: Operand) -> int:
        found = value(operand)
        assert isinstance(found, int)
        return found

    place = 0
    while place < len(code):
        ins = code[place]
        place += 1
        match ins:
            case Load():
                names[str(ins.target)] = memory[str(value(ins.address))]
            case Store():
                memory[str(value(ins.address))] = wrap(number(ins.value))
            case Rmw():
                where = str(value(ins.address))
                old, given = memory[where], [number(each) for each in ins.operands]
                if ins.operation == "cas":
                    memory[where] = wrap(given[1]) if old == wrap(given[0]) else old
                else:
                    memory[where] = wrap(given[0]) if ins.operation == "exch" else compute(ins.operation, old, given[0])
                if ins.target is not None:
                    names[ins.target] = old
            case Assign(target, "mov", (source,)):
                names[target] = value(source)
            case Assign(target, operation, (left, right)):
                one, other = value(left), value(right)
                if isinstance(one, str) or isinstance(other, str):
                    assert operation == "add" and 0 in (one, other)
                    names[target] = one if isinstance(one, str) else other
                else:
                    names[target] = compute(operation, one, other)
            case Branch(label, condition):
                if condition is None or compute(condition.operation, number(condition.left), number(condition.right)):
                    place = labels[label]
    return memory["x"], memory["y"], *(wrap(int(names[each])) for each in ("r0", "r1"))


_DRIVER = """\
#include <stdio.h>
{declared}
static void (*functions[])(unsigned *, unsigned *) = {{ {listed} }};
static int states[][2] = {{ {states} }};
int main(void) {{
  for (unsigned f = 0; f < sizeof functions / sizeof *functions; f++)
    for (unsigned s = 0; s < sizeof states / sizeof *states; s++) {{
      unsigned memory[128] = {{ 0 }}, results[128] = {{ 0 }};
      memory[0] = states[s][0]; memory[64] = states[s][1];
      functions[f](memory, results);
      printf("%d %d %d %d\\n", memory[0], memory[64], results[0], results[64]);
    }}
}}
"""


def compiles(processor: str, code: str, folder: Path) -> bool:
    """Decide whether a processor's assembler takes a function."""
    (folder / "one.s").write_text(code, encoding="utf-8")
    command = [*MACHINES[processor].compiler, "-c", "one.s", "-o", "one.o"]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


def run(
    processor: str, functions: Mapping[str, Sequence[str]], states: Sequence[tuple[int, int]], folder: Path
) -> Mapping[str, list[tuple[int, ...]]]:
    """Run functions by name in each state; what a function leaves out is what the assembler does not take."""
    machine = MACHINES[processor]
    texts = {}
    for name, lines in functions.items():
        text = "\n".join([f".globl {name}", f".type {name}, @function", f"{name}:", *lines, f".size {name}, .-{name}"])
        texts[name] = text.replace(".L", f".L{name}_")
    source = "\n".join([".text", *texts.values(), '.section .note.GNU-stack,"",@progbits', ""])
    for _ in range(len(texts)):
        (folder / "all.s").write_text(source, encoding="utf-8")
        done = subprocess.run(
            [*machine.compiler, "-c", "all.s", "-o", "all.o"], cwd=folder, capture_output=True, text=True
        )
        if done.returncode == 0:
            break
        wrong = {
            int(line.split(":")[1])
            for line in done.stderr.splitlines()
            if line.startswith("all.s:") and "Error" in line
        }
        kept, at = {}, 2
        for name, text in texts.items():
            count = len(text.split("\n"))
            if not any(at <= each < at + count for each in wrong):
                kept[name] = text
            at += count
        assert len(kept) < len(texts), done.stderr
        texts = kept
        source = "\n".join([".text", *texts.values(), '.section .note.GNU-stack,"",@progbits', ""])
    driver = _DRIVER.format(
        declared="\n".join(f"void {name}(unsigned *, unsigned *);" for name in texts),
        listed=", ".join(texts),
        states=", ".join(f"{{ {x}, {y} }}" for x, y in states),
    )
    (folder / "driver.c").write_text(driver, encoding="utf-8")
    subprocess.run([*machine.compiler, "-w", "-static", "driver.c", "all.o", "-o", "driver"], cwd=folder, check=True)
    done = subprocess.run([*machine.emulator, "./driver"], cwd=folder, check=True, capture_output=True, text=True)
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    each = len(states)
    return {name: rows[place * each : (place + 1) * each] for place, name in enumerate(texts)}


def differences(
    processor: str, seed: int, count: int, folder: Path, negative: bool = False
) -> tuple[int, int, list[str]]:
    """Compare random functions; return how many were read, how many refused, and what differs."""
    machine, language, rng = MACHINES[processor], processor_named(processor), random.Random(seed)
    names = [name for name in language.table if name not in machine.left]
    test = parse_litmus(NEGATIVE if negative else ASKED)
    places = names_of(test)
    functions, read, refused = {}, {}, 0
    for number in range(count):
        lines = random_function(machine, language, names, rng)
        try:
            read[f"f{number}_P0"] = read_assembly(language, f"P0:\n{chr(10).join(lines)}\n", test, places)
        except InputError:
            refused += 1
        else:
            functions[f"f{number}_P0"] = lines
    states = NEGATIVE_STATES if negative else STATES
    found = run(processor, functions, states, folder)
    wrong = []
    for name, rows in found.items():
        for state, row in zip(states, rows, strict=True):
            expected = evaluated(read[name], *state)
            if expected != row:
                wrong.append("\n  ".join([f"{processor} {state}: read {expected}, ran {row}", *functions[name]]))
                break
    return len(found), refused, wrong
