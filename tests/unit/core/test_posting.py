"""Files that come with messages."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.core.errors import PageUnreadable
from bot.core.messages import Attachment
from bot.core.posting import collect

FILE = Attachment("notes.md", "text/markdown", "https://example.org/notes.md")


@pytest.mark.parametrize("parts", [[], [b"Tower"], [b"To", b"", b"wer"]])
async def test_a_file_within_the_limit_is_whole(parts: list[bytes]) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    assert await collect(chunks(), FILE, 5) == b"".join(parts)


async def test_of_a_larger_file_no_more_is_taken_than_it_takes_to_know() -> None:
    taken = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"word"

    with pytest.raises(PageUnreadable, match=r"notes\.md is larger than 9 bytes"):
        await collect(chunks(), FILE, 9)
    assert taken == 3
