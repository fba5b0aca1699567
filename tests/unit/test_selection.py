"""What ``make test`` leaves to ``make test-rest``: each test is in one of them, and each file has some in the first."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COSTLY = (ROOT / "tests" / "costly.txt").read_text(encoding="utf-8").splitlines()


def test_costly_tests_are_there() -> None:
    assert sorted(set(COSTLY)) == COSTLY
    for line in COSTLY:
        file, _, name = line.partition("::")
        assert re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), line


def collected(marks: str) -> set[str]:
    """The ids of some files' tests with these marks."""
    files = ["tests/unit/test_check_options.py", "tests/unit/test_cluster.py", "tests/verdicts/test_processors.py"]
    words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-m", marks, *files]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


def test_each_test_is_in_one_part() -> None:
    fast, rest = collected("not slow and not rest"), collected("rest and not slow")
    assert fast | rest == collected("not slow") and not fast & rest
    assert {test.partition("::")[0] for test in fast} == {test.partition("::")[0] for test in fast | rest}
    kinds = {test.partition("[")[0] for test in fast | rest}
    assert kinds - set(COSTLY) <= {test.partition("[")[0] for test in fast}
