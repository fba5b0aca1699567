"""The short names of devices, for the columns of tables and the legends of plots.

``llvmpipe (LLVM 15.0.6, 256 bits), Mesa 25.0.7, Vulkan`` is called llvmpipe. Where it was driven by GLSL and by WGSL,
the names are ``llvmpipe, glsl`` and ``llvmpipe, wgsl``. What runs programs on a CPU is named before it: ``PoCL 3.1 on
AMD EPYC``, ``Intel's OpenCL on AMD EPYC`` and ``C++ threads on Linux x86_64``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from synth.mutation.kills import Machine

LONGEST = 32
"""The most characters of each part of a name."""

_MARKS = re.compile(r"\((?:R|TM|C)\)", re.IGNORECASE)
_RUNTIMES = (
    (
        re.compile(r"(?:(?:pthread|cpu|basic)-(?:[a-z][a-z0-9.-]*-)?)?([^,]+), OpenCL [\d.]+ PoCL ([\w.-]+)"),
        r"PoCL \2 on \1",
    ),
    (re.compile(r"([^,]+), OpenCL [\d.]+ (?:LINUX|WINDOWS)"), r"Intel's OpenCL on \1"),
    (re.compile(r"((?:Linux|Darwin|Windows) \w+), \d+ cores?"), r"C++ threads on \1"),
)
"""What devices that are a CPU begin with, and their names; PoCL's have the name of LLVM for the CPU before its own."""

_HEAD = re.compile(r"\s*(?:[,(@]|$)")


def short_names(machines: Sequence[Machine]) -> Mapping[Machine, str]:
    """Return a short name for each machine; no two machines share one.

    The name is that of the device up to the first comma, bracket or ``@``, for a CPU behind that of what runs programs
    on it. Machines that share that name get further
    words until they differ: the back end, the rest of the device's name, the driver, the compiler, a number.
    """
    names = {machine: _name(machine.device) or machine.backend for machine in machines}
    for facts in (
        {machine: machine.backend for machine in machines},
        _rests(machines, names),
        {machine: _head(machine.driver) for machine in machines},
        {machine: machine.compiler[:LONGEST] for machine in machines},
        {machine: f"no. {number}" for number, machine in enumerate(sorted(machines), 1)},
    ):
        groups: dict[str, set[str]] = {}
        for machine in machines:
            groups.setdefault(names[machine], set()).add(facts[machine])
        names = {
            machine: f"{name}, {facts[machine]}" if len(groups[name]) > 1 and facts[machine] else name
            for machine, name in names.items()
        }
        if len({*names.values()}) == len(machines):
            break
    return names


def _name(device: str) -> str:
    """Return ``PoCL 3.1 on AMD EPYC`` for ``pthread-skylake-avx512-AMD EPYC, OpenCL 3.0 PoCL 3.1 Linux``."""
    for pattern, form in _RUNTIMES:
        if found := pattern.match(device):
            runtime, on, processor = found.expand(form).partition(" on ")
            return f"{runtime}{on}{_head(processor)}"
    return _head(device)


def _head(text: str) -> str:
    """Return ``Intel Xeon Platinum 8370C CPU`` for ``Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz, OpenCL 3.0``."""
    text = _MARKS.sub("", text).strip()
    end = _HEAD.search(text)
    return " ".join(text[: end.start() if end else None].split())[:LONGEST].strip()


def _rests(machines: Sequence[Machine], names: Mapping[Machine, str]) -> dict[Machine, str]:
    """Return the rest of each device's name, without the words that every machine of its short name has."""
    shared = Counter(names.values())
    words = {machine: re.split(r"[,\s]+", machine.device.partition(",")[2].strip()) for machine in machines}
    common: dict[str, Counter[str]] = {}
    for machine in machines:
        common.setdefault(names[machine], Counter()).update({*words[machine]})
    return {
        machine: " ".join(word for word in words[machine] if common[names[machine]][word] < shared[names[machine]])[
            :LONGEST
        ].strip()
        for machine in machines
    }
