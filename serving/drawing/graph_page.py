"""The page that shows a knowledge graph: communities within communities, entities, reports."""

from __future__ import annotations

from html import escape
from typing import Any

from ragweave.serving.drawing.graph_layout import Layout, layout
from ragweave.serving.drawing.packing import Circle
from ragweave.serving.drawing.page import page
from ragweave.stores.graph import Community, GraphTables, Report

_BODY = """<header>
<h1>{title}</h1>
<p id="facts"></p>
<button id="theme" type="button" title="Dark or light">◐</button>
</header>
<main class="graph">
<nav aria-label="Search and levels">
<input id="search" type="search" placeholder="Search entities and reports" aria-label="Search"
 autocomplete="off" spellcheck="false">
<div id="levels" role="group" aria-label="Finest level shown"></div>
<div id="found"></div>
</nav>
<div id="stage">
<canvas id="canvas" tabindex="0"
 aria-label="The graph. Arrow keys move, plus and minus zoom."></canvas>
<div id="tip" hidden></div>
<div id="zoom">
<button type="button" id="in" title="Zoom in">+</button>
<button type="button" id="out" title="Zoom out">−</button>
<button type="button" id="fit" title="Show all">⤢</button>
</div>
</div>
<aside id="panel" hidden aria-live="polite"></aside>
</main>"""


def graph_page(graph: GraphTables, name: str) -> str:
    """The page of a graph that was opened by `name`."""
    return page(
        title=f"Knowledge graph {name}",
        body=_BODY.format(title=escape(name)),
        styles=["page.css", "graph.css"],
        scripts=["page.js", "graph_view.js", "graph.js"],
        data=graph_data(graph),
    )


def graph_data(graph: GraphTables) -> dict[str, Any]:
    """What the page's script draws. Places are rounded to tenths of the picture's units."""
    placed = layout(graph)
    entities = {entity.id: place for place, entity in enumerate(graph.entities)}
    titles = {entity.title: place for place, entity in enumerate(graph.entities)}
    communities = {item.community: place for place, item in enumerate(graph.communities)}
    return {
        "communities": [
            {
                **_community(item, graph.report_by_community.get(item.community)),
                **_circle(placed.communities[item.community]),
                "parent": communities.get(placed.parents.get(item.community, -1), -1),
                "members": [entities[one] for one in item.entity_ids if one in entities],
            }
            for item in graph.communities
        ],
        "entities": [
            {
                "title": entity.title,
                "type": entity.type,
                "text": entity.description,
                "degree": entity.degree,
                "home": _home(entity.id, placed, communities),
                **_circle(placed.entities[entity.id]),
            }
            for entity in graph.entities
        ],
        # An end that is no entity has no place, only its name.
        "edges": [
            [
                titles.get(edge.source, edge.source),
                titles.get(edge.target, edge.target),
                edge.description,
            ]
            for edge in graph.relationships
        ],
    }


def _community(community: Community, report: Report | None) -> dict[str, Any]:
    shown = {
        "number": community.community,
        "level": community.level,
        "title": report.title if report else community.title,
        "reported": report is not None,
    }
    if report is None:
        return shown
    findings = [[item.summary, item.explanation] for item in report.findings]
    return {
        **shown,
        "rank": report.rank,
        "why": report.rating_explanation,
        "summary": report.summary,
        "findings": findings or [["", report.full_content]],
    }


def _home(entity_id: str, placed: Layout, communities: dict[int, int]) -> int:
    return communities.get(placed.homes.get(entity_id, -1), -1)


def _circle(circle: Circle) -> dict[str, float]:
    return {"x": round(circle.x, 1), "y": round(circle.y, 1), "r": round(circle.r, 1)}
