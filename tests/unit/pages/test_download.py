"""Bodies come out as they went in, and a small one never fills the memory."""

from __future__ import annotations

import contextlib
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.download import MEMBERS, Decoder


def decode(encoding: str, data: bytes, chunk: int = 1 << 30) -> bytes:
    decoder = Decoder(encoding, "the page")
    chunks = [data[i : i + chunk] for i in range(0, len(data), chunk)]
    return b"".join(piece for part in chunks for piece in decoder.decoded(part))


@pytest.mark.parametrize("encoding", ["", "identity"])
def test_what_is_not_encoded_stays(encoding: str) -> None:
    assert decode(encoding, b"\x1f\x8bwords", 2) == b"\x1f\x8bwords"


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", " GZIP , identity"])
@given(
    st.lists(st.binary(max_size=2_000), min_size=1, max_size=4),
    st.integers(1, 300),
    st.integers(1, 300),
    st.sampled_from([b"", b"\0" * 8, b"\r\n<!-- served in 3 ms -->"]),
)
def test_members_are_one_body_in_chunks_of_any_size(
    encoding: str, parts: list[bytes], times: int, chunk: int, behind: bytes
) -> None:
    """What follows the end of a body is left out."""
    parts = [part * times for part in parts]
    sent = b"".join(map(gzip.compress, parts)) + behind
    assert decode(encoding, sent, max(chunk, len(sent) // 50)) == b"".join(parts)


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 65_540, 131_073])
@pytest.mark.parametrize("text", [b"ab", b" "])
def test_no_end_is_lost_where_a_piece_is_full(size: int, text: bytes) -> None:
    assert decode("gzip", gzip.compress(text * size)) == text * size


def test_a_bomb_is_decoded_in_small_pieces() -> None:
    pieces = Decoder("gzip", "the page").decoded(gzip.compress(b" " * 50_000_000))
    assert max(len(next(pieces)) for _ in range(5)) <= 65_536
    with pytest.raises(PageUnreadable, match="is compressed in more than 1,000 parts"):
        decode("gzip", gzip.compress(b"") * (MEMBERS + 1))


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "compress", "x"])
def test_other_encodings_are_refused_before_anything_is_read(encoding: str) -> None:
    with pytest.raises(PageUnreadable, match="the page has a compression"):
        Decoder(encoding, "the page")


@given(st.binary(min_size=20, max_size=200))
def test_garbage_is_broken_or_harmless(garbage: bytes) -> None:
    with contextlib.suppress(PageUnreadable):
        decode("gzip", garbage)


def test_a_broken_body_is_told() -> None:
    with pytest.raises(PageUnreadable, match="the page arrives damaged"):
        decode("gzip", gzip.compress(b"body " * 100)[:-8] + b"checksum")
