"""Golden files that no test compares with."""

import pytest
from conftest import GOLDEN, GOLDENS


def test_every_golden_file_is_of_some_test(request):
    goldens = request.config.stash[GOLDENS]
    if not goldens.complete:  # who asks for some tests by name learns nothing of the files of the others
        pytest.skip("not every test of golden files is run")
    files = {path for path in GOLDEN.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert {path.relative_to(GOLDEN).as_posix() for path in files} == goldens.named
