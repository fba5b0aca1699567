"""Files for herd7 are held against herd7's own rules, which stand here as its sources have them."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.cycle import cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.dialects.herd import WORDS, herd_name
from corpus.dialects.registry import DIALECTS, parse_litmus, read_litmus, runners, translate
from corpus.errors import InputError
from corpus.litmus.condition import parse_condition

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("*.litmus"))

# lib/splitter.mll: let testname = (alpha|digit|'_' | '/' | '.' | '-' | '+'|'['|']'|':')+
#   main: blank* (alpha|digit|'_')+ blank+ testname blank* ... ('\n'? blank* '"' [^'"']* '"' blank*)? ';'?
TESTNAME = r"[A-Za-z0-9_/.+\[\]:-]+"
FIRST_LINES = re.compile(rf'(?:C|LISA) (?P<name>{TESTNAME})\n(?:"[^"]*"\n)?' + r"\{")

# lib/stateLexer.mll: let name = (alpha|'_'|'.'|'$')+ (alpha|digit|'_'|'/'|'.'|'-')*; num = '-'? digit+ | 0x hexadigit+
# lib/stateParser.mly, of what we write: atom_init: left_loc EQUAL maybev_label, where a maybev is a NUM or a NAME, and
#   left_loc is NAME or NUM COLON NAME. "&" is for registers and pointers of known type only, and in newer ones.
NAME = r"[A-Za-z_.$][A-Za-z0-9_/.-]*"
VALUE = rf"(?:-?[0-9]+|{NAME})"
INIT = re.compile(rf"\{{\s*(?:(?:[0-9]+:)?{NAME} ?= ?{VALUE};\s*)*\}}")

# atom_prop: location (EQUAL|NOTEQUAL) maybev | location EQUAL location_deref, the last [NAME] or a register
ATOM = rf"(?:[0-9]+:)?{NAME} (?:=|!=) {VALUE}|(?:[0-9]+:)?{NAME} = (?:\[{NAME}\]|[0-9]+:{NAME})"
CONDITION = re.compile(rf"(?:{ATOM}|true|false|~|[() ]|/\\|\\/)*")

TARGETS = {"herd-c": "c-*.litmus", "herd-lisa": "*.litmus"}


# lib/CLexer.mll and lib/BellLexer.mll, of what we write. In C a minus before digits is part of the number, and older
# versions know no such numbers; "&x", "do", "," in an expression and "(int){1}" have no rule in lib/CParser.mly. In
# LISA a name has no dot, and a condition of a branch is a register.
C_TOKEN = re.compile(r"\s+|-?[0-9]+|[A-Za-z_][A-Za-z0-9_]*|==|!=|<=|>=|[;:,|*/+^&~(){}=<>-]")
LISA_TOKEN = re.compile(r"\s+|-?(?:0x)?[0-9]+|[A-Za-z][A-Za-z0-9_/-]*|[;,|:()\[\]{}+]")


def lexed(code, token):
    """The words and signs of a text; fails where no token begins."""
    found, at = [], 0
    while at < len(code):
        match = token.match(code, at)
        assert match, code[at:]
        found += [match[0]] * (not match[0].isspace())
        at = match.end()
    return found


def for_runner(target, test):
    """The test's text for a runner, None where it cannot be said there."""
    dialect, runner = runners()[target]
    try:
        test = runner.prepare(test)
        runner.check(test)
        return translate(replace(test, name=runner.rename(test.name)), dialect)
    except InputError:
        return None


def obeys_herd(text):
    header = FIRST_LINES.match(text)
    assert header, text
    init = INIT.match(text, header.end() - 1)
    assert init, text
    rest = text[init.end() :]
    code, *question = re.split(r"^(?=(?:locations|filter|exists|forall|~exists))", rest, flags=re.MULTILINE)
    # lib/splitter.mll, inside_prog: these words end the code wherever they stand
    assert not WORDS.intersection(re.findall(r"[A-Za-z][A-Za-z0-9_/.-]*", code)) - {"and"}, text
    tokens = lexed(code, C_TOKEN if text.startswith("C ") else LISA_TOKEN)
    assert not any(one in "=(,&|^*/+-" and other == "&" for one, other in pairwise(tokens)), code
    for line in "".join(question).splitlines():
        if not line.startswith("locations"):
            assert CONDITION.fullmatch(line.partition(" ")[2]), line
    return header["name"]


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_written_for_herd_is_read_by_herd(target):
    texts = [text for path in EXAMPLES if (text := for_runner(target, read_litmus(path)))]
    assert len(texts) >= {"herd-c": 35, "herd-lisa": 85}[target]
    for text in texts:
        obeys_herd(text)


