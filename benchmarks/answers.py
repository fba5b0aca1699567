"""Every answer about code and tests, recorded, so that a change of the house is held against the answers before it.

    python benchmarks/answers.py record FOLDER                     answers.jsonl, residual.jsonl, costs.csv in a folder
    python benchmarks/answers.py record FOLDER --only 'check/ptx*'     those of one group; several --only may be given
    python benchmarks/answers.py record FOLDER --all               every item; else a fixed sample of the large groups
    python benchmarks/answers.py compare BEFORE AFTER              each difference, the slowest twenty, and the sums

Run it with the Python of the tree whose answers are wanted: it records those of the packages that are imported, so one
file records the tree before a change and the tree behind it. ``compare`` ends with 1 where an answer differs.

Names of items begin with their group: ``check/LANGUAGE`` (the command on each kernel of the examples and of the tests),
``validate/LANGUAGE`` (compiled tests, read back and judged), ``sequences`` (the machine code of AMD's GPUs beside the
tables of its code sequences) or ``label`` (examples under all models). An answer has the record that the command prints
with ``--json``, its exit code, what it says on standard error, and the residual programs by their digests. A record
with ``--only`` replaces those items of the folder and leaves the others.

Items of tests, and what compilers make of sources, lie in the folder ``kept`` beside ``FOLDER`` (or in ``--kept``).
They are gathered once, so that both trees read the same text. An item that takes more than ``--seconds`` of CPU is cut;
whether it is cut is compared, and nothing else of it. ``costs.csv`` has seconds of CPU and peak memory in 10^6 bytes.
"""

from __future__ import annotations

import argparse
import base64
import csv
import difflib
import gc
import hashlib
import importlib
import json
import os
import pkgutil
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

Answer = dict[str, Any]

HERE = Path(__file__).resolve().parent
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != HERE]  # where ``oracle`` is another thing

LANGUAGES = {
    ".c": "c",
    ".cl": "opencl",
    ".comp": "glsl",
    ".cu": "cuda",
    ".glsl": "glsl",
    ".hip": "hip",
    ".ptx": "ptx",
    ".spv": "spirv",
    ".spvasm": "spirv",
    ".wgsl": "wgsl",
}
"""What files of a suffix are called in the names of items."""

MOVED = {
    "main": ("synth.commands.cli", "synth.cli"),
    "program_of": ("corpus.code.program", "corpus.kernels.program"),
    "check_compiled": ("synth.translation.compiled",),
    "checked_record": ("synth.translation.account",),
    "DIALECTS": ("corpus.dialects.registry",),
    "read_litmus": ("corpus.dialects.registry",),
    "resolve_consistency_models": ("oracle.consistency",),
    "CODE_LANGUAGES": ("backends.code_languages",),
    "CompiledTest": ("backends.shared.readback",),
    "names_of": ("corpus.code.assembly.harness", "corpus.assembly.harness"),
    "read_ptx": ("corpus.code.ptx.reader", "corpus.kernels.ptx.reader"),
    "read_assembly": ("corpus.code.assembly.reading", "corpus.assembly.reading"),
    "read_sass": ("corpus.code.sass.reader", "backends.cuda.sass.reader"),
    "read": ("corpus.code.spirv.files",),
    "specialised": ("synth.checking.sources",),
    "check": ("synth.checking.questions",),
}
"""The modules in which a name may be, before a change and behind it: add the module to which it moves."""

SAMPLES = {"commands/*": 4, "validate/sass/*": 64, "validate/*": 16, "sequences/*": 4, "label/*": 4}
"""Of so many items of a group one is recorded without ``--all``: that whose digest says so."""

OUTPUT = "<output>"
"""What stands for a new folder in the words of a command."""

SECONDS = 20
"""Seconds of CPU after which an item is cut."""

SLOWER = 1.2
"""The factor from which on an item is called slower."""

LEAST = 0.2
"""Seconds of CPU below which no factor counts."""


@dataclass(frozen=True)
class Item:
    """What is asked: a name, and the words of a command with the folder that it runs in, or a compiled test."""

    name: str
    folder: Path
    words: tuple[str, ...] = ()
    file: str = ""
    compiler: tuple[str, int, str] | None = None

    @property
    def digest(self) -> str:
        """The digest of the text that is asked about."""
        return _digest((self.folder / self.file).read_bytes())


class Cost(NamedTuple):
    """Seconds of CPU, and the peak memory in 10^6 bytes."""

    seconds: float
    megabytes: float


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def module_of(name: str) -> Any:
    """The module that has one of the names of ``MOVED``."""
    for module in MOVED[name]:
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        if hasattr(found, name):
            return found
    return sys.exit(f"answers.py: {name} is in none of {', '.join(MOVED[name])}: name its module in MOVED")


