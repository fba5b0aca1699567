"""Runs the program of a test in a process of its own. It watches which iterations terminate, and which do not.

The program prints ``ready`` and then a line for each iteration that terminated (``backends.shared.main``,
``backends.opencl.host``). An iteration whose line does not come within the time-out is counted as one that did not
terminate, and the whole process group is killed. Setting up, compilation of a kernel included, is not part of an
iteration: a program that cannot start is an error and never a hang.

A program that hangs must not outlive us, whatever ends us: where util-linux's ``setpriv`` is there, the kernel kills
it with its parent.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

SETUP_TIMEOUT = 300.0
"""The number of seconds that a program may take until it prints ``ready``."""

LIFE = 256
"""Runs after which a server makes room for a new one, for drivers do not give back all that they take."""

TERMINATED, TIMED_OUT = "T", "H"

WATCHDOG = 124
"""Exit code of a program whose device gave up on a kernel: a hang as well."""


_DONE = re.compile(rb"done (\d+) ?(.*)")
"""The line that a server prints at the end of a run."""


class RunError(Exception):
    """A program that neither terminated nor hung: it could not be built, could not start, or failed."""


class NotReadyError(RunError):
    """A program that was not ready in time: its first launch, on which nothing can hang, did not end."""


@dataclass(frozen=True, slots=True)
class Run:
    """The outcomes of the iterations of a test in order, a letter each: ``T`` terminated, ``H`` did not.

    ``seconds`` has the wall time of each iteration; a hang's is the time-out. ``lines`` has the line of each iteration
    that terminated. ``cpu`` are the CPU seconds of the process from ``ready`` on; ``None`` where nobody counts them.
    """

    outcomes: str
    seconds: tuple[float, ...]
    lines: tuple[str, ...] = ()
    cpu: float | None = None

    @property
    def hangs(self) -> bool:
        """A run hangs where some iteration did not terminate in time."""
        return TIMED_OUT in self.outcomes


def watch(
    command: Sequence[str],
    iterations: int,
    timeout: float,
    environment: Mapping[str, str] | None = None,
    every_iteration: bool = False,
) -> Run:
    """Run ``command`` with the number of iterations appended to it, ``timeout`` seconds for each iteration.

    After the first hang the rest is skipped, for it would most likely hang too; with ``every_iteration`` a new process
    goes on with it. ``environment`` is added to ours. Raises ``RunError`` where it can be neither seen to terminate nor
    seen to hang.
    """
    return _iterated(lambda left: _watch_process(command, left, timeout, environment), iterations, every_iteration)


class Server:
    """A host that runs one program after the other, in a process that is started anew after a hang or a crash.

    It is started with ``--serve`` and reads a line for each run, ``ITERATIONS PROGRAM``. It prints what a program of
    its own prints, and then ``done CODE MESSAGE``, the exit code and last words of one. Not for two threads at once.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = [*command, "--serve"]
        self._environment = environment
        self._process: _Process | None = None
        self._runs = 0

    def watch(self, program: str, iterations: int, timeout: float, every_iteration: bool = False) -> Run:
        """Run and watch a program that the host knows by this word, ``timeout`` seconds for each iteration.

        After the first hang the rest is skipped; with ``every_iteration`` a new process goes on with it. Raises
        ``RunError`` where it can be neither seen to terminate nor seen to hang.
        """
        return _iterated(lambda left: self._once(program, left, timeout), iterations, every_iteration)

    def _once(self, program: str, iterations: int, timeout: float) -> Run:
        used = self._process is not None
        self._runs += 1
        process = self._process = self._process or _Process(self._command, self._environment, served=True)
        followed = None
        try:
            process.ask(f"{iterations} {program}")
            followed = _follow(process, iterations, timeout)
            if used and followed.run is None and not followed.goes_on and followed.code not in (None, -signal.SIGKILL):
                # The process died before it began, which may be the doing of a program before this one.
                self.close()
                return self._once(program, iterations, timeout)
            return _judged(process, followed, iterations, timeout)
        finally:
            if followed is None or not followed.goes_on or self._runs % LIFE == 0:
                self.close()

    def close(self) -> None:
        """End the process of the host, if one is running."""
        if (process := self._process) is not None:
            self._process = None
            process.kill()
            process.close()


