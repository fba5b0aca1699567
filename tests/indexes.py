"""uv, told where packages come from as pip is told: pip reads settings of its own, and uv only its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from absent import absent

UV = [sys.executable, "-m", "uv"]
SETTINGS = {"cert": "SSL_CERT_FILE", "index-url": "UV_DEFAULT_INDEX", "proxy": "ALL_PROXY"}
"""Settings of pip, and the variables in which uv takes them."""


@cache
def uv_environment() -> dict[str, str]:
    """This environment with the settings of pip, but for those that it has for uv already; no Python is fetched."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    told = dict(line.partition("=")[::2] for line in listed.splitlines() if "=" in line)
    found = {
        variable: value.strip("'\"")
        for scope in ("global", "user", "site", "install", ":env:")
        for setting, variable in SETTINGS.items()
        if (value := told.get(f"{scope}.{setting}"))
    }
    return {**found, **os.environ, "UV_PYTHON_DOWNLOADS": "never"}


def resolved(requirements: Path, *options: str) -> dict[str, str]:
    """The version of each package that those of a ``pyproject.toml`` need, by name, with every extra.

    Skips where no index of packages can be reached; on CI it fails.
    """
    command = [*UV, "pip", "compile", requirements.name, "--no-header", "--no-annotate", "--all-extras", *options]
    done = subprocess.run(command, cwd=requirements.parent, env=uv_environment(), capture_output=True, text=True)
    if done.returncode and ("error sending request" in done.stderr or "Failed to fetch" in done.stderr):
        absent(f"no index of packages answers: {json.dumps(done.stderr[-300:])}")
    assert done.returncode == 0, done.stderr
    pinned = (line.partition(" ")[0].partition("==") for line in done.stdout.splitlines() if "==" in line)
    return {name: version for name, _, version in pinned}
