"""Numbers that nothing tells, of which only a part is asked: one of a few numbers is chosen, and each is followed.

    %1 = call i32 @rand()                        %1 = call i32 @__synth_chosen(i32 3)
    %2 = srem i32 %1, 3             becomes      %2 = srem i32 %1, 3

All others are values that nothing tells, which may be printed and stored, and are refused where they decide something.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from corpus.code.llvm.blocks import Body, BodyBlock, BodyLine

_UNSIGNED = ("rand", "random", "__VERIFIER_nondet_uint", "__VERIFIER_nondet_ulong")
_SIGNED = ("__VERIFIER_nondet_int", "__VERIFIER_nondet_long")
_CALLS = {f"@{name}" for name in (*_UNSIGNED, *_SIGNED)}

MOST_CHOSEN = 16
"""The numbers of which one is chosen."""


def with_choices(body: Body) -> Body:
    """Return a body in which a number that nothing tells is one of few, where its remainder or its bits are asked."""
    if not any(line.name == "call" and _CALLS & {*line.words} for line in body.lines):
        return body
    uses = Counter(word for line in body.lines for word in {*line.words})
    blocks = []
    for block in body.blocks:
        following = [*block.lines[1:], None]
        lines = [_chosen(line, after, uses) for line, after in zip(block.lines, following, strict=True)]
        blocks.append(BodyBlock(block.label, lines))
    return replace(body, blocks=blocks)


def _chosen(line: BodyLine, after: BodyLine | None, uses: Counter[str]) -> BodyLine:
    """Return a call, of one of few numbers where the next instruction asks for one of them, and no other does."""
    name = next((word for word in line.words if word in _CALLS), "") if line.name == "call" else ""
    if not name or after is None or uses[line.result] != 1 or line.result not in after.words:
        return line
    kind = line.words[line.words.index(name) - 1]
    number = _asked(after, line.result)
    if kind not in ("i32", "i64") or not 1 < number <= MOST_CHOSEN:
        return line
    signed = name[1:] in _SIGNED and after.name == "srem"
    chosen = f"@__synth_chosen{'_signed' if signed else ''}{'_long' if kind == 'i64' else ''}"
    return line._replace(words=["call", kind, chosen, "(", kind, str(number), ")"])


def _asked(line: BodyLine, register: str) -> int:
    """Return how many numbers an instruction tells from each other; 0 where that is not known."""
    words = line.words
    place = words.index(register)
    constant = words[place + 2] if words[place + 1 : place + 2] == [","] and len(words) > place + 2 else ""
    if not constant.isdigit():
        return 0
    number = int(constant)
    match line.name:
        case "srem" | "urem":
            return number
        case "and" if number & (number + 1) == 0:
            return number + 1
        case "icmp" if number == 0 and words[1] in ("eq", "ne"):
            return 2
    return 0
