"""Passes Slack's events on to the reception, after classifying them.

A method returns once the event's effect is stored; only then is the event acknowledged. If a method
raises, the event is not acknowledged and Slack delivers it again, unless the error is one of
``MALFORMED``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cachetools import LRUCache

from adapters.slack.calls import Calls, Refusal
from adapters.slack.conversations import stored_token
from adapters.slack.deferred import EphemeralMessages, Recipient, RetryQueue
from adapters.slack.delivery import thread_messages, with_files
from adapters.slack.incoming import (
    PLATFORM,
    Deletion,
    Edit,
    Mention,
    Reaction,
    SessionStop,
    SlackMessage,
    by_core,
    event_id,
    parse_message,
)
from adapters.slack.mrkdwn import calls_group, is_wordless, mentions_in
from adapters.slack.teams import Me, People, Person, app_of
from bot.core.errors import (
    Denied,
    Invalid,
    PlatformUnavailable,
    PostRefused,
    StorageUnavailable,
    invalid,
    sentence_for,
)
from bot.core.lines import label
from bot.core.logs import get_logger
from bot.core.messages import Author, Message, Thread, about_files, quotation
from bot.core.texts import texts_for
from bot.pages.urls import links_in
from bot.search.registry import searches_conversations
from bot.service.access import AppLimit
from bot.service.reception import AcceptedQuestion, Address, Handled, Reception
from bot.text.language import detect

MESSAGES_REMEMBERED = 10_000
LAST_RETRY = 3  # the number of Slack's last redelivery of an event
FILE_SECONDS, ABOVE_SECONDS = 1.0, 1.5  # within the three seconds that Slack waits in all
MENTION_SECONDS = 0.25  # how long one event of a pair waits for the other

log = get_logger()

STOP_REACTIONS = frozenset(
    [
        *("octagonal_sign", "stop_sign", "stop_button", "black_square_for_stop", "no_entry"),
        *("no_entry_sign", "x", "negative_squared_cross_mark"),
    ]
)


_ONLY_ME = re.compile(
    r"\s*(?:(?:only|just)(?: to| for)? me|[只仅僅](?:限|给|給|回答|对|對)?我看?) ?[:：]",
    re.IGNORECASE,
)


def only_me(text: str) -> str | None:
    """Return the question of "only me: QUESTION"; None for a text without these words."""
    found = _ONLY_ME.match(text)
    return text[found.end() :].strip() if found else None


@dataclass(slots=True)
class _Pair:
    """The two events of a mention, each set once it has arrived; ``action_token`` is the
    mention's."""

    message: asyncio.Event = field(default_factory=asyncio.Event)
    mention: asyncio.Event = field(default_factory=asyncio.Event)
    action_token: str = ""


class Mentions:
    """Pairs the two events of one mention: ``app_mention`` and the ``message`` with the same text.

    Slack sends both at the same time, in either order. Only the message carries files, and
    sometimes only the mention carries the token for searching. Without the channel scopes, only the
    mention arrives.
    """

    def __init__(self) -> None:
        self._pairs: LRUCache[str, _Pair] = LRUCache(MESSAGES_REMEMBERED)

    def message_came(self, message: SlackMessage) -> None:
        """Record that the ``message`` event of a mention has arrived."""
        self._pair(message).message.set()

    async def has_message(self, mention: SlackMessage) -> bool:
        """Record an ``app_mention``; return True if its ``message`` event has arrived or arrives in
        time."""
        pair = self._pair(mention)
        pair.action_token = mention.action_token
        pair.mention.set()
        return await _comes(pair.message)

    async def with_token(self, message: SlackMessage) -> SlackMessage:
        """Return a message with the search token of its mention, if only the mention has one."""
        if message.action_token:
            return message
        pair = self._pair(message)
        await _comes(pair.mention)
        return replace(message, action_token=pair.action_token)

    def _pair(self, message: SlackMessage) -> _Pair:
        pair: _Pair = self._pairs.setdefault(message.id, _Pair())
        return pair


