"""Consistency models by name, and the digests that say when a model's text has changed."""

import pytest

from oracle import consistency
from oracle.cat.syntax import read_cat
from oracle.consistency import model_names, resolve_consistency_models


def resolved(*names):
    """The models, read anew: what was read before is kept for the life of a process."""
    consistency._model.cache_clear()
    read_cat.cache_clear()
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
