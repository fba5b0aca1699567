"""What a .cat model says of a litmus test, as naively as can be: what ``oracle.executions.judge`` is checked against.

One candidate at a time, with concrete values and plain sets. Each thread is run for every way to guess what its reads
read; the guesses must come true. A model's syntax tree is evaluated over sets of events and sets of pairs.

Values come from the writes of the test alone, so executions that justify themselves are not found: models to compare
under must forbid cycles of ``rf | addr | data | ctrl``. Aliases and tags of dialects are not known here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, combinations, permutations, product

from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Fence,
    Label,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.locations import Loc, Reg, Region
from corpus.litmus.mbarrier import MBARRIER_OPERATIONS
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.propositions import And, Atom, FinalRegister, Not, Or, propositions
from oracle.cat.terms import Call, Constant, LetBinding, ModelCheck, Name, Operation


@dataclass(frozen=True)
class Happening:
    """An event of one run, with its value; its dependencies are places of reads in the thread."""

    thread: int | None
    place: int
    tags: frozenset
    location: str | None = None
    virtual: str | None = None
    value: object = 0
    scope: Scope | None = None
    addr: frozenset = frozenset()
    data: frozenset = frozenset()
    ctrl: frozenset = frozenset()
    rmw: int | None = None
    barrier: tuple | None = None
    stays: bool = False
    sides: tuple = ()
    round: tuple = ()
    operation: int | None = None  # of an asynchronous operation, the place where it begins
    group: tuple | str | None = None  # the kind of groups that it may be in, or what is done to a group


@dataclass(frozen=True)
class Run:
    """A thread that has run, or is running: what happened, and its registers with the reads they come from."""

    pc: int = 0
    happened: tuple = ()
    registers: dict = field(default_factory=dict)
    control: frozenset = frozenset()
    jumps: tuple = ()
    left_at: int | None = None

    def value(self, operand):
        match operand:
            case Reg(name):
                return self.registers.get(name, (0, frozenset()))
            case Loc(name):
                return (name, 0), frozenset()
        return operand, frozenset()

    def then(self, *happened, **registers):
        return replace(self, happened=self.happened + happened, registers=self.registers | registers, pc=self.pc + 1)


@dataclass(frozen=True)
class Verdict:
    """What a model says: counts as in ``Judgement``; each outcome maps terms to final values."""

    executions: int
    matching: int
    violating: int
    flags: frozenset
    outcomes: frozenset


def compute(operation, left, right):
    """Numbers are ints, addresses pairs of a name and an offset; None is no value."""
    if operation.startswith("mbarrier."):
        return MBARRIER_OPERATIONS[operation.removeprefix("mbarrier.")](left, right)
    if operation in ("eq", "ne"):
        return int((left == right) == (operation == "eq"))
    if isinstance(left, tuple) or isinstance(right, tuple):
        if operation == "add" and isinstance(left, int):
            left, right = right, left
        if operation not in ("add", "sub") or isinstance(right, tuple) or isinstance(left, int):
            return None
        return left[0], left[1] + (right if operation == "add" else -right)
    result = {
        "add": left + right,
        "sub": left - right,
        "mul": left * right,
        "div": 0 if right == 0 else int(left / right),
        "and": left & right,
        "or": left | right,
        "xor": left ^ right,
        "min": min(left, right),
        "max": max(left, right),
        "lt": int(left < right),
        "le": int(left <= right),
        "gt": int(left > right),
        "ge": int(left >= right),
    }[operation]
    assert abs(result) < 2**31, "keep to numbers that do not wrap"
    return result


ORDER_NAMES = {
    Order.WEAK: {"WEAK", "NA"},
    Order.RELAXED: {"RLX"},
    Order.ACQUIRE: {"ACQ"},
    Order.RELEASE: {"REL"},
    Order.ACQ_REL: {"ACQ_REL"},
    Order.SC: {"SC"},
}
SCOPE_NAMES = {
    None: set(),
    Scope.WARP: {"WARP", "SG"},
    Scope.CTA: {"CTA", "WG"},
    Scope.QUEUE: {"QUEUE", "QF"},
    Scope.GPU: {"GPU", "DV"},
    Scope.SYS: {"SYS", "ALL"},
}


REGION_NAMES = {
    Region.GLOBAL: {"GLOBAL"},
    Region.SHARED: {"SHARED", "LOCAL"},
    Region.REGISTER: {"REGISTER"},
    Region.TENSOR: {"TENSOR"},
}


def fenced(mode):
    """The sets of memory that a fence orders."""
    only = {"global-fence": Region.GLOBAL, "local-fence": Region.SHARED}
    every = [*only.values()]
    only["register-fence"] = Region.REGISTER
    regions = [region for tag, region in only.items() if tag in mode.tags] or every
    return set().union(*(REGION_NAMES[region] for region in regions))


def said(kind, order, mode):
    """The sets of the words of a dialect. Vulkan's say things of each other."""
    words = {tag.upper() for tag in mode.tags}
    if kind in "RW" and any(word in words for word in ("SC0", "SC1", "SC2", "SC3")):
        own, other = ("AV", "VIS") if kind == "W" else ("VIS", "AV")
        if order is not Order.WEAK:
            words |= {own}
            ordered = order is (Order.RELEASE if kind == "W" else Order.ACQUIRE)
            words = {word for word in words if ordered or not word.startswith("SEM")} - {f"SEM{other}"}
        if own in words:
            words |= {"NONPRIV"}
    if kind in "FB" and order is Order.ACQ_REL and any(word.startswith("SEMSC") for word in words):
        words |= {"ACQ", "REL"}
    return words


