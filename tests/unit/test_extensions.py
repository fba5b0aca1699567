"""To add one of a kind touches what docs/internals.md says: a toy model, relation and command come from outside here, a
toy dialect in test_dialects, a toy back end in test_toy_backend."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest
from caches import forget
from commands import synth

from oracle import consistency
from oracle.cat.base import BaseNames
from oracle.executions import events
from synth.commands import cli

EXAMPLES = Path(__file__).parents[2] / "examples"
MP = EXAMPLES / "memory" / "mp-weak.litmus"


def verdict(*arguments: object) -> str:
    result = synth("label", MP, *arguments, "--format", "csv")
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()[1].split(",")[2]


def test_a_model_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "toy.cat").write_text('"Everything is allowed"\nempty 0 as nothing\n')
    assert verdict("-m", tmp_path / "toy.cat") == "ALLOWED"
    assert verdict("-m", "sc") == "FORBIDDEN"
    (tmp_path / "toy.py").write_text("NAME = 'toy'\ndef guarantee(running, stepped):\n    return running\n")
    mutex = EXAMPLES / "progress" / "mutex.axb"
    labelled = synth("label", mutex, "-m", tmp_path / "toy.py", "--format", "csv").stdout.splitlines()[1:]
    assert [line.split(",")[1:] for line in labelled] == [["toy-weak", "TERMINATES"], ["toy-strong", "TERMINATES"]]


def test_a_model_that_ships_is_a_file_in_the_folder_of_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(Path(consistency.__file__).parent / "models", tmp_path / "models")
    (tmp_path / "models" / "toy.cat").write_text('include "sc.cat"\n')
    monkeypatch.setattr("oracle.cat.syntax._MODELS", tmp_path / "models")
    forget(consistency)
    try:
        assert "toy" in consistency.model_names()
        assert verdict("-m", "toy") == "FORBIDDEN"
    finally:
        monkeypatch.undo()
        forget(consistency)


def test_a_base_relation_is_one_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    relations = {**events.RELATIONS, "toy": lambda base: base.value("po")}
    monkeypatch.setattr(events, "RELATIONS", relations)
    monkeypatch.setattr(consistency, "VOCABULARY", BaseNames(events.SETS, frozenset(relations)))
    (tmp_path / "toy.cat").write_text("acyclic toy | rf | co | fr as sc\n")
    for method in ("enumerate", "sat", "smt"):
        assert verdict("-m", tmp_path / "toy.cat", "--method", method) == "FORBIDDEN"


def test_a_command_is_a_module_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("synth.commands.toy")
    module.command = click.Command("toy", callback=lambda: click.echo("toys"))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "synth.commands.toy", module)
    for commands in (cli.COMMANDS, cli.GROUPS["Set up"]):  # the first is made of the groups, when the module is loaded
        monkeypatch.setitem(commands, "toy", "Play.")
    assert synth("toy").stdout == "toys\n"
    assert "toy" in synth("--help").stdout
