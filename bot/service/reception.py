"""Receives events from every listener and decides what they mean.

Accepting is a short transaction. The work after it (queueing, notifying the asker) does not wait
for a platform, so a listener can acknowledge its event as soon as a method returns.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from cachetools import TTLCache

from bot.core.errors import StorageUnavailable
from bot.core.messages import (
    EVERYWHERE,
    OWN_WORDS,
    Answer,
    Audience,
    Author,
    Depth,
    Message,
    RunOptions,
    Sources,
    Style,
    Thread,
    Wording,
    clean_question,
)
from bot.core.posting import Poster, PostState
from bot.core.reader import Reach, documents_in
from bot.core.settings import Settings
from bot.core.texts import Texts, invalid
from bot.pages.urls import links_in
from bot.research.library import Library
from bot.rights.rights import Rights, searched_here
from bot.search.registry import configured_names
from bot.service.access import RulesOfChannels, admit, check_author, options_for
from bot.service.background import BackgroundTasks
from bot.service.correction_service import CorrectionService
from bot.service.deletion import Forgetter
from bot.service.dispatch.dispatcher import Dispatcher
from bot.service.research_service import LEASE, ResearchService
from bot.service.standing_service import StandingService
from bot.storage.audit_log import Actor, acting
from bot.storage.conversations import Conversations
from bot.storage.forgetting import Subject
from bot.storage.removal import Removed
from bot.storage.standing_questions import Watch
from bot.storage.store import NO_FILES, RunRecord, Store
from bot.storage.tables import UNFINISHED
from bot.storage.workspaces import Opinion, Use, Workspaces

_STOP = frozenset(
    [
        *("stop", "stop it", "please stop", "stop please", "cancel", "abort", "halt", "enough"),
        *("never mind", "nevermind", "停", "停止", "停下", "停一下", "请停止", "請停止", "取消"),
        *("中止", "够了", "夠了", "不用了", "算了"),
    ]
)
_YES = frozenset(["yes", "yes please", "是", "是的", "确认", "確認", "好"])
_LONGEST = max(len(word) for word in _STOP)


def is_stop_word(text: str) -> bool:
    """Return True if the whole message only asks to stop."""
    return _bare(text) in _STOP


def is_yes(text: str) -> bool:
    """Return True if the whole message only agrees."""
    return _bare(text) in _YES


def _bare(text: str) -> str:
    """Return a short text without punctuation and case; "" for a longer one."""
    said = text.strip()
    if len(said) > _LONGEST + 8:
        return ""
    bare = "".join(char for char in said if unicodedata.category(char)[0] not in "PSC")
    return " ".join(bare.casefold().split())


NO_TEXT = Wording("")


def message_of_press(
    run: RunRecord, button: str, author: Author, said: Wording, locale: str, audience: Audience
) -> Message:
    """Return the message equivalent to pressing a button on a run's reply, which ``said`` this."""
    # An edited run has had several questions, so the same button may mean a different one.
    digest = hashlib.sha256(said.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Message(
        event_id=f"{run.id}:{button}:{digest}",
        thread=run.message.thread,
        author=author,
        text=said.text,
        at=datetime.now(UTC),
        locale=locale,
        audience=audience,
        conversations=run.options.conversations,
        made_from=said.made_from,
    )


LAST_ERRANDS_SECONDS = 2.0
GONE_REMEMBERED, GONE_SECONDS = 10_000, 600.0  # Slack delivers again for five minutes
# Threads in which Footnote takes part; entries expire, since another process may forget a thread.
THREADS_REMEMBERED, THREADS_SECONDS = 10_000, 600.0

# The addressee of a message: Footnote (by name or in private), the thread, or other people.
Address = Literal["footnote", "thread", "others"]


@dataclass(frozen=True, slots=True)
class AcceptedQuestion:
    """The message is a question: its run, whether it is new, how many of its thread come first."""

    run_id: str
    new: bool
    ahead: int


@dataclass(frozen=True, slots=True)
class Handled:
    """The message asked to stop; the number of runs stopped."""

    stopped: int


@dataclass(frozen=True, slots=True)
class Ignored:
    """The message is not a question to Footnote."""


class Reception:
    """See the module docstring. Close it with ``aclose``."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        service: ResearchService,
        dispatcher: Dispatcher,
        posters: Mapping[str, Poster],
    ) -> None:
        self.settings = settings
        self._store = store
        self._service = service
        self._dispatcher = dispatcher
        self._posters = posters
        self._conversations = Conversations(store.database)
        self._workspaces = Workspaces(store.database)
        self._rights = Rights(settings, posters)
        self._ours: TTLCache[str, bool] = TTLCache(THREADS_REMEMBERED, THREADS_SECONDS)
        # Deleted before they were stored: a redelivered event must not bring them back.
        self._gone: TTLCache[tuple[str, str], bool] = TTLCache(GONE_REMEMBERED, GONE_SECONDS)
        self._background = BackgroundTasks("core")
        self.forgetter = Forgetter(store.database, dispatcher.request_stop)
        self.rules = RulesOfChannels(settings, self._workspaces)
        self.standing = StandingService(store.database)
        self.corrections = CorrectionService(settings, store.database)

    async def aclose(self) -> None:
        """Give pending notices a moment to finish, and drop the rest."""
        await self._background.aclose(LAST_ERRANDS_SECONDS)

    # ------------------------------------------------------------ what people say

    async def receive(
        self,
        message: Message,
        address: Address,
        *,
        depth: Depth = "auto",
        style: Style = "auto",
        sources: Sources = EVERYWHERE,
        post_state: PostState | None = None,
        files: Mapping[str, bytes] = NO_FILES,
        repeats_ours: bool = False,
        context: Sequence[Message] = (),
    ) -> AcceptedQuestion | Handled | Ignored:
        """Handle a message. ``files`` are the contents, by URL, of attachments that the platform
        does not store; ``sources`` are those the author wants to search. With ``repeats_ours``, the
        text is that of one of Footnote's own posts, which somebody chose. ``context`` are messages
        that a question refers to, such as the one it replies to.

        Raises ``Denied`` (its subclass ``DaySpentUp`` when the daily budget is spent) and
        ``InvalidQuestion``, each with a sentence for the asker only, and ``StorageUnavailable``
        (the platform should redeliver the event).
        """
        if (message.thread.platform, message.event_id) in self._gone:
            return Ignored()
        if address != "footnote":
            if not await self.takes_part(message.thread):
                return Ignored()
            if address == "others" or self.settings.followups == "mention":
                await self._conversations.hear([message], datetime.now(UTC))
                return Ignored()
        await admit(self.settings, self._store.database, message)
        if is_stop_word(message.text):
            if await self.takes_part(message.thread):
                return Handled(await self.stop(message.thread))
            if message.direct:  # written outside of any thread of the conversation
                return Handled(await self.stop_in_channel(message.thread, message.author))
        if repeats_ours:
            made_from = await self._conversations.answers_rest_on(message.thread)
            message = replace(message, made_from=made_from)
        rules = await self.rules.of(message.thread)
        options = replace(options_for(rules, depth, sources), style=style)
        if context:
            await self._conversations.hear(context, datetime.now(UTC))
        return await self._accept(message, options, post_state, files)

    async def library(self, message: Message) -> tuple[Library, tuple[str, ...]]:
        """Return the library that a message's author may search and read in its place without
        asking a question, and the providers allowed there (empty: all). Raises ``Denied``."""
        await admit(self.settings, self._store.database, message)
        rules = await self.rules.of(message.thread)
        return await self._service.library_for(message), rules.providers

    async def check_uploads(self, message: Message, size: int) -> None:
        """Raise ``DaySpentUp`` if the author may not send files of ``size`` bytes today."""
        await self._service.check_uploads(message, size)

    async def takes_part(self, thread: Thread) -> bool:
        """Return True if Footnote was ever asked in this thread."""
        if thread.key not in self._ours and await self._conversations.takes_part(thread):
            self._ours[thread.key] = True
        return thread.key in self._ours

    async def thread_of(self, platform: str, event_id: str, runs: Iterable[str]) -> Thread | None:
        """Return the conversation of a reply of Footnote's, which answers the message ``event_id``
        or has the buttons of ``runs``; None if its run is unknown."""
        run_id = next(iter(runs), None) or await self._conversations.run_of(platform, event_id)
        run = await self._store.run(run_id) if run_id is not None else None
        return None if run is None or run.removed else run.message.thread

    async def edit(self, platform: str, event_id: str, text: str) -> bool:
        """Handle an edited message: its run is restarted, in the same reply.

        If the new text is only a stop word, the run is stopped. Returns False if the message has no
        run or its text is unchanged. Raises ``InvalidQuestion`` and ``Denied``.
        """
        run_id = await self._conversations.run_of(platform, event_id)
        if run_id is None:
            return False  # most edited messages are not ours
        text = clean_question(text)
        if is_stop_word(text):
            return await self.stop_run(run_id)
        run = await self._run(run_id)
        author = run.options.standing_of(run.message.author)
        check_author(self.settings, replace(run.message, author=author))
        begun = await self._conversations.edit(
            platform,
            event_id,
            text,
            links_in(text),
            datetime.now(UTC),
            owner=self._dispatcher.owner,
            lease=LEASE,
            permit=self._service.permit(run.options),
        )
        if begun is not None:
            await self._dispatcher.restart(*begun)
        return begun is not None

    async def forget(self, platform: str, event_id: str) -> bool:
        """Handle a deleted message: end its run, remove its reply; returns False without a run."""
        if not await self._conversations.knows(platform, event_id):
            self._gone[platform, event_id] = True
            return False
        begun = await self._conversations.remove(
            platform, event_id, datetime.now(UTC), owner=self._dispatcher.owner, lease=LEASE
        )
        for run_id, thread in begun:
            await self._dispatcher.restart(run_id, thread)
        return bool(begun)

    # ------------------------------------------------------------ being forgotten

    async def count_of_author(self, message: Message) -> Removed:
        """Count what ``forget_author`` would delete."""
        return await self.forgetter.count(_author_of(message), datetime.now(UTC).date())

    async def forget_author(self, message: Message) -> Removed:
        """Forget the author of ``message``, a command: everything they wrote on the platform, and
        the answers to it. Today's spending stays until tomorrow."""
        with acting(Actor.of(message)):
            removed = await self.forgetter.forget(_author_of(message), datetime.now(UTC).date())
        self._ours.clear()
        return removed

    # ------------------------------------------------------------ what people press

    async def stop(self, thread: Thread) -> int:
        """Stop all runs of a thread; returns how many there were."""
        return await self._stop(await self._conversations.unfinished_in(thread))

    async def stop_in_channel(self, place: Thread, author: Author) -> int:
        """Stop the author's runs in all threads of the channel of ``place``; returns the count."""
        return await self._stop(
            await self._conversations.unfinished_of(
                author.id, place.platform, place.workspace, place.channel
            )
        )

    async def stop_run(self, run_id: str) -> bool:
        """Stop one run; returns False if it has ended or is unknown."""
        run = await self._store.run(run_id)
        if run is None or run.state not in UNFINISHED:
            return False
        await self._dispatcher.request_stop(run_id)
        return True

    async def stop_question(self, platform: str, event_id: str) -> bool:
        """Stop the run that a message started; returns False as ``stop_run`` does."""
        run_id = await self._conversations.run_of(platform, event_id)
        return run_id is not None and await self.stop_run(run_id)

    async def feedback(self, run_id: str, author: Author, opinion: Opinion) -> bool:
        """Store a person's opinion of an answer; returns False if its run is unknown."""
        return await self._workspaces.keep_feedback(run_id, author.id, opinion)

    async def details(
        self, run_id: str, platform: str, channel: str, author: Author, *, audience: Audience
    ) -> tuple[Answer, str]:
        """Return a run's answer, for ``author`` to read in its channel, and the address of the
        run's page, or "".

        Raises ``Invalid`` if the run is unknown, has no answer, belongs to another channel, or
        rests on documents that may no longer be read there.
        """
        run = await self._run(run_id)
        place = run.message.thread
        if run.answer is None or (place.platform, place.channel) != (platform, channel):
            raise invalid("question-gone")
        message = message_of_press(run, "details", author, NO_TEXT, "", audience)
        if not (await self._rights.reach_in(message)).covers(run.answer.rests_on):
            raise invalid("answer-out-of-reach")
        return run.answer, self._service.reference(run).page

    async def dig_deeper(
        self, run_id: str, author: Author, *, locale: str, audience: Audience
    ) -> AcceptedQuestion:
        """Research a run's question again, ``deep``. A second press returns the same run.

        Raises ``Invalid`` if the run is unknown, and otherwise as ``receive`` does.
        """
        run = await self._run(run_id)
        message = message_of_press(run, "deeper", author, run.question, locale, audience)
        message = replace(message, attachments=run.message.attachments)
        await admit(self.settings, self._store.database, message)
        said = (await self._rights.reach_in(message)).wording(run.question)
        if said is None:
            raise invalid("answer-out-of-reach")
        message = replace(message, text=said.text, made_from=said.made_from)
        return await self._accept(message, replace(run.options, depth="deep"), None)

    async def watch(
        self, run_id: str, author: Author, schedule: str, *, locale: str, audience: Audience
    ) -> Watch:
        """Make a run's question a standing question. Raises ``Denied`` and ``Invalid``."""
        run = await self._run(run_id)
        message = message_of_press(run, "watch", author, NO_TEXT, locale, audience)
        await admit(self.settings, self._store.database, message)
        rests_on = run.answer.rests_on if run.answer is not None else OWN_WORDS
        if not (await self._rights.reach_in(message)).covers(rests_on):
            raise invalid("answer-out-of-reach")
        return await self.standing.begin(run, message, schedule)

    async def retract(self, run_id: str, author: Author) -> None:
        """Remove the correction made by a run's message. Raises ``Invalid``."""
        run = await self._run(run_id)
        await self.corrections.remove(
            run.id, message_of_press(run, "retract", author, NO_TEXT, "", run.options.audience)
        )

    async def follow_up(
        self, run_id: str, number: int, author: Author, *, locale: str, audience: Audience
    ) -> AcceptedQuestion:
        """Ask a run's suggestion ``number`` (from 0) in its thread; raises as ``dig_deeper``
        does."""
        run = await self._run(run_id)
        if run.answer is None or not 0 <= number < len(run.answer.suggestions):
            raise invalid("suggestion-gone")
        question = Wording(run.answer.suggestions[number], documents_in(run.answer.rests_on))
        message = message_of_press(run, "follow-up", author, question, locale, audience)
        await admit(self.settings, self._store.database, message)
        if not (await self._rights.reach_in(message)).covers(run.answer.rests_on):
            raise invalid("suggestion-gone")
        return await self._accept(message, replace(run.options, depth="auto"), None)

    # ------------------------------------------------------------ places

    async def reach_in(self, message: Message) -> Reach:
        """Return what the readers of a reply to ``message`` (a command) may see now."""
        return await self._rights.reach_in(message)

    async def searched_here(self, message: Message, texts: Texts) -> list[str]:
        """Return lines on what questions search in the place of ``message`` (a command), and why;
        empty if there are no documents."""
        rules = await self.rules.of(message.thread)
        providers = rules.providers or configured_names(self.settings)
        reader = await self._rights.reader(message)
        return searched_here(self._rights, reader, providers, texts)

    async def use_this_month(self, platform: str, workspace: str) -> Use:
        """Return the use of a workspace since the first of this month (UTC)."""
        now = datetime.now(UTC)
        return await self._workspaces.use(
            platform, workspace, datetime(now.year, now.month, 1, tzinfo=UTC)
        )

    # ------------------------------------------------------------ accepting

    async def _accept(
        self,
        message: Message,
        options: RunOptions,
        post_state: PostState | None,
        files: Mapping[str, bytes] = NO_FILES,
    ) -> AcceptedQuestion:
        run_id, new = await self._service.accept(
            message,
            options.asked_in(message),
            owner=self._dispatcher.owner,
            post_state=post_state,
            files=files,
        )
        self._ours[message.thread.key] = True
        if not new and message.attachments and not files:  # a redelivered event with files
            await self._begin_with_files(message)
        await self._dispatcher.submit(run_id, message.thread)
        try:
            ahead = await self._conversations.ahead_of(run_id) if new else 0
        except StorageUnavailable:
            ahead = 0  # the question is stored: later errors must not cause a redelivery
        if ahead:
            self._background.later(self._tell_queued(run_id, ahead))
        return AcceptedQuestion(run_id, new, ahead)

    async def _begin_with_files(self, message: Message) -> None:
        begun = await self._conversations.add_files(
            message, datetime.now(UTC), owner=self._dispatcher.owner, lease=LEASE
        )
        if begun is not None:
            await self._dispatcher.restart(*begun)

    async def _stop(self, run_ids: Sequence[str]) -> int:
        for run_id in run_ids:
            await self._dispatcher.request_stop(run_id)
        return len(run_ids)

    async def _tell_queued(self, run_id: str, ahead: int) -> None:
        run = await self._run(run_id)
        poster = self._posters[run.message.thread.platform]
        await poster.queued(self._service.reference(run), ahead)

    async def _run(self, run_id: str) -> RunRecord:
        run = await self._store.run(run_id)
        if run is None or run.removed:
            raise invalid("question-gone")
        return run


def _author_of(message: Message) -> Subject:
    return Subject("person", message.thread.platform, message.author.id)
