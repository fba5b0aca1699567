"""The placements of a suite's programs in the groups of some levels, and the tests that the placed programs are.

Worked example: two threads at two levels are in one subgroup, in two of one workgroup, or in two workgroups.

>>> [[place[2:] for place in places] for places in placements(("workgroup", "subgroup"), 2)]
[[(0, 0), (0, 0)], [(0, 0), (0, 1)], [(0, 0), (1, 0)]]

Groups count by their order alone, and threads by their order within a group. So threads go to groups in the order of
their ids: each is in the groups of the thread before it down to some level, and from there on in new ones. With ``k``
levels that is ``(k + 1) ** (n - 1)`` placements of ``n`` threads. Threads that share a group of the innermost level are
apart at the level below. Every image of a program under permutation of its threads is placed in each way, so every
placed program is there, up to the names of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

from corpus.hierarchy import LEVEL_WORDS, Places, parted
from corpus.journal import FoundTest
from corpus.progress.axb import Program, digest, placed, thread_images
from corpus.progress.idioms import tags_of
from corpus.progress.text import print_axb
from corpus.records import progress_record, verdict_groups
from oracle.progress.behaviour import Behaviour, digest_automaton, relabel
from oracle.progress.models import ProgressModel, Vector, verdicts_at
from oracle.progress.reductions import is_minimal_at


@cache
def placements(levels: tuple[str, ...], threads: int) -> tuple[Places, ...]:
    """Return the placements of threads in groups of these levels, words of Vulkan from the outside in."""
    depths = [LEVEL_WORDS[level].value for level in levels]
    below = depths[-1] + 1
    return tuple(
        parted([depths[-gap] if gap else below for gap in gaps])
        for gaps in product(range(len(depths) + 1), repeat=threads - 1)
    )


def placed_tests(
    program: Program,
    automaton: Behaviour,
    levels: tuple[str, ...],
    own: tuple[ProgressModel, ...],
    wants: Callable[[Vector], bool],
    minimal: bool,
) -> FoundTest:
    """Return a program as the wanted tests that its images are in every placement, the minimal ones if so asked."""
    judge = partial(verdicts_at, own)
    return FoundTest(print_axb(program), tuple(_tests(program, automaton, levels, judge, wants, minimal)))


def _tests(
    program: Program,
    automaton: Behaviour,
    levels: tuple[str, ...],
    judge: Callable[[Behaviour, Places], Vector],
    wants: Callable[[Vector], bool],
    minimal: bool,
) -> Iterator[tuple[str, bytes]]:
    for image, order in thread_images(program):
        behaviour = relabel(automaton, order)
        for places in placements(levels, len(order)):
            vector = judge(behaviour, places)
            if not wants(vector) or (minimal and not is_minimal_at(image, places, vector, judge)):
                continue
            test = placed(image, places)
            named = digest_automaton(behaviour, test.places)
            tags = tags_of(digest(image))
            record = progress_record(digest(test), named, print_axb(test), verdict_groups(vector), tags)
            yield _key(image, places), record


def _key(program: Program, places: Places) -> str:
    """Return the key that a placed test is sorted by: as programs are, then by its places."""
    codes = [ins for thread in program.threads for ins in thread]
    numbers = [len(thread) for thread in program.threads]
    for ins in codes:
        numbers += (ins.location, 0 if ins.exchange is None else ins.exchange + 1, ins.check, ins.jump)
    numbers += [number for place in places for number in place]
    return b"".join(number.to_bytes(2, "big") for number in numbers).hex()
