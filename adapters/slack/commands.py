"""The slash commands: ``/ask`` and ``/footnote``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from adapters.slack.calls import Json
from adapters.slack.deferred import Recipient, SlowWork
from adapters.slack.incoming import mentions_in, unescape
from adapters.slack.listener import PLATFORM, Listener
from adapters.slack.places import Place
from bot.core.errors import FootnoteError
from bot.core.lines import shortened
from bot.core.messages import Depth, Message, Thread
from bot.core.posting import PostState
from bot.core.texts import Texts, sentence_for, texts_for
from bot.pages.urls import links_in
from bot.service.access import DEPTHS, KEYS, depth_named, rule_values, with_rule
from bot.service.buttons import forget_me
from bot.service.reception import AcceptedQuestion, Handled
from bot.service.standing_service import (
    do_by_words,
    schedule_named,
    split_schedule,
    watch_confirmation,
)

ASK, FOOTNOTE, FORGET = "/ask", "/footnote", "/footnote forget me"
WATCH = "/footnote watch"
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
        watching = texts("watch-help", command=WATCH)
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
            return texts("watch-help", command=WATCH)
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
