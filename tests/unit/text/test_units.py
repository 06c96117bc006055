from decimal import Decimal

import pytest

from bot.text.facts import Unit, converted, facts, measure_at, missing_from


def _missing(claim: str, quoted: str) -> list[str]:
    return [fact.text for fact in missing_from(facts(claim), quoted)]


@pytest.mark.parametrize(
    "claim",
    [
        "The bridge is 1,204 metres long.",
        "The bridge is 1204 m long.",
        "The bridge is 1.2 km long.",
        "The bridge is about 3,950 feet long.",
        "The bridge is 3,950 ft long.",
        "桥长1204米。",
        "桥长约1.2公里。",
    ],
)
def test_a_length_in_any_unit_is_borne_out(claim: str) -> None:
    assert not _missing(claim, "The bridge is 1,204 metres long.")


@pytest.mark.parametrize(
    ("claim", "figure"),
    [
        ("The bridge is 1,204 feet long.", "1,204"),
        ("The bridge is 1204 feet long.", "1204"),
        ("The bridge is 1,204 km long.", "1,204"),
        ("The bridge is 1,204 tonnes.", "1,204"),
        ("The bridge is 1.3 km long.", "1.3"),
        ("The bridge is 1.2041 km long.", "1.2041"),
        ("桥长1204英尺。", "1204"),
    ],
)
def test_a_wrong_unit_or_precision_is_not(claim: str, figure: str) -> None:
    assert _missing(claim, "The bridge is 1,204 metres long.") == [figure]


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("The plant makes 3,200 GWh a year.", "The plant makes 3.2 TWh a year."),
        ("It cost NOK 480 million.", "It cost 480 million NOK."),
        ("It was 26 °C.", "It was 79 °F."),
        ("The fee was $5.", "The fee was 5 dollars."),
        ("The park covers 3 square km.", "The park covers 3 km of land."),
        ("It takes 15 minutes.", "It takes 900 seconds."),
    ],
)
def test_units_are_no_names_and_are_converted(claim: str, quoted: str) -> None:
    assert not _missing(claim, quoted)


def test_currencies_are_never_converted() -> None:
    assert _missing("It cost $480 million.", "It cost £480 million.") == ["480 million"]
    assert converted(1.0, _unit("5 dollars"), _unit("5 euros")) is None


def test_the_first_figure_of_a_range_has_the_unit_of_the_last() -> None:
    measure = measure_at("20 to 30 km", 0, 2)
    assert measure is not None
    assert measure.unit == Unit("length", 1000.0)


def test_a_figure_that_counts_has_no_unit() -> None:
    assert measure_at("25 people", 0, 2) is None


@pytest.mark.parametrize("year", ["in 1968", "1204年", "by 1990,"])
def test_a_year_stays_a_date(year: str) -> None:
    assert [fact.kind for fact in facts(f"It was opened {year} there.")] == ["date"]


def _unit(text: str) -> Unit:
    measure = measure_at(text, 0, 1)
    assert measure is not None
    return measure.unit


def test_rounding_reaches_half_the_last_digit() -> None:
    from bot.text.figures import reach

    assert reach(Decimal("1.2")) == pytest.approx(0.036)  # no more than 3 %
    assert reach(Decimal("104")) == pytest.approx(0.501)
