"""AXB programs as litmus tests: what is not one of ours is refused, and the instruction named."""

import pytest
from refusals import refusal

from corpus.dialects.dartagnan.ptx import PTX
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Load, Rmw, Store
from corpus.litmus.orders import Place, Scope
from corpus.progress.as_litmus import VULKAN_RELAXED, axb_program, axb_test
from corpus.progress.axb import Instruction, Program
from corpus.progress.idioms import idioms

MUTEX = PTX.print(axb_test(idioms()["mutex"], "mutex"))


def test_labels_of_different_threads_are_different():
    thread = tuple(Instruction(0, 0, pc) for pc in range(11))
    text = PTX.print(axb_test(Program((thread,) * 12), "many"))
    labels = [word for word in text.replace("|", " ").split() if word.startswith("LC") and word.endswith(":")]
    assert len(labels) == len(set(labels)) == 12 * 12


def test_threads_are_in_ctas_of_their_own_and_accesses_are_of_the_gpu():
    test = axb_test(idioms()["mutex"], "mutex", VULKAN_RELAXED)
    assert [thread.place for thread in test.threads] == [Place(cta=0), Place(cta=1)]
    accesses = [ins for thread in test.threads for ins in thread.instructions if isinstance(ins, Load | Store | Rmw)]
    assert {(ins.mode.order, ins.mode.scope, ins.mode.tags) for ins in accesses} == {("relaxed", Scope.GPU, ("sc0",))}
    assert axb_program(test) == idioms()["mutex"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Mem0=0;", "Mem0=0; P0:r0=1;", "P0: expected registers that start with 0"),
        ("bne r0, 1, LC01", "beq r0, 1, LC01", "P0: expected bne r0, 1, LC01, found beq r0, 1, LC01"),
        ("bne r0, 1, LC01", "bne r1, 1, LC01", "P0: expected bne r0, 1, LC01, found bne r1, 1, LC01"),
        ("bne r0, 1, LC01", "bne r0, 1, LC02", "P0: expected bne r0, 1, LC01, found bne r0, 1, LC02"),
        ("bne r0, 1, LC01", "bne r0,-1, LC01", "P0: expected bne, found bne r0, -1, LC01"),
        ("goto LC00  ", "           ", "P0: expected goto, found st.relaxed.gpu Mem0, 0"),
        ("LC02:", "     ", "P0: expected a label for each of 2 accesses and one at the end"),
        ("LC02:", "fence.sc.gpu", "P0: expected a load, a store or an exchange of a number, found fence.sc.gpu"),
        ("st.relaxed.gpu Mem0, 0", "st.weak Mem0, 0", "P0: expected st.relaxed.gpu Mem0, 0, found st Mem0, 0"),
        ("st.relaxed.gpu Mem0, 0", "st.relaxed.gpu Mem0, r0", "P0: expected a load, a store or an exchange"),
        ("st.relaxed.gpu Mem0, 0", "st.relaxed.gpu Mem0, -1", "P0: st.relaxed.gpu Mem0, -1: expected a natural number"),
        ("st.relaxed.gpu Mem0, 0", "st.relaxed.gpu x, 0", "expected a location from Mem0 to Mem65535"),
        ("st.relaxed.gpu Mem0, 0", "st.relaxed.gpu Mem99999, 0", "expected a location from Mem0 to Mem65535"),
        ("Mem0=0", "Mem0=1", "expected 1 locations that start with 0, and exists (0 == 0)"),
        ("0 == 0", "0 == 1", "expected 1 locations that start with 0, and exists (0 == 0)"),
    ],
)
def test_what_is_no_axb_program_is_refused(old, new, message):
    assert old in MUTEX
    assert message in refusal(axb_program, parse_litmus(MUTEX.replace(old, new, 1)))


def test_a_thread_without_an_instruction_is_refused():
    text = 'PTX x\n"empty"\n{\nMem0=0;\n}\n P0@cta 0,gpu 0 ;\n LC00: ;\nexists 0==0\n'
    with pytest.raises(InputError, match="thread 0 has no instruction"):
        axb_program(parse_litmus(text))
