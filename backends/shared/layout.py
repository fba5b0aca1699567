"""Places the threads and instances of a memory test in a launch. It provokes weak outcomes there.

Sources: Alglave et al. 2015, sections 4.2 and 4.3 (the incantations); Sorensen and Donaldson 2016, section 3 (where and
how to stress); Levine et al. 2023, section 4.1 (MC Mutants: the parallel testing environment), with the parameters of
WebGPU's conformance suite, which adopted it (gpuweb/cts, ``shader/execution/memory_model``).

A launch runs many instances of a test at once. Each has its own copy of the locations, so that instances meet in
caches and never in a word. The scope tree of the test is kept:

- a work-group plays one CTA of the test, for ``slots`` instances; a *block* is the instances that one work-group of
  each CTA plays together, and there are ``blocks`` of them. A work-group plays ``passes`` blocks, one after the other:
  where a device runs few work-groups at once, those that live longer meet more often;
- in the work-group, local ids are warp first, then slot, then lane: ``(warp * slots + slot) * lanes + lane``. The slots
  are a multiple of 32, the lanes a power of two, so threads of different warps of a CTA are in different warps
  of a device with warps of up to 32, and threads of one warp in the same one;
- threads on different GPUs, or in different queues, cannot be in one launch and are refused;
- CTAs of a cluster of PTX are neighbours, and each cluster has as many: CTAs that play nothing fill up smaller ones.
  Such a launch is ``interleaved``, without ``rotate``, ``stripe`` and ``scatter``, and ``stress`` is whole clusters.

A device with warps of 64 splits as well with 64 slots.

*Thread randomisation* (4.3.3). Threads of one instance that walk the instances in step would always meet at the same
distance in time. So with ``shuffle_blocks`` the order of the blocks is permuted in each launch, and with ``shuffle``
the slots are, by a permutation for each warp of the test: ``x -> (x * odd + offset) mod n``, a bijection as ``n`` is a
power of two. The keys come from ``seed``, which is the number of the iteration: a run repeats. With ``vary``, the
number of work-groups for stress is another one in each launch, half of them at least.

*The parallel environment* (MC Mutants). All threads of a launch play instances, as many instances as there are threads.

- ``rotate``: a thread plays another role in each pass, and in as many passes as the test has roles all of them, each in
  another instance: the CTA moves on in each pass, the warp after all CTAs, the lane after all warps.
- ``stripe``: the slots of a work-group meet slots of different work-groups. A slot of the second CTA is in the instance
  that a work-group further on plays, ``1 + slot % (turns - 1)`` further; one of the third CTA twice as far.
- ``scatter``: which work-groups meet is another choice in each launch. In all of them it is the same pass.
- ``permute_locations``: the locations of an instance are not neighbours: location k of instance i is where location k
  of instance ``PERMUTED(i)`` would be, by a factor of its own, which for the second location is 419. With a small
  ``stride``, instances share cache lines.

Example: MP between two CTAs, 65,536 instances, 256 slots, 2 passes, so 128 turns. Work-group 0 plays the writer of
instances 0 to 255 in its first pass, and the reader of as many others in its second; the readers of the first are in
work-groups 1 to 127 of the other role.

*Synchronisation* (4.3.4). With ``spin``, the threads of an instance count themselves in before the test and wait for
the others. No device promises that they run at once, and none must hang: in a whole launch, a thread looks ``spin``
times for the others and then waits no more. A device that runs the threads of a work-group one after the other needs
``shuffle`` off to meet here.

*Memory stress* (4.3.1). ``stress`` further work-groups, placed as if they played CTAs of the test, make the accesses
of ``sequence`` to a scratch area, ``stress_rounds`` times. Where, is for ``spread`` to say (2016, 3.4): a thread stays
at one of so many locations, each the first word of a region of ``patch`` words, of which there are ``regions`` from
``offset`` on; the regions are others in each launch. With a ``spread`` of 0, threads move all over the area, by what
they load. The threads of the test do as much before it in each pass, ``stress_before`` times; what they do before a
pass is after the one before.

*General bank conflicts* (4.3.2). Threads of a warp do the same to words that are apart: slots of one instance and the
next. With ``conflicts`` these are all in one of ``BANKS`` banks in every other block, and in a bank each in the others;
the strides are raised to make room.

*Cells*. A location is a word. Where a test has asynchronous operations of PTX, it is the first word of a cell as large
as what they copy, a multiple of 16 bytes that begins at such an address (PTX ISA 9.1, 9.7.9.25.4.1, ``cp.async.bulk``);
the words of a cell are equal at the start. Cells have no bank conflicts.

All of it is expressions that every language shares, over unsigned numbers of 32 bits: those below, and the
constants of ``Layout.constants``. Gap: in 4.3.2 other threads of a warp only make noise; here they are threads of other
instances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from backends.shared.profiles import DEFAULT, Profile
from corpus.errors import InputError
from corpus.litmus.instructions import AsyncOperation, is_asynchronous
from corpus.litmus.locations import Loc, Location, Region, element_of
from corpus.litmus.normal import terms
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import has_clusters

WARP = 32
"""Threads of a warp: the slots are a multiple of it."""

BANKS = 32
"""Banks of memory, each a word wide: of shared memory on NVIDIA's and AMD's GPUs. Slots are a multiple of them."""

CACHE_LINE = 16
"""Words of a cache line of most CPUs: there, the distance of locations."""

GROUP_SIZE = 256
"""Threads of a work-group on a device that is no CPU, as in WebGPU's conformance suite; WebGPU has no more."""

