"""Buttons: what their ids say, how they look, and that a press finds its action again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import limits
from adapters.discord.buttons import (
    Button,
    dynamic_item,
    encode,
    form_of_question,
    form_of_reasons,
    parse,
    parse_form,
    rows_for,
    rows_of_link,
    rows_while_working,
    runs_in,
)
from adapters.discord.format import Row
from bot.core.texts import Texts, texts_for
from bot.service.buttons import Feedback, FollowUp, OnRun, Press
from tests.fakes.discord_errors import FormErrors
from tests.fakes.discord_limits import CUSTOM_ID, check_modal

RUN = "0123456789ab"
ACTIONS: dict[str, Button] = {
    f"footnote:feedback:good:{RUN}": Feedback(RUN, "good"),
    f"footnote:feedback:bad:{RUN}": Feedback(RUN, "bad"),
    f"footnote:deeper:{RUN}": OnRun("deeper", RUN),
    f"footnote:details:{RUN}": OnRun("details", RUN),
    f"footnote:watch:{RUN}": OnRun("watch", RUN),
    f"footnote:retract:{RUN}": OnRun("retract", RUN),
    f"footnote:stop:{RUN}": OnRun("stop", RUN),
}
runs = st.from_regex(r"[0-9A-Za-z_-]{1,64}", fullmatch=True)
actions = st.one_of(
    st.builds(Feedback, runs, st.sampled_from(["good", "bad"])),
    st.builds(OnRun, st.just("deeper"), runs),
    st.builds(OnRun, st.just("details"), runs),
    st.builds(OnRun, st.just("stop"), runs),
)
texts = texts_for("en")


def told(rows: tuple[Row, ...]) -> list[dict[str, Any]]:
    return [dict(row.to_component_dict()) for row in rows]


def buttons(rows: tuple[Row, ...]) -> list[dict[str, Any]]:
    return [part for row in told(rows) for part in row["components"]]


@pytest.mark.parametrize(("custom_id", "action"), ACTIONS.items())
def test_an_id_says_what_its_button_does(custom_id: str, action: Button) -> None:
    assert encode(action) == custom_id
    assert parse(custom_id) == action


@given(actions)
def test_every_action_is_found_again_in_its_id(action: Button) -> None:
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
    (button,) = buttons(rows_while_working(RUN, texts))
    assert (button["label"], button["custom_id"]) == ("Stop", f"footnote:stop:{RUN}")


def made(*, deeper: bool = True, details: bool = True, **more: Any) -> tuple[Row, ...]:
    return rows_for(RUN, more.pop("texts", texts), deeper=deeper, details=details, **more)


@pytest.mark.parametrize(
    ("deeper", "details", "extra"),
    [
        (True, True, [OnRun("deeper", RUN), OnRun("details", RUN), OnRun("watch", RUN)]),
        (True, False, [OnRun("deeper", RUN)]),
        (False, True, [OnRun("details", RUN), OnRun("watch", RUN)]),
        (False, False, []),
    ],
)
def test_what_is_offered_stands_in_one_row(deeper: bool, details: bool, extra: list[Press]) -> None:
    (row,) = told(made(deeper=deeper, details=details))
    pressed = [parse(button["custom_id"]) for button in row["components"]]
    assert pressed == [Feedback(RUN, "good"), Feedback(RUN, "bad"), *extra]


def test_a_correction_with_a_question_has_room_for_all_its_buttons() -> None:
    rows = told(made(corrects=True, suggestions=["Why?"]))
    assert [len(row["components"]) for row in rows] == [5, 1, 1]
    assert parse(rows[1]["components"][0]["custom_id"]) == OnRun("retract", RUN)


@pytest.mark.parametrize("count", range(6))
def test_at_most_three_questions_are_offered_in_a_menu(count: int) -> None:
    suggestions = [f"Question {number}?" for number in range(count)]
    _, *menus = told(made(suggestions=suggestions))
    options = [option for menu in menus for option in menu["components"][0]["options"]]
    assert [option["label"] for option in options] == suggestions[:3]
    for number, option in enumerate(options):
        custom_id = menus[0]["components"][0]["custom_id"]
        assert parse(custom_id, [option["value"]]) == FollowUp(RUN, number)


@given(st.lists(st.text(min_size=1), max_size=5))
def test_any_suggestion_fits_the_menu(suggestions: list[str]) -> None:
    rows = told(made(suggestions=suggestions))
    ids = [part["custom_id"] for row in rows for part in row["components"]]
    assert len(ids) == len(set(ids))
    for row in rows[1:]:
        (menu,) = row["components"]
        assert all(1 <= len(option["label"]) <= limits.OPTION_LABEL for option in menu["options"])
        assert 1 <= len(menu["placeholder"]) <= limits.PLACEHOLDER


@pytest.mark.parametrize("chosen", [[], ["x"], ["-1"], ["100"], ["٣"], [""]])
def test_a_menu_in_which_nothing_of_ours_was_chosen_means_nothing(chosen: list[str]) -> None:
    assert parse(f"footnote:follow-ups:{RUN}", chosen) is None


def test_labels_speak_the_askers_language() -> None:
    labels = [b["label"] for b in buttons(made(texts=texts_for("zh-CN")))]
    assert labels[:3] == ["有帮助", "没帮助", "深入研究"]


PAGE = f"https://footnote.example.com/runs/{RUN}"


def test_a_link_leads_to_how_an_answer_came_about() -> None:
    (link,) = buttons(rows_of_link(texts, PAGE))
    assert (link["url"], link["label"]) == (PAGE, "How was this answered?")
    assert "custom_id" not in link


@pytest.mark.parametrize("page", ["", "http://intranet/runs/1", "https://x.example/" + "a" * 500])
def test_an_address_that_discord_refuses_costs_no_answer(page: str) -> None:
    assert rows_of_link(texts, page) == ()


def test_the_runs_of_a_messages_buttons_are_known() -> None:
    assert runs_in(told(made(suggestions=["Why?"]))) == {RUN}
    assert runs_in([{"type": 1, "components": [{"type": 2, "custom_id": "x"}]}]) == set()
    assert runs_in([{"type": 2, "style": 5, "url": "https://example.org"}]) == set()


@pytest.mark.parametrize("locale", ["en", "zh-CN", "zh-TW"])
@pytest.mark.parametrize("form", [partial(form_of_question, "deep"), partial(form_of_reasons, RUN)])
def test_a_form_fits(form: Callable[[Texts], discord.ui.Modal], locale: str) -> None:
    wrong = FormErrors()
    check_modal(form(texts_for(locale)).to_dict(), wrong, ())
    assert wrong.tree == {}


@pytest.mark.parametrize(
    "custom_id",
    ["", f"footnote:why:{RUN}\n", "footnote:ask:", "footnote:ask:bottomless", "footnote:stop:1"],
)
def test_other_forms_mean_nothing(custom_id: str) -> None:
    assert parse_form({"custom_id": custom_id, "components": []}) is None


class Pressing:
    """Remembers what was pressed."""

    def __init__(self) -> None:
        self.actions: list[Press] = []

    async def pressed(self, interaction: discord.Interaction[Any], action: Press) -> None:
        self.actions.append(action)


@pytest.fixture
def presses() -> Pressing:
    return Pressing()


@pytest.mark.parametrize(("custom_id", "action"), ACTIONS.items())
async def test_a_press_on_any_message_reaches_the_callback(
    presses: Pressing, custom_id: str, action: Press
) -> None:
    control = dynamic_item(presses.pressed)
    match = control.__discord_ui_compiled_template__.fullmatch(custom_id)
    assert match is not None
    interaction: Any = SimpleNamespace(data={})
    button: discord.ui.Button[Any] = discord.ui.Button(custom_id=custom_id)
    item = await control.from_custom_id(interaction, button, match)
    await item.callback(interaction)
    assert presses.actions == [action]
    assert item.is_persistent()
