"""What the benchmarks share: the time and memory of a command, or of a function in a process; and a C++ compiler.

Whoever imports this imports our packages by their names: the folder of the benchmarks, where ``oracle`` is another
thing, is not looked in any more.

Memory of a command is the sum of the resident sets of all its processes at its peak, sampled 20 times a second; pages
that processes share count once for each, so it is an upper bound. Memory of a function is its process's by Linux.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")

sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).parent.resolve()]

SYNTH = str(Path(sys.executable).with_name("synth"))


def measure(arguments: list[str]) -> tuple[float, int]:
    """Seconds and peak kilobytes of one command; its failure ends the benchmark."""
    started, peak = time.monotonic(), 0
    process = subprocess.Popen(arguments, start_new_session=True, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, _resident_kilobytes(process.pid))
        time.sleep(0.05)
    if process.returncode:
        sys.exit(f"{' '.join(arguments)}: exit code {process.returncode}")
    return time.monotonic() - started, peak


class Spent(NamedTuple):
    """What a process took: seconds of CPU, with those of the commands that it ran, and its peak memory, in 10^6 bytes,
    with what it began with; of the commands the largest alone counts.
    """

    seconds: float
    megabytes: float

    @property
    def cells(self) -> tuple[str, str]:
        """Both as cells of a table."""
        return f"{self.seconds:.1f}", f"{self.megabytes:.0f}"


def apart(work: Callable[..., Result], *arguments: object, seconds: int = 0) -> tuple[Result, Spent] | None:
    """What a function returns in a process of its own, and what that took; None where the process dies or, if so many
    ``seconds`` are given, takes longer by the clock.
    """
    context = get_context("fork")
    mine, theirs = context.Pipe()

    def measured() -> None:
        signal.alarm(seconds)
        began = time.process_time()
        result = work(*arguments)
        used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        theirs.send((result, Spent(time.process_time() - began + cpu_seconds(), max(used) / 1000)))

    process = context.Process(target=measured)
    process.start()
    theirs.close()
    try:
        found: tuple[Result, Spent] = mine.recv()
    except EOFError:
        return None
    finally:
        process.join()
    return found


def cpu_seconds() -> float:
    """What all commands have taken of processors that have ended by now, in their own code and in the system's."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compiled(source: Path, folder: Path) -> Path | None:
    """A C++ program, compiled with optimisation into a folder; none where there is no compiler."""
    compiler = next(filter(None, map(shutil.which, ("g++", "clang++", "c++"))), None)
    if compiler is None:
        return None
    program = folder / source.stem
    subprocess.run([compiler, "-O2", "-std=c++17", "-o", program, source], check=True)
    return program


def _resident_kilobytes(group: int) -> int:
    """The resident sets of a process group, added up."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if os.getpgid(int(entry.name)) == group:
                fields = dict(line.split(":", 1) for line in (entry / "status").read_text().splitlines() if ":" in line)
                total += int(fields.get("VmRSS", "0 kB").split()[0])
        except (OSError, ValueError):
            continue  # it ended while we looked
    return total
