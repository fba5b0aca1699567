"""Checks whether the machine code of a CUDA memory test is still the test. The check is optcheck of Alglave et al.
2015, section 4.4.

ptxas merges two weak loads of one location, drops a relaxed store that the next one overwrites, and computes away a
dependency through ``xor r,r`` (4.5). What such code does on a chip says nothing about the chip. So every access, fence
and dependency of the test is looked for in the SASS that nvdisasm prints:

- each access is there once, in order, of its kind, state space, strength and scope;
- each fence is there, of its strength and scope, and so is what makes an acquire or a release: ``MEMBAR`` before the
  access, ``CCTL.IVALL`` after a load at GPU or system scope; and nothing else of the kind. A fence that releases alone
  is a ``MEMBAR``, one that acquires alone an invalidation;
- an access whose address, value or execution depends on an earlier load in the test does so in the code.

What is asked of asynchronous operations and mbarriers are accesses as well: a bulk copy is ``UBLKCP``, in a loop over
the lanes of a warp, and what is done to an mbarrier is ``SYNCS``. Groups are made by ``LDGDEPBAR`` and ``UTMACMDFLUSH``
and waited for by ``DEPBAR``; a fence of the async proxy is ``FENCE.VIEW.ASYNC`` (``backends.cuda.asynchronous``).

**How an access is recognised.** The paper ends each thread with xor instructions whose constants describe it. Here the
code carries a mark at every access: ``backends.cuda.memory`` adds to its address ``zero[k]``, word ``k`` of constant
memory, with ``k`` from ``numbered``. The words are 0, but only the host knows. So ptxas can neither drop a mark nor
prove two addresses equal, and the word that flows into the address of a machine instruction says which access it is.
Every thread is a function that is not inlined, ``thread_N_K`` from its K-th barrier on, in which nothing else happens.

The data flow is traced through registers and predicates, over all paths at once. It errs towards more dependencies
than there are where an instruction is wide. Gaps: instructions are compared in the order of the text, so code that
ptxas lays out in another order than it executes is flagged; a loop is checked like straight code; what is done at a
barrier is between the functions, which ptxas keeps in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from backends.cuda.asynchronous import PENDING_ARRIVALS, PROXY_FENCES, form_of, homes, is_home
from backends.shared.addresses import address_targets, targets_of
from corpus.code.sass.text import BRANCHES, ENDS, MARKS, RMWS, SCOPES, SassInstruction, sass_functions
from corpus.litmus.describe import describe
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Fence,
    Load,
    Rmw,
    Store,
    is_asynchronous,
    operands_of,
)
from corpus.litmus.locations import Reg, Region
from corpus.litmus.normal import without_predicates
from corpus.litmus.orders import BULK, Mode, Order, Scope
from corpus.litmus.test import LitmusTest

_Marks = frozenset[int]
_NONE: _Marks = frozenset()


@dataclass(frozen=True, slots=True)
class Complaint:
    """A complaint about a thread: a difference between its machine code and the test, in words."""

    thread: int
    text: str

    def __str__(self) -> str:
        return f"P{self.thread}: {self.text}"


def numbered(test: LitmusTest) -> dict[tuple[int, int], int]:
    """Return the number of each access, keyed by its thread and its place in the thread's code."""
    places = [
        (number, place)
        for number, thread in enumerate(test.threads)
        for place, ins in enumerate(thread.instructions)
        if isinstance(ins, Load | Store | Rmw | AsyncOperation)
    ]
    return {place: number for number, place in enumerate(places)}


