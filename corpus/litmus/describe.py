"""Describes instructions of litmus tests in one line, whatever the dialect. The lines are for error messages and
pictures, not to be parsed.

``ld.acquire.gpu r1, x``, ``@r3 st.cg x, 1``, ``atom.relaxed.gpu.cas r1, x, 0, 1``, ``beq r1, 0, LC0``.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpus.errors import InputError
from corpus.litmus import orders
from corpus.litmus.instructions import (
    COMPARISONS,
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Fence,
    GroupOperation,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    is_asynchronous,
    operands_of,
    sides_of,
)
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.orders import BULK, CLUSTER, FENCED, MBARRIER, RELAXED, TENSOR_OPERATIONS, Mode, Order, Scope
from corpus.litmus.processors import word_of


def cannot_say(thread: int, instruction: Instruction, reason: str) -> InputError:
    """The error of a printer whose dialect has no words for an instruction: ``P0: ld.cg r1, x: the reason``."""
    return InputError(f"P{thread}: {describe(instruction)}: {reason}")


def describe(instruction: Instruction) -> str:
    """The instruction in one line, in words close to PTX's. What the default is (order weak, no tag) is not said."""
    guard = None if isinstance(instruction, Label) else instruction.guard
    sides = sides_of(instruction)
    side = f" ({'left' if sides[-1] > 0 else 'right'} operand)" if sides else ""
    return ("" if guard is None else f"@{'!' * guard.unless}{guard.register} ") + _body(instruction) + side


def _body(instruction: Instruction) -> str:
    match instruction:
        case Load(target, address, mode, phase=phase) if phase is not None:
            parity = ".parity" if instruction.parity else ""
            return f"mbarrier.test_wait{parity}{_suffix(mode)} {target}, {_address(address)}, {_value(phase)}"
        case AsyncOperation():
            name = _operation(instruction)
            name += ".tensor" * instruction.tensor
            update = "" if instruction.operation is None else f".{instruction.operation}"
            done = "" if instruction.barrier is None else f".mbarrier::{instruction.mbarrier}"
            operands = [] if instruction.target is None else [_addresses(instruction.target, instruction.more, 0)]
            if instruction.source is not None:
                operands.append(_addresses(instruction.source, instruction.more, 1))
            elif operands:
                operands.append(_value(instruction.value))
            if instruction.barrier is not None:
                operands += [_value(instruction.count)] if instruction.source is not None else []
                operands.append(_address(instruction.barrier))
            return f"{name}{update}{done} {', '.join(operands)}"
        case AsyncGroup(orders.TENSOR_LOADS | orders.TENSOR_STORES as kind):
            return kind.replace(".", ".wait::")
        case AsyncGroup(kind, pending, read):
            return f"{kind}.commit_group" if pending is None else f"{kind}.wait_group{'.read' * read} {pending}"
        case Store(address, int(value), mode) if MBARRIER in mode.tags:
            return f"mbarrier.init {_address(address)}, {Mbarrier.of(value).expected}"
        case Rmw(operation, target, address, values, mode) if is_asynchronous(instruction):
            result = [] if target is None else [target]
            return f"{operation}{_suffix(mode)} {', '.join([*result, _address(address), *map(_value, values)])}"
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
        case Fence(mode) if mode.tags in _FENCES:
            return _FENCES[mode.tags]
        case Fence(mode) if (word := word_of(mode)) is not None:
            return word
        case Fence(Mode(order=Order.WEAK, tags=(tag,))):
            return f"fence.proxy.{tag}" if tag in FENCED else tag
        case Fence(Mode(order=Order.WEAK, tags=("async", *spaces))):
            words = {"global-fence": ".global", "local-fence": ".shared"}
            return f"fence.proxy.async{''.join(words.get(space, '') for space in spaces)}"
        case Fence(mode):
            return f"fence{_suffix(mode)}"
        case Barrier(mode=mode, scope=scope, arrive=arrive):
            group = "" if scope is Scope.CTA else f".{scope.label}"
            given = ", ".join(map(_value, operands_of(instruction)))
            half = "arrive" if arrive else "wait" if instruction.wait else "sync"
            if CLUSTER in mode.tags:
                return f"barrier.cluster.{half}{'.relaxed' * (RELAXED in mode.tags)}"
            return f"bar{group}{_suffix(mode)}.{half} {given}"
        case GroupOperation(operation, target, mask=mask):
            first, *further = _GROUP_OPERATIONS.get(operation, ("vote", operation))
            name = ".".join([first, *(["sync"] if mask is not None else []), *further])
            result = [] if target is None else [target]
            return f"{name} {', '.join([*result, *map(_value, operands_of(instruction))])}".rstrip()
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


_FENCES = {
    ("async", "register-fence"): "wgmma.fence",
    ("before-sync",): "tcgen05.fence::before_thread_sync",
    ("after-sync",): "tcgen05.fence::after_thread_sync",
}
"""The names of fences that their tags do not spell."""


_GROUP_OPERATIONS = {"elect": ("elect",), "shuffle": ("shfl", "idx"), "barrier": ("bar.warp",)}
"""The names of operations of a subgroup that are no votes."""


def _operation(operation: AsyncOperation) -> str:
    """Return the name of an asynchronous operation, in words of the dialect of PTX."""
    if operation.group == TENSOR_OPERATIONS:
        return f"{operation.group}.{next((tag for tag in operation.mode.tags if tag in ('cp', 'mma')), 'commit')}"
    stores = operation.group == BULK and operation.source is None and operation.target is not None
    return "st.async" if stores else operation.group


def _suffix(mode: Mode) -> str:
    if (word := word_of(mode)) is not None:
        return f".{word}"
    parts = ["volatile"] if mode.volatile else []
    parts += [] if mode.order is Order.WEAK else [str(mode.order)]
    parts += [] if mode.scope is None or CLUSTER in mode.tags else [mode.scope.label]
    parts += [] if mode.cache is None else [mode.cache]
    return "".join(f".{part}" for part in (*parts, *mode.tags) if part != MBARRIER)


def _address(operand: Operand) -> str:
    return f"[{operand.name}]" if isinstance(operand, Reg) else _plain(operand)


def _addresses(first: Operand, more: Sequence[tuple[Operand, ...]], side: int) -> str:
    """The first and the last address of a row of elements: ``d .. d[3]``."""
    return " .. ".join([_address(first), *(_address(pair[side]) for pair in more[-1:])])


def _value(operand: Operand) -> str:
    return f"&{operand.name}" if isinstance(operand, Loc) else _plain(operand)


def _plain(operand: Operand) -> str:
    return str(operand) if isinstance(operand, int) else operand.name
