"""Reads and prints litmus tests in the assembly of a processor, as herd7 reads them.

    AArch64 MP
    { 0:X0=x; 0:X1=y; 1:X1=y; 1:X2=x; x=0; y=0; }
     P0           | P1            ;
     MOV W2,#1    | LDAR W0,[X1]  ;
     STR W2,[X0]  | LDR W3,[X2]   ;
     STLR W2,[X1] |               ;
    exists (1:X0=1 /\\ 1:X3=0)

The instructions are rows of a table (``corpus.dialects.assembly.instructions``). Addresses are in registers from the
start. Constants that no instruction takes are in registers, which the first instructions of a thread set, so that they
are the same constants on every way through it. A register keeps its name where the processor has one of that name.

Every thread is on a processor of its own: there are no scopes, no regions, no barriers, no predicates.

Source: herdtools7 7.58, ``lib/MiscParser.mli`` and the parser of each architecture; the files of diy7.
Gaps: types of locations and registers, arrays, registers by other names (``a0``, ``WZR``), and all instructions that
are in no row, each of which is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, partial
from itertools import count

from corpus.dialects.assembly.instructions import AARCH64 as _AARCH64
from corpus.dialects.assembly.instructions import PPC as _PPC
from corpus.dialects.assembly.instructions import RISCV as _RISCV
from corpus.dialects.assembly.instructions import X86_64 as _X86_64
from corpus.dialects.assembly.instructions import AssemblyRow, LitmusAssembly
from corpus.dialects.c_like.reader import c_places
from corpus.dialects.c_like.writer import same_tree
from corpus.dialects.herd import WORDS, check_comparisons, check_terms, herd_name, herd_text
from corpus.errors import InputError
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Assign, Branch, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Operand, Reg, Region
from corpus.litmus.normal import map_operands, terms, without_constants, without_predicates
from corpus.litmus.orders import Mode
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, ForeignRunner, Source, place_in
from corpus.litmus.threads import Thread

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_INITIAL = re.compile(
    r"\s*(?:(?P<thread>[0-9]{1,9}):(?P<register>\w+)|\[?(?P<location>[A-Za-z]\w*)\]?)\s*(?:=\s*(?P<value>-?\w+)\s*)?"
)
_LABEL = re.compile(r"\s*(?P<label>[A-Za-z]\w*)\s*:")
_NUMBER = r"-?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19})"
_FIELDS = {"n": _NUMBER, "l": r"[A-Za-z]\w*", "x": r"[A-Za-z]\w*"}
_REGISTER = r"%?[A-Za-z]\w*"
_SIGN, _LARGEST_UNSIGNED = 1 << 31, (1 << 32) - 1
"""The sign of a number of 32 bits, and the largest without one."""
_WIDE = ("a", "b", "c")
"""The first letters of fields that are registers with addresses."""

Initial = int | Loc
"""An initial value: a number or an address."""
Fields = dict[str, Operand | str]
"""What the fields of a row stand for."""


# Reading.


@dataclass(frozen=True, slots=True)
class _Cell:
    """A label or an instruction of a thread, and where it begins in the text."""

    text: str
    start: int
    is_label: bool = False


def _read(assembly: LitmusAssembly, source: Source) -> LitmusTest:
    columns = _columns(assembly, source)
    registers, locations = _initial(assembly, source, len(columns))
    places = c_places(len(columns))
    threads = [
        Thread(_code(assembly, source, cells), places[number], tuple(sorted(registers[number].items())))
        for number, cells in enumerate(columns)
    ]
    return source.test(threads, [Location(name, value) for name, value in locations.items()])


def _error(source: Source, text: str, start: int, message: str) -> InputError:
    return InputError(message, source.path, *place_in(text, start))


def _columns(assembly: LitmusAssembly, source: Source) -> list[list[_Cell]]:
    """The labels and instructions of each thread."""
    body, start, rows = source.body, 0, []
    for end in [end_mark.start() for end_mark in re.finditer(";", body)]:
        cells, begin = [], start
        for cell in body[start:end].split("|"):
            cells.append((cell, begin))
            begin += len(cell) + 1
        rows.append(cells)
        start = end + 1
    if not rows or body[start:].strip():
        what = "the rows of the threads, which ; ends" if not rows else "; at the end of the row"
        raise _error(source, body, start, f"expected {what}")
    for number, (cell, begin) in enumerate(rows[0]):
        if cell.strip() != f"P{number}":
            raise _error(
                source, body, begin + len(cell) - len(cell.lstrip()), f"expected P{number}, found {cell.strip()}"
            )
    columns: list[list[_Cell]] = [[] for _ in rows[0]]
    for row in rows[1:]:
        if len(row) != len(columns):
            first = row[0][1] + len(row[0][0]) - len(row[0][0].lstrip())
            raise _error(source, body, first, f"expected {len(columns)} columns, found {len(row)}")
        for column, (cell, begin) in zip(columns, row, strict=True):
            while found := _LABEL.match(cell):
                column.append(_Cell(found["label"], begin + found.start("label"), is_label=True))
                cell, begin = cell[found.end() :], begin + found.end()
            if cell.strip():
                column.append(_Cell(" ".join(cell.split()), begin + len(cell) - len(cell.lstrip())))
    return columns


def _initial(
    assembly: LitmusAssembly, source: Source, threads: int
) -> tuple[list[dict[str, Initial]], dict[str, Initial]]:
    """The initial values of the registers of each thread, and of locations."""
    text = source.state
    opening, closing = text.index("{"), text.rindex("}")
    registers: list[dict[str, Initial]] = [{} for _ in range(threads)]
    locations: dict[str, Initial] = {}
    start = opening + 1
    for piece in text[start:closing].split(";"):
        begin = start + len(piece) - len(piece.lstrip())
        found = _INITIAL.fullmatch(piece)
        start += len(piece) + 1
        if not piece.strip():
            continue
        if found is None:
            raise _error(source, text, begin, f"expected an initial value, as 0:{assembly.registers[0]}=x or x=1")
        value = _value(found["value"] or "0")
        if value is None:
            raise _error(source, text, begin, f"expected a location or a number of 32 bits, found {found['value']}")
        if found["location"]:
            into, name = locations, found["location"]
        elif int(found["thread"]) < threads:
            into, name = registers[int(found["thread"])], _wide(assembly).get(found["register"].lower(), "")
        else:
            raise _error(
                source, text, begin, f"the initial state has a register of P{found['thread']}, which is no thread"
            )
        if not name:
            raise _error(source, text, begin, f"{assembly.language} has no register {found['register']} here")
        if name in into:
            raise _error(source, text, begin, f"{name} has two initial values")
        into[name] = value
    return registers, locations


def _value(word: str) -> Initial | None:
    """The location or the number that a word names, None where it is neither, or the number has more than 32 bits."""
    if re.fullmatch(_NUMBER, word):
        return _number(word)
    return Loc(word) if _NAME.fullmatch(word) else None


def _number(word: str, unit: int = 1) -> int | None:
    """So many units as a word says, as a number of 32 bits, None where it has more."""
    value = (int(word, 16) if "x" in word.lower() else int(word)) * unit
    return (value & _LARGEST_UNSIGNED) - ((value & _SIGN) << 1) if -_SIGN <= value <= _LARGEST_UNSIGNED else None


def _code(assembly: LitmusAssembly, source: Source, cells: Sequence[_Cell]) -> tuple[Instruction, ...]:
    code: list[Instruction] = []
    fresh = (f"t{number}" for number in count())
    place = 0
    while place < len(cells):
        if cells[place].is_label:
            code.append(Label(cells[place].text))
            place += 1
            continue
        for row, pattern, lines in _patterns(assembly):
            run = cells[place : place + lines]
            if len(run) == lines and not any(cell.is_label for cell in run):
                found = pattern.fullmatch(";".join(cell.text for cell in run))
                bound = None if found is None else _bound(assembly, found.groupdict(), row, fresh)
                if bound is not None:
                    code += [_filled(ins, bound) for ins in row.meaning]
                    place += lines
                    break
        else:
            cell = cells[place]
            raise _error(source, source.body, cell.start, f"{assembly.language} has no instruction {cell.text} here")
    return tuple(code)


@cache
def _patterns(assembly: LitmusAssembly) -> list[tuple[AssemblyRow, re.Pattern[str], int]]:
    """The rows, those with most lines first, each with the pattern of its lines, and how many these are."""
    found = []
    for row in sorted(assembly.rows, key=lambda row: -row.text.count(";")):
        parts = re.split(r"(\{\w\}|;| |,)", row.text)
        known: set[str] = set()
        pattern = ""
        for part in filter(None, parts):
            if part[0] == "{":
                name = part[1:-1]
                pattern += f"(?P={name})" if name in known else f"(?P<{name}>{_FIELDS.get(name[0], _REGISTER)})"
                known.add(name)
            else:
                pattern += {";": r"\s*;", " ": r"\s+" if pattern[-1:] != ";" else r"\s*", ",": r"\s*,\s*"}.get(
                    part, re.escape(part)
                )
        found.append((row, re.compile(pattern.replace(r";\s+", r";\s*"), re.IGNORECASE), row.text.count(";") + 1))
    return found


@cache
def _wide(assembly: LitmusAssembly) -> dict[str, str]:
    """The registers by their names in lower case."""
    return {name.lower(): name for name in assembly.registers}


@cache
def _narrow(assembly: LitmusAssembly) -> dict[str, str]:
    """The registers by their spellings where they hold data, in lower case."""
    return {spelled.lower(): name for name, spelled in zip(assembly.registers, assembly.narrow, strict=True)}


def _bound(assembly: LitmusAssembly, words: Mapping[str, str], row: AssemblyRow, fresh: Iterator[str]) -> Fields | None:
    """The fields of a row that was read, None where a word is no register of the kind that it should be."""
    bound: Fields = {}
    for name, word in words.items():
        if name == "n":
            number = _number(word, row.unit)
            if number is None:
                return None
            bound[name] = number
        elif name in ("l", "x"):
            bound[name] = word if name == "l" else Loc(word)
        else:
            known = (_wide if name in _WIDE else _narrow)(assembly).get(word.lower())
            if known is None:
                return None
            bound[name] = Reg(known)
    if any(name not in bound for name in _named(row)):
        bound["f"] = Reg(next(fresh))
    return bound


def _named(row: AssemblyRow) -> Iterator[str]:
    """The fields of a row's meaning."""
    return (name for name in re.findall(r"\?(\w)", repr(row.meaning)))


