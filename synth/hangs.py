"""Hangs of a campaign: how long an iteration may take, and which hangs count.

Example: a launch of 65,535 work-groups on lavapipe takes 1.5 s where the machine has other work, so a test that had 1 s
seemed to hang. The control takes 0.5 s there, so the time-out is 10 s. If an iteration takes even longer, it has 50 s
when the trial is made again, and the result says: terminated, slow.

A time-out is wall time, and a busy machine is slow. The *control* is a program that terminates under every model,
launched as the tests are; it tells a slow or stuck device from one that lets a test hang.

- Before the campaign the control is run ``LAUNCHES`` times. The time-out of the tests that are launched in that way is
  ``FACTOR`` times the longest of these runs, unless the user has set another.
- A hang that contradicts a model is *confirmed*: after all other trials, with nothing of the campaign beside it, the
  trial is made again with ``backends.shared.results.AGAIN`` times the time-out, as long as it hangs. Until it does, it
  is repeated, ``RUNS`` times and for at least as long as that time-out, for some hangs come in few iterations only.
- Where ``STREAK`` trials in a row hang, where one does not even begin in time, and before a hang is confirmed, the
  control is run once more. If it does not end, nothing can be said of the tests, and the campaign stops:
  ``StuckError``. If it ends, but takes longer than the time-out, the hang is not confirmed.

Gap: a hang that does not come again in all these iterations is taken for slowness.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from typing import Generic

from msgspec.structs import replace

from backends.shared.device import Device, Prepared, Runner
from backends.shared.process import TERMINATED, TIMED_OUT, NotReadyError, Run, RunError
from backends.shared.results import AGAIN, UNKNOWN, Result, Times, now
from corpus.awaited import awaiting
from corpus.errors import InputError
from synth.campaigns import AnyDue, Campaign, DueTrial, Made, Shape, conducted, effort, jobs_of
from synth.watch import remark, watching

LAUNCHES = 5

FACTOR = 20.0

PATIENCE = 60.0
"""The seconds after which a launch of the control counts as one that does not end."""

UNMEASURED = 5.0
"""The time-out in seconds where the control cannot be built; the tests most likely cannot be built there either."""

STREAK = 20

RUNS = 10
"""The number of runs of a repeated trial: a hang in one of ten iterations escapes ten runs of 20 once in a billion."""


class StuckError(Exception):
    """The error of a device that is stuck: it does not end, or not in time, a program that terminates under every
    model.
    """


@dataclass(frozen=True, slots=True)
class Control(Generic[AnyDue]):
    """The control of a family of tests: ``shape`` says how it is launched as the test of a trial is, ``files`` its
    program.

    Both raise ``InputError`` where those of tests do. A measured time-out has at least ``floor`` seconds.
    """

    shape: Callable[[AnyDue], Shape]
    files: Callable[[Shape], Mapping[str, str]]
    floor: float


def remarks(slow: Sequence[str], unconfirmed: Sequence[str]) -> Iterator[str]:
    """Yield remarks on hangs that do not count, with the names of their trials."""
    if slow:
        hung = f"{len(slow)} that hung terminated" if len(slow) > 1 else "one that hung terminated"
        yield f"the device was slow: {hung} with more time ({_some(slow)})"
    if unconfirmed:
        hangs = f"{len(unconfirmed)} hangs are" if len(unconfirmed) > 1 else "one hang is"
        yield f"{hangs} not confirmed, and contradict{'s' * (len(unconfirmed) == 1)} no model ({_some(unconfirmed)})"


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:3], *[".."] * (len(names) > 3)])


def results_of(
    items: Sequence[AnyDue],
    device: Device,
    campaign: Campaign,
    control: Control[AnyDue],
    accuses: Callable[[AnyDue], bool],
    done: int = 0,
) -> Iterator[tuple[AnyDue, Made]]:
    """Make all trials, then repeat the hangs that contradict a model, and yield each with its result when it ends.

    A trial that was repeated is yielded once more. Those that have not begun when time is up yield nothing. ``accuses``
    says whether a hang of a trial contradicts a model; ``done`` trials were made before, and count in the progress that
    is shown. Raises ``StuckError``, and ``InputError`` for a launch that cannot be.
    """
    if not items:
        return
    until = None if campaign.limit is None else time.monotonic() + campaign.limit
    limits = _limits(items, device, control)
    doubts, streak = list[tuple[AnyDue, Result, Times]](), 0
    with closing(conducted(jobs_of(items, limits, device, campaign), device, campaign, done)) as made:
        for item, given in made:
            yield item, given
            match given:
                case (result, times) if result.hangs:
                    streak += 1
                    if streak % STREAK == 0 and _is_slow(device, control, item, times):
                        raise StuckError(f"{STREAK} tests in a row hung, and {_CONTROL} is too slow: {_STOPPED}")
                    if accuses(item):
                        doubts.append((item, result, times))
                    continue
                case NotReadyError():
                    _is_slow(device, control, item)
            streak = 0
    yield from _confirmed(doubts, device, control, until)


def _confirmed(
    doubts: Sequence[tuple[AnyDue, Result, Times]], device: Device, control: Control[AnyDue], until: float | None
) -> Iterator[tuple[AnyDue, Made]]:
    """Repeat trials that hung, one after the other, and yield each with the result that counts.

    Trials that hung while the control was slow are left out. Raises ``StuckError``.
    """
    with watching("Running again, alone", found=False) as watch:
        for number, (item, result, times) in enumerate(doubts):
            watch(number, len(doubts), 0)
            if until is not None and time.monotonic() > until:
                return
            again: Made
            try:
                again = _again(item, device, result, times)
            except RunError as error:
                again = error
            hung = isinstance(again, NotReadyError) or (isinstance(again, tuple) and again[0].hangs)
            if not (hung and _is_slow(device, control, item, times)):
                yield item, again


def _limits(items: Sequence[AnyDue], device: Device, control: Control[AnyDue]) -> list[float]:
    """Return the time-out of each trial in seconds: the user's, or the one measured by the control for its launch."""
    shapes = [control.shape(item) for item in items]
    longest = _longest(dict.fromkeys(shapes), device, control)
    enough = {shape: float(f"{max(control.floor, FACTOR * took):.2g}") for shape, took in longest.items()}
    given = [item.trial.timeout for item in items]
    limits = [timeout or enough.get(shape, UNMEASURED) for timeout, shape in zip(given, shapes, strict=True)]
    took, limit = max((longest.get(shape, 0.0), limit) for shape, limit in zip(shapes, limits, strict=True))
    if took > limit:
        shortness = f"--timeout {limit:g} is short: a program that terminates took up to {took:.2g} s here"
        remark(f"{shortness}; without --timeout, it is measured")
    return limits


