import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from commands import printed

from constraints.witnesses import explain_by_sat
from corpus.dialects.registry import parse_litmus, read_litmus
from oracle.cat.interpreter import Model
from oracle.cat.syntax import parse_cat, read_cat, shipped_models
from oracle.cat.terms import Definition, ModelCheck
from oracle.cat.text import check_text, term_text
from oracle.consistency import load_model
from oracle.executions.judge import Answer
from oracle.executions.witness import explain_memory
from synth.memory.explanation import derived_edges, event_names, path_text

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
FIG_14 = str(EXAMPLES / "mp+membar.cta+membar.gl.litmus")


def explained(test, model):
    if isinstance(test, str):
        test = read_litmus(EXAMPLES / f"{test}.litmus")
    return explain_memory(test, model if isinstance(model, Model) else load_model(shipped_models()[model], model))


def user_s_model(text):
    return Model("user's", parse_cat(text, "user.cat"))


def cycle(violation):
    return path_text(violation.steps, event_names(violation.execution.events))


def ptx(threads, condition, initial=""):
    columns = [line.split(";") for line in threads]
    rows = [" | ".join(row) + " ;" for row in zip(*columns, strict=True)]
    header = " | ".join(f"P{number}@cta 0,gpu 0" for number in range(len(columns))) + " ;"
    return parse_litmus("\n".join(["PTX t", "{" + initial + "}", header, *rows, condition]), "t.litmus")


def test_the_cycle_of_fig_14():
    """Alglave et al. 2015, Fig. 14 and section 5.3."""
    explanation = explained("mp+membar.cta+membar.gl", "ptx-rmo")
    assert explanation.answer is Answer.FORBIDDEN and explanation.outcomes == 1
    (violation,) = explanation.violations
    assert violation.check.name == "cta-constraint"
    assert cycle(violation) == "a -membar.cta-> b -rfe-> c -membar.gl-> d -fr-> a"


@pytest.mark.parametrize(
    ("test", "model", "check", "expected"),
    [
        ("coRR", "sc", "sc", "a -rf-> b -po-> c -fr-> a"),
        ("c-thin-air", "rc11", "no-thin-air", "a -po-> b -rf-> c -po-> d -rf-> a"),
        ("lb-thin-air", "ptx-6.0", "no-thin-air", "a -data-> b -rf-> c -data-> d -rf-> a"),
        ("mp-acq-rel", "ptx-6.0", "causality", "a -po-> b -rf-> c -po-> d -fr-> a"),
        ("mp-bar-sync", "ptx-6.0", "causality", "a -po-> B1 -syncbar-> B2 -po-> b -fr-> a"),
        ("c-sb-sc", "rc11", "sc", "a -po-> b -fr-> c -po-> d -fr-> a"),
        ("c-mp-fences", "rc11", "coherence", "a -po-> F1 -po-> b -rf-> c -po-> F2 -po-> d -fr-> a"),
    ],
)
def test_cycles(test, model, check, expected):
    violations = explained(test, model).violations
    assert (check, expected) in [(violation.check.name, cycle(violation)) for violation in violations]


def test_both_orders_of_the_fences_are_told_apart():
    """Lustig et al. 2019: with fence.sc in both threads, store buffering is forbidden whichever fence comes first."""
    explanation = explained("sb-fence-sc", "ptx-6.0")
    assert [cycle(violation) for violation in explanation.violations] == [
        "a -po-> F1 -sync_fence-> F2 -po-> d -fr-> a",
        "b -fr-> c -po-> F2 -sync_fence-> F1 -po-> b",
    ]
    assert [violation.count for violation in explanation.violations] == [1, 1]


def test_a_check_of_emptiness_shows_both_paths():
    explanation = explained("c-atomicity", "rc11")
    told = []
    for violation in explanation.violations:
        names = event_names(violation.execution.events)
        told.append({cycle(violation), path_text(violation.aside, names)})
    assert told == [{"c -rmw-> d", "c -fr-> b -co-> d"}, {"a -rmw-> b", "a -fr-> d -co-> b"}]


def test_what_the_model_calls_an_edge_is_kept():
    explanation = explained("c-mp-fences", "rc11")
    (violation,) = explanation.violations
    names = event_names(violation.execution.events)
    told = [f"{path_text([edge], names)} is {path_text(edge.path, names)}" for edge in derived_edges(violation)]
    assert told[0] == "a -hb-> d is a -po-> F1 -sw-> F2 -po-> d"
    assert told[1].startswith("F1 -sw-> F2 is F1 -po-> b -rf-> c")


