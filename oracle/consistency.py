"""Consistency models by name: .cat files that ship, a user's .cat file, the operational models.

A name means, in this order: a .cat file that ships (``ptx-6.0``), as every one in ``oracle/models`` does; an
operational model (``thesis-weak``); a path that ends in ``.cat``; a path that ends in ``.seq``, a table of code
sequences on the machine that it is for (``corpus.executions.sequences``, ``oracle.operational.amdgpu``). Each model
gives a judgement of a litmus test, ``oracle.executions.judge.Judgement``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.errors import InputError, did_you_mean
from corpus.files import read_text
from corpus.litmus.processors import PROCESSORS
from corpus.litmus.propositions import Proposition
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model, checked_model
from oracle.cat.syntax import MOST_BYTES, read_cat, shipped_models
from oracle.cat.terms import holes_of
from oracle.executions.bounds import UNROLL
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import Judgement, answered, judge, unknown
from oracle.naming import model_name, names_apart, origins

if TYPE_CHECKING:
    from corpus.executions.sequences import MachineStep, SequenceTable
    from oracle.operational.amdgpu import MachineFamily
    from oracle.operational.explore import FinalStates

OPERATIONAL = {"thesis-weak": False, "thesis-strong": True}
"""The operational models by name, and whether each is the strong one."""


@dataclass(frozen=True, slots=True)
class OperationalModel:
    """A consistency model that is a transition system, explored to its final states.

    ``table``: the path of a table of code sequences, by which tests are translated for the machine that it names; empty
    of the models of Sorensen 2013, of which ``strong`` says which one it is. ``programs``: those into which a compiler
    has translated one test, for the machine of this model's name; then no other test is asked about.
    """

    name: str
    strong: bool = False
    table: str = ""
    programs: tuple[tuple[MachineStep, ...], ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the table; empty where there is none, for such a model is synth's own Python, and changes with its
        version only."""
        return sha256(read_text(Path(self.table), MOST_BYTES).encode()).hexdigest() if self.table else ""

    def explore(self, test: LitmusTest, unroll: int = UNROLL) -> FinalStates:
        """All final states of a test. Raises ``InputError`` where the model does not cover it, or it is too large."""
        from oracle.operational import amdgpu, explore

        if not self._has_machine:
            return explore.explore(test, self.strong, unroll)
        found = amdgpu.outcomes(test, *self._on_machine(test))
        return explore.FinalStates(found.terms, found.finals, False, found.states)

    @property
    def _has_machine(self) -> bool:
        return bool(self.table or self.programs)

    def _on_machine(self, test: LitmusTest) -> tuple[tuple[tuple[MachineStep, ...], ...], MachineFamily]:
        """The programs of a test on the machine of this model, and the machine."""
        from corpus.executions.sequences import translated
        from oracle.operational.amdgpu import FAMILIES

        if self.programs:
            return self.programs, FAMILIES[self.name]
        table, family = machine_table(self.table)
        return translated(test, table), family

    def run(self, test: LitmusTest, proposition: Proposition, unroll: int = UNROLL) -> tuple[str, ...] | None:
        """A shortest run to a final state in which a proposition is true, a line a step; None where there is none.

        Raises ``InputError`` where the model does not cover the test, or it is too large.
        """
        from oracle.operational import amdgpu, explore

        if not self._has_machine:
            return explore.witness(test, self.strong, proposition, unroll)
        return amdgpu.machine_run(test, *self._on_machine(test), proposition)

    def judge(self, test: LitmusTest, unroll: int = UNROLL) -> Judgement:
        """The judgement of the model on a test; ``executions`` counts final states. UNKNOWN where the model does not
        cover the test."""
        from oracle.operational.explore import satisfies

        try:
            outcomes = self.explore(test, unroll)
        except InputError as error:
            return unknown(error.message)
        condition = test.condition
        passing = [
            final
            for final in outcomes.finals
            if condition.filter is None or satisfies(outcomes.terms, final, condition.filter)
        ]
        matching = sum(satisfies(outcomes.terms, final, condition.proposition) for final in passing)
        executions, violated = len(outcomes.finals), matching < len(passing)
        return answered(condition, matching > 0, violated, executions, matching, bounded=outcomes.bounded)


def machine_table(path: str) -> tuple[SequenceTable, MachineFamily]:
    """The table of code sequences in a file, and the machine that it is for. Raises ``InputError`` where the file is
    wrong, or names a machine that is not known."""
    from corpus.executions.sequences import read_table
    from oracle.operational.amdgpu import FAMILIES

    table = read_table(read_text(Path(path), MOST_BYTES), path)
    if table.machine not in FAMILIES:
        hint = did_you_mean(table.machine, tuple(FAMILIES), f"known: {', '.join(FAMILIES)}")
        raise InputError(f"unknown machine {table.machine!r}; {hint}", path)
    return table, FAMILIES[table.machine]


