"""Bodies come out as they went in, and a small one never fills the memory."""

from __future__ import annotations

import contextlib
import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.bounds import Decoder


def raw_deflate(data: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return squeeze.compress(data) + squeeze.flush()


_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    " GZIP , identity": gzip.compress,
    "deflate": zlib.compress,
}


def decode(encoding: str, data: bytes, chunk: int = 1 << 30) -> bytes:
    decoder = Decoder(encoding, "the page")
    chunks = [data[i : i + chunk] for i in range(0, len(data), chunk)]
    return b"".join(piece for part in chunks for piece in decoder.decoded(part))


@pytest.mark.parametrize("encoding", _ENCODERS)
@given(st.binary(max_size=2_000), st.integers(1, 500), st.integers(1, 300))
def test_what_was_encoded_is_decoded_in_chunks_of_any_size(
    encoding: str, data: bytes, times: int, chunk: int
) -> None:
    data *= times
    sent = _ENCODERS[encoding](data)
    assert decode(encoding, sent, max(chunk, len(sent) // 50)) == data


@given(st.binary(min_size=1, max_size=2_000), st.integers(2, 300))
def test_raw_deflate_is_read_where_it_cannot_be_zlib(data: bytes, chunk: int) -> None:
    sent = raw_deflate(data)
    if sent[0] & 0x0F != 8:  # else it could be zlib by its first byte
        assert decode("deflate", sent, chunk) == data


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 65_540, 131_073])
def test_no_end_is_lost_where_a_piece_is_full(size: int) -> None:
    assert decode("deflate", raw_deflate(b"ab" * size)) == b"ab" * size
    assert decode("deflate", raw_deflate(b" " * size)) == b" " * size


@given(st.lists(st.binary(max_size=100), min_size=1, max_size=5), st.integers(1, 40))
def test_several_gzip_members_are_one_body(parts: list[bytes], chunk: int) -> None:
    sent = b"".join(map(gzip.compress, parts)) + b"\0" * 8
    assert decode("gzip", sent, chunk) == b"".join(parts)


def test_a_bomb_is_decoded_in_small_pieces() -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    pieces = Decoder("gzip", "the page").decoded(bomb)
    taken = [len(next(pieces)) for _ in range(5)]
    assert max(taken) <= 65_536


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "compress", "x"])
def test_other_encodings_are_refused_before_anything_is_read(encoding: str) -> None:
    with pytest.raises(PageUnreadable, match="the page has a compression"):
        Decoder(encoding, "the page")


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@given(st.binary(min_size=20, max_size=200))
def test_garbage_is_broken_or_harmless(encoding: str, garbage: bytes) -> None:
    with contextlib.suppress(PageUnreadable):
        decode(encoding, garbage)


def test_what_follows_the_end_of_a_body_is_left_out() -> None:
    assert decode("gzip", gzip.compress(b"body") + b"\r\n<!-- served in 3 ms -->") == b"body"
    assert decode("deflate", zlib.compress(b"body") + b"\x1f\x8b") == b"body"


def test_a_broken_body_is_told() -> None:
    with pytest.raises(PageUnreadable, match="the page arrives damaged"):
        decode("gzip", gzip.compress(b"body " * 100)[:-8] + b"checksum")