MP = ptx(["st.weak x,1;st.weak y,1", "ld.weak r0,y;ld.weak r1,x"], "exists (P1:r0 == 1 /\\ P1:r1 == 0)")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        # a union takes the better path, and of two base edges both names
        ("acyclic po | (po; [R]; po) | rf | fr as c", "a -po-> b -rf-> c -po-> d -fr-> a"),
        ("acyclic po | rf | (fr & ext) | rfe as c", "a -po-> b -rf,rfe-> c -po-> d -fr-> a"),
        # what only restricts is not shown, on whichever side it stands
        ("acyclic (ext & rf) | (int & po) | (fr & (R * W) & loc) as c", "a -po-> b -rf-> c -po-> d -fr-> a"),
        # functions, recursion, inverses, shadowing
        ("let f(r, s) = r; s\nirreflexive f(f(po, rf), f(po, fr)) as c", "a -po-> b -rf-> c -po-> d -fr-> a"),
        ("let rec t = po | rf | fr | (t; t)\nirreflexive t as c", "a -po-> b -rf-> c -po-> d -fr-> a"),
        ("acyclic po | rf | (rf^-1; co) as c", "a -po-> b -rf-> c -po-> d -rf^-1-> init x -co-> a"),
        ("let po = po^-1\nacyclic po | rf^-1 | fr^-1 as c", "a -fr^-1-> d -po^-1-> c -rf^-1-> b -po^-1-> a"),
        ("acyclic (po | rf | fr)* \\ id as c", "a -po-> b -rf-> c -po-> d -fr-> a"),
        ("irreflexive ((po | rf)+; [R]; fr?) as c", "a -po-> b -rf-> c -po-> d -fr-> a"),
        ("acyclic po | rf | (domain(fr) * range(fr)) as c", "a -po-> b -rf-> c -po-> d -_-> a"),
    ],
)
def test_terms_and_their_paths(model, expected):
    (violation,) = explained(MP, user_s_model(model)).violations
    assert cycle(violation) == expected


def test_other_ways_to_fail():
    (violation,) = explained(MP, user_s_model("empty IW as none")).violations
    assert violation.events == (0, 1) and violation.edges == ()
    (violation,) = explained(MP, user_s_model("~empty rmw as some")).violations
    assert violation.check.negated and violation.edges == ()
    (violation,) = explained(MP, user_s_model("irreflexive loc as i")).violations
    assert [(edge.source, edge.target) for edge in violation.edges] == [(0, 0)]
    (violation,) = explained(MP, user_s_model("irreflexive id as i")).violations
    assert [edge.label for edge in violation.edges] == ["_"]


def test_candidates_beyond_the_most_are_counted():
    test = read_litmus(EXAMPLES / "isa2-rmw-sc-compiled.litmus")
    model = load_model(shipped_models()["ptx-6.0"])
    full, short = explain_memory(test, model, most=100), explain_memory(test, model, most=1)
    assert sum(violation.count for violation in full.violations) == full.outcomes == short.outcomes == 19
    assert full.killed == short.killed and sum(count for _, count in full.killed) == 19
    # at least one of each check
    assert [violation.check.name for violation in short.violations] == [check.name for check, _ in full.killed]


def test_a_witness_passes_and_has_the_outcome():
    explanation = explained("mp-weak", "ptx-6.0")
    assert explanation.answer is Answer.ALLOWED and explanation.violations == ()
    execution = explanation.witness
    assert all(result.truth for result in explanation.model.judge(execution.base) if not result.check.flag)
    assert list(execution.finals.values()) == [1, 0]
    assert execution.values == (0, 0, 1, 1, 1, 0)


def test_the_filter_counts():
    test = replace(MP, condition=replace(MP.condition, filter=MP.condition.proposition))
    assert explained(test, "rmo").answer is Answer.ALLOWED
    impossible = parse_litmus("PTX t\n{}\nP0@cta 0,gpu 0 ;\nst.weak x,1 ;\nfilter (x == 2) exists (x == 1)", "t.litmus")
    explanation = explained(impossible, "sc")
    assert explanation.answer is Answer.FORBIDDEN and explanation.outcomes == 0 and not explanation.violations


