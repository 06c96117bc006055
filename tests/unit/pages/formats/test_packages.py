"""Hostile and broken packages: named in one sentence, in little memory, whatever they hold."""

from __future__ import annotations

import gzip
import re
import struct
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import docx
import openpyxl  # type: ignore[import-untyped]
import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.extract import LARGEST_UNPACKED, from_bytes
from bot.pages.formats.packages import HIGHEST_RATIO, LARGEST_PART, LARGEST_TREE, MOST_ENTRIES
from tests.fakes.packages import (
    W,
    book,
    open_document,
    package,
    paragraph,
    relationships,
    word,
    workbook,
)

PROSE = "".join(paragraph(f"Paragraph {number} of the document.") for number in range(30))
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def office(kind: str) -> bytes:
    buffer = BytesIO()
    if kind == "docx":
        document = docx.Document()
        document.add_paragraph("some words")
        document.save(buffer)
    elif kind == "pptx":
        presentation = pptx.Presentation()
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = "some words"
        presentation.save(buffer)
    elif kind == "xlsx":
        workbook = openpyxl.Workbook()
        workbook.worksheets[0].append(["some", "words"])
        workbook.save(buffer)
    elif kind == "odt":
        return open_document("text", "<text:p>some words</text:p>")
    else:
        return book({"one.xhtml": "<html><body><p>some words</p></body></html>"})
    return buffer.getvalue()


KINDS = ("docx", "pptx", "xlsx", "odt", "epub")
WHOLE = {kind: office(kind) for kind in KINDS}


def refused(data: bytes, name: str) -> str:
    with pytest.raises(PageUnreadable) as raised:
        from_bytes(data, None, name)
    return raised.value.sentence


def read_or_refused(data: bytes, name: str) -> None:
    """Any bytes give a text, or a sentence that names the file."""
    try:
        extracted = from_bytes(data, None, name)
    except PageUnreadable as error:
        sentence = error.sentence
    else:
        assert extracted.text
        return
    assert sentence.startswith(f"{name} ")


# ---------------------------------------------------------------- what it is


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.{}", None),
        ("report", None),
        ("a.zip", "application/zip"),
        ("a.pdf", "application/pdf"),
        ("a.txt", "text/plain"),
        ("https://a.example/download?id=5", "application/octet-stream"),
    ],
)
def test_a_package_is_read_as_what_it_holds(kind: str, name: str, media_type: str | None) -> None:
    assert "some" in from_bytes(WHOLE[kind], media_type, name.format(kind)).text


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ({"a.txt": "words", "b/c.txt": "words"}, "an archive"),
        ({"META-INF/MANIFEST.MF": "", "A.class": ""}, "an archive"),
        ({"Index/Document.iwa": ""}, "a document of Apple's Pages, Numbers or Keynote"),
        ({"[Content_Types].xml": "<Types/>", "xl/workbook.bin": ""},
         "a binary Excel workbook (.xlsb)"),
        ({"[Content_Types].xml": "<Types/>", "visio/document.xml": ""}, "an archive"),
    ],
)  # fmt: skip
def test_other_packages_are_named(parts: dict[str, str], what: str) -> None:
    assert refused(package(parts), "a.zip") == (
        f"a.zip is {what}, which Footnote does not read; save it as PDF, .docx, HTML or text, or"
        " paste the text."
    )


def compound(*streams: str) -> bytes:
    """The beginning of a compound file, and directory entries as MS-CFB 2.6 has them."""
    entries = b"".join(
        name.encode("utf-16-le").ljust(64, b"\0").ljust(128, b"\1") for name in streams
    )
    return COMPOUND.ljust(512, b"\0") + entries


@pytest.mark.parametrize(
    ("streams", "name", "sentence"),
    [
        (("WordDocument",), "a.doc", "a.doc is an old Word document (.doc); open it and save it as"
         " .docx, which Footnote reads."),
        (("Workbook",), "a.xls", "a.xls is an old Excel workbook (.xls); open it and save it as"
         " .xlsx, which Footnote reads."),
        (("Book",), "a.xls", "a.xls is an old Excel workbook (.xls); open it and save it as .xlsx,"
         " which Footnote reads."),
        (("PowerPoint Document",), "a.ppt", "a.ppt is an old PowerPoint presentation (.ppt); open"
         " it and save it as .pptx, which Footnote reads."),
        (("EncryptionInfo", "EncryptedPackage"), "a.docx",
         "a.docx is locked with a password; save a copy without one, or paste its text."),
        (("__properties_version1.0", "__nameid_version1.0"), "a.msg",
         "a.msg is a message of Outlook that is damaged; save it again, or as .eml."),
        (("Contents",), "a.wps", "a.wps is an old Office document, which Footnote does not read;"
         " save it as PDF, .docx, HTML or text, or paste the text."),
    ],
)  # fmt: skip
def test_compound_files_are_named(streams: tuple[str, ...], name: str, sentence: str) -> None:
    assert refused(compound(*streams), name) == sentence


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.99])
def test_a_document_that_was_cut_off_is_damaged(kind: str, share: float) -> None:
    data = WHOLE[kind][: max(60, int(len(WHOLE[kind]) * share))]
    assert "damaged" in refused(data, f"a.{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_that_begins_with_rubbish_is_damaged(kind: str) -> None:
    sentence = refused(bytes(range(256)) * 9, f"a.{kind}")
    assert sentence.startswith(f"a.{kind} is damaged: it does not begin like a file of the kind ")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.data())
