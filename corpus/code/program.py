"""The program that is left of a kernel and a launch: a litmus test, each of whose instructions knows its source line.

Arrays become locations as they are accessed. ``data[1]`` is the second element of an array all of whose accesses are of
one size; an access of another size at another place is a location of its own. Where accesses overlap in part, or are of
different sizes at one place, the specification says nothing of them (PTX ISA 9.1, 8.2.2), and they are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from corpus.code import ir
from corpus.code.launch.creation import created_threads
from corpus.code.launch.endings import divergent_barriers, may_part, with_ends, with_plain_barriers
from corpus.code.launch.facts import FollowedLaunch, ThreadCode
from corpus.code.launch.launch import ArrayImage, KernelLaunch, SharedArgument, ThreadIds, volume
from corpus.code.locations import (
    KernelArrays,
    MixedSize,
    ProgramLocations,
    array_accesses,
    locations_of,
    mixed_sizes,
    name_arrays,
    notes_of_zeros,
    outlasts,
)
from corpus.code.objects import NO_OBJECTS, ProgramObjects, objects_of
from corpus.code.passes.tidying import tidied
from corpus.code.passes.untold import Place, UntoldValues, doubts_decide, untold_values
from corpus.code.places import ANYWHERE, Array, argument_array
from corpus.code.refusals import NotUnderstoodError, refusal
from corpus.code.registry import language_named
from corpus.code.residual import DOUBT, MARK, Residual, is_of_object
from corpus.code.thread import (
    MOST_STEPS,
    Parts,
)
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, AsyncOperation, Barrier, Branch, Load, Rmw, Store
from corpus.litmus.locations import NOWHERE, Location
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import Place as ThreadPlace
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

MOST_THREADS = 64
"""The threads of a launch that are followed."""


class ThreadMarks(NamedTuple):
    """The registers of a program that say something of a thread, by the thread and the reason.

    ``stops``: why it has stopped. ``doubts``: whether a result is not determined; ``decide``: one of these may decide
    whether or where memory is accessed.
    """

    stops: tuple[tuple[int, str], ...] = ()
    doubts: tuple[tuple[int, str], ...] = ()
    decide: bool = False


class BarrierNotes(NamedTuple):
    """What is found of barriers: ``divergent`` are those that threads of one warp come to in place of each other.

    ``uncounted``: memory decides how often threads come to a barrier, without a bound; then who waits for a thread that
    has ended may not wait in truth.
    """

    divergent: tuple[ir.KernelInstruction, ...] = ()
    uncounted: bool = False


NO_MARKS, NOTHING_OF_BARRIERS = ThreadMarks(), BarrierNotes()


@dataclass(frozen=True)
class KernelProgram:
    """What is left of a kernel and a launch.

    ``code`` has for each instruction of each thread of the ``test`` where it comes from and what it accesses; ``ids``
    the place of each thread in the launch. ``assumed`` lists what was taken for granted. ``mixed`` are accesses of
    which the specification says nothing. ``locations`` are those of the test, with their places in arrays. ``names``
    are the functions of threads where there are several. ``choices``: what the system may do in several ways, of which
    the launch has one, and how many there are. ``altered``: what a location holds that nothing tells may be the same
    for several numbers in its place. ``needed``: the program ends where these threads do; None: where all of them do.
    ``objects`` are those that it makes, where it is asked which are never given back.
    """

    test: LitmusTest
    launch: KernelLaunch
    ids: tuple[ThreadIds, ...]
    code: tuple[tuple[Residual, ...], ...]
    assumed: tuple[str, ...]
    locations: ProgramLocations
    mixed: tuple[MixedSize, ...] = ()
    marks: ThreadMarks = NO_MARKS
    barriers: BarrierNotes = NOTHING_OF_BARRIERS
    names: tuple[str, ...] = ()
    choices: Mapping[str, int] = field(default_factory=dict)
    altered: bool = False
    needed: tuple[int, ...] | None = None
    objects: ProgramObjects = NO_OBJECTS

    @cached_property
    def origins(self) -> tuple[tuple[ir.KernelInstruction | None, ...], ...]:
        """The instruction of the code that each instruction of each thread comes from."""
        return tuple(tuple(residual.origin for residual in code) for code in self.code)

    @property
    def grows(self) -> bool:
        """Whether it is a program whose first thread creates the others; addresses are in bytes then."""
        return bool(self.names)

    @property
    def lasting(self) -> tuple[str, ...]:
        """The locations that are still there when the kernel has ended."""
        places = self.locations
        return tuple(name for name, cell in places.cells.items() if outlasts(cell.array) and name not in places.outside)


def check_size(launch: KernelLaunch, path: str, hint: str = "") -> None:
    """Raise ``InputError``, before any thread is made, where a launch has too many of them."""
    threads = volume(launch.grid) * volume(launch.block)
    if threads > MOST_THREADS:
        raise InputError(f"expected a launch of at most {MOST_THREADS} threads{hint}, found {threads}", path)


def _check_local(module: ir.Module, kernel: ir.KernelFunction, launch: KernelLaunch) -> None:
    """Raise ``InputError`` where memory of a work-group that is an argument is to be another one: each is its own."""
    every = [(parameter, launch.source_name(parameter.name, n)) for n, parameter in enumerate(kernel.parameters)]
    local = {name for parameter, called in every if parameter.space == "shared" for name in (parameter.name, called)}
    for number, (parameter, called) in enumerate(every):
        given = launch.argument(parameter.name, number)
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
    language = language_named(module.language)
    if language.control.grows:
        created = created_threads(module, kernel, launch, language)
        untold = untold_values(module, [code for _, code in created.followed])
        arrays = KernelArrays(module, kernel, launch, language, created)
        program = _program(arrays, created.followed, created.assumed, untold, created.parts)
        names = tuple(created.names[launch.block_number(ids)] for ids in program.ids)
        ends = created.needed
        needed = (
            None if ends is None else tuple(n for n, ids in enumerate(program.ids) if launch.block_number(ids) in ends)
        )
        return replace(program, names=names, needed=needed)
    check_size(launch, module.path, " with --block" if kernel.block_size.threads == launch.block else "")
    _check_local(module, kernel, launch)
    if misfit := language.rules.limits(kernel).misfit(launch):
        # lines of a module that a compiler has made are not the user's
        of_source = module.unit != "line" or any(ins.source for ins in kernel.body or ())
        raise NotUnderstoodError(f"{kernel.name}: {misfit}", module.path, *(() if of_source else (kernel.line, 1)))
    launched = FollowedLaunch(module, kernel, launch, language, most)
    launched.settle()
    untold = untold_values(module, [code for _, code in launched.code], _left_untold(kernel, launch))
    divergent, decided = divergent_barriers(launch, launched.code)  # before equal ways are made one
    if not decided and language.rules.exits:
        launched.align()
    assumed = launched.assumed
    if language.rules.exits:
        followed, uncounted = with_ends(launched, assumed)
    else:
        followed = with_plain_barriers(launch, [(ids, tidied(code)) for ids, code in launched.code])
        uncounted = may_part(followed)
        if uncounted:
            assumed["where memory decides what a thread does with its subgroup, the others do it too"] = None
    program = _program(KernelArrays(module, kernel, launch, language), followed, assumed, untold, launched.facts.parts)
    decide = bool(program.marks.doubts) and doubts_decide(module, [code for _, code in launched.code])
    marks, barriers = program.marks._replace(decide=decide), BarrierNotes(divergent, uncounted)
    return replace(program, choices=launched.choices, marks=marks, barriers=barriers)


def _program(
    arrays: KernelArrays, followed: ThreadCode, assumed: dict[str, None], untold: UntoldValues, parts: Parts
) -> KernelProgram:
    """Return the program of what is left for each thread."""
    launch, kernel, rules = arrays.launch, arrays.kernel, arrays.language.rules
    kept = [(ids, code) for ids, code in followed if any(map(_matters, code))]
    codes = [code for _, code in kept]
    _check_constants(arrays, [residual for code in codes for residual in code])
    if kernel.block_size.chosen:
        size = "x".join(map(str, launch.block))
        assumed[f"work-groups are of {size} threads, of which constants of specialisation are the size"] = None
    if not rules.exits and any(_of_subgroup(residual) for code in codes for residual in code):
        assumed[f"subgroups are of {launch.warp} threads"] = None
    names = name_arrays(arrays, array_accesses(arrays, codes), parts)
    assumed |= dict.fromkeys(notes_of_zeros(arrays, names, codes)) | dict.fromkeys(arrays.module.assumed)
    threads = []
    for ids, code in kept:
        block, warp = launch.warp_of(ids)
        place = ThreadPlace(0, launch.cluster_number(ids) if rules.clusters else 0, block, warp)
        threads.append(Thread(tuple(map_operands(residual.instruction, names.operand) for residual in code), place))
    marks = sorted({(n, ins.target) for n, thread in enumerate(threads) for ins in thread.instructions
                    if isinstance(ins, Assign) and ins.target.startswith(MARK)})  # fmt: skip
    of_objects = [mark for mark in marks if is_of_object(mark[1])]
    found = locations_of(arrays, names, untold)
    nothing = Condition(Quantifier.EXISTS, And(()))
    marked = ThreadMarks(
        tuple(mark for mark in marks if not mark[1].startswith(MARK + DOUBT) and mark not in of_objects),
        tuple(mark for mark in marks if mark[1].startswith(MARK + DOUBT)),
    )
    return KernelProgram(
        LitmusTest(kernel.name, tuple(threads), _all_locations(arrays, found, codes), nothing),
        launch,
        tuple(ids for ids, _ in kept),
        tuple(map(tuple, codes)),
        (*assumed, *(note for note in found.assumed if note not in assumed)),
        found,
        tuple(mixed_sizes(names)),
        marked,
        altered=untold.altered,
        objects=objects_of(arrays, names, of_objects) if of_objects else NO_OBJECTS,
    )


def _all_locations(
    arrays: KernelArrays, found: ProgramLocations, codes: Sequence[Sequence[Residual]]
) -> tuple[Location, ...]:
    """Return the locations of a program, with the one for places that are none where addresses are in bytes."""
    accesses = (access for code in codes for residual in code for access in residual.accesses)
    by_address = arrays.language.control.grows and any(access.array == ANYWHERE for access in accesses)
    return (*found.locations, Location(NOWHERE)) if by_address else found.locations


def _left_untold(kernel: ir.KernelFunction, launch: KernelLaunch) -> dict[Place, str]:
    """Return the places that hold what nothing tells, as earlier kernels of the stream have left it."""
    found: dict[Place, str] = {}
    for kept, image in launch.memory.items():
        parameters = enumerate(kernel.parameters)
        names = {
            argument_array(launch.source_name(parameter.name, n)): argument_array(parameter.name)
            for n, parameter in parameters
        }
        found |= {(names.get(kept, kept), offset, 1): why for offset, why in image.untold.items()}
    return found


def _check_constants(arrays: KernelArrays, code: Sequence[Residual]) -> None:
    """Raise ``NotUnderstoodError`` where a load of memory that nothing may write meanwhile is of what a kernel writes.

    It may give what was there before, whatever orders them, for it goes past the caches that models are of.
    """
    constant = arrays.language.memory.reads_constants
    if constant is None:
        return
    written = {
        access.array
        for residual in code
        for access in residual.accesses
        if isinstance(residual.instruction, Store | Rmw | AsyncOperation)
    }
    for residual in code:
        loads = residual.origin is not None and isinstance(residual.instruction, Load) and constant(residual.origin)
        for access in residual.accesses if loads else ():
            if access.array in written or access.array == ANYWHERE or ANYWHERE in written:
                raise refusal(arrays.module, residual.origin, "of memory that the kernel may write is not understood")


def left_behind(program: KernelProgram, finals: Mapping[str, int]) -> dict[Array, ArrayImage]:
    """Return what a kernel leaves to the next one of its stream: what was there, with final values over it."""
    found = dict(program.launch.memory)
    for name, value in finals.items():
        array, offset, size = program.locations.cells[name]
        data = dict(found[array].data) if array in found else {}
        data |= enumerate((value % (1 << 8 * size)).to_bytes(size, "little"), offset)
        untold = dict(found[array].untold) if array in found else {}
        untold |= (
            dict.fromkeys(range(offset, offset + size), program.locations.untold[name])
            if name in program.locations.untold
            else {}
        )
        found[array] = ArrayImage(size, data, untold)
    return found


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
