"""The program that is left of a kernel and a launch: a litmus test, each of whose instructions knows its source line.

Arrays become locations as they are accessed. ``data[1]`` is the second element of an array all of whose accesses are of
one size; an access of another size at another place is a location of its own. Where accesses overlap in part, or are of
different sizes at one place, the specification says nothing of them (PTX ISA 9.1, 8.2.2), and they are named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from corpus.code import ir
from corpus.code.follower import follow
from corpus.code.functions import FunctionShape
from corpus.code.languages import LANGUAGES
from corpus.code.launch.barriers import ENDED_REDUCTION, exit_arrival, is_aligned_barrier
from corpus.code.launch.creation import SLOT, CreatedThreads, created_threads
from corpus.code.launch.launch import ArrayArgument, ArrayImage, KernelLaunch, SharedArgument, ThreadIds, volume
from corpus.code.launch.meeting import done_at, exchanges
from corpus.code.passes.tidying import tidied
from corpus.code.passes.untold import Place, UntoldValues, doubts_decide, untold_values
from corpus.code.places import ANYWHERE, NOBODY, SLOTS, Array, ArrayPlace, argument_array
from corpus.code.ptx.memory import reads_constants
from corpus.code.ptx.moving import WORD
from corpus.code.ptx.words import limits_of
from corpus.code.refusals import NotUnderstoodError, refusal
from corpus.code.residual import DOUBT, MARK, Access, Residual
from corpus.code.thread import (
    MOST_STEPS,
    AccessedPlaces,
    BarrierKey,
    FollowedThread,
    GroupSite,
    LaunchFacts,
    Parts,
    new_thread,
)
from corpus.code.values import ArrayAddress, plain_name
from corpus.errors import InputError
from corpus.graphs import reachable
from corpus.litmus.flow import ThreadFlow
from corpus.litmus.instructions import Assign, AsyncOperation, Barrier, Branch, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Operand, Region, element
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import EXIT, PLAIN, Scope
from corpus.litmus.orders import Place as ThreadPlace
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.ptx_arithmetic import signed
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

Followed = list[tuple[ThreadIds, list[Residual]]]
"""What is left of the kernel for each thread."""

MOST_THREADS = 64
"""The threads of a launch that are followed."""

MOST_ELEMENTS = 1 << 12
"""The elements that an array may have whose index is computed."""

COUNT = 4
"""The elements that an array is taken to have where the index is computed and nothing tells its length."""


class MixedSize(NamedTuple):
    """Two accesses that overlap in part, or are of different sizes at one place."""

    array: str
    first: tuple[int, int]
    second: tuple[int, int]
    origins: tuple[ir.KernelInstruction, ...]


class ArrayCell(NamedTuple):
    """The place of a location: its array, by a name that all kernels have for it, its offset and size in bytes."""

    array: Array
    offset: int
    size: int


@dataclass(frozen=True)
class KernelProgram:
    """What is left of a kernel and a launch.

    ``origins`` has the PTX instruction of each instruction of each thread of the ``test``; ``ids`` the place of each
    thread in the launch. ``assumed`` lists what was taken for granted. ``stops`` has the registers that say why a
    thread has stopped, by thread and reason. ``mixed`` are accesses of which the specification says nothing. ``cells``
    are the places of locations; those that ``outside`` names stand for all that is outside of an array. ``divergent``
    are the barriers that threads of one warp come to in place of each other. ``uncounted``: memory decides how often
    threads come to a barrier, without a bound; then who waits for a thread that has ended may not wait in truth.
    ``undefined`` are the locations that hold nothing at the start, ``names`` the functions of threads where there are
    several. ``choices``: what the system may do in several ways, of which the launch has one, and how many there are.
    ``untold`` are the locations that may hold a value which nothing tells, with what it is; ``altered``: what they hold
    may be the same for several numbers in its place. ``doubts`` has the registers that say, by thread and instruction,
    whether a result is not determined; ``doubts_decide``: one may decide whether or where memory is accessed.
    ``parted`` are the locations that are parts of larger accesses, ``wholes`` the elements of the source whose parts
    are locations, with these. ``accesses`` are those of each instruction, as ``origins`` are.
    """

    test: LitmusTest
    launch: KernelLaunch
    ids: tuple[ThreadIds, ...]
    origins: tuple[tuple[ir.KernelInstruction | None, ...], ...]
    assumed: tuple[str, ...]
    stops: tuple[tuple[int, str], ...]
    mixed: tuple[MixedSize, ...]
    cells: Mapping[str, ArrayCell]
    divergent: tuple[ir.KernelInstruction, ...] = ()
    outside: frozenset[str] = frozenset()
    uncounted: bool = False
    undefined: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    initialised: frozenset[str] = frozenset()
    choices: Mapping[str, int] = field(default_factory=dict)
    untold: Mapping[str, str] = field(default_factory=dict)
    altered: bool = False
    doubts: tuple[tuple[int, str], ...] = ()
    doubts_decide: bool = False
    parted: frozenset[str] = frozenset()
    accesses: tuple[tuple[tuple[Access, ...], ...], ...] = ()
    wholes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def lasting(self) -> tuple[str, ...]:
        """The locations that are still there when the kernel has ended."""
        return tuple(name for name, cell in self.cells.items() if _outlasts(cell.array) and name not in self.outside)


def check_size(launch: KernelLaunch, path: str, hint: str = "") -> None:
    """Raise ``InputError``, before any thread is made, where a launch has too many of them."""
    threads = volume(launch.grid) * volume(launch.block)
    if threads > MOST_THREADS:
        raise InputError(f"expected a launch of at most {MOST_THREADS} threads{hint}, found {threads}", path)


def _check_local(module: ir.Module, kernel: ir.KernelFunction, launch: KernelLaunch) -> None:
    """Raise ``InputError`` where memory of a work-group that is an argument is to be another one: each is its own."""
    every = [(each, launch.source_name(each.name, n)) for n, each in enumerate(kernel.parameters)]
    local = {name for each, called in every if each.space == "shared" for name in (each.name, called)}
    for number, (each, called) in enumerate(every):
        given = launch.argument(each.name, number)
        if isinstance(given, SharedArgument) and (called in local or given.name in local):
            raise InputError(
                f"--arg: {called} cannot be {given.name}, as memory of a work-group is its own", module.path
            )


def program_of(
    module: ir.Module, kernel: ir.KernelFunction, launch: KernelLaunch, most: int = MOST_STEPS
) -> KernelProgram:
    """Return the program that is left of a kernel and a launch, of whose threads ``most`` instructions are followed.

    Raises ``NotUnderstoodError`` where a thread comes to what is not understood, and ``InputError`` where the launch
    has too many threads.
    """
    if LANGUAGES[module.language].grows:
        created = created_threads(module, kernel, launch, LANGUAGES[module.language])
        untold = untold_values(module, [code for _, code in created.followed])
        return _program(module, kernel, launch, created.followed, created.assumed, untold, created)
    check_size(launch, module.path, " with --block" if kernel.block == launch.block else "")
    _check_local(module, kernel, launch)
    if misfit := limits_of(kernel).misfit(launch):
        # lines of a module that a compiler has made are not the user's
        of_source = module.unit != "line" or any(ins.source for ins in kernel.body or ())
        raise NotUnderstoodError(f"{kernel.name}: {misfit}", module.path, *(() if of_source else (kernel.line, 1)))
    way = _Following(module, kernel, launch, most=most)
    found = way.found()
    grains = _grains((code for _, code in found.threads), module.path)
    if grains:
        way = replace(way, facts=replace(way.facts, grains=grains))
        found = way.found()
    parts = _parts([each for _, code in found.threads for each in code]) if LANGUAGES[module.language].parted else {}
    if parts:
        way = replace(way, facts=replace(way.facts, parts=parts))
        found = way.found()
    accessed = _accessed((code for _, code in found.threads), module.path) if found.asks else {}
    if accessed:
        way = replace(way, facts=replace(way.facts, accessed=accessed))
        found = way.found()
    untold = untold_values(module, [code for _, code in found.threads], _left_untold(kernel, launch))
    divergent, decided = _divergent(launch, found.threads)  # before equal ways are made one
    if not decided and LANGUAGES[module.language].exits:
        way = replace(way, facts=replace(way.facts, aligns=True))
        found = way.found()
    assumed = found.assumed
    if LANGUAGES[module.language].exits:
        followed, uncounted = _with_ends(way, found)
    else:
        followed = _with_plain_barriers(launch, [(ids, tidied(code)) for ids, code in found.threads])
        uncounted = _may_part(followed)
        if uncounted:
            assumed["where memory decides what a thread does with its subgroup, the others do it too"] = None
    program = _program(
        module, kernel, launch, followed, assumed, untold, divergent=divergent, uncounted=uncounted, parts=parts
    )
    decide = bool(program.doubts) and doubts_decide(module, [code for _, code in found.threads])
    return replace(program, choices=found.choices, doubts_decide=decide)


def _program(
    module: ir.Module,
    kernel: ir.KernelFunction,
    launch: KernelLaunch,
    followed: Followed,
    assumed: dict[str, None],
    untold: UntoldValues,
    created: CreatedThreads | None = None,
    divergent: tuple[ir.KernelInstruction, ...] = (),
    uncounted: bool = False,
    parts: Parts = MappingProxyType({}),
) -> KernelProgram:
    """Return the program of what is left for each thread."""
    kept = [(ids, code) for ids, code in followed if any(map(_matters, code))]
    _check_constants(module, [each for _, code in kept for each in code])
    if kernel.chosen:
        size = "x".join(map(str, launch.block))
        assumed[f"work-groups are of {size} threads, of which constants of specialisation are the size"] = None
    if not LANGUAGES[module.language].exits and any(_of_subgroup(each) for _, code in kept for each in code):
        assumed[f"subgroups are of {launch.warp} threads"] = None
    layout = _Layout(module, kernel, launch, [code for _, code in kept], created, parts)
    assumed |= layout.assumed | dict.fromkeys(layout.zeros()) | dict.fromkeys(module.assumed)
    threads = []
    clusters = LANGUAGES[module.language].clusters
    for ids, code in kept:
        block, number = launch.block_number(ids), launch.thread_number(ids)
        place = ThreadPlace(0, launch.cluster_number(ids) if clusters else 0, block, number // launch.warp)
        body = tuple(map_operands(each.instruction, layout.operand) for each in code)
        threads.append(Thread(body, place))
    stops = tuple(
        sorted({(n, ins.target) for n, thread in enumerate(threads) for ins in thread.instructions
                if isinstance(ins, Assign) and ins.target.startswith(MARK)})
    )  # fmt: skip
    doubts = tuple(each for each in stops if each[1].startswith(MARK + DOUBT))
    stops = tuple(each for each in stops if each not in doubts)
    nothing = Condition(Quantifier.EXISTS, And(()))
    test = LitmusTest(kernel.name, tuple(threads), layout.locations(), nothing)
    origins = tuple(tuple(each.origin for each in code) for _, code in kept)
    places = tuple(ids for ids, _ in kept)
    mixed = tuple(layout.mixed())
    outside = frozenset(layout.outside)
    notes = tuple(assumed)
    names = tuple(created.names[launch.block_number(ids)] for ids, _ in kept) if created else ()
    return KernelProgram(
        test,
        launch,
        places,
        origins,
        notes,
        stops,
        mixed,
        layout.cells,
        divergent,
        outside,
        uncounted,
        frozenset(layout.undefined),
        names,
        frozenset(layout.initialised),
        untold=layout.untold(untold),
        parted=frozenset(layout.parted),
        altered=untold.altered,
        doubts=doubts,
        accesses=tuple(tuple(each.accesses for each in code) for _, code in kept),
        wholes=layout.wholes(),
    )


def _left_untold(kernel: ir.KernelFunction, launch: KernelLaunch) -> dict[Place, str]:
    """Return the places that hold what nothing tells, as earlier kernels of the stream have left it."""
    found: dict[Place, str] = {}
    for kept, image in launch.memory.items():
        parameters = enumerate(kernel.parameters)
        names = {argument_array(launch.source_name(each.name, n)): argument_array(each.name) for n, each in parameters}
        found |= {(names.get(kept, kept), at, 1): why for at, why in image.untold.items()}
    return found


def _check_constants(module: ir.Module, code: Sequence[Residual]) -> None:
    """Raise ``NotUnderstoodError`` where a load of memory that nothing may write meanwhile is of what a kernel writes.

    It may give what was there before, whatever orders them, for it goes past the caches that models are of.
    """
    written = {
        access.array
        for each in code
        for access in each.accesses
        if isinstance(each.instruction, Store | Rmw | AsyncOperation)
    }
    for each in code:
        loads = each.origin is not None and isinstance(each.instruction, Load) and reads_constants(each.origin)
        for access in each.accesses if loads else ():
            if access.array in written or access.array == ANYWHERE or ANYWHERE in written:
                raise refusal(module, each.origin, "of memory that the kernel may write is not understood")


def _may_part(followed: Followed) -> bool:
    """Return whether memory decides whether, or how often, a thread comes to what its subgroup does together."""
    return any(
        scope is Scope.WARP and len(_comings(code, (name, scope)) or ()) != 1
        for _, code in followed
        for name, scope in _barriers(code)
    )


def _with_plain_barriers(launch: KernelLaunch, followed: Followed) -> Followed:
    """Return the threads with barriers that are numbered from 0, and without the quorum of those that the code of every
    thread of their group has, for whom a barrier waits as well.
    """
    every = [each.instruction for _, code in followed for each in code]
    names = dict.fromkeys(ins.number for ins in every if isinstance(ins, Barrier))
    numbers = {name: number for number, name in enumerate(names)}
    met: dict[tuple[Operand, int, int | None], set[int]] = {}

    def key(ids: ThreadIds, ins: Barrier) -> tuple[Operand, int, int | None]:
        number = launch.thread_number(ids)
        return ins.number, launch.block_number(ids), number // launch.warp if ins.scope is Scope.WARP else None

    for ids, code in followed:
        for ins in (each.instruction for each in code):
            if isinstance(ins, Barrier):
                met.setdefault(key(ids, ins), set()).add(launch.thread_number(ids))

    def plain(ids: ThreadIds, residual: Residual) -> Residual:
        ins = residual.instruction
        if not isinstance(ins, Barrier):
            return residual
        quorum = None if ins.quorum == len(met[key(ids, ins)]) else ins.quorum
        return residual._replace(instruction=replace(ins, number=numbers[ins.number], quorum=quorum))

    return [(ids, [plain(ids, each) for each in code]) for ids, code in followed]


def _with_ends(way: _Following, found: _Found) -> tuple[Followed, bool]:
    """Return the threads with arrivals at their ends for the barriers that do not wait for threads that have ended, and
    whether memory decides how often threads come to a barrier, so that who ends is not counted: without a bound, or to
    exchange something.
    """
    launch, followed = way.launch, found.threads
    _check_whole_warps(way, followed)
    comings = _comings_of(followed)
    every = [(key, counts) for each in comings.values() for key, counts in each.items()]
    uncounted = any(counts is None or (len(counts) > 1 and exchanges(key)) for key, counts in every)
    for number, ((ids, _), owed) in enumerate(zip(followed, _owed(launch, comings), strict=True)):
        if owed:
            followed[number] = (ids, follow(way.thread(ids, found.comers, owed)))
    tidy = [(ids, tidied(code)) for ids, code in followed]
    return _renamed(list(_with_exits(launch, tidy, found.assumed, way.module.path))), uncounted


def _renamed(followed: Followed) -> Followed:
    """Return the threads with the barriers of warps numbered from 0."""
    every = [each.instruction for _, code in followed for each in code]
    warps = (ins.name for ins in every if isinstance(ins, Barrier) and ins.scope is Scope.WARP)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(warps))}

    def renamed(residual: Residual) -> Residual:
        ins = residual.instruction
        if not isinstance(ins, Barrier) or ins.scope is not Scope.WARP:
            return residual
        return residual._replace(instruction=replace(ins, number=numbers[ins.name]))

    return [(ids, [renamed(each) for each in code]) for ids, code in followed]


def left_behind(program: KernelProgram, finals: Mapping[str, int]) -> dict[Array, ArrayImage]:
    """Return what a kernel leaves to the next one of its stream: what was there, with final values over it."""
    found = dict(program.launch.memory)
    for name, value in finals.items():
        array, offset, size = program.cells[name]
        data = dict(found[array].data) if array in found else {}
        data |= enumerate((value % (1 << 8 * size)).to_bytes(size, "little"), offset)
        untold = dict(found[array].untold) if array in found else {}
        untold |= dict.fromkeys(range(offset, offset + size), program.untold[name]) if name in program.untold else {}
        found[array] = ArrayImage(size, data, untold)
    return found


def _owed(launch: KernelLaunch, comings: _Comings) -> Iterator[Mapping[BarrierKey, int]]:
    """Yield for each thread how often it has to have come to barriers at its end, where memory decides how often it
    comes there: as often as any thread of the group may.
    """
    for ids, found in comings.items():
        several = [
            key for key, counts in found.items() if counts is not None and len(counts) > 1 and not exchanges(key)
        ]
        most = {key: [other.get(key, frozenset({0})) for other in _group(launch, comings, ids, key)] for key in several}
        yield {
            key: max(count for each in counts for count in each or ())
            for key, counts in most.items()
            if None not in counts
        }


_ThreadComings = Mapping[BarrierKey, frozenset[int] | None]
_Comings = Mapping[ThreadIds, _ThreadComings]
"""How often each thread may come to each of its barriers; None where no number is the most."""


def _comings_of(followed: Sequence[tuple[ThreadIds, list[Residual]]]) -> _Comings:
    return {ids: {key: _comings(code, key) for key in _barriers(code)} for ids, code in followed}


def _group(launch: KernelLaunch, comings: _Comings, ids: ThreadIds, key: BarrierKey) -> list[_ThreadComings]:
    """Return the comings of the threads that a barrier waits for, where a thread is one of them: those of the block, of
    the cluster, or the lanes of a mask.
    """
    name, scope = key
    if scope is Scope.WARP:
        assert isinstance(name, int)
        warp = _warp_of(launch, ids)
        mates = {launch.thread_number(other) % launch.warp: found for other, found in comings.items()
                 if _warp_of(launch, other) == warp}  # fmt: skip
        lanes = [lane for lane in mates if name >> lane & 1]
        return [mates[lane] for lane in lanes] if launch.thread_number(ids) % launch.warp in lanes else []
    number = launch.cluster_number if scope is Scope.QUEUE else launch.block_number
    return [found for other, found in comings.items() if number(other) == number(ids)]


def _warp_of(launch: KernelLaunch, ids: ThreadIds) -> tuple[int, int]:
    return launch.block_number(ids), launch.thread_number(ids) // launch.warp


def _with_exits(
    launch: KernelLaunch,
    followed: Sequence[tuple[ThreadIds, list[Residual]]],
    assumed: dict[str, None],
    path: str | None,
) -> Iterator[tuple[ThreadIds, list[Residual]]]:
    """Yield the threads, each with an arrival at its end for every barrier that it comes to less often than others do.

    A barrier waits for all threads of the block that have not ended (PTX ISA, ``exit``). In a litmus test it waits for
    those whose code has it.
    """
    every = _comings_of(followed)
    for ids, code in followed:
        exits = []
        for barrier in dict.fromkeys(each for found in every.values() for each in found):
            counts = [found[barrier] for found in _group(launch, every, ids, barrier) if barrier in found]
            own = every[ids].get(barrier, {0})
            if None not in counts and own is not None and len(own) == 1:
                most = max((count for each in counts if each is not None for count in each), default=0)
                if 0 < min(own) < most and (exchanges(barrier) or f"barrier{barrier[0]}" in _reductions(code)):
                    raise NotUnderstoodError(ENDED_REDUCTION, path)
                exits += [Residual(exit_arrival(barrier), None)] * (most - min(own))
            elif counts and barrier not in every[ids] and any(map(_may_stay, code)):
                what = f"{_called(barrier)} is in a loop of some threads, and others do not come to it"
                raise NotUnderstoodError(what, path)
        if exits or any(_is_exit(each.instruction) for each in code):
            assumed["a thread that has ended is not waited for at barriers"] = None
        yield ids, code + exits


def _called(key: BarrierKey) -> str:
    name, scope = key
    return f"barrier {name}" if scope is not Scope.WARP else f"{done_at(key)} with one mask"


class _Found(NamedTuple):
    """What is left of a kernel for each thread, what was taken for granted, whether what is left depends on which
    places of arrays are accessed, who comes to places where a group does something, and what the system may choose.
    """

    threads: Followed
    assumed: dict[str, None]
    asks: bool
    comers: Mapping[GroupSite, frozenset[int]]
    choices: Mapping[str, int]


@dataclass(frozen=True)
class _Following:
    """How the threads of a launch are followed."""

    module: ir.Module
    kernel: ir.KernelFunction
    launch: KernelLaunch
    facts: LaunchFacts = field(default_factory=LaunchFacts)
    most: int = MOST_STEPS
    shapes: dict[str, FunctionShape] = field(default_factory=dict)

    def thread(
        self,
        ids: ThreadIds,
        comers: Mapping[GroupSite, frozenset[int]],
        owed: Mapping[BarrierKey, int] | None = None,
    ) -> FollowedThread:
        """Return a thread that is to be followed."""
        facts = replace(self.facts, comers=comers, owed=owed or {})
        language, most = LANGUAGES[self.module.language], self.most
        return new_thread(self.module, self.kernel, self.launch, ids, language, facts, shapes=self.shapes, most=most)

    def found(self) -> _Found:
        """Return what is left of the kernel for each thread.

        Which threads come to a place where a group does something together is known when all have been followed. Then
        they are followed again where they are not those that were taken to come. Raises ``NotUnderstoodError`` where
        that does not end.
        """
        comers: dict[GroupSite, frozenset[int]] = {}
        for _ in range(MOST_ROUNDS):
            found = _Found([], {}, False, comers, {})
            came: dict[GroupSite, set[int]] = {}
            taken: dict[GroupSite, frozenset[int]] = {}
            asks = False
            choices: dict[str, int] = {}
            uniform: dict[tuple[tuple[int, int], ir.KernelInstruction], list[int]] = {}
            for ids in self.launch.threads():
                thread = self.thread(ids, comers)
                found.threads.append((ids, follow(thread)))
                found.assumed.update(thread.notes.assumed)
                asks |= thread.notes.asks_for_accesses
                choices |= thread.notes.choices
                self._check_uniform(uniform, _warp_of(self.launch, ids), thread)
                taken |= thread.notes.came
                for site in thread.notes.came:
                    came.setdefault(site, set()).add(thread.number)
            comers = {site: frozenset(threads) for site, threads in came.items()}
            if comers == taken:
                return found._replace(asks=asks, choices=choices)
        raise NotUnderstoodError("which threads of a warp do something together is not understood", self.module.path)

    def _check_uniform(
        self,
        uniform: dict[tuple[tuple[int, int], ir.KernelInstruction], list[int]],
        warp: tuple[int, int],
        thread: FollowedThread,
    ) -> None:
        """Raise ``NotUnderstoodError`` where a thread parts from its warp though ``.uni`` says that none does."""
        for ins, ways in thread.notes.uniform.items():
            others = uniform.setdefault((warp, ins), ways)
            if any(one != other for one, other in zip(others, ways, strict=False)):
                what = f"{ins.opcode}: threads of a warp part here, and .uni says that they do not"
                raise NotUnderstoodError(what, self.module.path, ins.line, 1)
            uniform[warp, ins] = max(others, ways, key=len)


MOST_ROUNDS = 4
"""How often threads are followed until it is known which of them do something together."""


def _accessed(threads: Iterable[Sequence[Residual]], path: str) -> AccessedPlaces:
    """Return where arrays are accessed. Raises ``NotUnderstoodError`` where an index in shared memory is computed."""
    found: dict[Array, dict[tuple[int, int], None]] = {}
    for code in threads:
        for access in (access for each in code for access in each.accesses):
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
        for each in code:
            if isinstance(each.instruction, AsyncOperation):
                if each.instruction.source is not None:
                    copies.add(tuple(access.array for access in each.accesses[:2]))
            else:
                for access in each.accesses:
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


def _parts(code: Sequence[Residual]) -> Parts:
    """Return where weak accesses of several sizes overlap, and the largest parts that all of these are made of.

    A race is one of parts, and where nothing races each part holds what was written to it last (PTX ISA, 8.7.1: the
    axioms are of programs without mixed-size data races). Atomic operations and strong accesses have no parts.
    """
    places: dict[Array, dict[tuple[int, int], bool]] = {}
    computed: dict[Array, dict[int, bool]] = {}
    for each in code:
        weak = isinstance(each.instruction, Load | Store) and each.instruction.mode == PLAIN
        for access in each.accesses:
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
            parts[array] = list(_mixed_parts(found))
    return {array: every for array, every in parts.items() if every}


def _mixed_parts(places: Mapping[tuple[int, int], bool]) -> Iterator[tuple[int, int, int]]:
    """Yield where accesses that are weak overlap and are not of one place and size."""
    together: list[tuple[int, int]] = []
    for place in [*sorted(places), (1 << 62, 0)]:
        end = max((offset + size for offset, size in together), default=0)
        if together and place[0] >= end:
            if len(together) > 1 and all(places[each] for each in together):
                yield together[0][0], end, math.gcd(*(number for each in together for number in each))
            together = []
        together.append(place)


def _reductions(code: Sequence[Residual]) -> set[str]:
    """Return the barriers by which a thread exchanges values: ``barrier0``."""
    arrays = (each.access.array for each in code if each.access and each.access.array.space == SLOTS)
    return {array.name.partition("_")[0] for array in arrays}


def _is_exit(ins: Instruction) -> bool:
    return isinstance(ins, Barrier) and EXIT in ins.mode.tags


def _barriers(code: Sequence[Residual]) -> list[BarrierKey]:
    """Return the barriers of a thread that wait for all threads of its block, or of its cluster."""
    every = (each.instruction for each in code)
    found = (ins for ins in every if isinstance(ins, Barrier) and ins.quorum is None)
    return list(dict.fromkeys((ins.name, ins.scope) for ins in found))


def _may_stay(residual: Residual) -> bool:
    return isinstance(residual.instruction, Branch | Barrier)


def _comings(code: Sequence[Residual], key: BarrierKey) -> frozenset[int] | None:
    """Return how often a thread may come to a barrier that waits for all; None where no number is the most."""

    def is_meant(ins: Barrier) -> bool:
        return ins.quorum is None and not ins.wait and (ins.name, ins.scope) == key

    return _counted(code, is_meant)


def _counted(code: Sequence[Residual], is_meant: Callable[[Barrier], bool]) -> frozenset[int] | None:
    """Return how often a thread may come to barriers of a kind; None where no number is the most."""
    flow = _flow(code)
    most = sum(isinstance(ins, Barrier) for ins in flow.code)

    def following(state: tuple[int, int]) -> list[tuple[int, int]]:
        place, count = state
        if place == flow.end or count > most:
            return []
        ins = flow.code[place]
        count += isinstance(ins, Barrier) and is_meant(ins)
        return [(after, count) for after in flow.successors[place]]

    found = reachable([(0, 0)], following)
    if any(count > most for _, count in found):
        return None
    return frozenset(count for place, count in found if place == flow.end)


def _check_whole_warps(way: _Following, followed: Followed) -> None:
    """Check that the threads of a warp come equally often to a barrier that waits for some of the block, for it counts
    warps, not threads (PTX ISA, ``barrier``). Raises ``NotUnderstoodError`` where they may not.
    """
    launch = way.launch
    every = [each.instruction for _, code in followed for each in code]
    some = (ins for ins in every if isinstance(ins, Barrier) and ins.scope is Scope.CTA)
    for one in dict.fromkeys((ins.name, ins.quorum) for ins in some if ins.quorum is not None):
        warps: dict[tuple[int, int], list[frozenset[int] | None]] = {}
        for ids, code in followed:
            warps.setdefault(_warp_of(launch, ids), []).append(_counted(code, partial(_is_one, one)))
        for counts in warps.values():
            decided = counts[0] is not None and len(counts[0]) == 1
            if len(counts) > 1 and (len({*counts}) > 1 or not (decided or way.facts.aligns)):
                what = f"barrier {one[0]} of {one[1]} threads: not all threads of a warp come to it equally often"
                raise NotUnderstoodError(f"{what}, which is not understood", way.module.path)


def _is_one(one: tuple[Operand, Operand | None], ins: Barrier) -> bool:
    return (ins.name, ins.quorum) == one


def _divergent(
    launch: KernelLaunch, followed: Sequence[tuple[ThreadIds, list[Residual]]]
) -> tuple[tuple[ir.KernelInstruction, ...], bool]:
    """Return two barriers that threads of one warp come to in place of each other, one of them aligned, or none, and
    whether that is known of all warps.

    All threads of a warp have to execute the same ``bar`` (PTX ISA, ``barrier``, ``.aligned``); those that have ended
    come to none.
    """
    warps: dict[tuple[int, int], list[Sequence[ir.KernelInstruction] | None]] = {}
    for ids, code in followed:
        warps.setdefault(_warp_of(launch, ids), []).append(_met_in_turn(code))
    for every in warps.values():
        for one, other in combinations([row for row in every if row is not None], 2):
            for first, second in zip(one, other, strict=False):
                if first is not second and (is_aligned_barrier(first) or is_aligned_barrier(second)):
                    return (first, second), True
    return (), not any(len(every) > 1 and None in every for every in warps.values())


def _met_in_turn(code: Sequence[Residual]) -> list[ir.KernelInstruction] | None:
    """Return the barriers that a thread comes to, one after the other; None where memory decides which."""
    flow = _flow(code)
    meeting = frozenset(place for place, residual in enumerate(code) if _is_of_block(residual)) | {flow.end}
    found: list[ir.KernelInstruction] = []
    start, passed = 0, set[int]()

    def following(place: int) -> Sequence[int]:
        return () if place in meeting else flow.successors[place]

    while True:
        ahead = [place for place in reachable([start], following) if place in meeting]
        if len(ahead) > 1:
            return None
        place = next(iter(ahead), flow.end)
        if place == flow.end or place in passed:
            return found
        met = code[place].origin
        assert met is not None
        found.append(met)
        passed.add(place)
        start = place + 1


def _is_of_block(residual: Residual) -> bool:
    ins = residual.instruction
    return residual.origin is not None and isinstance(ins, Barrier) and ins.scope is not Scope.WARP


def _flow(code: Sequence[Residual]) -> ThreadFlow:
    """Return the control flow of a thread's code."""
    return ThreadFlow(tuple(residual.instruction for residual in code))