def _filled(shape: object, bound: Fields) -> Instruction:
    filled = _fill(shape, bound)
    assert isinstance(filled, Load | Store | Rmw | Fence | Assign | Branch)
    return filled


def _fill(shape: object, bound: Fields) -> object:
    match shape:
        case Reg(name) | Loc(name) if name.startswith("?"):
            return bound[name[1:]]
        case str() if shape.startswith("?"):
            value = bound[shape[1:]]
            return value.name if isinstance(value, Reg) else value
        case tuple():
            return tuple(_fill(part, bound) for part in shape)
    if is_dataclass(shape) and not isinstance(shape, type | Mode):
        return replace(shape, **{field.name: _fill(getattr(shape, field.name), bound) for field in fields(shape)})
    return shape


# Printing.


def _print(assembly: LitmusAssembly, test: LitmusTest) -> str:
    test = without_constants(without_predicates(test))
    check_comparisons(test.condition, assembly.language)
    if not same_tree([thread.place for thread in test.threads], c_places(len(test.threads))):
        raise InputError(f"{assembly.language} has no scopes: each thread is on a processor of its own")
    for location in test.locations:
        special = location.alias or location.region is not Region.GLOBAL or isinstance(location.initial, Loc)
        if special or not _fits(assembly, location.name):
            what = "aliases, other regions and pointers" if special else "locations of that name"
            raise InputError(f"{location.name}: {assembly.language} has no {what} here")
    columns = [_Column(assembly, test, number) for number in range(len(test.threads))]
    state = [line for column in columns if (line := column.declarations())]
    state += [f"{location.name}={location.initial};" for location in test.locations]
    code = [column.cells for column in columns]
    return herd_text(test, assembly.language, state, code, lambda term: columns[term.thread].register(term.register))


