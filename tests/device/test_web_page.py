"""The page that runs a suite with WebGPU, in Chromium on SwiftShader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from chromium import Pages
from click.testing import CliRunner

from backends.registry import BACKENDS
from backends.shared.bundle import Bundle, BundledTest, Expected, Way
from backends.shared.files import write_files
from backends.shared.results import Entry, MemoryResult, ProgressFailure, ProgressResult, parse_result
from backends.web.page import page_files
from corpus.journal import read_corpus
from corpus.progress.axb import digest
from corpus.progress.text import parse_axb, print_axb
from oracle.progress.models import Verdict
from synth.cli import main

pytestmark = pytest.mark.device

EXAMPLES = Path(__file__).parents[2] / "examples"
MUTEX = parse_axb((EXAMPLES / "progress" / "mutex.axb").read_text(encoding="utf-8"))
WEB = BACKENDS["web"]
WAITS = """GPU_PTX waits
"a thread that waits for what never comes"
{ 0:.reg .s32 r0; 0:.reg .b64 r1 = x; 0:.reg .pred p; }
 T0 ;
 L: ld.relaxed.gpu.s32 r0,[r1] ;
 setp.eq.s32 p,r0,0 ;
 @p bra L ;
ScopeTree(grid (cta (warp T0)))
x: global
exists (0:r0 = 1)
"""
CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
LANGUAGE = "en-US"

# The devices that the page has been given, the last one last.
DEVICES = """
window.devices = [];
const request = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function (...words) {
  const device = await request.apply(this, words);
  window.devices.push(device);
  return device;
};
"""
# The first device is lost as soon as something is submitted to it.
VANISHES = (
    DEVICES
    + """
const submit = GPUQueue.prototype.submit;
GPUQueue.prototype.submit = function (commands) {
  submit.call(this, commands);
  if (this === window.devices[0].queue) window.devices[0].destroy();
};
"""
)
# As after too many losses of a GPU: every adapter but the first has another name.
CHANGES = (
    VANISHES
    + """
const { get } = Object.getOwnPropertyDescriptor(GPUAdapter.prototype, "info");
const names = new Map();
Object.defineProperty(GPUAdapter.prototype, "info", {
  get() {
    if (!names.has(this)) names.set(this, `adapter ${names.size}`);
    return { vendor: names.get(this), isFallbackAdapter: get.call(this).isFallbackAdapter };
  },
});
"""
)


def site(folder: Path, *words: str) -> Path:
    made = CliRunner().invoke(main, ["compile", *words, "--backend", "web", "-o", str(folder)], catch_exceptions=False)
    assert made.exit_code == 0, made.output
    return folder / "index.html"


def mutexes(folder: Path, *names: str, program: str | None = None) -> Path:
    """A page of tests that all are the mutex, which ends here in the plain mapping; or another program."""
    texts = {name: next(iter(WEB.progress_files(name, WEB.launch(MUTEX)).values())) for name in names}
    tests = tuple(
        BundledTest(name, digest(MUTEX), print_axb(MUTEX), (program or text,), Expected(("fair-weak",)))
        for name, text in texts.items()
    )
    write_files(folder, page_files(Bundle("progress", ("fair-weak",), (), (Way(()),), tests, 3)))
    return folder / "index.html"


def run(page: Any, iterations: int = 2, timeout: float = 5) -> None:
    """Run what is selected, to the end."""
    page.get_by_label("Iterations").fill(str(iterations))
    page.get_by_label("Time-out in seconds").fill(str(timeout))
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("#run:enabled", timeout=300_000)


def saved(page: Any, folder: Path) -> Sequence[Entry]:
    """The results that the page saves, each line read as synth reads it."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save results").click()
    assert download.value.suggested_filename == "results.jsonl"
    download.value.save_as(folder / "saved.jsonl")
    return [parse_result(line) for line in (folder / "saved.jsonl").read_bytes().splitlines()]


