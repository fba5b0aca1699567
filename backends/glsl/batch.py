"""Compiles many shaders in one call of glslang, and cuts the result apart. The start of a call takes most of a tenth of
a second.

The text of each shader stays as it is but for its ``main``, which becomes a function of its own, and what it declares:
macros are forgotten after it, buffers that several declare alike are declared once, and shared memory has the number of
the shader in its name. One ``main`` calls all functions, so that none is left out.

Of the module that glslang makes, the module of a shader has its function as entry point, with its own number of threads
(``local_size_x``), and all that this refers to, directly or not (SPIR-V 1.6, section 2.4, Logical Layout of a Module;
section 3, Binary Form). It is what glslang makes of the shader by itself, but for the numbers that things have, and
without their names and what is declared and not used.

Assumption: shaders are those written here, with no functions but ``main``, and nothing inside it that SPIR-V decorates.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence

_MAIN = "void main() {"
_SIZE = re.compile(r"^layout\(local_size_x = (\d+)\) in;\n", re.MULTILINE)
_DEFINED = re.compile(r"^#define (\w+)", re.MULTILINE)
_BUFFER = re.compile(r"^layout\(.*\bbuffer\b.*\n", re.MULTILINE)
_HEAD = re.compile(r"^#(?:version|extension|pragma) .*\n", re.MULTILINE)
_SHARED = re.compile(r"^shared uint (\w+)\[", re.MULTILINE)

_NAME, _ENTRY_POINT, _EXECUTION_MODE = 5, 15, 16
_NAMES = (_NAME, 6)
_DECORATIONS = (71, 72)
_TYPES = range(19, 40)
_CONSTANTS_AND_VARIABLES = (1, *range(41, 53), 59)
_FUNCTION, _FUNCTION_END, _VARIABLE = 54, 56, 59
_HEADER = 5
"""The number of words of a module before its first instruction."""

_LITERALS: Mapping[int, Sequence[slice]] = {
    12: (slice(1, 2), slice(3, 4), slice(5, None)),  # OpExtInst
    21: (),  # OpTypeInt
    22: (),  # OpTypeFloat
    23: (slice(2, 3),),  # OpTypeVector
    32: (slice(3, 4),),  # OpTypePointer
    43: (slice(1, 2),),  # OpConstant
    54: (slice(1, 2), slice(4, 5)),  # OpFunction
    59: (slice(1, 2), slice(4, 5)),  # OpVariable
    61: (slice(1, 2), slice(3, 4), slice(5, None)),  # OpLoad
    62: (slice(1, 3), slice(4, None)),  # OpStore
    81: (slice(1, 2), slice(3, 4)),  # OpCompositeExtract
    246: (),  # OpLoopMerge
    247: (),  # OpSelectionMerge
    251: (slice(1, 2),),  # OpSwitch
}
"""Instructions that have numbers among their words, and which of their words may refer to what is outside functions."""


def of_one_kind(text: str) -> str:
    """Return what shaders that may go together have in common: what is said before all, and how memory is declared."""
    return "".join([*_HEAD.findall(text), *_BUFFER.findall(text)[:1]])


def together(texts: Sequence[str]) -> str:
    """Return the text of one shader that has the others, all of one kind, as functions ``shader0``, ``shader1`` and so
    on.
    """
    parts, declared = _HEAD.findall(texts[0]), set[str]()
    for number, text in enumerate(texts):
        own = _SIZE.sub("", _HEAD.sub("", text))
        for line in _BUFFER.findall(own):
            if line in declared:
                own = own.replace(line, "", 1)
            declared.add(line)
        for name in _SHARED.findall(own):
            own = own.replace(f"shared uint {name}[", f"#define {name} {name}{number}\nshared uint {name}[", 1)
        assert _MAIN in own
        parts.append(own.replace(_MAIN, f"void shader{number}() {{", 1))
        parts += [f"#undef {name}\n" for name in dict.fromkeys(_DEFINED.findall(own))]
    calls = " ".join(f"shader{number}();" for number in range(len(texts)))
    return "".join([*parts, "layout(local_size_x = 1) in;\n", f"void main() {{ {calls} }}\n"])


def apart(module: bytes, texts: Sequence[str]) -> list[bytes]:
    """Return the modules of the shaders in a module that glslang made of ``together(texts)``."""
    words = struct.unpack(f"<{len(module) // 4}I", module)
    instructions = list(_instructions(words))
    begins = [place for place, ins in enumerate(instructions) if ins[0] & 0xFFFF == _FUNCTION]
    globals_, functions = instructions[: begins[0]], list[list[tuple[int, ...]]]()
    for begin, end in zip(begins, [*begins[1:], len(instructions)], strict=True):
        functions.append(instructions[begin:end])
    named = {_string(ins[2:]): ins[1] for ins in globals_ if ins[0] & 0xFFFF == _NAME}
    bodies = {function[0][2]: function for function in functions}
    found = []
    for number, text in enumerate(texts):
        size = _SIZE.search(text)
        assert size is not None
        body = bodies[named[f"shader{number}("]]
        found.append(_module(words[:_HEADER], globals_, body, int(size[1])))
    return found


def _instructions(words: Sequence[int]) -> Iterator[tuple[int, ...]]:
    place = _HEADER
    while place < len(words):
        length = words[place] >> 16
        yield tuple(words[place : place + length])
        place += length


def _references(instruction: Sequence[int]) -> Iterator[int]:
    parts: Sequence[slice] = _LITERALS.get(instruction[0] & 0xFFFF, [slice(1, None)])
    for part in parts:
        yield from instruction[part]


def _string(words: Sequence[int]) -> str:
    return struct.pack(f"<{len(words)}I", *words).partition(b"\0")[0].decode("utf-8")


def _module(
    header: Sequence[int], globals_: Sequence[tuple[int, ...]], body: Sequence[tuple[int, ...]], size: int
) -> bytes:
    """A module of one function, and of what it refers to.

    The constant WorkgroupSize is of all and the function does not refer to it, so that its own number of threads holds.
    """
    needed = {word for ins in body for word in _references(ins)}
    kept, defined = list[tuple[int, ...]](), set[int]()
    for ins in reversed(globals_):  # what is referred to comes before, and its decorations before that
        operation = ins[0] & 0xFFFF
        if operation in _TYPES or operation in _CONSTANTS_AND_VARIABLES:
            result = ins[1 if operation in _TYPES else 2]
            if result not in needed:
                continue
            needed.update(_references(ins))
            defined.add(result)
        elif operation in _NAMES or (operation in _DECORATIONS and ins[1] not in defined):
            continue
        kept.append(ins)
    variables = [ins[2] for ins in globals_ if ins[0] & 0xFFFF == _VARIABLE and ins[2] in defined]
    entry, main = body[0][2], struct.unpack("<2I", b"main\0\0\0\0")
    point, mode = (5, entry, *main, *variables), (entry, 17, size, 1, 1)  # GLCompute; LocalSize
    replaced = {_ENTRY_POINT: point, _EXECUTION_MODE: mode}
    words = list(header)
    for ins in [*reversed(kept), *body]:
        operation = ins[0] & 0xFFFF
        if operation in replaced:
            ins = ((1 + len(replaced[operation])) << 16 | operation, *replaced[operation])
        words += ins
    return struct.pack(f"<{len(words)}I", *words)
