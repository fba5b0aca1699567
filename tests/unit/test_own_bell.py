"""LISA tests with a bell file of the user's own: what they may say by it, and what models make of it."""

import pytest
from commands import synth
from refusals import refusal

from corpus.dialects.lisa.own import read_bell
from corpus.dialects.registry import DIALECTS, read_litmus, translate
from corpus.errors import InputError
from corpus.litmus.orders import Place
from oracle.consistency import load_model
from oracle.executions.judge import judge
from oracle.herd import herd_model

BELL = """"mine"
(* enum scopes = 'none *)
enum kinds = 'once || 'acquire || 'release
enum fences = 'mb || 'rb-dep
enum scopes = 'system || 'device || 'work-group
instructions R[{'once,'acquire}]
instructions W[{'once,'release}]
instructions F[fences,scopes]
default F['mb,'device]
default W['once]
instructions RMW[{'once,'acquire}]
let narrower(s) = match s with || 'system -> 'device || 'device -> 'work-group end
let wider(s) = match s with || 'device -> 'system || 'work-group -> 'device end
let wg = tag2scope('work-group)
"""
CAT = """"mine"
include "my.bell"
include "cos.cat"
acyclic po-loc | rf | co | fr
let mb = fencerel(Mb & Device) | (fencerel(Mb & Work-group); (rfe & wg))
acyclic rfe | coe | fre | mb | ([Acquire]; po) | (po; [Release])
"""


def lisa(one, other, groups="(work-group P0) (work-group P1)"):
    rows = "".join(f" {left} | {right} ;\n" for left, right in zip(one, other, strict=True))
    scopes = f"scopes: (system (device {groups}))"
    return f"LISA t\n{{ x=0; y=0; }}\n P0 | P1 ;\n{rows}{scopes}\nexists (1:r1=1 /\\ 1:r2=0)\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my.bell").write_text(BELL)
    (tmp_path / "synth.bell").write_text("not looked at")
    (tmp_path / "my.cat").write_text(CAT)
    return tmp_path


def written(folder, text):
    (folder / "t.litmus").write_text(text)
    return read_litmus(folder / "t.litmus")


MP = ["w[once] x 1", "w[release] y 1"], ["r[acquire] r1 y", "r[once] r2 x"]
FENCED = ["w[once] x 1", "f[mb,work-group]", "w[once] y 1"], ["r[acquire] r1 y", "r[once] r2 x", ""]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (lisa(*MP), "FORBIDDEN"),
        (lisa(MP[0], ["r[once] r1 y", "r[once] r2 x"]), "ALLOWED"),
        (lisa(["w[once] x 1", "rmw[once] r3 1 y"], MP[1]), "ALLOWED"),
        (lisa(*FENCED), "ALLOWED"),
        (lisa(*FENCED, "(work-group P0 P1)"), "FORBIDDEN"),
        (lisa(["w[once] x 1", "f[]", "w[] y 1"], FENCED[1]), "FORBIDDEN"),
        (lisa(["w[once] x 1", "f[rb-dep,device]", "w[] y 1"], FENCED[1]), "ALLOWED"),
    ],
)
def test_annotations_are_sets_of_the_model(folder, text, answer):
    """The verdicts are those of herd7 7.58 with ``-bell my.bell -model my.cat``."""
    assert judge(written(folder, text), load_model(str(folder / "my.cat"))).answer == answer


def test_the_levels_are_those_that_words_commonly_mean(folder):
    test = written(folder, lisa(*MP, "(work-group P0 P1)"))
    assert [thread.place for thread in test.threads] == [Place(0, 0, 0, 0), Place(0, 0, 0, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lisa(["w[acquire] x 1", ""], MP[1]), "t.litmus:4:4: my.bell declares no instructions W[acquire]"),
        (lisa(["f[mb]", ""], MP[1]), "t.litmus:4:4: my.bell declares no instructions F[mb]"),
        (lisa(*MP, "(cta P0 P1)"), "t.litmus:6:26: expected system or device or work-group, found 'cta'"),
    ],
)
def test_what_the_bell_file_does_not_declare_is_refused(folder, text, message):
    assert refusal(written, folder, text) == f"{folder}/{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("instructions Q[{'a}]", "b.bell:1:14: expected R, W, F, RMW, B, found Q"),
        ("\ninstructions R[kinds]", "b.bell:2:16: expected an enum, found kinds"),
        ("default R[{'a,'b}]", "b.bell:1:11: expected one tag for each annotation of a default"),
        ("enum scopes = 'galaxy", "b.bell:1:15: expected scopes among agent, all, block"),
    ],
)
def test_what_is_wrong_in_a_bell_file_is_said_with_its_place(text, message):
    assert refusal(read_bell, text, "b.bell").startswith(message)


