"""``synth report`` shows what devices did, as a page, as tables or as files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.errors import InputError, printable, visible
from corpus.files import write_atomically
from synth.options.form import JSON, Page, form_options, printed_as
from synth.options.models import model_option
from synth.options.tests import choice_options, suites_option
from synth.options.values import JOBS
from synth.pool import cores
from synth.requests import SelectionFilter
from synth.tables import TABLE
from synth.worker import Limits

HTML, MARKDOWN, LATEX, JUNIT, CSV = "html", "markdown", "latex", "junit", "csv"
_SUFFIXES = {".html": HTML, ".htm": HTML, ".md": MARKDOWN, ".tex": LATEX, ".json": JSON, ".xml": JUNIT, ".csv": CSV}
_LIMITS = Limits(20, 4096)  # seconds and memory that explaining one test may take


@click.command(name="report", cls=Page, first="--output --model --explain")
@click.argument("results", nargs=-1, required=True, metavar="RESULTS|CORPUS...", type=click.Path(path_type=Path))
@suites_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to FILE.  [default: stdout]",
)
@form_options(
    "[default: as the suffix of -o says: .html, .md, .tex, .json, .xml, .csv; else markdown]",
    *(HTML, MARKDOWN, LATEX, JUNIT, CSV),
)
@choice_options
@model_option(memory=True)
@click.option(
    "--sound",
    multiple=True,
    metavar="MODEL",
    help="Fail if a result contradicts this model: a JUnit case fails, and the exit code is 1; repeatable.",
)
@click.option("--title", help="The report's title.  [default: from the names of RESULTS]")
@click.option(
    "--explain",
    "most",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    metavar="N",
    help="html: explain and draw this many tests, the most interesting first.",
)
@click.option("-j", "--jobs", type=JOBS, help="Processes.  [default: one a core]")
def command(
    results: tuple[Path, ...],
    suites: tuple[str, ...],
    output: Path | None,
    form: str | None,
    choice: SelectionFilter,
    models: tuple[str, ...],
    sound: tuple[str, ...],
    title: str | None,
    most: int,
    jobs: int | None,
) -> None:
    """Show the results of devices beside the verdicts of models.

    RESULTS are files of results from any number of devices, or corpora with results in them. One report may have both
    progress and litmus tests. It says which models each device contradicts, which it is consistent with, and which are
    weaker than it needs; which fairness each device provides; and how often each outcome occurred, with confidence
    intervals. For each test it has the program, the verdicts with their reasons, figures and histograms. The page is
    one file, needs no network, and works on screens, in print and by keyboard. docs/report.md explains it.

    A corpus without results works too: the report has its tests and the models' verdicts. synth takes verdicts from the
    corpus, and computes those of --model that the corpus lacks. The same input gives the same bytes.

    \b
    Examples:
      synth report suite -o report.html
      synth report a/results.jsonl b/results.jsonl --suite suite -o report.html
      synth report suite classic -o report.html --title 'lavapipe, Mesa 25'
      synth report memory.jsonl --suite examples/memory -m sc -m ptx-6.0 -o report.md
      synth report suite --format csv > rates.csv
      synth report suite -o report.xml --sound obe-weak

    Exit code 1 if a result contradicts a model of --sound.
    """
    from synth.report import formats
    from synth.report.details import details
    from synth.report.gather import ReportRequest, gather
    from synth.report.page import page

    shared = MARKDOWN if printed_as() == TABLE else printed_as()
    form = form or (_SUFFIXES.get(output.suffix.lower()) if output else shared)
    if form is None:
        raise InputError(f"give --format, or a name that ends in {', '.join(_SUFFIXES)}", str(output))
    if form == HTML and output is None:
        raise InputError("give a file for the page: -o FILE")
    found = gather(
        ReportRequest(results, suites, choice, (*models, *sound) if models else (), jobs or cores(), _LIMITS)
    )
    known = {model for names in found.models.values() for model in names}
    for model in sound:
        if model not in known:
            raise InputError(f"--sound {model}: no test has a verdict of it; known: {', '.join(sorted(known))}")
    title = title or f"{'Results' if found.trials else 'Tests'} of {_listed([path.stem for path in results])}"
    notes = []
    if found.strangers:
        shown = ", ".join(found.strangers[:3]) + (", .." if len(found.strangers) > 3 else "")
        notes.append(f"{len(found.strangers)} tests with results are not shown, for their text is not known: {shown}")
        click.echo(printable(f"synth: {notes[0]}; --suite names their corpus"), err=True)
    match form:
        case "html":
            explained = details(found, most, jobs or cores(), _LIMITS)
            if len(explained) < len(found.subjects):
                notes.append(f"{len(explained):,} of {len(found.subjects):,} tests are explained; --explain takes more")
            text = page(found, explained, title, notes)
        case "markdown":
            text = formats.markdown(found, title, notes)
        case "latex":
            text = formats.latex(found, title, notes)
        case "json":
            text = formats.as_json(found, title, notes)
        case "junit":
            text = formats.junit_xml(found, title, sound)
        case _:
            text = formats.comma_separated(found)
    data = visible(text).encode("utf-8", "backslashreplace")  # names of files may hold bytes that are not UTF-8
    if output is None:
        click.echo(data, nl=False)
    else:
        write_atomically(output, [data])
    against = found.against(sound)
    for model, name in against.items():
        click.echo(printable(f"synth: {model} is not sound here: it forbids a result of {name}"), err=True)
    sys.exit(1 if against else 0)


def _listed(names: list[str]) -> str:
    """Return names as ``a, b, c``; more than four as ``a, b, c and 6 more``."""
    return ", ".join(names) if len(names) < 5 else f"{', '.join(names[:3])} and {len(names) - 3} more"
