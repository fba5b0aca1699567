"""Variants of a consistency model, each with one line changed, to see which tests the line decides.

Of rc11, ``without_check(rc11, "sc")`` has no axiom sc. In ``emptied(rc11, "rs")`` there are no release sequences: after
``let rs = ..`` comes ``let rs = rs \\ rs``. In ``branches_order_writes(rmo)`` control dependencies order all that is
behind them but reads, as on most processors: before all else comes ``let ctrl = ctrl \\ (_ * R)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from oracle.cat import terms
from oracle.cat.interpreter import Model, prelude
from oracle.cat.mentions import names_reached, own_lines


def definitions(model: Model) -> list[str]:
    """The sets and relations that the model defines and its axioms depend on, in the order of the file; functions
    are not among them, nor definitions that mention no name, such as ``0 * 0``."""
    reached = names_reached([check.body for check in model.checks], own_lines(model.syntax.statements), prelude())
    bindings = [
        binding
        for statement in model.syntax.statements
        if isinstance(statement, terms.Definition)
        for binding in statement.bindings
    ]
    named = (binding for binding in bindings if not binding.parameters and names_reached([binding.body], {}, {}))
    return list(dict.fromkeys(binding.name for binding in named if binding.name in reached))


def without_check(model: Model, name: str) -> Model:
    """The model without the checks of a name; flags stay."""
    kept = (
        statement
        for statement in model.syntax.statements
        if not (isinstance(statement, terms.ModelCheck) and statement.name == name)
    )
    return _of(model, f"without {name}", kept)


def emptied(model: Model, name: str) -> Model:
    """The model in which a set or relation that it defines is empty."""
    statements: list[terms.Statement] = []
    for statement in model.syntax.statements:
        statements.append(statement)
        for binding in statement.bindings if isinstance(statement, terms.Definition) else ():
            if binding.name == name:
                itself = terms.Name(name, binding.position)
                statements.append(_line(name, _difference(itself, itself)))
    return _of(model, f"empty {name}", statements)


def branches_order_writes(model: Model) -> Model:
    """The model in which no read is behind a control dependency; writes, fences and barriers are."""
    nowhere = terms.FilePosition(model.name, 1, 1)
    reads = terms.Operation("product", (terms.Constant("_", nowhere), terms.Name("R", nowhere)), nowhere)
    line = _line("ctrl", _difference(terms.Name("ctrl", nowhere), reads))
    return _of(model, "no ctrl to reads", [line, *model.syntax.statements])


def _of(model: Model, what: str, statements: Iterable[terms.Statement]) -> Model:
    digest = sha256(f"{model.syntax.digest} {what}".encode()).hexdigest()
    syntax = replace(model.syntax, statements=tuple(statements), digest=digest)
    return replace(model, name=f"{model.name}, {what}", syntax=syntax)


def _line(name: str, body: terms.Term) -> terms.Definition:
    return terms.Definition((terms.LetBinding(name, (), body, body.position),), False)


def _difference(one: terms.Term, other: terms.Term) -> terms.Term:
    return terms.Operation("difference", (one, other), one.position)
