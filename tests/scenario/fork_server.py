"""Starts many programs cheaply: ``python -m tests.scenario.fork_server``.

Everything the program needs is imported once; each start is a forked child that then does exactly
what ``python -m bot`` does. One JSON line each way:

    {"arguments": ["serve"], "environment": {...}, "folder": "...", "in": "...", "log": "...",
     "out": "..."}
    →  {"pid": 4711}

The child reads from ``in``; what it prints goes to ``out``, what it logs to ``log``, its exit code
to ``log`` + ".code". A name in its environment such as ``bot.operation.app.PAGE_TTL`` is a
constant, which it gets that value of.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

from adapters.web.templating import environment
from bot.cli.main import main as footnote
from bot.operation.configuration import settings_class
from bot.text import language
from bot.text.patterns import _LazyRegex

LOOK_EVERY = "bot.service.standing_service.ROUND_SECONDS"
CONSTANT = re.compile(r"(bot|adapters)\.[\w.]+\.[A-Z_]+")
PR_SET_PDEATHSIG = 1  # prctl(2)

# Imported before forking: together they take four seconds.
PARTS = (
    "adapters.discord.platform",
    "adapters.slack.interactions",
    "adapters.slack.platform",
    "bot.cli.eval",
    "bot.cli.records",
    "bot.cli.index",
    "adapters.terminal.listener",
    "adapters.terminal.screen",
    "bot.cli.usage",
    "adapters.web.app",
    "adapters.web.platform",
    "bot.service.dispatch.procrastinate_dispatcher",
    "bot.operation.diagnosis",
    "bot.pages.markup",
    "trafilatura",
    "bot.reasoning.claude_api",
    "bot.reasoning.model_reasoner",
    "bot.reasoning.closest_reasoner",
    "bot.core.texts",
    "bot.research.pipeline",
    "bot.research.strategies",
    "bot.search.indexer",
    "bot.search.local_documents",
    "bot.search.mediawiki",
    "bot.search.providers.brave",
    "bot.search.providers.searxng",
    "bot.search.providers.serper",
    "bot.search.providers.tavily",
    "bot.operation.serving",
    "bot.storage.archive",
    # What these import when they need it.
    "aiosqlite",
    "alembic.command",
    "alembic.config",
    "anthropic",
    "anyio._backends._asyncio",
    "babel.dates",
    "chardet",
    "encodings.idna",
    "fasttext",
    "fluent.runtime",
    "html.parser",
    "httpcore2",
    "opentelemetry.propagate",
    "procrastinate.builtin_tasks",
    "prometheus_client",
    "rich._emoji_codes",
    "rich.markdown",
    "slack_bolt.listener_matcher.async_builtins",
    "structlog",
    "truststore",
    "typer._adapters",
    "typer._click.decorators",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)


def set_constants() -> None:
    """Give constants the values that the environment has for their dotted names."""
    for name in filter(CONSTANT.fullmatch, list(os.environ)):
        module, _, constant = name.rpartition(".")
        holder = importlib.import_module(module)
        kind = type(getattr(holder, constant))
        setattr(holder, constant, kind(os.environ.pop(name)))


def child(request: dict[str, Any]) -> None:
    """Be the program."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # A test run that is broken off leaves no program behind.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    typed = os.open(request["in"], os.O_RDONLY)
    out, log = (
        os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND) for name in ("out", "log")
    )
    for source, number in ((typed, 0), (out, 1), (log, 2)):
        os.dup2(source, number)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    set_constants()
    sys.argv = ["footnote", *request["arguments"]]
    code: object = 1
    try:
        footnote()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        Path(request["log"] + ".code").write_text(str(code))


def import_parts() -> None:
    """Have everything at hand that a forked child will want."""
    for part in PARTS:
        importlib.import_module(part)
    settings_class().model_rebuild()  # what pydantic puts off until the first settings are read
    language.model()
    templates = environment("")
    for name in templates.list_templates(extensions=["html"]):
        templates.get_template(name)
    for each in gc.get_objects():
        if isinstance(each, _LazyRegex):
            each.search("")
    gc.freeze()  # no collection of a child looks at, and so copies, what it shares with the others


def main() -> None:
    import_parts()
    # The kernel forgets ended children at once, so that their pids are seen to be gone.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                child(json.loads(line))
            finally:
                os._exit(0)
        sys.stdout.write(json.dumps({"pid": pid}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
