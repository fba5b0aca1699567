"""Sketches made of models without holes, in which each part of the model has a switch.

    let fence = fencerel(F) | rmw
    acyclic po & loc as order

becomes

    let fence = (?fence.1: fencerel(F)) | (?fence.2: rmw)
    acyclic (?check.order: (?order.1: po | _ * _) & (?order.2: loc | _ * _)) as order

What has a switch: every check, each operand of a union, what is taken away by ``\\``, each operand of an intersection,
and each set in brackets of a composition. Without the latter two the operand is all pairs, or all events. Functions
stay as they are, and so do definitions by recursion and the holes that are there already.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from oracle.cat import terms
from oracle.cat.interpreter import Interpreter, Model
from oracle.cat.mentions import chain
from oracle.executions.events import VOCABULARY
from oracle.inference.sketch import Sketch, sketch_of


def with_switches(model: Model) -> Sketch:
    """The sketch of a model in which each of its parts has a switch; its usual filling is the model itself."""
    making = _Making()
    statements: list[terms.Statement] = []
    for statement in model.syntax.statements:
        statements.append(making.statement(statement))
        if not isinstance(statement, terms.ModelCheck):
            making.bind(statement)
    syntax = replace(model.syntax, statements=tuple(statements))
    return sketch_of(replace(model, syntax=syntax), making.usual)


class _Making:
    """Puts switches in, statement by statement; ``usual`` has the holes that were made so far."""

    def __init__(self) -> None:
        self.usual: dict[str, int] = {}
        self._types: Interpreter[int] = Interpreter(VOCABULARY)
        self._around = ""
        self._counted: Counter[str] = Counter()

    def bind(self, statement: terms.Definition | terms.Linearisation) -> None:
        """Makes the names of a statement known, for later ones mention them."""
        if isinstance(statement, terms.Linearisation):
            self._types.names = {**self._types.names, statement.name: ()}
        else:
            self._types.bind(statement)

    def statement(self, statement: terms.Statement) -> terms.Statement:
        match statement:
            case terms.ModelCheck(body=body, name=name, negated=False, flag=False):
                self._around = name.replace(" ", "-")
                inner = self._term(body)
                return replace(statement, body=self._hole(f"check.{self._around}", (inner,), 1))
            case terms.Definition(bindings=bindings, recursive=False):
                made = []
                for binding in bindings:
                    self._around = binding.name.replace("'", "-")
                    made.append(binding if binding.parameters else replace(binding, body=self._term(binding.body)))
                return replace(statement, bindings=tuple(made))
        return statement

    def _term(self, term: terms.Term) -> terms.Term:
        match term:
            case terms.Operation("union" | "intersection" as kind):
                parts = list(chain(term, kind))
                optional = self._optional if kind == "union" else self._conjunct
                made = [optional(part, self._term(part)) for part in parts]
                result = made[0]
                for other in made[1:]:
                    result = terms.Operation(kind, (result, other), term.position)
                return result
            case terms.Operation("difference", (one, other)):
                taken = self._optional(other, self._term(other))
                return replace(term, operands=(self._term(one), taken))
            case terms.Operation("compose", operands):
                return replace(term, operands=tuple(map(self._composed, operands)))
            case terms.Operation(operands=operands):
                return replace(term, operands=tuple(map(self._term, operands)))
            case terms.Call(name, arguments) if name[0] != terms.HOLE:
                return replace(term, arguments=tuple(map(self._term, arguments)))
        return term

    def _composed(self, term: terms.Term) -> terms.Term:
        if isinstance(term, terms.Operation) and term.kind == "identity":
            (events,) = term.operands
            return replace(term, operands=(self._conjunct(events, self._term(events)),))
        return self._term(term)

    def _optional(self, _: terms.Term, made: terms.Term) -> terms.Term:
        return made if _is_hole(made) else self._hole(self._next(), (made,), 1)

    def _conjunct(self, term: terms.Term, made: terms.Term) -> terms.Term:
        if _is_hole(made) or isinstance(made, terms.Constant):
            return made
        everything: terms.Term = terms.Constant("_", term.position)
        if isinstance(self._types.plain(term), tuple):
            everything = terms.Operation("product", (everything, everything), term.position)
        return self._hole(self._next(), (made, everything), 0)

    def _next(self) -> str:
        self._counted[self._around] += 1
        return f"{self._around}.{self._counted[self._around]}"

    def _hole(self, name: str, alternatives: tuple[terms.Term, ...], usual: int) -> terms.Term:
        while name in self.usual:  # two checks of one name
            name += "-"
        self.usual[name] = usual
        return terms.Call(terms.HOLE + name, alternatives, alternatives[0].position)


def _is_hole(term: terms.Term) -> bool:
    return isinstance(term, terms.Call) and term.name[0] == terms.HOLE
