"""Foreign text pings nobody and links to nothing but sources."""

from __future__ import annotations

import re
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rendering.safety import (
    WORD_JOINER,
    addresses,
    defuse,
    link_targets,
    without_autolinks,
    without_pings,
)

READ = "https://example.org/tower"
ALLOWED = addresses([READ])
# What Slack and Discord act on, as their documentation writes it.
LIVE = re.compile(
    r"<![a-z][^>]*>|<[@#][!&]?\w[^>]*>|</[^>]*:\d+>|<a?:\w+:\d+>|<t:-?\d+(?::\w)?>|<id:\w+>"
    r"|@(?:everyone|here|channel)\b"
)
BARE = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?![\w-])")


# ---------------------------------------------------------------- pings


@pytest.mark.parametrize(
    "live",
    [
        "<!channel>", "<!here>", "<!everyone>", "<!here|here>", "<!subteam^S012>",
        "<!subteam^S012|@team>", "<!date^1392734382^{date}^https://evil.example|x>",
        "<@U012AB3CD>", "<@U012AB3CD|ada>", "<@W012>", "<@123456789>", "<@!123>", "<@&456>",
        "<#C024BE7LR>", "<#C024BE7LR|general>", "<#123>", "</ask:12>", "</ask now:12>",
        "<:wave:12>", "<a:wave:12>", "<t:1618953630>", "<t:1618953630:R>", "<id:customize>",
        "@everyone", "@here", "@channel", "@Everyone",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "around", ["{}", "a{} b", "`{}`", "```\n{}\n```", "[{}](x)", "**{}**", "。{}"]
)
def test_nothing_that_pings_is_left(live: str, around: str) -> None:
    text = around.format(live)
    safe = without_pings(text)
    assert safe != text
    assert not LIVE.search(safe)
    assert safe.replace(WORD_JOINER, "") == text


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d", "<b>bold</b>", "<https://example.org>", "ada@example.org", "@ada",
        "@hereafter", "x <- y", "<!-- comment -->", "<tag a:b>", "1 <2", "C# <T>",
    ],
)  # fmt: skip
def test_what_pings_nobody_stays_as_it_is(text: str) -> None:
    assert without_pings(text) == text


@given(st.text(alphabet="<>!@#&/:^|at1U _", max_size=40), st.sampled_from(["", "everyone", "here"]))
def test_pings_are_broken_for_good(text: str, name: str) -> None:
    safe = without_pings(text + name)
    assert not LIVE.search(safe)
    assert without_pings(safe) == safe


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"See {READ}.", f"See {READ}."),
        (f"See [the tower.info]({READ}).", f"See [the tower.info]({READ})."),
        (f"[[1]](<{READ}>)", f"[[1]](<{READ}>)"),
        ("See example.org/tower.", "See example.org/tower."),
        ("See www.example.org/tower.", "See example.org/tower."),
        ("See https://evil.example/x.", "See `https://evil.example/x`."),
        ("See evil.example/path?q=1.", "See `evil.example/path?q=1`."),
        ("See www.evil.example.", "See `www.evil.example`."),
        ("(evil.example/x)", "(`evil.example/x`)"),
        ("evil.example:8080", "`evil.example:8080`"),
        ("见evil.example/x。", "见`evil.example/x`。"),
        ("**evil.example/x**", "**`evil.example/x`**"),
        ("[the tower](https://evil.example/x)", "the tower"),
        ("Booking.com is", "Booking.\u2060com is"),
        ("见booking.com。", "见booking.\u2060com。"),
        ("Write to ada@evil.example", "Write to ada@evil.\u2060example"),
        ("bücher.example", "bücher.\u2060example"),
        ("a ` b evil.example/x", "a ` b evil.\u2060example/x"),
        ("a ` b https://evil.example/x", "a ` b https\u2060://evil.\u2060example/x"),
        ("`a`evil.example/x", "`a`evil.\u2060example/x"),
        ("`evil.example/x`", "`evil.example/x`"),
        ("```\nevil.example/x\n```", "```\nevil.example/x\n```"),
        ("It cost 3.50, e.g. on 1.2.2003.", "It cost 3.50, e.g. on 1.2.2003."),
        ("The end. Next.", "The end. Next."),
    ],
)
def test_only_sources_become_links(written: str, shown: str) -> None:
    assert without_autolinks(written, ALLOWED) == shown


@pytest.mark.parametrize("added", ["?utm_term=SECRET", "?fbclid=SECRET", "#SECRET", "/#SECRET"])
@pytest.mark.parametrize("start", ["", "www.", "https://", "HTTP://www."])
def test_a_bare_address_of_a_source_carries_nothing_that_was_added(start: str, added: str) -> None:
    shown = without_autolinks(f"See {start}example.org/tower{added} there.", ALLOWED)
    assert "SECRET" not in shown
    assert "example.org/tower" in shown


@given(
    st.lists(
        st.sampled_from(
            ["evil.example", "/x", " ", ".", "`", "www.", "example.org/tower", READ, "http://",
             "a", "见", "(", ")", "[", "]", ",", "\n", "?q=", "a.b", "-", "@", "_", ":80", "*"]
        ),
        max_size=12,
    ).map("".join)
)  # fmt: skip
def test_addresses_are_disarmed_for_good(text: str) -> None:
    # Code that touches an address may pair anew once; then it is settled.
    safe = without_autolinks(without_autolinks(text, ALLOWED), ALLOWED)
    assert without_autolinks(safe, ALLOWED) == safe