def _fits(assembly: LitmusAssembly, name: str) -> bool:
    """Whether herd7 reads a word as the name of a location, or a label."""
    registers = {*_wide(assembly), *(spelled.lstrip("%") for spelled in _narrow(assembly))}
    return name not in WORDS and name.lower() not in registers and _NAME.fullmatch(name) is not None


def _constant(value: Operand) -> str:
    return str(value) if isinstance(value, int) else value.name


class _Column:
    """One thread as a column of instructions, ``cells``."""

    def __init__(self, assembly: LitmusAssembly, test: LitmusTest, number: int) -> None:
        self._assembly = assembly
        self._number = number
        self._thread = thread = test.threads[number]
        observed = {
            term.register for term in terms(test.condition) if isinstance(term, FinalRegister) and term.thread == number
        }
        names = sorted(thread.names | observed)
        taken = {name for name in names if name in assembly.registers}
        self._free = (name for name in assembly.registers if name not in taken)
        self._names = {name: name if name in taken else self._next() for name in names}
        labels = [ins.name for ins in thread.instructions if isinstance(ins, Label)]
        # Labels of all threads are of one name space in some of herd7's architectures.
        self._labels = {name: f"L{number}{place:02}" for place, name in enumerate(labels)}
        self._addresses: dict[str, str] = {}
        self._constants: dict[int, str] = {}
        body = [cell for ins in thread.instructions for cell in self._instruction(ins)]
        first = [
            cell
            for value, register in self._constants.items()
            for cell in self._written(Assign(register, "mov", (value,))) or ()
        ]
        self.cells = [*first, *body]

    def register(self, name: str) -> str:
        """Return the name of the processor's register for one of the thread."""
        return self._names[name]

    def declarations(self) -> str:
        """Return the initial values of registers on a line."""
        initial = [(self._names[name], value) for name, value in self._thread.registers]
        initial += [(register, Loc(name)) for name, register in self._addresses.items()]
        order = self._assembly.registers.index
        pairs = sorted(initial, key=lambda pair: order(pair[0]))
        return " ".join(f"{self._number}:{register}={_constant(value)};" for register, value in pairs)

    def _next(self) -> str:
        found = next(self._free, None)
        if found is None:
            raise InputError(f"P{self._number}: {self._assembly.language} has no more registers")
        return found

    def _instruction(self, ins: Instruction) -> list[str]:
        if isinstance(ins, Label):
            return [f"{self._labels[ins.name]}:"]
        if (cells := self._written(ins)) is None:
            cells = self._written(map_operands(ins, self._in_register))
        if cells is None:
            reason = f"{self._assembly.language} has no such instruction here"
            raise cannot_say(self._number, ins, reason)
        return cells

    def _in_register(self, operand: Operand) -> Operand:
        """A register that holds the number, where the operand is one that can be set."""
        if not isinstance(operand, int):
            return operand
        if operand not in self._constants:
            register = self._next()
            self._names[register] = register
            if self._written(Assign(register, "mov", (operand,))) is None:
                return operand
            self._constants[operand] = register
        return Reg(self._constants[operand])

    def _written(self, ins: Instruction) -> list[str] | None:
        """The lines of the first row that says the instruction, None where there is none."""
        for row in self._assembly.rows:
            bound: Fields = {}
            if len(row.meaning) == 1 and _fits_shape(row.meaning[0], ins, bound):
                words = {name: self._word(name, value, row) for name, value in bound.items()}
                if None not in words.values():
                    return row.text.format(**words).split("; ")
        return None

    def _word(self, field: str, value: Operand | str, row: AssemblyRow) -> str | None:
        """How a field of a row is spelled, None where it cannot hold the value."""
        match value:
            case int():
                units, rest = divmod(value, row.unit)
                return str(units) if field == "n" and not rest and row.least <= units <= row.most else None
            case str():
                return self._labels[value] if field == "l" else self._spelled(field, self._names[value])
            case Reg(name):
                return None if field in ("b", "n", "x") else self._spelled(field, self._names[name])
            case Loc(name) if field in ("a", "b"):
                if name not in self._addresses:
                    self._addresses[name] = self._next()
                return self._addresses[name]
            case Loc(name) if field == "x":
                return name
        return None

    def _spelled(self, field: str, register: str) -> str:
        wide = field in _WIDE
        return register if wide else self._assembly.narrow[self._assembly.registers.index(register)]


