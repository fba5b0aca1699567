"""``synth tune`` on devices: a profile comes out that ``synth run`` takes; what was measured is not measured again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import synth

from backends.shared.profiles import read_profile

pytestmark = pytest.mark.device

SB = Path(__file__).parents[2] / "examples" / "memory" / "c-sb-rel-acq.litmus"
FEW = ["--instances", "256", "--shapes", "SB"]
GRID = "launches=1 turns=1 candidates=2 distances=0 locations=4 longest=1 spreads=1,2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "steps", "pictures"),
    [
        ("random", ["trials"], ["rates", "trials"]),
        pytest.param(
            "published",
            ["patches", "sequences", "spreads", "incantations"],
            ["incantations", "patches", "rates", "sequences", "spreads"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_profile_is_found(
    method: str, steps: list[str], pictures: list[str], tmp_path: Path, need: Callable[[str], None]
) -> None:
    need("opencl")
    file, plots = tmp_path / "mine.toml", tmp_path / "plots"
    command = ["tune", "--backend", "opencl", "--method", method, *FEW, "--grid", GRID, "-o", file]
    done = synth(*command, "--json", "--plot", plots)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert list(found["steps"]) == steps
    assert [row["test"] for row in found["rates"]] == ["SB"]
    assert all(row[when]["runs"] == 4 * 2 * 256 for row in found["rates"] for when in ("bare", "own", "tuned"))
    assert read_profile(file).name == "mine" and "Found by synth tune --backend opencl" in file.read_text()
    assert sorted(picture.stem for picture in plots.iterdir()) == pictures
    assert all(ElementTree.parse(picture).getroot().tag.endswith("svg") for picture in plots.iterdir())

    before = {each: each.read_bytes() for each in (file, tmp_path / "mine.journal.jsonl", *plots.iterdir())}
    again = synth(*command, "--plot", plots)
    assert again.exit_code == 0 and "instances a second" in again.stdout
    assert before == {each: each.read_bytes() for each in before}
    other = synth(*command, "--seed", "1")
    assert other.exit_code == 2 and "of another search" in other.stderr and other.stderr.count("\n") == 1

    done = synth(
        "run", SB, "--backend", "opencl", "--profile", file, "--instances", "64", "--iterations", "1", "--json"
    )
    (result,) = json.loads(done.stdout)["tests"]
    assert done.exit_code == 0 and result["profile"] == read_profile(file).label


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "x.json"], "x.json: -o: expected a name that ends with .toml"),
        (["-o", "a b.toml"], "a b.toml: name: expected a name of letters, digits"),
        (["-o", "x.toml", "--grid", "locations=48"], "locations: expected a power of two, found 48"),
        (["-o", "x.toml", "--grid", "distances=1,x"], "distances: expected numbers from 0 to 4095"),
        (["-o", "x.toml", "--grid", "spreads=65"], "spreads: expected numbers from 1 to 64"),
        (["-o", "x.toml", "--grid", "turns=1,2"], "turns: expected one number, found '1,2'"),
        (["-o", "x.toml", "--grid", "turns=1 turns=2"], "turns is set twice"),
        (["-o", "x.toml", "--grid", "turn=1"], "expected distances, locations, longest"),
        (["-o", "x.toml", "--shapes", "SBB"], "--shapes: there is no shape SBB; did you mean SB"),
        (["-o", "x.toml", "--start", "none.toml"], "none.toml: cannot read"),
        (["-o", "x.toml", "--budget", "nan"], "expected seconds"),
    ],
)
def test_misuse(options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = synth("tune", "--backend", "cpp", *options)
    assert done.exit_code == 2 and message in done.stderr and not list(tmp_path.iterdir())


def test_a_test_that_no_language_can_say(tmp_path: Path, need: Callable[[str], None]) -> None:
    need("opencl")
    test = SB.parent / "mp+membar.gl+addr.litmus"
    few = ["--grid", "launches=1 turns=1 candidates=1", *FEW[:2]]
    options = ["--method", "random", *few, "--shapes", test, "-o", tmp_path / "x.toml"]
    done = synth("tune", "--backend", "opencl", *options)
    assert done.exit_code == 1 and "no test could be run: P0: " in done.stderr
    assert not (tmp_path / "x.toml").exists()
