"""What is stored of the models that ship is what reading them gives; ``pytest --promote`` writes it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from corpus.files import folder_of
from oracle.cat import syntax
from oracle.cat.stored import stored_file, stored_syntax, written
from oracle.cat.syntax import read_afresh, read_cat, shipped_models

PATHS = [*shipped_models().values(), str(folder_of("oracle.cat") / "prelude.cat")]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: Path(path).stem)
def test_what_is_stored_is_what_is_read(path, request):
    read, texts = read_afresh(Path(path).read_text(encoding="utf-8"), path)
    text = written(path, read, texts)
    if request.config.getoption("--promote"):
        stored_file(path).write_text(text, encoding="utf-8")
    assert stored_file(path).is_file() and stored_file(path).read_text(encoding="utf-8") == text
    assert stored_syntax(path) == read  # positions, too


def test_nothing_else_is_stored():
    folders = {Path(path).parent for path in PATHS}
    assert {file for folder in folders for file in folder.rglob("*.jsonl")} == set(map(stored_file, PATHS))


@pytest.mark.parametrize("lost", [False, True])
def test_a_model_is_read_anew_where_a_text_that_it_includes_has_changed(tmp_path, monkeypatch, lost):
    folder = tmp_path / "models"
    shutil.copytree(folder_of("oracle") / "models", folder)
    monkeypatch.setattr(syntax, "_SHIPPED", (folder,))
    part = folder / "parts" / "rmo.cat"
    rmo, sc = str(folder / "rmo.cat"), str(folder / "sc.cat")
    assert stored_syntax(rmo)
    if lost:
        part.unlink()
    else:
        part.write_text(f"{part.read_text(encoding='utf-8')}\nempty _ as nothing\n", encoding="utf-8")
    assert stored_syntax(rmo) is None and stored_syntax(sc)
    if not lost:
        assert "nothing" in {getattr(statement, "name", "") for statement in read_cat(rmo).statements}


def test_what_lies_beside_a_users_file_is_not_taken(tmp_path):
    path = tmp_path / "sc.cat"
    path.write_text('"mine"\nacyclic po as mine\n', encoding="utf-8")
    read, texts = read_afresh('"other"\nacyclic po as other\n', str(path))
    texts = {str(path): path.read_text(encoding="utf-8")}
    stored_file(str(path)).write_text(written(str(path), read, texts), encoding="utf-8")
    assert stored_syntax(str(path)) == read
    assert read_cat(str(path)).title == "mine"
