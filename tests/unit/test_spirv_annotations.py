"""Annotations of SPIR-V text: what they mean, and one line for what is wrong."""

from __future__ import annotations

import pytest

from corpus.code.spirv.annotations import (
    AllClaims,
    AnyClaim,
    IndexedPlace,
    LaunchConfig,
    NotClaim,
    PlaceComparison,
    SpirvAnnotations,
    read_annotations,
)
from corpus.code.spirv.files import read_spirv
from corpus.errors import InputError
from corpus.litmus.propositions import Quantifier


def read(text: str) -> SpirvAnnotations:
    return read_annotations(read_spirv(text.encode(), "t"))


def is_one(name: str, *indices: int) -> PlaceComparison:
    return PlaceComparison("==", IndexedPlace(name, indices), 1)


def test_none():
    assert read("OpNop ; nothing @Input: of it\n; @Other: 5 @Output") == SpirvAnnotations({})


def test_inputs():
    found = read("; @Input: %x=-7, %1 = {1, 2}\nOpNop\n;@Input:  %data = {{0, {3, 4}}, {{5}, 6}}\r\n; @Input: %e={{1}}")
    assert found.inputs == {"x": -7, "1": (1, 2), "data": ((0, (3, 4)), ((5,), 6)), "e": ((1,),)}


def test_config():
    assert read("; @Config: 2, 3, 4").config == LaunchConfig(threads=2, subgroups=3, workgroups=4)


@pytest.mark.parametrize(
    ("words", "claim"),
    [
        ("%a == 1", is_one("a")),
        ("(%a[0][12]==1)", is_one("a", 0, 12)),
        ("1 != %a[2]", PlaceComparison("!=", 1, IndexedPlace("a", (2,)))),
        ("%a <= %b", PlaceComparison("<=", IndexedPlace("a"), IndexedPlace("b"))),
        ("%a>-1", PlaceComparison(">", IndexedPlace("a"), -1)),
        ("1 == 1", PlaceComparison("==", 1, 1)),
        (
            "%a==1 and %b==1 or %c==1 and %d==1",
            AnyClaim((AllClaims((is_one("a"), is_one("b"))), AllClaims((is_one("c"), is_one("d"))))),
        ),
        ("%a==1 and (%b==1 or %c==1)", AllClaims((is_one("a"), AnyClaim((is_one("b"), is_one("c")))))),
        ("not %a==1 and not (%b==1)", AllClaims((NotClaim(is_one("a")), NotClaim(is_one("b"))))),
    ],
)
def test_claims(words, claim):
    for quantifier, word in (
        (Quantifier.FORALL, "forall"),
        (Quantifier.EXISTS, "exists"),
        (Quantifier.NOT_EXISTS, "not exists"),
    ):
        found = read(f"; @Output: {word} {words},\n; @Filter: {words}")
        assert (found.quantifier, found.claim, found.filter) == (quantifier, claim, claim)


def test_several_outputs():
    parts = (is_one("a"), AnyClaim((is_one("b"), is_one("c"))))
    for word, every in (("forall", AllClaims(parts)), ("not exists", AnyClaim(parts))):
        assert read(f"; @Output: {word} (%a == 1)\n; @Output: {word} (%b == 1 or %c == 1)").claim == every


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("; @Input: %x 5", "t:1:14: expected '=', found '5'"),
        ("OpNop ; @Input: %x = 5 6", "t:1:24: expected the end of the annotation, found '6'"),
        ("; @Input: %x = {1, 2", "t:1:21: expected '}', found the end of the line"),
        ("; @Input: %x = 1.5", "t:1:17: expected the end of the annotation, found '.'"),
        ("; @Input: x = 1", "t:1:11: expected a variable, found 'x'"),
        ("; @Input: %x = 1, %x = 2", "expected one input of %x"),
        ("; @Config: 1, 0, 1", "t:1:15: expected a number from 1, found '0'"),
        ("; @Config: 1, 1", "t:1:16: expected ',', found the end of the line"),
        ("; @Config: 1, 1, 1\n; @Config: 1, 1, 1", "t:2:12: expected one @Config"),
        ("; @Output: (%x == 1)", "t:1:12: expected forall, exists or not exists, found '('"),
        ("; @Output: forall (%x = 1)", "t:1:23: expected one of == != < > <= >=, found '='"),
        ("; @Output: forall (%x == 1", "expected ')', found the end of the line"),
        ("; @Output: forall %x[-1] == 1", "expected a number from 0, found '-1'"),
        ("; @Output: exists 1 == 1\n; @Output: exists 1 == 1", "expected one @Output"),
        ("; @Output: exists 1 == 1\n; @Output: forall 1 == 1", "expected one @Output"),
        ("; @Filter: 1 == 1\n; @Filter: 1 == 1", "expected one @Filter"),
        ("; @Input: %x = " + "{" * 1000, "expected at most 100 brackets within each other"),
        ("; @Filter: " + "(" * 1000, "expected at most 100 brackets within each other"),
        ("; @Filter: " + "not " * 1000, "expected at most 100 brackets within each other"),
        ("; @Filter: %x == " + "9" * 5000, "expected a number"),
    ],
)
def test_what_is_wrong(text, message):
    with pytest.raises(InputError) as error:
        read(text)
    assert message in str(error.value)
