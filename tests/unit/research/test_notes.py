"""What an answer says of its own run."""

from __future__ import annotations

import pytest

from bot.messages import Attachment
from bot.pages.urls import shown
from bot.rendering.texts import texts_for
from bot.research.notes import Notes

LINK = "https://example.org/a"
LONG = f"https://example.org/{'a' * 200}"
FILE = "https://files.example/1"
ATTACHMENTS = {FILE: Attachment("notes.pdf", "application/pdf", FILE)}


@pytest.mark.parametrize(
    ("url", "reason", "note"),
    [
        (LINK, f"{LINK} is empty.", f"I could not read {LINK}: it is empty."),
        (LONG, f"{shown(LONG)} is empty.", f"I could not read {LONG}: it is empty."),
        (
            LINK,
            f"The address {LINK} cannot be read: it leads to this machine.",
            f"I could not read {LINK}: it leads to this machine.",
        ),
        (LINK, f"{LINK}/b is empty.", f"I could not read {LINK}: {LINK}/b is empty."),
        (LINK, "Try again.", f"I could not read {LINK}: Try again."),
        (FILE, "notes.pdf is empty.", "I could not read the file notes.pdf: it is empty."),
    ],
)
def test_what_could_not_be_read_is_named_once(url: str, reason: str, note: str) -> None:
    notes = Notes(texts_for("en"), ATTACHMENTS)
    assert notes.unread(url, reason) == note
    assert list(notes) == [note]


def test_it_is_named_once_in_chinese_too() -> None:
    note = Notes(texts_for("zh-Hans"), {}).unread(LINK, f"{LINK} is empty.")
    assert note.count(LINK) == 1
