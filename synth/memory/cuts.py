"""The cuts of a search for tests between models: its bounds, and the edges it lacked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from corpus.cycles.edges import COMMUNICATION, PLAIN, Annotation, Edge, all_annotations, all_edges
from corpus.errors import InputError
from corpus.executions.execution import OpKind
from corpus.executions.vocabulary import Vocabulary
from corpus.litmus.orders import SCOPES, Order
from oracle.cat.interpreter import Model
from oracle.executions.vocabulary import vocabulary_of
from synth.memory.synthesis import CycleSuiteRequest
from synth.requests import spelled


def cuts(request: CycleSuiteRequest) -> str:
    """Return a line with the bounds within which there is no test, and what the models tell apart beyond the edges
    given.
    """
    bounds = [f"{spelled(request.sizes)} edges"]
    if request.threads:
        bounds.append(f"{spelled(request.threads)} threads")
    bounds.append(f"{request.thread_accesses} accesses a thread (--thread-accesses)")
    bounds.append(f"{request.location_accesses} a location (--location-accesses)")
    line = f"no such test within {', '.join(bounds)}, and the edges given"
    allowing, forbidding = request.filters()
    names = list(missing(request, [*allowing, *forbidding]))
    return f"{line}, which are without {' '.join(names)}" if names else line


def missing(request: CycleSuiteRequest, models: Sequence[Model]) -> Iterator[str]:
    """Yield the names of edges, annotations and options that these models can tell apart and that were not given.

    Every model tells communication and plain program order apart; of an operational model nothing else is known.
    """
    given = [edge for run in request.bounds.vocabulary.runs for edge in run]
    there = {edge.name for edge in given}
    yield from (name for name, edge in all_edges().items() if edge.kind in COMMUNICATION and name not in there)
    yield from (name for name, edge in all_edges().items() if edge.kind == "Po" and name not in there)
    if not models:
        return
    try:
        words = vocabulary_of(models)
    except InputError:
        return  # a model mentions what no vocabulary has
    if OpKind.UPDATE in words.modes and "Rmw" not in there:
        yield "Rmw"
    kinds = {edge.kind for edge in given}
    yield from (f"Dp{kind.capitalize()}" for kind in words.dependencies if kind.capitalize() not in kinds)
    yield from _fences(words, given)
    notes = [*request.bounds.vocabulary.annotations, *(note for edge in given for note in (edge.first, edge.second))]
    yield from _annotations(words, [note for note in notes if note is not None])
    levels = [scope for scope in SCOPES if SCOPES[scope] in words.levels]
    if not set(levels) <= set(request.scopes):
        yield f"--scopes {','.join(scope for scope in SCOPES if scope in {*levels, *request.scopes})}"
    if not set(words.regions) <= set(request.bounds.regions):
        yield f"--regions {','.join(words.regions)}"


def _fences(words: Vocabulary, given: Iterable[Edge]) -> Iterator[str]:
    there = {edge.order for edge in given if edge.kind == "Fence"}
    wanted = {mode.order for mode in words.modes.get(OpKind.FENCE, ())}
    for order, name in ((Order.SC, "FenceSc"), (Order.ACQ_REL, "FenceAcqRel")):
        if order in wanted and order not in there:
            yield name


def _annotations(words: Vocabulary, given: Sequence[Annotation]) -> Iterator[str]:
    """Yield annotations by the first part of their names: ``Acq``, of whatever scope."""
    modes = [mode for kind in (OpKind.READ, OpKind.WRITE) for mode in words.modes[kind]]
    notes = [
        note
        for note in all_annotations().values()
        if any(
            (mode.order, mode.cache or "", mode.volatile) == (note.order, note.cache, note.volatile) for mode in modes
        )
    ]
    there = {note.name.partition(".")[0] for note in given} | {PLAIN.name}
    yield from dict.fromkeys(name for note in notes if (name := note.name.partition(".")[0]) not in there)
