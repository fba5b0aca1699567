"""The evidence of campaigns that were made elsewhere: which of their hangs are confirmed.

Example: of 20 iterations of a test in the mapping round-robin on a phone all ran into a time-out of 20 s, and other
tests that were launched in that way terminated in each of 20. The hang is confirmed, and contradicts what promises an
end.

``synth run`` makes a trial that hung again, with more time, and looks at a program that terminates in between
(``synth.hangs``). Nobody can make a published trial again. Two things stand in their place:

- *Repetition*: each of ``REPEATED`` iterations or more hung, with a time-out of ``LEAST`` seconds or more. Where some
  iterations of a test ended, the time-out may be near what the test takes.
- *A control*: another test that was launched in the same way, on that device, within the same time-out, terminated in
  each of as many iterations. Where nothing terminates, the device may be stuck.

What is confirmed depends on the results of a file alone, in no order, so the same results give the same file.

Assumption: a device that a test has stuck is reset before the next test, as the drivers of published campaigns do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from backends.shared.results import REPEATED, Entry, ProgressResult, Times

LEAST = 5.0
"""The least time-out of an iteration in seconds, that of the published runs by Vulkan (Sorensen et al. 2021, 6.2)."""


def unmarked(entry: Entry) -> Entry:
    """Return an entry as a campaign has it, which does not say itself that it is confirmed."""
    return replace(entry, repeated=False) if isinstance(entry, ProgressResult) and entry.repeated else entry


def marked(entries: Sequence[tuple[Entry, Times]]) -> list[tuple[Entry, Times]]:
    """Return entries with their times, where hangs are ``repeated`` that repetition and a control confirm."""
    controls = {_way(entry) for entry in _campaign(entry for entry, _ in entries) if not entry.hangs}
    return [
        (replace(entry, repeated=True) if _hangs(entry) and _way(entry) in controls else entry, times)
        for entry, times in entries
    ]


def _campaign(entries: Iterable[Entry]) -> Iterator[ProgressResult]:
    """Yield the results of enough iterations, each with a time-out that was given and is long enough."""
    for entry in entries:
        if not isinstance(entry, ProgressResult) or entry.tries or len(entry.outcomes) < REPEATED:
            continue
        if entry.timeout is not None and entry.timeout >= LEAST:
            yield entry


def _hangs(entry: Entry) -> bool:
    return any(campaign.always_hangs for campaign in _campaign([entry]))


def _way(entry: Entry) -> tuple[str, ...]:
    """Return what a test and its control share: the device, and how it was launched."""
    assert isinstance(entry, ProgressResult)
    launched = entry.mapping, entry.placement, str(entry.timeout)
    return entry.backend, entry.device, entry.driver, entry.compiler, *launched
