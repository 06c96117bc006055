"""Agent sessions, the assistant pane, views, reactions and blocks.validate."""

from __future__ import annotations

from typing import Any

from tests.fakes import slack_events as events
from tests.fakes.slack_blocks import Fault, faults_in_blocks, faults_in_view
from tests.fakes.slack_call import Refused, text_of
from tests.fakes.slack_chat import need_scope, readable, writable
from tests.fakes.slack_limits import STATUS_PROMPTS, TITLE, TRIGGER_SECONDS
from tests.fakes.slack_stream import SESSION_STATES
from tests.fakes.slack_workspace import APP_ID, Channel, Json, Message, Session, Workspace

NO_STOP_EVENT = "missing_agent_session_stopped_event_subscription"


def set_session_status(ws: Workspace, args: Json) -> Json:
    channel = _agent_channel(ws, args)
    if not args.get("thread_ts"):
        raise Refused("thread_ts_required")
    status = args["status"]
    if status not in SESSION_STATES:
        raise Refused("invalid_status")
    if len(text_of(args, "title")) > TITLE or len(text_of(args, "username")) > TITLE:
        raise Refused("invalid_arguments", f"[ERROR] must be less than {TITLE + 1} characters")
    if any(args.get(key) for key in ("username", "icon_emoji", "icon_url")):
        need_scope(ws, "chat:write.customize")
    initiator = text_of(args, "initiator_user_id")
    if initiator and initiator not in channel.members:
        raise Refused("user_not_found")
    root = _root(ws, channel, args)
    session = ws.sessions.setdefault((channel.id, root), Session(status, args.get("title")))
    session.status = status
    session.history.append(status)
    reply: Json = {"ok": True, "status": status, "agent_status": status, "title": session.title}
    if status == "processing" and not ws.manifest.subscribes("agent_session_stopped"):
        reply |= {"warning": NO_STOP_EVENT, "response_metadata": {"warnings": [NO_STOP_EVENT]}}
    return reply


def rename_session(ws: Workspace, args: Json) -> Json:
    channel = _agent_channel(ws, args)
    session = ws.sessions.get((channel.id, _root(ws, channel, args)))
    if session is None:
        raise Refused("session_not_found")
    if not 1 <= len(text_of(args, "title")) <= TITLE:
        raise Refused("invalid_arguments", "[ERROR] title must be 1 to 200 characters")
    session.title = args["title"]
    return {"ok": True, "title": session.title}


def _agent_channel(ws: Workspace, args: Json) -> Channel:
    if not ws.manifest.agent:
        raise Refused("feature_disabled")
    channel = readable(ws, text_of(args, "channel_id"))
    if ws.bot_user not in channel.members:
        raise Refused("not_authorized")
    return channel


def _root(ws: Workspace, channel: Channel, args: Json) -> str:
    message = ws.find(channel.id, text_of(args, "thread_ts"))
    if message is None:
        raise Refused("thread_not_found")
    return message.root


# --- the assistant pane, reported to retire in February 2027 ---


def set_thread_status(ws: Workspace, args: Json) -> Json:
    texts = args.get("loading_messages") or []
    if not isinstance(texts, list) or len(texts) > 10:
        raise Refused("invalid_arguments", "[ERROR] loading_messages: at most 10")
    _assistant(ws, args)["status"] = text_of(args, "status")
    return {"ok": True}


def set_thread_title(ws: Workspace, args: Json) -> Json:
    _assistant(ws, args)["title"] = text_of(args, "title")
    return {"ok": True}


def set_prompts(ws: Workspace, args: Json) -> Json:
    prompts = args["prompts"]
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= STATUS_PROMPTS:
        raise Refused("invalid_arguments", f"[ERROR] 1 to {STATUS_PROMPTS} prompts")
    for prompt in prompts:
        if not isinstance(prompt, dict) or set(prompt) != {"title", "message"}:
            raise Refused("invalid_arguments", "[ERROR] a prompt is a title and a message")
    _assistant(ws, args)["prompts"] = {"title": args.get("title"), "prompts": prompts}
    return {"ok": True}


