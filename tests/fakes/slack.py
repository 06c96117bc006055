"""A strict Slack on loopback: Web API, streaming, Socket Mode, signed HTTP, and its people.

    with FakeSlack(manifest) as slack:
        slack.add_user("U1", "ada")
        slack.add_channel("C1", "general", members=["U1"])
        ... connect an app to slack.api_url with slack.bot_token and slack.app_token ...
        said = slack.say("U1", "C1", f"{slack.mention} who wrote the first program?")
        said.wait()
        print(slack.screen("C1", said.ts))

Everything is safe to use from any thread while the app runs in this process or in another one.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.fakes.slack_api import Refusal, WebApi
from tests.fakes.slack_call import Call
from tests.fakes.slack_chat import ResponseUrls
from tests.fakes.slack_delivery import EVENT, Courier, Delivery, SignedHttp
from tests.fakes.slack_events import callback, endings, needed_scope, subscription
from tests.fakes.slack_files import CANVAS, File
from tests.fakes.slack_limits import ACK_SECONDS, AGENT_EVENTS, REDELIVERY_SECONDS, read_manifest
from tests.fakes.slack_oauth import OAuth
from tests.fakes.slack_people import People
from tests.fakes.slack_screen import Shown, shown, written_out
from tests.fakes.slack_server import Door, Server
from tests.fakes.slack_socket import SocketMode
from tests.fakes.slack_workspace import (
    APP_ID,
    BOT_ID,
    BOT_USER,
    TEAM,
    VERIFICATION_TOKEN,
    Channel,
    Json,
    Session,
    Tenant,
    Workspace,
)


class FakeSlack(People):
    """One workspace with one app installed; use as a context manager.

    ``beside`` another one, it is served at the same address for the same app, and ``tenant`` says
    which workspace it is. There, and if ``installed`` is false, the app has to be installed by
    OAuth and gets no events before.
    ``rate_limits`` overrides calls a minute per method (``slack_limits.UNLIMITED`` lifts all);
    ``ack_seconds`` and ``redelivery`` shorten Slack's waits. ``events_url``: deliver by signed HTTP
    there instead of by Socket Mode.
    """

    team, app_id, bot_id, bot_user = TEAM, APP_ID, BOT_ID, BOT_USER
    bot_token = "xoxb-fake-bot-token"  # if it is not installed by OAuth
    app_token = "xapp-1-fake-app-token"
    signing_secret = "fake-signing-secret"
    sockets: SocketMode
    oauth: OAuth
    _server: Server

    def __init__(
        self,
        manifest: Mapping[str, Any] | str | Path | None = None,
        *,
        rate_limits: Mapping[str, int] | None = None,
        ack_seconds: float = ACK_SECONDS,
        redelivery: tuple[float, ...] = REDELIVERY_SECONDS,
        events_url: str | None = None,
        beside: FakeSlack | None = None,
        tenant: Tenant | None = None,
        installed: bool = True,
    ) -> None:
        granted = beside.workspace.manifest if beside else read_manifest(manifest)
        self.workspace = Workspace(granted, lambda: self._server.base, tenant)
        self.workspace.emit = self.tell
        self.team, self.bot_id = self.workspace.team, self.workspace.bot_id
        self.bot_user = self.workspace.bot_user
        self.mention = f"<@{self.bot_user}>"
        self.ack_seconds = ack_seconds
        self.sockets = beside.sockets if beside else SocketMode(ack_seconds, self.workspace.changed)
        self.oauth = beside.oauth if beside else OAuth()
        self.oauth.tenants[self.team] = self
        self.installed = installed and beside is None
        self._beside = beside
        self.response_urls = ResponseUrls(self.workspace)
        self.deliveries: list[Delivery] = []
        self.unsent: list[Json] = []  # events without a subscription or a scope
        tokens = {self.app_token: "app"} if beside is None else {}
        if self.installed:
            tokens[self.bot_token] = "bot"
        self._api = WebApi(
            self.workspace,
            tokens,
            dict(rate_limits or {}),
            lambda: self._server.base,
            lambda: self.sockets.open(self._server.base),
        )
        self._door = Door(
            self.workspace,
            self._api,
            self._serve_file,
            self.response_urls.take,
            self.response_urls.owns,
        )
        if beside is None:
            self._server = Server(self._door, self.sockets, self.oauth)
        else:
            self._server = beside._server
            self._server.doors.append(self._door)
        self._redelivery = redelivery
        self._courier = Courier(self.sockets, redelivery)
        self._https: list[SignedHttp] = []
        if events_url is not None:
            self.deliver_to(events_url)

    def __enter__(self) -> Self:
        if self._beside is None:
            self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._beside is not None:
            self._server.run(self._wind_up())
            return
        self._server.stop(self._wind_up)
        if self._server.crashes and error is None:
            raise AssertionError("the fake Slack itself failed") from self._server.crashes[0]

    async def _wind_up(self) -> None:
        self._courier.stop()
        for http in self._https:
            await http.close()
        for link in list(self.sockets.links) if self._beside is None else ():
            await link.socket.close()

    @property
    def base(self) -> str:
        """``http://127.0.0.1:PORT``"""
        return self._server.base

    def seen_at(self, base: str) -> None:
        """Use the address of a relay, through which it is reached, as its own."""
        self._server.base = base

    @property
    def api_url(self) -> str:
        """The base URL for slack_sdk's clients, with its closing slash."""
        return f"{self._server.base}/api/"

    # --- the workspace ---

    def add_user(self, user: str, name: str, locale: str = "en-US") -> str:
        return self.workspace.add_user(user, name, locale).id

    def add_stranger(self, user: str, name: str, team: str, enterprise: str | None = None) -> str:
        """Add a person of another team, for channels shared with it (Slack Connect)."""
        return self.workspace.add_stranger(user, name, team, enterprise).id

    def add_channel(
        self,
        channel: str,
        name: str,
        kind: str = "channel",
        members: Iterable[str] = (),
        bot: bool = True,
    ) -> str:
        """``kind`` is channel, group or mpim; ``bot``: our app is a member."""
        everyone = set(members) | ({self.bot_user} if bot else set())
        return self.workspace.add_channel(Channel(channel, name, kind, everyone)).id

    def im(self, user: str) -> str:
        """Return the id of the direct conversation of ``user`` with the app."""
        return self.workspace.im(user).id

    def add_file(
        self,
        user: str,
        name: str,
        content: bytes,
        mimetype: str = "text/plain",
        *,
        title: str = "",
        excerpt: str | None = None,
    ) -> File:
        ws = self.workspace
        owner = ws.users.get(user)
        team = owner.team if owner is not None and owner.is_stranger else self.team
        file = File(ws.new_id("F"), name, mimetype, content, user, team, ws.domain)
        file.title, file.excerpt, file.created = title, excerpt, ws.clock.now()
        with self.workspace.lock:
            self.workspace.files[file.id] = file
        return file

    def _serve_file(self, name: str, token: str | None) -> web.Response | None:
        file = self.workspace.files.get(name)
        if file is None or file.deleted:
            return None
        ws = self.workspace
        is_hidden = bool(ws.places_of(file)) and not ws.shows_bot(file)
        if is_hidden or not self._api.knows(token) or "files:read" not in ws.scopes:
            # Slack redirects unauthorized requests to its sign-in page.
            return web.Response(text="<html>Sign in to Slack</html>", content_type="text/html")
        is_canvas = file.mimetype == CANVAS  # a canvas's text is sent as HTML
        kind = "text/html" if is_canvas else file.mimetype
        return web.Response(body=file.content, content_type=kind)

    # --- what an app has done ---

    def messages(self, channel: str, thread_ts: str | None = None) -> list[Shown]:
        """Return the visible messages of a thread with its root, or of the channel, in order."""
        with self.workspace.lock:
            found = (
                self.workspace.in_channel(channel)
                if thread_ts is None
                else self.workspace.thread(channel, thread_ts)
            )
            return [shown(self.workspace, message) for message in found]

    def replies(self, channel: str, thread_ts: str) -> list[Shown]:
        """Return the app's messages in a thread."""
        return [one for one in self.messages(channel, thread_ts) if one.bot]

    def screen(self, channel: str, thread_ts: str) -> str:
        """Return everything visible in a thread as plain text."""
        return "\n\n".join(written_out(one) for one in self.messages(channel, thread_ts))

    def session(self, channel: str, thread_ts: str) -> Session | None:
        return self.workspace.sessions.get((channel, thread_ts))

    def assistant(self, channel: str, thread_ts: str) -> Json:
        """Return ``status``, ``title`` and ``prompts`` of a thread of the assistant pane."""
        return dict(self.workspace.assistant.get((channel, thread_ts), {}))

    def home(self, user: str) -> Json | None:
        """Return the home view published for ``user``."""
        return self.workspace.views.get(user)

    def calls(self, method: str | None = None) -> list[Call]:
        """Return the calls so far, in order of their responses."""
        with self.workspace.lock:
            return [call for call in self._door.calls if method in (None, call.method)]

    @property
    def connections(self) -> int:
        """The number of Socket Mode connections that receive events."""
        return len(self.sockets.ready())

    def wait_connected(self, connections: int = 1, timeout: float = 60.0) -> None:
        """Block until apps, in any process, have at least ``connections`` open."""
        self.wait_for(lambda: self.connections >= connections, timeout)

    def wait_for(self, what: Callable[[], Any], timeout: float = 60.0) -> Any:
        """Block until ``what()`` is true and return it; every change triggers a check."""
        end = time.monotonic() + timeout
        with self.workspace.lock:
            while not (found := what()):
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError("what was waited for did not happen")
                self.workspace.lock.wait(min(left, 0.2))
            return found

    async def until(self, what: Callable[[], Any], timeout: float = 60.0) -> Any:
        """``wait_for`` for a coroutine."""
        return await asyncio.to_thread(self.wait_for, what, timeout)

    # --- telling the app ---

    def tell(self, event: Json) -> Delivery | None:
        """Deliver an event if the app may get it; otherwise add it to ``unsent``, return None."""
        name, needed = subscription(event), needed_scope(event)
        allowed = needed is None or needed in self.workspace.scopes
        allowed = allowed and (self.workspace.manifest.agent or name not in AGENT_EVENTS)
        if not self.workspace.manifest.subscribes(name) or not allowed or not self.installed:
            self.unsent.append(event)
            return None
        return self.deliver(Delivery(EVENT, callback(self.workspace, event)))

    def deliver(self, delivery: Delivery) -> Delivery:
        """Make a delivery by Socket Mode, or by HTTP after ``deliver_to``."""
        self.deliveries.append(delivery)
        self._server.soon(lambda: self._courier.take(delivery))
        return delivery

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Deliver the same payload again, as Slack does after a lost acknowledgement."""
        again = Delivery(delivery.kind, delivery.payload)
        self.deliveries.append(again)
        carrier = self._courier.carrier

        async def once_more() -> None:
            await carrier.carry(again, len(delivery.attempts), "timeout")
            again.note_end()

        self._server.soon(lambda: asyncio.ensure_future(once_more()))
        return again

    def deliver_to(self, url: str, *, secret: str | None = None, age: float = 0.0) -> None:
        """Deliver by HTTP to ``url`` from now on, with a wrong ``secret`` or ``age`` if given."""
        http = SignedHttp(url, secret or self.signing_secret, self.ack_seconds, age)
        self._https.append(http)
        self._courier = Courier(http, self._redelivery)

    def deliver_http(
        self,
        url: str,
        payload: Json,
        kind: str = EVENT,
        *,
        secret: str | None = None,
        age: float = 0.0,
        attempt: int = 0,
    ) -> Delivery:
        """Send one signed request and wait for the response. The app should refuse a wrong
        ``secret`` or a great ``age``.

        ``attempt`` > 0 marks it as a redelivery. It blocks: if the app runs on the caller's event
        loop, call it with ``asyncio.to_thread``.
        """
        http = SignedHttp(url, secret or self.signing_secret, self.ack_seconds, age)
        delivery = Delivery(kind, payload)

        async def send() -> None:
            await http.carry(delivery, attempt, "http_timeout" if attempt else "")
            await http.close()
            delivery.note_end()

        self._server.run(send(), self.ack_seconds + 10)
        return delivery

    def verify_url(self, url: str, *, secret: str | None = None) -> bool:
        """Make Slack's handshake for a new address; return True if the challenge came back."""
        challenge = secrets.token_hex(16)
        handshake = {"token": VERIFICATION_TOKEN, "challenge": challenge}
        payload = {**handshake, "type": "url_verification"}
        delivery = self.deliver_http(url, payload, secret=secret)
        return delivery.replies in ([challenge], [{"challenge": challenge}], [{"text": challenge}])

    # --- being installed ---

    def granted(self, token: str, scopes: frozenset[str]) -> None:
        """Accept a token that OAuth issued to the app."""
        with self.workspace.lock:
            self._api.issue(token)
            self.bot_token = token
            self.workspace.scopes = set(scopes)
            self.installed = True

    def end_tokens(self) -> None:
        """Remove the app without sending events, as if another process had received them."""
        with self.workspace.lock:
            self._api.end_tokens()

    def uninstall(self) -> list[Delivery]:
        """Remove the app as an admin does: its tokens end, and it gets the events."""
        with self.workspace.lock:
            told = [self.tell(event) for event in endings(self.workspace)]
            self.installed = False
            self._api.end_tokens()
            return [delivery for delivery in told if delivery is not None]

    # --- bad weather ---

    def without_scopes(self, *scopes: str) -> None:
        """Take ``scopes`` from the app's calls and events."""
        with self.workspace.lock:
            self.workspace.scopes -= set(scopes)

    def with_scopes(self, *scopes: str) -> None:
        """Grant the app more scopes, as an admin does."""
        with self.workspace.lock:
            self.workspace.scopes |= set(scopes)

    def revoke(self, error: str = "token_revoked") -> None:
        """Refuse every call: token_revoked, account_inactive, ..."""
        self._api.revoked = error

    def down(self, how: str | int = "reset") -> None:
        """Let every call fail: ``reset`` cuts connections, a status sends an HTML page."""
        self._server.weather.outage = str(how)

    def up(self) -> None:
        self._server.weather.outage = None
        self._server.weather.slow = 0.0

    def slow(self, seconds: float, *methods: str) -> None:
        """Delay every call, or those of ``methods``, by ``seconds``."""
        self._server.weather.slow_methods = frozenset(methods) or None
        self._server.weather.slow = seconds

    def cut(self, method: str, times: int = 1) -> None:
        """Execute the next calls, but drop their responses."""
        self._server.cuts[method] = times

    def watch(self, witness: Callable[[str, bool], bool]) -> None:
        """Show ``witness`` every call: its method, and False before it takes effect, True after.

        If it returns False before, the call counts as never received.
        """
        self._server.witness = witness

    def storm(self, method: str, times: int, retry_after: int = 1) -> None:
        """Respond to the next ``times`` calls with 429 and ``Retry-After: retry_after``."""
        with self.workspace.lock:
            self._api.storms[method].extend([retry_after] * times)

    def refuse(
        self,
        method: str,
        error: str,
        channel: str | None = None,
        times: int | None = None,
        **more: Any,
    ) -> None:
        """Refuse ``method`` with ``error``, everywhere or in one channel; ``times``: how often."""
        with self.workspace.lock:
            self._api.refusals[method].append(Refusal(error, more, channel, times))

    def relent(self, *methods: str) -> None:
        """Remove refusals."""
        with self.workspace.lock:
            for method in methods or tuple(self._api.refusals):
                self._api.refusals[method].clear()

    def refuse_responses(self, how: str | int) -> None:
        """Let response URLs fail: ``reset`` cuts connections, otherwise it is a status."""
        self._server.weather.responses = str(how)

    def refuse_streaming(self, error: str, channel: str | None = None) -> None:
        for method in ("chat.startStream", "chat.appendStream", "chat.stopStream"):
            self.refuse(method, error, channel)

    def lack_blocks(self, *kinds: str) -> None:
        """Refuse blocks of these kinds, as in workspaces where Slack does not offer them yet."""
        self._api.unsupported_blocks.update(kinds)

    def restrict_reading(self) -> None:
        """Limit reading as for commercially distributed apps: one page of 15 messages a minute."""
        self._api.restricted_reading = True

    def advance(self, seconds: float) -> None:
        """Advance Slack's clock: streams age, rate windows and response URLs expire."""
        self.workspace.clock.advance(seconds)

    def expire_streams(self) -> None:
        self.workspace.expire_streams(at_once=True)

    def disconnect(
        self, reason: str = "refresh_requested", grace: float = 0.1, link: int | None = None
    ) -> None:
        """Ask Socket Mode clients to disconnect: warning, refresh_requested or link_disabled."""
        self._server.run(self.sockets.disconnect(reason, grace, link), grace + 10)

    def cut_sockets(self) -> None:
        """Cut Socket Mode connections without a close frame."""

        async def cut() -> None:
            self.sockets.cut()

        self._server.run(cut())
