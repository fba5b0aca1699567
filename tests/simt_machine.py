"""Random programs of subgroups, and machines that run them one instruction at a time: a second way to the verdicts of
``oracle.progress.stepping``.

Programs are trees of statements, from which both the code of a litmus test and the tangles of lanes come: a *path* says
where in the tree a lane is and in which round of each loop, and lanes with one path are in one tangle. The machine in
lock step is a stack of entries (Fung et al. 2007), whose post-dominators are found by taking places away.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from corpus.litmus.instructions import Assign, Branch, Comparison, GroupOperation, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Reg
from corpus.litmus.orders import Place
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

REGISTERS = ("r0", "r1", "r2")
"""A lane's number, what it has read, and what an operation has told it."""
LOCATIONS = ("x", "y")
NEGATED = {"eq": "ne", "ne": "eq"}


# Programs


def random_program(rng, depth=2, loop=False):
    """A list of statements: ("op", instruction), ("if", condition, then, otherwise), ("do", body, condition),
    ("break", condition)."""
    body = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(["op", "op", "op", "if", "if", "do", "spin", "group"] + ["break"] * loop)
        if depth == 0 and kind in ("if", "do", "spin"):
            kind = "op"
        if kind == "op":
            body.append(("op", _access(rng)))
        elif kind == "group":
            body.append(("op", _group(rng)))
        elif kind == "if":
            otherwise = random_program(rng, depth - 1, loop) if rng.random() < 0.4 else []
            body.append(("if", _condition(rng), random_program(rng, depth - 1, loop), otherwise))
        elif kind == "do":
            body.append(("do", random_program(rng, depth - 1, True), _condition(rng)))
        elif kind == "spin":
            wait = rng.choice([Load("r1", Loc("x")), Load("r1", Loc("x")), Rmw("exch", "r1", Loc("y"), (1,))])
            body.append(("do", [("op", wait)], ("eq", "r1", int(isinstance(wait, Rmw)))))
        else:
            body.append(("break", _condition(rng)))
    return body


SPIN = ("do", [("op", Load("r1", Loc("x")))], ("eq", "r1", 0))
SIGNAL = ("op", Store(Loc("x"), 1))
LOCK = ("do", [("op", Rmw("exch", "r1", Loc("y"), (1,)))], ("eq", "r1", 1))
UNLOCK = ("op", Store(Loc("y"), 0))
VOTE = ("op", GroupOperation("any", "r2", (Reg("r0"),)))
MEET = ("op", GroupOperation("barrier", None, (), 3))
PARTS = ([], [SPIN], [SIGNAL], [SIGNAL, SPIN], [LOCK, UNLOCK], [VOTE], [MEET])


def crossing_programs():
    """Programs whose two lanes part, do one thing each, and do one together: each as a list of statements."""
    for then, otherwise, tail in product(PARTS, PARTS, ([], [SIGNAL], [SPIN], [VOTE, SIGNAL])):
        yield [("if", ("eq", "r0", 0), then, otherwise), *tail]


def locking_programs():
    """Programs whose lanes all want a lock, with an operation before, in or behind what it guards."""
    for before, inside, behind in product(([], [VOTE], [MEET]), ([], [VOTE], [MEET], [SIGNAL]), ([], [SPIN], [VOTE])):
        yield [*before, LOCK, *inside, UNLOCK, *behind]


def _condition(rng):
    return rng.choice(["eq", "ne"]), rng.choice(["r0", "r0", "r1", "r2"]), rng.randint(0, 1)


def _access(rng):
    where = Loc(rng.choice(LOCATIONS))
    return rng.choice(
        [
            Load("r1", where),
            Load("r1", where),
            Store(where, rng.choice([1, 1, 0, Reg("r0")])),
            Rmw("exch", "r1", where, (1,)),
        ]
    )


def _group(rng):
    value = Reg(rng.choice(["r0", "r1"]))
    masked = 3 if rng.random() < 0.25 else None
    return rng.choice(
        [
            GroupOperation("any", "r2", (value,), masked),
            GroupOperation("all", "r2", (value,), masked),
            GroupOperation("elect", "r2", (), masked),
            GroupOperation("barrier", None, (), masked),
        ]
    )


@dataclass
class Code:
    """Instructions with, for each, where in the tree it stands: indices, and ("do", number) for the loops around."""

    instructions: list
    places: list
    labels: int = 0

    def put(self, ins, place):
        self.instructions.append(ins)
        self.places.append(place)

    def label(self):
        self.labels += 1
        return f"LC{self.labels:02}"


