"""Tables of values between commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.formats.delimited import read_delimited
from tests.unit.pages.formats.order import in_order, phrases

CELLS = phrases | st.text("\",;'x", max_size=4)
TABLE = "| Item | Price |\n| --- | --- |\n| Ferry | 12 |"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Item,Price\nFerry,12\n", TABLE),
        ("Item;Price\nFerry;12\n", TABLE),
        ("Item\tPrice\nFerry\t12", TABLE),
        ("Item|Price\nFerry|12", TABLE),
        ("sep=;\nItem;Price\nFerry;12\n", TABLE),
        ("Item,Price\n\n ,\nFerry,12\n", TABLE),
        ('"Item","Price"\n"Ferry","12"\n', TABLE),
        ("Item;Price\nFerry;1,5\nBus;2,5\n",
         "| Item | Price |\n| --- | --- |\n| Ferry | 1,5 |\n| Bus | 2,5 |"),
        ('a,b\n"two\nlines","say ""yes"""\n',
         '| a | b |\n| --- | --- |\n| two lines | say "yes" |'),
        ('"Konto";"DE00"\n"Saldo:";"12,17 EUR"\n\n"Tag";"An";"Betrag"\n"3.3.";"Amt";"-1,5"\n'
         '"4.3.";"Ute";"-2"\n',
         "Konto: DE00\n\nSaldo: 12,17 EUR\n\n| Tag | An | Betrag |\n| --- | --- | --- |\n"
         "| 3.3. | Amt | -1,5 |\n| 4.3. | Ute | -2 |"),
        ("Report;;\nMade on;;3.3.\nTag;An;Betrag\n3.3.;Amt;5\n4.3.;Ute;6\n",
         "Report\n\nMade on: 3.3.\n\n| Tag | An | Betrag |\n| --- | --- | --- |\n"
         "| 3.3. | Amt | 5 |\n| 4.3. | Ute | 6 |"),
        ("S-01,Roof,21.5\nS-02,Cellar,18\n", "| S-01 | Roof | 21.5 |\n| S-02 | Cellar | 18 |"),
        ("Item,2024,2025\nFerry,5,6\n",
         "| Item | 2024 | 2025 |\n| --- | --- | --- |\n| Ferry | 5 | 6 |"),
        ("a,b\n1\n1,2,3\n", "| a | b |\n| --- | --- |\n| 1 |  |\n| 1 | 2 | 3 |"),
        ("a,b\nx|y,z\n", "| a | b |\n| --- | --- |\n| x\\|y | z |"),
        ("Names\nAnn\nBob\n", "| Names |\n| --- |\n| Ann |\n| Bob |"),
    ],
)  # fmt: skip
def test_a_table(source: str, text: str) -> None:
    assert read_delimited(source, tabs=False).text == text


def test_tabs_are_believed_where_the_file_says_so() -> None:
    assert read_delimited("a, b\tc, d\n1, 2\t3, 4\n", tabs=True).text == (
        "| a, b | c, d |\n| --- | --- |\n| 1, 2 | 3, 4 |"
    )


@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1),
    st.sampled_from([csv.excel, csv.excel_tab, csv.unix_dialect]),
)
def test_every_word_stands_in_the_text_in_order(
    rows: list[list[str]], dialect: type[csv.Dialect]
) -> None:
    buffer = StringIO()
    csv.writer(buffer, dialect, lineterminator="\n").writerows(rows)
    reading = read_delimited(buffer.getvalue(), tabs=dialect is csv.excel_tab)
    assert in_order([cell for row in rows for cell in row], reading.text)


@given(st.text(st.sampled_from('ab,;\t|"\n'), max_size=200))
def test_any_text_is_read(source: str) -> None:
    reading = read_delimited(source, tabs=False)
    assert reading.kept == 1.0
    assert in_order([source.replace('"', " ").replace("sep=", "")], reading.text) or '"' in source


def test_a_quotation_mark_that_is_never_closed_loses_nothing() -> None:
    source = 'a,b\n"x,y\n' + "".join(f"row {i},value {i}\n" for i in range(20_000))
    text = read_delimited(source, tabs=False).text
    assert "| row 0 | value 0 |" in text
    assert text.endswith("| row 19999 | value 19999 |")


def test_a_table_that_is_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.pages.page_markdown.MOST_CHARACTERS", 1_000)
    reading = read_delimited("".join(f"{i},{i * i}\n" for i in range(10_000)), tabs=False)
    assert reading.text.endswith(" were not read")
    assert "\n\n## Rows after " in reading.text
    assert 0.0 < reading.kept < 0.05
