"""The same answers on every surface, as text, and how much of each a reader sees.

Questions over the handbook are answered without a model; a few answers are made here for what
those do not have: marks, files, pages of a PDF, Chinese, a report. Slack and Discord are fakes that
hold to the platforms' limits, so the texts are what the adapters really sent.

Run: python -m tests.bench gallery [--to FOLDER] [--questions N]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import bot
from adapters.terminal.indexing import index_documents
from adapters.terminal.json_poster import JsonPoster, plain
from adapters.terminal.listener import PLATFORM, Terminal, terminal_thread
from adapters.web.views import markdown_of
from bot.answers import Answer, Citation, Disagreement, Doubt, Usage
from bot.app import open_app
from bot.command import settings_for
from bot.messages import Message, RunOptions
from tests.bench.table import print_table
from tests.contract.discord_harness import DiscordHarness, discord_stage
from tests.contract.harness import Desk
from tests.contract.slack_harness import SlackHarness, slack_stage

S = TypeVar("S", SlackHarness, DiscordHarness)

HANDBOOK = Path(bot.__file__).parent / "handbook"
QUESTIONS = (
    "What happens when a run's budget is spent?",
    "How do I connect Footnote to Slack?",
    "Which permissions does the Discord bot need?",
    "How do I make Footnote forget me?",
    "What does the depth quick do?",
    "Which files can be read?",
    "How is a report written?",
    "How long are answers kept?",
    "Who may ask in a channel?",
    "How do I stop a run?",
    "What does footnote doctor check?",
    "Which search providers are there?",
    "What does /readyz tell?",
    "What is the melting point of tungsten?",
)


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer on one surface: its text, and how many messages, blocks or embeds it has there."""

    text: str
    blocks: int


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="gallery", description=__doc__)
    parser.add_argument("--to", type=Path, help="a folder for one text file for each surface")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    options = parser.parse_args(argv)
    asyncio.run(_shown(QUESTIONS[: options.questions], options.to))


async def _shown(questions: Sequence[str], folder: Path | None) -> None:
    answers = [*[answer async for answer in _answered(questions)], *made()]
    surfaces = {
        "Slack": await _in_chat(answers, slack_stage, _in_slack),
        "Discord": await _in_chat(answers, discord_stage, _in_discord),
        "terminal": [Seen(plain(answer), 1) for answer in answers],
        "console": [Seen(markdown_of(answer), 1) for answer in answers],
    }
    rows = [
        (
            name,
            len(seen),
            median(len(_lines(one.text)) for one in seen),
            median(len(one.text) for one in seen),
            median(one.blocks for one in seen),
        )
        for name, seen in surfaces.items()
    ]
    print_table(("surface", "answers", "lines", "characters", "blocks"), rows)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, seen in surfaces.items():
            path = folder / f"{name.lower()}.txt"
            path.write_text("".join(_titled(answers, seen)), encoding="utf-8")
        print(f"\nThe texts are in {folder}.")


def _titled(answers: Iterable[Answer], seen: Iterable[Seen]) -> Iterable[str]:
    for answer, one in zip(answers, seen, strict=True):
        yield f"======== {answer.question}\n\n{one.text.strip()}\n\n"


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


# ---------------------------------------------------------------- the answers


async def _answered(questions: Sequence[str]) -> AsyncIterator[Answer]:
    """Answers over the handbook, without a model and without the network."""
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_for([HANDBOOK]).model_copy(
            update={
                "data_dir": Path(folder),
                "database_url": f"sqlite+aiosqlite:///{folder}/footnote.sqlite",
            }
        )
        with contextlib.redirect_stderr(io.StringIO()):
            await asyncio.to_thread(index_documents, settings)
        poster = JsonPoster()
        async with open_app(settings, {PLATFORM: poster}) as app:
            terminal = Terminal(app, poster)
            for question in questions:
                silenced = io.StringIO()
                with contextlib.redirect_stdout(silenced), contextlib.redirect_stderr(silenced):
                    answer = await terminal.ask(question, terminal_thread(None), RunOptions())
                yield answer