async def _comes(event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(MENTION_SECONDS):
            await event.wait()
    except TimeoutError:
        return False
    return True


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
        self._apps = AppLimit()

    # ------------------------------------------------------------ what people write

    async def handle_mention(self, mention: Mention, retry: int = 0) -> None:
        """Handle ``app_mention``. In a channel, a ``message`` event always comes before or after
        it."""
        message = await self._with_writer(mention.message)
        mentioned = self.me.user in message.mentions
        if not mentioned and self.me.user in mentions_in(message.words):
            return  # only in words that are quoted
        if message.writer != "person" and not self._is_question_of_app(message):
            return
        if not await self._mentions.has_message(message):
            await self._take(message, "footnote", retry=retry)

    async def handle_message(self, message: SlackMessage, retry: int = 0) -> None:
        """Handle a new message of a channel or a conversation."""
        message = await self._with_writer(message)
        mentioned = self.me.user in message.mentions
        if message.writer == "person":
            if mentioned:
                self._mentions.message_came(message)
            direct = message.place.kind == "im"
            if direct or mentioned:
                if self._may_search and not direct:
                    message = await self._mentions.with_token(message)
                await self._take(message, "footnote", retry=retry)
            elif message.is_reply:
                to_others = bool(message.mentions) or calls_group(message.words)
                await self._take(message, "others" if to_others else "thread", retry=retry)
        elif self._is_question_of_app(message):
            self._mentions.message_came(message)
            await self._take(message, "footnote", retry=retry)
        elif self._is_of_other_app(message) and message.is_reply:
            await self._take(message, "others", retry=retry)

    async def _with_writer(self, message: SlackMessage) -> SlackMessage:
        """Return a message whose writer is known. Slack marks what a person writes through an app
        like what an app writes, and only ``users.info`` tells whose the user is.

        It is not asked about messages that are not for Footnote. Raises ``PlatformUnavailable``.
        """
        if message.writer != "either":
            return message
        concerned = message.place.kind == "im" or self.me.user in message.mentions
        concerned = concerned or await self._takes_part(message.thread(self.me.team))
        if self.is_ours(message) or not concerned:
            return replace(message, writer="app")
        try:
            is_app = (await self.people.person(message.user)).is_app
        except PostRefused:
            is_app = True  # Slack does not show the user
        return replace(message, writer="app" if is_app else "person")

    def is_ours(self, message: SlackMessage) -> bool:
        """Return True if Footnote posted a message."""
        return bool(message.run) or message.bot == self.me.bot or message.user == self.me.user

    def _is_of_other_app(self, message: SlackMessage) -> bool:
        """Return True if an app other than Footnote posted the message, in a channel."""
        in_channel = message.place.kind != "im"
        return message.writer == "app" and in_channel and not self.is_ours(message)

    def _is_question_of_app(self, message: SlackMessage) -> bool:
        """Return True if an app begins a conversation with Footnote. Footnote reads what apps say
        in threads but does not answer, or two apps could answer each other forever."""
        mentioned = self.me.user in message.mentions
        return self._is_of_other_app(message) and not message.is_reply and mentioned

    async def handle_edit(self, edit: Edit, retry: int = 0) -> None:
        message = await self._with_writer(edit.message)
        if message.writer != "person" or message.said == edit.before.said:
            return  # an app's message, or only a link preview was added
        addressed = message.place.kind == "im" or self.me.user in message.mentions
        if self.me.user in message.mentions:
            self._mentions.message_came(message)
        elif not addressed and not await self._takes_part(message.thread(self.me.team)):
            return
        people = await self.people.quickly(self._named_in(message))
        try:
            text = self.markdown(message, people)
            text = only_me(text) or text
            known = await by_core(
                self.reception.edit(PLATFORM, message.id, text, addressed=addressed)
            )
        except Invalid:
            return  # the text was removed: the answer stays
        except Denied as error:
            if message.user:
                whole = await self._message(message)
                sentence = sentence_for(error, texts_for(whole.locale))
                self.ephemeral.say(recipient_of(message, whole), sentence)
            return
        if not known and message.user and addressed:
            # No run began with it before the edit: it was refused, or did not address Footnote.
            await self._take(message, "footnote", retry=retry, again=True)

    async def handle_deletion(self, deleted: Deletion) -> None:
        await by_core(self.reception.forget(PLATFORM, event_id(deleted.channel, deleted.ts)))

    async def _takes_part(self, thread: Thread) -> bool:
        return await by_core(self.reception.takes_part(thread))

    async def _take(
        self, message: SlackMessage, address: Address, *, retry: int, again: bool = False
    ) -> None:
        """Pass a message on to the reception; queue it for a retry if it cannot be stored.

        Raises ``StorageUnavailable`` even then, so that Slack delivers it again.
        """
        try:
            await self._bring(message, address, retry=retry, again=again)
        except StorageUnavailable:
            self._retry_queue.keep(
                message.id, lambda: self._bring(message, address, retry=0, again=again)
            )
            raise

    async def _bring(
        self, sent: SlackMessage, address: Address, *, retry: int, again: bool
    ) -> None:
        """Pass a message on to the reception, and notify its author of a refusal or a stop.

        A message that this process has handled is skipped, unless it has files or was edited.
        """
        if sent.id in self._settled and not (again or sent.files or sent.stubs):
            return
        asked = address == "footnote"
        if not asked and not await self._takes_part(sent.thread(self.me.team)):
            return  # before Slack is asked about people in threads that are not ours
        sent = await with_files(self._calls, sent, FILE_SECONDS)
        message = await self._message(sent)
        means: tuple[str, ...] = ()
        if asked and sent.is_reply and not sent.files and is_wordless(message.text):
            message, means = await self._about_above(sent, message, retry=retry)
        texts = texts_for(message.locale)
        recipient: Recipient | None = recipient_of(sent, message)
        heard = asked or (address == "thread" and self.reception.settings.followups != "mention")
        private = heard and sent.writer == "person" and not message.direct
        question = only_me(message.text) if private else None
        if question is not None:
            asked, address = True, "footnote"
        if not asked and is_wordless(message.text):
            return  # only emoji, which amount to a reaction, or a picture from an app
        limited = sent.bot and address != "others"
        if limited and not self._apps.allows(sent.channel, sent.author, sent.ts):
            log.warning("app asks too often", app=message.author.name, id=sent.id)
            return
        if asked and sent.writer == "app":
            recipient = None  # apps get no notices
        # People who talk in a thread without asking Footnote get one notice that they may not ask.
        whom = sent.id if asked else f"{message.thread.key} {message.author.id}"
        told = whom in self._settled and not again
        keys = self.reception.settings.encryption_keys
        state = stored_token(sent.action_token, keys) if message.conversations else None
        try:
            if question is not None:
                message = await self.only_for_asker(message, question)
            receiving = self.reception.receive(message, address, post_state=state, means=means)
            outcome = await by_core(receiving)
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
            if question is not None and isinstance(outcome, AcceptedQuestion) and outcome.new:
                self._say(recipient, texts("only-me-accepted"))
        self._settled[sent.id] = None

    async def only_for_asker(self, message: Message, question: str) -> Message:
        """Return the question as if its asker had written it in the direct conversation, where the
        poster begins its thread. Edits and deletions find it by the same event id.

        Raises ``Invalid`` if Slack does not open the conversation, and ``PlatformUnavailable``.
        """
        try:
            channel = await self.people.direct(message.author.id)
        except Refusal as refusal:
            log.warning("no direct message", person=message.author.id, error=str(refusal))
            raise invalid("only-me-refused") from refusal
        return replace(
            message,
            thread=Thread(PLATFORM, self.me.team, channel, f"pending-{message.event_id}"),
            text=question,
            links=tuple(links_in(question)),
            audience="person",
        )

    def _say(self, recipient: Recipient | None, sentence: str) -> None:
        if recipient is None:
            log.info("app not answered", why=sentence)
        else:
            self.ephemeral.say(recipient, sentence)

    async def _message(self, sent: SlackMessage) -> Message:
        people = await self.people.quickly(self._named_in(sent))
        text = self.markdown(sent, people)
        if is_app := sent.writer == "app":
            author, locale = app_of(sent, self.me.home), detect(text)
        else:
            author, locale = self.author(sent.user, people, text, sent.teams)
        return sent.to_message(
            sent.thread(self.me.team),
            author,
            text or about_files(sent.files, texts_for(locale)),
            locale,
            audience=sent.place.audience,
            conversations=self._may_search and not is_app and bool(sent.action_token),
        )

    async def _about_above(
        self, sent: SlackMessage, message: Message, *, retry: int
    ) -> tuple[Message, tuple[str, ...]]:
        """Return a bare mention as the question that the message above it in the thread is, and
        what it ``means`` (see ``Reception.receive``).

        It stays empty if Footnote wrote that one, or may not read it. Raises
        ``PlatformUnavailable``, unless Slack will not deliver the mention again.
        """
        try:
            said = await thread_messages(
                self._calls, sent.channel, sent.thread_ts, latest=sent.ts, patience=ABOVE_SECONDS
            )
        except (Refusal, PlatformUnavailable) as error:
            if isinstance(error, PlatformUnavailable) and retry < LAST_RETRY:
                raise
            log.info("message above not read", id=sent.id, error=str(error))
            return message, ()
        earlier = [each for each in said if each.ts < sent.ts and each.writer != "none"]
        above = next((each for each in reversed(earlier) if not self._is_bare(each)), None)
        if above is None or self.is_ours(above):
            return message, ()
        means = tuple(each.id for each in earlier if each.ts >= above.ts)
        above = await with_files(self._calls, above, FILE_SECONDS)
        people = await self.people.quickly(self._named_in(above))
        author = people[above.user].name if above.user in people else above.app_name
        words = self.markdown(above, people)
        text = quotation(words, author=label(author)) if words else ""
        message = replace(
            message,
            text=text or about_files(above.files, texts_for(message.locale)),
            links=tuple(links_in(text)),
            attachments=above.files,
        )
        return message, means

    def _is_bare(self, message: SlackMessage) -> bool:
        """Return True for a message with nothing but a mention of Footnote and perhaps emoji."""
        return is_wordless(self.markdown(message, {})) and not (message.files or message.stubs)

    def author(
        self, user: str, people: Mapping[str, Person], text: str, teams: Sequence[str] = ()
    ) -> tuple[Author, str]:
        """Return the author and their locale. The language of the text replaces an unknown locale.

        ``teams`` are the author's, as far as they are told. An admin of another team does not count
        as an admin.
        """
        person = people.get(user)
        guest = self.me.home.is_guest(person, teams)
        if person is None:
            return Author(user, user, guest=guest), detect(text)
        admin = person.admin and guest is False
        author = Author(user, person.name, admin=admin, guest=guest, zone=person.zone)
        return author, person.locale or detect(text)

    def markdown(self, message: SlackMessage, people: Mapping[str, Person]) -> str:
        """Return the words of a message to Footnote as Markdown, with people by their names."""
        names = {person.id: person.name for person in people.values()}
        return message.markdown(names, without=self.me.user)

    def _named_in(self, message: SlackMessage) -> list[str]:
        return [id for id in message.people() if id != self.me.user]

    # ------------------------------------------------------------ stopping

    async def handle_stop(self, stop: SessionStop) -> None:
        thread = Thread(PLATFORM, self.me.team, stop.channel, stop.thread_ts)
        await by_core(self.reception.stop(thread))

    async def handle_reaction(self, reaction: Reaction) -> None:
        """A stop reaction on a question or its reply stops the run."""
        if reaction.name not in STOP_REACTIONS:
            return
        if reaction.item_user == self.me.user:
            self.ephemeral.later(self._stop_reply(reaction.channel, reaction.ts))
        else:
            id = event_id(reaction.channel, reaction.ts)
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
        for each in found.get("messages") or ():
            message = parse_message(each, channel)
            if message.ts == ts and message.run:
                await self.reception.stop_run(message.run)


def recipient_of(sent: SlackMessage, message: Message) -> Recipient:
    """Return the recipient of a private notice about a message: its author, in the same place."""
    thread = message.thread
    in_thread = message.direct or sent.thread_ts
    ts = thread.thread if in_thread else ""
    return Recipient(thread.channel, message.author.id, ts, message.direct)
