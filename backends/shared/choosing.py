"""Chooses the first of several devices that works. It tries them in their order, and says why where none does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from corpus.errors import InputError

_HINT = "synth devices says what to install"


class Named(Protocol):
    """A device that has a name in stable words."""

    @property
    def name(self) -> str: ...  # noqa: D102


Device = TypeVar("Device", bound=Named)


def first_that_works(devices: Iterable[Device], probe: Callable[[Device], str]) -> tuple[Device | None, list[str]]:
    """Return the first device of which the probe has nothing to say, and what it said of those before it, a
    line each.
    """
    failures = list[str]()
    for device in devices:
        reason = probe(device)
        if not reason:
            return device, failures
        failures.append(f"{device.name}: {reason}")
    return None, failures


def chosen(found: tuple[Device | None, list[str]], wanted: str) -> Device:
    """Return the device that was found. Raises ``InputError`` where there is none: what was wanted, and why it is not
    had.
    """
    device, failures = found
    if device is None:
        said = f" that works: {'; '.join(failures)}" if failures else ""
        raise InputError(f"no {wanted}{said} ({_HINT})")
    return device


def lacking(found: tuple[Device | None, list[str]], wanted: str) -> list[str]:
    """Return what a machine lacks, as ``Compiler.missing`` has it: nothing where a device was found."""
    device, failures = found
    return [] if device is not None else [f"{wanted} that works ({'; '.join([*failures, _HINT])})"]
