"""Showing pages to a reasoner: the passages that fit its question, each only once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.errors import PageUnreadable, Unavailable
from bot.pages.page import Page
from bot.pages.passages import Passage
from bot.reasoning.evidence import Source
from bot.reasoning.questions import SubQuestion
from bot.reasoning.workspace import ReadResult
from bot.research.run import Run


class ShownPages:
    """The pages shown on one workspace; what was shown of each is not shown again."""

    def __init__(self, run: Run, question: SubQuestion) -> None:
        self._run = run
        self._question = question
        self._hit_numbers: dict[int, int] = {}  # page's number → the hit it was first shown for
        self._spans: dict[int, set[tuple[int, int]]] = {}  # page's number → passages shown

    def place(self, hit_number: int, source: Source) -> None:
        """Count passages as shown that the run was shown before."""
        self._hit_numbers.setdefault(source.number, hit_number)
        self._note(source.number, source.passages)

    async def show(
        self, hit_number: int, number: int, page: Page, tokens: int, rarity: Mapping[str, float]
    ) -> ReadResult:
        """The page's best passages for the question, of at most ``tokens``, without those shown
        before. ``number`` is that of the page in the run."""
        shown_for = self._hit_numbers.setdefault(number, hit_number)
        spans = self._spans.setdefault(number, set())
        try:
            passages = await self._passages(page, tokens, spans, rarity)
        except (PageUnreadable, Unavailable) as error:
            return ReadResult(shown_for, None, error.sentence)
        if spans and not passages:
            return ReadResult(shown_for, None, "All of it that fits the question was shown.")
        self._note(number, passages)
        source = Source(
            number=number,
            url=page.url,
            title=page.title,
            passages=tuple(passages),
            page_hash=page.hash,
            fetched_at=page.fetched_at,
            via=page.via,
        )
        self._run.sources.append(source)
        return ReadResult(shown_for, source, whole=self._run.chooser.is_whole(page, spans))

    def _note(self, number: int, passages: Sequence[Passage]) -> None:
        spans = self._spans.setdefault(number, set())
        spans.update((passage.start, passage.end) for passage in passages)

    async def _passages(
        self, page: Page, tokens: int, spans: set[tuple[int, int]], rarity: Mapping[str, float]
    ) -> list[Passage]:
        if self._question.whole:
            return await self._run.chooser.survey(page, tokens, skip=spans)
        return await self._run.chooser.choose(
            self._question.text,
            page,
            tokens,
            skip=spans,
            rarity=rarity,
            weights=await self._run.weigh(self._question.text, page),
        )
