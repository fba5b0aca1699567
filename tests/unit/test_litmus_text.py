"""The outer shape of litmus files, and one clear line with its place for what is wrong in any dialect."""

import pytest
from refusals import refusal

from corpus.dialects.registry import DIALECTS, parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Branch, Fence, Label, Load, Store
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Mode, Place
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.text import sections
from corpus.litmus.threads import Thread

TEXT = """\
(* a comment
   { in two lines } *)
PTX MP+weak // not { here
"Message passing { in quotes // too"
Cycle=Rfe PodRR
{
  x=0; (* y=1; *)
  y=0;
}
 P0      | P1       ;
 st x, 1 | ld r1, y ;
// exists
filter (0 == 0)
exists (P1:r1 == 1) (* the end *)
"""


def thread(*instructions, place=Place()):  # noqa: B008 - a constant
    return Thread(tuple(instructions), place)


def test_sections_keep_their_places_and_lose_their_comments():
    source = sections(TEXT, "t.litmus")
    assert (source.path, source.language, source.name) == ("t.litmus", "PTX", "MP+weak")
    assert source.description == "Message passing { in quotes // too Cycle=Rfe PodRR"
    assert source.state.split() == ["{", "x=0;", "y=0;", "}"]
    assert source.body.split("\n")[9:11] == TEXT.split("\n")[9:11]
    assert source.condition.strip().split("\n")[0].strip() == "filter (0 == 0)"
    for section, first in ((source.state, "x=0"), (source.body, "st x"), (source.condition, "filter")):
        assert section.index(first) - section.rfind("\n", 0, section.index(first)) == TEXT.index(first) - TEXT.rfind(
            "\n", 0, TEXT.index(first)
        )
        assert section[: section.index(first)].count("\n") == TEXT[: TEXT.index(first)].count("\n")


def test_a_header_and_the_initial_state_in_one_line():
    source = sections("PTX t { x=0; }\n P0 ;\n exists true")
    assert (source.name, source.state.strip(), source.description) == ("t", "{ x=0; }", "")


def test_a_pointer_in_c_code_is_no_comment():
    code = "P0 (int *x) { WRITE_ONCE(*x, 1); f((int *) x); }"
    source = sections(f"C t\n{{ x=0; (* y *) }}\n(* code *)\n{code}/* ; (* */\nexists (x=1) (* c *)\n", c_comments=True)
    assert source.body.split("\n")[3].rstrip() == code
    assert source.body.split("\n")[2].strip() == ""
    assert source.state.split() == ["{", "x=0;", "}"]
    assert source.condition.strip() == "exists (x=1)"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "expected a litmus test's first line, LANGUAGE and a name"),
        ("(* nothing *)\n", "1:1", "expected a litmus test's first line"),
        ("PTX", "1:1", "expected a litmus test's first line"),
        ("PTX MP\n", "2:1", "expected { and the initial state, found the end of the file"),
        ("PTX MP\n{ x=0;", "2:7", "expected } after the initial state, found the end of the file"),
        ("PTX ../MP\n{}\nexists true", "1:5", "expected a name of letters, digits and _.+@|,:/[]-, found ../MP"),
        ("PTX MP*/\n{}\nexists true", "1:5", "expected a name of letters, digits and _.+@|,:/[]-, found MP*/"),
        ("6502 MP\n{}\nexists true", "1:1", "expected a litmus test's first line"),
        ("BASIC MP\n{}\nexists true", "1:1", "expected a litmus test in "),
    ],
)
def test_a_piece_that_is_missing_is_named_with_its_place(text, place, message):
    shown = refusal(parse_litmus, text, "t.litmus")
    assert shown.startswith(f"t.litmus:{place}: ")
    assert message in shown


@pytest.mark.parametrize(
    ("threads", "locations", "place", "message"),
    [
        ([thread(Branch("L9"))], [], "4:17", "expected one label L9 in thread P0, found no such label"),
        (
            [thread(Branch("L"), Label("L"), Label("L"))],
            [],
            "3:2",
            "expected one label L in thread P0, found two of them",
        ),
        ([], [Location("y"), Location("y")], "2:8", "location y is declared twice"),
        (
            [thread(Store(Loc("x"), 1)), thread(Load("r1", Loc("x")), place=Place(0, 0, 1))],
            [Location("x", region=Region.SHARED)],
            "3:8",
            "x is in shared memory, and P0 and P1 are in different CTAs",
        ),
        (
            [thread(Load("r1", Loc("x")))],
            [],
            "5:18",
            "the condition names register P1:r2, which the test does not have",
        ),
        (
            [thread(), thread(Load("r2", Loc("x")))],
            [],
            "5:31",
            "the condition names location nowhere, which the test does not have",
        ),
    ],
)
def test_what_no_dialect_can_mean_is_refused_where_it_stands(threads, locations, place, message):
    text = "PTX t\n{ x=0; y=0; }\n L: st x, L.x\n goto L1; goto; L9\nexists (x = 1 /\\ P1:r2 = 1 /\\ nowhere = 0)\n"
    source = sections(text, "t.litmus")
    assert refusal(source.test, threads, locations) == f"t.litmus:{place}: {message}"


