"""What ``synth check`` answers on the tests of other checkers of C, beside what they expect.

    python benchmarks/peers.py genmc ~/genmc/tests                       a folder of GenMC's tests
    python benchmarks/peers.py nidhugg ~/nidhugg/tests/smoke
    python benchmarks/peers.py dartagnan ~/Dat3M/benchmarks/locks
    python benchmarks/peers.py genmc ~/genmc/tests --only litmus -j 2 -o answers.csv
    python benchmarks/peers.py genmc ~/genmc/tests --beside genmc.csv    with what GenMC answers, and its seconds

The tests are not part of synth: fetch the repository of the checker. One row for each test: the first program of its
folder, with the first options that the test has. GenMC asks for safety, and so does this: an endless wait is a finding
only where the test is about liveness. GenMC goes on with other threads where ``main`` has returned, where C ends the
program (C11, 5.1.2.2.3): a test of GenMC's in C that joins none is called by a ``main`` that ends with
``pthread_exit``. "yes" in the column "as it says" is an answer that is what the test expects.
"seconds" are those of CPU, with the compiler's; the limit is of the clock. ``--beside`` names a table of what the
checker itself says, with the columns ``file``, ``answer`` (``safe`` or ``wrong: ..``) and ``seconds``: medians and sums
of both are told for each folder, of the tests that both answer.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple

RIGHT, WRONG = "safe", "wrong"
COLUMNS = ("file", "options", "expected", "answer", "as it says", "seconds", "reason")
YES, NO = "yes", "NO"

NOT_OF_C = ("/fs/", "/lkmm/", "/cooking/")
"""The folders of GenMC's tests that are of files, of Linux' memory model, or not meant to run."""


WRAPS = "-fwrapv"
"""GenMC lets signed integers wrap; ``1 << 31`` and a sum that is too large are findings here (C11, 6.5, 6.5.7)."""

OF_HINTS = ("final0", "help-annot", "help-annot2")
"""The tests of GenMC's that are wrong for they give it wrong hints; as programs of C they are right."""


GOES_ON = """\
#include <pthread.h>
{renamed}
#define main genmc_main
#include "{file}"
#undef main
int main(void)
{{
    {called};
    pthread_exit(0);
}}
"""
"""A program that goes on where ``main`` of a test returns, as GenMC has it."""

OF_STDIO = """\
#include <stdio.h>
#define remove genmc_remove"""
"""What the tests call ``remove``, which GenMC's ``<stdio.h>`` has not."""


class PeerTest(NamedTuple):
    """A program of a checker's tests: what is passed to the compiler, what is expected, and of what besides safety.

    ``caller`` is the program that is read instead, where it is not the test itself.
    """

    file: Path
    options: tuple[str, ...]
    expected: str
    about: str = ""
    caller: str = ""


def genmc(folder: Path) -> Iterator[PeerTest]:
    """Yield GenMC's tests: a folder of variants each, below ``correct`` or ``wrong``."""
    for variants in sorted(folder.rglob("variants")):
        programs = sorted([*variants.glob("*.c"), *variants.glob("*.cpp"), *variants.glob("*.cc")])
        if not programs or any(word in f"{variants}/" for word in NOT_OF_C):
            continue
        test = variants.parent
        words = _first_line(test, "args.rc11.mo.in", "args.rc11.wb.in", "args.imm.mo.in", "args.wb.in")
        own, _, options = words.partition("|")
        places = (
            test,
            test.parent,
            folder,
            *(test.parent / name for name in re.findall(r"-I\S*?(\w+)/?(?=\s|$)", words)),
        )
        includes = [f"-I{place}" for place in places]
        about = "liveness" if "/liveness/" in f"{test}/" else "no races" if "-disable-race-detection" in own else ""
        expected = WRONG if "/wrong/" in f"{test}/" else RIGHT
        if test.name in OF_HINTS:
            expected, about = RIGHT, "wrong: its own hints"
        program = programs[0]
        yield PeerTest(program, (*includes, WRAPS, *options.split()), expected, about, _caller(program))


