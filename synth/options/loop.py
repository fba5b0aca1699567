"""Options of commands that choose tests and run them one after the other: ``--run`` and what goes with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions
from synth.inference.loop import LoopOptions
from synth.options.values import Seconds

ITERATIONS = 20
"""The number of launches of each test, unless another one is asked for."""


def loop_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--run``, ``--backend`` and how to launch, as ``loop``, which is None without ``--run``, and ``backend``."""

    @wraps(command)
    def call(
        *args: Any,
        run: bool,
        backend: str | None,
        instances: int | None,
        iterations: int,
        timeout: float | None,
        stress: bool,
        platform: str | None,
        time_limit: float | None,
        max_tests: int | None,
        **kwargs: Any,
    ) -> Any:
        if run and backend is None:
            raise click.UsageError("--run needs --backend, which chooses the language and the device")
        loop = None
        if run and backend is not None:
            device = DeviceOptions(instances, platform)
            loop = LoopOptions(backend, device, iterations, timeout, stress, time_limit, max_tests)
        return command(*args, loop=loop, backend=backend, time_limit=time_limit, **kwargs)

    options = (
        click.option("--run", is_flag=True, help="Run the next test on a device, and repeat until one model is left."),
        click.option(
            "--backend",
            type=click.Choice(list(BACKENDS)),
            help="With --run: the language, and so the device. With -o alone: write the next test in this language.",
        ),
        click.option(
            "--instances", type=click.IntRange(min=1), metavar="M", help="With --run: run M instances in each launch."
        ),
        click.option(
            "--iterations",
            type=click.IntRange(min=1),
            default=ITERATIONS,
            show_default=True,
            help="With --run: launch each test this often.",
        ),
        click.option("--timeout", type=Seconds(positive=True), metavar="S", help="With --run: as for synth run."),
        click.option("--stress/--no-stress", default=False, help="With --run: add memory stress to litmus tests."),
        click.option("--platform", metavar="NAME", help="With --run: as for synth run."),
        click.option(
            "--time-limit",
            type=Seconds(),
            metavar="S",
            help="Stop the search for tests after S seconds; with --run, start no test after that.",
        ),
        click.option("--max-tests", type=click.IntRange(min=1), metavar="N", help="With --run: stop after N tests."),
    )
    call_with = call
    for option in reversed(options):
        call_with = option(call_with)
    return call_with