def access(kind, mode, region, rmw, reduces=False):
    """The sets and the scope of a read or write; ``reduces``: of an atomic operation without a result."""
    order, scope = mode.order, mode.scope
    if mode.volatile:
        order, scope = Order.RELAXED, Scope.SYS
    if rmw and kind == "R" and order in (Order.RELEASE, Order.ACQ_REL):
        order = Order.RELAXED if order is Order.RELEASE else Order.ACQUIRE
    if rmw and kind == "W" and order in (Order.ACQUIRE, Order.ACQ_REL):
        order = Order.RELAXED if order is Order.ACQUIRE else Order.RELEASE
    names = {kind, "M"} | REGION_NAMES[region] | ORDER_NAMES[order] | SCOPE_NAMES[scope]
    names |= {"ATOM", "A"} if order is not Order.WEAK else set()
    names |= {"WI"} if order is not Order.WEAK and scope is None else set()
    names |= {"VOL"} if mode.volatile else set()
    names |= {"RMW"} if rmw else set()
    names |= {"NORET", "NoRet"} if reduces else set()
    names |= {mode.cache.upper()} if mode.cache else set()
    names |= said(kind, order, mode)
    names |= proxies(mode)
    return {"tags": frozenset(names), "scope": scope}


PROXY_NAMES = {
    "surface": {"SURFACE", "SUR"},
    "texture": {"TEXTURE", "TEX"},
    "constant": {"CONSTANT", "CON"},
    "alias": {"ALIAS"},
    "async": {"ASYNC"},
    "tensormap": {"TENSORMAP"},
}


def proxies(mode):
    """The sets of what goes through the proxy of a mode, or is for it."""
    named = [PROXY_NAMES[tag] for tag in mode.tags if tag in PROXY_NAMES]
    return set().union(*named) if named else {"GENERIC", "GEN"}


def addresses(test):
    """The memory and the virtual address of each location."""
    locations, found = {location.name: location for location in test.locations}, {}
    for name in locations:
        memory = address = name
        while locations[memory].alias is not None:
            alias = locations[memory].alias
            if address == memory and alias.proxy is not None:
                address = alias.location
            memory = alias.location
        found[name] = memory, address
    return found


def asked_terms(test):
    """The terms that a condition names or observes."""
    asked = [
        term
        for proposition in propositions(test.condition)
        for atom in atoms(proposition)
        for term in (atom.left, atom.right)
        if not isinstance(term, int)
    ]
    return list(dict.fromkeys([*asked, *test.condition.observed]))


def written_from(body, labels, start):
    """The registers that may be written by code from a place on."""
    found, waiting, seen = set(), [start], set()
    while waiting:
        pc = waiting.pop()
        if pc < len(body) and pc not in seen:
            seen.add(pc)
            found.add(getattr(body[pc], "target", None))
            jumps = isinstance(body[pc], Branch)
            waiting += [labels[body[pc].label]] if jumps else []
            if not (jumps and body[pc].condition is None and body[pc].guard is None):
                waiting.append(pc + 1)
    return found


