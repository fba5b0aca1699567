import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from bruteforce import all_tests
from commands import printed

from corpus.progress.axb import digest
from corpus.progress.text import print_axb
from corpus.suite import write_corpus
from corpus.test import Test
from oracle.progress.models import MODELS, verdicts
from synth.accounts import Account, in_columns

EXAMPLES = Path(__file__).parents[2] / "examples" / "progress"
MUTEX = str(EXAMPLES / "mutex.axb")


def table(text):
    return list(csv.reader(io.StringIO(text)))


def test_csv_has_exactly_three_columns():
    rows = table(printed("label", MUTEX, "--model", "hsa-weak", "--model", "obe", "--format", "csv"))
    assert rows == [
        ["file", "model", "verdict"],
        [MUTEX, "hsa-weak", "MAY_HANG"],
        [MUTEX, "obe-weak", "TERMINATES"],
        [MUTEX, "obe-strong", "TERMINATES"],
    ]


def test_a_folder_is_labelled_under_all_models():
    rows = table(printed("label", EXAMPLES, "--format", "csv"))[1:]
    assert len(rows) == 12 * len(list(EXAMPLES.glob("*.axb")))
    assert [row[1] for row in rows[:12]] == list(MODELS)
    assert rows[0][0] == str(EXAMPLES / "barrier-2.axb")


def test_json_and_table():
    (line,) = printed("label", MUTEX, "--json", "--model", "hsa").splitlines()
    assert json.loads(line)["verdicts"] == {"hsa-weak": "MAY_HANG", "hsa-strong": "MAY_HANG"}
    assert "mutex.axb" in printed("label", MUTEX)


@pytest.fixture(scope="module")
def lying_corpus(tmp_path_factory):
    """A corpus whose verdicts are wrong, of more tests than one process labels."""
    path = tmp_path_factory.mktemp("corpus")
    tests = [
        Test(f"t{number:04}", digest(program), print_axb(program), {"fair-weak": "UNKNOWN"})
        for number, program in enumerate(all_tests(2, 3) * 4)
    ]
    write_corpus(path, tests, {"complete": True})
    return path


def test_a_corpus_is_labelled_anew_with_any_number_of_processes(lying_corpus):
    one = printed("label", lying_corpus, "--format", "csv", "-j", "1")
    assert one == printed("label", lying_corpus, "--format", "csv", "-j", "2")
    said = verdicts(all_tests(2, 3)[5])
    assert table(one)[1 + 12 * 5 : 1 + 12 * 6] == [["t0005", name, verdict] for name, verdict in said.items()]
    assert "UNKNOWN" not in one


@pytest.mark.parametrize("command", ["label", "explain"])
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["missing.axb", "--model", "hsa"], "missing.axb: cannot read"),
        ([MUTEX, "--model", "hsaa"], "unknown progress model 'hsaa'; did you mean hsa"),
        ([MUTEX, "--model", "none.py"], "none.py: no such progress model file"),
    ],
)
def test_wrong_input_gets_one_line(command, args, expected):
    message = printed(command, *args, exit_code=2)
    assert expected in message and message.count("\n") == 1


def test_a_model_of_the_user_s(tmp_path):
    path = tmp_path / "last.py"
    path.write_text("def guarantee(running, stepped):\n    return 1 << running.bit_length() >> 1\n", encoding="utf-8")
    rows = table(printed("label", EXAMPLES / "prodcons-decreasing.axb", "--model", path, "--format", "csv"))
    assert [row[1:] for row in rows[1:]] == [["last-weak", "TERMINATES"], ["last-strong", "TERMINATES"]]
    assert "last promises execution to {1}" in printed("explain", EXAMPLES / "prodcons-increasing.axb", "--model", path)


@pytest.mark.parametrize(
    ("example", "model"),
    [
        ("mutex", "hsa-weak"),
        ("mutex", "obe-weak"),
        ("philosophers-simplified", "fair-weak"),
        ("philosophers-simplified", "fair-strong"),
        ("prodcons-bidirectional", "lobe-strong"),
        ("prodcons-increasing", "unfair-weak"),
    ],
)
def test_the_text_of_an_explanation(example, model, golden):
    golden(f"explain/{example}.{model}.txt", printed("explain", EXAMPLES / f"{example}.axb", "--model", model))


def test_explanation_as_json():
    record = json.loads(printed("explain", MUTEX, "--model", "hsa-weak", "--json"))
    assert record["verdict"] == "MAY_HANG" and record["exits"] == []
    assert record["lasso"]["starved"] == [1] and record["lasso"]["promised"] == [0]
    (spin,) = record["lasso"]["cycle"]
    assert (spin["text"], spin["taken"], spin["fair"]) == ("if (Exch(Mem[0],1) == 1) goto 0;", True, [0])
    assert json.loads(printed("explain", MUTEX, "--model", "obe-weak", "--json"))["lasso"] is None


