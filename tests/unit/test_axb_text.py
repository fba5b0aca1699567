"""Pseudo-code: what is printed, and one clear line for what cannot be read."""

import pytest
from refusals import refusal

from corpus.errors import InputError
from corpus.progress.axb import Instruction, Program
from corpus.progress.text import parse_axb, print_axb, read_axb

ALL_FORMS = """\
THREAD 0
0: if (Exch(Mem[0],1) == 1) goto 0;
1: Mem[0] = 0;
2: if (Mem[12] == 3) goto END;
THREAD 1
0: if (Mem[0] == 0) goto END;
"""


def test_every_form_of_instruction():
    program = parse_axb(ALL_FORMS)
    assert program == Program(
        (
            (Instruction(0, 1, 0, 1), Instruction(0, 0, 2, 0), Instruction(12, 3, 3)),
            (Instruction(0, 0, 1),),
        )
    )
    assert print_axb(program) == ALL_FORMS


def test_leading_zeros_and_the_largest_numbers():
    text = f"THREAD 0\n0: Mem[65535] = {'0' * 5000}2147483647;\n"
    assert parse_axb(text) == Program(((Instruction(65535, 0, 1, 2**31 - 1),),))


def test_an_exchange_that_compares_with_another_value_is_no_store():
    program = Program(((Instruction(0, 1, 1, 1),),))
    assert print_axb(program) == "THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto END;\n"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "expected THREAD, found the end of the file"),
        ("// only a comment", "1:18", "expected THREAD, found the end of the file"),
        ("THREAD 0", "1:9", "expected '@' or a number, found the end of the file"),
        ("THREAD 0\n0: Mem[0] = 1", "2:14", "expected ';', found the end of the file"),
        ("THREAD 0\n0: if (Mem[0] = 0) goto 0;", "2:15", "expected '==', found '='"),
        ("THREAD 0\n0: Mem[0] = -1;", "2:13", "expected a number, found '-'"),
        ("THREAD 0\n0: goto 0;", "2:4", "expected Mem or if, found 'goto'"),
        ("THREAD 1\n0: Mem[0] = 1;", "1:8", "expected THREAD 0, found 1"),
        ("THREAD 0\n0: Mem[0] = 1;\n2: Mem[0] = 1;", "3:1", "expected instruction 1, found 2"),
        ("THREAD 0\n0: if (Mem[0] == 0) goto 2;", "2:26", "jump out of range: expected END or 0..1, found 2"),
        ("THREAD 0\n0: Mem[65536] = 1;", "2:8", "expected a number up to 65535, found 65536"),
        ("THREAD 0\n0: Mem[0] = 2147483648;", "2:13", "expected a number up to 2147483647, found 2147483648"),
        (f"THREAD 0\n0: Mem[0] = {'9' * 5000};", "2:13", "expected a number up to 2147483647, found " + "9" * 20),
        ("THREAD 0\n0: Mem[0] = 1;\n\x00", "3:1", r"found '\x00'"),
    ],
)
def test_malformed_text_gets_one_line_with_its_place(text, place, message):
    shown = refusal(parse_axb, text, "t.axb")
    assert shown.startswith(f"t.axb:{place}: ")
    assert message in shown


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "bytes.axb").write_bytes("THREAD 0\n// à".encode() + b"\xff\xfe")
    with pytest.raises(InputError, match=r"bytes\.axb:2:5: cannot read: not UTF-8 text"):
        read_axb(tmp_path / "bytes.axb")
    with pytest.raises(InputError, match=r"none\.axb: cannot read: No such file"):
        read_axb(tmp_path / "none.axb")
    with pytest.raises(InputError, match="cannot read: Is a directory"):
        read_axb(tmp_path)


LAYOUTS = [
    ALL_FORMS.replace(";\n1:", "; 1:"),  # two instructions in a line
    ALL_FORMS.replace(" goto", "\ngoto"),  # one in two lines
    ALL_FORMS.replace("\n", " // 9: Mem[9] = 9;\n"),
    ALL_FORMS.replace("\n", "\n\n  // a \f 9: Mem[9] = 9; \u2028 9: Mem[9] = 9;\n"),
    ALL_FORMS.replace("\n", "\r\n"),
    ALL_FORMS.replace("THREAD 0\n", "THREAD 0 "),
    ALL_FORMS.replace("THREAD 0\n", "THREAD 00\n").replace("\n1:", "\n01:"),
    ALL_FORMS.replace("\nTHREAD 1", " THREAD 1"),
]


@pytest.mark.parametrize("text", LAYOUTS, ids=repr)
def test_a_program_is_the_same_however_it_is_laid_out(text):
    assert text != ALL_FORMS and parse_axb(text) == parse_axb(ALL_FORMS)
