"""The page on CI, executed: the action and the workflows step by step on a small repository, with stubs for pip."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import synth

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOW, GITLAB, HOOKS = (yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S))

KERNEL = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 p) {{
 .reg .b64 %rd<2>;
 .reg .b32 %r<2>;
 ld.param.u64 %rd1, [p];
 mov.u32 %r1, {value};
 {store} [%rd1], %r1;
 ret;
}}
"""
RACES = KERNEL.format(name="races", value="%ctaid.x", store="st.global.u32")
RIGHT = KERNEL.format(name="right", value="1", store="st.relaxed.gpu.global.u32")
STUB = """\
#!/bin/bash
# python3 -m venv FOLDER, pip and synth of that folder
mkdir -p "$3/bin"
printf '#!/bin/bash\\necho "$@" >> "%s/pip.log"\\n' "$RUNNER_TEMP" > "$3/bin/pip"
printf '#!/bin/bash\\nexec %s -P -m synth "$@"\\n' "$REAL_PYTHON" > "$3/bin/synth"
chmod +x "$3/bin/pip" "$3/bin/synth"
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a kernel that races and one that does not, and stubs of Python and pip on PATH."""
    kernels = tmp_path / "repository" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "races.ptx").write_text(RACES)
    (kernels / "right.ptx").write_text(RIGHT)
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    (stubs / "python3").write_text(STUB)
    (stubs / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{stubs}:{os.environ['PATH']}")
    monkeypatch.setenv("REAL_PYTHON", shlex.quote(sys.executable))
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(kernels.parent)
    return kernels.parent


def stepped(inputs: dict[str, str]) -> list[int]:
    """The exit codes of the steps of the action, each with the environment that GitHub makes."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        return str(ROOT) if name == "github.action_path" else given[name.removeprefix("inputs.")]

    given = {name: str(each["default"]) for name, each in ACTION["inputs"].items()} | inputs
    codes = []
    for step in ACTION["runs"]["steps"]:
        env = {name: re.sub(r"\$\{\{ ([\w.]+) \}\}", value, text) for name, text in step["env"].items()}
        assert "${{" not in step["run"]  # inputs are data: none is in the text of a script
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        codes.append(subprocess.run(words, env=os.environ | env, check=False).returncode)
    return codes


def action_of(workflow: dict[str, Any]) -> dict[str, str]:
    """What a workflow hands the action."""
    (step,) = (step for step in workflow["jobs"]["check"]["steps"] if "/synth@" in step["uses"])
    return dict(step["with"])


def test_the_action_finds_and_uploads(repository: Path) -> None:
    inputs = action_of(WORKFLOW)
    assert stepped(inputs | {"known": ""}) == [0, 1]
    assert (repository.parent / "pip.log").read_text() == f"install --quiet {ROOT}[cuda,glsl]\n"
    uploaded = WORKFLOW["jobs"]["check"]["steps"][-1]
    assert uploaded["if"] == "always()" and uploaded["with"]["sarif_file"] == ACTION["inputs"]["sarif"]["default"]
    (run,) = json.loads(Path(uploaded["with"]["sarif_file"]).read_text())["runs"]
    places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert places == {"kernels/races.ptx"} and {result["ruleId"] for result in run["results"]} == {"race"}


def test_what_is_known_does_not_fail(repository: Path) -> None:
    (command,) = re.findall(r"^```bash\n(.*)\n```$", PAGE, re.M)
    program, *words = shlex.split(command)
    assert program == "synth" and synth(*words).exit_code == 1
    inputs = action_of(WORKFLOW)
    assert stepped(inputs) == [0, 0]
    (repository / "kernels" / "more.ptx").write_text(RACES)
    assert stepped(inputs) == [0, 1]


def test_names_of_files_are_no_options_and_no_commands(repository: Path) -> None:
    hostile = "$(touch CANARY)\n-o\n--known\n`touch CANARY`"
    assert stepped({"files": hostile}) == [0, 2]
    assert sorted(each.name for each in repository.iterdir()) == ["kernels", "synth.sarif"]


def test_gitlab(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = GITLAB["kernels"]
    assert synth("check", "kernels", "-o", "known.csv").exit_code == 1
    subprocess.run(["python3", "-m", "venv", str(repository.parent / "venv")], check=True)
    monkeypatch.setenv("PATH", f"{repository.parent / 'venv' / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("CI_BUILDS_DIR", str(repository.parent / "builds"))
    script = [line.replace('git clone --depth 1 "$SYNTH_REPOSITORY"', "true") for line in job["script"]]
    subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(script)], check=True)
    report = Path(job["artifacts"]["reports"]["junit"]).read_text()
    assert report.count("<testcase ") == 8 and "race" in report


def test_before_each_commit(repository: Path) -> None:
    (hook,) = HOOKS["repos"][0]["hooks"]
    changed = [str(each.relative_to(repository)) for each in sorted(repository.rglob("*")) if each.is_file()]
    assert all(re.search(hook["files"], name) for name in changed)
    assert synth("check", "kernels", "-o", "known.csv").exit_code == 1
    program, *words = shlex.split(hook["entry"])
    assert program == "synth" and synth(*words, *changed).exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected answers of synth check as csv"),
        ("file,answer\n", "expected answers of synth check as csv"),
        ("{head}a,b\n", "known.csv:2: expected 11 cells, found 2"),
        ("{head}\x00\n", "known.csv"),
        ("{head}k.ptx,k,2x1,ptx,FUND,race,,,,,\n", "known.csv:2: expected an answer, found 'FUND'"),
    ],
)
def test_known_answers_that_are_none(repository: Path, text: str, said: str) -> None:
    head = synth("check", "kernels/right.ptx", "--format", "csv").stdout.partition("\n")[0] + "\n"
    Path("known.csv").write_text(text.replace("{head}", head))
    result = synth("check", "kernels", "--known", "known.csv")
    assert result.exit_code == 2 and said in result.stderr and len(result.stderr.splitlines()) == 1