def _fits_shape(shape: object, value: object, bound: Fields) -> bool:
    """Whether a value is of a shape; then ``bound`` has what its fields stand for."""
    match shape:
        case Reg(name) | Loc(name) if name.startswith("?"):
            if not isinstance(value, int | Reg | Loc):
                return False
            return bound.setdefault(name[1:], value) == value
        case str() if shape.startswith("?"):
            return isinstance(value, str) and bound.setdefault(shape[1:], value) == value
        case tuple():
            if not isinstance(value, tuple) or len(value) != len(shape):
                return False
            return all(_fits_shape(one, other, bound) for one, other in zip(shape, value, strict=True))
    if is_dataclass(shape) and not isinstance(shape, Mode) and type(shape) is type(value):
        return all(
            _fits_shape(getattr(shape, field.name), getattr(value, field.name), bound) for field in fields(shape)
        )
    return shape == value


def _dialect(name: str, assembly: LitmusAssembly) -> Dialect:
    return Dialect(
        name,
        assembly.language,
        partial(_read, assembly),
        partial(_print, assembly),
        runners=(ForeignRunner(f"herd-{name}", herd_name, check=check_terms),),
    )


AARCH64 = _dialect("aarch64", _AARCH64)
PPC = _dialect("ppc", _PPC)
RISCV = _dialect("riscv", _RISCV)
X86_64 = _dialect("x86-64", _X86_64)
"""The assembly of each processor, as herd7 reads it."""
