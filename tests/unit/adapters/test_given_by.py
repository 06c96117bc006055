"""Every platform says who gave the text of a page, if it was not the page's site."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from rich.console import Console

from adapters.discord.format import details as discord_details
from adapters.slack.buttons import details as slack_details
from adapters.terminal.plain import plain
from adapters.terminal.screen import rendered
from adapters.web.views import reply_of
from bot.core.messages import Answer, Citation
from bot.core.texts import texts_for
from bot.rendering.documents import answer_document

EN = texts_for("en")
SAID = "text supplied by Tavily"


def answer_by(via: str) -> Answer:
    quote = "The tides rise twice a day, and fall as often."
    cited = Citation(1, "https://a.test/", "Tides", quote, "h", 0, len(quote), "Tides", via)
    return Answer("answered", "They rise twice a day. [1]", "?", "r1", (cited,))


def in_discord(answer: Answer) -> str:
    looks = discord_details(answer, EN, embeds=True)
    return "".join(str(embed.to_dict()) for look in looks for embed in look.embeds)


def in_discord_without_embeds(answer: Answer) -> str:
    return "".join(look.content for look in discord_details(answer, EN, embeds=False))


def in_slack(answer: Answer) -> str:
    return repr(slack_details(answer, EN))


def in_terminal(answer: Answer) -> str:
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(rendered(answer))
    return out.getvalue()


def on_web(answer: Answer) -> str:
    return str(reply_of(answer, EN, {}).sources[0].given)


@pytest.mark.parametrize(
    "shown", [in_discord, in_discord_without_embeds, in_slack, in_terminal, plain, on_web]
)
def test_each_platform_says_who_gave_the_text(shown: Callable[[Answer], str]) -> None:
    assert SAID in shown(answer_by("Tavily"))
    assert "given by" not in shown(answer_by(""))


def test_programs_are_told_as_well() -> None:
    document = json.loads(json.dumps(answer_document(answer_by("Tavily"))))
    assert document["citations"][0]["via"] == "Tavily"