LOCATION_KEY = 209
"""Permutes the instances of second locations by 2 * 209 + 1 = 419, the prime of WebGPU's conformance suite."""

EXPRESSIONS: Mapping[str, str] = {
    "role": "group / CTA_STEP % ROLES",
    "turn": "group / TURN_STEP % TURNS",
    "cta": "(role + ROTATE * nth) % CTAS",
    "warp": "cta * WARPS + (item / (LANES * SLOTS) + ROTATE * (nth / CTAS)) % WARPS",
    "lane": "(item + ROTATE * (nth / (CTAS * WARPS))) % LANES",
    "slot": "PERMUTED(item / LANES % SLOTS, SLOTS, SHUFFLE * (seed + 13u * warp))",
    "instance": "INSTANCE(turn, nth, cta, slot, seed)",
    "position": "warp * LANES + lane",
}
"""In this order, from ``group`` and ``item`` (ids of the work-group and in it), ``nth`` (of the passes) and ``seed``;
the first two do not depend on ``nth``. ``role`` numbers the work-groups that meet: first those that play CTAs of the
test, and then those for stress, for which the rest does not count. ``cta`` numbers the CTAs of the test, ``warp`` the
places for warps of the whole test, ``position`` those for threads."""

STRESSER = "turn * STRESS + role - CTAS"
"""The number of a work-group for stress, from ``turn`` and ``role``."""

WORKING = "STRESSERS - VARY * (((seed + 1u) * 2654435761u) >> 16u) % (STRESSERS / 2u + 1u)"
"""The number of work-groups for stress that are at work in a launch."""

SPOT = "OFFSET + PERMUTED(number % SPREAD, REGIONS, seed) * PATCH"
"""The word of the scratch area at which a thread for stress stays, from its ``number``."""

MACROS: Mapping[str, str] = {
    "PERMUTED(x, n, key)": "(((x) * (2u * (key) + 1u) + 11u * (key)) & ((n) - 1u))",
    "MET(turn, cta, s, seed)": "((PERMUTED(turn, TURNS, SCATTER * ((seed) + 7u * (cta)))"
    " + STRIPE * (cta) * (1u + (s) % STRIPES)) & (TURNS - 1u))",
    "INSTANCE(turn, nth, cta, s, seed)": (
        "(PERMUTED(MET(turn, cta, s, seed) * PASSES + (nth), BLOCKS, SHUFFLE_BLOCKS * (seed)) * SLOTS + (s))"
    ),
    "BANK(b, s)": f"(CONFLICTS * ((b) & 1u) * ((s) & {BANKS - 1}u))",
    "CELL(i, location)": f"(PERMUTED(i, INSTANCES, PERMUTE_LOCATIONS * {LOCATION_KEY}u * (location)))",
    "ADDRESS(i, location)": "((CELL(i, location) * GLOBALS + (location)) * STRIDE + BANK((i) / SLOTS, i))",
    "SHARED_ADDRESS(b, s, location)": "(((s) * SHAREDS + (location)) * SHARED_STRIDE + BANK(b, s))",
    "RESULT(i, term)": "((term) * INSTANCES + (i))",
}
"""The permutation; the turn whose work-groups slot ``s`` of a work-group meets, and its instance; where instance ``i``
has a global location, slot ``s`` in pass ``b`` of its work-group a shared one, and instance ``i`` the final value of a
term; all are counted from 0, in words of 32 bits."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a launch of a memory test, which the docstring of this module explains.

    ``instances``: rounded up to whole blocks, the blocks to a power of two. ``slots``: a power of two, 32 or more.
    ``passes``: a power of two; no more than there are blocks.
    ``stride`` and ``shared_stride``: words from one location to the next. ``interleaved``: work-groups of a block
    are neighbours, so that they run at the same time on a device that starts work-groups in order; else all those of
    the first CTA come first, which is what a device needs that gives each of its threads a run of work-groups.
    ``regions``: a power of two. ``sequence``: words ``ld`` and ``st``.
    ``iterations``: launches, of a program that cannot be told their number when it is run.
    """

    instances: int = 1 << 14
    slots: int = WARP
    passes: int = 1
    stride: int = 32
    shared_stride: int = 1
    interleaved: bool = True
    shuffle: bool = True
    shuffle_blocks: bool = True
    scatter: bool = False
    stripe: bool = False
    rotate: bool = False
    permute_locations: bool = False
    conflicts: bool = False
    spin: int = 0
    stress: int = 0
    stress_rounds: int = 256
    stress_before: int = 0
    vary: bool = False
    sequence: str = "st ld"
    spread: int = 0
    patch: int = 64
    regions: int = 64
    offset: int = 0
    iterations: int = 20


