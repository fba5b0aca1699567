"""A PoCL that lists itself and builds nothing, and one that never comes back (``tests/fakes/pyopencl``).

The whole program can be run so: ``PYTHONPATH=$PWD/tests/fakes make demo``, and ``make test``; with
``FAKE_POCL=hangs`` the compiler hangs in place of failing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import refusal

from backends.opencl import platforms
from backends.opencl.backend import COMPILER
from backends.shared.toolchain import installed

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(
        installed("pocl-binary-distribution", "pocl.icd") is None and not os.environ.get("CI"),
        reason="PoCL of PyPI is not here to be broken",
    ),
]

ROOT = Path(__file__).parents[2]
FAKES = ROOT / "tests" / "fakes"
REASONS = {"fails": "error: unknown target CPU 'generic'", "hangs": "a trivial kernel took more than 15 seconds"}


@pytest.fixture(params=REASONS)
def broken(request, monkeypatch):
    """This process's children see the broken PoCL, and no other driver; ``broken`` is what its probe must say."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [FAKES, ROOT])))
    monkeypatch.setenv("FAKE_POCL", request.param)
    monkeypatch.setattr(platforms, "PROBE_TIMEOUT", 15.0)
    ours = platforms.drivers()[:1]
    monkeypatch.setattr(platforms, "drivers", lambda: ours)
    platforms.forget()
    yield REASONS[request.param]
    platforms.forget()


def test_it_is_listed_and_not_chosen(broken: str) -> None:
    (device,) = platforms.platform_devices()
    assert device.is_pocl and device.is_cpu
    assert broken in refusal(platforms.choose)
    (lacking,) = COMPILER.missing()
    assert broken in lacking
    found = COMPILER.probe()
    assert found[0].problem == broken and "pocl-opencl-icd" in found[0].install


def synth(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", *map(str, arguments)]
    path = os.pathsep.join(map(str, [FAKES, ROOT]))
    environment = {**os.environ, "PYTHONPATH": path, "FAKE_POCL": "fails"}
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
def test_commands_say_so_in_one_line(tmp_path: Path) -> None:
    """Of the platform that is asked for by its version; what else this machine has does not matter."""
    mutex = "examples/progress/mutex.axb"
    done = synth("run", mutex, "--backend", "opencl", "--platform", "PoCL 3.0-rc2")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "unknown target CPU 'generic'" in done.stderr and "synth devices" in done.stderr
    devices = synth("devices", "--json")
    assert devices.returncode == 0, devices.stderr
    rows = json.loads(devices.stdout)
    (pocl,) = [row for row in rows if row["version"] == "3.0-rc2"]
    assert not pocl["usable"] and pocl["problem"] == REASONS["fails"]


@pytest.mark.slow
@pytest.mark.parametrize("how", REASONS)
def test_the_demonstration_ends_well(how: str, tmp_path: Path) -> None:
    """With a PoCL that is broken and no other driver, C++ runs, and what was left out is named."""
    script = tmp_path / "synth"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c 'from synth.commands.cli import main; main()' \"$@\"\n")
    script.chmod(0o700)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [FAKES, ROOT])), "FAKE_POCL": how}
    ours = dict(platforms.drivers()[0][0])
    command = ["bash", "examples/demo.sh", str(tmp_path / "demo"), str(script)]
    done = subprocess.run(command, env={**environment, **ours}, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "run " + str(tmp_path / "demo" / "handful") in done.stdout
    left = done.stdout.split("Left out, for want of a compiler or device:\n")[1].splitlines()
    assert any("opencl" in line and "synth devices" in line for line in left), left
