"""The command line as a user meets it: what is wrong gets one line and exit code 2, and what the help shows works."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path

import click
import pytest
import reported
from click.testing import CliRunner
from mutant_suites import WEAK, write_results, write_suite
from mutant_suites import result as seen
from reported import memory_result, progress_result

from corpus.dialects.registry import read_litmus
from corpus.journal import read_corpus
from corpus.litmus.normal import litmus_digest
from corpus.test import Test
from oracle.cat.syntax import shipped_models
from synth.commands.cli import COMMANDS, GROUPS, main

EXAMPLES = Path(__file__).parents[2] / "examples"
MUTEX = "examples/progress/mutex.axb"


def synth(*arguments, env=None):
    words = [str(word) for word in arguments]
    return CliRunner().invoke(main, words, env=env, prog_name="synth", catch_exceptions=False)


def content(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with the examples, a suite, and everything that can be wrong."""
    folder = tmp_path_factory.mktemp("workplace")
    shutil.copytree(EXAMPLES, folder / "examples")
    assert synth("progress", "-t", 2, "-n", 2, "--all", "-o", folder / "suite").exit_code == 0
    assert synth("progress", "-t", 1, "-n", 1, "-o", folder / "empty").exit_code == 0
    files = {
        "truncated.axb": b"THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) got",
        "range.axb": b"THREAD 0\n0: if (Mem[0] == 0) goto 7;\n",
        "binary.axb": bytes(range(256)),
        "nothing.axb": b"",
        "notests/readme": b"...",
        "nested/inner/a.litmus": b"",
        "model.py": b"def guarantee(running, stepped): return 1 / 0\n",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "hollow").mkdir()

    def damaged(name, file, change):
        shutil.copytree(folder / "suite", folder / name)
        path = folder / name / file
        path.write_bytes(change(path.read_bytes()))

    damaged("cut", "tests.jsonl", lambda data: data[:-40])
    damaged("lost", "tests.jsonl", lambda data: data[: data[:-1].rindex(b"\n") + 1])
    damaged("record", "tests.jsonl", lambda data: data.replace(b'{"name":"2x2-0003"', b'{"nome":"2x2-0003"'))
    damaged("text", "tests.jsonl", lambda data: data.replace(b"THREAD", b"TREAD", 1))
    damaged("manifest", "manifest.json", lambda data: data[:-40])
    damaged("array", "manifest.json", lambda data: b"[]")
    damaged("newer", "manifest.json", lambda data: data.replace(b'"format": 2', b'"format": 3'))
    damaged("numbers", "manifest.json", lambda data: data.replace(b'"models": [', b'"models": [3,'))
    damaged("counted", "manifest.json", lambda data: data.replace(b'"counts": {', b'"counts": 8, "counted": {'))
    damaged("markup", "tests.jsonl", lambda data: data.replace(b'"tags":[]', b'"tags":["[/red]"]'))
    return folder


SMALLEST = "progress -t 2 -n 2 -o new"

