"""Makes one page of a bundle. Style, script and data are in a single HTML file that asks the network for nothing.

Its policy (Content Security Policy 3) lets run this one script, by its hash, and load nothing at all; names and texts
of tests are data (``backends.shared.html``), which the script only ever shows as text. What the page does is in
``gpu.js`` (a device, and how tests are launched on it), ``profiles.js`` (random profiles, and shaders for them),
``results.js`` (lines of results, what models say of them, and where they are kept) and ``page.js`` (what is seen and
clicked), which become one script in this order.

**Data.** Programs of one test under different ways share most of their text, and programs of one way too. So each text
is cut before and after its block of constants and before its last line, each piece is kept once, as the numbers of its
lines, and each line once. A program is then some four numbers and its last line.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from itertools import groupby
from string import Template
from typing import Any

from backends.shared import profiles
from backends.shared.bundle import Bundle, BundledTest, Draws
from backends.shared.html import embedded
from backends.shared.layout import BANKS, CPU, GPU, GROUP_SIZE, WARP
from backends.shared.mapping import GROUPS
from backends.wgsl.memory import MOST_BYTES, WgslKernel
from corpus.files import folder_of

SCRIPTS = ("gpu.js", "profiles.js", "results.js", "page.js")


class _Numbers(dict[Any, int]):
    """Numbers things in the order in which they are first asked for."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]


def page_files(bundle: Bundle) -> dict[str, str]:
    """Return the files of the page: its only file is ``index.html``."""
    script = "\n".join(_text(name) for name in SCRIPTS)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    page = Template(_text("page.html")).substitute(
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'",
        style=_text("page.css"),
        data=embedded(page_data(bundle)),
        script=script,
    )
    return {"index.html": page}


def page_data(bundle: Bundle) -> dict[str, Any]:
    """Return the data on the suite that the script reads; ``results.js`` says what the names mean.

    ``suite`` names the content: results of another suite are not taken for those of this one.
    """
    lines, pieces, models = _Numbers(), _Numbers(), {name: number for number, name in enumerate(bundle.models)}
    tests = [_test(test, models, lines, pieces) for test in bundle.tests]
    data = {
        "family": bundle.family,
        "iterations": bundle.iterations,
        "models": list(bundle.models),
        "choices": [
            {"name": choice.name, "values": list(choice.values), "chosen": list(choice.chosen)}
            for choice in bundle.choices
        ],
        "ways": [{"choices": dict(way.choices), "profile": way.profile, "cpu": way.cpu} for way in bundle.ways],
        "tests": tests,
        "lines": list(lines),
        "pieces": [list(piece) for piece in pieces],
        "refused": [{"name": name, "reason": reason} for name, reason in bundle.refused],
        "draws": None if bundle.draws is None else _draws(bundle.draws),
    }
    return {"suite": sha256(embedded(data).encode()).hexdigest()[:16], **data}


def _test(test: BundledTest, models: dict[str, int], lines: _Numbers, pieces: _Numbers) -> dict[str, Any]:
    expected = test.expected

    def cut(text: str | None) -> list[int] | None:
        return None if text is None else [pieces[tuple(lines[line] for line in piece)] for piece in _cut(text)]

    return {
        "name": test.name,
        "digest": test.digest,
        "text": test.text,
        "programs": [cut(text) for text in test.programs],
        "template": cut(test.template),
        "terminating": [models[name] for name in expected.terminating],
        "outcomes": [list(values) for values in expected.outcomes],
        "asked": list(expected.targets),
        "allowed": [[models[name], list(outcomes)] for name, outcomes in expected.allowed],
        "silent": [[models[name], reason] for name, reason in expected.silent],
    }


def _draws(draws: Draws) -> dict[str, Any]:
    """What ``profiles.js`` knows of parameters: how each is written, what a device has of itself, and its limits."""
    written = {key: profiles.written(key) for key in draws.values}
    return {
        "count": draws.count,
        "share": draws.share,
        "parameters": [
            {"name": key, "values": list(values), "pattern": written[key][0], "expected": written[key][1]}
            for key, values in draws.values.items()
        ],
        "own": {"gpu": asdict(GPU), "cpu": asdict(CPU), "group": GROUP_SIZE, "warp": WARP},
        "limits": {"groups": GROUPS, "bytes": MOST_BYTES, "threads": WgslKernel.largest_group, "banks": BANKS},
    }


def _cut(text: str) -> Iterator[list[str]]:
    """The lines of a program, in pieces that other programs are likely to have too."""
    *lines, last = text.removesuffix("\n").split("\n")
    for _, piece in groupby(lines, lambda line: line.startswith("const ")):
        yield list(piece)
    yield [last]


def _text(name: str) -> str:
    return (folder_of("backends.web") / name).read_text(encoding="utf-8")
