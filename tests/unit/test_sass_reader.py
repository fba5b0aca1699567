"""The reader of machine code on stored texts of ptxas 13.5, with faults planted in them, and its tables.

Texts are those of ``nvdisasm -c`` for the kernel ``run`` of examples, without what aligns code.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from assembly_mutants import code_mutants
from instruction_rows import operands_of, words_of
from planted_sass import faulty_sass

from backends.cuda.ptxas import compiled_launch
from backends.shared.layout import place
from corpus.code import ir
from corpus.code.arithmetic import computed
from corpus.code.places import RegisterHome
from corpus.code.sass.computing import COMPUTED
from corpus.code.sass.launch import ALL
from corpus.code.sass.operands import KINDS, operand_of, targets
from corpus.code.sass.reader import SASS, read_sass
from corpus.code.sass.table import row_named
from corpus.code.sass.words import TRANSLATION
from corpus.code.table import Refusal, Row, rows_of
from corpus.code.thread import FollowedThread, Meaning, State, new_thread
from corpus.code.values import Symbol, Value
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.litmus.arithmetic import compute as calculated
from corpus.litmus.describe import describe
from corpus.litmus.instructions import Assign, Branch, Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Reg
from corpus.litmus.orders import Order, Scope
from corpus.litmus.ptx_arithmetic import compute, signed
from corpus.litmus.test import LitmusTest
from oracle.consistency import resolve_consistency_models
from synth.translation.judging import TranslationVerdict, judge_translation

STORED = Path(__file__).parents[1] / "sass"
EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
SPIN = """\
GPU_PTX spin
{ x=0; y=0; }
 T0                   | T1                     ;
 st.relaxed.gpu [x],1 | LOOP:                  ;
 st.release.gpu [y],1 | ld.acquire.gpu r1,[y]  ;
                      | setp.eq p1,r1,0        ;
                      | @p1 bra LOOP           ;
                      | ld.relaxed.gpu r2,[x]  ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
