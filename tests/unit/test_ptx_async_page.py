"""The readings of PTX in docs/ptx-async.md: each has a test, and a picture of the execution that it forbids."""

from __future__ import annotations

import pytest
from scripts import DOCS, script

PICTURES = script("pictures")
FOLDER = DOCS / "pictures" / PICTURES.READINGS
READINGS: dict[str, str] = PICTURES.readings()


def test_every_reading_has_a_row_and_a_picture_on_the_page() -> None:
    files = {path.stem.removeprefix("ptx-async-") for path in (DOCS.parent / "oracle/models/readings").glob("*.cat")}
    assert files == set(READINGS) == {path.stem for path in FOLDER.iterdir()} and len(files) >= 6
    page = (DOCS / "ptx-async.md").read_text(encoding="utf-8")
    for reading, test in READINGS.items():
        assert page.count(f"![{test}, allowed by ptx-async and forbidden by {reading}](pictures/") == 1


@pytest.mark.parametrize(("reading", "test"), READINGS.items(), ids=list(READINGS))
def test_pictures_are_of_what_the_reading_forbids(reading: str, test: str, request: pytest.FixtureRequest) -> None:
    svg = PICTURES.told_apart(reading, test)
    kept = FOLDER / f"{reading}.svg"
    if request.config.getoption("--promote"):
        kept.write_text(svg, encoding="utf-8")
    assert f"{test} under {reading}: FORBIDDEN" in svg and svg == kept.read_text(encoding="utf-8")
