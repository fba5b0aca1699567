"""The entry point of the program ``synth``, also for ``python -m synth``."""

from __future__ import annotations

from synth.interruption import end_at_once, goes_to_its_end


def main() -> None:
    """Run the ``synth`` command, loading the command line only once it is needed."""
    end_at_once()
    from synth.cli import main as command  # slow to import

    try:
        command()
    finally:
        goes_to_its_end()


if __name__ == "__main__":
    main()
