"""The overview page for operators."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from adapters.web.pages.overview import PERIOD, Selection, seconds, usd
from bot.core.messages import Thread
from bot.storage.overview import RECENT
from bot.storage.tables import messages, runs, steps, threads
from tests.unit.adapters.web.pages.insight_stage import Stage, document, opened
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
        for field in page.xpath("//form[@class='filters']//select")
    }
    assert offered == {
        "days": ["1", "7", "30", "90"],
        "platform": ["", "discord", "slack"],
        "workspace": ["", "T1"],
        "channel": ["", "C1"],
    }
    chosen = [
        option.get("value") for option in page.xpath("//form[@class='filters']//option[@selected]")
    ]
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
    assert Selection.of({"days": days}).days == PERIOD


def test_a_strange_place_is_looked_up_as_it_is() -> None:
    assert Selection.of({"platform": "x' OR 1=1", "days": "7"}) == Selection(
        7, platform="x' OR 1=1"
    )


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


# ---------------------------------------------------------------- for other programs


async def test_the_days_can_be_had_as_csv_of_what_is_looked_at(stage: Stage, past: Past) -> None:
    page = document(await stage.get("/overview?days=7&platform=discord"))
    (link,) = page.xpath("//a[@download]/@href")
    answer = await stage.get(link)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    days = list(csv.DictReader(io.StringIO(answer.text)))
    assert [day["day"] for day in days] == sorted(day["day"] for day in days)
    assert len(days) == 7
    assert sum(int(day["questions"]) for day in days) == 1
    assert sum(int(day["answered"]) for day in days) == 1
    assert sum(float(day["usd"]) for day in days) == pytest.approx(0.003)


async def test_all_figures_can_be_had_as_json_without_what_was_asked(
    stage: Stage, past: Past
) -> None:
    answer = await stage.get("/overview.json?days=30")
    told = answer.json()
    assert sum(day["answered"] for day in told["days"]) == 2
    assert told["feedback"] == {"good": 1}
    assert {step["kind"] for step in told["steps"]} == {"model", "read"}
    assert told["queue"] == {"waiting": 0, "running": 0, "oldest": None}
    assert told["median_seconds"] == 0
    assert "Question 1" not in answer.text


@pytest.mark.parametrize("path", ["/overview.csv", "/overview.json"])
async def test_the_figures_are_for_operators(tmp_path: Path, path: str) -> None:
    settings = {"console_user_header": "X-User", "admins": ("ada",)}
    async with opened(tmp_path, **settings) as stage:
        assert (await stage.get(path, **{"X-User": "ada"})).status_code == 200
        assert (await stage.get(path, **{"X-User": "eve"})).status_code == 403
        assert (await stage.get(path)).status_code == 403


# ---------------------------------------------------------------- much and nothing


async def test_an_installation_without_questions_says_how_to_begin(stage: Stage) -> None:
    page = document(await stage.get("/overview"))
    assert "No questions yet" in page.text_content()
    assert page.xpath("//section//a[@href='/']")


async def test_a_view_without_questions_leads_to_one_with_them(stage: Stage, past: Past) -> None:
    page = document(await stage.get("/overview?days=7&platform=discord&workspace=T1"))
    assert "No questions were asked in this period and place" in page.text_content()
    (link,) = page.xpath("//a[@href='/overview?days=90']/@href")
    assert (await tiles(stage, link.removeprefix("/overview")))["Questions"] == "2"


async def test_of_very_many_questions_the_steps_of_the_latest_are_shown(
    stage: Stage, past: Past
) -> None:
    assert "Of the latest" not in (await stage.get("/overview")).text
    now = datetime.now(UTC) - timedelta(days=2)
    async with stage.store.database.write() as db:
        for table, row in (
            (threads, {"key": "k", "platform": "slack", "workspace": "T1", "channel": "C1",
                       "thread": "k", "created_at": now}),
            (messages, {"thread_key": "k", "author_id": "ada", "author_name": "Ada",
                        "text": "?", "links": [], "attachments": [], "locale": "", "at": now}),
            (runs, {"thread_key": "k", "state": "answered", "options": {},
                    "accepted_at": now, "ended_at": now}),
            (steps, {"key": "s", "kind": "search", "title": "old", "result": "{}",
                     "attempt": 1, "seconds": 999.0, "at": now}),
        ):  # fmt: skip
            many = range(RECENT) if table is not threads else range(1)
            rows = [{**row, **_own(table, number)} for number in many]
            await db.execute(sa.insert(table), rows)
    page = document(await stage.get("/overview"))
    assert f"Of the latest {RECENT:,} questions." in page.text_content()
    assert (await tiles(stage))["Questions"] == f"{RECENT + 2:,}"
    (count,) = page.xpath("//section[@aria-labelledby='kinds-heading']//tr[th='search']/td[1]")
    assert int(count.text) == RECENT - 2, "the two of the past are later"


def _own(table: sa.Table, number: int) -> dict[str, object]:
    """The values in which each of many rows differs from the others."""
    if table is messages:
        return {"id": 1_000 + number, "event_key": f"many:{number}"}
    if table is runs:
        return {"id": f"many{number}", "message_id": 1_000 + number}
    return {"run_id": f"many{number}"} if table is steps else {}
