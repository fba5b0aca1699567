r"""Writes into the files of a test which trial they are. So a log of what was run elsewhere can be brought back.

The last line of a file is the beginning of a trial (``backends.shared.results``) as JSON: all that is known when the
file is written, which test it is and how it is launched. Programs of their own have it as a string, hosts in Python
find it in a comment. When a test begins, ``{"began":{..}}`` with the whole trial but for the time-out, which is not the
program's, goes to the log; at its end, its result or failure goes there. ``synth import`` reads both.

The JSON is ASCII and has no control characters, so that no name of a test ends the comment or the string that it is in;
and it ends in a letter, digit, quote or bracket, so that the line is not continued.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec

from backends.shared.layout import Layout
from backends.shared.mapping import DEVICE, Launch
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from corpus.progress.axb import digest as progress_digest

Embedding = Callable[[str], str]
"""A function from JSON to the line of a file that holds it."""

COMMENT = "// trial "


def as_comment(trial: str) -> str:
    """Return the JSON as a comment line, where ``backends.shared.hosting`` finds it."""
    return f"{COMMENT}{trial}\n"


def as_string(trial: str) -> str:
    r"""Return the JSON as a string of C++, less its closing bracket, for programs add to it
    (``backends.shared.main``).

    A question mark is escaped, for ``??/`` is a backslash to compilers that know trigraphs.
    """
    begun = trial.removesuffix("}").replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return f'\nconst char TRIAL[] = "{begun}";\n'


def progress_trial(name: str, digest: str | None, backend: str, launch: Launch) -> str:
    """Return what is known of a trial of a progress test; its digest is computed where it is not given."""
    placement = {} if launch.placement == DEVICE else {"placement": launch.placement.name}
    return _json(
        {
            "test": name,
            "digest": digest or progress_digest(launch.program),
            "backend": backend,
            "mapping": launch.mapping.name,
            "instances": launch.instances,
            "every_iteration": False,
            **placement,
        }
    )


def memory_trial(backend: str, layout: Layout, profile: str = "") -> str:
    """Return what is known of a trial of a memory test, which is launched as the profile of that name says."""
    named = {"profile": profile} if profile else {}
    return _json(
        {
            "test": layout.test.name,
            "digest": litmus_digest(layout.test),
            "backend": backend,
            "instances": layout.instances,
            "stress": bool(layout.parameters.stress),
            "terms": [spell(term) for term in layout.terms],
            **named,
        }
    )


def _json(known: object) -> str:
    return json.dumps(msgspec.to_builtins(known), separators=(",", ":"))
