"""Runs one program after the other with a host in one process. ``backends.shared.process.Server`` asks for them.

    python serve.py HOST.py OPTIONS --serve

``HOST.py`` is a host: its ``parser()`` knows the options, and ``run(arguments, path, iterations)`` runs a program,
prints the lines of its iterations, and gives an exit code and last words. A device that is lost, code 124, ends the
process, for the next one may find it anew.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from backends.shared.hosting import LOST, in_one_line


def serving(host: Path, options: Sequence[str]) -> list[str]:
    """Return the command that serves with a host; ``--serve`` is appended to it."""
    return [sys.executable, __file__, str(host), *options]


def main() -> int:
    """Run a program for each line of the input with a host, until the input ends."""
    path, *options = sys.argv[1:-1]
    spec = spec_from_file_location("host", path)
    assert spec is not None and spec.loader is not None
    host = module_from_spec(spec)
    spec.loader.exec_module(host)
    arguments = host.parser().parse_args(options)
    for line in sys.stdin:
        iterations, _, program = line.rstrip("\n").partition(" ")
        code, words = host.run(arguments, Path(program), int(iterations))
        print("done", code, in_one_line(words), flush=True)
        if code == LOST:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
