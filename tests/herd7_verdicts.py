"""What herd7 says of tests under a model, and what we say: all outcomes of what is observed, and the flags.

Tests of the table are in ``verdicts/herd7/tests``, the models beside it: our own, one for each part of the language in
which models of herd7 differ from others. ``verdicts/herd7.csv`` is what herd7 7.58 says, a line a model and test.
"""

import csv
import io
import re
import subprocess
from pathlib import Path

from corpus.litmus.condition import spell
from oracle.executions.judge import judge

FOLDER = Path(__file__).parent / "verdicts" / "herd7"
TABLE = Path(__file__).parent / "verdicts" / "herd7.csv"
MODELS = sorted(FOLDER.glob("*.cat"))
TESTS = sorted((FOLDER / "tests").glob("*.litmus"))

_STATE = re.compile(r"\[?([\w:]+)\]?=(\w+);")


def said_by_herd7(tests, model, *options):
    """Outcomes and flags by the name of a test; of values out of thin air, which herd7 leaves as unknowns, nothing."""
    command = ["herd7", "-archcheck", "false", *options, "-model", str(model), *map(str, tests)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    said = {}
    for block in re.split(r"^Test ", printed, flags=re.MULTILINE)[1:]:
        lines = block.splitlines()
        count = int(lines[1].removeprefix("States "))
        states = [dict(_STATE.findall(line)) for line in lines[2 : 2 + count]]
        known = {as_text(state) for state in states if not any(value[0] == "S" for value in state.values())}
        flags = {line.removeprefix("Flag ") for line in lines if line.startswith("Flag ")}
        said[lines[0].split()[0]] = known, flags
    return said


def said_here(test, model):
    """The same of one test."""
    judged = judge(test, model)
    found = {as_text({spell(term).removeprefix("P"): str(value) for term, value in final}) for final in judged.outcomes}
    return found, set(judged.flags)


def as_text(state):
    """An outcome, in one spelling."""
    return " ".join(f"{name}={value}" for name, value in sorted(state.items()))


def table(said):
    """The text of the table; ``said`` gives outcomes and flags by the name of a test, of a model's file."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(["model", "test", "outcomes", "flags"])
    for model in MODELS:
        for name, (outcomes, flags) in sorted(said(model).items()):
            rows.writerow([model.stem, name, "; ".join(sorted(outcomes)), " ".join(sorted(flags))])
    return written.getvalue()
