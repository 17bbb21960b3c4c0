"""Limits on connections: how many there are, and how long they may keep the server waiting."""

from __future__ import annotations

import asyncio
import json
import socket

from uvicorn.protocols.http.h11_impl import H11Protocol

from corefine.web.peers import is_loopback

MOST_CONNECTIONS = 500
MOST_OF_ONE_ADDRESS = 100
"""Connections from one address. Loopback has no such limit, because a proxy here holds all its clients' connections."""
REQUEST_SECONDS = 15.0
"""Time for the headers of a request to arrive, from its first byte or from the beginning of the connection."""
READ_SECONDS = 60.0
"""Time for the client to read what was sent."""

_BODY = json.dumps({"error": {"kind": "unavailable", "message": "too many connections are open: try again"}}).encode()
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)


class BoundedConnection(H11Protocol):
    """uvicorn's protocol with timeouts; by itself it waits for slow clients for ever."""

    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # finds peers that are gone
        if self._is_one_too_many():
            transport.write(FULL)
            transport.close()
        else:
            self._expect_request()

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and self._is_between_requests():
            self._expect_request()
        super().data_received(data)
        if not self._is_between_requests():
            self._end_deadline()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_deadline()
        if self._stalled is not None:
            self._stalled.cancel()
        super().connection_lost(exc)

    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _is_one_too_many(self) -> bool:
        if len(self.connections) > MOST_CONNECTIONS:
            return True
        if self.client is None or is_loopback(self.client[0]):
            return False
        peers = [getattr(other, "client", None) for other in self.connections]
        return len([peer for peer in peers if peer and peer[0] == self.client[0]]) > MOST_OF_ONE_ADDRESS

    def _expect_request(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
