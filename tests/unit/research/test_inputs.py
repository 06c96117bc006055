"""Long messages: their ends are the question, and the whole is a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.messages import UPLOADED, Entry, Transcript
from bot.research.run import LONGEST, OMISSION, whole_text, without_middle, without_middles
from tests.unit.samples import a_message


@pytest.mark.parametrize("length", [0, 1, LONGEST - 1, LONGEST])
def test_a_text_of_ordinary_length_stays(length: int) -> None:
    text = "x" * length
    assert without_middle(text) == text
    assert whole_text(a_message(text)) is None


def test_of_a_long_text_both_ends_stay() -> None:
    text = f"What does it cost? {'word ' * 4_000} Answer in one sentence."
    short = without_middle(text)
    assert len(short) == LONGEST + len(OMISSION)
    assert short.startswith("What does it cost?")
    assert short.endswith("Answer in one sentence.")


def test_a_long_message_is_a_file_whose_address_is_its_content() -> None:
    message = a_message("word " * 4_000)
    file = whole_text(message)
    assert file is not None
    assert file.url.startswith(UPLOADED)
    assert whole_text(replace(message, event_id="other")) == file
    assert whole_text(replace(message, text=message.text + "!")) != file


def test_only_what_people_wrote_in_a_thread_is_shortened() -> None:
    long = "word " * 4_000
    transcript = Transcript((Entry("person", "Ada", long), Entry("footnote", "Footnote", long)))
    asked, answered = without_middles(transcript).entries
    assert len(asked.text) == LONGEST + len(OMISSION)
    assert answered.text == long