def optcheck(test: LitmusTest, sass: str) -> list[Complaint]:
    """Return the complaints about the machine code of one architecture, none where the code is still the test.

    ``sass`` is what ``nvdisasm -c`` prints of the file that ``backends.cuda.memory`` wrote for this test. Raises
    ``InputError`` where CUDA cannot say the test.
    """
    test = without_predicates(test)
    functions = sass_functions(sass)
    complaints = []
    for number, thread in enumerate(test.threads):
        phases = range(1 + sum(isinstance(ins, Barrier) for ins in thread.instructions))
        code = [op for phase in phases for op in _operations(functions.get(f"thread_{number}_{phase}", []))]
        found = _with_initialisations(code)
        complaints += [Complaint(number, text) for text in _differences(_wanted(test, number), found)]
    return complaints


@dataclass(frozen=True, slots=True)
class _Operation:
    """An access, a fence, or an invalidation of the first cache.

    ``words`` are what is compared: kind, space, strength, operation. The ``marks`` of an access of the test, or those
    that flow into the address of an access of the code, say which one it is. The others are the marks of the loads that
    it depends on.
    """

    words: tuple[str, ...]
    marks: _Marks = _NONE
    address: _Marks = _NONE
    value: _Marks = _NONE
    control: _Marks = _NONE
    text: str = field(default="", compare=False)

    @property
    def is_access(self) -> bool:
        return self.words[0] in ("load", "store", "rmw", "asynchronous")

    def __str__(self) -> str:
        return " ".join(self.words)


_INVALIDATE = _Operation(("invalidate",))


# What the test says.

_CACHED = {"ca": Scope.CTA, "wb": Scope.CTA, "cg": Scope.GPU, "cv": Scope.SYS, "wt": Scope.SYS}
_EVICTED = {"cs": "EF", "lu": "LU"}


def _wanted(test: LitmusTest, number: int) -> list[_Operation]:
    """The operations of a thread in order. A branch controls all that follows."""
    regions = {location.name: location.region for location in test.locations}
    registers, marks, home = address_targets(test)[number], numbered(test), homes(test)
    flow: dict[str, _Marks] = {}
    control = _NONE
    wanted: list[_Operation] = []
    for place, ins in enumerate(test.threads[number].instructions):
        sources = [flow.get(operand.name, _NONE) if isinstance(operand, Reg) else _NONE for operand in operands_of(ins)]
        mark = frozenset({marks[number, place]}) if (number, place) in marks else _NONE
        match ins:
            case AsyncOperation() | AsyncGroup():
                wanted += _asynchronous(ins, regions, mark, sources, control)
            case Load() | Store() | Rmw():
                names = targets_of(ins.address, registers)
                (region,) = {regions[name] for name in names}
                remote = region is Region.SHARED and not all(is_home(test, home[name], number) for name in names)
                words = _on_mbarrier(ins) if is_asynchronous(ins) else _words(ins, region, remote)
                access = _Operation(words, mark, sources[0], _NONE.union(*sources[1:]), control, describe(ins))
                wanted += _ordered(ins, region, remote, access)
                if not isinstance(ins, Store) and ins.target is not None:
                    flow[ins.target] = mark
            case Fence(mode) if mode in PROXY_FENCES:
                wanted += [_fenced(words) for words in PROXY_FENCES[mode]]
            case Fence(Mode(order=Order.ACQUIRE, scope=scope)):
                wanted += _fence("all", scope)[1:]
            case Fence(Mode(order=Order.RELEASE, scope=scope)):
                wanted += _fence("all", scope)[:1]
            case Fence():
                wanted += _fence("sc" if ins.mode.order is Order.SC else "all", ins.mode.scope)
            case Assign():
                flow[ins.target] = _NONE.union(*sources)
            case Branch():
                control = control.union(*sources)
    return wanted


