"""Whatever is done to a kernel of SPIR-V: it is read, translated and specialised, or one line says what is wrong."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from backends.glsl.spirv import libraries, spirv_val
from backends.shared.toolchain import run
from corpus.code.program import program_of
from corpus.code.spirv.grammar import spirv_grammar
from corpus.errors import InputError
from oracle.executions.steps import TooManyError
from synth.checking.sources import kernels_of
from synth.checking.tasks import tasks_of
from synth.requests import read_launch

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "kernels" / "spirv").glob("*.spvasm"))
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in EXAMPLES}
NUMBERS = (0, 1, 2, 5, 24, 0xFFFF, 1 << 16, 1 << 31, (1 << 32) - 1)
SECONDS = 20
"""What one file may take on a machine that others use as well."""


def of_text(rng: Random) -> bytes:
    """A kernel's text with some operands changed for others, lines moved or cut out, or words put anywhere."""
    lines = TEXTS[rng.choice(sorted(TEXTS))].splitlines()
    ids = sorted({word for line in lines for word in line.split() if word.startswith("%")})
    names = sorted(spirv_grammar().instructions.by_name)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(lines))
        head, equals, tail = lines[at].partition(" = ")
        words = (tail if equals else head).split()
        place = rng.randrange(len(words)) if words else 0
        match rng.randrange(9) if words else 8:
            case 0 | 1 | 2 | 3 if words[place].startswith("%"):
                words[place] = rng.choice(ids)
            case 0 | 1 | 2 | 3 | 4 if words[place].isdecimal():
                words[place] = str(rng.choice(NUMBERS))
            case 5 if words[0].startswith("Op"):
                other = rng.choice(lines).partition(" = ")
                words[0] = ((other[2] if other[1] else other[0]).split() or ["OpNop"])[0]
            case 6:
                words[place] = rng.choice([*ids, *names, "7", "-1", ""])
            case 7:
                lines.insert(rng.randrange(len(lines)), lines[at])
            case 8:
                del lines[at]
                continue
        lines[at] = head + equals + " ".join(words) if equals else " ".join(words)
    return "\n".join(lines).encode()


def of_words(rng: Random, codes: list[bytes]) -> bytes:
    """A binary with some words changed, moved, cut out or put in."""
    code = rng.choice(codes)
    words = list(struct.unpack(f"<{len(code) // 4}I", code))
    opcodes = sorted(spirv_grammar().instructions.by_number)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(5, len(words))
        match rng.randrange(6):
            case 0:
                words[at] = rng.choice(NUMBERS)
            case 1:
                words[at] ^= 1 << rng.randrange(8)
            case 2 | 3:
                words[at] = rng.randrange(1, words[3])
            case 4:
                words[at] = words[at] & 0xFFFF0000 | rng.choice(opcodes)
            case 5:
                words[at:at] = rng.choices(words, k=rng.randrange(4))
    return struct.pack(f"<{len(words)}I", *words)


def refusal(data: bytes, *words: str) -> str:
    """Read and specialise a file, and return the line that refuses it; empty where it is understood."""
    said = ""
    try:
        tasks = list(tasks_of(kernels_of(data, Path("kernel.spv")), read_launch(words)))
        for task in tasks[:2]:
            program_of(task.file.module, task.kernel, task.launch)
    except (InputError, TooManyError) as error:
        said = str(error)
    assert said.isprintable()
    return said


def check_all(files: Callable[[Random], bytes], count: int, seed: int) -> None:
    found: dict[str, int] = {}
    for number in range(count):
        data = files(Random(seed + number))
        start = time.monotonic()
        outcome = "refused" if refusal(data, "--grid", "2") else "understood"
        assert time.monotonic() - start < SECONDS, (seed, number)
        found[outcome] = found.get(outcome, 0) + 1
    assert found.get("understood", 0) > count // 20, found
    assert len(found) > 1, found


@pytest.fixture
def codes(need: Callable[[str], None], tmp_path: Path) -> list[bytes]:
    """The examples as binaries."""
    need("glsl")
    validator = spirv_val()
    assert validator is not None
    program = validator.with_name("spirv-as")
    code = tmp_path / "kernel.spv"
    found = []
    for path in EXAMPLES:
        done = run(tmp_path, [program, "--target-env", "spv1.6", path, "-o", code], None, 60, libraries(program))
        assert done.ok, done.output
        found.append(code.read_bytes())
    return found


HEAD = """OpCapability Shader
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "k"
%void = OpTypeVoid
%kernel = OpTypeFunction %void
%uint = OpTypeInt 32 0
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%huge = OpConstant %uint 4294967295
"""
BODY = "%main = OpFunction %void None %kernel\n%start = OpLabel\n"
END = "OpReturn\nOpFunctionEnd\n"


def doubled(count: int) -> str:
    """Structs that have the one before twice."""
    names = ["uint", *(f"t{n}" for n in range(count))]
    return "".join(f"%t{n} = OpTypeStruct %{names[n]} %{names[n]}\n" for n in range(count))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{doubled(40)}%p = OpTypePointer Private %t39\n%v = OpVariable %p Private\n"
            f"{BODY}%x = OpLoad %t39 %v\n{END}",
            "more than 4,096 scalars",
        ),
        (f"%t = OpTypeStruct %t\n{BODY}{END}", "types within each other"),
        (
            "%e = OpTypeStruct\n%a = OpTypeArray %e %huge\n%p = OpTypePointer Private %a\n%v = OpVariable %p Private\n"
            f"{BODY}%x = OpLoad %a %v\n{END}",
            "more than 4,096 elements",
        ),
        (
            "%a = OpTypeArray %uint %huge\n%p = OpTypePointer Workgroup %a\n%pe = OpTypePointer Workgroup %uint\n"
            f"%v = OpVariable %p Workgroup\n{BODY}%q = OpAccessChain %pe %v %c1\n%x = OpLoad %uint %q\n"
            f"%r = OpAccessChain %pe %v %x\nOpStore %r %c1\n{END}",
            "more than 4,096 with a computed index",
        ),
        (
            f"{BODY}OpSwitch %c0 %d {' '.join(f'{n} %d' for n in range(500))}\n%d = OpLabel\n"
            + "".join(f"%p{n} = OpPhi %uint %c0 %start\n" for n in range(500))
            + END,
            "more than 200,000 instructions",
        ),
        (
            f"{BODY}%r = OpFunctionCall %void %f\n{END}%f = OpFunction %void None %kernel\n%b = OpLabel\n"
            f"%s = OpFunctionCall %void %f\n{END}",
            "more than 32 calls within each other",
        ),
    ],
)
def test_large(text: str, said: str) -> None:
    start = time.monotonic()
    assert said in refusal((HEAD + text).encode(), "--grid", "1")
    assert time.monotonic() - start < SECONDS


def test_texts() -> None:
    check_all(of_text, 80, 0)


@pytest.mark.device
def test_binaries(codes: list[bytes]) -> None:
    check_all(lambda rng: of_words(rng, codes), 80, 0)


@pytest.mark.slow
def test_many_texts() -> None:
    check_all(of_text, 1000, 1 << 20)


@pytest.mark.slow
@pytest.mark.device
def test_many_binaries(codes: list[bytes]) -> None:
    check_all(lambda rng: of_words(rng, codes), 1000, 1 << 20)
