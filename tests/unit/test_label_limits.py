"""``synth label``: no test stalls or kills the others, verdicts come as they are found, a file of them goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import commands
import pytest
from click.testing import Result
from commands import in_form

import synth.commands.label
import synth.memory.labels

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRESS = str(EXAMPLES / "progress")

SLOW = """
import os, signal
def guarantee(running, stepped):
    if running.bit_length() > 2:  # in the tests of three threads
        {body}
    return running
"""


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """A folder of a few litmus tests."""
    folder = tmp_path_factory.mktemp("memory")
    for name in ("c-mp-rlx", "coRR", "coww-weak", "mp-acq-rel", "mp-inter", "sb-inter"):
        shutil.copy(EXAMPLES / "memory" / f"{name}.litmus", folder)
    return folder


def label(*arguments: object) -> Result:
    return commands.synth("label", *arguments)


@pytest.fixture
def dies(monkeypatch):
    """``dies(when)``: a process that is to judge a test by a model is killed where ``when(test, model)``.

    Tests are judged each by itself.
    """
    judge = synth.memory.labels.judge_with

    def install(when):
        def dying(test, model, *arguments):
            if when(test, model):
                os.kill(os.getpid(), signal.SIGKILL)
            return judge(test, model, *arguments)

        monkeypatch.setattr("synth.memory.labels.judge_with", dying)
        monkeypatch.setattr("synth.memory.labels.judge_together", lambda tests, *arguments: [None] * len(tests))

    return install


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_process_that_is_killed_costs_no_verdict(dies, tmp_path, memory, jobs):
    marker = tmp_path / "killed"

    def once(test, model):
        if test.name != "coRR" or marker.exists():
            return False
        marker.touch()
        return True

    expected = label(memory, "-m", "sc", "-m", "tso", "--format", "csv").stdout
    dies(once)
    result = label(memory, "-m", "sc", "-m", "tso", "--format", "csv", "-j", jobs)
    assert marker.exists() and result.exit_code == 0
    assert result.stdout == expected and result.stderr == ""


def test_a_model_that_dies_on_a_litmus_test_costs_that_verdict_alone(dies, memory):
    expected = label(memory, "-m", "sc", "-m", "tso", "-m", "rmo", "--format", "csv").stdout
    dies(lambda test, model: test.name == "coRR" and model.name == "tso")
    result = label(memory, "-m", "sc", "-m", "tso", "-m", "rmo", "--format", "csv")
    wanted, found = expected.splitlines(), result.stdout.splitlines()
    changed = [line for line, before in zip(found, wanted, strict=True) if line != before]
    assert changed == [f"{memory}/coRR.litmus,tso,UNKNOWN,,"]
    reason = "ended its process with SIGKILL, perhaps for want of memory: it may take 4096 MB"
    assert result.stderr == f"synth: tso has no verdict on {memory}/coRR.litmus: {reason}\n"
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("body", "timeout", "reason"),
    [
        ("while True: pass", 3, "needs more than 3 s"),
        ("held = bytearray(10**9)", 3600, "needs more than 300 MB"),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            3600,
            "ended its process with SIGKILL, perhaps for want of memory: it may take 300 MB",
        ),
        ("os._exit(3)", 3600, "ended its process with exit code 3"),
    ],
)
def test_a_progress_test_that_is_too_much_is_unknown(tmp_path, body, timeout, reason):
    (tmp_path / "slow.py").write_text(SLOW.format(body=body))
    asked = ("label", PROGRESS, "-m", tmp_path / "slow.py", "--timeout", timeout, "--format", "csv")
    result = commands.synth("--memory", 300, *asked)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()[1:]
    large = ["barrier-3", "philosophers-3"]
    unknown = {Path(line.split(",")[0]).stem for line in lines if line.endswith("UNKNOWN")}
    assert unknown == set(large) and len(lines) == 2 * len(list(Path(PROGRESS).glob("*.axb")))
    first = f"{PROGRESS}/barrier-3.axb (and 1 more): {reason}\n"
    assert result.stderr == "".join(
        f"synth: slow-{reading} has no verdict on {first}" for reading in ("weak", "strong")
    )


def test_unknown_progress_tests_in_a_table_and_json(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW.format(body="os._exit(3)"))
    tests = [f"{PROGRESS}/mutex.axb", f"{PROGRESS}/barrier-3.axb"]
    table = label(*tests, "-m", tmp_path / "slow.py").stdout.splitlines()
    assert table[-1] == "T terminates, H may hang, ? no verdict"
    assert [line.split()[1:] for line in table[2:-1]] == [["T", "T"], ["?", "?"]]
    record = json.loads(label(*tests, "-m", tmp_path / "slow.py", "--json").stdout.splitlines()[1])
    assert record["file"] == tests[1] and record["bound"] == "3x9" and record["digest"]
    unknown = {"verdict": "UNKNOWN", "reason": "ended its process with exit code 3"}
    assert record["verdicts"] == {"slow-weak": unknown, "slow-strong": unknown}


def test_a_model_without_any_verdict_is_exit_code_2(tmp_path):
    (tmp_path / "slow.py").write_text("def guarantee(running, stepped):\n    while True: pass\n")
    assert label(f"{PROGRESS}/mutex.axb", "-m", tmp_path / "slow.py", "--timeout", 0.2).exit_code == 2


@pytest.mark.slow
def test_one_monster_among_the_tests(tmp_path):
    """Three threads of forty stores to one location: gigabytes under sc, where nothing limits them. However busy the
    machine is, memory is what ends them: no time is short enough to come first.
    """
    assert commands.synth("export", PROGRESS, "--to", "dartagnan-vulkan", "-o", f"{tmp_path}/v").exit_code == 0
    threads = " | ".join(f"P{number}@sg 0,wg {number},qf 0" for number in range(3))
    rows = "".join(" | ".join([f"st.atom.dv.sc0 x, {value}"] * 3) + ";\n" for value in range(1, 41))
    (tmp_path / "stores.litmus").write_text(f"VULKAN stores\n{{ x=0; }}\n{threads};\n{rows}exists (x == 0)\n")
    asked = ["--memory", "150", "label", f"{tmp_path}/v", f"{tmp_path}/stores.litmus", "-m", "sc"]
    command = [
        sys.executable,
        "-c",
        "from synth.commands.cli import main; main()",
        *asked,
        "--timeout",
        "3600",
        "--format",
        "csv",
    ]
    result = subprocess.run(command, capture_output=True, text=True)  # what a process begins with counts
    verdicts = {Path(line.split(",")[0]).stem: line.split(",")[2] for line in result.stdout.splitlines()[1:]}
    assert verdicts.pop("stores") == "UNKNOWN"
    assert len(verdicts) == 10 and {*verdicts.values()} == {"ALLOWED"}
    assert "sc has no verdict" in result.stderr and "more than 150 MB" in result.stderr


def test_verdicts_are_printed_as_they_come(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW.format(body="while True: pass"))
    tests = [f"{PROGRESS}/mutex.axb", f"{PROGRESS}/barrier-3.axb"]
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", "label", *tests]
    command += ["-m", str(tmp_path / "slow.py"), "--format", "csv", "--timeout", "300"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline() for _ in range(3)]
        assert lines[2] == f"{tests[0]},slow-strong,TERMINATES\n" and process.poll() is None
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130 and time.monotonic() - began < 10


def test_a_table_that_is_interrupted_shows_what_there_is(monkeypatch):
    labelled = synth.commands.label.label_tests

    def interrupted(*arguments):
        for labels in labelled(*arguments):
            if labels and "philosophers-3" in labels.file:
                raise KeyboardInterrupt
            yield labels

    monkeypatch.setattr("synth.commands.label.label_tests", interrupted)
    result = label(PROGRESS)
    assert (result.exit_code, result.stderr) == (130, "synth: interrupted\n")
    assert "mutex.axb" in result.stdout and "prodcons" not in result.stdout
    assert label(f"{PROGRESS}/philosophers-3.axb").stdout == ""


# Files


FORMS = pytest.mark.parametrize("form", ["csv", "json"])
INPUTS = pytest.mark.parametrize(
    ("inputs", "models"),
    [(PROGRESS, ("hsa", "obe-weak")), ("memory", ("sc", "thesis-weak"))],
    ids=["progress", "memory"],
)


@FORMS
@INPUTS
def test_a_file_goes_on_from_wherever_it_was_cut(tmp_path, memory, form, inputs, models):
    asked = [
        memory if inputs == "memory" else inputs,
        *(word for model in models for word in ("-m", model)),
        *in_form(form),
        "-j",
        1,
    ]
    file = tmp_path / "labels"
    printed = label(*asked)
    written = label(*asked, "-o", file)
    assert written.stdout == "" and (written.exit_code, written.stderr) == (printed.exit_code, printed.stderr)
    whole = file.read_bytes()
    assert whole == printed.stdout_bytes
    for end in (0, 1, 10, len(whole) // 3, len(whole) // 2, len(whole) - 1, len(whole)):
        file.write_bytes(whole[:end])
        resumed = label(*asked, "-o", file)
        assert file.read_bytes() == whole
        assert resumed.stdout == "" and resumed.exit_code == printed.exit_code
    file.unlink()  # ended before it was begun
    assert label(*asked, "-o", file).exit_code == printed.exit_code
    assert file.read_bytes() == whole


@FORMS
def test_what_was_labelled_is_not_labelled_again(monkeypatch, tmp_path, memory, form):
    file = tmp_path / "labels"
    asked = [memory, "-m", "sc", "-o", file, *in_form(form)]
    label(*asked)
    whole = file.read_bytes()
    monkeypatch.setattr("synth.memory.labels.judge_with", None)
    assert label(*asked).exit_code == 0
    assert file.read_bytes() == whole


def test_killed_and_resumed_the_bytes_are_the_same(tmp_path):
    file, model = tmp_path / "labels.csv", tmp_path / "mine.py"
    # A second each, so that it is killed in the midst.
    model.write_text("import time\ndef guarantee(running, stepped):\n    time.sleep(0.005)\n    return running\n")
    asked = ["label", PROGRESS, PROGRESS, "-m", str(model), "-o", str(file)]
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", *asked]
    with subprocess.Popen(command) as process:
        while process.poll() is None and not (file.exists() and file.read_bytes().count(b"\n") > 3):
            time.sleep(0.001)
        process.kill()
    assert commands.synth(*asked).exit_code == 0
    assert file.read_text() == label(PROGRESS, PROGRESS, "-m", model, "--format", "csv").stdout


HEADER = "file,model,verdict,condition,flags\n"


@pytest.fixture
def begun(tmp_path, monkeypatch, memory):
    """A folder with tests, a model and a file of labels."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(memory, "tests")
    Path("mine.cat").write_text("acyclic po | rf | co | fr as sc\n")
    assert label("tests", "-m", "sc", "-m", "mine.cat", "-o", "labels.csv").exit_code == 0
    return Path("labels.csv")