def _caller(program: Path) -> str:
    """Return a program that calls a test and goes on where it returns; nothing for one that waits, or of C++."""
    if program.suffix != ".c":  # whose destructors run where main ends, and not where it is a thread that does
        return ""
    text = _with_included(program)
    main = re.search(r"^(?:int )?main\s*\((.*)\)", text, re.MULTILINE)
    if main is None or re.search(r"join|pthread_exit", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)):
        return ""
    renamed = OF_STDIO if re.search(r"\bremove\(", text) else ""
    called = "genmc_main(1, (char *[]){(char[]){0}, 0})" if "argc" in main[1] else "genmc_main()"
    return GOES_ON.format(renamed=renamed, file=program, called=called)


def _with_included(program: Path) -> str:
    """Return the text of a program and of what it includes from beside it, each file once."""
    texts: dict[Path, str] = {}
    left = [program.resolve()]
    while left:
        file = left.pop()
        if file not in texts and file.is_file():
            texts[file] = file.read_text(errors="replace")
            names = re.findall(r'^#include "(.*)"', texts[file], re.MULTILINE)
            left += [(file.parent / name).resolve() for name in names]
    return "\n".join(texts.values())


def _first_line(folder: Path, *names: str) -> str:
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    return "" if found is None else found.read_text().partition("\n")[0]


def nidhugg(folder: Path) -> Iterator[PeerTest]:
    """Yield Nidhugg's smoke tests, with what the results say that it has for reference: Allow is an error."""
    for line in (folder / "reference.results.txt").read_text().splitlines():
        words = line.split()
        if len(words) > 1 and words[1] in ("Allow", "Forbid"):
            file = folder / "C-tests" / f"{words[0]}.c"
            head = re.search(r"^// nidhuggc: (.*)$", file.read_text(errors="replace"), re.MULTILINE)
            asked = head[1].split() if head else ["--sc"]
            model = next((word[2:] for word in asked if word[2:] in ("sc", "tso", "pso", "power", "arm")), "")
            yield PeerTest(file, (f"-I{file.parent}",), WRONG if words[1] == "Allow" else RIGHT, model)


def dartagnan(folder: Path) -> Iterator[PeerTest]:
    """Yield the programs of a folder of Dartagnan's benchmarks as they are written, which are right."""
    for file in sorted(folder.glob("*.c")):
        if re.search(r"^\s*int main\s*\(", file.read_text(), re.MULTILINE):
            yield PeerTest(file, (f"-I{folder}", f"-I{folder.parents[1] / 'include'}"), RIGHT)


PEERS = {"genmc": genmc, "nidhugg": nidhugg, "dartagnan": dartagnan}

SAFETY = ("race", "bounds", "trap", "uninitialised", "mixed-size")
"""The questions that every checker of C asks."""


def answered(test: PeerTest, words: Sequence[str], limit: float) -> dict[str, str]:
    """Return the row of a test."""
    given = [word for option in test.options for word in ("-X", option)]
    model = ("-m", "sc") if test.about in ("sc", "tso", "pso") else ()
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as errors,
    ):
        file = test.file
        if test.caller:
            file = Path(folder, f"goes-on{test.file.suffix}")
            file.write_text(test.caller, encoding="utf-8")
        command = [sys.executable, "-m", "synth", "check", str(file), "--format", "jsonl", *given, *model, *words]
        process = subprocess.Popen(command, stdout=out, stderr=errors, text=True, start_new_session=True)
        timer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        lines, problem = [line for line in out if line.startswith("{")], errors.read().strip()
    if process.returncode < 0:
        answer, reason = "too slow", f"more than {limit:.0f} s"
    else:
        record = json.loads(lines[-1]) if lines else {}
        answer, reason = _answer(record, test) if record else ("error", problem[-300:])
    seconds = used.ru_utime + used.ru_stime
    options = " ".join(option for option in test.options if not option.startswith("-I"))
    return {
        "file": str(test.file),
        "options": options,
        "expected": test.expected + (f" ({test.about})" if test.about else ""),
        "answer": answer,
        "as it says": YES if answer == test.expected else NO if answer in (RIGHT, WRONG) else "",
        "seconds": f"{seconds:.1f}",
        "reason": reason.replace("\n", " "),
    }


