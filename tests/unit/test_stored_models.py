"""The models that the user's cache stores: what parsing them gives, whatever is in the cache, and whatever it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from corpus.cache import CacheRoom
from corpus.errors import InputError
from corpus.files import folder_of
from oracle.cat.stored import READER
from oracle.cat.syntax import read_afresh, read_cat, shipped_models
from oracle.cat.terms import MOST_NESTED

ROOT = Path(__file__).parents[2]
SHIPPED = [*map(Path, shipped_models().values()), folder_of("oracle.cat") / "prelude.cat"]
PATHS = [*SHIPPED, *(ROOT / "examples" / "models").glob("*.cat"), *folder_of("oracle.cat").glob("library/*.cat")]
LABEL = ("label", "examples/memory/c-mp-rel-acq.litmus", "--model", "rc11", "--model", "examples/models/my-model.cat")
BELL = "\"mine\"\nenum Access = 'Once || 'Strong\ninstructions R[{'Once, 'Strong}]\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def folder(tmp_path):
    """The models that ship, as a user's own."""
    return Path(shutil.copytree(folder_of("oracle") / "models", tmp_path / "models"))


def stored(cache):
    return sorted(cache.glob("??/*"))


def afresh(path, bell=None):
    return read_afresh(Path(path).read_text(encoding="utf-8"), str(path), bell)[0]


def is_read_afresh(path, bell=None):
    """Whether the cache has nothing of a model, which is read and holds what it should either way."""
    read = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oracle.cat.syntax.read_afresh", lambda *of: read.append(of) or read_afresh(*of))
        assert read_cat(str(path), bell) == afresh(path, bell)  # positions, too
    return bool(read)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_what_is_stored_is_what_is_read(path, tmp_path, cache):
    folder = tmp_path / "models"  # where files do not change while a command runs, one is read once
    shutil.copytree(path.parent, folder)
    assert is_read_afresh(folder / path.name) and len(stored(cache)) == 1
    assert not is_read_afresh(folder / path.name)
    folder.rename(tmp_path / "elsewhere")
    assert not is_read_afresh(tmp_path / "elsewhere" / path.name) and len(stored(cache)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "let inner(r) = map (fun e -> e) r\nacyclic po as sc\n",  # a name of the library, which is not included
        "let rec all(s) = match s with || {} -> 0 || e ++ es -> all es end\nacyclic all(W) as m\n",
        'if "variant"\ninclude "gone.cat"\nend\nacyclic po as sc\n',
        f"acyclic {'(' * 100}{'~' * (MOST_NESTED - 2)}po{')' * 100} as deep\n",
        "// nothing\n",
        '"Tïtle"\nacyclic po as "näme"\n',
    ],
)
def test_whatever_the_language_says_is_stored(text, tmp_path, cache):
    (tmp_path / "m.cat").write_text(text, encoding="utf-8")
    assert is_read_afresh(tmp_path / "m.cat") and not is_read_afresh(tmp_path / "m.cat")
    assert len(stored(cache)) == 1


def test_a_model_after_a_bell_file_is_another(tmp_path, cache):
    (tmp_path / "my.bell").write_text(BELL)
    (tmp_path / "m.cat").write_text("empty Strong as none\nacyclic po as sc\n")
    path, bell = tmp_path / "m.cat", str(tmp_path / "my.bell")
    assert is_read_afresh(path) and is_read_afresh(path, bell) and len(stored(cache)) == 2
    assert not is_read_afresh(path) and not is_read_afresh(path, bell)
    (tmp_path / "my.bell").write_text(BELL + "(* more *)\n")
    assert is_read_afresh(path, bell) and not is_read_afresh(path)


@pytest.mark.parametrize("name", ["rmo.cat", "parts/rmo.cat"])
def test_a_model_is_read_anew_where_a_text_of_it_has_changed(folder, name):
    assert is_read_afresh(folder / "rmo.cat") and is_read_afresh(folder / "sc.cat")
    (folder / name).write_text((folder / name).read_text(encoding="utf-8") + "\nempty _ as nothing\n", encoding="utf-8")
    assert is_read_afresh(folder / "rmo.cat") and not is_read_afresh(folder / "sc.cat")
    assert "nothing" in {getattr(statement, "name", "") for statement in read_cat(str(folder / "rmo.cat")).statements}


