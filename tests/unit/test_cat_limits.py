"""A .cat model that nests, doubles or never ends: one line with its place, in bounded time."""

import time
from pathlib import Path

import pytest
from refusals import refusal

from constraints.executions import judge_by_sat
from constraints.programs.forbidden import Forbidden, SeparationQuestion
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from oracle.cat.interpreter import MOST_DEEP, MOST_STEPS
from oracle.cat.syntax import MOST_BYTES, MOST_INCLUDED
from oracle.cat.terms import MOST_BLOCKS, MOST_NESTED, MOST_STATEMENTS
from oracle.consistency import load_model
from oracle.executions.judge import judge
from oracle.executions.witness import explain_memory
from synth.memory.explanation import explanation_account
from synth.memory.suites import narrowed

MANY = 1000
MP = Path(__file__).parents[2] / "examples" / "memory" / "mp-weak.litmus"


def within(depth, text="po", around=("(", ")")):
    return around[0] * depth + text + around[1] * depth


def doubling(body):
    """Functions of which each applies the one before it twice."""
    lines = "".join(f"let f{number + 1}(r) = {body.replace('f', f'f{number}')}\n" for number in range(60))
    return f"let f0(r) = r; r\n{lines}acyclic f60(po)"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("acyclic " + " | ".join(["po"] * MANY), f"1:9: more than {MOST_NESTED} operators within each other"),
        (f"acyclic {'~' * MANY}po", f"1:160: more than {MOST_NESTED} operators within each other"),
        (f"acyclic po{'?' * MANY}", f"1:9: more than {MOST_NESTED} operators within each other"),
        (f"empty {within(MANY, 'R', '[]')}", f"more than {MOST_NESTED} operators within each other"),
        (f"let f(r) = r acyclic {within(MANY, 'po', ('f(', ')'))}", f"more than {MOST_NESTED} operators within"),
        (
            "let f0(r) = r\n"
            + "".join(f"let f{number + 1}(r) = f{number}(r)\n" for number in range(MANY))
            + f"acyclic f{MANY}(po)",
            f"more than {MOST_DEEP} operators and functions within each other",
        ),
        (doubling("f(r); f(r)"), f"the model applies more than {MOST_STEPS} operators and functions"),
        (doubling("f(f(r))"), f"the model applies more than {MOST_STEPS} operators and functions"),
        ("acyclic po\n" * (MOST_STATEMENTS + 1), f"{MOST_STATEMENTS + 1}:1: more than {MOST_STATEMENTS} definitions"),
        ("//" + " " * MOST_BYTES, f"cannot read: larger than {MOST_BYTES} bytes"),
        ('include "i0.cat"', f"more than {MOST_INCLUDED} files that include each other in a chain"),
        ('include "i30.cat"', f"i50.cat:1:19: more than {MOST_STATEMENTS} definitions and checks so far"),
    ],
)
def test_what_goes_too_far_is_refused_in_one_line(tmp_path, text, error):
    for number in range(60):
        body = f'include "i{number + 1}.cat" ' * 2 if number < 59 else "acyclic po " * 4
        (tmp_path / f"i{number}.cat").write_text(body)
    (tmp_path / "m.cat").write_text(text)
    started = time.process_time()
    with pytest.raises(InputError) as caught:
        load_model(str(tmp_path / "m.cat"))
    assert time.process_time() - started < 10
    message = str(caught.value)
    assert error in message and "\n" not in message and len(message) < 400
    assert caught.value.line or "larger" in message


def test_what_is_long_but_not_deep_is_read(tmp_path):
    path = tmp_path / "m.cat"
    lines = "".join(f"let a{number + 1} = a{number}; a{number}\n" for number in range(MANY))
    path.write_text(f"let a0 = po\n{lines}acyclic {within(MANY, f'a{MANY}')}")
    assert load_model(str(path)).name == "m"


def test_a_diamond_of_includes_is_read_once(tmp_path):
    for number in range(40):
        (tmp_path / f"e{number}.cat").write_text(f'include "e{number + 1}.cat" include "e{number + 1}.cat"')
    (tmp_path / "e40.cat").write_text("(* nothing *)")
    assert load_model(str(tmp_path / "e0.cat")).syntax.statements == ()


@pytest.mark.parametrize("kind", ["folder", "device", "link"])
def test_a_model_is_a_file_of_text(tmp_path, kind):
    path = tmp_path / "m.cat"
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else path)
    assert refusal(load_model, str(path)).startswith(f"{path}: cannot read: ")


