"""What a reader loses is found by a second reading that shares none of its rules."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import docx
import openpyxl  # type: ignore[import-untyped]
import pytest
from pptx import Presentation

from bot.pages.extract import from_bytes
from bot.pages.markup import parse_html
from bot.pages.page import Reading, compared
from bot.pages.second_reading import of_html, of_package
from tests.fakes import packages
from tests.fakes.pdf import Typed, pdf, typed


def word(*paragraphs: str) -> bytes:
    document, file = docx.Document(), BytesIO()
    for each in paragraphs:
        document.add_paragraph(each)
    document.save(file)
    return file.getvalue()


def test_words_that_a_reading_lacks_are_counted() -> None:
    reading = Reading("Rates", "The rate is 39 euros.", omitted={"comment": 1})
    second = [("lost word", "The rate is 39 euros, not 49 euros."), ("lost note word", "Per year.")]
    checked = compared(reading, second, by_rule="not")
    assert checked.omitted == {"comment": 1, "lost word": 2, "lost note word": 2}
    assert checked.kept == pytest.approx(1 - 4 / 10)


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("太陽が 照る", "太陽が\n照る"),
        ("سياسة", "ةسايس"),
        ("ﬁne Straße", "fine STRASSE"),
        ("a", ""),
    ],
)
def test_a_word_written_in_another_way_is_not_lost(text: str, second: str) -> None:
    checked = compared(Reading("", text), [("lost word", second)])
    assert (checked.kept, checked.omitted) == (1.0, {})


def test_a_reader_of_packages_that_loses_text_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from bot.pages.formats import word as reader

    data = word("The pump is checked in May.", "The valve is checked in June.")
    assert from_bytes(data, None, "a.docx").kept == 1.0
    monkeypatch.setattr(reader, "read_word", lambda *_: Reading("", "The pump is checked in May."))
    checked = from_bytes(data, None, "a.docx")
    assert (checked.kept, checked.omitted) == (0.5, {"lost word": 6})


def test_a_part_that_only_the_second_reading_opens_may_be_damaged() -> None:
    file = BytesIO(word("The pump is checked in May."))
    with ZipFile(file, "a") as package:
        package.writestr("word/footnotes.xml", "<notes><p>")
    reading = from_bytes(file.getvalue(), None, "a.docx")
    assert reading.text == "The pump is checked in May."
    assert reading.omitted == {"damaged part": 1}


def test_slides_and_notes_are_read_apart() -> None:
    presentation, file = Presentation(), BytesIO()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Freight"
    slide.notes_slide.notes_text_frame.text = "Say that rates rise."
    presentation.save(file)
    found = dict(of_package(file.getvalue(), "a.pptx"))
    assert found["lost word"].split() == ["Freight"]
    assert found["lost note word"].split() == ["Say", "that", "rates", "rise."]


def test_what_surrounds_the_content_of_a_page_does_not_count() -> None:
    page = "<nav>Home</nav><main><p>The <b>rate</b>. <a href='x'>More</a><aside>Ad</aside></main>"
    visible, around, links = of_html(parse_html(page))
    assert visible.split() == ["The", "rate", ".", "More", "Ad"]
    assert (around.split(), links.split()) == (["Ad"], ["More"])


def test_a_page_that_loses_a_paragraph_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from bot.pages import markup

    html = f"<main><p>{'The pump is checked. ' * 30}</p><p>{'A valve leaks. ' * 30}</p></main>"
    assert from_bytes(html.encode(), "text/html", "x").kept == 1.0
    monkeypatch.setattr(markup, "_text", lambda *_: ("The pump is checked. " * 30, 1.0))
    checked = from_bytes(html.encode(), "text/html", "x")
    assert checked.omitted == {"lost word": 90}
    assert checked.kept == pytest.approx(120 / 210)


def test_letters_that_nobody_can_read_are_counted() -> None:
    assert from_bytes("Caf\ufffd in the park".encode(), None, "a.txt").omitted == {
        "damaged letter": 1
    }


def words_of(data: bytes, name: str) -> list[str]:
    return " ".join(text for _, text in of_package(data, name)).split()


ROWS = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>Rate</t></is></c><c r="B1"><v>39.5</v></c></row>'
    '<row r="2" hidden="1"><c r="A2" t="inlineStr"><is><t>Draft</t></is></c></row>'
    '<row r="3"><c r="A3" t="str"><f>X()</f><v>Fee</v></c><c r="B3" t="b"><v>1</v></c></row>'
)


def test_texts_and_plain_numbers_in_visible_rows_of_a_sheet_count() -> None:
    assert words_of(packages.workbook(ROWS), "a.xlsx") == ["Rate", "39.5", "Fee"]


def test_a_number_that_a_reader_of_sheets_loses_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bot.pages.formats import sheets

    assert from_bytes(packages.workbook(ROWS), None, "a.xlsx").omitted == {"hidden row": 1}
    monkeypatch.setattr(sheets, "_plain", lambda value: "")
    checked = from_bytes(packages.workbook(ROWS), None, "a.xlsx")
    assert checked.omitted == {"hidden row": 1, "lost word": 2}
    assert checked.kept == pytest.approx(1 - 2 / 4)


def test_a_sheet_that_is_hidden_is_not_lost() -> None:
    book, file = openpyxl.Workbook(), BytesIO()
    book.active.append(["Rate", 39])
    hidden = book.create_sheet("Notes")
    hidden.append(["Draft", 49])
    hidden.sheet_state = "veryHidden"
    book.save(file)
    reading = from_bytes(file.getvalue(), None, "a.xlsx")
    assert (reading.kept, reading.omitted) == (1.0, {"hidden sheet": 1})
    assert words_of(file.getvalue(), "a.xlsx") == ["Rate", "39"]


def test_a_slide_that_is_hidden_is_not_lost_and_others_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bot.pages.formats.slides import _Slide

    presentation, file = Presentation(), BytesIO()
    for title in ("Freight", "Secret"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = title
        slide.notes_slide.notes_text_frame.text = f"Say {len(title)}."
    slide._element.set("show", "0")
    presentation.save(file)
    reading = from_bytes(file.getvalue(), None, "a.pptx")
    assert (reading.kept, reading.omitted) == (1.0, {"hidden slide": 1})
    monkeypatch.setattr(_Slide, "_notes", lambda _, below: None)
    checked = from_bytes(file.getvalue(), None, "a.pptx")
    assert checked.omitted == {"hidden slide": 1, "lost note word": 2}


def test_each_line_of_page_headers_counts_once_and_page_numbers_do_not() -> None:
    number = "<w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:t>Page 3</w:t></w:r>"
    running = packages.paragraph("Acme GmbH") + packages.paragraph(number)
    data = packages.word(packages.paragraph("The rate."), header=running, footer=running)
    assert words_of(data, "a.docx") == ["The", "rate.", "Acme", "GmbH"]


def test_what_is_chosen_in_a_form_field_of_word_counts() -> None:
    entries = '<w:result w:val="1"/><w:listEntry w:val="Rail"/><w:listEntry w:val="Road"/>'
    field = f"<w:r><w:fldChar><w:ffData><w:ddList>{entries}</w:ddList></w:ffData></w:fldChar></w:r>"
    data = packages.word(packages.paragraph(field))
    assert words_of(data, "a.docx") == ["Road"]
    assert from_bytes(data, None, "a.docx").kept == 1.0


def test_a_table_of_contents_is_left_out_by_rule() -> None:
    line = packages.run("Rates 3") + "<w:r><w:instrText>PAGEREF _Toc1</w:instrText></w:r>"
    data = packages.word(packages.paragraph(line) + packages.paragraph("Rates"))
    assert words_of(data, "a.docx") == ["Rates"]
    contents = "<text:table-of-content><text:p>Rates 3</text:p></text:table-of-content>"
    data = packages.open_document("text", f"{contents}<text:p>Rates</text:p>")
    assert words_of(data, "a.odt") == ["Rates"]


def test_hidden_sheets_and_rows_of_opendocument_are_not_lost() -> None:
    row = "<table:table-row{}><table:table-cell><text:p>{}</text:p></table:table-cell>{}".format
    end = "</table:table-row>"
    rows = row("", "Rate", end) + row(' table:visibility="collapse"', "Draft", end)
    style = (
        '<style:style style:name="ta2" style:family="table"><style:table-properties'
        ' table:display="false"/></style:style>'
    )
    body = f'<table:table table:name="A">{rows}</table:table>'
    body += (
        f'<table:table table:name="B" table:style-name="ta2">{row("", "Old", end)}</table:table>'
    )
    data = packages.open_document("spreadsheet", body, style)
    reading = from_bytes(data, None, "a.ods")
    assert (reading.kept, reading.omitted) == (1.0, {"hidden row": 1, "hidden sheet": 1})
    assert words_of(data, "a.ods") == ["Rate"]


def test_a_chapter_that_is_lost_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from bot.pages.formats import epub

    page = "<html><body><nav>Contents</nav><p>Now it is {} euros.</p></body></html>".format
    data = packages.book({"a.xhtml": page(39), "b.xhtml": page(49)})
    assert from_bytes(data, None, "a.epub").kept == 1.0
    every = epub._chapters
    monkeypatch.setattr(epub, "_chapters", lambda *given: [*every(*given)][:1])
    assert from_bytes(data, None, "a.epub").omitted == {"lost word": 5}


def test_one_of_two_lines_that_say_the_same_in_a_pdf_file_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bot.pages.formats import pdf as reader

    data = pdf([typed(["The pump is checked.", "", "A valve leaks.", "", "The pump is checked."])])
    assert from_bytes(data, None, "a.pdf").kept == 1.0
    monkeypatch.setattr(reader, "set_text", lambda _: "The pump is checked.\n\nA valve leaks.")
    assert from_bytes(data, None, "a.pdf").omitted == {"lost word": 4}


def test_a_value_of_a_form_that_is_lost_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from bot.pages.formats import pdf as reader

    data = pdf([[Typed(72, 700, "Laptop model:")]], fields=[(175, 700, "ThinkPad")])
    assert from_bytes(data, None, "a.pdf").kept == 1.0
    monkeypatch.setattr(reader, "with_annotations", lambda lines, found: lines)
    assert from_bytes(data, None, "a.pdf").omitted == {"lost word": 1}


def test_a_word_divided_at_its_hyphen_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from bot.pages.formats import pdf as reader

    data = pdf([typed(["The rate is for nonsingleton rows."])])
    monkeypatch.setattr(reader, "set_text", lambda _: "The rate is for non-singleton rows.")
    assert from_bytes(data, None, "a.pdf").omitted == {}
