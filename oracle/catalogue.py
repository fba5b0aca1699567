"""The catalogue of the models that ship: the name, a description and the source of each.

A .cat file that ships opens with a title and a comment. The first sentence of the comment says what the model is, and
its paragraph ``Source: ..`` says what it was transcribed from. The catalogue is read from there, so the two agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import InputError
from corpus.files import read_text
from oracle.cat.syntax import MOST_BYTES, shipped_models
from oracle.consistency import OPERATIONAL, load_model
from oracle.executions.vocabulary import dialect_of
from oracle.progress.models import GUARANTEES

_COMMENT = re.compile(r"\(\*(.*?)\*\)", re.DOTALL)
_SENTENCE = re.compile(r"(.*?)(?<!\bal)(?<!\bFig)(?<!\bFigs)\.(?=\s+[A-Z]|\s*$)", re.DOTALL)
_SOURCE = re.compile(r"^\s*Source: (.*?)(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An entry of the catalogue: a model that ships.

    ``family`` is ``memory`` or ``progress``, ``kind`` how the model is written: ``axioms``, ``transition system`` or
    ``guarantee``. ``vocabulary`` names the programs that it is about, empty where no vocabulary has its words. ``path``
    is its .cat file, empty where it has none.
    """

    name: str
    family: str
    kind: str
    says: str
    source: str
    vocabulary: str = ""
    path: str = ""


def catalogue() -> list[CatalogueEntry]:
    """Every model that ships: .cat files, transition systems, progress models, each kind by name or in its order."""
    entries = [axioms(name, path) for name, path in shipped_models().items()]
    for name, strong in sorted(OPERATIONAL.items()):
        says = (
            "Blocks have copies of memory, and loads wait"
            if strong
            else "Threads have copies of memory, and borrow others' values"
        )
        section = "section 4.3, Fig. 4.2" if strong else "section 4.2"
        entries.append(CatalogueEntry(name, "memory", "transition system", says, f"Sorensen 2013, {section}.", "ptx"))
    for name, guarantee in GUARANTEES.items():
        for reading in ("weak", "strong"):
            says = (guarantee.__doc__ or "").split("\n")[0].rstrip(".")
            entries.append(
                CatalogueEntry(
                    f"{name}-{reading}", "progress", "guarantee", says, "Sorensen et al. 2021, sections 2.2 and 4."
                )
            )
    return entries


def axioms(name: str, path: str) -> CatalogueEntry:
    """The entry of a .cat file. Raises ``InputError`` where it does not open with a comment that has a source."""
    found = _COMMENT.search(read_text(Path(path), MOST_BYTES))
    comment = found[1] if found else ""
    source = _SOURCE.search(comment)
    if not comment.strip() or source is None:
        raise InputError("expected a comment at the top that says what the model is, and 'Source: ..'", path)
    words = dialect_of([load_model(path, name)])
    says = first_sentence(_line(comment.strip().split("\n\n")[0]))
    return CatalogueEntry(name, "memory", "axioms", says, _line(source[1]), words, path)


def first_sentence(text: str) -> str:
    """The first sentence of a text, without its full stop; ``al.`` and ``Fig.`` end none."""
    found = _SENTENCE.match(text)
    return found[1] if found else text


def _line(text: str) -> str:
    return " ".join(text.split())
