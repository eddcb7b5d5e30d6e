"""One HTML page with all that it needs inside, and nothing in it that can act."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any


def page(
    *, title: str, body: str, styles: Sequence[str], scripts: Sequence[str], data: Any = None
) -> str:
    """A page of `body`, which is HTML, with style sheets and scripts of this folder.

    A content security policy lets these scripts run and no other, and lets nothing be loaded, so
    that whatever a document or a model wrote stays text. `data` is at hand as the JSON text of
    the element `data`.
    """
    style = "\n".join(_asset(name) for name in styles)
    script = "\n".join(_asset(name) for name in scripts)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script type="application/json" id="data">{_json(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return files("ragweave.serving.drawing").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _json(data: Any) -> str:
    """JSON that cannot end the element it stands in; lone surrogates are written as escapes."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    text = text.encode("utf-8", "backslashreplace").decode()
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