# --- Items -----------------------------------------------------------------------------------------------------------


def items_of(root: Path, kept: Path, only: Sequence[str] = ()) -> list[Item]:
    """The items of the groups that patterns name, sorted by name: those of the examples of a tree, and of the tests."""
    inputs = kept / "inputs"
    groups: Mapping[str, Callable[[], Iterable[Item]]] = {
        "check": lambda: [*_checks(root, "examples"), *_checks(inputs, "tests")],
        "commands": lambda: _commands(root, inputs),
        "label": lambda: _labels(root),
        "read": lambda: _assembly(inputs),
        "sequences": lambda: _sequences(root),
        "validate": lambda: _validations(inputs),
    }
    wanted = [pattern.split("/")[0] for pattern in only] or ["*"]
    named = [make for group, make in groups.items() if any(fnmatchcase(group, pattern) for pattern in wanted)]
    return sorted((item for make in named for item in make()), key=lambda item: item.name)


def _checks(folder: Path, below: str) -> Iterator[Item]:
    for path in sorted((folder / below).rglob("*")):
        if path.suffix not in LANGUAGES or not path.is_file():
            continue
        file = str(path.relative_to(folder))
        options: list[str] = []
        if file.startswith("examples/kernels/library/"):
            options = _cutlass()
        if file.startswith("examples/applications/"):
            continue
        words = ("check", file, "--json", "-j", "1", "--timeout", "3600", *options)
        yield Item(f"check/{LANGUAGES[path.suffix]}/{file}", folder, words, file)


def _commands(root: Path, inputs: Path) -> Iterator[Item]:
    """The commands that tests give, with files of their own or of the examples."""
    for path in sorted((inputs / "commands").rglob("command.json")):
        given = json.loads(path.read_text(encoding="utf-8"))
        jobs = [] if given["words"][0] == "convert" else ["-j", "1"]
        name = f"commands/{given['words'][0]}/{path.parent.relative_to(inputs / 'commands')}"
        yield Item(name, root if given["tree"] else inputs, (*given["words"], *jobs), str(path))


def _assembly(inputs: Path) -> Iterator[Item]:
    """The assembly that tests have read."""
    for path in sorted((inputs / "assembly").rglob("*.json")):
        file = str(path.relative_to(inputs))
        yield Item(f"read/{file.removeprefix('assembly/').removesuffix('.json')}", inputs, (), file)


def _cutlass() -> list[str]:
    from importlib.util import find_spec

    found = find_spec("cutlass_library")
    return [] if found is None or found.origin is None else [f"-X-I{Path(found.origin).parent / 'source' / 'include'}"]


def _validations(inputs: Path) -> Iterator[Item]:
    """Each test of ``litmus`` by each compiler whose code is read back, at each of its levels."""
    for backend, compilers in module_of("CODE_LANGUAGES").TEST_COMPILERS.items():
        suites = ("c",) if backend == "cpp" else ("c", "examples")
        for number, compiler in enumerate(compilers):
            if compiler.missing():
                print(f"left out: {compiler.name}", file=sys.stderr)
                continue
            called = re.sub(r"\W+", "-", compiler.name)
            for suite in suites:
                for path in sorted((inputs / "litmus" / suite).rglob("*.litmus")):
                    file, test = str(path.relative_to(inputs)), str(path.relative_to(inputs / "litmus"))
                    for level in compiler.levels:
                        name = f"validate/{compiler.language}/{called}{level}/{test.removesuffix('.litmus')}"
                        yield Item(name, inputs, (), file, (backend, number, level))


def _sequences(root: Path) -> Iterator[Item]:
    """Each test of the examples by clang for AMD's GPUs, its code beside every table and on their machines."""
    tables = sorted(str(path.relative_to(root)) for path in (root / "examples" / "sequences").glob("*.seq"))
    options = [word for table in tables for word in ("--sequences", table)]
    for path in sorted((root / "examples" / "memory").rglob("*.litmus")):
        file = str(path.relative_to(root))
        words = ("compile", file, "--backend", "hip", "-o", OUTPUT, "--check", "-m", "amdgpu", *options)
        if path.parent.name == "amdgpu" or path.name.startswith(("c-", "cl-")):
            yield Item(f"sequences/{file}", root, words, file)


