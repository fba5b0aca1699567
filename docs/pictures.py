"""The pictures of the README: python docs/pictures.py [REPORT.html].

Executions and transition systems are drawn by ``synth explain``, to which a test holds them. The screenshot is of a
report that ``synth report`` wrote, by Debian's chromium, whose fonts are the machine's, so it is taken by hand:

    synth progress -t 2 -n 3 -o suite
    synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 4 -m sc -m tso -m rmo -o classic
    synth run suite --backend cpp --iterations 5               # and opencl, glsl: --instances 16
    synth run classic --backend cpp                            # and opencl
    synth report suite classic -o report.html
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
DRAWN = {
    "mp-weak.svg": "synth explain examples/memory/mp-weak.litmus -m ptx-6.0 -m sc --side-by-side",
    "mutex.svg": "synth explain examples/progress/mutex.axb -m hsa-weak",
}
"""Picture -> the command that draws it, but for ``--svg FILE``."""


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
    for name, command in DRAWN.items():
        words = [sys.executable, "-c", "from synth.cli import main; main()", *shlex.split(command)[1:]]
        subprocess.run([*words, "--svg", FOLDER / name], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for report in sys.argv[1:]:
        screenshot(Path(report), FOLDER / "report.png")
