"""Events, messages and places as Slack sends them become values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.incoming import (
    MALFORMED,
    SHARED,
    Deletion,
    LinkShared,
    Opened,
    Place,
    Reaction,
    SessionStop,
    SlackEvent,
    Viewing,
    attachments_of,
    parse_event,
    parse_message,
    parse_press,
)
from bot.core.messages import Attachment, Audience, Author, Thread
from bot.core.texts import texts_for

Json = dict[str, Any]


# ---------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("message", "writer"),
    [
        ({"user": "U1"}, "person"),
        ({"user": "U1", "subtype": "file_share"}, "person"),
        ({"user": "U1", "subtype": "thread_broadcast"}, "person"),
        ({"user": "U1", "subtype": "me_message"}, "person"),
        ({"user": "U1", "subtype": "channel_join"}, "none"),
        ({"user": "U1", "subtype": "bot_message"}, "none"),
        ({"user": "U1", "subtype": "tombstone"}, "none"),
        ({"user": "U1", "hidden": True}, "none"),
        ({"text": "nobody's"}, "none"),
        ({"bot_id": "B1", "subtype": "bot_message"}, "app"),
        ({"bot_id": "B1", "user": "U1"}, "either"),
        ({"bot_id": "B1", "user": "U1", "subtype": "bot_message"}, "app"),
        ({"bot_id": "B1", "subtype": "bot_add"}, "none"),
        ({"bot_id": "B1", "hidden": True}, "none"),
    ],
)
def test_people_and_apps_write_and_notices_are_written_by_none(message: Json, writer: str) -> None:
    assert parse_message({"ts": "1.1", **message}, "C1").writer == writer


@pytest.mark.parametrize(
    ("payload", "teams"),
    [
        ({"user": "U1", "team": "T1"}, ["T1"]),
        ({"user_team": "E2", "source_team": "T3", "team": "T2"}, ["E2"]),
        ({"source_team": "T2", "team": "T1"}, ["T1"]),
        ({"team": {"id": "T1"}}, []),
        ({"bot_id": "B1", "team": "T2"}, ["T2"]),
        ({"bot_id": "B1", "team": "T2", "bot_profile": {"team_id": "T1"}}, ["T1"]),
        ({}, []),
    ],
)
def test_a_message_tells_its_authors_teams(payload: Json, teams: list[str]) -> None:
    assert list(parse_message({"ts": "1.1", **payload}, "C1").teams) == teams


def test_a_press_tells_the_pressers_team_and_not_that_of_the_place() -> None:
    body: Json = {"user": {"id": "U1", "team_id": "T2"}, "team": {"id": "T1"}, "actions": []}
    assert parse_press(body).teams == ("T2",)
    assert parse_press({**body, "user": {"id": "U1"}}).teams == ()


def a_file(**changed: Any) -> Json:
    return {
        "id": "F1",
        "name": "notes.txt",
        "mimetype": "text/plain",
        "mode": "hosted",
        "permalink": "https://slack.example/files/F1",
        "url_private": "https://files.example/F1",
        "url_private_download": "https://files.example/download/F1",
        **changed,
    }


def test_a_file_has_an_address_for_people_and_one_to_fetch_it() -> None:
    assert attachments_of([a_file()]) == (
        Attachment(
            "notes.txt",
            "text/plain",
            "https://slack.example/files/F1#attached",
            "https://files.example/download/F1",
        ),
    )


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"mode": "tombstone"}, "file-gone"),
        ({"mode": "hidden_by_limit", "url_private": ""}, "file-hidden"),
        ({"is_external": True}, "file-elsewhere"),
        ({"mode": "external", "url_private": "https://drive.example/F1"}, "file-elsewhere"),
        ({"url_private": "", "file_access": "access_denied"}, "file-not-shown"),
        ({"mimetype": "application/vnd.slack-docs", "mode": "quip"}, "file-is-canvas"),
        ({"mimetype": "application/vnd.slack-list", "mode": "list"}, "file-is-canvas"),
    ],
)
def test_a_file_that_cannot_be_fetched_says_why(changed: Json, why: str) -> None:
    (file,) = attachments_of([a_file(**changed)])
    assert (file.name, file.unread, file.download) == ("notes.txt", why, "")
    assert "notes.txt" in texts_for("en")(file.unread, name=file.name)


def test_a_stub_of_a_file_is_only_an_id() -> None:
    stub: Json = {"id": "F1", "mode": "file_access", "file_access": "check_file_info", "user": ""}
    message = parse_message({"ts": "1.1", "user": "U1", "files": [stub]}, "C1")
    assert (message.files, message.stubs, message.is_empty) == ((), ("F1",), False)


@pytest.mark.parametrize(
    ("message", "thread", "is_reply"),
    [
        ({"ts": "1.1"}, "1.1", False),
        ({"ts": "1.1", "thread_ts": "1.1"}, "1.1", False),
        ({"ts": "2.2", "thread_ts": "1.1"}, "1.1", True),
    ],
)
def test_a_message_is_in_its_thread_or_begins_one(
    message: Json, thread: str, is_reply: bool
) -> None:
    parsed = parse_message(message, "C1")
    assert parsed.thread("T1") == Thread("slack", "T1", "C1", thread)
    assert parsed.is_reply is is_reply


def test_a_message_is_normalized() -> None:
    thread, author = Thread("slack", "T1", "C1", "1700000000.000100"), Author("U1", "Ada")
    message = parse_message({"ts": "1700000001.500000", "files": [a_file()]}, "C1").to_message(
        thread, author, "see https://example.org/a", "en-GB", audience="person"
    )
    assert message.event_id == "C1:1700000001.500000"
    assert (message.thread, message.author) == (thread, author)
    assert message.at == datetime(2023, 11, 14, 22, 13, 21, 500_000, tzinfo=UTC)
    assert message.links == ("https://example.org/a",)
    assert len(message.attachments) == 1
    assert (message.locale, message.direct) == ("en-GB", True)


# ---------------------------------------------------------------- events

DELETED: Json = {"type": "message", "subtype": "message_deleted", "channel": "C1"}
CHANGED: Json = {"type": "message", "subtype": "message_changed", "channel": "C1"}
REACTED: Json = {"type": "reaction_added", "reaction": "x::skin-tone-3", "item_user": "U1"}


SHARED_LINK: Json = {
    "type": "link_shared",
    "user": "U1",
    "channel": "C1",
    "message_ts": "1.2",
    "source": "conversations_history",
    "links": [{"domain": "e.org", "url": f"https://e.org/{path}"} for path in "ab"],
}


@pytest.mark.parametrize(
    ("event", "parsed"),
    [
        ({**DELETED, "deleted_ts": "2.2"}, Deletion("C1", "2.2", "")),
        (
            {**DELETED, "deleted_ts": "2.2", "previous_message": {"ts": "2.2", "thread_ts": "1.1"}},
            Deletion("C1", "2.2", "1.1"),
        ),
        ({**DELETED, "previous_message": {"ts": "2.2"}}, Deletion("C1", "2.2", "2.2")),
        (DELETED, None),
        (
            {**CHANGED, "message": {"subtype": "tombstone", "ts": "1.1", "thread_ts": "1.1"}},
            Deletion("C1", "1.1", "1.1"),
        ),
        (
            {"type": "agent_session_stopped", "channel": "C1", "thread_ts": "1.1"},
            SessionStop("C1", "1.1"),
        ),
        (
            {**REACTED, "item": {"type": "message", "channel": "C1", "ts": "1.1"}},
            Reaction("x", "C1", "1.1", "U1"),
        ),
        ({**REACTED, "item": {"type": "file"}}, None),
        (
            {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "home"},
            Opened("U1", "D1", is_home=True),
        ),
        ({"type": "app_context_changed", "context": {}}, None),
        ({"type": "app_context_changed", "user": "U1", "context": {}}, Viewing("U1", "")),
        (
            {
                "type": "app_context_changed",
                "user": "U1",
                "context": {
                    "entities": [
                        {"type": "slack#/types/list_id", "value": "F1"},
                        {"type": "slack#/types/channel_id", "value": "D1"},
                        {"type": "slack#/types/channel_id", "value": "C1"},
                        {"type": "slack#/types/channel_id", "value": "C2"},
                    ]
                },
            },
            Viewing("U1", "C1"),
        ),
        ({**SHARED_LINK, "source": "composer", "channel": "COMPOSER"}, None),
        (SHARED_LINK, LinkShared("U1", "C1", "1.2", ("https://e.org/a", "https://e.org/b"))),
        ({"type": "team_rename"}, None),
    ],
)
def test_an_event_is_parsed_into_what_it_says(event: Json, parsed: SlackEvent | None) -> None:
    assert parse_event(event) == parsed


@pytest.mark.parametrize("missing", ["type", "channel", "ts"])
def test_what_an_event_cannot_do_without_is_missed(missing: str) -> None:
    event = {"type": "message", "channel": "C1", "ts": "1.1", "user": "U1", "text": "hi"}
    del event[missing]
    with pytest.raises(MALFORMED):
        parse_event(event)


# ---------------------------------------------------------------- places


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
    assert Place.of_event(event, event.get(SHARED)).audience == audience


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


# ---------------------------------------------------------------- the words of a message


def of_app(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"ts": "1.1", "bot_id": "B1", "blocks": list(blocks), **more}


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def test_what_lies_too_deep_is_left_out() -> None:
    block: dict[str, Any] = {"type": "section", "text": mrkdwn("deep")}
    for _ in range(500):
        block = {"type": "container", "child_blocks": [block]}
    assert parse_message(of_app(block), "C1").is_silent


KEYS = st.sampled_from(["type", "text", "elements", "fields", "rows", "title", "style", "blocks"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("rich_text_list"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["blocks", "attachments", "bot_id"]), VALUES))
def test_no_shape_of_a_message_breaks_reading(message: dict[str, Any]) -> None:
    assert isinstance(parse_message({"ts": "1.1", **message}, "C1").markdown({}), str)
