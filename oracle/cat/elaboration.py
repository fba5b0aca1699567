"""What the .cat language has besides terms, said in terms.

A model is walked in the order of its text. Functions of sets and relations stay functions. All else is gone when the
walk is over: functions of other kinds (of functions, of tags, curried ones, or that give tuples) and procedures are put
in where they are applied; a name that is local to a term becomes a definition of its own, ``obsco'ww`` for the ``ww``
of ``obsco``; ``if`` is about variants, which are off, and about tags; ``match`` and ``forall`` go over tags. What is
only said for pictures (``show``) is passed over.

The names of herd's library that make coherence orders mean here what that library says of them, whoever defines them:
``with co from generate_cos(r)`` has ``co`` hold ``r``, ``with x from generate_orders(S, r)`` names the part of ``co``
within ``S``, and ``linearisations(S, r)`` is one order of all of ``S``.

Source: herdtools7's manual, "The cat language"; Alglave, Cousot, Maranget, "Syntax and semantics of the weak
consistency model specification language cat" (2016). Gaps: sets of events are not known when a model is read, so
nothing may go over their members, nor over sets of sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from lark import Token, Tree

from corpus.dialects.scope_tree import WORDS
from corpus.errors import InputError
from corpus.litmus.test import Scope as Level
from corpus.syntax import leaves, subtrees
from oracle.cat.terms import (
    MOST_NESTED,
    MOST_PARTS,
    MOST_STATEMENTS,
    Binding,
    Call,
    Check,
    Constant,
    Definition,
    Linearisation,
    Name,
    Operation,
    Position,
    Statement,
    Term,
    bodies_of,
    subterms,
)


class UnsupportedError(InputError):
    """Right by the language, and more than is done here; the message says what it would take."""


class _NotOfTermsError(Exception):
    """A function that does not only take and give sets and relations."""


@dataclass(frozen=True, slots=True)
class _Tag:
    """``'name``."""

    name: str


@dataclass(frozen=True, slots=True)
class _Tags:
    """A set of tags, in the order in which it was written."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """A tuple."""

    members: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Function:
    """What is put in where it is applied; ``body`` is a procedure's where it has statements."""

    parameters: tuple[str, ...]
    body: Sequence[Tree[Token]]
    scope: Scope
    procedure: bool = False


@dataclass(frozen=True, slots=True)
class _Orders:
    """Orders of some events, of writes where no set is said, that hold a relation: ``total``, or for each location."""

    events: Term | None
    within: Term
    total: bool


