"""Documents are read in the encoding they are in, whatever they claim."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.charset import declared_in, decode, decoded
from bot.pages.media import LOOK_AT, kind_of
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


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["Öl: 5 €\r\n", "a,b\r\n1,2\r\n" * 900 + "東京"])
def test_utf16_without_a_mark_is_read(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    assert decoded(data) == (text, False)
    assert kind_of(data[:LOOK_AT], None, "prices.txt") == "text"


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


SHORT = [
    ("cp932", "会議室,定員,内線\n富士,12,3021\n桜,6,3022\n"),
    ("cp932", "ナイラ,ボルショドアバウジ,ダラバ\nバクニン,217,9613\n"),
    ("euc_jp", "会議室,定員,内線\n富士,12,3021\n桜,6,3022\n"),
    ("gbk", "物料编号,名称,库存数量\nWL-3301,不锈钢螺栓,12500\n"),
    ("gbk", "实验室规章\n\n进入实验室必须佩戴护目镜。实验室的钥匙由周敏保管。\n"),
    ("big5", "部門,姓名,分機\n總務,陳美玲,2201\n會計,林志強,2202\n"),
    ("cp949", "부서,이름,내선\n총무,김민수,2201\n회계,이영희,2202\n"),
    ("cp1250", "Dział,Kierownik,Telefon\nKsięgowość,Łukasz Wróbel,11\nSprzedaż,Żaneta Gąska,12\n"),
    ("iso8859-2", "Dział,Kierownik\nKsięgowość,Łukasz Wróbel\nSprzedaż,Żaneta Gąska\n"),
    ("cp1250", "Oddělení,Vedoucí\nÚčtárna,Jiří Dvořák\nNákup,Šárka Říhová\n"),
    ("cp1251", "Отдел,Телефон\nБухгалтерия,4411\nСклад,4412\n"),
    ("koi8-r", "Отдел,Телефон\nБухгалтерия,4411\nСклад,4412\n"),
    ("cp1252", "La modalità standby a caldo è disabilitata"),
    ("cp1252", "Filter,Mesh\nF1,5 µm\nF2,12 ²\n"),
    ("cp1252", "§ 12 applies, at 3 £ and 25 °C."),
    ("cp1252", "Straße,Größe\nHauptstraße 5,klein\n"),
    ("cp1253", "Τμήμα,Τηλέφωνο\nΛογιστήριο,4411\nΑποθήκη,4412\n"),
    ("cp1254", "Bölüm,Yönetici\nMuhasebe,Işıl Çağlar\nSatış,Uğur Şahin\n"),
    ("cp1255", "עובד,מחלקה,טלפון\nדנה כהן,שיווק,4411\n"),
    ("cp1256", "القسم,الهاتف\nالمحاسبة,4411\nالمستودع,4412\n"),
    ("cp1257", "Skyrius,Vadovas\nBuhalterija,Živilė Šimkutė\nSandėlis,Ąžuolas Čepulis\n"),
    ("cp874", "แผนก,โทรศัพท์\nบัญชี,4411\nคลังสินค้า,4412\n"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text"), SHORT)
def test_a_few_words_without_a_claim_are_read_by_their_letters(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_guess_that_another_text_nearly_equals_is_marked() -> None:
    assert decoded("Łódź".encode("cp1250"))[1]
    for text, encoding in ((SENTENCES["shift_jis"], "shift_jis"), ("Zoë", "utf-8"), ("a", "ascii")):
        assert not decoded(text.encode(encoding))[1]
    assert not decoded("Kč 12".encode("cp1250"), "windows-1250")[1]


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "utf-8", "gbk", "big5", "utf-16", "latin1", "?"]),
)
def test_any_bytes_become_text(data: bytes, declared: str | None) -> None:
    decode(data, declared).encode("utf-8", "surrogatepass")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200))
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