def test_a_model_of_another_name_has_another_title(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.cat").write_text("acyclic po as sc\n")
        assert is_read_afresh(tmp_path / f"{name}.cat") and not is_read_afresh(tmp_path / f"{name}.cat")
        assert read_cat(str(tmp_path / f"{name}.cat")).title == name


def test_what_an_inclusion_leads_to_may_change(tmp_path):
    path = tmp_path / "m.cat"
    path.write_text('include "cross.cat"\ninclude "part.cat"\nacyclic po as sc\n')
    (tmp_path / "part.cat").write_text("empty 0 as nothing\n")
    assert is_read_afresh(path) and not is_read_afresh(path)
    (tmp_path / "cross.cat").write_text("let mine = po\n")  # nearer than that of the library
    assert is_read_afresh(path) and not is_read_afresh(path)
    (tmp_path / "cross.cat").unlink()
    assert is_read_afresh(path)
    (tmp_path / "part.cat").unlink()
    with pytest.raises(InputError, match=r"cannot include part\.cat"):
        read_cat(str(path))


def resealed(whole: bytes, path: Path) -> bytes:
    """A file of the cache whose checksum is right, and that has another syntax."""
    _, inclusions, _ = whole.decode().split("\n")
    parts = (path.name, [], "[]", json.dumps({"Name": [inclusions]}))
    return "\n".join([sha256(json.dumps(parts).encode()).hexdigest(), *parts[2:]]).encode()


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole, _: b"",
        lambda whole, _: b"\n\n",
        lambda whole, _: b"\x00\xff" * 5000,
        lambda whole, _: b"[" * 100_000,
        lambda whole, _: b"\n" + b"[" * 100_000 + b"\n",
        lambda whole, _: whole[: len(whole) // 2],
        lambda whole, _: whole[:-1],
        lambda whole, _: whole + b"\n",
        lambda whole, _: whole.replace(b"po", b"co"),
        lambda whole, _: whole.replace(b"[0, ", b"[1, "),
        lambda whole, _: whole.split(b"\n")[0] + b'\n[[7, "sc.cat", 1]]\n{}',
        lambda whole, _: whole.split(b"\n")[0] + b'\n[[0, 5, "x"], 3]\nnull',
        lambda whole, _: whole.split(b"\n")[0] + b'\n{"a": 1}\nnull',
        resealed,
    ],
)
def test_a_damaged_file_is_written_anew(damage, folder, cache):
    path = folder / "rmo.cat"
    assert is_read_afresh(path)
    (file,) = stored(cache)
    whole = file.read_bytes()
    file.write_bytes(damage(whole, file))
    assert file.read_bytes() != whole
    assert is_read_afresh(path) and file.read_bytes() == whole
    assert not is_read_afresh(path)


def test_a_file_is_not_taken_for_another(folder, cache):
    assert is_read_afresh(folder / "sc.cat")
    (sc,) = stored(cache)
    assert is_read_afresh(folder / "tso.cat")
    (tso,) = {*stored(cache), sc} - {sc}
    shutil.copy(tso, sc)
    assert is_read_afresh(folder / "sc.cat") and read_cat(str(folder / "sc.cat")).title == "SC"


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop"])
def test_what_is_no_file_is_left_alone(kind, folder, cache):
    assert is_read_afresh(folder / "sc.cat")
    (file,) = stored(cache)
    file.unlink()
    if kind == "folder":
        (file / "within").mkdir(parents=True)
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(file.name)
    assert is_read_afresh(folder / "sc.cat")
    assert is_read_afresh(folder / "sc.cat") == (kind == "folder")


