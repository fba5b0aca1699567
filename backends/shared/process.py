"""Runs the program of a test in a process of its own and watches it: who terminates, who does not.

The program prints ``ready`` and then a line for each iteration that terminated (``backends.shared.main``,
``backends.opencl.host``). An iteration whose line does not come within the time-out is counted as one that did not
terminate, and the whole process group is killed. Setting up, compilation of a kernel included, is not part of an
iteration: a program that cannot start is an error and never a hang.

A program that hangs must not outlive us, whatever ends us: where util-linux's ``setpriv`` is there, the kernel kills
it with its parent.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

SETUP_TIMEOUT = 300.0
"""Seconds until ``ready``."""

TERMINATED, TIMED_OUT = "T", "H"

WATCHDOG = 124
"""Exit code of a program whose device gave up on a kernel: a hang as well."""


class RunError(Exception):
    """A program that neither terminated nor hung: it could not be built, could not start, or failed."""


@dataclass(frozen=True, slots=True)
class Run:
    """Outcomes of the iterations of a test in order, a letter each: ``T`` terminated, ``H`` did not.

    ``seconds`` has the wall time of each iteration; a hang's is the time-out. ``said`` has the line of each iteration
    that terminated.
    """

    outcomes: str
    seconds: tuple[float, ...]
    said: tuple[str, ...] = ()


def watch(
    command: Sequence[str],
    iterations: int,
    timeout: float,
    environment: Mapping[str, str] | None = None,
    every_iteration: bool = False,
) -> Run:
    """Run ``command`` with the number of iterations appended to it, ``timeout`` seconds for each iteration.

    After the first hang the rest is skipped, for it would most likely hang too; with ``every_iteration`` a new process
    goes on with it. ``environment`` is added to ours. Raises ``RunError``.
    """
    outcomes, seconds, said = "", list[float](), list[str]()
    while len(outcomes) < iterations and (every_iteration or TIMED_OUT not in outcomes):
        run = _watch_process(command, iterations - len(outcomes), timeout, environment)
        outcomes += run.outcomes
        seconds += run.seconds
        said += run.said
    return Run(outcomes, tuple(seconds), tuple(said))


def _watch_process(
    command: Sequence[str], iterations: int, timeout: float, environment: Mapping[str, str] | None
) -> Run:
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [*guard(), *command, str(iterations)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(f"cannot execute {command[0]}: {error.strerror}") from None
        try:
            run = _follow(process, timeout)
        finally:
            _kill(process)
        if run is None or (process.returncode not in (0, WATCHDOG) and TIMED_OUT not in run.outcomes):
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise RunError(said[-1] if said else f"the program ended with code {process.returncode}")
        if process.returncode == WATCHDOG:
            return Run(run.outcomes + TIMED_OUT, (*run.seconds, timeout), run.said)
        if TIMED_OUT not in run.outcomes and len(run.outcomes) != iterations:
            raise RunError(f"the program ended after {len(run.outcomes)} of {iterations} iterations")
        return run


def _follow(process: subprocess.Popen[bytes], timeout: float) -> Run | None:
    """Read the program's lines until it ends or an iteration runs out of time; ``None`` where it never was ready."""
    assert process.stdout is not None
    outcomes, seconds, said = "", list[float](), list[str]()
    ready, pending = False, b""
    since = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = since + (timeout if ready else SETUP_TIMEOUT) - time.monotonic()
            if not selector.select(max(left, 0)):
                return Run(outcomes + TIMED_OUT, (*seconds, timeout), tuple(said)) if ready else None
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                process.wait()
                return Run(outcomes, tuple(seconds), tuple(said)) if ready else None
            *lines, pending = (pending + data).split(b"\n")
            now = time.monotonic()
            for line in lines:
                if line.startswith(b"iteration "):
                    outcomes += TERMINATED
                    seconds.append(now - since)
                    said.append(line.decode("utf-8", "replace"))
                elif line != b"ready":
                    continue
                ready, since = True, now


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as Ctrl-C does: what it started is stopped, its temporary folders are removed.

    The process then ends with code 128 and the signal's number, as shells have it. In the main thread only.
    """

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    signals = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(each, end) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


def guard() -> list[str]:
    """What to put before a command so that its process does not outlive this one, where util-linux is there."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    finally:
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
