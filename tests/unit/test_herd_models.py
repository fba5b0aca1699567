"""Models for herd7: each name in them is one that herd7 has, or a line before says what it is."""

import re
from itertools import pairwise

import pytest
from commands import synth

from corpus.errors import InputError
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat, read_cat, shipped_models
from oracle.consistency import load_model
from oracle.executions.events import VOCABULARY
from oracle.herd import LANGUAGES, herd_lines, herd_model

# lib/modelLexer.mll: names and words; comments nest, strings hold anything but a quote, 'x is a tag
NAME = r"_?[A-Za-z][A-Za-z0-9_.-]*'?"
TOKEN = re.compile(rf"\s+|//[^\n]*|\"[^\"]*\"|'{NAME}|{NAME}|-1|->|\|\||&&|\+\+|[(){{}}\[\]_0|&*~+^\\?=;,]")


def names(*lines):
    return set(" ".join(lines).split())


WORDS = names(
    "let rec and when acyclic irreflexive show unshow empty subset as fun in undefined_unless flag assert include",
    "variant begin end procedure call enum debug match with forall from do try if then else catdep instructions",
    "default not",
)
# herd/machModelChecker.ml: the sets and relations before any line, of C and LISA those that we use; herd/libdir/
# stdlib.cat, read before any model; lib/interpreter.ml, add_primitives; herd/CAction.ml, arch_sets; the rest is what
# herd7 makes of the annotations and regions in synth.bell, a capital first
NATIVE = names(
    "R W M F B IW FW id loc int ext rmw amo po rf addr data ctrl emptyset rfe rfi po-loc fencerel domain range",
    "linearisations",
)
OF = {
    "c": names("RMW ACQ REL ACQ_REL SC RLX CON A NA"),
    "lisa": names(
        "tag2scope Weak Volatile Relaxed Acquire Release Acq_rel Sc Noreturn Global Shared",
        "Warp Cta Queue Gpu System Ca Cg Cs Cv Lu Wb Wt",
    ),
}
STARTS = {"let", "acyclic", "irreflexive", "empty", "include", "with"}
COS = {"co", "coi", "coe", "fr", "fri", "fre"}  # herd/libdir/cos.cat


def tokens(text):
    text = re.sub(r"\(\*(?:[^(*]|\((?!\*)|\*(?!\)))*\*\)", " ", text)
    at, found = 0, []
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, text[at : at + 40]
        found += [match[0]] * (not match[0].isspace() and not match[0].startswith("//"))
        at = match.end()
    return found


def unbound(text, language):
    """The names in a model that no line before has bound, and that herd7 does not have by itself."""
    known, missing = NATIVE | OF[language], []
    words = tokens(text)
    starts = [i for i, word in enumerate(words) if word in STARTS]
    for start, end in pairwise([*starts, len(words)]):
        first, *rest = words[start:end]
        if first == "include":
            assert rest == ['"cos.cat"']
            known = known | COS
            continue
        rest = rest[: rest.index("as")] if "as" in rest else rest
        used = [word for word in rest if re.fullmatch(NAME, word) and word not in WORDS]
        bound = {used.pop(0)} if first in ("let", "with") else set()
        bound |= {other for one, other in pairwise(rest) if one == "and"}
        function = first == "let" and rest[1] == "("
        own = set(rest[2 : rest.index(")")]) if function else bound if rest[0] == "rec" else set()
        missing += [name for name in used if name not in known | own]
        known = known | bound
    return missing


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", [name for name, path in shipped_models().items() if not read_cat(path).partial_co])
def test_every_name_is_bound(name, language):
    text = herd_model(load_model(shipped_models()[name], name), language)
    assert unbound(text, language) == []


