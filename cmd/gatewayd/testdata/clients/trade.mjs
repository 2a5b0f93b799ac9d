// Trades with clients/ccxt against `gatewayd dev`: markets, ticker, balance, orders, trades, and the book over 20 connections.
import assert from 'node:assert/strict'

const given = JSON.parse(process.argv[2])
const { default: Gatewayd } = await import(given.library)
const make = () => new Gatewayd({ url: given.api, apiKey: given.key, secret: given.secret, walletAddress: given.address })
const exchange = make()
const pause = (ms) => new Promise((done) => setTimeout(done, ms))

await exchange.loadMarkets()
const symbol = Object.values(exchange.markets).find((m) => m.id === given.symbol).symbol
const [base] = symbol.split('/')
assert.ok((await exchange.fetchTicker(symbol)).last > 0)
assert.ok((await exchange.fetchTickers())[symbol])
assert.ok(Math.abs(await exchange.fetchTime() - Date.now()) < 600000)
const before = await exchange.fetchBalance()
assert.ok((await exchange.fetchTrades(symbol)).length > 0)
assert.ok((await exchange.fetchOHLCV(symbol, '1m')).length > 0)

const becomes = async (clientOrderId, status) => {
  for (let i = 0; i < 600; i++, await pause(100)) {
    const order = await exchange.fetchOrder(undefined, symbol, { clientOrderId }).catch(() => undefined)
    if (order?.status === status) return order
  }
  throw new Error(`order ${clientOrderId} does not become ${status}`)
}

const placed = await exchange.createOrder(symbol, 'limit', 'sell', 1, 9, { clientOrderId: 'ccxt-1' })
let open = await becomes('ccxt-1', 'open')
for (let i = 0; i < 600 && open.info.status !== 3; i++, await pause(100)) open = await exchange.fetchOrder(placed.id, symbol)
assert.deepEqual([open.id, open.amount, open.price, open.side, open.clientOrderId], [placed.id, 1, 9, 'sell', 'ccxt-1'])
assert.equal((await exchange.fetchBalance())[base].used, before[base].used + 1)
await assert.rejects(exchange.createOrder(symbol, 'limit', 'sell', 1, 9, { clientOrderId: 'ccxt-1' }), new RegExp('belongs to order ' + placed.id))
assert.ok((await exchange.fetchOpenOrders(symbol)).some((o) => o.clientOrderId === 'ccxt-1'))
assert.ok((await exchange.fetchOrders(symbol)).length > 0)
await exchange.cancelOrder(placed.id, symbol)
await becomes('ccxt-1', 'canceled')
const mine = await exchange.fetchMyTrades(symbol)
assert.ok(mine.length > 0 && mine.every((t) => t.fee.cost >= 0 && t.order))

const orders = []
for (let i = 0; i < given.connections; i++) {
  const watcher = make()
  watcher.markets = undefined
  let book = await watcher.watchOrderBook(symbol)
  const first = book.nonce
  if (i % 4 === 0) {
    orders.push((await exchange.createOrder(symbol, 'limit', 'sell', 1, 5 + i / 100)).id)
  } else if (i % 4 === 2) {
    await exchange.cancelOrder(orders.shift(), symbol)
  }
  const equals = async () => {
    const shown = await exchange.fetchOrderBook(symbol)
    return JSON.stringify([book.asks, book.bids]) === JSON.stringify([shown.asks, shown.bids])
  }
  while ((i % 2 === 0 && book.nonce === first) || !await equals()) book = await watcher.watchOrderBook(symbol)
  await watcher.close()
}
console.log('ok', mine.length)
process.exit(0)
