"""Work over a cluster: the same bytes as by processes of this machine, whoever dies, and nobody else's answers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import wait
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from processes import descendants, is_alive

import synth.campaigns
import synth.cluster
from backends.cpp.backend import CppDevice
from backends.shared.results import MemoryFailure, ProgressFailure, read_results
from corpus.errors import InputError
from synth.campaigns import Job
from synth.cluster import connected
from synth.commands.cli import main
from synth.pool import LostError

distributed = pytest.importorskip("distributed")

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


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

    def __init__(self, stack, folder, workers=3, scheme="tcp", nannies=False, **environment):
        self.stack, self.file = stack, folder / "scheduler.json"
        self.lonely = () if nannies else ("--no-nanny",)  # a nanny is a process more, and as long to begin
        self.number, self.scheme, self.environment = workers, scheme, environment
        self.port = 0
        self.start()

    def start(self):
        self.file.unlink(missing_ok=True)
        asked = ("--scheduler-file", self.file, "--host", f"{self.scheme}://127.0.0.1", "--port", self.port)
        self.scheduler = self.begin("scheduler", *asked, **self.environment)
        while not self.file.exists() or '"address"' not in self.file.read_text():
            time.sleep(0.05)
        self.address = json.loads(self.file.read_text())["address"]
        self.port = int(self.address.rpartition(":")[2])
        self.workers = [self.worker() for _ in range(self.number)]

    def worker(self, *more, **environment):
        asked = ("--scheduler-file", self.file, "--nthreads", 1, *self.lonely, *more)
        return self.begin("worker", *asked, **self.environment, **environment)

    def begin(self, *arguments, **environment):
        environment = os.environ | {"DASK_DISTRIBUTED__WORKER__DAEMON": "False"} | environment
        pages = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        command = [sys.executable, "-m", "dask", *map(str, arguments), *pages]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        # Elsewhere than here, for Python looks for modules where it is.
        process = subprocess.Popen(command, env=environment, cwd=self.file.parent, start_new_session=True, **quiet)
        self.stack.callback(kill, process)
        return process


def kill(process):
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(name="mortal")
def _mortal(tmp_path):
    """A cluster for a test that ends processes of it; nannies replace workers that die."""
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path, nannies=True)


def test_a_worker_with_another_device_runs_nothing():
    here: Any = SimpleNamespace(name="a", hardware="a", driver="", compiler="g++ 12")
    there: Any = SimpleNamespace(name="a", hardware="a", driver="", compiler="g++ 13")
    job: Any = Job((), lambda runner: iter(()))
    with pytest.raises(InputError, match=r"a worker of the cluster has another device: a, a, g\+\+ 13"):
        list(synth.campaigns._made_there(job, lambda: there, synth.campaigns._words(here)))
    assert not list(synth.campaigns._made_there(job, lambda: here, synth.campaigns._words(here)))


@pytest.mark.slow
def test_workers_a_scheduler_and_the_client_die(tmp_path, mortal):
    bound = ("--threads", "3", "--instrs", "5", "--all")
    expected = tmp_path / "expected"
    run("progress", *bound, "-j", 2, "-o", expected)
    made = tmp_path / "made"
    journal = made / "journal.jsonl"
    program = "from synth.commands.cli import main\nif __name__ == '__main__':\n    main()"

    def begin():
        given = [
            sys.executable,
            "-c",
            program,
            "progress",
            *bound,
            "--jobs",
            mortal.address,
            "-o",
            str(made),
        ]
        return subprocess.Popen(given, stderr=subprocess.PIPE, text=True)

    def closed(number, process):
        while not journal.exists() or journal.read_text().count('"closed"') < number:
            assert process.poll() is None
            time.sleep(0.1)

    process = begin()
    closed(1, process)
    kill(mortal.workers.pop())  # its work is done by the others
    closed(2, process)
    kill(mortal.scheduler)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 2
    assert told.splitlines()[-1].endswith(
        "the cluster has gone away; what was found before is kept, and the same command goes on"
    )
    mortal.start()  # workers end with their scheduler
    process = begin()
    time.sleep(5)
    process.kill()
    process.communicate()
    process = begin()
    _, told = process.communicate()
    assert process.returncode == 0, told
    assert files(made) == files(expected)


@pytest.mark.slow
def test_a_cluster_of_this_machine_by_a_script(tmp_path):
    program = "from synth.commands.cli import main\nif __name__ == '__main__':\n    main()"
    bound = ["progress", "--threads", "2", "--instrs", "4", "--all"]
    command = ["bash", EXAMPLES / "cluster.sh", "3", sys.executable, "-c", program, *bound, "-o", tmp_path / "there"]
    environment = os.environ | {"PYTHON": sys.executable}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr
    run(*bound, "-j", 1, "-o", tmp_path / "here")
    assert files(tmp_path / "there") == files(tmp_path / "here")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--jobs", "here"],
            "expected a number of processes, HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT, local or local:N, "
            "found 'here'",
        ),
        (["--jobs", "local:0"], "expected a number of processes, HOST:PORT"),
        (["--jobs", "http://127.0.0.1:8786"], "expected a number of processes, HOST:PORT"),
        (["--jobs", "127.0.0.1:70000"], "expected a number of processes, HOST:PORT"),
        (["--jobs", "0"], "0 is not in the range"),
        (["--jobs", "local:2", "--max-tests", "2"], "--max-tests needs one process"),
    ],
)
def test_what_is_wrong_is_said(arguments, message, tmp_path):
    result = CliRunner().invoke(
        main, ["progress", "--threads", "2", "--instrs", "3", "-o", str(tmp_path / "suite"), *arguments]
    )
    assert result.exit_code == 2 and message in result.stderr


# Attacks: who is there is not who is meant, goes away, or does not come


SYNTH = """
import sys, synth.cluster
synth.cluster.PATIENCE = float(sys.argv.pop(1))
from synth.__main__ import main
main()
"""
SEARCH = ("progress", "--threads", "2", "--instrs", "5", "--all")
MANY = ("progress", "--threads", "3", "--instrs", "5", "--all")
"""A search that soon has a part done, of many."""


class Asking:
    """A search on a cluster, as a process; its folder is ``out``."""

    def __init__(self, folder, address, search=SEARCH, patience=5, **environment):
        self.out = folder / "out"
        command = [sys.executable, "-c", SYNTH, str(patience), *search, "--jobs", address, "-o", str(self.out)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=os.environ | environment, start_new_session=True, **pipes)

    def until_found(self):
        """Waits until some part of the work is done."""
        journal = self.out / "journal.jsonl"
        while not journal.exists() or '"closed"' not in journal.read_text():
            assert self.process.poll() is None, self.process.stderr.read()
            time.sleep(0.05)

    def refused(self):
        """What it says, in one line, as it ends with exit code 2."""
        _, told = self.process.communicate(timeout=120)
        assert self.process.returncode == 2, told
        assert told.startswith("synth: ") and told.count("\n") == 1, told
        return told.rstrip()


@pytest.fixture(name="ask")
def _ask(tmp_path):
    """Begins a search, which does not outlive the test."""
    with ExitStack() as stack:

        def ask(address, search=SEARCH, patience=5, **environment):
            asking = Asking(tmp_path / f"asking{len(begun)}", address, search, patience, **environment)
            begun.append(asking)
            stack.enter_context(asking.process)
            stack.callback(kill, asking.process)
            return asking

        begun = []
        yield ask


def listener(answer):
    """The address of a server that says this to who connects, and is silent then."""
    server = socket.create_server(("127.0.0.1", 0))
    held = []

    def serve():
        with suppress(OSError):
            while True:
                held.append(server.accept()[0])
                held[-1].sendall(answer)

    Thread(target=serve, daemon=True).start()
    return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", "nothing there has answered as a scheduler of Dask's for 5 s"),
        (b"HTTP/1.0 400 Bad request syntax\r\n\r\n<html></html>", "what is there is no scheduler of Dask's"),
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "what is there is no scheduler of Dask's"),
        (bytes(64), "what is there is no scheduler of Dask's"),
    ],
    ids=["silence", "http", "ssh", "zeros"],
)
def test_what_is_no_scheduler_is_found_out(tmp_path, answer, message, ask):
    address = listener(answer)
    asking = ask(address)
    assert asking.refused() == f"synth: {address}: no cluster can be used: {message}"
    assert not asking.out.exists()


@pytest.mark.parametrize("scheme", ["", "tcp://"])
def test_where_nobody_is_one_line_says_so(tmp_path, scheme, ask):
    told = ask(f"{scheme}127.0.0.1:9", patience=2).refused()
    assert told.endswith(
        "127.0.0.1:9: no cluster can be used: nothing there has answered as a scheduler of Dask's for 2 s"
    )


def test_workers_that_never_come_are_not_waited_for(tmp_path, ask):
    with ExitStack() as stack:
        cluster = Cluster(stack, tmp_path, workers=0)
        assert ask(cluster.address).refused().endswith("no worker of the cluster has answered for 5 s")


def test_a_worker_that_comes_late_is_waited_for(tmp_path, ask):
    with ExitStack() as stack:
        cluster = Cluster(stack, tmp_path, workers=0)
        asking = ask(cluster.address, ("progress", "--threads", "2", "--instrs", "3"), patience=60)
        time.sleep(3)
        cluster.worker()
        assert asking.process.wait(120) == 0
        asking.process.communicate()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("victim", ["worker", "scheduler", "frozen worker", "frozen scheduler"])
def test_who_goes_away_ends_the_search_in_one_line(tmp_path, victim, ask):
    with ExitStack() as stack:
        cluster = Cluster(stack, tmp_path, workers=0)
        worker = cluster.worker()
        asking = ask(cluster.address, MANY)
        asking.until_found()
        process = cluster.scheduler if victim.endswith("scheduler") else worker
        os.killpg(process.pid, signal.SIGSTOP if victim.startswith("frozen") else signal.SIGKILL)
        if victim == "frozen worker":  # nobody knows, until it is dead
            time.sleep(2)
            assert asking.process.poll() is None
            os.killpg(process.pid, signal.SIGKILL)
        told = asking.refused()
        reason = {
            "worker": "the cluster has had no worker for 5 s",
            "frozen worker": "the cluster has had no worker for 5 s",
            "scheduler": "the cluster has gone away",
            "frozen scheduler": "the scheduler of the cluster does not answer",
        }[victim]
        assert told.endswith(f"{reason}; what was found before is kept, and the same command goes on")
        journal = (asking.out / "journal.jsonl").read_text()
        assert '"closed"' in journal


@pytest.mark.slow
def test_a_part_that_kills_every_worker_is_given_up(mortal):
    """As one does that takes more memory than there is."""
    with connected(mortal.address) as found:
        task = found.submit(signal.raise_signal, signal.SIGKILL)
        wait([task])
        with pytest.raises(LostError, match="a part of the work ended 4 workers of the cluster"):
            found.result(task)


# Workers that are not as this process


def lying(folder, text):
    """The environment of a Python that runs these lines first."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": str(folder)}