def _of_subgroup(residual: Residual) -> bool:
    """Decide whether an access, fence or barrier has the scope of a subgroup."""
    return residual.origin is not None and residual.origin.mode.scope is Scope.WARP


def _matters(residual: Residual) -> bool:
    match residual.instruction:
        case Load() | Store() | Rmw() | AsyncOperation() | Barrier():
            return True
        case Branch():  # to itself: what decides others would be read from memory
            return True
        case Assign(target):
            return target.startswith(MARK)
    return False


def _outlasts(array: Array) -> bool:
    """Return whether an array is still there when the kernel has ended."""
    return array.space not in ("shared", "register", SLOTS)


_REGIONS = {"shared": Region.SHARED, "register": Region.REGISTER}
"""The regions of arrays that are not in global memory, by the spaces that they are in."""


def _box_of(name: str) -> tuple[str, str]:
    """Return the parameter that an array is named for, and which box of its tensor map it is: ``map``, ``(0,16)``."""
    parameter, sign, coordinates = name.partition("(")
    return parameter, sign + coordinates


class _Layout:
    """The locations of a program: where each array's accesses are, and what they are called."""

    def __init__(
        self,
        module: ir.Module,
        kernel: ir.KernelFunction,
        launch: KernelLaunch,
        threads: Sequence[Sequence[Residual]],
        created: CreatedThreads | None = None,
        parts: Parts = MappingProxyType({}),
    ) -> None:
        self._parts_of = parts
        self.parted: set[str] = set()
        self._of_wholes: dict[str, dict[int, tuple[str, int]]] = {}
        self._wide: dict[str, int] = {}
        self._module, self._kernel, self._launch = module, kernel, launch
        self._created = created or CreatedThreads()
        self.undefined: set[str] = set()
        self.assumed: dict[str, None] = {}
        self.cells: dict[str, ArrayCell] = {}
        self._accesses: dict[Array, dict[tuple[int, int], list[ir.KernelInstruction]]] = {}
        self._computed: dict[Array, int] = {}
        self._limits: dict[Array, int] = {}
        self._read: dict[Array, None] = {}
        self.outside: set[str] = set()
        self.initialised: set[str] = set()
        blocks: dict[str, list[Array]] = {}
        sizes: dict[Array, set[int]] = {}
        for code in threads:
            for each in code:
                for array, offset, size, limit in each.accesses:
                    if not isinstance(each.instruction, Store):
                        self._read[array] = None
                    if offset is None:
                        if array != ANYWHERE:
                            self._computed[array] = size
                            sizes.setdefault(array, set()).add(size)
                            self._limits |= {} if limit is None else {array: limit}
                            self._accesses.setdefault(array, {})
                        continue
                    origins = self._accesses.setdefault(array, {}).setdefault((offset, size), [])
                    if each.origin is not None and each.origin not in origins:
                        origins.append(each.origin)
        accessed = set(map(self._shared, self._accesses))
        for kept, image in launch.memory.items():
            if kept not in accessed:
                places = dict.fromkeys((offset - offset % image.size, image.size) for offset in sorted(image.data))
                self._accesses[self._array_of(kept)] = {place: [] for place in places}
        for array, offsets in self._created.cells.items():
            self._accesses.setdefault(array, {}).update(
                {(offset, SLOT): [] for offset in sorted(offsets) if (offset, SLOT) not in self._accesses[array]}
            )
        for array in self._accesses:
            blocks.setdefault(array.name, []).append(array)
        self._elements = {array: self._element(array) for array in self._accesses}
        self._check_sizes(sizes)
        self._names: dict[Array, str] = {}
        for array in self._accesses:
            name = self._named(array, len(blocks[array.name]) > 1)
            again = sum(each == name or each.startswith(f"{name}__") for each in self._names.values())
            self._names[array] = f"{name}__{again + 1}" if name in self._names.values() else name
        self._parts = {array: self._members(array) for array in self._accesses if array not in self._computed}

    def _members(self, array: Array) -> tuple[tuple[int, str], ...]:
        """Return the places and names of the members of a buffer, none of which is the name of another array."""
        number = self._kernel.number_of(array.name) if array.space == "argument" else None
        parts = () if number is None else self._kernel.parameters[number].parts
        return tuple(
            (offset, f"{self._names[array]}_{name}" if self._is_taken(name, array) else name) for offset, name in parts
        )

    def _check_sizes(self, computed: Mapping[Array, set[int]]) -> None:
        """Raise ``NotUnderstoodError`` where accesses of several sizes, one of them at a computed index, have no parts,
        and where what an argument gives depends on the size of its elements, which nothing tells.
        """
        for array in self._accesses:
            name = self._said(array)
            if (array in computed and self._elements[array] is None) or len(computed.get(array, ())) > 1:
                what = f"{name}: accesses of several sizes, of which some are atomic or strong, with a computed index"
                raise NotUnderstoodError(f"{what} are not understood", self._module.path)
            given = self._argument(array)
            several = array in self._parts_of or self._elements[array] is None
            if several and given is not None and any(given.values) and given.size is None and given.data is None:
                what = f"{name}: accesses are of several sizes, and the size of an element of its --arg is not known"
                raise NotUnderstoodError(what, self._module.path)

    def _said(self, array: Array) -> str:
        return plain_name(self._shared(array).name)

    def _is_taken(self, name: str, array: Array) -> bool:
        """Return whether an array, or a member of another buffer, has a name."""
        others = (each for each in self._kernel.parameters if each.name != array.name)
        return name in self._names.values() or any(name == part for each in others for _, part in each.parts)

    def _named(self, array: Array, several: bool) -> str:
        """Return the name of an array: its own, with its block where several blocks have one of this name."""
        space, block, name = array
        given = self._shared(array).name if space == "argument" else name
        number = self._kernel.number_of(name) if space == "argument" else None
        if number is not None and self._kernel.parameters[number].space == ir.FIELD:  # p.q[1].data: p.q_1.data
            return re.sub(r"[^\w.]", "_", given.replace("]", ""))
        given = given if space == "argument" else plain_name(given)
        plain = "".join(each if each.isalnum() or each == "_" else "_" for each in given.rstrip(")"))
        return f"{plain}_b{block}" if several and space in ("shared", SLOTS) else plain

    def _shared(self, array: Array) -> Array:
        """Return an array as all kernels of a stream call it: an argument by the name that the source has for it."""
        space, _, name = array
        number = self._kernel.number_of(name) if space == "argument" else None
        if number is None:
            return Array(space, NOBODY, name)
        parameter, box = _box_of(name)
        return Array(space, NOBODY, f"{self._launch.source_name(parameter, number)}{box}")

    def _array_of(self, shared: Array) -> Array:
        """Return the array of this kernel that all kernels of a stream call so."""
        parameters = enumerate(self._kernel.parameters)
        names = {argument_array(self._launch.source_name(each.name, n)): each.name for n, each in parameters}
        return argument_array(names[shared]) if shared in names else shared

    def _element(self, array: Array) -> int | None:
        """Return the size of an array's elements; None where its accesses are of several sizes."""
        places = self._accesses[array]
        sizes = {size for _, size in places} | ({self._computed[array]} if array in self._computed else set())
        size = sizes.pop()
        return size if not sizes and all(offset % size == 0 for offset, _ in places) else None

    def name(self, array: Array, offset: int) -> str:
        """Return the location at a place of an array."""
        size = self._elements.get(array)
        stem = self._names.get(array, array.name)
        for start, name in reversed(self._parts.get(array, ())):
            if start <= offset:
                stem, offset = name, offset - start
                break
        whole = self._declared(array)
        part = next((part for start, end, part in self._parts_of.get(array, ()) if start <= offset < end), None)
        if part is not None or (size and whole and size < whole):
            # by a name of its own where it is not an element, for ``x[1]`` is one of the source
            length = part or size or 1
            name = element(stem if length == whole else f"{stem}_parts_of_{length}", offset // length)
            self.parted |= {name} if part is not None else set()
            if whole and length < whole:
                self._of_wholes.setdefault(element(stem, offset // whole), {})[offset % whole] = name, length
                self._wide[element(stem, offset // whole)] = whole
            return name
        if size and whole and size > whole:
            return element(f"{stem}_by_{size}", offset // size)
        if size is not None:
            return element(stem, offset // size)
        if (
            whole
            and offset % whole == 0
            and {length for at, length in self._accesses[array] if at == offset} == {whole}
        ):
            return element(stem, offset // whole)
        return f"{stem}_at_{offset}" if offset or whole else stem

    def operand(self, operand: Operand) -> Operand:
        """Return an operand with locations by their names."""
        return Loc(self.name(operand.array, operand.offset)) if isinstance(operand, ArrayPlace) else operand

    def locations(self) -> tuple[Location, ...]:
        """Return every location, with what it holds at the start."""
        found: dict[str, Location] = {}
        for array in sorted(self._accesses, key=lambda array: self._names[array]):
            places = dict.fromkeys(sorted(self._accesses[array]))
            if array in self._computed:
                size = self._computed[array]
                places |= dict.fromkeys((n * size, size) for n in range(self._few(array, size)))
            if array in self._limits:
                outside = (self._limits[array] * self._computed[array], self._computed[array])
                self.outside |= set() if outside in places else {self.name(array, outside[0])}
                places[outside] = None
            region = _REGIONS.get(array.space, Region.GLOBAL)
            begun = self._argument(array) is not None or bool((variable := self._variable(array)) and variable.initial)
            for offset, size in sorted(places):
                name = self.name(array, offset)
                self.initialised |= {name} if begun and region is Region.SHARED else set()
                self.cells.setdefault(name, ArrayCell(self._shared(array), offset, size))
                found.setdefault(name, Location(name, self._initial(array, offset, size), region))
        return tuple(found.values())

    def zeros(self) -> Iterable[str]:
        """Yield notes of the arguments whose memory nothing tells, and of variables that the host may have set."""
        names = [
            self._names[array]
            for array in self._accesses
            if array.space == "argument" and not self._argument(array) and not self._image(array)
        ]
        if names:
            yield f"memory of {', '.join(sorted(names))} begins as zeros"
        if LANGUAGES[self._module.language].parted:
            for array in self._read:  # by which the host may say what a kernel does, as in constant memory
                if array.space == "global" and self._variable(array) and not self._image(array):
                    yield f"{self._names[array]} begins as the module gives it"

    def _few(self, array: Array, size: int) -> int:
        """Return the number of elements of an array whose index is computed, where they are not too many."""
        count = self._count(array, size)
        if count > MOST_ELEMENTS:
            what = f"{self._names[array]} has {count:,} elements: more than {MOST_ELEMENTS:,} with a computed index"
            raise NotUnderstoodError(f"{what} are not understood", self._module.path)
        return count

    def _count(self, array: Array, size: int) -> int:
        """Return the number of elements of an array whose index is computed."""
        if array in self._limits:
            return self._limits[array]
        given, variable = self._argument(array), self._variable(array)
        if given is not None and given.elements(size):
            return given.elements(size)
        if array in self._created.sizes:
            return self._created.sizes[array] // size
        if variable is not None and variable.size:
            return variable.size // size
        image = self._image(array)
        places = (*(offset for offset, _ in self._accesses[array]), *(image.data if image else ()))
        last = max((offset // size + 1 for offset in places), default=0)
        count = max(COUNT, last)
        self.assumed[f"{self._names[array]} has {count} elements"] = None
        return count

    def _image(self, array: Array) -> ArrayImage | None:
        return self._launch.memory.get(self._shared(array)) if _outlasts(array) else None

    def _argument(self, array: Array) -> ArrayArgument | None:
        number = self._kernel.number_of(array.name)
        return None if number is None else self._launch.array(array.name, number)

    def _declared(self, array: Array) -> int | None:
        """Return the size of an element of an array as the source has it, where that is known."""
        given, number = self._argument(array), self._kernel.number_of(array.name)
        if given is not None and given.size:
            return given.size
        if not LANGUAGES[self._module.language].parted:
            return None
        return self._launch.elements[number] if number is not None and number < len(self._launch.elements) else None

    def wholes(self) -> dict[str, tuple[str, ...]]:
        """Return the elements of arrays of which all parts are locations, with these in the order of their bytes."""
        found = {}
        for whole, parts in self._of_wholes.items():
            every = [parts[offset] for offset in sorted(parts)]
            if sum(size for _, size in every) == self._wide[whole]:
                found[whole] = tuple(name for name, _ in every)
        return found

    def _variable(self, array: Array) -> ir.Variable | None:
        return self._module.variable(self._kernel, array.name)

    def _initial(self, array: Array, offset: int, size: int) -> int | Loc:
        began = self._created.start.get((array.name, offset))
        if isinstance(began, ArrayAddress):
            return Loc(self.name(began.array, began.offset))
        if isinstance(began, int):
            return signed(began, 8 * size)
        if array in self._created.sizes and self._variable(array) is None:
            self.undefined.add(self.name(array, offset))
        image = self._image(array)
        value = self._at_start(array, offset, size)
        return value if image is None else image.over(value, offset, size)

    def _at_start(self, array: Array, offset: int, size: int) -> int:
        if array.space == SLOTS:  # who has ended brings nothing: what changes no combination of others
            return int(array.name.endswith("_and"))
        given, variable = self._argument(array), self._variable(array)
        if given is not None:
            return given.initial(offset, size)
        if variable is not None:
            if any(offset <= at < offset + size for at, _ in variable.addresses):
                what = f"{variable.name} holds addresses from the start, which is not understood"
                raise NotUnderstoodError(what, self._module.path, variable.line, 1)
            data = variable.initial[offset : offset + size].ljust(size, b"\0")
            return int.from_bytes(data, "little", signed=True)
        return 0

    def untold(self, values: UntoldValues) -> dict[str, str]:
        """Return the locations that may hold a value which nothing tells, with what it may have come from."""
        found = {}
        for array, places in self._accesses.items():
            computed = {
                (n * size, size) for size in [self._computed.get(array)] if size for n in range(self._few(array, size))
            }
            for offset, size in places.keys() | computed:
                why = values.of(array, offset, size)
                if why is not None:
                    found[self.name(array, offset)] = why
        return found

    def mixed(self) -> Iterable[MixedSize]:
        """Yield the accesses of one array that overlap and are not of one place and size."""
        for array, places in sorted(self._accesses.items(), key=lambda item: str(item[0])):
            every = sorted(places)
            for n, (offset, size) in enumerate(every):
                for other, length in every[n + 1 :]:
                    if other < offset + size and offset < other + length:
                        origins = (*places[offset, size], *places[other, length])
                        yield MixedSize(self._names[array], (offset, size), (other, length), origins)
