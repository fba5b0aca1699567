"""Whatever is changed in a certified corpus is refused with its place, but for a list of what is free.

The forgeries are enumerated: every value, key and item of every JSON, every line and cell of the tables, lines of every
file of the certificate, every file. Each is made alone. What is accepted all the same has to be on the list of
``synth.rebuilding``.
"""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from certified import synth

from corpus.links import MUTANTS
from corpus.suite import TIMES
from synth.memory import verification as of_memory
from synth.pool import map_each
from synth.progress import verification as of_progress
from synth.rebuilding import FREE

SUITES = {
    "progress": "progress -t 2 -n 2 --all",
    "behaviours": "progress -t 3 -n 3 --symmetric-threads",
    "model": "memory --from sc --events 2 -m tso --mutants --criterion both",
    "programs": "memory --from tso --events 2..3 --up-to program --axiom causality --threads 2",
    "cycles": "memory --size 3..4 -m sc -m ptx-6.0 --scopes cta --regions global,shared --edges",
}
EDGES = "PodWW PodRR Rfe Fre Rmw Vol"

SAME = {
    ("progress", "request.locs"),  # of two instructions no more than two locations are used
    ("programs", "request.axioms.more"),  # named twice
    ("cycles", "request.scopes.more"),
    ("cycles", "request.labelled_under.more"),
    ("cycles", "request.regions.more"),
    ("cycles", "request.regions.turned"),
    ("cycles", "request.minimal"),  # none of these contains another
}
"""Requests that make the same corpus, byte for byte: what verify says of them is so."""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("forged")
    for name, line in SUITES.items():
        words = [*line.split(), *([EDGES] if name == "cycles" else [])]
        assert synth(*words, "--certify", "-j", 1, "-o", folder / name).exit_code == 0
        assert synth("verify", folder / name, "-j", 1).exit_code == 0
    return folder


@pytest.fixture(autouse=True)
def each_part_once(monkeypatch) -> None:
    """What verify was asked before, of the same bytes, no process is asked again: a forgery changes few parts of many.

    What is asked of a part is sent with all that it says: the request, and the contents of the unit's files.
    """
    known: dict[tuple[bytes, bytes], Any] = {}

    def once(function: Callable[[Any], Any], given: Sequence[Any], *rest: Any) -> Iterator[Any]:
        work = pickle.dumps(function)
        keys = [(work, pickle.dumps(one)) for one in given]
        new = {key: one for key, one in zip(keys, given, strict=True) if key not in known}
        made = map_each(function, [*new.values()], *rest)
        known.update(zip(new, (each for each in made if each is not None), strict=True))
        return (known[key] for key in keys)

    for module in (of_memory, of_progress):
        monkeypatch.setattr(module, "map_each", once)


# -- forgeries of a value --------------------------------------------------------------------------------------------


