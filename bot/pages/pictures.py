"""Pictures that people send: recognized and measured by their first bytes, never decoded here.

A model reads them (``bot.reasoning.judgement_prompts``), and what it writes down becomes a page.
The limits are those of the Claude API
(https://platform.claude.com/docs/en/build-with-claude/vision), which the OpenAI API exceeds. Both
read PNG, JPEG, WebP and GIF; of an animation, Claude reads the first frame.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from bot.core.errors import PageUnreadable
from bot.core.texts import said

LARGEST = 7_500_000  # bytes: 10 MB as base64
WIDEST = 8_000  # pixels of a side
MOST = 5  # pictures read for a question
MOST_SCANS = 20  # pages without text read in a document
SCAN_SIDE = 1_568  # pixels of the long side of such a page: what every model sees unscaled
PATCH = 28  # pixels of the side of the square that costs a token
MOST_TOKENS = 4_784  # of one picture: a larger one is scaled down by the API
ENDINGS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
}


class PictureUnread(PageUnreadable):
    """A picture cannot be read."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture within the limits; ``width`` and ``height`` in pixels. ``name`` is that of its
    file, for a page of a document with the page, as the model is told."""

    media_type: str
    width: int
    height: int
    data: bytes = field(repr=False)
    name: str = ""

    @property
    def tokens(self) -> int:
        """The input tokens that it costs at most."""
        return min(MOST_TOKENS, ceil(self.width / PATCH) * ceil(self.height / PATCH))


Scans = tuple[Sequence[tuple[str, Picture]], int]
"""Pages of a document that are only pictures, with their labels, and how many more there are."""


def may_be_picture(media_type: str, name: str) -> bool:
    """True if a file is a picture by its declared type or its name."""
    return media_type in ENDINGS.values() or name.lower().endswith(tuple(ENDINGS))


def picture_in(data: bytes) -> Picture | None:
    """Return the picture that a file is by its content; None for files of other kinds.

    Raises ``PictureUnread`` for one that is damaged or beyond the limits.
    """
    kind = media_type(data)
    if not kind:
        return None
    try:
        width, height = _SIZES[kind](data)
    except (struct.error, ValueError):
        width = height = 0
    if not (width and height):
        raise PictureUnread(said("picture-damaged"))
    if len(data) > LARGEST:
        raise PictureUnread(said("picture-too-large", limit=LARGEST / 1_000_000))
    if max(width, height) > WIDEST:
        raise PictureUnread(said("picture-too-wide", limit=WIDEST))
    return Picture(kind, width, height, data)


def media_type(data: bytes) -> str:
    """The media type of a picture by its content; "" for files of other kinds."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _png(data: bytes) -> tuple[int, int]:
    """PNG (Third Edition), 11.2.1: the header is the first chunk."""
    name, width, height = struct.unpack_from(">4sII", data, 12)
    return (width, height) if name == b"IHDR" else (0, 0)


def _gif(data: bytes) -> tuple[int, int]:
    """GIF89a, section 18: the logical screen."""
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _webp(data: bytes) -> tuple[int, int]:
    """RFC 9649, sections 2.5 to 2.7: lossy, lossless and extended files."""
    chunk = data[12:16]
    if chunk == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if chunk == b"VP8L" and data[20:21] == b"\x2f":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8X" and len(data) >= 30:
        width, height = (int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        return width + 1, height + 1
    return 0, 0


_NO_FRAME = frozenset((0xC4, 0xC8, 0xCC))  # among the codes of frame headers


def _jpeg(data: bytes) -> tuple[int, int]:
    """ITU-T T.81, annex B: the first frame header, after segments that say their length."""
    at = 2
    while at < len(data) and data[at] == 0xFF:
        (code,) = struct.unpack_from(">B", data, at + 1)
        if code == 0xFF:  # filling
            at += 1
            continue
        if 0xC0 <= code <= 0xCF and code not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        (length,) = struct.unpack_from(">H", data, at + 2)
        at += 2 + max(length, 2)
    return 0, 0


_SIZES = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
