"""State that is in the markup is text: a table of kinds by format.

A tick box is ☑ or ☐ at its text, struck-out text is in tildes, what is hidden is left out and
counted, and what only the markup says (an address, a picture's words, a chart) can be found.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO

import openpyxl  # type: ignore[import-untyped]
import pptx
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock  # type: ignore[import-untyped]
from openpyxl.cell.text import InlineFont  # type: ignore[import-untyped]
from openpyxl.chart import BarChart  # type: ignore[import-untyped]
from openpyxl.comments import Comment  # type: ignore[import-untyped]
from openpyxl.styles import Font  # type: ignore[import-untyped]
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from bot.pages.extract import from_bytes
from bot.pages.passages import split
from tests.fakes.packages import (
    RELATIONSHIPS,
    R,
    W,
    book,
    open_document,
    package,
    paragraph,
    relationships,
    run,
    word,
)
from tests.fakes.pdf import Typed, pdf

W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
SHOWN, UNSHOWN = "Doors closed", "Sprinkler tested"


def html(body: str, head: str = "") -> bytes:
    return (
        f"<html><head><title>T</title>{head}</head><body><main>{body}</main></body></html>".encode()
    )


def epub(body: str) -> bytes:
    return book({"a.xhtml": f"<html><body>{body}</body></html>"})


def item(box: str, words: str) -> str:
    return paragraph(f"{box}{run(f' {words}')}")


def control(on: int) -> str:
    return (
        f'<w:sdt><w:sdtPr><w14:checkbox {W14}><w14:checked w14:val="{on}"/></w14:checkbox>'
        "</w:sdtPr>"
        f"<w:sdtContent>{run('☒' if on else '☐')}</w:sdtContent></w:sdt>"
    )


def field(inside: str) -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{inside}</w:checkBox>'
        "</w:ffData>"
        "</w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>"
    )


def drop_down(inside: str) -> str:
    entries = "".join(f'<w:listEntry w:val="{each}"/>' for each in ("early", "late"))
    return field("").replace("<w:checkBox></w:checkBox>", f"<w:ddList>{inside}{entries}</w:ddList>")


def sign(char: str, font: str = "Wingdings") -> str:
    return f'<w:r><w:sym w:font="{font}" w:char="{char}"/></w:r>'


def in_font(text: str, symbol: str = "") -> str:
    inside = symbol.removeprefix("<w:r>").removesuffix("</w:r>") or f"<w:t>{text}</w:t>"
    return f'<w:r><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr>{inside}</w:r>'


def in_word(on: str, off: str) -> bytes:
    return word(item(on, SHOWN) + item(off, UNSHOWN))


def cell_of_control(on: int) -> str:
    inside = f"<w:tc>{paragraph('☒' if on else '☐')}</w:tc>"
    return control(on).replace(run("☒" if on else "☐"), inside)


def row(box: str, words: str) -> str:
    return f"<w:tr>{box}<w:tc>{paragraph(words)}</w:tc></w:tr>"


def slides(made: pptx.presentation.Presentation) -> bytes:
    buffer = BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def slide_of(*runs: tuple[str, str, str]) -> bytes:
    """A slide with a paragraph of runs: attributes, inside of their properties, and text."""
    made = pptx.Presentation()
    frame = made.slides.add_slide(made.slide_layouts[6]).shapes.add_textbox(0, 0, 1, 1).text_frame
    for attributes, inside, words in runs:
        one = frame.paragraphs[0].add_run()
        one.text = words
        properties = one._r.get_or_add_rPr()
        for name, value in (each.split("=") for each in attributes.split()):
            properties.set(name, value)
        if inside:
            one.font.name = inside
    return slides(made)


def workbook(rows: list[list[object]], fonts: Mapping[str, str] | None = None) -> bytes:
    """A workbook of one sheet; cells have the font of a name, or struck out ("strike")."""
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for place, name in (fonts or {}).items():
        made.active[place].font = Font(strike=True) if name == "strike" else Font(name)
    buffer = BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def workbook_of_boxes() -> bytes:
    """A workbook with cells of Excel's tick boxes, which openpyxl does not write."""
    made = workbook([[True, SHOWN], [False, UNSHOWN]], {"A1": "Arial", "A2": "Arial"})
    complement = (
        '<extLst><ext uri="{C7286773-470A-42A8-94C5-96B5CB345126}"><xfpb:xfComplement xmlns:xfpb='
        '"http://schemas.microsoft.com/office/spreadsheetml/2022/featurepropertybag" i="0"/></ext>'
        "</extLst></xf>"
    )
    with zipfile.ZipFile(BytesIO(made)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    head, _, last = parts["xl/styles.xml"].decode().partition("</cellXfs>")
    boxed = f"{head.removesuffix('/>')}>{complement}</cellXfs>{last}"
    parts["xl/styles.xml"] = boxed.encode()
    return package(parts)


FORM = "urn:oasis:names:tc:opendocument:xmlns:form:1.0"
LOEXT = "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"
FIELD = "urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0"


def odt_form(state: str, label: str, number: int) -> str:
    return (
        f'<form:checkbox xmlns:form="{FORM}" form:id="c{number}" form:label="{label}"'
        f' form:current-state="{state}"/>'
    )


def odt_mark(on: str) -> str:
    return (
        f'<field:fieldmark xmlns:field="{FIELD}"'
        ' field:type="vnd.oasis.opendocument.field.FORMCHECKBOX">'
        f'<field:param field:name="Checkbox_Checked" field:value="{on}"/></field:fieldmark>'
    )


def odt_control(on: str, glyph: str) -> str:
    return (
        f'<loext:content-control xmlns:loext="{LOEXT}" loext:checkbox="true" loext:checked="{on}">'
        f"{glyph}</loext:content-control>"
    )


P = "<text:p>{}</text:p>".format
CONTROL = '<draw:control draw:control="{}"/>'.format

BOXES = {
    "word content control": ("a.docx", in_word(control(1), control(0))),
    "word content control of a cell": (
        "a.docx",
        word(f"<w:tbl>{row(cell_of_control(1), SHOWN)}{row(cell_of_control(0), UNSHOWN)}</w:tbl>"),
    ),
    "word form field": ("a.docx", in_word(field("<w:checked/>"), field("<w:default w:val='0'/>"))),
    "word form field by default": (
        "a.docx",
        in_word(
            field("<w:default w:val='1'/>"), field("<w:default w:val='1'/><w:checked w:val='0'/>")
        ),
    ),
    "word symbol": ("a.docx", in_word(sign("F0FE"), sign("F0A8"))),
    "word symbol, crossed": ("a.docx", in_word(sign("F0FD"), sign("F06F"))),
    "word symbol without F0": (
        "a.docx",
        in_word(sign("0052", "Wingdings 2"), sign("00A3", "Wingdings 2")),
    ),
    "word symbol in its font": (
        "a.docx",
        in_word(in_font("", symbol=sign("F0FE")), in_font("", symbol=sign("F0A8"))),
    ),
    "word font": ("a.docx", in_word(in_font("\uf0fe"), in_font("¨"))),
    "powerpoint font": (
        "a.pptx",
        slide_of(
            ("", "Wingdings", "þ"),
            ("", "", f" {SHOWN}. "),
            ("", "Wingdings", "o"),
            ("", "", f" {UNSHOWN}"),
        ),
    ),
    "excel": ("a.xlsx", workbook_of_boxes()),
    "excel font": (
        "a.xlsx",
        workbook([["þ", SHOWN, "a"], ["o", UNSHOWN, "b"]], {"A1": "Wingdings", "A2": "Wingdings"}),
    ),
    "html input": (
        "a.html",
        html(f"<p><input type=checkbox checked> {SHOWN}</p><p><input type=checkbox> {UNSHOWN}"),
    ),
    "html label around": (
        "a.html",
        html(
            f"<label>{SHOWN} <input type=checkbox checked></label><label><input"
            f" type=checkbox>{UNSHOWN}</label>"
        ),
    ),
    "html label for": (
        "a.html",
        html(
            f"<label for=a>{SHOWN}</label><input type=checkbox id=a checked><br>"
            f"<label for=b>{UNSHOWN}</label><input type=checkbox id=b>"
        ),
    ),
    "html radio": (
        "a.html",
        html(f"<p><input type=radio checked> {SHOWN}<p><input type=radio> {UNSHOWN}"),
    ),
    "html boxes apart": (
        "a.html",
        html(
            f"<div><div><input type=checkbox checked></div><div>{SHOWN}</div></div>"
            f"<div><div><input type=checkbox></div><div>{UNSHOWN}</div></div>"
        ),
    ),
    "html labels before": (
        "a.html",
        html(f"<p>{SHOWN} <input type=checkbox checked><br>{UNSHOWN}: <input type=checkbox></p>"),
    ),
    "html labels before, apart": (
        "a.html",
        html(
            f"<div><label>{SHOWN}</label><input type=checkbox checked><label>{UNSHOWN}</label>"
            "<input type=checkbox></div>"
        ),
    ),
    "html cell": (
        "a.html",
        html(
            f"<table><tr><th>A<th>B<tr><td>{SHOWN} <input type=checkbox checked><td>x"
            f"<tr><td><input type=checkbox> {UNSHOWN}<td>y</table>"
        ),
    ),
    "html role": (
        "a.html",
        html(
            f"<div role=checkbox aria-checked=true>{SHOWN}</div>"
            f"<p><span role=checkbox aria-checked=false></span><b>{UNSHOWN}</b></p>"
        ),
    ),
    "gitlab": (
        "a.html",
        html(
            "<ul class=task-list><li class=task-list-item><task-button></task-button><input"
            " type=checkbox"
            f" class=task-list-item-checkbox disabled checked> {SHOWN}</li><li"
            " class=task-list-item>"
            f"<input type=checkbox class=task-list-item-checkbox disabled> {UNSHOWN}</li></ul>"
        ),
    ),
    "confluence": (
        "a.html",
        html(
            f'<ul class="inline-task-list"><li class="checked" data-inline-task-id="1">'
            f"<span>{SHOWN}</span>"
            f'</li><li data-inline-task-id="2"><span>{UNSHOWN}</span></li></ul>'
        ),
    ),
    "confluence storage": (
        "a.html",
        html(
            "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete"
            "</ac:task-status>"
            f"<ac:task-body>{SHOWN}</ac:task-body></ac:task><ac:task><ac:task-id>2</ac:task-id>"
            f"<ac:task-status>incomplete</ac:task-status><ac:task-body>{UNSHOWN}"
            "</ac:task-body></ac:task>"
            "</ac:task-list>"
        ),
    ),
    "notion": (
        "a.html",
        html(
            '<ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span class='
            f'"to-do-children-checked">{SHOWN}</span></li></ul><ul class="to-do-list"><li>'
            "<div class="
            f'"checkbox checkbox-off"></div> <span'
            f' class="to-do-children-unchecked">{UNSHOWN}</span></li></ul>',
            "<style>.to-do-children-checked {text-decoration: line-through}</style>",
        ),
    ),
    "tiptap": (
        "a.html",
        html(
            f"<ul><li data-checked=true>{SHOWN}</li><li data-checked=false><p>{UNSHOWN}</p>"
            "</li></ul>"
        ),
    ),
    "epub": (
        "a.epub",
        epub(
            f"<p><input type='checkbox' checked=''/> {SHOWN}</p>"
            f"<p><input type='checkbox'/>{UNSHOWN}</p>"
        ),
    ),
    "markdown": ("a.md", f"- [x] {SHOWN}\n- [ ] {UNSHOWN}".encode()),
    "notebook": (
        "a.ipynb",
        json.dumps(
            {"cells": [{"cell_type": "markdown", "source": f"- [x] {SHOWN}\n- [ ] {UNSHOWN}"}]}
        ).encode(),
    ),
    "pdf form": (
        "a.pdf",
        pdf(
            [[Typed(100, 700, SHOWN), Typed(100, 660, UNSHOWN)]],
            boxes=((80, 698, True), (80, 658, False)),
        ),
    ),
    "opendocument content control": (
        "a.odt",
        open_document(
            "text",
            P(odt_control("true", "☒") + f" {SHOWN}")
            + P(odt_control("false", "☐") + f" {UNSHOWN}"),
        ),
    ),
    "opendocument form field": (
        "a.odt",
        open_document(
            "text", P(f"{odt_mark('true')} {SHOWN}") + P(f"{odt_mark('false')} {UNSHOWN}")
        ),
    ),
    "opendocument form": (
        "a.odt",
        open_document(
            "text",
            f"<office:forms>{odt_form('checked', SHOWN, 1)}{odt_form('unchecked', UNSHOWN, 2)}"
            f"</office:forms>{P(CONTROL('c1'))}{P(CONTROL('c2'))}",
        ),
    ),
}


@pytest.mark.parametrize("kind", BOXES)
def test_a_box_is_at_its_text_in_one_sentence_and_passage(kind: str) -> None:
    name, data = BOXES[kind]
    text = from_bytes(data, None, name).text
    lines = [" ".join(line.strip("-| ").replace("|", " ").split()) for line in text.splitlines()]
    assert sum(f"☑ {SHOWN}" in line for line in lines) == 1, text
    assert sum(f"☐ {UNSHOWN}" in line for line in lines) == 1, text
    assert text.count("☑") == text.count("☐") == 1
    assert "☒" not in text
    for passage in split(text):
        assert ("☐" in passage.text) == (UNSHOWN in passage.text)
        assert ("☑" in passage.text) == (SHOWN in passage.text)


def struck_run(properties: str) -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>49 euros</w:t></w:r>"


GONE = '<w:style w:styleId="Gone"><w:name w:val="Gone"/><w:rPr><w:strike/></w:rPr></w:style>'


def fee(struck: str) -> bytes:
    return word(
        paragraph(f"{run('It is ')}{struck}{run(' 39 euros.')}"),
        styles=GONE
        + '<w:style w:styleId="Past"><w:name w:val="Past"/><w:basedOn w:val="Gone"/></w:style>',
    )


LINE = "text-decoration: line-through"
ODT_STRUCK = (
    '<style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/>'
    '</style:style><style:style style:name="T" style:parent-style-name="S"/>'
)
STRUCK = {
    "word": ("a.docx", fee(struck_run("<w:strike/>"))),
    "word twice": ("a.docx", fee(struck_run("<w:dstrike/>"))),
    "word by style": ("a.docx", fee(struck_run('<w:rStyle w:val="Past"/>'))),
    "word in two runs": (
        "a.docx",
        fee(
            struck_run("<w:strike/>").replace(" euros", "")
            + struck_run("<w:strike/><w:b/>").replace("49", "")
        ),
    ),
    "powerpoint": (
        "a.pptx",
        slide_of(("", "", "It is "), ("strike=sngStrike", "", "49 euros"), ("", "", " 39 euros.")),
    ),
    "html s": ("a.html", html("<p>It is <s>49 euros</s> 39 euros.</p>")),
    "html del": ("a.html", html("<p>It is <del>49 <b>euros</b></del> 39 euros.</p>")),
    "html strike": ("a.html", html("<p>It is <strike>49 euros</strike> 39 euros.</p>")),
    "html style": ("a.html", html(f"<p>It is <span style='{LINE}'>49 euros</span> 39 euros.</p>")),
    "html class": (
        "a.html",
        html(
            "<p>It is <span class='x gone'>49 euros</span> 39 euros.</p>",
            f"<style>p{{}}.gone{{{LINE}}}</style>",
        ),
    ),
    "epub": ("a.epub", epub("<p>It is <del>49 euros</del> 39 euros.</p>")),
    "markdown": ("a.md", b"It is ~~49 euros~~ 39 euros."),
    "markdown with html": ("a.md", b"It is <del>49 euros</del> 39 euros."),
    "opendocument": (
        "a.odt",
        open_document(
            "text",
            P('It is <text:span text:style-name="S">49 euros</text:span> 39 euros.'),
            ODT_STRUCK,
        ),
    ),
    "opendocument by style": (
        "a.odt",
        open_document(
            "text",
            P('It is <text:span text:style-name="T">49 euros</text:span> 39 euros.'),
            ODT_STRUCK,
        ),
    ),
}


RICH = CellRichText("It is ", TextBlock(InlineFont(strike=True), "49 euros"), " 39 euros.")
STRUCK["excel run"] = ("a.xlsx", workbook([["Fee", "Text"], ["x", RICH]]))


def test_a_struck_cell_and_row_of_a_sheet() -> None:
    rows: list[list[object]] = [["Item", "Fee"], ["Sauna", 49], ["Towel", 2]]
    data = workbook(rows, {"B2": "strike", "A3": "strike", "B3": "strike"})
    text = from_bytes(data, None, "a.xlsx").text
    assert text.endswith("| Sauna | ~~49~~ |\n| ~~Towel~~ | ~~2~~ |")
    assert [passage.text for passage in split(text)][-1].endswith("| Sauna | ~~49~~ |")


@pytest.mark.parametrize("kind", STRUCK)
def test_struck_out_words_are_in_tildes(kind: str) -> None:
    name, data = STRUCK[kind]
    assert "It is ~~49 euros~~ 39 euros." in from_bytes(data, None, name).text


WHOLLY_STRUCK = {
    "word paragraph": (
        "a.docx",
        word(
            paragraph("One.")
            + paragraph("<w:r><w:rPr><w:strike/></w:rPr><w:t>Gone is it. All.</w:t></w:r>")
            + paragraph("Two."),
        ),
    ),
    "word paragraph by style": (
        "a.docx",
        word(
            paragraph("One.")
            + paragraph("Gone is it.", '<w:pStyle w:val="Gone"/>')
            + paragraph("Two."),
            styles=GONE,
        ),
    ),
    "html paragraph": (
        "a.html",
        html(f"<p>One.</p><p style='{LINE}'>Gone is it. All.</p><p>Two.</p>"),
    ),
    "html box": (
        "a.html",
        html(f"<p>One.</p><div style='{LINE}'><p>Gone.</p><p>Is it.</p></div><p>Two.</p>"),
    ),
    "html item": (
        "a.html",
        html("<ul><li>One.</li><li><del>Gone is it.</del></li><li>Two.</li></ul>"),
    ),
    "html code": ("a.html", html("<p>One.</p><p><s><code>gone()</code></s></p><p>Two.</p>")),
    "markdown": ("a.md", b"One.\n\n~~Gone is it. All.~~\n\nTwo."),
    "opendocument": (
        "a.odt",
        open_document(
            "text",
            P("One.") + '<text:p text:style-name="S">Gone is it.</text:p>' + P("Two."),
            ODT_STRUCK,
        ),
    ),
}


@pytest.mark.parametrize("kind", WHOLLY_STRUCK)
def test_what_is_struck_as_a_whole_is_no_evidence(kind: str) -> None:
    name, data = WHOLLY_STRUCK[kind]
    text = from_bytes(data, None, name).text
    assert "gone" in text.casefold()
    shown = " ".join(passage.text for passage in split(text))
    assert "gone" not in shown.casefold()
    assert "One." in shown
    assert "Two." in shown


def hidden_slides() -> bytes:
    made = pptx.Presentation()
    for title in ("Plan", "Secret"):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = title
    slide._element.set("show", "0")
    made.slides[0].shapes.add_textbox(0, 0, 1, 1).text_frame.text = "Secret too"
    made.slides[0].shapes[-1]._element.nvSpPr.cNvPr.set("hidden", "1")
    return slides(made)


def sheets() -> bytes:
    made = openpyxl.Workbook()
    made.active.append(["Plan", "x"])
    made.active["A1"].comment = Comment("Secret", "Ada")
    made.create_sheet("Secret").append(["Secret"])
    made["Secret"].sheet_state = "hidden"
    buffer = BytesIO()
    made.save(buffer)
    return buffer.getvalue()


ODS = open_document(
    "spreadsheet",
    '<table:table table:name="A"><table:table-column/><table:table-column'
    ' table:visibility="collapse"/>'
    + "".join(
        f"<table:table-row{visibility}>"
        + "".join(
            f"<table:table-cell>{P(each)}</table:table-cell>" for each in ("Plan", "Secret", "x")
        )
        + "</table:table-row>"
        for visibility in ("", ' table:visibility="filter"', ' table:visibility="collapse"')
    )
    + '</table:table><table:table table:name="Secret" table:style-name="H"><table:table-row>'
    f"<table:table-cell>{P('Secret')}</table:table-cell></table:table-row></table:table>",
    '<style:style style:name="H"><style:table-properties table:display="false"/></style:style>',
)
HIDDEN = {
    "word": (
        "a.docx",
        word(
            paragraph(
                run("Plan")
                + "<w:r><w:rPr><w:vanish/></w:rPr><w:t>Secret</w:t></w:r>"
                + f"<w:del>{run('Secret').replace('w:t', 'w:delText')}</w:del>"
            ),
            comments=f"<w:comment>{paragraph('Secret')}</w:comment>",
        ),
        {"hidden text": 1, "deletion": 1, "comment": 1},
    ),
    "excel": ("a.xlsx", sheets(), {"hidden sheet": 1, "comment": 1}),
    "epub": ("a.epub", epub("<p>Plan of it</p><p hidden=''>Secret</p>"), {"hidden text": 1}),
    "powerpoint": ("a.pptx", hidden_slides(), {"hidden slide": 1, "hidden text": 1}),
    "html": (
        "a.html",
        html(
            f"<p>{'Plan ' * 5}</p><p hidden>Secret</p><p style='display: none'>Secret</p>"
            "<!-- Secret -->"
        ),
        {"hidden text": 2, "comment": 1},
    ),
    "markdown": (
        "a.md",
        b"Plan <!-- Secret --> %% Secret %%\n\n%%\nSecret\n\nSecret\n%%\n",
        {"comment": 3},
    ),
    "mdx": ("a.mdx", b"Plan\n\n{/* Secret\n*/}", {"comment": 1}),
    "opendocument": (
        "a.odt",
        open_document(
            "text",
            P(
                "Plan<office:annotation><text:p>Secret</text:p></office:annotation><text:span"
                ' text:style-name="H">Secret</text:span>'
            ),
            '<style:style style:name="H"><style:text-properties text:display="none"/>'
            "</style:style>",
        ),
        {"comment": 1, "hidden text": 1},
    ),
    "opendocument sheet": ("a.ods", ODS, {"hidden row": 2, "hidden column": 1, "hidden sheet": 1}),
    "opendocument slides": (
        "a.odp",
        open_document(
            "presentation",
            "<draw:page><draw:frame><draw:text-box><text:p>Plan</text:p></draw:text-box>"
            "</draw:frame>"
            '</draw:page><draw:page draw:style-name="H"><draw:frame><draw:text-box>'
            "<text:p>Secret</text:p>"
            "</draw:text-box></draw:frame></draw:page>",
            '<style:style style:name="H"><style:drawing-page-properties'
            ' presentation:visibility="hidden"/></style:style>',
        ),
        {"hidden slide": 1},
    ),
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_what_is_hidden_is_left_out_and_counted(kind: str) -> None:
    name, data, omitted = HIDDEN[kind]
    reading = from_bytes(data, None, name)
    assert "Secret" not in reading.text
    assert "Plan" in reading.text
    assert reading.omitted == omitted


CHART = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    ' xmlns:a="x"><c:chart>'
    "<c:title><c:tx><c:rich><a:p><a:r><a:t>Visitors</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    "<c:plotArea><c:barChart>{}</c:barChart></c:plotArea></c:chart></c:chartSpace>"
)


def series(name: str, values: tuple[float, ...]) -> str:
    def points(kind: str, words: tuple[object, ...]) -> str:
        inside = "".join(
            f'<c:pt idx="{at}"><c:v>{each}</c:v></c:pt>'
            for at, each in enumerate(words)
            if each != ""
        )
        return f"<c:{kind}><c:strRef><c:strCache>{inside}</c:strCache></c:strRef></c:{kind}>"

    names = points("tx", (name,)) + points("cat", ("May", "June"))
    return f"<c:ser>{names}{points('val', values)}</c:ser>"


def word_with(body: str, related: str, **parts: str) -> bytes:
    return package(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{R}"><w:body>{body}</w:body>'
            "</w:document>",
            "word/_rels/document.xml.rels": related,
            **{f"word/{name}.xml": inside for name, inside in parts.items()},
        }
    )


