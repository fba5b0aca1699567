"""Names are data: what files and tests are called makes no tool run anything, and nothing is written elsewhere.

The names are those of ``tests/verdicts/hostile_names.csv``, each with what it would be to somebody.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from commands import in_form, synth
from schemas import read_sarif

from backends.glsl.spirv import glslang, spirv_opt
from backends.shared.process import guard
from backends.shared.toolchain import which
from corpus.errors import InputError
from corpus.files import write_atomically
from corpus.lines import LineFile
from corpus.private import private_folder

EXAMPLES = Path(__file__).parents[2] / "examples"

TABLE = Path(__file__).parents[1] / "verdicts" / "hostile_names.csv"
ROOT = Path(__file__).parents[2]
CANARY = "CANARY"
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")

LITMUS = """\
PTX t{number}
{{ x=0; y=0; }}
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1   | ld.weak r1, y  ;
 st.weak y, 1   | ld.weak r2, x  ;
exists (P1:r1 == 1 /\\ P1:r2 == 0)
"""
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
 .reg .b64 %rd<2>;
 .reg .b32 %r<2>;
 ld.param.u64 %rd1, [p];
 mov.u32 %r1, %tid.x;
 st.global.u32 [%rd1], %r1;
 ret;
}
"""
SOURCES = {
    ".cu": "__global__ void k(int *p) { p[0] = threadIdx.x; }\n",
    ".cl": "kernel void k(global int *p) { p[0] = get_local_id(0); }\n",
    ".comp": "#version 450\nlayout(local_size_x = 2) in;\nlayout(set = 0, binding = 0) buffer B { uint p[]; };\n"
    "void main() { p[0] = gl_LocalInvocationIndex; }\n",
    ".wgsl": "@group(0) @binding(0) var<storage, read_write> p: array<u32>;\n@compute @workgroup_size(2)\n"
    "fn k(@builtin(local_invocation_index) i: u32) { p[0] = i; }\n",
}
TOOLS = {".cu": ("nvcc",), ".cl": ("clang-15",), ".comp": (), ".wgsl": ()}


def names() -> list[str]:
    """The names of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row["name"].encode().decode("unicode_escape") for row in csv.DictReader(file)]


def test_there_are_enough() -> None:
    assert len(set(names())) >= 30


def test_the_tests_that_promises_name_are_there() -> None:
    promised = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("*/test_*.py")}
    assert set(re.findall(r"\btest_\w+\.py", promised)) <= files.keys()
    for name in re.findall(r"::(test_\w+)", promised):
        assert any(f"def {name}(" in text for text in files.values()), name


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, in which and around which nothing may be but what the test puts there."""
    inner = tmp_path / "around" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    yield inner
    assert not [each for each in tmp_path.rglob(f"*{CANARY}*") if each.name == CANARY]
    assert [each.name for each in inner.parent.iterdir()] == ["inner"]


def written(folder: Path, suffix: str, texts: str, chosen: list[str] | None = None) -> list[Path]:
    """A file in a folder for each name."""
    folder.mkdir()
    files = []
    for number, name in enumerate(chosen or names()):
        file = Path(os.fsdecode(os.fsencode(str(folder)) + b"/" + os.fsencode(name) + suffix.encode()))
        file.write_text(texts.replace("{number}", str(number)).replace("{{", "{").replace("}}", "}"))
        files.append(file)
    return files


def told(*words: object, codes: tuple[int, ...] = (0, 1, 2)) -> str:
    """What a command says; no control character is in it, and no traceback."""
    result = synth(*words)
    assert result.exit_code in codes, result.output
    for text in (result.stdout, result.stderr):
        assert not CONTROLS.search(text.replace("\\r\n", "")), ascii(CONTROLS.search(text))
        assert "\ntouch CANARY" not in text, text  # a line end in a name is no end of a line
    return result.stdout


