"""Encryption of stored text, such as the tokens of workspaces, with the operator's keys.

Fernet, https://github.com/fernet/spec/blob/master/Spec.md: AES-128 in CBC mode with an HMAC, so
that altered text does not decrypt either.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from bot.core.errors import InvalidSetting


def new_key() -> str:
    """A key in the format of ``FOOTNOTE_ENCRYPTION_KEYS``."""
    return Fernet.generate_key().decode("ascii")


class Seal:
    """Encrypts with the first key and decrypts with any of them."""

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        """Raises ``InvalidSetting`` without a key; the settings have rejected malformed ones."""
        if not keys:
            raise InvalidSetting(
                "FOOTNOTE_ENCRYPTION_KEYS is not set, and tokens are only stored encrypted: make a "
                "key with `footnote keys new`, and keep it in a different place from the database."
            )
        fernets = [Fernet(key.get_secret_value().encode("ascii")) for key in keys]
        self._first = fernets[0]
        self._all = MultiFernet(fernets)

    def close(self, text: str) -> str:
        return self._first.encrypt(text.encode()).decode("ascii")

    def open(self, closed: str) -> str:
        """Raises ``InvalidSetting`` if no key fits."""
        try:
            return self._all.decrypt(closed.encode()).decode()
        except InvalidToken:
            raise InvalidSetting(
                "No key of FOOTNOTE_ENCRYPTION_KEYS opens the tokens in the database: put back "
                "the key with which they were stored, behind the new one, or give up these "
                "workspaces with `footnote keys forget`."
            ) from None

    def is_first(self, closed: str) -> bool:
        """Return True if the text was encrypted with the first key."""
        try:
            self._first.decrypt(closed.encode())
        except InvalidToken:
            return False
        return True


class Sealed(sa.TypeDecorator[str]):
    """A text column that is encrypted in the database."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, seal: Seal) -> None:
        super().__init__()
        self.seal = seal

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else self.seal.close(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else self.seal.open(value)
