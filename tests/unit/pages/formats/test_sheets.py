"""Workbooks: sheets as headings, rows as tables, cells as they are shown."""

from __future__ import annotations

import math
import zipfile
from datetime import date, datetime, time, timedelta
from io import BytesIO

import openpyxl  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.formats.pieces import LONGEST_ROW, GridWriter
from bot.pages.formats.sheets import cell_text, read_sheets
from bot.pages.page_markdown import Blocks
from tests.fakes.packages import S, package, workbook
from tests.unit.pages.formats.order import in_order, phrases

Row = list[object]


def made(**sheets: list[Row]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    return book


def saved(book: openpyxl.Workbook) -> bytes:
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def text_of(rows: list[Row]) -> str:
    text = read_sheets(saved(made(S=rows)), "a.xlsx").text
    assert text.startswith("## Sheet S\n\n")
    return text.removeprefix("## Sheet S\n\n")


def test_a_workbook() -> None:
    book = made(
        Prices=[["Item", "Price"], ["Ferry", 12.5], ["Bus | train", 3]], Empty=[], Secret=[["x", 1]]
    )
    book["Prices"]["B2"].number_format = '#,##0.00 "€"'
    book["Secret"].sheet_state = "hidden"
    book.properties.title = "All Prices"
    reading = read_sheets(saved(book), "a.xlsx")
    assert reading[:3] == (
        "All Prices",
        "## Sheet Prices\n\n| Item | Price |\n| --- | --- |\n| Ferry | 12.50 € |\n"
        "| Bus \\| train | 3 |\n\n## Sheet Empty",
        1.0,
    )
    assert reading.omitted == {"hidden sheet": 1}


def test_formulas_show_their_last_result() -> None:
    rows = '<row><c t="str"><v>Sum</v></c><c><f>1+2</f><v>3</v></c></row>'
    assert read_sheets(workbook(rows), "a.xlsx").text == ("## Sheet Sheet1\n\nSum: 3")


def test_merged_cells_are_repeated_and_a_head_of_two_rows_is_one() -> None:
    book = made(
        Fleet=[
            ["Depot", "Plate", "Rate (EUR)", None, "Ends"],
            [None, None, "planned", "actual", None],
            ["Rostock", "HRO 101", 412, 430, 2027],
            [None, "HRO 102", 389, 391, 2026],
            [None, None, None, None, None],
            ["Kassel", "KS 77", 298, 310, 2028],
        ]
    )
    for cells in ("A1:A2", "B1:B2", "C1:D1", "E1:E2", "A3:A5"):
        book["Fleet"].merge_cells(cells)
    assert read_sheets(saved(book), "a.xlsx").text == (
        "## Sheet Fleet\n\n"
        "| Depot | Plate | Rate (EUR): planned | Rate (EUR): actual | Ends |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| Rostock | HRO 101 | 412 | 430 | 2027 |\n"
        "| Rostock | HRO 102 | 389 | 391 | 2026 |\n"
        "| Kassel | KS 77 | 298 | 310 | 2028 |"
    )


def test_a_row_below_a_merged_name_without_names_of_its_own_is_no_head() -> None:
    book = made(S=[["Name", "Address", None], ["Ann", "Elm Street", "Kiel"]])
    book["S"].merge_cells("B1:C1")
    assert "| Ann | Elm Street | Kiel |" in read_sheets(saved(book), "a.xlsx").text


def test_hidden_rows_and_columns_are_left_out_and_counted() -> None:
    book = made(
        S=[
            ["Depot", "Cost", "Card"],
            ["Rostock", 1, "FC-1"],
            [None, 2, "FC-2"],
            ["Kassel", 3, "FC-3"],
        ]
    )
    sheet = book["S"]
    sheet.merge_cells("A2:A3")
    sheet.row_dimensions[2].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.column_dimensions["E"].hidden = True  # an empty one
    reading = read_sheets(saved(book), "a.xlsx")
    assert reading.text == (
        "## Sheet S\n\n| Depot | Card |\n| --- | --- |\n| Rostock | FC-2 |\n| Kassel | FC-3 |"
    )
    assert reading.omitted == {"hidden row": 1, "hidden column": 1}


def test_a_formula_that_was_never_calculated_says_so() -> None:
    reading = read_sheets(saved(made(S=[["Item", "Sum"], ["Ferry", "=1+2"]])), "a.xlsx")
    assert "| Ferry | (formula without a stored value) |" in reading.text
    assert reading.omitted == {"uncalculated formula": 1}


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([["Price list"], [], ["Item", "Price"], ["Ferry", 5]],
         "Price list\n\n| Item | Price |\n| --- | --- |\n| Ferry | 5 |"),
        ([["Price list"], ["Item", "Price", "Note"], ["Ferry", 5]],
         "Price list\n\n| Item | Price | Note |\n| --- | --- | --- |\n| Ferry | 5 |  |"),
        ([[None, None, "Item", "Price"], [], [None, None, "Ferry", 5]],
         "| Item | Price |\n| --- | --- |\n| Ferry | 5 |"),
        ([["Item", "Price"], ["Ferry", 5], [], ["Name", "Phone"], ["Ann", "0431"]],
         "| Item | Price |\n| --- | --- |\n| Ferry | 5 |\n\n"
         "| Name | Phone |\n| --- | --- |\n| Ann | 0431 |"),
        ([["Item", "Price"], ["Ferry", 5], [], ["Bus", 3]],
         "| Item | Price |\n| --- | --- |\n| Ferry | 5 |\n| Bus | 3 |"),
        ([["Item", "Price"], ["Ferry", 5], [], ["A remark."]],
         "| Item | Price |\n| --- | --- |\n| Ferry | 5 |\n\nA remark."),
        ([["One line"], ["another"]], "One line\n\nanother"),
        ([["a", "b"], [1, 2, 3]], "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |"),
        ([["Fleet"], ["As of", 46000], [], ["Item", "Price"], ["Ferry", 5]],
         "Fleet\n\nAs of: 46000\n\n| Item | Price |\n| --- | --- |\n| Ferry | 5 |"),
        ([["Item", "Price", None, "Tyre", "Bar"], ["Ferry", 5, None, "Summer", 2.4], ["Bus", 3]],
         "| Item | Price |\n| --- | --- |\n| Ferry | 5 |\n| Bus | 3 |\n\n"
         "| Tyre | Bar |\n| --- | --- |\n| Summer | 2.4 |"),
        ([["Item", "Q1", None, "Q2", "Q3"], ["Ferry", 5, None, 6, 7], ["Bus", 3]],
         "| Item | Q1 |  | Q2 | Q3 |\n| --- | --- | --- | --- | --- |\n| Ferry | 5 |  | 6 | 7 |\n"
         "| Bus | 3 |  |  |  |"),
        ([["S-01", "Roof", 21.5], ["S-02", "Cellar", 18]],
         "| S-01 | Roof | 21.5 |\n| S-02 | Cellar | 18 |"),
        ([["Item", 2024, 2025], ["Ferry", 5, 6]],
         "| Item | 2024 | 2025 |\n| --- | --- | --- |\n| Ferry | 5 | 6 |"),
        ([["two\nlines", "x"], [1, True]], "| two lines | x |\n| --- | --- |\n| 1 | TRUE |"),
    ],
)  # fmt: skip
def test_what_stands_around_tables(rows: list[Row], text: str) -> None:
    assert text_of(rows) == text


