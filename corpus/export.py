"""Exports a suite of tests as a folder that other runners take.

    axb               one NAME.axb a test
    json              one NAME.json a test, and the schema of these files (corpus.runner_tests)
    dartagnan-ptx     one NAME.litmus a test; @all, the index that Dartagnan and herdtools7 read, one file name a line;
    dartagnan-vulkan  expected/MODEL.csv, one line FILE,1 (terminates) or FILE,0 (may hang) a test with a verdict

The folder appears whole or not at all: it is written beside its place and renamed.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from corpus.dialects.dartagnan.ptx import PTX
from corpus.dialects.dartagnan.vulkan import VULKAN
from corpus.errors import InputError, visible
from corpus.files import new_folder
from corpus.litmus.orders import Mode
from corpus.litmus.text import Dialect
from corpus.progress.as_litmus import RELAXED, VULKAN_RELAXED, axb_test
from corpus.progress.text import print_axb, program_of
from corpus.runner_tests import files, of_progress
from corpus.test import Test

# Names become file names and words of a litmus test's first line.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")

Files = Iterator[tuple[str, str]]
"""The files of a folder: relative paths and contents."""


def export(tests: Sequence[Test], target: str, folder: Path) -> None:
    """Write tests into a new or empty folder, in one of the forms of ``TARGETS``.

    Raises ``InputError`` where the folder holds something, cannot be written, or a test's name cannot name a file.
    """
    check_names([test.name for test in tests])
    write_folder(folder, TARGETS[target](tests))


def write_folder(folder: Path, files: Files) -> None:
    """Write files into a new or empty folder, all of them or none. Raises ``InputError`` where that fails."""
    with new_folder(folder) as whole:
        made = {""}
        for name, text in files:
            inner = os.path.dirname(name)
            if inner not in made:
                (whole / inner).mkdir(exist_ok=True)
                made.add(inner)
            with open(f"{whole}/{name}", "wb") as file:
                file.write(visible(text).encode("utf-8", "surrogateescape"))


def check_names(names: Sequence[str]) -> None:
    """Raise ``InputError`` where a name cannot name a file, or where two tests would have one file."""
    for name, count in Counter(names).items():
        if not _NAME.fullmatch(name):
            raise InputError(f"the test name {name!r} cannot name a file: expected letters, digits and _.+-")
        if count > 1:
            raise InputError(f"{count} tests are called {name!r}, so that they would be one file")


def _axb(tests: Sequence[Test]) -> Files:
    for test in tests:
        yield f"{test.name}.axb", print_axb(program_of(test))


def _litmus(dialect: Dialect, mode: Mode) -> Callable[[Sequence[Test]], Files]:
    def litmus_files(tests: Sequence[Test]) -> Files:
        for test in tests:
            try:
                text = dialect.print(axb_test(program_of(test), test.name, mode))
            except InputError as error:  # places that the dialect has no words for
                raise InputError(error.message, test.name) from None
            yield f"{test.name}.litmus", text
        yield "@all", "".join(f"{test.name}.litmus\n" for test in tests)
        for model in dict.fromkeys(model for test in tests for model in test.verdicts):
            yield expected_file(model, _terminating(tests, model))

    return litmus_files


def _terminating(tests: Sequence[Test], model: str) -> dict[str, bool]:
    verdicts = {f"{test.name}.litmus": test.verdicts.get(model) for test in tests}
    # UNKNOWN is neither.
    return {
        file: verdict == "TERMINATES" for file, verdict in verdicts.items() if verdict in ("TERMINATES", "MAY_HANG")
    }


def expected_file(model: str, truths: Mapping[str, bool]) -> tuple[str, str]:
    """Return the table of what is expected of files under a model: ``FILE,1`` or ``FILE,0`` a line.

    The file of a model of levels has ``.`` for ``@`` and ``+`` for ``&``: ``hsa.workgroup+obe.subgroup-weak.csv``.
    Raises ``InputError`` where the model's name cannot name a file.
    """
    name = model.replace(" & ", "+").replace("@", ".")
    if not _NAME.fullmatch(name):
        raise InputError(f"the model name {model!r} cannot name a file: expected letters, digits and _.+-")
    text = io.StringIO()  # a file of Dartagnan's, which takes each name as it is
    csv.writer(text, lineterminator="\n").writerows((file, int(truth)) for file, truth in truths.items())
    return f"expected/{name}.csv", text.getvalue()


TARGETS: dict[str, Callable[[Sequence[Test]], Files]] = {
    "dartagnan-ptx": _litmus(PTX, RELAXED),
    "dartagnan-vulkan": _litmus(VULKAN, VULKAN_RELAXED),
    "axb": _axb,
    "json": lambda tests: files(map(of_progress, tests)),
}
"""The forms a suite can be exported in."""
