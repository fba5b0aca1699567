"""Finds which registers of a test hold addresses, and of which locations. It does so before a kernel is written.

A language has an array for each region, or for each kind of location, and an address is an index into it.

Flow-insensitive: a register holds an address where any of its values may be one. What would need addresses at run time
is refused: addresses in memory, aliases, an address compared with a number or by size, or multiplied.
"""

from __future__ import annotations

from collections.abc import Mapping

from corpus.errors import InputError
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import COMPARISONS, Assign, Branch, Comparison, Instruction, Rmw, Store, operands_of
from corpus.litmus.locations import Loc, Operand, Reg, Region
from corpus.litmus.normal import terms
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest

Targets = Mapping[str, frozenset[str]]
"""For each register of a thread, the locations whose addresses it may hold; none where it is always a number."""


def address_targets(test: LitmusTest) -> tuple[Targets, ...]:
    """Return the locations that each thread's registers may address. Raises ``InputError`` as the module says."""
    for location in test.locations:
        if location.alias is not None:
            raise InputError(f"{location.name} is an alias of {location.alias.location}, and no language here has any")
        if isinstance(location.initial, Loc):
            raise InputError(f"{location.name} holds an address at the start, and memory holds numbers here")
    where = {location.name: location.region for location in test.locations}
    found = tuple(_targets(test, thread, where) for thread in range(len(test.threads)))
    for term in terms(test.condition):
        if isinstance(term, FinalRegister) and found[term.thread].get(term.register):
            raise InputError(f"P{term.thread}:{term.register} holds an address, and outcomes are numbers here")
    return found


def first_user(test: LitmusTest, location: str) -> int:
    """Return the first thread that mentions a location, 0 where none does. Shared memory is that of its CTA, where
    nothing else is said.
    """
    return next((number for number, thread in enumerate(test.threads) if location in thread.locations), 0)


def targets_of(operand: Operand, registers: Targets) -> frozenset[str]:
    """Return the locations that an operand may be an address of."""
    if isinstance(operand, Reg):
        return registers.get(operand.name, frozenset())
    return frozenset() if isinstance(operand, int) else frozenset({operand.name})


def _targets(test: LitmusTest, number: int, where: Mapping[str, Region]) -> Targets:
    thread = test.threads[number]
    registers = {name: targets_of(value, {}) for name, value in thread.registers}
    computed = [ins for ins in thread.instructions if isinstance(ins, Assign) and ins.operation not in COMPARISONS]
    for _ in computed:  # an address needs no more steps than there are to reach every register
        for ins in computed:
            flowing = (targets_of(operand, registers) for operand in ins.operands)
            registers[ins.target] = registers.get(ins.target, frozenset()).union(*flowing)
    for instruction in thread.instructions:
        reason = _meaningless(instruction, registers, where)
        if reason:
            raise cannot_say(number, ins, reason)
    return registers


def _meaningless(ins: Instruction, registers: Targets, where: Mapping[str, Region]) -> str:
    """Why an instruction's use of addresses cannot be written; empty where it can."""
    regions = [frozenset(where[name] for name in targets_of(operand, registers)) for operand in operands_of(ins)]
    match ins:
        case Store() | Rmw() if any(regions[1:]):
            return "it puts an address into memory, which holds numbers here"
        case Assign(operation="add" | "sub" | "mov"):
            return ""
        case Assign(operation="eq" | "ne") | Branch(condition=Comparison("eq" | "ne")):
            return "" if regions[0] == regions[1] and len(regions[0]) < 2 else "it compares an address with a number"
        case Assign() | Branch() if any(regions):
            return "it computes with an address what is only defined for numbers"
    return ""
