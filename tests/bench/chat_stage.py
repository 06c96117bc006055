"""The real `footnote serve` between a fake Slack and a fake Discord, and what is seen of it there.

The fakes run in this process, `serve` in one of its own. Times are of ``time.perf_counter``.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench import programs
from tests.bench.programs import REPOSITORY
from tests.fakes.discord_server import Channel, FakeDiscord, Guild, User
from tests.fakes.slack import FakeSlack

HANDBOOK = REPOSITORY / "bot" / "handbook"
MANIFEST = REPOSITORY / "deploy" / "slack-manifest.yaml"
OURS = ("FOOTNOTE_", "ANTHROPIC_", "SLACK_", "DISCORD_")
CONNECTED = ("slack is connected.", "discord is connected.")
START_SECONDS = 60.0
END_SECONDS = 30.0
PEOPLE = tuple(f"U{number}" for number in range(1, 21))
CHANNELS = tuple(f"C{number}" for number in range(1, 21))


@dataclass
class Serving:
    """A running `footnote serve`. ``started`` is when its process was; ``lines`` is what it told,
    ``took`` after how many seconds it told each of them first."""

    process: subprocess.Popen[str]
    started: float
    lines: list[str] = field(default_factory=list)
    took: dict[str, float] = field(default_factory=dict)
    told: threading.Condition = field(default_factory=threading.Condition)

    def read(self) -> None:
        """Keep what it tells, until it ends."""
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                with self.told:
                    self.lines.append(line.rstrip())
                    self.took.setdefault(line.rstrip(), time.perf_counter() - self.started)
                    self.told.notify_all()

    def wait_connected(self) -> None:
        """Until it has told that both platforms are connected."""
        with self.told:
            if not self.told.wait_for(self._connected, START_SECONDS):
                raise TimeoutError("\n".join(["`serve` did not connect:", *self.lines]))

    def _connected(self) -> bool:
        return all(told in self.took for told in CONNECTED)

    def memory(self) -> tuple[float, float]:
        """Resident and proportional set size in MB."""
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        found = {name: int(kb) / 1024 for name, kb in re.findall(r"(\w+): +(\d+) kB", rollup)}
        return found["Rss"], found["Pss"]

    def processor_seconds(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def address(self) -> str:
        """The address at which it listens for HTTP."""
        found = re.search(r"http://\S+[^.\s]", "\n".join(self.lines))
        assert found is not None, self.lines
        return found[0]


def complaints(lines: Sequence[str]) -> list[str]:
    """The warnings and errors among the lines of a log (``FOOTNOTE_LOG_FORMAT=console``)."""
    return [line for line in lines if re.search(r"\[\S*(warning|error)", line)]


@dataclass
class Stage:
    """Both platforms, peopled; ``ada`` and ``general`` are Discord's."""

    slack: FakeSlack
    discord: FakeDiscord
    guild: Guild
    ada: User
    general: Channel


@contextmanager
def platforms(*, limits: Mapping[str, int] | None = None) -> Iterator[Stage]:
    """The fakes; ``limits`` as in ``FakeSlack`` (None: as Slack's own), and Discord's alike."""
    with FakeSlack(MANIFEST, rate_limits=limits) as slack, FakeDiscord() as discord:
        for user in PEOPLE:
            slack.add_user(user, f"person{user}")
        for channel in CHANNELS:
            slack.add_channel(channel, f"channel-{channel.lower()}", members=PEOPLE)
        if limits is None:
            discord.traffic.like_discord()
        guild = discord.guild("Acme")
        ada = discord.member(guild, "Ada")
        yield Stage(slack, discord, guild, ada, discord.text(guild, "general"))


@contextmanager
def serving(stage: Stage, **settings: str) -> Iterator[Serving]:
    """`serve` with an empty data folder, connected to both platforms; ended by SIGTERM."""
    inherited = {name: v for name, v in os.environ.items() if not name.startswith(OURS)}
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **inherited,
            "NO_PROXY": "*",
            "FOOTNOTE_DATA_DIR": folder,
            "FOOTNOTE_LOG_FORMAT": "console",  # its start in plain sentences
            "FOOTNOTE_DOCS": str(HANDBOOK),
            "FOOTNOTE_HTTP_PORT": "0",
            "FOOTNOTE_SLACK_API_URL": stage.slack.api_url,
            "FOOTNOTE_DISCORD_API_URL": stage.discord.url,
            "SLACK_BOT_TOKEN": stage.slack.bot_token,
            "SLACK_APP_TOKEN": stage.slack.app_token,
            "SLACK_SIGNING_SECRET": stage.slack.signing_secret,
            "DISCORD_TOKEN": stage.discord.token,
            **settings,
        }
        started = time.perf_counter()
        process = programs.start(["serve"], environment, folder)
        running = Serving(process, started)
        reader = threading.Thread(target=running.read, daemon=True)
        reader.start()
        try:
            running.wait_connected()
            yield running
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            reader.join(END_SECONDS)
