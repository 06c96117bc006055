"""The overview page for operators."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.web.pages.overview import PERIOD, Selection, seconds, usd
from bot.core.messages import Thread
from bot.storage.workspaces import Opinion, Workspaces
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


async def sums(stage: Stage, query: str = "") -> list[str]:
    page = document(await stage.get(f"/overview{query}"))
    return [sentence.text_content() for sentence in page.xpath("//div[@class='sum']/p")]


async def test_the_sums_are_of_what_is_looked_at(stage: Stage, past: Past) -> None:
    first, pace, judged = await sums(stage)
    assert first == (
        "In the last 30 days: 2 questions from 2 people, none without an answer, 0.004 USD."
    )
    assert pace == "Half of the answers came within 0 s; an answer cost 0.002 USD on average."
    assert judged == "Readers rated 1 helpful and 0 not helpful."
    first, _ = await sums(stage, "?platform=discord&days=1")
    assert first == "Today: one question from one person, none without an answer, 0.003 USD."
    assert await sums(stage, "?platform=discord&workspace=T1") == []


async def test_what_could_not_be_answered_comes_with_what_to_do(stage: Stage, past: Past) -> None:
    page = document(await stage.get("/overview"))
    assert "All questions in this period and place were answered." in page.text_content()
    for _ in range(7):
        run, _ = await past.begun(asked="Who waters the plants?")
        await past.store.end(run.id, run.attempt, "not_found", past.at)
    page = document(await stage.get("/overview"))
    (entry,) = page.xpath("//section[@aria-labelledby='unanswered-heading']//li")
    assert "Who waters the plants?" in entry.text_content()
    assert "asked 7 times" in entry.text_content()
    assert page.xpath("//section//a[@href='/sources']")
    assert "7 without an answer" in (await sums(stage))[0]


async def test_what_readers_found_wrong_is_told_in_their_words(stage: Stage, past: Past) -> None:
    run = await past.answered()
    opinion = Opinion("bad", "outdated", "It moved in May.")
    await Workspaces(stage.store.database).keep_feedback(run, "bob", opinion)
    page = document(await stage.get("/overview"))
    (entry,) = page.xpath("//section[@aria-labelledby='complaints-heading']//li")
    assert "Outdated: It moved in May." in entry.text_content()


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
    assert told["people"] == 2
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
    assert page.xpath("//main//a[@href='/']")


async def test_a_view_without_questions_leads_to_one_with_them(stage: Stage, past: Past) -> None:
    page = document(await stage.get("/overview?days=7&platform=discord&workspace=T1"))
    assert "No questions in this period and place" in page.text_content()
    (link,) = page.xpath("//a[@href='/overview?days=90']/@href")
    assert "2 questions" in (await sums(stage, link.removeprefix("/overview")))[0]
