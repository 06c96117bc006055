"""The contract of every reasoner; a new one starts here: add it to ``REASONERS``.

A reasoner thinks over values and makes its calls through ``ModelCalls``; it never searches or
reads. So each case is played against a small core of the test's own, which does, over a shelf of
a few pages. What the reasoner must do is the same for all: actions that can be carried out, an
end, findings and citations that lead to what was shown, and the same again when it is replayed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import get_args

import pytest

from bot.core.measurements import nothing_observed
from bot.core.messages import Entry, Judgement, Transcript
from bot.operation.configuration import load_settings
from bot.pages.pictures import Picture, PictureUnread, picture_in
from bot.pages.urls import dedupe_key
from bot.reasoning.calls import ModelCalls
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Claim,
    Evidence,
    Finding,
    Kind,
    Manuscript,
    Outcome,
    Paragraph,
    ReadResult,
    Restart,
    Rewritten,
    Scope,
    SubQuestion,
    TextDelta,
    Verdict,
    Workspace,
)
from bot.reasoning.graphs import EXTENSIONS, Graph, NewNode, edited, startable
from bot.reasoning.reasoner import Reasoner, ReasonerFactory, Researcher, chosen_reasoner
from bot.rendering.marks import normalise, without_marks
from tests.contract.core import Core
from tests.fakes.calls import MemoryCalls
from tests.fakes.claude import FakeClaude
from tests.fakes.claude_stage import open_claude
from tests.fakes.openai import FakeOpenAI
from tests.fakes.pictures import animated, drawn
from tests.fakes.server import serve
from tests.unit.samples import a_message

ASKED = "Where was Benjamin Baker, designer of the Forth Bridge, born?"


# ---------------------------------------------------------------- the reasoners


@asynccontextmanager
async def _claude_of(fake: FakeClaude) -> AsyncIterator[ReasonerFactory]:
    with serve(fake) as url:
        settings = load_settings(anthropic_api_key="sk-test", anthropic_base_url=url)
        async with open_claude(settings) as make:
            yield make
    assert [r.problem for r in fake.requests if r.problem and r.status != 400] == []


@asynccontextmanager
async def claude() -> AsyncIterator[ReasonerFactory]:
    async with _claude_of(fake := FakeClaude()) as make:
        yield make
    assert {r.status for r in fake.requests} <= {200, 400}


@asynccontextmanager
async def blind_claude() -> AsyncIterator[ReasonerFactory]:
    refusal = "messages.0.content.0: Input tag 'image' found using 'type' is not expected"
    async with _claude_of(FakeClaude(refuses={"image": refusal})) as make:
        yield make


@asynccontextmanager
async def blind_openai() -> AsyncIterator[ReasonerFactory]:
    refusal = "Invalid content type. image_url is only supported by certain models."
    async with _openai_of(FakeOpenAI(refuses={"image": refusal})) as make:
        yield make


@asynccontextmanager
async def claude_with_marks() -> AsyncIterator[ReasonerFactory]:
    refusal = "messages.0.content.0: Input tag 'search_result' found using 'type' is not expected"
    async with _claude_of(FakeClaude(refuses={"search_result": refusal})) as make:
        yield make


@asynccontextmanager
async def _openai_of(fake: FakeOpenAI) -> AsyncIterator[ReasonerFactory]:
    with serve(fake) as url:
        settings = load_settings(model="openai:gpt-a", openai_base_url=f"{url}/v1")
        async with chosen_reasoner(settings).open(settings, nothing_observed, True) as make:
            yield make
    assert fake.problems == []


@asynccontextmanager
async def openai() -> AsyncIterator[ReasonerFactory]:
    async with _openai_of(fake := FakeOpenAI()) as make:
        yield make
    assert set(fake.statuses) <= {200}


@asynccontextmanager
async def openai_of_few_features() -> AsyncIterator[ReasonerFactory]:
    refused = {
        "response_format": "response_format is not supported by this model",
        "reasoning_effort": "Unrecognized request argument supplied: reasoning_effort",
        "stream_options": "Extra inputs are not permitted: stream_options",
        "strict": "tools.0.function.strict: Extra inputs are not permitted",
        "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
    }
    async with _openai_of(FakeOpenAI(refuses=refused)) as make:
        yield make


@asynccontextmanager
async def closest() -> AsyncIterator[ReasonerFactory]:
    yield Closest


RESEARCHERS: list[Callable[[], AbstractAsyncContextManager[ReasonerFactory]]] = [
    claude,
    claude_with_marks,
    openai,
    openai_of_few_features,
]
REASONERS = [*RESEARCHERS, closest]


@pytest.fixture(params=REASONERS, ids=lambda opened: opened.__name__)
async def make(request: pytest.FixtureRequest) -> AsyncIterator[ReasonerFactory]:
    async with request.param() as factory:
        yield factory


@pytest.fixture(params=RESEARCHERS, ids=lambda opened: opened.__name__)
async def make_researcher(
    request: pytest.FixtureRequest,
) -> AsyncIterator[Callable[[ModelCalls], Researcher]]:
    async with request.param() as factory:

        def make(calls: ModelCalls) -> Researcher:
            made = factory(calls)
            assert isinstance(made, Researcher)
            return made

        yield make


@pytest.fixture
def calls() -> MemoryCalls:
    return MemoryCalls()


@pytest.fixture
def reasoner(make: ReasonerFactory, calls: MemoryCalls) -> Reasoner:
    return make(calls)


@pytest.fixture
def researcher(
    make_researcher: Callable[[ModelCalls], Researcher], calls: MemoryCalls
) -> Researcher:
    return make_researcher(calls)


# ---------------------------------------------------------------- asking and collecting


async def collected(stream: AsyncIterator[AnswerDelta]) -> list[AnswerDelta]:
    """The deltas after the last restart."""
    kept: list[AnswerDelta] = []
    async for delta in stream:
        if isinstance(delta, Restart):
            kept.clear()
        else:
            kept.append(delta)
    return kept


def text_of(deltas: list[AnswerDelta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def asked(question: str = ASKED, language: str = "en") -> Rewritten:
    return Rewritten("search", question, ("benjamin baker",), language=language)


# ---------------------------------------------------------------- rewrite


def test_it_has_a_name(reasoner: Reasoner) -> None:
    assert reasoner.name


@pytest.mark.parametrize(
    "text", [ASKED, "forth bridge", "福斯桥是什么时候开通的？", "  Who?\n\nWhen? ", "x" * 20_000]
)
async def test_a_first_message_becomes_a_question_with_queries(
    reasoner: Reasoner, text: str
) -> None:
    rewritten = await reasoner.rewrite(Transcript(), a_message(text))
    assert rewritten.kind in get_args(Kind)
    assert rewritten.question.strip()
    assert 1 <= len(rewritten.queries) <= 4
    assert all(query.strip() for query in (*rewritten.queries, *rewritten.knowledge_queries))
    assert rewritten.language
    assert rewritten.depth in ("quick", "standard", "deep")


async def test_a_message_that_stands_alone_is_unchanged(reasoner: Reasoner) -> None:
    rewritten = await reasoner.rewrite(Transcript(), a_message(ASKED))
    assert rewritten.question == ASKED


async def test_the_language_is_the_askers(reasoner: Reasoner) -> None:
    rewritten = await reasoner.rewrite(Transcript(), a_message("福斯桥是什么时候开通的？"))
    assert rewritten.language.startswith("zh")


async def test_a_link_is_read(reasoner: Reasoner) -> None:
    message = a_message("Summarize https://example.org/bridges?x=1")
    message = replace(message, links=("https://example.org/bridges?x=1",))
    rewritten = await reasoner.rewrite(Transcript(), message)
    assert rewritten.kind == "links"
    assert rewritten.links == ("https://example.org/bridges?x=1",)


async def test_several_links_are_read_as_a_whole_each_page_once(reasoner: Reasoner) -> None:
    text = "Summarize https://example.org/a, [B](https://example.org/b) and <https://example.org/a>"
    rewritten = await reasoner.rewrite(Transcript(), a_message(text))
    assert (rewritten.kind, rewritten.whole) == ("links", True)
    assert [dedupe_key(link) for link in rewritten.links] == ["example.org/a", "example.org/b"]
    assert rewritten.question == text


async def test_both_kinds_of_search_get_queries(reasoner: Reasoner) -> None:
    rewritten = await reasoner.rewrite(Transcript(), a_message(ASKED))
    assert rewritten.queries
    assert rewritten.knowledge_queries
    assert rewritten.scope == Scope()


@pytest.mark.parametrize("text", ["Where is Frome?", "弗罗姆在哪个国家？"])
async def test_a_new_subject_in_a_thread_comes_back_unchanged(
    reasoner: Reasoner, text: str
) -> None:
    thread = Transcript((Entry("person", "Ada", "What is the longest river of Brazil?"),))
    assert (await reasoner.rewrite(thread, a_message(text))).question == text


async def test_a_greeting_is_answered_at_once(reasoner: Reasoner) -> None:
    rewritten = await reasoner.rewrite(Transcript(), a_message("Hello!"))
    assert rewritten.kind == "chat"
    assert rewritten.reply.strip() or isinstance(reasoner, Closest)  # the core greets for it


async def test_a_follow_up_carries_its_subject(reasoner: Reasoner) -> None:
    thread = Transcript(
        (
            Entry("person", "Ada", "When did the Forth Bridge open?"),
            Entry(
                "footnote",
                "Footnote",
                "It opened in 1890 [1].",
                "When did the Forth Bridge open?",
            ),
        )
    )
    rewritten = await reasoner.rewrite(thread, a_message("And who designed it?"))
    assert "Forth Bridge" in rewritten.question
    assert any("forth" in query.lower() for query in rewritten.queries)


# ---------------------------------------------------------------- the loop


@pytest.mark.parametrize(
    ("text", "language", "title"),
    [(ASKED, "en", "Benjamin Baker"), ("福斯桥", "zh", "福斯桥")],
)
async def test_it_finds_reads_and_finishes(
    researcher: Researcher, text: str, language: str, title: str
) -> None:
    core = Core()
    finish = await core.walk(researcher, SubQuestion(text, language, (text[:40],)))
    assert title in core.numbers
    assert finish.findings
    pages = set(core.numbers.values())
    assert {n for finding in finish.findings for n in finding.sources} <= pages


async def test_an_empty_world_ends_honestly(researcher: Researcher) -> None:
    core = Core(pages={})
    finish = await core.walk(researcher, SubQuestion(ASKED, "en", ("benjamin baker",)))
    assert not finish.enough
    assert not any(finding.sources for finding in finish.findings)


async def test_a_world_that_refuses_everything_ends_too(researcher: Researcher) -> None:
    core = Core(workspace=Workspace(searches_left=0, pages_left=0))
    assert not (await core.walk(researcher, SubQuestion(ASKED))).enough


async def test_pages_that_are_there_already_are_used(researcher: Researcher) -> None:
    core = Core()
    core.workspace = Workspace(
        given=(Outcome("given", reads=(core_read(core, "Benjamin Baker"),)),)
    )
    finish = await core.walk(researcher, SubQuestion("Where was Benjamin Baker born?"))
    assert any(1 in finding.sources for finding in finish.findings)


def core_read(core: Core, title: str) -> ReadResult:
    core.shown[title] = 1
    return core._read(1)


# ---------------------------------------------------------------- planning

BRIDGES = ("Forth Bridge", "Tay Bridge", "Skye Bridge")
SEVERAL = "When did the Forth Bridge open? When did the Tay Bridge fall? Who built the Skye Bridge?"


# More than one loop looks up at once.
MANY = (
    "When did the Forth Bridge open, and who built it, and how long is it, and where does it end, "
    "and what did it cost, and which trains use it, and how is it painted, "
    "and how high is it, and who owns it, and which town is near?"
)


async def planned(researcher: Researcher, question: SubQuestion) -> Graph:
    """The graph as the core makes it; the first node ends with a finding, the others with none."""
    graph = Graph()
    for left in range(EXTENSIONS, -1, -1):
        graph = edited(question.text, graph, await researcher.plan(question, graph))
        if not graph.turns[-1].accepted:
            break
        for number, node in enumerate(graph.nodes):
            found = (Finding("It opened in 1890.", (1,)),) if number == 0 else ()
            graph = graph.with_node(replace(node, state="done", findings=found))
        graph = graph.asked_again(left)
    return graph


@pytest.mark.parametrize(
    ("text", "language"), [(SEVERAL, "en"), (ASKED, "en"), ("福斯桥是什么时候开通的？", "zh")]
)
async def test_a_plan_is_sound_from_the_first(
    researcher: Researcher, text: str, language: str
) -> None:
    graph = await planned(researcher, SubQuestion(text, language))
    assert [turn.refused for turn in graph.turns] == [()] * len(graph.turns)
    assert graph.turns[0].edit.nodes
    assert all(node.question.strip() for node in graph.nodes)


async def test_questions_that_do_not_hang_together_are_researched_at_once(
    researcher: Researcher,
) -> None:
    graph = edited(SEVERAL, Graph(), await researcher.plan(SubQuestion(SEVERAL), Graph()))
    assert startable(graph) == list(graph.nodes)
    if len(graph.nodes) == 1:  # one loop looks all of it up at once
        assert len(graph.nodes[0].queries) == len(BRIDGES)
        return
    for name, node in zip(BRIDGES, graph.nodes, strict=True):
        assert name in node.question


async def test_a_plan_that_was_refused_is_corrected_or_ended(researcher: Researcher) -> None:
    for text in (SEVERAL, MANY):
        question = SubQuestion(text)
        first = await researcher.plan(question, Graph())
        if len(first.nodes) > 1:
            break
    lost = NewNode("z", "Who painted the Tower Bridge?", needs=("nowhere",))
    wrong = replace(first, nodes=(*first.nodes, lost))
    graph = edited(question.text, Graph(), wrong)
    assert graph.turns[-1].refused
    again = edited(question.text, graph, await researcher.plan(question, graph))
    assert again.turns[-1].refused == ()


# ---------------------------------------------------------------- writing


async def test_citations_are_of_the_passages_that_were_given(reasoner: Reasoner) -> None:
    evidence = read("Benjamin Baker", "Forth Bridge")
    deltas = await collected(reasoner.write(asked(), evidence))
    assert "Frome" in text_of(deltas)
    spans = {(s.number, p.start, p.end) for s in evidence.sources for p in s.passages}
    cited = [(d.number, d.start, d.end) for d in deltas if isinstance(d, CitationDelta)]
    assert set(cited) <= spans
    assert cited or "[1]" in text_of(deltas)


async def test_without_evidence_it_writes_without_citations(reasoner: Reasoner) -> None:
    evidence = Evidence(queries=("benjamin baker",), missing=("his birthplace",))
    deltas = await collected(reasoner.write(asked(), evidence))
    assert text_of(deltas).strip() or isinstance(reasoner, Closest)
    assert not any(isinstance(delta, CitationDelta) for delta in deltas)


# ---------------------------------------------------------------- a report

REPORT = replace(
    Rewritten("search", "Write a report on Benjamin Baker.", ("benjamin baker",)), long_form=True
)
BORN = Paragraph("Benjamin Baker", "Where he was born.", "Benjamin Baker was born in Oslo in 1066.")


def read(*titles: str) -> Evidence:
    """The evidence that these pages make."""
    core = Core()
    for number, title in enumerate(titles, 1):
        core.shown[title] = number
    reads = [core._read(number) for number in range(1, len(titles) + 1)]
    return Evidence(tuple(r.source for r in reads if r.source), enough=True)


async def test_a_draft_has_parts_with_a_text_each(researcher: Researcher) -> None:
    paragraphs = await researcher.draft(REPORT, read("Benjamin Baker", "Forth Bridge", "Frome"))
    assert 2 <= len(paragraphs) <= 8
    assert all(paragraph.text.strip() for paragraph in paragraphs)
    headings = [paragraph.heading for paragraph in paragraphs]
    assert all(headings[1:])
    assert len(set(headings)) == len(headings)
    assert not any(heading.startswith("#") or "\n" in heading for heading in headings)


@pytest.mark.parametrize("revised", [(), ("Benjamin Baker designed the Forth Bridge.",)])
async def test_a_paragraph_has_a_few_short_queries(
    researcher: Researcher, revised: tuple[str, ...]
) -> None:
    queries = await researcher.queries(REPORT, Manuscript(revised, BORN))
    assert 1 <= len(queries) <= 3
    assert all(query.strip() == query and 0 < len(query) <= 200 for query in queries)
    assert any("baker" in query.lower() for query in queries)


async def test_a_revision_rests_on_what_was_read_and_on_nothing_of_the_draft(
    researcher: Researcher,
) -> None:
    evidence = read("Benjamin Baker", "Forth Bridge")
    deltas = await collected(researcher.revise(REPORT, Manuscript((), BORN), evidence))
    text = text_of(deltas)
    assert "Frome" in text
    assert not any(claim in text for claim in ("Oslo", "1066"))
    spans = {(s.number, p.start, p.end) for s in evidence.sources for p in s.passages}
    cited = [(d.number, d.start, d.end) for d in deltas if isinstance(d, CitationDelta)]
    assert set(cited) <= spans
    assert cited or "[1]" in text


async def test_a_revision_repeats_nothing_of_the_report(researcher: Researcher) -> None:
    evidence = read("Benjamin Baker")
    first = await collected(researcher.revise(REPORT, Manuscript((), BORN), evidence))
    said = f"## Birth\n\n{without_marks(normalise(text_of(first), {1}))}"
    again = await collected(researcher.revise(REPORT, Manuscript((said,), BORN), evidence))
    assert "Frome" not in text_of(again)


async def test_a_revision_without_evidence_is_a_remark_without_citations(
    researcher: Researcher,
) -> None:
    deltas = await collected(researcher.revise(REPORT, Manuscript(("It is.",), BORN), Evidence()))
    assert text_of(deltas).strip().startswith(">")
    assert not any(isinstance(delta, CitationDelta) for delta in deltas)


# ---------------------------------------------------------------- statements, verifying


async def test_statements_stand_in_the_text_in_its_order(researcher: Researcher) -> None:
    text = "The Forth Bridge opened in 1890. Benjamin Baker was born in Frome. Nice!"
    found = [each for each in await researcher.statements(text) if each.queries]
    places = [text.find(each.text.rstrip(".")) for each in found]
    assert len(places) >= 2
    assert -1 not in places
    assert places == sorted(places)


ANSWER = "Benjamin Baker was born in Frome. The bridge is of marble."
CLAIMS = (
    Claim("Benjamin Baker was born in Frome.", ("Sir Benjamin Baker was born in Frome.",)),
    Claim("The bridge is of marble.", ("The bridge is of steel.", "It opened in 1890.")),
)


async def test_every_claim_gets_a_verdict_or_none(researcher: Researcher) -> None:
    found = await researcher.verify(ASKED, ANSWER, CLAIMS)
    assert len(found) == len(CLAIMS)
    assert {each.judgement for each in found if each} <= set(get_args(Judgement))


async def test_every_claim_is_restated_or_not(researcher: Researcher) -> None:
    verdicts = (Verdict("partly", "in Frome"), Verdict("contradicted"))
    found = await researcher.restate(ASKED, ANSWER, CLAIMS, verdicts)
    assert len(found) == len(CLAIMS)
    assert all(isinstance(each.text, str) for each in found)


async def test_every_pair_of_sentences_is_compared_or_not(researcher: Researcher) -> None:
    pairs = [("It is open to all.", "It is open to members."), ("It is red.", "Red it is.")]
    found = await researcher.compare(ASKED, pairs)
    assert len(found) == len(pairs)
    assert set(found) <= {True, False, None}


# ---------------------------------------------------------------- pictures


def pictures(*texts: str, kind: str = "PNG") -> tuple[Picture, ...]:
    found = (picture_in(drawn(text, kind)) for text in texts)
    return tuple(picture for picture in found if picture is not None)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_pictures_of_each_kind_are_seen_in_order(researcher: Researcher, kind: str) -> None:
    said = ("Error E4711", "Größe: 42 µm", "第三張")
    assert await researcher.see(pictures(*said, kind=kind)) == said


async def test_the_first_image_of_an_animation_is_seen(researcher: Researcher) -> None:
    picture = picture_in(animated("First", "Second"))
    assert picture is not None
    assert await researcher.see([picture]) == ("First",)


async def test_a_picture_is_seen_once_and_its_content_is_in_no_journal(
    make_researcher: Callable[[ModelCalls], Researcher], calls: MemoryCalls
) -> None:
    for _ in range(2):
        assert await make_researcher(calls).see(pictures("Error E4711")) == ("Error E4711",)
    assert len(calls.replies) == 1
    assert len(str(calls.made[0].request["pictures"])) < 200
    await make_researcher(calls).see(pictures("Error E4712"))
    assert len(calls.replies) == 2


@pytest.mark.parametrize("opened", [blind_claude, blind_openai])
async def test_a_model_that_does_not_see_says_so_and_does_the_rest(
    opened: Callable[[], AbstractAsyncContextManager[ReasonerFactory]], calls: MemoryCalls
) -> None:
    async with opened() as make:
        reasoner = make(calls)
        assert isinstance(reasoner, Researcher)
        for _ in range(2):
            with pytest.raises(PictureUnread) as blind:
                await reasoner.see(pictures("Error E4711"))
            assert blind.value.text_id == "picture-no-sight"
        rewritten = await reasoner.rewrite(Transcript(), a_message("Tell me about the Tay Bridge"))
        assert rewritten.kind == "search"


# ---------------------------------------------------------------- again


async def test_a_replayed_run_is_the_same_and_makes_no_call(
    make_researcher: Callable[[ModelCalls], Researcher], calls: MemoryCalls
) -> None:
    async def run(calls: MemoryCalls) -> tuple[Rewritten, Graph, Workspace, list[AnswerDelta]]:
        researcher = make_researcher(calls)
        rewritten = await researcher.rewrite(Transcript(), a_message(ASKED, event_id="e1"))
        graph = await planned(researcher, SubQuestion(SEVERAL))
        core = Core()
        finish = await core.walk(researcher, SubQuestion(rewritten.question))
        deltas = await collected(researcher.write(rewritten, core.evidence(finish)))
        paragraph = (await researcher.draft(rewritten, core.evidence(finish)))[-1]
        manuscript = Manuscript((text_of(deltas),), paragraph)
        assert await researcher.queries(rewritten, manuscript)
        await researcher.verify(ASKED, ANSWER, CLAIMS)
        await researcher.restate(
            ASKED, ANSWER, CLAIMS, (Verdict("partly"), Verdict("contradicted"))
        )
        await researcher.compare(ASKED, [("It is red.", "It is blue.")])
        revised = researcher.revise(rewritten, manuscript, core.evidence(finish))
        return rewritten, graph, core.workspace, deltas + await collected(revised)

    class NoCalls(MemoryCalls):
        def _ask(self, request: object, kind: str, title: str) -> str:
            key = super()._ask(request, kind, title)  # type: ignore[arg-type]
            assert key in self.replies, "a finished call was made again"
            return key

    first = await run(calls)
    assert await run(NoCalls(replies=calls.replies, streams=calls.streams)) == first


async def test_runs_side_by_side_do_not_mix(
    make_researcher: Callable[[ModelCalls], Researcher],
) -> None:
    async def run(title: str) -> set[str]:
        core = Core()
        await core.walk(
            make_researcher(MemoryCalls()), SubQuestion(f"What is {title}?", "en", (title,))
        )
        return set(core.numbers)

    found = await asyncio.gather(run("Frome"), run("Tay Bridge"), run("Forth Bridge"))
    assert "Frome" in found[0]
    assert "Tay Bridge" in found[1]
    assert "Forth Bridge" in found[2]
