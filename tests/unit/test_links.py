"""``mutants/links.csv``: written, read, and refused where it is damaged."""

from __future__ import annotations

import pytest
from refusals import refusal

from corpus.errors import InputError
from corpus.links import LINKS, MUTANTS, MutantLink, print_links, read_links

FOUND = [
    MutantLink("MP", "MP.m1", "P1's first load of y: removed", "instruction"),
    MutantLink("SB", "MP.m1", "P0's fence: sc -> acq_rel, or so", "order"),
]


def written(folder, text):
    path = folder / MUTANTS / LINKS
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_what_is_written_is_read(tmp_path):
    written(tmp_path, "".join(print_links(FOUND)))
    assert read_links(tmp_path) == FOUND


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,sc\nMP,FORBIDDEN\n", "links.csv:1:1: expected the columns test, mutant, relaxation, kind"),
        (
            "test,mutant,relaxation,kind\nMP,MP.m1\n",
            "links.csv:2: expected test, mutant, relaxation, kind, found 2 cells",
        ),
        ("test,mutant,relaxation,kind\nMP,,removed,order\n", "links.csv:2: expected"),
        ('test,mutant,relaxation,kind\n"MP,MP.m1,removed\n', "links.csv:2:1: not CSV: unexpected end of data"),
    ],
)
def test_damage_is_told_with_its_line(tmp_path, text, message):
    written(tmp_path, text)
    assert message in refusal(read_links, tmp_path)


def test_a_suite_without_mutants_says_how_to_have_some(tmp_path):
    with pytest.raises(InputError, match="synth memory --mutants makes them"):
        read_links(tmp_path)
