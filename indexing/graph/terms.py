"""Entities and relationships without a model: the terms of a corpus, and which occur together.

As GraphRAG's "fast" method, but with no download. English terms are names (capitalised words, also
joined by "of") and acronyms. A word that has a capital only where any word has one, at the start of
sentences, in headings and fields, is no name, nor one that is written without more often. Chinese
has no spaces, so its terms are found by counting: runs of characters that occur often, hold
together better than chance, and stand beside many different characters on both sides (Sproat and
Shih 1990; Huang and Powers 2003).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from ragweave.models.graph_schemas import ExtractedEntity, ExtractedRelationship, Extraction
from ragweave.state.text import sentences

MIN_COUNT = 4
"""Occurrences in the corpus that make a Chinese term; a name needs `MIN_NAMED`."""
MIN_NAMED = 2
MIN_COHESION = 2.5
"""Least pointwise mutual information, in bits, at a Chinese term's weakest joint."""
MIN_FREEDOM = 1.2
"""Least entropy, in bits, of what stands before and after a Chinese term."""
LONGEST_CHINESE = 14
_STARTERS = frozenset(
    """
    a an and as at but by for from he her his how i if in is it its my no not of oh on or our she
    so that the their then there these they this those to was we what when where which who why
    with yes you your
    """.split()
)
"""Words with a capital for standing first; a name does not begin with them."""
MOST_RELATED = 12
"""Terms of one sentence that are related to each other."""
MAX_DESCRIPTION = 300

_HAN = re.compile(r"[\u4e00-\u9fff]+")
_WORD = r"(?:(?:Mrs|Ms|St)\.|[A-Z][\w'’&-]*)"
_NAME = re.compile(rf"\b{_WORD}(?:[ \t\n]+(?:(?:of|the|de|van|von)[ \t\n]+){{0,2}}{_WORD})*")
_AFTER_NAME = re.compile(r"(?:['’]s?)?_*$")
"""What is not part of a name: a possessive's ending, a closing quote, a mark of emphasis."""
_WITHIN = re.compile(r"[\w,;]['’]? *[ `(\[|]+$")
_GOES_ON = re.compile(r" +[a-z]")
_LETTERS = re.compile(r"[^a-z]")
_LOWER = re.compile(r"(?<![\w.@/:-])[a-z][\w'’-]*+(?![@/:]|\.\w)")
"""A word without a capital that is no part of an address or a path."""
_NEVER_FIRST = frozenset(
    "的了在和与或及等以对于其该此之为由从按被将把让使并且但而因是有无不未可应当得须能会要到至下内外"
    "前后者也就都还又再已经过个项款条章节各每他她它们这那哪什么如若则即二三四五六七八九十百千万一上述本"
)
_NEVER_LAST = frozenset(
    "的了在和与或及等以对于其该此之为由从按被将把让使并且但而因是有无不未可应当得须能会要到至内外前后时"
    "也就都还又再已经过个项款条章节各每他她它们这那哪什么如若则即二三四五六七八九十百千万一上中下本并向"
)
_NEVER_INSIDE = frozenset("的了或其并")
_GENERAL = frozenset(
    """
    规定 直接 依法 违法 给予 警告 给予警告 应当 可以 进行 提供 相关 有关 其他 负责 作出 采取 违反
    违反本法 违反本法第 按照 根据 依照 符合 具有 属于 包括 以上 以下 之日 之内 不得 没有 任何 以及
    或者 并处 处以 情节严重 严重 管理 方式 情形 情况 期间 过程 部分 部门 问题 工作 活动 行为 同时
    通过 经过 由于 因为 所以 但是 如果 需要 能够 已经 进一步 主要 重要 重大 一定 不同 各种 我们 他们
    自己 这个 那个 什么 怎么
    """.split()
)
"""Words that occur often in any text and name nothing."""


def find_terms(texts: Sequence[str]) -> frozenset[str]:
    """The terms of a corpus, as they are written. Linear in its length."""
    return frozenset((*_chinese_terms(texts), *_names(texts)))


def extract_by_terms(text: str, terms: frozenset[str]) -> Extraction:
    """The terms that a text uses as entities, and those of one sentence as relationships.

    An entity is described by the first sentence that uses it, a relationship by the one that has
    both ends. Both are quotations.
    """
    described: dict[str, str] = {}
    edges: dict[tuple[str, str], ExtractedRelationship] = {}
    for span in sentences(text):
        sentence = " ".join(text[span.start : span.end].split())[:MAX_DESCRIPTION]
        found = list(dict.fromkeys(terms_in(sentence, terms)))
        for term in found:
            described.setdefault(term, sentence)
        for source, target in combinations(found[:MOST_RELATED], 2):
            key = min(source, target), max(source, target)
            if key in edges:
                edges[key].strength += 1
            else:
                edges[key] = ExtractedRelationship(
                    source=key[0], target=key[1], description=sentence, strength=1
                )
    entities = [
        ExtractedEntity(title=term, type="term" if _HAN.match(term) else "name", description=quote)
        for term, quote in described.items()
    ]
    return Extraction(entities=entities, relationships=list(edges.values()))


