"""Link targets in the text of Markdown, reStructuredText and HTML, as they are written there."""

from __future__ import annotations

import re

_TARGETS = re.compile(
    r"""
    # [text](target), [name]: target, [[Page|text]], <https://...>
      \]\(\s*<?(?P<inline>[^\s<>()]{1,1000}(?:\([^\s()]{0,100}\)[^\s<>()]{0,1000})?)
    | ^[ ]{0,3}\[[^\]\n]{1,200}\]:\s*<?(?P<reference>[^\s<>]{1,1000})
    | \[\[(?P<wiki>[^\]\[|\n]{1,200})(?:\|[^\]\n]{0,200})?\]\]
    | <(?P<autolink>https?://[^\s<>]{1,1000})>
    # <a href="target">
    | \bhref\s*=\s*["'](?P<html>[^"'\n]{1,1000})["']
    # `text <target>`_, .. _name: target, :doc:`target`, :pep:`N`
    | <(?P<rst>[^<>`\n]{1,1000})>`__?
    | ^[ ]*\.\.[ ]+_[^\n]{1,200}?:[ ]+(?P<named>[^\s`]{1,1000})[ ]*$
    | :doc:`(?:[^`<\n]{0,200}<)?(?P<doc>[^`<>\n]{1,1000})>?`
    | :(?P<series>pep|rfc):`(?:[^`<\n]{0,200}<)?(?P<number>\d{1,5})[^`\n]{0,100}`
    """,
    re.VERBOSE | re.MULTILINE,
)
_HEADER = re.compile(r"^(?:Requires|Replaces|Superseded-By):[ \t]*([\d, \t]{1,200})$", re.MULTILINE)
_HEADER_CHARACTERS = 4_000


def link_targets(text: str) -> list[str]:
    """Targets of the links in `text`, in order, each once: paths, addresses, names of pages.

    Understood are inline, reference and wiki links of Markdown, hyperlinks, named targets and the
    roles `doc`, `pep` and `rfc` of reStructuredText, `href` of HTML, and the header fields
    `Requires`, `Replaces` and `Superseded-By` of Python's PEPs. A PEP or RFC becomes `pep:N`.
    """
    found = [_target(match) for match in _TARGETS.finditer(text)]
    if text.startswith("PEP:"):
        for field in _HEADER.findall(text[:_HEADER_CHARACTERS]):
            found += [f"pep:{int(number)}" for number in re.findall(r"\d+", field)]
    return list(dict.fromkeys(found))


def _target(match: re.Match[str]) -> str:
    if match["series"]:
        return f"{match['series']}:{int(match['number'])}"
    return next(value for value in match.groups() if value).strip()
