"""The folder of an inference: the models as .cat files, the tests that tell them apart, the proofs, a picture.

answer.json                  what --json prints
model.cat                    the one model that fits; else weakest.cat and strongest.cat, numbered where they are
                             several
tests/                       a corpus of the tests that tell apart what fits, or what did before they were facts
next.litmus                  the test to run next
next/                        with --backend: the program of the next test that the language can say
weakest.cnf, weakest.lrat    the claim that nothing that fits is weaker, as clauses, and the proof; likewise
                             strongest
lattice.svg                  the classes, where they are few, with a test on each arrow
models/3.cat                 a model of each class in the picture
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.registry import BACKENDS
from backends.shared.files import write_files
from backends.shared.layout import place
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.files import inner_folder, write_atomically
from corpus.suite import write_corpus
from corpus.test import Test
from oracle.inference.classes import ModelClass, next_test
from synth.drawing import order
from synth.inference.answer import InferenceAnswer, ordering_of, record_of
from synth.inference.memory import SketchHypotheses
from synth.inputs import MEMORY

NEXT = "next.litmus"
"""The name of the file with the test to run next."""

MOST_DRAWN = 40
"""The limit of classes that are drawn."""


def write_answer(
    folder: Path, found: InferenceAnswer, about: SketchHypotheses, records: Sequence[Test], question: Mapping[str, Any]
) -> None:
    """Write an answer into an existing folder. Raises ``InputError`` where a file cannot be written."""
    write_atomically(folder / "answer.json", [json.dumps(record_of(found), ensure_ascii=False, indent=2), "\n"])
    for name, text in models_of(found, about).items():
        write_atomically(folder / f"{name}.cat", [text])
    tests = inner_folder(folder, "tests")
    request = {"kind": MEMORY, "infer": about.name, **question}
    write_corpus(tests, records, {"complete": found.complete, "request": request, "models": []})
    by_name = {record.name: record for record in records}
    if found.next is not None and found.next.name in by_name:
        write_atomically(folder / NEXT, [by_name[found.next.name].text])
    for claim in found.claims:
        write_atomically(folder / f"{claim.name}.cnf", (f"{line}\n" for line in claim.formula))
        write_atomically(folder / f"{claim.name}.lrat", (f"{line}\n" for line in claim.proof))
    if found.classes is not None and 1 < len(found.classes) <= MOST_DRAWN:
        write_atomically(folder / "lattice.svg", [order.draw(ordering_of(found)).svg()])
        models = inner_folder(folder, "models")
        for number, group in enumerate(found.classes, 1):
            text = about.sketch.text(about.chosen(group.models), f"{about.name}-{number}")
            write_atomically(models / f"{number}.cat", [text])


def write_program(folder: Path, found: InferenceAnswer, records: Sequence[Test], backend: str) -> str:
    """Write the program of the next test that a language can say, and return the name of that test, if there is one."""
    by_name = {record.name: record for record in records}
    left = [test for test in found.tests if test.name in by_name]
    while (chosen := next_test(found.fit, left)) is not None:
        try:
            shape = place(parse_litmus(by_name[chosen.name].text, chosen.name))
            write_files(inner_folder(folder, "next"), BACKENDS[backend].memory_files(chosen.name, shape))
        except InputError:
            left = [test for test in left if test is not chosen]
        else:
            return chosen.name
    return ""


def models_of(found: InferenceAnswer, about: SketchHypotheses) -> dict[str, str]:
    """Return the models of an answer as .cat files, by the names of the files without their suffix."""
    texts: dict[str, str] = {}
    if found.unique:
        return {"model": about.sketch.text(about.chosen(found.fit), f"{about.name}-model")}
    for word, classes in (("weakest", found.weakest), ("strongest", found.strongest)):
        for name, group in _numbered(word, classes):
            texts[name] = about.sketch.text(about.chosen(group.models), f"{about.name}-{name}")
    return texts


def _numbered(word: str, classes: Sequence[ModelClass]) -> list[tuple[str, ModelClass]]:
    if len(classes) == 1:
        return [(word, classes[0])]
    return [(f"{word}-{number}", group) for number, group in enumerate(classes, 1)]
