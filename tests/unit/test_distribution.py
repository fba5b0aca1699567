"""The wheel alone: what is in it, what it takes to install, and what it does without any extra."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import partial
from pathlib import Path

import pytest
from absent import absent
from commands import synth
from indexes import UV, uv_environment
from tour import PAGES, Ran, walk

from corpus import extras
from corpus.errors import InputError
from synth import VERSION

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = ROOT / ".ci" / "versions.lock"
PYTHONS = [each.rpartition(" ")[2] for each in PROJECT["classifiers"]]
MOST_MEGABYTES = 150
FOLDERS = ("backends", "constraints", "corpus", "oracle", "synth")

COMMANDS = """\
synth --version
synth progress --threads 2 --instrs 3 -o suite
synth show suite
synth label examples/progress/mutex.axb
synth label examples/memory/mp-weak.litmus --method sat
synth explain examples/progress/mutex.axb --model hsa-weak
synth explain examples/memory/mp-weak.litmus -m ptx-6.0 -m tso
synth select suite --separate-models -o handful
synth compile suite --backend cuda -o cuda
synth memory --from sc --events 2..3 -o sc
synth export sc --to herd-c -o herd
synth convert examples/memory/mp-acq-rel.litmus --to gpu-ptx
synth fix examples/memory/mp-weak.litmus -m rc11 -m ptx-6.0
synth models
synth devices
"""
WANTING = {
    "synth explain examples/progress/mutex.axb --model hsa-weak --picture mutex.svg": "report",
    "synth label examples/memory/mp-weak.litmus --method smt": "smt",
    "synth progress --threads 2 --instrs 2 --solver z3 -o z3": "smt",
    "synth show suite --picture suite.pdf": "report",
}
"""Commands that need an extra, and which."""


def ran(command: list[str | Path], where: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in uv_environment().items() if key != "PYTHONPATH"} | environment
    return subprocess.run(list(map(str, command)), cwd=where, env=kept, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as ``make dist`` does, by way of the source distribution, from the files that git has."""
    folder = tmp_path_factory.mktemp("source")
    files = ran(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).stdout.split("\0")
    for name in filter(None, files):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    done = ran([sys.executable, "-m", "build", "--outdir", "dist"], folder)
    assert done.returncode == 0, done.stderr
    assert len(list((folder / "dist").glob("*.tar.gz"))) == 1
    (built,) = (folder / "dist").glob("*.whl")
    return built


def interpreter(version: str) -> str | Path:
    """That of these tests, one of pyenv's, which its shims do not show, or what uv finds by the version."""
    if version == ".".join(map(str, sys.version_info[:2])):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    return next(iter(sorted(pyenv.glob(f"{version}.*/bin/python"))), version)


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
def test_the_wheel_alone_in_an_empty_environment(wheel: Path, python: str, tmp_path: Path) -> None:
    place, here = tmp_path / "environment", tmp_path / "here"
    here.mkdir()
    made = ran([*UV, "venv", "--quiet", "--python", interpreter(python), place], tmp_path)
    if made.returncode:
        absent(f"no Python {python} here")
    binaries = place / "bin"
    install = [*UV, "pip", "install", "--quiet", "--compile-bytecode", "--only-binary", ":all:", "--constraint", LOCK]
    done = ran([*install, "--python", binaries / "python", wheel], tmp_path)
    assert done.returncode == 0, done.stderr
    (packages,) = place.glob("lib/python*/site-packages")
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) < MOST_MEGABYTES * 10**6

    def shell(command: str, folder: Path) -> Ran:
        path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
        done = ran(["bash", "-c", f"exec 2>&1\n{command}"], folder, PATH=path)
        return Ran(done.returncode, done.stdout)

    def lacks(command: str) -> str:
        return "the same for every Python" if command.startswith("synth harden") else ""

    assert ran([binaries / "synth", "examples"], here).returncode == 0
    written = {path.relative_to(here / "examples") for path in (here / "examples").rglob("*") if path.is_file()}
    shipped = {path.relative_to(ROOT / "examples") for path in (ROOT / "examples").rglob("*") if path.is_file()}
    assert written == {path for path in shipped if "__pycache__" not in path.parts}
    for line in COMMANDS.splitlines():
        done = ran([binaries / "synth", *line.split()[1:]], here)
        assert done.returncode == 0 and not done.stderr.startswith("Traceback"), f"{line}: {done.stderr}"
    for page in PAGES:
        if page.parent.name == "tutorial" and page.stem != "conformance":  # whose statistics are of an extra
            folder = tmp_path / page.stem
            folder.mkdir()
            walked = walk(page.name, page.read_text(encoding="utf-8"), partial(shell, folder=folder), folder, lacks)
            assert walked.done and walked.wrong == []
    for line, extra in WANTING.items():
        done = ran([binaries / "synth", *line.split()[1:]], here)
        said = [f"pip install {package}\n" for package in extras.PACKAGES[extra]]
        assert done.returncode == 2 and any(each in done.stderr for each in said), f"{line}: {done.stderr}"
        assert len(done.stderr.splitlines()) == 1