def _asynchronous(
    ins: AsyncOperation | AsyncGroup,
    regions: Mapping[str, Region],
    mark: _Marks,
    sources: Sequence[_Marks],
    control: _Marks,
) -> list[_Operation]:
    """What asks for an operation, makes a group, or waits for groups."""
    match ins:
        case AsyncGroup(operations, None):
            return [_Operation(("commit", "UTMACMDFLUSH" if operations == BULK else "LDGDEPBAR"))]
        case AsyncGroup(operations, pending, read):
            return [_Operation(("wait", str(pending))), *([_INVALIDATE] if operations == BULK and not read else [])]
        case AsyncOperation(target=None, mbarrier=arrival):
            access = _Operation(
                ("asynchronous", PENDING_ARRIVALS[arrival][1]), mark, control=control, text=describe(ins)
            )
            return [*([_INCREMENT] if arrival == "arrive" else []), access]
        case AsyncOperation():
            form = form_of(ins, regions)
            words = () if form is None else (form.machine_words(ins),)
            value = _NONE.union(*sources)
            return [_Operation(("asynchronous", *words), mark, value=value, control=control, text=describe(ins))]


_ARRIVALS = {
    "mbarrier.arrive": ("A1T0", "ART0"),
    "mbarrier.arrive_drop": ("OPTOUT.A1T0", "OPTOUT.ART0"),
    "mbarrier.arrive_expect": ("", ""),
    "mbarrier.drop_expect": ("OPTOUT", "OPTOUT"),
    "mbarrier.expect_tx": ("A0TR", "A0TR"),
    "mbarrier.complete_tx": ("A0TX", "A0TX"),
}
"""What ``SYNCS.ARRIVE.TRANS64`` says of an operation with a count of 1, and of others."""


def _on_mbarrier(ins: Load | Store | Rmw) -> tuple[str, ...]:
    if isinstance(ins, Rmw):
        return ("asynchronous", "SYNCS.ARRIVE", _ARRIVALS[ins.operation][ins.operands != (1,)])
    return ("asynchronous", "SYNCS.PHASECHK" if isinstance(ins, Load) else "SYNCS.EXCH")


def _words(ins: Load | Store | Rmw, region: Region, remote: bool) -> tuple[str, ...]:
    kind = "rmw" if isinstance(ins, Rmw) else "load" if isinstance(ins, Load) else "store"
    operation = (ins.operation,) if isinstance(ins, Rmw) else ()
    if region is Region.SHARED and not remote:
        return (kind, str(region), *operation)
    mode, space = ins.mode, "generic" if remote else str(region)
    scope = Scope.SYS if mode.volatile else _CACHED.get(mode.cache or "", mode.scope)
    strength = "weak" if scope is None else f"strong.{_level(scope).label}"
    return (kind, space, strength, *operation, *([_EVICTED[mode.cache]] if mode.cache in _EVICTED else []))


def _ordered(ins: Load | Store | Rmw, region: Region, remote: bool, access: _Operation) -> list[_Operation]:
    """An access with what makes it a release or an acquire. An mbarrier is ordered within its CTA as it is, and is
    initialised after a fence.
    """
    order, scope, own = ins.mode.order, ins.mode.scope, is_asynchronous(ins) and ins.mode.scope is Scope.CTA
    before = [_fence("all", scope)[0]] if order in (Order.RELEASE, Order.ACQ_REL) and not own else []
    before += [_VIEW] if isinstance(ins, Store) and is_asynchronous(ins) else []
    beyond = region is Region.GLOBAL or remote or is_asynchronous(ins)
    acquires = order in (Order.ACQUIRE, Order.ACQ_REL) and scope is not Scope.CTA and beyond
    return [*before, access, *([_INVALIDATE] if acquires else [])]


def _level(scope: Scope) -> Scope:
    """The scope in machine code: a cluster's is the GPU's."""
    return Scope.GPU if scope is Scope.QUEUE else scope


def _fence(strength: str, scope: Scope | None) -> list[_Operation]:
    assert scope is not None
    return [_Operation(("fence", strength, _level(scope).label)), *([_INVALIDATE] if scope is not Scope.CTA else [])]


# What the machine code says.

