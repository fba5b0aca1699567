"""The page on CI, executed: the action and the workflows step by step on a small repository, with stubs for pip."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import synth
from schemas import GITHUB_ACTION, GITHUB_WORKFLOW, GITLAB_CI, PRE_COMMIT, complaints, read_sarif

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


def checked_out(_: dict[str, str]) -> bool:
    """The repository as a runner has it, in a folder of its own that is the working directory from here on."""
    given = Path.cwd()
    for words in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-qm", "kernels"], ["clone", "-q", ".", "../work"]):
        subprocess.run(["git", *words], cwd=given, check=True)
    os.chdir(given.parent / "work")
    return True


def cached(inputs: dict[str, str]) -> bool:
    """Nothing is kept yet, so nothing is restored; what is to be kept when the job ends is the user's folder."""
    assert inputs["path"].startswith("~/") and not Path(inputs["path"]).expanduser().exists()
    assert inputs["key"].startswith(inputs["restore-keys"].strip()), "a key of an earlier change is its beginning"
    return True


def acted(inputs: dict[str, str]) -> bool:
    """The action of this repository."""
    return not any(stepped(inputs))


def uploaded(inputs: dict[str, str]) -> bool:
    """What code scanning takes: SARIF, whose places are paths from the root of the repository."""
    (run,) = read_sarif(Path(inputs["sarif_file"]).read_text())["runs"]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert set(places) <= set(tracked)
    UPLOADED.update((each["ruleId"], place) for each, place in zip(run["results"], places, strict=True))
    return True


AUTHOR = ("-c", "user.name=kernels", "-c", "user.email=kernels@example.org")
UPLOADED: set[tuple[str, str]] = set()
USED: dict[str, Callable[[dict[str, str]], bool]] = {
    "actions/checkout": checked_out,
    "actions/cache": cached,
    "OWNER/synth": acted,
    "github/codeql-action/upload-sarif": uploaded,
}
"""What each step of the workflow does here: whether it succeeds, given its inputs."""


@pytest.mark.parametrize("mended", [False, True])
def test_the_workflow_step_by_step(repository: Path, monkeypatch: pytest.MonkeyPatch, mended: bool) -> None:
    assert synth("check", "kernels/right.ptx", "-o", "known.csv").exit_code == 0
    monkeypatch.setenv("HOME", str(repository.parent / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("SYNTH_CACHE_DIR", raising=False)
    if mended:
        (repository / "kernels" / "races.ptx").unlink()
    UPLOADED.clear()
    steps = WORKFLOW["jobs"]["check"]["steps"]
    done: dict[str, bool] = {}
    for step in steps:
        name, _, version = step["uses"].partition("@")
        assert version
        if all(done.values()) or step.get("if") == "always()":
            done[name] = USED[name](step.get("with", {}))
    assert list(done) == [step["uses"].partition("@")[0] for step in steps]
    assert [name for name, right in done.items() if not right] == ([] if mended else ["OWNER/synth"])
    expected = set() if mended else {("race", "kernels/races.ptx")}
    assert expected == UPLOADED
    (kept,) = (step["with"]["path"] for step in steps if step["uses"].startswith("actions/cache@"))
    assert any(Path(kept).expanduser().rglob("*"))
    assert (repository.parent / "pip.log").read_text() == f"install --quiet {ROOT}[cuda,glsl]\n"


@pytest.mark.parametrize(
    ("document", "schema"),
    [(ACTION, GITHUB_ACTION), (WORKFLOW, GITHUB_WORKFLOW), (GITLAB, GITLAB_CI), (HOOKS, PRE_COMMIT)],
    ids=["action", "workflow", "gitlab", "pre-commit"],
)
def test_the_files_of_ci_are_what_their_services_read(document: dict[Any, Any], schema: str) -> None:
    named = {"on" if name is True else name: value for name, value in document.items()}  # YAML 1.1 reads on as true
    assert complaints(named, schema) == []
    assert complaints({**named, "jobs": 1, "runs": 1, "kernels": 1, "repos": 1}, schema)


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
