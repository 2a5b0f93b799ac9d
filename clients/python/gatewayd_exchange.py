"""Client of the gatewayd exchange API (docs/exchange-api.md): REST, signed orders, and a book built from the WebSocket.

Needs Python 3.9 and nothing else. Amounts and prices are decimal.Decimal; nothing is a float.

    from decimal import Decimal
    from gatewayd_exchange import Client, BUY

    c = Client("http://127.0.0.1:8090", key=..., secret=...)
    placed = c.create_order("DEMO-000_USDT-000", BUY, Decimal("10"), Decimal("1"), client_order_id="my-1")
    c.cancel_order("DEMO-000_USDT-000", placed["orderId"])
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import socket
import ssl
import struct
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Dict, Iterator, List, Optional, Tuple

BUY, SELL = 0, 1

#: Statuses of orders that change no more.
FINAL = frozenset({4, 7, 8, 9, 10})

MAX_MESSAGE = 8 << 20  # bytes of one answer or frame that are read


class ExchangeError(Exception):
    """The API's answer that a request was not carried out."""

    def __init__(self, code: int, message: str, retry_after: Optional[int] = None) -> None:
        super().__init__(f"code {code}: {message}")
        self.code, self.message, self.retry_after = code, message, retry_after


class Gap(Exception):
    """An update of a book is missing: the book has to be asked for again."""


@dataclass
class Usage:
    """What of the API key's calls is used, after the last private call."""

    used: int = 0
    limit: int = 0
    reset: int = 0  # seconds


@dataclass
class Book:
    """A book that is built from the pushes of market.<symbol>.depth.updates."""

    symbol: str = ""
    last: Optional[int] = None  # number of the last change; None without a snapshot
    asks: Dict[Decimal, Decimal] = field(default_factory=dict)
    bids: Dict[Decimal, Decimal] = field(default_factory=dict)

    def apply(self, update: Dict[str, Any]) -> None:
        """Takes a push; Gap when one before it is missing."""
        if update["snapshot"]:
            self.symbol, self.asks, self.bids = update["s"], {}, {}
        elif self.last is None or update["first"] != self.last + 1:
            self.last = None
            raise Gap(update["s"])
        self.last = update["last"]
        for side, levels in ((self.asks, update["asks"]), (self.bids, update["bids"])):
            for price, quantity in levels:
                if Decimal(quantity) == 0:
                    side.pop(Decimal(price), None)
                else:
                    side[Decimal(price)] = Decimal(quantity)

    def levels(self) -> Tuple[List[Tuple[Decimal, Decimal]], List[Tuple[Decimal, Decimal]]]:
        """Asks ascending and bids descending, as the depth query has them."""
        return sorted(self.asks.items()), sorted(self.bids.items(), reverse=True)


def sign(secret: str, params: Dict[str, str]) -> str:
    """HMAC-SHA-256 of name=value pairs, sorted by name and joined by &, the values as they are sent."""
    text = "&".join(f"{name}={params[name]}" for name in sorted(params))
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