def terms_in(text: str, terms: frozenset[str]) -> Iterator[str]:
    """The terms that a text uses, in order; of two that overlap the longer one."""
    yield from (name for name in _written_names(text) if name in terms)
    for run in _HAN.findall(text):
        at = 0
        while at < len(run):
            lengths = range(min(LONGEST_CHINESE, len(run) - at), 1, -1)
            length = next((n for n in lengths if run[at : at + n] in terms), 0)
            if length:
                yield run[at : at + length]
            at += length or 1


def _written_names(text: str) -> Iterator[str]:
    """Runs of capitalised words, without those around them that are no part of a name."""
    for name, _ in _names_in_place(text):
        yield name


def _names_in_place(text: str) -> Iterator[tuple[str, bool]]:
    """Each run of capitalised words, and whether it stands within a line's sentence.

    So does a name after a word or a comma, in brackets too, and one of several words before a
    word. At the start of a sentence, a heading or a field any word has a capital.
    """
    for match in _NAME.finditer(text):
        words = match[0].split()
        first, after = 0, len(words)
        while first < after and _is_starter(words[first]):
            first += 1
        while first < after and _is_starter(words[after - 1]):
            after -= 1
        if name := _AFTER_NAME.sub("", " ".join(words[first:after])):
            before = text[max(0, match.start() - 6) : match.start()]
            follows = first > 0 or _WITHIN.search(before) is not None
            goes_on = after - first > 1 and _GOES_ON.match(text, match.end()) is not None
            yield name, follows or goes_on


def _is_starter(word: str) -> bool:
    return _LETTERS.split(word.lower())[0] in _STARTERS


def _names(texts: Sequence[str]) -> Iterator[str]:
    """Names that occur often enough, and where only a name has a capital."""
    counts: Counter[str] = Counter()
    within: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for text in texts:
        for name, inside in _names_in_place(text):
            counts[name] += 1
            within[name] += inside
        lower.update(_LOWER.findall(text))
    for name, count in counts.items():
        short = len(name) < 3 and not name.isupper()
        common = " " not in name and (short or lower[name.lower()] >= within[name])
        if count >= MIN_NAMED and len(name) > 1 and within[name] and not common:
            yield name


def _chinese_terms(texts: Sequence[str]) -> Iterator[str]:
    runs = [run for text in texts for run in _HAN.findall(text)]
    counts = _counted(runs)
    total = sum(map(len, runs))
    frequent = {term for term, count in counts.items() if count >= MIN_COUNT and _may_be(term)}
    freedom = _freedom(runs, frequent)
    for term in frequent:
        if freedom[term] >= MIN_FREEDOM and _cohesion(term, counts, total) >= MIN_COHESION:
            yield term


def _counted(runs: Sequence[str]) -> Counter[str]:
    """Counts of all pieces that may be part of a term; longer ones only of what is frequent."""
    counts: Counter[str] = Counter(character for run in runs for character in run)
    for length in range(2, LONGEST_CHINESE + 1):
        found = Counter(
            run[at : at + length]
            for run in runs
            for at in range(len(run) - length + 1)
            if counts[run[at : at + length - 1]] >= MIN_COUNT
        )
        counts.update({term: count for term, count in found.items() if count >= MIN_COUNT})
    return counts


def _may_be(term: str) -> bool:
    return (
        len(term) > 1
        and term[0] not in _NEVER_FIRST
        and term[-1] not in _NEVER_LAST
        and not _NEVER_INSIDE & set(term)
        and term not in _GENERAL
    )


def _cohesion(term: str, counts: Mapping[str, int], total: int) -> float:
    """Pointwise mutual information of a term's two parts, at its weakest joint."""
    return min(
        math.log2(counts[term] * total / (counts[term[:at]] * counts[term[at:]]))
        for at in range(1, len(term))
    )


def _freedom(runs: Sequence[str], terms: set[str]) -> Mapping[str, float]:
    """The lesser entropy of the characters before and after each term; an edge is always new."""
    before: dict[str, Counter[str]] = defaultdict(Counter)
    after: dict[str, Counter[str]] = defaultdict(Counter)
    edges = 0
    for run in runs:
        for at in range(len(run)):
            for length in range(2, min(LONGEST_CHINESE, len(run) - at) + 1):
                term = run[at : at + length]
                if term not in terms:
                    continue
                edges += 1
                end = at + length
                before[term][run[at - 1] if at else f"edge {edges}"] += 1
                after[term][run[end] if end < len(run) else f"edge {edges}"] += 1
    return {term: min(_entropy(before[term]), _entropy(after[term])) for term in terms}


def _entropy(counts: Counter[str]) -> float:
    total = counts.total()
    return -sum(count / total * math.log2(count / total) for count in counts.values())