@given(
    st.lists(st.sampled_from(["evil.example", "/x", " ", "www.", "a", "见", ",", "-"]), max_size=9)
)
def test_no_bare_address_is_left_outside_code(words: list[str]) -> None:
    safe = without_autolinks("".join(words), ALLOWED)
    assert not BARE.search(re.sub(r"`[^`]*`", " ", safe))


@pytest.mark.parametrize(
    "text", ["a." * 40_000, "a-" * 40_000, "[" * 40_000, "x.com " * 10_000, "<!" * 40_000]
)
def test_it_takes_time_linear_in_the_text(text: str) -> None:
    begun = thread_time()
    without_pings(without_autolinks(text, ALLOWED))
    assert thread_time() - begun < 5  # quadratic would take minutes


# ---------------------------------------------------------------- safety links

EVIL = "https://evil.example/x"
ADDED = (  # what may stand behind an address without naming another page
    *("?utm_source=SECRET", "?utm_term=SECRET", "?fbclid=SECRET", "?gclid=SECRET&utm_id=SECRET"),
    *("?msclkid=SECRET", "?mc_eid=SECRET", "#SECRET", "#:~:text=SECRET", "?utm_term=a#SECRET"),
    *("/#SECRET", "/index.html?utm_campaign=SECRET", "/?fbclid=SECRET#SECRET"),
)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"See [the tower]({READ}).", f"See [the tower]({READ})."),
        (f"See {READ}.", f"See {READ}."),
        (f"See <{READ}>.", f"See <{READ}>."),
        ("See [the tower](https://evil.example/x).", "See the tower."),
        ("See [the tower](https://evil.example/x 'Title').", "See the tower."),
        ("See [a (b)](https://evil.example/x_(y)).", "See a (b)."),
        ("See [x](javascript:alert(1)).", "See x."),
        ("See [x](<https://evil.example/a b>).", "See x."),
        ("![pixel](https://evil.example/p.png?q=secret)", "pixel"),
        (f"![pixel]({READ})", "pixel"),
        ("[![img](https://evil.example/i)](https://evil.example)", "img"),
        ("See https://evil.example/x.", "See `https://evil.example/x`."),
        ("See <https://evil.example/x>.", "See `https://evil.example/x`."),
        ("见 https://evil.example/x。", "见 `https://evil.example/x`。"),
        ("Write to mailto:a@b.example now", "Write to `mailto:a@b.example` now"),
        ("Text.\n\n[1]: https://evil.example/x\n", "Text.\n\n\n"),
        ("A footnote [1] and (brackets).", "A footnote [1] and (brackets)."),
        ("`https://evil.example/x`", "`https://evil.example/x`"),
    ],
)
def test_only_what_was_read_is_linked(written: str, shown: str) -> None:
    assert defuse(written, ALLOWED) == shown


@pytest.mark.parametrize(
    "written",
    [
        f"$[click]({EVIL})$",
        f"$$ [x]({EVIL}) $$",
        f"\\`[x]({EVIL})\\`",
        f"`a\n\n[x]({EVIL})\n\nb`",
        f"```a`b\n[x]({EVIL})\n",
        f"[a`b]({EVIL})`",
        f"[x](\n{EVIL})",
        f"[a\nb]({EVIL})",
        f"[\\]]({EVIL})",
        f"[x]({EVIL} (title))",
        "[x](https://evil.example/((a)b)c)",
        f"[x][r]\n\n> [r]: {EVIL}",
        f"- [r]: {EVIL}\n\n[r]",
        f"[![x]({EVIL})]({EVIL})",
        f"<{EVIL}>",
    ],
)
def test_nothing_that_commonmark_makes_a_link_of_is_left(written: str) -> None:
    assert list(link_targets(written)) or "`" in written, "the case must be a link to begin with"
    assert list(link_targets(defuse(f"See {READ}.\n\n{written}", ALLOWED))) == []


@given(
    st.lists(
        st.sampled_from(
            [
                "[",
                "]",
                "(",
                ")",
                "<",
                ">",
                "`",
                "$",
                "!",
                "\\",
                "\n",
                " ",
                "x",
                "[1]",
                ":",
                "- ",
                EVIL,
                READ,
                "?utm_term=S",
                "#S",
                "```",
                "[r]: ",
                "> ",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_no_way_of_writing_leads_elsewhere(written: str) -> None:
    targets = link_targets(defuse(written, ALLOWED))
    assert all(target == READ for target in targets)


@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("host", ["example.org", "www.example.org", "m.example.org", "EXAMPLE.org"])
@pytest.mark.parametrize(
    "form", ["[x](%s)", "[x](<%s>)", "[x](%s 'title')", "<%s>", "%s", "> - %s.", "[a[b]](%s)"]
)
def test_a_link_to_a_source_carries_nothing_that_was_added(
    form: str, host: str, added: str
) -> None:
    for scheme in ("http", "https"):
        shown = defuse(form % f"{scheme}://{host}/tower{added}", ALLOWED)
        assert "SECRET" not in shown
        assert READ in shown


def test_a_source_keeps_the_parameters_that_it_has() -> None:
    here = "https://example.org/w/(a?id=7&lang=en"
    assert defuse(f"[x](<{here}&utm_term=S>)", addresses([here])) == f"[x](<{here}>)"


def test_a_stray_backtick_does_not_lay_an_address_bare() -> None:
    shown = defuse(f"a ` b {EVIL} c", ALLOWED)
    assert EVIL not in shown
    assert "evil.example/x" in shown
