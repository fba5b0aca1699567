"""Pictures as TikZ: every kind that commands draw, as text, and set by LaTeX where it is at hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import synth

from corpus.errors import InputError
from synth.drawing.tikz import tikz
from synth.screen.pictures import write_picture

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURES = {
    "states": ("explain", EXAMPLES / "progress" / "mutex.axb", "-m", "hsa-weak"),
    "executions": ("explain", EXAMPLES / "memory" / "mp+membar.cta+membar.gl.litmus", "-m", "ptx-rmo"),
    "beside": ("explain", EXAMPLES / "memory" / "mp-weak.litmus", "-m", "ptx-6.0", "-m", "tso", "--side-by-side"),
    "hang": ("explain", EXAMPLES / "liveness" / "handshake-weak.litmus", "-m", "fair & ptx-6.0"),
    "order": ("compare", "sc", "tso", "rmo", "ptx-rmo", "--events", "..3"),
    "bars": ("show", "suite"),
}
DOCUMENT = r"""\documentclass{article}
\usepackage[margin=1cm,paperwidth=60cm,paperheight=60cm]{geometry}
\usepackage{tikz}
\usetikzlibrary{arrows.meta}
\begin{document}
\input{picture.tex}
\end{document}
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert synth("progress", "-t", "2", "-n", "2", "-o", "suite").exit_code == 0


def drawn(name: str, *options: str) -> str:
    words = [*options, *map(str, PICTURES[name]), "--picture", "picture.tex"]
    assert synth(*words).exit_code in (0, 1)
    return Path("picture.tex").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_every_kind_of_picture_is_said_the_same_each_time(name):
    text = drawn(name)
    assert text == drawn(name) and text.isascii()
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert set(re.findall(r"=(c[0-9a-f]{3,6})\b", text)) <= set(re.findall(r"\\definecolor\{(c\w+)\}", text))
    assert all(line.endswith((";", "}", "]", ",")) for line in text.splitlines()[1:])
    for colour in ("red", "#", "&"):
        assert colour not in re.sub(r"\\[#&]", "", text).replace("shared", "")
    titled = [line for line in text.splitlines() if r"\bfseries" in line]
    untitled = [line for line in drawn(name, "--no-title").splitlines() if r"\bfseries" in line]
    assert titled[1:] == untitled


@pytest.mark.device
@pytest.mark.parametrize("name", PICTURES)
def test_latex_sets_every_kind_of_picture(name):
    latex = shutil.which("pdflatex")
    if latex is None or subprocess.run(["kpsewhich", "tikz.sty"], capture_output=True, check=False).returncode:
        pytest.skip("no pdflatex with TikZ on PATH")
    drawn(name)
    Path("document.tex").write_text(DOCUMENT)
    command = [latex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "document.tex"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert Path("document.pdf").read_bytes().startswith(b"%PDF-")


def svg(inside: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9">{inside}</svg>'


def test_what_a_name_says_is_text_and_never_a_command():
    text = tikz(svg('<text x="1" y="2" fill="#000000">\\input{/etc/passwd} $x$ %~^_#"--&lt;\u4e2d\u2192</text>'))
    words = text.partition("at (1,2) ")[2].partition(";\n")[0]
    assert r"\input" not in words and r"\textbackslash{}input\{/etc/passwd\} \$x\$ \%" in words
    assert words.endswith(r"{-}{-}\textless{}?$\rightarrow$}")


@pytest.mark.parametrize(
    "inside",
    ['<circle r="1"/>', '<path d="M 0 0 A 1 1"/>', '<path d="M 0 0" stroke="teal"/>', '<g transform="scale(2)"></g>'],
)
def test_what_no_picture_of_ours_has_is_refused(inside):
    with pytest.raises(InputError, match="cannot be said in TikZ"):
        tikz(svg(inside))


def test_a_picture_without_its_title_is_lower_and_says_the_same(tmp_path):
    words = [*map(str, PICTURES["states"]), "--picture"]
    for name, options in {"a.svg": [], "b.svg": ["--no-title"]}.items():
        assert synth(*options, *words, name).exit_code == 0
    titled, untitled = (Path(name).read_text(encoding="utf-8") for name in ("a.svg", "b.svg"))
    heights = [float(re.search(r'height="([0-9.]+)"', text)[1]) for text in (titled, untitled)]
    assert heights[0] - heights[1] == 48
    assert untitled.count("mutex under hsa-weak") == 1 < titled.count("mutex under hsa-weak")
    write_picture(tmp_path / "c.svg", titled)
    assert (tmp_path / "c.svg").read_text(encoding="utf-8") == titled
