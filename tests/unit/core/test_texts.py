"""Footnote's own words: the catalogs, every id that the code asks for, and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fluent.runtime import FluentBundle, FluentResource
from fluent.syntax import FluentParser
from fluent.syntax import ast as ftl

from bot.core.errors import (
    Denied,
    FootnoteError,
    Invalid,
    InvalidQuestion,
    PlatformUnavailable,
    StorageUnavailable,
    invalid,
    sentence_for,
)
from bot.core.texts import (
    CATALOGS,
    DEFAULT,
    LANGUAGES,
    LOCALES,
    Sentence,
    Texts,
    UnknownText,
    _Catalog,
    _catalog,
    decoded,
    encoded,
    language_names,
    negotiated,
    said,
    texts_for,
)

ROOT = Path(__file__).parents[3]
CHINESE = ("zh-Hans", "zh-Hant")
TRANSLATED = tuple(locale for locale in LOCALES if locale != DEFAULT)
NAMES = r"Footnote|Slack|Discord|PNG|JPEG|WebP|GIF|Python|CSV|CSL|JSON|HTML|BibTeX|PDF|Markdown|Word|PowerPoint|Excel|OpenDocument|EPUB|Enter|/ask|daily|weekly|cron|UTC|pause|resume|stop|https?://\S+"
# What other programs call their buttons and keys, and names of settings.
NAMES += (
    r"|`[^`]+`|“[A-Za-z& -]+”|「[A-Za-z& -]+」|Claude|Anthropic|API|Bot User OAuth Token|xoxb"
    r"|xapp|sk-ant|connections:write|/invite|manifest|\.env|Cookie"
    r"|(?<![A-Z])[A-Z]+(?:_[A-Z]+)+(?:=[a-z]+(?::NAME)?)?"
    r"|Authorization: Bearer|HTTP|--docs|[kMG]B|Chromium|SQLite|PostgreSQL|OpenAI"
    r"|OpenTelemetry|Outlook|\.(?:docx?|xlsb?|pptx?|txt|eml)\b|gzip|OCR|Jupyter|pandoc|XML|Pages"
    r"|Numbers|Keynote|Office|ZIP|pip install '[^']+'"
    r"|RTF|LaTeX|DocBook|MediaWiki|Textile|Model Context Protocol|\[\[collections\]\]"
    r"|footnote\.toml|/slack/events|adapters/slack/manifest\.yaml"
    r"|\[\[mcp\]\]|headers|oauth|JavaScript|Brave|SearXNG|json|settings\.yml|search\.formats|root"
    r"|=off|TOML|OpenID"
)
SPENT: dict[str, Any] = {"seconds": 12.34, "searches": 2, "pages": 3}

LITERAL = re.compile(r"[\"']([a-z]+(?:-[a-z]+)*)[\"']")
# An id is said, or named by an error that is to be told.
SAID = re.compile(
    r"(?:(?:\btexts(?:_of\(request\))?|\bsaid|\binvalid)\(\s*|\btext_id=)[\"']([a-z-]+)[\"']"
)


@cache
def catalog(locale: str) -> dict[str, ftl.Message]:
    resource = FluentParser().parse((CATALOGS / f"{locale}.ftl").read_text(encoding="utf-8"))
    broken = [entry.content for entry in resource.body if isinstance(entry, ftl.Junk)]
    assert not broken, f"{locale}: {broken}"
    messages = [entry for entry in resource.body if isinstance(entry, ftl.Message)]
    assert len({message.id.name for message in messages}) == len(messages), "an id stands twice"
    return {message.id.name: message for message in messages}


def nodes(node: object) -> Iterator[ftl.BaseNode]:
    if isinstance(node, ftl.BaseNode):
        yield node
        for child in vars(node).values():
            yield from nodes(child)
    elif isinstance(node, list):
        for child in node:
            yield from nodes(child)


def variables(message: ftl.Message) -> set[str]:
    return {node.id.name for node in nodes(message) if isinstance(node, ftl.VariableReference)}


def words(message: ftl.Message) -> str:
    """The words of a message itself, without what is put into it."""
    return "".join(node.value for node in nodes(message) if isinstance(node, ftl.TextElement))


def spoken() -> tuple[dict[str, str], set[str]]:
    """The ids that code asks for, each with one place, and the beginnings of composed ids."""
    ids: dict[str, str] = {}
    beginnings: set[str] = set()
    for folder in ("bot", "adapters"):
        for module in sorted((ROOT / folder).rglob("*.py")):
            code = module.read_text(encoding="utf-8")
            for id in SAID.findall(code.replace("``", "")):
                if f'``texts("{id}"' not in code:  # an example in a docstring
                    ids.setdefault(id, module.name)
            begun = r"(?:texts|said|_spent|_spent_up)\(\s*f[\"']([a-z-]+)\{"
            beginnings.update(re.findall(begun, code))
    for template in sorted((ROOT / "adapters").rglob("*.html")):
        page = template.read_text(encoding="utf-8")
        for id in re.findall(r"\bt\('([a-z-]*[a-z])'[,)]", page):
            ids.setdefault(id, template.name)
        beginnings.update(re.findall(r"\bt\('([a-z-]+-)' ~", page))
    return ids, beginnings


def literals() -> set[str]:
    """The strings in code that may be ids."""
    modules = (path for folder in ("bot", "adapters") for path in (ROOT / folder).rglob("*.py"))
    texts = (module.read_text(encoding="utf-8") for module in modules)
    return {found[1] for text in texts for found in LITERAL.finditer(text)}


# ---------------------------------------------------------------- which language


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("en", "en"),
        ("en-GB", "en"),
        ("en_US", "en"),
        ("zh-CN", "zh-Hans"),
        ("zh-Hans", "zh-Hans"),
        ("zh", "zh-Hans"),
        ("zh-SG", "zh-Hans"),
        ("zh-Hans-HK", "zh-Hans"),
        ("zh_CN.UTF-8", "zh-Hans"),
        ("zh-TW", "zh-Hant"),
        ("zh_TW", "zh-Hant"),
        ("zh-HK", "zh-Hant"),
        ("zh-MO", "zh-Hant"),
        ("ZH-HANT", "zh-Hant"),
        ("zh-Hant-HK", "zh-Hant"),
        ("de-DE", "de"),
        ("de-AT", "de"),
        ("fr_CA", "fr"),
        ("es-MX", "es"),
        ("es-419", "es"),
        ("es-ES", "es"),
        ("ja-JP", "ja"),
        ("pt-BR", "en"),
        ("deu", "en"),
        ("zha", "en"),
        ("", "en"),
        ("?!", "en"),
    ],
)
def test_a_locale_is_served_by_the_nearest_catalog(asked: str, given: str) -> None:
    assert negotiated(asked) == given
    assert texts_for(asked).locale == given


def test_the_texts_of_a_locale_are_made_once() -> None:
    assert texts_for("en-GB") is texts_for("pt")


# ---------------------------------------------------------------- saying something


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (0, "Queued. Yours is next."),
        (1, "Queued. One question is ahead of yours."),
        (2, "Queued. 2 questions are ahead of yours."),
        (1200, "Queued. 1,200 questions are ahead of yours."),
    ],
)
def test_numbers_are_said_as_people_say_them(ahead: int, said: str) -> None:
    assert texts_for("en")("queued", ahead=ahead) == said


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("limit", "said"), [(2, "2.00"), (0.5, "0.50"), (0.001, "0.001"), (0.000025, "0.000025")]
)
def test_no_budget_is_said_to_be_of_nothing(locale: str, limit: float, said: str) -> None:
    assert f"{said} " in texts_for(locale)("budget-usd", limit=limit).replace(",", ".")


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("cost", [0, 0.0])
def test_what_cost_nothing_is_no_part_of_the_summary(locale: str, cost: float) -> None:
    said = texts_for(locale)("spent", cost=cost, **SPENT)
    assert not re.search(r"\$|USD|美元|ドル", said)
    assert "  " not in said
    assert "· ·" not in said


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("en", "12.3 s · 2 searches · 3 pages read · $0.012 · run ab12"),
        ("de", "12,3 s · 2 Suchen · 3 Seiten gelesen · 0,012 USD · Lauf ab12"),
        ("fr", "12,3 s · 2 recherches · 3 pages lues · 0,012 USD · exécution ab12"),
        ("es", "12,3 s · 2 búsquedas · 3 páginas leídas · 0,012 USD · ejecución ab12"),
        ("ja", "12.3 秒 · 検索 2 回 · 3 ページ閲覧 · 0.012 米ドル · 実行 ab12"),
        ("zh-Hans", "12.3 秒 · 搜索 2 次 · 阅读 3 页 · 0.012 美元 · 编号 ab12"),
        ("zh-Hant", "12.3 秒 · 搜尋 2 次 · 閱讀 3 頁 · 0.012 美元 · 編號 ab12"),
    ],
)
def test_the_summary_is_one_line(locale: str, said: str) -> None:
    texts = texts_for(locale)
    assert texts("summary", spent=texts("spent", cost=0.012, **SPENT), run="ab12") == said


def test_values_go_in_as_they_are() -> None:
    title = "{ $x } <@U1> “日本”"
    assert texts_for("en")("step-read", title=title) == f"Reading: {title}"


@pytest.mark.parametrize("locale", LOCALES)
def test_an_unknown_id_is_a_slip_in_our_code(locale: str) -> None:
    with pytest.raises(UnknownText, match="no-such-text"):
        texts_for(locale)("no-such-text")


@pytest.mark.parametrize("locale", LOCALES)
def test_a_missing_value_is_a_slip_in_our_code(locale: str) -> None:
    with pytest.raises(UnknownText, match="ahead"):
        texts_for(locale)("queued")


@pytest.mark.parametrize("length", [1, 999, 1_000, 1_001, 20_000])
@pytest.mark.parametrize("locale", LOCALES)
def test_values_of_any_length_go_in_whole(locale: str, length: int) -> None:
    assert "x" * length in texts_for(locale)("command-accepted", question="x" * length)


# ---------------------------------------------------------------- the catalogs


@pytest.mark.parametrize("locale", CHINESE)
def test_chinese_is_whole(locale: str) -> None:
    assert catalog(locale).keys() == catalog("en").keys()


def test_there_is_a_catalog_for_each_language_and_no_other() -> None:
    assert {path.stem for path in CATALOGS.glob("*.ftl")} == set(LANGUAGES)


@pytest.mark.parametrize("locale", TRANSLATED)
def test_a_translation_has_the_messages_of_english_in_its_order(locale: str) -> None:
    theirs = catalog(locale)
    assert list(theirs) == [id for id in catalog("en") if id in theirs]


# One test a catalog, which names what is wrong in it: to start a test for each of a thousand texts
# takes a hundred times as long as to look at the text.


@pytest.mark.parametrize("locale", TRANSLATED)
def test_a_text_takes_the_same_values_in_all_catalogs(locale: str) -> None:
    theirs, english = catalog(locale), catalog("en")
    assert {id: variables(text) for id, text in theirs.items()} == {
        id: variables(english[id]) for id in theirs
    }


@pytest.fixture
def small_catalogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Catalogs of two messages, of which German lacks one."""
    for locale in LOCALES:
        text = "stopped = X-{ $name }\nweb-language-partly = { $name } (partly)\n"
        text = text.partition("\n")[2] if locale == "de" else text
        (tmp_path / f"{locale}.ftl").write_text(text, encoding="utf-8")
    monkeypatch.setattr("bot.core.texts.CATALOGS", tmp_path)
    cached = (_catalog, language_names)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


