"""Dartagnan's dialects: what cannot be read gets one line with its place."""

import pytest

from corpus.axb import Instruction, Program
from corpus.dartagnan import PTX, VULKAN, parse_litmus, print_litmus
from corpus.errors import InputError
from corpus.idioms import idioms

MUTEX = print_litmus(idioms()["mutex"], "mutex", PTX)


def test_labels_of_different_threads_are_different():
    thread = tuple(Instruction(0, 0, pc) for pc in range(11))
    text = print_litmus(Program((thread,) * 12), "many", PTX)
    labels = [word for word in text.replace("|", " ").split() if word.startswith("LC") and word.endswith(":")]
    assert len(labels) == len(set(labels)) == 12 * 12


def test_only_threads_that_read_declare_a_register():
    text = print_litmus(idioms()["prodcons-increasing"], "x", VULKAN)
    assert "P1:r0=0;" in text and "P0:r0=0;" not in text


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("PTX", "RISCV", "1:1", "expected PTX or VULKAN"),
        ("PTX", "VULKAN", "7:2", "expected P0@sg 0,wg 0,qf 0, found P0@cta 0,gpu 0"),
        ("P1@cta 1", "P1@cta 0", "7:38", "expected P1@cta 1,gpu 0, found P1@cta 0,gpu 0"),
        ("bne r0, 1, LC01", "beq r0, 1, LC01", "10:2", "found 'beq'"),
        ("bne r0, 1, LC01", "bne r1, 1, LC01", "10:6", "expected r0, found r1"),
        ("bne r0, 1, LC01", "bne r0, 1, LC02", "10:13", "expected the label of the next instruction, found LC02"),
        ("goto LC00", "goto LC10", "11:7", "expected a label of the same thread, found LC10"),
        ("goto LC00  ", "           ", "12:2", "expected a jump, found LC01"),
        ("LC01:", "LC00:", "12:2", "expected a new label, found LC00"),
        ("LC02:", "     ", "13:23", "expected a label after 0, found the end of the thread"),
        (" | LC10: ", "", "8", "expected 2 columns, found 1"),
        ("st.relaxed.gpu Mem0, 0", "st.weak Mem0, 0       ", "13:2", "expected ld.relaxed.gpu or st.relaxed.gpu or"),
        ("Mem0=0", "Mem0=1", "3:6", "expected 0, found 1"),
        ("0==0", "0==1", "15:11", "expected 0, found 1"),
        ("exists 0==0", "", "16:1", "found the end of the file"),
        ("bne r0, 1,", "bne r0, 9999999999,", "10:10", "expected a number up to 2147483647"),
    ],
)
def test_what_is_not_ours_is_refused_with_its_place(old, new, place, message):
    assert old in MUTEX
    with pytest.raises(InputError) as caught:
        parse_litmus(MUTEX.replace(old, new, 1), "t.litmus")
    shown = str(caught.value)
    assert shown.startswith(f"t.litmus:{place}"), shown
    assert message in shown


def test_a_thread_without_an_instruction_is_refused():
    text = 'PTX x\n"empty"\n{\nMem0=0;\n}\n P0@cta 0,gpu 0 ;\n LC00: ;\nexists 0==0\n'
    with pytest.raises(InputError, match="7:2: expected an instruction after LC00, found the end"):
        parse_litmus(text)