def resumed(*arguments: object) -> str:
    result = label("tests", "-m", "sc", "-m", "mine.cat", "-o", "labels.csv", *arguments)
    assert result.exit_code == 2 and result.stdout == "" and result.stderr.count("\n") == 1
    return result.stderr


def test_a_model_that_has_changed_is_refused(begun):
    Path("mine.cat").write_text("acyclic rf | co | fr as weaker\n")
    command = [
        sys.executable,
        "-c",
        "from synth.commands.cli import main; main()",
        "label",
        "tests",
        "-m",
        "sc",
        "-m",
        "mine.cat",
    ]
    done = subprocess.run([*command, "-o", "labels.csv"], capture_output=True, text=True)
    assert done.stderr == "synth: labels.csv: cannot go on: mine has changed since; write into another file\n"
    assert (done.returncode, done.stdout) == (2, "")


def test_tests_that_have_changed_are_refused(begun):
    Path("tests/coRR.litmus").write_text(Path("tests/coRR.litmus").read_text() + "\n")
    assert "labels.csv: cannot go on: the tests have changed since" in resumed()


def test_another_request_is_refused(begun):
    assert "it was begun with another unroll, 2" in resumed("--unroll", 3)
    assert "it was begun with another timeout, 60" in resumed("--timeout", 3)
    assert "it was begun with another method, " in resumed("--method", "sat")
    assert "other models, sc, mine, were asked" in resumed("-m", "tso")
    assert 'it was begun with another format, "csv"' in resumed("--json")


