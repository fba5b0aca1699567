"""``synth completion``: a script that a shell can use, installed where it looks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from absent import absent
from click.testing import CliRunner, Result

from synth.commands.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
PLACES = {
    "bash": "data/bash-completion/completions/synth",
    "zsh": "data/zsh/site-functions/_synth",
    "fish": "settings/fish/completions/synth.fish",
}


def synth(*arguments: str, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(main, arguments, prog_name="synth", catch_exceptions=False)


@pytest.mark.parametrize("shell", PLACES)
def test_it_is_installed_where_the_shell_looks(tmp_path: Path, shell: str) -> None:
    printed = synth("completion", shell)
    assert printed.exit_code == 0 and "_SYNTH_COMPLETE" in printed.stdout
    environment = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path / "settings")}
    for _ in range(2):  # a later version writes over it
        result = synth("completion", "--install", SHELL=f"/usr/bin/{shell}", **environment)
        assert result.exit_code == 0 and result.stdout.startswith(str(tmp_path / PLACES[shell]))
    assert (tmp_path / PLACES[shell]).read_text() == printed.stdout


def test_a_shell_that_is_not_known() -> None:
    result = synth("completion", SHELL="/usr/bin/tcsh")
    assert result.exit_code == 2 and result.stderr == "synth: your shell is not one of bash, zsh, fish; name one\n"


def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    """The script in a real bash, with a ``synth`` on its path."""
    bash = shutil.which("bash")
    if bash is None:
        absent("no bash here")
    program = tmp_path / "synth"
    program.write_text(f"#!{sys.executable}\nfrom synth.commands.cli import main\nmain(prog_name='synth')\n")
    program.chmod(0o755)
    (tmp_path / "script").write_text(synth("completion", "bash").stdout)

    def completed(*words: str) -> list[str]:
        line = f"source script; COMP_WORDS=({' '.join(words)}) COMP_CWORD={len(words) - 1}; _synth_completion synth"
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        command = [bash, "-c", f'{line}; echo "${{COMPREPLY[@]}}"']
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout.split()

    assert completed("synth", "co") == [name for name in COMMANDS if name.startswith("co")]
    assert "--threads" in completed("synth", "progress", "--th")
