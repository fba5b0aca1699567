"""``--format markdown`` and ``latex``: the tables that commands print, as documents have them."""

from __future__ import annotations

import pytest
from commands import synth

from synth.commands.cli import COMMANDS, main
from synth.tables import FORMS, LANGUAGES, LATEX, MARKDOWN, Table

NASTY = r"a|b & c_d \e #f {g} $h ~i ^j <k> [l] *m `n --o %p"
IN_MARKDOWN = r"a\|b \& c\_d \\e #f {g} \$h \~i ^j \<k\> \[l\] \*m \`n --o %p"
IN_LATEX = (
    r"a\textbar{}b \& c\_d \textbackslash{}e \#f \{g\} \$h \textasciitilde{}i \textasciicircum{}j "
    r"\textless{}k\textgreater{} {[}l] {*}m `n -{}-o \%p"
)
SMALL = Table("Tests & models", "As seen.", ("test", "how\noften", ""), (("a_b", "1,200", "x\ny"), ("c|d", "", "")))


def test_a_table_in_markdown():
    assert list(LANGUAGES[MARKDOWN].table(SMALL)) == [
        r"## Tests \& models",
        "",
        "As seen.",
        "",
        "| test | how<br>often |  |",
        "| --- | --: | --- |",
        r"| a\_b | 1,200 | x<br>y |",
        r"| c\|d |  |  |",
    ]


def test_a_table_in_latex():
    assert list(LANGUAGES[LATEX].table(SMALL)) == [
        r"\begin{table}",
        r"  \centering\small",
        r"  \caption{Tests \& models. As seen.}",
        r"  \begin{tabular}{lrl}",
        r"    \toprule",
        r"    test & \begin{tabular}[t]{@{}l@{}}how \\ often\end{tabular} &  \\",
        r"    \midrule",
        r"    a\_b & 1,200 & \begin{tabular}[t]{@{}l@{}}x \\ y\end{tabular} \\",
        r"    c\textbar{}d &  &  \\",
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]


def test_without_heads_and_title_there_is_no_row_and_no_caption_for_them():
    lines = list(LANGUAGES[LATEX].table(Table("", "", ("", ""), (("a", "b"),))))
    assert not any("caption" in line or "midrule" in line for line in lines) and "    a & b \\\\" in lines


@pytest.mark.parametrize(("form", "escaped"), [(MARKDOWN, IN_MARKDOWN), (LATEX, IN_LATEX)])
def test_what_means_something_to_a_language_is_escaped(form, escaped):
    assert any(escaped in line for line in LANGUAGES[form].table(Table("", "", ("test",), ((NASTY,),))))


@pytest.mark.parametrize("text", ["# no heading", "- no item", "+ no item", "1. no item", "2) no item", "---", "==="])
def test_a_line_of_markdown_begins_nothing(text):
    line = LANGUAGES[MARKDOWN].line(text)
    assert line != text and line.replace("\\", "") == text


def test_a_comment_of_latex_is_one_line():
    assert LANGUAGES[LATEX].line("a\n\\input{b}\x1b[0m") == r"% a \input{b} [0m"


def test_label_prints_a_document():
    words = ("label", "examples/memory/coRR.litmus", "--model", "ptx-rmo", "--model", "sc")
    assert synth("--format", MARKDOWN, *words).stdout == synth(*words, "--format", MARKDOWN).stdout
    assert synth(*words, "--format", MARKDOWN).stdout == (
        "| test | ptx-rmo | sc |\n| --- | --- | --- |\n| examples/memory/coRR.litmus | A | F |\n\n"
        "A allowed, F forbidden, ? no verdict\n"
    )
    assert synth(*words, "--format", LATEX).stdout == "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering\small",
            r"  \begin{tabular}{lll}",
            r"    \toprule",
            r"    test & ptx-rmo & sc \\",
            r"    \midrule",
            r"    examples/memory/coRR.litmus & A & F \\",
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
            "% A allowed, F forbidden, ? no verdict\n",
        ]
    )


def test_listings_and_titles_are_in_documents(tmp_path):
    corpus = str(tmp_path / "corpus")
    assert not synth("progress", "--threads", "2", "--instrs", "2", "-o", corpus).exit_code
    markdown = synth("--format", MARKDOWN, "show", corpus, "--tests").stdout
    assert "\n## Table 4\n\nAs in Table 4 of Sorensen et al. 2021: " in markdown and "\n\n| model |" in markdown
    assert "\n| test | distinguishes | terminates under | tags |\n| --- | --- | --- | --- |\n| 2x2-0001 | " in markdown
    latex = synth("--format", LATEX, "show", corpus, "--tests").stdout
    assert latex.count("needs") == 1 and r"\caption{Table 4. As in " in latex and "\n    2x2-0001 & " in latex
    picked = synth("--format", MARKDOWN, "select", corpus, "--separate-models").stdout
    assert r"THREAD 0<br>0: if (Mem\[0\] == " in picked and "\n\nA test separates the models" in picked


def test_commands_that_print_tables_have_the_option_in_the_same_words():
    said = {}
    for name in COMMANDS:
        for parameter in main.get_command(
            main.make_context("synth", ["--help-me-not"], resilient_parsing=True), name
        ).params:
            if "--format" in parameter.opts:
                said[name] = tuple(parameter.type.choices)
    own = {"check": ("text", *FORMS, "csv", "jsonl", "sarif", "junit")}
    own |= {"label": (*FORMS, "csv"), "report": ("html", "markdown", "latex", "junit", "csv")}
    (shared,) = (each for each in main.params if "--format" in each.opts)
    assert said == own and tuple(shared.type.choices) == FORMS


def test_what_is_no_table_is_refused(tmp_path):
    for words, why in [
        (("--format", "latex", "models", "--json"), "--json prints no table"),
        (("--format", "latex", "compare", "sc", "tso"), "--format needs a table, which three or more models have"),
        (
            ("label", "examples/memory/coRR.litmus", "--format", "latex", "-o", str(tmp_path / "o")),
            "-o writes csv or json",
        ),
    ]:
        found = synth(*words)
        assert found.exit_code == 2 and why in found.stderr and len(found.stderr.splitlines()) == 1