def test_flipped_bytes_never_break_the_reader(kind: str, data: st.DataObject) -> None:
    damaged = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    read_or_refused(bytes(damaged), f"a.{kind}")


PIECES = ("<", ">", "/", "w:p", "w:r", "w:t", "w:tbl", "w:tr", "w:tc", " ", "a", "&", ";", "=")
XML = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(max_examples=60, deadline=None)
@given(XML, st.sampled_from(["word/document.xml", "word/styles.xml", "word/numbering.xml"]))
def test_xml_of_any_shape_never_breaks_the_reader(inside: str, part: str) -> None:
    parts = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{PROSE}</w:body></w:document>',
        "word/_rels/document.xml.rels": relationships(
            a="styles styles.xml", b="numbering numbering.xml"
        ),
        part: f'<w:document xmlns:w="{W}"><w:body>{inside}</w:body></w:document>',
    }
    read_or_refused(package(parts), "a.docx")


# ---------------------------------------------------------------- bombs


def understated(packed: bytes, declared: int) -> bytes:
    """A Word document whose main part says that it unpacks to so many bytes, and has more."""
    data = bytearray(package({"[Content_Types].xml": "<Types/>", "word/document.xml": packed}))
    central = data.rfind(b"PK\x01\x02")  # of the last part
    struct.pack_into("<I", data, central + 24, declared)
    return bytes(data)


NESTED = f'<!DOCTYPE d [<!ENTITY a "{"x" * 1_000}">' + "".join(
    f'<!ENTITY {chr(98 + level)} "{f"&{chr(97 + level)};" * 10}">' for level in range(8)
)


