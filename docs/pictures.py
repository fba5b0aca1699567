"""The pictures of the README, and of the readings of PTX: python docs/pictures.py [REPORT.html].

Executions and transition systems are drawn by ``synth explain``, to which a test holds them. The table of readings in
docs/ptx-async.md names each with its test; drawn is the execution of the test that ptx-async allows, with the cycle for
which the reading forbids it. The screenshot is of a report that ``synth report`` wrote, by Debian's chromium, whose
fonts are the machine's, so it is taken by hand:

    synth progress -t 2 -n 3 -o suite
    synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 4 -m sc -m tso -m rmo -o classic
    synth run suite --backend cpp --iterations 5               # and opencl, glsl: --instances 16
    synth run classic --backend cpp                            # and opencl
    synth report suite classic -o report.html
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from constraints.witnesses import violated
from corpus.dialects.registry import read_litmus
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from synth.drawing.execution import draw
from synth.memory.judging import explain_with

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
DRAWN = {
    "mp-weak.svg": "synth explain examples/memory/mp-weak.litmus -m ptx-6.0 -m sc --side-by-side",
    "mutex.svg": "synth explain examples/progress/mutex.axb -m hsa-weak",
}
"""Picture of the README -> the command that draws it, but for ``--svg FILE``."""
OF_PAGES = {
    "lattice.svg": "synth infer examples/inference/orders.cat",
}
"""The same for pictures of other pages."""
READINGS = "ptx-async"
_ROW = re.compile(r"^\|.*\| `([\w-]+)` \| `([\w-]+)` \|[^|]*\|$", re.MULTILINE)


def readings() -> dict[str, str]:
    """The readings of PTX, each with the test that tells it apart, as the table of docs/ptx-async.md has them."""
    return dict(_ROW.findall((ROOT / "docs" / "ptx-async.md").read_text(encoding="utf-8")))


def told_apart(reading: str, name: str) -> str:
    """The execution of a test that ptx-async allows, with the cycle for which a reading forbids it, as SVG.

    Each wait succeeds at once. Raises ``StopIteration`` where the reading does not forbid the execution.
    """
    model = load_model(str(ROOT / "oracle" / "models" / "readings" / f"ptx-async-{reading}.cat"), reading)
    test = read_litmus(ROOT / "examples" / "memory" / "ptx-async" / f"{name}.litmus")
    allowed = explain_with(test, load_model(shipped_models()["ptx-async"], "ptx-async"), unroll=0)
    assert allowed.witness is not None, f"ptx-async forbids {name}"
    checks = (result.truth for result in model.judge(allowed.witness.base) if not result.check.flag)
    failed = next(number for number, truth in enumerate(checks) if not truth)
    violation = violated(model, failed, allowed.witness)
    return draw(replace(allowed, model=model, witness=None, violations=(violation,), outcomes=1)).svg()


def screenshot(page: Path, picture: Path) -> None:
    """The top of a page, 1200 x 850."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 1200, "height": 850}, color_scheme="light")
        shown.goto(page.resolve().as_uri())
        shown.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    for name, command in (DRAWN | OF_PAGES).items():
        words = [sys.executable, "-c", "from synth.commands.cli import main; main()", *shlex.split(command)[1:]]
        subprocess.run([*words, "--svg", FOLDER / name], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for name, test in readings().items():
        (FOLDER / READINGS / f"{name}.svg").write_text(told_apart(name, test), encoding="utf-8")
    for report in sys.argv[1:]:
        screenshot(Path(report), FOLDER / "report.png")
