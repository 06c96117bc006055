import pytest

from bot.text.arithmetic import unproven
from bot.text.facts import facts, missing_from

CUP = "Eight teams played 24 matches with 134 goals. Lind scored 11 goals."
FALLS = "It falls in two steps (15 m and 12 m) through a cave of 1.5 m."
TOWN = "The population was 2,384 at the 2010 census, down from 2,522 at the 2000 census."
SHOPS = "The chain had 675 shops in 2013. In 2018 it had 1,124 shops."
SEATS = "The church has 73 parishes in nine Canadian provinces and two American states."
PAY = "Ames $30,000 North; Berg $20,000 South; Cole $15,500 East"
ANNALS = "The annals give his death as 538, 542 and 545."
RANK = "Sancha was the fifth of seven children."
DIRECTOR = "Tinling (May 8, 1889 – May 14, 1967) was a director."


def _left(claim: str, quoted: str) -> list[str]:
    missing = missing_from(facts(claim), quoted)
    return [fact.text for fact in unproven(claim, missing, quoted, "", [2026])]


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("The water drops 27 metres.", FALLS),
        ("The water drops about 89 feet.", FALLS),
        ("In 2013 there were 449 shops to go.", SHOPS),
        ("The dates lie up to seven years apart.", ANNALS),
        ("Lind shot one goal in every twelve.", CUP),
        ("One in 18 residents was gone by 2010.", TOWN),
        ("The town lost nearly 14 people a year.", TOWN),
        ("The town lost 13.8 people a year (138 / 10).", TOWN),
        ("The three were paid $65,500.", PAY),
        ("Four children were older, and two younger.", RANK),
        ("He died at 78, six days after his birthday.", DIRECTOR),
        ("He died a year before he would have turned 79.", DIRECTOR),
        (
            "He directed for 36 years and wrote for 35.",
            "He directed 1934–1970 and wrote 1932–1967.",
        ),
        ("George lived to 67.", "George (12 August 184316 April 1911) was a painter."),
        ("Joan was 71 when he died in 1471.", "Joan (14 June 14001471) was a nobleman."),
    ],
)
def test_what_figures_of_a_quote_make_needs_no_word_for_it(claim: str, quoted: str) -> None:
    assert _left(claim, quoted) == []


@pytest.mark.parametrize(
    ("claim", "quoted", "left"),
    [
        ("The water drops 37 metres.", FALLS, ["37"]),
        ("The water drops 27 feet.", FALLS, ["27"]),
        ("In 2013 there were 459 shops to go.", SHOPS, ["459"]),
        ("The dates lie up to nine years apart.", ANNALS, ["nine"]),
        ("Lind shot one goal in every nine.", CUP, ["nine"]),
        ("The town lost nearly 19 people a year.", TOWN, ["19"]),
        (
            "The town lost 14.8 people a year (138 / 10 = 14.8).",
            TOWN,
            ["10", "14.8", "138 / 10 = 14.8"],
        ),
        ("The three were paid $66,500.", PAY, ["66,500"]),
        ("Six children were older.", RANK, ["Six"]),
        ("He died at 78, nine days after his birthday.", DIRECTOR, ["nine"]),
        ("He died a year before he would have turned 81.", DIRECTOR, ["81"]),
        ("George lived to 65.", "George (12 August 184316 April 1911) was a painter.", ["65"]),
    ],
)
def test_what_they_do_not_make_is_left(claim: str, quoted: str, left: list[str]) -> None:
    assert _left(claim, quoted) == left


def test_a_figure_put_in_the_place_of_another_is_no_sum() -> None:
    assert _left("It has 75 parishes in nine Canadian provinces.", SEATS)
    assert _left("It has parishes in eleven Canadian provinces.", SEATS) == ["eleven"]
    assert _left(
        "合同超过九十日未支付的中止。", "合同超过三十日未支付，或超过六十日未支付的中止。"
    ) == ["九十"]
