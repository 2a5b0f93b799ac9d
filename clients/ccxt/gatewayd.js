// A ccxt exchange class for the gatewayd exchange API (docs/exchange-api.md). apiKey and secret are those of an API key, walletAddress is the account
// whose orders it places. watchOrderBook builds the book from market.<symbol>.depth.updates.
//
//     import Gatewayd from './gatewayd.js'
//     const exchange = new Gatewayd({ url: 'http://127.0.0.1:8090', apiKey, secret, walletAddress })
//     await exchange.createOrder('DEMO-000/USDT-000', 'limit', 'buy', 10, 1)
import ccxt from 'ccxt'
import { sha256 } from '@noble/hashes/sha2.js'

const STATUSES = { 1: 'open', 2: 'open', 3: 'open', 4: 'closed', 5: 'open', 6: 'canceling', 7: 'canceled', 8: 'canceled', 9: 'rejected', 10: 'expired' }

// The API's numbers for the sides.
const SIDES = ['buy', 'sell']

export default class Gatewayd extends ccxt.Exchange {
  describe () {
    const base = '{url}'
    return this.deepExtend(super.describe(), {
      id: 'gatewayd',
      name: 'gatewayd',
      version: 'v2',
      rateLimit: 50,
      pro: true,
      certified: false,
      has: {
        CORS: true, spot: true, margin: false, swap: false, future: false, option: false,
        createOrder: true, createMarketOrder: false, cancelOrder: true, cancelAllOrders: true, fetchBalance: true, fetchMarkets: true, fetchMyTrades: true,
        fetchOHLCV: true, fetchOpenOrders: true, fetchOrder: true, fetchOrderBook: true, fetchOrders: true, fetchTicker: true, fetchTickers: true,
        fetchTime: true, fetchTrades: true, watchOrderBook: true,
      },
      timeframes: { '1m': 'minute', '30m': 'minute30', '1h': 'hour', '6h': 'hour6', '12h': 'hour12', '1d': 'day', '1w': 'week' },
      urls: { api: { public: base + '/api/v2', private: base + '/api/v2', ws: base + '/v2/ws' } },
      requiredCredentials: { apiKey: true, secret: true, walletAddress: true },
      precisionMode: ccxt.TICK_SIZE,
      api: {
        public: {
          get: ['time', 'limit', 'tokens', 'market', 'markets', 'order', 'orders', 'orders/open', 'ticker/24hr', 'ticker/bookTicker', 'trades', 'trades/all',
            'depth', 'klines', 'balance'],
        },
        private: { post: ['order', 'order/test'], delete: ['order', 'orders'] },
      },
      exceptions: {
        1: ccxt.BadSymbol, 1001: ccxt.RateLimitExceeded, 1002: ccxt.BadRequest, 1003: ccxt.ExchangeNotAvailable, 1004: ccxt.InvalidOrder, 1005: ccxt.ExchangeError,
        1006: ccxt.InvalidOrder, 1007: ccxt.InsufficientFunds,
      },
      streaming: { keepAlive: 10000 },
    })
  }

  constructor (config = {}) {
    super(config)
    const url = (config.url ?? 'http://127.0.0.1:8090').replace(/\/+$/, '')
    for (const kind of Object.keys(this.urls.api)) this.urls.api[kind] = this.urls.api[kind].replace('{url}', url)
    this.urls.api.ws = this.urls.api.ws.replace(/^http/, 'ws')
  }

  sign (path, api = 'public', method = 'GET', params = {}) {
    const url = this.urls.api[api] + '/' + path
    if (api === 'public') {
      const query = this.urlencode(params)
      return { url: query ? url + '?' + query : url, method, body: undefined, headers: undefined }
    }
    this.checkRequiredCredentials()
    const all = this.extend(params, { key: this.apiKey, timestamp: this.milliseconds().toString() })
    const text = Object.keys(all).sort().map((name) => name + '=' + all[name]).join('&')
    const body = this.urlencode(this.extend(all, { signature: this.hmac(this.encode(text), this.encode(this.secret), sha256) }))
    return { url, method, body, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }
  }

  handleErrors (status, reason, url, method, headers, body, response) {
    if (!response || response.code === 0 || response.code === undefined) return undefined
    const Fault = this.exceptions[response.code] ?? ccxt.ExchangeError
    throw new Fault(this.id + ' ' + response.msg)
  }

  async fetchTime () {
    return (await this.publicGetTime()).data
  }

  async fetchMarkets () {
    const [pairs, limit] = await Promise.all([this.publicGetMarkets(), this.publicGetLimit()])
    return pairs.data.map((pair) => this.parseMarket(pair, limit.data.minAmount))
  }