CPU = Parameters(stride=CACHE_LINE, shuffle=False, spin=1 << 17, stress_rounds=1 << 14)
"""The first parameters of a launch on a device that is a CPU (``cpu_parameters``): there a thread runs to its end
before the next one starts, so stress takes more rounds.
"""


GPU = Parameters(stride=4, stripe=True, rotate=True, permute_locations=True, spin=1 << 10)
"""The first parameters of a launch on a device that is no CPU (``gpu_parameters``): the parallel environment, with the
parameters of WebGPU's conformance suite. Its threads wait, as there, for at most 1,024 looks.
"""


def chosen(parameters: Parameters, profile: Profile) -> Parameters:
    """Return a device's own parameters, replaced by those that a profile chooses; the number of instances is not
    replaced.
    """
    return replace(parameters, **{**profile.chosen, "instances": parameters.instances})


def cpu_parameters(test: LitmusTest, instances: int, profile: Profile = DEFAULT, iterations: int = 20) -> Parameters:
    """Return the parameters for a device that is a CPU, each of whose threads runs a run of work-groups, item after
    item.

    A work-group for each CTA plays all blocks. Threads of one CTA never run at the same time, so only those of
    different CTAs wait for each other.
    """
    own = replace(
        CPU,
        instances=instances,
        passes=_power(max(1, -(-instances // (profile.slots or WARP)))),
        spin=CPU.spin if _shape(test).breadth > 1 else 0,
        iterations=iterations,
    )
    return chosen(own, profile)


def gpu_parameters(test: LitmusTest, instances: int, profile: Profile = DEFAULT, iterations: int = 20) -> Parameters:
    """Return the parameters for every other device: the parallel environment, in which each thread plays every role,
    one in each pass.

    Work-groups are smaller than ``GROUP_SIZE`` threads where instances are few. Raises ``InputError`` where the scope
    tree is not within one launch.
    """
    shape = _shape(test)
    passes = _power(shape.breadth * shape.warps * shape.lanes)
    slots = min(GROUP_SIZE // (shape.warps * shape.lanes), _power(-(-instances // passes)))
    own = replace(
        GPU,
        instances=instances,
        slots=max(WARP, 1 << (slots.bit_length() - 1)),
        passes=passes,
        iterations=iterations,
    )
    return chosen(own, profile)


def device_layout(test: LitmusTest, instances: int, profile: Profile, is_cpu: bool) -> Layout:
    """Return the layout of a test on a device, a CPU or another; what the profile chooses is so on both.

    Raises ``InputError`` where the scope tree is not within one launch, where slots, passes or regions are no power of
    two, where stress would be outside the scratch area, and where memory would need 2 GiB or more.
    """
    return place(test, (cpu_parameters if is_cpu else gpu_parameters)(test, instances, profile))


@dataclass(frozen=True)
class Layout:
    """The layout of a test in a launch; it is made by ``place``.

    ``positions`` has the position of each thread (see ``EXPRESSIONS``), ``ctas`` the CTA of each, both from 0;
    ``warps`` is the number of warps of a CTA, of the largest, and ``lanes`` that of threads of a warp, of the largest
    and rounded up to a power of two. ``cluster`` is the number of CTAs that are launched together, CTAs 0 to
    ``cluster - 1`` and so on; ``cell`` is the number of words of a location. ``bare``: the program does nothing to
    shared memory that the test does not do, neither before it nor after it (``single``).
    """

    test: LitmusTest
    parameters: Parameters
    positions: tuple[int, ...]
    ctas: tuple[int, ...]
    warps: int
    lanes: int
    cluster: int = 1
    cell: int = 1
    bare: bool = False

    @property
    def blocks(self) -> int:
        """The number of blocks of instances, a power of two."""
        return max(_power(-(-self.parameters.instances // self.parameters.slots)), self.parameters.passes)

    @property
    def turns(self) -> int:
        """The number of work-groups for each CTA of the test, a power of two."""
        return self.blocks // self.parameters.passes

    @property
    def instances(self) -> int:
        """The number of instances of the test in a launch."""
        return self.blocks * self.parameters.slots

    @property
    def counted(self) -> int:
        """The number of threads that a barrier counts for each thread of the test: whole warps, as PTX has it."""
        return max(self.parameters.slots, WARP)

    @property
    def roles(self) -> int:
        """The number of work-groups that run together: one for each CTA of the test, then those for stress."""
        return self.breadth + self.parameters.stress

    @property
    def breadth(self) -> int:
        """The number of CTAs of the test, those that fill up clusters included."""
        return -(-(max(self.ctas) + 1) // self.cluster) * self.cluster

    @property
    def groups(self) -> int:
        """The number of work-groups in a launch, those for stress included."""
        return self.roles * self.turns

    @property
    def group_size(self) -> int:
        """The number of threads in a work-group of the launch."""
        return self.warps * self.lanes * self.parameters.slots

    @cached_property
    def globals(self) -> tuple[Location, ...]:
        """The locations in global memory; the number of one in this order is its place in memory."""
        return tuple(location for location in self.test.locations if location.region is Region.GLOBAL)

    @cached_property
    def shareds(self) -> tuple[Location, ...]:
        """The locations in shared memory; the number of one in this order is its place in shared memory."""
        return tuple(location for location in self.test.locations if location.region is Region.SHARED)

    @property
    def stride(self) -> int:
        """The number of words from one global location to the next."""
        return self._apart(self.parameters.stride)

    @property
    def shared_stride(self) -> int:
        """The number of words from one shared location to the next."""
        return self._apart(self.parameters.shared_stride)

    def _apart(self, stride: int) -> int:
        unit = BANKS if self._conflicts else self.cell
        return -(-stride // unit) * unit

    @property
    def _conflicts(self) -> bool:
        return self.parameters.conflicts and self.cell == 1

    @property
    def counters(self) -> int:
        """The index in memory of the first of ``instances`` counters, for synchronisation, which follow the
        locations.
        """
        return self.instances * len(self.globals) * self.stride

    @property
    def scratch(self) -> int:
        """The index of the scratch area for stress, which is ``SCRATCH_WORDS`` long."""
        return self.counters + self.instances

    @property
    def words(self) -> int:
        """The size of global memory in 32-bit words: locations, counters, scratch area."""
        return self.scratch + SCRATCH_WORDS

    @property
    def shared_words(self) -> int:
        """The size of a work-group's shared memory in 32-bit words, 1 at least, for no language has empty arrays."""
        return max(1, self.parameters.slots * len(self.shareds) * self.shared_stride)

    @cached_property
    def terms(self) -> tuple[FinalRegister | Loc, ...]:
        """The terms whose final values make an outcome: registers and locations that the condition mentions."""
        return outcome_terms(self.test)

    @property
    def result_words(self) -> int:
        """The size of the results, one word a term and instance; 1 at least."""
        return max(1, len(self.terms) * self.instances)

    @property
    def histogram_words(self) -> int:
        """The size of the histogram: two counters, then ``ROWS`` rows."""
        return HISTOGRAM_HEADER + ROWS * self.row_words

    @property
    def row_words(self) -> int:
        """The size of a row: its owner (an instance, from 1), its count, a value for each term."""
        return 2 + len(self.terms)

    @property
    def constants(self) -> dict[str, int]:
        """The names that ``EXPRESSIONS`` and the kernels use, with their values."""
        return {
            "THREADS": len(self.test.threads),
            "CTAS": self.breadth,
            "ROLES": self.roles,
            "WARPS": self.warps,
            "LANES": self.lanes,
            "SLOTS": self.parameters.slots,
            "BLOCKS": self.blocks,
            "PASSES": self.parameters.passes,
            "TURNS": self.turns,
            "INSTANCES": self.instances,
            "CTA_STEP": 1 if self.parameters.interleaved else self.turns,
            "TURN_STEP": self.roles if self.parameters.interleaved else 1,
            "SHUFFLE": int(self.parameters.shuffle),
            "SHUFFLE_BLOCKS": int(self.parameters.shuffle_blocks),
            "SCATTER": int(self.parameters.scatter),
            "STRIPE": int(self.parameters.stripe),
            "STRIPES": max(1, self.turns - 1),
            "PERMUTE_LOCATIONS": int(self.parameters.permute_locations),
            "ROTATE": int(self.parameters.rotate),
            "CONFLICTS": int(self._conflicts),
            "GROUPS": self.groups,
            "GROUP_SIZE": self.group_size,
            "GLOBALS": len(self.globals),
            "SHAREDS": len(self.shareds),
            "STRIDE": self.stride,
            "SHARED_STRIDE": self.shared_stride,
            "SHARED_WORDS": self.shared_words,
            "COUNTERS": self.counters,
            "SPIN": self.parameters.spin,
            "SCRATCH": self.scratch,
            "SCRATCH_WORDS": SCRATCH_WORDS,
            "STRESS": self.parameters.stress,
            "STRESSERS": self.parameters.stress * self.turns,
            "STRESS_ROUNDS": self.parameters.stress_rounds,
            "STRESS_BEFORE": self.parameters.stress_before,
            "VARY": int(self.parameters.vary),
            "SPREAD": self.parameters.spread,
            "PATCH": self.parameters.patch,
            "REGIONS": self.parameters.regions,
            "OFFSET": self.parameters.offset,
            "WORDS": self.words,
            "TERMS": len(self.terms),
            "RESULT_WORDS": self.result_words,
            "ROWS": ROWS,
            "ROW_WORDS": self.row_words,
            "HISTOGRAM_WORDS": self.histogram_words,
        }


SCRATCH_WORDS = 1 << 14
"""Size of the scratch area, a power of two: 64 KiB, more than a first-level cache."""

ROWS = 256
"""Different outcomes that one launch can count, a power of two; an instance with one more is counted as other."""

HISTOGRAM_HEADER = 2
"""Words before the rows: instances whose outcome satisfies the condition, instances with an outcome that has no row."""


def outcome_terms(test: LitmusTest) -> tuple[FinalRegister | Loc, ...]:
    """Return the terms that an outcome of a test is made of, which the condition mentions, in the order of their
    mention.
    """
    return tuple(dict.fromkeys(term for term in terms(test.condition) if not isinstance(term, int)))


def place(test: LitmusTest, parameters: Parameters | None = None) -> Layout:
    """Return the layout of a test in a launch with these parameters.

    Raises ``InputError`` where the scope tree is not within one launch, where slots, passes or regions are no power of
    two, where stress would be outside the scratch area, and where memory would need 2 GiB or more.
    """
    parameters = parameters or Parameters()
    if parameters.slots % WARP or parameters.slots != _power(parameters.slots):
        raise InputError(f"slots: expected a power of two, {WARP} or more, found {parameters.slots}")
    if parameters.passes < 1 or parameters.passes != _power(parameters.passes):
        raise InputError(f"passes: expected a power of two, found {parameters.passes}")
    if min(parameters.instances, parameters.stride, parameters.shared_stride) < 1:
        raise InputError("instances and strides: expected 1 or more")
    if min(parameters.regions, parameters.patch) < 1 or parameters.regions != _power(parameters.regions):
        raise InputError(f"regions: expected a power of two, found {parameters.regions}; patch: expected 1 or more")
    if not 0 <= parameters.spread <= parameters.regions:
        raise InputError(f"spread: expected at most the number of regions, {parameters.regions}")
    if parameters.offset + (parameters.regions - 1) * parameters.patch >= SCRATCH_WORDS:
        raise InputError(f"offset, regions and patch: expected all regions to begin within {SCRATCH_WORDS} words")
    if not parameters.sequence.split() or set(parameters.sequence.split()) - {"ld", "st"}:
        raise InputError(f"sequence: expected words ld and st, found '{parameters.sequence}'")
    for location in test.locations:
        if element_of(location.name)[1]:
            raise InputError(f"{location.name}: elements of arrays are apart from each other in a launch")
    shape = _shape(test)
    if shape.cluster > 1:
        stress = -(-parameters.stress // shape.cluster) * shape.cluster
        parameters = replace(parameters, stress=stress, interleaved=True, rotate=False, stripe=False, scatter=False)
    layout = Layout(test, parameters, shape.positions, shape.ctas, shape.warps, shape.lanes, shape.cluster, _cell(test))
    if 4 * max(layout.words, layout.result_words) >= 1 << 31:
        raise InputError(f"{layout.instances} instances need 2 GiB or more: ask for fewer")
    return layout


def single(test: LitmusTest) -> Layout:
    """Return the layout of one instance of a test: thread k of a CTA is thread k of a work-group, and location k is
    word k of its memory.

    This is for a program that is compiled and read, and never run: it has no initial values in shared memory, and
    lanes of other warps would share a warp. Raises ``InputError`` as ``place`` does.
    """
    plain = Parameters(instances=1, stride=1, shuffle=False, shuffle_blocks=False, iterations=1)
    layout = place(test, plain)
    return replace(layout, parameters=replace(layout.parameters, slots=1), bare=True)


def _cell(test: LitmusTest) -> int:
    """The words of a location."""
    code = [ins for ins in test.instructions if is_asynchronous(ins)]
    copied = (ins.count for ins in code if isinstance(ins, AsyncOperation) and isinstance(ins.count, int))
    return max([4, *(-(-size // 16) * 4 for size in copied)]) if code else 1


@dataclass(frozen=True, slots=True)
class _Shape:
    """The scope tree of a test within a launch: of each thread its position and its CTA (``Layout``); how many CTAs
    (``breadth``), warps in the largest CTA, lanes in the largest warp, a power of two, and CTAs in a cluster.
    """

    positions: tuple[int, ...]
    ctas: tuple[int, ...]
    warps: int
    lanes: int
    cluster: int

    @property
    def breadth(self) -> int:
        return max(self.ctas) + 1


def _shape(test: LitmusTest) -> _Shape:
    """Raises ``InputError`` where the scope tree is not within one launch."""
    places = [thread.place for thread in test.threads]
    clusters = has_clusters(test.threads)
    for number, other in enumerate(places):
        if not other.shares(places[0], Scope.GPU if clusters else Scope.QUEUE):
            level = "queues" if other.shares(places[0], Scope.GPU) else "GPUs"
            raise InputError(f"P0 and P{number} are on different {level}, and one launch runs on one")
    ctas = _numbered([place[: Scope.CTA.value] for place in places])
    cluster = 1
    if clusters:
        own = _numbered([place[: Scope.QUEUE.value] for place in places])
        inside = [sorted({cta for cta, other in zip(ctas, own, strict=True) if other == cluster}) for cluster in own]
        cluster = max(map(len, inside))
        ctas = [number * cluster + mates.index(cta) for number, mates, cta in zip(own, inside, ctas, strict=True)]
    members = [
        [place for place, owner in zip(places, ctas, strict=True) if owner == cta] for cta in range(max(ctas) + 1)
    ]
    own_warps = [dict(zip(group, _numbered(group), strict=True)) for group in members]
    warps = [own_warps[cta][place] for place, cta in zip(places, ctas, strict=True)]
    lanes = [places[:number].count(place) for number, place in enumerate(places)]
    widest = _power(max(lanes) + 1)
    tallest = max(warps) + 1
    if widest > WARP:
        raise InputError(f"{max(lanes) + 1} threads in one warp: expected at most {WARP}")
    positions = [(cta * tallest + warp) * widest + lane for cta, warp, lane in zip(ctas, warps, lanes, strict=True)]
    return _Shape(tuple(positions), tuple(ctas), tallest, widest, cluster)


def _numbered(groups: Sequence[tuple[int, ...]]) -> list[int]:
    """The groups numbered from 0 by first mention."""
    numbers: dict[tuple[int, ...], int] = {}
    return [numbers.setdefault(group, len(numbers)) for group in groups]


def _power(number: int) -> int:
    """The smallest power of two that is not smaller."""
    return 1 << (number - 1).bit_length()
