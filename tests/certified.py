"""Certified corpora that are made and damaged, and what verify says of them."""

from __future__ import annotations

import gzip
from pathlib import Path

from click.testing import CliRunner, Result

from synth.cli import main


def synth(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)), prog_name="synth", catch_exceptions=False)


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def rewrite(path: Path, changed: list[str]) -> None:
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in changed).encode()))


def refused(corpus: Path, *named: str) -> None:
    result = synth("verify", corpus, "-j", 1)
    assert result.exit_code == 1, result.output
    for name in named:
        assert name in result.output
