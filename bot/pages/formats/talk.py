"""Converts what people said to page text: transcripts (.vtt, .srt), and chats exported from Slack
(a day of a channel) and Discord (by DiscordChatExporter).

Each turn is a section, headed by who said it when, so that its footnote says so too.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks, one_line

LONGEST_TURN = 500  # characters, after which a turn continues with a new time
_TIMES = re.compile(r"(?:(\d{1,3}):)?(\d\d):(\d\d)[.,]\d{3}[ \t]+-->")
_VOICE = re.compile(r"<v(?:\.[^\s<>]{1,80})?[ \t]([^<>]{1,200})>")
_TAG = re.compile(r"<[^<>]{1,200}>|\{\\[^{}]{1,80}\}")
_NAMED = re.compile(r"(?:>>|-)?[ \t]?([^\W\d_][\w.'’()-]{0,30}(?: [\w.'’()-]{1,30}){0,4}):[ \t]")


def read_transcript(source: str) -> Reading:
    """Read WebVTT (https://www.w3.org/TR/webvtt1/) or SubRip; joins the cues of one speaker."""
    cues = [*_cues(source)]
    has_names = sum(bool(who or _NAMED.match(words)) for _, who, words in cues) * 2 >= len(cues)
    turns: list[tuple[str, str, str]] = []
    for at, speaker, words in cues:
        named = _NAMED.match(words) if has_names and not speaker else None
        who = speaker or (named[1] if named else "")
        said = words[named.end() :] if named else words
        if turns and _goes_on(turns[-1], who):
            begun, before, text = turns.pop()
            turns.append((begun, before, f"{text} {said}"))
        else:
            turns.append((at, who or (turns[-1][1] if turns and has_names else ""), said))
    return _reading("", [(2, who, at, said) for at, who, said in turns])


def _goes_on(turn: tuple[str, str, str], who: str) -> bool:
    """True if a cue continues a turn; one without a name continues that of the cue before."""
    _, before, text = turn
    ends = text.endswith((".", "!", "?", "…", "。", "！", "？"))
    return who in ("", before) and len(text) < LONGEST_TURN * (1 if ends else 2)


def _cues(source: str) -> Iterator[tuple[str, str, str]]:
    """The time, speaker ("" if unknown) and words of each cue, or of a part of it."""
    last = ""
    for block in source.split("\n\n"):
        lines = block.strip().split("\n")
        found = next(
            ((i, t) for i, line in enumerate(lines[:2]) if (t := _TIMES.match(line))), None
        )
        if found is None:
            continue  # a note, or a style
        hours, minutes, seconds = found[1].groups()
        said = [line for line in lines[found[0] + 1 :] if line.strip() != last]
        last = lines[-1].strip()  # captions that roll up repeat the line before
        parts = ["", *_VOICE.split("\n".join(said))]
        for speaker, words in zip(parts[::2], parts[1::2], strict=True):
            if text := one_line(html.unescape(_TAG.sub("", words))):
                yield f"{int(hours or 0):02d}:{minutes}:{seconds}", html.unescape(speaker), text


def _reading(title: str, turns: list[tuple[int, str, str, str]]) -> Reading:
    """The page of some turns: the level of each, who said it, when, and the words."""
    blocks = Blocks()
    for level, who, at, said in turns:
        if blocks.full:
            blocks.heading(1, "The rest of this conversation was not read")
            break
        blocks.heading(level, ", ".join(filter(None, (who, at))))
        blocks.paragraph(said)
    return Reading(title, blocks.text())


# ---------------------------------------------------------------- exported chats

_NO_WORDS = ("_join", "_leave", "_topic", "_purpose", "_archive", "_name")
_OF_EMBEDS = ("title", "description")
_MARK = re.compile(r"<([@#!]?)!?([^<>|\n]{1,500})(?:\|([^<>\n]{1,500}))?>")


def read_chat(value: Any, people: bytes = b"") -> Reading | None:
    """Read the parsed JSON of an exported chat, threads together; None if it is something else.

    ``people`` is the ``users.json`` of Slack's export, which has the names of the members.
    """
    try:
        messages = value["messages"] if isinstance(value, dict) else value
        if {"ts", "type", "text"} <= messages[0].keys():
            return _reading("", _threaded(_of_slack(messages, people)))
        title = f"{value['guild']['name']}, #{value['channel']['name']}"
        return _reading(title, _threaded(_of_discord(messages)))
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
        return None


def _threaded(
    messages: Iterator[tuple[str, str, datetime, list[str]]],
) -> list[tuple[int, str, str, str]]:
    """The turns of messages (thread, author, time, words), each thread below its first one."""
    threads: dict[str, list[tuple[int, str, str, str]]] = {}
    for thread, author, at, said in messages:
        turns = threads.setdefault(thread, [])
        time = f"{at.day} {at:%B %Y %H:%M}"
        turns.append((3 if turns else 2, author, time, "\n".join(filter(None, said))))
    return [turn for turns in threads.values() for turn in turns]


def _of_slack(
    messages: list[dict[str, Any]], people: bytes
) -> Iterator[tuple[str, str, datetime, list[str]]]:
    """See https://slack.com/help/articles/220556107 for the form of exports."""
    listed = json.loads(people or b"[]")
    names = {
        each["id"]: each.get("real_name")
        or (each.get("profile") or {}).get("real_name")  # of somebody who has left
        or each.get("name")
        or each["id"]
        for each in listed
    }
    for each in messages:
        if (profile := each.get("user_profile")) and profile.get("real_name"):
            names.setdefault(each["user"], profile["real_name"])

    def shown(mark: re.Match[str]) -> str:
        sign = mark[1].replace("!", "@")
        return f"{sign}{mark[3] or names.get(mark[2], mark[2])}"

    for each in messages:
        if each.get("subtype", "").endswith(_NO_WORDS):
            continue
        user = each.get("user", "")
        said = html.unescape(_MARK.sub(shown, each.get("text", "")))
        files = [file.get("name", "") for file in each.get("files") or ()]
        author = names.get(user) or each.get("username") or user
        at = datetime.fromtimestamp(float(each["ts"]), UTC)
        yield each.get("thread_ts") or each["ts"], author, at, [said, *files]


def _of_discord(
    messages: list[dict[str, Any]],
) -> Iterator[tuple[str, str, datetime, list[str]]]:
    """See https://github.com/Tyrrrz/DiscordChatExporter for the form of exports."""
    threads: dict[str, str] = {}
    for each in messages:
        above = (each.get("reference") or {}).get("messageId", "")
        threads[each["id"]] = threads.get(above, each["id"])
        if each.get("type") not in ("Default", "Reply"):
            continue
        said = each["content"]
        for one in each.get("mentions", ()):
            called = f"@{one.get('nickname') or one['name']}"
            said = said.replace(f"<@{one['id']}>", called).replace(f"<@!{one['id']}>", called)
        shown = [one.get(key, "") for one in each.get("embeds", ()) for key in _OF_EMBEDS]
        files = [file.get("fileName", "") for file in each.get("attachments", ())]
        author = each["author"].get("nickname") or each["author"]["name"]
        at = datetime.fromisoformat(each["timestamp"])
        yield threads[each["id"]], author, at, [said, *shown, *files]
