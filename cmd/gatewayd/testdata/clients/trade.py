"""Trades with clients/python against `gatewayd dev`: markets, ticker, balance, orders, trades, pushes, and the book over 20 connections."""
import json
import sys
import time
from decimal import Decimal

given = json.loads(sys.argv[1])
sys.path.insert(0, given["library"])
from gatewayd_exchange import SELL, Book, Client, ExchangeError  # noqa: E402

symbol, address = given["symbol"], given["address"]
c = Client(given["api"], given["key"], given["secret"])
assert symbol in [m["symbol"] for m in c.markets()]
assert Decimal(c.ticker(symbol)["closePrice"]) > 0
before = c.balance(address)[symbol.split("_")[0]]
assert abs(c.time() - time.time() * 1000) < 600_000


def becomes(name, status):
    for _ in range(600):
        order = c.order(address, client_order_id=name)
        if order and order["status"] == status:
            return order
        time.sleep(0.1)
    raise SystemExit(f"order {name} does not become {status}: {order}")


price, name = Decimal("8"), "python-1"
with c.stream(f"account.{address}", sign_in=True) as own:
    c.create_order(symbol, SELL, Decimal("1"), price, test=True)
    placed = c.create_order(symbol, SELL, Decimal("1"), price, client_order_id=name)
    assert c.usage.limit >= c.usage.used > 0
    heard = next(push["data"]["order"] for push in own if "order" in push["data"])
    assert (heard["oid"], heard["cid"]) == (placed["orderId"], name), heard
becomes(name, 3)
assert c.balance(address)[symbol.split("_")[0]]["locked"] == before["locked"] + 1
try:
    c.create_order(symbol, SELL, Decimal("1"), price, client_order_id=name)
    raise SystemExit("an id was taken twice")
except ExchangeError as refused:
    assert refused.code == 1004 and placed["orderId"] in refused.message, refused
assert name in [o.get("clientOrderId") for o in c.open_orders(address, symbol)]
c.cancel_order(symbol, client_order_id=name)
becomes(name, 7)
mine = c.my_trades(address, symbol)
assert mine and all(t["symbol"] == symbol for t in mine)


def equals(book):
    shown = c.depth(symbol)
    return book.levels() == tuple([(Decimal(p), Decimal(q)) for p, q in shown[side]] for side in ("asks", "bids"))


topic, placed = f"market.{symbol}.depth.updates", []
for i in range(given["connections"]):
    with c.stream(topic) as stream:
        book, pushes = Book(), iter(stream)
        if i % 4 == 0:
            placed.append(c.create_order(symbol, SELL, Decimal("1"), Decimal("5") + Decimal(i) / 100)["orderId"])
            becomes_open = placed[-1]
        elif i % 4 == 2:
            c.cancel_order(symbol, placed.pop(0))
        changes = 1 if i % 2 else 2  # the book at the start, and the change
        while book.last is None or changes > 0 or not equals(book):
            book.apply(next(pushes)["data"])
            changes -= 1
print("ok", len(mine))