exists (1:r2=0)
"""
READ = {
    "c-mp-rel-acq.sm_75.O3": (
        "st x, 1; fence.release.sys; st.relaxed.sys y, 1",
        "ld.relaxed.sys r0, y; fence.acquire.sys; ld r1, x",
    ),
    "c-mp-rel-acq.sm_90.O3": (
        "st x, 1; fence.release.sys; st.relaxed.sys y, 1",
        "ld.relaxed.sys r0, y; fence.acquire.sys; ld r1, x",
    ),
    "c-sb-fences-sc.sm_90.O3": (
        "st.relaxed.sys x, 1; fence.sc.sys; ld.relaxed.sys r0, y",
        "st.relaxed.sys y, 1; fence.sc.sys; ld.relaxed.sys r0, x",
    ),
    "cas-sl.sm_90.O3": (
        "st.relaxed.gpu x, 1; atom.relaxed.gpu.exch s0, m, 0",
        "atom.relaxed.gpu.cas R4, m, 0, 1; bne R4, 0, L0; ld.relaxed.gpu R6, x; mov r1, R4; mov r3, R6; goto END; "
        "L0:; mov r1, R4; mov r3, 0; END:",
    ),
    "isa2-rmw-sc-compiled.sm_90.O3": (
        "st x, 1; fence.release.gpu; st.relaxed.gpu y, 1",
        "fence.sc.gpu; fence.release.gpu; atom.acq_rel.gpu.add r1, y, 1; fence.acquire.sys; st.relaxed.gpu y, 3",
        "ld.relaxed.gpu r2, y; fence.acquire.sys; ld r3, x",
    ),
    "mp+membar.gl+addr.sm_75.O0": (
        "st.relaxed.gpu x, 1; fence.sc.gpu; st.relaxed.gpu y, 1",
        "ld.relaxed.gpu r1, y; and s1, r1, -2147483648; add s2, &x, s1; ld.relaxed.gpu r5, [s2]",
    ),
    "mp+membar.gl+addr.sm_90.O3": (
        "st.relaxed.gpu x, 1; fence.sc.gpu; st.relaxed.gpu y, 1",
        "ld.relaxed.gpu r1, y; and s1, r1, -2147483648; add s2, &x, s1; ld.relaxed.gpu r5, [s2]",
    ),
    "mp-bar-sync.sm_90.O0": ("st x, 1; bar.sync 1, 2", "bar.sync 1, 2; ld r1, x"),
    "sb-shared-global.sm_75.O3": (
        "st.relaxed.sys x, 1; ld.relaxed.gpu r2, y; fence.acquire.cta",
        "st.relaxed.gpu y, 1; ld.relaxed.sys r2, x; fence.acquire.cta",
    ),
    "spin.sm_75.O3": (
        "st.relaxed.gpu x, 1; fence.release.gpu; st.relaxed.gpu y, 1",
        "L0:; ld.relaxed.gpu R3, y; setp.ne P0, R3, 0; fence.acquire.sys; bne P0, 0, L1; goto L0; L1:; "
        "ld.relaxed.gpu r2, x",
    ),
}
"""What each stored text does, thread by thread."""


def stored(name: str) -> tuple[LitmusTest, str]:
    """Return the test that a stored text is of, and the text."""
    example = name.rsplit(".", 2)[0]
    test = parse_litmus(SPIN) if example == "spin" else read_litmus(EXAMPLES / f"{example}.litmus")
    return test, (STORED / f"{name}.sass").read_text(encoding="utf-8")


def verdict(test: LitmusTest, text: str) -> TranslationVerdict:
    """Return the verdict on machine code by the model of PTX; NOT_READ where it is not understood."""
    (ptx,) = resolve_consistency_models(["ptx"])
    try:
        read = read_sass(text, compiled_launch(place(test)))
    except InputError:
        return TranslationVerdict.NOT_READ
    return judge_translation(test, read, (ptx, ptx)).verdict


def test_every_stored_text_is_here() -> None:
    assert {file.stem for file in STORED.glob("*.sass")} == set(READ)


@pytest.mark.parametrize("name", READ)
def test_machine_code_is_read(name: str) -> None:
    test, text = stored(name)
    read = read_sass(text, compiled_launch(place(test)))
    assert tuple("; ".join(map(describe, thread.instructions)) for thread in read.threads) == READ[name]
    assert (read.locations, read.condition) == (test.locations, test.condition)


@pytest.mark.parametrize("name", READ)
def test_machine_code_allows_nothing_that_the_test_does_not(name: str) -> None:
    expected = {"sb-shared-global.sm_75.O3": TranslationVerdict.SAME}
    assert verdict(*stored(name)) is expected.get(name, TranslationVerdict.SAME)


IN_A_MESSAGE = (
    ("no access", "WEAKER"),  # the flag without the message
    ("no fence", "WEAKER"),
    ("narrow fence", "SAME"),  # one GPU has both threads
    ("no access", "STRONGER"),  # no flag
    ("weak access", "WEAKER"),
    ("narrow access", "SAME"),
    ("swapped accesses", "WEAKER"),
    ("no access", "WEAKER"),  # nothing has been read
    ("weak access", "WEAKER"),
    ("narrow access", "SAME"),
    ("no invalidation", "WEAKER"),
    ("no access", "NOT_READ"),  # what the register holds is an address
    ("swapped accesses", "WEAKER"),
)
"""Faults in the order of the code, and the verdicts on them."""


def test_each_fault_in_a_message_is_judged() -> None:
    test, text = stored("c-mp-rel-acq.sm_90.O3")
    found = [(kind, str(verdict(test, faulty))) for kind, faulty in faulty_sass(text)]
    assert found == list(IN_A_MESSAGE)


def test_faults_of_every_kind_are_caught() -> None:
    """A fault is a finding, or not read, unless the model allows nothing new by it. A system has one GPU here."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name in READ:
        test, text = stored(name)
        for kind, faulty in faulty_sass(text):
            found[kind][str(verdict(test, faulty))] += 1
    assert {kind: dict(answers) for kind, answers in found.items()} == {
        "narrow access": {"SAME": 24, "WEAKER": 6},
        "narrow fence": {"SAME": 7, "WEAKER": 3},
        "no access": {"NOT_READ": 6, "SAME": 1, "STRONGER": 16, "WEAKER": 17},
        "no dependency": {"NOT_READ": 1, "SAME": 1, "WEAKER": 1},
        "no fence": {"SAME": 3, "WEAKER": 7},
        "no invalidation": {"SAME": 3, "WEAKER": 7},
        "swapped accesses": {"NOT_READ": 4, "SAME": 3, "STRONGER": 1, "WEAKER": 11},
        "weak access": {"SAME": 18, "WEAKER": 9},
        "weaker fence": {"SAME": 3, "WEAKER": 2},
    }