def meetings(test, events):
    """Who meets whom at barriers, in every order in which threads may come to them; each a set of pairs of events."""
    columns = [
        [at for at, event in enumerate(events) if event.thread == t and event.barrier] for t in range(len(test.threads))
    ]

    def of(at):
        name, group, quorum = events[at].barrier
        return name, test.threads[events[at].thread].place[: group.value], group, quorum

    def takes_part(t, barrier, columns):
        name, place, group, _ = barrier
        return test.threads[t].place[: group.value] == place and (
            any(of(at) == barrier for at in columns[t])
            or any(
                isinstance(ins, Barrier)
                and ins.quorum is None
                and ins.scope is group
                and known_name(test, t, ins) == name
                for ins in test.threads[t].instructions
            )
        )

    awaited = {
        barrier: {t for t in range(len(columns)) if takes_part(t, barrier, columns)}
        for barrier in {of(at) for column in columns for at in column}
        if barrier[3] is None
    }
    found = set()

    def arrived(t, column, met):
        """The meeting of the last arrival before a wait, if that is complete."""
        before = columns[t][: len(columns[t]) - len(column)]
        own = [at for at in before if of(at) == of(column[0]) and "WAIT" not in events[at].tags]
        return next((group for group in met if own and own[-1] in group), None)

    def go(left, there, held, met):
        movable = [
            t
            for t, column in enumerate(left)
            if column and t not in held and (of(column[0]), t) not in {(of(at), events[at].thread) for at in there}
            if "WAIT" not in events[column[0]].tags or arrived(t, column, met)
        ]
        if not movable:
            through = {of(at) for group in met for at in group}
            stuck = [at for at in there if "ARRIVE" not in events[at].tags]
            if not any(left) and all(events[at].stays and of(at) in through for at in stuck):
                threads = [{(events[a].thread, a) for a in group} for group in met]
                found.add(frozenset((a, b) for group in threads for t, a in group for u, b in group if t != u))
            return
        for t in movable:
            at, *rest = left[t]
            barrier = of(at)
            group = frozenset({at, *(other for other in there if of(other) == barrier)})
            who = {events[other].thread for other in group}
            after = [rest if u == t else column for u, column in enumerate(left)]
            if "WAIT" in events[at].tags:
                group = arrived(t, left[t], met)
                go(after, there, held, met - {group} | {group | {at}})
                continue
            freed = {events[other].thread for other in group if "ARRIVE" not in events[other].tags}
            waits = {t} if "ARRIVE" not in events[at].tags else set()
            if who >= awaited[barrier] if barrier[3] is None else len(group) == barrier[3]:
                if not any(events[other].stays for other in group):
                    go(after, there - group, (held | waits) - freed, met | {group})
            else:
                go(after, there | {at}, held | waits, met)

    go(columns, frozenset(), frozenset(), frozenset())
    return sorted(found, key=sorted)


def known_name(test, number, barrier):
    """What a barrier is called in every execution."""
    name = barrier.number if barrier.resource is None else barrier.resource
    thread = test.threads[number]
    if isinstance(name, Reg) and all(getattr(ins, "target", None) != name.name for ins in thread.instructions):
        return dict(thread.registers).get(name.name, 0)
    return name


def runs(test, number, values, unroll):
    """Every run of a thread whose reads read some of ``values[location]``."""
    thread = test.threads[number]
    labels = {ins.name: pc for pc, ins in enumerate(thread.instructions) if isinstance(ins, Label)}
    labels["body"], labels["memory"] = thread.instructions, addresses(test)
    regions = {location.name: location.region for location in test.locations}
    initial = {
        name: ((value.name, 0) if isinstance(value, Loc) else value, frozenset()) for name, value in thread.registers
    }
    asked = {term.register for term in asked_terms(test) if isinstance(term, FinalRegister) and term.thread == number}
    waiting = [Run(registers=initial)]
    while waiting:
        run = waiting.pop()
        if run.pc == len(thread.instructions):
            if run.left_at is None or not asked & written_from(thread.instructions, labels, run.left_at):
                yield run
            continue
        ins = thread.instructions[run.pc]
        guard = None if isinstance(ins, Label) else ins.guard
        if guard is not None:
            predicate, sources = run.value(Reg(guard.register))
            run = replace(run, control=run.control | sources)
            if (predicate == 0) != guard.unless:
                waiting.append(run.then())
                continue
        waiting += _steps(run, ins, number, values, unroll, labels, regions)


