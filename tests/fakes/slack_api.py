"""Checks of the Web API (token, arguments, scopes, rate, faults), and the call of the method."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

from tests.fakes import slack_chat, slack_methods, slack_search, slack_stream
from tests.fakes.slack_call import Refused, checked_arguments
from tests.fakes.slack_chat import need_scope
from tests.fakes.slack_limits import RESTRICTED_PAGE, RULES, SCOPE_OF_KIND
from tests.fakes.slack_workspace import Json, Workspace

Handler = Callable[[Workspace, Json], Json]

_HANDLERS: dict[str, Handler] = {
    "agents.sessions.setStatus": slack_methods.set_session_status,
    "assistant.search.context": slack_search.search,
    "assistant.search.info": slack_search.info,
    "assistant.threads.setSuggestedPrompts": slack_methods.set_prompts,
    "auth.test": slack_methods.auth_test,
    "chat.appendStream": slack_stream.append,
    "chat.delete": slack_chat.delete,
    "chat.postEphemeral": slack_chat.post_ephemeral,
    "chat.postMessage": slack_chat.post_message,
    "chat.startStream": slack_stream.start,
    "chat.stopStream": slack_stream.stop,
    "chat.unfurl": slack_chat.unfurl,
    "chat.update": slack_chat.update,
    "conversations.history": slack_methods.conversations_history,
    "conversations.info": slack_methods.conversations_info,
    "conversations.open": slack_methods.conversations_open,
    "conversations.replies": slack_methods.conversations_replies,
    "files.info": slack_methods.files_info,
    "usergroups.users.list": slack_methods.user_group,
    "users.info": slack_methods.users_info,
    "views.open": slack_methods.open_view,
    "views.publish": slack_methods.publish_view,
}

# The arguments of methods that slack_sdk has no name for, and whether they are required.
UNNAMED: dict[str, dict[str, bool]] = {
    "assistant.search.context": slack_search.ARGUMENTS,
    "assistant.search.info": {},
}

_DISGUISE = {"username", "icon_emoji", "icon_url"}
_READING = ("conversations.history", "conversations.replies")


class RateLimited(Exception):
    """HTTP 429 with ``Retry-After`` in whole seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


@dataclass(slots=True)
class Refusal:
    """A refusal a test asked for; ``times`` left, ``channel`` or everywhere."""

    error: str
    more: Json
    channel: str | None
    times: int | None


class WebApi:
    """Turns a decoded request into its JSON response; called with the workspace's lock held."""

    def __init__(
        self,
        ws: Workspace,
        tokens: dict[str, str],
        rate_limits: dict[str, int],
        base: Callable[[], str],
        open_socket: Callable[[], str],
    ) -> None:
        self._ws = ws
        self._tokens = tokens  # token → bot | app
        self._limits = rate_limits
        self._handlers: dict[str, Handler] = {
            **_HANDLERS,
            "apps.connections.open": lambda ws, args: {"ok": True, "url": open_socket()},
        }
        self._used: dict[tuple[str, str], deque[float]] = defaultdict(deque)
        self.storms: dict[str, deque[int]] = defaultdict(deque)
        self.refusals: dict[str, list[Refusal]] = defaultdict(list)
        self.unsupported_blocks: set[str] = set()
        self.restricted_reading = False
        self.revoked: str | None = None

    def knows(self, token: str | None) -> bool:
        return token in self._tokens

    def issue(self, token: str) -> None:
        """Accept a new bot token; earlier ones stay valid until ``end_tokens``."""
        self._tokens[token] = "bot"

    def end_tokens(self) -> None:
        """Reject all bot tokens, because the app was removed."""
        for token, kind in self._tokens.items():
            self._tokens[token] = "ended" if kind == "bot" else kind

    def authorize(self, method: str, token: str | None) -> None:
        if not token:
            raise Refused("not_authed")
        kind = self._tokens.get(token)
        if kind is None:
            raise Refused("invalid_auth")
        if self.revoked is not None:
            raise Refused(self.revoked)
        if kind == "ended":
            raise Refused("account_inactive")
        rule = RULES.get(method)
        if rule is not None and rule.token not in ("any", kind):
            raise Refused("not_allowed_token_type")

    def answer(self, method: str, given: Json) -> Json:
        """Respond to a call with a valid token. Raises ``Refused`` or ``RateLimited``."""
        args = checked_arguments(method, given, UNNAMED.get(method))
        where = str(args.get("channel", args.get("channel_id", "")))
        self._hold_back(method, where)
        self._refuse_as_told(method, where)
        streamed = [one for chunk in args.get("chunks") or () for one in chunk.get("blocks", ())]
        for number, block in enumerate([*(args.get("blocks") or ()), *streamed]):
            kind = block.get("type")  # a block without a type is refused with the other faults
            if kind in self.unsupported_blocks:
                said = f"unsupported type: {kind} [json-pointer:/blocks/{number}/type]"
                raise Refused("invalid_blocks", f"[ERROR] {said}")
        if method != "apps.connections.open":
            need_scope(self._ws, *self._scopes(method, where))
        if _DISGUISE & set(args):
            need_scope(self._ws, "chat:write.customize")
        if self.restricted_reading and method in _READING:
            args["limit"] = min(int(args.get("limit") or RESTRICTED_PAGE), RESTRICTED_PAGE)
        reply = self._handlers[method](self._ws, args)
        self._ws.lock.notify_all()
        return reply

    def _hold_back(self, method: str, channel: str) -> None:
        if self.storms[method]:
            raise RateLimited(self.storms[method].popleft())
        rule = RULES[method]
        allowed = self._limits.get(method, rule.calls_a_minute)
        if self.restricted_reading and method in _READING:
            allowed = 1
        now = self._ws.clock.now()
        used = self._used[method, channel if rule.by_channel else ""]
        while used and now - used[0] >= 60:
            used.popleft()
        if len(used) >= allowed:
            raise RateLimited(max(1, math.ceil(used[0] + 60 - now)))
        used.append(now)

    def _refuse_as_told(self, method: str, channel: str) -> None:
        for refusal in self.refusals[method]:
            if refusal.channel not in (None, channel) or refusal.times == 0:
                continue
            if refusal.times is not None:
                refusal.times -= 1
            raise Refused(refusal.error, **refusal.more)

    def _scopes(self, method: str, channel: str) -> tuple[str, ...]:
        scopes = RULES[method].scopes
        if not any("*" in scope for scope in scopes):
            return scopes
        found = self._ws.channels.get(channel)
        kind = SCOPE_OF_KIND[found.kind] if found else "channels"
        return tuple(scope.replace("*", kind) for scope in scopes)
