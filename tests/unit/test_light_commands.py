"""What most commands do not need is not loaded: a start would take several times as long."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {
    "constraints",
    "corpus.suite",
    "corpus.tables",
    "importlib.metadata",
    "lark",
    "oracle.cat.elaboration",  # the model has been read before, and is in the user's cache
    "msgspec",
    "numpy",
    "oracle.executions.stuck",
    "oracle.executions.witness",
    "oracle.operational",
    "pysat",
    "rich.progress",
    "typst",
    "z3",
}
OF_MEMORY = {"corpus.litmus", "oracle.cat", "oracle.executions.judge", "synth.memory", "synth.families.memory"}
"""What a command that is given progress tests has no use for, besides."""

OF_OTHER_COMMANDS = {"backends", "corpus.export", "oracle.progress.explain", "synth.drawing", "synth.report"}
LABEL = ("label", "examples/memory/c-mp-rel-acq.litmus", "--model", "rc11")
COMMANDS = {
    "help": ("--help",),
    "version": ("--version",),
    "label as csv": (*LABEL, "--format", "csv"),
    "label as a table": LABEL,
}
PROGRESS = ("label", "examples/progress/mutex.axb")
DIALECTS = {f"corpus.dialects.{name}" for name in ("lisa", "gpu_ptx", "dartagnan", "opencl")}
WORK = """
from synth.families.memory import FAMILY
from synth.inputs import expand
from synth.labels import LabelTask
labelling = FAMILY.labelling(["rc11"], "auto", 2, "csv")
print(labelling.label(LabelTask(expand(["examples/memory/c-mp-rel-acq.litmus"])[0], (0,))))
"""


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A user's cache that has the models of these commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYNTH_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        loads(WORK)
        yield


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_light_commands_load_little(command):
    loaded = loads("import synth.commands.cli\nsynth.commands.cli.main(sys.argv[1:])", command)
    assert "synth.commands.cli" in loaded and not loaded & (HEAVY | DIALECTS)
    assert ("rich" in loaded) == (command == LABEL)


def test_a_command_loads_nothing_of_the_other_family():
    loaded = loads("import synth.commands.cli\nsynth.commands.cli.main(sys.argv[1:])", PROGRESS)
    of_corpora = {"msgspec"}  # what a progress test is read as is one of a corpus
    assert "synth.progress.labels" in loaded
    assert not within(loaded, HEAVY - of_corpora | OF_MEMORY | OF_OTHER_COMMANDS)
    assert not within(
        loads("import synth.commands.cli\nsynth.commands.cli.main(sys.argv[1:])", LABEL), OF_OTHER_COMMANDS
    )


def test_a_language_that_is_not_used_is_not_loaded(tmp_path):
    command = ("compile", "examples/progress/mutex.axb", "--backend", "glsl", "-o", str(tmp_path))
    loaded = loads("import synth.commands.cli\nsynth.commands.cli.main(sys.argv[1:])", command)
    folders = {name.split(".")[1] for name in loaded if name.startswith("backends.")}
    assert folders == {"glsl", "registry", "shared"}


def within(loaded: set[str], packages: set[str]) -> set[str]:
    """The modules that are of one of the packages."""
    return {name for name in loaded if any(f"{name}.".startswith(f"{package}.") for package in packages)}


def test_what_is_done_in_a_process_of_its_own_loads_little():
    loaded = loads(WORK)
    assert "corpus.dialects.c" in loaded and not loaded & (HEAVY | DIALECTS)


def loads(code: str, arguments: tuple[str, ...] = ()) -> set[str]:
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    code = f"import sys\ntry:\n{lines}finally:\n    print(*sys.modules, file=sys.stderr)\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    return set(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stderr.split())
