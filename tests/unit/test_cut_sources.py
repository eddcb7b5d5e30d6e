"""Cutting sources at sentences with exact spans, and packing them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.static import static_model
from ragweave.nodes.cut_sources import cut_source, fill, pack
from ragweave.state.records import Source

FACTS = " ".join(f"Fact {n}: item {n} weighs {n * 7} grams." for n in range(120))
CHINESE = "".join(f"第{n}条规定，发行人应当符合第{n * 3}项条件。" for n in range(120))


def count(texts: object) -> list[int]:
    return [len(ids) for ids in static_model().tokens(list(texts))]  # type: ignore[call-overload]


def source(text: str, start: int | None = None) -> Source:
    return Source(
        number=0, id="s", document_id="d", text=text, title=None, url=None, path=None, page=3,
        start=start, end=None if start is None else start + len(text), score=1.0,
        score_kind="bm25", metadata={"k": 1},
    )  # fmt: skip


@pytest.mark.parametrize("text", [FACTS, CHINESE, "word " * 3000, "字" * 3000, "x" * 9000])
@pytest.mark.parametrize(("size", "overlap"), [(512, 20), (100, 0), (64, 40)])
def test_nothing_is_lost_and_no_piece_is_too_long(text: str, size: int, overlap: int) -> None:
    spans = fill(text, count, size, overlap)
    covered = set[int]()
    for start, end in spans:
        covered.update(range(start, end))
    assert all(character.isspace() for at, character in enumerate(text) if at not in covered)
    assert max(count([text[slice(*span)] for span in spans])) <= size + 2
    assert [span.start for span in spans] == sorted({span.start for span in spans})


def test_pieces_are_filled_with_whole_sentences() -> None:
    spans = fill(FACTS, count, 512, 0)
    sizes = count([FACTS[slice(*span)] for span in spans])
    assert all(size > 480 for size in sizes[:-1])
    assert all(FACTS[slice(*span)].startswith("Fact") for span in spans)
    assert all(FACTS[slice(*span)].endswith("grams.") for span in spans)


def test_overlap_repeats_whole_sentences_up_to_its_size() -> None:
    spans = fill(FACTS, count, 512, 40)
    for (_, end), (start, _) in pairwise(spans):
        repeated = FACTS[start:end]
        assert repeated.startswith("Fact")
        assert 0 < count([repeated])[0] <= 40
    plain = fill(FACTS, count, 512, 5)
    assert all(a.end < b.start for a, b in pairwise(plain))


@pytest.mark.parametrize("text", ["", "   \n ", "one", "."])
def test_short_texts_are_one_piece_or_none(text: str) -> None:
    assert len(fill(text, count, 512, 20)) == bool(text.strip())


@given(st.text(alphabet="ab .\n。字!{}[]", max_size=300), st.integers(8, 40), st.integers(0, 20))
def test_any_text_is_covered(text: str, size: int, overlap: int) -> None:
    spans = fill(text, count, size, overlap)
    left = list(text)
    for start, end in spans:
        left[start:end] = " " * (end - start)
    assert "".join(left).strip() == ""


def test_cut_sources_keep_what_is_known_and_point_into_the_document() -> None:
    document = "x" * 100 + FACTS
    pieces = cut_source(source(FACTS, start=100), fill(FACTS, count, 512, 20))
    assert len({piece["id"] for piece in pieces}) == len(pieces) > 1
    for piece in pieces:
        assert document[piece["start"] : piece["end"]] == piece["text"]
        assert (piece["document_id"], piece["page"], piece["metadata"]) == ("d", 3, {"k": 1})
    whole = source("All of it.")
    assert cut_source(whole, [(0, 10)]) == [whole]
    assert cut_source(source("A b. C d."), [(0, 4), (5, 9)])[1]["start"] == 5


def test_batches_hold_as_much_as_fits_in_order() -> None:
    sizes = [40, 50, 20, 200, 10, 90]
    sources: list[Source] = [{**source(str(n)), "number": n} for n in range(6)]
    batches = list(pack(zip(sources, sizes, strict=True), 100))
    assert [[item["number"] for item in batch] for batch in batches] == [[0, 1], [2], [3], [4, 5]]
    assert list(pack([], 100)) == []
