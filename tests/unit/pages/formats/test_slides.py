"""Presentations: one heading for each slide, in the order in which they are shown."""

from __future__ import annotations

from io import BytesIO

import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pptx.presentation import Presentation
from pptx.util import Inches

from bot.core.errors import PageUnreadable
from bot.pages.formats.slides import read_slides
from tests.fakes.packages import R, package, relationships
from tests.unit.pages.formats.order import in_order, phrases

TITLE_AND_TEXT, TITLE_ONLY, BLANK = 1, 5, 6  # layouts of python-pptx's template


def saved(presentation: Presentation) -> bytes:
    buffer = BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def slide(presentation: Presentation, title: str, lines: list[str]) -> None:
    made = presentation.slides.add_slide(presentation.slide_layouts[TITLE_AND_TEXT])
    made.shapes.title.text = title
    made.placeholders[1].text = "\n".join(lines)


def test_a_presentation() -> None:
    presentation = pptx.Presentation()
    slide(presentation, "Travel", ["by rail", "by bus"])
    slide(presentation, "Rules", ["One sentence is no list."])
    presentation.slides[1].notes_slide.notes_text_frame.text = "Say it slowly."
    third = presentation.slides.add_slide(presentation.slide_layouts[TITLE_ONLY])
    third.shapes.title.text = "Prices"
    table = third.shapes.add_table(2, 2, 0, 0, Inches(1), Inches(1)).table
    for place, said in enumerate(["Item", "Price", "Bus | train", "3"]):
        table.cell(place // 2, place % 2).text = said
    reading = read_slides(saved(presentation), "a.pptx")
    assert reading.title == "Travel"
    assert reading.text == (
        "## Slide 1\n\n### Travel\n\n- by rail\n- by bus\n\n"
        "## Slide 2\n\n### Rules\n\nOne sentence is no list.\n\n#### Notes\n\nSay it slowly.\n\n"
        "## Slide 3\n\n### Prices\n\n| Item | Price |\n| --- | --- |\n| Bus \\| train | 3 |"
    )


def test_groups_boxes_and_levels() -> None:
    presentation = pptx.Presentation()
    made = presentation.slides.add_slide(presentation.slide_layouts[BLANK])
    group = made.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 1, 1).text_frame.text = "in a group"
    frame = made.shapes.add_textbox(0, 0, 1, 1).text_frame
    frame.text = "free"
    frame.add_paragraph().text = "text"
    slide(presentation, "Levels", ["one", "two", "three"])
    for level, line in enumerate(presentation.slides[1].placeholders[1].text_frame.paragraphs):
        line.level = level
    assert read_slides(saved(presentation), "a.pptx").text == (
        "## Slide 1\n\nin a group\n\nfree\n\ntext\n\n"
        "## Slide 2\n\n### Levels\n\n- one\n  - two\n    - three"
    )


@settings(max_examples=25)
@given(st.lists(st.tuples(phrases, st.lists(phrases, max_size=3)), min_size=1, max_size=4))
def test_every_word_stands_in_the_text_in_order(slides: list[tuple[str, list[str]]]) -> None:
    presentation = pptx.Presentation()
    for title, lines in slides:
        slide(presentation, title, lines)
    said = [text for title, lines in slides for text in (title, *lines)]
    text = read_slides(saved(presentation), "a.pptx").text
    assert in_order(said, text)
    assert text.count("## Slide ") == len(slides)


def made_by_hand(inside: str, **parts: str) -> bytes:
    return package(
        {
            "[Content_Types].xml": "<Types/>",
            "ppt/presentation.xml": f'<p xmlns:r="{R}"><sldIdLst><sldId id="256" r:id="a"/>'
            "</sldIdLst></p>",
            "ppt/_rels/presentation.xml.rels": relationships(a="slide slides/s.xml"),
            "ppt/slides/s.xml": f"<sld><cSld><spTree>{inside}</spTree></cSld></sld>",
            **parts,
        }
    )


def shape(inside: str, placeholder: str = "") -> str:
    return f"<sp><nvSpPr><nvPr>{placeholder}</nvPr></nvSpPr><txBody>{inside}</txBody></sp>"


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        (shape('<p><pPr><buAutoNum type="arabicPeriod" startAt="4"/></pPr><r><t>a</t></r></p>'
               '<p><pPr><buAutoNum type="arabicPeriod"/></pPr><r><t>b</t></r></p>'), "4. a\n5. b"),
        (shape('<p><pPr><buAutoNum type="alphaLcParenR"/></pPr><r><t>a</t></r></p>'), "- a) a"),
        (shape('<p><pPr><buChar char="•"/></pPr><r><t>a</t></r></p>'), "- a"),
        (shape("<p><r><t>a</t></r><br/><r><t>b</t></r></p>"), "a\nb"),
        (shape("<p><r><rPr><latin typeface='Courier'/></rPr><t>x = a[0]</t></r></p>"),
         "```\nx = a[0]\n```"),
        (shape("<p><r><t>12</t></r></p>", '<ph type="sldNum"/>') + shape("<p><r><t>a</t></r></p>"),
         "a"),
        (shape("<p><r><t>2024</t></r></p>", '<ph type="dt"/>') + shape("<p><r><t>a</t></r></p>"),
         "a"),
    ],
)  # fmt: skip
def test_what_a_shape_says(inside: str, shown: str) -> None:
    assert read_slides(made_by_hand(inside), "a.pptx").text == f"## Slide 1\n\n{shown}"


def test_the_texts_of_smart_art_are_read() -> None:
    frame = (
        f'<graphicFrame xmlns:r="{R}"><graphic><graphicData><relIds r:dm="d"/></graphicData>'
        "</graphic></graphicFrame>"
    )
    points = "".join(f"<pt><t><p><r><t>{said}</t></r></p></t></pt>" for said in ("plan", "do"))
    data = made_by_hand(
        frame,
        **{
            "ppt/slides/_rels/s.xml.rels": relationships(d="diagramData ../diagrams/d.xml"),
            "ppt/diagrams/d.xml": f"<dataModel><ptLst>{points}</ptLst></dataModel>",
        },
    )
    assert read_slides(data, "a.pptx").text == "## Slide 1\n\n- plan\n- do"


def test_a_presentation_that_is_too_long_says_which_slides_were_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.pages.page_markdown.MOST_CHARACTERS", 60)
    presentation = pptx.Presentation()
    for number in range(10):
        slide(presentation, f"Title {number}", ["some words", "and more words"])
    reading = read_slides(saved(presentation), "a.pptx")
    assert reading.text.endswith("\n\n## Slides 3 to 10 were not read")
    assert reading.kept == 0.2


def test_a_presentation_without_one_of_its_slides_is_damaged() -> None:
    data = made_by_hand("").replace(b"ppt/slides/s.xml", b"ppt/slides/x.xml")
    with pytest.raises(PageUnreadable, match=r"^a\.pptx is a PowerPoint presentation that is dam"):
        read_slides(data, "a.pptx")
