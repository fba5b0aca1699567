"""Litmus tests in assembly: every row of the tables both ways, what a test looks like, and what is refused."""

import re

import pytest
from commands import synth
from refusals import refusal

from corpus.dialects.assembly import instructions
from corpus.dialects.registry import DIALECTS, parse_litmus, runners, translate
from corpus.litmus.describe import describe
from corpus.litmus.instructions import Branch, Fence, Load, Rmw, Store
from corpus.litmus.normal import litmus_digest
from corpus.litmus.processors import PROCESSORS

LANGUAGES = {
    "armv8": ("aarch64", instructions.AARCH64),
    "power": ("ppc", instructions.PPC),
    "riscv": ("riscv", instructions.RISCV),
    "x86": ("x86-64", instructions.X86_64),
}


def one_thread(assembly, *lines, state="x=0; y=0;", condition="exists (x=1)"):
    rows = "".join(f" {line} ;\n" for line in ("P0", *lines))
    return parse_litmus(f"{assembly.language} t\n{{ {state} }}\n{rows}{condition}\n", "t.litmus")


def filled(assembly, row):
    """The text of a row with a register, a number, a location or a label in each field, and where a branch leads."""
    data, wide = iter(assembly.narrow), iter(assembly.registers[8:])
    words = {
        name: {"n": str(max(row.least, 1)), "l": "L0", "x": "x"}.get(name[0])
        or (next(wide) if name in ("a", "b", "c") else next(data))
        for name in dict.fromkeys(re.findall(r"\{(\w)\}", row.text))
    }
    addresses = [words[name] for name in ("a", "b") if name in words]
    lines = [*row.text.format(**words).split("; "), *(["L0:"] if "l" in words else [])]
    return lines, f"x=0; {' '.join(f'0:{register}=x;' for register in addresses)}"


ROWS = [(name, assembly, row) for name, (_, assembly) in LANGUAGES.items() for row in assembly.rows]


@pytest.mark.parametrize(("name", "assembly", "row"), ROWS, ids=lambda value: getattr(value, "text", ""))
def test_a_row_is_read_as_what_it_means_and_printed_again(name, assembly, row):
    lines, state = filled(assembly, row)
    test = one_thread(assembly, *lines, state=state)
    kinds = [type(ins) for ins in test.threads[0].instructions]
    assert kinds[: len(row.meaning)] == [type(ins) for ins in row.meaning]
    text = translate(test, DIALECTS[LANGUAGES[name][0]])
    assert litmus_digest(parse_litmus(text)) == litmus_digest(test)


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_word_of_a_processor_has_a_row_and_power_alone_has_no_atomic_operation(name):
    modes = {
        (type(ins), ins.mode.tags)
        for row in LANGUAGES[name][1].rows
        for ins in row.meaning
        if isinstance(ins, Load | Store | Rmw | Fence)
    }
    words = {(kind, (word,)) for kind, rows in PROCESSORS[name].items() for word in rows}
    plain = {(Load, ()), (Store, ()), (Rmw, ())} - ({(Rmw, ())} if name == "power" else set())
    assert modes == words | plain


LISA = """LISA MP
{ x=0; y=0; }
 P0            | P1                         ;
 w[] x 1       | r[ldar] r0 y               ;
 f[dmb.st]     | mov r2 (and r0 1073741824) ;
 w[stlr] y 1   | mov r3 (add x r2)          ;
               | b[] r2 LC0                 ;
               | r[ldapr] r1 r3             ;
               | LC0:                       ;
exists (1:r0 = 1 /\\ 1:r1 = 0)
"""
AARCH64 = """AArch64 MP
{
0:X0=x; 0:X2=y;
1:X4=y; 1:X5=x;
x=0;
y=0;
}
 P0           | P1                    ;
 MOV W1,#1    | LDAR W0,[X4]          ;
 STR W1,[X0]  | AND W2,W0,#1073741824 ;
 DMB ST       | ADD X3,X5,W2,SXTW     ;
 STLR W1,[X2] | CBNZ W2,L100          ;
              | LDAPR W1,[X3]         ;
              | L100:                 ;
exists (1:X0 = 1 /\\ 1:X1 = 0)
"""


