"""The dependencies of a .cat model: the names that its terms mention, directly or by other names, and intersections.

Nothing is evaluated here; ``oracle.cat.interpreter`` asks, to know on which names a model depends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from oracle.cat import terms

Lines = Mapping[str, Sequence[terms.Term]]
"""Definitions by name; a name that is defined several times has several."""


def reached(
    bodies: Iterable[terms.Term], own: Lines, ships: Mapping[str, terms.LetBinding], whole: bool = False
) -> Iterator[terms.Term]:
    """Some bodies and those that their names lead to, in ``own`` or in what ``ships``: their parts, or whole bodies."""
    waiting = list(bodies)
    seen: set[str] = set()
    while waiting:
        body = waiting.pop()
        parts = list(terms.subterms(body))
        yield from [body] if whole else parts
        new = {part.name for part in parts if isinstance(part, terms.Name | terms.Call)} - seen
        seen |= new
        for name in sorted(new):
            waiting += own[name] if name in own else [ships[name].body] if name in ships else []


def joined(term: terms.Term, names: frozenset[str]) -> bool:
    """Whether some names stand in a term only in unions that have all of them."""
    parts = list(chain(term, "union"))
    union = {part.name for part in parts if isinstance(part, terms.Name)} & names
    return (not union or union == names) and all(
        joined(inner, names) for part in parts for inner in terms.operands_of(part)
    )


KINDS = {"R": "R", "W": "W", "M": "RW", "F": "F", "B": "B", "RMW": "RW", "IW": ""}
"""The kinds of events that can be in a set of the base, by the set's name."""


def meetings(term: terms.Term, kinds: Mapping[str, str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """For each intersection of a term, the names in it, with the kinds of events that can be in all of them.

    ``kinds``: the kinds of events that can be in the set of a name, where they are known.
    """
    parts = list(chain(term, "intersection"))
    names = frozenset(part.name for part in parts if isinstance(part, terms.Name | terms.Call))
    if names:
        yield names, frozenset("RWFB").intersection(*(kinds.get(name, "RWFB") for name in names))
    for part in parts:
        for inner in terms.operands_of(part):
            yield from meetings(inner, kinds)


def chain(term: terms.Term, kind: str) -> Iterator[terms.Term]:
    """The operands that an associative operator joins in a term; the term alone where it is of another operator."""
    if isinstance(term, terms.Operation) and term.kind == kind:
        for operand in term.operands:
            yield from chain(operand, kind)
    else:
        yield term


def own_lines(statements: Iterable[terms.Statement]) -> Lines:
    """The definitions among the statements of a model by name; a name that is defined several times has several."""
    own: dict[str, list[terms.Term]] = {}
    for statement in statements:
        for binding in statement.bindings if isinstance(statement, terms.Definition) else ():
            own.setdefault(binding.name, []).append(binding.body)
    return own


def long_chains(syntax: terms.ModelSyntax, most: int) -> frozenset[int]:
    """The numbers of the definitions that cut each chain of names to about ``most`` operators within each other.

    In ``let a = po | rf  let b = a; a  let c = b+  acyclic c``, the check asks for ``c``, that for ``b``, and that for
    ``a``: 7 names and operators within each other. Where ``b`` is known before ``c`` asks for it, there are two chains,
    of 3 and of 4. Functions are never cut.
    """
    cuts: set[int] = set()
    chains: dict[str, tuple[int | None, int]] = {}  # the number of a name's definition, and how long its chain is
    for number, statement in enumerate(syntax.statements):
        lengths = []
        for body in terms.bodies_of(statement):
            own = terms.nesting(body)
            mentioned = {
                part.name for part in terms.subterms(body) if isinstance(part, terms.Name | terms.Call)
            } & chains.keys()
            if own + max((chains[name][1] for name in mentioned), default=0) > most:
                for name in mentioned:
                    cut, _ = chains[name]
                    if cut is not None:
                        cuts.add(cut)
                        chains[name] = cut, 0
            lengths.append(own + max((chains[name][1] for name in mentioned), default=0))
        if isinstance(statement, terms.Definition):
            for binding, length in zip(statement.bindings, lengths, strict=True):
                if statement.recursive:  # the value is known at once
                    chains[binding.name] = None, 0
                else:
                    chains[binding.name] = None if binding.parameters else number, length
    return frozenset(cuts)


def names_reached(bodies: Iterable[terms.Term], own: Lines, ships: Mapping[str, terms.LetBinding]) -> frozenset[str]:
    """The names among the parts that some bodies lead to."""
    return frozenset(part.name for part in reached(bodies, own, ships) if isinstance(part, terms.Name | terms.Call))


def names_in(term: terms.Term) -> frozenset[str]:
    """The names of sets and relations that a term mentions; names of functions are not among them."""
    return frozenset(part.name for part in terms.subterms(term) if isinstance(part, terms.Name))
