"""Keeps a book with clients/python: for each line that it is told, it reads on until the book is REST's, and connects anew."""
import json
import sys
from decimal import Decimal

given = json.loads(sys.argv[1])
sys.path.insert(0, given["library"])
from gatewayd_exchange import Book, Client  # noqa: E402

c, symbol = Client(given["api"]), given["symbol"]


def equals(book):
    shown = c.depth(symbol)
    return book.levels() == tuple([(Decimal(p), Decimal(q)) for p, q in shown[side]] for side in ("asks", "bids"))


while True:
    with c.stream(f"market.{symbol}.depth.updates") as stream:
        book, pushes = Book(), iter(stream)
        book.apply(next(pushes)["data"])
        print("ready", flush=True)
        if not sys.stdin.readline():
            break
        while not (book.asks or book.bids) or not equals(book):  # the index may not have taken the first order yet
            book.apply(next(pushes)["data"])
        print("equal", len(book.asks) + len(book.bids), flush=True)
