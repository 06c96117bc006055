"""Features that a workspace or one of its channels does not allow; found out once, then
remembered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from adapters.slack.calls import Refusal
from bot.errors import StorageUnavailable
from bot.logs import get_logger
from bot.storage.workspaces import Workspaces

Ability = Literal["streaming", "sessions"]

PLATFORM = "slack"
RECONSIDERED = timedelta(days=7)  # then it is tried again: an admin may have granted it

# The refusal is about the app or the workspace, not about where or what was posted:
# https://docs.slack.dev/reference/methods/chat.startStream and …/agents.sessions.setStatus
_WORKSPACE = frozenset(
    {
        *("missing_scope", "not_allowed", "not_allowed_token_type", "unknown_method"),
        *("method_deprecated", "deprecated_endpoint", "feature_disabled", "feature_not_enabled"),
        *("no_permission", "access_denied", "enterprise_is_restricted", "ekm_access_denied"),
        *("team_access_not_granted", "method_not_supported", "not_supported", "two_factor_setup"),
        *("accesslimited", "free_team_not_allowed", "paid_teams_only", "team_not_eligible"),
    }
)
# It is about this channel or kind of channel.
_CHANNEL = frozenset(
    {
        *("channel_type_not_supported", "method_not_supported_for_channel_type"),
        *("not_authorized", "restricted_action", "restricted_action_read_only_channel"),
        *("restricted_action_thread_only_channel", "restricted_action_non_threadable_channel"),
        *("restricted_action_thread_locked", "cannot_reply_to_message", "slack_connect_file_link"),
        *("is_connect_channel", "external_channel_not_supported", "user_not_in_channel"),
    }
)

log = get_logger()


class Features:
    """Remembers refusals: of a workspace in the store, of a channel in this process."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces
        self._refused: dict[str, set[str]] = {}  # workspace → features it does not have
        self._channels: set[tuple[str, str, str]] = set()

    async def has(self, ability: Ability, workspace: str, channel: str) -> bool:
        if workspace not in self._refused:
            self._refused[workspace] = await self._remembered(workspace)
        return (
            ability not in self._refused[workspace]
            and (ability, workspace, channel) not in self._channels
        )

    async def lacks(self, ability: Ability, workspace: str, channel: str, refusal: Refusal) -> None:
        """Slack refused to do something: remember it where it will be refused again."""
        log.info("slack refuses", ability=ability, channel=channel, code=refusal.code)
        if refusal.code in _CHANNEL:
            self._channels.add((ability, workspace, channel))
        elif refusal.code in _WORKSPACE:
            self._refused.setdefault(workspace, set()).add(ability)
            fact = {"refused": refusal.code, "at": datetime.now(UTC).isoformat()}
            try:
                await self._workspaces.remember(PLATFORM, workspace, ability, fact)
            except StorageUnavailable as away:
                log.warning("refusal not kept", ability=ability, error=str(away))

    async def _remembered(self, workspace: str) -> set[str]:
        try:
            facts = await self._workspaces.facts(PLATFORM, workspace)
        except StorageUnavailable as away:
            log.warning("refusals not read", error=str(away))
            return set()
        return {name for name in get_args(Ability) if _holds(facts.get(name))}


def _holds(fact: Any) -> bool:
    if not isinstance(fact, dict) or not fact.get("refused"):
        return False
    try:
        at = datetime.fromisoformat(fact["at"])
    except (KeyError, TypeError, ValueError):
        return False
    return datetime.now(UTC) - at < RECONSIDERED
