"""The slash commands, the controls under an answer, and the message shortcuts.

Slack delivers each of them only once, so a failure is reported to the person and not retried.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from adapters.slack.calls import Calls
from adapters.slack.deferred import Doing, Recipient, SlowWork
from adapters.slack.delivery import with_files
from adapters.slack.format import reason_blocks
from adapters.slack.incoming import PLATFORM, Command, Place, Shortcut, SlackPress
from adapters.slack.listener import FILE_SECONDS, Listener, only_me
from adapters.slack.mrkdwn import mentions_in, unescape
from adapters.slack.views import details
from bot.core.errors import FootnoteError, PlatformUnavailable, PostRefused, sentence_for
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.messages import Author, Depth, Message, Thread, about_files
from bot.core.posting import PostState
from bot.core.texts import Texts, texts_for
from bot.pages.urls import links_in
from bot.service.access import DEPTHS, KEYS, depth_named, rule_values, with_rule
from bot.service.buttons import (
    ASK_WHY,
    THANKS,
    OnRun,
    Press,
    carry_out,
    forget_me,
    parse_press,
)
from bot.service.reception import AcceptedQuestion, Handled
from bot.service.standing_service import (
    do_by_words,
    schedule_named,
    split_schedule,
    watch_confirmation,
)

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

    def __init__(self, listener: Listener, slow_work: SlowWork, providers: Sequence[str]) -> None:
        self._listener = listener
        self._slow_work = slow_work
        self._providers = tuple(providers)

    async def ask(self, command: Command) -> str:
        """Accept a question; return the private line that confirms it or says why not."""
        message, texts = await self._message(command)
        private = only_me(message.text)
        try:
            depth, question = parse_ask(message.text if private is None else private)
        except FootnoteError as error:
            return sentence_for(error, texts)
        message = replace(message, text=question, links=tuple(links_in(question)))
        on_it = texts("command-accepted", question=shortened(question, QUESTION_CHARACTERS))
        if private is not None:
            on_it = texts("only-me-accepted")

        async def accept() -> str:
            asked = message
            if private is not None:
                asked = await self._listener.only_for_asker(message, question)
            outcome = await self._listener.reception.receive(
                asked, "footnote", depth=depth, post_state=asked_by(command)
            )
            if isinstance(outcome, Handled):
                return texts("stopping") if outcome.stopped else texts("nothing-running")
            return on_it

        recipient = Recipient(command.channel, command.user, response_url=command.response_url)
        return await self._slow_work.run(accept(), recipient, texts, meanwhile=on_it) or ""

    async def _message(self, command: Command) -> tuple[Message, Texts]:
        """Convert a command to a message. Its thread does not exist yet: the poster begins it."""
        user, channel = command.user, command.channel
        people = await self._listener.people.quickly([user, *mentions_in(command.text)])
        text = unescape(command.text, {person.id: person.name for person in people.values()})
        author, locale = self._listener.author(user, people, text, command.teams)
        if author.name == user:
            author = replace(author, name=command.user_name or user)
        message = Message(
            event_id=f"{channel}:command:{command.trigger}",
            thread=Thread(PLATFORM, self._listener.me.team, channel, f"pending-{command.trigger}"),
            author=author,
            text=text,
            at=datetime.now(UTC),
            locale=locale,
            audience=Place.of_id(channel).audience,
        )
        return message, texts_for(locale)

    async def footnote(self, command: Command) -> None:
        """Show or change the channel's rules, watch a question, or delete the data of the command's
        author; the response follows through the response URL."""
        message, texts = await self._message(command)
        try:
            told = await self._ruled(command, message, texts)
        except FootnoteError as error:
            told = sentence_for(error, texts)
        url = command.response_url
        recipient = Recipient(
            command.channel, command.user, direct=message.direct, response_url=url
        )
        self._listener.ephemeral.say(recipient, told)

    async def _ruled(self, command: Command, message: Message, texts: Texts) -> str:
        reception = self._listener.reception
        words = message.text.split(maxsplit=2)
        match [word.lower() for word in words[:2]]:
            case [] | ["rules"]:
                shown = self._shown(rule_values(await reception.rules.of(message.thread)), texts)
                return "\n".join([shown, *await reception.searched_here(message, texts)])
            case ["set", key]:
                value = words[2] if len(words) > 2 else ""
                rules = await reception.rules.of(message.thread)
                rules = with_rule(rules, key, value, self._providers)
                await reception.rules.set(await self._with_rights(message), rules)
                return texts("rules-set", key=key, value=dict(rule_values(rules)).get(key, "–"))
            case ["reset"]:
                await reception.rules.set(await self._with_rights(message), None)
                return texts("rules-reset")
            case ["watch", *_]:
                return await self._watched(command, message, message.text[len(words[0]) :], texts)
            case ["forget", "me"]:
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

    async def _watched(self, command: Command, message: Message, words: str, texts: Texts) -> str:
        """Ask and watch a question, or list, pause, resume or stop standing questions."""
        reception = self._listener.reception
        reach = await reception.reach_in(message)
        told = await do_by_words(reception.standing, message, words, reach, texts)
        if told is not None:
            return told
        schedule, question = split_schedule(words)
        schedule = schedule_named(schedule)
        message = replace(message, text=question, links=tuple(links_in(question)))
        outcome = await reception.receive(message, "footnote", post_state=asked_by(command))
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
        author, _ = self._listener.author(person.id, {person.id: person}, message.text)
        return replace(message, author=author)

    def _shown(self, rules: Sequence[tuple[str, str]], texts: Texts) -> str:
        if not rules:
            return texts("rules-none")
        lines = [texts("rules-line", key=key, value=value) for key, value in rules]
        return "\n".join([texts("rules-title"), *lines])


def asked_by(asked: Command | Shortcut) -> PostState:
    """Return the state that the poster needs to begin a command's thread, or to notify the asker
    that it cannot.

    Commands and shortcuts can be used in channels that Footnote is not a member of.
    """
    channel = asked.channel if isinstance(asked, Command) else asked.message.channel
    url = asked.response_url
    return {"command": {"channel": channel, "user": asked.user, "response_url": url}}


RESEARCH_THIS, CHECK_FACTS = "research_this", "check_facts"  # callback ids of the shortcuts

CONTROLS = re.compile("footnote_[a-z_-]+")

log = get_logger()


def meaning_of(action_id: str, value: str) -> Press | None:
    """Return what a press means; None if the control is not Footnote's or its value is invalid."""
    ours, deed, *_ = (*action_id.split("_"), "")  # after "reason_" comes which
    return parse_press(f"{deed}:{value}") if ours == "footnote" else None