OUTSIDE = "LDC.64 R10, c[0x0][0x210];\n    /*0188*/ STG.E desc[UR6][R10.64], R6;"
"""A store to the first location before the thread is called."""


def test_where_the_code_comes_from_is_told_in_errors() -> None:
    test, text = stored("c-mp-rel-acq.sm_90.O3")
    layout = place(test)
    for found, replaced, message in (
        (".target\tsm_90", "", "t: expected the architecture of the machine code, such as .target sm_90"),
        ("_Z3runPjS_j:", "_Z3putPjS_j:", "t: expected the machine code of one kernel called run, found 0"),
        ("MEMBAR.ALL.SYS", "MEMBAR.ALL.VC", "t:61: P0: MEMBAR.ALL.VC: is not understood"),
        ("STG.E.STRONG.SYS", "STG.E.64.STRONG.SYS", "is not understood"),
        ("STG.E.STRONG.SYS", "ST.E.STRONG.SYS", "generic accesses, to shared memory of another CTA, are not"),
        ("STG.E.STRONG.SYS", "UBLKCP", "is not understood"),
        ("VIADD R2, R0, 0x80", "VIADD R2, R0, 0x82", "its address is that of no location in global memory"),
        ("VIADD R2, R0, 0x80", "POPC R2, R0", "its address is not understood"),
        ("MOV R6, 0x1a0;", OUTSIDE, "an access of the test is outside of the code of its thread"),
        ("$thread_1_0)", "$thread_0_0)", "P1 of the test is thread 0 in the machine code"),
    ):
        assert found in text
        with pytest.raises(InputError) as wrong:
            read_sass(text.replace(found, replaced), compiled_launch(layout), "t")
        assert message in str(wrong.value)
        assert "\n" not in str(wrong.value)


KERNEL = ir.KernelFunction("run", True, (), (), {}, (), (), {}, {})


def followed(capability: int = 90) -> FollowedThread:
    """Return a thread of which nothing has been followed."""
    launch = compiled_launch(place(parse_litmus(SPIN)))
    return new_thread(ir.Module("", "", f"sm_{capability}", {}, {}, "sass"), KERNEL, launch, launch.ids(0), SASS)


def state_of(known: dict[str, Value]) -> State:
    """Return a state in which registers are known."""
    return State(KERNEL, known={RegisterHome(0, name): value for name, value in known.items()}, machine=True)


def test_logic_of_any_table_is_that_of_its_bits() -> None:
    """What stays of ``LOP3`` computes, for values that come later, what its table gives for them."""
    chance = random.Random(29)
    for table in range(256):
        registers = {name: chance.getrandbits(32) for name in ("a", "b", "c")}
        thread = followed()
        values: list[Value] = [
            number if chance.random() < 0.3 else Symbol(name, 32) for name, number in registers.items()
        ]
        result = computed(thread, "lop3.b32", [*values, table])
        holds = {name: signed(number, 32) for name, number in registers.items()}
        for ins in (left.instruction for left in thread.out.code):
            assert isinstance(ins, Assign)
            left, right = (holds[each.name] if isinstance(each, Reg) else each for each in ins.operands)
            assert isinstance(left, int)
            assert isinstance(right, int)
            holds[ins.target] = calculated(ins.operation, left, right)
        found = holds[result.register] if isinstance(result, Symbol) else result
        assert isinstance(found, int)
        assert found & ALL == compute("lop3", ("b32",), [*registers.values(), table])


def code_of(sequence: str, space: str) -> str:
    """Return the machine code of a kernel in which one thread of two does what a row of the table says."""
    letter, constant = ("G", "c[0x0][0x210]") if space == "global" else ("S", "0x400")
    operands = {"LD": "R4, [R2]", "ST": "[R2], R6", "ATOM": "PT, R4, [R2], R6", "RED": "[R2], R6"}
    lines = [f"MOV R2, {constant}", "MOV R6, 0x1"]
    for each in sequence.replace(".S;", ".GPU;").split(";"):
        opcode = each.removesuffix(".S") + (".GPU" if each.endswith(".S") else "")
        head, _, rest = opcode.partition(".")
        if head in operands:
            add = ".ADD" if head in ("ATOM", "RED") else ""
            head += letter
            opcode = ".".join(filter(None, (head + ".E" + add, rest)))
            lines.append(f"{opcode} {operands[head[:-1]]}")
        elif opcode != "nothing":
            lines.append(opcode)
    return kernel_of(lines)


