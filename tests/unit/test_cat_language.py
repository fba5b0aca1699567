"""What stock models of herd and Dartagnan say: each feature in a small model of ours, with verdicts that are known.

A feature is shown by a model that says sequential consistency, or another model that ships, with its help; then all
methods give the shipped model's verdicts. What is not supported is one line that names it, and what it would take.
"""

from functools import cache
from pathlib import Path

import pytest
from litmus_code import program

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat, read_cat, shipped_models
from oracle.cat.terms import ModelCheck
from oracle.cat.text import check_text
from oracle.consistency import load_model
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import judge
from oracle.executions.spins import forgets_reads
from oracle.executions.vocabulary import vocabulary_of
from oracle.executions.witness import explain_memory

ROOT = Path(__file__).parents[2]
TESTS = [program("st x 1; ld r1 x | st x 2")] + [
    read_litmus(ROOT / "examples" / "memory" / f"{name}.litmus")
    for name in ("c-sb-sc", "c-mp-rlx", "c-atomicity", "c-mp-rel-acq", "c-sb-rel-acq", "c-corr-rlx", "c-lb-rlx")
]
ATOMIC = "empty rmw & (fre; coe) as atomicity"
SC = f"acyclic po | rf | co | fr as sc {ATOMIC}"


def model(text, path="m.cat"):
    return checked_model("m", parse_cat(text, str(path)), VOCABULARY)


def said(way, test, judged):
    judgement = way(test, judged)
    return judgement.answer, judgement.condition, frozenset(judgement.flags)


@cache
def known(name, number):
    """What a model that ships says of one of the tests."""
    return said(judge, TESTS[number], load_model(shipped_models()[name]))


def hold_same(judged, name, tests=TESTS):
    """A model says the same of the tests as one that ships, in every way; and not one thing of all."""
    verdicts = set()
    for number, test in enumerate(tests):
        (verdict,) = {known(name, number), *(said(way, test, judged) for way in (judge, judge_by_sat, judge_by_smt))}
        verdicts.add(verdict[0])
    assert len(verdicts) == 2


