"""The option ``--bell`` as every command that takes it spells it: a bell file for LISA tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from synth.inputs import Input

bell_option = click.option(
    "--bell",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="LISA tests: the bell file that says what instructions may be annotated with, and that models of your own see."
    "  [default: one beside the test, which models do not see]",
)
"""``--bell``; its value is a path, None where it is not given."""


def with_bell(tests: Sequence[Input], bell: str | None) -> list[Input]:
    """The tests, to be read by a bell file if one is named. Raises ``InputError`` where it is wrong."""
    if bell is not None:
        from corpus.dialects.lisa.own import bell_at  # loaded where one is named

        bell_at(bell)
    return [test if bell is None else replace(test, bell=bell) for test in tests]
