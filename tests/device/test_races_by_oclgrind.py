"""Random kernels of OpenCL C with barriers: each race that Oclgrind sees in a run is one that ``check`` finds.

Oclgrind runs one execution, in which a race may not show, and takes atomic operations of one location for no race. So
what ``check`` finds and Oclgrind does not see is counted only.
"""

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace

import pytest
from random_races import arguments, racy_kernel, simulation

from synth.checking.questions import CheckAnswer, check, flagging
from synth.checking.sources import read_kernels
from synth.checking.tasks import tasks_of
from synth.checking.work import axiomatic
from synth.requests import read_launch

pytestmark = pytest.mark.device

PROGRAM = "oclgrind-kernel"


def seen_by_oclgrind(kernel, source):
    """Whether Oclgrind sees a race when it runs a kernel."""
    file = source.with_suffix(".sim")
    file.write_text(simulation(kernel, str(source)), encoding="utf-8")
    as_written = ["--build-options", "-cl-opt-disable"]  # optimised, a read may leave its branch
    command = [PROGRAM, "--data-races", "--uniform-writes", *as_written, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "error" not in done.stderr.lower(), done.stderr
    return re.search(r"data race at", done.stderr + done.stdout) is not None


def found_by_check(kernel, path):
    """The answer to the question about races."""
    launch = read_launch([f"--grid={kernel.blocks}", f"--block={kernel.threads}"])
    (task,) = tasks_of(read_kernels(path), launch)
    task = replace(task, launch=replace(task.launch, arguments=arguments()))
    (model,) = axiomatic(["opencl"])
    (program,) = task.programs(flagging("opencl"), 2)
    return check(program, model, "", 2, "fair").answers["race"]


def compared(seeds, folder):
    """How often both find a race, one of them does, or none."""
    seen = Counter()
    for seed in seeds:
        kernel = racy_kernel(seed)
        path = folder / f"k{seed}.cl"
        path.write_text(kernel.text, encoding="utf-8")
        by_run, answer = seen_by_oclgrind(kernel, path), found_by_check(kernel, path)
        assert not by_run or answer is CheckAnswer.FOUND, (seed, answer, kernel.text)
        seen[by_run, answer is CheckAnswer.FOUND] += 1
    return seen


def test_each_race_that_a_run_shows_is_found(tmp_path, to_spirv):
    to_spirv("opencl")
    if shutil.which(PROGRAM) is None:
        pytest.skip(f"races by {PROGRAM} need Debian's oclgrind")
    seen = compared([str(number) for number in range(16)], tmp_path)
    assert seen[True, True] > 4 and seen[False, False] > 0
