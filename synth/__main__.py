"""The entry point of the program ``synth``, also for ``python -m synth``."""

from __future__ import annotations

import os
import sys

from synth.interruption import end_at_once, goes_to_its_end


def main() -> None:
    """Run the ``synth`` command, loading the command line only once it is needed."""
    end_at_once()
    _open_streams()
    from synth.commands.cli import main as command  # slow to import

    try:
        command()
    finally:
        goes_to_its_end()


def _open_streams() -> None:
    """Have what was closed, as by ``>&-``, be as ``/dev/null``: else a file that is opened later would be in its place,
    and Python has no stream for it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode))


if __name__ == "__main__":
    main()