Value = Term | _Tag | _Tags | _Group | _Function | _Orders


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a piece of text stands: its file, those that include it, and what names mean there that are no terms' own.

    ``within``: what the names that are defined here are hidden in; at a file's top, in nothing. ``defined``, in a
    function's body: how often each name had been defined by then.
    """

    path: str
    above: tuple[str, ...] = ()
    names: Mapping[str, Value] = field(default_factory=dict)
    within: str = ""
    defined: Mapping[str, int] | None = None


Include = Callable[[Token, Scope], tuple[Tree[Token], Scope]]
"""The tree of a file that is included, and the scope of its text."""

_SUFFIXES = {"*": "star", "+": "plus", "?": "optional", "-1": "inverse"}
_COHERENCE = {"partial-co": True, "total-co": False}
_PARTIAL_ARCHITECTURES = {"PTX"}
_WIDER = "it would take sets whose members are known when the model is read"
_LEVELS = {Level.WARP: "swarp", Level.CTA: "scta", Level.QUEUE: "squeue", Level.GPU: "sgpu", Level.SYS: "sys"}
_SCOPES = {
    **dict.fromkeys(("wi", "work-item", "work_item", "thread", "t"), "int"),
    **{word: _LEVELS[level] for word, level in WORDS.items()},
}


_OF_TAGS = {
    **dict.fromkeys(("tag2scope", "tag2level"), True),
    **dict.fromkeys(("tag2events", "tag2instrs", "tag2fence", "tag2set"), False),
}
"""Functions of tags, and whether they give pairs of one group."""


class Elaboration:
    """One model in the making: ``statements`` so far, its ``title``, and whether coherence is ``partial``."""

    def __init__(self, title: str, include: Include) -> None:
        self.title = title
        self.statements: list[Statement] = []
        self.partial = False
        self._include = include
        self._defined: Counter[str] = Counter()
        self._parts = 0
        self._around = ""  # what is being defined
        self._parameters: frozenset[str] | None = None  # of the function of terms that is being read
        self._stays = False  # no part of what is read may be taken out of it
        self._sizes: dict[int, tuple[Term, int, int]] = {}
        self._check_name: str | None = None
        self._made_by_herd = False  # coherence is

    def run(self, tree: Tree[Token], scope: Scope) -> Scope:
        """Reads a file."""
        start = len(self.statements)
        for item in subtrees(tree):
            if item.data in ("title", "long_title"):
                if len(scope.above) == 1:
                    self._entitle(item)
                continue
            scope = self._statement(item, scope)
            if len(self.statements) - start > MOST_STATEMENTS:
                raise _error(f"more than {MOST_STATEMENTS} definitions and checks so far", _at(item, scope))
        return scope

    def finish(self, position: Position) -> None:
        """A flag for what a model written for herd says of an atomic operation as one event that reads and writes.

        In C, herd has one, and a model for it need not speak of ``rmw``. Here there are two.
        """
        bodies = [body for statement in self.statements for body in bodies_of(statement)]
        names = {part.name for body in bodies for part in subterms(body) if isinstance(part, Name)}
        if self._made_by_herd and not names & {"rmw", "amo", "lxsx"}:
            two = Check("empty", Name("rmw", position), "atomic-operations-are-two-events-here", True, True, position)
            self.statements.append(two)

    def _entitle(self, tree: Tree[Token]) -> None:
        words = leaves(tree)
        self.title = str(words[-1]).strip('"')
        self.partial = words[0].type == "NAME" and words[0] in _PARTIAL_ARCHITECTURES

    # Statements

    def _statement(self, tree: Tree[Token], scope: Scope) -> Scope:
        self._step(tree, scope)
        match tree.data:
            case "definition":
                return self._definition(tree, scope)
            case "recursion":
                return self._recursion(tree, scope)
            case "requirement":
                self._requirement(tree, scope)
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
                for tag in self._tags(source, scope, "forall"):
                    scope = self._statements(body, _with(scope, {str(name): _Tag(tag)}))
            case "alternative":
                condition, *branches = subtrees(tree)
                chosen = branches[:1] if self._variant(condition) else branches[1:]
                return self._statements(chosen, scope)
            case "selection":
                return self._statements([self._selected(tree, scope)], scope)
            case "enumeration":
                name, *tags = leaves(tree)
                return self._bind(str(name), _Tags(tuple(tag[1:] for tag in tags)), _at(tree, scope), scope)
            case "instructions":
                return self._instructions(tree, scope)
            case _:  # what is shown
                pass
        return scope

    def _statements(self, trees: Sequence[Tree[Token]], scope: Scope) -> Scope:
        """Those of some statements, or of branches of them."""
        for tree in trees:
            scope = self._statements(subtrees(tree), scope) if tree.data == "branch" else self._statement(tree, scope)
        return scope

    def _definition(self, tree: Tree[Token], scope: Scope) -> Scope:
        values: list[tuple[str, Value | Binding, Position]] = []
        for part in subtrees(tree):
            if part.data == "unpacking":
                values += self._unpacked(part, scope)
            else:
                token = leaves(part)[0]
                position = _place(token, scope)
                value = self._function(part, scope) if _pattern(part) else self._defined_value(part, scope)
                values.append((str(token), value, position))
        _check_apart([(name, position) for name, _, position in values])
        start, after = len(self.statements), scope
        for name, value, position in values:
            after = self._bind(name, value, position, after)
        made = [statement for statement in self.statements[start:] if isinstance(statement, Definition)]
        self.statements[start:] = [Definition(sum((each.bindings for each in made), ()), False)] * bool(made)
        return after

    def _defined_value(self, binding: Tree[Token], scope: Scope) -> Value:
        (body,) = subtrees(binding)
        self._around = str(leaves(binding)[0])
        return self._value(body, scope)

    def _unpacked(self, tree: Tree[Token], scope: Scope, depth: int = 0) -> list[tuple[str, Value, Position]]:
        pattern, body = subtrees(tree)
        names = _formals(pattern)
        self._around = next((name for name in names if name != "_"), "it")
        value = self._value(body, scope, depth)
        if isinstance(value, Name) and value.name in (self._parameters or ()):
            raise _NotOfTermsError
        if not isinstance(value, _Group) or len(value.members) != len(names):
            raise _error(f"expected a tuple of {len(names)}", _at(body, scope))
        position = _at(tree, scope)
        return [(name, member, position) for name, member in zip(names, value.members, strict=True) if name != "_"]

    def _bind(self, name: str, value: Value | Binding, position: Position, scope: Scope) -> Scope:
        """The scope after a definition. A term is defined by a statement; at the top under its own name."""
        if not isinstance(value, Term | Binding):
            return _with(scope, {name: value})
        bound = value if isinstance(value, Binding) else Binding(name, (), value, position)
        if scope.within:
            bound = replace(bound, name=self._fresh(scope.within, name))
        self.statements.append(Definition((bound,), False))
        self._defined[bound.name] += 1
        if scope.within:
            return _with(scope, {name: Name(bound.name, position)})
        return replace(scope, names={other: meant for other, meant in scope.names.items() if other != name})

    def _fresh(self, within: str, name: str) -> str:
        fresh = f"{within}'{name}"
        while self._defined[fresh]:
            fresh += "'"
        return fresh

    def _recursion(self, tree: Tree[Token], scope: Scope) -> Scope:
        bindings = [part for part in subtrees(tree) if part.data == "binding"]
        scope = self._recursive(bindings, scope, fresh=scope.within)
        for check in subtrees(tree):
            if check.data == "check":  # what grows fails a check at the end if it fails it on the way
                self._check(check, scope)
        return scope

    def _recursive(self, parts: Sequence[Tree[Token]], scope: Scope, fresh: str, depth: int = 0) -> Scope:
        tokens = [leaves(part)[0] for part in parts]
        _check_apart([(str(token), _place(token, scope)) for token in tokens])
        functions = [part for part in parts if _pattern(part)]
        if functions:
            for part in functions:
                if not any(part.find_pred(lambda inner: inner.data in ("match", "conditional"))):
                    message = "expected a set or relation, for a function cannot be recursive"
                    raise _error(message, _place(leaves(part)[0], scope))
            if len(functions) < len(parts):
                here = _at(parts[0], scope)
                raise _unsupported("a recursion of functions and relations at once", "two definitions", here)
            names = dict(scope.names)
            after = replace(scope, names=names, defined=self._version(scope))
            for part in functions:
                names[str(leaves(part)[0])] = _Function(_formals(_pattern(part)), subtrees(part)[1:], after)
            return replace(after, defined=scope.defined)
        called = {str(token): self._fresh(fresh, token) if fresh else str(token) for token in tokens}
        own: dict[str, Value] = {str(token): Name(called[token], _place(token, scope)) for token in tokens}
        inside = _with(scope, own)
        with self._in_place():
            bindings = [
                Binding(called[token], (), self._term(subtrees(part)[0], inside, depth), _place(token, scope))
                for token, part in zip(tokens, parts, strict=True)
            ]
        self.statements.append(Definition(tuple(bindings), True))
        self._defined.update(called.values())
        if fresh:
            return inside
        return replace(scope, names={name: meant for name, meant in scope.names.items() if name not in called})

    def _function(self, tree: Tree[Token], scope: Scope) -> Binding | _Function:
        """A function of terms where it is one, else what is put in where it is applied."""
        token = leaves(tree)[0]
        parameters = _formals(_pattern(tree))
        body = subtrees(tree)[1:]
        put_in = _Function(parameters, body, replace(scope, defined=self._version(scope)))
        if scope.within or not parameters or "_" in parameters or len(set(parameters)) < len(parameters):
            return put_in
        position = _place(token, scope)
        own: dict[str, Value] = {name: Name(name, position) for name in parameters}
        outer, self._parameters = self._parameters, frozenset(parameters)
        try:
            with self._in_place():
                value = self._value(body[0], _with(scope, own))
        except (_NotOfTermsError, UnsupportedError):
            return put_in
        finally:
            self._parameters = outer
        return Binding(str(token), parameters, value, position) if isinstance(value, Term) else put_in

    def _requirement(self, tree: Tree[Token], scope: Scope) -> None:
        kinds = leaves(tree)
        (check,) = subtrees(tree)
        kind = kinds[0].type if kinds else ""
        # What must hold for a model to say anything is a flag where it does not.
        self._check(check, scope, flag=bool(kind), inverted=kind in ("ASSERT", "UNDEFINED"))

    def _check(self, tree: Tree[Token], scope: Scope, flag: bool = False, inverted: bool = False) -> None:
        kind, *names = leaves(tree)
        (body,) = subtrees(tree)
        negated = kind.type == "NEGATED"
        word = kind.lstrip("~ \t\n")
        name = self._check_name or (names[0].strip('"') if names else f"{word} on line {kind.line}")
        self._around = names[0].strip('"').replace(" ", "-") if names else word
        position = _place(kind, scope)
        if negated:  # where the word stands
            skipped = kind[: len(kind) - len(word)]
            lines = skipped.count("\n")
            column = len(skipped) - skipped.rfind("\n") if lines else position.column + len(skipped)
            position = Position(position.path, position.line + lines, column)
        term = self._term(body, scope)
        self.statements.append(Check(word, term, name, negated != inverted, flag, position))

    def _choice(self, tree: Tree[Token], scope: Scope) -> Scope:
        (token,) = leaves(tree)
        (source,) = subtrees(tree)
        name, position = str(token), _place(token, scope)
        if name == "co" and source.data == "name" and leaves(source)[0] in _COHERENCE:
            self.partial = _COHERENCE[leaves(source)[0]]
            return scope
        self._around = name
        orders = self._value(source, scope)
        if isinstance(orders, _Orders):
            made = self._linearised if orders.total else self._ordered
            return made(name, position, orders, scope)
        if source.data == "name":
            raise _error("expected 'with co from partial-co' or 'with co from total-co'", position)
        raise _unsupported(
            f"'with {name} from' what is not generate_cos, generate_orders or linearisations", _WIDER, position
        )

    def _orders(self, name: str, argument: Tree[Token], scope: Scope, depth: int) -> _Orders | None:
        """The orders that a function of herd's library gives; None where it is none of these."""
        given = subtrees(argument) if argument.data == "tuple" else [argument]
        match name, given:
            case "linearisations", [events, within]:
                return _Orders(self._term(events, scope, depth), self._term(within, scope, depth), total=True)
            case "generate_cos", [base]:
                return _Orders(None, self._term(base, scope, depth), total=False)
            case "generate_orders", [events, base]:
                return _Orders(self._term(events, scope, depth), self._term(base, scope, depth), total=False)
            case "cross", [orders]:
                inner, parts = _applied(orders)
                if inner == "co_locs" and len(parts) == 2:
                    outer, events_of = _applied(parts[1])
                    if outer in ("partition", "classes-loc") and len(events_of) == 1:
                        of = self._term(events_of[0], scope, depth)
                        return _Orders(of, self._term(parts[0], scope, depth), total=False)
        return None

    def _ordered(self, name: str, position: Position, orders: _Orders, scope: Scope) -> Scope:
        """Coherence that holds a relation, or the part of it within a set."""
        self._made_by_herd = True
        self.partial = False
        co, writes, held = Name("co", position), Name("W", position), orders.within
        inside = writes if orders.events is None else orders.events
        pairs = Operation("product", (inside, inside), position)
        if name != "co" or not (isinstance(inside, Name) and inside.name == "W"):
            scope = self._bind(name, Operation("intersection", (co, pairs), position), position, scope)
        if not self._is_held_by_any(held):
            order = self._resolved(Token("NAME", name), scope, position)
            assert isinstance(order, Term)
            near = Operation("intersection", (Name("loc", position), pairs), position)
            lost = Operation("difference", (Operation("intersection", (held, near), position), order), position)
            self.statements.append(Check("empty", lost, f"{name}-holds-its-base", False, False, position))
        return scope

    def _is_held_by_any(self, term: Term) -> bool:
        """Whether a relation is what any coherence order holds: ``co0``, maybe by another name."""
        seen = 0
        while isinstance(term, Name) and seen < 9:
            if term.name == "co0" and not self._defined["co0"]:
                return True
            bodies = [
                binding.body
                for statement in self.statements
                if isinstance(statement, Definition)
                for binding in statement.bindings
                if binding.name == term.name
            ]
            if not bodies:
                return False
            term, seen = bodies[-1], seen + 1
        return isinstance(term, Constant)

    def _linearised(self, name: str, position: Position, orders: _Orders, scope: Scope) -> Scope:
        if scope.within or self._defined[name]:
            raise _unsupported(f"a second order '{name}'", "another name for it", position)
        ordered, held = orders.events, orders.within
        assert ordered is not None
        pairs = Operation("intersection", (held, Operation("product", (ordered, ordered), position)), position)
        lost = Operation("difference", (pairs, Name(name, position)), position)
        self.statements.append(Linearisation(name, ordered, position))
        self.statements.append(Check("empty", lost, f"{name}-is-a-linearisation", False, False, position))
        self._defined[name] += 1
        return replace(scope, names={other: meant for other, meant in scope.names.items() if other != name})

    def _procedure(self, tree: Tree[Token], scope: Scope) -> Scope:
        tokens = leaves(tree)
        name = str(tokens[-1])
        if len(tokens) > 1:
            raise _unsupported("a procedure that calls itself", _WIDER, _place(tokens[-1], scope))
        pattern, *body = subtrees(tree)
        made = _Function(_formals(pattern), body, replace(scope, defined=self._version(scope)), procedure=True)
        return _with(scope, {name: made})

    def _invocation(self, tree: Tree[Token], scope: Scope) -> None:
        name, *check_name = leaves(tree)
        (argument,) = subtrees(tree)
        position = _place(name, scope)
        procedure = scope.names.get(str(name))
        if not isinstance(procedure, _Function) or not procedure.procedure:
            raise _error(f"expected a procedure, and '{name}' is none", position)
        self._around = str(name)
        given = self._value(argument, scope)
        outer = self._check_name
        self._check_name = str(check_name[0]) if check_name else outer
        inside = _with(procedure.scope, _matched(procedure.parameters, given, str(name), position))
        inside = replace(inside, within=str(name))
        self._statements(procedure.body, inside)
        self._check_name = outer

    def _selected(self, tree: Tree[Token], scope: Scope) -> Tree[Token]:
        source, *cases = subtrees(tree)
        tag = self._tag(source, scope)
        for case in cases:
            (label,) = leaves(case)
            if label.type == "UNDERSCORE" or label[1:] == tag:
                return subtrees(case)[0]
        raise _error(f"no case for '{tag}", _at(tree, scope))

    def _instructions(self, tree: Tree[Token], scope: Scope) -> Scope:
        """Each tag that instructions may carry is a set, of the name with a capital.

        It has what a test annotates so by its bell file, ``'Once``, and what our own words call so.
        """
        for part in subtrees(tree):
            position = _at(part, scope)
            value = self._value(part, scope)
            for tag in value.names if isinstance(value, _Tags) else ():
                name = tag[:1].upper() + tag[1:]
                if not self._defined[name] and name not in scope.names:
                    term: Term = Name("emptyset", position)
                    for known in (tag.upper(), name):
                        term = Operation("otherwise", (Name(known, position), term), position)
                    term = Operation("union", (Name(f"'{name}", position), term), position)
                    scope = self._bind(name, term, position, scope)
        return scope

    # Values

    def _term(self, tree: Tree[Token], scope: Scope, depth: int = 0) -> Term:
        """The term that a tree stands for. Raises ``InputError`` where it is something else."""
        return self._as_term(self._value(tree, scope, depth), _at(tree, scope))

    def _as_term(self, value: Value, position: Position) -> Term:
        match value:
            case _Tags(()):
                return Constant("0", position)
            case _Tag() | _Tags():
                raise _error("expected a set or relation, found tags", position)
            case _Group():
                raise _error("expected a set or relation, found a tuple", position)
            case _Function():
                raise _error("expected a set or relation, found a function", position)
            case _Orders():
                raise _error("expected a set or relation, found orders: 'with .. from' chooses one", position)
            case _:
                return value

    def _value(self, tree: Tree[Token], scope: Scope, depth: int = 0) -> Value:
        self._step(tree, scope)
        if depth > MOST_NESTED:
            raise _too_deep(_at(tree, scope))
        position = _at(tree, scope)
        match tree.data:
            case "name":
                return self._resolved(leaves(tree)[0], scope, position)
            case "empty":
                return Constant("0", position)
            case "everything":
                return Constant("_", position)
            case "tag":
                return _Tag(leaves(tree)[0][1:])
            case "unit":
                return _Group(())
            case "tuple":
                return _Group(tuple(self._value(part, scope, depth + 1) for part in subtrees(tree)))
            case "braces":
                return self._braces(tree, scope, depth)
            case "application":
                return self._application(tree, scope, depth)
            case "function":
                pattern, *inside = subtrees(tree)
                return _Function(_formals(pattern), inside, replace(scope, defined=self._version(scope)))
            case "local":
                return self._local(tree, scope, depth)
            case "local_recursion":
                *recursive, body = subtrees(tree)
                if self._stays and not all(map(_pattern, recursive)):
                    raise _unsupported("a recursion within a function or another one", "its own definition", position)
                inner = self._recursive(recursive, scope, self._around or "it", depth + 1)
                return self._value(body, inner, depth + 1)
            case "otherwise":
                return self._otherwise(tree, scope, depth)
            case "conditional":
                condition, yes, no = subtrees(tree)
                return self._value(yes if self._holds(condition, scope, depth) else no, scope, depth + 1)
            case "match":
                return self._match(tree, scope, depth)
            case "adding":
                parts = [self._value(part, scope, depth + 1) for part in subtrees(tree)]
                if any(isinstance(part, Term | _Group | _Function) for part in parts):
                    raise _unsupported("'++' on events or relations", _WIDER, position)
                return _Tags(tuple(dict.fromkeys(name for part in parts for name in _names(part))))
            case kind:
                return self._operation(str(kind), tree, scope, depth)

    def _operation(self, kind: str, tree: Tree[Token], scope: Scope, depth: int) -> Value:
        position = _at(tree, scope)
        values = [self._value(part, scope, depth + 1) for part in subtrees(tree)]
        if kind in ("union", "intersection", "difference") and all(isinstance(value, _Tag | _Tags) for value in values):
            left, right = (_names(value) for value in values)
            return _Tags(
                {
                    "union": tuple(dict.fromkeys(left + right)),
                    "intersection": tuple(name for name in left if name in right),
                    "difference": tuple(name for name in left if name not in right),
                }[kind]
            )
        places = [_at(part, scope) for part in subtrees(tree)]
        operands = tuple(self._as_term(value, place) for value, place in zip(values, places, strict=True))
        if kind == "suffixed":
            kind = _SUFFIXES[leaves(tree)[-1].lstrip("^ \t\n")]
        return self._made(Operation(kind, operands, position), operands)

    def _made(self, term: Term, parts: Sequence[Term]) -> Term:
        """A term, once it is known not to be too large or deep: what is put in twice is there twice."""
        known = [self._sizes.get(id(part), (part, 1, 0)) for part in parts]
        size, depth = 1 + sum(size for _, size, _ in known), 1 + max((depth for *_, depth in known), default=0)
        if depth > MOST_NESTED:
            raise _too_deep(term.position)
        if size > MOST_PARTS:
            raise _error(f"a term of more than {MOST_PARTS} parts when its functions are put in", term.position)
        self._sizes[id(term)] = (term, size, depth)
        return term

    def _resolved(self, token: Token, scope: Scope, position: Position) -> Value:
        name = str(token)
        meant = scope.names.get(name)
        if meant is not None:
            return replace(meant, position=position) if isinstance(meant, Name) else meant
        if scope.defined is not None:
            if self._parameters is not None and name in self._parameters:
                raise _NotOfTermsError
            if scope.defined.get(name, 0) != self._defined[name]:
                raise _unsupported(
                    f"'{name}', defined anew since the function or procedure that mentions it", "another name", position
                )
        return Name(name, position)

    def _braces(self, tree: Tree[Token], scope: Scope, depth: int) -> Value:
        values = [self._value(part, scope, depth + 1) for part in subtrees(tree)]
        if not all(isinstance(value, _Tag) for value in values):
            raise _unsupported("a set of events by its members, found '{'", _WIDER, _at(tree, scope))
        return _Tags(tuple(dict.fromkeys(name for value in values for name in _names(value))))

    def _application(self, tree: Tree[Token], scope: Scope, depth: int) -> Value:
        position = _at(tree, scope)
        *inner, argument = subtrees(tree)
        orders = None if inner else self._orders(str(leaves(tree)[0]), argument, scope, depth + 1)
        if orders is not None:
            return orders
        head = self._value(inner[0], scope, depth + 1) if inner else self._resolved(leaves(tree)[0], scope, position)
        if isinstance(head, Name) and self._parameters and head.name in self._parameters:
            raise _NotOfTermsError
        given = self._value(argument, scope, depth + 1)
        if isinstance(head, _Function) and not head.procedure:
            inside = _with(head.scope, _matched(head.parameters, given, "this function", position))
            return self._value(head.body[0], inside, depth + 1)
        if not isinstance(head, Name):
            raise _error("expected a function", position)
        if head.name in _OF_TAGS and isinstance(given, _Tag):
            return self._of_tag(head.name, given.name, position)
        members = given.members if isinstance(given, _Group) else (given,)
        if any(isinstance(member, _Function) for member in members):
            if self._parameters is not None:
                raise _NotOfTermsError
            raise _unsupported(f"'{head.name}' of a function", _WIDER, position)
        arguments = tuple(self._as_term(member, position) for member in members)
        return self._made(Call(head.name, arguments, position), arguments)

    def _of_tag(self, function: str, tag: str, position: Position) -> Term:
        if not _OF_TAGS[function]:
            return Name(tag[:1].upper() + tag[1:], position)
        if tag not in _SCOPES:
            raise _error(f"expected a scope: {', '.join(sorted(_SCOPES))}; found '{tag}", position)
        return Name(_SCOPES[tag], position)

    def _local(self, tree: Tree[Token], scope: Scope, depth: int) -> Value:
        *bindings, body = subtrees(tree)
        around = self._around or "it"
        values: list[tuple[str, Value, Position]] = []
        for part in bindings:
            if part.data == "unpacking":
                values += self._unpacked(part, scope, depth + 1)
                continue
            token = leaves(part)[0]
            pattern = _pattern(part)
            if pattern:
                here = replace(scope, defined=self._version(scope))
                values.append(
                    (str(token), _Function(_formals(pattern), subtrees(part)[1:], here), _place(token, scope))
                )
            else:
                values.append((str(token), self._value(subtrees(part)[0], scope, depth + 1), _place(token, scope)))
        _check_apart([(name, position) for name, _, position in values])
        inside = scope
        for name, value, position in values:
            if isinstance(value, Operation | Call) and not self._stays:
                binding = Binding(self._fresh(around, name), (), value, position)
                self.statements.append(Definition((binding,), False))
                self._defined[binding.name] += 1
                value = Name(binding.name, position)
            inside = _with(inside, {name: value})
        self._around = around
        return self._value(body, inside, depth + 1)

    def _otherwise(self, tree: Tree[Token], scope: Scope, depth: int) -> Value:
        one, other = subtrees(tree)
        second = self._value(other, scope, depth + 1)
        try:
            with self._in_place():
                first = self._value(one, scope, depth + 1)
        except UnsupportedError:
            return second
        if isinstance(first, Term):
            operands = (first, self._as_term(second, _at(other, scope)))
            return self._made(Operation("otherwise", operands, _at(tree, scope)), operands)
        return first

    def _match(self, tree: Tree[Token], scope: Scope, depth: int) -> Value:
        source, *clauses = subtrees(tree)
        value = self._value(source, scope, depth + 1)
        position = _at(tree, scope)
        if self._parameters is not None and isinstance(value, Name) and value.name in self._parameters:
            raise _NotOfTermsError
        if isinstance(value, _Tag):
            for clause in clauses:
                labels = leaves(clause)
                if labels and (labels[0].type == "UNDERSCORE" or labels[0][1:] == value.name):
                    return self._value(subtrees(clause)[0], scope, depth + 1)
            raise _error(f"no case for '{value.name}", position)
        if not isinstance(value, _Tags):
            raise _unsupported("'match' on a set of events or relations", _WIDER, position)
        for clause in clauses:
            if clause.data == "nothing_left" and not value.names:
                return self._value(subtrees(clause)[0], scope, depth + 1)
            if clause.data == "one_and_rest" and value.names:
                first, rest, body = subtrees(clause)
                own: dict[str, Value] = {_formal(first): _Tag(value.names[0]), _formal(rest): _Tags(value.names[1:])}
                return self._value(body, _with(scope, own), depth + 1)
        raise _unsupported("a 'match' that parts a set in the middle", "a first element and the rest", position)

    # What is known while a model is read

    def _holds(self, tree: Tree[Token], scope: Scope, depth: int) -> bool:
        if tree.data == "variant" or tree.data.startswith("variant_"):
            return self._variant(tree)
        parts = subtrees(tree)
        if tree.data == "condition":
            return self._holds(parts[0], scope, depth)
        left, right = (self._value(part, scope, depth + 1) for part in parts)
        if not all(isinstance(value, _Tag | _Tags) for value in (left, right)):
            if self._parameters is not None:
                raise _NotOfTermsError
            raise _unsupported("'if' that compares sets of events or relations", _WIDER, _at(tree, scope))
        one, other = frozenset(_names(left)), frozenset(_names(right))
        return one == other if tree.data == "equal" else one <= other

    def _variant(self, tree: Tree[Token]) -> bool:
        """Whether a condition on variants holds; each variant is off."""
        parts = [self._variant(part) for part in subtrees(tree)]
        match tree.data:
            case "variant_not":
                return not parts[0]
            case "variant_and":
                return all(parts)
            case _:
                return any(parts)

    def _tags(self, tree: Tree[Token], scope: Scope, what: str) -> tuple[str, ...]:
        value = self._value(tree, scope)
        if not isinstance(value, _Tags):
            raise _unsupported(f"'{what}' over a set of events or relations", _WIDER, _at(tree, scope))
        return value.names

    def _tag(self, tree: Tree[Token], scope: Scope) -> str:
        value = self._value(tree, scope)
        if not isinstance(value, _Tag):
            raise _unsupported("'match' on what is no tag", _WIDER, _at(tree, scope))
        return value.name

    def _version(self, scope: Scope) -> Mapping[str, int]:
        return dict(self._defined) if scope.defined is None else scope.defined

    def _step(self, tree: Tree[Token], scope: Scope) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise _error(f"the model has more than {MOST_PARTS} parts when its functions are put in", _at(tree, scope))

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """While no part of a term may be taken out of it, since it hangs on where it stands."""
        outer, self._stays = self._stays, True
        try:
            yield
        finally:
            self._stays = outer