def _steps(run, ins, number, values, unroll, labels, regions):
    sides = getattr(ins, "sides", ())
    here = Happening(number, len(run.happened), frozenset(), ctrl=run.control, sides=sides, round=run.jumps)
    match ins:
        case Label():
            yield run.then()
        case Assign(target, "mov", (operand,)):
            yield run.then(**{target: run.value(operand)})
        case Assign(target, operation, (left, right)):
            (one, some), (other, more) = run.value(left), run.value(right)
            result = compute(operation, one, other)
            if result is not None:
                yield run.then(**{target: (result, some | more)})
        case Branch(label, condition):
            taken = True
            if condition is not None:
                (one, some), (other, more) = run.value(condition.left), run.value(condition.right)
                taken = compute(condition.operation, one, other)
                run = replace(run, control=run.control | some | more)
            if not taken:
                yield run.then()
            elif labels[label] > run.pc:
                yield replace(run, pc=labels[label])
            elif taken and run.jumps.count(run.pc) < unroll:
                yield replace(run, pc=labels[label], jumps=(*run.jumps, run.pc))
        case Fence(mode):
            tags = {"F"} | ORDER_NAMES[mode.order] | SCOPE_NAMES[mode.scope] | fenced(mode) | proxies(mode)
            tags |= said("F", mode.order, mode) | ({"WI"} if mode.scope is None else set())
            yield run.then(replace(here, tags=frozenset(tags), scope=mode.scope))
        case AsyncGroup(kind, pending, read):
            tags = frozenset({"F", "GROUP", "GENERIC", "GEN"})
            yield run.then(replace(here, tags=tags, group=(kind, pending, read)))
        case AsyncOperation():
            yield from _asynchronous(run, ins, number, values, unroll, labels, regions)
        case Barrier(arrive=arrive, mode=mode):
            tags = {"B", "CBAR"} | SCOPE_NAMES[mode.scope] | fenced(mode) | ({"ARRIVE"} if arrive else set())
            tags |= {"WAIT"} if ins.wait else set()
            tags |= {"F", "GENERIC", "GEN"} | ORDER_NAMES[mode.order] if mode.order is not Order.WEAK else set()
            tags |= said("B", mode.order, mode)
            name = run.value(ins.number if ins.resource is None else ins.resource)[0]
            quorum = None if ins.quorum is None else run.value(ins.quorum)[0]
            here = replace(here, tags=frozenset(tags), scope=mode.scope, barrier=(name, ins.scope, quorum))
            yield run.then(here)
            if quorum is not None and not arrive:  # or it stays, and never does what comes after
                yield replace(run.then(replace(here, stays=True)), pc=len(labels["body"]), left_at=run.pc + 1)
        case _:
            (where, addr) = run.value(ins.address)
            if isinstance(where, int) or where[1] != 0 or where[0] not in regions:
                return
            memory, address = labels["memory"][where[0]]
            here, where = replace(here, location=memory, virtual=address, addr=addr), (memory, 0)
            atomic = isinstance(ins, Rmw)
            reduces = atomic and ins.target is None and ins.success is None
            read = replace(here, **access("R", ins.mode, regions[where[0]], atomic, reduces))
            write = replace(here, **access("W", ins.mode, regions[where[0]], atomic, reduces))
            if isinstance(ins, Store):
                value, data = run.value(ins.value)
                yield run.then(replace(write, value=value, data=data))
                return
            for old in sorted(values[where[0]], key=repr):
                result = {} if ins.target is None else {ins.target: (old, frozenset({here.place}))}
                loaded = replace(read, value=old)
                if isinstance(ins, Load) and ins.phase is not None:
                    phase, given = run.value(ins.phase)
                    over = compute(f"mbarrier.{'parity' if ins.parity else 'phase'}", old, phase)
                    mode = ins.mode if over else replace(ins.mode, order=Order.RELAXED)
                    mode = replace(mode, tags=(*mode.tags, *["waited"] * over))
                    told = replace(loaded, **access("R", mode, regions[where[0]], False))
                    yield run.then(told, **{ins.target: (over, given | {here.place})})
                    continue
                if isinstance(ins, Load):
                    yield run.then(loaded, **result)
                    continue
                given = [run.value(operand) for operand in ins.operands]
                data = frozenset().union(*(sources for _, sources in given))
                write = replace(write, place=here.place + 1, rmw=here.place, ctrl=run.control)
                if ins.operation == "cas":
                    told = given[0][1] | {here.place}
                    if old != given[0][0] or ins.success is not None:
                        mode = replace(ins.mode, order=ins.failure or ins.mode.order)
                        failed = {} if ins.success is None else {ins.success: (0, told)}
                        weaker = replace(loaded, **access("R", mode, regions[where[0]], True, reduces))
                        yield run.then(weaker, **{**result, **failed})
                    if old != given[0][0]:
                        continue
                    if ins.success is not None:
                        result = {**result, ins.success: (1, told)}
                    new, write = given[1][0], replace(write, ctrl=write.ctrl | {here.place})
                elif ins.operation == "exch":
                    new = given[0][0]
                else:
                    new, data = compute(ins.operation, old, given[0][0]), data | {here.place}
                if new is not None:
                    ends = ins.operation.startswith("mbarrier.") and compute("mbarrier.phase", new, old)
                    tags = write.tags | ({"COMPLETES"} if ends else set())
                    yield run.then(loaded, replace(write, value=new, data=data, tags=tags), **result)


