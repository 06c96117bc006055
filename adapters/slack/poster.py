"""Slack's poster: begins, resumes and deletes replies, and reads threads and files for a run.

For how a reply is shown see ``reply``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from time import monotonic
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr

from adapters.slack.calls import Away, Calls, Limited, Refusal
from adapters.slack.conversations import SlackConversations, load_token
from adapters.slack.deferred import Recipient, tell
from adapters.slack.delivery import (
    QUESTION,
    Delivery,
    Post,
    PostedMessages,
    found_question,
    is_about,
    is_suggestion,
    message_ts,
    thread_messages,
    with_files,
)
from adapters.slack.format import context, escaped, markdown_block, notification, question_text
from adapters.slack.incoming import Place, is_direct
from adapters.slack.installations import FILES, PUBLIC
from adapters.slack.mrkdwn import is_ts
from adapters.slack.reply import Features, SlackDisplay
from adapters.slack.teams import Team, Teams, names_of
from bot.core.errors import PlatformUnavailable, PostRefused
from bot.core.lines import label
from bot.core.logs import get_logger
from bot.core.messages import Attachment, Audience, Author, Message
from bot.core.posting import PostState, Reply, RunRef, Whereabouts, collect
from bot.core.reader import Reader
from bot.core.texts import texts_for
from bot.service.replying import Pace, open_reply

MESSAGES = 300  # the latest ones of a thread; a reasoner sees fewer
SLACK_HOSTS = ("slack.com", "slack-files.com")  # where files are stored; subdomains count too
FILE_SECONDS = 60.0
CHUNK = 64 * 1024  # bytes


async def thread_history(team: Team, run: RunRef) -> Sequence[Message]:
    """Return the thread's earlier messages, oldest first, without Footnote's own.

    Empty if the question began the thread, and in direct messages, where every message is addressed
    to Footnote. Raises ``FootnoteError`` with a sentence that says why it cannot be read.
    """
    where = run.message.thread
    asked = message_ts(run)
    began_it = asked == where.thread and not is_about(run)
    if is_direct(where.channel) or began_it or not is_ts(where.thread):
        return ()
    texts = texts_for(run.message.locale)
    try:
        user = await team.bot_user(patience=team.calls.timing.reading)
        said = await thread_messages(
            team.calls, where.channel, where.thread, latest=None if is_about(run) else asked
        )
    except Refusal as refusal:
        raise PostRefused(texts("cannot-read-history"), detail=refusal.detail) from refusal
    except Limited as limited:
        raise PlatformUnavailable(
            texts("history-too-slow"), detail=limited.detail, retry_after=limited.retry_after
        ) from limited
    heard = [
        message
        for message in said
        if message.writer != "none"
        and not message.is_empty
        and message.user != user
        and not message.run
        and message.ts != asked
    ][-MESSAGES:]
    heard = [await with_files(team.calls, each, team.calls.timing.reading) for each in heard]
    names = await names_of(team.people, heard)
    return [
        message.to_message(
            where,
            Author(message.author, names.get(message.author) or message.app_name),
            message.markdown(names),
            run.message.locale,
        )
        for message in heard
    ]


async def download_file(calls: Calls, attachment: Attachment, limit: int) -> bytes:
    """Download a file from Slack, at most ``limit`` bytes.

    The bot's token is sent to Slack's hosts only; redirects are not followed. Raises
    ``PageUnreadable``, ``PostRefused`` and ``PlatformUnavailable``.
    """
    client = calls.client
    url = attachment.download or attachment.url
    if not _is_slack(url, client.base_url):
        raise PostRefused(f"{attachment.name} is not kept by Slack: share the file itself.")
    headers = {"Authorization": f"Bearer {client.token}"}
    timeout = aiohttp.ClientTimeout(total=FILE_SECONDS)
    assert client.session is not None  # noqa: S101
    try:
        async with client.session.get(
            url,
            headers=headers,
            timeout=timeout,
            allow_redirects=False,
            proxy=client.proxy,
            ssl=client.ssl or True,
        ) as response:
            return await _body(response, attachment, limit)
    except (aiohttp.ClientError, OSError) as error:
        raise PlatformUnavailable(
            f"Slack did not deliver {attachment.name}: ask again later.", detail=repr(error)
        ) from error


async def _body(response: aiohttp.ClientResponse, attachment: Attachment, limit: int) -> bytes:
    if response.status == 429 or response.status >= 500:
        raise PlatformUnavailable(
            f"Slack did not deliver {attachment.name}: ask again later.",
            detail=str(response.status),
        )
    signed_out = response.content_type == "text/html" and "html" not in attachment.media_type
    if response.status != 200 or signed_out:
        # Without permission to read the file, Slack answers with its sign-in page.
        raise PostRefused(
            f"Slack does not let Footnote read {attachment.name}: its app needs the scope "
            "files:read.",
            detail=str(response.status),
        )
    return await collect(response.content.iter_chunked(CHUNK), attachment, limit)


def _is_slack(url: str, base_url: str) -> bool:
    """Return True if a URL leads to Slack's hosts by https, or to the gateway set in its place."""
    try:
        target, base = urlsplit(url), urlsplit(base_url)
        same = (target.scheme, target.hostname, target.port) == (
            base.scheme,
            base.hostname,
            base.port,
        )
    except ValueError:
        return False
    host = (target.hostname or "").lower()
    ours = any(host == name or host.endswith(f".{name}") for name in SLACK_HOSTS)
    return same or (target.scheme == "https" and ours and target.port in (None, 443))