@pytest.mark.usefixtures("small_catalogs")
def test_a_message_that_a_catalog_lacks_is_in_english() -> None:
    assert Texts("de")("stopped", name="a") == "X-a"
    assert not Texts("de").has("stopped")


@pytest.mark.usefixtures("small_catalogs")
def test_the_list_of_languages_marks_those_that_lack_messages() -> None:
    names = language_names()
    assert {locale for locale in names if names[locale] != LANGUAGES[locale]} == {"de"}
    assert names["de"] == "Deutsch (partly)"


@pytest.mark.parametrize("value", [0, 1, 2])
@pytest.mark.parametrize("locale", LOCALES)
def test_every_text_can_be_said(locale: str, value: int) -> None:
    texts = texts_for(locale)
    said = {
        id: texts(id, **dict.fromkeys(variables(text), value)) for id, text in catalog("en").items()
    }
    assert [id for id, text in said.items() if not text.strip()] == []
    strange = re.compile(r"[{}\u2068\u2069]|\?\?\?|\n")
    assert {id: text for id, text in said.items() if strange.search(text)} == {}


@pytest.mark.parametrize("locale", CHINESE)
def test_chinese_holds_no_english_but_names(locale: str) -> None:
    said = {id: re.sub(NAMES, "", words(catalog(locale)[id])) for id in catalog("en")}
    assert {id: text for id, text in said.items() if re.search("[A-Za-z]{2,}", text)} == {}


