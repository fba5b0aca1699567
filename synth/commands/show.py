"""``synth show`` shows the tests of a corpus as tables and plots."""

from __future__ import annotations

from dataclasses import replace
from inspect import cleandoc
from itertools import chain
from pathlib import Path
from textwrap import wrap

import click
from rich.table import Table

from corpus.errors import printable
from corpus.journal import read_corpus
from corpus.progress.idioms import IDIOMS
from synth.families.interface import family
from synth.inputs import family_in
from synth.options.form import Page, json_option
from synth.options.tests import choice_options
from synth.requests import SelectionFilter
from synth.screen.console import Listing, plain_table, print_json, print_table, screen
from synth.screen.counts import count_tables
from synth.screen.pictures import check_picture_name, write_picture
from synth.watch import busy


@click.command(name="show", cls=Page, first="--tests --where --picture")
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option("--tests", "list_tests", is_flag=True, help="List every test with the models that it tests.")
@choice_options
@click.option(
    "--picture",
    "svg",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the distribution: .svg, .pdf, .png or .tex.",
)
@json_option("Print JSON instead of tables.")
def command(corpus: Path, list_tests: bool, choice: SelectionFilter, svg: Path | None, as_json: bool) -> None:
    """Show what is in a corpus of progress tests, or in a suite of memory tests.

    For a suite of synth memory, synth shows the question, the tests by size and by family, how many each model allows,
    how many tell each two models apart, and which verdicts go together, with an example. For a corpus of progress
    tests, it shows:

    \b
    Tests terminating  by bound and by tag, under each guarantee, weak/strong
    Models             distinguishing (D) and conformance (C) tests of each
    Table 4            the same as the paper counts: each test once, at the first of
                       HSA, OBE, LOBE and fair under which it terminates; weak tests
                       by weak models, strong tests by strong ones

    A test is a conformance test for a model if it terminates under the model: a device that hangs on it does not
    implement the model. It is also distinguishing if it may hang under every strictly less fair model. A test is weak
    if it terminates under weak fairness, and strong if it terminates only under strong fairness.

    --picture draws Table 4 as bars, as in Fig. 10 of "Specifying and Testing GPU Workgroup Progress Models" (OOPSLA
    2021); for memory tests it draws a bar for each family and model. The ending of the name chooses SVG, PDF, PNG or
    TikZ.

    \b
    Tags name the well-known idioms of a test:
      IDIOMS

    \b
    Examples:
      synth show suite
      synth show suite --tests
      synth show suite --picture distribution.svg
      synth --format latex show suite > suite.tex
      synth show suite --json | jq '.models["lobe-weak"]'
      synth show classic --json | jq '.models["ptx-rmo"].ALLOWED'
      synth show suite --tests --where tag=prodcons-increasing
      synth show classic --tests --where shape=MP --where ptx-rmo=allowed
    """
    if svg:
        check_picture_name(svg)
    opened = read_corpus(corpus)
    kind = family(family_in(opened.manifest))
    opened = replace(opened, tests=choice.of_tests(opened.tests))
    if svg:
        write_picture(svg, kind.distribution_svg(opened))
    with busy("Counting"):
        counts = kind.counted(opened)
    if as_json:
        print_json(counts.summary() | ({"list": [line for line, _ in counts.lines()]} if list_tests else {}))
        return
    console = screen()
    console.print(printable(f"{corpus}: {len(opened.tests)} tests, {opened.state}"), markup=False)
    listing = Listing(plain_table(*counts.heads), lambda: (cells for _, cells in counts.lines()))
    shown = chain[tuple[str, Table | Listing]](count_tables(counts), [(counts.listed, listing)] if list_tests else ())
    for title, table in shown:
        console.print()
        print_table(console, table, title)
    if svg:
        console.print(f"\nDistribution drawn in {printable(str(svg))}", markup=False)


command.help = cleandoc(command.help or "").replace("IDIOMS", "\n  ".join(wrap(" ".join(IDIOMS), 100)))
