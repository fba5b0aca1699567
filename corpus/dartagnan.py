"""AXB programs as litmus tests that Dartagnan takes: its PTX and Vulkan dialects, printed and read.

A thread of the program is a thread of its own CTA or workgroup, for the progress of workgroups is what is in question
(Sorensen et al. 2021, section 6). Every access is relaxed and atomic at device scope, so that all threads agree on the
order of the accesses to a location. A branching instruction is a load or an exchange into a register and a conditional
jump past a ``goto`` to the AXB instruction's target. Each instruction has a label, ``LC<thread><instruction>``, and so
has the end:

    LC00:
    atom.relaxed.gpu.exch r0, Mem0, 1
    bne r0, 1, LC01
    goto LC00
    LC01:

The final condition is the constant one, ``exists 0==0``: what is asked is whether the program ends. That is also how
Dartagnan's own ports of the published tests put it.

Gap: only what the printer writes is read, not the dialects as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from lark import Token, Tree

from corpus.axb import Instruction, Program, Thread
from corpus.errors import InputError
from corpus.syntax import LARGEST_LOCATION, number, parse

_TERMINALS = {
    "LANGUAGE": "PTX or VULKAN",
    "NAME": "a name",
    "STRING": "a text in quotes",
    "SCOPE": "a thread and its scopes",
    "LOAD": "a load",
    "STORE": "a store",
    "EXCHANGE": "an exchange",
    "THREAD": "a thread",
    "LOCATION": "a location",
    "REGISTER": "a register",
    "LABEL": "a label",
    "INT": "a number",
    "BNE": "bne",
    "GOTO": "goto",
    "EXISTS": "exists",
    "LBRACE": "{",
    "RBRACE": "}",
    "SEMICOLON": ";",
    "COLON": ":",
    "COMMA": ",",
    "VBAR": "|",
    "EQUAL": "=",
    "__ANON_0": "==",
    "$END": "the end of the file",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between the dialects: the keyword, the thread header and the three accesses."""

    language: str
    scopes: str
    load: str
    store: str
    exchange: str


PTX = Dialect(
    language="PTX",
    scopes="P{0}@cta {0},gpu 0",
    load="ld.relaxed.gpu",
    store="st.relaxed.gpu",
    exchange="atom.relaxed.gpu.exch",
)
VULKAN = Dialect(
    language="VULKAN",
    scopes="P{0}@sg 0,wg {0},qf 0",
    load="ld.atom.dv.sc0",
    store="st.atom.dv.sc0",
    exchange="rmw.atom.dv.sc0",
)

_DIALECTS = {dialect.language: dialect for dialect in (PTX, VULKAN)}


def print_litmus(program: Program, name: str, dialect: Dialect) -> str:
    """The program as a litmus test. ``name`` must be made of letters, digits and ``_.+-``."""
    cells = [f"Mem{location}=0;" for location in range(program.locations)]
    cells += [f"P{tid}:r0=0;" for tid, thread in enumerate(program.threads) if _reads(thread)]
    columns = [
        [dialect.scopes.format(tid), *_column(tid, thread, dialect)] for tid, thread in enumerate(program.threads)
    ]
    height = max(map(len, columns))
    padded = [
        [cell.ljust(max(map(len, column))) for cell in [*column, *[""] * (height - len(column))]] for column in columns
    ]
    rows = [" " + " | ".join(row) + " ;" for row in zip(*padded, strict=True)]
    return "\n".join([f"{dialect.language} {name}", "{", *cells, "}", *rows, "exists 0==0"]) + "\n"


def _reads(thread: Thread) -> bool:
    return any(not ins.is_store(pc) for pc, ins in enumerate(thread))


def _column(tid: int, thread: Thread, dialect: Dialect) -> list[str]:
    # All labels of a thread are equally long, so those of two threads never meet.
    width = len(str(len(thread)))
    labels = [f"LC{tid}{pc:0{width}}" for pc in range(len(thread) + 1)]
    column = []
    for pc, ins in enumerate(thread):
        column.append(f"{labels[pc]}:")
        if ins.is_store(pc):
            column.append(f"{dialect.store} Mem{ins.location}, {ins.exchange}")
            continue
        if ins.exchange is None:
            column.append(f"{dialect.load} r0, Mem{ins.location}")
        else:
            column.append(f"{dialect.exchange} r0, Mem{ins.location}, {ins.exchange}")
        column += [f"bne r0, {ins.check}, {labels[pc + 1]}", f"goto {labels[ins.jump]}"]
    return [*column, f"{labels[-1]}:"]


