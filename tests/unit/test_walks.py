"""The walks of docs/internals.md: the command of each calls the modules that its picture has, stage by stage."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripts import script

ROOT = Path(__file__).parents[2]
WALKS = script("walks")

CALLED = """
import os, sys, threading
root, found, *words = sys.argv[1:]
seen = set()

def note(frame, event, argument):
    file = frame.f_code.co_filename
    if event != "call" or file in seen or not file.startswith(root):
        return
    caller = frame
    while caller is not None:
        if caller.f_code.co_name == "<module>" and caller.f_code.co_filename.startswith(root):
            return  # what runs when a module is imported
        caller = caller.f_back
    seen.add(file)
    os.write(written, (os.path.relpath(file, root).removesuffix(".py") + "\\n").encode())

written = os.open(found, os.O_WRONLY | os.O_CREAT | os.O_APPEND)  # by all processes
from synth.commands.cli import main
threading.setprofile(note)
sys.setprofile(note)
main(words, prog_name="synth")
"""
"""Writes down each module of which a command calls a function, when it first does."""


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """The modules that each walk calls, in order."""
    found = {}
    for name, walk in WALKS.WALKS.items():
        folder = tmp_path_factory.mktemp("walk")
        words = [str(folder / word) if word == "suite" else word for word in walk.command.split()]
        subprocess.run([sys.executable, "-c", CALLED, f"{ROOT}/", folder / "found", *words], cwd=ROOT, check=False)
        found[name] = list(dict.fromkeys((folder / "found").read_text(encoding="utf-8").split()))
    return found


@pytest.mark.parametrize("name", WALKS.WALKS)
def test_a_walk_is_of_modules_that_are_called(name, called):
    modules = [module for stage in WALKS.WALKS[name].stages for module in stage.modules]
    assert not {*modules} - {*called[name]}
    assert len(modules) == len({*modules})


@pytest.mark.parametrize("name", WALKS.WALKS)
def test_stages_are_met_in_their_order(name, called):
    firsts = [called[name].index(stage.modules[0]) for stage in WALKS.WALKS[name].stages]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("name", WALKS.WALKS)
def test_a_picture_is_of_its_walk(name):
    assert (WALKS.FOLDER / name).read_text(encoding="utf-8") == WALKS.drawn(WALKS.WALKS[name])
    assert f"](pictures/{name})" in (ROOT / "docs" / "internals.md").read_text(encoding="utf-8")
