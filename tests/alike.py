"""The small kernels of ``tests/kernels_alike``, each in several languages: their answers and final states.

``kernels.csv`` has for each kernel a launch (``2x1``: two blocks of one thread; ``1x2x2``: a block of two rows of two),
arguments, the final states that sequential consistency allows (``data=11 12 result=2 11 | ..``: elements from 0 on),
and what is found under the language's own model. The states are those of every language: names are the source's.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from backends.shared.toolchain import which
from constraints.circuit import Literal
from constraints.witnesses import ExecutionSearch
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import Atom, conjunction
from corpus.litmus.ptx_arithmetic import signed
from corpus.private import private_folder
from oracle.cat.interpreter import Model
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from synth.checking.questions import CheckAnswer, check
from synth.checking.sources import KernelFile, kernels_of, read_kernels
from synth.checking.tasks import KernelTask, tasks_of
from synth.requests import LaunchWords

HERE = Path(__file__).parent / "kernels_alike"
FILES = {
    "CUDA C++": "kernels.cu",
    "OpenCL C": "kernels.cl",
    "GLSL": "kernels.comp",
    "WGSL": "kernels.wgsl",
    "HIP": "kernels.hip",
}
TEXTS = {**FILES, "HIP": FILES["CUDA C++"]}
MOST_STATES, UNROLL = 16, 4
_OURS = re.compile(r"argument::(data|flags|result)\[\d+\]")

with (HERE / "kernels.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))

State = frozenset[tuple[str, int]]
"""Elements that are not 0, with their values: ``{("result[0]", 5)}``."""


def has(language: str, kernel: str) -> bool:
    """Return whether a kernel is written in a language."""
    return re.search(rf"\b{kernel}\b", (HERE / TEXTS[language]).read_text(encoding="utf-8")) is not None


@cache
def _read(path: Path, options: tuple[str, ...]) -> KernelFile:
    if path.suffix == ".wgsl" and not which("naga", "tint"):
        return kernels_of(_made_of_wgsl(path)[options[0]], path, path.read_text(encoding="utf-8"))
    return read_kernels(path, options)


@cache
def _made_of_wgsl(path: Path) -> Mapping[str, bytes]:
    """Return the SPIR-V of all entry points of a file, by one process: wgpu takes more than a second to begin."""
    entries = re.findall(r"@compute.*?\bfn (\w+)", path.read_text(encoding="utf-8"), re.DOTALL)
    with private_folder("codes") as folder:
        script = (
            "import pathlib, sys; from backends.wgsl.naga import codes_of; file, folder, *entries = sys.argv[1:]\n"
            "for entry, code in zip(entries, codes_of(pathlib.Path(file).read_text(), entries)):\n"
            "    pathlib.Path(folder, entry).write_bytes(code)"
        )
        subprocess.run([sys.executable, "-c", script, path, folder, *entries], cwd=HERE.parents[1], check=True)
        return {entry: (folder / entry).read_bytes() for entry in entries}


def task(language: str, row: Mapping[str, str]) -> KernelTask:
    """Return the kernel of a row in a language, with its launch."""
    grid, block = row["launch"].split("x", 1)
    width, _, rows = block.partition("x")
    options = {
        "GLSL": (f"-D{row['kernel']}", f"-DBLOCK={width}", f"-DROWS={rows or 1}"),
        "WGSL": (row["kernel"],),
    }
    file = _read(HERE / FILES[language], options.get(language, ()))
    arguments = tuple(f"{name}={row[name]}" for name in ("data", "flags") if row[name])
    kernel = "main" if language == "GLSL" else row["kernel"]
    words = LaunchWords(kernel, (), grid, block, None, 32, arguments, "")
    (found,) = (each for each in tasks_of(file, words) if each.kernel.name == kernel)
    return found


@cache
def model(name: str) -> AxiomaticModel:
    """Return a model that ships."""
    (found,) = resolve_consistency_models([name])
    assert isinstance(found, AxiomaticModel)
    return found


def states(found: KernelTask, under: Model, ours: re.Pattern[str] = _OURS) -> set[State]:
    """Return the final states that a model allows, of elements of ``data``, ``flags`` and ``result``, or of others."""
    every: set[State] = set()
    for program in found.programs(under, UNROLL):
        cells = {Loc(name): f"{array}[{at // size}]" for name, (array, at, size) in program.locations.cells.items()}
        places = {place: name for place, name in cells.items() if place.name in program.lasting and ours.match(name)}
        test = replace(program.test, condition=replace(program.test.condition, observed=tuple(places)))
        search = ExecutionSearch(test, under, UNROLL)
        others: list[Literal] = []
        while (execution := search.find(others)) is not None and len(every) <= MOST_STATES:
            finals = {place: value for place in places if isinstance(value := execution.finals[place], int)}
            every.add(
                frozenset(
                    (places[place].removeprefix("argument::"), signed(value, 32))
                    for place, value in finals.items()
                    if value
                )
            )
            others.append(~search.satisfied(conjunction([Atom("eq", *pair) for pair in finals.items()])))
    return every


def expected_states(row: Mapping[str, str]) -> set[State]:
    """Return the states of a row: ``data=1 2 result=0 3`` as the elements that are not 0."""
    return {frozenset(_elements(text)) for text in row["states"].split("|")}


def _elements(text: str) -> Sequence[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for name, values in re.findall(r"(\w+)=((?:-?\d+ ?)+)", text):
        found += [(f"{name}[{n}]", int(value)) for n, value in enumerate(values.split()) if int(value)]
    return found


def only(found: set[State], wanted: set[State]) -> set[State]:
    """Return states, of which the arrays count that the wanted ones speak of."""
    arrays = {name.partition("[")[0] for state in wanted for name, _ in state}
    return {frozenset(pair for pair in state if pair[0].partition("[")[0] in arrays) for state in found}


def answers(found: KernelTask) -> tuple[set[str], set[str]]:
    """Return the kinds of what is found under the language's own model, and those of what is not known."""
    own = model(found.file.model)
    kinds: set[str] = set()
    unknown: set[str] = set()
    for program in found.programs(own.model, UNROLL):
        told = check(program, own, "", UNROLL, "fair")
        kinds |= {each.kind for each in told.findings}
        unknown |= {name for name, answer in told.answers.items() if answer is CheckAnswer.UNKNOWN}
    return kinds, unknown