def test_partial_coherence_is_refused_by_name():
    with pytest.raises(
        InputError, match=r"^ptx-6\.0: herd7 has no partial coherence orders, which this model asks for$"
    ):
        herd_model(load_model(shipped_models()["ptx-6.0"], "ptx-6.0"), "lisa")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_line_by_itself_is_bound(language):
    """What a line needs stands before it; a model may name any of them."""
    every = sorted({*VOCABULARY.sets, *VOCABULARY.relations} & {*herd_lines(language), "po", "rmw"})
    assert {"SC", "RMW", "sr", "sync_fence", "swarp", "syncbar", "ACQ", "TEXTURE", "VOL"} <= set(every)
    for name in every:
        assert unbound(written(f"let mine = {name}", language), language) == [], name


def test_only_what_a_model_needs_stands_before_it():
    text = written("acyclic po | rf as sc", "lisa")
    assert text.splitlines() == [
        '"m"',
        "(* m, for tests in LISA. First what herd7 does not know, or knows otherwise. *)",
        "",
        "let po = po | rmw",
        "",
        "acyclic po | rf as sc",
    ]
    assert "linearisations(F & SC, 0)" in written("acyclic sync_fence", "c")


def test_a_product_of_nothing_is_of_sets_in_herd():
    assert written("let none = 0 * 0 let some = W * 0 empty 0 | rf as it", "c").splitlines()[-3:] == [
        "let none = emptyset * emptyset",
        "let some = W * emptyset",
        "empty 0 | rf as it",
    ]


def test_what_herd_spells_otherwise(tmp_path):
    (tmp_path / "part.cat").write_text('"a part"\nlet twice(r) = let s = r in s^+; ~(s^?)\n')
    text = '"Mine"\nwith co from total-co\ninclude "part.cat"\nlet from = co let when = twice(from)\n'
    (tmp_path / "m.cat").write_text(f"{text}acyclic when^* \\ id as mine\nacyclic rf")
    done = herd_model(load_model(str(tmp_path / "m.cat"), "m"), "lisa")
    assert done.startswith('"Mine"\n')
    assert done.endswith("let from' = co\nlet when' = twice(from')\nacyclic when'* \\ id as mine\nacyclic rf\n")
    assert "let twice(r) = r+; ~(r?)\n" in done
    assert unbound(done, "lisa") == []


def written(text, language):
    """A model that is this text, for herd7."""
    return herd_model(checked_model("m", parse_cat(text, "m.cat"), VOCABULARY), language)


def exported(tmp_path, *arguments):
    words = ["export", "examples/memory/c-mp-rel-acq.litmus", *arguments, "-o", str(tmp_path / "out")]
    return synth(*words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_models_stand_beside_tests_for_herd(tmp_path, language):
    assert exported(tmp_path, "--to", f"herd-{language}").exit_code == 0
    found = {file.stem: file.read_text("utf-8") for file in (tmp_path / "out/models").iterdir()}
    assert {"sc", "tso", "rmo", "ptx-rmo", "rc11"} <= set(found) and "ptx-6.0" not in found
    assert found["rc11"] == herd_model(load_model(shipped_models()["rc11"], "rc11"), language)


def test_a_model_that_is_named_is_the_only_one(tmp_path):
    done = exported(tmp_path, "--to", "herd-c", "-m", "examples/models/my-model.cat")
    assert done.exit_code == 0
    assert [file.name for file in (tmp_path / "out/models").iterdir()] == ["my-model.cat"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "herd-c", "-m", "ptx-6.0"], "ptx-6.0: herd7 has no partial coherence orders"),
        (["--to", "herd-c", "-m", "thesis-weak"], "thesis-weak: herd7 has no transition systems"),
        (["--to", "litmus", "-m", "sc"], "--model is for herd-c and herd-lisa, not for litmus"),
    ],
)
def test_what_no_herd_takes_is_one_line(tmp_path, arguments, message):
    refused = exported(tmp_path, *arguments)
    assert refused.exit_code == 2 and message in refused.stderr and len(refused.stderr.splitlines()) == 1
