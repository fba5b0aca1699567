"""Commands of ``synth``, run in this process as click's own tests run them."""

from typing import Any

from click.testing import CliRunner, Result

from synth.cli import main


def synth(*words: object, **options: Any) -> Result:
    """What a command says and its exit status; ``options`` are click's. An error in the program is raised here."""
    return CliRunner().invoke(main, list(map(str, words)), prog_name="synth", catch_exceptions=False, **options)


def printed(*words: object, exit_code: int = 0) -> str:
    """What a command prints, where it ends with that status: on stdout where all is well, else on stderr."""
    result = synth(*words)
    assert result.exit_code == exit_code, result.output
    return result.stdout if exit_code == 0 else result.stderr
