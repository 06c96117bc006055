"""Slack's own messages and files as a source, through its Real-time Search API.

https://docs.slack.dev/apis/web-api/real-time-search-api: a search needs the ``action_token`` of the
event that asked the question, and finds what the asker may see, within the scopes of the app. The
results are used for this one question and not stored (``bot.storage.store``).

In a channel, the search covers public channels and the channel itself; only the asker learns that
there are results in places that not everyone in the channel can see. In a direct message, it covers
everything that the asker may see and the app's scopes allow. For files see ``FilesFound``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from pydantic import SecretStr

from adapters.slack.calls import Away, Json, Limited, Refusal
from adapters.slack.deferred import Recipient, tell
from adapters.slack.delivery import SEARCH, message_ts, thread_messages
from adapters.slack.format import escaped
from adapters.slack.incoming import SlackMessage, attachments_of, parse_message
from adapters.slack.installations import FILES, PUBLIC, SEARCHED
from adapters.slack.mrkdwn import is_ts, unescape
from adapters.slack.teams import Team, names_of
from bot.core.errors import Broken, PageUnreadable, ProviderUnavailable, Refused
from bot.core.logs import get_logger
from bot.core.messages import Attachment
from bot.core.posting import PostState, RunRef
from bot.core.reader import Reader, is_conversation
from bot.core.texts import texts_for
from bot.pages.page import Page
from bot.search.blend import blend
from bot.search.conversation_search import (
    FoundFile,
    is_by,
    page_of,
    period_of,
    title_of,
    words_of_topic,
)
from bot.search.guarded import InFlight
from bot.search.provider import Hit, ProviderKind, Query
from bot.storage.encryption import Seal

log = get_logger()

LOOKED_UP = 10  # files per search in a channel that are looked up with files.info
INFO_SECONDS = 2.0  # how long a call of files.info may wait for the rate limit
SNIPPET = 600  # characters
TITLE = 200  # characters of a file's own title
BY = "Slack"  # the origin of excerpts

HIGHLIGHT = re.compile("[\ue000\ue001]")  # Slack's marks around the words that were found

UNREADABLE = "Slack's search gave files in a form that cannot be read: they were left out."
UNKNOWN = "Slack does not tell now where some of the files are shared: they were left out here."
UNSCOPED = (
    "Slack does not tell where the files are shared, for which the app needs the scope files:read: "
    "they were left out here."
)
ENDED = f"Its files may not be searched any more: an admin can grant the app {FILES} again."

_LINK = re.compile(r"https://[^/\s]+/[^\s\"<>|\\]+")


@dataclass(frozen=True, slots=True)
class _File:
    """A file that a search found, as a footnote needs it. ``at`` is when it was last changed."""

    id: str
    url: str
    title: str
    author: str
    author_name: str
    at: datetime
    excerpt: str

    @property
    def label(self) -> str:
        """The title of a footnote: "Ann, Launch plan, 3 June 2026"."""
        return title_of(self.author_name or self.author, self.title, self.at)


@dataclass(frozen=True, slots=True)
class _Told:
    """The response of files.info, empty if the call failed: the ids of the ``places`` where the
    file is shared (public channels as ``PUBLIC``), and its download. ``is_gone`` tells that it was
    deleted, ``remark`` why files cannot be looked up now."""

    places: frozenset[str] = frozenset()
    attachment: Attachment | None = None
    size: int = 0
    is_gone: bool = False
    remark: str = ""


class FilesFound:
    """The files found for one question: ``FindsFiles`` of ``bot.search.conversation_search``.

    https://docs.slack.dev/reference/objects/file-object. In a direct message, all of them may be
    used. In a channel, ``files.info`` must say that a file is shared in a public channel or in that
    channel. Only the asker learns that there are other files, or files of which Slack does not say
    where they are shared.

    ``remarks`` are sentences about files that could not be searched or used, each once.
    """

    name = "slack"

    def __init__(self, team: Team, run: RunRef, *, is_direct: bool, bot: str) -> None:
        """``bot`` is Footnote's own user id; ``is_direct`` tells that only the asker reads the
        answer."""
        self.remarks: list[str] = []
        self._calls = team.calls
        self._channel = run.message.thread.channel
        self._sent = {file.url.partition("#")[0] for file in run.message.attachments}
        self._direct = is_direct
        self._bot = bot
        self._found_files: dict[str, _File] = {}  # by permalink
        self._told: dict[str, _Told] = {}  # by id
        self._asking: InFlight[_Told] = InFlight()
        self._is_more_elsewhere = False

    def _remark(self, sentence: str) -> None:
        """Add a sentence, unless it is empty or already there."""
        if sentence and sentence not in self.remarks:
            self.remarks.append(sentence)

    def _listed(self, results: Json) -> list[_File]:
        """Return the files among a search's results that have all that a footnote needs."""
        given = results.get("files", [])
        files = [_parse_file(each) for each in given] if isinstance(given, list) else [None]
        if None in files:
            self._remark(UNREADABLE)
        return [file for file in files if file is not None]

    async def _hits_of(self, files: Iterable[_File], people: Sequence[str]) -> list[Hit]:
        """Return the files that may be used where the question was asked, except those attached to
        it and Footnote's own. ``people``, if any, limits the hits to their files."""
        wanted = {each.url: each for each in files if self._is_wanted_file(each, people)}
        if not self._direct:
            wanted = dict(list(wanted.items())[:LOOKED_UP])
            told = await asyncio.gather(*(self._info(each.id) for each in wanted.values()))
            for info in told:
                self._remark(info.remark)
            here = {
                url: each
                for (url, each), info in zip(wanted.items(), told, strict=True)
                if info.places & {PUBLIC, self._channel}
            }
            gone = sum(info.is_gone for info in told)
            self._is_more_elsewhere |= len(here) + gone < len(wanted)
            wanted = here
        self._found_files |= wanted
        return [
            Hit(each.label, url, (each.excerpt or each.title)[:SNIPPET], self.name)
            for url, each in wanted.items()
        ]

    def _is_wanted_file(self, file: _File, people: Sequence[str]) -> bool:
        is_ours = file.author == self._bot or file.url in self._sent
        return not is_ours and is_by(file.author_name, people)

    async def _info(self, id: str) -> _Told:
        if id not in self._told:
            told = await self._asking.join(id, lambda: self._ask_about(id))
            if told.remark == UNKNOWN:  # Slack may answer the next time
                return told
            self._told[id] = told
        return self._told[id]

    async def _ask_about(self, id: str) -> _Told:
        try:
            reply = await self._calls.patiently("files.info", patience=INFO_SECONDS, file=id)
        except Refusal as refusal:
            log.info("file not known", file=id, error=str(refusal))
            remark = UNSCOPED if refusal.code == "missing_scope" else ""
            return _Told(is_gone=refusal.code == "file_deleted", remark=remark)
        except (Limited, Away) as away:
            log.info("file not known", file=id, error=str(away))
            return _Told(remark=UNKNOWN)
        return _parse_info(reply.get("file"))

    # ------------------------------------------------------------ reading

    def has_file(self, url: str) -> bool:
        return url in self._found_files

    async def file(self, url: str) -> FoundFile:
        """See ``bot.search.conversation_search.FindsFiles.file``."""
        found = self._found_files[url]
        told = await self._info(found.id)
        if told.is_gone:
            raise PageUnreadable(f"The file {found.title} was deleted.")
        attachment = told.attachment or Attachment(found.title, "", url)
        return FoundFile(replace(attachment, url=url), found.label, told.size, found.excerpt, BY)


