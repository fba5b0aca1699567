"""Certified corpora that are made and damaged, and what verify says of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import synth


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def rewrite(path: Path, changed: list[str]) -> None:
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in changed).encode()))


def refused(corpus: Path, *named: str) -> None:
    result = synth("verify", corpus, "-j", 1)
    assert result.exit_code == 1, result.output
    for name in named:
        assert name in result.output


def change_test(corpus: Path, number: int, change: Callable[[Any], Any]) -> str:
    """Changes the record of a test, whose name is returned."""
    tests = (corpus / "tests.jsonl").read_text().splitlines()
    record = change(json.loads(tests[number]))
    tests[number] = json.dumps(record, separators=(",", ":"))
    (corpus / "tests.jsonl").write_text("".join(f"{test}\n" for test in tests))
    return record["name"]


def change_request(corpus: Path, more: dict[str, Any]) -> None:
    manifest = json.loads((corpus / "manifest.json").read_text())
    manifest["request"] |= more
    (corpus / "manifest.json").write_text(json.dumps(manifest))
