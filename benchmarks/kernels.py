"""What ``synth check`` takes on kernels: instructions, events, clauses, seconds and memory.

    python benchmarks/kernels.py                                          the kernels of examples/kernels
    python benchmarks/kernels.py examples/kernels/libcu/*.cu              those that need the headers of CCCL
    python benchmarks/kernels.py grid.cu --grid 3 --unroll 1 -X -Iinclude

Words are those of ``synth check``. In one process, but for nvcc; each kernel with each launch that its file asks for.
"PTX" is the instructions of the kernel, "left" those of all threads that are left of it; events and clauses are those
of the executions that come to an end. "read" is seconds of CPU of nvcc and of reading, for a whole file, "leave" those
of specialising the kernel, "ask" those of all questions. Memory is the largest so far, in 10^6 bytes.
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import fields
from pathlib import Path

import measuring
from rich.console import Console
from rich.table import Table

from constraints.executions import Executions
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from synth.checking.questions import check, needed
from synth.checking.sources import read_kernels
from synth.checking.tasks import tasks_of
from synth.commands.check import command
from synth.options.launch import LaunchWords

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"


def main() -> None:
    words = sys.argv[1:]
    if words == ["--help"]:
        sys.exit(__doc__)
    if not any(Path(word).suffix in (".cu", ".ptx") for word in words):
        words += map(str, sorted(KERNELS.glob("*.cu")))
    asked = command.make_context("check", words)
    options = asked.params
    launch = LaunchWords(**{each.name: options[each.name] for each in fields(LaunchWords)})
    (model,) = resolve_consistency_models(options["models"])
    assert isinstance(model, AxiomaticModel)
    columns = ("PTX", "left", "events", "clauses", "read", "leave", "ask", "MB")
    table = Table("kernel", "launch", *columns, "found", "progress", box=None)
    for column in table.columns[2 : 2 + len(columns)]:
        column.justify = "right"
    with asked:
        for path in options["files"]:
            began = cpu_seconds()
            file = read_kernels(path, options["compiler_options"])
            read = f"{cpu_seconds() - began:.2f}"
            for task in tasks_of(file, launch):
                began = cpu_seconds()
                (program, *_) = task.programs(model.model, options["unroll"])
                specialised = cpu_seconds()
                answers = check(program, model, task.expectation, options["unroll"], options["progress"])
                seconds = [f"{specialised - began:.2f}", f"{cpu_seconds() - specialised:.2f}"]
                executions = Executions(program.test, model.model, options["unroll"])
                left = sum(len(thread.instructions) for thread in program.test.threads)
                sizes = (len(task.kernel.body or ()), left, len(executions.events))
                clauses = len(executions.circuit.formula.clauses)
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
                found = ", ".join(dict.fromkeys(each.kind for each in answers.findings))
                numbers = (*map(str, sizes), f"{clauses:,}", read, *seconds, f"{memory:.0f}")
                table.add_row(task.kernel.name, task.launch.text, *numbers, found or "-", needed(answers.hang))
                read = ""
    Console(width=180).print(table)


def cpu_seconds() -> float:
    """What this process has taken of processors by now, and the commands that it has run."""
    return time.process_time() + measuring.cpu_seconds()


if __name__ == "__main__":
    main()
