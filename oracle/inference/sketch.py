"""Sketches: .cat models with holes, and the models that fill them.

    let ppo = po & ((?ww: W * W) | (?rr: R * R))       switches: what they hold is there, or nothing
    let fence = ?fence: membar.cta | membar.gl         a choice: one of its alternatives, which may be 0
    ?mca: acyclic po | rf as multi-copy                a check with a switch is required, or is not

A hole reaches over ``|`` as far as it can, so it stands in brackets within a union. Holes of one name are one hole, and
have equally many alternatives. A *filling* says of each hole, in the order of the text, which alternative fills it; 0
or 1 of a switch, and a number from 0 of a choice. So the sketch of the first line has four models:

>>> from oracle.cat.text import statement_text
>>> sketch = parse_sketch('acyclic po & ((?ww: W * W) | (?rr: R * R)) | rf | co | fr as order', "example.cat")
>>> [hole.name for hole in sketch.holes]
['ww', 'rr']
>>> for filling in sketch.fillings(sketch.valid):
...     print(filling, statement_text(sketch.filled(filling).syntax.statements[0]))
(0, 0) acyclic rf | co | fr as order
(0, 1) acyclic (po & (R * R)) | rf | co | fr as order
(1, 0) acyclic (po & (W * W)) | rf | co | fr as order
(1, 1) acyclic (po & ((W * W) | (R * R))) | rf | co | fr as order

Source of the idea: Bornholt and Torlak, "Synthesizing Memory Models from Framework Sketches and Litmus Tests" (PLDI
2017), section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from hashlib import sha256
from operator import or_

from corpus.errors import InputError
from oracle.cat import terms
from oracle.cat.interpreter import Model, checked_model, prelude
from oracle.cat.mentions import names_reached, own_lines
from oracle.cat.syntax import parse_cat, read_cat
from oracle.cat.text import model_text, term_text
from oracle.executions.events import VOCABULARY
from oracle.inference.model_sets import ModelSet, ModelSpace
from oracle.naming import model_name

Filling = tuple[int, ...]
"""What fills each hole of a sketch: 0 or 1 of a switch, of a choice the number of an alternative."""

MOST_ALTERNATIVES = 32
"""The limit of alternatives of a hole."""

MOST_LISTED = 1 << 13
"""The number of models up to which sets of them are bits: with more, diagrams are quicker."""

MOST_HOLES = 400
"""The limit of holes of a sketch."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole of a sketch: the texts of its alternatives, of which a switch has one; and where it first stands.

    ``usual`` is what fills it in the model that the sketch was made of, None where it was made of none.
    """

    name: str
    alternatives: tuple[str, ...]
    position: terms.FilePosition
    usual: int | None = None

    @property
    def is_switch(self) -> bool:
        """Whether what the hole holds is there or not, rather than one of several."""
        return len(self.alternatives) == 1

    @property
    def ways(self) -> range:
        """The ways to fill the hole: 0 and 1 of a switch, else the numbers of the alternatives."""
        return range(max(2, len(self.alternatives)))

    @property
    def variables(self) -> list[str]:
        """The names of the hole's variables: one, which is true of the second way, or one for each of more ways."""
        name = terms.HOLE + self.name
        return [name] if len(self.ways) == 2 else [terms.alternative_name(name, way) for way in self.ways]

    def sign(self, way: int) -> tuple[str, bool]:
        """A variable, and its truth where the hole is filled in a way."""
        return (self.variables[0], bool(way)) if len(self.ways) == 2 else (self.variables[way], True)

    def signs(self) -> dict[str, tuple[str, bool]]:
        """For each alternative, by its name in a base, the variable and its truth where the hole is filled by it."""
        first = int(self.is_switch)
        name = terms.HOLE + self.name
        return {terms.alternative_name(name, n): self.sign(n + first) for n in range(len(self.alternatives))}

    def text(self, chosen: int) -> str:
        """What fills the hole in words: ``ww: W * W``, ``no ww`` or ``fence: membar.gl``."""
        if self.is_switch:
            return f"{self.name}: {self.alternatives[0]}" if chosen else f"no {self.name}"
        return f"{self.name}: {self.alternatives[chosen]}"


@dataclass(frozen=True)
class ListedModels:
    """Few models, numbered, so that a set of them may be the bits of an integer.

    ``members`` are their truths of the variables, ``masks`` the models that have each alternative, by its name.
    """

    space: ModelSpace
    members: tuple[tuple[bool, ...], ...]
    masks: Mapping[str, int]
    _sets: dict[int, ModelSet] = field(default_factory=dict, repr=False)

    @property
    def every(self) -> int:
        """The bits of all models."""
        return (1 << len(self.members)) - 1

    def set_of(self, bits: int) -> ModelSet:
        """The set of the models whose bits are given."""
        if bits not in self._sets:
            some = [values for number, values in enumerate(self.members) if bits >> number & 1]
            self._sets[bits] = self.space.containing(some)
        return self._sets[bits]


