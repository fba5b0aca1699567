"""Standard streams that are closed, full or not read: a line at most, no traceback, and no answer that is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SYNTH = f"{sys.executable} -m synth"
EXPLAIN = f"explain {EXAMPLES / 'progress' / 'mutex.axb'} -m obe-weak"


@pytest.mark.parametrize(
    ("redirected", "code", "said"),
    [
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("<&-", 0, ""),
        ("<&- >&- 2>&-", 0, ""),
        ("> /dev/full", 2, "synth: No space left on device\n"),
        ("| true", 141, ""),
    ],
)
@pytest.mark.parametrize("words", [EXPLAIN, "label --help", "models --json"])
def test_a_stream_that_takes_nothing(redirected: str, code: int, said: str, words: str) -> None:
    script = f"set -o pipefail; {SYNTH} {words} {redirected}"
    if "|" in redirected:  # once the reader is gone
        script = f"set -o pipefail; {{ sleep 1; {SYNTH} {words}; }} | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, said)


def test_a_file_does_not_take_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    words = f"progress -t 2 -n 2 -o {tmp_path / 'suite'}"
    done = subprocess.run(["bash", "-c", f"{SYNTH} {words} >&- 2>&-"], capture_output=True)
    assert done.returncode == 0
    assert (tmp_path / "suite" / "tests.jsonl").read_bytes().startswith(b"{")