def test_nothing_of_the_user_s_is_overwritten(begun):
    before = begun.read_bytes()
    result = label("tests", "-m", "tso", "-o", "labels.csv")
    assert (
        result.exit_code == 2
        and "labels.csv: cannot go on: other models, sc, mine, were asked; write into another file" in result.stderr
    )
    assert begun.read_bytes() == before
    Path("labels.csv.request.json").unlink()
    assert "labels.csv: the file exists, and no labels.csv.request.json is beside it to go on with" in resumed()
    Path("labels.csv.request.json").write_text("[" * 100_000)
    assert "labels.csv.request.json: not the request of such a file" in resumed()
    assert begun.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("what\n", "labels.csv:1:1: expected file,model,verdict,condition,flags"),
        (
            f"{HEADER}other,sc,ALLOWED,true,\nother,mine,ALLOWED,,\n",
            "labels.csv:3:1: expected the verdicts of the tests",
        ),
        (f"{HEADER}x\ny\nz\n", "labels.csv:3:1: expected the verdicts of the tests"),
        (f"{HEADER}{'x' * 200_000}\n\n", "labels.csv:2:1: expected the verdicts of the tests"),
    ],
)
def test_a_file_that_is_no_file_of_labels(begun, text, message):
    begun.write_text(text)
    assert message in resumed()
    assert begun.read_text() == text


def test_misuse(memory):
    assert "-o writes csv or json" in label(memory, "-o", memory / "x", "--format", "table").stderr
