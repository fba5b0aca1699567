"""The documentation as a site: python docs/pages.py FOLDER (``make docs``).

The pages are README.md, what stands beside it for people (CHANGELOG, CONTRIBUTING, SECURITY) and docs/, as they are in
the repository, and one more that is made here: the reference of the commands, which is their own help. Links, which are
right in the repository, are turned into those of the site, and are called what they lead to; a file that is no page is
copied beside them. The first use of a term on a page leads to its entry in the glossary. Zensical makes HTML of that,
and refuses a link or an anchor that leads nowhere. What a person would copy of a session is its commands alone.

The HTML asks the network for nothing (docs/site.toml: no fonts, no services). Source of the help: click's objects.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from html import escape, unescape
from inspect import cleandoc
from itertools import groupby
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from textwrap import dedent

import click

from synth.commands.cli import COMMANDS, main
from synth.options.form import Page

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION, STYLE = ROOT / "docs" / "site.toml", ROOT / "docs" / "site.css"
SEARCH, EVERYDAY = ROOT / "docs" / "iframe-worker.js", ROOT / "docs" / "everyday.txt"
REFERENCE, GLOSSARY = "commands.md", "docs/glossary.md"
BLOCK = re.compile(r"(^```.*?^```$|^(?: {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\|.*$", re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
PAGE_NAME = re.compile(r"\bdocs/([\w/-]+\.md)\b")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
NAMED = re.compile(r"\[(?:[\w./-]+\.md|\d+)\]\(([^)#\s]*\.md)(?:#([^)\s]*))?\)")
"""A link that is called by the name or the number of the file that it leads to."""

ENTRY = re.compile(r"^- \*\*(.+?)\*\*", re.MULTILINE)
"""A term of the glossary."""

UNTOUCHED = re.compile(r"(`[^`]+`|!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^)]*\)|^#+ .*$|^\|[ :|-]+$|<[^>]+>)", re.MULTILINE)
"""What no link can be in: code, links, pictures, headings, lines of tables, tags."""

SESSION = re.compile(r'(<div class="language-\w+ highlight")(>.*?<code>)(.*?)(</code>)', re.DOTALL)
SESSIONS = ("synth ", "make ")
PROMPTS = {"$ ": "> ", ">>> ": "... "}
"""The prompts of a shell and of Python, each with that of the lines that go on."""


def pages() -> dict[str, str]:
    """What is a page of the site, by its path in the repository: its path on the site."""
    found = {name: name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        inner = path.relative_to(ROOT / "docs").as_posix()
        found[f"docs/{inner}"] = inner.replace("README.md", "index.md")
    return {"README.md": "index.md", **found}


def linked(text: str, source: str, there: dict[str, str]) -> tuple[str, set[str]]:
    """A page with the links of the site in the place of the repository's, and the files that it links to.

    ``source``: its path in the repository. Blocks of code stay as they are. Raises ``ValueError`` for a link to a
    folder: a site has none.
    """
    files: set[str] = set()

    def target(match: re.Match[str]) -> str:
        path = normpath(join(dirname(source), match[1]))
        if path in there:
            return relpath(there[path], dirname(there[source]) or ".")
        if (ROOT / path).is_dir():
            raise ValueError(f"{source}: {match[1]} is a folder; link to a page or a file")
        files.add(path)
        return relpath(f"files/{path}", dirname(there[source]) or ".")

    def titled(match: re.Match[str]) -> str:
        path = normpath(join(dirname(source), match[1]))
        return f"[{titles(path)[match[2] or '']}]({match[0].rpartition('(')[2]}" if path in there else match[0]

    pieces = BLOCK.split(text)
    pieces[::2] = [ROW.sub(bare_bars, LINK.sub(target, NAMED.sub(titled, piece))) for piece in pieces[::2]]
    return "".join(pieces), files


@cache
def titles(path: str) -> dict[str, str]:
    """The headings of a page, named as links name them; its first one by no name as well."""
    prose = "".join(BLOCK.split((ROOT / path).read_text(encoding="utf-8"))[::2])
    found = HEADING.findall(prose)
    return {"": found[0], **{slug(each): each for each in found}}


def slug(text: str) -> str:
    """What a heading or a term is called in links, as GitHub has it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


@cache
def terms() -> dict[str, str]:
    """The terms of the glossary in small letters, longest first, each with the name of its entry in links.

    Without those that are everyday words as well (docs/everyday.txt): where they are terms only a reader can tell.
    """
    heads = ENTRY.findall((ROOT / GLOSSARY).read_text(encoding="utf-8"))
    found = {term.lower(): slug(head) for head in heads for term in head.split(", ")}
    everyday = EVERYDAY.read_text(encoding="utf-8").split()
    return {
        term: found[term] for term in sorted(found, key=lambda each: (-len(each), each)) if slug(term) not in everyday
    }


@cache
def any_term() -> re.Pattern[str]:
    """A term, on one line or two, in the singular or the plural."""
    words = (r"\s+".join(map(re.escape, term.split())) for term in terms())
    return re.compile(rf"(?<![\w.+/-])({'|'.join(words)})(?:s|es)?(?![\w+/-])", re.IGNORECASE)


def with_terms(text: str, page: str) -> str:
    """A page of the site whose first use of each term is a link to its entry in the glossary."""
    met: set[str] = set()

    def entry(match: re.Match[str]) -> str:
        name = terms()[" ".join(match[1].lower().split())]
        if name in met:
            return match[0]
        met.add(name)
        return f"[{match[0]}]({relpath('glossary.md', dirname(page) or '.')}#{name})"

    pieces = BLOCK.split(text)
    for number in range(0, len(pieces), 2):
        words = UNTOUCHED.split(pieces[number])
        words[::2] = [any_term().sub(entry, each) for each in words[::2]]
        pieces[number] = "".join(words)
    return "".join(pieces)


