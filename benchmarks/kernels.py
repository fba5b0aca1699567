"""What ``synth check`` takes on kernels: instructions, events, clauses, seconds and memory.

    python benchmarks/kernels.py                                          the kernels of examples/kernels
    python benchmarks/kernels.py examples/kernels/libcu/*.cu              those that need the headers of CCCL
    python benchmarks/kernels.py examples/kernels/glsl                    those in GLSL
    python benchmarks/kernels.py grid.cu --grid 3 --unroll 1 -X -Iinclude

Words are those of ``synth check``, folders among them. One process for each kernel with each launch that its file asks
for. "code" is the instructions of the kernel, "left" those of all threads that are left of it; events and clauses are
those of the executions that come to an end. "read" is seconds of CPU of compiler and reader, for a whole file, "leave"
those of specialising the kernel, "ask" those of all questions. "MB" is the peak memory of the process of the kernel, in
10^6 bytes.
"""

from __future__ import annotations

import sys
import time
from dataclasses import fields
from pathlib import Path

import measuring
from rich.console import Console
from rich.table import Table

from constraints.executions import Executions
from corpus.code.registry import format_of
from corpus.errors import InputError
from oracle.consistency import AxiomaticModel
from synth.checking.questions import check, needed
from synth.checking.sources import read_kernels
from synth.checking.tasks import KernelTask, tasks_of
from synth.checking.work import axiomatic, sources_of
from synth.commands.check import command
from synth.requests import LaunchWords

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"


COLUMNS = ("code", "left", "events", "clauses", "read", "leave", "ask", "MB")


def main() -> None:
    words = sys.argv[1:]
    if words == ["--help"]:
        sys.exit(__doc__)
    if not any(format_of(Path(word)) or Path(word).is_dir() for word in words):
        words += map(str, sorted(KERNELS.glob("*.cu")))
    parsed = command.make_context("check", words)
    options = parsed.params
    launch = LaunchWords(**{field.name: options[field.name] for field in fields(LaunchWords)})
    table = Table("kernel", "launch", *COLUMNS, "found", "progress", box=None)
    for column in table.columns[2 : 2 + len(COLUMNS)]:
        column.justify = "right"
    for source in sources_of(options["files"])[0]:
        began = cpu_seconds()
        try:
            tasks = list(tasks_of(read_kernels(source.path, options["compiler_options"]), launch))
        except InputError as error:
            print(error, file=sys.stderr)
            continue
        read = f"{cpu_seconds() - began:.2f}"
        for task in tasks:
            (model,) = axiomatic(options["models"] or [task.file.language.model])
            found = measuring.apart(asked_about, task, model, options["unroll"], options["progress"])
            names = (task.kernel.name, task.launch.text)
            if found is None:
                table.add_row(*names, "failed")
            else:
                sizes, seconds, answers = found[0]
                table.add_row(*names, *sizes, read, *seconds, found[1].cells[1], *answers)
            read = ""
    Console(width=180).print(table)


def asked_about(
    task: KernelTask, model: AxiomaticModel, unroll: int, progress: str
) -> tuple[list[str], list[str], list[str]]:
    """The sizes of what is asked about a kernel, the seconds that it takes, and the answers."""
    began = cpu_seconds()
    (program, *_) = task.programs(model.model, unroll)
    specialised = cpu_seconds()
    answers = check(program, model, task.expectation, unroll, progress)
    seconds = [f"{specialised - began:.2f}", f"{cpu_seconds() - specialised:.2f}"]
    executions = Executions(program.test, model.model, unroll)
    left = sum(len(thread.instructions) for thread in program.test.threads)
    sizes = (len(task.kernel.body or ()), left, len(executions.events), len(executions.circuit.formula.clauses))
    found = ", ".join(dict.fromkeys(finding.kind for finding in answers.findings))
    return [f"{size:,}" for size in sizes], seconds, [found or "-", needed(answers.hang)]


def cpu_seconds() -> float:
    """What this process has taken of processors by now, and the commands that it has run."""
    return time.process_time() + measuring.cpu_seconds()


if __name__ == "__main__":
    main()
