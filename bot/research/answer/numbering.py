"""Footnote numbers as a reader meets them: 1, 2, 3 in the order of reading, kept for the thread.

While a run works, each page has a number of its own in the run, in the order in which pages were
read (``storage.journal``). In what is shown, pages are numbered in the order of their first mark.
A page that the thread has cited before keeps its number, and new pages go on counting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bot.answers import Answer, PlanView
from bot.messages import Transcript
from bot.pages.urls import dedupe_key
from bot.rendering.marks import numbers_in, renumbered


class Numbering:
    """The numbers of one answer, after the earlier ones of its thread.

    ``shown`` gives the number of a page in the text that was last numbered, by its number in the
    run.
    """

    def __init__(self, thread: Transcript) -> None:
        self._kept = {
            dedupe_key(cited.url): cited.number for entry in thread.entries for cited in entry.cited
        }
        self.shown: dict[int, int] = {}

    def plan(self, plan: PlanView) -> PlanView:
        """The plan with those of its pages that have a mark in the text so far."""
        numbered = [(self.shown[n], url) for n, url in plan.numbered if n in self.shown]
        return replace(plan, numbered=tuple(numbered))

    def text(self, text: str, urls: Mapping[int, str]) -> str:
        """The text so far; ``urls`` are those of the pages, by their number in the run."""
        self._give(numbers_in(text), urls)
        return renumbered(text, self.shown)

    def answer(self, answer: Answer) -> Answer:
        """The whole answer, with its citations and all else that names pages by their number."""
        marked = numbers_in(answer.whole)
        cited = [each.number for each in answer.citations]
        others = [number for number, _ in answer.linked]
        self._give((*marked, *cited, *others), answer.targets)
        shown = self.shown
        return replace(
            answer,
            text=renumbered(answer.text, shown),
            more=renumbered(answer.more, shown),
            citations=tuple(replace(c, number=shown[c.number]) for c in answer.citations),
            disagreements=tuple(
                replace(other, number=shown[other.number]) for other in answer.disagreements
            ),
            linked=tuple((shown[number], url) for number, url in answer.linked),
        )

    def _give(self, numbers: Iterable[int], urls: Mapping[int, str]) -> None:
        self.shown = {}
        following = max(self._kept.values(), default=0)
        for number in dict.fromkeys(numbers):
            if number not in urls:
                continue
            kept = self._kept.get(dedupe_key(urls[number]))
            if kept is None or kept in self.shown.values():
                kept = following = following + 1
            self.shown[number] = kept
