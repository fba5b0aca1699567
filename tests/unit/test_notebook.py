"""examples/tour.ipynb runs, cell by cell, and the outputs that are stored in it are those that it has.

Its cells are Python alone, so they are run here as Jupyter runs them, one after the other in one namespace with the
value of the last expression shown, and without Jupyter, whose packages would take 130 MB. ``pytest --promote`` stores
the outputs anew.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "tour.ipynb"


def outputs(source: str, count: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints and the value of its last expression, as a notebook stores them."""
    *before, last = ast.parse(source).body
    shown, value = StringIO(), None
    with redirect_stdout(shown):
        exec(compile(ast.Module(before, []), f"cell {count}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)
        else:
            exec(compile(ast.Module([last], []), f"cell {count}", "exec"), names)
    found: list[dict[str, Any]] = []
    if shown.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": shown.getvalue().splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": [repr(value)]}
        if hasattr(value, "_repr_svg_"):
            data = {"image/svg+xml": value._repr_svg_().splitlines(keepends=True), **data}
        found.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return found


@pytest.mark.device
def test_the_notebook_runs_and_shows_what_is_stored(
    need: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    need("cpp", runs=True)
    monkeypatch.chdir(NOTEBOOK.parent)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    stored = [cell["outputs"] for cell in cells]
    names: dict[str, Any] = {"__name__": "__main__"}
    for count, cell in enumerate(cells, 1):
        cell |= {"execution_count": count, "outputs": outputs("".join(cell["source"]), count, names)}
    if request.config.getoption("--promote"):
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        assert [cell["outputs"] for cell in cells] == stored
    drawn = [output for cell in cells for output in cell["outputs"] if "image/svg+xml" in output.get("data", {})]
    assert len(drawn) == 2


def test_cells_are_run_as_a_notebook_runs_them() -> None:
    names: dict[str, Any] = {}
    assert outputs("x = 1", 1, names) == []
    assert outputs("print(x)\nx + 1", 2, names) == [
        {"name": "stdout", "output_type": "stream", "text": ["1\n"]},
        {"data": {"text/plain": ["2"]}, "execution_count": 2, "metadata": {}, "output_type": "execute_result"},
    ]
