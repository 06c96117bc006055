"""Questions that ask what colleagues said, of whom and of when."""

from __future__ import annotations

from datetime import date

import pytest

from bot.reasoning.extractive.talk import talk_of
from bot.search.provider import ANY_TALK, Talk

TODAY = date(2026, 6, 17)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "talk"),
    [
        ("What did we decide about the move?", Talk(True)),
        ("Who is working on billing?", Talk(True)),
        ("Has anyone seen this error: E1042?", Talk(True)),
        ("What was agreed on since 3 June?", Talk(True, after="2026-06-03")),
        ("What did we discuss after May?", Talk(True, after="2026-06-01")),
        ("What did we decide in December?", Talk(True, "2025-12-01", "2025-12-31")),
        ("What did we decide before 2026-02-01?", Talk(True, before="2026-01-31")),
        ("What did we decide last week?", Talk(True, "2026-06-08", "2026-06-14")),
        ("What did we decide yesterday?", Talk(True, "2026-06-16", "2026-06-16")),
        ("What did we decide on 31 February?", Talk(True)),
        ("What did Ann Lee say about the budget?", Talk(True, people=("Ann Lee",))),
        ("关于搬家，我们决定了什么？", Talk(True)),
        ("有没有人遇到过这个错误？", Talk(True)),
        ("What does lunch cost?", ANY_TALK),
        ("Who wrote Faust?", ANY_TALK),
        ("What did we see?", ANY_TALK),
    ],
)
def test_the_words_of_a_question_tell_what_is_asked_of_conversations(text: str, talk: Talk) -> None:
    assert talk_of(text, TODAY) == talk