def _longest(shapes: Iterable[Shape], device: Device, control: Control[AnyDue]) -> dict[Shape, float]:
    """Return the longest time of some launches of the control, in seconds, for each shape in which it can be built."""
    written = list[tuple[Mapping[str, str], Shape]]()
    for shape in shapes:
        with suppress(InputError):  # the language cannot say the tests either, which report it
            written.append((control.files(shape), shape))
    found = dict[Shape, float]()
    with (
        awaiting(f"{_CONTROL} on {device.name}"),
        Runner(device) as runner,
        runner.prepared(written) as programs,
    ):
        for (_, shape), program in zip(written, programs, strict=True):
            if isinstance(program, RunError):
                continue
            try:
                run = runner.watch(program, LAUNCHES, PATIENCE)
            except NotReadyError as error:
                raise StuckError(f"{_CONTROL} does not begin on {device.name} ({error}): nothing was run") from None
            except RunError:
                continue
            if run.hangs:
                raise StuckError(f"{_CONTROL} does not end in {PATIENCE:g} s on {device.name}: nothing was run")
            found[shape] = max(run.seconds)
    return found


_CONTROL = "a program that terminates under every model"


_STOPPED = "the device is slow or stuck, no hang counts; stopped"


def _is_slow(device: Device, control: Control[AnyDue], item: AnyDue, times: Times = UNKNOWN) -> bool:
    """Return whether the control now takes longer than an iteration may. Raises ``StuckError`` where it never ends."""
    try:
        shape = control.shape(item)
        with awaiting(f"{_CONTROL} on {device.name}"), Runner(device) as runner:
            run = runner.run(control.files(shape), shape, 1, PATIENCE)
    except (InputError, RunError) as error:
        raise StuckError(f"a test hung, and {_CONTROL} fails ({error}): {_STOPPED}") from None
    if run.hangs:
        raise StuckError(f"a test hung, and {_CONTROL} does not end in {PATIENCE:g} s: {_STOPPED}")
    return times.limit is not None and max(run.seconds) > times.limit


def _again(item: DueTrial, device: Device, first: Result, times: Times) -> tuple[Result, Times]:
    """Repeat a trial that hung with more and more time, and return the result that counts. Raises ``RunError``."""
    assert times.limit is not None
    letters, tries = [first.counted], [*times.tries]
    with (
        awaiting(f"{item.name} on {device.name}"),
        Runner(device) as runner,
        runner.prepared([(item.files(), item.shape)]) as (program,),
    ):
        if isinstance(program, RunError):
            raise program
        for factor in AGAIN:
            limit = round(factor * times.limit, 6)
            runs = list(_repeated(runner, program, item.trial.iterations, limit))
            tries.append(effort(runs, limit))
            letters.append(TIMED_OUT if runs[-1].hangs else TERMINATED)
            if not runs[-1].hangs:
                first, times = item.result(runs[0]), replace(times, seconds=runs[0].seconds)
                break
    return replace(first, tries=tuple(letters), date=now()), replace(times, tries=tuple(tries))


def _repeated(runner: Runner, program: Prepared, iterations: int, limit: float) -> Iterator[Run]:
    """Yield ``RUNS`` runs of a program, or more where an iteration may take longer; the last may be one that hangs.

    Raises ``RunError``.
    """
    until = time.monotonic() + limit
    for number in count(1):
        run = runner.watch(program, iterations, limit)
        yield run
        if run.hangs or (number >= RUNS and time.monotonic() > until):
            return