def test_pictures_are_the_same_bytes_and_show_fig_6(tmp_path):
    pictures = []
    for number in range(2):
        svg, dot = tmp_path / f"{number}.svg", tmp_path / f"{number}.dot"
        printed("explain", MUTEX, "--model", "obe-weak", "--picture", svg)
        printed("explain", MUTEX, "--model", "obe-weak", "--picture", dot)
        pictures.append((svg.read_bytes(), dot.read_bytes()))
    assert pictures[0] == pictures[1]
    svg, dot = (data.decode() for data in pictures[0])
    labels = [text.text for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    # Fig. 6(b): 12 states A to L, 16 transitions, two of them spins with both threads promised.
    assert sum(label.startswith("mem") for label in labels) == dot.count('[label="mem') == 12
    assert sum("{" in label for label in labels) == dot.count(" -> ") == 16
    assert labels.count("T0 {0,1}") == labels.count("T1 {0,1}") == 2
    assert dot.count("peripheries=2") == 1


def test_the_starving_cycle_is_marked(tmp_path):
    for name in ("a.svg", "a.dot"):
        printed("explain", MUTEX, "--model", "hsa-weak", "--picture", tmp_path / name)
    dot = (tmp_path / "a.dot").read_text(encoding="utf-8")
    spins = [line for line in dot.splitlines() if 'color="#cf222e" fontcolor' in line]
    assert len(spins) == 1 and 's2 -> s2 [label="T0 {0}"' in spins[0]
    assert dot.count('[label="mem') == 8  # Fig. 6(a)
    assert "T1 starves" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_a_picture_shows_one_model(tmp_path):
    message = printed("explain", MUTEX, "--model", "hsa", "--picture", tmp_path / "a.svg", exit_code=2)
    assert "hsa-weak, hsa-strong" in message and not (tmp_path / "a.svg").exists()


def test_a_picture_that_cannot_be_written(tmp_path):
    assert "cannot write" in printed(
        "explain", MUTEX, "--model", "hsa-weak", "--picture", tmp_path / "no" / "a.svg", exit_code=2
    )


def test_models_side_by_side(tmp_path):
    svg, dot = tmp_path / "both.svg", tmp_path / "both.dot"
    asked = ("explain", MUTEX, "-m", "hsa-weak", "-m", "obe-weak", "--side-by-side", "--picture")
    text = printed(*asked, svg)
    assert printed(*asked, dot) == text
    lines = text.splitlines()
    assert lines[0] == "mutex" and max(map(len, lines)) <= 160
    (heading,) = [line for line in lines if "MAY_HANG" in line]
    assert heading.split(" | ")[0].rstrip() == "hsa-weak: MAY_HANG" and heading.endswith(" | obe-weak: TERMINATES")
    words = [node.text for node in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    wanted = ["mutex", "mutex under hsa-weak: MAY_HANG, T1 starves", "mutex under obe-weak: TERMINATES, every run ends"]
    assert [word for word in words if "mutex" in word] == wanted
    assert dot.read_text(encoding="utf-8").count("digraph") == 2
    assert printed(*asked, svg) == text

    alone = printed("explain", MUTEX, "-m", "hsa-weak", "--side-by-side", "--picture", svg)
    assert " | " not in alone
    before = svg.read_bytes()
    printed("explain", MUTEX, "-m", "hsa-weak", "--picture", svg)
    assert svg.read_bytes() == before
    data = ("explain", MUTEX, "-m", "hsa", "--json")
    assert printed(*data, "--side-by-side") == printed(*data)


def test_columns_share_what_room_there_is():
    accounts = [
        Account("MP", "sc", "FORBIDDEN", "exists (x == 1)", "It is so,\n  a -po-> b -rfe-> c -po-> d -fr-> a\n\nyes"),
        Account("MP", "rmo", "ALLOWED", "exists (x == 1)", "ok"),
    ]
    assert in_columns(accounts, 60).splitlines() == [
        "MP",
        "",
        "exists (x == 1)",
        "",
        "sc: FORBIDDEN                        | rmo: ALLOWED",
        "                                     |",
        "It is so,                            | ok",
        "  a -po-> b -rfe-> c -po-> d -fr-> a |",
        "                                     |",
        "yes                                  |",
    ]
    assert in_columns(accounts, 40).splitlines()[6:] == [
        "It is so,                 | ok",
        "  a -po-> b -rfe-> c      |",
        "      -po-> d -fr-> a     |",
        "                          |",
        "yes                       |",
    ]
    assert {line.count(" | ") for line in in_columns([accounts[0]] * 3, 10).splitlines()[6:7]} == {2}
