"""Renders AXB programs as the text of a C-like kernel. Source: Sorensen et al. 2021, section 6.2 and Fig. 11.

A thread is a ``switch`` over its program counter inside a ``while`` loop, for GLSL has no goto. An instruction is one
atomic exchange, or an atomic add of 0 where nothing is exchanged, so that every read happens where the device keeps
its memory coherent. All languages share this text; a language states only its two atomics, its kernel header
and its host code, as class attributes.

**Order.** The oracle interleaves steps on one shared memory. Every access here is an acquire-release read-modify-write
at device scope, and that is enough: in each location's modification order every operation reads from the one before
it, so neighbours synchronise, modification order is part of happens-before, and happens-before is acyclic; an execution
is then an interleaving. Relaxed order would do for one location only: with two, a hang could be the memory's doing
and not the scheduler's.

**Spins stay spins.** A compiler may assume that a loop without side effects ends; one with an atomic operation in it
is exempt (C++ [intro.progress], which CUDA follows; Vulkan and OpenCL make no such assumption), and an atomic
read-modify-write is neither hoisted from a loop nor merged with the next. The program counter is private to its thread,
so it may well live in jumps alone: nothing observes it, and it need not be volatile. Nothing bounds a loop: a hang is
a hang.

**Ended.** A thread that has ended adds its program counter to one cell. The sum is the number of instructions
of all threads of all instances, whichever way they went, and a host that finds another sum knows that a driver cut
the loops short.

**Warm-up.** The cell after that one is 0, but in the launch that a host makes before the first iteration: there every
thread ends at once. Drivers compile a kernel when it is first launched; this is that launch, and it cannot hang.
"""

from __future__ import annotations

from string import Template
from typing import ClassVar

from backends.shared.mapping import DEVICE, GROUPS, Launch
from backends.shared.syntax import C, LanguageSyntax
from corpus.progress.axb import Instruction, Program, Thread
from corpus.progress.text import print_axb, print_instruction


def _step(ins: Instruction, pc: int, syntax: LanguageSyntax) -> str:
    cell = f"CELL({ins.location}u)"
    old = f"ADD({cell}, 0u)" if ins.exchange is None else f"EXCHANGE({cell}, {ins.exchange}u)"
    if not ins.branches(pc):
        return f"{old}; pc = {ins.jump}u;"
    return f"pc = {syntax.choice(f'{old} == {ins.check}u', f'{ins.jump}u', f'{pc + 1}u')};"


def _thread(thread: Thread, syntax: LanguageSyntax) -> list[str]:
    lines = [f"while (pc != {len(thread)}u) {{", "    switch (pc) {"]
    for pc, ins in enumerate(thread):
        lines.append(f"    case {pc}u: {{ // {print_instruction(ins, pc, len(thread))}")
        lines.append(f"        {_step(ins, pc, syntax)}")
        lines.append("        break;")
        lines.append("    }")
    return [*lines, "    default: { break; }", "    }", "}"]


def program_text(program: Program, syntax: LanguageSyntax = C) -> str:
    """Return the body of a kernel: thread ``thread`` of the program, over ``pc`` and what CELL, EXCHANGE and ADD stand
    for.
    """
    lines = ["switch (thread) {"]
    for tid, thread in enumerate(program.threads):
        lines += [f"case {tid}u: {{", *("    " + line for line in _thread(thread, syntax)), "    break;", "}"]
    return "\n".join("    " + line for line in [*lines, "default: { break; }", "}"])


