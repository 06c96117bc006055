"""Documents are read in the encoding they are in, whatever they claim."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.charset import declared_in, decode
from tests.fakes.web import SENTENCES


def page(text: str, encoding: str, meta: str = "") -> bytes:
    head = f"<meta charset={meta}>" if meta else ""
    return f"<html><head>{head}</head><body><p>{text}</p></body></html>".encode(encoding)


@pytest.mark.parametrize("encoding", SENTENCES)
@pytest.mark.parametrize(
    "claim", ["true", "none", "utf-8", "iso-8859-1", "nonsense", "hex", "utf-7"]
)
def test_a_claim_is_checked_against_the_bytes(encoding: str, claim: str) -> None:
    declared = {"true": encoding, "none": None}.get(claim, claim)
    assert SENTENCES[encoding] in decode(page(SENTENCES[encoding], encoding), declared)


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("GB2312", "gb18030", "镕"),
        ("gb_2312-80", "gbk", "镕"),
        ("x-sjis", "shift_jis", "東京"),
        ("Windows-31J", "cp932", "東京①"),
        ("ks_c_5601-1987", "euc_kr", "서울"),
        ("big5", "big5", "臺北"),
        ("latin1", "cp1252", "“curly” – €5"),
        ("ISO-8859-1", "cp1252", "“curly” – €5"),
        ("koi8-r", "koi8_r", "Москва"),
        ("x-cp1251", "cp1251", "Москва"),
        ("UTF8", "utf-8", "Кёльн 北京"),
        ("iso-2022-jp", "iso2022_jp", "東京"),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label: str, codec: str, text: str) -> None:
    assert f"<p>{text}</p>" in decode(page(text, codec), label)


def test_a_byte_order_mark_is_believed_first() -> None:
    for mark, codec in [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"),
                        (codecs.BOM_UTF32_LE, "utf-32-le")]:  # fmt: skip
        assert decode(mark + "Köln".encode(codec), "iso-8859-1") == "Köln"


def test_the_document_outweighs_a_server_that_says_latin_1_to_everything() -> None:
    data = page(SENTENCES["gbk"], "gbk", meta="gbk")
    assert SENTENCES["gbk"] in decode(data, "iso-8859-1")


def test_an_xml_declaration_counts() -> None:
    data = '<?xml version="1.0" encoding="windows-1251"?><p>Да</p>'.encode("cp1251")
    assert "Да" in decode(data)


def test_a_few_broken_bytes_do_not_change_the_encoding() -> None:
    text = "Der Kölner Dom. " * 50
    data = text.encode() + b"\xff" + text.encode()
    assert decode(data, "utf-8") == f"{text}\ufffd{text}"


def test_two_characters_in_gbk_that_could_be_utf8_are_gbk_when_that_is_said() -> None:
    assert "联通" in decode(page("联通", "gbk"), "gbk")


def test_western_text_without_a_claim_is_western() -> None:
    for text in (SENTENCES["iso-8859-1"], "El niño comió en el jardín.", "Größe über alles"):
        assert text in decode(page(text, "cp1252"))


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "utf-8", "gbk", "big5", "utf-16", "latin1", "?"]),
)
def test_any_bytes_become_text(data: bytes, declared: str | None) -> None:
    decode(data, declared).encode("utf-8", "surrogatepass")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_utf8_is_read_as_it_is_whatever_is_claimed_of_single_bytes(text: str) -> None:
    data = text.encode()
    expected = text.removeprefix("\ufeff")
    for declared in (None, "utf-8", "iso-8859-1", "windows-1251"):
        if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and "\x1b" not in text:
            assert decode(data, declared) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;charset="GBK"; x=y', "GBK"),
        ("text/html; Charset = 'big5'", "big5"),
        ("text/html", None),
        ("", None),
    ],
)
def test_the_charset_of_a_header(header: str, expected: str | None) -> None:
    assert declared_in(header) == expected
