"""How it goes, for operators."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.web.amounts import seconds, usd
from adapters.web.overview import PERIOD, Looked
from bot.messages import Thread
from tests.unit.adapters.web.insight_stage import Stage, document, opened
from tests.unit.storage.past import Past, pages


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with opened(tmp_path) as stage:
        yield stage


@pytest.fixture
async def past(stage: Stage) -> Past:
    """An answer in Slack yesterday, one in Discord an hour ago that cost something."""
    past = Past(stage.store, at=datetime.now(UTC) - timedelta(days=1))
    await past.judged(await past.answered(cited=pages("tower")), "bob")
    past.at = datetime.now(UTC) - timedelta(seconds=1)
    past.thread = Thread("discord", "G1", "D1", "t")
    await past.answered(steps=3)
    return past


async def tiles(stage: Stage, query: str = "") -> dict[str, str]:
    page = document(await stage.get(f"/overview{query}"))
    found = page.xpath("//dl[@class='tiles']/div")
    return {tile[0].text_content(): tile[1].text_content() for tile in found}


async def test_the_sums_are_of_what_is_looked_at(stage: Stage, past: Past) -> None:
    told = await tiles(stage)
    assert (told["Questions"], told["Answered"], told["Cost"]) == ("2", "2 (100%)", "$0.0040")
    assert told["Feedback"] == "+1"
    told = await tiles(stage, "?platform=discord")
    assert (told["Questions"], told["Cost"], told["Feedback"]) == ("1", "$0.0030", "–")
    assert (await tiles(stage, "?platform=discord&workspace=T1"))["Questions"] == "0"


async def test_filters_offer_what_there_is_and_show_what_is_chosen(
    stage: Stage, past: Past
) -> None:
    page = document(await stage.get("/overview?platform=slack&days=7"))
    offered = {
        field.get("name"): [option.get("value") for option in field]
        for field in page.iter("select")
    }
    assert offered == {
        "days": ["1", "7", "30", "90"],
        "platform": ["", "discord", "slack"],
        "workspace": ["", "T1"],
        "channel": ["", "C1"],
    }
    chosen = [option.get("value") for option in page.xpath("//option[@selected]")]
    assert chosen == ["7", "slack", "", ""]


async def test_every_question_leads_to_how_it_was_answered(stage: Stage, past: Past) -> None:
    page = document(await stage.get("/overview"))
    links = [a.get("href") for a in page.xpath("//a[starts-with(@href, '/runs/')]")]
    assert {"/runs/r1", "/runs/r2"} <= {link.partition("#")[0] for link in links}
    assert (await stage.get(links[0])).status_code == 200


async def test_the_plot_has_its_numbers_in_a_table(stage: Stage, past: Past) -> None:
    page = document(await stage.get("/overview?days=7"))
    (table,) = page.xpath("//details//table")
    assert len(table.xpath("tbody/tr")) == 7
    assert sum(int(cell.text) for cell in table.xpath("tbody/tr/td[1]")) == 2


@pytest.mark.parametrize("days", ["", "0", "-1", "zzz", "4000", "²", "9" * 400])
def test_a_strange_period_is_the_usual_one(days: str) -> None:
    assert Looked.of({"days": days}).days == PERIOD


def test_a_strange_place_is_looked_up_as_it_is() -> None:
    assert Looked.of({"platform": "x' OR 1=1", "days": "7"}) == Looked(7, platform="x' OR 1=1")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0 s"),
        (0.0001, "0 ms"),
        (0.123, "123 ms"),
        (0.949, "949 ms"),
        (0.96, "1.0 s"),
        (9.94, "9.9 s"),
        (75, "75 s"),
        (119.6, "120 s"),
        (125, "2 min 05 s"),
        (3_600, "1 h 00 min"),
        (90_061, "25 h 01 min"),
    ],
)
def test_times_are_as_short_as_they_say_enough(value: float, said: str) -> None:
    assert seconds(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "$0.00"),
        (0.00012, "$0.0001"),
        (0.00004, "< $0.0001"),
        (0.5, "$0.5000"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money_shows_enough_digits_to_see_something(value: float, said: str) -> None:
    assert usd(value) == said
