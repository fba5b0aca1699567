"""Work over the machines of a cluster, by Dask's ``distributed``. The scheduler is an existing one, or one of this
machine.

Dask does the scheduling: when a worker dies, another one does its task again. The items of a task arrive when the task
is done. The work itself is sent once, as a result that any worker can have made again.

Every answer names its origin: the worker's Python, its Dask, and a digest of its source of synth. An answer is refused
where these differ from those of this process. That protects against mistakes, but not against malice: Dask sends
pickles, so anyone who reaches a scheduler or a worker can run any code there (docs/scale.md says who may).
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import platform
import signal
import struct
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import Any

from corpus.errors import InputError
from corpus.extras import pip_install
from corpus.files import folder_of
from corpus.private import private_folder
from synth import VERSION
from synth.pool import Cluster, LostError, cores

PATIENCE = 30.0
"""The seconds that a scheduler has to answer, and to have a worker."""

LOCAL = "local"
"""The address that stands for a scheduler and workers of this machine; ``local:4`` has four workers."""

PACKAGES = ("corpus", "oracle", "constraints", "backends", "synth")

_LOUD = ("distributed", "tornado", "asyncio")
"""The loggers of faults, which synth reports in one line instead."""

_NO_SYNTH = "no synth, or one that is not this one"

Identity = Mapping[str, str]
"""The versions and the source digest that must be equal here and where work is done."""


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Connect to the cluster at an address, such as ``tcp://10.0.0.1:8786``, or at the one that ``LOCAL`` describes.

    Raises ``InputError`` where there is no cluster within ``PATIENCE``, where a worker's identity differs from that of
    this process, and where the cluster goes away.
    """
    try:
        import distributed
    except ImportError:
        raise InputError(f"a cluster needs Dask: {pip_install('cluster')}") from None
    # Without types of Dask's functions; a client that could not be opened prints no errors when it is collected.
    client_of: Any = type("Client", (distributed.Client,), {"__del__": lambda self: None})
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        local, _, number = address.partition(":")
        try:
            place = address
            if local == LOCAL:
                place = stack.enter_context(_of_this_machine(int(number) if number else cores()))
            loop = stack.enter_context(_loop())
            distributed.utils.sync(loop, _identified, place, callback_timeout=PATIENCE)
            client = _in_time(lambda: client_of(place, timeout=PATIENCE, loop=loop, set_as_default=False))
            stack.callback(_closed, client)
        except Exception as error:
            raise InputError(f"no cluster can be used: {_reason(error, address)}", address) from None
        try:
            _in_time(lambda: client.wait_for_workers(1, timeout=PATIENCE))
            cluster = _Dask(client, address)
            cluster.check_workers()
        except TimeoutError:
            raise InputError(f"no worker of the cluster has answered for {PATIENCE:g} s", address) from None
        except OSError:
            raise InputError("the cluster has gone away", address) from None
        yield cluster


def _in_time(ask: Callable[[], Any]) -> Any:
    """Call what may wait for ever for an answer, and return its result. Raises ``TimeoutError`` after ``PATIENCE``."""
    answer: Future[Any] = Future()

    def call() -> None:
        try:
            answer.set_result(ask())
        except Exception as error:
            answer.set_exception(error)

    Thread(target=call, daemon=True).start()
    return answer.result(PATIENCE)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the logs and warnings of Dask within the block."""
    for name in (*_LOUD, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOUD:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _of_this_machine(workers: int) -> Iterator[str]:
    """Start a scheduler with so many workers on this machine, and yield its address.

    All of them listen on the loopback only, and so do their pages for browsers. They run in sessions of their own, so
    that Ctrl-C reaches this process alone, which ends them.
    """
    with private_folder("work") as folder, ExitStack() as stack:
        file = Path(folder, "scheduler.json")
        alone = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        common = ("--scheduler-file", str(file), *alone)
        scheduler = stack.enter_context(_begun("scheduler", "--port", "0", *common))
        until = time.monotonic() + PATIENCE
        while not file.exists() or not file.read_text().endswith("}"):
            if scheduler.poll() is not None or time.monotonic() > until:
                raise OSError
            time.sleep(0.05)
        stack.enter_context(_begun("worker", "--nworkers", str(workers), "--nthreads", "1", *common))
        yield str(json.loads(file.read_text())["address"])


_BEGIN = """
import sys
from synth.worker import end_with_parent
end_with_parent(int(sys.argv.pop(1)))
from dask.cli import run_cli
run_cli()
"""


@contextmanager
def _begun(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of Dask's that ends, with all its children, when the block or this process ends."""
    paths = (str(folder_of("synth").parent), os.environ.get("PYTHONPATH", ""))
    # Work with limits is done by child processes of the workers, which daemons may not have.
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "DASK_DISTRIBUTED__WORKER__DAEMON": "False",
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _BEGIN, str(os.getpid()), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _loop() -> Iterator[Any]:
    """Run an event loop in a thread of its own."""
    from distributed.utils import LoopRunner

    runner: Any = LoopRunner()
    runner.start()
    try:
        yield runner.loop
    finally:
        with suppress(Exception):
            runner.stop()


