// A deposit and an order by what openapi-typescript made from the served documents. What it prints, the test acts upon.
import type { components as Gateway, paths as GatewayPaths } from './gateway.js'
import type { components as Exchange, paths as ExchangePaths } from './exchange.js'

declare const process: { argv: string[]; stdin: AsyncIterable<Uint8Array> }
declare const crypto: { subtle: any }

type Answered<Operation> = Operation extends { responses: { 200: { content: { 'application/json': infer Data } } } } ? Data : never
type Query<Operation> = Operation extends { parameters: { query: infer Asked } } ? Asked : never

const g: Record<'gateway' | 'api' | 'token' | 'wallet' | 'key' | 'secret' | 'address' | 'symbol', string> = JSON.parse(process.argv[2])
const pause = () => new Promise((done) => setTimeout(done, 100))

async function get<Path extends keyof GatewayPaths> (path: Path, query: Query<GatewayPaths[Path]['get']>): Promise<Answered<GatewayPaths[Path]['get']>> {
  const answer = await fetch(g.gateway + path + '?' + new URLSearchParams(query as unknown as Record<string, string>))
  return await answer.json() as Answered<GatewayPaths[Path]['get']>
}

async function deposit () {
  const info = await get('/deposit-info', { tokenId: g.token, walletAddress: g.wallet })
  if (info.code !== 0) throw new Error(info.msg)
  const data: Gateway['schemas']['DepositInfo'] = info.data
  console.log('pay', data.depositAddress)
  let hash = ''
  for await (const chunk of process.stdin) {
    hash += new TextDecoder().decode(chunk)
    if (hash.endsWith('\n')) break
  }
  for (;; await pause()) {
    const records = await get('/deposit-records', { tokenId: g.token, walletAddress: g.wallet, pageNum: 1, pageSize: 10 })
    if (records.code !== 0) throw new Error(records.msg)
    const paid = records.data.depositRecords.find((one) => one.inTxHash === hash.trim() && one.state === 'TOT_CONFIRMED')
    if (paid) return console.log('deposited', paid.amount)
  }
}

async function hmac (secret: string, text: string): Promise<string> {
  const bytes = (s: string) => new TextEncoder().encode(s)
  const key = await crypto.subtle.importKey('raw', bytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(text)))
  return [...mac].map((b) => b.toString(16).padStart(2, '0')).join('')
}

async function order () {
  const unsigned: Omit<Exchange['schemas']['Placement'], 'signature'> = {
    amount: '1', clientOrderId: 'generated-ts', key: g.key, price: '7.6', side: '1', symbol: g.symbol, timestamp: Date.now().toString(),
  }
  const text = Object.keys(unsigned).sort().map((name) => name + '=' + unsigned[name]).join('&')
  const body: Exchange['schemas']['Placement'] = { ...unsigned, signature: await hmac(g.secret, text) } as any
  const answer = await fetch(g.api + '/api/v2/order', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
  const placed = await answer.json() as Answered<ExchangePaths['/order']['post']>
  if (placed.code !== 0) throw new Error(placed.msg)
  for (;; await pause()) {
    const query: Query<ExchangePaths['/order']['get']> = { address: g.address, clientOrderId: 'generated-ts' }
    const answer = await fetch(g.api + '/api/v2/order?' + new URLSearchParams(query as unknown as Record<string, string>))
    const found = await answer.json() as Answered<ExchangePaths['/order']['get']>
    if (found.code === 0 && found.data?.status === 3) return console.log('open', found.data.orderId)
  }
}

await deposit()
await order()