@pytest.mark.parametrize(
    ("made", "name", "sentence"),
    [
        (lambda: word(f"<w:p><w:r><w:t>{'a' * (LARGEST_TREE + 1)}</w:t></w:r></w:p>"), "a.docx",
         r"unpacks to more than Footnote reads \(12 MB in one part\)"),
        (lambda: workbook(f"<row><c><v>{'1' * (LARGEST_PART + 1)}</v></c></row>"), "a.xlsx",
         r"unpacks to more than Footnote reads \(100 MB in one part\)"),
        (lambda: book({"one.xhtml": f"<html><body>{'a' * LARGEST_TREE}</body></html>"}), "a.epub",
         r"unpacks to more than Footnote reads \(12 MB in one part\)"),
        (lambda: package({f"word/{number}": "" for number in range(MOST_ENTRIES + 1)}), "a.docx",
         r"holds more than 20,000 files, which no document does; give the document itself"),
        (lambda: package({"[Content_Types].xml": "<Types/>", "word/document.xml":
                  f'{NESTED}]><w:document xmlns:w="{W}"><w:body>&i;</w:body></w:document>'}),
         "a.docx",
         r"declares entities of its own, which no Office program writes; open and save it again"),
        (lambda: package({"mimetype": "application/vnd.oasis.opendocument.text",
                  "content.xml": f"{NESTED}]><a>&i;</a>"}), "a.odt", "declares entities"),
        (lambda: gzip.compress(b"word " * (LARGEST_UNPACKED // 5 + 1), mtime=0), "a.txt.gz",
         r"unpacks to more than 50 MB; split it into smaller files\.$"),
        (lambda: gzip.compress(gzip.compress(b"words", mtime=0), mtime=0), "a.gz",
         "packed with gzip more than once"),
    ],
    ids=[
        *("tree of a docx", "part of an xlsx", "chapter"),
        *("entries", "entities of a docx", "entities of an odt", "gzip", "gzip in gzip"),
    ],
)  # fmt: skip
def test_a_bomb_is_named(made: Callable[[], bytes], name: str, sentence: str) -> None:
    data = made()
    assert len(data) < 5_000_000
    with pytest.raises(PageUnreadable, match=rf"^{re.escape(name)} (?:is )?{sentence}"):
        from_bytes(data, None, name)


def test_text_without_repetition_may_be_larger_than_a_tree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.pages.formats.packages.LARGEST_TREE", 1_000_000)
    paragraphs = "".join(paragraph(f"{zlib.crc32(b'%d' % i):x} " * 3) for i in range(12_000))
    data = word(paragraphs)
    assert len(paragraphs) > 1_000_000
    assert len(paragraphs) < HIGHEST_RATIO * len(data)
    assert from_bytes(data, None, "a.docx").text.startswith("f4dbdf21 f4dbdf21")


def test_a_part_never_unpacks_to_more_than_it_declares() -> None:
    part = f"<w:document xmlns:w='{W}'>{'a' * 1_000_000}</w:document>"
    assert "damaged" in refused(understated(part.encode(), 100), "a.docx")


def test_a_paragraph_that_is_too_large_to_hold_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.pages.formats.packages.LARGEST_TREE", 1_000_000)
    runs = "".join(f"<w:r><w:t>{zlib.crc32(b'%d' % i):x}</w:t></w:r>" for i in range(50_000))
    assert refused(word(f"<w:p>{runs}</w:p>"), "a.docx") == (
        "a.docx holds a paragraph or a row of more than 1 MB, which no document does; paste the"
        " text that matters."
    )


def test_an_encrypted_entry_is_named() -> None:
    data = bytearray(word(PROSE))
    at = 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        data[at + 8] |= 1  # general purpose bit 0 of the central directory
        at += 4
    assert refused(bytes(data), "a.docx").startswith("a.docx is locked with a password; save a")


PEAK = """
import sys
from bot.pages.extract import from_bytes
from bot.core.errors import PageUnreadable
try:
    from_bytes(open(sys.argv[1], "rb").read(), None, sys.argv[1])
except PageUnreadable:
    pass
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["docx", "xlsx", "ods", "csv", "gz"])
def test_memory_stays_below_400_megabytes(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"bomb.{kind}"
    path.write_bytes(large(kind))
    command = [sys.executable, "-c", PEAK, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 400_000  # kB


def large(kind: str) -> bytes:
    match kind:
        case "docx":
            row = (
                f"<w:tr><w:tc>{paragraph('some words')}</w:tc><w:tc>{paragraph('x')}</w:tc></w:tr>"
            )
            table = "".join(
                row.replace("some", f"{zlib.crc32(b'%d' % i):x}") for i in range(60_000)
            )
            return word(f"<w:tbl>{table}</w:tbl>")
        case "xlsx":
            cells = "".join(f"<c><v>{i * 7919 % 1_000_003}</v></c>" for i in range(20))
            return workbook("".join(f'<row r="{i}">{cells}</row>' for i in range(1, 20_000)))
        case "ods":
            cell = (
                f"<table:table-cell table:number-columns-repeated='16384'><text:p>{'word ' * 500}"
            )
            row = f"<table:table-row table:number-rows-repeated='1048576'>{cell}</text:p>"
            rows = f"{row}</table:table-cell></table:table-row>" * 50
            return open_document("spreadsheet", f"<table:table>{rows}</table:table>")
        case "csv":
            return "".join(f"{i},name {i},{i * 7919}\n" for i in range(400_000)).encode()
    return gzip.compress(b"word word\n" * 50_000_000, 1)


# ---------------------------------------------------------------- gzip


@pytest.mark.parametrize(
    ("name", "data", "title", "text"),
    [
        ("a.txt.gz", b"Opening hours\n\n9 to 5", "Opening hours", "Opening hours\n\n9 to 5"),
        ("CHANGELOG.gz", b"Changes of the year", "Changes of the year", "Changes of the year"),
        ("a.md.gz", b"# Guide\n\n[x](y)", "Guide", "# Guide\n\nx"),
        ("a.html.gz", b"<title>T</title><p>Words in it.</p>", "T", "Words in it."),
        ("a.csv.gz", b"a,b\n1,2", "a", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("a.docx.gz", WHOLE["docx"], "a", "some words"),
        ("ls.1.gz", b".TH LS 1\n.SH NAME\nls \\- list", "LS", "# LS\n\n# NAME\n\nls - list"),
        ("https://a.example/a.txt.gz", b"Words.", "Words.", "Words."),
    ],
    ids=["txt", "bare", "md", "html", "csv", "docx", "man", "url"],
)
def test_what_was_packed_is_read_as_what_it_is(
    name: str, data: bytes, title: str, text: str
) -> None:
    extracted = from_bytes(gzip.compress(data), "application/gzip", name)
    assert (extracted.title, extracted.text) == (title, text)


def test_a_file_of_several_members_is_read_whole_and_padding_is_not() -> None:
    data = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 512
    assert from_bytes(data, None, "a.txt.gz").text == "one two"


@pytest.mark.parametrize(
    "data",
    [gzip.compress(b"words " * 99, mtime=0)[:-30], b"\x1f\x8b" + b"\xff" * 99],
    ids=["cut off", "rubbish"],
)
def test_a_damaged_gzip_file_is_named(data: bytes) -> None:
    assert refused(data, "a.txt.gz") == (
        "a.txt.gz is a gzip file that is damaged; pack it again, or give the file in it."
    )


def test_an_archive_in_gzip_is_an_archive() -> None:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"), BytesIO())
    assert "is an archive" in refused(buffer.getvalue(), "a.tar.gz")
