"""The option that says of which tests results are."""

from __future__ import annotations

import click

suites_option = click.option(
    "-s",
    "--suite",
    "suites",
    multiple=True,
    metavar="FILES|FOLDER|CORPUS",
    type=click.Path(),
    help="Where the tests of the results are; repeatable.  [default: the corpora that the results lie in]",
)