def kernel_of(lines: list[str]) -> str:
    """Return the machine code of a kernel in which one thread of two does something."""
    start = ["S2R R0, SR_TID.X", "ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0 EXIT", "CALL.REL.NOINC `($run$thread_0_0)"]
    code = [".target sm_90", "run:", *start, "EXIT", "$run$thread_0_0:", *lines, "RET.REL.NODEC R8 `(run)"]
    return "\n".join(
        f"/*{16 * n:04x}*/ {line};" if not line.endswith((":", "90")) else line for n, line in enumerate(code)
    )


ROWS = [(space, row) for space, rows in TRANSLATION.items() for row in rows]


@pytest.mark.parametrize(("space", "row"), ROWS, ids=[f"{space}-{row.words}" for space, row in ROWS])
def test_what_is_read_is_as_strong_as_what_was_translated(space: str, row) -> None:
    place_of = "{ x=0; }" if space != "shared" else "{ shared x=0; }"
    test = parse_litmus(
        f"GPU_PTX t\n{place_of}\n T0 | T1 ;\n st [x],1 | st [x],2 ;\n"
        f"ScopeTree(grid(cta(warp T0) (warp T1)))\n{'x: shared' if space == 'shared' else 'x: global'}\nexists (x=1)\n"
    )
    for sequence in {row.before, row.since} - {"-"}:
        if sequence == row.before and row.before != row.since:
            continue  # read as on sm_90, where an acquire of shared memory invalidates
        code = read_sass(code_of(sequence, space), compiled_launch(place(test))).threads[0].instructions
        assert covers(code, row.words), "; ".join(map(describe, code))


def covers(code: tuple[Instruction, ...], words: str) -> bool:
    """Whether accesses and fences are as strong as one instruction of PTX at a scope, S standing for the GPU."""
    kind, order, *_ = words.split(".")
    scope = {"cta": Scope.CTA, "S": Scope.GPU}.get(words.rpartition(".")[2], Scope.CTA)
    accesses = [n for n, ins in enumerate(code) if isinstance(ins, Load | Store | Rmw)]
    first, last = (accesses[0], accesses[-1]) if accesses else (len(code), -1)

    def fenced(orders: tuple[Order, ...], some: tuple[Instruction, ...]) -> bool:
        found = [ins for ins in some if isinstance(ins, Fence) and ins.mode.order in orders]
        return any(ins.mode.scope is not None and ins.mode.scope.value <= scope.value for ins in found)

    releases = fenced((Order.RELEASE, Order.ACQ_REL, Order.SC), code[:first])
    acquires = fenced((Order.ACQUIRE, Order.ACQ_REL, Order.SC), code[last + 1 :])
    if order == "sc":
        return fenced((Order.SC,), code)
    if kind == "fence" and order == "acquire" and scope is Scope.CTA:
        return True  # it is no instruction, and stands behind strong reads
    weak = order in ("weak", "cs", "lu")
    strong = all(ins.mode.order is not Order.WEAK for ins in code if isinstance(ins, Load | Store | Rmw))
    needs = {"release": releases, "acquire": acquires, "acq_rel": releases and acquires}
    return (weak or strong) and needs.get(order, True)


ON_TWO_WAYS = (
    ("@P0 STG.E.STRONG.GPU [R2], R6", "@!P0 STG.E.STRONG.GPU [R2], R7"),
    ("SEL R5, R6, R7, P0", "STG.E.STRONG.GPU [R2], R5"),
    ("@P0 MOV R7, R6", "STG.E.STRONG.GPU [R2], R7"),
    ("BRA !P0, `(.L_x)", "MOV R7, R6", ".L_x:", "STG.E.STRONG.GPU [R2], R7"),
)
"""Instructions that store R6 where P0 holds and R7 where it does not."""


