"""The slash commands, the controls under an answer, and the message shortcuts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from adapters.slack.calls import Calls, Json
from adapters.slack.deferred import Doing, Recipient, SlowWork
from adapters.slack.format import (
    BAD,
    DEEPER,
    DETAILS,
    FOLLOW_UP,
    GOOD,
    REASON,
    RETRACT,
    STOP,
    WATCH,
    reason_blocks,
)
from adapters.slack.incoming import (
    Place,
    attachments_of,
    event_id,
    mentions_in,
    thread_of,
    unescape,
    without_mention,
    words_of,
)
from adapters.slack.listener import PLATFORM, Listener, about_files
from adapters.slack.views import details
from bot.core.errors import FootnoteError, PlatformUnavailable, PostRefused
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.messages import Audience, Author, Depth, Message, Style, Thread
from bot.core.posting import PostState
from bot.core.texts import Texts, sentence_for, texts_for
from bot.pages.urls import links_in
from bot.service.buttons import (
    ASK_WHY,
    Deed,
    Deeper,
    Details,
    Feedback,
    FollowUp,
    Press,
    Retract,
    Stop,
    Watch,
    carry_out,
    forget_me,
)
from bot.service.reception import AcceptedQuestion, Handled
from bot.service.rules import DEPTHS, KEYS, depth_named, rule_values, with_rule
from bot.service.standing.desk import do_by_words, split_schedule, watch_confirmation
from bot.service.standing.schedule import schedule_named
from bot.storage.workspaces import REASONS

ASK, FOOTNOTE, FORGET = "/ask", "/footnote", "/footnote forget me"
WATCHING = "/footnote watch"
QUESTION_CHARACTERS = 300  # characters of the question in the confirmation to its asker

_CHOSEN = re.compile(
    rf"(?:--depth[ =](?P<option>\w+)|(?P<word>{'|'.join(DEPTHS)})[ \t]*[:：])(?:\s+|$)?",
    re.IGNORECASE,
)
_OPTION_AT_END = re.compile(r"\s--depth[ =](\w+)\s*$", re.IGNORECASE)


def parse_ask(text: str) -> tuple[Depth, str]:
    """Parse depth and question of ``/ask deep: why …`` or ``/ask --depth deep why …``.

    Raises ``Invalid`` for an unknown depth.
    """
    text = text.strip()
    if match := _CHOSEN.match(text):
        return depth_named(match["option"] or match["word"]), text[match.end() :].strip()
    if match := _OPTION_AT_END.search(text):
        return depth_named(match[1]), text[: match.start()].strip()
    return "auto", text


class Commands:
    """Answers slash commands, privately to the person who used them."""

    def __init__(self, listener: Listener, patience: SlowWork, providers: Sequence[str]) -> None:
        self._listener = listener
        self._slow_work = patience
        self._providers = tuple(providers)

    # ------------------------------------------------------------ /ask

    async def ask(self, command: Json) -> str:
        """Accept a question; return the private line that confirms it or says why not.

        Slack delivers a command only once, so a failure is reported and not retried.
        """
        message, texts = await self._message(command)
        try:
            depth, question = parse_ask(message.text)
        except FootnoteError as error:
            return sentence_for(error, texts)
        message = replace(message, text=question, links=tuple(links_in(question)))
        on_it = texts("command-accepted", question=shortened(question, QUESTION_CHARACTERS))
        channel, user = message.thread.channel, message.author.id
        state = asked_by(command, channel, user)

        async def accept() -> str:
            outcome = await self._listener.reception.receive(
                message, "footnote", depth=depth, post_state=state
            )
            if isinstance(outcome, Handled):
                return texts("stopping") if outcome.stopped else texts("nothing-running")
            return on_it

        recipient = Recipient(channel, user, response_url=state["command"]["response_url"])
        return await self._slow_work.run(accept(), recipient, texts, meanwhile=on_it) or ""

    async def _message(self, command: Json) -> tuple[Message, Texts]:
        """Convert a command to a message. Its thread does not exist yet: the poster begins it."""
        user, channel = str(command["user_id"]), str(command["channel_id"])
        raw = str(command.get("text") or "")
        people = await self._listener.people.quickly([user, *mentions_in(raw)])
        text = unescape(raw, {person.id: person.name for person in people.values()})
        author, locale = self._listener.author(user, people, text, command)
        trigger = str(command["trigger_id"])
        if author.name == user:
            author = replace(author, name=str(command.get("user_name") or user))
        message = Message(
            event_id=f"{channel}:command:{trigger}",
            thread=Thread(PLATFORM, self._listener.me.team, channel, f"pending-{trigger}"),
            author=author,
            text=text,
            at=datetime.now(UTC),
            locale=locale,
            audience=Place.of_id(channel).audience,
        )
        return message, texts_for(locale)

    # ------------------------------------------------------------ /footnote

    async def footnote(self, command: Json) -> None:
        """Show or change the channel's rules, watch a question, or delete the data of the command's
        author; the response follows through the response URL."""
        message, texts = await self._message(command)
        recipient = Recipient(
            message.thread.channel,
            message.author.id,
            direct=message.direct,
            response_url=str(command.get("response_url") or ""),
        )
        try:
            told = await self._ruled(message, texts, command)
            self._listener.ephemeral.say(recipient, told)
        except FootnoteError as error:
            self._listener.ephemeral.say(recipient, sentence_for(error, texts))

    async def _ruled(self, message: Message, texts: Texts, command: Json) -> str:
        reception = self._listener.reception
        words = message.text.split(maxsplit=2)
        verb = words[0].lower() if words else "rules"
        if verb == "rules" and len(words) < 2:
            told = self._shown(rule_values(await reception.rules.of(message.thread)), texts)
            return "\n".join([told, *await reception.searched_here(message, texts)])
        if verb == "set" and len(words) > 1:
            key, value = words[1].lower(), words[2] if len(words) > 2 else ""
            rules = with_rule(await reception.rules.of(message.thread), key, value, self._providers)
            await reception.rules.set(await self._with_rights(message), rules)
            return texts("rules-set", key=key, value=dict(rule_values(rules)).get(key, "–"))
        if verb == "reset" and len(words) == 1:
            await reception.rules.set(await self._with_rights(message), None)
            return texts("rules-reset")
        if verb == "watch":
            return await self._watched(command, message, message.text[len(words[0]) :], texts)
        if verb == "forget" and words[1:2] and words[1].lower() == "me":
            word = words[2] if len(words) > 2 else ""
            return await forget_me(reception, message, word, f"{FORGET} yes", texts)
        rules_help = texts(
            "rules-help",
            show=FOOTNOTE,
            set=f"{FOOTNOTE} set KEY VALUE",
            reset=f"{FOOTNOTE} reset",
            keys=", ".join(KEYS),
        )
        watching = texts("watch-help", command=WATCHING)
        return "\n".join([rules_help, watching, texts("forget-help", command=FORGET)])

    async def _watched(self, command: Json, message: Message, words: str, texts: Texts) -> str:
        """Ask and watch a question, or list, pause, resume or stop standing questions."""
        reception = self._listener.reception
        reach = await reception.reach_in(message)
        told = await do_by_words(reception.standing, message, words, reach, texts)
        if told is not None:
            return told
        schedule, question = split_schedule(words)
        schedule = schedule_named(schedule)
        message = replace(message, text=question, links=tuple(links_in(question)))
        state = asked_by(command, message.thread.channel, message.author.id)
        outcome = await reception.receive(message, "footnote", post_state=state)
        if not isinstance(outcome, AcceptedQuestion):
            return texts("watch-help", command=WATCHING)
        watch = await reception.watch(
            outcome.run_id,
            message.author,
            schedule,
            locale=message.locale,
            audience=message.audience,
        )
        return watch_confirmation(watch, texts)

    async def _with_rights(self, message: Message) -> Message:
        """Return the message with its author's rights, looked up without a time limit."""
        person = await self._listener.people.person(message.author.id)
        author, _ = self._listener.author(person.id, {person.id: person}, message.text, {})
        return replace(message, author=author)

    def _shown(self, rules: Sequence[tuple[str, str]], texts: Texts) -> str:
        if not rules:
            return texts("rules-none")
        lines = [texts("rules-line", key=key, value=value) for key, value in rules]
        return "\n".join([texts("rules-title"), *lines])