@pytest.mark.parametrize(
    ("locale", "charset"),
    [("zh-Hans", "gb2312"), ("zh-Hant", "big5")],  # each has the characters of one script only
)
def test_chinese_is_written_in_one_script(locale: str, charset: str) -> None:
    others = {
        id: [
            character
            for character in re.findall("[\u4e00-\u9fff]", words(catalog(locale)[id]))
            if not character.encode(charset, "ignore")
        ]
        for id in catalog("en")
    }
    assert {id: characters for id, characters in others.items() if characters} == {}


@pytest.mark.parametrize(
    ("ids", "most"),
    [
        (r"shortcut-name", 24),  # Slack: name of a shortcut; Discord allows 32
        (r".*-description|depth-.*|ask-.*", 100),  # Discord: descriptions and choices
        (r".*-button|dig-deeper|feedback-(good|bad)", 75),  # Slack: text of a button
        (r"prompt-[a-z]+", 75),  # Slack: title of a suggested prompt
        (r"home-title", 150),  # Slack: header block
        (r"(ask|stop|forget|watch)-name", 32),  # Discord: names of commands
    ],
)
@pytest.mark.parametrize("locale", LOCALES)
def test_texts_fit_where_platforms_show_them(locale: str, ids: str, most: int) -> None:
    chosen = [id for id in catalog("en") if re.fullmatch(ids, id)]
    assert chosen
    assert not [id for id in chosen if len(texts_for(locale)(id)) > most]


