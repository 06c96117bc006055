"""The address rule: no spelling, form or name leads to an address that is not public."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.core.egress import Egress, Target
from bot.core.errors import AddressRefused, InvalidSetting, PageUnreadable, Unavailable
from bot.pages import urls
from bot.pages.guard import Allow, Guard, Route, is_public

PUBLIC = "93.184.215.14"


class Names:
    """A resolver with a table, which counts; a list of lists is answered one after the other."""

    def __init__(self, **table: Sequence[str]) -> None:
        self.table = {name.replace("_", "."): list(found) for name, found in table.items()}
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        if host not in self.table:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.table[host]


async def where(host: str, names: Names, *allow: str, port: int = 80) -> list[str]:
    guard = Guard(Allow.parse(allow), names)
    return [str(address) for address in await guard.addresses(host, port)]


# ---------------------------------------------------------------- what is public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255",
        "192.168.1.1", "100.64.0.1", "100.127.255.255",
        "169.254.169.254",  # metadata of AWS, Azure, Google, DigitalOcean
        "169.254.170.2",  # credentials of AWS tasks
        "100.100.100.200",  # metadata of Alibaba
        "192.0.0.192",  # metadata of Oracle
        "168.63.129.16",  # Azure's platform
        "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.88.99.1", "192.0.0.1",
        "::", "::1", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0", "fec0::1", "fc00::1",
        "fd00:ec2::254", "ff02::1", "2001:db8::1", "3fff::1", "100::1", "5f00::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:93.184.215.14",  # IPv4-mapped
        "::127.0.0.1", "::10.0.0.1",  # IPv4-compatible
        "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1",  # NAT64
        "64:ff9b:1::10.0.0.1",  # local NAT64
        "2002:7f00:1::", "2002:a00:1::1", "2002:5db8:d70e::1",  # 6to4
        "2001:0:5db8:d70e::1",  # Teredo
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("93.184.215.14", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1"),
        *("169.253.0.1", "223.255.255.255", "198.17.0.1", "198.20.0.1", "11.0.0.1", "1.1.1.1"),
        *("2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001::200e"),
        "64:ff9b::5db8:d70e",  # what an IPv6-only network sees of an IPv4 site
    ],
)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_public_that_python_calls_private(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast:
        assert not is_public(address)


_V6_RANGES = ["::/64", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
              "fc00::/7", "fe80::/10", "ff00::/8", "2000::/3"]  # fmt: skip


@given(st.ip_addresses(v=6) | st.sampled_from(_V6_RANGES).flatmap(
    lambda network: st.ip_addresses(network=network)))  # fmt: skip
def test_no_ipv6_address_is_public_that_python_calls_private(address: IPv6Address) -> None:
    if not address.is_global or address.is_multicast:
        assert not is_public(address)


_PRIVATE_V4 = st.sampled_from(
    ["10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
     "100.64.0.0/10", "0.0.0.0/8", "224.0.0.0/4"]
).flatmap(lambda network: st.ip_addresses(network=network)).map(
    lambda address: IPv4Address(int(address))
)  # fmt: skip


@given(_PRIVATE_V4)
def test_no_wrapping_makes_a_private_ipv4_address_public(address: IPv4Address) -> None:
    number = int(address)
    assert not is_public(IPv6Address(number))
    assert not is_public(IPv6Address((0xFFFF << 32) | number))
    assert not is_public(IPv6Address(int(IPv6Address("64:ff9b::")) | number))
    assert not is_public(IPv6Address((0x2002 << 112) | (number << 80)))
    assert not is_public(IPv6Address((0x20010000 << 96) | (number ^ 0xFFFFFFFF)))


def _spellings(address: IPv4Address) -> st.SearchStrategy[str]:
    """The same address in parts of every base, in 1 to 4 parts, percent-encoded or full-width."""
    number = int(address)
    bytes_ = address.packed

    def joined(count: int, bases: list[str]) -> str:
        parts = [*bytes_[: count - 1], int.from_bytes(bytes_[count - 1 :], "big")]
        return ".".join(base.format(part) for base, part in zip(bases, parts, strict=False))

    plain = st.builds(
        joined,
        st.integers(1, 4),
        st.lists(
            st.sampled_from(["{}", "0x{:x}", "0X{:X}", "0{:o}", "000{:o}"]), min_size=4, max_size=4
        ),
    )
    full_width = str.maketrans("0123456789", "０１２３４５６７８９")
    return st.one_of(
        plain,
        plain.map(lambda text: text + "."),
        plain.map(lambda text: "".join(f"%{ord(character):02x}" for character in text)),
        plain.map(lambda text: text.translate(full_width).replace(".", "。")),
        st.sampled_from([
            f"[::ffff:{address}]", f"[::{address}]", f"[64:ff9b::{address}]",
            f"[0:0:0:0:0:ffff:{number >> 16:x}:{number & 0xFFFF:x}]",
            f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]",
        ]),
    )  # fmt: skip


@given(_PRIVATE_V4.flatmap(_spellings))
@example("127.1")
@example("2852039166")  # 169.254.169.254
@example("0xa9fea9fe")
@example("[::ffff:a9fe:a9fe]")
@example("localhost")
@example("LOCALHOST.")
@example("foo.localhost")
async def test_no_spelling_of_a_private_address_passes(spelling: str) -> None:
    names = Names(localhost=["127.0.0.1"])
    with pytest.raises(AddressRefused):
        await where(urls.parse(f"http://{spelling}/").host, names)
    assert not names.asked, "what is refused by its spelling is not looked up"


@given(_PRIVATE_V4.flatmap(_spellings))
async def test_no_spelling_passes_even_past_the_url_parser(spelling: str) -> None:
    """The guard judges the host it is given, whoever parsed it."""
    host = spelling.strip("[]")
    if not host.isascii() or "%" in host:
        return
    with pytest.raises(AddressRefused):
        await where(host, Names())


# ---------------------------------------------------------------- names


async def test_a_public_name_gives_its_addresses_in_order_and_is_resolved_once() -> None:
    names = Names(example_org=["2606:4700::1", PUBLIC, PUBLIC])
    assert await where("Example.ORG.", names, port=443) == ["2606:4700::1", PUBLIC]
    assert names.asked == [("example.org", 443)]


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["::1"],
        ["10.0.0.5"],
        ["fd00:ec2::254"],
        ["169.254.169.254"],
        ["fe80::1%eth0"],
        ["::ffff:192.168.0.1"],
        [PUBLIC, "192.168.0.1"],
        ["192.168.0.1", PUBLIC],
        ["2606:4700::1", "fc00::1"],
    ],
)
async def test_a_name_with_any_private_address_is_refused(addresses: list[str]) -> None:
    with pytest.raises(AddressRefused) as refusal:
        await where("evil.test", Names(evil_test=addresses))
    assert "evil.test" in refusal.value.sentence
    assert "FOOTNOTE_FETCH_ALLOW" in refusal.value.sentence
    private = next(address for address in addresses if address != PUBLIC)
    assert private not in refusal.value.sentence, "a chat is not told what a network looks like"


@pytest.mark.parametrize(
    "name",
    ["metadata.google.internal", "metadata", "metadata.goog", "ip-10-0-0-1.ec2.internal",
     "instance-data", "localhost", "db.localhost", "printer.local", "nas.home.arpa"],
)  # fmt: skip
async def test_a_private_name_is_refused_even_with_a_public_address(name: str) -> None:
    names = Names(**{name.replace(".", "_"): [PUBLIC]})
    with pytest.raises(AddressRefused):
        await where(name, names)
    with pytest.raises(AddressRefused):
        await where(name, names, "10.0.0.0/8")


async def test_a_name_that_does_not_exist_is_unreadable() -> None:
    with pytest.raises(PageUnreadable, match=r"no site named nowhere\.test"):
        await where("nowhere.test", Names())


async def test_a_name_without_addresses_is_unreadable() -> None:
    with pytest.raises(PageUnreadable, match=r"no site named empty\.test"):
        await where("empty.test", Names(empty_test=[]))


@pytest.mark.parametrize(
    "error",
    [socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), OSError("no network"),
     UnicodeError("label too long")],
)  # fmt: skip
async def test_a_resolver_that_fails_is_worth_another_try(error: Exception) -> None:
    async def failing(host: str, port: int) -> Sequence[str]:
        raise error

    with pytest.raises(Unavailable, match=r"example\.org could not be looked up"):
        await Guard(Allow(), failing).addresses("example.org", 80)


# ---------------------------------------------------------------- what the operator lists


@pytest.mark.parametrize(
    ("entry", "host", "port", "permitted"),
    [
        ("wiki.corp", "wiki.corp", 80, True),
        ("Wiki.CORP.", "wiki.corp", 443, True),
        ("wiki.corp:8080", "wiki.corp", 8080, True),
        ("wiki.corp:8080", "wiki.corp", 80, False),
        ("wiki.corp", "other.corp", 80, False),
        ("wiki.corp", "evil.wiki.corp", 80, False),
        ("bücher.corp", "xn--bcher-kva.corp", 80, True),
        ("10.0.0.0/8", "wiki.corp", 80, True),
        ("10.1.2.3", "wiki.corp", 80, True),
        ("10.1.2.3:8080", "wiki.corp", 8080, True),
        ("10.1.2.3:8080", "wiki.corp", 80, False),
        ("10.0.0.0/8:8080", "wiki.corp", 8080, True),
        ("10.0.0.0/8:8080", "wiki.corp", 80, False),
        ("10.1.2.0/31", "wiki.corp", 80, False),
        ("10.9.9.9/8", "wiki.corp", 80, True),
        ("wiki.corp:1", "wiki.corp", 1, True),
        ("wiki.corp:65535", "wiki.corp", 65535, True),
        ("[fd00::5]", "fd00::5", 443, True),
        ("192.168.0.0/16", "wiki.corp", 80, False),
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "167838211", 80, True),
        ("10.0.0.0/8", "::ffff:10.1.2.3", 80, True),
        ("10.0.0.0/8", "64:ff9b::a01:203", 80, True),
        ("10.0.0.0/8", "2002:a01:203::1", 80, False),
        ("10.0.0.0/8", "127.0.0.1", 80, False),
        ("::1", "::1", 80, True),
        ("[::1]:8080", "::1", 8080, True),
        ("[::1]:8080", "::1", 80, False),
        ("fd00::/8", "fd00::5", 80, True),
        ("[fd00::/8]:443", "fd00::5", 443, True),
        ("[fd00::/8]:443", "fd00::5", 80, False),
        ("localhost", "localhost", 80, True),
        ("localhost", "127.0.0.1", 80, False),
        ("127.0.0.1", "localhost", 80, True),
        ("db.corp.internal", "db.corp.internal", 80, True),
        ("10.0.0.0/8", "db.corp.internal", 80, True),
    ],
)
async def test_exactly_what_is_listed_is_permitted(
    entry: str, host: str, port: int, permitted: bool
) -> None:
    names = Names(
        wiki_corp=["10.1.2.3"], localhost=["127.0.0.1"], xn__=[], db_corp_internal=["10.0.0.9"]
    )
    names.table |= {"other.corp": ["10.9.9.9"], "evil.wiki.corp": ["127.0.0.1"]}
    names.table |= {"xn--bcher-kva.corp": ["10.0.0.8"]}
    if permitted:
        assert await where(host, names, entry, port=port)
    else:
        with pytest.raises(AddressRefused):
            await where(host, names, entry, port=port)


async def test_listing_one_network_does_not_open_the_others_of_the_same_name() -> None:
    with pytest.raises(AddressRefused):
        await where("two.corp", Names(two_corp=["10.0.0.1", "192.168.0.1"]), "10.0.0.0/8")


async def test_listing_something_leaves_public_sites_readable() -> None:
    assert await where("example.org", Names(example_org=[PUBLIC]), "10.0.0.0/8") == [PUBLIC]


@pytest.mark.parametrize(
    "entry",
    ["", "http://wiki.corp", "user@wiki.corp", "wiki.corp:port", "wiki.corp:0", "wiki.corp:65536",
     "wiki.corp:99999", "wiki.corp:²",
     "wiki.corp:", "10.0.0.0/33", "10.0.0.256", "10.0.0.0/8/8", "1.2.3.4.5", "[::1", "[::1]x",
     "fd00::/200", "::1::2", "*.corp", "wiki corp", "a..b"],
)  # fmt: skip
def test_an_entry_that_means_nothing_is_a_setting_to_correct(entry: str) -> None:
    with pytest.raises(InvalidSetting, match="FOOTNOTE_FETCH_ALLOW") as refusal:
        Allow.parse(["wiki.corp", entry])
    assert repr(entry) in refusal.value.sentence


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("http://wiki.corp", "is a URL"),
        ("[::1]x", "does not close"),
        ("wiki.corp:0", "number from 1 to 65535"),
        ("10.0.0.0/33", "not a valid address or network"),
        ("10.0.0.256", "not a valid address or network"),
        ("*.corp", "not a valid host name"),
    ],
)
def test_the_refusal_of_an_entry_says_what_is_wrong_with_it(entry: str, reason: str) -> None:
    with pytest.raises(InvalidSetting, match=reason):
        Allow.parse([entry])


@pytest.mark.parametrize("host", ["1:2", "::1::2", "1.2.3.256", "1.2.3.4.5"])
async def test_what_looks_like_an_address_and_is_none_is_refused(host: str) -> None:
    with pytest.raises(AddressRefused, match="not a valid address"):
        await where(host, Names())


@given(st.text(max_size=30))
def test_no_entry_breaks_the_parser(entry: str) -> None:
    try:
        Allow.parse([entry])
    except InvalidSetting:
        return


# ---------------------------------------------------------------- ports


@pytest.mark.parametrize(
    "port", [1, 22, 25, 79, 81, 110, 2375, 3306, 5432, 6379, 8080, 9200, 65535]
)
@pytest.mark.parametrize("host", ["example.org", "93.184.215.14", "0x5db8d70e", "2606:4700::1"])
async def test_only_the_webs_own_ports_are_open(host: str, port: int) -> None:
    with pytest.raises(AddressRefused):
        await where(host, Names(example_org=["93.184.215.14"]), port=port)


@pytest.mark.parametrize(
    "entry", [":8080", "example.org", "example.org:8080", "93.184.215.0/24", "93.184.215.14:8080"]
)
async def test_an_operator_opens_a_port(entry: str) -> None:
    names = Names(example_org=["93.184.215.14"])
    assert await where("example.org", names, entry, port=8080) == ["93.184.215.14"]


@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        (":8080", "example.org", 8081),
        (":8080", "10.0.0.1", 8080),
        (":8080", "localhost", 8080),
        ("example.org:8080", "example.org", 8081),
        ("10.0.0.0/8", "example.org", 8080),
    ],
)
async def test_no_entry_opens_more_than_it_says(entry: str, host: str, port: int) -> None:
    with pytest.raises(AddressRefused):
        await where(host, Names(example_org=["93.184.215.14"]), entry, port=port)


async def test_a_refused_port_says_the_way_out() -> None:
    with pytest.raises(AddressRefused, match=r"example\.org:22 or :22 in FOOTNOTE_FETCH_ALLOW"):
        await where("example.org", Names(example_org=["93.184.215.14"]), port=22)


# ---------------------------------------------------------------- behind a proxy


@pytest.mark.parametrize(
    ("host", "port", "allow", "is_refused"),
    [
        ("example.org", 443, [], False),
        ("example.org", 22, [], True),
        ("example.org", 22, [":22"], False),
        (PUBLIC, 443, [], False),
        (PUBLIC, 22, [], True),
        ("10.1.2.3", 443, [], True),
        ("10.1.2.3", 443, ["10.0.0.0/8"], False),
        ("::1", 443, [], True),
        ("localhost", 443, [], True),
        ("printer.local", 443, [], True),
        ("wiki.internal", 443, [], True),
        ("wiki.internal", 443, ["wiki.internal"], False),
    ],
)
async def test_a_name_that_the_proxy_looks_up_is_judged_by_itself(
    host: str, port: int, allow: list[str], is_refused: bool
) -> None:
    proxy = "http://proxy.example:3128"
    names = Names()
    guard = Guard(Allow.parse(allow), names, Egress(proxy, proxy, target="unresolved"))
    if is_refused:
        with pytest.raises(AddressRefused):
            await guard.route("https", host, port)
    else:
        assert await guard.route("https", host, port) == Route(host, port, (), proxy)
    assert names.asked == []


@pytest.mark.parametrize(
    ("target", "addresses"), [("name", []), ("address", [PUBLIC])], ids=["name", "address"]
)
async def test_a_proxy_is_asked_for_a_name_or_for_its_address(
    target: Target, addresses: list[str]
) -> None:
    proxy = "http://proxy.example:3128"
    guard = Guard(Allow(), Names(example_org=[PUBLIC]), Egress(proxy, proxy, target=target))
    route = await guard.route("https", "example.org", 443)
    assert [str(address) for address in route.addresses] == addresses
    assert route.proxy == proxy
