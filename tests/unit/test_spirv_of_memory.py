"""Instructions of SPIR-V that compute, of whose operands memory gives some: what is left of them computes, on random
numbers of each width, what their steps compute of numbers that are known.
"""

from __future__ import annotations

from random import Random

import pytest
from test_ptx_of_memory import number_of, run

from corpus.code.computations import COMPUTATIONS, folded
from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.spirv.extended import EXTENDED
from corpus.code.spirv.files import read_spirv
from corpus.code.spirv.grammar import spirv_grammar
from corpus.code.spirv.translation import translated
from corpus.litmus.ptx_arithmetic import signed

MODULE = """\
OpCapability Shader
%set = OpExtInstImport "{set}"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %x %y
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
OpDecorate %y DescriptorSet 0
OpDecorate %y Binding 1
OpDecorate %box Block
OpMemberDecorate %box 0 Offset 0
OpMemberDecorate %box 1 Offset 8
OpMemberDecorate %box 2 Offset 16
OpMemberDecorate %box 3 Offset 24
OpDecorate %out Block
OpMemberDecorate %out 0 Offset 0
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
{types}
%box = OpTypeStruct %own %own %own %own
%out = OpTypeStruct %made
%box_ptr = OpTypePointer StorageBuffer %box
%out_ptr = OpTypePointer StorageBuffer %out
%ptr = OpTypePointer StorageBuffer %own
%made_ptr = OpTypePointer StorageBuffer %made
%i0 = OpConstant %uint 0
%i1 = OpConstant %uint 1
%i2 = OpConstant %uint 2
%i3 = OpConstant %uint 3
%no = OpConstant %made 0
%yes = OpConstant %made 1
{constants}%x = OpVariable %box_ptr StorageBuffer
%y = OpVariable %out_ptr StorageBuffer
%kernel = OpTypeFunction %void
%main = OpFunction %void None %kernel
%start = OpLabel
{loads}%new = {code}
{chosen}%place = OpAccessChain %made_ptr %y %i0
OpStore %place %stored
OpReturn
OpFunctionEnd
"""
NAMES = [
    (set, name)
    for set, names in (
        ("", [row.name for row in spirv_grammar().instructions.by_number.values()]),
        *((set, list(rows)) for set, rows in EXTENDED.items()),
    )
    for name in names
    if COMPUTATIONS.get(name) is not None
]


def _operands(name: str) -> int:
    """How many operands the steps of an instruction take."""
    rule = COMPUTATIONS.get(name)
    assert rule is not None
    return 1 + max(int(each) for step in rule for each in step.operands if each.isdecimal())


def _is_of_integers(name: str) -> bool:
    rule = COMPUTATIONS.get(name)
    assert rule is not None
    return not any("{f}" in step.opcode or "{rf}" in step.opcode or "pred" in step.opcode for step in rule)


OTHERS = ("Ptr", "Select", "Copy", "Convert")
"""Parts of the names of what takes addresses, or has operands of several types."""
INTEGERS = [each for each in NAMES if _is_of_integers(each[1]) and not any(part in each[1] for part in OTHERS)]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("set", "name"), INTEGERS)
def test_steps_of_unknown_values_give_what_those_of_numbers_give(set: str, name: str) -> None:
    rule = COMPUTATIONS.get(name)
    assert rule is not None
    count, rng = _operands(name), Random(name)
    for width in (8, 16, 32, 64):
        out = 2 * width if "upsample" in name else width
        if out > 64:
            continue
        truth = rule[-1].opcode.startswith("setp")
        for unknown in range(1, 1 << count):
            numbers = [number_of(rng, width) for _ in range(count)]
            held = [bool(unknown >> n & 1) for n in range(count)]
            text = _text(set, name, width, out, truth, numbers, held)
            module = translated(read_spirv(text.encode(), "k.spvasm")).module
            left = program_of(module, module.kernels[0], KernelLaunch())
            if left.locations.untold:
                continue  # what is known of the operands says that the result is not determined
            for _ in range(8):
                numbers = [number_of(rng, width) if there else old for there, old in zip(held, numbers, strict=True)]
                wanted = folded(rule, "pred" if truth else f"b{out}", [f"b{width}"] * count, numbers)
                if wanted is None:
                    continue
                memory = {
                    place: signed(numbers[cell.offset // 8], width)
                    for place, cell in left.locations.cells.items()
                    if cell.array.name.endswith("b0_0")
                }
                registers = run(left.test.threads[0].instructions, memory)
                if any(registers[mark] for _, mark in left.marks.doubts):
                    continue
                (found,) = (
                    memory[place] for place, cell in left.locations.cells.items() if cell.array.name.endswith("b0_1")
                )
                assert found % (1 << out) == wanted, (name, width, numbers, held)


def _text(set: str, name: str, width: int, out: int, truth: bool, numbers: list[int], held: list[bool]) -> str:
    types = "".join(
        f"%{each} = OpTypeInt {bits} 0\n" if bits != 32 else ""
        for each, bits in (("own", width), *((("made", out),) if out != width else ()))
    )
    own = "%uint" if width == 32 else "%own"
    made = own if out == width else "%uint" if out == 32 else "%made"
    constants = loads = operands = ""
    for n, (number, there) in enumerate(zip(numbers, held, strict=True)):
        if there:
            loads += f"%p{n} = OpAccessChain %ptr %x %i{n}\n%v{n} = OpLoad %own %p{n}\n"
        else:
            constants += f"%v{n} = OpConstant %own {number}\n"
        operands += f" %v{n}"
    result = "%bool" if truth else "%made"
    code = f"OpExtInst {result} %set {name}{operands}" if set else f"{name} {result}{operands}"
    chosen = "%stored = OpSelect %made %new %yes %no\n" if truth else "%stored = OpCopyObject %made %new\n"
    text = MODULE.format(
        set=set or "OpenCL.std", types=types, constants=constants, loads=loads, code=code, chosen=chosen
    )
    return _named(text, own, made)


def _named(text: str, own: str, made: str) -> str:
    """The text with the types by their names."""
    found = []
    for line in text.splitlines():
        if line.startswith(("%own =", "%made =")):
            found.append(line)
        else:
            words = [{"%own": own, "%made": made}.get(word, word) for word in line.split(" ")]
            found.append(" ".join(words))
    return "\n".join(found)
