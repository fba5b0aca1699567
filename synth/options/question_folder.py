"""The folder, or file, of a question that is asked without ``--output``, which is named after the question.

    synth progress --threads 3 --instrs 4 --all     progress-3x4-all
    synth compile suite --backend cuda              suite-cuda

The same question finds its folder again, whole or as a kill left it. A folder with that name that holds anything else
is left alone, and the next one is taken: ``progress-3x4-all-2``. Corpora and journals say themselves of which question
they are; in a folder of programs or exported tests a hidden file does (``ANSWERED``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from corpus.errors import InputError, printable
from corpus.files import read_bytes, read_text, write_atomically
from corpus.journal import is_complete, is_of
from corpus.suite import is_corpus, read_manifest
from synth import VERSION

WITHOUT_INFLUENCE = frozenset({
    *("output", "jobs", "solver", "time_limit", "max_tests", "timeout"),
    *("as_json", "form", "plot", "force", "inputs"),
})  # fmt: skip
"""The parameters that are not in a name: of how long and where work is done, none of which changes a corpus that is
complete; of what else is printed; and the tests, by which a name begins.
"""

ANSWERED = ".question.json"
"""The file of a folder that says what was asked, and, once it is whole, the exit code."""

output_option = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Write the corpus to this folder.  [default: named after the question]",
)

LONGEST = 100
"""The most characters of a name."""


class FolderState(Enum):
    """What is in the folder of a question, as it is told."""

    NEW = "new"
    UNFINISHED = "an earlier run was stopped, and this one goes on"
    WHOLE = "found whole"
    WRONG = "found with something that went wrong, and made again"


class QuestionFolder(NamedTuple):
    """A folder, and what is in it."""

    path: Path
    state: FolderState


def question_name(first: Iterable[str], spelled: Collection[str] = ()) -> str:
    """Return the name of the folder of a question: some words, and every other option of the command that is given and
    not its default.

    ``spelled`` are the options that the words say already.
    """
    context = click.get_current_context()
    words = list(first)
    for parameter in context.command.params:
        name = str(parameter.name)
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        value = context.params.get(name)
        if not given or name in WITHOUT_INFLUENCE or name in spelled or value == parameter.get_default(context):
            continue
        if isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[0].lstrip("-"))
        else:
            words += [max(parameter.opts, key=len).lstrip("-"), *_texts(value)]
    whole = "-".join(map(_plain, words))
    digest = sha256("\n".join(words).encode()).hexdigest()[:8]
    return whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 9]}-{digest}"


def _texts(value: Any) -> list[str]:
    if isinstance(value, tuple) and all(isinstance(part, int) for part in value):
        return [span(value)]
    return [text for part in value for text in _texts(part)] if isinstance(value, tuple) else [str(value)]


def span(numbers: tuple[int, ...]) -> str:
    """Return the least and the most as a word of a name: ``2-4``, or ``4`` where they are one."""
    return "-".join(map(str, dict.fromkeys(numbers)))


def _plain(word: str) -> str:
    """Return a word of which a file's name can be made, whatever it was."""
    return re.sub(r"[^A-Za-z0-9.+_]+", "-", word).strip("-.")


def question_folder(
    name: str, found: Callable[[Path], FolderState | None], *, ending: str = "", beside: str = ""
) -> QuestionFolder:
    """Return the folder, here, of a question; ``found`` says in which state one is that is there, and nothing where it
    is of another question.

    A file has an ``ending``, and may have another with the ending ``beside`` it, which is there before it.
    """
    for rank in count(1):
        path = Path(f"{name}{f'-{rank}' if rank > 1 else ''}{ending}")
        first = path.with_suffix(beside) if beside else path
        if not (os.path.lexists(path) or os.path.lexists(first)) or (path.is_dir() and not any(path.iterdir())):
            return QuestionFolder(path, FolderState.NEW)
        if path.is_symlink() or first.is_symlink():
            continue
        if (state := found(path)) is not None:
            return QuestionFolder(path, state)
    raise AssertionError


def corpus_folder(name: str, question: Mapping[str, Any]) -> QuestionFolder:
    """Return the folder, here, of the corpus that was asked for."""

    def found(path: Path) -> FolderState | None:
        try:
            if not is_corpus(path) or not is_of(path, question):
                return None
        except InputError:  # what is there is no corpus of ours
            return None
        return FolderState.WHOLE if is_complete(path) else FolderState.UNFINISHED

    return question_folder(name, found)


def answer_folder(name: str, question: Mapping[str, Any]) -> QuestionFolder:
    """Return the folder, here, of what was asked, which ``mark`` marks."""

    def found(path: Path) -> FolderState | None:
        try:
            before = json.loads(read_text(path / ANSWERED))
            if not isinstance(before, dict) or before.get("asked") != question:
                return None
        except (InputError, ValueError, RecursionError):
            return None
        code = before.get("code")
        return FolderState.UNFINISHED if code is None else FolderState.WRONG if code else FolderState.WHOLE

    return question_folder(name, found)


def mark(folder: Path, question: Mapping[str, Any], code: int | None) -> None:
    """Write into a folder what was asked, and the exit code of the answer, once there is one."""
    write_atomically(folder / ANSWERED, [json.dumps({"asked": question, "code": code}), "\n"])


def question_of_tests(tests: Iterable[tuple[str, str | None]]) -> dict[str, Any]:
    """Return what a command is asked about tests, given by name and text: its options, with digests of the files that
    they name.
    """
    context = click.get_current_context()
    options = {
        str(param.name): [_content(text) for text in _texts(context.params[str(param.name)])]
        for param in context.command.params
        if param.name in context.params and param.name not in WITHOUT_INFLUENCE - {"as_json"}
    }
    texts = sha256(json.dumps(sorted(tests)).encode()).hexdigest()
    return {"command": context.command.name, "version": VERSION, "options": options, "tests": texts}


def _content(text: str) -> str:
    """Return the digest of a file that a word names, else the word."""
    try:
        return sha256(read_bytes(Path(text))).hexdigest() if text and Path(text).is_file() else text
    except (InputError, OSError, ValueError):
        return text


def first_words(inputs: Sequence[str]) -> str:
    """Return the words of a name for tests: what the first is called, and how many others there are."""
    first = Path(os.path.abspath(inputs[0]))
    name = first.stem if first.suffix in (".litmus", ".axb") else first.name
    return " ".join(filter(None, (_plain(name) or "tests", f"and {len(inputs) - 1}" if len(inputs) > 1 else "")))


def print_state(folder: QuestionFolder, bound: str, err: bool = False) -> bool:
    """Print the name of a folder with the bound of its question, on standard error where the output is for a program;
    return whether it is whole, and nothing is to do.
    """
    click.echo(printable(f"{folder.path}: {bound}: {folder.state.value}"), err=err)
    if folder.state is not FolderState.WHOLE:
        return False
    if is_corpus(folder.path):
        click.echo(printable(f"{folder.path}: {read_manifest(folder.path)['counts']['tests']} tests, complete"))
    return True
