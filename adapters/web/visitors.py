"""Visitors of the console, and the cookies of their sessions."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from typing import Literal

from adapters.web.limits import SECONDS_BETWEEN_SESSION_LOOKS, SESSION_DAYS
from bot.core.errors import Denied, StorageUnavailable
from bot.core.messages import Author, Thread
from bot.core.reader import Reader
from bot.core.texts import DEFAULT, texts_for
from bot.storage.workspaces import Workspaces

COOKIE = "footnote_session"
LOCAL = "local"
BROWSER = "footnote_sign_in"  # the cookie of a browser that is signing in at a provider
# Facts in the database: when all sessions ended, and (with its name) until when the cookies of one
# that has ended would be valid.
_ENDED, _SIGNED_OUT = "sessions_ended", "session_ended:"
_PAUSE = SECONDS_BETWEEN_SESSION_LOOKS

# Ways to get access: from this machine (loopback), with the token, through a proxy that names the
# person, or by signing in at the OpenID provider.
Way = Literal["open", "token", "proxy", "sso"]


@dataclass(frozen=True, slots=True)
class Visitor:
    """A visitor. ``session`` identifies the browser ("" for a program that sends a token), ``csrf``
    is the token of its forms. An ``operator`` may see everyone's questions. ``client`` is the
    subject of rate limits: a person, a browser, or an address. ``groups`` are those that the proxy
    or the provider names."""

    id: str
    name: str
    way: Way
    session: str
    csrf: str
    operator: bool
    client: str = ""
    groups: tuple[str, ...] = ()

    @property
    def author(self) -> Author:
        return Author(self.id, self.name, admin=self.operator, groups=self.groups)

    @property
    def reader(self) -> Reader:
        """Return the visitor as a reader of documents. An operator also has the rights of the
        lists."""
        own = frozenset({Thread("web", "console", self.channel, "").place})
        corrections = None if self.operator else own
        groups = frozenset(self.groups)
        return Reader("console", self.channel, self.id, groups, corrections=corrections)

    @property
    def channel(self) -> str:
        """Return the channel of their threads: their own if people are identified, or else a shared
        one."""
        return self.id if self.way in ("proxy", "sso") else LOCAL


class SignInRefused(Denied):
    """A sign-in was refused. ``text_id`` names the sentence for the person; ``detail`` is for the
    log."""

    def __init__(self, text_id: str, detail: str = "", **values: str) -> None:
        super().__init__(text_id, texts_for(DEFAULT)(text_id, **values), values=values)
        self.detail = detail


class Sessions:
    """Signs cookies. The key depends on the console's ``token``, so a new token ends all sessions.

    ``workspaces`` stores for all processes which sessions were ended.
    """

    def __init__(self, key: bytes, token: str, workspaces: Workspaces | None = None) -> None:
        self._key = hashlib.sha256(key + b"\0" + token.encode()).digest()
        self._workspaces = workspaces
        self._ended = 0  # seconds since 1970; older signatures are void
        self._signed_out: dict[str, int] = {}  # sessions, until when their cookies would be valid
        self._looked = float("-inf")

    def new(self) -> tuple[str, str]:
        """Return a new session's name, and its cookie."""
        name = secrets.token_hex(16)
        return name, self._cookie(name)

    def renewed(self, cookie: str) -> str:
        """Return a new cookie for the session of a valid one that is a day old; "" if it is
        newer."""
        name, until, _ = cookie.split(".")
        if _signed_at(int(until)) > time.time() - 86_400:
            return ""
        return self._cookie(name)

    async def end(self, session: str) -> None:
        """End one session, of which copies of its cookies may be left. Raises
        ``StorageUnavailable``."""
        now = int(time.time())
        over = [name for name, until in self._signed_out.items() if until < now]
        for name in over:
            del self._signed_out[name]
        until = self._signed_out[session] = max(now, self._ended + 1) + SESSION_DAYS * 86_400
        if self._workspaces is not None:
            await self._workspaces.remember("web", "console", f"{_SIGNED_OUT}{session}", until)
            await self._workspaces.drop("web", "console", [f"{_SIGNED_OUT}{name}" for name in over])

    async def end_all(self) -> None:
        """End the sessions of all browsers. Raises ``StorageUnavailable``."""
        self._ended = int(time.time())
        if self._workspaces is not None:
            await self._workspaces.remember("web", "console", _ENDED, self._ended)

    async def look(self) -> None:
        """Check at intervals whether another process has ended sessions."""
        if self._workspaces is None or time.monotonic() < self._looked + _PAUSE:
            return
        self._looked = time.monotonic()
        try:
            facts = await self._workspaces.facts("web", "console")
        except StorageUnavailable:
            return  # the page also needs the database, and reports the error
        self._ended = max(self._ended, int(facts.get(_ENDED, 0)))
        for name, until in facts.items():
            if name.startswith(_SIGNED_OUT):
                self._signed_out[name.removeprefix(_SIGNED_OUT)] = int(until)

    def _cookie(self, name: str) -> str:
        until = max(int(time.time()), self._ended + 1) + SESSION_DAYS * 86_400
        return f"{name}.{until}.{self.sign(f'session {name} {until}')}"

    def read(self, cookie: str) -> str:
        """Return the name of the session, or "" if the cookie is invalid or too old."""
        name, _, rest = cookie.partition(".")
        until, _, signature = rest.partition(".")
        if not until.isdecimal() or len(until) > 12 or int(until) < time.time():
            return ""
        if _signed_at(int(until)) <= self._ended or name in self._signed_out:
            return ""
        signed = self.sign(f"session {name} {until}")
        return name if hmac.compare_digest(signed.encode(), signature.encode()) else ""

    def csrf(self, session: str) -> str:
        """Return a CSRF token for this session's forms, different each time (see ``masked``)."""
        return masked(bytes.fromhex(self.sign(f"csrf {session}")))

    def sign(self, text: str) -> str:
        """Return the signature of a text as hexadecimal digits."""
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def _signed_at(until: int) -> int:
    return until - SESSION_DAYS * 86_400


def masked(secret: bytes) -> str:
    """Mask a secret differently for every page: pages are compressed, and a constant secret could
    be guessed from the sizes of many pages (BREACH, https://breachattack.com)."""
    mask = secrets.token_bytes(len(secret))
    return (mask + _xor(mask, secret)).hex()


def same_secret(one: str, other: str) -> bool:
    """Return True if two masked secrets are the same."""
    return hmac.compare_digest(_unmasked(one), _unmasked(other))


def _unmasked(shown: str) -> bytes:
    try:
        both = bytes.fromhex(shown)
    except ValueError:
        return b""
    return _xor(both[: len(both) // 2], both[len(both) // 2 :])


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))


async def session_key(workspaces: Workspaces) -> bytes:
    """Return the key shared by all processes on this database, which the first one makes."""
    known = (await workspaces.facts("web", "console")).get("session_key")
    if not known:  # two processes may start at once, and must accept each other's sessions
        made = secrets.token_hex(32)
        known = await workspaces.agreed("web", "console", "session_key", made)
    return bytes.fromhex(str(known))
