"""How often devices show store buffering, before and after they were tuned: the profiles of `examples/profiles`.

    python benchmarks/profiles.py                       those whose devices are here; the others keep their figures
    python benchmarks/profiles.py --only cpp-x86

Each profile is measured on the device that it was found on, in turn with the device's own way to launch and with
launches without any incantation, so that all three have what else the machine does. The figures are kept in
`examples/profiles/sb.json`, and drawn, all of them, in `examples/profiles/sb.svg`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import measuring  # noqa: F401  (names of packages mean ours)
from rich.console import Console
from rich.table import Table

from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions, Runner
from backends.shared.process import RunError
from backends.shared.profiles import DEFAULT, read_profile
from corpus.errors import InputError
from corpus.files import write_atomically
from synth.drawing.plots import rates
from synth.tuning.account import Rate, rate_of
from synth.tuning.measuring import Bench, shape
from synth.tuning.search import WAYS, Ask, Sample, bare

FOLDER = Path(__file__).parents[1] / "examples" / "profiles"
DEVICES = {
    "cpp-x86": ("C++", "cpp", None),
    "pocl-x86": ("PoCL", "opencl", "PoCL"),
    "intel-x86": ("Intel's OpenCL", "opencl", "Intel"),
    "lavapipe-wgsl": ("lavapipe, WGSL", "wgsl", "llvmpipe"),
    "lavapipe-glsl": ("lavapipe, GLSL", "glsl", "llvmpipe"),
    "swiftshader-wgsl": ("SwiftShader, WGSL", "wgsl", "SwiftShader"),
    "swiftshader-glsl": ("SwiftShader, GLSL", "glsl", "SwiftShader"),
}
"""What a profile's device is called in the plot, and its back end and platform."""

INSTANCES, LAUNCHES, TURNS = 1 << 14, 25, 20
Figures = dict[str, dict[str, dict[str, float]]]


def measured(name: str) -> dict[str, dict[str, float]]:
    """Weak outcomes, instances and seconds of each way. Raises ``InputError`` where the device is not here."""
    _, backend, platform = DEVICES[name]
    language = BACKENDS[backend]
    assert language.device is not None
    ways = (bare(DEFAULT), DEFAULT, read_profile(FOLDER / f"{name}.toml"))
    asks = [Ask(0, way, LAUNCHES) for way in ways]
    samples = [Sample()] * len(asks)
    with Runner(language.device(DeviceOptions(platform=platform, workers=None))) as runner:
        bench = Bench(language, runner, [shape("SB")], INSTANCES, 10.0)
        for _turn in range(TURNS):
            samples = [one.with_(other) for one, other in zip(samples, bench.measure(asks), strict=True)]
    if error := next((sample.error for sample in samples if sample.error), ""):
        raise RunError(error)
    return {
        way: {"weak": sample.seen, "runs": sample.runs, "seconds": round(sample.running, 3)}
        for way, sample in zip(WAYS, samples, strict=True)
    }


def rate(figures: dict[str, float]) -> Rate:
    """What the figures of a way say."""
    runs = int(figures["runs"])
    sample = Sample(weak=(int(figures["weak"]),), instances=runs, running=figures["seconds"])
    return rate_of(sample)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=DEVICES, action="append", help="this profile; repeatable")
    options = parser.parse_args()
    kept = FOLDER / "sb.json"
    figures: Figures = json.loads(kept.read_text()) if kept.exists() else {}
    console = Console()
    for name in options.only or DEVICES:
        try:
            figures[name] = measured(name)
        except (InputError, RunError) as error:
            console.print(f"{name}: {error}", soft_wrap=True, markup=False)
    found = {
        name: {way: rate(measurement) for way, measurement in figures[name].items()}
        for name in DEVICES
        if name in figures
    }
    table = Table(title="SB, instances with the weak outcome")
    for heading in ("profile", *WAYS, "million instances a second, own", "tuned"):
        table.add_column(heading, justify="right")
    for name, ways in found.items():
        shares = (f"{100 * ways[way].rate:.2g} %" for way in WAYS)
        table.add_row(name, *shares, *(f"{ways[way].speed / 1e6:.2g}" for way in ("own", "tuned")))
    console.print(table)
    labels = {way: {DEVICES[name][0]: ways[way] for name, ways in found.items()} for way in WAYS}
    write_atomically(kept, json.dumps({name: figures[name] for name in found}, indent=1) + "\n")
    write_atomically(FOLDER / "sb.svg", rates(labels))


if __name__ == "__main__":
    main()
