"""robots.txt: asked once for each site, heeded, and kept for a while (RFC 9309)."""

from __future__ import annotations

import asyncio

import pytest
from starlette.responses import PlainTextResponse, RedirectResponse

from bot import __version__
from bot.core.errors import AddressRefused, InvalidSetting, Unavailable
from bot.operation.configuration import load_settings
from bot.pages.download import ROBOTS_TXT_BYTES
from bot.pages.retrieval import KEPT, KEPT_UNREACHABLE, Robots
from tests.fakes.web import Web
from tests.unit.pages.conftest import OpenFetcher

pytestmark = pytest.mark.usefixtures("no_waiting")

CLOSED = "User-agent: *\nDisallow: /"


class Sites:
    """The robots.txt of some sites; ``asked`` are the files' addresses in the order asked."""

    def __init__(self, files: dict[str, str | Exception]) -> None:
        self.files = files
        self.asked: list[str] = []
        self.now = 0.0
        self.robots = Robots(self.get, clock=lambda: self.now)

    async def get(self, address: str) -> bytes:
        self.asked.append(address)
        await asyncio.sleep(0)
        found = self.files[address.removesuffix("/robots.txt")]
        if isinstance(found, Exception):
            raise found
        return found.encode()

    async def permits(self, address: str) -> bool:
        try:
            await self.robots.permit(address)
        except AddressRefused:
            return False
        return True


@pytest.mark.parametrize(
    ("file", "path", "permitted"),
    [
        ("", "/a", True),
        ("<html>No such page</html>", "/a", True),
        (CLOSED, "/a", False),
        ("\ufeff" + CLOSED, "/a", False),
        ("User-agent: *\nDisallow: /private/", "/a", True),
        ("User-agent: *\nDisallow: /private/", "/private/a", False),
        ("User-agent: *\nDisallow: /\nAllow: /open", "/open/a", True),
        ("User-agent: *\nDisallow: /*?print=1$", "/a?print=1", False),
        ("User-agent: otherbot\nDisallow: /", "/a", True),
        ("User-agent: Footnote-Bot\nDisallow: /", "/a", False),
        (f"{CLOSED}\n\nUser-agent: footnote-bot\nAllow: /", "/a", True),
        ("User-agent: bot\nDisallow: /", "/a", True),
    ],
)
async def test_the_file_says_what_may_be_read(file: str, path: str, permitted: bool) -> None:
    sites = Sites({"https://a.example": file})
    assert await sites.permits(f"https://a.example{path}") is permitted


async def test_each_site_is_asked_once_and_again_after_a_while() -> None:
    sites = Sites({"https://a.example": "", "http://a.example": CLOSED, "https://b.example:81": ""})
    await asyncio.gather(*(sites.permits(f"https://a.example/{n}") for n in range(5)))
    assert not await sites.permits("http://a.example/x")
    assert await sites.permits("https://b.example:81/x")
    assert sites.asked == [f"{site}/robots.txt" for site in sites.files]
    sites.files["https://a.example"] = CLOSED
    sites.now += KEPT - 1
    assert await sites.permits("https://a.example/x")
    sites.now += 2
    assert not await sites.permits("https://a.example/x")


async def test_a_site_that_cannot_tell_is_closed_for_a_while() -> None:
    sites = Sites({"https://a.example": Unavailable("It has a problem.", detail="503")})
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"a\.example cannot say .* try again") as caught:
            await sites.robots.permit("https://a.example/x")
        assert caught.value.retry_after == KEPT_UNREACHABLE
    assert len(sites.asked) == 1
    sites.files["https://a.example"] = ""
    sites.now += KEPT_UNREACHABLE + 1
    assert await sites.permits("https://a.example/x")


async def test_a_site_that_does_not_answer_is_not_waited_for() -> None:
    async def silent(address: str) -> bytes:
        await asyncio.Event().wait()
        return b""

    with pytest.raises(Unavailable, match="cannot say"):
        await Robots(silent, seconds=0.01).permit("https://a.example/x")


