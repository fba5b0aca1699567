"""Random programs in C: what synth answers, beside what gcc's programs do and what its sanitizers find.

    python benchmarks/c_programs.py 0 10000 -o programs.csv
    python benchmarks/c_programs.py 0 10000 -o programs.csv --again 'MISSED|NOT ALLOWED'

One row for each seed (``tests/random_c_programs.py``): whether the program is right by construction, what became of
it, and why. ``safe``: all that was seen is allowed, and no fault was found; words in capitals are disagreements. Rows
that the file has are kept; ``--again`` makes those anew whose word matches. ``--show SEED`` prints a program.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[0] = str(Path(__file__).resolve().parents[1] / "tests")  # for oracle.py beside this file is no package

from compared_c_programs import compared, warm  # noqa: E402
from random_c_programs import random_program  # noqa: E402

COLUMNS = ("seed", "clean", "result", "outcomes", "seconds", "why")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("behind", type=int)
    parser.add_argument("-o", "--output", type=Path, default=Path("programs.csv"))
    parser.add_argument("--limit", type=int, default=3, help="seconds of CPU that synth has for a program")
    parser.add_argument("--together", type=int, default=25, help="programs in one file")
    parser.add_argument("--minutes", type=float, default=600, help="when no more are begun")
    parser.add_argument("--again", metavar="WORDS")
    parser.add_argument("--show", type=int, metavar="SEED")
    options = parser.parse_args()
    if options.show is not None:
        print(random_program(options.show).whole(), end="")
        return
    rows = _rows(options.output)
    if options.again:
        rows = {seed: row for seed, row in rows.items() if not re.search(options.again, row["result"])}
    gcc, end = shutil.which("gcc"), time.monotonic() + 60 * options.minutes
    assert gcc is not None, "gcc is needed"
    warm()
    left = [seed for seed in range(options.first, options.behind) if seed not in rows]
    for number, seeds in enumerate(_parts(left, options.together)):
        if time.monotonic() > end:
            break
        with TemporaryDirectory() as folder:
            level = ("-O1", "-O2", "-O0")[number % 3]
            for seed, program, word, why, outcomes, seconds in compared(
                gcc, folder, seeds, level=level, limit=options.limit
            ):
                values = (
                    seed,
                    "yes" if program.clean else "",
                    word,
                    outcomes,
                    f"{seconds:.2f}",
                    why.replace("\n", " "),
                )
                rows[seed] = dict(zip(COLUMNS, map(str, values), strict=True))
                if word.isupper():
                    print(*values, flush=True)
        _write(options.output, rows)
        print(len(rows), dict(Counter(row["result"] for row in rows.values())), flush=True)


def _parts(seeds: list[int], size: int) -> list[list[int]]:
    return [seeds[begin : begin + size] for begin in range(0, len(seeds), size)]


def _rows(path: Path) -> dict[int, dict[str, str]]:
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {int(row["seed"]): row for row in csv.DictReader(file)}


def _write(path: Path, rows: dict[int, dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows[seed] for seed in sorted(rows))


if __name__ == "__main__":
    main()
