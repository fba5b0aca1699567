"""Threads that create others: all threads that a first one leads to, and what memory holds where they begin.

The first thread is alone until it creates others; what memory holds then is where these begin. What a thread does
before it creates another one happens before all that this one does, and that before a join returns (C11 7.26.5.1p2 and
7.26.5.6p2; ``corpus.code.launch.created``). A thread that stops early, at a trap or where what it takes for granted
does not hold, says so at its end: who joins it stops there as well, without a reason of its own. What nobody waits for
is left out, and so is a first thread that only waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from corpus.code import ir
from corpus.code.follower import follow
from corpus.code.launch.contests import ThreadAccesses, contested_bytes
from corpus.code.launch.created import BEGUN, OBJECTS, CreatedThreads, Pointers, wait
from corpus.code.launch.joined import ending_in_loops, needed_threads, with_early_ends, without_needless
from corpus.code.launch.launch import KernelLaunch
from corpus.code.launch.meanings import without_needless_checks
from corpus.code.launch.pointed import cells_of, parts_of, places_of_arrays, tables_in, with_releases
from corpus.code.launch.sharing import MOST_CREATED, ShownError
from corpus.code.passes.tidying import tidied
from corpus.code.places import CODE, NOBODY, Array
from corpus.code.refusals import NotUnderstoodError, refusal
from corpus.code.residual import Residual
from corpus.code.thread import (
    Creation,
    FollowedThread,
    KernelLanguage,
    LaunchFacts,
    ThreadStart,
    new_thread,
)
from corpus.code.values import ArrayAddress
from corpus.errors import InputError


def created_threads(
    module: ir.Module, kernel: ir.KernelFunction, launch: KernelLaunch, language: KernelLanguage
) -> CreatedThreads:
    """Return all threads that a first one leads to. Raises ``NotUnderstoodError`` where one comes to what is not
    understood, and ``InputError`` where there are too many.
    """
    facts, shown = LaunchFacts(), frozenset[Array]()
    for number in range(MOST_ROUNDS + MOST_CONTESTS):
        try:
            found, pointed = _all_threads(module, kernel, launch, language, facts)
        except ShownError as error:
            shown |= {error.array}
            facts = replace(facts, shown=shown)
            continue
        contested = facts.contested
        if contested is not None:
            contested |= contested_bytes(found.accesses, cells_of(found, pointed))
        if number == MOST_CONTESTS:
            contested = None
        tables = facts.tables | tables_in(module, found)
        exceptions = facts.exceptions | frozenset(found.exceptions.items())
        settled = (contested, tables, exceptions) == (facts.contested, facts.tables, facts.exceptions)
        parts = parts_of(found, facts.parts) if settled else facts.parts
        claimed = facts.claimed | _claimed_by_several(found.claims)
        if settled and (parts, claimed) == (facts.parts, facts.claimed):
            break
        facts = LaunchFacts(
            parts=parts, contested=contested, shown=shown, claimed=claimed, tables=tables, exceptions=exceptions
        )
    else:
        raise InputError("its threads share memory in more ways than are followed", module.path, kernel.line, 1)
    found.needed = needed_threads(found)
    held = [cell for cell, value in found.start.items() if not isinstance(value, int)]
    addresses = {Array(OBJECTS, NOBODY, cell.name) for cell in held}
    codes = without_needless_checks([code for _, code in found.followed], addresses)
    codes = without_needless(with_early_ends(list(map(ending_in_loops, codes))))
    found.followed = [(ids, tidied(code)) for (ids, _), code in zip(found.followed, codes, strict=True)]
    found.cells, found.parts = cells_of(found, pointed), facts.parts
    accessed = places_of_arrays(residual for _, code in found.followed for residual in code)
    for array, offset, size in sorted(found.kept):
        places = (*accessed.get(array, ()), *found.cells.get(array, ()))
        if not any(offset < place + wide and place < offset + size for place, wide in places):
            found.cells.setdefault(array, set()).add((offset, size))
    codes = [with_releases(found, code, launch.leaks) for _, code in found.followed]
    found.followed = [(ids, code) for (ids, _), code in zip(found.followed, codes, strict=True)]
    return found


def _claimed_by_several(claims: Sequence[set[int]]) -> frozenset[int]:
    """Return the threads that several threads join or detach."""
    counts = Counter(number for every in claims for number in every)
    return frozenset(number for number, count in counts.items() if count > 1)


MOST_ROUNDS, MOST_CONTESTS = 8, 24
"""How often threads are followed until it is known which accesses are made of parts, and before that which places
several threads access.
"""


def _all_threads(
    module: ir.Module, kernel: ir.KernelFunction, launch: KernelLaunch, language: KernelLanguage, facts: LaunchFacts
) -> tuple[CreatedThreads, Pointers]:
    """Follow a first thread and all that it leads to, with what is known of accesses."""
    found, pointed = CreatedThreads(), Pointers(set(), {})
    found.sizes |= {Array(OBJECTS, NOBODY, name): variable.size for name, variable in module.variables.items()
                    if variable.space == OBJECTS and variable.size is not None}  # fmt: skip
    starts = [ThreadStart(ids, kernel) for ids in launch.threads()]
    creators = [NOBODY] * len(starts)
    for start in starts:  # which become more
        others = found if found.followed else None
        thread, code = _followed(module, kernel, launch, language, start, len(starts), facts, others)
        created = thread.creation
        number = len(found.accesses)
        creators += [number] * len(created.started)
        found.accesses.append(ThreadAccesses(code, created.reads, created.writes, creators[number]))
        starts += created.started
        if len(starts) > MOST_CREATED:
            raise InputError(f"expected at most {MOST_CREATED} threads", module.path, kernel.line, 1)
        found.followed.append((start.ids, code))
        found.names.append(_called(module, start))
        found.assumed |= thread.notes.assumed
        found.start |= created.image
        found.sizes |= created.sizes
        found.zeroed |= created.zeroed
        found.made_by |= created.made_by
        found.made.update(created.origins)
        found.outlived |= created.outlived
        found.kept |= created.kept
        found.claims.append(created.claims)
        found.exceptions |= created.exceptions
        pointed.moves.update(created.moves)
        for array, places in created.whole.items():
            pointed.whole.setdefault(array, set()).update(places)
    return found, pointed


def _followed(
    module: ir.Module,
    kernel: ir.KernelFunction,
    launch: KernelLaunch,
    language: KernelLanguage,
    start: ThreadStart,
    following: int,
    facts: LaunchFacts,
    others: CreatedThreads | None,
) -> tuple[FollowedThread, list[Residual]]:
    """Follow a thread, once more for each array of its own that it shows to others. ``others`` are the threads before
    it. Raises ``ShownError`` of one that the thread was given and shows to others.
    """
    shown, parts = {array: array for array in facts.shown}, False
    while True:
        creation = Creation(start.function is kernel, following, shown, parts=parts)
        if others is not None:
            creation.image.update(others.start)
            creation.sizes.update(others.sizes)
            creation.zeroed.update(others.zeroed)
            creation.made_by.update(others.made_by)
        creation.private.update(start.given)
        thread = new_thread(module, kernel, launch, start.ids, language, facts, creation=creation)
        before = [*_beginning(thread.block)] if start.waits else []
        try:
            code = follow(thread, start, before)
            for count, origin in creation.ends.items():
                if count != len(creation.started):
                    what = "a thread that is created where memory decides whether it is, is not understood"
                    raise refusal(module, origin, what)
            return thread, code
        except NotUnderstoodError:  # perhaps because of a number that has to be known
            if parts or not creation.chooses:
                raise
            shown, parts = {array: array for array in facts.shown}, True
        except ShownError as error:
            if error.array in start.given or error.array in shown:
                raise
            if not error.array.is_own:
                shown[error.array] = error.array
                continue
            _, depth, name = error.array
            own = Array(OBJECTS, NOBODY, f"{name}.{thread.block}")
            shown[error.array] = own if own not in shown.values() else own._replace(name=f"{own.name}.{depth}")


def _called(module: ir.Module, start: ThreadStart) -> str:
    """Return the name of the function of a thread; where it is one of the library, that which it is given."""
    if start.function.called:
        return start.function.called
    values = (value for cells in start.given.values() for value in cells.values())
    given = (value.array.name for value in values if isinstance(value, ArrayAddress) and value.array.space == CODE)
    every = (module.functions[name] for name in given if name in module.functions)
    return next((function.called or function.name for function in every), start.function.name)


def _beginning(number: int) -> Iterator[Residual]:
    for ins, access in wait(number, BEGUN, BEGUN):
        yield Residual(ins, None, access)