@dataclass(frozen=True)
class Sketch:
    """A .cat model with holes. ``model`` calls them as functions, whose names begin with ``?``.

    ``changes``: the limit of holes that are filled otherwise than usual, where models are that near to a given one.
    """

    model: Model
    holes: tuple[Hole, ...]
    space: ModelSpace = field(repr=False, compare=False)
    changes: int | None = None

    @property
    def name(self) -> str:
        """The name of the sketch, that of its file."""
        return self.model.name

    @cached_property
    def valid(self) -> ModelSet:
        """The models of the sketch among all truths of its variables: of a choice exactly one alternative holds."""
        space = self.space
        levels = [space.every, *[space.none] * (self.changes or 0)]  # by the number of changes
        for hole in reversed(self.holes):  # the last variables first, so that diagrams grow at their roots
            right = space.every if len(hole.ways) == 2 else exactly_one(space, hole.variables)
            if self.changes is None or hole.usual is None:
                levels = [level & right for level in levels]
                continue
            usual = right & self.where(hole, hole.usual)
            changed = [space.none, *levels]
            levels = [(level & usual) | (more & (right - usual)) for level, more in zip(levels, changed, strict=False)]
        return reduce(or_, levels)

    def where(self, hole: Hole, way: int) -> ModelSet:
        """The assignments in which a hole is filled in a way."""
        return self._signed(*hole.sign(way))

    def _signed(self, variable: str, truth: bool) -> ModelSet:
        return self.space.variable(variable) if truth else ~self.space.variable(variable)

    @cached_property
    def signs(self) -> Mapping[str, tuple[str, bool]]:
        """For each alternative of a hole, by its name in a base, a variable and its truth where it fills the hole."""
        return {name: sign for hole in self.holes for name, sign in hole.signs().items()}

    @cached_property
    def alternatives(self) -> Mapping[str, ModelSet]:
        """For each alternative of a hole, by its name in a base, the models that have it."""
        return {name: self.valid & self._signed(*sign) for name, sign in self.signs.items()}

    @cached_property
    def listed(self) -> ListedModels | None:
        """The models of the sketch one by one, None where they are too many."""
        if self.valid.size > MOST_LISTED:
            return None
        members = tuple(self.space.members(self.valid))
        levels = {name: level for level, name in enumerate(self.space.variables)}
        masks = {
            name: sum(1 << number for number, values in enumerate(members) if values[levels[variable]] is truth)
            for name, (variable, truth) in self.signs.items()
        }
        return ListedModels(self.space, members, masks)

    def within(self, changes: int | None) -> Sketch:
        """The sketch whose models fill at most so many holes otherwise than usual; None: as many as they like."""
        return replace(self, changes=changes)

    def filling(self, values: Sequence[bool]) -> Filling:
        """The filling that the truths of the variables stand for."""
        found, start = [], 0
        for hole in self.holes:
            own = values[start : start + len(hole.variables)]
            found.append(int(own[0]) if len(own) == 1 else own.index(True))
            start += len(own)
        return tuple(found)

    def values(self, filling: Filling) -> tuple[bool, ...]:
        """The truths of the variables for a filling."""
        values: list[bool] = []
        for hole, chosen in zip(self.holes, filling, strict=True):
            values += [bool(chosen)] if len(hole.ways) == 2 else [way == chosen for way in hole.ways]
        return tuple(values)

    def fillings(self, models: ModelSet) -> Iterator[Filling]:
        """The fillings in a set of models of the sketch."""
        return map(self.filling, self.space.members(models & self.valid))

    def described(self, filling: Filling) -> list[str]:
        """What fills each hole, in words."""
        return [hole.text(chosen) for hole, chosen in zip(self.holes, filling, strict=True)]

    def filled(self, filling: Filling, name: str = "") -> Model:
        """The model without holes that a filling makes of the sketch.

        Raises ``InputError`` where it is no model, as where nothing is left under ``~``.
        """
        given = {f"{terms.HOLE}{hole.name}": chosen for hole, chosen in zip(self.holes, filling, strict=True)}
        statements: list[terms.Statement] = []
        for statement in self.model.syntax.statements:
            statements += _filled(statement, given)
        statements = _needed(statements)
        name = name or f"{self.name}-{''.join(map(str, filling))}"
        syntax = replace(self.model.syntax, title=name, statements=tuple(statements))
        digest = sha256(model_text(syntax).encode()).hexdigest()
        return checked_model(name, replace(syntax, digest=digest), VOCABULARY)

    def text(self, filling: Filling, name: str) -> str:
        """The model of a filling as a .cat file, after a comment that says what fills each hole."""
        description = "\n".join(f"   {line}" for line in self.described(filling))
        head, *lines = model_text(self.filled(filling, name).syntax).split("\n")
        comment = f"(* A model of the sketch {self.name}, whose holes are filled as follows.\n\n{description} *)\n"
        return "\n".join([head, comment, *lines])


def exactly_one(space: ModelSpace, variables: Sequence[str]) -> ModelSet:
    """The assignments of a space in which exactly one of some variables is true."""
    none, one = space.every, space.none
    for name in variables:
        here = space.variable(name)
        none, one = none - here, (one - here) | (none & here)
    return one


