"""What ``synth check`` and ``synth fix`` are asked about kernels: each kernel with a launch, after those before it.

Kernels of one stream run one after the other: each begins with the memory that the one before it has left. So
``--first 'init --grid 2'`` is followed for all that ``init`` may leave, and the kernel is asked about from each.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from constraints.circuit import Literal
from constraints.witnesses import ExecutionSearch
from corpus.code.ir import KernelFunction, Module
from corpus.code.launch.launch import Argument, ArrayArgument, ArrayImage, KernelLaunch
from corpus.code.passes.removed import RemovedAccess, counterpart, removed
from corpus.code.places import Array
from corpus.code.program import KernelProgram, left_behind, program_of
from corpus.code.refusals import NotUnderstoodError
from corpus.errors import InputError
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import Atom, conjunction
from oracle.cat.interpreter import Model
from synth.checking.fields import check_apart, fielded, has_fields_of, shown_names
from synth.checking.places import located
from synth.checking.sources import (
    KernelFile,
    NoKernelError,
    argument,
    element_sizes_of,
    launches_of,
    names_of,
    source_name,
    specialised,
)
from synth.requests import LaunchWords, read_launch

MOST_STATES = 64
"""The most states of memory that a kernel may leave to the next one of its stream."""

MOST_COMPARED = 10_000
"""The instructions of a thread that are followed in code without optimisations, to see what was removed."""


@dataclass(frozen=True, slots=True)
class KernelTask:
    """A kernel of a file with a launch, the kernels that end before it, and what is to hold at its end."""

    file: KernelFile
    kernel: KernelFunction
    launch: KernelLaunch
    expectation: str
    before: tuple[tuple[KernelFunction, KernelLaunch], ...] = ()

    @property
    def names(self) -> tuple[str, str, str]:
        """The file, the kernel and the launch as answers name them."""
        before = ", ".join(f"{source_name(self.file, kernel)} {launch.text}" for kernel, launch in self.before)
        return (
            str(self.file.path),
            source_name(self.file, self.kernel),
            ("" if self.file.language.control.grows else self.launch.text) + (f" after {before}" if before else ""),
        )

    def expected(self, program: KernelProgram) -> str:
        """Return what is expected at the end of a program: what is asked for, or what the file claims.

        Raises ``InputError`` where it names what is no location of the program.
        """
        claim = self.file.code.claim
        if self.expectation or claim is None:
            return located(program, self.file.code.arrays, self.expectation)
        return claim.text(
            {(cell.array, cell.offset): name for name, cell in reversed([*program.locations.cells.items()])}
        )

    def programs(self, model: Model, unroll: int) -> list[KernelProgram]:
        """Return the program that is left of the kernel, for each state of memory in which it may begin.

        Raises ``NotUnderstoodError`` where a thread comes to what is not understood, also where these states are too
        many or none, and ``TooManyError`` where the executions of a kernel before it are.
        """
        module = self.file.module
        states: list[Mapping[Array, ArrayImage]] = [{}]
        assumed: dict[str, None] = {}
        untold: dict[Array, str] = {}
        for kernel, launch in self.before:
            begun = _programs(module, kernel, launch, states)
            states = []
            for program in begun:
                untold |= {program.locations.cells[name].array: why for name, why in program.locations.untold.items()}
                after = _StatesAfter(program, model, unroll)
                if after.cut:
                    assumed[f"{kernel.name} leaves what it does within {unroll} jumps back of its loops"] = None
                for state in after:
                    states += [state] if state not in states else []
                    if len(states) > MOST_STATES:
                        raise NotUnderstoodError(f"{kernel.name} may leave more than {MOST_STATES} states of memory")
            if not states:
                raise NotUnderstoodError(f"{kernel.name}, which runs before, does not come to an end")
        programs = _programs(module, self.kernel, self.launch, states)
        read = {cell.array for program in programs for cell in program.locations.cells.values()}
        for array, why in untold.items():
            if array in read:
                raise NotUnderstoodError(f"a kernel before leaves {why} in {array}: nothing tells its value")
        return [replace(program, assumed=(*program.assumed, *assumed)) for program in programs]

    def removed(self, programs: Iterable[KernelProgram]) -> list[RemovedAccess] | str:
        """Return the accesses that the compiler has removed from programs of the kernel, or why that is not known."""
        written = self.file.written
        if isinstance(written, str):
            return written or []
        kernel = counterpart(self.kernel, written)
        if kernel is None:
            return f"without optimisations there is no {self.kernel.name}"
        try:
            pairs = [(program, program_of(written, kernel, program.launch, MOST_COMPARED)) for program in programs]
        except NotUnderstoodError as error:
            return f"without optimisations, {error.message}"
        return list(dict.fromkeys(removal for pair in pairs for removal in removed(*pair)))


def _programs(
    module: Module, kernel: KernelFunction, launch: KernelLaunch, states: Iterable[Mapping[Array, ArrayImage]]
) -> list[KernelProgram]:
    """Return the programs that are left of a kernel: for each state of memory in which it may begin, and each choice of
    the system's, as whom it elects. Raises ``NotUnderstoodError`` where they are too many.
    """
    found = []
    waiting = [replace(launch, memory=memory) for memory in states]
    while waiting:
        one = waiting.pop(0)
        program = program_of(module, kernel, one)
        open_choice = next((what for what in program.choices if what not in one.choices), None)
        if open_choice is None:
            found.append(program)
        else:
            options = range(program.choices[open_choice])
            waiting = [replace(one, choices={**one.choices, open_choice: n}) for n in options] + waiting
        if len(found) + len(waiting) > MOST_STATES:
            raise NotUnderstoodError(
                f"{kernel.name}: more than {MOST_STATES} ways in which lanes may be active or elected, exchanges fail "
                "and memory begin"
            )
    return found


class _StatesAfter:
    """What a kernel may leave in memory, each state once. ``cut``: its loops may go on, and leave other states."""

    def __init__(self, program: KernelProgram, model: Model, unroll: int) -> None:
        self._program, self._terms = program, tuple(map(Loc, program.lasting))
        condition = replace(program.test.condition, observed=self._terms)
        self._search = ExecutionSearch(replace(program.test, condition=condition), model, unroll)
        self.cut = self._search.cut

    def __iter__(self) -> Iterator[Mapping[Array, ArrayImage]]:
        others: list[Literal] = []
        while (execution := self._search.find(others)) is not None:
            finals = {}
            for term in self._terms:
                value = execution.finals[term]
                if not isinstance(value, int):
                    raise NotUnderstoodError(f"{self._program.test.name} leaves an address in {term.name}")
                finals[term.name] = value
            yield left_behind(self._program, finals)
            same = (Atom("eq", term, finals[term.name]) for term in self._terms)
            others.append(~self._search.satisfied(conjunction(same)))


def tasks_of(file: KernelFile, given: LaunchWords) -> Iterator[KernelTask]:
    """Yield each kernel of a file with each launch: those of comments, or the usual ones, with the options that are
    given in the place of theirs.

    Raises ``NoKernelError`` where the file has no such kernel, ``InputError`` where no kernel has such a parameter.
    """
    if not file.module.kernels:
        raise NoKernelError("expected a kernel: no entry has a body", str(file.path))
    launches = [_Launched.of(file, words) for words in _launches(file, given)]
    kernels = [kernel for launch in launches for kernel in launch.kernels]
    _check_names(file, kernels, dict(map(argument, given.arguments)))
    for launched in launches:
        own = [argument(text) for text in launched.words.arguments if text not in given.arguments]
        _check_names(file, launched.kernels, dict(own))
        for number, (kernel, launch) in enumerate(launched.before):
            yield KernelTask(file, kernel, launch, "", launched.before[:number])
        for kernel in launched.kernels:
            names = names_of(file, kernel)
            given_here = fielded(file, kernel, map(argument, launched.words.arguments))
            arguments = _arguments(kernel, names, (*file.code.given.items(), *given_here))
            check_apart(file, kernel, arguments)
            for launch in launches_of(file, launched.words, kernel):
                sized, elements = _sized(file, kernel, names, arguments), element_sizes_of(file, kernel)
                launch = replace(launch, arguments=sized, names=names, elements=elements)
                place, found = specialised(file, kernel, launch)
                block = found.block_size.threads
                if block is not None and not launched.words.block and kernel.block_size.threads == launch.block:
                    launch = replace(launch, block=block)  # of which arguments are constants
                yield KernelTask(place, found, launch, launched.words.expect, launched.before)


class _Launched(NamedTuple):
    """The options of a launch, the kernels that they are of, and those that end before."""

    words: LaunchWords
    kernels: Sequence[KernelFunction]
    before: tuple[tuple[KernelFunction, KernelLaunch], ...]

    @classmethod
    def of(cls, file: KernelFile, words: LaunchWords) -> _Launched:
        arguments = dict(map(argument, words.arguments))
        before = tuple(_before(file, text, arguments) for text in words.first)
        begun = {kernel.name for kernel, _ in before}
        every = _kernels(file, words.kernel)
        kernels = [kernel for kernel in every if words.kernel is not None or kernel.name not in begun]
        return cls(words, kernels, before)


def _launches(file: KernelFile, given: LaunchWords) -> list[LaunchWords]:
    """Return the options of each launch, each once. A comment that names other kernels than the one given is left out.

    Raises ``InputError`` where a comment names a kernel that is not there.
    """
    stated = list[LaunchWords]()
    wanted = {kernel.name for kernel in _kernels(file, given.kernel)}
    for words in file.launches:
        try:
            own = {kernel.name for kernel in _kernels(file, words.kernel)}
        except NoKernelError as error:  # the file has kernels, so it is not one to be left out
            raise InputError(f"synth check: {error.message}", error.path) from None
        if not wanted.isdisjoint(own):
            stated.append(words)
    return list(dict.fromkeys(given.over(words) for words in stated or [LaunchWords()]))


def _arguments(
    kernel: KernelFunction, names: Sequence[str], given: Iterable[tuple[str, Argument]]
) -> dict[str, Argument]:
    """Return the arguments of a kernel by name: the last one for each parameter, whichever of its names that has."""
    pairs = enumerate(zip_longest(names, (parameter.name for parameter in kernel.parameters), fillvalue=""))
    same = [{str(number), *both} - {""} for number, both in pairs]
    found: dict[str, Argument] = {}
    for name, value in given:
        for other in next((spellings for spellings in same if name in spellings), ()):
            found.pop(other, None)
        found[name] = value
    return found


def _sized(
    file: KernelFile, kernel: KernelFunction, names: Sequence[str], given: Mapping[str, Argument]
) -> dict[str, Argument]:
    """Return arguments, of which arrays have the size of an element that the source says."""
    sizes = dict[str, int | None]()
    for number, size in enumerate(element_sizes_of(file, kernel)):
        called = names[number] if names else ""
        sizes |= dict.fromkeys((str(number), called, kernel.parameters[number].name), size)

    def sized(name: str, value: Argument) -> Argument:
        plain = isinstance(value, ArrayArgument) and value.data is None and value.size is None
        return replace(value, size=sizes.get(name)) if isinstance(value, ArrayArgument) and plain else value

    return {name: sized(name, value) for name, value in given.items()}


def _before(file: KernelFile, text: str, arguments: Mapping[str, Argument]) -> tuple[KernelFunction, KernelLaunch]:
    """Return a kernel that runs before, with its launch: ``init --grid 2``; arguments of its names are given to it."""
    try:
        name, *options = shlex.split(text) or [""]
        if not name or name.startswith("-"):
            raise ValueError("the name of the kernel comes first")
        words = read_launch(options)
    except ValueError as error:
        raise InputError(f"--first: expected a kernel and its launch, found '{text}': {error}") from None
    own = dict(map(argument, words.arguments))
    (kernel,) = _kernels(file, name)[:1]
    _check_names(file, [kernel], own)
    names = names_of(file, kernel)
    given = dict(fielded(file, kernel, (*arguments.items(), *own.items())))
    given = {key: value for key, value in given.items() if key in names or key in own}
    check_apart(file, kernel, given)
    sized = words if words.grid or words.block else replace(words, grid="1")
    launch, *others = launches_of(file, sized, kernel)
    if others:
        raise InputError(f"--first: expected --block, as the host chooses the size of {name}'s work-groups")
    elements = element_sizes_of(file, kernel)
    return kernel, replace(launch, arguments=_sized(file, kernel, names, given), names=names, elements=elements)


def _kernels(file: KernelFile, name: str | None) -> Sequence[KernelFunction]:
    """Return the kernels of a name, which may be a part of one that is mangled; all kernels where none is named."""
    every = file.module.kernels
    exact = [kernel for kernel in every if name in (None, kernel.name)]
    found = exact or [kernel for kernel in every if name is not None and name in kernel.name]
    if not found:
        there = ", ".join(kernel.name for kernel in every)
        raise NoKernelError(f"expected one of the kernels {there}, found {name}", str(file.path))
    return found


def _check_names(file: KernelFile, kernels: Sequence[KernelFunction], arguments: Mapping[str, Argument]) -> None:
    """Raise ``InputError`` where arguments are given that none of these kernels has."""
    names = {
        kernel.name: names_of(file, kernel) or [parameter.name for parameter in kernel.parameters] for kernel in kernels
    }
    known = {
        name
        for kernel in kernels
        for name in (*names[kernel.name], *(parameter.name for parameter in kernel.parameters))
    }
    most = max((len(kernel.declared) for kernel in kernels), default=0)
    for name in arguments.keys() - {*known, *map(str, range(most))}:
        if any(has_fields_of(file, kernel, name) for kernel in kernels):
            continue
        there = [f"{source_name(file, kernel)} has {shown_names(names[kernel.name]) or 'none'}" for kernel in kernels]
        raise InputError(f"--arg: expected the name of a parameter, found {name}: {'; '.join(there)}", str(file.path))
