"""How often devices show weak outcomes in each testing environment: MC Mutants' parallel one, and others.

    python benchmarks/environments.py                        the devices that are here; SB
    python benchmarks/environments.py --only PoCL --shapes SB,MP --turns 20

The environments, each without and with memory stress, as ``synth run`` and ``synth run --stress`` would have them:

- *separate*: a thread plays one role of one instance, and locations have a cache line each (Alglave et al. 2015);
- *parallel*: ``gpu_parameters``, how every device but CPUs begins (Levine et al. 2023);
- *own*: how the device begins, which on CPUs is ``cpu_parameters``, and in C++ ``thread_parameters``.

They take turns, so that all have what else the machine does. A row is written as it comes: rate of weak outcomes, weak
outcomes a second, which is what a campaign has of it, and million instances a second.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace

import measuring  # noqa: F401  (names of packages mean ours)

from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions, Runner
from backends.shared.layout import Parameters, gpu_parameters
from backends.shared.profiles import DEFAULT, Profile
from corpus.errors import InputError
from synth.tuning.measuring import Bench, shape
from synth.tuning.search import Ask, Sample

DEVICES = {
    "C++": ("cpp", None),
    "PoCL": ("opencl", "Portable"),
    "Intel's OpenCL": ("opencl", "Intel"),
    "lavapipe, WGSL": ("wgsl", "llvmpipe"),
    "lavapipe, GLSL": ("glsl", "llvmpipe"),
    "SwiftShader, WGSL": ("wgsl", "SwiftShader"),
    "SwiftShader, GLSL": ("glsl", "SwiftShader"),
    "CUDA": ("cuda", None),
}
"""A device's back end and platform."""

INSTANCES, LAUNCHES, TURNS = 1 << 16, 5, 4


def environments(name: str) -> dict[str, Profile]:
    """The environments by name, as profiles for a test of two CTAs."""
    separate, parallel = Parameters(), gpu_parameters(shape(name), INSTANCES)
    ways = {"separate": _profile("separate", separate), "parallel": _profile("parallel", parallel), "own": DEFAULT}
    return ways | {f"{way} + stress": replace(launch, stress=1) for way, launch in ways.items()}


def _profile(name: str, parameters: Parameters) -> Profile:
    chosen = asdict(parameters)
    return Profile(name, **{key: value for key, value in chosen.items() if key not in ("instances", "iterations")})


def measured(backend: str, platform: str | None, name: str, turns: int) -> dict[str, Sample]:
    """What each environment gives on a device. Raises ``InputError`` where the device is not here."""
    language = BACKENDS[backend]
    assert language.device is not None
    ways = environments(name)
    asks = [Ask(0, way, LAUNCHES) for way in ways.values()]
    samples = [Sample()] * len(asks)
    with Runner(language.device(DeviceOptions(platform=platform))) as runner:
        bench = Bench(language, runner, [shape(name)], INSTANCES, 60.0)
        for _turn in range(turns):
            samples = [one.with_(other) for one, other in zip(samples, bench.measure(asks), strict=True)]
    return dict(zip(ways, samples, strict=True))


def row(sample: Sample) -> str:
    """Rate, weak outcomes a second, million instances a second; or what is wrong."""
    if sample.error or not sample.runs:
        return sample.error or "nothing was run"
    seconds = max(sample.running, 1e-9)
    return f"{100 * sample.seen / sample.runs:.2g} % | {sample.seen / seconds:,.0f} | {sample.runs / seconds / 1e6:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=DEVICES, action="append", help="this device; repeatable")
    parser.add_argument("--shapes", default="SB", help="tests, with commas (SB)")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"turns of {LAUNCHES} launches ({TURNS})")
    options = parser.parse_args()
    print("| device | test | environment | weak | weak a second | million instances a second |")
    print("|---|---|---|--:|--:|--:|")
    for device in options.only or DEVICES:
        for name in options.shapes.split(","):
            try:
                found = measured(*DEVICES[device], name, options.turns)
            except InputError as error:
                print(f"{device}: {error}")
                break
            for way, sample in found.items():
                print(f"| {device} | {name} | {way} | {row(sample)} |", flush=True)


if __name__ == "__main__":
    main()
