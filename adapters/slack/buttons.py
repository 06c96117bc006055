"""Handles the controls under an answer, its details, and the message shortcuts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby

from adapters.slack.calls import Calls, Json
from adapters.slack.commands import asked_by
from adapters.slack.deferred import Doing, Recipient, SlowWork
from adapters.slack.format import (
    BAD,
    DEEPER,
    DETAILS,
    FOLLOW_UP,
    GOOD,
    REASON,
    RETRACT,
    STOP,
    WATCH,
    context,
    numbers,
    plain_text,
    reason_blocks,
)
from adapters.slack.incoming import (
    attachments_of,
    event_id,
    mentions_in,
    thread_of,
    unescape,
    without_mention,
)
from adapters.slack.limits import (
    HEADINGS_CHARACTERS,
    QUOTE_CHARACTERS,
    QUOTES_CHARACTERS,
    SOURCES,
    TABLE_WIDTH,
    VIEW_BLOCKS,
    VIEW_TITLE_CHARACTERS,
)
from adapters.slack.listener import PLATFORM, Listener, about_files
from adapters.slack.places import Place
from adapters.slack.rich import (
    link_element,
    packed,
    preformatted,
    quote,
    section,
    text_element,
)
from adapters.slack.words import words_of
from bot.core.errors import PlatformUnavailable, PostRefused
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.messages import Answer, Audience, Author, Message, Style
from bot.core.texts import Texts, texts_for
from bot.pages.urls import links_in
from bot.rendering.excerpts import joined
from bot.rendering.footnotes import SourceView, sources
from bot.rendering.remarks import remarks
from bot.rendering.safety import without_pings
from bot.rendering.tables import table_text
from bot.service.buttons import (
    ASK_WHY,
    Deed,
    Deeper,
    Details,
    Feedback,
    FollowUp,
    Press,
    Retract,
    Stop,
    Watch,
    carry_out,
)
from bot.storage.workspaces import REASONS


def details(answer: Answer, texts: Texts, page: str = "") -> Json:
    """Return the view with sources and quotes, doubts and notes, the searches, and
    time and cost; ``page`` is the URL of the run page."""
    blocks = source_blocks(answer, texts, page)
    if told := remarks(answer, texts):
        blocks.append(context(told))
    last = []
    if answer.queries:
        searched = texts("searched-for", queries=texts("report-separator").join(answer.queries))
        last.append(context([searched]))
    last.append(numbers(answer, texts, page))
    return {
        "type": "modal",
        "title": plain_text(texts("sources-heading"), VIEW_TITLE_CHARACTERS),
        "blocks": blocks[: VIEW_BLOCKS - len(last)] + last,
    }


def source_blocks(answer: Answer, texts: Texts, page: str = "") -> list[Json]:
    """Return the numbered sources: linked title, domain, section, and the quotes that the answer
    does not contain itself."""
    if not answer.citations:
        return []
    count = len({citation.number for citation in answer.citations})
    room = max(min(QUOTE_CHARACTERS, QUOTES_CHARACTERS // max(min(count, SOURCES), 1)), 60)
    every = sources(answer, room, longest_source=room, run_page=page)
    shown = every[:SOURCES]
    heading = section([text_element(texts("sources-heading"), "bold")])
    entries = [[heading], *(_source(view, room, texts) for view in shown)]
    if len(every) > len(shown):
        more = texts("more-sources", count=len(every) - len(shown))
        entries.append([section([text_element(more)])])
    return packed(entries)


def _source(view: SourceView, room: int, texts: Texts) -> list[Json]:
    line = [link_element(view.href, without_pings(f"[{view.number}] {view.title}"))]
    where = f" ({view.domain})" if view.domain and view.domain != view.title else ""
    if view.headings:
        where += f" — {shortened(' · '.join(view.headings), HEADINGS_CHARACTERS)}"
    if view.via:
        given = texts("text-given-by", name=view.via)
        where += f" · {shortened(given, HEADINGS_CHARACTERS)}"
    if where:
        line.append(text_element(without_pings(where)))
    return [section(line), *_quotes(view, room)]


def _quotes(view: SourceView, room: int) -> Iterator[Json]:
    """Yield the quotes, at most ``room`` characters: running text as a quote block, tables and code
    unchanged."""
    pieces = [piece for each in view.quotes for piece in each.pieces]
    for is_text, group in groupby(pieces, key=lambda piece: piece.kind == "text"):
        if is_text:
            said = joined(group)
            yield quote(
                [
                    text_element(without_pings(words), *(("bold",) if is_strong else ()))
                    for words, is_strong in said.runs()
                ]
            )
            room -= len(said.text)
            continue
        for piece in group:
            if len(piece.text) <= room:
                table = piece.kind == "table"
                yield preformatted(table_text(piece.text, TABLE_WIDTH) if table else piece.text)
            room -= len(piece.text)


RESEARCH_THIS, CHECK_FACTS = "research_this", "check_facts"  # callback ids of the shortcuts

# The controls whose value is only the id of their run.
_OF_RUN: Mapping[str, type[Deeper | Details | Watch | Retract | Stop]] = {
    DEEPER: Deeper,
    DETAILS: Details,
    WATCH: Watch,
    RETRACT: Retract,
    STOP: Stop,
}
CONTROLS = re.compile("|".join((*_OF_RUN, GOOD, BAD, FOLLOW_UP, f"{REASON}_[a-z_]+")))
_RUN = r"[0-9A-Za-z_-]{1,64}"
_FEEDBACK_VALUE = re.compile(rf"(?P<verdict>good|bad):(?P<run>{_RUN})")
_REASON_VALUE = re.compile(rf"(?P<reason>[a-z_]+):(?P<run>{_RUN})")
_FOLLOW_UP_VALUE = re.compile(rf"(?P<run>{_RUN}):(?P<number>\d{{1,2}})")
_ONE_RUN = re.compile(_RUN)

log = get_logger()


def meaning_of(action_id: str, value: str) -> Press | None:
    """Return what a press means; None if the control is not Footnote's or its value is invalid."""
    if action_id in (GOOD, BAD):
        found = _FEEDBACK_VALUE.fullmatch(value)
        good = found is not None and found["verdict"] == "good"
        return Feedback(found["run"], "good" if good else "bad") if found else None
    if action_id.startswith(REASON):
        found = _REASON_VALUE.fullmatch(value)
        reasons = [each for each in REASONS if found and each == found["reason"]]
        return Feedback(found["run"], "bad", reasons[0]) if found and reasons else None
    if action_id == FOLLOW_UP:
        found = _FOLLOW_UP_VALUE.fullmatch(value)
        return FollowUp(found["run"], int(found["number"])) if found else None
    deed = _OF_RUN.get(action_id)
    return deed(value) if deed is not None and _ONE_RUN.fullmatch(value) else None