def _parse_file(file: object) -> _File | None:
    """Parse a result; None if it lacks what a footnote needs, or does not link to that file in
    Slack."""
    if not isinstance(file, dict):
        return None
    url, id, at = file.get("permalink"), file.get("file_id"), _day(file)
    if not (isinstance(url, str) and isinstance(id, str) and id and _LINK.fullmatch(url)):
        return None
    if at is None or not is_conversation(url) or id not in urlsplit(url).path.split("/"):
        return None
    title, content = file.get("title"), file.get("content")
    return _File(
        id=id,
        url=url,
        title=(" ".join(title.split())[:TITLE] if isinstance(title, str) else "") or id,
        author=str(file.get("author_user_id") or ""),
        author_name=str(file.get("author_name") or ""),
        at=at,
        excerpt=_unmarked(content).strip() if isinstance(content, str) else "",
    )


def _parse_info(about: object) -> _Told:
    if not isinstance(about, dict):
        return _Told()
    public, *private = (
        [str(id) for id in ids if id] if isinstance(ids := about.get(kind), list) else []
        for kind in ("channels", "groups", "ims")
    )
    places = {id for ids in private for id in ids} | ({PUBLIC} if public else set())
    attachments = [file for file in attachments_of([about]) if not file.unread]
    size = about.get("size")
    return _Told(
        frozenset(places),
        attachments[0] if attachments else None,
        size if isinstance(size, int) else 0,
        is_gone=about.get("mode") == "tombstone",
    )


