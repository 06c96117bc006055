"""Mail: who wrote what when, what is only quoted, and attachments by the readers of their kinds."""

from __future__ import annotations

from email.message import EmailMessage
from types import SimpleNamespace

import pytest

from bot.pages.extract import from_bytes
from bot.pages.passages import split

FIRST = """From: Paula Reyes <paula@example.org>
To: team@example.org
Subject: Lease
Date: Tue, 10 Mar 2026 09:12:00 +0100

The lease runs for 24 months.
"""
ANSWER = """From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>
Subject: AW: Re: Lease
Date: Wed, 11 Mar 2026 12:00:00 +0100

No, for 36 months.

On Tue, 10 Mar 2026, Paula Reyes
<paula@example.org> wrote:
> The lease runs for 24 months.
"""
OTHER = "From: Tom <t@example.org>\nSubject: Drill\nDate: never\n\nThe drill is on 4 May.\n"


def message(**headers: str) -> EmailMessage:
    made = EmailMessage()
    for name, value in {"From": "Ann <ann@x.example>", "Subject": "Plan", **headers}.items():
        made[name.replace("_", "-")] = value
    return made


def headed(text: str) -> dict[str, str]:
    """The heading of the passage that has each text."""
    return {passage.text: passage.heading for passage in split(text)}


def heading_of(data: bytes, words: str, name: str = "a.eml") -> str:
    passages = headed(from_bytes(data, None, name).text)
    return next(heading for text, heading in passages.items() if words in text)


def test_a_message_has_its_headers_and_its_text_below_author_and_time() -> None:
    reading = from_bytes(FIRST.encode(), "message/rfc822", "a.eml")

    assert reading.title == "Lease"
    assert reading.text == (
        "## Paula Reyes, 10 March 2026 09:12\n\nFrom: Paula Reyes <paula@example.org>\n"
        "To: team@example.org\nSubject: Lease\nDate: Tue, 10 Mar 2026 09:12:00 +0100\n\n"
        "The lease runs for 24 months."
    )


def test_a_mailbox_keeps_a_conversation_together() -> None:
    parts = (FIRST, OTHER, ANSWER.replace("36", "From March, 36"))
    box = "".join(f"From a@b Fri Nov 27 23:47:24 2026\n{part}\n" for part in parts)

    text = from_bytes(box.encode(), None, "a.mbox").text

    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == [
        "# Lease",
        "## Paula Reyes, 10 March 2026 09:12",
        "## Jürgen, 11 March 2026 12:00",
        "### Quoted from an earlier message",
        "# Drill",
        "## Tom, never",
    ]


@pytest.mark.parametrize(
    "below",
    [
        "> The lease runs for 24 months.",
        "On 3 May Ann wrote:\n\n> Hello.\n>\n> The lease runs for 24 months.\n",
        "-----Original Message-----\nFrom: Ann\n\nThe lease runs for 24 months.",
        "Von: Ann\nGesendet: Dienstag\nAn: Tom\n\nThe lease runs for 24 months.",
        "________________________________\nFrom: Ann\n\nThe lease runs for 24 months.",
    ],
)
def test_what_a_reply_quotes_is_not_said_by_its_author(below: str) -> None:
    mail = message()
    mail.set_content(f"No, for 36 months.\n\n{below}\n")

    assert heading_of(bytes(mail), "24 months") == "Ann › Quoted from an earlier message"
    assert heading_of(bytes(mail), "36 months") == "Ann"


def test_an_answer_between_quoted_lines_stays_beside_them() -> None:
    mail = message()
    mail.set_content("> For how long?\n36 months.\n> From when?\nFrom May.\n")
    assert (
        "> For how long?\n36 months.\n> From when?\nFrom May."
        in from_bytes(bytes(mail), None, "a.eml").text
    )