def compiled(program):
    """The code of a program."""
    code = Code([], [])
    _compile(program, code, (), None)
    return code


def _compile(body, code, place, out):
    for index, statement in enumerate(body):
        here = (*place, index)
        match statement:
            case ("op", ins):
                code.put(ins, here)
            case ("break", (operation, register, value)):
                code.put(Branch(out, Comparison(operation, Reg(register), value)), here)
            case ("if", (operation, register, value), then, otherwise):
                other, end = code.label(), code.label()
                code.put(Branch(other, Comparison(NEGATED[operation], Reg(register), value)), here)
                _compile(then, code, (*here, "then"), out)
                if otherwise:
                    code.put(Branch(end), (*here, "then", len(then)))
                code.put(Label(other), (*here, "else", -1) if otherwise else (*here, "end"))
                _compile(otherwise, code, (*here, "else"), out)
                code.put(Label(end), (*here, "end"))
            case ("do", inner, (operation, register, value)):
                head, end = code.label(), code.label()
                code.put(Label(head), (*here, "do", -1))
                _compile(inner, code, (*here, "do"), end)
                code.put(Branch(head, Comparison(operation, Reg(register), value)), (*here, "do", len(inner)))
                code.put(Label(end), (*here, "end"))


def as_test(code, subgroups):
    """The litmus test of a program whose threads have these subgroups; each starts with its number in its own."""
    threads = []
    for tid, subgroup in enumerate(subgroups):
        number = subgroups[:tid].count(subgroup)
        threads.append(Thread(tuple(code.instructions), Place(warp=subgroup), (("r0", number),) if number else ()))
    locations = tuple(Location(name) for name in LOCATIONS)
    return LitmusTest("random", tuple(threads), locations, Condition(Quantifier.EXISTS, And(())))


# What one lane does with one instruction


def after(code, labels, lane, memory):
    """The lane (pc, registers) and memory after an instruction that is no operation of a subgroup."""
    pc, registers = lane
    known = dict(zip(REGISTERS, registers, strict=True))
    cells = dict(zip(LOCATIONS, memory, strict=True))
    ins = code.instructions[pc]
    going = pc + 1
    match ins:
        case Load(target, Loc(name)):
            known[target] = cells[name]
        case Store(Loc(name), value):
            cells[name] = known[value.name] if isinstance(value, Reg) else value
        case Rmw("exch", target, Loc(name), (value,)):
            known[target], cells[name] = cells[name], value
        case Branch(label, None):
            going = labels[label]
        case Branch(label, Comparison(operation, Reg(name), value)):
            if (known[name] == value) == (operation == "eq"):
                going = labels[label]
        case Assign():
            raise AssertionError("no such instruction is made")
    return (going, tuple(known.values())), tuple(cells.values())


def told(ins, lane, party):
    """The lane after an operation, given the lanes that do it by their numbers."""
    number, (pc, registers) = lane
    known = dict(zip(REGISTERS, registers, strict=True))

    def brought(other):
        value = ins.operands[0]
        return dict(zip(REGISTERS, other[1], strict=True))[value.name]

    if ins.operation in ("any", "all"):
        known["r2"] = int({"any": any, "all": all}[ins.operation](brought(other) for other in party.values()))
    elif ins.operation == "elect":
        known["r2"] = int(number == min(party))
    return pc + 1, tuple(known.values())


# Machines. A machine has a start state and, for a state, its steps, (who, state after), and who has not ended.


