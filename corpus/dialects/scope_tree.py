"""Reads and prints the scope trees of GPU_PTX and LISA litmus tests. An example is ``(grid(cta(warp T0) (warp
T1)))``.

A dialect has its own words for the levels. A level that is left out above a group is one group around all of them, and
one that is left out around a thread is a group of its own: ``(cta T0 T1)`` are two warps of one CTA, on one GPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.litmus.orders import Place, Scope

_DEPTH = len(Place._fields)

WORDS: Mapping[str, Scope] = {
    **dict.fromkeys(("warp", "sg", "sub-group", "sub_group", "subgroup", "wave"), Scope.WARP),
    **dict.fromkeys(("cta", "wg", "work-group", "work_group", "workgroup", "block"), Scope.CTA),
    **dict.fromkeys(("qf", "queue", "queue-family", "queuefamily"), Scope.QUEUE),
    **dict.fromkeys(("gpu", "gl", "dv", "dev", "device", "agent", "kernel"), Scope.GPU),
    **dict.fromkeys(("sys", "system", "all"), Scope.SYS),
}
"""The levels of scope trees by the words that others use for them, in bell files and models."""


def read_places(
    groups: Sequence[Tree], levels: Mapping[str, Scope], threads: int, start: Token, path: str | None
) -> list[Place]:
    """Return the place of each of ``threads`` threads in the scope tree.

    A group is a tree of its level's word, of ``levels``, and of groups and tokens that end in a thread's number;
    ``start`` is where the scope tree begins. Raises ``InputError`` where the groups are no tree over the threads.
    """
    reader = _Reader(levels, threads, path)
    for group in groups:
        reader.group(group, "", -1, ())
    for thread in range(threads):
        if thread not in reader.places:
            raise InputError(f"thread {thread} is not in the scope tree", path, start.line, start.column)
    return [reader.places[thread] for thread in range(threads)]


class _Reader:
    def __init__(self, levels: Mapping[str, Scope], threads: int, path: str | None) -> None:
        self._levels = levels
        self._threads = threads
        self._path = path
        self._children: dict[tuple[int, ...], int] = {}
        self._implicit: dict[tuple[int, ...], int] = {}
        self._system = False
        self.places: dict[int, Place] = {}

    def group(self, tree: Tree, outer: str, depth: int, prefix: tuple[int, ...]) -> None:
        word, *members = tree.children
        assert isinstance(word, Token)
        level = self._levels[str(word)].value
        if level <= depth:
            raise self._error(word, f"expected a narrower level within a {outer}, found {word}")
        if level == 0:
            if self._system or self._children:
                raise self._error(word, f"expected one {word} around all threads, found another")
            self._system = True
        elif depth < 0 and self._system:
            raise self._error(word, f"expected one system around all threads, found a {word} beside it")
        while len(prefix) < level - 1:
            if prefix not in self._implicit:
                self._implicit[prefix] = self._fresh(prefix)
            prefix += (self._implicit[prefix],)
        if level > 0:
            prefix += (self._fresh(prefix),)
        for member in members:
            if isinstance(member, Tree):
                self.group(member, str(word), level, prefix)
            else:
                self._thread(member, prefix)

    def _thread(self, token: Token, prefix: tuple[int, ...]) -> None:
        digits = token.lstrip("PT").lstrip("0") or "0"
        if len(digits) > 9 or int(digits) >= self._threads:
            raise self._error(token, f"the test has no thread {token:.20}")
        thread = int(digits)
        if thread in self.places:
            raise self._error(token, f"thread {token} is in the scope tree twice")
        while len(prefix) < _DEPTH:
            prefix += (self._fresh(prefix),)
        self.places[thread] = Place(*prefix)

    def _fresh(self, prefix: tuple[int, ...]) -> int:
        """The number of a new group within the group at ``prefix``."""
        self._children[prefix] = self._children.get(prefix, -1) + 1
        return self._children[prefix]

    def _error(self, token: Token, message: str) -> InputError:
        return InputError(message, self._path, token.line, token.column)


def print_groups(places: Sequence[Place], levels: Mapping[Scope, str], prefix: str) -> str:
    """Print the groups at each of ``levels``, as ``read_places`` takes them; threads are ``prefix`` and their numbers.

    A level without a word must not matter: no threads are apart there that are together above it, or at the level of
    warps, no two are together.
    """
    return _groups(list(enumerate(places)), Scope.SYS, levels, prefix)


def _groups(members: Sequence[tuple[int, Place]], scope: Scope, levels: Mapping[Scope, str], prefix: str) -> str:
    if scope is Scope.WARP:
        inner = " ".join(f"{prefix}{index}" for index, _ in members)
    else:
        groups: dict[int, list[tuple[int, Place]]] = {}
        for index, place in members:
            groups.setdefault(place[scope.value], []).append((index, place))
        narrower = Scope(scope.value + 1)
        inner = " ".join(_groups(group, narrower, levels, prefix) for group in groups.values())
    return f"({levels[scope]} {inner})" if scope in levels else inner