@settings(max_examples=40)
@given(st.lists(st.lists(phrases, min_size=2, max_size=4), min_size=1, max_size=6))
def test_every_word_stands_in_the_text_in_order(rows: list[list[str]]) -> None:
    assert in_order([cell for row in rows for cell in row], text_of([list(row) for row in rows]))


@given(st.lists(st.lists(phrases | st.just(""), max_size=4), max_size=250))
def test_rows_come_out_in_order_however_they_stand(rows: list[list[str]]) -> None:
    blocks = Blocks()
    writer = GridWriter(blocks)
    for row in rows:
        writer.add(row)
    writer.end()
    assert in_order([cell for row in rows for cell in row], blocks.text())


def test_a_row_that_is_too_long_is_cut() -> None:
    blocks = Blocks()
    writer = GridWriter(blocks)
    writer.add(["word " * 2_000] * 16_384)
    writer.end()
    assert len(blocks.text()) < 2 * LONGEST_ROW


def test_a_workbook_that_is_too_large_says_what_was_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.pages.formats.sheets.MOST_CELLS", 300)
    rows: list[Row] = [["Number", "Square", "Cube"]]
    rows += [[i, i**2, i**3] for i in range(399)]
    reading = read_sheets(saved(made(A=rows, B=[["x", "y"]])), "a.xlsx")
    assert reading.text.endswith("## Rows after 100 of sheet A were not read\n\n## Not read: B")
    assert reading.kept == pytest.approx(100 / 401)


