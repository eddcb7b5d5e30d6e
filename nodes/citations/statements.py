"""Which sentences of an answer state something, and so should cite a source."""

from __future__ import annotations

import re

from ragweave.nodes.citations.source_lists import is_label
from ragweave.state.text import BULLET

_HEADING = re.compile(r"#{1,6}\s|.+\n\s*([=\-~^*])\1{2,}\s*$|\*\*[^*]*[^*.!?。！？]\*\*[:：]?$")
_CODE = re.compile(r"```|~~~")
_TABLE_RULE = re.compile(r"\|?[\s:|\-]+\|?$")
_QUESTION = re.compile(r"[?？][\"'”’」』)）*_]*$")
_LEAD_IN = re.compile(r"[:：][*_\s]*$")
_WORD = re.compile(r"[^\W_]")

_SOURCES = (
    r"(?:(?:the|these|those|any\s+of\s+the|provided|given|available|retrieved|cited|supplied|above"
    r"|search)\s+)*(?:sources?|documents?|passages?|context|texts?|excerpts?|materials?|information"
    r"|evidence|results?|references?)(?:\s+(?:provided|given|available))?"
)
_TELL = (
    r"(?:mention|sa(?:y|id)|state|contain|provide|answer|include|specify|address|discuss|cover|give"
    r"|indicate|explain|describe|offer|define|list|tell|show|identify|name|reveal|clarify|detail)"
)
_ENGLISH_REFUSAL = re.compile(
    rf"""\b(?:
    i\s+(?:do\s+not|don['’]t|cannot|can['’]t|could\s+not|couldn['’]t|am\s+(?:not\s+able|unable)\s+to)
      \s+(?:know|find|answer|say|tell|determine|confirm|provide|see)
    |i['’]m\s+(?:sorry|not\s+(?:able|sure)|unable)
    |{_SOURCES}\s+(?:(?:do|does|did)\s+not|(?:do|does|did)n['’]t|cannot|never)\s+(?:\w+\s+)?{_TELL}
    |{_SOURCES}\s+(?:{_TELL}s?\s+(?:nothing|no)|ha(?:s|ve)\s+no(?:thing)?|lacks?)\b
    |(?:none|neither|nothing)\s+(?:of|in|from|among)\s+{_SOURCES}
    |(?:not|never|n['’]t)\s+(?:be\s+)?(?:\w+ed|found|given)\s+(?:in|by|from)\s+{_SOURCES}
    |no\s+(?:\w+\s+){{0,2}}?(?:evidence|information|mention|passage|sources?|documents?|answers?)
      \b[^.]{{0,60}}?\b(?:found|available|given|provided|in\s+{_SOURCES}|about|on|of|that)\b
    |(?:insufficient|not\s+enough)\s+(?:evidence|information|context)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_CHINESE_SOURCES = (
    r"(?:资料|来源|上下文|文献|片段|段落|检索结果|搜索结果|语料"
    r"|(?:提供|给出|现有|上述|以上|检索到|参考)的?(?:文档|文件|文本|内容|信息|材料|文字))"
)
_CHINESE_TELL = r"(?:提到|提及|说明|涉及|包含|给出|提供|找到|明确|直接|回答|记载|指出|显示|介绍)"
_CHINESE_REFUSAL = re.compile(
    r"(?:^|[，。；]|我|因此|所以|目前|暂时)(?:不知道|无法(?:回答|确定|得知|判断|从|根据|提供|确认)"
    r"|不能(?:回答|确定|判断))"
    rf"|{_CHINESE_SOURCES}[^，。]{{0,12}}?(?:(?:没有|未|并未|未曾|没)[^，。]{{0,4}}?{_CHINESE_TELL}"
    r"|不足|不包含|无法|不能|缺乏|缺少|没有相关)"
    r"|(?:没有|未能?|并未|没)(?:能够?)?(?:找到|检索到|查到|搜索到|发现)[^。]{0,24}?"
    r"(?:资料|文档|信息|答案|依据|证据|内容|文字|段落|来源|结果|说明)"
)
_COURTESY = re.compile(
    r"""(?:(?:hi|hello|hey|dear|thanks?|thank\s+you|you['’]re\s+welcome|sure|certainly|of\s+course
    |absolutely|great\s+question|good\s+question|okay|ok)\b[^.]{0,60}[.!,]*
    |(?:i\s+)?hope\s+(?:this|that|it)\b.*
    |(?:please\s+)?(?:let\s+me\s+know|feel\s+free)\b.*
    |if\s+you\s+(?:have|need|would\s+like|want)\b.*(?:ask|know|help|questions?|details?).*
    |(?:here|below)\s+(?:is|are|'s)\b.*
    |(?:based\s+on|according\s+to)\s+[^,.]{0,60}[,.:]?
    |(?:yes|no|true|false|correct|yep|nope|indeed)
    |in\s+(?:summary|conclusion|short)|to\s+summari[sz]e|overall
    |您好|你好|谢谢|感谢|好的|当然|没问题|是的?|不是|否|对|不对|可以|不可以|正确|错误
    |(?:希望|如果|若|如有)[^。]{0,30}(?:帮助|疑问|问题|告诉我|联系|提问|询问)[^。]{0,20}
    |(?:以下|下面|如下)(?:是|为)?[^。]{0,20}
    |(?:综上|总之|总的来说|综上所述|总结)
    )[\s.!,:;。！，：；~]*""",
    re.IGNORECASE | re.VERBOSE,
)


def states_something(sentence: str) -> bool:
    """Whether a sentence, markers taken out, makes a statement that a source could support.

    Headings, questions, lead-ins ending with a colon, code, rules of tables, courtesies, a bare yes
    or no, and saying that one does not know or that the sources do not say, are no statements.
    """
    text = sentence.strip()
    if _CODE.match(text) or _HEADING.match(text) or _TABLE_RULE.match(text) or is_label(text):
        return False
    text = unmarked(text)
    if not _WORD.search(text):
        return False
    if _QUESTION.search(text) or is_lead_in(text) or _HEADING.match(text):
        return False
    return not (_COURTESY.fullmatch(text) or is_refusal(text))


def is_lead_in(sentence: str) -> bool:
    """Whether a sentence only announces what follows it."""
    return _LEAD_IN.search(sentence) is not None


def is_refusal(sentence: str) -> bool:
    """Whether a sentence says that the answer is not known or not in the sources."""
    return bool(_ENGLISH_REFUSAL.search(sentence) or _CHINESE_REFUSAL.search(sentence))


def unmarked(sentence: str) -> str:
    """A sentence without the bullet or number of its list item, and without emphasis around it."""
    bullet = BULLET.match(sentence)
    return sentence[bullet.end() if bullet else 0 :].strip(" \t*_>")