WRONG = [
    # Shows 7: a missing file, a truncated one, 0 threads, a jump out of range, an unknown model, a corpus whose last
    # line is cut off, an output folder that exists
    *(
        line
        for command in (
            "label {}",
            "explain {} -m hsa-weak",
            "export {} --to axb -o new",
            "compile {} --backend cpp -o new",
        )
        for line in [
            (command.format("missing.axb"), "missing.axb: cannot read: No such file or directory"),
            (command.format("truncated.axb"), "truncated.axb:4:21: expected goto"),
            (command.format("range.axb"), "range.axb:2:26: jump out of range: expected END or 0..1, found 7"),
            (command.format("binary.axb"), "binary.axb:2:118: cannot read: not UTF-8 text"),
            (command.format("nothing.axb"), "nothing.axb:1:1: expected THREAD, found the end of the file"),
        ]
    ),
    ("progress -t 0 -n 2 -o new", "0 is not in the range x>=1"),
    ("label suite -m hsaa", "unknown progress model 'hsaa'; did you mean hsa"),
    (f"explain {MUTEX} -m hsaa", "unknown progress model 'hsaa'; did you mean hsa"),
    ("select suite --separate-models -m hsaa", "suite: no verdicts of a model 'hsaa'; there are unfair-weak,"),
    ("progress -o new --distinguish hsaa>obe-weak", "unknown progress model 'hsaa'; did you mean hsa"),
    *(
        line
        for command in (
            "show {}",
            "label {}",
            "select {} --separate-models",
            "export {} --to axb -o new",
            "compile {} --backend cuda -o new",
            "run {} --backend cpp",
        )
        for line in [
            (command.format("cut"), "cut/tests.jsonl:8: the line is cut off; the 7 tests before it are intact;"),
            (command.format("lost"), "lost/tests.jsonl: 7 tests, all intact, where the manifest promises 8;"),
            (command.format("record"), "record/tests.jsonl:3: not a test record; the 2 tests before it are intact;"),
            (command.format("manifest"), "manifest/manifest.json:"),
            (command.format("array"), "array/manifest.json: not the manifest of a corpus: it has no format number"),
            (command.format("newer"), "newer/manifest.json: format 3 is newer than this synth, which reads 2"),
            (command.format("numbers"), "numbers/manifest.json: not the manifest of a corpus: 'models' is not"),
            (command.format("counted"), "counted/manifest.json: not the manifest of a corpus: 'counts' is not"),
        ]
    ),
    *(
        (f"{command} text {rest}", "text: 2x2-0001:1:1: expected THREAD, found 'T'")
        for command, rest in [
            ("label", "-m obe"),
            ("explain", "--where 2x2-0001 -m obe"),
            ("export", "--to axb -o new"),
        ]
    ),
    ("explain nested -m sc", "nested/inner/a.litmus:1:1: expected a litmus test's first line"),
    ("explain notests -m sc", "and no index @all, nor does a folder in it; left out: without a suffix (1)"),
    ("progress -t 2 -n 2 -o suite", "suite: the corpus was made with another minimal: false then, true now"),
    ("select suite --separate-models -o notests", "notests: the output exists and is not an empty folder"),
    ("export suite --to axb -o notests", "notests: the output exists and is not an empty folder"),
    ("compile suite --backend cpp -o notests", "notests: the output folder is not empty"),
    # a file where a folder is due, a folder where a file is due, and no way to write
    ("progress -t 2 -n 2 -o model.py", "model.py: cannot create a corpus here: File exists"),
    ("progress -t 2 -n 2 -o model.py/new", "model.py/new: cannot create a corpus here: Not a directory"),
    ("select suite --separate-models -o model.py", "model.py: the output exists and is not an empty folder"),
    ("select suite --separate-models -o model.py/new", "model.py/new: cannot write: File exists"),
    ("export suite --to axb -o model.py", "model.py: the output exists and is not an empty folder"),
    ("compile suite --backend cpp -o model.py/new", "model.py/new: cannot create: Not a directory"),
    ("show model.py", "model.py: no corpus here"),
    ("show suite --picture notests", "'notests' is a directory"),
    ("show suite --picture no/such.svg", "no/such.svg: cannot write: No such file or directory"),
    # folders without tests
    *(
        (f"{command} {folder}{rest}", f"{folder}: the folder is no corpus and holds no .axb file")
        for folder in ("notests", "hollow")
        for command, rest in [
            ("label", ""),
            ("export", " --to axb -o new"),
            ("compile", " --backend cpp -o new"),
            ("run", " --backend cpp"),
        ]
    ),
    ("show notests", "notests: no corpus here: it has neither a manifest.json nor a journal.jsonl"),
    ("select hollow --separate-models", "hollow: no corpus here"),
    ("show missing", "missing: no such folder"),
    # a user's own model
    ("label suite -m missing.py", "missing.py: no such progress model file"),
    ("label suite -m model.py", "model.py:1: guarantee("),
    # synth progress
    ("progress -t 3 -n 2 -o new", "Invalid value for '--instrs': 3 threads need 3 or more, found 2"),
    (
        "progress -t 20 -n 40 -o new",
        "the bound is too large: 40 instructions on 13,947,137,604 states, where at most 1,250",
    ),
    ("progress -t 2 -n 4 --locs 8 --values 16 -o new", "the bound is too large: 4 instructions on 589,824 states"),
    ("progress -t two -n 2 -o new", "'two' is not a valid integer"),
    ("progress -o new", "give --threads and --instrs, or --distinguish to let the bound grow"),
    ("progress -t 2 -n 2 -o new --solver none", "'none' is not one of 'cadical103'"),
    ("progress -o new --distinguish obe-weak", "expected A>B or A>B,C, found 'obe-weak'"),
    ("progress -o new --distinguish obe-weak>obe-strong", "there is no such test"),
    ("progress -t 2 -n 2 --all -o suite", "suite: the corpus is complete; nothing is left to do"),
    ("progress -t 2 -n 3 --all -o suite", "suite: the corpus was made with another instrs: 2 then, 3 now"),
    ("progress -t 2 -n 2 -o notests", "notests: the folder exists and is not empty"),
    # misuse
    ("bogus", "synth: No such command 'bogus'; see synth --help"),
    ("lable suite", "synth: No such command 'lable'; did you mean label? See synth --help"),
    ("label suite --models hsa", "'--model'"),
    # numbers beyond reason
    *(
        (f"{command} {number}", f"expected seconds, a number {least} to 31622400, found '{number}'")
        for command, least in (("label suite --timeout", "above 0"), (f"{SMALLEST} --time-limit", "from 0"))
        for number in ("nan", "inf", "1e18", "-1")
    ),
    ("label suite --timeout 0", "expected seconds, a number above 0"),
    ("label suite -j 1000000", "1000000 is not in the range 1<=x<=1024"),
    ("--memory 1000000000 label suite", "1000000000 is not in the range"),
    ("progress -t 1000000 -n 1000000 -o new", "the bound is too large: 1000000 threads of 1000000 instructions"),
    (
        "progress -t 9000 -n 9000 -o new",
        "the bound is too large: 9000 instructions on more than 1,000,000,000,000",
    ),
    ("progress -t 1000000 -o new --distinguish fair-weak>hsa-weak", "the bound is too large: 1000000 threads"),
    ("progress -n 1000000 -o new --distinguish fair-weak>hsa-weak", "the bound is too large: 2 threads of 1000000"),
    ("--bogus", "synth: No such option '--bogus'; see synth --help"),
    ("label", "synth label: Missing argument 'FILES|FOLDER|CORPUS...'; see synth label --help"),
    ("show suite suite", "Got unexpected extra argument (suite)"),
    ("select suite", "synth select: give either --separate-models or --score; see synth select"),
    ("select suite --separate-models --each 0", "0 is not in the range x>=1"),
    ("export suite -o new", "Missing option '--to'. Choose from: dartagnan-ptx, dartagnan-vulkan, axb,"),
    (
        "compile suite --backend rust -o new",
        "'rust' is not one of 'cuda', 'hip', 'opencl', 'glsl', 'wgsl', 'metal', 'web', 'cpp'",
    ),
    ("run suite --backend cuda --platform no-such", "no CUDA GPU named 'no-such' that works"),
    ("run suite --backend cpp --placement subgroup", "cpp has no work-groups of several threads, and so no placement"),
    ("compile suite --backend cpp --placement all -o new", "cpp has no work-groups of several threads"),
    ("run suite --backend cpp --where none*", "no test has a name that matches none*"),
    (
        "show suite --where obe-weak!=hang",
        "--where obe-weak: expected allowed, forbidden, terminates, hangs or unknown",
    ),
    ("show suite --where obe-weak=", "expected a name, FIELD=VALUE or FIELD!=VALUE, found 'obe-weak='"),
    (f"explain {MUTEX} -m hsa --picture new.svg", "--picture draws one model, and --model names 2"),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line for line, _ in WRONG])
