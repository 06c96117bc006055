"""The kinds of places in Slack, and who reads in each."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.incoming import SHARED, Place
from bot.core.messages import Audience

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("event", "audience"),
    [
        ({"channel_type": "channel", SHARED: False}, "workspace"),
        ({"channel_type": "group", SHARED: False}, "channel"),
        ({"channel_type": "mpim", SHARED: False}, "channel"),
        ({"channel_type": "channel", SHARED: True}, "outsiders"),
        ({"channel_type": "group", SHARED: True}, "outsiders"),
        ({"channel_type": "mpim", SHARED: True}, "outsiders"),
        ({"channel_type": "im", "channel": "D1", SHARED: False}, "person"),
        ({"channel_type": "im", "channel": "D1", SHARED: True}, "person"),  # whoever it is
        ({"channel_type": "app_home", "channel": "D1", SHARED: False}, "person"),
        ({"channel": "C1", SHARED: False}, "channel"),  # app_mention
        ({"channel": "C1", SHARED: True}, "outsiders"),
        ({"channel_type": "new", "channel": "C1", SHARED: False}, "channel"),
        ({"channel_type": "new", "channel": "C1"}, "unknown"),
        ({"channel_type": "channel", "channel": "C1"}, "unknown"),
        ({"channel_type": "channel", "channel": "C1", SHARED: None}, "unknown"),
        ({"channel_type": "channel", "channel": "C1", SHARED: "false"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_an_event_tells_who_reads(event: Json, audience: Audience) -> None:
    assert Place.of_event(event).audience == audience


@pytest.mark.parametrize(
    ("id", "audience"), [("C1", "unknown"), ("G1", "unknown"), ("D1", "person"), ("", "unknown")]
)
def test_an_id_tells_only_of_conversations_of_two(id: str, audience: Audience) -> None:
    assert Place.of_id(id).audience == audience


PUBLIC: Json = {"is_channel": True, "is_private": False, "is_ext_shared": False}


@pytest.mark.parametrize(
    ("about", "audience"),
    [
        (PUBLIC, "workspace"),
        ({**PUBLIC, "is_org_shared": True, "is_shared": True}, "workspace"),
        ({**PUBLIC, "is_ext_shared": True, "is_shared": True}, "outsiders"),
        ({**PUBLIC, "is_pending_ext_shared": True}, "workspace"),  # nobody has joined yet
        ({**PUBLIC, "is_private": True}, "channel"),
        ({**PUBLIC, "is_private": True, "is_ext_shared": True}, "outsiders"),
        ({"is_group": True, "is_private": True, "is_ext_shared": False}, "channel"),
        ({"is_mpim": True, "is_channel": True, "is_ext_shared": False}, "channel"),
        ({"is_mpim": True, "is_ext_shared": True}, "outsiders"),
        ({"is_im": True}, "person"),
        ({"is_channel": True}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_the_description_of_a_channel_tells_who_reads(about: Json, audience: Audience) -> None:
    assert Place.of_description(about).audience == audience