def test_progress_tests_that_hang_cost_a_device_each(
    open_watched_page: Pages, progress_suite: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """SwiftShader plays work-groups that are 16 apart one after the other. So in chunked with 16 instances all threads
    of an instance come one after the other, and those tests hang that wait for a later thread: as under strong LOBE.
    """
    suite = progress_suite("2x2", "--all")
    page = open_watched_page(site(tmp_path, str(suite), "--mapping", "chunked", "--instances", "16"))
    run(page, timeout=1)
    assert page.inner_text("#status") == "Done: 8 trials."
    results = saved(page, tmp_path)
    assert all(isinstance(result, ProgressResult) for result in results) and len(results) == 8
    assert {(each.backend, each.mapping, each.instances) for each in results} == {("web", "chunked", 16)}
    assert results[0].device == "google swiftshader" and results[0].driver.startswith("Chromium 1") and results[0].date
    hung = [result.test for result in results if result.outcomes == "H"]
    assert {result.outcomes for result in results} == {"H", "TT"}
    tests = read_corpus(suite).tests
    assert hung == [test.name for test in tests if test.verdicts["lobe-strong"] == Verdict.MAY_HANG]
    told = dict(row.split("\t") for row in page.inner_text("#models").splitlines())
    assert told["fair-weak"] == f"3: {', '.join(hung)}" and told["lobe-strong"] == "none"
    assert page.locator("#events li").count() == 3 + 1


def test_a_hang_can_be_stopped_and_the_run_goes_on(open_watched_page: Pages, tmp_path: Path) -> None:
    (tmp_path / "waits.litmus").write_text(WAITS, encoding="utf-8")
    file = site(tmp_path / "site", str(tmp_path / "waits.litmus"), "--instances", "32", "-m", "sc")
    page = open_watched_page(file)
    page.get_by_label("Time-out in seconds").fill("3600")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("running", exact=True).wait_for()
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("#run:enabled")
    assert page.inner_text("#status") == "Stopped. Run goes on with what lacks."
    assert page.get_by_role("button", name="Save results").is_disabled()
    run(page, timeout=0.5)
    (result,) = saved(page, tmp_path)
    assert isinstance(result, MemoryResult)
    assert result.hung and result.launches == 0 and result.outcomes == ()
    assert "hung\tno stress: asked for: 0 of 0, then a hang" in page.inner_text("#tests")


def test_the_six_classic_shapes(open_page: Pages, tmp_path: Path) -> None:
    words = ["memory", "--edges", CLASSIC, "--size", "4", "-o", str(tmp_path / "suite")]
    assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
    file = site(
        tmp_path / "site", str(tmp_path / "suite"), "--instances", "1024", "--random", "1", "-m", "sc", "-m", "tso"
    )
    page = open_page(file, locale=LANGUAGE)
    page.get_by_label("memory stress").check()
    page.get_by_label("random-1").check()
    run(page)
    results = saved(page, tmp_path)
    assert all(isinstance(result, MemoryResult) for result in results)
    assert [(each.test, each.profile.partition("#")[0]) for each in results] == [
        (shape, profile) for shape in ("2+2W", "LB", "MP", "R", "S", "SB") for profile in ("", "", "random-1")
    ]
    assert [each.stress for each in results[:2]] == [False, True]
    for result in results:
        assert result.launches == 2 and not result.other and not result.hung
        assert sum(count for _, count in result.outcomes) == 2 * 1024
        assert list(result.outcomes) == sorted(result.outcomes)
    page.get_by_text("SB", exact=True).click()
    rows = page.locator("#tests table").last.inner_text().splitlines()
    heads = [cell.strip() for cell in rows[0].split("\t")]
    assert heads == ["P0:r1", "P1:r3", "count", "asked for", "forbidden by"]
    table = {tuple(row.split("\t")[:2]): row.split("\t")[2:] for row in rows[1:]}
    assert table["0", "0"][1:] == ["yes", "sc"]
    assert sum(int(count.replace(",", "")) for count, *_ in table.values()) == 2 * 1024
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    files = {name: str(tmp_path / name) for name in ("suite", "saved.jsonl", "all.jsonl", "report.html")}
    given = ["--suite", files["suite"]]
    imported = CliRunner().invoke(main, ["import", files["saved.jsonl"], *given, "-o", files["all.jsonl"]])
    assert imported.exit_code == 0 and "18 results" in imported.output, imported.output
    reported = CliRunner().invoke(main, ["report", files["all.jsonl"], *given, "-m", "sc", "-o", files["report.html"]])
    assert reported.exit_code == 0, reported.output
    report = open_page(Path(files["report.html"]))
    assert "google swiftshader" in report.inner_text("body")


def test_names_and_texts_are_only_ever_text(open_page: Pages, tmp_path: Path) -> None:
    hostile = "</script><script>document.title = 'ran'</script><img src=x onerror=\"document.title = 'ran'\"> & \u2028"
    page = open_page(mutexes(tmp_path, hostile))
    assert page.get_by_role("checkbox", name="Run </script>").is_checked()
    run(page)
    page.locator("summary").click()
    assert page.locator("img").count() == 0 and page.locator("script").count() == 2
    assert page.title() == "synth: tests of this browser's GPU"
    assert [(result.test, result.outcomes) for result in saved(page, tmp_path)] == [(hostile, "TT")]


def test_a_device_that_vanishes_is_told_and_replaced(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(mutexes(tmp_path, "one", "two"), script=VANISHES)
    run(page, 3)
    assert [(result.test, result.outcomes) for result in saved(page, tmp_path)] == [("one", "TTT"), ("two", "TTT")]
    assert page.evaluate("devices.length") == 2
    assert "one: the device was lost: Device was destroyed." in page.inner_text("#events")


def test_the_process_of_all_devices_may_crash(open_watched_page: Pages, watched_browser: Any, tmp_path: Path) -> None:
    page = open_watched_page(mutexes(tmp_path, "one"))
    page.get_by_label("Iterations").fill("500")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("running", exact=True).wait_for()
    watched_browser.new_browser_cdp_session().send("Browser.crashGpuProcess")
    page.wait_for_selector("#run:enabled", timeout=300_000)
    (result,) = saved(page, tmp_path)
    assert isinstance(result, ProgressResult) and result.outcomes == "T" * 500


def test_results_are_of_one_adapter(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(mutexes(tmp_path, "one"), script=CHANGES)
    run(page, 3)
    assert page.inner_text("#status").startswith("The adapter was adapter 0 and is adapter 1 now.")
    run(page, 3)
    assert [(result.device, result.outcomes) for result in saved(page, tmp_path)] == [("adapter 1", "TTT")]


def test_what_was_seen_outlives_the_page(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(mutexes(tmp_path, "one", "two"))
    page.get_by_label("Filter by name").fill("TWO")
    page.get_by_role("button", name="Select none").click()
    page.get_by_role("button", name="Select all shown").click()
    assert page.inner_text("#selected") == "1 of 2 selected"
    run(page)
    page.reload()
    page.locator("#status", has_text="1 results of before are here; Run makes what lacks.").wait_for()
    before = saved(page, tmp_path)
    run(page)
    after = saved(page, tmp_path)
    assert [result.test for result in after] == ["two", "one"] and after[:1] == before
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Discard results").click()
    assert page.get_by_role("button", name="Save results").is_disabled()
    page.reload()
    assert page.get_by_role("button", name="Save results").is_disabled()


def test_a_program_that_is_refused_is_a_failure(open_page: Pages, tmp_path: Path) -> None:
    text = next(iter(WEB.progress_files("one", WEB.launch(MUTEX)).values()))
    page = open_page(mutexes(tmp_path / "bad", "one", program=text.replace("@compute", "@nothing")))
    run(page)
    (failure,) = saved(page, tmp_path)
    assert isinstance(failure, ProgressFailure) and failure.error.startswith("line 22: ") and "\n" not in failure.error
    page = open_page(mutexes(tmp_path / "cut", "one", program=text.replace("ADD(FINISHED, pc)", "ADD(FINISHED, 0u)")))
    run(page)
    (failure,) = saved(page, tmp_path)
    assert isinstance(failure, ProgressFailure) and failure.error.startswith(
        "threads were cut short: sum of counters 0"
    )


def test_keys_and_readers_get_by(open_page: Pages, tmp_path: Path) -> None:
    """All that can be operated has a name and is reached with Tab, on a narrow screen, light and dark."""
    file = mutexes(tmp_path, "one")
    page = open_page(file, color_scheme="dark", viewport={"width": 360, "height": 640})
    light = open_page(file, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) != light.evaluate(ground)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    nameless = """[...document.querySelectorAll("input, button, progress")]
        .filter((each) => !each.labels?.length && !each.ariaLabel && !each.textContent).length"""
    assert page.evaluate(nameless) == 0
    reached = []
    page.wait_for_selector("#run:enabled")
    for _ in range(10):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.localName"))
    assert reached == ["iterations", "timeout", "every", "run", "filter", "all", "none", "input", "summary", "body"]
    page.focus("#run")
    page.keyboard.press("Enter")
    page.wait_for_selector("#save:enabled")
    assert page.get_by_role("status").inner_text() == "Done: 1 trials."


def test_without_webgpu_the_page_says_so(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(mutexes(tmp_path, "one"), script="delete Navigator.prototype.gpu")
    assert page.get_by_role("alert").inner_text().startswith("This browser has no WebGPU")
    assert page.get_by_role("button", name="Run", exact=True).is_disabled()
