"""The layers keep their direction, read from the imports themselves."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BELOW = {
    "state": set[str](),
    "stores": {"state"},
    "models": {"state"},
    "indexing": {"state", "stores", "models"},
    "nodes": {"state", "stores", "models", "indexing"},
    "graphs": {"state", "nodes"},
    "serving": {"state", "stores", "models", "indexing", "nodes", "graphs"},
}
"""What the modules of each folder may import, besides those of the folder itself."""

HEAVY = ("lancedb", "weaviate", "tavily", "wordllama", "pypdfium2", "bs4", "typer")


def imports(path: Path) -> Iterator[str]:
    """Absolute names of all that a file imports, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
            if node.module == "ragweave":
                yield from (f"ragweave.{name.name}" for name in node.names)


def files(layer: str) -> list[Path]:
    return sorted((ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", BELOW)
def test_imports_point_down(layer: str) -> None:
    allowed = BELOW[layer] | {layer}
    upward = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files(layer)
        for name in imports(path)
        if name.startswith("ragweave.") and name.split(".")[1] not in allowed
    ]
    assert upward == []


@pytest.mark.parametrize("layer", BELOW)
def test_imports_are_absolute(layer: str) -> None:
    """The server runs a graph's file without its package, where relative imports fail."""
    relative = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files(layer)
        for name in imports(path)
        if name.startswith(".") or name.split(".")[0] in BELOW
    ]
    assert relative == []


def test_graphs_define_no_types() -> None:
    """The server loads these files under another module name, so a type of theirs exists twice."""
    types = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in files("graphs")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert types == []


def test_importing_the_graphs_loads_nothing_heavy() -> None:
    """One server imports all graphs before it answers; stores and parsers load when needed."""
    graphs = [path.stem for path in files("graphs") if path.stem != "__init__"]
    script = f"""
import importlib, sys
for name in {graphs!r}:
    importlib.import_module("ragweave.graphs." + name)
print(*sorted(set(sys.modules) & set({HEAVY!r})))
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert graphs
    assert ended.stdout.split() == []