def test_terms_are_printed_as_they_are_read():
    for path in shipped_models().values():
        for statement in read_cat(path).statements:
            terms = [statement.body] if isinstance(statement, ModelCheck) else [b.body for b in statement.bindings]
            for term in terms:
                text = term_text(term)
                (again,) = parse_cat(f"let again = {text}", "again.cat").statements
                assert isinstance(again, Definition) and term_text(again.bindings[0].body) == text


def test_brackets_of_terms():
    text = r"flag ~empty ~((a | b | c) \ (d \ e)) & ([f]; g^+; (h * i)?)"
    (check,) = parse_cat(f"let a = 0 {text} as n", "x.cat").statements[1:]
    assert check_text(check) == text


def test_names_of_many_events():
    (execution,) = (explained(MP, "rmo").witness,)
    events = [event for event in execution.events if event.thread >= 0] * 7
    assert event_names(events)[25:28] == ("z", "a1", "b1")


# The command


def test_text_names_the_file_and_line_of_the_check():
    text = printed("explain", FIG_14, "--model", "ptx-rmo")
    place = re.search(r"cta-constraint \(ptx-rmo.cat:(\d+)\) forbids it: acyclic rmo-cta\n", text)
    line = Path(shipped_models()["ptx-rmo"]).read_text(encoding="utf-8").splitlines()[int(place[1]) - 1]
    assert line == "acyclic rmo-cta as cta-constraint"
    assert "\n  a -membar.cta-> b -rfe-> c -membar.gl-> d -fr-> a\n" in text


def test_several_models_one_after_the_other():
    text = printed("explain", FIG_14, "--model", "sc", "--model", "ptx-rmo")
    assert text.index("under sc: FORBIDDEN") < text.index("under ptx-rmo: FORBIDDEN")


def test_json():
    record = json.loads(printed("explain", FIG_14, "--model", "ptx-rmo", "--json"))
    assert record["verdict"] == "FORBIDDEN" and record["witness"] is None and record["killed"] == {"cta-constraint": 1}
    (violation,) = record["violations"]
    assert [(edge["from"], *edge["relations"], edge["to"]) for edge in violation["cycle"]] == [
        ("a", "membar.cta", "b"),
        ("b", "rfe", "c"),
        ("c", "membar.gl", "d"),
        ("d", "fr", "a"),
    ]
    assert violation["execution"]["relations"]["rf"] == [["init x", "d"], ["b", "c"]]
    record = json.loads(printed("explain", EXAMPLES / "mp-weak.litmus", "--model", "ptx-6.0", "--json"))
    assert record["verdict"] == "ALLOWED" and record["witness"]["finals"] == {"P1:r1": "1", "P1:r2": "0"}
    assert record["outcomes"] is None and record["violations"] == []


def test_operational_models():
    text = printed("explain", EXAMPLES / "mp-intra.litmus", "--model", "thesis-weak")
    assert "under thesis-weak: ALLOWED" in text and "1. P0 stores y = 1" in text
    text = printed("explain", EXAMPLES / "mp+membar.gls.litmus", "--model", "thesis-strong")
    assert re.search(r"None of the \d+ final states has the outcome; all \d+ states were explored\.", text)
    record = json.loads(printed("explain", EXAMPLES / "mp+membar.gls.litmus", "--model", "thesis-strong", "--json"))
    assert record["verdict"] == "FORBIDDEN" and record["run"] is None and record["states"] > record["finals"] > 0


LOOP = """PTX loop
{}
P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
st.weak x, 1   | LC0:           ;
               | ld.weak r1, x  ;
               | add r0, r0, 1  ;
               | bne r1, 1, LC0 ;
exists (P1:r0 == 5)
"""


def test_a_bound_is_told(tmp_path):
    path = tmp_path / "loop.litmus"
    path.write_text(LOOP.replace("== 5", "== 50"), encoding="utf-8")
    text = printed("explain", path, "--model", "sc")
    assert "No candidate execution has the outcome" in text and "Loops were cut after 2 jumps back" in text
    assert "--unroll 3 looks further" in text
    assert json.loads(printed("explain", path, "--model", "sc", "--json"))["unroll"] == 2
    message = printed("explain", path, "--model", "sc", "--picture", tmp_path / "a.svg", exit_code=2)
    assert "nothing to draw" in message and not (tmp_path / "a.svg").exists()


