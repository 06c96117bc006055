"""Converts mail to page text: messages (.eml), mailboxes (.mbox) and Outlook's messages (.msg).

A message is a section headed by its author and time; those of a mailbox are grouped by subject.
What a reply quotes is below a heading that says so: an earlier message may say the opposite. An
attachment is read by the reader of its kind, below its own name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage, MIMEPart
from email.policy import default
from email.utils import parseaddr, parsedate_to_datetime
from io import BytesIO
from typing import Protocol

from bot.core.errors import Broken, PageUnreadable
from bot.core.texts import said
from bot.pages import charset
from bot.pages.markup import read_html
from bot.pages.page import Reading
from bot.pages.page_markdown import Blocks, one_line, without_marks
from bot.pages.plain import set_plain


class Read(Protocol):
    """Reads an attachment; ``depth`` counts the messages around it."""

    def __call__(self, data: bytes, media_type: str, name: str, *, depth: int) -> Reading: ...


DEEPEST = 4  # parts within each other
_SHOWN = ("From", "To", "Cc", "Subject", "Date")
_EARLIER = "Quoted from an earlier message"

_BEGINS = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]{1,500}\n(?=[A-Za-z-]{1,80}:)")
_HEAD = re.compile(rb"\r?\n\r?\n")
_ESCAPED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
_ANSWER = re.compile(
    r"\s*(?:re|fwd?|aw|wg|antw|sv|vs|tr|rv|回复|答复|转发|回覆|轉寄) ?(?:\[\d{1,3}\])? ?[:：]",
    re.IGNORECASE,
)
_QUOTES = re.compile(
    r"<(?=blockquote[^<>]{1,200}cite|div[^<>]{1,200}(?:gmail_quote|divRplyFwdMsg))", re.IGNORECASE
)
_RULE = "----- Quoted -----"
_QUOTED = re.compile(  # rules of Outlook and others, and headers below each other
    r"^(?:-{3,10}[^\n-]{3,60}-{3,10}|_{20,100})[ \t]*$"
    r"|^\W{0,3}(?:From|Von|De|Da|Van|发件人)\W{0,3}[:：][^\n]{1,300}\n(?:[^\n]{1,300}\n)?\W{0,3}"
    r"(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Inviato|Verzonden|To|An|发送时间)\W{0,3}[:：]",
    re.MULTILINE,
)


def read_mail(data: bytes, read: Read, depth: int) -> Reading:
    """Read a message or a mailbox; ``depth`` counts the messages around it."""
    begins = [*_BEGINS.finditer(data)]
    if not begins:
        return _reading([_parsed(data)], read, depth)
    ends = [match.start() for match in begins[1:]] + [len(data)]
    heads: list[EmailMessage] = []
    pieces: dict[int, tuple[int, int]] = {}
    for begin, end in zip((one.end() for one in begins), ends, strict=True):
        heads.append(_parsed(_HEAD.split(data[begin:end], 1)[0]))
        pieces[id(heads[-1])] = begin, end

    def whole(head: EmailMessage) -> EmailMessage:
        """Parse a message when it is written: all together may need too much memory."""
        begin, end = pieces[id(head)]
        return _parsed(_ESCAPED.sub(b"", data[begin:end]))

    return _reading(heads, read, depth, whole)


def read_outlook(data: bytes, name: str, read: Read, depth: int) -> Reading:
    """Read a message of Outlook (MS-OXMSG). Raises ``PageUnreadable`` for one that is damaged."""
    import oxmsg

    message = EmailMessage()
    try:
        found = oxmsg.Message.load(BytesIO(data))
        to = [f"{each.name} <{each.email_address}>" for each in found.recipients]
        date = f"{found.sent_date:%a, %d %b %Y %H:%M:%S %z}" if found.sent_date else ""
        told = (found.sender, ", ".join(to), "", found.subject, date)
        for header, value in zip(_SHOWN, told, strict=True):
            message[header] = one_line(value or "")
        message.set_content(found.body or "")
        if found.html_body and not (found.body or "").strip():
            message.set_content(found.html_body, subtype="html")
        for file in found.attachments:
            kind = (file.mime_type or "").split("/")
            main, sub = kind if len(kind) == 2 else ("application", "octet-stream")
            content = file.file_bytes or b""
            message.add_attachment(content, main, sub, filename=file.file_name or sub)
    except MemoryError:
        raise
    except Exception as error:  # oxmsg checks little of what it reads
        raise PageUnreadable(said("unread-outlook", name=name), detail=repr(error)) from error
    return _reading([message], read, depth)


def _parsed(data: bytes) -> EmailMessage:
    return message_from_bytes(data, _class=EmailMessage, policy=default)


def _reading(
    mails: list[EmailMessage],
    read: Read,
    depth: int,
    whole: Callable[[EmailMessage], EmailMessage] = lambda mail: mail,
) -> Reading:
    blocks = Blocks()
    topics: dict[str, list[EmailMessage]] = {}
    for mail in mails:
        topics.setdefault(_topic(mail).casefold(), []).append(mail)
    for of_topic in topics.values():
        if len(mails) > 1:
            blocks.heading(1, _topic(of_topic[0]) or "No subject")
        for mail in sorted(of_topic, key=_time):
            if blocks.full:
                blocks.heading(1, "The rest of this mailbox was not read")
                return Reading("", blocks.text())
            _write(blocks, whole(mail), read, depth)
    days = [at.date().isoformat() for at in map(_time, mails) if at.year < datetime.max.year]
    authors = dict.fromkeys(_header(mail, "From") for mail in mails)
    return Reading(
        _header(mails[0], "Subject") if len(mails) == 1 else "",
        blocks.text(),
        dated=max(days, default=""),
        author=", ".join(authors),
    )


def _write(blocks: Blocks, mail: EmailMessage, read: Read, depth: int) -> None:
    name, address = parseaddr(_header(mail, "From"))
    at = _time(mail)
    time = f"{at.day} {at:%B %Y %H:%M}" if at.year < datetime.max.year else _header(mail, "Date")
    blocks.heading(2, ", ".join(filter(None, (name or address, time))))
    told = ((header, _header(mail, header)) for header in _SHOWN)
    blocks.paragraph("\n".join(f"{header}: {said}" for header, said in told if said))
    body = mail.get_body(("plain", "html"))
    own, earlier = ("", "") if body is None else _said(body)
    blocks.page_text(own, below=2)
    if earlier.strip():
        blocks.heading(3, _EARLIER)
        blocks.page_text(earlier, below=3)
    for part in mail.iter_attachments():
        inner = part.get_payload(0) if part.get_content_maintype() == "message" else part
        subject = _header(inner, "Subject") if isinstance(inner, EmailMessage) else ""
        name = one_line(without_marks(part.get_filename() or subject or part.get_content_type()))
        text = ""
        if isinstance(inner, EmailMessage) and (inner is not part or part.is_multipart()):
            if depth < DEEPEST and not blocks.full:
                text = _reading([inner], read, depth + 1).text
        elif depth <= DEEPEST and not blocks.full:
            with suppress(Broken):
                found = read(_bytes_of(part), part.get_content_type(), name, depth=depth + 1)
                text = found.text
        blocks.heading(3, name if text else f"{name} (not read)")
        blocks.page_text(text, below=3)


def _bytes_of(part: MIMEPart) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _said(body: MIMEPart) -> tuple[str, str]:
    """The page text of a body, and of the earlier messages below it."""
    text = charset.decode(_bytes_of(body), body.get_content_charset()).replace("\r\n", "\n")
    text = without_marks(text)
    set_text: Callable[[str], str] = set_plain
    if body.get_content_type() == "text/html":
        set_text = str
        try:
            text = read_html(_QUOTES.sub(f"<p>{_RULE}</p><", text), "the message").text
        except PageUnreadable:
            text = ""
    rule = _QUOTED.search(text)
    lines = text[: rule.start() if rule else None].rstrip().split("\n")
    end = len(lines)
    while end and (lines[end - 1].lstrip().startswith(">") or not lines[end - 1].strip()):
        end -= 1
    own = "\n".join(lines[:end]).rstrip()
    above, _, introduction = own.rpartition("\n\n")
    if end < len(lines) and own.endswith(":") and introduction.count("\n") < 2:
        own, lines[end:end] = above, introduction.split("\n")  # "On 3 May Ann wrote:"
    earlier = "\n".join(line.lstrip("> ") for line in lines[end:])
    earlier += f"\n\n{text[rule.start() :].removeprefix(_RULE)}" if rule else ""
    return set_text(own), set_text(earlier)


def _topic(mail: EmailMessage) -> str:
    """The subject without marks of answers."""
    subject = _header(mail, "Subject")
    while answer := _ANSWER.match(subject):
        subject = subject[answer.end() :]
    return subject.strip()


def _header(mail: EmailMessage, name: str) -> str:
    try:
        return one_line(without_marks(str(mail[name] or "")))
    except (LookupError, ValueError, TypeError, AttributeError):  # one that the parser trips over
        return ""


def _time(mail: EmailMessage) -> datetime:
    """When a message was written; the year 9999 if it does not say."""
    try:
        at = parsedate_to_datetime(_header(mail, "Date"))
    except (TypeError, ValueError):
        return datetime.max.replace(tzinfo=UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
