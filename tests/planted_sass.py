"""Planted faults of a compiler: machine code of a memory test with one instruction otherwise.

A fault is in a function of a thread: a fence or an invalidation that is missing, a narrower scope, an access that is
weak or missing or in the place of the next one, a fence that is not sequentially consistent any more, or a computation
that does not depend on what was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_INSTRUCTION = re.compile(r"(\s*/\*\w{4,}\*/\s+)(@!?U?P\w+\s+)?([A-Z][\w.]*)(.*)")
_LOAD = re.compile(r"(?:LDG|LDS|ATOMG|ATOMS)\b[\w.]* (?:PT, )?(R\d+),")
_ACCESS = re.compile(r"(?:LDG|LDS|STG|STS|ATOMG|ATOMS|REDG?)\b")
_NARROWER = {"SYS": "GPU", "GPU": "SM"}


def faulty_sass(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of each fault, with the machine code that has it."""
    lines = text.split("\n")
    accesses: list[int] = []
    loaded: set[str] = set()
    inside = False

    def changed(at: int, *new: str) -> str:
        return "\n".join([*lines[:at], *new, *lines[at + 1 :]])

    for at, line in enumerate(lines):
        if re.match(r"\S+:$", line) and not line.startswith(".L_"):
            inside, accesses, loaded = "thread_" in line, [], set()
        found = _INSTRUCTION.match(line)
        if not inside or found is None:
            continue
        place, guard, opcode, operands = found[1], found[2] or "", found[3], found[4]
        start = place + guard
        if opcode.startswith("MEMBAR"):
            yield "no fence", changed(at)
            scope = opcode.rpartition(".")[2]
            if scope in _NARROWER:
                narrow = {"SM": "CTA"}.get(_NARROWER[scope], _NARROWER[scope])
                yield "narrow fence", changed(at, f"{start}{opcode.removesuffix(scope)}{narrow}{operands}")
            if ".SC." in opcode:
                yield "weaker fence", changed(at, f"{start}{opcode.replace('.SC.', '.ALL.')}{operands}")
        elif opcode == "CCTL.IVALL":
            yield "no invalidation", changed(at)
        elif _ACCESS.match(opcode):
            yield "no access", changed(at)
            strong = re.search(r"\.STRONG\.(\w+)", opcode)
            if strong is not None and opcode.startswith(("LDG", "STG")):
                yield "weak access", changed(at, f"{start}{opcode.replace(strong[0], '')}{operands}")
            if strong is not None and strong[1] in _NARROWER:
                narrow = opcode.replace(strong[1], _NARROWER[strong[1]])
                yield "narrow access", changed(at, f"{start}{narrow}{operands}")
            if accesses:
                before = lines[accesses[-1]]
                both = _INSTRUCTION.match(before)
                assert both is not None
                swapped = [*lines]
                swapped[accesses[-1]] = both[1] + guard + opcode + operands
                swapped[at] = place + (both[2] or "") + both[3] + both[4]
                yield "swapped accesses", "\n".join(swapped)
            accesses.append(at)
        else:
            target, _, sources = operands.partition(",")
            used = sorted(name for name in loaded if re.search(rf"\b{name}\b", sources))
            if used and opcode not in ("MOV", "IMAD.MOV.U32", "RET.REL.NODEC"):
                gone = re.sub(rf"\b{used[0]}\b(\.reuse)?", "RZ", sources)
                yield "no dependency", changed(at, f"{start}{opcode}{target},{gone}")
            loaded -= {target.strip()}
        if (load := _LOAD.match(opcode + operands)) is not None:
            loaded.add(load[1])