async def test_who_stops_waiting_stops_nobody_else() -> None:
    sites = Sites({"https://a.example": ""})
    first = asyncio.create_task(sites.permits("https://a.example/1"))
    second = asyncio.create_task(sites.permits("https://a.example/2"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second


# ---------------------------------------------------------------- over the network


@pytest.fixture
def polite(open_fetcher: OpenFetcher) -> OpenFetcher:
    return lambda **settings: open_fetcher(robots="respect", **settings)


async def test_a_closed_page_is_not_requested(polite: OpenFetcher, web: Web, base: str) -> None:
    web.robots = PlainTextResponse("User-agent: *\nDisallow: /article")
    fetcher = polite()
    with pytest.raises(AddressRefused, match=r"asks robots not to read .* paste the text"):
        await fetcher.fetch(f"{base}/article")
    assert (await fetcher.fetch(f"{base}/plain")).title == "Opening hours"
    assert [seen.path for seen in web.seen] == ["/robots.txt", "/plain"]


async def test_a_redirect_leads_to_no_closed_page(polite: OpenFetcher, web: Web, base: str) -> None:
    web.robots = PlainTextResponse("User-agent: *\nDisallow: /article")
    with pytest.raises(AddressRefused, match="robots"):
        await polite().fetch(f"{base}/redirect/1")
    assert web.count("/article") == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_client_errors_mean_that_all_is_open(
    polite: OpenFetcher, web: Web, base: str, status: int
) -> None:
    web.robots = PlainTextResponse(CLOSED, status)
    assert (await polite().fetch(f"{base}/article")).title


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_server_errors_mean_that_all_is_closed(
    polite: OpenFetcher, web: Web, base: str, status: int
) -> None:
    web.robots = PlainTextResponse("", status)
    with pytest.raises(Unavailable, match="cannot say at the moment"):
        await polite().fetch(f"{base}/article")
    assert [seen.path for seen in web.seen] == ["/robots.txt"], "and it is not asked again at once"


async def test_only_the_beginning_of_an_endless_file_counts(
    polite: OpenFetcher, web: Web, base: str
) -> None:
    filler = "# so on and so on\n" * (ROBOTS_TXT_BYTES // 18)
    web.robots = PlainTextResponse(f"User-agent: *\nDisallow: /article\n{filler}Disallow: /plain\n")
    fetcher = polite()
    assert (await fetcher.fetch(f"{base}/plain")).title
    with pytest.raises(AddressRefused):
        await fetcher.fetch(f"{base}/article")


@pytest.mark.parametrize(
    ("target", "outcome"),
    [
        ("/robots.txt", None),  # in a circle: as if there were none
        ("http://10.0.0.1/robots.txt", "private or reserved"),
        ("file:///etc/passwd", "only http and https"),
    ],
)
async def test_its_redirects_are_guarded(
    polite: OpenFetcher, web: Web, base: str, target: str, outcome: str | None
) -> None:
    web.robots = RedirectResponse(target)
    if outcome is None:
        assert (await polite().fetch(f"{base}/article")).title
        return
    with pytest.raises(AddressRefused, match=outcome):
        await polite().fetch(f"{base}/article")
    assert web.count("/article") == 0


async def test_it_is_not_asked_where_the_operator_says_so(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    web.robots = PlainTextResponse(CLOSED)
    assert (await open_fetcher(robots="ignore").fetch(f"{base}/article")).title
    assert web.count("/robots.txt") == 0


# ---------------------------------------------------------------- who asks


@pytest.mark.parametrize("contact", ["https://corp.example/bots", "ops@corp.example"])
async def test_the_operator_can_be_reached(
    polite: OpenFetcher, web: Web, base: str, contact: str
) -> None:
    await polite(contact=contact).fetch(f"{base}/article")
    for seen in web.seen:
        assert seen.headers["user-agent"].startswith(f"footnote-bot/{__version__} (+{contact}; ")


@pytest.mark.parametrize(
    "contact", ["nobody", "a b@c.de", "https://", "x@y.zz\r\nX-Evil: 1", "me(@)x.yz", "é@x.yz"]
)
def test_what_is_no_address_is_no_contact(contact: str) -> None:
    with pytest.raises(InvalidSetting, match="FOOTNOTE_CONTACT"):
        load_settings(contact=contact)
