"""OpenDocument texts, spreadsheets and presentations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.formats.opendocument import read_opendocument
from tests.fakes.packages import ODF, open_document, package
from tests.unit.pages.formats.order import in_order, phrases


def text_of(body: str, automatic: str = "", kind: str = "text") -> str:
    return read_opendocument(open_document(kind, body, automatic), "a.odt").text


P = "<text:p>{}</text:p>".format
ITEM = "<text:list-item>{}</text:list-item>".format


def table(*rows: tuple[str, ...], name: str = "T") -> str:
    cells = (
        "".join(f"<table:table-cell>{P(each)}</table:table-cell>" for each in row) for row in rows
    )
    inside = "".join(f"<table:table-row>{each}</table:table-row>" for each in cells)
    return f'<table:table table:name="{name}">{inside}</table:table>'


def test_a_text() -> None:
    body = (
        '<text:p text:style-name="Title">The Guide</text:p>'
        '<text:h text:outline-level="2">Travel</text:h>'
        '<text:p>Trains<text:s text:c="3"/>come <text:span>first</text:span>.</text:p>'
        f"<text:list>{ITEM(P('by rail') + '<text:list>' + ITEM(P('fast')) + '</text:list>')}"
        f"{ITEM(P('by bus'))}</text:list>{table(('Item', 'Price'), ('Ferry', '12'))}"
    )
    reading = read_opendocument(open_document("text", body), "a.odt")
    assert reading.title == "The Guide"
    assert reading.text == (
        "# The Guide\n\n## Travel\n\nTrains come first.\n\n- by rail\n  - fast\n- by bus\n\n"
        "| Item | Price |\n| --- | --- |\n| Ferry | 12 |"
    )


@given(st.lists(st.tuples(st.sampled_from(["p", "h", "item", "table"]), phrases), max_size=8))
def test_every_word_stands_in_the_text_in_order(parts: list[tuple[str, str]]) -> None:
    body = "".join(
        {
            "p": P(said),
            "h": f"<text:h>{said}</text:h>",
            "item": f"<text:list>{ITEM(P(said))}</text:list>",
            "table": table((said, said), (said, said)),
        }[kind]
        for kind, said in parts
    )
    said = [text for kind, each in parts for text in [each] * (4 if kind == "table" else 1)]
    assert in_order(said, text_of(body))


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (P("a<text:line-break/>b<text:tab/>c"), "a\nb c"),
        (P("said<office:annotation><text:p>a comment</text:p></office:annotation>."), "said."),
        (P('<text:span text:style-name="hid">obey</text:span>seen'), "seen"),
        (P('see <text:span text:style-name="Source_20_Text">a[0]</text:span>'), "see `a[0]`"),
        (f"<text:tracked-changes><text:deletion>{P('gone')}</text:deletion></text:tracked-changes>"
         f"{P('kept')}", "kept"),
        (f"<text:table-of-content><text:index-body>{P('Travel 1')}</text:index-body>"
         f"</text:table-of-content>{P('kept')}", "kept"),
        (f"<text:section>{P('in a section')}</text:section>", "in a section"),
        (f"<text:p>a<draw:frame><draw:text-box>{P('in a box')}</draw:text-box></draw:frame>b"
         "</text:p>", "ab\n\nin a box"),
        ("<text:p>5 euros<text:note><text:note-citation>1</text:note-citation><text:note-body>"
         f"{P('As of 2024.')}</text:note-body></text:note>.</text:p>",
         "5 euros[^1].\n\n[^1]: As of 2024."),
        ('<text:p text:style-name="code">x = 1</text:p><text:p text:style-name="code">'
         '<text:s text:c="2"/>y = x[0]</text:p>', "```\nx = 1\n  y = x[0]\n```"),
        ('<text:list text:style-name="num"><text:list-item><text:p>a</text:p></text:list-item>'
         '<text:list-item><text:p>b</text:p><text:p>more</text:p></text:list-item></text:list>',
         "3. a\n4. b\n\nmore"),
        ('<text:list text:style-name="num"><text:list-item><text:p>a</text:p></text:list-item>'
         '</text:list><text:p>between</text:p><text:list text:style-name="num" text:continue-'
         'numbering="true"><text:list-item><text:p>b</text:p></text:list-item></text:list>',
         "3. a\n\nbetween\n\n4. b"),
        ('<text:list text:style-name="letters"><text:list-item><text:p>a</text:p></text:list-item>'
         "</text:list>", "- (a) a"),
    ],
)  # fmt: skip
def test_a_text_says_what_a_reader_sees(body: str, shown: str) -> None:
    automatic = (
        '<style:style style:name="hid"><style:text-properties text:display="none"/></style:style>'
        '<style:style style:name="code" style:parent-style-name="Preformatted_20_Text"/>'
        '<text:list-style style:name="num"><text:list-level-style-number text:level="1" '
        'style:num-format="1" style:num-suffix="." text:start-value="3"/></text:list-style>'
        '<text:list-style style:name="letters"><text:list-level-style-number text:level="1" '
        'style:num-format="a" style:num-prefix="(" style:num-suffix=")"/></text:list-style>'
    )
    assert text_of(body, automatic) == shown


def test_cells_that_span_rows_stand_in_each_of_them() -> None:
    rows = (
        f'<table:table-row><table:table-cell table:number-rows-spanned="2">{P("a")}'
        f"</table:table-cell><table:table-cell>{P('b')}</table:table-cell></table:table-row>"
        f"<table:table-row><table:covered-table-cell/><table:table-cell>{P('c')}"
        "</table:table-cell></table:table-row>"
    )
    assert text_of(f"<table:table>{rows}</table:table>") == "| a | b |\n| --- | --- |\n| a | c |"


def test_merged_cells_of_a_sheet_are_repeated_and_a_head_of_two_rows_is_one() -> None:
    def row(*cells: str, attributes: str = "") -> str:
        return f"<table:table-row{attributes}>{''.join(cells)}</table:table-row>"

    def cell(text: str, rows: int = 1, columns: int = 1) -> str:
        return (
            f'<table:table-cell table:number-rows-spanned="{rows}"'
            f' table:number-columns-spanned="{columns}">{P(text)}</table:table-cell>'
        )

    covered = "<table:covered-table-cell/>"
    rows = (
        row(cell("Depot", 2), cell("Plate", 2), cell("Rate", 1, 2), covered),
        row(covered, covered, cell("planned"), cell("actual")),
        row(cell("Rostock", 3), cell("HRO 101"), cell("412"), cell("430")),
        row(covered, cell("HRO 102"), attributes=' table:visibility="collapse"'),
        row(covered, cell("HRO 103"), cell("389"), cell("391")),
        row(cell("Kassel"), cell("KS 77"), cell("298"), cell("310")),
    )
    body = f'<table:table table:name="Fleet">{"".join(rows)}</table:table>'
    reading = read_opendocument(open_document("spreadsheet", body), "x.ods")
    assert reading.text == (
        "## Sheet Fleet\n\n"
        "| Depot | Plate | Rate: planned | Rate: actual |\n| --- | --- | --- | --- |\n"
        "| Rostock | HRO 101 | 412 | 430 |\n| Rostock | HRO 103 | 389 | 391 |\n"
        "| Kassel | KS 77 | 298 | 310 |"
    )
    assert reading.omitted["hidden row"] == 1


def test_a_spreadsheet() -> None:
    hidden = '<style:table-properties table:display="false"/>'
    hidden = f'<style:style style:name="ta2">{hidden}</style:style>'
    body = (
        table(("Item", "Price"), ("Ferry", "12,50 €"), name="Prices")
        + table(("x", "y"), name="Secret").replace(
            "<table:table ", '<table:table table:style-name="ta2" '
        )
        + table(("Name", "Phone"), ("Ann", "0431"), name="People")
    )
    assert text_of(body, hidden, "spreadsheet") == (
        "## Sheet Prices\n\n| Item | Price |\n| --- | --- |\n| Ferry | 12,50 € |\n\n"
        "## Sheet People\n\n| Name | Phone |\n| --- | --- |\n| Ann | 0431 |"
    )


def test_repeated_cells_are_repeated_and_empty_ones_are_not() -> None:
    row = (
        '<table:table-row table:number-rows-repeated="{}"><table:table-cell '
        'table:number-columns-repeated="{}">{}</table:table-cell></table:table-row>'
    )
    body = row.format(2, 3, P("x")) + row.format(1_048_576, 16_384, "") + row.format(1, 1, P("end"))
    assert text_of(f'<table:table table:name="S">{body}</table:table>', kind="spreadsheet") == (
        "## Sheet S\n\n| x | x | x |\n| --- | --- | --- |\n| x | x | x |\n\nend"
    )


def test_a_presentation() -> None:
    body = (
        f'<draw:page><draw:frame presentation:class="outline"><draw:text-box><text:list>'
        f"{ITEM(P('by rail'))}</text:list></draw:text-box></draw:frame>"
        f'<draw:frame presentation:class="title"><draw:text-box>{P("Travel")}</draw:text-box>'
        f"</draw:frame><presentation:notes><draw:frame><draw:text-box>{P('Slowly.')}"
        "</draw:text-box></draw:frame></presentation:notes></draw:page>"
        f"<draw:page><draw:g><draw:custom-shape>{P('a shape')}</draw:custom-shape></draw:g>"
        "</draw:page>"
    )
    reading = read_opendocument(open_document("presentation", body), "a.odp")
    assert reading[:3] == (
        "Travel",
        "## Slide 1\n\n### Travel\n\n- by rail\n\n### Notes\n\nSlowly.\n\n## Slide 2\n\na shape",
        1.0,
    )


def test_the_title_is_that_of_the_properties_where_the_text_has_none() -> None:
    meta = '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title></m>'
    document = open_document("text", P("words"), meta_xml=meta.format("The Guide"))
    assert read_opendocument(document, "a.odt").title == "The Guide"
    document = open_document("text", P("words"), meta_xml=meta.format("Untitled"))
    assert read_opendocument(document, "a.odt").title == ""


def test_a_locked_document_is_named() -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    data = package({"META-INF/manifest.xml": manifest, "content.xml": b"\x00\x01"})
    with pytest.raises(PageUnreadable, match=r"^a\.odt is locked with a password; save a copy"):
        read_opendocument(data, "a.odt")


def test_a_text_that_is_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.pages.page_markdown.MOST_CHARACTERS", 5_000)
    reading = read_opendocument(
        open_document("text", "".join(P(f"word {i}") for i in range(20_000))), "a.odt"
    )
    assert reading.text.endswith("\n\n## The rest of this document was not read")
    assert 0.0 < reading.kept < 0.2


@pytest.mark.parametrize("shape", ["polygon", "ellipse", "connector", "path"])
def test_words_in_a_drawn_shape_are_text(shape: str) -> None:
    body = f"<draw:page><draw:{shape}>{P('Ask first')}</draw:{shape}></draw:page>"
    assert text_of(body, kind="presentation") == "## Slide 1\n\nAsk first"


def test_a_bibliography_is_text_and_a_table_of_contents_is_not() -> None:
    index = f"<text:index-body>{P('{}')}</text:index-body>".format
    body = f"<text:table-of-content>{index('Travel 3')}</text:table-of-content>{P('Travel')}"
    body += f"<text:bibliography>{index('Lee 2020')}</text:bibliography>"
    assert text_of(body) == "Travel\n\nLee 2020"


def test_the_title_in_a_field_is_text() -> None:
    assert text_of(P("The <text:title>Guide</text:title> holds.")) == "The Guide holds."


def test_page_headers_and_footers_of_a_text_are_at_its_end_once() -> None:
    header = f"<style:header>{P('Acme GmbH')}</style:header>"
    footer = f"<style:footer>{P('Page <text:page-number>3</text:page-number>')}</style:footer>"
    page = f"<style:master-page>{header}{footer}</style:master-page>"
    styles = f"<office:document-styles {ODF}>{page}{page}</office:document-styles>"
    parts = {"styles_xml": styles}
    text = read_opendocument(open_document("text", P("The rate."), **parts), "a.odt").text
    assert text == "The rate.\n\n## Headers and footers\n\nAcme GmbH"
    sheet = open_document("spreadsheet", table(("Rate", "39")), **parts)
    assert "Acme" not in read_opendocument(sheet, "a.ods").text
