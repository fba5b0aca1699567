"""The .cat language: how expressions bind, what statements say, and one clear line with its place for what is wrong."""

import pytest

from corpus.errors import InputError
from oracle.cat.syntax import parse_cat, read_cat, shipped_models
from oracle.cat.terms import Call, Constant, ModelCheck, Name, Operation
from oracle.consistency import load_model

SYMBOLS = {"union": "|", "compose": ";", "difference": "\\", "intersection": "&", "product": "*"}
MARKS = {"plus": "^+", "star": "^*", "optional": "?", "inverse": "^-1"}


def shape(term):
    """A term with every operand in parentheses."""
    match term:
        case Name(name):
            return name
        case Constant(symbol):
            return symbol
        case Call(function, arguments):
            return f"{function}({', '.join(map(shape, arguments))})"
        case Operation("identity", (body,)):
            return f"[{shape(body)}]"
        case Operation("complement", (body,)):
            return f"~({shape(body)})"
        case Operation(kind, (body,)):
            return f"({shape(body)}){MARKS[kind]}"
        case Operation(kind, (left, right)):
            return f"({shape(left)}) {SYMBOLS[kind]} ({shape(right)})"
    raise AssertionError(term)


def expression(text):
    (statement,) = parse_cat(f"let x = {text}", "m.cat").statements
    return statement.bindings[0].body


def checks(text):
    return [s for s in parse_cat(text, "m.cat").statements if isinstance(s, ModelCheck)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b ; c", "(a) | ((b) ; (c))"),
        ("a ; b \\ c", "(a) ; ((b) \\ (c))"),
        ("a \\ b & c", "(a) \\ ((b) & (c))"),
        ("a & ~b", "(a) & (~(b))"),
        ("~a^-1", "~((a)^-1)"),
        ("~ ~a & b", "(~(~(a))) & (b)"),
        ("a \\ b \\ c", "((a) \\ (b)) \\ (c)"),
        ("a ; b ; c", "((a) ; (b)) ; (c)"),
        ("a & b | c & d", "((a) & (b)) | ((c) & (d))"),
        ("W * R & po", "((W) * (R)) & (po)"),
        ("a | W * R", "(a) | ((W) * (R))"),
        ("[W] ; po ; [R]", "(([W]) ; (po)) ; ([R])"),
        ("(a | b) ; c", "((a) | (b)) ; (c)"),
        ("a+ | a^+", "((a)^+) | ((a)^+)"),
        ("a? ; a^?", "((a)?) ; ((a)?)"),
        ("a^-1+?", "(((a)^-1)^+)?"),
        ("[R & W]?", "([(R) & (W)])?"),
        ("f(a | b, c)", "f((a) | (b), c)"),
        ("domain(a)*range(b)", "(domain(a)) * (range(b))"),
        ("_ * _ \\ id", "((_) * (_)) \\ (id)"),
        ("0 | a", "(0) | (a)"),
    ],
)
def test_operators_bind_as_documented(text, expected):
    assert shape(expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a*", "(a)^*"),
        ("a* ; b", "((a)^*) ; (b)"),
        ("a*;b*", "((a)^*) ; ((b)^*)"),
        ("a * b", "(a) * (b)"),
        ("a*b", "(a) * (b)"),
        ("a*[b]", "(a) * ([b])"),
        ("a*(b)", "(a) * (b)"),
        ("(a)*", "(a)^*"),
        ("a* | b", "((a)^*) | (b)"),
        ("a^* * b", None),
        ("a*+", "((a)^*)^+"),
        ("W*R+", "((W) * (R))^+"),
        ("a**", "((a)^*)^*"),
    ],
)
def test_a_star_is_a_product_between_two_operands_and_else_a_closure(text, expected):
    if expected is None:
        with pytest.raises(InputError):
            expression(text)
    else:
        assert shape(expression(text)) == expected


def test_names_hold_dashes_and_dots():
    assert (
        shape(expression("po-loc & membar.cta ; sc-per-loc-llh.x")) == "((po-loc) & (membar.cta)) ; (sc-per-loc-llh.x)"
    )


def test_comments():
    text = "(* let x = a *) let y = (* ( *) b // | c\n (* over\n lines *) | d // the end"
    (definition,) = parse_cat(text, "m.cat").statements
    assert (definition.bindings[0].name, shape(definition.bindings[0].body)) == ("y", "(b) | (d)")


def test_checks():
    found = checks(
        'acyclic a as one irreflexive b as "number two" empty c ~empty d as four flag ~empty e as five\nflag acyclic f'
    )
    assert [(c.kind, c.name, c.negated, c.flag) for c in found] == [
        ("acyclic", "one", False, False),
        ("irreflexive", "number two", False, False),
        ("empty", "empty on line 1", False, False),
        ("empty", "four", True, False),
        ("empty", "five", True, True),
        ("acyclic", "acyclic on line 2", False, True),
    ]
    assert (found[5].position.path, found[5].position.line, found[5].position.column) == ("m.cat", 2, 6)


def test_a_check_may_be_the_first_thing():
    assert [check.kind for check in checks("acyclic po")] == ["acyclic"]
    assert [check.kind for check in checks("flag empty po")] == ["empty"]


@pytest.mark.parametrize("text", ["letx = po", "let rec a = po android b = rf", "flagempty rf", "acyclicpo rf"])
def test_keywords_end_where_a_name_would_go_on(text):
    with pytest.raises(InputError):
        parse_cat(text, "m.cat")


