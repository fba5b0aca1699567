"""Files of PTX as code that is read, and of CUDA C++, whose text says more of its kernels than PTX does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from corpus.code.ptx.reader import read_ptx
from corpus.code.reading import CodeText, ReadCode
from corpus.errors import InputError
from corpus.files import read_text


def read(code: CodeText) -> ReadCode:
    """Return what a text of PTX has."""
    return ReadCode(read_ptx(code.text, code.path, code.files))


def read_cuda(code: CodeText) -> ReadCode:
    """Return what PTX has that was compiled of CUDA C++."""
    module, text = read_ptx(code.text, code.path, code.files), code.source
    promises = _promises(text, *map(_text_of, sorted(code.files.values())))
    module = replace(module, assumed=(*module.assumed, *promises))
    return ReadCode(module, parameter_names(text), element_sizes(text))


_PROMISE = re.compile(r"\b__builtin_unreachable\b|\b__builtin_assume\b|\b__assume\b|\bstd::unreachable\b|\[\[assume\b")
"""What nvcc leaves nothing of but that the code may be other than it is written (CUDA C++ Programming Guide,
Compiler Optimization Hint Functions)."""


def _promises(*texts: str) -> list[str]:
    """Return what is taken for granted of the promises in texts of CUDA C++: nobody sees whether they are kept."""
    found = sorted({match.removeprefix("[[") for text in texts for match in _PROMISE.findall(text)})
    return [f"what is promised by {' and '.join(found)} is so"] if found else []


def _text_of(path: str) -> str:
    """Return the text of a file that was included; nothing of what can no longer be read."""
    try:
        return read_text(Path(path))
    except InputError:
        return ""


_KERNEL = re.compile(r"__global__\s+(?:\w+\s+)*?void\s+(?:__\w+__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)")


def _parameters(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each kernel that a text of CUDA C++ defines, by its name, with its parameters as they stand."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for match in _KERNEL.finditer(plain):
        yield match[1], match[2].split(",")


def parameter_names(text: str) -> dict[str, tuple[str, ...]]:
    """Return the names of the parameters of each kernel that a text of CUDA C++ defines, as far as they are plain."""
    words = {name: [re.findall(r"\w+", part) for part in parts] for name, parts in _parameters(text)}
    return {name: tuple(part_words[-1] if part_words else "" for part_words in every) for name, every in words.items()}


def element_sizes(text: str) -> dict[str, tuple[int | None, ...]]:
    """Return the bytes of what the parameters of each kernel point to, where a text of CUDA C++ says so plainly."""
    return {name: tuple(map(_element_size, parts)) for name, parts in _parameters(text)}


def _element_size(parameter: str) -> int | None:
    """Return the bytes of the type that a parameter points to: 4 of ``const int *__restrict__ data``."""
    before, star, _ = parameter.partition("*")
    words = [word for word in re.findall(r"\w+", before) if word not in ("const", "volatile", "signed", "std")]
    if not star or parameter.count("*") > 1 or re.search(r"[^\w\s:]", before):
        return None
    known = [SIZES.get(word) for word in words]
    if len(words) > 1:  # unsigned char, long long int
        known = [SIZES.get(word) for word in words if word not in ("unsigned", "int")] or known
    return known[0] if None not in known and len(set(known)) == 1 else None


SIZES = {
    **dict.fromkeys(("char", "bool", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("short", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int", "unsigned", "float", "int32_t", "uint32_t"), 4),
    **dict.fromkeys(("long", "long long", "double", "int64_t", "uint64_t", "size_t"), 8),
}
"""The bytes of the types of CUDA C++ that ``--arg`` knows."""
