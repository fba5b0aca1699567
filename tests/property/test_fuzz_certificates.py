"""Whatever is done to a file of a certified corpus: verify accepts or refuses it in lines, and never with a traceback.

The mutants (``tests/mutants.py``) are the same on every run. Those of compressed files are made of what these hold, and
some of their bytes.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from commands import synth
from mutants import mutants

SUITES = {
    "progress": "progress -t 2 -n 2 --all",
    "suite": "memory --from tso --events 2 --model sc",
    "cycles": "memory --size 3 --model sc --scopes cta --edges",
}
EDGES = "PosRR PosWW Rfe Fre Coe Rlx.gpu"
FILES = {
    "progress": ["certificate/1.1.cnf.gz", "certificate/1.1-0.cnf.gz", "certificate/1.1-0.lrat.gz"],
    "suite": ["certificate/2.cnf.gz", "certificate/2-0.cnf.gz", "certificate/1.1-0.lrat.gz"],
    "cycles": ["certificate/3.cnf.gz", "certificate/3-0.cnf.gz", "certificate/3-0.lrat.gz"],
}
CASES = [(kind, file) for kind, files in FILES.items() for file in [*files, "manifest.json", "tests.jsonl"]]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("certified")
    for kind, line in SUITES.items():
        words = [
            *line.split(),
            *([EDGES] if kind == "cycles" else []),
            "--certify",
            "-j",
            "1",
            "-o",
            str(folder / kind),
        ]
        assert synth(*words).exit_code == 0
        assert verified(folder / kind) == 0
    return folder


def verified(corpus: Path) -> int:
    """The exit code; every line is printable and none is long."""
    result = synth("verify", corpus, "-j", "1")
    assert all(line.isprintable() and len(line) < 2000 for line in result.output.splitlines()), result.output[:3000]
    return result.exit_code


def fuzz(made: Path, kind: str, name: str, folder: Path, count: int) -> None:
    corpus = Path(shutil.copytree(made / kind, folder / "c"))
    file = corpus / name
    whole = file.read_bytes()
    text = gzip.decompress(whole) if name.endswith(".gz") else whole
    for number, data in enumerate(mutants([text], count, f"{kind} {name} {count}")):
        file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        check(corpus, number, data)
    if name.endswith(".gz"):
        for number, data in enumerate(mutants([whole], count // 4, f"{kind} {name} bytes")):
            file.write_bytes(data)
            check(corpus, number, data)


def check(corpus: Path, number: int, data: bytes) -> None:
    try:
        assert verified(corpus) in (0, 1, 2)
    except BaseException as error:
        error.add_note(f"mutant {number}: {data[:2000]!r}")
        raise


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_mutants(made, kind, name, tmp_path):
    fuzz(made, kind, name, tmp_path, 4)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_many_mutants(made, kind, name, tmp_path):
    fuzz(made, kind, name, tmp_path, 100)