def _labels(root: Path) -> Iterator[Item]:
    """Each test of the examples under every model that can be asked of it."""
    from click.testing import CliRunner

    listed = json.loads(CliRunner().invoke(module_of("main").main, ["models", "--json"]).stdout)
    every = [word for row in listed for word in ("-m", row["name"])]
    for path in sorted((root / "examples").rglob("*")):
        if path.suffix in (".litmus", ".axb"):
            file = str(path.relative_to(root))
            models = every if path.suffix == ".litmus" else []
            yield Item(f"label/{file}", root, ("label", file, "--json", "-j", "1", "--timeout", "3600", *models), file)


def chosen(items: Sequence[Item], only: Sequence[str], everything: bool) -> list[Item]:
    """The items that are recorded: those of which a pattern of ``--only`` holds, and the sample of large groups."""
    found = [item for item in items if _holds(item.name, only)]
    return found if everything else [item for item in found if _sampled(item.name)]


def _sampled(name: str) -> bool:
    every = next((count for pattern, count in SAMPLES.items() if fnmatchcase(name, pattern)), 1)
    return int(_digest(name.encode()), 16) % every == 0


# --- Items of tests ---------------------------------------------------------------------------------------------------


def gather(root: Path, inputs: Path) -> None:
    """Write the kernels and tests that the tests of a tree have in tables, each as a file with its launch."""
    with tempfile.TemporaryDirectory(dir=inputs.parent) as scratch:
        made = Path(scratch, "inputs")
        for name, text in [*_traps(root), *_words(root), *_alike(root), *_suites(root)]:
            file = made / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        made.rename(inputs)


def _test_module(root: Path, path: str) -> Any:
    file = root / path
    sys.path[:0] = [str(root / "tests"), str(file.parent)]
    try:
        return importlib.import_module(file.stem)
    finally:
        del sys.path[:2]


def _traps(root: Path) -> Iterator[tuple[str, str]]:
    module, text = _test_module(root, "tests/unit/test_traps_of_ptx.py"), _test_module(root, "tests/ptx_text.py")
    for row in module.ROWS:
        around = row["around"].replace("; ", ";\n") + "\n"
        code = text.kernel_text(module.BEGIN[row["two"]] + row["body"], around=around)
        expected = f" --expect '{row['expect']}'" if row["expect"] else ""
        yield f"tests/traps/{row['name']}.ptx", f"{code}// synth check: {row['launch']}{expected}\n"


def _words(root: Path) -> Iterator[tuple[str, str]]:
    module = _test_module(root, "tests/verdicts/test_words_of_kernels.py")
    for row in module.TABLE:
        if row["language"] in module.SUFFIXES:
            suffix = module.SUFFIXES[row["language"]]
            comment = ";" if suffix == ".spvasm" else "//"
            text = f"{module._source(row)}\n{comment} synth check: {row['launch']}\n"
            yield f"tests/words/{row['kernel']}{suffix}", text
    for language in module.CUDA:
        rows = [row for row in module.TABLE if row["language"] == language]
        for number in range(0, len(rows), 16):
            called = "words" if language == "CUDA C++" else "as-written"
            yield f"tests/words/{called}-{number:03}.cu", module._as_one(rows[number : number + 16])


