"""Random small kernels in OpenCL C, GLSL and CUDA C++, whose final memory a machine tells as well.

Threads read arrays that nobody writes, compute in all widths, go through loops, switches and nested branches, use
memory of their own and of their block, and write to elements of their own. So the outcome is one; atomic operations
whose results are used leave a few. A program is a function of its seed, its language and whether it is ``common``: then
it is the same program in each language, with what all of them have.

Nothing that a language leaves undefined is written: signed sums are of unsigned numbers in C, divisors are not 0,
counts of shifts are less than the width, and no rest is of negative numbers in GLSL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple


class Kind(NamedTuple):
    """A type: whether it has a sign, its bits, and its components, 1 of a scalar."""

    signed: bool
    bits: int
    lanes: int = 1

    @property
    def unsigned(self) -> Kind:
        """The type of the same bits without a sign."""
        return self._replace(signed=False)

    @property
    def scalar(self) -> Kind:
        """The type of a component."""
        return self._replace(lanes=1)


INT, UINT = Kind(True, 32), Kind(False, 32)
KINDS = tuple(Kind(signed, bits) for bits in (8, 16, 32, 32, 32, 64) for signed in (True, False))

_C_NAMES = {8: "char", 16: "short", 32: "int", 64: "long"}


@dataclass(frozen=True)
class Language:
    """The words of a language. ``wraps``: its signed arithmetic does, and nothing is promoted."""

    suffix: str
    name: Callable[[Kind], str]
    cast: Callable[[Kind, str], str]
    wide: str
    wraps: bool
    ids: Mapping[str, str]
    barrier: str
    vectors: bool = True

    def literal(self, kind: Kind, value: int) -> str:
        """A number of a type."""
        value %= 1 << kind.bits
        text = f"{value:#x}{self.wide}" if kind.bits == 64 else f"{value:#x}u"
        return text if kind == UINT else self.cast(kind, text)


def _cl_name(kind: Kind) -> str:
    return f"{'' if kind.signed else 'u'}{_C_NAMES[kind.bits]}{kind.lanes if kind.lanes > 1 else ''}"


def _cl_cast(kind: Kind, text: str) -> str:
    return f"(({_cl_name(kind)})({text}))" if kind.lanes == 1 else f"convert_{_cl_name(kind)}({text})"


def _glsl_name(kind: Kind) -> str:
    if kind.lanes == 1:
        return ("int" if kind.signed else "uint") + ("" if kind.bits == 32 else f"{kind.bits}_t")
    return f"{'i' if kind.signed else 'u'}{'' if kind.bits == 32 else kind.bits}vec{kind.lanes}"


def _cuda_name(kind: Kind) -> str:
    name = {**_C_NAMES, 64: "long long"}[kind.bits]
    return f"{'signed' if kind.bits == 8 else ''} {name}".strip() if kind.signed else f"unsigned {name}"


OPENCL = Language(
    ".cl",
    _cl_name,
    _cl_cast,
    "UL",
    False,
    {"global": "(uint)get_global_id(0)", "local": "(uint)get_local_id(0)", "group": "(uint)get_group_id(0)"},
    "barrier(CLK_LOCAL_MEM_FENCE);",
)
GLSL = Language(
    ".comp",
    _glsl_name,
    lambda kind, text: f"{_glsl_name(kind)}({text})",
    "UL",
    True,
    {"global": "gl_GlobalInvocationID.x", "local": "gl_LocalInvocationID.x", "group": "gl_WorkGroupID.x"},
    "barrier();",
)
CUDA = Language(
    ".cu",
    _cuda_name,
    lambda kind, text: f"(({_cuda_name(kind)})({text}))",
    "ULL",
    False,
    {"global": "(blockIdx.x * blockDim.x + threadIdx.x)", "local": "threadIdx.x", "group": "blockIdx.x"},
    "__syncthreads();",
    vectors=False,
)

READ = 8
"""The elements of an array that is read."""

WRITTEN = 4
"""The elements of each type that a thread may write."""


class Array(NamedTuple):
    """A parameter of a kernel: memory of a type, with the bytes that it holds at first."""

    name: str
    kind: Kind
    data: bytes


class Program(NamedTuple):
    """A kernel as a text, its launch, and its arrays in the order of its parameters. ``few``: it has a few outcomes,
    and not one.
    """

    text: str
    blocks: int
    threads: int
    arrays: tuple[Array, ...]
    few: bool


class Value(NamedTuple):
    """An expression, its type, and whether the ids of the thread say its value, without memory."""

    text: str
    kind: Kind
    known: bool


@dataclass
class _Writer:
    """Writes the body of one kernel."""

    rng: Random
    language: Language
    common: bool
    threads: int
    few: bool
    blocks: int
    name: str
    lines: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    depth: int = 1
    places: dict[str, Value] = field(default_factory=dict)
    """Variables of the thread: what may be read and assigned."""
    fixed: dict[str, Value] = field(default_factory=dict)
    """What may only be read: ids, numbers of rounds."""
    private: dict[str, tuple[Kind, int]] = field(default_factory=dict)
    shared: dict[str, Kind] = field(default_factory=dict)
    readable: list[str] = field(default_factory=list)
    read: dict[str, Kind] = field(default_factory=dict)
    written: dict[str, Kind] = field(default_factory=dict)
    counters: dict[str, tuple[Kind, str]] = field(default_factory=dict)
    structs: list[str] = field(default_factory=list)
    made: int = 0
    loops: int = 0
    racing: int = 2

    # words

    def say(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def new(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def cast(self, kind: Kind, text: str) -> str:
        return self.language.cast(kind, text)

    def declare(self, kind: Kind, name: str, text: str) -> None:
        self.say(f"{self.language.name(kind)} {name} = {text};")

    def literal(self, kind: Kind) -> Value:
        rng = self.rng
        value = rng.choice((rng.randrange(4), rng.randrange(-3, 8), rng.getrandbits(kind.bits), 1 << kind.bits - 1, -1))
        return Value(self.language.literal(kind, value), kind, True)

    def vector_kind(self) -> Kind:
        kind = self.rng.choice(KINDS)
        return kind._replace(lanes=self.rng.choice((2, 2, 3, 4)))

    # expressions

    def leaf(self, kind: Kind, known: bool = False) -> Value:
        """A value of a type without arithmetic."""
        rng = self.rng
        every = [each for each in (*self.places.values(), *self.fixed.values()) if each.known or not known]
        same = [each for each in every if each.kind == kind]
        if same and rng.random() < 0.65:
            return rng.choice(same)
        if kind.lanes > 1:
            parts = [self.leaf(kind.scalar, known) for _ in range(kind.lanes)]
            name = self.language.name(kind)
            make = f"(({name})" if self.language is OPENCL else f"({name}"
            return Value(f"{make}({', '.join(each.text for each in parts)}))", kind, all(e.known for e in parts))
        way = rng.random()
        if known or way < 0.2:
            return self.literal(kind)
        if way < 0.65:
            return self.convert(self.element(), kind)
        if every and way < 0.9:
            scalars = [each for each in every if each.kind.lanes == 1]
            vectors = [each for each in every if each.kind.lanes > 1]
            if vectors and rng.random() < 0.5:
                return self.convert(self.component(rng.choice(vectors)), kind)
            if scalars:
                return self.convert(rng.choice(scalars), kind)
        return self.literal(kind)

    def component(self, value: Value) -> Value:
        return Value(f"{value.text}.{self.rng.choice('xyzw'[: value.kind.lanes])}", value.kind.scalar, value.known)

    def convert(self, value: Value, kind: Kind) -> Value:
        if value.kind == kind:
            return value
        return Value(self.cast(kind, value.text), kind, value.known)

    def index(self, length: int, known: bool = False) -> str:
        """An index below a power of two."""
        if self.rng.random() < 0.4:
            return str(self.rng.randrange(length))
        value = self.convert(self.leaf(self.rng.choice((UINT, UINT, INT)), known), UINT)
        return f"{value.text} & {length - 1}u"

    def element(self) -> Value:
        """An element of an array that is read, of the thread's own, or of its block."""
        rng = self.rng
        if self.private and rng.random() < 0.25:
            name = rng.choice(list(self.private))
            kind, length = self.private[name]
            return Value(f"{name}[{self.index(length, known=True)}]", kind, False)
        if self.readable and rng.random() < 0.4:
            name = rng.choice(self.readable)
            return Value(f"{name}[{self.index(self.threads)}]", self.shared[name], False)
        name = rng.choice(list(self.read))
        return Value(f"{name}[{self.index(READ)}]", self.read[name], False)

    def unsigned(self, value: Value) -> str:
        """A value as an unsigned number of its width, or of an int's, where arithmetic in C wraps."""
        kind = value.kind.unsigned
        if kind.lanes > 1:
            return f"as_{self.language.name(kind)}({value.text})"
        return self.cast(kind._replace(bits=max(kind.bits, 32)), value.text)

    def back(self, kind: Kind, text: str) -> Value:
        text = f"as_{self.language.name(kind)}({text})" if kind.lanes > 1 else self.cast(kind, text)
        return Value(text, kind, False)

    def wrapping(self, sign: str, left: Value, right: Value) -> Value:
        kind = left.kind
        plainly = self.rng.random() < 0.5 and kind.bits < 32 and sign != "*"
        if self.language.wraps:
            return Value(f"({left.text} {sign} {right.text})", kind, False)
        if plainly and kind.lanes == 1:
            return self.back(kind, f"{left.text} {sign} {right.text}")
        return self.back(kind, f"{self.unsigned(left)} {sign} {self.unsigned(right)}")

    def value(self, kind: Kind, depth: int = 1) -> Value:
        """An expression of a type."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return self.leaf(kind)
        ways: list[Callable[[Kind, int], Value]] = [self._sum, self._sum, self._bits, self._bits, self._unary]
        ways += [self._shift, self._conversion]
        if kind.lanes == 1:
            ways += [self._division, self._choice, self._choice]
        if not self.common:
            ways += [self._builtin] * 4
            if kind.lanes > 1:
                ways += [self._swizzle, self._vector_choice]
            else:
                ways += [self._from_vector, self._reinterpreted]
        return rng.choice(ways)(kind, depth - 1)

    def _sum(self, kind: Kind, depth: int) -> Value:
        sign = self.rng.choice("++-*")
        return self.wrapping(sign, self.value(kind, depth), self.value(kind, depth))

    def _bits(self, kind: Kind, depth: int) -> Value:
        sign, left, right = self.rng.choice("&|^"), self.value(kind, depth), self.value(kind, depth)
        text = f"({left.text} {sign} {right.text})"
        return Value(text if self.language.wraps or kind.lanes > 1 else self.cast(kind, text), kind, False)

    def _unary(self, kind: Kind, depth: int) -> Value:
        value = self.value(kind, depth)
        if self.rng.random() < 0.5:
            text = f"(~{value.text})"
            return Value(text if self.language.wraps or kind.lanes > 1 else self.cast(kind, text), kind, False)
        zero = Value(self.cast(kind, self.language.literal(kind.scalar, 0)), kind, True)
        if kind.lanes > 1 and self.language is OPENCL:
            zero = Value(f"(({self.language.name(kind)})({self.language.literal(kind.scalar, 0)}))", kind, True)
        return self.wrapping("-", zero, value)

    def splat(self, kind: Kind, number: int) -> str:
        text = self.language.literal(kind.scalar, number)
        return text if kind.lanes == 1 else f"(({self.language.name(kind)})({text}))" if self.language is OPENCL else (
            f"{self.language.name(kind)}({text})"
        )  # fmt: skip

    def _shift(self, kind: Kind, depth: int) -> Value:
        left, right = self.value(kind, depth), self.value(kind, depth)
        count = f"({right.text} & {self.splat(kind, kind.bits - 1)})"
        if self.rng.random() < 0.5:
            if self.language.wraps:
                return Value(f"({left.text} << {count})", kind, False)
            count = f"as_{self.language.name(kind.unsigned)}({count})" if kind.lanes > 1 else count
            return self.back(kind, f"{self.unsigned(left)} << {count}")
        text = f"({left.text} >> {count})"
        return Value(text if self.language.wraps or kind.lanes > 1 else self.cast(kind, text), kind, False)

    def _division(self, kind: Kind, depth: int) -> Value:
        left, right = self.value(kind, depth), self.value(kind, depth)
        by, one = f"({right.text} | {self.language.literal(kind, 1)})", self.language.literal(kind, 1)
        left_text = f"({left.text} >> {one})"  # the least number is not divided by -1
        if not self.language.wraps:
            by, left_text = self.cast(kind, by), self.cast(kind, left_text)
        rest = self.rng.random() < 0.4 and not (kind.signed and (self.common or self.language is GLSL))
        text = f"({left_text} {'%' if rest else '/'} {by})"
        return Value(text if self.language.wraps else self.cast(kind, text), kind, False)

    def predicate(self, depth: int = 1) -> str:
        kind = self.rng.choice(KINDS)
        left, right = self.value(kind, depth), self.value(kind, depth)
        sign = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        text = f"({left.text} {sign} {right.text})"
        if self.rng.random() < 0.25:
            text = f"({text} {self.rng.choice(('&&', '||'))} {self.predicate(depth=0)})"
        return f"(!{text})" if self.rng.random() < 0.15 else text

    def _choice(self, kind: Kind, depth: int) -> Value:
        yes, no = self.value(kind, depth), self.value(kind, depth)
        text = f"({self.predicate()} ? {yes.text} : {no.text})"
        return Value(text if self.language.wraps else self.cast(kind, text), kind, False)

    def _conversion(self, kind: Kind, depth: int) -> Value:
        other = self.rng.choice(KINDS)._replace(lanes=kind.lanes)
        return self.convert(self.value(other, depth), kind)

    # what only one of the languages has

    def _builtin(self, kind: Kind, depth: int) -> Value:
        if self.language is OPENCL:
            return self._cl_builtin(kind, depth)
        return self._glsl_builtin(kind, depth)

    def _cl_builtin(self, kind: Kind, depth: int) -> Value:
        rng, name = self.rng, self.language.name(kind)
        one, two, three = (self.value(kind, depth if n < 1 else 0) for n in range(3))
        names = ["min", "max", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "rotate", "clz", "popcount"]
        names += ["clamp", "mad_hi", "mad_sat", "bitselect", "abs", "abs_diff", "ctz", "select"]
        names += ["mad24", "mul24"] * (kind.bits == 32)
        names += ["upsample"] * (kind.bits > 8)
        match rng.choice(names):
            case "clz" | "popcount" | "ctz" as word:
                return Value(f"{word}({one.text})", kind, False)
            case "abs":
                # PoCL 3.0 leaves the least number undefined, whose absolute value OpenCL C says.
                odd = f"{one.text} | {self.splat(kind, 1)}"
                odd = self.cast(kind, odd) if kind.lanes == 1 else odd  # which a small one is promoted from
                return Value(f"as_{name}(abs({odd}))", kind, False)
            case "abs_diff":
                # PoCL 3.0 leaves undefined what is more than the greatest number, such as abs_diff(LONG_MIN, 0).
                halves = [f"{each.text} >> {self.splat(kind, 1)}" for each in (one, two)]
                halves = [self.cast(kind, each) if kind.lanes == 1 else each for each in halves]
                return Value(f"as_{name}(abs_diff({', '.join(halves)}))", kind, False)
            case "clamp":
                low, high = f"min({two.text}, {three.text})", f"max({two.text}, {three.text})"
                return Value(f"clamp({one.text}, {low}, {high})", kind, False)
            case "mad_hi" | "mad_sat" | "bitselect" as word:
                return Value(f"{word}({one.text}, {two.text}, {three.text})", kind, False)
            case "select":
                return Value(f"select({one.text}, {two.text}, {three.text})", kind, False)
            case "mul24" | "mad24" as word:
                mask = self.splat(kind, 0x3FFF)
                given = [f"({one.text} & {mask})", f"({two.text} & {mask})"]
                given += [f"({three.text} & {mask})"] * (word == "mad24")
                return Value(f"{word}({', '.join(given)})", kind, False)
            case "upsample":
                half = kind._replace(bits=kind.bits // 2)
                upper, lower = self.value(half, 0), self.value(half.unsigned, 0)
                return Value(f"upsample({upper.text}, {lower.text})", kind, False)
            case word:
                return Value(f"{word}({one.text}, {two.text})", kind, False)

    def _glsl_builtin(self, kind: Kind, depth: int) -> Value:
        rng, name = self.rng, self.language.name(kind)
        one, two, three = (self.value(kind, depth if n < 1 else 0) for n in range(3))
        names = ["min", "max", "clamp"] + ["abs", "sign"] * kind.signed
        if kind.bits == 32:
            names += ["bitfieldExtract", "bitfieldInsert", "bitfieldReverse", "bitCount", "findLSB", "findMSB"] * 2
            names += ["carry"] * (not kind.signed) + ["extended"]
        match rng.choice(names):
            case "abs" | "sign" as word:
                return Value(f"{word}({one.text})", kind, False)
            case "clamp":
                low, high = f"min({two.text}, {three.text})", f"max({two.text}, {three.text})"
                return Value(f"clamp({one.text}, {low}, {high})", kind, False)
            case "bitfieldReverse":
                return Value(f"bitfieldReverse({one.text})", kind, False)
            case "bitCount" | "findLSB" | "findMSB" as word:
                return Value(f"{name}({word}({one.text}))", kind, False)
            case "bitfieldExtract":
                start = rng.randrange(32)
                bits = rng.randrange(33 - start)
                return Value(f"bitfieldExtract({one.text}, {start}, {bits})", kind, False)
            case "bitfieldInsert":
                place = ", ".join(f"int({self.value(UINT, 0).text} & 15u)" for _ in range(2))
                return Value(f"bitfieldInsert({one.text}, {two.text}, {place})", kind, False)
            case "carry":
                first, second = self.new("c"), self.new("c")
                self.say(f"{name} {first};")
                word = rng.choice(("uaddCarry", "usubBorrow"))
                self.say(f"{name} {second} = {word}({one.text}, {two.text}, {first});")
                return Value(rng.choice((first, second)), kind, False)
            case "extended":
                high, low = self.new("c"), self.new("c")
                self.say(f"{name} {high}, {low};")
                word = "imulExtended" if kind.signed else "umulExtended"
                self.say(f"{word}({one.text}, {two.text}, {high}, {low});")
                return Value(rng.choice((high, low)), kind, False)
            case word:
                return Value(f"{word}({one.text}, {two.text})", kind, False)

    def _swizzle(self, kind: Kind, depth: int) -> Value:
        source = self.leaf(kind._replace(lanes=self.rng.choice((2, 3, 4))))
        parts = "".join(self.rng.choice("xyzw"[: source.kind.lanes]) for _ in range(kind.lanes))
        return Value(f"{source.text}.{parts}", kind, False)

    def _vector_choice(self, kind: Kind, depth: int) -> Value:
        one, two, yes, no = (self.value(kind, 0) for _ in range(4))
        if self.language is OPENCL:
            mask = f"({one.text} {self.rng.choice(('<', '>=', '==', '!='))} {two.text})"
            if self.rng.random() < 0.5:
                return Value(f"({mask} ? {yes.text} : {no.text})", kind, False)
            made = kind._replace(signed=True)
            return Value(f"as_{self.language.name(kind)}({mask})" if made != kind else mask, kind, False)
        word = self.rng.choice(("lessThan", "greaterThanEqual", "equal", "notEqual"))
        if kind.bits != 32:
            asked = f"{word}({self._wide(one)}, {self._wide(two)})"
        else:
            asked = f"{word}({one.text}, {two.text})"
        if self.rng.random() < 0.5 and kind.bits == 32:
            return Value(f"mix({no.text}, {yes.text}, {asked})", kind, False)
        return Value(self.cast(kind, f"uvec{kind.lanes}({asked})"), kind, False)

    def _wide(self, value: Value) -> str:
        return self.cast(Kind(value.kind.signed, 32, value.kind.lanes), value.text)

    def _from_vector(self, kind: Kind, depth: int) -> Value:
        made = kind._replace(lanes=self.rng.choice((2, 3, 4)))
        value = self.value(made, depth)
        name = self.new("q")
        self.say(f"{self.language.name(made)} {name} = {value.text};")
        if self.language is GLSL and self.rng.random() < 0.3:
            return Value(f"{name}[{self.rng.randrange(made.lanes)}]", kind, False)
        return self.component(Value(name, made, False))

    def _reinterpreted(self, kind: Kind, depth: int) -> Value:
        """The bits of a vector as one number, or of a number of the other sign."""
        lanes = self.rng.choice((2, 4))
        if kind.bits // lanes < 8:
            return self.convert(self.value(kind._replace(signed=not kind.signed), depth), kind)
        made = Kind(kind.signed, kind.bits // lanes, lanes)
        value = self.value(made, depth)
        if self.language is OPENCL:
            return Value(f"as_{self.language.name(kind)}({value.text})", kind, False)
        if (kind.bits, lanes) == (64, 4) or kind.bits == 16 or (kind.bits == 32) or (kind.bits == 64):
            return Value(f"pack{kind.bits}({value.text})", kind, False)
        return self.convert(value, kind)

    # statements

    def statement(self, depth: int) -> None:
        rng = self.rng
        ways: list[tuple[int, Callable[[int], None]]] = [
            (5, self._assign),
            (4, self._store),
            (2, self._private_store),
            (2, self._own_variable),
            (1, self._field),
            (2, self._count),
        ]
        if not self.common:
            ways += [(2, self._special)]
        if depth:
            ways += [(3, self._if), (2, self._switch), (2, self._for), (1, self._while), (1, self._call)]
        total = sum(weight for weight, _ in ways)
        at = rng.randrange(total)
        for weight, way in ways:
            at -= weight
            if at < 0:
                way(depth)
                return

    def block(self, depth: int, most: int = 2) -> None:
        """Statements within a branch; variables that begin there end there."""
        places, private = dict(self.places), dict(self.private)
        self.depth += 1
        for _ in range(self.rng.randint(1, most)):
            self.statement(depth)
        self.depth -= 1
        self.places = {name: value._replace(known=False) for name, value in places.items()}
        self.private = private

    def _own_variable(self, depth: int) -> None:
        rng = self.rng
        kind = rng.choice(KINDS)
        if not self.common and rng.random() < 0.35:
            kind = self.vector_kind()
        value, name = self.value(kind), self.new("v")
        self.declare(kind, name, value.text)
        self.places[name] = Value(name, kind, False)

    def _assign(self, depth: int) -> None:
        if not self.places:
            self._own_variable(depth)
            return
        name = self.rng.choice(list(self.places))
        kind = self.places[name].kind
        if kind.lanes > 1 and self.rng.random() < 0.4:
            part = self.rng.choice("xyzw"[: kind.lanes])
            self.say(f"{name}.{part} = {self.value(kind.scalar).text};")
        elif self.rng.random() < 0.2 and kind.lanes == 1:
            sign = self.rng.choice(("^", "|", "&"))
            self.say(f"{name} {sign}= {self.value(kind).text};")
        else:
            self.say(f"{name} = {self.value(kind).text};")

    def _store(self, depth: int) -> None:
        self.store()

    def store(self) -> None:
        """Write to an element of the thread's own of an array."""
        name = self.rng.choice(list(self.written))
        kind = self.written[name]
        value = self.value(kind).text
        self.say(f"{name}[me * {WRITTEN}u + ({self.index(WRITTEN)})] = {value};")

    def _private_store(self, depth: int) -> None:
        if not self.private:
            self.store()
            return
        name = self.rng.choice(list(self.private))
        kind, length = self.private[name]
        value = self.value(kind).text
        self.say(f"{name}[{self.index(length, known=True)}] = {value};")

    def _field(self, depth: int) -> None:
        rng = self.rng
        if not self.structs:
            self.store()
            return
        one, (part, kind) = rng.choice(self.structs), rng.choice(FIELDS)
        self.say(f"{one}.{part} = {self.value(kind).text};")
        other = rng.choice(self.structs)
        if rng.random() < 0.5 and other != one:
            self.say(f"{other} = {one};")
        part, kind = rng.choice(FIELDS)
        self.fixed[f"{other}.{part}"] = Value(f"{other}.{part}", kind, False)

    def _count(self, depth: int) -> None:
        """An atomic operation on a counter, each of which has one that does not depend on the order."""
        rng = self.rng
        name = rng.choice(list(self.counters))
        kind, word = self.counters[name]
        used = self.few and self.racing > 0 and depth > 1 and not self.loops
        value = self.value(kind, 1).text
        call = self.atomic(word, f"{name}[{rng.randrange(2)}]", value, kind)
        if used:
            self.racing -= 1
            made = self.new("v")
            self.declare(kind, made, call)
            self.places[made] = Value(made, kind, False)
        else:
            self.say(f"{call};")

    def atomic(self, word: str, place: str, value: str, kind: Kind) -> str:
        if self.language is OPENCL:
            return f"atomic_fetch_{word}_explicit(&{place}, {value}, memory_order_relaxed, memory_scope_device)"
        names = {"add": "Add", "min": "Min", "max": "Max", "or": "Or", "and": "And", "xor": "Xor"}
        if self.language is GLSL:
            return f"atomic{names[word]}({place}, {value})"
        return f"atomic{names[word]}(&{place}, {value})"

    def _if(self, depth: int) -> None:
        self.say(f"if ({self.predicate()}) {{")
        self.block(depth - 1)
        if self.rng.random() < 0.5:
            self.say("} else {")
            self.block(depth - 1)
        self.say("}")

    def _switch(self, depth: int) -> None:
        kind = self.rng.choice((INT, UINT))
        value = self.value(kind)
        self.say(f"switch ({value.text} & {self.language.literal(kind, 3)}) {{")
        cases = self.rng.sample(range(4), self.rng.randint(1, 3))
        for case in cases:
            self.say(f"case {case}{'' if kind.signed else 'u'}:")
            self.say("{")
            self.block(depth - 1)
            self.say("}")
            if self.rng.random() < 0.7:
                self.say("  break;")
        if self.rng.random() < 0.6:
            self.say("default: {")
            self.block(depth - 1)
            self.say("}")
            self.say("  break;")
        elif cases:
            self.say("  break;")
        self.say("}")

    def _for(self, depth: int) -> None:
        name, bound = self.new("i"), self.rng.randint(1, 3)
        self.say(f"for ({self.language.name(UINT)} {name} = 0u; {name} < {bound}u; {name}++) {{")
        self.fixed[name] = Value(name, UINT, True)
        self.places = {key: value._replace(known=False) for key, value in self.places.items()}
        self.loops += 1
        self.block(depth - 1)
        self.depth += 1
        if self.rng.random() < 0.3:
            self.say(f"if ({self.predicate()}) {self.rng.choice(('break', 'continue'))};")
            self.block(0, 1)
        self.depth -= 1
        self.loops -= 1
        del self.fixed[name]
        self.say("}")

    def _while(self, depth: int) -> None:
        name = self.new("y")
        start = self.value(UINT)
        self.declare(UINT, name, f"{start.text} & 3u")
        self.say(f"while ({name} != 0u) {{" if self.rng.random() < 0.7 else "do {")
        doing = self.lines[-1].endswith("do {")
        self.fixed[name] = Value(name, UINT, False)
        self.loops += 1
        self.block(depth - 1)
        self.loops -= 1
        self.say(f"  {name} = {name} >> 1;")
        del self.fixed[name]
        self.say(f"}} while ({name} != 0u);" if doing else "}")

    def _call(self, depth: int) -> None:
        """A function of its own, with a variable that it changes."""
        rng, language = self.rng, self.language
        kind, other = rng.choice(KINDS), rng.choice(KINDS)
        name, changed = self.new(f"{self.name}_f"), self.new("v")
        self.declare(kind, changed, self.value(kind).text)
        inner = _Writer(rng, language, self.common, self.threads, False, self.blocks, self.name)
        inner.made = 1000 * (len(self.functions) + 1)
        inner.read = {}
        at = "b" if language is GLSL else "(*b)"
        inner.fixed = {"a": Value("a", other, False), "b": Value(at, kind, False)}
        lines = [f"  {at} = {inner.plain(kind).text};"]
        if rng.random() < 0.5:
            lines.append(f"  if ({inner.plain(UINT).text} > 5u) return {inner.plain(other).text};")
        result = inner.plain(other)
        own, given = language.name(kind), language.name(other)
        parameter = f"inout {own} b" if language is GLSL else f"{own} *b"
        before = "__device__ " if language is CUDA else ""
        text = [f"{before}{given} {name}({given} a, {parameter}) {{", *lines, f"  return {result.text};", "}"]
        self.functions += text
        made = self.new("v")
        passed = changed if language is GLSL else f"&{changed}"
        self.declare(other, made, f"{name}({self.value(other, 1).text}, {passed})")
        self.places[made] = Value(made, other, False)
        self.places[changed] = Value(changed, kind, False)

    def plain(self, kind: Kind) -> Value:
        """A value of what is given alone, in one expression."""
        source = self.rng.choice(list(self.fixed.values()))
        value = self.convert(source, kind)
        return self.wrapping(self.rng.choice("+-*"), value, self.literal(kind))

    def _special(self, depth: int) -> None:
        """What one language has: vectors in memory, pointers; swizzles that are assigned."""
        rng = self.rng
        vectors = [name for name, each in self.places.items() if each.kind.lanes > 1]
        if vectors and rng.random() < 0.4:
            name = rng.choice(vectors)
            kind = self.places[name].kind
            components = "xyzw"[: kind.lanes]
            parts = "".join(rng.sample(components, 2))
            own = f"{name}.{''.join(rng.choices(components, k=2))}"  # components that change their places
            self.say(f"{name}.{parts} = {own if rng.random() < 0.3 else self.value(kind._replace(lanes=2), 1).text};")
            return
        if self.language is not OPENCL:
            self.store()
            return
        if rng.random() < 0.5:
            name = rng.choice(list(self.read))
            kind, lanes = self.read[name], rng.choice((2, 3, 4))
            made = self.new("v")
            start = rng.randrange(READ - lanes + 1)
            if rng.random() < 0.5:
                text = f"vload{lanes}({rng.randrange(READ // 4)}, {name})"
            else:
                text = f"vload{lanes}(0, {name} + {start})"
            self.declare(kind._replace(lanes=lanes), made, text)
            self.places[made] = Value(made, kind._replace(lanes=lanes), False)
        elif rng.random() < 0.5:
            name = rng.choice(list(self.written))
            kind, lanes = self.written[name], rng.choice((2, 4))
            value = self.value(kind._replace(lanes=lanes), 1)
            self.say(f"vstore{lanes}({value.text}, me * {WRITTEN // lanes}u, {name});")
        else:
            name = rng.choice(list(self.written))
            pointer = self.new("p")
            self.say(f"global {self.language.name(self.written[name])} *{pointer} = {name} + me * {WRITTEN}u;")
            self.say(f"{pointer} += {rng.randrange(2)};")
            self.say(f"*({pointer} + ({self.index(2)})) = {self.value(self.written[name], 1).text};")