class _Process:
    """A process in a group of its own, and the lines that it prints."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None, served: bool = False) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, closed by ``close``
        self._complaints = 0
        self.served = served
        try:
            self._process = subprocess.Popen(
                [*guard(), *command],
                stdin=subprocess.PIPE if served else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise RunError(f"cannot execute {command[0]}: {error.strerror}") from None
        assert self._process.stdout is not None
        self._out = self._process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._lines, self._pending = deque[bytes](), b""
        _ALIVE.add(self)

    def ask(self, line: str) -> None:
        """Give a process that is served a line. One that has ended is found out by what it does not say."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def line(self, seconds: float) -> bytes | None:
        """The next line, without its end; ``None`` where none comes in time. Raises ``EOFError`` after the last."""
        until = time.monotonic() + seconds
        while not self._lines:
            if not self._selector.select(max(until - time.monotonic(), 0)):
                return None
            data = os.read(self._out.fileno(), 65536)
            if not data:
                raise EOFError
            *lines, self._pending = (self._pending + data).split(b"\n")
            self._lines += lines
        return self._lines.popleft()

    def cpu(self) -> float | None:
        """CPU seconds of it so far, and of the processes that it has waited for; ``None`` where there is no proc(5)."""
        try:
            with open(f"/proc/{self._process.pid}/stat", encoding="utf-8", errors="replace") as stat:
                ticks = stat.read().rpartition(")")[2].split()[11:15]
        except OSError:
            return None
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def code(self) -> int:
        """The exit code, when it has ended."""
        return self._process.wait()

    def forget(self) -> None:
        """What was complained of so far is of a program that has ended."""
        self._complaints = os.fstat(self._errors.fileno()).st_size

    def complaint(self) -> str:
        """The last line on its standard error."""
        self._errors.seek(self._complaints)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def kill(self) -> None:
        """End it and all that it started."""
        try:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
        finally:
            self._process.wait()
            _ALIVE.discard(self)

    def close(self) -> None:
        """Let go of what belonged to it, once it is dead."""
        self._selector.close()
        self._out.close()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._errors.close()


_ALIVE: set[_Process] = set()
"""The processes that are being watched."""

_WAITED_FOR: set[subprocess.Popen[str]] = set()
"""The processes of compilers, each in a group of its own."""


@contextmanager
def endable(process: subprocess.Popen[str]) -> Iterator[None]:
    """Have ``end_all`` end a process and its group within the block, which waits for it."""
    _WAITED_FOR.add(process)
    try:
        yield
    finally:
        _WAITED_FOR.discard(process)