def _asynchronous(run, ins, number, values, unroll, labels, regions):
    """The runs in which a thread has asked for an operation, access by access."""
    cta = Mode(Order.RELEASE, Scope.CTA, tags=("mbarrier",))
    cluster = Mode(Order.RELEASE, Scope.QUEUE, tags=("cluster", "mbarrier"))
    own, parts, moved = [], [], ins.value
    assert not ins.more
    if ins.mbarrier == "arrive" and ins.target is None:
        weaker = replace(cta, order=Order.RELAXED)
        own.append(Rmw("mbarrier.increment", None, ins.barrier, (ins.count,), weaker))
    target, source = ins.target, ins.source
    if ins.tensor and ins.barrier is not None:
        parts.append(Load("mapped", source, Mode(tags=("tensormap",))))
        source = Reg("mapped")
    elif ins.tensor:
        parts.append(Load("mapped", target, Mode(tags=("tensormap",))))
        target = Reg("mapped")
    if source is not None:
        moved = Reg("moved")
        weak = replace(ins.mode, order=Order.WEAK, scope=None)
        parts.append(Load("moved", source, weak if ins.operation else ins.mode))
    if target is not None and ins.operation:
        parts.append(Rmw(ins.operation, None, target, (moved,), ins.mode))
    elif target is not None:
        parts.append(Store(target, moved, ins.mode))
    if ins.group == "tcgen05" and ins.target is None:
        tracking = replace(cluster, tags=("cluster", "mbarrier", "tcgen05"))
        parts.append(Rmw("mbarrier.arrive", None, ins.barrier, (1,), tracking))
    elif ins.barrier is not None and ins.target is None:
        parts.append(Rmw("mbarrier.arrive", None, ins.barrier, (ins.count,), cta))
    elif ins.barrier is not None:
        parts.append(Rmw("mbarrier.complete_tx", None, ins.barrier, (ins.count,), cluster))
    found = [run]
    for part in (*own, *parts):
        found = [after for each in found for after in _steps(each, part, number, values, unroll, labels, regions)]
    begin = len(run.happened) + 2 * len(own)
    group = ins.group if ins.barrier is None else None
    for each in found:
        done = tuple(
            replace(event, operation=begin, group=group, tags=event.tags | {"ASYNCHRONOUS"})
            for event in each.happened[begin:]
        )
        registers = {name: value for name, value in each.registers.items() if name not in ("moved", "mapped")}
        yield replace(each, pc=run.pc + 1, happened=each.happened[:begin] + done, registers=registers)


def in_order(one, other):
    """Two operands of one evaluation of an expression are in no order."""
    return one.round != other.round or not set(one.sides) & {-side for side in other.sides}


def all_runs(test, unroll):
    """The runs of each thread, for all values that the test can come to write."""
    start = {
        location.name: (location.initial.name, 0) if isinstance(location.initial, Loc) else location.initial
        for location in test.locations
        if location.alias is None
    }
    values = {name: {value} for name, value in start.items()}
    rounds = 0
    while True:
        columns = [list(runs(test, number, values, unroll)) for number in range(len(test.threads))]
        lengths = [[sum("R" in event.tags for event in run.happened) for run in column] for column in columns]
        reads = sum(max(column, default=0) for column in lengths)
        if rounds == reads:  # a value goes through each read at most once
            break
        rounds += 1
        for event in (event for column in columns for run in column for event in run.happened):
            if "W" in event.tags:
                values[event.location].add(event.value)
    return start, columns


@cache
def partial_orders(size):
    """All strict partial orders of ``range(size)``, found among all relations."""
    pairs = list(permutations(range(size), 2))
    orders = []
    for chosen in chain.from_iterable(combinations(pairs, count) for count in range(len(pairs) + 1)):
        order = frozenset(chosen)
        if order >= compose(order, order) and not any((b, a) in order for a, b in order):
            orders.append(order)
    return orders


def compose(left, right):
    """``left ; right``."""
    after = {}
    for c, d in right:
        after.setdefault(c, []).append(d)
    return frozenset((a, d) for a, b in left for d in after.get(b, ()))


def transitive(pairs):
    """``pairs ^+``."""
    while more := compose(pairs, pairs) - pairs:
        pairs = pairs | more
    return pairs


