"""Terms and statements of a .cat model as text, each in one line, with brackets around binary operators."""

from __future__ import annotations

import re

from oracle.cat import terms

_NAME = re.compile(r"[A-Za-z][\w.-]*")

_BINARY = {"union": " | ", "compose": "; ", "difference": " \\ ", "intersection": " & ", "product": " * "}
_ASSOCIATIVE = {"union", "compose", "intersection"}
_SUFFIXES = {"plus": "^+", "star": "^*", "optional": "?", "inverse": "^-1"}


def check_text(check: terms.ModelCheck) -> str:
    """A check as it is written, without its name: ``acyclic rf | co | fr | po``."""
    return f"{'flag ' * check.flag}{'~' * check.negated}{check.kind} {term_text(check.body)}"


def statement_text(statement: terms.Statement) -> str:
    """A statement as it is written; a check's name is left out where it only says where the check stands."""
    match statement:
        case terms.ModelCheck(kind=kind, name=name, position=position):
            unnamed = name == f"{kind} on line {position.line}"
            called = name if _NAME.fullmatch(name) else f'"{name}"'
            return check_text(statement) + ("" if unnamed else f" as {called}")
        case terms.Linearisation(name, events):
            return f"with {name} from linearisations({term_text(events)}, 0)"
        case terms.Definition(bindings, recursive):
            lines = []
            for binding in bindings:
                parameters = f"({', '.join(binding.parameters)})" * bool(binding.parameters)
                lines.append(f"{binding.name}{parameters} = {term_text(binding.body)}")
            return f"let {'rec ' * recursive}{' and '.join(lines)}"


def model_text(syntax: terms.ModelSyntax) -> str:
    """A model as one file; reading it gives the model again, except for comments and positions."""
    lines = [f'"{syntax.title}"', *["with co from partial-co"] * syntax.partial_co]
    return "\n".join([*lines, *map(statement_text, syntax.statements), ""])


def term_text(term: terms.Term) -> str:
    """A term as text; reading it gives the term again, except for its position and for how chains of ``|`` are
    grouped."""
    match term:
        case terms.Name(name):
            return name
        case terms.Constant(symbol):
            return symbol
        case terms.Call(hole, alternatives) if hole[0] == terms.HOLE:
            return f"({hole}: {' | '.join(_inside(alternative, 'hole') for alternative in alternatives)})"
        case terms.Call(function, arguments):
            return f"{function}({', '.join(map(term_text, arguments))})"
        case terms.Operation("identity", (operand,)):
            return f"[{term_text(operand)}]"
        case terms.Operation("complement", (operand,)):
            return f"~{_inside(operand, 'product')}"
        case terms.Operation(kind, (operand,)):
            return f"{_inside(operand, 'suffix')}{_SUFFIXES[kind]}"
        case terms.Operation(kind, operands):
            return _BINARY[kind].join(_inside(operand, kind) for operand in operands)


def _inside(term: terms.Term, around: str) -> str:
    """A term as an operand of an operator: in brackets, unless it binds more tightly than any such operator needs."""
    text = term_text(term)
    if not isinstance(term, terms.Operation) or term.kind == "identity":
        return text
    if around == "hole":  # whose alternatives are apart by |
        return f"({text})" if term.kind == "union" else text
    bare = {"product": set[str](), "suffix": set(_SUFFIXES)}.get(around, {*_SUFFIXES, "complement"})
    return text if term.kind in bare or (term.kind == around and around in _ASSOCIATIVE) else f"({text})"
