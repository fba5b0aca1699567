"""The folder of a question that is asked without ``--output``, which is named after the question.

    synth progress --threads 3 --instrs 4 --all     progress-3x4-all

The same question finds its folder again, whole or as a kill left it. A folder with that name that holds anything else
is left alone, and the next one is taken: ``progress-3x4-all-2``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from corpus.errors import InputError
from corpus.journal import is_complete, is_of
from corpus.suite import is_corpus, read_manifest

WITHOUT_INFLUENCE = frozenset({
    *("output", "jobs", "cluster", "solver", "resume", "time_limit", "max_tests", "timeout", "memory"),
})  # fmt: skip
"""The options that say how long and where work is done; none of them changes a corpus that is complete."""

output_option = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="The corpus folder to write.  [default: one that is named after the question]",
)

LONGEST = 100
"""The most characters of a name."""


class FolderState(Enum):
    """What is in the folder of a question, as it is told."""

    NEW = "new"
    UNFINISHED = "an earlier run was stopped, and this one goes on"
    WHOLE = "found whole"


class QuestionFolder(NamedTuple):
    """A folder, and what is in it."""

    path: Path
    state: FolderState


def question_name(first: Iterable[str], said: Collection[str] = ()) -> str:
    """Return the name of the folder of a question: some words, and every other option of the command that is given and
    not its default.

    ``said`` are the options that the words say already.
    """
    context = click.get_current_context()
    words = list(first)
    for parameter in context.command.params:
        name = str(parameter.name)
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        value = context.params.get(name)
        if not given or name in WITHOUT_INFLUENCE or name in said or value == parameter.get_default(context):
            continue
        if isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[0].lstrip("-"))
        else:
            words += [max(parameter.opts, key=len).lstrip("-"), *_texts(value)]
    whole = "-".join(map(_plain, words))
    digest = sha256("\n".join(words).encode()).hexdigest()[:8]
    return whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 9]}-{digest}"


def _texts(value: Any) -> list[str]:
    if isinstance(value, tuple) and all(isinstance(each, int) for each in value):
        return [span(value)]
    return [text for each in value for text in _texts(each)] if isinstance(value, tuple) else [str(value)]


def span(numbers: tuple[int, ...]) -> str:
    """Return the least and the most as a word of a name: ``2-4``, or ``4`` where they are one."""
    return "-".join(map(str, dict.fromkeys(numbers)))


def _plain(word: str) -> str:
    """Return a word of which a file's name can be made, whatever it was."""
    return re.sub(r"[^A-Za-z0-9.+_]+", "-", word).strip("-.")


def corpus_folder(name: str, asked: Mapping[str, Any]) -> QuestionFolder:
    """Return the folder, here, of the corpus that was asked for."""
    for rank in count(1):
        path = Path(name if rank == 1 else f"{name}-{rank}")
        if not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir())):
            return QuestionFolder(path, FolderState.NEW)
        if path.is_symlink() or not is_corpus(path):
            continue
        try:
            if not is_of(path, asked):
                continue
        except InputError:  # what is there is no corpus of ours
            continue
        return QuestionFolder(path, FolderState.WHOLE if is_complete(path) else FolderState.UNFINISHED)
    raise AssertionError


def told(folder: QuestionFolder, bound: str) -> bool:
    """Print the name of a folder with the bound of its question; return whether it is whole, and nothing is to do."""
    click.echo(f"{folder.path}: {bound}: {folder.state.value}")
    if folder.state is not FolderState.WHOLE:
        return False
    click.echo(f"{folder.path}: {read_manifest(folder.path)['counts']['tests']} tests, complete")
    return True
