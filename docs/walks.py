"""The pictures of docs/internals.md that show which modules a question walks through: python docs/walks.py.

A walk is a column of stages. Each has the modules that do its work, in the order in which they are first called, and
under it stands what it hands on. A test runs the command of a walk, and holds the walk to what was called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

FOLDER = Path(__file__).resolve().parent / "pictures"


class Stage(NamedTuple):
    """What is done, by which modules, by folder, and what is handed on."""

    title: str
    folders: Mapping[str, str]
    gives: str

    @property
    def modules(self) -> list[str]:
        """The modules of the stage."""
        return [f"{folder}/{name}" for folder, names in self.folders.items() for name in names.split()]


class Walk(NamedTuple):
    """A walk, and the words of the command that takes it."""

    title: str
    command: str
    stages: Sequence[Stage]


CODE = "corpus/code"

WALKS = {
    "walk-ptx.svg": Walk(
        "A kernel of PTX, from its file to a finding",
        "check examples/kernels/warps/masks-apart.ptx -j 1",
        (
            Stage("what is asked", {"synth/commands": "check", "synth/checking": "work"}, "a file, a request"),
            Stage("what the file is", {"synth/checking": "sources", CODE: "registry"}, "CodeText: text for a reader"),
            Stage(
                "the file is read",
                {f"{CODE}/ptx": "files reader tokens declarations syntax"},
                "ReadCode: a module of kernels",
            ),
            Stage(
                "kernels and launches",
                {"synth/checking": "tasks", f"{CODE}/launch": "limits launch"},
                "KernelTask: a kernel, a launch, what is expected",
            ),
            Stage(
                "threads are followed",
                {
                    CODE: "program launch/facts follower calls ptx/table table evaluation arithmetic ptx/memory memory",
                },
                "Residual: what is left of each thread",
            ),
            Stage(
                "what is left is made small",
                {f"{CODE}/passes": "tidying graph dead_code registers folding loops joins"},
                "Residual: less of it",
            ),
            Stage("arrays get names", {CODE: "locations"}, "KernelProgram: a litmus test that knows its source"),
            Stage("the questions", {"synth/checking": "questions findings"}, "conditions and flags"),
            Stage(
                "executions as clauses",
                {
                    "constraints": "witnesses executions solvers",
                    "oracle": "executions/candidates executions/events cat/interpreter",
                },
                "CandidateExecution: one in which accesses race",
            ),
            Stage(
                "whether it may hang",
                {"oracle": "liveness", "synth/memory": "liveness", "oracle/executions": "stuck"},
                "the progress that it needs",
            ),
            Stage(
                "the finding",
                {"synth/memory": "explanation", "synth/checking": "account lines rows"},
                "who does what at which line, and an exit status",
            ),
        ),
    ),
    "walk-progress.svg": Walk(
        "A progress test, from the bound to its verdicts",
        "progress --threads 2 --instrs 2 --all -o suite -j 1",
        (
            Stage("what is asked", {"synth/commands": "progress"}, "ProgressSuiteRequest: a bound"),
            Stage(
                "shapes, and units of work",
                {"synth/progress": "synthesis", "synth": "pool units worker"},
                "CubeUnit: a shape and a cube",
            ),
            Stage("the formula of a unit", {"constraints": "progress formula families"}, "Encoding: clauses"),
            Stage("solve, decode, block", {"constraints": "loop solvers"}, "Program, until there is none"),
            Stage(
                "states and behaviour",
                {"oracle": "progress/fast/batches progress/lts exploration progress/fast/automata"},
                "Lts: all states; the minimal automaton",
            ),
            Stage(
                "verdicts",
                {"synth/progress": "founds", "oracle/progress": "models"},
                "FoundTest: terminates or may hang, by model",
            ),
            Stage(
                "the corpus",
                {"corpus": "records progress/idioms test journal suite"},
                "tests, sorted and named",
            ),
        ),
    ),
}
"""The walks, by the files of their pictures."""

WIDTH, LEFT, INNER, LINE, PAD, GAP = 760, 12, 220, 18, 8, 34
INK = {"corpus": "#0b6e4f", "oracle": "#7a4b00", "constraints": "#8a1c5b", "synth": "#1f4e9c", "backends": "#555555"}
"""The colours of the packages."""


def drawn(walk: Walk) -> str:
    """Return the picture of a walk as SVG."""
    parts, top = [], 44
    for stage in walk.stages:
        height = max(1, -(-len(stage.modules) // 2)) * LINE + 2 * PAD
        parts += _stage(stage, top, height)
        top += height + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}">'
    style = '<rect width="100%" height="100%" fill="#ffffff"/>'
    title = _text(LEFT, 26, walk.title, 15, "#111111", bold=True)
    return "\n".join((head, f"<title>{escape(walk.title)}</title>", style, title, *parts, "</svg>")) + "\n"


def _stage(stage: Stage, top: int, height: int) -> Iterator[str]:
    """Yield a box with the title and modules of a stage, and the arrow to the next with what is handed on."""
    box = f'x="{LEFT}" y="{top}" width="{WIDTH - 2 * LEFT}" height="{height}" rx="6"'
    yield f'<rect {box} fill="#f6f7f9" stroke="#c3c9d1"/>'
    yield _text(LEFT + 12, top + PAD + 13, stage.title, 13, "#111111", bold=True)
    column = (WIDTH - LEFT - INNER) // 2
    for number, module in enumerate(stage.modules):
        row, side = divmod(number, 2)
        ink = INK[module.partition("/")[0]]
        yield _text(INNER + side * column, top + PAD + 13 + row * LINE, f"{module}.py", 12, ink, family="monospace")
    x, start, end = LEFT + 24, top + height, top + height + GAP
    way = f"M{x} {start} V{end - 5} M{x - 4} {end - 9} L{x} {end - 3} L{x + 4} {end - 9}"
    yield f'<path d="{way}" fill="none" stroke="#555555"/>'
    yield _text(x + 14, start + GAP // 2 + 4, stage.gives, 12, "#444444")


def _text(x: int, y: int, text: str, size: int, ink: str, bold: bool = False, family: str = "sans-serif") -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" font-family="{family}" font-size="{size}" fill="{ink}"{weight}>{escape(text)}</text>'


if __name__ == "__main__":
    for name, walk in WALKS.items():
        (FOLDER / name).write_text(drawn(walk), encoding="utf-8")
