"""What a user installs is whole: every sub-package, its marker for type checkers, its prompts."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "from setuptools import build_meta as b; b.build_{kind}({target!r})"


def layers() -> list[Path]:
    """Top-level folders that hold a layer of ragweave."""
    return sorted(marker.parent for marker in ROOT.glob("*/py.typed"))


def build(kind: str, target: Path) -> Path:
    """Build the project from a clean copy: the working tree's own build folders stay away."""
    copy = target / "project"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith(".typing/"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD.format(kind=kind, target=str(target))],
        cwd=copy,
        capture_output=True,
        check=True,
        timeout=120,
    )
    return next(path for path in target.iterdir() if path.suffix in {".whl", ".gz"})


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


def test_type_checkers_are_given_every_layer() -> None:
    links = {link.name: link.resolve() for link in (ROOT / ".typing/ragweave").iterdir()}
    assert links == {layer.name: layer for layer in layers()}


def test_wheel_holds_every_source_file(wheel: Path) -> None:
    kept = {".py", ".md", ".typed", ".css", ".js"}
    expected = {
        f"ragweave/{path.relative_to(ROOT)}"
        for layer in layers()
        for path in layer.rglob("*")
        if path.suffix in kept
    }
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("ragweave/")}
    assert packed == expected


def test_every_package_has_its_typing_marker() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    unmarked = [
        name
        for name, folder in packages["package-dir"].items()
        if not (ROOT / folder / "py.typed").exists()
    ]
    assert unmarked == []


def test_installed_wheel_imports(wheel: Path, tmp_path: Path) -> None:
    """Every module, in an environment where only the wheel provides `ragweave`."""
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    site = next((environment / "lib").glob("python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    modules = [
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in zipfile.ZipFile(wheel).namelist()
        if name.startswith("ragweave/") and name.endswith(".py")
    ]
    dependencies = [path for path in sys.path if path.endswith("site-packages")]
    script = f"""
import importlib, sys
sys.path += {dependencies!r}
for name in {modules!r}:
    module = importlib.import_module(name)
    assert module.__file__.startswith({str(site)!r}), module.__file__
"""
    ended = subprocess.run(
        [python, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert ended.stderr == ""
    assert ended.returncode == 0


def test_sdist_holds_what_the_server_reads(tmp_path: Path) -> None:
    """`langgraph dev` works from an unpacked source distribution."""
    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    graphs = json.loads((ROOT / "langgraph.json").read_text()).get("graphs", {})
    paths = [graph["path"].removeprefix("./").split(":")[0] for graph in graphs.values()]
    assert {"langgraph.json", "LICENSE", "README.md", *paths} <= names
