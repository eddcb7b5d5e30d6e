"""Citations, verified without a model: markers resolved, sentences aligned with quotes.

Everything here is pure and the same for all techniques. Numbers come from our own numbering of the
sources and nothing else: whatever a source's text contains, `[3]` or "Source 1:", is only ever
compared, never read as a citation. `docs/citations.md` has the rules and the measurements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from ragweave.nodes.citations.claims import Entry, Sentence, read_answer
from ragweave.nodes.citations.quotes import SUPPORTED, Claim, Quote, SourceText, claim_of
from ragweave.nodes.citations.token_filter import TokenFilter, filtered
from ragweave.state.markers import parse
from ragweave.state.records import Citation, Source

__all__ = ["TokenFilter", "Verified", "count_statuses", "renumber", "verify"]

_FEWEST_TERMS = 2
"""Terms that a part of a sentence needs to be judged apart from the rest of it."""
_OWN_SHARE = 0.35
"""Share of a sentence's terms that a source must hold where several together support it."""


@dataclass(frozen=True, slots=True)
class Verified:
    """An answer without invalid markers, and what its citations are worth."""

    answer: str
    citations: list[Citation]
    """In the order of the answer: one for each sentence and source that it cites, and one for
    each sentence that should cite a source and does not."""
    invalid_markers: list[str]
    """As the model wrote them."""


def verify(answer: str, sources: Sequence[Source]) -> Verified:
    """Remove markers that name no source, and align each cited sentence with a quote.

    Nothing is raised, whatever the texts hold. Verifying the verified answer changes nothing.
    """
    known = _Sources(sources)
    cleaned = filtered(answer, known.numbers)
    read, entries = read_answer(filtered(cleaned.text, known.numbers))
    return Verified(cleaned.text, list(_citations(read, entries, known)), cleaned.invalid)


def count_statuses(verified: Verified) -> dict[str, int]:
    """The counts of a `cited` event: grounded, ungrounded, missing, invalid."""
    counts = Counter(citation["status"] for citation in verified.citations)
    return {
        "grounded": counts["grounded"],
        "ungrounded": counts["ungrounded"],
        "missing": counts["missing"],
        "invalid": len(verified.invalid_markers),
    }


def renumber(verified: Verified, sources: Sequence[Source]) -> tuple[Verified, list[Source]]:
    """Number the sources anew, 1 to n by first use in the answer; the unused ones follow."""
    numbers = [source["number"] for source in sources]
    layout = filtered(verified.answer, numbers)
    used = [number for mention in layout.mentions for number in mention.numbers]
    names = {old: new for new, old in enumerate(dict.fromkeys([*used, *numbers]), 1)}
    pieces, end = [], 0
    for mention in layout.mentions:
        written = verified.answer[mention.start : mention.end]
        marker = parse(written)
        renamed = marker.renamed(names) if marker else str(names[mention.numbers[0]])
        pieces += [verified.answer[end : mention.start], renamed]
        end = mention.end
    answer = "".join([*pieces, verified.answer[end:]])
    moved = [Source(**{**source, "number": names[source["number"]]}) for source in sources]
    moved.sort(key=lambda source: source["number"])
    citations = verify(answer, moved).citations
    return Verified(answer, citations, verified.invalid_markers), moved


