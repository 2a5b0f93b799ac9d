// Ends a test run: test-report.mjs EVENTS VECTORS PASSED FAILED AGAIN
//
// EVENTS is a file of `go test -json` events. No test may have printed a mnemonic, seed or private key of VECTORS, logs
// included. PASSED and FAILED are checks made before. AGAIN, which need not be there, has the events of failed tests that
// were run once more: one that passed then counts as passed, and is told. What a failed test printed last is shown. The
// last line is "N passed, N failed".
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [events, vectors, before, broken, again] = process.argv.slice(2)

const later = new Set() // tests that passed when they were run again
if (existsSync(again)) {
  for (const line of readFileSync(again, 'utf8').split('\n').filter((l) => l.startsWith('{'))) {
    const { Action, Package, Test } = JSON.parse(line)
    if (Action === 'pass') later.add(Test ? `${Package} ${Test}` : Package)
  }
}
// excused tells whether a test, or the tests of a package, passed later.
const excused = (pkg, test) => later.has(test ? `${pkg} ${test.split('/')[0]}` : pkg)

const secrets = new Set()
const collect = (key, value) => {
  if (value && typeof value === 'object') {
    for (const [k, v] of Object.entries(value)) collect(Array.isArray(value) ? key : k, v)
    return
  }
  if (key === 'privateKeyHex') value = value.slice(0, 64) // the public half goes on from there
  else if (!['mnemonic', 'seedHex', 'masterKeyHex'].includes(key)) return
  if (value.length >= 16 && /[^0]/.test(value)) secrets.add(value)
}
collect('', JSON.parse(readFileSync(vectors, 'utf8')))
if (secrets.size === 0) throw new Error(`${vectors} names no secrets`)

let passed = Number(before)
let failed = Number(broken)
let tests = 0
const blamed = new Set() // packages one of whose tests failed
const leaks = new Set()
const shown = 60 // lines of a failed test
const printed = new Map() // test: its last lines, until it has passed
for await (const line of createInterface({ input: createReadStream(events), crlfDelay: Infinity })) {
  if (!line.startsWith('{')) continue
  const { Action, Package, Test, Output } = JSON.parse(line)
  if (Action === 'output') {
    for (const secret of secrets) if (Output.includes(secret)) leaks.add(`${Package} ${Test ?? ''}`)
    const lines = printed.get(`${Package} ${Test}`) ?? []
    lines.push(Output.slice(0, 400))
    printed.set(`${Package} ${Test}`, lines.slice(-shown))
  } else if (Action === 'pass' && Test) {
    passed++
    tests++
    printed.delete(`${Package} ${Test}`)
  } else if (Action === 'fail' && (Test || !blamed.has(Package))) {
    const passedLater = excused(Package, Test)
    if (passedLater) passed++
    else failed++
    blamed.add(Package)
    console.log(`${passedLater ? 'failed once, passed alone' : 'failed'}: ${Package} ${Test ?? '(did not build, or died between tests)'}`)
    console.log((printed.get(`${Package} ${Test}`) ?? []).map((l) => `    ${l.trimEnd()}`).join('\n'))
  }
}
for (const where of leaks) console.log(`failed: a secret was printed by ${where}`)
if (leaks.size > 0) failed++
else passed++
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 && tests > 0 ? 0 : 1)