@pytest.mark.parametrize("locale", LOCALES)
def test_names_of_commands_are_words_in_small_letters(locale: str) -> None:
    names = [texts_for(locale)(f"{id}-name") for id in ("ask", "stop", "forget", "watch")]
    assert [
        name for name in names if not re.fullmatch(r"[-\w]+", name) or name.lower() != name
    ] == []


# ---------------------------------------------------------------- code and catalogs


def test_every_text_the_code_asks_for_is_there() -> None:
    ids, beginnings = spoken()
    assert {id: place for id, place in ids.items() if id not in catalog("en")} == {}
    assert [b for b in beginnings if not any(id.startswith(b) for id in catalog("en"))] == []


def test_no_text_is_left_that_nobody_says() -> None:
    ids, beginnings = spoken()
    said = {*ids, *literals()}  # an id may be handed on before it is said
    unsaid = {id for id in catalog("en") if id not in said and not id.startswith(tuple(beginnings))}
    assert unsaid == set()


@pytest.mark.parametrize("locale", LOCALES)
def test_a_text_that_is_parsed_by_itself_is_as_in_the_whole_catalog(locale: str) -> None:
    entries = _Catalog(locale)._unparsed
    for id, message in catalog(locale).items():
        (alone,) = FluentParser().parse(entries[id]).body[:1]
        assert isinstance(alone, ftl.Message)
        assert message.equals(alone, ignored_fields=["span", "comment"]), id