def with_anchors(glossary: str) -> str:
    """The glossary, whose terms can be linked to."""
    return ENTRY.sub(lambda term: f'- <strong id="{slug(term[1])}">{escape(term[1])}</strong>', glossary)


def typed(code: str) -> str:
    """What a person types of a block of code: all of it, but of a session the commands, without prompts and output.

    A session has prompts, or begins with a command; then what stands behind an empty line is output, or such again.
    """
    if code.startswith(SESSIONS):
        return "\n\n".join(each for each in code.split("\n\n") if each.startswith(SESSIONS))
    if not code.startswith(tuple(PROMPTS)):
        return code
    lines: list[str] = []
    more = ""
    for line in code.split("\n"):
        prompt = next((each for each in PROMPTS if line.startswith(each)), "")
        if prompt or (more and f"{line} ".startswith(more)):
            lines.append(line[len(prompt or more) :])
            more = PROMPTS.get(prompt, more)
        else:
            more = ""
    return "\n".join(lines)


def to_copy(page: str) -> str:
    """A page of HTML whose button copies of a session what is typed."""

    def session(match: re.Match[str]) -> str:
        code = unescape(re.sub(r"<[^>]*>", "", match[3])).rstrip("\n")
        copied = "" if typed(code) == code else f' data-copy="{escape(typed(code))}"'
        return f"{match[1]}{copied}{''.join(match.groups()[1:])}"

    return SESSION.sub(session, page)


def bare_bars(row: re.Match[str]) -> str:
    """A row of a table whose code has bars as they are: only GitHub takes a backslash before them away."""
    return CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0])


def reference() -> str:
    """The help of every command as one page, in the order of ``synth --help``."""
    context = click.Context(main, info_name="synth")
    lines = ["# Commands", "", *prose(main.help or ""), "| command | |", "|---|---|"]
    lines += [f"| [`synth {name}`](#synth-{name}) | {plain(line)} |" for name, line in COMMANDS.items()]
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        lines += [
            "",
            f"## synth {name}",
            "",
            f"    {' '.join([inner.command_path, *command.collect_usage_pieces(inner)])}",
        ]
        lines += ["", *prose(command.help or "")]
        for heading, records in option_rows(command, inner).items():
            lines += ["", f"| {heading} | |", "|---|---|"]
            lines += [f"| `{option}` | {plain(text)} |" for option, text in records]
    return "\n".join(lines) + "\n"


def option_rows(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """The options of a command with their help, under the headings of its help."""
    if isinstance(command, Page):
        return command.rows(context)
    records = (parameter.get_help_record(context) for parameter in command.get_params(context))
    return {"Options": [record for record in records if record and record[1]]}


def prose(text: str) -> list[str]:
    """A help text in Markdown: its paragraphs; as code what is indented, as examples are, or set in columns."""
    lines = []
    for paragraph in cleandoc(text).split("\n\n"):
        if "\b" not in paragraph and not paragraph.startswith(" "):
            lines += [plain(" ".join(paragraph.split())), ""]
            continue
        marked = paragraph.removeprefix("\b\n").split("\n")
        columns = any(re.match(r"\S.*? {3}", line) for line in marked)
        for indented, block in groupby(marked, lambda line, all_of_it=columns: all_of_it or line.startswith(" ")):
            code = dedent("\n".join(block)).split("\n")
            lines += [*(f"    {line}" if indented else f"{plain(line)}  " for line in code), ""]
    return lines


def plain(text: str) -> str:
    """A text whose characters mean nothing to Markdown; pages that it names are links."""
    return PAGE_NAME.sub(
        lambda page: f"[{titles(f'docs/{page[1]}')['']}]({page[1]})", re.sub(r"([\\`*_<>\[\]|~])", r"\\\1", text)
    )


def stage(folder: Path) -> None:
    """The pages, the files that they link to and the configuration, written to a folder."""
    there = pages()
    files: set[str] = set()
    for source, page in there.items():
        text, more = linked((ROOT / source).read_text(encoding="utf-8"), source, there)
        write(folder / "docs" / page, with_anchors(text) if source == GLOSSARY else with_terms(text, page))
        files |= more
    for file in sorted(files):
        target = folder / "docs" / "files" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, target)
    write(folder / "docs" / REFERENCE, reference())
    shutil.copyfile(CONFIGURATION, folder / CONFIGURATION.name)
    for asset in (STYLE, SEARCH):
        shutil.copyfile(asset, folder / "docs" / asset.name)


def write(path: Path, text: str) -> None:
    """A file and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def made(folder: Path) -> str:
    """What is wrong with the pages staged in a folder; nothing where they have become its ``site``."""
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", CONFIGURATION.name],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return COLOUR.sub("", done.stdout).partition("Traceback")[0] if done.returncode else ""


def build(out: Path) -> str:
    """The site, in a folder that has nothing else; or what is wrong with it."""
    with tempfile.TemporaryDirectory(prefix="synth-docs-") as staged:
        stage(Path(staged))
        wrong = made(Path(staged))
        for page in Path(staged, "site").rglob("*.html"):
            page.write_text(to_copy(page.read_text(encoding="utf-8")), encoding="utf-8")
        if not wrong:
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(Path(staged, "site"), out)
    return wrong


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/pages.py FOLDER")
    sys.exit(build(Path(sys.argv[1])) or None)
