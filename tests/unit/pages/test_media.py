"""The kind of a document: by its bytes first, by its label second."""

from __future__ import annotations

import codecs
import contextlib
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.media import Kind, accepted, kind_of, media_type_of

HTML = b"\n <!-- hi -->\n<!DOCTYPE html><html><body>x</body></html>"


@pytest.mark.parametrize(
    ("start", "content_type", "name", "kind"),
    [
        (HTML, "text/html", "x", "html"),
        (HTML, "text/plain", "x", "html"),
        (HTML, "image/png", "x", "html"),
        (HTML, None, "notes.txt", "html"),
        (codecs.BOM_UTF8 + HTML, None, "x", "html"),
        (HTML.decode().encode("utf-16"), None, "x", "html"),
        (
            b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
            "text/xml",
            "x",
            "html",
        ),
        (b"<html>\x00\x01", "text/html", "x", "html"),
        (b"words", "text/html; charset=utf-8", "x", "html"),
        (b"words", " Text/HTML ", "x", "html"),
        (b"words", "text/plain", "x", "text"),
        (b"words", "text/plain", "https://a.example/README.md?raw=1", "markdown"),
        (b"words", "text/markdown", "x", "markdown"),
        (b"words", "text/plain", "https://a.example/x.json", "json"),
        (b"words", None, "guide.md", "markdown"),
        (b"words", None, r"C:\docs\Guide.MD", "markdown"),
        (b"words", None, "notes", "text"),
        (b"words", "application/octet-stream", "page.htm", "html"),
        (b"<p>A fragment.</p>", None, "notes", "html"),
        (b"<h1 align=center>Project</h1>", None, "README.md", "markdown"),
        (b"<h1 align=center>Project</h1>", "text/plain", "x", "text"),
        (b"a < b and b > c", None, "notes", "text"),
        (b"<pattern> is a placeholder", None, "notes", "text"),
        (b'{"a": 1}', "application/json", "x", "json"),
        (b'{"a": 1}', "application/vnd.api+json", "x", "json"),
        (b'{"a": 1}', None, "x", "json"),
        (b"[1, 2]", None, "x", "json"),
        (b"[draft] notes", None, "x", "text"),
        (b"{ curly words }", None, "x", "text"),
        (b"BM25 is a ranking function. MZ and ID3 are words too.", None, "x", "text"),
        (b"RIFF and PK and GIF8", "text/plain", "x", "text"),
        ("Größe 北京".encode(), None, "x", "text"),
        ("Größe 北京".encode("utf-16"), None, "x", "text"),
        (b"a stray \x01 control " + b"word " * 50, None, "x", "text"),
        (b"", "text/plain", "x", "text"),
        (b"%PDF-1.4\n", "text/html", "x", "pdf"),
        (b"\n%PDF-1.4\n\x00", None, "x", "pdf"),
        (b"\x00\x01 a preamble %PDF-1.4\n", "application/pdf", "x", "pdf"),
        (b"A file that begins with %PDF- is a PDF document.", None, "x", "text"),
        (b"words", "application/pdf", "x", "pdf"),
        (b"PK\x03\x04\x14\0", "text/plain", "a.txt", "package"),
        (b"\x1f\x8b\x08\0", None, "a.txt", "gzip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", None, "a.docx", "compound"),
        (b"words", None, "a.rst", "rst"),
        (b"words", "text/plain", "https://a.example/a.rst.txt", "rst"),
        (b"words", "text/csv", "x", "csv"),
        (b"a,b", "application/vnd.ms-excel", "a.csv", "csv"),
        (b"words", None, "a.docx", "text"),
        (b"words", "application/epub+zip", "x", "text"),
        (b".TH LS 1", None, "ls.1", "man"),
        (rb"{\rtf1 words}", None, "a.doc", "rtf"),
        (rb"\section{words}", "text/plain", "a.tex", "latex"),
        (b"<article/>", None, "a.dbk", "docbook"),
        (b"words", None, "release-1.2", "text"),
        (b"{}", None, "a.ipynb", "notebook"),
        (b"words", "video/mp2t", "a.ts", "code"),
        (b"words", "application/x-yaml", "x", "settings"),
        (b"words", "application/sql", "a.sql", "code"),
        (b"From: a@b", "message/rfc822", "x", "mail"),
        (b"* words", "application/vnd.lotus-organizer", "a.org", "org"),
    ],
)
def test_kinds_of_text(start: bytes, content_type: str | None, name: str, kind: str) -> None:
    assert kind_of(start, content_type, name) == kind


@pytest.mark.parametrize(
    ("start", "content_type", "what"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", None, "an image"),
        (b"7z\xbc\xaf\x27\x1c\0", None, "an archive"),
        (b"MZ\x90\0\x03", None, "a program"),
        (b"\0\0\0 ftypmp42", None, "a video"),
        (b"\0\0\0 ftypheic", "image/heic", "an image"),
        (bytes(range(256)), "text/html", "a binary file"),
        (b"text then \0 nothing", "text/plain", "a binary file"),
        (bytes(range(1, 41)).replace(b"", b"\0"), "text/plain", "a binary file"),
        (b"\xff\xd8\xff\xe0\0", None, "an image"),
        (b"words", "image/webp", "an image"),
        (b"words", "audio/mpeg", "a sound file"),
        (b"words", "application/javascript", "of the type application/javascript"),
        (b"words", "bad <type>\n", "of the type badtype"),
        (b"<rss><channel>", "application/atom+xml", "an XML document"),
    ],
)
def test_kinds_that_are_refused(start: bytes, content_type: str | None, what: str) -> None:
    with pytest.raises(PageUnreadable, match=f"^the file is {what}"):
        kind_of(start, content_type, "the file")


@given(st.binary(max_size=1500), st.none() | st.text(max_size=20), st.text(max_size=20))
def test_any_bytes_have_a_kind_or_are_refused(
    start: bytes, content_type: str | None, name: str
) -> None:
    with contextlib.suppress(PageUnreadable):
        assert kind_of(start, content_type, name) in get_args(Kind)


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("docs/a.rst.txt", "text/x-rst"),
        ("docs/A.DOCX", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("ls.1", "text/troff"),
        ("man3/open.3.gz", "application/gzip"),
        ("a.txt.gz", "application/gzip"),
        ("CHANGELOG.gz", "application/gzip"),
        ("README", "text/plain"),
        ("a.tar.gz", None),
        ("a.css", None),
        ("lib/libz.so.1", None),
        ("a.7z", None),
        ("a.png", None),
    ],
)
def test_files_of_folders_are_told_by_their_endings(path: str, media_type: str | None) -> None:
    assert media_type_of(path) == media_type


def test_a_file_that_only_ends_like_a_manual_page_is_named() -> None:
    with pytest.raises(PageUnreadable, match=r"^log\.1 has the extension of a manual page but"):
        kind_of(b"just a log", media_type_of("log.1"), "log.1")


def test_uploads_are_offered_by_ending_and_media_type() -> None:
    offered = accepted().split(",")
    assert {".docx", ".pdf", ".csv", ".gz", ".1", "text/markdown", "application/pdf"} <= {*offered}
    assert len(offered) == len(set(offered))
    assert all(each.startswith(".") or "/" in each for each in offered)