def _applied(tree: Tree[Token]) -> tuple[str, list[Tree[Token]]]:
    """The name and the arguments of a function that is applied; no name where it has none."""
    if tree.data == "application" and leaves(tree):
        (argument,) = subtrees(tree)
        return str(leaves(tree)[0]), subtrees(argument) if argument.data == "tuple" else [argument]
    return "", [tree]


def _with(scope: Scope, names: Mapping[str, Value]) -> Scope:
    return replace(scope, names={**scope.names, **names})


def _matched(parameters: Sequence[str], given: Value, what: str, position: Position) -> dict[str, Value]:
    if len(parameters) == 1:
        return {parameters[0]: given}
    members = given.members if isinstance(given, _Group) else (given,)
    if len(members) != len(parameters):
        raise _error(f"{what} takes {len(parameters)} arguments, found {len(members)}", position)
    return dict(zip(parameters, members, strict=True))


def _names(value: Value) -> tuple[str, ...]:
    return (value.name,) if isinstance(value, _Tag) else value.names if isinstance(value, _Tags) else ()


def _pattern(binding: Tree[Token]) -> Tree[Token] | None:
    first = subtrees(binding)[0]
    return first if first.data == "pattern" else None


def _formals(pattern: Tree[Token] | None) -> tuple[str, ...]:
    assert pattern is not None
    return tuple(map(_formal, subtrees(pattern)))


def _formal(tree: Tree[Token]) -> str:
    return str(leaves(tree)[0])


def _check_apart(names: Sequence[tuple[str, Position]]) -> None:
    counted = Counter(name for name, _ in names)
    for name, position in names:
        if counted[name] > 1:
            raise _error(f"'{name}' is defined twice at once", position)


def _at(tree: Tree[Token], scope: Scope) -> Position:
    return Position(scope.path, tree.meta.line, tree.meta.column)


def _place(token: Token, scope: Scope) -> Position:
    return Position(scope.path, token.line or 0, token.column or 0)


def _too_deep(position: Position) -> InputError:
    return _error(f"more than {MOST_NESTED} operators within each other: name a part by let", position)


def _unsupported(what: str, takes: str, position: Position) -> UnsupportedError:
    takes = takes if takes.startswith("it would") else f"it would take {takes}"
    return UnsupportedError(f"not supported: {what}; {takes}", *position)


def _error(message: str, position: Position) -> InputError:
    return InputError(message, *position)
