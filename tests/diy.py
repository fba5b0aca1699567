"""Reads the cycles of diy (herdtools7) for processors, and makes a test of each, in words of our vocabularies.

    test_of("Fence.rw.wdWW Rfe DpAddrdR Fre", "riscv")        MP+fence.rw.w+addr

An edge names the next communication or what a thread does between two accesses, with ``d`` where the location changes
and ``s`` where it stays; letters after it say how its two accesses are annotated (``PodWWPRl``: plain, then a release).
Locations are visited in turn. A read that no edge gives a source reads the last write of its location before it on the
cycle, the initial one where there is none. ``None`` stands for cycles with other edges or annotations: exclusive pairs,
other sizes, detours, fences of instructions.

Source: herdtools7, ``gen/edge.ml`` and the documentation of diy7, "Cycles of relaxations".
"""

import re
from itertools import pairwise

from corpus.executions.execution import INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.litmus.instructions import Fence, Load, Store
from corpus.litmus.locations import Region
from corpus.litmus.orders import PLAIN, Place
from corpus.litmus.processors import PROCESSORS, mode_of

_COMMUNICATION = {"Rf": "WR", "Fr": "RW", "Ws": "WW", "Co": "WW"}
_LETTERS = {
    "riscv": {"P": "", "Rl": "rl", "Aq": "aq"},
    "armv8": {"P": "", "L": "stlr", "A": "ldar", "Q": "ldapr"},
    "power": {"P": ""},
    "x86": {"P": ""},
}
_AFTER_BRANCH = {"Isync": "isync", "Isb": "isb"}


def test_of(cycle, processor):
    """Return the test of a cycle, or None where it has edges that are not read here."""
    edges = [_edge(word, processor) for word in cycle.split()]
    if None in edges or not any(edge["external"] for edge in edges):
        return None
    while not edges[-1]["external"]:
        edges = [*edges[1:], edges[0]]
    steps, threads, dependencies, of_event = [], [[]], [], []
    places, place = sum(edge["moves"] for edge in edges), 0
    kinds = [edge["kinds"][0] for edge in edges]
    if places < 2 or any(edge["kinds"][1] != kinds[(n + 1) % len(edges)] for n, edge in enumerate(edges)):
        return None
    words = _annotations(edges)
    if words is None:
        return None
    for number, edge in enumerate(edges):
        kind = OpKind(kinds[number])
        mode = mode_of(Load if kind is OpKind.READ else Store, words[number]) if words[number] else PLAIN
        if mode is None:
            return None
        of_event.append(len(steps))
        steps.append(Step(kind, place % places, mode))
        threads[-1].append(steps[-1])
        place += edge["moves"]
        for fence in edge["fences"]:
            steps.append(Step(OpKind.FENCE, None, mode_of(Fence, fence)))
            threads[-1].append(steps[-1])
        if edge["depends"]:
            target = len(steps) - len(edge["fences"]) if edge["depends"] == "ctrl" else len(steps)
            dependencies.append(Dependency(edge["depends"], of_event[-1], target))
        if edge["external"] and number < len(edges) - 1:
            threads.append([])
    sources, order = _communication(edges, of_event, steps, places)
    co = {(one, other) for writes in order for n, one in enumerate(writes) for other in writes[n + 1 :]}
    final = tuple(writes[-1] if writes else None for writes in order)
    execution = Execution(
        tuple(map(tuple, threads)),
        tuple(Place(cta=number) for number in range(len(threads))),
        (Region.GLOBAL,) * places,
        tuple(sorted(dependencies)),
        tuple(sources.get(i) for i in range(len(steps))),
        frozenset(co),
        final,
    )
    return litmus_test(execution, "cycle", observed=True)


def _communication(edges, of_event, steps, places):
    """The source of each read, and the writes of each location in the order of coherence."""
    sources, order = {}, [[] for _ in range(places)]
    first = next(n for n, edge in enumerate(edges) if edges[n - 1]["moves"])
    for event in (of_event[(first + n) % len(edges)] for n in range(len(edges))):
        writes = order[steps[event].location]
        if steps[event].kind is OpKind.WRITE:
            writes.append(event)
        else:
            sources[event] = writes[-1] if writes else INITIAL
    return sources, order


def _annotations(edges):
    """The word of each access, None where two edges disagree."""
    words = []
    for before, edge in pairwise([edges[-1], *edges]):
        told = {word for word in (before["second"], edge["first"]) if word is not None}
        if len(told) > 1:
            return None
        words.append(told.pop() if told else "")
    return words


def _edge(word, processor):
    letters = _LETTERS[processor]
    fences = sorted(PROCESSORS[processor][Fence], key=len, reverse=True)
    spelled = "|".join(re.escape(fence) for fence in fences)
    letter = "|".join(letters)
    ends = rf"(?:(?P<first>{letter})(?P<second>{letter}))?$"
    if found := re.match(rf"(?P<kind>Rf|Fr|Ws|Co)(?P<where>[ei]){ends}", word):
        kinds, external, moves = _COMMUNICATION[found["kind"]], found["where"] == "e", 0
        made, depends = (), ""
    elif found := re.match(rf"(?:Po|(?P<fence>{spelled}))(?P<where>[ds])(?P<kinds>[RW][RW]){ends}", word, re.I):
        kinds, external, moves = found["kinds"], False, int(found["where"] == "d")
        made, depends = ((found["fence"].lower(),) if found["fence"] else ()), ""
    elif found := re.match(
        rf"Dp(?P<depends>Addr|Data|Ctrl)(?P<fence>Isync|Isb)?(?P<where>[ds])(?P<target>[RW]){ends}", word
    ):
        kinds, external, moves = f"R{found['target']}", False, int(found["where"] == "d")
        made = (_AFTER_BRANCH[found["fence"]],) if found["fence"] else ()
        depends = found["depends"].lower()
    else:
        return None
    return {
        "kinds": kinds,
        "external": external,
        "moves": moves,
        "fences": made,
        "depends": depends,
        **{half: letters[found[half]] if found[half] else None for half in ("first", "second")},
    }
