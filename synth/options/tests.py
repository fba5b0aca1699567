"""Options that say which tests are meant, where they lie and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from synth.inputs import Input
from synth.requests import SelectionFilter, parse_filter


def choice_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--where``, repeatable; the command gets ``choice``."""

    @wraps(command)
    def call(*args: Any, where: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, choice=SelectionFilter(tuple(map(parse_filter, where))), **kwargs)

    return click.option(
        "--where",
        multiple=True,
        metavar="NAME|FIELD=VALUE",
        help="Only tests with this name ('SB*'), verdict (sc=forbidden, obe-weak=hangs), or name, tag, shape, bound, "
        "threads, size or scope. != negates; A|B matches either; * works in names, 2..4 in numbers. Repeatable: a "
        "test must match all.",
    )(call)


suites_option = click.option(
    "-s",
    "--suite",
    "suites",
    multiple=True,
    metavar="FILES|FOLDER|CORPUS",
    type=click.Path(),
    help="Read the tests of the results from here. Repeatable.  [default: the corpora that hold the results]",
)

bell_option = click.option(
    "--bell",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="LISA tests: the bell file that declares the annotations of instructions; your own models see it too.  "
    "[default: one beside the test, which models do not see]",
)
"""``--bell``; its value is a path, None where it is not given."""


def with_bell(tests: Sequence[Input], bell: str | None) -> list[Input]:
    """The tests, to be read by a bell file if one is named. Raises ``InputError`` where it is wrong."""
    if bell is not None:
        from corpus.dialects.lisa.own import bell_at  # loaded where one is named

        bell_at(bell)
    return [test if bell is None else replace(test, bell=bell) for test in tests]
