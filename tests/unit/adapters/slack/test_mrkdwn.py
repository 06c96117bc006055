"""Slack's text becomes Markdown, and its mentions are found."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.slack.mrkdwn import calls_group, mentions_in, unescape, without_mention
from bot.pages.urls import links_in
from tests.fakes.slack_screen import as_sent

Json = dict[str, Any]
NAMES = {"U1": "Ada", "W2": "Grace Hopper"}


@pytest.mark.parametrize(
    ("sent", "plain"),
    [
        ("", ""),
        ("plain words", "plain words"),
        ("a &amp; b &lt; c &gt; d", "a & b < c > d"),
        ("&amp;lt; stays escaped once", "&lt; stays escaped once"),
        ("<@U1> and <@W2> and <@U9>", "@Ada and @Grace Hopper and @U9"),
        ("<@U9|eve>", "@eve"),
        ("<#C1|general> <#C2> <#C3|>", "#general #C2 #C3"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!here|here>", "@here"),
        ("<!subteam^S1|@writers> <!subteam^S2>", "@writers @S2"),
        ("<!date^1392734382^{date}|18 February 2014>", "18 February 2014"),
        ("<https://example.org/a>", "https://example.org/a"),
        ("<https://example.org/?a=1&amp;b=2>", "https://example.org/?a=1&b=2"),
        ("<https://example.org|the page>", "[the page](https://example.org)"),
        ("<https://example.org|example.org>", "https://example.org"),
        ("<https://example.org|https://example.org>", "https://example.org"),
        ("<https://example.org|a [b] c>", r"[a \[b\] c](https://example.org)"),
        ("<https://example.org/x_(y)|x>", "[x](https://example.org/x_%28y%29)"),
        ("<https://example.org/x_(y)>", "https://example.org/x_(y)"),
        ("<mailto:ada@example.org|ada@example.org>", "ada@example.org"),
        ("<mailto:ada@example.org|write to Ada>", "[write to Ada](mailto:ada@example.org)"),
        ("<tel:+4930123|+4930123>", "+4930123"),
        ("*bold* _slanted_ ~gone~", "**bold** _slanted_ ~~gone~~"),
        ("*two words*, (*in brackets*)", "**two words**, (**in brackets**)"),
        ("*see <https://example.org/a_b*c|this>*", "**see [this](https://example.org/a_b*c)**"),
        ("2*3*4 and 5 * 6 * 7", "2*3*4 and 5 * 6 * 7"),
        ("a ~ b ~ c, ~/home and ~/tmp", "a ~ b ~ c, ~/home and ~/tmp"),
        ("*not\nover lines*", "*not\nover lines*"),
        ("**already**", "**already**"),
        ("`*a* &lt;b&gt; <https://example.org>`", "`*a* <b> https://example.org`"),
        ("```*a*\n~b~ &amp; <https://x.org|x>```", "```*a*\n~b~ & x```"),
        ("&gt; a quote\nmine", "> a quote\nmine"),
        ("• one\n    ◦ two", "- one\n    - two"),
        ("什么是*光合作用*？", "什么是*光合作用*？"),  # nor does Slack read marks inside words
        ("请看 *这里* ！", "请看 **这里** ！"),
        (":wave: hi", ":wave: hi"),
        ("<not markup>", "<not markup>"),
        ("1 < 2", "1 < 2"),
        ("\x000\x00", "0"),
    ],
)
def test_slacks_text_becomes_markdown(sent: str, plain: str) -> None:
    assert unescape(sent, NAMES) == plain


@given(st.text(alphabet=st.characters(blacklist_characters="*~•◦▪\x00", codec="utf-8")))
@example("&lt;&amp;amp;")
@example("<@U1>")
def test_what_is_typed_as_text_arrives_unchanged(typed: str) -> None:
    sent = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert unescape(sent, NAMES) == typed


@given(st.text(alphabet=string.printable + "<>&|*~`_@#!中文\x00", max_size=200))
def test_no_text_whatever_breaks_it(sent: str) -> None:
    assert "\x00" not in unescape(sent, NAMES)


@given(
    st.lists(
        st.sampled_from(
            ["https://example.org/a_b*c~d", "https://en.wikipedia.org/wiki/X_(y)", "see", "*", "~"]
        ),
        max_size=8,
    )
)
def test_every_link_that_was_typed_is_found(words: list[str]) -> None:
    typed = " ".join(words)
    links = [word for word in dict.fromkeys(words) if "/" in word]
    assert links_in(unescape(as_sent(typed), {})) == links


@given(st.text(alphabet="`*~<>@U1|ab \n", max_size=60))
def test_marks_inside_code_stay_what_they_are(inside: str) -> None:
    code = inside.replace("`", "").replace("<", "").replace(">", "")
    assert unescape(f"```{code}```", NAMES) == f"```{code}```"


@pytest.mark.parametrize(
    ("sent", "ids"),
    [
        ("", []),
        ("<@U1> <@W2|grace> <@U1>", ["U1", "W2"]),
        ("&lt;@U1&gt; <#C1> <!here>", []),
    ],
)
def test_mentions_are_found_once_each(sent: str, ids: list[str]) -> None:
    assert mentions_in(sent) == ids


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        ("<@UBOT> who?", "who?"),
        ("<@UBOT>: who?", "who?"),
        ("<@UBOT>, who?", "who?"),
        ("<@UBOT>，谁？", "谁？"),
        ("<@UBOT|footnote> who?", "who?"),
        ("hey <@UBOT> who?", "hey who?"),
        ("who? <@UBOT>", "who?"),
        ("<@UBOT> <@UBOT>", ""),
        ("<@UBOT>", ""),
        ("<@UBOTTLE> who?", "<@UBOTTLE> who?"),
        ("<@U1> ask <@UBOT>", "<@U1> ask"),
        ("one\n<@UBOT>\ntwo", "one\n\ntwo"),
    ],
)
def test_the_bots_own_mention_is_left_out(sent: str, left: str) -> None:
    assert without_mention(sent, "UBOT") == left


@pytest.mark.parametrize(
    ("sent", "calls"),
    [
        ("<!here> look", True),
        ("look <!subteam^S1|@ops>", True),
        ("on <!date^1764144000^{date}|26 November>", False),
        ("&lt;!here&gt;", False),
    ],
)
def test_it_is_seen_that_a_group_is_called(sent: str, calls: bool) -> None:
    assert calls_group(sent) is calls