class Threads:
    """Independent lanes, and maximal ones, which wait for their tangle."""

    def __init__(self, code, subgroups, maximal):
        self.code, self.subgroups, self.maximal = code, subgroups, maximal
        self.labels = {ins.name: pc for pc, ins in enumerate(code.instructions) if isinstance(ins, Label)}
        self.end = len(code.instructions)
        self.counted = {
            place[: at + 1]
            for ins, place in zip(code.instructions, code.places, strict=True)
            if isinstance(ins, GroupOperation) and ins.mask is None
            for at, part in enumerate(place)
            if part == "do"
        }
        """The loops with operations that are done in tangles."""

    def start(self):
        lanes = tuple((0, (self.number(tid), 0, 0)) for tid in range(len(self.subgroups)))
        place = self.place(0)
        rounds = tuple((loop, 0) for loop in self.around(place))
        return (0,) * len(LOCATIONS), lanes, frozenset(), (rounds if self.maximal else (),) * len(lanes)

    def number(self, tid):
        return self.subgroups[:tid].count(self.subgroups[tid])

    def mates(self, tid):
        return [other for other, group in enumerate(self.subgroups) if group == self.subgroups[tid]]

    def unfinished(self, state):
        return [tid for tid, (pc, _) in enumerate(state[1]) if pc < self.end]

    def steps(self, state):
        memory, lanes, come, rounds = state
        for tid in self.unfinished(state):
            ins = self.code.instructions[lanes[tid][0]]
            if not isinstance(ins, GroupOperation):
                lane, cells = after(self.code, self.labels, lanes[tid], memory)
                yield tid, self.settled(cells, self.put(lanes, tid, lane), come, self.rounds(rounds, tid, lanes, lane))
            elif tid not in come:
                yield tid, self.settled(memory, lanes, come | {tid}, rounds)
            elif ins.mask is None and not self.maximal:
                party = [each for each in self.mates(tid) if each in come and lanes[each][0] == lanes[tid][0]]
                yield tid, self.settled(*self.done(memory, lanes, come, rounds, party))

    @staticmethod
    def put(lanes, tid, lane):
        return (*lanes[:tid], lane, *lanes[tid + 1 :])

    def rounds(self, rounds, tid, lanes, lane):
        """The rounds of the loops that a lane is in, as ((loop, round), ..), after it has gone on."""
        new = self.place(lane[0])
        known = dict(rounds[tid])
        back = lane[0] <= lanes[tid][0]  # only loops jump back
        found = []
        for loop in self.around(new):
            count = known.get(loop, 0)
            found.append((loop, count + 1 if back and new == (*loop, -1) else count))
        return self.put(rounds, tid, tuple(found))

    def around(self, place):
        """The counted loops around a place, outermost first."""
        return [place[: at + 1] for at, part in enumerate(place) if part == "do" and place[: at + 1] in self.counted]

    def place(self, pc):
        return self.code.places[pc] if pc < self.end else ()

    def path(self, pc, rounds):
        """Where a lane is, with rounds: comparable, as far as no two sides of an if differ."""
        known = dict(rounds)
        place = self.place(pc)
        return [known.get(place[: at + 1], 0) if part == "do" else part for at, part in enumerate(place)]

    def may_come(self, pc, rounds, goal):
        """Whether a lane may still come to a path."""
        if pc == self.end:
            return False
        for mine, wanted in zip(self.path(pc, rounds), goal, strict=False):
            if mine != wanted:
                return isinstance(mine, int) and isinstance(wanted, int) and mine < wanted
        return len(self.path(pc, rounds)) <= len(goal)

    def settled(self, memory, lanes, come, rounds):
        """The state after the operations that now can be done are done."""
        for tid in sorted(come):
            ins = self.code.instructions[lanes[tid][0]]
            if ins.mask is not None:
                wanted = [each for each in self.mates(tid) if ins.mask >> self.number(each) & 1]
                wanted = [each for each in wanted if lanes[each][0] < self.end]
                others = [self.code.instructions[lanes[each][0]] for each in wanted]
                party = (
                    wanted
                    if all(
                        each in come and (other.operation, other.mask) == (ins.operation, ins.mask)
                        for each, other in zip(wanted, others, strict=True)
                    )
                    else []
                )
            elif self.maximal:
                goal = self.path(lanes[tid][0], rounds[tid])
                mates = self.mates(tid)
                party = [each for each in mates if each in come and self.path(lanes[each][0], rounds[each]) == goal]
                rest = [each for each in mates if each not in party]
                if any(self.may_come(lanes[each][0], rounds[each], goal) for each in rest):
                    party = []
            else:
                party = []
            if party:
                return self.settled(*self.done(memory, lanes, come, rounds, party))
        return memory, lanes, come, self.normal(lanes, rounds) if self.maximal else ((),) * len(lanes)

    def done(self, memory, lanes, come, rounds, party):
        brought = {self.number(each): lanes[each] for each in party}
        for each in party:
            ins = self.code.instructions[lanes[each][0]]
            lane = told(ins, (self.number(each), brought[self.number(each)]), brought)
            rounds = self.rounds(rounds, each, lanes, lane)
            lanes = self.put(lanes, each, lane)
        return memory, lanes, come - set(party), rounds

    def normal(self, lanes, rounds):
        """The rounds of each loop, counted from the least that anybody is in or may come to."""
        found = [dict(each) for each in rounds]
        for tid in range(len(lanes)):
            for loop in [loop for loop, _ in rounds[tid]]:
                inside = [
                    each
                    for each in self.mates(tid)
                    if self.instance(found[each], loop) == self.instance(found[tid], loop)
                ]
                goal = [
                    found[tid].get(loop[: at + 1], 0) if part == "do" else part for at, part in enumerate(loop[:-1])
                ]
                late = [
                    each
                    for each in self.mates(tid)
                    if each not in inside and self.may_come(lanes[each][0], tuple(found[each].items()), [*goal, "do"])
                ]
                if not late:
                    least = min(found[each][loop] for each in inside)
                    for each in inside:
                        found[each][loop] -= least
        if any(count > 20 for each in found for count in each.values()):
            raise OverflowError
        return tuple(tuple(each.items()) for each in found)

    @staticmethod
    def instance(rounds, loop):
        """The loop's own key where a lane is in it, with the rounds of the loops around it."""
        if loop not in rounds:
            return None
        return [count for outer, count in rounds.items() if outer != loop and outer == loop[: len(outer)]]


