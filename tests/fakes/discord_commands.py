"""Application commands: registered over REST, then offered to people."""

from __future__ import annotations

import copy
from typing import Any

from tests.fakes.discord_errors import FormErrors, refuse
from tests.fakes.discord_limits import COMMANDS, check_command
from tests.fakes.discord_rest import Call, Route
from tests.fakes.discord_state import Json, World

GLOBAL = ""


class Commands:
    """Handlers, and the commands by scope (guild id, or ``GLOBAL``) and id."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.by_scope: dict[str, dict[str, Json]] = {}

    def routes(self) -> list[Route]:
        base = "/applications/{application_id}"
        places = (f"{base}/commands", f"{base}/guilds/{{guild_id}}/commands")
        return [
            Route(method, place, handler)
            for place in places
            for method, handler in (("PUT", self.replace), ("GET", self.read))
        ]

    def find(self, name: str, type: int, guild_id: str | None) -> Json | None:
        """Return the command with this name; a guild's own takes precedence."""
        for scope in (guild_id or GLOBAL, GLOBAL):
            for command in self.by_scope.get(scope, {}).values():
                if command["name"] == name and command["type"] == type:
                    return command
        return None

    def _scope(self, call: Call) -> dict[str, Json]:
        if call.parts["application_id"] != self.world.app.id:
            raise refuse(10002)
        guild_id = call.parts.get("guild_id", GLOBAL)
        if guild_id and guild_id not in self.world.guilds:
            raise refuse(10004)
        if guild_id and not self.world.guilds[guild_id].installed:
            raise refuse(50001)
        return self.by_scope.setdefault(guild_id, {})

    def _told(self, body: Json, guild_id: str, id: str) -> Json:
        """Return a command as Discord does, with the defaults filled in."""
        kind = body.get("type") or 1
        told: Json = {
            "id": id,
            "application_id": self.world.app.id,
            "version": self.world.new_id(),
            "type": kind,
            "name": body["name"],
            "name_localizations": body.get("name_localizations"),
            "description": body.get("description") or "",
            "description_localizations": body.get("description_localizations"),
            "default_member_permissions": _text(body.get("default_member_permissions")),
            "dm_permission": body.get("dm_permission", True),
            "nsfw": bool(body.get("nsfw", False)),
            "contexts": body.get("contexts"),
            "integration_types": body.get("integration_types") or [0],
        }
        if kind == 1:
            told["options"] = body.get("options") or []
        if guild_id:
            told["guild_id"] = guild_id
            del told["dm_permission"]
        return told

    def read(self, call: Call) -> list[Json]:
        """Return all commands, without the translations of their names unless they are wanted."""
        told: list[Json] = copy.deepcopy([*self._scope(call).values()])
        if call.query.get("with_localizations") != "true":
            for command in told:
                del command["name_localizations"], command["description_localizations"]
        return told

    def replace(self, call: Call) -> list[Json]:
        """Replace all commands; those with a known name keep their id."""
        scope = self._scope(call)
        wrong = FormErrors()
        bodies: list[Json] = call.body or []
        seen: set[tuple[int, str]] = set()
        for i, body in enumerate(bodies):
            check_command(body, wrong, (i,))
            key = (body.get("type") or 1, str(body.get("name")))
            if key in seen:
                told = "Application command names must be unique"
                wrong.add((i, "name"), "APPLICATION_COMMANDS_DUPLICATE_NAME", told)
            seen.add(key)
        wrong.raise_if_any()
        for kind, limit in COMMANDS.items():
            if sum((body.get("type") or 1) == kind for body in bodies) > limit:
                raise refuse(30032)
        ids = {(c["type"], c["name"]): c["id"] for c in scope.values()}
        guild_id = call.parts.get("guild_id", GLOBAL)
        scope.clear()
        for body in bodies:
            id = ids.get((body.get("type") or 1, body["name"])) or self.world.new_id()
            scope[id] = self._told(body, guild_id, id)
        return [*scope.values()]


def _text(bits: object) -> str | None:
    return None if bits is None else str(bits)


def chosen_options(command: Json, given: Json, sub: str = "") -> list[Json]:
    """Return ``given`` values as a client sends them. Raises ``ValueError`` if it would not.

    ``sub`` is a subcommand; ``command`` is then a group.
    """
    subs = {option["name"]: option for option in command.get("options", []) if option["type"] == 1}
    if subs or sub:
        if sub not in subs:
            raise LookupError(f"/{command['name']} has no command {sub!r}")
        return [{"name": sub, "type": 1, "options": chosen_options(subs[sub], given)}]
    known = {option["name"]: option for option in command.get("options", [])}
    if strange := given.keys() - known.keys():
        raise ValueError(f"/{command['name']} has no option {sorted(strange)}")
    told = []
    for name, option in known.items():
        if name not in given:
            if option.get("required"):
                raise ValueError(f"/{command['name']} needs {name}")
            continue
        value = given[name]
        choices = [choice["value"] for choice in option.get("choices") or []]
        if choices and value not in choices:
            raise ValueError(f"{name} must be one of {choices}, not {value!r}")
        kinds: dict[int, Any] = {3: str, 4: int, 5: bool, 10: (int, float)}
        fits = isinstance(value, kinds.get(option["type"], str))
        if not fits:
            raise ValueError(f"{name} cannot be {value!r}")
        if isinstance(value, str):
            shortest, longest = option.get("min_length") or 0, option.get("max_length") or 6000
            if option["type"] == 3 and not shortest <= len(value) <= longest:
                raise ValueError(f"{name} must have {shortest} to {longest} characters")
        told.append({"name": name, "type": option["type"], "value": value})
    return told


def check_offered(command: Json | None, name: str, context: int, installed: bool) -> Json:
    """Return the command, if it is offered in this context (0 guild, 1 direct, 2 private)."""
    if command is None:
        raise LookupError(f"no command {name!r} is registered")
    contexts = command["contexts"]
    if contexts is None:
        contexts = [0, 1] if command.get("dm_permission", True) else [0]
        if 1 in command["integration_types"]:
            contexts = [*contexts, 2]
    if context not in contexts:
        raise LookupError(f"{name!r} is not offered in context {context}, only in {contexts}")
    if not installed and 1 not in command["integration_types"]:
        raise LookupError(f"{name!r} cannot be used where the app is not installed")
    return command
