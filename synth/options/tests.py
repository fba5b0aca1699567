"""Options that say which tests are meant, where they lie and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from corpus.errors import InputError
from synth.families.interface import Family, families
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


def refuse_foreign(context: click.Context, kind: Family) -> None:
    """Raise ``InputError`` where an option was given that only the other family of tests has."""
    refuse_given(
        context, kind.foreign, " and ".join(family.kind for family in families().values() if family is not kind)
    )


def refuse_given(context: click.Context, parameters: Collection[str], others: str) -> None:
    """Raise ``InputError`` where one of these parameters was given, which are for ``others``."""
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name in parameters:
            raise InputError(f"{parameter.opts[0]} is for {others}")
