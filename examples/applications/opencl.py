"""Launches an application on an OpenCL device, up to a launch that goes wrong, or for half a second.

    python opencl.py peterson.cl [LAUNCHES]

With 0 launches it is only built, for `--build`. Needs pyopencl. SYNTH_DEFINES in the environment (`synth harden` sets
it) goes to the kernels' compiler. The device is the first that builds them; PYOPENCL_CTX names another. Exit codes:
0 all went right, 1 something went wrong, 2 no device builds or runs it.
"""

import argparse
import os
import random
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path

# PoCL: a thread for each work-group, those for stress too, however few processors there are.
os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "8" if "SYNTH_STRESS=" in os.environ.get("SYNTH_DEFINES", "") else "4")

import numpy as np
import pyopencl as cl

SECONDS = 0.5
PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=argparse.FileType(encoding="utf-8"))
    parser.add_argument("launches", type=int, nargs="?", default=200)
    asked = parser.parse_args()
    text, folder = asked.source.read(), Path(asked.source.name).parent
    options = ["-cl-std=CL3.0", f"-I{folder}", *shlex.split(os.environ.get("SYNTH_DEFINES", ""))]
    error: cl.Error | None = None
    for device in devices():
        try:
            context = cl.Context([device])
            return run(context, cl.Program(context, text).build(options), asked.launches)
        except cl.Error as problem:
            error = error or problem
    print(error or "no OpenCL device", file=sys.stderr)
    return 2


def devices() -> list[cl.Device]:
    """Those to try, in this order."""
    if "PYOPENCL_CTX" in os.environ:
        return cl.create_some_context(interactive=False).devices
    return [device for platform in cl.get_platforms() for device in platform.get_devices()]


def settle() -> None:
    """Keep each thread of the driver on one processor, so that a busy machine does not run one after the other.

    Another one each time, for who knows which of them play.
    """
    if PROCESSORS:
        threads = os.listdir("/proc/self/task")
        random.shuffle(threads)
        for number, thread in enumerate(threads):
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread), {PROCESSORS[number % len(PROCESSORS)]})


def run(context: cl.Context, program: cl.Program, launches: int) -> int:
    """Launch the kernels; each has its memory zeroed."""
    queue = cl.CommandQueue(context)
    said = np.zeros(3, dtype=np.int32)
    answer = cl.Buffer(context, cl.mem_flags.READ_WRITE, said.nbytes)
    application, judge, sizes = program.run, program.judge, program.sizes
    sizes(queue, (1,), (1,), answer)
    cl.enqueue_copy(queue, said, answer)
    groups, *words = map(int, said)
    memory, scratch = (cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * size) for size in words)
    zeros = np.zeros(words[0], dtype=np.uint32)
    until = time.monotonic() + SECONDS
    for seed in range(launches):
        settle()
        cl.enqueue_copy(queue, memory, zeros)
        application(queue, (groups,), (1,), memory, scratch, np.uint32(seed))
        judge(queue, (1,), (1,), memory, answer)
        cl.enqueue_copy(queue, said, answer)
        if said[0]:
            print(f"{said[0]} wrong, in launch {seed}", file=sys.stderr)
            return 1
        if time.monotonic() >= until:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
