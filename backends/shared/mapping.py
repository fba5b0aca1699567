"""Which work-group runs which thread of which instance of a test (Sorensen et al. 2021, section 6.1).

Work-groups hold one thread each. *Plain* launches the N threads of one instance. *Round-robin* and *chunked* launch M
instances at once, as scheduler stress: round-robin keeps the threads of an instance side by side, chunked puts M
copies of thread 0 before M copies of thread 1, and so on. All three keep the order of thread ids within an instance.

Every instance owns its locations, and every location its own line of memory, so that instances meet in the scheduler
only, never in a cache line.

Gap: mixed or random mappings, which section 6.3.3 suggests for tests whose hang needs two threads to run side by side
while a third starves.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus.errors import InputError
from corpus.progress.axb import Program

GROUPS = 65_535
"""Work-groups that every Vulkan device takes in one dimension; on a GPU, round-robin and chunked fill them (6.2)."""

STRIDE = 32
"""32-bit words from one location to the next: 128 bytes, a GPU's cache line and two of a CPU's."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping as two expressions, valid in every C-like language, over the unsigned ``group`` and the constants
    ``THREADS`` (N) and ``INSTANCES`` (M)."""

    name: str
    instance: str
    thread: str


MAPPINGS: dict[str, Mapping] = {
    mapping.name: mapping
    for mapping in (
        Mapping("plain", "0u", "group"),
        Mapping("round-robin", "group / THREADS", "group % THREADS"),
        Mapping("chunked", "group % INSTANCES", "group / INSTANCES"),
    )
}


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch: a program, a mapping and the number of instances. Made by ``launch``."""

    program: Program
    mapping: Mapping
    instances: int

    @property
    def threads(self) -> int:
        """Threads of the test, N."""
        return len(self.program.threads)

    @property
    def groups(self) -> int:
        """Work-groups launched, N * M."""
        return self.threads * self.instances

    @property
    def finished(self) -> int:
        """Index, in 32-bit words, of the cell to which each thread adds its program counter when it has ended."""
        return self.instances * self.program.locations * STRIDE

    @property
    def words(self) -> int:
        """Size of the memory in 32-bit words: a line a location and instance, and one for ``finished``."""
        return self.finished + STRIDE


def launch(program: Program, mapping: str = "plain", instances: int | None = None, groups: int = GROUPS) -> Launch:
    """The launch of ``program`` under the mapping of that name.

    ``instances`` is M; ``None`` is as many as ``groups`` work-groups hold, and one at least. Plain always has one.
    Raises ``InputError`` for an unknown mapping, for fewer than one instance, for a value that needs more than 32
    bits, and for a memory of 2 GiB or more.
    """
    if mapping not in MAPPINGS:
        raise InputError(f"unknown mapping '{mapping}': expected {', '.join(MAPPINGS)}")
    if mapping == "plain":
        instances = 1
    elif instances is None:
        instances = max(1, groups // len(program.threads))
    elif instances < 1:
        raise InputError(f"instances: expected 1 or more, found {instances}")
    if program.values > 1 << 32:
        raise InputError(f"value {program.values - 1} does not fit 32 bits")
    result = Launch(program, MAPPINGS[mapping], instances)
    if result.words * 4 >= 1 << 31:
        raise InputError(f"{instances} instances of {program.locations} locations need 2 GiB or more: ask for fewer")
    return result
