"""Random programs on machines: what memory they leave there is held against what ``check`` allows.

OpenCL C runs on PoCL, GLSL on the first device of Vulkan (lavapipe, where there is no GPU). CUDA C++ is held against
what PoCL makes of the same program in OpenCL C. A program is compiled
twice, by the machine's compiler for the machine and by ``check``'s for its reader.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from random_programs import CUDA, GLSL, OPENCL, Language, Program, random_program

from constraints.witnesses import ExecutionSearch
from corpus.code.launch.launch import ArrayArgument
from corpus.code.program import KernelProgram
from corpus.code.refusals import NotUnderstoodError
from corpus.errors import InputError
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import Atom, conjunction
from oracle.executions.steps import TooManyError
from synth.checking.compilers import compiled
from synth.checking.questions import flagging
from synth.checking.sources import KernelFile, kernels_of, read_kernels
from synth.checking.tasks import KernelTask, tasks_of
from synth.requests import read_launch

HOST = Path(__file__).with_name("machine_host.py")
MACHINES = {"opencl": OPENCL, "vulkan": GLSL}
"""The machines, by the words of their host, and their languages."""

UNROLL = 2


class Seen(NamedTuple):
    """A program on a machine: its seed, what the comparison came to, and why."""

    seed: str
    answer: str
    """``agreed``, ``difference``; ``not understood`` and ``unknown`` as ``check`` answers, ``not read`` where it has an
    error, and ``no memory`` where the machine has.
    """
    why: str = ""


def seen_on(machine: str, seeds: Sequence[str], common: bool = False, timeout: float = 300) -> Iterator[Seen]:
    """Compare the programs of seeds with what a machine makes of them; those of one compilation together.

    ``common``: the programs have only what all languages have.
    """
    language = MACHINES[machine]
    names = [_name(language, number) for number in range(len(seeds))]
    programs = {seed: random_program(seed, language, common, name) for seed, name in zip(seeds, names, strict=True)}
    with TemporaryDirectory() as folder:
        files = dict(_read(programs, language, Path(folder)))
        memories = dict(_run(machine, programs, files, dict(zip(seeds, names, strict=True)), timeout))
    for name, (seed, program) in zip(names, programs.items(), strict=True):
        file, _ = files[seed]
        if isinstance(file, str):
            yield Seen(seed, "not read", file)
        elif isinstance(memories[seed], str):
            yield Seen(seed, "no memory", memories[seed])
        else:
            yield Seen(seed, *compared(task_of(file, program, name), program, memories[seed]))


def seen_of_cuda(seeds: Sequence[str], timeout: float = 300) -> Iterator[Seen]:
    """Compare programs in CUDA C++ with what PoCL makes of the same programs in OpenCL C."""
    names = dict(zip(seeds, (_name(CUDA, number) for number in range(len(seeds))), strict=True))
    programs = {seed: random_program(seed, CUDA, True, name) for seed, name in names.items()}
    run = {seed: random_program(seed, OPENCL, True, name) for seed, name in names.items()}
    with TemporaryDirectory() as folder:
        files = dict(_read(programs, CUDA, Path(folder)))
        memories = dict(_run("opencl", run, {}, names, timeout))
    for seed, program in programs.items():
        assert run[seed].arrays == program.arrays
        file, _ = files[seed]
        if isinstance(file, str):
            yield Seen(seed, "not read", file)
        elif isinstance(memories[seed], str):
            yield Seen(seed, "no memory", memories[seed])
        else:
            yield Seen(seed, *compared(task_of(file, program, names[seed]), program, memories[seed]))


def _name(language: Language, number: int) -> str:
    return "main" if language is GLSL else f"k{number}"


def _read(programs: dict[str, Program], language: Language, folder: Path) -> Iterator[tuple[str, Any]]:
    """The files that programs are read as, each with its code for a machine, or why there is none."""
    if language is not GLSL:
        path = folder / f"all{language.suffix}"
        path.write_text("".join(each.text for each in programs.values()), encoding="utf-8")
        try:
            file: KernelFile | str = read_kernels(path)
        except InputError as error:
            file = str(error)
        yield from ((seed, (file, None)) for seed in programs)
        return
    for number, (seed, program) in enumerate(programs.items()):
        path = folder / f"{number}.comp"
        path.write_text(program.text, encoding="utf-8")
        try:
            code, names = compiled(path, ())
            yield seed, (kernels_of(code, path, program.text, names), code)
        except InputError as error:
            yield seed, (str(error), None)


def task_of(file: KernelFile, program: Program, name: str) -> KernelTask:
    """The question about a program, with the bytes of its arrays."""
    launch = read_launch([f"--grid={program.blocks}", f"--block={program.threads}", f"--kernel={name}"])
    task = next(each for each in tasks_of(file, launch) if each.kernel.name == name)
    given = {each.name: ArrayArgument((), None, each.kind.bits // 8, each.data) for each in program.arrays}
    return replace(task, launch=replace(task.launch, arguments=given))


def _run(
    machine: str, programs: dict[str, Program], files: dict[str, Any], names: dict[str, str], timeout: float
) -> Iterator[tuple[str, Any]]:
    """The memory that each program leaves on a machine, or why there is none."""
    batches: list[tuple[dict[str, Any], list[str]]] = []
    if MACHINES[machine] is GLSL:
        for seed, program in programs.items():
            code = files[seed][1]
            if code is None:
                yield seed, "not compiled"
                continue
            text = base64.b64encode(code).decode()
            batches.append(({"code": text, "kernels": [_kernel(program, "main")]}, [seed]))
    else:
        text = "".join(each.text for each in programs.values())
        kernels = [_kernel(each, names[seed]) for seed, each in programs.items()]
        batches.append(({"code": text, "kernels": kernels}, list(programs)))
    asked = "".join(json.dumps(batch) + "\n" for batch, _ in batches)
    try:
        command = [sys.executable, str(HOST), machine]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=timeout)
        lines, said = done.stdout.splitlines(), done.stderr[-500:] or f"exit code {done.returncode}"
    except subprocess.TimeoutExpired as error:
        lines, said = (error.stdout or b"").decode().splitlines(), f"no answer in {timeout} s"
    if len(programs) > 1 and len(lines) < len(batches):  # something is wrong with one of them
        every = list(programs.items())
        for half in (dict(every[: len(every) // 2]), dict(every[len(every) // 2 :])):
            yield from _run(machine, half, files, names, timeout)
        return
    for number, (_, seeds) in enumerate(batches):
        answer = json.loads(lines[number]) if number < len(lines) else {"problem": said}
        for place, seed in enumerate(seeds):
            if "problem" in answer:
                yield seed, answer["problem"]
            else:
                yield seed, [bytes.fromhex(each) for each in answer["memory"][place]]


def _kernel(program: Program, name: str) -> dict[str, Any]:
    arrays = [each.data.hex() for each in program.arrays]
    return {"name": name, "blocks": program.blocks, "threads": program.threads, "arrays": arrays}


def compared(task: KernelTask, program: Program, memory: Sequence[bytes]) -> tuple[str, str]:
    """What ``check`` says of the memory that a machine has left: the answer, and why."""
    model = flagging(task.file.language.model)
    assert model is not None
    try:
        (left,) = task.programs(model, UNROLL)
        if left.mixed:
            return "not understood", f"accesses of several sizes: {left.mixed[0].array}"
        return _asked(left, model, program, memory)
    except NotUnderstoodError as error:
        return "not understood", str(error).split(": ", 1)[-1]
    except TooManyError as error:
        return "unknown", error.message


def exact(left: KernelProgram, program: Program, memory: Sequence[bytes]) -> tuple[dict[str, int], str]:
    """The final values of locations as a machine has them, and what it has changed that no location is for, or ""."""
    finals: dict[str, int] = {}
    covered: dict[str, set[int]] = {}
    images = {each.name: data for each, data in zip(program.arrays, memory, strict=True)}
    for name in left.lasting:
        array, offset, size = left.locations.cells[name]
        own = array.name
        if own in images:
            finals[name] = int.from_bytes(images[own][offset : offset + size], "little", signed=True)
            covered.setdefault(own, set()).update(range(offset, offset + size))
    for each in program.arrays:
        for at, (before, after) in enumerate(zip(each.data, images[each.name], strict=True)):
            if before != after and at not in covered.get(each.name, ()):
                return finals, f"{each.name} at byte {at} changes, and nothing accesses it"
    return finals, ""


def _asked(left: KernelProgram, model: Any, program: Program, memory: Sequence[bytes]) -> tuple[str, str]:
    finals, wrong = exact(left, program, memory)
    if wrong:
        return "difference", wrong
    if why := next((left.locations.untold[name] for name in finals if name in left.locations.untold), None):
        return "unknown", f"{why}: nothing tells its value"
    terms = tuple(map(Loc, finals))
    test = replace(left.test, condition=replace(left.test.condition, observed=terms))
    search = ExecutionSearch(test, model, UNROLL)
    same = search.satisfied(conjunction(Atom("eq", term, finals[term.name]) for term in terms))
    if search.cut:
        return "unknown", "loops go on"
    if search.find([same]) is None:
        any_execution = search.find([])
        if any_execution is None:
            return "difference", "no execution"
        differs = {
            name: (value, any_execution.finals[Loc(name)])
            for name, value in finals.items()
            if any_execution.finals[Loc(name)] != value
        }
        return "difference", f"machine and one of the executions allowed: {differs}"
    if not program.few and search.find([~same]) is not None:
        return "difference", "another outcome is allowed as well"
    for name, flag in search.flags.items():
        if "race" in name and search.find([flag]) is not None:
            return "difference", f"{name} where there is none"
    return "agreed", "; ".join(left.assumed)
