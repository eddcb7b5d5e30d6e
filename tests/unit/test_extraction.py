"""What models extract is read in whatever form they write it, and no record is lost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ragweave.indexing.graph.extraction import parse_extraction, parse_report, salvage_extraction
from ragweave.models.graph_schemas import Extraction


@pytest.fixture
def recorded(data: Path) -> list[str]:
    """Answers of real models to prompts of GraphRAG."""
    path = data / "graphrag/recorded_llm_answers.json"
    answers = json.loads(path.read_text(encoding="utf-8"))
    return [answer["return"] for answer in answers.values()]


def test_every_recorded_answer_is_read(recorded: list[str]) -> None:
    extractions = [parse_extraction(answer) for answer in recorded if "<|>" in answer]
    reports = [parse_report(answer) for answer in recorded if answer.lstrip().startswith("{")]
    prose = [answer for answer in recorded if "<|>" not in answer and "{" not in answer]

    assert (len(extractions), len(reports), len(prose)) == (84, 101, 2)
    assert all(parse_extraction(answer) == Extraction() for answer in prose)
    assert None not in reports


def test_no_recorded_record_is_lost(recorded: list[str]) -> None:
    text = "\n".join(recorded)
    entities = len(re.findall(r"\(.entity.<\|>", text))
    relationships = len(re.findall(r"\(.relation(?:ship)?.<\|>", text))

    found = [parse_extraction(answer) for answer in recorded if "<|>" in answer]

    assert entities == sum(len(extraction.entities) for extraction in found) == 654
    assert relationships == sum(len(extraction.relationships) for extraction in found) == 520


def test_recorded_records_are_whole_and_clean(recorded: list[str]) -> None:
    found = [parse_extraction(answer) for answer in recorded if "<|>" in answer]

    for extraction in found:
        for entity in extraction.entities:
            assert re.fullmatch("[a-z]+", entity.type)
            assert len(entity.description) > 10
            assert not re.search(r"<\||\|>|##|^[\"“(*]|[\"”*]$", entity.title)
            assert not re.search(r"<\||\|>|##|\"\)$", entity.description)
        for edge in extraction.relationships:
            assert edge.source
            assert edge.target
            assert 1 <= edge.strength <= 10
            assert not re.search(r"<\||\|>|##|\"\)$", edge.description)
    strengths = {edge.strength for extraction in found for edge in extraction.relationships}
    assert strengths > {4.0, 5.0, 9.0}


def test_recorded_reports_keep_all_their_findings(recorded: list[str]) -> None:
    answers = [answer for answer in recorded if answer.lstrip().startswith("{")]

    for answer, report in zip(answers, map(parse_report, answers), strict=True):
        given = json.loads(answer)
        assert report is not None
        assert report.title == given["title"]
        assert report.rating == given["rating"]
        assert [item.explanation for item in report.findings] == [
            item["explanation"] for item in given["findings"]
        ]


@pytest.mark.parametrize(
    "text",
    [
        '("entity"<|>"SCROOGE"<|>"person"<|>"A miser (of London).")##\n<|COMPLETE|>',
        "(“entity”<|>“SCROOGE”<|>“person”<|>“A miser (of London).”)",
        '1. ("entity" <|> "SCROOGE" <|> "person" <|> "A miser (of London).")\n\n**##**',
        '("entity"</|>"SCROOGE"|>"person"<||>"A miser (of London)."',
        "(entity<|>SCROOGE<|>person<|>A miser (of London).)##",
        '```json\n{"entities": [{"name": "SCROOGE", "type": "person",'
        ' "description": "A miser (of London)."}]}\n```',
        "[{'title': 'SCROOGE', 'entity_type': 'person', 'description': 'A miser (of London).'}]",
        'Here: {"result": {"entities": [{"entity_name": "SCROOGE", "type": "person",'
        ' "description": "A miser (of London)."',
    ],
)
def test_one_entity_in_many_forms(text: str) -> None:
    [entity] = parse_extraction(text).entities

    assert (entity.title, entity.type) == ("SCROOGE", "person")
    assert entity.description == "A miser (of London)."


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ('("relationship"<|>"A"<|>"B"<|>"know each other"<|>8)', 8.0),
        ('("relation"<|>"A"<|>"B"<|>"know each other"<|>"8/10")', 8.0),
        ('("relationship"<|>"A"<|>"B"<|>"know each other"|>8)', 8.0),
        ('("relationship"<|>"A"<|>"B"<|>"know each other"<|>strong)', 1.0),
        ('("relationship"<|>"A"<|>"B"<|>"know each other")', 1.0),
        (
            '{"relationships": [{"source": "A", "target": "B",'
            ' "description": "know each other", "weight": 8}]}',
            8.0,
        ),
    ],
)
def test_one_relationship_in_many_forms(text: str, strength: float) -> None:
    [edge] = parse_extraction(text).relationships

    assert (edge.source, edge.target, edge.description) == ("A", "B", "know each other")
    assert edge.strength == strength


def test_a_record_that_names_nothing_is_not_kept() -> None:
    text = '("entity"<|>""<|>"person"<|>"nobody")##("relationship"<|>"A"<|>""<|>"x"<|>1)'

    assert parse_extraction(text) == Extraction()


def test_a_record_cut_off_at_the_end_is_kept_as_far_as_it_goes() -> None:
    text = '("entity"<|>"A"<|>"person"<|>"first.")##\n("entity"<|>"B"<|>"geo"<|>"sec'

    assert [entity.description for entity in parse_extraction(text).entities] == ["first.", "sec"]


def test_claims_are_read_in_both_formats() -> None:
    fields = "<|>".join(["A", "NONE", "FRAUD", "TRUE", "2020-01-01", "NONE", "took", "he took"])
    as_json = {"claims": [{"subject_id": "A", "object": "NONE", "type": "FRAUD"}]}

    [record] = parse_extraction(f'("claim"<|>{fields})').claims
    [claim] = parse_extraction(json.dumps(as_json)).claims

    assert (record.subject, record.type, record.source_text) == ("A", "FRAUD", "he took")
    assert (claim.subject, claim.object, claim.type) == ("A", "NONE", "FRAUD")


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "[]", "{}", "null", "(entity)"])
def test_there_is_nothing_to_save_in_an_answer_without_records(text: str) -> None:
    assert salvage_extraction(text) is None
    assert parse_report(text) is None


def test_a_report_with_odd_findings_is_kept() -> None:
    report = parse_report(
        '{"title": "T", "rating": "8.5/10", "findings": ["one", {"summary": "2"}]}'
    )

    assert report is not None
    assert report.rating == 8.5
    assert [finding.summary for finding in report.findings] == ["one", "2"]