def end_all() -> None:
    """End every process that is watched or compiles, in whatever thread; its run fails."""
    for process in list(_ALIVE):
        process.kill()
    for compiler in list(_WAITED_FOR):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(compiler.pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class _Followed:
    """What was seen of a program: a run, or ``None`` where it never was ready; its exit code, ``None`` where it was not
    waited for; its last words; and whether its process can go on with another.
    """

    run: Run | None
    code: int | None
    complaint: str = ""
    goes_on: bool = False


def _iterated(once: Callable[[int], Run], iterations: int, every_iteration: bool) -> Run:
    """So many iterations, ``once`` makes those that are left up to a hang."""
    run = Run("", ())
    while len(run.outcomes) < iterations and (every_iteration or not run.hangs):
        more = once(iterations - len(run.outcomes))
        cpu = None if more.cpu is None else more.cpu + (run.cpu or 0.0)
        run = Run(run.outcomes + more.outcomes, run.seconds + more.seconds, run.lines + more.lines, cpu)
    return run


def _watch_process(
    command: Sequence[str], iterations: int, timeout: float, environment: Mapping[str, str] | None
) -> Run:
    process = _Process([*command, str(iterations)], environment)
    try:
        try:
            followed = _follow(process, iterations, timeout)
        finally:
            process.kill()
        return _judged(process, followed, iterations, timeout)
    finally:
        process.close()


def _judged(process: _Process, followed: _Followed, iterations: int, timeout: float) -> Run:
    """What a program did as a run. Raises ``RunError`` where it neither terminated nor hung."""
    run, code = followed.run, followed.code
    hung = run is not None and run.hangs
    if run is None or (code not in (0, WATCHDOG) and not hung):
        words = f"the program ended with code {code}"
        if run is None and code == WATCHDOG:
            words = "the device gave up on it before the first iteration"
        error = NotReadyError if run is None and code is None else RunError
        raise error(followed.complaint or process.complaint() or words)
    if code == WATCHDOG:
        return replace(run, outcomes=run.outcomes + TIMED_OUT, seconds=(*run.seconds, timeout))
    if not hung and len(run.outcomes) != iterations:
        raise RunError(f"the program ended after {len(run.outcomes)} of {iterations} iterations")
    return run


def _follow(process: _Process, iterations: int, timeout: float) -> _Followed:
    """Read the lines of a program until it ends or an iteration runs out of time. To end is no iteration."""
    outcomes, seconds, lines = "", list[float](), list[str]()
    ready, since, before = False, time.monotonic(), None

    def seen(outcomes: str, seconds: Sequence[float]) -> Run | None:
        used = process.cpu()
        cpu = None if used is None or before is None else used - before
        return Run(outcomes, tuple(seconds), tuple(lines), cpu) if ready else None

    while True:
        iterates = ready and len(outcomes) < iterations
        try:
            line = process.line(since + (timeout if iterates else SETUP_TIMEOUT) - time.monotonic())
        except EOFError:
            return _Followed(seen(outcomes, seconds), process.code())
        if line is None and iterates:
            return _Followed(seen(outcomes + TIMED_OUT, [*seconds, timeout]), None)
        if line is None:
            words = "did not end after its last iteration" if ready else "was not ready"
            return _Followed(seen(outcomes, seconds), None, f"it {words} in {SETUP_TIMEOUT:g} seconds")
        now = time.monotonic()
        before = process.cpu() if before is None else before
        if process.served and (done := _DONE.fullmatch(line)):
            code = int(done[1])
            process.forget()
            return _Followed(seen(outcomes, seconds), code, done[2].decode("utf-8", "replace"), code != WATCHDOG)
        if line.startswith(b"iteration "):
            outcomes += TERMINATED
            seconds.append(now - since)
            lines.append(line.decode("utf-8", "replace"))
        elif line != b"ready":
            continue
        ready, since = True, now


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """The end of a program that is only run.

    ``code`` is its exit code, that of a signal below 0; ``None`` where it was killed at its time-out. ``seconds`` is
    wall time, ``complaint`` the last line on its standard error.
    """

    code: int | None
    seconds: float
    complaint: str = ""


def run_to_end(command: Sequence[str], timeout: float, environment: Mapping[str, str] | None = None) -> ProcessEnd:
    """Run a program that knows nothing of us; when it has ended, or ``timeout`` seconds are over, so has its group.

    ``environment`` is added to ours. Raises ``RunError`` where it cannot be executed.
    """
    if shutil.which(command[0]) is None:  # the user's own, as the user's shell finds it
        raise RunError(f"cannot execute {command[0]}: no such program")
    with tempfile.TemporaryFile() as errors:
        since = time.monotonic()
        try:
            process = subprocess.Popen(
                [*guard(), *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(f"cannot execute {command[0]}: {error.strerror}") from None
        try:
            in_time = _ends(process, timeout)
            seconds = time.monotonic() - since
        finally:
            with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group that has ended
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - _LAST_WORDS))
        lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return ProcessEnd(code if in_time else None, seconds, lines[-1] if lines else "")


_LAST_WORDS = 4096
"""Bytes at the end of what was complained of in which its last line is looked for."""


def _ends(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Whether a process ends in time. On Linux it is not reaped: until then its group's number is nobody else's."""
    if sys.platform == "linux":
        watched = os.pidfd_open(process.pid)
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(watched, selectors.EVENT_READ)
                return bool(selector.select(timeout))
        finally:
            os.close(watched)
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as Ctrl-C does: what it started is stopped, its temporary folders are removed.

    The process then ends with code 128 and the signal's number, as shells have it. In the main thread only.
    """

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    signals = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, end) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def on_path(program: str) -> str | None:
    """Return the path of a program, where it is in one of the folders of ``PATH`` that begin at the root, or is named
    with its folder.

    An empty entry, ``.`` and the like mean the current folder, in which a stranger's files may lie.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(program, path=os.pathsep.join(filter(os.path.isabs, folders)))


def guard() -> list[str]:
    """Return what to put before a command so that its process does not outlive this one, where util-linux is there."""
    setpriv = on_path("setpriv")
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