def _day(file: Json) -> datetime | None:
    """Return the time when a file was last changed, or else created."""
    at = file.get("date_updated") or file.get("date_created")
    try:
        return datetime.fromtimestamp(float(at), UTC)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _unmarked(text: str) -> str:
    """Return found text as Markdown, without Slack's marks around the words that were found."""
    return unescape(HIGHLIGHT.sub("", text), {})


PAGE = 20  # largest number of results of one call
THREAD = 100  # messages read from one thread
THREAD_SECONDS = 3.0  # time limit for reading a thread; then the context in the hit is used
MOST_FURTHER = 6  # queries per question in a channel that also search beyond public channels

_EXPIRED = frozenset({"invalid_action_token", "action_token_expired", "expired_action_token"})


def stored_token(token: str, keys: Sequence[SecretStr]) -> PostState:
    """Return the post state that stores an action token, encrypted if there are keys.

    Without keys there is only one workspace, and the token works only together with that
    workspace's bot token, which is not in the database.
    """
    return {SEARCH: Seal(keys).close(token) if keys else token}


def load_token(right: str, keys: Sequence[SecretStr]) -> str:
    """Decrypt the action token of ``stored_token``. Raises ``InvalidSetting`` if no key fits."""
    return Seal(keys).open(right) if keys else right


@dataclass(frozen=True, slots=True)
class _Found:
    """A message that a search found, with those around it. ``message.thread_ts`` is its thread's
    first message."""

    url: str
    message: SlackMessage
    is_of_app: bool
    author_name: str
    title: str
    around: tuple[SlackMessage, ...]


class _Results(NamedTuple):
    """Results of a search, best first."""

    messages: Sequence[_Found] = ()
    files: Sequence[_File] = ()