def test_what_is_wrong_gets_one_line_and_loses_nothing(workplace, monkeypatch, line, message):
    monkeypatch.chdir(workplace)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # model.py is a module
    before = content(workplace)
    result = synth(*shlex.split(line.replace(">", "'>'")))
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.startswith("synth") and result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert content(workplace) == before


RIGHT = [
    ("show empty", "empty: 0 tests, complete\n"),
    ("label empty", "T terminates, H may hang\n"),
    ("select empty --separate-models", "0 of 0 tests separate 0 of 66 pairs of models\n"),
    ("export empty --to axb -o nothing", "0 tests in nothing\n"),
    ("show markup --tests", "[/red]"),
    ("label suite -m hsa-weak --format csv", "2x2-0001,hsa-weak,MAY_HANG\n"),
    (f"explain {MUTEX} -m hsa-weak", "MAY_HANG"),
    ("progress -t 2 -n 2 -o minimal", "minimal: 4 tests, complete\n"),
    ("--version", "synth, version "),
]


@pytest.mark.parametrize(("line", "message"), RIGHT, ids=[line for line, _ in RIGHT])
def test_what_is_right_succeeds_and_is_quiet(workplace, monkeypatch, line, message):
    monkeypatch.chdir(workplace)
    result = synth(*shlex.split(line))
    assert result.exit_code == 0 and result.stderr == "", result.stderr
    assert message in result.stdout and "\x1b" not in result.stdout


