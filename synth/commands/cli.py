"""The ``synth`` command line. It imports a sub-command when that is called, so that ``synth --help`` is quick."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from corpus.errors import InputError, did_you_mean, one_line
from corpus.extras import missing
from synth import VERSION, interruption
from synth.interruption import interruptible
from synth.options.form import format_option, print_as, titles_option
from synth.options.work import memory_option
from synth.screen.streams import visible_output

GROUPS = {
    "Make tests": {
        "progress": "Synthesise every forward-progress test up to a bound.",
        "memory": "Synthesise memory tests from a model, or from edges of cycles.",
        "select": "Pick the fewest tests that tell models apart or see most bugs.",
        "examples": "Write synth's examples into a folder.",
    },
    "Ask models": {
        "label": "Print each model's verdict on a test.",
        "explain": "Show why a model gives that verdict.",
        "compare": "Show the smallest tests on which memory models differ.",
        "map": "Check that a mapping of instructions to another model is sound.",
        "validate": "Check that translated programs have no new outcomes.",
        "infer": "Find the models of a sketch that fit what devices did.",
        "models": "List the built-in models and their sources.",
        "edges": "List the edges that cycles are made of.",
        "show": "Show tables and plots of a corpus.",
        "verify": "Check a corpus's certificate: right tests, and none missing.",
    },
    "Check kernels": {
        "check": "Find what may race, break or hang in kernels.",
    },
    "Repair programs": {
        "fix": "Repair litmus tests by the cheapest fences, orders and scopes.",
        "harden": "Find the fences that an application needs, by running it.",
    },
    "Run on devices": {
        "devices": "List the compilers and devices that work here.",
        "compile": "Turn tests into programs for devices.",
        "convert": "Write litmus tests in another dialect.",
        "export": "Write a corpus in another runner's format.",
        "run": "Run tests on this machine's devices and compare with the models.",
        "tune": "Find how a device shows weak outcomes most often.",
        "import": "Import results of runs elsewhere, and merge results.",
    },
    "Report": {
        "report": "Show the results of devices as a page, or as tables.",
        "diff": "Show what changed between two devices, drivers or dates.",
        "score": "Show which mutants devices kill, and what that says about tests.",
    },
    "Set up": {
        "completion": "Have your shell complete the words of synth.",
    },
}
"""The groups of sub-commands, each with the line that ``synth --help`` shows. Each is in the module of that name."""

COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}
"""All sub-commands with their lines, in the order of the help."""


UNREAD = 141
"""The exit code where nobody reads the output, by the convention of shells: 128 and the number of SIGPIPE."""


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = import_module(f"synth.commands.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        hint = "" if args[0] in COMMANDS else did_you_mean(args[0], COMMANDS)
        if hint and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with visible_output(), _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with visible_output(), _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Iterator[None]:
    """Answer a mistake of the user or a fault of the machine in one line with exit code 2, never by a traceback."""
    try:
        with interruptible():
            yield
            sys.stdout.flush()  # a full disk is noticed here, before the process ends
        return
    except click.exceptions.NoArgsIsHelpError:  # ``synth`` alone: its help is the answer
        raise
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "synth"
        message = " ".join(error.format_message().split()).rstrip(".")
        if isinstance(error, click.NoSuchOption) and any(error.option_name in param.opts for param in main.params):
            message = f"{error.option_name} goes before the command: synth {error.option_name} .. {_name(error.ctx)}"
        line = f"{command}: {message}{' See' if message.endswith('?') else '; see'} {command} --help"
    except InputError as error:
        line = f"synth: {error}"
    except ModuleNotFoundError as error:
        lacking = missing(error)
        if lacking is None:
            raise
        line = f"synth: {lacking}"
    except KeyboardInterrupt:
        if not interruption.is_announced():
            click.echo(interruption.LINE, err=True)
        sys.exit(interruption.CODE)
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of a pipe has closed it: no answer, and nothing to say
            _drop_output()
            sys.exit(UNREAD)
        line = f"synth: {InputError(error.strerror or str(error), error.filename)}"
        _drop_output()
    click.echo(one_line(line), err=True)
    sys.exit(2)


def _name(context: click.Context | None) -> str:
    return str(context.info_name) if context else "COMMAND"


def _drop_output() -> None:
    """Drop the output that could not be written: it is still buffered, and would be written again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="synth")
@format_option
@titles_option
@memory_option
def main(form: str, untitled: bool) -> None:
    """Synthesise small programs that show where one GPU concurrency model ends and the next begins.

    \b
    A first tour:
      synth progress --threads 2 --instrs 3 -o suite     every minimal test at a bound
      synth show suite                                   what is in it
      synth explain examples/progress/mutex.axb --model obe-weak
      synth compile suite --backend cuda -o cuda         code for a device
      synth run suite --backend opencl                   run it here

    Exit codes: 0 success, 1 a finding, 2 misuse or bad input.
    """
    print_as(form)