@pytest.mark.parametrize("lines", ON_TWO_WAYS, ids=[lines[0] for lines in ON_TWO_WAYS])
def test_a_predicate_that_memory_decides_is_asked_once(lines: tuple[str, ...]) -> None:
    """Behind the branch it is known on both ways: R6 is 1 and R7 is 2, and each is stored on one of them."""
    test = parse_litmus(
        "GPU_PTX t\n{ x=0; }\n T0 | T1 ;\n st [x],1 | st [x],2 ;\n"
        "ScopeTree(grid(cta(warp T0) (warp T1)))\nx: global\nexists (x=1)\n"
    )
    begin = ["MOV R2, c[0x0][0x210]", "MOV R6, 0x1", "MOV R7, 0x2", "LDG.E.STRONG.GPU R4, [R2]"]
    code = kernel_of([*begin, "ISETP.NE.AND P0, PT, R4, RZ, PT", *lines])
    read = read_sass(code, compiled_launch(place(test))).threads[0].instructions
    assert sum(isinstance(ins, Branch) and ins.condition is not None for ins in read) == 1
    assert {ins.value for ins in read if isinstance(ins, Store)} == {1, 2}


REFUSED = {
    "LDG.E.CONSTANT R9, desc[UR4][R2.64]": "its modifier CONSTANT is not known",
    "LDG.E.STRONG R9, desc[UR4][R2.64]": "is not understood",
    "LDG.E R9, desc[UR4][R2.64], P0": "its operands are none of those that are known",
    "LDG.E R9, desc[UR4][R2.64], R5, R6": "its operands are none of those that are known",
    "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R9, desc[UR4][R2.64], R5": "its modifier F32 is not known",
    "ATOMG.E.ADD.STRONG.GPU P0, R9, desc[UR4][R2.64], R5": "its operands are none of those that are known",
    "ATOMG.E.ADD PT, R9, desc[UR4][R2.64], R5": "is not understood",
    "STG.E desc[UR4][R2.64]": "its operands are none of those that are known",
    "BPT.TRAP 0x1": "this instruction is not known",
    "FENCE.VIEW.ASYNC": "is not understood",
    "DADD R8, R8, R8": "this instruction is not known",
    "IADD3.FOO R9, R9, R9, R9": "its modifier FOO is not known",
    "IADD3 R9, R9": "its operands are none of those that are known",
    "HFMA2.BF16_V2 R9, -RZ, RZ, 0, 0": "its modifier BF16_V2 is not known",
    "BRA.FOO `(.L_x_1)": "this jump is not understood",
    "CCTL.IVALL.CONSTANT": "is not understood",
    "CCTL.IVALL [R2]": "is not understood",
    "ERRBAR.X": "its modifier X is not known",
    "BSYNC.CONSTANT B0": "its modifier CONSTANT is not known",
    "EXIT.X": "its modifier X is not known",
    "RET.INC R8 `(run)": "its modifier INC is not known",
    "stg.e desc[UR4][R2.64], R5": "this instruction is not known",
    "?? 0x0": "this instruction is not known",
}
"""Instructions before the message of ``c-mp-rel-acq``, and why they are refused."""


def with_line(text: str, before: str, code: str) -> str:
    """Return machine code with an instruction before the first one that has some words."""
    lines = text.splitlines()
    place_of = next(number for number, line in enumerate(lines) if before in line)
    lines.insert(place_of, f"        /*0001*/                   {code} ;")
    return "\n".join(lines)


@pytest.mark.parametrize("code", REFUSED)
def test_what_has_no_row_is_refused_by_name(code: str) -> None:
    test, text = stored("c-mp-rel-acq.sm_90.O3")
    with pytest.raises(InputError) as error:
        read_sass(with_line(text, "MEMBAR", code), compiled_launch(place(test)))
    assert REFUSED[code] in str(error.value) and code.split()[0] in str(error.value)


def test_rows_that_compute_leave_memory_as_it_is() -> None:
    """An instruction of each row, whose results nobody uses, leaves the test as it was: it has no effect on memory."""
    test, text = stored("c-mp-rel-acq.sm_90.O3")
    wanted = read_sass(text, compiled_launch(place(test))).threads
    understood = 0
    for opcode, row in rows_of(COMPUTED):
        *_, operands = operands_of(row, lambda kind: KINDS[kind].examples[-1:])
        try:
            found = read_sass(
                with_line(text, "MEMBAR", f"{opcode} {', '.join(operands)}"), compiled_launch(place(test))
            )
        except InputError:  # of what it needs modifiers
            continue
        understood += 1
        assert found.threads == wanted, opcode
    assert understood > 20


