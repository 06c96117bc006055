"""A server of Discord with channels that not everybody may read, and what was said in each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes.discord_permissions import bits
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_state import Channel, Overwrite, User
from tests.scenario.discord_place import DiscordPlace, post_of
from tests.scenario.places import Post, Said

KESTREL = "What did we decide about the launch of Kestrel?"
# For each place: the project that was spoken of there, and a day that is written nowhere else.
PROJECTS = {"open": "Kestrel", "board": "Merlin", "private": "Osprey"}
SECRETS = {"open": "14 October", "board": "30 November", "private": "5 December"}


def told(text: str) -> set[str]:
    """The places whose secret stands in a text."""
    return {place for place, day in SECRETS.items() if day in text}


def said_in(place: str) -> str:
    return f"We decided to move the launch of {PROJECTS[place]} to {SECRETS[place]}."


def asked_about(place: str) -> str:
    return KESTREL.replace("Kestrel", PROJECTS[place])


class Acme(DiscordPlace):
    """Ben spoke in a channel that all may read, in one for a role that Ada has, and in one for Ben
    alone; the bot may read all three."""

    def __init__(self, discord: FakeDiscord) -> None:
        super().__init__(discord)
        guild = self.guild
        self.ben = discord.member(guild, "Ben")
        board = discord.role(guild, "board")
        guild.members[self.ada.id].roles.append(board)
        self.places = {name: discord.text(guild, name) for name in ("ops", "board", "team")}
        reading = bits("VIEW_CHANNEL", "READ_MESSAGE_HISTORY", "SEND_MESSAGES_IN_THREADS")
        for channel, key, kind in (
            (self.places["board"], board.id, 0),
            (self.places["team"], self.ben.id, 1),
        ):
            channel.overwrites[guild.id] = Overwrite(0, deny=reading)
            channel.overwrites[key] = Overwrite(kind, allow=reading)
            channel.overwrites[discord.bot.id] = Overwrite(1, allow=reading | bits("SEND_MESSAGES"))
        for name, secret in (("ops", "open"), ("board", "board"), ("team", "private")):
            discord.people.say(self.ben, self.places[name], said_in(secret))

    def ask_in(self, channel: Channel, user: User, text: str = KESTREL) -> Said:
        message = self.discord.people.say(
            user, channel, text, mentions_bot=channel.guild is not None
        )
        return self._kept(message, message.id)

    def replies(self, said: Said, channel: Channel) -> list[Post]:
        """The posts that answer a question; in a direct message, the posts to all."""
        place = channel if channel.guild is None else self.discord.thread_of(self._said[said.root])
        return [] if place is None else list(map(post_of, self.discord.posts(place)))

    def has_ended(self, said: Said, channel: Channel, count: int) -> bool:
        return sum(bool(post.run) for post in self.replies(said, channel)) == count


@contextmanager
def open_acme() -> Iterator[Acme]:
    with FakeDiscord() as discord:
        yield Acme(discord)
