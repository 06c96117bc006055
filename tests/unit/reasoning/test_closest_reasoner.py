"""A message as a question with the words of its thread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.messages import Attachment, Citation, Entry, Transcript
from bot.reasoning.closest_reasoner import LONGEST_QUERY, follows_up, is_small_talk
from bot.reasoning.closest_reasoner import question_of as rewrite
from tests.unit.samples import a_message


def after(*said: str) -> Transcript:
    return Transcript(tuple(Entry("person", "Ada", text) for text in said))


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "hi there",
        "Thanks a lot",
        "Danke schön!",
        "Hallo",
        "你好",
        "谢谢你！",
        "help",
        "?!",
        "謝謝",
    ],
)
def test_small_talk_is_not_searched(text: str) -> None:
    assert is_small_talk(text)
    found = rewrite(Transcript(), a_message(text))
    assert (found.kind, found.reply, found.queries) == ("chat", "", ())


def test_what_was_sent_as_a_correction_is_one_whatever_its_words_are() -> None:
    said = "Seit Mai sind es 45 Tage."
    sent = a_message(said)
    found = rewrite(after("Wie lange?"), replace(sent, corrects_run="r1"))
    assert (found.kind, found.correction, found.queries) == ("chat", said, ())
    assert not rewrite(after("Wie lange?"), sent).correction


def test_the_first_question_asked_again_stands_alone_again() -> None:
    first, other = "Wer ist Quästor?", "Wann schließt das Reisebüro?"
    assert rewrite(after(first, other), a_message(first)).question == first
    assert "Reisebüro" in rewrite(after(other, "?"), a_message(first)).question


def test_a_correction_is_no_topic_of_what_is_asked_later() -> None:
    asked, noted = after("How high is the hotel limit for Rome?", "140 euros since May").entries
    receipt = Entry("footnote", "Footnote", "Noted.", corrects=True)
    answer = Entry("footnote", "Footnote", "130 euros.")
    thread = Transcript((asked, answer, noted, receipt))
    question = rewrite(thread, a_message("And for Berlin?")).question
    assert "hotel limit" in question
    assert "140" not in question
    answered = replace(receipt, cited=(Citation(1, "a", "A", "140.", "h", 0, 4),))
    thread = Transcript((asked, answer, noted, answered))
    assert "140" in rewrite(thread, a_message("And for Berlin?")).question


@pytest.mark.parametrize(
    "text",
    ["Hello, where is the key?", "help pages", "thanks giving day", "你好，钥匙在哪？", "List"],
)
def test_a_question_is_no_small_talk(text: str) -> None:
    assert rewrite(Transcript(), a_message(text)).kind == "search"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Summarize https://example.org/a", True),
        ("What is this about? https://example.org/a", True),
        ("https://example.org/a", True),
        ("总结一下 https://example.org/a", True),
        ("Write a report on https://example.org/a", True),
        ("What does https://example.org/a say about fees?", False),
    ],
)
def test_a_message_about_a_link_reads_it(text: str, whole: bool) -> None:
    found = rewrite(Transcript(), a_message(text))
    assert (found.kind, found.links) == ("links", ("https://example.org/a",))
    assert found.whole is whole


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Summarize this", "links"),
        ("What is this about?", "links"),
        ("Write a report", "links"),
        ("Worum geht es?", "links"),
        ("总结一下", "links"),
        ("Summarize the attached file", "links"),
        ("What is this document about?", "links"),
        ("Worum geht es in dem Dokument?", "links"),
        ("总结附件", "links"),
        ("What is the notice period?", "search"),
    ],
)
def test_a_file_sent_with_a_message_is_read_as_a_whole_if_nothing_else_is_asked(
    text: str, kind: str
) -> None:
    file = Attachment("notes.md", "text/markdown", "upload:1/notes.md")
    found = rewrite(Transcript(), replace(a_message(text), attachments=(file,)))
    assert (found.kind, found.whole) == (kind, kind == "links")


def test_what_a_file_says_about_something_is_asked_of_it_alone() -> None:
    file = Attachment("notes.md", "text/markdown", "upload:1/notes.md")
    asked = replace(a_message("What does it say about deposits?"), attachments=(file,))
    found = rewrite(Transcript(), asked)
    assert (found.kind, found.links, found.whole) == ("links", (file.url,), False)


def test_a_question_with_a_file_asks_the_file_first() -> None:
    file = Attachment("notes.md", "text/markdown", "upload:1/notes.md")
    found = rewrite(Transcript(), replace(a_message("What is the fee?"), attachments=(file,)))
    assert (found.kind, found.first) == ("search", (file.url,))


def test_a_question_beyond_a_link_is_searched_too() -> None:
    text = "Does https://example.org/a agree with what the Oslo harbour office charges for ferries?"
    found = rewrite(Transcript(), a_message(text))
    assert (found.kind, found.links) == ("search", ("https://example.org/a",))
    assert found.first == found.links


@pytest.mark.parametrize("text", ["Summarize that page", "summarize it", "总结这篇文章"])
def test_a_page_of_before_can_be_pointed_at(text: str) -> None:
    thread = after("See https://example.org/a", "and https://example.org/b")
    assert rewrite(thread, a_message(text)).links == ("https://example.org/b",)


def test_queries_are_short_and_have_the_names() -> None:
    found = rewrite(Transcript(), a_message("When did Ingrid Dahl build it? " + "x " * 400))
    assert all(len(query) <= LONGEST_QUERY for query in found.queries)
    assert "Ingrid Dahl" in found.queries


# ---------------------------------------------------------------- follow-ups

TYRE = "What does a tyre change for the Boreal X cost?"
REIFEN = "Was kostet ein Reifenwechsel für den Boreal X?"
LUNTAI = "Boreal X 换轮胎多少钱？"


@pytest.mark.parametrize(
    ("thread", "text", "kept", "dropped"),
    [
        ([TYRE], "and for the Cetus Mini?", "tyre change", "Boreal"),
        ([TYRE], "What about the Cetus Mini?", "tyre change", "Boreal"),
        ([REIFEN], "Und für den Cetus Mini?", "Reifenwechsel", "Boreal"),
        ([LUNTAI], "Cetus Mini 呢？", "换轮胎", "Boreal"),
        ([TYRE], "How long does it take?", "Boreal", ""),
        ([TYRE], "And in winter?", "Boreal", ""),
        ([TYRE, "How long does it take?"], "Who pays?", "Boreal", ""),
        (["Wie lange dauert die Probezeit?"], "Und in Frankreich?", "Probezeit", ""),
        (["Combien coûte le parking de Lyon ?"], "Et le dimanche ?", "parking", ""),
        (["List the fees of the harbour", "And for ferries?"], "since when?", "harbour", ""),
    ],
)
def test_a_follow_up_carries_the_topic_of_its_thread(
    thread: list[str], text: str, kept: str, dropped: str
) -> None:
    question = rewrite(after(*thread), a_message(text)).question
    assert question.endswith(text)
    assert kept in question
    assert not dropped or dropped not in question


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Who invented the zeppelin?", "Who invented the zeppelin?"),
        ("And for children?", ""),
        ("Who made it?", ""),
        ("How long does the winter in Oslo last?", ""),
    ],
)
def test_what_has_the_topic_for_being_short_alone_keeps_its_own_words(text: str, own: str) -> None:
    assert rewrite(after(TYRE), a_message(text)).own == own
    assert rewrite(Transcript(), a_message(text)).own == ""


@pytest.mark.parametrize("word", ["Wie", "Combien", "List", "Hello", "Was", "When"])
def test_the_first_word_of_a_sentence_is_no_name_that_another_replaces(word: str) -> None:
    thread = after(f"{word} harbour fees of Oslo?")
    assert "harbour fees" in rewrite(thread, a_message("And of Bergen?")).question
    assert "Oslo" not in rewrite(thread, a_message("And of Bergen?")).question


@pytest.mark.parametrize(
    "text",
    [
        "Where is the office of the harbour master in Bergen?",
        "How many vacation days do new employees get in their first year?",
        "弗罗姆在哪个国家？",
    ],
)
def test_a_message_that_says_what_it_is_about_stays_as_it_is(text: str) -> None:
    thread = after(TYRE)
    if "their" not in text:
        assert rewrite(thread, a_message(text)).question == text
    assert rewrite(Transcript(), a_message(text)).question == text


def test_greetings_in_a_thread_are_no_topic() -> None:
    assert "Hello" not in rewrite(after("Hello!", TYRE, "Thanks!"), a_message("and why?")).question


# ---------------------------------------------------------------- people who talk to each other


ANSWERED = (
    Entry("person", "Mia", "How tall is the tower?"),
    Entry("footnote", "Footnote", "330 m."),
)


@pytest.mark.parametrize(
    ("text", "alone", "after_talk"),
    [
        ("And in the US?", True, True),
        ("opening hours", True, False),
        ("Öffnungszeiten", True, False),
        ("开放时间", True, False),
        ("thanks! how old is it?", True, True),
        ("that's wrong, it is 324 m", True, True),
        ("show me the sentence", True, True),
        ("nenn mir die Quelle", True, True),
        ("多少层？", True, True),
        ("do we need tickets?", True, True),
        ("do you have the tickets?", False, False),
        ("thanks!", False, False),
        ("lunch at 12?", False, False),
        ("what a view", False, False),
        ("wann fährst du?", False, False),
        ("你去吗？", False, False),
        ("https://example.org/deck", False, False),
        ("👍", False, False),
    ],
)
def test_a_follow_up_is_told_from_talk(text: str, alone: bool, after_talk: bool) -> None:
    talk = Entry("person", "Tom", "nice")
    message = replace(a_message(text), unaddressed=True)
    assert follows_up(Transcript(ANSWERED), message) is alone
    assert follows_up(Transcript((*ANSWERED, talk)), message) is after_talk
    assert rewrite(Transcript(ANSWERED), message).for_us is alone


def test_what_was_not_answered_is_no_topic() -> None:
    thread = Transcript((*ANSWERED, Entry("person", "Tom", "Who ordered pizza funghi?")))
    assert "pizza" not in rewrite(thread, a_message("And how old is it?")).question
    before = Transcript(thread.entries[2:] + thread.entries[:2])
    assert "pizza" in rewrite(before, a_message("And how old is it?")).question
