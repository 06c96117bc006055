"""Rebuilds the evidence of earlier answers from the quotes of their footnotes."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.messages import Citation, Entry
from bot.pages.page import Page
from bot.pages.passages import Passage
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import Evidence, Source
from bot.reasoning.wording import pages_of
from bot.research.run import Run


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
    sources = [
        Source(number, page.url, page.title, passages, page.hash, page.fetched_at, page.via)
        for number, page in sorted(dict(zip(numbers, pages, strict=True)).items())
        if (passages := _passages(page, cited))
    ]
    run.sources += sources
    return Evidence(sources=tuple(sources), enough=bool(sources), notes=tuple(unread))


def _passages(page: Page, cited: Sequence[Citation]) -> tuple[Passage, ...]:
    """Return the cited passages of a page, in page order."""
    key = dedupe_key(page.url)
    found: dict[tuple[int, int], Passage] = {}
    for citation in cited:
        if dedupe_key(citation.url) != key:
            continue
        start = citation.start
        if page.hash != citation.page_hash:
            start = page.text.find(citation.quote)
        end = start + len(citation.quote)
        if start >= 0:
            found[start, end] = Passage(start, end, page.text[start:end], citation.heading)
    return tuple(found[span] for span in sorted(found))
