"""Modules of PTX around the code of a kernel, and what is left of them for a launch."""

from corpus.code.launch.launch import ArrayArgument, KernelLaunch
from corpus.code.program import KernelProgram, program_of
from corpus.code.ptx.reader import read_ptx
from corpus.litmus.describe import describe

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"


def kernel_text(body: str, parameters: str = "x y z", around: str = "", name: str = "k") -> str:
    """A module whose kernel has this body, and pointers or numbers (``n:u32``) as parameters. The addresses of its
    pointers are in the registers ``%x``, ``%y``, .., its numbers in those of their names, too."""
    pairs = [word.partition(":")[::2] for word in parameters.split()]
    given = ",\n".join(f"  .param .{kind or 'u64'} {each}" for each, kind in pairs)
    read = []
    for each, kind in pairs:
        bits = "b32" if kind.endswith("32") else "b64"
        read += [f"  .reg .{bits} %{each};", f"  ld.param.{kind or 'u64'} %{each}, [{each}];"]
    registers = ("pred %p", "b16 %h", "b32 %r", "b64 %d", "f32 %f")
    declared = [f"  .reg .{kind}<80>;" for kind in registers]
    top = [HEADER + around, f".visible .entry {name}(", given, ")", "{", *declared, *read]
    return "\n".join([*top, body.rstrip(), "  ret;", "}", ""])


def program(text: str, grid=1, block=1, warp=32, **arguments) -> KernelProgram:
    """What is left of the only kernel of a module. Arguments are numbers, lists for arrays, or what ``--arg`` gives."""
    module = read_ptx(text, "kernel.ptx")
    given = {
        name: ArrayArgument(tuple(value)) if isinstance(value, list) else value for name, value in arguments.items()
    }
    launch = KernelLaunch((grid, 1, 1), (block, 1, 1), warp=warp, arguments=given)
    return program_of(module, module.kernels[0], launch)


def lines(found: KernelProgram) -> list[list[str]]:
    """The instructions of each thread, as text."""
    return [[describe(each) for each in thread.instructions] for thread in found.test.threads]
