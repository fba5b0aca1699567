"""Makes one atomic operation of each pair of exclusive accesses, and of each compare-exchange that is tried again.

    L1: v0 := [x] exclusive                   v0 := rmw add x, 3
        s0 := [x] := v0 + 3 exclusive
        bne s0, 0, L1

    L1: v1 := p0 or 1                         v2 := rmw or x, 1
        v2 := rmw cas x, p0, v1
        bne v2, p0, L1, with p0 := v2

A pair (``ldxr`` and ``stxr``, ``lwarx`` and ``stwcx.``, ``lr`` and ``sc``) whose failure leads back to its load is one
operation whose store succeeds at once: an attempt that fails reads, and nobody asks for what it has read, so the
outcomes are the same. A branch out of the pair is that of a compare-exchange. A loop around x86's ``cmpxchg`` is one
operation, too, and the load before it stays a load; what is computed in the loop of the value that is expected is
computed of what the operation has read.

What is no such pair or loop is refused by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from corpus.code import ir
from corpus.code.assembly.sums import give_operand
from corpus.code.assembly.thread import ProcessorThread
from corpus.code.residual import Residual
from corpus.code.values import Affine, number, register
from corpus.errors import InputError
from corpus.litmus.arithmetic import compute
from corpus.litmus.flow import ThreadFlow
from corpus.litmus.instructions import (
    Assign,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import DEFAULT_RMW, Mode, Order
from corpus.litmus.processors import EXCLUSIVE, exclusive_mode

CLEARED = Mode(tags=("clears",))
"""What stands, as a fence, for an instruction that makes the store of a pair that is open fail."""

JOINED, AGAIN = "p", "again"
"""The first letters of registers that hold what a loop begins with, and of what marks the way back of a loop."""

RETRIES = "an atomic operation that may fail, and does not just begin again where it does"
COMPUTED = "the operand of an exclusive pair is computed within it"


@dataclass(frozen=True, slots=True)
class ExclusiveLoad(Load):
    """An exclusive load, whose mode says how the read of the pair is done."""


@dataclass(frozen=True, slots=True)
class ExclusiveStore(Rmw):
    """An exclusive store of ``value``. Its ``success`` is 0 where it succeeds, and 1 where it fails, and its operands
    are the registers of the value. ``once``: it may be a compare-exchange that is tried once.
    """

    value: Affine = number(0)  # noqa: RUF009
    once: bool = False

    @classmethod
    def of(cls, address: Operand, value: Affine, mode: Mode, status: str, once: bool) -> ExclusiveStore:
        """Return the store of a sum of registers."""
        return cls("exch", None, address, _registers(value), mode, success=status, value=value, once=once)


@dataclass(frozen=True, slots=True)
class RetriedExchange(Rmw):
    """A compare-exchange in a loop, which stores ``value``: its operands are what is expected, and the registers of the
    value.
    """

    value: Affine = number(0)  # noqa: RUF009

    @classmethod
    def of(cls, target: str, address: Operand, expected: Operand, value: Affine, mode: Mode) -> RetriedExchange:
        """Return the compare-exchange for a sum of registers."""
        return cls("cas", target, address, (expected, *_registers(value)), mode, value=value)


def _registers(value: Affine) -> tuple[Reg, ...]:
    return tuple(Reg(name) for name, _ in value.terms)


def join_exclusives(thread: ProcessorThread, joined: Mapping[str, str], needed: Collection[str]) -> list[Residual]:
    """Return the code of a thread with one operation in place of each pair and of each exchange that is tried again.

    ``joined`` are the registers that hold what loops begin with, and what the code calls these; ``needed`` are those
    that are read at the end. Raises ``InputError`` for exclusive accesses and loops that are nothing of that.
    """
    found = list(thread.out.code)
    for kind, join in ((ExclusiveLoad, _join_pair), (RetriedExchange, _join_retries)):
        while (place := _first(found, kind)) is not None:
            found = _drop_unreached(join(_Code(thread, tuple(found), joined, frozenset(needed)), place))
    for residual in found:
        if isinstance(residual.instruction, ExclusiveStore):
            raise thread.out.wrong("an exclusive store without a load of the same address before it", residual.origin)
        if isinstance(residual.instruction, Assign) and residual.instruction.target.startswith(AGAIN):
            raise thread.out.wrong("a loop", residual.origin)
    return [residual for residual in found if not _clears(residual.instruction)]


def _first(code: Sequence[Residual], kind: type[Instruction]) -> int | None:
    """Return the place of the first instruction of a kind; None where there is none."""
    return next((place for place, residual in enumerate(code) if isinstance(residual.instruction, kind)), None)


@dataclass(frozen=True)
class _Code:
    """The code of a thread, with what its registers are."""

    thread: ProcessorThread
    code: tuple[Residual, ...]
    joined: Mapping[str, str]
    needed: frozenset[str]

    @cached_property
    def flow(self) -> ThreadFlow:
        """The ways between its instructions."""
        return ThreadFlow(tuple(residual.instruction for residual in self.code), self.needed)

    @cached_property
    def entries(self) -> Counter[int]:
        """How many ways lead to each place."""
        return Counter(after for place in self.flow.reached([0]) for after in self.flow.successors[place])

    def instruction(self, place: int) -> Instruction | None:
        """Return the instruction at a place, None at the end."""
        return self.code[place].instruction if place < len(self.code) else None

    def find_branch(self, place: int) -> tuple[Comparison, int, int] | None:
        """Return what a branch with two ways asks, and the places where it goes if that holds, and if not."""
        ins = self.instruction(place)
        if isinstance(ins, Branch) and isinstance(ins.condition, Comparison):
            target = self.flow.labels[ins.label]
            return None if target == place + 1 else (ins.condition, target, place + 1)
        return None

    def walk(self, place: int) -> Iterator[int]:
        """Yield the places that control passes from one on, to the first that has two ways, or an event."""
        seen = set[int]()
        while place not in seen:
            seen.add(place)
            yield place
            if not isinstance(self.instruction(place), Assign | Label | Branch):
                return
            if len(self.flow.successors[place]) != 1:
                return
            (place,) = self.flow.successors[place]


def _clears(ins: Instruction | None) -> bool:
    return isinstance(ins, Fence) and ins.mode == CLEARED


@dataclass(frozen=True, slots=True)
class _Pair:
    """A pair: the places of its load and store, what the load is compared with, and the registers written between."""

    load: int
    store: int
    expected: Operand | None
    inside: frozenset[str]


def _find_pair(code: _Code, place: int) -> _Pair:
    """Return the pair whose load is at a place."""
    load = code.instruction(place)
    assert isinstance(load, ExclusiveLoad)
    inside, expected, here = {load.target}, None, place + 1
    while not isinstance(ins := code.instruction(here), ExclusiveStore):
        if ins is None or code.entries[here] > 1:
            origin = code.code[place].origin
            raise InputError("an exclusive load without its store", line=origin.line if origin else None)
        origin, branch = code.code[here].origin, code.find_branch(here)
        if isinstance(ins, Assign):
            inside.add(ins.target)
        elif isinstance(ins, ExclusiveLoad):
            raise code.thread.out.wrong("it begins an exclusive pair within another one, or not of a location", origin)
        elif _clears(ins):
            raise code.thread.out.wrong("it ends an exclusive pair whose store is to come", origin)
        elif not isinstance(ins, Label | Branch):
            raise code.thread.out.wrong("it stands within an exclusive pair", origin)
        if branch is None:
            here = code.flow.successors[here][0]
            continue
        comparison, holds, fails = branch
        other = _find_other(comparison, load.target)
        if expected is not None or other is None:
            raise code.thread.out.wrong(
                "a branch within an exclusive pair that is no comparison of what was read", origin
            )
        if isinstance(other, Reg) and other.name in inside:
            raise code.thread.out.wrong(COMPUTED, origin)
        expected, here = other, holds if comparison.operation == "eq" else fails
    return _Pair(place, here, expected, frozenset(inside))


def _find_other(comparison: Comparison, name: str) -> Operand | None:
    """Return what a register is compared with, equal or not; None where it is not compared so."""
    if comparison.operation in ("eq", "ne"):
        if comparison.left == Reg(name):
            return comparison.right
        if comparison.right == Reg(name):
            return comparison.left
    return None


def _join_pair(code: _Code, place: int) -> list[Residual]:
    """Return the code with one operation for the pair whose load is at a place."""
    thread, pair = code.thread, _find_pair(code, place)
    load, store = code.instruction(pair.load), code.instruction(pair.store)
    assert isinstance(load, ExclusiveLoad) and isinstance(store, ExclusiveStore) and store.success is not None
    origin = code.code[pair.store].origin
    if pair.expected is None:
        operation, operand = _find_operation(thread, store.value, load.target, origin)
    elif _depends(thread, store.value, load.target):
        raise thread.out.wrong("a compare-exchange that stores what it has read", origin)
    else:
        operation, operand = "cas", store.value
    if any(name in pair.inside for name, _ in operand.terms):
        raise thread.out.wrong(COMPUTED, origin)
    before, given = _compute(thread, operand, origin)
    operands = (given,) if pair.expected is None else (pair.expected, given)
    made = Rmw(operation, load.target, load.address, operands, _combine(load.mode, store.mode))
    once = store.once and pair.expected is not None
    retry = _find_retry(code, pair, store.success, once)
    if retry is None:
        made = replace(made, success=thread.out.new_register())
    new = {pair.store: [], pair.load: [*before, Residual(made, code.code[pair.load].origin)]}
    found = _replace(code, new, retry)
    if retry is None:
        _check_unasked(code, found, store.success)
        return found
    return _fold([_control(residual, store.success, load.target) for residual in found], store.success, code.needed)


@dataclass(frozen=True, slots=True)
class _Retry:
    """A branch by which an operation that has failed begins again: its place, the place where it goes on after success,
    and the registers that are written on the way back.
    """

    branch: int
    succeeds: int
    written: frozenset[str]


def _find_retry(code: _Code, pair: _Pair, status: str, once: bool) -> _Retry | None:
    """Return the branch that asks whether the store of a pair has failed; None where nothing asks, and the operation
    may be tried ``once``.
    """
    known: list[dict[str, int]] = [{status: 0}, {status: 1}]
    for place in code.walk(pair.store + 1):
        if code.entries[place] > 1:
            break
        ins, branch = code.instruction(place), code.find_branch(place)
        if isinstance(ins, Assign):
            for values in known:
                if (result := _evaluate(ins.operation, ins.operands, values)) is not None:
                    values[ins.target] = result
        if branch is not None:
            comparison, holds, fails = branch
            succeeded, failed = (
                _evaluate(comparison.operation, (comparison.left, comparison.right), values) for values in known
            )
            if succeeded is not None and failed is not None and succeeded != failed:
                good, bad = (holds, fails) if succeeded else (fails, holds)
                return _lead_back(code, place, good, bad, pair.load)
            if not once:
                later = "what an atomic operation that may fail has done is asked for later"
                raise code.thread.out.wrong(later, code.code[place].origin)
    if not once:
        raise code.thread.out.wrong(RETRIES, code.code[pair.store].origin)
    return None


def _lead_back(code: _Code, branch: int, good: int, bad: int, start: int) -> _Retry:
    """Return the branch whose one way leads back to the start and does nothing before."""
    way = list(code.walk(bad))
    if way[-1] != start:
        raise code.thread.out.wrong(RETRIES, code.code[branch].origin)
    written = frozenset(name for place in way[:-1] for name in registers_written(code.code[place].instruction))
    return _Retry(branch, good, written)


def _replace(code: _Code, new: Mapping[int, list[Residual]], retry: _Retry | None, but: str = "") -> list[Residual]:
    """Return the code with others in place of some instructions, and without the way back of a retry.

    Raises ``InputError`` where a second attempt would begin with something else, ``but`` for one register.
    """
    new = dict(new)
    if retry is not None:
        origin, branch = code.code[retry.branch].origin, code.instruction(retry.branch)
        assert isinstance(branch, Branch)
        falls = retry.succeeds == retry.branch + 1
        new[retry.branch] = [] if falls else [Residual(Branch(branch.label), origin)]
    found = _drop_unreached([residual for place, old in enumerate(code.code) for residual in new.get(place, [old])])
    if retry is not None:
        kept = drop_unread([residual.instruction for residual in found], code.needed)
        read = {name for ins in kept for name in registers_read(ins)} | code.needed
        for name in sorted((retry.written & read & code.joined.keys()) - {but}):
            raise code.thread.out.wrong(f"a loop that changes what it begins with, {code.joined[name]}", origin)
    return found


def drop_unread(code: Sequence[Instruction], needed: Collection[str]) -> list[Instruction]:
    """Return the instructions without computations whose results nothing reads that stays."""
    kept, size = list(code), -1
    while size != len(kept):
        size = len(kept)
        read = {name for ins in kept for name in registers_read(ins)}.union(needed)
        kept = [ins for ins in kept if not isinstance(ins, Assign) or ins.target in read]
    return kept


def _drop_unreached(code: Sequence[Residual]) -> list[Residual]:
    flow = ThreadFlow(tuple(residual.instruction for residual in code))
    return [code[place] for place in sorted(flow.reached([0])) if place < len(code)]


def _compute(
    thread: ProcessorThread, value: Affine, origin: ir.KernelInstruction | None
) -> tuple[list[Residual], Operand]:
    """Return the instructions that compute a sum, and the operand that it then is."""
    out = thread.out
    outer, here, out.code, out.origin = out.code, out.origin, [], origin
    operand = give_operand(thread, value)
    before, out.code, out.origin = out.code, outer, here
    return before, operand


def _combine(load: Mode, store: Mode) -> Mode:
    """Return how an operation is done whose accesses are done so."""
    if EXCLUSIVE not in load.tags:
        return DEFAULT_RMW
    done = exclusive_mode(load.order is Order.ACQUIRE, store.order is Order.RELEASE)
    return replace(done, tags=tuple(sorted({*done.tags, *load.tags, *store.tags})))


def _check_unasked(code: _Code, found: Sequence[Residual], status: str) -> None:
    """Raise ``InputError`` where something depends on whether an operation that is tried once has failed."""
    tainted = {status}
    for residual in found:
        if tainted.isdisjoint(registers_read(residual.instruction)):
            continue
        if isinstance(residual.instruction, Assign) and residual.instruction.target not in code.needed:
            tainted.add(residual.instruction.target)
            continue
        raise code.thread.out.wrong("the success of an exchange that may fail is not understood", residual.origin)


def _control(residual: Residual, status: str, read: str) -> Residual:
    """Return an instruction in which a branch on a success whose ways are one is a branch on what was read."""
    match residual.instruction:
        case Branch(condition=Comparison(_, Reg(left), Reg(right))) if left == right == status:
            same = Comparison("eq", Reg(read), Reg(read))
            return residual._replace(instruction=replace(residual.instruction, condition=same))
    return residual


def _evaluate(operation: str, operands: Sequence[Operand], known: Mapping[str, int]) -> int | None:
    """Return the result of an operation; None where an operand is not known."""
    values = [known.get(operand.name) if isinstance(operand, Reg) else operand for operand in operands]
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) < len(values):
        return None
    return numbers[0] if operation == "mov" else compute(operation, *numbers)


def _fold(code: Sequence[Residual], status: str, needed: Collection[str]) -> list[Residual]:
    """Return the code where an operation has succeeded, with the results of what was computed of that."""
    known, found, size = {status: 0}, list(code), 0
    written = Counter(name for residual in code for name in registers_written(residual.instruction))

    def value(operand: Operand) -> Operand:
        return known.get(operand.name, operand) if isinstance(operand, Reg) else operand

    while size != len(known):
        size = len(known)
        for place, residual in enumerate(found):
            if known.keys().isdisjoint(registers_read(residual.instruction)):
                continue
            ins = map_operands(residual.instruction, value)
            if isinstance(ins, ExclusiveStore | RetriedExchange):
                ins = replace(ins, value=_substitute(ins.value, known))
            found[place] = residual._replace(instruction=ins)
            match ins:
                case Assign(target) if written[target] == 1 and target not in needed:
                    if (result := _evaluate(ins.operation, ins.operands, known)) is not None:
                        known[target] = result
                case Branch(label, Comparison(operation, left, right)):
                    if (result := _evaluate(operation, (left, right), known)) is not None:
                        always = Branch(label) if result else Label(f"N{place}")
                        found[place] = residual._replace(instruction=always)
    return _drop_unreached(found)


def _substitute(value: Affine, known: Mapping[str, int]) -> Affine:
    total = sum(factor * known.get(name, 0) for name, factor in value.terms)
    terms = tuple((name, factor) for name, factor in value.terms if name not in known)
    return replace(value, terms=terms).further(total)


def _join_retries(code: _Code, place: int) -> list[Residual]:
    """Return the code with one operation for the loop around a compare-exchange, or with that itself."""
    thread, ins, origin = code.thread, code.instruction(place), code.code[place].origin
    assert isinstance(ins, RetriedExchange) and ins.target is not None
    expected = ins.operands[0]
    retry = _find_loop(code, place, ins.target, expected) if isinstance(expected, Reg) else None
    if retry is None or not isinstance(expected, Reg):
        before, given = _compute(thread, ins.value, origin)
        made = Rmw("cas", ins.target, ins.address, (expected, given), ins.mode)
        return _replace(code, {place: [*before, Residual(made, origin)]}, None)
    operation, operand = _find_operation(thread, ins.value, expected.name, origin)
    before, given = _compute(thread, operand, origin)
    made = Rmw(operation, ins.target, ins.address, (given,), ins.mode)
    found = _replace(code, {place: [*before, Residual(made, origin)]}, retry, but=expected.name)
    here = next(n for n, residual in enumerate(found) if residual.instruction is made)
    early, late = _split(found[:here], expected.name)
    if not set(registers_read(made)).isdisjoint(
        {expected.name, *(name for residual in late for name in registers_written(residual.instruction))}
    ):
        raise thread.out.wrong(RETRIES, origin)
    behind = ThreadFlow(tuple(residual.instruction for residual in found)).reached([here + 1])
    after = Reg(ins.target)

    def with_read(residual: Residual) -> Residual:
        changed = map_operands(residual.instruction, lambda operand: after if operand == expected else operand)
        return residual._replace(instruction=changed)

    rest = [with_read(residual) if n in behind else residual for n, residual in enumerate(found) if n > here]
    return [*early, found[here], *map(with_read, late), *rest]


def _split(code: Sequence[Residual], name: str) -> tuple[list[Residual], list[Residual]]:
    """Return the code without what is computed of a register, and that."""
    early, late, computed = list[Residual](), list[Residual](), {name}
    for residual in code:
        if isinstance(residual.instruction, Assign) and not computed.isdisjoint(registers_read(residual.instruction)):
            computed.add(residual.instruction.target)
            late.append(residual)
        else:
            early.append(residual)
    return early, late


def _find_loop(code: _Code, place: int, target: str, expected: Reg) -> _Retry | None:
    """Return the branch that leads back to a compare-exchange which expects what it has read before; None where none
    does.
    """
    if expected.name not in code.joined or type(code.thread.out.definitions.get(expected.name)) is not Load:
        return None
    for here in code.walk(place + 1):
        if (branch := code.find_branch(here)) is not None:
            comparison, holds, fails = branch
            if _find_other(comparison, target) != expected:
                return None
            good, bad = (holds, fails) if comparison.operation == "eq" else (fails, holds)
            retry = _lead_back(code, here, good, bad, place)
            return retry if expected.name in retry.written else None
    return None


def _depends(thread: ProcessorThread, value: Affine, name: str) -> bool:
    """Decide whether a value is computed of a register."""
    below = [held for held, _ in value.terms]
    seen = set(below)
    while below:
        made = thread.out.assignment(below.pop())
        found = {operand.name for operand in made.operands if isinstance(operand, Reg)} if made else set()
        below += found - seen
        seen |= found
    return name in seen


def _find_operation(
    thread: ProcessorThread, value: Affine, old: str, origin: ir.KernelInstruction | None
) -> tuple[str, Affine]:
    """Return the operation of a litmus test, and its operand, that make a value of what was read."""
    if not _depends(thread, value, old):
        return "exch", value
    terms = dict(value.terms)
    if terms.pop(old, 0) == 1:
        rest = replace(value, terms=tuple(sorted(terms.items())))
        if not _depends(thread, rest, old):
            return "add", rest
    made = thread.out.assignment(value.terms[0][0]) if value == register(value.terms[0][0]) else None
    if made is not None and made.operation in ("and", "or", "xor", "sub"):
        left, right = made.operands
        if right == Reg(old) and made.operation != "sub":
            left, right = right, left
        if left == Reg(old) and isinstance(right, int | Reg):
            other = register(right.name) if isinstance(right, Reg) else number(right)
            if not _depends(thread, other, old):
                return made.operation, other
    raise thread.out.wrong("what it stores is no operation of litmus tests on what was read", origin)