class Buttons:
    """Handles presses and shortcuts. A method returns once the request is stored, or when Slack
    would stop waiting."""

    def __init__(self, listener: Listener, slow_work: SlowWork, calls: Calls) -> None:
        self._listener = listener
        self._calls = calls
        self._slow_work = slow_work
        self._reception = listener.reception
        self._ephemeral = listener.ephemeral

    async def press(self, pressed: SlackPress) -> None:
        people = await self._listener.people.quickly([pressed.user])
        author, locale = self._listener.author(pressed.user, people, "", pressed.teams)
        recipient = Recipient(
            pressed.channel,
            pressed.user,
            pressed.thread_ts,
            response_url=pressed.response_url,
            # The question "why?" is answered once: the thanks replace it.
            replace=pressed.is_ephemeral,
        )
        for action_id, value in pressed.controls:
            press = meaning_of(action_id, value)
            if press is None:
                log.warning("unknown button", action=action_id)
            else:
                doing = self._carried_out(press, pressed, author, recipient, locale)
                await self._tell(doing, recipient, texts_for(locale))

    async def _carried_out(
        self, press: Press, pressed: SlackPress, author: Author, recipient: Recipient, locale: str
    ) -> str | None:
        """Return what to tell the presser, or None."""
        texts, audience = texts_for(locale), Place.of_id(pressed.channel).audience
        if isinstance(press, OnRun) and press.deed == "details":
            answer, page = await self._reception.details(
                press.run, PLATFORM, pressed.channel, author, audience=audience
            )
            view = details(answer, texts, page)
            try:  # Slack allows three seconds for that
                await self._calls.once("views.open", trigger_id=pressed.trigger, view=view)
            except (PlatformUnavailable, PostRefused) as error:
                log.warning("details not shown", run=press.run, error=str(error))
                return texts("command-broke")
            return None
        told = await carry_out(self._reception, press, author, locale=locale, audience=audience)
        if told == ASK_WHY:
            self._ephemeral.say(recipient, texts(told), reason_blocks(press.run, texts))
            return None
        if told == THANKS and not pressed.is_ephemeral:
            return None  # Slack shows the choice
        return None if told is None else texts(told)

    async def take(self, shortcut: Shortcut) -> None:
        """Handle "Research this", which makes a message the presser's question, and "Check the
        facts" about a message's statements."""
        sent, user, listener = shortcut.message, shortcut.user, self._listener
        sent = await with_files(self._calls, sent, FILE_SECONDS)
        people = await listener.people.quickly([user, *sent.people()])
        text = listener.markdown(sent, people)
        author, locale = listener.author(user, people, text, shortcut.teams)
        texts = texts_for(locale)
        message = sent.to_message(
            sent.thread(listener.me.team),
            author,
            text or about_files(sent.files, texts),
            locale,
            audience=sent.place.audience,
        )
        checks = shortcut.name == CHECK_FACTS
        name = "check" if checks else "research"
        message = replace(message, event_id=f"{sent.id}:{name}:{user}", at=datetime.now(UTC))

        async def accept() -> None:
            await self._reception.receive(
                message,
                "footnote",
                style="check" if checks else "auto",
                post_state=asked_by(shortcut),
                repeats_ours=listener.is_ours(sent),
            )

        recipient = Recipient(sent.channel, user, response_url=shortcut.response_url)
        await self._tell(accept(), recipient, texts)

    async def _tell(self, doing: Doing, recipient: Recipient, texts: Texts) -> None:
        """Run ``doing`` and send its outcome to ``recipient``, even if it takes longer than Slack
        waits."""
        told = await self._slow_work.run(doing, recipient, texts, meanwhile=None)
        if told is not None:
            self._ephemeral.say(recipient, told)
