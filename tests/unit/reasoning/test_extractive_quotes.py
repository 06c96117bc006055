"""Which passages are quoted, and how an answer made of quotations reads."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.passages import split
from bot.reasoning.evidence import CitationDelta, Evidence, Source, TextDelta
from bot.reasoning.extractive_quotes import choose, findings, write
from bot.reasoning.questions import Rewritten
from bot.research.check import check
from bot.research.write import Composer
from tests.unit.pages.test_passages import PAGES
from tests.unit.samples import NOW

HARBOUR = (
    "# Oslo harbour\n\nThe harbour of Oslo was built in 1887 by Ingrid Dahl. It holds 1,200 boats."
    "\n\n## Rules\n\nBoats pay a fee:\n\n- small boats pay 10 kroner\n- large boats pay 25 kroner"
    "\n\n| boat | fee |\n|---|---|\n| ferry | 90 kroner |\n\n```sh\nharbour open --gate 3\n```\n"
)
FEES = "| craft | fee |\n|---|---|\n| ferry | 90 kroner |\n| train | nothing |"
DAHL = "Ingrid Dahl was an engineer. She was born in Bergen in 1851."
SOUP = "Soup is boiled in a pot. Salt is added at the end."


def a_source(number: int, title: str, text: str) -> Source:
    url = f"https://example.org/{number}"
    return Source(number, url, title, tuple(split(text)), f"hash{number}", NOW)


SOURCES = (
    a_source(1, "Oslo harbour", HARBOUR),
    a_source(2, "Ingrid Dahl", DAHL),
    a_source(3, "Soup", SOUP),
)


def quoted(question: str, sources: Sequence[Source] = SOURCES) -> list[str]:
    return [quote.text for quote in choose(question, sources)]


def answer(
    question: str,
    sources: Sequence[Source] = SOURCES,
    *,
    language: str = "en",
    kind: str = "search",
) -> str:
    rewritten = Rewritten(kind, question, language=language)  # type: ignore[arg-type]
    composer = Composer(Evidence(tuple(sources), queries=("first query", "second query")))
    for delta in write(
        rewritten, Evidence(tuple(sources), queries=("first query", "second query"))
    ):
        composer.add(delta)
    return composer.finish().text


# ---------------------------------------------------------------- choosing


def test_the_most_telling_passage_comes_first() -> None:
    assert "1887" in quoted("When was the harbour of Oslo built?")[0]


def test_passages_that_say_nothing_new_or_nothing_at_all_stay_out() -> None:
    assert not any("Soup" in text for text in quoted("When was the harbour of Oslo built?"))


def test_a_passage_on_a_name_that_came_up_is_the_next_hop() -> None:
    texts = quoted("Where was the builder of the harbour of Oslo born?")
    assert any("Bergen" in text for text in texts)


def test_nothing_is_quoted_when_all_of_it_hardly_touches_the_question() -> None:
    assert quoted("Who invented the Zeppelin airship in Friedrichshafen?") == []
    assert quoted("Who salvaged the boats of the Lusitania and the Andrea Doria?") == []
    assert quoted("Who?", ()) == []


def test_links_in_a_question_do_not_count_as_words() -> None:
    assert quoted("https://example.org/soup") == []


def test_chinese_questions_find_their_passage() -> None:
    source = a_source(1, "奥斯陆港", "奥斯陆港建于1887年。\n\n汤是煮的。" + "汤里要放盐。" * 30)
    assert "1887" in quoted("奥斯陆港是哪一年建的？", (source,))[0]


def test_findings_carry_their_page_and_what_no_page_has() -> None:
    found, missing = findings("When was the harbour of Oslo built by Zorro?", SOURCES)
    assert found[0].sources == (1,)
    assert missing == ("Zorro",)
    assert findings("When was the harbour of Oslo built?", SOURCES)[1] == ()


WORDS = st.lists(
    st.sampled_from(["harbour", "Oslo", "boats", "fee", "Ingrid", "soup", "who", "the", "港"]),
    max_size=8,
).map(" ".join)


@given(WORDS, st.lists(st.sampled_from(SOURCES), unique=True))
def test_quotes_are_verbatim_and_come_once(question: str, sources: list[Source]) -> None:
    quotes = choose(question, sources)
    spans = [(quote.source.number, quote.passage.start) for quote in quotes]
    assert len(set(spans)) == len(spans)
    assert all(quote.passage in quote.source.passages for quote in quotes)
    assert all(quote.text in quote.passage.text for quote in quotes)


# ---------------------------------------------------------------- writing


def test_an_answer_says_what_it_is_and_marks_each_quote() -> None:
    text = answer("When was the harbour of Oslo built?")
    assert text.startswith("> No language model wrote this")
    assert "### Oslo harbour\n\n- The harbour of Oslo was built in 1887 by Ingrid Dahl." in text


@pytest.mark.parametrize(
    ("language", "part"),
    [
        ("zh", "未经语言模型"),
        ("ja", "引用"),
        ("ko", "인용"),
        ("de", "No language model"),
        ("zh-TW", "摘录"),
    ],
)
def test_the_first_line_is_in_the_askers_language(language: str, part: str) -> None:
    assert part in answer("When was the harbour built?", language=language).split("\n")[0]


def test_list_items_and_rows_come_as_lines_of_their_own() -> None:
    text = answer("What fee do small boats, large boats and a ferry pay in kroner?")
    assert "\n- small boats pay 10 kroner [1]\n" in text
    assert "\n- ferry · 90 kroner [1]\n" in text
    assert "|---|" not in text


def test_no_space_follows_a_chinese_full_stop() -> None:
    text = "港口由英格丽·达尔建于1887年。它由三座码头组成。 港口很大！里面有船。"
    shown = answer(
        "港口由谁建于哪一年，由几座码头组成？", [a_source(1, "港口", text)], language="zh"
    )
    assert "年。它由三座码头组成。港口很大" in shown
    assert "！里面" in shown


def test_a_space_follows_any_other() -> None:
    assert ". She was" in answer("When and where was Ingrid Dahl the engineer born?")


def test_only_the_rows_that_matter_are_shown() -> None:
    text = answer("How many kroner for a ferry?", (a_source(1, "Fees", FEES),))
    assert "ferry · 90 kroner" in text
    assert "train" not in text


def test_a_bar_within_a_cell_ends_no_cell() -> None:
    source = a_source(1, "Options", "| option | meaning |\n|---|---|\n| a\\|b | choose a gate |")
    assert "- a|b · choose a gate [1]" in answer("Which option to choose a gate?", (source,))


def test_a_line_of_links_is_not_worth_a_sentence() -> None:
    source = a_source(1, "Gates", "Harbour gates, gate fees\n\n" + "x" * 500 + ".\n\nA gate opens.")
    assert quoted("Which gate opens at the harbour?", (source,))[0] == "A gate opens."


def test_code_stays_a_code_block_with_its_mark_before_it() -> None:
    text = answer("How do I open the gate of the harbour, which gate?")
    assert "[1]\n\n```sh\nharbour open --gate 3\n```\n" in text


def test_what_was_not_found_is_said() -> None:
    text = answer("When was the harbour of Oslo built by Zorro?")
    assert text.rstrip().endswith("> No page that was read mentions: Zorro.")


def test_without_quotes_it_says_so_and_what_was_tried() -> None:
    text = answer("Who flew the Zeppelin?")
    assert "Nothing that was found answers this question" in text
    assert "first query; second query" in text
    assert "Oslo harbour; Ingrid Dahl; Soup" in text
    assert "[1]" not in text


def test_pages_that_were_only_to_be_read_are_quoted_from_the_top() -> None:
    text = answer("Summarize https://example.org/3", SOURCES[2:], kind="links")
    assert "Soup is boiled in a pot. Salt is added at the end [3]." in text
    assert "Nothing that was found" in answer("Summarize this", SOURCES[2:])


@given(WORDS)
def test_the_check_finds_nothing_to_doubt_in_quotations(question: str) -> None:
    evidence = Evidence(SOURCES)
    composer = Composer(evidence)
    spans = {(s.number, p.start, p.end) for s in SOURCES for p in s.passages}
    for delta in write(Rewritten("search", question), evidence):
        assert isinstance(delta, TextDelta | CitationDelta)
        if isinstance(delta, CitationDelta):
            assert (delta.number, delta.start, delta.end) in spans
        composer.add(delta)
    checked = check(composer.finish(), evidence, question)
    assert checked.doubts == ()
    assert bool(checked.citations) == bool(choose(question, SOURCES))


@given(PAGES, st.text(max_size=20), st.sampled_from(["harbour boats 1887", "这座港口建于哪年？"]))
def test_any_page_can_be_quoted_without_a_doubt(text: str, title: str, question: str) -> None:
    source = a_source(1, title, text)
    evidence = Evidence((source,))
    composer = Composer(evidence)
    for delta in write(Rewritten("search", question), evidence):
        composer.add(delta)
    checked = check(composer.finish(), evidence, question)
    assert checked.doubts == ()
    assert bool(checked.citations) == bool(choose(question, (source,)))