def parse_sketch(text: str, path: str) -> Sketch:
    """The sketch that ``text`` denotes; ``path`` names it, and is where errors are said to be.

    Raises ``InputError`` with line and column where the text is no model, a name is unknown or of another type, and
    where holes of one name have different numbers of alternatives.
    """
    return _sketch(parse_cat(text, path), model_name(path))


def load_sketch(path: str, name: str = "") -> Sketch:
    """The sketch in a .cat file, called ``name`` or by the file's stem.

    Raises ``InputError`` where the file cannot be read, with line and column where it is no model, or a name is unknown
    or of another type, and where holes of one name have different numbers of alternatives.
    """
    return _sketch(read_cat(path), name or model_name(path))


def sketch_of(model: Model, usual: Mapping[str, int] | None = None) -> Sketch:
    """The sketch whose holes a model calls; ``usual`` says what fills some of them in a model that it is made of."""
    found: dict[str, terms.Call] = {}
    for call in terms.holes_of(model.syntax.statements):
        first = found.setdefault(call.name, call)
        if len(first.arguments) != len(call.arguments):
            wanted = len(first.arguments)
            raise InputError(f"expected {wanted} alternatives as where {call.name} stood first", *call.position)
        if len(call.arguments) > MOST_ALTERNATIVES:
            raise InputError(f"more than {MOST_ALTERNATIVES} alternatives", *call.position)
    if len(found) > MOST_HOLES:
        raise InputError(f"a sketch of {len(found)} holes, and {MOST_HOLES} are the most", model.name)
    usual = usual or {}
    holes = tuple(
        Hole(name[1:], tuple(map(term_text, call.arguments)), call.position, usual.get(name[1:]))
        for name, call in found.items()
    )
    return Sketch(model, holes, ModelSpace([variable for hole in holes for variable in hole.variables]))


def _sketch(syntax: terms.ModelSyntax, name: str) -> Sketch:
    if syntax.over_members is not None:
        raise InputError("expected a sketch that goes over no members of sets of events", *syntax.over_members)
    return sketch_of(checked_model(name, syntax, VOCABULARY))


# Filling

NOTHING = -1
"""The entry of a name that means nothing, among what fills holes."""


def _filled(statement: terms.Statement, given: dict[str, int]) -> list[terms.Statement]:
    """A statement once its holes are filled; none where it is a check of nothing, or defines nothing.

    ``given`` has what fills each hole, and gets the names that mean nothing from then on.
    """
    match statement:
        case terms.ModelCheck(body=body, negated=negated):
            term = _simple(body, given)
            return [] if _is_nothing(term) and not negated else [replace(statement, body=term)]
        case terms.Linearisation(events=events):
            return [replace(statement, events=_simple(events, given))]
        case terms.Definition(bindings=bindings, recursive=recursive):
            own = {name for binding in bindings for name in (binding.name, *binding.parameters)}
            inner = {name: way for name, way in given.items() if name not in own} if recursive else given
            made = []
            for binding in bindings:
                known = {name: way for name, way in inner.items() if name not in binding.parameters}
                body = _simple(binding.body, known)
                given.pop(binding.name, None)
                if _is_nothing(body) and not recursive and not binding.parameters:
                    given[binding.name] = NOTHING
                else:
                    made.append(replace(binding, body=body))
            return [replace(statement, bindings=tuple(made))] if made else []


def _simple(term: terms.Term, given: Mapping[str, int]) -> terms.Term:
    """A term with its holes filled, and without what then is nothing."""
    match term:
        case terms.Name(name, position) if given.get(name) == NOTHING:
            return terms.Constant("0", position)
        case terms.Call(name, arguments, position) if name[0] == terms.HOLE:
            chosen = given[name]
            if len(arguments) > 1:
                return _simple(arguments[chosen], given)
            return _simple(arguments[0], given) if chosen else terms.Constant("0", position)
        case terms.Call(arguments=arguments):
            return replace(term, arguments=tuple(_simple(part, given) for part in arguments))
        case terms.Operation(kind, operands, position):
            inner = tuple(_simple(part, given) for part in operands)
            nothing = [_is_nothing(part) for part in inner]
            if kind == "union" and any(nothing):
                return inner[1] if nothing[0] else inner[0]
            if kind == "difference" and nothing[1]:
                return inner[0]
            if (kind in ("intersection", "compose", "product") and any(nothing)) or (
                kind in ("difference", "plus", "inverse", "identity") and nothing[0]
            ):
                return terms.Constant("0", position)
            return replace(term, operands=inner)
        case _:
            return term


def _is_nothing(term: terms.Term) -> bool:
    return isinstance(term, terms.Constant) and term.symbol == "0"


def _needed(statements: Sequence[terms.Statement]) -> list[terms.Statement]:
    """The statements without definitions on which no check depends."""
    checked = [statement.body for statement in statements if isinstance(statement, terms.ModelCheck)]
    needed = names_reached(checked, own_lines(statements), prelude())
    kept: list[terms.Statement] = []
    for statement in statements:
        if isinstance(statement, terms.Definition):
            bindings = tuple(binding for binding in statement.bindings if binding.name in needed)
            kept += [replace(statement, bindings=bindings)] if bindings else []
        else:
            kept.append(statement)
    return kept
