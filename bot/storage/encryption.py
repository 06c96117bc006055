"""Text that is unreadable where it is kept: workspaces' tokens, closed with the operator's keys.

Fernet, https://github.com/fernet/spec/blob/master/Spec.md: AES-128 in CBC mode with an HMAC, so
that what was changed does not open either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa
from pydantic import SecretStr

from bot.errors import InvalidSetting
from bot.extras import need

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


def new_key() -> str:
    """A key as ``FOOTNOTE_ENCRYPTION_KEYS`` takes it."""
    return _fernet().generate_key().decode("ascii")


def _fernet() -> type[Fernet]:
    need("workspaces", "Keeping the tokens of Slack workspaces")
    from cryptography.fernet import Fernet

    return Fernet


class Seal:
    """Closes with the first key, opens with any of them."""

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        """Raises ``InvalidSetting`` without a key; malformed ones are refused by the settings."""
        if not keys:
            raise InvalidSetting(
                "FOOTNOTE_ENCRYPTION_KEYS is not set, and tokens are kept encrypted only: make a "
                "key with `footnote keys new`, and keep it where the database is not."
            )
        fernet = _fernet()
        from cryptography.fernet import MultiFernet

        fernets = [fernet(key.get_secret_value().encode("ascii")) for key in keys]
        self._first = fernets[0]
        self._all = MultiFernet(fernets)

    def close(self, text: str) -> str:
        return self._first.encrypt(text.encode()).decode("ascii")

    def open(self, closed: str) -> str:
        """Raises ``InvalidSetting`` where no key fits."""
        from cryptography.fernet import InvalidToken

        try:
            return self._all.decrypt(closed.encode()).decode()
        except InvalidToken:
            raise InvalidSetting(
                "No key of FOOTNOTE_ENCRYPTION_KEYS opens the tokens in the database: put the key "
                "with which they were stored back, behind the new one, or give these workspaces "
                "up with `footnote keys forget`."
            ) from None

    def is_first(self, closed: str) -> bool:
        """Return True if it was closed with the first key."""
        from cryptography.fernet import InvalidToken

        try:
            self._first.decrypt(closed.encode())
        except InvalidToken:
            return False
        return True


class Sealed(sa.TypeDecorator[str]):
    """A column of texts that only go into the database closed."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, seal: Seal) -> None:
        super().__init__()
        self.seal = seal

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else self.seal.close(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else self.seal.open(value)