async def _identified(address: str) -> None:
    """Check that a scheduler answers at the address: a client that connects to anything else cannot be closed again."""
    import distributed

    opened: Any = distributed
    security = opened.Security().get_connection_args("client")
    async with opened.rpc(address, connection_args=security, timeout=PATIENCE) as scheduler:
        if (await scheduler.identity(n_workers=0)).get("type") != "Scheduler":
            raise OSError


def _closed(opened: Any) -> None:
    with suppress(Exception):  # the scheduler may be gone already
        opened.close(timeout=5)


def _reason(error: Exception, address: str = "") -> str:
    """Return the first line of Dask's error, or what that error means."""
    reason = str(error).partition("\n")[0] or type(error).__name__
    if "ssl_context" in reason:
        return (
            "tls:// needs certificates, which Dask's configuration names: distributed.comm.tls.ca-file, .client.cert "
            "and .client.key (docs/scale.md)"
        )
    if isinstance(error, TimeoutError):
        return f"nothing there has answered as a scheduler of Dask's for {PATIENCE:g} s"
    if isinstance(error, FileNotFoundError | PermissionError):
        return f"the certificates that Dask's configuration names cannot be read: {error.strerror}"
    if isinstance(error, MemoryError | struct.error):  # Dask takes the first bytes of another protocol for a size
        return "what is there is no scheduler of Dask's"
    if isinstance(error, OSError) or address.startswith("tls:"):
        return "what is there is no scheduler of Dask's, or takes other certificates"
    return reason


# Identities of workers


@cache
def source_digest() -> str:
    """Return the SHA-256, in hexadecimal, of the source files of synth that this process runs: their names and
    contents.
    """
    digest = sha256()
    for package in PACKAGES:
        root = folder_of(package)
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root)
            hidden = any(part.startswith((".", "__pycache__")) for part in name.parts)
            if not hidden and name.parts[0] != "examples" and path.is_file():  # examples are here in a wheel alone
                content = path.read_bytes()
                digest.update(f"{package}/{name.as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def identity() -> Identity:
    """Return the identity of this process; a worker must have an equal one, or its answers are not taken."""
    versions = {"synth": VERSION, "Python": platform.python_version(), "Dask": version("distributed")}
    return {**versions, "source": source_digest()}


def _check(there: object, worker: str, address: str) -> None:
    """Raise ``InputError`` where a worker's identity differs from that of this process."""
    if not isinstance(there, Mapping):  # an answer that is no mapping is an error
        raise InputError(f"the worker at {worker} has {_NO_SYNTH}", address)
    for what, here in identity().items():
        found = there.get(what)
        if found != here:
            have = "another source of synth than this" if what == "source" else f"{what} {found}, and this is {here}"
            raise InputError(f"the worker at {worker} has {have}; all must have the same", address)


# Tasks


class _Dask:
    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._executor = client.get_executor()
        self._sent: tuple[object, Any] = (None, None)
        self._last_seen = time.monotonic()  # when a worker was last connected

    def check_workers(self) -> None:
        """Raise ``InputError`` where a worker's identity differs from this process's, ``TimeoutError`` where one is
        silent.
        """
        who = self._client.sync(self._client._run, identity, on_error="return", callback_timeout=PATIENCE)
        for worker, there in sorted(who.items()):
            _check(there, worker, self._address)

    @property
    def slots(self) -> int:
        try:
            found = self._client.sync(self._client.scheduler.ncores, callback_timeout=PATIENCE)
        except Exception:  # Dask raises errors of many types
            raise self._lost("the scheduler of the cluster does not answer") from None
        now = time.monotonic()
        if found:
            self._last_seen = now
        elif now - self._last_seen > PATIENCE:
            raise self._lost(f"the cluster has had no worker for {PATIENCE:g} s")
        return max(1, sum(map(int, found.values())))

    def submit(self, work: Callable[[Any], Iterator[Any]], task: object) -> Future[Any]:
        if self._sent[0] is not work:
            self._sent = (work, self._client.submit(_itself, work, pure=False))
        future: Future[Any] = self._executor.submit(_done, self._sent[1], task)
        return future

    def result(self, future: Future[Any]) -> list[Any]:
        from distributed import KilledWorker

        try:
            answer = future.result()
        except KilledWorker as error:
            raise self._lost(f"a part of the work ended {error.allowed_failures + 1} workers of the cluster") from None
        except (CancelledError, OSError):
            raise self._lost("the cluster has gone away") from None
        except Exception as error:  # errors of the work itself are in answers
            reason = str(error).partition("\n")[0]
            if isinstance(error, ImportError) or "deserialization" in reason:
                reason = f"the scheduler or a worker of it has {_NO_SYNTH}"
            raise self._lost(f"the cluster cannot do the work: {reason}") from None
        there, worker, made = answer
        _check(there, worker, self._address)
        items = pickle.loads(made)
        if isinstance(items, Exception):
            raise items
        return list(items)

    def _lost(self, reason: str) -> LostError:
        return LostError(reason, self._address)


def _itself(work: object) -> object:
    return work


def _done(work: Callable[[Any], Iterator[Any]], task: object) -> tuple[Identity, str, bytes]:
    """Do a task as a worker: return its identity, and all items of the task or the error in which they end."""
    from distributed import get_worker

    try:
        made: object = list(work(task))
    except Exception as error:
        made = error
    return identity(), str(get_worker().address), pickle.dumps(made)
