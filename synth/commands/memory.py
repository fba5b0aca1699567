"""``synth memory`` synthesises memory tests from a model, or from edges of critical cycles.

The command is three functions: ``from_model`` (``--from``), ``from_edges`` (``--edges``) and ``list_cycles`` (``--edges
.. --cycles``). Each takes the options that it has a use for, and an option that it does not take is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import click
from click.core import ParameterSource

from constraints.programs.criterion import BOTH, Criterion
from synth.options.form import Page
from synth.options.models import ModelName, models_option
from synth.options.question_folder import output_option
from synth.options.values import MOST_EDGES, Span
from synth.options.vocabulary import vocabulary_option
from synth.options.work import A_PART, limit_options, run_options, solver_option
from synth.requests import MOST_EVENTS


@click.command(
    name="memory",
    cls=Page,
    first="--from --events --edges --size --model --output",
    sections={
        "With --from": "--axiom --vocabulary --criterion --up-to --mutants",
        "With --edges": (
            "--thread-accesses --location-accesses --like-diy7 --compositions --distinguish --cycles --minimal"
        ),
    },
)
@click.option(
    "--edges",
    "-e",
    metavar="NAMES|@FILE",
    help="Build cycles from these edges (synth edges lists all), or from a file of them, with # comments.",
)
@click.option(
    "--from", "source", type=ModelName(), metavar="MODEL", help="Find every minimal test of this model instead."
)
@click.option(
    "--events", type=Span(2, MOST_EVENTS), metavar="N", default="2..4", show_default=True, help="Number of events."
)
@click.option("--axiom", "axioms", multiple=True, metavar="NAME", help="Only tests that need this axiom. Repeatable.")
@vocabulary_option
@click.option(
    "--criterion",
    type=click.Choice([*(criterion.value for criterion in Criterion), BOTH]),
    default=Criterion.OUTCOME.value,
    show_default=True,
    help="Test minimality by outcome or by execution; both keeps the tests by outcome and also counts the others.",
)
@click.option(
    "--up-to",
    type=click.Choice(["test", "program"]),
    default="test",
    show_default=True,
    help="Keep every test, or one test of each program.",
)
@click.option(
    "--mutants",
    is_flag=True,
    help="Add allowed near twins of each test: its relaxations, and the test with two neighbouring accesses swapped.",
)
@click.option("--size", type=Span(2, MOST_EDGES), default="4", show_default=True, help="Number of edges in a cycle.")
@click.option("--threads", "-t", type=Span(1), help="Only tests with this many threads.")
@click.option(
    "--scopes",
    metavar="LIST",
    help="Some of cta,gpu,sys. With --edges: the scopes that names without one mean. With --from: use only these.",
)
@click.option(
    "--regions", metavar="LIST", help="Place locations in these of global,shared.  [default with --edges: global]"
)
@click.option(
    "--thread-accesses", type=click.IntRange(min=1), default=2, show_default=True, help="Most accesses of a thread."
)
@click.option(
    "--location-accesses", type=click.IntRange(min=2), default=3, show_default=True, help="Most accesses of a location."
)
@click.option("--like-diy7", is_flag=True, help="Find the cycles that diy7 -mode critical finds with these edges.")
@click.option(
    "--compositions", is_flag=True, help="Allow one communication edge after another, such as rf;fr, which is co."
)
@models_option("Label tests under this model, as for synth label. Repeatable.")
@click.option(
    "--distinguish",
    metavar="A>B",
    help="Only tests that model A allows and model B forbids. A side may list several, A,B>C,D, or none: A>, >B.",
)
@click.option("--cycles", "listing", is_flag=True, help="Print the cycles, one on each line, and write nothing.")
@click.option("--minimal", is_flag=True, help="Leave out a test that contains another with the same verdicts.")
@click.option("--certify", is_flag=True, help="Write a certificate that no test is missing; synth verify checks it.")
@click.option("--max-tests", type=click.IntRange(min=1), help="Stop after finding this many tests.")
@run_options
@solver_option
@limit_options(f"{A_PART}; with --edges, for each test under all models", whole=True)
@output_option
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Synthesise memory tests, from a model or from edges.

    --from MODEL: every smallest test of the model. synth searches all programs up to the given number of events, built
    from whatever the model can tell apart. It keeps each program with an outcome that the model forbids but allows
    after every single relaxation of the program (docs/suites.md lists the relaxations).

    --edges NAMES: every critical cycle with the given number of these edges. A cycle of program order and communication
    between threads is what sequential consistency forbids; its test asks whether it can happen. synth finds each cycle
    once, up to the choice of its first edge and the names of threads and locations, with every scope tree that --scopes
    tells apart. docs/memory.md defines cycles, their tests, and what --minimal compares. --cycles lists the cycles,
    each with the name of its test, and makes no tests.

    Either way, a solver searches until it has proved that there are no other tests; then the manifest says complete.
    The suite is a corpus (docs/corpus.md) in a folder that is named after the question unless you give --output. If a
    run is stopped, the same command continues it, and the final files are the same, byte for byte.

    \b
    All tests of TSO up to five events, and their mutants:
      synth memory --from tso --events 2..5 --mutants -o tso
    The tests of one axiom, without atomics and system scope, labelled under another model too:
      synth memory --from ptx-6.0 --events 2..4 --axiom causality --vocabulary "-rmw -sys" -m rc11-scoped -o causality
    The classic tests of two threads, in a folder named after the edges:
      synth memory --edges "PodWW PodRR PodWR PodRW Rfe Fre Coe"
    The same in a folder that you name:
      synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 4 -o classic
    The cycles that these edges form, without making tests:
      synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 2..10 --cycles
    The same with fences, and threads in one CTA or two, labelled:
      synth memory --edges "PodWW PodRR PodRW PodWR Rfe Fre Coe MembarGldWW MembarGldRR" --scopes cta -m ptx-rmo -o gpu
    Release and acquire at each scope:
      synth memory --edges "PodWW PodRR Rfe Fre Rel Acq Plain" --scopes cta,gpu -m ptx-6.0 -m rc11-scoped -o ra
    The smallest tests that PTX allows and sequential consistency forbids:
      synth memory -e "PodWW PodRR PodRW PodWR Rfe Fre Coe" --size 3..6 --distinguish 'ptx-6.0>sc' --minimal -o border
    """
    function, why_not = _function_for(given)
    takes = _taken(function)
    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in takes and context.get_parameter_source(name) is ParameterSource.COMMANDLINE and why_not(name):
            raise click.UsageError(f"{parameter.opts[0]} {why_not(name)}")
    function(**{name: value for name, value in given.items() if name in takes})


def _function_for(given: dict[str, Any]) -> tuple[Callable[..., None], Callable[[str], str]]:
    """Return the function that the options ask for, and why an option of some name is not for it."""
    if given["source"] is not None:
        from synth.commands.memory_from_model import from_model  # each is imported where it is needed

        return from_model, lambda _: "does not go with --from"
    from synth.commands.memory_from_edges import from_edges, list_cycles

    needs_model = "needs --from MODEL"
    if given["listing"]:
        of_tests = dict.fromkeys(_taken(from_edges), "is for tests, and --cycles makes no tests")
        return list_cycles, lambda name: "" if name == "listing" else of_tests.get(name, needs_model)
    return from_edges, lambda _: needs_model


def _taken(function: Callable[..., None]) -> set[str]:
    """Return the names of the options that a function takes; ``limits`` stands for ``--timeout``."""
    names = set(signature(function).parameters)
    return names | {"timeout"} if "limits" in names else names
