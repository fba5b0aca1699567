"""Instructions of PTX, of whose operands memory gives some: what is left of them computes, on random numbers, what the
instruction computes.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest
from ptx_text import kernel_text, program

from corpus.code.places import argument_array
from corpus.litmus.arithmetic import compute as evaluated
from corpus.litmus.instructions import Assign, Branch, Comparison, Instruction, Label, Load, Store
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.ptx_arithmetic import COMPUTED, WIDTHS, compare, compute, result_width, signed

LETTERS = {16: "h", 32: "r", 64: "d"}
PLAIN = ("add", "sub", "mul.lo", "mul.hi", "mad.lo", "mad.hi", "min", "max", "shr", "sad")
OPCODES = (
    *("shf.l.wrap.b32", "shf.r.wrap.b32", "shf.l.clamp.b32", "shf.r.clamp.b32"),
    *("bfe.u32", "bfe.s32", "bfe.u64", "bfe.s64", "bfi.b32", "bfi.b64"),
    *("prmt.b32", *(f"prmt.b32.{mode}" for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))),
    *("slct.b32.s32", "slct.u64.s32", "slct.b32.f32", "slct.ftz.s32.f32", "sad.u32", "sad.s32", "sad.u64", "sad.s64"),
    *("mad.lo.s32", "mad.hi.u32", "mad.hi.sat.s32", "mad24.lo.u32", "mad24.hi.s32", "mad24.hi.sat.s32"),
    *("mad.wide.s32", "mad.wide.u32", "mad.lo.u64", "mad.hi.s64"),
    *(f"lop3.b32 {table}" for table in (0x00, 0x80, 0x96, 0xCA, 0xE8, 0xFE, 0xFF, 0x1D, 0x3C)),
    *(f"{name}.{kind}" for name in ("mul.wide", "mad.wide") for kind in ("u16", "s16", "u32", "s32")),
    *(f"{name}.{sign}{width}" for name in PLAIN for sign in "us" for width in (16, 32, 64)),
    *(f"{name}.b{width}" for name in ("not", "cnot", "and", "or", "xor", "shl") for width in (16, 32, 64)),
    *(f"{name}.s{width}" for name in ("abs", "neg") for width in (16, 32, 64)),
    *(f"{name}.b{width}" for name in ("popc", "clz", "brev") for width in (32, 64)),
    *("bfind.u32", "bfind.s64", "bfind.shiftamt.s32", "add.sat.s32", "sub.sat.s32", "mul24.lo.s32", "mul24.hi.u32"),
    *(f"selp.b{width}" for width in (16, 32, 64)),
)


def _widths(name: str, words: list[str]) -> list[int]:
    """The bits of the operands, behind those of the result."""
    full = WIDTHS[next(word for word in reversed(words) if word in WIDTHS)]
    out = result_width(name, words)
    if name == "bfe":
        return [full, full, 32, 32]
    if name == "bfi":
        return [full, full, full, 32, 32]
    if name == "slct":
        return [out, out, out, 32]
    if name in ("shl", "shr"):
        return [full, full, 32]
    if name == "selp":
        return [full, full, full, 32]
    if "wide" in words:
        return [out, full, full, out][: 1 + COMPUTED[name].operands]
    return [out, *[full] * min(3, COMPUTED[name].operands)]


def number_of(rng: Random, width: int) -> int:
    """A number of so many bits, small or near a border more often than not."""
    return rng.choice((rng.getrandbits(width), rng.randrange(70), rng.randrange(-70, 0) % (1 << width), 1 << width - 1))


def run(instructions: tuple[Instruction, ...], memory: dict[str, int]) -> dict[str, int]:
    """Do a thread, and return its registers; locations are by the names that the test has. Of branches, those behind
    which the thread goes on.
    """
    registers: dict[str, int] = defaultdict(int)

    def value(operand: Operand) -> int:
        assert not isinstance(operand, Loc)
        return registers[operand.name] if isinstance(operand, Reg) else operand

    skipping = ""
    for ins in instructions:
        skipping = "" if ins == Label(skipping) else skipping
        if skipping:
            continue
        match ins:
            case Load(target, Loc(name)):
                registers[target] = memory[name]
            case Store(Loc(name), given):
                memory[name] = value(given)
            case Branch(label, Comparison("ne", condition, 0)) if value(condition):
                skipping = label
            case Label():
                pass
            case Assign(target, "mov", (given,)):
                registers[target] = value(given)
            case Assign(target, operation, (left, right)):
                registers[target] = evaluated(operation, value(left), value(right))
            case _:
                raise AssertionError(ins)
    return registers


@pytest.mark.one_in(8)
@pytest.mark.parametrize("opcode", OPCODES)
def test_steps_give_what_the_instruction_computes(opcode: str) -> None:
    opcode, *table = opcode.split()
    name, *words = opcode.split(".")
    out, *widths = _widths(name, words)
    rng = Random(opcode)
    for unknown in range(1, 1 << len(widths)):
        numbers = [number_of(rng, width) for width in widths]
        held = [bool(unknown >> n & 1) for n in range(len(widths))]
        body = operands = ""
        for n, (width, number) in enumerate(zip(widths, numbers, strict=True)):
            read = f"ld.b{width} %{LETTERS[width]}{n + 1}, [%x+{8 * n}];"
            body += read if held[n] else f"mov.b{width} %{LETTERS[width]}{n + 1}, {number:#x};"
            operands += f", %{LETTERS[width]}{n + 1}"
        operands += "".join(f", {each}" for each in table)
        if name == "selp":
            body += " setp.ne.u32 %p1, %r3, 0;"
            operands = operands.replace("%r3", "%p1")
        target = f"%{LETTERS[out]}9"
        left = program(kernel_text(f"{body} {opcode} {target}{operands}; st.b{out} [%y], {target};"))
        for _ in range(12):
            numbers = [
                number_of(rng, width) if there else old for width, there, old in zip(widths, held, numbers, strict=True)
            ]
            memory = {
                location: signed(numbers[cell.offset // 8], widths[cell.offset // 8])
                for location, cell in left.locations.cells.items()
                if cell.array == argument_array("x")
            }
            run(left.test.threads[0].instructions, memory)
            given = [*numbers[:2], int(numbers[2] != 0)] if name == "selp" else [*numbers, *map(int, table)]
            wanted = compute(name, words, given)
            assert memory["y"] % (1 << out) == wanted, (opcode, numbers, held)


def found_of(body: str, widths: tuple[int, ...], numbers: tuple[int, ...]) -> int:
    """What a body stores to ``y``, whose operands are numbers of so many bits in a register each."""
    read = "".join(f"ld.b{width} %{LETTERS[width]}{n + 1}, [%x+{8 * n}];" for n, width in enumerate(widths))
    left = program(kernel_text(read + body))
    memory = {
        location: signed(numbers[cell.offset // 8], widths[cell.offset // 8])
        for location, cell in left.locations.cells.items()
        if cell.array == argument_array("x")
    }
    run(left.test.threads[0].instructions, memory)
    return memory["y"]


WHOLE = tuple(f"{sign}{width}" for sign in "us" for width in (8, 16, 32, 64))
CONVERSIONS = [(to, of, sat) for to in WHOLE for of in WHOLE for sat in ("", ".sat")]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("to", "of", "sat"), CONVERSIONS)
def test_conversions(to: str, of: str, sat: str) -> None:
    """A register that is wider than the type of the result has its sign, or zeros (9.4.1)."""
    rng = Random(to + of + sat)
    out, source = (max(32, WIDTHS[kind]) for kind in (to, of))
    opcode = f"cvt{sat}.{to}.{of}"
    body = f"{opcode} %{LETTERS[out]}9, %{LETTERS[source]}1; st.b{out} [%y], %{LETTERS[out]}9;"
    for _ in range(6):
        number = number_of(rng, source)
        wanted = compute("cvt", opcode.split(".")[1:], [number])
        wanted = signed(wanted, WIDTHS[to]) if to[0] == "s" else wanted
        assert found_of(body, (source,), (number,)) % (1 << out) == wanted % (1 << out), (opcode, number)


COMPARED = [
    *(f"{name}.{kind}" for kind in WHOLE if kind[1:] != "8" for name in ("eq", "ne", "lt", "le", "gt", "ge")),
    *(f"{name}.u{width}" for width in (16, 32, 64) for name in ("lo", "ls", "hi", "hs")),
    *(f"{name}.b{width}" for width in (16, 32, 64) for name in ("eq", "ne")),
    *(f"{name}.f32" for name in ("eq", "lt", "ge", "neu", "ltu", "num", "nan")),
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("words", COMPARED)
def test_comparisons(words: str) -> None:
    rng = Random(words)
    width = WIDTHS[words.partition(".")[2]]
    one, other = (f"%{LETTERS[width]}{n}" for n in (1, 2))
    body = f"setp.{words} %p1, {one}, {other}; selp.b32 %r9, 1, 0, %p1; st.b32 [%y], %r9;"
    for _ in range(8):
        numbers = number_of(rng, width), number_of(rng, width)
        numbers = rng.choice((numbers, numbers[:1] * 2))
        assert found_of(body, (width, width), numbers) == compare(words.split("."), *numbers), numbers


@pytest.mark.parametrize("opcode", [f"{name}.{kind}" for name in ("div", "rem") for kind in WHOLE if kind[1:] != "8"])
def test_quotients(opcode: str) -> None:
    """The divisor is not 0 here: of that the result is not specified, and the thread is followed no further."""
    rng = Random(opcode)
    name, kind = opcode.split(".")
    width = WIDTHS[kind]
    target, one, other = (f"%{LETTERS[width]}{n}" for n in (9, 1, 2))
    for _ in range(8):
        numbers = number_of(rng, width), number_of(rng, width) or 3
        found = found_of(f"{opcode} {target}, {one}, {other}; st.b{width} [%y], {target};", (width, width), numbers)
        assert found % (1 << width) == compute(name, [kind], numbers), numbers