_CONSTANT = re.compile(rf"c\[0x{MARKS:x}\]\[(?:U?RZ|0x([0-9a-f]+))\]")
_REGISTER = re.compile(r"\b(U?[RP])(\d+)\b((?:\.\w+)*)")
_CONTROL = "control"
_SIZES = {"64": 2, "128": 4, "WIDE": 2, "TRANS64": 2}


def _fenced(machine: str) -> _Operation:
    """A fence by its machine instruction."""
    name, *parts = machine.split(".")
    scoped = ("fence", parts[0].lower(), SCOPES.get(parts[1], parts[1]))
    return _Operation(("view", parts[-1]) if name == "FENCE" else scoped)


_VIEW, _NARROW = _fenced("FENCE.VIEW.ASYNC.S"), _fenced("MEMBAR.ALL.CTA")
_INCREMENT, _INITIALISED = _Operation(("increment",)), _Operation(("initialised",))


_Flow = frozenset[tuple[str, int]]
"""What flows into a register: ``("mark", k)``, and ``("load", k)`` for the result of the access with mark k."""
_State = Mapping[str, _Flow]


def _operations(code: Sequence[SassInstruction]) -> list[_Operation]:
    """The accesses and fences of a function in the order of its text, with what flows into them on any path."""
    places = {label: place for place, ins in enumerate(code) for label in ins.labels}
    states: list[dict[str, _Flow] | None] = [None] * len(code)
    waiting: list[tuple[int, _State]] = [(0, {})] if code else []
    while waiting:
        place, arriving = waiting.pop()
        known = states[place]
        merged = dict(known or {})
        for name, flow in arriving.items():
            merged[name] = merged.get(name, frozenset()) | flow
        if merged == known:
            continue
        states[place] = merged
        ins = code[place]
        leaving = _after(ins, merged)
        targets = [places[name] for name in re.findall(r"\.\w+", " ".join(ins.operands)) if name in places]
        jumps = ins.parts[0] in BRANCHES
        if place + 1 < len(code) and (ins.guard or len(ins.operands) > 1 or ins.parts[0] not in (*BRANCHES, *ENDS)):
            waiting.append((place + 1, leaving))
        waiting += [(target, leaving) for target in targets if jumps]
    return [
        op for ins, state in zip(code, states, strict=True) if state is not None for op in _operations_of(ins, state)
    ]