def test_loops_are_followed_further_where_the_outcome_needs_it(tmp_path):
    path = tmp_path / "loop.litmus"
    path.write_text(LOOP, encoding="utf-8")
    text = printed("explain", path, "--model", "sc")
    assert "ALLOWED" in text and "Within 2 jumps back the outcome cannot come about: loops were followed" in text
    assert json.loads(printed("explain", path, "--model", "sc", "--json"))["unroll"] == 4
    text = printed("explain", path, "--model", "sc", "--unroll", "4")
    assert "ALLOWED" in text and "jumps back" not in text


LOCK = """GPU_PTX lock
{ x=0; m=0; 0:r2=x; 1:r2=x; 0:r3=m; 1:r3=m; }
 T0                  | T1                  ;
 L0:                 | L1:                 ;
 atom.exch r0,[r3],1 | atom.exch r0,[r3],1 ;
 setp.ne p,r0,0      | setp.ne p,r0,0      ;
 @p bra L0           | @p bra L1           ;
 membar.gl           | membar.gl           ;
 ld.cg r1,[r2]       | ld.cg r1,[r2]       ;
 add r1,r1,1         | add r1,r1,1         ;
 st.cg [r2],r1       | st.cg [r2],r1       ;
 membar.gl           | membar.gl           ;
 st.cg [r3],0        | st.cg [r3],0        ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, m: global
exists (x=1)
"""


def test_a_lock_is_explained_by_executions_that_a_solver_finds(tmp_path):
    path = tmp_path / "lock.litmus"
    path.write_text(LOCK, encoding="utf-8")
    text = printed("explain", path, "--model", "sc")
    assert "FORBIDDEN" in text and "too many to list; the model forbids each of them" in text
    assert "forbids one of them: empty rmw & (fre; coe)" in text and "--unroll 3 looks further" in text
    assert "st.cg x, r1" in text and "exch r0, m, 1" in text and "[r" not in text  # what registers point to
    record = json.loads(printed("explain", path, "--model", "sc", "--json"))
    assert record["outcomes"] is None and record["violations"]
    path.write_text(LOCK.replace("x=1)", "x=2)"), encoding="utf-8")
    text = printed("explain", path, "--model", "ptx-rmo")
    assert "ALLOWED" in text and "passes every check" in text and "x=2" in text


@pytest.mark.parametrize("model", ["sc", "ptx-rmo", "ptx-6.0", "rc11"])
def test_a_solver_explains_what_listing_does(model):
    """The same answer; a witness that passes, and violations that fail, on the execution alone."""
    model = load_model(shipped_models()[model], model)
    for path in sorted(EXAMPLES.glob("*.litmus"))[::3]:
        test = read_litmus(path)
        listed, solved = explain_memory(test, model), explain_by_sat(test, model)
        assert listed.answer is solved.answer and (listed.outcomes > 0) == (solved.outcomes > 0), path
        if solved.witness is not None:
            assert all(result.truth for result in model.judge(solved.witness.base) if not result.check.flag)
        for violation in solved.violations:
            results = model.judge(violation.execution.base)
            assert not next(result.truth for result in results if result.check == violation.check)
        assert {one.check for one in solved.violations} == {check for check, _ in listed.killed}


def test_a_user_s_model(tmp_path):
    model = tmp_path / "mine.cat"
    model.write_text("let com = rf | co | fr\nacyclic po | com\nflag ~empty W as writes\n", encoding="utf-8")
    text = printed("explain", FIG_14, "--model", model)
    assert f"acyclic on line 2 ({model}:2) forbids it: acyclic po | com" in text
    assert "It raises" not in text
    other = tmp_path / "other.cat"
    other.write_text("acyclic po\nflag ~empty W as writes\n", encoding="utf-8")
    assert "It raises: writes." in printed("explain", FIG_14, "--model", other)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["missing.litmus", "--model", "sc"], "missing.litmus: cannot read"),
        ([FIG_14, "--model", "hsa-weakly"], "unknown model 'hsa-weakly'; did you mean hsa-weak"),
        ([FIG_14, "--model", "ptx-6.1"], "did you mean ptx-6.0"),
        ([FIG_14, "--model", "none.cat"], "none.cat: cannot read"),
        ([EXAMPLES.parent / "progress" / "mutex.axb", "--model", "sc"], "sc is a consistency model, for litmus tests"),
        ([EXAMPLES / "mp-acq-rel.litmus", "--model", "thesis-weak"], "Sorensen 2013 models plain loads"),
        ([FIG_14, "--model", "thesis-weak", "--picture", "a.svg"], "thesis-weak has runs"),
        ([FIG_14, "--model", "sc", "--model", "rmo", "--picture", "a.dot"], "--model names 2: sc, rmo"),
    ],
)
def test_wrong_input_gets_one_line(args, expected):
    message = printed("explain", *args, exit_code=2)
    assert expected in message and message.count("\n") == 1


