"""Files in the fake Slack: who finds them, and what the app is told of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_files import CANVAS, File
from tests.fakes.slack_search import ACTION_SECONDS
from tests.fakes.slack_stage import ADA, BOB, ELSEWHERE, GENERAL, SECRET, call, furnished, refusal

HIDDEN = "G5HIDDEN"
SEARCHING = ("search:read.public", "search:read.private", "search:read.im", "search:read.files")


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with furnished() as slack:
        slack.with_scopes(*SEARCHING)
        slack.add_channel(HIDDEN, "hidden", "group", members=[BOB], bot=False)
        yield slack


def share(slack: FakeSlack, channel: str, user: str = BOB, **more: Any) -> File:
    file = slack.add_file(user, "plan.md", b"The plan", "text/markdown", title="Plan", **more)
    slack.say(user, channel, "look", files=[file])
    return file


def token(slack: FakeSlack, user: str = ADA) -> str:
    slack.say(user, GENERAL, f"{slack.mention} where is it?")
    return list(slack.workspace.action_tokens)[-1]


async def found(slack: FakeSlack, right: str, **more: Any) -> dict[str, Any]:
    arguments = {"query": "plan", "action_token": right, "content_types": "messages,files"}
    reply = await call(slack, "assistant.search.context", **{**arguments, **more})
    results = reply["results"]
    assert isinstance(results, dict)
    return results


@pytest.mark.parametrize(
    ("channel", "by", "user", "kinds", "finds"),
    [
        (GENERAL, BOB, ADA, "public_channel", True),
        (ELSEWHERE, ADA, BOB, "public_channel", True),  # open to all, joined or not
        (GENERAL, BOB, ADA, "private_channel", False),
        (SECRET, ADA, ADA, "public_channel", False),
        (SECRET, ADA, ADA, "public_channel,private_channel", True),
        (SECRET, ADA, BOB, "public_channel,private_channel", False),
        (HIDDEN, BOB, ADA, "public_channel,private_channel,im", False),
        (HIDDEN, BOB, BOB, "private_channel", True),
    ],
)
async def test_a_person_finds_the_files_of_the_channels_that_they_see(
    slack: FakeSlack, channel: str, by: str, user: str, kinds: str, finds: bool
) -> None:
    file = share(slack, channel, by, excerpt="The plan of it")
    results = await found(slack, token(slack, user), channel_types=kinds)
    assert [each["file_id"] for each in results["files"]] == [file.id] * finds
    if finds:
        (one,) = results["files"]
        assert (one["title"], one["file_type"], one["content"]) == ("Plan", "md", "The plan of it")
        assert one["permalink"].startswith("https://footnote-test.slack.com/files/")


async def test_a_guest_finds_files_of_their_channels_only(slack: FakeSlack) -> None:
    slack.workspace.users[BOB].is_restricted = True
    share(slack, ELSEWHERE, ADA)
    file = share(slack, GENERAL, ADA)
    results = await found(slack, token(slack, BOB))
    assert [each["file_id"] for each in results["files"]] == [file.id]


async def test_a_search_needs_the_scope_the_type_and_a_token_that_is_good(
    slack: FakeSlack,
) -> None:
    share(slack, GENERAL)
    right = token(slack)
    assert "files" not in await found(slack, right, content_types="messages")
    assert set(await found(slack, right, content_types="files")) == {"files"}
    query = {"query": "plan", "action_token": right}
    search = "assistant.search.context"
    wrong = await refusal(call(slack, search, **query, content_types="messages,canvases"))
    assert wrong["error"] == "invalid_arguments"
    slack.without_scopes("search:read.files")
    lacking = await refusal(call(slack, search, **query, content_types="messages,files"))
    assert (lacking["error"], lacking["needed"]) == ("missing_scope", "search:read.files")
    slack.with_scopes("search:read.files")
    slack.advance(ACTION_SECONDS + 1)
    late = await refusal(call(slack, search, **query, content_types="files"))
    assert late["error"] == "invalid_action_token"


async def test_files_that_the_app_cannot_see_or_that_are_gone_are_refused(
    slack: FakeSlack,
) -> None:
    hidden, gone = share(slack, HIDDEN), share(slack, GENERAL)
    gone.deleted = True
    for id, error in ((hidden.id, "file_not_found"), (gone.id, "file_deleted"), ("F0", None)):
        told = await refusal(call(slack, "files.info", file=id))
        assert told["error"] == (error or "file_not_found")
    slack.without_scopes("files:read")
    assert (await refusal(call(slack, "files.info", file="F0")))["error"] == "missing_scope"


async def test_what_is_hidden_from_the_app_is_not_served_and_a_canvas_comes_as_html(
    slack: FakeSlack,
) -> None:
    hidden = share(slack, HIDDEN)
    canvas = slack.add_file(BOB, "Plan", b"<h1>Plan</h1>", CANVAS)
    slack.say(BOB, GENERAL, "look", files=[canvas])
    headers = {"Authorization": f"Bearer {slack.bot_token}"}
    served = []
    async with aiohttp.ClientSession(headers=headers) as session:
        for file in (hidden, canvas):
            async with session.get(file.json(slack.base)["url_private_download"]) as answer:
                served.append((answer.content_type, "Sign in" in await answer.text()))
    assert served == [("text/html", True), ("text/html", False)]
    assert canvas.permalink == f"https://footnote-test.slack.com/docs/{slack.team}/{canvas.id}"