def _alike(root: Path) -> Iterator[tuple[str, str]]:
    folder = root / "tests" / "kernels_alike"
    with (folder / "kernels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for path in sorted(folder.glob("kernels.*")):
        text = path.read_text(encoding="utf-8")
        if path.suffix not in LANGUAGES or path.suffix == ".comp":
            continue
        lines = []
        for row in rows:
            if re.search(rf"\b{row['kernel']}\b", text):
                grid, _, block = row["launch"].partition("x")
                given = " ".join(f"--arg {name}={row[name]}" for name in ("data", "flags") if row[name])
                lines.append(f"// synth check: --kernel {row['kernel']} --grid {grid} --block {block} {given}\n")
        yield f"tests/alike/{path.name}", text + "".join(lines)


def _suites(root: Path) -> Iterator[tuple[str, str]]:
    """The tests of C that benchmarks/translation.py makes, and the litmus tests of the examples."""
    translation = _benchmark(root, "translation")
    dialects = module_of("DIALECTS")
    for test in translation.c_suite():
        yield f"litmus/c/{test.name}.litmus", dialects.printed(test, dialects.DIALECTS["c"])
    for path in sorted((root / "examples" / "memory").rglob("*.litmus")):
        folder = path.parent.name
        if folder not in ("amdgpu", "ptx-async"):
            suite = "c" if path.name.startswith("c-") else "examples"
            name = path.relative_to(root / "examples" / "memory")
            yield f"litmus/{suite}/examples/{name}", path.read_text(encoding="utf-8")


def _benchmark(root: Path, name: str) -> Any:
    sys.path.insert(0, str(root / "benchmarks"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = [folder for folder in sys.path if folder != str(root / "benchmarks")]


# --- Compilers, each called once for one text -------------------------------------------------------------------------


def keep_compilers(root: Path, kept: Path) -> None:
    """Have every call of a compiler answered from a folder where it was called with the same files before.

    Call it before other modules import ``run`` by its name.
    """
    toolchain: Any = importlib.import_module("backends.shared.toolchain")
    run = toolchain.run

    def once(file: Path, command: Sequence[str | Path], folder: Path | None = None, *more: Any, **named: Any) -> Any:
        call = _Call(root, file, [str(word) for word in command], folder)
        path = kept / call.key[:2] / f"{call.key}.json"
        if path.is_file():
            stored = json.loads(path.read_text(encoding="utf-8"))
            return toolchain.Compilation(file, stored["ok"], call.replay(stored))
        before = call.files()
        done = run(file, command, folder, *more, **named)
        if "took more than" not in done.output and "ended by signal" not in done.output:
            stored = {"ok": done.ok, "output": done.output, "words": call.words, **call.made(before)}
            path.parent.mkdir(parents=True, exist_ok=True)
            half = path.with_name(f"{path.name}.{os.getpid()}")
            half.write_text(json.dumps(stored), encoding="utf-8")
            half.rename(path)
        return done

    toolchain.run = once


def _named(word: str, places: Mapping[str, str]) -> str:
    for place, name in places.items():
        word = word.replace(place, name)
    return word


_PRIVATE = re.compile(r"[^\s\"'=,:]*/synth-[a-z]+-[a-z0-9_]{8}\.private")
"""A folder for temporary files, with those that it lies in."""


class _Call:
    """A call of a compiler: its key, its files, and how to give back what it made."""

    def __init__(self, root: Path, file: Path, words: Sequence[str], folder: Path | None) -> None:
        self.folder = folder
        self.paths = [Path(word) for word in words if word.startswith("/")]
        places = {sys.prefix: "<root>/.venv", str(root): "<root>"}
        self.words = [_named(_PRIVATE.sub("<private>", word), places) for word in words]
        inside = {name: _digest(data) for name, data in self.files().items() if not name.startswith("/")}
        named = [_digest(path.read_bytes()) for path in self.paths[1:] if path.is_file()]
        own = _digest(file.read_bytes()) if folder is None and file.is_file() else ""
        self.key = _digest(json.dumps([self.words, sorted(inside.items()), named, own]).encode())

    def files(self) -> dict[str, bytes]:
        """The files in the folder that the compiler works in, and those that are named by their whole path."""
        found: dict[str, bytes] = {}
        if self.folder is not None and self.folder.is_dir():
            for path in self.folder.rglob("*"):
                if path.is_file():
                    found[str(path.relative_to(self.folder))] = path.read_bytes()
        for number, path in enumerate(self.paths[1:]):
            if "synth-" in str(path) and path.is_file():
                found[f"/{number}"] = path.read_bytes()
        return found

    def made(self, before: Mapping[str, bytes]) -> dict[str, Any]:
        after = self.files()
        new = {name: data for name, data in after.items() if before.get(name) != data}
        return {
            "folder": str(self.folder or ""),
            "files": {name: base64.b64encode(data).decode() for name, data in sorted(new.items())},
        }

    def replay(self, stored: Mapping[str, Any]) -> str:
        """Write the files that the compiler made then; return what it said."""
        old, new = stored["folder"].encode(), str(self.folder or "").encode()
        for name, text in stored["files"].items():
            data = base64.b64decode(text)
            if old and len(old) == len(new):
                data = data.replace(old, new)
            path = self.paths[1 + int(name[1:])] if name.startswith("/") else Path(str(self.folder), name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        output: str = stored["output"]
        return output.replace(old.decode(), new.decode()) if old else output


# --- Residual programs -----------------------------------------------------------------------------------------------

SCRATCH = [""]
"""The folder of an item in its process; beside it, with ``.programs``, the residual programs that it comes to."""


def note_programs() -> None:
    """Have each program that is left of a kernel noted. Call it before other modules import ``program_of``."""
    module = module_of("program_of")
    program_of = module.program_of

    def noted(*words: Any, **named: Any) -> Any:
        program = program_of(*words, **named)
        if SCRATCH[0]:
            with Path(f"{SCRATCH[0]}.programs").open("a", encoding="utf-8") as file:
                file.write(json.dumps(program_text(program)) + "\n")
        return program

    module.program_of = noted


def program_text(program: Any) -> str:
    """A residual program of a kernel as text: its test with source lines, and what else is told of it."""
    lines = [f"launch {program.launch.text}", *lines_of(program.test, program.origins)]
    for what in ("assumed", "stops", "undefined", "outside", "untold", "choices"):
        parts = (program, *(getattr(program, part, None) for part in ("marks", "locations")))
        value = next(getattr(part, what) for part in parts if hasattr(part, what))
        if value:
            lines.append(f"{what}: {shown(value)}")
    return "\n".join(lines)


def lines_of(test: Any, origins: Sequence[Sequence[Any]] = ()) -> Iterator[str]:
    """A litmus test as lines, whatever dialect could say it."""
    yield f"test {test.name}"
    for location in test.locations:
        yield f"  {shown(location)}"
    for number, thread in enumerate(test.threads):
        yield f"P{number} {shown(thread.place)} {shown(thread.registers) if thread.registers else ''}".rstrip()
        for place, instruction in enumerate(thread.instructions):
            origin = origins[number][place] if origins else None
            yield f"  {'' if origin is None else f'{origin.line}: '}{shown(instruction)}"
    yield shown(test.condition)


def shown(value: object) -> str:
    """A value as text: of a dataclass what differs from its defaults, of a set what is in it by its text."""
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        parts = []
        for field in fields(value):
            own = getattr(value, field.name)
            default = field.default if field.default_factory is MISSING else field.default_factory()
            if field.name.startswith("_") or (default is not MISSING and own == default):
                continue
            parts.append(shown(own) if default is MISSING else f"{field.name}={shown(own)}")
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{shown(key)}: {shown(one)}' for key, one in value.items()))}}}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(map(shown, value)))}}}"
    return str(value)


# --- One item --------------------------------------------------------------------------------------------------------


def answered(item: Item) -> Answer:
    """The answer about an item, in this process, with its residual programs as texts."""
    os.chdir(item.folder)
    return _translated(item) if item.compiler else _commanded(item) if item.words else _read(item)


def _commanded(item: Item) -> Answer:
    """What a command prints, says and ends with."""
    from click.testing import CliRunner

    words = [SCRATCH[0] if word == OUTPUT else word for word in item.words]
    result = CliRunner().invoke(module_of("main").main, words, prog_name="synth")
    printed, complained = (_lines(text) for text in (result.stdout, result.stderr))
    answer: Answer = {"exit": result.exit_code, "stderr": complained}
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        answer["exception"] = repr(result.exception)
    try:
        answer["answers"] = [_timeless(json.loads(line)) for line in printed]
    except ValueError:
        answer["stdout"] = printed
    programs = Path(f"{SCRATCH[0]}.programs")
    if programs.exists():
        lines = programs.read_text(encoding="utf-8").splitlines()
        answer["residual"] = sorted({json.loads(line) for line in lines})
    return answer


def _read(item: Item) -> Answer:
    """The program that assembly is, or why it is not understood."""
    given = json.loads(Path(item.file).read_text(encoding="utf-8"))
    from synth.api import InputError, parse

    test = parse(given["test"])
    names = module_of("names_of").names_of(test)
    code = module_of("CompiledTest").CompiledTest(test, given["code"].encode(), names, "code", kernel=given["prefix"])
    try:
        program = module_of("CODE_LANGUAGES").CODE_LANGUAGES[given["language"]].read(code)
    except InputError as error:
        return {"problem": str(error)}
    return {"residual": ["\n".join(lines_of(program))]}


def _lines(text: str) -> list[str]:
    """What a command said, without where this tree and its environment lie."""
    return _PACKAGES.sub("<packages>", text.replace(SCRATCH[0], OUTPUT)).splitlines()


_PACKAGES = re.compile(r"/[^\s\"']*?/site-packages(?=/)")
"""The folder of the environment's packages, among them the headers of compilers."""


def _timeless(value: Any) -> Any:
    """JSON without what a clock says."""
    if isinstance(value, list):
        return [_timeless(part) for part in value]
    if isinstance(value, dict):
        return {key: _timeless(part) for key, part in value.items() if key != "seconds"}
    return value


def _translated(item: Item) -> Answer:
    """The verdict on a compiled test, and the program that is read."""
    assert item.compiler is not None
    compiled = module_of("check_compiled")
    test = module_of("read_litmus").read_litmus(Path(item.file))
    checked = compiled.check_compiled(compiled.TranslationTask(Path(item.file).stem, test, *item.compiler))
    answer: Answer = {"answers": [module_of("checked_record").checked_record(checked)]}
    if checked.after is not None:
        answer["residual"] = ["\n".join(lines_of(checked.after))]
    return answer


# --- A record --------------------------------------------------------------------------------------------------------


def ready(root: Path, kept: Path) -> None:
    """Import what items need, before they are processes of their own, and keep what compilers make."""
    keep_compilers(root, kept / "compiled")
    note_programs()
    for package in ("corpus", "oracle", "constraints", "backends", "synth"):
        for module in pkgutil.walk_packages([str(root / package)], f"{package}."):
            if not module.name.endswith("__main__"):
                with suppress(ImportError):  # what an extra brings that is not here
                    importlib.import_module(module.name)
    languages = module_of("CODE_LANGUAGES").CODE_LANGUAGES.values()
    models = {language.model for language in languages if getattr(language, "programs", None) is None}
    resolve_consistency_models = module_of("resolve_consistency_models").resolve_consistency_models
    for model in resolve_consistency_models([*models, "rc11", "c11"]):
        _ = getattr(model, "model", None)


def record(
    items: Sequence[Item], folder: Path, jobs: int, seconds: int, only: Sequence[str], everything: bool
) -> tuple[float, list[str]]:
    """Ask about items, each in a process of its own, and write them to a record, in which all other items than those of
    ``only`` stay; return the sum of seconds and what is cut.
    """
    answers: dict[str, Answer] = {}
    costs: dict[str, Cost] = {}
    programs: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="synth-answers-") as scratch:
        for item, answer, cost in _run(items, Path(scratch), jobs, seconds):
            texts = answer.pop("residual", [])
            digests = [_digest(text.encode()) for text in texts]
            programs |= dict(zip(digests, texts, strict=True))
            answers[item.name] = {"input": item.digest, **answer, **({"residual": digests} if digests else {})}
            costs[item.name] = cost
            if sys.stderr.isatty():
                print(f"\r{len(costs)} of {len(items)}", end="", file=sys.stderr)
    total, cut = (
        sum(cost.seconds for cost in costs.values()),
        [name for name, given in answers.items() if "cut" in given],
    )
    notes = {"seconds": seconds, "all": everything, "only": sorted(only)}
    if (folder / "record.json").is_file() and only:
        known = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        if (known["seconds"], known["all"]) != (seconds, everything):
            sys.exit(f"{folder}: this record was made with other --seconds or without --all: name another folder")
        answers = {name: kept for name, kept in _answers(folder).items() if not _holds(name, only)} | answers
        costs = {name: spent for name, spent in _costs(folder).items() if not _holds(name, only)} | costs
        programs = _programs(folder) | programs
        notes["only"] = sorted({*known["only"], *only}) if known["only"] else []
    used = sorted({digest for given in answers.values() for digest in given.get("residual", ())})
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "answers.jsonl", ({"item": name, **answers[name]} for name in sorted(answers)))
    _write(folder / "residual.jsonl", ({"digest": digest, "text": programs[digest]} for digest in used))
    with (folder / "costs.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("item", "seconds", "megabytes"))
        rows.writerows((name, f"{costs[name].seconds:.2f}", f"{costs[name].megabytes:.0f}") for name in sorted(costs))
    (folder / "record.json").write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
    return total, cut


def _write(path: Path, rows: Iterable[Answer]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n")


def _run(items: Sequence[Item], scratch: Path, jobs: int, seconds: int) -> Iterator[tuple[Item, Answer, Cost]]:
    """Each item in a process of its own, so many at a time; its answer and what it took."""
    waiting, running = list(reversed(items)), dict[int, tuple[Item, Path]]()
    while waiting or running:
        while waiting and len(running) < jobs:
            item = waiting.pop()
            place = scratch / _digest(item.name.encode())
            number = os.fork()
            if not number:
                _child(item, place, seconds)
            running[number] = item, place
        number, status, used = _ended(running, seconds)
        item, place = running.pop(number)
        cost = Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)
        answer: Answer = {"died": f"status {status}"}
        made = Path(f"{place}.json")
        if made.is_file():
            answer = json.loads(made.read_text(encoding="utf-8"))
        for left in scratch.glob(f"{place.name}*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        if cost.seconds >= seconds or os.WIFSIGNALED(status):
            cost = Cost(max(cost.seconds, seconds), cost.megabytes)
            answer = {"cut": f"more than {seconds} seconds of CPU"}
        yield item, answer, cost


def _ended(running: Iterable[int], seconds: int) -> tuple[int, int, resource.struct_rusage]:
    """Wait until an item comes to its end; one whose processes take too many seconds of CPU is killed."""
    looked = time.monotonic()
    while True:
        number, status, used = os.wait4(-1, os.WNOHANG)
        if number:
            return number, status, used
        time.sleep(0.01)
        if time.monotonic() - looked > 1:
            looked, spent = time.monotonic(), _seconds_of_groups()
            for group in running:
                if spent[group] >= seconds:
                    with suppress(ProcessLookupError):
                        os.killpg(group, signal.SIGKILL)


def _seconds_of_groups() -> Mapping[int, float]:
    """What the processes of each group have taken of processors by now, with those that they have waited for."""
    spent, tick = defaultdict[int, float](float), os.sysconf("SC_CLK_TCK")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parts = (entry / "stat").read_text().rpartition(")")[2].split()
                spent[int(parts[2])] += sum(map(int, parts[11:15])) / tick
    return spent


def _child(item: Item, place: Path, seconds: int) -> None:
    """Answer an item and end the process, whatever comes of it."""
    try:
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        SCRATCH[0] = str(place)
        try:
            answer = answered(item)
        except Exception as error:
            answer = {"exception": f"{type(error).__name__}: {error}"}
        half = Path(f"{place}.half")
        half.write_text(json.dumps(answer), encoding="utf-8")
        half.rename(f"{place}.json")
    finally:
        os._exit(0)


# --- A comparison ----------------------------------------------------------------------------------------------------


def compare(before: Path, after: Path, only: Sequence[str], show: int) -> int:
    """Print what differs between two records; return 1 where an answer does."""
    notes = [json.loads((folder / "record.json").read_text(encoding="utf-8")) for folder in (before, after)]
    if notes[0]["seconds"] != notes[1]["seconds"]:
        print(f"not comparable: items were cut at {notes[0]['seconds']} and {notes[1]['seconds']} seconds")
        return 2
    one, two = (_answers(folder) for folder in (before, after))
    wanted = (only, notes[0]["only"], notes[1]["only"])
    names = sorted(name for name in {*one, *two} if all(_holds(name, patterns) for patterns in wanted))
    if not (notes[0]["all"] and notes[1]["all"]):
        names = [name for name in names if _sampled(name)]
    texts = _programs(before) | _programs(after)
    found, kinds = 0, Counter[str]()
    for name in names:
        lines = list(_differences(one.get(name), two.get(name), texts))
        if lines:
            found += 1
            kinds.update({kind for kind, _ in lines})
            if found <= show:
                print(name)
                for _, line in lines:
                    print(f"    {line}")
    if found > show:
        print(f".. {found - show} more items: --show {found}")
    tally = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"{len(names)} items compared, {found} differ{f': {tally}' if tally else ''}")
    _compare_costs(before, after, names)
    return 1 if found else 0


def _holds(name: str, only: Sequence[str]) -> bool:
    """Whether one of the patterns holds of a name, or of a folder that it is in."""
    return not only or any(fnmatchcase(f"{name}/", f"{pattern.rstrip('/*')}/*") for pattern in only)


def _answers(folder: Path) -> dict[str, Answer]:
    lines = (folder / "answers.jsonl").read_text(encoding="utf-8").split("\n")
    return {row.pop("item"): row for row in map(json.loads, filter(None, lines))}


def _programs(folder: Path) -> dict[str, str]:
    lines = (folder / "residual.jsonl").read_text(encoding="utf-8").split("\n")
    return {row["digest"]: row["text"] for row in map(json.loads, filter(None, lines))}


def _differences(one: Answer | None, two: Answer | None, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each difference between two answers: of which kind it is, and a line."""
    if one is None or two is None:
        yield "missing", "only after" if one is None else "only before"
        return
    if one["input"] != two["input"]:
        yield "input", "another text was read: record both anew with one folder kept"
        return
    if "cut" in one or "cut" in two:
        if ("cut" in one) != ("cut" in two):
            yield "cut", f"cut {'before' if 'cut' in one else 'after'} only"
        return
    for path, old, new in _changes({**one, "residual": None}, {**two, "residual": None}, ()):
        yield _kind(path), f"{'.'.join(map(str, path))}: {_brief(old)} -> {_brief(new)}"
    old_programs, new_programs = one.get("residual", []), two.get("residual", [])
    if old_programs != new_programs:
        yield "residual", f"residual programs: {len(old_programs)} -> {len(new_programs)}"
        gone = [digest for digest in old_programs if digest not in new_programs]
        come = [digest for digest in new_programs if digest not in old_programs]
        for left, right in zip(gone, come, strict=False):
            lines = difflib.unified_diff(
                texts[left].splitlines(), texts[right].splitlines(), left, right, n=1, lineterm=""
            )
            for line in list(lines)[:24]:
                yield "residual", f"  {line}"


def _changes(one: Any, two: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Each place at which two values of JSON differ, with what is there."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted({*one, *two}):
            yield from _changes(one.get(key), two.get(key), (*path, key))
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for number, (old, new) in enumerate(zip(one, two, strict=True)):
            yield from _changes(old, new, (*path, number))
    elif one != two:
        yield path, one, two


KINDS = {
    "witness": "witness",
    "verdict": "verdict",
    "verdicts": "verdict",
    "answers": "verdict",
    "hang": "verdict",
    "findings": "findings",
    "assumed": "assumed",
    "problem": "error",
    "stderr": "error",
    "exit": "exit",
}
"""How differences are counted: by the first of these words that is in the path to one."""


def _kind(path: Sequence[str | int]) -> str:
    words = [part for part in path[1:] if isinstance(part, str)] or [str(path[0])]
    return next((kind for word, kind in KINDS.items() if word in words), words[0])


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}.."


def _compare_costs(before: Path, after: Path, names: Sequence[str]) -> None:
    """Print the slowest twenty items, those that are slower than before, and the sums."""
    one, two = (_costs(folder) for folder in (before, after))
    both = [name for name in names if name in one and name in two]
    slowest = sorted(both, key=lambda name: -max(one[name].seconds, two[name].seconds))
    print(f"\n{'seconds before':>14} {'after':>8} {'factor':>7} {'MB before':>10} {'after':>7}  the slowest twenty")
    for name in slowest[:20]:
        print(_cost_row(name, one[name], two[name]))
    slower = [name for name in slowest[20:] if _factor(one[name], two[name]) > SLOWER]
    if slower:
        print(f"\nof the others, {len(slower)} are slower by more than {SLOWER}:")
        for name in sorted(slower, key=lambda name: -_factor(one[name], two[name]))[:20]:
            print(_cost_row(name, one[name], two[name]))
    groups = dict[str, list[str]]()
    for name in both:
        groups.setdefault("/".join(name.split("/")[: 1 if name.startswith("label") else 2]), []).append(name)
    print("\nsums of seconds")
    for group, members in [*groups.items(), ("all", both)]:
        sums = [sum(costs[name].seconds for name in members) for costs in (one, two)]
        print(f"{sums[0]:>14.1f} {sums[1]:>8.1f} {sums[1] / max(sums[0], 0.01):>7.2f}  {group} ({len(members)})")


def _costs(folder: Path) -> dict[str, Cost]:
    with (folder / "costs.csv").open(encoding="utf-8", newline="") as file:
        return {row["item"]: Cost(float(row["seconds"]), float(row["megabytes"])) for row in csv.DictReader(file)}


def _factor(one: Cost, two: Cost) -> float:
    """How much longer the second took; 1 where both are too short to tell."""
    return 1.0 if max(one.seconds, two.seconds) < LEAST else two.seconds / max(one.seconds, 0.01)


def _cost_row(name: str, one: Cost, two: Cost) -> str:
    factor = _factor(one, two)
    mark = "  SLOWER" if factor > SLOWER else ""
    return (
        f"{one.seconds:>14.2f} {two.seconds:>8.2f} {factor:>7.2f} {one.megabytes:>10.0f} {two.megabytes:>7.0f}  "
        f"{name}{mark}"
    )


# --- The command -----------------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--only", action="append", default=[], metavar="GLOB")
    recording.add_argument("--all", action="store_true")
    recording.add_argument("--kept", type=Path)
    recording.add_argument("--seconds", type=int, default=SECONDS)
    recording.add_argument("--jobs", "-j", type=int, default=len(os.sched_getaffinity(0)))
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--only", action="append", default=[], metavar="GLOB")
    comparing.add_argument("--show", type=int, default=40, help="items whose differences are printed")
    given = parser.parse_args(words)
    if given.command == "compare":
        sys.exit(compare(given.before, given.after, given.only, given.show))
    _record(given)


def _record(given: argparse.Namespace) -> None:
    folder, started = given.folder.resolve(), time.monotonic()
    kept = (given.kept or folder.parent / "kept").resolve()
    kept.mkdir(parents=True, exist_ok=True)
    import synth

    root = Path(synth.__file__).resolve().parents[1]
    ready(root, kept)
    if not (kept / "inputs").is_dir():
        gather(root, kept / "inputs")
    gc.freeze()
    items = chosen(items_of(root, kept, given.only), given.only, given.all)
    if not items:
        sys.exit(f"answers.py: no item is called {' or '.join(given.only)}")
    total, cut = record(items, folder, given.jobs, given.seconds, given.only, given.all)
    clock = time.monotonic() - started
    print(f"{len(items)} items, {len(cut)} cut; {total:.0f} seconds of CPU, {clock:.0f} on the clock: {folder}")


if __name__ == "__main__":
    main()
