"""Profiles: their TOML, what they leave to a device, and what results call them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from backends.shared.layout import Parameters, chosen, cpu_parameters
from backends.shared.profiles import (
    DEFAULT,
    STRESS,
    Profile,
    parse_profile,
    print_profile,
    read_profile,
    write_profile,
)
from corpus.dialects.registry import read_litmus

SB = read_litmus(Path(__file__).parents[2] / "examples" / "memory" / "c-sb-sc.litmus")
POWERS = st.integers(5, 12).map(lambda power: 1 << power)
NUMBERS = st.integers(1, 1 << 20)
PROFILES = st.builds(
    Profile,
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,20}", fullmatch=True),
    instances=st.none() | NUMBERS,
    slots=st.none() | POWERS,
    stride=st.none() | NUMBERS,
    shuffle=st.none() | st.booleans(),
    spin=st.none() | NUMBERS,
    stress=st.none() | NUMBERS,
    sequence=st.none() | st.lists(st.sampled_from(["ld", "st"]), min_size=1, max_size=32).map(" ".join),
)


@given(PROFILES)
def test_what_is_written_is_read(profile: Profile) -> None:
    assert parse_profile(print_profile(profile, "found on a laptop\n\nby hand")) == profile


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "laptop.toml"
    write_profile(file, Profile("laptop", slots=64, shuffle=False), "by hand")
    assert file.read_text() == '# by hand\nname = "laptop"\nslots = 64\nshuffle = false\n'
    assert read_profile(file) == Profile("laptop", slots=64, shuffle=False)


def test_every_key_is_a_parameter_of_a_launch() -> None:
    names = {field.name for field in fields(Profile)} - {"name"}
    assert names == {field.name for field in fields(Parameters)} - {"iterations"}
    assert all(field.default is None for field in fields(Profile) if field.name != "name")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slots = 64", "p.toml: name: expected the name of the profile, found nothing"),
        ('name = "a"\nslot = 64', "p.toml: slot: a profile has no such key; did you mean slots"),
        ('name = "a"\nxyzzy = 64', "p.toml: xyzzy: a profile has no such key; known are name, instances"),
        ('name = "a"\nslots = 48', "p.toml: slots: expected a power of two, 32 or more, found 48"),
        ('name = "a"\nslots = "64"', "p.toml: slots: expected a power of two, 32 or more, found '64'"),
        ('name = "a"\nstride = true', "p.toml: stride: expected a whole number, 1 or more, found True"),
        ('name = "a"\nspin = -1', "p.toml: spin: expected a whole number, 0 or more, found -1"),
        ('name = "a"\nspin = 99999999999', "p.toml: spin: expected a whole number, 0 or more, found 99999999999"),
        (
            'name = "a"\nsequence = "ld st,"',
            "p.toml: sequence: expected a sequence of at most 32 accesses, such as ld st",
        ),
        ('name = "a"\nshuffle = 1', "p.toml: shuffle: expected true or false, found 1"),
        ('name = "../a"', "p.toml: name: expected a name of letters, digits and . _ + -, found '../a'"),
        ("name = 3", "p.toml: name: expected a name"),
        ('name = "a"\nslots = = 3', "p.toml:2:9: expected TOML: invalid value"),
        ('name = "a"\nname = "b"', "p.toml: expected TOML: cannot overwrite a value"),
        ("a = " + "[" * 5000, "expected TOML"),
    ],
)
def test_what_is_no_profile(text: str, message: str) -> None:
    assert message in refusal(parse_profile, text, "p.toml")


def test_a_profile_that_was_changed_is_another() -> None:
    first = Profile("a", slots=64)
    assert first.label.startswith("a#") and first.label == Profile("a", slots=64).label
    assert len({first.label, replace(first, slots=128).label, replace(first, name="b").label}) == 3
    assert DEFAULT.label == ""


def test_what_is_not_chosen_is_the_devices_own() -> None:
    own = cpu_parameters(SB, 4096)
    assert chosen(own, DEFAULT) == own
    assert chosen(own, Profile("a", spin=5, instances=64)) == replace(own, spin=5)
    assert chosen(own, STRESS) == replace(own, stress=1)
    assert cpu_parameters(SB, 4096, Profile("a", slots=256)) == replace(own, slots=256, passes=16)


def test_the_profiles_that_ship_are_called_as_their_files() -> None:
    files = sorted((Path(__file__).parents[2] / "examples" / "profiles").glob("*.toml"))
    assert len(files) >= 7 and [read_profile(file).name for file in files] == [file.stem for file in files]
    measured = json.loads(files[0].with_name("sb.json").read_text(encoding="utf-8"))
    assert sorted(measured) == [file.stem for file in files]
