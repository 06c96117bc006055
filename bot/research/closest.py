"""Answers without a model: searches, reads the best pages, and shows their closest passages."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from pydantic import TypeAdapter

from bot.core.messages import Citation
from bot.core.reader import is_document
from bot.core.texts import Texts, texts_in
from bot.reasoning.closest_passages import heading_path, leads
from bot.reasoning.evidence import Evidence, Judged, Rewritten, SubQuestion, TextDelta
from bot.reasoning.reasoner import Reasoner
from bot.research.answer.checked import Checked, citation, within
from bot.research.answer.write import Composer, Written, write
from bot.research.evidence.relevance import merge_sources
from bot.research.evidence.workspace import Reading
from bot.research.run import Run
from bot.research.strategies.direct import direct

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
    citations = _cited(written, evidence)
    if citations:
        return Checked(heading + written.text.strip(), citations)
    on_text(text := _nothing(evidence, texts))
    return Checked(text, ())


def _cited(written: Written, evidence: Evidence) -> tuple[Citation, ...]:
    sources = {source.number: source for source in evidence.sources}
    deltas = dict.fromkeys(delta for span in written.spans for delta in span.citations)
    return tuple(
        citation(sources[delta.number], passage)
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

    async def judge() -> str:
        return title

    await run.keep("judge", {"question": question}, judge, _title, title=title)