def altered(folder):
    """The environment of a Python that has another source of synth."""
    for package in synth.cluster.PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    models = folder / "oracle" / "progress" / "models.py"
    models.write_text(models.read_text() + "\n# another\n")
    return {"PYTHONPATH": str(folder)}


NO_SYNTH = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "synth":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Without())
"""
OTHERS = {
    "python": ("import platform\nplatform.python_version = lambda: '3.11.0'", "has Python 3.11.0, and this is "),
    "dask": (
        "import importlib.metadata as m\nof = m.version\nm.version = lambda name: '1' if name[0] == 'd' else of(name)",
        "has Dask 1, and this is ",
    ),
    "no synth": (NO_SYNTH, "has no synth, or one that is not this one"),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("other", [*OTHERS, "source"])
def test_a_worker_that_is_not_as_this_process_is_refused(tmp_path, other, ask):
    lines, message = OTHERS.get(other, ("", "has another source of synth than this; all must have the same"))
    environment = lying(tmp_path / "lying", lines) if lines else altered(tmp_path / "altered")
    with ExitStack() as stack:
        cluster = Cluster(stack, tmp_path, workers=1)
        cluster.worker("--name", "other", **environment)
        while_workers(cluster, 2)
        asking = ask(cluster.address, patience=60)
        told = asking.refused()
        assert told.startswith(f"synth: {cluster.address}: the worker at tcp://127.0.0.1:") and message in told
        assert not asking.out.exists()


def while_workers(cluster, number):
    """Waits until so many workers are there."""
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(number, timeout=120)


@pytest.mark.slow
def test_a_worker_that_joins_later_is_asked_who_it_is_with_each_answer(tmp_path, ask):
    with ExitStack() as stack:
        cluster = Cluster(stack, tmp_path, workers=1)
        asking = ask(cluster.address, MANY, patience=60)
        asking.until_found()
        before = (asking.out / "journal.jsonl").read_text()
        cluster.worker(**altered(tmp_path / "altered"))
        told = asking.refused()
        assert "has another source of synth than this" in told and before
        kill(cluster.workers.pop())


def test_the_digest_is_of_what_files_say(tmp_path, monkeypatch):
    altered(tmp_path)
    digests = [synth.cluster.source_digest()]  # which is remembered, and so is to come before folders are others
    for edit in ("", "# one more"):
        path = tmp_path / "oracle" / "models" / "sc.cat"
        path.write_text(path.read_text() + edit)
        (tmp_path / "synth" / "__pycache__").mkdir(exist_ok=True)
        (tmp_path / "synth" / "__pycache__" / f"{len(edit)}.pyc").write_bytes(b"")
        monkeypatch.setattr(synth.cluster, "folder_of", lambda package: tmp_path / package)
        digests.append(synth.cluster.source_digest.__wrapped__())
    assert len({*digests}) == 3


# TLS


@pytest.fixture(name="certificates", scope="module")
def _certificates(tmp_path_factory):
    """Two authorities, and for each a certificate that it has signed, by openssl."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl on PATH")
    folder = tmp_path_factory.mktemp("certificates")

    def run(*words):
        subprocess.run([openssl, *words], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    for name in ("ours", "theirs"):
        authority = ("-keyout", f"{name}-ca.key", "-out", f"{name}-ca.pem", "-subj", f"/CN={name}-ca", "-days", "2")
        run("req", "-x509", *key, *authority)
        run("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signed = ("-CA", f"{name}-ca.pem", "-CAkey", f"{name}-ca.key", "-CAcreateserial", "-days", "2")
        run("x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")

    def environment(name, *roles):
        prefix = "DASK_DISTRIBUTED__COMM__TLS__"
        files = {f"{prefix}CA_FILE": f"{name}-ca.pem"}
        for role in roles:
            files |= {f"{prefix}{role}__CERT": f"{name}.pem", f"{prefix}{role}__KEY": f"{name}.key"}
        return {key: str(folder / file) for key, file in files.items()}

    return environment


@pytest.mark.slow
def test_tls_lets_in_who_has_a_certificate(tmp_path, certificates, ask):
    with ExitStack() as stack:
        environment = certificates("ours", "SCHEDULER", "WORKER")
        cluster = Cluster(stack, tmp_path, workers=1, scheme="tls", **environment)
        assert cluster.address.startswith("tls://")
        given = ("progress", "--threads", "2", "--instrs", "3", "--all")
        asking = ask(cluster.address, given, patience=60, **certificates("ours", "CLIENT"))
        _, told = asking.process.communicate(timeout=120)
        assert (told, asking.process.returncode) == ("", 0)
        run(*given, "-o", tmp_path / "here")
        assert files(asking.out) == files(tmp_path / "here")

        refused = ask(cluster.address)
        assert "no cluster can be used: tls:// needs certificates" in refused.refused()
        others = ask(cluster.address, **certificates("theirs", "CLIENT"))
        assert "no scheduler of Dask's, or takes other certificates" in others.refused()
        plain = ask(cluster.address.replace("tls", "tcp"))
        assert "no scheduler of Dask's, or takes other certificates" in plain.refused()
        missing = certificates("nosuch", "CLIENT")
        unread = ask(cluster.address, **missing).refused()
        assert unread.endswith(
            "the certificates that Dask's configuration names cannot be read: No such file or directory"
        )


# A cluster of this machine


def test_a_cluster_of_this_machine_listens_on_the_loopback_alone(tmp_path, ask):
    asking = ask("local:2", MANY, patience=60)
    asking.until_found()
    mine = descendants(asking.process.pid)
    sockets = {file for pid in (asking.process.pid, *mine) for file in open_sockets(pid)}
    listening = {address for address, inode in listeners() if f"socket:[{inode}]" in sockets}
    assert len(mine) >= 4 and len(listening) >= 3
    assert {address.partition(":")[0] for address in listening} == {"0100007F"}  # 127.0.0.1
    asking.process.send_signal(signal.SIGINT)
    _, told = asking.process.communicate(timeout=60)
    assert (asking.process.returncode, told) == (130, "")
    assert not any(map(is_alive, mine))


def open_sockets(pid):
    found = []
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.append(os.readlink(file))
    return found


def listeners():
    """Local addresses in hexadecimal, and inodes, of the sockets of this machine that listen."""
    for kind in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A":
                yield words[1], words[9]


# Work on one cluster, which all these tests share: the last, so that it need not stay for others


@pytest.fixture(name="cluster", scope="module")
def _cluster(tmp_path_factory):
    """One for all tests that end none of its processes."""
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path_factory.mktemp("cluster"))


def test_what_processes_do_a_cluster_does(tmp_path, cluster):
    for name, where in (("here", ("-j", "2")), ("there", ("--jobs", cluster.address))):
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
        litmus = run("label", EXAMPLES / "memory" / "mp-weak.litmus", "--json", *where)
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
            "run", *given, "--backend", "cpp", "--iterations", 2, "--jobs", cluster.address, "-o", tmp_path / kind
        )
        results = read_results(tmp_path / kind)
        assert sorted(result.test for result in results) == sorted(path.stem for path in given[:2]), told
        assert not any(isinstance(result, ProgressFailure | MemoryFailure) for result in results)
        here = CppDevice()
        assert {(result.device, result.compiler) for result in results} == {(here.name, here.compiler)}


def test_tls_is_not_spoken_with_who_does_not(cluster, certificates, ask):
    told = ask(cluster.address.replace("tcp", "tls"), **certificates("ours", "CLIENT")).refused()
    assert told.endswith("no cluster can be used: what is there is no scheduler of Dask's, or takes other certificates")


@pytest.mark.slow
def test_a_worker_keeps_to_the_limits(tmp_path, cluster):
    lines = "".join(f"let a{number + 1} = (a{number}; a{number})^+ | po\n" for number in range(300))
    (tmp_path / "slow.cat").write_text(f"let a0 = po | rf | co | fr\n{lines}acyclic a300\n")
    asked = ("compare", tmp_path / "slow.cat", "sc", "--timeout", 0.05, "--jobs", cluster.address)
    assert run(*asked).splitlines()[-1].endswith("; stopped by --timeout")  # a worker may have searched small sizes