log = get_logger()


class SlackPoster:
    """Posts in the workspace of each run; the listeners may share ``teams``."""

    amends = True
    groups_setting = "slack_groups"

    def __init__(self, teams: Teams, keys: Sequence[SecretStr] = ()) -> None:
        """``keys`` encrypt secrets in the database; there may be none."""
        self._teams = teams
        self._keys = keys
        self._features = Features()

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        team = await self._team(run)
        record = PostedMessages.of(run, saved)
        if not run.is_written:  # previews are of the answer before the question was edited
            await self._withdraw(team, record, "preview-edited")
        if not is_ts(record.thread):
            await self._begin_thread(team, record)
        elif is_suggestion(run) and not record.question:
            await self._show_question(team, record)
        if record.pending is not None:
            await Delivery(team, record).recover(patience=team.calls.timing.first_sign)
        timing = team.calls.timing
        display = SlackDisplay(team, self._features, run, record)
        pace = Pace(timing.between, timing.backoff, first_sign=timing.first_sign)
        try:
            return await open_reply(run, display, pace)
        except PostRefused:
            await self._tell_asker(team, record, texts_for(run.message.locale)("cannot-post"))
            raise

    async def queued(self, run: RunRef, ahead: int) -> None:
        calls = (await self._team(run)).calls
        where = run.message.thread
        text = texts_for(run.message.locale)("queued", ahead=ahead)
        await calls.patiently(
            "chat.postEphemeral",
            patience=calls.timing.first_sign,
            repeat=False,
            channel=where.channel,
            user=run.message.author.id,
            text=text,
            **({"thread_ts": where.thread} if is_ts(where.thread) else {}),
        )

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        record = PostedMessages.of(run, saved)
        team = await self._team(run)
        await self._withdraw(team, record, "question-gone")
        if not is_ts(record.thread):
            return
        await self._close_session(team, record)  # first: the thread goes with its last message
        delivery = Delivery(team, record)
        patience = team.calls.timing.patience
        await delivery.recover(patience=patience)
        if record.question:
            record.posts.append(Post(record.question))
        await delivery.trim(0, patience=patience)

    async def history(self, run: RunRef) -> Sequence[Message]:
        return await thread_history(await self._team(run), run)

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        return await download_file((await self._team(run)).calls, attachment, limit)

    async def groups(self, message: Message, among: Collection[str]) -> frozenset[str]:
        """See ``bot.rights.rights.Membership``."""
        team = await self._teams.of(message.thread.workspace)
        return await team.groups_of_author(message, among)

    async def audience(self, message: Message) -> Audience:
        """See ``bot.rights.rights.Hosting``."""
        team = await self._teams.of(message.thread.workspace)
        return await team.audience(message.thread.channel)

    async def is_guest(self, message: Message) -> bool:
        """See ``bot.rights.rights.Hosting``."""
        return await (await self._teams.of(message.thread.workspace)).is_guest(message)

    async def whereabouts(self, run: RunRef) -> Whereabouts:
        """See ``bot.core.posting.Locating``."""
        thread = run.message.thread
        ts = message_ts(run) or (thread.thread if is_ts(thread.thread) else "")
        team = await self._team(run)
        link = await team.link_to(thread.channel, ts, thread.thread) if ts else run.page
        about = await team.about(thread.channel)
        told = run.options.audience
        audience = Place.of_description(about).audience if about else told
        is_public = audience == "workspace" and told != "outsiders"
        place = thread.home if is_public else thread.place
        return Whereabouts(link, str(about.get("name") or ""), place)

    async def conversations(
        self, run: RunRef, saved: PostState | None, reader: Reader
    ) -> SlackConversations | None:
        """See ``bot.search.conversation_search.Conversing``."""
        right = PostedMessages.of(run, saved).search
        if not right:
            return None
        team = await self._team(run)
        scopes = await team.scopes()
        if PUBLIC not in scopes:
            team.tell_once(
                "messages_not_searched",
                f"The Slack app lacks the scope {PUBLIC}: grant it to let Footnote search what "
                "people said, or set FOOTNOTE_CONVERSATIONS=false.",
            )
            return None
        if FILES not in scopes:
            team.tell_once(
                "files_not_searched",
                f"The Slack app lacks the scope {FILES}: grant it to let Footnote search files and "
                "canvases, too.",
            )
        token = load_token(right, self._keys)
        return SlackConversations(team, run, reader, token, scopes, await team.bot_user())

    async def _team(self, run: RunRef) -> Team:
        """Raises ``PostRefused`` if the app is no longer installed."""
        return await self._teams.of(run.message.thread.workspace)

    # ------------------------------------------------------------ threads and sessions

    async def _begin_thread(self, team: Team, record: PostedMessages) -> None:
        """Post the question of a slash command in the channel, to hold the answer's thread.

        Raises ``PostRefused``, after notifying the asker, and ``PlatformUnavailable``.
        """
        texts = texts_for(record.run.message.locale)
        calls = team.calls
        deadline = monotonic() + calls.timing.patience
        tries = 0
        while True:
            try:
                await record.move(await _question(calls, record, calls.timing.patience))
            except Away:
                if not await calls.back_off(tries, deadline):
                    raise
                tries += 1
            except Refusal:
                await self._tell_asker(team, record, texts("cannot-post"))
                raise
            else:
                return

    async def _show_question(self, team: Team, record: PostedMessages) -> None:
        """Post the pressed suggestion in the thread, or readers would see an answer without a
        question. Raises ``PlatformUnavailable``."""
        try:
            record.question = await _question(team.calls, record, team.calls.timing.first_sign)
        except Refusal as refusal:  # posting the answer will report it
            log.info("question not shown", run=record.run.id, error=str(refusal))
        except Limited:
            await record.unintend()
            raise
        await record.unintend()

    async def _withdraw(self, team: Team, record: PostedMessages, why: str) -> None:
        """Replace previews of an answer by the text ``why``. Raises ``PlatformUnavailable``."""
        gone = {"blocks": [context([texts_for(record.run.message.locale)(why)])]}
        for shown in record.previews:
            channel, ts, unfurls = shown["channel"], shown["ts"], {shown["url"]: gone}
            try:
                await team.calls.patiently("chat.unfurl", channel=channel, ts=ts, unfurls=unfurls)
            except PostRefused as error:  # its message is gone, too
                log.info("preview not withdrawn", run=record.run.id, error=str(error))

    async def _tell_asker(self, team: Team, record: PostedMessages, sentence: str) -> None:
        """Answer a slash command visibly to the asker only."""
        url = record.command.get("response_url", "")
        if not url:
            return
        recipient = Recipient(record.channel, record.command.get("user", ""), response_url=url)
        try:
            await tell(team.calls, recipient, escaped(sentence))
        except (PostRefused, PlatformUnavailable) as error:
            log.warning("asker not notified", run=record.run.id, error=str(error))

    async def _close_session(self, team: Team, record: PostedMessages) -> None:
        """End the session of a deleted question, so that its thread shows no work in progress.

        Raises ``PlatformUnavailable``: nothing else would end a session that an attempt began.
        """
        where = record.run.message.thread
        if not self._features.has("sessions", where.workspace, record.channel):
            return
        own_thread = message_ts(record.run) == record.thread
        try:
            await team.calls.patiently(
                "agents.sessions.setStatus",
                channel_id=record.channel,
                thread_ts=record.thread,
                status="closed" if own_thread else "active",
            )
        except PostRefused as error:
            log.info("session not ended", run=record.run.id, error=str(error))


async def _question(calls: Calls, record: PostedMessages, patience: float) -> str:
    """Return the ts of the message with the question; post it if it is not there yet."""
    if record.pending == QUESTION and (ts := await found_question(calls, record)) is not None:
        return ts
    message = record.run.message
    text = question_text(message.author.name, message.text, texts_for(message.locale))
    await record.intend(QUESTION)
    posted = await calls.patiently(
        "chat.postMessage",
        patience=patience,
        repeat=False,
        channel=record.channel,
        text=notification(f"{label(message.author.name)}: {message.text}"),
        blocks=[markdown_block(text)],
        metadata=record.metadata(QUESTION),
        unfurl_links=False,
        unfurl_media=False,
        **({"thread_ts": record.thread} if is_ts(record.thread) else {}),
    )
    return str(posted["ts"])
