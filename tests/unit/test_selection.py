"""What ``make test`` leaves to ``make test-rest``: each test is in one of them, and each file has some in the first."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = [line.split(" ", 1) for line in (ROOT / "tests" / "costly.txt").read_text(encoding="utf-8").splitlines()]
COSTLY = {name for seconds, name in ROWS if seconds == "1.0"}


def test_costly_tests_are_there() -> None:
    names = [name for _, name in ROWS]
    assert sorted(set(names)) == names and {seconds for seconds, _ in ROWS} == {"0.5", "1.0"}
    for line in names:
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
    assert kinds - COSTLY <= {test.partition("[")[0] for test in fast}


def test_make_check_has_one_case_of_each_kind_that_is_quick() -> None:
    checked, fast = collected("check"), collected("not slow and not rest and not device and not golden")
    assert checked <= fast
    quick = {test.partition("[")[0] for test in fast} - {name for _, name in ROWS}
    assert quick == {test.partition("[")[0] for test in checked} and len(quick) <= len(checked) < len(fast)
