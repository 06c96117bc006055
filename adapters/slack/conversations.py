"""Slack's own messages and files as a source, through its Real-time Search API.

https://docs.slack.dev/apis/web-api/real-time-search-api: a search needs the ``action_token`` of the
event that asked the question, and finds what the asker may see, within the scopes of the app. The
results are used for this one question and not stored (``bot.storage.store``).

In a channel, the search covers public channels and the channel itself; only the asker learns that
there are results in places that not everyone in the channel can see. In a direct message, it covers
everything that the asker may see and the app's scopes allow. For files see ``found_files``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from pydantic import SecretStr

from adapters.slack.calls import Away, Json, Limited, Refusal
from adapters.slack.deferred import Recipient, tell
from adapters.slack.format import escaped
from adapters.slack.found_files import ENDED, FILES, HIGHLIGHT, SNIPPET, FoundFiles, alternating
from adapters.slack.incoming import mentions_in, unescape
from adapters.slack.people import names_of
from adapters.slack.posted import SEARCH, is_ts, message_ts, run_of, thread_messages
from adapters.slack.teams import Team
from adapters.slack.words import words_of
from bot.core.errors import Broken, PageUnreadable, ProviderUnavailable, Refused
from bot.core.logs import get_logger
from bot.core.posting import PostState, RunRef
from bot.core.reader import Reader, is_conversation
from bot.core.texts import texts_for
from bot.pages.page import Page
from bot.search.blend import blend
from bot.search.conversations import FoundFile
from bot.search.provider import Hit, ProviderKind, Query
from bot.search.talk import is_by, page_of, period_of, title_of, words_of_topic
from bot.storage.encryption import Seal

# The scope for each kind of channel: https://docs.slack.dev/reference/methods/assistant.search.context
PUBLIC = "search:read.public"
SCOPES: Mapping[str, str] = {
    "public_channel": PUBLIC,
    "private_channel": "search:read.private",
    "mpim": "search:read.mpim",
    "im": "search:read.im",
}
EVERY_SCOPE = (*SCOPES.values(), FILES)
PAGE = 20  # largest number of results of one call
THREAD = 100  # messages read from one thread
THREAD_SECONDS = 3.0  # time limit for reading a thread; then the context in the hit is used
MOST_FURTHER = 6  # queries per question in a channel that also search beyond public channels

_EXPIRED = frozenset({"invalid_action_token", "action_token_expired", "expired_action_token"})

log = get_logger()


def stored_token(token: str, keys: Sequence[SecretStr]) -> PostState:
    """Return the post state that stores an action token, encrypted if there are keys.

    Without keys there is only one workspace, and the token works only together with that
    workspace's bot token, which is not in the database.
    """
    return {SEARCH: Seal(keys).close(token) if keys else token}


def load_token(right: str, keys: Sequence[SecretStr]) -> str:
    """Decrypt the action token of ``stored_token``. Raises ``InvalidSetting`` if no key fits."""
    return Seal(keys).open(right) if keys else right


class _Results(NamedTuple):
    """Results of a search, best first."""

    messages: Sequence[Json] = ()
    files: Sequence[Json] = ()


class SlackConversations:
    """See the module docstring, and ``ConversationSearch`` and ``FindsFiles`` of
    ``bot.search.conversations``.

    ``token`` is the action token of the question, ``scopes`` those of the app.
    """

    name = "slack"
    kind: ProviderKind = "knowledge"

    def __init__(
        self, team: Team, run: RunRef, reader: Reader, token: str, scopes: Iterable[str], bot: str
    ) -> None:
        self._team = team
        self._run = run
        self._direct = reader.surface == "direct"
        self._token = token
        granted = frozenset(scopes)
        self._kinds = tuple(kind for kind, scope in SCOPES.items() if scope in granted)
        self._bot = bot
        self._files = FoundFiles(team.calls, run, is_direct=self._direct, bot=bot, name=self.name)
        self._searches_files = FILES in granted
        self._found: dict[str, Json] = {}  # by permalink
        self._answers: dict[str, _Results] = {}  # by the arguments of the call
        self._ended = ""  # the reason why Slack refuses further searches for this question
        self._looked_further = 0
        self._is_more_elsewhere = False

    # ------------------------------------------------------------ searching

    async def search(self, query: Query) -> list[Hit]:
        if self._direct:
            messages, files = await self._ask(query, self._kinds)
        else:
            public = [kind for kind in self._kinds if kind == "public_channel"]
            found, further = await asyncio.gather(self._ask(query, public), self._further(query))
            here = [each for each in further.messages if self._is_here(each)]
            self._is_more_elsewhere |= len(here) < len(further.messages)
            messages = [*here, *found.messages]
            files = alternating(found.files, further.files)
        hits: dict[str, Hit] = {}
        for message in messages:
            url = str(message["permalink"])
            self._found[url] = message
            hits.setdefault(url, self._hit(url, message))
        of_files = await self._files.hits(files, query.talk.people)
        return blend([list(hits.values()), of_files])[: query.limit]

    async def _further(self, query: Query) -> _Results:
        """Search what the asker may see beyond public channels, for the first queries only."""
        kinds = [kind for kind in self._kinds if kind != "public_channel"]
        if not kinds or self._looked_further >= MOST_FURTHER:
            return _Results()
        self._looked_further += 1
        return await self._ask(query, kinds)

    def _is_here(self, message: Json) -> bool:
        return message.get("channel_id") == self._run.message.thread.channel

    async def _ask(self, query: Query, kinds: Sequence[str]) -> _Results:
        if not kinds:
            return _Results()
        if self._ended:
            raise Refused(self._ended)
        where = self._run.message.thread.channel
        arguments: dict[str, Any] = {
            "query": words_of_topic(query),
            "action_token": self._token,
            "channel_types": ",".join(kinds),
            "content_types": "messages,files" if self._searches_files else "messages",
            "context_channel_id": where,
            "include_context_messages": True,
            "limit": PAGE,
        }
        after, before = period_of(query, datetime.now(UTC))
        if after is not None:
            arguments["after"] = int(after.timestamp())
        if before is not None:
            arguments["before"] = int(before.timestamp())
        asked = repr(sorted(arguments.items()))
        if asked not in self._answers:
            self._answers[asked] = await self._called(arguments)
        messages, files = self._answers[asked]
        return _Results([m for m in messages if self._is_wanted(m, query.talk.people)], files)

    async def _called(self, arguments: dict[str, Any]) -> _Results:
        is_of_files = arguments["content_types"] != "messages"
        try:
            reply = await self._team.calls.once("assistant.search.context", **arguments)
        except Refusal as refusal:
            if refusal.code != "missing_scope" or not is_of_files:
                raise self._refused(refusal) from refusal
            found = await self._called({**arguments, "content_types": "messages"})
            self._searches_files = False  # the scope for files was the missing one
            self._team.forget_scopes()
            self._files.remark(ENDED)
            return found
        except (Limited, Away) as away:
            raise ProviderUnavailable(
                "Slack does not answer searches now.",
                detail=away.detail,
                retry_after=away.retry_after,
            ) from away
        results = reply.get("results")
        results = results if isinstance(results, dict) else {}
        listed = results.get("messages")
        if not isinstance(listed, list):
            raise Broken("Slack's answer to a search cannot be read.")
        files = self._files.listed(results) if is_of_files else ()
        return _Results([each for each in listed if _is_whole(each)], files)

    def _refused(self, refusal: Refusal) -> Refused | Broken:
        if refusal.code in _EXPIRED:
            self._ended = (
                "The time in which its messages may be searched for this question is over: ask "
                "again to search them, too."
            )
        elif refusal.code == "missing_scope":
            self._team.forget_scopes()
            self._ended = (
                "Its messages may not be searched any more: an admin can grant the app "
                f"{PUBLIC} again."
            )
        else:
            return Broken(f"Slack refuses to search messages ({refusal.code}).")
        return Refused(self._ended, detail=refusal.detail)

    def _is_wanted(self, message: Json, people: Sequence[str]) -> bool:
        """Return True for what people said among themselves: not a question to Footnote, and not in
        the thread of the question."""
        thread = self._run.message.thread
        is_ours = message.get("is_author_bot") or message.get("author_user_id") == self._bot
        if is_ours or self._bot in mentions_in(str(message["content"])):
            return False
        if self._is_here(message) and thread.thread in (_root(message), message["message_ts"]):
            return False
        is_asked = self._is_here(message) and message["message_ts"] == message_ts(self._run)
        return not is_asked and is_by(str(message.get("author_name") or ""), people)

    def _hit(self, url: str, message: Json) -> Hit:
        words = unescape(HIGHLIGHT.sub("", str(message["content"])), {})
        return Hit(_title(message), url, words[:SNIPPET], self.name)

    # ------------------------------------------------------------ reading

    def reads(self, url: str) -> bool:
        return url in self._found

    async def read(self, url: str) -> Page:
        """Return the thread of a found message, or the messages around it that came with the search
        result if Footnote may not read the thread."""
        found = self._found[url]
        try:
            messages = await thread_messages(
                self._team.calls,
                str(found["channel_id"]),
                _root(found),
                most=THREAD,
                patience=THREAD_SECONDS,
            )
        except (Refusal, Limited, Away) as error:
            log.info("thread not read", url=url, error=str(error))
            messages = _around(found)
        spoken = await self._said_by_people(messages)
        if not spoken:
            raise PageUnreadable("The message is gone.")
        return page_of(url, _title(found), spoken, datetime.now(UTC), self._run.id)

    async def _said_by_people(self, messages: Sequence[Json]) -> list[tuple[str, datetime, str]]:
        """Return author, time and text of a thread's messages, without Footnote's own and the
        questions to it."""
        among_people = [
            each
            for each in messages
            if words_of(each)
            and each.get("user") != self._bot
            and run_of(each)[0] is None
            and self._bot not in mentions_in(words_of(each))
        ]
        names = await names_of(self._team.people, among_people)
        return [
            (
                names.get(str(each.get("user")), str(each.get("username") or each.get("user"))),
                _at(str(each["ts"])),
                unescape(words_of(each), names),
            )
            for each in among_people
            if is_ts(str(each.get("ts")))
        ]

    # ------------------------------------------------------------ files

    @property
    def remarks(self) -> Sequence[str]:
        return self._files.remarks

    def has_file(self, url: str) -> bool:
        return self._files.has(url)

    async def file(self, url: str) -> FoundFile:
        return await self._files.file(url)

    # ------------------------------------------------------------ notice to the asker

    async def answer_posted(self) -> None:
        if not (self._is_more_elsewhere or self._files.is_more_elsewhere):
            return
        message = self._run.message
        recipient = Recipient(message.thread.channel, message.author.id, message.thread.thread)
        text = texts_for(message.locale)("more-elsewhere")
        await tell(self._team.calls, recipient, escaped(text))


def _is_whole(message: Any) -> bool:
    """Return True if a result has all that a footnote needs, and links to Slack."""
    if not isinstance(message, dict):
        return False
    texts = [message.get(name) for name in ("permalink", "content", "channel_id", "message_ts")]
    is_whole = all(isinstance(text, str) and text for text in texts)
    return is_whole and is_conversation(str(texts[0])) and is_ts(str(texts[3]))


def _at(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)


def _root(message: Json) -> str:
    """Return the ts of the thread's first message, which is in the permalink of a reply."""
    root = parse_qs(urlsplit(str(message["permalink"])).query).get("thread_ts", [""])[0]
    return root if is_ts(root) else str(message["message_ts"])


def _title(message: Json) -> str:
    channel = str(message.get("channel_name") or "")
    is_named = channel and str(message["channel_id"])[:1] in "CG"
    author = str(message.get("author_name") or message.get("author_user_id") or "")
    return title_of(author, f"#{channel}" if is_named else "", _at(str(message["message_ts"])))


def _around(found: Json) -> list[Json]:
    """Return a found message and those around it, in the form of a thread's messages."""
    around = found.get("context_messages")
    around = around if isinstance(around, dict) else {}
    itself = {
        "user": found.get("author_user_id"),
        "text": HIGHLIGHT.sub("", str(found["content"])),
        "ts": found["message_ts"],
    }
    others = [
        [{**each, "user": each.get("user_id")} for each in around.get(side) or ()]
        for side in ("before", "after")
    ]
    return [*others[0], itself, *others[1]]
