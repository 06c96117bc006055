"""The command ``footnote chat``."""

from __future__ import annotations

from bot.cli.ask import DepthOption, StyleOption, ThreadOption, indexed
from bot.cli.command import Docs, Providers, command_app, settings_with_kept, standard_input

app = command_app()


@app.command()
def chat(
    thread: ThreadOption = None,
    depth: DepthOption = "auto",
    style: StyleOption = "auto",
    docs: Docs = None,
    provider: Providers = None,
) -> None:
    """Hold a conversation.

    Follow-up questions are understood in its context.

    Ctrl-C stops an answer in progress; /quit, Ctrl-D or Ctrl-C at the prompt leave.
    """
    standard_input()
    settings = settings_with_kept(docs, provider)
    with indexed(settings):
        from adapters.terminal.listener import converse
        from adapters.terminal.messages import terminal_thread
        from bot.core.messages import RunOptions
    options = RunOptions(depth=depth, providers=tuple(provider or ()), style=style)
    converse(settings, terminal_thread(thread), options)
