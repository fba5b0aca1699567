"""Consistency models by name, and the digests that say when a model's text has changed."""

import pickle
from pathlib import Path

import pytest
from caches import forget

from corpus.errors import InputError
from oracle import consistency
from oracle.consistency import default_names, model_names, resolve_consistency_models


def resolved(*names):
    return resolve_consistency_models([str(name) for name in names])


def digest(path):
    (model,) = resolved(path)
    return model.digest


def test_a_digest_is_that_of_the_text_wherever_it_lies(tmp_path):
    one, other = tmp_path / "m.cat", tmp_path / "folder" / "n.cat"
    other.parent.mkdir()
    for path in (one, other):
        path.write_text("acyclic po | rf as x")
    assert digest(one) == digest(other) == digest(one)
    one.write_text("acyclic po | co as x")
    assert digest(one) != digest(other)


def test_a_digest_holds_every_include_however_deep(tmp_path):
    for name, text in {
        "m": 'include "part.cat"',
        "part": 'include "deep.cat" let a = po',
        "deep": "let b = rf",
    }.items():
        (tmp_path / f"{name}.cat").write_text(text)
    before = digest(tmp_path / "m.cat")
    for name in ("deep", "part"):
        with (tmp_path / f"{name}.cat").open("a") as file:
            file.write(" ")
        after = digest(tmp_path / "m.cat")
        assert after != before
        before = after


def test_a_digest_holds_what_ships_and_is_included(tmp_path):
    mine = tmp_path / "mine.cat"
    mine.write_text('include "ptx-6.0.cat"')
    before = digest(mine)
    (tmp_path / "ptx-6.0.cat").write_text("acyclic po")  # now the one beside the file is meant
    assert digest(mine) != before


@pytest.mark.parametrize("name", model_names())
def test_models_that_ship_have_digests_unless_they_are_code(name):
    (model,) = resolved(name)
    assert bool(model.digest) is (name not in ("thesis-weak", "thesis-strong"))


def test_models_that_share_a_part_have_digests_of_their_own():
    digests = [model.digest for model in resolved("rc11", "rc11-scoped", "rmo", "ptx-rmo")]
    assert len(set(digests)) == len(digests)


def test_two_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    files = []
    for folder in ("a/old", "a/new", "b/new"):
        (tmp_path / folder).mkdir(parents=True)
        files.append(tmp_path / folder / "ptx.cat")
        files[-1].write_text("acyclic po")
    assert [model.name for model in resolved(files[0], files[1], "sc")] == ["old/ptx", "new/ptx", "sc"]
    assert [model.name for model in resolved(*files)] == ["old/ptx", "a/new/ptx", "b/new/ptx"]
    assert [model.name for model in resolved(files[0])] == ["ptx"]
    assert [m.name for m in resolve_consistency_models([str(files[1])], among=[str(files[0])])] == ["new/ptx"]


def test_a_file_called_like_a_model_that_ships(tmp_path):
    mine = tmp_path / "mine" / "sc.cat"
    mine.parent.mkdir()
    mine.write_text("acyclic po")
    assert [model.name for model in resolved("sc", mine)] == ["sc", "mine/sc"]


def test_one_file_named_in_two_ways(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.cat").write_text("acyclic po")
    assert [model.name for model in resolved("m.cat", "m.cat")] == ["m"]
    with pytest.raises(InputError, match=r"^\./m\.cat: the same file as m\.cat$"):
        resolved("m.cat", "./m.cat")


@pytest.mark.parametrize(("name", "near"), [("ptx-rom", "ptx-rmo"), ("rc-11", "rc11"), ("tsoo", "tso")])
def test_an_unknown_name_is_answered_with_the_nearest(name, near):
    with pytest.raises(InputError, match=rf"unknown consistency model '{name}'; did you mean .*{near}.*\?$"):
        resolved(name)


def test_a_cat_file_among_the_models_ships():
    assert {path.stem for path in (Path(consistency.__file__).parent / "models").glob("*.cat")} <= set(model_names())


def test_models_that_ship_are_read_when_they_are_asked_and_files_of_users_at_once(tmp_path, monkeypatch):
    """A process pays for those that it asks alone, and what is wrong with a file is said before work."""
    forget(consistency)
    with monkeypatch.context() as patch:
        patch.setattr(consistency, "load_model", lambda *_: pytest.fail("it was read"))
        assert [model.name for model in resolve_consistency_models()] == list(default_names())
    (tmp_path / "m.cat").write_text("acyclic nothing")
    with pytest.raises(InputError, match="unknown name 'nothing'"):
        resolved(tmp_path / "m.cat")
    (model,) = resolved("sc")
    assert model.model is model.model  # it is read once


def test_a_model_is_sent_with_what_its_file_says(tmp_path, monkeypatch):
    """Whoever gets it may have no such file; of two of one name, a model goes by another."""
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "m.cat").write_text("acyclic po")
    sent = [pickle.dumps(model) for model in resolve_consistency_models(["a/m.cat", "b/m.cat", "sc"])]
    for folder in ("a", "b"):
        Path(folder, "m.cat").unlink()
    monkeypatch.setattr(consistency, "load_model", lambda *_: pytest.fail("it was read"))
    assert [len(pickle.loads(each).model.syntax.statements) > 0 for each in sent] == [True, True, True]