FIELDS = (("a", Kind(True, 8)), ("b", Kind(False, 16)), ("c", INT), ("d", Kind(False, 64)), ("e", Kind(False, 8)))
"""The fields of the structs of threads."""

COUNTERS = ("add", "min", "max", "or", "and", "xor")


def random_program(seed: str, language: Language, common: bool = False, name: str = "main") -> Program:
    """The program of a seed in a language."""
    rng = Random(seed)
    blocks, threads = rng.choice(((2, 1), (1, 2), (1, 2), (1, 2), (2, 2), (1, 1)))
    few = rng.random() < 0.3
    w = _Writer(rng, language, common, threads, few, blocks, name)
    total = blocks * threads
    ids = language.ids
    kinds = rng.sample(sorted(set(KINDS)), 3)
    w.read = {f"r{n}": kind for n, kind in enumerate(kinds)}
    w.written = {f"w{n}": kind for n, kind in enumerate(rng.sample(sorted(set(KINDS)), 2))}
    words = rng.sample(COUNTERS, 2)
    w.counters = {f"n{n}": (rng.choice((INT, UINT)), word) for n, word in enumerate(words)}
    arrays = [Array(key, kind, _some_bytes(rng, kind, READ)) for key, kind in w.read.items()]
    arrays += [Array(key, kind, bytes(WRITTEN * total * kind.bits // 8)) for key, kind in w.written.items()]
    arrays += [Array(key, kind, _some_bytes(rng, kind, 2)) for key, (kind, _) in w.counters.items()]
    w.declare(UINT, "me", ids["global"])
    w.declare(UINT, "lane", ids["local"])
    w.declare(UINT, "group", ids["group"])
    w.fixed = {each: Value(each, UINT, True) for each in ("me", "lane", "group")}
    if rng.random() < 0.3:
        for one in ("s", "t"):
            w.say(f"{name}_S {one};")
            for part, kind in FIELDS:
                w.say(f"{one}.{part} = {w.leaf(kind).text};")
        w.structs = ["s", "t"]
        w.fixed |= {f"s.{part}": Value(f"s.{part}", kind, False) for part, kind in FIELDS}
    if rng.random() < 0.3:
        kind, own = rng.choice(KINDS), w.new("p")
        w.say(f"{language.name(kind)} {own}[4];")
        for at in range(4):
            w.say(f"{own}[{at}] = {w.leaf(kind).text};")
        w.private[own] = (kind, 4)
    if threads > 1 and rng.random() < 0.6:
        w.shared[w.new("h")] = rng.choice(KINDS)
    for _ in range(rng.randint(0, 2)):
        w.statement(rng.randint(0, 2))
    for each, kind in w.shared.items():
        w.say(f"{each}[lane] = {w.value(kind).text};")
    if w.shared:
        w.say(language.barrier)
    w.readable = list(w.shared)
    for _ in range(rng.randint(1, 2)):
        w.statement(rng.randint(0, 2))
    w.store()
    if w.shared and rng.random() < 0.4:
        w.say(language.barrier)
        w.readable = []
        each = rng.choice(list(w.shared))
        w.say(f"{each}[({threads - 1}u - lane)] = {w.value(w.shared[each]).text};")
        w.say(language.barrier)
        w.readable = list(w.shared)
        w.store()
    for one in w.structs[1:]:
        part, kind = rng.choice(FIELDS)
        out = rng.choice(list(w.written))
        w.say(f"{out}[me * {WRITTEN}u + 3u] ^= {w.convert(Value(f'{one}.{part}', kind, False), w.written[out]).text};")
    text = _TEXTS[language.suffix](w, arrays, name)
    return Program(text, blocks, threads, tuple(arrays), few)


def _some_bytes(rng: Random, kind: Kind, count: int) -> bytes:
    numbers = [rng.choice((rng.randrange(5), rng.getrandbits(kind.bits), -1 % (1 << kind.bits))) for _ in range(count)]
    return b"".join(number.to_bytes(kind.bits // 8, "little") for number in numbers)


def _struct(w: _Writer, name: str) -> list[str]:
    fields = " ".join(f"{w.language.name(kind)} {part};" for part, kind in FIELDS)
    if w.language is GLSL:
        return [f"struct {name}_S {{ {fields} }};"]
    return [f"typedef struct {{ {fields} }} {name}_S;"]


def _opencl(w: _Writer, arrays: list[Array], name: str) -> str:
    def parameter(array: Array) -> str:
        kind = w.language.name(array.kind)
        if array.name in w.counters:
            return f"global atomic_{kind} *{array.name}"
        return f"global {'const ' if array.name in w.read else ''}{kind} *{array.name}"

    head = f"kernel void {name}({', '.join(map(parameter, arrays))}) {{"
    shared = [f"  local {w.language.name(kind)} {each}[{w.threads}];" for each, kind in w.shared.items()]
    return "\n".join([*_struct(w, name), *w.functions, head, *shared, *w.lines, "}", ""])


EXTENSIONS = ("explicit_arithmetic_types", "8bit_storage", "16bit_storage")


def _glsl(w: _Writer, arrays: list[Array], name: str) -> str:
    lines = ["#version 450", "#extension GL_EXT_shader_explicit_arithmetic_types : require"]
    lines += [f"layout(local_size_x = {w.threads}) in;"]
    for number, array in enumerate(arrays):
        kind = w.language.name(array.kind)
        lines.append(f"layout(std430, set = 0, binding = {number}) buffer B{number} {{ {kind} {array.name}[]; }};")
    lines += [f"shared {w.language.name(kind)} {each}[{w.threads}];" for each, kind in w.shared.items()]
    return "\n".join([*lines, *_struct(w, name), *w.functions, "void main() {", *w.lines, "}", ""])


def _cuda(w: _Writer, arrays: list[Array], name: str) -> str:
    def parameter(array: Array) -> str:
        return f"{'const ' if array.name in w.read else ''}{w.language.name(array.kind)} *{array.name}"

    head = f'extern "C" __global__ void {name}({", ".join(map(parameter, arrays))}) {{'
    shared = [f"  __shared__ {w.language.name(kind)} {each}[{w.threads}];" for each, kind in w.shared.items()]
    return "\n".join([*_struct(w, name), *w.functions, head, *shared, *w.lines, "}", ""])


_TEXTS: Mapping[str, Callable[[_Writer, list[Array], str], str]] = {".cl": _opencl, ".comp": _glsl, ".cu": _cuda}