class Buttons:
    """Handles presses and shortcuts. A method returns once the request is stored, or when Slack
    would stop waiting.

    Slack delivers a press only once, so a failure is reported to the person who pressed.
    """

    def __init__(self, listener: Listener, patience: SlowWork, calls: Calls) -> None:
        self._listener = listener
        self._calls = calls
        self._slow_work = patience
        self._reception = listener.reception
        self._ephemeral = listener.ephemeral

    async def pressed(self, body: Json) -> None:
        """Handle ``block_actions`` with one of our action ids."""
        container = body.get("container") or {}
        channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
        user = str(body["user"]["id"])
        author, locale = await self._who(user, body)
        recipient = Recipient(
            channel,
            user,
            str(container.get("thread_ts") or ""),
            response_url=str(body.get("response_url") or ""),
            # The question "why?" is answered once: the thanks replace it.
            replace=bool(container.get("is_ephemeral")),
        )
        for action in body.get("actions") or ():
            chosen = action.get("selected_option") or action
            press = meaning_of(str(action.get("action_id")), str(chosen.get("value") or ""))
            if press is None:
                log.warning("unknown button", action=action.get("action_id"))
                continue
            audience = Place.of_id(channel).audience
            texts = texts_for(locale)
            if isinstance(press, Details):
                trigger = str(body.get("trigger_id") or "")
                doing = self._show(press.run, channel, author, trigger, texts)
            else:
                doing = self._pressed(press, author, recipient, texts, locale, audience)
            await self._tell(doing, recipient, texts)

    async def _pressed(
        self,
        press: Deed,
        author: Author,
        recipient: Recipient,
        texts: Texts,
        locale: str,
        audience: Audience,
    ) -> str | None:
        told = await carry_out(self._reception, press, author, locale=locale, audience=audience)
        if told == ASK_WHY:
            self._ephemeral.say(recipient, texts(told), reason_blocks(press.run, texts))
            return None
        return None if told is None else texts(told)

    async def _show(
        self, run: str, channel: str, author: Author, trigger: str, texts: Texts
    ) -> str | None:
        """Open the details of an answer for the presser; Slack allows three seconds for that."""
        answer, page = await self._reception.details(
            run, PLATFORM, channel, author, audience=Place.of_id(channel).audience
        )
        view = details(answer, texts, page)
        try:
            await self._calls.once("views.open", trigger_id=trigger, view=view)
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("details not shown", run=run, error=str(error))
            return texts("command-broke")
        return None

    async def research(self, body: Json) -> None:
        """Handle the shortcut "Research this": the message becomes the presser's question."""
        await self._take(body, "research", "auto")

    async def check(self, body: Json) -> None:
        """Handle the shortcut "Check the facts" about a message's statements."""
        await self._take(body, "check", "check")

    async def _take(self, body: Json, name: str, style: Style) -> None:
        said, channel = body["message"], str(body["channel"]["id"])
        user = str(body["user"]["id"])
        raw = words_of(said)
        people = await self._listener.people.quickly([user, *mentions_in(raw)])
        names = {person.id: person.name for person in people.values()}
        text = unescape(without_mention(raw, self._listener.me.user), names)
        author, locale = self._listener.author(user, people, text, _of_presser(body))
        texts = texts_for(locale)
        attachments = attachments_of(said)
        text = text or about_files(attachments, texts)
        message = Message(
            event_id=f"{event_id(channel, str(said['ts']))}:{name}:{user}",
            thread=thread_of(self._listener.me.team, channel, said),
            author=author,
            text=text,
            at=datetime.now(UTC),
            links=tuple(links_in(text)),
            attachments=attachments,
            locale=locale,
            audience=Place.of_id(channel).audience,
        )
        recipient = Recipient(channel, user, response_url=str(body.get("response_url") or ""))

        async def accept() -> None:
            await self._reception.receive(
                message,
                "footnote",
                style=style,
                post_state=asked_by(body, channel, user),
                repeats_ours=self._listener.is_ours(said),
            )

        await self._tell(accept(), recipient, texts)

    async def _tell(self, doing: Doing, recipient: Recipient, texts: Texts) -> None:
        """Run ``doing`` and send its outcome to ``recipient``, even if it takes longer than Slack
        waits."""
        told = await self._slow_work.run(doing, recipient, texts, meanwhile=None)
        if told is not None:
            self._ephemeral.say(recipient, told)

    async def _who(self, user: str, body: Json) -> tuple[Author, str]:
        people = await self._listener.people.quickly([user])
        return self._listener.author(user, people, "", _of_presser(body))


def _of_presser(body: Json) -> Json:
    """Return the part of an interaction's payload that is about the presser. The payload's own
    ``team`` is the place where it happened."""
    return {"user": body["user"]}
