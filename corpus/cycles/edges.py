"""Defines the edges of critical cycles and their names. They are after diy (herdtools7) and Alglave et al. 2015,
section 4.1.

    Rfe Fre Coe Rfi Fri Coi            communication, between threads (e) or within one (i); Ws is another name of Co
    PodWR PosRR ..                     program order, to another location (d) or the same (s), and the two accesses
    DpAddrdR DpDatadW DpCtrlsW ..      a dependency from a read: location, and the access it leads to
    DpCtrlIsyncdR ..                   a control dependency with an acquire fence, Power's isync, after the branch
    MembarGldWW FenceSc.gpu.dWR ..     program order with a fence between
    Rmw                                the read and the write of one atomic operation
    Rlx.gpu Acq.cta Rel.sys Sc.gpu     annotations: order and scope of an access
    Ca Cg Vol Plain                    annotations: cache operators, volatile, none of these

``[A,B]`` is A and then B, ``A|B`` is one of the two, and annotations may follow an edge: ``PodWWRlx.gpuRel.gpu`` says
how both its accesses are annotated. A fence or an annotation without its scope stands for each scope there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import NamedTuple

from corpus.errors import InputError, did_you_mean
from corpus.hashing import hashed_once
from corpus.laws.c11 import HALVES, LEGAL_ORDERS
from corpus.laws.ptx import LOAD, MEMBARS, STORE
from corpus.litmus.instructions import Load, Store
from corpus.litmus.orders import SCOPES, Mode, Order


@lru_cache(maxsize=1 << 10)
def _the_same(kind: Callable[..., object], *parts: object) -> object:
    """Return an object from another process as the object that came before it: most are looked up, and not compared."""
    return kind(*parts)


COMMUNICATION = {"Rf": ("W", "R"), "Fr": ("R", "W"), "Co": ("W", "W")}


@hashed_once
@dataclass(frozen=True, order=True)
class Annotation:
    """An annotation says how an access is done, as ``Rlx.gpu`` or ``Cg`` do; ``Plain`` adds nothing to the access."""

    name: str
    fits: str
    """``R``, ``W`` or ``RW``: the accesses that it fits."""
    order: Order = Order.WEAK
    scope: str = ""
    cache: str = ""
    volatile: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        return _the_same, (Annotation, *(getattr(self, part.name) for part in fields(self)))

    @cached_property
    def mode(self) -> Mode:
        """The mode that this annotation gives to an access."""
        return Mode(self.order, SCOPES.get(self.scope), self.volatile, self.cache or None)


PLAIN = Annotation("Plain", "RW")

_ATOMIC_ORDERS = {halves: order for order, halves in HALVES.items()}


def atomic_mode(read: Annotation, write: Annotation) -> Mode | None:
    """Return the mode of the atomic operation whose halves have these annotations, or None where there is no such
    operation.

    Halves have one scope and no cache operator, and are not volatile. A plain half is relaxed and of the other's scope;
    two plain halves are relaxed at GPU scope, as PTX has it.
    """
    halves = [half for half in (read, write) if half != PLAIN]
    scopes = {half.scope for half in halves} or {"gpu"}
    if len(scopes) > 1 or "" in scopes:
        return None
    orders = tuple(half.order if half in halves else Order.RELAXED for half in (read, write))
    return Mode(_ATOMIC_ORDERS[orders], SCOPES[scopes.pop()]) if orders in _ATOMIC_ORDERS else None


class Outline(NamedTuple):
    """The part of an edge that decides the values and locations of its accesses; all fences within a thread have one
    outline.
    """

    kind: str
    source: str
    internal: bool
    same: bool


@hashed_once
@dataclass(frozen=True, order=True)
class Edge:
    """An edge of a cycle: its kind, the two accesses it joins, and whether they share a thread and a location.

    ``kind`` is ``Rf Fr Co Po Rmw Addr Data Ctrl`` or ``Fence``; a fence has its order and scope, and ``spelled`` is how
    it is called (``MembarGl`` and ``FenceSc.gpu.`` are one). A control dependency may have a fence after its branch.
    ``source`` and ``target`` are ``R`` or ``W``.
    """

    kind: str
    source: str
    target: str
    internal: bool
    same: bool
    spelled: str = field(default="", compare=False)
    order: Order = Order.WEAK
    scope: str = ""
    first: Annotation | None = None
    second: Annotation | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _the_same, (Edge, *(getattr(self, part.name) for part in fields(self)))

    @property
    def bare(self) -> Edge:
        """The edge without the annotations of its accesses."""
        return self if self.first is None and self.second is None else replace(self, first=None, second=None)

    @cached_property
    def outline(self) -> Outline:
        """The outline of an edge, shared by all edges that differ only in what a thread does between its accesses."""
        between = self.kind not in COMMUNICATION and self.kind != "Rmw" and inner_communication(self) is None
        return Outline("" if between else self.kind, self.source, self.internal, self.same)

    @cached_property
    def name(self) -> str:
        """The name of an edge, without the annotations that may follow it."""
        where = "s" if self.same else "d"
        match self.kind:
            case "Rf" | "Fr" | "Co":
                return self.kind + ("i" if self.internal else "e")
            case "Po":
                return f"Po{where}{self.source}{self.target}"
            case "Fence":
                return f"{self.spelled}{where}{self.source}{self.target}"
            case "Rmw":
                return "Rmw"
            case kind:
                return f"Dp{kind}{self.spelled}{where}{self.target}"

    @property
    def fenced(self) -> bool:
        """The truth that there is a fence between the two accesses of an edge."""
        return bool(self.scope)

    @property
    def fence(self) -> Mode:
        """The mode of the fence between the two accesses of a fenced edge."""
        return Mode(self.order, SCOPES[self.scope])


def inner_communication(edge: Edge) -> Edge | None:
    """Return the communication that a plain step to one location stands for where the location is coherent; None for
    two reads.
    """
    for kind, ends in COMMUNICATION.items():
        if edge.kind == "Po" and edge.same and ends == (edge.source, edge.target):
            return Edge(kind, *ends, True, True)
    return None


_COMPOSED = {
    ("Rf", "Fr"): "Co",
    ("Co", "Co"): "Co",
    ("Fr", "Co"): "Fr",
    ("Po", "Po"): "Po",
    ("Po", "Fence"): "Fence",
    ("Fence", "Po"): "Fence",
    ("Fence", "Fence"): "Fence",
}


def composed(one: Edge, other: Edge) -> str:
    """Return the kind of edge that an edge and the next one are together, or an empty text where they make no edge.

    Within a thread, plain steps to one location are communication too.
    """
    kinds = [(one.kind, other.kind)]
    if one.internal and other.internal:
        kinds.append(((inner_communication(one) or one).kind, (inner_communication(other) or other).kind))
    return next((_COMPOSED[pair] for pair in kinds if pair in _COMPOSED), "")


@dataclass(frozen=True, slots=True)
class EdgeVocabulary:
    """The building blocks of cycles: runs of edges that belong together, mostly of one edge, and annotations.

    ``sequences`` are the words ``[A,B]`` that were asked for, each with the runs that it stands for.
    """

    runs: tuple[tuple[Edge, ...], ...]
    annotations: tuple[Annotation, ...]
    sequences: tuple[tuple[str, tuple[tuple[Edge, ...], ...]], ...] = ()


@cache
def all_annotations() -> dict[str, Annotation]:
    """Return every annotation of the vocabulary, keyed by its name."""
    found = [PLAIN]
    for short, order in (("Rlx", Order.RELAXED), ("Acq", Order.ACQUIRE), ("Rel", Order.RELEASE), ("Sc", Order.SC)):
        fits = _fitting(order in LEGAL_ORDERS[Load], order in LEGAL_ORDERS[Store])
        found += [Annotation(f"{short}.{scope}", fits, order, scope) for scope in SCOPES]
    for name in ("ca", "cg"):
        fits = _fitting(name in LOAD.caches, name in STORE.caches)
        found.append(Annotation(name.capitalize(), fits, cache=name))
    found.append(Annotation("Vol", "RW", volatile=True))
    return {annotation.name: annotation for annotation in found}


def _fitting(reads: bool, writes: bool) -> str:
    return "R" * reads + "W" * writes


@cache
def all_edges() -> dict[str, Edge]:
    """Return every edge of the vocabulary, keyed by its name, in the order in which they are listed."""
    found = []
    for kind, (source, target) in COMMUNICATION.items():
        found += [Edge(kind, source, target, internal, True) for internal in (False, True)]
    accesses = [(same, source, target) for same in (False, True) for source, target in product("RW", repeat=2)]
    found += [Edge("Po", source, target, True, same) for same, source, target in accesses]
    for kind, targets in (("Addr", "RW"), ("Data", "W"), ("Ctrl", "RW")):
        found += [Edge(kind, "R", target, True, same) for same in (False, True) for target in targets]
    branches = [Edge("Ctrl", "R", target, True, same) for same in (False, True) for target in "RW"]
    found += [replace(edge, spelled="Isync", order=Order.ACQUIRE, scope="sys") for edge in branches]
    fences = [("Membar" + word.capitalize(), Order.SC, scope.label) for word, scope in MEMBARS.items()]
    for short, order in (("FenceSc", Order.SC), ("FenceAcqRel", Order.ACQ_REL)):
        fences += [(f"{short}.{scope}.", order, scope) for scope in SCOPES]
    for spelled, order, scope in fences:
        found += [Edge("Fence", source, target, True, same, spelled, order, scope) for same, source, target in accesses]
    found.append(Edge("Rmw", "R", "W", True, True))
    return {edge.name: edge for edge in found}


_SYNONYMS = re.compile(r"^Ws(?=[ei])")
_FENCE = re.compile(r"^(Membar(?:Cta|Gl|Sys)|Fence(?:Sc|AcqRel)\.?(?:cta|gpu|sys)?)\.?([ds])([RW])([RW])")


def describe_edge(edge: Edge) -> str:
    """Describe an edge in one line, as the list of edges prints it."""
    words = {"R": "a read", "W": "a write"}
    where = "the same location" if edge.same else "another location"
    match edge.kind:
        case "Rf":
            text = "a read takes the value of a write"
        case "Fr":
            text = "a read takes a value that a write replaces later"
        case "Co":
            text = "a write is replaced by a later write"
        case "Po":
            return f"program order: {words[edge.source]}, then {words[edge.target]} of {where}"
        case "Fence":
            label = "fence.acq_rel" if edge.order is Order.ACQ_REL else "fence.sc (membar)"
            return f"{label} at {edge.scope} scope between {words[edge.source]} and {words[edge.target]} of {where}"
        case "Rmw":
            return "the read and the write of one atomic operation"
        case kind:
            long = {"Addr": "the address of", "Data": "the data of", "Ctrl": "whether there is"}[kind]
            after = ", with an isync between" if edge.fenced else ""
            return f"the value of a read decides {long} {words[edge.target]} of {where}{after}"
    return f"{text}, {'in one thread' if edge.internal else 'between threads'}"


def describe_annotation(annotation: Annotation) -> str:
    """Describe an annotation in one line, as the list of annotations prints it."""
    accesses = {"R": "a read", "W": "a write", "RW": "an access"}[annotation.fits]
    if annotation.volatile:
        return f"{accesses} is volatile"
    if annotation.cache:
        return f"{accesses} with cache operator .{annotation.cache}"
    if annotation.order is Order.WEAK:
        return f"{accesses} is plain; to have plain accesses among annotated ones"
    return f"{accesses} is {annotation.order} at {annotation.scope} scope"


def parse_edges(text: str, scopes: Sequence[str] = (), path: str | None = None) -> EdgeVocabulary:
    """Return the vocabulary that a list of names stands for; a name without its scope stands for each of ``scopes``.

    Raises ``InputError`` where a name is unknown, with the nearest right ones, and with line and column in a file.
    """
    return _vocabulary(text, tuple(scopes), path)


@lru_cache(maxsize=8)  # a request's edges are asked for here and there
def _vocabulary(text: str, scopes: tuple[str, ...], path: str | None) -> EdgeVocabulary:
    runs: dict[tuple[Edge, ...], None] = {}
    annotations: dict[Annotation, None] = {}
    sequences: dict[str, tuple[tuple[Edge, ...], ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.finditer(r"\[[^\]]*\]|[^\s\[\]]+|[\[\]]", line.partition("#")[0]):
            try:
                for alternative in _alternatives(word[0]):
                    found = _annotations(alternative, scopes)
                    if found:
                        annotations |= dict.fromkeys(found)
                    else:
                        wanted = _runs(alternative, scopes)
                        runs |= dict.fromkeys(wanted)
                        if alternative.startswith("["):
                            sequences[alternative] = tuple(wanted)
            except InputError as error:
                place = (number, word.start() + 1) if path else (None, None)
                raise InputError(error.message, path, *place) from None
    return EdgeVocabulary(tuple(runs), tuple(annotations), tuple(sequences.items()))


def _alternatives(word: str) -> list[str]:
    if word in ("[", "]"):
        raise InputError(f"expected brackets in pairs, as in [PodWW,Rfe], found a single {word}")
    return [word] if word.startswith("[") else [part for part in re.split(r"[|,]", word) if part]


def _annotations(word: str, scopes: Sequence[str]) -> list[Annotation]:
    known = all_annotations()
    if word in known:
        return [known[word]]
    scoped = [name for name in known if name.partition(".")[0] == word]
    if scoped and not scopes:
        raise InputError(f"{word} needs a scope, as in {scoped[0]}, or --scopes")
    return [known[name] for name in scoped if known[name].scope in scopes]


def _runs(word: str, scopes: Sequence[str]) -> list[tuple[Edge, ...]]:
    if word.startswith("["):
        parts = [part.strip() for part in word.strip("[]").split(",")]
        if not all(parts):
            raise InputError(f"expected edges between the brackets of {word}")
        for part in parts:
            if part in all_annotations():
                raise InputError(
                    f"{part} in {word} stands alone; an annotation is written after an edge, as in RfeRel.gpu"
                )
        choices = [[edge for alternative in part.split("|") for edge in _edges(alternative, scopes)] for part in parts]
        return list(product(*choices))
    return [(edge,) for edge in _edges(word, scopes)]


def _edges(word: str, scopes: Sequence[str]) -> list[Edge]:
    edges = all_edges()
    word = _SYNONYMS.sub("Co", word)
    names = sorted((name for name in edges if word.startswith(name)), key=len)
    if names:
        return _annotated(edges[names[-1]], word.removeprefix(names[-1]), word, scopes)
    fence = _FENCE.match(word)
    if fence:
        base, rest = fence[1].rstrip("."), "".join(fence.groups()[1:])
        named = [f"{base}.{scope}.{rest}" for scope in scopes]
        found = re.fullmatch(r"(Fence\w+?)\.?(cta|gpu|sys)", base)
        if fence[1].startswith("Membar"):
            named = [f"{base}{rest}"]
        elif found:
            named = [f"{found[1]}.{found[2]}.{rest}"]
        if not named:
            raise InputError(f"{word} needs a scope, as in {base}.gpu.{rest}, or --scopes")
        return [edge for name in named for edge in _annotated(edges[name], word[fence.end() :], word, scopes)]
    known = [*edges, *all_annotations()]
    hint = did_you_mean(word, known, "synth edges lists them all", cutoff=0.5)
    raise InputError(f"unknown edge '{word}'; {hint}")


def _annotated(edge: Edge, rest: str, word: str, scopes: Sequence[str]) -> list[Edge]:
    if not rest:
        return [edge]
    known = all_annotations()
    parts = re.findall(r"[A-Z][a-z]*(?:\.[a-z]+)?", rest)
    if "".join(parts) != rest or len(parts) > 2:
        raise InputError(f"expected at most two annotations after {edge.name}, found '{rest}' in '{word}'")
    choices = [_annotations(part, scopes) for part in parts]
    for part, choice in zip(parts, choices, strict=True):
        if not choice:
            hint = did_you_mean(part, known, "did you mean Rlx.gpu?", cutoff=0.4)
            raise InputError(f"unknown annotation '{part}' in '{word}'; {hint}")
    found = []
    for chosen in product(*choices):
        for annotation, access in zip(chosen, (edge.source, edge.target), strict=False):
            if access not in annotation.fits:
                what = "a read" if access == "R" else "a write"
                raise InputError(f"{annotation.name} does not fit {what} in '{word}'")
        if edge.kind != "Rmw" or atomic_mode(*chosen, *[PLAIN] * (2 - len(chosen))) is not None:
            found.append(replace(edge, first=chosen[0], second=chosen[1] if len(chosen) > 1 else None))
    if not found:
        raise InputError(f"no atomic operation has the annotations of '{word}'")
    return found