def asked_by(payload: Json, channel: str, user: str) -> PostState:
    """Return the state that the poster needs to begin a command's thread, or to notify the asker
    that it cannot.

    Commands and shortcuts can be used in channels that Footnote is not a member of.
    """
    url = str(payload.get("response_url") or "")
    return {"command": {"channel": channel, "user": user, "response_url": url}}


RESEARCH_THIS, CHECK_FACTS = "research_this", "check_facts"  # callback ids of the shortcuts

# The controls whose value is only the id of their run.
_OF_RUN: Mapping[str, type[Deeper | Details | Watch | Retract | Stop]] = {
    DEEPER: Deeper,
    DETAILS: Details,
    WATCH: Watch,
    RETRACT: Retract,
    STOP: Stop,
}
CONTROLS = re.compile("|".join((*_OF_RUN, GOOD, BAD, FOLLOW_UP, f"{REASON}_[a-z_]+")))
_RUN = r"[0-9A-Za-z_-]{1,64}"
_FEEDBACK_VALUE = re.compile(rf"(?P<verdict>good|bad):(?P<run>{_RUN})")
_REASON_VALUE = re.compile(rf"(?P<reason>[a-z_]+):(?P<run>{_RUN})")
_FOLLOW_UP_VALUE = re.compile(rf"(?P<run>{_RUN}):(?P<number>\d{{1,2}})")
_ONE_RUN = re.compile(_RUN)

