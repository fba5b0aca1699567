"""Test results as JUnit XML, which CI services show. It follows the schema of Jenkins' xUnit plugin.

In any name, characters that XML cannot hold become U+FFFD.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr

from synth.drawing.pictures import printable


class CaseOutcome(StrEnum):
    """The outcome of a test case; its value is the name of the XML element that states it."""

    PASSED = ""
    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: a test of a suite with its outcome and the reason, or what else is to say of one that passed;
    ``seconds`` where they are known.
    """

    name: str
    ending: CaseOutcome = CaseOutcome.PASSED
    message: str = ""
    seconds: float | None = None


def class_name(backend: str, device: str, driver: str, compiler: str, *way: str) -> str:
    """Return the class of the cases that were run in one way on one device, which is also the name of their suite.

    Example: ``cuda.NVIDIA H100 80GB HBM3.580.1.nvcc 13.0.round-robin``. Two devices of one back end are two classes,
    and so are two drivers of one device. CI services take what stands before the last dot for a package.
    """
    return ".".join(filter(None, (backend, device, driver, compiler, *way)))


def junit(name: str, suites: Mapping[str, Sequence[Case]]) -> str:
    """Return the JUnit document, with a suite for each entry; suites and cases keep the order given."""
    every = [case for cases in suites.values() for case in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={_quoted(name)} {_counts(every)}>"]
    for suite, cases in suites.items():
        lines.append(f"  <testsuite name={_quoted(suite)} {_counts(cases)}>")
        for case in cases:
            time = "" if case.seconds is None else f' time="{case.seconds:.3f}"'
            head = f"    <testcase classname={_quoted(suite)} name={_quoted(case.name)}{time}"
            if case.ending is CaseOutcome.PASSED and case.message:
                lines.append(f"{head}><system-out>{escape(printable(case.message))}</system-out></testcase>")
            elif case.ending is CaseOutcome.PASSED:
                lines.append(f"{head}/>")
            else:
                lines.append(f"{head}><{case.ending} message={_quoted(case.message)}/></testcase>")
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _counts(cases: Sequence[Case]) -> str:
    endings = [case.ending for case in cases]
    counts = {
        "tests": len(cases),
        "failures": endings.count(CaseOutcome.FAILURE),
        "errors": endings.count(CaseOutcome.ERROR),
        "skipped": endings.count(CaseOutcome.SKIPPED),
    }
    return " ".join(f'{key}="{count}"' for key, count in counts.items())


def _quoted(text: str) -> str:
    return quoteattr(printable(text), {"\n": "&#10;", "\t": "&#9;"})
