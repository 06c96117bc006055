"""Access rules: people, places and guests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.errors import Denied
from bot.core.messages import Author, Message, Thread
from bot.core.texts import sentence_for, texts_for
from bot.operation.configuration import load_settings
from bot.service.access import check_access, is_admin, shut_to_console
from tests.unit.samples import a_message

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
    assert setting in shut_to_console(load_settings(**lists))[0]
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
    assert "FOOTNOTE_ALLOW_USERS" in shut_to_console(settings)[0]


def test_people_whom_a_proxy_names_may_be_on_the_lists() -> None:
    settings = load_settings(
        allow_channels=("C1", "ada"), allow_users=("ada",), console_user_header="X-User"
    )
    check_access(settings, in_console("ada"))
    assert shut_to_console(settings) == []
    with pytest.raises(Denied) as refusal:
        check_access(settings, in_console("eve"))
    assert refusal.value.values["id"] == "eve"


def test_admins_are_the_platforms_and_those_of_the_settings() -> None:
    message = asked()
    assert not is_admin(load_settings(), message)
    assert is_admin(load_settings(admins="U9,U1"), message)
    assert is_admin(load_settings(), replace(message, author=Author("U1", "Ada", admin=True)))
