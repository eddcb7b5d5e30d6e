"""Titles and header fields of Markdown, reStructuredText and plain text."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml  # type: ignore[import-untyped]

from ragweave.indexing.blocks import find_blocks
from ragweave.indexing.document import Content, Markup

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_RST_INLINE = re.compile(r"``|\\(.)")
_FIELD = re.compile(r":?([A-Z][A-Za-z-]{1,30}):[ \t]+(\S.*)")
_FIELD_GOES_ON = re.compile(r"[ \t]+\S")
_FIRST_CHARACTERS = 4000


def read_markup(text: str, markup: Markup) -> Content:
    """Content of a clean text: its title, and the fields that head it as metadata.

    The text stays whole, header included, so that spans are those of the file.
    """
    fields = _front_matter(text) if markup == "markdown" else _header_fields(text)
    return Content(text, markup=markup, title=_title(text, markup, fields), metadata=fields)


def _title(text: str, markup: Markup, fields: dict[str, Any]) -> str | None:
    named = fields.get("title")
    if isinstance(named, str) and named.strip():
        number = f"PEP {fields['pep']} – " if "pep" in fields else ""
        return number + _RST_INLINE.sub(r"\1", named.strip())
    if markup == "plain":
        return None
    blocks = find_blocks(text[:_FIRST_CHARACTERS], markup)
    return next((block.title for block in blocks if block.kind == "heading"), None) or None


def _front_matter(text: str) -> dict[str, Any]:
    """YAML between two `---` lines at the start of Markdown; what is not YAML is text."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return {}
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(found[1])):
            return {}  # aliases of aliases grow without bound when written out
        fields = json.loads(json.dumps(yaml.safe_load(found[1]), default=str))
    except (yaml.YAMLError, TypeError, ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _header_fields(text: str) -> dict[str, Any]:
    """`Name: value` lines at the very start, as mails, RFCs and Python's PEPs have them.

    A single such line is a sentence rather than a header, so two are needed.
    """
    fields: dict[str, Any] = {}
    name = ""
    for line in text[:_FIRST_CHARACTERS].split("\n"):
        if found := _FIELD.fullmatch(line.rstrip()):
            name = found[1].lower()
            fields[name] = found[2]
        elif name and _FIELD_GOES_ON.match(line):
            fields[name] = f"{fields[name]} {line.strip()}"
        else:
            break
    return fields if len(fields) > 1 else {}
