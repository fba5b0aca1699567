"""Elaboration of a .cat model: all of the language is reduced to terms, definitions and checks.

A model is walked in the order of its text. Functions of sets and relations stay functions. All else is gone when the
walk is over. Procedures are put in where they are called, ``if`` is about variants, which are off, ``match`` and
``forall`` go over tags; for expressions, see ``oracle.cat.expressions``. Statements that only concern pictures
(``show``) are passed over.

The names of herd's library that make coherence orders mean here what that library says of them, whoever defines them:
``with co from generate_cos(r)`` has ``co`` hold ``r``, ``with x from generate_orders(S, r)`` names the part of ``co``
within ``S``, and ``linearisations(S, r)`` is one order of all of ``S``.

Source: herdtools7's manual, "The cat language"; Alglave, Cousot, Maranget, "Syntax and semantics of the weak
consistency model specification language cat" (2016). Gaps: sets of events are not known when a model is read, so
nothing may go over their members, nor over sets of sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from corpus.files import folder_of
from corpus.lalr import Token, Tree
from corpus.syntax import leaves, subtrees
from oracle.cat import meanings, terms
from oracle.cat.expressions import Expressions
from oracle.cat.mentions import names_in, names_reached, own_lines

_COHERENCE = {"partial-co": True, "total-co": False}
_PARTIAL_ARCHITECTURES = {"PTX"}
_ORDERS = frozenset({"rlx", "acq", "rel", "acq_rel", "sc", "con"})
"""Annotations with the names of C's memory orders."""
_STANDARD = frozenset({"map"})
"""Names of herd's standard library that are no terms."""


