"""Word documents: structure, numbers, notes, and what is not shown."""

from __future__ import annotations

from io import BytesIO

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.formats.word import read_word
from tests.fakes.packages import W, package, paragraph, run, word
from tests.unit.pages.formats.order import in_order, phrases


def saved(document: docx.document.Document) -> bytes:
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def text_of(body: str, **parts: str) -> str:
    return read_word(word(body, **parts), "a.docx").text


def test_a_document_of_a_word_processor() -> None:
    document = docx.Document()
    document.add_heading("The Guide", 0)
    document.add_heading("Travel", 1)
    document.add_paragraph("Trains come first.")
    document.add_paragraph("by rail", style="List Bullet")
    document.add_paragraph("book", style="List Number")
    document.add_paragraph("go", style="List Number")
    table = document.add_table(3, 2)
    for cell, said in zip(
        table._cells, ["Item", "Price", "Bus | train", "3", "", "4"], strict=True
    ):
        cell.text = said
    table.cell(1, 0).merge(table.cell(2, 0))
    document.sections[0].header.paragraphs[0].text = "Acme GmbH, phone 0431"
    document.sections[0].footer.paragraphs[0].text = "Page 3 of 9"
    reading = read_word(saved(document), "a.docx")
    assert reading.title == "The Guide"
    assert reading.kept == 1.0
    assert reading.text == (
        "# The Guide\n\n# Travel\n\nTrains come first.\n\n- by rail\n1. book\n2. go\n\n"
        "| Item | Price |\n| --- | --- |\n| Bus \\| train | 3 |\n| Bus \\| train | 4 |\n\n"
        "## Headers and footers\n\nAcme GmbH, phone 0431"
    )


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(["p", "h", "item", "table"]), phrases), max_size=8))
def test_every_word_stands_in_the_text_in_order(parts: list[tuple[str, str]]) -> None:
    document = docx.Document()
    for kind, said in parts:
        if kind == "table":
            for cell, each in zip(document.add_table(2, 2)._cells, [said] * 4, strict=True):
                cell.text = each
        elif kind == "h":
            document.add_heading(said, 2)
        else:
            document.add_paragraph(said, style="List Bullet" if kind == "item" else None)
    texts = [text for kind, each in parts for text in [each] * (4 if kind == "table" else 1)]
    assert in_order(texts, read_word(saved(document), "a.docx").text)


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        (f"{run('kept ')}<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>", "kept"),
        (f"<w:ins>{run('added')}</w:ins>{run(' text')}", "added text"),
        (f"<w:moveFrom>{run('old')}</w:moveFrom><w:moveTo>{run('new')}</w:moveTo>", "new"),
        (f"<w:r><w:rPr><w:vanish/></w:rPr><w:t>obey</w:t></w:r>{run('seen')}", "seen"),
        ('<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>seen</w:t></w:r>', "seen"),
        (f"<w:r><w:instrText>PAGE 7</w:instrText></w:r>{run('12')}", "12"),
        (f"<w:hyperlink>{run('a link')}</w:hyperlink>", "a link"),
        (f"<w:smartTag>{run('Kiel')}</w:smartTag>", "Kiel"),
        (f"<w:sdt><w:sdtPr/><w:sdtContent>{run('a control')}</w:sdtContent></w:sdt>", "a control"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>", "a b\nc"),
        ("<w:r><w:t>self</w:t><w:noBreakHyphen/><w:t>made</w:t></w:r>", "self-made"),
        ('<w:r><w:t>a </w:t><w:sym w:char="2192"/><w:t> b</w:t></w:r>', "a → b"),
        ('<w:r><w:t>a</w:t><w:sym w:char="F0B7"/></w:r>', "a"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr><w:t>a[0]</w:t></w:r>'
         f"{run(' is first')}", "`a[0]` is first"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Consolas"/></w:rPr><w:t>x[3][4] = y</w:t></w:r>',
         "```\nx[3][4] = y\n```"),
        (run("# of units"), "\\# of units"),
    ],
)  # fmt: skip
def test_runs_say_what_a_reader_sees(inside: str, shown: str) -> None:
    assert text_of(paragraph(inside)) == shown


def test_a_text_box_follows_the_paragraph_that_holds_it_and_is_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    choices = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    inside = f"{run('before')}<w:r>{choices}</w:r>{run(' and after')}"
    assert text_of(paragraph(inside)) == "before and after\n\nin the box"


def test_notes_stand_below_what_refers_to_them() -> None:
    footnotes = f'<w:footnote w:id="4">{paragraph("As of 2024.")}</w:footnote>'
    endnotes = f'<w:endnote w:id="4">{paragraph("See the map.")}</w:endnote>'
    marks = '<w:r><w:footnoteReference w:id="4"/></w:r><w:r><w:endnoteReference w:id="4"/></w:r>'
    body = paragraph(f"{run('It costs 5 euros.')}{marks}") + paragraph("Next.")
    assert text_of(body, footnotes=footnotes, endnotes=endnotes) == (
        "It costs 5 euros.[^1][^2]\n\n[^1]: As of 2024.\n\n[^2]: See the map.\n\nNext."
    )


STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
STYLES = """
<w:style w:styleId="h1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr>
</w:pPr></w:style>
<w:style w:styleId="h2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/>
<w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:styleId="own"><w:name w:val="Our Chapter"/><w:basedOn w:val="h1"/></w:style>
<w:style w:styleId="toc"><w:name w:val="toc 1"/></w:style>
<w:style w:styleId="code"><w:name w:val="HTML Preformatted"/></w:style>
<w:style w:styleId="ring"><w:name w:val="a"/><w:basedOn w:val="ring"/></w:style>
"""
NUMBERING = """
<w:abstractNum w:abstractNumId="7">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="8">
<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%1)"/>
</w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1-%2."/>
<w:isLgl/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="8"/><w:lvlOverride w:ilvl="0">
<w:startOverride w:val="1"/></w:lvlOverride></w:num>
"""


def styled(text: str, style: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def numbered(text: str, number: int, depth: int = 0) -> str:
    properties = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    return paragraph(text, properties)


def test_headings_are_told_by_their_style_and_numbered_as_shown() -> None:
    body = "".join(
        styled(text, style)
        for text, style in [
            *(("Travel", "h1"), ("By rail", "h2"), ("By bus", "h2"), ("Costs", "own")),
            *(("Meals", "h2"), ("Travel 1", "toc"), ("Plain", "ring")),
        ]
    )
    assert text_of(body, styles=STYLES, numbering=NUMBERING) == (
        "# 1 Travel\n\n## 1.1 By rail\n\n## 1.2 By bus\n\n# 2 Costs\n\n## 2.1 Meals\n\nPlain"
    )


def test_lists_count_as_word_does() -> None:
    items = [("a", 2, 0), ("b", 2, 0), ("c", 2, 1), ("d", 2, 0), ("e", 2, 1), ("f", 3, 0)]
    body = "".join(numbered(*item) for item in items)
    assert text_of(body, numbering=NUMBERING) == (
        "- (c) a\n- (d) b\n  - 4-1. c\n- (e) d\n  - 5-1. e\n- (a) f"
    )


def test_code_keeps_its_lines_and_is_not_counted_as_paragraphs() -> None:
    body = styled("for i in range(3):", "code") + styled("    print(a[i])", "code")
    assert text_of(body, styles=STYLES) == "```\nfor i in range(3):\n    print(a[i])\n```"


def test_a_letter_in_the_font_of_a_typewriter_is_no_code() -> None:
    properties = '<w:r><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr><w:t>{}</w:t></w:r>'
    letter = "Dear Sir, thank you very much for the letter that you wrote to us last week."
    assert text_of(paragraph(properties.format(letter))) == letter


def test_a_table_that_only_lays_out_the_page_is_read_as_what_it_holds() -> None:
    cell = "<w:tc>{}</w:tc>".format(paragraph("First.") + paragraph("Second."))
    assert text_of(f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>") == "First.\n\nSecond."
    long = paragraph("word " * 300)
    row = f"<w:tr><w:tc>{long}</w:tc><w:tc>{paragraph('beside')}</w:tc></w:tr>"
    assert text_of(f"<w:tbl>{row}</w:tbl>") == f"{('word ' * 300).strip()}\n\nbeside"


def test_a_table_in_a_cell_becomes_its_words() -> None:
    inner = (
        f"<w:tbl><w:tr><w:tc>{paragraph('x')}</w:tc><w:tc>{paragraph('y')}</w:tc></w:tr></w:tbl>"
    )
    rows = f"<w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{inner}</w:tc></w:tr>" * 2
    assert text_of(f"<w:tbl>{rows}</w:tbl>") == "| a | x y |\n| --- | --- |\n| a | x y |"


def test_the_document_may_lie_in_content_controls_and_be_strict() -> None:
    body = f"<w:sdt><w:sdtContent>{paragraph('inside')}</w:sdtContent></w:sdt>"
    assert text_of(body) == "inside"
    strict = f'<w:document xmlns:w="{STRICT}"><w:body>{body}</w:body></w:document>'
    assert read_word(package({"word/document.xml": strict}), "a.docx").text == "inside"


def test_a_document_that_is_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.pages.page_markdown.MOST_CHARACTERS", 5_000)
    reading = read_word(word("".join(paragraph(f"word {i}") for i in range(20_000))), "a.docx")
    assert reading.text.endswith("\n\n## The rest of this document was not read")
    assert 0.0 < reading.kept < 0.2


@pytest.mark.parametrize(
    "body",
    [
        "<w:p><w:r><w:t>cut off",
        "<w:tbl><w:tr><w:tc>" * 300 + "</w:tc></w:tr></w:tbl>" * 300,
        "<w:p>&undeclared;</w:p>",
    ],
)
def test_a_damaged_document_is_named(body: str) -> None:
    part = f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    with pytest.raises(PageUnreadable, match=r"^a\.docx is a Word document that is damaged; open"):
        read_word(package({"word/document.xml": part}), "a.docx")


def test_a_package_without_a_document_is_damaged() -> None:
    with pytest.raises(PageUnreadable, match="damaged"):
        read_word(package({"word/other.xml": "<a/>"}), "a.docx")
