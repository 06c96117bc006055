"""Pictures for tests, and the eyes of the fake models.

A text is drawn as black and white squares, eight to a byte, row by row. Every format and every
rendering of such a picture keeps them, so that a fake reads from the pixels what a real model would
read from letters.
"""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Sequence
from contextlib import suppress

from PIL import Image, UnidentifiedImageError

from tests.fakes.claude_models import Wrong

COLUMNS, ROWS = 40, 60  # squares: 300 bytes, with two for the length
MOST_BASE64 = 10_000_000  # bytes, build-with-claude/vision "General limits"
WIDEST, WIDEST_OF_MANY, MANY = 8_000, 2_000, 20  # pixels, pixels, images
MOST_IMAGES = 100
PATCH, MOST_TOKENS = 28, 4_784


def drawn(text: str, kind: str = "PNG", cell: int = 12) -> bytes:
    """A picture file that shows a text; ``kind`` is PNG, JPEG, GIF or WEBP."""
    return _saved([_squares(text, cell)], kind)


def animated(first: str, second: str) -> bytes:
    """A GIF of two images."""
    return _saved([_squares(first, 12), _squares(second, 12)], "GIF")


def scanned(pages: Sequence[str]) -> bytes:
    """A PDF document without a text layer, one picture a page; "" is an empty page."""
    return _saved([_squares(text, 12) for text in pages], "PDF")


def _saved(images: Sequence[Image.Image], kind: str) -> bytes:
    file = io.BytesIO()
    more = {"save_all": True, "append_images": list(images[1:])} if len(images) > 1 else {}
    images[0].save(file, kind, **more)
    return file.getvalue()


def _squares(text: str, cell: int) -> Image.Image:
    said = text.encode()
    data = len(said).to_bytes(2, "big") + said
    if 8 * len(data) > COLUMNS * ROWS:
        raise ValueError("the text is too long for a picture")
    small = Image.new("L", (COLUMNS, ROWS), 255)
    for at, byte in enumerate(data):
        for bit in range(8):
            if byte >> (7 - bit) & 1:
                place = 8 * at + bit
                small.putpixel((place % COLUMNS, place // COLUMNS), 0)
    return small.resize((COLUMNS * cell, ROWS * cell), Image.Resampling.NEAREST)


def seen(data: bytes) -> str:
    """What a picture shows: the text in its squares, or its size."""
    with Image.open(io.BytesIO(data)) as image:
        grey = image.convert("L")
    width, height = grey.size
    pixels = grey.tobytes()
    rows = [_middle(row, ROWS, height) * width for row in range(ROWS)]
    columns = [_middle(column, COLUMNS, width) for column in range(COLUMNS)]
    bits = [pixels[row + column] < 128 for row in rows for column in columns]
    data = bytes(
        sum(bit << (7 - at) for at, bit in enumerate(bits[start : start + 8]))
        for start in range(0, len(bits), 8)
    )
    length = int.from_bytes(data[:2], "big")
    if length <= len(data) - 2:
        with suppress(UnicodeDecodeError):  # squares that are none
            return data[2 : 2 + length].decode()
    return f"A picture of {width} by {height} pixels."


def _middle(at: int, count: int, size: int) -> int:
    """The pixel in the middle of a square."""
    return int((at + 0.5) * size / count)


def tokens_of(width: int, height: int) -> int:
    return min(MOST_TOKENS, -(-width // PATCH) * -(-height // PATCH))


def check_image(place: str, media_type: str, encoded: str, count: int) -> tuple[int, int]:
    """Return the size of an image in a request with ``count`` of them; raises ``Wrong``."""
    if len(encoded) > MOST_BASE64:
        raise Wrong(f"{place}: image exceeds 10 MB maximum: {len(encoded)} bytes")
    try:
        data = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise Wrong(f"{place}.data: invalid base64 data") from None
    try:
        with Image.open(io.BytesIO(data)) as image:
            kind, (width, height) = image.get_format_mimetype(), image.size
            image.load()
    except (UnidentifiedImageError, OSError, SyntaxError):
        raise Wrong(f"{place}: Could not process image") from None
    if kind != media_type:
        raise Wrong(f"{place}: The image was specified using the {media_type} media type, "
                    f"but the image appears to be a {kind} image")  # fmt: skip
    widest = WIDEST_OF_MANY if count > MANY else WIDEST
    if max(width, height) > widest:
        raise Wrong(f"{place}: At least one of the image dimensions exceed max allowed size: "
                    f"{widest} pixels")  # fmt: skip
    return width, height
