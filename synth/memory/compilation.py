"""The programs of litmus tests for ``synth compile``: one a test, or a bundle of all.

The bundle launches tests in several ways, and has the outcomes that models allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from backends.shared.backend import Backend
from backends.shared.bundle import Bundle, BundledTest, Draws, ExpectedOutcomes, LaunchOption, LaunchWay
from backends.shared.files import file_stem
from backends.shared.layout import Layout, Parameters, cpu_parameters, device_layout, outcome_terms, place
from backends.shared.profiles import DEFAULT, STRESS, Profile
from corpus.errors import InputError
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel
from synth.compilation import LeftOutTest, Making, ProgramFiles, WrittenPrograms, bundled_tests, write_programs
from synth.inputs import MEMORY, Input, read_all
from synth.memory.conformance import is_asked_for, promise_of
from synth.memory.conversion import of_input

ITERATIONS = Parameters().iterations
"""The number of launches, where no number is given."""


def compile_memory(
    files: Sequence[Input], backend: Backend, making: Making, output: Path, left_out: LeftOutTest
) -> WrittenPrograms:
    """Write a program for each test that the language can say into ``output``.

    A program launches so many instances of the test, so often where it cannot be told that number at run time. Raises
    ``InputError`` where no file can be read, two share a file name, or no test can be said.
    """
    tests, all_read = read_all(files, Input.litmus)
    named = dict(zip(_named_apart(list(tests)), tests.values(), strict=True))
    written = write_programs(_programs(named, backend, making, left_out), backend, output, making.as_json)
    if not written:
        raise InputError(f"{backend.name} can say none of the {len(tests)} tests")
    return WrittenPrograms(written, f"{len(written)} of {len(tests)} tests", [output], not all_read)


def _named_apart(files: Sequence[Input]) -> list[Input]:
    """Return inputs of which no two have one file name: one whose name another has gets that of its folder before it,
    ``vulkan-corr``. Raises ``InputError`` where that is taken, too.
    """
    stems: dict[str, Input] = {}
    found = []
    for file in files:
        if file_stem(file.name).lower() in stems:
            file = replace(file, name=f"{file.path.absolute().parent.name}-{file.name}")
        other = stems.setdefault(file_stem(file.name).lower(), file)  # some file systems ignore case
        if other is not file:
            raise InputError(f"two tests share a file name: {other} and {file}")
        found.append(file)
    return found


def _programs(
    tests: Mapping[Input, LitmusTest], backend: Backend, making: Making, left_out: LeftOutTest
) -> Iterator[ProgramFiles]:
    profile = making.profiles[0] if making.profiles else DEFAULT
    for file, test in tests.items():
        try:
            shape = layout_of(test, backend, making.instances, profile, making.iterations, making.cpu)
            texts = backend.memory_files(file.name, shape, profile.label)
        except InputError as error:
            left_out(str(file), str(error))
            continue
        yield ProgramFiles(texts, shape, partial(of_input, file, test), test)


def layout_of(
    test: LitmusTest,
    backend: Backend,
    instances: int | None = None,
    profile: Profile = DEFAULT,
    iterations: int = ITERATIONS,
    cpu: bool = False,
) -> Layout:
    """Return the layout of a test in a program that is run elsewhere, on a GPU or a ``cpu``: so many instances, or as
    many as the profile says, or the usual number.

    Raises ``InputError`` where the language cannot say it.
    """
    number = profile.instances or Parameters().instances if instances is None else instances
    launched = cpu_parameters if cpu else backend.launched
    return place(test, launched(test, number, profile, iterations))


# Bundles


PLAIN = {"none": DEFAULT, "memory stress": STRESS}
"""The incantations that need no profile of a user's, by their names."""

INSTANCES = (Parameters().instances, 1 << 10, 1 << 16)
"""The numbers of instances of a launch to choose from, where no number is given."""


def memory_bundle(
    files: Sequence[Input],
    backend: Backend,
    incantations: Mapping[str, Profile],
    instances: int | None,
    models: Sequence[ConsistencyModel],
    iterations: int,
    draws: Draws | None = None,
) -> tuple[Bundle, bool]:
    """Return the bundle of tests, and whether all tests could be read; a line on stderr names each other test.

    Each test is launched as a GPU needs it and as a CPU does, in each of the ``incantations``, by name; a way in which
    a test cannot be launched has no program for it. With ``draws`` there is a template for further ways. Raises
    ``InputError`` where no test can be read, or the language can say none of them.
    """
    tests, all_read = read_all(files, Input.litmus)
    sizes = INSTANCES if instances is None else (instances,)
    launches = list(product(incantations.items(), sizes, (False, True)))

    def program(given: Input, way: tuple[tuple[str, Profile], int, bool]) -> dict[str, str]:
        (_, profile), size, cpu = way
        layout = device_layout(tests[given], profile.instances or size, profile, cpu)
        return backend.memory_files(given.name, layout)

    def entry(given: Input, programs: tuple[str | None, ...]) -> BundledTest:
        test = tests[given]
        template = None if draws is None else _template(given, test, backend)
        expected = expected_outcomes(test, models)
        return BundledTest(test.name, litmus_digest(test), given.text(), programs, expected, template)

    bundled, refused = bundled_tests(tests, launches, program, entry, lambda given: given.name)
    if not bundled:
        raise InputError(f"{backend.name} can say none of the {len(tests)} tests: {refused[0][1]}")
    bundle = Bundle(
        family=MEMORY,
        models=tuple(model.name for model in models),
        choices=(
            LaunchOption("instances", tuple(f"{size:,}" for size in sizes), (f"{sizes[0]:,}",)),
            LaunchOption("incantations", tuple(incantations), tuple(incantations)[:1]),
        ),
        ways=tuple(
            LaunchWay(
                (("instances", f"{size:,}"), ("incantations", name)), "" if profile == STRESS else profile.label, cpu
            )
            for (name, profile), size, cpu in launches
        ),
        tests=bundled,
        iterations=iterations,
        refused=refused,
        draws=draws,
    )
    return bundle, all_read


def expected_outcomes(test: LitmusTest, models: Sequence[ConsistencyModel]) -> ExpectedOutcomes:
    """Return the outcomes of a test that some model allows, and which of them each model allows.

    A model that promises nothing of the test is silent, and its reason is given.
    """
    terms = outcome_terms(test)
    promises = {model.name: promise_of(test, model) for model in models}
    known = sorted(set[tuple[int, ...]]().union(*(promise.allowed for promise in promises.values() if promise.allowed)))
    place = {values: number for number, values in enumerate(known)}
    return ExpectedOutcomes(
        outcomes=tuple(known),
        targets=tuple(number for values, number in place.items() if is_asked_for(test, terms, values)),
        allowed=tuple(
            (name, tuple(sorted(place[values] for values in promise.allowed)))
            for name, promise in promises.items()
            if promise.allowed is not None and not promise.reason
        ),
        silent=tuple((name, promise.reason) for name, promise in promises.items() if promise.reason),
    )


def _template(file: Input, test: LitmusTest, backend: Backend) -> str | None:
    """Return the program of a test whose launch is chosen later, for back ends that have such programs."""
    if backend.template is None:
        return None
    return next(iter(replace(backend, memory=backend.template).memory_files(file.name, place(test)).values()))