@pytest.mark.parametrize("form", ["text", "csv", "json", "jsonl", "sarif", "junit", "markdown", "latex"])
def test_check_shows_names_escaped(place: Path, form: str) -> None:
    written(place / "k", ".ptx", PTX, names()[::5] if form != "csv" else None)
    said = told("check", "k", "--block", 2, *in_form(form), "-j", 1, codes=(1,))
    assert form != "sarif" or read_sarif(said)
    assert [each.name for each in place.iterdir()] == ["k"]


def test_check_goes_on_with_hostile_names(place: Path) -> None:
    written(place / "k", ".ptx", PTX)
    shown = [name for name in os.listdir("k") if not name.startswith(".")]
    asked = ["check", "k", "--block", 2, "-j", 1, "-o", "out.csv"]
    told(*asked, codes=(1,))
    whole = Path("out.csv").read_bytes()
    assert whole.count(b"\n") == len(shown) + 1
    Path("out.csv").write_bytes(whole[: len(whole) // 2])
    told(*asked, codes=(1,))
    assert Path("out.csv").read_bytes() == whole


def test_tests_with_hostile_names(place: Path) -> None:
    files = written(place / "t", ".litmus", LITMUS)
    shown = [name for name in os.listdir("t") if not name.startswith((".", "@"))]
    for form in ("csv", "json", "table"):
        told("label", "t", "-m", "sc", *in_form(form), codes=(0,))
    told("label", "t", "-m", "sc", "-o", "labels.csv", codes=(0,))
    told("label", "t", "-m", "sc", "-o", "labels.csv", codes=(0, 2))
    assert len(Path("labels.csv").read_text().splitlines()) >= len(shown) + 1
    told("convert", "t", "--to", "gpu-ptx", "-o", "converted")
    told("export", "t", "--to", "json", "-o", "exported", codes=(2,))
    told("compile", "t", "--backend", "cpp", "-o", "compiled")
    told("explain", files[0], "-m", "sc", "--picture", "e.svg", codes=(0,))
    told("fix", *(["--", *files[:2]]), codes=(2,))
    allowed = {"t", "labels.csv", "labels.csv.request.json", "converted", "exported", "compiled", "e.svg"}
    assert {each.name for each in place.iterdir()} <= allowed


MAPPING = (ROOT / "examples" / "mappings" / "rc11-to-tso-unfenced.map").read_text()


def test_what_is_written_has_hostile_names(place: Path) -> None:
    """Corpora, tables, profiles and results, each in a folder or file of such a name, and told in one line."""
    chosen = [name for name in names() if not name.startswith("-") and not name.startswith("@") and "\n" in name]
    shown = [*chosen, *names()[9:10], "a\x1b[31mb"]
    log = Path("log")
    log.write_text("")
    for number, name in enumerate(dict.fromkeys(shown)):
        out = f"out {number}{name}"
        told("memory", "--from", "sc", "--events", "2..3", "-o", out, codes=(0,))
        told("progress", "--threads", 2, "--instrs", 2, "-o", f"p{out}", codes=(0,))
        told("export", out, "--to", "litmus", "-o", f"e{out}", codes=(0,))
        told("compile", out, "--backend", "cpp", "-o", f"c{out}", codes=(0,))
        told("import", log, "--suite", out, "-o", f"i{out}")
        told("validate", f"e{out}", f"e{out}", "-j", 1)
        told("report", out, "-o", f"r{out}")
    assert all(each.name[:1] in "opecirl" for each in place.iterdir())


ODD = "a\ntouch CANARY\x1b[31m\u202eb"


def test_what_is_told_of_hostile_names_is_in_one_line(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the commands that tell the name of a folder, file or model in lines of their own."""
    told("memory", "--from", "sc", "--events", "2..3", "-o", "s", "--certify", codes=(0,))
    Path("s").rename(ODD)
    told("verify", ODD, codes=(0,))
    told("show", ODD, codes=(0,))
    told("select", ODD, "--budget", 60, "-o", f"ci{ODD}")
    told("compile", ODD, "--backend", "web", "-m", "sc", "-o", f"web{ODD}", codes=(0,))
    (Path(ODD) / "manifest.json").write_text("{")
    told("verify", ODD, codes=(1, 2))
    model = Path(f"{ODD}.cat")
    model.write_text("acyclic po | rf | co | fr as sc\n")
    Path("inner").mkdir()
    (Path("inner") / model).write_text(model.read_text())
    told("compare", model, "tso", "--events", 3)
    told("compare", model, f"inner/{model}", "--events", 2)
    told("memory", "--from", model, "--events", 2, "-o", f"m{ODD}")
    told("infer", model, "--events", 2)
    told("label", EXAMPLES / "memory" / "webgpu" / "mp-barrier.litmus", "-m", model)
    Path(f"{ODD}.map").write_text(MAPPING)
    told("map", f"{ODD}.map", "--from", model, "--to", model, "--events", 2, "-j", 1)
    monkeypatch.setenv("HOME", str(place / ODD))
    monkeypatch.setenv("XDG_DATA_HOME", str(place / ODD))
    told("completion", "bash", "--install", codes=(0, 2))
    assert all(each.name == "inner" or ODD in each.name for each in place.iterdir())


def test_files_with_hostile_names_are_read(place: Path) -> None:
    """By the commands that take no folder of tests: mappings, logs, applications, and pairs of kernels."""
    for number, file in enumerate(written(place / "m", ".map", MAPPING, names()[::26])):
        told("map", "--events", 2, "-j", 1, "-o", f"bugs{number}", "--", file)
    kernels = written(place / "k", ".ptx", PTX, names()[::17])
    for one, other in pairwise(kernels):
        told("validate", "-j", 1, "--", one, other)
    synth("memory", "--from", "sc", "--events", "2..3", "-o", "suite")
    for file in written(place / "l", "", "no log\n"):
        told("import", "--suite", "suite", "-o", "all.jsonl", "--", file)
    for number, name in enumerate(names()[::3]):
        built = ("--build", shlex.join(["true", name]), "--run", shlex.join(["true", name]))
        told("harden", "--places", 1, *built, "--runs", 1, "--rate", 0.9, "-o", f"h{number}")
    there = {"m", "k", "suite", "l", "all.jsonl"}
    assert all(each.name in there or re.fullmatch(r"(bugs|h)\d+", each.name) for each in place.iterdir())


@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin/../bin"])
def test_no_program_of_the_current_folder_is_run(place: Path, entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever PATH says: an empty entry is the current folder."""
    for folder in (place, place / "bin"):
        folder.mkdir(exist_ok=True)
        for tool in (
            "nvcc",
            "clang",
            "clang-15",
            "llvm-spirv-15",
            "g++",
            "glslangValidator",
            "naga",
            "hipcc",
            "setpriv",
        ):
            (folder / tool).write_text(f"#!/bin/sh\ntouch {place}/{CANARY}\n")
            (folder / tool).chmod(0o755)
    monkeypatch.setenv("PATH", entry)
    assert which("nvcc", "clang", "g++", "naga") is None and guard() == []
    monkeypatch.setenv("PATH", f"{entry}{os.pathsep}/usr/bin{os.pathsep}/bin")
    assert str(which("sh")) in ("/usr/bin/sh", "/bin/sh")
    (place / "k.cl").write_text(SOURCES[".cl"])
    told("check", "k.cl", "--block", 2, "-j", 1)
    told("compile", ROOT / "examples" / "progress" / "mutex.axb", "--backend", "cpp", "-o", "out", "--check")


@pytest.mark.device
def test_translations_with_hostile_names(place: Path) -> None:
    if glslang() is None or spirv_opt() is None:
        pytest.skip("no compiler")
    weak = (ROOT / "examples" / "memory" / "webgpu" / "mp-barrier.litmus").read_text()
    (place / "t").mkdir()
    for name in names()[::11]:
        Path(os.fsdecode(b"t/" + os.fsencode(name) + b".litmus")).write_text(weak)
    told("compile", "t", "--backend", "glsl", "--check-translation", "-o", "out")
    assert {each.name for each in place.iterdir()} <= {"t", "out"}


@pytest.mark.device
@pytest.mark.parametrize("suffix", SOURCES)
def test_compilers_with_hostile_names(place: Path, suffix: str) -> None:
    if not all(map(which, TOOLS[suffix])):
        pytest.skip("no compiler")
    files = written(place / "k", suffix, SOURCES[suffix], [*names()[:1], *names()[14:15], *names()[19:20]])
    result = synth("check", "k", "--block", 2, "--format", "csv", "-j", 1)
    if "needed for" in result.output:
        pytest.skip("no compiler")
    assert result.exit_code == 1 and result.stdout.count("FOUND") == len(files), result.output


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SOURCES)
def test_compilers_with_all_hostile_names(place: Path, suffix: str) -> None:
    if not all(map(which, TOOLS[suffix])):
        pytest.skip("no compiler")
    written(place / "k", suffix, SOURCES[suffix])
    shown = [name for name in os.listdir("k") if not name.startswith(".")]  # hidden files are left out
    result = synth("check", "k", "--block", 2, "--format", "csv", "-j", 2)
    if "needed for" in result.output:
        pytest.skip("no compiler")
    assert result.exit_code == 1 and result.stdout.count("FOUND") == len(shown), result.output


@pytest.mark.device
@pytest.mark.parametrize("suffix", [".cu", ".cl"])
def test_inclusions(place: Path, suffix: str) -> None:
    if not all(map(which, TOOLS[suffix])):
        pytest.skip("no compiler")
    headers = place / "$(touch CANARY)"
    headers.mkdir()
    (headers / "`touch CANARY`.h").write_text("#define INDEX 0\n#pragma once\n")
    (headers / "own.h").write_text('#include "`touch CANARY`.h"\n')
    kernel = SOURCES[suffix].replace("p[0]", "p[INDEX]")
    Path(f"k{suffix}").write_text(f"#include <own.h>\n{kernel}")
    shown = told("check", f"k{suffix}", "--block", 2, "-X", f"-I{headers}", "-j", 1, codes=(1,))
    assert f"k{suffix}:2" in shown and "synth-" not in shown

    secret = place.parent.parent / "secret"
    secret.write_text("TOPSECRET is not a type\n")
    os.mkfifo("pipe.h")
    os.symlink("loop.h", "loop.h")
    os.symlink("/dev/zero", "zero.h")
    (place / "folder.h").mkdir()
    os.symlink(secret, "link.h")
    for number, line in enumerate(
        [
            f'#include "{secret}"',
            '#include "/dev/zero"',
            '#include "pipe.h"',
            '#include "loop.h"',
            '#include "zero.h"',
            '#include "link.h"',
            '#include "folder.h"',
            '#include "../inner/../../secret"',
            '#define NAME "/etc/passwd"\n#include NAME',
            '#  /* */ include /* */ "/etc/passwd"',
            '#inc\\\nlude "/etc/passwd"',
            '%:include "/etc/passwd"',
            '// a \\\n/*\n#include "/etc/passwd"\n// */',
            '#if __has_include("pipe.h")\n#endif',
            "int x; ??/\n#include </etc/passwd>",
            '#import "/etc/passwd"',
            '#pragma GCC dependency "pipe.h"',
        ]
    ):
        file = Path(f"i{number}{suffix}")
        file.write_text(f"{line}\n{SOURCES[suffix]}")
        result = synth("check", file, "--block", 2, "-j", 1)
        assert result.exit_code == 2, (line, result.output)
        assert len(result.stderr.splitlines()) == 1
        assert "TOPSECRET" not in result.output and not re.search("['\"]root|root:", result.output)
        file.unlink()


def test_a_model_includes_nothing_of_elsewhere(place: Path) -> None:
    inner = place / "m"
    inner.mkdir()
    (place / "other.cat").write_text("acyclic po as x\n")
    os.symlink(place / "other.cat", inner / "link.cat")
    os.mkfifo(inner / "pipe.cat")
    test = ROOT / "examples" / "memory" / "mp-weak.litmus"
    for name in ("../other.cat", str(place / "other.cat"), "link.cat", "pipe.cat", "/dev/zero"):
        (inner / "m.cat").write_text(f'include "{name}"\n')
        result = synth("label", test, "-m", inner / "m.cat")
        assert result.exit_code == 2 and "m.cat:1:9: cannot include" in result.stderr


def test_a_corpus_of_elsewhere_writes_nothing_outside(place: Path) -> None:
    """Its results are a link, its tests have names that lead out, and what it has yet to write is a link."""
    victim = place / "victim"
    synth("memory", "--from", "sc", "--events", "2..3", "-o", "suite")
    suite = place / "suite"
    os.symlink("../victim", suite / "results.jsonl")
    result = synth("run", "suite", "--backend", "cpp")
    assert result.exit_code == 2 and "a link, and nothing is written elsewhere" in result.stderr
    assert not victim.exists()
    rows = [json.loads(line) for line in (suite / "tests.jsonl").read_text().splitlines()]
    outside = ["../../evil", str(place.parent / "evil"), "a/../../../evil", "..", "-rf", "@all", "|touch_CANARY"]
    for row, name in zip(rows, outside, strict=False):
        row["name"] = name
    (suite / "tests.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for words in (
        ("convert", "suite", "--to", "gpu-ptx", "-o", "a"),
        ("compile", "suite", "--backend", "cpp", "-o", "b"),
        ("export", "suite", "--to", "json", "-o", "c"),
        ("fix", "suite", "-m", "sc", "-o", "d"),
        ("label", "suite", "-m", "sc"),
        ("report", "suite", "-o", "r.html"),
    ):
        told(*words)
    assert {each.name for each in place.iterdir()} <= {"suite", "a", "b", "c", "d", "r.html"}


def test_links_are_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("safe")
    link = tmp_path / "link"
    link.symlink_to(victim)
    with pytest.raises(InputError, match="a link, and nothing is written elsewhere"):
        LineFile.open(link, "busy")
    (tmp_path / f".out.{os.getpid()}.tmp").symlink_to(victim)
    write_atomically(tmp_path / "out", ["text"])
    write_atomically(link, ["text"])
    assert victim.read_text() == "safe" and link.read_text() == "text" and not link.is_symlink()


def test_a_temporary_folder_that_a_shell_would_obey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = tmp_path / "$(touch CANARY)"
    hostile.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(hostile))
    with private_folder("tool") as folder:
        assert "$" not in str(folder)


def test_no_module_of_the_current_folder_is_run(place: Path) -> None:
    """Python would look for Dask in the folder that a command is started in."""
    for name in ("dask", "synth", "corpus", "multiprocessing", "matplotlib"):
        Path(f"{name}.py").write_text(f'open("{CANARY}", "w")\n')
    test = ROOT / "examples" / "memory" / "mp-weak.litmus"
    assert synth("label", test, "-m", "sc", "--jobs", "local").exit_code == 0


def test_no_settings_of_the_current_folder_count(place: Path) -> None:
    Path("matplotlibrc").write_text("text.usetex: True\nfont.size: 40\n")
    code = "from synth.drawing.plotting import plot_svg; print(plot_svg(lambda f: f.text(0, 0, 'x'), (1, 1), {}))"
    made = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        capture_output=True,
        check=True,
    )
    assert "font-size: 9px" in made.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("memory", "--from", "sc", "--events", "2"),
        ("memory", "--edges", "PodWR Fre"),
        ("progress", "--threads", "2", "--instrs", "2"),
        ("compile", EXAMPLES / "progress" / "mutex.axb", "--backend", "opencl"),
        ("export", EXAMPLES / "memory" / "mp-weak.litmus", "--to", "dartagnan-ptx"),
        ("export", EXAMPLES / "progress" / "mutex.axb", "--to", "axb"),
    ],
)
def test_the_name_of_an_output_is_shown_escaped(place: Path, words: tuple[object, ...]) -> None:
    result = synth(*words, "-o", place / "a\nsynth: b")
    assert result.exit_code == 0 and r"a\nsynth: b" in result.output and "\nsynth: b" not in result.output
