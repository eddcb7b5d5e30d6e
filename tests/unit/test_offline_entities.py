"""What offline extraction takes for the entities of a real statute."""

from __future__ import annotations

from asyncio import to_thread
from pathlib import Path

from ragweave.indexing.document import LoadedDocument
from ragweave.indexing.graph.merge import merge_extractions, records
from ragweave.indexing.graph.terms import extract_by_terms, find_terms
from ragweave.indexing.graph.text_units import cut_text_units, graph_document
from ragweave.indexing.loading.load import LoadSettings, load
from ragweave.models.tokens import token_counter

TERMS = frozenset(
    """
    证券 股票 公司债券 公司 证券公司 上市公司 发行人 投资者 股东 董事 监事 高级管理人员
    实际控制人 控股股东 国务院 国务院证券监督管理机构 证券交易所 证券交易场所
    证券登记结算机构 证券服务机构 证券业协会 保荐人 承销 发行 交易 证券交易 证券发行 上市交易
    收购 收购人 信息 信息披露 信息披露义务人 内幕信息 招股说明书 业务 账户 资金 财产 责任
    赔偿责任 损失 罚款 违法所得 法律 行政法规
    """.split()
)
"""Terms of the Securities Law, chosen by reading it."""


async def test_the_most_frequent_entities_of_a_statute_are_its_terms(data: Path) -> None:
    path = str(data / "demo/law_zh/证券法.md")
    [document] = await to_thread(lambda: list(load([path], LoadSettings())))
    assert isinstance(document, LoadedDocument)
    units = cut_text_units(
        graph_document(document, 0, 1_200, 100),
        await token_counter(),
        max_tokens=1_200,
        overlap=100,
        markup=document.content.markup,
    )
    terms = find_terms([unit.text for unit in units])
    merged = merge_extractions((unit.id, extract_by_terms(unit.text, terms)) for unit in units)
    entities, _, _ = records(merged)

    entities.sort(key=lambda entity: (-entity.frequency, -entity.degree))
    frequent = [entity.title for entity in entities[:20]]

    assert len(TERMS.intersection(frequent)) >= 16, frequent
    assert "证券" in frequent[:2]
