"""A .cat model that nests, doubles or never ends: one line with its place, in bounded time."""

import time

import pytest

from corpus.errors import InputError
from oracle.cat.interpreter import MOST_DEEP, MOST_STEPS
from oracle.cat.syntax import MOST_BYTES, MOST_INCLUDED
from oracle.cat.terms import MOST_NESTED, MOST_STATEMENTS
from oracle.consistency import load_model

MANY = 1000


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
    with pytest.raises(InputError) as caught:
        load_model(str(path))
    assert str(caught.value).startswith(f"{path}: cannot read: ")
