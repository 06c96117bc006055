"""Files and canvases that Slack's Real-time Search API finds for one question.

https://docs.slack.dev/reference/methods/assistant.search.context and
https://docs.slack.dev/reference/objects/file-object

In a direct message, all of them may be used. In a channel, ``files.info`` must say that a file is
shared in a public channel or in that channel. Only the asker learns that there are other files, or
files of which Slack does not say where they are shared.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import zip_longest
from urllib.parse import urlsplit

from adapters.slack.calls import Away, Calls, Json, Limited, Refusal
from adapters.slack.incoming import attachments_of, unescape
from bot.core.errors import PageUnreadable
from bot.core.logs import get_logger
from bot.core.messages import Attachment
from bot.core.posting import RunRef
from bot.core.reader import is_conversation
from bot.search.conversation_search import FoundFile, is_by, title_of
from bot.search.guarded import InFlight
from bot.search.provider import Hit

FILES = "search:read.files"  # the scope
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

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Told:
    """The response of files.info: ``about`` is empty if the call failed. ``is_gone`` tells that the
    file was deleted, ``remark`` why files cannot be looked up now."""

    about: Json = field(default_factory=dict)
    is_gone: bool = False
    remark: str = ""

    def is_shared_in(self, channel: str) -> bool:
        """Return True if everyone in ``channel`` may see the file."""
        public = _names(self.about.get("channels"))
        return bool(public) or channel in {
            name for kind in ("groups", "ims") for name in _names(self.about.get(kind))
        }


class FoundFiles:
    """See the module docstring. ``bot`` is Footnote's own user id; ``is_direct`` tells that only
    the asker reads the answer.

    ``remarks`` are sentences about files that could not be searched or used, each once.
    """

    def __init__(self, calls: Calls, run: RunRef, *, is_direct: bool, bot: str, name: str) -> None:
        self.is_more_elsewhere = False
        self.remarks: list[str] = []
        self._calls = calls
        self._channel = run.message.thread.channel
        self._sent = {file.url.partition("#")[0] for file in run.message.attachments}
        self._is_direct = is_direct
        self._bot = bot
        self._name = name
        self._found: dict[str, Json] = {}  # by permalink
        self._told: dict[str, _Told] = {}  # by id
        self._asking: InFlight[_Told] = InFlight()

    def remark(self, sentence: str) -> None:
        """Add a sentence, unless it is empty or already there."""
        if sentence and sentence not in self.remarks:
            self.remarks.append(sentence)

    def listed(self, results: Json) -> list[Json]:
        """Return the files among a search's results that have all that a footnote needs."""
        given = results.get("files", [])
        whole = [each for each in given if _is_whole(each)] if isinstance(given, list) else []
        if whole != given:
            self.remark(UNREADABLE)
        return whole

    async def hits(self, files: Iterable[Json], people: Sequence[str]) -> list[Hit]:
        """Return the files that may be used where the question was asked, except those attached to
        it and Footnote's own. ``people``, if any, limits the hits to their files."""
        wanted = {str(each["permalink"]): each for each in files if self._is_wanted(each, people)}
        if not self._is_direct:
            wanted = dict(list(wanted.items())[:LOOKED_UP])
            told = await asyncio.gather(*(self._info(each) for each in wanted.values()))
            for info in told:
                self.remark(info.remark)
            here = {
                url: each
                for (url, each), info in zip(wanted.items(), told, strict=True)
                if info.is_shared_in(self._channel)
            }
            gone = sum(info.is_gone for info in told)
            self.is_more_elsewhere |= len(here) + gone < len(wanted)
            wanted = here
        self._found |= wanted
        return [
            Hit(_title(each), url, (_excerpt(each) or _own_title(each))[:SNIPPET], self._name)
            for url, each in wanted.items()
        ]

    def _is_wanted(self, file: Json, people: Sequence[str]) -> bool:
        is_ours = file.get("author_user_id") == self._bot or file["permalink"] in self._sent
        return not is_ours and is_by(str(file.get("author_name") or ""), people)

    async def _info(self, file: Json) -> _Told:
        id = str(file["file_id"])
        if id not in self._told:
            told = await self._asking.join(id, lambda: self._ask(id))
            if told.remark == UNKNOWN:  # Slack may answer the next time
                return told
            self._told[id] = told
        return self._told[id]

    async def _ask(self, id: str) -> _Told:
        try:
            reply = await self._calls.patiently("files.info", patience=INFO_SECONDS, file=id)
        except Refusal as refusal:
            log.info("file not known", file=id, error=str(refusal))
            remark = UNSCOPED if refusal.code == "missing_scope" else ""
            return _Told(is_gone=refusal.code == "file_deleted", remark=remark)
        except (Limited, Away) as away:
            log.info("file not known", file=id, error=str(away))
            return _Told(remark=UNKNOWN)
        about = reply.get("file")
        about = about if isinstance(about, dict) else {}
        return _Told(about, is_gone=about.get("mode") == "tombstone")

    # ------------------------------------------------------------ reading

    def has(self, url: str) -> bool:
        return url in self._found

    async def file(self, url: str) -> FoundFile:
        """See ``bot.search.conversation_search.FindsFiles.file``."""
        found = self._found[url]
        told = await self._info(found)
        name = _own_title(found)
        if told.is_gone:
            raise PageUnreadable(f"The file {name} was deleted.")
        sent = attachments_of({"files": [told.about]})
        attachment = replace(sent[0], url=url) if sent else Attachment(name, "", url)
        size = told.about.get("size")
        excerpt = _excerpt(found)
        return FoundFile(
            attachment, _title(found), size if isinstance(size, int) else 0, excerpt, BY
        )


def alternating(*lists: Sequence[Json]) -> list[Json]:
    """Return the first of each list, then the second, and so on, so that no list crowds out
    another."""
    return [each for some in zip_longest(*lists) for each in some if each is not None]


def _names(given: object) -> list[str]:
    return [str(each) for each in given if each] if isinstance(given, list) else []


def _is_whole(file: object) -> bool:
    """Return True if a result has all that a footnote needs, and links to that file in Slack."""
    if not isinstance(file, dict):
        return False
    url, id = file.get("permalink"), file.get("file_id")
    if not (isinstance(url, str) and isinstance(id, str) and id and _LINK.fullmatch(url)):
        return False
    is_of_file = is_conversation(url) and id in urlsplit(url).path.split("/")
    return is_of_file and _day(file) is not None


def _day(file: Json) -> datetime | None:
    """Return the time when a file was last changed, or else created."""
    at = file.get("date_updated") or file.get("date_created")
    try:
        return datetime.fromtimestamp(float(at), UTC)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _own_title(file: Json) -> str:
    title = file.get("title")
    title = " ".join(title.split())[:TITLE] if isinstance(title, str) else ""
    return title or str(file["file_id"])


def _title(file: Json) -> str:
    """Return the title of a footnote: "Ann, Launch plan, 3 June 2026"."""
    at = _day(file)
    assert at is not None  # noqa: S101 - see ``_is_whole``
    author = str(file.get("author_name") or file.get("author_user_id") or "")
    return title_of(author, _own_title(file), at)


def _excerpt(file: Json) -> str:
    content = file.get("content")
    return unescape(HIGHLIGHT.sub("", content), {}).strip() if isinstance(content, str) else ""
