"""Documents in ZIP packages, made part by part: what libraries do not write."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
ODF = " ".join(
    f'xmlns:{name}="{_ODF}{full}:1.0"'
    for name, full in (
        *(("office", "office"), ("text", "text"), ("table", "table"), ("style", "style")),
        *(("draw", "drawing"), ("presentation", "presentation"), ("meta", "meta")),
    )
)


def package(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP file of these parts, in this order; a part named "mimetype" is not packed."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)  # dated 1980: the same bytes at any time
            is_packed = name != "mimetype"
            entry.compress_type = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
            archive.writestr(entry, content)
    return buffer.getvalue()


def relationships(**targets: str) -> str:
    """A part of relationships: id → "kind target"."""
    inside = "".join(
        f'<Relationship Id="{each}" Type="{R}/{kind}" Target="{target}"/>'
        for each, (kind, target) in ((k, v.split()) for k, v in targets.items())
    )
    return f'<Relationships xmlns="{RELATIONSHIPS}">{inside}</Relationships>'


def word(body: str, **parts: str) -> bytes:
    """A Word document with this inside ``w:body``; ``parts`` are "styles", "numbering",
    "footnotes", "endnotes", "header" and "footer", each the inside of its root element."""
    related = {name: f"{name} {name}.xml" for name in parts}
    return package(
        {
            "[Content_Types].xml": f'<Types xmlns="{TYPES}"/>',
            "word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>',
            "word/_rels/document.xml.rels": relationships(**related),
            **{f"word/{n}.xml": f'<w:{n} xmlns:w="{W}">{c}</w:{n}>' for n, c in parts.items()},
        }
    )


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(inside: str, properties: str = "") -> str:
    """A paragraph of a Word document; ``inside`` is text or runs."""
    runs = inside if inside.startswith("<") else run(inside)
    return f"<w:p><w:pPr>{properties}</w:pPr>{runs}</w:p>"


def workbook(rows: str, sheet: str = "Sheet1") -> bytes:
    """A workbook of one sheet with this inside ``sheetData``."""
    types = (
        f'<Types xmlns="{TYPES}"><Override PartName="/xl/workbook.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
    )
    return package(
        {
            "[Content_Types].xml": types,
            "_rels/.rels": relationships(a="officeDocument xl/workbook.xml"),
            "xl/workbook.xml": f'<workbook xmlns="{S}" xmlns:r="{R}"><sheets>'
            f'<sheet name="{sheet}" sheetId="1" r:id="a"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relationships(a="worksheet worksheets/sheet1.xml"),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{S}"><sheetData>{rows}</sheetData>'
            "</worksheet>",
        }
    )


def open_document(kind: str, body: str, automatic: str = "", **parts: str) -> bytes:
    """An OpenDocument file: ``kind`` is "text", "spreadsheet" or "presentation"."""
    return package(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {ODF}><office:automatic-styles>{automatic}"
            f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}>"
            "</office:body></office:document-content>",
            **{name.replace("_", "."): content for name, content in parts.items()},
        }
    )


def book(chapters: Mapping[str, str], extra: str = "", **parts: str) -> bytes:
    """An EPUB book of these pages of XHTML by file name; ``extra`` goes into the manifest."""
    items = "".join(
        f'<item id="i{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{number}"/>' for number in range(len(chapters)))
    return package(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/>'
            "</rootfiles></container>",
            "OPS/book.opf": '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
            f"<dc:title>The Book</dc:title></metadata><manifest>{items}{extra}</manifest>"
            f"<spine>{spine}</spine></package>",
            **{f"OPS/{name}": content for name, content in chapters.items()},
            **parts,
        }
    )
