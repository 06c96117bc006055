"""Facts that a sentence claims, and those that a text does not support; units."""

from __future__ import annotations

import json
import random
from collections import Counter
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.facts import Fact, Unit, converted, facts, measure_at, missing_from
from bot.text.sentences import sentences


def found(kind: str, sentence: str) -> list[str]:
    return [fact.text for fact in facts(sentence) if fact.kind == kind]


def missing(sentence: str, text: str) -> list[str]:
    return [fact.text for fact in missing_from(facts(sentence), text)]


# ---------------------------------------------------------------- what is claimed


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It was built on 3 May 1887.", ["1887-05-03"]),
        ("It was built on May 3rd, 1887.", ["1887-05-03"]),
        ("It was built on the 3rd of May 1887.", ["1887-05-03"]),
        ("Built 1887-05-03.", ["1887-05-03"]),
        ("Erbaut am 3. Mai 1887.", ["1887-05-03"]),
        ("Construit le 3 mai 1887.", ["1887-05-03"]),
        ("Construido el 3 de mayo de 1887.", ["1887-05-03"]),
        ("它建于1887年5月3日。", ["1887-05-03"]),
        ("它建于 1887 年 5 月 3 日。", ["1887-05-03"]),
        ("它建于一八八七年五月。", ["1887"]),
        ("它建于880年代。", ["088X"]),
        ("它建于9世纪80年代。", ["088X"]),
        ("1887년 5월 3일에 지어졌다.", ["1887-05-03"]),
        ("In May 1887 it was new.", ["1887-05"]),
        ("On 3 May it opens.", ["--05-03"]),
        ("In 1887 it burned.", ["1887"]),
        ("The war of 1939–45 was long.", ["1939", "1945"]),
        ("It was popular in the 1880s.", ["188X"]),
        ("它在20世纪80年代很流行。", ["198X"]),
        ("It dates from the nineteenth century.", ["18XX"]),
        ("它始于19世纪。", ["18XX"]),
        ("In May it rains, on Monday too.", []),
        ("It may be 99 May flowers.", []),
    ],
)
def test_dates_come_in_one_notation(sentence: str, expected: list[str]) -> None:
    values = [fact.values[0] for fact in facts(sentence) if fact.kind == "date"]
    assert values == expected


def test_a_date_in_figures_alone_has_two_readings() -> None:
    (date,) = (fact for fact in facts("It was built on 03/05/1887.") if fact.kind == "date")
    assert set(date.values) == {"1887-05-03", "1887-03-05"}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It has 1,200 boats.", ["1200"]),
        ("It has 31200 boats.", ["31200"]),
        ("It has 1 200 boats.", ["1200"]),
        ("It has **1,200** boats.", ["1200"]),
        ("It has 25*64 boats.", ["25", "64"]),
        ("It has 1.2 thousand boats.", ["1200"]),
        ("It has twelve hundred boats.", ["1200"]),
        ("It has 1.2 million boats.", ["1200000"]),
        ("It cost $1.2M.", ["1200000"]),
        ("It cost 1.2bn euros.", ["1200000000"]),
        ("Sie hat 3,7 Millionen Einwohner.", ["3700000"]),
        ("它有1.2万艘船。", ["12000"]),
        ("它有三百二十艘船。", ["320"]),
        ("人口は1.2億人です。", ["120000000"]),
        ("It rose by 30%.", ["30"]),
        ("It is 6½ feet tall.", ["6.5"]),
        ("It has twenty-five rooms.", ["25"]),
        ("It has two hundred and five rooms.", ["205"]),
        ("She has two daughters.", ["2"]),
        ("The two sisters met.", []),
        ("One of them won the first prize.", []),
        ("1. It has a list mark.", []),
        ("It is so. [3]", []),
        ("See `x = 5` and https://example.com/7.", []),
        ("The A320 flies.", []),
    ],
)
def test_figures_come_as_values(sentence: str, expected: list[str]) -> None:
    values = [fact.values[0] for fact in facts(sentence) if fact.kind == "figure"]
    assert values == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The harbour was built by Ingrid Dahl.", ["Ingrid Dahl"]),
        ("Oslo has a harbour.", ["Oslo"]),
        ("Oslo's harbour is old.", ["Oslo"]),
        ("Construction began late.", []),
        ("However, the work went on.", []),
        ("Historians say so.", []),
        ("What remains is unclear.", []),
        ("It opened on a Monday in May.", []),
        ("The University of Oslo is in Norway.", ["University of Oslo", "Norway"]),
        ("Ludwig van Beethoven wrote it.", ["Ludwig van Beethoven"]),
        ("NASA and the U.S. agreed.", ["NASA", "U.S"]),
        ("World War II ended.", []),
        ("**Ingrid Dahl** built it.", ["Ingrid Dahl"]),
        ("- **Population:** many", []),
        ("It said: Nothing is known.", []),
        ("I think he left.", []),
        ("Der Hafen wurde von der Stadt gebaut.", []),
        ("Le port fut construit par Ingrid Dahl.", ["Ingrid Dahl"]),
        ("《红楼梦》由曹雪芹所写。", ["《红楼梦》"]),
        ("港口由英格丽·达尔设计。", ["格丽·达尔"]),
        ("OpenAI 发布了它。", ["OpenAI"]),
    ],
)
def test_names_are_found(sentence: str, expected: list[str]) -> None:
    assert [text.rstrip(".") for text in found("name", sentence)] == expected


