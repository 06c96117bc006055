"""The trace of a run: its timeline, searches, calls, pages and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter

from bot.core.messages import (
    Answer,
    Citation,
    Disagreement,
    Doubt,
    RunOptions,
    StepView,
    Usage,
    Verification,
    VerifiedSentence,
)
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import CitationDelta, TextDelta
from bot.research.outcomes import ReadOutcome, SearchOutcome, StreamOutcome
from bot.research.revision import Change, Revision
from bot.research.trace import Span, Trace, page_of_trace, pauses, timeline, trace
from bot.search.provider import Hit
from bot.storage.archive import KeptPage, KeptRun, KeptStep
from bot.storage.journal import step_key
from bot.storage.store import RunRecord
from tests.fakes.claude_stage import replied
from tests.unit.samples import NOW, a_message


def a_kept_step(key: str, ended: float, seconds: float = 1.0, **parts: object) -> KeptStep:
    fields = {"kind": "search", "title": key, "result": "{}", "attempt": 1, **parts}
    return KeptStep(key=key, seconds=seconds, at=NOW + timedelta(seconds=ended), **fields)  # type: ignore[arg-type]


def a_line(id: str, kind: str = "search", **parts: object) -> StepView:
    return StepView(id, kind, id, "done", **parts)  # type: ignore[arg-type]


def by_id(spans: tuple[Span, ...]) -> dict[str, Span]:
    return {span.id: span for span in spans}


def test_a_step_was_at_work_for_its_seconds_until_it_was_kept() -> None:
    (span,) = timeline([], [a_kept_step("a" * 64, 5.0, 2.0)], NOW)
    assert (span.id, span.begin, span.end, span.seconds) == ("a" * 12, 3.0, 5.0, 2.0)


def test_the_plan_tells_what_the_journal_does_not() -> None:
    line = a_line("a" * 12, parent="node-a", detail="no page", sources=("https://e.org",))
    spans = by_id(timeline([a_line("node-a", "node"), line], [a_kept_step("a" * 64, 5.0)], NOW))
    span = spans["a" * 12]
    assert (span.parent, span.detail, span.sources, span.depth) == (
        "node-a",
        "no page",
        ("https://e.org",),
        1,
    )


def test_a_sub_question_was_at_work_from_its_first_step_to_its_last() -> None:
    lines = [
        a_line("node-a", "node", seconds=5.0),
        a_line("a" * 12, parent="node-a"),
        a_line("b" * 12, parent="node-a"),
    ]
    steps = [a_kept_step("a" * 64, 3.0), a_kept_step("b" * 64, 9.0)]
    node = by_id(timeline(lines, steps, NOW))["node-a"]
    assert (node.begin, node.end) == (2.0, 9.0)


def test_a_sub_question_waits_from_the_plan_until_it_begins() -> None:
    lines = [
        a_line("p" * 12, "plan"),
        a_line("node-a", "node"),
        a_line("a" * 12, parent="node-a"),
        a_line("node-b", "node", needs=("node-a",)),
        a_line("b" * 12, parent="node-b"),
    ]
    steps = [
        a_kept_step("p" * 64, 2.0, kind="plan"),
        a_kept_step("a" * 64, 6.0, 4.0),
        a_kept_step("b" * 64, 8.0),
    ]
    spans = by_id(timeline(lines, steps, NOW))
    assert spans["node-a"].waited == 0.0
    assert spans["node-b"].waited == 5.0


def test_lines_come_by_their_begin_each_with_what_stands_under_it() -> None:
    lines = [
        a_line("node-a", "node"),
        a_line("node-b", "node"),
        a_line("b" * 12, parent="node-b"),
        a_line("a" * 12, parent="node-a"),
        a_line("w" * 12, "write"),
        a_line("gone"),
    ]
    steps = [a_kept_step("b" * 64, 2.0), a_kept_step("a" * 64, 4.0), a_kept_step("w" * 64, 9.0)]
    spans = timeline(lines, steps, NOW)
    assert [(span.id[:6], span.depth) for span in spans] == [
        ("node-b", 0),
        ("bbbbbb", 1),
        ("node-a", 0),
        ("aaaaaa", 1),
        ("wwwwww", 0),
        ("gone", 0),
    ]
    assert spans[-1].begin is None


def test_a_step_without_a_title_is_no_line() -> None:
    assert timeline([], [a_kept_step("a" * 64, 1.0, title="")], NOW) == ()


def test_a_step_of_an_earlier_wording_of_the_question_took_no_time_of_this_one() -> None:
    (span,) = timeline([], [a_kept_step("a" * 64, -60.0)], NOW)
    assert (span.begin, span.end) == (0.0, 0.0)


def test_a_line_whose_parent_is_not_there_stands_by_itself() -> None:
    (span,) = timeline([a_line("a", parent="nowhere")], [], NOW)
    assert span.depth == 0


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], []),
        ([(0, 10), (14, 20)], []),  # 4 s are no long pause
        ([(0, 10), (3_600, 3_610)], [(10, 3_600)]),
        ([(0, 100), (50, 200), (210, 300)], []),  # 10 of 290 s
        ([(30, 31)], [(0, 30)]),  # it waited for its turn
        ([(0, 10), (2, 40), (500, 501), (900, 901)], [(40, 500), (501, 900)]),
    ],
)
def test_long_pauses_are_found(
    times: list[tuple[float, float]], expected: list[tuple[float, float]]
) -> None:
    spans = [Span("s", "search", "S", "done", 1.0, begin, end) for begin, end in times]
    assert [(pause.begin, pause.end) for pause in pauses(spans)] == expected


TOWER, CITY = "https://e.org/tower", "https://e.org/city"
TEXT = "The tower was built in 1889. It is 330 m tall. It stands in Paris."


def a_step(
    kind: str, result: object, *, key: str = "", title: str = "T", at: float = 1
) -> KeptStep:
    kept = TypeAdapter(type(result)).dump_json(result).decode()
    name = key or step_key(kind, {"n": kept})
    return KeptStep(name, kind, title, kept, 1, 0.5, NOW + timedelta(seconds=at))


def a_read(url: str, **outcome: Any) -> KeptStep:
    return a_step("read", ReadOutcome(url, **outcome), key=step_key("read", {"url": url}))


def a_hit(url: str) -> Hit:
    return Hit(f"Title of {url}", url, "…", "wikipedia")


def a_quote(text: str, number: int = 1, page_hash: str = "h1", url: str = TOWER) -> Citation:
    start = TEXT.find(text)
    return Citation(number, url, "Tower", text, page_hash, start, start + len(text))


def a_page(number: int = 1, url: str = TOWER, text: str | None = TEXT) -> KeptPage:
    return KeptPage(number, url, "Tower", f"h{number}", NOW, len(TEXT), text)


def a_reply(content: Sequence[dict[str, Any]] = (), **tokens: int) -> ModelReply:
    return replace(replied(*content), model="claude-x", **tokens)  # type: ignore[arg-type]


def traced(
    *steps: KeptStep,
    text: str = "",
    citations: tuple[Citation, ...] = (),
    pages: tuple[KeptPage, ...] = (),
    **answer: Any,
) -> Trace:
    record = RunRecord(
        "r1", a_message("How tall?"), RunOptions(), "answered", NOW, 1, False, False, None, None
    )
    if text:
        told = Answer("answered", text, "How tall is the tower?", "r1", citations, **answer)
        record = replace(record, answer=told)
    kept = KeptRun(record, NOW + timedelta(seconds=9), steps, pages, {"bob": "good"})
    return trace(kept, lambda reply: 0.5 if reply.model == "claude-x" else None)


# ---------------------------------------------------------------- searching and reading


def test_every_hit_tells_what_became_of_it() -> None:
    hits = tuple(a_hit(url) for url in (TOWER, CITY, "https://e.org/x"))
    found = traced(
        a_step("search", SearchOutcome(hits), title="tower"),
        a_read(TOWER, hash="h1"),
        a_read(CITY, problem="It is gone.", said="Sie ist weg."),
        pages=(a_page(),),
    )
    (search,) = found.searches
    assert [(hit.fate, hit.page, hit.problem) for hit in search.hits] == [
        ("read", 1, ""),
        ("failed", None, "Sie ist weg."),
        ("left", None, ""),
    ]
    assert (search.query, search.read) == ("tower", 1)


def test_a_hit_that_led_elsewhere_has_the_number_of_the_page_it_led_to() -> None:
    redirected = a_step(
        "read", ReadOutcome(TOWER, hash="h1"), key=step_key("read", {"url": "https://e.org/t"})
    )
    outcome = SearchOutcome((a_hit("https://e.org/t"),))
    found = traced(a_step("search", outcome), redirected, pages=(a_page(),))
    assert [(hit.fate, hit.page) for hit in found.searches[0].hits] == [("read", 1)]


def test_a_search_tells_why_the_web_was_not_asked() -> None:
    outcome = SearchOutcome((), ("brave: It is down.",), withheld="Not sent to the web: a key.")
    (search,) = traced(a_step("search", outcome)).searches
    assert search.failures == ("Not sent to the web: a key.", "brave: It is down.")


def test_a_search_tells_for_which_sub_question_it_was() -> None:
    step = a_step("search", SearchOutcome(()), title="tower")
    lines = (
        StepView("node-a", "node", "How tall?", "done"),
        StepView(step.key[:12], "search", "tower", "done", parent="node-a"),
    )
    found = traced(step, text="x", steps=lines)
    assert found.searches[0].under == "How tall?"
    assert [node.title for node in found.nodes] == ["How tall?"]


# ---------------------------------------------------------------- the model


def test_what_the_model_said_and_cost_is_told_for_each_call() -> None:
    content: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "I search."},
        {"type": "tool_use", "name": "search", "id": "t1", "input": {"queries": ["tower"]}},
        {"type": "text", "text": "  "},
    ]
    reply = a_reply(content, input_tokens=10, cache_write_tokens=5, output_tokens=3)
    found = traced(a_step("think", reply))
    (call,) = found.calls.values()
    assert (call.input_tokens, call.output_tokens, call.usd) == (15, 3, 0.5)
    assert [(said.kind, said.name) for said in call.said] == [
        ("thinking", ""),
        ("text", ""),
        ("call", "search"),
    ]
    assert '"tower"' in call.said[2].text


def test_what_was_streamed_is_not_told_twice() -> None:
    outcome = StreamOutcome((TextDelta("It is tall."),), a_reply([{"type": "text", "text": "x"}]))
    (call,) = traced(a_step("write", outcome)).calls.values()
    assert (call.model, call.said) == ("claude-x", ())


def test_while_it_works_what_was_spent_is_the_sum_of_its_steps() -> None:
    found = traced(
        a_step("think", a_reply(input_tokens=10, output_tokens=1)),
        a_step("think", a_reply(input_tokens=20, output_tokens=2)),
        a_step("search", SearchOutcome(())),
        a_read(TOWER, hash="h1"),
        a_read(CITY, problem="It is gone."),
    )
    assert found.spent == Usage(2, 1, 1, 30, 3, usd=1.0)
    assert traced(text="x", usage=Usage(seconds=3.0)).spent == Usage(seconds=3.0)


def test_a_step_that_another_version_kept_in_another_shape_is_left_out() -> None:
    strange = KeptStep("k", "search", "tower", '{"found": 3}', 1, 0.1, NOW)
    found = traced(strange, replace(strange, key="l", kind="think", result='{"stop_reason": 1}'))
    assert found.searches == ()
    assert dict(found.calls) == {}
    assert len(found.spans) == 2


# ---------------------------------------------------------------- sentences and quotes


def test_every_quote_is_held_against_the_stored_page() -> None:
    good = a_quote("It is 330 m tall.")
    wrong = replace(good, quote="It is 331 m tall.")
    gone = replace(good, page_hash="h9")
    found = traced(text="[1]", citations=(good, wrong, gone), pages=(a_page(),))
    told = [(quote.anchor, quote.is_verbatim) for quote in found.quotes]
    assert told == [("q1-1", True), ("q1-2", False)]
    (sentence,) = found.sentences
    assert [quote.is_verbatim for quote in sentence.quotes] == [True, False, None]


def test_a_sentence_rests_on_the_passages_that_came_with_it() -> None:
    height, year = a_quote("It is 330 m tall."), a_quote("The tower was built in 1889.")
    stream = StreamOutcome(
        (
            TextDelta("It is 330 m high.", opens=True),
            CitationDelta(1, height.start, height.end),
            TextDelta(" It is from 1889.", opens=True),
            CitationDelta(1, year.start, year.end),
        ),
        a_reply(),
    )
    found = traced(
        a_step("write", stream),
        text="It is 330 m high [1]. It is from 1889 [1].",
        citations=(height, year),
        pages=(a_page(),),
    )
    first, second = found.sentences
    assert [quote.citation for quote in first.quotes] == [height]
    assert [quote.citation for quote in second.quotes] == [year]


def test_a_restated_sentence_rests_on_the_passages_of_the_one_it_replaced() -> None:
    height, year = a_quote("It is 330 m tall."), a_quote("The tower was built in 1889.")
    stream = StreamOutcome(
        (
            TextDelta("It is 380 m high.", opens=True),
            CitationDelta(1, height.start, height.end),
            TextDelta(" It is from 1889.", opens=True),
            CitationDelta(1, year.start, year.end),
        ),
        a_reply(),
    )
    now = VerifiedSentence(
        "It is 380 m high.", "contradicted", "", "restated", "Its height: 330 m."
    )
    found = traced(
        a_step("write", stream),
        text="Its height: 330 m. It is from 1889 [1].",
        citations=(height, year),
        pages=(a_page(),),
        verification=Verification("done", (now,)),
    )
    assert [quote.citation for quote in found.sentences[0].quotes] == [height]


def test_a_sentence_of_a_run_rests_on_what_its_last_mark_stands_for() -> None:
    height, year = a_quote("It is 330 m tall."), a_quote("The tower was built in 1889.")
    stream = StreamOutcome(
        (
            TextDelta("It is 330 m high. That is much.", opens=True),
            CitationDelta(1, height.start, height.end),
            TextDelta(" It is from 1889.", opens=True),
            CitationDelta(1, year.start, year.end),
        ),
        a_reply(),
    )
    text = "It is 330 m high. That is much [1]. It is from 1889 [1]. Nice. It is red [1]."
    found = traced(a_step("write", stream), text=text, citations=(height, year), pages=(a_page(),))
    rests = [[quote.citation for quote in each.quotes] for each in found.sentences]
    assert rests == [[height], [height], [year], [], [year, height]]
    assert [each.numbers for each in found.sentences] == [(1,), (1,), (1,), (), (1,)]


def test_words_quoted_without_a_model_rest_on_the_passage_that_has_them() -> None:
    both = a_quote("It is 330 m tall. The tower was built in 1889.")
    code = "Run:\n\n```\ntall\n```\n[1]"
    found = traced(
        text="It is 330 m tall. The tower was built in 1889 [1].\n\n" + code,
        citations=(both,),
        pages=(a_page(),),
    )
    rests = [[quote.citation for quote in each.quotes] for each in found.sentences]
    assert rests == [[both], [both], [], [both], [both]]


def test_without_such_citations_the_passage_with_most_of_its_words_comes_first() -> None:
    height, year = a_quote("It is 330 m tall."), a_quote("The tower was built in 1889.")
    found = traced(
        text="The tower was built in 1889 [1].", citations=(height, year), pages=(a_page(),)
    )
    assert [quote.citation for quote in found.sentences[0].quotes] == [year, height]


def test_a_sentence_carries_its_doubt_and_the_page_that_disagrees() -> None:
    found = traced(
        text="It is 331 m tall [1] ⚠. It stands in Rome [1]. Hello.",
        citations=(a_quote("It is 330 m tall."),),
        pages=(a_page(),),
        doubts=(Doubt("It is 331 m tall.", "331 is not there"),),
        disagreements=(Disagreement("It stands in Rome.", 1, "It stands in Paris."),),
    )
    doubted, disputed, plain = found.sentences
    assert doubted.doubt == "331 is not there"
    assert disputed.disagreement is not None
    assert (plain.doubt, plain.disagreement, plain.quotes) == ("", None, ())


def test_the_page_shows_what_is_quoted_where_it_stands() -> None:
    citation = a_quote("It is 330 m tall.")
    (page,) = traced(text="[1]", citations=(citation,), pages=(a_page(),)).pages
    assert [TEXT[one.start : one.end] for one in page.quoted] == [citation.quote]
    alone = page_of_trace(a_page(), Answer("answered", "[1]", "?", "r1", (citation,)))
    assert alone.quoted == page.quoted


def test_a_number_that_two_wordings_of_a_page_share_quotes_the_right_one() -> None:
    old, new = a_page(), replace(a_page(), hash="h2", text=f"New. {TEXT}")
    citation = replace(a_quote("It is 330 m tall."), page_hash="h2")
    citation = replace(citation, start=citation.start + 5, end=citation.end + 5)
    found = traced(text="[1]", citations=(citation,), pages=(old, new))
    assert [len(page.quotes) for page in found.pages] == [0, 1]
    assert found.quotes[0].is_verbatim


# ---------------------------------------------------------------- the rest


def test_revisions_come_in_the_order_they_were_made() -> None:
    first = Revision(1, "Height", "It is tall.", "revised", changes=(Change("kept", "It is"),))
    second = Revision(2, "Age", "It is old.", "unsourced", reason="nothing was found")
    found = traced(a_step("revision", first, at=1), a_step("revision", second, at=2))
    assert found.revisions == (first, second)


@pytest.mark.parametrize(("steps", "pruned"), [((), True), ((a_read(TOWER, hash="h"),), False)])
def test_a_pruned_journal_is_told(steps: tuple[KeptStep, ...], pruned: bool) -> None:
    lines = (StepView("x", "search", "tower", "done", 1.0),)
    assert traced(*steps, text="x", steps=lines).is_pruned is pruned


def test_a_run_that_works_has_the_plan_that_is_shown() -> None:
    record = RunRecord("r", a_message(), RunOptions(), "running", NOW, 1, False, False, None, None)
    shown = (StepView("node-a", "node", "How tall?", "running"),)
    found = trace(KeptRun(record, None, (), (), {}), lambda reply: None, shown)
    assert [node.state for node in found.nodes] == ["running"]
    assert found.understood == record.message.text
