"""Which sentences state something, and so are missing a citation when they have none."""

from __future__ import annotations

import pytest

from ragweave.nodes.citations.statements import states_something


@pytest.mark.parametrize(
    "sentence",
    [
        "Paris is the capital of France.",
        "Paris.",
        "42",
        "**The answer is Paris.**",
        "- Paris is big.",
        "1. It was founded in 1999.",
        "| Paris | 2 million |",
        "No company may issue shares without approval.",
        "Yes, PEP 604 allows it.",
        "The documents do not need to be signed.",
        "There is no such operator in Python 2.",
        "Overall, the code becomes shorter.",
        "收购期限不得少于三十日。",
        "公司可以公开发行新股。",
        "本法未规定的，适用公司法。",
        "投资者不能从事内幕交易。",
        "发行文件未经批准的，不得公开。",
        "三十日。",
    ],
)
def test_statements(sentence: str) -> None:
    assert states_something(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        *(
            "",
            "...",
            "---",
            "1.",
            "（一）",
            "# Heading",
            "**Heading**",
            "**Heading:**",
            "Title\n=====",
        ),
        *("| --- | :-: |", "```py\nx = 1\n```", "Sources:", "参考文献：", "Is it so?", "真的吗？"),
        *(
            "The reasons are:",
            "有以下几点：",
            "Yes.",
            "No!",
            "是的。",
            "不是。",
            "In summary,",
            "综上所述，",
        ),
        *("Hello!", "Sure, I can help with that.", "Hope this helps!", "Here is a summary."),
        *(
            "Let me know if you need more.",
            "If you have more questions, just ask.",
            "您好！",
            "好的。",
        ),
        *("希望对您有帮助！", "如有疑问，请随时告诉我。"),
        "I don't know.",
        "I cannot answer that from what I was given.",
        "I'm sorry, but the provided documents do not mention it.",
        "The sources do not say who wrote it.",
        "The provided context doesn't explicitly state the date.",
        "The passages contain no information about Saturn.",
        "None of the sources answers the question.",
        "This is not mentioned in the given text.",
        "No evidence for that was found.",
        "There is not enough information to answer.",
        "No passage was found that answers this question: the index gave none.",
        "我不知道。",
        "根据现有资料，无法确定试用期的期限。",
        "资料中没有提到这一点。",
        "提供的文档未涉及该问题。",
        "来源不足以回答这个问题。",
        "抱歉，我没有找到相关的信息。",
        "没有找到可以回答这个问题的依据：索引中没有找到相关文字。",
    ],
)
def test_no_statements(sentence: str) -> None:
    assert not states_something(sentence)