log = get_logger()


def meaning_of(action_id: str, value: str) -> Press | None:
    """Return what a press means; None if the control is not Footnote's or its value is invalid."""
    if action_id in (GOOD, BAD):
        found = _FEEDBACK_VALUE.fullmatch(value)
        good = found is not None and found["verdict"] == "good"
        return Feedback(found["run"], "good" if good else "bad") if found else None
    if action_id.startswith(REASON):
        found = _REASON_VALUE.fullmatch(value)
        reasons = [each for each in REASONS if found and each == found["reason"]]
        return Feedback(found["run"], "bad", reasons[0]) if found and reasons else None
    if action_id == FOLLOW_UP:
        found = _FOLLOW_UP_VALUE.fullmatch(value)
        return FollowUp(found["run"], int(found["number"])) if found else None
    deed = _OF_RUN.get(action_id)
    return deed(value) if deed is not None and _ONE_RUN.fullmatch(value) else None


class Buttons:
    """Handles presses and shortcuts. A method returns once the request is stored, or when Slack
    would stop waiting.

    Slack delivers a press only once, so a failure is reported to the person who pressed.
    """

    def __init__(self, listener: Listener, patience: SlowWork, calls: Calls) -> None:
        self._listener = listener
        self._calls = calls
        self._slow_work = patience
        self._reception = listener.reception
        self._ephemeral = listener.ephemeral

    async def pressed(self, body: Json) -> None:
        """Handle ``block_actions`` with one of our action ids."""
        container = body.get("container") or {}
        channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
        user = str(body["user"]["id"])
        author, locale = await self._who(user, body)
        recipient = Recipient(
            channel,
            user,
            str(container.get("thread_ts") or ""),
            response_url=str(body.get("response_url") or ""),
            # The question "why?" is answered once: the thanks replace it.
            replace=bool(container.get("is_ephemeral")),
        )
        for action in body.get("actions") or ():
            chosen = action.get("selected_option") or action
            press = meaning_of(str(action.get("action_id")), str(chosen.get("value") or ""))
            if press is None:
                log.warning("unknown button", action=action.get("action_id"))
                continue
            audience = Place.of_id(channel).audience
            texts = texts_for(locale)
            if isinstance(press, Details):
                trigger = str(body.get("trigger_id") or "")
                doing = self._show(press.run, channel, author, trigger, texts)
            else:
                doing = self._pressed(press, author, recipient, texts, locale, audience)
            await self._tell(doing, recipient, texts)

    async def _pressed(
        self,
        press: Deed,
        author: Author,
        recipient: Recipient,
        texts: Texts,
        locale: str,
        audience: Audience,
    ) -> str | None:
        told = await carry_out(self._reception, press, author, locale=locale, audience=audience)
        if told == ASK_WHY:
            self._ephemeral.say(recipient, texts(told), reason_blocks(press.run, texts))
            return None
        return None if told is None else texts(told)

    async def _show(
        self, run: str, channel: str, author: Author, trigger: str, texts: Texts
    ) -> str | None:
        """Open the details of an answer for the presser; Slack allows three seconds for that."""
        answer, page = await self._reception.details(
            run, PLATFORM, channel, author, audience=Place.of_id(channel).audience
        )
        view = details(answer, texts, page)
        try:
            await self._calls.once("views.open", trigger_id=trigger, view=view)
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("details not shown", run=run, error=str(error))
            return texts("command-broke")
        return None

    async def research(self, body: Json) -> None:
        """Handle the shortcut "Research this": the message becomes the presser's question."""
        await self._take(body, "research", "auto")

    async def check(self, body: Json) -> None:
        """Handle the shortcut "Check the facts" about a message's statements."""
        await self._take(body, "check", "check")

    async def _take(self, body: Json, name: str, style: Style) -> None:
        said, channel = body["message"], str(body["channel"]["id"])
        user = str(body["user"]["id"])
        raw = words_of(said)
        people = await self._listener.people.quickly([user, *mentions_in(raw)])
        names = {person.id: person.name for person in people.values()}
        text = unescape(without_mention(raw, self._listener.me.user), names)
        author, locale = self._listener.author(user, people, text, _of_presser(body))
        texts = texts_for(locale)
        attachments = attachments_of(said)
        text = text or about_files(attachments, texts)
        message = Message(
            event_id=f"{event_id(channel, str(said['ts']))}:{name}:{user}",
            thread=thread_of(self._listener.me.team, channel, said),
            author=author,
            text=text,
            at=datetime.now(UTC),
            links=tuple(links_in(text)),
            attachments=attachments,
            locale=locale,
            audience=Place.of_id(channel).audience,
        )
        recipient = Recipient(channel, user, response_url=str(body.get("response_url") or ""))

        async def accept() -> None:
            await self._reception.receive(
                message,
                "footnote",
                style=style,
                post_state=asked_by(body, channel, user),
                repeats_ours=self._listener.is_ours(said),
            )

        await self._tell(accept(), recipient, texts)

    async def _tell(self, doing: Doing, recipient: Recipient, texts: Texts) -> None:
        """Run ``doing`` and send its outcome to ``recipient``, even if it takes longer than Slack
        waits."""
        told = await self._slow_work.run(doing, recipient, texts, meanwhile=None)
        if told is not None:
            self._ephemeral.say(recipient, told)

    async def _who(self, user: str, body: Json) -> tuple[Author, str]:
        people = await self._listener.people.quickly([user])
        return self._listener.author(user, people, "", _of_presser(body))


def _of_presser(body: Json) -> Json:
    """Return the part of an interaction's payload that is about the presser. The payload's own
    ``team`` is the place where it happened."""
    return {"user": body["user"]}
