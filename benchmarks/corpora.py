"""Time and peak memory of the commands that take a corpus, start-up included: a row for each.

    python benchmarks/corpora.py                         on all tests of 3x5, which it makes: half an hour
    python benchmarks/corpora.py CORPUS                  on a corpus of progress tests that is there
    python benchmarks/corpora.py CORPUS show select      some of the commands

`verify` is left out where a corpus has no certificate. `compile` takes a tenth of the tests, at most: a file each, on
the disk before the next is written. Memory is as benchmarks/measuring.py has it. Figures are in docs/corpus.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import SYNTH, measure
from rich.console import Console
from rich.table import Table

from corpus.certificates import FOLDER
from corpus.suite import read_manifest

COMMANDS = {
    "show": ["show", "CORPUS"],
    "show --tests": ["show", "CORPUS", "--tests"],
    "show --tests --json": ["show", "CORPUS", "--tests", "--json"],
    "select": ["select", "CORPUS", "--separate-models"],
    "export --to axb": ["export", "CORPUS", "--to", "axb", "-o", "OUT"],
    "export --to dartagnan-ptx": ["export", "CORPUS", "--to", "dartagnan-ptx", "-o", "OUT"],
    "label": ["label", "CORPUS", "--model", "hsa-weak", "-o", "OUT"],
    "compile": ["compile", "CORPUS", "--where", "*0", "--backend", "cpp", "-o", "OUT"],
    "verify": ["verify", "CORPUS"],
}
"""The commands by what the table calls them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=Path)
    parser.add_argument("commands", nargs="*", help=f"default: all of {', '.join(map(repr, COMMANDS))}")
    options = parser.parse_args()
    chosen = options.commands or list(COMMANDS)
    for name in chosen:
        if name not in COMMANDS:
            parser.error(f"expected one of {', '.join(map(repr, COMMANDS))}, found {name!r}")
    table = Table("command", box=None)
    for heading in ("s", "MB"):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as scratch:
        corpus = options.corpus
        if corpus is None:
            corpus = Path(scratch, "suite")
            make = ["progress", "--threads", "3", "--instrs", "5", "--all", "--certify"]
            _measure(table, " ".join(make), [*make, "-o", str(corpus)])
        elif not (corpus / FOLDER).exists() and not options.commands:
            chosen.remove("verify")
        for number, name in enumerate(chosen):
            places = {"CORPUS": str(corpus), "OUT": str(Path(scratch, str(number)))}
            _measure(table, name, [places.get(word, word) for word in COMMANDS[name]])
        table.title = f"{read_manifest(corpus)['counts']['tests']:,} tests"
    Console(width=100 if not sys.stdout.isatty() else None).print(table)


def _measure(table: Table, name: str, command: list[str]) -> None:
    seconds, kilobytes = measure([SYNTH, *command])
    table.add_row(name, f"{seconds:.1f}", f"{kilobytes / 1024:.0f}")


if __name__ == "__main__":
    main()
