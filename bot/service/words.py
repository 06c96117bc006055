"""Messages to Footnote that are not questions, such as "stop"."""

from __future__ import annotations

import unicodedata

_STOP = frozenset(
    [
        *("stop", "stop it", "please stop", "stop please", "cancel", "abort", "halt", "enough"),
        *("never mind", "nevermind", "停", "停止", "停下", "停一下", "请停止", "請停止", "取消"),
        *("中止", "够了", "夠了", "不用了", "算了"),
    ]
)
_YES = frozenset(["yes", "yes please", "是", "是的", "确认", "確認", "好"])
_LONGEST = max(len(word) for word in _STOP)


def is_stop_word(text: str) -> bool:
    """Return True if the whole message only asks to stop."""
    return _bare(text) in _STOP


def is_yes(text: str) -> bool:
    """Return True if the whole message only agrees."""
    return _bare(text) in _YES


def _bare(text: str) -> str:
    """Return a short text without punctuation and case; "" for a longer one."""
    said = text.strip()
    if len(said) > _LONGEST + 8:
        return ""
    bare = "".join(char for char in said if unicodedata.category(char)[0] not in "PSC")
    return " ".join(bare.casefold().split())
