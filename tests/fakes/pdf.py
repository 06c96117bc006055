"""PDF documents, written by hand: just enough of the format (ISO 32000-1) to say what stands where.

Latin text is in Helvetica, all else in a font without shapes whose ToUnicode map is the identity,
as typesetting programs embed East Asian fonts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_TO_UNICODE = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def"
    b" /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange"
    b" 1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end end"
)


@dataclass(frozen=True, slots=True)
class Typed:
    """A piece of text: its left end and base line in points from the lower left, and its size.

    ``mono`` sets it in Courier, ``angle`` turns it, in radians.
    """

    x: float
    y: float
    text: str
    size: float = 11
    mono: bool = False
    angle: float = 0.0


def typed(
    lines: Sequence[str], *, top: float = 700, x: float = 72, mono: bool = False
) -> list[Typed]:
    """Lines one below the other; an empty one leaves a gap between two paragraphs."""
    return [Typed(x, top - 14 * i, line, mono=mono) for i, line in enumerate(lines) if line]


def pdf(
    pages: Sequence[Sequence[Typed]],
    *,
    title: str = "",
    first_label: int = 1,
    locked: bool = False,
    boxes: Sequence[tuple[float, float, bool]] = (),
    fields: Sequence[tuple[float, float, str]] = (),
    notes: Sequence[str] = (),
    drawn: str = "",
    form: str = "",
) -> bytes:
    """A document of US Letter pages (612 by 792 points).

    ``boxes`` are tick boxes of a form on the first page: left end, lower edge, and whether ticked;
    ``fields`` are its text fields "f0", "f1" and so on, with what is filled in;
    ``notes`` are other annotations on it: the entries of their dictionaries. ``drawn`` are the
    operators of the lines on every page.
    ``form`` are those of the form XObject /X.
    ``first_label`` is what the first page is called. ``locked`` needs a password that nobody has.
    """
    objects: list[bytes] = [b"", b""]

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    def stream(body: bytes) -> int:
        return add(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(body), body))

    latin = add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    mono = add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>")
    shapes = add(
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Song /DW 1000"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
    )
    other = add(
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding /Identity-H"
        b" /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>" % (shapes, stream(_TO_UNICODE))
    )
    faces = b"/Font << /F1 %d 0 R /F2 %d 0 R /F3 %d 0 R >>" % (latin, other, mono)
    placed = add(
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << %b >> /Length %d >>"
        b"\nstream\n%b\nendstream" % (faces, len(form), form.encode())
    )
    fonts = b"<< %b /XObject << /X %d 0 R >> >>" % (faces, placed)
    look = add(
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 12 12] /Length 0 >>\nstream\n\nendstream"
    )
    widgets = [
        add(
            b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (f%d) /Rect [%g %g %g %g] /V <FEFF%b> >>"
            % (number, x, y, x + 100, y + 14, _hex(value))
        )
        for number, (x, y, value) in enumerate(fields)
    ]
    widgets += [
        add(
            b"<< /Type /Annot /Subtype /Widget /FT /Btn /T (b%d) /Rect [%g %g %g %g] /V /%b /AS /%b"
            b" /AP << /N << /Yes %d 0 R /Off %d 0 R >> >> >>"
            % (number, x, y, x + 12, y + 12, state, state, look, look)
        )
        for number, (x, y, on) in enumerate(boxes)
        for state in [b"Yes" if on else b"Off"]
    ]
    filled = b" ".join(b"%d 0 R" % field for field in widgets)
    laid = b" ".join([filled, *(b"<< /Type /Annot %b >>" % note.encode() for note in notes)])
    kids = [
        add(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
            b" /Resources %b /Contents %d 0 R%b >>"
            % (
                fonts,
                stream(b"\n".join([drawn.encode(), *map(_shown, page)])),
                b" /Annots [%b]" % laid if laid.strip() and not number else b"",
            )
        )
        for number, page in enumerate(pages)
    ]
    labels = b""
    if first_label != 1:
        labels = b" /PageLabels << /Nums [0 << /S /D /St %d >>] >>" % first_label
    if widgets:
        labels += b" /AcroForm << /Fields [%b] >>" % filled
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R%b >>" % labels
    references = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(kids), references)
    trailer = b"/Root 1 0 R"
    if title:
        trailer += b" /Info %d 0 R" % add(b"<< /Title <FEFF%b> >>" % _hex(title))
    if locked:
        key = b"00" * 32
        trailer += b" /ID [<00> <00>] /Encrypt %d 0 R" % add(
            b"<< /Filter /Standard /V 1 /R 2 /O <%b> /U <%b> /P -4 >>" % (key, key)
        )
    return _file(objects, trailer)


def _shown(piece: Typed) -> bytes:
    if piece.text.isascii():
        escaped = piece.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        font, string = b"F3" if piece.mono else b"F1", b"(%b)" % escaped.encode("ascii")
    else:
        font, string = b"F2", b"<%b>" % _hex(piece.text)
    across, up = math.cos(piece.angle), math.sin(piece.angle)
    place = b"%f %f %f %f %f %f Tm" % (across, up, -up, across, piece.x, piece.y)
    return b"BT /%b %f Tf %b %b Tj ET" % (font, piece.size, place, string)


def _hex(text: str) -> bytes:
    return text.encode("utf-16-be").hex().encode("ascii")


def _file(objects: Sequence[bytes], trailer: bytes) -> bytes:
    data = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    data += b"trailer << /Size %d %b >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer,
        start,
    )
    return bytes(data)
