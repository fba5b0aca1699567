"""Random small kernels, each as a text of PTX and as a litmus test, which are written side by side.

The text is as nvcc's: parameters, a branch on ids for each thread, addresses that are computed, predicates, loops with
known bounds. The litmus test has none of that. A kernel is a function of the generator's state alone, so a seed names
it. What threads have read they write to an array ``out``, so that memory says it all at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ptx_text import kernel_text

from corpus.code.launch.launch import ArrayArgument, KernelLaunch
from corpus.litmus.instructions import (
    NEGATED,
    Assign,
    Barrier,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.locations import Loc, Location, Operand, Reg, Region, element
from corpus.litmus.orders import DEFAULT_RMW, EXIT, PLAIN, Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

ORDERS = {
    "load": ("relaxed", "acquire"),
    "store": ("relaxed", "release"),
    "rmw": ("relaxed", "acquire", "release", "acq_rel"),
    "fence": ("acq_rel", "sc"),
}
SCOPES = {"cta": Scope.CTA, "gpu": Scope.GPU, "sys": Scope.SYS}
MEMBARS = {"cta": Scope.CTA, "gl": Scope.GPU, "sys": Scope.SYS}
ATOMICS = {
    **dict.fromkeys(("add.u32", "add.s32"), "add"),
    **{f"{name}.b32": name for name in ("and", "or", "xor", "exch", "cas")},
    **{f"{name}.b64": f"{name}.b64" for name in ("and", "or", "xor")},
    **{name: name for name in ("inc.u32", "dec.u32", "min.u32", "max.u32", "add.u64", "min.s64", "max.u64")},
    "min.s32": "min",
    "max.s32": "max",
    "exch.b64": "exch",
    "cas.b64": "cas",
}
"""The operation of a litmus test for each of PTX's."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
LAUNCHES = ((2, 1, 32), (2, 1, 32), (1, 2, 32), (1, 2, 1), (3, 1, 32), (2, 2, 2))
"""Blocks, threads in each, threads in a warp."""

RESULTS = 3
"""The results that a thread may have."""


MET = "met"
"""The register of the litmus test that says whether a thread has met the others: a thread that has ended is not waited
for, which the test says by an arrival at the end."""


@dataclass(frozen=True)
class RandomKernel:
    """A kernel as PTX, the launch, and the litmus test that means the same."""

    text: str
    launch: KernelLaunch
    test: LitmusTest


