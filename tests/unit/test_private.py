"""Private folders and half files: an owner that lives keeps its own, and the next process removes what others left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from corpus.files import write_atomically

OWNER = """
import sys, time, os
from pathlib import Path
from corpus.private import private_folder, folder_beside
beside = Path(sys.argv[1])
with private_folder("run") as folder, folder_beside(beside) as other:
    (folder / "file").write_text("x")
    (other / "whole").mkdir()
    if os.fork() == 0:  # what is forked holds nothing
        time.sleep(60)
        os._exit(0)
    print("ready", flush=True)
    time.sleep(60)
"""

NEXT = """
import sys
from pathlib import Path
from corpus.private import private_folder, folder_beside
with private_folder("check") as folder, folder_beside(Path(sys.argv[1])):
    assert folder.stat().st_mode & 0o777 == 0o700
"""


def owner(folder: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder / "suite")],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    return process


def following(folder: Path) -> list[str]:
    subprocess.run(
        [sys.executable, "-c", NEXT, str(folder / "suite")], check=True, env={**os.environ, "TMPDIR": str(folder)}
    )
    return sorted(path.name for path in folder.iterdir())


def test_the_next_process_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    mine = ["synth-run-12345678", ".suite.original", "synth-run-results.private", "synth-notes"]
    for name in mine:
        (tmp_path / name).mkdir()
    with owner(tmp_path) as process:
        try:
            of_owner = sorted(path.name for path in tmp_path.iterdir())
            assert len(of_owner) == len(mine) + 2
            assert following(tmp_path) == of_owner  # it lives
            process.kill()
            process.wait()
            assert following(tmp_path) == sorted(mine)  # its fork lives, and owns nothing
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text("x")
    (tmp_path / "synth-run-abcdefgh.private").symlink_to(tmp_path / "victim")
    following(tmp_path)
    assert (tmp_path / "victim" / "file").read_text() == "x"


def test_the_halves_of_a_file_go_as_it_is_written(tmp_path: Path) -> None:
    for name in (".a.jsonl.4711.tmp", ".b.jsonl.4711.tmp"):
        (tmp_path / name).write_text("half")
    write_atomically(tmp_path / "a.jsonl", ["whole"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".b.jsonl.4711.tmp", "a.jsonl"]