class Client:
    """The API under one base address. It may be used by one thread at a time."""

    def __init__(self, base: str, key: str = "", secret: str = "", timeout: float = 30.0) -> None:
        self.base, self.key, self.secret, self.timeout = base.rstrip("/"), key, secret, timeout
        self.usage = Usage()

    # Public queries.

    def time(self) -> int:
        """The server's clock, Unix milliseconds."""
        return self._public("time")

    def markets(self) -> List[Dict[str, Any]]:
        return self._public("markets")

    def market(self, symbol: str) -> Dict[str, Any]:
        return self._public("market", symbol=symbol)

    def ticker(self, symbol: str) -> Optional[Dict[str, Any]]:
        found = self._public("ticker/24hr", symbols=symbol)
        return found[0] if found else None

    def depth(self, symbol: str, limit: int = 100) -> Dict[str, Any]:
        return self._public("depth", symbol=symbol, limit=limit)

    def balance(self, address: str) -> Dict[str, Dict[str, Decimal]]:
        found = self._public("balance", address=address)
        return {token: {name: Decimal(amount) for name, amount in one.items()} for token, one in found.items()}

    def order(self, address: str, order_id: str = "", client_order_id: str = "") -> Optional[Dict[str, Any]]:
        """An order by either id; None where the account has no such order."""
        return self._public("order", address=address, orderId=order_id, clientOrderId=client_order_id)

    def open_orders(self, address: str, symbol: str = "", limit: int = 100, offset: int = 0) -> List[Dict[str, Any]]:
        return self._public("orders/open", address=address, symbol=symbol, limit=limit, offset=offset)["order"]

    def orders(self, address: str, symbol: str = "", limit: int = 100, offset: int = 0) -> List[Dict[str, Any]]:
        """Newest first."""
        return self._public("orders", address=address, symbol=symbol, limit=limit, offset=offset)["order"]

    def trades(self, symbol: str, order_id: str = "", limit: int = 100, offset: int = 0) -> List[Dict[str, Any]]:
        """A market's trades, or those of one order, newest first."""
        return self._public("trades/all", symbol=symbol, orderId=order_id, limit=limit, offset=offset)["trade"]

    def my_trades(self, address: str, symbol: str, limit: int = 100) -> List[Dict[str, Any]]:
        """The trades of the account's newest orders in a market, newest first; each says orderId, the account's order."""
        found: List[Dict[str, Any]] = []
        for order in self.orders(address, symbol, limit):
            if Decimal(order["executedQuantity"]) > 0:
                found += [dict(trade, orderId=order["orderId"]) for trade in self.trades(symbol, order["orderId"], limit)]
        return sorted(found, key=lambda trade: trade["time"], reverse=True)[:limit]

    # Signed calls.

    def create_order(self, symbol: str, side: int, amount: Decimal, price: Decimal, client_order_id: str = "", test: bool = False) -> Any:
        """Places a limit order. Under a client_order_id it can be tried again when an answer was lost: it is placed once."""
        params = {"symbol": symbol, "side": side, "amount": f"{amount:f}", "price": f"{price:f}", "clientOrderId": client_order_id}
        return self._private("POST", "order/test" if test else "order", params)

    def cancel_order(self, symbol: str, order_id: str = "", client_order_id: str = "") -> Dict[str, Any]:
        return self._private("DELETE", "order", {"symbol": symbol, "orderId": order_id, "clientOrderId": client_order_id})

    def cancel_orders(self, symbol: str) -> List[Dict[str, Any]]:
        return self._private("DELETE", "orders", {"symbol": symbol})

    # Pushes.

    def stream(self, *topics: str, sign_in: bool = False) -> "Stream":
        """A connection with subscriptions; account.<address> wants sign_in."""
        return Stream(self, list(topics), sign_in)

    def books(self, symbol: str) -> Iterator[Book]:
        """The book of a market after each change, for ever. It connects again, and asks for the book again, where it must."""
        book, topic = Book(symbol), f"market.{symbol}.depth.updates"
        while True:
            try:
                with self.stream(topic) as stream:
                    for push in stream:
                        try:
                            book.apply(push["data"])
                        except Gap:
                            stream.subscribe(topic)
                            continue
                        yield book
            except (OSError, ConnectionError):
                time.sleep(0.5)

    def signed_now(self, params: Dict[str, Any]) -> Dict[str, str]:
        values = {name: str(value) for name, value in params.items() if value != ""}
        values.update(key=self.key, timestamp=str(int(time.time() * 1000)))
        values["signature"] = sign(self.secret, values)
        return values

    def _public(self, path: str, **params: Any) -> Any:
        query = urllib.parse.urlencode({name: value for name, value in params.items() if value != ""})
        return self._call(urllib.request.Request(f"{self.base}/api/v2/{path}?{query}"))

    def _private(self, method: str, path: str, params: Dict[str, Any]) -> Any:
        body = urllib.parse.urlencode(self.signed_now(params)).encode()
        request = urllib.request.Request(f"{self.base}/api/v2/{path}", data=body, method=method)
        request.add_header("Content-Type", "application/x-www-form-urlencoded")
        return self._call(request)

    def _call(self, request: urllib.request.Request) -> Any:
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                headers, text = answer.headers, answer.read(MAX_MESSAGE)
        except urllib.error.HTTPError as refused:
            headers, text = refused.headers, refused.read(MAX_MESSAGE)
        if headers.get("X-RateLimit-Limit"):
            self.usage = Usage(*(int(headers[f"X-RateLimit-{name}"]) for name in ("Used", "Limit", "Reset")))
        try:
            envelope = json.loads(text)
        except ValueError:
            raise ExchangeError(0, "no answer of the API") from None
        if envelope["code"] != 0:
            retry = headers.get("Retry-After")
            raise ExchangeError(envelope["code"], envelope["msg"], int(retry) if retry else None)
        return envelope["data"]


