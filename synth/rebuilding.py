"""The comparison of a corpus with what its request and its tests make, byte for byte.

``FREE`` lists what is not checked, with the reasons.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from corpus.certificates import FOLDER
from corpus.errors import InputError
from corpus.files import open_bytes
from corpus.links import LINKS, MUTANTS
from corpus.records import line_of
from corpus.suite import JOURNAL, LABELS, MANIFEST, TESTS, TIMES, Corpus, completed, label_lines, pretty
from corpus.test import Test
from oracle.certificates.refusal import RefusedError

Asked = TypeVar("Asked")

FREE = {
    "version": "which synth wrote the suite is no part of the answer",
    "solver": "any solver finds the same tests",
    "encodings": "the sizes of the formulas that the search of a memory suite solved, and nothing is proved of",
    "counts.criteria": "of the criterion that was not asked for there is no certificate; the claim says so",
    "clauses": "the formula of a progress suite may have any clause that every test satisfies, needed or not",
    TIMES: "what may differ from one run to the next",
    f"{MUTANTS}/{TIMES}": "likewise",
}
"""The free parts of a folder: keys of the manifest, files and their contents, each with the reason. Files that are part
of no corpus are free, too: results of runs, and whatever a person has put there. The claim lists them as not checked.
"""


def asked_again(corpus: Corpus, family: str, kind: type[Asked], again: Callable[[Asked], Mapping[str, Any]]) -> Asked:
    """Return the request of a corpus's manifest; ``again`` writes a request in the form of a manifest.

    Raises ``RefusedError`` where the manifest differs from that form, and ``InputError`` for a model.
    """
    request = corpus.manifest.get("request", {})
    known = {field.name: request[field.name] for field in fields(kind) if field.name in request}  # type: ignore[arg-type]
    try:
        converted = msgspec.convert(known, kind)
        expected = msgspec.json.decode(msgspec.json.encode(again(converted)))
    except (msgspec.ValidationError, ValueError, TypeError, LookupError, OverflowError):
        raise RefusedError(f"request: there is no request for {family} tests") from None
    if (found := request.get("model_digests")) != expected.get("model_digests") and isinstance(found, dict):
        changed = sorted(
            name for name in expected["model_digests"] if found.get(name) != expected["model_digests"][name]
        )
        raise RefusedError(f"request.model_digests: the models have changed since: {', '.join(changed)}")
    if line := difference(request, expected, "request"):
        raise RefusedError(line)
    return converted


def difference(found: object, expected: object, path: str = "") -> str:
    """Return the path to the first difference of two JSON values; empty where they are equal."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in (*expected, *(key for key in found if key not in expected)):
            inner = f"{path}.{key}" if path else str(key)
            if key not in found:
                return f"{inner} is missing"
            if key not in expected:
                return f"{inner} is not known"
            if line := difference(found[key], expected[key], inner):
                return line
        return ""
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        lines = (
            difference(*pair, f"{path}[{number}]") for number, pair in enumerate(zip(found, expected, strict=True))
        )
        return next(filter(None, lines), "")
    if type(found) is type(expected) and found == expected:
        return ""
    return f"{path}: expected {_brief(expected)}, found {_brief(found)}"


def _brief(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:60]}..{text[-16:]}"


def kept(found: Mapping[str, Any], key: str, kind: type) -> Any:
    """Return the value of a free key of a manifest where it is of its kind, else an empty one."""
    value = found.get(key)
    return value if isinstance(value, kind) else kind()


# Files


def folder_lines(
    path: Path, found: Mapping[str, Any], tests: Sequence[Test], manifest: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what does not hold of the files of a folder of tests, which hold these tests as they are read.

    ``manifest`` has the expected keys that do not follow from the tests, and ``found`` is the manifest of the folder.
    """
    for number, (record, test) in enumerate(_records(path / TESTS, tests), 1):
        expected = line_of(test).record
        if record != expected:
            what = difference(_json(record), _json(expected)) or "not as synth writes it"
            yield f"{path / TESTS}:{number}: {test.name}: {what}"
            break
    models = manifest["models"]
    rows = label_lines([(test.name, test.verdicts) for test in tests], models)
    try:
        yield from other_lines(path / LABELS, rows)
        whole = pretty(completed(manifest, models, (test.bound for test in tests)))
        if line := difference(found, json.loads(whole)):
            yield f"{path / MANIFEST}: {line}"
        else:
            yield from other_lines(path / MANIFEST, whole.splitlines(keepends=True))
    except InputError as error:
        yield str(error)


def _records(path: Path, tests: Iterable[Test]) -> Iterator[tuple[bytes, Test]]:
    with open_bytes(path) as file:
        yield from zip(file, tests, strict=True)


def _json(line: bytes) -> object:
    """Parse a line of JSON in which a repeated key stays visible."""

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        keys = Counter(key for key, _ in found)
        return {key if keys[key] == 1 else f"{key} (twice)": value for key, value in found}

    try:
        return json.loads(line, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None


def other_lines(path: Path, expected: Iterable[str]) -> Iterator[str]:
    """Yield the first line of a file that is not as expected."""
    with open_bytes(path) as file:
        for number, (line, text) in enumerate(zip_longest(file, expected), 1):
            if line != (None if text is None else text.encode()):
                wanted, there = (_brief(line_text) if line_text else "nothing" for line_text in (text, _text(line)))
                yield f"{path}:{number}: expected {wanted}, found {there}"
                return


def _text(line: bytes | None) -> str:
    return (line or b"").decode("utf-8", "replace")


def files_beside(corpus: Path, certificate: Iterable[str], mutants: bool) -> tuple[list[str], list[str]]:
    """Return lines on the files that a corpus of this kind does not have, and the files that are part of no corpus."""
    refused: list[str] = []
    ours = {MANIFEST, TESTS, LABELS, TIMES}
    other = sorted(path.name for path in corpus.iterdir() if path.name not in {*ours, FOLDER, *([MUTANTS] * mutants)})
    for name in (JOURNAL, MUTANTS):
        if name in other:
            refused.append(f"{corpus / name}: a certified suite of this request has none")
            other.remove(name)
    folders = {FOLDER: {*certificate}, **({MUTANTS: {*ours, LINKS}} if mutants else {})}
    for name, files in folders.items():
        for path in sorted((corpus / name).iterdir()) if (corpus / name).is_dir() else ():
            if path.name not in files:
                refused.append(f"{path}: no file of it")
    return refused, [TIMES, *other]
