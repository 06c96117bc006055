"""A TLS server that speaks HTTP/2, for what a plain loopback server cannot show.

Its certificate is for ``wiki.test``, signed by the authority in ``AUTHORITY``; both were made for
these tests and are trusted by nobody else.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h2.config
import h2.connection
import h2.events

HOST = "wiki.test"
AUTHORITY = Path(__file__).parent / "tls" / "ca.pem"
_CERTIFICATE = Path(__file__).parent / "tls" / "site.pem"


@dataclass
class Http2Site:
    """Answers every request with ``html``, or a redirect to ``location`` if there is one; with
    ``flood`` by headers and then these frames again and again, until the client leaves.

    ``names`` are the server names that TLS asked for, ``authorities`` those of the requests.
    """

    html: str = ""
    location: str = ""
    flood: bytes = b""
    port: int = 0
    connections: int = 0
    names: list[str | None] = field(default_factory=list)
    authorities: list[str] = field(default_factory=list)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        peer = h2.connection.H2Connection(config)
        peer.initiate_connection()
        writer.write(peer.data_to_send())
        while data := await reader.read(65_536):
            for event in peer.receive_data(data):
                if isinstance(event, h2.events.RequestReceived) and event.stream_id is not None:
                    self._answer(peer, event)
            writer.write(peer.data_to_send())
            while self.flood and self.authorities:
                writer.write(self.flood)
                try:
                    await writer.drain()
                except OSError:
                    break
                await asyncio.sleep(0)
        writer.close()

    def _answer(self, peer: h2.connection.H2Connection, request: h2.events.RequestReceived) -> None:
        headers = {str(name): str(value) for name, value in request.headers or ()}
        self.authorities.append(headers[":authority"])
        stream = request.stream_id or 0
        status = [(":status", "302"), ("location", self.location)]
        if not self.location:
            status = [(":status", "200"), ("content-type", "text/html")]
        peer.send_headers(stream, status)
        if self.flood:
            return
        data = self.html.encode()
        for at in range(0, len(data), peer.max_outbound_frame_size):
            peer.send_data(stream, data[at : at + peer.max_outbound_frame_size])
        peer.end_stream(stream)


@asynccontextmanager
async def http2_site(site: Http2Site) -> AsyncIterator[Http2Site]:
    """Serve the site on a free loopback port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_CERTIFICATE)
    context.set_alpn_protocols(["h2"])
    context.sni_callback = lambda _socket, name, _context: site.names.append(name)
    server = await asyncio.start_server(site.converse, "127.0.0.1", 0, ssl=context)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site