  parseMarket (pair, least = {}) {
    const [base, quote] = [pair.tradeTokenSymbol, pair.quoteTokenSymbol]
    return this.safeMarketStructure({
      id: pair.symbol, symbol: base + '/' + quote, base, quote, baseId: pair.tradeToken, quoteId: pair.quoteToken, type: 'spot', spot: true, active: true, info: pair,
      precision: { price: this.parseNumber(this.parsePrecision(pair.pricePrecision.toString())), amount: this.parseNumber(this.parsePrecision(pair.quantityPrecision.toString())) },
      limits: { cost: { min: this.safeNumber(least, quote), max: undefined } },
    })
  }

  async fetchTicker (symbol) {
    await this.loadMarkets()
    const market = this.market(symbol)
    const { data } = await this.publicGetTicker24hr({ symbols: market.id })
    return this.parseTicker(data[0], market)
  }

  async fetchTickers (symbols = undefined) {
    await this.loadMarkets()
    const ids = symbols?.map((symbol) => this.marketId(symbol)).join(',')
    const { data } = await this.publicGetTicker24hr(ids ? { symbols: ids } : {})
    return this.indexBy(data.map((one) => this.parseTicker(one)), 'symbol')
  }

  parseTicker (ticker, market = undefined) {
    return this.safeTicker({
      symbol: this.safeMarket(ticker.symbol, market).symbol, info: ticker, open: ticker.openPrice, high: ticker.highPrice, low: ticker.lowPrice, close: ticker.closePrice,
      last: ticker.closePrice, change: ticker.priceChange, percentage: (ticker.priceChangePercent * 100).toString(), baseVolume: ticker.quantity, quoteVolume: ticker.amount,
    }, market)
  }

  async fetchOrderBook (symbol, limit = undefined) {
    await this.loadMarkets()
    const market = this.market(symbol)
    const { data } = await this.publicGetDepth({ symbol: market.id, limit: limit ?? 100 })
    return this.parseOrderBook(data, market.symbol, data.timestamp)
  }

  async fetchTrades (symbol, since = undefined, limit = undefined) {
    await this.loadMarkets()
    const market = this.market(symbol)
    const request = { symbol: market.id, limit: limit ?? 100 }
    if (since !== undefined) request.startTime = Math.floor(since / 1000)
    const { data } = await this.publicGetTradesAll(request)
    return this.parseTrades(data.trade, market, since, limit)
  }

  async fetchOHLCV (symbol, timeframe = '1m', since = undefined, limit = undefined) {
    await this.loadMarkets()
    const request = { symbol: this.marketId(symbol), interval: this.timeframes[timeframe], limit: limit ?? 500 }
    if (since !== undefined) request.startTime = Math.floor(since / 1000)
    const { t, p, h, l, c, v } = (await this.publicGetKlines(request)).data
    return t.map((time, i) => [time * 1000, p[i], h[i], l[i], c[i], v[i]])
  }

  async fetchBalance () {
    const { data } = await this.publicGetBalance({ address: this.walletAddress })
    const result = { info: data }
    for (const [code, one] of Object.entries(data)) result[code] = { free: one.available, used: one.locked }
    return this.safeBalance(result)
  }

  async createOrder (symbol, type, side, amount, price = undefined, params = {}) {
    if (type !== 'limit') throw new ccxt.NotSupported(this.id + ' takes limit orders only')
    await this.loadMarkets()
    const market = this.market(symbol)
    const request = {
      symbol: market.id, side: SIDES.indexOf(side).toString(), amount: this.amountToPrecision(symbol, amount), price: this.priceToPrecision(symbol, price),
    }
    const { data } = await this.privatePostOrder(this.extend(request, params))
    const clientOrderId = data.clientOrderId
    return this.safeOrder({ id: data.orderId, clientOrderId, symbol, type, side, amount: request.amount, price: request.price, status: 'open', info: data }, market)
  }

  async cancelOrder (id, symbol = undefined, params = {}) {
    await this.loadMarkets()
    const market = this.market(symbol)
    const request = params.clientOrderId ? {} : { orderId: id }
    const { data } = await this.privateDeleteOrder(this.extend({ symbol: market.id }, request, params))
    return this.safeOrder({ id: data.orderId, symbol, status: 'canceling', info: data }, market)
  }

  async cancelAllOrders (symbol) {
    await this.loadMarkets()
    const market = this.market(symbol)
    const { data } = await this.privateDeleteOrders({ symbol: market.id })
    return data.map((one) => this.safeOrder({ id: one.orderId, symbol, status: 'canceling', info: one }, market))
  }

