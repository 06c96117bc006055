"""Who may ask where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.conversing.access import check_access, is_admin
from bot.errors import Denied
from bot.messages import Author, Message, Thread
from bot.settings import load_settings
from tests.unit.samples import a_message

THREAD = Thread("slack", "T1", "C1", "1.0")


def asked(*roles: str, direct: bool = False) -> Message:
    return replace(a_message(thread=THREAD), author=Author("U1", "Ada", roles), direct=direct)


@pytest.mark.parametrize(
    ("lists", "message", "denied"),
    [
        ({}, asked(), None),
        ({"deny_users": ("U1",)}, asked(), "denied-user"),
        ({"deny_users": ("U2",)}, asked(), None),
        ({"allow_users": ("U1",)}, asked(), None),
        ({"allow_users": ("U2",)}, asked(), "denied-user"),
        ({"allow_users": ("U1",), "deny_users": ("U1",)}, asked(), "denied-user"),
        ({"deny_workspaces": ("T1",)}, asked(), "denied-workspace"),
        ({"allow_workspaces": ("T2",)}, asked(), "denied-workspace"),
        ({"allow_workspaces": ("T1", "T2")}, asked(), None),
        ({"deny_channels": ("C1",)}, asked(), "denied-channel"),
        ({"allow_channels": ("C2",)}, asked(), "denied-channel"),
        ({"allow_channels": ("C1",)}, asked(), None),
        ({"allow_channels": ("C2",)}, asked(direct=True), None),
        ({"direct_messages": False}, asked(direct=True), "denied-direct"),
        ({"direct_messages": False}, asked(), None),
        ({"deny_roles": ("intern",)}, asked("staff", "intern"), "denied-role"),
        ({"deny_roles": ("intern",)}, asked("staff"), None),
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


def test_admins_are_the_platforms_and_those_of_the_settings() -> None:
    message = asked()
    assert not is_admin(load_settings(), message)
    assert is_admin(load_settings(admins="U9,U1"), message)
    assert is_admin(load_settings(), replace(message, author=Author("U1", "Ada", admin=True)))
