"""Defines a back end, a language that tests are written in. It has the words for both families of tests, and what this
machine has to run them with.

Each lives in a folder of its own, whose module ``backend`` defines ``BACKEND``; ``backends.registry`` lists the
folders. Nothing else knows which languages there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backends.shared.bundle import Bundle
from backends.shared.device import Device, DeviceOptions
from backends.shared.files import file_stem
from backends.shared.kernel import Kernel
from backends.shared.layout import Layout, Parameters, gpu_parameters
from backends.shared.log import Embedding, memory_trial, progress_trial
from backends.shared.mapping import DEVICE, Launch, launch
from backends.shared.outcomes import SeenOutcomes
from backends.shared.profiles import Profile
from backends.shared.renderer import Renderer
from backends.shared.toolchain import Compiler
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program
from corpus.runner_tests import Binding, Compiled


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """A check of memory tests beyond compiling. ``problems`` looks at the compiled program of a test (a file) and says
    in a line each why it is another test than the one it was made of; none where it is that test. ``counts`` are what
    it has looked at, by what they are counted as, and are added up over all programs.
    """

    name: str
    problems: Callable[[LitmusTest, Path], list[str]]
    counts: Callable[[LitmusTest, Path], Mapping[str, int]] = lambda test, program: {}


@dataclass(frozen=True, slots=True)
class Backend:
    """A back end, which is a language to write tests in and the devices that run them.

    ``name`` is that of its folder and of ``--backend``; ``suffix`` that of its files. ``progress`` and ``memory`` write
    the two families of tests. ``files`` and ``usage`` say in a few words what a test becomes and how it is run.
    ``launched`` says how memory tests are launched whose device is not known: test, instances, profile, iterations;
    it raises ``InputError`` as ``backends.shared.layout.place`` does. ``compiler`` compiles the files here. ``device``
    makes the device that runs the files here, and raises ``InputError`` where there is none; ``None`` where tests are
    run elsewhere. ``decode`` reads what running a memory test elsewhere wrote: the instances of a launch, and the
    outcomes; it raises ``InputError`` where the text is not of this test. ``check`` is made of memory tests besides
    compiling. ``embed`` is the line of a file that says which test it is, for programs that tell it with their
    results. ``companions`` are files that all its tests share, by name. ``bundle`` makes one thing of all tests, the
    texts of its files by name, where users are not given a file of each. ``template`` writes memory tests for it whose
    launch is chosen later (``backends.web.template``).
    """

    name: str
    suffix: str
    progress: type[Renderer]
    memory: type[Kernel]
    files: str
    usage: str
    compiler: Compiler
    launched: Callable[[LitmusTest, int, Profile, int], Parameters] = gpu_parameters
    decode: Callable[[str, LitmusTest], tuple[int, SeenOutcomes]] | None = None
    device: Callable[[DeviceOptions], Device] | None = None
    check: ProgramCheck | None = None
    embed: Embedding = lambda trial: ""
    companions: Mapping[str, str] = field(default_factory=dict)
    bundle: Callable[[Bundle], dict[str, str]] | None = None
    template: type[Kernel] | None = None

    def launch(
        self, program: Program, mapping: str = "plain", instances: int | None = None, placement: str = DEVICE.name
    ) -> Launch:
        """Return the launch of a progress test by a program that is run elsewhere
        (``backends.shared.mapping.launch``).
        """
        return launch(program, mapping, instances, self.progress.groups, placement)

    def check_placements(self, names: Iterable[str]) -> None:
        """Raise ``InputError`` for the first of these placements that the language has no words for."""
        lower = [name for name in names if name != DEVICE.name]
        if lower and not self.progress.item:
            raise InputError(f"{self.name} has no work-groups of several threads, and so no placement '{lower[0]}'")

    def progress_files(self, name: str, shape: Launch, digest: str | None = None) -> dict[str, str]:
        """Return the files of a progress test, by name relative to the output folder.

        The test's own file is ``STEM.MAPPING.SUFFIX``, or ``STEM.MAPPING.PLACEMENT.SUFFIX`` where the placement is not
        the published one, its stem from ``name``, and comes first; a language may add files that all its tests share.
        ``digest`` is the test's, computed where it is not given. Raises ``InputError`` for sizes and placements that
        the language cannot take.
        """
        most = self.progress.most_groups
        if most is not None and shape.groups > most:
            raise InputError(f"{shape.groups} work-groups: {self.name} takes at most {most}")
        self.check_placements([shape.placement.name])
        if shape.group_size > self.progress.largest_group:
            most = self.progress.largest_group
            raise InputError(f"a work-group of {shape.group_size} threads: {self.name} takes at most {most}")
        stem = f"{file_stem(name)}.{shape.name}"
        text = self.progress.render(stem, shape) + self.embed(progress_trial(name, digest, self.name, shape))
        return {f"{stem}{self.suffix}": text, **self.companions}

    def memory_files(self, name: str, shape: Layout, profile: str = "") -> dict[str, str]:
        """Return the files of a memory test, by name relative to the output folder, its own ``STEM.SUFFIX`` first.
        ``profile`` is what results call the profile that ``shape`` was made with.

        Raises ``InputError`` that names the thread, the instruction and the reason where the language cannot say the
        test, or cannot hold its launch.
        """
        stem = file_stem(name)
        text = self.memory(shape).file(stem) + self.embed(memory_trial(self.name, shape, profile))
        return {f"{stem}{self.suffix}": text, **self.companions}

    def compiled(self, files: Mapping[str, str], shape: Launch | Layout) -> Compiled:
        """Return the program that these files of a test are, for runners: its sizes, and what is bound where."""
        file, text = next(iter(files.items()))
        if isinstance(shape, Launch):
            sizes = {**shape.constants, "WORDS": shape.words}
            return Compiled(self.name, file, text, sizes, (Binding(0, "memory", shape.words),))
        kernel = self.memory(shape)
        sizes, buffers = kernel.sizes(), enumerate(kernel.buffers.items())
        bindings = (Binding(number, name, sizes[words]) for number, (name, words) in buffers)
        return Compiled(self.name, file, text, sizes, tuple(bindings))