  async fetchOrder (id, symbol = undefined, params = {}) {
    await this.loadMarkets()
    const by = params.clientOrderId ? { clientOrderId: params.clientOrderId } : { orderId: id }
    const { data } = await this.publicGetOrder(this.extend({ address: this.walletAddress }, by))
    if (!data) throw new ccxt.OrderNotFound(this.id + ' has no order ' + (params.clientOrderId ?? id))
    return this.parseOrder(data)
  }

  async fetchOrders (symbol = undefined, since = undefined, limit = undefined) {
    return this.listOrders('publicGetOrders', symbol, since, limit)
  }

  async fetchOpenOrders (symbol = undefined, since = undefined, limit = undefined) {
    return this.listOrders('publicGetOrdersOpen', symbol, since, limit)
  }

  async listOrders (call, symbol, since, limit) {
    await this.loadMarkets()
    const market = symbol ? this.market(symbol) : undefined
    const request = { address: this.walletAddress, limit: limit ?? 100 }
    if (market) request.symbol = market.id
    if (since !== undefined && call === 'publicGetOrders') request.startTime = Math.floor(since / 1000)
    const { data } = await this[call](request)
    return this.parseOrders(data.order, market, since, limit)
  }

  parseOrder (order, market = undefined) {
    market = this.safeMarket(order.symbol, market)
    return this.safeOrder({
      id: order.orderId, clientOrderId: order.clientOrderId, timestamp: order.createTime * 1000, datetime: this.iso8601(order.createTime * 1000), symbol: market.symbol,
      type: 'limit', side: SIDES[order.side], price: order.price, amount: order.quantity, filled: order.executedQuantity, cost: order.executedAmount,
      status: STATUSES[order.status], fee: { cost: order.fee, currency: market.quote }, info: order,
    }, market)
  }

  // fetchMyTrades asks for the trades of the account's newest orders: the API lists trades by market or by order.
  async fetchMyTrades (symbol = undefined, since = undefined, limit = undefined) {
    await this.loadMarkets()
    const market = this.market(symbol)
    const filled = (await this.fetchOrders(symbol, since, limit)).filter((order) => order.filled > 0)
    const mine = []
    for (const order of filled) {
      const { data } = await this.publicGetTradesAll({ symbol: market.id, orderId: order.id, limit: 100 })
      for (const trade of data.trade) mine.push(this.parseTrade(trade, market, order))
    }
    return this.filterBySinceLimit(this.sortBy(mine, 'timestamp'), since, limit)
  }

  parseTrade (trade, market = undefined, order = undefined) {
    const side = order?.side ?? SIDES[trade.side]
    const fee = order && { cost: side === 'buy' ? trade.buyFee : trade.sellFee, currency: market.quote }
    return this.safeTrade({
      id: trade.tradeId, order: order?.id, timestamp: trade.time * 1000, datetime: this.iso8601(trade.time * 1000), symbol: market.symbol, side,
      takerOrMaker: order && (side === SIDES[trade.side] ? 'taker' : 'maker'), price: trade.price, amount: trade.quantity, cost: trade.amount, fee, info: trade,
    }, market)
  }

  // watchOrderBook resolves with the book after its next change.
  async watchOrderBook (symbol, limit = undefined) {
    await this.loadMarkets()
    const market = this.market(symbol)
    const topic = 'market.' + market.id + '.depth.updates'
    if (this.urls.api.ws.startsWith('ws://')) await this.loadHttpProxyAgent() // which ccxt wants for WebSockets without TLS
    const book = await this.watch(this.urls.api.ws, topic, { command: 'sub', params: [topic] }, topic)
    return book.limit()
  }

  ping () {
    return { command: 'ping' }
  }

  handleMessage (client, message) {
    if (message.event === 'pong') {
      client.lastPong = this.milliseconds()
    } else if (message.code) {
      client.reject(new ccxt.ExchangeError(this.id + ' ' + message.msg), message.topic?.slice(1, -1))
    } else if (message.event === 'push' && message.topic.endsWith('.depth.updates')) {
      this.handleOrderBook(client, message)
    }
  }

  handleOrderBook (client, { topic, timestamp, data }) {
    const symbol = this.safeSymbol(data.s)
    let book = this.orderbooks[symbol]
    if (data.snapshot) {
      book = this.orderBook({}, 200)
      this.orderbooks[symbol] = book
    } else if (book?.nonce === undefined || data.first !== book.nonce + 1) {
      if (book) book.nonce = undefined // something is missing until the next snapshot
      client.send({ command: 'sub', params: [topic] })
      return
    }
    for (const side of ['asks', 'bids']) {
      for (const [price, amount] of data[side]) book[side].store(parseFloat(price), parseFloat(amount))
    }
    book.symbol = symbol
    book.nonce = data.last
    book.timestamp = timestamp
    book.datetime = this.iso8601(timestamp)
    client.resolve(book, topic)
  }
}