def test_shared_memory_of_one_cta_is_fine_and_locations_are_found():
    source = sections('PTX t\n"about"\n{}\n\nexists (x = 1 /\\ 1:r1 = 0 /\\ y = 0)')
    threads = [thread(Store(Loc("x"), 1)), thread(Load("r1", Loc("x")), Fence(Mode()), Load("r1", Loc("y")))]
    test = source.test(threads, [Location("x", region=Region.SHARED)])
    assert test.locations == (Location("x", region=Region.SHARED), Location("y"))
    assert (test.name, test.description) == ("t", "about")
    assert test.condition.proposition.parts[1].left == FinalRegister(1, "r1")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "bytes.litmus").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"bytes\.litmus:1:1: cannot read: not UTF-8 text"):
        read_litmus(tmp_path / "bytes.litmus")
    with pytest.raises(InputError, match=r"none\.litmus: cannot read: No such file"):
        read_litmus(tmp_path / "none.litmus")


# Texts that nobody wrote by hand

LONG = 2000
MIXED = "(x = 1 /\\ (x = 2 \\/ "
WRITES = "C t\n{ x = 0; }\nP0 (int* x) { *x = 1; }\n"


def code(body):
    return f"C t\n{{ x = 0; }}\nP0 (int* x) {{ {body} }}\nexists (x = 1)\n"


@pytest.mark.parametrize("sign", ["\\/", "/\\"])
def test_conditions_may_be_long(sign):
    many = f" {sign} ".join(f"x = {value}" for value in range(LONG))
    test = parse_litmus(f"{WRITES}exists ({many})\n")
    assert len(test.condition.proposition.parts) == LONG
    assert litmus_digest(parse_litmus(DIALECTS["c"].print(test))) == litmus_digest(test)


def test_brackets_that_say_nothing_may_be_deep():
    assert parse_litmus(f"{WRITES}exists {'(' * LONG}x = 1{')' * LONG}\n").condition.proposition.right == 1


@pytest.mark.parametrize(
    "text",
    [
        f"{WRITES}exists ({'~' * LONG}(x = 1))\n",
        f"{WRITES}exists {MIXED * (LONG // 10)}x = 3{'))' * (LONG // 10)}\n",
        code(f"*x = {'(' * LONG}1{')' * LONG};"),
        code(f"*x = {' + '.join('1' * LONG)};"),
        code(f"{'{' * LONG} *x = 1; {'}' * LONG}"),
        code(f"{'if (1) ' * LONG} *x = 1;"),
        code(f"*x = {'-' * LONG}1;"),
    ],
)
def test_what_is_nested_too_deeply_has_its_place(text):
    with pytest.raises(InputError) as caught:
        parse_litmus(text, "t.litmus")
    assert caught.value.message == "expected code that is not nested as deeply"
    assert caught.value.line in (3, 4) and caught.value.column > 1


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\x9b", "\ud800", "\x1e"])
@pytest.mark.parametrize("where", ["C \N{BULLET}{}t", "C t{}", '"{}"', "// {}"])
def test_control_characters_are_no_text(character, where):
    head = where.format(character).replace("\N{BULLET}", "")
    lines = [head] if head.startswith("C") else ["C t", head]
    text = "\n".join([*lines, "{ x = 0; }", "P0 (int* x) { *x = 1; }", "exists (x = 1)", ""])
    with pytest.raises(InputError, match="expected text, found ") as caught:
        parse_litmus(text, "t.litmus")
    assert (caught.value.line, caught.value.column) == (
        len(lines),
        text.split("\n")[len(lines) - 1].index(character) + 1,
    )
    assert str(caught.value).isprintable()


def test_errors_show_what_a_terminal_would_obey():
    error = InputError("found '\x1b[2J\udcff\n'", "a\x07b.litmus", 1, 2)
    assert str(error) == r"a\x07b.litmus:1:2: found '\x1b[2J\udcff\n'"
