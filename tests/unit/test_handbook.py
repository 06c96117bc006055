"""The handbook says what the code says: settings, commands, pages, links."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typer

from adapters.discord.platform import PERMISSIONS, SCOPES
from adapters.slack.installations import SCOPES as SLACK_SCOPES
from adapters.web.pages.handbook import anchor
from bot.cli.command import HANDBOOK
from bot.cli.main import app, command_named
from bot.core.plugins import PartSettings
from bot.core.settings import TOML, Settings
from bot.evaluation.evaluation import TYPICAL, expected_usd
from bot.operation.configuration import known_names, load_settings, settings_class
from bot.pages.media import FORMATS
from bot.reasoning.claude import PRICES
from bot.search.registry import declarations

PAGES = sorted(HANDBOOK.glob("*.md"))
ROOT = HANDBOOK.parent.parent
SETTINGS_PAGE = HANDBOOK / "settings.md"
ENGINES_PAGE = HANDBOOK / "search-engines.md"
SETTINGS_PAGES = (
    SETTINGS_PAGE,
    HANDBOOK / "access.md",
    HANDBOOK / "budgets.md",
    HANDBOOK / "privacy.md",
    HANDBOOK / "console.md",
    HANDBOOK / "single-sign-on.md",
    HANDBOOK / "audit.md",
    HANDBOOK / "standing-questions.md",
    HANDBOOK / "corrections.md",
    HANDBOOK / "documents.md",
    HANDBOOK / "processes.md",
    HANDBOOK / "network.md",
)
ENV_EXAMPLE = ROOT / "deploy" / ".env.example"
PICTURE = HANDBOOK / "road.svg"

_SETTING = re.compile(r"\bFOOTNOTE_[A-Z0-9_]+\b")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?<![\w./-])footnote +(?P<words>(?:[a-z]+ ?)+)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_HEADING = re.compile(r"^(#{1,6}) +(.+)$", re.MULTILINE)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def named(pages: Iterable[Path]) -> list[Any]:
    return [pytest.param(page, id=page.name) for page in pages]


# ---------------------------------------------------------------- settings


def settings_rows(*pages: Path) -> dict[str, str]:
    """Name → default, from the tables of pages."""
    text = "\n".join(map(text_of, pages))
    rows = re.findall(r"^\| `([A-Z_]+)` \| .+ \| (.+?) \|$", text, re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a setting has two rows"
    return dict(rows)


def as_written(name: str, default: Any) -> str:
    """A default as the settings page writes it."""
    if name == "FOOTNOTE_DATA_DIR":
        return "the user data folder"
    if default is None:
        return "not set"
    if default in ("", (), {}):
        return "empty"
    if isinstance(default, tuple):
        return f"`{','.join(default)}`"
    if isinstance(default, float) and default.is_integer():
        default = int(default)
    return f"`{default}`"


FIELDS = dict(zip(known_names(), settings_class().model_fields, strict=True))
OF_PROVIDERS = {
    field
    for each in declarations().values()
    if issubclass(each.settings, PartSettings)
    for field in each.settings.model_fields
}
CORE = [name for name, field in FIELDS.items() if field not in OF_PROVIDERS]


def default_of(name: str) -> Any:
    return settings_class().model_fields[FIELDS[name]].get_default(call_default_factory=True)


@pytest.mark.parametrize("name", CORE)
def test_every_setting_stands_in_the_settings_page_with_its_default(name: str) -> None:
    assert settings_rows(*SETTINGS_PAGES).get(name) == as_written(name, default_of(name))


def test_the_settings_page_lists_nothing_else() -> None:
    assert sorted(settings_rows(*SETTINGS_PAGES)) == sorted(CORE)


@pytest.mark.parametrize(("name", "default"), list(settings_rows(ENGINES_PAGE).items()))
def test_a_search_engines_setting_stands_in_its_page_with_its_default(
    name: str, default: str
) -> None:
    """A provider that is added describes its settings in its own file; a page may follow."""
    assert name not in CORE
    assert default == as_written(name, default_of(name))


@pytest.mark.parametrize("page", named(PAGES))
def test_no_page_names_a_setting_that_does_not_exist(page: Path) -> None:
    assert set(_SETTING.findall(text_of(page))) <= set(known_names())


def test_the_example_of_the_settings_file_holds_known_settings() -> None:
    example = re.search(rf"```toml\n# {TOML}\n(.*?)```", text_of(SETTINGS_PAGE), re.DOTALL)
    assert example is not None
    keys = re.findall(r"^(\w+) =", example[1], re.MULTILINE)
    assert keys
    assert set(keys) <= set(Settings.model_fields)


def test_the_example_of_a_deployment_holds_known_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    example = text_of(ENV_EXAMPLE)
    names = re.findall(r"^#?([A-Z][A-Z0-9_]+)=", example, re.MULTILINE)
    for name in known_names():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text(example, encoding="utf-8")

    assert len(names) == len(set(names))
    assert set(names) - {"HTTPS_PROXY", "NO_PROXY"} <= set(known_names())
    assert load_settings() == settings_class()(_env_file=None)  # type: ignore[call-arg]  # changes nothing


# ---------------------------------------------------------------- platforms


def first_cells(page: Path, heading: str) -> list[str]:
    """The first cells of the table under a heading, without its head."""
    section = text_of(page).partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("|")]
    return rows[2:]


def test_the_slack_page_explains_every_scope_and_no_other() -> None:
    cells = first_cells(HANDBOOK / "slack.md", "Why each scope")

    assert {scope for cell in cells for scope in re.findall(r"`([a-z:_]+)`", cell)} == SLACK_SCOPES


def test_the_discord_page_explains_every_permission_and_no_other() -> None:
    page = HANDBOOK / "discord.md"
    cells = first_cells(page, "Why each permission")

    assert {cell.lower().replace(" ", "_") for cell in cells} == set(PERMISSIONS)
    assert f"`{'` and `'.join(SCOPES)}`" in text_of(page)


# ---------------------------------------------------------------- documents


def test_the_documents_page_names_every_ending_that_is_read() -> None:
    page = (HANDBOOK / "documents.md").read_text(encoding="utf-8")
    endings = [
        ending
        for each in FORMATS
        if each.kind != "man"  # ".1" to ".8" stand for many
        for ending in each.endings
        if ending
    ]
    assert [ending for ending in endings if f"`{ending}`" not in page] == []


# ---------------------------------------------------------------- prices


def test_the_prices_are_those_that_are_charged() -> None:
    rows = re.findall(
        r"^\| `(claude-[a-z0-9-]+)` \| (.+) \|$", text_of(HANDBOOK / "budgets.md"), re.M
    )
    listed = {model: tuple(map(float, cells.split(" | "))) for model, cells in rows}
    defaults = {Settings.model_fields[name].default for name in ("model", "small_model")}

    assert defaults <= set(listed)
    for model, prices in listed.items():
        price = PRICES[model]
        charged = (price.input, price.output, price.cache_write, price.cache_read)
        assert prices == pytest.approx(charged), model


def test_the_typical_costs_are_those_that_an_evaluation_expects() -> None:
    rows = re.findall(
        r"^\| `(quick|standard|deep|exhaustive)`[^|]* \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|$",
        text_of(HANDBOOK / "budgets.md"),
        re.M,
    )
    settings = load_settings(anthropic_api_key="k")

    assert {row[0] for row in rows} == set(TYPICAL) - {"auto"}
    for depth, *tokens, usd in rows:
        assert tuple(int(each.replace(",", "")) for each in tokens) == TYPICAL[depth]
        assert float(usd) == pytest.approx(expected_usd(settings, depth), rel=0.01)


# ---------------------------------------------------------------- the web site


def test_the_web_site_has_every_page_in_its_navigation() -> None:
    hook = runpy.run_path(str(ROOT / ".ci" / "handbook_nav.py"))
    config = hook["on_config"]({"docs_dir": str(HANDBOOK)})
    (_, *sections) = config["nav"]
    listed = [page for section in sections for pages in section.values() for page in pages]
    targets = [target for page in listed for target in page.values()]

    assert sorted(targets) == sorted(page.name for page in PAGES if page.name != "index.md")


@pytest.mark.parametrize("page", named(PAGES))
def test_an_anchor_is_the_same_in_the_repository_and_on_the_web_site(page: Path) -> None:
    """GitHub keeps hyphens in a row, MkDocs and the console make one of them."""
    fragments = [match["target"].partition("#")[2] for match in _LINK.finditer(text_of(page))]

    assert not [each for each in fragments if "--" in each]


# ---------------------------------------------------------------- commands


@cache
def commands_and_options() -> tuple[dict[str, Any], set[str]]:
    """All commands by their full name ("db upgrade"), and every option of any of them."""
    root = typer.main.get_command(app)
    commands: dict[str, Any] = {}
    options: set[str] = set()

    def walk(command: Any, name: str) -> None:
        commands[name] = command
        for parameter in command.params:
            options.update(parameter.opts)
        for word, inner in getattr(command, "commands", {}).items():
            walk(inner if name else command_named(word), f"{name} {word}".strip())

    walk(root, "")
    return commands, options | {"--help"}


def commands_named_in(text: str) -> set[str]:
    """The longest command that each ``footnote ...`` in code begins with."""
    commands, _ = commands_and_options()
    found = set()
    for code in _CODE.findall(text):
        for match in _COMMAND.finditer(code):
            words = match["words"].split()
            group = " ".join(words[:2])
            found.add(group if group in commands or words[0] == "db" else words[0])
    return found


@pytest.mark.parametrize("page", named(PAGES))
def test_every_command_in_a_page_exists(page: Path) -> None:
    commands, _ = commands_and_options()

    assert commands_named_in(text_of(page)) <= set(commands)


def test_every_command_is_described() -> None:
    commands, _ = commands_and_options()
    wanted = {name for name, command in commands.items() if not hasattr(command, "commands")}

    assert commands_named_in(text_of(HANDBOOK / "commands.md")) >= wanted


@pytest.mark.parametrize("page", named(PAGES))
def test_every_option_of_footnote_in_a_page_exists(page: Path) -> None:
    _, options = commands_and_options()
    code = [part for part in _CODE.findall(text_of(page)) if re.search(r"footnote +[a-z-]", part)]
    lines = [line for part in code for line in part.splitlines() if "footnote " in line]

    assert {option for line in lines for option in _OPTION.findall(line)} <= options


# ---------------------------------------------------------------- pages and links


def test_the_handbook_is_small_enough_to_be_known() -> None:
    """A page is about one thing that a reader wants to do."""
    assert 15 <= len(PAGES) <= 45
    assert sum(len(text_of(page).split()) for page in PAGES) <= 35_000


@pytest.mark.parametrize("page", named(PAGES))
def test_a_page_has_a_plain_name_and_one_title_at_its_top(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    levels = [len(marks) for marks, _ in _HEADING.findall(text)]

    assert re.fullmatch(r"[a-z]+(-[a-z]+)*\.md", page.name)
    assert text.startswith("# ")
    assert levels.count(1) == 1


@pytest.mark.parametrize("page", named(PAGES))
def test_a_page_is_neither_a_note_nor_a_book(page: Path) -> None:
    words = [word for word in text_of(page).split() if any(map(str.isalnum, word))]

    assert 200 <= len(words) <= 1_300


@pytest.mark.parametrize("page", named(PAGES))
def test_every_link_leads_to_a_page_or_picture_of_the_handbook(page: Path) -> None:
    targets = [match["target"] for match in _LINK.finditer(text_of(page))]

    assert targets
    for target in targets:
        name, _, fragment = target.partition("#")
        file = HANDBOOK / name
        assert file.resolve().parent == HANDBOOK.resolve(), target
        assert file.is_file(), target
        assert not fragment or fragment in anchors_of(file), target


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_a_link_into_the_handbook_leads_to_a_page_and_a_heading(file: str) -> None:
    links = re.findall(r"\]\((bot/handbook/[a-z-]+\.md)(?:#([^)]+))?\)", text_of(ROOT / file))

    assert links
    for page, fragment in links:
        assert (ROOT / page).is_file(), page
        assert not fragment or fragment in anchors_of(ROOT / page), f"{page}#{fragment}"


def anchors_of(page: Path) -> set[str]:
    return {anchor(heading) for _, heading in _HEADING.findall(text_of(page))}


def test_the_index_leads_to_every_page_once() -> None:
    index = HANDBOOK / "index.md"
    targets = [match["target"] for match in _LINK.finditer(text_of(index))]

    assert sorted(targets) == sorted(page.name for page in PAGES if page != index)


# ---------------------------------------------------------------- the picture


def test_the_picture_is_small_and_needs_nothing_from_elsewhere() -> None:
    source = text_of(PICTURE)
    elements = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(source).iter()]

    assert len(source.encode()) < 10_000
    assert not {"image", "script", "foreignObject", "use"} & set(elements)
    assert "@import" not in source
    assert "url(" not in source


def test_the_picture_says_in_words_what_it_shows() -> None:
    root = ElementTree.fromstring(text_of(PICTURE))
    words = {element.tag.rpartition("}")[2]: (element.text or "").strip() for element in root}

    assert words.get("title")
    assert words.get("desc")