def test_two_bell_files_are_one_too_many(folder):
    (folder / "other.bell").write_text("")
    with pytest.raises(InputError, match=r"expected one bell file beside tests, found my\.bell and other\.bell"):
        written(folder, lisa(*MP))


def test_other_models_and_dialects_take_it_or_say_why_not(folder):
    test = written(folder, lisa(*MP))
    assert judge(test, load_model("oracle/models/sc.cat")).answer == "FORBIDDEN"
    for dialect in ("lisa", "gpu-ptx", "c"):
        with pytest.raises(InputError, match="'once"):
            translate(test, DIALECTS[dialect])
    assert "let Once = emptyset\n" in herd_model(load_model(str(folder / "my.cat")), "lisa")


def test_a_bell_file_that_is_named_comes_before_one_beside_the_test(folder, tmp_path):
    test = folder / "t.litmus"
    test.write_text(lisa(*MP).replace("LISA t", "Bell t").replace("once", "mine"))
    mine = folder / "elsewhere"
    mine.mkdir()
    (mine / "named.bell").write_text(BELL.replace("once", "mine"))

    def said(*arguments):
        return synth(*arguments, "--bell", mine / "named.bell")

    for command in ("label", "explain"):
        done = said(command, str(test), "-m", "rmo")
        assert done.exit_code == 0 and "A" in done.output, done.output
    out = folder / "labels.csv"
    assert said("label", str(test), "-m", "sc", "-o", str(out)).exit_code == 0 and "FORBIDDEN" in out.read_text()
    (mine / "named.bell").write_text(BELL.replace("once", "mine").replace("'mb", "'bm"))
    assert "begun with another bell" in said("label", str(test), "-m", "sc", "-o", str(out)).output
    assert "LISA has no annotation for 'mine" in said("convert", str(test), "--to", "lisa").output
    done = synth("label", test, "-m", "sc", "--bell", "nowhere.bell")
    assert done.exit_code == 2 and "nowhere.bell: cannot read" in done.output


def test_label_and_explain_read_the_bell_file_beside_a_test(folder):
    written(folder, lisa(*MP))
    for command in ("label", "explain"):
        done = synth(command, folder / "t.litmus", "-m", folder / "my.cat")
        assert done.exit_code == 0 and "FORBIDDEN" in done.output


def test_a_bell_file_that_is_named_is_known_in_models(tmp_path):
    """As in herd7: its tags, functions and relations, without an inclusion."""
    (tmp_path / "b.bell").write_text(
        "enum kinds = 'plain || 'special || 'wr\nlet atoms = {'plain,'special}\n"
        "let but(s) = match s with || 'special -> {'plain} || _ -> atoms end\n"
        "instructions R[atoms]\ninstructions W[but('plain) \\ {'wr}]\ninstructions F[{'wr}]\n"
        "let fwr = fencerel(Wr)\nlet deps = addr | data\n"
    )
    (tmp_path / "m.cat").write_text('include "cos.cat"\nacyclic po-loc | ([Special]; po) | fwr | deps | rf | co | fr')
    test = tmp_path / "t.litmus"
    test.write_text(
        "LISA sb\n{ x=0; y=0; }\n P0 | P1 ;\n w[plain] x 1 | w[plain] y 1 ;\n f[wr] | f[wr] ;\n"
        " r[plain] r1 y | r[plain] r1 x ;\nexists (0:r1=0 /\\ 1:r1=0)\n"
    )
    words = ["label", str(test), "-m", str(tmp_path / "m.cat"), "--bell", str(tmp_path / "b.bell"), "--format", "csv"]
    done = synth(*words)
    assert done.exit_code == 0 and done.output.splitlines()[1].endswith(",m,FORBIDDEN,false,")
    without = synth(*words[:4])
    assert without.exit_code == 2
    test.write_text(test.read_text().replace("f[wr] |", "f[plain] |"))
    refused = synth(*words)
    assert refused.exit_code == 2 and "t.litmus:5:4: b.bell declares no instructions F[plain]" in refused.stderr


def test_scopes_that_a_bell_file_does_not_declare(tmp_path):
    (tmp_path / "b.bell").write_text("instructions R[{'once}]\ninstructions W[{'once}]\n")
    (tmp_path / "t.litmus").write_text(
        "LISA t\n{ x=0; }\n P0 | P1 ;\n w[once] x 1 | r[once] r1 x ;\nscopes: (system P0 P1)\nexists (1:r1=1)\n"
    )
    with pytest.raises(InputError, match=r"t\.litmus:5:10: b\.bell declares no scopes, found 'system'"):
        read_litmus(tmp_path / "t.litmus")
