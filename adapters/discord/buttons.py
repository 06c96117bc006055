"""The buttons under a reply: what they look like, and what pressing one means.

Everything a press needs is in the button's ``custom_id``, so that old buttons work after a
restart: ``footnote:feedback:good:RUN``, ``footnote:feedback:bad:RUN``, ``footnote:deeper:RUN``,
``footnote:follow-up:NUMBER:RUN`` (counted from 0), ``footnote:stop:RUN``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import discord

from adapters.discord.limits import BUTTON_LABEL, BUTTON_URL, BUTTONS_IN_ROW
from bot.conversing.presses import Deeper, Feedback, FollowUp, Press, Stop
from bot.rendering.lines import shortened
from bot.rendering.texts import Texts

TEMPLATE = re.compile(
    r"footnote:(?:feedback:(?P<verdict>good|bad)|(?P<deeper>deeper)"
    r"|follow-up:(?P<number>\d{1,2})|(?P<stop>stop)):(?P<run>[0-9A-Za-z_-]{1,64})"
)
FOLLOW_UPS = 3


Pressed = Callable[[discord.Interaction[Any], Press], Awaitable[None]]


def encode(press: Press) -> str:
    """The ``custom_id`` of the button that does this."""
    match press:
        case Feedback(run, verdict):
            return f"footnote:feedback:{verdict}:{run}"
        case Deeper(run):
            return f"footnote:deeper:{run}"
        case FollowUp(run, number):
            return f"footnote:follow-up:{number}:{run}"
        case Stop(run):
            return f"footnote:stop:{run}"


def parse(custom_id: str) -> Press | None:
    """What a ``custom_id`` means; None when it is none of ours."""
    match = TEMPLATE.fullmatch(custom_id)
    return None if match is None else _press(match)


def _press(match: re.Match[str]) -> Press:
    run = match["run"]
    if match["verdict"]:
        return Feedback(run, "good" if match["verdict"] == "good" else "bad")
    if match["number"]:
        return FollowUp(run, int(match["number"]))
    return Deeper(run) if match["deeper"] else Stop(run)


# ---------------------------------------------------------------- looks


def view_while_working(run: str, texts: Texts) -> discord.ui.View:
    """Stop."""
    view = discord.ui.View(timeout=None)
    view.add_item(_button(Stop(run), texts("stop-button"), discord.ButtonStyle.danger))
    return view


def view_for(
    run: str, texts: Texts, *, deeper: bool, suggestions: Sequence[str] = (), page: str = ""
) -> discord.ui.View:
    """Feedback, "Dig deeper" where that is something else, a link to the ``page`` that shows how
    it came about, and up to three questions to go on with; a question that is too long for a button
    is shortened on it."""
    view = discord.ui.View(timeout=None)
    looks = discord.ButtonStyle
    view.add_item(_button(Feedback(run, "good"), texts("feedback-good"), looks.secondary, "👍"))
    view.add_item(_button(Feedback(run, "bad"), texts("feedback-bad"), looks.secondary, "👎"))
    if deeper:
        view.add_item(_button(Deeper(run), texts("dig-deeper"), looks.primary, "🔎"))
    if _may_link(page):
        view.add_item(_link(page, texts))
    for number, suggestion in enumerate(suggestions[:FOLLOW_UPS]):
        label = shortened(suggestion, BUTTON_LABEL)
        if label:
            # Each in a row of its own: phones put long labels below each other anyway.
            view.add_item(_button(FollowUp(run, number), label, looks.secondary, row=number + 1))
    return view


def view_of_failure(texts: Texts, page: str) -> discord.ui.View | None:
    """The link to the ``page`` that shows how it came about, if there is one."""
    if not _may_link(page):
        return None
    view = discord.ui.View(timeout=None)
    view.add_item(_link(page, texts))
    return view


def _may_link(page: str) -> bool:
    """Whether Discord takes an address: it refuses the whole message for a host without a dot."""
    return len(page) <= BUTTON_URL and "." in (urlsplit(page).hostname or "")


def _link(page: str, texts: Texts) -> discord.ui.Button[discord.ui.View]:
    return discord.ui.Button(url=page, label=texts("web-how"), row=0)


def runs_in(components: Sequence[dict[str, Any]]) -> set[str]:
    """The runs that a message's buttons belong to; ``components`` as Discord sends them."""
    found = set()
    for row in components:
        for part in (row, *row.get("components", ())):
            press = parse(str(part.get("custom_id", "")))
            if press is not None:
                found.add(press.run)
    return found


def _button(
    press: Press,
    label: str,
    style: discord.ButtonStyle,
    emoji: str | None = None,
    row: int = 0,
) -> discord.ui.Button[discord.ui.View]:
    return discord.ui.Button(
        custom_id=encode(press), label=label, style=style, emoji=emoji, row=row
    )


# ---------------------------------------------------------------- presses


def dynamic_item(pressed: Pressed) -> type[discord.ui.DynamicItem[Any]]:
    """The class to give to ``client.add_dynamic_items``: ``pressed`` learns of every press of a
    button of ours, on whichever message it is."""

    class FootnoteButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=TEMPLATE):
        def __init__(self, button: discord.ui.Button[Any], press: Press) -> None:
            super().__init__(button)
            self.press = press

        @classmethod
        async def from_custom_id(
            cls,
            interaction: discord.Interaction[Any],
            item: discord.ui.Item[Any],
            match: re.Match[str],
            /,
        ) -> FootnoteButton:
            custom_id = match.string
            return cls(discord.ui.Button(custom_id=custom_id), _press(match))

        async def callback(self, interaction: discord.Interaction[Any]) -> None:
            await pressed(interaction, self.press)

    return FootnoteButton


assert BUTTONS_IN_ROW >= FOLLOW_UPS  # noqa: S101 - a slip in the tables above
