"""What is exported for herd7 means there what it means here, and its library means here what it means there."""

import csv
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import synth
from herd7_verdicts import TABLE, TESTS, said_by_herd7, said_here, table

from backends.shared.layout import outcome_terms
from backends.shared.results import read_results
from corpus.dialects.registry import read_litmus
from oracle.consistency import load_model, resolve_consistency_models
from oracle.executions.judge import outcomes as allowed_outcomes

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
OPTIONS = {"herd-c": ["-variant", "NoRMW"], "herd-lisa": ["-bell", "synth.bell"]}

# Values that justify themselves: herd7 solves equations of values, and has no such executions.
THIN_AIR = "thin-air"

pytestmark = pytest.mark.skipif(
    shutil.which("herd7") is None, reason="no herd7 (herdtools7) among the programs here, which reads what is exported"
)


@pytest.mark.parametrize("target", OPTIONS)
def test_herd7_says_the_same(tmp_path, target):
    folder = tmp_path / "out"
    synth("export", EXAMPLES, "--to", target, "-o", folder)
    files = (folder / "@all").read_text("utf-8").split()
    for file in sorted((folder / "models").iterdir()):
        done = subprocess.run(
            ["herd7", *OPTIONS[target], "-model", f"models/{file.name}", "@all"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == "", file.name
        said = dict(re.findall(r"^Observation (\S+) (\w+) ", done.stdout, re.MULTILINE))
        (model,) = resolve_consistency_models([file.stem])
        ours = {name: model.judge(read_litmus(folder / name)).answer for name in files}
        assert {name.removesuffix(".litmus") for name in files} == set(said)
        for name, answer in ours.items():
            stem = name.removesuffix(".litmus")
            if THIN_AIR not in stem:
                assert (said[stem] == "Never") == (answer == "FORBIDDEN"), (file.name, name)


def test_the_outcomes_of_herd7_come_back(tmp_path):
    """Imported, they are those that the model allows here, of every test that was exported."""
    folder, results = tmp_path / "out", tmp_path / "results.jsonl"
    tests = sorted(EXAMPLES.glob("c-*.litmus"))
    synth("export", *tests, "--to", "herd-c", "-o", folder)
    command = ["herd7", "-variant", "NoRMW", "-model", "models/rc11.cat", "@all"]
    (tmp_path / "log").write_bytes(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout)
    command = ["import", str(tmp_path / "log"), "--suite", str(EXAMPLES), "-o", str(results)]
    assert synth(*command).exit_code == 0
    (model,) = resolve_consistency_models(["rc11"])
    imported = {result.test: {values for values, _ in result.outcomes} for result in read_results(results)}
    assert set(imported) == {file.stem for file in folder.glob("*.litmus")}
    for name, outcomes in imported.items():
        test = read_litmus(folder / f"{name}.litmus")
        if THIN_AIR not in name:
            finals = map(dict, allowed_outcomes(test, model.model))
            terms = outcome_terms(test)
            assert outcomes == {tuple(final[term] for term in terms) for final in finals}, name


def test_a_suite_is_verified_with_it(tmp_path):
    command = ["memory", "--from", "tso", "--events", "2..4", "-m", "sc", "-o", str(tmp_path / "c")]
    assert synth(*command).exit_code == 0
    result = synth("verify", tmp_path / "c", "--with", "herd7")
    assert result.exit_code == 0
    assert "herd7 agrees on 16 under tso, 16 under sc, of 16 tests" in result.output


def test_the_table_of_its_verdicts_is_what_it_says(request):
    made = table(lambda model: said_by_herd7(TESTS, model))
    if request.config.getoption("--promote"):
        TABLE.write_text(made, encoding="utf-8")
    assert made == TABLE.read_text("utf-8"), "if it should change: pytest --promote"


@pytest.mark.parametrize("processor", ["armv8", "power", "riscv", "x86"])
def test_the_verdicts_on_assembly_are_what_it_says(processor, tmp_path):
    """By its own model of each processor, of the tests of ``herd7_assembly.csv``."""
    with (Path(__file__).parents[1] / "verdicts/herd7_assembly.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["processor"] == processor]
    for number, row in enumerate(rows):
        language, _, rest = row["test"].split(maxsplit=2)
        (tmp_path / f"t{number}.litmus").write_text(f"{language} t{number}\n{rest}\n", encoding="utf-8")
    (tmp_path / "@all").write_text("".join(f"t{number}.litmus\n" for number in range(len(rows))), encoding="utf-8")
    done = subprocess.run(["herd7", "@all"], cwd=tmp_path, capture_output=True, text=True, check=True)
    said = dict(re.findall(r"^Observation t(\d+) (\w+) ", done.stdout, re.MULTILINE))
    assert len(said) == len(rows)
    for number, row in enumerate(rows):
        assert (said[str(number)] == "Never") == (row["verdict"] == "FORBIDDEN"), row["test"]


LIBRARY = [
    "c11_base",
    "c11_orig",
    "c11_partialSC",
    "c11_simp",
    "simple-c11",
    "rc11",
    "simple-arm",
    "arm",
    "arm-alt",
    "armllh",
    "atom",
    "ppc",
    "lessrelaxed",
    "qualcomm",
    "fulleieio",
    "x86tso",
    "mips",
    "mips-tso",
    "sc",
    "sccat",
    "uni",
    "uniproc",
    "uniproc+sca",
    "uniproccat",
    "cos-opt",
    "herdcat",
    "prettycat",
]
"""Models of herd7's library that have no values out of thin air."""
OF_TWO_EVENTS = {"sccat", "mips", "mips-tso"}
"""Models that mention ``rmw``, and mean something else where it is empty."""


@pytest.mark.parametrize("name", LIBRARY)
def test_its_library_means_the_same(name):
    options = ["-variant", "NoRMW"] if name in OF_TWO_EVENTS else []
    path = library() / f"{name}.cat"
    said, model = said_by_herd7(TESTS, path, *options), load_model(str(path))
    assert len(said) == len(TESTS)
    for test in map(read_litmus, TESTS):
        outcomes, flags = said_here(test, model)
        assert outcomes == said[test.name][0], test.name
        assert bool(flags) == bool(said[test.name][1]), test.name  # of undefined_unless it says *undef*


def library():
    """The folder of herd7's models."""
    return Path(subprocess.run(["herd7", "-libdir"], capture_output=True, text=True, check=True).stdout.strip())