class Execution:
    """One candidate: events by number, reads-from, coherence, the order of ``fence.sc``."""

    def __init__(self, events, places, rf, co, sync_fence, meet, synchronised):
        self.events, self.places, self.synchronised = events, places, synchronised
        self.meet = meet
        self.rf, self.co, self.sync_fence = frozenset(rf), frozenset(co), frozenset(sync_fence)
        self.all = frozenset(range(len(events)))
        self._known = {}

    def named(self, name):
        """A base set or relation, as a kind and its members."""
        if name not in self._known:
            made = self._relation(name)
            if made is None:
                made = frozenset(number for number in self.all if name in self.events[number].tags)
                self._known[name] = ("set", made)
            else:
                self._known[name] = ("relation", frozenset(made))
        return self._known[name]

    def relation(self, name):
        """A base relation."""
        return self.named(name)[1]

    def _where(self, related):
        return {(a, b) for a in self.all for b in self.all if related(self.events[a], self.events[b])}

    def _depends(self, name):
        return self._where(lambda e, f: e.thread is not None and e.thread == f.thread and e.place in getattr(f, name))

    def _shares(self, e, f, scope):
        return self.places[e.thread][: scope.value] == self.places[f.thread][: scope.value]

    def _both_share(self, scope):
        return self._where(lambda e, f: None not in (e.thread, f.thread) and self._shares(e, f, scope))

    def _is_retired(self, access, wait):
        """Whether a thread has ended more groups since it asked for an operation than may be pending when it waits."""
        if not isinstance(wait.group, tuple) or wait.group[1] is None or access.group != wait.group[0]:
            return False
        if access.thread != wait.thread or access.place > wait.place or (wait.group[2] and "W" in access.tags):
            return False
        if wait.group[0] in ("tcgen05.ld", "tcgen05.st"):
            return True
        between = [
            event
            for event in self.events
            if event.thread == wait.thread
            and event.group == (wait.group[0], None, False)
            and access.place < event.place < wait.place
        ]
        return len(between) > wait.group[1]

    def _fences(self, *names):
        fences = {number for number in self.all if {"F", "SC", *names} <= self.events[number].tags}
        return {(a, b) for a, f in self.relation("po") if f in fences for g, b in self.relation("po") if f == g}

    def _inside(self, name, other):
        return self.relation(name) & self.relation(other)

    def _relation(self, name):
        match name:
            case "rf" | "co" | "sync_fence":
                return getattr(self, name)
            case "fr":
                return {(r, w) for v, r in self.rf for u, w in self.co if u == v}
            case "id":
                return {(a, a) for a in self.all}
            case "po":
                return self._where(
                    lambda e, f: (
                        (e.operation, f.operation) == (None, None)
                        and e.thread is not None
                        and e.thread == f.thread
                        and e.place < f.place
                        and in_order(e, f)
                    )
                )
            case "asked":
                return self._where(
                    lambda e, f: e.thread == f.thread and e.operation != f.operation and e.place < f.place
                )
            case "within":
                return self._where(
                    lambda e, f: (
                        e.thread == f.thread
                        and e.operation is not None
                        and e.operation == f.operation
                        and e.place < f.place
                    )
                )
            case "retired":
                return self._where(self._is_retired)
            case "int":
                return self._where(lambda e, f: e.thread is not None and e.thread == f.thread)
            case "ext":
                return {(a, b) for a, b in self._where(lambda e, f: e.thread is None or e.thread != f.thread) if a != b}
            case "vloc":
                return self._where(lambda e, f: e.virtual is not None and e.virtual == f.virtual)
            case "loc":
                return self._where(lambda e, f: e.location is not None and e.location == f.location)
            case "addr" | "data" | "ctrl":
                return self._depends(name)
            case "rmw" | "amo":
                return self._where(lambda e, f: e.thread == f.thread and f.rmw is not None and e.place == f.rmw)
            case "lxsx":
                return set()
            case "ssw":
                return self._where(lambda e, f: (e.thread, f.thread) in self.synchronised)
            case "po-loc":
                return self._inside("po", "loc")
            case "rfe" | "rfi" | "coe" | "coi" | "fre" | "fri":
                return self._inside(name[:2], "ext" if name[2] == "e" else "int")
            case "swarp" | "ssg":
                return self._both_share(Scope.WARP)
            case "scta" | "swg" | "cta":
                return self._both_share(Scope.CTA)
            case "squeue" | "sqf" | "scluster":
                return self._both_share(Scope.QUEUE)
            case "sgpu" | "sdv" | "gl":
                return self._both_share(Scope.GPU)
            case "sys":
                return set(product(self.all, self.all))
            case "sr":
                return self._where(
                    lambda e, f: (
                        None not in (e.scope, f.scope) and self._shares(e, f, e.scope) and self._shares(f, e, f.scope)
                    )
                )
            case "awaits":
                return self._where(
                    lambda e, f: (
                        e.barrier is not None
                        and None not in (e.thread, f.thread)
                        and e.thread != f.thread
                        and self._shares(e, f, e.barrier[1])
                    )
                )
            case "syncbar":
                waits = {b for _, b in self.meet if "ARRIVE" not in self.events[b].tags}
                return {(a, b) for a, b in self.meet if b in waits and "WAIT" not in self.events[a].tags}
            case "membar.cta" | "membar.gl" | "membar.sys":
                return self._fences({"cta": "CTA", "gl": "GPU", "sys": "SYS"}[name.partition(".")[2]])
        return None

    def judge(self, syntax):
        """Whether the model allows the execution, and the flags that it raises."""
        names, allowed, flags = {}, True, set()
        for statement in syntax.statements:
            if isinstance(statement, ModelCheck):
                holds = self._check(statement, names)
                if not statement.flag:
                    allowed = allowed and holds
                elif holds:
                    flags.add(statement.name)
            elif not statement.recursive:
                (binding,) = statement.bindings
                names = names | {binding.name: self._bound(binding, names)}
            else:
                names = names | {binding.name: (None, frozenset()) for binding in statement.bindings}
                while True:
                    new = {binding.name: self.value(binding.body, names) for binding in statement.bindings}
                    if all(new[name][1] == names[name][1] for name in new):
                        break
                    names = names | new
                names = names | new
        return allowed, flags

    def _bound(self, binding, names):
        return (binding, names) if binding.parameters else self.value(binding.body, names)

    def _check(self, check, names):
        _, members = self.value(check.body, names)
        if check.kind == "empty":
            holds = not members
        else:
            pairs = transitive(members) if check.kind == "acyclic" else members
            holds = not any(a == b for a, b in pairs)
        return holds != check.negated

    def value(self, term, names):
        """A set or relation, as a kind (None: either, and empty) and its members."""
        match term:
            case Constant("0"):
                return None, frozenset()
            case Constant():
                return "set", self.all
            case Name(name):
                return names[name] if name in names else self.named(name)
            case Call(name, arguments):
                given = [self.value(argument, names) for argument in arguments]
                if name in names:
                    binding, around = names[name]
                    assert isinstance(binding, LetBinding)
                    return self.value(binding.body, around | dict(zip(binding.parameters, given, strict=True)))
                return self._built_in(name, given[0][1])
            case Operation(kind, operands):
                return self._operation(kind, [self.value(operand, names) for operand in operands])
        raise AssertionError(term)

    def _built_in(self, name, members):
        if name == "domain":
            return "set", frozenset(a for a, _ in members)
        if name == "range":
            return "set", frozenset(b for _, b in members)
        if name == "fencerel":
            po = self.relation("po")
            return "relation", frozenset((a, b) for a, f in po if f in members for g, b in po if f == g)
        first, second = (self.named(letter)[1] for letter in name)
        return "relation", frozenset((a, b) for a, b in members if a in first and b in second)

    def _operation(self, operation, values):
        kinds, members = [kind for kind, _ in values], [found for _, found in values]
        every = frozenset((a, a) for a in self.all)
        match operation:
            case "product":
                return "relation", frozenset(product(*members))
            case "identity":
                return "relation", frozenset((a, a) for a in members[0])
            case "compose":
                return "relation", compose(*members)
            case "inverse":
                return "relation", frozenset((b, a) for a, b in members[0])
            case "optional":
                return "relation", members[0] | every
            case "plus":
                return "relation", transitive(members[0])
            case "star":
                return "relation", transitive(members[0]) | every
            case "complement":
                whole = self.all if kinds[0] == "set" else frozenset(product(self.all, self.all))
                return kinds[0], whole - members[0]
            case "union":
                return kinds[0] or kinds[1], members[0] | members[1]
            case "intersection":
                return kinds[0] or kinds[1], members[0] & members[1]
            case "difference":
                return kinds[0], members[0] - members[1]
        raise AssertionError(operation)


