"""Shared by all tests: golden files with a promote mode, suites, and the rule for compilers that a machine may lack."""

from __future__ import annotations

import gc
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from absent import absent, bare_machine
from chromium import browser, open_page, open_watched_page, playwright, watched_browser
from commands import synth
from dying import dies_once
from hypothesis import HealthCheck, settings

from backends.opencl.platforms import choose
from backends.registry import BACKENDS
from backends.shared.clang_llvm import INSTALL as INSTALL_CLANG
from backends.shared.clang_llvm import clang
from backends.shared.clang_spirv import INSTALL, tools
from backends.shared.device import DeviceOptions
from corpus.errors import InputError
from synth.commands.cli import COMMANDS

# Fixtures from elsewhere.
__all__ = [
    "bare_machine",
    "browser",
    "dies_once",
    "open_page",
    "open_watched_page",
    "playwright",
    "watched_browser",
]  # fixtures from elsewhere

# How long data takes to be drawn, or an example to run, says how busy the machine is, and nothing of the test.
settings.register_profile("synth", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("synth")

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"


@dataclass
class Goldens:
    """The golden files that tests have named so far, the tests that did, and those that are to."""

    named: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    due: set[str] = field(default_factory=set)
    modules: set[Path] = field(default_factory=set)

    @property
    def complete(self) -> bool:
        """Whether every test of golden files has run: none was left out on the command line."""
        modules = TESTS.rglob("test_*.py")
        every = {path for path in modules if re.search(r"\bgolden[,:)]", path.read_text(encoding="utf-8"))}
        return self.due <= self.done and every <= self.modules


ELSEWHERE = set() if sys.platform == "darwin" else {"metal"}
"""Back ends whose compiler is for another system."""

GPUS = ("cuda", "hip")
"""Back ends whose devices are GPUs only."""

SECOND_METHODS = {"differential": 4, "property": 4, "quality": 4}
"""Folders of tests that compare methods on many cases of a kind: of so many one is not slow, as with ``one_in``."""

CASES = 2
"""Of the cases of one kind so many are fast, evenly spread; the others are in ``make test-rest``. Cases that name
different back ends or commands are of different kinds.
"""

COSTLY = TESTS / "costly.txt"
"""Tests after the seconds of CPU that each takes more than: those of ``REST`` are left to ``make test-rest``, and those
of half a second are not in ``make check``. ``python tests/minutes.py`` writes them."""

REST = "1.0"

LEFT_OVER = "test_every_golden_file_is_of_some_test"
GOLDENS = pytest.StashKey[Goldens]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--promote", action="store_true", help="rewrite golden files with what the program says now")


def pytest_configure() -> None:
    """Tests send Ctrl-C, which a shell has its background jobs, and what they start, ignore."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests of golden files are marked, for one process is to run them all, and know which files are named."""
    if "golden" in getattr(item, "fixturenames", ()) or item.name == LEFT_OVER:
        item.add_marker("golden")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of many cases of one kind some are fast. The test that no golden file is left over comes last, when all the
    others have said which are theirs.
    """
    cases: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("one_in")
        number = mark.args[0] if mark else SECOND_METHODS.get(item.path.parent.name, 1)
        if number > 1 and not item.get_closest_marker("slow"):
            kind = item.nodeid.partition("[")[0]
            if cases[kind] % number:
                item.add_marker("slow")
            cases[kind] += 1
    seconds = dict(reversed(line.split(" ", 1)) for line in COSTLY.read_text(encoding="utf-8").splitlines())
    for item in _rest(items, seconds):
        item.add_marker("rest")
    for item in _checked(items, seconds):
        item.add_marker("check")
    items.sort(key=lambda item: item.name == LEFT_OVER)
    due = {item.nodeid for item in items if "golden" in getattr(item, "fixturenames", ())}
    config.stash[GOLDENS] = Goldens(due=due, modules={item.path for item in items})


def _rest(items: Sequence[pytest.Item], seconds: Mapping[str, str]) -> Iterator[pytest.Item]:
    """Yield the tests that ``make test`` leaves to ``make test-rest``: those that are costly, and of the others all but
    a few cases of each kind. Golden files and what is slow are apart.
    """
    kinds: dict[tuple[str, ...], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") or item.get_closest_marker("golden"):
            continue
        if seconds.get(item.nodeid.partition("[")[0]) == REST:
            yield item
        else:
            kinds.setdefault(_kind(item), []).append(item)
    for cases in kinds.values():
        few = {number * len(cases) // CASES for number in range(CASES)}
        yield from (item for number, item in enumerate(cases) if number not in few)


def _checked(items: Sequence[pytest.Item], seconds: Mapping[str, str]) -> Iterator[pytest.Item]:
    """Yield the tests of ``make check``, besides those that are marked: of those that are not costly and need neither
    devices nor golden files, the first case of each kind.
    """
    kinds = set()
    for item in items:
        if any(map(item.get_closest_marker, ("slow", "rest", "golden", "device"))):
            continue
        if item.nodeid.partition("[")[0] not in seconds and (kind := _kind(item)) not in kinds:
            kinds.add(kind)
            yield item


def _kind(item: pytest.Item) -> tuple[str, ...]:
    """The kind of a case: its test, and the back ends and commands that the case names."""
    test, _, case = item.nodeid.partition("[")
    return test, *sorted(_NAMED.intersection(re.split(r"[^\w+]", case)))


_NAMED = {*BACKENDS, *COMMANDS}
"""Names that tell cases apart that ``make test`` has each of."""


def pytest_collection_finish() -> None:
    """What was collected stays to the end: Python need not look for garbage in it, nor processes that are forked copy
    it."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``golden(name, text)`` holds that ``tests/golden/<name>`` is ``text``; ``pytest --promote`` makes it so.

    ``golden(name, text, PARTS)`` holds the parts of a program that it shares with others against files of their own.
    Where several tests name a file, the first of them writes it, and the others are to agree.
    """

    goldens = request.config.stash[GOLDENS]
    goldens.done.add(request.node.nodeid)

    def same(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--promote") and name not in goldens.named:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        goldens.named.add(name)
        assert path.is_file(), f"no golden file {name}: look at the text and run pytest --promote"
        assert text == path.read_text(encoding="utf-8"), f"{name} has changed: if it should, run pytest --promote"

    def compare(name: str, text: str, parts: Mapping[str, str] | None = None) -> None:
        assert not parts or "<parts/" not in text
        for part, pattern in (parts or {}).items():
            if found := re.search(pattern, text, re.MULTILINE | re.DOTALL):
                file = f"parts/{part.format(program=Path(name).stem)}"
                same(file, found[0])
                text = text.replace(found[0], f"<{file}>\n")
        same(name, text)

    return compare


@pytest.fixture(scope="session")
def progress_suite(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """``progress_suite("2x4", "--all")`` is the folder of that suite, made once for all tests, which leave it as it
    is.
    """
    root = tmp_path_factory.mktemp("progress_suites")

    @cache
    def make(bound: str, which: str) -> Path:
        folder = root / f"{bound}{which}"
        threads, _, instrs = bound.partition("x")
        words = ["progress", "-t", threads, "-n", instrs, which, "-j", "1", "-o", str(folder)]
        made = synth(*words)
        assert made.exit_code == 0, made.output
        return folder

    return make


@pytest.fixture
def need() -> Callable[..., None]:
    """``need(backend)`` skips a test, and says why, where the compilers or devices of a back end are not there or fail
    their probe; ``need("opencl", platform)`` where that platform has no device that works, ``need(backend, runs=True)``
    where the back end has none. On CI it fails instead, but for devices that no runner there has, and compilers of
    another system."""

    def check(backend: str, platform: str | None = None, runs: bool = False) -> None:
        lacking = _lacking(backend, platform, runs)
        if lacking:
            message = f"{backend} needs {' and '.join(lacking)}"
            if backend in ELSEWHERE or (runs and backend in GPUS):
                pytest.skip(message)
            absent(message)

    return check


@pytest.fixture
def to_spirv(need: Callable[..., None]) -> Callable[[str], None]:
    """``to_spirv(backend)`` skips a test, as ``need`` does, where nothing makes SPIR-V of kernels in its language, or
    LLVM of HIP's.
    """

    def check(backend: str) -> None:
        if backend == "opencl":
            if tools() is None:
                absent(f"OpenCL C needs clang and its translator to SPIR-V: {INSTALL}")
        elif backend == "hip":
            if clang() is None:
                absent(f"HIP needs clang: {INSTALL_CLANG}")
        else:
            need(backend)

    return check


@cache
def _lacking(backend: str, platform: str | None, runs: bool) -> list[str]:
    compiler, device = BACKENDS[backend].compiler, BACKENDS[backend].device
    if runs:
        assert device is not None
        try:
            device(DeviceOptions())
        except InputError as error:
            return [f"a device ({error})"]
    if platform is not None:
        try:
            choose(platform)
        except InputError as error:
            return [f"a device of that platform ({error})"]
    if backend in ("opencl", "wgsl", "web") or compiler.missing():  # one device that works is enough
        return compiler.missing()
    return [
        f"{each.name}: {each.problem}" for each in compiler.probe() if not each.usable and "compile" in each.purpose
    ]