# ---------------------------------------------------------------- what a text bears out


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Built on 3 May 1887.", "It was built on May 3, 1887."),
        ("She sits in the Senate.", "She was elected National Senator in 1887."),
        ("It is worth 162.6 billion.", "It is worth 162 600 mln."),
        ("Built on 3 May 1887.", "它建于1887年5月3日。"),
        ("Built on 3 May 1887.", "In 1887 much was new. On May 3 it was built."),
        ("Built in 1887.", "Built 1887-05-03."),
        ("Built in the 1880s.", "Built in 1887."),
        ("Built in the 19th century.", "Built in 1887."),
        ("Built in May 1887.", "Built on 3 May 1887."),
        ("The war ended in 1945.", "The war (1939–45) was long."),
        ("It has 1,200 boats.", "It holds 1200 boats."),
        ("It has 1.2 million people.", "The population is 1,234,567."),
        ("It has about 1,200 boats.", "It holds 1,187 boats."),
        ("It has 2 harbours.", "It has two harbours."),
        ("It fell in July 1887.", "In 1887 it stood. In July it fell."),
        ("It was 40 degrees Celsius.", "It was 104 °F."),
        ("It held for 440 weeks.", "It held for 8.43 years."),
        ("It has two harbours.", "Harbours: 2"),
        ("It has two harbours.", "It has a pair of harbours."),
        ("It rose by 30%.", "It rose by 29.7 percent."),
        ("It came 3rd.", "It came third."),
        ("He was Henry 8.", "Henry VIII was king."),
        ("它有12000艘船。", "它有1.2万艘船。"),
        ("它有3到5万人。", "It had 30 to 50 thousand people."),
        ("它有三百二十艘船。", "It has 320 boats."),
        ("The French army won.", "The army of France won."),
        ("It is in Norway.", "A Norwegian town."),
        ("An Italian wrote it.", "He came from Italy."),
        ("She is American.", "She is from the United States."),
        ("It is in the United States.", "It is in the U.S."),
        ("It is in the US.", "It is in the United States of America."),
        ("The British Prime Minister Boris Johnson left.", "Boris Johnson left the UK government."),
        ("NASA launched it.", "The National Aeronautics and Space Administration launched it."),
        ("The World Health Organization said so.", "It was the WHO."),
        ("The Fulda River is long.", "The Fulda is long."),
        ("John F. Kennedy spoke.", "John Fitzgerald Kennedy spoke."),
        ("The Beatles' songs sold.", "A Beatles song sold."),
        ("Łódź lies there.", "Lodz is a city there."),
        ("《红楼梦》很长。", "他读了《红楼梦》。"),
        ("《红楼梦》很长。", "It is long."),
        ("《Ulysses and Home》很长。", "他读了《Ulysses and Home》。"),
        ("Oslo ist groß und der Hafen auch.", "A text in English."),
        ("Londres est la capitale de ce pays.", "The capital of the country is London."),
    ],
)
def test_true_claims_are_not_doubted(sentence: str, text: str) -> None:
    assert missing(sentence, text) == []