# Pictures


def picture(tmp_path, test, model):
    svg, dot = tmp_path / "a.svg", tmp_path / "a.dot"
    for picture in (svg, dot):
        printed("explain", EXAMPLES / f"{test}.litmus", "--model", model, "--picture", picture)
    return ElementTree.fromstring(svg.read_text(encoding="utf-8")), dot.read_text(encoding="utf-8")


SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_of_fig_14(tmp_path):
    svg, dot = picture(tmp_path, "mp+membar.cta+membar.gl", "ptx-rmo")
    texts = [text.text for text in svg.iter(f"{SVG}text")]
    for label in ("membar.cta", "rfe", "membar.gl", "fr", "rf", "P0", "P1", "cta 0", "gpu 0", "a: W.cg x=1"):
        assert texts.count(label) == 1, label
    assert "F1: F.sc.cta" not in texts  # no arrow has to do with it
    assert dot.count("penwidth=2.6") == 4


def test_nothing_is_clipped_and_events_and_labels_do_not_overlap(tmp_path):
    for test, model in (("cas-sl+membar.gls", "ptx-rmo"), ("c-iriw-sc", "rc11"), ("isa2-acq-rel", "ptx-6.0")):
        svg, _ = picture(tmp_path, test, model)
        left, top, width, height = map(float, svg.get("viewBox").split())
        for group in svg.iter(f"{SVG}g"):
            dx, dy = map(float, re.findall(r"-?[\d.]+", group.get("transform")))
            boxes = []
            for shape in group.iter(f"{SVG}rect"):
                x, y, w, h = (float(shape.get(name)) for name in ("x", "y", "width", "height"))
                assert left <= x + dx and x + dx + w <= left + width
                assert top <= y + dy and y + dy + h <= top + height
                if shape.get("stroke-dasharray") is None:
                    boxes.append((x, y, w, h))
            for number, (x, y, w, h) in enumerate(boxes):
                for a, b, c, d in boxes[:number]:
                    assert x >= a + c - 1 or a >= x + w - 1 or y >= b + d - 1 or b >= y + h - 1


def test_the_same_bytes_each_time(tmp_path):
    pictures = []
    for number in range(2):
        svg, dot = tmp_path / f"{number}.svg", tmp_path / f"{number}.dot"
        for picture in (svg, dot):
            printed("explain", EXAMPLES / "sb-fence-sc.litmus", "--model", "ptx-6.0", "--picture", picture)
        pictures.append((svg.read_bytes(), dot.read_bytes()))
    assert pictures[0] == pictures[1]


def test_fences_are_drawn_where_something_points_at_them(tmp_path):
    svg, _ = picture(tmp_path, "sb-fence-sc", "ptx-6.0")
    texts = [text.text for text in svg.iter(f"{SVG}text")]
    assert texts.count("F1: F.sc.gpu") == texts.count("sync_fence") == 2  # one picture for each order
    svg, _ = picture(tmp_path, "sb-fence-sc-cta", "rmo")
    texts = [text.text for text in svg.iter(f"{SVG}text")]
    assert "F1: F.sc.cta" in texts  # fencerel runs through the fence


def test_initial_writes_are_drawn_where_a_violation_runs_through_them(tmp_path):
    model = tmp_path / "m.cat"
    model.write_text("acyclic po | rf | (rf^-1; co) as c", encoding="utf-8")
    svg, dot = picture(tmp_path, "mp-weak", model)
    assert "W x=0" in [text.text for text in svg.iter(f"{SVG}text")]
    assert 'label="W x=0"' in dot
    every = tmp_path / "every.cat"
    every.write_text("acyclic (IW * IW) \\ id as c", encoding="utf-8")
    svg, _ = picture(tmp_path, "mp-weak", every)
    assert "W y=0" in [text.text for text in svg.iter(f"{SVG}text")]