class Stacks:
    """Lanes in lock step: a stack of (pc, join, lanes, lanes that still have to do the instruction) a subgroup."""

    def __init__(self, code, subgroups, order=None):
        self.code, self.subgroups, self.order = code, subgroups, order
        self.labels = {ins.name: pc for pc, ins in enumerate(code.instructions) if isinstance(ins, Label)}
        self.end = len(code.instructions)
        self.groups = [
            tuple(tid for tid, group in enumerate(subgroups) if group == each) for each in dict.fromkeys(subgroups)
        ]

    def number(self, tid):
        return self.subgroups[:tid].count(self.subgroups[tid])

    def start(self):
        registers = tuple((self.number(tid), 0, 0) for tid in range(len(self.subgroups)))
        stacks = tuple(((0, self.end, group, group),) for group in self.groups)
        return (0,) * len(LOCATIONS), registers, stacks, frozenset()

    def unfinished(self, state):
        return [group for group, stack in zip(self.groups, state[2], strict=True) if stack]

    def popped(self, stack):
        while stack and stack[-1][0] == stack[-1][1]:
            stack = stack[:-1]
        return stack

    def flow(self, pc):
        ins = self.code.instructions[pc]
        if not isinstance(ins, Branch):
            return [pc + 1]
        return [self.labels[ins.label]] if ins.condition is None else [pc + 1, self.labels[ins.label]]

    def reaches(self, start, goal, without=None):
        seen, queue = set(), [start]
        while queue:
            pc = queue.pop()
            if pc == goal:
                return True
            if pc not in seen and pc != without and pc != self.end:
                seen.add(pc)
                queue += self.flow(pc)
        return False

    def join(self, branch):
        """The first place that every way from a branch to the end passes."""
        every = [
            pc
            for pc in range(self.end + 1)
            if pc != branch and self.reaches(branch, pc) and (pc == self.end or not self.reaches(branch, self.end, pc))
        ]
        return next(pc for pc in every if all(self.reaches(pc, other) for other in every))

    def steps(self, state):
        memory, registers, stacks, come = state
        for number, (group, stack) in enumerate(zip(self.groups, stacks, strict=True)):
            if not stack:
                continue
            pc, join, lanes, todo = stack[-1]
            ins = self.code.instructions[pc]

            def on(changed, registers=registers, memory=memory, come=come, number=number):
                kept = (*stacks[:number], self.popped(changed), *stacks[number + 1 :])
                return memory, registers, kept, come

            def set_all(changes, registers=registers):
                return tuple(changes.get(tid, values) for tid, values in enumerate(registers))

            if isinstance(ins, GroupOperation):
                wanted = lanes if ins.mask is None else [tid for tid in group if ins.mask >> self.number(tid) & 1]
                running = {tid for entry in stack for tid in entry[2]}
                if ins.mask is not None and any(tid in running and tid not in lanes for tid in wanted):
                    continue  # it waits for a lane that is masked
                party = [tid for tid in wanted if tid in lanes]
                brought = {self.number(tid): (pc, registers[tid]) for tid in party}
                changes = {tid: told(ins, (self.number(tid), (pc, registers[tid])), brought)[1] for tid in party}
                yield group, on((*stack[:-1], (pc + 1, join, lanes, lanes)), registers=set_all(changes))
            elif isinstance(ins, Branch):
                going = {tid: after(self.code, self.labels, (pc, registers[tid]), memory)[0][0] for tid in lanes}
                if len(set(going.values())) == 1:
                    yield group, on((*stack[:-1], (going[lanes[0]], join, lanes, lanes)))
                    continue
                meet, jump = self.join(pc), self.labels[ins.label]
                sides = [tuple(tid for tid in lanes if going[tid] == to) for to in (jump, pc + 1)]
                orders = [(jump, pc + 1), (pc + 1, jump)]
                for order in orders if self.order is None else [orders[self.order]]:
                    above = [
                        (to, meet, sides[0 if to == jump else 1], sides[0 if to == jump else 1])
                        for to in reversed(order)
                    ]
                    pushed = (*stack[:-1], (meet, join, lanes, lanes))
                    for entry in above:
                        pushed = (*pushed, entry)
                    yield group, on(pushed)
            else:
                for tid in todo:
                    (going, values), cells = after(self.code, self.labels, (pc, registers[tid]), memory)
                    left = tuple(each for each in todo if each != tid)
                    entry = (pc, join, lanes, left) if left else (going, join, lanes, lanes)
                    yield group, on((*stack[:-1], entry), registers=set_all({tid: values}), memory=cells)


