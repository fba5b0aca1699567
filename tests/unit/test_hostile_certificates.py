"""Certificates that mean harm: files that are larger than they seem, numbers without end, work without end.

Each is refused in a line with its file, in no more memory than others take, and never with a traceback.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from certified import lines, refused, rewrite
from commands import synth

from corpus.certificates import Packed
from corpus.errors import InputError
from oracle.certificates.lrat import check_proof
from oracle.certificates.refusal import RefusedError

SUITES = {
    "progress": ("progress", "-t", 2, "-n", 2, "--all"),
    "model": ("memory", "--from", "sc", "--events", 2),
    "cycles": ("memory", "--edges", "PodWW PodRR Rfe Fre", "--size", 4),
}
UNIT = {"progress": "1.1", "model": "2", "cycles": "4"}
ENDINGS = (".cnf.gz", "-0.cnf.gz", "-0.lrat.gz")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    for name, words in SUITES.items():
        assert synth(*words, "--certify", "-j", 1, "-o", folder / name).exit_code == 0
    return folder


@pytest.fixture(params=SUITES)
def name(request) -> str:
    return request.param


@pytest.fixture
def corpus(made, name, tmp_path) -> Path:
    return Path(shutil.copytree(made / name, tmp_path / "c"))


def file(corpus: Path, name: str, ending: str) -> Path:
    return corpus / "certificate" / f"{UNIT[name]}{ending}"


def bomb(path: Path, line: bytes, size: int) -> None:
    """A file that unpacks to so many bytes: a line again and again."""
    deflate = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    block = line * (2**20 // len(line))
    with path.open("wb") as out:
        for _ in range(size // len(block)):
            out.write(deflate.compress(block))
        out.write(deflate.flush())


@pytest.mark.one_in(4)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("line", [b"c x y\n", b"1 -2 0\n", b"9", b"99999 d 1 0\n", b"\n"])
def test_a_small_file_that_unpacks_to_much(corpus, name, ending, line):
    path = file(corpus, name, ending)
    bomb(path, line, 2**26)
    assert path.stat().st_size < 2**18
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    refused(corpus, path.name)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 600_000)


def test_lines_that_go_on_and_on(tmp_path):
    path = tmp_path / "1.cnf.gz"
    bomb(path, b"1 -2 0\n", 2**26)
    with pytest.raises(InputError, match=r"1\.cnf\.gz: damaged: it has more than \d+ bytes when it is uncompressed"):
        for _ in Packed(str(path)).lines():
            pass


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_gigabyte_in_a_file_of_a_megabyte_and_a_half(corpus, name, ending):
    path = file(corpus, name, ending)
    bomb(path, b"1 -2 0\n", 2**30)
    assert path.stat().st_size < 1.6 * 2**20
    refused(corpus, path.name)


@pytest.mark.parametrize("junk", ["junk", "1 0", "999999 0 1 0", "999999 d 1 0", "c a comment", ""])
def test_junk_after_a_proof(corpus, name, junk):
    path = file(corpus, name, "-0.lrat.gz")
    text = lines(path)
    rewrite(path, [*text, junk])
    refused(corpus, f"{path.name}: line {len(text) + 1} comes after the empty clause")


@pytest.mark.parametrize(
    ("proof", "named"),
    [
        (["3 0 1 2 0 0"], "line 1 is not one of a proof"),
        (["3 0 1 2"], "line 1 is not one of a proof"),
        (["3  0 1 2 0"], "line 1 is not one of a proof"),
        (["2 0 1 2 0"], "line 1 is not one of a proof"),
        (["-3 0 1 2 0"], "line 1 is not one of a proof"),
        ([f"{'9' * 5000} 0 1 2 0"], "line 1 is not one of a proof"),
        (["3 0 -1 2 0"], "line 1 is not one of a proof"),
        (["3 0 1 7 0"], "line 1 names clause 7, which is not there"),
        (["1 d 7 0"], "line 1 forgets clause 7, which is not there"),
        (["1 d 1 0", "3 0 1 2 0"], "line 2 names clause 1, which is not there"),
        (["3 0 1 2 0", "4 0 1 2 0"], "line 2 comes after the empty clause"),
        (["3 1 0 1 0"], "the proof ends before the empty clause"),
        ([], "the proof ends before the empty clause"),
    ],
)
def test_what_is_no_proof(proof, named):
    assert check_proof([[1], [-1]], ["3 0 1 2 0"]) == 1
    with pytest.raises(RefusedError, match=named):
        check_proof([[1], [-1]], proof)


def test_a_case_of_a_thread_that_there_is_not(made, tmp_path):
    """The formula may call any variable so; what it says of no program is refused."""
    corpus = Path(shutil.copytree(made / "progress", tmp_path / "c"))
    formula, own = file(corpus, "progress", ".cnf.gz"), file(corpus, "progress", "-0.cnf.gz")
    text = lines(formula)
    first = next(n for n, line in enumerate(text) if not line.startswith("c"))
    new = int(text[first - 1].split()[1]) + 1
    for site in ("-1 0", "-7 0", "0 -1", "9 9"):
        rewrite(formula, [*text[:first], f"c {new} jump {site} 0", *text[first:]])
        refused(corpus, f"{formula.name}: variable {new} of the formula means nothing: jump {site} 0")
    rewrite(formula, text)
    claims = lines(own)
    for case in ("-1.0.0", "-7.0.0", "0.-1.0", "0.0.-1", f"{'9' * 5000}.0.0", "1_0.0.0", "+1.0.0", "00.0.0", "0.0"):
        rewrite(own, [claims[0], f"c case {case}", "1 0", *claims[2:]])
        refused(corpus, f"{own.name}: line 2: expected where clauses come from, found case ")


@pytest.mark.parametrize("depth", [900, 100_000])
@pytest.mark.parametrize("at", ["request", "forged", "counts"])
def test_a_manifest_that_is_deep(corpus, at, depth):
    manifest = json.loads((corpus / "manifest.json").read_text())
    manifest[at] = "DEEP"
    deep = json.dumps(manifest).replace('"DEEP"', '{"a":' * depth + "1" + "}" * depth)
    (corpus / "manifest.json").write_text(deep)
    refused(corpus, "manifest.json: ")


@pytest.mark.parametrize("key", ["reasons", "verdicts", "forged", "tags"])
def test_a_record_that_is_deep(corpus, key):
    text = (corpus / "tests.jsonl").read_text().splitlines()
    record = json.loads(text[0])
    record[key] = "DEEP"
    text[0] = json.dumps(record).replace('"DEEP"', "[" * 100_000 + "]" * 100_000)
    (corpus / "tests.jsonl").write_text("".join(f"{line}\n" for line in text))
    refused(corpus, "tests.jsonl:1: ")


@pytest.mark.parametrize("number", ["-1", "0", "-9999999999999999999", "9" * 19, "9" * 400, "1e400", "2.0", "true"])
@pytest.mark.parametrize(
    ("name", "key"),
    [
        *(("progress", key) for key in ("threads", "instrs", "locs", "values")),
        ("model", "events"),
        ("model", "threads"),
        *(("cycles", key) for key in ("sizes", "threads", "thread_accesses")),
    ],
)
def test_a_request_for_as_many_as_there_are_not(made, tmp_path, name, key, number):
    corpus = Path(shutil.copytree(made / name, tmp_path / "c"))
    manifest = json.loads((corpus / "manifest.json").read_text())
    manifest["request"][key] = "NUMBER"
    pair = (
        f"[{number}, {number}]" if key in ("events", "sizes") or (key == "threads" and name != "progress") else number
    )
    (corpus / "manifest.json").write_text(json.dumps(manifest).replace('"NUMBER"', pair))
    refused(corpus, str(corpus))
    manifest["request"][key] = "NUMBER"
    (corpus / "manifest.json").write_text(json.dumps(manifest).replace('"NUMBER"', f"[-{10**9}, {10**9}]"))
    refused(corpus, str(corpus))


# -- limits ----------------------------------------------------------------------------------------------------------


def test_what_takes_too_long_is_not_verified(corpus, name):
    result = synth("verify", corpus, "-j", 1, "--timeout", "0.000001")
    assert result.exit_code == 1
    assert f"{UNIT[name]}-0.cnf.gz: not verified: needs more than 1e-06 s" in result.output
    assert result.output.splitlines()[-1] == f"{corpus}: refused"
    assert "verified: 0" not in result.output


def test_a_proof_that_needs_more_memory_is_not_verified(made, tmp_path):
    corpus = Path(shutil.copytree(made / "cycles", tmp_path / "c"))
    path = file(corpus, "cycles", "-0.lrat.gz")
    start = int(lines(path)[0].split()[0])
    wide = " ".join(map(str, [*range(1, 3000), *range(-2999, 0)]))
    rewrite(path, [f"{start + n} {wide} 0 1 0" for n in range(3000)])  # steps that hold, and bring nothing
    words = ("--memory", "64", "verify", str(corpus), "-j", "1")
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert "4-0.cnf.gz: not verified: needs more than 64 MB" in result.stderr
