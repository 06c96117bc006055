"""Messages about answers of the thread: which footnotes they mean, and which need no model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.answers import Citation
from bot.core.messages import Attachment, Entry, Transcript
from bot.reasoning.closest_reasoner import question_of as rewrite
from bot.reasoning.evidence import Rewritten
from bot.reasoning.wording import pages_of, recalled, source_numbers, with_numbers, without_sources
from tests.fakes.claude import says
from tests.fakes.claude_stage import OpenStage
from tests.unit.samples import a_message


def footnote(number: int, name: str, quote: str = "A quote.") -> Citation:
    return Citation(number, f"https://{name}.example/", f"{name} on bridges", quote, "h", 0, 8)


def answered(question: str, *cited: Citation) -> tuple[Entry, Entry]:
    return (
        Entry("person", "Ada", question),
        Entry("footnote", "Footnote", f"{question} Yes [1].", (), question, cited),
    )


KELLER, BAUER, ADLER = footnote(1, "keller"), footnote(3, "bauer"), footnote(3, "bauer", "Another.")
ZIMMER, WEBER = footnote(1, "zimmer"), footnote(2, "weber")
THREAD = Transcript(
    (
        *answered("When did it open?", KELLER, BAUER, ADLER),
        *answered("What did it cost?", ZIMMER, WEBER),
        Entry("person", "Bob", "Thanks!"),
        Entry("footnote", "Footnote", "You're welcome!", (), "Thanks!"),
    )
)


def meant(text: str, thread: Transcript = THREAD) -> Rewritten | None:
    return recalled(thread, a_message(text), "en")


@pytest.mark.parametrize(
    ("text", "kind", "whole", "page"),
    [
        ("What was source 2?", "sources", False, WEBER),
        ("what was the first source?", "sources", False, ZIMMER),  # the latest that has the number
        ("What is [3]?", "sources", False, BAUER),  # only an earlier one has it
        ("and source 3?", "sources", False, BAUER),
        ("the second source", "sources", False, WEBER),
        ("was war Quelle 2?", "sources", False, WEBER),
        ("来源3是什么？", "sources", False, BAUER),
        ("第一个来源是什么？", "sources", False, ZIMMER),
        ("What does [2] say about the cost?", "links", False, WEBER),
        ("what does source 3 say?", "links", True, BAUER),
        ("Summarize the first source", "links", True, ZIMMER),
        ("what does the Keller page say about the cost?", "links", False, KELLER),
        ("summarize the bauer.example article", "links", True, BAUER),
        ("总结来源2", "links", True, WEBER),
    ],
)
def test_a_source_is_known_by_number_title_or_host(
    text: str, kind: str, whole: bool, page: Citation
) -> None:
    taken = meant(text)
    assert taken is not None
    assert (taken.kind, taken.whole) == (kind, whole)
    assert pages_of(taken.recalled) == (page.url,)
    assert taken.queries == ()
    if kind == "links":
        assert taken.links == (page.url,)
        assert whole or page.title in taken.question


def test_all_footnotes_onto_the_page_come_with_it() -> None:
    [answer] = with_numbers(THREAD, [3])
    assert answer.cited == (BAUER, ADLER)


def test_an_answer_that_only_named_a_source_lends_its_number_to_no_question() -> None:
    named = answered("What was source 2?", footnote(1, "weber"))
    [answer] = with_numbers(Transcript((*THREAD.entries, *named)), [1])
    assert answer.cited == (ZIMMER,)


def test_the_sources_without_a_number_are_those_of_the_last_answer_that_has_some() -> None:
    taken = meant("what were your sources?")
    assert taken is not None
    assert pages_of(taken.recalled) == (ZIMMER.url, WEBER.url)


def test_a_number_that_no_answer_has_is_said_to_be_none() -> None:
    taken = meant("What was source 7?")
    assert taken is not None
    assert (taken.kind, taken.recalled) == ("chat", ())
    assert "no answer" in taken.reply.lower()
    assert "7" in taken.reply


@pytest.mark.parametrize(
    "text",
    [
        "Summarize this conversation",
        "Could you sum up our discussion so far, please?",
        "What did we find out so far?",
        "what have we learned?",
        "tl;dr of this thread",
        "Recap please",
        "总结一下这次对话",
        "我们到目前为止发现了什么？",
        "到目前为止我们找到了哪些信息？",
        "Fass dieses Gespräch bitte zusammen.",
        "Kannst du den Thread zusammenfassen?",
        "Was haben wir bisher herausgefunden?",
    ],
)
def test_the_conversation_is_summed_up_from_all_its_answers(text: str) -> None:
    taken = meant(text)
    assert taken is not None
    assert taken.kind == "thread"
    assert pages_of(taken.recalled) == (KELLER.url, BAUER.url, ZIMMER.url, WEBER.url)
    assert "When did it open?" in taken.earlier
    assert "What did it cost?" in taken.earlier


def test_answers_that_only_retold_others_are_not_told_again() -> None:
    retold = (*answered("What was source 2?", WEBER), *answered("recap", KELLER))
    taken = meant("recap", Transcript((*THREAD.entries, *retold)))
    assert taken is not None
    assert [answer.question for answer in taken.recalled] == [
        "When did it open?",
        "What did it cost?",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "What is the source of the Nile?",
        "What is the second source of income of farmers?",
        "How does [2] compare with what the WHO says?",
        "What does source 2 say about its cost?",  # whose cost it is, is for a model to say
        "Is source 2 still up to date?",
        "How do I print the bridges page?",
        "What did we find out about tolls so far?",
        "Summarize this",
        "What does the Baumann page say about the cost?",
        "Who opened it?",
    ],
)
def test_what_asks_for_more_is_left_to_a_model(text: str) -> None:
    assert meant(text) is None


def test_nothing_is_recalled_without_answers_or_beside_a_new_file() -> None:
    assert meant("What was source 1?", Transcript(THREAD.entries[4:])) is None
    file = Attachment("plan.pdf", "application/pdf", "https://e.org/plan.pdf")
    message = a_message("Summarize this conversation")
    assert recalled(THREAD, replace(message, attachments=(file,)), "en") is None
    before = replace(file, again=True)
    assert recalled(THREAD, replace(message, attachments=(before,)), "en") is not None


def test_without_a_model_a_page_that_is_only_mentioned_is_no_source() -> None:
    assert rewrite(THREAD, a_message("How do I print the bridges page?")).kind == "search"


async def test_a_model_is_not_asked_what_a_plain_message_means(stage: OpenStage) -> None:
    on = stage([])
    for text in ("What was source 2?", "What does [3] say about tolls?", "recap"):
        assert (await on.claude.rewrite(THREAD, a_message(text))).recalled
    assert on.fake.requests == []


@pytest.mark.parametrize(
    ("reply", "kind", "pages"),
    [
        ('{"kind":"links","sources":[3]}', "links", (BAUER,)),
        ('{"kind":"links","links":["Keller on bridges"]}', "links", (KELLER,)),
        ('{"kind":"sources","sources":[2]}', "sources", (WEBER,)),
        ('{"kind":"sources"}', "sources", (ZIMMER, WEBER)),
        ('{"kind":"thread"}', "thread", (KELLER, BAUER, ZIMMER, WEBER)),
    ],
)
async def test_a_model_may_find_it_meant_in_other_words(
    stage: OpenStage, reply: str, kind: str, pages: tuple[Citation, ...]
) -> None:
    on = stage([says(reply)])
    taken = await on.claude.rewrite(THREAD, a_message("Hm, and that one, once more?"))
    assert taken.kind == kind
    assert pages_of(taken.recalled) == tuple(page.url for page in pages)


async def test_without_answers_there_is_nothing_a_model_could_mean(stage: OpenStage) -> None:
    on = stage([says('{"kind":"thread"}'), says('{"kind":"sources","sources":[1]}')])
    for _ in range(2):
        taken = await on.claude.rewrite(Transcript(), a_message("Where do we stand here?"))
        assert (taken.kind, taken.recalled) == ("search", ())


async def test_sources_of_answers_that_are_too_old_to_be_shown_are_listed(
    stage: OpenStage,
) -> None:
    on = stage([says('{"kind":"search","queries":["toll"]}')])
    chatter = tuple(Entry("person", "Ada", f"Remark {number}.") for number in range(20))
    await on.claude.rewrite(Transcript((*THREAD.entries, *chatter)), a_message("Who pays there?"))
    sent = on.fake.calls[0]["messages"][0]["content"]
    listed = sent.partition("<older_sources>")[2].partition("</older_sources>")[0]
    assert "[3] bauer on bridges (bauer.example)" in listed
    assert listed.index("zimmer") < listed.index("keller")  # the latest first


_SPEECH = st.lists(
    st.sampled_from(
        ["source", "sources", "the first", "Quelle", "来源", "第", "个", "[", "]", " ", "12", "一"]
    )
)


@given(st.one_of(st.text(max_size=200), _SPEECH.map("".join)))
def test_each_source_spoken_of_has_a_number(text: str) -> None:
    numbers = source_numbers(text)
    spoken_of = without_sources(text, "\0").count("\0") - text.count("\0")
    assert len(numbers) == spoken_of
    assert all(number >= 0 for number in numbers)


def test_a_summary_tells_also_what_was_looked_for_in_vain() -> None:
    vain = (
        Entry("person", "Ada", "Who painted it?"),
        Entry("footnote", "Footnote", "Who painted it was not found.", (), "Who painted it?"),
    )
    taken = meant("Summarize this conversation", Transcript((*THREAD.entries, *vain)))
    assert taken is not None
    assert taken.earlier.endswith("Who painted it?\nWho painted it was not found.")
    assert "welcome" not in taken.earlier
    assert pages_of(taken.recalled) == pages_of(list(THREAD.entries))