def instruction(
    opcode: str, parts: tuple[str, ...], operands: tuple[str, ...]
) -> tuple[ir.KernelInstruction, Row[Meaning]]:
    """Return an instruction, and its row."""
    given = tuple(map(operand_of, operands))
    row = row_named(opcode, parts, given)
    assert isinstance(row, Row), (opcode, parts, operands)
    return ir.KernelInstruction(opcode, parts, given, None, 1), row


@pytest.mark.parametrize("capability", [75, 100])
def test_each_row_is_fed_once(capability: int) -> None:
    """What it computes of known numbers, of unknown ones and of operands of other kinds; none ends in a traceback."""
    numbers: dict[str, Value] = {**{f"R{n}": n for n in range(10)}, "P1": 1, "P2": 0}
    counts: Counter[str] = Counter()
    for opcode, row in rows_of(COMPUTED):
        for part in ["", *words_of(row)]:
            for operands in operands_of(row, lambda kind: KINDS[kind].examples[:1]):
                ins, found = instruction(opcode, tuple(filter(None, (part,))), operands)
                assert found is row, ins
                assert isinstance(row_named(opcode, (*ins.words, "FOO"), ins.operands), Refusal)
                assert isinstance(row_named(opcode, ins.words, (*ins.operands, *[operand_of("[R2]")] * 8)), Refusal)
                thread = followed(capability)
                known = [state_of({}), state_of(numbers), state_of({"R8": Symbol("R8", 32), "P2": 0})]
                assert all(row.meaning(thread, state, ins) for state in known)
                written = [known[1].home(each.name) for each in targets(ins) if isinstance(each, ir.Register)]
                counts["understood" if any(home in known[1].known for home in written) else "of unknown result"] += 1
    print(f"SASS, {len(COMPUTED)} opcodes that compute have a row: {dict(counts)}")
    assert counts["understood"] > 120


NUMBERS = {
    ("SHF.R.S64.HI", "R9", "RZ", "0x4", "R5"): 0xFFFFFFFF,
    ("SHF.R.U64.HI", "R9", "RZ", "0x4", "R5"): 0x0FFFFFFF,
    ("SHF.R.U64", "R9", "RZ", "0x21", "R5"): 0x7FFFFFFF,
    ("SHF.R.S64", "R9", "RZ", "0x21", "R5"): None,
    ("SHF.L.U32", "R9", "R5", "0x21", "RZ"): 0,
    ("SHF.L.W.U32", "R9", "R5", "0x21", "RZ"): None,
    ("ISETP.LT.U32.AND", "P0", "PT", "R5", "0x2", "PT"): 0,
    ("ISETP.LT.AND", "P0", "PT", "R5", "0x2", "PT"): 1,
    ("LOP3.LUT", "P0", "RZ", "R5", "0x1", "RZ", "0xc0", "!PT"): 1,
    ("LOP3.LUT", "P0", "RZ", "R5", "0x0", "RZ", "0xc0", "P1"): None,
    ("IMNMX.U32", "R9", "R5", "0x2", "PT"): 2,
    ("IMNMX", "R9", "R5", "0x2", "PT"): 0xFFFFFFFF,
}


@pytest.mark.parametrize("words", NUMBERS, ids=[" ".join(words) for words in NUMBERS])
def test_what_modifiers_make_of_a_number(words: tuple[str, ...]) -> None:
    """R5 is -1, and P1 holds."""
    opcode, *parts = words[0].split(".")
    ins, row = instruction(opcode, tuple(parts), words[1:])
    state = state_of({"R5": ALL, "P1": 1})
    assert row.meaning(followed(), state, ins)
    assert state.known.get(state.home(words[1])) == NUMBERS[words]


def mutants(count: int, seed: int) -> Counter[str]:
    found: Counter[str] = Counter()
    names = sorted(READ)
    for number, name in enumerate(names):
        test, text = stored(name)
        placed = place(test)
        for mutant in code_mutants(text, count // len(names) + (number < count % len(names)), random.Random(seed)):
            try:
                read_sass(mutant, compiled_launch(placed))
                found["read"] += 1
            except InputError:
                found["refused"] += 1
    return found


def test_mutants_end_in_one_line() -> None:
    assert mutants(150, 1)["refused"] > 30


@pytest.mark.slow
def test_many_mutants_end_in_one_line() -> None:
    print(dict(found := mutants(1700, 2)))
    assert sum(found.values()) == 1700
