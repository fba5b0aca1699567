"""The corpus folder: what is written, what opens, and what a stopped run leaves."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import jsonschema
import pytest
from commands import synth

import corpus
from corpus.errors import InputError
from corpus.files import write_atomically
from corpus.journal import FoundTest, Journal, finish, is_complete, read_corpus
from corpus.lines import LineFile
from corpus.progress.axb import digest
from corpus.progress.idioms import idioms, tags_of
from corpus.progress.text import print_axb
from corpus.records import record_reader, test_record
from corpus.suite import JOURNAL, MANIFEST, TESTS, is_corpus, write_corpus
from corpus.test import Test
from oracle.progress.models import MODELS, verdicts

REQUEST = {"threads": 2, "models": list(MODELS)}


def make_test(name: str) -> Test:
    """An idiom as a synthesis records it, without a name."""
    program = idioms()[name]
    found = {model: str(verdict) for model, verdict in verdicts(program).items()}
    return Test("", digest(program), print_axb(program), found, tags_of(digest(program)))


def found(*names: str, key: str = "{}") -> FoundTest:
    tests = tuple((key.format(name), test_record(make_test(name))) for name in names)
    return FoundTest(print_axb(idioms()[names[0]]), tests)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.create(tmp_path / "c", REQUEST) as made:
        yield made


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def validate(folder: Path) -> None:
    schemas = Path(corpus.__file__).parent
    schema = json.loads((schemas / "manifest.schema.json").read_text())
    jsonschema.validate(json.loads((folder / MANIFEST).read_text()), schema)
    schema = json.loads((schemas / "test.schema.json").read_text())
    if (folder / TESTS).exists():
        for line in (folder / TESTS).read_text().splitlines():
            jsonschema.validate(json.loads(line), schema)


# A whole corpus


def test_tests_are_sorted_by_key_and_named_by_bound_and_rank(journal):
    journal.append("b", [found("prodcons-increasing", key="2"), found("mutex", key="1")])
    journal.append("a", [found("prodcons-decreasing", key="0")])
    finish(journal, {"complete": True}, {"seconds": 1.5})
    opened = read_corpus(journal.path)
    assert [test.name for test in opened.tests] == ["2x2-0001", "2x4-0001", "2x2-0002"]
    assert [test.tags for test in opened.tests] == [("prodcons-decreasing",), ("mutex",), ("prodcons-increasing",)]
    assert opened.tests[1].verdicts == make_test("mutex").verdicts
    assert list(opened.tests[1].verdicts) == list(MODELS)
    assert opened.manifest["counts"] == {"tests": 3, "bounds": {"2x2": 2, "2x4": 1}}
    assert opened.manifest["request"] == REQUEST
    assert sorted(all_bytes(journal.path)) == ["labels.csv", "manifest.json", "tests.jsonl", "times.json"]
    assert is_complete(journal.path)
    validate(journal.path)


def test_labels_are_one_row_a_test_and_one_column_a_model(journal):
    journal.append("a", [found("mutex")])
    finish(journal, {"complete": True}, {})
    header, row = (journal.path / "labels.csv").read_text().splitlines()
    assert header == "name," + ",".join(MODELS)
    assert row == "2x4-0001," + ",".join(make_test("mutex").verdicts.values())


def test_the_same_test_found_twice_is_one_test_under_its_least_key(journal):
    journal.append("a", [found("mutex", key="5"), found("barrier-2", key="3")])
    journal.append("b", [found("mutex", key="1"), found("mutex", key="9")])
    finish(journal, {"complete": True}, {})
    assert [test.tags for test in read_corpus(journal.path).tests] == [("mutex",), ("barrier-2",)]


def test_bytes_depend_neither_on_the_order_of_work_nor_on_when_it_was_cut(tmp_path):
    parts = [("a", [found("mutex")]), ("b", [found("barrier-2"), FoundTest("dropped by a filter")]), ("a", [])]
    folders = []
    for number, order in enumerate([parts, parts[::-1]]):
        folder = tmp_path / str(number)
        folders.append(folder)
        Journal.create(folder, REQUEST).close()
        for unit, founds in order:
            with Journal.resume(folder, REQUEST) as journal:
                journal.append(unit, founds)
                finish(journal, {"complete": False}, {"run": number})
        with Journal.resume(folder, REQUEST) as journal:
            finish(journal, {"complete": True}, {"run": number})
    first, second = map(all_bytes, folders)
    assert first.pop("times.json") != second.pop("times.json")
    assert first == second


def test_ranks_are_padded_so_that_names_sort(tmp_path):
    tests = [Test("", f"{number:016x}", "THREAD 0\n0: Mem[0] = 1;\n") for number in range(10_000)]
    with Journal.create(tmp_path / "c", {}) as journal:
        journal.append("a", [FoundTest("", tuple((test.digest, test_record(test)) for test in tests))])
        finish(journal, {"complete": True}, {})
    names = [test.name for test in read_corpus(tmp_path / "c").tests]
    assert names[0] == "1x1-00001" and names[-1] == "1x1-10000"
    assert names == sorted(names)


def test_a_selection_is_made_before_names_are_given(journal):
    journal.append("a", [found("mutex"), found("barrier-2")])
    finish(journal, {"complete": True}, {}, select=lambda tests: tests[1:])
    assert [(test.name, test.tags) for test in read_corpus(journal.path).tests] == [("2x4-0001", ("mutex",))]


def test_the_empty_corpus_is_a_corpus(journal):
    finish(journal, {"complete": True}, {})
    assert read_corpus(journal.path).tests == []
    assert (journal.path / TESTS).read_bytes() == b""
    validate(journal.path)


def test_a_corpus_of_given_tests(tmp_path):
    tests = [Test("mutex", "0" * 16, "THREAD 0\n0: Mem[0] = 1;\n", {"mine": "TERMINATES"})]
    write_corpus(tmp_path, tests, {"complete": True})
    opened = read_corpus(tmp_path)
    assert opened.tests == tests
    assert opened.manifest["models"] == ["mine"]
    validate(tmp_path)


@pytest.mark.parametrize("options", [["--instrs", "2"], ["--instrs", "3", "--all"], ["--instrs", "2", "--locs", "1"]])
def test_corpora_of_a_synthesis_keep_to_the_schemas(tmp_path, options):
    arguments = ["progress", "--threads", "2", *options, "-o", str(tmp_path / "c")]
    assert synth(*arguments).exit_code == 0
    assert read_corpus(tmp_path / "c").tests
    validate(tmp_path / "c")


# A corpus that is not finished


def test_an_unfinished_corpus_opens_with_what_was_found(journal):
    assert read_corpus(journal.path).tests == []
    journal.append("a", [found("mutex"), found("barrier-2")])
    opened = read_corpus(journal.path)
    assert [test.name for test in opened.tests] == ["2x4-0001", "2x4-0002"]
    assert opened.manifest["complete"] is False
    assert not is_complete(journal.path)
    validate(journal.path)
    names = [test.name for test in opened.tests]
    finish(journal, {"complete": False}, {})
    assert [test.name for test in read_corpus(journal.path).tests] == names
    assert is_corpus(journal.path) and (journal.path / JOURNAL).exists()


def test_resume_gives_back_what_was_found(journal):
    founds = [found("mutex", "barrier-2"), FoundTest("nothing came of it")]
    journal.append("unit/1", founds[:1])
    journal.append("unit/2", [found("barrier-2")])
    journal.append("unit/1", founds[1:])
    journal.close_unit("unit/1", {"solver calls": 3})
    journal.close()
    with Journal.resume(journal.path, REQUEST) as resumed:
        assert resumed.units == {"unit/1": founds, "unit/2": [found("barrier-2")]}
        assert resumed.closed == {"unit/1": {"solver calls": 3}}
        assert resumed.tests == {"unit/1": 2, "unit/2": 1}
    with Journal.resume(journal.path, REQUEST, lambda closed: closed["solver calls"] == 3) as resumed:
        assert resumed.units == {"unit/2": [found("barrier-2")]}
        assert resumed.tests == {"unit/1": 2, "unit/2": 1}


def test_resuming_removes_files_that_are_about_to_be_out_of_date(journal):
    journal.append("a", [found("mutex")])
    finish(journal, {"complete": False}, {})
    journal.close()
    (journal.path / ".tests.jsonl.4711.tmp").write_text("left by a run that was killed")
    with Journal.resume(journal.path, REQUEST) as resumed:
        resumed.append("a", [found("barrier-2")])
        assert len(read_corpus(journal.path).tests) == 2
    assert sorted(all_bytes(journal.path)) == [JOURNAL, MANIFEST]


def test_resuming_removes_half_a_certificate_and_nobody_s_file(journal):
    certificate = journal.path / "certificate"
    certificate.mkdir()
    for name in ("1.2.cnf.gz", "1.2-0.lrat.gz", ".1.2-0.cnf.gz.4711.tmp", "mine.txt"):
        (certificate / name).write_text("left by a run that was killed")
    journal.close()
    Journal.resume(journal.path, REQUEST).close()
    assert [file.name for file in certificate.iterdir()] == ["mine.txt"]
    (certificate / "mine.txt").unlink()
    Journal.resume(journal.path, REQUEST).close()
    assert not certificate.exists()


@pytest.mark.parametrize("cut", [1, 20, 400])
def test_a_journal_line_that_was_cut_off_is_dropped(journal, cut):
    journal.append("a", [found("mutex")])
    journal.append("a", [found("barrier-2")])
    journal.close()
    path = journal.path / JOURNAL
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert [test.tags for test in read_corpus(journal.path).tests] == [("mutex",)]
    assert path.read_bytes() == whole[:-cut]  # reading changes nothing
    with Journal.resume(journal.path, REQUEST) as resumed:
        assert resumed.units == {"a": [found("mutex")]}
        resumed.append("a", [found("barrier-2")])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("left", [b"", b'{"format":2,"requ'])
def test_a_run_killed_before_its_first_line_can_be_resumed(tmp_path, left):
    (tmp_path / JOURNAL).write_bytes(left)
    assert read_corpus(tmp_path).tests == []
    with Journal.resume(tmp_path, REQUEST) as resumed:
        resumed.append("a", [found("mutex")])
        finish(resumed, {"complete": True}, {})
    assert len(read_corpus(tmp_path).tests) == 1


def test_damage_in_the_middle_of_a_journal_is_reported(journal):
    journal.append("a", [found("mutex")])
    path = journal.path / JOURNAL
    path.write_bytes(path.read_bytes() + b"?\n" + b"\n")
    with pytest.raises(InputError, match=r"journal\.jsonl:3: expected a line of a journal"):
        read_corpus(journal.path)


KILLED = """
    import sys
    from pathlib import Path
    from corpus.records import test_record
    from corpus.journal import FoundTest, Journal
    from corpus.test import Test

    journal = Journal.create(Path(sys.argv[1]), {"threads": 2})
    for number in range(10**9):
        text = "THREAD 0\\n0: Mem[0] = 1;\\n" + "// padding\\n" * 1000
        record = test_record(Test("", f"{number:016x}", text))
        journal.append("a", [FoundTest(str(number), ((f"{number:016x}", record),))])
        print(number, flush=True)
