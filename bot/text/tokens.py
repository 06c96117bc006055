"""Estimates how many tokens a text takes, without a tokenizer."""

from __future__ import annotations

import re

CHARACTERS_PER_TOKEN = 4  # of Latin text: Anthropic's own rule of thumb for English
_WIDE = re.compile(
    "[\u1100-\u11ff\u3000-\u30ff\u3105-\u9fff\uac00-\ud7a3\uf900-\uffef\U00020000-\U0003ffff]"
)
_OTHER = re.compile("[\u0250-\u10ff\u1200-\u2fff]")


def estimate(text: str) -> int:
    """The approximate number of tokens: 1 per 4 Latin characters, 1 per CJK character.

    Other scripts (Cyrillic, Arabic, Devanagari) count 1 per 2 characters. Never 0 for a non-empty
    text.
    """
    if text.isascii():
        return -(-len(text) // CHARACTERS_PER_TOKEN)
    wide = len(_WIDE.findall(text))
    other = len(_OTHER.findall(text))
    return wide + -(-other // 2) + -(-(len(text) - wide - other) // CHARACTERS_PER_TOKEN)
