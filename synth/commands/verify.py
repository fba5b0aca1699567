"""``synth verify``: check the certificate of a corpus."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.certificates import FOLDER
from corpus.errors import InputError, one_line
from corpus.journal import read_corpus
from synth.inputs import MEMORY
from synth.options.numbers import JOBS
from synth.pool import Jobs, cores
from synth.verification import Findings, Watch
from synth.watch import watching

_SHOWN = 20
"""Lines of what does not hold that are printed."""


@click.command(name="verify")
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option("--jobs", "-j", type=JOBS, help="Processes; as many as cores when not given.")
def command(corpus: Path, jobs: int | None) -> None:
    """Check that a corpus holds what it says, and all that was asked for.

    The corpus was made with synth progress --certify, or synth memory --certify. Each test is judged anew: that it is
    one, its verdicts, and that it is minimal where that was asked. Each clause that was added to a formula is derived
    anew, each proof that nothing is left is checked, and what it counts as found has to be in the corpus, or no test
    that was asked for. What does not hold is printed, and the exit code is 1. docs/certificates.md says what is taken
    on trust, and how to have the proofs checked by other programs.

    \b
    What synth progress --threads 2 --instrs 4 --all --certify -o all has made:
      synth verify all
    """
    with watching("checking", found=False) as watch:
        findings = _verified(corpus, jobs or cores(), watch)
    for line in findings.refused[:_SHOWN]:
        click.echo(one_line(line), err=True)
    if len(findings.refused) > _SHOWN:
        click.echo(f"and {len(findings.refused) - _SHOWN} more", err=True)
    if findings.refused:
        click.echo(f"{corpus}: refused", err=True)
        sys.exit(1)
    click.echo(
        f"{corpus}: verified: {findings.tests} tests, and no other; {findings.units} units, {findings.found} "
        f"{findings.called} found, {findings.refinements} refinements, {findings.steps} steps of proofs"
    )


def _verified(path: Path, jobs: Jobs, watch: Watch) -> Findings:
    """Raises ``InputError`` where there is no corpus, or one without a certificate; what is wrong with one that is
    there is among the findings."""
    if not (path / FOLDER).is_dir():
        read_corpus(path)
        raise InputError("there is no certificate; --certify of synth progress and synth memory makes one", str(path))
    try:
        opened = read_corpus(path)
    except InputError as error:
        return Findings(refused=[str(error)])
    if opened.manifest.get("request", {}).get("kind") == MEMORY:
        from synth.memory.verification import verify as verify_memory

        return verify_memory(opened, jobs, watch)
    from synth.progress.verification import verify as verify_progress

    return verify_progress(opened, jobs, watch)
