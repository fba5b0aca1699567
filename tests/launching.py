"""A way to launch memory tests with all that there is."""

from backends.shared.profiles import Profile

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
