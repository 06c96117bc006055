"""The reader's clock: what was chosen, what the browser tells, and what is neither."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from starlette.requests import Request

from adapters.web.display import clock_of, zone_of, zones

SUMMER, WINTER = datetime(2026, 7, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 12, tzinfo=UTC)


def request(**cookies: str) -> Request:
    told = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return Request({"type": "http", "headers": [(b"cookie", told.encode())]})


def ahead(at: datetime, **cookies: str) -> float:
    """The hours that the clock is ahead of UTC."""
    offset = at.astimezone(clock_of(request(**cookies))).utcoffset()
    assert offset is not None
    return offset / timedelta(hours=1)


def test_zones_are_places_and_utc() -> None:
    assert {"UTC", "Asia/Tokyo", "Europe/Berlin", "America/Argentina/Ushuaia"} <= {*zones()}
    assert not [name for name in zones() if name.startswith(("Etc/", "posix/"))]
    assert list(zones()[1:]) == sorted(zones()[1:])


def test_the_chosen_zone_goes_before_the_browsers() -> None:
    cookies = {"footnote_zone": "Asia/Tokyo", "footnote_offset": "300.America/New_York"}
    assert zone_of(request(**cookies)) == "Asia/Tokyo"
    assert ahead(WINTER, **cookies) == 9


def test_a_browser_that_names_its_zone_is_right_in_summer_and_winter() -> None:
    assert ahead(WINTER, footnote_offset="-60.Europe/Berlin") == 1
    assert ahead(SUMMER, footnote_offset="-60.Europe/Berlin") == 2
    assert ahead(SUMMER, footnote_offset="-60.Mars/Olympus_Mons") == 1
    assert ahead(SUMMER, footnote_offset="-345") == 5.75


def test_what_is_no_clock_is_utc() -> None:
    for told in ["", "x", "99999", "--1", "1081", "60.", "60.<b>", "60.a b"]:
        assert ahead(SUMMER, footnote_offset=told) == 0


def test_what_is_no_zone_is_not_taken() -> None:
    for name in ["", "Etc/GMT+5", "../../etc/passwd", "europe/berlin", "x" * 5000]:
        assert zone_of(request(footnote_zone=name)) == ""