"""


def test_nothing_is_lost_or_doubled_when_a_run_is_killed_while_it_writes(tmp_path):
    folder = tmp_path / "c"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for number in process.stdout:
        if int(number) >= 50:
            process.send_signal(signal.SIGKILL)
            break
    reported = [number, *process.stdout]  # what it had said before the signal came
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    last = int(reported[-1])
    tests = read_corpus(folder).tests
    # The last append may have reached the disk without having been reported.
    assert [int(test.digest, 16) for test in tests] in (list(range(last + 1)), list(range(last + 2)))
    with Journal.resume(folder, {"threads": 2}) as resumed:
        assert [int(given.program) for given in resumed.units["a"]] == list(range(len(tests)))
        resumed.append("a", [FoundTest("more")])
        finish(resumed, {"complete": True}, {})
    assert len(read_corpus(folder).tests) == len(tests)
    validate(folder)


# Misuse


def test_a_folder_that_holds_something_is_not_taken(tmp_path, journal):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("...")
    with pytest.raises(InputError, match=r"mine: the folder exists and is not empty$"):
        Journal.create(tmp_path / "mine", REQUEST)
    with pytest.raises(InputError, match="not empty"):
        Journal.create(journal.path, REQUEST)
    (tmp_path / "file").write_text("...")
    with pytest.raises(InputError, match="cannot create a corpus here: File exists"):
        Journal.create(tmp_path / "file", REQUEST)


def test_two_runs_cannot_share_a_folder(journal):
    with pytest.raises(InputError, match="another process is at work"):
        Journal.resume(journal.path, REQUEST)


def test_resume_needs_a_corpus_and_the_same_request(tmp_path, journal):
    with pytest.raises(InputError, match="no such folder"):
        Journal.resume(tmp_path / "none", REQUEST)
    journal.close()
    with pytest.raises(InputError, match="made with another threads: 2 then, 3 now"):
        Journal.resume(journal.path, REQUEST | {"threads": 3})
    with pytest.raises(InputError, match="made with another locs: null then, 2 now"):
        Journal.resume(journal.path, REQUEST | {"locs": 2})


def test_a_complete_corpus_is_not_resumed(journal):
    journal.append("a", [found("mutex")])
    finish(journal, {"complete": True}, {})
    before = all_bytes(journal.path)
    with pytest.raises(InputError, match="complete; nothing is left to do"):
        Journal.resume(journal.path, REQUEST)
    assert all_bytes(journal.path) == before


@pytest.fixture
def finished(journal: Journal) -> Path:
    journal.append("a", [found("mutex"), found("barrier-2"), found("prodcons-increasing")])
    finish(journal, {"complete": True}, {})
    return journal.path


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda data: data[:-30],
            r"tests\.jsonl:3: the line is cut off; the 2 tests before it are intact; the same synth progress",
        ),
        (lambda data: data[:-1], r"tests\.jsonl:3: the line is cut off"),
        (lambda data: data + b"{}\n", r"tests\.jsonl:4: not a test record; the 3 tests"),
        (lambda data: data + b"\xff\n", r"tests\.jsonl:4: not a test record"),
        (lambda data: data.replace(b'"name":"2x4-0002"', b'"name":7'), r"tests\.jsonl:\d: not a test record"),
        (lambda data: b"".join(data.splitlines(True)[:2]), r"2 tests, all intact, where the manifest promises 3"),
    ],
)
def test_a_damaged_corpus_is_reported_kept_and_can_be_repaired(finished, damage, message):
    whole = all_bytes(finished)
    (finished / TESTS).write_bytes(damage(whole[TESTS]))
    damaged = all_bytes(finished)
    with pytest.raises(InputError, match=message):
        read_corpus(finished)
    assert all_bytes(finished) == damaged
    with Journal.resume(finished, REQUEST) as journal:
        assert journal.units == {}
        journal.append("a", [found("mutex"), found("barrier-2"), found("prodcons-increasing")])
        finish(journal, {"complete": True}, {})
    assert all_bytes(finished) == whole


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"manifest\.json:1:2: not JSON"),
        ("[]", "has no format number"),
        ('{"format": 3, "complete": true}', "format 3 is newer"),
    ],
)
def test_a_manifest_that_cannot_be_used(finished, text, message):
    (finished / MANIFEST).write_text(text)
    with pytest.raises(InputError, match=message):
        read_corpus(finished)


def test_a_corpus_without_its_tests(finished):
    (finished / TESTS).unlink()
    with pytest.raises(InputError, match=r"tests\.jsonl: cannot read: No such file"):
        read_corpus(finished)


# A full disk


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes: the write that would is a short one, the next an error."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_leaves_what_was_written_before(journal):
    journal.append("a", [found("mutex")])
    before = (journal.path / JOURNAL).read_bytes()
    refused = r"journal\.jsonl: cannot write: File too large; what was found"
    with room_for(len(before) + 10), pytest.raises(InputError, match=refused):
        journal.append("a", [found("barrier-2")])
    assert (journal.path / JOURNAL).read_bytes() == before
    journal.append("a", [found("barrier-2")])  # there is room again
    assert len(read_corpus(journal.path).tests) == 2


def test_short_writes_are_gone_on_with(tmp_path):
    class Short(FileIO):
        def write(self, data):
            return super().write(data[:7])

    lines = [b"a line of more than seven bytes", b"", b"and another"]
    with LineFile(tmp_path / "lines", Short(tmp_path / "lines", "w")) as file:
        file.append(lines)
    assert (tmp_path / "lines").read_bytes().splitlines() == lines


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "f"
    write_atomically(path, ["old"])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="cannot write: No space left on device"):
        write_atomically(path, ["new"])
    assert all_bytes(tmp_path) == {"f": b"old"}


def test_a_disk_that_fills_up_at_the_end_keeps_the_journal(journal, monkeypatch):
    journal.append("a", [found("mutex")])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="No space left"):
            finish(journal, {"complete": True}, {})
    assert len(read_corpus(journal.path).tests) == 1
    finish(journal, {"complete": True}, {})
    assert is_complete(journal.path)


def test_records_that_are_none():
    for line in ("", "null", "[]", "{}", '"x"', '{"name":1,"digest":"","text":"","verdicts":{},"tags":[]}'):
        with pytest.raises(ValueError):  # noqa: PT011
            record_reader()(line.encode())


def test_a_fork_that_outlives_its_parent_does_not_keep_a_corpus_locked(tmp_path):
    program = f"""
import os, time
from pathlib import Path
from corpus.lines import LineFile
held = LineFile.open(Path({str(tmp_path / "lines")!r}), "busy")
if os.fork() == 0:
    print("forked", flush=True)
    time.sleep(60)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True) as parent:
        assert parent.stdout.readline() == b"forked\n"
        with pytest.raises(InputError, match="busy"):
            LineFile.open(tmp_path / "lines", "busy")
        parent.kill()
        parent.wait()
        try:
            LineFile.open(tmp_path / "lines", "busy").close()
        finally:
            os.killpg(parent.pid, signal.SIGKILL)
