"""Whatever is done to the words of a module of SPIR-V: it is read, or one line says what is wrong."""

from __future__ import annotations

import struct
from contextlib import suppress
from random import Random

import pytest
from spirv_samples import CODES, TEXT, binary

from corpus.code.spirv.annotations import read_annotations
from corpus.code.spirv.files import read_spirv
from corpus.code.spirv.grammar import spirv_grammar
from corpus.errors import InputError

SEED = binary(*CODES)
ANNOTATED = TEXT + "; @Input: %3 = {{1, 2}, -3}\n; @Config: 1, 2, 3\n; @Output: forall (%3[0] == 1 or not %3 < 2)\n"
NUMBERS = (0, 1, 2, 5, 24, 23, 0xFFFF, 1 << 16, 1 << 31, (1 << 32) - 1)


def of_words(rng: Random) -> bytes:
    """A binary with some words changed, moved, cut out or put in."""
    words = list(struct.unpack(f"<{len(SEED) // 4}I", SEED))
    opcodes = list(spirv_grammar().instructions.by_number)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(words))
        match rng.randrange(6):
            case 0:
                words[at] = rng.choice(NUMBERS)
            case 1:
                words[at] ^= 1 << rng.randrange(32)
            case 2:
                words[at] = rng.choice(words)
            case 3:
                words[at] = words[at] & 0xFFFF0000 | rng.choice(opcodes)
            case 4:
                del words[at : at + rng.randrange(4)]
            case 5:
                words[at:at] = rng.choices(words, k=rng.randrange(4))
    return struct.pack(f"<{len(words)}I", *words)


def of_text(rng: Random) -> bytes:
    """A text with some of its words changed, moved, cut out or put in."""
    words = ANNOTATED.split(" ")
    known = ["%", "%x =", "=", "!7", "!0x20011", "|", '"', "\\", ";", "{", "-", "0x", "1e", "9" * 50, "\n", "OpSwitch"]
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(words))
        match rng.randrange(4):
            case 0:
                words[at] = rng.choice(words)
            case 1:
                words[at] = rng.choice(known) + words[at][: rng.randrange(4)]
            case 2:
                del words[at : at + rng.randrange(4)]
            case 3:
                words[at:at] = rng.choices([*words, *known, *spirv_grammar().instructions.by_name], k=2)
    return " ".join(words).encode()


def fuzz(kind: str, first: int, last: int) -> None:
    read, said = 0, list[tuple[str, str | None]]()
    for number in range(first, last):
        rng = Random(f"{kind} {number}")
        data = of_words(rng) if kind == "words" else of_text(rng)
        try:
            module = read_spirv(data, "m")
            read += 1
            with suppress(InputError):
                read_annotations(module)
        except InputError as error:
            said.append((str(error), error.path))
        except BaseException as error:
            error.add_note(f"{kind} {number}: {data!r}")
            raise
    assert read and said
    assert all(text.isprintable() and "expected" in text and path == "m" for text, path in said)


@pytest.mark.parametrize(
    "data",
    [
        b"!0 " * 200_000,
        b"%x " * 200_000,
        b"OpDecorate %x " + b"A|" * 200_000,
        b'"' * 200_001,
        b"OpNop" + b" " * 10**6 + b"x",
        b"OpString %s " + b'\\"' * 200_000,
        b";" * 10**6,
        b"\n" * 10**6 + b"=",
        b"OpSpecConstantOp %t %x " + b"SpecConstantOp " * 50_000,
        b"%x = OpTypeInt 4294967295 1 %y = OpConstant %x 1",
        b"%x = OpTypeFloat 64 %y = OpConstant %x 0x1p-999999",
        b"; @Input: %x = " + b"{" * 200_000,
        b"; @Filter: " + b"1 == 1 and " * 100_000 + b"1 == 1",
        binary((52, 1, 2, *[52] * 60_000)),
        binary((54, 1, 2, 1 << 31, 3, 4, 5), (248, 6), (253,), (56,)),
        binary(*[(74, 1, *[2] * 1000)] * 1000),
        binary(*[(71, 1, 19)] * 100_000),
    ],
)
def test_large(data):
    with suppress(InputError):
        read_annotations(read_spirv(data, "m"))


@pytest.mark.parametrize("kind", ["words", "text"])
def test_some(kind):
    fuzz(kind, 0, 200)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "text"])
def test_many(kind):
    fuzz(kind, 200, 2200)
