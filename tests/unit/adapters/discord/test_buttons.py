"""Buttons: what their ids say, how they look, and that a press finds its action again."""

from __future__ import annotations

from typing import Any

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import limits
from adapters.discord.buttons import (
    dynamic_item,
    encode,
    parse,
    runs_in,
    view_for,
    view_of_failure,
    view_while_working,
)
from bot.conversing.presses import Deeper, Feedback, FollowUp, Press, Stop
from bot.rendering.texts import texts_for
from tests.fakes.discord_limits import CUSTOM_ID

RUN = "0123456789ab"
ACTIONS: dict[str, Press] = {
    f"footnote:feedback:good:{RUN}": Feedback(RUN, "good"),
    f"footnote:feedback:bad:{RUN}": Feedback(RUN, "bad"),
    f"footnote:deeper:{RUN}": Deeper(RUN),
    f"footnote:follow-up:0:{RUN}": FollowUp(RUN, 0),
    f"footnote:follow-up:2:{RUN}": FollowUp(RUN, 2),
    f"footnote:stop:{RUN}": Stop(RUN),
}
runs = st.from_regex(r"[0-9A-Za-z_-]{1,64}", fullmatch=True)
actions = st.one_of(
    st.builds(Feedback, runs, st.sampled_from(["good", "bad"])),
    st.builds(Deeper, runs),
    st.builds(FollowUp, runs, st.integers(0, 99)),
    st.builds(Stop, runs),
)
texts = texts_for("en")


def buttons(view: discord.ui.View) -> list[dict[str, Any]]:
    return [part for row in view.to_components() for part in row["components"]]


@pytest.mark.parametrize(("custom_id", "action"), ACTIONS.items())
def test_an_id_says_what_its_button_does(custom_id: str, action: Press) -> None:
    assert encode(action) == custom_id
    assert parse(custom_id) == action


@given(actions)
def test_every_action_is_found_again_in_its_id(action: Press) -> None:
    custom_id = encode(action)
    assert parse(custom_id) == action
    assert len(custom_id) <= CUSTOM_ID


@pytest.mark.parametrize(
    "custom_id",
    [
        "",
        "footnote",
        "footnote:stop",
        "footnote:stop:",
        f"footnote:feedback:maybe:{RUN}",
        f"footnote:follow-up:x:{RUN}",
        f"footnote:follow-up:-1:{RUN}",
        f"other:stop:{RUN}",
        f"xfootnote:stop:{RUN}",
        f"footnote:stop:{RUN}:more",
        f"footnote:stop:{RUN}\n",
        "footnote:stop:a b",
    ],
)
def test_other_ids_mean_nothing(custom_id: str) -> None:
    assert parse(custom_id) is None


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    parse(text)


def test_a_working_run_can_be_stopped() -> None:
    (button,) = buttons(view_while_working(RUN, texts))
    assert (button["label"], button["custom_id"]) == ("Stop", f"footnote:stop:{RUN}")


@pytest.mark.parametrize(("deeper", "expected"), [(True, True), (False, False)])
def test_digging_deeper_is_offered_where_it_is_something_else(deeper: bool, expected: bool) -> None:
    ids = [button["custom_id"] for button in buttons(view_for(RUN, texts, deeper=deeper))]
    assert (encode(Deeper(RUN)) in ids) is expected
    assert encode(Feedback(RUN, "good")) in ids
    assert encode(Feedback(RUN, "bad")) in ids


@pytest.mark.parametrize("count", range(6))
def test_at_most_three_questions_are_offered(count: int) -> None:
    suggestions = [f"Question {number}?" for number in range(count)]
    shown = buttons(view_for(RUN, texts, deeper=True, suggestions=suggestions))
    labels = [b["label"] for b in shown if ":follow-up:" in b["custom_id"]]
    assert labels == suggestions[:3]


@given(st.lists(st.text(min_size=1), max_size=5))
def test_any_suggestion_fits_its_button(suggestions: list[str]) -> None:
    view = view_for(RUN, texts, deeper=True, suggestions=suggestions)
    for button in buttons(view):
        assert 1 <= len(button["label"]) <= limits.BUTTON_LABEL
    ids = [button["custom_id"] for button in buttons(view)]
    assert len(ids) == len(set(ids))
    assert all(len(row["components"]) <= limits.BUTTONS_IN_ROW for row in view.to_components())


def test_labels_speak_the_askers_language() -> None:
    labels = [b["label"] for b in buttons(view_for(RUN, texts_for("zh-CN"), deeper=True))]
    assert labels == ["有帮助", "没帮助", "深入研究"]


PAGE = f"https://footnote.example.com/runs/{RUN}"


def test_an_answer_and_a_failure_lead_to_how_they_came_about() -> None:
    suggestions = [f"Question {number}?" for number in range(3)]
    answered = view_for(RUN, texts, deeper=True, suggestions=suggestions, page=PAGE)
    failed = view_of_failure(texts, PAGE)
    assert failed is not None
    for view in (answered, failed):
        (link,) = [button for button in buttons(view) if "url" in button]
        assert (link["url"], link["label"]) == (PAGE, "How was this answered?")
        assert "custom_id" not in link
    assert all(len(row["components"]) <= limits.BUTTONS_IN_ROW for row in answered.to_components())
    assert runs_in(answered.to_components()) == {RUN}


@pytest.mark.parametrize("page", ["", "http://intranet/runs/1", "https://x.example/" + "a" * 500])
def test_an_address_that_discord_refuses_costs_no_answer(page: str) -> None:
    assert view_of_failure(texts, page) is None
    assert not [b for b in buttons(view_for(RUN, texts, deeper=True, page=page)) if "url" in b]


def test_the_runs_of_a_messages_buttons_are_known() -> None:
    view = view_for(RUN, texts, deeper=True)
    assert runs_in(view.to_components()) == {RUN}
    assert runs_in([{"type": 1, "components": [{"type": 2, "custom_id": "x"}]}]) == set()
    assert runs_in([{"type": 2, "style": 5, "url": "https://example.org"}]) == set()


class Presses:
    """Remembers what was pressed."""

    def __init__(self) -> None:
        self.actions: list[Press] = []

    async def pressed(self, interaction: discord.Interaction[Any], action: Press) -> None:
        self.actions.append(action)


@pytest.fixture
def presses() -> Presses:
    return Presses()


@pytest.mark.parametrize(("custom_id", "action"), ACTIONS.items())
async def test_a_press_on_any_message_reaches_the_callback(
    presses: Presses, custom_id: str, action: Press
) -> None:
    made = dynamic_item(presses.pressed)
    match = made.__discord_ui_compiled_template__.fullmatch(custom_id)
    assert match is not None
    interaction: Any = None
    button: discord.ui.Button[Any] = discord.ui.Button(custom_id=custom_id)
    item = await made.from_custom_id(interaction, button, match)
    await item.callback(interaction)
    assert presses.actions == [action]
    assert item.is_persistent()
