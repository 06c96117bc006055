"""The actions of people in Slack: each changes the workspace and notifies the app."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.fakes import slack_events as events
from tests.fakes.slack_call import Refused
from tests.fakes.slack_chat import ResponseUrls, removed
from tests.fakes.slack_delivery import COMMAND, EVENT, INTERACTION, Delivery
from tests.fakes.slack_files import File
from tests.fakes.slack_screen import Shown, as_sent, plain, rich_text, shown
from tests.fakes.slack_workspace import App, Json, Message, Workspace


@dataclass(frozen=True, slots=True)
class Doing:
    """An action of a person: its message, and the deliveries to the app."""

    channel: str
    ts: str
    deliveries: tuple[Delivery, ...]
    response_url: str | None = None
    trigger_id: str | None = None

    def wait(self, timeout: float = 60.0) -> Doing:
        """Block until everything is acknowledged."""
        for delivery in self.deliveries:
            delivery.wait(timeout)
        return self

    async def acknowledged(self, timeout: float = 60.0) -> Doing:
        for delivery in self.deliveries:
            await delivery.acknowledged(timeout)
        return self


class People:
    """The part of FakeSlack that acts for people."""

    workspace: Workspace
    response_urls: ResponseUrls

    @property
    def base(self) -> str:
        raise NotImplementedError

    def tell(self, event: Json) -> Delivery | None:
        raise NotImplementedError

    def deliver(self, delivery: Delivery) -> Delivery:
        raise NotImplementedError

    # --- messages ---

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str | None = None,
        files: Sequence[File] = (),
        attachments: Sequence[Json] = (),
    ) -> Doing:
        """Post ``text`` as typed: ``<@U1>`` mentions, URLs become links, the rest is escaped.
        ``attachments`` are what ``pasted_table`` and ``forwarded`` return.

        A mention of the app in a channel arrives twice, as ``app_mention`` and as ``message``.
        """
        ws = self.workspace
        with ws.lock:
            self._must_be_in(user, channel)
            sent = as_sent(text)
            message = Message(channel, ws.clock.ts(), user, sent, thread_ts)
            message.client_msg_id = secrets.token_hex(16)
            message.blocks = [rich_text(sent, secrets.token_urlsafe(4)[:5])] if sent else []
            message.files, message.attachments = list(files), list(attachments)
            message.subtype = "file_share" if files else None
            if thread_ts is not None:
                root = ws.find(channel, thread_ts)
                if root is None:
                    raise AssertionError(f"there is no thread {thread_ts} in {channel}")
                message.thread_ts = root.root
            ws.keep(message)
            told = []
            if ws.bot_user in ws.channels[channel].members:
                if f"<@{ws.bot_user}>" in sent and ws.channels[channel].kind != "im":
                    told.append(self.tell(events.app_mention(ws, message)))
                told.append(self.tell(events.message_posted(ws, message)))
            found = re.findall(r"https?://[^\s<>|]+", sent)
            if urls := [url for url in found if urlsplit(url).hostname in ws.unfurl_domains]:
                for source in ("composer", "conversations_history"):
                    told.append(self.tell(events.link_shared(ws, message, urls, source)))
            return self._done(message, told)

    def forwarded(self, channel: str, ts: str) -> Json:
        """Return the attachment with which a message is shared."""
        ws = self.workspace
        with ws.lock:
            message, _ = self._existing(channel, ts)
            place, author = ws.channels[channel], ws.users[message.user]
            name = "Direct Message" if place.kind == "im" else place.name
            blocks = {"blocks": message.blocks}
            where = {"team": ws.team, "channel": channel, "ts": ts}
            return {
                "id": 1,
                "ts": ts,
                "author_id": author.id,
                "author_name": author.name.title(),
                "author_link": f"https://{ws.domain}.slack.com/team/{author.id}",
                "channel_id": channel,
                "channel_team": ws.team,
                "channel_name": name,
                "is_msg_unfurl": True,
                "is_share": True,
                "message_blocks": [{**where, "message": blocks}],
                "files": ws.files_json(message),
                "attachments": message.attachments,
                "fallback": f"[June 3rd, 2026 12:00 PM] {author.name}: {message.text}",
                "text": message.text,
                "mrkdwn_in": ["text"],
                "from_url": f"https://{ws.domain}.slack.com/archives/{channel}/p{ts}",
                "footer": f"Posted in #{name}",
            }

    def say_as_app(
        self,
        app: App,
        channel: str,
        text: str = "",
        thread_ts: str | None = None,
        **parts: list[Json],
    ) -> Doing:
        """Post as another app; ``text`` is in Slack's own markup, ``parts`` are ``blocks`` and
        ``attachments``. Mentions count in all of these. The user of ``app`` may be a person, who
        writes through it."""
        ws = self.workspace
        with ws.lock:
            ws.apps[app.bot_id] = app
            if app.user is not None:
                ws.add_user(app.user, app.name, is_bot=True)
            ts = ws.clock.ts()
            message = Message(channel, ts, app.user or "", text, thread_ts, bot_id=app.bot_id)
            message.blocks, message.attachments = (
                parts.get("blocks", []),
                parts.get("attachments", []),
            )
            ws.keep(message)
            told = []
            if f"<@{ws.bot_user}>" in text + plain([message.blocks, message.attachments]):
                told.append(self.tell(events.app_mention(ws, message)))
            told.append(self.tell(events.message_posted(ws, message)))
            return self._done(message, told)

    def edit(self, channel: str, ts: str, text: str) -> Doing:
        """Edit a message as its author; ``message_changed`` includes the old text."""
        with self.workspace.lock:
            message, before = self._existing(channel, ts)
            message.text = as_sent(text)
            message.blocks = [rich_text(message.text, secrets.token_urlsafe(4)[:5])]
            message.edited = {"user": message.user, "ts": self.workspace.clock.ts()}
            return self._changed(message, before)

    def unfurl(
        self, channel: str, ts: str, url: str, title: str = "A page", shown: Json | None = None
    ) -> Doing:
        """Add a link preview as Slack does: ``message_changed`` with the same text. ``shown`` is
        the message that the link leads to, if any."""
        with self.workspace.lock:
            message, before = self._existing(channel, ts)
            attachment = {"from_url": url, "title": title, "title_link": url, "id": 1}
            message.attachments = [shown or {**attachment, "fallback": title, "original_url": url}]
            return self._changed(message, before)

    def delete(self, channel: str, ts: str) -> Doing:
        """Delete a message as its author: ``message_deleted``, or a change that leaves a tombstone
        if it has replies."""
        ws = self.workspace
        with ws.lock:
            message, _ = self._existing(channel, ts)
            event = removed(ws, message)
            seen = ws.bot_user in ws.channels[channel].members
            return self._done(message, [self.tell(event) if seen else None])

    def react(self, user: str, channel: str, ts: str, name: str) -> Doing:
        ws = self.workspace
        with ws.lock:
            message, _ = self._existing(channel, ts)
            message.reactions.setdefault(name, []).append(user)
            told = self.tell(events.reaction_added(ws, user, name, message))
            return self._done(message, [told])

    # --- commands, shortcuts, buttons ---

    def command(self, user: str, channel: str, name: str, text: str = "") -> Doing:
        """Use a slash command; the app's acknowledgement is shown like a response."""
        ws = self.workspace
        with ws.lock:
            self._must_be_in(user, channel)
            known = ws.manifest.commands
            if known is not None and name not in known:
                raise AssertionError(f"the manifest has no command {name}")
            self._must_have_the_app(user)
            # Escaping of users, channels and links is a setting of each command.
            sent = as_sent(text) if name in ws.manifest.escaped_commands else text
            url = self.response_urls.make(self.base, user, channel)
            trigger = self._trigger()
            payload = events.command(ws, user, ws.channels[channel], name, sent, url, trigger)
            delivery = Delivery(COMMAND, payload)
            delivery.on_reply = self._shows(delivery, user, channel)
            self.deliver(delivery)
            return Doing(channel, "", (delivery,), url, trigger)

    def shortcut(self, user: str, callback_id: str, channel: str, ts: str) -> Doing:
        """Use a message shortcut on a message that the person can see."""
        ws = self.workspace
        with ws.lock:
            known = ws.manifest.shortcuts
            if known is not None and callback_id not in known:
                raise AssertionError(f"the manifest has no shortcut {callback_id}")
            self._must_have_the_app(user)
            message, _ = self._existing(channel, ts)
            url = self.response_urls.make(self.base, user, channel)
            trigger = self._trigger()
            payload = events.message_action(ws, user, callback_id, message, url, trigger)
            return self._interact(message, payload, url, trigger)

    def press(
        self,
        user: str,
        message: Shown | str,
        action_id: str,
        value: str | None = None,
        channel: str | None = None,
    ) -> Doing:
        """Press an existing button, or choose the option with ``value`` in a menu (by default the
        first).

        ``message`` is from ``messages()``, or a ts together with ``channel``.
        """
        ws = self.workspace
        with ws.lock:
            where = channel if isinstance(message, str) else message.channel
            ts = message if isinstance(message, str) else message.ts
            now, _ = self._existing(str(where), ts)
            if now.ephemeral_to not in (None, user):
                raise AssertionError(f"{user} does not see this message")
            block_id, element = _pressable(shown(ws, now).elements(), action_id, value)
            if user not in element.get("visible_to_user_ids", [user]):
                raise AssertionError(f"{user} does not see this button")
            url = self.response_urls.make(self.base, user, now.channel, now)
            trigger = self._trigger()
            action = events.pressed(ws, block_id, element, value)
            payload = events.message_press(ws, user, now, action, url, trigger)
            return self._interact(now, payload, url, trigger)

    # --- the app's own places ---

    def open_home(self, user: str, tab: str = "home") -> Doing:
        ws = self.workspace
        channel = ws.im(user).id
        told = self.tell(events.home_opened(ws, user, channel, tab))
        return Doing(channel, "", _kept([told]))

    def look_at(self, user: str, *entities: Json, typed: bool = False, named: bool = True) -> Doing:
        """Look at something beside the app: ``app_context_changed``. See ``context_changed``.

        With ``named`` off, nothing names the person.
        """
        ws = self.workspace
        payload = events.callback(ws, events.context_changed(ws, user, [*entities], typed=typed))
        if not typed and named:
            payload["authorizations"][0] |= {"user_id": user, "is_bot": False}
        if not (ws.manifest.agent and ws.manifest.subscribes("app_context_changed")):
            raise AssertionError("the app does not subscribe to app_context_changed")
        return Doing(ws.im(user).id, "", (self.deliver(Delivery(EVENT, payload)),))

    def stop_session(self, user: str, channel: str, thread_ts: str) -> Doing:
        """Press the native Stop button, which is shown only while the session is processing."""
        ws = self.workspace
        with ws.lock:
            session = ws.sessions.get((channel, thread_ts))
            if session is None or session.status != "processing":
                raise AssertionError("there is no Stop button: the session is not processing")
            if not ws.manifest.subscribes("agent_session_stopped"):
                raise AssertionError("there is no Stop button: the event is not subscribed to")
            running = list(ws.streams(channel, thread_ts))
            for message in running:
                assert message.stream is not None
                message.stream.state = "stopped_by_user"
            names = [message.ts for message in running]
            told = self.tell(events.session_stopped(ws, user, channel, thread_ts, names))
            return Doing(channel, thread_ts, _kept([told]))

    def join(self, user: str, channel: str) -> Doing:
        """Join a channel: ``member_joined_channel`` and the grey line in the channel."""
        ws = self.workspace
        with ws.lock:
            place = ws.channels[channel]
            place.members.add(user)
            line = Message(channel, ws.clock.ts(), user, f"<@{user}> has joined the channel")
            line.subtype = "channel_join"
            ws.keep(line)
            joined = self.tell(events.member_joined(ws, user, place))
            return self._done(line, [joined, self.tell(events.message_posted(ws, line))])

    # --- shared ---

    def _must_be_in(self, user: str, channel: str) -> None:
        if user not in self.workspace.users:
            raise AssertionError(f"nobody is called {user}")
        if user not in self.workspace.channels[channel].members:
            raise AssertionError(f"{user} is not in {channel}")
        place = self.workspace.channels[channel]
        if place.kind == "im" and not self.workspace.manifest.messages_tab:
            raise AssertionError("the manifest has no messages tab to write in")

    def _must_have_the_app(self, user: str) -> None:
        """Require the app in the person's own team, which offers commands and shortcuts."""
        if self.workspace.users[user].is_stranger:
            raise AssertionError(f"the app is not installed in the team of {user}")

    def _existing(self, channel: str, ts: str) -> tuple[Message, Json]:
        message = self.workspace.find(channel, ts)
        if message is None:
            raise AssertionError(f"there is no message {ts} in {channel}")
        return message, self.workspace.message_json(message)

    def _changed(self, message: Message, before: Json) -> Doing:
        event = events.message_changed(self.workspace, message, before)
        seen = self.workspace.bot_user in self.workspace.channels[message.channel].members
        return self._done(message, [self.tell(event) if seen else None])

    def _done(self, message: Message, told: Iterable[Delivery | None]) -> Doing:
        self.workspace.lock.notify_all()
        return Doing(message.channel, message.ts, _kept(told))

    def _interact(self, message: Message, payload: Json, url: str, trigger: str) -> Doing:
        if not self.workspace.manifest.interactive:
            raise AssertionError("the manifest does not enable interactivity")
        delivery = self.deliver(Delivery(INTERACTION, payload))
        return Doing(message.channel, message.ts, (delivery,), url, trigger)

    def _shows(self, delivery: Delivery, user: str, channel: str) -> Callable[[Json], None]:
        def show(reply: Json) -> None:
            with self.workspace.lock:
                try:
                    self.response_urls.show(user, channel, reply)
                except Refused as refused:
                    delivery.refused = refused.code

        return show

    def _trigger(self) -> str:
        trigger = f"{self.workspace.new_id('1')}.{secrets.token_hex(6)}"
        self.workspace.triggers[trigger] = (self.workspace.clock.now(), False)
        return trigger


def pasted_table(rows: Sequence[Sequence[str]]) -> Json:
    """Return the attachment that a table becomes which a person pastes into the composer."""
    cells = [[{"type": "raw_text", "text": cell} for cell in row] for row in rows]
    table = {"type": "table", "block_id": secrets.token_urlsafe(4)[:5], "rows": cells}
    return {"id": 1, "fallback": "[no preview available]", "blocks": [table]}


def _kept(told: Iterable[Delivery | None]) -> tuple[Delivery, ...]:
    return tuple(delivery for delivery in told if delivery is not None)


def _pressable(
    found: list[tuple[str, Json]], action_id: str, value: str | None
) -> tuple[str, Json]:
    for block_id, element in found:
        if element["action_id"] != action_id:
            continue
        halves = [element.get(half, {}) for half in ("positive_button", "negative_button")]
        values = [one.get("value") for one in (element, *halves)]
        if value is None or element["type"] == "static_select" or value in values:
            return block_id, element
    there = ", ".join(element["action_id"] for _, element in found) or "nothing"
    raise AssertionError(f"there is no {action_id} to press; there is: {there}")
