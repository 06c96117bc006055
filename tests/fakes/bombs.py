"""Documents made to take memory or time, of every format that Footnote reads.

Each is a file that a web server or a person may hand over: at most 10 MB, mostly far less. ``size``
is about how many bytes of effort one has (what it unpacks to, or how long it is), so that a test
makes a small one of the same class.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise

from tests.fakes import bombs_pdf
from tests.fakes.packages import (
    TYPES,
    S,
    book,
    open_document,
    package,
    paragraph,
    relationships,
    word,
    workbook,
)

MEGABYTE = 1_000_000
LARGEST = 10 * MEGABYTE  # bytes that Footnote takes of one document


@dataclass(frozen=True, slots=True)
class Bomb:
    """``made(size)`` is its data; ``quick`` the size of a test of some tenths of a second."""

    name: str
    ending: str
    made: Callable[[int], bytes]
    quick: int = 40_000

    @property
    def file(self) -> str:
        return f"{self.name.replace(' ', '-')}{self.ending}"


# ---------------------------------------------------------------- texts


def _repeated(piece: str) -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        data = piece.encode()
        return data * (size // len(data))

    return made


def _between(before: str, piece: str, after: str = "") -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        return before.encode() + _repeated(piece)(size) + after.encode()

    return made


def _nested(opening: str, inside: str, closing: str) -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        count = size // len((opening + closing).encode())
        return f"{opening * count}{inside}{closing * count}".encode()

    return made


def _rows(row: Callable[[int], str], head: str = "") -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        lines = [head] if head else []
        length = len(head)
        number = 0
        while length < size:
            number += 1
            line = row(number)
            lines.append(line)
            length += len(line.encode()) + 1
        return "\n".join(lines).encode()

    return made


def _different_words(size: int) -> bytes:
    words = (f"w{number:x}" for number in range(size // 8))
    return " ".join(words).encode()


def _deeper_items(size: int) -> bytes:
    """List items of which each is indented more than the one before."""
    depth = int(size**0.5)
    return "\n".join(f"{' ' * at}- item {at}" for at in range(depth)).encode()


def _wide_csv(size: int) -> bytes:
    """A row of many cells, then many rows of one: a table as wide as the one, as long as the
    others."""
    return b"a," * (size // 4) + b"\n" + b"1\n" * (size // 4)


def _names(size: int) -> bytes:
    return json.dumps({f"{at:x}": 1 for at in range(size // 10)}).encode()


def _notebook(size: int) -> bytes:
    output = {"output_type": "stream", "name": "stdout", "text": ["A. B. " * 100] * (size // 600)}
    cell = {"cell_type": "code", "source": ["print()"], "metadata": {}, "outputs": [output]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}).encode()


def _doubling_man(size: int) -> bytes:
    """Strings of which each is twice the one before."""
    steps = max(3, size.bit_length())
    names = [f"a{at}" for at in range(steps)]
    lines = [".TH A 1", ".ds a0 xxxxxxxxxx"]
    lines += [rf".ds {b} \*[{a}]\*[{a}]" for a, b in pairwise(names)]
    return "\n".join([*lines, ".SH NAME", rf"\*[{names[-1]}]"]).encode()


# ---------------------------------------------------------------- packages


def _docx_table(size: int) -> bytes:
    rows = (
        f"<w:tr><w:tc>{paragraph(f'{at:x}. ')}</w:tc><w:tc>{paragraph('1')}</w:tc></w:tr>"
        for at in range(size // 170)
    )
    return word(f"<w:tbl>{''.join(rows)}</w:tbl>")


def _docx_nested(size: int) -> bytes:
    opening, closing = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
    count = min(80, size // 40)  # three elements each, and more than 256 are no XML to libxml2
    return word(opening * count + paragraph("x") * (size // 100) + closing * count)


def _docx_words(size: int) -> bytes:
    return word("".join(paragraph(f"A. {number:x}. ") for number in range(size // 80)))


def _xlsx_strings(size: int) -> bytes:
    """One long shared string, in every cell of a sheet."""
    string = "word " * 6_000
    rows = "".join(
        f'<row r="{at}"><c t="s"><v>0</v></c></row>' for at in range(1, max(2, size // 400))
    )
    data = workbook(rows)
    strings = f'<sst xmlns="{S}"><si><t>{string}</t></si></sst>'
    sheets = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    return _with(
        data,
        {
            "[Content_Types].xml": f'<Types xmlns="{TYPES}"><Override PartName="/xl/workbook.xml"'
            f' ContentType="{sheets}sheet.main+xml"/><Override PartName="/xl/sharedStrings.xml"'
            f' ContentType="{sheets}sharedStrings+xml"/></Types>',
            "xl/sharedStrings.xml": strings,
            "xl/_rels/workbook.xml.rels": relationships(
                a="worksheet worksheets/sheet1.xml", b="sharedStrings sharedStrings.xml"
            ),
        },
    )


def _xlsx_cells(size: int) -> bytes:
    rows = (
        f"<row>{''.join(f'<c><v>{number * at}</v></c>' for at in range(20))}</row>"
        for number in range(size // 400)
    )
    return workbook("".join(rows))


def _xlsx_far(size: int) -> bytes:
    """A few cells, as far apart as a sheet is large."""
    return workbook(
        "".join(
            f'<row r="{at * 1_000}"><c r="A{at * 1_000}"><v>1</v></c>'
            f'<c r="XFD{at * 1_000}"><v>2</v></c></row>'
            for at in range(1, min(1_048, size // 1_000))
        )
    )


def _with(data: bytes, parts: dict[str, str]) -> bytes:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    return package({**kept, **parts})


def _pptx(size: int) -> bytes:
    """Many slides that are one and the same part."""
    slides = max(2, size // 20_000)
    shape = ("<p:sp><p:txBody><a:p><a:r><a:t>A. B. C.</a:t></a:r></a:p></p:txBody></p:sp>") * 3_000
    names = {f"s{at}": "slide slides/slide1.xml" for at in range(slides)}
    ids = "".join(f'<p:sldId id="{256 + at}" r:id="s{at}"/>' for at in range(slides))
    space = (
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    )
    return package(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
            'content-types"><Override PartName="/ppt/presentation.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/></Types>',
            "_rels/.rels": relationships(a="officeDocument ppt/presentation.xml"),
            "ppt/presentation.xml": f"<p:presentation {space}><p:sldIdLst>{ids}</p:sldIdLst>"
            "</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relationships(**names),
            "ppt/slides/slide1.xml": f"<p:sld {space}><p:cSld><p:spTree>{shape}</p:spTree>"
            "</p:cSld></p:sld>",
        }
    )


def _odt_spaces(size: int) -> bytes:
    """Spaces by number."""
    body = f'<text:p>a<text:s text:c="{size * 100}"/>b</text:p>'
    return open_document("text", body * 50)


def _ods_repeated(size: int) -> bytes:
    cell = (
        "<table:table-cell table:number-columns-repeated='16384'><text:p>"
        f"{'word ' * 500}</text:p></table:table-cell>"
    )
    row = f"<table:table-row table:number-rows-repeated='1048576'>{cell}</table:table-row>"
    return open_document(
        "spreadsheet", f"<table:table>{row * max(1, size // 100_000)}</table:table>"
    )


def _odp(size: int) -> bytes:
    page = "<draw:page><draw:frame><draw:text-box><text:p>A. B. C.</text:p></draw:text-box>"
    page += "</draw:frame></draw:page>"
    return open_document("presentation", page * (size // len(page)))


def _epub(size: int) -> bytes:
    """A book of chapters that unpack to far more than they are."""
    inside = "<p>A. B. C.</p>" * 40_000
    chapters = max(2, size // 400_000)
    return book({f"{at}.xhtml": f"<html><body>{inside}</body></html>" for at in range(chapters)})


def _gzip(size: int) -> bytes:
    return gzip.compress(b"A. " * (size // 3), 9, mtime=0)


BOMBS: tuple[Bomb, ...] = (
    Bomb("unpacking", ".pdf", bombs_pdf.unpacking, 220 * MEGABYTE),
    Bomb("drawing", ".pdf", bombs_pdf.drawing, 1_000),
    Bomb("text on a page", ".pdf", bombs_pdf.text_on_a_page),
    Bomb("pages", ".pdf", bombs_pdf.many_pages, 1_000),
    Bomb("table", ".docx", _docx_table),
    Bomb("nested tables", ".docx", _docx_nested),
    Bomb("short sentences", ".docx", _docx_words),
    Bomb("shared string", ".xlsx", _xlsx_strings),
    Bomb("cells", ".xlsx", _xlsx_cells),
    Bomb("far cells", ".xlsx", _xlsx_far),
    Bomb("one slide many times", ".pptx", _pptx, 40_000),
    Bomb("spaces by number", ".odt", _odt_spaces),
    Bomb("repeated rows", ".ods", _ods_repeated),
    Bomb("pages", ".odp", _odp),
    Bomb("chapters", ".epub", _epub),
    Bomb("nested divisions", ".html", _nested("<div>", "x", "</div>")),
    Bomb("open divisions", ".html", _repeated("<div>")),
    Bomb("open emphasis", ".html", _repeated("<b><i>x<p>")),
    Bomb("paragraphs", ".html", _between("<article>", "<p>A. ")),
    Bomb("table cells", ".html", _between("<table>", "<tr><td>1<td>2")),
    Bomb("spanning cells", ".html", _between("<table>", "<tr><td rowspan=9999 colspan=999>1")),
    Bomb("nested tables", ".html", _repeated("<table><tr><td>x")),
    Bomb("nested lists", ".html", _repeated("<ul><li>x")),
    Bomb("attributes", ".html", _between("<p ", "a b=c d ", ">x")),
    Bomb("links", ".html", _between("<article>", '<a href="/x">y</a> ')),
    Bomb("entities", ".html", _between("<p>", "&amp;&lt;")),
    Bomb("open tags", ".html", _repeated("<a <b <c ")),
    Bomb("code", ".html", _between("<pre><code>", "x = 1\n")),
    Bomb("table", ".md", _rows(lambda at: f"| {at} | b | c |", "| a | b | c |\n| - | - | - |")),
    Bomb("narrow table", ".md", _rows(lambda at: "|1|2|", "|a|b|\n|-|-|")),
    Bomb("short sentences", ".md", _repeated("A. ")),
    Bomb("headings", ".md", _rows(lambda at: f"{'#' * (1 + at % 6)} A{at}")),
    Bomb("brackets", ".md", _repeated("[")),
    Bomb("links", ".md", _repeated("[a](b) ")),
    Bomb("stars", ".md", _repeated("*a **b ")),
    Bomb("backticks", ".md", _rows(lambda at: "`" * (1 + at % 300) + "a")),
    Bomb("quotes", ".md", _repeated("> ")),
    Bomb("items", ".md", _repeated("- a\n")),
    Bomb("deeper items", ".md", _deeper_items),
    Bomb("fences", ".md", _repeated("```\na\n")),
    Bomb("references", ".md", _rows(lambda at: f"[a{at}]: /b\n[a{at}]")),
    Bomb("tags", ".md", _repeated("<b><a ")),
    Bomb("rows", ".csv", _rows(lambda at: f"{at},x,1")),
    Bomb("wide", ".csv", _wide_csv),
    Bomb("quotes", ".csv", _repeated('"a""",')),
    Bomb("rows", ".tsv", _rows(lambda at: f"{at}\tx\t1")),
    Bomb("nested", ".json", _nested("[", "1", "]")),
    Bomb("less nested", ".json", _between("[" * 900, "1,", "1" + "]" * 900)),
    Bomb("numbers", ".json", _between("[", "1,", "1]")),
    Bomb("names", ".json", _names),
    Bomb("output", ".ipynb", _notebook),
    Bomb("nested items", ".rst", _deeper_items, 8_000),
    Bomb("inline", ".rst", _repeated("*a* `b`_ c "), 8_000),
    Bomb("headings", ".rst", _rows(lambda at: f"A{at}\n====\n"), 8_000),
    Bomb("groups", ".rtf", _between(r"{\rtf1 ", "{a ", "}")),
    Bomb("nested", ".tex", _nested("{", "a", "}")),
    Bomb("templates", ".wiki", _repeated("{{a|")),
    Bomb("tables", ".adoc", _between("|===\n", "|a |b\n", "|===")),
    Bomb("inline", ".adoc", _repeated("*a _b `c ")),
    Bomb("headings", ".org", _rows(lambda at: f"{'*' * (1 + at % 30)} A{at}")),
    Bomb("table", ".org", _repeated("| a | b |\n")),
    Bomb("strings that double", ".1", _doubling_man, 2**24),
    Bomb("fonts", ".1", _between(".TH A 1\n.SH NAME\n", r"\fBa\fR ")),
    Bomb("endless macro", ".1", lambda _: b".TH A 1\n.SH NAME\na\n.de B\n.B\n.B\n..\n.B\n"),
    Bomb("short sentences", ".txt", _repeated("A. ")),
    Bomb("one word", ".txt", _repeated("a")),
    Bomb("different words", ".txt", _different_words),
    Bomb("empty lines", ".txt", _repeated("a\n\n")),
    Bomb("marks on a letter", ".txt", _between("a", "\u0301\u0323")),
    Bomb("ligatures", ".txt", _repeated("\ufdfa\u1fb7 ")),
    Bomb("full stops", ".txt", _repeated(".")),
    Bomb("characters", ".txt", _repeated("北京。")),
    Bomb("packed text", ".txt.gz", _gzip),
)  # fmt: skip