def forged(value: Any) -> Iterator[tuple[str, Any]]:
    """Every value that differs from one in a single place, with that place: another number, text or key, something more
    or less."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{key} goes", {other: each for other, each in value.items() if other != key}
            yield f"{key} renamed", {f"{other}x" if other == key else other: each for other, each in value.items()}
            for place, changed in forged(inner):
                yield f"{key}.{place}".rstrip("."), value | {key: changed}
        yield "forged", value | {"forged": 1}
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield f"[{number}] goes", value[:number] + value[number + 1 :]
            for place, changed in forged(inner):
                yield f"[{number}].{place}".rstrip("."), [*value[:number], changed, *value[number + 1 :]]
        yield "more", [*value, copy.deepcopy(value[0]) if value else "forged"]
        if len(value) > 1 and value != value[::-1]:
            yield "turned", value[::-1]
    else:
        yield "", other(value)
        yield "in a list", [value]


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return "forged" if value is None else f"{value}x"


def refused_with_its_place(corpus: Path, *places: str) -> str:
    """Empty where a corpus is refused in lines that are short and say where; else what is said instead."""
    result = synth("verify", corpus, "-j", 1)
    lines = result.output.splitlines()
    if result.exit_code == 0:
        return "accepted"
    if result.exit_code not in (1, 2) or any(len(line) > 1100 for line in lines):
        return f"exit code {result.exit_code}: {result.output[:2000]}"
    return "" if any(place in line for place in places for line in lines[:-1]) else f"no place: {result.output[:2000]}"


class Forger:
    """A corpus of which a file is changed and put back, and what was not refused."""

    def __init__(self, corpus: Path) -> None:
        self.corpus = corpus
        self.wrong: list[str] = []
        self.free: set[str] = set()
        self.tried = 0

    def write(self, file: str, place: str, data: bytes, free: str = "") -> None:
        """``free``: what on the list lets this be."""
        path = self.corpus / file
        whole = path.read_bytes()
        if data == whole:
            return
        path.write_bytes(data)
        told = refused_with_its_place(self.corpus, file, str(self.corpus / Path(file).parent))
        path.write_bytes(whole)
        self.tried += 1
        if told and free:
            self.free.add(free)
        elif told:
            self.wrong.append(f"{file}: {place}: {told}")

    def done(self, least: int) -> None:
        assert self.wrong == []
        assert self.tried >= least
        assert self.free <= {*FREE}


SLOW = ("behaviours", "programs", "cycles", "model")


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in SUITES])
def name(request) -> str:
    return request.param


@pytest.fixture
def forger(made, name, tmp_path) -> Forger:
    return Forger(Path(shutil.copytree(made / name, tmp_path / "c")))


def pretty(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


# -- manifests -------------------------------------------------------------------------------------------------------


def free_key(place: str, name: str) -> str:
    """What on the list lets a place of a manifest be, if anything."""
    parts = place.split(".")
    if parts[0] in ("version", "solver") and len(parts) == 1:
        return parts[0]
    if parts[0] == "encodings" and name in ("model", "programs"):
        return "encodings"
    return "counts.criteria" if place == "counts.criteria.execution" else ""


def test_every_value_of_the_manifest(forger, name):
    manifest = json.loads((forger.corpus / "manifest.json").read_text())
    for place, changed in forged(manifest):
        if (name, place) not in SAME:
            forger.write("manifest.json", place, pretty(changed), free_key(place, name))
    text = (forger.corpus / "manifest.json").read_text()
    forger.write("manifest.json", "a key twice", text.replace("{", '{\n  "complete": false,', 1).encode())
    forger.write("manifest.json", "spaces", text.replace('": ', '":  ', 1).encode())
    forger.done(60)


def test_requests_that_make_the_same_corpus(forger, name):
    file = forger.corpus / "manifest.json"
    same = [changed for place, changed in forged(json.loads(file.read_text())) if (name, place) in SAME]
    assert len(same) == sum(suite == name for suite, _ in SAME)
    for changed in same:
        file.write_bytes(pretty(changed))
        assert synth("verify", forger.corpus, "-j", 1).exit_code == 0, changed["request"]


FEW = [pytest.param(7, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
"""Of forgeries of what is checked in the same way as elsewhere, each so many."""


@pytest.mark.parametrize("step", FEW)
def test_every_value_of_the_manifest_of_mutants(made, tmp_path, step):
    forger = Forger(Path(shutil.copytree(made / "model", tmp_path / "c")))
    file = f"{MUTANTS}/manifest.json"
    for place, changed in islice(forged(json.loads((forger.corpus / file).read_text())), 0, None, step):
        forger.write(file, place, pretty(changed))
    forger.done(80 // step)


# -- tests -----------------------------------------------------------------------------------------------------------


def spread(lines: list[Any], steps: int) -> Iterator[int]:
    """Numbers of lines, the first, the last and some between; all where there are few."""
    return iter(sorted({(len(lines) - 1) * step // max(1, steps - 1) for step in range(steps)} if lines else ()))


def forge_tests(forger: Forger, file: str, every: bool, step: int = 1) -> None:
    records = (forger.corpus / file).read_bytes().splitlines(keepends=True)
    for number in range(len(records)) if every else spread(records, 2 if step == 1 else 1):
        for place, changed in islice(forged(json.loads(records[number])), 0, None, step):
            line = json.dumps(changed, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            forger.write(file, f"{number}: {place}", b"".join([*records[:number], line, *records[number + 1 :]]))
    for key, value in (("bound", "7x9"), ("scopes", ["cta"]), ("reasons", {"sc": "slow"}), ("behaviour", "")):
        changed = [json.loads(record) | {key: value} for record in records]
        lines = (json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n" for each in changed)
        forger.write(file, f"{key} of all", "".join(lines).encode())
    forge_lines(forger, file, records, every)


def forge_lines(forger: Forger, file: str, lines: list[bytes], every: bool) -> None:
    """Each line goes, comes twice, changes places with the next, or gets a space."""
    for number in range(len(lines)) if every else spread(lines, 3):
        before, line, after = lines[:number], lines[number], lines[number + 1 :]
        for place, changed in (
            ("goes", [*before, *after]),
            ("twice", [*before, line, line, *after]),
            ("late", [*before, *after[:1], line, *after[1:]]),
            ("space", [*before, line[:-1] + b" \n", *after]),
        ):
            forger.write(file, f"line {number + 1}: {place}", b"".join(changed))
    forger.write(file, "no end", b"".join(lines)[:-1])
    forger.write(file, "more", b"".join(lines) + b"\n")


@pytest.mark.slow
def test_every_value_of_the_tests(forger):
    forge_tests(forger, "tests.jsonl", every=False)
    forger.done(30)


@pytest.mark.parametrize("step", FEW)
def test_every_value_of_the_mutants(made, tmp_path, step):
    forger = Forger(Path(shutil.copytree(made / "model", tmp_path / "c")))
    forge_tests(forger, f"{MUTANTS}/tests.jsonl", every=False, step=step)
    forger.done(10)


@pytest.mark.slow
def test_every_value_of_all_tests(forger):
    forge_tests(forger, "tests.jsonl", every=True)
    forger.done(30)


# -- tables ----------------------------------------------------------------------------------------------------------


def forge_cells(forger: Forger, file: str, every: bool) -> None:
    lines = (forger.corpus / file).read_bytes().splitlines(keepends=True)
    for number in range(len(lines)) if every else spread(lines, 2):
        cells = lines[number].rstrip(b"\n").split(b",")
        for at, cell in enumerate(cells):
            for changed in (b"ALLOWED", b"", cell + b"x", b'"' + cell.strip(b'"') + b'"'):
                line = b",".join([*cells[:at], changed, *cells[at + 1 :]]) + b"\n"
                forger.write(file, f"{number + 1}: cell {at}", b"".join([*lines[:number], line, *lines[number + 1 :]]))
        line = lines[number].rstrip(b"\n") + b",more\n"
        forger.write(file, f"{number + 1}: more", b"".join([*lines[:number], line, *lines[number + 1 :]]))
    forge_lines(forger, file, lines, every)


@pytest.mark.slow
def test_every_cell_of_the_labels(forger):
    forge_cells(forger, "labels.csv", every=False)
    forger.done(20)


@pytest.mark.parametrize("file", ["labels.csv", "links.csv"])
def test_every_cell_of_the_tables_of_mutants(made, tmp_path, file):
    forger = Forger(Path(shutil.copytree(made / "model", tmp_path / "c")))
    forge_cells(forger, f"{MUTANTS}/{file}", every=False)
    forger.done(20)


# -- certificates ----------------------------------------------------------------------------------------------------


def forge_certificate(forger: Forger, name: str, steps: int) -> None:
    for path in sorted((forger.corpus / "certificate").iterdir()):
        file = f"certificate/{path.name}"
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()

        formula = "-" not in path.name and name in ("progress", "behaviours")

        def write(place: str, changed: list[str], free: str = "", file: str = file) -> None:
            forger.write(file, place, gzip.compress("".join(f"{line}\n" for line in changed).encode()), free)

        for number in spread(lines, steps):
            before, line, after = lines[:number], lines[number], lines[number + 1 :]
            write(f"line {number + 1} goes", [*before, *after])
            write(f"line {number + 1} twice", [*before, line, *lines[number:]])
            for what, changed in changed_words(line):
                free = "clauses" if formula and not line.startswith("c") else ""
                write(f"line {number + 1}: {what}", [*before, changed, *after], free)
        write("junk", [*lines, "junk"])
        write("more", [*lines, "1 0"])
        write("another line", [*lines, ""])
        whole = path.read_bytes()
        forger.write(file, "cut", whole[:-9])
        forger.write(file, "appended", whole + b"junk")
        forger.write(file, "another member", whole + gzip.compress(b"junk\n"))
        forger.write(file, "not packed", "\n".join(lines).encode())
        forger.write(file, "empty", b"")
        forger.write(file, "nothing in it", gzip.compress(b""))


def changed_words(line: str) -> Iterator[tuple[str, str]]:
    """A line with a word that is another: a number that is another, negative, huge or no number, a word that is."""
    words = line.split(" ")
    at = len(words) // 2
    where = at if words[at] not in ("0", "c", "p") else 0
    for changed in ("-1", "9" * 20, "9" * 5000, "1_0", "+1", "x", ""):
        yield changed[:20], " ".join([*words[:where], changed, *words[where + 1 :]])
    yield "space", f" {line}"


@pytest.mark.slow
def test_lines_of_the_certificate(forger, name):
    forge_certificate(forger, name, 2)
    forger.done(50)


@pytest.mark.slow
def test_many_lines_of_the_certificate(forger, name):
    forge_certificate(forger, name, 40)
    forger.done(80)


# -- files -----------------------------------------------------------------------------------------------------------


def test_every_file_that_is_gone(forger):
    files = sorted(path for path in forger.corpus.rglob("*") if path.is_file())
    for path in files:
        data = path.read_bytes()
        path.unlink()
        told = refused_with_its_place(forger.corpus, path.name, path.parent.name)
        path.write_bytes(data)
        assert told == ("accepted" if path.name == TIMES else ""), path


def test_files_that_a_certified_suite_has_not(forger):
    corpus = forger.corpus
    for file in ("certificate/notes.txt", "certificate/9.9.cnf.gz", "journal.jsonl", f"{MUTANTS}/more.csv"):
        path = corpus / file
        new = not path.parent.exists()
        path.parent.mkdir(exist_ok=True)
        path.write_text("1\n")
        assert refused_with_its_place(corpus, file, file.partition("/")[0]) == "", file
        path.unlink()
        if new:
            path.parent.rmdir()


def test_what_is_free_is_said_not_to_be_checked(forger, name):
    (forger.corpus / TIMES).write_text("anything")
    (forger.corpus / "results.jsonl").write_text("anything")
    result = synth("verify", forger.corpus, "-j", 1)
    assert result.exit_code == 0
    told = next(line for line in result.output.splitlines() if line.startswith("not checked: "))
    assert told.endswith(f"{TIMES}, results.jsonl") and "manifest.json: version" in told
    assert ("counts.criteria.execution" in told) == (name == "model")


Change = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        # a bound, and a column of a model, that nobody judged: in all files at once
        ("model", lambda manifest: manifest | {"models": [*manifest["models"], "ptx-6.0"]}),
        ("cycles", lambda manifest: manifest | {"models": [*manifest["models"], "tso"]}),
        ("progress", lambda manifest: manifest | {"models": [*manifest["models"], "sc"]}),
    ],
)
def test_a_column_that_nobody_judged(made, tmp_path, name, change: Change):
    corpus = Path(shutil.copytree(made / name, tmp_path / "c"))
    manifest = change(json.loads((corpus / "manifest.json").read_text()))
    (corpus / "manifest.json").write_bytes(pretty(manifest))
    lines = (corpus / "labels.csv").read_text().splitlines()
    (corpus / "labels.csv").write_text("".join(f"{line},{'' if n else 'sc'}\n" for n, line in enumerate(lines)))
    assert refused_with_its_place(corpus, "manifest.json") == ""


@pytest.mark.parametrize(
    "words",
    [
        ("progress", "-t", 4, "-n", 3),
        ("memory", "--from", "sc", "--events", "2..3", "--threads", "7"),
    ],
)
def test_a_suite_of_no_units_is_not_verified(tmp_path, words):
    result = synth(*words, "--certify", "-j", 1, "-o", tmp_path / "c")
    if result.exit_code == 0:
        (tmp_path / "c" / "certificate").mkdir(exist_ok=True)
        result = synth("verify", tmp_path / "c", "-j", 1)
        assert result.exit_code == 1
        assert "0 units" in result.output
