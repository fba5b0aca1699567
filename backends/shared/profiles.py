"""Reads and writes profiles, which say how memory tests are launched on a device. A tuner may choose what is in a
profile, which is a TOML file.

A profile is named, for it is part of a result. What it does not say is left to the device: each key is a field of
``backends.shared.layout.Parameters`` of the same name, where it is explained, and a key that is not there is the
device's own default. ``synth tune`` finds profiles; any can be written by hand.

    name = "laptop"
    slots = 64
    spin = 4096

Assumption: names are those of files, so that they need no quotes anywhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from corpus.errors import InputError, did_you_mean
from corpus.files import read_text, write_atomically

LARGEST = (1 << 31) - 1
"""The largest number of a profile: all are counts of something in one launch."""

LARGEST_FILE = 1 << 20
"""The number of bytes that the file of a profile may have."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile: its name, and what it chooses of ``layout.Parameters``; ``None`` leaves a parameter to the device."""

    name: str = ""
    instances: int | None = None
    slots: int | None = None
    passes: int | None = None
    stride: int | None = None
    shared_stride: int | None = None
    interleaved: bool | None = None
    shuffle: bool | None = None
    shuffle_blocks: bool | None = None
    scatter: bool | None = None
    stripe: bool | None = None
    rotate: bool | None = None
    permute_locations: bool | None = None
    conflicts: bool | None = None
    spin: int | None = None
    stress: int | None = None
    stress_rounds: int | None = None
    stress_before: int | None = None
    vary: bool | None = None
    sequence: str | None = None
    spread: int | None = None
    patch: int | None = None
    regions: int | None = None
    offset: int | None = None

    @property
    def chosen(self) -> dict[str, Any]:
        """The parameters that the profile chooses, keyed by their names."""
        return {key: value for key, value in asdict(self).items() if key != "name" and value is not None}

    @property
    def label(self) -> str:
        """The label of a profile in results: its name and a digest of what it chooses, so that a profile that was
        changed is another. It is empty for a profile without a name.
        """
        text = ",".join(f"{key}={value}" for key, value in sorted(self.chosen.items()))
        return f"{self.name}#{sha256(text.encode()).hexdigest()[:8]}" if self.name else ""


DEFAULT = Profile()
"""The profile that leaves every parameter to the device."""

STRESS = Profile("stress", stress=1)
"""Memory stress, and nothing else: what ``synth run --stress`` asks for."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a key may hold: whether a value is that, how it is called, and the pattern of its text.

    The pattern is one of Python and of JavaScript.
    """

    holds: Callable[[Any], bool]
    expected: str
    pattern: str


def _whole(least: int, power: bool = False) -> _Kind:
    def holds(value: Any) -> bool:
        number = isinstance(value, int) and not isinstance(value, bool) and least <= value <= LARGEST
        return number and not (power and value & (value - 1))

    numbers = [str(1 << power) for power in range(31) if 1 << power >= least]
    pattern = "|".join(numbers) if power else r"\d{1,9}" if least == 0 else r"[1-9]\d{0,8}"
    return _Kind(holds, f"a {'power of two' if power else 'whole number'}, {least} or more", pattern)


def _text(pattern: str, expected: str) -> _Kind:
    return _Kind(lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None, expected, pattern)


_NAME = _text(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", "a name of letters, digits and . _ + -")
_SEQUENCE = _text(r"(ld|st)( (ld|st)){0,31}", "a sequence of at most 32 accesses, such as ld st st")
_SWITCH = _Kind(lambda value: isinstance(value, bool), "true or false", "true|false")

_KINDS: Mapping[str, _Kind] = {
    "name": _NAME,
    "instances": _whole(1),
    "slots": _whole(32, power=True),
    "passes": _whole(1, power=True),
    "stride": _whole(1),
    "shared_stride": _whole(1),
    "interleaved": _SWITCH,
    "shuffle": _SWITCH,
    "shuffle_blocks": _SWITCH,
    "scatter": _SWITCH,
    "stripe": _SWITCH,
    "rotate": _SWITCH,
    "permute_locations": _SWITCH,
    "conflicts": _SWITCH,
    "spin": _whole(0),
    "stress": _whole(0),
    "stress_rounds": _whole(0),
    "stress_before": _whole(0),
    "vary": _SWITCH,
    "sequence": _SEQUENCE,
    "spread": _whole(0),
    "patch": _whole(1),
    "regions": _whole(1, power=True),
    "offset": _whole(0),
}


def written(key: str) -> tuple[str, str]:
    """Return how a value of a key is written: a pattern that Python and JavaScript know, and in words."""
    return _KINDS[key].pattern, _KINDS[key].expected


def parse_profile(text: str, path: str | None = None) -> Profile:
    """Return the profile that a text denotes.

    Raises ``InputError`` where it is no TOML, with line and column; where a key is unknown; where a value is not what
    its key expects; and where there is no name.
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message, _, place = str(error).partition(" (at ")
        numbers = [int(number) for number in re.findall(r"\d+", place)]
        line, column = numbers if len(numbers) == 2 else (None, None)
        raise InputError(f"expected TOML: {message[:1].lower()}{message[1:]}", path, line, column) from None
    for key, value in table.items():
        kind = _KINDS.get(key)
        if kind is None:
            hint = did_you_mean(key, _KINDS, f"known are {', '.join(_KINDS)}")
            raise InputError(f"{key}: a profile has no such key; {hint}", path)
        if not kind.holds(value):
            raise InputError(f"{key}: expected {kind.expected}, found {value!r}", path)
    if "name" not in table:
        raise InputError("name: expected the name of the profile, found nothing", path)
    return Profile(**table)


def print_profile(profile: Profile, remarks: str = "") -> str:
    """Return the text of a profile, the remarks as comments before it."""
    lines = [f"# {line}".rstrip() for line in remarks.splitlines()]
    for key, value in {"name": profile.name, **profile.chosen}.items():
        shown = str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else value
        lines.append(f"{key} = {shown}")
    return "\n".join(lines) + "\n"


def read_profile(path: Path) -> Profile:
    """Return the profile in a file.

    Raises ``InputError`` where the file cannot be read, where it is no TOML, with line and column; where a key is
    unknown; where a value is not what its key expects; and where there is no name.
    """
    return parse_profile(read_text(path, LARGEST_FILE), str(path))


def write_profile(path: Path, profile: Profile, remarks: str = "") -> None:
    """Write a profile so that the file is whole or as it was before. Raises ``InputError`` where that fails."""
    write_atomically(path, [print_profile(profile, remarks)])