# Verdicts, by who of all that take steps is promised execution


def guarantees(whole):
    """Who of those that run is promised execution, by who has taken a step; ``whole``: the lanes of one of them."""

    def lowest(running, stepped):
        return {min(running, key=whole)} if running else set()

    return {
        "unfair": lambda running, stepped: set(),
        "hsa": lowest,
        "obe": lambda running, stepped: running & stepped,
        "fair": lambda running, stepped: set(running),
    }


def machine_verdicts(machine, whole, most=6000):
    """The verdicts, by guarantee and reading, or None where there are too many states."""
    index = {machine.start(): 0}
    states = list(index)
    edges = []
    for state in states:
        row = []
        for who, target in machine.steps(state):
            if target not in index:
                index[target] = len(states)
                states.append(target)
                if len(states) > most:
                    return None
            row.append((who, index[target]))
        if not row:
            row = [(who, index[state]) for who in machine.unfinished(state)]
        edges.append(row)
    nodes = {(0, frozenset()): 0}
    queue = list(nodes)
    graph = []
    for state, stepped in queue:
        row = []
        for who, target in edges[state]:
            key = target, stepped | {who}
            if key not in nodes:
                nodes[key] = len(queue)
                queue.append(key)
            row.append((who, nodes[key]))
        graph.append(row)
    found = {}
    for name, guarantee in guarantees(whole).items():
        promised = [
            guarantee({who for who, _ in row}, set(stepped)) for row, (_, stepped) in zip(graph, queue, strict=True)
        ]
        found[f"{name}-weak"] = _hangs(graph, promised, set(range(len(graph))), False)
        found[f"{name}-strong"] = _hangs(graph, promised, set(range(len(graph))), True)
    return found


def _hangs(graph, promised, inside, strong):
    """Whether a run may stay within some nodes for ever and keep the promise."""
    for part in _strong_parts(graph, inside):
        movers = {who for node in part for who, after in graph[node] if after in part}
        if not movers:
            continue
        if not strong:
            if set.intersection(*(promised[node] for node in part)) <= movers:
                return True
            continue
        kept = {node for node in part if promised[node] <= {who for who, after in graph[node] if after in part}}
        if kept == part or (kept and _hangs(graph, promised, kept, True)):
            return True
    return False


def _strong_parts(graph, inside):
    """Strongly connected components, by two searches (Kosaraju)."""
    order, seen = [], set()
    back = {node: [] for node in inside}
    for root in sorted(inside):
        for _, after_ in graph[root]:
            if after_ in inside:
                back[after_].append(root)
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(graph[root]))]
        while path:
            node, rest = path[-1]
            going = next((after_ for _, after_ in rest if after_ in inside and after_ not in seen), None)
            if going is None:
                order.append(node)
                path.pop()
            else:
                seen.add(going)
                path.append((going, iter(graph[going])))
    done = set()
    for root in reversed(order):
        if root in done:
            continue
        part, queue = {root}, [root]
        done.add(root)
        while queue:
            for before in back[queue.pop()]:
                if before not in done:
                    done.add(before)
                    part.add(before)
                    queue.append(before)
        yield part
