"""Receives events from every listener and decides what they mean.

Accepting is a short transaction. The work after it (queueing, notifying the asker) does not wait
for a platform, so a listener can acknowledge its event as soon as a method returns.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from cachetools import TTLCache

from bot.core.errors import Denied, ProviderUnavailable, StorageUnavailable, invalid
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
from bot.core.posting import PREVIEWS, Poster, PostState
from bot.core.reader import Reach, documents_in
from bot.core.settings import Settings
from bot.core.texts import Texts
from bot.pages.urls import links_in
from bot.reasoning.closest_reasoner import follows_up
from bot.research.library import Library
from bot.rights.rights import Rights, searched_here
from bot.search.local_documents import LocalDocuments
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
_RUN_PAGE = re.compile(r"/runs/(?P<run>[0-9a-f]{1,64})(?:/pages/(?P<number>\d{1,4}))?(?![\w/-])")


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
    """The message is a question: its run, whether it is new (False for one that may be for others,
    for which no sign is shown yet), how many of its thread come first."""

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
    """See the module docstring. Close it with ``aclose``.

    ``given`` are the settings without those kept in the console; setting ``restart`` makes the
    process read the kept ones again.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        service: ResearchService,
        dispatcher: Dispatcher,
        posters: Mapping[str, Poster],
        *,
        given: Settings | None = None,
        restart: asyncio.Event | None = None,
    ) -> None:
        self.settings = settings
        self.given = given or settings
        self.restart = restart or asyncio.Event()
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
        means: Sequence[str] = (),
    ) -> AcceptedQuestion | Handled | Ignored:
        """Handle a message. ``files`` are the contents, by URL, of attachments that the platform
        does not store; ``sources`` are those the author wants to search. With ``repeats_ours``, the
        text is that of one of Footnote's own posts, which somebody chose. ``context`` are messages
        that a question refers to, such as the one it replies to. ``means`` are the event ids of the
        message whose words a bare mention has taken, and of other bare mentions below it.

        A message to the thread becomes a question only if it is for Footnote: without a model, its
        words tell; a model decides when the run prepares the question (``Pipeline.is_for_us``), and
        until then nothing may be shown.

        Raises ``Denied`` (its subclass ``DaySpentUp`` when the daily budget is spent) and
        ``Invalid``, each with a sentence for the asker only, and ``StorageUnavailable`` (the
        platform should redeliver the event).
        """
        if (message.thread.platform, message.event_id) in self._gone:
            return Ignored()
        if address != "footnote" and not await self.takes_part(message.thread):
            return Ignored()
        if address == "others" or (address == "thread" and self.settings.followups == "mention"):
            return await self._hear(message)

        async def ask(message: Message) -> AcceptedQuestion:
            rules = await self.rules.of(message.thread)
            options = replace(options_for(rules, depth, sources), style=style)
            if context:
                await self._conversations.hear(context, datetime.now(UTC))
            return await self._accept(message, options, post_state, files)

        is_stop = is_stop_word(message.text)
        if address == "thread" and not is_stop:
            return await self._overhear(message, ask)
        await admit(self.settings, self._store.database, message)
        if is_stop:
            if await self.takes_part(message.thread):
                stopped = await self.stop(message.thread)
                return Handled(stopped) if stopped or address == "footnote" else Ignored()
            if message.direct:  # written outside of any thread of the conversation
                return Handled(await self.stop_in_channel(message.thread, message.author))
        await self._refuse_repetition(message, means)
        if repeats_ours:
            made_from = await self._conversations.answers_rest_on(message.thread)
            message = replace(message, made_from=made_from)
        return await ask(message)

    async def _refuse_repetition(self, message: Message, means: Sequence[str]) -> None:
        """Raise ``Invalid`` for a bare mention whose question is being answered or has an answer;
        the mention addresses it, if it did not address anybody. Without words it stands below
        Footnote's own reply."""
        platform = message.thread.platform
        found = [await self._conversations.run_of(platform, event_id) for event_id in means]
        if not (message.text or message.attachments):
            found += await self._conversations.unfinished_in(message.thread)
        for run in [await self._store.run(run_id) for run_id in found if run_id is not None]:
            if run is None or run.removed or run.state in ("failed", "stopped"):
                continue
            if run.options.unaddressed:
                await self.edit(platform, run.message.event_id, run.message.text, addressed=True)
            raise invalid("asked-already")

    async def _hear(self, message: Message) -> Ignored:
        """Store a message as context for later questions."""
        await self._conversations.hear([message], datetime.now(UTC))
        return Ignored()

    async def _overhear(
        self, message: Message, ask: Callable[[Message], Awaitable[AcceptedQuestion]]
    ) -> AcceptedQuestion | Ignored:
        """Accept a message that addresses nobody if it may be for Footnote; see ``receive``."""
        if await self._conversations.is_heard(message.thread.platform, message.event_id):
            return Ignored()  # as decided when it first came
        message = replace(message, unaddressed=True)
        is_follow_up = follows_up(await self._store.transcript(message), message)
        if self._service.is_quoting and not is_follow_up:
            return await self._hear(message)
        try:
            await admit(self.settings, self._store.database, message)
            return await ask(message)
        except Denied:
            if is_follow_up:
                raise
            return Ignored()

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

    async def edit(
        self,
        platform: str,
        event_id: str,
        text: str,
        *,
        addressed: bool = False,
        regenerate: bool = False,
    ) -> bool:
        """Handle an edited message: its run is restarted, in the same reply. ``addressed``
        tells whether it now addresses Footnote. With ``regenerate`` the text is the same, and is
        answered again without what was found for it.

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
            addressed=addressed,
            regenerate=regenerate,
        )
        if begun is not None:
            await self._dispatcher.restart(*begun)
        return begun is not None

    async def retry(self, run_id: str, author: Author) -> bool:
        """Answer the question of a run that failed again, in the same reply; returns False if the
        run has not failed. Raises as ``edit`` does, ``Denied`` if ``author`` may not ask there, and
        ``Invalid`` if the run is unknown."""
        run = await self._run(run_id)
        message = run.message
        press = message_of_press(run, "retry", author, NO_TEXT, "", run.options.audience)
        await admit(self.settings, self._store.database, press)
        return run.state == "failed" and await self.edit(
            message.thread.platform, message.event_id, message.text, regenerate=True
        )

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

    async def delete(self, run_id: str, author: Author) -> None:
        """Delete a run's question and answer for its asker. Raises ``Invalid`` for other people,
        and if the run is unknown."""
        run = await self._run(run_id)
        if run.message.author.id != author.id:
            raise invalid("delete-answer-not-yours")
        await self.forget(run.message.thread.platform, run.message.event_id)

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

    async def preview(
        self, url: str, message: Message, note: Mapping[str, str]
    ) -> tuple[Answer, int] | None:
        """Return the answer at the address of a run's page, and the number of its source if the
        address is that of a source, if everyone who reads in the place of ``message``, whose author
        shared it there, may read it: it was asked there, by that author, or where all may read.

        ``note`` is kept for the poster, which removes the preview with the answer.
        """
        found = _RUN_PAGE.search(url)
        run = await self._store.run(found["run"]) if found else None
        if found is None or run is None or run.answer is None:
            return None
        reference, asked, here = self._service.reference(run), run.message, message.thread
        if run.removed or run.state in UNFINISHED or not reference.page:
            return None
        if not url.startswith(reference.page) or asked.thread.home != here.home:
            return None
        reader = await self._rights.reader(message)
        is_open = run.options.audience == "workspace" and not reader.guest
        is_theirs = asked.author.id == message.author.id or asked.thread.place == here.place
        reach = self._rights.reach(reader)
        if not (is_open or is_theirs) or not reach.covers(run.answer.rests_on):
            return None
        kept = run.post_state or {}
        await reference.save({**kept, PREVIEWS: [*kept.get(PREVIEWS, ()), dict(note)]})
        return run.answer, int(found["number"] or 0)

    async def titles_for(self, message: Message, viewed: Message | None, most: int) -> list[str]:
        """Return titles of documents that the author of ``message`` (a command) may ask about in
        its place, and of those only the ones that the place of ``viewed`` may search too."""
        places = [message] if viewed is None else [message, viewed]
        for each in places:
            rules = await self.rules.of(each.thread)
            if "local" not in (rules.providers or configured_names(self.settings)):
                return []
        reaches = [await self.reach_in(each) for each in places]
        documents = LocalDocuments(self.settings.index_path, self.settings.docs)
        try:
            return await documents.titles(most, *reaches)
        except ProviderUnavailable:
            return []  # not indexed yet
        finally:
            await documents.aclose()

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
        is_shown = new and not message.unaddressed
        try:
            ahead = await self._conversations.ahead_of(run_id) if is_shown else 0
        except StorageUnavailable:
            ahead = 0  # the question is stored: later errors must not cause a redelivery
        if ahead:
            self._background.later(self._tell_queued(run_id, ahead))
        return AcceptedQuestion(run_id, is_shown, ahead)

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
