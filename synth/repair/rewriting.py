"""Changes of orders in sources of C++ as people write them: what stands at the place of an access, and what is to.

    x.store(1, std::memory_order_relaxed)     the word of the order becomes std::memory_order_release
    x.store(1)                                gets an order: x.store(1, std::memory_order_release)
    x = 1                                     is to be x.store(.., std::memory_order_release)

An order that another name stands for, as a constant or a parameter of a template, stays: others may have it, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class OrderedCall(NamedTuple):
    """An access as it is written: its member or operator, and where its order stands: line, column (from 1), and the
    text there, none where an order is to be put in. ``problem`` says why it cannot be changed.
    """

    member: str = ""
    line: int = 0
    column: int = 0
    old: str = ""
    before: str = ""
    problem: str = ""

    def with_order(self, word: str) -> str:
        """Return what is to stand there for the access to have an order, as ``release``."""
        found = _ORDER.fullmatch(self.old)
        if found is None:
            return f"{self.before}std::memory_order_{word}"
        return f"{found[1]}{word}"


_ORDER = re.compile(
    r"((?:(?:::)?\s*std\s*::\s*)?memory_order(?:_|\s*::\s*))(?:relaxed|consume|acquire|release|acq_rel|seq_cst)"
)

_PLAIN_ARGUMENTS = {
    **dict.fromkeys(("load", "test", "clear", "test_and_set", "atomic_thread_fence"), 0),
    **dict.fromkeys(("store", "exchange", "wait"), 1),
    **{f"fetch_{word}": 1 for word in ("add", "sub", "and", "or", "xor", "max", "min")},
    **dict.fromkeys(("compare_exchange_weak", "compare_exchange_strong"), 2),
}
"""The members of atomic objects, and how many arguments each has before its order."""

_OPERATORS = {
    "=": "store",
    **dict.fromkeys(("++", "+="), "fetch_add"),
    **dict.fromkeys(("--", "-="), "fetch_sub"),
    "&=": "fetch_and",
    "|=": "fetch_or",
    "^=": "fetch_xor",
}
_OPERATOR = re.compile(r"\+\+|--|[-+&|^]?=(?!=)")
_NAME = re.compile(r"(?:::)?\s*(?:std\s*::\s*)?(\w+)\s*(?:<[^;()]*?>\s*)?\(")
_FREE = re.compile(r"atomic_(?:flag_)?(\w+?)(_explicit)?")
_OPENING, _CLOSING = "([{", ")]}"
_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def ordered_call(lines: Sequence[str], line: int, column: int) -> OrderedCall:
    """Return the access that is written at a line and column, both from 1."""
    if not 1 <= line <= len(lines):
        return OrderedCall(problem="its source is not there")
    text = "\n".join(lines[line - 1 :])
    if found := _OPERATOR.match(text, column - 1):
        return OrderedCall(found[0])
    named = _NAME.match(text, column - 1)
    if named is None:
        return OrderedCall("conversion")
    member, needed = named[1], _PLAIN_ARGUMENTS.get(named[1])
    if needed is None and (free := _FREE.fullmatch(member)):
        inner = free[1].replace("test_set", "test_and_set")
        if inner in _PLAIN_ARGUMENTS and not free[2]:
            return OrderedCall(member)
        needed = _PLAIN_ARGUMENTS[inner] + 1 if inner in _PLAIN_ARGUMENTS else None
    if needed is None:
        return OrderedCall(member, problem=f"{member} is no access of an atomic object by its own name")
    arguments, end = _arguments(text, named.end())
    if len(arguments) > needed:
        start, stop = arguments[needed]
        own = text[start:stop]
        if _ORDER.fullmatch(own) is None:
            return OrderedCall(member, problem=f"its order is {' '.join(own.split())}, a name that others may have")
        return OrderedCall(member, *_place(text, start, line), own)
    return OrderedCall(member, *_place(text, end, line), "", ", " if needed else "")


def instead(member: str, order: str) -> str:
    """Return the call with an order that stands for an operator, a conversion, or a function without one."""
    word = f"std::memory_order_{order}"
    if member == "conversion":
        return f".load({word})"
    if member in _OPERATORS:
        return f".{_OPERATORS[member]}(.., {word})"
    return f"{member}_explicit(.., {word})"


def _arguments(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """Return where the arguments of a call begin and end, behind whose bracket a place is, and where that closes."""
    found: list[tuple[int, int]] = []
    depth, begin, place = 0, start, start
    while place < len(text):
        literal = _LITERAL.match(text, place)
        if literal is not None:
            place = literal.end()
            continue
        letter = text[place]
        if depth == 0 and letter in (",", ")"):
            whole = text[begin:place]
            if whole.strip():
                left = begin + len(whole) - len(whole.lstrip())
                found.append((left, left + len(whole.strip())))
            begin = place + 1
            if letter == ")":
                return found, place
        depth += (letter in _OPENING) - (letter in _CLOSING)
        place += 1
    return found, len(text)


def _place(text: str, start: int, line: int) -> tuple[int, int]:
    """Return the line and the column of a place in a text that begins with a line."""
    return line + text.count("\n", 0, start), start - (text.rfind("\n", 0, start) + 1) + 1
