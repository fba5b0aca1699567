"""Random programs in C: what a compiled program does is allowed, and what a sanitizer finds is found.

Programs of two threads (``random_c_programs``) are compiled by gcc plainly and with sanitizers, and run some times. A
fault that a sanitizer finds is a finding of ``synth check`` under rc11, or no answer is given; where all is SAFE, each
outcome of a run is one that an assertion finds.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter

import pytest
from absent import absent
from programs import read_c
from random_c_programs import many, random_program

from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.refusals import NotUnderstoodError
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check

SEEDS = 200
RUNS = 8
SANITIZERS = {"plain": (), "faults": ("-fsanitize=address,undefined",), "races": ("-fsanitize=thread",)}
SAYS = ("ERROR: AddressSanitizer", "runtime error:", "WARNING: ThreadSanitizer", "ERROR: ThreadSanitizer")
OPTIONS = "halt_on_error=1:exitcode=9:detect_leaks=0"


def compiled(gcc, folder, seeds):
    """The programs of these seeds, in each way that gcc can make them here."""
    source = folder / "many.c"
    source.write_text(many(seeds))
    found = {}
    for name, words in SANITIZERS.items():
        made = folder / name
        done = subprocess.run([gcc, "-w", "-std=gnu17", "-O1", "-pthread", *words, "-o", made, source], timeout=120)
        if done.returncode == 0:
            found[name] = made
    return found


def runs(made, number):
    """The outcomes of a program's runs, and what sanitizers say of it."""
    outcomes, faults = set(), set()
    for name, file in made.items():
        for _ in range(RUNS):
            done = subprocess.run([file, str(number)], capture_output=True, text=True, timeout=60,
                                  env={"ASAN_OPTIONS": OPTIONS, "TSAN_OPTIONS": OPTIONS})  # fmt: skip
            said = [line for line in done.stderr.splitlines() if any(word in line for word in SAYS)]
            if said:
                faults.add(said[0].strip()[:120])
                break
            if name == "plain" and done.returncode == 0:
                outcomes.add(tuple(map(int, done.stdout.split())))
    return outcomes, faults


def answers(text):
    """The answers about a program under rc11; None where it is refused."""
    (model,) = resolve_consistency_models(["rc11"])
    try:
        module = read_c(text)
        return check(program_of(module, module.functions["main"], KernelLaunch()), model, "", 2, "fair")
    except NotUnderstoodError:
        return None


def compared(seed, outcomes, faults):
    """What becomes of a program: ``found``, ``safe``, ``unknown`` or ``refused``. Fails where synth is wrong."""
    program = random_program(seed)
    told = answers(program.whole())
    if told is None:
        return "refused"
    kinds = {finding.kind for finding in told.findings}
    if kinds:
        return "found by both" if faults else "found"
    if any(answer is not CheckAnswer.SAFE for answer in told.answers.values()):
        return "unknown"
    assert not faults, (seed, faults, program.whole())
    asserted = [" && ".join(f"{name} == {value}" for name, value in zip(program.observed, outcome, strict=True))
                for outcome in sorted(outcomes)]  # fmt: skip
    text = program.whole("".join(f"    assert(!({outcome}));\n" for outcome in asserted))
    told = answers(text)
    first = text[: text.index("    assert(!(")].count("\n") + 1 if asserted else 0
    lines = {place.source.line for finding in told.findings for place in finding.places if place.source}
    for number, outcome in enumerate(asserted):
        assert first + number in lines, (seed, outcome, text)
    return "safe"


@pytest.mark.slow
def test_random_programs(tmp_path):
    gcc = shutil.which("gcc")
    if gcc is None:
        absent("gcc is needed")
    made = compiled(gcc, tmp_path, range(SEEDS))
    assert "plain" in made
    counts = Counter(compared(seed, *runs(made, seed)) for seed in range(SEEDS))
    assert counts["safe"] > SEEDS // 8 and counts["found by both"] > SEEDS // 10
    assert counts["refused"] + counts["unknown"] < SEEDS // 4, counts