class SlackConversations(FilesFound):
    """See the module docstring, and ``ConversationSearch`` and ``FindsFiles`` of
    ``bot.search.conversation_search``.

    ``token`` is the action token of the question, ``scopes`` those of the app.
    """

    kind: ProviderKind = "knowledge"

    def __init__(
        self, team: Team, run: RunRef, reader: Reader, token: str, scopes: Iterable[str], bot: str
    ) -> None:
        super().__init__(team, run, is_direct=reader.surface == "direct", bot=bot)
        self._team = team
        self._run = run
        self._token = token
        granted = frozenset(scopes)
        self._kinds = tuple(kind for kind, scope in SEARCHED.items() if scope in granted)
        self._searches_files = FILES in granted
        self._found: dict[str, _Found] = {}  # by permalink
        self._answers: dict[str, _Results] = {}  # by the arguments of the call
        self._ended = ""  # the reason why Slack refuses further searches for this question
        self._looked_further = 0

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
            files = [  # alternating, so that neither list crowds out the other
                each
                for pair in zip_longest(found.files, further.files)
                for each in pair
                if each is not None
            ]
        hits: dict[str, Hit] = {}
        for each in messages:
            self._found[each.url] = each
            words = each.message.markdown({})[:SNIPPET]
            hits.setdefault(each.url, Hit(each.title, each.url, words, self.name))
        of_files = await self._hits_of(files, query.talk.people)
        return blend([list(hits.values()), of_files])[: query.limit]

    async def _further(self, query: Query) -> _Results:
        """Search what the asker may see beyond public channels, for the first queries only."""
        kinds = [kind for kind in self._kinds if kind != "public_channel"]
        if not kinds or self._looked_further >= MOST_FURTHER:
            return _Results()
        self._looked_further += 1
        return await self._ask(query, kinds)

    def _is_here(self, found: _Found) -> bool:
        return found.message.channel == self._run.message.thread.channel

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
            self._remark(ENDED)
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
        files = self._listed(results) if is_of_files else ()
        return _Results([one for each in listed if (one := _parse_found(each))], files)

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

    def _is_wanted(self, found: _Found, people: Sequence[str]) -> bool:
        """Return True for what people said among themselves: not a question to Footnote, and not in
        the thread of the question."""
        message, thread = found.message, self._run.message.thread.thread
        if found.is_of_app or message.user == self._bot or self._bot in message.mentions:
            return False
        of_question = (message.thread_ts, message.ts)
        if self._is_here(found) and (thread in of_question or message.ts == message_ts(self._run)):
            return False
        return is_by(found.author_name, people)

    # ------------------------------------------------------------ reading

    def reads(self, url: str) -> bool:
        return url in self._found

    async def read(self, url: str) -> Page:
        """Return the thread of a found message, or the messages around it that came with the search
        result if Footnote may not read the thread."""
        found = self._found[url]
        messages: Sequence[SlackMessage]
        try:
            messages = await thread_messages(
                self._team.calls,
                found.message.channel,
                found.message.thread_ts,
                most=THREAD,
                patience=THREAD_SECONDS,
            )
        except (Refusal, Limited, Away) as error:
            log.info("thread not read", url=url, error=str(error))
            messages = found.around
        spoken = await self._among_people(messages)
        if not spoken:
            raise PageUnreadable("The message is gone.")
        return page_of(url, found.title, spoken, datetime.now(UTC), self._run.id)

    async def _among_people(
        self, messages: Sequence[SlackMessage]
    ) -> list[tuple[str, datetime, str]]:
        """Return author, time and text of a thread's messages, without Footnote's own and the
        questions to it."""
        among_people = [
            each
            for each in messages
            if not each.is_silent
            and not each.run
            and each.user != self._bot
            and self._bot not in each.mentions
            and is_ts(each.ts)
        ]
        names = await names_of(self._team.people, among_people)
        return [
            (names.get(each.user, each.app_name), _at(each.ts), each.markdown(names))
            for each in among_people
        ]

    # ------------------------------------------------------------ notice to the asker

    async def answer_posted(self) -> None:
        if not self._is_more_elsewhere:
            return
        message = self._run.message
        recipient = Recipient(message.thread.channel, message.author.id, message.thread.thread)
        text = texts_for(message.locale)("more-elsewhere")
        await tell(self._team.calls, recipient, escaped(text))


def _parse_found(result: Any) -> _Found | None:
    """Parse a result; None if it lacks what a footnote needs, or does not link to Slack."""
    if not isinstance(result, dict):
        return None
    texts = [result.get(name) for name in ("permalink", "content", "channel_id", "message_ts")]
    url, content, channel, ts = (text if isinstance(text, str) else "" for text in texts)
    if not (content and channel and is_conversation(url) and is_ts(ts)):
        return None
    root = parse_qs(urlsplit(url).query).get("thread_ts", [""])[0]
    author, name = (str(result.get(key) or "") for key in ("author_user_id", "author_name"))
    message = parse_message(
        {
            "user": author,
            "text": HIGHLIGHT.sub("", content),
            "ts": ts,
            "thread_ts": root if is_ts(root) else ts,
        },
        channel,
    )
    around = result.get("context_messages")
    before, after = (
        [
            parse_message({**each, "user": each.get("user_id")}, channel)
            for each in (around.get(side) if isinstance(around, dict) else None) or ()
            if "ts" in each
        ]
        for side in ("before", "after")
    )
    channel_name = str(result.get("channel_name") or "")
    place = f"#{channel_name}" if channel_name and channel[0] in "CG" else ""
    return _Found(
        url=url,
        message=message,
        is_of_app=bool(result.get("is_author_bot")),
        author_name=name,
        title=title_of(name or author, place, _at(ts)),
        around=(*before, message, *after),
    )


def _at(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)
