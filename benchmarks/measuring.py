"""What the benchmarks share: the time and the memory of a command, all its processes included, and a C++ compiler.

Whoever imports this imports our packages by their names: the folder of the benchmarks, where ``oracle`` is another
thing, is not looked in any more.

Memory is the sum of the resident sets at its peak, sampled 20 times a second; pages that processes share count once for
each, so it is an upper bound.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

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
