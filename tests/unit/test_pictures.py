"""Pictures as files: SVG, PDF and PNG by name; nothing but the picture is written, the same bytes each time."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import synth

from corpus.errors import InputError
from synth.drawing import figures, layers
from synth.screen.pictures import write_picture

EXAMPLES = Path(__file__).parents[2] / "examples"
MUTEX = EXAMPLES / "progress" / "mutex.axb"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="10" viewBox="0 0 {0} 10" '
    'font-family="DejaVu Sans Mono" font-size="8"><text x="2" y="8">a&lt;b</text></svg>'
)


def test_the_name_says_which_kind_of_picture(tmp_path):
    starts = {".svg": b"<svg", ".pdf": b"%PDF-", ".PNG": b"\x89PNG\r\n"}
    for suffix, start in starts.items():
        paths = [tmp_path / f"{number}{suffix}" for number in range(2)]
        for path in paths:
            assert synth("explain", MUTEX, "--model", "hsa-weak", "--picture", path).exit_code == 0
        one, other = (path.read_bytes() for path in paths)
        assert one.startswith(start) and one == other


def test_a_pdf_has_its_font_and_no_date(tmp_path):
    write_picture(tmp_path / "a.pdf", SVG.format(40))
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert b"+DejaVuSansMono" in pdf and b"/MediaBox[0 0 30 7.5]" in pdf
    assert b"CreationDate" not in pdf and b"CreateDate" not in pdf


def size(path):
    data = path.read_bytes()
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_a_png_has_two_pixels_for_one_unless_it_is_huge(tmp_path):
    write_picture(tmp_path / "a.png", SVG.format(40))
    assert size(tmp_path / "a.png") == (80, 20)
    write_picture(tmp_path / "b.png", SVG.format(10**7))
    width, height = size(tmp_path / "b.png")
    assert width * height <= 5e7 * 1.1


@pytest.mark.parametrize("name", ["a.gif", "a", "a.svg.gz", ".svg"])
def test_any_other_name_is_refused_before_work_is_done(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(InputError, match=r"an \.svg, \.pdf, \.png or \.tex file"):
        write_picture(path, SVG.format(40))
    result = synth("explain", MUTEX, "--model", "hsa-weak", "--picture", path)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1 and f"{name}: a picture is" in result.stderr
    result = synth("show", tmp_path, "--picture", path)
    assert result.exit_code == 2 and f"{name}: a picture is" in result.stderr
    assert not path.exists()


def test_a_picture_that_cannot_be_written(tmp_path):
    for suffix in (".svg", ".pdf", ".png"):
        with pytest.raises(InputError, match="cannot write"):
            write_picture(tmp_path / "no" / f"a{suffix}", SVG.format(40))


# Transition systems


def test_boxes_and_labels_of_states_and_steps_do_not_overlap_and_no_library_speaks(tmp_path, capfd):
    for name, model in (("mutex", "obe-weak"), ("barrier-2", "lobe-strong"), ("philosophers-simplified", "fair-weak")):
        path = tmp_path / f"{name}.svg"
        synth("explain", EXAMPLES / "progress" / f"{name}.axb", "--model", model, "--picture", path)
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        left, top, width, height = map(float, root.get("viewBox").split())
        boxes = set()
        for shape in list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:]:  # the first is the page
            x, y, w, h = (float(shape.get(key)) for key in ("x", "y", "width", "height"))
            assert left <= x and x + w <= left + width and top <= y and y + h <= top + height
            if shape.get("fill") != "none":  # the inner border of an end state
                boxes.add((x, y, w, h))
        for number, (x, y, w, h) in enumerate(ordered := sorted(boxes)):
            for a, b, c, d in ordered[:number]:
                assert x >= a + c - 1 or a >= x + w - 1 or y >= b + d - 1 or b >= y + h - 1
    assert capfd.readouterr().err == ""


def test_a_large_transition_system_has_straight_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(layers, "LARGE", 10)
    path = tmp_path / "a.svg"
    synth("explain", MUTEX, "--model", "obe-weak", "--picture", path)
    assert len(re.findall("marker-end", path.read_text(encoding="utf-8"))) == 16


# Bars


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def bars(svg):
    """Colour, left, top, width and height of each part of a bar, without the page and the key."""
    shapes = [
        (shape.get("fill"), *(float(shape.get(key)) for key in ("x", "y", "width", "height")))
        for shape in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect")
    ]
    return [shape for shape in shapes if shape[0] != "white" and shape[3:] != (20.0, 14.0)]


def test_bars_of_progress_tests_are_as_high_as_their_share():
    svg = figures.distribution_svg({("weak", "hsa"): 6, ("weak", "fair"): 2, ("strong", "obe"): 2})
    full = sum(height for _, _, _, _, height in bars(svg)) / 3
    assert [round(height / full, 2) for *_, height in bars(svg)] == [0.8, 0.2, 0.75, 0.25, 1.0]
    assert {"10 tests", "8 tests", "2 tests", "6"} <= set(texts(svg))


def test_bars_of_memory_tests_by_family_and_model():
    counts = {"MP": {"sc": (0, 4, 0), "tso": (1, 3, 0)}, "other \x1b[31m": {"sc": (2, 1, 1), "tso": (0, 0, 0)}}
    svg = figures.memory_distribution_svg(["sc", "tso"], counts)
    words = texts(svg)
    assert words[:5] == ["Memory tests by family and model", "allowed", "forbidden", "unknown", "sc"]
    assert [word for word in words if word in ("all", "MP", "other \ufffd[31m")] == ["all", "MP", "other \ufffd[31m"]
    assert words[words.index("all") + 1] == "8" and words[words.index("MP") + 1] == "4"
    full = max(width for _, _, _, width, _ in bars(svg))
    assert [round(width / full, 2) for _, _, _, width, _ in bars(svg)] == [
        *(0.25, 0.62, 0.13, 0.25, 0.75),  # all under sc, under tso
        *(1.0, 0.25, 0.75),
        *(0.5, 0.25, 0.25),
    ]


def test_bars_of_nothing():
    assert texts(figures.memory_distribution_svg([], {}))[-2:] == ["all", "0"]
    assert "0 tests" in texts(figures.distribution_svg({}))
