"""Numbers as the cells of a sheet show them."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.formats.sheets import cell_text


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
