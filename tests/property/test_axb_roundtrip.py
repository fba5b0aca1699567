"""The texts of AXB programs are exact inverses of their parsers, and canonical form is what it says."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from strategies import programs

from corpus.dialects.dartagnan.ptx import PTX
from corpus.dialects.dartagnan.vulkan import VULKAN
from corpus.dialects.registry import parse_litmus
from corpus.progress.as_litmus import RELAXED, VULKAN_RELAXED, axb_program, axb_test
from corpus.progress.axb import Instruction, Program, canonical, digest, instructions, rename_locations
from corpus.progress.text import parse_axb, print_axb


@given(programs())
def test_pseudo_code_round_trip(program):
    assert parse_axb(print_axb(program)) == program


@given(programs(), st.integers(0, 2**16))
def test_spaces_line_ends_and_comments_do_not_matter(program, seed):
    spaced = print_axb(program).replace(" ", "\t ").replace("(", " ( ").replace("\n", f" // {seed};\r\n\n")
    assert parse_axb(spaced) == program


@given(programs())
def test_printing_is_injective_on_the_printed(program):
    text = print_axb(program)
    assert print_axb(parse_axb(text)) == text


@given(programs(longest=12, most_threads=12), st.sampled_from([(PTX, RELAXED), (VULKAN, VULKAN_RELAXED)]))
def test_litmus_round_trip(program, target):
    dialect, mode = target
    text = dialect.print(axb_test(program, "2x4-00017", mode))
    assert axb_program(parse_litmus(text)) == program
    assert "\n".join(line.rstrip() for line in text.splitlines()) + "\n" == text


def relocated(program: Program, names: tuple[int, ...]) -> Program:
    return Program(
        tuple(tuple(Instruction(names[i.location], i.check, i.jump, i.exchange) for i in t) for t in program.threads)
    )


def isomorphic(a: Program, b: Program, symmetric_threads: bool) -> bool:
    """Equality up to renaming of locations (and order of threads), by trying every one."""
    orders = permutations(a.threads) if symmetric_threads else [a.threads]
    return any(relocated(Program(tuple(o)), names) == b for o in orders for names in permutations(range(3)))


@given(st.booleans(), programs(locations=3, values=2, longest=2, most_threads=2), st.data())
def test_canonical_form_decides_isomorphism(symmetric, program, data):
    # Either a disguised copy of the program, or any other one of the same shape or not.
    if data.draw(st.booleans()):
        other = relocated(program, data.draw(st.permutations(range(3))))
        other = Program(tuple(data.draw(st.permutations(other.threads)))) if symmetric else other
    else:
        other = data.draw(programs(locations=3, values=2, longest=2, most_threads=2))
    same = isomorphic(program, other, symmetric)
    assert (canonical(program, symmetric) == canonical(other, symmetric)) is same
    assert (digest(program, symmetric) == digest(other, symmetric)) is same


@given(programs())
def test_locations_are_numbered_by_first_occurrence(program):
    renamed = rename_locations(program)
    seen = list(dict.fromkeys(ins.location for _, _, ins in instructions(renamed)))
    assert seen == list(range(len(seen)))
    assert rename_locations(renamed) is renamed