def made() -> tuple[Answer, ...]:
    """Answers with what those over the handbook do not have."""
    return (
        _made(
            "How tall is the tower?",
            "The tower is 330 metres tall [1]. It was never finished [2].",
            (
                _cited(1, "The tower", "It is 330 metres tall.", heading="Size › Height"),
                _cited(2, "Its history", "It was finished in 1889.", heading="History"),
            ),
            doubts=(Doubt("It was never finished [2].", "“never” is not in its source"),),
            disagreements=(Disagreement("It is 330 metres tall.", 2, "It is 312 metres tall."),),
            notes=("Brave Search did not answer in time.",),
            suggestions=("Who built it?", "How many visit it in a year?"),
        ),
        _made(
            "How much memory does the server need?",
            "It needs 4 GB of memory [1] and 20 GB of disk [2].",
            (
                _local(1, "Manual", "manual.pdf", "It needs 4 GB of memory.", "Page 7 › Setup"),
                _local(2, "Sizes", "sizes.xlsx", "Disk: 20 GB", "Sheet Disks"),
            ),
        ),
        _made(
            "金门大桥的主跨有多长？",
            "主跨长1280米[1]。大桥于1937年通车[1]。",
            (_cited(1, "金门大桥", "桥长2737米，主跨1280米，1937年通车。", heading="设计"),),
            suggestions=("谁设计了金门大桥？",),
        ),
        _made(
            "Write a report on tides",
            "## Causes\n\nTides follow the Moon [1].\n\n## Uses\n\nMills ran on them [2].\n\n"
            "⚠ Without sources: nothing was found to check this part against. "
            "It is a draft from memory.\n\nSome towns still do so.",
            (
                _cited(1, "Tide", "Tides follow the Moon.", heading="Causes"),
                _cited(2, "Tide mill", "Mills ran on tides.", heading="History"),
            ),
        ),
        _made(
            "When did the mill close, and who owned it?",
            "The mill closed in 1931 [1].",
            (_cited(1, "The mill", "It closed in 1931."),),
            status="partial",
            missing=("who owned the mill",),
        ),
        _made(
            "What is the length of the wall?",
            "Nothing in the pages read says that.",
            (),
            status="not_found",
            notes=("Wikipedia did not answer.",),
        ),
    )


def _made(question: str, text: str, citations: tuple[Citation, ...], **others: Any) -> Answer:
    usage = Usage(searches=2, pages=3, seconds=4.2)
    whole = Answer("answered", text, question, "run", citations, queries=(question,), usage=usage)
    return replace(whole, **others)


def _cited(number: int, title: str, quote: str, url: str = "", heading: str = "") -> Citation:
    address = url or f"https://pages.example/{number}"
    return Citation(number, address, title, quote, "h", 0, len(quote), heading)


def _local(number: int, title: str, name: str, quote: str, heading: str) -> Citation:
    return _cited(number, title, quote, f"file:///srv/documents/{name}", heading)


# ---------------------------------------------------------------- the surfaces


async def _in_chat(
    answers: Sequence[Answer],
    opened: Callable[[Path], AbstractAsyncContextManager[S]],
    look: Callable[[S, Message], Seen],
) -> list[Seen]:
    """The answers as they stand in a channel, each posted below its question."""
    seen: list[Seen] = []
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as stage:
            for number, answer in enumerate(answers):
                desk = Desk(stage.ask(answer.question), f"run{number}")
                reply = await stage.poster().open(desk.run(), None)
                await reply.finish(replace(answer, run=desk.run_id))
                seen.append(look(stage, desk.message))
    return seen


def _in_slack(stage: SlackHarness, message: Message) -> Seen:
    posts = stage.posts(message)
    return Seen("\n".join(post.seen for post in posts), sum(len(post.blocks) for post in posts))


def _in_discord(stage: DiscordHarness, message: Message) -> Seen:
    posts = stage.posts(message)
    controls = [f"[{label}]" for label in stage.buttons(message)]
    text = "\n".join([*stage.shown(message), " ".join(controls)])
    return Seen(text, sum(1 + len(post.embeds) for post in posts))


if __name__ == "__main__":
    main(sys.argv[1:])
