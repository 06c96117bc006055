"""Earlier answers told again without a model."""

from __future__ import annotations

from dataclasses import replace

from bot.answers import Citation
from bot.messages import Entry
from bot.pages.passages import Passage
from bot.reasoning.evidence import AnswerDelta, Evidence, Source, TextDelta
from bot.reasoning.extractive import recall as extractive_recall
from bot.reasoning.questions import Rewritten
from bot.rendering.texts import texts_for
from bot.research.answer.check import Checked, check
from bot.research.answer.write import Composer
from tests.unit.samples import NOW

BRIDGE = "The Forth Bridge opened in 1890. It is red."
TOWER = "The tower cost 7.8 million francs in 1889."
PAGES = {"bridge": BRIDGE, "tower": TOWER}


def cited(number: int, name: str) -> Citation:
    quote = PAGES[name]
    url = f"https://e.org/{name}"
    return Citation(number, url, name.title(), quote, name, 0, len(quote))


def answer(question: str, text: str, *citations: Citation) -> Entry:
    return Entry("footnote", "Footnote", text, (), question, citations)


EVIDENCE = Evidence(
    sources=tuple(
        Source(number, f"https://e.org/{n}", n.title(), (Passage(0, len(t), t),), n, NOW)
        for number, (n, t) in enumerate(PAGES.items(), start=1)
    ),
    enough=True,
)


def shown(deltas: list[AnswerDelta], question: str) -> Checked:
    composer = Composer(EVIDENCE)
    for delta in deltas:
        composer.add(delta)
    return check(composer.finish(), EVIDENCE, question, texts_for("en"))


def told(*answers: Entry, language: str = "en") -> Checked:
    question = Rewritten("thread", "recap", language=language, recalled=answers)
    return shown(list(extractive_recall.thread(question, EVIDENCE)), "recap")


def named(question: str, *answers: Entry, language: str = "en") -> Checked:
    asked = Rewritten("sources", question, language=language, recalled=answers)
    return shown(list(extractive_recall.sources(asked, EVIDENCE)), question)


def test_a_source_is_named_with_title_link_date_and_quote() -> None:
    checked = named("what was source 7?", answer("When?", "In 1890 [7].", cited(7, "bridge")))
    assert "Source 7 of the answer to “When?”: [Bridge](<https://e.org/bridge>)" in checked.text
    assert f"read on {NOW:%Y-%m-%d}" in checked.text
    assert "It is red [1]." in checked.text
    assert [citation.quote for citation in checked.citations] == [BRIDGE]
    assert checked.doubts == ()
    assert "⚠" not in checked.text


def test_what_the_answer_quoted_first_is_quoted_first() -> None:
    citation = cited(1, "bridge")
    quotes = ("It is red.", "The Forth Bridge opened in 1890.")
    footnotes = [replace(citation, quote=q, start=BRIDGE.index(q)) for q in quotes]
    passages = tuple(Passage(c.start, c.start + len(c.quote), c.quote) for c in footnotes)
    bridge = replace(EVIDENCE.sources[0], passages=tuple(reversed(passages)))
    question = Rewritten(
        "sources", "source 1?", recalled=(answer("When?", "Red [1].", *footnotes),)
    )
    deltas = extractive_recall.sources(question, Evidence(sources=(bridge,)))
    told = [d.text for d in deltas if isinstance(d, TextDelta) and d.verbatim]
    assert told == list(quotes)


def test_it_is_named_in_the_language_of_the_question() -> None:
    entry = answer("When?", "In 1890 [7].", cited(7, "bridge"))
    assert "Quelle 7" in named("was war Quelle 7?", entry, language="de").text
    assert "来源 7" in named("来源7是什么？", entry, language="zh-Hans").text


def test_of_each_answer_the_first_sentence_with_a_footnote_is_told() -> None:
    checked = told(
        answer("When?", "Let me see. It opened in 1890 [4]. It is red [4].", cited(4, "bridge")),
        answer("How much?", "> A remark [2].\n\n7.8 million francs [2].", cited(2, "tower")),
    )
    assert "#### When?\n\nIt opened in 1890 [1]." in checked.text
    assert "#### How much?\n\n7.8 million francs [2]." in checked.text
    assert {citation.number for citation in checked.citations} == {1, 2}
    assert checked.doubts == ()


def test_the_first_of_several_quoted_sentences_under_one_mark_is_told() -> None:
    checked = told(answer("When?", f"{BRIDGE[:-1]} [4].", cited(4, "bridge")))
    assert "The Forth Bridge opened in 1890 [1]." in checked.text
    assert "red" not in checked.text


def test_a_sentence_that_was_doubted_is_told_only_where_there_is_no_other() -> None:
    doubted = "It opened in 1891 [4] ⚠."
    both = answer("When?", f"{doubted} It is red [4].", cited(4, "bridge"))
    assert "It is red [1]." in told(both).text
    alone = told(answer("When?", doubted, cited(4, "bridge")))
    assert alone.text.count("⚠") == 1  # found out again, not copied
    assert len(alone.doubts) == 1


def test_a_table_is_told_whole() -> None:
    table = "| year | cost |\n| --- | --- |\n| 1889 | 7.8 million [2] |"
    checked = told(answer("How much?", f"{table}\n\n> A note.", cited(2, "tower")))
    assert "| 1889 | 7.8 million [2] |" in checked.text
    assert checked.doubts == ()


def test_the_same_words_are_told_once() -> None:
    entry = answer("When?", "In 1890 [4].", cited(4, "bridge"))
    checked = told(entry, replace(entry, question="When again?"))
    assert checked.text.count("1890") == 1
    assert "When again?" not in checked.text


def test_what_rests_on_a_page_that_is_gone_is_left_out() -> None:
    gone = replace(cited(3, "bridge"), url="https://e.org/gone")
    checked = told(answer("Who?", "Fowler [3].", gone))
    assert "Fowler" not in checked.text
    assert checked.citations == ()
