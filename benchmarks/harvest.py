"""Kernels, commands and assembly that the tests have, written down as files by running the tests.

    python benchmarks/harvest.py FOLDER [TEST FILE ..]

``benchmarks/answers.py`` records the answers about them: ``tests/FILE`` has kernels, each with its launch and what is
expected in a comment line, ``commands`` the words of ``check``, ``validate``, ``fix`` and ``convert`` with their files,
``assembly`` code with the test that it was compiled from. Of one test at most ``MOST`` of each are kept. A test may
fail: what counts is what it reads.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import answers
import pytest

MOST = 100
"""The kernels, commands and texts of assembly that are kept of one test."""

FILES = (
    *("amdgcn", "assembly", "check_command", "check_options", "check_spirv", "closed_world_of_ptx"),
    *("cuda_asynchronous", "directives_of_ptx", "effects_of_spirv", "fix_command", "instruction_tables"),
    *(
        "kernel_barriers",
        "ptx_arithmetic",
        "ptx_of_memory",
        "ptx_reader",
        "programs_of_c",
        "ptx_values",
        "read_kernels",
        "sass_reader",
    ),
    *("specialiser", "spins", "spirv_annotations", "spirv_kernels", "spirv_of_memory", "structures"),
    *("undetermined", "unrolled", "validate_command", "warps", "wgsl_kernels", "words_in_silence", "words_of_ptx"),
)
"""The files of tests/unit that read code."""

MORE = ("tests/verdicts/test_verdicts_of_c_programs.py", "tests/differential/test_random_kernels.py")

COMMANDS = ("check", "convert", "fix", "validate")

WRITING = ("-o", "--output", "--picture", "--litmus", "--known", "--format", "-v", "--help", "-h")
"""Options of commands that are left out: they write files, or change nothing that is read."""


class Harvest:
    """What the tests have read so far, each once."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder, self.test = root, folder, ""
        self.taken = Counter[tuple[str, str]]()
        self.texts: dict[int, tuple[str, bytes, Any]] = {}
        """Of a module, by its identity: how its file's name ends, its text, and itself, so that it stays."""
        self.programs: dict[int, tuple[Path, str, Any]] = {}
        """Of a residual program: the file of the kernel with its launch, its text, and itself."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.test = item.nodeid.partition("[")[0]

    def room(self, kind: str) -> bool:
        """Whether one more of a kind is kept of this test."""
        self.taken[self.test, kind] += 1
        return bool(self.test) and self.taken[self.test, kind] <= MOST

    @property
    def called(self) -> str:
        """The name of the file of the test."""
        return Path(self.test.partition("::")[0]).stem.removeprefix("test_")

    def write(self, path: Path, data: bytes) -> None:
        """Write a file, with the folders that it is in."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def kernel(self, module: Any, kernel: Any, launch: Any, program: Any) -> None:
        """Keep a kernel with its launch."""
        suffix, text, _ = self.texts.get(id(module), ("", b"", None))
        words = "" if suffix == ".c" else launch_words(kernel, launch)
        if not suffix or words is None or not self.room("kernel"):
            return
        comment = "" if suffix == ".c" else f"\n{';' if suffix == '.spvasm' else '//'} synth check: {words}"
        path = self.folder / "tests" / self.called / f"{_digest(text + comment.encode())}{suffix}"
        self.write(path, text + comment.encode() + b"\n" * bool(comment))
        self.programs[id(program)] = path, comment, program

    def expected(self, program: Any, expectation: str) -> None:
        """Keep what is expected of a program as well."""
        path, comment, _ = self.programs.get(id(program), (None, "", None))
        if path is not None and comment and expectation and "\n" not in expectation and path.is_file():
            text = path.read_bytes()
            if b"--expect" not in text.rpartition(b"\n")[2] and text.endswith(f"{comment}\n".encode()):
                path.write_bytes(text[:-1] + f" --expect {shlex.quote(expectation)}\n".encode())

    def command(self, words: Sequence[str]) -> None:
        """Keep the words of a command with its files."""
        if words[0] not in COMMANDS or any(word.split("=")[0] in WRITING for word in words):
            return
        files = [
            Path(word) for word in words[1:] if not word.startswith("-") and len(word) < 256 and Path(word).exists()
        ]
        own = [path for path in files if not path.resolve().is_relative_to(self.root)]
        if not files or any(word.startswith("/") and Path(word) not in files for word in words):
            return
        if any(path.is_dir() for path in files) or (own and len(own) < len(files)) or not self.room("command"):
            return
        key = _digest(json.dumps([list(map(str, words[:1])), *[path.read_bytes().hex() for path in files],
                                  *[word for word in words if Path(word) not in files]]).encode())  # fmt: skip
        place = Path("commands", self.called, key)
        new = {path: str(place / path.name) if own else str(path.resolve().relative_to(self.root)) for path in files}
        for path in own:
            self.write(self.folder / new[path], path.read_bytes())
        line = {"tree": not own, "words": [new.get(Path(word), word) for word in words]}
        self.write(self.folder / place / "command.json", json.dumps(line).encode())

    def assembly(self, language: str, test: Any, code: str, prefix: str) -> None:
        """Keep assembly with its test."""
        if not self.room("assembly"):
            return
        written = _text_of(test)
        if written is None:
            return
        line = {"language": language, "test": written, "code": code, "prefix": prefix}
        data = json.dumps(line).encode()
        self.write(self.folder / "assembly" / language / self.called / f"{_digest(data)}.json", data)