def test_a_location_that_holds_an_address_has_no_ampersand_in_c():
    test = parse_litmus(
        "C t\n{ x = 0; p = &x; 0:q = &x; }\nP0 (int* p) { int r = *p; int s = *q; }\nexists (0:r = 0)\n"
    )
    text = for_runner("herd-c", test)
    assert "{ p = x; x = 0; 0:q = x; }" in text or "{ x = 0; p = x; 0:q = x; }" in text
    obeys_herd(text)
    assert "p = &x;" in DIALECTS["opencl"].print(test)  # Dartagnan's: there, p = x copies a value


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("1 = 0:r", "0:r = 1"),
        ("x = y", "x = [y]"),
        ("0:r = x", "0:r = [x]"),
        ("x = 0:r", "x = 0:r"),
        ("x != y", "~(x = [y])"),
        ("x != 2", "x != 2"),
        ("0:s = 0", "0:s = 0"),
    ],
)
def test_conditions_as_herd_takes_them(given, written):
    code = "P0 (int* x, int* y) { int r = *x; *y = 1; }"
    text = for_runner("herd-c", parse_litmus(f"C t\n{{ x = 0; y = 0; 0:s = 0; }}\n{code}\nexists ({given})\n"))
    assert text.splitlines()[-1] == f"exists ({written})"
    obeys_herd(text)


@pytest.mark.parametrize("condition", ["1 = 2", "x = 1 /\\ 1 = 0:s"])
def test_two_numbers_are_compared_in_no_file_for_herd(condition):
    test = parse_litmus("C t\n{ x = 0; }\nP0 (int* x) { *x = 1; }\nexists (x = 1)\n")
    asked = parse_condition(f"exists ({condition})", None, lambda term, token: None)
    for target in TARGETS:
        _, runner = runners()[target]
        with pytest.raises(InputError, match="not two numbers"):
            runner.check(replace(test, condition=asked))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("int r = 0; atomic_compare_exchange_strong(x, &r, 1);", "herd7 takes the expected value from memory"),
        ("int r = atomic_load(x); int s = max(r, 1);", "herd7 has no max"),
        ("int r = 0; do { atomic_store(x, 1); } while (r == 0);", "herd7 has no do .. while"),
        ("int r; while (r = atomic_load(x), r == 0) { }", "herd7 computes nothing in the condition of a loop"),
        ("int r = atomic_load(x) + *x;", "herd7 has no assignment within an expression"),
        ("int r = 0; while (1) { do { atomic_store(x, 1); } while (r == 0); }", "herd7 has no do .. while"),
    ],
)
def test_what_herd_has_no_rule_for_is_refused_by_name(code, message):
    test = parse_litmus(f"C t\n{{ x = 0; }}\nP0 (atomic_int* x) {{ {code} }}\nexists (x = 0)\n")
    _, runner = runners()["herd-c"]
    with pytest.raises(InputError, match=message):
        runner.check(test)
    assert DIALECTS["c"].print(test)


@pytest.mark.parametrize("word", ["lock", "struct", "final", "cases", "tag"])
def test_words_of_herd_name_no_location_of_c(word):
    test = parse_litmus(f"C t\n{{ {word} = 0; }}\nP0 (int* {word}) {{ int void0 = *{word}; }}\nexists (0:void0 = 1)\n")
    with pytest.raises(InputError, match=f"{word}: C has no location of this name"):
        DIALECTS["c"].print(test)


def test_names_are_whole_and_apart_in_herd():
    bounds = CycleBounds(parse_edges("PodWW PodRR PodWR PodRW Rfe Fre Coe"), ("cta", "gpu"))
    names = {cycle_name(oriented(cycle)) for size in (4, 6) for cycle in cycles(bounds, size)}
    assert any("@" in name for name in names)
    renamed = {herd_name(name) for name in names}
    assert len(renamed) == len(names)
    assert all(re.fullmatch(TESTNAME, name) for name in renamed)
    cycle = next(oriented(cycle) for cycle in cycles(bounds, 4) if "@" in cycle_name(oriented(cycle)))
    test = litmus_test(cycle)
    assert obeys_herd(for_runner("herd-lisa", test)) == herd_name(test.name) != test.name


@pytest.mark.parametrize("name", ["a b", "MP@0--1", "x|y", "[a]", "ü"])
def test_a_name_for_herd_has_letters_digits_and_four_signs(name):
    assert re.fullmatch(r"[A-Za-z0-9_.+-]+", herd_name(name))


def test_the_numbers_of_dependencies_have_no_sign():
    cycle = next(cycles(CycleBounds(parse_edges("DpAddrdR PodWW Rfe Fre"), ()), 4))
    text = for_runner("herd-lisa", litmus_test(oriented(cycle)))
    assert re.search(r"\(and r[0-9]+ [0-9]+\)", text)
    obeys_herd(text)


def test_gpu_scope_is_system_scope_in_c_where_there_is_one_gpu():
    header = "GPU_PTX t\n{ 0:.reg .b64 r1 = x; }\n T0 ;\n atom.add.b32 r0,[r1],1 ;\n"
    test = parse_litmus(f"{header}ScopeTree(grid(cta(warp T0)))\nx: global\nexists (x = 1)\n")
    with pytest.raises(InputError, match="C has no scope gpu"):
        DIALECTS["c"].print(test)
    text = for_runner("herd-c", test)
    assert "atomic_fetch_add_explicit(r1, 1, memory_order_relaxed)" in text
    obeys_herd(text)
    two = "GPU_PTX t\n{ 0:.reg .b64 r1 = x; 1:.reg .b64 r1 = x; }\n"
    two += " T0 | T1 ;\n atom.add.b32 r0,[r1],1 | atom.add.b32 r0,[r1],1 ;\n"
    two += "ScopeTree(gpu(cta(warp T0)))(gpu(cta(warp T1)))\nx: global\nexists (x = 1)\n"
    assert for_runner("herd-c", parse_litmus(two)) is None
