"""Hiding credentials in what is printed: sentences, logs, tracebacks, the settings themselves.

Addresses come with user names and passwords in front of the host or as parameters behind it. What
is malformed is printed too, and is where passwords with a ``/`` or ``@`` in them are found: so more
is hidden than RFC 3986 would call user information.
"""

from __future__ import annotations

import re

HIDDEN = "***"

# A parameter that holds a secret, by its name: of libpq, of search providers, of signed addresses.
_TELLING = (
    r"[\w.-]*(?:passw(?:or)?d|passwd|pwd|passphrase|secret|token|credential|signature)[\w.-]*"
    r"|(?:[\w.-]+[_.-])?(?:key|auth|sig)|apikey"
)
_PARAMETER = re.compile(rf"(?i)([?&;]|(?<![\w.-]))({_TELLING})=([^\s&;#'\"]+)")
# Whatever is before the last @, without white space: SQLAlchemy, too, lets a password hold any
# character. The host that follows keeps the address useful.
_ADDRESS = re.compile(r"(?i)(?P<scheme>\b[a-z][a-z0-9+.-]*:[/\\]{2,})(?P<before>[^\s'\"<>]*@)")
# Of the Web the user information ends at the first / ? #, since paths may have an @ …
_OF_WEB = re.compile(r"[^/\\?#]*@")
# … unless what follows the first colon can be no port: then it is a password.
_MALFORMED = re.compile(r"[^/\\?#@:\[\]]*:(?!\d*(?:[/\\?#]|$)).*@")
# Of our own advice how to write an address.
_EXAMPLE = "user:password@"


def without_credentials(text: str) -> str:
    """A text in which no address shows a user name, a password, or a secret parameter.

    Applied twice it does what it does once.
    """
    if "@" in text:
        text = _ADDRESS.sub(_hidden, text)
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