def test_names_may_begin_as_keywords_do():
    names = [
        s.bindings[0].name for s in parse_cat("let letter = a let record = b let empty-set = c", "m.cat").statements
    ]
    assert names == ["letter", "record", "empty-set"]


def test_titles():
    assert parse_cat('"My model, 2"\nacyclic po', "m.cat").title == "My model, 2"
    assert parse_cat("mine\nacyclic po", "m.cat").title == "mine"
    assert parse_cat("acyclic po", "some/m.cat").title == "m"


def test_definitions():
    plain, function, mutual = parse_cat(
        "let a = po let f(r, s) = r; [s] let rec x = a | (y; x) and y = 0", "m.cat"
    ).statements
    assert (plain.recursive, function.recursive, mutual.recursive) == (False, False, True)
    assert function.bindings[0].parameters == ("r", "s")
    assert [binding.name for binding in mutual.bindings] == ["x", "y"]


def test_coherence_is_total_unless_a_model_says_otherwise():
    assert not parse_cat("let a = co", "m.cat").partial_co
    assert parse_cat("with co from partial-co", "m.cat").partial_co
    assert not parse_cat("with co from partial-co with co from total-co", "m.cat").partial_co
    assert parse_cat('include "ptx-6.0.cat"', "m.cat").partial_co


def test_includes_are_found_beside_the_file_then_among_those_that_ship(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "own.cat").write_text('let own = rf include "deeper.cat"')
    (tmp_path / "folder" / "deeper.cat").write_text("acyclic own as deeper")
    (tmp_path / "tso.cat").write_text('"not the one that ships"\nirreflexive po as mine')
    model = tmp_path / "m.cat"
    model.write_text('include "folder/own.cat" include "tso.cat" include "parts/rmo.cat" include "sc.cat"')
    syntax = read_cat(str(model))
    names = [s.name if isinstance(s, ModelCheck) else s.bindings[0].name for s in syntax.statements]
    assert syntax.title == "m"
    assert names[:3] == ["own", "deeper", "mine"]
    assert "sc-per-loc-llh" in names and "sc" in names and "rmo-constraint" not in names


def test_a_file_may_be_included_twice(tmp_path):
    (tmp_path / "part.cat").write_text("let part = po")
    assert len(parse_cat('include "part.cat" include "part.cat"', str(tmp_path / "m.cat")).statements) == 2


def error_of(text, path="m.cat"):
    with pytest.raises(InputError) as caught:
        parse_cat(text, path)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("let x = ", 1, 9, "found the end of the file"),
        ("let x = po\nlet = rf", 2, 5, "expected a name or rec, found '='"),
        ("let x = po ;; rf", 1, 13, "found ';'"),
        ("let x = (po | rf", 1, 17, "found the end of the file"),
        ("let x = po\n\n  let y = {po", 3, 14, "found the end of the file"),
        ("let x = 1", 1, 9, "found '1'"),
        ("let f(0) = po", 1, 7, "expected '_' or a name, found '0'"),
        ("acyclic", 1, 8, "found the end of the file"),
        ("acyclic po as", 1, 14, "expected a name or a text in quotes, found the end of the file"),
        ("let x = po (* never ended", 1, 13, "found '*'"),
        ("let rec f(r) = r", 1, 9, "a function cannot be recursive"),
        ("let rec a = po and a = rf", 1, 9, "'a' is defined twice at once"),
        ("with co from some-co", 1, 6, "expected 'with co from partial-co' or 'with co from total-co'"),
        ("with rf from partial-co", 1, 6, "expected 'with co from partial-co' or 'with co from total-co'"),
        ('let a = po\n  include "no-such.cat"', 2, 11, "cannot include no-such.cat"),
        ('include "folder/sc.cat"', 1, 9, "cannot include folder/sc.cat"),
        ("include sc.cat", 1, 9, "expected a text in quotes"),
    ],
)
def test_errors_are_one_line_with_their_place(text, line, column, words):
    error = error_of(text)
    assert (error.path, error.line, error.column) == ("m.cat", line, column)
    assert words in error.message


def test_a_file_that_includes_itself(tmp_path):
    (tmp_path / "a.cat").write_text('let a = po\ninclude "b.cat"')
    (tmp_path / "b.cat").write_text('\n include "a.cat"')
    error = error_of((tmp_path / "a.cat").read_text(), str(tmp_path / "a.cat"))
    assert str(error) == f"{tmp_path / 'b.cat'}:2:10: a.cat includes itself"


def test_an_error_in_an_included_file_has_that_files_place(tmp_path):
    (tmp_path / "part.cat").write_text("let x =\n  po | | rf")
    error = error_of('include "part.cat"', str(tmp_path / "m.cat"))
    assert (error.path, error.line, error.column) == (str(tmp_path / "part.cat"), 2, 8)


def test_a_missing_file():
    with pytest.raises(InputError, match="cannot read"):
        read_cat("no/such/model.cat")


@pytest.mark.parametrize("name", shipped_models())
def test_a_model_that_ships_opens_with_a_title_a_glossary_and_its_source(name):
    with open(shipped_models()[name], encoding="utf-8") as file:
        text = file.read()
    opening = text[: text.index("*)")]
    assert text.startswith('"') and "(*" in opening and "Source:" in opening
    model = load_model(shipped_models()[name], name)
    assert model.syntax.title != name
    assert any(isinstance(statement, ModelCheck) and not statement.flag for statement in model.syntax.statements)
