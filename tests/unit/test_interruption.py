"""Ctrl-C and SIGTERM at random moments of every long command: one line or none, exit code 130, nobody left."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from commands import synth
from processes import descendants, is_alive

from synth.families import interface

EXAMPLES = Path(__file__).parents[2] / "examples"
MEMORY = EXAMPLES / "memory"
PETERSON = EXAMPLES / "applications" / "peterson.cl"

COMMANDS = {
    "progress": ("progress", "--threads", "2", "--instrs", "5", "--all", "-j", "2", "-o", "{out}"),
    "memory": ("memory", "--from", "ptx-6.0", "--events", "2..5", "-j", "2", "-o", "{out}"),
    "edges": (
        *("memory", "-e", "PodWW PodRR PodRW PodWR Rfe Fre Coe", "--size", "3..7", "-m", "ptx-6.0", "-m", "tso"),
        *("-j", "2", "-o", "{out}"),
    ),
    "compare": ("compare", "sc", "tso", "rmo", "ptx-rmo", "--events", "..6", "-j", "2", "-o", "{out}"),
    "map": ("map", EXAMPLES / "mappings" / "rc11-scoped-to-ptx.map", "--events", "..6", "-j", "2", "-o", "{out}"),
    "fix": ("fix", MEMORY / "opencl", "--model", "opencl", "--race-free", "--all", "-j", "2"),
    "fix one": ("fix", MEMORY / "exch-sl+membar.gls.litmus", "--model", "ptx-rmo", "--weaken", "--all"),
    "label": ("label", MEMORY, EXAMPLES / "liveness", "-j", "2"),
    "label csv": ("label", MEMORY, EXAMPLES / "liveness", "-j", "2", "--format", "csv"),
    "explain": ("explain", MEMORY, "-m", "rc11"),
    "verify": ("verify", "{suite}", "-j", "2"),
    "run": ("run", EXAMPLES / "progress", "--backend", "cpp", "--iterations", "20", "-j", "2"),
    "tune": ("tune", "--backend", "cpp", "--shapes", "SB", "--method", "random", "-o", "{out}.toml"),
    "harden": (
        *("harden", "--places", "8", "--build", f"g++ -O2 -pthread -x c++ {{defines}} {PETERSON} -o {{folder}}/app"),
        *("--run", "{folder}/app", "-o", "{out}"),
    ),
    "cluster": ("progress", "--threads", "2", "--instrs", "5", "--all", "--jobs", "local:2", "-o", "{out}"),
}

ON_DEVICES = ("run", "tune", "harden")

LINE = re.compile("(synth: interrupted(; it ends as soon as .+ has stopped, and Ctrl-C again ends it at once)?\n)?")

# Python itself may not answer before it has loaded what its environment names; so time counts from there.
PROGRAM = """
from synth.interruption import end_at_once
end_at_once()
import os
os.write(1, b"begun ")
from synth.__main__ import main
main()
"""


@pytest.fixture(name="suite", scope="module")
def _suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certified") / "suite"
    asked = ("progress", "--threads", "2", "--instrs", "4", "--all", "--certify", "-o", str(folder))
    subprocess.run([sys.executable, "-m", "synth", *asked], check=True, stdout=subprocess.DEVNULL)
    return folder


def interrupted(name, number, seconds, tmp_path, suite):
    """What a command says that gets a signal after so many seconds, as all of its process group do; and its code."""
    out = tmp_path / f"out{number}"
    words = [str(word).replace("{out}", str(out)).replace("{suite}", str(suite)) for word in COMMANDS[name]]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read(6) == b"begun "
        reader = Thread(target=process.stdout.read)
        reader.start()
        time.sleep(seconds)
        started = descendants(process.pid)
        if process.poll() is None:
            os.killpg(process.pid, number_of(number))
        complaint = process.stderr.read().decode()
        process.wait()
        reader.join()
    for child in started:  # ends with its parent, as soon as Linux comes to it
        while is_alive(child):
            time.sleep(0.01)
    return complaint, process.returncode


def number_of(number):
    return signal.SIGTERM if number % 5 == 4 else signal.SIGINT


def attempts(name, times, longest, tmp_path, suite):
    drawn = random.Random(name)
    for number in range(times):
        seconds = drawn.uniform(0, 0.4 if number % 3 == 0 else longest)
        complaint, code = interrupted(name, number, seconds, tmp_path, suite)
        where = f"{name} after {seconds:.3f} s: {complaint}"
        assert "Traceback" not in complaint, where
        if code in (0, 1, 2):  # it had ended before
            continue
        if number_of(number) is signal.SIGTERM:
            assert code in (-signal.SIGTERM, 128 + signal.SIGTERM) and not complaint, where
        else:
            assert code == 130 and LINE.fullmatch(complaint), where


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["progress", "compare", "label csv", "fix"])
def test_ctrl_c_is_answered_in_one_line(name, tmp_path, suite):
    attempts(name, 5, 2, tmp_path, suite)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_is_answered_in_one_line_by_every_command(name, tmp_path, suite, need):
    if name in ON_DEVICES:
        need("cpp", runs=True)
    if name == "cluster":
        pytest.importorskip("distributed")
    attempts(name, 30, 8 if name == "cluster" else 4, tmp_path, suite)


def test_ctrl_c_before_the_command_begins_ends_it(tmp_path):
    program = (
        "from synth.interruption import end_at_once\nend_at_once()\nimport os\nos.kill(os.getpid(), 2)\nprint('late')"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "synth: interrupted\n")


SLOW = """#!/bin/sh
for word; do case "$word" in --version|-dumpversion) echo 99.0; exit;; esac; done
: > "$BEGUN"
exec sleep 60
"""


@pytest.mark.parametrize(
    ("words", "tool", "name"),
    [
        (("run", EXAMPLES / "progress" / "mutex.axb", "--backend", "cpp"), "g++", "g++"),
        (("tune", "--backend", "cpp", "--shapes", "SB", "--method", "random", "-o", "a.toml"), "g++", "g++"),
        (("check", "a.cu"), "nvcc", "the check of a.cu"),
        (("fix", "a.cu"), "nvcc", "nvcc a.cu"),
    ],
    ids=["run", "tune", "check", "fix"],
)
def test_ctrl_c_says_at_once_what_is_waited_for(words, tool, name, tmp_path, need):
    if tool == "g++":
        need("cpp", runs=True)
    (tmp_path / "a.cu").write_text("__global__ void k(int *a) { *a = 1; }\n")
    (tmp_path / "bin").mkdir()
    slow = tmp_path / "bin" / tool
    slow.write_text(SLOW)
    slow.chmod(0o755)
    mine = {"PATH": f"{slow.parent}{os.pathsep}{os.environ['PATH']}", "BEGUN": str(tmp_path / "begun")}
    mine |= {"SYNTH_CACHE_DIR": str(tmp_path / "cache"), "CUDA_HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "synth", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=os.environ | mine,
    ) as process:
        assert process.stderr is not None
        while not (tmp_path / "begun").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        complaint = process.stderr.read().decode()
    assert process.returncode == 130 and LINE.fullmatch(complaint) and name in complaint


def test_the_second_ctrl_c_ends_at_once(tmp_path):
    program = """
