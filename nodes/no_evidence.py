"""Saying honestly that there is nothing to answer from, and what was tried."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from ragweave.nodes.answer_output import answer_output
from ragweave.nodes.events import decided, emit
from ragweave.nodes.sources import numbered
from ragweave.state.context import RagContext, context_of

_CHINESE = re.compile(r"[\u4e00-\u9fff]|^zh\b|chinese", re.IGNORECASE)


def has_sources(state: Any) -> Literal["answer_question", "report_no_evidence"]:
    """Whether there is anything to answer from. A routing function."""
    return "answer_question" if state["sources"] else "report_no_evidence"


async def report_no_evidence(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
    """End without an answer. No model is called; `sources` are those that were looked at.

    Annotated with `RagState`, LangGraph would pass it that part of the state alone.
    """
    context = context_of(state, runtime.context, RagContext)
    answer = no_evidence(state, context)
    emit(state, runtime, "token", text=answer)
    message = AIMessage(answer, id=str(uuid.uuid4()), response_metadata=authorship(context))
    return {
        **answer_output(answer, "no_evidence", [], message),
        "invalid_markers": [],
        "sources": numbered([*_found(state, "documents"), *_found(state, "web_results")]),
        "decisions": decided("report_no_evidence", "no_evidence", answer),
    }


def authorship(context: RagContext) -> dict[str, Any]:
    """Metadata of an answer that no language model had a part in, as the offline model gives it."""
    return {"language_model": False} if context.offline else {}


def no_evidence(state: Mapping[str, Any], context: RagContext) -> str:
    """The sentence that says so, in Chinese for a Chinese question and else in English."""
    documents, queries = len(_found(state, "documents")), _found(state, "queries")
    if _CHINESE.search(context.language or state["question"]):
        tried = f"检索到的 {documents} 段文字都不能回答" if documents else "索引中没有找到相关文字"
        web = f"；在网上搜索 {'、'.join(queries)} 也没有结果" if queries else ""
        return f"没有找到可以回答这个问题的依据：{tried}{web}。"
    tried = f"none of the {documents} retrieved does" if documents else "the index gave none"
    web = f", nor did the web for {', '.join(map(repr, queries))}" if queries else ""
    return f"No passage was found that answers this question: {tried}{web}."


def _found(state: Mapping[str, Any], key: str) -> list[Any]:
    return state.get(key) or []