def test_a_damaged_corpus_is_repaired_by_what_the_message_says(workplace, tmp_path):
    for name in ("cut", "lost", "record", "counted"):
        shutil.copytree(workplace / name, tmp_path / name)
    for name in ("cut", "lost", "record"):
        assert synth("progress", "-t", 2, "-n", 2, "--all", "-o", tmp_path / name).exit_code == 0
        assert (tmp_path / name / "tests.jsonl").read_bytes() == (workplace / "suite" / "tests.jsonl").read_bytes()
    refused = synth("progress", "-t", 2, "-n", 2, "--all", "-o", tmp_path / "counted")
    assert refused.exit_code == 2 and "'counts' is not as it should be" in refused.stderr


@pytest.mark.parametrize(
    "line",
    [
        "show suite --tests --json",
        "select suite --separate-models --json",
        f"explain {MUTEX} -m hsa-weak --json",
        f"label {MUTEX} --json",
        "show empty --json",
        "select empty --separate-models --json",
    ],
)
def test_json_parses(workplace, monkeypatch, line):
    monkeypatch.chdir(workplace)
    assert json.loads(synth(*shlex.split(line)).stdout)


# Help


def help_of(*words):
    result = synth(*words, "--help")
    assert result.exit_code == 0
    return result.stdout


