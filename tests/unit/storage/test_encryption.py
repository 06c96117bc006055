"""Sealed text opens only with its key."""

from __future__ import annotations

from base64 import b64encode

import pytest
from pydantic import SecretStr

from bot.core.errors import InvalidSetting
from bot.core.settings import is_key
from bot.storage.encryption import Seal, new_key

# The same in every process of a test run.
OLD, NEW, OTHER = (b64encode(bytes([number] * 32)).decode() for number in range(3))


def seal(*keys: str) -> Seal:
    return Seal([SecretStr(key) for key in keys])


@pytest.mark.parametrize("text", ["", "xoxb-1", "äöü 中文 \x00", "x" * 10_000])
def test_what_was_closed_opens_again_and_cannot_be_read(text: str) -> None:
    closed = seal(NEW).close(text)
    assert seal(NEW).open(closed) == text
    assert len(text) < 4 or text not in closed


def test_the_same_text_is_closed_differently_each_time() -> None:
    assert seal(NEW).close("xoxb-1") != seal(NEW).close("xoxb-1")


def test_the_first_key_closes_and_every_one_opens() -> None:
    closed = seal(OLD).close("xoxb-1")
    assert seal(NEW, OLD).open(closed) == "xoxb-1"
    assert not seal(NEW, OLD).is_first(closed)
    assert seal(NEW).open(seal(NEW, OLD).close("xoxb-1")) == "xoxb-1"


@pytest.mark.parametrize("broken", ["", "xoxb-1", "gAAAAA", "ä"])
def test_what_no_key_closed_does_not_open(broken: str) -> None:
    with pytest.raises(InvalidSetting, match="No key of FOOTNOTE_ENCRYPTION_KEYS opens"):
        seal(NEW, OLD).open(broken)


def test_a_changed_or_foreign_text_does_not_open_and_no_key_is_told() -> None:
    closed = seal(OTHER).close("xoxb-1")
    changed = seal(NEW).close("xoxb-1")[:-6] + "AAAA=="
    for wrong in (closed, changed):
        with pytest.raises(InvalidSetting) as error:
            seal(NEW, OLD).open(wrong)
        assert not {NEW, OLD, "xoxb-1"} & set(str(error.value).split())
    assert NEW not in repr(seal(NEW))


def test_without_a_key_nothing_is_sealed() -> None:
    with pytest.raises(InvalidSetting, match="footnote keys new"):
        seal()


def test_a_new_key_is_one_that_the_settings_take() -> None:
    assert is_key(new_key())


@pytest.mark.parametrize("text", ["", "secret", "A" * 43, "A" * 44, f"{OLD}=", OLD[:-2] + "!="])
def test_what_is_no_key_is_seen(text: str) -> None:
    assert not is_key(text)
