"""Random kernels of warps, and a machine that runs them one instruction at a time: a second way to what ``synth check``
says of masks, lanes that have ended, and barriers in branches.

The machine follows the sentences of PTX ISA 9.1, 9.7.13: a lane that is not in the mask it names is undefined; lanes
meet that do the same with the same mask, and those that have ended are not waited for; a shuffle from a lane that does
not come gives an undefined value; a barrier waits for all threads of the block that have not ended; all threads of a
warp execute the same aligned one. Barriers order what is before them and what is behind them (vector clocks); votes,
shuffles and the end of a thread order nothing. But for races, all that these kernels do is determined by their code,
so one run tells all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WARP = 4
"""The lanes of a warp."""

SHARED = 3
"""The words that all lanes access; each lane has a further one of its own."""

UNDEFINED = "undefined"
"""A value that the ISA leaves undefined."""


# Kernels: trees of statements


def random_kernel(rng, threads, depth=3):
    """Statements: ("st", place, value), ("ld", place), ("sync", mask), ("bar", opcode, number), ("ballot", test, mask),
    ("vote", mode, test, mask), ("shfl", mode, by, mask), ("redux", operation, mask), ("if", test, then, else),
    ("loop", rounds, body), ("ret",). A test is ("t", comparison, number), ("c", number), ("v",) or ("q",).
    """
    return _block(rng, threads, depth, (1 << WARP) - 1)


def _block(rng, threads, depth, mask):
    """Statements, most of which name the lanes of a mask, those that are expected to come here."""
    return [_statement(rng, threads, depth, mask) for _ in range(rng.randint(1, 3))]


def _statement(rng, threads, depth, mask):
    kind = rng.choice(["st", "st", "ld", "ld", "sync", "sync", "sync", "if", "if", "if", "vote", "shfl", "bar", "more"])
    if kind == "more":
        kind = rng.choice(["ret", "ballot", "redux", "loop", "bar"])
    if depth == 0 and kind in ("if", "loop"):
        kind = "sync"
    named = mask if rng.random() < 0.85 else rng.choice([3, 12, 5, 7, 15, "pair", "ballot"])
    match kind:
        case "st":
            return "st", _place(rng), rng.choice([1, 2, "v", "t"])
        case "ld":
            return "ld", _place(rng)
        case "sync":
            return "sync", named
        case "bar":
            opcode = rng.choice(["bar.sync", "bar.sync", "barrier.sync", "barrier.sync.aligned"])
            return "bar", opcode, rng.choice([0, 0, 0, 1])
        case "ballot":
            return "ballot", _test(rng), named
        case "vote":
            return "vote", rng.choice(["any", "all", "uni"]), _test(rng), named
        case "shfl":
            mode = rng.choice(["idx", "bfly", "up", "down"])
            return "shfl", mode, rng.choice([0, 1, 2, "next"] if mode == "idx" else [1, 2]), named
        case "redux":
            return "redux", rng.choice(["add", "max", "or"]), named
        case "if":
            test = _test(rng)
            then = otherwise = mask
            if test[0] == "t":
                lanes = [lane for lane in range(WARP) if _compared(test, lane)]
                then = mask & sum(1 << lane for lane in lanes)
                otherwise = mask & ~then
            second = _block(rng, threads, depth - 1, otherwise or mask) if rng.random() < 0.5 else []
            return "if", test, _block(rng, threads, depth - 1, then or mask), second
        case "loop":
            return "loop", rng.choice([2, 2, "t"]), _block(rng, threads, depth - 1, mask)
    return ("ret",)


def _place(rng):
    return rng.choice([*range(SHARED), "own", "own", "own"])


def _test(rng):
    return rng.choice(
        [("t", "lt", rng.randint(1, 3)), ("t", "eq", rng.randint(0, 3)), ("c", rng.randint(0, 1)), ("v",), ("q",)]
    )


def _compared(test, lane):
    return lane < test[2] if test[1] == "lt" else lane == test[2]


# Code: a list of instructions, with jumps to places


@dataclass
class Code:
    """Instructions of the machine, each with its line of PTX text."""

    instructions: list = field(default_factory=list)
    text: list = field(default_factory=list)
    labels: int = 0

    def put(self, ins, text):
        self.instructions.append(ins)
        self.text.append(text)
        return len(self.instructions) - 1

    def here(self):
        self.labels += 1
        self.text[-1] += f"\n$L{self.labels}:"
        return f"$L{self.labels}", len(self.instructions)


def compiled(program):
    """The code of a program."""
    code = Code()
    code.put(("nothing",), "mov.u32 %r2, 0;")
    _compile(program, code, 0)
    code.put(("ret",), "ret;")
    return code


def _mask_text(mask):
    return {"pair": "%r6", "ballot": "%r7"}.get(mask, str(mask))


def _place_text(place):
    return "[%rd5]" if place == "own" else f"[%rd1+{4 * place}]"


def _test_text(test):
    match test:
        case ("t", comparison, number):
            return f"setp.{comparison}.u32 %p1, %r8, {number};"
        case ("c", number):
            return f"ld.global.u32 %r9, [%rd3+{4 * number}]; setp.ne.u32 %p1, %r9, 0;"
        case ("v",):
            return "setp.ne.u32 %p1, %r2, 0;"
    return "setp.ne.u32 %p1, %r5, 0;"


def _compile(body, code, depth):
    for statement in body:
        match statement:
            case ("st", place, value):
                register = {"v": "%r2", "t": "%r1"}.get(value, value)
                code.put(statement, f"st.global.u32 {_place_text(place)}, {register};")
            case ("ld", place):
                code.put(statement, f"ld.global.u32 %r2, {_place_text(place)};")
            case ("sync", mask):
                code.put(statement, f"bar.warp.sync {_mask_text(mask)};")
            case ("bar", opcode, number):
                code.put(statement, f"{opcode} {number};")
            case ("ballot", test, mask):
                code.put(statement, f"{_test_text(test)} vote.sync.ballot.b32 %r7, %p1, {_mask_text(mask)};")
            case ("vote", mode, test, mask):
                voted = f"vote.sync.{mode}.pred %p2, %p1, {_mask_text(mask)}; selp.u32 %r5, 1, 0, %p2;"
                code.put(statement, f"{_test_text(test)} {voted}")
            case ("shfl", mode, by, mask):
                by_text = "%r4" if by == "next" else by
                bounds = 0 if mode == "up" else 31
                code.put(statement, f"shfl.sync.{mode}.b32 %r2, %r2, {by_text}, {bounds}, {_mask_text(mask)};")
            case ("redux", operation, mask):
                kind = "b32" if operation == "or" else "u32"
                code.put(statement, f"redux.sync.{operation}.{kind} %r2, %r2, {_mask_text(mask)};")
            case ("ret",):
                code.put(statement, "ret;")
            case ("if", test, then, otherwise):
                _compile_if(test, then, otherwise, code, depth)
            case ("loop", rounds, inner):
                counter = f"%r{10 + depth}"
                code.put(("set", depth), f"mov.u32 {counter}, 0;")
                label, back = code.here()
                _compile(inner, code, depth + 1)
                most = "%r8" if rounds == "t" else rounds
                more = f"add.u32 {counter}, {counter}, 1; setp.lt.u32 %p1, {counter}, {most}; @%p1 bra {label};"
                code.put(("again", depth, rounds, back), more)


def _compile_if(test, then, otherwise, code, depth):
    start = code.put(None, "")
    _compile(then, code, depth)
    over = code.put(None, "") if otherwise else None
    other, place = code.here()
    code.instructions[start] = ("unless", test, place)
    code.text[start] = f"{_test_text(test)} @!%p1 bra {other};" + code.text[start]
    if over is not None:
        _compile(otherwise, code, depth)
        end, place = code.here()
        code.instructions[over] = ("jump", place)
        code.text[over] = f"bra {end};" + code.text[over]


def ptx_of(code):
    """The text of a kernel of PTX: ``a`` is what lanes access, ``c`` what only decides."""
    body = "\n".join(code.text)
    return f"""
