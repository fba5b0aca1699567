"""The costs of instructions in a repair, by instruction, order and scope. Tables of costs ship, or are a user's TOML
file.

An instruction that is not there otherwise costs its own figure, plus that of its order and that of its scope; or a
figure for the way as a whole (``[way]``, ``"F.sc.gpu" = 180``).

The tables that ship are orders of magnitude, one for each target: a wider scope costs least, a stronger order more, and
a fence or barrier that was not there most. A user's own table is a TOML file of the same form (docs/repair.md).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from corpus.errors import InputError
from corpus.executions.execution import OpKind
from corpus.executions.vocabulary import KIND_WORDS, scope_word, spelled_mode
from corpus.files import read_text
from corpus.litmus.orders import Mode, Order, Scope

TARGETS = ("c", "cuda", "opencl", "ptx", "vulkan")
"""The targets whose cost tables ship."""

_INSTRUCTIONS = tuple(KIND_WORDS.values())
_ORDERS = tuple(order.value for order in Order if order is not Order.WEAK)
_SCOPES = ("cluster", *(scope.label for scope in Scope))
_SECTIONS = {"instruction": _INSTRUCTIONS, "order": _ORDERS, "scope": _SCOPES, "way": None}


@dataclass(frozen=True, slots=True)
class Costs:
    """A table of costs, whole numbers from 0 on; a part that it does not list costs 0."""

    instruction: Mapping[str, int]
    order: Mapping[str, int]
    scope: Mapping[str, int]
    way: Mapping[str, int]

    def of(self, kind: OpKind, mode: Mode | None) -> int:
        """Return the cost of an instruction of a kind in a mode; 0 where the mode is None, that is, without the
        instruction.
        """
        if mode is None:
            return 0
        word = spelled_mode(kind, mode)
        if word in self.way:
            return self.way[word]
        parts = (
            self.instruction.get(KIND_WORDS[kind], 0),
            self.order.get(mode.order.value, 0),
            self.scope.get(scope_word(mode), 0),
        )
        return sum(parts)


def read_costs(name: str) -> Costs:
    """Read the cost table of a target, or of a file. Raises ``InputError`` where it cannot be read or is no table."""
    shipped = name in TARGETS
    text = files("synth.repair").joinpath(f"tables/{name}.toml").read_text() if shipped else read_text(Path(name))
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"expected a table of costs in TOML: {error}", name) from None
    for section in table:
        if section not in _SECTIONS:
            expected = ", ".join(f"[{section}]" for section in _SECTIONS)
            raise InputError(f"unknown section [{section}]; expected {expected}", name)
    return Costs(**{section: _section(table, section, known, name) for section, known in _SECTIONS.items()})


def _section(table: Mapping[str, Any], section: str, known: tuple[str, ...] | None, path: str) -> Mapping[str, int]:
    costs = table.get(section, {})
    if not isinstance(costs, dict):
        raise InputError(f"[{section}] is to be a table of words and whole numbers", path)
    for word, cost in costs.items():
        if known is not None and word not in known:
            raise InputError(f"[{section}] has no '{word}'; expected some of {', '.join(known)}", path)
        if not isinstance(cost, int) or isinstance(cost, bool) or not 0 <= cost <= MOST:
            raise InputError(f"[{section}] {word}: expected a whole number from 0 to {MOST}, found {cost!r}", path)
    return costs


MOST = 1_000_000
"""The largest cost that a table may have."""
