"""An evaluation as one self-contained HTML page."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import jinja2
import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from bot import __version__
from bot.answers import Citation
from bot.evaluation.questions import Groups
from bot.evaluation.results import Outcome
from bot.evaluation.rows import cost_words, kind_rows, outcome_words, rows

TEMPLATE = "page.html"


def page(outcome: Outcome, at: datetime, *, interrupted: bool) -> str:
    """Return the page; all content of answers and documents is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    figures = [side.figures for side in outcome.sides]
    return environment.get_template(TEMPLATE).render(
        outcome=outcome,
        at=f"{at:%Y-%m-%d %H:%M}",
        version=__version__,
        interrupted=interrupted,
        rows=rows(figures),
        spent=[(side, kind_rows(each)) for side, each in zip(outcome.sides, figures, strict=True)],
        sections=sections(outcome),
        words=outcome_words,
        cost=cost_words,
        markdown=markdown,
        groups=group_words,
        place=place_of,
    )


def markdown(text: str) -> Markup:
    """Convert Markdown of an answer or a quote to HTML, without embedded HTML and images, and with
    links to web pages only."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    html = parser.disable(["image", "reference"]).render(text)
    return Markup(nh3.clean(html, url_schemes={"http", "https"}))  # noqa: S704 - cleaned


def sections(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """Return headings with the names of questions, most important first."""
    names = outcome.names()
    differ = [name for name in names if outcome.differs(name)]
    rest = [name for name in names if name not in differ]
    asked = {name for side in outcome.sides for name in side.results}
    amiss = [
        name
        for name in rest
        if any(not s.results[name].score.as_expected for s in outcome.sides if name in s.results)
    ]
    return [
        ("The settings differ", differ),
        ("Not as expected", amiss),
        ("As expected", [name for name in rest if name not in amiss and name in asked]),
        ("Not asked", [name for name in rest if name not in asked]),
    ]


def place_of(citation: Citation) -> str:
    """The place of a quote: its page and headings; the first heading may be the page's title."""
    title = citation.title or citation.url
    if citation.heading.startswith(title):
        return citation.heading
    return " › ".join(filter(None, (title, citation.heading)))


def group_words(groups: Groups) -> str:
    """Format expected words or pages as text."""
    return " and ".join(" or ".join(f"“{each}”" for each in group) for group in groups)
