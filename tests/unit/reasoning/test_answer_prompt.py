"""Writing: what the writer sees, and what its reply becomes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bot.core.errors import ModelBroken, ModelRefused, ModelUnavailable
from bot.reasoning.answer_prompt import LONGEST_NEXT as LONGEST
from bot.reasoning.answer_prompt import SHORTENED, Splitter, reply_of
from bot.reasoning.calls import prompt as load
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Cut,
    Evidence,
    Manuscript,
    Outcome,
    Paragraph,
    ReadResult,
    Reply,
    Restart,
    Search,
    Suggested,
    TextDelta,
    Workspace,
)
from bot.research.composer import Written, write
from tests.fakes.calls import MemoryCalls
from tests.fakes.claude import Fail, Fault, citation, cited, says, text, thinking, tool
from tests.fakes.claude_stage import OpenStage, Stage, replied
from tests.unit.reasoning.samples import ASKED, QUESTION, a_source, evidence, finding, texts

ONE = a_source(1, "It is 330 metres tall.", "Eiffel built it.", "It opened in 1889.", title="Tower")
THREE = a_source(3, "Others say 324 metres.", title="Rival")
BOTH = evidence(ONE, THREE, findings=(finding("It is 330 metres tall.", 1),))
REFUSED = "messages.0.content.0: Input tag 'search_result' does not match any of the expected tags"


async def written(on: Stage, given: Evidence = BOTH, **more: Any) -> list[AnswerDelta]:
    return [delta async for delta in on.claude.write(ASKED, given, **more)]


async def composed(on: Stage, given: Evidence = BOTH) -> Written:
    """The answer as the core puts it together."""
    return await write(on.claude.write(ASKED, given), given, lambda text: None)


def text_of(deltas: list[AnswerDelta]) -> str:
    """The text after the last restart."""
    kept = ""
    for delta in deltas:
        if isinstance(delta, Restart):
            kept = ""
        elif isinstance(delta, TextDelta):
            kept += delta.text
    return kept


def spans(deltas: list[AnswerDelta]) -> list[tuple[int, int]]:
    """Each citation as page number and the index of its passage."""
    found = []
    for delta in deltas:
        if isinstance(delta, CitationDelta):
            source = {1: ONE, 3: THREE}[delta.number]
            starts = [(p.start, p.end) for p in source.passages]
            found.append((delta.number, starts.index((delta.start, delta.end))))
    return found


# ---------------------------------------------------------------- the request


async def test_pages_go_in_as_search_results_one_block_a_passage(stage: OpenStage) -> None:
    on = stage()
    await written(on)
    [request] = on.fake.calls
    content = request["messages"][0]["content"]
    assert [b["type"] for b in content] == ["search_result", "search_result", "text"]
    assert content[0] == {
        "type": "search_result",
        "source": ONE.url,
        "title": "Tower",
        "content": [
            {"type": "text", "text": heading + passage.text}
            for heading, passage in zip(("§ History\n", "", ""), ONE.passages, strict=True)
        ],
        "citations": {"enabled": True},
    }
    assert "write no numbers" in request["system"][0]["text"]
    assert "tools" not in request


async def test_findings_gaps_and_wishes_go_in_as_text(stage: OpenStage) -> None:
    on = stage()
    given = replace(
        BOTH, enough=False, missing=("who paid",), notes=("Wikipedia was slow.",), answer="330 m"
    )
    await written(on, given, instructions="Speak like a pirate.")
    task = on.fake.calls[0]["messages"][0]["content"][-1]["text"]
    assert "- It is 330 metres tall. (Tower)" in task
    assert "<concluded>\n330 m\n</concluded>" in task
    assert "<missing>\n- who paid\n</missing>" in task
    assert "- searched: eiffel tower" in task
    assert "- Wikipedia was slow." in task
    assert "<operator>\nSpeak like a pirate.\n</operator>" in task
    assert f'<question language="en">\n{ASKED.question}\n</question>' in task
    assert "Thursday, 15 January 2026" in task


async def test_a_long_text_is_asked_for_by_name(stage: OpenStage) -> None:
    on = stage()
    async for _ in on.claude.write(replace(ASKED, long_form=True), BOTH):
        pass
    assert "A long text" in on.fake.calls[0]["messages"][0]["content"][-1]["text"]


async def test_after_exhaustive_research_what_was_looked_for_is_asked_for(stage: OpenStage) -> None:
    on = stage()
    async for _ in on.claude.write(replace(ASKED, depth="exhaustive"), BOTH):
        pass
    task = on.fake.calls[0]["messages"][0]["content"][-1]["text"]
    assert "- searched: eiffel tower" in task
    assert "what was looked for" in task


async def test_without_evidence_the_model_is_told_to_say_so(stage: OpenStage) -> None:
    on = stage()
    given = Evidence(queries=("eiffel tower", "tour eiffel"), missing=("how tall it is",))
    deltas = await written(on, given)
    told = on.fake.calls[0]["messages"][0]["content"]
    assert "No passage was found. Say so; do not answer from memory." in told
    assert "- searched: eiffel tower; tour eiffel" in told
    assert text_of(deltas)
    assert not any(isinstance(delta, CitationDelta) for delta in deltas)


async def test_pages_without_a_passage_are_left_out(stage: OpenStage) -> None:
    on = stage([says(cited("Taller.", citation(0, 0, 1)))])
    empty = replace(a_source(2), passages=())
    blank = a_source(4, " \u200b ")
    deltas = await written(on, evidence(empty, blank, THREE))
    assert len(on.fake.calls[0]["messages"][0]["content"]) == 2
    assert spans(deltas) == [(3, 0)]


# ---------------------------------------------------------------- citations


@pytest.mark.parametrize("citations_first", [False, True])
async def test_citations_lead_to_our_passages(stage: OpenStage, citations_first: bool) -> None:
    reply = says(
        thinking("Both matter."),
        "The tower: ",
        cited("330 metres, by Eiffel", citation(0, 0, 2)),
        ", though ",
        cited("others say 324", citation(1, 0, 1), citation(0, 0, 1), citation(1, 0, 1)),
        ".",
    )
    on = stage([reply], citations_first=citations_first)
    deltas = await written(on)
    assert text_of(deltas) == "The tower: 330 metres, by Eiffel, though others say 324."
    assert spans(deltas) == [(1, 0), (1, 1), (3, 0), (1, 0)]
    kinds = [d for d in deltas if not isinstance(d, TextDelta) or d.opens]
    assert [type(d).__name__ for d in kinds] == [
        *("TextDelta", "TextDelta", "CitationDelta", "CitationDelta"),
        *("TextDelta", "TextDelta", "CitationDelta", "CitationDelta", "TextDelta"),
    ]


async def test_only_the_cited_block_carries_the_marks(stage: OpenStage) -> None:
    on = stage(
        [says("Here it is.\n\n", cited("It is 330 metres tall.", citation(0, 0, 1)), " Bye.")]
    )
    answer = await composed(on)
    assert answer.text == "Here it is.\n\nIt is 330 metres tall [1]. Bye."
    assert len(answer.spans) == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (citation(0, 2, 3, source=ONE.url), [(1, 2)]),
        (citation(0, 1, 1), [(1, 1)]),  # an end that is not after the start means one block
        (citation(0, 1, 99), [(1, 1), (1, 2)]),
        (citation(0, 7, 8), []),
        (citation(9, 0, 1), []),
        (citation(9, 0, 1, source=THREE.url), [(3, 0)]),
        (citation(0, 0, 1, source=THREE.url), [(3, 0)]),  # the address is what was meant
    ],
)
async def test_odd_positions_never_lead_astray(
    stage: OpenStage, given: Any, expected: list[tuple[int, int]]
) -> None:
    on = stage([says(cited("A claim.", given))])
    assert spans(await written(on)) == expected


async def test_citations_of_another_kind_are_left_out(stage: OpenStage) -> None:
    other = {
        "type": "char_location",
        "cited_text": "x",
        "document_index": 0,
        "document_title": None,
        "start_char_index": 0,
        "end_char_index": 1,
    }
    on = stage([says(cited("A claim.", other))])
    assert spans(await written(on)) == []


# ---------------------------------------------------------------- marks instead


async def test_without_search_results_marks_are_asked_for_and_that_is_remembered(
    stage: OpenStage,
) -> None:
    on = stage(refuses={"search_result": REFUSED})
    first = await composed(on)
    second = await composed(on, replace(BOTH, missing=("more",)))
    assert on.statuses == [400, 200, 200]
    plain = on.fake.calls[1]
    shown = texts(plain["messages"][0]["content"])
    assert '<page number="1" title="Tower"' in shown
    assert '<page number="3" title="Rival"' in shown
    assert "§ History\nIt is 330 metres tall.\nEiffel built it." in shown
    assert "put the number of the page" in plain["system"][0]["text"]
    assert "[1]" in first.text
    assert "[3]" in second.text
    keys = [call.request["turns"][0]["blocks"][0]["title"] for call in on.calls.made]
    assert keys == ["Tower", "Tower"]  # the journal's keys do not depend on what was learned


# ---------------------------------------------------------------- questions below the answer

TALL = cited("It is 330 metres tall.", citation(0, 0, 1))
BELOW = "\n\n<ask_next>\n- Who built it?\n- When did it open?"
NEXT = ("Who built it?", "When did it open?")


async def told(on: Stage) -> tuple[Written, list[str]]:
    """The answer, and its text at each moment."""
    shown: list[str] = []
    return await write(on.claude.write(ASKED, BOTH), BOTH, shown.append), shown


@pytest.mark.parametrize(
    "below", [BELOW, cited(BELOW, citation(1, 0, 1)), f"{BELOW}\n</ask_next>\nThat is all."]
)
@pytest.mark.parametrize("with_marks", [False, True])
async def test_the_questions_are_split_off_and_never_shown(
    stage: OpenStage, below: Any, with_marks: bool
) -> None:
    on = stage([says(TALL, below)], refuses={"search_result": REFUSED} if with_marks else {})
    answer, shown = await told(on)
    assert answer.suggested == NEXT
    assert answer.text.startswith("It is 330 metres tall")
    assert not any(word in text for text in shown for word in ("ask_next", "built", "open", "<"))
    assert len(answer.spans) == 1


@pytest.mark.parametrize("end", range(3, len(BELOW)))
async def test_what_is_cut_below_the_answer_shows_no_part_of_it(stage: OpenStage, end: int) -> None:
    on = stage([says(TALL, BELOW[:end], stop_reason="max_tokens")])
    answer, shown = await told(on)
    assert answer.text.rstrip() == "It is 330 metres tall [1]."
    assert {text.rstrip() for text in shown} <= {answer.text.rstrip()} | {
        "It is 330 metres tall."[:n] for n in range(30)
    }
    assert answer.suggested in ((), NEXT[:1])


async def test_questions_alone_are_no_answer(stage: OpenStage) -> None:
    on = stage([says(BELOW), says(BELOW)])
    with pytest.raises(ModelBroken, match="wrote no answer"):
        await composed(on)


async def test_the_journal_keeps_the_questions(stage: OpenStage) -> None:
    on = stage([says(TALL, BELOW)])
    first = await written(on)
    again = [delta async for delta in on.claude.write(ASKED, BOTH)]
    assert first[-1] == again[-1] == Suggested(NEXT)
    assert len(on.fake.calls) == 1


async def test_the_last_paragraph_of_a_report_asks_for_them(stage: OpenStage) -> None:
    on = stage([says(TALL, BELOW)])
    tall = Paragraph("Height", "How tall it is.", "It is tall.")
    deltas = [d async for d in on.claude.revise(ASKED, Manuscript((), tall), BOTH)]
    assert deltas[-1] == Suggested(NEXT)
    assert "<ask_next>" in texts(on.fake.calls[0]["messages"][0]["content"])


async def test_other_paragraphs_do_not(stage: OpenStage) -> None:
    on = stage([says(TALL)])
    tall = Paragraph("Height", "How tall it is.", "It is tall.")
    [d async for d in on.claude.revise(ASKED, Manuscript((), tall, ("Age",)), BOTH)]
    call = on.fake.calls[0]
    assert "ask_next" not in texts(call["messages"][0]["content"]) + call["system"][0]["text"]


# ---------------------------------------------------------------- streams that break


@pytest.mark.parametrize("kind", ["cut", "reset", "end", "error"])
async def test_a_cut_stream_begins_anew(stage: OpenStage, kind: Any) -> None:
    cut = says(cited("It is old. " * 20, citation(0, 0, 1)), fault=Fault(kind, after=9))
    on = stage([cut, cut, says(cited("It is 330 metres tall.", citation(0, 0, 1)))])
    deltas = await written(on)
    assert sum(isinstance(delta, Restart) for delta in deltas) == 2
    assert text_of(deltas) == "It is 330 metres tall."
    after = deltas[max(at for at, d in enumerate(deltas) if isinstance(d, Restart)) :]
    assert spans(after) == [(1, 0)]
    paid = [request.usage["input_tokens"] for request in on.fake.requests]
    assert on.calls.last.input_tokens == sum(paid)  # what was cut off was paid for too
    on.calls = MemoryCalls(replies=on.calls.replies, streams=on.calls.streams)
    assert await written(on) == deltas
    assert len(on.fake.requests) == 3


async def test_a_stream_that_is_cut_three_times_is_given_up(stage: OpenStage) -> None:
    on = stage([says("x" * 400, fault=Fault("cut"))] * 4)
    with pytest.raises(ModelUnavailable):
        await written(on)
    assert len(on.fake.requests) == 3
    [wasted] = on.calls.wasted
    paid = [request.usage["input_tokens"] for request in on.fake.requests]
    assert wasted.input_tokens == sum(paid)  # it came to nothing, but was paid for


async def test_half_a_citation_before_a_cut_is_forgotten(stage: OpenStage) -> None:
    cut = says(cited("x" * 90, citation(0, 0, 1)), fault=Fault("cut", after=6))
    on = stage([cut, says("Nothing cited.")], citations_first=True)
    assert spans(await written(on)) == []


# ---------------------------------------------------------------- how an answer may end


async def test_an_answer_cut_at_the_limit_says_so(stage: OpenStage) -> None:
    reply = says(cited("It is 330 metres", citation(0, 0, 1)), stop_reason="max_tokens")
    on = stage([reply])
    deltas = await written(on)
    assert spans(deltas) == [(1, 0)]
    assert text_of(deltas) == "It is 330 metres"
    assert deltas[-1] == Cut(8_000)
    answer = await composed(on)
    assert (answer.text, answer.cut) == ("It is 330 metres [1]", 8_000)


async def test_an_answer_that_was_all_thinking_gets_more_room(stage: OpenStage) -> None:
    on = stage([says(thinking("long " * 50), stop_reason="max_tokens"), says("Short.")])
    assert text_of(await written(on)) == "Short."
    limits = [body["max_tokens"] for body in on.fake.calls]
    assert limits == [8_000, 20_000]
    tokens = [request.usage["output_tokens"] for request in on.fake.requests]
    assert on.calls.last.output_tokens == sum(tokens)


async def test_an_answer_that_never_comes_is_an_error(stage: OpenStage) -> None:
    on = stage([says(), says("  ")])
    with pytest.raises(ModelBroken, match="wrote no answer"):
        await written(on)


async def test_a_refusal_in_mid_answer_is_an_error(stage: OpenStage) -> None:
    on = stage([says("Well, ", stop_reason="refusal")])
    with pytest.raises(ModelRefused):
        await written(on)


async def test_too_many_passages_are_halved_until_they_fit(stage: OpenStage) -> None:
    pages = [a_source(n, *(f"{n} {at} " + "x" * 4_000 for at in range(8))) for n in range(1, 9)]
    given = evidence(*pages, findings=(finding("x", 2, 5),))
    on = stage(context_window=20_000)
    deltas = await written(on, given)
    assert on.statuses[-1] == 200
    final = on.fake.calls[-1]["messages"][0]["content"]
    kept = [block["source"] for block in final if block["type"] == "search_result"]
    assert kept == [pages[1].url, pages[4].url]  # those that findings name
    assert SHORTENED in final[-1]["text"]
    cited_numbers = {d.number for d in deltas if isinstance(d, CitationDelta)}
    assert cited_numbers <= {2, 5}
    assert cited_numbers


async def test_what_cannot_be_halved_any_more_is_an_error(stage: OpenStage) -> None:
    on = stage([Fail(413, "too large")] * 20)
    with pytest.raises(ModelBroken, match="larger than the model takes"):
        await written(on)
    assert len(on.fake.requests) < 6


async def test_text_arrives_as_it_is_written(stage: OpenStage) -> None:
    on = stage([says("0123456789abcdef" * 4)], tokens_per_event=1)
    deltas = await written(on)
    assert [d.text for d in deltas if isinstance(d, TextDelta)][:2] == ["0123", "4567"]
    assert [d.opens for d in deltas if isinstance(d, TextDelta)][:3] == [True, False, False]


async def test_the_answer_rests_on_the_model_and_effort_of_the_settings(stage: OpenStage) -> None:
    on = stage(effort="medium", model="claude-sonnet-5")
    await written(on)
    [request] = on.fake.calls
    assert request["output_config"] == {"effort": "medium"}
    assert request["thinking"] == {"type": "adaptive"}


TOWER, BUILT = a_source(7), a_source(8)
BOTH_READ = Workspace(
    given=(Outcome("given", reads=(ReadResult(1, TOWER), ReadResult(2, BUILT))),), may_reply=True
)
ANSWER = (
    cited("It is 330 metres tall.", citation(0, 0, 1)),
    text(" "),
    cited("Gustave Eiffel built it.", citation(1, 1, 2)),
)
DELTAS: list[AnswerDelta] = [
    TextDelta("It is 330 metres tall.", opens=True, has_marks=False),
    CitationDelta(7, TOWER.passages[0].start, TOWER.passages[0].end),
    TextDelta(" ", opens=True, has_marks=False),
    TextDelta("Gustave Eiffel built it.", opens=True, has_marks=False),
    CitationDelta(8, BUILT.passages[1].start, BUILT.passages[1].end),
]


def joined(deltas: list[AnswerDelta]) -> list[AnswerDelta]:
    """Text in a row as one delta."""
    found: list[AnswerDelta] = []
    for delta in deltas:
        last = found[-1] if found else None
        if isinstance(delta, TextDelta) and isinstance(last, TextDelta) and not delta.opens:
            found[-1] = replace(last, text=last.text + delta.text)
        else:
            found.append(delta)
    return found


async def test_cited_words_without_a_call_are_the_answer(stage: OpenStage) -> None:
    told: list[AnswerDelta] = []
    turn = await stage([says(*ANSWER)]).claude.next_turn(QUESTION, BOTH_READ, told.append)
    assert turn.actions == (Reply(tuple(DELTAS)),)
    assert joined(told) == DELTAS


async def test_it_is_told_while_the_rest_is_still_to_come(stage: OpenStage) -> None:
    long = cited("More of it. " * 60, citation(1, 0, 1))
    on = stage([says(ANSWER[0], text(" "), long)], rate=600.0)
    told = asyncio.Event()
    turn = asyncio.create_task(on.claude.next_turn(QUESTION, BOTH_READ, lambda delta: told.set()))
    await asyncio.wait_for(told.wait(), 10)
    assert not turn.done()
    assert isinstance((await turn).actions[0], Reply)


@pytest.mark.parametrize(
    "blocks",
    [
        [text("I think the answer is 42.")],
        [text("I look for it."), tool("search", {"queries": ["a"]}, "c1")],
        [text("   ")],
    ],
    ids=["no citation", "a call", "nothing"],
)
async def test_what_cites_nothing_or_calls_is_no_answer(
    stage: OpenStage, blocks: list[Any]
) -> None:
    told: list[AnswerDelta] = []
    turn = await stage([says(*blocks)]).claude.next_turn(QUESTION, BOTH_READ, told.append)
    assert not any(isinstance(action, Reply) for action in turn.actions)
    assert told == []


async def test_an_answer_that_ends_in_a_call_is_taken_back(stage: OpenStage) -> None:
    told: list[AnswerDelta] = []
    reply = says(*ANSWER, tool("search", {"queries": ["a"]}, "c1"))
    turn = await stage([reply]).claude.next_turn(QUESTION, BOTH_READ, told.append)
    assert turn.actions == (Search(("a",), "c1"),)
    assert told[-1] == Restart()


async def test_a_stream_that_is_cut_begins_again(stage: OpenStage) -> None:
    told: list[AnswerDelta] = []
    on = stage([says(*ANSWER, fault=Fault("cut", after=8)), says(*ANSWER)])
    turn = await on.claude.next_turn(QUESTION, BOTH_READ, told.append)
    assert turn.actions == (Reply(tuple(DELTAS)),)
    at = told.index(Restart())
    assert joined(told[at + 1 :]) == DELTAS


async def test_only_where_it_may(stage: OpenStage) -> None:
    told: list[AnswerDelta] = []
    on = stage([says(*ANSWER)])
    turn = await on.claude.next_turn(QUESTION, replace(BOTH_READ, may_reply=False), told.append)
    assert (turn.actions, told) == ((), [])


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("It is tall [1]. Eiffel built it [2.1].", "It is tall [7]. Eiffel built it [8]."),
        ("It is tall [9] [1].", "It is tall  [7]."),
    ],
)
def test_without_citations_marks_name_pages_of_the_desk(said: str, written: str) -> None:
    pages = {1: TOWER, 2: BUILT}
    turn = replied(text(said))
    assert reply_of(turn, BOTH_READ.sources, pages) is None
    assert reply_of(replace(turn, plain=True), BOTH_READ.sources, pages) == Reply(
        (TextDelta(written, opens=True),)
    )


@pytest.mark.parametrize(
    "broken",
    [
        {"search_result_index": 9, "start_block_index": 0, "end_block_index": 1},
        {"search_result_index": 0, "start_block_index": -1, "end_block_index": 1},
    ],
)
def test_a_citation_that_leads_nowhere_is_none(broken: dict[str, Any]) -> None:
    block = {"type": "text", "text": "It is tall.", "citations": [broken]}
    assert reply_of(replied(block), BOTH_READ.sources, {}) is None


# ---------------------------------------------------------------- questions below the answer

BELOW_THE_ANSWER = "\n\n<ask_next>\nWho was Eiffel?\nWhen did it open?\n</ask_next>"
ASKED_NEXT = Suggested(("Who was Eiffel?", "When did it open?"))


@pytest.mark.parametrize(
    "below",
    [
        (text(BELOW_THE_ANSWER),),
        (cited(BELOW_THE_ANSWER, citation(0, 0, 1)),),
        (text(BELOW_THE_ANSWER[:7]), text(BELOW_THE_ANSWER[7:])),
    ],
)
async def test_the_questions_below_the_answer_are_not_told(
    stage: OpenStage, below: tuple[Any, ...]
) -> None:
    told: list[AnswerDelta] = []
    on = stage([says(*ANSWER, *below)])
    turn = await on.claude.next_turn(QUESTION, BOTH_READ, told.append)
    (reply,) = turn.actions
    assert isinstance(reply, Reply)
    assert reply.deltas[-1] == ASKED_NEXT
    for deltas in (told, list(reply.deltas)):
        shown = [delta for delta in joined(deltas) if not isinstance(delta, Suggested)]
        assert [one for one in shown if isinstance(one, CitationDelta)] == [DELTAS[1], DELTAS[4]]
        words = "".join(delta.text for delta in shown if isinstance(delta, TextDelta))
        assert words.rstrip() == "It is 330 metres tall. Gustave Eiffel built it."


def test_with_marks_the_questions_are_split_off_too() -> None:
    reply = replace(replied(text(f"It is 330 metres tall [1].{BELOW_THE_ANSWER}")), plain=True)
    found = reply_of(reply, (TOWER,), {1: TOWER})
    assert found is not None
    assert found.deltas == (TextDelta("It is 330 metres tall [7].", opens=True), ASKED_NEXT)


SHOWN = "It is **330 metres** tall [1].\n\n- Iron\n- Paint\n\n```\nx < 5\n```"
NEXT_ONES = ("Who built it?", "How many steps lead to the top?")
LINES = "\n".join(NEXT_ONES)


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def split(text: str, size: int) -> tuple[str, tuple[str, ...]]:
    splitter = Splitter()
    shown = "".join(map(splitter.shown, pieces(text, size)))
    return shown + splitter.ended(is_last=True), splitter.questions


TAGS = (
    "<ask_next>",
    "<ask_next",
    "< ask_next >",
    "<ASK_NEXT>",
    "<ask-next>",
    "</ask_next>",
    "<ask_next/>",
    "[ask_next]",
    "**<ask_next>**",
    "`<ask_next>`",
    "\\<ask_next\\>",
    "### <ask_next>",
    "> <ask_next>",
    "- <ask_next>",
    "ask_next:",
    "**ask_next**",
    "## Ask_next",
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
@pytest.mark.parametrize("tag", TAGS)
def test_nothing_of_the_tag_is_shown_however_it_is_written(tag: str, size: int) -> None:
    assert split(f"{SHOWN}\n\n{tag}\n{LINES}", size) == (SHOWN, NEXT_ONES)


@pytest.mark.parametrize("size", [1, 4, 1_000])
@pytest.mark.parametrize(
    "text",
    [
        f"{SHOWN}\n<ask_next>{LINES}</ask_next>",
        f"{SHOWN}\n<ask_next>\n- {NEXT_ONES[0]}\n- {NEXT_ONES[1]}\n</ask_next>\n",
        f"{SHOWN}\n<ask_next>\n1. {NEXT_ONES[0]}\n2. {NEXT_ONES[1]}",
        f"{SHOWN}\n<ask_next> {NEXT_ONES[0]} {NEXT_ONES[1]}",
        f"{SHOWN}\n<ask_next>\n<ask_next>{NEXT_ONES[0]}</ask_next>\n<ask_next>{NEXT_ONES[1]}</ask_next>",
        f"{SHOWN}\n<ask_next>\nYou could ask:\n{LINES}\nand more",
    ],
)
def test_the_questions_come_in_many_forms(text: str, size: int) -> None:
    assert split(text, size) == (SHOWN, NEXT_ONES)


TAG = "\n\n**<ask_next>**\n"


@pytest.mark.parametrize("end", range(1, len(TAG) + 1))
@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_a_stream_that_is_cut_in_the_tag_shows_nothing_of_it(end: int, size: int) -> None:
    shown, asked = split(f"It is tall [1].{TAG[:end]}", size)
    assert (shown.rstrip("\n* "), asked) == ("It is tall [1].", ())


@pytest.mark.parametrize("size", [1, 4, 1_000])
@pytest.mark.parametrize("tag", TAGS[:12])
def test_a_tag_behind_the_last_sentence_ends_it(tag: str, size: int) -> None:
    assert split(f"It is tall [1]. {tag} {LINES}", size) == ("It is tall [1].", NEXT_ONES)


@pytest.mark.parametrize("end", range(len("How many steps lead to the top")))
def test_a_question_that_is_cut_is_none(end: int) -> None:
    shown, asked = split(f"{SHOWN}\n<ask_next>\n{NEXT_ONES[0]}\n{NEXT_ONES[1][:end]}", 3)
    assert (shown, asked) == (SHOWN, NEXT_ONES[:1])


@pytest.mark.parametrize("size", [1, 2, 5, 1_000])
@pytest.mark.parametrize(
    "text",
    [
        SHOWN,
        "A",
        "As",
        "It is a",
        "Call `ask_next` or ask_next() of the queue, task_next, x.ask_next or ask_next.py.",
        "If a < b [2], ask the next one: <a href> [a] and <as> stay.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "它高 330 米[1]。\n\n> 没有找到。",
        "Ask next door.\n",
        "- a\n- b\n\n---\n",
        "```\nask\n```",
    ],
)
def test_other_words_are_shown_unchanged(text: str, size: int) -> None:
    assert split(text, size) == (text, ())


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_at_no_time_is_a_part_of_the_tag_shown(size: int) -> None:
    splitter, shown = Splitter(), ""
    for piece in pieces(f"{SHOWN}\n\n<ask_next>\n{LINES}", size):
        shown += splitter.shown(piece)
        assert SHOWN.startswith(shown)


def test_the_end_of_a_block_releases_what_begins_no_tag() -> None:
    splitter = Splitter()
    assert (splitter.shown("It is:\n- "), splitter.ended()) == ("It is:", "\n- ")
    assert (splitter.shown("x <"), splitter.ended()) == ("x", "")
    assert splitter.shown("ask_next>\nWho?") == ""
    assert splitter.questions == ("Who?",)


def test_what_follows_the_tag_is_bounded() -> None:
    splitter = Splitter()
    for _ in range(10_000):
        splitter.shown("<ask_next> and on ")
    assert len(splitter._next or "") == LONGEST


@pytest.mark.parametrize("prompt", ["write", "iterate"])
def test_the_prompts_of_an_answer_ask_for_it(prompt: str) -> None:
    text = load(prompt, citing="", ask_next=load("ask_next"))
    assert "`<ask_next>`" in text