def random_kernel(rng: Random, accesses: int = 5) -> RandomKernel:
    """A kernel of two to four threads that have so many accesses in all, or one more; the same for the same state."""
    blocks, size, warp = rng.choice(LAUNCHES)
    initial = {"x": (rng.choice((0, 0, 0, 1, -1)), 0), "z": (rng.choice((0, 0, 0xFFFFFFFF)),)}
    waits = rng.randrange(blocks * size)  # loops of several threads are too many executions
    writers = [_ThreadWriter(rng, n // size, n % size, blocks, size, n == waits) for n in range(blocks * size)]
    meets = size > 1 and rng.random() < 0.5
    for turn in range(accesses):
        writers[turn % len(writers)].step()
        if meets and turn == len(writers) - 1:
            for writer in writers:
                writer.barrier()
    for writer in writers:
        writer.results()
    lines = ["mov.u32 %r70, %ctaid.x; mov.u32 %r71, %ntid.x; mov.u32 %r72, %tid.x; mad.lo.s32 %r73, %r70, %r71, %r72;"]
    lines += ["cvta.to.global.u64 %x, %x; cvta.to.global.u64 %z, %z; mov.u32 %r74, s;"]
    for number in range(len(writers)):
        lines.append(f"setp.eq.s32 %p70, %r73, {number}; @%p70 bra T{number};")
    lines.append("ret;")
    for number, writer in enumerate(writers):
        lines += [f"T{number}:", *writer.lines, "ret;"]
    text = kernel_text("\n".join(lines), "x z out", ".shared .align 4 .b32 s[2];\n")
    places = [Place(0, n // size, n // size, n % size // warp) for n in range(len(writers))]
    threads = [Thread(tuple(w.code), place) for w, place in zip(writers, places, strict=True)]
    locations = [Location(element(name, n), value) for name in initial for n, value in enumerate(initial[name])]
    locations += [Location(f"s_b{block}", 0, Region.SHARED) for block in range(blocks)]
    locations += [Location(element("out", n)) for n in range(RESULTS * len(writers))]
    condition = Condition(Quantifier.EXISTS, And(()))
    arguments = {name: ArrayArgument(values) for name, values in initial.items()}
    launch = KernelLaunch((blocks, 1, 1), (size, 1, 1), warp=warp, arguments=arguments)
    return RandomKernel(text, launch, LitmusTest("k", tuple(threads), tuple(locations), condition))


class _ThreadWriter:
    """Writes a thread twice: ``lines`` of PTX and ``code`` of a litmus test."""

    def __init__(self, rng: Random, block: int, thread: int, blocks: int, size: int, waits: bool) -> None:
        self._rng, self._block, self._size = rng, block, size
        self._number = block * size + thread
        self._few = blocks * size > 3
        self._waits = waits and not self._few
        self._made = 0
        self._read: list[tuple[str, int]] = []
        self.lines: list[str] = []
        self.code: list[Instruction] = []

    # a thread

    def step(self) -> None:
        """Write an access with what may stand around it, or a fence with an access behind it."""
        rng = self._rng
        if self.code and rng.random() < 0.3:
            self._fence()
        if self._few or not self._read or rng.random() < 0.7:
            loops = [self._spin, self._retry, self._polls] * self._waits
            kinds = [self._load, self._store, self._store, self._rmw, *loops]
            written = rng.choice(kinds if self._few else [*kinds, self._vector])
            self._waits = self._waits and written not in loops
            written()
        else:
            rng.choice((self._guarded, self._branch, self._loop, self._selected, self._indexed))()

    def barrier(self) -> None:
        """Write a barrier for the threads of the block; now and then what was read decides whether it is met."""
        if self._read and self._rng.random() < 0.15:
            self.code.append(Assign(MET, "mov", (0,)))
            self._around(lambda: self._say("bar.sync 0;", Barrier(0), Assign(MET, "mov", (1,))))
        else:
            self._say(self._rng.choice(("bar.sync 0;", "barrier.sync.aligned 0;")), Barrier(0))

    def results(self) -> None:
        """Write what was read to the thread's part of ``out``."""
        for place, (register, bits) in enumerate(self._read[:RESULTS]):
            at = RESULTS * self._number + place
            if bits == 64:
                narrow, source = self._new(32), register
                self.lines.append(f"cvt.u32.u64 {narrow}, {source};")
                self.code.append(Assign(_plain(narrow), "add", (_reg(source), 0)))
                register = narrow
            out = self._new(64)
            self.lines.append(f"add.s64 {out}, %out, {4 * at}; st.global.u32 [{out}], {register};")
            self.code.append(Store(Loc(element("out", at)), _reg(register)))
        if any(isinstance(ins, Assign) and ins.target == MET for ins in self.code):
            exits = Barrier(0, arrive=True, mode=Mode(tags=(EXIT,)))
            self.code += [Branch(MET, Comparison("ne", Reg(MET), 0)), exits, Label(MET)]

    def _say(self, line: str, *code: Instruction) -> None:
        self.lines.append(line)
        self.code += code

    def _new(self, bits: int) -> str:
        self._made += 1
        return f"%{'r' if bits == 32 else 'd'}{self._made}"

    # accesses

    def _place(self) -> tuple[str, Operand, int]:
        """A location: the space and address as PTX has them, as a litmus test has it, and its bits."""
        rng = self._rng
        name = rng.choice(("x", "x", "x[1]", "z", "s") if self._size > 1 else ("x", "x", "x[1]", "z"))
        if name == "s":
            return f".shared [{rng.choice(('%r74', 's'))}]", Loc(self._shared), 32
        array, bits, offset = name[0], 64 if name == "z" else 32, 4 if name == "x[1]" else 0
        way = rng.random()
        if way < 0.4:
            base = f"%{array}" + (f"+{offset}" if offset else "")
        else:
            index, scaled, base = self._new(32), self._new(64), self._new(64)
            self.lines.append(f"mov.u32 {index}, {offset // 4};")
            if way < 0.7:
                self.lines.append(f"mul.wide.u32 {scaled}, {index}, {bits // 8}; add.s64 {base}, %{array}, {scaled};")
            else:
                self.lines.append(f"mad.wide.s32 {base}, {index}, {bits // 8}, %{array};")
        return f"{rng.choice(('.global', ''))} [{base}]", Loc(name), bits

    @property
    def _shared(self) -> str:
        return f"s_b{self._block}"

    def _mode(self, kind: str) -> tuple[str, Mode]:
        rng = self._rng
        if kind != "rmw" and (way := rng.random()) < 0.5:
            if way < 0.12:
                return ".volatile", Mode(volatile=True)
            return rng.choice(("", ".weak")), PLAIN
        if kind == "rmw" and rng.random() < 0.3:
            return "", DEFAULT_RMW
        order, scope = rng.choice(ORDERS[kind]), rng.choice(list(SCOPES))
        return f".{order}.{scope}", Mode(Order(order), SCOPES[scope])

    def _load(self, target: str | None = None) -> str:
        where, address, bits = self._place()
        word, mode = self._mode("load")
        if target is None or bits == 64:
            target = self._new(bits)
        self._read.append((target, bits))
        self._say(f"ld{word}{where.replace(' ', f'.u{bits} {target}, ', 1)};", Load(_plain(target), address, mode))
        return target

    def _value(self, bits: int) -> tuple[str, Operand]:
        """A number, or what was read, perhaps with something added."""
        rng = self._rng
        known = [name for name, width in self._read if width == bits]
        if not known or rng.random() < 0.6:
            number = rng.choice((1, 1, 2, 3, -1))
            return str(number), number
        source = rng.choice(known)
        if rng.random() < 0.5:
            return source, _reg(source)
        total = self._new(bits)
        operation = "add" if bits == 32 else "add.s64"
        self._say(f"add.s{bits} {total}, {source}, 1;", Assign(_plain(total), operation, (_reg(source), 1)))
        return total, _reg(total)

    def _store(self) -> None:
        where, address, bits = self._place()
        text, value = self._value(bits)
        word, mode = self._mode("store")
        self._say(f"st{word}{where.replace(' ', f'.u{bits} ', 1)}, {text};", Store(address, value, mode))

    def _rmw(self) -> None:
        where, address, bits = self._place()
        name = self._rng.choice([each for each in ATOMICS if each.endswith(str(bits))])
        (word, mode), given = self._mode("rmw"), [self._value(bits) for _ in range(1 + name.startswith("cas"))]
        if name.startswith("cas"):
            given[0] = ("0", 0)
        space, _, rest = where.partition(" ")
        values = ", ".join(text for text, _ in given)
        operands = tuple(value for _, value in given)
        if not name.startswith(("cas", "exch")) and self._rng.random() < 0.3:
            self._say(f"red{word}{space}.{name} {rest}, {values};", Rmw(ATOMICS[name], None, address, operands, mode))
            return
        target = self._new(bits)
        self._read.append((target, bits))
        code = Rmw(ATOMICS[name], _plain(target), address, operands, mode)
        self._say(f"atom{word}{space}.{name} {target}, {rest}, {values};", code)

    def _vector(self) -> None:
        """Two elements of x, read or written at once."""
        if self._rng.random() < 0.5:
            one, two = self._new(32), self._new(32)
            self._read += [(one, 32), (two, 32)]
            code = [Load(_plain(one), Loc("x")), Load(_plain(two), Loc("x[1]"))]
            self._say(f"ld.global.v2.u32 {{{one}, {two}}}, [%x];", *code)
        else:
            (first, one), (second, two) = self._value(32), self._value(32)
            self._say(f"st.global.v2.u32 [%x], {{{first}, {second}}};", Store(Loc("x"), one), Store(Loc("x[1]"), two))

    def _fence(self) -> None:
        rng = self._rng
        if rng.random() < 0.3:
            word = rng.choice(list(MEMBARS))
            self._say(f"membar.{word};", Fence(Mode(Order.SC, MEMBARS[word])))
        else:
            order, scope = rng.choice(ORDERS["fence"]), rng.choice(list(SCOPES))
            self._say(f"fence.{order}.{scope};", Fence(Mode(Order(order), SCOPES[scope])))

    # what is around them

    def _asked(self) -> tuple[str, Comparison]:
        """A predicate on what was read, and the comparison that it is."""
        rng = self._rng
        register, bits = rng.choice(self._read)
        sign, number = rng.choice(COMPARISONS), rng.choice((0, 0, 1, 2))
        predicate = self._predicate()
        self.lines.append(f"setp.{sign}.s{bits} {predicate}, {register}, {number};")
        return predicate, Comparison(sign, _reg(register), number)

    def _label(self) -> str:
        self._made += 1
        return f"L{self._number}_{self._made}"

    def _around(self, what) -> None:
        """A branch around something; what is read there is not known behind it."""
        (predicate, asked), label = self._asked(), self._label()
        known = list(self._read)
        self._say(f"@!{predicate} bra {label};", Branch(label, _not(asked)))
        what()
        self._say(f"{label}:", Label(label))
        self._read = known

    def _branch(self) -> None:
        self._around(self._rng.choice((self._store, self._rmw, self._load)))

    def _guarded(self) -> None:
        """A store with a predicate."""
        where, address, bits = self._place()
        text, value = self._value(bits)
        (predicate, asked), label = self._asked(), self._label()
        word, mode = self._mode("store")
        line = f"@{predicate} st{word}{where.replace(' ', f'.u{bits} ', 1)}, {text};"
        self._say(line, Branch(label, _not(asked)), Store(address, value, mode), Label(label))

    def _loop(self) -> None:
        """An addition that is done twice, with what the loop counts."""
        counter, predicate, label = self._new(32), f"%p{self._made}", self._label()
        self.lines += [f"mov.u32 {counter}, 1;", f"{label}:"]
        self._say(f"red.relaxed.gpu.global.add.u32 [%x], {counter};")
        self.lines.append(f"add.s32 {counter}, {counter}, 1; setp.le.u32 {predicate}, {counter}, 2;")
        mode = Mode(Order.RELAXED, Scope.GPU)
        self._say(f"@{predicate} bra {label};", *(Rmw("add", None, Loc("x"), (n,), mode) for n in (1, 2)))

    def _selected(self) -> None:
        """A store of one of two numbers."""
        predicate, asked = self._asked()
        one, target = self._new(32), self._new(32)
        flag = _plain(predicate)
        self._say(f"selp.u32 {target}, 3, 1, {predicate};", Assign(flag, asked.operation, (asked.left, asked.right)))
        self.code.append(Assign(_plain(one), "mul", (Reg(flag), 2)))
        self.code.append(Assign(_plain(target), "add", (_reg(one), 1)))
        self._say(f"st.global.u32 [%x+4], {target};", Store(Loc("x[1]"), _reg(target)))

    def _indexed(self) -> None:
        """A store to the element of x that what was read says."""
        register, bits = self._rng.choice(self._read)
        bit, scaled, base = self._new(bits), self._new(64), self._new(64)
        self._say(f"and.b{bits} {bit}, {register}, 1;", Assign(_plain(bit), "and", (_reg(register), 1)))
        if bits == 32:
            self.lines.append(f"mul.wide.u32 {scaled}, {bit}, 4;")
        else:
            self.lines.append(f"shl.b64 {scaled}, {bit}, 2;")
        address = Assign(_plain(base), "add", (Loc("x"), _reg(bit)))
        self._say(f"add.s64 {base}, %x, {scaled}; st.global.u32 [{base}], 1;", address, Store(_reg(base), 1))

    def _spin(self) -> None:
        """A loop that waits for a value, or takes a lock."""
        label, rng = self._label(), self._rng
        self._say(f"{label}:", Label(label))
        if rng.random() < 0.2:
            target, (word, mode) = self._new(32), self._mode("rmw")
            self._say(
                f"atom{word}.global.exch.b32 {target}, [%x], 1;", Rmw("exch", _plain(target), Loc("x"), (1,), mode)
            )
            self._read.append((target, 32))
            sign = "ne"
        else:
            target = self._load()
            sign = rng.choice(("eq", "eq", "ne"))
        predicate = self._predicate()
        bits = 64 if target.startswith("%d") else 32
        again = Branch(label, Comparison(sign, _reg(target), 0))
        self._say(f"setp.{sign}.s{bits} {predicate}, {target}, 0; @{predicate} bra {label};", again)

    def _retry(self) -> None:
        """An addition by compare-and-swaps, each with the value that the one before it has found."""
        word, mode = self._mode("load")
        swap, also = self._mode("rmw")
        old, new, found, predicate = self._new(32), self._new(32), self._new(32), self._predicate()
        again, done = self._label(), self._label()
        self._say(f"ld{word}.global.u32 {old}, [%x];", Load(_plain(old), Loc("x"), mode))
        self._say(f"{again}: add.s32 {new}, {old}, 1;", Label(again), Assign(_plain(new), "add", (_reg(old), 1)))
        code = Rmw("cas", _plain(found), Loc("x"), (_reg(old), _reg(new)), also)
        self._say(f"atom{swap}.global.cas.b32 {found}, [%x], {old}, {new};", code)
        equal = Branch(done, Comparison("eq", _reg(found), _reg(old)))
        self._say(f"setp.eq.s32 {predicate}, {found}, {old}; @{predicate} bra {done};", equal)
        self._say(f"mov.u32 {old}, {found}; bra {again};", Assign(_plain(old), "mov", (_reg(found),)), Branch(again))
        self._say(f"{done}:", Label(done))
        if self._rng.random() < 0.7:
            self._read.append((old, 32))

    def _polls(self) -> None:
        """A poll before a loop of polls, or a loop of polls before one that may lead back to it."""
        rng, polled, predicate = self._rng, self._new(32), self._predicate()
        (word, mode), (last, final) = self._mode("load"), self._mode("load")
        if rng.random() < 0.7:
            word, mode = last, final
        again, done, first = self._label(), self._label(), rng.random() < 0.5

        def poll(said: str, how: Mode, sign: str, label: str) -> None:
            asked = Branch(label, Comparison(sign, _reg(polled), 0))
            self._say(f"ld{said}.global.u32 {polled}, [%x];", Load(_plain(polled), Loc("x"), how))
            self._say(f"setp.{sign}.s32 {predicate}, {polled}, 0; @{predicate} bra {label};", asked)

        if first:
            poll(word, mode, "ne", done)
        self._say(f"{again}:", Label(again))
        if not first:
            poll(word, mode, "eq", again)
        poll(last, final, "eq", again)
        self._say(f"{done}:", Label(done))
        if rng.random() < 0.5:
            self._read.append((polled, 32))

    def _predicate(self) -> str:
        self._made += 1
        return f"%p{self._made}"


def _reg(register: str) -> Reg:
    return Reg(_plain(register))


def _plain(register: str) -> str:
    return register.removeprefix("%")


def _not(asked: Comparison) -> Comparison:
    return Comparison(NEGATED[asked.operation], asked.left, asked.right)
