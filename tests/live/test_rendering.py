"""Pages that only a browser can read, in a real Chromium behind the address rule."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr

from bot.core.errors import AddressRefused, BrowserNeeded, PageUnreadable
from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.pages.browser import Browser, Rendered
from bot.pages.fetch import Fetcher
from tests.fakes.egress_proxy import egress_proxy
from tests.fakes.server import serve
from tests.live.script_pages import TEXT, Private, ScriptSite, private

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE, IMPATIENCE = 60.0, 12.0  # seconds for a page; the second for those that do not end


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[ScriptSite, Private, str]]:
    """The site, what its pages have reached of the private network, and where the site is."""
    site = ScriptSite()
    with private() as (heard, secret, udp), serve(site.app) as base:
        site.secret, site.udp = secret, udp
        yield site, heard, base


@pytest.fixture
def reached(site: tuple[ScriptSite, Private, str]) -> list[str]:
    site[1].reached.clear()
    return site[1].reached


@pytest.fixture(scope="module")
def base(site: tuple[ScriptSite, Private, str]) -> str:
    return f"{site[2]}/page"


@pytest.fixture(scope="module")
def settings(base: str) -> Settings:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed: run .ci/install-live as root")
    return load_settings(
        browser=path,
        browser_sandbox="off" if os.geteuid() == 0 else "on",
        fetch_allow=(base.removeprefix("http://").partition("/")[0],),
        robots="ignore",
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fetcher(settings: Settings) -> AsyncIterator[Fetcher]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.pages.retrieval.SECONDS", PATIENCE)
        fetcher = Fetcher(settings)
    yield fetcher
    await fetcher.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def impatient(settings: Settings) -> AsyncIterator[Fetcher]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.pages.retrieval.SECONDS", IMPATIENCE)
        fetcher = Fetcher(settings)
    yield fetcher
    await fetcher.aclose()


def browser_of(fetcher: Fetcher) -> Browser:
    assert fetcher._browser is not None
    return fetcher._browser


def browsers(fetcher: Fetcher) -> list[int]:
    """The processes that keep their files where this fetcher's browser does."""
    folder = browser_of(fetcher)._folder
    assert folder is not None
    found = []
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if folder.name.encode() in status.read_bytes():
                found.append(int(status.parent.name))
        except OSError:  # it has ended
            continue
    return found


async def until_none(fetcher: Fetcher) -> None:
    for _ in range(100):
        if not browsers(fetcher):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"still there: {browsers(fetcher)}")


async def test_pages_built_by_script_are_read(fetcher: Fetcher, base: str) -> None:
    names = ("late", "fetched", "component", "moves", "tampers")
    pages = await asyncio.gather(*(fetcher.fetch(f"{base}/{name}") for name in names))
    for name, page in zip(names, pages, strict=True):
        assert TEXT in page.text, name
        assert "JavaScript" not in page.text
        assert page.url == f"{base}/{'late' if name == 'moves' else name}"
        assert (page.title, page.via) == ("Lighthouse", "")


@pytest.mark.parametrize("target", ["address", "name"])
async def test_a_browser_goes_through_the_operators_proxy(
    settings: Settings, base: str, reached: list[str], target: str
) -> None:
    place = base.removeprefix("http://").partition("/")[0]
    async with egress_proxy("honest", int(place.rpartition(":")[2]), "hunter2") as proxy:
        behind = {"fetch_proxy": SecretStr(proxy.url_with_password), "fetch_proxy_target": target}
        fetcher = Fetcher(settings.model_copy(update=behind))
        try:
            page = await fetcher.fetch(f"{base}/fetched")
        finally:
            await fetcher.aclose()
    assert TEXT in page.text
    asked = f"CONNECT {place}" if target == "address" else f"GET http://{place}/"
    assert all(each.startswith(asked) for each in proxy.asked), proxy.asked
    assert len(proxy.asked) > 2  # what the page loads comes the same way
    assert reached == []


async def test_no_page_leads_into_a_private_network(
    fetcher: Fetcher, base: str, reached: list[str]
) -> None:
    names = [name for name in ScriptSite.PAGES if name.startswith("to-")] + ["refresh", "form"]
    outcomes = await asyncio.gather(
        *(fetcher.fetch(f"{base}/{name}") for name in names), return_exceptions=True
    )
    for name, outcome in zip(names, outcomes, strict=True):
        assert isinstance(outcome, BrowserNeeded), (name, outcome)
    assert reached == []


async def test_nothing_of_a_page_reaches_a_private_network(
    fetcher: Fetcher, base: str, reached: list[str]
) -> None:
    assert TEXT in (await fetcher.fetch(f"{base}/reaches")).text
    assert reached == []


async def test_what_never_comes_to_rest_is_read_as_it_is(impatient: Fetcher, base: str) -> None:
    names = ("endless-request", "polls", "grows", "windows")
    pages = await asyncio.gather(*(impatient.fetch(f"{base}/{name}") for name in names))
    assert all(TEXT in page.text for page in pages)


async def test_what_never_lets_itself_be_read_is_given_up(impatient: Fetcher, base: str) -> None:
    names = ("loop", "alerts", "memory", "deep")
    outcomes = await asyncio.gather(
        *(browser_of(impatient).render(f"{base}/{name}") for name in names), return_exceptions=True
    )
    assert all(isinstance(each, PageUnreadable) for each in outcomes[:2]), outcomes
    # Out of memory or stack a script ends, or its page.
    for name, outcome in zip(names[2:], outcomes[2:], strict=True):
        assert isinstance(outcome, Rendered | PageUnreadable), (name, outcome)
    assert TEXT in (await impatient.fetch(f"{base}/late")).text


@pytest.mark.parametrize("name", ["gigabyte", "large"])
async def test_what_is_too_large_is_given_up(
    fetcher: Fetcher, site: tuple[ScriptSite, Private, str], base: str, name: str
) -> None:
    with pytest.raises(PageUnreadable, match="loads more than 50 MB or is larger than 10 MB"):
        await browser_of(fetcher).render(f"{base}/{name}")
    assert site[0].sent["/endless"] < 100_000_000


async def test_a_download_is_none(fetcher: Fetcher, base: str) -> None:
    with pytest.raises(PageUnreadable, match="gives a browser a file and not a page"):
        await browser_of(fetcher).render(f"{base}/download")


async def test_a_private_address_is_refused_by_name(fetcher: Fetcher, reached: list[str]) -> None:
    with pytest.raises(AddressRefused, match=r"leads to 169\.254\.169\.254, a private"):
        await browser_of(fetcher).render("http://169.254.169.254/latest/meta-data/")


async def test_a_browser_that_died_is_replaced(fetcher: Fetcher, base: str) -> None:
    await browser_of(fetcher).render(f"{base}/late")
    for process in browsers(fetcher):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:  # with its parent
            continue
    assert TEXT in (await browser_of(fetcher).render(f"{base}/late")).html


async def test_no_process_stays_behind(settings: Settings, base: str) -> None:
    fetcher = Fetcher(settings)
    await asyncio.gather(*(fetcher.fetch(f"{base}/{name}") for name in ("late", "fetched")))
    assert browsers(fetcher)
    for worker in browser_of(fetcher)._pool._idle[:1]:
        worker._process.kill()  # no time to say good-bye
    await fetcher.aclose()
    await until_none(fetcher)


async def test_doctor_tells_the_version(fetcher: Fetcher) -> None:
    assert (await browser_of(fetcher).report())[:1].isdigit()
