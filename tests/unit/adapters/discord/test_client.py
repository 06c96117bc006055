"""Log records of discord.py: which of them become lines of ours, with their secrets masked."""

from __future__ import annotations

import logging

import pytest
from structlog.testing import capture_logs

from adapters.discord.client import library_log
from tests.unit.adapters.discord.way_out import a_stage, an_answer

TOKEN = "MTIzNDU2Nzg5.Gabcde.bot-secret"


def told(message: str, *args: object, error: BaseException | None = None) -> dict[str, object]:
    """The line that becomes of one of discord.py's."""
    with library_log(TOKEN), capture_logs() as lines:
        logging.getLogger("discord.http").warning(message, *args, exc_info=error)
    (line,) = lines
    return dict(line)


async def test_the_token_of_an_interaction_stands_in_no_log() -> None:
    async with a_stage() as stage:
        kept, asked = await stage.ask(stage.ada, stage.general, "Why?")
        stage.fake.storm(2, 0.01, where="PATCH")
        with library_log(stage.fake.token), capture_logs() as lines:
            await stage.answer(kept, an_answer(kept))
        limited = [line for line in lines if "rate limited" in str(line.get("said"))]
        assert any("/webhooks/" in str(line["said"]) for line in limited)
        assert asked.token not in str(lines)


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        (
            "PATCH https://discord.com/api/v10/webhooks/12/aW50ZXJ-x_y.z/messages/34 says 429",
            "PATCH https://discord.com/api/v10/webhooks/12/***/messages/34 says 429",
        ),
        ("POST /webhooks/12/secret?wait=true", "POST /webhooks/12/***?wait=true"),
        ("POST /interactions/12/secret/callback", "POST /interactions/12/***/callback"),
        (f"Authorization: Bot {TOKEN}", "Authorization: Bot ***"),
        ("GET /channels/12/messages says 429", "GET /channels/12/messages says 429"),
    ],
)
def test_secrets_in_what_the_library_says_are_masked(said: str, masked: str) -> None:
    assert told("%s", said)["said"] == masked
    assert told("failed", error=OSError(said))["error"] == masked


def test_only_the_first_line_of_a_message_is_told_and_an_empty_one_is_no_error() -> None:
    assert told("one\ntwo")["said"] == "one"
    assert told("")["said"] == ""
