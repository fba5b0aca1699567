"""Mutants of files that synth reads: what an editor, a full disk, another tool or an enemy makes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
_NUMBER = re.compile(rb"\d+")

_NUMBERS = [b"0", b"-1", b"999999", b"4294967296", b"9" * 30, b"9" * 5000, b"1e999", b"NaN", b"0x", b"1.5", b"01"]
_NUMBERS += [text.encode() for text in ("\u00b2", "\u0663", "\uff11")]  # digits, and no numbers, to some of Python

_PIECES = [
    *(
        b"\0",
        b"\r",
        b"\n\n",
        b"\t",
        b"\x0b",
        b"\x0c",
        b"\x1b[2J",
        b"\x7f",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\\ud800",
    ),
    *(text.encode() for text in ("\ufeff", "\u2028", "\x85", "\u202e", "\u00e9", "\U0001f600")),
    *(
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b"]",
        b"<",
        b">",
        b'"',
        b"'",
        b"`",
        b"|",
        b"||",
        b";",
        b",",
        b":",
        b"=",
        b"%",
        b"@",
    ),
    *(b"(*", b"*)", b"//", b"/*", b"#", b"\\/", b"/\\", b"~", b"-", b"*", b"&", b"+", b"^-1", b"..", b"/", b"../../"),
    *(b"if (1) ", b"while (1) ", b"do ", b"not ", b"exists", b"let ", b"include", b"END", b"goto", b"THREAD", b"null"),
    *(b"P0:", b"T0", b"r0", b"x = 1 \\/ ", b"x = 1 /\\ (", b"(cta ", b"Mem[", b"Exch(", b"true", b"a" * 300),
]

_BRACKETS = [(b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"~(", b")"), (b"-", b""), (b"f(", b")"), (b'{"a":', b"}")]

_DEEP = [10, 100, 1000, 30_000]

_VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, 10**30, 1.5, -0.0, 1e308, "", "x", "\ud800", "\0", "\x1b[31m"),
    *([], {}, [[]], [None], ["x"], {"x": 1}, {"": {}}, ["a", 1], [["a", 1]], "1", "2x2", "sc", "TERMINATES", "../x"),
]


def mutants(seeds: Sequence[bytes], count: int, name: str) -> Iterator[bytes]:
    """So many mutants of the seeds, the same for the same name."""
    for number in range(count):
        rng = Random(f"{name} {number}")
        data = rng.choice(seeds)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            data = rng.choice(_WAYS)(rng, data, seeds)
        yield data


def _spot(rng: Random, data: bytes, longest: int = 40) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(longest))


def _token(rng: Random, data: bytes) -> tuple[int, int]:
    tokens = [match.span() for match in _TOKEN.finditer(data)]
    return rng.choice(tokens) if tokens else (0, 0)


def _flip(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    if not data:
        return b"\0"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _remove(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    start, end = _token(rng, data) if rng.random() < 0.7 else _spot(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    start, end = _token(rng, data) if rng.random() < 0.5 else _spot(rng, data)
    return data[:start] + data[start:end] * rng.choice([2, 3, 100, 2000]) + data[end:]


def _swap(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    (a, b), (c, d) = sorted([_token(rng, data), _token(rng, data)])
    return data if b > c else data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _insert(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    start, end = _token(rng, data)
    piece = rng.choice(_PIECES) * rng.choice([1, 1, 1, 2, 400, 5000])
    return data[:start] + piece + data[rng.choice([start, end]) :]


def _number(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    numbers = [match.span() for match in _NUMBER.finditer(data)]
    start, end = rng.choice(numbers) if numbers else _token(rng, data)
    return data[:start] + rng.choice(_NUMBERS) + data[end:]


def _nest(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    start, end = _token(rng, data)
    opening, closing = rng.choice(_BRACKETS)
    depth = rng.choice(_DEEP)
    return data[:start] + opening * depth + data[start:end] + closing * depth + data[end:]


def _mix(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    other = rng.choice(seeds)
    (_, at), (start, _) = _token(rng, data), _token(rng, other)
    return data[:at] + other[start:]


def _lines(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return b"\n"
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            ending = rng.choice([b"\r", b"\r\n", b"", b"\0", b"\n\n", b" ", b"\x0c"])
            lines = [line.rstrip(b"\n") + ending for line in lines]
    return b"".join(lines)


def _prefix(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    return rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\n" * 1000, b" " * 1000, b"\0", b"\x1f\x8b"]) + data


def _json(rng: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """A value of JSON in one of the lines, or in the whole, is another one; where there is none, anything else."""
    lines = data.splitlines(keepends=True) if data.count(b"\n{") else [data]
    at = rng.randrange(len(lines)) if lines else 0
    try:
        tree = json.loads(lines[at]) if lines else None
    except (ValueError, RecursionError):
        tree = None
    if not isinstance(tree, dict | list) or not tree:
        return _insert(rng, data, seeds)
    _change(rng, tree)
    lines[at] = json.dumps(tree, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass") + b"\n"
    return b"".join(lines)


def _change(rng: Random, tree: Any) -> None:
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = rng.choice(keys)
    if isinstance(tree[key], dict | list) and tree[key] and rng.random() < 0.7:
        _change(rng, tree[key])
    elif rng.random() < 0.2:
        del tree[key]
    elif rng.random() < 0.1 and isinstance(tree, dict):
        tree[str(rng.choice(_VALUES))] = tree.pop(key)
    else:
        tree[key] = rng.choice(_VALUES)


_WAYS: list[Callable[[Random, bytes, Sequence[bytes]], bytes]] = [
    *(_flip, _cut, _remove, _repeat, _swap, _insert, _insert, _number, _nest, _mix, _lines, _prefix, _json, _json)
]
