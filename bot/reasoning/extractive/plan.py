"""Planning without a model: a question for several things is cut where its own words part them.

Two kinds are told: several questions in one message, and two or more names that are compared or
listed, each of which then gets the question to itself. Everything else stays whole, because the
loop follows names from page to page by itself. No part needs another.
"""

from __future__ import annotations

import re

from bot.reasoning.extractive.hops import first_queries
from bot.reasoning.graphs import Graph, GraphEdit, NewNode
from bot.reasoning.questions import SubQuestion
from bot.text.lazy_regex import lazy_regex
from bot.text.names import names
from bot.text.sentences import sentences
from bot.text.terms import has_cjk

PARTS = 4  # of one question

# What makes names beside each other different things instead of one title ("Romeo and Juliet").
_COMPARES = lazy_regex(
    r"\b(?:compar\w*|differen\w*|differ|versus|vs\.?|both|either|than|in common|similarit\w*"
    r"|(?:which|who|what)\b.*\bor)\b"
    "|比较|比較|相比|对比|對比|区别|區別|差别|差別|差异|差異|不同|哪个|哪個|哪一|还是|還是|共同|分别|分別",
    re.IGNORECASE,
)
_COMPARING = lazy_regex(  # what says nothing of each of them alone
    r"^\s*(?:please\s+)?compare\s+(?:the\s+)?"
    r"|(?:\bthe\s+)?(?:\b\w+\s+)?\b(?:differences?|similarit\w+|comparison)\s+(?:between|of)\s+"
    "|(?:之间|之間)?(?:有(?:什么|什麼|何|哪些)|的)?(?:区别|區別|差别|差別|差异|差異|不同|共同点|共同點)",
    re.IGNORECASE,
)
_BOTH = lazy_regex(r"\bboth\s+", re.IGNORECASE)
_LEAD_IN = "of "  # a lone capital at the beginning of a text would be no name
_JOINT = lazy_regex(
    r"\s*,?\s*(?:\b(?:and|or|versus|vs\.?|with|than|to)(?!\w)|,|&)\s+(?:the\s+)?", re.I
)
_CJK_PAIR = lazy_regex(
    "(?P<one>[\\w·]{2,12}?)(?:和|与|與|跟|还是|還是|及|以及)(?P<other>[\\w·]{2,12}?)"
    "(?=的|有|在|相|之|谁|誰|哪|，|,|？|\\?|$|分别|分別)"
)
_BEFORE_PAIR = lazy_regex("^(?:请|請)?(?:比较|比較|对比|對比)(?:一下)?")
_LEANS = lazy_regex(  # on the question before it: it cannot be asked alone
    r"\b(?:he|she|it|they|them|his|her|its|their|this|that|these|those|there|then|both|one)\b"
    "|[他她它]|这|那|其|這",
    re.IGNORECASE,
)


def plan(question: SubQuestion, graph: Graph) -> GraphEdit:
    """All parts at once, and never more than at first."""
    if graph.turns:
        return GraphEdit(done=True)
    parts = _questions(question.text) or _compared(question.text) or [question.text]
    nodes = tuple(
        NewNode(chr(ord("a") + at), part, queries=tuple(first_queries(part)))
        for at, part in enumerate(parts[:PARTS])
    )
    return GraphEdit(nodes, done=True)


def _questions(text: str) -> list[str]:
    """The questions of a text of nothing but questions, if each can be asked alone."""
    found = [text[s.start : s.end].strip() for s in sentences(text)]
    asked = [part for part in found if part]
    alone = all(
        part.endswith(("?", "？")) and (not at or not _LEANS.search(part))
        for at, part in enumerate(asked)
    )
    return asked if 1 < len(asked) <= PARTS and alone else []


def _compared(text: str) -> list[str]:
    """The text once for each of the names that it puts beside each other."""
    if not _COMPARES.search(text):
        return []
    bare = _COMPARING.sub("", text)
    if has_cjk(bare):
        return _compared_cjk(bare)
    text = bare if bare[:1] == text[:1] else f"{_LEAD_IN}{bare}"
    series: list[list[tuple[int, int]]] = []  # names that are joined to each other
    for name in names(text, "en"):
        span = (name.start, name.end)
        if series and _JOINT.fullmatch(text[series[-1][-1][1] : span[0]]):
            series[-1].append(span)
        else:
            series.append([span])
    longest = max(series, key=len, default=[])
    if not 1 < len(longest) <= PARTS:
        return []
    start, end = longest[0][0], longest[-1][1]
    cut = (f"{text[:start]}{text[one:other]}{text[end:]}" for one, other in longest)
    return [_BOTH.sub("", part.removeprefix(_LEAD_IN)) for part in cut]


def _compared_cjk(text: str) -> list[str]:
    opening = _BEFORE_PAIR.match(text)
    body = text[opening.end() :] if opening else text
    pair = _CJK_PAIR.search(body)
    if pair is None:
        return []
    before, after = body[: pair.start()], body[pair.end() :]
    return [f"{before}{pair[name]}{after}" for name in ("one", "other")]