SAME_AS_SC = {
    "architecture": f"C SC {SC}",
    "architecture and a text": f'C "C++11, as if" {SC}',
    "a title of several words": f'Partial store "order" {SC}',
    "no order chosen": f"AArch64 {SC}",
    "cos": f'"x" include "cos.cat" {SC}',
    "cross": f'"x" include "cross.cat" with co from generate_cos(co0) let fr = rf^-1; co {SC}',
    "cross, spelled out": f'include "cross.cat" with co from cross(co_locs(co0, partition(W))) {SC}',
    "orders of a set": f"with co from generate_orders(W, 0) {SC}",
    "what is observed": f"""let obs =
        let ww = po-loc & (W * W)
        and rw = rf; (po-loc & (R * W)) in
        ww | rw
      with co from generate_cos(co0 | obs)
      let ww = 0 * 0 (* hides nothing that is local *)
      {SC}""",
    "observations by their name": f"with co from generate_cos(pco) {SC}",
    "fences": f'include "fences.cat" include "cos.cat" show mfence, dmb as of-others {SC}',
    "an order by a name": f"""let all = linearisations(M, po | (IW * (M \\ IW))) with S from all
      empty (rf | co | fr) \\ S as sc let S = S | po {ATOMIC}""",
    "an order of everything": f"""with S from linearisations(M, po | (IW * (M \\ IW)))
      empty (rf | co | fr) \\ S as sc {ATOMIC}""",
    "comments": f"(* a (* nested *) one *) // one\n# two\n/* three\nlines */ {SC}",
    "comments that do not nest": f"(* as *(y) and (*(y) are *) {SC}",
    "pictures": f"show rf unshow co, fr show rf;po as obs, co show ~(po) as other {SC}",
    "juxtaposition": f"""let after r = r; po let ends(r) = domain r | range r
      acyclic rf | co | fr | po | (after po) as sc {ATOMIC}""",
    "several at once": f"let fr = co and co = fr let fr = co and co = fr {SC}",
    "an unused parameter": f"let same _ = po acyclic same(0) | rf | co | fr as sc {ATOMIC}",
    "functions of functions": f"""let twice f = fun r -> f (f r)
      let step r = r | po
      acyclic (twice step rf) | co | fr as sc {ATOMIC}""",
    "tuples": f"""let pair (a, b) = (a | po, b)
      let sum p = let (a, b) = p in a | b
      acyclic sum (pair (rf, co)) | fr as sc {ATOMIC}""",
    "tuples by let": f"let (a, b) = (po | rf, co | fr) acyclic a | b as sc {ATOMIC}",
    "local functions": f"""let com = let join (a, b) = a | b and again f = fun r -> f (r, co) in again join rf
      acyclic com | po | fr as sc {ATOMIC}""",
    "begin and end": f"let com = begin rf | co end acyclic com | po | fr as sc {ATOMIC}",
    "try": f"""let f = try fencerel(NO-SUCH-FENCE) with 0 let A = try A with emptyset
      acyclic f | po | rf | co | fr as sc {ATOMIC}""",
    "try that holds": f"let before = try po with 0 acyclic before | rf | co | fr as sc {ATOMIC}",
    "procedures of nothing": f"procedure all() = acyclic po | rf | co | fr as sc {ATOMIC} end call all()",
    "dependencies of its own": f'"x" catdep {SC}',
    "variants": f"""if "mixed" acyclic 0 as no else acyclic po | rf | co | fr as sc end
      if not "mixed" && ("a" || not variant "b") {ATOMIC} end
      let none = if "vmsa" then NO-SUCH-SET else emptyset""",
    "procedures": f"""procedure within(a, b) = let lost = a \\ b empty lost end
      procedure equal(a, b) = call within(a, b) call within(b, a) end
      call equal(po & po, po) as same
      procedure sequential(r) = acyclic r | po end
      call sequential (rf | co | fr) as sc {ATOMIC}""",
    "tags": f"""enum Levels = 'near || 'far
      let of l = match l with || 'near -> int || _ -> ext end
      acyclic (of 'near | of 'far) & (po | rf | co | fr) | rf | co | fr as sc
      let all s = let rec go s = match s with || {{}} -> 0 || t ++ ts -> of t | go ts end in go s
      let everything = all Levels
      forall l in {{'near, 'far}} do empty of l & id & ext as never end {ATOMIC}""",
    "tags by cases": f"""enum T = 'a || 'b
      match 'b with || 'a -> acyclic po as no || _ -> acyclic po | rf | co | fr as sc end
      let r = if {{'a}} subset T then po else ext
      let s = if 'a = 'b then ext else r
      {ATOMIC}""",
    "sets of tags": f"""enum T = 'a || 'b || 'c
      let one = (T \\ {{'a}}) & {{'b}} | {{}}
      let r = match one with || {{}} -> ext || t ++ rest -> (match rest with || {{}} -> po || _ ++ _ -> ext end) end
      acyclic r | rf | co | fr as sc {ATOMIC}""",
    "scopes by tags": f"""enum Scopes = 'wi || 'wg || 'system
      acyclic tag2scope 'system & (po | rf | co | fr) as sc empty tag2scope('wi) & ext as apart {ATOMIC}""",
    "bell": f"""enum Marks = 'once || 'sc
      instructions R[Marks] default F[{{'sc}}]
      let read = R & (Once | Sc)
      acyclic po | rf | co | fr as sc {ATOMIC}""",
    "recursion with a check": f"let rec hb = po | rf | co | fr | (hb; hb) when irreflexive hb as sc {ATOMIC}",
    "local recursion": f"let hb = let rec h = po | rf | (h; h) in h | co | fr acyclic hb as sc {ATOMIC}",
    "denied operands": f"let init = IW * ~IW acyclic init | po | rf | co | fr as sc {ATOMIC}",
    "blanks in a postfix": f"let fr = (rf) ^ -1; co let back = rf -1 {SC}",
    "asserted": f"assert empty IW \\ W {SC}",
    "herd's own library": f'"x" include "stdlib.cat" {SC}',
    "checks without names": "acyclic po | rf | co | fr empty rmw & (fre; coe) ~empty M",
    "checks that are denied": f"~empty po as some flag ~empty M \\ M as never {SC}",
}


# What stock models of herd and Dartagnan name, and tests here have or could have.
NAMES = """CBAR GEN GENERIC TEX SUR CON I M X A Q NoRet IW FW RMW WI ALL LOCAL NAL STRONG ALIAS sm emptyset
amo lxsx ctrlisync po-loc rfe rfi coe coi fre fri ssw syncbar swg ssg sqf sdv vloc casdep mfence co0 lo"""


@pytest.mark.parametrize("name", NAMES.split())
def test_a_name_that_stock_models_use_is_known(name):
    assert model(f"let one = try {name} with NO-SUCH-NAME").syntax.statements


@pytest.mark.parametrize("feature", SAME_AS_SC)
def test_a_feature_says_sequential_consistency(feature):
    hold_same(model(SAME_AS_SC[feature]), "sc", TESTS[:4])


