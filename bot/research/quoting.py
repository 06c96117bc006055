"""Answers made of quotes, without a model: the closest passages, or those of earlier answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from bot.core.messages import Citation, Entry
from bot.core.reader import is_document
from bot.core.texts import Texts, texts_in
from bot.pages.page import Page
from bot.pages.passages import Passage
from bot.pages.urls import dedupe_key
from bot.pages.validity import validity_of
from bot.reasoning.closest_passages import heading_path, leads
from bot.reasoning.evidence import Evidence, Judged, Rewritten, Source, SubQuestion, TextDelta
from bot.reasoning.reasoner import Reasoner
from bot.reasoning.wording import pages_of
from bot.research.composer import Checked, Composer, Written, citation, within, write
from bot.research.run import Run
from bot.research.selection import merge_sources
from bot.research.strategies import direct
from bot.research.working_set import Reading

PAGES = 6  # read for the question,
FURTHER = 2  # and for the names of its best passage
NEAREST = 3  # pages offered if nothing answers the question

_title = TypeAdapter(str)


async def gather(
    run: Run, question: SubQuestion, reading: Reading, links: tuple[str, ...]
) -> Evidence:
    """Read the links and the best pages for a question, then those for the names of the best
    passage: it may say who is meant, and another page what was asked."""
    if not (links or question.queries or question.knowledge_queries):
        question = replace(question, queries=(question.text,), knowledge_queries=(question.text,))
    found = await direct(run, question, reading, links=links, pages=PAGES)
    if question.queries and not found.notes:
        read = (each for each in merge_sources(run.sources) if not run.is_question(each.url))
        evidence = Evidence(tuple(read), rarity=run.rarity)
        if queries := leads(question.text, evidence):
            further = replace(question, queries=queries, knowledge_queries=queries)
            await direct(run, further, reading, pages=FURTHER)
    return replace(found, sources=merge_sources(run.sources), queries=tuple(run.queries))


async def shown(
    run: Run,
    reasoner: Reasoner,
    question: Rewritten,
    evidence: Evidence,
    on_text: Callable[[str], None],
) -> Checked:
    """Return the closest passages below a heading that says what they are (what sources said needs
    none), or that there are none. Quotes need no check: they are verbatim."""
    texts = texts_in(question.language, run.texts)
    sources = tuple(each for each in evidence.sources if not run.is_question(each.url))
    heading = "" if question.kind == "sources" else f"### {texts('closest-passages')}\n\n"
    evidence = replace(evidence, sources=sources, rarity=run.rarity)
    stream = reasoner.write(question, evidence, run.options.instructions)
    written = await write(stream, evidence, lambda text: on_text(heading + text if text else text))
    if written.judged is not None:
        await _show_judgement(run, question.question, written.judged)
    citations = _cited(written, evidence, texts)
    if citations:
        return Checked(heading + written.text.strip(), citations)
    on_text(text := _nothing(evidence, texts))
    return Checked(text, ())


def _cited(written: Written, evidence: Evidence, texts: Texts) -> tuple[Citation, ...]:
    sources = {source.number: source for source in evidence.sources}
    deltas = dict.fromkeys(delta for span in written.spans for delta in span.citations)
    return tuple(
        citation(sources[delta.number], passage, texts)
        for delta in deltas
        for passage in within(sources[delta.number].passages, delta)
    )


def _nothing(evidence: Evidence, texts: Texts) -> str:
    """Return the notice that nothing was found, with links to the nearest pages."""
    own = evidence.sources and all(is_document(source.url) for source in evidence.sources)
    said = texts("closest-none-documents" if own else "closest-none")
    pages = [f"[{heading_path(source)}](<{source.url}>)" for source in evidence.sources[:NEAREST]]
    if pages:
        said += f"\n> {texts('closest-nearest', pages='; '.join(pages))}"
    composer = Composer(evidence)
    composer.add(TextDelta(f"> {said}", has_marks=False))
    return composer.finish().text


async def _show_judgement(run: Run, question: str, judged: Judged) -> None:
    """Show a line in the plan and the trace that says why there is an answer or none."""
    if judged.unknown:
        title = run.texts("judged-unknown", names=", ".join(judged.unknown))
    elif math.isinf(judged.enough):
        title = run.texts("judged-open")
    else:
        covered, enough = (round(100 * share) for share in (judged.covered, judged.enough))
        title = run.texts("judged-share", covered=covered, enough=enough)

    await run.keep("judge", {"question": question}, title, _title, title)


async def recall(run: Run, answers: Sequence[Entry]) -> Evidence:
    """Return the passages quoted by answers' footnotes, each page as it was read then.

    Pages no longer stored are fetched again. Footnotes whose words a page no longer has are left
    out, and a note names pages of which nothing is left.
    """
    urls = pages_of(answers)
    read = await run.read(urls)
    pages = [page for page in read if isinstance(page, Page)]
    numbers = await run.number(pages)
    unread = [
        run.notes.unread(url, page)
        for url, page in zip(urls, read, strict=True)
        if isinstance(page, str)
    ]
    cited = [citation for answer in answers for citation in answer.cited]
    today = run.message.at.date()
    sources = [
        Source(
            *(number, page.url, page.title, passages, page.hash, page.fetched_at, page.via),
            validity=validity_of(page.url, page.title, page.text, today),
        )
        for number, page in sorted(dict(zip(numbers, pages, strict=True)).items())
        if (passages := _passages(page, cited))
    ]
    run.sources += sources
    return Evidence(sources=tuple(sources), enough=bool(sources), notes=tuple(unread))


def _passages(page: Page, cited: Sequence[Citation]) -> tuple[Passage, ...]:
    """Return the cited passages of a page, in page order."""
    key = dedupe_key(page.url)
    found: dict[tuple[int, int], Passage] = {}
    for quoted in cited:
        if dedupe_key(quoted.url) != key:
            continue
        start = quoted.start
        if page.hash != quoted.page_hash:
            start = page.text.find(quoted.quote)
        end = start + len(quoted.quote)
        if start >= 0:
            found[start, end] = Passage(start, end, page.text[start:end], quoted.heading)
    return tuple(found[span] for span in sorted(found))