def examples(text):
    """The lines of a help text that are commands, without comments and what a shell would do with their output."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("    synth ")]
    return [re.split(r" {2,}| [|>] ", line)[0] for line in lines]


def test_the_help_lists_every_command_and_each_has_examples():
    groups = help_of().partition("\nMake tests:\n")[2].splitlines()
    assert [line.split()[0] for line in groups if line.startswith("  ")] == list(COMMANDS)
    assert [line.rstrip(":") for line in groups if line[:1].strip()] == [*GROUPS][1:]
    for name in COMMANDS:
        text = help_of(name)
        assert examples(text), name
        assert all(re.match(rf"synth (--\S+ \S+ )?{name} ", f"{line} ") for line in examples(text))
        for option in main.get_command(None, name).params:
            assert option.name == "help" or not isinstance(option, click.Option) or option.help


CLASSIC = 'synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 4 -m ptx-rmo -o classic'


LONG = (
    "synth map examples/mappings/rc11-to-tso.map",
    "synth map examples/mappings/rc11-scoped-to-ptx.map --scopes gpu",
)
"""Examples of the help that take ten seconds each; of fewer events one."""


def run_examples(lines):
    for line in lines:
        words = [part for word in shlex.split(line)[1:] for part in (sorted(glob(word)) if "*" in word else [word])]
        result = synth(*words)
        # Comparisons find a difference each, translations an outcome each, and one mapping is wrong.
        found = int(words[0] in ("compare", "validate") or any("unfenced" in word for word in words))
        assert result.exit_code == found, f"{line}: {result.stderr}"


def test_the_first_tour_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES, "examples")
    tour = examples(help_of())
    assert [line.split()[1] for line in tour] == ["progress", "show", "explain", "compile", "run"]
    run_examples(tour[:-1])


ELSEWHERE = ("check", "devices", "diff", "harden", "import", "infer", "run", "tune")
LONG_EXAMPLES = ("compare", "fix", "label", "map", "memory", "report")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in LONG_EXAMPLES))
        for name in COMMANDS
        if name not in ELSEWHERE
    ],
)
def test_the_examples_of_the_help_run(workplace, tmp_path, monkeypatch, name):
    """Those that need a compiler or a device are run by ``tests/device``, those of results by their own tests."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES, "examples")
    if name != "progress":
        shutil.copytree(workplace / "suite", "suite")
    if name in ("show", "export", "explain", "report"):
        run_examples([CLASSIC])
    if name == "verify":
        run_examples(["synth progress --threads 2 --instrs 3 --all --certify -o all"])
        run_examples(["synth memory --from tso --events 2..3 --certify -o tso"])
        run_examples(['synth memory --edges "PodWW PodRR Rfe Fre" -o mp'])
        Path("herd7").write_text("#!/bin/sh\necho Observation X Never 0 3\n")
        Path("herd7").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    if name == "report":
        sb = Path("examples", "memory", "c-sb-sc.litmus")
        memory = Test(sb.stem, litmus_digest(read_litmus(sb)), sb.read_text())
        reported.write_results(Path("memory.jsonl"), [memory_result(memory, (((0, 1), 9),), terms=("P0:r0", "P1:r1"))])
        for number, folder in enumerate("ab"):
            Path(folder).mkdir()
            test = read_corpus(Path("suite")).tests[number]
            reported.write_results(Path(folder, "results.jsonl"), [progress_result(test, "T" * 20)])
    if name in ("select", "score"):
        write_suite(Path("tso"))
        for device in ("laptop", "phone"):
            write_results(Path(f"{device}.jsonl"), [(seen(WEAK, 3, device=device), (1.0,))])
    shutil.copy(EXAMPLES / "progress" / "mutex.axb", tmp_path)
    Path("my-ptx.cat").write_text(Path(shipped_models()["ptx-6.0"]).read_text().replace("po-loc?; ", ""))
    model = re.search(r"^    NAME = .*\n(?:    .*\n)+", help_of("label"), re.MULTILINE)
    Path("my_scheduler.py").write_text(re.sub(r"^    ", "", model[0], flags=re.MULTILINE))
    lines = [line for line in examples(help_of(name)) if "--check" not in line]
    run_examples(f"{line} --events ..3" if line in LONG else line for line in lines)


@pytest.mark.slow
def test_the_examples_of_the_help_that_take_long_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES, "examples")
    assert {*LONG} <= {*examples(help_of("map"))}
    run_examples(LONG)


def test_synth_alone_shows_its_help():
    result = synth()
    assert result.exit_code == 2 and all(f"\n{heading}:\n" in result.stderr for heading in GROUPS)


# Shells and terminals


def completions(line):
    words = line.split(" ")
    env = {"_SYNTH_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    result = synth(env=env)
    return [item.partition(",")[2] for item in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("synth s", ["select", "show", "score"]),
        ("synth label --model obe", ["obe", "obe-weak", "obe-strong"]),
        ("synth explain mutex.axb -m lobe-", ["lobe-weak", "lobe-strong"]),
        ("synth select suite -m unfair-", ["unfair-weak", "unfair-strong"]),
        ("synth export suite --to dart", ["dartagnan-ptx", "dartagnan-vulkan", "dartagnan-opencl"]),
        ("synth compile suite --backend ", ["cuda", "hip", "opencl", "glsl", "wgsl", "metal", "web", "cpp"]),
        ("synth progress --solver z", ["z3"]),
        ("synth select suite --sep", ["--separate-models"]),
    ],
)
def test_completion(line, expected):
    assert completions(line) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    result = synth(env={"_SYNTH_COMPLETE": f"{shell}_source"})
    assert result.exit_code == 0 and "_SYNTH_COMPLETE" in result.stdout


def test_a_full_disk_and_an_interrupt_get_one_line(workplace, monkeypatch):
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", "show", str(workplace / "suite")]
    with open("/dev/full", "w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (result.returncode, result.stderr) == (2, "synth: No space left on device\n")

    def interrupted(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("synth.commands.show.read_corpus", interrupted)
    stopped = synth("show", workplace / "suite")
    assert (stopped.exit_code, stopped.stderr) == (130, "synth: interrupted\n")


def test_a_reader_that_has_seen_enough_is_no_error(workplace):
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", "label", str(workplace / "suite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
