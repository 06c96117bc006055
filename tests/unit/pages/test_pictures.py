"""Pictures: recognized and measured by their first bytes, within the limits of the API."""

from __future__ import annotations

import io
import struct
from contextlib import suppress
from typing import Any

import pytest
from PIL import Image

from bot.pages.pictures import (
    LARGEST,
    WIDEST,
    Picture,
    PictureUnread,
    may_be_picture,
    picture_in,
)

PNG_HEAD = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4s", 13, b"IHDR")


def saved(kind: str, size: tuple[int, int], mode: str = "RGB", **options: Any) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size).save(file, kind, **options)
    return file.getvalue()


EXIF = Image.Exif()
EXIF[0x010E] = "A comment that is longer than a header. " * 100

FILES = {
    "png": (saved("PNG", (640, 480)), "image/png"),
    "png of 16 bits": (saved("PNG", (3, 7), "I;16"), "image/png"),
    "jpeg": (saved("JPEG", (641, 479)), "image/jpeg"),
    "progressive jpeg": (saved("JPEG", (641, 479), progressive=True), "image/jpeg"),
    "jpeg with metadata": (saved("JPEG", (641, 479), exif=EXIF), "image/jpeg"),
    "gif": (saved("GIF", (300, 2)), "image/gif"),
    "lossy webp": (saved("WEBP", (801, 601)), "image/webp"),
    "lossless webp": (saved("WEBP", (801, 601), lossless=True), "image/webp"),
    "webp with metadata": (saved("WEBP", (801, 601), exif=EXIF), "image/webp"),
    "animated webp": (
        saved("WEBP", (33, 9), save_all=True, append_images=[Image.new("RGB", (33, 9), "red")]),
        "image/webp",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_kind_and_size_are_those_that_a_decoder_finds(name: str) -> None:
    data, kind = FILES[name]
    picture = picture_in(data)
    assert picture is not None
    with Image.open(io.BytesIO(data)) as image:
        assert (picture.media_type, picture.width, picture.height) == (kind, *image.size)


@pytest.mark.parametrize("name", FILES)
def test_the_beginning_of_a_picture_is_measured_or_refused(name: str) -> None:
    data, _ = FILES[name]
    whole = picture_in(data)
    assert whole is not None
    for end in range(12, min(len(data), 6_000)):
        with suppress(PictureUnread):
            part = picture_in(data[:end])
            assert part is not None
            assert (part.width, part.height) == (whole.width, whole.height)


@pytest.mark.parametrize(
    "data", [b"", b"GIF8", b"%PDF-1.7", b"RIFF\x10\0\0\0WAVEfmt ", b"BM6\0", b"plain text"]
)
def test_other_files_are_no_pictures(data: bytes) -> None:
    assert picture_in(data) is None


@pytest.mark.parametrize(
    ("data", "text_id"),
    [
        (PNG_HEAD + struct.pack(">II", WIDEST + 1, 1), "picture-too-wide"),
        (PNG_HEAD + struct.pack(">II", 2**31, 2**31), "picture-too-wide"),  # 16 EB decoded
        (PNG_HEAD + struct.pack(">II", 0, 5), "picture-damaged"),
        (PNG_HEAD.replace(b"IHDR", b"IDAT") + struct.pack(">II", 5, 5), "picture-damaged"),
        (saved("PNG", (5, 5)).ljust(LARGEST + 1, b"\0"), "picture-too-large"),
        (b"\xff\xd8\xff" + b"\xff" * 1_000, "picture-damaged"),
        (b"\xff\xd8\xff\xe0\0\0" * 1_000, "picture-damaged"),
    ],
)
def test_what_the_api_would_refuse_is_not_sent(data: bytes, text_id: str) -> None:
    with pytest.raises(PictureUnread) as refused:
        picture_in(data)
    assert refused.value.text_id == text_id


def test_the_largest_picture_is_read() -> None:
    assert picture_in(PNG_HEAD + struct.pack(">II", WIDEST, WIDEST)) is not None
    assert picture_in(saved("PNG", (5, 5)).ljust(LARGEST, b"\0")) is not None


@pytest.mark.parametrize(
    ("size", "tokens"), [((1, 1), 1), ((28, 29), 2), ((1000, 1000), 1296), ((8000, 8000), 4784)]
)
def test_a_token_is_a_square_of_28_pixels(size: tuple[int, int], tokens: int) -> None:
    assert Picture("image/png", *size, b"").tokens == tokens


@pytest.mark.parametrize(
    ("media_type", "name", "expected"),
    [
        ("image/png", "x", True),
        ("", "Screenshot.PNG", True),
        ("application/octet-stream", "a.jpeg", True),
        ("image/svg+xml", "logo.svg", False),
        ("image/heic", "IMG_1.HEIC", False),
        ("text/plain", "png", False),
    ],
)
def test_what_is_read_first_is_told_by_type_or_name(
    media_type: str, name: str, expected: bool
) -> None:
    assert may_be_picture(media_type, name) is expected
