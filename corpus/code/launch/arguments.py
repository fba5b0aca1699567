"""What a launch gives for the parameters of a kernel, and what the source calls them."""

from __future__ import annotations

from corpus.code.launch.fields import is_structure
from corpus.code.launch.launch import Argument, SharedArgument
from corpus.code.thread import FollowedThread


def argument_of(thread: FollowedThread, parameter: str) -> Argument | None:
    """Return what the launch gives for a parameter of the kernel."""
    number = thread.kernel.number_of(parameter)
    return None if number is None else thread.launch.argument(parameter, number)


def name_of(thread: FollowedThread, parameter: str) -> str:
    """Return the name that the source has for a parameter of the kernel."""
    number = thread.kernel.number_of(parameter)
    return parameter if number is None else thread.launch.source_name(parameter, number)


def memory_of(thread: FollowedThread, parameter: str) -> str:
    """Return the parameter whose memory a parameter points to: itself, or another one that the launch names."""
    given = argument_of(thread, parameter)
    if not isinstance(given, SharedArgument):
        return parameter
    for number, other in enumerate(thread.kernel.parameters):
        if given.name in (other.name, thread.launch.source_name(other.name, number)):
            return other.name
    return given.name


def is_bare(thread: FollowedThread, parameter: str) -> bool:
    """Return whether a parameter of the kernel is bytes rather than a number or an address.

    PTX alone says so by the type; in SPIR-V numbers and vectors are declared as bytes, and are given as numbers.
    """
    number = thread.kernel.number_of(parameter)
    return thread.language.memory.structures and number is not None and is_structure(thread.kernel.parameters[number])
