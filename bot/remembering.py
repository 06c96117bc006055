"""Team memory: the answers that are kept to be offered again, and who may see them.

In the place of the question everybody may read what was answered there. Answers of other places
are offered only where a platform tells that every member may read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from bot.answers import Answer
from bot.corrections.search import CorrectionSearch
from bot.posting import OpenPlaces, Poster
from bot.reasoning.repeated import is_of_its_time, terms_of
from bot.research.answered_before import OTHER_STYLES, Memory, may_be_kept
from bot.research.evidence.library import Library
from bot.rights.reader import Reach, Reader
from bot.settings import Settings
from bot.storage.answered import AnsweredQuestions
from bot.storage.records import RunRecord
from bot.storage.store import Store


class Remembering:
    """Keeps answers for those who ask the same, and opens the memory of a run."""

    def __init__(self, settings: Settings, store: Store, posters: Mapping[str, Poster]) -> None:
        self._mode = settings.answered_before
        self._store = store
        self._posters = posters
        self._questions = AnsweredQuestions(store.database)

    def memory(
        self,
        record: RunRecord,
        reader: Reader,
        library: Library,
        reach: Callable[[], Reach],
        corrections: CorrectionSearch | None = None,
    ) -> Memory | None:
        """The memory of a run, for its ``reader``; None where nothing is to be offered."""
        if self._mode == "off" or record.options.watch:
            return None
        sees = partial(self._sees, record, reader)
        library = library.within(reach, corrections=corrections, fresh=True)
        return Memory(self._store, library, reach, sees, instead=self._mode == "instead")

    async def keep(self, record: RunRecord, answer: Answer) -> None:
        """Keep the answer of a run that ends, if it may be offered to others later."""
        if self._mode == "off" or record.options.watch:
            return
        thread = record.message.thread
        if answer.before is not None and answer.before.is_given:
            await self._questions.keep(record.id, (), thread, answer.before.run)
        elif (
            may_be_kept(answer)
            and answer.queries
            and not record.message.attachments
            and record.options.style not in OTHER_STYLES
            and not is_of_its_time(answer.question)
        ):
            await self._questions.keep(record.id, terms_of(answer.question), thread)

    async def _sees(self, asked: RunRecord, reader: Reader, earlier: RunRecord) -> str | None:
        """See ``Memory``."""
        here, there = asked.message.thread, earlier.message.thread
        if here.key == there.key:
            return ""
        poster = self._posters[here.platform]
        is_open = not isinstance(poster, OpenPlaces) or poster.is_open(earlier.message)
        if here.place == there.place:
            return "" if is_open else None
        return None
