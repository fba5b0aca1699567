"""Facts about a launch that its threads need and that following them tells: computed once, as a fixpoint.

Example: a kernel copies ``tile`` asynchronously and reads it in elements of 8 bytes. How large an element is, only the
reads tell; so threads are followed with elements of a word, the reads tell that the grain of ``tile`` is 8, and those
threads that had asked for it are followed again. Threads that had not keep what they left.

1. All threads are followed with no facts. Each notes what it has asked: arrays, and places where groups come together.
2. What they left tells further facts, one kind after the other: who comes to places where a group does something, the
   grains of asynchronous copies, the parts of weak accesses of several sizes, the places of all accesses, and whether
   warps that may part have to come together at aligned barriers.
3. Threads that would be answered otherwise now are followed again. It ends when there are none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from corpus.code import ir
from corpus.code.follower import follow
from corpus.code.functions import FunctionShape
from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.places import ANYWHERE, WORD, Array
from corpus.code.refusals import NotUnderstoodError
from corpus.code.residual import Residual
from corpus.code.thread import (
    MOST_STEPS,
    AccessedPlaces,
    BarrierKey,
    FollowedThread,
    GroupSite,
    KernelLanguage,
    LaunchFacts,
    Parts,
    new_thread,
)
from corpus.code.values import plain_name
from corpus.litmus.instructions import AsyncOperation, Load, Store
from corpus.litmus.orders import PLAIN

MOST_ROUNDS = 4
"""How often threads are followed until it is known which of them do something together."""


ThreadCode = list[tuple[ThreadIds, list[Residual]]]
"""What is left of the code for each thread."""


@dataclass
class FollowedLaunch:
    """The threads of a launch that have been followed, and the facts that were known then."""

    module: ir.Module
    kernel: ir.KernelFunction
    launch: KernelLaunch
    language: KernelLanguage
    most: int = MOST_STEPS
    facts: LaunchFacts = field(default_factory=LaunchFacts)
    threads: dict[ThreadIds, FollowedThread] = field(default_factory=dict)
    shapes: dict[str, FunctionShape] = field(default_factory=dict)

    @property
    def code(self) -> ThreadCode:
        """What is left of each thread, in their order."""
        return [(ids, thread.out.code) for ids, thread in self.threads.items()]

    @property
    def assumed(self) -> dict[str, None]:
        """What was taken for granted, once each."""
        return {note: None for thread in self.threads.values() for note in thread.notes.assumed}

    @property
    def choices(self) -> dict[str, int]:
        """What the system may do in several ways, and how many there are."""
        return {what: count for thread in self.threads.values() for what, count in thread.notes.choices.items()}

    def followed(self, ids: ThreadIds, owed: Mapping[BarrierKey, int] | None = None) -> FollowedThread:
        """Return a thread of the launch after it has been followed with the facts that are known."""
        facts = self.facts if owed is None else replace(self.facts, owed=owed)
        thread = new_thread(
            self.module, self.kernel, self.launch, ids, self.language, facts, shapes=self.shapes, most=self.most
        )
        follow(thread)
        return thread

    def settle(self) -> None:
        """Follow all threads until the facts that they tell are those that they were followed with.

        Raises ``NotUnderstoodError`` where a thread comes to what is not understood, and where it remains open which
        threads do something together.
        """
        self._settle_comers()
        for learn in (self._learn_grains, self._learn_parts, self._learn_accesses):
            learn()
            self._settle_comers()

    def align(self) -> None:
        """Have the threads of a warp that may part come together at aligned barriers, and follow them so."""
        self.facts = replace(self.facts, aligns=True)
        self._settle_comers()

    def _settle_comers(self) -> None:
        """Follow threads until those come to each place where a group does something that were taken to come there."""
        for _ in range(MOST_ROUNDS):
            if not self._follow_stale():
                return
            self._check_uniform()
            self.facts = replace(self.facts, comers=_comers(self.threads.values()))
        if any(map(self._is_stale, self.threads.values())):
            what = "which threads of a warp do something together is not understood"
            raise NotUnderstoodError(what, self.module.path)

    def _follow_stale(self) -> bool:
        """Follow the threads that would be answered otherwise now; return whether there are any."""
        stale = [ids for ids in self.launch.threads() if ids not in self.threads or self._is_stale(self.threads[ids])]
        self.threads |= {ids: self.followed(ids) for ids in stale}
        return bool(stale)

    def _is_stale(self, thread: FollowedThread) -> bool:
        """Decide whether the facts that are known now would answer a thread otherwise than those it had."""
        notes, old, new = thread.notes, thread.facts, self.facts
        return (
            any(new.about(array) != old.about(array) for array in notes.arrays)
            or any(new.comers.get(site, taken) != taken for site, taken in notes.came.items())
            or (notes.met_aligned and new.aligns is not old.aligns)
        )

    def _learn_grains(self) -> None:
        self.facts = replace(self.facts, grains=_grains(self._residuals(), self.module.path))

    def _learn_parts(self) -> None:
        if self.language.memory.parted:
            self.facts = replace(self.facts, parts=_parts(chain.from_iterable(self._residuals())))

    def _learn_accesses(self) -> None:
        if any(thread.notes.asks_for_accesses for thread in self.threads.values()):
            self.facts = replace(self.facts, accessed=_accessed(self._residuals(), self.module.path))

    def _residuals(self) -> list[list[Residual]]:
        return [thread.out.code for thread in self.threads.values()]

    def _check_uniform(self) -> None:
        """Raise ``NotUnderstoodError`` where a thread parts from its warp though ``.uni`` says that none does."""
        uniform: dict[tuple[tuple[int, int], ir.KernelInstruction], list[int]] = {}
        for ids, thread in self.threads.items():
            warp = self.launch.warp_of(ids)
            for ins, ways in thread.notes.uniform.items():
                others = uniform.setdefault((warp, ins), ways)
                if any(one != other for one, other in zip(others, ways, strict=False)):
                    what = f"{ins.opcode}: threads of a warp part here, and .uni says that they do not"
                    raise NotUnderstoodError(what, self.module.path, ins.line, 1)
                uniform[warp, ins] = max(others, ways, key=len)


def _comers(threads: Iterable[FollowedThread]) -> dict[GroupSite, frozenset[int]]:
    """Return the threads that have come to each place where a group does something together."""
    came: dict[GroupSite, set[int]] = {}
    for thread in threads:
        for site in thread.notes.came:
            came.setdefault(site, set()).add(thread.number)
    return {site: frozenset(numbers) for site, numbers in came.items()}


def _accessed(threads: Iterable[Sequence[Residual]], path: str) -> AccessedPlaces:
    """Return where arrays are accessed. Raises ``NotUnderstoodError`` where an index in shared memory is computed."""
    found: dict[Array, dict[tuple[int, int], None]] = {}
    for code in threads:
        for access in (access for residual in code for access in residual.accesses):
            if access.offset is not None:
                found.setdefault(access.array, {})[access.offset, access.size] = None
            elif access.array.space == "shared":
                name = plain_name(access.array.name)
                raise NotUnderstoodError(f"{name}: wgmma, and accesses with a computed index, are not understood", path)
    return {array: sorted(places) for array, places in found.items()}


def _grains(threads: Iterable[Sequence[Residual]], path: str) -> dict[Array, int]:
    """Return the sizes of the elements of arrays that are copied asynchronously, where they are not words.

    Raises ``NotUnderstoodError`` where an array has accesses of several sizes besides.
    """
    sizes: dict[Array, set[int]] = {}
    copies: set[tuple[Array, ...]] = set()
    for code in threads:
        for residual in code:
            if isinstance(residual.instruction, AsyncOperation):
                if residual.instruction.source is not None:
                    copies.add(tuple(access.array for access in residual.accesses[:2]))
            else:
                for access in residual.accesses:
                    sizes.setdefault(access.array, set()).add(access.size)
    found: dict[Array, int] = {}
    for arrays in sorted(copies):
        used = set[int]().union(*(sizes.get(array, set()) for array in arrays))
        if len(used) > 1:
            names = " and ".join(dict.fromkeys(plain_name(array.name) for array in arrays))
            raise NotUnderstoodError(f"{names}: what is copied and accessed in several sizes is not understood", path)
        size = min(used, default=WORD)
        if size != WORD:
            found |= dict.fromkeys(arrays, size)
    return found


def _parts(code: Iterable[Residual]) -> Parts:
    """Return where weak accesses of several sizes overlap, and the largest parts that all of these are made of.

    A race is one of parts, and where nothing races each part holds what was written to it last (PTX ISA, 8.7.1: the
    axioms are of programs without mixed-size data races). Atomic operations and strong accesses have no parts.
    """
    places: dict[Array, dict[tuple[int, int], bool]] = {}
    computed: dict[Array, dict[int, bool]] = {}
    for residual in code:
        weak = isinstance(residual.instruction, Load | Store) and residual.instruction.mode == PLAIN
        for access in residual.accesses:
            if access.offset is None:
                sizes = computed.setdefault(access.array, {})
                sizes[access.size] = sizes.get(access.size, True) and weak
            else:
                found = places.setdefault(access.array, {})
                found[access.offset, access.size] = found.get((access.offset, access.size), True) and weak
    parts: dict[Array, list[tuple[int, int, int]]] = {}
    for array in dict.fromkeys((*places, *computed)):
        found = places.get(array, {})
        if array in computed:
            every = {*computed[array], *(size for _, size in found)}
            uniform = len(every) == 1 and not any(offset % size for offset, size in found)
            weak = all(found.values()) and all(computed[array].values())
            if not uniform and weak and array != ANYWHERE:
                parts[array] = [(0, 1 << 62, math.gcd(*every, *(offset for offset, _ in found)))]
        else:
            parts[array] = list(mixed_parts(found))
    return {array: every for array, every in parts.items() if every}


def mixed_parts(places: Mapping[tuple[int, int], bool]) -> Iterator[tuple[int, int, int]]:
    """Yield where accesses that are weak overlap and are not of one place and size."""
    together: list[tuple[int, int]] = []
    for place in [*sorted(places), (1 << 62, 0)]:
        end = max((offset + size for offset, size in together), default=0)
        if together and place[0] >= end:
            if len(together) > 1 and all(places[span] for span in together):
                yield together[0][0], end, math.gcd(*(number for span in together for number in span))
            together = []
        together.append(place)
