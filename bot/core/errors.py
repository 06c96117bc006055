"""Every error Footnote raises on purpose.

Callers catch by meaning, never by provider:

    FootnoteError
    ├── Invalid              the person must change something: input or configuration
    │   ├── InvalidQuestion      the question cannot be accepted as it is
    │   └── InvalidSetting       a setting is unknown, malformed or missing
    ├── Refused              trying again unchanged gives the same answer
    │   ├── AddressRefused       the URL leads where Footnote does not go
    │   ├── CredentialsRefused   a peer does not accept the key it was given
    │   ├── PostRefused          the platform does not let Footnote post there
    │   ├── Denied               the operator's lists do not let this person ask here
    │   │   └── DaySpentUp           what may be spent in a day is spent: ask tomorrow
    │   └── ModelRefused         the model declined to work on the question
    ├── Unavailable          try again later: a peer is down, slow or out of quota
    │   ├── ProviderUnavailable  one search provider
    │   ├── NoProviderAvailable  every search provider
    │   ├── ModelUnavailable     the model's endpoint, after its retries
    │   ├── PlatformUnavailable  a chat platform: down, slow or rate limiting
    │   └── StorageUnavailable   the database: locked, read-only, full, damaged
    ├── Broken               what came back cannot be used
    │   ├── PageUnreadable       empty, binary, too large, endless, undecodable
    │   │   ├── BrowserNeeded        built by script, or behind a check for robots
    │   │   └── ReaderMissing        what reads it is in an extra that is not installed
    │   └── ModelBroken          a reply that stays malformed after a repair turn
    ├── BudgetSpent          the run's budget, or the day's, does not cover the next call
    ├── Stopped              a person or a shutdown ended the run
    └── RunLost              another attempt has taken the run over; this one may not write

``asyncio.CancelledError`` is not part of the tree and is never swallowed.

Credentials are hidden in all printed text: messages, logs, tracebacks, settings. Addresses may
carry user names and passwords before the host, or as parameters after it. Malformed addresses are
printed too, often because the password contains a ``/`` or ``@``. Therefore more is hidden than
what RFC 3986 calls user information.
"""

from __future__ import annotations

import re
from typing import Literal

from bot.core.texts import Said, Sentence, Texts, said

HIDDEN = "***"

# Names of parameters that hold a secret: in libpq, at search providers, in signed addresses.
_TELLING = (
    r"[\w.-]*(?:passw(?:or)?d|passwd|pwd|passphrase|secret|token|credential|signature)[\w.-]*"
    r"|(?:[\w.-]+[_.-])?(?:key|auth|sig)|apikey"
)
_PARAMETER = re.compile(
    rf"(?i)([?&;]|(?<![\w.-]))(?=[\w.-]*+=[^\s&;#'\"])({_TELLING})=([^\s&;#'\"]+)"
)
# Everything before the last @ up to white space: like SQLAlchemy, allow any character in a
# password. The host stays visible.
_UP_TO_HOST = re.compile(r"(?<![^\s'\"<>])[^\s'\"<>]*@")
_ADDRESS = re.compile(r"(?is)(?P<scheme>\b[a-z][a-z0-9+.-]{0,100}:[/\\]{2,}+)(?P<before>.*+)")
# In web addresses the user information ends at the first / ? #, since paths may have an @ …
_OF_WEB = re.compile(r"\A[^/\\?#]*@")
# … unless the text after the first colon cannot be a port: then it is a password.
_MALFORMED = re.compile(r"\A[^/\\?#@:\[\]]*:(?!\d*(?:[/\\?#]|$)).*@")
# The example in our own advice on how to write an address.
_EXAMPLE = "user:password@"


def without_credentials(text: str) -> str:
    """Return the text with user names, passwords and secret parameters of addresses hidden.

    Applying it twice changes nothing more.
    """
    if "@" in text:
        text = _UP_TO_HOST.sub(lambda found: _ADDRESS.sub(_hidden, found[0]), text)
    return _PARAMETER.sub(rf"\1\2={HIDDEN}", text) if "=" in text else text


def _hidden(found: re.Match[str]) -> str:
    scheme, before = found["scheme"], found["before"]
    if before == _EXAMPLE:
        return found[0]
    if not scheme.lower().startswith(("http:", "https:")):
        return f"{scheme}{HIDDEN}@"
    for of_user in (_OF_WEB, _MALFORMED):
        if (information := of_user.match(before)) is not None:
            rest = before[information.end() :]
            return f"{scheme}{HIDDEN}@{rest}"
    return found[0]


