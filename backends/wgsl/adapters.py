"""Which WebGPU adapters wgpu finds here, which of them work, and which one to use.

wgpu is of the ``wgpu`` extra (PyPI) and brings its native library, which drives Vulkan, Metal and DX12. An adapter is
chosen by a *probe*: a small shader, built and run by the host that runs tests, in a process of its own, with a
time-out. Real GPUs come before CPUs.

The shader is one loop of ``ROUNDS`` rounds, for there are drivers that cut loops short: lavapipe of Mesa 22 lets an
invocation have 65,535 rounds in all and then goes on as if the conditions did not hold. A test would then end that
hangs, and outcomes would be of threads that never ran. Such an adapter does not work.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.shared.syntax import WGSL
from backends.shared.toolchain import PROBE_TIMEOUT, problem, run
from corpus.errors import InputError

INSTALL = "pip install 'synth[wgpu]'; a CPU device: Debian: apt install mesa-vulkan-drivers"

HOST = Path(__file__).with_name("host.py")

ROUNDS = 1 << 20

_SIZES = {"THREADS": 1, "INSTANCES": 1, "LOCATIONS": 1, "STRIDE": 1, "SIZE": ROUNDS, "FINISHED": 1}
_PROBE = f"""\
@group(0) @binding(0) var<storage, read_write> memory: array<atomic<u32>>;
{chr(10).join(WGSL.definitions(_SIZES.items(), ()))}
@compute @workgroup_size(1)
fn test() {{
    while (atomicAdd(&memory[0], 1u) != SIZE) {{ atomicAdd(&memory[FINISHED], 1u); }}
}}
"""
"""In the form of a progress test, as the host reads it."""

_KINDS = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "Unknown", "CPU")


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter as wgpu describes it; ``number`` counts those of the same name."""

    name: str
    kind: str
    number: int

    @property
    def is_cpu(self) -> bool:
        """Whether workgroups run on the cores of this machine."""
        return self.kind == "CPU"

    @property
    def _rank(self) -> int:
        return _KINDS.index(self.kind) if self.kind in _KINDS else len(_KINDS)

    def command(self, shader: Path) -> list[str]:
        """The command that runs a shader file; the number of iterations is appended to it, 0 to build it only."""
        return [sys.executable, str(HOST), "--adapter", self.name, "--number", str(self.number), str(shader.resolve())]


def adapters() -> list[Adapter]:
    """Every adapter, in the order in which they are tried."""
    names: list[str] = []
    found = []
    for name, kind in _listed()[0]:
        found.append(Adapter(name, kind, names.count(name)))
        names.append(name)
    return sorted(found, key=lambda adapter: adapter._rank)


def first_that_works(name: str | None = None) -> tuple[Adapter | None, list[str]]:
    """The first adapter that passes its probe, and what is wrong with those before it, a line each.

    Of those whose name contains ``name``, if given; ``None`` where no adapter works.
    """
    failures = list[str]()
    for adapter in adapters():
        if name is None or name in adapter.name:
            reason = probe(adapter)
            if not reason:
                return adapter, failures
            failures.append(f"{adapter.name}: {reason}")
    return None, failures or list(filter(None, [_listed()[1]]))


def choose(name: str | None = None) -> Adapter:
    """That adapter. Raises ``InputError`` where there is none: which were tried, and what they said."""
    adapter, failures = first_that_works(name)
    if adapter is not None:
        return adapter
    named = "" if name is None else f" named '{name}'"
    said = f" that works: {'; '.join(failures)}" if failures else ""
    raise InputError(f"no WebGPU adapter{named}{said} (synth devices says what to install)")


@cache
def probe(adapter: Adapter) -> str:
    """Build and run a small shader: why the adapter cannot be used, in one line; "" where it works."""
    with TemporaryDirectory(prefix="synth-probe-") as folder:
        shader = Path(folder, "probe.wgsl")
        shader.write_text(_PROBE, encoding="utf-8")
        done = run(shader, [*adapter.command(shader), "1"], None, PROBE_TIMEOUT, title="a trivial shader")
    if "cut short" in done.output:
        return f"it ends a loop of {ROUNDS} rounds before its time, as lavapipe of Mesa 22 does; 25 does not"
    return "" if done.ok else problem(done.output) or "a trivial shader failed"


@cache
def _listed() -> tuple[tuple[tuple[str, str], ...], str]:
    """What wgpu lists, and what it said if it failed."""
    if find_spec("wgpu") is None:
        return (), "wgpu is not installed"
    done = run(HOST, [sys.executable, str(HOST), "--list"], None, PROBE_TIMEOUT, title="listing WebGPU adapters")
    line = next((line for line in done.output.splitlines() if line.startswith("adapters [")), None)
    if not done.ok or line is None:
        return (), problem(done.output) or "listing WebGPU adapters failed"
    return tuple((name, kind) for name, kind in json.loads(line.removeprefix("adapters "))), ""
