"""Single sign-on in a real Chromium, by npm's oidc-provider: pages, groups, keys, clocks, ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fakes import sqlite
from tests.fakes.server import free_port
from tests.live.browser import Watched, ask, chromium, watched
from tests.live.oidc import CLIENT, SECRET, LiveProvider, client, running_provider
from tests.scenario.gate import until
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked

__all__ = ["chromium"]

DOCUMENTS = {
    "hr/salaries.md": "# Salaries\n\nA gardener of the company earns 4,321 crowns a month.\n",
    "open/canteen.md": "# Canteen\n\nThe canteen of the company opens at eleven in the morning.\n",
}
QUESTION = "How much does a gardener earn a month?"


@dataclass
class Stage:
    """A console below a path, and the provider that signs people in to it."""

    serving: Serving
    provider: LiveProvider
    url: str


@pytest.fixture(scope="module")
def stage(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("sso")
    sqlite.migrated(folder / "data")
    for name, text in DOCUMENTS.items():
        path = folder / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    hr = {"name": "hr", "paths": [str(folder / "documents/hr")], "console_groups": ["hr"]}
    port = free_port()
    url = f"http://127.0.0.1:{port}/footnote"
    with running_provider([client(url)]) as provider:
        program = Program(
            folder,
            {
                "FOOTNOTE_DOCS": str(folder / "documents"),
                "FOOTNOTE_PROVIDERS": "local",
                "FOOTNOTE_COLLECTIONS": json.dumps([hr]),
                "FOOTNOTE_PUBLIC_URL": url,
                "FOOTNOTE_OIDC_ISSUER": provider.issuer,
                "FOOTNOTE_OIDC_CLIENT_ID": CLIENT,
                "FOOTNOTE_OIDC_CLIENT_SECRET": SECRET,
                "FOOTNOTE_ADMIN_GROUPS": "admins",
            },
            fork_server,
        )
        started = start_forked(fork_server, program, FOOTNOTE_HTTP_PORT=str(port))
        with ending(started) as serving:
            until(lambda: httpx.get(f"{serving.http}/readyz", trust_env=False).is_success)
            yield Stage(serving, provider, url)


@contextmanager
def visiting(chromium: Browser) -> Iterator[Watched]:
    """A new profile, in which the provider's own pages may be complained about."""
    with watched(chromium) as browser:
        yield browser
        browser.said[:] = [each for each in browser.said if "autocomplete attributes" not in each]


def sign_in(page: Page, stage: Stage, person: str) -> None:
    """From the page that leads to the provider on, as the provider's pages go."""
    page.get_by_placeholder("Enter any login").fill(person)
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def open_signed_in(page: Page, stage: Stage, person: str) -> None:
    page.goto(stage.url + "/")
    sign_in(page, stage, person)
    expect(page.locator("#question")).to_be_visible()


def test_a_group_member_signs_in_asks_and_signs_out(stage: Stage, chromium: Browser) -> None:
    with visiting(chromium) as browser:
        page = browser.context.new_page()
        page.goto(f"{stage.url}/handbook/console")
        assert page.url.startswith(stage.provider.issuer)
        sign_in(page, stage, "ada")
        expect(page).to_have_url(f"{stage.url}/handbook/console")
        (cookie,) = [
            each
            for each in browser.context.cookies(stage.url)
            if each["name"] == "footnote_session"
        ]
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (
            True,
            "Lax",
            "/footnote",
        )
        page.goto(stage.url + "/")
        ask(page, QUESTION)
        expect(page.locator(".answered")).to_contain_text("4,321 crowns")
        page.locator(".prefs > summary").click()
        page.get_by_role("link", name="Sign out").click()
        expect(page.locator("#main")).to_contain_text("Ada Lovelace")
        page.get_by_role("button", name="Sign out of this browser").click()
        page.get_by_role("button", name="Yes, sign me out").click()
        expect(page).to_have_url(f"{stage.url}/sign-in/signed-out")
        page.get_by_role("link", name="Sign in").click()
        expect(page.get_by_placeholder("Enter any login")).to_be_visible()


def test_others_are_told_nothing_of_the_groups_documents(stage: Stage, chromium: Browser) -> None:
    with visiting(chromium) as browser:
        page = browser.context.new_page()
        open_signed_in(page, stage, "grace")
        ask(page, QUESTION)
        expect(page.locator(".answered")).to_be_visible()
        assert "4,321" not in page.content()
        page.goto(f"{stage.url}/overview")  # she is an operator, by her group
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.url == f"{stage.url}/overview"


def test_new_keys_of_the_provider_are_found(stage: Stage, chromium: Browser) -> None:
    with visiting(chromium) as browser:
        open_signed_in(browser.context.new_page(), stage, "ada")
    stage.provider.rotate()
    with visiting(chromium) as browser:
        open_signed_in(browser.context.new_page(), stage, "ada")


@pytest.mark.parametrize("seconds", [-50, 50])
def test_clocks_may_differ_a_little(stage: Stage, chromium: Browser, seconds: int) -> None:
    stage.provider.put_clock(seconds)
    try:
        with visiting(chromium) as browser:
            open_signed_in(browser.context.new_page(), stage, "ada")
    finally:
        stage.provider.put_clock(0)


@pytest.mark.parametrize("seconds", [300, -400])
def test_a_clock_that_is_wrong_is_not_trusted(
    stage: Stage, chromium: Browser, seconds: int
) -> None:
    stage.provider.put_clock(seconds)
    try:
        with visiting(chromium) as browser:
            page = browser.context.new_page()
            page.goto(stage.url + "/")
            sign_in(page, stage, "ada")
            expect(page.get_by_role("alert")).to_contain_text("cannot be trusted")
            stage.provider.put_clock(0)
            page.get_by_role("link", name="Try again").click()
            expect(page.locator("#question")).to_be_visible()
    finally:
        stage.provider.put_clock(0)


def test_a_no_leads_to_a_page_that_says_so(stage: Stage, chromium: Browser) -> None:
    with visiting(chromium) as browser:
        page = browser.context.new_page()
        page.goto(stage.url + "/")
        page.get_by_role("link", name="Cancel").click()
        expect(page.get_by_role("alert")).to_contain_text("did not let you in")