CHAINS = {
    "names": "a{0}",
    "closure": "a{0}^+ | po",
    "inverse": "(a{0}^-1)^-1",
    "twice": "a{0}; a{0}",
    "difference": "(a{0} \\ rmw) | fr",
    "meeting": "a{0} & (a{0}; po?)",
    "complement": "~(~a{0})",
    "alternating": "(a{0} & (po | co)) | rf | (fr & a{0})",
    "on and on": "a{0}; (po | rf | fr)",
}


def chain_of_lets(body, length):
    """Definitions of which each mentions the one before it."""
    lines = "".join(f"let a{number + 1} = {body.format(number)}\n" for number in range(length))
    return f"let a0 = po | rf | co | fr\n{lines}acyclic a{length} as end\n"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("body", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("length", [400, MOST_STATEMENTS - 300])
def test_each_reader_follows_a_chain_of_definitions(tmp_path, body, length):
    path = tmp_path / "m.cat"
    path.write_text(chain_of_lets(body, length))
    model = load_model(str(path))
    test = parse_litmus(MP.read_text(), str(MP))
    explained = explain_memory(test, model)
    judged = {explained.answer, *(judge(test, model, counts=counts).answer for counts in (True, False))}
    assert len(explanation_account(explained, 2).text()) < 100_000
    if length == 400:  # what a solver is given is as long
        judged.add(judge_by_sat(test, model).answer)
        assert Forbidden(SeparationQuestion(model), narrowed([model], ""), (2, 1)).formula.variables
    assert len(judged) == 1


def test_a_path_that_is_too_long_to_be_read_ends_at_a_name(tmp_path):
    path = tmp_path / "m.cat"
    path.write_text(chain_of_lets("a{0}; a{0}", 30))
    explanation = explanation_account(explain_memory(parse_litmus(MP.read_text(), str(MP)), load_model(str(path))), 2)
    lines = explanation.text().splitlines()
    assert "  a -a30-> a  is  a -a29-> a -a29-> a" in lines
    assert any("...-> a -a" in line for line in lines) and len(lines) < 40


DEEP = 2000


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (f"acyclic {within(DEEP)}", ""),
        (f"acyclic {'(po; ' * DEEP}rf{')' * DEEP}", "operators within each other"),
        (f"acyclic {'(' * DEEP}po{'; rf)' * DEEP}", "operators within each other"),
        ("acyclic " + "; ".join(["po"] * DEEP), "operators within each other"),
        (f"let a = {''.join(f'let b{n} = ' for n in range(DEEP))}po{' in po' * DEEP} acyclic a", "within each other"),
        (f"let a = {''.join(f'let b{n} = po in ' for n in range(DEEP))}po acyclic a", "within each other"),
        (f"let a = {'try ' * DEEP}po{' with rf' * DEEP} acyclic a", "within each other"),
        (f"""let a = {'if "v" then po else ' * DEEP}po acyclic a""", "within each other"),
        (f"""let a = if {"not " * DEEP}"v" then po else rf acyclic a""", ""),
        (f"""let a = if {'"v" && ' * DEEP}"v" then po else rf acyclic a""", ""),
        (f"""{'if "v" acyclic po else ' * DEEP}acyclic rf{" end" * DEEP}""", f"more than {MOST_BLOCKS} blocks"),
        (f"""{"match 'a with || 'a -> " * DEEP}acyclic rf{" end" * DEEP}""", f"more than {MOST_BLOCKS} blocks"),
        (f"""{"forall t in {'a} do " * DEEP}acyclic rf{" end" * DEEP}""", f"more than {MOST_BLOCKS} blocks"),
        (
            "procedure p0() = acyclic po end "
            + " ".join(f"procedure p{n + 1}() = call p{n}() end" for n in range(DEEP))
            + f" call p{DEEP}()",
            f"more than {MOST_BLOCKS} blocks and procedures within each other",
        ),
        (chain_of_lets("a{0}^+", 5000), f"more than {MOST_STATEMENTS} definitions"),
    ],
)
def test_what_nests_two_thousand_deep_is_read_or_refused_in_one_line(tmp_path, text, error):
    path = tmp_path / "m.cat"
    path.write_text(text)
    if not error:
        assert judge(parse_litmus(MP.read_text(), str(MP)), load_model(str(path))).answer
        return
    with pytest.raises(InputError, match=error) as caught:
        load_model(str(path))
    assert "\n" not in str(caught.value) and caught.value.line
