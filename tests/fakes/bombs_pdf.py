"""PDF files made to take memory or time: see ``bombs``."""

from __future__ import annotations

import zlib

MEGABYTE = 1_000_000


def _pdf(*objects: bytes) -> bytes:
    body = b"%PDF-1.4\n"
    body += b"".join(b"%d 0 obj\n%b\nendobj\n" % each for each in enumerate(objects, 1))
    return body + b"trailer << /Root 1 0 R /Size %d >>\n%%%%EOF\n" % (len(objects) + 1)


def _stream(data: bytes, said: bytes) -> bytes:
    return b"<< %b /Length %d >>\nstream\n%b\nendstream" % (said, len(data), data)


def _one_page(contents: bytes, *others: bytes, resources: bytes = b"") -> bytes:
    return _pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
        b" %b >> >>" % resources,
        contents,
        *others,
    )


def _deflated(size: int, piece: bytes) -> bytes:
    packing = zlib.compressobj(9)
    block = piece * (MEGABYTE // len(piece))
    parts = [packing.compress(block) for _ in range(max(1, size // MEGABYTE))]
    return b"".join([*parts, packing.flush()])


def unpacking(size: int) -> bytes:
    """A page whose contents are packed twice."""
    twice = zlib.compress(_deflated(size, b" "), 9)
    return _one_page(_stream(twice, b"/Filter [/FlateDecode /FlateDecode]"))


def drawing(size: int) -> bytes:
    """A page that draws a form which draws one ten times, and so on."""
    depth = max(2, len(str(size)))
    forms = []
    for at in range(depth):
        inner = b"/X Do " * 10 if at < depth - 1 else b"BT /F 9 Tf 9 9 Td (word) Tj ET"
        said = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << "
        said += b"/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> "
        said += b"/XObject << /X %d 0 R >> >>" % (6 + at)
        forms.append(_stream(inner, said))
    first = b"/XObject << /X 5 0 R >>"
    return _one_page(_stream(b"/X Do " * 10, b""), *forms, resources=first)


def text_on_a_page(size: int) -> bytes:
    """A page that shows one word more often than any page has words."""
    shown = b"BT /F 9 Tf 9 9 Td " + b"(word ) Tj " * (size // 11) + b"ET"
    return _one_page(_stream(zlib.compress(shown, 9), b"/Filter /FlateDecode"))


def many_pages(size: int) -> bytes:
    """Many pages that share their contents."""
    count = size // 12
    kids = b"3 0 R " * count
    contents = b"BT /F 9 Tf 9 700 Td 12 TL " + b"(A line of some words on a page.) Tj T* " * 100
    return _pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, count),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources"
        b" << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        _stream(contents + b"ET", b""),
    )
