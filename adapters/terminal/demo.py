"""The demo: a question and a follow-up over Footnote's own handbook."""

from __future__ import annotations

from rich.text import Text

from adapters.terminal.indexing import index_documents
from adapters.terminal.listener import PLATFORM, Terminal, terminal_thread
from adapters.terminal.poster import TerminalPoster
from bot.app import open_app
from bot.messages import RunOptions
from bot.settings import Settings

QUESTION = "How does Footnote resume a run that was interrupted?"
FOLLOW_UP = "And where does it keep it?"


async def run_demo(settings: Settings) -> bool:
    """Ask both questions in one thread and show the answers; tells if both were answered."""
    index_documents(settings)
    poster = TerminalPoster()
    thread = terminal_thread(None)
    async with open_app(settings, {PLATFORM: poster}) as app:
        terminal = Terminal(app, poster)
        for question in (QUESTION, FOLLOW_UP):
            poster.out.print(Text(f"\nYou: {question}", style="bold"))
            answer = await terminal.ask(question, thread, RunOptions(providers=("local",)))
            if answer.status != "answered":
                return False
    poster.out.print(
        Text(
            '\nNow your own: footnote ask --docs YOUR_FOLDER "your question", or footnote chat.',
            style="dim",
        )
    )
    return True
