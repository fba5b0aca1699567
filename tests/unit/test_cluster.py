"""Work over a cluster: the same bytes as by processes of this machine, whoever dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import synth.campaigns
import synth.cluster
from backends.cpp.device import CppDevice
from backends.shared.results import MemoryFailure, ProgressFailure, read_results
from corpus.errors import InputError
from synth.campaigns import Job
from synth.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code in (0, 1), result.output
    return result.stdout


def files(folder):
    """The files of a corpus but for what tells of time."""
    made = (path for path in folder.rglob("*") if path.is_file() and path.name != "times.json")
    return {path.relative_to(folder): path.read_bytes() for path in made}


class Cluster:
    """A scheduler, and workers, each a process."""

    def __init__(self, stack, folder):
        self.stack, self.file = stack, folder / "scheduler.json"
        self.port = 0
        self.start()

    def start(self):
        self.file.unlink(missing_ok=True)
        self.scheduler = self.begin(
            "scheduler", "--scheduler-file", self.file, "--host", "127.0.0.1", "--port", self.port
        )
        while not self.file.exists() or '"address"' not in self.file.read_text():
            time.sleep(0.05)
        text = self.file.read_text()
        self.address = text[text.index("tcp://") :].split('"')[0]
        self.port = int(self.address.rpartition(":")[2])
        self.workers = [self.begin("worker", "--scheduler-file", self.file, "--nthreads", 1) for _ in range(3)]

    def begin(self, *arguments):
        environment = os.environ | {"DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
        command = [sys.executable, "-m", "dask", *map(str, arguments), "--no-dashboard"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, env=environment, start_new_session=True, **quiet)
        self.stack.callback(kill, process)
        return process


def kill(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(name="cluster")
def _cluster(tmp_path):
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path)


def test_what_processes_do_a_cluster_does(tmp_path, cluster):
    for name, where in (("here", ("-j", "2")), ("there", ("--cluster", cluster.address))):
        folder = tmp_path / name
        folder.mkdir()
        run("progress", "--threads", 2, "--instrs", 3, "--all", "--certify", *where, "-o", folder / "progress")
        edges = ("--edges", "PodWW PodRR Rfe Fre", "--model", "sc", "--model", "tso")
        run("memory", *edges, "--certify", *where, "-o", folder / "memory")
        run("memory", "--from", "sc", "--events", "2..4", "--certify", *where, "-o", folder / "suite")
        verified = "".join(run("verify", folder / kind, *where) for kind in ("progress", "memory", "suite"))
        compared = run("compare", "sc", "tso", *where, "-o", folder / "difference")
        mapping = EXAMPLES / "mappings" / "rc11-to-tso-unfenced.map"
        run("map", mapping, "--events", "3..4", "--scopes", "gpu", *where, "-o", folder / "bugs")
        labels = run("label", folder / "progress", "--format", "csv", *where)
        litmus = run("label", EXAMPLES / "memory" / "mp-weak.litmus", "--format", "json", *where)
        tests = [EXAMPLES / "memory" / f"{test}.litmus" for test in ("mp-weak", "mp-inter", "cas-sl")]
        fixed = run("fix", *tests, "--model", "ptx-6.0", "--all", *where, "-o", folder / "fixed")
        (folder / "told").mkdir()
        (folder / "told" / "text").write_text(compared + labels + litmus + fixed + verified)
    for made in ("progress", "memory", "suite", "difference", "bugs", "fixed"):
        assert files(tmp_path / "here" / made) == files(tmp_path / "there" / made)
    here, there = (
        (tmp_path / name / "told" / "text").read_text().replace(f"/{name}/", "/") for name in ("here", "there")
    )
    assert here == there


def test_tests_are_run_by_workers(tmp_path, cluster, need):
    need("cpp", runs=True)
    progress, memory = EXAMPLES / "progress", EXAMPLES / "memory"
    tests = {
        "progress": (progress / "mutex.axb", progress / "barrier-2.axb", "--mapping", "plain"),
        "memory": (memory / "c-sb-sc.litmus", memory / "c-mp-rel-acq.litmus", "--instances", 100),
    }
    for kind, given in tests.items():
        told = run(
            "run", *given, "--backend", "cpp", "--iterations", 2, "--cluster", cluster.address, "-o", tmp_path / kind
        )
        results = read_results(tmp_path / kind)
        assert sorted(result.test for result in results) == sorted(path.stem for path in given[:2]), told
        assert not any(isinstance(result, ProgressFailure | MemoryFailure) for result in results)
        here = CppDevice()
        assert {(result.device, result.compiler) for result in results} == {(here.name, here.compiler)}


def test_a_worker_with_another_device_runs_nothing():
    here: Any = SimpleNamespace(name="a", hardware="a", driver="", compiler="g++ 12")
    there: Any = SimpleNamespace(name="a", hardware="a", driver="", compiler="g++ 13")
    job: Any = Job((), lambda runner: iter(()))
    with pytest.raises(InputError, match=r"a worker of the cluster has another device: a, a, g\+\+ 13"):
        list(synth.campaigns._made_there(job, lambda: there, synth.campaigns._words(here)))
    assert not list(synth.campaigns._made_there(job, lambda: here, synth.campaigns._words(here)))


@pytest.mark.slow
def test_workers_a_scheduler_and_the_client_die(tmp_path, cluster):
    bound = ("--threads", "3", "--instrs", "5", "--all")
    expected = tmp_path / "expected"
    run("progress", *bound, "-j", 2, "-o", expected)
    made = tmp_path / "made"
    journal = made / "journal.jsonl"
    program = "from synth.cli import main\nif __name__ == '__main__':\n    main()"

    def begin(*more):
        given = [
            sys.executable,
            "-c",
            program,
            "progress",
            *bound,
            "--cluster",
            cluster.address,
            "-o",
            str(made),
            *more,
        ]
        return subprocess.Popen(given, stderr=subprocess.PIPE, text=True)

    def closed(number, process):
        while not journal.exists() or journal.read_text().count('"closed"') < number:
            assert process.poll() is None
            time.sleep(0.1)

    process = begin()
    closed(1, process)
    kill(cluster.workers.pop())  # its work is done by the others
    closed(2, process)
    kill(cluster.scheduler)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 2
    assert told.splitlines()[-1].endswith(
        "the cluster has gone away; what was found before is kept, and --resume goes on"
    )
    cluster.start()  # workers end with their scheduler
    process = begin("--resume")
    time.sleep(5)
    process.kill()
    process.communicate()
    process = begin("--resume")
    _, told = process.communicate()
    assert process.returncode == 0, told
    assert files(made) == files(expected)


@pytest.mark.slow
def test_a_cluster_of_this_machine_by_a_script(tmp_path):
    program = "from synth.cli import main\nif __name__ == '__main__':\n    main()"
    bound = ["progress", "--threads", "2", "--instrs", "4", "--all"]
    command = ["bash", EXAMPLES / "cluster.sh", "3", sys.executable, "-c", program, *bound, "-o", tmp_path / "there"]
    environment = os.environ | {"PYTHON": sys.executable}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr
    run(*bound, "-j", 1, "-o", tmp_path / "here")
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_where_there_is_no_cluster_one_line_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(synth.cluster, "PATIENCE", 1)
    nowhere = ("progress", "--threads", "2", "--instrs", "3", "-o", str(tmp_path / "suite"))
    result = CliRunner().invoke(main, [*nowhere, "--cluster", "127.0.0.1:9"])
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1
    assert "127.0.0.1:9: no cluster can be used" in result.stderr
    assert not (tmp_path / "suite").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cluster", "here"], "expected HOST:PORT, tcp://HOST:PORT, local or local:N, found 'here'"),
        (["--cluster", "local:0"], "expected HOST:PORT"),
        (["--cluster", "local:2", "-j", "2"], "--jobs is of this machine"),
        (["--cluster", "local:2", "--max-tests", "2"], "--max-tests is for one process"),
    ],
)
def test_what_is_wrong_is_said(arguments, message, tmp_path):
    result = CliRunner().invoke(
        main, ["progress", "--threads", "2", "--instrs", "3", "-o", str(tmp_path / "suite"), *arguments]
    )
    assert result.exit_code == 2 and message in result.stderr


def test_a_worker_of_another_version_does_nothing():
    with pytest.raises(InputError, match=r"a worker of the cluster has synth .*, and this is another"):
        synth.cluster._done("another", iter, ())