def test_every_library_that_may_be_missing_is_of_an_extra() -> None:
    named = {
        extra: {re.split("[>=<]", each)[0] for each in PROJECT["optional-dependencies"][extra]}
        for extra in extras.PACKAGES
    }
    assert {extra: {*packages} for extra, packages in extras.PACKAGES.items()} == named
    assert {*extras.LIBRARIES.values()} <= {package for packages in extras.PACKAGES.values() for package in packages}
    core = {requirement.partition(">=")[0] for requirement in PROJECT["dependencies"]}
    assert not core & {package for packages in extras.PACKAGES.values() for package in packages}


def test_nobody_is_told_to_ask_an_index_for_synth() -> None:
    """It is on none, so that anybody could take the name."""
    told = re.compile(rf"pip\S* install [^\n]*{PROJECT['name']}")
    kept = (".py", ".md", ".toml", ".ipynb", ".sh", ".txt", ".html")
    names = ran(["git", "ls-files", "-z"], ROOT).stdout.split("\0")
    wrong = [name for name in names if name.endswith(kept) and told.search((ROOT / name).read_text(encoding="utf-8"))]
    assert [name for name in wrong if name != "CHANGELOG.md"] == []


@pytest.mark.slow
def test_a_wheel_has_the_files_that_the_tree_has(wheel: Path) -> None:
    """All files that git has of the five packages: one that is missing changes digests, or is missed when read."""
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name: archive.read(name) for name in archive.namelist() if name.split("/")[0] in FOLDERS}
    names = ran(["git", "ls-files", "-z", *FOLDERS], ROOT).stdout.split("\0")
    tree = {name: (ROOT / name).read_bytes() for name in names if name and (ROOT / name).is_file()}
    examples = {name for name in shipped if name.startswith("synth/examples/")}
    assert {*shipped} - examples == {*tree}
    assert all(shipped[name] == text for name, text in tree.items())


def test_the_package_data_names_every_file_of_the_tree() -> None:
    """The same without building a wheel: every file of a package that is not Python is named in pyproject.toml."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]
    named = {path for folder, globs in data.items() for each in globs for path in (ROOT / folder).glob(each)}
    names = ran(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *FOLDERS], ROOT).stdout.split(
        "\0"
    )
    tree = {ROOT / name for name in names if name and not name.endswith(".py")}
    assert sorted(path for path in tree - named if path.is_file()) == []


def test_what_is_missing_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    mutex = str(ROOT / "examples" / "progress" / "mutex.axb")
    arguments = ["explain", mutex, "--model", "hsa-weak", "--picture", str(tmp_path / "m.svg")]
    result = synth(*arguments)
    assert result.exit_code == 2
    assert result.stderr == "synth: this needs pygraphviz: pip install pygraphviz\n"


def test_what_is_missing_and_of_no_extra_is_a_fault_of_ours() -> None:
    assert extras.missing(ModuleNotFoundError(name="corpus.nowhere")) is None
    assert extras.missing(ModuleNotFoundError("no name")) is None
    extras.need("json")


def test_a_library_is_asked_for_before_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda library: None)
    with pytest.raises(InputError, match="this needs wgpu: pip install wgpu"):
        extras.need("wgpu")
    mp = str(ROOT / "examples" / "memory" / "mp-weak.litmus")
    result = synth("label", mp, "--method", "smt")
    assert result.exit_code == 2 and result.stderr == "synth: this needs z3: pip install z3-solver\n"


def test_examples_are_written_once(tmp_path: Path) -> None:
    target = tmp_path / "examples"
    result = synth("examples", "-o", target)
    assert result.exit_code == 0 and "progress" in result.output
    assert (target / "memory" / "mp-weak.litmus").read_bytes() == (ROOT / "examples/memory/mp-weak.litmus").read_bytes()
    result = synth("examples", "-o", target)
    assert result.exit_code == 2 and "not an empty folder" in result.stderr


def test_the_citation_is_of_this_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