from synth.interruption import end_at_once, interruptible
from corpus.awaited import awaiting
import os, time
end_at_once()
with interruptible():
    try:
        with awaiting("a device"), awaiting("its \\n driver"):
            os.kill(os.getpid(), 2)
    except KeyboardInterrupt:
        print("kept", flush=True)
        os.kill(os.getpid(), 2)
        time.sleep(60)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert (ended.returncode, ended.stdout) == (130, "kept\n")
    said = r"its \n driver has stopped, and Ctrl-C again ends it at once"
    assert ended.stderr == f"synth: interrupted; it ends as soon as {said}\n"


def test_ctrl_c_in_a_destructor_comes_again():
    program = """
from synth.interruption import end_at_once, interruptible
import os, time
class Closing:
    def __del__(self):
        os.kill(os.getpid(), 2)
        for _ in range(100): pass
end_at_once()
try:
    with interruptible():
        Closing()
        time.sleep(10)
        print("missed")
except KeyboardInterrupt:
    print("caught")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "caught\n", "")


@pytest.mark.parametrize("turned", ["raise RuntimeError from error", "raise OSError", "raise ValueError from None"])
def test_what_a_library_makes_of_ctrl_c_is_ctrl_c(turned, monkeypatch):
    def library(*_args, **_words):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)
        except KeyboardInterrupt as error:
            exec(turned, {"error": error})

    monkeypatch.setattr(interface, "expand", library)
    result = synth("label", MEMORY / "mp-weak.litmus", "-m", "sc")
    assert (result.exit_code, result.stderr) == (130, "synth: interrupted\n")


def test_who_ignores_ctrl_c_goes_on_ignoring_it():
    program = "import signal, os\nsignal.signal(2, signal.SIG_IGN)\nfrom synth.interruption import end_at_once\n"
    program += "end_at_once()\nos.kill(os.getpid(), 2)\nprint('on')"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "on\n")
