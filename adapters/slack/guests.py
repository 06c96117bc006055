"""Recognizes guests: guest accounts, and people of other teams in Slack Connect channels.

https://docs.slack.dev/apis/slack-connect, https://docs.slack.dev/reference/objects/user-object
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.slack.people import Person

ORGANISATION = "E"  # how the id of a whole organisation begins; a workspace's begins with T


@dataclass(frozen=True, slots=True)
class Home:
    """The workspace in which Footnote is installed.

    ``enterprise`` is the organisation it is part of, or "". Where a whole organisation installed
    the app, its id is both.
    """

    team: str
    enterprise: str = ""

    def is_guest(self, person: Person | None, teams: Iterable[str] = ()) -> bool | None:
        """Whether somebody comes from outside; None where that is not known.

        ``teams`` are the ids of workspaces and organisations that a payload gives as theirs; they
        decide where the person is not known. People of other workspaces of the same organisation
        are no guests.
        """
        if person is not None:
            return person.guest or not self._includes(person)
        return True if any(map(self._is_elsewhere, teams)) else None

    def _includes(self, person: Person) -> bool:
        if self.enterprise and person.enterprise == self.enterprise:
            return True
        return person.team == self.team

    def _is_elsewhere(self, team: str) -> bool:
        """Whether an id is certainly none of ours: the workspaces of our organisation are not
        known, so within one the id of a workspace tells nothing."""
        if team.startswith(ORGANISATION):
            return team != self.enterprise
        return bool(team) and team != self.team and not self.enterprise


def teams_of(payload: Mapping[str, Any]) -> Iterator[str]:
    """The teams that an event, a message, a command or an interaction gives as its author's.

    Not ``source_team``: in channels that another team shares, members have been seen with that
    one's.
    """
    for name in ("user_team", "team", "team_id"):
        if isinstance(payload.get(name), str):
            yield payload[name]
            break
    user = payload.get("user")  # of an interaction, whose "team" is where it happened
    if isinstance(user, dict) and isinstance(user.get("team_id"), str):
        yield user["team_id"]