class Renderer:
    """A language of progress tests, as what differs from the others. A subclass sets the attributes without a
    default.

    ``exchange`` and ``add`` are the bodies of macros over ``cell`` (an element of ``memory``) and ``value`` that give
    the cell's old value; ``read`` is the value of the cell of the warm-up, which no thread writes. ``group`` and
    ``item`` are the ids of a work-group and of a thread in it; ``item`` is empty where work-groups have one thread
    only. ``file`` is the text of the whole file, in which ``$kernel``, ``$name`` (a safe file name) and the properties
    of the launch named in ``render`` are filled in; ``constants`` go before the kernel.
    """

    exchange: ClassVar[str]
    add: ClassVar[str]
    read: ClassVar[str] = "WARM_UP"
    group: ClassVar[str]
    item: ClassVar[str] = ""
    header: ClassVar[str]
    file: ClassVar[str]
    syntax: ClassVar[LanguageSyntax] = C
    cells: ClassVar[dict[str, str]] = {
        "CELL(location)": "memory[(instance * LOCATIONS + location) * STRIDE]",
        "FINISHED": "memory[INSTANCES * LOCATIONS * STRIDE]",
        "WARM_UP": "memory[INSTANCES * LOCATIONS * STRIDE + 1u]",
    }
    """Where locations and the two cells after them are, as functions or macros."""
    groups: ClassVar[int] = GROUPS
    """Work-groups of a launch that is not told its number of instances."""
    most_groups: ClassVar[int | None] = None
    """Work-groups that the language can launch, where it has a limit that matters."""
    largest_group: ClassVar[int] = 1024
    """The number of threads that a work-group of the language may have."""

    @classmethod
    def constants(cls, launch: Launch) -> str:
        """Return the definitions of one launch: sizes, the layout of the memory, and the two atomics."""
        atomics = {"EXCHANGE(cell, value)": cls.exchange, "ADD(cell, value)": cls.add}
        return "\n".join(cls.syntax.definitions(cls.sizes(launch).items(), (cls.cells | atomics).items()))

    @classmethod
    def sizes(cls, launch: Launch) -> dict[str, int]:
        """Return the numbers that are defined."""
        return launch.constants

    @classmethod
    def kernel(cls, launch: Launch) -> str:
        """Return the kernel: where this thread stands, the program, and the sign that the thread has ended."""
        return "\n".join(
            [
                f"{cls.opening(launch)} {{",
                *("    " + line for line in cls.places(launch)),
                f"    if ({cls.read} != 0u) {{ return; }} // launched to be compiled",
                f"    {cls.syntax.variable('pc', '0u')}",
                program_text(launch.program, cls.syntax),
                "    ADD(FINISHED, pc);",
                "}",
            ]
        )

    @classmethod
    def opening(cls, launch: Launch) -> str:
        """Return the beginning of the kernel, up to its opening brace."""
        return cls.header

    @classmethod
    def places(cls, launch: Launch) -> list[str]:
        """Return the statements that say which thread of which instance this one is; within work-groups, those at no
        seat of an instance leave.
        """
        group = cls.syntax.constant("group", cls.group)
        who = [cls.instance(launch.instance), cls.syntax.constant("thread", launch.thread)]
        if launch.placement == DEVICE:
            return [group, *who]
        item = cls.syntax.constant("item", cls.item)
        seat = cls.syntax.constant("seat", "item / APART")
        return [group, item, seat, *who, "if (item % APART != 0u || instance >= INSTANCES) { return; }"]

    @classmethod
    def instance(cls, value: str) -> str:
        """Return the statement that makes ``instance`` the number of the thread's instance."""
        return cls.syntax.constant("instance", value)

    @classmethod
    def render(cls, name: str, launch: Launch) -> str:
        """Return the file of one test. ``name`` must be a safe file name (``backends.shared.files.file_stem``)."""
        return Template(cls.file).substitute(
            name=name,
            mapping=launch.name,
            constants=cls.constants(launch),
            kernel=cls.kernel(launch),
            groups=launch.groups,
            group_size=launch.group_size,
            launched="THREADS * INSTANCES, 1" if launch.placement == DEVICE else "GROUPS, GROUP_SIZE",
            words=launch.words,
            finished_byte=launch.finished * 4,
            expected=launch.program.size * launch.instances,
            pseudo_code="".join(f"// {line}\n" for line in print_axb(launch.program).splitlines()),
            pseudo_code_hash="".join(f"# {line}\n" for line in print_axb(launch.program).splitlines()),
        )
