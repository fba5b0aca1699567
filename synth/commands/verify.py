"""``synth verify`` checks the certificate of a corpus."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from corpus.certificates import FOLDER
from corpus.errors import InputError, one_line, printable
from corpus.journal import read_corpus
from synth.inputs import MEMORY
from synth.options.form import Page, json_option
from synth.options.models import models_option
from synth.options.work import jobs_options, limit_options, workplaces
from synth.pool import Jobs, cores
from synth.verification import Findings, Watch, verify
from synth.watch import watching
from synth.worker import Limits

_SAMPLE = 100
_SHOWN = 20
"""The most lines on what does not hold that are printed."""

_HOUR = 3600


@click.command(name="verify", cls=Page, first="--with --sample --jobs")
@click.argument("corpus", type=click.Path(path_type=Path))
@json_option("Print what was verified, or everything that was refused, as JSON.")
@limit_options("a unit or a test may take; beyond that it is not verified", _HOUR, 4096)
@click.option(
    "--with",
    "peer",
    type=click.Choice(["herd7", "dartagnan"]),
    help="Compare verdicts on memory tests with this tool's instead; it must be on the PATH.",
)
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="With --with: compare N tests, 100 by default.")
@models_option(
    "With --with: compare verdicts under this model, by name or .cat file; synth computes what the corpus lacks. "
    "Repeatable.  [default: the models of the corpus]"
)
@jobs_options
def command(
    corpus: Path,
    as_json: bool,
    limits: Limits,
    peer: str | None,
    sample: int | None,
    models: tuple[str, ...],
    jobs: int | str | None,
) -> None:
    """Check that a corpus is right and that no test is missing.

    synth progress --certify or synth memory --certify must have made the corpus. synth verify judges each test anew:
    that it is a test, its verdicts and, if asked for, that it is minimal. It derives each clause that was added to a
    formula anew, checks each proof that there are no others, and checks that every test that a proof counts as found is
    in the corpus or was not asked for. It then makes every file anew and compares it. If something does not hold, synth
    prints it and the exit code is 1. Otherwise synth prints what it verified: bounds, models with the digests of their
    texts, and how many tests. docs/certificates.md says what is trusted, and how to check the proofs with other
    programs.

    --with gives a sample of the memory tests of any corpus, certified or not, to another tool, under each model of the
    corpus or of --model that the tool knows. synth prints verdicts that differ, and the exit code is then 1. The exit
    code is 2 if the tool is missing or knows none of the models.

    \b
    A corpus that synth progress --threads 2 --instrs 4 --all --certify -o all made:
      synth verify all
      synth --memory 1000 verify all --timeout 60 --json
    One that synth memory --from tso --certify -o tso made, and its verdicts against herd7's:
      synth verify tso
      synth verify tso --with herd7 --sample 1000
    One that synth memory --edges "PodWW PodRR Rfe Fre" -o mp made, without verdicts:
      synth verify mp --with herd7 -m tso
    """
    if peer is not None:
        if isinstance(jobs, str):
            raise click.UsageError("--with runs a program on this machine: leave out the cluster")
        if as_json:
            raise click.UsageError("give --json or --with, not both")
        _compare(corpus, peer, models, sample or _SAMPLE, jobs or cores())
        return
    if sample is not None or models:
        raise click.UsageError("--sample and --model need --with")
    with workplaces(jobs) as places, watching("Verifying", found=False) as watch:
        findings = _verified(corpus, places, limits, watch)
    if as_json:
        found = asdict(findings)
        claim = found.pop("claim")
        verified = {"corpus": str(corpus), "verified": not findings.refused}
        click.echo(json.dumps(verified | ({} if findings.refused else {"claim": claim}) | found, indent=2))
        sys.exit(bool(findings.refused))
    _tell(findings.refused)
    if findings.refused:
        click.echo(printable(f"{corpus}: refused"), err=True)
        sys.exit(1)
    for key, value in findings.claim.items():
        click.echo(f"{key.replace('_', ' ')}: {_words(value)}")
    click.echo(f"not checked: {', '.join(findings.unchecked)}")
    click.echo(
        printable(
            f"{corpus}: verified: {findings.tests} tests, and no other; {findings.units} units, {findings.found} "
            f"{findings.called} found, {findings.refinements} refinements, {findings.steps} steps of proofs"
        )
    )


def _words(value: Any) -> str:
    """Return a value of a claim in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        parts = (key if own is None else f"{key} {own}" for key, own in value.items())
        return ", ".join(parts) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(str, value)) or "none"
    return one_line(str(value))


def _tell(lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        click.echo(one_line(line), err=True)
    if len(lines) > _SHOWN:
        click.echo(f"and {len(lines) - _SHOWN} more", err=True)


def _compare(path: Path, peer: str, models: Sequence[str], sample: int, jobs: Jobs) -> None:
    """Print how a corpus and a peer agree; exit with 1 where they do not."""
    from synth.memory.peers import PEERS, compare  # imported here since it loads every dialect

    found = compare(read_corpus(path), PEERS[peer], models, sample, jobs)
    _tell(found.wrong)
    tally = ", ".join(f"{count} under {model}" for model, count in found.same.items()) or "0"
    unsaid = f"; {found.unsaid} of them cannot be said to it" if found.unsaid else ""
    click.echo(printable(f"{path}: {peer} agrees on {tally}, of {found.tests} tests{unsaid}"))
    if found.wrong:
        click.echo(printable(f"{path}: {len(found.wrong)} verdicts of {peer} differ"), err=True)
        sys.exit(1)


def _verified(path: Path, jobs: Jobs, limits: Limits, watch: Watch) -> Findings:
    """Check a corpus with its certificate, and return the findings, among which is all that is wrong with the
    certificate.

    Raises ``InputError`` where there is no corpus, or one without a certificate.
    """
    if not (path / FOLDER).is_dir():
        read_corpus(path)
        raise InputError("there is no certificate; --certify of synth progress and synth memory makes one", str(path))
    try:
        opened = read_corpus(path)
    except InputError as error:
        return Findings(refused=[str(error)])
    if opened.manifest.get("request", {}).get("kind") == MEMORY:
        from synth.memory.verification import check_of

        return verify(opened, check_of, jobs, limits, watch)
    from synth.progress.verification import check_of as check_of_progress

    return verify(opened, check_of_progress, jobs, limits, watch)
