"""Passes Slack's events on to the reception, after normalizing and classifying them.

A method returns once the event's effect is stored; only then is the event acknowledged. If a method
raises, the event is not acknowledged and Slack delivers it again, unless the error is one of
``MALFORMED``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from cachetools import LRUCache

from adapters.slack.calls import Calls, Json
from adapters.slack.conversations import stored_token
from adapters.slack.deferred import EphemeralMessages, Recipient, RetryQueue
from adapters.slack.delivery import run_of
from adapters.slack.incoming import (
    Place,
    attachments_of,
    begins_thread,
    begins_with_mention,
    by_core,
    event_id,
    is_of_app,
    is_speech,
    is_wordless,
    mentions_in,
    thread_of,
    to_message,
    unescape,
    without_mention,
    words_of,
)
from adapters.slack.teams import AppQuestions, Home, People, Person, app_of, author_id, teams_of
from bot.core.errors import Denied, Invalid, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Attachment, Author, Message
from bot.core.texts import Texts, sentence_for, texts_for
from bot.search.registry import searches_conversations
from bot.service.reception import Address, Handled, Reception
from bot.text.language import detect

MENTIONS_REMEMBERED = 10_000
MENTION_SECONDS = 0.25  # how long one event of a pair waits for the other
RIGHT = "action_token"  # in an event: allows searching, for some minutes, what its author may see


@dataclass(slots=True)
class _Pair:
    """The two events of a mention, each set once it has arrived; ``right`` is the mention's
    token."""

    message: asyncio.Event = field(default_factory=asyncio.Event)
    mention: asyncio.Event = field(default_factory=asyncio.Event)
    right: str = ""


class Mentions:
    """See the module docstring."""

    def __init__(self) -> None:
        self._pairs: LRUCache[str, _Pair] = LRUCache(MENTIONS_REMEMBERED)

    def message_came(self, channel: str, ts: str) -> None:
        """Record that the ``message`` event of a mention has arrived."""
        self._pair(channel, ts).message.set()

    async def has_message(self, mention: Json) -> bool:
        """Record an ``app_mention``; return True if its ``message`` event has arrived or arrives in
        time."""
        pair = self._pair(mention["channel"], mention["ts"])
        pair.right = str(mention.get(RIGHT) or "")
        pair.mention.set()
        return await _comes(pair.message)

    async def with_right(self, message: Json) -> Json:
        """Return a ``message`` event with the search token of its mention, if the mention has
        one."""
        if message.get(RIGHT):
            return message
        pair = self._pair(message["channel"], message["ts"])
        await _comes(pair.mention)
        return {**message, RIGHT: pair.right} if pair.right else message

    def _pair(self, channel: str, ts: str) -> _Pair:
        pair: _Pair = self._pairs.setdefault(event_id(channel, ts), _Pair())
        return pair


async def _comes(event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(MENTION_SECONDS):
            await event.wait()
    except TimeoutError:
        return False
    return True


PLATFORM = "slack"
MESSAGES_REMEMBERED = 10_000
LAST_RETRY = 3  # the number of Slack's last redelivery of an event
NOBODY = "?"  # the author of an edit whose event does not name one

log = get_logger()

STOP_REACTIONS = frozenset(
    [
        *("octagonal_sign", "stop_sign", "stop_button", "black_square_for_stop", "no_entry"),
        *("no_entry_sign", "x", "negative_squared_cross_mark"),
    ]
)


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's identity: the ids of its workspace, its user, its bot, and the workspace's
    organisation or ""."""

    team: str
    user: str
    bot: str
    enterprise: str = ""

    @property
    def home(self) -> Home:
        return Home(self.team, self.enterprise)


