"""Launches of memory tests on devices, and a profile with all that there is."""

from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions, run_files
from backends.shared.outcomes import SeenOutcomes, outcomes
from backends.shared.profiles import DEFAULT, Profile
from corpus.litmus.test import LitmusTest

EVERYTHING = Profile(
    "everything",
    passes=4,
    stride=3,
    shuffle=True,
    scatter=True,
    stripe=True,
    permute_locations=True,
    rotate=True,
    conflicts=True,
    spin=64,
    stress=2,
    stress_rounds=64,
    stress_before=2,
    vary=True,
    sequence="ld st ld",
    spread=3,
)


def launched(
    backend: str, test: LitmusTest, instances: int, iterations: int, timeout: float = 60, profile: Profile = DEFAULT
) -> SeenOutcomes:
    """The outcomes that a device shows of a test, for so many iterations."""
    device = BACKENDS[backend].device(DeviceOptions())
    layout = device.layout(test, instances, profile)
    return outcomes(run_files(device, BACKENDS[backend].memory_files("t", layout), layout, iterations, timeout))
