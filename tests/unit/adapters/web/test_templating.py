"""Scripts, styles and pictures."""

from __future__ import annotations

import re

from httpx import Response

from adapters.web.templating import STATIC, asset, files
from tests.unit.adapters.web.conftest import Browser

FIRST_VISIT = 25_000  # bytes of the first page with all that it loads, as they are sent
LATER_VISIT = 4_000  # of the page alone


async def test_a_file_may_be_kept_for_ever_under_its_name(browser: Browser) -> None:
    for name in sorted(files()):
        answer = await browser.get(asset(name))
        assert answer.status_code == 200
        assert answer.content == (STATIC / name).read_bytes()
        assert "immutable" in answer.headers["cache-control"]
        again = await browser.get(asset(name), **{"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


async def test_an_older_name_gives_the_new_file_but_is_not_kept(browser: Browser) -> None:
    answer = await browser.get("/static/000000000000/app.css")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-cache"


async def test_nothing_else_is_given(browser: Browser) -> None:
    for path in ["/static/x/none.css", "/static/x/..%2Fapp.py", "/static/x/"]:
        assert (await browser.get(path)).status_code == 404


def test_a_file_loads_nothing_from_elsewhere() -> None:
    for name in [name for name in files() if name.endswith((".css", ".js"))]:
        text = files()[name].decode()
        assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", re.sub(r"//.*", "", text))
        for imported in re.findall(r'from "(.+?)"', text):
            assert imported.removeprefix("./") in files()


async def test_the_first_visit_is_light(browser: Browser) -> None:
    page = await browser.get("/")
    loaded = set(re.findall(r'(?:href|src)="(/static/[^"#]+)', page.text))
    loaded = {path for path in loaded if not path.endswith(".png")}  # for whoever installs it
    for path in [path for path in loaded if path.endswith(".js")]:
        text = (await browser.get(path)).text
        loaded |= {asset(name) for name in re.findall(r'from "\./(.+?)"', text)}
    sizes = [sent(await browser.get(path)) for path in loaded]
    assert sent(page) < LATER_VISIT
    assert sent(page) + sum(sizes) < FIRST_VISIT


def sent(answer: Response) -> int:
    """Bytes that went over the wire; httpx asks for compressed ones and unpacks them."""
    return int(answer.headers["content-length"])


async def test_what_is_large_is_compressed_for_who_can_take_it(browser: Browser) -> None:
    path = asset("app.css")
    packed = await browser.get(path)
    plain = await browser.get(path, **{"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert sent(packed) < sent(plain) / 3
    for answer in (packed, plain):
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["etag"] == plain.headers["etag"]


async def test_one_of_several_that_a_browser_has_may_be_the_current_one(browser: Browser) -> None:
    for tag in ['"other", {}', "{}", '{}, "other"']:
        etag = (await browser.get(asset("app.css"))).headers["etag"]
        again = await browser.get(asset("app.css"), **{"If-None-Match": tag.format(etag)})
        assert again.status_code == 304


async def test_an_unknown_page_says_that_it_does_not_exist(browser: Browser) -> None:
    page = (await browser.get("/nowhere", accept="text/html")).text
    assert "<h1>This page does not exist</h1>" in page
    assert "The address may be wrong" in page
    assert "Not Found" not in page
