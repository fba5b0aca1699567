"""Cuts Amber scripts into commands and shaders as Amber does. It also reads what Amber writes of a buffer.

The rules are those of Amber's own parser (google/amber, ``src/tokenizer.cc`` and ``src/amberscript/parser.cc``, 2026):

- A shader is what comes after the line of its ``SHADER`` command, up to the next three letters ``END``, in whatever
  word or comment they stand: Amber does not know GLSL. So no shader may contain them (``shader_text``).
- After a command, and after ``END``, nothing may stand on the line but a comment, which begins with ``#``.
- Every other line begins with a command, or is empty, or a comment.
"""

from __future__ import annotations

import re

from corpus.errors import InputError

_COMMANDS = frozenset(["BUFFER", "DEVICE_FEATURE", "EXPECT", "PIPELINE", "REPEAT", "RUN", "SET", "SHADER"])
_BLOCKS = frozenset({"PIPELINE", "REPEAT"})

FENCE = 5000
"""The time-out of a script's fence in milliseconds, that of the published runs (Sorensen et al. 2021, 6.2)."""

TIMED_OUT = "vkWaitForFences Timeout"
"""What Amber prints where the fence times out (``src/vulkan/command_buffer.cc``); then it may crash."""


def shader_text(text: str) -> str:
    """Return the text of a shader without ``END`` in its comments. Its identifiers must not contain ``END``, for two of
    them could then become one.
    """
    return text.replace("END", "End")


def shaders(script: str) -> list[str]:
    """Return the GLSL texts inside a script, cut as Amber cuts them.

    Raises ``InputError`` with a line where Amber would refuse the script; only the commands that are written here are
    known, and their parameters are not looked at.
    """
    texts: list[str] = []
    block = ""
    position = 0
    while position < len(script):
        end = _end_of_line(script, position)
        line = script[position:end].partition("#")[0].strip()
        number = script.count("\n", 0, position) + 1
        position = end + 1
        word = line.partition(" ")[0]
        if not word:
            continue
        if word == "END" and block:
            if line != word:
                raise InputError(f"extra parameters after END: {line[3:].strip()}", line=number)
            block = ""
        elif block == "PIPELINE":
            continue
        elif word not in _COMMANDS or (block and word not in ("EXPECT", "RUN")):
            raise InputError(f"unknown token: {word}", line=number)
        elif word == "SHADER":
            stop = script.find("END", position)
            if stop < 0:
                raise InputError("SHADER missing END command", line=number)
            texts.append(script[position:stop])
            position = stop + 3
            rest = script[position : _end_of_line(script, position)].partition("#")[0].strip()
            if rest:
                number = script.count("\n", 0, position) + 1
                raise InputError(f"extra parameters after END: {rest.split()[0]}", line=number)
        elif word in _BLOCKS:
            block = word
    if block:
        raise InputError(f"missing END for {block} command")
    return texts


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def read_buffer(dump: str, binding: int) -> tuple[int, ...]:
    """Return the words of 32 bits of the buffer at a binding, from what ``amber -b FILE -B BINDING`` wrote.

    A buffer is a line with its name as the command line has it, ``[PIPELINE:][SET:]BINDING``, and then its bytes in
    hexadecimal, 16 a line, each after a space; the first byte of a word is its lowest. Raises ``InputError`` where the
    text is something else, or the buffer is not in it.
    """
    found: bytes | None = None
    name = ""
    for number, line in enumerate(dump.splitlines(), 1):
        if not line:
            continue
        if not line.startswith(" "):
            if not re.fullmatch(r"([\w.-]+:)?(\d+:)?\d+", line):
                message = f"expected the name of a buffer, [PIPELINE:][SET:]BINDING, found {line[:20]!r}"
                raise InputError(message, None, number, 1)
            name = line
            continue
        if not re.fullmatch(r"(?: [0-9a-f]{2}){1,16}", line) or not name:
            raise InputError(f"expected up to 16 bytes in hexadecimal, found {line[:20]!r}", None, number, 1)
        if int(name.rpartition(":")[2]) == binding:
            found = (found or b"") + bytes.fromhex(line)
    if found is None or len(found) % 4:
        raise InputError(f"no buffer of binding {binding}: it is written by amber -b FILE -B {binding}")
    return tuple(int.from_bytes(found[start : start + 4], "little") for start in range(0, len(found), 4))