def test_an_order_holds_what_it_must():
    """Coherence that must hold all of po puts a thread's writes in their order, whatever the model says besides."""
    test = program("st x 1; st x 2; st x 3")
    assert judge(test, model("with co from generate_cos(co0)")).executions == 6
    assert judge(test, model("with co from generate_cos(po)")).executions == 1
    assert judge(test, model("with co from generate_cos(co^-1)")).executions == 0


def test_a_part_of_coherence():
    """A modification order of atomic writes alone; plain ones may then go either way."""
    text = 'include "c11_cos.cat" empty mo \\ co as within empty mo & (NA * NA) \\ (IW * _) as of-atomics'
    assert judge(TESTS[0], model(text)).executions == judge(TESTS[0], model("let a = po")).executions


RC11_SHAPE = """
C RC11-like
include "cos.cat"
let mo = co and sb = po
let strong-from = [REL | ACQ_REL | SC] and strong-to = [ACQ | ACQ_REL | SC]
let atomic = RLX | ACQ | REL | ACQ_REL | SC
let eco = (rf | mo | fr)+
let rs = [W]; (sb & loc)?; [W & atomic]; (rf; rmw)*
let sw = strong-from; ([F]; sb)?; rs; rf; [R & atomic]; (sb; [F])?; strong-to
let hb = (sb | (IW * (_ \\ IW)) | sw)+
irreflexive hb; eco? as coherence
irreflexive rmw; eco as rmw-is-atomic
empty rmw & (fr; mo)
acyclic sb | rf as no-thin-air
let scb = sb | (sb \\ loc; hb; sb \\ loc) | (hb & loc) | mo | fr
let psc = ([SC] | ([F & SC]; hb?)); scb; ([SC] | (hb?; [F & SC])) | [F & SC]; (hb | hb; eco; hb); [F & SC]
acyclic psc as psc
undefined_unless empty (ext & (((W * M) | (M * W)) & loc) \\ (hb | hb^-1 | A * A) \\ (IW * _ | _ * IW)) as data-race
show hb, eco, psc
"""


def test_a_model_as_those_of_c():
    hold_same(model(RC11_SHAPE), "rc11")


@pytest.mark.parametrize(("title", "partial"), [("PTX", True), ("PTX six", True), ('"PTX"', False), ("VULKAN", False)])
def test_a_model_for_ptx_leaves_writes_unordered(title, partial):
    """As in Dartagnan, which goes by the architecture; a model that says how co is made does not."""
    assert model(f"{title} acyclic po").partial_co == partial
    assert not model(f'{title} include "cos.cat"').partial_co


def test_flags_of_what_is_undefined_are_raised_where_it_fails():
    texts = [check_text(check) for check in parse_cat("undefined_unless empty rf assert ~empty po", "m.cat").statements]
    assert texts == ["flag ~empty rf", "flag empty po"]


def test_local_names_are_definitions_that_explanations_and_analyses_see():
    judged = model("let com = let ext-rf = rf & ext and c = co in ext-rf | c acyclic com | po | fr as sc")
    assert judged.checks_mention("rf") and judged.mentions("ext") and not judged.mentions("addr")
    assert [binding.name for s in judged.syntax.statements[:-1] for binding in s.bindings] == ["com'ext-rf", "com"]
    violation = explain_memory(TESTS[1], judged).violations[0]
    assert violation.check.name == "sc" and {name for step in violation.steps for name in step.names} <= {
        "po",
        "fr",
        "rf",
    }
    assert forgets_reads(judged) and vocabulary_of([judged]).name == "cpu"
    again = model("let com'a = po acyclic com'a as a")
    assert again.checks_mention("po")


def test_every_file_of_the_library_is_read_and_has_no_title_of_its_own():
    for path in sorted((ROOT / "oracle" / "cat" / "library").glob("*.cat")):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("(* "), path
        load_model(str(path))
        assert parse_cat(f'mine include "{path.name}"', "m.cat").title == "mine"


def test_a_file_beside_the_model_comes_before_the_library(tmp_path):
    (tmp_path / "cos.cat").write_text("acyclic co as own")
    (tmp_path / "m.cat").write_text('include "cos.cat"')
    checks = read_cat(str(tmp_path / "m.cat")).statements
    assert [check.name for check in checks if isinstance(check, ModelCheck)] == ["own"]


