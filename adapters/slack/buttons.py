"""Handles the controls under an answer, and the message shortcut."""

from __future__ import annotations

from datetime import UTC, datetime

from adapters.slack import actions
from adapters.slack.calls import Calls, Json
from adapters.slack.commands import asked_by
from adapters.slack.details import details
from adapters.slack.ephemeral import Recipient
from adapters.slack.incoming import (
    attachments_of,
    event_id,
    mentions_in,
    thread_of,
    unescape,
    without_mention,
)
from adapters.slack.listener import PLATFORM, Listener, about_files
from adapters.slack.slow_work import Doing, SlowWork
from adapters.slack.words import words_of
from bot.conversing.buttons import Deed, Details, carry_out
from bot.errors import PlatformUnavailable, PostRefused
from bot.logs import get_logger
from bot.messages import Author, Message
from bot.pages.urls import links_in
from bot.rendering.texts import Texts, texts_for

RESEARCH_THIS = "research_this"  # the shortcut's callback id

log = get_logger()


class Buttons:
    """A method returns once what was asked for is kept, or Slack waits no longer.

    Slack delivers a press once, so a failure is told to the person who pressed.
    """

    def __init__(self, listener: Listener, patience: SlowWork, calls: Calls) -> None:
        self._listener = listener
        self._calls = calls
        self._slow_work = patience
        self._reception = listener.reception
        self._ephemeral = listener.ephemeral

    async def pressed(self, body: Json) -> None:
        """``block_actions`` with one of our action ids."""
        container = body.get("container") or {}
        channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
        user = str(body["user"]["id"])
        author, locale = await self._who(user, body)
        recipient = Recipient(
            channel,
            user,
            str(container.get("thread_ts") or ""),
            response_url=str(body.get("response_url") or ""),
        )
        for action in body.get("actions") or ():
            chosen = action.get("selected_option") or action
            press = actions.pressed(str(action.get("action_id")), str(chosen.get("value") or ""))
            if press is None:
                log.warning("unknown button", action=action.get("action_id"))
                continue
            # The ids of direct conversations begin with D.
            direct = channel.startswith("D")
            texts = texts_for(locale)
            if isinstance(press, Details):
                trigger = str(body.get("trigger_id") or "")
                doing = self._show(press.run, channel, author, trigger, texts)
            else:
                doing = self._pressed(press, author, texts, locale=locale, direct=direct)
            await self._tell(doing, recipient, texts)

    async def _pressed(
        self, press: Deed, author: Author, texts: Texts, *, locale: str, direct: bool
    ) -> str | None:
        told = await carry_out(self._reception, press, author, locale=locale, direct=direct)
        return None if told is None else texts(told)

    async def _show(
        self, run: str, channel: str, author: Author, trigger: str, texts: Texts
    ) -> str | None:
        """Open the details of an answer for the presser; Slack takes that for three seconds."""
        # The ids of direct conversations begin with D.
        answer, page = await self._reception.details(
            run, PLATFORM, channel, author, direct=channel.startswith("D")
        )
        view = details(answer, texts, page)
        try:
            await self._calls.once("views.open", trigger_id=trigger, view=view)
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("details not shown", run=run, error=str(error))
            return texts("command-broke")
        return None

    async def research(self, body: Json) -> None:
        """The message shortcut "Research this": the message becomes the presser's question."""
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
            event_id=f"{event_id(channel, str(said['ts']))}:research:{user}",
            thread=thread_of(self._listener.me.team, channel, said),
            author=author,
            text=text,
            at=datetime.now(UTC),
            links=tuple(links_in(text)),
            attachments=attachments,
            locale=locale,
            direct=channel.startswith("D"),
        )
        recipient = Recipient(channel, user, response_url=str(body.get("response_url") or ""))

        async def accept() -> None:
            await self._reception.receive(
                message, "footnote", post_state=asked_by(body, channel, user)
            )

        await self._tell(accept(), recipient, texts)

    async def _tell(self, doing: Doing, recipient: Recipient, texts: Texts) -> None:
        """Await something for as long as Slack does, and tell what became of it, now or later."""
        told = await self._slow_work.told(doing, recipient, texts, meanwhile=None)
        if told is not None:
            self._ephemeral.say(recipient, told)

    async def _who(self, user: str, body: Json) -> tuple[Author, str]:
        people = await self._listener.people.quickly([user])
        return self._listener.author(user, people, "", _of_presser(body))


def _of_presser(body: Json) -> Json:
    """The part of an interaction's payload about the presser; its own team is where that
    happened."""
    return {"user": body["user"]}
