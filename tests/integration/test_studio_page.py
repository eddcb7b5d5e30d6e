"""The code of docs/studio.md, against a real server."""

from __future__ import annotations

import ast
import gc
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Server

PAGE = (Path(__file__).parents[2] / "docs" / "studio.md").read_text(encoding="utf-8")
LEAKING_CLIENT = "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"
"""The MCP client leaves a socket to the garbage collector."""
QUESTION = "How are citations checked?"
CODE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
BLOCKS = [block for block in CODE if QUESTION in block]
"""Those that stand alone; that which forks a thread is in `test_server.py`, as three tests."""


@pytest.mark.usefixtures("blocking_clients")
@pytest.mark.filterwarnings(LEAKING_CLIENT)
@pytest.mark.parametrize("block", BLOCKS)
async def test_code_of_the_page_works(
    block: str, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    code = block.replace("http://127.0.0.1:2024", server.url)
    code = code.replace(QUESTION, "Which ships need a pilot?")
    compiled = compile(code, "studio.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(compiled, {})
    await running
    gc.collect()  # here, where that socket is expected
    assert "90 metres" in capsys.readouterr().out
