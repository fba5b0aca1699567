"""What the files of a test say of it: JSON that no name of a test can get out of."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import synth
from hypothesis import given
from hypothesis import strategies as st

from backends.registry import BACKENDS
from backends.shared.hosting import TrialReport
from backends.shared.layout import Parameters, place
from backends.shared.log import as_comment, as_string
from backends.shared.profiles import read_profile
from corpus.dialects.registry import parse_litmus
from corpus.litmus.normal import litmus_digest
from corpus.progress.axb import digest
from corpus.progress.text import parse_axb

MUTEX = parse_axb("THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\nTHREAD 1\n0: Mem[0] = 1;\n")
SB = parse_litmus("C SB\n{}\nP0 (atomic_int* x) { atomic_store(x, 1); }\nexists (x = 1)\n")
HOSTILE = ('"; #error\n', "*/ int main", "\\", "??/", "%s%n", "</script>", "\u2028\r\n", "\x00", "$name ${name}", "END")

CPP_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\?": "?"}


def read_string(text: str) -> str:
    """The value of the string of C++ that ``as_string`` wrote, as the language's lexer reads it."""
    written = re.fullmatch(r'\nconst char TRIAL\[\] = "((?:[^"\\\n]|\\.)*)";\n', text)
    assert written
    return re.sub(r"\\.", lambda escape: CPP_ESCAPES[escape[0]], written[1])


@given(st.text(max_size=30) | st.sampled_from(HOSTILE))
def test_json_in_a_string_and_in_a_comment(name: str) -> None:
    trial = json.dumps({"test": name})
    assert read_string(as_string(trial)) + "}" == trial
    assert "??" not in as_string(trial)
    comment = as_comment(trial)
    assert comment.isascii() and comment.count("\n") == 1 and not comment.endswith("\\\n")
    assert TrialReport(comment, 3).trial == {"test": name, "iterations": 3}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("backend", ["cuda", "hip", "opencl", "wgsl", "metal", "cpp"])
def test_files_say_which_test_they_are(name: str, backend: str) -> None:
    language = BACKENDS[backend]
    shape = language.launch(MUTEX, "chunked", 4)
    text = next(iter(language.progress_files(name, shape).values()))
    line = text.rstrip("\n").rpartition("\n")[2]
    found = line.removeprefix("// trial ") if line.startswith("// ") else read_string(f"\n{line}\n") + "}"
    assert json.loads(found) == {
        "test": name,
        "digest": digest(MUTEX),
        "backend": backend,
        "mapping": "chunked",
        "instances": 4,
        "every_iteration": False,
    }
    text = next(iter(language.progress_files(name, shape, "00ff").values()))
    assert "00ff" in text and digest(MUTEX) not in text


def test_memory_files_say_which_test_they_are() -> None:
    layout = place(SB, Parameters(instances=100, stress=1))
    text = next(iter(BACKENDS["opencl"].memory_files("a", layout).values()))
    assert json.loads(text.rstrip("\n").rpartition("// trial ")[2]) == {
        "test": "SB",
        "digest": litmus_digest(SB),
        "backend": "opencl",
        "instances": 128,
        "stress": True,
        "terms": ["x"],
    }


def test_a_program_says_its_profile(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "mine"\nstress = 2\ninstances = 64\n')
    (tmp_path / "SB.litmus").write_text("C SB\n{}\nP0 (atomic_int* x) { atomic_store(x, 1); }\nexists (x = 1)\n")
    command = ["compile", tmp_path / "SB.litmus", "--backend", "opencl", "-o", tmp_path / "out"]
    command += ["--profile", tmp_path / "mine.toml"]
    assert synth(*command).exit_code == 0
    trial = json.loads((tmp_path / "out" / "SB.cl").read_text().rstrip("\n").rpartition("// trial ")[2])
    assert (trial["instances"], trial["stress"]) == (64, True)
    assert trial["profile"] == read_profile(tmp_path / "mine.toml").label


def test_nothing_is_said_of_an_unknown_test(capsys: pytest.CaptureFixture[str]) -> None:
    for text, iterations in (("a file from elsewhere", 3), (as_comment('{"test":"t"}'), 0)):
        said = TrialReport(text, iterations)
        said.runs_on("a device")
        said.began()
        said.counted()
    unknown = TrialReport(as_comment('{"test":"t"}'), 3)
    unknown.failed("no device")
    assert capsys.readouterr().out == ""


def test_hosts_are_shipped_whole() -> None:
    for language in BACKENDS.values():
        for text in language.companions.values():
            assert "class TrialReport" in text and "import backends" not in text and "from backends" not in text
            compile(text, "host", "exec")
