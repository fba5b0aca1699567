"""The page that runs a suite with WebGPU, in Chromium on SwiftShader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from chromium import Pages
from commands import synth

from backends.registry import BACKENDS
from backends.shared.bundle import Bundle, BundledTest, ExpectedOutcomes, LaunchWay
from backends.shared.files import write_files
from backends.shared.layout import Parameters, device_layout
from backends.shared.profiles import Profile, parse_profile
from backends.shared.results import Entry, MemoryResult, ProgressFailure, ProgressResult, parse_result, read_results
from backends.web.page import page_data, page_files
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.files import folder_of
from corpus.journal import read_corpus
from corpus.progress.axb import digest
from corpus.progress.text import parse_axb, print_axb
from oracle.progress.models import Verdict
from synth.inputs import expand
from synth.memory.compilation import PLAIN, memory_bundle
from synth.tuning.search import drawn, random_profiles

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
WEBGPU = EXAMPLES / "memory" / "webgpu"
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
# The first device is lost in its first iteration.
VANISHES = (
    DEVICES
    + """
const submit = GPUQueue.prototype.submit;
let launches = 0; // the first is the warm-up
GPUQueue.prototype.submit = function (commands) {
  submit.call(this, commands);
  if (this === window.devices[0].queue && ++launches === 2) window.devices[0].destroy();
};
"""
)
# A device comes when it is told to.
HELD = """
const ask = GPU.prototype.requestAdapter;
const leave = new Promise((resolve) => (window.give = resolve));
GPU.prototype.requestAdapter = async function (...words) {
  await leave;
  return ask.apply(this, words);
};
"""
# What is submitted takes 0.3 s to be read.
SLOW = """
const map = GPUBuffer.prototype.mapAsync;
GPUBuffer.prototype.mapAsync = async function (...words) {
  await new Promise((resolve) => setTimeout(resolve, 300));
  return map.apply(this, words);
};
"""
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
    made = synth("compile", *words, "--backend", "web", "-o", folder)
    assert made.exit_code == 0, made.output
    return folder / "index.html"


def mutexes(folder: Path, *names: str, program: str | None = None) -> Path:
    """A page of tests that all are the mutex, which ends here in the plain mapping; or another program."""
    texts = {name: next(iter(WEB.progress_files(name, WEB.launch(MUTEX)).values())) for name in names}
    tests = tuple(
        BundledTest(name, digest(MUTEX), print_axb(MUTEX), (program or text,), ExpectedOutcomes(("fair-weak",)))
        for name, text in texts.items()
    )
    write_files(folder, page_files(Bundle("progress", ("fair-weak",), (), (LaunchWay(()),), tests, 3)))
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


@pytest.mark.slow
def test_progress_tests_that_hang_cost_a_device_each(
    open_watched_page: Pages, progress_suite: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """SwiftShader plays work-groups that are 16 apart one after the other. So in chunked with 16 instances all threads
    of an instance come one after the other, and those tests hang that wait for a later thread: as under strong LOBE.
    """
    suite = progress_suite("2x2", "--all")
    page = open_watched_page(site(tmp_path, str(suite), "--mapping", "chunked", "--instances", "16"))
    run(page, timeout=0.2)
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
    assert {result.tries for result in results if result.hangs} == {("H", "H", "H")}
    assert page.locator("#events li").count() == 3 * 3 + 1


def test_nothing_is_said_of_models_before_a_run(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(mutexes(tmp_path, "one"))
    models = page.locator("#models-told")
    summary = page.locator("#tests summary")
    summary.click()
    page.wait_for_selector("#tests details[open] pre")
    assert "fair-weak" not in page.inner_text("body") and "model" not in page.inner_text("body").lower()
    run(page)
    assert models.is_visible() and "fair-weak" in models.inner_text()
    assert "It terminates under fair-weak." in page.inner_text("#tests")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Discard results").click()
    models.wait_for(state="hidden")
    assert "fair-weak" not in page.inner_text("body")


def test_a_slow_device_is_not_called_guilty(open_page: Pages, tmp_path: Path) -> None:
    """It hangs in the time-out, and terminates in a longer one."""
    page = open_page(mutexes(tmp_path, "one"), script=SLOW)
    run(page, timeout=0.2)
    (result,) = saved(page, tmp_path)
    assert isinstance(result, ProgressResult) and (result.outcomes, result.tries) == ("TT", ("H", "T"))
    assert page.inner_text("#models").endswith("none")
    assert "2 terminated with more time: the device was slow" in page.inner_text("#tests")


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
    run(page, timeout=0.1)
    (result,) = saved(page, tmp_path)
    assert isinstance(result, MemoryResult)
    assert result.hung and result.launches == 0 and result.outcomes == ()
    assert "hung\tno stress: asked for: 0 of 0, then a hang" in page.inner_text("#tests")


def test_the_six_classic_shapes(open_page: Pages, tmp_path: Path) -> None:
    words = ["memory", "--edges", CLASSIC, "--size", "4", "-o", str(tmp_path / "suite")]
    assert synth(*words).exit_code == 0
    file = site(
        tmp_path / "site", str(tmp_path / "suite"), "--instances", "1024", "--random", "1", "-m", "sc", "-m", "tso"
    )
    page = open_page(file, locale=LANGUAGE)
    page.get_by_label("memory stress").check()
    page.wait_for_selector("#run:enabled")
    assert page.get_by_label("How many").input_value() == "1"
    assert [page.locator(f"#of-{name}").input_value() for name in ("slots", "passes")] == ["32, 64", ""]
    run(page)
    results = saved(page, tmp_path)
    assert all(isinstance(result, MemoryResult) for result in results)
    assert [(each.test, each.profile.partition("#")[0]) for each in results] == [
        (shape, profile) for shape in ("2+2W", "LB", "MP", "R", "S", "SB") for profile in ("", "", "drawn-1.1")
    ]
    assert [each.stress for each in results[:2]] == [False, True]
    for result in results:
        assert result.profile == (result.parameters and parse_profile(result.parameters).label)
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
    imported = synth("import", files["saved.jsonl"], *given, "-o", files["all.jsonl"])
    assert imported.exit_code == 0 and "18 results" in imported.output, imported.output
    reported = synth("report", files["all.jsonl"], *given, "-m", "sc", "-o", files["report.html"])
    assert reported.exit_code == 0, reported.output
    report = open_page(Path(files["report.html"]))
    assert "google swiftshader" in report.inner_text("body")


def test_profiles_are_drawn_as_the_visitor_says(open_page: Pages, tmp_path: Path) -> None:
    """With keys alone: how many, of which seed, from which values. Results have what was drawn."""
    test = str(WEBGPU / "sb.litmus")
    page = open_page(
        site(tmp_path / "site", test, "--instances", "64", "-m", "sc", "--iterations", "1"),
        viewport={"width": 360, "height": 640},
    )
    page.wait_for_selector("#run:enabled")
    page.get_by_label("none").focus()
    for keys in ("Space", "Tab"):
        page.keyboard.press(keys)
    values = [
        "32",
        "",
        "16",
        "",
        "true",
        "false, false",
        "",
        "",
        "",
        "",
        "",
        "",
        "50",
        "1, 2, 4",
        "8",
        "",
        "",
        "st ld ld, st",
    ]
    for text in ("2", "7", "100", None, *values, "1"):
        page.keyboard.press("Tab")
        if text is None:
            page.keyboard.press("Enter")  # shows what parameters are drawn from
        else:
            page.keyboard.press("ControlOrMeta+A")
            page.keyboard.press("Backspace")
            page.keyboard.type(text)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Enter")
    page.get_by_text("Done: 2 trials.").first.wait_for()
    first = saved(page, tmp_path)
    assert all(isinstance(result, MemoryResult) and result.launches == 1 for result in first)
    profiles = [parse_profile(result.parameters) for result in first]
    assert [profile.name for profile in profiles] == ["drawn-7.1", "drawn-7.2"]
    assert [profile.label for profile in profiles] == [result.profile for result in first]
    wanted = {"slots": {32}, "stride": {16}, "interleaved": {True}, "shuffle": {False}, "spin": {50}, "spread": {1}}
    wanted |= {"stress": {1, 2, 4}, "stress_rounds": {8}, "sequence": {"st ld ld", "st"}}
    for profile in profiles:
        assert all(profile.chosen[key] in values for key, values in wanted.items())
        assert not {"passes", "shared_stride", "rotate", "vary"} & set(profile.chosen)
    page.get_by_text("sb", exact=True).click()
    assert page.locator("#tests pre").last.inner_text() == first[1].parameters

    page.get_by_label("Seed").fill("8")
    page.get_by_label("How many").fill("1")
    run(page, 1)
    run(page, 1)
    *again, other = saved(page, tmp_path)
    assert again == first and parse_profile(other.parameters).name == "drawn-8.1"

    page.get_by_label("patch").fill("7, 0")
    page.locator("#values summary").click()
    assert not page.get_by_label("patch").is_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    assert page.evaluate("document.activeElement.name") == "patch"
    assert page.get_by_label("patch").is_visible()
    page.get_by_label("patch").fill("128")
    page.get_by_label("regions").fill("1024")
    page.get_by_label("Seed").fill("9")
    run(page, 1)
    assert "sb cannot be launched as drawn-9.1#" in page.inner_text("#events")

    words = ["import", str(tmp_path / "saved.jsonl"), "--suite", test, "-o", str(tmp_path / "all.jsonl")]
    assert synth(*words).exit_code == 0
    assert read_results(tmp_path / "all.jsonl") == [*first, other]


def test_a_drawn_launch_is_that_of_its_profile(open_page: Pages, tmp_path: Path) -> None:
    """Character by character what the back end writes, or refused by both, on GPUs and CPUs."""
    names = ("sb", "mp-barrier", "workgroup-barrier", "storage-barrier-workgroup")
    tests = [WEBGPU / f"{name}.litmus" for name in names]
    draws = random_profiles(0)
    bundle, _ = memory_bundle(expand([*map(str, tests)]), WEB, PLAIN, 64, (), 1, draws)
    random = Random("launches")
    further = {"shared_stride": (1, 3, 32), "regions": (1, 16, 64), "offset": (0, 3, 16383), "slots": (32, 64, 128)}
    asked = []
    for number in range(150):
        profile = drawn(Profile(f"p-{number}"), Parameters(), random)
        given = {key: random.choice(values) for key, values in further.items() if random.random() < 0.3}
        profile = replace(profile, **given)
        asked.append((number % len(tests), profile, random.choice((1, 100, 5000, 1 << 20)), random.random() < 0.5))
    (tmp_path / "blank.html").write_text("<!doctype html>", encoding="utf-8")
    scripts = "".join(folder_of("backends.web").joinpath(name).read_text() for name in ("gpu.js", "profiles.js"))
    made = open_page(tmp_path / "blank.html").evaluate(
        f"async (given) => {{ {scripts}"
        """
        const [asked, templates, draws] = given;
        return Promise.all(asked.map(async ([test, name, chosen, instances, isCpu]) => {
            const profile = await profileOf(name, chosen);
            try {
                return [profile.label, profile.text, launchedAs(templates[test], profile, draws, instances, isCpu)];
            } catch (error) {
                if (!(error instanceof Unlaunchable)) throw error;
                return [profile.label, profile.text, null];
            }
        }));
        }""",
        [
            [[test, profile.name, profile.chosen, *rest] for test, profile, *rest in asked],
            [test.template for test in bundle.tests],
            page_data(bundle)["draws"],
        ],
    )
    kinds = Counter[tuple[bool, bool]]()
    for (number, profile, instances, cpu), (label, text, program) in zip(asked, made, strict=True):
        assert (label, parse_profile(text)) == (profile.label, profile)
        test, expected = parse_litmus(bundle.tests[number].text), None
        with suppress(InputError):
            layout = device_layout(test, instances, profile, cpu)
            (expected, *_) = WEB.memory_files(test.name, layout).values()
        assert program == expected
        kinds[program is None, cpu] += 1
    assert min(kinds[key] for key in product((False, True), repeat=2)) > 4


def test_no_name_reorders_what_is_shown(open_page: Pages, tmp_path: Path) -> None:
    """A test whose name has a bidirectional control is shown with its escape, and keeps its name in results."""
    name = "a\u202etest\x9b"
    page = open_page(mutexes(tmp_path, name))
    run(page)
    page.locator("#tests summary").click()
    assert page.locator("#tests summary").inner_text() == "a\\u202etest\\u009b"
    assert not any(each in page.locator("body").inner_text() for each in "\u202e\x9b")
    assert [result.test for result in saved(page, tmp_path)] == [name]
    for file in ("index.html", "saved.jsonl"):
        assert not any(each in (tmp_path / file).read_text("utf-8") for each in "\u202e\x9b")


def test_names_and_texts_are_only_ever_text(open_page: Pages, tmp_path: Path) -> None:
    hostile = "</script><script>document.title = 'ran'</script><img src=x onerror=\"document.title = 'ran'\"> & \u2028"
    page = open_page(mutexes(tmp_path, hostile))
    assert page.get_by_role("checkbox", name="Run </script>").is_checked()
    run(page)
    page.locator("#tests summary").click()
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
    page.locator("#status", has_text="Discarded.").wait_for()
    page.reload()
    page.wait_for_selector("#run:enabled")
    assert page.get_by_role("button", name="Save results").is_disabled()


def test_nothing_moves_under_a_pointer_when_the_device_comes(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(mutexes(tmp_path, "one"), script=HELD)
    before = page.get_by_role("button", name="Run", exact=True).bounding_box()
    assert page.get_by_text("not known yet").count()
    page.evaluate("window.give()")
    page.locator("#device", has_text="swiftshader").wait_for()
    assert page.get_by_role("button", name="Run", exact=True).bounding_box() == before


def test_a_program_that_is_refused_is_a_failure(open_page: Pages, tmp_path: Path) -> None:
    text = next(iter(WEB.progress_files("one", WEB.launch(MUTEX)).values()))
    page = open_page(mutexes(tmp_path / "bad", "one", program=text.replace("@compute", "@nothing")))
    run(page)
    (failure,) = saved(page, tmp_path)
    assert isinstance(failure, ProgressFailure) and failure.error.startswith("line 23: ") and "\n" not in failure.error
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
