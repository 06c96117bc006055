"""A conversation as Markdown and as JSON."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.cli.export import as_json
from bot.core.messages import Answer, Attachment, Author, Citation, Doubt, RunOptions, Thread
from bot.rendering.documents import as_markdown
from bot.storage.archive import Conversation, DoneStep, Held, StoredMessage

AT = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
THREAD = Thread("slack", "T1", "C1", "171.2")


def a_citation(number: int, quote: str, title: str = "Tower", url: str = "") -> Citation:
    return Citation(number, url or f"https://e.org/{number}", title, quote, "hash", 0, len(quote))


def a_conversation(
    *citations: Citation, text: str = "How tall?\nAnd why?", state: str = "answered"
) -> Conversation:
    answer = Answer(
        "answered",
        "It is **330 m** tall [1].",
        "How tall is it?",
        "r1",
        citations,
        reasoner="closest",
        doubts=(Doubt("It is old.", "it has no footnote"),),
    )
    steps = (DoneStep("search", "tower", 0.5, AT),)
    run = Held("r1", state, RunOptions(), AT, AT, answer, steps, {"bob": "good"})
    file = Attachment("plan.pdf", "application/pdf", "https://e.org/plan.pdf")
    asked = StoredMessage(Author("U1", "Ada"), text, AT, (), (file,), run)
    heard = StoredMessage(Author("U2", "Bob"), "I see.", AT, (), (), None)
    waiting = StoredMessage(
        Author("U2", "Bob"),
        "And now?",
        AT,
        (),
        (),
        Held("r2", "running", RunOptions(), AT, None, None, (), {}),
    )
    gone = StoredMessage(Author("U2", "Bob"), "", AT, (), (), None)
    return Conversation(THREAD, AT, (asked, heard, waiting, gone))


def test_markdown_has_questions_answers_sources_and_dates() -> None:
    quotes = (a_citation(1, "330 m tall"), a_citation(1, "in 1889"), a_citation(2, "iron", "Iron"))
    text = as_markdown(a_conversation(*quotes))
    for part in (
        "# Conversation 171.2",
        "slack · T1 · C1 · begun 2026-01-15 12:00 UTC",
        "## Ada, 2026-01-15 12:00 UTC\n\n> How tall?\n> And why?",
        "File: [plan.pdf](<https://e.org/plan.pdf>)",
        "### Footnote, 2026-01-15 12:00 UTC\n\nIt is **330 m** tall [1].",
        "- \\[1\\] [Tower](<https://e.org/1>)\n\n  > 330 m tall\n\n  > in 1889\n",
        "- \\[2\\] [Iron](<https://e.org/2>)\n\n  > iron\n",
        "⚠ It is old. — it has no footnote",
        "> I see.",
        "*No answer: the run r2 is running.*",
        "*Deleted.*",
    ):
        assert part in text, part


def test_nothing_of_a_long_quote_is_left_out() -> None:
    quote = "word " * 2_000
    assert quote.strip() in as_markdown(a_conversation(a_citation(1, quote)))


def test_json_has_all_that_is_kept() -> None:
    document: Any = as_json(a_conversation(a_citation(1, "330 m tall")))
    assert document["key"] == "slack:T1:C1:171.2"
    assert document["thread"] == {
        "platform": "slack",
        "workspace": "T1",
        "channel": "C1",
        "thread": "171.2",
    }
    asked, heard, waiting, _ = document["said"]
    assert asked["author"]["name"] == "Ada"
    run = asked["run"]
    assert run["answer"]["citations"][0]["quote"] == "330 m tall"
    assert run["answer"]["doubts"][0]["reason"] == "it has no footnote"
    assert set(run["answer"]) >= {"steps", "usage", "queries", "notes", "suggestions"}
    assert (run["steps"][0]["kind"], run["feedback"]) == ("search", {"bob": "good"})
    assert run["ended_at"] == "2026-01-15T12:00:00Z"
    assert heard["run"] is None
    assert waiting["run"]["answer"] is None


MARKUP = st.text(st.sampled_from("#-=+1.) \n\t*_[](<>)`|~!\\&>ab"), max_size=30)


@given(title=MARKUP, quote=MARKUP, name=MARKUP)
def test_foreign_words_have_no_power_over_the_document(title: str, quote: str, name: str) -> None:
    """Its headings, links and lists are its own, whatever pages and people are called."""
    said = StoredMessage(Author("U1", name), "Hm.", AT, (), (), None)
    conversation = a_conversation(a_citation(1, quote, title))
    conversation = replace(conversation, said=(*conversation.said, said))
    tokens = MarkdownIt().parse(as_markdown(conversation))
    kinds = [token.tag for token in tokens if token.type == "heading_open"]
    assert kinds == ["h1", "h2", "h3", "h2", "h2", "h2", "h2"]
    inline = [child for token in tokens for child in token.children or ()]
    targets = [child.attrs["href"] for child in inline if child.type == "link_open"]
    assert targets == ["https://e.org/plan.pdf", "https://e.org/1"]
    assert [token.type for token in tokens].count("bullet_list_open") == 1
    assert not {"fence", "code_block", "ordered_list_open", "hr"} & {t.type for t in tokens}
