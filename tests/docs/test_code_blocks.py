"""Every code block of README and docs runs, in the order of its page, in a folder of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.servers.openai_stub import OpenAIStub

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXTRAS = re.compile(r"\[([\w,]+)\]")
ASSIGNMENTS = re.compile(r"^(\w+=\S+\s+)+")
SHOWN = {"", "mermaid", "text", "json"}
"""Languages that show something and cannot be run."""
WITH_SERVER = {"studio.md"}
"""Pages whose Python is run against a real server, in tests/integration."""
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@dataclass(frozen=True)
class Block:
    language: str
    code: str

    @property
    def commands(self) -> list[str]:
        """Shell commands, one a line, without comments."""
        lines = self.code.replace("\\\n", " ").splitlines()
        return [line.split("  #")[0].strip() for line in lines if line and line[0] != "#"]


def blocks(page: Path) -> list[Block]:
    return [Block(*match) for match in BLOCK.findall(page.read_text(encoding="utf-8"))]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a clone's: the pages, and nothing indexed yet."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copy(ROOT / "README.md", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    return folder


def run(command: list[str], folder: Path) -> None:
    with OpenAIStub(lambda request: "The documents say so [1].") as model:
        keys = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": model.base_url}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ended = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **keys, "PATH": path, "PYTHONWARNINGS": "error"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert ended.returncode == 0, f"{command[-1]}\n{ended.stdout}\n{ended.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_is_of_a_kind_that_is_tested(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= {"python", "bash", *SHOWN}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_json_is_valid(page: Path) -> None:
    shown = [json.loads(block.code) for block in blocks(page) if block.language == "json"]
    assert all(isinstance(value, dict | list) for value in shown)


def pages_with(language: str, *, without: Collection[str] = ()) -> list[ParameterSet]:
    """Pages with code of a language. Only the README's is run every time: each takes seconds."""
    pages = [page for page in PAGES if any(block.language == language for block in blocks(page))]
    return [
        pytest.param(
            page, id=named(page), marks=[] if page.name == "README.md" else pytest.mark.slow
        )
        for page in pages
        if page.name not in without
    ]


@pytest.mark.parametrize("page", pages_with("bash"))
def test_commands_work(page: Path, folder: Path) -> None:
    for block in blocks(page):
        for command in block.commands if block.language == "bash" else []:
            check(command, folder)


def check(command: str, folder: Path) -> None:
    """Run a command; of those that install or serve, check what they name."""
    program, *arguments = ASSIGNMENTS.sub("", command).split()
    if program in ("ragweave", "echo"):
        run(["bash", "-o", "pipefail", "-c", command], folder)
    elif program == "make":
        run(["make", "--dry-run", "-C", str(ROOT), *arguments], folder)
    elif program == "pip":
        extras = {name for names in EXTRAS.findall(command) for name in names.split(",")}
        assert extras <= set(PYPROJECT["optional-dependencies"])
    else:
        # Its tests are those of tests/integration.
        assert [program, *arguments[:1]] == ["langgraph", "dev"], f"no test runs: {command}"


@pytest.mark.parametrize("page", pages_with("python", without=WITH_SERVER))
def test_python_works(page: Path, folder: Path, tmp_path: Path) -> None:
    run([sys.executable, "-m", "ragweave.serving.cli", "ingest", "README.md", "docs"], folder)
    script = tmp_path / "page.py"
    script.write_text(
        "\n".join(block.code for block in blocks(page) if block.language == "python"),
        encoding="utf-8",
    )
    run([sys.executable, str(script)], folder)