def parse_litmus(text: str, path: str | None = None) -> Program:
    """The AXB program that a litmus test of either dialect stands for.

    Raises ``InputError`` with line and column where the text is not what ``print_litmus`` writes for some program.
    """
    tree = parse("dartagnan", "test", text, path, _TERMINALS)
    dialect = _DIALECTS[str(tree.children[0])]
    zeros = [_tokens(declaration)[-1] for declaration in _children(tree, "declaration")]
    for constant in (*zeros, *_tokens(tree)[-2:]):
        if constant != "0":
            raise _unexpected(constant, "0", path)
    scopes = _tokens(_children(tree, "scopes")[0])
    for tid, scope in enumerate(scopes):
        if scope != dialect.scopes.format(tid):
            raise _unexpected(scope, dialect.scopes.format(tid), path)
    columns: list[list[Tree[Token]]] = [[] for _ in scopes]
    for row in _children(tree, "row"):
        if len(row.children) != len(columns):
            raise InputError(f"expected {len(columns)} columns, found {len(row.children)}", path, row.meta.line)
        for column, cell in zip(columns, _children(row, "cell"), strict=True):
            column += [item for item in cell.children if isinstance(item, Tree)]
    return Program(tuple(_Reader(dialect, *parts, path).thread() for parts in zip(scopes, columns, strict=True)))


def _children(tree: Tree[Token], kind: str) -> list[Tree[Token]]:
    return [child for child in tree.children if isinstance(child, Tree) and child.data == kind]


def _tokens(item: Tree[Token]) -> list[Token]:
    return [token for token in item.children if isinstance(token, Token)]


def _unexpected(found: Token, expected: str, path: str | None) -> InputError:
    return InputError(f"expected {expected}, found {found}", path, found.line, found.column)


class _Reader:
    """Reads one column: a label before each instruction and at the end, a branch and a jump after a read."""

    def __init__(self, dialect: Dialect, header: Token, items: list[Tree[Token]], path: str | None) -> None:
        self._dialect = dialect
        self._last = header
        self._items = items
        self._path = path
        self._next = 0
        self._counters: dict[str, int] = {}
        for item in items:
            if item.data == "label":
                label = _tokens(item)[0]
                if str(label) in self._counters:
                    raise _unexpected(label, "a new label", path)
                self._counters[str(label)] = len(self._counters)

    def thread(self) -> Thread:
        instructions: list[Instruction] = []
        while self._next < len(self._items) - 1:
            instructions.append(self._instruction(len(instructions)))
        self._take("label")
        if not instructions:
            raise self._ended("an instruction")
        return tuple(instructions)

    def _instruction(self, pc: int) -> Instruction:
        self._take("label")
        access, *operands = self._take("load", "store", "exchange")
        mnemonics = (self._dialect.load, self._dialect.store, self._dialect.exchange)
        if access not in mnemonics:
            raise _unexpected(access, " or ".join(mnemonics), self._path)
        if access == self._dialect.store:
            location, value = operands
            return Instruction(self._location(location), 0, pc + 1, self._number(value))
        register, location, *stored = operands
        compared, check, past = self._take("branch")
        if compared != register:
            raise _unexpected(compared, register, self._path)
        if self._counters.get(str(past)) != pc + 1:
            raise _unexpected(past, "the label of the next instruction", self._path)
        (target,) = self._take("jump")
        if str(target) not in self._counters:
            raise _unexpected(target, "a label of the same thread", self._path)
        exchange = self._number(stored[0]) if stored else None
        return Instruction(self._location(location), self._number(check), self._counters[str(target)], exchange)

    def _take(self, *kinds: str) -> list[Token]:
        wanted = " or ".join(f"a {kind}" if kind != "exchange" else "an exchange" for kind in kinds)
        if self._next == len(self._items):
            raise self._ended(wanted)
        item = self._items[self._next]
        self._next += 1
        if item.data not in kinds:
            raise _unexpected(_tokens(item)[0], wanted, self._path)
        self._last = _tokens(item)[-1]
        return _tokens(item)

    def _ended(self, wanted: str) -> InputError:
        place = (self._last.line, self._last.column)
        return InputError(f"expected {wanted} after {self._last}, found the end of the thread", self._path, *place)

    def _number(self, token: Token) -> int:
        return number(token, self._path)

    def _location(self, token: Token) -> int:
        return number(token.update(value=token.removeprefix("Mem")), self._path, LARGEST_LOCATION)
