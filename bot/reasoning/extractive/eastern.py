"""Completes Chinese, Japanese and Korean follow-ups, without a model.

The English side is ``extractive.topic``. These languages put the thing before its part
("法国的首都"), drop what is known, and mark a changed subject at the end ("那德国呢？",
"ドイツは？", "독일은요?").
"""

from __future__ import annotations

import re

from bot.text.terms import content_words, has_cjk

_PRONOUN = re.compile(
    "它们|他们|她们|它|(?<!其)他(?!国|人|乡)|她|其(?!他|实|中|它|次|余)|"
    "それら|それ|これら|これ|彼女たち|彼女|彼ら|彼(?!岸)|"
    "그것들|그것|이것|그들|그녀|그는|그가"
)
_POINTING = re.compile(
    "这个|那个|这些|那些|这种|那种|这里|那里|这儿|那儿|該|该(?=[国城市公司地人])|此(?=[国城市人地事])|上述|"
    "その(?!他)|この(?=[国街人場町])|そこ(?!そこ)|あそこ|(?:^|\\s)그 |거기|저기"
)
_ELLIPSIS = re.compile(
    "呢[？?]?$|^(?:那么|那|然后|还有)|[はも][？?]$|^(?:では|じゃあ|それでは)|"
    "(?:은요|는요|은|는)[？?]$|^(?:그럼|그러면|그리고)"
)
_ALONE = re.compile(
    "^(?:为什么|为何|怎么会|怎么办|然后呢|什么时候|在哪里|谁|真的吗|多少|なぜ|どうして|いつ|どこ|誰|本当|"
    "왜|언제|어디|누가|정말)(?:呢|吗|ですか|なの|요|인가요|예요)?[？?！!。]*$"
)
_TITLE = re.compile("《[^》]+》|『[^』]+』|「[^」]+」|[A-Za-z][\\w .-]*[A-Za-z0-9]")
_ENDING = re.compile("[？?！!。．.\\s]+$")


def topic(question: str) -> str:
    """The topic of a question: a title or Latin name, else its first words with meaning."""
    if named := _TITLE.search(question):
        return named.group()
    words = content_words(question)
    return next((word for word in words if len(word) > 1), words[0] if words else "")


def standalone(message: str, about: str, previous: str) -> str:
    """A message with what it leaves out; unchanged if it leaves nothing out.

    ``about`` is the conversation's topic, ``previous`` its last question as it stood alone.
    """
    if not previous or about in message:
        return message
    bare = message.strip()
    if _ALONE.match(bare) or _ELLIPSIS.search(bare):
        return f"{bare}（{_ENDING.sub('', previous)}）"
    if pronoun := _PRONOUN.search(message):
        owner = "的" if pronoun.group() == "其" else ""
        return message[: pronoun.start()] + about + owner + message[pronoun.end() :]
    if _POINTING.search(message) or _names_only_a_part(message):
        return f"{bare}（{about}）"
    return message


def _names_only_a_part(message: str) -> bool:
    """ "人口是多少？": one thing asked, none that it belongs to."""
    words = content_words(message)
    is_named = _TITLE.search(message) is not None
    return not is_named and len(words) < 2 and len("".join(words)) <= 4 and has_cjk(message)
