"""Makes tests of a corpus from litmus tests, and reads old suites. Those are the suites of memory tests that format 1
had.

Such a suite is a folder: ``NAME.litmus`` one test each, ``@all`` the index, smallest first, ``labels.csv`` with one
line ``file,model,verdict,condition`` a verdict, and the manifest, whose counts say how many tests have which size.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from corpus.cycles.cycle import family
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.files import read_text
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import Barrier, Fence, LitmusTest, Load, Rmw, Scope, Store, Thread
from corpus.litmus.verdict_table import read_verdicts
from corpus.suite import MANIFEST
from corpus.test import Test


def litmus_record(
    test: LitmusTest,
    text: str,
    size: int | None = None,
    verdicts: Mapping[str, str] | None = None,
    reasons: Mapping[str, str] | None = None,
) -> Test:
    """Return a litmus test as a test of a corpus; its ``size`` is the length of its cycle, or else its number of
    accesses.

    Its tag is the classic name that its name begins with, if any.
    """
    found = [_accesses(thread) for thread in test.threads]
    accesses = sum(number for number, _ in found)
    scopes = sorted(frozenset().union(*(named for _, named in found)), key=lambda scope: scope.value)
    shape = family(test.name)
    return Test(
        test.name,
        litmus_digest(test),
        text,
        verdicts or {},
        (shape,) if shape else (),
        bound=f"{len(test.threads)}x{accesses if size is None else size}",
        scopes=tuple(scope.label for scope in scopes),
        reasons=reasons or {},
    )


@lru_cache(maxsize=1 << 12)  # a suite has few threads
def _accesses(thread: Thread) -> tuple[int, frozenset[Scope]]:
    """The number of accesses of a thread, and the scopes that it names."""
    accesses = sum(isinstance(ins, Load | Store | Rmw) for ins in thread.instructions)
    modes = [ins.mode for ins in thread.instructions if isinstance(ins, Load | Store | Rmw | Fence | Barrier)]
    return accesses, frozenset(mode.scope for mode in modes if mode.scope is not None)


def read_old_suite(folder: Path, manifest: Mapping[str, Any]) -> list[Test]:
    """Return the tests of a suite of format 1, with their verdicts. Raises ``InputError`` where a part of it cannot be
    read or is missing.
    """
    if not (folder / "labels.csv").is_file():
        return []  # the run was killed before it had written any
    models = manifest.get("models", [])
    said = {(row.file, row.model): row.verdict for row in read_verdicts(folder / "labels.csv")}
    files = [line.strip() for line in read_text(folder / "@all").splitlines() if line.strip()]
    try:
        counts = msgspec.convert(manifest.get("counts", {}).get("sizes", {}), dict[int, int], strict=False)
    except msgspec.ValidationError:
        raise InputError(
            "not the manifest of a suite: 'sizes' is not as it should be", str(folder / MANIFEST)
        ) from None
    if len(files) != sum(counts.values()):
        raise InputError(
            f"{len(files)} tests, where the manifest promises {sum(counts.values())}", str(folder / "@all")
        )
    sizes = [size for size, count in counts.items() for _ in range(count)]
    tests = []
    for file, size in zip(files, sizes, strict=True):
        path = folder / file
        if path.parent != folder:
            raise InputError(f"expected the name of a file in the folder, found {file:.40}", str(folder / "@all"))
        text = read_text(path)
        verdicts = {model: said.get((file, model), "UNKNOWN") for model in models}
        tests.append(litmus_record(parse_litmus(text, str(path)), text, size, verdicts))
    return tests
