"""AXB programs as pseudo-code: a parser and a printer, inverse of each other.

    THREAD 0
    0: if (Exch(Mem[0],1) == 1) goto 0;
    1: Mem[0] = 0;
    THREAD 1
    0: if (Mem[0] == 0) goto END;

``Mem[l] = v;`` is the store ``AXB(l, 0, next, true, v)``. ``//`` starts a comment. The printer always gives the same
text for a program; ``parse_axb(print_axb(p)) == p`` for every program.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from corpus.axb import Instruction, Program
from corpus.errors import InputError

# How the grammar's terminals read to a person.
_TERMINALS = {
    "INT": "a number",
    "END": "END",
    "THREAD": "THREAD",
    "$END": "the end of the file",
    "EQUAL": "=",
    "__ANON_0": "==",
    "SEMICOLON": ";",
    "COLON": ":",
    "COMMA": ",",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "IF": "if",
    "GOTO": "goto",
    "EXCH": "Exch",
    "MEM": "Mem",
}


@cache
def _parser() -> Lark:
    grammar = files("corpus").joinpath("axb.lark").read_text(encoding="utf-8")
    return Lark(grammar, start="program", parser="lalr", propagate_positions=True)


def print_instruction(ins: Instruction, pc: int, length: int) -> str:
    """One instruction as pseudo-code, without its label; ``length`` is the number of instructions of its thread."""
    cell = f"Mem[{ins.location}]"
    if ins.is_store(pc):
        return f"{cell} = {ins.exchange};"
    read = cell if ins.exchange is None else f"Exch({cell},{ins.exchange})"
    return f"if ({read} == {ins.check}) goto {'END' if ins.jump == length else ins.jump};"


def print_axb(program: Program) -> str:
    """The pseudo-code of a program, one instruction a line, newline at the end."""
    lines = []
    for tid, thread in enumerate(program.threads):
        lines.append(f"THREAD {tid}")
        lines += [f"{pc}: {print_instruction(ins, pc, len(thread))}" for pc, ins in enumerate(thread)]
    return "\n".join(lines) + "\n"


def parse_axb(text: str, path: str | None = None) -> Program:
    """The program that ``text`` denotes.

    Raises ``InputError`` with line, column and what was expected; ``path`` is only named in it.
    """
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, path) from None
    return Program(
        tuple(_thread(tid, thread, path) for tid, thread in enumerate(tree.children) if isinstance(thread, Tree))
    )


def read_axb(path: Path) -> Program:
    """The program in a file. Raises ``InputError`` where the file is missing, is not text, or does not parse."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot read: {reason}", str(path)) from None
    return parse_axb(text, str(path))


def _syntax_error(error: UnexpectedInput, text: str, path: str | None) -> InputError:
    if isinstance(error, UnexpectedCharacters):
        names, found = error.allowed, repr(text[error.pos_in_stream or 0])
    else:
        assert isinstance(error, UnexpectedToken | UnexpectedEOF)
        names = set(error.expected)
        token = error.token if isinstance(error, UnexpectedToken) else None
        found = repr(str(token)) if token else "the end of the file"
    wanted = " or ".join(sorted(_TERMINALS.get(name, name) for name in names))
    line, column = error.line, error.column
    if line is None or line < 1:  # at the end of the file
        line, column = text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    return InputError(f"expected {wanted}, found {found}", path, line, column)


def _int(token: object) -> int:
    assert isinstance(token, Token)
    return int(token)


def _labelled(token: object, expected: int, what: str, path: str | None) -> None:
    assert isinstance(token, Token)
    if int(token) != expected:
        raise InputError(f"expected {what} {expected}, found {token}", path, token.line, token.column)


def _thread(tid: int, tree: Tree[Token], path: str | None) -> tuple[Instruction, ...]:
    label, *lines = tree.children
    _labelled(label, tid, "THREAD", path)
    return tuple(_line(pc, len(lines), line, path) for pc, line in enumerate(lines) if isinstance(line, Tree))


def _line(pc: int, length: int, tree: Tree[Token], path: str | None) -> Instruction:
    label, body = tree.children
    _labelled(label, pc, "instruction", path)
    assert isinstance(body, Tree)
    if body.data == "store":
        cell, value = body.children
        assert isinstance(cell, Tree)
        return Instruction(_int(cell.children[0]), 0, pc + 1, _int(value))
    read, check, target = body.children
    assert isinstance(read, Tree) and isinstance(target, Tree)
    cell = read.children[0]
    assert isinstance(cell, Tree)
    exchange = _int(read.children[1]) if read.data == "exchange" else None
    goal = target.children[0]
    assert isinstance(goal, Token)
    jump = length if goal.type == "END" else int(goal)
    if jump > length:
        raise InputError(f"jump out of range: expected END or 0..{length}, found {goal}", path, goal.line, goal.column)
    return Instruction(_int(cell.children[0]), _int(check), jump, exchange)
