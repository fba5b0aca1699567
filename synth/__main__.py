"""The program ``synth``, as the script of the distribution and ``python -m synth`` run it."""

from __future__ import annotations

from synth.interruption import end_at_once


def main() -> None:
    """Run the command; Ctrl-C before it begins and after it has ended ends the process."""
    end_at_once()
    from synth.cli import main as command  # takes its time to be loaded

    command()


if __name__ == "__main__":
    main()