@cache
def bundle_of(locale: str) -> FluentBundle:
    """The whole catalog, parsed by Fluent."""
    bundle = FluentBundle([locale], use_isolating=False)
    bundle.add_resource(FluentResource((CATALOGS / f"{locale}.ftl").read_text(encoding="utf-8")))
    return bundle


@pytest.mark.parametrize("value", [0, 7, 999, 1_000, 1.5, "a page", "12"])
@pytest.mark.parametrize("locale", LOCALES)
def test_a_plain_text_is_what_fluent_makes_of_it(locale: str, value: str | int | float) -> None:
    bundle, ours, plain = bundle_of(locale), _Catalog(locale), 0
    for id in catalog(locale):
        values = dict.fromkeys(variables(catalog(locale)[id]), value)
        said = ours.plain(id, values)
        pattern = bundle.get_message(id).value
        assert pattern is not None
        if said is not None:
            assert bundle.format_pattern(pattern, values) == (said, []), id
            plain += 1
    assert plain or len(catalog(locale)) < len(catalog("en"))


def test_a_text_without_its_value_is_not_plain() -> None:
    assert _Catalog("en").plain("judged-share", {"covered": 50}) is None


def test_an_error_of_the_catalogs_is_english_for_whoever_knows_no_locale() -> None:
    error = invalid("rules-invalid", key="depth", value="profound", allowed="quick, deep")
    assert error.sentence == "“profound” does not work for depth. Possible: quick, deep"
    assert str(error) == error.sentence


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("error", "id", "values"),
    [
        (invalid("suggestion-gone"), "suggestion-gone", {}),
        (
            invalid("rules-unknown", key="tones", known="tone"),
            "rules-unknown",
            {"key": "tones", "known": "tone"},
        ),
        (Denied(said("denied-user")), "denied-user", {}),
        (InvalidQuestion("Empty.", said=said("no-question")), "no-question", {}),
        (StorageUnavailable("Locked."), "try-again", {}),
    ],
)
def test_people_are_told_in_their_language(
    locale: str, error: FootnoteError, id: str, values: dict[str, str]
) -> None:
    texts = texts_for(locale)
    assert sentence_for(error, texts) == texts(id, **values)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("error", [Invalid("Ask so."), PlatformUnavailable("Away: ask later.")])
def test_what_no_catalog_has_is_told_as_it_is(locale: str, error: FootnoteError) -> None:
    assert sentence_for(error, texts_for(locale)) == error.sentence


@pytest.mark.parametrize(
    "sentence",
    ["plain words", "", "{", said("unread-no-text"), said("unread-cannot", why=said("what-xml"))],
)
def test_a_sentence_is_restored_as_it_was(sentence: Sentence) -> None:
    assert decoded(encoded(sentence)) == sentence


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "no-such-message", "values": {}}',
        '{"id": "unread-cannot", "values": {}}',
        '{"id": "unread-cannot", "values": "why"}',
        '{"id": ["unread-cannot"], "values": {"why": ""}}',
        '{"id": "unread-cannot", "values": {"why": null}}',
        *('{"id": 7}', "[7]", "7", "[" * 100_000),
    ],
)
def test_what_is_no_message_is_told_as_it_is(text: str) -> None:
    """A process that a document has taken over may send anything."""
    assert decoded(text) == text
    assert str(decoded(text)) == text
