"""The way by which people come to a web program: a relay that knows where it listens now.

    door = network.opened(Door(network, where))    # where() → ("127.0.0.1", 8123), or None
    ... people open http://127.0.0.1:{door.port} ...
    door.lose_answer()     # what is posted next takes effect, and nobody learns of it
    door.watch(witness)    # shown all that changes what people see

Each connection is to carry one request (``Connection: close``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.fakes.proxy import CHUNK, Link, Network, Streams

Where = Callable[[], tuple[str, int] | None]
Witness = Callable[[bool], bool]

_NEWS = (b"event: ", b"HTTP/1.1 2", b"HTTP/1.1 3")  # of a stream, or that something was taken in


class Door(Link):
    """See the module docstring; a ``Link`` otherwise."""

    def __init__(self, network: Network, where: Where) -> None:
        super().__init__(network, self._find)
        self._where = where
        self._lost = 0
        self._witness: Witness = lambda done: True

    def lose_answer(self) -> None:
        """The answer to the next request that changes anything does not arrive."""
        self._lost += 1

    def watch(self, witness: Witness) -> None:
        """Show ``witness`` each answer to a request that changes something, and each event of a
        stream: False before it arrives, True after. If it returns False before, it never does."""
        self._witness = witness

    async def _find(self) -> Streams:
        found = self._where()
        if found is None:
            raise ConnectionRefusedError
        return await asyncio.open_connection(*found)

    async def _carry(self, program: Streams, peer: Streams) -> None:
        (asking, answering), (answers, to_peer) = program, peer
        try:
            head = await asking.readuntil(b"\r\n")
        except asyncio.IncompleteReadError:
            return  # it was opened, and nothing was asked
        changes = head.startswith(b"POST ")
        await self._pass()
        to_peer.write(head)
        rest = asyncio.create_task(self._relay(asking, to_peer))
        try:
            while chunk := await answers.read(CHUNK):
                await self._pass()
                if changes and self._lost:
                    self._lost -= 1
                    raise ConnectionAbortedError
                is_news = any(sign in chunk for sign in (_NEWS if changes else _NEWS[:1]))
                if is_news and not await asyncio.to_thread(self._witness, False):
                    raise ConnectionAbortedError
                answering.write(chunk)
                await answering.drain()
                if is_news and not await asyncio.to_thread(self._witness, True):
                    raise ConnectionAbortedError
            answering.close()
            await answering.wait_closed()
        finally:
            rest.cancel()
            await asyncio.gather(rest, return_exceptions=True)
