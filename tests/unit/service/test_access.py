"""Access rules, the rules of a channel, and a day's budget."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import DaySpentUp, Denied, Invalid, sentence_for
from bot.core.messages import Author, Message, RunOptions, Sources, Thread
from bot.core.reader import Reader
from bot.core.settings import ChannelRules, Settings
from bot.core.texts import texts_for
from bot.evaluation.evaluation import open_asker
from bot.evaluation.questions import Case, CaseTurn
from bot.operation.configuration import load_settings
from bot.rights.rights import Rights
from bot.search.indexer import Indexer
from bot.service.access import (
    APP_QUESTIONS,
    AppLimit,
    check_access,
    is_admin,
    options_for,
    rule_values,
    shut_to_console,
    with_rule,
)
from bot.service.reception import AcceptedQuestion
from bot.storage.spending import Amount, Payer, add_spent
from bot.storage.workspaces import Workspaces
from tests.unit.samples import a_message
from tests.unit.service.conftest import House, OpenHouse

THREAD = Thread("slack", "T1", "C1", "1.0")


def asked(*roles: str, direct: bool = False) -> Message:
    message = replace(a_message(thread=THREAD), author=Author("U1", "Ada", roles))
    return replace(message, audience="person") if direct else message


def in_group(id: str = "5") -> Message:
    """Asked in a group message of Discord."""
    thread = Thread("discord", "@me", id, id)
    return replace(a_message(thread=thread), author=Author("U1", "Ada"), audience="strangers")


@pytest.mark.parametrize(
    ("lists", "message", "denied"),
    [
        ({}, asked(), None),
        ({"deny_users": ("U1",)}, asked(), "denied-user"),
        ({"deny_users": ("U2",)}, asked(), None),
        ({"allow_users": ("U1",)}, asked(), None),
        ({"allow_users": ("U2",)}, asked(), "denied-user"),
        ({"allow_users": ("U1",), "deny_users": ("U1",)}, asked(), "denied-user"),
        ({"allow_workspaces": ("T2",)}, asked(), "denied-workspace"),
        ({"allow_workspaces": ("T1", "T2")}, asked(), None),
        ({"deny_channels": ("C1",)}, asked(), "denied-channel"),
        ({"allow_channels": ("C2",)}, asked(), "denied-channel"),
        ({"allow_channels": ("C1",)}, asked(), None),
        ({"allow_channels": ("C2",)}, asked(direct=True), None),
        ({"direct_messages": False}, asked(direct=True), "denied-direct"),
        ({"direct_messages": False}, asked(), None),
        ({"direct_messages": False}, in_group(), "denied-direct"),
        ({}, in_group(), None),
        ({"allow_channels": ("C2",)}, in_group(), "denied-channel"),
        ({"allow_channels": ("5",)}, in_group(), None),
        ({"allow_workspaces": ("T1",)}, in_group(), "denied-workspace"),
        ({"allow_roles": ("staff",)}, asked("intern", "staff"), None),
        ({"allow_roles": ("staff",)}, asked("intern"), "denied-role"),
        ({"allow_roles": ("staff",)}, asked(), "denied-role"),
    ],
)
def test_lists_decide(lists: dict[str, object], message: Message, denied: str | None) -> None:
    settings = load_settings(**lists)
    if denied is None:
        check_access(settings, message)
        return
    with pytest.raises(Denied) as refusal:
        check_access(settings, message)
    assert refusal.value.text_id == denied


@pytest.mark.parametrize(
    ("guests", "guest", "denied"),
    [
        ("web", True, None),
        ("web", None, None),
        ("members", True, None),
        ("deny", True, "denied-guest"),
        ("deny", None, "denied-unknown"),
        ("deny", False, None),
    ],
)
def test_guests_may_be_refused(guests: str, guest: bool | None, denied: str | None) -> None:
    settings = load_settings(guests=guests)
    message = replace(asked(), author=Author("U1", "Ada", guest=guest))
    if denied is None:
        check_access(settings, message)
        return
    with pytest.raises(Denied) as refusal:
        check_access(settings, message)
    assert refusal.value.text_id == denied
    for locale in ("en", "zh-CN", "zh-TW"):
        assert "Footnote" in sentence_for(refusal.value, texts_for(locale))


def in_console(person: str = "local") -> Message:
    thread = Thread("web", "console", person, "1")
    return replace(a_message(thread=thread), author=Author(person, "You"))


@pytest.mark.parametrize(
    ("lists", "setting", "id"),
    [
        ({"allow_channels": ("C1",)}, "FOOTNOTE_ALLOW_CHANNELS", "local"),
        ({"allow_users": ("U1",)}, "FOOTNOTE_ALLOW_USERS", "local"),
        ({"allow_workspaces": ("T1", "S1")}, "FOOTNOTE_ALLOW_WORKSPACES", "console"),
    ],
)
def test_a_list_that_forgot_the_console_is_named_there_with_what_is_to_be_added(
    lists: dict[str, tuple[str, ...]], setting: str, id: str
) -> None:
    with pytest.raises(Denied) as refusal:
        check_access(load_settings(**lists), in_console())
    assert refusal.value.text_id == "denied-console"
    for locale in ("en", "zh-CN", "zh-TW"):
        told = sentence_for(refusal.value, texts_for(locale))
        assert setting in told
        assert id in told
    assert setting in str(shut_to_console(load_settings(**lists))[0])
    (name,) = lists
    mended = load_settings(**{name: (*lists[name], id)})
    check_access(mended, in_console())
    assert shut_to_console(mended) == []


def test_a_console_that_is_shut_on_purpose_says_what_chats_say() -> None:
    with pytest.raises(Denied) as refusal:
        check_access(load_settings(deny_channels=("local",)), in_console())
    assert refusal.value.text_id == "denied-channel"


def test_where_roles_are_needed_the_console_says_that_it_has_none() -> None:
    settings = load_settings(allow_roles=("staff",))
    with pytest.raises(Denied) as refusal:
        check_access(settings, in_console())
    assert refusal.value.text_id == "denied-console-roles"
    assert "FOOTNOTE_ALLOW_ROLES" in sentence_for(refusal.value, texts_for("en"))
    assert "FOOTNOTE_ALLOW_USERS" in str(shut_to_console(settings)[0])


def test_people_whom_a_proxy_names_may_be_on_the_lists() -> None:
    settings = load_settings(
        allow_channels=("C1", "ada"), allow_users=("ada",), console_user_header="X-User"
    )
    check_access(settings, in_console("ada"))
    assert shut_to_console(settings) == []
    with pytest.raises(Denied) as refusal:
        check_access(settings, in_console("eve"))
    assert " eve " in refusal.value.sentence


def test_admins_are_the_platforms_and_those_of_the_settings() -> None:
    message = asked()
    assert not is_admin(load_settings(), message)
    assert is_admin(load_settings(admins="U9,U1"), message)
    assert is_admin(load_settings(), replace(message, author=Author("U1", "Ada", admin=True)))


PROVIDERS = ("local", "wikipedia")


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("depth", "Deep", ChannelRules(depth="deep")),
        ("Depth", "", ChannelRules()),
        ("tone", "dry,  short ", ChannelRules(tone="dry, short")),
        ("language", "Deutsch", ChannelRules(language="Deutsch")),
        ("providers", "local, wikipedia", ChannelRules(providers=("local", "wikipedia"))),
        ("providers", "Local", ChannelRules(providers=("local",))),
        ("providers", "", ChannelRules()),
    ],
)
def test_a_rule_is_set_from_what_is_typed(key: str, value: str, expected: ChannelRules) -> None:
    assert with_rule(ChannelRules(), key, value, PROVIDERS) == expected


def test_one_rule_changes_and_the_others_stay() -> None:
    rules = ChannelRules(tone="dry", depth="quick")
    assert with_rule(rules, "language", "zh", PROVIDERS) == ChannelRules(
        tone="dry", depth="quick", language="zh"
    )


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("tones", "dry", "no rule named “tones”"),
        ("colour", "red", "You can set: tone, language, depth, providers"),
        ("depth", "profound", "Possible: auto, quick, standard, deep"),
        (
            "providers",
            "local, gogle",
            "“gogle” does not work for providers. Possible: local",
        ),
        ("tone", "x" * 1_001, "too long for tone: at most 1,000 characters"),
        ("language", "x" * 41, "too long for language: at most 40 characters"),
    ],
)
def test_what_cannot_be_set_is_named(key: str, value: str, words: str) -> None:
    with pytest.raises(Invalid, match=r".+") as error:
        with_rule(ChannelRules(), key, value, PROVIDERS)
    assert words in error.value.sentence


def test_rules_become_the_options_of_a_run_and_the_askers_depth_goes_first() -> None:
    rules = ChannelRules(tone="Dry.", language="German", depth="quick", providers=("local",))
    options = options_for(rules)
    assert (options.depth, options.providers) == ("quick", ("local",))
    assert options.instructions == "Answer in this language: German. Tone: Dry."
    assert options_for(rules, "deep").depth == "deep"
    assert options_for(ChannelRules()).instructions == ""


def test_only_what_is_set_is_shown() -> None:
    assert rule_values(ChannelRules()) == []
    assert rule_values(ChannelRules(tone="dry", providers=("a", "b"))) == [
        ("tone", "dry"),
        ("providers", "a, b"),
    ]


def test_rules_come_from_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_CHANNELS", '{"C1": {"depth": "deep", "language": "zh"}}')
    assert load_settings().channels == {"C1": ChannelRules(depth="deep", language="zh")}


ADA, BOB = Author("U1", "Ada"), Author("U2", "Bob")


async def spend(house: House, usd: float, author: Author = ADA, channel: str = "C1") -> None:
    payer = Payer("slack", "T1", channel, author.id)
    async with house.store.database.write() as db:
        amount = Amount(micro_usd=round(1_000_000 * usd), model_calls=1)
        await add_spent(db, payer, datetime.now(UTC).date(), amount)


@pytest.mark.parametrize(
    ("setting", "text_id"),
    [
        ({"user_daily_usd": 1.0}, "denied-day-user"),
        ({"channel_daily_usd": 1.0}, "denied-day-channel"),
        ({"workspace_daily_usd": 1.0}, "denied-day-workspace"),
    ],
)
async def test_once_a_days_money_is_spent_a_question_is_refused(
    open_house: OpenHouse, setting: dict[str, Any], text_id: str
) -> None:
    house = await open_house(**setting)
    await house.answered()
    await spend(house, 1.0)
    with pytest.raises(Denied) as denied:
        await house.ask("How long is the bridge?")
    assert denied.value.text_id == text_id
    assert "00:00 UTC" in sentence_for(denied.value, texts_for("en"))
    assert "协调世界时" in sentence_for(denied.value, texts_for("zh-CN"))


async def test_the_budget_of_one_is_not_that_of_another(open_house: OpenHouse) -> None:
    house = await open_house(user_daily_usd=1.0, channel_daily_usd=2.0)
    await spend(house, 1.0)
    with pytest.raises(DaySpentUp):
        await house.ask("How tall?")
    assert (await house.ask("How tall?", author=BOB)).new


async def test_an_event_that_comes_again_finds_its_run_though_the_day_is_spent(
    open_house: OpenHouse,
) -> None:
    house = await open_house(user_daily_questions=1)
    message = house.message("How tall is the tower?")
    first = await house.reception.receive(message, "footnote")
    again = await house.reception.receive(message, "footnote")
    assert isinstance(first, AcceptedQuestion)
    assert again == AcceptedQuestion(first.run_id, new=False, ahead=0)
    with pytest.raises(DaySpentUp) as denied:
        await house.ask("And how wide?")
    assert denied.value.text_id == "denied-day-questions"
    await house.dispatcher.wait(first.run_id)
    assert house.poster.replies[-1].finished, "what was taken in is answered"


async def test_buttons_and_edits_are_questions_too(open_house: OpenHouse) -> None:
    house = await open_house(user_daily_questions=1)
    asked = await house.ask("How tall is the tower?")
    await house.dispatcher.wait(asked.run_id)
    with pytest.raises(DaySpentUp):
        await house.reception.dig_deeper(asked.run_id, ADA, locale="en", audience="channel")
    with pytest.raises(DaySpentUp):
        await house.reception.edit("slack", "m1", "How wide is the tower?")
    assert (await house.run(asked.run_id)).message.text == "How tall is the tower?"
    deeper = await house.reception.dig_deeper(asked.run_id, BOB, locale="en", audience="channel")
    assert deeper.new, "whoever presses pays"


async def test_a_stop_is_heard_though_the_day_is_spent(open_house: OpenHouse) -> None:
    house = await open_house(user_daily_questions=1)
    house.reasoner.let_on.clear()
    asked = await house.ask("How tall is the tower?")
    await house.reasoner.thinking.wait()
    await house.reception.receive(house.message("stop"), "thread")
    await house.dispatcher.wait(asked.run_id)
    assert (await house.run(asked.run_id)).state == "stopped"


def test_an_app_may_ask_so_often_in_a_channel_and_a_repeated_message_counts_once() -> None:
    limit = AppLimit()
    for number in range(APP_QUESTIONS):
        assert [limit.allows("C1", "B1", f"m{number}") for _ in "12"] == [True, True]
    assert [limit.allows("C1", "B1", "one more") for _ in "12"] == [False, False]
    assert limit.allows("C1", "B1", "m0"), "it was allowed, and has only come again"
    assert limit.allows("C2", "B1", "one more")
    assert limit.allows("C1", "B2", "one more")


# ---------------------------------------------------------------- a channel's own rule


async def test_an_admins_rules_hold_in_their_channel_until_they_are_reset(
    open_house: OpenHouse,
) -> None:
    house = await open_house(admins="U1", channels={"C1": ChannelRules(tone="plain")})
    rules, message = house.reception.rules, house.message("set tone dry")
    dry = ChannelRules(tone="dry", daily_usd=2.0)
    await rules.set(message, dry)
    with pytest.raises(Denied, match="Only an admin"):
        await rules.set(replace(message, author=BOB), None)
    assert await rules.of(message.thread) == dry
    assert await rules.of(replace(message.thread, channel="C2")) == ChannelRules()
    await rules.set(message, None)
    assert await rules.of(message.thread) == ChannelRules(tone="plain")


async def test_a_channel_may_have_a_budget_of_its_own(open_house: OpenHouse) -> None:
    house = await open_house(channel_daily_usd=1.0, channels={"C9": ChannelRules(daily_usd=5.0)})
    await spend(house, 2.0, channel="C9")
    there = replace(house.message("How tall?").thread, channel="C9")
    assert (await house.reception.rules.of(there)).daily_usd == 5.0
    asked = replace(house.message("How tall?"), thread=there)
    assert isinstance(await house.reception.receive(asked, "footnote"), AcceptedQuestion)
    await spend(house, 3.0, channel="C9")
    with pytest.raises(DaySpentUp):
        await house.reception.receive(replace(asked, event_id="m99"), "footnote")


@pytest.mark.parametrize(
    ("typed", "general", "own", "effective"),
    [
        (None, 2.0, None, 2.0),
        (1.0, 2.0, None, 1.0),
        (9.0, 2.0, None, 2.0),
        (9.0, 2.0, 5.0, 5.0),
        (9.0, None, None, 9.0),
        (None, None, None, None),
    ],
)
async def test_a_command_may_lower_what_the_operator_allows_and_not_raise_it(
    open_house: OpenHouse,
    typed: float | None,
    general: float | None,
    own: float | None,
    effective: float | None,
) -> None:
    operators = {} if own is None else {"C1": ChannelRules(daily_usd=own)}
    house = await open_house(channel_daily_usd=general, channels=operators)
    rules = ChannelRules(tone="dry", daily_usd=typed).model_dump(mode="json")
    await Workspaces(house.store.database).set_rules("slack", "T1", "C1", rules, "U1")
    found = await house.reception.rules.of(house.message("x").thread)
    assert (found.tone, found.daily_usd) == ("dry", effective)


@pytest.mark.parametrize(
    ("typed", "expected"), [("2.50", 2.5), ("$3", 3.0), ("3 $", 3.0), ("0.01", 0.01), ("", None)]
)
def test_a_budget_is_set_from_what_is_typed(typed: str, expected: float | None) -> None:
    rules = with_rule(ChannelRules(daily_usd=1.0), "daily_usd", typed, ())
    assert rules.daily_usd == expected
    assert options_for(rules).daily_usd == expected
    assert rule_values(rules) == ([] if expected is None else [("daily_usd", str(expected))])


@pytest.mark.parametrize("typed", ["much", "0", "-1", "nan", "inf", "1,5"])
def test_what_is_no_sum_of_money_is_named(typed: str) -> None:
    with pytest.raises(Invalid, match="does not work for daily_usd"):
        with_rule(ChannelRules(), "daily_usd", typed, ())


ADA_READS, BOB_READS = Reader("console", "ada", "ada"), Reader("console", "bob", "bob")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    for name in ("handbook", "board"):
        (tmp_path / name).mkdir()
    return load_settings(
        docs=[str(tmp_path)],
        collections=[
            {"name": "Handbook", "paths": [str(tmp_path / "handbook")], "everybody": True},
            {"name": "Board", "paths": [str(tmp_path / "board")], "console_users": ["ada"]},
        ],
    )


def found(settings: Settings, root: Path, reader: Reader, *among: str) -> list[str]:
    """The documents that are in reach, of one in each collection and one in none."""
    reach = Rights(settings).reach(reader, among)
    documents = [root / "handbook/a.md", root / "board/a.md", root / "a.md"]
    return [str(each.relative_to(root)) for each in documents if reach.allows(each.as_uri())]


def test_only_the_chosen_collections_are_in_reach(settings: Settings, tmp_path: Path) -> None:
    assert found(settings, tmp_path, ADA_READS, "Board") == ["board/a.md"]
    assert found(settings, tmp_path, ADA_READS, "Handbook", "") == ["handbook/a.md", "a.md"]
    assert found(settings, tmp_path, ADA_READS) == []


def test_a_choice_gives_no_rights(settings: Settings, tmp_path: Path) -> None:
    assert found(settings, tmp_path, BOB_READS, "Board", "") == ["a.md"]


def test_who_chooses_nothing_has_everything_in_reach(settings: Settings, tmp_path: Path) -> None:
    reach = Rights(settings).reach(ADA_READS)
    assert reach.allows((tmp_path / "board/a.md").as_uri())
    assert reach.allows((tmp_path / "a.md").as_uri())


@pytest.mark.parametrize(
    ("rules", "chosen", "searched"),
    [
        ((), (), ()),
        ((), ("local",), ("local",)),
        (("local", "brave"), ("brave",), ("brave",)),
        (("local",), ("brave",), ("local",)),  # a channel's rules are not left
    ],
)
def test_providers_are_chosen_among_those_of_the_channel(
    rules: tuple[str, ...], chosen: tuple[str, ...], searched: tuple[str, ...]
) -> None:
    options = options_for(ChannelRules(providers=rules), sources=Sources(chosen, ("Board",)))
    assert options == RunOptions(providers=searched, collections=("Board",))


async def test_an_answer_rests_on_chosen_documents_only(settings: Settings, tmp_path: Path) -> None:
    for name in ("handbook/a.md", "loose.md"):
        text = f"# Rooms\n\nThe meeting room is on floor {len(name)}, says {name}.\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    index = settings.model_copy(update={"data_dir": tmp_path / "data", "providers": ("local",)})
    Indexer(index.index_path).index(settings.docs, lambda done, total: None)
    case = Case(1, (CaseTurn("On which floor is the meeting room?"),))
    for chosen, rests_on in (("Handbook", "handbook/a.md"), ("", "loose.md")):
        (tmp_path / f"store of {chosen}").mkdir()
        options = RunOptions(collections=(chosen,))
        async with open_asker(index, tmp_path / f"store of {chosen}", options) as asker:
            (answer,) = await asker.ask(case)
        assert answer.status == "answered"
        assert answer.rests_on.urls == ((tmp_path / rests_on).as_uri(),)