def links(target: str) -> str:
    return (
        f'<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="a" Type="{R}/hyperlink"'
        f' Target="{target}" TargetMode="External"/></Relationships>'
    )


def charts() -> bytes:
    made = pptx.Presentation()
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["May", "June"]
    data.add_series("Lyon", (12.5, 14))  # type: ignore[no-untyped-call]
    data.add_series("Turin", (3, None))  # type: ignore[no-untyped-call]
    shapes = made.slides.add_slide(made.slide_layouts[6]).shapes
    chart = shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 1, 1, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Visitors"
    return slides(made)


def chart_of_a_sheet() -> bytes:
    """A workbook whose chart has its values, which openpyxl leaves to Excel to fill in."""
    made = openpyxl.Workbook()
    made.active.append(["x", "y"])
    made.active.add_chart(BarChart())
    buffer = BytesIO()
    made.save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    inside = series("Lyon", (12.5, 14)) + series("Turin", (3,))
    parts["xl/charts/chart1.xml"] = CHART.format(inside).encode()
    return package(parts)


def merged_slides() -> bytes:
    made = pptx.Presentation()
    shapes = made.slides.add_slide(made.slide_layouts[6]).shapes
    table = shapes.add_table(3, 3, 0, 0, Inches(1), Inches(1)).table
    words = ["Site", "Rate", "", "", "planned", "actual", "Lyon", "4", "5"]
    for at, each in enumerate(words):
        table.cell(at // 3, at % 3).text = each
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    return slides(made)


def word_cell(words: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(words)}</w:tc>"


def merged_rows() -> str:
    rows = (
        word_cell("Site", '<w:vMerge w:val="restart"/>')
        + word_cell("Rate", '<w:gridSpan w:val="2"/>'),
        word_cell("", "<w:vMerge/>") + word_cell("planned") + word_cell("actual"),
        word_cell("Lyon") + word_cell("4") + word_cell("5"),
    )
    return "".join(f"<w:tr>{each}</w:tr>" for each in rows)


CHART_TABLE = (
    "Visitors\n\n|  | Lyon | Turin |\n| --- | --- | --- |\n| May | 12.5 | 3 |\n| June | 14 |  |"
)
TWO_ROWS = "| Site | Rate planned | Rate actual |\n| --- | --- | --- |\n| Lyon | 4 | 5 |"
DRAWING = (
    '<w:r><w:drawing><wp:inline xmlns:wp="x"><wp:docPr id="1" name="Picture 1" descr="{}"/>'
    "</wp:inline></w:drawing></w:r>"
)
SAID = {
    "markdown front matter": ("a.md", b"---\nowner: Nina\n---\nText", "- Owner: Nina"),
    "markdown mailbox": (
        "a.md",
        b"Ask [Nina](mailto:nina@a.example).",
        "Ask Nina (nina@a.example).",
    ),
    "markdown picture": ("a.md", b"![The yard in May](a.png)", "The yard in May"),
    "html mailbox": (
        "a.html",
        html("<p>Ask <a href='mailto:n@a.example'>Nina</a>.</p>"),
        "Ask Nina (n@a.example).",
    ),
    "html link that says here": (
        "a.html",
        html("<p>The rota is <a href='https://a.example/rota'>here</a>.</p>"),
        "The rota is here (https://a.example/rota).",
    ),
    "mdx component": ("a.mdx", b"import A from 'a'\n\n# T\n\n<A>Text</A>", "# T\n\nText"),
    "html telephone": (
        "a.html",
        html("<p>Call <a href='tel:+49-40-5'>us</a>.</p>"),
        "Call us (+49-40-5).",
    ),
    "html picture": ("a.html", html("<p>See</p><img alt='The yard in May'>"), "The yard in May"),
    "html terms": (
        "a.html",
        html("<dl><dt>SLA</dt><dd>Service level</dd></dl>"),
        "- SLA: Service level",
    ),
    "html caption": (
        "a.html",
        html("<table><caption>Rates</caption><tr><th>Site<th>Rate<tr><td>Lyon<td>4</table>"),
        "Rates\n\n| Site | Rate |",
    ),
    "html two-row header": (
        "a.html",
        html(
            "<table><tr><th rowspan=2>Site<th colspan=2>Rate<tr><th>planned<th>actual<tr>"
            "<td>Lyon<td>4<td>5"
            "</table>"
        ),
        TWO_ROWS,
    ),
    "word mailbox": (
        "a.docx",
        word_with(
            paragraph(f'{run("Ask ")}<w:hyperlink r:id="a">{run("Nina")}</w:hyperlink>{run(".")}'),
            links("mailto:nina@a.example"),
        ),
        "Ask Nina (nina@a.example).",
    ),
    "word picture": (
        "a.docx",
        word(paragraph(run("See") + DRAWING.format("The yard in May"))),
        "See The yard in May",
    ),
    "word chart": (
        "a.docx",
        word_with(
            paragraph('<w:r><w:drawing><c:chart xmlns:c="x" r:id="a"/></w:drawing></w:r>'),
            relationships(a="chart chart1.xml"),
            chart1=CHART.format(series("Lyon", (12.5, 14)) + series("Turin", (3,))),
        ),
        CHART_TABLE,
    ),
    "word two-row header": ("a.docx", word(f"<w:tbl>{merged_rows()}</w:tbl>"), TWO_ROWS),
    "excel chart": ("a.xlsx", chart_of_a_sheet(), CHART_TABLE),
    "powerpoint chart": ("a.pptx", charts(), CHART_TABLE),
    "powerpoint two-row header": ("a.pptx", merged_slides(), TWO_ROWS),
    "opendocument mailbox": (
        "a.odt",
        open_document(
            "text", P('Ask <text:a xmlns:xlink="x" xlink:href="mailto:n@a.example">Nina</text:a>.')
        ),
        "Ask Nina (n@a.example).",
    ),
    "opendocument picture": (
        "a.odt",
        open_document(
            "text",
            P('See<draw:frame><svg:desc xmlns:svg="x">The yard in May</svg:desc></draw:frame>'),
        ),
        "See The yard in May",
    ),
}


@pytest.mark.parametrize("kind", SAID)
def test_what_the_markup_says_is_text(kind: str) -> None:
    name, data, words = SAID[kind]
    assert words in from_bytes(data, None, name).text


@pytest.mark.parametrize(
    ("inside", "chosen"),
    [
        ('<w:result w:val="1"/>', "late"),
        ('<w:default w:val="1"/>', "late"),
        ("", "early"),
        ('<w:result w:val="7"/>', ""),
    ],
)
def test_what_is_chosen_in_a_drop_down_field_of_word_is_text(inside: str, chosen: str) -> None:
    data = word(paragraph(run("Shift: ") + drop_down(inside) + run(".")))
    assert f"Shift: {chosen}." in from_bytes(data, None, "a.docx").text