def test_a_model_from_a_pipe_is_read_once(tmp_path, cache):
    (tmp_path / "m.cat").write_text("empty Strong as none\n")
    for text in (BELL, BELL.replace("Strong", "Other") + "let Strong = 0\n"):
        read, write = os.pipe()
        os.write(write, text.encode())
        os.close(write)
        syntax = read_cat(str(tmp_path / "m.cat"), f"/dev/fd/{read}")
        os.close(read)
        assert ("Other" in repr(syntax)) == ("Other" in text)
    assert stored(cache) == []


def without_a_cache(file: Path):
    """What users may have in place of a folder to write to: the environment, as far as it is another."""
    folders = ["", file, file / "within", "/proc/none", "/dev/null"]
    yield from ({"SYNTH_CACHE_DIR": str(said)} for said in folders)
    yield from ({"SYNTH_CACHE_DIR": None, "XDG_CACHE_HOME": str(said)} for said in folders[1:])
    yield from ({"SYNTH_CACHE_DIR": None, "XDG_CACHE_HOME": None, "HOME": str(said)} for said in (file, "/proc/none"))


def test_models_are_read_without_a_cache(folder, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("not a folder")
    for environment in without_a_cache(file):
        for name, said in environment.items():
            monkeypatch.delenv(name, raising=False) if said is None else monkeypatch.setenv(name, said)
        assert is_read_afresh(folder / "rmo.cat") and is_read_afresh(folder / "rmo.cat"), environment
    assert file.read_text() == "not a folder"


def synth(cache):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SYNTH_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-m", "synth", *LABEL], cwd=ROOT, env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_a_command_says_the_same_whatever_is_in_the_cache(cache):
    cold = synth(str(cache.parent))
    whole = {path: path.read_bytes() for path in stored(cache)}
    assert len(whole) == 3 and synth(str(cache.parent)) == synth("") == cold
    for path in whole:
        path.write_bytes(os.urandom(1000))
    assert synth(str(cache.parent)) == cold
    assert {path: path.read_bytes() for path in stored(cache)} == whole


def test_nobody_needs_a_home(tmp_path, monkeypatch, folder):
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SYNTH_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert CacheRoom("models", 1).file(["a"]) is None
    assert is_read_afresh(folder / "sc.cat") and is_read_afresh(folder / "sc.cat")


def test_a_folder_that_nobody_may_write_to_is_read(folder, cache):
    assert is_read_afresh(folder / "sc.cat")
    (file,) = stored(cache)
    for path in (file, file.parent, cache, cache.parent):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert not is_read_afresh(folder / "sc.cat")
        assert is_read_afresh(folder / "tso.cat")
    finally:
        for path in (cache.parent, cache, file.parent):
            path.chmod(0o700)


def test_processes_that_write_at_once_do_not_disturb_each_other(tmp_path, cache):
    code = "import sys; from oracle.cat.syntax import *; print([read_cat(path) for path in sys.argv[1:]])"
    command = [sys.executable, "-c", code, *map(str, SHIPPED)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    at_once = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) for _ in range(3)]
    outputs = {process.communicate()[0] for process in at_once}
    assert outputs == {f"{[afresh(path) for path in SHIPPED]}\n"}
    assert len(stored(cache)) == len(SHIPPED)  # and nothing that is half written


def test_a_model_that_is_stored_loads_no_parser(tmp_path):
    (tmp_path / "m.cat").write_text("let r = try nowhere with po\nacyclic r as sc\n")
    code = f"import sys; from oracle.cat.syntax import *; read_cat({str(tmp_path / 'm.cat')!r}); print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    cold, warm = (
        set(subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).split()) for _ in range(2)
    )
    assert "oracle.cat.elaboration" in cold - warm
    ours = {name for name in cold if name.startswith(("corpus.", "oracle."))}
    folders = {"corpus.dialects", "corpus.litmus", "oracle.cat"}
    say_nothing = {f"corpus.{name}" for name in ("awaited", "cache", "errors", "files", "private")}  # of syntax
    modules = {f"{name.replace('.', '/')}.py" for name in ours - folders - say_nothing}
    assert modules == {name for name in READER if name.endswith(".py")}
    assert {path.relative_to(ROOT) for path in (ROOT / "oracle").rglob("*.lark")} == {
        Path(name) for name in READER if name.endswith(".lark")
    }