def _flow(ins: SassInstruction, texts: Iterable[str], state: _State, narrow: bool = False) -> _Flow:
    """What flows from operands; of a wide instruction, from pairs of registers."""
    wide = not narrow and ("WIDE" in ins.parts or "64" in ins.parts)
    flow: _Flow = frozenset()
    for text in texts:
        flow |= {("mark", int(offset or "0", 16) // 4) for offset in _CONSTANT.findall(text)}
        for kind, number, suffix in _REGISTER.findall(text):
            pair = wide or ".64" in suffix
            for name in (f"{kind}{number}", *([f"{kind}{int(number) + 1}"] if pair and kind[-1] == "R" else [])):
                flow |= state.get(name, frozenset())
    return flow


def _parts(ins: SassInstruction) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Registers written, the addresses, and the other operands."""
    addresses = tuple(
        operand for operand in ins.operands if ins.is_access and "[" in operand and not operand.startswith("c[")
    )
    others = tuple(operand for operand in ins.operands if operand not in addresses)
    if ins.is_access and not ins.access:
        count = 1 if ins.parts[0] == "SYNCS" else 0
        return others[:count], addresses, others[count:]
    if ins.parts[0].startswith(("ST", "RED")) or ins.parts[0] in (*BRANCHES, *ENDS):
        return (), addresses, others
    count = 1
    if ins.parts[0] in ("ATOM", "ATOMG") or (others and re.fullmatch(r"U?P(\d|T)", others[0])):
        count = 2
    while count < len(others) and count < 4 and re.fullmatch(r"U?P\d", others[count]):
        count += 1
    return others[:count], addresses, others[count:]


def _after(ins: SassInstruction, state: _State) -> dict[str, _Flow]:
    """What flows into each register after an instruction."""
    leaving = dict(state)
    guard = state.get(ins.guard or "", frozenset())
    targets, addresses, others = _parts(ins)
    if ins.parts[0] in BRANCHES:
        guard |= _flow(ins, others, state)
    if ins.is_access or ins.parts[0] in BRANCHES:
        leaving[_CONTROL] = leaving.get(_CONTROL, frozenset()) | guard
    flow = _flow(ins, others, state)
    if ins.is_access:
        flow = frozenset(("load", mark) for kind, mark in _addressed(ins, addresses, state) if kind == "mark")
    constant = _CONSTANT.search(ins.operands[-1]) if ins.parts[0] in ("LDC", "ULDC", "LDCU") else None
    size = next((_SIZES[part] for part in ins.parts if part in _SIZES), 1)
    for target in targets:
        for kind, number, _ in _REGISTER.findall(target):
            for step in range(size if kind[-1] == "R" else 1):
                name = f"{kind}{int(number) + step}"
                new = flow if constant is None else frozenset({("mark", int(constant[1] or "0", 16) // 4 + step)})
                kept = ins.guard is not None and ins.parts[0] != "R2UR"  # of some lane, so always
                leaving[name] = new | guard | (state.get(name, frozenset()) if kept else frozenset())
    return leaving


def _addressed(ins: SassInstruction, addresses: Sequence[str], state: _State) -> _Flow:
    """What flows into an address: of global memory, a pair of registers unless it says otherwise. Nothing where not the
    same flows into all addresses: these are of one access.

    A bulk instruction has a pair for its target as well, of which one is that of the mbarrier if the target is in
    shared memory.
    """
    flows = set()
    for place, address in enumerate(addresses):
        inner = address[address.rindex("[") :]
        bulk = ins.parts[0].startswith("UBLK") and (place == 0 or ins.parts[2] == "G")
        if bulk or (ins.access and ins.access[1] != "shared"):
            inner = re.sub(r"\b(U?R\d+)(?![\d.])", r"\1.64", inner)
        flows.add(_flow(ins, [inner], state, narrow=True))
    return flows.pop() if len({_marks(flow, "mark") for flow in flows}) == 1 else frozenset()


def _operations_of(ins: SassInstruction, state: _State) -> list[_Operation]:
    """The operation that an instruction is, if it is one."""
    parts = ins.parts
    if parts[0] in ("MEMBAR", "FENCE"):
        return [_fenced(".".join(parts))]
    if parts[:2] == ("CCTL", "IVALL"):
        return [_INVALIDATE]
    if parts[0] in ("LDGDEPBAR", "UTMACMDFLUSH"):
        return [_Operation(("commit", parts[0]))]
    if parts[:2] == ("DEPBAR", "LE"):
        return [_Operation(("wait", str(int(ins.operands[-1], 16))))]
    if parts[0] == "SYNCS" and "A0T1" in parts:
        return [_INCREMENT]
    if parts[:3] == ("SYNCS", "CCTL", "IVALL"):
        return [_INITIALISED]
    if not ins.is_access:
        return []
    _, addresses, others = _parts(ins)
    flow = _addressed(ins, addresses, state)
    control = state.get(ins.guard or "", frozenset()) | state.get(_CONTROL, frozenset())
    marks, address_from, value_from, control_from = (
        _marks(flow, "mark"),
        _marks(flow, "load"),
        _marks(_flow(ins, others, state), "load"),
        _marks(control, "load"),
    )
    return [_Operation(_access_words(ins), marks, address_from, value_from, control_from, str(ins))]


def _access_words(ins: SassInstruction) -> tuple[str, ...]:
    """The words of the access that an instruction is."""
    parts = ins.parts
    if parts[0] == "SYNCS":
        order = [".".join(part for part in parts[3:] if part != "RED")] if parts[1] == "ARRIVE" else []
        return ("asynchronous", ".".join(parts[:2]), *order)
    if not ins.access:
        return ("asynchronous", ".".join(parts))
    kind, space = ins.access
    words = [kind, space]
    if space != "shared":
        strong = parts.index("STRONG") if "STRONG" in parts else None
        words.append("weak" if strong is None else f"strong.{SCOPES.get(parts[strong + 1], parts[strong + 1])}")
    words += [RMWS[part] for part in parts if part in RMWS][:1] if kind == "rmw" else []
    words += [part for part in parts if part in _EVICTED.values()]
    return tuple(words)


def _marks(flow: _Flow, source: str) -> _Marks:
    return frozenset(mark for kind, mark in flow if kind == source)


def _with_initialisations(code: Sequence[_Operation]) -> list[_Operation]:
    """The code with each mbarrier initialised as sm_90 does it, by one instruction after a fence. sm_100 has a store of
    64 bits before the fence, and an instruction after it.
    """
    found: list[_Operation] = []
    for op in code:
        if op == _INITIALISED and [op.words for op in found[-2:]] == [("store", "shared"), _VIEW.words]:
            found[-2:] = [_VIEW, replace(found[-2], words=("asynchronous", "SYNCS.EXCH"))]
        else:
            found.append(op)
    return found


# The comparison.


def _differences(wanted: Sequence[_Operation], found: Sequence[_Operation]) -> list[str]:
    """What is otherwise in the code than in the test, in words."""
    texts: list[str] = []
    accesses = {op.marks: op for op in wanted if op.is_access}
    for op in found:
        if op.is_access and op.marks not in accesses:
            texts.append(f"the machine code has {op.text}, which is no access of this thread")
    for mark, access in accesses.items():
        same = [op for op in found if op.is_access and op.marks == mark]
        if len(same) != 1:
            times = f"{len(same)} times" if same else "no longer"
            texts.append(f"{access.text}: is {times} in the machine code")
        texts += [text for op in same for text in _unlike(access, op, accesses)]
    if texts:
        return texts
    order = [op.marks for op in found if op.is_access]
    if order != list(accesses):
        return [f"in the machine code, the order is {'; '.join(accesses[mark].text for mark in order)}"]
    for last, want, have in zip([None, *accesses.values()], _between(wanted), _between(found), strict=True):
        fences = [op for op in want if op != _INVALIDATE], [op for op in have if op != _INVALIDATE]
        if fences[0] != fences[1] or (_INVALIDATE in want and _INVALIDATE not in have):
            place = f"after {last.text}" if last else "at the start"
            texts.append(f"{place}: the machine code has {_listed(have)}, expected {_listed(want)}")
    return texts


def _unlike(access: _Operation, found: _Operation, accesses: Mapping[_Marks, _Operation]) -> list[str]:
    """How an access of the code differs from that of the test."""
    texts = [] if access.words == found.words else [f"{access.text}: is a {found} in the machine code, not a {access}"]
    for name in ("address", "value", "control"):
        for source in sorted(getattr(access, name) - getattr(found, name)):
            source_words = accesses[frozenset({source})].text
            what = {"address": "its address", "value": "its value", "control": "whether it happens"}[name]
            texts.append(f"{access.text}: in the machine code {what} does not depend on {source_words}")
    return texts


def _between(operations: Sequence[_Operation]) -> list[list[_Operation]]:
    """What is before, between and after the accesses: fences, invalidations, groups. A fence that a wider one follows
    adds nothing.
    """
    groups: list[list[_Operation]] = [[]]
    for op in operations:
        if op.is_access:
            groups.append([])
        elif groups[-1] and op.words[0] == "fence" and groups[-1][-1] == _NARROW:
            groups[-1][-1] = op
        else:
            groups[-1].append(op)
    return groups


def _listed(operations: Sequence[_Operation]) -> str:
    return ", ".join(map(str, operations)) or "nothing"
