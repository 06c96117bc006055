"""A mark leads to the quote that its sentence rests on, in the copy that was read."""

from __future__ import annotations

from adapters.web.html.plans import writing
from adapters.web.html.sources import AnswerPlaces, anchored, by_number
from adapters.web.live import ReplyState
from bot.core.messages import Answer, Citation, PlanView


def cited(number: int, quote: str, page: str = "h") -> Citation:
    url = f"https://example.org/{number}"
    return Citation(number, url, "The tower", quote, page, 0, len(quote))


def places(*citations: Citation, root: str = "") -> AnswerPlaces:
    return AnswerPlaces(Answer("answered", "Text", "Question?", "r 1", citations), root)


HEIGHT = cited(1, "The tower is 330 metres tall.")
BUILT = cited(1, "It was finished in 1889 by Eiffel.")
PAINT = cited(2, "Paint weighs sixty tonnes.")


def test_anchors_count_within_a_number() -> None:
    assert [name for name, _ in anchored([HEIGHT, PAINT, BUILT])] == ["q1-1", "q2-1", "q1-2"]
    assert [*by_number([PAINT, BUILT, HEIGHT])] == [1, 2]


def test_a_mark_leads_to_the_quote_with_most_of_its_sentences_words() -> None:
    where = places(HEIGHT, BUILT, PAINT)
    assert where(1, "Eiffel finished it in 1889").href == "/runs/r%201/pages/1#q1-2"
    assert where(1, "It is 330 metres tall").href == "/runs/r%201/pages/1#q1-1"
    assert where(2, "nothing in common").href == "/runs/r%201/pages/2#q2-1"


def test_a_mark_names_the_two_nearest_quotes_and_no_far_one() -> None:
    where = places(HEIGHT, BUILT, cited(1, "Many paint it."))
    assert where(1, "330 metres tall").quotes == ("q1-1",)
    assert where(1, "The tower is 330 metres tall, finished in 1889 by Eiffel").quotes == (
        "q1-1",
        "q1-2",
    )


def test_chinese_is_compared_by_characters() -> None:
    where = places(cited(1, "大桥于1937年通车。"), cited(1, "主跨长1280米。"))
    assert where(1, "它的主跨有1280米").href.endswith("#q1-2")


def test_a_number_with_several_copies_says_which() -> None:
    where = places(HEIGHT, cited(1, "It was 312 metres tall once.", page="older"))
    assert where(1, "312 metres once").href == "/runs/r%201/pages/1?copy=older#q1-2"


def test_a_number_without_a_quote_leads_to_its_page() -> None:
    assert places(HEIGHT, root="/footnote")(7, "x").href == "/footnote/runs/r%201/pages/7"


def test_what_is_being_written_leads_to_pages() -> None:
    plan = PlanView("", (), ((3, "https://a.example/"),))
    html = writing("r1", ReplyState(plan=plan, text="So [3]."), "/footnote")
    assert 'href="/footnote/runs/r1/pages/3"' in html
