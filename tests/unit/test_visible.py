"""No C1 control and no bidirectional control of a stranger's reaches a terminal or a file; no cell is a formula."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import in_form, synth
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from backends.shared.results import ProgressFailure, trial_of
from corpus.comma_separated import cells, csv_cell, csv_line, read_rows
from corpus.errors import UNSEEN, InputError, visible
from corpus.files import write_atomically
from corpus.journal import read_corpus
from corpus.lines import encode
from corpus.test import Test
from tests.reported import SB, memory_result, memory_test, progress_result, progress_tests, write_results, write_suite

UNSEEN_CHARACTERS = [
    *map(chr, range(0x80, 0xA0)),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
]
HIDDEN = "a\u202eb\x9b2J\u2066c\u200f"
SEEN = "a\\u202eb\\u009b2J\\u2066c\\u200f"
RAW = re.compile(f"[{UNSEEN}]")


def test_which_characters() -> None:
    assert {chr(number) for number in range(0x11000) if RAW.match(chr(number))} == set(UNSEEN_CHARACTERS)
    assert visible(HIDDEN) == SEEN and visible("é\t\n\x1b[0m") == "é\t\n\x1b[0m"


@given(st.text())
def test_json_loses_nothing(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert json.loads(encode({"name": text})) == {"name": text}
    assert not RAW.search(encode({"name": text}).decode())


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=4))
def test_cells_come_back(row: list[str]) -> None:
    line = csv_line(row)
    (read,) = csv.reader(io.StringIO(line, newline=""), strict=True)
    assert cells(read) == [visible(cell) for cell in row]
    assert not any(cell[:1] in tuple("=+-@\t\r") and cell for cell in read)


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("'=1+1", "''=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@sum", "'@sum"),
        ("\tx", "'\tx"),
        ("'quoted'", "'quoted'"),
        ("a=1", "a=1"),
        ("2x4-0001", "2x4-0001"),
        ("MP+rel.gpu+acq.gpu", "MP+rel.gpu+acq.gpu"),
        (HIDDEN, SEEN),
        (-1, "-1"),
        (0.5, "0.5"),
        ("a,b", '"a,b"'),
        ("\r=1", '"\'\r=1"'),
        ("x\r=1", '"x\r=1"'),
    ],
)
def test_cells_are_no_formulas(cell: object, written: str) -> None:
    assert csv_line([cell]) == f"{written}\n"
    assert not isinstance(cell, str) or csv_cell(cell) == written


def test_a_file_that_is_no_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,b\n"c,d\n')
    with pytest.raises(InputError, match=r"a.csv:2:1: not CSV: unexpected end of data$"):
        list(read_rows(tmp_path / "a.csv"))


def test_files_hide_nothing(tmp_path: Path) -> None:
    write_atomically(tmp_path / "text", [HIDDEN, HIDDEN.encode()])
    assert (tmp_path / "text").read_text("utf-8") == SEEN + HIDDEN  # bytes are not ours to change


@pytest.fixture
def hostile(tmp_path: Path) -> list[Path]:
    """Suites of both families with results, in which every name that strangers give hides something."""
    waits, mutex = progress_tests((f"=cmd|'/C'!A0{HIDDEN}", f"@{HIDDEN}"))
    sb = replace(memory_test(), name=f"-{HIDDEN}")
    device = {"device": f"+GPU {HIDDEN}", "driver": f"={HIDDEN}"}
    failed = progress_result(mutex, "T", mapping="chunked", **device)
    asked = {name: getattr(trial_of(failed), name) for name in trial_of(failed).__struct_fields__}
    progress = write_suite(tmp_path / "progress", [waits, mutex], "progress")
    memory = write_suite(tmp_path / "memory", [sb], "memory")
    write_results(
        progress / "results.jsonl",
        [progress_result(waits, "H", **device), ProgressFailure(**asked, error=f"cc: {HIDDEN}")],
    )
    write_results(memory / "results.jsonl", [memory_result(sb, (((0, 0), 3), ((0, 1), 5)), **device)])
    return [progress, memory]


@pytest.mark.parametrize("form", ["html", "md", "tex", "json", "xml", "csv"])
def test_reports(hostile: list[Path], tmp_path: Path, form: str) -> None:
    file = tmp_path / f"out.{form}"
    told = synth("report", *hostile, "-o", file, "--title", HIDDEN, "--sound", "sc")
    assert told.exit_code == 1 and not RAW.search(told.output)
    text = file.read_text("utf-8")
    assert not RAW.search(text)
    if form != "html":
        named = {"md": "markdown", "tex": "latex", "xml": "junit"}.get(form, form)
        told = synth("report", *hostile, *in_form(named), "--title", HIDDEN)
        assert told.exit_code == 0 and not RAW.search(told.stdout)
    match form:
        case "json":
            assert [test["name"] for test in json.loads(text)["tests"]][1] == f"@{HIDDEN}"
        case "xml":
            assert ElementTree.fromstring(text).get("failures") == "1"
        case "csv":
            rows = list(csv.reader(io.StringIO(text)))
            assert not any(cell[:1] in tuple("=+-@\t\r") and cell for row in rows for cell in row)
            assert cells(rows[2])[1] == f"@{SEEN}" and cells(rows[1])[6] == f"+GPU {SEEN}"


def test_commands(hostile: list[Path], tmp_path: Path) -> None:
    progress, memory = hostile
    every = [
        ("show", progress, "--tests"),
        ("--format", "markdown", "show", memory, "--tests"),
        ("label", progress, "--format", "csv"),
        ("label", progress, "--json"),
        ("label", memory),
        ("diff", progress, "mapping=round-robin", "mapping!=round-robin"),
        ("diff", memory / "results.jsonl", progress / "results.jsonl"),
        ("select", progress, "--separate-models", "-o", tmp_path / "chosen"),
        ("explain", progress, "--where", "@*", "-m", "obe-weak"),
        ("import", progress / "results.jsonl", "--suite", memory, "-o", tmp_path / "all.jsonl"),
        ("compile", progress, "--backend", "cpp", "-o", tmp_path / "programs"),
        ("compile", progress, "--backend", "web", "-o", tmp_path / "site"),
        ("compile", memory, "--backend", "cpp", "-o", tmp_path / "kernels"),
        ("explain", memory, "-m", "sc", "--picture", tmp_path / "sb.svg"),
        ("explain", progress, "--where", "@*", "-m", "obe-weak", "--picture", tmp_path / "mutex.dot"),
        ("export", progress, "--to", "axb", "-o", tmp_path / "export"),
        ("label", f"no {HIDDEN}.axb"),
        (f"no-{HIDDEN}",),
    ]
    for words in every:
        told = synth(*words)
        assert told.output and not RAW.search(told.output), words
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert not RAW.search(file.read_text("utf-8", "replace")), file
    names = [test.name for test in read_corpus(progress).tests]
    assert [test.name for test in read_corpus(tmp_path / "chosen").tests] == names and names[1] == f"@{HIDDEN}"


def test_a_process_of_its_own(tmp_path: Path) -> None:
    """As a shell starts it, with pipes for standard output and standard error."""
    (tmp_path / f"{HIDDEN}.litmus").write_text(SB)
    for words in (["label", f"{HIDDEN}.litmus", "-m", "sc"], ["label", f"{HIDDEN}.axb"]):
        command = [sys.executable, "-c", "from synth.commands.cli import main; main()", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True)
        said = (done.stdout + done.stderr).decode()
        assert "a\\u202eb" in said and not RAW.search(said)


def test_labels_go_on_where_names_hide_something(tmp_path: Path) -> None:
    """A name that is escaped in a file of labels is still that of its test."""
    tests = [Test(f"={HIDDEN}{number}", test.digest, test.text) for number, test in enumerate(progress_tests())]
    suite = tmp_path / "suite"
    write_suite(suite, [replace(test, verdicts={"sc": ""}) for test in tests], "progress")
    words = ("label", suite, "-m", "fair", "-o", tmp_path / "labels.csv")
    assert synth(*words).exit_code == 0
    whole = (tmp_path / "labels.csv").read_bytes()
    (tmp_path / "labels.csv").write_bytes(whole[: whole.index(b"1,") + 4])
    assert synth(*words).exit_code == 0
    assert (tmp_path / "labels.csv").read_bytes() == whole
