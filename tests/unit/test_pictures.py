"""Pictures as files: SVG, PDF and PNG by name; nothing but the picture is written, the same bytes each time."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from corpus.errors import InputError
from synth.cli import main
from synth.drawing import lts
from synth.drawing.files import write_picture

EXAMPLES = Path(__file__).parents[2] / "examples"
MUTEX = EXAMPLES / "progress" / "mutex.axb"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="10" viewBox="0 0 {0} 10" '
    'font-family="DejaVu Sans Mono" font-size="8"><text x="2" y="8">a&lt;b</text></svg>'
)


def synth(*args):
    return CliRunner().invoke(main, [*map(str, args)])


def test_the_name_says_which_kind_of_picture(tmp_path):
    starts = {".svg": b"<svg", ".pdf": b"%PDF-", ".PNG": b"\x89PNG\r\n"}
    for suffix, start in starts.items():
        paths = [tmp_path / f"{number}{suffix}" for number in range(2)]
        for path in paths:
            assert synth("explain", MUTEX, "--model", "hsa-weak", "--svg", path).exit_code == 0
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
    with pytest.raises(InputError, match=r"an \.svg, \.pdf or \.png file"):
        write_picture(path, SVG.format(40))
    result = synth("explain", MUTEX, "--model", "hsa-weak", "--svg", path)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1 and f"{name}: a picture is" in result.stderr
    result = synth("show", tmp_path, "--svg", path)
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
        synth("explain", EXAMPLES / "progress" / f"{name}.axb", "--model", model, "--svg", path)
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
    monkeypatch.setattr(lts, "_LARGE", 10)
    path = tmp_path / "a.svg"
    synth("explain", MUTEX, "--model", "obe-weak", "--svg", path)
    assert len(re.findall("marker-end", path.read_text(encoding="utf-8"))) == 16
