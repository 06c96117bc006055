"""What a reader loses is found by a second reading that shares none of its rules."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import docx
import pytest
from pptx import Presentation

from bot.pages.extract import from_bytes
from bot.pages.markup import parse_html
from bot.pages.page import Reading, compared
from bot.pages.second_reading import of_html, of_package


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
        package.writestr("ppt/notesSlides/notesSlide1.xml", "<notes><p>")
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
