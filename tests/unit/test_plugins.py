from importlib.metadata import EntryPoint

import pytest
from caches import forget
from refusals import refusal

from corpus.progress.text import parse_axb
from oracle.progress import plugins
from oracle.progress.models import MODELS, hsa, verdicts
from oracle.progress.plugins import resolve_models

MUTEX = parse_axb(
    "THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
    "THREAD 1\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
)


def names(*given):
    return [model.name for model in resolve_models(given)]


def model_file(tmp_path, body, name="mine.py"):
    path = tmp_path / name
    path.write_text(body, encoding="utf-8")
    return str(path)


def refused(*given):
    """The error that naming these models, or judging by them, ends in."""
    return refusal(lambda: verdicts(MUTEX, resolve_models(given)))


def test_no_name_means_all_twelve():
    assert names() == list(MODELS)


def test_a_bare_name_means_both_readings_and_each_model_comes_once():
    assert names("hsa-strong", "hsa", "obe-weak") == ["hsa-strong", "hsa-weak", "obe-weak"]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("hsaa", "did you mean hsa"),
        ("obe_weak", "obe-weak"),
        ("lobe-wek", "lobe-weak"),
        ("HSA", "did you mean hsa?"),
        ("LOBEWEAK", "did you mean lobe-weak"),
        ("zzz", "known, each also"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(given, hint):
    message = refused(given)
    assert f"unknown progress model '{given}'" in message and hint in message and "\n" not in message


def test_a_file_defines_a_model(tmp_path):
    body = "def guarantee(running, stepped):\n    '''Whoever has not ended.'''\n    return running\n"
    path = model_file(tmp_path, body)
    assert names(path, "fair-weak") == ["mine-weak", "mine-strong", "fair-weak"]
    assert set(verdicts(MUTEX, resolve_models([path])).values()) == {"TERMINATES"}
    assert resolve_models([path])[0].guarantee.__doc__ == "Whoever has not ended."


def test_a_file_may_name_its_model(tmp_path):
    assert names(model_file(tmp_path, "NAME = 'top'\ndef guarantee(r, s): return r\n")) == ["top-weak", "top-strong"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def guarantee(running, stepped): return ~running", "promises a thread that is not running"),
        ("def guarantee(running, stepped): return 'all'", "returned 'all', expected a bit mask"),
        ("def guarantee(running): return running", "TypeError"),
        ("def guarantee(running, stepped):\n    x = 1\n    return x // 0", "mine.py:3: guarantee(0b10, 0b11) failed"),
        ("promise = 1", "expected a function guarantee(running, stepped)"),
        ("guarantee = (", "mine.py:1: cannot be loaded: SyntaxError"),
        ("import sys\nsys.exit(3)", "mine.py:2: cannot be loaded: SystemExit"),
        ("NAME = 'hsa'\ndef guarantee(r, s): return r", "the name 'hsa' is a built-in model's"),
        ("NAME = 'a,b'\ndef guarantee(r, s): return r", "is no name for a model"),
    ],
)
def test_a_bad_file_is_answered_in_one_line(tmp_path, body, expected):
    message = refused(model_file(tmp_path, body))
    assert expected in message and "mine.py" in message and "\n" not in message


def test_a_missing_file():
    assert refused("nowhere.py") == "nowhere.py: no such progress model file"


def test_two_models_of_one_name_are_told_apart_by_their_folders(tmp_path):
    files = []
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        files.append(model_file(tmp_path / folder, "def guarantee(r, s): return r\n"))
    assert names(*files, "hsa-weak") == [
        *("old/mine-weak", "old/mine-strong", "new/mine-weak", "new/mine-strong", "hsa-weak"),
    ]
    assert names(files[0]) == ["mine-weak", "mine-strong"]
    same = tmp_path / "old" / "other.py"
    same.write_text("NAME = 'mine'\ndef guarantee(r, s): return r\n")
    assert "two models are called 'mine-weak'" in refused(files[0], str(same))
    again = str(tmp_path / "new" / ".." / "old" / "mine.py")
    assert refused(files[0], again) == f"{again}: the same file as {files[0]}"


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit", "type('Mine', (BaseException,), {})"])
def test_whatever_a_file_raises_is_answered_in_one_line(tmp_path, error):
    message = refused(model_file(tmp_path, f"raise {error}"))
    assert "mine.py:1: cannot be loaded: " in message and "\n" not in message
    if error != "KeyboardInterrupt":
        body = f"def guarantee(r, s):\n    raise {error}\n"
        assert "mine.py:2: guarantee(" in refused(model_file(tmp_path, body, "other-mine.py"))


def test_a_folder_or_a_device_is_no_model(tmp_path):
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    for name in ("folder.py", "zero.py"):
        assert "expected a Python file" in refused(str(tmp_path / name))


def test_an_entry_point_defines_a_model(monkeypatch):
    entry = EntryPoint("vendor", "oracle.progress.models:hsa", plugins.GROUP)
    broken = EntryPoint("broken", "oracle.progress.models:nothing", plugins.GROUP)
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [entry, broken] if group == plugins.GROUP else []
    )
    assert names("vendor", "vendor-strong") == ["vendor-weak", "vendor-strong"]
    assert verdicts(MUTEX, resolve_models(["vendor-weak"])) == {"vendor-weak": "MAY_HANG"}
    assert resolve_models(["vendor-weak"])[0].guarantee(0b110, 0) == hsa(0b110, 0)
    assert "did you mean vendor" in refused("vendr")
    assert "cannot load oracle.progress.models:nothing" in refused("broken-weak")


def test_a_digest_is_that_of_the_file(tmp_path):
    body = "def guarantee(running, stepped): return running\n"
    (tmp_path / "other").mkdir()
    one, same = model_file(tmp_path, body), model_file(tmp_path / "other", body)
    changed = model_file(tmp_path, body + "\n", "changed.py")
    digests = [[model.digest for model in resolve_models([path])] for path in (one, same, changed)]
    assert digests[0] == digests[1] != digests[2]
    assert all(weak == strong for weak, strong in digests)
    forget(plugins)
    model_file(tmp_path, body.replace("running\n", "stepped & running\n"))
    assert resolve_models([one])[0].digest != digests[0][0]
    assert {model.digest for model in resolve_models()} == {""}


def test_a_digest_of_an_entry_point_is_that_of_its_module(monkeypatch):
    values = {"one": "oracle.progress.models:hsa", "other": "corpus.graphs:components"}
    entries = [EntryPoint(name, value, plugins.GROUP) for name, value in values.items()]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    one, _, other, _ = resolve_models(["one", "other"])
    assert len({"", one.digest, other.digest}) == 3