@dataclass(frozen=True)
class AxiomaticModel:
    """A consistency model in a .cat file, which is read when the model is first asked.

    ``bell`` is a bell file that comes before it.
    """

    name: str
    path: str
    bell: str | None = None

    @cached_property
    def model(self) -> Model:
        """The model that the file denotes. Raises ``InputError`` where the file cannot be read, and with line and
        column where it is wrong.
        """
        return load_model(self.path, self.name, self.bell)

    def __getstate__(self) -> dict[str, object]:
        _ = self.model  # another machine may not have the file
        return self.__dict__

    def varied(self, model: Model) -> AxiomaticModel:
        """This model with a variant in place of what its file says, since no file has the variant as it is."""
        varied = replace(self, name=model.name)
        varied.__dict__["model"] = model
        return varied

    @property
    def digest(self) -> str:
        """SHA-256 of all text that the model's meaning depends on: its file, the files that it includes, the
        prelude."""
        return self.model.digest

    def judge(self, test: LitmusTest, unroll: int = UNROLL) -> Judgement:
        """The judgement of the model on a test, by listing executions. Raises ``TooManyError`` where they are too
        many."""
        return judge(test, self.model, unroll)


ConsistencyModel = AxiomaticModel | OperationalModel


def load_model(path: str, name: str = "", bell: str | None = None) -> Model:
    """The model in a .cat file, called ``name`` or by the file's stem; names that a bell file defines are known there.

    Raises ``InputError`` where a file cannot be read, and with line and column where it is no model, or a name is
    unknown or of another type.
    """
    model = checked_model(name or model_name(path), read_cat(path, bell), VOCABULARY)
    for hole in holes_of(model.syntax.statements):
        raise InputError(f"{hole.name} is a hole of a sketch: synth infer fills it", *hole.position)
    if model.syntax.over_members is None:
        return model
    from oracle.executions.members import over_members  # few models go over members

    return over_members(model, path, bell)


def model_names() -> tuple[str, ...]:
    """The names of all consistency models that ship, sorted."""
    return tuple(sorted([*shipped_models(), *OPERATIONAL]))


def default_names() -> tuple[str, ...]:
    """The names of the consistency models that are meant where none is named, sorted: all that ship, except those of
    processors, which are about programs in words of their own."""
    return tuple(name for name in model_names() if name not in PROCESSORS)


def resolve_consistency_models(
    names: Sequence[str] = (), among: Sequence[str] = (), bell: str | None = None
) -> list[ConsistencyModel]:
    """The models that ``names`` mean, in their order, each once; ``default_names`` where none is named.

    A file's model is called by the file's stem; of two with one name, also by the folders that tell them apart,
    ``old/ptx`` and ``new/ptx``. ``among``: further models that take part, so that a model has one name wherever it
    comes up. ``bell``: a bell file that comes before each of a user's models. Raises ``InputError`` where a name is
    unknown, with the nearest right ones, where one file is named in two ways, and where a .cat file is wrong, with line
    and column.
    """
    names = names or default_names()
    own = origins(names, ".cat")
    found = {origin: _model(name, bell) for origin, name in origins((*names, *among), ".cat").items()}
    called = names_apart([(model.name, origin) for origin, model in found.items()])
    return [
        replace(model, name=name) if isinstance(model, AxiomaticModel) and model.name != name else model
        for (origin, model), name in zip(found.items(), called, strict=True)
        if origin in own
    ]


def _model(name: str, bell: str | None) -> ConsistencyModel:
    if name.endswith(".seq"):
        machine_table(name)  # errors are reported before any test is judged
        return OperationalModel(model_name(name), table=name)
    if not name.endswith(".cat") or name in shipped_models():
        return _known(name)
    model = AxiomaticModel(model_name(name), name, bell)  # made anew, for the file may have changed
    _ = model.model  # errors in a user's file are reported before any test is judged
    return model


@cache
def _known(name: str) -> ConsistencyModel:
    shipped = shipped_models()
    if name in shipped:
        return AxiomaticModel(name, shipped[name])
    if name in OPERATIONAL:
        return OperationalModel(name, OPERATIONAL[name])
    from oracle.progress.models import GUARANTEES, MODELS  # the name of a progress model is known, but not meant here

    known = f"known, besides paths that end in .cat: {', '.join(model_names())}"
    if name.endswith(".py") or name.partition("@")[0] in (*GUARANTEES, *MODELS):
        raise InputError(
            f"{name} is a progress model, which says whether programs end; expected a consistency model; {known}"
        )
    raise InputError(f"unknown consistency model {name!r}; {did_you_mean(name, model_names(), known)}")
