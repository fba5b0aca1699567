"""Modules of SPIR-V by hand: a text, and the words of a binary that says the same."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import replace

from corpus.code.spirv.module import SpirvHeader, SpirvModule

MAGIC = 0x07230203

TEXT = """\
; SPIR-V
; Version: 1.3
; Generator: by hand; 0
; Bound: 24
; Schema: 0
               OpCapability Shader
          %1 = OpExtInstImport "GLSL.std.450"
               OpMemoryModel Logical VulkanKHR
               OpEntryPoint GLCompute %2 "main" %3
               OpExecutionMode %2 LocalSize 4 1 1
          %4 = OpString "a \\"b\\" \\\\ c.comp"
               OpName %2 "main"
               OpMemberName %5 0 "f"
               OpDecorate %3 BuiltIn LocalInvocationIndex
               OpMemberDecorate %5 0 Offset 0
         %16 = OpDecorationGroup
               OpDecorate %16 Restrict
               OpDecorate %16 Alignment 8
               OpGroupDecorate %16 %6 %3
               OpGroupMemberDecorate %16 %5 0
          %7 = OpTypeVoid
          %8 = OpTypeFunction %7
          %9 = OpTypeInt 32 1
         %17 = OpTypeInt 64 0
         %18 = OpTypeFloat 32
         %10 = OpTypePointer Input %9
          %5 = OpTypeStruct %9
          %6 = OpTypePointer Uniform %5
         %11 = OpConstant %9 -5
         %19 = OpConstant %17 4294967297
         %20 = OpConstant %18 -1.5
         %21 = OpSpecConstantOp %9 ISub %11 %11
         %22 = OpConstantComposite %5 %11
          %3 = OpVariable %10 Input
          %2 = OpFunction %7 Const %8
         %12 = OpLabel
               OpLine %4 3 9
         %13 = OpLoad %9 %3 Volatile|Aligned 4
         %23 = OpExtInst %9 %1 SAbs %13
               OpNoLine
               OpSelectionMerge %14 None
               OpSwitch %13 %14 -1 %14 7 %15
         %15 = OpLabel
               OpBranch %14
         %14 = OpLabel
               OpReturn
               OpFunctionEnd
"""

CODES: Sequence[tuple[int | str, ...]] = [
    (17, 1),
    (11, 1, "GLSL.std.450"),
    (14, 0, 3),
    (15, 5, 2, "main", 3),
    (16, 2, 17, 4, 1, 1),
    (7, 4, 'a "b" \\ c.comp'),
    (5, 2, "main"),
    (6, 5, 0, "f"),
    (71, 3, 11, 29),
    (72, 5, 0, 35, 0),
    (73, 16),
    (71, 16, 19),
    (71, 16, 44, 8),
    (74, 16, 6, 3),
    (75, 16, 5, 0),
    (19, 7),
    (33, 8, 7),
    (21, 9, 32, 1),
    (21, 17, 64, 0),
    (22, 18, 32),
    (32, 10, 1, 9),
    (30, 5, 9),
    (32, 6, 2, 5),
    (43, 9, 11, 0xFFFFFFFB),
    (43, 17, 19, 1, 1),
    (43, 18, 20, 0xBFC00000),
    (52, 9, 21, 130, 11, 11),
    (44, 5, 22, 11),
    (59, 10, 3, 1),
    (54, 7, 2, 8, 8),
    (248, 12),
    (8, 4, 3, 9),
    (61, 9, 13, 3, 3, 4),
    (12, 9, 23, 1, 5, 13),
    (317,),
    (247, 14, 0),
    (251, 13, 14, 0xFFFFFFFF, 14, 7, 15),
    (248, 15),
    (249, 14),
    (248, 14),
    (253,),
    (56,),
]
"""The instructions of the text: opcodes and operands in their order, strings as such."""


def words(*codes: tuple[int | str, ...]) -> list[int]:
    """The words of instructions."""
    found: list[int] = []
    for opcode, *operands in codes:
        own = [word for each in operands for word in ((each,) if isinstance(each, int) else _words_of(each))]
        assert isinstance(opcode, int)
        found += [len(own) + 1 << 16 | opcode, *own]
    return found


def _words_of(text: str) -> list[int]:
    data = text.encode() + b"\0"
    return [word for (word,) in struct.iter_unpack("<I", data + bytes(-len(data) % 4))]


def binary(*codes: tuple[int | str, ...], bound: int = 24, order: str = "<") -> bytes:
    """A binary of instructions, with words in an order of bytes."""
    every = [MAGIC, 0x00010300, 0, bound, 0, *words(*codes)]
    return struct.pack(f"{order}{len(every)}I", *every)


def meaning(module: SpirvModule) -> str:
    """What a module says, apart from where it is said and from what only text has."""
    bare = replace(module, header=SpirvHeader(""))
    return re.sub(r"\bline=\d+(?!, column)", "line=", repr(bare))
