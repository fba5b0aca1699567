"""Describes instructions of litmus tests in one line, whatever the dialect. The lines are for error messages and
pictures, not to be parsed.

``ld.acquire.gpu r1, x``, ``@r3 st.cg x, 1``, ``atom.relaxed.gpu.cas r1, x, 0, 1``, ``beq r1, 0, LC0``.
"""

from __future__ import annotations

from corpus.errors import InputError
from corpus.litmus.test import (
    CLUSTER,
    COMPARISONS,
    FENCED,
    Assign,
    Barrier,
    Branch,
    Fence,
    Instruction,
    Label,
    Load,
    Loc,
    Mode,
    Operand,
    Order,
    Reg,
    Rmw,
    Scope,
    Store,
    operands,
    sides_of,
)


def cannot_say(thread: int, instruction: Instruction, reason: str) -> InputError:
    """Return the error of a printer whose dialect has no words for an instruction: ``P0: ld.cg r1, x: the reason``."""
    return InputError(f"P{thread}: {describe(instruction)}: {reason}")


def describe(instruction: Instruction) -> str:
    """Return the instruction in one line, in words close to PTX's. Defaults (order weak, no tag) are left out."""
    guard = None if isinstance(instruction, Label) else instruction.guard
    sides = sides_of(instruction)
    side = f" ({'left' if sides[-1] > 0 else 'right'} operand)" if sides else ""
    return ("" if guard is None else f"@{'!' * guard.unless}{guard.register} ") + _body(instruction) + side


def _body(instruction: Instruction) -> str:
    match instruction:
        case Load(target, address, mode):
            return f"ld{_suffix(mode)} {target}, {_address(address)}"
        case Store(address, value, mode):
            return f"st{_suffix(mode)} {_address(address)}, {_value(value)}"
        case Rmw(operation, target, address, values, mode):
            name, result = ("red", []) if target is None else ("atom", [target])
            if instruction.success is not None:  # two results, as setp has them in PTX
                name, operation, result = "atom", f"{operation}.weak", [f"{target or '_'}|{instruction.success}"]
            listed = ", ".join([*result, _address(address), *map(_value, values)])
            failing = "" if instruction.failure is None else f", or {instruction.failure} where it fails"
            return f"{name}{_suffix(mode)}.{operation} {listed}{failing}"
        case Fence(Mode(order=Order.WEAK, tags=(tag,))):
            return f"fence.proxy.{tag}" if tag in FENCED else tag
        case Fence(mode):
            return f"fence{_suffix(mode)}"
        case Barrier(mode=mode, scope=scope, arrive=arrive):
            group = "" if scope is Scope.CTA else f".{scope.label}"
            given = ", ".join(map(_value, operands(instruction)))
            return f"bar{group}{_suffix(mode)}.{'arrive' if arrive else 'sync'} {given}"
        case Assign(target, operation, values):
            name = f"setp.{operation}" if operation in COMPARISONS else operation
            return f"{name} {', '.join([target, *map(_value, values)])}"
        case Branch(label, None):
            return f"goto {label}"
        case Branch(label, condition):
            assert condition is not None
            return f"b{condition.operation} {_value(condition.left)}, {_value(condition.right)}, {label}"
        case Label(name):
            return f"{name}:"


def _suffix(mode: Mode) -> str:
    parts = ["volatile"] if mode.volatile else []
    parts += [] if mode.order is Order.WEAK else [str(mode.order)]
    parts += [] if mode.scope is None or CLUSTER in mode.tags else [mode.scope.label]
    parts += [] if mode.cache is None else [mode.cache]
    return "".join(f".{part}" for part in (*parts, *mode.tags))


def _address(operand: Operand) -> str:
    return f"[{operand.name}]" if isinstance(operand, Reg) else _plain(operand)


def _value(operand: Operand) -> str:
    return f"&{operand.name}" if isinstance(operand, Loc) else _plain(operand)


def _plain(operand: Operand) -> str:
    return str(operand) if isinstance(operand, int) else operand.name
