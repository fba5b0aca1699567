"""Terms and checks of a .cat model as text again, in one line, with brackets around binary operators."""

from __future__ import annotations

from oracle.cat.syntax import Call, Check, Constant, Name, Operation, Term

_BINARY = {"union": " | ", "compose": "; ", "difference": " \\ ", "intersection": " & ", "product": " * "}
_ASSOCIATIVE = {"union", "compose", "intersection"}
_SUFFIXES = {"plus": "^+", "star": "^*", "optional": "?", "inverse": "^-1"}


def check_text(check: Check) -> str:
    """A check as it is written, without its name: ``acyclic rf | co | fr | po``."""
    return f"{'flag ' * check.flag}{'~' * check.negated}{check.kind} {term_text(check.body)}"


def term_text(term: Term) -> str:
    """A term; reading it gives the term again, but for where its parts stand and how chains of ``|`` are grouped."""
    match term:
        case Name(name):
            return name
        case Constant(symbol):
            return symbol
        case Call(function, arguments):
            return f"{function}({', '.join(map(term_text, arguments))})"
        case Operation("identity", (operand,)):
            return f"[{term_text(operand)}]"
        case Operation("complement", (operand,)):
            return f"~{_inside(operand, 'complement')}"
        case Operation(kind, (operand,)):
            return f"{_inside(operand, 'suffix')}{_SUFFIXES[kind]}"
        case Operation(kind, operands):
            return _BINARY[kind].join(_inside(operand, kind) for operand in operands)


def _inside(term: Term, around: str) -> str:
    """A term as an operand of an operator: in brackets, unless it binds more tightly than any such operator needs."""
    text = term_text(term)
    if not isinstance(term, Operation) or term.kind == "identity":
        return text
    bare = {"product": set[str](), "suffix": set(_SUFFIXES)}.get(around, {*_SUFFIXES, "complement"})
    return text if term.kind in bare or (term.kind == around and around in _ASSOCIATIVE) else f"({text})"