def test_an_include_in_a_branch_that_is_not_taken_is_not_looked_for():
    assert model('if "cos-opt" include "no-such.cat" else include "cos.cat" end acyclic coe').checks


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("procedure rec p(a) = empty a end", 15, "not supported: a procedure that calls itself"),
        ("let f g = fun r -> g r let g = f po let x = g rf", 20, "expected a function"),
        ("acyclic 'tag", 9, "expected a set or relation, found tags"),
        ("let x = (po, rf) acyclic x", 26, "expected a set or relation, found a tuple"),
        ("enum T = 'a || 'b let r = match 'b with || 'a -> po end", 27, "no case for 'b"),
        ("let c = linearisations(M, po) acyclic c", 39, "found orders: 'with .. from' chooses one"),
        ("acyclic toid (fun r -> r)", 9, "applied to, found a function"),
        ("call nothing(po)", 6, "expected a procedure, and 'nothing' is none"),
        ("procedure p(a, b) = empty a end call p(po)", 38, "p takes 2 arguments, found 1"),
        ("let (a, b) = po", 14, "expected a tuple of 2"),
        ("let f(a) = a and f(b) = b", 5, "'f' is defined twice at once"),
        ("acyclic tag2scope('moon)", 9, "expected a scope: agent"),
        ("acyclic fencerel(DMB.ISH)", 18, "unknown name 'DMB.ISH', a fence of Arm's, which no test here has"),
        ("let d = [Acq]; po let e = d; po acyclic d", 10, "unknown name 'Acq', an annotation of RISC-V's or BPF's"),
        ("acyclic rf-reg", 9, "unknown name 'rf-reg', of the events within an instruction"),
        ("irreflexive [Rcu-lock]", 14, "unknown name 'Rcu-lock', of the Linux kernel's primitives"),
        ("acyclic [ASLLocal]", 10, "unknown name 'ASLLocal', of ASL's pseudo-code"),
        ("empty lift", 7, "a function that makes sets of sets"),
        ("let x = !po", 9, "expected '(' or '0' or '[' or '_' or '~' or a name, found '!'"),
        ("enum T = 'a let x = match 'a with || 'a po end", 41, "expected '->', found 'po'"),
        ("let x = try po with NO", 9, ""),
        ("let x = try NO with NEITHER", 21, "unknown name 'NEITHER'"),
        ("let x = try po", 15, "found the end of the file"),
        ("procedure p(a) = empty a", 25, "found the end of the file"),
        (
            "with S from linearisations(W, po) with S from linearisations(R, po)",
            40,
            "not supported: a second order 'S'",
        ),
        (
            "let a = po let f = fun r -> r | a let a = rf acyclic f co",
            33,
            "not supported: 'a', defined anew since the function",
        ),
        (
            "let rec r = po and f(x) = match x with || 'a -> po end acyclic r",
            9,
            "not supported: a recursion of functions and relations at once",
        ),
        ("let rec f(x) = match 'a with || _ -> f x end acyclic f(po)", 40, "more than 150 operators within each other"),
    ],
)
def test_what_is_wrong_or_not_supported_is_one_line(text, column, words):
    if not words:
        model(text)
        return
    with pytest.raises(InputError) as error:
        model(text)
    assert words in error.value.message and "\n" not in str(error.value)
    if "not supported" in words:
        assert "; it would take " in error.value.message
    assert (error.value.line, error.value.column) == (1, column)


def test_what_is_put_in_too_often_is_refused():
    """Forty functions of functions, each of which applies the one before it twice, are a trillion terms."""
    lines = [f"let f{n + 1} = fun r -> f{n} (f{n} r)" for n in range(40)]
    doubled = "let twice = fun r -> r | r\n"
    nested = "twice(" * 40 + "po" + ")" * 40
    for text in ("\n".join(["let f0 = fun r -> r", *lines, "acyclic f40 po"]), f"{doubled} acyclic {nested}"):
        with pytest.raises(InputError, match=r"more than \d+ (parts|operators)"):
            model(text)
    named = "".join(f" let r{n + 1} = twice(r{n})" for n in range(40))
    assert model(f"{doubled} let r0 = po{named} acyclic r40").checks


COMPARED = """PTX compared
{ x = 0; y = 0; }
 P0@cta 0,gpu 0                      | P1@cta 0,gpu 0         ;
 ld.relaxed.gpu r0, x                | st.relaxed.gpu x, 1    ;
 atom.relaxed.gpu.cas r1, y, r0, 2   |                        ;
exists (0:r0 = 1)
"""


def test_what_a_compare_and_swap_compares_with():
    """``casdep``, as of IMM: from the read that the expected value comes from, whether the exchange fails or not."""
    judged = model(
        "flag ~empty casdep & data as data flag ~empty casdep \\ po as strange flag ~empty casdep; [R & RMW] as c"
    )
    for way in (judge, judge_by_sat, judge_by_smt):
        assert set(way(parse_litmus(COMPARED), judged).flags) == {"c"}
    plain = parse_litmus(COMPARED.replace("y, r0, 2", "y, 0, 2"))
    assert not judge(plain, judged).flags