def candidates(test, syntax, unroll=2):
    """Every candidate execution with the final values of the terms that the condition asks for."""
    start, columns = all_runs(test, unroll)
    asked = asked_terms(test)
    places = [thread.place for thread in test.threads]
    ordered = mentions(syntax, "sync_fence")
    for combination in product(*columns):
        happened = [event for run in combination for event in run.happened]
        memory = {name: found for name, (found, _) in addresses(test).items()}
        named = {memory[term.name] for term in asked if isinstance(term, Loc)}
        used = [name for name in start if name in named or any(event.location == name for event in happened)]
        initial = [
            Happening(
                None,
                place,
                frozenset({"W", "M", "IW", "WEAK", "NA", "GENERIC", "GEN"} | REGION_NAMES[region]),
                name,
                name,
                start[name],
            )
            for place, (name, region) in enumerate(
                (location.name, location.region) for location in test.locations if location.name in used
            )
        ]
        events = [*initial, *happened]
        writes = {
            name: [at for at, event in enumerate(events) if "W" in event.tags and event.location == name]
            for name in used
        }
        reads = [at for at, event in enumerate(events) if "R" in event.tags]
        sources = [
            [at for at in writes[events[read].location] if events[at].value == events[read].value] for read in reads
        ]
        coherence = [list(coherence_orders(found, syntax.partial_co, name in named)) for name, found in writes.items()]
        fences = list(fence_orders(events, places)) if ordered else [frozenset()]
        ways = meetings(test, events)
        for chosen in product(*sources):
            for orders in product(*coherence):
                finals = dict(zip(writes, (events[last].value for _, last in orders), strict=True))
                ends = tuple(
                    combination[term.thread].value(Reg(term.register))[0]
                    if isinstance(term, FinalRegister)
                    else finals[memory[term.name]]
                    for term in asked
                )
                co = frozenset().union(*(order for order, _ in orders))
                for sync_fence, meet in product(fences, ways):
                    rf = zip(chosen, reads, strict=True)
                    execution = Execution(events, places, rf, co, sync_fence, meet, test.synchronised)
                    yield execution, dict(zip(asked, ends, strict=True))


