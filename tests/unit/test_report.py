"""The facts of a report, and what is said of bad input."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result
from commands import in_form, synth
from reported import (
    HOSTILE,
    SB,
    confirmed,
    entries,
    memory_result,
    memory_test,
    progress_result,
    progress_tests,
    write_all,
    write_results,
    write_suite,
)

from backends.shared.layout import outcome_terms
from corpus.dialects.registry import parse_litmus
from corpus.journal import read_corpus
from corpus.links import read_links
from corpus.litmus.condition import spell
from corpus.suite import write_corpus
from corpus.test import Test
from synth.conformance import ConformanceStatus, ModelConformance, recorded, standing
from synth.families.interface import families
from synth.inputs import MEMORY, PROGRESS, Input
from synth.junit import Case, CaseOutcome, junit
from synth.memory.judging import labelled_record
from synth.mutation.kills import Machine
from synth.report.charts import charts
from synth.report.details import ranked
from synth.report.evidence import Evidence, Subject, evidence
from synth.report.names import short_names
from synth.report.tables import findings, strongest


def subject(test: Test, family: str) -> Subject:
    return Subject(family, test, Input(test.name, test.name, Path("suite"), test))


def small() -> Evidence:
    waits, mutex = progress_tests()
    sb = memory_test()
    subjects = [subject(waits, PROGRESS), subject(mutex, PROGRESS), subject(sb, MEMORY)]
    sides = {name: kind.sides for name, kind in families().items()}
    return evidence(subjects, entries(waits, mutex, sb), sides, {})


def report(*words: str | Path) -> Result:
    return synth("report", *words)


def test_columns_are_devices_and_ways_to_run() -> None:
    found = small()
    told = [(found.names[column.device], column.way) for column in found.columns]
    assert told == [
        ("a CPU", "plain"),
        ("a CPU", "round-robin"),
        ("a GPU | 2", "chunked"),
        ("a GPU | 2", "round-robin, subgroup"),
        ("Linux", ""),
        ("Linux", "profile spread"),
        ("another", ""),
    ]


LLVMPIPE = "llvmpipe (LLVM 15.0.6, 256 bits), Mesa 25.0.7, Vulkan"
XEON = "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz"


@pytest.mark.parametrize(
    ("machines", "names"),
    [
        ([Machine("opencl", f"{XEON}, OpenCL 3.0")], ["Intel Xeon Platinum 8370C CPU"]),
        ([Machine("glsl", LLVMPIPE), Machine("wgsl", LLVMPIPE)], ["llvmpipe, glsl", "llvmpipe, wgsl"]),
        (
            [Machine("opencl", f"{XEON}, OpenCL 3.0 PoCL 3.1 Linux"), Machine("opencl", f"{XEON}, OpenCL 3.0 LINUX")],
            ["PoCL 3.1 on Intel Xeon Platinum 8370C CPU", "Intel's OpenCL on Intel Xeon Platinum 8370C CPU"],
        ),
        (
            [
                Machine("opencl", "pthread-skylake-avx512-AMD EPYC, OpenCL 3.0 PoCL 3.1+debian Linux"),
                Machine("opencl", "pthread-Intel(R) Xeon(R) Processor, OpenCL 3.0 PoCL 3.0-rc2 Linux, 2 threads"),
                Machine("opencl", "pthread-Intel(R) Xeon(R) Processor, OpenCL 3.0 PoCL 3.0-rc2 Linux"),
                Machine("cpp", "Linux x86_64, 2 cores"),
            ],
            [
                "PoCL 3.1 on AMD EPYC",
                "PoCL 3.0-rc2 on Intel Xeon Processor, 2 threads",
                "PoCL 3.0-rc2 on Intel Xeon Processor",
                "C++ threads on Linux x86_64",
            ],
        ),
        (
            [Machine("cuda", "NVIDIA H100", "580.1"), Machine("cuda", "NVIDIA H100", "590.2"), Machine("cpp", "Linux")],
            ["NVIDIA H100, 580.1", "NVIDIA H100, 590.2", "Linux"],
        ),
        (
            [Machine("cpp", "Linux", "", "g++ 12"), Machine("cpp", "Linux", "", "g++ 13"), Machine("web", "Linux")],
            ["Linux, cpp, g++ 12", "Linux, cpp, g++ 13", "Linux, web"],
        ),
        (
            [Machine("cpp", "a" * 40, "", "b" * 40), Machine("cpp", "a" * 40, "", "b" * 41)],
            [f"{'a' * 32}, no. 1", f"{'a' * 32}, no. 2"],
        ),
        ([Machine("web", "")], ["web"]),
    ],
)
def test_short_names_of_devices(machines: list[Machine], names: list[str]) -> None:
    assert list(short_names(machines).values()) == names


def test_the_scale_of_rates_has_numbers_at_both_ends() -> None:
    sb = labelled_record(parse_litmus(SB), SB, 4, [])
    line = memory_result(sb, (((0, 0), 20_000), ((0, 1), 980_000)))
    found = evidence([subject(sb, MEMORY)], [line], {MEMORY: families()[MEMORY].sides}, {})
    (rates,) = charts(found)
    assert len(set(re.findall(r">\s*(1|0\.0*1|1e-\d+)\s*<", rates.svg))) == 2


def test_in_short() -> None:
    assert [(each.text, each.bad) for each in findings(small())] == [
        (
            "a CPU: 2 progress tests, 1 hung; contradicted: fair-weak (1), fair-strong (1); "
            "fairest of the others: lobe-strong",
            True,
        ),
        (
            "a GPU | 2, subgroup: 1 progress test, 1 hung; contradicted: fair-weak (1), fair-strong (1); "
            "fairest of the others: lobe-strong",
            True,
        ),
        ("Linux: 1 memory test, asked outcomes of 1 seen; contradicted: sc (1)", True),
        ("another: 1 memory test, asked outcomes of 0 seen; contradicted: no model", False),
    ]
    sb = labelled_record(parse_litmus(SB), SB, 4, [])
    line = memory_result(sb, (((0, 0), 1),))
    found = evidence([subject(sb, MEMORY)], [line], {MEMORY: families()[MEMORY].sides}, {})
    assert [each.text for each in findings(found)] == [
        "Linux: 1 memory test, asked outcomes of 1 seen; no model has a verdict"
    ]


def test_the_last_line_of_a_trial_counts_and_a_failure_is_no_result() -> None:
    found = small()
    assert (found.cells[0, 1].seen, found.cells[0, 1].runs) == (8, 20)
    failed = found.cells[1, 2]
    assert (failed.seen, failed.runs, failed.failed, failed.interval) == (0, 0, 1, None)
    assert [trial.error for trial in found.trials if trial.error] == ["the compiler said: <no>"]


def test_models_are_set_against_each_level_of_a_device() -> None:
    found = small()
    levels = found.levels_of(PROGRESS)
    assert [(level.way, columns) for level, columns in levels.items()] == [("", [0, 1]), ("", [2]), ("subgroup", [3])]
    status = {each.model: each.status for each in found.standings([0, 1], PROGRESS)}
    assert (
        status["fair-weak"] is ConformanceStatus.CONTRADICTED and status["lobe-strong"] is ConformanceStatus.CONSISTENT
    )
    assert {each.status for each in found.standings([2], PROGRESS)} == {ConformanceStatus.SILENT}
    assert {each.model: each.status for each in found.standings([6], MEMORY)} == {
        "sc": ConformanceStatus.CONSISTENT,
        "tso": ConformanceStatus.WEAKER,
        "rc11": ConformanceStatus.WEAKER,
    }
    assert found.against(["sc", "tso", "fair-weak"]) == {"sc": "SB", "fair-weak": "waits"}


def test_the_fairest_models_that_nothing_contradicts() -> None:
    found = small()
    assert strongest(found.standings([1], PROGRESS)) == ("lobe-strong",)
    assert strongest(found.standings([0], PROGRESS)) == ("fair-strong",)
    of = [ModelConformance(model, 1, (), 1, 1, 0) for model in ("hsa-weak", "obe-weak", "unfair-weak", "my-weak")]
    assert strongest(of) == ("hsa-weak", "obe-weak", "my-weak")


def test_standing() -> None:
    """A test that showed an outcome that it does not ask about counts as one with a forbidden outcome."""
    seen = {"a": True, "b": False, "c": True, "d": True, "e": False}
    said = {"a": "NO", "b": "NO", "c": "YES", "d": None, "e": "YES"}
    promises = {test: recorded(verdict, "NO", "YES") for test, verdict in said.items()}
    assert standing("m", promises, seen, {"a"}) == ModelConformance("m", 2, ("a",), 2, 1, 1)
    assert standing("m", promises, seen, {"a", "e"}) == ModelConformance("m", 3, ("a", "e"), 1, 1, 1)


def test_results_with_other_terms_are_of_another_test() -> None:
    sb = memory_test()
    line = memory_result(sb, (((0, 0), 1),), terms=("P0:r7", "P1:r0"))
    found = evidence([subject(sb, MEMORY)], [line], {MEMORY: families()[MEMORY].sides}, {})
    assert found.strangers == ("SB",) and not found.trials


def test_tests_in_two_corpora_are_one() -> None:
    waits, _ = progress_tests()
    again = Test("other", waits.digest, waits.text, {"fair-weak": "MAY_HANG", "mine": "TERMINATES"})
    sides = {PROGRESS: families()[PROGRESS].sides}
    found = evidence([subject(waits, PROGRESS), subject(again, PROGRESS)], [], sides, {PROGRESS: ("fair-weak", "mine")})
    (only,) = found.subjects
    assert only.test.name == "waits" and found.models[PROGRESS] == ("fair-weak", "mine")
    assert only.test.verdicts["fair-weak"] == "TERMINATES" and only.test.verdicts["mine"] == "TERMINATES"


def test_contradictions_are_explained_first() -> None:
    found = small()
    assert ranked(found) == [0, 2, 1]


def test_files_of_results_with_their_corpus_beside_them(tmp_path: Path) -> None:
    waits, mutex = progress_tests()
    suite = write_suite(tmp_path / "suite", [waits, mutex], "progress")
    file = write_results(
        tmp_path / "elsewhere.jsonl", [confirmed(waits), progress_result(Test("x", "0", "THREAD;"), "H")]
    )
    told = report(file)
    assert told.exit_code == 2 and "--suite names their tests" in told.output
    told = report(file, "--suite", suite, "--format", "csv")
    assert told.exit_code == 0 and "1 tests with results are not shown" in told.stderr
    rows = list(csv.DictReader(told.stdout.splitlines()))
    assert [(row["test"], row["seen"], row["runs"], row["contradicts"]) for row in rows] == [
        ("waits", "1", "1", "fair-weak fair-strong"),
        ("mutex", "", "", ""),
    ]


def test_verdicts_that_a_corpus_lacks_are_found(tmp_path: Path) -> None:
    file = tmp_path / "mutex.axb"
    file.write_text(progress_tests()[1].text, encoding="utf-8")
    (subject_,) = json.loads(report(file, "--json").stdout)["tests"]
    assert len(subject_["verdicts"]) == 12
    (subject_,) = json.loads(report(file, "--json", "-m", "obe").stdout)["tests"]
    assert subject_["verdicts"] == {"obe-weak": "TERMINATES", "obe-strong": "TERMINATES"}


def test_a_model_that_is_believed(tmp_path: Path) -> None:
    folders = write_all(tmp_path)
    told = report(*folders, "--sound", "sc", "-o", tmp_path / "out.xml")
    assert told.exit_code == 1 and "sc is not sound here: it forbids a result of SB" in told.stderr
    suites = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert [suites.get(key) for key in ("tests", "failures", "errors")] == ["8", "2", "1"]
    assert report(*folders, "--sound", "tso", "-o", tmp_path / "out.xml").exit_code == 0
    assert "no test has a verdict of it" in report(*folders, "--sound", "my").output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "html"], "give a file for the page"),
        (["-o", "report.docx"], "give --format"),
        (["--where", "nothing*"], "no test has a name that matches"),
        (["-m", "no-such-model"], "unknown model"),
    ],
)
def test_misuse(tmp_path: Path, words: list[str], said: str) -> None:
    told = report(*write_all(tmp_path), *words)
    assert told.exit_code == 2 and said in told.output and told.output.count("\n") == 1


def test_a_file_that_is_no_results(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text("{}\n{}\n", encoding="utf-8")
    told = report(file)
    assert told.exit_code == 2 and f"{file}:1: expected a result of a test" in told.output
    assert report(tmp_path / "none.jsonl").exit_code == 2


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    progress, _ = write_all(tmp_path)
    with (progress / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"test":"wai')
    assert report(progress).exit_code == 0


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    """In every form: they end no element, no table and no line."""
    folders = write_all(tmp_path, (HOSTILE, "{\\input|x}"))
    for suffix in ("html", "xml", "md", "tex", "csv", "json"):
        assert report(*folders, "-o", tmp_path / f"out.{suffix}").exit_code == 0
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2 and "<img" not in page
    assert ElementTree.parse(tmp_path / "out.xml").getroot().find(".//error/..").get("name") == "{\\input|x}"  # type: ignore[union-attr]
    assert r"\{\textbackslash{}input\textbar{}x\}" in (tmp_path / "out.tex").read_text(encoding="utf-8")
    assert r"| {\\input\|x} |" in (tmp_path / "out.md").read_text(encoding="utf-8")


def texts_of_tex(text: str) -> list[list[str]]:
    """The rows of all tables as a reader sees them; what TeX would stumble over fails.

    So in its manual: outside of commands none of its special characters; environments nest; a row of as many cells as
    there are columns; and no row that begins as an option of the end of the row before it.
    """
    words = r"textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar"
    shown = dict(zip(words.split("|"), r"\~^<>|", strict=True))
    token = re.compile(rf"\\({words})\{{\}}|\\([&%$#_{{}}])|\{{([\[*])\}}|(-)\{{\}}(?=-)|('')|([^\\{{}}&%$#_~^\"])")
    opened, columns, rows = [], 0, []
    for line in text.splitlines():
        line = line.removeprefix("  ").removeprefix("  ")
        if line.startswith("%") or line in ("", r"\toprule", r"\midrule", r"\bottomrule", r"\centering\small"):
            continue
        if given := re.fullmatch(r"\\(begin|end)\{(\w+)\}(?:\{([lr]+)\})?", line):
            if given[1] == "begin":
                opened.append(given[2])
                columns = len(given[3] or "")
            else:
                assert opened.pop() == given[2]
            continue
        caption = re.fullmatch(r"\\caption\{(.*)\}", line)
        assert caption or (line.endswith(r" \\") and opened[-1] == "tabular"), line
        assert not re.match(r"[\[*]", line), line
        cells = [caption[1]] if caption else line.removesuffix(r" \\").split(" & ")
        assert caption or len(cells) == columns, line
        for cell in cells:
            assert "--" not in cell and "".join(each[0] for each in token.finditer(cell)) == cell, cell
        rows.append(
            [
                token.sub(lambda at: shown.get(at[1] or "") or ('"' if at[5] else "".join(at.groups(""))), cell)
                for cell in cells
            ]
        )
    assert not opened
    return rows


def test_tables_for_papers_show_any_name(tmp_path: Path) -> None:
    """Seen to compile by pdfTeX 1.40.24; where a row began with a bracket, it had gone on for ever."""
    names = (r"a_b%{}\\$#&~^</script>", '[input|x}--"q"---<>|[0pt]*')
    folders = write_all(tmp_path, names)
    title = "T \\end{document}\u2028\n\\input{x}"
    assert report(*folders, "--title", title, "-o", tmp_path / "out.tex").exit_code == 0
    text = (tmp_path / "out.tex").read_text(encoding="utf-8")
    assert text.startswith("% T \\end{document} \\input{x}\n")
    found = [cell for row in texts_of_tex(text) for cell in row]
    assert set(names) <= set(found)
    golden = Path(__file__).parents[1] / "golden" / "report" / "small.tex"
    assert [row[2] for row in texts_of_tex(golden.read_text(encoding="utf-8")) if row[0] == "a GPU | 2"][:1] == [
        "a GPU | 2"
    ]


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    folders = write_all(tmp_path)
    pages = []
    for jobs in ("1", "2"):
        assert report(*folders, "-o", tmp_path / "out.html", "-j", jobs).exit_code == 0
        pages.append((tmp_path / "out.html").read_bytes())
    assert pages[0] == pages[1]


def test_junit_of_any_text() -> None:
    cases = [Case("a<b\x00", CaseOutcome.FAILURE, 'line\none "two"', 1.25), Case("c", CaseOutcome.SKIPPED, "no")]
    root = ElementTree.fromstring(junit("all", {"s&t": cases}))
    failed = root.find(".//failure/..")
    assert failed is not None and failed.get("name") == "a<b\ufffd" and failed.get("time") == "1.250"
    assert root.find(".//failure").get("message") == 'line\none "two"'  # type: ignore[union-attr]
    assert root.get("skipped") == "1"


def test_mutants_that_were_run(tmp_path: Path) -> None:
    """A device that shows a mutant's outcome kills it; results of mutants are nobody's unknown tests."""
    made = synth("memory", "--from", "tso", "--events", "2..4", "--mutants", "-o", tmp_path / "tso")
    assert made.exit_code == 0
    mutants = {test.name: test for test in read_corpus(tmp_path / "tso" / "mutants").tests}
    link = next(link for link in read_links(tmp_path / "tso") if link.test == "RR.WW")
    mutant = mutants[link.mutant]
    terms = tuple(map(spell, outcome_terms(parse_litmus(mutant.text))))
    asked = tuple(int(value) for value in re.findall(r" = (\d+)", mutant.text.split("exists")[1]))
    line = memory_result(mutant, ((asked, 7),), terms=terms)
    told = report(write_results(tmp_path / "tso" / "results.jsonl", [line]), "--json")
    assert told.exit_code == 0 and not told.stderr
    (scored,) = json.loads(told.stdout)["mutation"]
    assert scored["environments"][0]["kills"][mutant.name]["kills"] == 7
    text = report(tmp_path / "tso", "--format", "markdown").stdout
    assert "## Mutation scores of tso" in text
    assert report(tmp_path / "tso", "-o", tmp_path / "out.html", "--explain", "0").exit_code == 0
    assert '"Mutation scores of tso"' in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_file_whose_name_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "odd\udcff.axb"
    file.write_text(progress_tests()[1].text, encoding="utf-8")
    assert "odd" in report(file, "--format", "markdown").stdout
    assert report(file, "-o", tmp_path / "out.html").exit_code == 0
    data = (tmp_path / "out.html").read_text(encoding="utf-8").partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(data)["families"][0]["names"] == ["odd\udcff"]


def test_a_corpus_without_tests(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    write_corpus(folder, [], {"complete": True, "request": {"kind": "progress"}, "models": ["fair-weak"]})
    for form in ("markdown", "latex", "json", "junit", "csv"):
        assert report(folder, *in_form(form)).exit_code == 0
    assert report(folder, "-o", tmp_path / "out.html").exit_code == 0
