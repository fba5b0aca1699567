"""The file that ``synth label -o`` writes (``synth.growing_file``): the labels that it has when a run goes on."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from corpus.comma_separated import cells
from corpus.errors import printable, visible
from synth.growing_file import WholeLines, begun
from synth.labels import CSV, ERROR, Labelling, Labels, ModelAnswer, header_of


def known_labels(
    path: Path, request: Mapping[str, Any], labelling: Labelling, form: str, files: Sequence[str]
) -> list[Labels]:
    """Return the labels in a file, which are of the first so many of ``files``.

    Of each label only whether it has a verdict is known. A file that is not there is begun. Raises ``InputError`` as
    ``begun`` does.
    """
    read = partial(_read, labelling=labelling, form=form, files=files)
    return begun(path, request, header_of(labelling, form), read, "the verdicts of the tests in their order")


def _read(lines: WholeLines, labelling: Labelling, form: str, files: Sequence[str]) -> Iterator[tuple[Labels, int]]:
    """Yield the labels of each test that is whole, and the offset of the end of its lines."""
    if form == CSV:
        rows = csv.reader(lines)
        for name in files:
            group = list(islice(rows, len(labelling.names)))
            if len(group) < len(labelling.names):
                return
            if [cells(row[:2]) for row in group] != [[printable(name), visible(model)] for model in labelling.names]:
                raise ValueError
            yield _restored(name, [(row[2], "") for row in group]), lines.end
    else:
        for name, text in zip(files, lines, strict=False):
            record = json.loads(text)
            if record["file"] != name:
                raise ValueError
            said = [record["verdicts"][model] for model in labelling.names] if "verdicts" in record else []
            pairs = [(one, "") if isinstance(one, str) else (one["verdict"], one.get("reason", "")) for one in said]
            yield _restored(name, pairs, record.get("error", "")), lines.end


def _restored(file: str, said: Sequence[tuple[str, str]], error: str = "") -> Labels:
    if any(verdict == ERROR for verdict, _ in said):
        error = f"{file}: no test, as an earlier run found"
    return Labels(file, tuple(ModelAnswer(verdict, reason) for verdict, reason in said), error=error)