def _text_of(test: Any) -> str | None:
    """A litmus test in a dialect in which it is the same test when it is read again; None where there is none."""
    dialects = answers.module_of("DIALECTS")
    for dialect in dialects.DIALECTS.values():
        with suppress(Exception):  # what the dialect has no words for
            text: str = dialects.printed(test, dialect)
            if dialects.parse_litmus(text) == test:
                return text
    return None


def launch_words(kernel: Any, launch: Any) -> str | None:
    """A launch as options; None where it begins with what another kernel has left, or there are no words for it."""
    if launch.memory or launch.choices:
        return None
    words = [f"--grid {_extent(launch.grid)} --block {_extent(launch.block)} --warp {launch.warp}"]
    words += [f"--cluster {launch.cluster[0]}"] if launch.cluster != (1, 1, 1) else []
    for name, value in launch.arguments.items():
        given = _argument(value)
        if given is None:
            return None
        words.append(f"--arg {name}={given}")
    return " ".join([f"--kernel {kernel.name}", *words])


def _extent(extent: Sequence[int]) -> str:
    return "x".join(map(str, extent))


def _argument(value: Any) -> str | None:
    if isinstance(value, int):
        return str(value)
    if hasattr(value, "name"):
        return f"&{value.name}"
    if value.data is not None or (value.values and value.count not in (None, len(value.values))):
        return None
    return f"[{','.join(map(str, value.values))}]" if value.values else f"int[{value.count or 0}]"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def replace(module: Any, name: str, around: Callable[..., Any]) -> None:
    """Put a function around one of a module. Call it before other modules import that by its name."""
    before = getattr(module, name)

    def called(*words: Any, **named: Any) -> Any:
        return around(before, *words, **named)

    setattr(module, name, called)


def listen(found: Harvest) -> None:
    """Have what reads code tell of it."""
    from click.testing import CliRunner

    def read(suffix: str) -> Callable[..., Any]:
        def around(before: Callable[..., Any], text: Any, *words: Any, **named: Any) -> Any:
            module = before(text, *words, **named)
            found.texts[id(module)] = suffix, text.encode() if isinstance(text, str) else text, module
            return module

        return around

    def of_module(before: Callable[..., Any], code: Any, *more: Any) -> Any:
        read = before(code, *more)
        if code.data[:4] not in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
            found.texts[id(read.module)] = ".spvasm", code.data, read.module
        return read

    def specialised(before: Callable[..., Any], file: Any, *words: Any) -> Any:
        new = before(file, *words)
        if id(file.module) in found.texts:
            suffix, text, _ = found.texts[id(file.module)]
            found.texts[id(new[0].module)] = suffix, text, new[0].module
        return new

    def program_of(before: Callable[..., Any], module: Any, kernel: Any, launch: Any, *more: Any) -> Any:
        try:
            program = before(module, kernel, launch, *more)
        except Exception:
            found.kernel(module, kernel, launch, None)
            raise
        found.kernel(module, kernel, launch, program)
        return program

    def check(before: Callable[..., Any], program: Any, model: Any, expectation: str, *more: Any, **named: Any) -> Any:
        found.expected(program, expectation)
        return before(program, model, expectation, *more, **named)

    def assembly(before: Callable[..., Any], language: Any, text: str, test: Any, names: Any, *more: Any) -> Any:
        if names == answers.module_of("names_of").names_of(test):
            found.assembly(language.name, test, text, more[1] if len(more) > 1 else "")
        return before(language, text, test, names, *more)

    def sass(before: Callable[..., Any], text: str, layout: Any, *more: Any) -> Any:
        found.assembly("sass", layout.test, text, "")
        return before(text, layout, *more)

    def invoke(before: Callable[..., Any], runner: Any, cli: Any, args: Any = None, *more: Any, **named: Any) -> Any:
        if args and not isinstance(args, str):
            found.command(list(map(str, args)))
        return before(runner, cli, args, *more, **named)

    around: Mapping[str, Callable[..., Any]] = {
        "read_ptx": read(".ptx"),
        "read_assembly": assembly,
        "read_sass": sass,
        "program_of": program_of,
        "read": of_module,
        "specialised": specialised,
        "check": check,
    }
    for name, function in around.items():
        replace(answers.module_of(name), name, function)
    replace(CliRunner, "invoke", invoke)


def main() -> None:
    import synth

    root = Path(synth.__file__).resolve().parents[1]
    folder, *files = sys.argv[1:]
    inputs = Path(folder).resolve()
    shutil.rmtree(inputs / "commands", ignore_errors=True)
    found = Harvest(root, inputs)
    listen(found)
    wanted = files or [
        *(str(root / "tests" / "unit" / f"test_{name}.py") for name in FILES),
        *(str(root / f) for f in MORE),
    ]
    pytest.main(
        ["-q", "-x", "--maxfail=10000", "-p", "no:cacheprovider", f"--rootdir={root}", *wanted], plugins=[found]
    )


if __name__ == "__main__":
    main()