def test_a_test_in_assembly_has_its_addresses_and_constants_in_registers(tmp_path):
    (tmp_path / "mp.litmus").write_text(LISA)
    result = synth("convert", tmp_path / "mp.litmus", "--to", "aarch64")
    assert result.exit_code == 0
    assert litmus_digest(parse_litmus(result.stdout)) == litmus_digest(parse_litmus(LISA))
    assert litmus_digest(parse_litmus(AARCH64)) == litmus_digest(parse_litmus(LISA))
    assert translate(parse_litmus(AARCH64), DIALECTS["aarch64"]).splitlines()[-1] == AARCH64.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        ("armv8", ["EOR W2,W0,W0", "LDR W3,[X1,W2,SXTW]"], ["xor X2, X0, X0", "add t0, X1, X2", "ld X3, [t0]"]),
        ("armv8", ["swpal w0 , w2, [x1]"], ["atom.al.exch X2, [X1], X0"]),
        ("power", ["lwzx r3,r4,r1"], ["add t0, r1, r4", "ld r3, [t0]"]),
        ("power", ["cmpw r3,r3", "beq L", "L: isync"], ["beq r3, r3, L", "L:", "isync"]),
        ("riscv", ["amoswap.w.aq.rl x5,x6,(x7)"], ["atom.aqrl.exch x5, [x7], x6"]),
        ("riscv", ["lui x6,262144"], ["mov x6, 1073741824"]),
        ("x86", ["movl $1,%eax", "xchgl %eax,(x)"], ["atom.relaxed.gpu.exch rax, x, 1"]),
    ],
)
def test_what_other_tools_write_is_read(name, lines, said):
    _, assembly = LANGUAGES[name]
    state = f"x=0; 0:{assembly.registers[1]}=x;" if name != "power" else "x=0; 0:r1=x;"
    found = [describe(ins) for ins in one_thread(assembly, *lines, state=state).threads[0].instructions]
    assert found == said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RISCV t\n{ x=0; }\n P0 ;\n fence.i ;\nexists (x=1)\n", "4:2: RISCV has no instruction fence.i here"),
        ("PPC t\n{ 0:r2=x; }\n P0 ;\n lwz r1,4(r2) ;\nexists (x=1)\n", "4:2: PPC has no instruction lwz r1,4(r2) here"),
        ("AArch64 t\n{ 0:X31=x; }\n P0 ;\n DMB SY ;\nexists (x=1)\n", "2:3: AArch64 has no register X31 here"),
        ("AArch64 t\n{ x=0; x=1; }\n P0 ;\n DMB SY ;\nexists (x=1)\n", "2:8: x has two initial values"),
        ("AArch64 t\n{ x=0x1FFFFFFFF; }\n P0 ;\n ISB ;\nexists (x=1)\n", "2:3: expected a location or a number of 32"),
        (
            "AArch64 t\n{ 1:X1=x; }\n P0 ;\n ISB ;\nexists (x=1)\n",
            "2:3: the initial state has a register of P1, which is",
        ),
        ("AArch64 t\n{ int x[2]; }\n P0 ;\n ISB ;\nexists (x=1)\n", "2:3: expected an initial value, as 0:X0=x or x=1"),
        (f"AArch64 t\n{{ {'9' * 5000}:X1=x; }}\n P0 ;\n ISB ;\nexists (x=1)\n", "2:3: expected an initial value, as 0"),
        ("AArch64 t\n{ }\n P1 ;\n ISB ;\nexists (x=1)\n", "3:2: expected P0, found P1"),
        ("AArch64 t\n{ }\n P0 | P1 ;\n ISB ;\nexists (x=1)\n", "4:2: expected 2 columns, found 1"),
        ("AArch64 t\n{ }\n P0 ;\n ISB \nexists (x=1)\n", "expected ; at the end of the row"),
        ("AArch64 t\n{ }\nexists (x=1)\n", "expected the rows of the threads, which ; ends"),
        (
            "AArch64 t\n{ x=0; }\n P0 ;\n MOV W0,#99999999999 ;\nexists (x=1)\n",
            "4:2: AArch64 has no instruction MOV W0",
        ),
    ],
)
def test_what_is_no_test_is_refused_at_its_place(text, message):
    assert message in refusal(parse_litmus, text, "t.litmus")


@pytest.mark.parametrize(
    ("target", "body", "reason"),
    [
        ("ppc", "rmw[] r0 1 x", "P0: atom.relaxed.gpu.exch r0, x, 1: PPC has no such instruction here"),
        ("aarch64", "w[lwsync] x 1", None),
        ("aarch64", "f[lwsync]", "AArch64 has no such instruction here"),
        ("riscv", "r[ldar] r0 x", "RISCV has no such instruction here"),
        ("x86-64", "r[] r0 x+r1", "X86_64 has no such instruction here"),
        ("x86-64", "rmw[] r0 (add r0 1) x", "X86_64 has no such instruction here"),
        ("aarch64", "rmw[al,noreturn] r0 1 x", "AArch64 has no such instruction here"),
    ],
)
def test_what_a_processor_cannot_say_is_named(target, body, reason):
    text = f"LISA t\n{{ x=0; }}\n P0 ;\n r[] r1 x ;\n {body} ;\nexists (x=1)\n"
    if reason is None:
        assert "has no annotation" in refusal(parse_litmus, text, "t.litmus")
    else:
        assert reason in refusal(translate, parse_litmus(text), DIALECTS[target])


def test_threads_in_one_group_and_too_many_constants_are_refused():
    one = "LISA t\n{ x=0; }\n P0 | P1 ;\n w[] x 1 | w[] x 2 ;\nscopes: (system (gpu (cta P0 P1)))\nexists (x=1)\n"
    assert "has no scopes" in refusal(translate, parse_litmus(one), DIALECTS["riscv"])
    many = "".join(f" w[] x {number} ;\n" for number in range(40))
    text = f"LISA t\n{{ x=0; }}\n P0 ;\n{many}exists (x=1)\n"
    assert "P0: RISCV has no more registers" in refusal(translate, parse_litmus(text), DIALECTS["riscv"])


def test_locations_that_are_registers_there_are_refused():
    text = "LISA t\n{ eax=0; }\n P0 ;\n w[] eax 1 ;\nexists (eax=1)\n"
    assert "eax: X86_64 has no locations of that name here" in refusal(
        translate, parse_litmus(text), DIALECTS["x86-64"]
    )


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_suite_goes_to_herd7_in_assembly(name, tmp_path):
    suite, target = tmp_path / "suite", f"herd-{LANGUAGES[name][0]}"
    assert target in runners()
    assert synth("memory", "--from", name, "--events", "2..3", "-o", suite, "-j", "1").exit_code == 0
    result = synth("export", suite, "--to", target, "-o", tmp_path / "out")
    left = 1 if name == "power" else 0
    assert result.exit_code == 2 * left and result.stderr.count("PPC has no such instruction") == left
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert {"@all", "expected"} < set(files) and len(files) == 8 - left + 2
    assert not any(
        isinstance(ins, Branch)
        for ins in parse_litmus((tmp_path / "out/CoRR.litmus").read_text()).threads[0].instructions
    )