@pytest.mark.parametrize(
    "quote",
    [
        '<blockquote type="cite">For 24 months.</blockquote>',
        '<div class="gmail_quote">24 months</div>',
    ],
)
def test_html_is_read_where_there_is_no_plain_text(quote: str) -> None:
    mail = message()
    mail.set_content(f"<p>For <b>36</b> months.</p><ul><li>One</li></ul>{quote}", subtype="html")

    assert heading_of(bytes(mail), "For 36 months.") == "Ann"
    assert heading_of(bytes(mail), "24 months") == "Ann › Quoted from an earlier message"


def test_plain_text_is_preferred() -> None:
    mail = message()
    mail.set_content("Plain words.")
    mail.add_alternative("<p>Other words.</p>", subtype="html")
    text = from_bytes(bytes(mail), None, "a.eml").text
    assert "Plain words." in text
    assert "Other" not in text


def test_attachments_are_read_below_their_names() -> None:
    inner = message(Subject="Inner")
    inner.set_content("Inner words.")
    inner.add_attachment("# Terms\n\nTwo years.", subtype="markdown", filename="terms.md")
    mail = message()
    mail.set_content("See below.")
    mail.add_attachment(b"item,price\nToner,79\n", "text", "csv", filename="toner.csv")
    mail.add_attachment(b"\x89PNG\r\n\x1a\n\0\0", "image", "png", filename="logo.png")
    mail.add_attachment(inner)

    text = from_bytes(bytes(mail), None, "a.eml").text

    by_text = headed(text)
    assert by_text["| item | price |\n| --- | --- |\n| Toner | 79 |"] == "Ann › toner.csv"
    assert by_text["Two years."] == "Ann › Inner › Ann › Terms"
    assert "logo.png (not read)" in text
    assert "iVBORw0" not in text
    assert "aXRlbS" not in text


def test_messages_within_messages_end_somewhere() -> None:
    mail = message()
    mail.set_content("The innermost.")
    for number in range(20):
        outer = message(Subject=f"{number}")
        outer.set_content(f"Around {number}.")
        outer.add_attachment(mail)
        mail = outer
    text = from_bytes(bytes(mail), None, "a.eml").text
    assert "Around 19." in text
    assert "The innermost." not in text


@pytest.mark.parametrize(
    "data",
    [
        b"Subject: =?utf-8?b?!!!?=\nDate: 99 Foo\n\nwords",
        b"Subject: x\nContent-Type: text/plain; charset=nonsense\n\nwords",
        b"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n--a\n\nwords",
        b"From: \nTo: ,,;:<\nContent-Type: ;;\n\nwords",
        b"Subject: x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nd29yZHM=",
    ],
)
def test_broken_messages_keep_their_words(data: bytes) -> None:
    assert "words" in from_bytes(data, None, "a.eml").text


def test_messages_that_are_files_within_each_other_are_read_to_some_depth() -> None:
    data = b"Subject: innermost\n\nwords"
    for n in range(500):
        data = (
            b"Subject: %d\nContent-Type: multipart/mixed; boundary=b%d\n\n--b%d\n"
            b"Content-Type: application/octet-stream\n"
            b"Content-Disposition: attachment; filename=a.eml\n\n%b\n--b%d--\n"
        ) % (n, n, n, data, n)
    text = from_bytes(data, None, "a.eml").text
    assert "Subject: 496" in text
    assert "a.eml (not read)" in text


def test_a_message_of_outlook(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for what oxmsg reads: no library writes such files."""
    import oxmsg

    from bot.pages.formats import mail

    file = SimpleNamespace(file_bytes=b"a,b\n1,2\n", mime_type=None, file_name="x.csv")
    found = SimpleNamespace(
        sender='"Ann" <ann@x.example>',
        recipients=[SimpleNamespace(name="Tom", email_address="t@x.example")],
        subject="Plan\r\n",
        sent_date=None,
        body="",
        html_body="<p>Hello.</p>",
        attachments=[file],
    )
    monkeypatch.setattr(oxmsg.Message, "load", lambda data: found)

    reading = mail.read_outlook(b"", "a.msg", from_bytes, 0)

    assert reading.title == "Plan"
    assert "To: Tom <t@x.example>" in reading.text
    assert "Hello." in reading.text
    assert "### x.csv\n\n| a | b |" in reading.text