class Stream:
    """A WebSocket connection in the command shape (/v2/ws). Iterating gives pushes with topic and data; it pings by itself."""

    PING = 10.0  # seconds

    def __init__(self, client: Client, topics: List[str], sign_in: bool = False) -> None:
        self.topics = topics
        self._buffer = b""
        at = urllib.parse.urlsplit(client.base)
        secure = at.scheme == "https"
        self._socket: socket.socket = socket.create_connection((at.hostname or "", at.port or (443 if secure else 80)), client.timeout)
        if secure:
            self._socket = ssl.create_default_context().wrap_socket(self._socket, server_hostname=at.hostname)
        self._pinged = time.monotonic()
        self._upgrade(at.netloc, at.path + "/v2/ws")
        self._socket.settimeout(self.PING / 2)
        if sign_in:
            self._say(dict(client.signed_now({}), command="auth"))
        self.subscribe(*topics)

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def subscribe(self, *topics: str) -> None:
        self._say({"command": "sub", "params": list(topics)})

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        while True:
            message = json.loads(self._frame())
            if message.get("code"):
                raise ExchangeError(message["code"], message.get("msg", ""))
            if message.get("event") == "push":
                yield message

    def _upgrade(self, host: str, path: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                              f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        while b"\r\n\r\n" not in self._buffer:
            self._receive()
            if len(self._buffer) > 1 << 16:
                raise ConnectionError("no answer to the upgrade")
        head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
        wanted = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        if not head.startswith(b"HTTP/1.1 101") or wanted not in head:
            raise ConnectionError("the server does not speak WebSocket here")

    def _say(self, message: Dict[str, Any]) -> None:
        self._write(1, json.dumps(message).encode())

    def _write(self, opcode: int, data: bytes) -> None:
        mask = os.urandom(4)
        if len(data) < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | len(data))
        else:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, len(data))
        self._socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def _receive(self) -> None:
        try:
            more = self._socket.recv(1 << 16)
        except socket.timeout:
            more = None
        if time.monotonic() - self._pinged >= self.PING:
            self._pinged = time.monotonic()
            self._say({"command": "ping"})
        if more == b"":
            raise ConnectionError("the connection has ended")
        self._buffer += more or b""

    def _take(self, n: int) -> bytes:
        while len(self._buffer) < n:
            self._receive()
        taken, self._buffer = self._buffer[:n], self._buffer[n:]
        return taken

    def _frame(self) -> bytes:
        """The next text frame; the server never cuts a message into several."""
        while True:
            first, second = self._take(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", self._take(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self._take(8))
            if length > MAX_MESSAGE:
                raise ConnectionError("a frame is too long")
            data, opcode = self._take(length), first & 0x0F
            if opcode == 9:
                self._write(10, data)
            elif opcode == 8:
                raise ConnectionError(f"the server closed the connection: {data[2:].decode(errors='replace')}")
            elif opcode == 1:
                return data
