"""Telling "stop" from a question about stopping."""

from __future__ import annotations

import pytest

from bot.service.reception import is_stop_word


@pytest.mark.parametrize(
    "text",
    ["stop", "Stop!", " STOP. ", "please stop", "never mind…", "停", "停止。", "请停止", "取消！"],
)
def test_a_message_that_only_asks_to_stop(text: str) -> None:
    assert is_stop_word(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "stop words in English?",
        "Where does the bus stop?",
        "停止线是什么",
        "don't stop",
        "s t o p",
    ],
)
def test_any_other_message(text: str) -> None:
    assert not is_stop_word(text)
