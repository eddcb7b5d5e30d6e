"""Every example runs offline, as a user would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import TavilyStub, web_result

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
TYPED = {"approve_web_search.py": "y\n"}
"""What a person types, by example."""
SHOWN = {
    "agent_with_tool.py": "\n\nSources:\n[",
    "approve_web_search.py": "Madrid",
    "conversation.py": "[1] ",
    "deep_agent.py": "\nThe agent says: That is",
    "pick_technique.py": "crag: No passage",
    "steps_and_tokens.py": "answered, cited: ['",
    "within_a_graph.py": "budgets (answered): ",
}
"""Part of what each prints."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    ingest = [sys.executable, "-m", "ragweave.serving.cli", "ingest"]
    subprocess.run(
        [*ingest, ROOT / "README.md", ROOT / "docs"], cwd=folder, check=True, timeout=120
    )
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(example: Path, folder: Path) -> None:
    with TavilyStub(lambda request: [web_result("Madrid is the capital of Spain.")]) as web:
        ended = subprocess.run(
            [sys.executable, "-W", "error", str(example)],
            cwd=folder,
            env={**os.environ, "TAVILY_API_KEY": "tvly-x", "TAVILY_BASE_URL": web.url},
            input=TYPED.get(example.name, ""),
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert ended.returncode == 0, ended.stderr
    assert SHOWN[example.name] in ended.stdout