@pytest.mark.parametrize(
    ("sentence", "text", "expected"),
    [
        ("Built on 3 May 1887.", "Built on 4 May 1887.", ["3 May 1887"]),
        ("Built on 3 May 1887.", "Built in May 1887.", ["3 May 1887"]),
        ("Built in 1887.", "Built in 1878.", ["1887"]),
        ("Built in the 1880s.", "Built in 1897.", ["1880s"]),
        ("它建于1887年。", "它建于1878年。", ["1887年"]),
        ("It has 1,200 boats.", "It has 1,300 boats.", ["1,200"]),
        ("It has 1.2 million people.", "The population is 1,334,567.", ["1.2 million"]),
        ("It has 1,200 boats.", "It has 1,187 boats.", ["1,200"]),
        ("It has two harbours.", "It has three harbours.", ["two"]),
        ("It rose by 62%.", "It rose by 60%.", ["62%"]),
        ("Ingrid Dahl built it.", "Ingrid Holm built it.", ["Ingrid Dahl"]),
        ("Tromsø has a harbour.", "Oslo has a harbour.", ["Tromsø"]),
        ("It is in Austria.", "It is in Australia.", ["Austria"]),
        ("An Iranian wrote it.", "He came from Iraq.", ["Iranian"]),
        ("It is in the United States.", "It is in the United Kingdom.", ["United States"]),
        ("Mary wrote it.", "Maria wrote it.", ["Mary"]),
        ("《红楼梦》很长。", "《水浒传》很长。", ["《红楼梦》"]),
        ("OpenAI 发布了它。", "谷歌 Google 发布了它。", ["OpenAI"]),
    ],
)
def test_false_claims_are_caught(sentence: str, text: str, expected: list[str]) -> None:
    assert missing(sentence, text) == expected


PHRASES = [
    *("In 1887,", "Ingrid Dahl", "of Oslo", "sold", "1,200", "boats", "for $1.2 million", "two"),
    *(
        "about 30%",
        "on 3 May 1887",
        "twenty-five",
        "the U.S.",
        "《红楼梦》",
        "1887年5月3日",
        "约1.2万",
    ),
    *("World War II", "½", "3–5", "A320", "É", "(", ")", "19th century", "1880s", "–", "3.11.2"),
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PHRASES)).map(" ".join)))
def test_every_sentence_bears_itself_out(sentence: str) -> None:
    assert missing(sentence, sentence) == []


@given(st.lists(st.sampled_from(PHRASES)).map(" ".join))
def test_facts_are_verbatim_and_come_once(sentence: str) -> None:
    claimed = facts(sentence)
    assert len({(fact.kind, fact.values, fact.unit) for fact in claimed}) == len(claimed)
    assert all(fact.text in sentence for fact in claimed)


def test_missing_facts_keep_their_order() -> None:
    claimed = facts("Ingrid Dahl sold 12 boats and 15 ships to Oslo in 1887.")
    assert missing_from(claimed, "nothing") == list(claimed)


@pytest.mark.parametrize("unit", ["1", "1,", "1.", "A ", "Ab.", "1887 ", "二", "《", "a·", "May "])
def test_monotonous_text_takes_linear_time(unit: str) -> None:
    assert missing_from(facts(unit * 20_000), "") is not None


pytestmark = pytest.mark.shared


def paragraphs(folder: Path, language: str) -> list[str]:
    data = json.loads((folder / "chinese" / f"xquad.{language}.json").read_text(encoding="utf-8"))
    return [p["context"] for article in data["data"] for p in article["paragraphs"]]


def claims(text: str) -> list[Fact]:
    return [fact for s in sentences(text) for fact in facts(text[s.start : s.end])]


@pytest.mark.parametrize(("claimed", "source"), [("zh", "en"), ("en", "zh")])
def test_figures_and_dates_meet_across_languages(
    shared_data: Path, claimed: str, source: str
) -> None:
    """The same paragraphs in two languages: what differs is mostly the translators' doing."""
    total = doubted = 0
    pairs = zip(paragraphs(shared_data, claimed), paragraphs(shared_data, source), strict=True)
    for one, other in pairs:
        found = [fact for fact in claims(one) if fact.kind != "name"]
        total += len(found)
        doubted += len(missing_from(found, other))
    assert total > 800
    assert doubted < 0.03 * total


def test_no_sentence_of_a_page_is_doubted_by_its_page(shared_data: Path) -> None:
    for text in paragraphs(shared_data, "en"):
        assert missing_from(claims(text), text) == []


def test_facts_of_other_pages_are_caught(shared_data: Path) -> None:
    texts = paragraphs(shared_data, "en")
    random.Random(1).shuffle(texts)
    total, caught = Counter[str](), Counter[str]()
    for one, other in pairwise(texts):
        found = claims(one)
        total.update(fact.kind for fact in found)
        caught.update(fact.kind for fact in missing_from(found, other))
    for kind, at_least in (("figure", 0.85), ("date", 0.9), ("name", 0.85)):
        assert caught[kind] >= at_least * total[kind] > 0, kind


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