def _answer(record: Mapping[str, object], test: PeerTest) -> tuple[str, str]:
    """Return whether a program is safe, wrong, or neither is known, and why."""
    answers, findings = record.get("answers") or {}, record.get("findings") or []
    assert isinstance(answers, Mapping) and isinstance(findings, Sequence)
    asked = [name for name in SAFETY if not (name == "race" and test.about == "no races")]
    asked += ["hang"] if test.about == "liveness" else []
    found = [finding for finding in findings if finding["kind"] in asked]
    if found:
        return WRONG, f"{found[0]['kind']}: {found[0]['text']}"
    notes = [note for note in record.get("assumed") or () if "may never end" in note]  # type: ignore[attr-defined]
    if notes and test.about == "liveness":  # GenMC goes on where main returns
        return WRONG, notes[0]
    reasons = record.get("reasons") or record.get("problem") or ""
    why = "; ".join(map(str, reasons)) if isinstance(reasons, list) else str(reasons)
    if test.about == "no races" and why.startswith("a data race leaves all else undefined"):
        return RIGHT, why  # besides the races, which the test says are not asked for
    if not answers:
        return str(record.get("answer") or "not understood").lower(), why or str(record)
    states = {str(answers.get(name)) for name in asked if name != "hang"}
    if "NOT UNDERSTOOD" in states:
        return "not understood", why
    if states <= {"SAFE", "NOT ASKED"}:
        return RIGHT, "" if record.get("bounded") is None else f"within {record['bounded']} jumps back"
    return "unknown", why or str(answers)


def beside(rows: Sequence[Mapping[str, str]], peer: Mapping[str, Mapping[str, str]], folder: Path) -> Iterator[str]:
    """Yield for each folder of tests how many both answer, and the seconds of both: medians and sums."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        other = peer.get(row["file"])
        if other is not None and row["answer"] in (RIGHT, WRONG) and re.match(f"({RIGHT}|{WRONG})\\b", other["answer"]):
            place = "/".join(Path(row["file"]).relative_to(folder).parts[:2])
            pairs.setdefault(place, []).append((float(row["seconds"]), float(other["seconds"])))
    for place, seconds in sorted(pairs.items()):
        ours, theirs = zip(*seconds, strict=True)
        yield (
            f"{place}: {len(seconds)} tests, {median(ours):.2f} s and {sum(ours):.1f} s in all; "
            f"the checker {median(theirs):.2f} s and {sum(theirs):.1f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=sorted(PEERS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="tests whose path has this word")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a test")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--beside", type=Path, help="a table of the checker's own answers and seconds")
    options, words = parser.parse_known_args()
    tests = [test for test in PEERS[options.peer](options.folder) if re.search(options.only, str(test.file))]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = []
        for row in pool.map(lambda test: answered(test, words, options.limit), tests):
            rows.append(row)
            print(*(row[name] for name in COLUMNS), sep="\t", flush=True)
            if options.output is not None:
                _write(options.output, rows)
    counts = Counter((row["expected"], row["answer"]) for row in rows)
    for (expected, answer), count in sorted(counts.items()):
        print(f"{count:5} {expected}: {answer}")
    if options.beside is not None:
        with options.beside.open(encoding="utf-8", newline="") as file:
            peer = {row["file"]: row for row in csv.DictReader(file)}
        print(*beside(rows, peer, options.folder), sep="\n")


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