class Elaboration(Expressions):
    """The elaboration of one model: ``statements`` so far, its ``title``, and whether coherence is ``partial``.

    ``over_members``, and once all is read ``one_event``, as in ``ModelSyntax``.
    """

    def __init__(self, title: str, include: meanings.Include) -> None:
        super().__init__()
        self.title = title
        self.partial = False
        self.one_event = False
        self.over_members: terms.FilePosition | None = None
        self._include = include
        self._check_name: str | None = None
        self._blocks = 0  # the nesting of blocks at the current position
        self._makes_coherence = False
        self._is_of_lisa = False

    def read(self, tree: Tree, path: str, bell: tuple[Tree, str] | None = None) -> None:
        """Reads a model, after a bell file if one is given, and finds out its properties."""
        scope = meanings.NameScope(path, (str(Path(path).resolve()),))
        if bell:
            inside = self.run(bell[0], replace(scope, path=bell[1], above=(*scope.above, str(Path(bell[1]).resolve()))))
            scope = replace(inside, path=scope.path, above=scope.above)
            self._is_of_lisa = True
        self.run(tree, scope)
        self._finish(terms.FilePosition(path, 1, 1))

    def run(self, tree: Tree, scope: meanings.NameScope) -> meanings.NameScope:
        """Elaborates the statements of one file, and gives the scope after them."""
        start = len(self.statements)
        for item in subtrees(tree):
            if item.data in ("title", "long_title"):
                if len(scope.above) == 1:
                    self._entitle(item)
                continue
            scope = self._statement(item, scope)
            if len(self.statements) - start > terms.MOST_STATEMENTS:
                position = meanings.position_of(item, scope)
                raise meanings.error(f"more than {terms.MOST_STATEMENTS} definitions and checks so far", position)
        return scope

    def _finish(self, position: terms.FilePosition) -> None:
        """Whether the model is written for herd7's C, where an atomic update is one event.

        herd7 has no coherence order but what a model makes; one that makes ``co`` out of ``co`` is not for it. A model
        that speaks of two events mentions ``rmw``. One with a bell file is of LISA, where there are two.
        """
        own = own_lines(self.statements)
        needed = names_reached([made.body for made in self.statements if isinstance(made, terms.ModelCheck)], own, {})
        has_own = "co" in own and all("co" not in names_in(body) for body in own["co"])
        of_herd = (self._makes_coherence or has_own) and not self._is_of_lisa
        self.one_event = of_herd and needed.isdisjoint(("rmw", "amo", "lxsx"))
        if self.one_event:
            self.statements.insert(0, reads_another(position))

    def _entitle(self, tree: Tree) -> None:
        words = leaves(tree)
        self.title = str(words[-1]).strip('"')
        self.partial = words[0].type == "NAME" and words[0] in _PARTIAL_ARCHITECTURES

    def _resolved(self, token: Token, scope: meanings.NameScope, position: terms.FilePosition) -> meanings.Value:
        if token in _STANDARD and token not in scope.names and not self._defined[token]:
            return self._standard.names[str(token)]
        return super()._resolved(token, scope, position)

    @cached_property
    def _standard(self) -> meanings.NameScope:
        """The scope after herd's standard library, as far as it is no terms."""
        library = str(folder_of("oracle.cat") / "library" / "stdlib.cat")
        tree, scope = self._include(Token('"stdlib.cat"', "STRING"), meanings.NameScope(library))
        return self.run(tree, scope)

    # Statements

    def _statement(self, tree: Tree, scope: meanings.NameScope) -> meanings.NameScope:
        """The scope after a statement. One that takes the members of sets of events says nothing yet."""
        try:
            return self._after(tree, scope)
        except meanings.MembersError as missing:
            self._note(missing)
            return scope

    def _note(self, missing: meanings.MembersError) -> None:
        assert missing.path is not None and missing.line is not None and missing.column is not None
        self.over_members = self.over_members or terms.FilePosition(missing.path, missing.line, missing.column)

    def _after(self, tree: Tree, scope: meanings.NameScope) -> meanings.NameScope:
        self._step(tree, scope)
        match tree.data:
            case "definition":
                return self._definition(tree, scope)
            case "recursion":
                return self._recursion(tree, scope)
            case "requirement":
                self._requirement(tree, scope)
            case "optional_check":
                (check,) = subtrees(tree)
                self._check(check, scope, hole=leaves(tree)[0])
            case "choice":
                return self._choice(tree, scope)
            case "inclusion":
                inner, inside = self._include(leaves(tree)[0], scope)
                inside = self.run(inner, inside)
                return replace(inside, path=scope.path, above=scope.above)
            case "procedure":
                return self._procedure(tree, scope)
            case "invocation":
                self._invocation(tree, scope)
            case "iteration":
                (name,) = leaves(tree)
                source, *body = subtrees(tree)
                over = self._members(self._value(source, scope), "'forall' over", meanings.position_of(source, scope))
                for member in over:
                    scope = self._statements(body, meanings.naming(scope, {str(name): member}))
            case "alternative":
                condition, *branches = subtrees(tree)
                chosen = branches[:1] if self._variant(condition) else branches[1:]
                return self._statements(chosen, scope)
            case "selection":
                return self._statements([self._selected(tree, scope)], scope)
            case "enumeration":
                name, *tags = leaves(tree)
                return self._bind(
                    str(name), meanings.Tags(tuple(tag[1:] for tag in tags)), meanings.position_of(tree, scope), scope
                )
            case "instructions":
                return self._instructions(tree, scope)
            case _:  # statements about pictures
                pass
        return scope

    def _statements(self, trees: Sequence[Tree], scope: meanings.NameScope) -> meanings.NameScope:
        """The scope after some statements, or after branches of them."""
        self._blocks += 1
        for tree in chain.from_iterable(subtrees(tree) if tree.data == "branch" else [tree] for tree in trees):
            if self._blocks > terms.MOST_BLOCKS:
                position = meanings.position_of(tree, scope)
                raise meanings.error(f"more than {terms.MOST_BLOCKS} blocks and procedures within each other", position)
            scope = self._statement(tree, scope)
        self._blocks -= 1
        return scope

    def _definition(self, tree: Tree, scope: meanings.NameScope) -> meanings.NameScope:
        values: list[tuple[str, meanings.Value | terms.LetBinding, terms.FilePosition]] = []
        for part in subtrees(tree):
            if part.data == "unpacking":
                values += self._unpacked(part, scope)
            else:
                token = leaves(part)[0]
                position = meanings.place_of(token, scope)
                value = self._function(part, scope) if meanings.pattern_of(part) else self._defined_value(part, scope)
                values.append((str(token), value, position))
        meanings.check_apart([(name, position) for name, _, position in values])
        start, after = len(self.statements), scope
        for name, value, position in values:
            after = self._bind(name, value, position, after)
        made = [statement for statement in self.statements[start:] if isinstance(statement, terms.Definition)]
        self.statements[start:] = [
            terms.Definition(sum((definition.bindings for definition in made), ()), False)
        ] * bool(made)
        return after

    def _defined_value(self, binding: Tree, scope: meanings.NameScope) -> meanings.Value:
        (body,) = subtrees(binding)
        self._around = str(leaves(binding)[0])
        return self._value_if_any(body, scope)

    def _recursion(self, tree: Tree, scope: meanings.NameScope) -> meanings.NameScope:
        bindings = [part for part in subtrees(tree) if part.data == "binding"]
        scope = self._recursive(bindings, scope, fresh=scope.within)
        for check in subtrees(tree):
            if check.data == "check":  # a growing relation that fails the check on the way fails it at the end
                self._check(check, scope)
        return scope

    def _function(self, tree: Tree, scope: meanings.NameScope) -> terms.LetBinding | meanings.Function:
        """A function of terms where it is one, else what is put in where it is applied."""
        token = leaves(tree)[0]
        parameters = meanings.formals(meanings.pattern_of(tree))
        body = subtrees(tree)[1:]
        put_in = meanings.Function(parameters, body, replace(scope, defined=self._version(scope)))
        if scope.within or not parameters or "_" in parameters or len(set(parameters)) < len(parameters):
            return put_in
        position = meanings.place_of(token, scope)
        own: dict[str, meanings.Value] = {name: terms.Name(name, position) for name in parameters}
        outer, self._parameters = self._parameters, frozenset(parameters)
        try:
            with self._in_place():
                value = self._value(body[0], meanings.naming(scope, own))
        except (meanings.NotOfTermsError, meanings.UnsupportedError):
            return put_in
        finally:
            self._parameters = outer
        return terms.LetBinding(str(token), parameters, value, position) if isinstance(value, terms.Term) else put_in

    def _requirement(self, tree: Tree, scope: meanings.NameScope) -> None:
        kinds = leaves(tree)
        (check,) = subtrees(tree)
        kind = kinds[0].type if kinds else ""
        # A condition under which a model says anything is a flag where it does not hold.
        self._check(check, scope, flag=bool(kind), inverted=kind in ("ASSERT", "UNDEFINED"))

    def _check(
        self,
        tree: Tree,
        scope: meanings.NameScope,
        flag: bool = False,
        inverted: bool = False,
        hole: Token | None = None,
    ) -> None:
        kind, *names = leaves(tree)
        (body,) = subtrees(tree)
        negated = kind.type == "NEGATED"
        word = kind.lstrip("~ \t\n")
        name = self._check_name or (names[0].strip('"') if names else f"{word} on line {kind.line}")
        self._around = names[0].strip('"').replace(" ", "-") if names else word
        position = meanings.place_of(kind, scope)
        if negated:  # the position of the word
            skipped = kind[: len(kind) - len(word)]
            lines = skipped.count("\n")
            column = len(skipped) - skipped.rfind("\n") if lines else position.column + len(skipped)
            position = terms.FilePosition(position.path, position.line + lines, column)
        term = self._term(body, scope)
        if hole is not None:
            if negated:
                raise meanings.error("expected a check without ~, for of nothing it would fail", position)
            term = terms.Call(terms.hole_name(hole), (term,), meanings.place_of(hole, scope))
        self.statements.append(terms.ModelCheck(word, term, name, negated != inverted, flag, position))

    def _choice(self, tree: Tree, scope: meanings.NameScope) -> meanings.NameScope:
        (token,) = leaves(tree)
        (source,) = subtrees(tree)
        name, position = str(token), meanings.place_of(token, scope)
        if name == "co" and source.data == "name" and leaves(source)[0] in _COHERENCE:
            self.partial = _COHERENCE[leaves(source)[0]]
            return scope
        self._around = name
        try:
            orders = self._value(source, scope)
        except meanings.MembersError as missing:
            self._note(missing)
            return meanings.naming(scope, {name: meanings.Absent(missing)})
        if isinstance(orders, meanings.Orders):
            made = self._linearised if orders.total else self._ordered
            return made(name, position, orders, scope)
        if source.data == "name" and isinstance(orders, terms.Name):
            raise meanings.error("expected 'with co from partial-co' or 'with co from total-co'", position)
        return self._chosen(name, orders, position, scope)

    def _chosen(
        self, name: str, among: meanings.Value, position: terms.FilePosition, scope: meanings.NameScope
    ) -> meanings.NameScope:
        """The scope after a choice among the members of a set, each of which is an execution of its own."""
        raise meanings.members_unknown(f"'with {name} from' a set", position)

    def _ordered(
        self, name: str, position: terms.FilePosition, orders: meanings.Orders, scope: meanings.NameScope
    ) -> meanings.NameScope:
        """Coherence that holds a relation, or the part of it within a set."""
        self._makes_coherence = True
        self.partial = False
        co, writes, held = terms.Name("co", position), terms.Name("W", position), orders.within
        inside = writes if orders.events is None else orders.events
        pairs = terms.Operation("product", (inside, inside), position)
        if name != "co" or not (isinstance(inside, terms.Name) and inside.name == "W"):
            scope = self._bind(name, terms.Operation("intersection", (co, pairs), position), position, scope)
        if not self._is_held_by_any(held):
            order = self._resolved(Token(name, "NAME"), scope, position)
            assert isinstance(order, terms.Term)
            near = terms.Operation("intersection", (terms.Name("loc", position), pairs), position)
            self._must_hold(order, held, near, f"{name}-holds-its-base", position)
        return scope

    def _must_hold(
        self, order: terms.Term, held: terms.Term, pairs: terms.Term, check: str, position: terms.FilePosition
    ) -> None:
        """Requires that an order of certain pairs goes along with a relation, be it by way of other events."""
        ways = terms.Operation("plus", (held,), position)
        lost = terms.Operation(
            "difference", (terms.Operation("intersection", (ways, pairs), position), order), position
        )
        self.statements.append(terms.ModelCheck("empty", lost, check, False, False, position))

    def _is_held_by_any(self, term: terms.Term) -> bool:
        """Whether a relation is what any coherence order holds: ``co0``, maybe by another name."""
        seen = 0
        while isinstance(term, terms.Name) and seen < 9:
            if term.name == "co0" and not self._defined["co0"]:
                return True
            bodies = [
                binding.body
                for statement in self.statements
                if isinstance(statement, terms.Definition)
                for binding in statement.bindings
                if binding.name == term.name
            ]
            if not bodies:
                return False
            term, seen = bodies[-1], seen + 1
        return isinstance(term, terms.Constant)

    def _linearised(
        self, name: str, position: terms.FilePosition, orders: meanings.Orders, scope: meanings.NameScope
    ) -> meanings.NameScope:
        if scope.within or self._defined[name]:
            raise meanings.unsupported(f"a second order '{name}'", "another name for it", position)
        ordered, held = orders.events, orders.within
        assert ordered is not None
        pairs = terms.Operation("product", (ordered, ordered), position)
        self.statements.append(terms.Linearisation(name, ordered, position))
        self._must_hold(terms.Name(name, position), held, pairs, f"{name}-is-a-linearisation", position)
        self._defined[name] += 1
        return replace(scope, names={other: meant for other, meant in scope.names.items() if other != name})

    def _procedure(self, tree: Tree, scope: meanings.NameScope) -> meanings.NameScope:
        tokens = leaves(tree)
        name = str(tokens[-1])
        if len(tokens) > 1:
            raise meanings.unsupported(
                "a procedure that calls itself", "a function", meanings.place_of(tokens[-1], scope)
            )
        pattern, *body = subtrees(tree)
        made = meanings.Function(
            meanings.formals(pattern), body, replace(scope, defined=self._version(scope)), procedure=True
        )
        return meanings.naming(scope, {name: made})

    def _invocation(self, tree: Tree, scope: meanings.NameScope) -> None:
        name, *check_name = leaves(tree)
        (argument,) = subtrees(tree)
        position = meanings.place_of(name, scope)
        procedure = scope.names.get(str(name))
        if not isinstance(procedure, meanings.Function) or not procedure.procedure:
            raise meanings.error(f"expected a procedure, and '{name}' is none", position)
        self._around = str(name)
        given = self._value(argument, scope)
        outer = self._check_name
        self._check_name = str(check_name[0]) if check_name else outer
        inside = meanings.naming(procedure.scope, meanings.matched(procedure.parameters, given, str(name), position))
        inside = replace(inside, within=str(name))
        self._statements(procedure.body, inside)
        self._check_name = outer

    def _selected(self, tree: Tree, scope: meanings.NameScope) -> Tree:
        source, *cases = subtrees(tree)
        tag = self._tag(source, scope)
        for case in cases:
            (label,) = leaves(case)
            if label.type == "UNDERSCORE" or label[1:] == tag:
                return subtrees(case)[0]
        raise meanings.error(f"no case for '{tag}", meanings.position_of(tree, scope))

    def _instructions(self, tree: Tree, scope: meanings.NameScope) -> meanings.NameScope:
        """Each tag that instructions may carry is a set, of the name with a capital.

        It has what a test annotates so by its bell file, ``'Once``, and what is of that order in C.
        """
        self._is_of_lisa = True
        for part in subtrees(tree):
            position = meanings.position_of(part, scope)
            for tag in meanings.names_of(self._value(part, scope)):
                name = tag[:1].upper() + tag[1:]
                if not self._defined[name] and name not in scope.names:
                    term: terms.Term = terms.Name(f"'{name}", position)
                    if tag in _ORDERS:
                        term = terms.Operation("union", (term, terms.Name(tag.upper(), position)), position)
                    scope = self._bind(name, term, position, scope)
        return scope


def reads_another(position: terms.FilePosition) -> terms.ModelCheck:
    """The check that holds of an update that is one event: it reads from another event, as two events do."""
    return terms.ModelCheck(
        "irreflexive", terms.Name("rf", position), "an-update-reads-another-event", False, False, position
    )
