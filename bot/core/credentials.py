"""Hides credentials in printed text: messages, logs, tracebacks, settings.

Addresses may carry user names and passwords before the host, or as parameters after it. Malformed
addresses are printed too, often because the password contains a ``/`` or ``@``. Therefore more is
hidden than what RFC 3986 calls user information.
"""

from __future__ import annotations

import re

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