class _Sources:
    """The sources by number, each analysed once and only if it is cited."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._by_number = {source["number"]: source for source in reversed(sources)}
        self._texts: dict[int, SourceText] = {}
        self._quotes: dict[tuple[int, str], Quote | None] = {}
        self.numbers = frozenset(self._by_number)

    def support(self, claim: Claim, number: int, together: Collection[int]) -> Quote | None:
        """The quote of a source that supports a claim made with the sources `together`."""
        if not self._has_numbers_and_names(claim, together):
            return None
        quote = self._quote(claim, number)
        if quote is None or quote.grounded:
            return quote
        if len(together) == 1:
            return None
        quotes = [other for one in together if (other := self._quote(claim, one))]
        shared = frozenset[str]().union(*(other.found for other in quotes))
        jointly = len(shared) >= SUPPORTED * len(claim.terms)
        return quote if jointly and len(quote.found) >= _OWN_SHARE * len(claim.terms) else None

    def _has_numbers_and_names(self, claim: Claim, together: Collection[int]) -> bool:
        texts = [self._text(number) for number in together]
        for number in claim.numbers:
            if not any(number in text.numbers for text in texts):
                return False
        if not claim.names or not all(text.shares_script(claim) for text in texts):
            return True
        return claim.names <= {name for text in texts for name in text.names(claim.names)}

    def _quote(self, claim: Claim, number: int) -> Quote | None:
        key = (number, claim.text)
        if key not in self._quotes:
            self._quotes[key] = self._text(number).quote(claim)
        return self._quotes[key]

    def _text(self, number: int) -> SourceText:
        if number not in self._texts:
            source = self._by_number[number]
            self._texts[number] = SourceText(source["text"], source["title"])
        return self._texts[number]

    def citation(self, number: int, sentence: str, quote: Quote | None) -> Citation:
        """A citation of a source; ungrounded without a quote."""
        source = self._by_number[number]
        offset = source["start"] or 0
        return Citation(
            number=number,
            source_id=source["id"],
            sentence=sentence,
            quote=source["text"][quote.start : quote.end] if quote else None,
            start=offset + quote.start if quote else None,
            end=offset + quote.end if quote else None,
            status="grounded" if quote else "ungrounded",
        )


def _citations(
    read: Sequence[Sentence], entries: Sequence[Entry], known: _Sources
) -> Iterator[Citation]:
    """Citations of all sentences, then of what only the list of sources names."""
    inline = {number for sentence in read for number in sentence.numbers}
    unused = {number for entry in entries for number in entry.numbers} - inline
    led: list[int] = []
    for at, sentence in enumerate(read):
        if not sentence.item:
            led = sentence.numbers if sentence.leads else []
        if sentence.numbers:
            items = _items_after(read, at) if sentence.leads else []
            quotes = _quotes(sentence, items, known)
            for number in sentence.numbers:
                yield known.citation(number, sentence.text, quotes.get(number))
        elif sentence.states:
            implied = _implied(sentence, [*led, *sorted(unused)], known)
            for number, quote in implied.items():
                yield known.citation(number, sentence.text, quote)
            inline.update(implied)
            if not implied:
                yield _missing(sentence.text)
    for entry in entries:
        for number in entry.numbers:
            if number not in inline:
                inline.add(number)
                yield known.citation(number, entry.text, None)


def _items_after(read: Sequence[Sentence], at: int) -> list[Sentence]:
    return list(takewhile(lambda other: other.item, islice(read, at + 1, None)))


def _quotes(sentence: Sentence, items: Sequence[Sentence], known: _Sources) -> dict[int, Quote]:
    """By number, the quotes that support what a sentence cites it for.

    A sentence that only leads to a list is also supported by what supports an item of the list.
    """
    quotes = {}
    for number in sentence.numbers:
        cited = [part for part in sentence.parts if number in part.numbers]
        claim = claim_of("".join(part.text for part in cited))
        together = {other for part in cited for other in part.numbers}
        if len(claim.terms) < _FEWEST_TERMS:
            claim, together = claim_of(sentence.claim), set(sentence.numbers)
        found = known.support(claim, number, together)
        led = (known.support(claim_of(item.claim), number, {number}) for item in items)
        if quote := found or next(filter(None, led), None):
            quotes[number] = quote
    return quotes


def _implied(sentence: Sentence, numbers: Iterable[int], known: _Sources) -> dict[int, Quote]:
    """Quotes for a sentence without a marker, from what its list or the list of sources cites."""
    claim = claim_of(sentence.claim)
    found = {number: known.support(claim, number, {number}) for number in numbers}
    return {number: quote for number, quote in found.items() if quote}


def _missing(sentence: str) -> Citation:
    return Citation(
        number=None,
        source_id=None,
        sentence=sentence,
        quote=None,
        start=None,
        end=None,
        status="missing",
    )
