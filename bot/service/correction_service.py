"""Actions on corrections: store, list, remove."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

from bot.core.errors import FootnoteError, RunLost, StorageUnavailable, invalid
from bot.core.lines import name_of, one_line, shortened
from bot.core.logs import get_logger
from bot.core.messages import Message, Transcript, zone_named
from bot.core.posting import Locating, Poster, RunRef, Whereabouts
from bot.core.reader import Reach, Reader, documents_of
from bot.core.settings import Settings
from bot.core.texts import Texts, listed, texts_for, whole_day
from bot.reasoning.wording import corrected
from bot.research.run import CorrectionReply
from bot.search.earlier_answers import CorrectionSearch, link_in
from bot.service.access import is_admin
from bot.storage.audit_log import Actor
from bot.storage.database import Database
from bot.storage.word_search import STATEMENT, Correction, Corrections

SHOWN = 300  # characters of a correction in a list or a reply
QUESTION = 120  # characters of the question whose answer it corrects, in a reply

log = get_logger()


class CorrectionService:
    """Lets people manage their own corrections, and admins and operators everyone's."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._stored = Corrections(database)

    def search(self, run: RunRef, reader: Reader) -> CorrectionSearch | None:
        """Return a search over the corrections visible to the readers of a run's answer; None for
        guests, and if corrections are off."""
        if reader.guest or not self._settings.corrections_per_day or not reader.corrections:
            return None
        texts, zone = texts_for(run.message.locale), zone_named(run.options.zone)
        return CorrectionSearch(self._stored, reader.corrections, run.id, texts, zone)

    async def keep(
        self, run: RunRef, reader: Reader, transcript: Transcript, poster: Poster, statement: str
    ) -> CorrectionReply | None:
        """Store a run's message as a correction of an answer in its thread, once even if the run is
        restarted. Returns None if there is no such answer, or corrections are off.

        Raises ``RunLost`` and ``StorageUnavailable``.
        """
        message, most = run.message, self._settings.corrections_per_day
        answer = corrected(transcript, run.options.corrects_run)
        if not most or answer is None:
            return None
        texts = texts_for(message.locale)
        if reader.guest:
            return CorrectionReply(texts("correction-guest"))
        thread, now = message.thread, datetime.now(UTC)
        where = await _whereabouts(poster, run)
        correction = Correction(
            id=run.id,
            thread=thread,
            author=message.author,
            at=message.at,
            text=message.text,
            statement=shortened(statement, STATEMENT),
            question=answer.question,
            place=where.place,
            channel_name=where.channel_name,
            url=where.url,
            link=link_in(message.links),
        )
        people = (entry for entry in transcript.entries if entry.role == "person")
        theirs = {one_line(each.text) for each in people if not each.made_from}
        if not correction.is_own_words or one_line(correction.question) not in theirs:
            correction = replace(correction, made_from=documents_of(transcript))
        if not await self._stored.keep(correction, run.attempt, now, most):
            return CorrectionReply(texts("correction-not-kept", most=most))
        said = line_of(correction, texts, zone_named(run.options.zone))
        noted = texts("correction-noted", said=said)
        if run.options.corrects_run:
            question = shortened(answer.question, QUESTION)
            noted = texts("correction-noted-on", question=question, said=said)
        return CorrectionReply(noted, is_kept=True)

    async def listed(self, reach: Reach, places: Collection[str] | None = None) -> list[Correction]:
        """Return the corrections made in these places, or all, newest first, as readers with this
        reach may see them."""
        return [each.within(reach) for each in await self._stored.listed(places)]

    async def remove(self, id: str, by: Message | None) -> Correction:
        """Remove the correction with this id. ``by`` is the command or button press that requests
        it; None means the operator. Raises ``Invalid`` if there is none, or its author may not
        remove it."""
        found = await self._stored.correction(id.strip().lower())
        actor = Actor("", "", "")
        if by is not None:
            actor = Actor.of(by)
            if found is not None and not self._may_remove(found, by):
                raise invalid("correction-not-yours")
        if found is None:
            raise invalid("correction-unknown", id=id)
        await self._stored.remove(found, actor)
        return found

    def _may_remove(self, found: Correction, by: Message) -> bool:
        where = found.thread.platform, found.thread.workspace
        if where != (by.thread.platform, by.thread.workspace):
            return False
        return by.author.id == found.author.id or is_admin(self._settings, by)


def line_of(correction: Correction, texts: Texts, zone: tzinfo = UTC) -> str:
    """Format a correction on one line: its statement, author and date."""
    name = shortened(name_of(correction.author, correction.thread, texts), 100)
    by = texts.say(listed([name, whole_day(correction.at.astimezone(zone))]))
    return f"{shortened(correction.statement, SHOWN)} ({by})"


async def _whereabouts(poster: Poster, run: RunRef) -> Whereabouts:
    """Return the place of a run's message; only its thread if the platform does not answer."""
    if not isinstance(poster, Locating):
        return Whereabouts(run.page, "", run.message.thread.place)
    try:
        return await poster.whereabouts(run)
    except (RunLost, StorageUnavailable):
        raise
    except FootnoteError as error:
        log.warning("message not located", run=run.id, error=str(error))
        return Whereabouts(run.page, "", run.message.thread.key)
