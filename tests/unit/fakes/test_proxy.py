"""The relay: what a program sees of a network that is cut, stalls, or leads nowhere."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.fakes.proxy import HOST, Link, Network


@pytest.fixture
def link() -> Iterator[Link]:
    """A way to a peer that says everything back."""
    listener = socket.create_server((HOST, 0))

    def echo(connection: socket.socket) -> None:
        with connection:
            while said := _received(connection):
                connection.sendall(said)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    with Network() as network:
        yield network.to(HOST, listener.getsockname()[1])
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(100)
    except OSError:
        return b""


def connected(link: Link) -> socket.socket:
    return socket.create_connection((HOST, link.port), timeout=10)


def told_back(connection: socket.socket, words: bytes = b"hello") -> bytes:
    connection.sendall(words)
    return connection.recv(100)


def test_a_cut_resets_what_is_open_and_lets_new_ones_through(link: Link) -> None:
    with connected(link) as one:
        told_back(one)
        link.cut()
        with pytest.raises(ConnectionResetError):
            one.recv(1)
    with connected(link) as other:
        assert told_back(other) == b"hello"


def test_a_stall_holds_everything_until_it_is_healed(link: Link) -> None:
    with connected(link) as one:
        told_back(one)
        link.stall()
        with connected(link) as other:
            for connection in (one, other):
                connection.sendall(b"later")
                connection.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    connection.recv(1)
                connection.settimeout(10)
            link.heal()
            assert (one.recv(100), other.recv(100)) == (b"later", b"later")


def test_a_closed_one_resets_and_refuses_until_it_is_healed(link: Link) -> None:
    with connected(link) as one:
        told_back(one)
        link.close()
        with pytest.raises(ConnectionResetError):
            one.recv(1)
    with pytest.raises(ConnectionRefusedError):
        connected(link)
    link.close()  # once more is no harm
    link.heal()
    with connected(link) as other:
        assert told_back(other) == b"hello"


def test_what_is_under_way_in_a_stall_may_be_cut(link: Link) -> None:
    with connected(link) as one:
        told_back(one)
        link.stall()
        one.sendall(b"lost")
        link.cut()
        link.heal()
        with pytest.raises(ConnectionResetError):
            one.recv(1)