def _without_credentials(told: Sentence) -> Sentence:
    if isinstance(told, str):
        return without_credentials(told)
    return Said(
        told.id,
        {
            name: _without_credentials(value) if isinstance(value, (str, Said)) else value
            for name, value in told.values.items()
        },
    )


class FootnoteError(Exception):
    """Base of the tree.

    ``sentence`` may be shown to a user: it says what happened and what to do. ``said`` is the same
    for readers of all languages, if the catalogs have it; ``sentence`` is then its English, unless
    a shorter one is given for the terminal and the log. ``detail`` is for the log (a status line,
    an exception's text). Credentials in addresses are hidden in all.
    """

    def __init__(self, sentence: Sentence, *, detail: str = "", said: Said | None = None) -> None:
        self.said = _without_credentials(said or sentence)
        self.detail = without_credentials(detail)
        self._english = _without_credentials(sentence)
        super().__init__(self._english)

    @property
    def sentence(self) -> str:
        return str(self._english)

    @sentence.setter
    def sentence(self, sentence: Sentence) -> None:
        self._english = self.said = _without_credentials(sentence)

    @property
    def text_id(self) -> str:
        """The id of the message, or "" without one."""
        return self.said.id if isinstance(self.said, Said) else ""

    def __str__(self) -> str:
        return f"{self.sentence} ({self.detail})" if self.detail else self.sentence


class Invalid(FootnoteError):
    """The person must change something: input or configuration."""


class InvalidQuestion(Invalid): ...


class InvalidSetting(Invalid): ...


class Refused(FootnoteError): ...


class AddressRefused(Refused): ...


class CredentialsRefused(Refused): ...


class PostRefused(Refused): ...


class Denied(Refused):
    """The operator's lists do not let this person ask here."""


class DaySpentUp(Denied): ...


class ModelRefused(Refused): ...


class Unavailable(FootnoteError):
    """Try again later: a peer is down, slow or out of quota.

    ``retry_after`` is the delay the peer asked for, in seconds, or None.
    """

    def __init__(
        self, sentence: Sentence, *, detail: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(sentence, detail=detail)
        self.retry_after = retry_after


class ProviderUnavailable(Unavailable): ...


class NoProviderAvailable(Unavailable): ...


class ModelUnavailable(Unavailable): ...


class PlatformUnavailable(Unavailable): ...


class StorageUnavailable(Unavailable):
    """The database is locked, read-only, full or damaged.

    ``kind`` says when to try again: "contended" (others held the same rows: at once), "broken" (the
    connection was lost: at once), "away" (when the database is back), "exhausted" (when others
    release connections), or "wrong" (never).
    """

    def __init__(
        self,
        sentence: Sentence,
        *,
        detail: str = "",
        kind: Literal["contended", "broken", "away", "exhausted", "wrong"] = "away",
    ) -> None:
        super().__init__(sentence, detail=detail)
        self.kind = kind


class Broken(FootnoteError): ...


class PageUnreadable(Broken): ...


class BrowserNeeded(PageUnreadable): ...


class ReaderMissing(PageUnreadable): ...


class ModelBroken(Broken): ...


class BudgetSpent(FootnoteError):
    """The run's budget, or a daily budget, does not cover the next call; ``limit`` is what it
    was."""

    def __init__(self, sentence: Sentence, *, text_id: str = "", limit: float = 0.0) -> None:
        super().__init__(sentence, said=Said(text_id, {"limit": limit}) if text_id else None)
        self.limit = limit

    @property
    def is_of_day(self) -> bool:
        """True for a daily budget, False for the run's own."""
        return self.text_id.startswith("budget-day-")


class Stopped(FootnoteError): ...


class RunLost(FootnoteError): ...


def invalid(text_id: str, /, **values: str | int) -> Invalid:
    """An error whose sentence is a message of the catalogs."""
    return Invalid(said(text_id, **values))


def sentence_for(error: FootnoteError, texts: Texts) -> str:
    """The error's sentence as plain text; in English if no catalog has it."""
    if isinstance(error, StorageUnavailable):
        return texts("try-again")
    return texts.say(error.said)
