"""No password is printed, whatever the address looks like that holds it."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import HIDDEN, StorageUnavailable, without_credentials
from bot.core.logs import hide_credentials
from bot.operation.configuration import load_settings

MARK = "s3cr3t"
DATABASES = ("postgresql+psycopg", "postgresql", "redis", "amqp", "socks5")
WEB = ("http", "https", "HTTPS")
printable = "".join(each for each in string.printable if not each.isspace() and each not in "'\"<>")

hosts = st.sampled_from(("db.example.org", "10.0.0.7", "[fd00::7]", "localhost"))
ports = st.one_of(st.just(""), st.integers(1, 65_535).map(lambda port: f":{port}"))
users = st.text(string.ascii_letters + string.digits, min_size=0, max_size=8)
around = st.text(printable, max_size=6)
paths = st.sampled_from(("", "/", "/footnote", "/a/b.html", "/@someone/post", "/search?q=a%40b"))
parameters = st.sampled_from(
    (
        "password",
        "sslpassword",
        "token",
        "access_token",
        "api_key",
        "apikey",
        "key",
        "client_secret",
    )
)


@given(st.sampled_from(DATABASES), users, around, around, hosts, ports, paths)
def test_a_password_of_a_database_is_hidden_whatever_is_in_it(
    scheme: str, user: str, before: str, after: str, host: str, port: str, path: str
) -> None:
    address = f"{scheme}://{user}:{before}{MARK}{after}@{host}{port}{path}"
    shown = without_credentials(address)
    assert MARK not in shown
    assert without_credentials(shown) == shown
    if "@" not in path:
        assert shown == f"{scheme}://{HIDDEN}@{host}{port}{path}"


@given(st.sampled_from(WEB), users, around, around, hosts, ports, paths)
def test_a_quoted_password_of_the_web_is_hidden_and_nothing_else(
    scheme: str, user: str, before: str, after: str, host: str, port: str, path: str
) -> None:
    password = quote(f"{before}{MARK}{after}", safe="")
    shown = without_credentials(f"{scheme}://{user}:{password}@{host}{port}{path}")
    assert MARK not in shown
    assert shown.partition("@")[2].startswith(f"{host}{port}")


@given(st.sampled_from(WEB), users, st.text(printable, min_size=1, max_size=6), hosts)
def test_a_password_of_the_web_that_should_have_been_quoted_is_hidden(
    scheme: str, user: str, after: str, host: str
) -> None:
    assert MARK not in without_credentials(f"{scheme}://{user}:x{MARK}{after}@{host}/")


@given(st.sampled_from((*WEB, *DATABASES)), hosts, ports, parameters, around)
def test_a_secret_parameter_is_hidden(
    scheme: str, host: str, port: str, name: str, around: str
) -> None:
    value = quote(f"{around}{MARK}{around}", safe="")
    shown = without_credentials(f"{scheme}://{host}{port}/x?a=1&{name}={value}&b=2#part")
    assert shown == f"{scheme}://{host}{port}/x?a=1&{name}={HIDDEN}&b=2#part"


@given(st.sampled_from(WEB), hosts, ports, paths)
def test_an_address_without_credentials_stays_as_it_is(
    scheme: str, host: str, port: str, path: str
) -> None:
    address = f"{scheme}://{host}{port}{path}"
    assert without_credentials(f"See {address} and write to a@b.example.") == (
        f"See {address} and write to a@b.example."
    )


@given(st.text(max_size=200))
def test_any_text_can_be_hidden_in_and_twice_is_once(text: str) -> None:
    once = without_credentials(text)
    assert without_credentials(once) == once


def test_our_own_advice_stays_readable() -> None:
    advice = "write it like postgresql+psycopg://user:password@host/footnote"
    assert without_credentials(advice) == advice


def test_the_words_of_a_driver_are_hidden_in() -> None:
    told = f'connection to "host=db user=me password={MARK} port=5432" failed'
    assert MARK not in without_credentials(told)


ADDRESS = f"postgresql+psycopg://me:{MARK}@db.example.org/footnote"


def test_errors_logs_and_settings_show_none() -> None:
    error = StorageUnavailable(f"{ADDRESS} is away.", detail=f"at {ADDRESS}")
    settings = load_settings(
        database_url=ADDRESS, reader_url=f"https://me:{MARK}@reader.example", providers="local"
    )
    line = hide_credentials(None, "info", {"event": ADDRESS, "error": ValueError(ADDRESS), "n": 1})
    for shown in (
        str(error),
        repr(error),
        error.sentence,
        repr(settings),
        str(settings),
        str(line),
    ):
        assert MARK not in shown
        assert HIDDEN in shown
    assert settings.database == ADDRESS
    assert line["n"] == 1


@pytest.mark.parametrize("level", ["warning", "debug"])
def test_a_fault_of_ours_shows_none(
    level: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import typer

    from bot.cli.command import sentences

    monkeypatch.setenv("FOOTNOTE_LOG_LEVEL", level)
    with pytest.raises(typer.Exit), sentences():
        raise RuntimeError(f"cannot open {ADDRESS}")
    told = capsys.readouterr().err
    assert "db.example.org" in told
    assert MARK not in told
