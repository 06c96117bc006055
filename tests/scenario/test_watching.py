"""From an answer in a chat to the page that tells how it came about, and to what operators see."""

from __future__ import annotations

import urllib.request
from typing import Any

from lxml import html as lxml_html  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

from tests.scenario.places import KEYS, Place, until_answered
from tests.scenario.program import Program
from tests.scenario.serving import Nursery, running

TOKEN = "a-long-enough-token"
PUBLIC = "https://footnote.example.com"


def got(url: str) -> str:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=10) as response:
        body: bytes = response.read()
    return body.decode()


def page(url: str) -> Any:
    return lxml_html.document_fromstring(got(url))


def numbers(url: str) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(got(url))
        for sample in family.samples
    }


def test_an_answer_can_be_looked_into_and_is_counted(
    nursery: Nursery, chatty: Program, place: Place
) -> None:
    chatty.settings |= {"FOOTNOTE_PUBLIC_URL": PUBLIC, "FOOTNOTE_CONSOLE_TOKEN": TOKEN}
    with running(nursery, chatty, place) as program:
        metrics = f"{program.http}/metrics"
        numbers(metrics)  # from here on it counts
        (post,) = until_answered(place, place.ask(KEYS), 1)
        assert "How was this answered?" in post.text

        trace = page(f"{program.http}/runs/{post.run}")
        (question,) = trace.xpath("//h1")
        assert KEYS in question.text_content()
        marked = [mark.text_content() for mark in trace.xpath("//mark")]
        assert any("90 days" in words for words in marked)

        overview = page(f"{program.http}/overview?platform={place.name}")
        assert overview.xpath(f"//a[@href='/runs/{post.run}']")

        # The end is kept when the answer has been shown.
        ended = ("footnote_run_seconds_count", place.name, "answered")
        place.until(lambda: numbers(metrics).get(ended) == 1)
        after = numbers(metrics)
        assert after["footnote_questions_total", place.name] == 1
        assert after["footnote_step_seconds_count", "search"] >= 1
        told = {key for key in after if key[0] == "footnote_platform_calls_total"}
        assert any(place.name in key and "200" in key for key in told), told
