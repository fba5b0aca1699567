"""Instructions of PTX as text, one for each word of each form."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.code.table import Form, Row, forms_in
from corpus.code.thread import Meaning
from corpus.litmus.ptx_arithmetic import WIDTHS

REGISTERS = {1: "%p{}", 16: "%h{}", 32: "%r{}", 64: "%d{}", 128: "%q{}"}


def spoken(slots: Form, word: str | None = None) -> list[str] | None:
    """The words that a form needs, with one more or in place of another of its kind; None where it has none such."""
    with_it = next((n for n, slot in enumerate(slots) if word in slot.kinds), None)
    if word is not None and with_it is None:
        return None
    # The first type of a kind that all have is one of 32 bits, where there is one.
    usual = [next((w for w in ("b32", "u32", "s32", "f32") if w in slot.kinds), min(slot.kinds)) for slot in slots]
    return [
        word if n == with_it and word is not None else usual[n]
        for n, slot in enumerate(slots)
        if n == with_it or not slot.is_optional
    ]


def written(name: str, row: Row[Meaning], words: list[str]) -> str:
    """An instruction of these words, whose operands are registers that are declared, numbers, or memory."""
    operands = [
        _operand(slot.kinds[0], words, number, name)
        for (form,) in (forms_in(row.operands),)
        for number, slot in enumerate(form)
        if not slot.is_optional and slot.word in ("", *words)
    ]
    return f"{'.'.join((name, *words))} {', '.join(operands)};"


def _operand(kind: str, words: list[str], number: int, name: str) -> str:
    said, _, wanted = kind.partition("=")
    types = [WIDTHS[word] for word in words if word in WIDTHS] or [32]
    full, first = types[-1], types[0]
    bits = {"1": 1, "2": 2 * full, "32": 32, "first": first, "room": first, "wide": full, "any": full}.get(wanted, full)
    bits = 1 if said == "p" else 64 if said == "c" else 32 if said == "m" else bits
    register = REGISTERS[bits if bits in (1, 128) else max(16, bits)].format(number + 3)
    count = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
    match said:
        case "[]":
            near = any(word.partition("::")[0] == "shared" for word in words)
            far = any(word in ("global", "const", "local") for word in words)
            spaces = [word.partition("::")[0] for word in words if word.partition("::")[0] in ("shared", "global")]
            if name == "cp" and len(spaces) > 1:
                near = spaces[min(number, 1)] == "shared"
            elif name == "mbarrier" or (name in ("st", "red") and "async" in words):
                near = True
            space = next((word for word in words if word in ("const", "local")), None)
            return f"[{space}_]" if space and not near else "[s]" if near and (not far or name == "cp") else "[%x]"
        case "D" | "A" if count > 1:
            every = (REGISTERS[max(16, bits)].format(number + 3 + n) for n in range(count))
            return "{" + ", ".join(every) + "}"
        case "{}":
            part = REGISTERS[max(16, full // 2)] if full > 16 else REGISTERS[16]
            return "{" + f"{part.format(number + 3)}, {part.format(number + 4)}" + "}"
        case "[t]":
            return "[%x, {%r3, %r4}]"
        case "v":
            return "{%f3, %f4}"
        case "l":
            return "L"
        case "#":
            return "128" if name in ("discard", "applypriority") else "1"
        case _:
            return register


def instances(rows: tuple[Row[Meaning], ...], word: str | None) -> Iterator[tuple[Row[Meaning], list[str]]]:
    """The rows that have a word, with the words of one instruction each."""
    for row in rows:
        (form,) = forms_in(row.words)
        words = spoken(form, word)
        if words is not None:
            yield row, words
