"""Elaboration of .cat expressions: which term an expression means, after all else is reduced to terms.

Functions that do not only take and give sets and relations (functions of functions or of tags, curried ones, or those
that give tuples) are put in where they are applied. A name that is local to a term becomes a definition of its own,
``obsco'ww`` for the ``ww`` of ``obsco``. ``if`` is about variants, which are off, and about tags; ``match`` goes over
tags. An expression that goes over events is no term, nor is a name that is defined by it; both are an error where they
are needed, and only there.

Source and gaps: those of ``oracle.cat.elaboration``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from corpus.dialects.scope_tree import WORDS
from corpus.lalr import Token, Tree
from corpus.litmus.orders import Scope as Level
from corpus.syntax import leaves, subtrees
from oracle.cat import meanings, terms

_SUFFIXES = {"*": "star", "+": "plus", "?": "optional", "-1": "inverse"}
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

_OF_MEMBERS = frozenset({"classes-loc", "partition", "classes"})
"""Functions that split a set, or the events of a relation, into sets."""


class Expressions:
    """The elaboration of expressions while a model is read; ``statements`` so far, for a local name is a definition
    of its own."""

    deepest = terms.MOST_NESTED
    """The limit of nested operators and applications."""

    def __init__(self) -> None:
        self.statements: list[terms.Statement] = []
        self._defined: Counter[str] = Counter()
        self._parts = 0
        self._around = ""  # the names being defined
        self._parameters: frozenset[str] | None = None  # the parameters of the function of terms that is being read
        self._stays = False  # whether no part of the text being read may be taken out of it
        self._sizes: dict[int, tuple[terms.Term, int, int]] = {}

    def _unpacked(
        self, tree: Tree, scope: meanings.NameScope, depth: int = 0
    ) -> list[tuple[str, meanings.Value, terms.FilePosition]]:
        pattern, body = subtrees(tree)
        names = meanings.formals(pattern)
        self._around = next((name for name in names if name != "_"), "it")
        value = self._value_if_any(body, scope, depth)
        position = meanings.position_of(tree, scope)
        if isinstance(value, meanings.Absent):
            return [(name, value, position) for name in names if name != "_"]
        if isinstance(value, terms.Name) and value.name in (self._parameters or ()):
            raise meanings.NotOfTermsError
        if not isinstance(value, meanings.Group) or len(value.members) != len(names):
            raise meanings.error(f"expected a tuple of {len(names)}", meanings.position_of(body, scope))
        return [(name, member, position) for name, member in zip(names, value.members, strict=True) if name != "_"]

    def _value_if_any(self, tree: Tree, scope: meanings.NameScope, depth: int = 0) -> meanings.Value:
        """The value of what is given a name, which nothing may need."""
        try:
            return self._value(tree, scope, depth)
        except meanings.UnsupportedError as missing:
            return meanings.Absent(missing)

    def _bind(
        self,
        name: str,
        value: meanings.Value | terms.LetBinding,
        position: terms.FilePosition,
        scope: meanings.NameScope,
    ) -> meanings.NameScope:
        """The scope after a definition. A term is defined by a statement; at the top under its own name."""
        if not isinstance(value, terms.Term | terms.LetBinding):
            return meanings.naming(scope, {name: value})
        bound = value if isinstance(value, terms.LetBinding) else terms.LetBinding(name, (), value, position)
        if scope.within:
            bound = replace(bound, name=self._fresh(scope.within, name))
        self.statements.append(terms.Definition((bound,), False))
        self._defined[bound.name] += 1
        if scope.within:
            return meanings.naming(scope, {name: terms.Name(bound.name, position)})
        return replace(scope, names={other: meant for other, meant in scope.names.items() if other != name})

    def _fresh(self, within: str, name: str) -> str:
        fresh = f"{within}'{name}"
        while self._defined[fresh]:
            fresh += "'"
        return fresh

    def _recursive(
        self, parts: Sequence[Tree], scope: meanings.NameScope, fresh: str, depth: int = 0
    ) -> meanings.NameScope:
        tokens = [leaves(part)[0] for part in parts]
        meanings.check_apart([(str(token), meanings.place_of(token, scope)) for token in tokens])
        functions = [part for part in parts if meanings.pattern_of(part)]
        if functions:
            for part in functions:
                if not any(inner.data in ("match", "conditional") for inner in part.trees()):
                    message = "expected a set or relation, for a function cannot be recursive"
                    raise meanings.error(message, meanings.place_of(leaves(part)[0], scope))
            if len(functions) < len(parts):
                here = meanings.position_of(parts[0], scope)
                missing = meanings.Absent(
                    meanings.unsupported("a recursion of functions and relations at once", "two definitions", here)
                )
                return meanings.naming(scope, dict.fromkeys(map(str, tokens), missing))
            names = dict(scope.names)
            after = replace(scope, names=names, defined=self._version(scope))
            for part in functions:
                names[str(leaves(part)[0])] = meanings.Function(
                    meanings.formals(meanings.pattern_of(part)), subtrees(part)[1:], after
                )
            return replace(after, defined=scope.defined)
        called = {str(token): self._fresh(fresh, token) if fresh else str(token) for token in tokens}
        own: dict[str, meanings.Value] = {
            str(token): terms.Name(called[token], meanings.place_of(token, scope)) for token in tokens
        }
        inside = meanings.naming(scope, own)
        try:
            with self._in_place():
                bindings = [
                    terms.LetBinding(
                        called[token], (), self._term(subtrees(part)[0], inside, depth), meanings.place_of(token, scope)
                    )
                    for token, part in zip(tokens, parts, strict=True)
                ]
        except meanings.UnsupportedError as error_of_one:
            return meanings.naming(scope, dict.fromkeys(own, meanings.Absent(error_of_one)))
        self.statements.append(terms.Definition(tuple(bindings), True))
        self._defined.update(called.values())
        if fresh:
            return inside
        return replace(scope, names={name: meant for name, meant in scope.names.items() if name not in called})

    def _orders(self, name: str, argument: Tree, scope: meanings.NameScope, depth: int) -> meanings.Orders | None:
        """The orders that a function of herd's library gives; None where it is none of these, or the model's own."""
        if name in scope.names and name not in ("cross", "co_locs"):
            return None
        given = subtrees(argument) if argument.data == "tuple" else [argument]
        match name, given:
            case "linearisations", [events, within]:
                return meanings.Orders(self._term(events, scope, depth), self._term(within, scope, depth), total=True)
            case "generate_cos", [base]:
                return meanings.Orders(None, self._term(base, scope, depth), total=False)
            case "generate_orders", [events, base]:
                return meanings.Orders(self._term(events, scope, depth), self._term(base, scope, depth), total=False)
            case "cross", [orders]:
                inner, parts = meanings.applied(orders)
                if inner == "co_locs" and len(parts) == 2:
                    outer, events_of = meanings.applied(parts[1])
                    if outer in ("partition", "classes-loc") and len(events_of) == 1:
                        of = self._term(events_of[0], scope, depth)
                        return meanings.Orders(of, self._term(parts[0], scope, depth), total=False)
        return None

    # Values

    def _term(self, tree: Tree, scope: meanings.NameScope, depth: int = 0) -> terms.Term:
        """The term that a tree stands for. Raises ``InputError`` where it is something else."""
        return self._as_term(self._value(tree, scope, depth), meanings.position_of(tree, scope))

    def _as_term(self, value: meanings.Value, position: terms.FilePosition) -> terms.Term:
        match value:
            case meanings.Tags(()):
                return terms.Constant("0", position)
            case meanings.Tag() | meanings.Tags():
                raise meanings.error("expected a set or relation, found tags", position)
            case meanings.Group():
                raise meanings.error("expected a set or relation, found a tuple", position)
            case meanings.Function():
                raise meanings.error("expected a set or relation, found a function", position)
            case meanings.Orders():
                raise meanings.error("expected a set or relation, found orders: 'with .. from' chooses one", position)
            case meanings.Member(term):
                return term
            case meanings.SetOfSets():
                raise meanings.error("expected a set or relation, found a set of such", position)
            case meanings.Absent(missing):
                raise missing
            case _:
                return value

    def _value(self, tree: Tree, scope: meanings.NameScope, depth: int = 0) -> meanings.Value:
        self._step(tree, scope)
        if depth > self.deepest:
            raise meanings.too_deep(self.deepest, meanings.position_of(tree, scope))
        position = meanings.position_of(tree, scope)
        match tree.data:
            case "name":
                return self._resolved(leaves(tree)[0], scope, position)
            case "empty":
                return terms.Constant("0", position)
            case "everything":
                return terms.Constant("_", position)
            case "tag":
                return meanings.Tag(leaves(tree)[0][1:])
            case "unit":
                return meanings.Group(())
            case "tuple":
                return meanings.Group(tuple(self._value(part, scope, depth + 1) for part in subtrees(tree)))
            case "braces":
                return self._braces(tree, scope, depth)
            case "application":
                return self._application(tree, scope, depth)
            case "function":
                pattern, *inside = subtrees(tree)
                return meanings.Function(
                    meanings.formals(pattern), inside, replace(scope, defined=self._version(scope))
                )
            case "local":
                return self._local(tree, scope, depth)
            case "local_recursion":
                *recursive, body = subtrees(tree)
                if self._stays and not all(map(meanings.pattern_of, recursive)):
                    raise meanings.unsupported(
                        "a recursion within a function or another one", "its own definition", position
                    )
                inner = self._recursive(recursive, scope, self._around or "it", depth + 1)
                return self._value(body, inner, depth + 1)
            case "hole":
                return self._hole(tree, scope, depth)
            case "otherwise":
                return self._otherwise(tree, scope, depth)
            case "conditional":
                condition, yes, no = subtrees(tree)
                return self._value(yes if self._holds(condition, scope, depth) else no, scope, depth + 1)
            case "match":
                return self._match(tree, scope, depth)
            case "adding":
                one, others = (self._value(part, scope, depth + 1) for part in subtrees(tree))
                if isinstance(one, meanings.Tag | meanings.Tags) and isinstance(others, meanings.Tag | meanings.Tags):
                    return meanings.Tags(tuple(dict.fromkeys(meanings.names_of(one) + meanings.names_of(others))))
                return self._added(one, others, position)
            case kind:
                return self._operation(str(kind), tree, scope, depth)

    def _operation(self, kind: str, tree: Tree, scope: meanings.NameScope, depth: int) -> meanings.Value:
        position = meanings.position_of(tree, scope)
        values = [self._value(part, scope, depth + 1) for part in subtrees(tree)]
        if kind in ("union", "intersection", "difference") and all(
            isinstance(value, meanings.Tag | meanings.Tags) for value in values
        ):
            left, right = (meanings.names_of(value) for value in values)
            return meanings.Tags(
                {
                    "union": tuple(dict.fromkeys(left + right)),
                    "intersection": tuple(name for name in left if name in right),
                    "difference": tuple(name for name in left if name not in right),
                }[kind]
            )
        if any(isinstance(value, meanings.SetOfSets) for value in values):
            return self._of_families(kind, values, position)
        places = [meanings.position_of(part, scope) for part in subtrees(tree)]
        operands = tuple(self._as_term(value, place) for value, place in zip(values, places, strict=True))
        if kind == "suffixed":
            kind = _SUFFIXES[leaves(tree)[-1].lstrip("^ \t\n")]
        return self._made(terms.Operation(kind, operands, position), operands)

    def _made(self, term: terms.Term, parts: Sequence[terms.Term]) -> terms.Term:
        """A term, once it is known not to be too large or deep: what is put in twice is there twice."""
        known = [self._sizes.get(id(part), (part, 1, 0)) for part in parts]
        size, depth = 1 + sum(size for _, size, _ in known), 1 + max((depth for *_, depth in known), default=0)
        if depth > terms.MOST_NESTED:
            raise meanings.too_deep(terms.MOST_NESTED, term.position)
        if size > terms.MOST_PARTS:
            raise meanings.error(
                f"a term of more than {terms.MOST_PARTS} parts when its functions are put in", term.position
            )
        self._sizes[id(term)] = (term, size, depth)
        return term

    def _resolved(self, token: Token, scope: meanings.NameScope, position: terms.FilePosition) -> meanings.Value:
        name = str(token)
        meant = scope.names.get(name)
        if isinstance(meant, meanings.Absent):
            raise meant.error
        if meant is not None:
            return replace(meant, position=position) if isinstance(meant, terms.Name) else meant
        if scope.defined is not None:
            if self._parameters is not None and name in self._parameters:
                raise meanings.NotOfTermsError
            if scope.defined.get(name, 0) != self._defined[name]:
                raise meanings.unsupported(
                    f"'{name}', defined anew since the function or procedure that mentions it", "another name", position
                )
        return terms.Name(name, position)

    def _braces(self, tree: Tree, scope: meanings.NameScope, depth: int) -> meanings.Value:
        values = [self._value(part, scope, depth + 1) for part in subtrees(tree)]
        if not all(isinstance(value, meanings.Tag) for value in values):
            return self._made_of(values, meanings.position_of(tree, scope))
        return meanings.Tags(tuple(dict.fromkeys(name for value in values for name in meanings.names_of(value))))

    def _application(self, tree: Tree, scope: meanings.NameScope, depth: int) -> meanings.Value:
        position = meanings.position_of(tree, scope)
        *inner, argument = subtrees(tree)
        orders = None if inner else self._orders(str(leaves(tree)[0]), argument, scope, depth + 1)
        if orders is not None:
            return orders
        head = self._value(inner[0], scope, depth + 1) if inner else self._resolved(leaves(tree)[0], scope, position)
        if isinstance(head, terms.Name) and self._parameters and head.name in self._parameters:
            raise meanings.NotOfTermsError
        given = self._value(argument, scope, depth + 1)
        if isinstance(head, meanings.Function) and not head.procedure:
            inside = meanings.naming(head.scope, meanings.matched(head.parameters, given, "this function", position))
            return self._value(head.body[0], inside, depth + 1)
        if not isinstance(head, terms.Name):
            raise meanings.error("expected a function", position)
        if head.name in _OF_MEMBERS:
            return self._of_members(head.name, given, position)
        if head.name in _OF_TAGS and isinstance(given, meanings.Tag):
            return self._of_tag(head.name, given.name, position)
        members = given.members if isinstance(given, meanings.Group) else (given,)
        if any(isinstance(member, meanings.Function) for member in members):
            if self._parameters is not None:
                raise meanings.NotOfTermsError
            raise meanings.error(
                f"expected a set or relation as what '{head.name}' is applied to, found a function", position
            )
        arguments = tuple(self._as_term(member, position) for member in members)
        return self._made(terms.Call(head.name, arguments, position), arguments)

    def _of_tag(self, function: str, tag: str, position: terms.FilePosition) -> terms.Term:
        if not _OF_TAGS[function]:
            return terms.Name(tag[:1].upper() + tag[1:], position)
        if tag not in _SCOPES:
            raise meanings.error(f"expected a scope: {', '.join(sorted(_SCOPES))}; found '{tag}", position)
        return terms.Name(_SCOPES[tag], position)

    def _local(self, tree: Tree, scope: meanings.NameScope, depth: int) -> meanings.Value:
        *bindings, body = subtrees(tree)
        around = self._around or "it"
        values: list[tuple[str, meanings.Value, terms.FilePosition]] = []
        for part in bindings:
            if part.data == "unpacking":
                values += self._unpacked(part, scope, depth + 1)
                continue
            token = leaves(part)[0]
            pattern = meanings.pattern_of(part)
            if pattern:
                here = replace(scope, defined=self._version(scope))
                values.append(
                    (
                        str(token),
                        meanings.Function(meanings.formals(pattern), subtrees(part)[1:], here),
                        meanings.place_of(token, scope),
                    )
                )
            else:
                value = self._value_if_any(subtrees(part)[0], scope, depth + 1)
                values.append((str(token), value, meanings.place_of(token, scope)))
        meanings.check_apart([(name, position) for name, _, position in values])
        inside = scope
        for name, value, position in values:
            if isinstance(value, terms.Operation | terms.Call) and not self._stays:
                binding = terms.LetBinding(self._fresh(around, name), (), value, position)
                self.statements.append(terms.Definition((binding,), False))
                self._defined[binding.name] += 1
                value = terms.Name(binding.name, position)
            inside = meanings.naming(inside, {name: value})
        self._around = around
        return self._value(body, inside, depth + 1)

    def _hole(self, tree: Tree, scope: meanings.NameScope, depth: int) -> terms.Term:
        """The call of a hole with its alternatives, which stays a call: what it gives is for a sketch to say."""
        alternatives = tuple(self._term(part, scope, depth + 1) for part in subtrees(tree))
        call = terms.Call(terms.hole_name(leaves(tree)[0]), alternatives, meanings.position_of(tree, scope))
        return self._made(call, alternatives)

    def _otherwise(self, tree: Tree, scope: meanings.NameScope, depth: int) -> meanings.Value:
        one, other = subtrees(tree)
        second = self._value(other, scope, depth + 1)
        try:
            with self._in_place():
                first = self._value(one, scope, depth + 1)
        except meanings.UnsupportedError:
            return second
        if isinstance(first, terms.Term):
            operands = (first, self._as_term(second, meanings.position_of(other, scope)))
            return self._made(terms.Operation("otherwise", operands, meanings.position_of(tree, scope)), operands)
        return first

    def _match(self, tree: Tree, scope: meanings.NameScope, depth: int) -> meanings.Value:
        source, *clauses = subtrees(tree)
        value = self._value(source, scope, depth + 1)
        position = meanings.position_of(tree, scope)
        if self._parameters is not None and isinstance(value, terms.Name) and value.name in self._parameters:
            raise meanings.NotOfTermsError
        if isinstance(value, meanings.Tag):
            for clause in clauses:
                labels = leaves(clause)
                if labels and (labels[0].type == "UNDERSCORE" or labels[0][1:] == value.name):
                    return self._value(subtrees(clause)[0], scope, depth + 1)
            raise meanings.error(f"no case for '{value.name}", position)
        members = self._members(value, "'match' on", position)
        for clause in clauses:
            *names, body = subtrees(clause)
            given: Sequence[meanings.Value]
            if clause.data == "nothing_left" and not members:
                given = ()
            elif clause.data == "one_and_rest" and members:
                given = (members[0], self._some_of(value, members[1:]))
            elif clause.data == "amid" and members:
                middle = len(members) // 2
                before, after = members[:middle], members[middle + 1 :]
                given = (self._some_of(value, before), members[middle], self._some_of(value, after))
            else:
                continue
            return self._value(
                body, meanings.naming(scope, dict(zip(map(meanings.formal, names), given, strict=True))), depth + 1
            )
        raise meanings.error("no case for this set", position)

    # Sets by their members: of events and relations, these are known of an execution (oracle.executions.members)

    def _members(self, value: meanings.Value, what: str, position: terms.FilePosition) -> Sequence[meanings.Value]:
        """The members of a set, in their order. Raises ``MembersError`` where they are not known."""
        if isinstance(value, meanings.Tags):
            return [meanings.Tag(name) for name in value.names]
        raise meanings.members_unknown(f"{what} a set of events or relations", position)

    def _some_of(self, value: meanings.Value, members: Sequence[meanings.Value]) -> meanings.Value:
        """The set of some of the members of a set."""
        return meanings.Tags(tuple(name for member in members for name in meanings.names_of(member)))

    def _of_members(self, name: str, given: meanings.Value, position: terms.FilePosition) -> meanings.Value:
        """The result of a function of ``_OF_MEMBERS``."""
        raise meanings.members_unknown(f"'{name}'", position)

    def _added(self, one: meanings.Value, others: meanings.Value, position: terms.FilePosition) -> meanings.Value:
        """The value of ``one ++ others``, where the members are not tags."""
        raise meanings.members_unknown("'++' on events or relations", position)

    def _made_of(self, values: Sequence[meanings.Value], position: terms.FilePosition) -> meanings.Value:
        """The value of ``{..}``, where the members are not tags."""
        raise meanings.members_unknown("a set of events by its members, found '{'", position)

    def _of_families(self, kind: str, values: Sequence[meanings.Value], position: terms.FilePosition) -> meanings.Value:
        """An operator applied to sets of sets or relations."""
        raise meanings.error("expected a set or relation, found a set of such", position)

    def _compares(self, kind: str, left: meanings.Value, right: meanings.Value, position: terms.FilePosition) -> bool:
        """Whether a condition holds that is not of tags: ``equal``, ``subset`` or ``member``."""
        raise meanings.members_unknown("'if' that compares sets of events or relations", position)

    # Facts that are known while a model is read

    def _holds(self, tree: Tree, scope: meanings.NameScope, depth: int) -> bool:
        if tree.data == "variant" or tree.data.startswith("variant_"):
            return self._variant(tree)
        parts = subtrees(tree)
        if tree.data == "condition":
            return self._holds(parts[0], scope, depth)
        left, right = (self._value(part, scope, depth + 1) for part in parts)
        if not all(isinstance(value, meanings.Tag | meanings.Tags) for value in (left, right)):
            if self._parameters is not None:
                raise meanings.NotOfTermsError
            return self._compares(str(tree.data), left, right, meanings.position_of(tree, scope))
        one, other = frozenset(meanings.names_of(left)), frozenset(meanings.names_of(right))
        return one == other if tree.data == "equal" else one <= other

    def _variant(self, tree: Tree) -> bool:
        """Whether a condition on variants holds; each variant is off."""
        holds: dict[int, bool] = {}
        for part in reversed([*tree.trees()]):  # inner definitions come before outer ones
            parts = [holds[id(inner)] for inner in subtrees(part)]
            match part.data:
                case "variant_not":
                    holds[id(part)] = not parts[0]
                case "variant_and":
                    holds[id(part)] = all(parts)
                case _:
                    holds[id(part)] = any(parts)
        return holds[id(tree)]

    def _tag(self, tree: Tree, scope: meanings.NameScope) -> str:
        value = self._value(tree, scope)
        if not isinstance(value, meanings.Tag):
            raise meanings.error("expected a tag", meanings.position_of(tree, scope))
        return value.name

    def _version(self, scope: meanings.NameScope) -> Mapping[str, int]:
        return dict(self._defined) if scope.defined is None else scope.defined

    def _step(self, tree: Tree, scope: meanings.NameScope) -> None:
        self._parts += 1
        if self._parts > terms.MOST_PARTS:
            raise meanings.error(
                f"the model has more than {terms.MOST_PARTS} parts when its functions are put in",
                meanings.position_of(tree, scope),
            )

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """While no part of a term may be taken out of it, since it hangs on where it stands."""
        outer, self._stays = self._stays, True
        try:
            yield
        finally:
            self._stays = outer