class Listener:
    """See the module docstring."""

    def __init__(
        self,
        me: Me,
        reception: Reception,
        calls: Calls,
        people: People,
        ephemeral: EphemeralMessages,
    ) -> None:
        self.me = me
        self.reception = reception
        self.people = people
        self.ephemeral = ephemeral
        self._calls = calls
        self._may_search = searches_conversations(reception.settings)
        self._mentions = Mentions()
        self._settled: LRUCache[str, None] = LRUCache(MESSAGES_REMEMBERED)
        self._retry_queue = RetryQueue(ephemeral)
        self._app_questions = AppQuestions()

    # ------------------------------------------------------------ what people say

    async def handle_mention(self, event: Json, retry: int = 0) -> None:
        """Handle ``app_mention``. In a channel, a ``message`` event always comes before or after
        it."""
        if not is_speech(event) and not self._is_question_of_app(event):
            return
        if not await self._mentions.has_message(event):
            await self._take(event, "footnote", Place.of_event(event), retry=retry)

    async def handle_message(self, event: Json, retry: int = 0) -> None:
        """Handle ``message.channels``, ``.groups``, ``.mpim`` and ``.im`` with all subtypes."""
        subtype, place = event.get("subtype"), Place.of_event(event)
        if subtype == "message_changed":
            await self._changed(event, place, retry)
        elif subtype == "message_deleted":
            await self._deleted(event["channel"], event.get("previous_message") or {}, event)
        elif is_speech(event):
            direct = place.kind == "im"
            if self._mentions_me(event):
                self._mentions.message_came(event["channel"], event["ts"])
            if (address := self._address(event, direct)) is not None:
                if self._may_search and not direct and address == "footnote":
                    event = await self._mentions.with_right(event)
                await self._take(event, address, place, retry=retry)
        elif self._is_question_of_app(event):
            self._mentions.message_came(event["channel"], event["ts"])
            await self._take(event, "footnote", place, retry=retry)
        elif self._is_other_app(event) and not begins_thread(event):
            await self._take(event, "others", place, retry=retry)

    def is_ours(self, message: Json) -> bool:
        """Return True if Footnote posted a message."""
        ours = message.get("bot_id") == self.me.bot or message.get("user") == self.me.user
        return ours or run_of(message)[0] is not None

    def _is_other_app(self, event: Json) -> bool:
        """Return True if an app other than Footnote posted the message, in a channel."""
        return is_of_app(event) and not self.is_ours(event) and event.get("channel_type") != "im"

    def _is_question_of_app(self, event: Json) -> bool:
        """Return True if an app begins a conversation with Footnote. Footnote reads what apps say
        in threads but does not answer, or two apps could answer each other forever."""
        return self._is_other_app(event) and begins_thread(event) and self._mentions_me(event)

    async def _changed(self, event: Json, place: Place, retry: int) -> None:
        message, before = event["message"], event.get("previous_message") or {}
        channel, ts = event["channel"], str(message["ts"])
        if message.get("subtype") == "tombstone":  # a deleted message that began a thread
            await self._deleted(channel, message, message)
            return
        # Some edits name their author in only one of these places, or not at all.
        author = message.get("user") or before.get("user") or _editor(message)
        message = {**message, "channel": channel, "user": author or NOBODY}
        if not is_speech(message) or words_of(message) == words_of(before):
            return  # an app's message, or only a link preview was added
        direct = place.kind == "im"
        mentioned = self._mentions_me(message)
        if mentioned:
            self._mentions.message_came(channel, ts)
        elif not direct and not await self._is_ours(channel, message):
            return
        people = await self.people.quickly(self.named_in(message))
        try:
            text = self._text(message, people)
            known = await by_core(self.reception.edit(PLATFORM, event_id(channel, ts), text))
        except Invalid:
            return  # the text was removed: the answer stays
        except Denied as error:
            if author:
                whole = await self._message(message, place)
                sentence = sentence_for(error, texts_for(whole.locale))
                self.ephemeral.say(recipient_of(whole, message), sentence)
            return
        if not known and author and (direct or mentioned):
            # No run began with it before the edit: it was refused, or did not address Footnote.
            await self._take(message, "footnote", place, retry=retry, again=True)

    async def _deleted(self, channel: str, message: Json, event: Json) -> None:
        """Handle a deletion. ``message`` is the message before it, which Slack may leave out;
        ``event`` has its ``ts``."""
        ts = event.get("deleted_ts") or message.get("ts")
        if ts and (not message.get("ts") or await self._is_ours(channel, message)):
            await by_core(self.reception.forget(PLATFORM, event_id(channel, str(ts))))

    async def _is_ours(self, channel: str, message: Json) -> bool:
        """Return True if Footnote takes part in the message's thread."""
        return await by_core(self.reception.takes_part(thread_of(self.me.team, channel, message)))

    def _address(self, event: Json, direct: bool) -> Address | None:
        """Return the addressee of a message; None if it is in no thread and does not mention
        Footnote."""
        if direct or self._mentions_me(event):
            return "footnote"
        if begins_thread(event):
            return None
        return "others" if begins_with_mention(words_of(event)) else "thread"

    async def _take(
        self, event: Json, address: Address, place: Place, *, retry: int, again: bool = False
    ) -> None:
        """Pass a message on to the reception; queue it for a retry if it cannot be stored.

        Raises ``StorageUnavailable`` even then, so that Slack delivers it again.
        """
        try:
            await self._bring(event, address, place, retry=retry, again=again)
        except StorageUnavailable:
            self._retry_queue.keep(
                event_id(event["channel"], str(event["ts"])),
                lambda: self._bring(event, address, place, retry=0, again=again),
            )
            raise

    async def _bring(
        self, event: Json, address: Address, place: Place, *, retry: int, again: bool
    ) -> None:
        """Pass a message on to the reception, and notify its author of a refusal or a stop.

        A message that this process has handled is skipped, unless it has files or was edited.
        """
        id = event_id(event["channel"], str(event["ts"]))
        if id in self._settled and not again and not attachments_of(event):
            return
        if address != "footnote" and not await self._is_ours(event["channel"], event):
            return  # before Slack is asked about people in threads that are not ours
        message = await self._message(event, place)
        recipient: Recipient | None = recipient_of(message, event)
        texts = texts_for(message.locale)
        if address != "footnote" and is_wordless(message.text):
            return  # only emoji, which amount to a reaction, or a picture from an app
        if is_of_app(event) and address == "footnote":
            if not self._app_questions.may_ask(event["channel"], event):
                log.warning("app asks too often", app=message.author.name, id=id)
                return
            recipient = None  # apps get no notices
        # People who talk in a thread without asking Footnote get one notice that they may not ask.
        whom = id if address == "footnote" else f"{message.thread.key} {message.author.id}"
        told = whom in self._settled and not again
        keys = self.reception.settings.encryption_keys
        state = stored_token(str(event[RIGHT]), keys) if message.conversations else None
        try:
            outcome = await by_core(self.reception.receive(message, address, post_state=state))
        except StorageUnavailable:
            if retry >= LAST_RETRY:  # Slack will not deliver it again
                self._say(recipient, texts("not-kept"))
            raise
        except (Denied, Invalid) as error:
            if not told and not (address == "thread" and isinstance(error, Invalid)):
                self._say(recipient, sentence_for(error, texts))
                self._settled[whom] = None
        else:
            if isinstance(outcome, Handled) and not told:
                self._say(recipient, texts("stopping" if outcome.stopped else "nothing-running"))
        self._settled[id] = None

    def _say(self, recipient: Recipient | None, sentence: str) -> None:
        if recipient is None:
            log.info("app not answered", why=sentence)
        else:
            self.ephemeral.say(recipient, sentence)

    async def _message(self, event: Json, place: Place) -> Message:
        people = await self.people.quickly(self.named_in(event))
        text = self._text(event, people)
        thread = thread_of(self.me.team, event["channel"], event)
        if is_of_app(event):
            author, locale = app_of(event, self.me.home), detect(text)
        else:
            author, locale = self.author(event["user"], people, text, event)
        text = text or about_files(attachments_of(event), texts_for(locale))
        return to_message(
            event,
            thread=thread,
            author=author,
            text=text,
            locale=locale,
            audience=place.audience,
            conversations=self._may_search and not is_of_app(event) and bool(event.get(RIGHT)),
        )

    def author(
        self, user: str, people: dict[str, Person], text: str, payload: Json
    ) -> tuple[Author, str]:
        """Return the author and their locale. The language of the text replaces an unknown locale.

        ``payload`` may name the author's team. An admin of another team does not count as an admin.
        """
        person = people.get(user)
        guest = self.me.home.is_guest(person, teams_of(payload))
        if person is None:
            return Author(user, user, guest=guest), detect(text)
        admin = person.admin and guest is False
        author = Author(user, person.name, admin=admin, guest=guest, zone=person.zone)
        return author, person.locale or detect(text)

    def named_in(self, message: Json) -> list[str]:
        """Return the ids of the author and of the people they mention, except Footnote's own."""
        ids = [] if is_of_app(message) else [author_id(message)]
        ids += mentions_in(words_of(message))
        return [id for id in ids if id not in (self.me.user, NOBODY)]

    def _text(self, message: Json, people: dict[str, Person]) -> str:
        names = {person.id: person.name for person in people.values()}
        return unescape(without_mention(words_of(message), self.me.user), names)

    def _mentions_me(self, message: Json) -> bool:
        # An app's ``text`` is only its notification, but Slack counts a mention in it.
        said = f"{message.get('text') or ''} {words_of(message)}"
        return self.me.user in mentions_in(said)

    # ------------------------------------------------------------ stopping

    async def session_stopped(self, event: Json) -> None:
        """Handle ``agent_session_stopped``, which Slack's own Stop button sends."""
        await by_core(self.reception.stop(thread_of(self.me.team, event["channel"], event)))

    async def handle_reaction(self, event: Json) -> None:
        """Handle ``reaction_added``: a stop reaction on a question or its reply stops the run."""
        item = event.get("item") or {}
        name = str(event.get("reaction", "")).partition("::")[0]  # without the skin tone
        if name not in STOP_REACTIONS or item.get("type") != "message":
            return
        if event.get("item_user") == self.me.user:
            self.ephemeral.later(self._stop_reply(item["channel"], str(item["ts"])))
        else:
            id = event_id(item["channel"], str(item["ts"]))
            await by_core(self.reception.stop_question(PLATFORM, id))

    async def _stop_reply(self, channel: str, ts: str) -> None:
        """Stop the run of a reply. The event does not name the thread, so the run is looked up in
        the reply's metadata."""
        found = await self._calls.once(
            "conversations.replies",
            channel=channel,
            ts=ts,
            latest=ts,
            inclusive=True,
            limit=1,
            include_all_metadata=True,
        )
        for message in found.get("messages") or ():
            run_id, _ = run_of(message) if message.get("ts") == ts else (None, None)
            if run_id is not None:
                await self.reception.stop_run(run_id)


def _editor(message: Json) -> str:
    edited = message.get("edited")
    return str(edited.get("user") or "") if isinstance(edited, dict) else ""


def about_files(files: Sequence[Attachment], texts: Texts) -> str:
    """Return the question for a message that has files and no text; "" without files."""
    if not files:
        return ""
    return texts("files-question", names=", ".join(file.name for file in files))


def recipient_of(message: Message, event: Json) -> Recipient:
    """Return the recipient of a private notice about a message: its author, in the same place."""
    in_thread = message.direct or event.get("thread_ts")
    return Recipient(
        message.thread.channel,
        message.author.id,
        message.thread.thread if in_thread else "",
        message.direct,
    )