def coherence_orders(writes, partial, asked):
    """Orders of the writes to a location, the first before all, each with a write that may be last."""
    first, *others = writes
    for order in partial_orders(len(others)):
        pairs = frozenset({(first, other) for other in others} | {(others[a], others[b]) for a, b in order})
        last = [write for write in writes if not any(a == write for a, _ in pairs)]
        if partial or len(order) == len(others) * (len(others) - 1) // 2:
            for final in last if asked else last[:1]:
                yield pairs, final


def fence_orders(events, places):
    """Orders of the ``fence.sc`` events that are in one thread or in each other's scope."""
    fences = [at for at, event in enumerate(events) if {"F", "SC"} <= event.tags]

    def reaches(one, other):
        depth = (events[one].scope or Scope.SYS).value
        return places[events[one].thread][:depth] == places[events[other].thread][:depth]

    pairs = [
        (one, other)
        for one, other in combinations(fences, 2)
        if events[one].thread == events[other].thread or (reaches(one, other) and reaches(other, one))
    ]
    directed = product(*(((one, other), (other, one)) for one, other in pairs))
    orders = {transitive(frozenset(chosen)) for chosen in directed}
    return {order for order in orders if not any(a == b for a, b in order)}


def mentions(syntax, name):
    """Whether a base name stands in a model."""

    def inside(term):
        if isinstance(term, Name):
            return term.name == name
        return any(map(inside, getattr(term, "operands", getattr(term, "arguments", ()))))

    return any(
        any(
            map(inside, [statement.body] if isinstance(statement, ModelCheck) else [b.body for b in statement.bindings])
        )
        for statement in syntax.statements
    )


def atoms(proposition):
    """The comparisons of a proposition."""
    match proposition:
        case Atom():
            return [proposition]
        case Not(body):
            return atoms(body)
    return [atom for part in proposition.parts for atom in atoms(part)]


def holds(proposition, finals):
    """Whether a proposition is true of final values."""
    match proposition:
        case Atom(operation, left, right):
            return compute(operation, *(finals.get(term, term) for term in (left, right))) == 1
        case Not(body):
            return not holds(body, finals)
        case And(parts):
            return all(holds(part, finals) for part in parts)
        case Or(parts):
            return any(holds(part, finals) for part in parts)
    raise AssertionError(proposition)


def judge(test, syntax, unroll=2):
    """The verdict of a model, given as a syntax tree."""
    executions = matching = violating = 0
    flags, outcomes = set(), set()
    condition = test.condition
    for execution, finals in candidates(test, syntax, unroll):
        allowed, raised = execution.judge(syntax)
        if allowed:
            executions += 1
            outcomes.add(frozenset(finals.items()))
            if condition.filter is None or holds(condition.filter, finals):
                flags |= raised
                satisfied = holds(condition.proposition, finals)
                matching, violating = matching + satisfied, violating + (not satisfied)
    return Verdict(executions, matching, violating, frozenset(flags), frozenset(outcomes))
