"""The event streams that a client may have open at once."""

from __future__ import annotations

import pytest

from adapters.web.live import OpenStreams


def test_a_client_may_have_so_many_and_another_one_as_many_more() -> None:
    streams = OpenStreams(2)
    with streams.one("ada"), streams.one("ada"):
        assert not streams.allows("ada")
        assert streams.allows("bob")
    assert streams.allows("ada")


def test_one_that_broke_is_no_longer_counted() -> None:
    streams = OpenStreams(1)
    with pytest.raises(ValueError), streams.one("ada"):  # noqa: PT011  (ours)
        raise ValueError
    assert streams.allows("ada")
