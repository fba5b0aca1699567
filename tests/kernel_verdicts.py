"""What ``synth check`` says of kernels in the words of a table of verdicts: answers, letters and lines."""

import json
from pathlib import Path

from commands import synth

from synth.checking.questions import PROGRESS, QUESTIONS

LETTERS = {"TERMINATES": "T", "MAY_HANG": "H"}


def checked(paths, *more):
    result = synth("check", *paths, "--json", "--jobs", 1, *more)
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


def told(row):
    """What a row says: answers, letters, and the lines of each kind of finding."""
    lines = dict(part.split(":") for part in row["lines"].split(";") if part)
    return {name: row[name] for name in (*QUESTIONS, *PROGRESS)} | {"lines": lines}


def answers(one, expected):
    """What the program says in the words of a row; the lines as the row has them where they are as it says."""
    said = {name: one["answers"].get(name, "") for name in QUESTIONS}
    letters = {name: LETTERS[one["hang"][name]] if name in one["hang"] else "" for name in PROGRESS}
    lines = {}
    for finding in one["findings"]:
        kind = finding["kind"]
        if finding["places"]:
            places = {own_line(one["file"], place) for place in finding["places"]} - {None}
            wanted = expected.get("lines", {}).get(kind, "")
            options = [set(map(int, option.split())) for option in wanted.split("|")]
            right = any(places >= option if kind == "hang" else places == option for option in options)
            lines[kind] = wanted if right else " ".join(map(str, sorted(places)))
    return said | letters | {"lines": lines}


def own_line(file, place):
    """The line of a file at which an instruction of it is, or calls what it is in."""
    return next((line["line"] for line in place["lines"] if Path(line["file"]).name == Path(file).name), None)
