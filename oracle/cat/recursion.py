"""Recursive definitions of relations solved without a fixpoint, where they are equations of a regular kind.

    x = a | (l; x) | (x; r) | (x; m; x)        is        x = y; (m; y)^*    with    y = l^*; a; r^*

Composition distributes over union, so a body made of these two is a sum of products, as of words over the relations
that it mentions. The least relation that satisfies ``x = ..`` is then what a grammar derives. The four kinds of words
above keep the language of that grammar regular, where ``x`` is not among ``a l r m``: an ``l`` before a word goes to
its first ``a``, and an ``r`` after it to its last. Several definitions are reduced to one by putting one into another,
as in Gauss's elimination. All other equations, such as ``l; x; r`` or ``x & s``, are left to iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from itertools import chain, product
from math import prod

from oracle.cat.terms import FilePosition, LetBinding, Name, Operation, Term

MOST_WORDS = 32
"""The limit of words in a body when it is multiplied out, and of letters in a word."""

Word = tuple[Term, ...]

Mentions = Callable[[Term], frozenset[str]]


def solved(bindings: Sequence[LetBinding], mentions: Mentions) -> list[tuple[str, Term]] | None:
    """Terms without recursion for the bindings, in an order in which each mentions only those before it.

    ``mentions``: the names in a term. None where the equations are not of a kind that can be solved here.
    """
    recursive = frozenset(binding.name for binding in bindings)
    position = bindings[0].position
    left: dict[str, list[Word]] = {}
    for binding in bindings:
        words = _words(binding.body, recursive, mentions)
        if words is None:
            return None
        left[binding.name] = words
    known: list[tuple[str, Term]] = []
    put: list[tuple[str, Term]] = []
    while left:
        used = {name: frozenset[str]().union(*map(mentions, chain(*words))) for name, words in left.items()}
        own = [name for name in left if not used[name] & (left.keys() - {name})]
        if own:
            term = _solution(own[0], left.pop(own[0]), position)
            if term is None:
                return None
            known.append((own[0], term))
            continue
        ways = [(name, _without(left, name)) for name in left if name not in used[name]]
        possible = [(sum(map(len, chain(*way.values()))), name, way) for name, way in ways if way is not None]
        if not possible:
            return None
        _, name, way = min(possible, key=lambda found: found[0])
        put.append((name, _sum(left[name], position)))
        left = way
    return [*known, *reversed(put)]


def _is_one(part: Term, names: Collection[str]) -> bool:
    return isinstance(part, Name) and part.name in names


def _words(term: Term, recursive: frozenset[str], mentions: Mentions) -> list[Word] | None:
    """The words of a term, whose letters are recursive names and terms without any; None where it has none such."""
    if not mentions(term) & recursive or _is_one(term, recursive):
        return [(term,)]
    if not isinstance(term, Operation) or term.kind not in ("union", "compose"):
        return None
    left, right = (_words(operand, recursive, mentions) for operand in term.operands)
    if left is None or right is None:
        return None
    words = left + right if term.kind == "union" else [one + other for one, other in product(left, right)]
    return _few(words)


def _few(words: list[Word]) -> list[Word] | None:
    return words if len(words) <= MOST_WORDS and all(len(word) <= MOST_WORDS for word in words) else None


def _without(equations: Mapping[str, list[Word]], name: str) -> dict[str, list[Word]] | None:
    """The other equations with one put into them; None where they become too long."""
    value = equations[name]
    found: dict[str, list[Word]] = {}
    for other in [other for other in equations if other != name]:
        choices = [[value if _is_one(part, {name}) else [(part,)] for part in word] for word in equations[other]]
        if sum(prod(map(len, row)) for row in choices) > MOST_WORDS:
            return None
        words = _few([sum(chosen, ()) for row in choices for chosen in product(*row)])
        if words is None:
            return None
        found[other] = words
    return found


def _solution(name: str, words: list[Word], position: FilePosition) -> Term | None:
    """The least ``name`` that is the sum of the words, no other unknown in them."""
    base: list[Word] = []
    before: list[Word] = []
    after: list[Word] = []
    between: list[Word] = []
    for word in words:
        places = [number for number, part in enumerate(word) if _is_one(part, {name})]
        last = len(word) - 1
        if not places:
            base.append(word)
        elif places == [0, last] and last > 0:
            between.append(word[1:-1])
        elif places == [last]:
            before += [word[:-1]] if last else []  # x = x says nothing
        elif places == [0]:
            after.append(word[1:])
        else:
            return None
    if not base:
        return None  # the empty set or relation, whose type is not known here

    def apply(kind: str, *operands: Term) -> Term:
        return Operation(kind, operands, position)

    term = _sum(base, position)
    if before:
        term = apply("compose", apply("star", _sum(before, position)), term)
    if after:
        term = apply("compose", term, apply("star", _sum(after, position)))
    if not between:
        return term
    middle = [word for word in between if word]
    if not middle:
        return apply("plus", term)
    link = _sum(middle, position)
    again = apply("compose", link if len(middle) == len(between) else apply("optional", link), term)
    return apply("compose", term, apply("star", again))


def _sum(words: list[Word], position: FilePosition) -> Term:
    def join(kind: str) -> Callable[[Term, Term], Term]:
        return lambda one, other: Operation(kind, (one, other), position)

    return reduce(join("union"), [reduce(join("compose"), word) for word in words])
