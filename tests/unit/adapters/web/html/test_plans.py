"""A run's plan as the console shows it."""

from __future__ import annotations

import re

import pytest

from adapters.web.html.plans import DOING, ICONS, plan_html, plan_of
from adapters.web.html.sources import site_of
from adapters.web.live import ReplyState
from adapters.web.templating import Templates
from bot.core.messages import PlanView, StepState, StepView
from bot.core.texts import texts_for

EN = texts_for("en")


def a_page(
    number: int, state: StepState = "done", host: str = "e.org", parent: str = ""
) -> StepView:
    url = f"https://{host}/{number}"
    return StepView(f"p{number}", "read", f"Page {number}", state, sources=(url,), parent=parent)


def a_search(number: int, state: StepState = "done", parent: str = "") -> StepView:
    return StepView(f"s{number}", "search", f"query {number}", state, parent=parent)


def a_node(id: str, state: StepState, *needs: str, found: tuple[str, ...] = ()) -> StepView:
    return StepView(id, "node", f"Sub-question {id}?", state, needs=needs, found=found)


def shown(*steps: StepView) -> str:
    return plan_html(Templates(), EN, "r1", ReplyState(plan=PlanView("?", steps)))


def lines(html: str) -> list[str]:
    """The lines that are visible while nothing is unfolded."""
    without_icons = re.sub(r'<span class="sites">.*', "</summary>", html)
    found = re.findall(r"<summary>(.*?)</summary>", without_icons, re.DOTALL)
    return [" ".join(re.sub("<[^>]+>", "", each).split()) for each in found]


def test_however_much_is_read_the_plan_has_few_lines() -> None:
    steps = [StepView("t", "think", "Think", "done")]
    steps += [a_search(n) for n in range(9)] + [a_page(n) for n in range(40)]
    assert lines(shown(*steps)) == ["Searched 9 times", "Read 40 pages"]


def test_at_most_five_lines_with_everything_there_is() -> None:
    paragraph = StepView("a", "paragraph", "History", "done")
    steps = (a_node("1", "done"), a_node("2", "running"), paragraph, a_search(1), a_page(1))
    assert lines(shown(*steps)) == [
        "1 of 1 parts done",
        "Searched once",
        "Read one page",
        "1 of 2 parts of the research done",
    ]


def test_pages_that_could_not_be_read_are_counted_apart() -> None:
    html = shown(a_page(1), a_page(2, "failed"), a_page(3, "failed"))
    assert lines(html)[0].startswith("Read one page · 2 could not be read")


def test_icons_stand_once_for_each_site_and_are_few() -> None:
    steps = [a_page(n, host=f"{'abcdefgh'[n % 8]}.org") for n in range(32)]
    sites = plan_of(PlanView("?", tuple(steps)), EN).sites
    assert [site.letter for site in sites] == list("ABCDEFGH")[:ICONS]


def test_an_icon_is_made_of_the_name_alone() -> None:
    assert site_of("https://www.e.org/a") == site_of("https://e.org/b")
    assert site_of("https://www.e.org/a").letter == "E"
    assert site_of("file:///srv/private/notes.md").name == ""
    assert "<img" not in shown(a_page(1))


def test_the_present_activity_names_the_sub_questions_in_words() -> None:
    steps = (a_node("1", "running"), a_search(1, "running", "1"), a_node("2", "running"))
    now = plan_of(PlanView("?", steps), EN).now
    assert now == "Looking for: Sub-question 1? · Sub-question 2?"
    many = tuple(a_search(n, "running") for n in range(9))
    assert plan_of(PlanView("?", many), EN).now.count("Searching") == DOING


def test_a_part_of_a_report_is_named_instead_of_what_is_done_for_it() -> None:
    part = StepView("paragraph-1", "paragraph", "History", "running")
    draft = StepView("d", "draft", "Draft", "running", parent="paragraph-1")
    assert plan_of(PlanView("?", (part, draft)), EN).now == "Working on: History"


def test_a_round_of_exhaustive_research_is_named_by_its_searches() -> None:
    number = StepView("round-1", "node", "After 3 searches: no facts", "running")
    search = a_search(1, "running", "round-1")
    assert plan_of(PlanView("?", (number, search)), EN).now == "Searching: query 1"
    assert plan_of(PlanView("?", (number,)), EN).now == "After 3 searches: no facts"


def test_the_limits_of_exhaustive_research_stay_beside_the_present_activity() -> None:
    steps = (StepView("price", "price", "Up to 150 searches.", "done"), a_search(1, "running"))
    now = plan_of(PlanView("?", steps), EN).now
    assert now == "Up to 150 searches. · Searching: query 1"


def test_a_node_leads_to_what_it_has_found() -> None:
    html = shown(
        a_node("1", "done", found=("It is <b>330 m</b> tall.",)),
        a_page(7, parent="1"),
        a_node("2", "waiting", "1"),
    )
    assert 'href="#found-r1-1"' in html
    finding = re.search(r'<section class="finding" id="found-r1-1".*?</section>', html, re.DOTALL)
    assert finding is not None
    assert "It is &lt;b&gt;330 m&lt;/b&gt; tall." in finding[0]
    assert "Page 7" in finding[0]
    assert "Nothing found yet." in html


def test_a_finding_is_words_without_markup() -> None:
    table = "## Heights\n\n| tower | height |\n|---|---|\n| **Eiffel** | 330 m |"
    (node,) = plan_of(PlanView("?", (a_node("1", "done", found=(table,)),)), EN).nodes
    assert node.found == ("Heights · tower · height · Eiffel · 330 m",)


@pytest.mark.parametrize(("url", "leads"), [("https://e.org/7", True), ("file:///srv/7", False)])
def test_only_pages_of_the_web_are_links(url: str, leads: bool) -> None:
    html = shown(StepView("p", "read", "A page", "done", sources=(url,)))
    assert ("<a href=" in html) is leads
    assert "file:" not in html
