"""Work over the machines of a cluster, by Dask's ``distributed``: a scheduler that is there, or one of this machine.

Dask does the scheduling: a task of a worker that dies is done again by another, no more than ``RETRIES`` times. What a
task yields arrives when it is done. The work itself is sent once, as a result that any worker can have made again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager
from typing import Any

from corpus.errors import InputError
from synth import VERSION
from synth.pool import Cluster, cores

RETRIES = 3
"""How often a task is begun anew whose worker has died."""

PATIENCE = 30
"""Seconds that a scheduler has to answer, and to have a worker."""

LOCAL = "local"
"""What stands for a scheduler and workers of this machine; ``local:4`` has four."""


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The cluster at an address, as ``tcp://10.0.0.1:8786``, or as ``LOCAL`` says.

    Raises ``InputError`` where there is none, where its workers have another version of synth than this process, and
    where it goes away.
    """
    try:
        import distributed
    except ImportError:
        raise InputError("--cluster needs Dask: pip install 'synth-litmus[cluster]'") from None
    import dask.config

    dask_distributed: Any = distributed  # it has no types for what we call
    local, _, number = address.partition(":")
    for logger in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)  # what goes wrong is told in one line, by us
    with ExitStack() as stack:
        # Work with limits is done by processes of the workers, who may not be daemons for that.
        stack.enter_context(dask.config.set({"distributed.worker.daemon": False}))
        place: Any = address
        if local == LOCAL:
            workers = int(number) if number else cores()
            place = stack.enter_context(
                dask_distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
            )
        try:
            client = stack.enter_context(dask_distributed.Client(place, timeout=PATIENCE))
            client.wait_for_workers(1, timeout=PATIENCE)
            client.get_versions(check=True)
        except (TimeoutError, OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"no cluster can be used: {reason}", address) from None
        yield _Dask(client, address)


class _Dask:
    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._executor = client.get_executor(retries=RETRIES)
        self._sent: tuple[object, Any] = (None, None)

    @property
    def slots(self) -> int:
        return max(1, sum(int(cores) for cores in self._client.ncores().values()))

    def submit(self, work: Callable[[Any], Iterator[Any]], task: object) -> Future[list[Any]]:
        if self._sent[0] is not work:
            self._sent = (work, self._client.submit(_itself, work, pure=False))
        future: Future[list[Any]] = self._executor.submit(_done, VERSION, self._sent[1], task)
        return future

    def result(self, future: Future[list[Any]]) -> list[Any]:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker:
            reason = f"a part of the work ended {RETRIES + 1} workers of the cluster"
        except (CancelledError, OSError):
            reason = "the cluster has gone away"
        raise InputError(f"{reason}; what was found before is kept, and --resume goes on", self._address)


def _itself(work: object) -> object:
    return work


def _done(version: str, work: Callable[[Any], Iterator[Any]], task: object) -> list[Any]:
    """What a worker does: all items of a task."""
    if version != VERSION:
        raise InputError(f"a worker of the cluster has synth {VERSION}, and this is {version}")
    return list(work(task))
