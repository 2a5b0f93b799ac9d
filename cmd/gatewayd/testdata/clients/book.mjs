// Keeps a book with clients/ccxt: for each line that it is told, it reads on until the book is REST's, and connects anew.
import { createInterface } from 'node:readline'

const given = JSON.parse(process.argv[2])
const { default: Gatewayd } = await import(given.library)
const rest = new Gatewayd({ url: given.api })
await rest.loadMarkets()
const symbol = Object.values(rest.markets).find((m) => m.id === given.symbol).symbol
const told = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

for (;;) {
  const watcher = new Gatewayd({ url: given.api })
  let book = await watcher.watchOrderBook(symbol)
  console.log('ready')
  if ((await told.next()).done) break
  const equals = async () => {
    const shown = await rest.fetchOrderBook(symbol)
    const live = watcher.orderbooks[symbol].limit()
    return live.asks.length + live.bids.length > 0 && // the index may not have taken the first order yet
      JSON.stringify([live.asks, live.bids]) === JSON.stringify([shown.asks, shown.bids])
  }
  while (!await equals()) book = await Promise.race([watcher.watchOrderBook(symbol), new Promise((done) => setTimeout(done, 200))])
  console.log('equal', watcher.orderbooks[symbol].asks.length + watcher.orderbooks[symbol].bids.length)
  await watcher.close()
}
process.exit(0)