def test_a_cell_in_the_last_corner_makes_no_sheet_of_empty_cells() -> None:
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>'
        '<row r="1000"><c r="XFD1000"><v>7</v></c></row>'
    )
    text = read_sheets(workbook(rows), "a.xlsx").text
    assert "| 1 | 2 |" in text
    assert text.endswith("7")
    assert len(text) < 100


@pytest.mark.parametrize(
    "rows",
    ['<row><c t="s"><v>5</v></c></row>', "<row><c><v>1</v>", '<row r="x"><c><v>1</v></c></row>'],
)
def test_a_damaged_workbook_is_named(rows: str) -> None:
    with pytest.raises(
        PageUnreadable, match=r"^a\.xlsx is an Excel workbook that is damaged; open"
    ):
        read_sheets(workbook(rows), "a.xlsx")


# ---------------------------------------------------------------- numbers as shown


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (None, None, ""),
        ("words", None, "words"),
        (True, None, "TRUE"),
        (5, None, "5"),
        (5.0, "General", "5"),
        (0.1 + 0.2, "General", "0.3"),
        (1e20, "General", "1e+20"),
        (1234567, "General", "1234567"),
        (12.5, "0.00", "12.50"),
        (2.675, "0.00", "2.68"),
        (1234.5, "#,##0.00", "1,234.50"),
        (1234, "#,##0", "1,234"),
        (0.25, "0%", "25%"),
        (0.755, "0.0%", "75.5%"),
        (12.5, '#,##0.00 "€"', "12.50 €"),
        (12.5, "[$€-407] #,##0.00", "€ 12.50"),
        (12.5, r"\$0.00", "$12.50"),
        (-3, "0.00", "-3.00"),
        (-3, "0.00;(0.00)", "(3.00)"),
        (-3, "0.00;[Red]-0.00", "-3.00"),
        (0, '0.00;-0.00;"none"0', "none0"),
        (7, "000", "007"),
        (0.5, "0.##", "0.5"),
        (3, "0.##", "3"),
        (1234567, "0.0,,", "1.2"),
        (5, '0 "km"', "5 km"),
        (0.5, "# ?/?", "0.5"),
        (1234.5, "0.00E+00", "1234.5"),
        (5, "[>3]0.0;0", "5"),
        (5, "", "5"),
        (date(2024, 12, 31), "dd.mm.yyyy", "2024-12-31"),
        (datetime(2024, 12, 31), None, "2024-12-31"),
        (datetime(2024, 12, 31, 9, 5), None, "2024-12-31 09:05:00"),
        (time(9, 5), None, "09:05:00"),
        (timedelta(hours=26, minutes=3), None, "26:03:00"),
    ],
)  # fmt: skip
def test_a_cell_shows(value: object, form: str | None, text: str) -> None:
    assert cell_text(value, form) == text


@given(
    st.integers() | st.floats(), st.text(st.sampled_from('0#,.%;"\\ -()$€E+?/[]_*dmy'), max_size=12)
)
def test_any_number_in_any_format_is_text(value: float, form: str) -> None:
    text = cell_text(value, form)
    assert text == text.strip()
    assert "\n" not in text


@given(st.floats(-1e12, 1e12, allow_nan=False))
def test_a_number_without_a_format_has_its_fifteen_figures(value: float) -> None:
    assert math.isclose(float(cell_text(value, "General")), value, rel_tol=1e-14, abs_tol=1e-300)


def test_a_large_number_with_many_decimals_is_text() -> None:
    assert cell_text(1e14 + 1, "0." + "0" * 14) == "100000000000001." + "0" * 14


def test_a_workbook_with_an_empty_fill_is_read() -> None:
    with zipfile.ZipFile(BytesIO(workbook('<row r="1"><c r="A1"><v>39</v></c></row>'))) as made_by:
        parts = {name: made_by.read(name) for name in made_by.namelist()}
    parts["xl/styles.xml"] = f'<styleSheet xmlns="{S}"><fills><fill/></fills></styleSheet>'.encode()
    assert read_sheets(package(parts), "a.xlsx").text == "## Sheet Sheet1\n\n39"
