"""Tables of the instructions of AArch64, Power, RISC-V and x86-64 that litmus tests are made of, as herd7 spells them.

A row is a text with fields and what it means, instructions of ours that have these fields:

    "LDR {t},[{a}]"        Load("?t", Reg("?a"))
    "CMP {r},{s}; B.NE {l}"    Branch("?l", Comparison("ne", Reg("?r"), Reg("?s")))

Printing, the first row whose meaning fits an instruction is taken, and the fields are filled in; reading, the row with
the most lines whose texts fit. The first letter of a field says what it stands for:

    t v r s   registers, as data       a   a register that holds an address       n   a number
    c         a target for an address  b   the register of a location's address   l   a label    x   a location

Words of accesses and fences (``ldar``, ``lwsync``, ``fence.r.rw``) are those of ``corpus.litmus.processors``.

Source: herdtools7 7.58, ``lib/AArch64Parser.mly``, ``PPCParser.mly``, ``RISCVParser.mly``, ``X86_64Parser.mly``; the
ranges of constants are those of the instructions' immediates (Arm: ``MOV`` of 16 bits, or of a bit mask; Power ISA:
``addi``, ``addis``; RISC-V: ``ori``, ``lui``).
Gaps: atomic operations of Power, which are loops (``lwarx``, ``stwcx.``); those of x86 but ``xchg``, for herd7 has no
``xadd``; computed addresses on x86, where they order nothing; accesses of 8, 16 and 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpus.litmus.instructions import Assign, Branch, Comparison, Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.made import HIGH_BIT
from corpus.litmus.orders import DEFAULT_RMW, PLAIN, Mode
from corpus.litmus.processors import mode_of


@dataclass(frozen=True, slots=True)
class AssemblyRow:
    """A text with fields, lines apart by ``; ``, and the instructions that it means, whose fields are ``?name``.

    A number field holds the number divided by ``unit``, and is printed where it is between ``least`` and ``most``. Only
    a row of one instruction is ever printed. A field that the text has not, ``?f``, is a register that nobody else has.
    """

    text: str
    meaning: tuple[Instruction, ...]
    least: int = -(2**31)
    most: int = 2**31 - 1
    unit: int = 1


@dataclass(frozen=True, slots=True)
class LitmusAssembly:
    """The assembly of a processor: the first word of its litmus tests, its registers as conditions and initial states
    name them, each with its spelling where it holds 32 bits of data, and its rows.
    """

    language: str
    registers: tuple[str, ...]
    narrow: tuple[str, ...]
    rows: tuple[AssemblyRow, ...]


_T, _V, _R, _S, _A, _B, _F = (Reg(f"?{field}") for field in "tvrsabf")
_N: Operand = Reg("?n")
_X = Loc("?x")


def _modes(kind: type, *words: str) -> Iterator[tuple[str, Mode]]:
    """The words, each with its mode; the empty word is that of a plain access, or of an atomic operation without."""
    for word in words:
        mode = (DEFAULT_RMW if kind is Rmw else PLAIN) if not word else mode_of(kind, word)
        assert mode is not None, word
        yield word, mode


def _assign(text: str, operation: str, *operands: Operand, target: str = "?t") -> AssemblyRow:
    return AssemblyRow(text, (Assign(target, operation, operands),))


def _branch(text: str, operation: str | None = None, left: Operand = _R, right: Operand = _N) -> AssemblyRow:
    return AssemblyRow(text, (Branch("?l", Comparison(operation, left, right) if operation else None),))


def _fences(kind: dict[str, str]) -> list[AssemblyRow]:
    """The rows of fences, of their texts by their words."""
    return [AssemblyRow(text, (Fence(mode),)) for word, text in kind.items() for _, mode in _modes(Fence, word)]


def _aarch64() -> Iterator[AssemblyRow]:
    loads = {"": "LDR", "ldapr": "LDAPR", "ldar": "LDAR"}
    stores = {"": "STR", "stlr": "STLR"}
    for word, mode in _modes(Load, *loads):
        yield AssemblyRow(f"{loads[word]} {{t}},[{{a}}]", (Load("?t", _A, mode),))
    for word, mode in _modes(Store, *stores):
        yield AssemblyRow(f"{stores[word]} {{v}},[{{a}}]", (Store(_A, _V, mode),))
    for word, mode in _modes(Rmw, "", "a", "l", "al"):
        yield AssemblyRow(f"SWP{word.upper()} {{v}},{{t}},[{{a}}]", (Rmw("exch", "?t", _A, (_V,), mode),))
        for name, operation in {"LDADD": "add", "LDEOR": "xor", "LDSET": "or"}.items():
            yield AssemblyRow(f"{name}{word.upper()} {{v}},{{t}},[{{a}}]", (Rmw(operation, "?t", _A, (_V,), mode),))
    yield from _fences({"dmb.sy": "DMB SY", "dmb.ld": "DMB LD", "dmb.st": "DMB ST", "isb": "ISB"})
    yield AssemblyRow("MOV {t},#{n}", (Assign("?t", "mov", (_N,)),), 0, 2**16 - 1)
    yield _assign("MOV {t},{v}", "mov", _V)
    yield _assign("ADD {c},{b},{r},SXTW", "add", _B, _R, target="?c")
    yield AssemblyRow("ADD {t},{v},#{n}", (Assign("?t", "add", (_V, _N)),), 0, 2**12 - 1)
    yield AssemblyRow("AND {t},{v},#{n}", (Assign("?t", "and", (_V, _N)),), HIGH_BIT, HIGH_BIT)
    for name, operation in {"ADD": "add", "EOR": "xor", "AND": "and"}.items():
        yield _assign(f"{name} {{t}},{{v}},{{r}}", operation, _V, _R)
    yield AssemblyRow("LDR {t},[{b},{r},SXTW]", (Assign("?f", "add", (_B, _R)), Load("?t", _F)))
    yield AssemblyRow("STR {v},[{b},{r},SXTW]", (Assign("?f", "add", (_B, _R)), Store(_F, _V)))
    yield _branch("CBNZ {r},{l}", "ne", _R, 0)
    yield _branch("CBZ {r},{l}", "eq", _R, 0)
    for operation in ("ne", "eq"):
        text = f"CMP {{r}},#{{n}}; B.{operation.upper()} {{l}}"
        yield AssemblyRow(text, (Branch("?l", Comparison(operation, _R, _N)),), 0, 2**12 - 1)
        yield _branch(f"CMP {{r}},{{s}}; B.{operation.upper()} {{l}}", operation, _R, _S)
    yield _branch("B {l}")


def _power() -> Iterator[AssemblyRow]:
    yield AssemblyRow("lwz {t},0({a})", (Load("?t", _A),))
    yield AssemblyRow("stw {v},0({a})", (Store(_A, _V),))
    yield from _fences({word: word for word in ("sync", "lwsync", "isync", "eieio")})
    yield AssemblyRow("li {t},{n}", (Assign("?t", "mov", (_N,)),), -(2**15), 2**15 - 1)
    yield AssemblyRow("lis {t},{n}", (Assign("?t", "mov", (_N,)),), -(2**15), 2**15 - 1, 2**16)
    yield _assign("mr {t},{v}", "mov", _V)
    yield _assign("add {c},{b},{r}", "add", _B, _R, target="?c")
    yield AssemblyRow("addi {t},{v},{n}", (Assign("?t", "add", (_V, _N)),), -(2**15), 2**15 - 1)
    for operation in ("add", "xor", "and"):
        yield _assign(f"{operation} {{t}},{{v}},{{r}}", operation, _V, _R)
    yield AssemblyRow("lwzx {t},{r},{b}", (Assign("?f", "add", (_B, _R)), Load("?t", _F)))
    yield AssemblyRow("stwx {v},{r},{b}", (Assign("?f", "add", (_B, _R)), Store(_F, _V)))
    for operation in ("ne", "eq"):
        yield AssemblyRow(
            f"cmpwi {{r}},{{n}}; b{operation} {{l}}",
            (Branch("?l", Comparison(operation, _R, _N)),),
            -(2**15),
            2**15 - 1,
        )
        yield _branch(f"cmpw {{r}},{{s}}; b{operation} {{l}}", operation, _R, _S)
    yield _branch("b {l}")


def _riscv() -> Iterator[AssemblyRow]:
    for word, mode in _modes(Load, "", "aq"):
        yield AssemblyRow(f"lw{_suffix(word)} {{t}},0({{a}})", (Load("?t", _A, mode),))
    for word, mode in _modes(Store, "", "rl"):
        yield AssemblyRow(f"sw{_suffix(word)} {{v}},0({{a}})", (Store(_A, _V, mode),))
    for word, mode in _modes(Rmw, "", "aq", "rl", "aqrl"):
        for suffix in dict.fromkeys([_suffix(word), _suffix(word).replace("aqrl", "aq.rl")]):
            for name, operation in {"swap": "exch", "add": "add", "xor": "xor", "or": "or", "and": "and"}.items():
                text = f"amo{name}.w{suffix} {{t}},{{v}},({{a}})"
                yield AssemblyRow(text, (Rmw(operation, "?t", _A, (_V,), mode),))
    sets = ("r", "w", "rw")
    fences = {f"fence.{before}.{after}": f"fence {before},{after}" for before in sets for after in sets}
    yield from _fences({**fences, "fence.tso": "fence.tso"})
    yield AssemblyRow("ori {t},x0,{n}", (Assign("?t", "mov", (_N,)),), -(2**11), 2**11 - 1)
    yield AssemblyRow("lui {t},{n}", (Assign("?t", "mov", (_N,)),), -(2**19), 2**19 - 1, 2**12)
    yield _assign("add {c},{b},{r}", "add", _B, _R, target="?c")
    for name, operation in {"add": "add", "xor": "xor", "or": "or", "and": "and"}.items():
        yield AssemblyRow(f"{name}i {{t}},{{v}},{{n}}", (Assign("?t", operation, (_V, _N)),), -(2**11), 2**11 - 1)
        yield _assign(f"{name} {{t}},{{v}},{{r}}", operation, _V, _R)
    for operation in ("ne", "eq"):
        yield _branch(f"b{operation} {{r}},x0,{{l}}", operation, _R, 0)
        yield _branch(f"b{operation} {{r}},{{s}},{{l}}", operation, _R, _S)
    yield _branch("j {l}")


def _suffix(word: str) -> str:
    return f".{word}" if word else ""


def _x86_64() -> Iterator[AssemblyRow]:
    yield AssemblyRow("movl ({x}),{t}", (Load("?t", _X),))
    yield AssemblyRow("movl ${n},({x})", (Store(_X, _N),))
    yield AssemblyRow("movl {v},({x})", (Store(_X, _V),))
    yield AssemblyRow("movl ${n},{t}; xchgl {t},({x})", (Rmw("exch", "?t", _X, (_N,), DEFAULT_RMW),))
    yield AssemblyRow("movl {v},{t}; xchgl {t},({x})", (Rmw("exch", "?t", _X, (_V,), DEFAULT_RMW),))
    yield from _fences({"mfence": "mfence"})
    yield AssemblyRow("movl ${n},{t}", (Assign("?t", "mov", (_N,)),))
    yield _assign("movl {v},{t}", "mov", _V)
    for operation in ("ne", "eq"):
        jump = "jne" if operation == "ne" else "je"
        yield _branch(f"cmpl ${{n}},{{r}}; {jump} {{l}}", operation)
        yield _branch(f"cmpl {{s}},{{r}}; {jump} {{l}}", operation, _R, _S)
    yield _branch("jmp {l}")


_ARM = range(29)
_POWER = tuple(f"r{number}" for number in range(1, 32))
_RISCV = tuple(f"x{number}" for number in range(5, 32))
_X86 = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", *(f"r{number}" for number in range(8, 16)))

AARCH64 = LitmusAssembly(
    "AArch64",
    tuple(f"X{number}" for number in _ARM),
    tuple(f"W{number}" for number in _ARM),
    tuple(_aarch64()),
)
PPC = LitmusAssembly("PPC", _POWER, _POWER, tuple(_power()))
RISCV = LitmusAssembly("RISCV", _RISCV, _RISCV, tuple(_riscv()))
X86_64 = LitmusAssembly(
    "X86_64",
    _X86,
    tuple(f"%e{name[1:]}" if name[1].isalpha() else f"%{name}d" for name in _X86),
    tuple(_x86_64()),
)
