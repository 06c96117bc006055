"""Theme, language and time zone, the list of keys, and what makes the console installable."""

from __future__ import annotations

import struct

import httpx

from adapters.web.pages.preferences import KEYS
from adapters.web.templating import files
from tests.fakes.screen import seen
from tests.unit.adapters.web.conftest import Browser


async def prefer(browser: Browser, **fields: str) -> httpx.Response:
    await browser.get("/")
    answer = await browser.post("/preferences", **fields)
    for header in answer.headers.get_list("set-cookie"):
        assert "HttpOnly" in header
        assert "SameSite=lax" in header
    return answer


async def test_a_theme_is_kept_without_scripts(browser: Browser) -> None:
    for theme in ["light", "dark"]:
        answer = await prefer(browser, theme=theme, to="/overview")
        assert (answer.status_code, answer.headers["location"]) == (303, "/overview")
        page = (await browser.get("/")).text
        assert f'data-theme="{theme}"' in page
        assert f'<meta name="color-scheme" content="{theme}">' in page
        await prefer(browser, theme="system")
        assert "data-theme" not in (await browser.get("/")).text


async def test_a_language_goes_before_that_of_the_browser(browser: Browser) -> None:
    await prefer(browser, language="zh-Hant")
    page = (await browser.get("/", **{"Accept-Language": "en"})).text
    assert '<html lang="zh-Hant"' in page
    run = await browser.ask("塔有多高？")
    record = await browser.running.store.run(run)
    assert record is not None
    assert record.message.locale == "zh-Hant"
    await prefer(browser, language="")
    assert '<html lang="en"' in (await browser.get("/", **{"Accept-Language": "en"})).text


async def test_a_time_zone_is_chosen_from_a_list_and_kept_until_another_is(
    browser: Browser,
) -> None:
    listed = (await browser.get("/preferences?to=/overview")).text
    assert all(f"<option>{name}</option>" in listed for name in ("UTC", "Asia/Shanghai"))
    answer = await prefer(browser, zone="Asia/Shanghai", theme="dark", to="/overview")
    assert answer.headers["location"] == "/overview"
    await prefer(browser, theme="light")  # the short form, which asks for no zone
    page = (await browser.get("/preferences?to=//elsewhere.example")).text
    assert 'data-zone="Asia/Shanghai"' in page
    assert "<option selected>Asia/Shanghai</option>" in page
    assert 'name="to" value="/"' in page
    await prefer(browser, zone="")
    assert "data-zone" not in (await browser.get("/")).text


async def test_what_is_none_of_ours_is_not_kept(browser: Browser) -> None:
    answer = await prefer(
        browser, theme='"><b>', language="xx", zone="Mars/X", to="//elsewhere.example"
    )
    assert answer.headers["location"] == "/"
    assert "data-theme" not in (await browser.get("/")).text


async def test_a_form_of_another_site_changes_nothing(browser: Browser) -> None:
    browser.client.headers["Sec-Fetch-Site"] = "cross-site"
    answer = await browser.post("/preferences", theme="dark")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers or "footnote_theme" not in str(answer.headers)


async def test_the_keys_are_a_page_too(browser: Browser) -> None:
    page = seen((await browser.get("/keys")).text)
    assert "Go to the question box" in page.text
    assert all(key in page.text for key, _ in KEYS)


async def test_the_console_can_be_installed(browser: Browser) -> None:
    answer = await browser.get("/manifest.webmanifest")
    assert answer.headers["content-type"] == "application/manifest+json"
    told = answer.json()
    assert (told["start_url"], told["display"]) == ("/", "standalone")
    for icon in told["icons"]:
        assert (await browser.get(icon["src"])).status_code == 200
    for size in (192, 512):
        picture = files()[f"icon-{size}.png"]
        assert struct.unpack(">II", picture[16:24]) == (size, size)
