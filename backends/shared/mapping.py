"""Maps each thread of a launch to a thread of an instance of a test. Source: Sorensen et al. 2021, section 6.1.

A *placement* says at which level of the device the threads of an instance are apart. On each level other schedulers
are at work, which may be fair in other ways:

- ``device``, the published one: each thread has a work-group to itself, which the device schedules as it likes;
- ``workgroup``: an instance is in one work-group, where each thread is the first of ``WAVE`` local ids, so in a
  subgroup (warp, wavefront) of its own; the other ids do nothing. No subgroup of a desktop GPU is wider than 64;
- ``subgroup``: the threads of an instance are neighbours in one subgroup, and go in lock step where lanes do. A
  work-group has at most ``LANES`` threads then, and few devices have subgroups that are narrower (SwiftShader: 4).

Only local ids are used, so no language needs subgroup operations. That neighbouring local ids share a subgroup is what
devices do with work-groups of one dimension; the languages do not promise it.

A *mapping* orders the threads of the instances that share a *block*: the whole launch at device level, else a
work-group, which holds as many instances as its 4 (workgroup) or 8 (subgroup) seats have room for, one at least.
*Plain* is one instance. *Round-robin* keeps the threads of an instance side by side. *Chunked* puts all copies of
thread 0 before those of thread 1, and so on. All three keep the order of thread ids within an instance. M instances
are launched at once, as scheduler stress. At workgroup level, from three threads on, a block is one instance, and
round-robin and chunked are one mapping.

Every instance owns its locations, and every location its own line of memory, so that instances meet in the scheduler
only, never in a cache line.

Gap: mixed or random mappings, which section 6.3.3 suggests for tests whose hang needs two threads to run side by side
while a third starves; threads of one instance on several levels at once, as a program with places may have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.errors import InputError
from corpus.hierarchy import Places, apart, in_order
from corpus.progress.axb import Program, placed

GROUPS = 65_535
"""Work-groups that every Vulkan device takes in one dimension; on a GPU, round-robin and chunked fill them (6.2)."""

STRIDE = 32
"""32-bit words from one location to the next: 128 bytes, a GPU's cache line and two of a CPU's."""


WAVE = 64
"""Local ids from one thread of a test to the next where each is to be in a subgroup of its own."""

LANES = 8
"""Lanes that every subgroup is taken to have."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping as two expressions, valid in every C-like language, over the unsigned number ``{seat}`` of a thread in
    its block, the number ``{instances}`` of instances in it, and the constant ``THREADS`` (N)."""

    name: str
    instance: str
    thread: str


MAPPINGS: dict[str, Mapping] = {
    mapping.name: mapping
    for mapping in (
        Mapping("plain", "0u", "{seat}"),
        Mapping("round-robin", "{seat} / THREADS", "{seat} % THREADS"),
        Mapping("chunked", "{seat} % {instances}", "{seat} / {instances}"),
    )
}


@dataclass(frozen=True, slots=True)
class Placement:
    """A placement: the ``seats`` of a work-group, at which threads of the test sit, ``apart`` local ids from one to the
    next. An instance may have more threads than there are seats only where ``grows``."""

    name: str
    seats: int
    apart: int
    grows: bool

    def places(self, threads: int) -> Places:
        """The places of an instance's threads in the execution hierarchy: each in a workgroup of its own, in a subgroup
        of its own, or all in one subgroup."""
        if self.seats == 1:
            return apart(threads)
        return tuple((0, 0, 0, thread if self.apart == WAVE else 0) for thread in range(threads))


DEVICE = Placement("device", 1, 1, True)

PLACEMENTS: dict[str, Placement] = {
    placement.name: placement
    for placement in (DEVICE, Placement("workgroup", 4, WAVE, True), Placement("subgroup", LANES, 1, False))
}


def placements_of(program: Program, names: Sequence[str]) -> tuple[str, ...]:
    """Return the placements in which a program may be launched: those of ``names``, or for a program that places its
    threads itself the one that does so, if there is one."""
    if not program.places:
        return tuple(names)
    own = in_order(program.places)
    return tuple(name for name, placement in PLACEMENTS.items() if placement.places(len(program.threads)) == own)


def in_placement(program: Program, placement: str) -> Program:
    """Return a program as it is launched: with the places that a placement gives its threads, unless it has its own."""
    if program.places or placement not in PLACEMENTS:
        return program
    return placed(program, PLACEMENTS[placement].places(len(program.threads)))


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch of a kernel: a program, a mapping, the number of instances and their placement. It is made by
    ``launch``.
    """

    program: Program
    mapping: Mapping
    instances: int
    placement: Placement = DEVICE

    @property
    def name(self) -> str:
        """The name of the mapping, and of the placement where it is not the published one: ``round-robin``,
        ``plain.subgroup``.
        """
        return self.mapping.name if self.placement == DEVICE else f"{self.mapping.name}.{self.placement.name}"

    @property
    def threads(self) -> int:
        """The number of threads of the test, N."""
        return len(self.program.threads)

    @property
    def together(self) -> int:
        """The number of instances that share a work-group, which is 1 at device level, where none do."""
        return max(1, min(self.instances, self.placement.seats // self.threads))

    @property
    def groups(self) -> int:
        """The number of work-groups launched: at device level N * M."""
        if self.placement == DEVICE:
            return self.threads * self.instances
        return -(-self.instances // self.together)

    @property
    def group_size(self) -> int:
        """The number of threads of a work-group, of which one in ``placement.apart`` plays a thread of the test."""
        return 1 if self.placement == DEVICE else self.together * self.threads * self.placement.apart

    @property
    def instance(self) -> str:
        """The number of a thread's instance, an expression over the unsigned ``group``, and within work-groups
        ``seat``, and the names of ``constants``.
        """
        if self.placement == DEVICE:
            return self.mapping.instance.format(seat="group", instances="INSTANCES")
        return f"group * TOGETHER + {self.mapping.instance.format(seat='seat', instances='TOGETHER')}"

    @property
    def thread(self) -> str:
        """The number of the thread of the instance that a thread plays, an expression over the names that ``instance``
        uses.
        """
        if self.placement == DEVICE:
            return self.mapping.thread.format(seat="group", instances="INSTANCES")
        return self.mapping.thread.format(seat="seat", instances="TOGETHER")

    @property
    def constants(self) -> dict[str, int]:
        """The sizes of the launch by the names that kernels and hosts use; those of work-groups where they have more
        than one thread."""
        sizes = {
            "THREADS": self.threads,
            "INSTANCES": self.instances,
            "LOCATIONS": self.program.locations,
            "STRIDE": STRIDE,
            "SIZE": self.program.size,
        }
        if self.placement == DEVICE:
            return sizes
        groups = {"GROUPS": self.groups, "GROUP_SIZE": self.group_size}
        return sizes | groups | {"TOGETHER": self.together, "APART": self.placement.apart}

    @property
    def finished(self) -> int:
        """The index, in 32-bit words, of the cell to which each thread adds its program counter when it has ended."""
        return self.instances * self.program.locations * STRIDE

    @property
    def words(self) -> int:
        """The size of the memory in 32-bit words: a line a location and instance, and one for ``finished``."""
        return self.finished + STRIDE


def launch(
    program: Program,
    mapping: str = "plain",
    instances: int | None = None,
    groups: int = GROUPS,
    placement: str = DEVICE.name,
) -> Launch:
    """Return the launch of ``program`` under the mapping and the placement of these names.

    ``instances`` is M; ``None`` is as many as ``groups`` work-groups hold at device level, and one at least, whatever
    the placement. Plain always has one. Raises ``InputError`` for an unknown mapping or placement, for fewer than one
    instance, for more threads than a subgroup has lanes, for a value that needs more than 32 bits, and for a memory of
    2 GiB or more.
    """
    if mapping not in MAPPINGS:
        raise InputError(f"unknown mapping '{mapping}': expected {', '.join(MAPPINGS)}")
    if placement not in PLACEMENTS:
        raise InputError(f"unknown placement '{placement}': expected {', '.join(PLACEMENTS)}")
    level = PLACEMENTS[placement]
    if program.places and placement not in placements_of(program, ()):
        raise InputError(f"the program places its threads in other groups than the placement '{placement}' does")
    if len(program.threads) > level.seats and not level.grows:
        raise InputError(f"{len(program.threads)} threads in one {placement}: expected at most {level.seats}")
    if mapping == "plain":
        instances = 1
    elif instances is None:
        instances = max(1, groups // len(program.threads))
    elif instances < 1:
        raise InputError(f"instances: expected 1 or more, found {instances}")
    if program.values > 1 << 32:
        raise InputError(f"value {program.values - 1} does not fit 32 bits")
    result = Launch(program, MAPPINGS[mapping], instances, level)
    if result.words * 4 >= 1 << 31:
        raise InputError(f"{instances} instances of {program.locations} locations need 2 GiB or more: ask for fewer")
    return result
