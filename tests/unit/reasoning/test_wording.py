"""What the words of a message say: plain questions, corrections, earlier answers, repeats."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.messages import Attachment, Citation, Entry, Transcript
from bot.reasoning.closest_reasoner import question_of as rewrite
from bot.reasoning.evidence import Rewritten
from bot.reasoning.graphs import Graph, GraphEdit, NewNode, asks_the_same, edited
from bot.reasoning.wording import (
    LONGEST,
    correction_in,
    is_taken,
    pages_of,
    plain_question,
    recalled,
    source_numbers,
    with_numbers,
    without_sources,
)
from tests.fakes.claude import says
from tests.fakes.claude_stage import OpenStage
from tests.unit.samples import a_message

PLAIN = [
    "When did the Forth Bridge open?",
    "Who was the architect of the Eiffel Tower?",
    "In which city was the band AC/DC formed?",
    "How many people live in the county where Oslo Airport is located?",
    "What is throat cancer?",
    "The Forth Bridge is painted in what colour?",
    "The Firth of Forth is an inlet of which sea?",
    "What is the capital of this country that held the Olympics of 1952?",  # leads nowhere else
    "The Forth Bridge is owned by which company ?",
    "福斯桥是什么时候开通的？",
    "这座桥是哪一年开通的？",
]
TO_JUDGE = [
    "When did it open?",
    "Who is our data protection officer?",
    "What can you do?",
    "What is the latest version of Python?",
    "What are the differences between a crocodile and an alligator?",
    "Which is taller, the Eiffel Tower or the Shard? And which is older?",
    "Which bridges open this year?",
    "这周有哪些新闻？",
    "Tell me about the Forth Bridge.",
    "Forth Bridge opening date",
    "Is the Forth Bridge red?",  # may be a small thing or a large one
    "Is Oslo the city in which Henrik Ibsen died?",
    "Oslo is the city in which Henrik Ibsen died?",
    "List by what routes Oslo Airport is reached?",
    "Why?",
    "What does https://example.org/bridge say about trains?",
    "What's new on docs.python.org about generics this week?",
    "Write a report on the Forth Bridge?",
    "Wann wurde die Brücke eröffnet?",
    "What is `x`\nin this code?",
    "我们什么时候放假？",
    "",
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_question_that_says_it_all_is_taken_word_for_word(text: str) -> None:
    taken = plain_question(Transcript(), a_message(text))
    assert taken is not None
    assert (taken.kind, taken.question, taken.depth) == ("search", text, "standard")
    assert taken.queries


@pytest.mark.parametrize("text", TO_JUDGE)
def test_what_leaves_something_to_judge_is_not(text: str) -> None:
    assert plain_question(Transcript(), a_message(text)) is None


@pytest.mark.parametrize("text", PLAIN)
def test_nor_is_anything_that_comes_with_more_than_its_words(text: str) -> None:
    message = a_message(text)
    thread = Transcript((Entry("person", "Ada", "We talk about bridges."),))
    file = Attachment("plan.pdf", "x/pdf", "")
    assert plain_question(thread, message) is None
    assert plain_question(Transcript(), replace(message, attachments=(file,))) is None
    assert plain_question(Transcript(), message, "Answer in French.") is None
    long = a_message(text[:-1] + " really" * LONGEST + text[-1])
    assert plain_question(Transcript(), long) is None


async def test_no_model_is_asked_for_it(stage: OpenStage) -> None:
    on = stage([])
    rewritten = await on.claude.rewrite(Transcript(), a_message(PLAIN[0]))
    assert rewritten.question == PLAIN[0]
    assert on.fake.requests == []


@pytest.mark.parametrize(
    ("text", "question", "taken"),
    [
        ("No, I meant the office: when does it open?", "When does the office open?", True),
        ("不，我是说办公室：什么时候开门？", "办公室什么时候开门？", True),
        ("No, I meant the office: when does it open?", "When does the Munich office open?", False),
        ("When does the office in Leith open?", "When does the office open?", False),
        ("I want to know when the office in Leith opens", "When does the office open?", False),
    ],
)
def test_what_was_meant_is_asked_without_what_it_answers(
    text: str, question: str, taken: bool
) -> None:
    before = Transcript((Entry("person", "Ann", "Tell me about trains"),))
    assert is_taken(before, a_message(text), question) is taken


@pytest.mark.parametrize(
    ("question", "taken"),
    [
        ("What does the error E4711 mean?", True),
        ("What does this mistake mean?", False),  # its words are in no picture
        ("What does this error mean?", False),
    ],
)
def test_words_of_a_picture_make_a_rewording_better(question: str, taken: bool) -> None:
    picture = Attachment("a.png", "image/png", "a", shows="Fatal error E4711")
    message = replace(a_message("What does this error mean?"), attachments=(picture,))
    assert is_taken(Transcript(), message, question) is taken


@pytest.mark.parametrize(
    "questions",
    [
        [
            "When was Marie Curie born?",
            "Where was Marie Curie born?",
            "Why was Marie Curie born?",
            "How was Marie Curie born?",
            "When and where was Marie Curie born?",
        ],
        ["Who founded Oslo?", "When was Oslo founded?", "Who founded Oslo, and when?"],
        [
            "What did Dune sell?",
            "How many did Dune sell?",
            "Where did Dune sell?",
            "How often did Dune sell?",
        ],
        [
            "居里夫人何时出生？",
            "居里夫人在哪里出生？",
            "居里夫人为什么出生？",
            "居里夫人何时何地出生？",
        ],
        ["谁导演了泰坦尼克号？", "什么时候导演了泰坦尼克号？", "多少导演了泰坦尼克号？"],
    ],
)
def test_who_when_where_and_why_are_different_questions(questions: list[str]) -> None:
    for one, other in combinations(questions, 2):
        assert not asks_the_same(one, other), (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("When was Marie Curie born?", "when was marie curie born"),
        ("Where and when was Marie Curie born?", "When and where was Marie Curie born?"),
        ("居里夫人何时出生？", "居里夫人何时出生"),
    ],
)
def test_the_same_words_are_no_other_question(one: str, other: str) -> None:
    assert asks_the_same(one, other)


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "When and where was Marie Curie born?",
            ["When was Marie Curie born?", "Where was Marie Curie born?"],
        ),
        ("Who founded Oslo, and when?", ["Who founded Oslo?", "When was Oslo founded?"]),
        ("居里夫人何时何地出生？", ["居里夫人什么时候出生？", "居里夫人在哪里出生？"]),
    ],
)
def test_a_question_for_two_things_may_be_cut_into_both(asked: str, parts: list[str]) -> None:
    nodes = tuple(NewNode(f"n{at}", part) for at, part in enumerate(parts))
    graph = edited(asked, Graph(), GraphEdit(nodes, done=True))
    assert [node.question for node in graph.nodes] == parts
    again = edited(asked, graph, GraphEdit((NewNode("x", asked), NewNode("y", parts[0]))))
    first, second = again.turns[-1].refused
    assert "it asks the whole question again" in first
    assert "it asks the same as n0" in second


def footnote(number: int, name: str, quote: str = "A quote.") -> Citation:
    return Citation(number, f"https://{name}.example/", f"{name} on bridges", quote, "h", 0, 8)


def answered(question: str, *cited: Citation) -> tuple[Entry, Entry]:
    return (
        Entry("person", "Ada", question),
        Entry("footnote", "Footnote", f"{question} Yes [1].", question, cited),
    )


KELLER, BAUER, ADLER = footnote(1, "keller"), footnote(3, "bauer"), footnote(3, "bauer", "Another.")
ZIMMER, WEBER = footnote(1, "zimmer"), footnote(2, "weber")
THREAD = Transcript(
    (
        *answered("When did it open?", KELLER, BAUER, ADLER),
        *answered("What did it cost?", ZIMMER, WEBER),
        Entry("person", "Bob", "Thanks!"),
        Entry("footnote", "Footnote", "You're welcome!", "Thanks!"),
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
        Entry("footnote", "Footnote", "Who painted it was not found.", "Who painted it?"),
    )
    taken = meant("Summarize this conversation", Transcript((*THREAD.entries, *vain)))
    assert taken is not None
    assert taken.earlier.endswith("Who painted it?\nWho painted it was not found.")
    assert "welcome" not in taken.earlier
    assert pages_of(taken.recalled) == pages_of(list(THREAD.entries))


STORED = "https://e.example/tower"
ADDRESSES = (
    "http://evil.example/?d=SECRET",
    "https://evil.example/SECRET",
    "evil.example/?d=SECRET",
    "https://SECRET.evil.example/",
    "SECRET.evil.com",
    "http://evil.example/%53%45%43%52%45%54",
    "https://xn--secret-bza.example/SECRET",
    "https://sécret.example/",
    "http://evil.example:8080/a;SECRET#SECRET",
    "HTTP://EVIL.EXAMPLE/SECRET",
    f"{STORED}/SECRET",
    f"{STORED}?d=SECRET",
)
PLACES: dict[str, Callable[[str], Entry]] = {
    "as words": lambda url: said(f"More is at {url}."),
    "as code": lambda url: said(f"More is at `{url}`."),
    "in a block of code": lambda url: said(f"```\ncurl {url}\n```"),
    "in quoted text": lambda url: said(f"The page says:\n\n> see {url} for more"),
    "as a link": lambda url: said(f"See [the manual]({url})."),
    "as an autolink": lambda url: said(f"See <{url}>."),
    "as a definition": lambda url: said(f"See [m].\n\n[m]: {url}"),
    "in a table": lambda url: said(f"| page |\n|---|\n| {url} |"),
    "as the question": lambda url: said("Yes.", question=f"What does {url} say?"),
    "as a title": lambda url: said("Yes [1].", title=f"Read {url}"),
    "in a footnote": lambda url: said("Yes [1].", quote=f"See {url}"),
    "as a heading": lambda url: said("Yes [1].", heading=url),
}
FOLLOW_UPS = (
    "read that too",
    "Summarize that page.",
    "and what does the link say?",
    "Open the address you named, please.",
)


def said(
    text: str,
    question: str = "How tall is it?",
    title: str = "Tower",
    quote: str = "330 m",
    heading: str = "",
) -> Entry:
    cited = Citation(1, STORED, title, quote, "h", 0, len(quote), heading)
    return Entry("footnote", "Footnote", text, question, (cited,))


def thread(entry: Entry) -> Transcript:
    return Transcript((Entry("person", "Ada", "How tall is it?"), entry))


@pytest.mark.parametrize("place", PLACES)
async def test_a_model_that_names_an_address_of_an_answer_has_nothing_read_but_sources(
    stage: OpenStage, place: str
) -> None:
    for address in ADDRESSES:
        named = [address, f"https://{address}", f"<{address}>", address.lower(), address[:-1]]
        reply = {"kind": "links", "question": "And that?", "links": named, "domains": [address]}
        on = stage([says(json.dumps(reply))])
        found = await on.claude.rewrite(thread(PLACES[place](address)), a_message("read that too"))
        assert set(found.links) <= {STORED}
        assert found.scope.domains == ()


@pytest.mark.parametrize("follow_up", FOLLOW_UPS)
@pytest.mark.parametrize("place", PLACES)
def test_without_a_model_nothing_is_read_but_sources(place: str, follow_up: str) -> None:
    for address in ADDRESSES:
        found = rewrite(thread(PLACES[place](address)), a_message(follow_up))
        assert set(found.links) <= {STORED}
        assert found.scope.domains == ()


@pytest.mark.parametrize("address", ADDRESSES[:2])
async def test_what_a_person_wrote_is_read_on_the_next_turn(stage: OpenStage, address: str) -> None:
    """So that the tests above fail for the right reason."""
    on = stage([says(json.dumps({"kind": "links", "question": "?", "links": [address]}))])
    spoken = Transcript((Entry("person", "Ada", f"Look at {address}"),))
    assert (await on.claude.rewrite(spoken, a_message("read that too"))).links == (address,)


QUESTION = "What is the hotel limit for Berlin?"
CITED = Citation(1, "file:///travel.md", "Travel", "120 euros", "h", 0, 9)
ANSWERED = Transcript(
    (
        Entry("person", "Ada", QUESTION),
        Entry("footnote", "Footnote", "120 euros [1].", question=QUESTION, cited=(CITED,)),
    )
)
UNANSWERED = Transcript((Entry("person", "Ada", QUESTION), Entry("footnote", "Footnote", "Hm.")))

CORRECTIONS = [
    "No, that changed in May: it's 140 euros now.",
    "no, the limit is 140 euros",
    "Actually, the limit has been 140 euros since 1 May 2026.",
    "That's wrong. The limit is 140 euros.",
    "That changed, see https://example.org/policy",
    "It has changed: Berlin is now 140.",
    "That is no longer true, Finance moved it to 140 in May.",
    "不对，五月起是140欧元。",
    "不是，现在的上限是 140 欧元",
    "這已經改了，見 https://example.org/policy",
]
OTHERS = [
    QUESTION,
    "No, I meant Munich.",
    "no, not the 2019 one, the 2020 one",
    "No thanks",
    "No.",
    "no, that's fine",
    "Are you sure it is 120?",
    "No, is it not 140?",
    "Actually, what is the limit for Munich in 2026?",
    "The limit is 140 euros.",
    "Now the same for Munich",
    "Nobody told me it was 120 euros",
    "不是柏林，我是说慕尼黑",
    "不对吗？",
]


@pytest.mark.parametrize("text", CORRECTIONS)
def test_a_denial_that_states_something_is_a_correction(text: str) -> None:
    assert correction_in(ANSWERED, text) == (text, "")
    found = rewrite(ANSWERED, a_message(text))
    assert (found.kind, found.reply, found.correction) == ("chat", "", text)


@pytest.mark.parametrize("text", OTHERS)
def test_questions_doubts_and_what_was_meant_are_none(text: str) -> None:
    assert correction_in(ANSWERED, text) == ("", "")


@pytest.mark.parametrize("text", CORRECTIONS[:3])
@pytest.mark.parametrize("said", [Transcript(), UNANSWERED])
def test_without_an_answer_there_is_nothing_to_correct(said: Transcript, text: str) -> None:
    assert correction_in(said, text) == ("", "")


def test_what_is_asked_besides_is_researched() -> None:
    text = "No, the limit is 140 euros since May. What is it for Munich in 2026?"
    found = rewrite(ANSWERED, a_message(text))
    assert found.correction == "No, the limit is 140 euros since May."
    assert (found.kind, "Munich" in found.question) == ("search", True)
    assert "140" not in found.question
