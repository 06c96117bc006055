"""Team memory: answers that may be offered again, and who may see them.

Everyone who reads a channel may see the answers given there. Answers from elsewhere are offered
only if the platform confirms that every member may read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from bot.answers import Answer
from bot.corrections.search import CorrectionSearch
from bot.errors import FootnoteError
from bot.logs import get_logger
from bot.posting import Locating, Poster, RunRef
from bot.reasoning.repeated import is_of_its_time, terms_of
from bot.research.answered_before import OTHER_STYLES, Memory, Spot, may_be_kept
from bot.research.evidence.library import Library
from bot.rights.reader import Reach, Reader
from bot.settings import Settings
from bot.storage.answered import AnsweredQuestions
from bot.storage.records import RunRecord
from bot.storage.store import Store

log = get_logger()


class Remembering:
    """Stores answers for people who ask the same question, and opens the memory for a run."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        posters: Mapping[str, Poster],
        reference: Callable[[RunRecord], RunRef],
    ) -> None:
        self._mode = settings.answered_before
        self._store = store
        self._posters = posters
        self._reference = reference
        self._questions = AnsweredQuestions(store.database)

    def memory(
        self,
        record: RunRecord,
        reader: Reader,
        library: Library,
        reach: Callable[[], Reach],
        corrections: CorrectionSearch | None = None,
    ) -> Memory | None:
        """Return the memory for a run and its ``reader``; None if nothing may be offered."""
        if self._mode == "off" or record.options.watch:
            return None
        sees = partial(self._sees, record, reader)
        library = library.within(reach, corrections=corrections, fresh=True)
        return Memory(self._store, library, reach, sees, instead=self._mode == "instead")

    async def keep(self, record: RunRecord, answer: Answer) -> None:
        """Store the answer of a finished run, if it may be offered to others later."""
        if self._mode == "off" or record.options.watch:
            return
        thread = record.message.thread
        if answer.before is not None and answer.is_repeated:
            await self._questions.keep(record.id, (), thread, answer.before.run)
        elif (
            may_be_kept(answer)
            and answer.queries
            and not record.message.attachments
            and record.options.style not in OTHER_STYLES
            and not is_of_its_time(answer.question)
        ):
            await self._questions.keep(record.id, terms_of(answer.question), thread)

    async def _sees(self, asked: RunRecord, reader: Reader, earlier: RunRecord) -> Spot | None:
        """See ``Memory``."""
        here, there = asked.message.thread, earlier.message.thread
        poster = self._posters[here.platform]
        if not isinstance(poster, Locating):
            return ("", "") if here.place == there.place else None
        try:
            where = await poster.whereabouts(self._reference(earlier))
        except FootnoteError as error:
            log.info("earlier answer not located", earlier=earlier.id, error=str(error))
            return ("", "") if here.key == there.key else None
        is_of_all = where.place == there.home
        if here.key == there.key or (here.place == there.place and where.place != there.key):
            return "", where.url
        is_hidden = reader.guest or earlier.options.audience in ("person", "outsiders")
        if is_hidden or not is_of_all or here.home != there.home:
            return None
        return f"#{where.channel_name}", where.url