def _assistant(ws: Workspace, args: Json) -> Json:
    channel = writable(ws, text_of(args, "channel_id"), users_open_ims=False)
    root = text_of(args, "thread_ts")
    if root and ws.find(channel.id, root) is None:
        raise Refused("thread_not_found")
    return ws.assistant.setdefault((channel.id, root), {})


# --- views ---


def publish_view(ws: Workspace, args: Json) -> Json:
    user = text_of(args, "user_id")
    if user not in ws.users:
        raise Refused("user_not_found")
    if not ws.manifest.home_tab:
        raise Refused("not_enabled")
    _refuse_view(faults_in_view(args["view"], ("home",)))
    current = ws.views.get(user)
    if args.get("hash") and current and current["hash"] != args["hash"]:
        raise Refused("hash_conflict")
    ws.views[user] = _view(ws, args["view"], current["id"] if current else None)
    return {"ok": True, "view": ws.views[user]}


def open_view(ws: Workspace, args: Json) -> Json:
    use_trigger(ws, text_of(args, "trigger_id"))
    _refuse_view(faults_in_view(args["view"], ("modal",)))
    view = _view(ws, args["view"], None)
    ws.modals.append(view)
    return {"ok": True, "view": view}


def use_trigger(ws: Workspace, trigger: str) -> None:
    made, used = ws.triggers.get(trigger, (None, False))
    if made is None:
        raise Refused("invalid_trigger_id")
    if used:
        raise Refused("exchanged_trigger_id")
    if ws.clock.now() - made > TRIGGER_SECONDS:
        raise Refused("expired_trigger_id")
    ws.triggers[trigger] = (made, True)


def _refuse_view(faults: list[Fault]) -> None:
    if faults:
        raise Refused("invalid_arguments", *(fault.line("/view") for fault in faults))


def _view(ws: Workspace, view: Json, old: str | None) -> Json:
    blocks = [{"block_id": ws.new_id("b"), **block} for block in view["blocks"]]
    names: Json = {"id": old or ws.new_id("V"), "hash": ws.clock.ts(), "team_id": ws.team}
    return {**view, **names, "blocks": blocks, "app_id": APP_ID, "bot_id": ws.bot_id}


# --- reactions ---


def add_reaction(ws: Workspace, args: Json) -> Json:
    message, name = _reacted(ws, args, "timestamp")
    users = message.reactions.setdefault(name, [])
    if ws.bot_user in users:
        raise Refused("already_reacted")
    users.append(ws.bot_user)
    ws.emit(events.reaction(ws, "reaction_added", ws.bot_user, name, message))
    return {"ok": True}


def remove_reaction(ws: Workspace, args: Json) -> Json:
    message, name = _reacted(ws, args, "timestamp")
    if ws.bot_user not in message.reactions.get(name, []):
        raise Refused("no_reaction")
    message.reactions[name].remove(ws.bot_user)
    if not message.reactions[name]:
        del message.reactions[name]
    ws.emit(events.reaction(ws, "reaction_removed", ws.bot_user, name, message))
    return {"ok": True}


def _reacted(ws: Workspace, args: Json, key: str) -> tuple[Message, str]:
    channel = writable(ws, text_of(args, "channel"), users_open_ims=False)
    message = ws.find(channel.id, text_of(args, key))
    if message is None:
        raise Refused("message_not_found")
    name = text_of(args, "name")
    if not name or ":" in name or " " in name:
        raise Refused("invalid_name")
    return message, name


# --- blocks.validate ---


def validate_blocks(ws: Workspace, args: Json) -> Json:
    given = [key for key in ("blocks", "message", "view") if key in args]
    if len(given) != 1:
        raise Refused("invalid_arguments", "[ERROR] give exactly one of blocks, message, view")
    value: Any = args[given[0]]
    if given == ["view"]:
        faults = faults_in_view(value)
    elif given == ["message"] and not isinstance(value, dict):
        faults = [Fault("", "must be an object")]
    else:
        faults = faults_in_blocks(value.get("blocks", []) if given == ["message"] else value)
    if faults:
        errors = [
            {"pointer": fault.pointer, "code": "failed_constraint", "message": fault.message}
            for fault in faults
        ]
        raise Refused(f"invalid_{given[0]}", errors=errors)
    return {"ok": True}
