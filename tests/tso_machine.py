"""A ``synth`` whose machine shows every outcome of a C test that TSO allows, and can be killed after some tests.

    python tests/tso_machine.py 3 infer cpu --run --backend cpp -o out

Killed means SIGKILL, once the result of the third test is on the disk and before anything else is done; 0 means never.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from typing import Any

from backends.shared.layout import outcome_terms
from backends.shared.results import MemoryResult, ResultFile
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from oracle.executions.judge import outcomes
from synth.commands.cli import main
from synth.inference import memory_runs
from synth.inference.loop import LoopOptions
from synth.inputs import Input
from synth.memory.runs import LitmusRuns

SEEN = 1000
"""The instances of a launch, and those in which each outcome is seen."""

left = int(sys.argv.pop(1))


def made(files: Iterable[Input], _: object, device: object, launches: object, results: ResultFile) -> LitmusRuns:
    """The results of tests on a machine that is TSO, in place of ``synth.memory.runs.made``."""
    global left
    (tso,) = resolve_consistency_models(["tso"])
    assert isinstance(tso, AxiomaticModel)
    for file in files:
        test = file.litmus()
        terms = outcome_terms(test)
        asked = outcomes(test, tso.model)
        rows: set[Any] = {tuple(dict(final)[term] for term in terms) for final in asked}
        results.add(
            MemoryResult(
                test=test.name,
                digest=litmus_digest(test),
                backend="cpp",
                device="a machine that is TSO",
                instances=SEEN * len(rows),
                iterations=1,
                timeout=None,
                stress=False,
                terms=tuple(map(spell, terms)),
                outcomes=tuple((values, SEEN) for values in sorted(rows)),
                other=0,
                launches=1,
                hung=False,
                date="2026-11-26T12:00:00Z",
            )
        )
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return LitmusRuns()


if __name__ == "__main__":
    memory_runs.made = made  # type: ignore[assignment]
    LoopOptions.opened = lambda _: None  # type: ignore[assignment,method-assign]
    sys.exit(main(sys.argv[1:], prog_name="synth"))