.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .u64 c) {{
.reg .pred %p<9>;
.reg .b32 %r<20>;
.reg .b64 %rd<9>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [out];
ld.param.u64 %rd3, [c];
mov.u32 %r1, %tid.x;
mov.u32 %r8, %laneid;
mov.u32 %r5, 0;
mov.u32 %r7, 0;
add.u32 %r4, %r8, 1;
and.b32 %r4, %r4, {WARP - 1};
and.b32 %r9, %r8, 2;
shl.b32 %r6, 3, %r9;
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd5, %rd1, %rd4;
add.s64 %rd5, %rd5, {4 * SHARED};
{body}
}}
"""


# The machine


class UndefinedControlError(Exception):
    """The error for a branch on an undefined value."""


@dataclass
class Lane:
    """A lane: where it is, what it holds, what it waits for, and what is before it."""

    number: int
    clock: list
    pc: int = 0
    v: object = 0
    q: object = 0
    ballot: int = 0
    rounds: dict = field(default_factory=dict)
    waits: object = None
    ended: bool = False


class Machine:
    """Runs a kernel; ``found`` is what is wrong: "race", "lane" (a mask without the lane), "barrier" (for ever)."""

    def __init__(self, code, threads, decided, rng):
        self.code, self.threads, self.decided, self.rng = code.instructions, threads, decided, rng
        self.lanes = [Lane(n, [0] * threads) for n in range(threads)]
        self.memory = [0] * (SHARED + threads)
        self.writes = [None] * len(self.memory)
        self.reads = [[] for _ in self.memory]
        self.found = set()

    def run(self):
        """Run to the end, or until nobody can go on."""
        while True:
            able = [lane for lane in self.lanes if not lane.ended and lane.waits is None]
            if able:
                self.step(self.rng.choice(able))
            elif not any(self.meet(lane) for lane in self.lanes if lane.waits is not None):
                if any(not lane.ended for lane in self.lanes):
                    self.found.add("barrier")
                return self

    def warp(self, lane):
        return [each for each in self.lanes if each.number // WARP == lane.number // WARP]

    def mask(self, lane, mask):
        inside = lane.number % WARP
        return {"pair": 3 << (inside & 2), "ballot": lane.ballot}.get(mask, mask)

    def test(self, lane, test):
        match test:
            case ("t", _, _):
                return _compared(test, lane.number % WARP)
            case ("c", number):
                return self.decided[number] != 0
            case ("v",):
                found = lane.v
            case _:
                found = lane.q
        if found == UNDEFINED:
            raise UndefinedControlError
        return found != 0

    def step(self, lane):
        """Do one instruction of a lane, or have it wait for others there."""
        ins = self.code[lane.pc]
        lane.clock[lane.number] += 1
        match ins:
            case ("st", place, value):
                self.access(lane, place, True)
                where = SHARED + lane.number if place == "own" else place
                self.memory[where] = {"v": lane.v, "t": lane.number}.get(value, value)
            case ("ld", place):
                self.access(lane, place, False)
                lane.v = self.memory[SHARED + lane.number if place == "own" else place]
            case ("ret",):
                lane.ended = True
                return
            case ("unless", test, place):
                lane.pc = lane.pc + 1 if self.test(lane, test) else place
                return
            case ("jump", place):
                lane.pc = place
                return
            case ("set", depth):
                lane.rounds[depth] = 0
            case ("again", depth, rounds, back):
                lane.rounds[depth] += 1
                if lane.rounds[depth] < (lane.number % WARP if rounds == "t" else rounds):
                    lane.pc = back
                    return
            case ("bar", _, _):
                lane.waits = ins
                return
            case ("sync" | "ballot" | "vote" | "shfl" | "redux", *_):
                mask = self.mask(lane, ins[-1])
                if not mask >> lane.number % WARP & 1:
                    self.found.add("lane")
                    lane.ended = True
                    return
                if ins[0] in ("vote", "ballot"):
                    self.test(lane, ins[-2])
                lane.waits = (ins[0] if ins[0] in ("sync", "ballot") else ins[:2], mask)
                return
        lane.pc += 1

    def access(self, lane, place, writes):
        where = SHARED + lane.number if place == "own" else place
        before = [self.writes[where], *(self.reads[where] if writes else [])]
        for who, when in filter(None, before):
            if who != lane.number and lane.clock[who] < when:
                self.found.add("race")
        mark = lane.number, lane.clock[lane.number]
        if writes:
            self.writes[where], self.reads[where] = mark, []
        else:
            self.reads[where].append(mark)

    def meet(self, lane):
        """Have those go on that wait where a lane waits, if all have come; return whether they do."""
        if lane.waits[0] == "bar":
            return self.meet_block(lane)
        mates = [each for each in self.warp(lane) if lane.waits[1] >> each.number % WARP & 1 and not each.ended]
        if any(each.waits != lane.waits for each in mates):
            return False
        if lane.waits[0] == "sync":
            self.order(mates)
        else:
            self.exchange(mates)
        self.go_on(mates)
        return True

    def meet_block(self, lane):
        there = [each for each in self.lanes if not each.ended]
        if any(each.waits is None or each.waits[0] != "bar" or each.waits[2] != lane.waits[2] for each in there):
            return False
        for each in there:
            mates = [mate for mate in self.warp(each) if not mate.ended]
            if each.waits[1] != "barrier.sync" and any(mate.pc != each.pc for mate in mates):
                return False
        self.order(there)
        self.go_on(there)
        return True

    def exchange(self, mates):
        """What lanes give each other, by the instruction that each is at."""
        lane = mates[0]
        brought = {each.number % WARP: each for each in mates}
        match lane.waits[0]:
            case "ballot":
                bits = sum(1 << n for n, each in brought.items() if self.test(each, self.code[each.pc][1]))
                for each in mates:
                    each.ballot = bits
            case ("vote", mode):
                every = [self.test(each, self.code[each.pc][2]) for each in mates]
                result = {"any": any(every), "all": all(every), "uni": len({*every}) == 1}[mode]
                for each in mates:
                    each.q = int(result)
            case ("redux", operation):
                every = [each.v for each in mates]
                for each in mates:
                    each.v = UNDEFINED if UNDEFINED in every else _reduced(operation, every)
            case ("shfl", mode):
                values = {n: each.v for n, each in brought.items()}
                for n, each in brought.items():
                    other, inside = _asked(mode, n, self.code[each.pc][2])
                    each.v = values.get(other, UNDEFINED) if inside else values[n]

    @staticmethod
    def order(lanes):
        joined = [max(times) for times in zip(*(lane.clock for lane in lanes), strict=True)]
        for lane in lanes:
            lane.clock = [*joined]

    @staticmethod
    def go_on(lanes):
        for lane in lanes:
            lane.waits = None
            lane.pc += 1


def _reduced(operation, values):
    if operation == "add":
        return sum(values) % (1 << 32)
    if operation == "max":
        return max(values)
    found = 0
    for value in values:
        found |= value
    return found


def _asked(mode, lane, by):
    """The lane that a shuffle asks, and whether it is in bounds: from 0 on, for ``up``, and to 31 otherwise."""
    match mode:
        case "up":
            return lane - by, lane - by >= 0
        case "down":
            return lane + by, lane + by <= 31
        case "bfly":
            return lane ^ by, True
    return ((lane + 1) % WARP if by == "next" else by), True
